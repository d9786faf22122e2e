package authors

import (
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// A listed policy hands out by a key of each batch, then id: edf-code and fs-code.
// An event moves O(B) entries of a sorted list; a candidate that is offered is O(1).
type listed struct {
	batches
	name    string
	key     func(*batch) uint64 // least first
	explain func(*batch, *sched.Key)
}

// newEDF makes edf-code: the earliest deadline first. Best-effort batches, whose
// deadline is infinite in the program, come last.
func newEDF() sched.Policy {
	return &listed{name: "edf-code", key: deadlineKey, explain: explainDeadline}
}

// newFS makes fs-code: the least R/T first.
func newFS() sched.Policy { return &listed{name: "fs-code", key: ratioKey, explain: explainRatio} }

func (p *listed) Name() string { return p.name }

func (p *listed) Set(in *sched.Batch) {
	if !in.Open() {
		p.Remove(in.ID)
		return
	}
	b := p.keep(in)
	p.place(b, b.candidate, p.key(b))
}

func (p *listed) Remove(id crowd.BatchID) { p.forget(id) }

func (p *listed) Next(_ time.Time, w sched.Worker) crowd.BatchID {
	for _, c := range p.order {
		if c.suits(w) {
			return c.id
		}
	}
	return 0
}

func (p *listed) Key(id crowd.BatchID) (sched.Key, bool) {
	b := p.open[id]
	if b == nil {
		return sched.Key{}, false
	}
	k := newKey(p.name, b)
	p.explain(b, &k)
	k.Rank = append(k.Rank, sched.Number(id)) // before the turn, which the program does not know
	return k, true
}

// deadlineKey is the deadline in nanoseconds since 1970. Sub takes what does not
// fit for the nearest that does.
func deadlineKey(b *batch) uint64 { return uint64(b.deadline.Sub(time.Unix(0, 0))) ^ 1<<63 }

func explainDeadline(b *batch, k *sched.Key) {
	k.Rank = []sched.Number{sched.Number(b.deadline.Unix()), sched.Number(b.deadline.Nanosecond())}
	if b.best() {
		k.Words = "earliest deadline first, then id: no deadline, so after every batch with one"
		return
	}
	note := b.deadline.Format(time.RFC3339Nano)
	k.Words = "earliest deadline first, then id: due " + note
	k.Figures = []sched.Figure{{Name: "deadline", Value: k.Rank[0], Note: note}}
}

func ratio(b *batch) float64 { return float64(b.running) / float64(b.planned) }

func ratioKey(b *batch) uint64 { return ordered(ratio(b)) }

func explainRatio(b *batch, k *sched.Key) {
	w := sched.Number(ratio(b))
	k.Words = "least w = R/T first, then id"
	k.Rank = []sched.Number{w}
	k.Figures = []sched.Figure{
		{Name: "R", Value: sched.Number(b.running), Note: "running"},
		{Name: "T", Value: sched.Number(b.planned), Note: "planned"},
		{Name: "w", Value: w, Note: "R/T"},
	}
}
