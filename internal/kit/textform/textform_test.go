package textform_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/internal/kit/textform"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"fs":                              {"fs"},
		"fs,dafs":                         {"fs", "dafs"},
		"wcfs(fs,k=3),dafs":               {"wcfs(fs,k=3)", "dafs"},
		"fs, wcfs(tenant-fair(wfs), k=3)": {"fs", "wcfs(tenant-fair(wfs), k=3)"},
		"market(size=1,price=2),beta-fair(beta=-1,x=dafs,f=log1p),fs": {"market(size=1,price=2)", "beta-fair(beta=-1,x=dafs,f=log1p)", "fs"},
		"fs,":       {"fs", ""},
		",fs":       {"", "fs"},
		"fs,,edf":   {"fs", "", "edf"},
		"wcfs(fs,k": {"wcfs(fs,k"},
		"fs),edf":   {"fs)", "edf"},
		"":          {""},
	} {
		if diff := cmp.Diff(want, textform.Split(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a": "", "a()": "", "a(x=1, y=2) ": "x=1, y=2", "outer(a(x=1),beta=2)": "a(x=1),beta=2",
	} {
		if f, _ := textform.Parse(text, 60); f.Within() != want {
			t.Errorf("within %q is %q", text, f.Within())
		}
	}
}

// read reads a form with every kind of option.
func read(text string) (canonical string, names []string, err error) {
	f, err := textform.Parse(text, 60)
	if err != nil {
		return "", f.Names(), err
	}
	f.Number("x", textform.Range[float64]{Usual: 0.5, Most: 1, About: "a share"})
	f.Number("n", textform.Range[float64]{Usual: -1, Most: 1e6, Whole: true})
	f.Uint("seed", textform.Range[uint64]{Usual: 1, Most: math.MaxUint64})
	f.Duration("look", textform.Range[time.Duration]{Usual: time.Minute, Most: time.Hour})
	f.Choice("form", "atc", "event", "loop")
	if f.Name == "outer" {
		f.Number("beta", textform.Range[float64]{Least: math.Inf(-1), Most: math.Inf(1), Required: true})
		return f.String(), f.Names(), f.Finish(1, "policy")
	}
	return f.String(), f.Names(), f.Finish(0, "")
}

func TestForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a":                                    "a",
		" a ( x = 0.50 ) ":                     "a",
		"a(form=atc,look=60s,seed=1)":          "a",
		"a(n=1000000,x=-0)":                    "a(x=0,n=1000000)",
		"a(look=1h,seed=18446744073709551615)": "a(seed=18446744073709551615,look=1h0m0s)",
		"outer(a(x=1),beta=-inf,form=loop)":    "outer(form=loop,beta=-inf)",
		"outer(a,beta=0)":                      "outer(beta=0)",
	} {
		if got, _, err := read(text); got != want || err != nil {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                     `a name is missing before ""`,
		"()":                   `a name is missing before "()"`,
		"a(":                   `a name is missing before ""`,
		"a(x=1":                `a( lacks its ) before ""`,
		"a(x=1=2)":             `a( lacks its ) before "=2)"`,
		"a(x=1)b":              `"b" is left over at the end`,
		"a(x=1,x=1)":           "a has x twice",
		"a(x=2)":               "a takes x=0 to 1, a share, not x=2",
		"a(x=NaN)":             "a takes x=0 to 1, a share, not x=NaN",
		"a(n=1.5)":             "a takes n=0 to 1000000, a whole number, not n=1.5",
		"a(seed=-1)":           "a takes seed=0 to 18446744073709551615, not seed=-1",
		"a(look=60)":           "a takes look=0s to 1h0m0s, not look=60",
		"a(form=off,x=2)":      "a takes x=0 to 1, a share, not x=2",
		"a(form=off)":          "a takes form=atc, form=event or form=loop, not form=off",
		"a(k=1)":               `a has no option "k": it has x, n, seed, look, form`,
		"a(b)":                 `a takes each option as option=value, not "b"`,
		"outer(a)":             "outer takes beta=-inf to inf, and beta is missing",
		"outer(beta=1)":        "outer takes one inner policy, not 0",
		"outer(a,beta=)":       "outer takes beta=-inf to inf, not beta=",
		"outer(a,b(c),beta=1)": "outer takes one inner policy, not 2",
		"a(01234567890123456789012345678901234567890123456789012345678)": "at most 60 characters, not 62",
	} {
		if _, _, err := read(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"outer(a(b),beta=1)": {"outer", "a", "b"},
		"outer(a(b),k=":      {"outer", "a", "b"},
		"a(x=b,c":            {"a", "c"},
	} {
		if _, got, _ := read(text); !cmp.Equal(got, want) {
			t.Errorf("%q has the names %q, want %q", text, got, want)
		}
	}
}
