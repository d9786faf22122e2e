package engine_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

func TestReviewsAreChecked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{ // "": it is taken, and reads as itself
		"undecided": "", "confidence=0.8": "", "share=0.05": "", "new_workers=10": "", "undecided,confidence=1,share=1,new_workers=1000": "",
		"":                    "does not say which labels are reviewed",
		"undecided=yes":       "does not say which labels are reviewed",
		"undecided,undecided": "stands there twice",
		"sure=0.8":            "does not say which labels are reviewed",
		"confidence=1.5":      "1.5 is not a confidence (above 0, at most 1)",
		"confidence=NaN":      "is not a confidence",
		"confidence=0":        "is not a number above 0",
		"share=0.0001":        "is not a share of the labels (from 0.001 to 1)",
		"share=2":             "is not a share of the labels",
		"new_workers=1001":    "is not how many answers somebody is new for (1 to 1000)",
		"new_workers=1.5":     "is not a number above 0",
	} {
		r, err := engine.ParseReview(text)
		switch {
		case want == "" && (err != nil || r.String() != text):
			t.Errorf("%q is read as %q, %v", text, r, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if err := (&engine.Review{}).Validate(); err == nil || !strings.Contains(err.Error(), "picks no label") {
		t.Errorf("a review of nothing: %v", err)
	}
}

// reviewWorld is a batch with reviews, of which everything is noted that the engine tells.
type reviewWorld struct {
	e       *engine.Engine
	kept    *store
	now     time.Time
	mine    engine.Spec
	reviews engine.Spec
	asked   map[crowd.TaskID]engine.ReviewAsked // by the task that is reviewed
	of      map[crowd.TaskID]crowd.TaskID       // the reviewed task of a review
	gone    map[crowd.BatchID]crowd.Money       // what is in the batch's account
	dropped int                                 // reviews, as their label was withdrawn
	held    int                                 // of them, in somebody's hands
	// withoutReview counts answers that were revised to a task whose review waited.
	withoutReview int
	back          sentBacks
}

func newReviewWorld(t *testing.T, which engine.Review, rule label.Rule) *reviewWorld {
	t.Helper()
	return newReviewWorldOf(t, which, rule, func(*engine.Spec) {})
}

// newReviewWorldOf is newReviewWorld with a change of the batch.
func newReviewWorldOf(t *testing.T, which engine.Review, rule label.Rule, change func(*engine.Spec)) *reviewWorld {
	t.Helper()
	return newReviewWorldAt(t, which, rule, change, func(*engine.Spec) {})
}

// newReviewWorldAt is newReviewWorldOf with a change of the batch of reviews.
func newReviewWorldAt(t *testing.T, which engine.Review, rule label.Rule, change, reviews func(*engine.Spec)) *reviewWorld {
	t.Helper()
	w := &reviewWorld{
		kept: newStore(), now: start, asked: make(map[crowd.TaskID]engine.ReviewAsked), of: make(map[crowd.TaskID]crowd.TaskID), gone: make(map[crowd.BatchID]crowd.Money),
		e: engine.New(engine.Config{Pool: poolID, Policy: sched.MustParse("fs"), Seed: 7}),
	}
	w.kept.tenants[1] = engine.Tenant{ID: 1, Weight: 1}
	must(t, w.e.SetTenant(start, w.kept.tenants[1]))
	for id := crowd.WorkerID(1); id <= 6; id++ {
		w.kept.workers[id] = engine.Worker{ID: id}
		must(t, w.e.SetWorker(start, w.kept.workers[id]))
	}
	w.mine, w.reviews = benchSpec1(1), benchSpec1(2)
	w.mine.Tasks, w.mine.Rule, w.mine.Review, w.mine.Lease, w.mine.Budget = 12, rule, &which, time.Hour, 10*crowd.Unit
	change(&w.mine)
	w.reviews.Reward, w.reviews.Budget, w.reviews.Priority, w.reviews.Lease = 2*w.mine.Reward, 10*crowd.Unit, 100, time.Hour
	w.reviews.Grace = w.mine.Grace
	w.reviews.ReviewsOf(&w.mine)
	reviews(&w.reviews)
	must(t, w.e.LaunchReviewed(start, w.mine, w.reviews))
	w.kept.specs[1], w.kept.specs[2] = w.mine, w.reviews
	must(t, w.take())
	return w
}

// take keeps what has changed, and checks what must hold of reviews.
func (w *reviewWorld) take() error {
	if err := w.e.Check(); err != nil {
		return err
	}
	var c engine.Changes
	w.e.Take(&c)
	w.kept.apply(&c)
	if err := w.back.enter(w, &c); err != nil {
		return err
	}
	for _, x := range c.Removals { // with the label that they are of
		w.dropped++
		for _, r := range w.kept.rows {
			if r.Task == x.Task && r.State == crowd.Assigned {
				w.held++
			}
		}
		delete(w.asked, w.of[x.Task])
		delete(w.of, x.Task)
	}
	for _, x := range c.Reviews {
		if _, twice := w.asked[x.Task]; twice {
			return fmt.Errorf("%s is reviewed twice", x.Task)
		}
		if w.kept.labels[x.Task].Task == 0 || x.Review.Batch() != 2 || x.Why == 0 {
			return fmt.Errorf("%s is reviewed by %s for %v, and has the label %+v", x.Task, x.Review, x.Why.Names(), w.kept.labels[x.Task])
		}
		for _, a := range x.Answers {
			if r := w.kept.rows[a]; r.Task != x.Task || !r.Counted {
				return fmt.Errorf("%s of %s is no answer to it that counts", a, x.Task)
			}
		}
		w.asked[x.Task], w.of[x.Review] = x, x.Task
	}
	answered := make(map[crowd.TaskID][]crowd.WorkerID)
	for _, r := range w.kept.rows {
		if r.State.Answered() {
			answered[r.Task] = append(answered[r.Task], r.Worker)
		}
	}
	for _, r := range w.kept.rows {
		if task := w.of[r.Task]; task != 0 && slices.Contains(answered[task], r.Worker) {
			return fmt.Errorf("%s reviews %s, which they have answered", r.Worker, task)
		}
	}
	for _, x := range c.Transfers {
		if x.From.Kind == engine.BatchAccount {
			w.gone[crowd.BatchID(x.From.ID)] -= x.Amount
		}
		if x.To.Kind == engine.BatchAccount {
			w.gone[crowd.BatchID(x.To.ID)] += x.Amount
		}
	}
	return nil
}

// disregard takes what somebody has answered out, unless the labels are reviewed.
func (w *reviewWorld) disregard(who crowd.WorkerID) error {
	x := engine.Disregard{Worker: who, Settled: w.e.Settled(1), Reserve: 10 * crowd.Unit}
	for _, t := range w.kept.answeredBy(1, who) {
		if t.Review = w.asked[w.mine.ID.Task(t.N)].Review; t.Review != 0 && t.Label == nil {
			return fmt.Errorf("t1.%d has no label, and is reviewed", t.N)
		}
		x.Tasks = append(x.Tasks, t)
	}
	_, err := w.e.Disregard(w.now, 1, x)
	if crowd.CodeOf(err) == crowd.NotFound { // it has ended
		err = nil
	}
	return err
}

// reopen goes on from what is kept.
func (w *reviewWorld) reopen(seed uint64) (err error) {
	w.e, err = engine.Restore(w.now, engine.Config{Pool: poolID, Policy: sched.MustParse("fs"), Seed: seed}, w.kept.snapshot(false))
	return err
}

func (w *reviewWorld) restart(t *testing.T) {
	t.Helper()
	must(t, w.reopen(7))
	must(t, w.take())
}

// TestABatchOfReviewsEndsAfterItsOwn: it takes reviews as long as the other runs, and ends with the
// last of them.
func TestABatchOfReviewsEndsAfterItsOwn(t *testing.T) {
	t.Parallel()
	w := newReviewWorld(t, engine.Review{Share: 1}, label.Count(1))
	for range w.mine.Tasks {
		if spare := w.e.Spare(2); spare != 0 {
			t.Fatalf("%s of the budget are spare, while reviews may come", spare)
		}
		h, ok, err := w.e.Ready(w.now, 1)
		if err != nil || !ok || h.Task.Batch() != 1 {
			t.Fatalf("who answered all gets %+v, %t, %v, want a task of b1", h, ok, err)
		}
		_, err = w.e.Submit(w.now, 1, h.Assignment, "yes", "yes")
		must(t, err)
		must(t, w.take())
	}
	if p := w.kept.progress[1]; p.State != crowd.BatchDone || len(w.asked) != int(w.mine.Tasks) {
		t.Fatalf("b1 is %s, %d reviews were asked, want %d", p.State, len(w.asked), w.mine.Tasks)
	}
	if _, ok, err := w.e.Ready(w.now, 1); ok || err != nil {
		t.Fatalf("who answered all gets a review (%t, %v)", ok, err)
	}
	if spare := w.e.Spare(2); spare != w.reviews.Budget-crowd.Money(w.mine.Tasks)*w.reviews.Reward {
		t.Errorf("%s are spare when no more reviews can come", spare)
	}
	if why, err := w.e.WhyWorker(1); err != nil || !reflect.DeepEqual(why, map[crowd.Reason]int{crowd.AnsweredElsewhere: 1}) {
		t.Errorf("they get none for %v, %v", why, err)
	}
	for n := range w.mine.Tasks {
		if p := w.kept.progress[2]; p.State != crowd.BatchRunning || p.Open {
			t.Fatalf("after %d reviews b2 is %s, open %t", n, p.State, p.Open)
		}
		h, ok, err := w.e.Ready(w.now, 2)
		if err != nil || !ok {
			t.Fatalf("no review: %t, %v", ok, err)
		}
		_, err = w.e.Submit(w.now, 2, h.Assignment, "no", "no")
		must(t, err)
		must(t, w.take())
	}
	if p := w.kept.progress[2]; p.State != crowd.BatchDone || p.Spent != crowd.Money(w.mine.Tasks)*w.reviews.Reward || w.gone[2] != 0 {
		t.Errorf("b2 is %s, spent %s, %s left", p.State, p.Spent, w.gone[2])
	}
}

// TestWhoIsPausedReviewsNothing of the batch whose rules paused them, also when it has ended and
// after a restart; somebody else does.
func TestWhoIsPausedReviewsNothing(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{false, true} {
		w := newReviewWorldOf(t, engine.Review{Share: 1}, label.Count(1), func(s *engine.Spec) {
			s.Tasks, s.Quality = 2, []engine.QualityRule{{When: "answers >= 1", Do: string(engine.PausePerson)}}
		})
		answer := func(who crowd.WorkerID, in crowd.BatchID) {
			t.Helper()
			h, ok, err := w.e.Ready(w.now, who)
			if err != nil || !ok || h.Task.Batch() != in {
				why, _ := w.e.WhyWorker(who)
				t.Fatalf("%s got %+v, %t, %v; want a task of %s; why %v", who, h, ok, err, in, why)
			}
			_, err = w.e.Submit(w.now, who, h.Assignment, "yes", "yes")
			must(t, err)
			must(t, w.take())
		}
		answer(1, 1)
		if ended {
			answer(2, 2)
			answer(2, 1)
		}
		nothing := func(when string, who crowd.WorkerID) {
			t.Helper()
			h, ok, err := w.e.Ready(w.now, who)
			if ok || err != nil {
				t.Fatalf("%s, %s, whom a rule has paused, got %+v, %v", when, who, h, err)
			}
			if why, err := w.e.WhyWorker(who); err != nil || why[crowd.PausedByRule] == 0 || len(why) > 1 {
				t.Errorf("%s, %s gets nothing for %v, %v", when, who, why, err)
			}
		}
		nothing("at once", 1)
		w.restart(t)
		nothing("after a restart", 1)
		if ended {
			answer(3, 2)
			continue
		}
		w.restart(t) // they wait no more
		must(t, w.e.UndoAction(w.now, 1, 1, 9))
		must(t, w.take())
		answer(2, 1)
		w.restart(t)
		answer(1, 2) // what 2 has answered; their pause is undone
	}
}

// TestWhoIsPausedNoMoreIsServed: whoever waits gets a review as soon as their pause is undone.
func TestWhoIsPausedNoMoreIsServed(t *testing.T) {
	t.Parallel()
	w := newReviewWorldOf(t, engine.Review{Share: 1}, label.Count(1), func(s *engine.Spec) {
		s.Tasks, s.Quality = 3, []engine.QualityRule{{When: "answers >= 1", Do: string(engine.PausePerson)}}
	})
	var held [5]engine.Handout
	for who := crowd.WorkerID(1); who <= 3; who++ {
		h, ok, err := w.e.Ready(w.now, who)
		if err != nil || !ok || h.Task.Batch() != 1 {
			t.Fatalf("%s got %+v, %t, %v", who, h, ok, err)
		}
		held[who] = h
	}
	for _, who := range []crowd.WorkerID{1, 2} {
		_, err := w.e.Submit(w.now, who, held[who].Assignment, "yes", "yes")
		must(t, err)
		must(t, w.take())
	}
	if h, ok, err := w.e.Ready(w.now, 1); ok || err != nil {
		t.Fatalf("who is paused got %+v, %v", h, err)
	}
	must(t, w.e.UndoAction(w.now, 1, 1, 9))
	must(t, w.take())
	for _, r := range w.kept.rows {
		if r.Worker == 1 && r.Task.Batch() == 2 && w.asked[held[2].Task].Review == r.Task {
			return
		}
	}
	t.Error("who is paused no more got no review")
}

// TestTasksThatNamePeopleAreNotReviewed: they are shown to nobody else.
func TestTasksThatNamePeopleAreNotReviewed(t *testing.T) {
	t.Parallel()
	w := newReviewWorldOf(t, engine.Review{Share: 1}, label.Count(1), func(s *engine.Spec) {
		s.Tasks, s.Invited = 2, map[crowd.WorkerID][]uint32{1: {2}}
	})
	for range w.mine.Tasks {
		h, ok, err := w.e.Ready(w.now, 1)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		_, err = w.e.Submit(w.now, 1, h.Assignment, "yes", "yes")
		must(t, err)
		must(t, w.take())
	}
	if _, is := w.asked[crowd.BatchID(1).Task(1)]; len(w.asked) != 1 || !is || w.kept.progress[1].State != crowd.BatchDone {
		t.Errorf("reviewed are %v, of a batch that is %s", w.asked, w.kept.progress[1].State)
	}
}

// TestWhatPicksLabels: each condition by itself.
func TestWhatPicksLabels(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"undecided": "", "confidence=1": "", "share=1": "share share", "new_workers=1": "new_worker"} {
		which, err := engine.ParseReview(text)
		must(t, err)
		w := newReviewWorld(t, which, label.Count(1))
		for range 2 {
			h, _, err := w.e.Ready(w.now, 1)
			must(t, err)
			_, err = w.e.Submit(w.now, 1, h.Assignment, "yes", "yes")
			must(t, err)
			must(t, w.take())
		}
		var got []string
		for n := range uint32(2) {
			got = append(got, w.asked[crowd.BatchID(1).Task(n+1)].Why.Names()...)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s picks for %q, want %q", text, got, want)
		}
	}
}

// TestReviewsAreLaunchedWithTheirBatch or not at all.
func TestReviewsAreLaunchedWithTheirBatch(t *testing.T) {
	t.Parallel()
	w := newReviewWorld(t, engine.Review{Undecided: true}, label.Count(1))
	for name, change := range map[string]func(mine, reviews *engine.Spec){
		"of another batch":     func(_, r *engine.Spec) { r.ReviewOf = 1 },
		"without a budget":     func(_, r *engine.Spec) { r.Budget = 0 },
		"for everybody":        func(_, r *engine.Spec) { r.NotBy = nil },
		"closed":               func(_, r *engine.Spec) { r.Open, r.Tasks = false, 1 },
		"no price":             func(_, r *engine.Spec) { r.Reward = 0 },
		"nothing reviewed":     func(m, _ *engine.Spec) { m.Review = nil },
		"nothing picked":       func(m, _ *engine.Spec) { m.Review = &engine.Review{} },
		"reviews are reviewed": func(_, r *engine.Spec) { r.Review = &engine.Review{Undecided: true} },
		"no tasks":             func(m, _ *engine.Spec) { m.Tasks = 0 },
	} {
		mine, reviews := w.mine, w.reviews
		mine.ID, reviews.ID = 3, 4
		reviews.ReviewsOf(&mine)
		change(&mine, &reviews)
		if err := w.e.LaunchReviewed(w.now, mine, reviews); err == nil {
			t.Errorf("%s: launched", name)
		}
		if _, is := w.e.Status(3); is {
			t.Errorf("%s: b3 runs", name)
		}
		if _, is := w.e.Status(4); is {
			t.Errorf("%s: b4 runs", name)
		}
	}
}

// TestReviewsHaveABound: a batch of reviews takes as many as its answers have numbers, and no more.
func TestReviewsHaveABound(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fs", 3)
	mine, reviews := benchSpec1(1), benchSpec1(2)
	mine.Review, mine.Priority = &engine.Review{Share: 1}, 1000
	reviews.ReviewsOf(&mine)
	reviews.Tasks, reviews.Budget = engine.MaxBatchAnswers-1, crowd.MaxMoney
	must(t, e.LaunchReviewed(start, mine, reviews))
	var list []engine.ReviewAsked
	var ch engine.Changes
	for labels := 0; labels < 3; {
		h, ok, err := e.Ready(start, 1)
		if must(t, err); !ok {
			t.Fatalf("after %d labels nothing is handed out", labels)
		}
		_, err = e.Submit(start, 1, h.Assignment, "{}", "A")
		must(t, err)
		if h.Task.Batch() == 1 {
			labels++
		}
		e.Take(&ch)
		list = append(list, ch.Reviews...)
	}
	if x, _ := e.Status(2); len(list) != 1 || list[0].Review.N() != engine.MaxBatchAnswers || x.Tasks != engine.MaxBatchAnswers {
		t.Errorf("of 3 labels these are reviewed: %+v; the batch of reviews has %d tasks", list, x.Tasks)
	}
	must(t, e.Check())
}
