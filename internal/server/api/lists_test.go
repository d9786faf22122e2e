package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
)

// TestListsLeaveLongTextsOut: what a list costs does not grow with the templates, the
// columns and the files of what it lists, which each of them shows on its own.
func TestListsLeaveLongTextsOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n, long = 3, 200_000
	text := strings.Repeat("x", long)
	var first wire.Batch
	for i := range n {
		b := definition()
		b.Template = wire.Template(fmt.Sprintf(`{"kind":"html","html":"<body>${thing}%s<input name=a></body>"}`, text))
		made := must(w.ann.CreateBatch(w.ctx, b))(t)
		if i == 0 {
			first = made
		}
		must(w.ann.Upload(w.ctx, made.ID, strings.NewReader("thing,"+strings.Repeat("y", 256)+"\n1,2\n"), "", false))(t)
		w.longTest(fmt.Sprint("test", i), text[:60_000])
		must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: "# " + text + "\n" + ourFlow}))(t)
	}
	for path, who := range map[string]*client.Client{"/v1/batches": w.ann, "/v1/tests": w.ann, "/v1/my-tests": w.workers[0], "/v1/runs": w.ann} {
		a := w.send(who, http.MethodGet, path, "")
		if list := into[[]map[string]any](t, a); len(list) != n || len(a.body) > n*1000 {
			t.Errorf("%s has %d entries in %d bytes, want %d in few", path, len(list), len(a.body), n)
		} else if list[0]["template"] != nil || list[0]["columns"] != nil {
			t.Errorf("%s has a template, or columns: %v", path, list[0])
		}
	}
	list := must(w.ann.Batches(w.ctx, 0))(t)
	at := slices.IndexFunc(list, func(b wire.Batch) bool { return b.ID == first.ID })
	got := must(w.ann.Batch(w.ctx, first.ID))(t)
	if len(first.Template) < long || !bytes.Equal(got.Template, first.Template) || len(got.Columns) != 2 || list[at].Tasks != 1 || list[at].Name != got.Name {
		t.Errorf("a batch has a template of %d bytes and %d columns, and is in the list as %+v", len(got.Template), len(got.Columns), list[at])
	}
	if one := into[map[string]any](t, w.send(w.ann, http.MethodGet, "/v1/tests/1", "")); one["template"] == nil {
		t.Errorf("a test has no template: %v", one)
	}
}

// longTest makes a test with an instruction, which is open to all.
func (w *world) longTest(name, instructions string) {
	w.t.Helper()
	template := map[string]any{"kind": "short_text", "question": "Is ${thing} alive?", "instructions": instructions}
	body := must(json.Marshal(map[string]any{"name": name, "pass_mark": 60, "open": true, "questions": "thing,_gold\na,b\n", "template": template}))(w.t)
	into[map[string]any](w.t, w.send(w.ann, http.MethodPost, "/v1/tests", string(body)))
}

// TestTokensHaveARoleOnce: what a token holds is bounded.
func TestTokensHaveARoleOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	roles := strings.Repeat(`"requester", `, 1000) + `"requester"`
	a := w.send(w.ann, http.MethodPost, "/v1/tokens", `{"name": "x", "roles": [`+roles+`]}`)
	if a.StatusCode != http.StatusCreated {
		t.Fatalf("status %d: %s", a.StatusCode, a.body)
	}
	list := into[[]wire.Token](t, w.send(w.ann, http.MethodGet, "/v1/tokens", ""))
	if i := slices.IndexFunc(list, func(x wire.Token) bool { return x.Name == "x" }); i < 0 || len(list[i].Roles) != 1 {
		t.Errorf("tokens: %.300v", list)
	}
}
