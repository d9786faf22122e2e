package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/pay"
	"github.com/throng-dev/throng/label"
)

func (f *failingStore) AnswerToRevise(ctx context.Context, id crowd.AssignmentID) (engine.Revise, error) {
	return fail1(f, ctx, "AnswerToRevise", func() (engine.Revise, error) { return f.Store.AnswerToRevise(ctx, id) })
}

// toRevise is an answer that may be revised, if one is ready; else a task in somebody's hands.
func (s *scene) toRevise() crowd.AssignmentID {
	if s.ready == nil {
		return s.held
	}
	return s.withAnswers().Assignment(1)
}

// TestRevise: an answer that counts is revised by who gave it, and by nobody else; the label follows, the money stays, and
// who may see answers sees what was answered before. What somebody has decided stays.
func TestRevise(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id := w.draft(3, func(n *batches.NewBatch) { n.Revise = 2 * time.Hour })
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	one, two := w.workers[0], w.workers[1]
	held := must(w.Work.Next(w.ctx, one, 0))(t)
	_, err := w.Work.Revise(w.ctx, one, held.Assignment, yes)
	refusedText(t, err, crowd.Conflict, "there is no answer to revise")
	must(w.submit(one, held.Assignment, yes))(t)
	before := must(w.store.Balance(w.ctx, engine.Account{Kind: engine.WorkerAccount, ID: int64(one.User.ID)}))(t)

	shown := must(w.Work.Revisable(w.ctx, one, held.Assignment))(t)
	if string(shown.Answer) != `{"label":"yes"}` || shown.Revised != 0 || shown.Task != held.Task || shown.Values.Values().Cells[0] != held.Values.Values().Cells[0] {
		t.Errorf("to revise: %+v", shown)
	}
	row := func() (value string, answers []string) {
		t.Helper()
		r := must(w.Results.Task(w.ctx, w.ann, id.Task(held.Task.N()), ""))(t).Row
		for _, a := range r.Answers {
			answers = append(answers, a.Key)
			for _, x := range a.Revisions {
				answers = append(answers, fmt.Sprint(x.N, " ", x.Key))
			}
		}
		return r.Label.Value, answers
	}
	if l, _ := row(); l != "yes" {
		t.Fatalf("the label is %s", l)
	}
	out := must(w.Work.Revise(w.ctx, one, held.Assignment, no))(t)
	if out.N != 1 || out.At.IsZero() || string(out.Answer) != `{"label":"no"}` || !out.Until.Equal(shown.Until) {
		t.Errorf("revised: %+v", out)
	}
	if l, answers := row(); l != "no" || !slices.Equal(answers, []string{"no", "0 yes"}) {
		t.Errorf("the label is %s, of %q", l, answers)
	}
	if again := must(w.Work.Revise(w.ctx, one, held.Assignment, no))(t); again.N != 1 || !again.At.Equal(out.At) {
		t.Errorf("the same again: %+v", again)
	}
	if p := w.batch(id).Progress; p.Completed != 1 || p.Labelled != 1 || p.Spent != crowd.Unit/100 {
		t.Errorf("it stands at %+v", p)
	}
	if b := must(w.store.Balance(w.ctx, engine.Account{Kind: engine.WorkerAccount, ID: int64(one.User.ID)}))(t); b != before {
		t.Errorf("they have %s, had %s", b, before)
	}
	for _, a := range []crowd.AssignmentID{held.Assignment, id.Assignment(99), crowd.BatchID(99).Assignment(1)} {
		_, err := w.Work.Revise(w.ctx, two, a, yes)
		refused(t, err, crowd.NotFound)
		_, err = w.Work.Revisable(w.ctx, two, a)
		refused(t, err, crowd.NotFound)
	}
	_, err = w.Work.Revise(w.ctx, one, held.Assignment, json.RawMessage(`"perhaps"`))
	refused(t, err, crowd.Invalid)
	w.killed()
	must(w.Work.Revise(w.ctx, one, held.Assignment, yes))(t)
	if l, answers := row(); l != "yes" || !slices.Equal(answers, []string{"yes", "0 yes", "1 no"}) {
		t.Errorf("after a restart the label is %s, of %q", l, answers)
	}

	must(w.Results.Correct(w.ctx, w.ann, id.Task(held.Task.N()), "yes", ""))(t)
	_, err = w.Work.Revise(w.ctx, one, held.Assignment, no)
	refusedText(t, err, crowd.Conflict, "is decided")
	_, err = w.Work.Revisable(w.ctx, one, held.Assignment)
	refusedText(t, err, crowd.Conflict, "is decided")

	next := must(w.Work.Next(w.ctx, two, 0))(t)
	must(w.submit(two, next.Assignment, yes))(t)
	_, done, err := w.Work.Earnings(w.ctx, two, 9)
	if ok(t, err); len(done) != 1 || done[0].ReviseUntil.IsZero() {
		t.Errorf("what they did: %+v", done)
	}
	must(w.Batches.End(w.ctx, w.ann, id))(t)
	_, err = w.Work.Revise(w.ctx, two, next.Assignment, no)
	refusedText(t, err, crowd.Conflict, "has ended")
	_, done, err = w.Work.Earnings(w.ctx, two, 9)
	if ok(t, err); !done[0].ReviseUntil.IsZero() {
		t.Errorf("when it has ended: %+v", done)
	}
}

// TestPayThatIsDecided: while pay is held an answer is revised and it stays held; once somebody has decided, it is not.
func TestPayThatIsDecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.draft(3, func(n *batches.NewBatch) {
		n.Revise, n.Approval = 2*time.Hour, &engine.Approval{Within: time.Hour}
	})
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	one := w.workers[0]
	a := must(w.Work.Next(w.ctx, one, 0))(t).Assignment
	must(w.submit(one, a, yes))(t)
	must(w.Work.Revise(w.ctx, one, a, no))(t)
	if x := must(w.store.PayOf(w.ctx, 0, a))(t); !x.State.IsOpen() || x.Amount != crowd.Unit/100 {
		t.Errorf("its pay is %+v", x)
	}
	b := must(w.Work.Next(w.ctx, one, 0))(t).Assignment
	must(w.submit(one, b, yes))(t)
	must(w.Pay.Refuse(w.ctx, w.ann, id, pay.Choice{Assignments: []crowd.AssignmentID{a}}, "it is wrong"))(t)
	_, err := w.Work.Revise(w.ctx, one, a, yes)
	refusedText(t, err, crowd.Conflict, "the pay of "+a.String()+" is decided")
	w.clock.advance(time.Hour)
	_, err = w.Work.Revise(w.ctx, one, b, no) // it is being paid
	refusedText(t, err, crowd.Conflict, "is decided")
}

// TestARevisedCheckIsAsAnyOther: what a worker is answered, told and handed out of an answer that they revise is the same of a
// check and of any other task; but what they have shown is what they answered first.
func TestARevisedCheckIsAsAnyOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.draft(0, func(n *batches.NewBatch) { halfChecks(n); n.Revise, n.Redundancy = 2*time.Hour, label.Count(1) })
	must(w.Batches.Upload(w.ctx, w.ann, id, knownAndOthers(8, 20), batches.Upload{}))(t)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	one := w.workers[0]
	checks := make(map[string]bool)
	var given []crowd.AssignmentID
	for range 14 {
		held := must(w.Work.Next(w.ctx, one, 0))(t)
		checks[held.Assignment.String()] = strings.HasPrefix(held.Values.Values().Cells[0], "known")
		must(w.submit(one, held.Assignment, no))(t) // the known answers are yes
		given = append(given, held.Assignment)
	}
	same := map[bool]string{}
	add := func(a crowd.AssignmentID, what string) {
		same[checks[a.String()]] += strings.ReplaceAll(what, a.String(), "a") + "\n"
	}
	var ofCheck, other crowd.AssignmentID
	for _, a := range given {
		if checks[a.String()] {
			ofCheck = a
		} else {
			other = a
		}
	}
	if ofCheck == 0 || other == 0 {
		t.Fatalf("checks are %v", checks)
	}
	until := func(p *access.Principal, a crowd.AssignmentID) string {
		x, err := w.Work.Revisable(w.ctx, p, a)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(string(x.Answer), x.Revised, x.Until.IsZero())
	}
	for _, a := range []crowd.AssignmentID{ofCheck, other} {
		add(a, until(one, a))
		for _, answer := range []json.RawMessage{yes, yes, no, yes, json.RawMessage(`"perhaps"`), no, yes, no, yes} {
			out, err := w.Work.Revise(w.ctx, one, a, answer)
			add(a, fmt.Sprint(string(out.Answer), out.N, out.At.IsZero(), err, until(one, a)))
		}
		_, done, err := w.Work.Earnings(w.ctx, one, 99)
		ok(t, err)
		for _, x := range done {
			if x.Assignment == a {
				add(a, fmt.Sprint(x.Counted, x.Late, x.Paid, x.Revised, x.RevisedAt.IsZero(), x.ReviseUntil.IsZero()))
			}
		}
	}
	_, rows, err := w.Accounts.PersonalData(w.ctx, one, one.User.ID)
	ok(t, err)
	for r, err := range rows {
		ok(t, err)
		for _, a := range []crowd.AssignmentID{ofCheck, other} {
			if r.Row["id"] != a.String() {
				continue
			}
			for _, moment := range []string{"task", "assigned_at", "expires_at", "ended_at", "revised_at", "given_at"} {
				if r.Row[moment] != nil {
					r.Row[moment] = "there"
				}
			}
			text, err := json.Marshal(r)
			ok(t, err)
			add(a, string(text))
		}
	}
	if same[true] != same[false] || strings.Count(same[true], "revised_answers") != engine.MaxRevisions {
		t.Errorf("of a check they are told\n%s\nand else\n%s", same[true], same[false])
	}
	q := must(w.Batches.Quality(w.ctx, w.ann, id, "majority"))(t)
	if x := q.Workers[0]; x.Gold == 0 || x.Right != 0 {
		t.Errorf("they were right in %d of %d checks, after what they answered first", x.Right, x.Gold)
	}
	w.killed()
	for _, x := range must(w.Batches.Quality(w.ctx, w.ann, id, "majority"))(t).Workers {
		if x.Right != 0 {
			t.Errorf("after a restart they were right in %d checks", x.Right)
		}
	}
}

// TestWhatTaughtIsNotRevised: who answered a training task has been told what is right, and is offered no revision of it.
func TestWhatTaughtIsNotRevised(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.draft(0, func(n *batches.NewBatch) {
		n.Checks, n.Revise, n.Redundancy = &engine.Checks{First: 0.01, Least: 0.01, Training: 1}, 2*time.Hour, label.Count(1)
	})
	must(w.Batches.Upload(w.ctx, w.ann, id, strings.NewReader("thing,_gold,_explain\na,yes,it is\nb,,\nc,,\n"), batches.Upload{}))(t)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	one := w.workers[0]
	taught := must(w.Work.Next(w.ctx, one, 0))(t)
	if !taught.Lesson {
		t.Fatalf("they got %+v", taught)
	}
	must(w.submit(one, taught.Assignment, no))(t)
	other := must(w.Work.Next(w.ctx, one, 0))(t).Assignment
	must(w.submit(one, other, no))(t)
	_, err := w.Work.Revisable(w.ctx, one, taught.Assignment)
	refusedText(t, err, crowd.Conflict, "you have been told what is right")
	_, err = w.Work.Revise(w.ctx, one, taught.Assignment, yes)
	refusedText(t, err, crowd.Conflict, "you have been told what is right")
	_, done, err := w.Work.Earnings(w.ctx, one, 9)
	ok(t, err)
	for _, x := range done {
		if x.ReviseUntil.IsZero() != (x.Assignment == taught.Assignment) {
			t.Errorf("of %s they are told it can be revised until %s", x.Assignment, x.ReviseUntil)
		}
	}
	must(w.Work.Revise(w.ctx, one, other, yes))(t)
}
