package labelbench

import (
	"errors"
	"math"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
)

// TestRun measures a little of everything; how long it takes is for nobody to judge, what
// comes out is.
func TestRun(t *testing.T) {
	t.Parallel()
	r, err := Run(Options{Answers: 20_000, Classes: 3, Confidence: .99, Most: 10})
	if err != nil {
		t.Fatal(err)
	}
	if r.Answers != 20_000 || r.Tasks != 4000 || r.Workers != 100 || r.Classes != 3 {
		t.Errorf("%+v", r)
	}
	for name, x := range map[string]Row{"fit": r.Fit, "incremental": r.Incremental, "alpha": r.Alpha} {
		if x.S <= 0 || x.Reference <= 0 || x.Ratio != x.Reference/x.S {
			t.Errorf("%s: %+v", name, x)
		}
	}
	if a := r.Accuracy; a.Apart > 1e-9 || a.Fit <= a.Majority || a.Incremental <= a.Majority || a.Fit > 1 {
		t.Errorf("%+v", a)
	}
	s := r.Stopping
	if s.Tasks != 2000 || s.Answers < 2 || s.Answers > 10 || s.Accuracy < .9 || len(s.Fixed) != 19 || s.Saved == nil {
		t.Fatalf("%+v", s)
	}
	for i, f := range s.Fixed {
		if f.Answers != i+2 || f.Bought != float64(i+2) {
			t.Errorf("%+v", f)
		}
	}
	if most := s.Fixed[len(s.Fixed)-1].Accuracy; most <= s.Fixed[0].Accuracy || *s.Saved <= 0 {
		t.Errorf("two answers %v, all %v, saved %v", s.Fixed[0].Accuracy, most, *s.Saved)
	}
}

// TestStoppingIsAsTheRuleSays of people who are all right: two answers to each task, and of
// tasks with fewer what there is.
func TestStoppingIsAsTheRuleSays(t *testing.T) {
	t.Parallel()
	var b label.Builder
	for _, a := range []label.Answer{{Task: "t0", Worker: "w0", Label: "a"}, {Task: "t1", Worker: "w0", Label: "b"}, {Task: "t1", Worker: "w1", Label: "b"}, {Task: "t1", Worker: "w2", Label: "b"}} {
		b.Add(a)
	}
	d := b.Build()
	truth, err := d.Truth(map[string]string{"t1": "b"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := stopping(d, truth, label.Until(.5, 2, 10).WithClasses(2))
	if err != nil || s.Answers != 1.5 || s.Accuracy != 1 || len(s.Fixed) != 2 || s.Saved == nil || *s.Saved != 0 || s.Fixed[1].Bought != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = stopping(d, truth, label.Until(.9999, 3, 10).WithClasses(2))
	if err != nil || s.Answers != 2 || len(s.Fixed) != 1 || s.Fixed[0].Answers != 3 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestSavedIsAgainstEquallyGoodLabels: between two numbers of answers in proportion.
func TestSavedIsAgainstEquallyGoodLabels(t *testing.T) {
	t.Parallel()
	at := []Fixed{{2, 2, .7}, {3, 3, .8}, {4, 3.5, .9}}
	for _, x := range []struct {
		answers, accuracy, saved float64
	}{
		{1, .6, .5},                   // worse than the fewest: against these
		{2, .75 + equal, 1 - 2/2.5},   // half way from 2 to 3
		{2, .85 + equal, 1 - 2/3.25},  // tasks that nobody else has answered are not bought
		{3.5, .9 + equal/2, -.0021},   // as good as all of them, within what counts as equal
		{3, .9 + 2*equal, math.NaN()}, // better than all
	} {
		s := Stopping{Answers: x.answers, Accuracy: x.accuracy, Fixed: at}
		switch saved := s.saved(); {
		case math.IsNaN(x.saved):
			if saved != nil {
				t.Errorf("%+v: saved %v, though nothing is as good", x, *saved)
			}
		case saved == nil || math.Abs(*saved-x.saved) > 1e-4:
			t.Errorf("%+v: %v", x, saved)
		}
	}
}

func TestNothingToMeasure(t *testing.T) {
	t.Parallel()
	data := madeUp(20, 10, 2, 3, 1).data
	for field, o := range map[string]Options{
		"answers": {Classes: 2, Confidence: .9, Most: 10},
		"classes": {Answers: 1000, Classes: 1, Confidence: .9, Most: 10},
		"until":   {Answers: 1000, Classes: 2, Confidence: 1, Most: 10},
		"at_most": {Answers: 1000, Classes: 2, Confidence: .9, Most: 1},
		"truth":   {Answers: 1000, Classes: 2, Confidence: .9, Most: 10, Recorded: data},
	} {
		r, err := Run(o)
		var of *crowd.Error
		if crowd.CodeOf(err) != crowd.Invalid || r != nil || !errors.As(err, &of) || of.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
