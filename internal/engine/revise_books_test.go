package engine_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// The part of the books that is about answers that are revised after they have counted. They count from then on as
// if they had been given at once, but for those to checks, of which the first one does.

// revising is what becomes of an answer that is revised.
type revising struct {
	revised int    // how often
	said    string // the key of what was answered last
}

// revised enters answers that are revised, and returns the tasks whose labels are to be withdrawn.
func (k *books) revised(ch *engine.Changes) (withdrawn []crowd.TaskID, err error) {
	for _, x := range ch.Revised {
		r := k.rows[x.Assignment]
		if r == nil || r.answer == nil || !r.answer.Counted || r.disregarded || x.Worker != r.Worker || x.At != k.now || x.N != r.revised+1 || x.N > engine.MaxRevisions {
			return nil, fmt.Errorf("%+v is revised, and does not count, or was revised %d times", x, r.revised)
		}
		b, t, err := k.task(r.Task)
		if err != nil {
			return nil, err
		}
		if x.Check != (t.known != "") {
			return nil, fmt.Errorf("%s is revised as a check: %t", x.Assignment, x.Check)
		}
		r.revised, r.said = x.N, x.Key
		k.person(r.Worker).seen = k.now
		if x.Check {
			k.seen["revise: a check"]++
			continue
		}
		i := slices.Index(t.from, x.Assignment)
		if i < 0 {
			return nil, fmt.Errorf("%s is revised, and its task has it not", x.Assignment)
		}
		r.answer.Key, t.answers[i] = x.Key, x.Key
		if t.label == nil {
			k.seen["revise: an open task"]++
			if t.live > 0 {
				k.seen["revise: a held task"]++
			}
			continue
		}
		k.before[t.id] = t.label.Value
		withdrawn = append(withdrawn, t.id)
		k.reopen(b, t)
		if t.invited != nil {
			k.seen["revise: by invitation"]++
		}
	}
	return withdrawn, nil
}

// reopen withdraws the label of a task, which is decided by the rule of now, and from what is not disregarded.
func (k *books) reopen(b *batchBook, t *taskBook) {
	answers, from := t.answers, t.from
	t.answers, t.from = nil, nil
	for i, a := range from {
		if k.rows[a].disregarded { // the label stood then, as it was corrected
			t.without++
			k.seen["revise: next to one disregarded"]++
		} else {
			t.answers, t.from = append(t.answers, answers[i]), append(t.from, a)
		}
	}
	t.label, t.wanted = nil, len(t.answers)
	b.labelled--
	if t.rule = b.spec.Rule; t.invited != nil {
		t.rule = t.rule.Capped(len(t.invited))
	}
}

// lastSaid is what somebody answered last.
func (r *row) lastSaid() string {
	if r.revised > 0 {
		return r.said
	}
	return r.answer.Key
}

// reviseAnswer has somebody give another answer in place of one that counts.
func (w *world) reviseAnswer(c command) error {
	var list []crowd.AssignmentID
	for id, r := range w.k.rows {
		if b := w.k.batches[id.Batch()]; r.answer != nil && (b.spec.Revise > 0 && b.kept.State.Open() || c.a%31 == 0) {
			list = append(list, id)
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	latest := list[max(0, len(list)-1-int(c.b%uint32(min(len(list), 40)))):]
	id := latest[0]
	r, b := w.k.rows[id], w.k.batches[id.Batch()]
	t := b.tasks[r.Task.N()-1]
	x := engine.Revise{Body: `{"label":"` + key(c.c) + `"}`, Key: key(c.c), Settled: w.e.Settled(id.Batch()), Of: engine.AnsweredTask{N: r.Task.N(), Assignment: id}}
	x.Given = engine.GivenAnswer{Worker: r.Worker, State: r.state, At: r.answer.At, Late: r.answer.Late, Counted: r.answer.Counted, Disregarded: r.disregarded,
		Body: `{"label":"` + r.lastSaid() + `"}`, Revised: r.revised, PayDecided: b.spec.Approval != nil && c.a%8 == 1}
	for _, of := range w.store.answeredBy(id.Batch(), r.Worker) {
		if of.Assignment == id {
			x.Of = of
		}
	}
	x.Of.Decided = x.Of.Label != nil && c.a%16 == 2
	stale := c.a%32 == 3
	if stale {
		x.Settled++
	}
	w.k.before = make(map[crowd.TaskID]string)
	missing := w.k.dearerRevised(b, t, id, x.Key)
	err := w.e.Revise(w.now, r.Worker, &x)
	until := r.answer.At.Add(b.spec.Revise)
	if !r.answer.Late {
		until = until.Add(b.spec.Grace)
	}
	who, known := w.k.workers[r.Worker]
	refused := func(why string, code crowd.Code) error {
		w.k.seen["revise refused: "+why]++
		return wantCode(err, code)
	}
	switch {
	case !b.kept.State.Open():
		return refused("ended", crowd.NotFound)
	case stale:
		return refused("read before", crowd.Conflict)
	case b.spec.Revise == 0:
		return refused("not in this batch", crowd.Conflict)
	case r.answer.Counted && r.lastSaid() == x.Key:
		w.k.seen["revise: the same again"]++
		return err
	case !r.answer.Counted:
		return refused("does not count", crowd.Conflict)
	case !w.now.Before(until):
		return refused("too late", crowd.Conflict)
	case r.revised == engine.MaxRevisions:
		return refused("too often", crowd.Conflict)
	case x.Given.PayDecided:
		return refused("its pay is decided", crowd.Conflict)
	case r.disregarded:
		return refused("disregarded", crowd.Conflict)
	case t.lesson:
		return refused("has taught", crowd.Conflict)
	case known && who.Suspended:
		return refused("suspended", crowd.Forbidden)
	case b.pausedBy(r.Worker) > 0:
		return refused("paused by a rule", crowd.Forbidden)
	case known && (slices.Contains(who.BlockedBy, b.spec.Tenant) || slices.Contains(who.StaffOf, b.spec.Tenant) || len(who.Serves) > 0 && !slices.Contains(who.Serves, b.spec.Tenant)):
		return refused("not theirs any more", crowd.Forbidden)
	case t.removed:
		return refused("taken out", crowd.Conflict)
	case x.Of.Decided:
		return refused("decided", crowd.Conflict)
	case missing > 0:
		return refused("no money", crowd.BudgetTooSmall)
	case err != nil:
		return err
	}
	if t.label != nil && t.known == "" && b.kept.Planned == b.counted+b.running {
		b.waitsFrom = w.now
	}
	for what, so := range map[string]bool{
		"": true, ": more than once": r.revised > 0, ": of a paused batch": b.kept.State == crowd.BatchOnHold, ": of somebody who left": !known,
		": held pay": b.spec.Approval != nil, ": after a grace": b.spec.Grace > 0, ": with rules": b.spec.Quality != nil,
		": of a task asked again": t.without > 0, ": a batch with enough": w.k.enough(b) != "",
	} {
		if so {
			w.k.seen["revise"+what]++
		}
	}
	return nil
}

// dearerRevised is what b's account lacks, at most, for what an answer of another key to t entails.
func (k *books) dearerRevised(b *batchBook, t *taskBook, id crowd.AssignmentID, key string) crowd.Money {
	i := slices.Index(t.from, id)
	if t.known != "" || t.label == nil || i < 0 {
		return 0
	}
	seen, before := maps.Clone(k.seen), k.most(b, &b.spec, 0)
	was, labelled := *t, b.labelled
	t.answers = slices.Clone(t.answers)
	t.answers[i] = key
	if k.reopen(b, t); t.agreed() && !t.rule.FollowsAnswers() {
		t.label = was.label
	}
	after := k.most(b, &b.spec, 0)
	*t, b.labelled = was, labelled
	clear(k.seen)
	maps.Copy(k.seen, seen)
	if after <= before {
		return 0
	}
	return max(after-k.accounts[b.account()], 0)
}
