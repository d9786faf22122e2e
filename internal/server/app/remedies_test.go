package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// TestWhatIsAskedOfPeopleIsARemedy: whoever is added to a pool can do nothing of a batch that asks for
// more, so what the batch says to do gives them that, too. Done as told, it goes on.
func TestWhatIsAskedOfPeopleIsARemedy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	senior := func(p *access.Principal) {
		must(w.Accounts.ChangeUser(w.ctx, w.admin, p.User.ID, func(u *store.User) error { u.Qualifications = map[string]int{"senior": 60}; return nil }))(t)
	}
	senior(w.workers[0])
	id := w.launch(1, func(b *batches.NewBatch) { b.Requirements = []engine.Requirement{{Name: "senior", Min: 50}} })
	must(w.Work.Skip(w.ctx, w.workers[0], w.next(w.workers[0]).Assignment, 0))(t)
	v := must(w.Batches.Get(w.ctx, w.admin, id))(t)
	if !v.Crowd.TooSmall() || !strings.Contains(v.CrowdRemedy, "throng worker qualify NAME senior=50") {
		t.Errorf("%s; %s", v.Crowd, v.CrowdRemedy)
	}
	senior(w.workers[1])
	if v := w.batch(id); v.Crowd.TooSmall() {
		t.Errorf("done as told, %s", v.Crowd)
	}
	w.next(w.workers[1])
}

// TestAPoolThatCanPayNobody says so, to who comes and to who waits for answers, until it has money.
func TestAPoolThatCanPayNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error {
		now.Retainer = engine.Retainer{Called: true, Silence: time.Minute, Rate: crowd.Unit / 2, Promise: 10 * time.Minute}
		now.Control.Elasticity, now.Control.Min = "static(n=1)", 1
		return nil
	}))(t)
	must(w.Pools.Fund(w.ctx, w.admin, w.pool, 4*crowd.Unit))(t)
	id := w.launch(1)
	ok(t, w.Control.Step(w.ctx))
	_, err := w.Duty.Start(w.ctx, w.workers[0])
	if crowd.CodeOf(err) != crowd.OffDuty || !strings.Contains(err.Error(), "too little money") {
		t.Errorf("who comes is told %v", err)
	}
	why := must(w.Batches.Why(w.ctx, w.ann, id))(t)
	if v := must(w.Batches.Get(w.ctx, w.ann, id))(t); !strings.Contains(v.Because(), "too little to call anybody") || !strings.Contains(v.Remedy, "ask an administrator for throng pool fund "+w.pool.String()) {
		t.Errorf("the batch says %s; %s: %+v", v.Because(), v.Remedy, why)
	}
	if f := must(w.Batches.Forecast(w.ctx, w.ann, id))(t); f.Status != batches.ForecastNobody || !strings.Contains(f.Text, "too little to call anybody") {
		t.Errorf("the forecast is %+v", f)
	}
	must(w.Pools.Fund(w.ctx, w.admin, w.pool, crowd.Unit))(t)
	ok(t, w.Control.Step(w.ctx))
	if v := must(w.Batches.Get(w.ctx, w.ann, id))(t); strings.Contains(v.Because(), "money") || v.Remedy != "" {
		t.Errorf("with money it says %s; %s", v.Because(), v.Remedy)
	}
	must(w.Duty.Start(w.ctx, w.workers[0]))(t)
	w.next(w.workers[0])
}

// TestFewerAnswersAreARemedy wherever a task wants more than one and somebody may do it: the
// requester needs nobody for that. Done as told, all tasks have labels.
func TestFewerAnswersAreARemedy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id := w.draft(2, times(3))
	must(w.Batches.Launch(w.ctx, w.ann, id, true))(t)
	w.answer(2) // one each of both
	v := must(w.Batches.Get(w.ctx, w.ann, id))(t)
	if !v.Crowd.TooSmall() || !strings.HasSuffix(v.CrowdRemedy, ", or ask for fewer answers (throng batch edit "+id.String()+" --redundancy N)") {
		t.Errorf("%s; %s", v.Crowd, v.CrowdRemedy)
	}
	fewer := func(x *batches.RunningSettings) error { x.Redundancy = label.Count(2); return nil }
	if v := must(w.Batches.Change(w.ctx, w.ann, id, fewer))(t); v.Progress.Labelled != 2 || v.Crowd.TooSmall() {
		t.Errorf("done as told, %d of 2 tasks have labels: %s", v.Progress.Labelled, v.Crowd)
	}
	for what, x := range map[string]struct {
		crowd engine.Crowd
		ways  batches.Ways
		want  bool
	}{
		"everybody has had the rest": {engine.Crowd{Wanted: 2, People: 3, Had: 1}, batches.WaysOf(id), true},
		"too few hold what is asked": {engine.Crowd{Wanted: 2, People: 1, Lacks: []engine.Requirement{{Name: "senior", Min: 1}}}, batches.WaysOf(id), true},
		"others do the step before":  {engine.Crowd{Wanted: 3, People: 4, Elsewhere: 2, NotBy: []string{"draft"}}, batches.WaysOfStep(2, "review", id), true},
		"one answer is wanted":       {engine.Crowd{Wanted: 1, People: 1, Had: 1}, batches.WaysOf(id), false},
		"nobody may do it":           {engine.Crowd{Wanted: 3, Unanswered: 1}, batches.WaysOf(id), false},
		"nobody, but all have one":   {engine.Crowd{Wanted: 3}, batches.WaysOf(id), true},
		"the step has not begun yet": {engine.Crowd{Wanted: 3, People: 1, Unanswered: 1}, batches.WaysOfStep(2, "review", 0), true},
		"all of them did the other":  {engine.Crowd{Wanted: 2, People: 2, Elsewhere: 2, NotBy: []string{"first"}, Unanswered: 5}, batches.WaysOf(id), false},
		"one has had none of them":   {engine.Crowd{Wanted: 2, People: 3, Had: 6, Unanswered: 5}, batches.WaysOf(id), false},
		"all gave what they may":     {engine.Crowd{Wanted: 3, People: 3, PerWorker: 1, Answers: 30, Unanswered: 10}, batches.WaysOf(id), false},
		"they may give one each":     {engine.Crowd{Wanted: 3, People: 3, PerWorker: 4, Answers: 30, Given: 2, Unanswered: 10}, batches.WaysOf(id), true},
	} {
		if got := batches.Remedy(w.ann, x.crowd, x.ways); strings.Contains(got, "fewer answers") != x.want {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// TestFewerAnswersAreNoRemedy where they leave tasks that nobody can answer: done all the same, the
// batch still cannot finish.
func TestFewerAnswersAreNoRemedy(t *testing.T) {
	t.Parallel()
	one := func(x *batches.RunningSettings) error { x.Redundancy = label.Count(1); return nil }
	for what, c := range map[string]struct {
		tasks     int
		perWorker int
		answers   int  // of each, before the rest is skipped
		helps     bool // one answer a task
	}{
		"everybody has had a task without an answer": {tasks: 2, answers: 1},
		"everybody has had tasks with answers":       {tasks: 2, answers: 2, helps: true},
		"they may not give one to each":              {tasks: 5, perWorker: 2},
		"they may give one to each":                  {tasks: 4, perWorker: 2, helps: true},
		"they may give one to the rest":              {tasks: 5, perWorker: 3, answers: 1, helps: true},
	} {
		w := newWorld(t, 2)
		id := w.draft(c.tasks, func(b *batches.NewBatch) { b.Redundancy, b.PerWorker = label.Count(3), c.perWorker })
		must(w.Batches.Launch(w.ctx, w.ann, id, true))(t)
		w.answer(c.answers)
		for range c.tasks - c.answers {
			for _, p := range w.workers {
				if c.perWorker == 0 {
					must(w.Work.Skip(w.ctx, p, w.next(p).Assignment, 0))(t)
				}
			}
		}
		v := must(w.Batches.Get(w.ctx, w.ann, id))(t)
		if !v.Crowd.TooSmall() || strings.Contains(v.CrowdRemedy, "fewer answers") != c.helps {
			t.Errorf("%s: %s; %s", what, v.Crowd, v.CrowdRemedy)
		}
		if v := must(w.Batches.Change(w.ctx, w.ann, id, one))(t); v.Crowd.TooSmall() == c.helps {
			t.Errorf("%s: with one answer a task: %s", what, v.Crowd)
		}
	}
}
