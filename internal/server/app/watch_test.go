package app_test

import (
	"context"
	"maps"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

func init() {
	maps.Copy(calls, map[string]func(*scene, *access.Principal) error{
		"Batches.Watched": func(s *scene, p *access.Principal) error { return second(s.Batches.Watched(s.ctx, p, s.running)) },
		"Batches.Details": func(s *scene, p *access.Principal) error { return second(s.Batches.Details(s.ctx, p, s.running)) },
		"Batches.WatchedDetails": func(s *scene, p *access.Principal) error {
			return second(s.Batches.WatchedDetails(s.ctx, p, s.running))
		},
		"Runs.Watched":        func(s *scene, p *access.Principal) error { return second(s.Runs.Watched(s.ctx, p, s.under())) },
		"Runs.Details":        func(s *scene, p *access.Principal) error { return second(s.Runs.Details(s.ctx, p, s.under())) },
		"Runs.WatchedDetails": func(s *scene, p *access.Principal) error { return second(s.Runs.WatchedDetails(s.ctx, p, s.under())) },
	})
}

func (f *failingStore) RunBatches(ctx context.Context, id crowd.RunID) ([]store.Batch, error) {
	return fail1(f, ctx, "RunBatches", func() ([]store.Batch, error) { return f.Store.RunBatches(ctx, id) })
}

func (f *failingStore) ClearLog(ctx context.Context, id crowd.RunID, node int) error {
	return f.err(ctx, "ClearLog", func() error { return f.Store.ClearLog(ctx, id, node) })
}
