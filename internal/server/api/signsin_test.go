package api_test

import (
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

// TestHowSomebodySignsIn: an administrator sees whether somebody has a password, with which
// providers of accounts they sign in, and which of these has suspended them.
func TestHowSomebodySignsIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := must(w.store.PutIdentity(w.ctx, store.Identity{Issuer: "https://corp.example", Subject: "olga", CreatedAt: time.Now()}, store.User{Name: "olga"}))(t)
	ask := func() (wire.User, wire.SecondFactors) {
		return must(w.admin.User(w.ctx, id))(t), into[wire.SecondFactors](t, w.send(w.admin, "GET", "/v1/users/"+id.String()+"/second-factors", ""))
	}
	u, by := ask()
	if u.HasPassword || u.Suspended || u.SuspendedBy != "" || !slices.Equal(by.Providers, []string{"corp"}) {
		t.Errorf("who came by a provider is %+v, with %+v", u, by)
	}
	kept := must(w.store.User(w.ctx, id))(t)
	kept.Suspended, kept.SuspendedBy, kept.PasswordHash = true, "corp", "$argon2id$"
	ok(t, w.store.UpdateUser(w.ctx, kept))
	if u, _ = ask(); !u.HasPassword || !u.Suspended || u.SuspendedBy != "corp" {
		t.Errorf("suspended by the provider: %+v", u)
	}
	_, by = func() (wire.User, wire.SecondFactors) { id = must(w.workers[0].Me(w.ctx))(t).ID; return ask() }()
	if len(by.Providers) > 0 {
		t.Errorf("who has come by no provider has %v", by.Providers)
	}
}
