package calibrate_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/calibrate"
)

// made is a log of people who work as the simulator has it, with known figures.
// They go when their time is up and take another kind each time, or they go after
// a number of answers that has nothing to do with how long these took, and
// change now and then.
func made(workers int, byTime bool, round func(float64) float64) string {
	kinds := []struct {
		name             string
		service          sim.Dist
		factor, learning float64
	}{
		{"wide", sim.LogNormal{Mu: math.Log(40), Sigma: 0.8}, 1.5, 0.3},
		{"flat", sim.Exponential(25), 1.5, 0.1},
		{"narrow", sim.LogNormal{Mu: math.Log(12), Sigma: 0.3}, 1.5, 0.2},
	}
	var b strings.Builder
	b.WriteString("worker,kind,seconds,start_s,submit_s\n")
	s := sim.NewStream(7, 0, "made log")
	for w := range workers {
		r := s.At(uint64(w))
		speed := sim.LogNormal{Sigma: 0.4}.Draw(&r)
		at := math.Round(30 * float64(w) * r.Exp() / 2)
		kind, before := r.IntN(3), -1
		var done [3]int
		until, most := at+900*r.Exp(), 1+int(30*r.Exp())
		for n := 0; byTime && at < until || !byTime && n < most; n++ {
			if r.Float64() < 0.4 || byTime {
				kind = (kind + 1 + r.IntN(2)) % 3
			}
			k := kinds[kind]
			done[kind]++
			t := k.service.Draw(&r) * math.Pow(float64(done[kind]), -k.learning) / speed
			if before >= 0 && before != kind {
				t *= k.factor
			}
			before = kind
			fmt.Fprintf(&b, "w%d,%s,%v,%v,%v\n", w, k.name, round(t), at, at+t)
			at += t + 4*r.Exp()
		}
	}
	return b.String()
}

func within(t *testing.T, what string, got, lo, hi float64) {
	t.Helper()
	if !(got >= lo && got <= hi) {
		t.Errorf("%s: %.4g, want %.4g to %.4g", what, got, lo, hi)
	}
}

// TestKnownFiguresAreFound: what a log was made with is what is fitted to it,
// whether its seconds are exact or rounded.
func TestKnownFiguresAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rounding calibrate.Rounding
		round    func(float64) float64
	}{
		"exact":   {calibrate.Auto, func(x float64) float64 { return x }},
		"nearest": {calibrate.Auto, math.Round},
		"down":    {calibrate.Down, math.Floor},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := calibrate.Fit(read(t, made(300, false, c.round), calibrate.Columns{}), c.rounding)
			if err != nil {
				t.Fatal(err)
			}
			flat, narrow, wide := m.Kinds[0], m.Kinds[1], m.Kinds[2]
			if flat.Service.Family != "exponential" || narrow.Service.Family != "lognormal" || wide.Service.Family != "lognormal" {
				t.Errorf("families %s, %s, %s", flat.Service.Family, narrow.Service.Family, wide.Service.Family)
			}
			within(t, "mean of flat", flat.Service.Dist.Mean(), 22.5, 28)
			within(t, "median of narrow", narrow.Median.Value, 11, 13)
			within(t, "sigma of narrow", narrow.Sigma.Value, 0.27, 0.34)
			within(t, "median of wide", wide.Median.Value, 36, 44)
			within(t, "sigma of wide", wide.Sigma.Value, 0.75, 0.85)
			for i, learning := range []float64{0.1, 0.2, 0.3} {
				k := m.Kinds[i]
				within(t, k.Name+": switch", k.SwitchFactor, 1.4, 1.6)
				within(t, k.Name+": 1.5 in its interval", 1.5, k.Switch.Lo, k.Switch.Hi)
				within(t, k.Name+": learning", k.LearningExponent, learning-0.05, learning+0.05)
				within(t, k.Name+": the true learning in its interval", learning, k.Learning.Lo, k.Learning.Hi)
			}
			within(t, "spread of speeds", m.Speed.Sigma.Value, 0.36, 0.44)
			within(t, "0.4 in its interval", 0.4, m.Speed.Sigma.Lo, m.Speed.Sigma.Hi)
			for i := range m.Kinds {
				k := m.Kinds[i]
				within(t, k.Name+": distance of the simulated log", k.Check.KS, 0, 0.06)
				for q := range k.Check.Data {
					within(t, fmt.Sprintf("%s: quantile %d", k.Name, q), k.Check.Simulated[q], 0.85*k.Check.Data[q]-0.5, 1.15*k.Check.Data[q]+0.5)
				}
			}
		})
	}
}

// TestAFittedScenarioTakesAsLongAsItsLog: people who come, stay and switch as in
// the log take as long for an answer. Under rr nearly every answer is of another
// kind than the one before; so the log's people switch as often.
func TestAFittedScenarioTakesAsLongAsItsLog(t *testing.T) {
	t.Parallel()
	m, err := calibrate.Fit(read(t, made(300, true, math.Round), calibrate.Columns{}), calibrate.Auto)
	if err != nil {
		t.Fatal(err)
	}
	if m.Crowd.Session == nil || m.Crowd.Session.Family != "exponential" {
		t.Errorf("sessions are %+v", m.Crowd.Session)
	}
	s := runnable(t, m)
	for i := range s.Setup.Batches {
		s.Setup.Batches[i].Tasks, s.Setup.Batches[i].At = 5000, 0 // enough for all
	}
	got, want := perAnswer(t, s.Setup, "rr", m)
	t.Logf("%.1f s simulated, %.1f s in the log", got, want)
	within(t, "seconds an answer", got, 0.9*want, 1.1*want)
}

// perAnswer runs a setup ten times and returns how long an answer took, and how
// long it takes in the log of a model for the same mix of kinds.
func perAnswer(t *testing.T, setup *sim.Setup, policy string, m *calibrate.Model) (got, want float64) {
	t.Helper()
	for i := range setup.Kinds { // time is told apart neither by kind nor by what came of it
		setup.Kinds[i].Skip, setup.Kinds[i].Return, setup.Kinds[i].Vanish = 0, 0, 0
	}
	worked, expected, answers := 0.0, 0.0, 0
	for rep := range 10 {
		run := sim.Run{Setup: setup, Policy: policy, Seed: 1, Rep: rep, Check: rep == 0}
		o, err := run.Do()
		if err != nil {
			t.Fatal(err)
		}
		worked += o.Crowd.Worked.Seconds()
		for i := range o.Batches {
			b := &o.Batches[i]
			answers += b.Answers
			expected += float64(b.Answers) * m.Kinds[b.Kind].Check.MeanData
		}
	}
	if answers < 500 {
		t.Fatalf("only %d answers", answers)
	}
	return worked / float64(answers), expected / float64(answers)
}

// TestAWildLogIsRunnable: times that differ by hundreds of orders of magnitude
// give a sigma that no scenario allows; what is written has one that it does,
// also for a kind that has it from the others.
func TestAWildLogIsRunnable(t *testing.T) {
	t.Parallel()
	text := "worker,kind,seconds\n" + strings.Repeat("a,wild,1e-300\nb,wild,80000\nc,wild,1\n", 20) + "a,few,5\nb,few,6\nc,few,7\n"
	m, err := calibrate.Fit(read(t, text, calibrate.Columns{}), calibrate.Auto)
	if err != nil {
		t.Fatal(err)
	}
	if m.Kinds[0].Name != "few" || !strings.Contains(m.Kinds[0].Service.Why, "of the other kinds") {
		t.Fatalf("the first kind is %+v", m.Kinds[0])
	}
	runnable(t, m)
}

func TestTheSameLogGivesTheSameModel(t *testing.T) {
	t.Parallel()
	text := made(20, true, math.Round)
	var first string
	for range 3 {
		m, err := calibrate.Fit(read(t, text, calibrate.Columns{}), calibrate.Auto)
		if err != nil {
			t.Fatal(err)
		}
		now := m.Table() + m.Report().Model
		if first == "" {
			first = now
		}
		if now != first {
			t.Fatal("another model")
		}
	}
}
