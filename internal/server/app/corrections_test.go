package app_test

import (
	"context"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// label has a worker answer tasks until one of a batch of one task has its label.
func (w *world) label(worker *access.Principal) crowd.TaskID {
	w.t.Helper()
	id := w.launch(1)
	for {
		held := w.next(worker)
		must(w.submit(worker, held.Assignment, yes))(w.t)
		if held.Batch == id {
			return held.Task
		}
	}
}

// over is a task of a batch that has ended, whose label can be corrected.
func (w *world) over() crowd.TaskID {
	w.t.Helper()
	id := w.launch(1)
	must(w.Batches.End(w.ctx, w.admin, id))(w.t)
	return id.Task(1)
}

// correctable is a task whose label can be corrected.
func (s *scene) correctable() crowd.TaskID {
	s.t.Helper()
	if s.ready != nil {
		return s.ready.correctable
	}
	return s.over()
}

// What the tests of access try of corrections.

func tryCorrections(s *scene, p *access.Principal) error {
	return second(s.Results.Corrections(s.ctx, p, s.running.Task(1)))
}

func tryCorrect(s *scene, p *access.Principal) error {
	return second(s.Results.Correct(s.ctx, p, s.correctable(), "no", "look again"))
}

func tryWithdraw(s *scene, p *access.Principal) error {
	return second(s.Results.Withdraw(s.ctx, p, s.correctable(), "it was right"))
}

func (f *failingStore) ListCorrections(ctx context.Context, tenant crowd.TenantID, id crowd.TaskID) ([]store.Correction, error) {
	return fail1(f, ctx, "ListCorrections", func() ([]store.Correction, error) { return f.Store.ListCorrections(ctx, tenant, id) })
}

func (f *failingStore) PutCorrection(ctx context.Context, tenant crowd.TenantID, c store.Correction) (store.Correction, error) {
	return fail1(f, ctx, "PutCorrection", func() (store.Correction, error) { return f.Store.PutCorrection(ctx, tenant, c) })
}

// TestCorrections: a correction is the label wherever labels go out, methods learn from it, what is
// measured by known answers does not count it, and once it is taken back the answers decide.
func TestCorrections(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.launch(3, func(b *batches.NewBatch) { b.Redundancy = label.Count(3) })
	for _, p := range w.workers {
		for range 3 {
			must(w.submit(p, w.next(p).Assignment, yes))(t)
		}
	}
	task := id.Task(2)
	type found struct {
		label     string
		sure      float64
		corrected bool
	}
	labelOf := func(method string) found {
		t.Helper()
		_, list, err := w.Batches.Labels(w.ctx, w.ann, id, method)
		ok(t, err)
		var seen found
		for x, err := range list {
			ok(t, err)
			if x.Task == task {
				seen = found{x.Label.Value, x.Label.Confidence, x.Corrected != nil}
			} else if x.Label.Value != "yes" || x.Corrected != nil {
				t.Errorf("%s: %s is %q", method, x.Task, x.Label.Value)
			}
		}
		page := must(w.Results.List(w.ctx, w.ann, id, results.Query{Method: method, Limit: 9}))(t)
		row := page.Rows[1]
		if here := (found{row.Label.Value, row.Label.Confidence, row.Corrected != nil}); here != seen {
			t.Errorf("%s: the list has %+v, the file %+v", method, here, seen)
		}
		if v := must(w.Results.Task(w.ctx, w.ann, task, method))(t); v.Row.Label.Value != seen.label {
			t.Errorf("%s: the task has %+v, the file %+v", method, v.Row.Label, seen)
		}
		return seen
	}
	methods := []string{results.Live, "majority", "ds-map"}
	for _, m := range methods {
		if x := labelOf(m); x.label != "yes" || x.corrected {
			t.Fatalf("%s: %+v at first", m, x)
		}
	}
	c := must(w.Results.Correct(w.ctx, w.ann, task, "no", " look at the ears "))(t)
	if c.N != 1 || c.Value != "no" || c.Note != "look at the ears" || c.By != w.ann.User.ID || c.ByName != w.ann.User.Name {
		t.Errorf("the correction is %+v", c)
	}
	for _, m := range methods {
		if x := labelOf(m); x != (found{"no", 1, true}) {
			t.Errorf("%s: %+v since it was corrected", m, x)
		}
	}
	count := func(filter string) int {
		t.Helper()
		f, err := results.ParseFilter(filter)
		ok(t, err)
		return must(w.Results.List(w.ctx, w.ann, id, results.Query{Filter: f, Limit: 9}))(t).Matching
	}
	if count("corrected:yes") != 1 || count("corrected:no") != 2 || count("label:no") != 1 {
		t.Errorf("%d tasks are corrected, %d are not, %d are labelled no", count("corrected:yes"), count("corrected:no"), count("label:no"))
	}
	q := must(w.Batches.Quality(w.ctx, w.ann, id, "ds-map"))(t)
	if q.GoldTasks != 0 || !q.Learnt {
		t.Errorf("measured by %d known answers; learnt from the correction: %t", q.GoldTasks, q.Learnt)
	}

	// Another one says otherwise; the last one holds, also after a restart.
	must(w.Results.Correct(w.ctx, w.admin, task, "yes", ""))(t)
	w.killed()
	if x := labelOf("majority"); x != (found{"yes", 1, true}) {
		t.Errorf("%+v since it was corrected twice", x)
	}
	must(w.Results.Withdraw(w.ctx, w.ann, task, "they were right"))(t)
	if x := labelOf(results.Live); x.label != "yes" || x.corrected {
		t.Errorf("%+v since the correction was taken back", x)
	}
	list := must(w.Results.Corrections(w.ctx, w.ann, task))(t)
	if len(list) != 3 || !list[0].Withdrawn || list[1].Value != "yes" || list[2].Value != "no" || list[2].Note == "" {
		t.Errorf("the corrections are %+v", list)
	}
}

// TestWhatIsNotCorrected: what nobody could answer, a task without a label, one's own answers, and
// the items of a run.
func TestWhatIsNotCorrected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	task := w.label(w.workers[0])
	correct := func(p *access.Principal, id crowd.TaskID, value, note string) error {
		return second(w.Results.Correct(w.ctx, p, id, value, note))
	}
	refused(t, correct(w.ann, task, "perhaps", ""), crowd.Invalid)
	refused(t, correct(w.ann, task, "", ""), crowd.Invalid)
	refused(t, correct(w.ann, task, "no\x00", ""), crowd.Invalid)
	refused(t, correct(w.ann, task, "no", string(make([]rune, results.MaxNote+1))), crowd.Invalid)
	refused(t, correct(w.ann, task.Batch().Task(2), "no", ""), crowd.NotFound)
	open := w.launch(1)
	refused(t, correct(w.ann, open.Task(1), "no", ""), crowd.Conflict)
	must(w.Batches.End(w.ctx, w.ann, open))(t)
	ok(t, correct(w.ann, open.Task(1), "no", ""))

	s := &scene{world: w}
	item := must(s.Runs.Get(w.ctx, w.admin, s.under()))(t).Nodes[1].Node.Batch.Task(1)
	var err error
	s.until(func() bool { err = correct(w.ann, item, "no", ""); return crowd.CodeOf(err) != crowd.NotFound })
	if crowd.CodeOf(err) != crowd.Conflict || !strings.Contains(err.Error(), "has no label yet") {
		t.Errorf("an item of a run without a label: %v", err)
	}

	// Who has become a reviewer since corrects what others have answered.
	must(w.Accounts.GiveRole(w.ctx, w.admin, w.workers[0].User.ID, store.HeldRole{Role: "reviewer", Tenant: w.a}))(t)
	both := w.withPassword(w.workers[0])
	refused(t, correct(both, task, "no", ""), crowd.Forbidden)
	ok(t, correct(both, open.Task(1), "yes", ""))
	ok(t, correct(w.ann, task, "no", ""))
}
