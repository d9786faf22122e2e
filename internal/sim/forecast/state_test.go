package forecast_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/sim/forecast"
	"github.com/throng-dev/throng/sla"
)

func needs(name string) []engine.Requirement { return []engine.Requirement{{Name: name, Min: 1}} }

func numbers(n uint32) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i) + 1
	}
	return list
}

// TestBadStates: what is not a state is refused with the field that is wrong,
// before anything is run.
func TestBadStates(t *testing.T) {
	t.Parallel()
	good, err := json.Marshal(aState(t, "wfs"))
	ok(t, err)
	for name, k := range map[string]struct{ old, new, says string }{
		"no JSON":                  {`{"version"`, `{version`, "invalid character"},
		"no version":               {`"version":3,`, ``, "version: is missing"},
		"another version":          {`"version":3,`, `"version":4,`, "version: 4 is not known"},
		"a field too many":         {`"version":3,`, `"version":3,"password":"x",`, "password"},
		"no time":                  {`"now":"2026-05-04T09:10:00Z"`, `"now":"0001-01-01T00:00:00Z"`, "now: is missing"},
		"no such policy":           {`"policy":"wfs"`, `"policy":"best"`, "policy: "},
		"a worker twice":           {`"workers":[{"id":1}`, `"workers":[{"id":2}`, "workers: "},
		"a tenant that is absent":  {`"tenant":"n1"`, `"tenant":"n2"`, "its tenant n2 is not there"},
		"a batch twice":            {`{"id":"b2"`, `{"id":"b1"`, "out of order"},
		"a batch of no tasks":      {`"tasks":100`, `"tasks":0`, "at least one task"},
		"a batch that is over":     {`"state":"running"`, `"state":"done"`, "not running"},
		"no time for a task":       {`"task_time_seconds":30`, `"task_time_seconds":-30`, "task_time"},
		"no lease":                 {`"lease_seconds":600`, `"lease_seconds":1e300`, "lease"},
		"no reward":                {`"reward_micros":10`, `"reward_micros":0`, "reward"},
		"no redundancy":            {`"redundancy":{"count":1}`, `"redundancy":{"count":0}`, "count"},
		"more answers than wanted": {`"planned":100`, `"planned":1`, "counts"},
		"a task beyond the end":    {`"assignments":[{"n":`, `"assignments":[{"n":1,"task":1000,"worker":1,"state":"assigned","at":"2026-05-04T09:00:00Z","expires":"2026-05-04T09:00:00Z"},{"n":`, "of no task"},
		"an unknown state":         {`"state":"assigned"`, `"state":"lost"`, "state is unknown"},
		"nothing observed":         {`"observed":{`, `"observed":null,"x":{`, "x"},
		"half an arrival less":     {`"arrivals":`, `"arrivals":-1,"departures":0,"_":`, "_"},
		"a chance above 1":         {`"chance":1`, `"chance":1.5`, "presence"},
		"a batch of no id":         {`"answers":{"b1"`, `"answers":{"bx"`, "not the id of a batch"},
		"answers of nobody":        {`"by":[{"worker":3,`, `"by":[{"worker":0,`, "the answers of b1"},
		"no answers of somebody":   {`"by":[{"worker":3,"n":1,`, `"by":[{"worker":3,"n":0,`, "the answers of b1"},
		"answers out of order":     {`"by":[{"worker":3,`, `"by":[{"worker":30,`, "the answers of b1"},
		"answers that do not add":  {`"by":[{"worker":3,"n":1,`, `"by":[{"worker":3,"n":2,`, "the answers of b1"},
		"times that cannot be":     {`"by":[{"worker":3,"n":1,"log_mean":`, `"by":[{"worker":3,"n":1,"log_mean":9`, "the answers of b1"},
		"training below none":      {`"workers":[{"id":1}`, `"workers":[{"id":1,"training":-1}`, "tasks of training"},
	} {
		text := replaced(t, string(good), k.old, k.new)
		var s forecast.State
		if err := json.Unmarshal([]byte(text), &s); err == nil || !strings.Contains(err.Error(), k.says) {
			t.Errorf("%s: the error is %v, want %q", name, err, k.says)
		}
	}
	var s forecast.State
	ok(t, json.Unmarshal(good, &s))
	s.Observed.Departures = math.NaN()
	refused(t, "departures that are no number", s.Validate(), crowd.Invalid)
	s.Observed.Departures, s.Observed.HandOuts = 0, -1
	refused(t, "fewer than no hand-outs", s.Validate(), crowd.Invalid)
}

// replaced puts one text in the place of another, which must be there.
func replaced(t *testing.T, text, old, with string) string {
	t.Helper()
	out := strings.Replace(text, old, with, 1)
	if out == text {
		t.Fatalf("there is no %s in %s", old, text)
	}
	return out
}

// FuzzState: whatever is read is refused or can be run.
func FuzzState(f *testing.F) {
	good, err := json.Marshal(aState(&testing.T{}, "wfs", func(b *truthBatch) { b.spec.Tasks = 12 }))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(strings.ReplaceAll(string(good), `"task":2`, `"task":3`)))
	f.Add([]byte(strings.ReplaceAll(string(good), `"worker":2`, `"worker":1`)))
	f.Add([]byte(strings.ReplaceAll(string(good), `"fresh"`, `"Fresh"`)))
	f.Add([]byte(strings.ReplaceAll(string(good), `"deadline"`, `"ends_at"`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s forecast.State
		if json.Unmarshal(data, &s) != nil {
			return
		}
		_, _ = forecast.Forecast(ctx, &s, forecast.Options{Reps: 1, Budget: 100_000, Horizon: time.Hour}) // refuses, but does not panic
	})
}

func sq(x float64) float64 { return x * x }

// TestTermsOfStates: what is left out of an SLA where it is nothing has its name without an
// ending, and states of earlier programs, which wrote one, are read.
func TestTermsOfStates(t *testing.T) {
	t.Parallel()
	s := aState(t, "wfs")
	b := &s.Snapshot.Batches[0]
	b.Spec.SLA = &engine.Terms{Penalty: sla.Penalty{Kind: sla.Linear, After: time.Hour, Cost: 5, Every: time.Minute}, Tail: time.Minute, Work: 90 * time.Second, Others: []sla.Penalty{{Kind: sla.Linear, After: time.Minute, Cost: 7, Every: time.Minute}}}
	for _, n := range numbers(b.Spec.Tasks)[b.Progress.Labelled:] {
		b.Items = append(b.Items, engine.ItemSnapshot{N: n, Born: s.Now})
	}
	data, err := json.Marshal(s)
	ok(t, err)
	if text := string(data); !strings.Contains(text, `"work_seconds":90,"other_classes":[{`) || strings.Contains(text, "omitempty") {
		t.Errorf("the state is %s", text[:min(len(text), 3000)])
	}
	old := strings.NewReplacer(`"work_seconds":`, `"work_seconds,omitempty":`, `"other_classes":`, `"other_classes,omitempty":`).Replace(string(data))
	for _, text := range []string{string(data), old} {
		var back forecast.State
		ok(t, json.Unmarshal([]byte(text), &back))
		if got := back.Snapshot.Batches[0].Spec.SLA; !reflect.DeepEqual(got, b.Spec.SLA) {
			t.Errorf("read back, the SLA is %+v, want %+v", got, b.Spec.SLA)
		}
	}
}

func TestHide(t *testing.T) {
	t.Parallel()
	b := crowd.BatchID(1)
	answer := func(n, task uint32, key string, counted bool) engine.AssignmentSnapshot {
		return engine.AssignmentSnapshot{ID: b.Assignment(n), Task: b.Task(task), State: crowd.Submitted, Key: key, Counted: counted}
	}
	s := &engine.Snapshot{Batches: []engine.BatchSnapshot{{Assignments: []engine.AssignmentSnapshot{
		answer(1, 1, "a", true), answer(2, 1, "b", true), answer(3, 1, "b", true), answer(4, 2, "b", true), answer(5, 1, "c", false),
		{ID: b.Assignment(6), Task: b.Task(2), State: crowd.Assigned, Key: "7"}, answer(7, 1, "c", true), answer(8, 1, "c", true), answer(9, 1, "c", true),
	}}}}
	for i := 6; i < 9; i++ {
		s.Batches[0].Assignments[i].Disregarded = true
	}
	forecast.Hide(s)
	want := []string{"2", "1", "1", "1", "3", "", "3", "3", "3"}
	for i, a := range s.Batches[0].Assignments {
		if a.Key != want[i] {
			t.Errorf("answer %d is %q, want %q", i+1, a.Key, want[i])
		}
	}
}

func TestObserve(t *testing.T) {
	t.Parallel()
	now := dawn.Add(3 * time.Hour)
	at := func(minutes float64) time.Time { return dawn.Add(time.Duration(minutes * float64(time.Minute))) }
	sign := func(who crowd.WorkerID, from, to float64, state crowd.AssignmentState) forecast.Sign {
		s := forecast.Sign{Worker: who, Batch: 1, State: state, At: at(from)}
		if to > 0 {
			s.Ended = at(to)
		}
		return s
	}
	members := []engine.Worker{{ID: 1}, {ID: 2}, {ID: 3}, {ID: 4, Suspended: true}, {ID: 5}, {ID: 6}}
	o := forecast.Observe(now, dawn, []forecast.Sign{
		sign(1, 5, 10, crowd.Submitted), sign(1, 20, 22, crowd.Submitted), // was there, went, …
		sign(1, 60, 70, crowd.Submitted), sign(1, 80, 90, crowd.Skipped), // … came back, went
		sign(2, 100, 102, crowd.Submitted), sign(2, 110, 140, crowd.Expired), // came, was lost
		sign(3, 160, 178.5, crowd.Submitted), // came; a minute and a half ago
		sign(4, 170, 180, crowd.Submitted),   // may not work any more
		sign(5, 179, 0, crowd.Assigned),      // came, is here
	}, members, []crowd.WorkerID{6})
	basis := (&forecast.State{Now: now, Snapshot: &engine.Snapshot{Workers: members}, Observed: o}).Basis()
	if early := basis.Early(); early != 2 || !basis.ArrivalsSince(now).Equal(at(15)) || !basis.ArrivalsSince(at(5)).Equal(at(5)) { // 1 was there, and 6 without a sign
		t.Errorf("%v were seen until %s", early, basis.ArrivalsSince(now))
	}
	if o.Arrivals != 4 || o.Departures != 3.5 || o.HandOuts != 8 || o.GivenUp != 1 || o.Lost != 1 {
		t.Errorf("observed %+v", o)
	}
	minutes := func(d time.Duration) float64 { return d.Minutes() }
	if got := minutes(o.Presence); got != 17+30+10+18.5+1 {
		t.Errorf("they were there for %g minutes", got)
	}
	if got := minutes(o.Away); got != 5*165-(7+30+10+18.5+1) {
		t.Errorf("they were away for %g minutes", got)
	}
	present := map[crowd.WorkerID]float64{}
	for _, p := range o.Present {
		present[p.Worker] = p.Chance
	}
	if len(present) != 3 || present[3] != 0.5 || present[5] != 1 || present[6] != 1 {
		t.Errorf("present: %v", present)
	}
	// Minutes to 60 s: 5, 2 and 10 of the first, 2 of the second, 18.5, 10.
	ln := func(minutes float64) float64 { return math.Log(60 * minutes) }
	first := (ln(5) + ln(2) + ln(10)) / 3
	want := []forecast.Part{{1, 3, first, math.Sqrt((sq(ln(5)-first) + sq(ln(2)-first) + sq(ln(10)-first)) / 2)}, {2, 1, ln(2), 0}, {3, 1, ln(18.5), 0}, {4, 1, ln(10), 0}}
	a := o.Answers[1]
	if a.N != 6 || math.Abs(a.LogMean-(3*first+ln(2)+ln(18.5)+ln(10))/6) > 1e-9 || a.LogSD < 0.8 || a.LogSD > 1 || len(a.By) != len(want) {
		t.Fatalf("answers: %+v", a)
	}
	for i, p := range a.By {
		if w := want[i]; p.Worker != w.Worker || p.N != w.N || math.Abs(p.LogMean-w.LogMean) > 1e-9 || math.Abs(p.LogSD-w.LogSD) > 1e-9 {
			t.Errorf("of these, %+v; want %+v", p, w)
		}
	}
	// Where it is not known who waits, people may be there for longer.
	if o = forecast.Observe(now, dawn, []forecast.Sign{sign(3, 160, 178.5, crowd.Submitted)}, members, nil); o.Present[0].Chance != 0.9 {
		t.Errorf("present: %+v", o.Present)
	}
	// What happened while the state was read, or by a clock that is fast, counts
	// as of now.
	ahead := forecast.Observe(now, now.Add(time.Second), []forecast.Sign{
		sign(1, 180.1, 180.2, crowd.Submitted), sign(2, 180.3, 0, crowd.Assigned),
	}, members, nil)
	if ahead.Presence != 0 || ahead.Away != 0 || ahead.Arrivals != 0 || len(ahead.Present) != 2 || ahead.Present[0].Chance != 1 || !ahead.Since.Equal(now) {
		t.Errorf("of signs that are ahead: %+v", ahead)
	}
	// Nothing at all.
	if o = forecast.Observe(now, now, nil, nil, nil); o.Arrivals != 0 || o.Away != 0 || o.Present != nil {
		t.Errorf("of nothing: %+v", o)
	}
}
