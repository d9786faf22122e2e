package orchestrator

import (
	"context"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// HiddenColumns returns the columns of a batch's tasks that no worker is shown: known
// answers of its run's steps. Such columns are in no batch that is made now, but earlier
// versions put those of other steps into it, and a batch keeps the columns that it has.
func HiddenColumns(ctx context.Context, st interface {
	Run(ctx context.Context, tenant crowd.TenantID, id crowd.RunID) (store.Run, error)
}, b *store.Batch) ([]string, error) {
	if b.Run == 0 {
		return nil, nil
	}
	run, err := st.Run(ctx, 0, b.Run)
	if err != nil {
		return nil, err
	}
	w, problems, err := Parse(ctx, run.Text, nil, time.Time{})
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, Problems(problems)
	}
	for i := range w.Steps {
		if c := w.Steps[i].Crowd(); w.Steps[i].Node == b.Node && c != nil {
			return slices.DeleteFunc(slices.Clone(b.Columns), func(column string) bool { return !workflow.Hides(c.Hidden, column) }), nil
		}
	}
	return nil, nil
}
