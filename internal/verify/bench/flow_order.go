package bench

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
	"github.com/throng-dev/throng/sla"
)

// flowStart is when the items of the queues are looked at first. They were born
// within the day before, and cost more by the hour from the 13th on.
var flowStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

var flowPenalty = sla.Penalty{Kind: sla.Staged, After: 12 * time.Hour, Cost: crowd.Unit, Every: time.Hour}

func bornBefore(random *rand.Rand) time.Time {
	return flowStart.Add(-time.Duration(random.Int64N(int64(24 * time.Hour))))
}

// queueFigures is a line before a service in which many items wait.
type queueFigures struct {
	queue  *sla.Queue
	random *rand.Rand
	items  int
	last   int64 // id of the latest request; those before it within items are there
	turn   int
}

func newQueueFigures(items int) *queueFigures {
	f := &queueFigures{queue: sla.NewQueue(sla.ATC, time.Minute), random: rand.New(rand.NewPCG(1, 2)), items: items}
	for range items {
		f.put()
	}
	return f
}

func (f *queueFigures) put() {
	f.last++
	born := bornBefore(f.random)
	f.queue.Put(flowStart, sla.Request{ID: f.last, Start: born, Since: born.Add(time.Minute), Penalty: &flowPenalty})
}

func (f *queueFigures) passes() []figure {
	return []figure{
		{name: "queue, the rest of the way takes longer", n: 1, do: func() error {
			f.turn++
			f.queue.SetTail(flowStart, time.Duration(f.turn)*37*time.Second)
			return nil
		}},
		{name: "queue, the service is slower", n: 1, do: func() error {
			f.turn++
			f.queue.SetResponse(flowStart, time.Minute+time.Duration(f.turn)*time.Second)
			return nil
		}},
	}
}

// events are those of a turn: first comes a tenth of the items more, then as many
// go.
func (f *queueFigures) events() []figure {
	n := f.items / 10
	return []figure{
		{name: "queue, an item comes", n: n, do: func() error { f.put(); return nil }},
		{name: "queue, an item goes", n: n, do: func() error {
			if !f.queue.Drop(f.last - int64(f.queue.Len()) + 1) {
				return errors.New("an item that waited is not in the queue")
			}
			return nil
		}},
		{name: "queue, an item becomes dearer", n: n, do: func() error {
			next, ok := f.queue.NextChange()
			if !ok {
				return errors.New("no change is to come")
			}
			f.queue.Advance(next)
			return nil
		}},
	}
}

// batchFigures is a batch at which many items wait for people.
type batchFigures struct {
	*people
	now   time.Time
	items int
	turn  int
	next  uint32
}

const flowPeople = 100

func newBatchFigures(items int) (*batchFigures, error) {
	f := &batchFigures{now: flowStart, items: items, next: uint32(items) + 1}
	e := engine.New(engine.Config{Policy: sched.MustParse("penalty")})
	random := rand.New(rand.NewPCG(1, 2))
	list := make([]engine.Item, items)
	for i := range list {
		list[i].Born = bornBefore(random)
	}
	var err error
	if f.people, err = newPeople(f.now, e, flowPeople, func() error {
		if err := e.SetTenant(f.now, engine.Tenant{ID: 1, Weight: 1}); err != nil {
			return err
		}
		if err := e.Launch(f.now, engine.Spec{
			ID: 1, Tenant: 1, Open: true, Rule: label.Count(1), Reward: 1, Priority: 1, Lease: 24 * time.Hour, TaskTime: time.Minute,
			SLA: &engine.Terms{Penalty: flowPenalty},
		}); err != nil {
			return err
		}
		return e.Grow(f.now, 1, 1, list)
	}); err != nil {
		return nil, err
	}
	for range 20 * flowPeople { // until the expected time is that of these people
		if err := f.cycle(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// cycle lets time go by, an item come, and somebody answer and take the next.
func (f *batchFigures) cycle() error {
	f.pass()
	if err := f.grow(); err != nil {
		return err
	}
	return f.answer()
}

// pass lets as much time go by as lies between two answers of these people.
func (f *batchFigures) pass() {
	f.now = f.now.Add(time.Minute / flowPeople)
	f.engine.Tick(f.now)
}

func (f *batchFigures) grow() error {
	err := f.engine.Grow(f.now, 1, f.next, []engine.Item{{Born: f.now}})
	f.next++
	return err
}

func (f *batchFigures) answer() error {
	f.turn++
	err := f.people.answer(f.now, f.turn%flowPeople, "1", "1")
	f.engine.Take(&f.changes)
	return err
}

// change lets time go by until the penalty of the next item grows.
func (f *batchFigures) change() error {
	next, ok := f.engine.NextTimer()
	if !ok {
		return errors.New("no change is to come")
	}
	if next.After(f.now) {
		f.now = next
	}
	f.engine.Tick(f.now)
	return nil
}

func (f *batchFigures) passes() []figure {
	tail := time.Duration(0)
	return []figure{{name: "job, the rest of the way takes longer", n: 1, do: func() error {
		tail += 37 * time.Second
		return f.engine.SetTail(f.now, 1, tail)
	}}}
}

// events are those of a turn: as many items come as are answered.
func (f *batchFigures) events() []figure {
	n := f.items / 100
	return []figure{
		{name: "job, an item comes", n: n, do: f.grow},
		{name: "job, an item becomes dearer", n: n, do: f.change},
		{name: "job, one is answered and the next handed out", n: n, do: f.answer, before: f.pass},
	}
}

// whole is a cycle of 100 people who need a minute each: some 15 items become
// more expensive in it.
func (f *batchFigures) whole() figure {
	return figure{name: "job, a cycle of all of these", n: f.items / 10, do: f.cycle}
}
