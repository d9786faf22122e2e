package sched

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// laxity is Throng's own policy: it serves the production batches that are
// behind and can still be done in time, the least work first, and shares the
// rest of the crowd fairly. docs/policies.md tells how it came about.
//
// What a production batch with a deadline d needs at a time t is a number of
// people,
//
//	need = L s/(ℓ - t),   ℓ = d - 1.5 s
//
// with s the expected time of one assignment (Batch.TaskTime, which the engine
// learns from what it sees). ℓ is the last moment at which it makes sense to
// begin one: who begins with 1.5 s left is in time in about 3 cases of 4 when
// times are exponentially distributed. The crowd N is everybody at work, and the
// worker who asks. The batch
//
//	is lost     when t ≥ ℓ: no start helps any more
//	is too big  when need > N: not even everybody would do
//	is behind   when pace·need > R: at this rate it takes more than 1/pace of the
//	            time that is left
//	is on pace  otherwise
//
// Batches that are behind go first, the least work per priority, L s/P, first:
// where there is more work than people, that order misses the fewest deadlines.
// All others share what is left by R/P, as under wfs, best-effort and lost ones
// among them: a lost batch is not dropped, it only has no claim any more.
//
// The guarantee: while the batches without a claim (best-effort and lost ones)
// have less than a share of N between them, they go before all others. So none
// starves, whatever deadlines anybody sets.
//
// Every change of state comes at a time that is known in advance (ℓ, and
// ℓ - pace·L s/R), but for too big, which depends on N. So there is a calendar of
// the batches by their next change; and a batch is found to be too big when it
// comes first of those behind, and is looked at again when N passes what it then
// needed, which only grows. An event costs O(log B). So does a decision,
// amortised: it moves the batches whose time has come or whom N has passed, and
// those too big that stand before the first that is not.
type laxity struct {
	name  string
	share float64 // of N, for batches without a claim; 0 to 1
	pace  float64 // ≥ 1

	book   book
	claims []claim // by slot
	now    int64   // of the last decision
	people int64   // Σ R
	free   int64   // Σ R of batches without a claim

	calendar index // batches with a claim, by the time at which it changes
	tooBig   index // candidates found to be too big, by what they needed then
	// The candidates:
	behind index // by L s/P; too big ones that were not found out among them
	paced  index // on pace, and found to be too big: by R/P
	idle   index // without a claim: by R/P
	passed []entry
}

// A claim is what a production batch may ask for.
type claim struct {
	state   claimState
	running uint32 // as counted in people and, without a claim, in free
	counted bool
}

type claimState uint8

const (
	noClaim  claimState = iota // best-effort, or lost
	onPace                     // or found to be too big
	isBehind                   // or too big
)

// Defaults, and ℓ's margin in units of s: see docs/policies.md.
const (
	laxityShare  = 0.1
	laxityPace   = 8
	laxityMargin = 1.5
)

func (p *laxity) Name() string { return p.name }

func (p *laxity) Set(b Batch) {
	if !b.Open() {
		p.Remove(b.ID)
		return
	}
	slot, _, _ := p.book.set(&b)
	if int(slot) == len(p.claims) {
		p.claims = append(p.claims, claim{})
	}
	p.place(slot)
}

func (p *laxity) Remove(id crowd.BatchID) {
	slot, known := p.book.remove(id)
	if !known {
		return
	}
	p.count(slot, noClaim, 0)
	p.claims[slot] = claim{}
	for _, ix := range []*index{&p.calendar, &p.tooBig, &p.behind, &p.paced, &p.idle} {
		ix.drop(slot)
	}
}

// lastStart is ℓ.
func lastStart(r *record) int64 {
	margin := int64(min(laxityMargin*float64(r.taskTime), math.MaxInt64/4))
	return max(r.deadline, math.MinInt64/2) - margin
}

// need is the number of people that would do the batch by ℓ, from a time before
// it.
func need(r *record, now int64) float64 {
	return float64(r.left()) * float64(r.taskTime) / (float64(lastStart(r)) - float64(now))
}

// place puts a batch where it belongs at p.now; if it is too big, that has to be
// found out anew.
func (p *laxity) place(slot uint32) {
	r := &p.book.records[slot]
	state, until := p.claimOf(r)
	p.count(slot, state, r.running)
	p.claims[slot].state = state
	if state == noClaim {
		p.calendar.drop(slot)
	} else {
		p.calendar.set(cell{}, entry{key: fromInt(until), id: int64(r.id), slot: slot})
	}
	p.tooBig.drop(slot)
	home := []*index{noClaim: &p.idle, onPace: &p.paced, isBehind: &p.behind}
	for s, ix := range home {
		if claimState(s) != state || !r.assignable {
			ix.drop(slot)
		}
	}
	if !r.assignable {
		return
	}
	key := fairKey(r)
	if state == isBehind {
		key = workKey(r)
	}
	home[state].set(cell{class: r.class}, r.entry(key, slot))
}

// workKey is L s/P in seconds.
func workKey(r *record) uint64 {
	return fromFloat(float64(r.left()) * r.taskTime.Seconds() / r.priority)
}

// fairKey is R/P.
func fairKey(r *record) uint64 { return fromFloat(float64(r.running) / r.priority) }

// claimOf returns the state of a batch at p.now, and until when it holds if
// nothing else changes.
func (p *laxity) claimOf(r *record) (claimState, int64) {
	if r.deadline == noDeadline || !r.production {
		return noClaim, 0
	}
	last := lastStart(r)
	if p.now >= last {
		return noClaim, 0
	}
	if r.running > 0 {
		due := float64(last) - p.pace*float64(r.left())*float64(r.taskTime)/float64(r.running)
		if float64(p.now) < due {
			return onPace, min(int64(due), last)
		}
	}
	return isBehind, last
}

// count keeps the sums over people.
func (p *laxity) count(slot uint32, state claimState, running uint32) {
	c := &p.claims[slot]
	p.people += int64(running) - int64(c.running)
	if c.counted && c.state == noClaim {
		p.free -= int64(c.running)
	}
	if state == noClaim {
		p.free += int64(running)
	}
	c.running, c.counted = running, true
}

// crowd is N.
func (p *laxity) crowd() float64 { return float64(p.people + 1) }

// owed says that the batches without a claim have less than their share.
func (p *laxity) owed() bool { return float64(p.free) < p.share*p.crowd() }

// fits says whether a batch with a claim is not too big.
func (p *laxity) fits(slot uint32) bool {
	return need(&p.book.records[slot], p.now) <= p.crowd()
}

// advance moves the batches whose state has changed by a time.
func (p *laxity) advance(now int64) {
	p.now = max(p.now, now)
	for e, ok := p.calendar.first(); ok && e.key <= fromInt(p.now); e, ok = p.calendar.first() {
		p.place(e.slot)
	}
	for e, ok := p.tooBig.first(); ok && e.key <= fromFloat(p.crowd()); e, ok = p.tooBig.first() {
		p.place(e.slot)
		if !p.fits(e.slot) {
			p.dismiss(e.slot)
		}
	}
	for e, ok := p.behind.first(); ok && !p.fits(e.slot); e, ok = p.behind.first() {
		p.dismiss(e.slot)
	}
}

// dismiss puts a batch that is behind and too big with those that are on pace.
func (p *laxity) dismiss(slot uint32) {
	r := &p.book.records[slot]
	p.claims[slot].state = onPace
	p.behind.drop(slot)
	p.tooBig.set(cell{}, entry{key: fromFloat(need(r, p.now)), id: int64(r.id), slot: slot})
	p.paced.set(cell{class: r.class}, r.entry(fairKey(r), slot))
}

func (p *laxity) Next(at time.Time, w Worker) crowd.BatchID {
	p.advance(nanos(at))
	p.passed = p.passed[:0]
	owed := p.owed()
	if owed {
		if id := p.fair(w, &p.idle); id != 0 {
			return id
		}
	}
	walk := p.behind.walk(w)
	for e, ok := walk.next(); ok; e, ok = walk.next() {
		if !p.fits(e.slot) {
			r := &p.book.records[e.slot]
			p.passed = append(p.passed, r.entry(fairKey(r), e.slot))
		} else if id := crowd.BatchID(e.id); w.MayBatch(id) {
			return id
		}
	}
	if owed {
		return p.fair(w, &p.paced)
	}
	return p.fair(w, &p.paced, &p.idle)
}

// fair names the first batch by R/P, of some indexes and of those passed.
func (p *laxity) fair(w Worker, from ...*index) crowd.BatchID {
	var heads [3]entry
	var have [3]bool
	var walks [2]walk
	for i, ix := range from {
		walks[i] = ix.walk(w)
		heads[i], have[i] = walks[i].next()
	}
	slices.SortFunc(p.passed, func(a, b entry) int {
		if a.before(&b) {
			return -1
		}
		return 1
	})
	rest, last := p.passed, len(from)
	for {
		if have[last] = len(rest) > 0; have[last] {
			heads[last] = rest[0]
		}
		best := -1
		for i := 0; i <= last; i++ {
			if have[i] && (best < 0 || heads[i].before(&heads[best])) {
				best = i
			}
		}
		if best < 0 {
			return 0
		}
		if id := crowd.BatchID(heads[best].id); w.MayBatch(id) {
			return id
		}
		if best == last {
			rest = rest[1:]
		} else {
			heads[best], have[best] = walks[best].next()
		}
	}
}

func (p *laxity) Key(id crowd.BatchID) (Key, bool) {
	_, r, known := p.book.find(id)
	if !known {
		return Key{}, false
	}
	k := newKey(p.name, r)
	state, _ := p.claimOf(r)
	k.Figures = []Figure{
		{"R", Number(r.running), "running"},
		{"L", Number(r.left()), "left: running or not yet started"},
		{"P", Number(r.priority), "priority"},
		{"s", Number(r.taskTime.Seconds()), "expected time of one assignment, seconds"},
		{"N", Number(p.crowd()), "the crowd: everybody at work, and the worker who asks"},
		{"free", Number(p.free), fmt.Sprintf("running in batches without a claim, who are owed %g of N", p.share)},
	}
	fair := Number(math.Float64frombits(fairKey(r)))
	level := Number(1)
	if p.owed() {
		level = 2
	}
	k.Rank = []Number{level, fair}
	switch {
	case state == noClaim && r.deadline != noDeadline && r.production:
		k.Words = "too late for its deadline, so without a claim: least R/P first"
	case state == noClaim:
		k.Words = "best-effort: least R/P first"
	default:
		n := need(r, p.now)
		k.Figures = append(k.Figures,
			Figure{"need", Number(n), "people that would do it in time: L s/(deadline - 1.5 s - now)"},
			Figure{"left_s", Number(float64(lastStart(r)-p.now) / float64(time.Second)), "seconds until the last start that helps"})
		switch {
		case state == onPace:
			k.Words = fmt.Sprintf("on pace: at least %g times as many work on it as it needs; least R/P first", p.pace)
		case n > p.crowd():
			k.Words = "too big: it needs more people than there are; least R/P first"
		default:
			k.Words = fmt.Sprintf("behind: fewer than %g times as many work on it as it needs; before those without a need, least work L s/P first", p.pace)
			k.Rank = []Number{level - 1, Number(math.Float64frombits(workKey(r)))}
		}
	}
	if state == noClaim && level == 2 {
		k.Rank[0] = 0
		k.Words += "; batches without a claim have less than their share, so these go first"
	}
	return k, true
}

var _ Policy = (*laxity)(nil)

// first returns the first entry of an index, whatever its cell.
func (ix *index) first() (entry, bool) {
	best, ok := entry{}, false
	for _, h := range ix.live {
		if e := ix.shards[h].entries[0]; !ok || e.before(&best) {
			best, ok = e, true
		}
	}
	return best, ok
}
