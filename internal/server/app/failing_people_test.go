package app_test

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

func (f *failingStore) PutIdentity(ctx context.Context, issuer, subject string, u store.User, at time.Time) (crowd.WorkerID, error) {
	return fail1(f, ctx, "PutIdentity", func() (crowd.WorkerID, error) { return f.Store.PutIdentity(ctx, issuer, subject, u, at) })
}

func (f *failingStore) UserByIdentity(ctx context.Context, issuer, subject string) (store.User, error) {
	return fail1(f, ctx, "UserByIdentity", func() (store.User, error) { return f.Store.UserByIdentity(ctx, issuer, subject) })
}
