package similarity

import (
	"fmt"
	"strings"
)

// The bounds of Nearest, which is asked for words and names that anybody sent.
const (
	MaxWord  = 100 // characters of a word or a name; a longer one is near to none
	MaxKnown = 500 // names; among more none is looked for
)

// Nearest returns the name that was probably meant by a word that is not known:
// the same but for small and capital letters, underscores and spaces around it, or
// the one with the fewest characters changed, if those are at most a third of them;
// "" if there is none. The first of equals.
//
// It takes up to 10 ms, at the bounds: whoever reports many wrong words asks for the
// first few of them only.
func Nearest(word string, known []string) string {
	w := simple(word)
	if len(w) > MaxWord || len(known) > MaxKnown {
		return ""
	}
	near, least := "", 0
	for _, name := range known {
		if len(name) > 4*MaxWord { // bytes
			continue
		}
		s := simple(name)
		if string(s) == string(w) {
			return name
		}
		longest := max(len(w), len(s))
		most := min(max(1, longest/3), longest-1)
		if near != "" {
			most = min(most, least-1)
		}
		if len(s) > MaxWord || longest-min(len(w), len(s)) > most {
			continue
		}
		if d := changes(w, s); d <= most {
			near, least = name, d
		}
	}
	return near
}

// DidYouMean asks after the name that was probably meant, to stand behind "there is
// no …": "" if there is none.
func DidYouMean(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// simple is what Nearest compares of a word, and a bit more than MaxWord of one
// that is too long.
func simple(s string) []rune {
	if len(s) > 8*MaxWord {
		s = s[:8*MaxWord]
	}
	return []rune(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "_", ""))
}

// changes is the number of characters to add, remove, change or swap with the
// next: the optimal string alignment distance.
func changes(a, b []rune) int {
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		now[0] = i + 1
		for j := range b {
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
