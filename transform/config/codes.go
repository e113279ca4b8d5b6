package config

import (
	"fmt"
	"slices"

	"github.com/kube-inject/inject/policy"
)

// The codes of this package's findings; doc.go says what each stands for.
const (
	CodeSyntax       = "E_CONFIG_SYNTAX"
	CodeKind         = "E_CONFIG_KIND"
	CodeMissing      = "E_CONFIG_MISSING"
	CodeChoice       = "E_CONFIG_CHOICE"
	CodeValue        = "E_CONFIG_VALUE"
	CodeSet          = "E_CONFIG_SET"
	CodeVersion      = "E_CONFIG_VERSION"
	CodeUnknown      = "W_CONFIG_UNKNOWN"
	CodeSuspicious   = "W_CONFIG_VALUE"
	CodeVersionGuess = "W_CONFIG_VERSION"
	CodeEdited       = "W_CONFIG_EDITED"
)

// problems collects findings on the way.
type problems []policy.Finding

func (p *problems) add(f policy.Finding) { *p = append(*p, f) }

func (p *problems) errorf(code string, at policy.Position, field, hint, format string, args ...any) {
	p.add(policy.Finding{
		Code: code, Severity: policy.Error, Position: at, Field: field, Hint: hint, Message: fmt.Sprintf(format, args...),
	})
}

func (p *problems) warnf(code string, at policy.Position, field, hint, format string, args ...any) {
	p.add(policy.Finding{
		Code: code, Severity: policy.Warning, Position: at, Field: field, Hint: hint, Message: fmt.Sprintf(format, args...),
	})
}

// told says whether there is a finding of that code at that place already.
func (p problems) told(code string, at policy.Position) bool {
	return slices.ContainsFunc(p, func(f policy.Finding) bool { return f.Code == code && f.Position == at })
}

// failed says whether anything collected is an error.
func (p problems) failed() bool {
	return policy.HasErrors(p)
}
