package label

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
)

func TestDecideBy(t *testing.T) {
	t.Parallel()
	rule := Until(0.9, 2, 4)
	classes := []string{"a", "b"}
	tests := map[string]struct {
		rule           Rule
		probabilities  []float64
		answered, live int
		want           Decision
	}{
		"nobody has answered":      {rule, []float64{.95, .05}, 0, 0, Decision{Want: 2}},
		"sure too early":           {rule, []float64{.95, .05}, 1, 0, Decision{Want: 2, Label: "a", Confidence: .95}},
		"sure":                     {rule, []float64{.05, .95}, 2, 0, Decision{Enough: true, Want: 2, Label: "b", Confidence: .95}},
		"just as sure":             {rule, []float64{.9, .1}, 2, 0, Decision{Enough: true, Want: 2, Label: "a", Confidence: .9}},
		"unsure":                   {rule, []float64{.8, .2}, 2, 0, Decision{Want: 3, Label: "a", Confidence: .8}},
		"unsure, one on their way": {rule, []float64{.8, .2}, 2, 1, Decision{Want: 3, Label: "a", Confidence: .8}},
		"unsure to the end":        {rule, []float64{.8, .2}, 4, 0, Decision{Enough: true, Undecided: true, Want: 4, Label: "a", Confidence: .8}},
		"sure at the end":          {rule, []float64{.1, .9}, 4, 0, Decision{Enough: true, Want: 4, Label: "b", Confidence: .9}},
		"a tie":                    {rule, []float64{.5, .5}, 2, 0, Decision{Want: 3, Label: tied("a", "b"), Confidence: .5, Tie: true}},
		"closed early":             {rule.Closed(1), []float64{.6, .4}, 1, 0, Decision{Enough: true, Want: 1, Label: "a", Confidence: .6}},
		"one person may do it":     {rule.Capped(1), []float64{.95, .05}, 1, 0, Decision{Enough: true, Want: 1, Label: "a", Confidence: .95}},
		"three people may do it":   {rule.Capped(3), []float64{.6, .4}, 3, 0, Decision{Enough: true, Undecided: true, Want: 3, Label: "a", Confidence: .6}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.rule.DecideBy(task, tt.probabilities, classes, tt.answered, tt.live)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecideByAllocatesNothing(t *testing.T) {
	r, even, classes := Until(0.9, 2, 4), []float64{.5, .5}, []string{"a", "b"}
	if n := testing.AllocsPerRun(100, func() { r.DecideBy(task, even, classes, 2, 0) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// As many answers are wanted as for any other rule, and Wanted is what a task wants that
// is not done.
func TestUntilWants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 12).Draw(t, "most")
		r := Until(rapid.Float64Range(0.5, 0.9999).Draw(t, "until"), rapid.IntRange(1, most).Draw(t, "fewest"), most)
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		answered, live := rapid.IntRange(0, 14).Draw(t, "answered"), rapid.IntRange(0, 3).Draw(t, "live")
		d := r.DecideBy(task, []float64{p, 1 - p}, []string{"a", "b"}, answered, live)
		if d.Enough != (answered >= most || answered >= r.Fewest() && max(p, 1-p) >= r.Confidence()) {
			t.Fatalf("%s with %d answers and %v: %+v", r, answered, p, d)
		}
		if want := r.Wanted(answered, live); !d.Enough && (d.Want != want || want <= answered || want > most || answered+live < most && want < answered+live) {
			t.Fatalf("%s wants %d with %d answers and %d on their way; Wanted says %d", r, d.Want, answered, live, want)
		}
		if d.Enough && d.Want != answered {
			t.Fatalf("%s is done and wants %d of %d", r, d.Want, answered)
		}
	})
}

func TestUntilJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Rule{
		`{"until":0.99}`:                                Until(0.99, 2, 10),
		`{"until":0.9,"min":3,"at_most":5}`:             Until(0.9, 3, 5),
		`{"classes":4,"at_most":7,"until":0.95}`:        Until(0.95, 2, 7).WithClasses(4),
		`{"until":0.5,"combine":"majority"}`:            Until(0.5, 2, 10),
		`{"until":0.5,"combine":"median","classes":11}`: Until(0.5, 2, 10).WithClasses(11).WithMedian(true),
	} {
		var got Rule
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is read as %v, %v; want %v", text, got, err, want)
		}
		out, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &got); err != nil || got != want {
			t.Errorf("%v is written as %s and read as %v, %v", want, out, got, err)
		}
	}
	for text, field := range map[string]string{
		`{"until":1}`:                      "until",
		`{"until":0.4}`:                    "until",
		`{"until":"0.99"}`:                 "until",
		`{"until":1e999}`:                  "until",
		`{"until":0.99,"min":0}`:           "min",
		`{"until":0.99,"min":11}`:          "min",
		`{"until":0.99,"at_most":1001}`:    "at_most",
		`{"until":0.99,"at_most":1}`:       "min",
		`{"until":0.99,"of":3}`:            "of",
		`{"until":0.99,"agree":3,"of":5}`:  "until",
		`{"until":0.99,"count":3}`:         "count",
		`{"min":2,"at_most":3}`:            "until",
		`{"count":2,"at_most":3}`:          "count",
		`{"until":0.99,"classes":1}`:       "classes",
		`{"until":0.99,"classes":0}`:       "classes",
		`{"until":0.99,"classes":257}`:     "classes",
		`{"until":0.99,"until":0.98}`:      "until",
		`{"until":0.99,"min":2.5}`:         "min",
		`{"until":0.99,"confidence":0.99}`: "confidence",
	} {
		var got Rule
		var wrong *crowd.Error
		if err := json.Unmarshal([]byte(text), &got); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v and %v, want an error of %s", text, got, err, field)
		}
	}
}

// A sweep in small pieces comes to where sweeps come to.
func TestRenewIsASweep(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bluebird", "dog"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := readPool(t, name)
			whole, pieces := liveOf(t, p, name), liveOf(t, p, name)
			rounds, seen := 30, 0
			for range rounds {
				whole.Sweep()
				for at := pieces.Renew(0, 3, func(int) { seen++ }); at != 0; {
					at = pieces.Renew(at, 3, func(int) { seen++ })
				}
			}
			if want := rounds * len(p.Tasks()); seen != want {
				t.Errorf("%d posteriors were renewed, want %d", seen, want)
			}
			for i := range p.Tasks() {
				if off := greatestChange(append([]float64(nil), whole.Posterior(i)...), pieces.Posterior(i)); off > 1e-9 {
					t.Fatalf("task %d is off by %g", i, off)
				}
			}
		})
	}
}
