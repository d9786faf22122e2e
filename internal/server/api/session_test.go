package api_test

import (
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// TestSessionsByTheAPI: somebody changes their password, and ends a session of theirs.
func TestSessionsByTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := must(w.admin.CreateUser(w.ctx, wire.NewUser{Name: "eve", Tenants: []crowd.TenantID{w.a}}))(t)
	eve := w.nobody.As(must(w.nobody.Setup(w.ctx, made.SetupToken, "correct horse battery"))(t))
	if err := eve.ChangePassword(w.ctx, "correct horse battery", "another password of words"); err != nil {
		t.Fatal(err)
	}
	must(w.nobody.SignIn(w.ctx, "eve", "another password of words"))(t)
	if list := must(eve.Sessions(w.ctx))(t); len(list) != 2 || !list[1].Current || list[0].Current || list[0].Program != "throng" {
		t.Errorf("eve's sessions: %+v", list)
	} else if err := eve.EndSession(w.ctx, list[0].ID); err != nil {
		t.Fatal(err)
	}
}
