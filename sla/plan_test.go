package sla_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sla"
)

// claims is the process for the comprehensive insurance plan (figure 1a):
// registration, then the estimate next to the request for information and its
// analysis, then the decision, then the expertise.
var claims = [][]int{{}, {0}, {0}, {2}, {1, 3}, {4}}

func TestTailsTakeTheLatestBranch(t *testing.T) {
	p, err := sla.NewPlan(claims)
	if err != nil {
		t.Fatal(err)
	}
	ms := time.Millisecond
	got := p.Tails([]time.Duration{10 * ms, 100 * ms, 100 * ms, 150 * ms, 200 * ms, 500 * ms})
	want := []time.Duration{950 * ms, 700 * ms, 850 * ms, 700 * ms, 500 * ms, 0}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := p.Tails([]time.Duration{0, 0, 0, 0, -5, 7}); got[3] != 7 {
		t.Errorf("a negative expectation: %v, want it to count as 0", got)
	}
	if got := p.Tails([]time.Duration{0, 0, 0, 0, math.MaxInt64, 7}); got[3] != math.MaxInt64 {
		t.Errorf("beyond the range: %v, want the end of it", got)
	}
}

func TestTailsAreThePathsOfThePlan(t *testing.T) {
	edges := 0
	looked(t, &edges, 40)
	rapid.Check(t, func(t *rapid.T) {
		after, expect := plans(t)
		p, err := sla.NewPlan(after)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range p.Tails(expect) {
			if want := longest(after, expect, i); got != want {
				t.Fatalf("%v expecting %v: behind step %d are %d, want %d", after, expect, i, got, want)
			}
			edges += len(after[i])
		}
	})
}

// plans draws the predecessors and expected times of up to eight steps.
func plans(t *rapid.T) ([][]int, []time.Duration) {
	n := rapid.IntRange(1, 8).Draw(t, "steps")
	after, expect := make([][]int, n), make([]time.Duration, n)
	for i := range n {
		expect[i] = time.Duration(rapid.Int64Range(0, 30).Draw(t, "expect"))
		for j := range i {
			if rapid.IntRange(0, 2).Draw(t, "edge") == 0 {
				after[i] = append(after[i], j)
			}
		}
	}
	return after, expect
}

// longest tries every path from a step.
func longest(after [][]int, expect []time.Duration, from int) time.Duration {
	var most time.Duration
	for i := from + 1; i < len(after); i++ {
		if slices.Contains(after[i], from) {
			most = max(most, expect[i]+longest(after, expect, i))
		}
	}
	return most
}

func TestNewPlanRefusesWhatIsNoOrder(t *testing.T) {
	for name, after := range map[string][][]int{
		"itself": {{0}}, "a later step": {{}, {2}, {}}, "a negative step": {{}, {-1}}, "a step twice": {{}, {0, 0}},
	} {
		var e *crowd.Error
		if _, err := sla.NewPlan(after); !errors.As(err, &e) || e.Field != "after" {
			t.Errorf("%s: %v, want an error about after", name, err)
		}
	}
	after := [][]int{{}, {0}}
	p, err := sla.NewPlan(after)
	if err != nil {
		t.Fatal(err)
	}
	if after[1][0] = 5; p.Len() != 2 || !slices.Equal(p.After(1), []int{0}) {
		t.Errorf("the plan has %d steps, the second after %v; want 2 and [0]", p.Len(), p.After(1))
	}
	defer func() {
		if recover() == nil {
			t.Error("Tails took one expectation for two steps")
		}
	}()
	p.Tails([]time.Duration{1})
}
