package sla_test

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sla"
)

// A plainQueue is the definition: it remembers the requests, and as of when each
// difference counts, and sorts when asked.
type plainQueue struct {
	form     sla.Form
	response time.Duration
	now      time.Time
	tick     time.Time // of Loop
	requests map[int64]sla.Request
	asOf     map[int64]time.Time
}

func (p *plainQueue) tell(now time.Time) {
	if p.tick.IsZero() {
		p.now, p.tick = now, now.Add(max(p.response/2, 1))
	}
	if now.After(p.now) {
		p.now = now
	}
}

func (p *plainQueue) all(at time.Time) {
	for id := range p.requests {
		p.asOf[id] = at
	}
}

// advance goes through every tick there is.
func (p *plainQueue) advance(now time.Time) {
	p.tell(now)
	if p.form != sla.Loop {
		p.all(p.now)
		return
	}
	for !p.tick.After(p.now) {
		p.all(p.tick)
		p.tick = p.tick.Add(max(p.response/2, 1))
	}
}

// ranked is a request with what its place follows from.
type ranked struct {
	id    int64
	first float64  // of the order, ascending
	step  sla.Step // of ATC: what that follows from
}

func (p *plainQueue) order() []ranked {
	var out []ranked
	for id, r := range p.requests {
		x := ranked{id: id, first: -float64(r.Added(p.asOf[id], p.response))}
		if p.form == sla.ATC {
			x.first = math.Inf(1)
			if s, ok := r.NextStep(p.asOf[id], p.response); ok {
				x.first, x.step = float64(s.Urgency(p.response).Sub(epoch)), s
			}
		}
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.first, b.first), p.requests[a.id].Since.Compare(p.requests[b.id].Since), cmp.Compare(a.id, b.id))
	})
	return out
}

// TestQueueIsItsDefinition puts, drops, replaces, advances and changes expected
// times at random, and compares the whole order after every move.
func TestQueueIsItsDefinition(t *testing.T) {
	for _, form := range sla.Forms() {
		t.Run(string(form), func(t *testing.T) {
			positive, passes := 0, 0
			looked(t, &positive, 60)
			looked(t, &passes, 6)
			rapid.Check(t, func(t *rapid.T) {
				response := time.Duration(rapid.Int64Range(1, 60).Draw(t, "response"))
				q := sla.NewQueue(form, response)
				p := &plainQueue{form: form, response: response, requests: map[int64]sla.Request{}, asOf: map[int64]time.Time{}}
				n := int64(0)
				for range rapid.IntRange(10, 60).Draw(t, "moves") {
					switch move := rapid.IntRange(0, 11).Draw(t, "move"); move {
					default:
						r := requests(t, rapid.Int64Range(-20, 20).Draw(t, "id"), sla.Kinds()...)
						p.advance(at(n))
						q.Advance(at(n))
						p.requests[r.ID], p.asOf[r.ID] = r, at(n)
						q.Put(at(n), r)
					case 6:
						id := rapid.Int64Range(-20, 20).Draw(t, "id")
						_, had := p.requests[id]
						delete(p.requests, id)
						if q.Drop(id) != had {
							t.Fatalf("dropping %d said %t", id, !had)
						}
					case 7, 8, 9:
						n += rapid.Int64Range(0, 40).Draw(t, "time")
						p.advance(at(n))
						q.Advance(at(n))
						if next, ok := q.NextChange(); ok && !next.After(at(n)) {
							t.Fatalf("advanced to %d, and still due at %d", n, next.Sub(epoch))
						}
					case 10:
						passes++
						p.response = time.Duration(rapid.Int64Range(1, 60).Draw(t, "response"))
						p.tell(at(n))
						p.all(at(n))
						p.tick = at(n).Add(max(p.response/2, 1))
						q.SetResponse(at(n), p.response)
						if q.Response() != p.response || q.Form() != form {
							t.Fatalf("the queue is a %s of %s", q.Form(), q.Response())
						}
					case 11:
						passes++
						tail := time.Duration(rapid.Int64Range(0, 40).Draw(t, "tail"))
						for id, r := range p.requests {
							r.Tail = tail
							p.requests[id] = r
						}
						p.tell(at(n))
						p.all(at(n))
						q.SetTail(at(n), tail)
					}
					positive += compare(t, q, p)
				}
			})
		})
	}
}

// compare returns how many requests have something to lose.
func compare(t *rapid.T, q *sla.Queue, p *plainQueue) int {
	want, positive, i := p.order(), 0, 0
	asOf := func(id int64) time.Time {
		if p.form == sla.Loop {
			return p.asOf[id]
		}
		return p.now
	}
	if q.Len() != len(want) {
		t.Fatalf("%d requests, want %d", q.Len(), len(want))
	}
	for r, added := range q.All() {
		want := want[i]
		if p := p.requests[r.ID]; r.ID != want.id || added != p.Added(asOf(r.ID), q.Response()) {
			t.Fatalf("place %d has request %d adding %d, want %v", i, r.ID, added, want)
		}
		if r != p.requests[r.ID] {
			t.Fatalf("request %d comes back as %+v, went in as %+v", r.ID, r, p.requests[r.ID])
		}
		if got, again, ok := q.Get(r.ID); !ok || got != r || again != added {
			t.Fatalf("asked for %d: %+v, %d, %t", r.ID, got, again, ok)
		}
		if head, most, ok := q.Head(); i == 0 && (!ok || head != r || most != added) {
			t.Fatalf("the head is %+v, the first of all %+v", head, r)
		}
		if added > 0 {
			positive++
		}
		i++
	}
	if i != len(want) {
		t.Fatalf("the walk ended after %d of %d", i, len(want))
	}
	return positive
}

// TestAQueueChangesWhenItSays: from one NextChange to the next what the order
// follows from stays, and at each it does change; so nobody who waits for it misses
// anything or is called for nothing.
func TestAQueueChangesWhenItSays(t *testing.T) {
	for _, form := range []sla.Form{sla.ATC, sla.Event} {
		t.Run(string(form), func(t *testing.T) { changesWhenItSays(t, form) })
	}
}

func changesWhenItSays(t *testing.T, form sla.Form) {
	changes := 0
	looked(t, &changes, 60)
	rapid.Check(t, func(t *rapid.T) {
		response := time.Duration(rapid.Int64Range(1, 60).Draw(t, "response"))
		q := sla.NewQueue(form, response)
		p := &plainQueue{form: form, response: response, requests: map[int64]sla.Request{}, asOf: map[int64]time.Time{}}
		for id := range rapid.Int64Range(1, 40).Draw(t, "requests") {
			r := requests(t, id, sla.Kinds()...)
			p.requests[id] = r
			q.Put(at(0), r)
		}
		p.advance(at(0))
		was := p.order()
		for n := int64(1); n < 400; n++ {
			p.advance(at(n))
			is := p.order()
			next, ok := q.NextChange()
			if due := ok && next.Equal(at(n)); due == slices.Equal(was, is) {
				t.Fatalf("at %d: %v becomes %v; a change was said to be at %d (%t)", n, was, is, next.Sub(epoch), ok)
			} else if due {
				changes++
				q.Advance(at(n))
			}
			was = is
		}
		q.Advance(at(400))
		p.advance(at(400))
		compare(t, q, p)
	})
}

func TestTimeNeverGoesBack(t *testing.T) {
	for _, form := range sla.Forms() {
		q := sla.NewQueue(form, 10)
		q.Put(at(100), sla.Request{ID: 1, Start: at(0), Penalty: &sla.Penalty{Kind: sla.Constant, After: 115, Cost: 7}})
		if _, d, _ := q.Head(); d != 7 {
			t.Fatalf("%s: adds %d at an end after 110 or 120, want 7", form, d)
		}
		q.SetTail(at(50), 0)
		if _, d, _ := q.Head(); d != 7 {
			t.Errorf("%s: a pass in the past adds %d, want 7 still", form, d)
		}
	}
}

func TestAWalkEndsWhenTheQueueChanges(t *testing.T) {
	fill := func() *sla.Queue {
		q := sla.NewQueue(sla.Event, 10)
		for id := range int64(20) {
			q.Put(at(0), sla.Request{ID: id, Start: at(0), Penalty: &sla.Penalty{Kind: sla.Constant, After: 50, Cost: 1}})
		}
		return q
	}
	for name, change := range map[string]func(*sla.Queue){
		"a request comes":            func(q *sla.Queue) { q.Put(at(0), sla.Request{ID: 99}) },
		"a request goes":             func(q *sla.Queue) { q.Drop(5) },
		"a change is due":            func(q *sla.Queue) { q.Advance(at(30)) },
		"another response is usual":  func(q *sla.Queue) { q.SetResponse(at(0), 12) },
		"another end is expected":    func(q *sla.Queue) { q.SetTail(at(0), 12) },
		"the resource takes the one": func(q *sla.Queue) { r, _, _ := q.Head(); q.Drop(r.ID) },
	} {
		q, visits := fill(), 0
		for range q.All() {
			if visits++; visits == 3 {
				change(q)
			}
		}
		if visits != 3 {
			t.Errorf("%s during the third visit: %d visits", name, visits)
		}
	}
	q, pairs := fill(), 0
	for range q.All() { // leaves memory behind for the next walk
	}
	for a := range q.All() {
		for b := range q.All() {
			if pairs++; b.ID == a.ID {
				break
			}
		}
		q.Drop(99)        // changes nothing
		q.Advance(at(29)) // nor does this
	}
	if pairs != 20*21/2 {
		t.Errorf("a walk within a walk made %d visits, want %d", pairs, 20*21/2)
	}
}

// TestManyDueAtOnce: requests that change together are moved together.
func TestManyDueAtOnce(t *testing.T) {
	for _, form := range []sla.Form{sla.ATC, sla.Event} {
		t.Run(string(form), func(t *testing.T) { manyDueAtOnce(t, form) })
	}
}

func manyDueAtOnce(t *testing.T, form sla.Form) {
	q := sla.NewQueue(form, 10)
	p := &plainQueue{form: form, response: 10, requests: map[int64]sla.Request{}, asOf: map[int64]time.Time{}}
	shared := &sla.Penalty{Kind: sla.Staged, After: 50, Cost: 3, Every: 7, AtMost: 20}
	once := &sla.Penalty{Kind: sla.Constant, After: 50, Cost: 2}
	for id := range int64(1000) {
		r := sla.Request{ID: id, Since: at(id % 7), Start: at(id % 3), Penalty: shared}
		if id%2 == 0 {
			r.Penalty = once
		}
		p.requests[id] = r
		q.Put(at(0), r)
	}
	advances, orders := 0, map[crowd.Money]bool{}
	for {
		next, ok := q.NextChange()
		if !ok {
			break
		}
		advances++
		q.Advance(next)
		p.advance(next)
		i, want := 0, p.order()
		for r, added := range q.All() {
			if p := p.requests[r.ID]; r.ID != want[i].id || added != p.Added(next, 10) {
				t.Fatalf("at %s place %d has %d adding %d, want %v", next, i, r.ID, added, want[i])
			}
			orders[added] = true
			i++
		}
	}
	if advances < 10 || len(orders) < 3 {
		t.Errorf("advanced %d times and saw %d differences only", advances, len(orders))
	}
}

func TestALoopTicksEveryHalfResponse(t *testing.T) {
	q := sla.NewQueue(sla.Loop, 10)
	if next, ok := q.NextChange(); ok {
		t.Errorf("an empty loop ticks at %s", next)
	}
	// From a time of 31 on the delay costs 7, to 40.
	q.Put(at(0), sla.Request{ID: 1, Start: at(0), Penalty: &sla.Penalty{Kind: sla.Constant, After: 51, Cost: 7}})
	for n := int64(1); n < 60; n++ {
		next, ok := q.NextChange()
		if want := at((n + 4) / 5 * 5); !ok || !next.Equal(want) {
			t.Fatalf("at %d: the next tick is at %s, want %s", n, next, want)
		}
		q.Advance(at(n))
		want := crowd.Money(0)
		if tick := n / 5 * 5; tick >= 31 && tick <= 40 {
			want = 7
		}
		if _, d, _ := q.Head(); d != want {
			t.Errorf("at %d: adds %d, want %d as of its tick", n, d, want)
		}
	}
	q = sla.NewQueue(sla.Loop, -1)
	q.Put(at(0), sla.Request{ID: 1})
	if next, ok := q.NextChange(); ok || q.Response() != 0 {
		t.Errorf("a loop without a response time (%s) ticks at %s", q.Response(), next)
	}
}

func TestAnEmptyQueue(t *testing.T) {
	q := sla.NewQueue(sla.Event, sec)
	q.Advance(epoch)
	if _, _, ok := q.Head(); ok || q.Len() != 0 || q.Drop(1) {
		t.Error("an empty queue has something")
	}
	if _, _, ok := q.Get(1); ok {
		t.Error("an empty queue has a request 1")
	}
	for r := range q.All() {
		t.Errorf("an empty queue has request %d", r.ID)
	}
	if next, ok := q.NextChange(); ok {
		t.Errorf("an empty queue changes at %s", next)
	}
	defer func() {
		if recover() == nil {
			t.Error("a queue of no form was made")
		}
	}()
	sla.NewQueue("", sec)
}

func TestSlotsAreUsedAgain(t *testing.T) {
	q := sla.NewQueue(sla.Event, 10)
	p := &sla.Penalty{Kind: sla.Staged, After: 50, Cost: 1, Every: 7}
	id := int64(0)
	for range 100 {
		q.Put(at(0), sla.Request{ID: id, Start: at(0), Penalty: p})
		id++
	}
	perRun := testing.AllocsPerRun(2000, func() {
		q.Drop(id - 100)
		q.Put(at(0), sla.Request{ID: id, Start: at(0), Penalty: p})
		id++
	})
	if perRun >= 1 || q.Len() != 100 {
		t.Errorf("%d requests; one that goes and one that comes allocate %.1f times", q.Len(), perRun)
	}
}
