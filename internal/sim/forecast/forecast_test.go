package forecast_test

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/sim/forecast"
	"github.com/throng-dev/throng/label"
)

var ctx = context.Background()

// TestCalibration stops a world in the middle, forecasts it, and lets it go on:
// of ten truths, about eight must fall into the band, about as many before as
// after the median, and deadlines must be met as often as was said.
func TestCalibration(t *testing.T) {
	if testing.Short() {
		t.Skip("dozens of worlds, each forecast and let go on: left out of short runs")
	}
	t.Parallel()
	const seeds = 60
	var c tally
	for seed := range seeds {
		// People are faster, or slower, than the requester thinks.
		r := float64(seed%7)/6 + 0.5
		w := newTruth(t, uint64(seed), 40, "wfs",
			aBatch(1, 400, label.Count(1), 30*r), aBatch(2, 180, label.Count(2), 40*r), aBatch(3, 150, label.Agree(2, 3), 50*r))
		w.until(dawn.Add(30 * time.Minute))
		s := w.stateNow()
		for i := range s.Snapshot.Batches { // about when they will be done
			s.Snapshot.Batches[i].Progress.Deadline = w.now.Add(time.Duration(10*(1+seed%4)) * time.Minute)
		}
		f := forecastOf(t, s, forecast.Options{Seed: uint64(seed), Reps: 40})
		w.until(dawn.Add(48 * time.Hour))
		c.add(t, w, f)
	}
	t.Logf("%s", &c)
	c.check(t, seeds)
	if d := c.said/float64(c.n) - c.share(c.met); d < -0.12 || d > 0.12 {
		t.Errorf("%.2f of the deadlines were to be met, %.2f were", c.said/float64(c.n), c.share(c.met))
	}
}

// A batch that asks until it is sure is forecast by how many answers labels took, and is foreseen
// as well as others.
func TestUntilIsForeseen(t *testing.T) {
	if testing.Short() {
		t.Skip("dozens of worlds, each forecast and let go on: left out of short runs")
	}
	t.Parallel()
	const seeds = 40
	var c tally
	for seed := range seeds {
		r := float64(seed%7)/6 + 0.5
		hard := aBatch(2, 180, label.Until(0.97, 2, 12).WithClasses(2), 30*r)
		hard.agree = 0.7
		w := newTruth(t, uint64(seed), 40, "wfs", aBatch(1, 250, label.Until(0.99, 2, 10).WithClasses(2), 30*r), hard)
		w.until(dawn.Add(time.Duration(40+2*seed) * time.Minute))
		s := w.stateNow()
		f := forecastOf(t, s, forecast.Options{Seed: uint64(seed), Reps: 40})
		w.until(dawn.Add(48 * time.Hour))
		c.add(t, w, f)
	}
	t.Logf("%s", &c)
	c.check(t, seeds)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// aState is a pool of thirty people, of whom some are there, and three batches in the middle of its work.
func aState(t *testing.T, policy string, change ...func(*truthBatch)) *forecast.State {
	t.Helper()
	batches := []truthBatch{aBatch(1, 100, label.Count(1), 30), aBatch(2, 60, label.Agree(2, 3), 30), aBatch(3, 60, label.Count(2), 30)}
	for i := range batches {
		for _, c := range change {
			c(&batches[i])
		}
	}
	w := newTruth(t, 5, 30, policy, batches...)
	w.until(dawn.Add(10 * time.Minute))
	return w.stateNow()
}

func forecastOf(t *testing.T, s *forecast.State, o forecast.Options) *forecast.Result {
	t.Helper()
	r, err := forecast.Forecast(ctx, s, o)
	ok(t, err)
	return r
}

func TestTheSameSeedGivesTheSame(t *testing.T) {
	t.Parallel()
	s := aState(t, "wfs")
	o := forecast.Options{Reps: 20, Seed: 9, Policies: []string{"fifo", "wfs"}, Cores: 1}
	one := forecastOf(t, s, o)
	if !reflect.DeepEqual(one.Policies, []string{"wfs", "fifo"}) || one.Reps != 20 || len(one.Batches) != 3 || one.Cycles < 20*100 {
		t.Errorf("the forecast is %+v", one)
	}
	o.Cores = 3
	if two := forecastOf(t, s, o); !reflect.DeepEqual(one, two) {
		t.Errorf("on three cores it is\n%+v, on one\n%+v", two, one)
	}
	o.Seed = 10
	if two := forecastOf(t, s, o); reflect.DeepEqual(one.Batches, two.Batches) {
		t.Error("another seed gives the same")
	}
	// The state goes through JSON unharmed.
	data, err := json.Marshal(s)
	ok(t, err)
	var back forecast.State
	ok(t, json.Unmarshal(data, &back))
	o.Seed = 9
	if two := forecastOf(t, &back, o); !reflect.DeepEqual(one, two) {
		t.Errorf("from JSON it is\n%+v, not\n%+v", two, one)
	}
	again, err := json.Marshal(&back)
	ok(t, err)
	if string(again) != string(data) {
		t.Errorf("JSON changes from\n%s\nto\n%s", data, again)
	}
}

// TestPolicyMatters: under fifo the first batch is done first, whatever comes of
// the others.
func TestPolicyMatters(t *testing.T) {
	t.Parallel()
	r := forecastOf(t, aState(t, "wfs"), forecast.Options{Reps: 40, Policies: []string{"fifo"}})
	first, last := r.Batches[0], r.Batches[2]
	if fifo, wfs := first.Finish[1], first.Finish[0]; !fifo.Median.Before(wfs.Median) {
		t.Errorf("the first batch ends at %s under fifo, at %s under wfs", fifo.Median, wfs.Median)
	}
	if fifo, wfs := last.Finish[1], last.Finish[0]; fifo.Median.Before(wfs.Median) {
		t.Errorf("the last batch ends at %s under fifo, at %s under wfs", fifo.Median, wfs.Median)
	}
}

// TestWhatStandsStill: nothing comes of what is paused or stopped, or of what
// nobody may do, and it holds nothing else up.
func TestWhatStandsStill(t *testing.T) {
	t.Parallel()
	deadline := dawn.Add(3 * time.Hour)
	for name, still := range map[string]func(*forecast.State){
		"paused":              func(s *forecast.State) { s.Snapshot.Batches[0].Progress.State = crowd.BatchOnHold },
		"stopped":             func(s *forecast.State) { s.Snapshot.Batches[0].Progress.Stopped = true },
		"nobody is qualified": func(s *forecast.State) { s.Snapshot.Batches[0].Spec.Requirements = needs("french") },
		"only one who is not of the pool is invited": func(s *forecast.State) {
			b := &s.Snapshot.Batches[0]
			b.Assignments, b.Progress.Fresh, b.Progress.Planned, b.Progress.Completed = nil, 1, 100, 0
			b.Spec.Invited = map[crowd.WorkerID][]uint32{99: numbers(100)}
		},
	} {
		s := aState(t, "wfs")
		s.Snapshot.Batches[0].Progress.Deadline = deadline
		still(s)
		data, err := json.Marshal(s)
		ok(t, err)
		var back forecast.State
		ok(t, json.Unmarshal(data, &back))
		r := forecastOf(t, &back, forecast.Options{Reps: 20})
		x := r.Batches[0].Finish[0]
		if !x.Low.IsZero() || x.LowIn != nil || x.Unfinished != 1 || x.Chance == nil || x.Chance.Value != 0 {
			t.Errorf("%s: it is done at %+v", name, x)
		}
		if y := r.Batches[1].Finish[0]; y.Median.IsZero() {
			t.Errorf("%s: another batch is not done: %+v", name, y)
		}
	}
}

func TestHorizon(t *testing.T) {
	t.Parallel()
	s := aState(t, "wfs")
	if r := forecastOf(t, s, forecast.Options{Reps: 10}); !r.Horizon.Equal(s.Now.Add(24 * time.Hour)) {
		t.Errorf("without a deadline it looks until %s", r.Horizon)
	}
	late := s.Now.Add(50 * time.Hour)
	s.Snapshot.Batches[1].Progress.Deadline = late
	if r := forecastOf(t, s, forecast.Options{Reps: 10}); r.Horizon.Before(late) || r.Horizon.After(late.Add(time.Hour)) {
		t.Errorf("with a deadline at %s it looks until %s", late, r.Horizon)
	}
	r := forecastOf(t, s, forecast.Options{Reps: 10, Horizon: time.Second})
	for _, b := range r.Batches {
		if x := b.Finish[0]; x.Unfinished != 1 || x.Chance != nil {
			t.Errorf("in a second %s is %+v", b.ID, x)
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	s := aState(t, "wfs")
	for name, o := range map[string]forecast.Options{
		"a policy of no kind": {Policies: []string{"best"}}, "less than no repetitions": {Reps: -1}, "too many": {Reps: 1 << 30},
		"backwards": {Horizon: -1}, "too far": {Horizon: 1000 * 24 * time.Hour},
	} {
		_, err := forecast.Forecast(ctx, s, o)
		refused(t, name, err, crowd.Invalid)
	}
	_, err := forecast.Forecast(ctx, s, forecast.Options{Budget: 500})
	refused(t, "too big", err, crowd.TooLarge)
	if r := forecastOf(t, s, forecast.Options{Budget: 10_000}); r.Reps < forecast.MinReps || r.Reps > 60 || r.Cycles > 15_000 {
		t.Errorf("for 10,000 assignments it makes %d repetitions of %d", r.Reps, r.Cycles)
	}
	told := forecastOf(t, s, forecast.Options{Budget: 30_000})
	other := aState(t, "wfs")
	untold(other)
	if without := forecastOf(t, other, forecast.Options{Budget: 30_000}); told.Reps >= without.Reps {
		t.Errorf("to tell people apart costs nothing: %d repetitions, without %d", told.Reps, without.Reps)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := forecast.Forecast(done, s, forecast.Options{}); err == nil {
		t.Error("a forecast that nobody waits for came to its end")
	}
	s.Snapshot.Batches = nil
	if r := forecastOf(t, s, forecast.Options{}); len(r.Batches) != 0 || r.Cycles != 0 {
		t.Errorf("of an empty pool: %+v", r)
	}
}

// TestMuchThatComesToNothing: where nine tasks of ten are given back, there are
// ten times as many hand-outs, and the budget holds all the same.
func TestMuchThatComesToNothing(t *testing.T) {
	t.Parallel()
	s := aState(t, "wfs")
	s.Observed.HandOuts, s.Observed.GivenUp = 9900, 9000
	const budget = 30_000
	r := forecastOf(t, s, forecast.Options{Budget: budget})
	if r.Reps < forecast.MinReps || r.Cycles < budget/4 || r.Cycles > budget*5/4 {
		t.Errorf("for %d assignments it makes %d repetitions of %d in all", budget, r.Reps, r.Cycles)
	}
}

// TestTooManyArrivals: a repetition keeps those who come in memory, so their
// number is bounded whatever the budget.
func TestTooManyArrivals(t *testing.T) {
	t.Parallel()
	s := aState(t, "wfs")
	s.Observed.Arrivals, s.Observed.Away = 1e6, 30*time.Hour // a million an hour
	_, err := forecast.Forecast(ctx, s, forecast.Options{Budget: math.MaxInt64, Reps: 1})
	refused(t, "24 million arrivals", err, crowd.TooLarge)
	forecastOf(t, s, forecast.Options{Budget: math.MaxInt64, Reps: 1, Horizon: time.Minute})
}

// TestWhatIsRareIsNotCertain: how often tasks are given up is drawn again in each
// repetition, around what was seen; where nothing was, nothing is.
func TestWhatIsRareIsNotCertain(t *testing.T) {
	t.Parallel()
	s := aState(t, "wfs")
	mean := func(handOuts, gaveUp, lost int) (m, v, square float64) {
		s.Observed.HandOuts, s.Observed.GivenUp, s.Observed.Lost = handOuts, gaveUp, lost
		const reps = 2000
		for rep := range reps {
			g, l := forecast.Rare(s, 1, rep)
			m, v, square = m+g/reps, v+l/reps, square+g*g/reps
		}
		return m, v, math.Sqrt(square - m*m)
	}
	if g, l, sd := mean(900, 200, 50); math.Abs(g-0.2) > 0.005 || math.Abs(l-0.0505) > 0.003 || math.Abs(sd-0.0126) > 0.002 {
		t.Errorf("of 900 hand-outs 200 were given up and 50 lost: %.4f ± %.4f and %.4f", g, sd, l)
	}
	if g, l, _ := mean(0, 0, 0); g != 0 || math.Abs(l-0.005) > 0.001 {
		t.Errorf("of no hand-outs: %.4f given up and %.4f lost", g, l)
	}
}

// TestPeopleComeAsOftenAsTheyDid: at a rate for each member who is away.
func TestPeopleComeAsOftenAsTheyDid(t *testing.T) {
	t.Parallel()
	s := aState(t, "wfs") // thirty members
	s.Observed.Arrivals, s.Observed.Away = 5e4, 1e5*time.Hour
	n, last := 0.0, time.Duration(0)
	const reps = 50
	for rep := range reps {
		at := forecast.Comings(s, 1, rep)
		n += float64(len(at)) / reps
		last = max(last, at[len(at)-1])
		if !slices.IsSorted(at) {
			t.Fatalf("people come at %v", at)
		}
	}
	if math.Abs(n-0.5*30*24) > 10 || last > 24*time.Hour || last < 23*time.Hour {
		t.Errorf("in a day people come %.1f times, the last one after %s; want 360", n, last)
	}
	s.Snapshot.Workers = nil
	if at := forecast.Comings(s, 1, 0); len(at) != 0 {
		t.Errorf("in a pool of nobody people come at %v", at)
	}
}

// TestWhoHoldsATaskForLong: a worker who holds a task is there, though there was no
// other sign of them.
func TestWhoHoldsATaskForLong(t *testing.T) {
	t.Parallel()
	s := aState(t, "wfs")
	before := s.Basis().Present
	b := &s.Snapshot.Batches[0]
	a := &b.Assignments[len(b.Assignments)-1]
	if a.State != crowd.Assigned {
		t.Fatalf("nobody holds %s", a.ID)
	}
	s.Observed.Present = slices.DeleteFunc(s.Observed.Present, func(p forecast.Person) bool { return p.Worker == a.Worker })
	if got := s.Basis().Present; got != before-1 {
		t.Errorf("%g people are there without the worker, %g with", got, before)
	}
	a.At = s.Observed.Since.Add(-time.Hour)
	if got := s.Basis().Present; got != before {
		t.Errorf("%g people are there; with the worker who holds a task for long, it is %g", got, before)
	}
	for i := range s.Snapshot.Workers {
		if w := &s.Snapshot.Workers[i]; w.ID == a.Worker {
			w.Suspended = true
		}
	}
	if got := s.Basis().Present; got != before-1 {
		t.Errorf("%g people are there, one who may not work any more among them", got)
	}
}

// TestTraining: the tasks of a training batch are done by newcomers, before
// others, and by nobody else.
func TestTraining(t *testing.T) {
	t.Parallel()
	s := aState(t, "wfs")
	b := &s.Snapshot.Batches[0]
	b.Spec.Training, b.Assignments = true, nil
	b.Spec.Tasks, b.Progress.Fresh, b.Progress.Issued, b.Progress.OldestOpen = 20, 1, 0, 1
	b.Progress.Planned, b.Progress.Completed, b.Progress.Labelled, b.Progress.Worked, b.Progress.Certainty = 20, 0, 0, 0, 0
	raw := *s.Snapshot
	s.Snapshot = &raw
	s.Snapshot.Duties = []engine.Duty{{Worker: 2, On: true, Since: dawn, Why: engine.Left}}
	forecast.Hide(s.Snapshot)
	if r := forecastOf(t, through(t, s), forecast.Options{Reps: 10}); r.Batches[0].Finish[0].Unfinished != 1 {
		t.Errorf("without newcomers a training batch is done: %+v", r.Batches[0].Finish[0])
	}
	for _, w := range s.Snapshot.Workers[:20] {
		s.Snapshot.Duties = append(s.Snapshot.Duties, engine.Duty{Worker: w.ID, Training: 3, On: true, Since: dawn})
	}
	forecast.Hide(s.Snapshot)
	if d := s.Snapshot.Duties[0]; len(s.Snapshot.Duties) != 20 || d.On || !d.Since.IsZero() || d.Training != 3 {
		t.Errorf("hidden, the duties are %+v", s.Snapshot.Duties)
	}
	r := forecastOf(t, through(t, s), forecast.Options{Reps: 10})
	if x := r.Batches[0].Finish[0]; x.Unfinished > 0.5 {
		t.Errorf("with twenty newcomers it is not done: %+v", x)
	}
	n, err := forecast.Checked(through(t, s), "wfs", 1, 3)
	ok(t, err)
	if n < 100 {
		t.Errorf("only %d hand-outs were looked at", n)
	}
	s.Snapshot.Duties[0].Training = engine.MaxTraining + 1
	refused(t, "too much training", s.Validate(), crowd.Invalid)
	s.Snapshot.Duties[0] = engine.Duty{Worker: 99, Training: 1}
	refused(t, "training of nobody", s.Validate(), crowd.Invalid)
}

// through sends a state through JSON.
func through(t *testing.T, s *forecast.State) *forecast.State {
	t.Helper()
	data, err := json.Marshal(s)
	ok(t, err)
	var back forecast.State
	ok(t, json.Unmarshal(data, &back))
	return &back
}

func refused(t *testing.T, what string, err error, want crowd.Code) {
	t.Helper()
	if got := crowd.CodeOf(err); err == nil || got != want {
		t.Errorf("%s: the error %v of code %q, want %q", what, err, got, want)
	}
}

// TestWhatMustHoldHolds runs forecasts of many states with everything verified
// after each event: people vanish, give up, hold tasks at the start, come back.
func TestWhatMustHoldHolds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		w := newTruth(t, seed, 15, "wfs", aBatch(1, 60, label.Count(1), 30), aBatch(2, 30, label.Agree(2, 3), 60), aBatch(3, 20, label.Count(3), 30))
		w.workers[3].Suspended, w.workers[4].Suspended = true, true
		w.until(dawn.Add(time.Duration(1+seed) * 3 * time.Minute))
		s := w.stateNow()
		s.Observed.HandOuts, s.Observed.Lost, s.Observed.GivenUp = 100, 10, 20
		n, err := forecast.Checked(s, []string{"wfs", "tenant-fair(dafs)", "market"}[seed%3], seed, 3)
		ok(t, err)
		if n < 100 {
			t.Errorf("seed %d: only %d hand-outs were looked at", seed, n)
		}
	}
}
