package policy

import (
	"slices"
	"strings"
)

// maxSuggestions is how many names a hint may offer.
const maxSuggestions = 3

// Suggest gives up to three keys of the catalogue that an unknown name of that kind may have meant, best first:
// equal but for case, then the same last segment under another prefix, then a distance of at most 2 (1 for names
// below six letters). Removed keys are never suggested.
func Suggest(name string, kind KeyKind) []string {
	var byRank [3][]string
	near := make(map[string]int)
	limit := 2
	if len([]rune(name)) < 6 {
		limit = 1
	}
	segment := lastSegment(name)
	for _, k := range theCatalogue().keys {
		if k.Kind != kind || k.Status == Removed || k.Name == name {
			continue
		}
		switch d := 0; {
		case strings.EqualFold(k.Name, name):
			byRank[0] = append(byRank[0], k.Name)
		case strings.Contains(name, "/") && strings.Contains(k.Name, "/") && strings.EqualFold(lastSegment(k.Name), segment):
			byRank[1] = append(byRank[1], k.Name)
		default:
			if d = Distance(k.Name, name, limit); d <= limit {
				near[k.Name] = d
				byRank[2] = append(byRank[2], k.Name)
			}
		}
	}
	slices.SortStableFunc(byRank[2], func(a, b string) int { return near[a] - near[b] })
	all := slices.Concat(byRank[0], byRank[1], byRank[2])
	return all[:min(len(all), maxSuggestions)]
}

func lastSegment(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// Distance counts the insertions, deletions, replacements and swaps of neighbours that make a into b, case folded
// (Damerau-Levenshtein in its restricted form). It stops counting behind limit and then gives limit+1.
func Distance(a, b string, limit int) int {
	s, t := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if d := len(s) - len(t); d > limit || -d > limit {
		return limit + 1
	}
	var before []int
	last := make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row := make([]int, len(t)+1)
		row[0] = i
		best := row[0]
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, last[j]+1, last[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			best = min(best, row[j])
		}
		if best > limit {
			return limit + 1
		}
		before, last = last, row
	}
	return min(last[len(t)], limit+1)
}
