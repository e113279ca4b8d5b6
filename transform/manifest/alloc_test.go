package manifest

import (
	"strings"
	"testing"
)

// TestAllocations pins what a document costs, with some slack: nothing where it passes, hardly more than two runs of the
// parser where it is edited. It is not parallel, since it counts for the whole process.
func TestAllocations(t *testing.T) {
	kinds := sniffSet()
	docs, _ := Split("f.yaml", []byte("apiVersion: v1\nkind: ConfigMap\ndata:\n"+strings.Repeat("  a: b\n", 100)))
	if n := testing.AllocsPerRun(100, func() {
		if c, _ := docs[0].Sniff(kinds); c != Pass {
			t.Fatal("not passed")
		}
		scanText(docs[0].Raw)
	}); n != 0 {
		t.Errorf("a document that passes allocates %v times", n)
	}
	docs, _ = Split("f.yaml", []byte(benchDeployment))
	p, _ := docs[0].Parse()
	changes := probeChanges(t, p, Keys("spec", "template"))
	parse := testing.AllocsPerRun(20, func() { docs[0].Parse() })
	both := testing.AllocsPerRun(20, func() {
		p, _ := docs[0].Parse()
		Apply(p, changes)
	})
	if both > 3*parse {
		t.Errorf("editing allocates %v times, parsing %v", both, parse)
	}
}
