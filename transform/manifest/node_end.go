package manifest

import "strings"

// plainEnd finds the end of the plain scalar with this value that starts at offset i, by reading both side by side:
// a line break with the blanks around it stands for one blank or for the empty lines in the value.
func (p *Parsed) plainEnd(i int, value string) int {
	b := p.Doc.Raw
	if strings.HasPrefix(string(b[i:min(i+len(value), len(b))]), value) {
		return i + len(value)
	}
	end := i
	for v := 0; v < len(value) && i < len(b); {
		j := skipBlanks(b, i)
		if w := breakAt(b, j); w > 0 {
			// Blanks and breaks of the source against the folded text of the value.
			for w > 0 || j < len(b) && isBlank(b[j]) {
				if w > 0 {
					j += w
				} else {
					j++
				}
				w = breakAt(b, j)
			}
			rest := strings.TrimLeft(value[v:], " \n\u0085\u2028\u2029")
			if len(rest) == len(value)-v {
				return end
			}
			v, i = len(value)-len(rest), j
			continue
		}
		if b[i] != value[v] {
			return end
		}
		i++
		v++
		end = i
	}
	return end
}
