package similarity_test

import (
	"math"
	"strings"
	"testing"

	"github.com/adrg/strutil/metrics"
	"pgregory.net/rapid"

	"github.com/throng-dev/throng/internal/kit/similarity"
)

func qgrams(q int) func(a, b string) float64 {
	return func(a, b string) float64 { return similarity.JaccardQGrams(a, b, q) }
}

var all = map[string]func(a, b string) float64{
	"JaroWinkler": similarity.JaroWinkler, "Levenshtein": similarity.Levenshtein,
	"Jaccard": similarity.Jaccard, "Cosine": similarity.Cosine,
	"2-grams": qgrams(2), "3-grams": qgrams(3),
}

// TestPublished has values of the literature: for Jaro-Winkler table 1 of
// W. E. Winkler, Overview of Record Linkage and Current Research Directions,
// 2006, rounded to 3 places; the others can be counted on paper.
func TestPublished(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		want       float64
	}{
		{"JaroWinkler", "SHACKLEFORD", "SHACKELFORD", 0.982},
		{"JaroWinkler", "DUNNINGHAM", "CUNNIGHAM", 0.896},
		{"JaroWinkler", "NICHLESON", "NICHULSON", 0.956},
		{"JaroWinkler", "JONES", "JOHNSON", 0.832},
		{"JaroWinkler", "MASSEY", "MASSIE", 0.933},
		{"JaroWinkler", "ABROMS", "ABRAMS", 0.922},
		{"JaroWinkler", "JERALDINE", "GERALDINE", 0.926},
		{"JaroWinkler", "MARTHA", "MARHTA", 0.961},
		{"JaroWinkler", "MICHELLE", "MICHAEL", 0.921},
		{"JaroWinkler", "JULIES", "JULIUS", 0.933},
		{"JaroWinkler", "TANYA", "TONYA", 0.880},
		{"JaroWinkler", "DWAYNE", "DUANE", 0.840},
		{"JaroWinkler", "SEAN", "SUSAN", 0.805},
		{"JaroWinkler", "JON", "JOHN", 0.933},
		{"JaroWinkler", "JON", "JAN", 0.800},
		{"JaroWinkler", "DIXON", "DICKSONX", 0.813},
		{"JaroWinkler", "a", "A", 0},
		{"JaroWinkler", "née", "nee", 0.8}, // 2 of 3 match: jaro 7/9, and a tenth of the rest
		{"Levenshtein", "kitten", "sitting", 1 - 3.0/7},
		{"Levenshtein", "Saturday", "Sunday", 1 - 3.0/8},
		{"Levenshtein", "flaw", "lawn", 0.5},
		{"Levenshtein", "", "abc", 0},
		{"Levenshtein", "日本語", "日本", 1 - 1.0/3},
		{"Jaccard", "The Big Apple", "the apple, the big one", 0.75},
		{"Jaccard", "a-b", "B A", 1},
		{"Jaccard", "...", "!", 0},
		{"Jaccard", "...", "...", 1},
		{"Jaccard", "", "a", 0},
		{"Cosine", "a a b", "A b b", 0.8},
		{"Cosine", "x", "y", 0},
		{"Cosine", "ÉMILE zola", "émile", 1 / math.Sqrt2},
		{"Cosine", "?", "!", 0},
		{"2-grams", "night", "nacht", 1.0 / 7},
		{"2-grams", "aaa", "aa", 0.5},
		{"2-grams", "a", "a", 1},
		{"2-grams", "a", "ab", 0},
		{"2-grams", "a", "b", 0},
		{"2-grams", "", "ab", 0},
		{"3-grams", "abcd", "bcde", 1.0 / 3},
	} {
		if got := all[c.name](c.a, c.b); math.Abs(got-c.want) > 0.0005 {
			t.Errorf("%s(%q, %q) = %.4f, want %.4f", c.name, c.a, c.b, got, c.want)
		}
	}
}

// TestStrutil says where strutil's own differ, which is why they are not used there.
func TestStrutil(t *testing.T) {
	// The two a are two places apart; in 4 characters matches are at most one apart.
	if ours, theirs := similarity.JaroWinkler("abcd", "xxay"), metrics.NewJaroWinkler().Compare("abcd", "xxay"); ours != 0 || theirs == 0 {
		t.Errorf("ours %v, strutil's %v", ours, theirs)
	}
	if got := metrics.NewLevenshtein().Compare("", ""); !math.IsNaN(got) {
		t.Errorf("strutil's Levenshtein of empty texts is %v: ours need not differ", got)
	}
	if got := metrics.NewJaccard().Compare("a", "a"); got != 0 {
		t.Errorf("strutil's Jaccard of short texts is %v: ours need not differ", got)
	}
}

func TestProperties(t *testing.T) {
	for name, f := range all {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				texts := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ab é]{0,12}`), rapid.StringMatching(`[abc]{0,8}`),
					rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }))
				a, b := texts.Draw(t, "a"), texts.Draw(t, "b")
				ab, ba := f(a, b), f(b, a)
				if !(ab >= 0 && ab <= 1) {
					t.Fatalf("%v is not from 0 to 1", ab)
				}
				if ab != ba {
					t.Fatalf("%v one way, %v the other", ab, ba)
				}
				if self := f(a, a); self != 1 {
					t.Fatalf("with itself %v", self)
				}
				if (a == "") != (b == "") && ab != 0 {
					t.Fatalf("one is empty: %v", ab)
				}
			})
		})
	}
}

// TestLong has texts of 1 MB, which only their beginnings keep from taking hours.
func TestLong(t *testing.T) {
	a, b := strings.Repeat("ab ", 350_000), strings.Repeat("ba ", 350_000)
	for name, f := range all {
		if got := f(a, b); got < 0 || got > 1 {
			t.Errorf("%s: %v", name, got)
		}
		if got := f(a, a+"x"); got != 1 {
			t.Errorf("%s looks beyond the beginning: %v", name, got)
		}
	}
	head := strings.Repeat("é", similarity.MaxRunes-1)
	if got := similarity.Levenshtein(head+"a", head+"b"); got == 1 {
		t.Error("the last character that counts does not")
	}
	if got := similarity.Levenshtein(head+"aa", head+"ab"); got != 1 {
		t.Error("a character beyond the end counts")
	}
	words := strings.Repeat("é", similarity.MaxBytes/2)
	if got := similarity.Tokens("x" + words); len(got) != 1 || len(got[0]) != similarity.MaxBytes-1 {
		t.Errorf("%d tokens", len(got))
	}
	if got := similarity.JaccardQGrams(a, b, 1_000_000); got != similarity.JaccardQGrams(a, b, similarity.MaxQ) {
		t.Error(got)
	}
	if got := similarity.JaccardQGrams("ab", "ba", -1); got != 1 {
		t.Errorf("q below 1: %v", got)
	}
}

func TestTokens(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {" ,;", ""}, {"The Cat's 9 lives", "the cat s 9 lives"}, {"Straße-ÄRA", "straße ära"},
		{"e\u0301mile", "e\u0301mile"}, {"北京 2008", "北京 2008"}, {"a\xffb", "a b"}, {"snake_case", "snake case"},
	} {
		if got := strings.Join(similarity.Tokens(c.text), " "); got != c.want {
			t.Errorf("Tokens(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func BenchmarkSimilarity(b *testing.B) {
	for name, f := range all {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f("Canon EOS 5D Mark IV camera body", "canon eos 5d mk 4 (body only)")
			}
		})
	}
}
