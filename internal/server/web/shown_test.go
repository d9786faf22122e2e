package web

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
)

// viewers are who looks at the pages: with each built-in role, for the installation and for
// a tenant, and with roles that people have made. "" is the first admin.
var viewers = []string{"", "requester", "worker", "operator", "finance", "viewer", "n1/operator", "n1/finance", "n1/viewer", "n1/launcher", "n1/reviewer",
	"checker", "n1/checker", "n1/starter", "steward"}

// world is a company in which there is one of everything, and somebody with a role.
func world(t *testing.T, role string) (*company, *browser) {
	c := newCompany(t, 2, withCorp)
	c.launchCats("Cats")
	c.boss.get("/admin/providers").form("/admin/providers/corp/tokens").send().want(200)
	c.req.get("/batches/new").form("/batches").set("name", "Draft").set("tenant", "n1").sendFile("cats.csv", cats).want(200).at("/batches/b2")
	c.req.post("/runs", url.Values{"tenant": {"n1"}, "then": {"make"}, "text": {flowOfCats}}).want(200).at("/runs/r1")
	birdsBy(c.req).want(200)
	c.boss.post("/admin/services", url.Values{"name": {"scores"}, "url": {"https://scores.example/v1"}, "concurrency": {"4"}, "tenants": {"n1"}}).want(200)
	c.req.get("/invitations").form("/invitations").set("addresses", "eva@example.org").set("pool", "p1").send().want(200)
	c.req.get("/tenants/n1/secrets").form("/tenants/n1/secrets").set("name", "KEY").set("value", "s3cret").set("hosts", "a.example").send().want(200)
	c.boss.post("/admin/tenants", url.Values{"name": {"Other"}, "weight": {"1"}, "max_priority": {"1"}}).want(200)
	for name, permissions := range map[string][]string{"checker": {"people.read", "tests.read"}, "steward": {"pools.read", "people.read", "people.change", "money.read"}} {
		c.boss.post("/admin/roles", url.Values{"name": {name}, "permissions": permissions}).want(200)
	}
	c.req.post("/tenants/n1/roles", url.Values{"name": {"starter"}, "permissions": {"batches.read", "batches.launch", "people.read", "people.change"}}).want(200)
	who := map[string]*browser{"": c.boss, "requester": c.req, "worker": c.workers[0]}[role]
	if who == nil {
		who = c.as(t, c.boss, "vic", func(f *sheet) { f.set("roles", role) })
	}
	who.get("/tokens").form("/tokens").set("name", "mine").send().want(200)
	return c, who
}

// alsoLooked are pages of further things than samples has.
var alsoLooked = []string{"/batches/b2", "/admin/people/u3", "/tenants/n2", "/tenants/n2/roles", "/batches?tenant=n1", "/runs?tenant=n1"}

// pageless are pages that are no documents, that wait, or that are for who is not signed in.
var pageless = regexp.MustCompile(`/(events|frame|duty|signin|setup|invitation|factor|push\.js)`)

// downloads are the addresses of the API that pages link to, and what each needs.
var downloads = map[*regexp.Regexp]access.Operation{
	regexp.MustCompile(`^/v1/batches/b\d+/labels`):      access.BatchesLabels,
	regexp.MustCompile(`^/v1/batches/b\d+/annotations`): access.BatchesAnnotations,
	regexp.MustCompile(`^/v1/batches/b\d+/tasks`):       access.ResultsList,
	regexp.MustCompile(`^/v1/runs/r\d+/results`):        access.RunsResults,
	regexp.MustCompile(`^/v1/runs/r\d+/`):               access.RunsItems,
	regexp.MustCompile(`^/v1/users/u\d+/data`):          access.AccountsPersonalDataOfOthers,
	regexp.MustCompile(`^/v1/audit`):                    access.AuditList,
	regexp.MustCompile(`^/v1/`):                         {Who: access.Everybody},
}

// finer are the actions whose route is for more people than what they do: the route lets in
// who may do any of it.
var finer = map[string]access.Operation{
	"POST /batches/{batch}/do stop": access.BatchesChange, "POST /batches/{batch}/do lift": access.BatchesChange,
	"POST /runs/{run}/do start": access.RunsStart, "POST /runs/{run}/do again": access.RunsAgain, "POST /runs/{run}/do pause": access.RunsPause, "POST /runs/{run}/do resume": access.RunsResume,
	"POST /runs/{run}/do cancel": access.RunsCancel, "POST /runs/{run}/do end": access.RunsEndStep, "POST /runs/{run}/do seal": access.RunsSealInputs,
	"POST /runs/{run}/do redo":  access.RunsRedo,
	"POST /runs/{run}/do retry": access.RunsRetry, "POST /runs/{run}/do skip": access.RunsSkip,
	"POST /admin/tokens/{token}/revoke": access.AccountsTokensOfOthers,
}

// instead are the actions in whose place those who may do more are shown another.
var instead = map[string]string{"POST /batches/{batch}/launch": "POST /batches/{batch}/settings"}

// also are the actions that are shown to those only who may do something else, too: this server sends no
// mail, so who enters their own address vouches for it.
var also = map[string]access.Operation{"POST /account/address": access.AccountsVouch}

// aboutOthers are the actions on people and roles: only who holds all that these may do is
// shown them, which is for the real try to tell.
var aboutOthers = regexp.MustCompile(`^POST /(admin/(people|tokens|roles)/\{|tenants/\{tenant\}/(give|roles/\{)|people/)`)

// last are the actions after which there is less to try, and endsIt are those that end it.
var (
	last   = regexp.MustCompile(`/(do|remove|delete|stop|revoke|reset|retire|withdraw|end|suspend|give|takeout)\b`)
	endsIt = regexp.MustCompile(`^POST /(signout|account/|people/)`)
)

// look is what somebody was shown.
type look struct {
	who   *access.Principal
	pages map[string]bool            // the patterns of the pages that they saw
	forms map[string]map[string]bool // actions, with the patterns of the pages that have their forms
}

// TestALauncherLaunches: who may launch and not change a draft has a button for it, and is
// told on its page why it cannot be launched.
func TestALauncherLaunches(t *testing.T) {
	t.Parallel()
	c, b := world(t, "n1/launcher")
	page := b.get("/batches/b2").want(200, "3 tasks").without("/batches/b2/settings", "/batches/b2/template")
	c.boss.post("/batches/b2/settings", url.Values{"then": {"save"}, "name": {"Draft"}, "pool": {"p1"}, "reward": {"9"}, "rule": {"count"}, "count": {"100"}, "lease": {"5"}}).want(200)
	page.form("/batches/b2/launch").send().want(http.StatusPaymentRequired, "One thing has to be put right")
	c.boss.post("/batches/b2/settings", url.Values{"then": {"save"}, "name": {"Draft"}, "pool": {"p1"}, "reward": {"0.01"}, "rule": {"count"}, "count": {"1"}, "lease": {"5"}}).want(200)
	b.get("/batches/b2").form("/batches/b2/launch").send().want(200, "Launched").at("/batches/b2")
	b.get("/batches/b2").form("/batches/b2/do").send().want(200, "Paused")
}

// TestWhatIsShownIsAllowed: each link and form that a page shows somebody leads to what they
// may do, what they may not see is refused, and whoever may do something is shown it on the
// pages that show it to others.
func TestWhatIsShownIsAllowed(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	byPattern := map[string]route{}
	for _, rt := range routes() {
		byPattern[rt.pattern] = rt
		mux.HandleFunc(rt.pattern, func(http.ResponseWriter, *http.Request) {})
	}
	patternOf := func(method, path string) string {
		u, err := url.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		_, pattern := mux.Handler(&http.Request{Method: method, URL: u, Host: "x"})
		return pattern
	}
	var mu sync.Mutex
	looks := map[string]look{}
	t.Run("as", func(t *testing.T) {
		for _, role := range viewers {
			t.Run(cmp.Or(strings.ReplaceAll(role, "/", " "), "admin"), func(t *testing.T) {
				t.Parallel()
				c, b := world(t, role)
				l := (&looker{t: t, c: c, b: b, patternOf: patternOf, routes: byPattern}).round()
				mu.Lock()
				defer mu.Unlock()
				looks[role] = l
			})
		}
	})
	if t.Failed() {
		return
	}
	everywhere := map[string]map[string]bool{}
	for _, l := range looks {
		for action, pages := range l.forms {
			if everywhere[action] == nil {
				everywhere[action] = map[string]bool{}
			}
			maps.Copy(everywhere[action], pages)
		}
	}
	for action, pages := range everywhere {
		for role, l := range looks {
			if l.forms[action] != nil || l.forms[instead[action]] != nil || aboutOthers.MatchString(action) || l.who.MayFor(operationOf(byPattern, action), 1) != nil {
				continue
			}
			if more, is := also[action]; is && l.who.May(more) != nil {
				continue
			}
			for page := range pages {
				if l.pages[page] {
					t.Errorf("%s may do %s, and %s does not show it to them", cmp.Or(role, "admin"), action, page)
				}
			}
		}
	}
	t.Logf("%d actions shown", len(everywhere))
	if len(everywhere) < 50 {
		t.Errorf("only %d actions were shown to anybody", len(everywhere))
	}
}

// operationOf is what an action needs.
func operationOf(routes map[string]route, action string) access.Operation {
	if o, found := finer[action]; found {
		return o
	}
	method, rest, _ := strings.Cut(action, " ")
	path, _, _ := strings.Cut(rest, " ")
	return routes[method+" "+path].access
}

// TestTemplatesNameOperations: what a template asks is in the table, in branches that no test
// comes to, too.
func TestTemplatesNameOperations(t *testing.T) {
	t.Parallel()
	asked := regexp.MustCompile(`\.May(?:Here)? "([^"]*)"`)
	files := read(fs.Glob(templateFiles, "templates/*.html"))(t)
	n := 0
	for _, file := range files {
		for _, m := range asked.FindAllStringSubmatch(string(read(fs.ReadFile(templateFiles, file))(t)), -1) {
			n++
			if _, found := access.FindOperation(m[1]); !found {
				t.Errorf("%s asks for %q, which is no operation", file, m[1])
			}
		}
	}
	if n < 50 {
		t.Errorf("the templates ask %d times only", n)
	}
}

// looker goes over the pages as somebody.
type looker struct {
	t         *testing.T
	c         *company
	b         *browser
	patternOf func(method, path string) string
	routes    map[string]route

	look
	links  map[string]string // with the page that shows them
	sheets map[string]*sheet // the first form of each action
}

func (x *looker) round() look {
	x.look = look{x.b.principal(), map[string]bool{}, map[string]map[string]bool{}}
	x.links, x.sheets = map[string]string{}, map[string]*sheet{}
	for _, pattern := range slices.Sorted(maps.Keys(x.routes)) {
		if method, path, _ := strings.Cut(pattern, " "); method == http.MethodGet && !pageless.MatchString(path) {
			x.page(samples.Replace(path), x.routes[pattern].access)
		}
	}
	for _, path := range alsoLooked {
		x.page(path, x.routes[x.patternOf(http.MethodGet, path)].access)
	}
	for to, from := range x.links {
		if x.patternOf(http.MethodGet, to) == "" || pageless.MatchString(to) {
			continue
		}
		if p := x.b.get(to); p.Status == http.StatusForbidden || p.Status == http.StatusNotFound {
			x.t.Errorf("%s links to %s, which answers with %d", from, to, p.Status)
		}
	}
	x.send()
	return x.look
}

// page collects what a page shows, and looks whether it is refused to who may not see it.
func (x *looker) page(path string, o access.Operation) {
	of := crowd.TenantID(1)
	if strings.HasPrefix(path, "/tenants/n2") {
		of = 2
	}
	p := x.b.get(path)
	if o.Who != access.Everybody && o.Who != access.Self && x.who.MayFor(o, of) != nil {
		if p.Status != http.StatusForbidden && p.Status != http.StatusNotFound {
			x.t.Errorf("%s is not for them, and answers with %d", path, p.Status)
		}
		return
	}
	if p.Status == http.StatusForbidden && !aboutOthers.MatchString("POST "+strings.TrimPrefix(x.patternOf(http.MethodGet, path), "GET ")) {
		x.t.Errorf("%s is for them, and answers with 403: %s", path, startOf(words(p.Root)))
	}
	if p.Status != http.StatusOK || !strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") {
		return
	}
	pattern := x.patternOf(http.MethodGet, p.URL.RequestURI())
	x.pages[pattern] = true
	for _, a := range p.all("a") {
		to := attr(a, "href")
		for at, o := range downloads {
			if at.MatchString(to) && to != "/v1/users/"+x.who.User.ID.String()+"/data" && x.who.MayFor(o, 1) != nil {
				x.t.Errorf("%s links to %s, which they may not have", path, to)
			}
		}
		if strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "/v1/") {
			x.links[strings.Split(to, "#")[0]] = path
		}
	}
	for _, f := range p.all("form") {
		if attr(f, "method") == "post" {
			x.form(pattern, p, f)
		}
	}
}

// form keeps what a form does: its route, and which of the things that its "do" names.
func (x *looker) form(page string, p *pageOf, f *html.Node) {
	s := p.sheetOf(f)
	path, _, _ := strings.Cut(s.action, "?")
	actions := []string{x.patternOf(http.MethodPost, path)}
	if strings.HasSuffix(path, "/do") {
		actions[0] += " " + s.values.Get("do")
		if !s.values.Has("do") {
			actions = nil
			for n := range f.Descendants() {
				if n.Data == "button" && attr(n, "name") == "do" {
					actions = append(actions, x.patternOf(http.MethodPost, path)+" "+attr(n, "value"))
				}
			}
		}
	}
	for _, action := range actions {
		if x.forms[action] == nil {
			x.forms[action] = map[string]bool{}
			x.sheets[action] = s
		}
		x.forms[action][page] = true
		if o := operationOf(x.routes, action); o.Who == access.Internal || o.Who != access.Self && o.Who != access.Everybody && x.who.May(o) != nil {
			x.t.Errorf("%s shows a form for %s, which they may not do", page, action)
		}
	}
}

// send sends every form that was shown, those after which there is less to try at the end.
func (x *looker) send() {
	order := slices.SortedFunc(maps.Keys(x.sheets), func(a, b string) int {
		late := func(s string) int {
			if last.MatchString(s) {
				return 1
			}
			return 0
		}
		return cmp.Or(late(a)-late(b), strings.Compare(a, b))
	})
	for _, action := range order {
		if endsIt.MatchString(action) {
			continue
		}
		s := x.sheets[action]
		for name, values := range s.values {
			if len(values) == 1 && values[0] == "" && name != "do" {
				s.values.Set(name, "1")
			}
		}
		if _, do, found := strings.Cut(strings.TrimPrefix(action, "POST "), " "); found {
			s.press("do", do)
		}
		var p *pageOf
		if s.files {
			p = s.sendFile("cats.csv", cats)
		} else {
			p = s.send()
		}
		gone := p.Status == http.StatusNotFound && !last.MatchString(action) // what one took away, the next does not find
		if p.Status == http.StatusForbidden || gone || p.Status >= 500 {
			x.t.Errorf("%s, which they are shown, answers with %d: %s", action, p.Status, startOf(words(p.Root)))
		}
	}
}

func startOf(text string) string {
	_, after, _ := strings.Cut(text, "Sign out")
	return fmt.Sprintf("%.300s", after)
}
