package manifest

import "go.yaml.in/yaml/v3"

// refine turns "the value of old becomes val" into changes of its parts, so that comments on equal parts stay; nil
// where the value is better replaced as a whole.
func refine(old, val *yaml.Node) *delta {
	if old.Kind == yaml.AliasNode || old.Kind != val.Kind || len(old.Content) == 0 || len(val.Content) == 0 {
		return nil
	}
	switch old.Kind {
	case yaml.MappingNode:
		return refineMapping(old, val)
	case yaml.SequenceNode:
		return refineSequence(old, val)
	}
	return nil
}

func refineMapping(old, val *yaml.Node) *delta {
	d := &delta{}
	common := false
	for i := 0; i+1 < len(old.Content); i += 2 {
		k := old.Content[i]
		if k.Kind != yaml.ScalarNode || isMerge(k) {
			return nil
		}
		if entry(val, k.Value) < 0 {
			d.kids = append(d.kids, kid{Key(k.Value), &delta{removed: true}})
		}
	}
	for i := 0; i+1 < len(val.Content); i += 2 {
		k, v := val.Content[i], val.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			return nil
		}
		j := entry(old, k.Value)
		if j < 0 {
			d.kids = append(d.kids, kid{Key(k.Value), &delta{set: v}})
			continue
		}
		common = true
		if !equalTree(old.Content[j+1], v) {
			// prune comes by here next and refines the value in its turn.
			d.kids = append(d.kids, kid{Key(k.Value), &delta{set: v}})
		}
	}
	if !common {
		return nil
	}
	return d
}

// maxAlign bounds the table for aligning two lists.
const maxAlign = 1 << 20

// refineSequence aligns two lists by their longest common part.
func refineSequence(old, val *yaml.Node) *delta {
	a, b := old.Content, val.Content
	if len(a)*len(b) > maxAlign {
		return nil
	}
	width := len(b) + 1
	table := make([]int32, (len(a)+1)*width)
	same := make([]bool, len(a)*len(b))
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if equalTree(a[i], b[j]) {
				same[i*len(b)+j] = true
				table[i*width+j] = table[(i+1)*width+j+1] + 1
			} else {
				table[i*width+j] = max(table[(i+1)*width+j], table[i*width+j+1])
			}
		}
	}
	d := &delta{}
	var gapA, gapB []int
	flush := func(at int) {
		for k := range max(len(gapA), len(gapB)) {
			switch {
			case k < len(gapA) && k < len(gapB):
				d.kids = append(d.kids, kid{At(gapA[k]), &delta{set: b[gapB[k]]}})
			case k < len(gapA):
				d.kids = append(d.kids, kid{At(gapA[k]), &delta{removed: true}})
			default:
				d.inserts = append(d.inserts, insertion{at: at, value: b[gapB[k]]})
			}
		}
		gapA, gapB = nil, nil
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case same[i*len(b)+j]:
			flush(i)
			i++
			j++
		case table[(i+1)*width+j] >= table[i*width+j+1]:
			gapA = append(gapA, i)
			i++
		default:
			gapB = append(gapB, j)
			j++
		}
	}
	for ; i < len(a); i++ {
		gapA = append(gapA, i)
	}
	for ; j < len(b); j++ {
		gapB = append(gapB, j)
	}
	flush(len(a))
	return d
}
