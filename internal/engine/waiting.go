package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/heap"
)

// waitingQueue is the queue of event 1: workers for whom nothing was ready, in the order in
// which they came, and those alike apart from the others: an offer looks at nobody who may not
// do what is offered, however many of them wait.
type waitingQueue struct {
	head, tail *worker
	n          int
	came       uint64            // so many have come
	alike      map[string]*peers // by worker.kind
	kinds      []*peers          // the same
	heads      heap.Queue[*worker]
}

// peers are people who wait and may do the same batches, in the order in which they came.
type peers struct {
	kind       string
	at         int // in waitingQueue.kinds
	head, tail *worker
}

// inQueue is a worker's place in the queue.
type inQueue struct {
	prev, next           *worker
	peers                *peers // nil: they do not wait
	prevAlike, nextAlike *worker
	came                 uint64 // who came later has a higher one
	kind                 string // see kindOf; "": not known
}

func (q *waitingQueue) len() int { return q.n }

func (q *waitingQueue) push(w *worker) {
	if w.waiting {
		return
	}
	w.waiting, w.prev = true, q.tail
	if q.tail != nil {
		q.tail.next = w
	} else {
		q.head = w
	}
	q.tail = w
	q.n++
	q.came++
	w.came = q.came
	q.join(w)
}

func (q *waitingQueue) remove(w *worker) {
	if !w.waiting {
		return
	}
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		q.head = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		q.tail = w.prev
	}
	w.prev, w.next, w.waiting = nil, nil, false
	q.n--
	q.part(w)
}

// join puts w among those alike.
func (q *waitingQueue) join(w *worker) {
	if w.kind == "" {
		w.kind = w.engine.kindOf(w)
	}
	p := q.alike[w.kind]
	if p == nil {
		p = &peers{kind: w.kind, at: len(q.kinds)}
		if q.alike == nil {
			q.alike = make(map[string]*peers)
		}
		q.alike[w.kind] = p
		q.kinds = append(q.kinds, p)
	}
	after := p.tail
	for after != nil && after.came > w.came { // they came to be alike later
		after = after.prevAlike
	}
	w.peers, w.prevAlike = p, after
	if after != nil {
		w.nextAlike, after.nextAlike = after.nextAlike, w
	} else {
		w.nextAlike, p.head = p.head, w
	}
	if w.nextAlike != nil {
		w.nextAlike.prevAlike = w
	} else {
		p.tail = w
	}
}

// part takes w from those alike.
func (q *waitingQueue) part(w *worker) {
	p := w.peers
	if w.prevAlike != nil {
		w.prevAlike.nextAlike = w.nextAlike
	} else {
		p.head = w.nextAlike
	}
	if w.nextAlike != nil {
		w.nextAlike.prevAlike = w.prevAlike
	} else {
		p.tail = w.prevAlike
	}
	w.peers, w.prevAlike, w.nextAlike = nil, nil, nil
	if p.head == nil {
		last := q.kinds[len(q.kinds)-1]
		q.kinds[p.at], last.at = last, p.at
		q.kinds = q.kinds[:len(q.kinds)-1]
		delete(q.alike, p.kind)
	}
}

// changed takes note that w may do other batches than before.
func (q *waitingQueue) changed(w *worker) {
	w.kind = ""
	if w.waiting {
		q.part(w)
		q.join(w)
	}
}

// eachOffered goes through those who wait and may do one of some batches as far as that is the
// same for all alike, longest wait first, until f returns false. f may serve them.
func (q *waitingQueue) eachOffered(offers []*batch, f func(*worker) bool) {
	for _, p := range q.kinds {
		if slices.ContainsFunc(offers, p.may) {
			q.heads.Push(time.Duration(p.head.came), p.head)
		}
	}
	for q.heads.Len() > 0 {
		_, w := q.heads.Pop()
		if next := w.nextAlike; next != nil {
			q.heads.Push(time.Duration(next.came), next)
		}
		if !f(w) {
			q.heads.DeleteFunc(func(*worker) bool { return true })
		}
	}
}

// may reports whether a batch is for p, as far as that is the same for all of them.
func (p *peers) may(b *batch) bool {
	return p.head.MayClass(b.class) && p.head.forWhom.bars(b.spec.Tenant) == crowd.Eligible
}

// kindOf says what w may do by what is asked and for whom they work: it is the same text for all
// who may do the same classes of batches of the same tenants.
func (e *Engine) kindOf(w *worker) string {
	var text strings.Builder
	for i := range e.classes.list {
		c := &e.classes.list[i]
		may := byte('0')
		if w.meets(c.tenant, c.requires) {
			may = '1'
		}
		text.WriteByte(may)
	}
	if w.training > 0 {
		text.WriteByte('t')
	}
	if w.forWhom != nil {
		fmt.Fprint(&text, *w.forWhom)
	}
	return text.String()
}

// newClass takes note of a class of batches more: people who were alike may be so no longer.
func (e *Engine) newClass() {
	for _, w := range e.workers {
		w.kind = ""
	}
	q := &e.waiting
	q.alike, q.kinds = nil, nil
	for w := q.head; w != nil; w = w.next {
		w.peers, w.prevAlike, w.nextAlike = nil, nil, nil
		q.join(w)
	}
}

// check verifies that everybody who waits is among those alike, in the same order.
func (q *waitingQueue) check() error {
	n := 0
	for i, p := range q.kinds {
		if p.at != i || q.alike[p.kind] != p || p.head == nil {
			return fmt.Errorf("those who wait alike (%q) are kept badly", p.kind)
		}
		for w, before := p.head, (*worker)(nil); w != nil; w, before = w.nextAlike, w {
			n++
			switch {
			case !w.waiting || w.peers != p || w.kind != p.kind || w.prevAlike != before:
				return fmt.Errorf("%s waits badly among those alike (%q)", w.id, p.kind)
			case w.kind != w.engine.kindOf(w):
				return fmt.Errorf("%s waits among those who may do %q, and may do %q", w.id, p.kind, w.engine.kindOf(w))
			case before != nil && before.came >= w.came:
				return fmt.Errorf("%s waits after %s, who came later", w.id, before.id)
			}
		}
	}
	if n != q.n || len(q.alike) != len(q.kinds) {
		return fmt.Errorf("%d of %d who wait are among those alike, in %d lists of %d", n, q.n, len(q.kinds), len(q.alike))
	}
	return nil
}
