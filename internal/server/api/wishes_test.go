package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/wire"
)

// TestPreferencesAreOfPoolsWithinReach: a worker says how much they like their own pool,
// and those to which its people are moved, by balance or a rule. Of another the answer
// does not tell whether it exists.
func TestPreferencesAreOfPoolsWithinReach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.workers[0]
	for _, name := range []string{"night", "dawn", "dusk"} {
		into[map[string]any](t, w.send(w.admin, http.MethodPost, "/v1/pools", fmt.Sprintf(`{"name": %q, "policy": "fifo"}`, name)))
	}
	reach := func(want string) {
		t.Helper()
		v := must(one.Wishes(w.ctx))(t)
		asked := must(w.workers[1].Wishes(w.ctx))(t) // who has said nothing, as somebody whom a provider of accounts brings in
		if v.Asks || asked.Asks != (len(asked.Pools) > 1) {
			t.Errorf("asked: who has said it %t, who has not %t, of %s", v.Asks, asked.Asks, want)
		}
		if got := fmt.Sprint(lists.Map(v.Pools, func(p wire.NamedPool) string { return p.Name })); got != want {
			t.Errorf("they can prefer %s, want %s", got, want)
		}
		for id, name := range map[string]string{"p1": "main", "p2": "night", "p3": "dawn", "p4": "dusk", "p99": "nowhere"} {
			a := w.send(one, http.MethodPut, "/v1/me/wishes", fmt.Sprintf(`{"prefers": {%q: 0.25}}`, id))
			if strings.Contains(want, name) {
				into[wire.WishesView](t, a)
				continue
			}
			p := a.problem(t)
			if text := strings.Replace(p.Errors[0].Message, id, "p99", 1); a.StatusCode != http.StatusUnprocessableEntity || p.Errors[0].Field != "prefers" ||
				!strings.HasPrefix(text, "p99 is not a pool to which they are moved; they can prefer p1 (main)") || strings.Contains(text, name) || strings.Contains(text, "throng ") {
				t.Errorf("%s: %d %s", id, a.StatusCode, a.body)
			}
		}
	}
	set := func(pool, control string) {
		into[map[string]any](t, w.send(w.admin, http.MethodPatch, "/v1/pools/"+pool, `{"control": `+control+`}`))
	}
	reach("[main]")
	set("p2", `{"balance": true}`)
	reach("[main]")
	set("p1", `{"balance": true}`)
	reach("[main night]")
	set("p3", `{"elasticity": "rules", "rules": [{"when": "queue > 5", "do": "transfer 1 from night"}]}`)
	reach("[main night dawn]")
	set("p4", `{"rules": [{"when": "queue > 5", "do": "transfer 1 from main"}]}`) // another elasticity: they do nothing
	reach("[main night dawn]")

	// What was said before stays, and can be sent again.
	into[wire.WishesView](t, w.send(one, http.MethodPut, "/v1/me/wishes", `{"prefers": {"p1": 0.5, "p2": 0.75}}`))
	set("p2", `{"balance": false}`)
	if v := into[wire.WishesView](t, w.send(one, http.MethodPut, "/v1/me/wishes", `{"prefers": {"p2": 0.75}}`)); v.Prefers["p2"] != 0.75 || len(v.Pools) != 1 {
		t.Errorf("then: %+v", v)
	}
	if a := w.send(one, http.MethodPut, "/v1/me/wishes", `{"prefers": {"p2": 0.5}}`); a.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("it changes to %s", a.body)
	}
}

// subscription is a browser's, with the key of the example in RFC 8291.
const subscription = `{"endpoint": "https://push.example.org/1", "expirationTime": null, "keys": {
	"p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "auth": "BTBZMqHH6r4Tts7J_aSIgg"}}`

func TestWishesAndPush(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.workers[0]
	if x := must(one.Wishes(w.ctx))(t); len(x.Prefers) != 0 || x.Away || x.NoMail {
		t.Errorf("at first: %+v", x)
	}
	must(one.SetWishes(w.ctx, wire.Wishes{Prefers: map[string]float64{main.String(): 0.8}, Away: true, NoMail: true}))(t)
	if x := must(one.Wishes(w.ctx))(t); x.Prefers[main.String()] != 0.8 || !x.Away || !x.NoMail {
		t.Errorf("then: %+v", x)
	}
	w.set(`{"retainer": {"called": true}, "control": {"min": 2}}`)
	w.step()
	if calls := must(w.admin.PoolCalls(w.ctx, main))(t); len(calls[0].Notices) != 1 {
		t.Errorf("who is away is called: %+v", calls)
	}
	for _, body := range []string{`{"prefers": {"main": 1}}`, `{"prefers": {"p1": 1.5}}`} {
		a := w.send(one, http.MethodPut, "/v1/me/wishes", body)
		if p := a.problem(t); a.StatusCode != http.StatusUnprocessableEntity || p.Errors[0].Field != "prefers" {
			t.Errorf("%s: %d %s", body, a.StatusCode, a.body)
		}
	}
	var key struct{ Key *string }
	ok(t, json.Unmarshal(w.send(one, http.MethodGet, "/v1/push-key", "").body, &key))
	if key.Key == nil || *key.Key != "" {
		t.Errorf("the key is %v", key.Key)
	}
	if a := w.send(one, http.MethodPost, "/v1/push-subscriptions", subscription); a.StatusCode != http.StatusConflict || a.problem(t).Code != crowd.Conflict {
		t.Errorf("where there is no push: %d %s", a.StatusCode, a.body)
	}
	for change, field := range map[string]string{"https://push": "endpoint", "BCVxs": "keys.p256dh", "BTBZM": "keys.auth"} {
		a := w.send(one, http.MethodPost, "/v1/push-subscriptions", strings.Replace(subscription, change, "http://push", 1))
		if p := a.problem(t); a.StatusCode != http.StatusUnprocessableEntity || p.Errors[0].Field != field {
			t.Errorf("a wrong %s: %d %s", field, a.StatusCode, a.body)
		}
	}
	if a := w.send(one, http.MethodGet, "/v1/push-subscriptions", ""); string(a.body) != "[]\n" {
		t.Errorf("subscriptions: %s", a.body)
	}
}
