package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/server/repeats"
	"github.com/throng-dev/throng/internal/wire"
)

// TestAKeptAnswerIsToldToWhoMayDoAsMuch: the same key shows a token with less, or who has lost a
// role, nothing that their own rights do not.
func TestAKeptAnswerIsToldToWhoMayDoAsMuch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	boss := w.person(wire.NewUser{Name: "carla", Tenants: []crowd.TenantID{w.a}})
	as := func(n wire.NewToken) *client.Client {
		n.Name = "program"
		return boss.As(must(boss.CreateToken(w.ctx, n))(t))
	}
	send := func(c *client.Client, key string) answer {
		return w.send(c, http.MethodPost, "/v1/runs", keyedRequests["POST /v1/runs"].body, repeats.Header, key)
	}
	limited, read := as(wire.NewToken{Scopes: []string{"batches.edit"}}), as(wire.NewToken{Scopes: []string{"batches.edit", "batches.read"}})
	first := send(boss, "one")
	if first.StatusCode != http.StatusCreated || !strings.Contains(string(first.body), "created_by") {
		t.Fatalf("the run: %s", first.shown())
	}
	for what, c := range map[string]*client.Client{"fewer scopes": limited, "more, but not all": read} {
		if a := send(c, "one"); a.StatusCode != http.StatusConflict || strings.Contains(string(a.body), "created_by") || !strings.Contains(string(a.body), "was carried out") {
			t.Errorf("%s: %s", what, a.shown())
		}
	}
	if a := send(as(wire.NewToken{}), "one"); string(a.body) != string(first.body) {
		t.Errorf("a token that may do as much: %s", a.shown())
	}
	short := send(limited, "two")
	for what, c := range map[string]*client.Client{"itself": limited, "more scopes": read, "all": boss} {
		if a := send(c, "two"); a.StatusCode != http.StatusCreated || string(a.body) != string(short.body) {
			t.Errorf("%s: %s", what, a.shown())
		}
	}
	id := must(boss.Me(w.ctx))(t).ID
	ok(t, w.send(w.admin, http.MethodPatch, "/v1/users/"+id.String(), `{"tenants": []}`).err())
	ok(t, w.send(w.admin, http.MethodPost, "/v1/roles", `{"name": "maker", "tenant": "n1", "permissions": ["batches.edit"]}`).err())
	ok(t, w.send(w.admin, http.MethodPost, "/v1/users/"+id.String()+"/roles", `{"role": "n1/maker"}`).err())
	if a := send(boss, "one"); a.StatusCode != http.StatusConflict {
		t.Errorf("with a lesser role: %s", a.shown())
	}
	if runs := must(w.ann.Runs(w.ctx, w.a, 0, 10))(t); len(runs) != 2 {
		t.Errorf("%d runs", len(runs))
	}
}
