package label

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
)

func TestDecideByMedian(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule    Rule
		answers string // words
		want    Decision
	}{
		{Count(3), "", Decision{Want: 3}},
		{Count(3), "3 7 4", Decision{Enough: true, Want: 3, Label: "4", Confidence: 1. / 3}},
		{Count(5), "1 1 5 6 7", Decision{Enough: true, Want: 5, Label: "5", Confidence: .2}},  // the majority says 1
		{Count(3), "10 9 2", Decision{Enough: true, Want: 3, Label: "9", Confidence: 1. / 3}}, // numbers, not texts
		{Count(4), "2 3 3 7", Decision{Enough: true, Want: 4, Label: "3", Confidence: .5}},
		{Count(4), "2 3 5 7", Decision{Enough: true, Want: 4, Label: tied("3", "5"), Confidence: .25, Tie: true}},
		{Count(2), "5 5", Decision{Enough: true, Want: 2, Label: "5", Confidence: 1}},
		{Agree(2, 3), "5 5", Decision{Enough: true, Want: 2, Label: "5", Confidence: 1}},
		{Agree(2, 3), "1 5", Decision{Want: 3, Label: tied("1", "5"), Confidence: .5, Tie: true}},
		{Agree(2, 3), "7 1 5", Decision{Enough: true, Want: 3, Label: "5", Confidence: 1. / 3, Undecided: true}},
	} {
		got := tt.rule.WithMedian(true).Decide(task, strings.Fields(tt.answers), 0)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s of %s (-want +got):\n%s", tt.rule, tt.answers, diff)
		}
	}
}

// The order of the answers does not matter, the live label is that of Median,
// and as many answers are at most as high as the label as are at least as high.
func TestMedianIsInTheMiddle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		points := rapid.SliceOfN(rapid.IntRange(0, 11), 1, 50).Draw(t, "points")
		id := crowd.BatchID(17).Task(rapid.Uint32Min(1).Draw(t, "task"))
		answers := make([]string, len(points))
		var b Builder
		for i, p := range points {
			answers[i] = strconv.Itoa(p)
			b.Add(Answer{Task: id.String(), Worker: fmt.Sprint("w", i), Label: answers[i]})
		}
		rule := Count(len(points)).WithMedian(true)
		d := rule.Decide(id, answers, 0)
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0)).Shuffle(len(answers), func(i, j int) { answers[i], answers[j] = answers[j], answers[i] })
		if again := rule.Decide(id, answers, 0); again != d {
			t.Errorf("in another order %+v, not %+v", again, d)
		}
		r, err := Median{}.Fit(b.Build(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Label(0) != d.Label || r.Ties[0] != d.Tie || r.Confidence(0) != d.Confidence {
			t.Errorf("Median says %s (tie %v, %v), Decide %+v", r.Label(0), r.Ties[0], r.Confidence(0), d)
		}
		x, _ := strconv.Atoi(d.Label)
		under, over := 0, 0
		for _, p := range points {
			if p < x {
				under++
			}
			if p > x {
				over++
			}
		}
		if 2*under > len(points) || 2*over > len(points) || !slices.Contains(points, x) {
			t.Errorf("%d is not the median of %v", x, points)
		}
		if even := 2*under == len(points) || 2*over == len(points); even != d.Tie {
			t.Errorf("%v: tie %v", points, d.Tie)
		}
	})
}

func TestMedianNeedsNumbers(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{"cat", "NaN", ""} {
		_, err := Median{}.Fit(build([3]string{"t1", "a", "3"}, [3]string{"t1", "b", odd}), nil)
		if crowd.CodeOf(err) != crowd.Invalid || !strings.Contains(err.Error(), strconv.Quote(odd)+" is not a number") {
			t.Errorf("%q: %v", odd, err)
		}
	}
}

// A tie of two classes that holds the truth counts half.
func TestAccuracyOfMedian(t *testing.T) {
	t.Parallel()
	d := build([3]string{"t1", "a", "1"}, [3]string{"t1", "b", "4"}, [3]string{"t2", "a", "2"})
	r := fit(t, Median{}, d, nil)
	truth, err := d.Truth(map[string]string{"t1": "4", "t2": "2"})
	if err != nil {
		t.Fatal(err)
	}
	if share, n := r.Accuracy(truth); share != .75 || n != 2 {
		t.Errorf("accuracy %v of %d, want .75 of 2", share, n)
	}
}

func TestMedianOfARuleIsKept(t *testing.T) {
	t.Parallel()
	for text, rule := range map[string]Rule{
		`{"count":3,"combine":"median"}`:          Count(3).WithMedian(true),
		`{"agree":2,"of":3,"combine":"median"}`:   Agree(2, 3).WithMedian(true),
		`{"combine":"majority","agree":2,"of":3}`: Agree(2, 3),
	} {
		var got Rule
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != rule {
			t.Errorf("%s is read as %v, %v", text, got, err)
		}
		raw, err := json.Marshal(rule)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &got); err != nil || got != rule {
			t.Errorf("%v comes back from %s as %v, %v", rule, raw, got, err)
		}
	}
	for text, want := range map[string]string{
		`{"count":3,"combine":"mean"}`: "combine: must be median or majority",
		`{"count":3,"combine":1}`:      "combine: must be median or majority",
	} {
		var got Rule
		if err := got.UnmarshalJSON([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	rule := Agree(2, 5).WithMedian(true)
	if rule.Capped(3) != Agree(2, 3).WithMedian(true) || rule.Closed(4) != Count(4).WithMedian(true) || rule.String() != "2 of 5 agree, median" {
		t.Errorf("%v becomes %v and %v", rule, rule.Capped(3), rule.Closed(4))
	}
	if rule.Fixed() || !Count(2).WithMedian(true).Fixed() {
		t.Error("a rule of agreement is fixed, or a count is not")
	}
}
