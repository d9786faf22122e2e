package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// testDisregard: an answer that is disregarded counts no more wherever answers are read, and stays paid; a label
// that is withdrawn is gone; and what somebody answered is read with all that is needed to decide anew.
func testDisregard(t *testing.T, w *world) {
	w.history(t)
	at, first := w.now.Add(4*time.Hour), w.batch.Task(1)
	given := func() (list []store.Annotation) {
		t.Helper()
		for a, err := range w.Annotations(w.ctx, w.mine, w.batch, false) {
			ok(t, err)
			if a.Task == first {
				list = append(list, a)
			}
		}
		return list
	}
	var mine store.Annotation
	for a, err := range w.Answers(w.ctx, w.mine, w.batch) {
		ok(t, err)
		if a.Counted && a.Task == first {
			mine = a
		}
	}
	if mine.Assignment == 0 {
		t.Fatalf("nobody answered %s: %+v", first, given())
	}
	had := must(w.TaskResults(w.ctx, w.mine, w.batch, []crowd.TaskID{first}, nil))(t)[0].Label
	answered := func(after, last uint32, limit int) []engine.AnsweredTask {
		t.Helper()
		return must(w.AnsweredBy(w.ctx, w.mine, w.batch, mine.Worker, after, last, limit))(t)
	}
	all := answered(0, crowd.MaxInBatch, 100)
	i := slices.IndexFunc(all, func(x engine.AnsweredTask) bool { return x.Assignment == mine.Assignment })
	if i < 0 {
		t.Fatalf("%s is not among what was answered: %+v", mine.Assignment, all)
	}
	got := all[i]
	same(t, "the task", got.N, first.N())
	same(t, "its label", got.Label, had)
	same(t, "decided", got.Decided, false)
	if had == nil {
		t.Fatal("it has no label")
	}
	same(t, "assignments", len(got.Assignments), len(given()))
	for _, a := range got.Assignments {
		same(t, a.ID.String()+" counts", a.Counted, slices.ContainsFunc(given(), func(x store.Annotation) bool { return x.Assignment == a.ID && x.Counted }))
		same(t, a.ID.String()+" is disregarded", a.Disregarded, false)
	}
	same(t, "one", answered(0, crowd.MaxInBatch, 1), all[:1])
	same(t, "those after it", len(answered(all[0].Assignment.N(), crowd.MaxInBatch, 100)), len(all)-1)
	same(t, "those up to it", answered(0, all[0].Assignment.N(), 100), all[:1])
	same(t, "of somebody else", must(w.AnsweredBy(w.ctx, w.mine, w.batch, 999, 0, crowd.MaxInBatch, 9))(t), nil)
	same(t, "they have answered", must(w.HasAnswered(w.ctx, w.mine, w.batch, mine.Worker))(t), true)
	same(t, "nobody has answered", must(w.HasAnswered(w.ctx, w.mine, w.batch, 999))(t), false)
	for _, tenant := range []crowd.TenantID{w.other, 0} {
		_, none := w.HasAnswered(w.ctx, tenant, w.batch, mine.Worker)
		refused(t, none, crowd.NotFound)
		_, err := w.AnsweredBy(w.ctx, tenant, w.batch, mine.Worker, 0, crowd.MaxInBatch, 9)
		refused(t, err, crowd.NotFound)
	}
	correction := must(w.PutCorrection(w.ctx, w.mine, store.Correction{Task: first, At: at, By: w.workers[3], Value: "key9"}))(t)
	corrected := answered(0, crowd.MaxInBatch, 100)[i]
	same(t, "corrected", corrected.Decided, true)
	same(t, "assignments of what is decided", corrected.Assignments, nil)
	_ = must(w.PutCorrection(w.ctx, w.mine, store.Correction{Task: first, At: at, By: w.workers[3], Withdrawn: true}))(t)
	same(t, "corrected no more", answered(0, crowd.MaxInBatch, 100)[i], got)
	_ = correction

	used := func() int64 { return must(w.Usage(w.ctx, w.mine, w.now))(t)[store.StoredBytes] }
	before, account := used(), engine.Account{Kind: engine.WorkerAccount, ID: int64(mine.Worker)}
	earned := must(w.Balance(w.ctx, account))(t)
	change := engine.Changes{Disregarded: []engine.DisregardedAnswer{{Assignment: mine.Assignment, At: at}}, Unlabelled: []engine.Unlabelled{{Task: first, At: at}}}
	ok(t, w.Commit(w.ctx, &change))
	same(t, "bytes of the label", before-used(), int64(len(had.Value)))
	same(t, "what was earned", must(w.Balance(w.ctx, account))(t), earned)
	for _, a := range given() {
		if a.Assignment == mine.Assignment {
			same(t, "counts", a.Counted, false)
			same(t, "disregarded since", a.DisregardedAt, at)
			same(t, "paid", a.Paid, mine.Paid)
		}
	}
	few := must(w.GivenAnswers(w.ctx, w.mine, w.batch, []crowd.AssignmentID{mine.Assignment}))(t)
	if len(few) != 1 || few[0].Counted || few[0].DisregardedAt != at || few[0].Key != mine.Key {
		t.Errorf("given answers: %+v", few)
	}
	one := must(w.Assignment(w.ctx, mine.Assignment))(t)
	same(t, "of one", []any{one.Counted, one.DisregardedAt}, []any{false, at})
	for _, a := range must(w.WorkerAnnotations(w.ctx, mine.Worker, 100))(t) {
		if a.Assignment == mine.Assignment {
			same(t, "as the worker sees it", a.Counted, true)
		}
	}
	if x := must(w.TaskResults(w.ctx, w.mine, w.batch, []crowd.TaskID{first}, nil))(t)[0].Label; x != nil {
		t.Errorf("the label is %+v yet", x)
	}
	same(t, "what is left", len(answered(0, crowd.MaxInBatch, 100)), len(all)-1)
	for name, x := range map[string]engine.Changes{
		"twice":       {Disregarded: change.Disregarded},
		"no label":    {Unlabelled: change.Unlabelled},
		"no answer":   {Disregarded: []engine.DisregardedAnswer{{Assignment: w.batch.Assignment(9999), At: at}}},
		"of no batch": {Unlabelled: []engine.Unlabelled{{Task: crowd.BatchID(99).Task(1), At: at}}},
	} {
		w.unchanged(t, func() {
			if w.Commit(w.ctx, &x) == nil {
				t.Errorf("%s: it is kept", name)
			}
		})
	}
	again := *had
	again.At, again.Value = at, "key7"
	ok(t, w.Commit(w.ctx, &engine.Changes{Labels: []engine.Label{again}}))
	same(t, "another label", must(w.TaskResults(w.ctx, w.mine, w.batch, []crowd.TaskID{first}, nil))(t)[0].Label, &again)
	ok(t, w.CheckUsage(w.ctx))
	ok(t, w.CheckLedger(w.ctx))
}

// disregard takes out what somebody answered, as the store has it.
func (s *site) disregard(t *testing.T, id crowd.BatchID) {
	t.Helper()
	s.commit(t)
	b := must(s.Batch(s.ctx, 0, id))(t)
	if !b.Progress.State.Open() || b.Run != 0 || b.Spec.ReviewOf != 0 || len(b.Spec.NotBy) > 0 || b.Spec.SLA != nil {
		return
	}
	if s.IntN(3) == 0 { // what is left suffices then
		one := label.Count(1)
		ok(t, s.engine.Edit(s.clock, id, engine.Edit{Rule: &one}))
		s.commit(t)
	}
	if _, running := s.engine.Status(id); !running {
		return
	}
	x := engine.Disregard{Settled: s.engine.Settled(id), Reserve: 100 * crowd.Unit}
	for _, i := range s.Perm(len(s.people)) {
		x.Worker = s.people[i]
		read := func() []engine.AnsweredTask {
			return must(s.AnsweredBy(s.ctx, b.Spec.Tenant, id, x.Worker, 0, crowd.MaxInBatch, 1+i))(t)
		}
		if x.Tasks = read(); len(x.Tasks) == 0 {
			continue
		}
		if first := x.Tasks[0]; first.Label != nil && s.IntN(4) == 0 {
			_ = must(s.PutCorrection(s.ctx, b.Spec.Tenant, store.Correction{Task: id.Task(first.N), At: s.clock, By: s.people[0], Value: "cat"}))(t)
			x.Tasks = read()
		}
		break
	}
	done := must(s.engine.Disregard(s.clock, id, x))(t)
	s.did["disregarded"] += done.Answers
	s.did["asked again"] += done.Withdrawn - done.Relabelled
	s.did["labelled again"] += done.Relabelled
	for _, a := range x.Tasks {
		if a.Review != 0 {
			s.did["disregarded with a review"]++
		}
		if len(a.Invited) > 0 && a.Label != nil {
			s.did["disregarded by invitation"]++
		}
		if a.Decided {
			s.did["disregarded and decided"]++
		}
	}
	if b.Spec.Checks != nil {
		known := must(s.Known(s.ctx, id, 0, b.Spec.Tasks))(t)
		for _, a := range x.Tasks {
			if known[a.N] != "" {
				s.did["disregarded checks"]++
			}
		}
	}
	s.commit(t)
}

// isEvidence checks that a batch whose rule follows answers comes back with all counted ones to its
// tasks with labels, and no other batch with any.
func (s *site) isEvidence(t *testing.T, b *engine.BatchSnapshot) {
	t.Helper()
	var want []engine.CountedAnswer
	if b.Spec.Rule.FollowsAnswers() {
		labelled := make(map[crowd.TaskID]bool)
		for x, err := range s.Labels(s.ctx, b.Spec.Tenant, b.Spec.ID) {
			ok(t, err)
			labelled[x.Task] = x.Label != nil
		}
		for a, err := range s.Annotations(s.ctx, b.Spec.Tenant, b.Spec.ID, false) {
			ok(t, err)
			if a.Counted && labelled[a.Task] {
				want = append(want, engine.CountedAnswer{N: a.Task.N(), Worker: a.Worker, Key: a.Key})
			}
		}
		s.did["evidence compared"] += len(want)
	}
	same(t, "evidence", b.Answers, want)
}
