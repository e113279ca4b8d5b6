package print

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// junitSuite is one file, junitCase one object in it.
type junitSuite struct {
	name  string
	cases []*junitCase
}

type junitCase struct {
	name   string
	errors []policy.Finding
	others []policy.Finding
}

// JUnit writes findings as JUnit XML: a suite per file, a test per object, failed where the object has an error;
// warnings and notes are the test's output. Objects of o.Checked without a finding are tests that passed.
func JUnit(w io.Writer, findings []policy.Finding, o Options) error {
	suites := junitSuites(prepare(findings), o)
	var b bytes.Buffer
	tests, failures := 0, 0
	for _, s := range suites {
		tests += len(s.cases)
		failures += s.failures()
	}
	name := o.Tool.Name
	if name == "" {
		name = "inject"
	}
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	fmt.Fprintf(&b, `<testsuites name="%s" tests="%d" failures="%d" errors="0" time="0">`+"\n", xmlText(name), tests, failures)
	for _, s := range suites {
		s.write(&b)
	}
	b.WriteString("</testsuites>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// junitSuites groups findings and checked objects, both in the order they come in.
func junitSuites(findings []policy.Finding, o Options) []*junitSuite {
	var suites []*junitSuite
	suiteOf := make(map[string]*junitSuite)
	caseOf := make(map[[2]string]*junitCase)
	find := func(file string, r policy.Resource) *junitCase {
		suite, name := o.file(file), objectName(cleanResource(r))
		if file == "" {
			suite = "(command line)"
		}
		if name == "" {
			name = "(file)"
		}
		if suiteOf[suite] == nil {
			suiteOf[suite] = &junitSuite{name: suite}
			suites = append(suites, suiteOf[suite])
		}
		key := [2]string{suite, name}
		if caseOf[key] == nil {
			caseOf[key] = &junitCase{name: name}
			suiteOf[suite].cases = append(suiteOf[suite].cases, caseOf[key])
		}
		return caseOf[key]
	}
	for _, c := range o.Checked {
		find(c.File, c.Resource)
	}
	for _, f := range findings {
		c := find(f.Position.File, f.Resource)
		f.Position.File = o.file(f.Position.File)
		if f.Severity == policy.Error {
			c.errors = append(c.errors, f)
		} else {
			c.others = append(c.others, f)
		}
	}
	return suites
}

func (s *junitSuite) failures() int {
	n := 0
	for _, c := range s.cases {
		if len(c.errors) > 0 {
			n++
		}
	}
	return n
}

func (s *junitSuite) write(b *bytes.Buffer) {
	fmt.Fprintf(b, `  <testsuite name="%s" tests="%d" failures="%d" errors="0" time="0">`+"\n", xmlText(s.name), len(s.cases), s.failures())
	for _, c := range s.cases {
		fmt.Fprintf(b, `    <testcase classname="%s" name="%s" time="0"`, xmlText(s.name), xmlText(c.name))
		if len(c.errors)+len(c.others) == 0 {
			b.WriteString("/>\n")
			continue
		}
		b.WriteString(">\n")
		if len(c.errors) > 0 {
			first := c.errors[0]
			fmt.Fprintf(b, `      <failure type="%s" message="%s">%s</failure>`+"\n",
				xmlText(first.Code), xmlText(first.Message), xmlText(junitLines(c.errors)))
		}
		if len(c.others) > 0 {
			fmt.Fprintf(b, "      <system-out>%s</system-out>\n", xmlText(junitLines(c.others)))
		}
		b.WriteString("    </testcase>\n")
	}
	b.WriteString("  </testsuite>\n")
}

// junitLines is the text form of findings.
func junitLines(findings []policy.Finding) string {
	var lines []string
	for _, f := range findings {
		lines = append(lines, f.Error())
		if f.Hint != "" {
			lines = append(lines, "    hint: "+f.Hint)
		}
	}
	return strings.Join(lines, "\n")
}

// xmlText escapes text for an element or a quoted attribute and drops the characters that XML 1.0 forbids.
func xmlText(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, text)
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;").Replace(text)
}
