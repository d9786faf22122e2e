package api_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/server/repeats"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

// keyed is a request that succeeds in the world of keyedWorld.
type keyed struct {
	who    func(*world) *client.Client
	path   string
	body   string
	secret bool // its answer is told once
	calm   bool // it changes nothing when there is nothing to do
}

func asAdmin(w *world) *client.Client { return w.admin }

// keyedRequests has one for each operation that takes a key. Batches: b1 runs, b2 is a
// draft, b3 is on hold; runs: r1 goes, r2 is ready to start, r3 is paused.
var keyedRequests = map[string]keyed{
	"POST /v1/batches":                       {asAnn, "/v1/batches", `{"name": "x", "template": ` + yesOrNo + `, "reward_micros": 1}`, false, false},
	"POST /v1/batches/{id}/tasks":            {asAnn, "/v1/batches/b1/tasks?add_budget=true", "thing\na cat\n", false, false},
	"POST /v1/batches/{id}/launch":           {asAnn, "/v1/batches/b2/launch", "", false, false},
	"POST /v1/batches/{id}/pause":            {asAnn, "/v1/batches/b1/pause", "", false, false},
	"POST /v1/batches/{id}/resume":           {asAnn, "/v1/batches/b3/resume", "", false, false},
	"POST /v1/batches/{id}/end":              {asAnn, "/v1/batches/b1/end", "", false, false},
	"POST /v1/batches/{id}/cancel":           {asAnn, "/v1/batches/b1/cancel", "", false, false},
	"POST /v1/batches/{id}/top-up":           {asAnn, "/v1/batches/b1/top-up", `{"amount_micros": 5}`, false, false},
	"POST /v1/tenants":                       {asAdmin, "/v1/tenants", `{"name": "cats", "deposit_micros": 7}`, false, false},
	"POST /v1/tenants/{id}/deposits":         {asAdmin, "/v1/tenants/n1/deposits", `{"amount_micros": 7}`, false, false},
	"POST /v1/users":                         {asAdmin, "/v1/users", `{"name": "dora", "tenants": ["n1"]}`, true, false},
	"POST /v1/users/{id}/roles":              {asAnn, "/v1/users/u2/roles", `{"role": "n1/viewer"}`, false, false},
	"POST /v1/roles":                         {asAnn, "/v1/roles", `{"name": "checker", "tenant": "n1", "permissions": ["batches.read"]}`, false, false},
	"POST /v1/users/{id}/setup-link":         {asAdmin, "/v1/users/u2/setup-link", "", true, false},
	"POST /v1/tokens":                        {asAnn, "/v1/tokens", `{"name": "program"}`, true, false},
	"POST /v1/pools":                         {asAdmin, "/v1/pools", `{"name": "night", "policy": "fifo"}`, false, false},
	"POST /v1/pools/{id}/funds":              {asAdmin, "/v1/pools/p1/funds", `{"amount_micros": 7}`, false, false},
	"POST /v1/pools/{id}/transfers":          {asAdmin, "/v1/pools/p1/transfers", `{"worker": "u4", "to": "p2"}`, false, false},
	"POST /v1/stop":                          {asAdmin, "/v1/stop", `{"stopped": true}`, false, false},
	"POST /v1/services":                      {asAdmin, "/v1/services", `{"name": "scores", "url": "https://x.example", "concurrency": 1}`, false, false},
	"POST /v1/invitations":                   {asAnn, "/v1/invitations", `{"pool": "p1", "addresses": ["b@example.org"]}`, true, false},
	"POST /v1/providers/{provider}/tokens":   {asAdmin, "/v1/providers/corp/tokens", `{"name": "provisioning"}`, true, false},
	"POST /v1/invitations/{id}/resend":       {asAnn, "/v1/invitations/1/resend", "", true, false},
	"POST /v1/invitations/{id}/withdraw":     {asAnn, "/v1/invitations/1/withdraw", "", false, false},
	"POST /v1/invitation/accept":             {asWorker, "/v1/invitation/accept", "", false, false},
	"POST /v1/tests":                         {asAnn, "/v1/tests", `{"name": "two", "pass_mark": 60, "questions": "thing,_gold\na dog,yes\n", "template": ` + yesOrNo + `}`, false, false},
	"POST /v1/tests/{id}/retire":             {asAnn, "/v1/tests/1/retire", `{"retired": true}`, false, false},
	"POST /v1/my-tests/{id}/start":           {asWorker, "/v1/my-tests/1/start", "", false, false},
	"POST /v1/my-tests/{id}/submit":          {asWorker, "/v1/my-tests/2/submit", `{"try": 1, "answers": {}, "unfinished": true}`, false, false},
	"POST /v1/runs":                          {asAnn, "/v1/runs", `{"workflow": "workflow: w\ninputs: {a: {}}\nsteps:\n  s: {from: a, sql: select * from a}\n"}`, false, false},
	"POST /v1/runs/{id}/start":               {asAnn, "/v1/runs/r2/start", "", false, false},
	"POST /v1/runs/{id}/pause":               {asAnn, "/v1/runs/r1/pause", "", false, false},
	"POST /v1/runs/{id}/resume":              {asAnn, "/v1/runs/r3/resume", "", false, false},
	"POST /v1/runs/{id}/cancel":              {asAnn, "/v1/runs/r1/cancel", "", false, false},
	"POST /v1/runs/{id}/seal":                {asAnn, "/v1/runs/r1/seal", "", false, false},
	"POST /v1/runs/{id}/top-up":              {asAnn, "/v1/runs/r1/top-up", `{"amount_micros": 7}`, false, false},
	"POST /v1/runs/{id}/retry":               {asAnn, "/v1/runs/r1/retry", "", false, true},
	"POST /v1/runs/{id}/skip":                {asAnn, "/v1/runs/r1/skip", "", false, true},
	"POST /v1/runs/{id}/steps/{step}/end":    {asAnn, "/v1/runs/r1/steps/alive/end", "", false, false},
	"POST /v1/runs/{id}/inputs/{input}/rows": {asAnn, "/v1/runs/r1/inputs/things/rows", "id,thing\n7,a cat\n", false, false},
	"POST /v1/runs/{id}/inputs/{input}/seal": {asAnn, "/v1/runs/r1/inputs/things/seal", "", false, false},
	"POST /v1/batches/{id}/pay/approve":      keyedPay, "POST /v1/batches/{id}/pay/refuse": keyedPay, "POST /v1/appeals/{assignment}": keyedPay, "POST /v1/work/pay/{assignment}/appeal": keyedPay,
	"POST /v1/duty":               {asWorker, "/v1/duty", "", false, false},
	"POST /v1/duty/decline":       {asWorker, "/v1/duty/decline", "", false, true},
	"POST /v1/push-subscriptions": {asWorker, "/v1/push-subscriptions", `{"endpoint": "https://push.example.org/1", "keys": {"p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "auth": "BTBZMqHH6r4Tts7J_aSIgg"}}`, false, false},
}

// keyedWorld is a world, in a bubble, in which each request of keyedRequests succeeds.
func keyedWorld(t testing.TB, name string) *world {
	mails := make(chan string, 10)
	w := newWorld(t, func(s *setup) {
		if strings.Contains(name, "/address/") {
			mailing(mails)(s)
		}
		s.senders.Push = func(context.Context, store.Subscription, []byte, time.Duration) error { return nil }
	})
	w.mails = mails
	w.launch("thing\na dog\n")
	w.draft("thing\na dog\n")
	held := w.launch("thing\na dog\n")
	must(w.ann.Move(w.ctx, held, "pause"))(t)
	for _, state := range []string{"goes", "is ready", "is paused"} {
		made := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: ourFlow, Open: []string{"things"}, BudgetMicros: crowd.Unit}))(t)
		must(w.ann.LoadRun(w.ctx, made.ID, "things", strings.NewReader("id,thing\n1,a dog\n"), ""))(t)
		if state != "is ready" {
			must(w.ann.MoveRun(w.ctx, made.ID, "start"))(t)
			synctest.Wait() // until it has the batch of its step
		}
		if state == "is paused" {
			must(w.ann.MoveRun(w.ctx, made.ID, "pause"))(t)
		}
	}
	must(w.admin.CreatePool(w.ctx, "evening", "fifo"))(t)
	w.invite(w.ann, "a@example.org")
	return w
}

// keyedOperations returns those that take a key, by the document.
func (w *world) keyedOperations() (names []string) {
	for _, o := range w.operations() {
		if slices.ContainsFunc(o.Parameters, func(p struct{ Name, In string }) bool { return p.Name == repeats.Header && p.In == "header" }) {
			names = append(names, o.name())
		}
	}
	return names
}

// TestEveryPostThatDoesSomethingTakesAKey: a new one has to join.
func TestEveryPostThatDoesSomethingTakesAKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	names := w.keyedOperations()
	for _, o := range w.operations() {
		takes := slices.Contains(names, o.name())
		if want := o.method == http.MethodPost && !slices.Contains(unkeyed(), o.name()); takes != want {
			t.Errorf("%s takes a key: %t", o.name(), takes)
		}
		if _, tried := keyedRequests[o.name()]; takes != tried {
			t.Errorf("%s takes a key: %t, it is tried: %t", o.name(), takes, tried)
		}
	}
}

// read reads a column of the store.
func (w *world) read(query string) (list []string) {
	w.t.Helper()
	db := must(sql.Open("sqlite", "file:"+w.file))(w.t)
	defer db.Close()
	rows := must(db.QueryContext(w.ctx, query))(w.t)
	defer rows.Close()
	for rows.Next() {
		var text string
		ok(w.t, rows.Scan(&text))
		list = append(list, text)
	}
	ok(w.t, rows.Err())
	return list
}

// kept is all that the store has.
func (w *world) kept() string {
	var all []string
	for _, table := range w.read("select name from sqlite_master where type = 'table' and name not in ('requests') order by name") {
		columns := strings.Join(w.read("select name from pragma_table_info('"+table+"')"), " || ' ' || ")
		all = append(all, w.read("select '"+table+" ' || "+columns+" from "+table)...)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// counted is how many rows each table of the store has, and what is in each account.
func (w *world) counted() string {
	w.t.Helper()
	var counts []string
	for _, table := range w.read("select name from sqlite_master where type = 'table' and name not in ('requests') order by name") {
		counts = append(counts, table+" "+w.read("select count(*) from " + table)[0])
	}
	counts = append(counts, w.read("select account || ': ' || balance from accounts order by account")...)
	counts = append(counts, w.read("select batch || ' ' || state from progress order by batch")...)
	counts = append(counts, w.read("select id || ' ' || state from runs order by id")...)
	return strings.Join(counts, "\n")
}

// TestEveryKeyedPostHasItsEffectOnce sends each of them twice, and at the same time.
func TestEveryKeyedPostHasItsEffectOnce(t *testing.T) {
	t.Parallel()
	for name, q := range keyedRequests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var one string
			synctest.Test(t, func(t *testing.T) {
				w := keyedWorld(t, name)
				send := w.keyedSender(name, q)
				synctest.Wait()
				before := w.kept()
				a := send("one")
				synctest.Wait()
				after := w.kept()
				if one = w.counted(); a.StatusCode >= 300 || after == before && !q.calm {
					t.Fatalf("it did nothing: %s", a.shown())
				}
				w.mustRepeat(q, send("one"), a)
				synctest.Wait()
				if now := w.kept(); now != after {
					t.Errorf("sent again it had an effect:\n%s\nwas\n%s", now, after)
				}
				w.close()
			})
			synctest.Test(t, func(t *testing.T) {
				w := keyedWorld(t, name)
				send := w.keyedSender(name, q)
				answers := make([]answer, 4)
				var all sync.WaitGroup
				for i := range answers {
					all.Go(func() { answers[i] = send("one") })
				}
				all.Wait()
				synctest.Wait()
				if now := w.counted(); now != one {
					t.Errorf("%d at the same time have another effect:\n%s\nthan one\n%s", len(answers), now, one)
				}
				did := 0
				for _, a := range answers {
					if a.StatusCode < 300 {
						did++
					} else if p := a.problem(t); p.Status != http.StatusConflict || !q.secret && a.Header.Get("Retry-After") != "1" {
						t.Errorf("at the same time: %s", a.shown())
					}
				}
				if did == 0 || q.secret && did != 1 {
					t.Errorf("%d of them had success", did)
				}
				w.close()
			})
		})
	}
}

// shown is all of an answer that its client goes by.
func (a answer) shown() string {
	return fmt.Sprint(a.StatusCode, a.Header.Get("Content-Type"), a.Header.Get("Location"), string(a.body))
}

// keyedSender sends a request under a key.
func (w *world) keyedSender(name string, q keyed) func(key string) answer {
	switch name {
	case "POST /v1/batches/{id}/pay/approve", "POST /v1/batches/{id}/pay/refuse", "POST /v1/appeals/{assignment}", "POST /v1/work/pay/{assignment}/appeal":
		q = w.payToDecide(name)
	case "POST /v1/invitation/accept":
		token := must(w.admin.Invite(w.ctx, wire.NewInvitations{Pool: 2, Addresses: []string{"c@example.org"}}))(w.t).Invited[0].Token
		q.body = fmt.Sprintf(`{"token": %q}`, token)
		eve := w.person(wire.NewUser{Name: "eve"})
		q.who = func(*world) *client.Client { return eve }
	case "POST /v1/my-tests/{id}/start", "POST /v1/my-tests/{id}/submit":
		body := `{"name": "open", "pass_mark": 60, "questions": "thing,_gold\na dog,yes\n", "open": true, "template": ` + yesOrNo + `}`
		w.send(w.admin, http.MethodPost, "/v1/tests", body)
		w.send(w.admin, http.MethodPost, "/v1/tests", strings.Replace(body, "open", "open too", 1))
		w.send(w.workers[0], http.MethodPost, "/v1/my-tests/2/start", "")
	case "POST /v1/tests/{id}/retire":
		w.test()
	case "POST /v1/invitations/{id}/resend":
		<-time.After(time.Minute) // it expires later then
	case "POST /v1/duty", "POST /v1/duty/decline":
		w.set(`{"retainer": {"rate_micros_per_minute": 60000}}`)
	}
	if prepare := doneOnce[name]; prepare != nil {
		q = prepare(w)
	}
	return func(key string) answer { return w.send(q.who(w), http.MethodPost, q.path, q.body, repeats.Header, key) }
}

// mustRepeat wants an answer to be that of the first request, or to say that it had a secret.
func (w *world) mustRepeat(q keyed, again, first answer) {
	w.t.Helper()
	if !q.secret {
		if again.shown() != first.shown() {
			w.t.Errorf("the first answer is\n%s\nthe second one\n%s", first.shown(), again.shown())
		}
		return
	}
	if p := again.problem(w.t); p.Status != http.StatusConflict || !strings.Contains(p.Detail, "secret") {
		w.t.Errorf("the second answer is %s", again.shown())
	}
	if body := w.read("select max(body) from requests")[0]; body != "" {
		w.t.Errorf("the answer is kept: %s", body)
	}
	w.secretsAreNotKept(first.body)
}

// failing is a store that keeps no answers while it is told so.
type failing struct {
	store.Store
	fails bool
}

func (f *failing) PutRequest(ctx context.Context, r store.Request) error {
	if f.fails {
		return errors.New("the disk is gone")
	}
	return f.Store.PutRequest(ctx, r)
}

// deposit sends a deposit of ann's tenant under a key.
func (w *world) deposit(c *client.Client, key string, micros int) answer {
	return w.send(c, http.MethodPost, "/v1/tenants/n1/deposits", fmt.Sprintf(`{"amount_micros": %d}`, micros), repeats.Header, key)
}

// mustHave wants so much in the account of ann's tenant, but for what everybody is given.
func (w *world) mustHave(want crowd.Money) {
	w.t.Helper()
	if have := must(w.admin.Balance(w.ctx, w.a))(w.t) - 1000*crowd.Unit; have != want {
		w.t.Errorf("the account has %s more than before, want %s", have, want)
	}
}

func TestAnotherRequestUnderAKeyIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if a := w.deposit(w.admin, "one", 5); a.StatusCode != http.StatusNoContent {
		t.Fatalf("the deposit: %s", a.shown())
	}
	for what, a := range map[string]answer{
		"another body":      w.deposit(w.admin, "one", 6),
		"another address":   w.send(w.admin, http.MethodPost, "/v1/tenants/n2/deposits", `{"amount_micros": 5}`, repeats.Header, "one"),
		"another operation": w.send(w.admin, http.MethodPost, "/v1/pools/p1/funds", `{"amount_micros": 5}`, repeats.Header, "one"),
		"another query":     w.send(w.admin, http.MethodPost, "/v1/tenants/n1/deposits?x=1", `{"amount_micros": 5}`, repeats.Header, "one"),
	} {
		if p := a.problem(t); p.Status != http.StatusUnprocessableEntity || len(p.Errors) > 0 && p.Errors[0].Field != repeats.Header || !strings.Contains(p.Detail, repeats.Header) {
			t.Errorf("%s: %s", what, a.shown())
		}
	}
	w.mustHave(5)
	// Another person's key is another one; so is that of a token for one tenant.
	boss := w.person(wire.NewUser{Name: "boss2", Admin: true})
	if a := w.deposit(boss, "one", 6); a.StatusCode != http.StatusNoContent {
		t.Errorf("another person: %s", a.shown())
	}
	w.mustHave(11)
	limited := w.ann.As(must(w.ann.CreateToken(w.ctx, wire.NewToken{Name: "limited", Tenant: w.a}))(t))
	for _, c := range []*client.Client{w.ann, limited} {
		if a := w.send(c, http.MethodPost, "/v1/batches", `{"name": "x", "template": `+yesOrNo+`, "reward_micros": 1}`, repeats.Header, "two"); a.StatusCode != http.StatusCreated {
			t.Errorf("a batch: %s", a.shown())
		}
	}
	if list := must(w.ann.Batches(w.ctx, w.a))(t); len(list) != 2 {
		t.Errorf("%d batches", len(list))
	}
	// Who may no longer do it is not told the answer.
	ok(t, w.send(w.admin, http.MethodPatch, "/v1/users/u2", `{"suspended": true}`).err())
	if a := w.send(w.ann, http.MethodPost, "/v1/batches", `{}`, repeats.Header, "two"); a.StatusCode < 400 || a.StatusCode == 422 {
		t.Errorf("suspended: %s", a.shown())
	}
}

func (a answer) err() error {
	if a.StatusCode >= 300 {
		return errors.New(a.shown())
	}
	return nil
}

func TestKeysThatAreNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, key := range []string{"", `""`, `"`, "a b", `a"b`, `a\b`, "ä", "a\tb", strings.Repeat("x", 256)} {
		if p := w.deposit(w.admin, key, 5).problem(t); p.Status != http.StatusUnprocessableEntity || !strings.Contains(p.Detail, "visible ASCII") {
			t.Errorf("the key %q: %d %s", key, p.Status, p.Detail)
		}
	}
	w.mustHave(0)
	for _, key := range []string{strings.Repeat("x", 255), `"quoted"`, "quoted", "~!#'()[]{}<>,;:=?/"} {
		if a := w.deposit(w.admin, key, 5); a.StatusCode != http.StatusNoContent {
			t.Errorf("the key %q: %s", key, a.shown())
		}
	}
	w.mustHave(15)
	req := must(http.NewRequestWithContext(w.ctx, http.MethodPost, w.admin.URL+"/v1/tenants/n1/deposits", strings.NewReader(`{"amount_micros": 5}`)))(t)
	req.Header.Set("Authorization", "Bearer "+w.admin.Token)
	req.Header[repeats.Header] = []string{"a", "b"}
	resp := must(w.admin.HTTP.Do(req))(t)
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("two keys: status %d", resp.StatusCode)
	}
	w.mustHave(15)
}

// TestAClientWithKeysSendsAgain what it had no answer to, once.
func TestAClientWithKeysSendsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		line := &lossy{RoundTripper: w.admin.HTTP.Transport}
		c := w.admin.As(w.admin.Token)
		c.HTTP, c.Key = &http.Client{Transport: line}, rand.Text
		ok(t, c.Deposit(w.ctx, w.a, 5, ""))
		ok(t, c.Deposit(w.ctx, w.a, 5, ""))
		w.mustHave(10)
		c.Key = nil
		ok(t, c.Deposit(w.ctx, w.a, 5, ""))
		if line.lost = 0; c.WithKey("x").Deposit(w.ctx, w.a, 5, "") != nil || line.lost != 1 {
			t.Error("a key of the caller's is not used")
		}
		ok(t, c.WithKey("x").Deposit(w.ctx, w.a, 5, ""))
		w.mustHave(20)
		w.close()
	})
}
