package forecast_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/sim/forecast"
	"github.com/throng-dev/throng/label"
)

// given are answers of a person to a batch: so many, of so many seconds.
type given struct {
	who     crowd.WorkerID
	batch   crowd.BatchID
	seconds []float64
}

// watched is what was observed where these answers were given.
func watched(list ...given) forecast.Observed {
	at := dawn
	var signs []forecast.Sign
	for _, g := range list {
		for _, s := range g.seconds {
			end := at.Add(time.Duration(s * float64(time.Second)))
			signs = append(signs, forecast.Sign{Worker: g.who, Batch: g.batch, State: crowd.Submitted, At: at, Ended: end})
			at = end
		}
	}
	return forecast.Observe(at, dawn, signs, nil, nil)
}

// times draws times of answers, of so many seconds in the median.
func times(r *rand.Rand, n int, median, sd float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = median * math.Exp(sd*r.NormFloat64())
	}
	return list
}

// TestSpeedsAreFound: of people of known speeds, whose answers are to batches of
// different times, speeds and spreads come out, nearer to the truth than plain
// means are.
func TestSpeedsAreFound(t *testing.T) {
	t.Parallel()
	const people, spread = 60, 0.6
	r := rand.New(rand.NewPCG(1, 2))
	truth := make(map[crowd.WorkerID]float64)
	var list []given
	plain, usual := make(map[crowd.WorkerID]float64), []float64{math.Log(20), math.Log(90), math.Log(5)}
	sd := []float64{0.4, 0.8, 0.6}
	for i := range people {
		id := crowd.WorkerID(i + 1)
		u := spread * r.NormFloat64()
		truth[id] = math.Exp(u)
		n := 1 + i%7
		sum := 0.0
		for b := range usual {
			s := times(r, n, math.Exp(usual[b]+u), sd[b])
			for _, x := range s {
				sum += math.Log(x) - usual[b]
			}
			list = append(list, given{id, crowd.BatchID(b + 1), s})
		}
		plain[id] = sum / float64(3*n)
	}
	s := &forecast.State{Observed: watched(list...)}
	between, within, factor := forecast.Expected(s)
	if math.Abs(between-spread) > 0.15 {
		t.Errorf("people differ by %.2f, not %.2f", between, spread)
	}
	for b, want := range sd {
		if math.Abs(within[b]-want) > 0.1 {
			t.Errorf("answers of one person to b%d differ by %.2f, not %.2f", b+1, within[b], want)
		}
	}
	centre := 0.0
	for id, f := range truth {
		centre += math.Log(factor(id)/f) / people
	}
	ours, theirs := 0.0, 0.0
	for id, f := range truth {
		ours += math.Pow(math.Log(factor(id)/f)-centre, 2) / people
		theirs += math.Pow(plain[id]-math.Log(f), 2) / people
	}
	t.Logf("ω %.3f, σ %.3f; off by %.3f, plain means with the true times of batches by %.3f", between, within, math.Sqrt(ours), math.Sqrt(theirs))
	if ours >= theirs {
		t.Errorf("the speeds are off by %.3f, plain means by %.3f", math.Sqrt(ours), math.Sqrt(theirs))
	}
}

// TestFewAnswersSayLittle: an estimate goes from 1 to what was seen with the
// number of answers.
func TestFewAnswersSayLittle(t *testing.T) {
	t.Parallel()
	of := func(n int) float64 {
		r := rand.New(rand.NewPCG(3, 4))
		list := []given{{1, 1, times(r, n, 300, 0.6)}}
		for i := range 12 {
			list = append(list, given{crowd.WorkerID(i + 2), 1, times(r, 20, 30, 0.6)})
		}
		_, _, factor := forecast.Expected(&forecast.State{Observed: watched(list...)})
		if f := factor(99); f != 1 {
			t.Errorf("somebody of whom nothing was seen takes %.2f times as long as usual", f)
		}
		return factor(1) / factor(2)
	}
	one, ten, many := of(1), of(10), of(300)
	t.Logf("ten times as slow: of one answer %.2f, of ten %.2f, of 300 %.2f", one, ten, many)
	if one < 1.1 || one > 5 || ten < one || ten > 11 || many < 8 || many > 12 {
		t.Errorf("somebody ten times as slow: %.2f of one answer, %.2f of ten, %.2f of 300", one, ten, many)
	}
	// A machine answers within a millisecond, if anything does.
	list := []given{{1, 1, times(rand.New(rand.NewPCG(3, 4)), 1000, 0.001, 0)}}
	for i := range 12 {
		list = append(list, given{crowd.WorkerID(i + 2), 1, times(rand.New(rand.NewPCG(3, uint64(i))), 100, 10_000, 0.1)})
	}
	if _, _, factor := forecast.Expected(&forecast.State{Observed: watched(list...)}); factor(1) != math.Exp(-5) {
		t.Errorf("somebody who takes no time has a factor of %g", factor(1))
	}
	// All equal: chance alone is not taken for speed.
	r := rand.New(rand.NewPCG(5, 6))
	list = nil
	for i := range 30 {
		list = append(list, given{crowd.WorkerID(i + 1), 1, times(r, 5, 30, 0.6)})
	}
	between, _, factor := forecast.Expected(&forecast.State{Observed: watched(list...)})
	if between > 0.3 {
		t.Errorf("people who are all alike differ by %.2f", between)
	}
	for i := range 30 {
		if f := factor(crowd.WorkerID(i + 1)); f < 0.75 || f > 1.33 {
			t.Errorf("somebody like all others has a factor of %.2f", f)
		}
	}
}

// aloneState is a pool in which one person gave all answers there are.
func aloneState(t *testing.T, n int) *forecast.State {
	t.Helper()
	s := aState(t, "wfs")
	b := &s.Snapshot.Batches[0]
	list := times(rand.New(rand.NewPCG(7, 8)), n, 4, 0.5)
	s.Observed.Answers = watched(given{5, b.Spec.ID, list}).Answers
	b.Spec.TaskTime = 4 * time.Second
	b.Progress.Completed, b.Progress.Planned, b.Progress.Worked = n, n+60, 0
	for _, x := range list {
		b.Progress.Worked += time.Duration(x * float64(time.Second))
	}
	return s
}

// TestTheOnlyOneIsNotQuick: where one person gave all answers, nobody can tell
// whether the worker is quick or the tasks are short. They will go on as before, and of
// others little is known.
func TestTheOnlyOneIsNotQuick(t *testing.T) {
	t.Parallel()
	s := aloneState(t, 400)
	between, _, factor := forecast.Expected(s)
	if f := factor(5); math.Abs(math.Log(f)) > 1e-6 || math.Abs(between-0.5) > 0.01 {
		t.Errorf("the worker is expected to take %.2f times as long as usual, people differ by %.2f", f, between)
	}
	// Of one answer, neither can be told how answers vary.
	if between, within, _ := forecast.Expected(aloneState(t, 1)); math.Abs(between-0.5) > 1e-4 || math.Abs(within[0]-math.Sqrt(0.8*0.8-0.5*0.5)) > 1e-4 {
		t.Errorf("of one answer: people differ by %.4f, answers of one by %.4f", between, within[0])
	}
	if p := forecast.Paces(s)[0]; math.Abs(p.Spread-0.5) > 0.05 || math.Abs(p.PosteriorSD-math.Sqrt(math.Expm1(0.25)/400+0.05*0.05)) > 0.003 || p.Mean.Seconds() < 4 || p.Mean.Seconds() > 5 {
		t.Errorf("the pace is %+v", p)
	}
	mean := s.Snapshot.Batches[0].Progress.Worked.Seconds() / 400
	var own, others, us float64
	const reps = 400
	for rep := range reps {
		f, usual := forecast.Drawn(s, 1, rep)
		own += math.Pow(math.Log(usual[0]*f(5)/mean), 2) / reps
		others += math.Pow(math.Log(usual[0]*f(6)/mean), 2) / reps
		us += math.Pow(math.Log(f(5)), 2) / reps
	}
	if own, others, us = math.Sqrt(own), math.Sqrt(others), math.Sqrt(us); own > 0.05 || us < 0.42 || us > 0.58 || others < 0.6 || others > 0.8 {
		t.Errorf("the worker's own pace is known to %.3f (want 0), whether they are quick to %.3f (want 0.5), others' pace to %.3f (want 0.7)", own, us, others)
	}
}

// TestDrawnSpeedsAreThePosterior compares mean and covariance of draws with
// those of the normal distribution in closed form: of three people and two
// batches, and of a person of whom nothing is known.
func TestDrawnSpeedsAreThePosterior(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 10))
	list := []given{
		{1, 1, times(r, 2, 10, 0.5)}, {2, 1, times(r, 9, 20, 0.5)}, {2, 2, times(r, 1, 30, 0.5)}, {3, 2, times(r, 4, 50, 0.5)},
	}
	s := &forecast.State{Now: dawn, Policy: "wfs", Snapshot: &engine.Snapshot{}, Observed: watched(list...)}
	between, within, expected := forecast.Expected(s)

	// The precision of u with the batches' μ integrated out, and its right side.
	var q [3][4]float64
	for i := range 3 {
		q[i][i] = 1 / (between * between)
	}
	for b := range 2 {
		var n, y [3]float64
		total, mean := 0.0, 0.0
		for _, g := range list {
			if int(g.batch) == b+1 {
				for _, x := range g.seconds {
					n[g.who-1]++
					y[g.who-1] += math.Log(x)
					total++
					mean += math.Log(x)
				}
			}
		}
		v := within[b] * within[b]
		for i := range 3 {
			for j := range 3 {
				q[i][j] -= n[i] * n[j] / total / v
			}
			q[i][i] += n[i] / v
			q[i][3] += (y[i] - n[i]*mean/total) / v
		}
	}
	mean, covariance := solved(q)
	const reps = 20_000
	var sum [4]float64
	var squares [4][4]float64
	for rep := range reps {
		f, _ := forecast.Drawn(s, 3, rep)
		var u [4]float64
		for i := range u {
			u[i] = math.Log(f(crowd.WorkerID(i + 1)))
			sum[i] += u[i] / reps
		}
		for i := range u {
			for j := range u {
				squares[i][j] += u[i] * u[j] / reps
			}
		}
	}
	for i := range 4 {
		m := 0.0
		if i < 3 {
			m = mean[i]
			if got := math.Log(expected(crowd.WorkerID(i + 1))); math.Abs(got-m) > 1e-6 {
				t.Errorf("the mean of u%d is %.6f, want %.6f", i+1, got, m)
			}
		}
		if math.Abs(sum[i]-m) > 0.02 {
			t.Errorf("the mean of drawn u%d is %.3f, want %.3f", i+1, sum[i], m)
		}
		for j := range 4 {
			want := 0.0
			switch {
			case i < 3 && j < 3:
				want = covariance[i][j]
			case i == j:
				want = between * between
			}
			if got := squares[i][j] - sum[i]*sum[j]; math.Abs(got-want) > 0.015 {
				t.Errorf("the covariance of drawn u%d and u%d is %.3f, want %.3f", i+1, j+1, got, want)
			}
		}
	}
}

// solved returns the solution of three equations, and the inverse of their left
// side, by elimination.
func solved(q [3][4]float64) (x [3]float64, inverse [3][3]float64) {
	var a [3][7]float64
	for i := range 3 {
		copy(a[i][:], q[i][:])
		a[i][4+i] = 1
	}
	for i := range 3 {
		p := a[i][i]
		for k := range a[i] {
			a[i][k] /= p
		}
		for j := range 3 {
			if f := a[j][i]; j != i {
				for k := range a[j] {
					a[j][k] -= f * a[i][k]
				}
			}
		}
	}
	for i := range 3 {
		x[i] = a[i][3]
		copy(inverse[i][:], a[i][4:])
	}
	return x, inverse
}

// TestWhoComesIsForeseen: only one member may do the batch, so work begins when
// they come: at the first visit of a worker of their speed.
func TestWhoComesIsForeseen(t *testing.T) {
	t.Parallel()
	compared := 0
	for seed := range uint64(20) {
		id := crowd.WorkerID(1 + seed%4)
		s := aState(t, "fs")
		b := &s.Snapshot.Batches[0]
		b.Assignments, b.Progress.FirstStarted, b.Spec.Requirements = nil, time.Time{}, needs("french")
		b.Progress.Fresh, b.Progress.Issued, b.Progress.OldestOpen, b.Progress.Completed, b.Progress.Labelled = 1, 0, 1, 0, 0
		s.Snapshot.Batches = s.Snapshot.Batches[:1]
		s.Snapshot.Workers, s.Observed.Present = nil, nil
		var list []given
		for i := range 4 {
			w := engine.Worker{ID: crowd.WorkerID(i + 1)}
			if w.ID == id {
				w.Qualifications = map[string]int{"french": 50}
			}
			s.Snapshot.Workers = append(s.Snapshot.Workers, w)
			list = append(list, given{w.ID, b.Spec.ID, times(rand.New(rand.NewPCG(seed, uint64(i))), 500, 10*math.Pow(3, float64(i)), 0.3)})
		}
		s.Observed.Answers = watched(list...).Answers
		comes, begins, err := forecast.Begun(s, seed, int(seed), id)
		ok(t, err)
		if comes < 0 {
			continue // not in a day
		}
		compared++
		if comes != begins {
			t.Errorf("seed %d: %s comes after %s, and work begins after %s", seed, id, comes, begins)
		}
	}
	if compared < 15 {
		t.Errorf("only %d worlds were looked at", compared)
	}
}

// TestItMattersWhoIsThere: one of ten people is ten times as quick as the others.
// With them the pool is done sooner than without, by as much as they do.
func TestItMattersWhoIsThere(t *testing.T) {
	t.Parallel()
	medians := map[crowd.WorkerID]float64{}
	for _, there := range []crowd.WorkerID{1, 2} {
		s := quickState(t)
		s.Observed.Present = []forecast.Person{{Worker: there, Chance: 1}, {Worker: 3, Chance: 1}}
		s.Observed.Arrivals, s.Observed.Away = 0, 1e5*time.Hour // nobody else comes
		s.Observed.Departures, s.Observed.Presence = 0, 1e4*time.Hour
		r := forecastOf(t, s, forecast.Options{Reps: 30, Horizon: 72 * time.Hour})
		medians[there] = *r.Batches[0].Finish[0].MedianIn
		if r.Basis.ToldApart != 10 || r.Basis.SpeedSpread < 0.4 || r.Basis.SpeedSpread > 1.2 {
			t.Errorf("%d people are told apart, who differ by %.2f", r.Basis.ToldApart, r.Basis.SpeedSpread)
		}
	}
	// 1/6 + 1/60 of an answer a second, against 2/60.
	if ratio := medians[2] / medians[1]; ratio < 3.8 || ratio > 7 {
		t.Errorf("without the quick one it takes %.2f times as long, want 5.5 (%v)", ratio, medians)
	}
	// The same where it was not said whose answers are whose: then it is all one.
	s := quickState(t)
	untold(s)
	if _, _, factor := forecast.Expected(s); factor(1) != 1 || factor(2) != 1 {
		t.Errorf("of answers that are nobody's: %.2f, %.2f", factor(1), factor(2))
	}
}

// TestBeforeAnyAnswer: what the requester says is the time of answers as they
// come, of which quick people give more.
func TestBeforeAnyAnswer(t *testing.T) {
	t.Parallel()
	s := aState(t, "wfs")
	s.Observed.Answers = nil
	s.Snapshot.Batches[0].Progress.Completed, s.Snapshot.Batches[0].Progress.Worked = 0, 0
	f, usual := forecast.Drawn(s, 1, 1)
	if want := 30 * math.Exp(0.5*0.5/2); math.Abs(usual[0]-want) > 1e-6 {
		t.Errorf("somebody of usual speed takes %.2f s, want %.2f", usual[0], want)
	}
	if again, _ := forecast.Drawn(s, 1, 1); f(3) != again(3) || f(3) == f(4) || f(3) == 1 {
		t.Errorf("people's factors are %.3f, %.3f; again %.3f", f(3), f(4), again(3))
	}
	untold(s)
	s.Observed.Answers[1] = forecast.Answers{N: 401, LogMean: 3, LogSD: 0.9}
	total := (5*0.8*0.8 + 400*0.9*0.9) / 405
	if p := forecast.Paces(s)[0]; math.Abs(p.Spread-math.Sqrt(total-0.5*0.5)) > 1e-9 {
		t.Errorf("of answers that are nobody's, those of one person vary by %.4f", p.Spread)
	}
}

// TestATaskInHandGoesOnAtItsWorkersPace: its worker goes on at their own pace, and somebody
// quick is sooner taken for gone.
func TestATaskInHandGoesOnAtItsWorkersPace(t *testing.T) {
	t.Parallel()
	holds := func(id crowd.WorkerID, since time.Duration) *forecast.State {
		s := quickState(t)
		b := &s.Snapshot.Batches[0]
		b.Progress.Fresh, b.Progress.Issued, b.Progress.OldestOpen = 382, 381, 381
		b.Assignments = []engine.AssignmentSnapshot{{
			ID: b.Spec.ID.Assignment(381), Task: b.Spec.ID.Task(381), Worker: id, State: crowd.Assigned, At: s.Now.Add(-since), Expires: s.Now.Add(b.Spec.Lease),
		}}
		s.Observed.Present = nil
		s.Observed.Arrivals, s.Observed.Away = 0, 1e5*time.Hour // nobody else comes
		s.Observed.Departures, s.Observed.Presence = 0, 1e4*time.Hour
		s.Observed.HandOuts = 1e6 // nobody vanishes
		ok(t, s.Validate())
		return s
	}
	medians := map[crowd.WorkerID]float64{}
	for _, id := range []crowd.WorkerID{1, 2} {
		r := forecastOf(t, holds(id, time.Second), forecast.Options{Reps: 20, Horizon: 72 * time.Hour})
		medians[id] = *r.Batches[0].Finish[0].MedianIn
	}
	if ratio := medians[2] / medians[1]; ratio < 6 || ratio > 15 {
		t.Errorf("a slow one takes %.2f times as long as a quick one, want 10 (%v)", ratio, medians)
	}
	gone := func(id crowd.WorkerID) float64 {
		s := holds(id, time.Minute)
		s.Observed.HandOuts, s.Observed.Lost = 900, 99
		return forecast.Gone(s, id, 400)
	}
	if quick, slow := gone(1), gone(2); quick < 0.9 || slow < 0.1 || slow > 0.3 {
		t.Errorf("after a minute the quick one is gone with chance %.2f, the slow one with %.2f", quick, slow)
	}
}

// TestBudgetOfQuickPeople: what people can do until the horizon is reckoned with
// those who are there.
func TestBudgetOfQuickPeople(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *forecast.State){
		"as they are":           func(*forecast.State) {},
		"who give up much":      func(s *forecast.State) { s.Observed.GivenUp = 8e5 },
		"who are all like them": func(s *forecast.State) { s.Observed.Answers = nil },
	} {
		s := quickState(t)
		b := &s.Snapshot.Batches[0]
		b.Spec.Tasks, b.Progress.Planned, b.Progress.Escrow, b.Spec.Budget = 1_000_000, 1_000_000, 1_000_000*b.Spec.Reward, 1_000_000*b.Spec.Reward
		s.Observed.Present = []forecast.Person{{Worker: 1, Chance: 1}}
		s.Observed.Arrivals, s.Observed.Away = 0, 1e5*time.Hour
		s.Observed.Departures, s.Observed.Presence = 0, 1e4*time.Hour
		s.Observed.HandOuts = 1e6 // nobody vanishes
		change(s)
		const budget = 400_000
		r := forecastOf(t, s, forecast.Options{Budget: budget, Horizon: 4 * time.Hour})
		t.Logf("people %s: %d repetitions of %d in all", name, r.Reps, r.Cycles)
		if r.Cycles > budget || r.Cycles < budget/20 {
			t.Errorf("people %s: for %d assignments there are %d repetitions of %d in all", name, budget, r.Reps, r.Cycles)
		}
	}
}

// quickState is a pool of ten people who did some of a batch, one of them ten
// times as quick as the others.
func quickState(t *testing.T) *forecast.State {
	t.Helper()
	s := aState(t, "wfs")
	s.Snapshot.Workers, s.Snapshot.Batches = s.Snapshot.Workers[:10], s.Snapshot.Batches[:1]
	b := &s.Snapshot.Batches[0]
	b.Assignments, b.Progress.Worked = nil, 0
	var list []given
	r := rand.New(rand.NewPCG(11, 12))
	for i := range 10 {
		g := given{crowd.WorkerID(i + 1), b.Spec.ID, times(r, 20, 60*math.Exp(-0.18), 0.6)}
		if i == 0 {
			g.seconds = times(r, 200, 6*math.Exp(-0.18), 0.6)
		}
		list = append(list, g)
		for _, x := range g.seconds {
			b.Progress.Worked += time.Duration(x * float64(time.Second))
		}
	}
	b.Spec.Tasks = 1000
	b.Progress.Fresh, b.Progress.Issued, b.Progress.OldestOpen, b.Progress.Labelled = 381, 380, 381, 380
	b.Progress.Planned, b.Progress.Completed = 1000, 380
	b.Progress.Escrow = 620 * b.Spec.Reward
	s.Observed = watched(list...)
	ok(t, s.Validate())
	return s
}

// untold takes from a state whose answers are whose.
func untold(s *forecast.State) {
	answers := make(map[crowd.BatchID]forecast.Answers)
	for id, a := range s.Observed.Answers {
		a.By = nil
		answers[id] = a
	}
	s.Observed.Answers = answers
}

// TestMixedSpeeds is TestCalibration where people differ: it must hold as well,
// and bands must be better than those of the same states without whose answers
// are whose.
func TestMixedSpeeds(t *testing.T) {
	if testing.Short() {
		t.Skip("dozens of worlds, each forecast and let go on: left out of short runs")
	}
	t.Parallel()
	for name, k := range map[string]struct {
		members, seeds int
		tasks          uint32
		stay, away     time.Duration
		factor         func(r *rand.Rand, i int) float64
	}{
		"as a real crowd": {30, 35, 700, time.Hour, 3 * time.Hour, func(r *rand.Rand, _ int) float64 { return math.Exp(0.5 * r.NormFloat64()) }},
		"one quick of ten": {10, 35, 700, 2 * time.Hour, time.Hour, func(_ *rand.Rand, i int) float64 {
			if i == 0 {
				return 0.2
			}
			return 1.5
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told, without tally
			for n := range k.seeds {
				seed := uint64(n)
				r := rand.New(rand.NewPCG(seed, 99))
				w := newTruthOf(t, seed, k.members, "wfs", func(w *truth) {
					w.stay, w.away, w.factors = k.stay, k.away, make(map[crowd.WorkerID]float64)
					for i := range k.members {
						w.factors[crowd.WorkerID(i+1)] = k.factor(r, i)
					}
				}, aBatch(1, 2*k.tasks, label.Count(1), 40), aBatch(2, k.tasks/2, label.Count(2), 60))
				w.until(dawn.Add(2 * time.Hour))
				s, other := w.stateNow(), w.stateNow()
				untold(other)
				f, g := forecastOf(t, s, forecast.Options{Seed: seed, Reps: 30}), forecastOf(t, other, forecast.Options{Seed: seed, Reps: 30})
				w.until(dawn.Add(72 * time.Hour))
				told.add(t, w, f)
				without.add(t, w, g)
			}
			t.Logf("told apart: %s", &told)
			t.Logf("not:        %s", &without)
			told.check(t, k.seeds)
			if told.score() > without.score() {
				t.Errorf("the bands have a score of %.3f; where people are not told apart it is %.3f", told.score(), without.score())
			}
		})
	}
}

// TestOldStates reads what an older server writes.
func TestOldStates(t *testing.T) {
	t.Parallel()
	s := aState(t, "wfs")
	untold(s)
	data, err := json.Marshal(s)
	ok(t, err)
	old := replaced(t, string(data), `"version":3`, `"version":2`)
	var back forecast.State
	ok(t, json.Unmarshal([]byte(old), &back))
	r := forecastOf(t, &back, forecast.Options{Reps: 20})
	if x := r.Batches[0].Finish[0]; x.Median.IsZero() || r.Basis.ToldApart != 0 || r.Basis.SpeedSpread != 0.5 {
		t.Errorf("of an old state: %+v, from %+v", x, r.Basis)
	}
}
