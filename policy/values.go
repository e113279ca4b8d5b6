package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/api/resource"
)

// ValueType is the form that values of an annotation or label have.
type ValueType string

// The value types. Text takes anything.
const (
	Text            ValueType = "text"
	Bool            ValueType = "bool"
	Port            ValueType = "port"
	PortList        ValueType = "port list"
	PortListOrAll   ValueType = "port list or *"
	CIDRList        ValueType = "CIDR list"
	CIDRListOrAll   ValueType = "CIDR list or *"
	InterfaceList   ValueType = "interface list"
	Uint32          ValueType = "unsigned 32-bit integer"
	Integer         ValueType = "integer"
	Quantity        ValueType = "quantity"
	Duration        ValueType = "duration"
	JSON            ValueType = "JSON"
	JSONObject      ValueType = "JSON object"
	ProxyConfig     ValueType = "ProxyConfig"
	NameList        ValueType = "list of names"
	RevisionName    ValueType = "revision name"
	LegacyCIDRList  ValueType = "CIDR list (1.7)"
	LegacyCIDROrAll ValueType = "CIDR list or * (1.7)"
)

const (
	portBits = 16
	// maxInterfaceName is Linux' IFNAMSIZ without its NUL.
	maxInterfaceName = 15
)

// rules gives what is accepted, in words, and the parser; a nil parser accepts everything.
func (t ValueType) rules() (accepts string, parse func(string) error) {
	switch t {
	case Bool:
		return "true or false", parseBool
	case Port:
		return "a port from 0 to 65535", func(v string) error { _, err := ParsePort(v); return err }
	case PortList:
		return "a comma-separated list of ports from 0 to 65535", parsePortList
	case PortListOrAll:
		return "* or a comma-separated list of ports from 0 to 65535", orAll(parsePortList)
	case CIDRList:
		return "a comma-separated list of CIDRs without blanks", parseCIDRs
	case CIDRListOrAll:
		return "* or a comma-separated list of CIDRs without blanks", orAll(parseCIDRs)
	case LegacyCIDRList:
		return "a comma-separated list of CIDRs without blanks", parseLegacyCIDRs
	case LegacyCIDROrAll:
		return "* or a comma-separated list of CIDRs without blanks", orAll(parseLegacyCIDRs)
	case InterfaceList:
		return "a comma-separated list of network interface names", parseInterfaces
	case Uint32:
		return "a whole number from 0 to 4294967295", parseUint32
	case Integer:
		return "a whole number", func(v string) error { _, err := strconv.Atoi(v); return plain(err) }
	case Quantity:
		return "a Kubernetes quantity such as 100m or 128Mi", parseQuantity
	case Duration:
		return "a duration such as 5s or 1m30s", func(v string) error { _, err := time.ParseDuration(v); return plain(err) }
	case JSON:
		return "JSON", parseJSON
	case JSONObject:
		return "a JSON object", parseJSONObject
	case RevisionName:
		return "lower-case letters, digits and inner dashes", parseRevision
	}
	return "", nil
}

// ParsePort reads one port from 0 to 65535, blanks around it allowed (Istio, pkg/kube/inject/validate.go parsePort, 1.30).
func ParsePort(value string) (int, error) {
	port, err := strconv.ParseUint(strings.TrimSpace(value), 10, portBits)
	return int(port), plain(err)
}

// ParsePorts reads a comma-separated list of ports; a blank value is the empty list, an empty item an error
// (Istio, pkg/kube/inject/validate.go parsePorts, 1.30).
func ParsePorts(value string) ([]int, error) {
	value = strings.TrimSpace(value)
	if value == "" {
		return nil, nil
	}
	ports := make([]int, 0, strings.Count(value, ",")+1)
	for item := range strings.SplitSeq(value, ",") {
		port, err := ParsePort(item)
		if err != nil {
			return nil, itemError(item, err)
		}
		ports = append(ports, port)
	}
	return ports, nil
}

func parsePortList(value string) error {
	_, err := ParsePorts(value)
	return err
}

func orAll(parse func(string) error) func(string) error {
	return func(value string) error {
		if value == "*" {
			return nil
		}
		return parse(value)
	}
}

// parseCIDRs takes the empty list, but no blanks (Istio, pkg/kube/inject/validate.go validateCIDRList, 1.30).
func parseCIDRs(value string) error {
	if value == "" {
		return nil
	}
	for item := range strings.SplitSeq(value, ",") {
		if _, err := netip.ParsePrefix(item); err != nil {
			return itemError(item, nil)
		}
	}
	return nil
}

// parseLegacyCIDRs reads as net.ParseCIDR of 1.6 and 1.7 did, which let leading zeros of the prefix length pass.
func parseLegacyCIDRs(value string) error {
	if value == "" {
		return nil
	}
	for item := range strings.SplitSeq(value, ",") {
		address, bits, ok := strings.Cut(item, "/")
		if trimmed := strings.TrimLeft(bits, "0"); ok && bits != "" {
			bits = trimmed
			if bits == "" {
				bits = "0"
			}
		}
		if _, err := netip.ParsePrefix(address + "/" + bits); err != nil || !ok {
			return itemError(item, nil)
		}
	}
	return nil
}

// parseInterfaces takes names of up to 15 characters that start with a letter (Istio, pkg/kube/inject/validate.go, 1.30).
func parseInterfaces(value string) error {
	if value == "" {
		return nil
	}
	for item := range strings.SplitSeq(value, ",") {
		name := strings.TrimSpace(item)
		switch {
		case name == "":
			return errors.New("an item is empty")
		case len(name) > maxInterfaceName:
			return fmt.Errorf("%s is longer than %d characters", quoteCut(name), maxInterfaceName)
		case !interfaceName(name):
			return itemError(name, nil)
		}
	}
	return nil
}

func interfaceName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if i == 0 && !letter {
			return false
		}
		if !letter && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func parseUint32(value string) error {
	_, err := strconv.ParseUint(value, 10, 32)
	return plain(err)
}

func parseBool(value string) error {
	_, err := strconv.ParseBool(value)
	return plain(err)
}

// parseQuantity refuses control characters first: the chart's template prints the value unquoted
// (Istio, pkg/kube/inject/validate.go, 1.27.6 and later).
func parseQuantity(value string) error {
	if strings.ContainsFunc(value, unicode.IsControl) {
		return errors.New("it holds control characters")
	}
	_, err := resource.ParseQuantity(value)
	return plain(err)
}

func parseJSON(value string) error {
	if !json.Valid([]byte(value)) {
		return errBad
	}
	return nil
}

func parseJSONObject(value string) error {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(value), &object) != nil || object == nil {
		return errBad
	}
	return nil
}

func parseRevision(value string) error {
	for i := range len(value) {
		c := value[i]
		inner := c == '-' && i > 0 && i < len(value)-1
		if !inner && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return errBad
		}
	}
	if value == "" {
		return errors.New("it is empty")
	}
	return nil
}

// errBad is the reason that adds nothing to the value and to what is accepted.
var errBad = errors.New("")

// plain takes the names of Go functions out of an error: range errors keep their reason, all else is just bad.
func plain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, strconv.ErrRange):
		return errors.New("it is out of range")
	}
	return errBad
}

// itemError names the item of a list that is wrong.
func itemError(item string, err error) error {
	if strings.TrimSpace(item) == "" {
		return errors.New("an item is empty")
	}
	if err != nil && err.Error() != "" {
		return fmt.Errorf("item %s: %w", quoteCut(item), err)
	}
	return fmt.Errorf("item %s is not accepted", quoteCut(item))
}
