package orchestration

import (
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/heap"
	"github.com/throng-dev/throng/sla"
)

// Order is how a proxy orders the requests before its service.
type Order string

// The orders.
const (
	FIFO    Order = "fifo"    // first come, first served, as services do by themselves
	Listing Order = "listing" // sla.Rank in the adaptation loop of the paper
	Queue   Order = "queue"   // sla.Queue
	Oldest  Order = "oldest"  // the process that began first
)

// A Policy says how the proxies work.
type Policy struct {
	Order Order
	Form  sla.Form // of Queue

	// Of Listing. The loop begins an iteration each Period response times of the
	// service: the paper's is 1/2. Predict has requests that are only predicted
	// hold a place of the service until they are made or the next iteration ends.
	// An iteration takes Cost for each process that runs: its priorities count
	// from then on, and the next one begins no earlier. With Blocks the proxy
	// sends nothing to its service meanwhile.
	// An iteration predicts the requests of half a response time, as listing 1 has
	// it; with Matched those of its period, which the paper says is the same.
	Period  float64
	Predict bool
	Matched bool
	Cost    time.Duration
	Blocks  bool

	// EventCost is what Queue takes for each request that is put: requests pass
	// through each proxy one after another, and the proxy sees a request that
	// much after it was made.
	EventCost time.Duration
}

// Validate returns a *crowd.Error that names what makes no sense, or nil.
func (p *Policy) Validate() error {
	switch {
	case p.Order != FIFO && p.Order != Listing && p.Order != Queue && p.Order != Oldest:
		return crowd.Fieldf("order", "%q is not an order: fifo, listing, queue or oldest", string(p.Order))
	case p.Order == Queue && !slices.Contains(sla.Forms(), p.Form):
		return crowd.Fieldf("form", "%q is not a form of a queue: atc, event or loop", string(p.Form))
	case p.Order == Listing && !(p.Period > 0 && p.Period <= 1000):
		return crowd.Fieldf("period", "%g response times: more than 0, at most 1000", p.Period)
	case p.Cost < 0 || p.EventCost < 0:
		return crowd.Fieldf("cost", "%s and %s: not less than 0", p.Cost, p.EventCost)
	}
	return nil
}

// horizon is how far ahead an iteration predicts.
func (p *Policy) horizon(response time.Duration) time.Duration {
	if p.Matched {
		return time.Duration(p.Period * float64(response))
	}
	return response / 2
}

// A proxy keeps the requests that wait before a service.
type proxy interface {
	put(now time.Time, r request)
	// next takes up to free requests, in order. It may leave places free though
	// requests wait; held says how many it keeps from those that wait, for requests that are
	// predicted.
	next(now time.Time, free int, serve func(request)) (held int)
}

// A request is a step of a running process.
type request struct {
	p    *process
	step int
}

// ordered is the proxy of Queue.
type ordered struct {
	queue    *sla.Queue
	response []time.Duration
	requests map[int64]request
}

func (o *ordered) put(now time.Time, r request) {
	entry := r.p.Request(now, r.step, o.response)
	entry.ID = entry.ID*MostSteps + int64(r.step)
	o.requests[entry.ID] = r
	o.queue.Put(now, entry)
}

func (o *ordered) next(now time.Time, free int, serve func(request)) int {
	if free == 0 || o.queue.Len() == 0 {
		return 0
	}
	o.queue.Advance(now)
	for ; free > 0; free-- {
		head, _, ok := o.queue.Head()
		if !ok {
			break
		}
		r := o.requests[head.ID]
		delete(o.requests, head.ID)
		o.queue.Drop(head.ID)
		serve(r)
	}
	return 0
}

// oldest is the proxy of Oldest. Processes are numbered as they begin.
type oldest struct {
	waits heap.Queue[request]
}

func (o *oldest) put(_ time.Time, r request) {
	o.waits.Push(time.Duration(r.p.ID), r)
}

func (o *oldest) next(_ time.Time, free int, serve func(request)) int {
	for ; free > 0 && o.waits.Len() > 0; free-- {
		_, r := o.waits.Pop()
		serve(r)
	}
	return 0
}

// listed is the proxy of Listing: the priorities of the last iteration, and
// after them, as they come, the requests that it did not know of. Without any
// iteration it is that of FIFO.
type listed struct {
	ranked []request
	round  uint32 // number of the iteration that ranked is of
	fresh  []request
	n      int // requests that wait
	keep   []request
}

func (l *listed) put(_ time.Time, r request) {
	l.n++
	if r.p.marks[r.step] != l.round || l.round == 0 {
		l.fresh = append(l.fresh, r)
	}
}

func (l *listed) next(_ time.Time, free int, serve func(request)) int {
	at := 0
	l.keep = l.keep[:0]
	for ; at < len(l.ranked) && free > 0; at++ {
		r := l.ranked[at]
		switch r.p.Steps[r.step].Progress {
		case sla.Waiting:
			free--
			l.n--
			serve(r)
		case sla.Ahead, sla.Skipped: // the proxy does not know that it will not come
			free--
			l.keep = append(l.keep, r)
		}
	}
	// What is held stays in front of what was not looked at.
	at -= copy(l.ranked[at-len(l.keep):at], l.keep)
	l.ranked = l.ranked[at:]
	for ; free > 0 && len(l.fresh) > 0; free-- {
		r := l.fresh[0]
		l.fresh = l.fresh[1:]
		l.n--
		serve(r)
	}
	if l.n == 0 {
		return 0 // nothing is kept from anybody
	}
	return len(l.keep)
}

// update takes over the priorities of an iteration.
func (l *listed) update(ranked []request) {
	l.round++
	l.ranked = ranked
	for _, r := range ranked {
		r.p.marks[r.step] = l.round
	}
	old := l.fresh
	l.fresh = nil
	for _, r := range old {
		if r.p.marks[r.step] != l.round {
			l.fresh = append(l.fresh, r)
		}
	}
}
