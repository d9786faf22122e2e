package sched

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// A ranking is an order of batches in which a batch's place follows from its
// own figures alone.
type ranking interface {
	// rank returns the batch's key, least first.
	rank(slot uint32, r *record) uint64
	// explain fills in Words, Figures and Rank.
	explain(slot uint32, r *record, k *Key)
}

// ranked hands out in the order of a ranking; ties by turn, then id.
type ranked struct {
	name string
	by   ranking
	book book
	ix   index // the candidates
}

func (p *ranked) Name() string { return p.name }

func (p *ranked) Set(b *Batch) {
	if !b.Open() {
		p.Remove(b.ID)
		return
	}
	slot, r, _ := p.book.set(b)
	if !r.assignable {
		p.ix.drop(slot)
		return
	}
	p.ix.set(cell{class: r.class}, r.entry(p.by.rank(slot, r), slot))
}

func (p *ranked) Remove(id crowd.BatchID) {
	if slot, known := p.book.remove(id); known {
		p.ix.drop(slot)
	}
}

func (p *ranked) Next(_ time.Time, w Worker) crowd.BatchID {
	walk := p.ix.walk(w)
	for e, ok := walk.next(); ok; e, ok = walk.next() {
		if id := crowd.BatchID(e.ID); w.MayBatch(id) {
			return id
		}
	}
	return 0
}

func (p *ranked) Key(id crowd.BatchID) (Key, bool) {
	slot, r, known := p.book.find(id)
	if !known {
		return Key{}, false
	}
	k := newKey(p.name, r)
	p.by.explain(slot, r, &k)
	return k, true
}

var _ Policy = (*ranked)(nil)
