package web

import (
	"database/sql"
	"fmt"
	"github.com/throng-dev/throng/internal/server/access"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// repeatable are the actions that may be sent again without a key, and why.
var repeatable = map[string][]string{
	"it sets what is, or what is not, and that again": {
		"POST /signout", "POST /account/password", "POST /account/sessions/{session}/end", "POST /account/signout", "POST /tokens/{token}/revoke", "POST /batches/{batch}/settings", "POST /batches/{batch}/template", "POST /batches/{batch}/edit", "POST /batches/{batch}/takeout", "POST /batches/{batch}/reports", "POST /batches/{batch}/results/{task}/label", "POST /batches/{batch}/results/{task}/withdraw", "POST /batches/{batch}/quality/undo", "POST /batches/{batch}/results/{task}/send-back",
		"POST /tenants/{tenant}/secrets", "POST /tenants/{tenant}/secrets/{secret}/delete", "POST /invitations/{invitation}/withdraw", "POST /tests/{test}/retire",
		"POST /tenants/{tenant}/stop", "POST /tenants/{tenant}/quotas", "POST /tenants/{tenant}/retention", "POST /tenants/{tenant}/block", "POST /admin/stop", "POST /admin/tenants/{tenant}", "POST /admin/tenants/{tenant}/stop",
		"POST /admin/pools/{pool}", "POST /admin/pools/{pool}/settings", "POST /admin/pools/{pool}/stop", "POST /admin/pools/{pool}/transfer",
		"POST /admin/services/{service}", "POST /admin/services/{service}/remove", "POST /admin/people/{user}", "POST /admin/people/{user}/suspend",
		"POST /account/totp", "POST /account/totp/confirm", "POST /account/factors/{factor}/remove", "POST /admin/people/{user}/factors/reset", "POST /people/{user}/erase",
		"POST /admin/roles/{role}", "POST /admin/roles/{role}/remove", "POST /tenants/{tenant}/roles/{role}", "POST /tenants/{tenant}/roles/{role}/remove",
		"POST /tenants/{tenant}/give", "POST /admin/people/{user}/give", "POST /admin/tokens/{token}/revoke", "POST /admin/providers/{provider}/tokens/{token}/revoke",
	},
	"it is begun anew, takes a proof that counts once, or is there already": {
		"POST /account/address", "POST /account/address/ask", "POST /verify", "POST /admin/people/{user}/address/ask",
		"POST /account/totp", "POST /account/totp/confirm", "POST /account/passkey", "POST /account/passkey/confirm", "POST /account/recovery",
		"POST /account/factors/{factor}/remove", "POST /admin/people/{user}/factors/reset",
	},
	"a state is left once":                     {"POST /work/pay", "POST /batches/{batch}/pay", "POST /appeals", "POST /batches/{batch}/launch", "POST /batches/{batch}/do", "POST /runs/{run}/do", "POST /runs/{run}/inputs"},
	"it takes the place of what was there":     {"POST /batches/{batch}/upload", "POST /account/recovery"},
	"the rows of a page are a feed of its own": {"POST /runs/{run}/rows"},
	"a try runs, or has been submitted":        {"POST /qualify/{test}/start", "POST /qualify/{test}/answers"},
}

// TestEveryFormThatMakesSomethingHasAKey: a new action is either of them.
func TestEveryFormThatMakesSomethingHasAKey(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, list := range repeatable {
		for _, pattern := range list {
			known[pattern] = true
		}
	}
	for _, rt := range routes() {
		if !strings.HasPrefix(rt.pattern, "POST ") || rt.access == public || rt.access.Needs == access.CanWork {
			if rt.once {
				t.Errorf("%s has no form with a key", rt.pattern)
			}
			continue
		}
		if rt.once == known[rt.pattern] {
			t.Errorf("%s has a key: %t, may be sent again without one: %t", rt.pattern, rt.once, known[rt.pattern])
		}
		if _, tried := sentTwice[rt.pattern]; tried != rt.once {
			t.Errorf("%s has a key: %t, is tried: %t", rt.pattern, rt.once, tried)
		}
		delete(known, rt.pattern)
	}
	for pattern := range known {
		t.Errorf("there is no %s", pattern)
	}
}

const flowOfCats = "workflow: Cats\ninputs: {things: {columns: [name], open: true}}\nsteps: {names: {from: things, sql: select name from things}}\n"

// sentTwice fills in the form of each action with a key.
var sentTwice = map[string]func(c *company) *sheet{
	"POST /tokens": func(c *company) *sheet { return c.req.get("/tokens").form("/tokens").set("name", "nightly") },
	"POST /batches": func(c *company) *sheet {
		return c.req.get("/batches/new").form("/batches").set("name", "More").set("tenant", "n1").set("question", "A cat?")
	},
	"POST /batches/{batch}/tasks": func(c *company) *sheet { return c.req.get("/batches/b1").form("/batches/b1/tasks") },
	"POST /batches/{batch}/topup": func(c *company) *sheet {
		return c.req.get("/batches/b1").form("/batches/b1/topup").set("amount", "0.05")
	},
	"POST /runs": func(c *company) *sheet {
		return c.req.get("/runs/new").form("/runs").set("tenant", "n1").set("text", flowOfCats).press("then", "make")
	},
	"POST /batches/{batch}/workers/{worker}/disregard": func(c *company) *sheet {
		id, t := c.ruled(c.req.t).String(), c.req.t
		path := "/batches/" + id + "/workers/" + read(c.app.Accounts.Worker(t.Context(), c.boss.principal(), 1, c.workers[0].principal().User.ID.String()))(t).Pseudonym + "/disregard"
		return c.req.get(path).form(path)
	},
	"POST /runs/{run}/topup": func(c *company) *sheet {
		return c.req.get("/runs/r1").form("/runs/r1/topup").set("amount", "1")
	},
	"POST /invitations": func(c *company) *sheet {
		return c.boss.get("/invitations").form("/invitations").set("addresses", "b@example.org")
	},
	"POST /invitations/{invitation}/resend": func(c *company) *sheet { return c.boss.get("/invitations").form("/invitations/1/resend") },
	"POST /tests": func(c *company) *sheet {
		return c.req.get("/tests").form("/tests").set("name", "cats").set("question", "A cat?")
	},
	"POST /admin/tenants": func(c *company) *sheet { return c.boss.get("/admin").form("/admin/tenants").set("name", "Bees") },
	"POST /admin/tenants/{tenant}/deposit": func(c *company) *sheet {
		return c.boss.get("/admin").form("/admin/tenants/n1/deposit").set("amount", "7")
	},
	"POST /tenants/{tenant}/deposit": func(c *company) *sheet {
		return c.boss.get("/tenants/n1").form("/tenants/n1/deposit").set("amount", "7")
	},
	"POST /admin/pools": func(c *company) *sheet { return c.boss.get("/admin").form("/admin/pools").set("name", "night") },
	"POST /admin/pools/{pool}/fund": func(c *company) *sheet {
		return c.boss.get("/admin/pools/p1").form("/admin/pools/p1/fund").set("amount", "7")
	},
	"POST /admin/services": func(c *company) *sheet {
		return c.boss.get("/admin/services").form("/admin/services").set("name", "scores").set("url", "https://x.example").set("concurrency", "1")
	},
	"POST /admin/providers/{provider}/tokens": func(c *company) *sheet {
		return c.boss.get("/admin/providers").form("/admin/providers/corp/tokens").set("name", "Okta")
	},
	"POST /admin/people": func(c *company) *sheet {
		return c.boss.get("/admin/people").form("/admin/people").set("name", "dora").set("tenants", "n1")
	},
	"POST /admin/roles": func(c *company) *sheet {
		return c.boss.get("/admin/roles").form("/admin/roles").set("name", "checker").set("permissions", "people.read")
	},
	"POST /tenants/{tenant}/roles": func(c *company) *sheet {
		return c.req.get("/tenants/n1/roles").form("/tenants/n1/roles").set("name", "helper").set("permissions", "people.read")
	},
	"POST /tenants/{tenant}/people": func(c *company) *sheet {
		return c.req.get("/tenants/n1/roles").form("/tenants/n1/people").set("name", "emil").set("roles", "viewer")
	},
	"POST /admin/people/{user}/link": func(c *company) *sheet { return c.boss.get("/admin/people/u2").form("/admin/people/u2/link") },
}

// stored is how many rows each table of the store has, and what is in each account.
func (s *site) stored(t *testing.T) string {
	t.Helper()
	db := read(sql.Open("sqlite", "file:"+s.file))(t)
	defer db.Close()
	column := func(query string) (list []string) {
		rows := read(db.QueryContext(t.Context(), query))(t)
		defer rows.Close()
		for rows.Next() {
			var text string
			equal(t, rows.Scan(&text), nil)
			list = append(list, text)
		}
		equal(t, rows.Err(), nil)
		return list
	}
	var out []string
	for _, table := range column("select name from sqlite_master where type = 'table' and name not in ('requests', 'run_rows', 'items') order by name") {
		out = append(out, fmt.Sprint(table, column("select count(*) from "+table)))
	}
	return fmt.Sprint(out, column("select account || ': ' || balance from accounts order by account"), column("select coalesce(max(item), 0) from run_rows"),
		column("select budget from runs"), column("select max(expires_at) from tokens"), column("select coalesce(max(expires_at), 0) from invitations"))
}

// TestAFormThatIsSentTwiceDoesItOnce sends each form twice, then another one like it.
func TestAFormThatIsSentTwiceDoesItOnce(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2, withCorp)
	c.launchCats("Cats")
	c.req.get("/runs/new").form("/runs").set("tenant", "n1").set("text", flowOfCats).set("budget", "5").press("then", "make").send().want(200).at("/runs/r1")
	c.req.post("/batches/b1/topup", url.Values{"amount": {"5"}}).want(200)
	c.req.post("/runs/r1/do", url.Values{"do": {"start"}}).want(200)
	c.boss.get("/invitations").form("/invitations").set("addresses", "a@example.org").send().want(200)
	for pattern, fill := range sentTwice {
		before := c.stored(t)
		form := fill(c)
		send := func() *pageOf {
			switch pattern {
			case "POST /batches/{batch}/tasks":
				return form.sendFile("more.csv", "name,photo\nTom,t.png\n")
			case "POST /tests":
				return form.sendFile("test.csv", "name,_gold\nTom,yes\n")
			}
			return form.send()
		}
		first := send().want(200)
		once := c.stored(t)
		again := send()
		if now := c.stored(t); once == before || now != once {
			t.Errorf("%s: it was\n%s\nsent once\n%s\nsent twice\n%s", pattern, before, once, now)
		}
		if again.Status == 200 && (again.URL.Path != first.URL.Path || again.URL.RawQuery != first.URL.RawQuery) || again.Status != 200 && !strings.Contains(again.Text, "is shown once") {
			t.Errorf("%s: sent again, it leads to %s with status %d in place of %s:\n%s", pattern, again.URL, again.Status, first.URL, words(again.Root))
		}
	}
	// At the same time, each browser is led to where the first one is.
	form := c.boss.get("/admin").form("/admin/tenants/n1/deposit").set("amount", "3")
	was, _, err := c.app.Tenants.Account(t.Context(), c.boss.principal(), 1, 0, 0)
	equal(t, err, nil)
	var both sync.WaitGroup
	pages := make([]*pageOf, 2)
	for i := range pages {
		both.Go(func() { pages[i] = form.send() })
	}
	both.Wait()
	now, _, err := c.app.Tenants.Account(t.Context(), c.boss.principal(), 1, 0, 0)
	equal(t, err, nil)
	equal(t, now-was, 3_000_000)
	for _, p := range pages {
		p.want(200, "The money is in the account.")
	}
	// Typed anew and sent again, it is another form; one that was refused did nothing.
	form.set("amount", "x").send().want(http.StatusUnprocessableEntity)
	form.set("amount", "4").send().want(200, "The money is in the account.")
	form.set("amount", "3").send().want(200, "The money is in the account.")
	last, _, err := c.app.Tenants.Account(t.Context(), c.boss.principal(), 1, 0, 0)
	equal(t, err, nil)
	equal(t, last-now, 4_000_000)
	// Of a file it is known too late that it is another one.
	tasks := c.req.get("/batches/b1").form("/batches/b1/tasks")
	tasks.sendFile("more.csv", "name,photo\nTim,t.png\n").want(200)
	tasks.sendFile("more.csv", "name,photo\nKim,k.png\n").want(http.StatusConflict, "sent before, with another file")
}
