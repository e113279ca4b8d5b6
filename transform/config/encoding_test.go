package config

import (
	"encoding/binary"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

func TestEncodings(t *testing.T) {
	t.Parallel()
	const text = "global:\n  hub: café\n"
	wide := func(order binary.AppendByteOrder) []byte {
		out := order.AppendUint16(nil, 0xfeff)
		for _, u := range utf16.Encode([]rune(text)) {
			out = order.AppendUint16(out, u)
		}
		return out
	}
	for name, data := range map[string][]byte{
		"UTF-8": []byte(text), "UTF-8 with mark": []byte("\ufeff" + text),
		"UTF-16 little": wide(binary.LittleEndian), "UTF-16 big": wide(binary.BigEndian),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := scan(Source{Name: "f", Data: data})
			if sc.err != nil {
				t.Fatal(sc.err)
			}
			if got := lookup(lookup(sc.single, "global"), "hub"); got == nil || got.Value != "café" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestNotUTF8(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		"global:\n  hub: caf\xe9\n":   "f:2:11: error: the file is not UTF-8: here is a byte that no character has [E_CONFIG_SYNTAX]",
		"# caf\xe9\nglobal: {}\n":     "f:1:6: error: the file is not UTF-8: here is a byte that no character has [E_CONFIG_SYNTAX]",
		"{\"global\": \"caf\xe9\"}\n": "f:1:16: error: the file is not UTF-8: here is a byte that no character has [E_CONFIG_SYNTAX]",
	} {
		sc := scan(Source{Name: "f", Data: []byte(data)})
		got := ""
		if sc.err != nil {
			got = sc.err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", data, diff)
		}
	}
}
