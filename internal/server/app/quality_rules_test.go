package app_test

import (
	"context"
	"time"

	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

func ruled(rules ...engine.QualityRule) func(*batches.NewBatch) {
	return func(n *batches.NewBatch) { n.Quality = rules }
}

// warned is a running batch with an action of a rule on a worker.
func (s *scene) warned(p *access.Principal) crowd.BatchID {
	s.t.Helper()
	if s.ready != nil {
		return s.ready.warned
	}
	return s.warn(p)
}

// warn has a rule act on a worker.
func (w *world) warn(p *access.Principal) crowd.BatchID {
	w.t.Helper()
	id := w.launch(3, ruled(engine.QualityRule{When: "answers > 0", Do: `warn "look twice"`}))
	for {
		held := w.next(p)
		must(w.submit(p, held.Assignment, yes))(w.t)
		if held.Batch == id {
			return id
		}
	}
}

// What the tests of access try of rules.

func tryActions(s *scene, p *access.Principal) error {
	_, _, err := s.Batches.QualityActions(s.ctx, p, s.running, 0, 1)
	return err
}

func tryUndoAction(s *scene, p *access.Principal) error {
	return second(s.Batches.UndoQualityAction(s.ctx, p, s.warned(s.workers[0]), 1))
}

func trySeeNote(s *scene, p *access.Principal) error {
	id := s.running
	if s.ready != nil || p.May(access.WorkNext) == nil {
		id = s.warned(p)
	}
	return s.Work.SeeNote(s.ctx, p, id, 1)
}

func (f *failingStore) ListQualityActions(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, after uint32, limit int) ([]store.QualityAction, error) {
	return fail1(f, ctx, "ListQualityActions", func() ([]store.QualityAction, error) {
		return f.Store.ListQualityActions(ctx, tenant, id, after, limit)
	})
}

func (f *failingStore) WorkerActions(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, worker crowd.WorkerID, limit int) ([]store.QualityAction, error) {
	return fail1(f, ctx, "WorkerActions", func() ([]store.QualityAction, error) {
		return f.Store.WorkerActions(ctx, tenant, id, worker, limit)
	})
}

func (f *failingStore) Weights(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) (map[crowd.WorkerID]label.Weight, error) {
	return fail1(f, ctx, "Weights", func() (map[crowd.WorkerID]label.Weight, error) { return f.Store.Weights(ctx, tenant, id) })
}

func (f *failingStore) UnseenActions(ctx context.Context, worker crowd.WorkerID, limit int) ([]store.QualityAction, error) {
	return fail1(f, ctx, "UnseenActions", func() ([]store.QualityAction, error) { return f.Store.UnseenActions(ctx, worker, limit) })
}

func (f *failingStore) SeeAction(ctx context.Context, worker crowd.WorkerID, id crowd.BatchID, n uint32, at time.Time) error {
	return f.err(ctx, "SeeAction", func() error { return f.Store.SeeAction(ctx, worker, id, n, at) })
}

// TestQualityRules has somebody who is wrong warned and paused, also after the server was killed; they
// are let back in, and the money stays right.
func TestQualityRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	rules := []engine.QualityRule{{When: "wrong >= 1", Do: `warn "Look twice, please."`}, {When: "checks >= 3 and accuracy < 0.5", Do: "pause"}}
	id := w.draft(0, halfChecks, ruled(rules...))
	must(w.Batches.Upload(w.ctx, w.ann, id, knownAndOthers(30, 60), batches.Upload{}))(t)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	good, bad := w.workers[0], w.workers[1]
	work := func() (answers int) {
		for range 40 {
			held := must(w.Work.Next(w.ctx, bad, 0))(t)
			if held == nil {
				break
			}
			must(w.submit(bad, held.Assignment, no))(t)
			answers++
		}
		return answers
	}
	first := work()
	if first < 3 || first == 40 {
		t.Fatalf("who is always wrong gave %d answers", first)
	}
	paused := func() int { return must(w.Work.WhyNothing(w.ctx, bad))(t)[crowd.PausedByRule] }
	if paused() != 1 {
		t.Errorf("they get nothing because of %v", must(w.Work.WhyNothing(w.ctx, bad))(t))
	}
	w.killed()
	if held := must(w.Work.Next(w.ctx, bad, 0))(t); held != nil || paused() != 1 {
		t.Errorf("after a restart they get %v", held)
	}
	for range 20 {
		must(w.submit(good, w.next(good).Assignment, yes))(t)
	}
	actions, _, err := w.Batches.QualityActions(w.ctx, w.ann, id, 0, 9)
	ok(t, err)
	if len(actions) != 2 {
		t.Fatalf("the rules did %+v", actions)
	}
	warning, pause := actions[0], actions[1]
	if by := w.pseudonym(w.a, bad); warning.By.Pseudonym != by || pause.By.Pseudonym != by || warning.Worker != 0 || warning.Kind != engine.Warn || warning.Text != "Look twice, please." || warning.Figures.Wrong != 1 ||
		pause.Kind != engine.PausePerson || pause.Rule != 2 || pause.Figures.Checks != 3 || *pause.Figures.Accuracy != 0 {
		t.Errorf("the rules did %+v", actions)
	}
	notes := must(w.Work.Notes(w.ctx, bad))(t)
	if len(notes) != 2 || notes[0].Text != warning.Text || notes[0].When != "" || notes[0].Figures != (engine.Figures{}) || notes[1].Kind != engine.PausePerson {
		t.Errorf("they are told %+v", notes)
	}
	ok(t, w.Work.SeeNote(w.ctx, bad, id, 1))
	if notes := must(w.Work.Notes(w.ctx, bad))(t); len(notes) != 1 || notes[0].N != 2 {
		t.Errorf("they have read one, and are told %+v", notes)
	}
	if notes := must(w.Work.Notes(w.ctx, good))(t); len(notes) != 0 {
		t.Errorf("who is right is told %+v", notes)
	}

	undone := func() int {
		return len(must(w.store.AuditEntries(w.ctx, store.AuditFilter{Operation: "Batches.UndoQualityAction", Limit: 9}))(t))
	}
	_, err = w.Batches.UndoQualityAction(w.ctx, w.ann, id, 9)
	refused(t, err, crowd.NotFound)
	if undone() != 0 {
		t.Error("that an action which is not there was undone is in the audit log")
	}
	must(w.Batches.UndoQualityAction(w.ctx, w.ann, id, 2))(t)
	if undone() != 1 {
		t.Error("the audit log does not have that an action was undone")
	}
	_, err = w.Batches.UndoQualityAction(w.ctx, w.ann, id, 2)
	refused(t, err, crowd.Conflict)
	w.killed()
	second := work()
	if second < 3 || paused() != 1 {
		t.Errorf("let back in they gave %d answers, and are paused: %d", second, paused())
	}
	actions, _, err = w.Batches.QualityActions(w.ctx, w.ann, id, 2, 9)
	ok(t, err)
	if len(actions) != 2 || actions[1].Figures.Checks != 3 {
		t.Errorf("since then the rules did %+v", actions)
	}
	v := w.batch(id)
	if v.Progress.Spent != crowd.Money(v.Progress.Completed)*v.Spec.Reward || v.Progress.Completed != first+second+20 {
		t.Errorf("%d answers, of %d and %d and 20, cost %s", v.Progress.Completed, first, second, v.Progress.Spent)
	}
	ok(t, w.store.CheckLedger(w.ctx))
	must(w.Batches.Cancel(w.ctx, w.ann, id))(t)
	_, err = w.Batches.UndoQualityAction(w.ctx, w.ann, id, 4)
	refused(t, err, crowd.Conflict)
	if notes := must(w.Work.Notes(w.ctx, bad))(t); len(notes) != 0 {
		t.Errorf("of a batch that is over they are told %+v", notes)
	}
}

// TestQualityRulesAreChecked: wrong ones are refused when the draft is made.
func TestQualityRulesAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	d := w.definition()
	d.Quality = []engine.QualityRule{{When: "accuracy < 0.5", Do: "pause"}}
	_, err := w.Batches.Create(w.ctx, w.ann, d)
	refused(t, err, crowd.Invalid)
}
