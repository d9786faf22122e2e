package sched

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/textform"
)

// penalty hands out where delay costs most. A batch stands for the first of its
// waiting tasks in the order that the engine keeps within it. Under listing 1 that
// is the same order, and so one of all tasks of the pool; under atc it looks ahead
// by the task time of the batch, and between batches all look ahead by the same, as
// indexes cannot be compared otherwise. Ties by the least Since, then turn, then id. Batches of
// which nothing was promised, or of which all is lost, share with all others that
// have nothing to lose, longest wait first.
//
// form=atc: the least Due first, each earlier by look for every factor of e that
// Stake is worth for a minute of work. As in the index of apparent tardiness cost,
// c/p·exp(-slack/k), of which these are the logarithms, with the stake as c, the
// task time as p and look as k. Source: A. P. J. Vepsalainen, T. E. Morton,
// "Priority Rules for Job Shops with Weighted Tardiness Costs", Management Science
// 33(8), 1987.
//
// form=event, form=loop: the most Added first. That is listing 1 of R. Khazankin, D.
// Schall, S. Dustdar, "Adaptive Request Prioritization in Dynamic Service-oriented
// Systems", over all batches of the pool. The two differ in when Added is computed,
// which is not done here: see PenaltyForm.
//
// Deliberately starves: while tasks that a delay makes more expensive take every worker,
// what costs nothing, or is lost already, waits.
type penalty struct {
	name string
	atc  bool
	look time.Duration // of atc
	book book
	owed []promise // by slot
	ix   index     // the candidates
}

// A promise is what penalty keeps of a batch in addition to its record: Due, Since, Stake
// and Added brought into their domain.
type promise struct {
	due, since   int64 // ns since 1970; noDeadline for none
	stake, added crowd.Money
}

func promised(b *Batch) promise {
	q := promise{noDeadline, nanos(b.Since), min(max(b.Stake, 0), crowd.MaxMoney), min(max(b.Added, 0), crowd.MaxMoney)}
	if !b.Due.IsZero() {
		q.due = min(nanos(b.Due), noDeadline-1)
	}
	return q
}

func (p *penalty) Name() string { return p.name }

func (p *penalty) Set(b *Batch) {
	if !b.Open() {
		p.Remove(b.ID)
		return
	}
	slot, r, _ := p.book.set(b)
	if int(slot) == len(p.owed) {
		p.owed = append(p.owed, promise{})
	}
	p.owed[slot] = promised(b)
	if !r.assignable {
		p.ix.drop(slot)
		return
	}
	p.ix.set(cell{class: r.class}, p.entry(slot, r))
}

func (p *penalty) Remove(id crowd.BatchID) {
	if slot, known := p.book.remove(id); known {
		p.ix.drop(slot)
	}
}

// The widths of the figures in an entry of penalty's index, in bits: what goes
// first, then 64 of Since, then the turn, then the id; 192 in all. What does not fit
// counts as the greatest that does: turns from 4·10^12 on (7·10^16 with listing 1),
// and ids beyond crowd.MaxBatchID.
const (
	addedBits = 40 // crowd.MaxMoney is less
	dueBits   = 54 // µs: the years 1684 to 2255
	idBits    = 32
)

// entry returns the record as an index entry. An entry is compared as one long
// number, key, turn and id.
func (p *penalty) entry(slot uint32, r *record) entry {
	q := &p.owed[slot]
	first, width := uint64(crowd.MaxMoney-q.added), addedBits
	if p.atc {
		first, width = p.urgency(r, q), dueBits
	}
	mostTurn, mostID := uint64(1)<<(96-width)-1, crowd.BatchID(1<<idBits-1)
	since := fromInt(q.since)
	turn := min(r.turn, mostTurn)
	id := uint64(min(max(r.id, 0), mostID))
	return entry{
		Key:  first<<(64-width) | since>>width,
		Turn: since<<(64-width) | turn>>idBits,
		ID:   int64((turn<<idBits | id) ^ 1<<63), // ids are signed
		Slot: slot,
	}
}

// never is the urgency of what cannot be escaped any more.
const never = 1<<dueBits - 1

// urgency is Due less what the stake is worth, in µs from the earliest there is.
func (p *penalty) urgency(r *record, q *promise) uint64 {
	if q.due == noDeadline {
		return never
	}
	at := q.due/1000 - p.worth(r, q).Microseconds() // whole numbers: a float64 as large is 2 µs wide
	return uint64(min(max(at+1<<(dueBits-1), 0), never-1))
}

// worth is how much earlier than Due a batch goes first.
func (p *penalty) worth(r *record, q *promise) time.Duration {
	perMinute := float64(max(q.stake, 1)) / float64(crowd.Unit) / r.taskTime.Minutes()
	return time.Duration(float64(p.look) * math.Log(perMinute))
}

func (p *penalty) Next(_ time.Time, w Worker) crowd.BatchID {
	walk := p.ix.walk(w)
	for e, ok := walk.next(); ok; e, ok = walk.next() {
		if id := p.book.records[e.Slot].id; w.MayBatch(id) {
			return id
		}
	}
	return 0
}

func (p *penalty) Key(id crowd.BatchID) (Key, bool) {
	slot, r, known := p.book.find(id)
	if !known {
		return Key{}, false
	}
	q := &p.owed[slot]
	k := newKey(p.name, r)
	since := Figure{"since", instant(q.since)[0], "that task has waited since " + instantNote(q.since)}
	if p.atc {
		p.explain(&k, r, q, since)
		return k, true
	}
	k.Rank = append([]Number{Number(-q.added)}, instant(q.since)...)
	k.Figures = []Figure{
		{"added", Number(q.added), "millionths: by how much one more response time of delay raises the penalty of its most urgent waiting task, " + q.added.String()},
		since,
		{"response_time", Number(r.taskTime.Seconds()), "seconds: expected time of one assignment"},
	}
	if q.added == 0 {
		k.Words = "greatest added penalty first: a delay adds nothing, so after those that it makes more expensive; the longest wait first, here since " + instantNote(q.since)
		return k, true
	}
	k.Words = fmt.Sprintf("greatest added penalty first: a delay of %s adds %s to the penalty of its most urgent task, which has waited since %s",
		r.taskTime, q.added, instantNote(q.since))
	return k, true
}

// explain is Key of form=atc.
func (p *penalty) explain(k *Key, r *record, q *promise, since Figure) {
	if q.due == noDeadline {
		k.Rank = append([]Number{Number(math.Inf(1)), 0}, instant(q.since)...)
		k.Figures = []Figure{since}
		k.Words = "most urgent step of a penalty first: nothing can be escaped, so after those that can; the longest wait first, here since " + instantNote(q.since)
		return
	}
	worth, urgent := p.worth(r, q), (int64(p.urgency(r, q))-1<<(dueBits-1))*1000
	k.Rank = append(instant(urgent), instant(q.since)...)
	k.Figures = []Figure{
		{"due", instant(q.due)[0], "if its most urgent waiting task is not handed out before " + instantNote(q.due) + ", a penalty falls due"},
		{"stake", Number(q.stake), "millionths: what then falls due, " + q.stake.String()},
		{"response_time", Number(r.taskTime.Seconds()), "seconds: expected time of one assignment"},
		{"worth", Number(worth.Seconds()), fmt.Sprintf("seconds by which it goes before its due time: %s for each factor of e that the stake is above 1 for a minute of work", p.look)},
		since,
	}
	k.Words = fmt.Sprintf("most urgent step of a penalty first: %s falls due unless its first task is handed out before %s; counts as %s",
		q.stake, instantNote(q.due), instantNote(urgent))
}

var _ Policy = (*penalty)(nil)

// PenaltyForm returns the form of the penalty policy in a policy's text form: atc
// (also if there is none, or the text is not a policy's), event, or loop, which has
// penalties recomputed every half response time, as the paper does it, rather than
// when they change. Whoever fills in Batch.Due and Batch.Added asks.
func PenaltyForm(text string) string {
	form, err := textform.Parse(text, maxText)
	if err != nil {
		return formATC
	}
	return penaltyForm(form)
}

const (
	formATC   = "atc"
	formEvent = "event"
	formLoop  = "loop"
)

func penaltyForm(f *textform.Form) string {
	if f.Name == "penalty" {
		if form, _ := f.Value("form"); form == formEvent || form == formLoop {
			return form
		}
	}
	for _, inner := range f.Inner {
		if form := penaltyForm(inner); form != formATC {
			return form
		}
	}
	return formATC
}

// The bounds of the option look.
const (
	usualLook = time.Minute
	mostLook  = 24 * time.Hour
)

func (s spec) penalty() (func() Policy, error) {
	form := s.Choice("form", formATC, formEvent, formLoop)
	look := s.Duration("look", textform.Range[time.Duration]{Usual: usualLook, Most: mostLook, About: "about the time of a task"})
	if _, given := s.Value("look"); given && form != formATC {
		s.Refuse("%s takes look only with form=atc", s.Name)
	}
	return s.finish(0, func() Policy { return &penalty{name: s.String(), atc: form == formATC, look: look} })
}
