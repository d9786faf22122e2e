package pattern_test

import (
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/kit/pattern"
)

var examples = []string{
	"", "a", "abc", "^[A-Z]{2}[0-9]{4}$", "(a|b|cd)+", "a*b+?c?", "(?i)straße", `\p{L}+\s\d`, "x{1,1000}", "x{1000}", "x{0,1000}", "x{7,}", "x{0}", "x{0,}", "(?:x?x?x?){1,300}",
	"((a{10}){10}){10}", "(a|b{20}|(c|d)*){3,9}", "(?:a{1,30}){1,30}|", `\A(?:x)\z`, "(?m)^a$", ".{1,500}", "[^a]{3,}", "(?s).*", "a||b", "()", "(((((a)))))",
}

// TestSize is never less than the program's length, and not many times more.
func TestSize(t *testing.T) {
	t.Parallel()
	for _, text := range examples {
		p, err := pattern.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if real := program(t, text); p.Size() < real || p.Size() > 3*real {
			t.Errorf("%s: size %d, and the program has %d instructions", text, p.Size(), real)
		}
	}
}

// program is how many instructions the standard library makes of a text.
func program(t testing.TB, text string) int {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	return len(prog.Inst)
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, text := range examples {
		p, err := pattern.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if p.String() != text {
			t.Errorf("%q is told as %q", text, p)
		}
		for _, s := range []string{"", "a", "abc", "AB1234", "xxxxxxxxx", "STRASSE", strings.Repeat("a", 1000)} {
			if got, want := p.MatchString(s), regexp.MustCompile(text).MatchString(s); got != want {
				t.Errorf("%s matches %q: %t", text, s, got)
			}
		}
	}
}

func TestNoPatterns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a(b": "missing closing ): `a(b`", "a{2000}": "invalid repeat count: `{2000}`", "[z-a]": "invalid character class range: `z-a`", `\c`: "invalid escape sequence: `\\c`", "a**": "invalid nested repetition operator: `**`",
	} {
		if _, err := pattern.Parse(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if p, err := pattern.Parse("(?:" + strings.Repeat("(?:x{100}|y)", 60) + "){10}"); err != nil || p.Size() < 60_000 || p.Size() > math.MaxInt32 {
		t.Errorf("%v, %v", p, err)
	}
}

// FuzzParse looks for texts that are taken and cannot be compiled, or are larger than told.
func FuzzParse(f *testing.F) {
	for _, text := range examples {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := pattern.Parse(text)
		if _, other := regexp.Compile(text); (err == nil) != (other == nil) {
			t.Fatalf("%v, and the standard library says %v", err, other)
		}
		if err != nil || p.Size() > 10_000 {
			return
		}
		if real := program(t, text); p.Size() < real {
			t.Errorf("%q: size %d, and the program has %d instructions", text, p.Size(), real)
		}
		p.MatchString(text)
	})
}
