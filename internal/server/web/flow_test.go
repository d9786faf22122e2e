package web

import (
	"encoding/base64"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/server/accounts"
)

// cats is a file of three tasks with pictures and known answers.
var cats = "name,photo,_gold\n1.png," + picture("#d97706", true) + ",yes\n2.png," + picture("#4b5563", false) + ",no\n3.png," + picture("#7c5c3e", true) + ",yes\n"

// picture draws a pet, as a cell of a CSV file.
func picture(colour string, pointed bool) string {
	ears := `<ellipse cx="90" cy="120" rx="28" ry="60"/><ellipse cx="230" cy="120" rx="28" ry="60"/>`
	if pointed {
		ears = `<path d="M80 130L85 40L150 90zM240 130L235 40L170 90z"/>`
	}
	svg := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 240" width="640" height="480"><rect width="320" height="240" fill="#e8eef0"/><g fill="` + colour + `">` + ears +
		`<circle cx="160" cy="140" r="80"/></g><g fill="#111"><circle cx="130" cy="125" r="9"/><circle cx="190" cy="125" r="9"/><path d="M150 155h20l-10 12z"/></g></svg>`
	return `"data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString([]byte(svg)) + `"`
}

// launchCats makes and launches a batch of three tasks by two answers each.
func (c *company) launchCats(name string) *pageOf {
	c.req.t.Helper()
	draft := c.req.get("/batches/new").want(200).form("/batches").set("name", name).set("tenant", "n1").set("kind", "choose_one").
		set("question", "Is ${name} a cat?").set("show", "photo | image | The photo").set("options", "yes | Yes\nno | No\n").
		sendFile("cats.csv", cats).want(200, "The file is in", "3 tasks", "Task 1 of 3", "Is 1.png a cat?")
	return draft.form(draft.URL.Path+"/settings").set("rule", "count").set("count", "2").set("reward", "0.10").
		press("then", "launch").send().want(200, "Launched", "0 of 3")
}

// The whole way, without a line of JavaScript.
func TestFromFileToLabels(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	for _, w := range c.workers {
		w.get("/").want(200, "Waiting for a task", "no batch is running").at("/work")
	}
	p := c.launchCats("Cats")
	id := batchOf(p).String()
	if got := c.req.get("/batches").want(200, "Cats", "running", "0 of 3 labelled"); strings.Contains(got.Text, "_gold") {
		t.Error("the list shows a column")
	}
	for i, w := range c.workers {
		for n := range 3 {
			page := w.get("/work").want(200, "a cat?", "Pays", "0.10").without("_gold")
			if i == 0 && n == 0 {
				// Who holds what, as the requester sees it.
				c.req.get("/batches/"+id).want(200, "Who holds what", "w_").without("w1")
				// An answer is missing: the same task comes again, with what is wrong.
				page.form("/work/submit").send().want(http.StatusUnprocessableEntity, "Is missing: it should be one of yes, no.", "a cat?")
			}
			page.form("/work/submit").set("s.label", "yes").send().want(200, "Your answer is in").at("/work")
			if n == 0 {
				// The same answer once more counts once.
				page.form("/work/submit").set("s.label", "no").send().want(200, "You have answered this task already; your first answer is kept.")
			}
		}
		w.get("/work").want(200, "Waiting for a task")
		w.get("/work/earnings").want(200, "0.30", "3 answers", "counted")
	}
	done := c.req.get("/batches/"+id).want(200, "done", "100 %", "3 of 3", "0.60 of 0.60")
	done.without("Emergency stop", `action="/batches/`+id+`/edit"`)
	links := map[string]bool{}
	for _, a := range done.all("a") {
		links[attr(a, "href")] = true
	}
	for _, want := range []string{
		"/v1/batches/" + id + "/annotations?format=csv&spreadsheet=true", "/v1/batches/" + id + "/annotations?format=jsonl",
		"/v1/batches/" + id + "/labels?format=csv&method=live&spreadsheet=true", "/v1/batches/" + id + "/labels?format=jsonl&method=ds-map",
	} {
		if !links[want] {
			t.Errorf("there is no link to %s", want)
		}
	}
	c.req.get("/batches/"+id+"/quality").want(200, "67 %", "against 3 known answers", "w_", "2 of 3 right", "α (nominal)").without("method=median")
	c.req.get("/batches/"+id+"/quality?method=median").want(http.StatusUnprocessableEntity, "median does not fit the kind choose_one: use ds-map, majority")
	c.seesResults(t, id)
	c.req.get("/tenants/n1").want(200, "99.40", "reserve", "deposit")
}

// TestAnAnswerAfterTheEnd of its batch, whose lease had not run out: they are told why it
// does not count.
func TestAnAnswerAfterTheEnd(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	c.launchCats("Cats")
	page := c.workers[0].get("/work").want(200, "a cat?")
	if _, err := c.app.Batches.End(t.Context(), c.boss.principal(), 1); err != nil {
		t.Fatal(err)
	}
	page.form("/work/submit").set("s.label", "yes").send().want(200, "Your answer came when the batch had ended. It is kept, but does not count and is not paid.")
}

func TestSkipAndReturn(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	c.launchCats("Cats")
	w := c.workers[0]
	first := w.get("/work").want(200, "1.png a cat?")
	if again := w.get("/work"); attr(again.all("form")[1], "action") != attr(first.all("form")[1], "action") || !strings.Contains(again.Text, "a1.1") {
		t.Error("the task that is held is not shown again")
	}
	second := first.form("/work/skip").send().want(200, "Skipped.", "a cat?").without("a1.1<", `value="a1.1"`)
	second.form("/work/return").send().want(200, "Taking a break").at("/work/rest")
	// Both are no longer theirs: an old window does no harm.
	first.form("/work/skip").send().want(200).at("/work")
	first.form("/work/return").send().want(200).at("/work/rest")
}

func TestEveryKindIsAnswered(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	w := c.workers[0]
	const file = "a,b\nfoo,bar\n"
	for name, k := range map[string]struct {
		fill   map[string]string
		bad    map[string]string // an answer that does not fit …
		says   string            // … and what is said of it
		answer map[string]string
		want   string
	}{
		"choose_many": {
			fill: map[string]string{"options": "x\ny\nz\n", "least": "2"},
			bad:  map[string]string{"l.label": "x"}, says: "2", answer: nil,
		},
		"compare_two": {fill: map[string]string{"left": "a", "right": "b", "tie": "1"}, answer: map[string]string{"s.label": "tie"}},
		"short_text": {
			fill: map[string]string{"pattern": "[0-9]+", "question": "Which?"},
			bad:  map[string]string{"s.label": "x<y"}, says: "does not have the form", answer: map[string]string{"s.label": "17"},
		},
		"number": {
			fill: map[string]string{"min": "1", "max": "5", "integer": "1", "unit": "stars"},
			bad:  map[string]string{"s.label": "7"}, says: "from 1 to 5", answer: map[string]string{"s.label": "4"},
		},
		"rating": {
			fill: map[string]string{"question": "How good?", "points": "10", "low": "bad ${a}", "high": "good"},
			bad:  map[string]string{}, says: "from 1 to 10", answer: map[string]string{"s.label": "10"},
		},
		"form": {
			fill: map[string]string{"f0_name": "who", "f0_required": "1", "f1_name": "when", "f1_type": "date", "f2_name": "sure", "f2_type": "checkbox", "f3_name": "tags", "f3_type": "checkbox", "f3_options": "red; green"},
			bad:  map[string]string{"s.when": "tomorrow", "s.who": "me"}, says: "not a date", answer: map[string]string{"s.who": "me", "s.when": "2026-01-02", "s.sure": "true", "l.tags": "green"},
		},
	} {
		f := c.req.get("/batches/new").form("/batches").set("name", name).set("tenant", "n1").set("kind", name)
		for field, v := range k.fill {
			f.set(field, v)
		}
		draft := f.sendFile("f.csv", file).want(200, "1 task", "Task 1 of 1")
		// The draft's form says the same template.
		if kind := draft.form(draft.URL.Path + "/template").values.Get("kind"); kind != name {
			t.Errorf("%s comes back as %q", name, kind)
		}
		draft.form(draft.URL.Path+"/settings").set("count", "1").press("then", "launch").send().want(200, "Launched")
		task := w.get("/work").want(200)
		if k.bad != nil {
			bad := task.form("/work/submit")
			for field, v := range k.bad {
				bad.set(field, v)
			}
			again := bad.send().want(http.StatusUnprocessableEntity, k.says)
			for field, v := range k.bad { // what was typed is still there
				if got := again.form("/work/submit").values.Get(field); got != v && field != "s.when" {
					t.Errorf("%s: %s is %q after an error, was %q", name, field, got, v)
				}
			}
		}
		good := task.form("/work/submit")
		for field, v := range k.answer {
			good.set(field, v)
		}
		if name == "choose_many" {
			good.values["l.label"] = []string{"x", "z"}
		}
		good.send().want(200, "Your answer is in")
	}
}

func TestBadRowsAreShown(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 0)
	const bad = "a,b\n1,2\n3\n4,5\n"
	fresh := func() *sheet {
		return c.req.get("/batches/new").form("/batches").set("name", "Rows").set("tenant", "n1").set("question", "?")
	}
	draft := fresh().sendFile("rows.csv", bad).want(http.StatusUnprocessableEntity, "1 row cannot be used", "Nothing was kept", "No tasks yet")
	up := draft.form("/batches/b1/upload").set("skip_bad", "1").sendFile("rows.csv", bad).want(200, "2 rows kept, 1 row left out", "2 tasks")
	if !strings.Contains(words(up.Root), "Line") {
		t.Error("no table of bad rows")
	}
	up.form("/batches/b1/upload").sendFile("rows.csv", "a,b\n1,2\n").want(200, "1 task")
	// A template that names no column of the file.
	fresh().set("question", "Is ${c} good?").sendFile("rows.csv", "a,b\n1,2\n").want(http.StatusUnprocessableEntity, "${c}", "No tasks yet")
	// What is typed is kept when the form is wrong.
	again := fresh().set("options", "only").sendFile("rows.csv", bad).want(http.StatusUnprocessableEntity, "choose the file again")
	if got := again.form("/batches").values.Get("name"); got != "Rows" {
		t.Errorf("the name is now %q", got)
	}
	// No file at all: a draft to go on with.
	fresh().sendFile("", "").want(200, "No tasks yet")
	// Not text.
	draft.form("/batches/b1/upload").sendFile("x.csv", "PK\x03\x04zip").want(http.StatusUnprocessableEntity, "Excel")
}

// TestPreviewKeepsWhatIsTyped: looking at another task leaves the settings as they are
// typed, and saves nothing.
func TestPreviewKeepsWhatIsTyped(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	draft := c.req.get("/batches/new").form("/batches").set("name", "S").set("tenant", "n1").sendFile("cats.csv", cats).want(200, "Task 1 of 3")
	path := draft.URL.Path
	settings := path + "/settings"
	draft = draft.form(settings).set("reward", "0.03").set("count", "none").press("look", "2").send().want(200, "Task 2 of 3").without("Saved.", "put right")
	draft = draft.form(settings).set("count", "3").press("look", "3").send().want(200, "Task 3 of 3")
	for field, want := range map[string]string{"reward": "0.03", "count": "3"} {
		if got := draft.form(settings).values.Get(field); got != want {
			t.Errorf("%s is now %q, was %q", field, got, want)
		}
	}
	if !strings.Contains(draft.Text, "data-typed") {
		t.Error("the page does not tell its script that something is not saved")
	}
	// The buttons send the form, in which Enter saves.
	var first string
	for _, b := range draft.all("button") {
		if attr(b, "form") == "settings" && first == "" {
			first = attr(b, "value")
		}
		if attr(b, "name") == "look" && (attr(b, "form") != "settings" || attr(b, "formaction") != settings+"#preview" || !has(b, "formnovalidate")) {
			t.Errorf("the button to task %s does not keep the form", attr(b, "value"))
		}
	}
	if first != "save" {
		t.Errorf("Enter presses %q", first)
	}
	c.req.get(settings).want(200, "Task 1 of 3").without("0.03", "data-typed").at(path) // the address of the answer
	draft.form(settings).set("small_crowd", "1").press("then", "launch").send().want(200, "Launched.", "0.03")
	draft.form(settings).press("look", "2").send().want(200, "running") // in a window that was left open
}

func TestSettingsThatDoNotFit(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	draft := c.req.get("/batches/new").form("/batches").set("name", "S").set("tenant", "n1").sendFile("cats.csv", cats).want(200)
	settings := draft.URL.Path + "/settings"
	for field, k := range map[string]struct{ value, says string }{
		"reward":         {"a lot", "is not an amount"},
		"priority":       {"-1", "is not a priority"},
		"count":          {"0", "must be between 1 and 1000"},
		"lease":          {"0.001", "is not between"},
		"deadline":       {"2001-01-01T00:00", "is in the past"},
		"qualifications": {"french 700", "is not between 0 and 100"},
		"budget":         {"0.01", "cannot pay one task"},
	} {
		p := draft.form(settings).set(field, k.value).send()
		if p.Status != http.StatusUnprocessableEntity && p.Status != http.StatusPaymentRequired {
			t.Errorf("%s=%s is %d", field, k.value, p.Status)
		}
		p.want(p.Status, k.says)
		if got := p.form(settings).values.Get(field); got != k.value {
			t.Errorf("%s is now %q, was %q", field, got, k.value)
		}
	}
	reward := draft.form(settings).values.Get("reward")
	draft = draft.form(settings).set("reward", "50").press("then", "launch").send().want(http.StatusPaymentRequired, "the tenant's account has less")
	draft = draft.form(settings).set("reward", reward).set("count", "3").press("then", "launch").send().want(http.StatusUnprocessableEntity)
	draft.form(settings).set("rule", "agree").set("agree", "2").set("of", "3").set("qualifications", "french 70\n").set("deadline", "2099-01-01T10:00").
		set("lease", "5").set("small_crowd", "1").send().want(200, "Saved.")
	v := c.req.get(strings.TrimSuffix(settings, "/settings")).form(settings).values
	for field, want := range map[string]string{"rule": "agree", "agree": "2", "of": "3", "qualifications": "french>=70\n", "deadline": "2099-01-01T10:00:00", "lease": "5"} {
		if got := v.Get(field); got != want {
			t.Errorf("%s is kept as %q, want %q", field, got, want)
		}
	}
}

func TestARunningBatchIsSteered(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	p := c.launchCats("Cats")
	path := p.URL.Path
	do := path + "/do"
	p.form(do).send().want(200, "Paused", "paused").form(do).send().want(200, "Resumed")
	c.req.get(path+"/confirm?do=stop").want(200, "Emergency stop?").form(do).send().want(200, "Stopped.", "stopped")
	c.workers[0].get("/work").want(200, "Waiting", "hand-out is stopped")
	c.req.post(do, url.Values{"do": {"lift"}}).want(200, "The stop is lifted")
	c.req.get(path).form(path+"/edit").set("priority", "7").set("deadline", "2099-01-01T00:00").send().want(200, "Saved.", "due 1 Jan 2099")
	c.req.get(path).form(path+"/edit").set("priority", "no").send().want(http.StatusUnprocessableEntity, "is not a number")
	c.req.get(path).form(path+"/topup").set("amount", "1").send().want(200, "The budget is raised", "0.00 of 1.60", "Now 1.00 of its budget")
	c.req.get(path).form(path+"/edit").set("release_budget", "1").send().want(200, "Saved.", "0.00 of 0.60", "Now 0.00 of its budget")
	c.req.get(path).form(path+"/topup").set("amount", "1000").send().want(http.StatusPaymentRequired, "account has")
	c.req.get(path+"/confirm?do=end").want(200, "End this batch early?").form(do).send().want(200, "Ended", "ended")
	c.req.get(path+"/preview?task=2").want(200, "Task 2 of 3")
	c.req.get(path + "/preview?task=9").want(404)
	c.req.post(do, url.Values{"do": {"pause"}}).want(http.StatusConflict)
	c.req.post(do, url.Values{"do": {"explode"}}).want(404)
}

func TestAdministration(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	b := c.boss
	b.get("/admin").form("/admin/pools").set("name", "night").set("policy", "dafs").send().want(200, "night")
	b.get("/admin").form("/admin/pools").set("name", "x").set("policy", "magic").send().want(http.StatusUnprocessableEntity, "magic")
	b.get("/admin").form("/admin/pools/p1/stop").press("stopped", "1").send().want(200, "Stopped.", "Lift the stop")
	b.post("/admin/pools/p1", url.Values{"name": {"main"}, "policy": {"fifo"}}).want(200, "Saved.")
	if v := policyOf(b.get("/admin")); v != "fifo" {
		t.Errorf("the policy is %q", v)
	}
	b.post("/admin/pools/p1", url.Values{"name": {"main"}, "policy": {"nonsense("}}).want(http.StatusUnprocessableEntity)
	b.post("/admin/stop", url.Values{"stopped": {"1"}}).want(200, "Everything is stopped")
	b.post("/admin/stop", url.Values{"stopped": {""}}).want(200, "The stop is lifted").without("Everything is stopped")
	b.get("/admin").form("/admin/tenants").set("name", "Acme").send().want(http.StatusConflict)
	b.get("/admin").form("/admin/tenants").set("name", "Umbra").set("weight", "0").send().want(http.StatusUnprocessableEntity)
	b.post("/admin/tenants/n1", url.Values{"name": {"Acme"}, "weight": {"3"}, "max_priority": {"50"}}).want(200, "Saved.")
	b.get("/admin").form("/admin/tenants/n1/deposit").set("amount", "-5").send().want(http.StatusUnprocessableEntity, "is not an amount")

	b.get("/admin/people").form("/admin/people").set("name", "w1").send().want(http.StatusConflict)
	b.get("/admin/people").form("/admin/people").set("name", "no spaces").set("full_name", "Kept").send().want(http.StatusUnprocessableEntity, "is not a name")
	id := c.workers[0].principal().User.ID.String()
	b.get("/admin/people/"+id).want(200).form("/admin/people/"+id).set("qualifications", "french 80\nbirds 40\n").set("full_name", "Wanda").send().want(200, "Saved.", "french 80")
	b.get("/admin/people/"+id).form("/admin/people/"+id+"/suspend").press("suspended", "1").send().want(200, "suspended")
	c.workers[0].get("/work").want(http.StatusForbidden, "Your account is suspended")
	b.post("/admin/people/"+id+"/suspend", url.Values{"suspended": {""}}).want(200, "Saved.")
	link := secretOn(b.get("/admin/people/"+id).form("/admin/people/"+id+"/link").send().want(200, "one-time link"))
	fresh := c.browser(t, "w1")
	fresh.setUp(link).at("/work")
	u, _ := url.Parse(link)
	fresh.get(u.RequestURI()).want(404, "has been used")
}

// policyOf is the policy that the admin page has for the first pool.
func policyOf(p *pageOf) string {
	for _, in := range p.all("input") {
		if attr(in, "id") == "pool-p1-policy" {
			return attr(in, "value")
		}
	}
	return ""
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	b := c.browser(t, "w1")
	b.get("/work/earnings").want(200, "Sign in").at("/signin")
	in := b.get("/work/earnings").form("/signin").set("name", "w1")
	in.set("password", "wrong password").send().want(http.StatusUnauthorized, "The name or the password is wrong.").without("wrong password\"")
	in.set("password", password).send().want(200, "Earnings").at("/work/earnings")
	b.get("/signin").at("/work")
	b.get("/work").form("/signout").send().want(200, "You are signed out").at("/signin")
	b.get("/work").at("/signin")

	for next, want := range map[string]string{
		"/batches?x=1": "/batches?x=1", "//evil.example": "", "https://evil.example": "", "/\\evil.example": "", "": "", "/\t/evil.example": "", "work": "",
	} {
		if got := localPath(next); got != want {
			t.Errorf("after signing in, %q leads to %q, want %q", next, got, want)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	w := c.workers[0]
	p := w.get("/tokens").want(200, "None.").form("/tokens").set("name", "robot").set("life", "30").set("roles", "worker").send().want(200, "Your new token", "robot")
	secret := secretOn(p)
	if !strings.HasPrefix(secret, "thr_") {
		t.Errorf("the secret is %q", secret)
	}
	w.get("/tokens").want(200, "robot").without(secret)
	// A program's token is not a session, and a session is no bearer's.
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+"/work", nil)
	req.Header.Set("Authorization", "Bearer "+secret)
	c.browser(t, "program").do(req).at("/signin")
	list, err := c.app.Accounts.Tokens(t.Context(), w.principal(), 0)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	robot, err := c.app.Accounts.Authenticate(t.Context(), secret, netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.app.Accounts.CreateToken(t.Context(), robot, accounts.NewToken{Name: "offspring"}); err != nil {
		t.Fatal(err)
	}
	id := strconv.FormatInt(list[0].ID, 10)
	w.get("/tokens").want(200, "offspring", "token "+id, "with token "+id)
	w.post("/tokens/"+id+"/revoke", nil).want(200, "revoked, and so are the tokens").without("offspring")
	w.get("/tokens").form("/tokens").send().want(http.StatusUnprocessableEntity, "give the token a name")
}

func TestAFileMayBeTooLarge(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 0)
	pages, err := New(Config{App: c.app, MaxUpload: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	small := httptest.NewServer(pages)
	defer small.Close()
	c.req.site = &site{Server: small}
	u, _ := url.Parse(small.URL)
	old, _ := url.Parse(c.URL)
	c.req.Jar.SetCookies(u, c.req.Jar.Cookies(old))
	f := c.req.get("/batches/new").form("/batches").set("name", "Large").set("tenant", "n1")
	f.sendFile("large.csv", "a\n"+strings.Repeat("some text\n", 10_000)).want(http.StatusRequestEntityTooLarge, "more than the 20000 bytes", "No tasks yet")
}

// TestScoresAreTypedInManyWays: a name and its score, divided by a space, a colon, an
// equals sign or >=; a worker's name alone has the whole score.
func TestScoresAreTypedInManyWays(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 0)
	quinn := c.as(t, c.boss, "quinn", func(f *sheet) {
		f.set("pool", "p1").set("qualifications", "cats 80\n dogs: 70\nowls=60\n\nhow: so\nbig cats :50\nplain\nmice>=30\n")
	})
	want := map[string]int{"cats": 80, "dogs": 70, "owls": 60, "how: so": 100, "big cats": 50, "plain": 100, "mice": 30}
	if got := quinn.principal().User.Qualifications; !maps.Equal(got, want) {
		t.Errorf("they have %v, want %v", got, want)
	}

	// A batch asks for them in the same forms, and the page shows the one of the documents.
	draft := c.req.get("/batches/new").form("/batches").set("name", "S").set("tenant", "n1").sendFile("cats.csv", cats).want(200)
	settings := draft.URL.Path + "/settings"
	draft = draft.form(settings).set("qualifications", "birds>=80\ncats 70\ndogs: 60\nowls=50\nmice\n").send().want(200, "Saved.")
	draft.want(200, "0 workers in the pool with birds >= 80 and cats >= 70")
	if got, want := strings.TrimSpace(draft.form(settings).values.Get("qualifications")), "birds>=80\ncats>=70\ndogs>=60\nowls>=50\nmice>=0"; got != want {
		t.Errorf("the batch asks for %q, want %q", got, want)
	}
	draft.form(settings).set("qualifications", "birds>80").send().want(http.StatusUnprocessableEntity, `"birds>80" is not the name of a qualification`)
}
