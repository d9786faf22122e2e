package api_test

import (
	"net/http"
	"strings"
	"testing"
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
