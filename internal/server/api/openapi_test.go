package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

var update = flag.Bool("update", false, "write testdata/openapi.json")

// document is what the tests read of an OpenAPI document.
type document struct {
	OpenAPI string
	Paths   map[string]map[string]operation
}

type operation struct {
	OperationID string `json:"operationId"`
	Summary     string
	Tags        []string
	Security    []map[string][]string
	RequestBody *struct {
		Content map[string]any
	}
	Responses  map[string]any
	Parameters []struct{ Name, In string }

	method, path string
}

// operations returns what the server says that it can do.
func (w *world) operations() []operation {
	w.t.Helper()
	var doc document
	ok(w.t, json.Unmarshal(w.send(w.nobody, http.MethodGet, "/v1/openapi.json", "").body, &doc))
	if doc.OpenAPI != "3.1.0" {
		w.t.Errorf("the document is of version %q", doc.OpenAPI)
	}
	var list []operation
	for path, methods := range doc.Paths {
		for method, o := range methods {
			o.method, o.path = strings.ToUpper(method), path
			list = append(list, o)
		}
	}
	if len(list) < 30 {
		w.t.Fatalf("only %d operations: is this the whole document?", len(list))
	}
	slices.SortFunc(list, func(x, y operation) int { return strings.Compare(x.path+x.method, y.path+y.method) })
	return list
}

func (o operation) name() string { return o.method + " " + o.path }

// public are the operations that need no token.
var public = []string{"POST /v1/session", "POST /v1/setup", "GET /v1/invitation", "POST /v1/invitation/join", "POST /v1/invitation/decline"}

func TestEveryOperation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := map[string]bool{}
	for _, o := range w.operations() {
		if o.Summary == "" || len(o.Tags) != 1 || o.OperationID == "" || ids[o.OperationID] {
			t.Errorf("%s: summary %q, tags %q, id %q", o.name(), o.Summary, o.Tags, o.OperationID)
		}
		ids[o.OperationID] = true
		if o.Responses["200"] == nil && o.Responses["201"] == nil && o.Responses["204"] == nil {
			t.Errorf("%s has no response of success", o.name())
		}
		if open := len(o.Security) == 0; open != slices.Contains(public, o.name()) {
			t.Errorf("%s is open to all: %t", o.name(), open)
		} else if open {
			continue
		}
		path := strings.NewReplacer(append([]string{"{id}", "1", "{assignment}", "a1.1", "{worker}", "u1", "{n}", "1"}, inRuns...)...).Replace(o.path)
		for who, c := range map[string]*client.Client{"without a token": w.nobody, "with a wrong one": w.nobody.As("thr_wrong")} {
			a := w.send(c, o.method, path, "")
			if p := a.problem(t); a.StatusCode != http.StatusUnauthorized || p.Code != "unauthenticated" {
				t.Errorf("%s %s: %d %s", o.name(), who, a.StatusCode, p.Code)
			}
		}
	}
}

// inRuns are names of things in a run of ourFlow.
var inRuns = []string{"{step}", "alive", "{input}", "things", "{item}", "1", "{output}", "sums", "{name}", "KEY", "{role}", "viewer?tenant=n2"}

// bodies has a body that fits for each operation that has one and names
// something by its id.
var bodies = map[string]string{
	"PUT /v1/batches/{id}":               `{"name": "x", "template": ` + yesOrNo + `, "reward_micros": 1}`,
	"PATCH /v1/batches/{id}":             `{"priority": 2}`,
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
}

// TestWhatIsAnothersIsNotThere calls every operation that names something by
// its id with what is another tenant's or another person's, and with what does
// not exist: the answers must be the same.
func TestWhatIsAnothersIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	draft, running := w.draft("thing\na dog\n").String(), w.launch("thing\na dog\n").String()
	held := w.next(w.workers[0]).Assignment.String()
	kept := strconv.FormatInt(must(w.store.PutSubscription(w.ctx, store.Subscription{Worker: must(w.workers[0].Me(w.ctx))(t).ID, Endpoint: "https://push.example.org/1"}))(t), 10)
	ok(t, w.store.CreateService(w.ctx, store.Service{Name: "theirs", URL: "https://x.example", Concurrency: 1, Tenants: []crowd.TenantID{w.b}}))
	must(w.admin.GrantPool(w.ctx, must(w.admin.CreatePool(w.ctx, "theirs", ""))(t).ID, w.b, true))(t) // p2
	must(w.ann.CreateRole(w.ctx, wire.NewRole{Name: "checker", Tenant: w.a, Permissions: []string{"batches.read"}}))(t)
	w.test()
	w.invite(w.ann, "somebody@example.org")
	loading, going := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: ourFlow}))(t).ID.String(), w.run(ourFlow, "id,thing\n1,a dog\n").String()
	ann, one := must(w.ann.Me(w.ctx))(t).ID.String(), must(w.workers[0].Me(w.ctx))(t).ID.String()
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
		type pair struct {
			who          *client.Client
			theirs, none []string // for {id}, {worker} ...
		}
		var pairs []pair
		switch first := strings.Split(o.path, "/")[2]; first {
		case "batches":
			for _, id := range []string{draft, running} {
				pairs = append(pairs, pair{w.bob, []string{"{id}", id}, []string{"{id}", "b999"}}, pair{w.workers[0], []string{"{id}", id}, []string{"{id}", "b999"}})
			}
		case "runs":
			for _, id := range []string{loading, going} {
				pairs = append(pairs, pair{w.bob, []string{"{id}", id}, []string{"{id}", "r999"}}, pair{w.workers[0], []string{"{id}", id}, []string{"{id}", "r999"}})
			}
		case "tenants":
			pairs = []pair{{w.bob, []string{"{id}", w.a.String()}, []string{"{id}", "n999"}}}
			if strings.HasSuffix(o.path, "/{worker}") { // the boss, who is no worker
				pairs = append(pairs, pair{w.bob, []string{"{worker}", "u1", "{id}", w.b.String()}, []string{"{worker}", "u999", "{id}", w.b.String()}})
			}
		case "users":
			pairs = []pair{{w.bob, []string{"{id}", ann}, []string{"{id}", "u999"}}}
		case "pools":
			who := w.bob
			if strings.HasSuffix(o.path, "/fairness") { // of which requesters see their own, of a pool that they may know
				who = w.workers[0]
			}
			pairs = []pair{{who, []string{"{id}", "p1"}, []string{"{id}", "p999"}}, {w.ann, []string{"{id}", "p2"}, []string{"{id}", "p999"}}}
		case "audit":
			theirs := strconv.FormatInt(must(w.store.AuditEntries(w.ctx, store.AuditFilter{Tenant: w.a, Limit: 1}))(t)[0].Number, 10)
			installations := strconv.FormatInt(must(w.store.AuditEntries(w.ctx, store.AuditFilter{Kind: "pool", Limit: 1}))(t)[0].Number, 10)
			pairs = []pair{{w.bob, []string{"{id}", theirs}, []string{"{id}", "999"}}, {w.ann, []string{"{id}", installations}, []string{"{id}", "999"}}, {w.workers[0], []string{"{id}", theirs}, []string{"{id}", "999"}}}
		case "tokens", "sessions":
			pairs = []pair{{w.bob, []string{"{id}", "2"}, []string{"{id}", "999"}}}
		case "invitations":
			pairs = []pair{{w.bob, []string{"{id}", "1"}, []string{"{id}", "999"}}, {w.workers[0], []string{"{id}", "1"}, []string{"{id}", "999"}}}
		case "tests":
			pairs = []pair{{w.bob, []string{"{id}", "1"}, []string{"{id}", "999"}}, {w.workers[0], []string{"{id}", "1"}, []string{"{id}", "999"}}}
		case "my-tests":
			pairs = []pair{{w.workers[1], []string{"{id}", "1"}, []string{"{id}", "999"}}}
		case "push-subscriptions":
			pairs = []pair{{w.workers[1], []string{"{id}", kept}, []string{"{id}", "999"}}}
		case "services":
			pairs = []pair{{w.ann, []string{"{name}", "theirs"}, []string{"{name}", "nosuch"}}, {w.workers[0], []string{"{name}", "theirs"}, []string{"{name}", "nosuch"}}}
		case "providers": // of which only administrators hear
			pairs = []pair{{w.bob, []string{"{provider}", "corp", "{token}", "1"}, []string{"{provider}", "nosuch", "{token}", "999"}}}
		case "roles":
			pairs = []pair{{w.bob, []string{"{role}", "checker?tenant=" + w.a.String()}, []string{"{role}", "nosuch?tenant=n999"}}, {w.bob, []string{"{role}", "nosuch?tenant=" + w.a.String()}, []string{"{role}", "nosuch?tenant=n999"}}}
		case "work":
			pairs = []pair{{w.workers[1], []string{"{assignment}", held}, []string{"{assignment}", "a999.1"}}}
		default:
			t.Errorf("%s: nothing is known about %q", o.name(), first)
		}
		for _, x := range slices.Clone(pairs) {
			pairs = append(pairs, pair{w.nobody, x.theirs, x.none})
		}
		for _, x := range pairs {
			cases++
			rest := append([]string{"{worker}", one, "{n}", "1", "{tenant}", "n1"}, inRuns...)
			theirs := w.send(x.who, o.method, strings.NewReplacer(append(x.theirs, rest...)...).Replace(o.path), body)
			none := w.send(x.who, o.method, strings.NewReplacer(append(x.none, rest...)...).Replace(o.path), body)
			if x.who != w.nobody && theirs.StatusCode != http.StatusNotFound && theirs.StatusCode != http.StatusForbidden || x.who == w.nobody && theirs.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s of %s: status %d", o.name(), x.theirs[1], theirs.StatusCode)
			}
			if got, want := theirs.signature(x.theirs[1]), none.signature(x.none[1]); got != want {
				t.Errorf("%s tells what is another's from what is not there:\n%s\n%s", o.name(), got, want)
			}
			if (strings.HasPrefix(o.path, "/v1/batches") || strings.HasPrefix(o.path, "/v1/runs")) && x.who == w.bob && theirs.StatusCode != http.StatusNotFound {
				t.Errorf("%s: status %d of what is another tenant's", o.name(), theirs.StatusCode)
			}
		}
	}
	if cases < 40 {
		t.Errorf("only %d cases", cases)
	}
	for name := range bodies {
		if !slices.ContainsFunc(w.operations(), func(o operation) bool { return o.name() == name }) {
			t.Errorf("a body for %s, which is not there", name)
		}
	}
}

// TestWrongIDsAreNotThere: an id of another kind, or none at all, names nothing.
func TestWrongIDsAreNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, o := range w.operations() {
		if !strings.Contains(o.path, "{id}") && !strings.Contains(o.path, "{assignment}") || strings.HasPrefix(o.path, "/v1/tokens") || strings.HasPrefix(o.path, "/v1/sessions") || strings.HasPrefix(o.path, "/v1/push-subscriptions") || strings.HasPrefix(o.path, "/v1/audit/") {
			continue
		}
		for _, wrong := range []string{"17", "x17", "b017", "b-1", "b9999999999999999999", "a1", "t1.1", "%00"} {
			path := strings.NewReplacer(append([]string{"{id}", wrong, "{assignment}", wrong, "{worker}", "u1", "{n}", "1"}, inRuns...)...).Replace(o.path)
			if a := w.send(w.admin, o.method, path, bodies[o.name()]); a.StatusCode != http.StatusNotFound {
				if strings.HasPrefix(o.path, "/v1/work") && a.StatusCode == http.StatusForbidden {
					continue // an admin does not work
				}
				t.Errorf("%s with %q: status %d %s", o.name(), wrong, a.StatusCode, a.body)
			}
		}
	}
}

// TestTheDocumentIsAsKept compares the document with the one in testdata, so
// that no change of the API goes unseen. go test ./internal/server/api -update
func TestTheDocumentIsAsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var doc bytes.Buffer
	ok(t, json.Indent(&doc, w.send(w.nobody, http.MethodGet, "/v1/openapi.json", "").body, "", "  "))
	file := filepath.Join("testdata", "openapi.json")
	if *update {
		ok(t, os.WriteFile(file, doc.Bytes(), 0o600))
	}
	want := must(os.ReadFile(file))(t)
	if !bytes.Equal(doc.Bytes(), want) {
		got, was := strings.Split(doc.String(), "\n"), strings.Split(string(want), "\n")
		for i := range min(len(got), len(was)) {
			if got[i] != was[i] {
				t.Errorf("line %d of the document was\n%s\nand is\n%s", i+1, was[i], got[i])
				break
			}
		}
		t.Error("the API has changed: look at the difference, then run go test ./internal/server/api -update")
	}
}

func TestTheDocsPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.send(w.nobody, http.MethodGet, "/docs", "")
	page := must(html.Parse(bytes.NewReader(a.body)))(t)
	if a.StatusCode != http.StatusOK || !strings.HasPrefix(a.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("status %d, policy %q", a.StatusCode, a.Header.Get("Content-Security-Policy"))
	}
	ids := map[string]bool{}
	for n := range page.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "link", "img", "iframe", "object", "embed":
			t.Errorf("the page has a %s", n.Data)
		}
		for _, at := range n.Attr {
			switch {
			case n.Data == "details" && at.Key == "id":
				ids[at.Val] = true
			case at.Key == "href" || at.Key == "src":
				if !strings.HasPrefix(at.Val, "/") || strings.HasPrefix(at.Val, "//") {
					t.Errorf("the page points to %s", at.Val)
				} else if at.Val != "/" {
					if a := w.send(w.nobody, http.MethodGet, at.Val, ""); a.StatusCode != http.StatusOK {
						t.Errorf("%s: status %d", at.Val, a.StatusCode)
					}
				}
			case strings.HasPrefix(at.Key, "on"):
				t.Errorf("the page has %s", at.Key)
			}
		}
	}
	for _, o := range w.operations() {
		if !ids[o.OperationID] {
			t.Errorf("%s is not on the page", o.name())
		}
	}
}
