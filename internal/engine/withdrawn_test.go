package engine_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/pool"
)

// TestWithdrawnAnswersLeaveTheLoad: what is wanted no more is no load, and what others
// want stays.
func TestWithdrawnAnswersLeaveTheLoad(t *testing.T) {
	t.Parallel()
	var fifty []uint32
	for n := range uint32(50) {
		fifty = append(fifty, n+1)
	}
	one := label.Count(1)
	for name, tc := range map[string]struct {
		withdraw func(e *engine.Engine, now time.Time) error
		left     float64 // answers that still count as arrived in the window
	}{
		"cancelled":                          {func(e *engine.Engine, now time.Time) error { return e.Cancel(now, 2) }, 30},
		"ended":                              {func(e *engine.Engine, now time.Time) error { return e.End(now, 2) }, 30},
		"tasks taken out":                    {func(e *engine.Engine, now time.Time) error { return e.Remove(now, 2, fifty...) }, 30 + 100},
		"redundancy lowered":                 {func(e *engine.Engine, now time.Time) error { return e.Edit(now, 2, engine.Edit{Rule: &one}) }, 30 + 100},
		"one of before the window cancelled": {func(e *engine.Engine, now time.Time) error { return e.Cancel(now, 1) }, 30 + 200},
		"as many taken out as were just added": {func(e *engine.Engine, now time.Time) error {
			must(t, e.Add(now, 1, engine.Addition{Had: 100, Tasks: 50}))
			return e.Remove(now, 1, fifty...)
		}, 30 + 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newPool(t, "fifo", 2)
			control, err := pool.New(pool.Settings{Window: 2 * time.Minute})
			must(t, err)
			var lambda float64
			for s := range 400 {
				now := start.Add(time.Duration(s) * time.Second)
				switch s {
				case 1:
					must(t, e.Launch(now, sized(1, 100, 2)))
				case 340:
					must(t, e.Launch(now, sized(3, 15, 2)))
				case 350:
					must(t, e.Launch(now, sized(2, 100, 2)))
				case 376:
					must(t, tc.withdraw(e, now))
				}
				r := e.Reading(now.Add(time.Second / 2))
				lambda = control.Step(now.Add(time.Second/2), &r, nil).Saw.Lambda
			}
			if got := lambda * 120; got < tc.left*0.98 || got > tc.left*1.02 {
				t.Errorf("%.1f answers count as arrived in the window, want %g", got, tc.left)
			}
		})
	}
}

func sized(id crowd.BatchID, tasks uint32, redundancy int) engine.Spec {
	s := benchSpec1(id)
	s.Tasks, s.Rule, s.Budget = tasks, label.Count(redundancy), crowd.Money(1000)*crowd.Unit
	return s
}
