package orchestrator_test

import (
	"context"
	"errors"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// faultyStore is a store that fails when the test says so.
type faultyStore struct {
	store.Store
	fail    func(what string) error // nil: never
	asked   func()                  // before nodes and batches of a run are read; nil: nothing
	change  func(r *store.Run)      // of what is read of a run; nil: nothing
	batches int                     // that were read one by one
	most    int                     // bytes of text of a move
	read    int                     // bytes of text of rows that were read
	rows    int                     // that were read, with those that were read along
	uses    int                     // of services, that were kept
}

// What a store that fails returns.
var (
	errDisk    = errors.New("the disk has gone away")                      // nothing is kept
	errUnheard = errors.New("the connection broke before the answer came") // what was to be kept is kept
)

func (f *faultyStore) ask() {
	if f.asked != nil {
		f.asked()
	}
}

func (f *faultyStore) failure(what string) error {
	if f.fail == nil {
		return nil
	}
	return f.fail(what)
}

func (f *faultyStore) Advance(ctx context.Context, a *store.Advance) (crowd.BatchID, error) {
	bytes := 0
	for _, r := range a.Rows {
		bytes += store.TextBytes(r.Cells)
	}
	for _, t := range a.Tasks {
		bytes += store.TextBytes(t.Values)
	}
	f.most = max(f.most, bytes)
	switch err := f.failure("advance"); {
	case errors.Is(err, errUnheard):
		_, failed := f.Store.Advance(ctx, a)
		return 0, errors.Join(err, failed)
	case err != nil:
		return 0, err
	}
	return f.Store.Advance(ctx, a)
}

func (f *faultyStore) Run(ctx context.Context, tenant crowd.TenantID, id crowd.RunID) (store.Run, error) {
	if err := f.failure("run"); err != nil {
		return store.Run{}, err
	}
	run, err := f.Store.Run(ctx, tenant, id)
	if f.change != nil && err == nil {
		f.change(&run)
	}
	return run, err
}

func (f *faultyStore) Batch(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) (store.Batch, error) {
	f.batches++
	if err := f.failure("batch"); err != nil {
		return store.Batch{}, err
	}
	return f.Store.Batch(ctx, tenant, id)
}

func (f *faultyStore) ClearLog(ctx context.Context, id crowd.RunID, node int) error {
	if err := f.failure("clear"); err != nil {
		return err
	}
	return f.Store.ClearLog(ctx, id, node)
}

func (f *faultyStore) TakeOver(ctx context.Context, from, to crowd.RunID, nodes map[int]int, classes map[int]func(*store.Row) int) error {
	err := f.failure("take over")
	if err == nil || errors.Is(err, errUnheard) {
		err = errors.Join(err, f.Store.TakeOver(ctx, from, to, nodes, classes))
	}
	return err
}

func (f *faultyStore) CreateRun(ctx context.Context, r store.Run, nodes []store.Node) (crowd.RunID, error) {
	err := f.failure("create")
	if err == nil {
		return f.Store.CreateRun(ctx, r, nodes)
	}
	if errors.Is(err, errUnheard) {
		_, failed := f.Store.CreateRun(ctx, r, nodes)
		err = errors.Join(err, failed)
	}
	return 0, err
}

func (f *faultyStore) RedoneAs(ctx context.Context, id crowd.RunID) (crowd.RunID, error) {
	if err := f.failure("redone as"); err != nil {
		return 0, err
	}
	return f.Store.RedoneAs(ctx, id)
}

func (f *faultyStore) CountCorrected(ctx context.Context, used store.LabelsUsed) (int64, error) {
	if err := f.failure("count corrected"); err != nil {
		return 0, err
	}
	return f.Store.CountCorrected(ctx, used)
}

func (f *faultyStore) Nodes(ctx context.Context, id crowd.RunID) ([]store.Node, error) {
	f.ask()
	if err := f.failure("nodes"); err != nil {
		return nil, err
	}
	return f.Store.Nodes(ctx, id)
}

func (f *faultyStore) Rows(ctx context.Context, run crowd.RunID, node int, after int64, limit int, with []int) ([]store.JoinedRow, error) {
	if err := f.failure("rows"); err != nil {
		return nil, err
	}
	rows, err := f.Store.Rows(ctx, run, node, after, limit, with)
	for _, r := range rows {
		f.read += store.TextBytes(r.Cells)
		f.rows += 1 + len(r.With)
	}
	return rows, err
}

func (f *faultyStore) ItemRows(ctx context.Context, id crowd.RunID, item int64) ([]store.Row, error) {
	if err := f.failure("item rows"); err != nil {
		return nil, err
	}
	return f.Store.ItemRows(ctx, id, item)
}

func (f *faultyStore) Faults(ctx context.Context, id crowd.RunID, node int, after int64, limit int) ([]store.Fault, error) {
	if err := f.failure("faults"); err != nil {
		return nil, err
	}
	return f.Store.Faults(ctx, id, node, after, limit)
}

func (f *faultyStore) Staying(ctx context.Context, batch crowd.BatchID, after uint32, limit int) ([]store.Task, error) {
	if err := f.failure("staying"); err != nil {
		return nil, err
	}
	return f.Store.Staying(ctx, batch, after, limit)
}

func (f *faultyStore) Split(ctx context.Context, part store.LogPart, from int) (made, items int64, err error) {
	if err := f.failure("split"); err != nil {
		return 0, 0, err
	}
	return f.Store.Split(ctx, part, from)
}

func (f *faultyStore) Pending(ctx context.Context, part store.LogPart, to, limit int) ([]store.Row, error) {
	if err := f.failure("pending"); err != nil {
		return nil, err
	}
	return f.Store.Pending(ctx, part, to, limit)
}
