package forecast_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/forecast"
	"github.com/throng-dev/throng/label"
)

var ctx = context.Background()

// TestCalibration stops a world in the middle, forecasts it, and lets it go on:
// of ten truths, about eight must fall into the band, about as many before as
// after the median, and deadlines must be met as often as was said.
func TestCalibration(t *testing.T) {
	t.Parallel()
	const seeds = 60
	in, below, n := 0, 0, 0
	said, met := 0.0, 0
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
		f, err := forecast.Forecast(ctx, s, forecast.Options{Seed: uint64(seed), Reps: 40})
		ok(t, err)
		w.until(dawn.Add(48 * time.Hour))
		for _, b := range f.Batches {
			end := w.state[b.ID].EndedAt
			x := b.Finish[0]
			if end.IsZero() || x.Median.IsZero() {
				t.Fatalf("seed %d, %s: not done in a day (%+v; truth %s)", seed, b.ID, x, end)
			}
			n++
			in += btoi(!end.Before(x.Low) && (x.High.IsZero() || !end.After(x.High)))
			below += btoi(end.Before(x.Median))
			said += x.Chance.Value
			met += btoi(!end.After(b.Deadline))
		}
	}
	t.Logf("%d forecasts: %d in the band, %d before the median; deadlines: %.1f said, %d met", n, in, below, said, met)
	if n < 2*seeds {
		t.Errorf("only %d forecasts were looked at", n)
	}
	share := func(k int) float64 { return float64(k) / float64(n) }
	if x := share(in); x < 0.68 || x > 0.92 {
		t.Errorf("%.2f of the truths are in the 80 %% band", x)
	}
	if x := share(below); x < 0.35 || x > 0.65 {
		t.Errorf("%.2f of the truths come before the median", x)
	}
	if d := said/float64(n) - share(met); d < -0.12 || d > 0.12 {
		t.Errorf("%.2f of the deadlines were to be met, %.2f were", said/float64(n), share(met))
	}
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
