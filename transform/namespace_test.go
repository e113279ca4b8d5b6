package transform

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kube-inject/inject/policy"
)

// surveyed writes a stream to a survey in pieces of the given sizes, repeated.
func surveyed(text []byte, sizes ...int) *Surroundings {
	var s Survey
	stream := s.Stream("in.yaml")
	for i := 0; len(text) > 0; i++ {
		n := min(len(text), sizes[i%len(sizes)])
		_, _ = stream.Write(text[:n])
		text = text[n:]
	}
	_ = stream.Close()
	return s.Found()
}

const surveyText = `# a stream
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data:
  doc: |
    ---
    kind: Namespace
    metadata: {name: inner}
---
apiVersion: v1
kind: Namespace
metadata:
  name: shop
  labels:
    istio-injection: enabled
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Namespace
  metadata: {name: pay, annotations: {openshift.io/sa.scc.uid-range: 1000/10}}
--- # far
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: Namespace}
---
kind: Namespace
apiVersion: v1
metadata: {name: "last"}`

func TestSurveyPieces(t *testing.T) {
	t.Parallel()
	type seen struct {
		Name string
		Line int
	}
	want := []seen{{"last", 29}, {"pay", 21}, {"shop", 11}}
	r := rand.New(rand.NewSource(1))
	for i := range 300 {
		sizes := []int{1 + i}
		if i > 60 {
			sizes = []int{1 + r.Intn(40), 1 + r.Intn(40), 1 + r.Intn(40)}
		}
		found := surveyed([]byte(surveyText), sizes...)
		var got []seen
		for _, n := range found.namespaces {
			got = append(got, seen{n.Name, n.Position.Line})
		}
		if d := cmp.Diff(want, got, cmpopts.SortSlices(func(a, b seen) bool { return a.Name < b.Name })); d != "" {
			t.Fatalf("pieces of %v: %s", sizes, d)
		}
	}
}

func TestSurveyForms(t *testing.T) {
	t.Parallel()
	wide := func(text string, big bool) []byte {
		var b bytes.Buffer
		for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
			if big {
				b.Write([]byte{byte(u >> 8), byte(u)})
			} else {
				b.Write([]byte{byte(u), byte(u >> 8)})
			}
		}
		return b.Bytes()
	}
	for name, tt := range map[string]struct {
		text []byte
		want []string
	}{
		"nothing":       {nil, nil},
		"block scalar":  {[]byte("kind: ConfigMap\napiVersion: v1\ndata:\n  a: |\n    kind: Namespace\n"), nil},
		"flow":          {[]byte("{apiVersion: v1, kind: Namespace, metadata: {name: a}}"), []string{"a"}},
		"json":          {[]byte("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"a\"}}\n{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"b\"}}\n"), []string{"a", "b"}},
		"crlf":          {[]byte("kind: Namespace\r\napiVersion: v1\r\nmetadata: {name: a}\r\n---\r\nkind: Namespace\r\napiVersion: v1\r\nmetadata: {name: b}\r\n"), []string{"a", "b"}},
		"mark":          {[]byte("\ufeffkind: Namespace\napiVersion: v1\nmetadata: {name: a}\n"), []string{"a"}},
		"utf-16le":      {wide("kind: Namespace\napiVersion: v1\nmetadata: {name: a}\n", false), []string{"a"}},
		"utf-16be":      {wide("kind: Namespace\napiVersion: v1\nmetadata: {name: a}\n", true), []string{"a"}},
		"other group":   {[]byte("kind: Namespace\napiVersion: example.org/v1\nmetadata: {name: a}\n"), nil},
		"broken":        {[]byte("kind: Namespace\napiVersion: v1\nmetadata: {name: a\n"), nil},
		"broken before": {[]byte("kind: Thing\n  a: [\n---\nkind: Namespace\napiVersion: v1\nmetadata: {name: a}\n"), []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := surveyed(tt.text, 7)
			var got []string
			for n := range found.namespaces {
				got = append(got, n)
			}
			if d := cmp.Diff(tt.want, got, cmpopts.SortSlices(strings.Compare), cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
			if broken := name == "broken"; broken != (len(found.Findings) > 0) {
				t.Errorf("findings %v", found.Findings)
			}
		})
	}
}

func TestOpenShiftIDs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		users, groups string
		uid, gid      int64
	}{
		{"", "", 1337, 1337},
		{"1000650000/10000", "", 1000659999, 1000659999},
		{"1000-1009", "", 1009, 1009},
		{"1000/10", "2000/5,3000/5", 1009, 2004},
		{"1000/10", "2000-2004", 1009, 2004},
		{"1000/10", "nonsense", 1009, 1009},
		{"nonsense", "2000/5", 1337, 2004},
		{"1000", "", 1337, 1337},
		{"1000/0", "", 1337, 1337},
		{"1009-1000", "", 1337, 1337},
		{"-5", "", 1337, 1337},
		{"1/99999999999", "", 1337, 1337},
	} {
		uid, gid := openShiftIDs(map[string]string{policy.AnnotationOpenShiftUIDs: tt.users, policy.AnnotationOpenShiftGroups: tt.groups})
		if uid != tt.uid || gid != tt.gid {
			t.Errorf("%q %q: %d %d, want %d %d", tt.users, tt.groups, uid, gid, tt.uid, tt.gid)
		}
	}
}

// BenchmarkSurvey reads 50 MB without a Namespace in it, and the same with one at the end.
func BenchmarkSurvey(b *testing.B) {
	doc := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  namespace: shop\n  labels:\n    app: web\ndata:\n" +
		strings.Repeat("  server.properties: |\n    listen=8080\n    PATH=/usr/bin:/bin\n    retries=3\n", 20) + "---\n"
	text := []byte(strings.Repeat(doc, 50<<20/len(doc)))
	for name, tail := range map[string]string{"none": "", "last": "kind: Namespace\napiVersion: v1\nmetadata: {name: shop}\n"} {
		b.Run(name, func(b *testing.B) {
			all := append(bytes.Clone(text), tail...)
			b.SetBytes(int64(len(all)))
			for b.Loop() {
				if found := surveyed(all, 256<<10); len(found.namespaces) != len(strings.Fields(tail))/5 {
					b.Fatal(fmt.Sprint(found.namespaces))
				}
			}
		})
	}
}
