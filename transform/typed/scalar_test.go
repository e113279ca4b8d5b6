package typed

import (
	"testing"

	"sigs.k8s.io/yaml"
)

// TestPlainKind compares with the reader that clusters use, for every plain scalar that the two could see differently.
func TestPlainKind(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "~", "null", "Null", "NULL", "nUll", "y", "Y", "yes", "Yes", "YES", "yEs", "n", "no", "No", "NO", "on", "On", "ON", "oN",
		"off", "Off", "OFF", "true", "True", "TRUE", "tRUE", "false", "False", "FALSE", "0", "1", "-1", "+1", "007", "0644", "08", "0x1F", "0b11",
		"0o17", "1_000", "1.5", ".5", "5.", "1e3", "1E+3", "1.2.3", "1:20", "2001-01-01", ".inf", "-.inf", ".nan", "+.inf", "1e", "e1",
		"12345678901234567890", "99999999999999999999", "0x", "-", "+", ".", "..", "abc", "1a", "_1", "1__0", "=", "<", "truely", "ye", "nulls",
	} {
		js, err := yaml.YAMLToJSON([]byte("k: " + s + "\n"))
		if err != nil {
			continue // such as a lone "-", which is no scalar
		}
		value := string(js[len(`{"k":`) : len(js)-1])
		want := Int
		switch {
		case value == "null":
			want = Null
		case value == "true" || value == "false":
			want = Bool
		case value[0] == '"':
			want = String
		}
		got := PlainKind(s)
		if got == Float {
			got = Int // JSON has numbers only
		}
		if got != want {
			t.Errorf("%q: %s, but a cluster reads %s", s, got, value)
		}
	}
}
