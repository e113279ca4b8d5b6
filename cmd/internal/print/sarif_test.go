package print

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/kube-inject/inject/policy"
)

// sarifErrors checks what the standard requires of the objects we write, and what GitHub requires on top. It reads the
// JSON as data, so that a wrong tag on our own structs is seen.
func sarifErrors(data []byte) []string {
	var errs []string
	bad := func(format string, args ...any) { errs = append(errs, fmt.Sprintf(format, args...)) }
	var log map[string]any
	if err := json.Unmarshal(data, &log); err != nil {
		return []string{err.Error()}
	}
	object := func(v any, path string) map[string]any {
		m, ok := v.(map[string]any)
		if !ok {
			bad("%s is no object", path)
		}
		return m
	}
	list := func(m map[string]any, key, path string) []any {
		l, ok := m[key].([]any)
		if !ok {
			bad("%s.%s is no array", path, key)
		}
		return l
	}
	text := func(m map[string]any, key, path string) string {
		s, ok := m[key].(string)
		if !ok || s == "" {
			bad("%s.%s is no text", path, key)
		}
		return s
	}
	known := func(m map[string]any, path string, keys ...string) {
		for key := range m {
			if !strings.Contains(" "+strings.Join(keys, " ")+" ", " "+key+" ") {
				bad("%s has an unknown field %s", path, key)
			}
		}
	}
	message := func(m map[string]any, key, path string) {
		text(object(m[key], path+"."+key), "text", path+"."+key)
	}
	level := func(m map[string]any, path string) {
		switch m["level"] {
		case "error", "warning", "note":
		default:
			bad("%s.level is %v", path, m["level"])
		}
	}
	number := func(m map[string]any, key, path string) float64 {
		n, present := m[key].(float64)
		if present && (n < 1 || n != float64(int(n))) {
			bad("%s.%s is %v", path, key, n)
		}
		return n
	}
	region := func(m map[string]any, path string) {
		known(m, path, "startLine", "startColumn", "endLine", "endColumn")
		start := number(m, "startLine", path)
		if start == 0 {
			bad("%s has no startLine", path)
		}
		startColumn, endLine, endColumn := number(m, "startColumn", path), number(m, "endLine", path), number(m, "endColumn", path)
		if endLine != 0 && endLine < start || (endLine == 0) != (endColumn == 0) || endLine == start && endColumn < startColumn {
			bad("%s ends before it starts: %v", path, m)
		}
	}
	artifact := func(m map[string]any, path string) {
		known(m, path, "uri", "uriBaseId")
		uri := text(m, "uri", path)
		if strings.ContainsAny(uri, " \"<>\\^`{|}") || strings.HasPrefix(uri, "file:") == (m["uriBaseId"] != nil) {
			bad("%s is no reference: %v", path, m)
		}
	}

	known(log, "log", "$schema", "version", "runs")
	if log["version"] != "2.1.0" || text(log, "$schema", "log") == "" {
		bad("version is %v", log["version"])
	}
	runs := list(log, "runs", "log")
	if len(runs) != 1 {
		bad("%d runs", len(runs))
		return errs
	}
	run := object(runs[0], "run")
	known(run, "run", "tool", "invocations", "columnKind", "results")
	if run["columnKind"] != "utf16CodeUnits" {
		bad("columnKind is %v", run["columnKind"])
	}
	driver := object(object(run["tool"], "tool")["driver"], "driver")
	known(driver, "driver", "name", "version", "semanticVersion", "informationUri", "rules")
	text(driver, "name", "driver")
	var ids []string
	for i, r := range list(driver, "rules", "driver") {
		path := fmt.Sprintf("rules[%d]", i)
		rule := object(r, path)
		known(rule, path, "id", "shortDescription", "fullDescription", "help", "helpUri", "defaultConfiguration", "properties")
		id := text(rule, "id", path)
		for _, other := range ids {
			if other == id {
				bad("%s: id %s twice", path, id)
			}
		}
		ids = append(ids, id)
		message(rule, "shortDescription", path)
		message(rule, "fullDescription", path)
		message(rule, "help", path)
		text(object(rule["help"], path+".help"), "markdown", path+".help")
		level(object(rule["defaultConfiguration"], path), path)
		if p, ok := rule["properties"]; ok && len(list(object(p, path), "tags", path)) > 10 {
			bad("%s has too many tags", path)
		}
	}
	if v, ok := run["invocations"]; ok {
		for _, i := range v.([]any) {
			invocation := object(i, "invocation")
			if _, ok := invocation["executionSuccessful"].(bool); !ok {
				bad("executionSuccessful is missing")
			}
			for _, n := range list(invocation, "toolExecutionNotifications", "invocation") {
				level(object(n, "notification"), "notification")
				message(object(n, "notification"), "message", "notification")
			}
		}
	}
	prints := make(map[string]bool)
	results := list(run, "results", "run")
	if len(results) > 25_000 {
		bad("%d results", len(results))
	}
	for i, r := range results {
		path := fmt.Sprintf("results[%d]", i)
		result := object(r, path)
		known(result, path, "ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints", "fixes")
		level(result, path)
		message(result, "message", path)
		index, ok := result["ruleIndex"].(float64)
		if !ok || int(index) >= len(ids) || ids[int(index)] != text(result, "ruleId", path) {
			bad("%s: ruleIndex %v is not rule %v", path, result["ruleIndex"], result["ruleId"])
		}
		locations := list(result, "locations", path)
		if len(locations) != 1 {
			bad("%s has %d locations", path, len(locations))
		}
		for _, l := range locations {
			location := object(l, path)
			physical := object(location["physicalLocation"], path)
			artifact(object(physical["artifactLocation"], path), path+".artifactLocation")
			region(object(physical["region"], path), path+".region")
			if v, ok := location["logicalLocations"]; ok {
				text(object(v.([]any)[0], path), "fullyQualifiedName", path)
			}
		}
		print := text(object(result["partialFingerprints"], path), "injectFinding/v1", path)
		if prints[print] {
			bad("%s: fingerprint %s twice", path, print)
		}
		prints[print] = true
		if v, ok := result["fixes"]; ok {
			for _, f := range v.([]any) {
				fix := object(f, path+".fix")
				message(fix, "description", path+".fix")
				for _, c := range list(fix, "artifactChanges", path+".fix") {
					change := object(c, path+".fix")
					artifact(object(change["artifactLocation"], path), path+".fix.artifactLocation")
					for _, e := range list(change, "replacements", path+".fix") {
						region(object(object(e, path)["deletedRegion"], path), path+".fix.deletedRegion")
						if _, ok := object(object(e, path)["insertedContent"], path)["text"].(string); !ok {
							bad("%s: fix without text", path)
						}
					}
				}
			}
		}
	}
	return errs
}

func sarifBytes(t *testing.T, findings []policy.Finding, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := SARIF(&b, findings, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSARIFValid(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{
		"full":      sarifBytes(t, sampleFindings(), sampleOptions()),
		"bare":      sarifBytes(t, sampleFindings(), Options{}),
		"empty":     sarifBytes(t, nil, Options{}),
		"dev build": sarifBytes(t, nil, Options{Tool: Tool{Name: "inject", Version: "(devel)"}}),
	} {
		for _, err := range sarifErrors(data) {
			t.Errorf("%s: %s", name, err)
		}
	}
}

// The checker sees damage; otherwise the test above would say nothing.
func TestSARIFCheckerSees(t *testing.T) {
	t.Parallel()
	good := string(sarifBytes(t, sampleFindings(), sampleOptions()))
	for _, damage := range [][2]string{
		{`"version": "2.1.0"`, `"version": "2.0.0"`},
		{`"columnKind"`, `"columnkind"`},
		{`"ruleIndex": 1`, `"ruleIndex": 0`},
		{`"startLine": 9`, `"startLine": 0`},
		{`"level": "note"`, `"level": "info"`},
		{`%20dir`, ` dir`},
		{`"executionSuccessful": false`, `"executionSuccessful": null`},
		{`"results": [`, `"results": [{},`},
		{`"endColumn": 17`, `"endColumn": 1`},
		{`"insertedContent": {`, `"inserted": {`},
	} {
		broken := strings.Replace(good, damage[0], damage[1], 1)
		if broken == good {
			t.Errorf("%s is not in the sample", damage[0])
		}
		if len(sarifErrors([]byte(broken))) == 0 {
			t.Errorf("%s instead of %s went unnoticed", damage[1], damage[0])
		}
	}
}

func TestSARIFLimits(t *testing.T) {
	t.Parallel()
	var findings []policy.Finding
	for i := range sarifMaxResults + 5 {
		severity := policy.Info
		if i >= sarifMaxResults {
			severity = policy.Error
		}
		findings = append(findings, policy.Finding{
			Code: "r", Severity: severity, Position: policy.Position{File: "f", Line: i + 1}, Message: "m",
		})
	}
	data := sarifBytes(t, findings, Options{Rules: []Rule{{ID: "r", Summary: strings.Repeat("ü", 2000)}}})
	for _, err := range sarifErrors(data) {
		t.Error(err)
	}
	if n := bytes.Count(data, []byte(`"level": "error"`)); n != 5 {
		t.Errorf("%d errors of 5 are left", n)
	}
	if !bytes.Contains(data, []byte("5 more findings left out")) {
		t.Error("nobody says that something is missing")
	}
	if !bytes.Contains(data, []byte(`"text": "`+strings.Repeat("ü", 1023)+`…"`)) {
		t.Error("the description is not cut to what GitHub takes")
	}
}

// Columns are characters on the way in and UTF-16 units on the way out.
func TestSARIFColumns(t *testing.T) {
	t.Parallel()
	line := "a: 漢😀x😀"
	lines := sourceLines{source: func(string, int) (string, bool) { return line, true }}
	for column, want := range map[int]int{1: 1, 4: 4, 5: 5, 6: 7, 7: 8, 8: 10, 12: 14} {
		if got := lines.utf16Column(1, column); got != want {
			t.Errorf("column %d becomes %d, want %d", column, got, want)
		}
	}
	if got := (sourceLines{}).utf16Column(1, 6); got != 6 {
		t.Errorf("without the line the column changes to %d", got)
	}
}

// The fingerprint survives moved lines and another message, and tells repeats apart.
func TestFingerprints(t *testing.T) {
	t.Parallel()
	f := policy.Finding{Code: "r", Position: policy.Position{File: "f", Line: 3}, Message: "m", Field: "spec"}
	moved := f
	moved.Position.Line, moved.Message = 9, "n"
	if a, b := fingerprints([]policy.Finding{f}, Options{})[0], fingerprints([]policy.Finding{moved}, Options{})[0]; a != b {
		t.Error("a finding that moved is another one")
	}
	if p := fingerprints([]policy.Finding{f, moved}, Options{}); p[0] == p[1] {
		t.Error("two findings are one")
	}
	for name, change := range map[string]func(*policy.Finding){
		"rule":   func(f *policy.Finding) { f.Code = "s" },
		"file":   func(f *policy.Finding) { f.Position.File = "g" },
		"field":  func(f *policy.Finding) { f.Field = "status" },
		"object": func(f *policy.Finding) { f.Resource.Name = "web" },
	} {
		other := f
		change(&other)
		if fingerprints([]policy.Finding{f}, Options{})[0] == fingerprints([]policy.Finding{other}, Options{})[0] {
			t.Errorf("another %s has the same fingerprint", name)
		}
	}
}
