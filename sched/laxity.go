package sched

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// laxity is Throng's own policy: production batches that are behind and can
// still be done in time go first, and the rest of the crowd is shared fairly.
// docs/policies.md tells how it came about.
//
// A production batch with a deadline d has a claim until its last start,
//
//	ℓ = d - s
//
// with s the expected time of one assignment (Batch.TaskTime, which the engine
// learns from what it sees). At a time t before that it needs a number of people,
//
//	need = L s/(ℓ - t),   need′ = need rounded down to a power of two
//
// The crowd N is everybody at work, and the worker for whom a batch is sought. The batch
//
//	is lost     when t ≥ ℓ: it has no claim any more
//	is too big  when need′ > N: not even everybody would do
//	is behind   when pace·need > R: at this rate it takes more than 1/pace of the
//	            time that is left
//	is on pace  otherwise
//
// and the first of these that holds is its state. s and N are estimates, so the
// rounding is in favour of the batch. It also makes the need change
// in steps.
//
// Batches that are behind go first. The crowd is strained when the need′ of all
// batches with a claim that are not too big come to more than N. While it is not,
// there are people for all, and the least ℓ goes first, as under edf. While it is,
// some will be late, and the least work per priority, L s/P, goes first, so that
// they are few.
//
// All others share what is left by R/P, as under wfs, best-effort and lost ones
// among them: a lost batch is not dropped, it only has no claim any more.
//
// The guarantee: while the batches without a claim (best-effort and lost ones)
// have less than a share of N between them, they go before all others. So those
// do not starve, whatever deadlines anybody sets. A batch with a claim has no such
// promise: where the crowd is strained for long, the one with the most work waits
// until it is too big or lost.
//
// All changes by time alone come at times that are known in advance, so there is
// a calendar of the batches by their next one; and what depends on N depends on
// its power of two, by which the indexes are divided. So nothing is looked for: an
// event costs O(log B), and so does a decision, with the heads of the cells to
// compare, one for each class and size. What time has brought costs O(log B) for
// each doubling of a batch's need.
type laxity struct {
	name  string
	share float64 // of N, for batches without a claim; 0 to 1
	pace  float64 // ≥ 1

	book   book
	claims []claim // by slot
	now    int64   // of the last decision
	people int64   // Σ R
	free   int64   // Σ R of batches without a claim
	sizes  [mostSize - leastSize + 1]int64

	calendar index // batches with a claim, by the time of their next change
	// The candidates. Groups of those behind are sizes, from 0: what is smaller
	// is never too big.
	byStart index // behind: by ℓ
	byWork  index // behind: by L s/P
	byShare index // all that may share what is left: by R/P
}

// A claim is what a production batch may ask for.
type claim struct {
	state   claimState
	size    int8   // need′ = 2^size; with a claim
	running uint32 // as counted in people and, without a claim, in free
}

type claimState uint8

const (
	noClaim  claimState = iota // best-effort, or lost
	isBehind                   // or too big
	onPace
)

// The bounds of a size. Needs below count as the least: a million of them come to
// no tenth of a person. None is above, where work and time are in 63 bits.
const (
	leastSize = -24
	mostSize  = 62
)

// The groups of byShare after those of the sizes.
const (
	pacedGroup = mostSize + 1 + iota
	idleGroup
)

// Defaults: see docs/policies.md.
const (
	laxityShare = 0.2
	laxityPace  = 8
)

func (p *laxity) Name() string { return p.name }

func (p *laxity) Set(b *Batch) {
	if !b.Open() {
		p.Remove(b.ID)
		return
	}
	slot, _, _ := p.book.set(b)
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
	p.count(slot, claim{})
	for _, ix := range []*index{&p.calendar, &p.byStart, &p.byWork, &p.byShare} {
		ix.drop(slot)
	}
}

// lastStart is ℓ.
func lastStart(r *record) int64 {
	return max(r.deadline, math.MinInt64/2) - min(int64(r.taskTime), math.MaxInt64/4)
}

// work is L s in nanoseconds, 292 years at most.
func work(r *record) uint64 {
	hi, lo := bits.Mul64(uint64(r.left()), uint64(r.taskTime))
	if hi > 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return lo
}

// workKey is L s/P in seconds.
func workKey(r *record) uint64 {
	return fromFloat(float64(work(r)) / float64(time.Second) / r.priority)
}

// fairKey is R/P.
func fairKey(r *record) uint64 { return fromFloat(float64(r.running) / r.priority) }

// sizeOf is the size of a need, from the work and the time that there is for it.
func sizeOf(work, slack uint64) int {
	size := bits.Len64(work) - bits.Len64(slack)
	if size < leastSize {
		return leastSize
	}
	if slackOf(work, size) < slack {
		size--
	}
	return max(size, leastSize)
}

// slackOf is the most time, in whole nanoseconds, for which a work's need has a
// size, or a greater one.
func slackOf(work uint64, size int) uint64 {
	if size >= 0 {
		return work >> size
	}
	if bits.Len64(work)-size > 64 {
		return math.MaxUint64
	}
	return work << -size
}

// claimOf returns the claim of a batch at p.now, and until when it holds if
// nothing else changes. All of it is in whole nanoseconds, so exact.
func (p *laxity) claimOf(r *record) (c claim, until int64) {
	c.running = r.running
	last := lastStart(r)
	if r.deadline == noDeadline || !r.production || p.now >= last {
		return c, 0
	}
	slack, work := uint64(last)-uint64(p.now), work(r)
	c.size, c.state = int8(sizeOf(work, slack)), isBehind
	change := slackOf(work, int(c.size)+1) // when that little is left
	if r.running > 0 {
		enough := math.Ceil(p.pace * float64(work) / float64(r.running))
		if enough < 1<<63 && uint64(enough) <= slack {
			c.state = onPace
			change = max(change, uint64(enough)-1)
		}
	}
	return c, last - int64(change)
}

// place puts a batch where it belongs at p.now.
func (p *laxity) place(slot uint32) {
	r := &p.book.records[slot]
	c, until := p.claimOf(r)
	p.count(slot, c)
	if c.state == noClaim {
		p.calendar.drop(slot)
	} else {
		p.calendar.set(cell{}, entry{Key: fromInt(until), ID: int64(r.id), Slot: slot})
	}
	behind := r.assignable && c.state == isBehind
	at := cell{class: r.class}
	if behind {
		at.group = uint32(max(c.size, 0))
		p.byStart.set(at, r.entry(fromInt(lastStart(r)), slot))
		p.byWork.set(at, r.entry(workKey(r), slot))
	} else {
		p.byStart.drop(slot)
		p.byWork.drop(slot)
	}
	switch {
	case !r.assignable || behind && at.group == 0: // never too big
		p.byShare.drop(slot)
		return
	case c.state == noClaim:
		at.group = idleGroup
	case c.state == onPace:
		at.group = pacedGroup
	}
	p.byShare.set(at, r.entry(fairKey(r), slot))
}

// count keeps the sums over people and over sizes.
func (p *laxity) count(slot uint32, c claim) {
	p.add(p.claims[slot], -1)
	p.add(c, 1)
	p.claims[slot] = c
}

func (p *laxity) add(c claim, sign int64) {
	p.people += sign * int64(c.running)
	if c.state == noClaim {
		p.free += sign * int64(c.running)
	} else {
		p.sizes[c.size-leastSize] += sign
	}
}

// crowd is N.
func (p *laxity) crowd() int64 { return p.people + 1 }

// owed says that the batches without a claim have less than their share.
func (p *laxity) owed() bool { return float64(p.free) < p.share*float64(p.crowd()) }

// largestSize is the greatest size that is not too big.
func (p *laxity) largestSize() int { return bits.Len64(uint64(p.crowd())) - 1 }

// demand is Σ need′ of the batches with a claim that are not too big.
func (p *laxity) demand() float64 {
	sum := 0.0 // in units of 2^size
	for size := leastSize; size <= p.largestSize(); size++ {
		sum = sum/2 + float64(p.sizes[size-leastSize])
	}
	return math.Ldexp(sum, p.largestSize())
}

// strained says that not all who have a claim can be served in time.
func (p *laxity) strained() bool { return p.demand() > float64(p.crowd()) }

// advance moves the batches whose claim has changed by a time.
func (p *laxity) advance(now int64) {
	p.now = max(p.now, now)
	for e, ok := p.calendar.first(nil, 0, 0); ok && e.Key <= fromInt(p.now); e, ok = p.calendar.first(nil, 0, 0) {
		p.place(e.Slot)
	}
}

func (p *laxity) Next(at time.Time, w Worker) crowd.BatchID {
	p.advance(nanos(at))
	largest, last := uint32(p.largestSize()), uint32(idleGroup)
	if p.owed() {
		if id := p.byShare.firstYes(w, idleGroup, idleGroup); id != 0 {
			return id
		}
		last = pacedGroup
	}
	order := &p.byStart
	if p.strained() {
		order = &p.byWork
	}
	if id := order.firstYes(w, 0, largest); id != 0 {
		return id
	}
	return p.byShare.firstYes(w, largest+1, last)
}

func (p *laxity) Key(id crowd.BatchID) (Key, bool) {
	slot, r, known := p.book.find(id)
	if !known {
		return Key{}, false
	}
	k := newKey(p.name, r)
	c := p.claims[slot]
	k.Figures = []Figure{
		{"R", Number(r.running), "running"},
		{"L", Number(r.left()), "left: running or not yet started"},
		{"P", Number(r.priority), "priority"},
		{"s", Number(r.taskTime.Seconds()), "expected time of one assignment, seconds"},
		{"N", Number(p.crowd()), "the crowd: everybody at work, and the worker for whom a batch is sought"},
		{"free", Number(p.free), fmt.Sprintf("running in batches without a claim, which are owed %g of N", p.share)},
	}
	const owed, first, rest = 0, 1, 2
	k.Rank = []Number{rest, Number(float64(r.running) / r.priority)}
	if c.state == noClaim {
		k.Words = "best-effort: least R/P first"
		if r.production && r.deadline != noDeadline {
			k.Words = "lost: too late to begin for its deadline, so without a claim; least R/P first"
		}
		if p.owed() {
			k.Rank[0] = owed
			k.Words += "; batches without a claim have less than their share, so they go before all others"
		}
		return k, true
	}
	slack := float64(uint64(lastStart(r)) - uint64(p.now))
	k.Figures = append(k.Figures,
		Figure{"left_s", Number(slack / float64(time.Second)), "seconds until the last start, deadline - s"},
		Figure{"need", Number(float64(work(r)) / slack), "people that would do it in time: L s/left_s"},
		Figure{"need'", Number(math.Ldexp(1, int(c.size))), "the same, rounded down to a power of two"},
		Figure{"demand", Number(p.demand()), "the sum of need' of all batches with a claim that are not too big"})
	switch {
	case c.state == onPace:
		k.Words = fmt.Sprintf("on pace: %g times as many work on it as it needs, or more; least R/P first", p.pace)
	case int(c.size) > p.largestSize():
		k.Words = "too big: it needs more people than there are; least R/P first"
	case p.strained():
		k.Words = fmt.Sprintf("behind: fewer work on it than %g times as many as it needs; the crowd is strained (demand above N), so the least work L s/P goes first", p.pace)
		k.Rank = []Number{first, Number(math.Float64frombits(workKey(r)))}
	default:
		k.Words = fmt.Sprintf("behind: fewer work on it than %g times as many as it needs; the crowd is not strained (demand up to N), so the earliest last start goes first", p.pace)
		k.Rank = append([]Number{first}, instant(lastStart(r))...)
	}
	return k, true
}

var _ Policy = (*laxity)(nil)

// first returns the first entry of some groups among the cells whose class the worker
// may do, or among all for a nil worker.
func (ix *index) first(w Worker, from, to uint32) (best entry, ok bool) {
	for _, handle := range ix.live {
		h := &ix.shards[handle]
		if h.group < from || h.group > to || ok && !h.entries[0].Before(&best) {
			continue
		}
		if w == nil || w.MayClass(h.class) {
			best, ok = h.entries[0], true
		}
	}
	return best, ok
}

// firstYes names the first batch of some groups that the worker may work on, or 0.
// Mostly it is the first of all, and no walk begins.
func (ix *index) firstYes(w Worker, from, to uint32) crowd.BatchID {
	e, ok := ix.first(w, from, to)
	if !ok || w.MayBatch(crowd.BatchID(e.ID)) {
		return crowd.BatchID(e.ID)
	}
	walk := ix.walkGroups(w, from, to)
	walk.next() // was refused
	for e, ok = walk.next(); ok; e, ok = walk.next() {
		if id := crowd.BatchID(e.ID); w.MayBatch(id) {
			return id
		}
	}
	return 0
}

// walkGroups begins a walk over the cells of some groups whose class the worker
// may do.
func (ix *index) walkGroups(w Worker, from, to uint32) walk {
	ix.front = ix.front[:0]
	for _, handle := range ix.live {
		h := &ix.shards[handle]
		if from <= h.group && h.group <= to && w.MayClass(h.class) {
			ix.start(h, handle)
		}
	}
	return walk{ix: ix}
}
