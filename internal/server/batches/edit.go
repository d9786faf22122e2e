package batches

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
)

// RunningSettings is what can be set of a batch while it runs.
type RunningSettings struct {
	Priority float64
	Deadline time.Time // the zero time: none
	Stopped  bool      // emergency stop
}

// RunningSettings are those of a batch.
func (v *BatchView) RunningSettings() RunningSettings {
	return RunningSettings{v.Progress.Priority, v.Progress.Deadline, v.Stops.Batch}
}

// Change changes the settings of a running batch as they are when nobody else
// changes them.
func (s *Batches) Change(ctx context.Context, p *access.Principal, id crowd.BatchID, change func(*RunningSettings) error) (BatchView, error) {
	return s.onBatch(ctx, p, access.BatchesChange, id, func(e *engine.Engine, now time.Time) error {
		var v BatchView
		v.Spec.ID = id
		v.read(e)
		x := v.RunningSettings()
		err := change(&x)
		if err == nil {
			err = e.Edit(now, id, engine.Edit{Priority: &x.Priority, Deadline: &x.Deadline})
		}
		if err == nil && x.Stopped != v.Stops.Batch {
			err = e.StopBatch(now, id, x.Stopped)
		}
		return err
	})
}
