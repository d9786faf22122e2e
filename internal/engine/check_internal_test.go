package engine

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// TestCheckSees proves that Check looks: a pool in which two of three people
// hold a task, and one of two answers is in, is spoilt in one way at a time.
func TestCheckSees(t *testing.T) {
	t.Parallel()
	var (
		now  = time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)
		held = func(e *Engine) *assignment { return e.workers[1].holds }
		b1   = func(e *Engine) *batch { return e.batches[1] }
	)
	setup := func(t *testing.T) *Engine {
		e := New(Config{Policy: sched.MustParse("fs")})
		for _, err := range []error{
			e.SetTenant(now, Tenant{ID: 1, Weight: 1}), e.SetWorker(now, Worker{ID: 1}), e.SetWorker(now, Worker{ID: 2}), e.SetWorker(now, Worker{ID: 3}),
			e.Launch(now, Spec{ID: 1, Tenant: 1, Tasks: 5, Rule: label.Count(2), Reward: 1, Budget: 10, Priority: 1, Lease: time.Hour, TaskTime: time.Minute}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		h, _, _ := e.Ready(now, 1)
		e.Submit(now, 1, h.Assignment, "1", "1")
		e.Ready(now, 1)
		e.Ready(now, 2)
		if err := e.Check(); err != nil {
			t.Fatal(err)
		}
		return e
	}
	cases := map[string]func(e *Engine){
		"a lease without a timer":         func(e *Engine) { e.timers.unset(&e.workers[1].lease) },
		"a holder who waits":              func(e *Engine) { e.waiting.push(e.workers[1]) },
		"a holder whose lease ran out":    func(e *Engine) { held(e).state = crowd.Expired },
		"a task in no hand":               func(e *Engine) { e.workers[1].holds = nil },
		"a holder nobody knows":           func(e *Engine) { delete(e.workers, 1) },
		"an assignment not in the log":    func(e *Engine) { b1(e).log.drop(held(e).n) },
		"an assignment only in the log":   func(e *Engine) { b1(e).log.add(&assignment{task: held(e).task, worker: held(e).worker}) },
		"one person twice":                func(e *Engine) { held(e).task.give(held(e)) },
		"a task with too many people":     func(e *Engine) { held(e).task.planned = 0 },
		"live people miscounted":          func(e *Engine) { held(e).task.live++ },
		"answers miscounted":              func(e *Engine) { held(e).counted = true },
		"a task that wants no one listed": func(e *Engine) { held(e).task.planned = 1 },
		"a task that wants one unlisted":  func(e *Engine) { b1(e).backlog.remove(held(e).task) },
		"open tasks miscounted":           func(e *Engine) { b1(e).open++ },
		"more labels than tasks":          func(e *Engine) { b1(e).labelled = 5 },
		"labels miscounted":               func(e *Engine) { b1(e).labelled = 1 },
		"work planned that is not there":  func(e *Engine) { b1(e).planned++ },
		"answers of nobody":               func(e *Engine) { b1(e).completed++ },
		"running miscounted":              func(e *Engine) { b1(e).running++ },
		"less money than promised":        func(e *Engine) { b1(e).escrow = 1 },
		"a worker left idle":              func(e *Engine) { e.waiting.push(e.workers[3]) },
		"a batch that should have ended": func(e *Engine) {
			b := b1(e)
			for _, t := range b.openTasks() {
				for _, a := range t.given {
					a.state, a.worker.holds = crowd.Returned, nil
				}
				t.forget()
			}
			e.timers = nil
			b.running, b.labelled, b.planned, b.backlog.fresh = 0, 5, b.completed, 6
		},
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			e := setup(t)
			spoil(e)
			if err := e.Check(); err == nil {
				t.Error("Check found nothing")
			} else {
				t.Log(err)
			}
		})
	}
}
