package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/testing/protocmp"
)

// TestShowRoundTrip: what Show and WriteProfile print, read again, is the same bundle. Every distinct set of the shared data.
func TestShowRoundTrip(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, dir := range conformance(t) {
		cases, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, c := range cases {
			o, ok := readCase(t, c)
			mesh := o.MeshSparse
			if mesh == "" {
				mesh = o.Mesh
			}
			key := filepath.Base(dir) + o.Config + o.Values + mesh
			if !ok || o.Config == "" || seen[key] {
				continue
			}
			seen[key] = true
			t.Run(filepath.Base(dir)+"/"+filepath.Base(c), func(t *testing.T) {
				t.Parallel()
				opts := LoadOptions{IstioVersion: strings.TrimPrefix(filepath.Base(dir), "istio-")}
				for part, file := range map[**Source]string{&opts.Injection: o.Config, &opts.Values: o.Values, &opts.Mesh: mesh} {
					if file != "" {
						*part = sourceOf(t, filepath.Join(c, file))
					}
				}
				want, findings := Load(opts)
				if want == nil {
					if o.ExpectError == nil {
						t.Skipf("refused: %v", findings)
					}
					return
				}
				injection, values, meshText := Show(want)
				again, findings := Load(LoadOptions{
					IstioVersion: opts.IstioVersion,
					Injection:    &Source{"config", injection}, Values: &Source{"values", values}, Mesh: &Source{"mesh", meshText},
				})
				if problems(findings).failed() {
					t.Fatalf("%v\n%s%s%s", findings, injection, values, meshText)
				}
				same(t, want, again)
				profile, findings := ReadProfile("p", WriteProfile(want, About{IstioVersion: opts.IstioVersion, Source: "test"}))
				if len(findings) > 0 {
					t.Fatal(findings)
				}
				again, findings = Load(LoadOptions{Profile: profile})
				if problems(findings).failed() {
					t.Fatal(findings)
				}
				same(t, want, again)
			})
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d sets", len(seen))
	}
}

// same compares what matters of two bundles for a pod.
func same(t *testing.T, want, got *Bundle) {
	t.Helper()
	ignore := cmp.Options{
		cmpopts.IgnoreFields(Injection{}, "Source", "Places", "Bare", "Revision"),
		cmpopts.IgnoreFields(TemplateText{}, "Source", "text"),
		cmpopts.IgnoreFields(Selector{}, "Position", "Selector"),
		cmpopts.EquateEmpty(),
	}
	if d := cmp.Diff(want.Injection, got.Injection, ignore); d != "" {
		t.Errorf("injection config:\n%s", d)
	}
	if d := cmp.Diff(want.Values.Tree, got.Values.Tree); d != "" {
		t.Errorf("values:\n%s", d)
	}
	if d := cmp.Diff(want.Mesh.Config, got.Mesh.Config, protocmp.Transform()); d != "" {
		t.Errorf("mesh config:\n%s", d)
	}
	if d := cmp.Diff(want.Mesh.Unknown, got.Mesh.Unknown, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("unknown mesh fields:\n%s", d)
	}
	if d := cmp.Diff(want.Istio.Engine, got.Istio.Engine); d != "" {
		t.Errorf("engine:\n%s", d)
	}
}
