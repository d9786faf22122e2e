package label

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/throng-dev/throng/crowd"
)

// Where all weigh the same nothing changes, to the last bit.
func TestFullWeightsChangeNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 4))
		rules := []Rule{Count(1 + rng.IntN(6)), Agree(1+rng.IntN(3), 3+rng.IntN(3))}
		rule := rules[rng.IntN(2)].WithMedian(rng.IntN(3) == 0)
		answers := make([]string, rng.IntN(9))
		full, half := make([]Weight, len(answers)), make([]Weight, len(answers))
		for i := range answers {
			answers[i] = string(rune('1' + rng.IntN(3)))
			full[i], half[i] = Full, Full/2
		}
		task, live := crowd.BatchID(3).Task(uint32(seed)+1), rng.IntN(3)
		want := rule.Decide(task, answers, live)
		if got := rule.DecideWeighted(task, answers, full, live); got != want {
			t.Fatalf("%s of %q: %+v, without weights %+v", rule, answers, got, want)
		}
		if rule.Fixed() {
			if got := rule.DecideWeighted(task, answers, half, live); got != want {
				t.Fatalf("%s of %q, each half: %+v, without weights %+v", rule, answers, got, want)
			}
		}
	}
}

// An answer that leads among those of full weight stays the label whatever one person says whose answers count less,
// though at full weight they could have made a tie of it, and it could have been lost.
func TestALowWeightTipsNothing(t *testing.T) {
	t.Parallel()
	tipped := 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		answers := make([]string, 1+rng.IntN(6))
		weights := make([]Weight, len(answers)+1)
		for i := range answers {
			answers[i], weights[i] = string(rune('a'+rng.IntN(3))), Full
		}
		weights[len(answers)] = Weight(1 + rng.IntN(99))
		task := crowd.BatchID(3).Task(uint32(seed) + 1)
		alone := Count(len(answers)).Decide(task, answers, 0)
		if alone.Tie {
			continue
		}
		all := append(answers, string(rune('a'+rng.IntN(3))))
		if d := Count(len(all)).DecideWeighted(task, all, weights, 0); d.Label != alone.Label || d.Tie || !d.Enough {
			t.Fatalf("%q with %v: %+v, without the last one %+v", all, weights, d, alone)
		}
		if Count(len(all)).Decide(task, all, 0).Label != alone.Label {
			tipped++
		}
	}
	if tipped == 0 {
		t.Error("no answer would have tipped anything at full weight")
	}
}

func TestDecideWeighted(t *testing.T) {
	t.Parallel()
	one := []Weight{Full, Full, Full, Full}
	for name, tc := range map[string]struct {
		rule    Rule
		answers []string
		weights []Weight
		want    Decision
	}{
		"two of little weight against one": {Count(3), []string{"b", "b", "a"}, []Weight{30, 30, Full}, Decision{Enough: true, Want: 3, Label: "a", Confidence: 100. / 160}},
		"a tie of weights":                 {Count(3), []string{"b", "b", "a"}, []Weight{50, 50, Full}, Decision{Enough: true, Want: 3, Label: "b", Confidence: .5, Tie: true}},
		"as many answers are wanted":       {Count(3), []string{"b"}, []Weight{1}, Decision{Want: 3, Label: "b", Confidence: 1}},
		"two agree, and weigh too little":  {Agree(2, 3), []string{"a", "a"}, []Weight{30, Full}, Decision{Want: 3, Label: "a", Confidence: 1}},
		"a third makes it agree":           {Agree(2, 3), []string{"a", "a", "a"}, []Weight{30, Full, Full}, Decision{Enough: true, Want: 3, Label: "a", Confidence: 1}},
		"a third makes it undecided":       {Agree(2, 3), []string{"a", "a", "b"}, []Weight{30, Full, Full}, Decision{Enough: true, Want: 3, Label: "a", Confidence: 130. / 230, Undecided: true}},
		"two of two that agree":            {Agree(2, 2), []string{"a", "a"}, []Weight{30, Full}, Decision{Enough: true, Want: 2, Label: "a", Confidence: 1, Undecided: true}},
		"agreed by others":                 {Agree(2, 4), []string{"b", "a", "b", "a"}, []Weight{30, Full, 30, Full}, Decision{Enough: true, Want: 4, Label: "a", Confidence: 200. / 260}},
		"median":                           {Count(3).WithMedian(true), []string{"5", "5", "10"}, []Weight{30, 30, Full}, Decision{Enough: true, Want: 3, Label: "10", Confidence: 100. / 160}},
		"median in the middle":             {Count(4).WithMedian(true), []string{"9", "10", "2", "3"}, one, Decision{Enough: true, Want: 4, Label: "9", Confidence: .25, Tie: true}},
		"nothing yet":                      {Count(4), nil, []Weight{}, Decision{Want: 4}},
	} {
		got := tc.rule.DecideWeighted(crowd.BatchID(1).Task(1), tc.answers, tc.weights, 0)
		if tc.want.Tie { // either will do
			tc.want.Label = got.Label
		}
		if got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestParseWeight(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Weight{"0.3": 30, "0.30": 30, "0.05": 5, "0.99": 99, "0.01": 1} {
		if got, err := ParseWeight(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		} else if again, err := ParseWeight(got.String()); err != nil || again != want {
			t.Errorf("%q is written as %q", text, got)
		}
	}
	for _, text := range []string{"", "0", "1", "0.", "0.0", "0.00", "1.0", "0.305", ".3", "0.3 ", "-0.3", "0.+3", "0.-3", "3e-1", "x"} {
		if got, err := ParseWeight(text); err == nil {
			t.Errorf("%q is taken, as %v", text, got)
		}
	}
}

// In the model a worker of weight 0 is as if they had not answered, one of weight 1 as before, and one between says
// less the lower it is.
func TestLiveWeights(t *testing.T) {
	t.Parallel()
	fill := func(l *Live, liar bool) {
		for i := range 40 {
			for j := range 3 {
				l.Set(i, j, Class(i%2))
			}
			if liar {
				l.Set(i, 3, Class(i%2))
			}
		}
		l.Set(40, 0, 0)
		if liar {
			l.Set(40, 3, 1)
		}
		l.Rebuild()
	}
	last := math.Inf(1)
	for _, weight := range []float64{1, .7, .3, 0} {
		l := newLive(t, 2)
		l.SetWeight(3, weight)
		fill(l, true)
		checkLive(t, l)
		q := l.Posterior(40)[1]
		if !(q < last) {
			t.Errorf("at weight %v what they say has %v, at more %v", weight, q, last)
		}
		last = q
		plain := newLive(t, 2)
		fill(plain, weight == 1)
		if want := plain.Posterior(40)[1]; weight == 1 && q != want || weight == 0 && !near(q, want, 1e-9) {
			t.Errorf("at weight %v: %v, want %v", weight, q, want)
		}
	}
}
