// Package people holds orders between batches against each other where people do most
// of the work: items go through the steps of a process, each step is a batch of the
// engine, and what they cost by their age at their end is added up. The times of a step
// belong to the item and the answer, so every order meets the same world.
package people

import (
	"cmp"
	"fmt"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/heap"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
	"github.com/throng-dev/throng/sla"
)

// A Step is one step of the process: people's work, after a program.
type Step struct {
	Time    time.Duration // mean of an answer
	Rule    label.Rule
	Share   float64       // of items that take it, 0 to 1
	Program time.Duration // that each item which takes it waits for first, as a rule
}

// A Promise is what an item costs, and whose it is.
type Promise struct {
	Penalty sla.Penalty
	Tenant  crowd.TenantID // 0: 1
}

// A World is what orders are held against each other in.
type World struct {
	Steps    []Step
	Promises []Promise // items have them in turn
	People   int
	Items    int
	Gap      time.Duration // mean time between two items, exponential; 0: all are there at the start
}

// Work is the time of people that an item takes, as a rule.
func (w *World) Work() time.Duration { return w.after(-1).work }

// expected is what lies behind a step: time if nobody waits, and people's time.
type expected struct{ time, work time.Duration }

func (w *World) after(step int) (e expected) {
	for _, s := range w.Steps[step+1:] {
		e.time += time.Duration(s.Share * float64(s.Program+s.Time))
		e.work += time.Duration(s.Share * float64(s.Rule.Fewest()) * float64(s.Time))
	}
	return e
}

// An item on its way.
type item struct {
	promise int
	born    time.Time
	takes   []bool            // by step
	times   [][]time.Duration // by step and answer
	waits   []time.Duration   // for a program, by step
	says    [][]string        // by step and answer
	begun   []int             // answers, by step
}

// spread is the coefficient of variation of all times, and errors the share of wrong
// answers.
const (
	spread = 0.3
	errors = 0.05
)

var start = time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)

// draw makes the items of a repetition.
func (w *World) draw(seed uint64) []item {
	stream := sim.NewStream(seed, 0, "people")
	list := make([]item, w.Items)
	born := start
	for i := range list {
		r := stream.At(uint64(i))
		if w.Gap > 0 {
			born = born.Add(time.Duration(sim.Exponential(float64(w.Gap)).Draw(&r)))
		}
		it := item{promise: i % len(w.Promises), born: born}
		for _, s := range w.Steps {
			it.takes = append(it.takes, r.Float64() < s.Share)
			times, says := make([]time.Duration, s.Rule.Most()), make([]string, s.Rule.Most())
			for k := range times {
				times[k] = time.Duration(sim.LogNormalByMean(float64(s.Time), spread*float64(s.Time)).Draw(&r))
				if says[k] = "right"; r.Float64() < errors {
					says[k] = "wrong"
				}
			}
			wait := time.Duration(0)
			if s.Program > 0 {
				wait = time.Duration(sim.LogNormalByMean(float64(s.Program), spread*float64(s.Program)).Draw(&r))
			}
			it.times, it.says, it.waits = append(it.times, times), append(it.says, says), append(it.waits, wait)
			it.begun = append(it.begun, 0)
		}
		list[i] = it
	}
	return list
}

// Run runs a repetition under a policy and returns what the items cost in sum.
func (w *World) Run(policy string, seed uint64) (crowd.Money, error) {
	p, err := sched.Parse(policy)
	if err != nil {
		return 0, err
	}
	l := &lab{World: w, items: w.draw(seed), engine: engine.New(engine.Config{Policy: p}), batches: make([][]batch, len(w.Promises))}
	return l.run()
}

// lab is a repetition under way.
type lab struct {
	*World
	items   []item
	engine  *engine.Engine
	batches [][]batch // by promise and step
	events  heap.Indexed
	list    []event // by slot of events
	changes engine.Changes
	now     time.Time
	ended   int
	cost    crowd.Money
}

// batch is a step of the items of one promise.
type batch struct {
	id    crowd.BatchID
	tasks []int // items, by number - 1
}

// event is something that happens to an item, or at the hands of a worker.
type event struct {
	item, step int
	worker     crowd.WorkerID // 0: the item comes to the step
	assignment crowd.AssignmentID
	says       string
}

func (l *lab) at(t time.Time, e event) {
	l.list = append(l.list, e)
	l.events.Set(heap.Entry{Key: uint64(t.Sub(start)), ID: int64(len(l.list)), Slot: uint32(len(l.list) - 1)})
}

func (l *lab) run() (crowd.Money, error) {
	l.now = start
	if err := l.open(); err != nil {
		return 0, err
	}
	for i := range l.items {
		l.next(l.items[i].born, i, 0)
	}
	for n := 1; n <= l.People; n++ {
		if err := l.ready(crowd.WorkerID(n)); err != nil {
			return 0, err
		}
	}
	for len(l.events.Entries) > 0 {
		e := l.events.Entries[0]
		at := start.Add(time.Duration(e.Key))
		if timer, ok := l.engine.NextTimer(); ok && timer.Before(at) {
			l.now = timer
			l.engine.Tick(timer)
		} else {
			l.now = at
			l.events.Remove(e.Slot)
			if err := l.happens(l.list[e.Slot]); err != nil {
				return 0, err
			}
		}
		l.take()
	}
	if l.ended != len(l.items) {
		return 0, fmt.Errorf("people: %d of %d items have ended", l.ended, len(l.items))
	}
	return l.cost, nil
}

// open makes the workers, the tenants and a batch for each step of each promise.
func (l *lab) open() error {
	for n := 1; n <= l.People; n++ {
		if err := l.engine.SetWorker(start, engine.Worker{ID: crowd.WorkerID(n)}); err != nil {
			return err
		}
	}
	for i, p := range l.Promises {
		tenant := cmp.Or(p.Tenant, 1)
		if err := l.engine.SetTenant(start, engine.Tenant{ID: tenant, Weight: 1}); err != nil {
			return err
		}
		for k, s := range l.Steps {
			b := batch{id: crowd.BatchID(1 + i*len(l.Steps) + k)}
			behind := l.after(k)
			err := l.engine.Launch(start.Add(-time.Duration(len(l.Promises)*len(l.Steps)-k*len(l.Promises)-i)*time.Second), engine.Spec{
				ID: b.id, Tenant: tenant, Open: true, Rule: s.Rule, Reward: 1, Priority: 1, Lease: engine.MaxLease, TaskTime: s.Time,
				SLA: &engine.Terms{Penalty: p.Penalty, Tail: behind.time, Work: behind.work},
			})
			if err != nil {
				return err
			}
			l.batches[i] = append(l.batches[i], b)
		}
	}
	return nil
}

// next lets an item go on to the first step from one on that it takes, or end.
func (l *lab) next(at time.Time, i, step int) {
	it := &l.items[i]
	for ; step < len(l.Steps); step++ {
		if it.takes[step] {
			l.at(at.Add(it.waits[step]), event{item: i, step: step})
			return
		}
	}
	l.ended++
	l.cost += l.Promises[it.promise].Penalty.At(at.Sub(it.born))
}

func (l *lab) happens(e event) error {
	if e.worker != 0 {
		if _, err := l.engine.Submit(l.now, e.worker, e.assignment, e.says, e.says); err != nil {
			return err
		}
		return l.ready(e.worker)
	}
	b := &l.batches[l.items[e.item].promise][e.step]
	b.tasks = append(b.tasks, e.item)
	return l.engine.Grow(l.now, b.id, uint32(len(b.tasks)), []engine.Item{{Born: l.items[e.item].born}})
}

func (l *lab) ready(w crowd.WorkerID) error {
	_, _, err := l.engine.Ready(l.now, w)
	return err
}

// take lets people begin what they were given, and items go on that have a label.
func (l *lab) take() {
	l.engine.Take(&l.changes)
	for _, h := range l.changes.Handouts {
		promise, step := l.of(h.Task.Batch())
		i := l.batches[promise][step].tasks[h.Task.N()-1]
		it := &l.items[i]
		k := it.begun[step]
		it.begun[step]++
		l.at(l.now.Add(it.times[step][k]), event{item: i, step: step, worker: h.Worker, assignment: h.Assignment, says: it.says[step][k]})
	}
	for _, x := range l.changes.Labels {
		promise, step := l.of(x.Task.Batch())
		l.next(l.now, l.batches[promise][step].tasks[x.Task.N()-1], step+1)
	}
}

func (l *lab) of(id crowd.BatchID) (promise, step int) {
	return int(id-1) / len(l.Steps), int(id-1) % len(l.Steps)
}
