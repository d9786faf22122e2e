package engine_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// The part of the books that is about rules which act on what people's answers show. They reckon
// everything from the answers and labels anew.

// plainRules are rules with what their conditions mean.
var plainRules = []struct {
	engine.QualityRule
	holds func(f *engine.Figures) bool
}{
	{engine.QualityRule{When: "answers >= 2 and agreement < 0.7", Do: `warn "look twice"`}, func(f *engine.Figures) bool { return f.Answers >= 2 && f.Agreement != nil && *f.Agreement < 0.7 }},
	{engine.QualityRule{When: "seconds > 400", Do: "pause"}, func(f *engine.Figures) bool { return f.Seconds != nil && *f.Seconds > 400 }},
	{engine.QualityRule{When: "answers > 6", Do: `warn "so many"`}, func(f *engine.Figures) bool { return f.Answers > 6 }},
	{engine.QualityRule{When: "not (agreement >= 0.6)", Do: "pause"}, func(f *engine.Figures) bool { return f.Agreement != nil && *f.Agreement < 0.6 }},
	{engine.QualityRule{When: "answers >= 2", Do: "weight 0.3"}, func(f *engine.Figures) bool { return f.Answers >= 2 }},
	{engine.QualityRule{When: "answers >= 1 and not (agreement > 0.5)", Do: "weight 0.65"}, func(f *engine.Figures) bool {
		return f.Answers >= 1 && f.Agreement != nil && *f.Agreement <= 0.5
	}},
	{engine.QualityRule{When: "seconds > 200", Do: "weight 0.05"}, func(f *engine.Figures) bool { return f.Seconds != nil && *f.Seconds > 200 }},
	{engine.QualityRule{When: "drift > 0.7", Do: `warn "what is it?"`}, func(f *engine.Figures) bool { return f.Drift > 0.7 }},
	{engine.QualityRule{When: "accuracy < 0.9 and accuracy_high < 0.95", Do: "pause"}, func(f *engine.Figures) bool {
		return f.Accuracy != nil && *f.Accuracy < 0.9 && *f.AccuracyHigh < 0.95
	}},
	{engine.QualityRule{When: "wrong == 1 || checks > 3 && accuracy_low > 0.4", Do: `warn 'checked'`}, func(f *engine.Figures) bool {
		return f.Wrong == 1 || f.Checks > 3 && *f.AccuracyLow > 0.4
	}},
	{engine.QualityRule{When: "answers >= 1", Do: "train 1"}, func(f *engine.Figures) bool { return f.Answers >= 1 }},
	{engine.QualityRule{When: "wrong >= 1 or agreement < 0.8", Do: "train 3"}, func(f *engine.Figures) bool {
		return f.Wrong >= 1 || f.Agreement != nil && *f.Agreement < 0.8
	}},
}

// rule gives some batches rules.
func (w *world) rule(s *engine.Spec, r *rand.Rand) {
	if r.IntN(2) > 0 {
		w.needLessons(s)
		return
	}
	usable := plainRules
	switch {
	case s.Checks == nil:
		usable = plainRules[:7]
	case len(s.Lessons) == 0 && !s.Open: // nothing to train with
		usable = plainRules[:10]
	}
	for range 1 + r.IntN(4) {
		s.Quality = append(s.Quality, usable[r.IntN(len(usable))].QualityRule)
	}
	w.needLessons(s)
}

// holds reports whether a rule's condition holds of figures.
func ruleHolds(r engine.QualityRule, f *engine.Figures) bool {
	for _, p := range plainRules {
		if p.QualityRule == r {
			return p.holds(f)
		}
	}
	panic("no such rule")
}

// ruling is what the rules of a batch did.
type ruling struct {
	actions []engine.Action
	light   lightBook // see taskBook.weights
}

// latest returns how an action on somebody was undone last; nil: none was.
func (r *ruling) latest(w crowd.WorkerID) (last *engine.Undoing) {
	for i := range r.actions {
		if a := &r.actions[i]; a.Worker == w && !a.UndoneAt.IsZero() && (last == nil || a.From > last.From || a.From == last.From && a.After > last.After) {
			last = &a.Undoing
		}
	}
	return last
}

// pausedBy returns the number of the action that keeps somebody from the batch, or 0.
func (r *ruling) pausedBy(w crowd.WorkerID) uint32 {
	for _, a := range r.actions {
		if a.Worker == w && a.Kind == engine.PausePerson && a.UndoneAt.IsZero() {
			return a.N
		}
	}
	return 0
}

// hasActed reports whether a rule has acted on somebody since an action on them was undone.
func (r *ruling) hasActed(w crowd.WorkerID, rule int) bool {
	last := r.latest(w)
	return slices.ContainsFunc(r.actions, func(a engine.Action) bool {
		return a.Worker == w && a.Rule == rule && (last == nil || a.N > last.After)
	})
}

// answersOf lists the answers of w to b that count for the figures, in the order in which they came.
func (k *books) answersOf(b *batchBook, w crowd.WorkerID) (list []*row) {
	from := uint32(0)
	if last := b.latest(w); last != nil {
		from = last.From
	}
	for id, r := range k.rows {
		if id.Batch() == b.spec.ID && !b.tasks[r.Task.N()-1].lesson && r.Worker == w && id.N() >= from && r.answer != nil && r.answer.Counted {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(x, y *row) int {
		return cmp.Or(x.answer.At.Compare(y.answer.At), cmp.Compare(x.Assignment, y.Assignment))
	})
	return list
}

// figures reckons what somebody has shown.
func (k *books) figures(b *batchBook, w crowd.WorkerID) (f engine.Figures) {
	var took time.Duration
	labelled, agreed := 0, 0
	for _, r := range k.answersOf(b, w) {
		t := b.tasks[r.Task.N()-1]
		f.Answers++
		took += min(r.answer.At.Truncate(time.Microsecond).Sub(r.At.Truncate(time.Microsecond)), b.spec.Lease)
		switch right := r.answer.Key == t.known; {
		case t.known == "" && t.label != nil:
			labelled++
			if r.answer.Key == t.label.Value {
				agreed++
			}
		case t.known != "" && right:
			f.Checks++
			f.Drift = max(0, f.Drift-0.25)
		case t.known != "":
			f.Checks++
			f.Wrong++
			f.Drift = max(0, f.Drift-0.25) + 1
		}
	}
	share := func(a, b int) *float64 { x := float64(a) / float64(b); return &x }
	if f.Answers > 0 {
		x := took.Seconds() / float64(f.Answers)
		f.Seconds = &x
	}
	if labelled > 0 {
		f.Agreement = share(agreed, labelled)
	}
	if f.Checks > 0 {
		f.Accuracy = share(f.Checks-f.Wrong, f.Checks)
		n, z, p := float64(f.Checks), 1.959963984540054, *f.Accuracy
		mid, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
		low, high := max(0, (mid-half)/(1+z*z/n)), min(1, (mid+half)/(1+z*z/n))
		f.AccuracyLow, f.AccuracyHigh = &low, &high
	}
	return f
}

// ruled enters what rules did by one command.
func (k *books) ruled(ch *engine.Changes) error {
	for _, u := range ch.Undoings {
		b := k.batches[u.Batch]
		a := &b.actions[u.N-1]
		if u.UndoneAt != k.now || u.After != uint32(len(b.actions)) || !a.UndoneAt.IsZero() {
			return fmt.Errorf("action %d of %s was undone as %+v", u.N, u.Batch, u)
		}
		if err := k.untaught(b, a, u.Lessons); err != nil {
			return err
		}
		a.Undoing = u.Undoing
		k.seen["rule: undone "+string(a.Kind)]++
	}
	for _, a := range ch.Actions {
		b := k.batches[a.Batch]
		if a.Rule < 1 || a.Rule > len(b.spec.Quality) || a.At != k.now || int(a.N) != len(b.actions)+1 || a.When != b.spec.Quality[a.Rule-1].When {
			return fmt.Errorf("action %+v", a)
		}
		if b.hasActed(a.Worker, a.Rule) || a.Kind == engine.PausePerson && b.pausedBy(a.Worker) > 0 {
			return fmt.Errorf("rule %d acts twice on %s", a.Rule, a.Worker)
		}
		if b.latest(a.Worker) != nil {
			k.seen["rule: acts anew"]++
		}
		if err := cmp.Or(k.granted(b, &a), k.lowered(b, &a)); err != nil {
			return err
		}
		b.actions = append(b.actions, a)
		if !b.kept.State.Open() { // its end may have made labels since
			continue
		}
		if counted := lists.Filter(ch.Answers, func(x engine.Answer) bool { return x.Kept && x.Assignment.Batch() == a.Batch }); len(counted) > 1 {
			after := k.figures(b, a.Worker) // rules act as each of them comes to count, and the rest of them only adds to what was counted
			if f := a.Figures; f.Answers > after.Answers || f.Checks > after.Checks || f.Wrong > after.Wrong || !ruleHolds(b.spec.Quality[a.Rule-1], &f) {
				return fmt.Errorf("%s acted on %s by %+v", a.When, a.Worker, a.Figures)
			}
			continue
		}
		f := k.figures(b, a.Worker)
		if b.spec.Rule.FollowsAnswers() && slices.ContainsFunc(ch.Actions, func(x engine.Action) bool { return x.Batch == a.Batch && x.Weight > 0 }) {
			f = a.Figures // labels may have come of that since, whose people figures are of
		}
		if !reflect.DeepEqual(f, a.Figures) || !ruleHolds(b.spec.Quality[a.Rule-1], &f) {
			return fmt.Errorf("%s acted on %s by %+v, which are %+v", a.When, a.Worker, a.Figures, f)
		}
		k.seen["rule: "+a.When]++
		if h := k.holding[a.Worker]; h != nil && h.Task.Batch() == a.Batch && a.Kind == engine.PausePerson {
			k.seen["rule: paused with a task of the batch"]++
		}
	}
	return nil
}

// checkRules checks that the rules of b have acted on all on whom they should, and that the engine
// knows the figures.
func (k *books) checkRules(e *engine.Engine, b *batchBook) error {
	if b.spec.Quality == nil {
		return nil
	}
	people := make(map[crowd.WorkerID]bool)
	for _, r := range k.rows {
		if r.Task.Batch() == b.spec.ID && r.answer != nil && r.answer.Counted && !b.tasks[r.Task.N()-1].lesson {
			people[r.Worker] = true
		}
	}
	var want []engine.Acted
	for w := range people {
		f := k.figures(b, w)
		for i, r := range b.spec.Quality {
			if ruleHolds(r, &f) && !b.hasActed(w, i+1) && !(r.Do == "pause" && b.pausedBy(w) > 0) && !(lowers(r.Do) > 0 && lowers(r.Do) >= b.light.of(w)) {
				return fmt.Errorf("rule %q should have acted on %s: %+v", r.When, w, f)
			}
		}
		want = append(want, engine.Acted{Worker: w, Figures: f, Paused: b.pausedBy(w), Weight: b.light.of(w)})
	}
	slices.SortFunc(want, func(x, y engine.Acted) int { return cmp.Compare(x.Worker, y.Worker) })
	if got := e.Figures(b.spec.ID); !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
		return fmt.Errorf("figures are\n %+v, want\n %+v", got, want)
	}
	return nil
}

// undoAction undoes what a rule did.
func (w *world) undoAction(c command) error {
	ids := w.running()
	if len(ids) == 0 {
		return nil
	}
	id := ids[int(c.a)%len(ids)]
	b := w.k.batches[id]
	n := uint32(1 + int(c.b)%(len(b.actions)+1))
	if c.c%2 == 0 {
		id, n = w.trained(id, n)
		b = w.k.batches[id]
	}
	err := w.e.UndoAction(w.now, id, n, 9)
	switch {
	case int(n) > len(b.actions):
		return refusedWith(err, crowd.NotFound)
	case !b.actions[n-1].UndoneAt.IsZero():
		w.k.seen["rule: undone twice"]++
		return refusedWith(err, crowd.Conflict)
	}
	return err
}

// trained is an action that gave somebody lessons who had all of them, if there is one; else the one that is given.
func (w *world) trained(id crowd.BatchID, n uint32) (crowd.BatchID, uint32) {
	for _, other := range w.running() {
		b := w.k.batches[other]
		for i, a := range b.actions {
			if a.Lessons > 0 && a.UndoneAt.IsZero() && b.owed(a.Worker) == 0 {
				return other, uint32(i + 1)
			}
		}
	}
	return id, n
}

func refusedWith(err error, code crowd.Code) error {
	if crowd.CodeOf(err) != code {
		return fmt.Errorf("got %v, want %s", err, code)
	}
	return nil
}

// standings are what a store tells of the answers to a batch with rules.
func (s *store) standings(id crowd.BatchID) (list []engine.Standing) {
	from := make(map[crowd.WorkerID]uint32)
	for _, a := range s.actions[id] {
		from[a.Worker] = max(from[a.Worker], a.From)
	}
	people := make(map[crowd.WorkerID]*engine.Standing)
	known, lessons := s.known(id), s.lessons(id)
	for _, r := range s.rows {
		if r.ID.Batch() != id || slices.Contains(lessons, r.Task.N()) || !r.Counted || r.ID.N() < from[r.Worker] {
			continue
		}
		p := people[r.Worker]
		if p == nil {
			p = &engine.Standing{Worker: r.Worker}
			people[r.Worker] = p
		}
		p.Answers++
		p.Took += min(r.AnsweredAt.Truncate(time.Microsecond).Sub(r.At.Truncate(time.Microsecond)), s.specs[id].Lease)
		if l, labelled := s.labels[r.Task]; labelled && known[r.Task.N()] == "" {
			p.Labelled++
			if l.Value == r.Key {
				p.Agreed++
			}
		}
	}
	for _, p := range people {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(x, y engine.Standing) int { return cmp.Compare(x.Worker, y.Worker) })
	return list
}
