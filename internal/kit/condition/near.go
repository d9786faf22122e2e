package condition

import (
	"fmt"
	"strings"
)

// nearest returns the name that was probably meant: the same but for small and
// capital letters and underscores, or the one with the fewest letters changed,
// if those are at most a third of them; "" if there is none. The first of equals.
func nearest(word string, names []Name) string {
	near, least := "", 0
	w := simple(word)
	for _, n := range names {
		s := simple(n.Name)
		if s == w {
			return n.Name
		}
		d := distance(w, s)
		if d <= max(1, max(len(w), len(s))/3) && d < max(len(w), len(s)) && (near == "" || d < least) {
			near, least = n.Name, d
		}
	}
	return near
}

func simple(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "") }

// distance is the number of letters to add, remove, change or swap with the next.
func distance(a, b string) int {
	if len(a) > 100 {
		return len(a)
	}
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		now[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			now[j+1] = min(last[j]+cost, last[j+1]+1, now[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				now[j+1] = min(now[j+1], before[j-1]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}

// Nearest returns the word that was probably meant instead of one that is not
// known, or "".
func Nearest(word string, known []string) string {
	names := make([]Name, len(known))
	for i, k := range known {
		names[i].Name = k
	}
	return nearest(word, names)
}

// Table returns the names as a table in Markdown, for documents.
func Table(names []Name) string {
	var b strings.Builder
	b.WriteString("| name | unit | what it is |\n| --- | --- | --- |\n")
	for _, n := range names {
		unit := n.Unit
		if unit == "" {
			unit = string(n.Type)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", n.Name, unit, n.Doc)
	}
	return b.String()
}
