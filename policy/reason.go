package policy

import "strconv"

// Reason says in one line why the pod is injected or not, with the field behind it in parentheses.
func (d Decision) Reason() string {
	s := d.Step()
	switch d.Rule {
	case RuleHostNetwork:
		return "pod uses the host network (" + s.Field + ")"
	case RuleIgnoredNamespace:
		return "namespace " + s.Saw + " is never injected (" + s.Field + ")"
	case RuleInjectLabel:
		return "label " + LabelInject + " is " + quoteCut(s.Saw) + " (" + s.Field + ")"
	case RuleInjectAnnotation:
		return "annotation " + AnnotationInject + " is " + quoteCut(s.Saw) + " (" + s.Field + ")"
	case RuleSealed:
		return "label " + LabelInject + " was " + strconv.Quote(s.Saw) + " before the pod was sealed (" + s.Field + ")"
	case RuleNeverSelector, RuleAlwaysSelector:
		return "labels match " + s.Saw + " (" + s.Field + " of the injection config)"
	case RulePolicy:
		return "policy is " + s.Saw + " (" + s.Field + " of the injection config)"
	case RuleWebhook:
		return s.Note + " (" + s.Field + ")"
	case RuleIgnorePolicy:
		return "selectors, labels and policy are ignored (--ignore-policy)"
	}
	return d.Rule
}
