package template

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/sprig/v3"
)

// removed lists the functions of sprig that a template may not call, each group with its reason. Some of them are
// not in sprig's own list of what is not hermetic, although their answers change from run to run.
func removed() []struct{ why, instead, names string } {
	return []struct{ why, instead, names string }{
		{
			"it reads the machine's environment or network", "give the value in the values file",
			"expandenv getHostByName",
		},
		{
			"it reads the clock", "give the time in the values file",
			"now date dateInZone date_in_zone dateModify date_modify htmlDate htmlDateInZone ago durationRound " +
				"mustDateModify must_date_modify",
		},
		{
			"its answer is random", "give the value in the values file",
			"randAlphaNum randAlpha randAscii randNumeric randBytes randInt uuidv4 shuffle bcrypt htpasswd encryptAES",
		},
		{
			"it makes random keys", "mount a Secret instead",
			"genPrivateKey genCA genCAWithKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert " +
				"genSignedCertWithKey buildCustomCert decryptAES derivePassword",
		},
		{
			"it depends on the machine's time zone", "give the time in the values file",
			"toDate mustToDate unixEpoch",
		},
		{
			"it depends on the machine's operating system", "use base, clean, dir, ext or isAbs",
			"osBase osClean osDir osExt osIsAbs",
		},
	}
}

// since names the Istio version that brought a function that this engine does not have; empty where unknown.
func unavailable(name string) (message, hint string) {
	for _, r := range removed() {
		if slices.Contains(strings.Fields(r.names), name) {
			return "function " + name + " is not available: " + r.why, r.instead
		}
	}
	return "function " + name + " is not known",
		"check the spelling, or whether the config is made for a newer Istio than this program knows (1.31)"
}

// sprigFunctions gives sprig's text functions without the removed ones, those with map order made stable, and those
// that can blow up bounded.
func sprigFunctions() FuncMap {
	funcs := FuncMap(sprig.TxtFuncMap())
	for _, r := range removed() {
		for name := range strings.FieldsSeq(r.names) {
			delete(funcs, name)
		}
	}
	maps.Copy(funcs, FuncMap{
		"quote":     quoter(funcs["quote"].(func(...any) string)),
		"keys":      sortedKeys,
		"values":    sortedValues,
		"repeat":    boundedRepeat,
		"until":     func(n int) ([]int, error) { return steps(0, n, sign(n)) },
		"untilStep": steps,
		"seq":       seq,
		"nindent":   nindent,
		"wrap":      boundedWrap(funcs["wrap"].(func(int, string) string)),
	})
	return funcs
}

// quoter is sprig's quote with a short way for one string, which is most of its calls.
func quoter(quote func(...any) string) func(...any) string {
	return func(args ...any) string {
		if len(args) == 1 {
			if s, ok := args[0].(string); ok {
				return strconv.Quote(s)
			}
		}
		return quote(args...)
	}
}

const (
	// maxWidth bounds indentation and wrapping.
	maxWidth = 1 << 12
	// maxItems bounds the lists that counting functions make.
	maxItems = 1 << 16
)

var (
	errWidth = fmt.Errorf("wider than %d", maxWidth)
	errItems = fmt.Errorf("more than %d items", maxItems)
	errSize  = errors.New("the result is larger than the limit for a template's output")
)

func sortedKeys(dicts ...map[string]any) []string {
	var out []string
	for _, d := range dicts {
		out = append(out, slices.Sorted(maps.Keys(d))...)
	}
	return out
}

func sortedValues(dict map[string]any) []any {
	out := make([]any, 0, len(dict))
	for _, k := range slices.Sorted(maps.Keys(dict)) {
		out = append(out, dict[k])
	}
	return out
}

func boundedRepeat(count int, s string) (string, error) {
	if count < 0 || (len(s) > 0 && count > MaxOutput/len(s)) {
		return "", errSize
	}
	return strings.Repeat(s, count), nil
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// steps counts from start to before stop.
func steps(start, stop, step int) ([]int, error) {
	if step == 0 || (stop < start) != (step < 0) {
		return []int{}, nil
	}
	if n := (stop - start) / step; n > maxItems || n < 0 {
		return nil, errItems
	}
	out := []int{}
	for i := start; (step > 0 && i < stop) || (step < 0 && i > stop); i += step {
		out = append(out, i)
	}
	return out, nil
}

// seq prints numbers as the shell's seq does: last, first last, or first step last.
func seq(params ...int) (string, error) {
	start, step, last := 1, 1, 0
	switch len(params) {
	case 1:
		last = params[0]
		step = sign(last - start)
	case 2:
		start, last = params[0], params[1]
		step = sign(last - start)
	case 3:
		start, step, last = params[0], params[1], params[2]
		if (last-start)*sign(step) < 0 {
			return "", nil
		}
	default:
		return "", nil
	}
	nums, err := steps(start, last+sign(step), step)
	return strings.Trim(fmt.Sprint(nums), "[]"), err
}

func nindent(n int, s string) (string, error) {
	if n < 0 || n > maxWidth {
		return "", errWidth
	}
	pad := strings.Repeat(" ", n)
	return "\n" + pad + strings.ReplaceAll(s, "\n", "\n"+pad), nil
}

func boundedWrap(wrap func(int, string) string) func(int, string) (string, error) {
	return func(width int, s string) (string, error) {
		if width > maxWidth {
			return "", errWidth
		}
		return wrap(width, s), nil
	}
}
