package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
)

var pseudonyms = regexp.MustCompile(`\bw_[a-z2-7]{26}\b`)

// crew makes two workers known in all ways to a tenant's requester: who was invited and
// took a test, who answers, holds a task and is blocked. It returns what would name them
// outside of the tenant. The things are batch b1, run r1, test 1 and invitation 1.
func (w *world) crew() (identities *regexp.Regexp, eva *client.Client) {
	w.t.Helper()
	w.test()
	token := w.invite(w.ann, "eva@example.org", `, "test": 1`).Invited[0].Token
	join := fmt.Sprintf(`{"token": %q, "name": "evangelina", "password": "correct horse battery"}`, token)
	eva = w.nobody.As(into[map[string]string](w.t, w.send(w.nobody, http.MethodPost, "/v1/invitation/join", join))["token"])
	v := into[takenBody](w.t, w.send(eva, http.MethodPost, "/v1/my-tests/1/start", ""))
	answers := map[string]string{}
	for _, q := range v.Current.Questions {
		answers[q.Name] = map[string]string{"a dog": "goldyes", "a stone": "goldno", "a cat": "goldyes"}[q.Values["thing"]]
	}
	into[takenBody](w.t, w.send(eva, http.MethodPost, "/v1/my-tests/1/submit", string(must(json.Marshal(map[string]any{"try": 1, "answers": answers}))(w.t))))
	w.launch("thing,_gold\na dog,yes\na stone,no\na cat,yes\na fly,yes\n") // b1
	one := must(w.workers[0].Me(w.ctx))(w.t)
	mail := "worker1@crowd.example"
	must(w.admin.EditUser(w.ctx, one.ID, wire.UserEdit{Email: &mail}))(w.t)
	for _, c := range []*client.Client{eva, w.workers[0]} {
		w.answerYes(c)
		w.next(c)
	}
	w.run(ourFlow, "id,thing\n1,a dog\n")
	var known []wire.Held
	ok(w.t, json.Unmarshal(w.send(w.ann, http.MethodGet, "/v1/batches/b1/holding", "").body, &known))
	ok(w.t, w.ann.Block(w.ctx, w.a, known[0].Worker, true))
	last := must(eva.Me(w.ctx))(w.t).ID
	return regexp.MustCompile(fmt.Sprintf(`\b(%s|%s|worker1|evangelina|%s)\b`, one.ID, last, mail)), eva
}

// answerYes answers a worker's next task.
func (w *world) answerYes(c *client.Client) {
	w.t.Helper()
	_, _, err := c.Submit(w.ctx, w.next(c).Assignment, []byte(`"yes"`), false, 0)
	ok(w.t, err)
}

// look returns an answer to a request, of a stream its first event.
func (w *world) look(c *client.Client, o operation, path, body string) string {
	w.t.Helper()
	if !strings.HasSuffix(o.path, "/events") {
		a := w.send(c, o.method, path, body)
		return fmt.Sprintf("%d %v %s", a.StatusCode, a.Header, a.body)
	}
	ctx, stop := context.WithCancel(w.ctx)
	defer stop()
	req := must(http.NewRequestWithContext(ctx, o.method, c.URL+path, nil))(w.t)
	req.Header.Set("Authorization", "Bearer "+c.Token)
	resp := must(c.HTTP.Do(req))(w.t)
	defer resp.Body.Close()
	var told strings.Builder
	for lines := bufio.NewScanner(resp.Body); lines.Scan() && lines.Text() != ""; {
		told.WriteString(lines.Text())
	}
	return told.String()
}

// TestNoWorkerIsNamed: whatever a requester asks for, workers stand there by pseudonyms of
// the tenant's. A requester with people.names sees who they are in the same places.
func TestNoWorkerIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	identities, _ := w.crew()
	must(w.admin.CreateRole(w.ctx, wire.NewRole{Name: "trusted", Tenant: w.a, Permissions: []string{"people.names"}}))(t)
	trusted := w.person(wire.NewUser{Name: "tom", Tenants: []crowd.TenantID{w.a}, Roles: []string{"n1/trusted"}})
	entries := into[[]wire.AuditEntry](t, w.send(w.ann, http.MethodGet, "/v1/audit?limit=1000", ""))
	block := slices.IndexFunc(entries, func(e wire.AuditEntry) bool { return e.Operation == "Accounts.BlockWorker" })
	if block < 0 {
		t.Fatal("the block is in no entry")
	}
	held, named, looked := map[string]bool{}, map[string]bool{}, 0
	forID := map[string]string{"batches": "b1", "runs": "r1", "tenants": "n1", "pools": "p1", "users": "u2", "audit": fmt.Sprint(entries[block].Number)}
	ops := w.operations()
	slices.SortStableFunc(ops, func(x, y operation) int { // what looks comes first
		return btoi(x.method != http.MethodGet) - btoi(y.method != http.MethodGet)
	})
	for _, o := range ops {
		area := strings.Split(o.path, "/")[2]
		id := forID[area]
		if id == "" {
			id = "1"
		}
		fill := strings.NewReplacer(append([]string{"{id}", id, "{assignment}", "a1.1", "{worker}", "u999", "{n}", "1", "{tenant}", "n1", "{provider}", "corp", "{token}", "99"}, inRuns...)...)
		if o.method == http.MethodDelete && (area == "session" || area == "sessions" || area == "tokens") {
			continue // it would end what it asks with
		}
		paths := []string{fill.Replace(o.path)}
		if o.path == "/v1/batches/{id}/annotations" {
			paths = append(paths, paths[0]+"?format=jsonl&all=true")
		}
		if o.path == "/v1/batches/{id}/results/download" {
			paths = append(paths, paths[0]+"?rows=answers", paths[0]+"?rows=answers&format=jsonl&method=majority", paths[0]+"?rows=answers&names=true")
		}
		if o.path == "/v1/batches/{id}/results" {
			paths = append(paths, paths[0]+"?method=live&limit=1", paths[0]+"?filter=sort:-confidence", paths[0]+"?filter=worker:worker1")
		}
		if o.path == "/v1/batches/{id}/quality" {
			paths = append(paths, paths[0]+"?method=robust", paths[0]+"?method=majority")
		}
		if o.path == "/v1/batches/{id}/workers/{worker}" {
			paths[0] = strings.ReplaceAll(o.path, "{id}", id)
			paths[0] = strings.ReplaceAll(paths[0], "{worker}", must(w.ann.Quality(w.ctx, 1, ""))(t).Workers[0].Worker)
			paths = append(paths, paths[0]+"?wrong=true&method=majority")
		}
		for _, path := range paths {
			told := w.look(w.ann, o, path, bodies[o.name()])
			if looked++; identities.MatchString(told) {
				t.Errorf("%s %s names a worker, %q:\n%s", o.method, path, identities.FindString(told), told)
			}
			held[o.name()] = held[o.name()] || pseudonyms.MatchString(told)
			if o.method == http.MethodGet && identities.MatchString(w.look(trusted, o, path, "")) {
				named[o.name()] = true
			}
		}
	}
	for _, name := range []string{"GET /v1/batches/{id}/annotations", "GET /v1/batches/{id}/results", "GET /v1/batches/{id}/results/download", "GET /v1/batches/{id}/quality", "GET /v1/batches/{id}/workers/{worker}", "GET /v1/batches/{id}/holding", "GET /v1/tests/{id}/tries",
		"GET /v1/invitations", "GET /v1/invitations/{id}", "GET /v1/audit", "GET /v1/audit/{id}", "GET /v1/audit/export"} {
		if !held[name] {
			t.Errorf("%s has nobody by a pseudonym: was there anything to see?", name)
		}
		if !named[name] && !strings.HasSuffix(name, "annotations") { // which names if it is asked to
			t.Errorf("%s does not say who it is to who may see it", name)
		}
	}
	if looked < 150 {
		t.Errorf("only %d answers were looked at", looked)
	}
	for _, path := range []string{"/v1/batches/b1/annotations?", "/v1/batches/b1/results/download?rows=answers&"} {
		if a := w.send(trusted, http.MethodGet, path, ""); a.StatusCode != http.StatusOK || !pseudonyms.Match(a.body) || identities.Match(a.body) {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.body)
		}
		path += "names=true"
		if a := w.send(w.ann, http.MethodGet, path, ""); a.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.body)
		}
		if a := w.send(trusted, http.MethodGet, path, ""); !strings.Contains(string(a.body), ",worker_id,worker_name\n") || !identities.Match(a.body) {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.body)
		}
	}
	if a := w.send(trusted, http.MethodGet, "/v1/batches/b1/results/download?rows=tasks&names=true", ""); a.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("names of tasks: %d %s", a.StatusCode, a.body)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestNoIDLeadsToAPseudonym: a requester who guesses ids learns nothing by blocking them or
// by looking for them in the audit log; what they have by pseudonyms they find.
func TestNoIDLeadsToAPseudonym(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, eva := w.crew()
	id := must(eva.Me(w.ctx))(t).ID
	who := into[[]map[string]any](t, w.send(w.ann, http.MethodGet, "/v1/invitations", ""))[0]["worker"].(string)
	for c, finds := range map[*client.Client]map[string]int{
		w.ann:   {who: 1, id.String(): 0, "evangelina": 0},
		w.admin: {who: 1, id.String(): 1, "evangelina": 1},
	} {
		for text, want := range finds {
			page := into[wire.Results](t, w.send(c, http.MethodGet, "/v1/batches/b1/results?filter=worker:"+text, ""))
			if len(page.Tasks) != want || want == 1 && page.Tasks[0].Answers[0].Worker != who {
				t.Errorf("worker:%s finds %+v", text, page.Tasks)
			}
		}
	}
	absent := w.send(w.ann, http.MethodPut, "/v1/tenants/n1/blocks/u999", "").signature("u999", "ID")
	others := into[wire.KnownWorker](t, w.send(w.admin, http.MethodGet, "/v1/tenants/n2/workers/"+id.String(), ""))
	if known := into[wire.KnownWorker](t, w.send(w.admin, http.MethodGet, "/v1/tenants/n1/workers/"+who, "")); known.WorkerID != id || known.Name != "evangelina" || known.Worker != who || others.Worker == who {
		t.Errorf("%s is %+v, and of another tenant %+v", who, known, others)
	}
	for _, text := range []string{id.String(), others.Worker, "w_x", "evangelina"} {
		if got := w.send(w.ann, http.MethodPut, "/v1/tenants/n1/blocks/"+text, "").signature(text, "ID"); got != absent {
			t.Errorf("blocking %s: %s", text, got)
		}
	}
	count := func(query string) int {
		return len(into[[]wire.AuditEntry](t, w.send(w.ann, http.MethodGet, "/v1/audit?limit=1000&"+query, "")))
	}
	for _, query := range []string{"actor=" + id.String(), "object=" + id.String(), "kind=worker&object=" + id.String(), "kind=user&object=" + who, "operation=Batches.&actor=" + who} {
		if n := count(query); n != 0 {
			t.Errorf("%s finds %d entries", query, n)
		}
	}
	for query, want := range map[string]int{"actor=" + who: 1, "object=" + who: 1, "kind=worker&object=" + who: 1, "actor=u2&operation=Batches.Launch": 1, "object=b1&kind=batch&operation=Batches.Launch": 1} {
		if n := count(query); n != want {
			t.Errorf("%s finds %d entries, not %d", query, n, want)
		}
	}
	if a := w.send(w.ann, http.MethodGet, "/v1/audit?actor="+others.Worker, ""); a.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("another tenant's pseudonym as actor: %d", a.StatusCode)
	}
	ok(t, w.ann.Block(w.ctx, w.a, who, false))
	if n := count("object=" + who); n != 2 {
		t.Errorf("after another one there are %d entries about blocks", n)
	}
}

// TestTwoTenantsShareNothing: of a person who works for two tenants, no text is in what both
// may download about workers.
func TestTwoTenantsShareNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seen := map[crowd.TenantID]map[string]bool{}
	for tenant, c := range map[crowd.TenantID]*client.Client{w.a: w.ann, w.b: w.bob} {
		b := must(c.CreateBatch(w.ctx, definition()))(t)
		must(c.Upload(w.ctx, b.ID, strings.NewReader("thing\na dog\na cat\n"), "", false))(t)
		must(c.Launch(w.ctx, b.ID, false))(t)
		seen[tenant] = map[string]bool{}
		for range 2 {
			w.answerYes(w.workers[0])
		}
		rows := strings.Split(strings.TrimSpace(string(w.send(c, http.MethodGet, "/v1/batches/"+b.ID.String()+"/annotations", "").body)), "\n")
		for _, row := range rows[1:] {
			seen[tenant][strings.Split(row, ",")[2]] = true
		}
		q := must(c.Quality(w.ctx, b.ID, ""))(t)
		if len(rows) != 3 || len(seen[tenant]) != 1 || len(q.Workers) != 1 || !seen[tenant][q.Workers[0].Worker] || q.Workers[0].Name != "" || q.Workers[0].WorkerID != 0 {
			t.Errorf("%s has %q, %+v", tenant, rows, q.Workers)
		}
	}
	for who := range seen[w.a] {
		if seen[w.b][who] || !pseudonyms.MatchString(who) {
			t.Errorf("both have %s", who)
		}
	}
}
