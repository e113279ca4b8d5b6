package print

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kube-inject/inject/policy/lifecycle"
)

// lifecyclePod is an injected Deployment with a classic sidecar, as injection orders it.
func lifecyclePod() lifecycle.Pod {
	p := lifecycle.Pod{Kind: "Deployment", Namespace: "shop", Name: "web", Annotations: map[string]string{}}
	p.Spec.InitContainers = []corev1.Container{{Name: "migrate"}, {Name: "istio-init"}}
	p.Spec.Containers = []corev1.Container{{Name: "web"}, {Name: "istio-proxy"}}
	return p
}

// lifecycleSamples are results that between them use every kind of bar, mark and loss.
func lifecycleSamples(t testing.TB) map[string][]lifecycle.Result {
	t.Helper()
	slow := lifecycle.Defaults()
	slow.AppShutdown.Default = 8 * time.Second
	slow.RequestsInFlight = 6 * time.Second
	slow.EndpointLag = 3 * time.Second
	job := lifecyclePod()
	job.Kind, job.Name, job.Spec.RestartPolicy = "Job", "report", corev1.RestartPolicyNever
	held, err := lifecycle.Variant(lifecyclePod(), "hold")
	if err != nil {
		t.Fatal(err)
	}
	long := lifecycle.Defaults()
	long.ProxyReady = 90 * time.Second
	killed := lifecyclePod()
	killed.Name = "a-workload-with-a-rather-long-name"
	killed.Spec.Containers[0].Name = "a-container-with-a-rather-long-name"
	killed.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{
		HTTPGet: &corev1.HTTPGetAction{Path: "/app-lifecycle/web/prestopz", Port: intstr.FromInt32(15020)},
	}}
	hang := lifecycle.Defaults()
	hang.AppShutdown.Default = lifecycle.Never
	hang.SkipStart = true
	old := lifecycle.Defaults()
	old.Istio = lifecycle.Version{Major: 1, Minor: 3}
	old.SkipStop = true
	old.ProxyExits = []lifecycle.ProxyExit{{At: 20 * time.Second}, {At: 40 * time.Second, Kind: lifecycle.Normal}}
	old.HotRestarts = []time.Duration{60 * time.Second}
	return map[string][]lifecycle.Result{
		"classic":     {withFlips(lifecyclePod(), slow)},
		"job":         {withFlips(job, lifecycle.Defaults())},
		"hold":        {withFlips(held, long)},
		"killed":      {withFlips(killed, hang)},
		"old":         {withFlips(lifecyclePod(), old)},
		"compare":     compared(t, lifecyclePod(), slow),
		"compare-job": compared(t, job, lifecycle.Defaults()),
	}
}

func withFlips(p lifecycle.Pod, o lifecycle.Options) lifecycle.Result {
	r := lifecycle.Simulate(p, o)
	r.Flips = lifecycle.Sensitivity(p, o)
	return r
}

func compared(t testing.TB, p lifecycle.Pod, o lifecycle.Options) []lifecycle.Result {
	t.Helper()
	var out []lifecycle.Result
	for _, name := range lifecycle.Variants() {
		v, err := lifecycle.Variant(p, name)
		if err != nil {
			t.Fatal(err)
		}
		r := lifecycle.Simulate(v, o)
		r.Variant = name
		out = append(out, r)
	}
	return out
}

// TestLifecycleGolden compares every format of every sample with testdata.
func TestLifecycleGolden(t *testing.T) {
	t.Parallel()
	for name, results := range lifecycleSamples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text, js, md, svg bytes.Buffer
			check(t, LifecycleText(&text, results, Style{}))
			check(t, LifecycleJSON(&js, results, LifecycleJSONOptions{Details: true}))
			check(t, LifecycleMarkdown(&md, results))
			check(t, LifecycleSVG(&svg, results))
			compareGolden(t, "lifecycle-"+name+".txt", text.Bytes())
			compareGolden(t, "lifecycle-"+name+".json", js.Bytes())
			compareGolden(t, "lifecycle-"+name+".md", md.Bytes())
			compareGolden(t, "lifecycle-"+name+".svg", svg.Bytes())
			wellFormed(t, "json", js.Bytes())
			wellFormed(t, "xml", svg.Bytes())
			for _, line := range bytes.Split(text.Bytes(), []byte("\n")) {
				if n := utf8.RuneCount(line); n > lifecycleWidth {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
}

// TestLifecycleShortLoss holds that a loss which falls between two columns is drawn all the same.
func TestLifecycleShortLoss(t *testing.T) {
	t.Parallel()
	job := lifecyclePod()
	job.Kind, job.Spec.RestartPolicy = "Job", corev1.RestartPolicyNever
	job.Spec.InitContainers = job.Spec.InitContainers[1:]
	deadline := int64(600)
	job.ActiveDeadlineSeconds = &deadline
	o := lifecycle.Defaults()
	o.SkipStop = true
	var b bytes.Buffer
	check(t, LifecycleText(&b, []lifecycle.Result{lifecycle.Simulate(job, o)}, Style{}))
	if !strings.Contains(b.String(), "one column = 10s") || !strings.Contains(b.String(), "\noutbound    !\n") {
		t.Errorf("the loss from 1s to 3s is not drawn:\n%s", b.String())
	}
}

// TestLifecycleTwins holds that two workloads of one name are not taken for variants of one.
func TestLifecycleTwins(t *testing.T) {
	t.Parallel()
	twice := append(compared(t, lifecyclePod(), lifecycle.Defaults()), compared(t, lifecyclePod(), lifecycle.Defaults())...)
	if n := len(lifecycleGroups(twice)); n != 2 {
		t.Errorf("%d groups, want 2", n)
	}
}

// TestLifecycleAxis holds that labels keep a blank between them.
func TestLifecycleAxis(t *testing.T) {
	t.Parallel()
	for _, length := range []time.Duration{time.Second, 3 * time.Second, 7 * time.Second, 45 * time.Second, time.Hour} {
		var b bytes.Buffer
		newChart([]lifecycle.Timeline{{Phase: lifecycle.Stop, Length: length}}, Style{}).axis(&b)
		_, labels, _ := strings.Cut(b.String(), "\n")
		for _, word := range strings.Fields(labels) {
			if strings.Count(word, "s") != 1 {
				t.Errorf("%v: labels run together: %s", length, labels)
			}
		}
	}
}

// TestLifecycleDocs holds that the picture in docs/lifecycle.md is what the program prints.
func TestLifecycleDocs(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "lifecycle.md"))
	check(t, err)
	p := lifecyclePod()
	p.Namespace = ""
	o := lifecycle.Defaults()
	o.SkipStart, o.AppShutdown.Default = true, 8*time.Second
	var b bytes.Buffer
	check(t, LifecycleText(&b, []lifecycle.Result{lifecycle.Simulate(p, o)}, Style{}))
	if !strings.Contains(string(docs), "```\n"+b.String()+"```\n") {
		t.Errorf("docs/lifecycle.md does not show\n%s", b.String())
	}
}

// TestLifecycleColor holds that colour adds to the text and changes nothing else.
func TestLifecycleColor(t *testing.T) {
	t.Parallel()
	escapes := regexp.MustCompile("\x1b\\[[0-9]+m")
	for name, results := range lifecycleSamples(t) {
		var plain, coloured bytes.Buffer
		check(t, LifecycleText(&plain, results, Style{}))
		check(t, LifecycleText(&coloured, results, Style{On: true}))
		if bytes.ContainsRune(plain.Bytes(), 0x1b) || !bytes.ContainsRune(coloured.Bytes(), 0x1b) {
			t.Errorf("%s: colour where none is wanted, or none where it is", name)
		}
		if got := escapes.ReplaceAllString(coloured.String(), ""); got != plain.String() {
			t.Errorf("%s: colour changes the text:\n%s", name, got)
		}
	}
}

// TestLifecycleHarmless prints a workload whose names try to leave their places.
func TestLifecycleHarmless(t *testing.T) {
	t.Parallel()
	p := lifecyclePod()
	p.Name = "a\x1b[2Jb\n## <script>x</script> | c"
	p.Spec.Containers[0].Name = "app\n```\n<b>:#;\u202e"
	o := lifecycle.Defaults()
	o.AppShutdown.Default = 9 * time.Second
	for name, write := range map[string]func(io.Writer, []lifecycle.Result) error{
		"text": func(w io.Writer, r []lifecycle.Result) error { return LifecycleText(w, r, Style{}) },
		"json": func(w io.Writer, r []lifecycle.Result) error {
			return LifecycleJSON(w, r, LifecycleJSONOptions{Details: true})
		},
		"markdown": LifecycleMarkdown,
		"svg":      LifecycleSVG,
	} {
		var b bytes.Buffer
		check(t, write(&b, []lifecycle.Result{withFlips(p, o)}))
		out := b.String()
		if strings.ContainsAny(out, "\x1b\u202e") || strings.Contains(out, "b\n##") || strings.Contains(out, "app\n") {
			t.Errorf("%s: %q", name, out)
		}
		if (name == "markdown" || name == "svg") && (strings.Contains(out, "<script>") || strings.Contains(out, "<b>")) {
			t.Errorf("%s: a tag gets through:\n%s", name, out)
		}
		if name == "svg" {
			wellFormed(t, "xml", b.Bytes())
		}
	}
}

// TestLifecycleJSONFields holds the report to the fields of docs/lifecycle.md: without details there are no others.
func TestLifecycleJSONFields(t *testing.T) {
	t.Parallel()
	type report struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Workload   map[string]any `json:"workload"`
		Sidecar    string         `json:"sidecar"`
		Options    map[string]any `json:"options"`
		Events     []struct {
			Phase     string  `json:"phase"`
			T         float64 `json:"t"`
			Container *string `json:"container"`
			Event     string  `json:"event"`
			ExitCode  int     `json:"exitCode"`
			Restart   int     `json:"restart"`
			Epoch     int     `json:"epoch"`
			Cause     string  `json:"cause"`
		} `json:"events"`
		Verdicts []struct {
			ID       string  `json:"id"`
			Severity string  `json:"severity"`
			Phase    string  `json:"phase"`
			From     float64 `json:"from"`
			To       float64 `json:"to"`
			Message  string  `json:"message"`
			Remedy   string  `json:"remedy"`
		} `json:"verdicts"`
	}
	for name, results := range lifecycleSamples(t) {
		for _, r := range results {
			var b bytes.Buffer
			check(t, LifecycleJSON(&b, []lifecycle.Result{r}, LifecycleJSONOptions{}))
			decoder := json.NewDecoder(&b)
			decoder.DisallowUnknownFields()
			var got report
			if err := decoder.Decode(&got); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got.Kind != "LifecycleReport" || len(got.Events) != len(r.Events) || len(got.Verdicts) != len(r.Verdicts) {
				t.Errorf("%s: %s with %d events and %d verdicts", name, got.Kind, len(got.Events), len(got.Verdicts))
			}
		}
	}
}

// TestLifecycleSVGContrast computes the contrast of every colour against its ground, in both schemes, as WCAG 2.1
// defines it: 4.5 for text, 3 for bars and lines.
func TestLifecycleSVGContrast(t *testing.T) {
	t.Parallel()
	light, dark, found := strings.Cut(svgStyle, "@media")
	if !found {
		t.Fatal("no dark scheme")
	}
	rule := regexp.MustCompile(`(?m)([.]?[a-z]+)\{[^}]*?(?:fill|stroke):(#[0-9a-f]{6})`)
	for scheme, text := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]string{}
		for _, m := range rule.FindAllStringSubmatch(text, -1) {
			colours[m[1]] = m[2]
		}
		if len(colours) < 16 {
			t.Errorf("%s: only %d colours", scheme, len(colours))
		}
		for name, colour := range colours {
			least := 3.0
			switch name {
			case ".ground", ".grid":
				continue
			case "text", ".dim", ".bad", ".warning":
				least = 4.5
			}
			if c := contrast(colour, colours[".ground"]); c < least {
				t.Errorf("%s: %s %s has a contrast of %.2f, want %.1f", scheme, name, colour, c, least)
			}
		}
	}
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(colour string) float64 {
	n, err := strconv.ParseUint(colour[1:], 16, 32)
	if err != nil {
		return math.NaN()
	}
	sum := 0.0
	for shift, weight := range map[int]float64{16: 0.2126, 8: 0.7152, 0: 0.0722} {
		c := float64(n>>shift&0xff) / 255
		if c <= 0.04045 {
			sum += weight * c / 12.92
			continue
		}
		sum += weight * math.Pow((c+0.055)/1.055, 2.4)
	}
	return sum
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
