package label

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFitUntil stops every method at every call of stop that a fit makes, up to a few; one
// that is never stopped gives what Fit gives.
func TestFitUntil(t *testing.T) {
	t.Parallel()
	for _, m := range Methods() {
		t.Run(m.Name(), func(t *testing.T) {
			t.Parallel()
			d := manyFor(m)
			calls := 0
			got, err := FitUntil(m, d, nil, func() bool { calls++; return false })
			want := fit(t, m, d, nil)
			if err != nil || got.Data != d || !cmp.Equal(got.Labels, want.Labels) || !cmp.Equal(got.q, want.q) {
				t.Fatalf("a fit that goes on to its end differs from Fit (%v)", err)
			}
			for at := 1; at <= min(calls, 40); at++ {
				n := 0
				r, err := FitUntil(m, d, nil, func() bool { n++; return n >= at })
				if r != nil || !errors.Is(err, ErrStopped) || n != at {
					t.Fatalf("stopped at call %d: result %v, error %v, after %d calls", at, r, err, n)
				}
			}
			switch m.Name() {
			case "majority", "median", "mean", "trimmed", "weighted", "regions": // one pass, linear in the answers
			default:
				if calls < 3 {
					t.Errorf("it can be stopped %d times only", calls)
				}
			}
		})
	}
}

// manyFor is a data set for a method on which fits have rounds.
func manyFor(m Method) *Dataset {
	var b Builder
	for i := range 600 {
		for j := range 4 {
			answer := fmt.Sprint((i + j*j) % 3)
			switch m.Takes() {
			case Sets:
				answer = `["` + answer + `"]`
			case Marks:
				answer = `[{"label":"a","start":0,"end":` + fmt.Sprint(i%5+3+j) + `}]`
			case Texts:
				answer = "text " + answer
			}
			b.Add(Answer{fmt.Sprint("t1.", i), fmt.Sprint("w", (i+j)%20), answer})
		}
	}
	return b.Build()
}

// TestOthersPanicsStay: a fault of a method is not taken for a stop.
func TestOthersPanicsStay(t *testing.T) {
	t.Parallel()
	defer func() {
		if p := recover(); p != "fault" {
			t.Errorf("the panic is %v", p)
		}
	}()
	_, _ = FitUntil(Wawa{}, manyFor(Wawa{}), nil, func() bool { panic("fault") })
}

// TestCentralOfLongTexts: two texts of 60,000 characters are told apart by their beginnings.
func TestCentralOfLongTexts(t *testing.T) {
	t.Parallel()
	long := func(c string) string {
		s := ""
		for len(s) < 60_000 {
			s += c + c + c + c + c + c + c + c
		}
		return s
	}
	d := build([3]string{"t1", "a", long("x")}, [3]string{"t1", "b", long("x") + "!"}, [3]string{"t1", "c", long("y")})
	if r := fit(t, Central{}, d, nil); r.Label(0)[0] != 'x' {
		t.Errorf("the label begins with %q", r.Label(0)[:1])
	}
}
