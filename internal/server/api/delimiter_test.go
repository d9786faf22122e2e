package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/throng-dev/throng/internal/wire"
)

// TestDelimiters: what stands between the cells of a file is found out or said, and told; and
// a file of which known answers would be shown is refused.
func TestDelimiters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := must(w.ann.CreateBatch(w.ctx, definition()))(t)
	path := "/v1/batches/" + b.ID.String() + "/tasks"
	for name, tc := range map[string]struct{ query, file, want string }{
		"found out":               {"", "thing;_gold\na cat;yes\na dog;no\n", `"columns":["thing"],"tasks":2,"bad":0,"dropped":0,"delimiter":";"`},
		"found out, tabs":         {"?format=csv", "thing\t_gold\na cat\tyes\n", `"columns":["thing"],"tasks":1,"bad":0,"dropped":0,"delimiter":"tab"`},
		"said":                    {"?delimiter=%3B", "thing;a,b\nx;y\n", `"columns":["thing","a,b"],"tasks":1,"bad":0,"dropped":0,"delimiter":";"`},
		"said by name":            {"?delimiter=pipe", "thing|n;m\nx|y\n", `"columns":["thing","n;m"],"tasks":1,"bad":0,"dropped":0,"delimiter":"|"`},
		"objects":                 {"", `{"thing":"a cat"}`, `"tasks":1,"bad":0,"dropped":0,"problems":[]`},
		"no delimiter":            {"?delimiter=:", "thing\nx\n", `\":\" is not a delimiter: use , or ; or tab or |`},
		"of objects":              {"?delimiter=,&format=jsonl", `{"thing":"a cat"}`, `goes with CSV: a file of the format jsonl has none`},
		"known answers shown":     {"?delimiter=,", "thing;_gold\na cat;yes\n", `the column \"thing;_gold\" has the name of the column _gold within its own, so its cells would be shown to workers: the file was read as if , stood between its cells; say what does (delimiter=…, or --delimiter)`},
		"by another sign":         {"", "thing^_gold\na cat^yes\n", `the column \"thing^_gold\" has the name of the column _gold`},
		"people shown":            {"?format=tsv", "thing,_workers\na cat,bob\n", `has the name of the column _workers within its own`},
		"in capitals":             {"", "thing,_Gold\na cat,yes\n", `the column \"_Gold\" would be shown to workers: write it _gold`},
		"objects, the same":       {"", `{"thing _gold":"a cat"}`, `give it another name`},
		"a name of its own":       {"", "thing,rose_gold,gold_,a-_gold\na cat,1,2,3\n", `"columns":["thing","rose_gold","gold_","a-_gold"]`},
		"more letters":            {"", "thing,_gold2\na cat,yes\n", `the column \"_gold2\" begins as _gold does, which workers are not shown, and would be shown to them: write it _gold, or give it another name`},
		"more words":              {"", "thing,_Workers_list\na cat,bob\n", `the column \"_Workers_list\" begins as _workers does`},
		"the sign within a query": {"?" + url.Values{"delimiter": {"\t"}}.Encode(), "thing\ta,b,c\nx\ty\n", `"delimiter":"tab"`},
	} {
		a := w.send(w.ann, http.MethodPut, path+tc.query, tc.file)
		if !strings.Contains(string(a.body), tc.want) || (a.StatusCode == http.StatusOK) != strings.HasPrefix(tc.want, `"`) {
			t.Errorf("%s: %s", name, a.shown())
		}
	}
	test := wire.NewTest{Name: "test", Template: wire.Template(`{"kind":"choose_one","question":"?","options":["yes","no"]}`), Questions: "thing;_gold\na cat;yes\n", PassMark: 50}
	if made := must(w.ann.CreateTest(w.ctx, test))(t); made.File != 1 {
		t.Errorf("a test of a file with semicolons: %+v", made)
	}
	test.Delimiter = ","
	if _, err := w.ann.CreateTest(w.ctx, test); err == nil || !strings.Contains(err.Error(), "has the name of the column _gold within its own") {
		t.Errorf("a test of a file that is split by the wrong sign: %v", err)
	}
}

// TestDelimitersOfInputs: so it is with the inputs of runs.
func TestDelimitersOfInputs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		run := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: ourFlow, Open: []string{"things"}}))(t).ID
		input := "/v1/runs/" + run.String() + "/inputs/things"
		a := w.send(w.ann, http.MethodPut, input+"?delimiter=semicolon", "id;thing\n1;a,dog\n")
		if !strings.Contains(string(a.body), `"rows":1,"bad":0,"dropped":0,"delimiter":";"`) {
			t.Errorf("loaded: %s", a.shown())
		}
		must(w.ann.MoveRun(w.ctx, run, "start"))(t)
		a = w.send(w.ann, http.MethodPost, input+"/rows", "id|thing\n2|a cat\n")
		if !strings.Contains(string(a.body), `"added":1,"known":0,"dropped":0,"delimiter":"|"`) {
			t.Errorf("added: %s", a.shown())
		}
	})
}

// TestDownloadsHaveNamesOfTheirOwn: those of another batch, of another kind and of another
// method lie next to each other in one folder.
func TestDownloadsHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	names := make(map[string]string)
	for range 2 {
		b := must(w.ann.CreateBatch(w.ctx, definition()))(t)
		must(w.ann.Upload(w.ctx, b.ID, strings.NewReader("thing\na cat\n"), "csv", false))(t)
		must(w.ann.Launch(w.ctx, b.ID, false))(t)
		for _, what := range []string{"labels", "labels?method=majority", "labels?method=ds-map", "labels?format=tsv", "annotations", "annotations?format=jsonl"} {
			a := w.send(w.ann, http.MethodGet, "/v1/batches/"+b.ID.String()+"/"+what, "")
			name := a.Header.Get("Content-Disposition")
			if other, taken := names[name]; taken || a.StatusCode != http.StatusOK || !strings.Contains(name, `"`+b.ID.String()+"-") {
				t.Errorf("%s of %s has the name %s, as has %q: %d", what, b.ID, name, other, a.StatusCode)
			}
			names[name] = what
		}
	}
}
