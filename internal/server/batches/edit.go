package batches

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
)

// BatchEdit changes a running batch; nil fields stay as they are.
type BatchEdit struct {
	Priority *float64
	Deadline *time.Time // the zero time takes it away
	Stopped  *bool      // emergency stop
}

// Edit changes a batch while it runs.
func (s *Batches) Edit(ctx context.Context, p *access.Principal, id crowd.BatchID, edit BatchEdit) (BatchView, error) {
	return s.onBatch(ctx, p, access.BatchesEdit, id, func(e *engine.Engine, now time.Time) error {
		if err := e.Edit(now, id, engine.Edit{Priority: edit.Priority, Deadline: edit.Deadline}); err != nil {
			return err
		}
		if edit.Stopped != nil {
			return e.StopBatch(now, id, *edit.Stopped)
		}
		return nil
	})
}

// RunningSettings is what can be set of a batch while it runs.
type RunningSettings struct {
	Priority float64
	Deadline time.Time
}

// RunningSettings are those of a batch.
func (v *BatchView) RunningSettings() RunningSettings {
	return RunningSettings{v.Progress.Priority, v.Progress.Deadline}
}

// Change changes the settings of a running batch as they are when nobody else
// changes them.
func (s *Batches) Change(ctx context.Context, p *access.Principal, id crowd.BatchID, change func(*RunningSettings) error) (BatchView, error) {
	return s.onBatch(ctx, p, access.BatchesChange, id, func(e *engine.Engine, now time.Time) error {
		var v BatchView
		v.Spec.ID = id
		v.read(e)
		x := v.RunningSettings()
		if err := change(&x); err != nil {
			return err
		}
		return e.Edit(now, id, engine.Edit{Priority: &x.Priority, Deadline: &x.Deadline})
	})
}
