package app_test

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

func (f *failingStore) HasIdentity(ctx context.Context, issuer string, user crowd.WorkerID) (bool, error) {
	return fail1(f, ctx, "HasIdentity", func() (bool, error) { return f.Store.HasIdentity(ctx, issuer, user) })
}

func (f *failingStore) CreateProvisioned(ctx context.Context, r store.Provisioned, u store.User) (store.Provisioned, error) {
	return fail1(f, ctx, "CreateProvisioned", func() (store.Provisioned, error) { return f.Store.CreateProvisioned(ctx, r, u) })
}

func (f *failingStore) UpdateProvisioned(ctx context.Context, r store.Provisioned) error {
	return f.err(ctx, "UpdateProvisioned", func() error { return f.Store.UpdateProvisioned(ctx, r) })
}

func (f *failingStore) ListProvisioned(ctx context.Context, x store.ProvisionedFilter) ([]store.Provisioned, error) {
	return fail1(f, ctx, "ListProvisioned", func() ([]store.Provisioned, error) { return f.Store.ListProvisioned(ctx, x) })
}

func (f *failingStore) CountProvisioned(ctx context.Context, provider string) (store.ProvisionedCount, error) {
	return fail1(f, ctx, "CountProvisioned", func() (store.ProvisionedCount, error) { return f.Store.CountProvisioned(ctx, provider) })
}

func (f *failingStore) CreateGroup(ctx context.Context, g store.ProvisionedGroup, members []int64) (int64, error) {
	return fail1(f, ctx, "CreateGroup", func() (int64, error) { return f.Store.CreateGroup(ctx, g, members) })
}

func (f *failingStore) UpdateGroup(ctx context.Context, g store.ProvisionedGroup, add, drop []int64) error {
	return f.err(ctx, "UpdateGroup", func() error { return f.Store.UpdateGroup(ctx, g, add, drop) })
}

func (f *failingStore) DeleteGroup(ctx context.Context, provider string, id int64) error {
	return f.err(ctx, "DeleteGroup", func() error { return f.Store.DeleteGroup(ctx, provider, id) })
}

func (f *failingStore) ListGroups(ctx context.Context, x store.ProvisionedFilter) ([]store.ProvisionedGroup, error) {
	return fail1(f, ctx, "ListGroups", func() ([]store.ProvisionedGroup, error) { return f.Store.ListGroups(ctx, x) })
}

func (f *failingStore) GroupMembers(ctx context.Context, group int64) ([]store.Member, error) {
	return fail1(f, ctx, "GroupMembers", func() ([]store.Member, error) { return f.Store.GroupMembers(ctx, group) })
}

func (f *failingStore) GroupsOf(ctx context.Context, people []int64) (map[int64][]store.ProvisionedGroup, error) {
	return fail1(f, ctx, "GroupsOf", func() (map[int64][]store.ProvisionedGroup, error) { return f.Store.GroupsOf(ctx, people) })
}

func (f *failingStore) ProviderTokens(ctx context.Context, provider string) ([]store.Token, error) {
	return fail1(f, ctx, "ProviderTokens", func() ([]store.Token, error) { return f.Store.ProviderTokens(ctx, provider) })
}

func (f *failingStore) SetExternalID(ctx context.Context, issuer, subject, externalID string) error {
	return f.err(ctx, "SetExternalID", func() error { return f.Store.SetExternalID(ctx, issuer, subject, externalID) })
}

func (f *failingStore) UsersByExternalID(ctx context.Context, issuer, externalID string) ([]store.User, error) {
	return fail1(f, ctx, "UsersByExternalID", func() ([]store.User, error) { return f.Store.UsersByExternalID(ctx, issuer, externalID) })
}
