package api_test

import (
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// TestTheColumnsOfACheckedWorkflow: each with its type, text where the file has
// none.
func TestTheColumnsOfACheckedWorkflow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := "workflow: x\ninputs: {t: {columns: [{id: number}, name]}}\nsteps: {s: {from: {t: stream}, sql: \"select id, name from t\", columns: {id: number, name: text}}}\n"
	got := decoded(t, w.send(w.ann, http.MethodPost, "/v1/workflows/check", text, "Content-Type", "application/yaml").body)
	for path, want := range map[string]any{
		"name": "x", "inputs.0": "t", "steps.0.name": "s", "steps.0.kind": "sql", "steps.0.from.0.name": "t",
		"steps.0.columns.0.name": "id", "steps.0.columns.0.type": "number", "steps.0.columns.1.name": "name", "steps.0.columns.1.type": "text",
	} {
		if have := part(got, path); have != want {
			t.Errorf("%s is %v, want %v, in %v", path, have, want, got)
		}
	}
}

// TestACheckSaysThatNobodyIsQualified: for a tenant, whose start would be refused, and no run is
// made. What a tenant's pools lack is said next to what else is wrong.
func TestACheckSaysThatNobodyIsQualified(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const asks = "workflow: x\ninputs: {t: {columns: [id]}}\nsteps: {s: {from: t, crowd: {template: {kind: short_text, question: Why?}, reward: 0.05POOL, qualifications: {german: 80}}}}\n"
	check := func(text, query string) any {
		t.Helper()
		return decoded(t, w.send(w.admin, http.MethodPost, "/v1/workflows/check"+query, text, "Content-Type", "application/yaml").body)
	}
	for _, x := range []struct{ query, text, path, want string }{
		{"?tenant=n1", asks, "lacking.0", "s: nobody in the pool holds german >= 80"},
		{"", asks, "lacking", ""}, // of whose people is not known
		{"?tenant=n1", strings.Replace(asks, ", qualifications: {german: 80}", "", 1), "lacking", ""},
		{"?tenant=n1", strings.ReplaceAll(asks, "0.05POOL", "lots, pool: nowhere"), "errors.0.message", `"lots" is not an amount: it has at most six places and is at most 1000000.00, like 0.05`},
		{"?tenant=n1", strings.ReplaceAll(asks, "0.05POOL", "lots, pool: nowhere"), "errors.1.message", `pool: there is no pool "nowhere" that this tenant may use; there are main`},
	} {
		got := check(strings.ReplaceAll(x.text, "POOL", ""), x.query)
		if have := part(got, x.path); have != x.want && !(have == nil && x.want == "") {
			t.Errorf("%s of %s%s is %v, want %q", x.path, x.text, x.query, have, x.want)
		}
	}
	for query, field := range map[string]string{"?from=s": "parent", "?parent=r1": "tenant", "?tenant=n1&parent=1": "run", "?tenant=n1&from=s": "parent"} {
		p := w.send(w.admin, http.MethodPost, "/v1/workflows/check"+query, asks, "Content-Type", "application/yaml").problem(t)
		if len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("a check with %s: %+v", query, p)
		}
	}
	if runs := w.send(w.admin, http.MethodGet, "/v1/runs?tenant=n1", ""); !strings.HasPrefix(runs.Status, "200") || part(decoded(t, runs.body), "runs.0") != nil {
		t.Errorf("a check made a run: %s", runs.body)
	}
}

// TestACheckKnowsTheParent: of a run that would go on from another one, a step that has all its
// rows from there lacks nobody. A run of another tenant is as one that is not there.
func TestACheckKnowsTheParent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const text = "workflow: x\ninputs: {t: {columns: [id]}}\nsteps:\n  first: {from: t, sql: select id from t}\n  s: {from: first, crowd: {template: {kind: short_text, question: Why?}, reward: 0.05, qualifications: {german: 80}}}\n  last: {from: s, sql: select id from s}\n"
	id := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: text}))(t).ID
	must(w.ann.LoadRun(w.ctx, id, "t", strings.NewReader("id\n"), "csv"))(t) // no rows: the step is done at once
	must(w.ann.StartRun(w.ctx, id, true))(t)
	for must(w.ann.Run(w.ctx, id))(t).State != "done" {
		runtime.Gosched()
	}
	const lacks = "s: nobody in the pool holds german >= 80"
	for from, want := range map[string][]string{"last": nil, "s": {lacks}, "first": {lacks}, "": {lacks}} {
		if got := must(w.ann.CheckWorkflow(w.ctx, wire.NewRun{Tenant: w.a, Workflow: text, Parent: id, From: from}))(t); !slices.Equal(got.Lacking, want) {
			t.Errorf("from %q, it lacks %q, want %q", from, got.Lacking, want)
		}
	}
	_, err := w.ann.CheckWorkflow(w.ctx, wire.NewRun{Tenant: w.a, Workflow: text, Parent: id, From: "nowhere"})
	refused(t, err, crowd.Invalid)
	query := "?tenant=" + w.b.String() + "&parent="
	var answers []string
	for _, parent := range []string{id.String(), "r99"} {
		answers = append(answers, w.send(w.bob, http.MethodPost, "/v1/workflows/check"+query+parent, text, "Content-Type", "application/yaml").signature(parent, "RUN"))
	}
	if answers[0] != answers[1] || !strings.HasPrefix(answers[0], "404") {
		t.Errorf("another's run is answered\n%s, and one that is not there\n%s", answers[0], answers[1])
	}
}

// TestWhoseRunItIs: an error asks whoever may act for several tenants to choose one.
func TestWhoseRunItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, x := range []struct{ method, path, body string }{
		{http.MethodPost, "/v1/runs", `{"workflow": "workflow: x"}`},
		{http.MethodPost, "/v1/batches", definitionWithout},
	} {
		p := w.send(w.admin, x.method, x.path, x.body).problem(t)
		if p.Status != http.StatusUnprocessableEntity || !strings.Contains(p.Detail, "tenant: ") || len(p.Errors) != 1 || p.Errors[0].Field != "tenant" || p.Errors[0].Message == "" {
			t.Errorf("%s %s without a tenant: %+v", x.method, x.path, p)
		}
	}
}

const definitionWithout = `{"name": "cats", "template": {"kind": "short_text", "question": "What?"}, "reward_micros": 70000}`
