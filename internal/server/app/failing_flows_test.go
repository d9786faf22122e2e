package app_test

import (
	"context"
	"iter"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

func (f *failingStore) CreateRun(ctx context.Context, r store.Run, nodes []store.Node) (crowd.RunID, error) {
	return fail1(f, ctx, "CreateRun", func() (crowd.RunID, error) { return f.Store.CreateRun(ctx, r, nodes) })
}

func (f *failingStore) Run(ctx context.Context, tenant crowd.TenantID, id crowd.RunID) (store.Run, error) {
	return fail1(f, ctx, "Run", func() (store.Run, error) { return f.Store.Run(ctx, tenant, id) })
}

func (f *failingStore) ListRuns(ctx context.Context, tenant crowd.TenantID, before crowd.RunID, limit int) ([]store.Run, error) {
	return fail1(f, ctx, "ListRuns", func() ([]store.Run, error) { return f.Store.ListRuns(ctx, tenant, before, limit) })
}

func (f *failingStore) OpenRuns(ctx context.Context) ([]store.Run, error) {
	return fail1(f, ctx, "OpenRuns", func() ([]store.Run, error) { return f.Store.OpenRuns(ctx) })
}

func (f *failingStore) Nodes(ctx context.Context, id crowd.RunID) ([]store.Node, error) {
	return fail1(f, ctx, "Nodes", func() ([]store.Node, error) { return f.Store.Nodes(ctx, id) })
}

func (f *failingStore) Advance(ctx context.Context, a *store.Advance) (crowd.BatchID, error) {
	return fail1(f, ctx, "Advance", func() (crowd.BatchID, error) { return f.Store.Advance(ctx, a) })
}

func (f *failingStore) Rows(ctx context.Context, id crowd.RunID, node int, after int64, limit int, with []int) ([]store.JoinedRow, error) {
	return fail1(f, ctx, "Rows", func() ([]store.JoinedRow, error) { return f.Store.Rows(ctx, id, node, after, limit, with) })
}

func (f *failingStore) Answerers(ctx context.Context, id crowd.RunID, nodes []int, item int64) ([]crowd.WorkerID, error) {
	return fail1(f, ctx, "Answerers", func() ([]crowd.WorkerID, error) { return f.Store.Answerers(ctx, id, nodes, item) })
}

func (f *failingStore) Answered(ctx context.Context, id crowd.RunID, node int) iter.Seq2[store.Row, error] {
	return failRows(f, ctx, "Answered", func() iter.Seq2[store.Row, error] { return f.Store.Answered(ctx, id, node) })
}

func (f *failingStore) ItemRows(ctx context.Context, id crowd.RunID, item int64) ([]store.Row, error) {
	return fail1(f, ctx, "ItemRows", func() ([]store.Row, error) { return f.Store.ItemRows(ctx, id, item) })
}

func (f *failingStore) Faults(ctx context.Context, id crowd.RunID, node int, after int64, limit int) ([]store.Fault, error) {
	return fail1(f, ctx, "Faults", func() ([]store.Fault, error) { return f.Store.Faults(ctx, id, node, after, limit) })
}

func (f *failingStore) Staying(ctx context.Context, batch crowd.BatchID, after uint32, limit int) ([]store.Task, error) {
	return fail1(f, ctx, "Staying", func() ([]store.Task, error) { return f.Store.Staying(ctx, batch, after, limit) })
}

func (f *failingStore) Pending(ctx context.Context, part store.LogPart, to, limit int) ([]store.Row, error) {
	return fail1(f, ctx, "Pending", func() ([]store.Row, error) { return f.Store.Pending(ctx, part, to, limit) })
}

func (f *failingStore) TakeOver(ctx context.Context, from, to crowd.RunID, nodes map[int]int, classes map[int]func(*store.Row) int) error {
	return f.err(ctx, "TakeOver", func() error { return f.Store.TakeOver(ctx, from, to, nodes, classes) })
}

func (f *failingStore) FeedRows(ctx context.Context, id crowd.RunID, node int, feed string) (int64, error) {
	return fail1(f, ctx, "FeedRows", func() (int64, error) { return f.Store.FeedRows(ctx, id, node, feed) })
}

func (f *failingStore) CreateService(ctx context.Context, x store.Service) error {
	return f.err(ctx, "CreateService", func() error { return f.Store.CreateService(ctx, x) })
}

func (f *failingStore) UpdateService(ctx context.Context, x store.Service) error {
	return f.err(ctx, "UpdateService", func() error { return f.Store.UpdateService(ctx, x) })
}

func (f *failingStore) DeleteService(ctx context.Context, name string) error {
	return f.err(ctx, "DeleteService", func() error { return f.Store.DeleteService(ctx, name) })
}

func (f *failingStore) Service(ctx context.Context, name string) (store.Service, error) {
	return fail1(f, ctx, "Service", func() (store.Service, error) { return f.Store.Service(ctx, name) })
}

func (f *failingStore) ListServices(ctx context.Context) ([]store.Service, error) {
	return fail1(f, ctx, "ListServices", func() ([]store.Service, error) { return f.Store.ListServices(ctx) })
}

func (f *failingStore) UseService(ctx context.Context, name string, used store.ServiceUse) error {
	return f.err(ctx, "UseService", func() error { return f.Store.UseService(ctx, name, used) })
}
