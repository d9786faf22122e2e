package sla

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/heap"
)

// Form is how a Queue keeps up with time.
type Form string

// The forms. ATC orders by the next step of each penalty that can still be
// escaped, and by what it costs (see Step.Urgency): it is ours, and looks as far
// ahead as the steps lie, where listing 1 sees a step only when it is one response
// time away. Event and Loop order by listing 1: with a calendar of the next change
// of each request, and with everything recomputed every half response time, as
// the paper does.
const (
	ATC   Form = "atc"
	Event Form = "event"
	Loop  Form = "loop"
)

// Forms lists the forms.
func Forms() []Form { return []Form{ATC, Event, Loop} }

// A Queue is a scheduler proxy: the requests that wait before one resource, in
// the order of its form: by Urgency (over the look, if that is set), those without a step to escape last; or of
// listing 1, by Added, descending. Among equals by Since, then by ID.
//
// What a queue says is as of the last instant at which it was advanced:
//
//   - with ATC, after Advance(now) the order is that of Request.NextStep at now;
//   - with Event, after Advance(now) the order is that of Request.Added at now;
//   - with Loop, it is that of Request.Added at the last tick, or when the
//     request was put, if that was later. Ticks are half a response time apart,
//     from the first instant that the queue was told.
//
// For n requests Put, Drop and one change of the calendar cost O(log n), the
// k-th request of All O(log k), and a full pass (SetResponse, SetTail, a tick)
// O(n). A request takes about 130 bytes. Times come back in UTC.
//
// Source: Khazankin et al. 2011, listing 1 and sections IV.A and IV.B.
type Queue struct {
	form     Form
	response int64
	look     int64 // of ATC; 0: response
	now      int64 // the latest instant told
	told     bool
	tick     int64 // of Loop: the next one

	slots    map[int64]uint32 // by request ID
	fates    []fate           // by slot
	free     []uint32         // slots without a request
	line     heap.Indexed     // in the order of the form
	calendar heap.Indexed     // of ATC and Event: the next change of each request that has one

	version uint64     // counts changes: a walk ends at the first
	front   heap.Front // a walk's memory, kept from walk to walk
	due     []uint32
}

// NewQueue returns an empty queue for a resource with the given response time;
// one that is not positive makes all requests equal. It panics if the form is
// none of Forms.
func NewQueue(form Form, response time.Duration) *Queue {
	if !slices.Contains(Forms(), form) {
		panic("sla: NewQueue needs one of the forms atc, event and loop, not " + string(form))
	}
	return &Queue{form: form, response: int64(max(response, 0)), slots: map[int64]uint32{}}
}

// Form returns the form.
func (q *Queue) Form() Form { return q.form }

// Response returns the response time in force.
func (q *Queue) Response() time.Duration { return time.Duration(q.response) }

// Len returns the number of requests.
func (q *Queue) Len() int { return len(q.line.Entries) }

// Put adds the request, or replaces the one with the same ID.
func (q *Queue) Put(now time.Time, r Request) {
	q.tell(now)
	q.version++
	slot, ok := q.slots[r.ID]
	if !ok {
		slot = q.open(r.ID)
	}
	q.fates[slot] = r.fate()
	key, next := q.place(slot, q.now)
	q.line.Set(heap.Entry{Key: key, Turn: sortable(nanos(r.Since)), ID: r.ID, Slot: slot})
	q.plan(slot, next)
}

// open returns a free slot for the ID.
func (q *Queue) open(id int64) uint32 {
	slot := uint32(len(q.fates))
	if n := len(q.free); n > 0 {
		slot, q.free = q.free[n-1], q.free[:n-1]
	} else {
		q.fates = append(q.fates, fate{})
	}
	q.slots[id] = slot
	return slot
}

// Drop takes the request out and reports whether there was one.
func (q *Queue) Drop(id int64) bool {
	slot, ok := q.slots[id]
	if !ok {
		return false
	}
	q.version++
	delete(q.slots, id)
	q.line.Remove(slot)
	q.calendar.Remove(slot)
	q.fates[slot] = fate{}
	q.free = append(q.free, slot)
	return true
}

// Advance does what is due by now. An instant before the latest one told counts
// as that one.
func (q *Queue) Advance(now time.Time) {
	q.tell(now)
	if q.form == Loop {
		if period := q.period(); q.now >= q.tick && q.tick != never {
			last := q.now - sub(q.now, q.tick)%period
			q.tick = add(last, period)
			q.pass(last)
		}
		return
	}
	q.due = q.calendar.Entries.AppendUpTo(q.due[:0], sortable(q.now), 0)
	if len(q.due) == 0 {
		return
	}
	q.version++
	if len(q.due) < len(q.line.Entries)/few {
		for _, slot := range q.due {
			e := *q.line.At(slot)
			var next uint64
			e.Key, next = q.place(slot, q.now)
			q.line.Set(e)
			q.plan(slot, next)
		}
		return
	}
	for _, slot := range q.due {
		q.line.At(slot).Key, q.calendar.At(slot).Key = q.place(slot, q.now)
	}
	q.line.Init()
	q.calendar.Init()
	q.cross()
}

// few: when fewer than one request in so many is due, they are moved one by one,
// else all at once.
const few = 16

// cross takes those out of the calendar that never change again.
func (q *Queue) cross() {
	for _, slot := range q.due {
		if e := q.calendar.At(slot); e != nil && e.Key == sortable(never) {
			q.calendar.Remove(slot)
		}
	}
}

// NextChange returns when Advance has something to do next; it may be past.
// False if it never has, unless the queue changes.
func (q *Queue) NextChange() (time.Time, bool) {
	switch {
	case q.form == Loop && q.Len() > 0 && q.tick != never:
		return instant(q.tick), true
	case len(q.calendar.Entries) > 0:
		return instant(signed(q.calendar.Entries[0].Key)), true
	}
	return time.Time{}, false
}

// SetResponse gives the resource another response time: a full pass. A Loop
// ticks half of it later.
func (q *Queue) SetResponse(now time.Time, response time.Duration) {
	q.tell(now)
	q.response = int64(max(response, 0))
	q.tick = q.after(q.now)
	q.pass(q.now)
}

// Look returns how far ATC looks ahead; 0: one response time.
func (q *Queue) Look() time.Duration { return time.Duration(q.look) }

// SetLook has ATC look so far ahead in place of one response time (0: that again), as where
// what waits differs in what it costs, and one response time is little of what is before
// it: a full pass.
func (q *Queue) SetLook(now time.Time, look time.Duration) {
	q.tell(now)
	q.look = int64(max(look, 0))
	q.pass(q.now)
}

// SetTail gives every request another expected time from its reply to the end
// of its process: a full pass.
func (q *Queue) SetTail(now time.Time, tail time.Duration) {
	q.tell(now)
	for i := range q.line.Entries {
		q.fates[q.line.Entries[i].Slot].tail = int64(tail)
	}
	q.pass(q.now)
}

// Head returns the first request and by how much a delay of it would raise its
// penalty; false if the queue is empty.
func (q *Queue) Head() (Request, crowd.Money, bool) {
	if q.Len() == 0 {
		return Request{}, 0, false
	}
	r, added := q.request(&q.line.Entries[0])
	return r, added, true
}

// HeadStep returns the next step of the first request's penalty that can still be
// escaped at the latest instant told; false if there is none. Of a queue that was
// told of a later instant than it was advanced to, that may be another step than
// the one by which the request came first.
func (q *Queue) HeadStep() (Step, bool) {
	if q.Len() == 0 {
		return Step{}, false
	}
	return q.fates[q.line.Entries[0].Slot].toEscape(q.now, q.response)
}

// All returns the requests in order, with by how much a delay of each would
// raise its penalty, for a resource that must pass over some. The walk ends when
// the queue changes.
func (q *Queue) All() iter.Seq2[Request, crowd.Money] {
	return func(yield func(Request, crowd.Money) bool) {
		if q.Len() == 0 {
			return
		}
		front := append(q.front[:0], heap.Spot{Entry: q.line.Entries[0]})
		q.front = nil // a walk within this one takes memory of its own
		version := q.version
		defer func() { q.front = front[:0] }()
		for len(front) > 0 {
			if !yield(q.request(&front[0].Entry)) || q.version != version {
				return
			}
			front.Advance(q.line.Entries)
		}
	}
}

// Get returns the request with the ID as Head does.
func (q *Queue) Get(id int64) (Request, crowd.Money, bool) {
	slot, ok := q.slots[id]
	if !ok {
		return Request{}, 0, false
	}
	r, added := q.request(q.line.At(slot))
	return r, added, true
}

func (q *Queue) request(e *heap.Entry) (Request, crowd.Money) {
	f := &q.fates[e.Slot]
	added := crowd.Money(^e.Key)
	if q.form == ATC {
		added = f.added(q.now, q.response)
	}
	return Request{
		ID:      e.ID,
		Since:   instant(signed(e.Turn)),
		Start:   instant(f.start),
		Tail:    time.Duration(f.tail),
		Bound:   instant(f.bound),
		Penalty: f.penalty,
	}, added
}

// tell moves the queue's clock, never back.
func (q *Queue) tell(now time.Time) {
	n := nanos(now)
	if !q.told {
		q.told, q.now = true, n
		q.tick = q.after(n)
	}
	q.now = max(q.now, n)
}

// period is the time between two ticks.
func (q *Queue) period() int64 { return max(q.response/2, 1) }

// after returns the tick that follows one at n: never if all requests are equal
// whatever the time.
func (q *Queue) after(n int64) int64 {
	if q.form != Loop || q.response == 0 {
		return never
	}
	return add(n, q.period())
}

// pass recomputes everything as of an instant.
func (q *Queue) pass(at int64) {
	q.version++
	q.calendar.Clear()
	for i := range q.line.Entries {
		e := &q.line.Entries[i]
		var next uint64
		e.Key, next = q.place(e.Slot, at)
		if next != sortable(never) {
			q.calendar.Append(heap.Entry{Key: next, Slot: e.Slot})
		}
	}
	q.line.Init()
	q.calendar.Init()
}

// place returns the slot's key as of an instant, and when that changes next, as
// a key of the calendar.
func (q *Queue) place(slot uint32, at int64) (key, next uint64) {
	f := &q.fates[slot]
	next = sortable(never)
	if q.form == ATC {
		due, cost, ok := f.step(at, q.response)
		if !ok {
			return sortable(never), next
		}
		return sortable(urgency(due, cost, cmp.Or(q.look, q.response))), sortable(due)
	}
	if q.form == Event {
		if change, ok := f.next(at, q.response); ok {
			next = sortable(change)
		}
	}
	return ^uint64(f.added(at, q.response)), next
}

// plan enters the slot's next change in the calendar.
func (q *Queue) plan(slot uint32, next uint64) {
	if next != sortable(never) {
		q.calendar.Set(heap.Entry{Key: next, Slot: slot})
	} else {
		q.calendar.Remove(slot)
	}
}

// sortable maps signed numbers to unsigned ones of the same order; signed is its
// inverse.
func sortable(n int64) uint64 { return uint64(n) ^ 1<<63 }
func signed(u uint64) int64   { return int64(u ^ 1<<63) }
