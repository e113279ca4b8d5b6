package transform

import (
	"strconv"
	"strings"

	"github.com/kube-inject/inject/policy"
)

// openShiftIDs gives user and group of the proxy by the annotations that OpenShift puts on a namespace: the last user of
// its range, and the last group of the first block of its supplemental groups, else the same number (Istio,
// pkg/kube/inject/openshift.go, GetProxyUID and GetProxyGID, 1.30). What cannot be read counts as absent.
func openShiftIDs(annotations map[string]string) (uid, gid int64) {
	uid, gid = policy.ProxyUserID, policy.ProxyUserID
	if end, ok := blockEnd(annotations[policy.AnnotationOpenShiftUIDs]); ok {
		uid, gid = end, end
	}
	first, _, _ := strings.Cut(annotations[policy.AnnotationOpenShiftGroups], ",")
	if end, ok := blockEnd(first); ok {
		gid = end
	}
	return uid, gid
}

// blockEnd gives the last number of start/size or start-end.
func blockEnd(text string) (int64, bool) {
	text = strings.TrimSpace(text)
	sep := strings.IndexAny(text, "/-")
	if sep <= 0 {
		return 0, false
	}
	start, err := strconv.ParseUint(text[:sep], 10, 31)
	if err != nil {
		return 0, false
	}
	other, err := strconv.ParseUint(text[sep+1:], 10, 31)
	if err != nil {
		return 0, false
	}
	end := int64(other)
	if text[sep] == '/' {
		end = int64(start) + int64(other) - 1
	}
	return end, end >= int64(start)
}
