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
// is the same order, and so one of all tasks of the pool; under the other forms it
// looks ahead by the task time of the batch, and between batches all look ahead by the
// same, as indexes cannot be compared otherwise. Ties by the least Since, then turn, then
// id. Batches of which nothing was promised, or of which all is lost, share with all
// others that have nothing to lose, longest wait first.
//
// form=rest: the least Falls first, each earlier by the look for every factor of e that
// Stake is worth for a minute of Work. These are the logarithms of c/W·exp(-t/D), the
// cost that can be escaped, discounted by how far off it is, for a minute of the work
// that it takes to escape it: with the stake as c, what is left until Falls as t and the
// look as D. So of items that are promised the same, who has least work left goes first.
//
// form=atc: the least Due first, each earlier by look for every factor of e that
// Stake is worth for a minute of the task's own work. As in the index of apparent
// tardiness cost, c/p·exp(-slack/k), of which these are the logarithms, with the stake
// as c, the task time as p and look as k. Source: A. P. J. Vepsalainen, T. E. Morton,
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
	form string
	look time.Duration // of rest and atc
	book book
	owed []promise // by slot
	ix   index     // the candidates
}

// A promise is what penalty keeps of a batch in addition to its record, brought into its
// domain.
type promise struct {
	due, since   int64 // ns since 1970; of due noDeadline for none. With form=rest it is Falls
	stake, added crowd.Money
	work, look   time.Duration // that it takes, and how far ahead it is weighed
}

func (p *penalty) promised(b *Batch) promise {
	q := promise{
		due: noDeadline, since: nanos(b.Since),
		stake: min(max(b.Stake, 0), crowd.MaxMoney), added: min(max(b.Added, 0), crowd.MaxMoney),
		work: max(b.TaskTime, 1), look: p.look,
	}
	due := b.Due
	if p.form == formRest {
		if !b.Falls.IsZero() {
			due = b.Falls
		}
		if b.Work > 0 {
			q.work = b.Work
		}
		if p.look == poolsLook {
			q.look = min(max(b.Look, 0), farthestLook)
		}
	}
	if !b.Due.IsZero() {
		q.due = min(nanos(due), noDeadline-1)
	}
	return q
}

// listing1 reports whether the order is that of listing 1.
func (p *penalty) listing1() bool { return p.form == formEvent || p.form == formLoop }

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
	p.owed[slot] = p.promised(b)
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
	if !p.listing1() {
		first, width = q.urgency(), dueBits
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

// urgency is due less what the stake is worth, in µs from the earliest there is.
func (q *promise) urgency() uint64 {
	if q.due == noDeadline {
		return never
	}
	at := q.due/1000 - q.worth().Microseconds() // whole numbers: a float64 as large is 2 µs wide
	return uint64(min(max(at+1<<(dueBits-1), 0), never-1))
}

// worth is how much earlier than due a batch goes first.
func (q *promise) worth() time.Duration {
	perMinute := float64(max(q.stake, 1)) / float64(crowd.Unit) / q.work.Minutes()
	return time.Duration(float64(q.look) * math.Log(perMinute))
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
	if !p.listing1() {
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

// explain is Key of form=rest and form=atc.
func (p *penalty) explain(k *Key, r *record, q *promise, since Figure) {
	if q.due == noDeadline {
		k.Rank = append([]Number{Number(math.Inf(1)), 0}, instant(q.since)...)
		k.Figures = []Figure{since}
		k.Words = "most urgent step of a penalty first: nothing can be escaped, so after those that can; the longest wait first, here since " + instantNote(q.since)
		return
	}
	worth, urgent := q.worth(), (int64(q.urgency())-1<<(dueBits-1))*1000
	due := Figure{"due", instant(q.due)[0], "if its most urgent waiting task is not handed out before " + instantNote(q.due) + ", a penalty falls due"}
	takes := Figure{"response_time", Number(r.taskTime.Seconds()), "seconds: expected time of one assignment"}
	unless := "its first task is handed out"
	if p.form == formRest {
		due = Figure{"falls", instant(q.due)[0], "when the next penalty that its most urgent waiting task can still escape falls due"}
		takes = Figure{"work", Number(q.work.Seconds()), "seconds of people's time that its item still needs, this task included"}
		unless = "its first item has ended"
	}
	k.Rank = append(instant(urgent), instant(q.since)...)
	k.Figures = []Figure{
		due,
		{"stake", Number(q.stake), "millionths: what then falls due, " + q.stake.String()},
		takes,
		{"worth", Number(worth.Seconds()), fmt.Sprintf("seconds by which it goes before its due time: %s for each factor of e that the stake is above 1 for a minute of work", q.look)},
		since,
	}
	k.Words = fmt.Sprintf("most urgent step of a penalty first: %s falls due unless %s before %s%s",
		q.stake, unless, instantNote(q.due), orderedAt(worth, urgent))
}

// orderedAt says why a batch goes at another time than the one at which it is due; "": it does
// not.
func orderedAt(worth time.Duration, urgent int64) string {
	shift, how, why := worth.Abs().Round(time.Second), "earlier", "more"
	if worth < 0 {
		how, why = "later", "less"
	}
	if shift == 0 {
		return ""
	}
	return fmt.Sprintf("; ordered as if that were at %s, %s %s, as %s than %s is at stake for a minute of work", instantNote(urgent), shift, how, why, crowd.Unit)
}

var _ Policy = (*penalty)(nil)

// PenaltyForm returns the form in which the tasks of a batch are ordered under a
// policy's text form: atc (under penalty with form=rest and form=atc, and also if there
// is no penalty or the text is not a policy's), event, or loop, which has
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
	formRest  = "rest"
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
	usualLook    = time.Minute // of form=atc
	poolsLook    = -1          // of form=rest: Batch.Look
	mostLook     = 24 * time.Hour
	farthestLook = 1000 * mostLook // of Batch.Look
)

func (s spec) penalty() (func() Policy, error) {
	form := s.Choice("form", formRest, formATC, formEvent, formLoop)
	usual := usualLook
	if form == formRest {
		usual = poolsLook
	}
	look := s.Duration("look", textform.Range[time.Duration]{Usual: usual, Most: mostLook, About: "how far ahead it looks"})
	if _, given := s.Value("look"); given && (form == formEvent || form == formLoop) {
		s.Refuse("%s takes look only with form=rest or form=atc", s.Name)
	}
	fresh, err := s.finish(min(len(s.Inner), 1), func() Policy { return &penalty{name: s.String(), form: form, look: look} })
	if err != nil || len(s.Inner) == 0 {
		return fresh, err
	}
	inner, err := spec{s.Inner[0]}.build()
	return func() Policy {
		others := inner()
		return &promises{penalty{name: s.Around(others.Name()), form: form, look: look}, others}
	}, err
}
