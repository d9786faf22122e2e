package app_test

import (
	"context"
	"iter"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

func (f *failingStore) CreateRole(ctx context.Context, r store.Role) error {
	return f.err(ctx, "CreateRole", func() error { return f.Store.CreateRole(ctx, r) })
}

func (f *failingStore) UpdateRole(ctx context.Context, r store.Role) error {
	return f.err(ctx, "UpdateRole", func() error { return f.Store.UpdateRole(ctx, r) })
}

func (f *failingStore) DeleteRole(ctx context.Context, tenant crowd.TenantID, name string) error {
	return f.err(ctx, "DeleteRole", func() error { return f.Store.DeleteRole(ctx, tenant, name) })
}

func (f *failingStore) RoleHolders(ctx context.Context, tenant crowd.TenantID, name string) ([]crowd.WorkerID, error) {
	return fail1(f, ctx, "RoleHolders", func() ([]crowd.WorkerID, error) { return f.Store.RoleHolders(ctx, tenant, name) })
}

func (f *failingStore) ListRoles(ctx context.Context) ([]store.Role, error) {
	return fail1(f, ctx, "ListRoles", func() ([]store.Role, error) { return f.Store.ListRoles(ctx) })
}

func (f *failingStore) UsageOfAll(ctx context.Context, now time.Time) (map[crowd.TenantID]map[store.Quota]int64, error) {
	return fail1(f, ctx, "UsageOfAll", func() (map[crowd.TenantID]map[store.Quota]int64, error) { return f.Store.UsageOfAll(ctx, now) })
}

func (f *failingStore) SetQuotas(ctx context.Context, tenant crowd.TenantID, values map[store.Quota]*int64) error {
	return f.err(ctx, "SetQuotas", func() error { return f.Store.SetQuotas(ctx, tenant, values) })
}

func (f *failingStore) QuotasSet(ctx context.Context) (map[crowd.TenantID]map[store.Quota]int64, error) {
	return fail1(f, ctx, "QuotasSet", func() (map[crowd.TenantID]map[store.Quota]int64, error) { return f.Store.QuotasSet(ctx) })
}

func (f *failingStore) Usage(ctx context.Context, tenant crowd.TenantID, now time.Time) (map[store.Quota]int64, error) {
	return fail1(f, ctx, "Usage", func() (map[store.Quota]int64, error) { return f.Store.Usage(ctx, tenant, now) })
}

func (f *failingStore) DailyUsage(ctx context.Context) ([]store.DailyUse, error) {
	return fail1(f, ctx, "DailyUsage", func() ([]store.DailyUse, error) { return f.Store.DailyUsage(ctx) })
}

func (f *failingStore) KeepDailyUsage(ctx context.Context, list []store.DailyUse) error {
	return f.err(ctx, "KeepDailyUsage", func() error { return f.Store.KeepDailyUsage(ctx, list) })
}

func (f *failingStore) CheckUsage(ctx context.Context) error {
	return f.err(ctx, "CheckUsage", func() error { return f.Store.CheckUsage(ctx) })
}

func (f *failingStore) Personal(ctx context.Context, id crowd.WorkerID) iter.Seq2[store.PersonalRow, error] {
	return failRows(f, ctx, "Personal", func() iter.Seq2[store.PersonalRow, error] { return f.Store.Personal(ctx, id) })
}

func (f *failingStore) WrittenTexts(ctx context.Context, id crowd.WorkerID, others bool) iter.Seq2[store.WrittenText, error] {
	return failRows(f, ctx, "WrittenTexts", func() iter.Seq2[store.WrittenText, error] { return f.Store.WrittenTexts(ctx, id, others) })
}

func (f *failingStore) ReplaceTexts(ctx context.Context, list []store.NewText) (labels []store.NewLabel, err error) {
	err = f.err(ctx, "ReplaceTexts", func() error { labels, err = f.Store.ReplaceTexts(ctx, list); return err })
	return labels, err
}

func (f *failingStore) BeginErasure(ctx context.Context, e store.Erasure) (store.Erasure, error) {
	return fail1(f, ctx, "BeginErasure", func() (store.Erasure, error) { return f.Store.BeginErasure(ctx, e) })
}

func (f *failingStore) Erasures(ctx context.Context) ([]store.Erasure, error) {
	return fail1(f, ctx, "Erasures", func() ([]store.Erasure, error) { return f.Store.Erasures(ctx) })
}

func (f *failingStore) Erase(ctx context.Context, id crowd.WorkerID, now time.Time) error {
	return f.err(ctx, "Erase", func() error { return f.Store.Erase(ctx, id, now) })
}

func (f *failingStore) Scrub(ctx context.Context, now time.Time) error {
	return f.err(ctx, "Scrub", func() error { return f.Store.Scrub(ctx, now) })
}

func (f *failingStore) SetRetention(ctx context.Context, tenant crowd.TenantID, days map[store.Retained]*int) error {
	return f.err(ctx, "SetRetention", func() error { return f.Store.SetRetention(ctx, tenant, days) })
}

func (f *failingStore) RetentionSet(ctx context.Context) (map[crowd.TenantID]map[store.Retained]int, error) {
	return fail1(f, ctx, "RetentionSet", func() (map[crowd.TenantID]map[store.Retained]int, error) { return f.Store.RetentionSet(ctx) })
}

func (f *failingStore) Expiring(ctx context.Context, tenant crowd.TenantID, kind store.Retained, until time.Time, limit int) ([]store.Expiring, error) {
	return fail1(f, ctx, "Expiring", func() ([]store.Expiring, error) { return f.Store.Expiring(ctx, tenant, kind, until, limit) })
}

func (f *failingStore) BeginDeletion(ctx context.Context, d store.Deletion) error {
	return f.err(ctx, "BeginDeletion", func() error { return f.Store.BeginDeletion(ctx, d) })
}

func (f *failingStore) DeleteSome(ctx context.Context, now time.Time, limit int) (bool, error) {
	return fail1(f, ctx, "DeleteSome", func() (bool, error) { return f.Store.DeleteSome(ctx, now, limit) })
}

func (f *failingStore) Unscrubbed(ctx context.Context) (time.Time, error) {
	return fail1(f, ctx, "Unscrubbed", func() (time.Time, error) { return f.Store.Unscrubbed(ctx) })
}

func (f *failingStore) TakenOver(ctx context.Context, id crowd.RunID, node int) (engine.TakenOver, error) {
	return fail1(f, ctx, "TakenOver", func() (engine.TakenOver, error) { return f.Store.TakenOver(ctx, id, node) })
}

// drain reads rows to their end.
func drain[T any](rows iter.Seq2[T, error], err error) error {
	if err != nil {
		return err
	}
	for _, err := range rows {
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *failingStore) Probe(ctx context.Context) error {
	return f.err(ctx, "Probe", func() error { return f.Store.Probe(ctx) })
}
