package api_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

// inRuns are names of things in a run of ourFlow.
var inRuns = []string{"{step}", "alive", "{input}", "things", "{item}", "1", "{output}", "sums", "{name}", "KEY", "{role}", "viewer?tenant=n2"}

// bodies has a body that fits for each operation that has one and names
// something by its id.
var bodies = map[string]string{
	"PUT /v1/batches/{id}":   `{"name": "x", "template": ` + yesOrNo + `, "reward_micros": 1}`,
	"PATCH /v1/batches/{id}": `{"priority": 2}`,
	"POST /v1/batches/{id}/tasks/{n}/answers/{worker}/send-back": `{"comment": "look again"}`,
	"PUT /v1/batches/{id}/tasks/{n}/reply":                       `{"text": "it is there now"}`, "PUT /v1/batches/{id}/tasks/{n}/label": `{"value": "yes"}`,
	"POST /v1/work/{assignment}/report":  `{"text": "no picture"}`,
	"PUT /v1/batches/{id}/tasks":         "thing\na dog\n",
	"POST /v1/batches/{id}/tasks":        "thing\na dog\n",
	"POST /v1/batches/{id}/top-up":       `{"amount_micros": 1}`,
	"POST /v1/runs/{id}/top-up":          `{"amount_micros": 1}`,
	"PATCH /v1/tenants/{id}":             `{"stopped": true}`,
	"POST /v1/tenants/{id}/deposits":     `{"amount_micros": 1}`,
	"PUT /v1/tenants/{id}/quotas":        `{"values": {"open-runs": 5}}`,
	"PUT /v1/tenants/{id}/retention":     `{"days": {"answers": 9}}`,
	"PATCH /v1/pools/{id}":               `{"stopped": true}`,
	"POST /v1/pools/{id}/funds":          `{"amount_micros": 1}`,
	"PUT /v1/pools/{id}/grants/{tenant}": `{"invite": true}`,
	"POST /v1/pools/{id}/rules/test":     `{"rules": []}`,
	"POST /v1/pools/{id}/transfers":      `{"worker": "u1", "to": "p1"}`,
	"PATCH /v1/users/{id}":               `{"full_name": "x"}`,
	"PATCH /v1/services/{name}":          `{"concurrency": 2}`,
	"PATCH /v1/roles/{role}":             `{"text": "x"}`,
	"POST /v1/users/{id}/roles":          `{"role": "n2/viewer"}`,
	"POST /v1/tests/{id}/retire":         `{"retired": true}`,
	"POST /v1/my-tests/{id}/submit":      `{"try": 1, "answers": {}}`,
	"PUT /v1/runs/{id}/inputs/{input}":   "id,thing\n1,a dog\n",

	"POST /v1/runs/{id}/inputs/{input}/rows": "id,thing\n1,a dog\n",

	"PUT /v1/tenants/{id}/secrets/{name}":  `{"value": "x"}`,
	"POST /v1/users/{id}/erasure":          `{"confirm": "x"}`,
	"POST /v1/providers/{provider}/tokens": `{"name": "x"}`,
	"POST /v1/work/{assignment}/submit":    `{"answer": "yes"}`,
	"POST /v1/work/{assignment}/revise":    `{"answer": "yes"}`,

	"POST /v1/batches/{id}/pay/approve": `{"assignments": ["a1.1"]}`, "POST /v1/batches/{id}/pay/refuse": `{"worker": "u1", "reason": "no"}`,
	"POST /v1/appeals/{assignment}": `{"pay": true, "text": "so it is"}`, "POST /v1/work/pay/{assignment}/appeal": `{"text": "it is right"}`,
}

// pair is somebody who asks for what is not theirs, and for what is not there.
type pair struct {
	who          *client.Client
	theirs, none []string // for {id}, {worker} ...
}

// strangers asks for what is another tenant's or another person's.
type strangers struct {
	*world
	draft, running, loading, going, held, annID, kept string
	audit, installations                              string // numbers of entries
}

func newStrangers(t *testing.T) *strangers {
	w := newWorld(t)
	x := &strangers{world: w, draft: w.draft("thing\na dog\n").String(), running: w.launch("thing\na dog\n").String()}
	x.held = w.next(w.workers[0]).Assignment.String()
	x.kept = strconv.FormatInt(must(w.store.PutSubscription(w.ctx, store.Subscription{Worker: must(w.workers[0].Me(w.ctx))(t).ID, Endpoint: "https://push.example.org/1"}))(t), 10)
	ok(t, w.store.CreateService(w.ctx, store.Service{Name: "theirs", URL: "https://x.example", Concurrency: 1, Tenants: []crowd.TenantID{w.b}}))
	ok(t, w.store.CreateService(w.ctx, store.Service{Name: "annas", URL: "https://x.example", Concurrency: 1, Tenants: []crowd.TenantID{w.a}}))
	must(w.admin.GrantPool(w.ctx, must(w.admin.CreatePool(w.ctx, "theirs", ""))(t).ID, w.b, true))(t) // p2
	must(w.ann.CreateRole(w.ctx, wire.NewRole{Name: "checker", Tenant: w.a, Permissions: []string{"batches.read"}}))(t)
	w.test()
	w.invite(w.ann, "somebody@example.org")
	x.loading, x.going = must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: ourFlow}))(t).ID.String(), w.run(ourFlow, "id,thing\n1,a dog\n").String()
	x.annID = must(w.ann.Me(w.ctx))(t).ID.String()
	entry := func(f store.AuditFilter) string {
		f.Limit = 1
		return strconv.FormatInt(must(w.store.AuditEntries(w.ctx, f))(t)[0].Number, 10)
	}
	x.audit, x.installations = entry(store.AuditFilter{Tenant: w.a}), entry(store.AuditFilter{Kind: "pool"})
	return x
}

// pairs returns who asks an operation for what.
func (x *strangers) pairs(o operation) (pairs []pair) {
	both := func(id, none string) []pair {
		return []pair{{x.bob, []string{"{id}", id}, []string{"{id}", none}}, {x.workers[0], []string{"{id}", id}, []string{"{id}", none}}}
	}
	another := func(part, id, none string) []pair {
		return []pair{{x.workers[1], []string{part, id}, []string{part, none}}}
	}
	switch first := strings.Split(o.path, "/")[2]; first {
	case "batches":
		pairs = append(both(x.draft, "b999"), both(x.running, "b999")...)
	case "runs":
		pairs = append(both(x.loading, "r999"), both(x.going, "r999")...)
	case "tenants":
		pairs = []pair{{x.bob, []string{"{id}", x.a.String()}, []string{"{id}", "n999"}}}
		if strings.HasSuffix(o.path, "/{worker}") { // the boss, who is no worker
			pairs = append(pairs, pair{x.bob, []string{"{worker}", "u1", "{id}", x.b.String()}, []string{"{worker}", "u999", "{id}", x.b.String()}})
		}
	case "users":
		pairs = []pair{{x.bob, []string{"{id}", x.annID}, []string{"{id}", "u999"}}}
	case "pools":
		who := x.bob
		if strings.HasSuffix(o.path, "/fairness") { // of which requesters see their own, of a pool that they may know
			who = x.workers[0]
		}
		pairs = []pair{{who, []string{"{id}", "p1"}, []string{"{id}", "p999"}}, {x.ann, []string{"{id}", "p2"}, []string{"{id}", "p999"}}}
	case "audit":
		pairs = append(both(x.audit, "999"), pair{x.ann, []string{"{id}", x.installations}, []string{"{id}", "999"}})
	case "tokens", "sessions":
		pairs = []pair{{x.bob, []string{"{id}", "2"}, []string{"{id}", "999"}}}
	case "invitations", "tests":
		pairs = both("1", "999")
	case "my-tests":
		pairs = another("{id}", "1", "999")
	case "push-subscriptions":
		pairs = another("{id}", x.kept, "999")
	case "services":
		pairs = []pair{{x.ann, []string{"{name}", "theirs"}, []string{"{name}", "nosuch"}}, {x.bob, []string{"{name}", "annas"}, []string{"{name}", "nosuch"}}, {x.workers[0], []string{"{name}", "theirs"}, []string{"{name}", "nosuch"}}}
	case "providers": // of which only administrators hear
		pairs = []pair{{x.bob, []string{"{provider}", "corp", "{token}", "1"}, []string{"{provider}", "nosuch", "{token}", "999"}}}
	case "roles":
		pairs = []pair{{x.bob, []string{"{role}", "checker?tenant=" + x.a.String()}, []string{"{role}", "nosuch?tenant=n999"}}, {x.bob, []string{"{role}", "nosuch?tenant=" + x.a.String()}, []string{"{role}", "nosuch?tenant=n999"}}}
	case "appeals":
		pairs = []pair{{x.bob, []string{"{assignment}", x.held}, []string{"{assignment}", "a999.1"}}}
	case "work":
		pairs = another("{assignment}", x.held, "a999.1")
	default:
		x.t.Errorf("%s: nothing is known about %q", o.name(), first)
	}
	for _, p := range slices.Clone(pairs) {
		pairs = append(pairs, pair{x.nobody, p.theirs, p.none})
	}
	return pairs
}

// asking is one of the ways in which something can be asked for.
type asking struct {
	method, query, body string
	header              []string
}

// askings returns the ways to ask an operation: as documented, with each of its parameters
// and without, with bodies that do not fit, and as those do who download or follow it.
func (o operation) askings(body string) []asking {
	plain := asking{method: o.method, body: body}
	list := []asking{plain}
	with := func(change func(*asking)) {
		a := plain
		change(&a)
		list = append(list, a)
	}
	for _, header := range [][]string{
		{"Accept", "text/event-stream"}, {"Accept", "text/csv"}, {"Accept", "nothing/that-is"}, {"Accept-Encoding", "gzip"}, {"Last-Event-ID", "5"}, {"Range", "bytes=0-9"},
		{"If-None-Match", "*"}, {"If-Match", "*"}, {"If-Modified-Since", "Thu, 01 Jan 2099 00:00:00 GMT"},
		{"Idempotency-Key", "one"}, {"Idempotency-Key", "one"}, {"Idempotency-Key", "no key, as it is too long: " + strings.Repeat("x", 300)}, {"Content-Type", "text/csv"}, {"Content-Encoding", "gzip"}, {"Expect", "100-continue"},
	} {
		with(func(a *asking) { a.header = header })
	}
	for _, method := range []string{http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodPost, http.MethodDelete} {
		with(func(a *asking) { a.method = method })
	}
	for _, other := range []string{"", "{}", "[]", "{", "null", `{"nonsense": 1}`, "\x00\xff", "thing,_gold\n"} {
		with(func(a *asking) { a.body = other })
	}
	for _, parameter := range o.Parameters {
		if parameter.In == "query" {
			for _, value := range []string{"1", "true", "0", "-1", "no such thing", "csv", "alive", "b1", ""} {
				with(func(a *asking) { a.query = parameter.Name + "=" + strings.ReplaceAll(value, " ", "+") })
			}
		}
	}
	return list
}

// TestWhatIsAnothersIsNotThere calls every operation that names something by
// its id with what is another tenant's or another person's, and with what does
// not exist, in every way that it can be asked for: the answers must be the same.
func TestWhatIsAnothersIsNotThere(t *testing.T) {
	t.Parallel()
	w := newStrangers(t)
	one := must(w.workers[0].Me(w.ctx))(t).ID.String()
	cases := 0
	for _, o := range w.operations() {
		if !strings.Contains(o.path, "{") {
			continue
		}
		body, found := bodies[o.name()]
		if found != (o.RequestBody != nil) {
			t.Errorf("%s: a body is declared: %t, known here: %t", o.name(), o.RequestBody != nil, found)
			continue
		}
		rest := append([]string{"{worker}", one, "{n}", "1", "{tenant}", "n1"}, inRuns...)
		for _, x := range w.pairs(o) {
			for i, way := range o.askings(body) {
				cases++
				ask := func(names []string) answer {
					path := strings.NewReplacer(append(slices.Clone(names), rest...)...).Replace(o.path)
					if way.query != "" {
						path += map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + way.query
					}
					return w.send(x.who, way.method, path, way.body, way.header...)
				}
				theirs, none := ask(x.theirs), ask(x.none)
				if got, want := theirs.signature(), none.signature(renamed(x)...); got != want {
					t.Errorf("%s, asked with %+v, tells what is another's from what is not there:\n%s\n%s", o.name(), way, got, want)
				}
				if i > 0 {
					continue
				}
				if x.who != w.nobody && theirs.StatusCode != http.StatusNotFound && theirs.StatusCode != http.StatusForbidden || x.who == w.nobody && theirs.StatusCode != http.StatusUnauthorized {
					t.Errorf("%s of %s: status %d", o.name(), x.theirs[1], theirs.StatusCode)
				}
				if (strings.HasPrefix(o.path, "/v1/batches") || strings.HasPrefix(o.path, "/v1/runs")) && x.who == w.bob && theirs.StatusCode != http.StatusNotFound {
					t.Errorf("%s: status %d of what is another tenant's", o.name(), theirs.StatusCode)
				}
			}
		}
	}
	if cases < 4000 {
		t.Errorf("only %d cases", cases)
	}
	w.bodiesAreThere()
}

// everyRole has somebody with each role that can be held, built-in or made by people, for the
// installation ("viewer") and for Bob's tenant ("n2/viewer"), and with a pool.
func (x *strangers) everyRole() map[string]*client.Client {
	x.t.Helper()
	must(x.admin.CreateRole(x.ctx, wire.NewRole{Name: "odd", Permissions: []string{"batches.launch", "people.names", "secrets.change", "money.move", "audit.read"}}))(x.t)
	must(x.bob.CreateRole(x.ctx, wire.NewRole{Name: "own", Permissions: []string{"batches.edit", "review", "people.invite"}}))(x.t)
	here := x.b.String() + "/"
	held := []string{"odd", here + "odd", here + "own"}
	for _, b := range access.BuiltIns() {
		if b.Installation {
			held = append(held, string(b.Role))
		}
		if b.Tenant {
			held = append(held, here+string(b.Role))
		}
	}
	people := map[string]*client.Client{here + " and nothing but a pool": x.workers[1], here + "requester and a pool": x.person(wire.NewUser{Name: "both", Tenants: []crowd.TenantID{x.b}, Pool: 1})}
	for _, role := range held {
		people[role] = x.person(wire.NewUser{Name: "with-" + strings.ReplaceAll(role, "/", "-"), Roles: []string{role}})
	}
	return people
}

// TestNoRoleTellsWhatIsAnothers: whoever has whatever role, of all that they may not know they
// hear what they hear of what is not there, of every operation that names something by its id.
// Those who have a role for the installation know of some things, which are left out for them.
func TestNoRoleTellsWhatIsAnothers(t *testing.T) {
	t.Parallel()
	w := newStrangers(t)
	people := w.everyRole()
	rest := append([]string{"{worker}", must(w.workers[0].Me(w.ctx))(t).ID.String(), "{n}", "1", "{tenant}", "n1"}, inRuns...)
	operations := w.operations()
	asked := make(map[string]int)
	for _, ofTenant := range []bool{true, false} { // those for the installation may end what the others ask for
		for role, who := range people {
			if strings.Contains(role, "/") != ofTenant {
				continue
			}
			knows := make(map[string]bool)
			for _, o := range operations {
				if !strings.Contains(o.path, "{") {
					continue
				}
				for _, x := range w.pairs(o) {
					if x.who == w.nobody || x.who == w.workers[0] || x.who == w.ann || strings.Contains(x.theirs[1], "?") && strings.HasPrefix(x.theirs[1], "nosuch") { // the same again
						continue
					}
					names := strings.NewReplacer(append(slices.Clone(x.theirs), rest...)...)
					thing := names.Replace(strings.Join(strings.Split(o.path, "/")[:4], "/"))
					if strings.HasPrefix(thing, "/v1/roles/") { // which are listed, and not looked at
						thing = "/v1/roles"
					}
					if _, is := knows[thing]; !is && !ofTenant {
						knows[thing] = w.send(who, http.MethodGet, thing, "").StatusCode == http.StatusOK
					}
					if knows[thing] {
						continue
					}
					body := bodies[o.name()]
					theirs := w.send(who, o.method, names.Replace(o.path), body)
					none := w.send(who, o.method, strings.NewReplacer(append(slices.Clone(x.none), rest...)...).Replace(o.path), body)
					if !ofTenant && theirs.StatusCode != http.StatusForbidden && none.StatusCode != http.StatusForbidden { // they may
						continue
					}
					asked[role]++
					if got, want := theirs.signature(), none.signature(renamed(x)...); got != want {
						t.Errorf("%s tells %s what is another's from what is not there, %s:\n%s\n%s", o.name(), role, x.theirs[1], got, want)
					}
				}
			}
		}
	}
	for role, n := range asked {
		if strings.Contains(role, "/") && n < 150 {
			t.Errorf("%s was asked about %d things only", role, n)
		}
	}
}

// renamed has the names of what is not there, each with that of what is another's.
func renamed(x pair) (list []string) {
	for i := 1; i < len(x.none); i += 2 {
		none, ofNone, _ := strings.Cut(x.none[i], "?tenant=")
		theirs, ofTheirs, _ := strings.Cut(x.theirs[i], "?tenant=")
		if list = append(list, none, theirs); ofNone != "" {
			list = append(list, ofNone, ofTheirs)
		}
	}
	return list
}

// bodiesAreThere checks that each body is one of an operation.
func (w *strangers) bodiesAreThere() {
	for name := range bodies {
		if !slices.ContainsFunc(w.operations(), func(o operation) bool { return o.name() == name }) {
			w.t.Errorf("a body for %s, which is not there", name)
		}
	}
}
