package app_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/oidc"
	"github.com/throng-dev/throng/internal/server/scim"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/pool"
)

// TestADeactivationBySCIM: by a request of a provider, what somebody holds goes to who waits
// for it, and another's paid waiting ends, both in the same moment of the server's clock.
func TestADeactivationBySCIM(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.close()
	w.store = must(sqlite.Open(w.ctx, w.path, w.options))(t)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	w.App = must(app.Open(w.ctx, app.Config{Passwords: auth.LeastCost, Store: w.store, Log: log, Now: w.clock.now, Providers: []oidc.Settings{{Name: "corp", Button: "Corp", Issuer: "https://corp.example", ClientID: "x"}}}))(t)
	w.clock.halt()
	mux := http.NewServeMux()
	scim.Mount(mux, scim.Config{App: w.App, Log: log})
	_, token, err := w.Provisioning.CreateToken(w.ctx, w.admin, accounts.NewProviderToken{Provider: "corp"})
	ok(t, err)
	send := func(method, path, body string) string {
		r := httptest.NewRequestWithContext(w.ctx, method, "/scim/v2"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/scim+json")
		a := httptest.NewRecorder()
		mux.ServeHTTP(a, r)
		var made struct{ ID string }
		if err := json.Unmarshal(a.Body.Bytes(), &made); a.Code >= 300 || err != nil {
			t.Fatalf("%s %s: %d %s", method, path, a.Code, a.Body)
		}
		return made.ID
	}
	hired := func(name string) (at string, p *access.Principal) {
		at = "/Users/" + send(http.MethodPost, "/Users", `{"userName": "`+name+`", "externalId": "x-`+name+`", "active": true}`)
		u := must(w.store.UserByName(w.ctx, name))(t)
		u = must(w.Accounts.ChangeUser(w.ctx, w.admin, u.ID, func(u *store.User) error { u.Pool = w.pool; return nil }))(t)
		return at, &access.Principal{User: u}
	}
	deactivate := func(at string) {
		begin := w.clock.now()
		send(http.MethodPatch, at, `{"schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], "Operations": [{"op": "replace", "path": "active", "value": false}]}`)
		if took := w.clock.now().Sub(begin); took != 0 {
			t.Errorf("it took %s", took)
		}
	}

	atKim, kim := hired("kim")
	id := w.launch(1)
	held := w.next(kim)
	deactivate(atKim)
	_, err = w.submit(kim, held.Assignment, yes)
	refused(t, err, crowd.Conflict)
	if task := w.next(w.workers[0]); task.Task != held.Task { // the lease has not run out: no time has passed
		t.Errorf("the other has %s, and kim held %s", task.Task, held.Task)
	} else {
		must(w.submit(w.workers[0], task.Assignment, yes))(t)
	}
	if n := len(w.answers(id)); n != 1 {
		t.Errorf("%d answers, want 1", n)
	}

	w.suspend(w.workers[0], true)
	atLee, lee := hired("lee")
	w.onCall(pool.Settings{Min: 1})
	w.step(time.Second)
	waited := w.waitsHalfAMinute(lee)
	deactivate(atLee)
	ok(t, <-waited)
	for range 2 {
		if m := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t).Status.Funds; m.Paid != crowd.Unit/40 || m.Owed != 0 {
			t.Errorf("the money is %+v", m)
		}
		w.step(2 * time.Minute)
	}
	if earned, _, err := w.Work.Earnings(w.ctx, lee, 1); err != nil || earned != crowd.Unit/40 {
		t.Errorf("they have earned %s, %v", earned, err)
	}
}
