package lint

import "github.com/kube-inject/inject/policy"

// The rules about suppressions have no function: whoever applies suppressions files their findings.
const (
	UnknownSuppression = "suppression-unknown"
	UnusedSuppression  = "suppression-unused"
)

func suppressionUnknown() Rule {
	return Rule{
		ID: UnknownSuppression, Category: Suppression, Severity: policy.Warning,
		Summary: "a suppression names a rule that does not exist",
		Why:     "A misspelt suppression hides nothing, and one without a rule would hide everything, so it hides nothing either.",
		Remedy:  "correct the rule's name; inject lint --rules lists them",
		Bad:     "# inject:ignore reserved-prot\n- containerPort: 15090",
		Good:    "# inject:ignore reserved-port scraped from outside the mesh\n- containerPort: 15090",
	}
}

func suppressionUnused() Rule {
	return Rule{
		ID: UnusedSuppression, Category: Suppression, Severity: policy.Warning, Fixes: false,
		Summary: "a suppression that hides nothing",
		Why:     "Left behind, it would hide the mistake when somebody makes it again.",
		Remedy:  "remove it",
		Bad:     "# inject:ignore reserved-port\n- containerPort: 8080",
		Good:    "- containerPort: 8080",
	}
}
