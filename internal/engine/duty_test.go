package engine_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// TestSilence: somebody comes on duty at start and is heard of again after a while
// in one way or another. They go at that time and the silence later, not before.
func TestSilence(t *testing.T) {
	t.Parallel()
	const silence, lease = 10 * time.Minute, 4 * time.Minute
	held := func(t *testing.T, e *engine.Engine) engine.Handout {
		h, ok := e.Holds(1)
		if !ok {
			t.Fatal("they hold nothing")
		}
		return h
	}
	at := func(d time.Duration) time.Time { return start.Add(d) }
	cases := map[string]struct {
		tasks int
		do    func(t *testing.T, e *engine.Engine)
		want  time.Duration // of the last sign of life
	}{
		"nothing":    {0, func(*testing.T, *engine.Engine) {}, 0},
		"start duty": {0, func(t *testing.T, e *engine.Engine) { must(t, e.StartDuty(at(time.Minute), 1)) }, time.Minute},
		"a wait": {0, func(t *testing.T, e *engine.Engine) {
			e.Ready(at(time.Minute), 1)
			tickUntil(e, at(3*time.Hour))
			e.Leave(at(3*time.Hour), 1)
		}, 3 * time.Hour},
		"asked for a wait that had ended": {0, func(t *testing.T, e *engine.Engine) {
			e.Ready(at(time.Minute), 1)
			e.Leave(at(2*time.Minute), 1)
			e.Leave(at(3*time.Minute), 1)
		}, 2 * time.Minute},
		"an answer": {9, func(t *testing.T, e *engine.Engine) {
			e.Ready(at(time.Minute), 1)
			_, err := e.Submit(at(3*time.Minute), 1, held(t, e).Assignment, "A", "A")
			must(t, err)
		}, 3 * time.Minute},
		"a task given back": {9, func(t *testing.T, e *engine.Engine) {
			e.Ready(at(time.Minute), 1)
			must(t, e.Return(at(3*time.Minute), 1, held(t, e).Assignment))
		}, 3 * time.Minute},
		"a task skipped": {9, func(t *testing.T, e *engine.Engine) {
			e.Ready(at(time.Minute), 1)
			must(t, e.Skip(at(3*time.Minute), 1, held(t, e).Assignment))
		}, 3 * time.Minute},
		"a lease": {9, func(t *testing.T, e *engine.Engine) {
			e.Ready(at(time.Minute), 1)
			tickUntil(e, at(6*time.Minute))
		}, time.Minute},
		"asked again with a task in hand, then a lease": {9, func(t *testing.T, e *engine.Engine) {
			e.Ready(at(time.Minute), 1)
			e.Ready(at(2*time.Minute), 1)
			tickUntil(e, at(6*time.Minute))
		}, 2 * time.Minute},
		"a heartbeat, then a lease": {9, func(t *testing.T, e *engine.Engine) {
			e.Ready(at(time.Minute), 1)
			_, err := e.Heartbeat(at(2*time.Minute), 1, held(t, e).Assignment)
			must(t, err)
			tickUntil(e, at(8*time.Minute))
		}, 2 * time.Minute},
		"a late answer": {9, func(t *testing.T, e *engine.Engine) {
			e.Ready(at(time.Minute), 1)
			h := held(t, e)
			tickUntil(e, at(6*time.Minute))
			out, err := e.Submit(at(7*time.Minute), 1, h.Assignment, "A", "A")
			if must(t, err); !out.Late {
				t.Errorf("%+v", out)
			}
		}, 7 * time.Minute},
		"a late answer that is only kept": {9, func(t *testing.T, e *engine.Engine) {
			e.Ready(at(time.Minute), 1)
			h := held(t, e)
			must(t, e.Cancel(at(2*time.Minute), 1))
			e.KeepLate(at(3*time.Minute), 1, h.Assignment, "A", "A")
		}, 3 * time.Minute},
		"the batch's end": {9, func(t *testing.T, e *engine.Engine) {
			e.Ready(at(time.Minute), 1)
			must(t, e.Cancel(at(3*time.Minute), 1))
		}, time.Minute},
		"somebody else's doings": {9, func(t *testing.T, e *engine.Engine) {
			e.Ready(at(time.Minute), 2)
			h, _ := e.Holds(2)
			e.Submit(at(2*time.Minute), 1, h.Assignment, "A", "A")
			e.Heartbeat(at(2*time.Minute), 1, h.Assignment)
			e.Return(at(2*time.Minute), 1, h.Assignment)
		}, 0},
		"what others do to them": {0, func(t *testing.T, e *engine.Engine) {
			must(t, e.Train(at(time.Minute), 1, 2))
			must(t, e.SetWorker(at(time.Minute), engine.Worker{ID: 1}))
			must(t, e.SetRetainer(at(time.Minute), engine.Retainer{Called: true, Silence: silence}))
		}, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := paidPool(t, 2, engine.Retainer{Called: true, Silence: silence}, 0)
			if c.tasks > 0 {
				s := benchSpec(1, c.tasks)
				s.Lease, s.Rule, s.SmallCrowdOK = lease, label.Count(1), true
				must(t, e.Launch(start, s))
			}
			c.do(t, e)
			gone := at(c.want + silence)
			tickUntil(e, gone.Add(-1))
			if x, _ := e.OnCall(gone, 1); !x.On || x.Seen != at(c.want) {
				t.Fatalf("a nanosecond before: %+v", x)
			}
			tickUntil(e, gone)
			if x, _ := e.OnCall(gone, 1); x.On {
				t.Errorf("at %s: %+v", gone.Sub(start), x)
			}
			var ch engine.Changes
			e.Take(&ch)
			told := 0
			for _, x := range ch.Shifts {
				if x == (engine.Shift{Worker: 1, Why: engine.Silent}) {
					told++
				}
			}
			if told != 1 {
				t.Errorf("told %d times: %+v", told, ch.Shifts)
			}
			must(t, e.Check())
		})
	}
}
