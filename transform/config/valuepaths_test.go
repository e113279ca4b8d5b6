package config

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValuePaths(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{{ .Values.global.hub }}`:                                             {"global.hub"},
		`{{ $g := .Values.global }}{{ $g.proxy.image }}`:                       {"global.proxy.image"},
		`{{ with .Values.global.proxy }}{{ .image }}{{ $.Values.a }}{{ end }}`: {"a", "global.proxy.image"},
		`{{ toYaml .Values.global.proxy.resources }}`:                          {"global.proxy.resources"},
		`{{ if (.Values.pilot.env).X }}y{{ end }}`:                             {"pilot.env.X"},
		`{{ index .Values "a" "b" }}`:                                          {"a.b"},
		`{{ range .Values.global.imagePullSecrets }}{{ . }}{{ end }}`:          {"global.imagePullSecrets"},
		`{{ define "x" }}{{ .Values.b }}{{ end }}{{ template "x" . }}`:         {"b"},
		`{{ define "x" }}{{ .c }}{{ end }}{{ template "x" .Values.global }}`:   {"global.c"},
		`{{ $p := .Values.p | default "x" }}{{ $p }}{{ .Spec.Values }}`:        {"p"},
		`{{ if }}`: nil,
	} {
		got := valuePaths(text)
		slices.Sort(got)
		got = slices.DeleteFunc(got, func(s string) bool { return s == "" })
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", text, d)
		}
	}
}
