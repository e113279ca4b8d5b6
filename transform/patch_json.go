package transform

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// canonical prints plain data as JSON on one line: keys sorted, no HTML escapes. Numbers that JSON has not, infinity and
// not-a-number, are printed as their names; no field of Kubernetes takes them.
func canonical(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return canonical(fmt.Sprint(v))
	}
	return string(bytes.TrimRight(b.Bytes(), "\n"))
}

// String prints the operation as JSON on one line, op and path first.
func (o PatchOp) String() string {
	text := `{"op":` + canonical(o.Op) + `,"path":` + canonical(o.Path)
	if o.Op != OpRemove {
		text += `,"value":` + canonical(o.Value)
	}
	return text + "}"
}

// PatchText prints operations as a JSON array, one operation a line, each line but the first with indent in front, and
// no line end at the end.
func PatchText(ops []PatchOp, indent string) []byte {
	if len(ops) == 0 {
		return []byte("[]")
	}
	var b bytes.Buffer
	b.WriteString("[\n")
	for i, o := range ops {
		b.WriteString(indent + "  " + o.String())
		if i < len(ops)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString(indent + "]")
	return b.Bytes()
}

// PatchList prints the patches of several objects with the object each is for:
// [{"target": {…}, "patch": […]}, …].
func PatchList(patches []Patch) []byte {
	if len(patches) == 0 {
		return []byte("[]")
	}
	var b bytes.Buffer
	b.WriteString("[\n")
	for i, p := range patches {
		b.WriteString(`  {"target": ` + p.Target.String() + ",\n   \"patch\": ")
		b.Write(PatchText(p.Ops, "   "))
		b.WriteByte('}')
		if i < len(patches)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]")
	return b.Bytes()
}

// String prints the target as JSON on one line; what is empty is left out, but for the index.
func (t PatchTarget) String() string {
	text := ""
	for _, kv := range [][2]string{
		{"apiVersion", t.APIVersion},
		{"kind", t.Kind},
		{"namespace", t.Namespace},
		{"name", t.Name},
		{"generateName", t.GenerateName},
		{"file", t.File},
	} {
		if kv[1] != "" {
			text += canonical(kv[0]) + ":" + canonical(kv[1]) + ","
		}
	}
	return "{" + text + `"index":` + canonical(t.Index) + "}"
}
