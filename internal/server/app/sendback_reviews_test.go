package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/store"
)

// allReviewed has each label of a batch with money to ask again reviewed, before anything else is done.
func allReviewed(change ...func(*batches.NewBatch)) []func(*batches.NewBatch) {
	return append([]func(*batches.NewBatch){reviewed(engine.Review{Share: 1}, func(r *store.ReviewTerms) { r.Priority, r.Budget = 100, crowd.Unit }), func(b *batches.NewBatch) { b.Budget = 10 * crowd.Unit }}, change...)
}

// reads has all that a worker can read of their work.
func (w *world) reads(p *access.Principal, held ...*work.HeldTask) string {
	w.t.Helper()
	earned, list, err := w.Work.Earnings(w.ctx, p, 99)
	ok(w.t, err)
	var shown []any
	for _, h := range held {
		shown = append(shown, h.Reply, h.Values, h.Review)
	}
	return fmt.Sprintf("%+v", []any{shown, earned, list, must(w.Work.OwnReports(w.ctx, p, 99))(w.t), must(w.Work.Notes(w.ctx, p))(w.t), must(w.Work.Undoable(w.ctx, p))(w.t)})
}

// reaches has somebody skip tasks until they get a certain one.
func (w *world) reaches(p *access.Principal, task crowd.TaskID) *work.HeldTask {
	w.t.Helper()
	held := w.next(p)
	for held.Task != task {
		held = must(w.Work.Skip(w.ctx, p, held.Assignment, 0))(w.t)
		if held == nil {
			w.t.Fatalf("%s does not get %s", p.User.Name, task)
		}
	}
	return held
}

// sends has a reviewer send the label back of the review that they hold.
func (w *world) sends(p *access.Principal, h *work.HeldTask, comment string) error {
	w.t.Helper()
	if h == nil || !h.IsReview {
		w.t.Fatalf("%s holds no review, but %+v", p.User.Name, h)
	}
	out, _, err := w.Work.SendBack(w.ctx, p, h.Assignment, comment, false, 0)
	if err == nil && (!out.Counted || out.Paid != crowd.Unit/50) && out.CountsAt.IsZero() {
		w.t.Errorf("the review came to %+v", out)
	}
	return err
}

// TestAReviewerSendsALabelBack: the review is paid, and the task asked again of others than who answered or reviewed it,
// who read the comment; nobody else does, whatever is killed meanwhile. After two times no more labels are sent
// back, and the comment goes with who wrote it.
func TestAReviewerSendsALabelBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 6)
	id := w.launch(30, allReviewed()...)
	answered, first, second := w.workers[0], w.workers[1], w.workers[2]
	n := w.answersNext(answered, yes)
	task := id.Task(n)
	row := func() results.Row {
		t.Helper()
		return must(w.Results.Task(w.ctx, w.ann, task, ""))(t).Row
	}

	review := w.next(first)
	const ears = "Look at the <ears>."
	for name, x := range map[string]struct {
		p       *access.Principal
		id      crowd.AssignmentID
		comment string
		code    crowd.Code
		says    string
	}{
		"nothing":    {first, review.Assignment, " ", crowd.Invalid, "send_back: is missing"},
		"too long":   {first, review.Assignment, strings.Repeat("é", 501), crowd.Invalid, "longer than 1000 bytes"},
		"disguised":  {first, review.Assignment, "a\u202eb", crowd.Invalid, "cannot be seen"},
		"another's":  {second, review.Assignment, ears, crowd.NotFound, "is not an assignment of yours"},
		"no review":  {answered, id.Assignment(1), ears, crowd.Invalid, "is no review"},
		"not theirs": {second, id.Assignment(1), ears, crowd.NotFound, "is not an assignment of yours"},
		"of nothing": {first, crowd.BatchID(99).Assignment(1), ears, crowd.NotFound, "is not an assignment of yours"},
	} {
		_, _, err := w.Work.SendBack(w.ctx, x.p, x.id, x.comment, false, 0)
		if crowd.CodeOf(err) != x.code || !strings.Contains(fmt.Sprint(err), x.says) {
			t.Errorf("%s: %v, want %s: %s", name, err, x.code, x.says)
		}
	}
	if again := w.next(first); again.Assignment != review.Assignment || row().Label == nil {
		t.Fatalf("what was refused has changed something: %+v", again)
	}

	ok(t, w.sends(first, review, " "+ears+"\n"))
	w.killed()
	if out, _, err := w.Work.SendBack(w.ctx, first, review.Assignment, "Again.", false, 0); err != nil || !out.Duplicate || out.Paid != crowd.Unit/50 {
		t.Errorf("said twice: %+v, %v", out, err)
	}
	is := row()
	if is.Label != nil || is.Review.State != store.ReviewSentBack || is.ReviewedBy.Pseudonym != w.pseudonym(w.a, first) || is.ReviewedBy.ID != 0 || len(is.SentBack) != 1 ||
		is.SentBack[0].Comment != ears || is.SentBack[0].Reviewer.Pseudonym != is.ReviewedBy.Pseudonym || is.SentBack[0].By != 0 || !is.SentBack[0].Acts {
		t.Errorf("the task is %+v, its review %+v", is, is.Review)
	}
	if a := is.Answers[0]; a.Counted || a.DisregardedAt.IsZero() || a.Paid == 0 {
		t.Errorf("the answer is %+v", a)
	}
	if v := w.batch(id); v.Reviews[store.ReviewSentBack] != 1 || v.Reviews.Done() != 0 {
		t.Errorf("reviews are %v", v.Reviews)
	}
	for filter, want := range map[string]int{"review:sent-back": 1, "review:waiting": 0, "reviewed:yes": 0} {
		f, err := results.ParseFilter(filter)
		ok(t, err)
		if got := must(w.Results.List(w.ctx, w.ann, id, results.Query{Filter: f, Limit: 9}))(t); len(got.Rows) != want {
			t.Errorf("%s has %d tasks, want %d", filter, len(got.Rows), want)
		}
	}

	// Who answered, and who sent it back, get other tasks, and read the comment nowhere.
	for range 3 {
		for _, p := range []*access.Principal{answered, first} {
			held := w.next(p)
			if held.Batch == id && held.Task == task || strings.Contains(w.reads(p, held), "ears") {
				t.Fatalf("%s gets %s, and reads %s", p.User.Name, held.Task, w.reads(p, held))
			}
			must(w.Work.Skip(w.ctx, p, held.Assignment, 0))(t)
			w.killed()
		}
	}
	held := w.reaches(second, task)
	if held.Reply != ears || !held.ByReviewer {
		t.Fatalf("somebody else gets %s, told %q", held.Task, held.Reply)
	}
	must(w.submit(second, held.Assignment, no))(t)
	if is := row(); is.Label == nil || is.Label.Value != "no" || is.Label.Answers != 1 || is.Review.State != store.ReviewWaiting {
		t.Fatalf("then it is %+v, and its review %+v", is.Label, is.Review)
	}

	// The next label is sent back, too, and the one after that is not.
	third, fourth, fifth := w.workers[3], w.workers[4], w.workers[5]
	ok(t, w.sends(third, w.next(third), "And at the tail."))
	held = w.reaches(fourth, task)
	if held.Reply != "And at the tail." {
		t.Fatalf("then somebody else is told %q", held.Reply)
	}
	ok(t, w.Accounts.Erase(w.ctx, w.admin, third.User.ID, accounts.ErasureOrder{Confirm: third.User.Name, FreeText: accounts.DeleteText, Settled: true}))
	if held = w.next(fourth); held.Task != task || held.Reply != "" {
		t.Errorf("since who wrote it is erased, they are told %q", held.Reply)
	}
	must(w.submit(fourth, held.Assignment, no))(t)
	if list := row().SentBack; len(list) != 2 || list[0].Comment != ears || list[1].Comment != "" {
		t.Errorf("what is left of comments: %+v", list)
	}
	review = w.next(fifth)
	err := w.sends(fifth, review, "Once more.")
	if crowd.CodeOf(err) != crowd.Conflict || !strings.Contains(err.Error(), "2 labels of this task were sent back before, and no more are: accept the label or answer the task") {
		t.Errorf("a third time: %v", err)
	}
	if _, _, err := w.Work.Submit(w.ctx, fifth, review.Assignment, nil, false, 0); err != nil || row().Review.State != store.ReviewAccepted {
		t.Errorf("accepted in its place: %v, %+v", err, row().Review)
	}
	if got := w.batch(w.batch(id).ReviewedIn).Progress.Spent; got != 3*crowd.Unit/50 {
		t.Errorf("the reviews have cost %s", got)
	}
	ok(t, w.store.CheckUsage(w.ctx))
	ok(t, w.store.CheckLedger(w.ctx))
}

// TestALabelStaysWithTheReviewer where staff have decided it, its batch has ended, or the money for asking again is not there.
func TestALabelStaysWithTheReviewer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	for want, x := range map[string]struct {
		change func(*batches.NewBatch)
		before func(crowd.TaskID)
		code   crowd.Code
	}{
		"somebody has decided meanwhile what the label is":                       {before: func(id crowd.TaskID) { must(w.Results.Correct(w.ctx, w.ann, id, "no", ""))(t) }, code: crowd.Conflict},
		"has ended, and nobody is asked again: accept the label":                 {before: func(id crowd.TaskID) { ok(t, second(w.Batches.End(w.ctx, w.admin, id.Batch()))) }, code: crowd.Conflict},
		"has no money to ask again: accept the label or answer the task":         {change: func(b *batches.NewBatch) { b.Budget = 0 }, code: crowd.BudgetTooSmall},
		"has no money for a further review: accept the label or answer the task": {change: func(b *batches.NewBatch) { b.Review.Budget = crowd.Unit / 50 }, code: crowd.BudgetTooSmall},
	} {
		id := w.launch(2, allReviewed(func(b *batches.NewBatch) {
			if x.change != nil {
				x.change(b)
			}
		})...)
		n := w.answersNext(w.workers[0], yes)
		held := w.next(w.workers[1])
		if x.before != nil {
			x.before(id.Task(n))
		}
		err := w.sends(w.workers[1], held, "Look again.")
		if crowd.CodeOf(err) != x.code || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want %s: %s", err, x.code, want)
		}
		if still := w.next(w.workers[1]); still.Assignment != held.Assignment {
			t.Errorf("%s: they hold %s", want, still.Assignment)
		}
		must(w.submit(w.workers[1], held.Assignment, yes))(t)
		_ = second(w.Batches.End(w.ctx, w.admin, id))
	}
}

// TestAVerdictIsTakenBack within its grace with what was written, and acts when that is over, unless staff have corrected the label
// meanwhile.
func TestAVerdictIsTakenBack(t *testing.T) {
	for _, corrected := range []bool{false, true} {
		t.Run(fmt.Sprintf("corrected %t", corrected), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 3)
				defer w.close()
				id := w.launch(3, allReviewed(func(b *batches.NewBatch) { b.Grace = 10 * time.Minute })...)
				task := id.Task(w.answersNext(w.workers[0], yes))
				<-time.After(11 * time.Minute)
				held := w.next(w.workers[1])
				ok(t, w.sends(w.workers[1], held, "Look \"again\"."))
				back, said, err := w.Work.Undo(w.ctx, w.workers[1], held.Assignment)
				ok(t, err)
				var form map[string]string
				ok(t, json.Unmarshal(said, &form))
				if back.Assignment != held.Assignment || form["send_back"] != "Look \"again\"." {
					t.Errorf("taken back: %s with %s", back.Assignment, said)
				}
				ok(t, w.sends(w.workers[1], held, "Look once more."))
				if corrected {
					must(w.Results.Correct(w.ctx, w.ann, task, "no", ""))(t)
				}
				v := must(w.Results.Task(w.ctx, w.ann, task, ""))(t).Row
				if v.Label == nil || v.Review.State != store.ReviewWaiting || len(v.SentBack) > 0 {
					t.Errorf("within its grace: %+v", v)
				}
				<-time.After(11 * time.Minute)
				synctest.Wait()
				v = must(w.Results.Task(w.ctx, w.ann, task, ""))(t).Row
				state := store.ReviewSentBack
				if corrected {
					state = store.ReviewKept
				}
				if v.Review.State != state || (v.Label == nil) == corrected || len(v.SentBack) != 1 || v.SentBack[0].Acts == corrected || v.SentBack[0].Comment != "Look once more." {
					t.Errorf("then: %+v, review %+v, sent back %+v", v, v.Review, v.SentBack)
				}
			})
		})
	}
}

// heldReview is a review in somebody's hands.
type heldReview struct {
	by *access.Principal
	id crowd.AssignmentID
}

// heldReview is one of a batch that is paused since, so that nobody else gets its tasks.
func (w *world) heldReview() heldReview {
	w.t.Helper()
	of := w.launch(2, allReviewed()...)
	first := w.person(accounts.NewUser{Name: "labels", Pool: w.pool})
	must(w.submit(first, w.reaches(first, of.Task(1)).Assignment, yes))(w.t)
	reviewer := w.person(accounts.NewUser{Name: "reviews", Pool: w.pool})
	held := w.reaches(reviewer, w.batch(of).ReviewedIn.Task(1))
	must(w.Batches.Pause(w.ctx, w.admin, of))(w.t)
	return heldReview{reviewer, held.Assignment}
}

func init() {
	thoroughly["Work.SendBack"] = func(x *trial, _ *access.Principal) error {
		_, _, err := x.Work.SendBack(x.ctx, x.people.review.by, x.people.review.id, "look again", false, 0)
		return err
	}
}
