package sched

import (
	"fmt"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// penalty hands out where delay is dearest: the most Added first, then the least
// Since; ties by turn, then id. So it is listing 1 of the paper below, over all
// batches of the pool: a batch stands for its most urgent task, and within a batch
// the engine keeps the same order. Batches of which nothing was promised add
// nothing, and share with all others that have nothing to lose, longest wait
// first.
//
// Deliberately starves: while tasks that a delay makes dearer take every worker,
// what costs nothing, or is lost already, waits.
//
// The two forms differ in when Added is computed, which is not done here: see
// Loops.
//
// Source: R. Khazankin, D. Schall, S. Dustdar, "Adaptive Request Prioritization in
// Dynamic Service-oriented Systems", listing 1.
type penalty struct {
	name string
	book book
	ix   index // the candidates
}

func (p *penalty) Name() string { return p.name }

func (p *penalty) Set(b *Batch) {
	if !b.Open() {
		p.Remove(b.ID)
		return
	}
	slot, r, _ := p.book.set(b)
	if !r.assignable {
		p.ix.drop(slot)
		return
	}
	p.ix.set(cell{class: r.class}, r.urgency(slot))
}

func (p *penalty) Remove(id crowd.BatchID) {
	if slot, known := p.book.remove(id); known {
		p.ix.drop(slot)
	}
}

// The widths of the figures in an entry of penalty's index, in bits. Together with
// the 64 of Since they fill its 192. What does not fit counts as the greatest that
// does: turns from 7·10^16 on, and ids beyond crowd.MaxBatchID.
const (
	addedBits = 40 // crowd.MaxMoney is less
	turnBits  = 56
	idBits    = 32
)

// urgency returns the record as an index entry. An entry is compared as one long
// number, key, turn and id; here that number is Added, falling, then Since, then
// the turn, then the id.
func (r *record) urgency(slot uint32) entry {
	const mostTurn, mostID = 1<<turnBits - 1, 1<<idBits - 1
	added := uint64(crowd.MaxMoney - r.added)
	since := fromInt(r.since)
	turn := min(r.turn, mostTurn)
	id := uint64(min(max(r.id, 0), mostID))
	return entry{
		key:  added<<(64-addedBits) | since>>addedBits,
		turn: since<<(64-addedBits) | turn>>idBits,
		id:   int64((turn<<idBits | id) ^ 1<<63), // ids are signed
		slot: slot,
	}
}

func (p *penalty) Next(_ time.Time, w Worker) crowd.BatchID {
	walk := p.ix.walk(w)
	for e, ok := walk.next(); ok; e, ok = walk.next() {
		if id := p.book.records[e.slot].id; w.MayBatch(id) {
			return id
		}
	}
	return 0
}

func (p *penalty) Key(id crowd.BatchID) (Key, bool) {
	_, r, known := p.book.find(id)
	if !known {
		return Key{}, false
	}
	k := newKey(p.name, r)
	k.Rank = append([]Number{Number(-r.added)}, instant(r.since)...)
	k.Figures = []Figure{
		{"added", Number(r.added), "millionths: by how much one more response time of delay raises the penalty of its most urgent waiting task, " + r.added.String()},
		{"since", k.Rank[1], "that task has waited since " + instantNote(r.since)},
		{"response_time", Number(r.taskTime.Seconds()), "seconds: expected time of one assignment"},
	}
	if r.added == 0 {
		k.Words = "greatest added penalty first: a delay adds nothing, so after those that it makes dearer; the longest wait first, here since " + instantNote(r.since)
		return k, true
	}
	k.Words = fmt.Sprintf("greatest added penalty first: a delay of %s adds %s to the penalty of its most urgent task, which has waited since %s",
		r.taskTime, r.added, instantNote(r.since))
	return k, true
}

var _ Policy = (*penalty)(nil)

// Loops says whether a policy, by its text form, has penalties recomputed every half
// response time (form=loop), as the paper does it, rather than when they change.
// Whoever fills in Batch.Added asks. False for a text that is not a policy's.
func Loops(text string) bool {
	s, err := take(text)
	return err == nil && s.loops()
}

func (s *spec) loops() bool {
	if s.name == "penalty" && s.options["form"] == "loop" {
		return true
	}
	for i := range s.inner {
		if s.inner[i].loops() {
			return true
		}
	}
	return false
}

func (s *spec) penalty() (func() Policy, error) {
	if err := s.allow(0, "form"); err != nil {
		return nil, err
	}
	name := s.name
	switch form := s.option("form", "event"); form {
	case "event":
	case "loop":
		name += "(form=loop)"
	default:
		return nil, refuse("%s takes form=event or form=loop, not form=%s", s.name, form)
	}
	return func() Policy { return &penalty{name: name} }, nil
}
