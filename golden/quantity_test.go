package golden

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

// quantity gives the canonical form of a quantity, or the value itself where it is none.
func quantity(v any) any {
	q, err := resource.ParseQuantity(fmt.Sprint(v))
	if err != nil {
		return v
	}
	return q.String()
}
