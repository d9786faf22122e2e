package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

func (f *failingStore) AnsweredBy(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, worker crowd.WorkerID, after, last uint32, limit int) ([]engine.AnsweredTask, error) {
	return fail1(f, ctx, "AnsweredBy", func() ([]engine.AnsweredTask, error) {
		return f.Store.AnsweredBy(ctx, tenant, id, worker, after, last, limit)
	})
}

func (f *failingStore) HasAnswered(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, worker crowd.WorkerID) (bool, error) {
	return fail1(f, ctx, "HasAnswered", func() (bool, error) { return f.Store.HasAnswered(ctx, tenant, id, worker) })
}

// richAnswered is a running batch, with a budget to spare, that a worker has answered a task of.
func (w *world) richAnswered(p *access.Principal) crowd.BatchID {
	w.t.Helper()
	id := w.launch(3, func(b *batches.NewBatch) { b.Budget, b.Revise = 10*crowd.Unit, 2*time.Hour })
	for {
		held := w.next(p)
		must(w.submit(p, held.Assignment, yes))(w.t)
		if held.Batch == id {
			return id
		}
	}
}

// answeredAndPaused is one whose other tasks nobody is given.
func (w *world) answeredAndPaused() crowd.BatchID {
	w.t.Helper()
	id := w.richAnswered(w.workers[0])
	must(w.Batches.Pause(w.ctx, w.admin, id))(w.t)
	return id
}

func (s *scene) withAnswers() crowd.BatchID {
	s.t.Helper()
	if s.ready != nil {
		return s.ready.answered
	}
	return s.richAnswered(s.workers[0])
}

// What the tests of access try of answers that are disregarded.

func tryDisregard(s *scene, p *access.Principal) error {
	id := s.withAnswers()
	return second(s.Batches.Disregard(s.ctx, p, id, s.pseudonym(s.a, s.workers[0]), false))
}

func tryWouldDisregard(s *scene, p *access.Principal) error {
	id := s.withAnswers()
	return second(s.Batches.WouldDisregard(s.ctx, p, id, s.pseudonym(s.a, s.workers[0])))
}

// told is an answer to each of the first n tasks that somebody gets.
func (w *world) told(p *access.Principal, n int, answer json.RawMessage) {
	w.t.Helper()
	for range n {
		must(w.submit(p, w.next(p).Assignment, answer))(w.t)
	}
}

// TestDisregard: the tasks that somebody answered are asked again of others, but for those whose label stands
// without them or was decided by a person; they keep their pay; and nothing goes by their answers, also after a
// kill in the middle.
func TestDisregard(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5)
	id := w.launch(5, func(b *batches.NewBatch) { b.Redundancy = label.Agree(2, 3) })
	bad, good := w.workers[0], w.workers[1:]
	who := w.pseudonym(w.a, bad)
	w.told(bad, 4, no) // 1 to 4
	w.told(good[0], 4, yes)
	w.told(good[1], 4, yes) // each is yes, with 2 of 3
	reward := w.batch(id).Spec.Reward
	must(w.Results.Correct(w.ctx, w.ann, id.Task(4), "no", ""))(t)
	w.told(bad, 1, no) // 5 is open
	before := w.batch(id).Progress
	would := must(w.Batches.WouldDisregard(w.ctx, w.ann, id, who))(t)
	want := engine.Disregarded{Answers: 5, Tasks: 4, Withdrawn: 3, Relabelled: 3, Cost: reward, Missing: reward}
	if would.Disregarded != want || would.By.Pseudonym != who {
		t.Errorf("it would be %+v, want %+v", would, want)
	}
	_, err := w.Batches.Disregard(w.ctx, w.ann, id, who, false)
	refusedText(t, err, crowd.BudgetTooSmall, reward.String()+" is missing in the budget")
	if p := w.batch(id).Progress; p != before {
		t.Errorf("refused, it stands at %+v, and stood at %+v", p, before)
	}
	funds := w.balance(w.a)
	done := must(w.Batches.Disregard(w.ctx, w.ann, id, who, true))(t)
	want.Missing = 0
	if done.Disregarded != want || done.Reserved != reward || w.balance(w.a) != funds-reward {
		t.Errorf("it came to %+v, and %s were taken", done, funds-w.balance(w.a))
	}
	for n := range 2 {
		_, list, err := w.Batches.Labels(w.ctx, w.ann, id, results.Live)
		ok(t, err)
		said := ""
		for x, err := range list {
			ok(t, err)
			if x.Label == nil {
				said += " -"
			} else {
				said += fmt.Sprintf(" %s %.2f/%d", x.Label.Value, x.Label.Confidence, x.Label.Answers)
			}
		}
		if said != " yes 1.00/2 yes 1.00/2 yes 1.00/2 no 1.00/3 -" {
			t.Errorf("labels are%s", said)
		}
		if held := must(w.Work.Next(w.ctx, bad, 0))(t); held != nil {
			t.Errorf("they get %+v", held)
		}
		v := w.workerOf(id, bad, results.WorkerQuery{})
		if v.Answers != 5 || v.Counted != 0 || v.Disregarded != 5 || v.Compared != 0 || v.Paid != 5*reward || v.Quality != nil || v.Rows[0].DisregardedAt.IsZero() {
			t.Errorf("their part is %+v", v)
		}
		q := must(w.Batches.Quality(w.ctx, w.ann, id, "majority"))(t)
		if len(q.Workers) != 2 || q.Unanim != 1 {
			t.Errorf("quality goes by %d people, %v of the tasks unanimous", len(q.Workers), q.Unanim)
		}
		x := must(w.Results.Task(w.ctx, w.ann, id.Task(1), ""))(t)
		out := 0
		for _, a := range x.Row.Answers {
			if !a.DisregardedAt.IsZero() && !a.Counted && a.Paid == reward {
				out++
			}
		}
		if len(x.Row.Answers) != 3 || out != 1 {
			t.Errorf("%d answers to the first task, %d of them disregarded", len(x.Row.Answers), out)
		}
		if again := must(w.Batches.Disregard(w.ctx, w.ann, id, who, false))(t); again.Answers != 0 || again.By != done.By {
			t.Errorf("once more it is %+v", again)
		}
		if n == 0 {
			w.killed()
		}
	}
	entries := must(w.store.AuditEntries(w.ctx, store.AuditFilter{Operation: "Batches.Disregard", Limit: 9}))(t)
	if len(entries) != 1 || !strings.Contains(string(entries[0].After), `"answers":5`) || !strings.Contains(string(entries[0].After), who) || strings.Contains(string(entries[0].After), bad.User.ID.String()+`"`) {
		t.Errorf("the audit log has %+v", entries)
	}
	for _, p := range good[:2] { // the fifth is decided by the others
		w.told(p, 1, yes)
	}
	if p := w.batch(id).Progress; p.State != crowd.BatchDone || p.Spent != reward*crowd.Money(p.Completed) {
		t.Errorf("it is %s, %s spent on %d answers", p.State, p.Spent, p.Completed)
	}
	_, err = w.Batches.Disregard(w.ctx, w.ann, id, who, true)
	refusedText(t, err, crowd.Conflict, id.String()+" is done: answers are disregarded while a batch runs")
}

func refusedText(t *testing.T, err error, code crowd.Code, text string) {
	t.Helper()
	if refused(t, err, code); !strings.Contains(err.Error(), text) {
		t.Errorf("refused with %q, want %q", err, text)
	}
}

// TestWhoseAnswersAreDisregarded: of a worker who has answered nothing, who is not there, or whom another tenant
// calls so, the same is said; of reviews, of steps of runs, and of drafts, why not.
func TestWhoseAnswersAreDisregarded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.richAnswered(w.workers[0])
	who := w.pseudonym(w.a, w.workers[0])
	_, none := w.Batches.Disregard(w.ctx, w.ann, id, w.pseudonym(w.a, w.workers[1]), false)
	refused(t, none, crowd.NotFound)
	for _, worker := range []string{"u999", "w_nobody", w.pseudonym(w.b, w.workers[0]), w.ann.User.ID.String()} {
		if _, err := w.Batches.Disregard(w.ctx, w.ann, id, worker, false); fmt.Sprint(err) != none.Error() {
			t.Errorf("%s: %v, want %v", worker, err, none)
		}
	}
	_, absent := w.Batches.Disregard(w.ctx, w.ann, 999, who, false)
	refused(t, absent, crowd.NotFound)
	if _, err := w.Batches.Disregard(w.ctx, w.bob, id, who, false); fmt.Sprint(err) != absent.Error() {
		t.Errorf("another tenant's: %v, want %v", err, absent)
	}

	must(w.Batches.Cancel(w.ctx, w.admin, id))(t)
	of := w.launch(2, reviewed(engine.Review{Share: 1}))
	w.told(w.workers[0], 1, yes)
	w.told(w.workers[1], 1, yes) // the review
	in := w.batch(of).ReviewedIn
	_, err := w.Batches.Disregard(w.ctx, w.ann, in, w.pseudonym(w.a, w.workers[1]), true)
	refusedText(t, err, crowd.Conflict, "a review that was done stays")
	done := must(w.Batches.Disregard(w.ctx, w.ann, of, who, true))(t)
	if done.Answers != 1 || done.Tasks != 0 {
		t.Errorf("of a label that was reviewed: %+v", done)
	}
}

// TestAReviewThatWaitsGoes with its label, and the next label has another one, which who answered it does not get.
func TestAReviewThatWaitsGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	id := w.launch(2, reviewed(engine.Review{Share: 1}))
	in := w.batch(id).ReviewedIn
	w.told(w.workers[0], 1, no)
	held := w.next(w.workers[1])
	if held.Batch != in || held.Review == nil || held.Review.Label != "no" {
		t.Fatalf("they hold %+v, and not the review", held)
	}
	done := must(w.Batches.Disregard(w.ctx, w.ann, id, w.pseudonym(w.a, w.workers[0]), true))(t)
	if done.Withdrawn != 1 || done.Relabelled != 0 {
		t.Errorf("it came to %+v", done)
	}
	w.killed()
	again := must(w.Work.Current(w.ctx, w.workers[1]))(t)
	if again == nil || again.Assignment != held.Assignment || again.Review != nil {
		t.Errorf("who holds the review sees %+v", again)
	}
	must(w.submit(w.workers[1], held.Assignment, no))(t)
	if r := w.batch(id).Reviews; r[store.ReviewDropped] != 1 || len(r) != 1 {
		t.Errorf("the reviews are %v", r)
	}
	for n := 0; ; n++ {
		h := w.next(w.workers[2])
		must(w.submit(w.workers[2], h.Assignment, yes))(t)
		if h.Batch == id && h.Task == id.Task(1) {
			break
		}
	}
	if r := w.batch(id).Reviews; r[store.ReviewWaiting] == 0 || r[store.ReviewDropped] != 0 {
		t.Errorf("with another label the reviews are %v", r)
	}
	for {
		h := must(w.Work.Next(w.ctx, w.workers[3], 0))(t)
		if h == nil {
			break
		}
		must(w.submit(w.workers[3], h.Assignment, yes))(t)
	}
	x := must(w.Results.Task(w.ctx, w.ann, id.Task(1), results.Live))(t)
	if x.Row.Review == nil || x.Row.Review.State != store.ReviewAccepted || x.Row.Label.Value != "yes" {
		t.Errorf("in the end it is %+v", x.Row)
	}
}

// TestTwoDisregardAtOnce: of two who do so at the same moment, while others answer, each answer is disregarded once.
func TestTwoDisregardAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	id := w.launch(30, func(b *batches.NewBatch) { b.Budget, b.Redundancy = 50*crowd.Unit, label.Count(2) })
	for _, p := range w.workers[:2] {
		w.told(p, 20, yes)
	}
	var wg sync.WaitGroup
	sums := make([]batches.Disregarded, 4)
	for i := range sums {
		wg.Go(func() {
			sums[i] = must(w.Batches.Disregard(w.ctx, w.ann, id, w.pseudonym(w.a, w.workers[i%2]), false))(t)
		})
	}
	for _, p := range w.workers[2:] {
		wg.Go(func() {
			for range 15 {
				if held, err := w.Work.Next(w.ctx, p, 0); err == nil && held != nil {
					_, _ = w.submit(p, held.Assignment, yes)
				}
			}
		})
	}
	wg.Wait()
	if a, b := sums[0].Answers+sums[2].Answers, sums[1].Answers+sums[3].Answers; a != 20 || b != 20 {
		t.Errorf("%d and %d answers were disregarded: %+v", a, b, sums)
	}
	w.killed()
	for _, p := range w.workers[2:] {
		for {
			held := must(w.Work.Next(w.ctx, p, 0))(t)
			if held == nil {
				break
			}
			must(w.submit(p, held.Assignment, yes))(t)
		}
	}
	n := 0
	_, list, err := w.Batches.Labels(w.ctx, w.ann, id, results.Live)
	ok(t, err)
	for x, err := range list {
		ok(t, err)
		if x.Label != nil && x.Label.Answers == 2 {
			n++
		}
	}
	if p := w.batch(id).Progress; n != 30 || p.Completed != 100 || p.State != crowd.BatchDone {
		t.Errorf("%d labels of two others' answers, %d answers, %s", n, p.Completed, p.State)
	}
	ok(t, w.store.CheckLedger(w.ctx))
}

// TestVeryManyAreDisregardedInParts: all of them, with what each part lacks reserved.
func TestVeryManyAreDisregardedInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	const many = 2100 // more than go in one command
	id := w.launch(many)
	for range many - 1 {
		must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, yes))(t)
	}
	reward, funds := w.batch(id).Spec.Reward, w.balance(w.a)
	began := time.Now()
	would := must(w.Batches.WouldDisregard(w.ctx, w.ann, id, w.pseudonym(w.a, w.workers[0])))(t)
	done := must(w.Batches.Disregard(w.ctx, w.ann, id, w.pseudonym(w.a, w.workers[0]), true))(t)
	t.Logf("it took %s", time.Since(began))
	if cost := (many - 1) * reward; would.Missing != cost || done.Reserved != cost || done.Answers != many-1 || done.Withdrawn != many-1 || w.balance(w.a) != funds-cost {
		t.Errorf("it would be %+v, and came to %+v; %s were taken", would, done, funds-w.balance(w.a))
	}
	if entries := must(w.store.AuditEntries(w.ctx, store.AuditFilter{Operation: "Batches.Disregard", Limit: 9}))(t); len(entries) != 2 {
		t.Errorf("the audit log has %d entries, want one for each part", len(entries))
	}
	w.killed()
	if p := w.batch(id).Progress; p.Labelled != 0 || p.Completed != many-1 || p.Planned != 2*many-1 || p.Escrow != many*reward {
		t.Errorf("it stands at %+v", p)
	}
}

// TestFollowersHearOfAWithdrawnLabel: the task wants answers again, after it was done.
func TestFollowersHearOfAWithdrawnLabel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	f := must(w.Pools.Follow(w.ctx, w.admin, w.pool, nil))(t)
	defer f.Stop()
	id := w.richAnswered(w.workers[0])
	must(w.Batches.Disregard(w.ctx, w.ann, id, w.pseudonym(w.a, w.workers[0]), false))(t)
	var heard []string
	for _, x := range must(w.Pools.Followed(w.ctx, w.admin, f))(t).List {
		if x.Task == id.Task(1) {
			heard = append(heard, fmt.Sprint(x.Kind, x.Number, x.Label))
		}
	}
	if want := []string{"ready_to_aggregate 0", "try_to_aggregate 0", "remove_task 0yes", "update_task 1"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}

// TestWhatSomebodyHasShownStays when it is disregarded: the page has the figures that the rules go by, also after
// a kill, and who was paused stays so.
func TestWhatSomebodyHasShownStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id := w.draft(0, halfChecks, ruled(engine.QualityRule{When: "drift > 2", Do: "pause"}), func(b *batches.NewBatch) { b.Budget = 50 * crowd.Unit })
	must(w.Batches.Upload(w.ctx, w.ann, id, knownAndOthers(30, 60), batches.Upload{}))(t)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	who := w.workers[0]
	w.told(who, 12, yes)
	for held := w.next(who); held != nil; held = must(w.Work.Next(w.ctx, who, 0))(t) {
		w.clock.advance(10 * time.Second)
		must(w.submit(who, held.Assignment, no))(t)
	}
	figures := func() (shown, ruled engine.Figures) {
		t.Helper()
		v := w.workerOf(id, who, results.WorkerQuery{})
		if v.Paused != 1 {
			t.Errorf("they are paused by %d", v.Paused)
		}
		ok(t, app.Inspect(w.App, func(_ crowd.PoolID, e *engine.Engine, _ time.Time) {
			for _, x := range e.Figures(id) {
				ruled = x.Figures
			}
		}))
		return v.Figures, ruled
	}
	before, _ := figures()
	done := must(w.Batches.Disregard(w.ctx, w.ann, id, w.pseudonym(w.a, who), false))(t)
	if done.Answers != before.Answers || done.Tasks == done.Answers { // checks are among them: a rule went by them
		t.Fatalf("it came to %+v, and they gave %+v", done, before)
	}
	for range 2 {
		shown, ruled := figures()
		if !reflect.DeepEqual(shown, ruled) || shown.Checks != before.Checks || shown.Answers != before.Answers || shown.Drift != before.Drift || shown.Agreement != nil {
			t.Errorf("the page has %+v, the rules go by %+v, and before it was %+v", shown, ruled, before)
		}
		w.killed()
	}
}

// TestWhatElseDisregardingTakes: money is for who may change budgets; and a batch that its new labels may end, as they
// are surer, is for who may end it. Of a step of a run it is for nobody.
func TestWhatElseDisregardingTakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	with := func(name string, permissions ...string) *access.Principal {
		must(w.Accounts.CreateRole(w.ctx, w.admin, store.Role{Tenant: w.a, Name: name, Permissions: append(permissions, "batches.read", "batches.edit")}))(t)
		return w.holding(access.Role(name), w.a)
	}
	editor, treasurer, starter := with("editor"), with("treasurer", "budgets.change"), with("starter", "batches.launch")
	of := func(p *access.Principal, id crowd.BatchID, worker int, add bool) error {
		return second(w.Batches.Disregard(w.ctx, p, id, w.pseudonym(w.a, w.workers[worker]), add))
	}
	id := w.launch(3)
	w.told(w.workers[0], 1, yes)
	refused(t, of(editor, id, 0, true), crowd.Forbidden)
	refused(t, of(editor, id, 0, false), crowd.BudgetTooSmall)
	ok(t, of(treasurer, id, 0, true))
	must(w.Batches.Cancel(w.ctx, w.admin, id))(t)

	sure := w.launch(3, func(b *batches.NewBatch) {
		b.Redundancy, b.Enough, b.Budget = label.Agree(2, 3), &engine.Enough{Confidence: 0.65}, 10*crowd.Unit
	})
	w.told(w.workers[0], 2, no)
	w.told(w.workers[1], 2, yes)
	w.told(w.workers[2], 2, yes) // two thirds of two thirds
	refused(t, of(editor, sure, 0, false), crowd.Forbidden)
	ok(t, of(starter, sure, 0, false))
	if v := w.batch(sure); v.Progress.State.Open() || v.HadEnough() == "" {
		t.Errorf("with surer labels it is %s", v.Progress.State)
	}

	s := &scene{world: w}
	step := must(s.Runs.Get(w.ctx, w.admin, s.under()))(t).Nodes[1].Node.Batch
	var err error
	w.until(func() bool {
		held, next := w.Work.Next(w.ctx, w.workers[0], 0)
		if next == nil && held != nil {
			_, _ = w.submit(w.workers[0], held.Assignment, yes)
		}
		err = of(w.admin, step, 0, true)
		return crowd.CodeOf(err) != crowd.NotFound
	})
	refusedText(t, err, crowd.Conflict, "whose next steps have used its labels")
}
