package sim

import (
	"fmt"
	"math"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/sched"
)

// An audit keeps books of its own, from what the engine says has changed, and
// compares: what must hold (docs/architecture.md), seen from outside. The engine's
// own Check looks from inside.
type audit struct {
	hands    map[crowd.AssignmentID]engine.Handout // in somebody's hands
	holder   map[crowd.WorkerID]crowd.AssignmentID
	given    map[crowd.TaskID][]crowd.WorkerID // who holds an open task, or must not get it again
	answered map[crowd.AssignmentID]bool
	balance  map[engine.Account]crowd.Money
	labelled map[crowd.TaskID]bool
	known    map[crowd.TaskID]bool // with a known answer: handed out as checks, and to nobody twice
	counted  map[crowd.BatchID]int
}

func newAudit() *audit {
	return &audit{
		hands: map[crowd.AssignmentID]engine.Handout{}, holder: map[crowd.WorkerID]crowd.AssignmentID{},
		given: map[crowd.TaskID][]crowd.WorkerID{}, answered: map[crowd.AssignmentID]bool{},
		balance: map[engine.Account]crowd.Money{}, labelled: map[crowd.TaskID]bool{}, known: map[crowd.TaskID]bool{}, counted: map[crowd.BatchID]int{},
	}
}

// know enters the tasks of a batch whose answer is known.
func (a *audit) know(s *engine.Spec) {
	if a == nil {
		return
	}
	for n := range s.Known {
		a.known[s.ID.Task(n)] = true
	}
}

// read books what has changed.
func (a *audit) read(c *engine.Changes) error {
	for _, e := range c.Ends {
		h := a.hands[e.Assignment]
		if err := a.putDown(e.Assignment); err != nil {
			return err
		}
		if (e.State == crowd.Returned || e.State == crowd.Expired) && !a.known[h.Task] { // it may come back to them
			a.given[h.Task] = slices.DeleteFunc(a.given[h.Task], func(w crowd.WorkerID) bool { return w == h.Worker })
		}
	}
	for _, n := range c.Provisional {
		if err := a.putDown(n.Assignment); err != nil {
			return err
		}
	}
	for _, n := range c.Answers {
		if a.answered[n.Assignment] {
			return fmt.Errorf("the answer of %s was kept twice", n.Assignment)
		}
		a.answered[n.Assignment] = true
		if !n.Late && !n.Kept {
			if err := a.putDown(n.Assignment); err != nil {
				return err
			}
		}
		if n.Counted {
			a.counted[n.Assignment.Batch()]++
		} else if n.Paid != 0 {
			return fmt.Errorf("%s was paid for an answer that did not count", n.Worker)
		}
	}
	// After a step: a worker who submits is given the next task in the same one.
	for _, h := range c.Handouts {
		if err := a.takeUp(h); err != nil {
			return err
		}
	}
	for _, l := range c.Labels {
		if a.labelled[l.Task] {
			return fmt.Errorf("%s got a second label", l.Task)
		}
		a.labelled[l.Task] = true
		if !a.known[l.Task] {
			delete(a.given, l.Task)
		}
	}
	for _, t := range c.Transfers {
		if t.Amount <= 0 {
			return fmt.Errorf("a transfer of %s", t.Amount)
		}
		a.balance[t.From] -= t.Amount
		a.balance[t.To] += t.Amount
	}
	for account, m := range a.balance {
		if account.Kind == engine.BatchAccount && m < 0 {
			return fmt.Errorf("%s has spent more than its budget: %s", account, m)
		}
	}
	for _, p := range c.Progress {
		if p.Completed != a.counted[p.Batch] {
			return fmt.Errorf("%s says that %d answers count, %d were counted", p.Batch, p.Completed, a.counted[p.Batch])
		}
	}
	return nil
}

func (a *audit) takeUp(h engine.Handout) error {
	if a.labelled[h.Task] && !a.known[h.Task] {
		return fmt.Errorf("%s was handed out after it had its label", h.Task)
	}
	if old, busy := a.holder[h.Worker]; busy {
		return fmt.Errorf("%s was given %s while holding %s", h.Worker, h.Assignment, old)
	}
	if slices.Contains(a.given[h.Task], h.Worker) {
		return fmt.Errorf("%s was given %s twice", h.Worker, h.Task)
	}
	a.hands[h.Assignment] = h
	a.holder[h.Worker] = h.Assignment
	a.given[h.Task] = append(a.given[h.Task], h.Worker)
	return nil
}

func (a *audit) putDown(id crowd.AssignmentID) error {
	h, held := a.hands[id]
	if !held {
		return fmt.Errorf("%s ended, and nobody held it", id)
	}
	delete(a.hands, id)
	delete(a.holder, h.Worker)
	return nil
}

// compare holds the books against the engine and against the world.
func (a *audit) compare(w *world) error {
	var sum crowd.Money
	for _, m := range a.balance {
		sum += m
	}
	if sum != 0 {
		return fmt.Errorf("the ledger sums to %s", sum)
	}
	running := map[int32]int32{}
	for _, h := range a.hands {
		running[w.batch(h.Task.Batch())]++
	}
	for _, i := range w.open {
		b := &w.batches[i]
		if b.running != running[i] {
			return fmt.Errorf("the world sees %d assignments of %s in people's hands, the books %d", b.running, w.cast.Batches[i].ID, running[i])
		}
		st, ok := w.engine.Status(w.cast.Batches[i].ID)
		if !ok {
			return fmt.Errorf("the engine has forgotten %s", w.cast.Batches[i].ID)
		}
		if st.Running-st.Provisional != int(b.running) || st.Provisional != int(b.provisional) || st.Planned != st.Completed+st.Running+st.Waiting {
			return fmt.Errorf("%s: planned %d is not completed %d + running %d + waiting %d", st.Batch, st.Planned, st.Completed, st.Running, st.Waiting)
		}
	}
	if err := a.compareFairness(w); err != nil {
		return err
	}
	asking := w.engine.Counts().Waiting
	for i := range w.workers {
		p := &w.workers[i]
		if p.doing == gone {
			continue
		}
		c, _ := w.engine.OnCall(w.time(), p.id)
		if c.Waiting != (p.doing == waiting) {
			return fmt.Errorf("%s waits for a task: the engine says %t", p.id, c.Waiting)
		}
		if c.Waiting && c.Outside > 0 { // who pauses may stand outside, too
			asking++
		}
		if _, holds := w.engine.Holds(p.id); holds && c.Waiting {
			return fmt.Errorf("%s waits and holds a task", p.id)
		}
	}
	if asking != w.waiting {
		return fmt.Errorf("the engine has %d people waiting, the world %d", asking, w.waiting)
	}
	return nil
}

// compareFairness compares the world's fairness with that which the live server tells of
// the engine, which leaves batches out that want nothing or cannot have it.
func (a *audit) compareFairness(w *world) error {
	batches, _ := w.engine.Shares(w.time())
	batches = slices.DeleteFunc(batches, func(b engine.BatchShare) bool { return b.Wanted == 0 })
	if len(batches) != len(w.open) {
		return nil
	}
	xs := make([]float64, len(batches))
	for i, b := range batches {
		xs[i] = sched.Workforce(b.Running, b.Planned, b.Priority)
	}
	jain, jinf := w.fairness()
	if j, inf := sched.Fairness(xs); !same(jain, j) || !same(jinf, inf) {
		return fmt.Errorf("people are spread by %g (Jain) and %g (J∞), by what the engine has by %g and %g", jain, jinf, j, inf)
	}
	return nil
}

// same reports whether two figures are the same but for rounding.
func same(x, y float64) bool {
	return x == y || x != x && y != y || math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))
}
