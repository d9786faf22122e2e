package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// TestPoolsNotGrantedAreNotThere: whatever a requester says of a pool that is not granted to
// a tenant of theirs is answered as of one that there is not, and nothing that they read
// names it.
func TestPoolsNotGrantedAreNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hushed := must(w.admin.CreatePool(w.ctx, "hushed", "fifo"))(t).ID
	must(w.admin.GrantPool(w.ctx, hushed, w.b, true))(t)
	for _, id := range []crowd.PoolID{1, hushed} { // people move between them
		w.setPool(id, `{"control": {"balance": true}}`)
	}
	w.person(wire.NewUser{Name: "colleague", Tenants: []crowd.TenantID{w.a}, Pool: hushed})
	draft := w.draft("thing\na dog\n").String()
	w.launch("thing\na dog\n")
	token := w.invite(w.ann, "somebody@example.org").Invited[0].Token
	flow := "workflow: w\nsla: {penalty: constant, after: 1h, cost: 0.1}\ninputs: {things: {columns: [thing]}}\nsteps:\n  alive:\n    from: things\n    crowd: {pool: POOL, template: {kind: choose_one, question: \"?\", options: [\"yes\", \"no\"]}, reward: 0.01}\n"
	for _, x := range []struct{ method, path, body string }{
		{http.MethodGet, "/v1/pools/POOL", ""},
		{http.MethodGet, "/v1/pools/POOL/fairness", ""},
		{http.MethodPost, "/v1/batches", `{"name": "x", "pool": "POOL", "reward_micros": 1, "template": ` + yesOrNo + `}`},
		{http.MethodPut, "/v1/batches/" + draft, `{"name": "x", "pool": "POOL", "reward_micros": 1, "template": ` + yesOrNo + `}`},
		{http.MethodPost, "/v1/invitations", `{"pool": "POOL", "addresses": ["x@example.org"]}`},
		{http.MethodPost, "/v1/invitation/join", fmt.Sprintf(`{"token": %q, "name": "eva", "password": "correct horse battery", "prefers": {"POOL": 1}}`, token)},
		{http.MethodPost, "/v1/workflows/check", flow},
	} {
		send := func(pool string) answer {
			var more []string
			if x.body == flow {
				more = []string{"Content-Type", "application/yaml"}
				pool = map[string]string{"p2": "hushed", "p9": "nosuch"}[pool]
			}
			return w.send(w.ann, x.method, strings.ReplaceAll(x.path, "POOL", pool), strings.ReplaceAll(x.body, "POOL", pool), more...)
		}
		theirs, none := send("p2"), send("p9")
		got, want := theirs.signature("p2", "ID"), none.signature("p9", "ID")
		if strings.ReplaceAll(got, "hushed", "nosuch") != want {
			t.Errorf("%s %s tells what is not granted from what is not there:\n%s\n%s", x.method, x.path, got, want)
		}
	}
	if a := w.send(w.bob, http.MethodPost, "/v1/workflows/check", strings.ReplaceAll(flow, "POOL", "hushed"), "Content-Type", "application/yaml"); !strings.Contains(string(a.body), "policy of the pool hushed") {
		t.Errorf("to whom it is granted the check says nothing of it: %s", a.body)
	}
	read := 0
	for _, o := range w.operations() {
		if o.method != http.MethodGet || strings.Contains(o.path, "{") {
			continue
		}
		read++
		if a := w.send(w.ann, o.method, o.path, ""); strings.Contains(string(a.body), "hushed") || strings.Contains(string(a.body), `"p2"`) {
			t.Errorf("%s tells ann of the pool: %s", o.name(), a.body)
		}
	}
	if a := w.send(w.nobody, http.MethodGet, "/v1/invitation?token="+token, ""); a.StatusCode != http.StatusOK || strings.Contains(string(a.body), "hushed") {
		t.Errorf("the invitation tells of the pool: %s", a.body)
	}
	if read < 10 {
		t.Errorf("only %d lists", read)
	}
}
