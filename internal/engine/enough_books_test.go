package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// The part of the books that is about batches that end by themselves, answers of one person,
// and tasks that are by somebody else.

// bound gives some batches such terms.
func (w *world) bound(s *engine.Spec, r *rand.Rand) {
	if r.IntN(4) == 0 {
		s.PerWorker = 1 + r.IntN(4)
	}
	if s.Open && r.IntN(2) == 0 {
		s.NotBy = []string{"draft"}
	}
	s.TellsWho = r.IntN(2) == 0
	if r.IntN(5) == 0 {
		s.Enough = w.randomEnough(s, r)
	}
}

func (w *world) randomEnough(s *engine.Spec, r *rand.Rand) *engine.Enough {
	x := engine.Enough{Labels: 1 + r.IntN(int(s.Tasks)+2)}
	switch r.IntN(5) {
	case 0:
		x = engine.Enough{Share: float64(1+r.IntN(4)) / 4}
	case 1:
		x = engine.Enough{Confidence: float64(1+r.IntN(10)) / 10}
	case 2:
		x = engine.Enough{Spent: s.Reward * crowd.Money(1+r.IntN(6))}
	case 3:
		x = engine.Enough{Labels: 4, Share: 0.5, Spent: s.Reward * 9}
	}
	return &x
}

// enough says which condition of b holds now, or "".
func (k *books) enough(b *batchBook) string {
	x := b.spec.Enough
	if x == nil {
		return ""
	}
	known := 0
	for _, t := range b.tasks {
		if t.known != "" {
			known++
		}
	}
	labels, sum := b.labelled-known+b.takenOver.Labels, b.takenOver.Certainty
	for _, t := range b.tasks {
		if t.label != nil && t.known == "" {
			sum += t.label.Confidence
		}
	}
	all := len(b.tasks) - known
	counted := !b.open || b.total > 0
	if b.open && b.total > all {
		all = b.total
	}
	wanted := float64(all - b.removed() + b.takenOver.Labels)
	switch {
	case x.Labels > 0 && labels >= x.Labels:
		return "labels"
	case x.Share > 0 && counted && float64(labels)/wanted > x.Share-1e-6:
		return "share"
	case x.Confidence > 0 && counted && sum/wanted > x.Confidence-1e-6:
		return "confidence"
	case x.Spent > 0 && k.spent(b)+k.promised(b)+b.spec.Reward > x.Spent:
		return "spent"
	}
	return ""
}

// checkEnough checks that a batch ends just when it has enough and nobody holds a task of it.
func (k *books) checkEnough(b *batchBook, s *engine.Status) error {
	why := k.enough(b)
	if (s.Reason == crowd.EnoughLabels) != (why != "") && s.Reason != crowd.EmergencyStop && s.Reason != crowd.BatchPaused {
		return fmt.Errorf("waits because of %s, but enough: %q", s.Reason, why)
	}
	if why == "" {
		return nil
	}
	if waits := why == "spent" && k.spent(b)+b.spec.Reward <= b.spec.Enough.Spent; b.running == b.learning() && !waits {
		return fmt.Errorf("it has enough %s, nobody holds a task of it, and it goes on", why)
	}
	k.seen["enough, and somebody at work: "+why]++
	return nil
}

// endedBecause notes why a batch ended that had enough.
func (k *books) endedBecause(b *batchBook, x *engine.Progress) error {
	if b.spec.Enough == nil || x.State != crowd.BatchStopped {
		return nil
	}
	met := b.spec.HadEnough(x)
	switch why := k.enough(b); {
	case why == "" && met != "":
		return fmt.Errorf("ended, and had enough of nothing, but says %q", met)
	case met != "":
		if b.open && (why == "share" || why == "confidence") {
			k.seen["total: ended before all had come"]++
		}
		k.seen["ended by itself: "+why]++
	case why != "":
		k.seen["ended early, with enough"]++
	}
	return nil
}

// gave counts the answers of w to b that count, or will.
func (k *books) gave(w crowd.WorkerID, b *batchBook) int {
	n := 0
	for _, r := range k.rows {
		if r.Worker == w && r.Task.Batch() == b.spec.ID && (r.kept != nil || r.answer != nil && r.answer.Counted) {
			n++
		}
	}
	return n
}

// mayGive reports whether w may give one more answer to b.
func (k *books) mayGive(w crowd.WorkerID, b *batchBook) bool {
	return b.spec.PerWorker == 0 || k.gave(w, b) < b.spec.PerWorker
}

// mayGiveLate is mayGive for a late answer: what they hold comes first.
func (k *books) mayGiveLate(w crowd.WorkerID, b *batchBook) bool {
	gave := k.gave(w, b)
	if h := k.holding[w]; h != nil && h.Task.Batch() == b.spec.ID {
		gave++
	}
	if may := b.spec.PerWorker == 0 || gave < b.spec.PerWorker; !may {
		k.seen["late, and one too many"]++
		return false
	}
	return true
}

// checkBy checks who a label says has answered.
func (k *books) checkBy(b *batchBook, x engine.Label) error {
	var want []crowd.WorkerID
	for _, r := range k.rows {
		if r.Task == x.Task && r.answer != nil && b.spec.TellsWho && !slices.Contains(want, r.Worker) {
			want = append(want, r.Worker)
		}
	}
	slices.Sort(want)
	if got := slices.Sorted(slices.Values(x.By)); !slices.Equal(got, want) {
		return fmt.Errorf("by %v, and it was %v who answered", got, want)
	}
	if len(want) > 0 {
		k.seen["label that tells who"]++
	}
	return nil
}

// exclude has people excluded from some items.
func (w *world) exclude(b *batchBook, items []engine.Item, r *rand.Rand) {
	if len(b.spec.NotBy) == 0 {
		return
	}
	for i := range items {
		for id := range crowd.WorkerID(9) {
			if r.IntN(3) == 0 {
				items[i].NotBy = append(items[i].NotBy, id+1)
			}
		}
	}
}

// judge changes when a batch has enough.
func (w *world) judge(c command) error {
	id := w.pick(c, func(b *batchBook) bool { return true })
	b := w.k.batches[id]
	edit := engine.Edit{Enough: &engine.Enough{}}
	if b != nil && c.b%3 > 0 {
		edit.Enough = w.randomEnough(&b.spec, rand.New(rand.NewPCG(uint64(c.a), uint64(c.b))))
	}
	edit.Release = c.a%2 == 0
	if c.a%3 == 0 {
		edit.Reserve = 100 * crowd.Unit
	}
	err := w.e.Edit(w.now, id, edit)
	if b == nil || !b.kept.State.Open() {
		return wantCode(err, crowd.NotFound)
	}
	next := b.spec
	if next.Enough = edit.Enough; *next.Enough == (engine.Enough{}) {
		next.Enough = nil
	}
	missing := w.k.missing(b, &next, 0)
	var why *crowd.Error
	switch {
	case edit.Enough.Spent > 0 && edit.Enough.Spent < b.spec.Reward:
		if !errors.As(err, &why) || why.Field != "enough.spent" {
			return fmt.Errorf("too little is enough: %v", err)
		}
		return nil
	case missing > edit.Reserve:
		if !errors.As(err, &why) || why.Code != crowd.BudgetTooSmall || why.Field != "enough" {
			return fmt.Errorf("%s is missing, and the limit could be raised: %v", missing, err)
		}
		w.k.seen["enough: refused for the budget"]++
		return nil
	case err != nil:
		return err
	case next.Enough == nil:
		w.k.seen["enough: taken away"]++
	default:
		w.k.seen["enough: changed"]++
	}
	b.spec.Enough, b.releases = next.Enough, edit.Release
	b.funded += missing
	return nil
}

// beyond reports whether r, which is late, would make b more expensive than is enough.
func (k *books) beyond(b *batchBook, r *row) bool {
	x := b.spec.Enough
	if x == nil || x.Spent == 0 {
		return false
	}
	return k.spent(b)+k.promised(b)+r.Reward > x.Spent
}

// spent is what b's answers were paid.
func (k *books) spent(b *batchBook) (sum crowd.Money) {
	for _, r := range k.rows {
		if r.Task.Batch() == b.spec.ID && r.answer != nil {
			sum += r.answer.Paid + r.answer.Held
		}
	}
	return sum
}

// noteBounds notes at a hand-out what it had to pass over, and who was passed over.
func (k *books) noteBounds(x engine.Handout, b *batchBook, t *taskBook) {
	for _, other := range b.tasks[:t.id.N()-1] {
		if other.unfit(x.Worker) == "answered elsewhere" && len(other.held) == 0 {
			k.seen["passed over: excluded"]++
		}
	}
	for _, w := range k.waiting {
		if why := k.refused(w, b); why == "answered enough" {
			k.seen["refused: "+why]++
		}
		if why := t.unfit(w); why == "answered elsewhere" && k.refused(w, b) == "" {
			k.seen["refused: "+why]++
		}
	}
}

// takeOver gives a batch labels that are of none of its tasks.
func (w *world) takeOver(c command) error {
	id := w.pick(c, func(b *batchBook) bool { return b.spec.Enough != nil })
	b := w.k.batches[id]
	labels := engine.TakenOver{Labels: int(c.b % 3)}
	labels.Certainty = float64(labels.Labels) * 0.75
	if b == nil || !b.kept.State.Open() {
		return wantCode(w.e.TakeOver(w.now, id, labels), crowd.NotFound)
	}
	b.takenOver = labels
	w.k.seen["labels were taken over"]++
	return w.e.TakeOver(w.now, id, labels)
}

// setTotal says how many tasks an open batch will have, or that nobody knows.
func (w *world) setTotal(c command) error {
	id := w.pick(c, func(b *batchBook) bool { return b.spec.Enough != nil && b.open })
	b := w.k.batches[id]
	total := 0
	if b != nil && c.b%4 > 0 {
		total = max(len(b.tasks)+int(c.b%5)-1, 0)
	}
	err := w.e.SetTotal(w.now, id, total)
	switch {
	case b == nil || !b.kept.State.Open():
		return wantCode(err, crowd.NotFound)
	case !b.open:
		w.k.seen["total: refused, sealed"]++
		return wantCode(err, crowd.Conflict)
	case err != nil:
		return err
	}
	b.total = total
	w.k.seen["total: said"]++
	return nil
}
