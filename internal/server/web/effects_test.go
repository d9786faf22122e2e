package web

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// effects are the routes of forms that make or do something: what is typed into
// them is read back in another way. They go in order, each on what those
// before it have left.
var effects = []struct {
	pattern string
	do      func(t *testing.T, c *company)
}{
	{"POST /admin/tenants", func(t *testing.T, c *company) {
		c.boss.get("/admin").form("/admin/tenants").set("name", "Bees").set("weight", "2.5").send().want(200)
		x := read(c.app.Tenants.List(t.Context(), c.boss.principal()))(t)[1]
		equal(t, x.Name, "Bees")
		equal(t, x.Weight, 2.5)
	}},
	{"POST /admin/tenants/{tenant}/deposit", func(t *testing.T, c *company) {
		c.boss.get("/admin").form("/admin/tenants/n2/deposit").set("amount", "12.34").set("note", "for March").send().want(200)
		have, entries, err := c.app.Tenants.Account(t.Context(), c.boss.principal(), 2, 0, 1)
		equal(t, err, nil)
		equal(t, have, 12_340_000)
		equal(t, entries[0].Note, "for March")
	}},
	{"POST /tenants/{tenant}/deposit", func(t *testing.T, c *company) {
		c.boss.get("/tenants/n2").form("/tenants/n2/deposit").set("amount", "2.34").set("note", "for April").send().want(200, "2.34", "for April").at("/tenants/n2")
	}},
	{"POST /admin/tenants/{tenant}/stop", func(t *testing.T, c *company) {
		stops(t, func() bool { return read(c.app.Tenants.List(t.Context(), c.boss.principal()))(t)[1].Stopped }, c.boss, "/admin/tenants/n2/stop")
	}},
	{"POST /tenants/{tenant}/stop", func(t *testing.T, c *company) {
		stops(t, func() bool { return read(c.app.Tenants.List(t.Context(), c.boss.principal()))(t)[0].Stopped }, c.req, "/tenants/n1/stop")
	}},
	{"POST /admin/services", func(t *testing.T, c *company) {
		c.boss.post("/admin/services", url.Values{"name": {"scores"}, "url": {"https://scores.example/v1"}, "concurrency": {"4"}, "rate": {"600/m"}, "tenants": {"n2", "n1"}}).want(200)
		x := read(c.app.Services.Get(t.Context(), c.boss.principal(), "scores"))(t)
		equal(t, x.URL, "https://scores.example/v1")
		equal(t, x.Concurrency, 4)
		equal(t, x.Rate.String(), "600/m")
		equal(t, fmt.Sprint(x.Service.Tenants), "[n2 n1]")
		equal(t, x.AllTenants, false)
		c.boss.post("/admin/services", url.Values{"name": {"open"}, "url": {"https://o.example"}, "concurrency": {"1"}, "all_tenants": {"1"}}).want(200)
		equal(t, read(c.app.Services.Get(t.Context(), c.boss.principal(), "open"))(t).AllTenants, true)
	}},
	{"POST /admin/services/{service}/remove", func(t *testing.T, c *company) {
		c.boss.get("/admin/services/open/remove").want(200, "Remove this service?", "open").form("/admin/services/open/remove").send().want(200, "The service is removed.")
		equal(t, len(read(c.app.Services.List(t.Context(), c.boss.principal()))(t)), 1)
	}},
	{"POST /admin/pools", func(t *testing.T, c *company) {
		c.boss.get("/admin").form("/admin/pools").set("name", "Night").set("policy", "edf").send().want(200)
		x := read(c.app.Pools.Get(t.Context(), c.boss.principal(), 2))(t)
		equal(t, x.Name, "Night")
		equal(t, x.Policy, "edf")
	}},
	{"POST /admin/pools/{pool}/stop", func(t *testing.T, c *company) {
		stops(t, func() bool { return read(c.app.Pools.Get(t.Context(), c.boss.principal(), 2))(t).Pool.Stopped }, c.boss, "/admin/pools/p2/stop")
	}},
	{"POST /admin/stop", func(t *testing.T, c *company) {
		stops(t, func() bool {
			pools := read(c.app.Pools.List(t.Context(), c.boss.principal()))(t)
			return pools[0].Pool.Stopped && pools[1].Pool.Stopped
		}, c.boss, "/admin/stop")
	}},
	{"POST /admin/pools/{pool}/fund", func(t *testing.T, c *company) {
		funds := func() crowd.Money {
			return read(c.app.Pools.Get(t.Context(), c.boss.principal(), 2))(t).Status.Funds.Funds
		}
		c.boss.get("/admin/pools/p2").form("/admin/pools/p2/fund").set("amount", "7").press("do", "add").send().want(200)
		equal(t, funds(), 7*crowd.Unit)
		c.boss.get("/admin/pools/p2").form("/admin/pools/p2/fund").set("amount", "2.5").press("do", "take").send().want(200)
		equal(t, funds(), 4_500_000)
	}},
	{"POST /admin/people", func(t *testing.T, c *company) {
		c.boss.post("/admin/people", url.Values{"name": {"dora"}, "full_name": {"Dora D"}, "email": {"dora@example.org"}, "pool": {"p2"}, "tenants": {"n1", "n2"}, "roles": {"finance n1/viewer"}, "admin": {"1"}, "qualifications": {"french 80\nlatin"}}).want(200)
		x := c.personNamed(t, "dora")
		equal(t, x.FullName+" "+x.Email, "Dora D dora@example.org")
		equal(t, x.Pool, 2)
		equal(t, x.Admin, true)
		same(t, x.Tenants, []crowd.TenantID{1, 2})
		same(t, x.Roles, []store.HeldRole{{Role: "finance"}, {Role: "viewer", Tenant: 1}})
		same(t, x.Qualifications, map[string]int{"french": 80, "latin": 100})
	}},
	{"POST /admin/people/{user}/suspend", func(t *testing.T, c *company) {
		id := c.personNamed(t, "dora").ID.String()
		for _, on := range []string{"1", ""} {
			c.boss.post("/admin/people/"+id+"/suspend", url.Values{"suspended": {on}}).want(200, map[bool]string{true: "that they made for others have ended, too", false: "Saved."}[on != ""])
			equal(t, c.personNamed(t, "dora").Suspended, on != "")
		}
	}},
	{"POST /admin/people/{user}/link", func(t *testing.T, c *company) {
		p := c.boss.post("/admin/people/"+c.personNamed(t, "dora").ID.String()+"/link", nil).want(200)
		c.browser(t, "dora").get(read(url.Parse(secretOn(p)))(t).RequestURI()).want(200, "Welcome, dora")
	}},
	{"POST /setup", func(t *testing.T, c *company) {
		link := secretOn(c.boss.post("/admin/people/"+c.personNamed(t, "dora").ID.String()+"/link", nil))
		dora := c.browser(t, "dora")
		page := dora.get(read(url.Parse(link))(t).RequestURI())
		equal(t, page.Header.Get("Referrer-Policy"), "no-referrer")
		page.form("/setup").set("password", password).set("again", password+"x").send().want(http.StatusUnprocessableEntity)
		page.form("/setup").set("password", password).set("again", password).send().want(200)
		equal(t, dora.principal().User.Name, "dora")
		page.form("/setup").set("password", password).set("again", password).send().want(http.StatusNotFound)
	}},
	{"POST /signin", func(t *testing.T, c *company) {
		dora := c.browser(t, "dora")
		dora.get("/signin?next=/admin/people").form("/signin").set("name", "dora").set("password", password+"x").send().want(http.StatusUnauthorized)
		dora.get("/signin?next=/admin/people").form("/signin").set("name", " dora").set("password", password).send().want(200).at("/admin/people")
	}},
	{"POST /signout", func(t *testing.T, c *company) {
		b := c.browser(t, "dora")
		b.post("/signin", url.Values{"name": {"dora"}, "password": {password}}).want(200)
		b.get("/tokens").want(200).form("/signout").send().want(200, "You are signed out").at("/signin")
		b.get("/tokens").at("/signin")
	}},
	{"POST /account/password", func(t *testing.T, c *company) {
		b, other := c.browser(t, "dora"), c.browser(t, "dora")
		for _, x := range []*browser{b, other} {
			x.post("/signin", url.Values{"name": {"dora"}, "password": {password}}).want(200)
		}
		change := func(old, password, again string) *pageOf {
			return b.get("/account").form("/account/password").set("old", old).set("password", password).set("again", again).send()
		}
		const next = "another password of some words"
		change("wrong wrong wrong", next, next).want(422, "not the password that you have")
		change(password, next, next+"x").want(422, "not the same")
		other.get("/account").want(200, "(here)").at("/account")
		change(password, next, next).want(200, "Your password is changed").at("/account")
		other.get("/account").at("/signin")
		change(next, password, password).want(200).at("/account")
	}},
	{"POST /account/sessions/{session}/end", func(t *testing.T, c *company) {
		b, other := c.browser(t, "dora"), c.browser(t, "dora")
		for _, x := range []*browser{b, other} {
			x.post("/signin", url.Values{"name": {"dora"}, "password": {password}}).want(200)
		}
		b.get("/account").form(fmt.Sprintf("/account/sessions/%d/end", other.principal().Token.ID)).send().want(200, "The session is ended")
		other.get("/account").at("/signin")
		b.post("/account/sessions/99999/end", nil).want(http.StatusNotFound)
	}},
	{"POST /account/signout", func(t *testing.T, c *company) {
		b, other := c.browser(t, "dora"), c.browser(t, "dora")
		for _, x := range []*browser{b, other} {
			x.post("/signin", url.Values{"name": {"dora"}, "password": {password}}).want(200)
		}
		b.get("/account").form("/account/signout").send().want(200, "You are signed out").at("/signin")
		b.get("/account").at("/signin")
		other.get("/account").at("/signin")
	}},
	{"POST /tokens", func(t *testing.T, c *company) {
		p := c.req.get("/tokens").form("/tokens").set("name", "nightly").set("life", "3").set("roles", "requester").set("scopes", "batches.read").send().want(200)
		x := read(c.app.Accounts.Tokens(t.Context(), c.req.principal(), 0))(t)[0]
		equal(t, x.Name, "nightly")
		equal(t, x.ExpiresAt.Sub(x.CreatedAt).Round(time.Minute), 3*24*time.Hour)
		same(t, x.Roles, []string{"requester"})
		same(t, x.Scopes, []string{"batches.read"})
		equal(t, read(c.app.Accounts.Authenticate(t.Context(), secretOn(p), netip.Addr{}))(t).Token.ID, x.ID)
		c.req.get("/tokens").form("/tokens").set("name", "both").set("life", "3").set("forever", "1").send().want(422, "not both")
		c.req.get("/tokens").form("/tokens").set("name", "here").set("forever", "1").set("networks", "10.0.0.0/8  192.0.2.7").send().want(200)
		x = read(c.app.Accounts.Tokens(t.Context(), c.req.principal(), 0))(t)[1]
		equal(t, x.ExpiresAt.IsZero(), true)
		same(t, x.Networks, []string{"10.0.0.0/8", "192.0.2.7/32"})
		c.req.get("/tokens").want(200, "192.0.2.7/32").form(fmt.Sprintf("/tokens/%d/revoke", x.ID)).send().want(200)
	}},
	{"POST /tokens/{token}/revoke", func(t *testing.T, c *company) {
		x := read(c.app.Accounts.Tokens(t.Context(), c.req.principal(), 0))(t)[0]
		c.req.get("/tokens").form(fmt.Sprintf("/tokens/%d/revoke", x.ID)).send().want(200)
		equal(t, len(read(c.app.Accounts.Tokens(t.Context(), c.req.principal(), 0))(t)), 0)
	}},
	{"POST /tenants/{tenant}/secrets", func(t *testing.T, c *company) {
		c.req.get("/tenants/n1/secrets").form("/tenants/n1/secrets").set("name", "SCORES").set("value", "s3cret").set("hosts", "a.example  b.example:81").send().want(200, "SCORES").without("s3cret")
		same(t, read(c.app.Tenants.Secrets(t.Context(), c.req.principal(), 1))(t), []store.TenantSecret{{Name: "SCORES", Hosts: []string{"a.example", "b.example:81"}}})
	}},
	{"POST /tenants/{tenant}/secrets/{secret}/delete", func(t *testing.T, c *company) {
		c.req.get("/tenants/n1/secrets/SCORES/delete").want(200).form("/tenants/n1/secrets/SCORES/delete").send().want(200)
		equal(t, len(read(c.app.Tenants.Secrets(t.Context(), c.req.principal(), 1))(t)), 0)
	}},
	{"POST /batches", func(t *testing.T, c *company) {
		c.req.get("/batches/new").form("/batches").set("name", "Cats").set("tenant", "n1").set("kind", "short_text").set("question", "What is it?").set("skip_bad", "1").
			sendFile("cats.csv", "photo,_workers\n1.png,"+c.pseudonym(t, c.workers[0])+"\n2.png,nobody\n").want(200, "1 row left out")
		b := c.view(t, 1)
		equal(t, b.Name, "Cats")
		equal(t, b.Spec.Tenant, 1)
		equal(t, b.Spec.Tasks, 1)
		if !strings.Contains(string(b.Template), "What is it?") || !strings.Contains(string(b.Template), "short_text") {
			t.Errorf("the template is %s", b.Template)
		}
	}},
	{"POST /batches/{batch}/upload", func(t *testing.T, c *company) {
		who := c.pseudonym(t, c.workers[0])
		bad := "photo,_workers\n1.png,nobody\n2.png," + who + "\n3.png," + who + "\n"
		c.req.get("/batches/b1").form("/batches/b1/upload").sendFile("cats.csv", bad).want(http.StatusUnprocessableEntity, "nothing was kept")
		c.req.get("/batches/b1").form("/batches/b1/upload").set("skip_bad", "1").sendFile("cats.csv", bad).want(200, "2 rows kept, 1 row left out")
		equal(t, c.view(t, 1).Spec.Tasks, 2)
	}},
	{"POST /batches/{batch}/settings", func(t *testing.T, c *company) {
		f := c.req.get("/batches/b1").form("/batches/b1/settings").set("rule", "agree").set("agree", "2").set("of", "4").set("reward", "0.5").set("budget", "8").set("lease", "1.5").set("task_time", "2.5").set("priority", "3").set("small_crowd", "1")
		f.press("then", "launch").send().want(200, "Launched")
		b := c.view(t, 1)
		equal(t, b.Progress.State, crowd.BatchRunning)
		equal(t, b.Spec.Rule, label.Agree(2, 4))
		equal(t, b.Spec.Reward, crowd.Unit/2)
		equal(t, b.Progress.Escrow, 8*crowd.Unit)
		equal(t, b.Spec.Lease, 90*time.Second)
		equal(t, b.Spec.TaskTime, 2500*time.Millisecond)
		equal(t, b.Progress.Priority, 3)
	}},
	{"POST /batches/{batch}/topup", func(t *testing.T, c *company) {
		c.req.get("/batches/b1").form("/batches/b1/topup").set("amount", "1.25").send().want(200)
		equal(t, c.view(t, 1).Progress.Escrow, 9_250_000)
	}},
	{"POST /batches/{batch}/tasks", func(t *testing.T, c *company) {
		before := c.view(t, 1).Spec.Tasks
		c.req.get("/batches/b1").form("/batches/b1/tasks").sendFile("x.csv", "other\n1\n").want(http.StatusUnprocessableEntity, "has no column")
		c.req.get("/batches/b1").form("/batches/b1/tasks").set("add_budget", "1").sendFile("x.csv", c.view(t, 1).Columns[0]+"\n1\n2\n").want(200, "The tasks are added.")
		equal(t, c.view(t, 1).Spec.Tasks, before+2)
	}},
	{"POST /batches/{batch}/takeout", func(t *testing.T, c *company) {
		atTop(t, c.req.get("/batches/b1").form("/batches/b1/takeout").set("task", "t9.1").send().want(422, "is not a task of this batch"), "#takeout-task")
		atTop(t, c.req.get("/batches/b1").form("/batches/b1/edit").set("priority", "-9").send().want(422), "#edit-priority")
		c.req.get("/batches/b1").form("/batches/b1/takeout").set("task", "3").send().want(200, "Take t1.3 out?", "cannot be undone")
		c.req.get("/batches/b1/takeout?task=t1.3").want(200, "Take t1.3 out?") // Back comes here, and sends nothing
		c.req.get("/batches/b1/takeout?task=t9.1").want(422, "is not a task of this batch")
		equal(t, c.view(t, 1).Progress.Removed, 0) // it was only asked
		c.req.get("/batches/b1").form("/batches/b1/takeout").set("task", "3").send().form("/batches/b1/takeout").send().want(200, "The task is taken out", "1 taken out")
		c.req.get("/batches/b1").form("/batches/b1/takeout").set("task", "t1.4").send().form("/batches/b1/takeout").send().want(200, "2 taken out")
		equal(t, c.view(t, 1).Progress.Removed, 2) // those that were added
	}},
	{"POST /batches/{batch}/do", func(t *testing.T, c *company) {
		for _, x := range []struct {
			do      string
			state   crowd.BatchState
			stopped bool
		}{
			{"pause", crowd.BatchOnHold, false}, {"resume", crowd.BatchRunning, false}, {"stop", crowd.BatchRunning, true}, {"lift", crowd.BatchRunning, false},
		} {
			c.req.post("/batches/b1/do", url.Values{"do": {x.do}}).want(200)
			equal(t, c.view(t, 1).Progress.State, x.state)
			equal(t, c.view(t, 1).Progress.Stopped, x.stopped)
		}
	}},
	{"POST /work/submit", func(t *testing.T, c *company) {
		c.workers[0].get("/work").want(200).form("/work/submit").set("s.label", "a cat").send().want(200, "Your answer is in")
		equal(t, c.answers(t, 1)[0].Key, "a cat")
	}},
	{"POST /work/skip", func(t *testing.T, c *company) {
		held := read(c.app.Work.Current(t.Context(), c.workers[0].principal()))(t)
		c.workers[0].get("/work").form("/work/skip").send().want(200)
		equal(t, c.stateOf(t, 1, held.Assignment), crowd.Skipped)
	}},
	{"POST /work/next", func(t *testing.T, c *company) {
		c.workers[1].post("/work/next?wait=0", nil).want(200)
		equal(t, read(c.app.Work.Current(t.Context(), c.workers[1].principal()))(t) == nil, true) // the tasks name w1
	}},
	{"POST /work/return", func(t *testing.T, c *company) {
		c.launchCats("More")
		held := read(c.app.Work.Next(t.Context(), c.workers[0].principal(), 0))(t)
		c.workers[0].get("/work").form("/work/return").send().want(200)
		equal(t, c.stateOf(t, held.Batch, held.Assignment), crowd.Returned)
	}},
	{"POST /work/undo", undoEffect}, {"POST /work/revise", reviseEffect},
	{"POST /work/report", func(t *testing.T, c *company) {
		held := read(c.app.Work.Next(t.Context(), c.workers[0].principal(), 0))(t)
		c.workers[0].get("/work/reports").want(200, "You have not reported a task")
		c.workers[0].get("/work").form("/work/report").set("text", " ").send().want(422, "Your report was not taken: text: is missing")
		c.workers[0].get("/work").form("/work/report").set("text", "<b>no picture</b>").send().want(200, "the requester sees what you said")
		equal(t, c.stateOf(t, held.Batch, held.Assignment), crowd.Reported)
		c.workers[0].get("/work").without("value=\"" + held.Assignment.String() + "\"")
		c.workers[0].get("/work/reports").want(200, "no picture", "More", "Not answered yet").without("<b>no picture")
		c.req.get("/batches/"+held.Batch.String()+"/reports").want(200, "no picture", "w_").without("<b>no picture")
	}},
	{"POST /work/heartbeat", func(t *testing.T, c *company) {
		held := read(c.app.Work.Next(t.Context(), c.workers[0].principal(), 0))(t)
		c.ahead.Add(int64(10 * time.Second))
		c.workers[0].post("/work/heartbeat", url.Values{"assignment": {held.Assignment.String()}}).want(200)
		if again := read(c.app.Work.Current(t.Context(), c.workers[0].principal()))(t); again.Expires.Sub(held.Expires) < 9*time.Second {
			t.Errorf("the lease ends at %s, and did at %s", again.Expires, held.Expires)
		}
		c.workers[1].post("/work/heartbeat", url.Values{"assignment": {held.Assignment.String()}}).want(http.StatusNotFound)
	}},
	{"POST /work/stop", func(t *testing.T, c *company) {
		c.workers[1].get("/work").want(200)
		c.workers[1].post("/work/stop", nil).want(200)
		equal(t, read(c.app.Duty.Get(t.Context(), c.workers[1].principal()))(t).Leaves, engine.Left) // when the task is done
	}},
	{"POST /work/duty", func(t *testing.T, c *company) {
		c.workers[1].post("/work/duty", nil).want(200)
		equal(t, read(c.app.Duty.Get(t.Context(), c.workers[1].principal()))(t).Leaves, "")
	}},
	{"POST /admin/pools/{pool}/transfer", func(t *testing.T, c *company) {
		id := c.workers[1].principal().User.ID
		c.workers[1].get("/work").form("/work/return").send().want(200)
		c.boss.post("/admin/pools/p1/transfer", url.Values{"worker": {id.String()}, "to": {"p2"}}).want(200)
		equal(t, read(c.app.Accounts.User(t.Context(), c.boss.principal(), id))(t).Pool, 2)
	}},
	{"POST /tenants/{tenant}/block", func(t *testing.T, c *company) {
		id := c.workers[0].principal().User.ID
		who := read(c.app.Accounts.Worker(t.Context(), c.boss.principal(), 1, id.String()))(t).Pseudonym
		for _, on := range []string{"1", ""} {
			c.req.post("/tenants/n1/block", url.Values{"worker": {who}, "blocked": {on}, "batch": {"b1"}}).want(200).at("/batches/b1/quality")
			equal(t, len(read(c.app.Accounts.User(t.Context(), c.boss.principal(), id))(t).BlockedBy), len(on))
			page := c.req.get("/batches/b1/quality").want(200)
			if on != "" {
				page.want(200, who+" blocked", "Unblock").without("– Block")
			} else {
				page.want(200, "– Block").without("· blocked", "Unblock")
			}
		}
	}},
	{"POST /tests", func(t *testing.T, c *company) {
		c.boss.get("/tests").form("/tests").set("name", "Birds").set("grants", "Acme/ornithology").set("tenant", "n1").set("pass_mark", "60").set("draw", "2").set("tries", "4").
			set("wait", "1.5").set("time_limit", "7").set("open", "1").set("question", "Which bird is ${photo}?").sendFile("q.csv", "photo,_gold\n1.png,yes\n2.png,no\n3.png,no\n").want(200)
		x := read(c.app.Tests.Get(t.Context(), c.boss.principal(), 1))(t)
		equal(t, fmt.Sprint(x.Tenant, x.Name, x.Grants, x.PassMark, x.Draw, x.Questions, x.Tries, x.Wait, x.TimeLimit, x.Open), fmt.Sprint(crowd.TenantID(1), "Birds", "ornithology", 60, 2, 3, 4, 90*time.Minute, 7*time.Minute, true))
		if !strings.Contains(string(x.Template), "Which bird") {
			t.Errorf("the template is %s", x.Template)
		}
	}},
	{"POST /qualify/{test}/start", func(t *testing.T, c *company) {
		c.workers[0].get("/qualify/1").want(200).form("/qualify/1/start").send().want(200)
		equal(t, read(c.app.Tests.Take(t.Context(), c.workers[0].principal(), 1))(t).Current.N, 1)
	}},
	{"POST /qualify/{test}/answers", func(t *testing.T, c *company) {
		f := c.workers[0].get("/qualify/1").form("/qualify/1/answers").set("s.q1.label", "yes").set("s.q2.label", "no")
		f.send().want(200)
		got := read(c.app.Tests.Tries(t.Context(), c.boss.principal(), 1, 0, 1))(t)[0]
		if text := string(got.Answers); strings.Count(text, `"yes"`) < 1 || strings.Count(text, `"no"`) < 1 {
			t.Errorf("the answers are %s", text)
		}
	}},
	{"POST /tests/{test}/retire", func(t *testing.T, c *company) {
		for _, on := range []string{"1", ""} {
			c.boss.post("/tests/1/retire", url.Values{"retired": {on}}).want(200)
			equal(t, read(c.app.Tests.Get(t.Context(), c.boss.principal(), 1))(t).Retired, on != "")
		}
	}},
	{"POST /invitations", func(t *testing.T, c *company) {
		read(c.app.Pools.Grant(t.Context(), c.boss.principal(), 2, store.PoolGrant{Tenant: 1}))(t)
		c.boss.get("/invitations").form("/invitations").set("addresses", "a@example.org b@example.org").set("pool", "p2").set("test", "1").set("tenant", "n1").set("days", "5").set("note", "Do come.").send().want(200)
		x := read(c.app.Invitations.Get(t.Context(), c.boss.principal(), 2))(t)
		equal(t, fmt.Sprint(x.Address, x.Pool, x.Test, x.Tenant, x.Note, x.ExpiresAt.Sub(x.CreatedAt).Round(time.Minute)), fmt.Sprint("b@example.org", crowd.PoolID(2), 1, crowd.TenantID(1), "Do come.", 5*24*time.Hour))
	}},
	{"POST /invitations/{invitation}/resend", func(t *testing.T, c *company) {
		before := read(c.app.Invitations.Get(t.Context(), c.boss.principal(), 2))(t).ExpiresAt
		c.boss.post("/invitations/2/resend", nil).want(200)
		if after := read(c.app.Invitations.Get(t.Context(), c.boss.principal(), 2))(t).ExpiresAt; !after.After(before) {
			t.Errorf("it expires at %s, and did at %s", after, before)
		}
	}},
	{"POST /invitations/{invitation}/withdraw", func(t *testing.T, c *company) {
		c.boss.post("/invitations/2/withdraw", nil).want(200)
		equal(t, read(c.app.Invitations.Get(t.Context(), c.boss.principal(), 2))(t).State, store.InvitationWithdrawn)
	}},
	{"POST /invitation", func(t *testing.T, c *company) {
		r := read(c.app.Invitations.Invite(t.Context(), c.boss.principal(), accounts.NewInvitations{Pool: 2, Addresses: []string{"joe@example.org", "moe@example.org"}}))(t)
		joe, at := c.browser(t, "joe"), "/invitation?token="+r.Invited[0].Token
		page := joe.get(at).want(200)
		equal(t, page.Header.Get("Referrer-Policy"), "no-referrer")
		page.form("/invitation").set("name", "joe").set("full_name", "Joe J").set("password", password).set("again", password).press("do", "join").send().want(200)
		x := c.personNamed(t, "joe")
		equal(t, fmt.Sprint(x.FullName, x.Email, x.Pool), fmt.Sprint("Joe J", "joe@example.org", crowd.PoolID(2)))
		for id := range crowd.PoolID(2) { // where pools lend people, they are asked which work they like
			_ = read(c.app.Pools.Change(t.Context(), c.boss.principal(), id+1, func(p *store.Pool) error { p.Control.Balance = true; return nil }))(t)
		}
		n := read(c.app.Invitations.Invite(t.Context(), c.boss.principal(), accounts.NewInvitations{Pool: 2, Addresses: []string{"flo@example.org"}}))(t)
		c.browser(t, "flo").get("/invitation?token="+n.Invited[0].Token).form("/invitation").set("name", "flo").set("password", password).set("again", password).press("do", "join").send().
			want(200, "Which work do you like?", "Welcome!").at("/work/wishes")
		c.browser(t, "moe").get("/invitation?token="+r.Invited[1].Token).form("/invitation").press("do", "decline").send().want(200)
		equal(t, read(c.app.Invitations.Get(t.Context(), c.boss.principal(), r.Invited[1].ID))(t).State, store.InvitationDeclined)
	}},
	{"POST /runs", func(t *testing.T, c *company) {
		f := c.boss.get("/runs/new").form("/runs").set("text", oneQuery).set("name", "March").set("tenant", "n1").set("budget", "9").press("then", "make")
		f.send().want(200).at("/runs/r1")
		x := read(c.app.Runs.Get(t.Context(), c.boss.principal(), 1))(t).Run
		equal(t, fmt.Sprint(x.Name, x.Tenant, x.Budget), fmt.Sprint("March", crowd.TenantID(1), 9*crowd.Unit))
	}},
	{"POST /runs/{run}/inputs", func(t *testing.T, c *company) {
		f := c.boss.get("/runs/r1").form("/runs/r1/inputs")
		f.sendFile("t.csv", "name\na\nb\n").want(200)
		x := read(c.app.Runs.Get(t.Context(), c.boss.principal(), 1))(t).Nodes[0].Node
		equal(t, fmt.Sprint(x.Columns, x.Last), fmt.Sprint([]string{"name"}, 2))
	}},
	{"POST /runs/{run}/rows", func(t *testing.T, c *company) {
		id := read(c.app.Runs.Make(t.Context(), c.boss.principal(), orchestrator.NewRun{Tenant: 1, Text: oneQuery, Open: []string{"things"}}))(t).Run.ID
		read(c.app.Runs.Start(t.Context(), c.boss.principal(), id, false))(t)
		path := "/runs/" + id.String()
		c.boss.get(path).form(path+"/rows").sendFile("t.csv", "name\na\nb\n").want(200, "The rows are added.")
		equal(t, read(c.app.Runs.Get(t.Context(), c.boss.principal(), id))(t).Nodes[0].Node.OK, int64(2))
	}},
}

const oneQuery = "workflow: Cats\ninputs: {things: {columns: [name]}}\nsteps: {names: {from: things, sql: select name from things}}\n"

// read returns what was read, or ends the test.
func read[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func equal[T comparable](t testing.TB, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func same(t testing.TB, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// stops presses an emergency stop, and lifts it.
func stops(t *testing.T, stopped func() bool, b *browser, path string) {
	t.Helper()
	for _, on := range []string{"1", ""} {
		b.post(path, url.Values{"stopped": {on}}).want(200)
		equal(t, stopped(), on != "")
	}
}

func (c *company) view(t testing.TB, id crowd.BatchID) batches.BatchView {
	t.Helper()
	return read(c.app.Batches.Get(t.Context(), c.boss.principal(), id))(t)
}

func (c *company) answers(t testing.TB, id crowd.BatchID) []store.Annotation {
	t.Helper()
	_, rows, err := c.app.Batches.Annotations(t.Context(), c.boss.principal(), id, false)
	equal(t, err, nil)
	var list []store.Annotation
	for a, err := range rows {
		equal(t, err, nil)
		list = append(list, a.Annotation)
	}
	return list
}

func (c *company) stateOf(t testing.TB, id crowd.BatchID, a crowd.AssignmentID) crowd.AssignmentState {
	t.Helper()
	list := c.answers(t, id)
	i := slices.IndexFunc(list, func(x store.Annotation) bool { return x.Assignment == a })
	if i < 0 {
		t.Fatalf("there is no %s", a)
	}
	return list[i].State
}

func (c *company) personNamed(t testing.TB, name string) store.User {
	t.Helper()
	all := read(c.app.Accounts.Users(t.Context(), c.boss.principal(), 0, 0, 1000))(t)
	i := slices.IndexFunc(all, func(u store.User) bool { return u.Name == name })
	if i < 0 {
		t.Fatalf("there is nobody named %s", name)
	}
	return all[i]
}

// TestFormsDoWhatIsTyped: and every route that takes a form is read back here,
// in TestFormsKeepWhatIsTyped, or where it says.
func TestFormsDoWhatIsTyped(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	known := map[string]bool{}
	for _, x := range append(effects, laterEffects...) {
		known[x.pattern] = true
		if x.do(t, c); t.Failed() {
			t.Fatalf("%s is not as it was typed; those after it build on it", x.pattern)
		}
	}
	for _, rt := range routes() {
		_, shown := edits[rt.pattern]
		if strings.HasPrefix(rt.pattern, "POST ") && !shown && !known[rt.pattern] && elsewhere[rt.pattern] == "" {
			t.Errorf("%s: nothing reads back what is typed there", rt.pattern)
		}
	}
}
