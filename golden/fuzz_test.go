package golden

import (
	"bytes"
	"testing"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/workload"
)

// FuzzRoundTrip holds for any text: no panic, injecting twice is injecting once, and uninject after inject gives the text
// back where it carried no sidecar.
func FuzzRoundTrip(f *testing.F) {
	for _, dir := range []string{"inject"} {
		for _, file := range []string{"deployment-plain", "classic-hold", "cronjob-list", "gateway-template", "pod-no-metadata-labels"} {
			f.Add(readFile(f, dir, file, "in.yaml"))
		}
	}
	f.Add([]byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: b}]}\n"))
	f.Add([]byte("kind: Pod\napiVersion: v1\nspec:\n  containers:\n  - &c\n    name: a\n    image: b\n    livenessProbe: &p {httpGet: {port: 80}}\n    readinessProbe: *p\n"))
	f.Add([]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"b"}]}}`))
	in := embeddedInjector(f, transform.Setup{})
	un := transform.NewUninjector(workload.Default())
	f.Fuzz(func(t *testing.T, text []byte) {
		once := through(t, in, "f.yaml", text)
		if len(once.errs) > 0 {
			for _, e := range once.errs {
				if e.Code == "E_INTERNAL" {
					t.Fatal(e)
				}
			}
			return
		}
		if once.injected == 0 {
			if !bytes.Equal(once.text, text) {
				t.Fatal("nothing was injected, but the text changed")
			}
			return
		}
		if bytes.Contains(text, []byte(policy.AnnotationStatus)) || bytes.Contains(text, []byte(policy.Prefix)) {
			return
		}
		if twice := through(t, in, "f.yaml", once.text); len(twice.errs) > 0 || !bytes.Equal(twice.text, once.text) {
			t.Fatalf("injecting again changes it: %v %s", twice.errs, firstDifference(once.text, twice.text))
		}
		if back := through(t, un, "f.yaml", once.text); !bytes.Equal(back.text, text) {
			t.Fatalf("uninject does not give it back: %v %s", back.errs, firstDifference(text, back.text))
		}
	})
}
