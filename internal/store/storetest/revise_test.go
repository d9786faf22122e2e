package storetest

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// testRevise: an answer that is revised is the one that counts wherever answers are read, and those before it are kept with
// it; of a check the first one counts on. Who gave them is handed out the same of both, what was said last first.
// All of it goes with the answers.
func testRevise(t *testing.T, w *world) {
	d := must(w.Batch(w.ctx, w.mine, w.batch))(t)
	d.Spec.Revise = time.Hour + time.Microsecond
	ok(t, w.UpdateDraft(w.ctx, d))
	same(t, "for how long", must(w.Batch(w.ctx, w.mine, w.batch))(t).Spec.Revise, d.Spec.Revise)
	w.history(t)
	one, two := w.batch.Assignment(1), w.batch.Assignment(2)
	was := must(w.Assignment(w.ctx, one))(t)
	is := func(id crowd.AssignmentID) engine.Revise { t.Helper(); return must(w.AnswerToRevise(w.ctx, id))(t) }
	got := is(one)
	same(t, "what was given", got.Given, engine.GivenAnswer{Worker: was.Worker, State: crowd.Submitted, At: was.EndedAt, Counted: true, Body: string(was.Body)})
	same(t, "its task", []any{got.Of.N, got.Of.Assignment, got.Of.Label.Value, len(got.Of.Assignments), got.Of.Decided}, []any{uint32(1), one, "key1", 2, false})
	ran := is(w.batch.Assignment(4))
	same(t, "what ran out", []any{ran.Given.State, ran.Given.Counted, ran.Given.At.IsZero(), ran.Of}, []any{crowd.Expired, false, true, engine.AnsweredTask{N: 2, Assignment: w.batch.Assignment(4)}})
	same(t, "without a label", []any{is(w.batch.Assignment(3)).Of.Label == nil, is(w.batch.Assignment(3)).Of.Assignments}, []any{true, []engine.AssignmentSnapshot(nil)})
	_, err := w.AnswerToRevise(w.ctx, w.batch.Assignment(99))
	refused(t, err, crowd.NotFound)

	used := func() int64 { return must(w.Usage(w.ctx, w.mine, w.now))(t)[store.StoredBytes] }
	before, at := used(), w.now.Add(5*time.Hour)
	earned := must(w.Balance(w.ctx, engine.Account{Kind: engine.WorkerAccount, ID: int64(was.Worker)}))(t)
	revise := func(id crowd.AssignmentID, who, n int, body string, check bool) *engine.Changes {
		return &engine.Changes{Revised: []engine.RevisedAnswer{{Assignment: id, Worker: w.workers[who], At: at.Add(time.Duration(n) * time.Minute), N: n, Body: body, Key: "k" + body, Check: check}}}
	}
	first := revise(one, 0, 1, `{"label":"one"}`, false)
	first.Unlabelled = []engine.Unlabelled{{Task: w.batch.Task(1), At: at}}
	again := *got.Of.Label
	again.Value, again.At = "key2", at
	first.Labels = []engine.Label{again}
	ok(t, w.Commit(w.ctx, first))
	ok(t, w.Commit(w.ctx, revise(one, 0, 2, `{"label":"two"}`, false)))
	ok(t, w.Commit(w.ctx, revise(two, 1, 1, `{"label":"one"}`, true)))
	ok(t, w.Commit(w.ctx, revise(two, 1, 2, `{"label":"two"}`, true)))
	same(t, "bytes", used()-before, int64(4*len(`{"label":"one"}`)+len("key2")-len("key1")))
	ok(t, w.CheckUsage(w.ctx))
	for name, bad := range map[string]*engine.Changes{
		"the same revision":   revise(one, 0, 2, `{}`, false),
		"one too far":         revise(one, 0, 4, `{}`, false),
		"of a check, so":      revise(two, 1, 2, `{}`, true),
		"of what ran out":     revise(w.batch.Assignment(4), 1, 1, `{}`, false),
		"of what is held":     revise(w.batch.Assignment(5), 2, 1, `{}`, true),
		"of what never was":   revise(w.batch.Assignment(99), 2, 1, `{}`, false),
		"of a batch not here": revise(crowd.BatchID(99).Assignment(1), 2, 1, `{}`, false),
	} {
		w.unchanged(t, func() {
			if w.Commit(w.ctx, bad) == nil {
				t.Errorf("it is kept: %s", name)
			}
		})
	}

	row := func(id crowd.AssignmentID) store.Annotation {
		t.Helper()
		list := must(w.TaskResults(w.ctx, w.mine, w.batch, []crowd.TaskID{w.batch.Task(1)}, []crowd.AssignmentID{id}))(t)
		return list[0].Annotations[0]
	}
	last := at.Add(2 * time.Minute)
	mine, check := row(one), row(two)
	same(t, "what counts", []any{string(mine.Body), mine.Key, mine.EndedAt, mine.RevisedAt, mine.Revised, mine.Counted, mine.Paid}, []any{`{"label":"two"}`, `k{"label":"two"}`, was.EndedAt, last, 2, true, was.Paid})
	same(t, "what was before", mine.Revisions, []store.Revision{{N: 0, At: was.EndedAt, Body: was.Body, Key: was.Key}, {N: 1, At: at.Add(time.Minute), Body: json.RawMessage(`{"label":"one"}`), Key: `k{"label":"one"}`}})
	same(t, "of a check what counts", []any{check.Key, check.RevisedAt, check.Revised}, []any{w.answer(2, 1, 0).Key, last, 2})
	same(t, "of a check what came after", []any{len(check.Revisions), check.Revisions[0].N, check.Revisions[1].N, string(check.Revisions[1].Body)}, []any{2, 1, 2, `{"label":"two"}`})
	same(t, "what they said last", []any{is(one).Given.Body, is(one).Given.Revised, is(two).Given.Body, is(two).Given.Revised}, []any{`{"label":"two"}`, 2, `{"label":"two"}`, 2})
	same(t, "for labels", []any{is(one).Of.Assignments[0].Key, is(one).Of.Assignments[1].Key}, []any{`k{"label":"two"}`, w.answer(2, 1, 0).Key})
	same(t, "earned", must(w.Balance(w.ctx, engine.Account{Kind: engine.WorkerAccount, ID: int64(was.Worker)}))(t), earned)
	for a, err := range w.Answers(w.ctx, w.mine, w.batch) {
		if ok(t, err); a.Assignment == one {
			same(t, "among all answers", []any{a.Key, a.Revised, a.RevisedAt}, []any{mine.Key, 2, last})
		}
	}
	shown := must(w.WorkerAnnotations(w.ctx, was.Worker, 9))(t)
	same(t, "as the worker sees it", []any{shown[len(shown)-1].Revised, shown[len(shown)-1].RevisedAt}, []any{2, last})

	// Whichever of them counts, the person is handed out the last one, and those before it.
	given := func(who int) (list []any) {
		t.Helper()
		for _, r := range must(collect(w.Personal(w.ctx, w.workers[who])))(t) {
			switch n := r.Row["id"]; {
			case n != one.String() && n != two.String():
			case r.Table == "annotations":
				list = append(list, string(r.Row["body"].(json.RawMessage)), r.Row["revised"])
			case r.Table == "revised_answers":
				list = append(list, r.Row["number"])
			}
		}
		return list
	}
	same(t, "handed out", given(0), []any{`{"label":"two"}`, int64(2), int64(0), int64(1)})
	same(t, "handed out of a check", given(1), given(0))

	// Texts of theirs are told with the answer, and go with it.
	for x, err := range w.WrittenTexts(w.ctx, was.Worker, false) {
		if ok(t, err); x.ID == int64(one) {
			same(t, "written", x.Given(), []string{string(was.Body), `{"label":"one"}`, `{"label":"two"}`})
		}
	}
	for x, err := range w.WrittenTexts(w.ctx, w.workers[1], false) {
		if ok(t, err); x.ID == int64(two) {
			same(t, "written of a check", x.Given(), []string{string(w.answer(2, 1, 0).Body), `{"label":"one"}`, `{"label":"two"}`})
		}
	}
	_ = must(w.ReplaceTexts(w.ctx, []store.NewText{{Kind: store.WrittenAnswer, ID: int64(one), Text: "{}"}}))(t)
	for _, x := range row(one).Revisions {
		same(t, "what is left", []any{len(x.Body), x.Key}, []any{0, ""})
	}
	same(t, "how many there were", len(row(one).Revisions), 2)
	ok(t, w.CheckUsage(w.ctx))
	w.end(t, at)
	ok(t, w.BeginDeletion(w.ctx, store.Deletion{Kind: store.RetainedAnswers, Tenant: w.mine, Batch: w.batch, At: at}))
	w.deleted(t, at, 1)
	for _, x := range row(two).Revisions {
		same(t, "what is left of a revision", []any{len(x.Body), x.Key}, []any{0, ""})
	}
	ok(t, w.CheckUsage(w.ctx))
	ok(t, w.CheckLedger(w.ctx))
}

// reviseAnswers has people revise some answers. It has a source of its own, so that all else is as without it.
func (s *site) reviseAnswers(t *testing.T, round uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(round, 4))
	for range 8 {
		s.reviseAnswer(t, r)
	}
}

// reviseAnswer has somebody revise one of the last answers to a batch.
func (s *site) reviseAnswer(t *testing.T, r *rand.Rand) {
	t.Helper()
	s.commit(t)
	running := s.running()
	if len(running) == 0 {
		return
	}
	id := pick(r, running)
	b := must(s.Batch(s.ctx, 0, id))(t)
	if b.Progress.Issued == 0 {
		return
	}
	aid := id.Assignment(b.Progress.Issued - uint32(r.IntN(min(10, int(b.Progress.Issued)))))
	settled := s.engine.Settled(id)
	x, err := s.AnswerToRevise(s.ctx, aid)
	if crowd.CodeOf(err) == crowd.NotFound {
		return
	}
	ok(t, err)
	x.Key, x.Settled = pick(r, []string{"cat", "dog"}), settled
	x.Body = `{"is":"` + x.Key + `"}`
	switch err := s.engine.Revise(s.clock, x.Given.Worker, &x); crowd.CodeOf(err) {
	case crowd.Conflict, crowd.NotFound, crowd.Forbidden, crowd.BudgetTooSmall:
		s.did["not revised: "+string(crowd.CodeOf(err))]++
	default:
		ok(t, err)
		s.commit(t)
		for _, r := range s.changes.Revised {
			s.did["answer revised"]++
			if r.Check {
				s.did["check revised"]++
			}
		}
		if len(s.changes.Unlabelled) > 0 {
			s.did["labelled anew"]++
		}
	}
}
