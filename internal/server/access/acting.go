package access

import (
	"context"

	"github.com/throng-dev/throng/internal/store"
)

// Acting returns a context in which p changes something by an operation, and what the
// audit log will say of it. The first transaction under the context keeps that; if there
// is none, nothing was changed. about has the time, whose the thing is, its kind and its
// id, which store.Act.Created fills in for a new one.
//
// What an operation is part of tells for it, and what only looks tells nothing.
func (p *Principal) Acting(ctx context.Context, o Operation, about store.AuditEntry) (context.Context, *store.Act) {
	if act := store.ActOf(ctx); act != nil {
		return ctx, act
	}
	about.Operation, about.Actor = o.Name, p.User.ID
	if p.Token.Kind == store.APIToken || p.Token.Kind == store.ProviderToken {
		about.Token = p.Token.ID
	}
	if from := SenderOf(ctx).Address; from.IsValid() {
		about.Address = from.Unmap().String()
	}
	act := &store.Act{AuditEntry: about}
	if !o.Logged() {
		return ctx, act
	}
	return store.WithActs(ctx, act), act
}
