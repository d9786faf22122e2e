package app_test

import (
	"context"
	"iter"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

func (f *failingStore) Annotations(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, answered bool) iter.Seq2[store.Annotation, error] {
	return failRows(f, ctx, "Annotations", func() iter.Seq2[store.Annotation, error] { return f.Store.Annotations(ctx, tenant, id, answered) })
}

func (f *failingStore) Labels(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) iter.Seq2[store.LabelledTask, error] {
	return failRows(f, ctx, "Labels", func() iter.Seq2[store.LabelledTask, error] { return f.Store.Labels(ctx, tenant, id) })
}

func (f *failingStore) Answers(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) iter.Seq2[store.Annotation, error] {
	return failRows(f, ctx, "Answers", func() iter.Seq2[store.Annotation, error] { return f.Store.Answers(ctx, tenant, id) })
}

func (f *failingStore) Assigned(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, after uint32, limit int) ([]uint32, error) {
	return fail1(f, ctx, "Assigned", func() ([]uint32, error) { return f.Store.Assigned(ctx, tenant, id, after, limit) })
}

func (f *failingStore) TaskResults(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, tasks []crowd.TaskID, assignments []crowd.AssignmentID) ([]store.TaskResult, error) {
	return fail1(f, ctx, "TaskResults", func() ([]store.TaskResult, error) { return f.Store.TaskResults(ctx, tenant, id, tasks, assignments) })
}

func (f *failingStore) GivenAnswers(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, assignments []crowd.AssignmentID) ([]store.Annotation, error) {
	return fail1(f, ctx, "GivenAnswers", func() ([]store.Annotation, error) { return f.Store.GivenAnswers(ctx, tenant, id, assignments) })
}

func (f *failingStore) Assignment(ctx context.Context, id crowd.AssignmentID) (store.Annotation, error) {
	return fail1(f, ctx, "Assignment", func() (store.Annotation, error) { return f.Store.Assignment(ctx, id) })
}

func (f *failingStore) WorkerAnnotations(ctx context.Context, worker crowd.WorkerID, limit int) ([]store.Annotation, error) {
	return fail1(f, ctx, "WorkerAnnotations", func() ([]store.Annotation, error) { return f.Store.WorkerAnnotations(ctx, worker, limit) })
}

func (f *failingStore) ListReports(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, after crowd.AssignmentID, limit int) ([]store.Report, error) {
	return fail1(f, ctx, "ListReports", func() ([]store.Report, error) { return f.Store.ListReports(ctx, tenant, id, after, limit) })
}

func (f *failingStore) PutReply(ctx context.Context, tenant crowd.TenantID, r store.Reply) error {
	return f.err(ctx, "PutReply", func() error { return f.Store.PutReply(ctx, tenant, r) })
}

func (f *failingStore) WorkerReports(ctx context.Context, worker crowd.WorkerID, limit int) ([]store.Report, error) {
	return fail1(f, ctx, "WorkerReports", func() ([]store.Report, error) { return f.Store.WorkerReports(ctx, worker, limit) })
}
