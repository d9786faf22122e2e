package engine_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// The part of the books that is about answers that are taken out of a batch. What follows from it, the books
// check as of any other task with as many answers.

// unlabelled reports whether the label of a task is withdrawn by the command.
func (w *world) unlabelled(id crowd.TaskID) bool {
	return slices.ContainsFunc(w.ch.Unlabelled, func(x engine.Unlabelled) bool { return x.Task == id })
}

// disregarded enters answers that are disregarded, and labels that are withdrawn, those of revised answers among them.
func (k *books) disregarded(ch *engine.Changes) error {
	withdrawn, err := k.revised(ch)
	if err != nil {
		return err
	}
	what := "disregard"
	if len(ch.Revised) > 0 {
		what = "revise"
	}
	for _, x := range ch.Disregarded {
		r := k.rows[x.Assignment]
		if r == nil || r.answer == nil || !r.answer.Counted || r.disregarded || x.At != k.now {
			return fmt.Errorf("%s is disregarded, and did not count", x.Assignment)
		}
		b, t, err := k.task(r.Task)
		if err != nil {
			return err
		}
		i := slices.Index(t.from, x.Assignment)
		r.disregarded = true
		if i < 0 || t.known != "" || t.gone() || k.corrected[r.Task] {
			continue
		}
		if t.label != nil {
			withdrawn = append(withdrawn, r.Task)
		}
		k.without(b, t, i)
	}
	if len(ch.Unlabelled) != len(withdrawn) {
		return fmt.Errorf("%d labels are withdrawn, want %v", len(ch.Unlabelled), withdrawn)
	}
	for _, x := range ch.Unlabelled {
		if !slices.Contains(withdrawn, x.Task) || x.At != k.now {
			return fmt.Errorf("the label of %s is withdrawn", x.Task)
		}
		again := slices.IndexFunc(ch.Labels, func(l engine.Label) bool { return l.Task == x.Task })
		b, t, _ := k.task(x.Task)
		switch {
		case again < 0:
			k.seen[what+": asked again"]++
		case ch.Labels[again].Value != k.before[x.Task]:
			k.seen[what+": another label"]++
			fallthrough
		default:
			k.seen[what+": labelled again"]++
		}
		if t.first == 1 {
			k.seen[what+": of the first task"]++
		}
		if b.spec.Rule.FollowsAnswers() {
			k.seen[what+": sure by the answers"]++
		}
	}
	return nil
}

// without takes answer i of those to t out.
func (k *books) without(b *batchBook, t *taskBook, i int) {
	out := t.from[i]
	answers, from, by := t.answers, t.from, t.by
	t.answers, t.from, t.by = nil, nil, nil
	for i, a := range from {
		if a == out || k.rows[a].disregarded { // the label stood before, as it was corrected
			t.without++
		} else {
			t.answers, t.from, t.by = append(t.answers, answers[i]), append(t.from, a), append(t.by, by[i])
		}
	}
	if t.label != nil {
		k.before[t.id] = t.label.Value
		t.label, t.wanted = nil, len(t.answers)
		b.labelled--
		if t.rule = b.spec.Rule; t.invited != nil { // it had its label by the rule of then
			t.rule = t.rule.Capped(len(t.invited))
		}
	} else {
		t.wanted--
	}
	if t.without > 1 {
		k.seen["disregard: twice of one task"]++
	}
	if len(t.answers) == 0 {
		k.seen["disregard: nothing is left"]++
	}
	if t.invited != nil {
		k.seen["disregard: by invitation"]++
	}
	if t.live > 0 {
		k.seen["disregard: a held task"]++
	}
}

// disregard disregards what somebody answered in a batch.
func (w *world) disregard(c command) error {
	id := w.pick(c, func(b *batchBook) bool { return b.counted > 0 })
	b := w.k.batches[id]
	if b == nil || !b.kept.State.Open() {
		_, err := w.e.Disregard(w.now, id, engine.Disregard{Worker: 1})
		return wantCode(err, crowd.NotFound)
	}
	x := engine.Disregard{Worker: w.worker(c.b), Settled: w.e.Settled(id), Reserve: crowd.Money(c.c%2) * 100 * crowd.Unit}
	x.Tasks = w.store.answeredBy(id, x.Worker)
	if c.c%3 == 0 && len(x.Tasks) > 1 { // a part
		x.Tasks = x.Tasks[len(x.Tasks)/2:]
	}
	w.k.corrected, w.k.before = make(map[crowd.TaskID]bool), make(map[crowd.TaskID]string)
	for i := range x.Tasks {
		if t := &x.Tasks[i]; t.Label != nil && (c.a>>(i%32))%8 == 0 {
			t.Decided = true
			w.k.corrected[id.Task(t.N)] = true
		}
	}
	if c.a%16 == 3 {
		x.Settled++
	}
	missing, err := w.k.dearer(b, &x)
	if err != nil {
		return err
	}
	would, refused := w.e.WouldDisregard(id, &x)
	out, err := w.e.Disregard(w.now, id, x)
	switch {
	case b.spec.SLA != nil || len(b.spec.NotBy) > 0:
		w.k.seen["disregard: of a workflow"]++
		return errors.Join(wantCode(refused, crowd.Conflict), wantCode(err, crowd.Conflict))
	case c.a%16 == 3:
		w.k.seen["disregard: too late"]++
		return errors.Join(wantCode(refused, crowd.Conflict), wantCode(err, crowd.Conflict))
	case refused != nil:
		return refused
	case would.Missing != missing:
		return fmt.Errorf("%s is missing, want %s", would.Missing, missing)
	case missing > x.Reserve:
		w.k.seen["disregard: refused for the budget"]++
		return wantCode(err, crowd.BudgetTooSmall)
	case err != nil:
		return err
	case out.Answers != len(x.Tasks) || out.Missed != 0:
		return fmt.Errorf("%d answers are disregarded, %d missed, of %d", out.Answers, out.Missed, len(x.Tasks))
	case out.Relabelled != would.Relabelled && !b.spec.Rule.FollowsAnswers():
		return fmt.Errorf("%d have labels again, and it would have been %d", out.Relabelled, would.Relabelled)
	case len(x.Tasks) == 0:
		return nil
	}
	if b.kept.Planned == b.counted+b.running {
		b.waitsFrom = w.now
	}
	b.funded += missing
	w.noteDisregard(b, &x, missing)
	return nil
}

// noteDisregard notes in what circumstances answers are disregarded.
func (w *world) noteDisregard(b *batchBook, x *engine.Disregard, missing crowd.Money) {
	_, there := w.k.workers[x.Worker]
	for what, so := range map[string]bool{
		"": true, ": reserved": missing > 0, ": of a paused batch": b.kept.State == crowd.BatchOnHold, ": of somebody who left": !there,
		": with rules": b.spec.Quality != nil, ": a bounded batch": b.spec.PerWorker > 0, ": a batch with enough": w.k.enough(b) != "",
	} {
		if so {
			w.k.seen["disregard"+what]++
		}
	}
	for i := range x.Tasks {
		t := b.tasks[x.Tasks[i].N-1]
		switch {
		case t.known != "":
			w.k.seen["disregard: a check"]++
		case t.gone():
			w.k.seen["disregard: a task taken out"]++
		case x.Tasks[i].Decided:
			w.k.seen["disregard: a corrected task"]++
		case t.label == nil:
			w.k.seen["disregard: an open task"]++
		}
	}
}

// dearer is what b's account lacks for asking again what x takes out, at most.
func (k *books) dearer(b *batchBook, x *engine.Disregard) (crowd.Money, error) {
	before := k.most(b, &b.spec, 0)
	kept := make(map[*taskBook]taskBook)
	seen := maps.Clone(k.seen) // what is only tried has not happened
	labelled := b.labelled
	for i := range x.Tasks {
		t := b.tasks[x.Tasks[i].N-1]
		at := slices.Index(t.from, x.Tasks[i].Assignment)
		if at < 0 {
			return 0, fmt.Errorf("%s does not count", x.Tasks[i].Assignment)
		}
		if t.known != "" || t.gone() || x.Tasks[i].Decided {
			continue
		}
		kept[t] = *t
		was := t.label
		if k.without(b, t, at); was != nil && t.agreed() && !t.rule.FollowsAnswers() {
			t.label = was
		}
	}
	after := k.most(b, &b.spec, 0)
	for t, was := range kept {
		*t = was
	}
	b.labelled = labelled
	clear(k.before)
	clear(k.seen)
	maps.Copy(k.seen, seen)
	if after <= before {
		return 0, nil
	}
	return max(after-k.accounts[b.account()], 0), nil
}

// answeredBy lists the tasks of a batch that somebody answered, as a store has them.
func (s *store) answeredBy(id crowd.BatchID, who crowd.WorkerID) (list []engine.AnsweredTask) {
	given := make(map[crowd.TaskID][]engine.AssignmentSnapshot)
	for _, r := range s.rows {
		if r.ID.Batch() == id {
			given[r.Task] = append(given[r.Task], *r)
		}
	}
	for task, rows := range given {
		slices.SortFunc(rows, func(x, y engine.AssignmentSnapshot) int { return int(int64(x.ID) - int64(y.ID)) })
		for i := range rows {
			if r := &rows[i]; r.Worker != who || !r.Counted || r.Disregarded {
				continue
			}
			t := engine.AnsweredTask{N: task.N(), Assignment: rows[i].ID, Assignments: rows, SentBackBy: s.sentBack[task]}
			if l, labelled := s.labels[task]; labelled {
				t.Label = &l
			}
			for w := range invitedTo(ptr(s.specs[id]), task.N()) {
				t.Invited = append(t.Invited, w)
			}
			slices.Sort(t.Invited)
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(x, y engine.AnsweredTask) int { return int(x.N) - int(y.N) })
	return list
}

func ptr[T any](x T) *T { return &x }
