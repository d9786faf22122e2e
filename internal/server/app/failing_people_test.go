package app_test

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

func (f *failingStore) UserNames(ctx context.Context, ids []crowd.WorkerID) (map[crowd.WorkerID]string, error) {
	return fail1(f, ctx, "UserNames", func() (map[crowd.WorkerID]string, error) { return f.Store.UserNames(ctx, ids) })
}

func (f *failingStore) PutIdentity(ctx context.Context, i store.Identity, u store.User) (crowd.WorkerID, error) {
	return fail1(f, ctx, "PutIdentity", func() (crowd.WorkerID, error) { return f.Store.PutIdentity(ctx, i, u) })
}

func (f *failingStore) UserByIdentity(ctx context.Context, issuer, subject string) (store.User, error) {
	return fail1(f, ctx, "UserByIdentity", func() (store.User, error) { return f.Store.UserByIdentity(ctx, issuer, subject) })
}

func (f *failingStore) CreateFactor(ctx context.Context, x store.Factor, codes []string) (int64, error) {
	return fail1(f, ctx, "CreateFactor", func() (int64, error) { return f.Store.CreateFactor(ctx, x, codes) })
}

func (f *failingStore) ConfirmFactor(ctx context.Context, x store.Factor, codes []string) error {
	return f.err(ctx, "ConfirmFactor", func() error { return f.Store.ConfirmFactor(ctx, x, codes) })
}

func (f *failingStore) Factors(ctx context.Context, user crowd.WorkerID) ([]store.Factor, error) {
	return fail1(f, ctx, "Factors", func() ([]store.Factor, error) { return f.Store.Factors(ctx, user) })
}

func (f *failingStore) UseFactor(ctx context.Context, x store.Factor) error {
	return f.err(ctx, "UseFactor", func() error { return f.Store.UseFactor(ctx, x) })
}

func (f *failingStore) FactorByCredential(ctx context.Context, credential string) (store.Factor, error) {
	return fail1(f, ctx, "FactorByCredential", func() (store.Factor, error) { return f.Store.FactorByCredential(ctx, credential) })
}

func (f *failingStore) UsePasskey(ctx context.Context, x store.Factor, challenge string, expires time.Time) error {
	return f.err(ctx, "UsePasskey", func() error { return f.Store.UsePasskey(ctx, x, challenge, expires) })
}

func (f *failingStore) DeleteFactor(ctx context.Context, user crowd.WorkerID, id int64) error {
	return f.err(ctx, "DeleteFactor", func() error { return f.Store.DeleteFactor(ctx, user, id) })
}

func (f *failingStore) PutRecoveryCodes(ctx context.Context, user crowd.WorkerID, hashes []string) error {
	return f.err(ctx, "PutRecoveryCodes", func() error { return f.Store.PutRecoveryCodes(ctx, user, hashes) })
}

func (f *failingStore) UseRecoveryCode(ctx context.Context, user crowd.WorkerID, hash string, session *store.Token) error {
	return f.err(ctx, "UseRecoveryCode", func() error { return f.Store.UseRecoveryCode(ctx, user, hash, session) })
}

func (f *failingStore) RecoveryCodes(ctx context.Context, user crowd.WorkerID) (int, error) {
	return fail1(f, ctx, "RecoveryCodes", func() (int, error) { return f.Store.RecoveryCodes(ctx, user) })
}

func (f *failingStore) AuditEntries(ctx context.Context, x store.AuditFilter) ([]store.AuditEntry, error) {
	return fail1(f, ctx, "AuditEntries", func() ([]store.AuditEntry, error) { return f.Store.AuditEntries(ctx, x) })
}

func (f *failingStore) DropAudit(ctx context.Context, x store.AuditDropping) (store.AuditDrop, error) {
	return fail1(f, ctx, "DropAudit", func() (store.AuditDrop, error) { return f.Store.DropAudit(ctx, x) })
}

func (f *failingStore) CheckAudit(ctx context.Context) (store.AuditHead, error) {
	return fail1(f, ctx, "CheckAudit", func() (store.AuditHead, error) { return f.Store.CheckAudit(ctx) })
}

func (f *failingStore) PutUserAsked(ctx context.Context, u store.User, a store.Asking) (crowd.WorkerID, error) {
	return fail1(f, ctx, "PutUserAsked", func() (crowd.WorkerID, error) { return f.Store.PutUserAsked(ctx, u, a) })
}

func (f *failingStore) AskedAddress(ctx context.Context, user crowd.WorkerID) (store.AskedAddress, error) {
	return fail1(f, ctx, "AskedAddress", func() (store.AskedAddress, error) { return f.Store.AskedAddress(ctx, user) })
}

func (f *failingStore) LinkAddress(ctx context.Context, user crowd.WorkerID, address, hash string) error {
	return f.err(ctx, "LinkAddress", func() error { return f.Store.LinkAddress(ctx, user, address, hash) })
}

func (f *failingStore) ConfirmAddress(ctx context.Context, u store.User, hash string, letter *store.Message) error {
	return f.err(ctx, "ConfirmAddress", func() error { return f.Store.ConfirmAddress(ctx, u, hash, letter) })
}
