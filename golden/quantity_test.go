package golden

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// quantity gives the canonical form of a quantity, or the value itself where it is none.
func quantity(v any) any {
	if f, ok := v.(float64); ok {
		v = strconv.FormatFloat(f, 'f', -1, 64)
	}
	q, err := resource.ParseQuantity(fmt.Sprint(v))
	if err != nil {
		return v
	}
	return q.String()
}
