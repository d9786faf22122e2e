package app_test

import (
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// TestAnEditThatEndsABatchIsDoneWhole: what ends a batch and stops it, or lets it go on, in one edit is
// done, kept in the audit log, and no error.
func TestAnEditThatEndsABatchIsDoneWhole(t *testing.T) {
	t.Parallel()
	for what, edit := range map[string]func(*batches.RunningSettings){
		"enough labels, stopped": func(x *batches.RunningSettings) { x.Enough, x.Stopped = engine.Enough{Labels: 1}, true },
		"enough labels, started": func(x *batches.RunningSettings) { x.Enough, x.Stopped = engine.Enough{Labels: 1}, false },
		"a lower redundancy":     func(x *batches.RunningSettings) { x.Redundancy, x.Stopped = label.Count(1), true },
	} {
		w := newWorld(t, 1)
		id := w.launch(2)
		if what == "a lower redundancy" {
			must(w.Batches.Change(w.ctx, w.ann, id, func(x *batches.RunningSettings) error {
				x.Redundancy, x.AllowSmallCrowd, x.AddBudget = label.Count(2), true, true
				return nil
			}))(t)
			must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, yes))(t)
		}
		must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, yes))(t)
		if what == "enough labels, started" {
			must(w.Batches.Change(w.ctx, w.ann, id, func(x *batches.RunningSettings) error { x.Stopped = true; return nil }))(t)
		}
		entries := func() int {
			return len(must(w.store.AuditEntries(w.ctx, store.AuditFilter{Operation: "Batches.Change", Limit: 9}))(t))
		}
		before := entries()
		v, err := w.Batches.Change(w.ctx, w.ann, id, func(x *batches.RunningSettings) error { edit(x); return nil })
		if err != nil || !v.Progress.State.Ended() || entries() != before+1 {
			t.Errorf("%s: %v, the batch is %s, and the audit log has %d entries more", what, err, v.Progress.State, entries()-before)
		}
		if crowd.CodeOf(w.store.CheckLedger(w.ctx)) != "" {
			t.Errorf("%s: the ledger is wrong", what)
		}
	}
}
