// Package similarity says how alike two texts are, as a number from 0 (nothing
// in common) to 1 (the same): for the functions of SQL steps.
//
// All of them are symmetric, give 1 for equal texts, two empty ones included, and
// 0 when only one is empty. Jaro-Winkler, Levenshtein and Jaccard over q-grams
// compare characters (Unicode code points) as they stand: "A" is not "a", and an
// accent that is a code point of its own is a character. Jaccard and cosine over
// tokens compare words, small letters. A text that is not UTF-8 counts each wrong
// byte as the character U+FFFD.
//
// Time is bounded by looking at the beginning of long texts only: at MaxRunes
// characters for what compares characters, which takes time in proportion to
// their product, and at MaxBytes bytes for what compares words and q-grams. Two texts whose
// difference begins beyond that are the same to these functions.
package similarity

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/adrg/strutil/metrics"
)

// How much of a text is compared.
const (
	MaxRunes = 1_000     // characters, by JaroWinkler and Levenshtein
	MaxBytes = 100 << 10 // bytes, by Jaccard, Cosine, JaccardQGrams and Tokens
	MaxQ     = 100       // the longest q-gram
)

// JaroWinkler returns the Jaro-Winkler similarity: Jaro's, raised by a tenth of
// what it lacks for each of the first four characters that agree.
//
// Source: W. E. Winkler, String Comparator Metrics and Enhanced Decision Rules in
// the Fellegi-Sunter Model of Record Linkage, 1990.
//
// Not strutil's: it looks for matches one place further apart than the
// definition, at most max/2 instead of max/2-1 characters.
func JaroWinkler(a, b string) float64 {
	ra, rb := head(a), head(b)
	prefix := 0
	for prefix < min(len(ra), len(rb), 4) && ra[prefix] == rb[prefix] {
		prefix++
	}
	jaro := jaro(ra, rb)
	return jaro + 0.1*float64(prefix)*(1-jaro)
}

func jaro(a, b []rune) float64 {
	// Which equal characters are matched depends on where one begins: begin
	// with the lesser text, so that the order of the two does not count.
	if slices.Compare(a, b) > 0 {
		a, b = b, a
	}
	if len(a) == 0 || len(b) == 0 {
		if len(a) == len(b) {
			return 1
		}
		return 0
	}
	window := max(0, max(len(a), len(b))/2-1)
	taken := make([]bool, len(b))
	matched := make([]rune, 0, len(a)) // of a, in its order
	for i, r := range a {
		for j := max(0, i-window); j < min(len(b), i+window+1); j++ {
			if !taken[j] && b[j] == r {
				taken[j] = true
				matched = append(matched, r)
				break
			}
		}
	}
	if len(matched) == 0 {
		return 0
	}
	moved, k := 0, 0
	for j, r := range b {
		if taken[j] {
			if matched[k] != r {
				moved++
			}
			k++
		}
	}
	m := float64(len(matched))
	return (m/float64(len(a)) + m/float64(len(b)) + (m-float64(moved)/2)/m) / 3
}

// Levenshtein returns 1 - d/n, with d the least number of insertions, deletions
// and replacements of a character that make b of a, and n the length of the
// longer one.
//
// Source: V. I. Levenshtein, Binary codes capable of correcting deletions,
// insertions, and reversals, 1966. strutil's, but for two empty texts, where it
// gives NaN.
func Levenshtein(a, b string) float64 {
	a, b = string(head(a)), string(head(b))
	if a == b {
		return 1
	}
	return metrics.NewLevenshtein().Compare(a, b)
}

// Jaccard returns the number of different tokens that both texts have, over the
// number that either has. Two texts without tokens are alike if they are equal.
//
// Source: P. Jaccard, The distribution of the flora in the alpine zone, 1912.
// strutil has it for q-grams only.
func Jaccard(a, b string) float64 {
	ta, tb := counts(Tokens(a)), counts(Tokens(b))
	if len(ta) == 0 && len(tb) == 0 {
		return same(a, b)
	}
	both := 0
	for t := range ta {
		if tb[t] > 0 {
			both++
		}
	}
	return float64(both) / float64(len(ta)+len(tb)-both)
}

// Cosine returns the cosine of the angle between the vectors of how often each
// token occurs. Two texts without tokens are alike if they are equal.
//
// Source: G. Salton, M. J. McGill, Introduction to Modern Information Retrieval,
// 1983, section 4.1. strutil has none.
func Cosine(a, b string) float64 {
	ta, tb := counts(Tokens(a)), counts(Tokens(b))
	if len(ta) == 0 && len(tb) == 0 {
		return same(a, b)
	}
	dot := 0
	for t, n := range ta {
		dot += n * tb[t]
	}
	if dot == 0 {
		return 0
	}
	// Integers and one root: equal vectors give exactly 1.
	return min(1, float64(dot)/math.Sqrt(float64(squares(ta))*float64(squares(tb))))
}

// JaccardQGrams returns the Jaccard index of the q-grams, the substrings of q
// characters, each as often as it occurs. A text shorter than q is one q-gram by
// itself. q is from 1 to MaxQ; what is beyond takes the nearest.
//
// Source: E. Ukkonen, Approximate string matching with q-grams and maximal
// matches, 1992. strutil's, but for texts shorter than q, where it gives 0 even
// for equal ones.
func JaccardQGrams(a, b string, q int) float64 {
	a, b = cut(a, MaxBytes), cut(b, MaxBytes)
	q = min(max(q, 1), MaxQ)
	switch {
	case a == b:
		return 1
	case utf8.RuneCountInString(a) < q || utf8.RuneCountInString(b) < q:
		return 0 // one q-gram that the other, longer or different, has not
	}
	m := metrics.NewJaccard()
	m.NgramSize = q
	return m.Compare(a, b)
}

// Tokens returns the words of a text in their order: runs of Unicode letters,
// digits and the marks (accents) after them, in small letters.
func Tokens(s string) []string {
	fields := strings.FieldsFunc(cut(s, MaxBytes), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
	for i, f := range fields {
		fields[i] = strings.ToLower(f)
	}
	return fields
}

func counts(tokens []string) map[string]int {
	out := make(map[string]int, len(tokens))
	for _, t := range tokens {
		out[t]++
	}
	return out
}

func squares(counts map[string]int) int {
	sum := 0
	for _, n := range counts {
		sum += n * n
	}
	return sum
}

func same(a, b string) float64 {
	if a == b {
		return 1
	}
	return 0
}

// head returns the characters of s that are compared.
func head(s string) []rune {
	r := []rune(cut(s, MaxRunes*utf8.UTFMax))
	return r[:min(len(r), MaxRunes)]
}

// cut returns the first n bytes of s, without a character that is cut through,
// and with U+FFFD for each wrong byte.
func cut(s string, n int) string {
	if len(s) > n {
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
