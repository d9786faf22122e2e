package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

func (f *failingStore) Review(ctx context.Context, review crowd.TaskID) (store.Review, error) {
	return fail1(f, ctx, "Review", func() (store.Review, error) { return f.Store.Review(ctx, review) })
}

func (f *failingStore) ReviewedTask(ctx context.Context, review crowd.TaskID) (engine.AnsweredTask, error) {
	return fail1(f, ctx, "ReviewedTask", func() (engine.AnsweredTask, error) { return f.Store.ReviewedTask(ctx, review) })
}

func (f *failingStore) CountReviews(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) (map[store.ReviewState]int, error) {
	return fail1(f, ctx, "CountReviews", func() (map[store.ReviewState]int, error) { return f.Store.CountReviews(ctx, tenant, id) })
}

// reviewed has labels of a batch reviewed.
func reviewed(which engine.Review, change ...func(*store.ReviewTerms)) func(*batches.NewBatch) {
	return func(b *batches.NewBatch) {
		b.Review = &store.ReviewTerms{Review: which, Reward: crowd.Unit / 50}
		for _, c := range change {
			c(b.Review)
		}
	}
}

// TestReviews: labels that are undecided are reviewed by somebody who had no part in them, who sees
// the label and the answers, and accepts it or gives another one, which corrects it. A kill at
// any point loses no review and doubles none.
func TestReviews(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	id := w.launch(4, times(2), reviewed(engine.Review{Confidence: 1}))
	in := w.batch(id).ReviewedIn
	if r := w.batch(in); r.Name != "Reviews of things" || r.Spec.ReviewOf != id || r.Progress.State != crowd.BatchRunning || r.Budget() != 4*crowd.Unit/50 || r.Because() != "no label of "+id.String()+" waits for a review" {
		t.Fatalf("the batch of reviews is %+v: %s", r.Batch, r.Because())
	}
	for i, p := range w.workers[:2] {
		for n := range 4 {
			answer := yes
			if i == 1 && n < 3 {
				answer = no
			}
			held := w.next(p)
			if held.Batch != id || held.IsReview || held.Review != nil {
				t.Fatalf("%s got %+v", p.User.Name, held)
			}
			must(w.submit(p, held.Assignment, answer))(t)
			w.killed()
		}
	}
	states := func(want batches.Reviews) {
		t.Helper()
		if got := w.batch(id).Reviews; !maps.Equal(got, want) {
			t.Errorf("reviews are %v, want %v", got, want)
		}
	}
	if v := w.batch(id); v.Progress.State != crowd.BatchDone || w.batch(in).Progress.State != crowd.BatchRunning {
		t.Fatalf("%s is %s, its reviews %s", id, v.Progress.State, w.batch(in).Progress.State)
	}
	states(batches.Reviews{store.ReviewWaiting: 3})
	for _, p := range w.workers[:2] { // who answered reviews nothing
		if held := must(w.Work.Next(w.ctx, p, 0))(t); held != nil {
			t.Fatalf("%s reviews %+v", p.User.Name, held)
		}
		if why := must(w.Work.WhyNothing(w.ctx, p))(t); why[crowd.AnsweredElsewhere] != 1 {
			t.Errorf("%s gets nothing for %v", p.User.Name, why)
		}
	}

	carl, dora := w.workers[2], w.workers[3]
	first := w.next(carl)
	shown := first.Review
	if first.Batch != in || !first.IsReview || shown == nil || shown.Confidence != 0.5 || shown.Corrected || !shown.Acceptable() || first.Reward != crowd.Unit/50 ||
		fmt.Sprint(shown.Answers) != "[{no 1} {yes 1}]" || first.Values.Values().Cells[0] != "thing 1" {
		t.Fatalf("the review is %+v of %+v", first, shown)
	}
	other := yes
	if shown.Label == "yes" {
		other = no
	}
	w.killed()
	if again := w.next(carl); again.Assignment != first.Assignment {
		t.Fatalf("after a kill they hold %s, not %s", again.Assignment, first.Assignment)
	}
	must(w.submit(carl, first.Assignment, other))(t)
	w.killed()
	states(batches.Reviews{store.ReviewWaiting: 2, store.ReviewCorrected: 1})

	second := w.next(dora)
	out, next, err := w.Work.Submit(w.ctx, dora, second.Assignment, nil, true, 0)
	ok(t, err)
	if !out.Counted || out.Paid != crowd.Unit/50 || next == nil || next.Batch != in {
		t.Fatalf("accepted: %+v, next %+v", out, next)
	}
	if out, _, err = w.Work.Submit(w.ctx, dora, second.Assignment, nil, false, 0); err != nil || !out.Duplicate {
		t.Errorf("accepted again: %+v, %v", out, err)
	}
	must(w.submit(dora, next.Assignment, yes))(t)
	if v := w.batch(in); v.Progress.State != crowd.BatchDone || v.Progress.Spent != 3*crowd.Unit/50 || v.Progress.Released != crowd.Unit/50 {
		t.Errorf("the reviews are %s, spent %s, gave %s back", v.Progress.State, v.Progress.Spent, v.Progress.Released)
	}

	// What came of it, by the filters and in files, with pseudonyms for who reviewed.
	find := func(filter string) []results.Row {
		t.Helper()
		f, err := results.ParseFilter(filter)
		ok(t, err)
		return must(w.Results.List(w.ctx, w.ann, id, results.Query{Filter: f, Limit: 9}))(t).Rows
	}
	for filter, want := range map[string]int{"reviewed:yes": 3, "reviewed:no": 1, "-reviewed:yes": 1, "review:waiting": 0, "review:waiting,accepted,corrected": 3} {
		if got := len(find(filter)); got != want {
			t.Errorf("%s has %d tasks, want %d", filter, got, want)
		}
	}
	row := find("review:corrected")[0]
	by := w.pseudonym(w.a, carl)
	if row.Task != id.Task(1) || row.Label.Value == shown.Label || row.Label.Confidence != 1 || row.Corrected.Review != first.Task || row.Corrected.By != 0 || row.Corrected.ByName != by ||
		row.Review.By != 0 || row.ReviewedBy.Pseudonym != by || row.ReviewedBy.ID != 0 {
		t.Errorf("the corrected task is %+v, corrected %+v, review %+v", row, row.Corrected, row.Review)
	}
	if list := must(w.Results.Corrections(w.ctx, w.ann, id.Task(1)))(t); len(list) != 1 || list[0].ByName != by || list[0].By != 0 || list[0].Review != first.Task {
		t.Errorf("the corrections are %+v", list)
	}
	v := must(w.Results.Task(w.ctx, w.admin, id.Task(1), ""))(t)
	if v.Corrections[0].ByName != carl.User.Name || v.Row.ReviewedBy.ID != carl.User.ID || strings.Join(v.Row.Review.Why.Names(), " ") != "confidence" {
		t.Errorf("an administrator sees %+v, %+v", v.Corrections[0], v.Row)
	}
	page := must(w.Results.List(w.ctx, w.ann, id, results.Query{Limit: 9}))(t)
	if c := page.Counts; c.Reviewed != 3 || c.Waiting != 0 {
		t.Errorf("counts are %+v", c)
	}
	b, list, err := w.Batches.Labels(w.ctx, w.ann, id, results.Live)
	ok(t, err)
	table := results.LabelTable(&b, list)
	column := len(table.Columns) - 2
	var cells []string
	for row, err := range table.Rows {
		ok(t, err)
		cells = append(cells, row[column])
	}
	if table.Columns[column] != "review" || cells[0] != "corrected" || cells[3] != "" {
		t.Errorf("the column %s has %q", table.Columns[column], cells)
	}
	all := must(w.Results.All(w.ctx, w.ann, id, results.Query{}))(t)
	tasks := must(all.Table(results.Tasks, false))(t)
	n := strings.Split(strings.Join(tasks.Columns, "\n"), "\n")
	for row, err := range tasks.Rows {
		ok(t, err)
		if len(row) != len(n) {
			t.Fatalf("a row has %d cells of %d columns", len(row), len(n))
		}
	}
}

// TestResultsFollowReviews: a list that was made before follows what reviewers say.
func TestResultsFollowReviews(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id := w.launch(2, reviewed(engine.Review{Share: 1}))
	label := func() (string, store.ReviewState) {
		row := must(w.Results.List(w.ctx, w.ann, id, results.Query{Limit: 1}))(t).Rows[0]
		return row.Label.Value, row.Review.State
	}
	must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, yes))(t)
	if l, s := label(); l != "yes" || s != store.ReviewWaiting {
		t.Fatalf("the label is %s, its review %s", l, s)
	}
	held := w.next(w.workers[1])
	for held.Batch == id {
		must(w.submit(w.workers[1], held.Assignment, yes))(t)
		held = w.next(w.workers[1])
	}
	must(w.submit(w.workers[1], held.Assignment, no))(t)
	f := must(results.ParseFilter("review:corrected"))(t)
	if rows := must(w.Results.List(w.ctx, w.ann, id, results.Query{Filter: f, Limit: 9}))(t).Rows; len(rows) != 1 {
		t.Errorf("the filter has %d tasks", len(rows))
	}
	if l, s := label(); l != "no" || s != store.ReviewCorrected {
		t.Errorf("the label is %s, its review %s", l, s)
	}
}

// TestBlindReviews show neither the label nor the answers, and accept nothing unseen.
func TestBlindReviews(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id := w.launch(1, reviewed(engine.Review{Share: 1}, func(x *store.ReviewTerms) { x.Blind = true }))
	must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, yes))(t)
	held := w.next(w.workers[1])
	if !held.IsReview || held.Review != nil {
		t.Fatalf("a blind review shows %+v", held.Review)
	}
	_, _, err := w.Work.Submit(w.ctx, w.workers[1], held.Assignment, nil, false, 0)
	refused(t, err, crowd.Invalid)
	_, _, err = w.Work.Submit(w.ctx, w.workers[0], held.Assignment, nil, false, 0)
	refused(t, err, crowd.NotFound)
	must(w.submit(w.workers[1], held.Assignment, yes))(t)
	if got := w.batch(id).Reviews; got[store.ReviewAccepted] != 1 || got.Done() != 1 {
		t.Errorf("reviews are %v", got)
	}
}

// TestReviewTermsAreChecked when a draft is made, and money for both batches when it is launched.
func TestReviewTermsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	for field, change := range map[string]func(*store.ReviewTerms){
		"review":                func(x *store.ReviewTerms) { x.Share = 0 },
		"review.share":          func(x *store.ReviewTerms) { x.Share = 2 },
		"review.reward":         func(x *store.ReviewTerms) { x.Reward = 0 },
		"review.budget":         func(x *store.ReviewTerms) { x.Budget = 1 },
		"review.priority":       func(x *store.ReviewTerms) { x.Priority = -1 },
		"review.deadline":       func(x *store.ReviewTerms) { x.Deadline = time.Unix(1, 0) },
		"review.qualifications": func(x *store.ReviewTerms) { x.Requirements = []engine.Requirement{{Name: "", Min: 400}} },
	} {
		d := w.definition()
		reviewed(engine.Review{Share: 1}, change)(&d)
		_, err := w.Batches.Create(w.ctx, w.ann, d)
		if list := crowd.ErrorsOf(err); len(list) != 1 || list[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	id := w.draft(2, reviewed(engine.Review{Share: 1}, func(x *store.ReviewTerms) { x.Budget = money }))
	_, err := w.Batches.Launch(w.ctx, w.ann, id, false)
	refused(t, err, crowd.BudgetTooSmall)
	if v := w.batch(id); v.ReviewedIn != 0 {
		t.Errorf("%s has reviews in %s", id, v.ReviewedIn)
	}
}

// TestABatchOfReviewsIsLedByItsOwn: it is launched and cancelled with it, takes no tasks from outside, and
// its labels and redundancy stay as they are.
func TestABatchOfReviewsIsLedByItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.draft(2, times(4), reviewed(engine.Review{Share: 1}))
	_, err := w.Batches.Launch(w.ctx, w.ann, id, false) // the pool is too small
	refused(t, err, crowd.Invalid)
	in := w.batch(id).ReviewedIn
	for name, try := range map[string]func() error{
		"launch": func() error { return second(w.Batches.Launch(w.ctx, w.ann, in, true)) },
		"cancel": func() error { return second(w.Batches.Cancel(w.ctx, w.ann, in)) },
		"upload": func() error { return second(w.Batches.Upload(w.ctx, w.ann, in, things(1), batches.Upload{})) },
		"edit": func() error {
			return second(w.Batches.EditDraft(w.ctx, w.ann, in, func(*batches.NewBatch) error { return nil }))
		},
		"pause": func() error { return second(w.Batches.Pause(w.ctx, w.ann, in)) },
	} {
		if err := try(); crowd.CodeOf(err) != crowd.Conflict || !strings.Contains(err.Error(), "launched with it") {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(w.Batches.EditDraft(w.ctx, w.ann, id, func(n *batches.NewBatch) error {
		n.Redundancy, n.Review.Reward, n.Name = label.Count(1), 7, "animals"
		return nil
	}))(t)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	if r := w.batch(in); r.Spec.Reward != 7 || r.Name != "Reviews of animals" || r.Progress.State != crowd.BatchRunning || w.batch(id).ReviewedIn != in {
		t.Fatalf("launched with %+v", r.Batch)
	}
	_, err = w.Batches.AddTasks(w.ctx, w.ann, in, things(1), batches.Addition{})
	refused(t, err, crowd.Conflict)
	_, err = w.Batches.Change(w.ctx, w.ann, in, func(x *batches.RunningSettings) error { x.Redundancy = label.Count(2); return nil })
	refused(t, err, crowd.Invalid)
	must(w.Batches.Change(w.ctx, w.ann, in, func(x *batches.RunningSettings) error { x.Reward, x.Priority = 6, 3; return nil }))(t)
	must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, yes))(t)
	_, err = w.Results.Correct(w.ctx, w.ann, in.Task(1), "no", "")
	refused(t, err, crowd.Conflict)
	must(w.Batches.End(w.ctx, w.ann, in))(t)
	if got := w.batch(id).Reviews; got[store.ReviewDropped] != 1 {
		t.Errorf("reviews are %v", got)
	}

	other := w.draft(2, times(4), reviewed(engine.Review{Share: 1}))
	_, err = w.Batches.Launch(w.ctx, w.ann, other, false)
	refused(t, err, crowd.Invalid)
	left := w.batch(other).ReviewedIn
	must(w.Batches.Cancel(w.ctx, w.ann, other))(t)
	if state := w.batch(left).Progress.State; state != crowd.BatchCancelled {
		t.Errorf("the reviews of a cancelled draft are %s", state)
	}
}

// TestErasedReviewers: a label that was the text of a reviewer who is erased with their texts goes, as
// it does from the task that they corrected.
func TestErasedReviewers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id := w.launch(1, reviewed(engine.Review{Share: 1}), func(b *batches.NewBatch) {
		b.Template = []byte(`{"kind": "short_text", "question": "What is ${thing}?"}`)
	})
	must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, []byte(`"a stone"`)))(t)
	must(w.submit(w.workers[1], w.next(w.workers[1]).Assignment, []byte(`"a secret of mine"`)))(t)
	if c := must(w.Results.Task(w.ctx, w.ann, id.Task(1), ""))(t).Row.Corrected; c == nil || c.Value != "a secret of mine" {
		t.Fatalf("corrected to %+v", c)
	}
	ok(t, w.Accounts.Erase(w.ctx, w.admin, w.workers[1].User.ID, accounts.ErasureOrder{Confirm: w.workers[1].User.Name, FreeText: accounts.DeleteText, Settled: true}))
	if found := w.found([]string{"a secret of mine"}); len(found) > 0 {
		t.Errorf("the text is still there: %v", found)
	}
}

// TestAReviewHasABound: however much people have written, what a reviewer is shown takes no more than any task
// does, and they accept the whole label all the same.
func TestAReviewHasABound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	const many = 25
	var people []*access.Principal
	for i := range many {
		people = append(people, w.person(accounts.NewUser{Name: fmt.Sprint("long", i), Pool: w.pool}))
	}
	id := w.draft(1, append(allReviewed(), func(b *batches.NewBatch) {
		b.Template = json.RawMessage(`{"kind":"short_text","question":"Say ${thing}"}`)
		b.Redundancy, b.Budget = label.Count(many), 100*crowd.Unit
	})...)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	said := func(i int) string { return fmt.Sprint(i, strings.Repeat("<", 9_000)) }
	for i, p := range people {
		must(w.submit(p, w.next(p).Assignment, must(json.Marshal(said(max(i, 1))))(t)))(t)
	}
	held := w.next(w.workers[0])
	if !held.IsReview || len(held.Review.Answers) != many-1 {
		t.Fatalf("they hold %+v", held.Handout)
	}
	texts := []string{held.Review.Label}
	for _, x := range held.Review.Answers {
		texts = append(texts, x.Key)
	}
	if n := task.SizeOfTexts(texts); n > task.MaxShownBytes/2 || n < task.MaxShownBytes/8 || !held.Review.Acceptable() {
		t.Errorf("it is shown with %d bytes; to be accepted: %t", n, held.Review.Acceptable())
	}
	_, _, err := w.Work.Submit(w.ctx, w.workers[0], held.Assignment, nil, false, 0)
	ok(t, err)
	if state := must(w.Results.Task(w.ctx, w.ann, id.Task(1), ""))(t).Row.Review.State; state != store.ReviewAccepted {
		t.Errorf("the review is %s", state)
	}
}
