package engine

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
	"github.com/throng-dev/throng/sla"
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
		"a worker left idle":              func(e *Engine) { e.StartDuty(now, 3); e.waiting.push(e.workers[3]) },
		"a batch that should have ended": func(e *Engine) {
			b := b1(e)
			for _, t := range b.openTasks() {
				for _, a := range t.given {
					a.state, a.worker.holds = crowd.Returned, nil
				}
				t.forget()
			}
			e.timers = timers{}
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

// TestCheckSeesOrder does the same with a batch that has an SLA: of its three tasks
// one has its label, one is in hand, and one waits.
func TestCheckSeesOrder(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)
	order := func(e *Engine) *order { return e.batches[1].backlog.order }
	setup := func(t *testing.T) *Engine {
		e := New(Config{Policy: sched.MustParse("penalty")})
		terms := &Terms{Penalty: sla.Penalty{Kind: sla.Constant, After: time.Hour, Cost: 1}}
		for _, err := range []error{
			e.SetTenant(now, Tenant{ID: 1, Weight: 1}), e.SetWorker(now, Worker{ID: 1}),
			e.Launch(now, Spec{ID: 1, Tenant: 1, Open: true, SLA: terms, Rule: label.Count(1), Reward: 1, Priority: 1, Lease: time.Hour, TaskTime: time.Minute}),
			e.Grow(now, 1, 1, make([]Item, 3)),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		h, _, _ := e.Ready(now, 1)
		e.Submit(now, 1, h.Assignment, "1", "1")
		e.Ready(now, 1)
		if err := e.Check(); err != nil {
			t.Fatal(err)
		}
		return e
	}
	cases := map[string]func(e *Engine){
		"a waiting task not in the order": func(e *Engine) { order(e).queue.Drop(3) },
		"a labelled task in the order":    func(e *Engine) { order(e).add(now, 1, now, Item{}) },
		"a task in hand in the order":     func(e *Engine) { order(e).back(now, 2) },
		"a task in hand in no place":      func(e *Engine) { delete(order(e).away, 2) },
		"a task aside twice":              func(e *Engine) { order(e).away[3] = sla.Request{}; order(e).away[4] = sla.Request{} },
		"a task that it does not know":    func(e *Engine) { delete(order(e).open, 2) },
		"a labelled task that it knows":   func(e *Engine) { order(e).open[1] = order(e).open[2] },
		"no calendar":                     func(e *Engine) { order(e).change.stop() },
		"another time in the calendar":    func(e *Engine) { e.timers.set(&order(e).change, now) },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			e := setup(t)
			spoil(e)
			if err := e.batches[1].checkOrder(e.batches[1].openTasks()); err == nil {
				t.Error("checkOrder found nothing")
			} else if e.Check() == nil {
				t.Error("Check does not ask checkOrder")
			} else {
				t.Log(err)
			}
		})
	}
}

// TestCheckSeesDuty does the same with duty: of four people, two wait and are paid,
// one holds a task and one is idle.
func TestCheckSeesDuty(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)
	setup := func(t *testing.T) *Engine {
		e := New(Config{Policy: sched.MustParse("fs")})
		e.SetTenant(now, Tenant{ID: 1, Weight: 1})
		for id := range crowd.WorkerID(5) {
			e.SetWorker(now, Worker{ID: id + 1})
		}
		for _, err := range []error{
			e.Launch(now, Spec{ID: 1, Tenant: 1, Tasks: 1, Rule: label.Count(1), Reward: 1, Budget: 10, Priority: 1, Lease: time.Hour, TaskTime: time.Minute}),
			e.SetRetainer(now, Retainer{Called: true, Rate: 7, Silence: time.Minute}), e.Fund(now, Account{Kind: Outside}, 1000),
			e.StartDuty(now, 1), e.StartDuty(now, 2), e.StartDuty(now, 3), e.StartDuty(now, 4),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for id := range crowd.WorkerID(3) {
			e.Ready(now.Add(time.Duration(id)*time.Second), id+1)
		}
		e.Withdraw(now.Add(10*time.Second), 1) // of both waits a part of a micro-unit is left
		if err := e.Check(); err != nil {
			t.Fatal(err)
		}
		return e
	}
	cases := map[string]func(e *Engine){
		"a holder off duty":                  func(e *Engine) { e.workers[1].on = false },
		"one who waits off duty":             func(e *Engine) { e.workers[2].on = false },
		"one on duty who is not counted":     func(e *Engine) { e.workers[5].on = true; e.expectToHear(e.workers[5]) },
		"people on duty miscounted":          func(e *Engine) { e.present++ },
		"people at work miscounted":          func(e *Engine) { e.busy-- },
		"people in training miscounted":      func(e *Engine) { e.learning++ },
		"the queue miscounted":               func(e *Engine) { e.waiting.n++ },
		"one suspended on duty":              func(e *Engine) { e.workers[4].suspended = true },
		"one about to go for nothing":        func(e *Engine) { e.workers[4].leaves = Left },
		"one off duty about to go":           func(e *Engine) { e.workers[5].leaves = Left },
		"one idle unnoticed":                 func(e *Engine) { e.workers[4].lease.stop() },
		"one idle noticed without a silence": func(e *Engine) { e.retainer.Silence = 0 },
		"one who waits in silence":           func(e *Engine) { e.timers.set(&e.workers[2].lease, now) },
		"one who waits to learn":             func(e *Engine) { e.workers[2].training = 1 },
		"less than nothing in the account":   func(e *Engine) { e.wages.funds = -1 },
		"a wait paid to nobody":              func(e *Engine) { e.wages.waiters++ },
		"a paid wait not counted":            func(e *Engine) { e.wages.waiters-- },
		"a wait paid from another time":      func(e *Engine) { e.workers[2].paidTo = now },
		"the begin of the waits miscounted":  func(e *Engine) { e.wages.begun++ },
		"what is left of a pay miscounted":   func(e *Engine) { e.workers[2].rest++ },
		"no payday":                          func(e *Engine) { e.wages.alarm.stop() },
		"a wait that should be paid":         func(e *Engine) { e.wages.remove(e.workers[2]); e.workers[2].paidTo = time.Time{} },
		"people called who cannot be paid stay": func(e *Engine) {
			for _, id := range []crowd.WorkerID{2, 3} {
				e.wages.remove(e.workers[id])
				e.workers[id].paidTo = time.Time{}
			}
			e.wages.empty = true
			e.wages.alarm.stop()
		},
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			e := setup(t)
			spoil(e)
			if err := e.checkDuty(); err == nil {
				t.Error("checkDuty found nothing")
			} else if e.Check() == nil {
				t.Error("Check does not ask checkDuty")
			} else {
				t.Log(err)
			}
		})
	}
}
