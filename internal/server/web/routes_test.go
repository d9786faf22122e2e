package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// samples stand for the wildcards of patterns: things that there are, of Acme.
var samples = strings.NewReplacer("{batch}", "b1", "{task}", "1", "{worker}", "u3", "{tenant}", "n1", "{pool}", "p1", "{user}", "u2", "{token}", "1", "{session}", "1", "{factor}", "1", "{provider}", "corp", "{assignment}", "a1.1", "{subscription}", "1", "{invitation}", "1", "{test}", "1", "{run}", "r1", "{step}", "things", "{item}", "1", "{secret}", "KEY", "{entry}", "3", "{service}", "scores", "{role}", "checker", "{$}", "")

func (b *browser) try(rt route) *pageOf {
	b.t.Helper()
	method, path, _ := strings.Cut(rt.pattern, " ")
	path = samples.Replace(path)
	if method == http.MethodGet {
		return b.get(path)
	}
	return b.post(path, url.Values{"worker": {"u3"}, "assignment": {"a1.1"}, "do": {"pause"}})
}

// The address of an action leads to the page of what it is about.
func TestAddressesOfActionsLeadToPages(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	c.launchCats("Cats")
	for path, page := range map[string]string{"/batches/b1/settings": "/batches/b1", "/batches/b1/do": "/batches/b1", "/invitations/7/resend": "/invitations", "/signout": "/batches", "/runs/%3Fa%2Fb/do": ""} {
		if p := c.req.get(path); page == "" {
			p.want(404).at("/runs/?a/b") // what is escaped stays so
		} else {
			p.want(200).at(page)
		}
	}
	c.boss.get("/admin/tenants/n1/deposit").want(200).at("/admin")
	c.req.get("/batches/b1/none").want(404)
}

// mayCome reports whether somebody with a built-in role, as it is held, may come to what an
// operation is for.
func mayCome(held string, o access.Operation) bool {
	_, role, ofTenant := strings.Cut(held, "/")
	if !ofTenant {
		role = held
	}
	b, _ := access.FindBuiltIn(access.Role(role))
	if ofTenant {
		b.Permissions = b.Within(1)
	}
	return b.Has(o.Needs) && (o.Who != access.Installation || !ofTenant)
}

// Every route says who may come, and nobody else can.
func TestWhoMayGoWhere(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	c.launchCats("Cats")
	c.req.post("/runs", url.Values{"tenant": {"n1"}, "then": {"make"}, "text": {"workflow: Cats\ninputs: {things: {columns: [name]}}\nsteps: {names: {from: things, sql: select name from things}}\n"}}).want(200).at("/runs/r1")
	c.boss.get("/admin").form("/admin/tenants").set("name", "Other").send().want(200)
	stranger := c.as(t, c.boss, "olga", func(f *sheet) { f.set("tenants", "n2") })
	nobody := c.browser(t, "nobody")
	people := map[string]*browser{"worker": c.workers[0], "n1/requester": c.req, "admin": c.boss}
	for _, b := range access.BuiltIns() {
		for _, held := range []string{string(b.Role), "n1/" + string(b.Role)} {
			if people[held] == nil && (b.Tenant && strings.Contains(held, "/") || b.Installation && !strings.Contains(held, "/")) {
				people[held] = c.as(t, c.boss, strings.ReplaceAll("a-"+held, "/", "-"), func(f *sheet) { f.set("roles", held) })
			}
		}
	}

	list := routes()
	if len(list) < 40 {
		t.Fatalf("only %d routes: is this the whole table?", len(list))
	}
	checked := 0
	for _, rt := range list {
		if rt.access.Who == access.Internal || rt.access != public && rt.access != signedIn && !slices.Contains(access.Operations(), rt.access) {
			t.Errorf("%s does not say who may come", rt.pattern)
		}
		if strings.Contains(samples.Replace(rt.pattern), "{") {
			t.Fatalf("%s has a wildcard without a sample", rt.pattern)
		}
		if rt.access == public {
			continue
		}
		checked++
		if p := nobody.try(rt); p.URL.Path != "/signin" {
			t.Errorf("%s: somebody who has not signed in gets %d at %s", rt.pattern, p.Status, p.URL.Path)
		}
		if rt.access == signedIn {
			continue
		}
		for role, b := range people {
			if mayCome(role, rt.access) {
				continue
			}
			if p := b.try(rt); p.Status != http.StatusForbidden {
				t.Errorf("%s: a %s gets %d", rt.pattern, role, p.Status)
			}
		}
		if rt.access.Who == access.Tenant && regexp.MustCompile(`\{(batch|run|tenant)\}`).MatchString(rt.pattern) {
			p := stranger.try(rt)
			if p.Status != http.StatusNotFound || strings.Contains(p.Text, "Cats") || strings.Contains(p.Text, "Acme") {
				t.Errorf("%s: a requester of another tenant gets %d:\n%s", rt.pattern, p.Status, words(p.Root))
			}
		}
	}
	t.Logf("%d routes, %d of them not public", len(list), checked)
	if p := c.req.get("/batches/b1"); !strings.Contains(p.Text, "running") {
		t.Error("somebody who may not has changed the batch")
	}
	stranger.get("/batches").want(200).without("Cats", "Acme")
	stranger.get("/batches?tenant=n1").want(404)
	stranger.post("/batches", nil).want(http.StatusUnprocessableEntity)
	nobody.get("/no/such/page").want(404, "There is no such page")
}

// What every page is sent with.
func TestHeaders(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	draft := c.req.get("/batches/new").form("/batches").set("name", "H").set("tenant", "n1").set("kind", "html").
		set("html", `<p>${name}</p><input name="x"><script>parent.document.title = "mine"</script>`).sendFile("cats.csv", cats).want(200)
	for path, b := range map[string]*browser{
		"/signin": c.browser(t, "nobody"), "/work": c.workers[0], draft.URL.Path: c.req, "/admin": c.boss, "/nowhere": c.req,
	} {
		p := b.get(path)
		h := p.Header
		csp := h.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "script-src 'self';") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: policy %q", path, csp)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "same-origin"} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
		p.want(p.Status)
	}
	frame := c.req.get(draft.URL.Path+"/frame/1").want(200, "1.png")
	if csp := frame.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "sandbox ") || strings.Contains(csp, "allow-same-origin") {
		t.Errorf("the frame's policy is %q", csp)
	}
	for _, f := range draft.all("iframe") {
		if s := attr(f, "sandbox"); !strings.Contains(s, "allow-scripts") || strings.Contains(s, "allow-same-origin") {
			t.Errorf("the frame's sandbox is %q", s)
		}
	}
	css := c.req.get(attr(draft.all("link")[1], "href"))
	if css.Status != 200 || !strings.Contains(css.Header.Get("Cache-Control"), "immutable") || !strings.HasPrefix(css.Header.Get("Content-Type"), "text/css") {
		t.Errorf("the style sheet: %d %v", css.Status, css.Header)
	}
	for _, s := range draft.all("script") {
		if js := c.req.get(attr(s, "src")); js.Status != 200 || !strings.Contains(js.Header.Get("Content-Type"), "javascript") {
			t.Errorf("%s: %d %v", attr(s, "src"), js.Status, js.Header)
		}
	}
}

// checkMarkup holds pages to what the policy and screen readers need.
func checkMarkup(t testing.TB, path string, p *pageOf) {
	t.Helper()
	ids, labelled := map[string]int{}, map[string]bool{}
	for n := range p.Root.Descendants() {
		if id := attr(n, "id"); id != "" {
			ids[id]++
		}
		if n.Data == "label" {
			labelled[attr(n, "for")] = true
		}
		for _, a := range n.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("%s: <%s> has an inline %s", path, n.Data, a.Key)
			}
			if strings.Contains(a.Val, "ZgotmplZ") {
				t.Errorf("%s: <%s %s> was refused by html/template", path, n.Data, a.Key)
			}
		}
		if n.Data == "script" && n.FirstChild != nil {
			t.Errorf("%s: an inline script", path)
		}
		if n.Data == "img" && !has(n, "alt") {
			t.Errorf("%s: a picture without alt", path)
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%s: %d elements have the id %s", path, n, id)
		}
	}
	for _, tag := range []string{"input", "select", "textarea"} {
		for _, n := range p.all(tag) {
			kind := attr(n, "type")
			inLabel := n.Parent.Data == "label" || n.Parent.Parent != nil && n.Parent.Parent.Data == "label"
			if kind != "hidden" && !has(n, "hidden") && !inLabel && !labelled[attr(n, "id")] {
				t.Errorf("%s: %s %s has no label", path, tag, attr(n, "name"))
			}
		}
	}
	if len(p.all("h1")) != 1 || len(p.all("main")) != 1 {
		t.Errorf("%s: %d h1, %d main", path, len(p.all("h1")), len(p.all("main")))
	}
}

// What another site sends with somebody's cookies is not done.
func TestOtherSitesCannotAct(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 0)
	for header, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+"/admin/stop", strings.NewReader("stopped=1"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set(header, value)
		c.boss.do(req).want(http.StatusForbidden, "sent from another site")
	}
	c.boss.get("/admin").want(200).without("Everything is stopped")
}

func TestTheCookie(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.admin(t)
	pages, err := New(Config{App: s.app, TrustProxy: true})
	if err != nil {
		t.Fatal(err)
	}
	for proto, secure := range map[string]bool{"": false, "http": false, "https": true} {
		req := httptest.NewRequest(http.MethodPost, "/signin", strings.NewReader(url.Values{"name": {"admin"}, "password": {password}}.Encode()))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("X-Forwarded-Proto", proto)
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, req)
		cookies := w.Result().Cookies()
		if len(cookies) != 2 || w.Code != http.StatusSeeOther {
			t.Fatalf("status %d, cookies %v", w.Code, cookies)
		}
		for _, c := range cookies {
			if c.Secure != secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" {
				t.Errorf("with X-Forwarded-Proto %q: %v", proto, c)
			}
		}
	}
}

// absent stand for the wildcards of patterns: things that there are not.
var absent = strings.NewReplacer("{batch}", "b999", "{task}", "999", "{worker}", "u999", "{tenant}", "n999", "{pool}", "p999", "{user}", "u999", "{token}", "999", "{session}", "999", "{factor}", "999", "{provider}", "absentee", "{assignment}", "a999.1", "{subscription}", "999", "{invitation}", "999", "{test}", "999", "{run}", "r999", "{step}", "absentee", "{item}", "999", "{secret}", "ABSENTEE", "{entry}", "9999", "{service}", "absentee", "{role}", "absentee", "{$}", "")

var wildcards = regexp.MustCompile(`\{\w+\}`)

// Every route that names something answers whoever it does not belong to as if there were
// no such thing.
func TestWhatIsAnothersIsNoPage(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	c.launchCats("Cats")
	c.req.post("/runs", url.Values{"tenant": {"n1"}, "then": {"make"}, "text": {"workflow: Cats\ninputs: {things: {columns: [name]}}\nsteps: {names: {from: things, sql: select name from things}}\n"}}).want(200).at("/runs/r1")
	c.workers[0].post("/work/next", nil)
	birdsBy(c.req).want(200)
	c.boss.post("/admin/services", url.Values{"name": {"scores"}, "url": {"https://scores.example/v1"}, "concurrency": {"4"}, "tenants": {"n1"}}).want(200)
	c.req.get("/invitations").form("/invitations").set("addresses", "eva@example.org").set("pool", "p1").send().want(200, "eva@example.org")
	c.boss.get("/admin").form("/admin/tenants").set("name", "Other").send().want(200)
	c.boss.post("/admin/pools", url.Values{"name": {"Hushed"}, "policy": {"fifo"}}).want(200) // p2, granted to nobody
	olga := c.as(t, c.boss, "olga", func(f *sheet) { f.set("tenants", "n2") })
	foreign := map[string]*browser{"a requester of another tenant": olga, "another worker": c.workers[1], "somebody who has not signed in": c.browser(t, "nobody")}
	for _, b := range access.BuiltIns() {
		if b.Tenant {
			foreign["another tenant's "+string(b.Role)] = c.as(t, c.boss, "a-"+string(b.Role), func(f *sheet) { f.set("roles", "n2/"+string(b.Role)) })
		}
	}
	for _, r := range []store.Role{{Name: "odd", Permissions: []string{"batches.launch", "people.names", "secrets.change", "money.move", "audit.read"}}, {Name: "own", Tenant: 2, Permissions: []string{"batches.edit", "review", "people.invite"}}} {
		if _, err := c.app.Accounts.CreateRole(t.Context(), c.boss.principal(), r); err != nil {
			t.Fatal(err)
		}
		foreign["who has another tenant's role "+r.Name] = c.as(t, c.boss, "made-"+r.Name, func(f *sheet) { f.set("roles", "n2/"+r.Name) })
	}
	cases := 0
	for _, rt := range routes() {
		method, path, _ := strings.Cut(rt.pattern, " ")
		if !wildcards.MatchString(path) || rt.access == public {
			continue
		}
		for who, b := range foreign {
			ways := waysToAsk(method)
			if testing.Short() {
				ways = ways[:3]
			}
			for _, way := range ways {
				cases++
				theirs, none := b.told(way, samples.Replace(path)), b.told(way, absent.Replace(path))
				for _, wildcard := range wildcards.FindAllString(path, -1) {
					none = strings.ReplaceAll(none, absent.Replace(wildcard), samples.Replace(wildcard))
				}
				if theirs != none {
					t.Errorf("%s, asked with %+v, tells %s what is another's from what is not there:\n%s", rt.pattern, way, who, firstDifference(theirs, none))
				}
			}
		}
	}
	if cases < 2000 {
		t.Errorf("only %d cases", cases)
	}
	c.noRoleTells(t)
	// What names a pool in a form is answered alike, and no page of theirs names the pool.
	draft := c.req.get("/batches/new").form("/batches").set("name", "Draft").set("tenant", "n1").sendFile("cats.csv", cats).want(200).at("/batches/b2")
	for path, form := range map[string]url.Values{
		"/invitations":         {"addresses": {"x@example.org"}},
		"/batches/b2/settings": draft.form("/batches/b2/settings").values,
	} {
		answer := func(pool string) string {
			form.Set("pool", pool)
			p := c.req.post(path, form)
			told := strings.ReplaceAll(fmt.Sprintf("%d %s\n%s", p.Status, p.URL.RequestURI(), p.Text), pool, "POOL")
			return formKey.ReplaceAllString(told, "key")
		}
		if theirs, none := answer("p2"), answer("p9"); theirs != none {
			t.Errorf("%s tells a pool that is not granted from none:\n%s", path, firstDifference(theirs, none))
		}
	}
	for _, rt := range routes() {
		method, path, _ := strings.Cut(rt.pattern, " ")
		if p := samples.Replace(path); method == http.MethodGet && !strings.Contains(p, "events") && strings.Contains(c.req.get(p).Text, "Hushed") {
			t.Errorf("%s names a pool that is not granted", rt.pattern)
		}
	}
}

// noRoleTells has those who hold a role for the installation, built-in or made by people, ask for
// everything: of what they may neither see nor do they are told what they are told of what is not
// there.
func (c *company) noRoleTells(t *testing.T) {
	t.Helper()
	roles := []string{"odd"}
	for _, b := range access.BuiltIns() {
		if b.Installation && b.Role != access.Admin {
			roles = append(roles, string(b.Role))
		}
	}
	for _, role := range roles {
		b := c.as(t, c.boss, "all-"+role, func(f *sheet) { f.set("roles", role) })
		p, asked := b.principal(), 0
		for _, rt := range routes() {
			method, path, _ := strings.Cut(rt.pattern, " ")
			first := wildcards.FindStringIndex(path)
			if first == nil || rt.access == public || rt.access.Needs != access.CanNothing && p.MayFor(rt.access, 1) == nil {
				continue
			}
			if strings.HasPrefix(b.told(way{method: http.MethodGet}, samples.Replace(path[:first[1]])), "200") { // they know of it
				continue
			}
			asked++
			theirs, none := b.told(waysToAsk(method)[0], samples.Replace(path)), b.told(waysToAsk(method)[0], absent.Replace(path))
			for _, wildcard := range wildcards.FindAllString(path, -1) {
				none = strings.ReplaceAll(none, absent.Replace(wildcard), samples.Replace(wildcard))
			}
			if theirs != none {
				t.Errorf("%s tells who is %s of the installation what is another's from what is not there:\n%s", rt.pattern, role, firstDifference(theirs, none))
			}
		}
		if asked < 20 {
			t.Errorf("%s was asked about %d things only", role, asked)
		}
	}
}

// way is one of the ways in which a page or an action can be asked for.
type way struct {
	method, header, value string
	form                  url.Values
}

// waysToAsk returns the ways to ask for what has a method: as browsers, scripts and those who
// follow it do, and with forms that are filled in, in part or not at all.
func waysToAsk(method string) []way {
	if method == http.MethodGet {
		return []way{
			{method: method}, {method: http.MethodHead}, {method: http.MethodOptions}, {method: http.MethodPut},
			{method: method, header: "Accept", value: "application/json"}, {method: method, header: "Accept", value: "text/event-stream"}, {method: method, header: "Last-Event-ID", value: "3"},
			{method: method, header: "Range", value: "bytes=0-9"}, {method: method, header: "If-None-Match", value: "*"},
		}
	}
	filled := url.Values{}
	for _, field := range []string{"name", "text", "password", "amount", "note", "confirm", "worker", "to", "pool", "role", "user", "do", "row", "task", "step", "reward", "budget", "stopped", "days", "life", "answers", "url", "concurrency", "value"} {
		filled.Set(field, "1")
	}
	return []way{
		{method: method, form: url.Values{}}, {method: method, form: filled}, {method: method, form: url.Values{"worker": {"u3"}, "do": {"pause"}, "assignment": {"a1.1"}}},
		{method: method, header: "Accept", value: "application/json", form: filled}, {method: method, header: "Content-Type", value: "multipart/form-data; boundary=x", form: filled}, {method: method, header: "Content-Type", value: "text/csv", form: filled},
	}
}

// formKey is what each form has of its own.
var formKey = regexp.MustCompile(`key=\w+`)

// told returns all that the server answers at first, with its headers and before any redirect.
func (b *browser) told(w way, path string) string {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), w.method, b.site.URL+path, strings.NewReader(w.form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if w.form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	req.Header.Set("Origin", b.site.URL)
	if w.header != "" {
		req.Header.Set(w.header, w.value)
	}
	plain := *b
	plain.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	p := plain.do(req)
	p.Header.Del("Date")
	if p.Header.Get("Content-Length") == strconv.Itoa(len(p.Text)) || w.method == http.MethodHead {
		p.Header.Set("Content-Length", "of the page") // whose names may be of another length
	}
	var out strings.Builder
	_, _ = fmt.Fprintln(&out, p.Status)
	_ = p.Header.Write(&out)
	return formKey.ReplaceAllString(out.String()+p.Text, "key")
}

// firstDifference returns the first lines in which two texts differ.
func firstDifference(one, other string) string {
	x, y := strings.Split(one, "\n"), strings.Split(other, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] + "\n" + y[i]
		}
	}
	return fmt.Sprintf("one has %d lines, the other %d", len(x), len(y))
}
