package app_test

import (
	"context"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/runs"
	"github.com/throng-dev/throng/internal/store"
)

// tryRedo tries to do a run anew, which is not done.
func tryRedo(s *scene, p *access.Principal) error {
	_, err := s.Runs.Redo(s.ctx, p, s.under())
	if crowd.CodeOf(err) == crowd.Conflict {
		return nil
	}
	return err
}

// judged plays a run of one step over two things until it is done, and returns the task of the first.
func (w *world) judged(text string) (crowd.RunID, crowd.TaskID) {
	w.t.Helper()
	made := must(w.Runs.Make(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: text}))(w.t)
	must(w.Runs.Load(w.ctx, w.ann, made.Run.ID, "things", file(w.t, thingsWithID(2))))(w.t)
	must(w.Runs.Start(w.ctx, w.ann, made.Run.ID, false))(w.t)
	w.offers(made.Run.ID)
	for range 2 {
		must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, yes))(w.t)
	}
	id := made.Run.ID
	w.until(func() bool { return must(w.Runs.Get(w.ctx, w.ann, id))(w.t).State == store.RunDone })
	v := must(w.Runs.Get(w.ctx, w.ann, id))(w.t)
	return id, v.Nodes[1].Node.Batch.Task(1)
}

// offers waits until both tasks of a run's step can be had.
func (w *world) offers(id crowd.RunID) {
	w.t.Helper()
	w.until(func() bool { return must(w.Runs.Get(w.ctx, w.ann, id))(w.t).Nodes[1].Offered == 2 })
}

// TestALabelOfARunIsCorrected: as any other, by the same people; the run tells of it, those who look at it are
// woken, and it is done anew by who may launch, once, and told in the audit log. Nobody does so to the run of
// another tenant, and that who corrected is erased takes nothing away.
func TestALabelOfARunIsCorrected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id, task := w.judged(oneStep)
	_, err := w.Runs.Redo(w.ctx, w.ann, id)
	refused(t, err, crowd.Conflict)
	_, err = w.Results.Correct(w.ctx, w.bob, task, "no", "")
	refused(t, err, crowd.NotFound)
	_, err = w.Results.Correct(w.ctx, w.ann, task, "perhaps", "")
	refused(t, err, crowd.Invalid)
	changed, stop, err := w.Runs.Watch(w.ctx, w.ann, id)
	ok(t, err)
	defer stop()
	for len(changed) > 0 {
		<-changed
	}
	must(w.Results.Correct(w.ctx, w.ann, task, "no", "it is a stone"))(t)
	<-changed
	v := must(w.Runs.Get(w.ctx, w.ann, id))(t)
	if v.Corrected != 1 || !strings.Contains(runs.CorrectedRemedy(v), "throng workflow redo "+id.String()) || v.Nodes[1].Corrected != 1 {
		t.Errorf("the run says %q, %q", v.CorrectedText(), runs.CorrectedRemedy(v))
	}
	_, err = w.Runs.Redo(w.ctx, w.bob, id)
	refused(t, err, crowd.NotFound)
	made := make(chan store.Run, 2)
	for range 2 { // at once
		go func() {
			r, _ := w.Runs.Redo(w.ctx, w.ann, id)
			made <- r
		}()
	}
	first, second := <-made, <-made
	if (first.ID == 0) == (second.ID == 0) {
		t.Fatalf("both have made %s and %s", first.ID, second.ID)
	}
	next := max(first.ID, second.ID)
	w.until(func() bool { return must(w.Runs.Get(w.ctx, w.ann, next))(t).State == store.RunDone })
	rows := must(w.Runs.Items(w.ctx, w.ann, next, "alive", 0, 9))(t)
	if len(rows) != 2 || rows[0].Cells[0] != "no" || rows[0].Cells[1] != "1" || rows[0].Correction != 1 || rows[1].Cells[0] != "yes" || rows[1].Correction != 0 {
		t.Errorf("the rows are %+v", rows)
	}
	told := must(w.store.AuditEntries(w.ctx, store.AuditFilter{Operation: access.RunsRedo.Name, Limit: 9}))(t)
	if len(told) != 1 || told[0].Object != next.String() || told[0].Actor != w.ann.User.ID || !strings.Contains(string(told[0].After), id.String()) {
		t.Errorf("the audit log tells %+v", told)
	}
	if v := must(w.Runs.Get(w.ctx, w.ann, id))(t); v.RedoneAs != next {
		t.Errorf("done anew as %s", v.RedoneAs)
	}
}

// TestARunIsDoneAnewByItself: by the server, which tells of it in the audit log, and whoever answered and
// corrected is erased: the label stays what it was corrected to.
func TestARunIsDoneAnewByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	text := strings.Replace(oneStep, "inputs:", "corrections: redo\ninputs:", 1)
	made := must(w.Runs.Make(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: text}))(t)
	id := made.Run.ID
	must(w.Runs.Load(w.ctx, w.ann, id, "things", file(t, thingsWithID(2))))(t)
	must(w.Runs.Start(w.ctx, w.ann, id, false))(t)
	w.offers(id)
	held := w.next(w.workers[0])
	must(w.submit(w.workers[0], held.Assignment, yes))(t)
	must(w.Results.Correct(w.ctx, w.ann, held.Task, "no", ""))(t)
	must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, yes))(t)
	as := func() crowd.RunID { return must(w.Runs.Get(w.ctx, w.ann, id))(t).RedoneAs }
	w.until(func() bool { return as() != 0 && must(w.Runs.Get(w.ctx, w.ann, as()))(t).State == store.RunDone })
	told := must(w.store.AuditEntries(w.ctx, store.AuditFilter{Operation: store.RunRedone, Limit: 9}))(t)
	if len(told) != 1 || told[0].Object != as().String() || told[0].Actor != 0 || told[0].Tenant != w.a {
		t.Errorf("the audit log tells %+v", told)
	}
	ok(t, w.Accounts.Erase(w.ctx, w.inSession(w.admin), w.workers[0].User.ID, accounts.ErasureOrder{Confirm: w.workers[0].User.Name, FreeText: accounts.DeleteText, Settled: true}))
	rows := must(w.Runs.Items(w.ctx, w.ann, as(), "alive", 0, 9))(t)
	if rows[0].Cells[0] != "no" || rows[0].Correction != 1 {
		t.Errorf("the rows are %+v", rows)
	}
	must(w.Results.Correct(w.ctx, w.ann, held.Task, "yes", "after all"))(t)
	again := must(w.Runs.Redo(w.ctx, w.ann, as()))(t)
	w.until(func() bool { return must(w.Runs.Get(w.ctx, w.ann, again.ID))(t).State == store.RunDone })
	rows = must(w.Runs.Items(w.ctx, w.ann, again.ID, "alive", 0, 9))(t)
	if rows[0].Cells[0] != "yes" || rows[0].Correction != 2 {
		t.Errorf("the rows are %+v", rows)
	}
}

func (f *failingStore) RedoneAs(ctx context.Context, id crowd.RunID) (crowd.RunID, error) {
	return fail1(f, ctx, "RedoneAs", func() (crowd.RunID, error) { return f.Store.RedoneAs(ctx, id) })
}

func (f *failingStore) RunsToRedo(ctx context.Context) ([]crowd.RunID, error) {
	return fail1(f, ctx, "RunsToRedo", func() ([]crowd.RunID, error) { return f.Store.RunsToRedo(ctx) })
}

func (f *failingStore) CorrectedBatches(ctx context.Context, id crowd.RunID) ([]crowd.BatchID, error) {
	return fail1(f, ctx, "CorrectedBatches", func() ([]crowd.BatchID, error) { return f.Store.CorrectedBatches(ctx, id) })
}

func (f *failingStore) CountCorrected(ctx context.Context, used store.LabelsUsed) (int64, error) {
	return fail1(f, ctx, "CountCorrected", func() (int64, error) { return f.Store.CountCorrected(ctx, used) })
}

func (f *failingStore) TakeCorrections(ctx context.Context, used store.LabelsUsed) (int64, error) {
	return fail1(f, ctx, "TakeCorrections", func() (int64, error) { return f.Store.TakeCorrections(ctx, used) })
}
