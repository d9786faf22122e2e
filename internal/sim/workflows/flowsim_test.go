package workflows

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/store/sqlite/sqlitetest"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

func rows(t testing.TB, text string) table.Rows {
	t.Helper()
	r, err := table.NewReader(strings.NewReader(text), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestChain(t *testing.T) {
	var in strings.Builder
	in.WriteString("id,text,known\n")
	for i := range 50 {
		fmt.Fprintf(&in, "%d,text %d,%s\n", i, i, []string{"yes", "no"}[i%2])
	}
	st, err := sqlite.Open(t.Context(), sqlitetest.New(t), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	w, err := Run(t.Context(), Setup{
		Text: `
workflow: chain
inputs:
  items: {columns: [{id: number}, text, known]}
sla: {per: item, penalty: staged, after: 10m, every: 5m, cost: 1.00}
steps:
  good:
    from: {items: stream}
    crowd:
      template: {kind: choose_one, question: "Good?", options: [yes, no], show: [text]}
      redundancy: {count: 3}
      reward: 0.05
      truth: known
      output: verdict
      simulate: {accuracy: 0.9, time: 20s, spread: 0.5}
  tidy:
    from: {good: stream}
    sql: select id, verdict, verdict_confidence as c from good where verdict_undecided = 0
    columns: {c: number}
  unsure:
    from: {tidy: stream}
    when: c < 0.9
    crowd:
      template: {kind: choose_one, question: "Really?", options: [yes, no], show: [id]}
      redundancy: {count: 1}
      reward: 0.10
      output: expert
  sums:
    from: [tidy]
    sql: select verdict, count(*) as n from tidy group by verdict
outputs:
  all: {from: unsure}
  sums: {from: sums}
`,
		Inputs: map[string]table.Rows{"items": rows(t, in.String())}, Workers: 5, Seed: 1, Store: st, Services: httpstep.NewClient(httpstep.Options{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.Orchestrator.View(t.Context(), 0, w.Run)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range v.Nodes {
		t.Logf("%s %s last %d ok %d skipped %d failed %d faults %d error %q", n.Name, n.State, n.Last, n.OK, n.Skipped, n.Failed, n.Faults, n.Error)
	}
	t.Logf("penalty %s ended %d late %d; virtual %s, answers %d", v.Penalty, v.Ended, v.Late, w.Ended.Sub(w.Began), w.Answers)
	res, err := w.Orchestrator.Results(t.Context(), 0, w.Run, "sums")
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range res.Rows {
		t.Log(r, err)
	}
	path, err := w.Orchestrator.Path(t.Context(), 0, w.Run, 3)
	t.Log(path, err)
}

// TestSplitHoldDrop sends items through a query that makes several of one, fails
// for some and gives nothing for others, and through a service that fails for
// good.
func TestSplitHoldDrop(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Word string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		switch in.Word {
		case "bad":
			http.Error(w, "no such word", http.StatusUnprocessableEntity)
		case "garbage":
			w.Write([]byte("<html>"))
		default:
			json.NewEncoder(w).Encode(map[string]any{"length": len(in.Word)})
		}
	}))
	defer service.Close()
	run := func(onError string) (*World, map[string]orchestrator.NodeView) {
		st, err := sqlite.Open(t.Context(), sqlitetest.New(t), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { st.Close() })
		w, err := Run(t.Context(), Setup{
			Text: strings.NewReplacer("URL", service.URL, "ON_ERROR", onError).Replace(`
workflow: words
inputs: {texts: {columns: [{id: number}, text]}}
steps:
  words:
    from: {texts: stream}
    sql: select texts.id, value as word from texts, json_each('["' || replace(text, ' ', '","') || '"]') where text <> 'nothing'
    columns: {id: number}
  measured:
    from: {words: stream}
    service: {url: "URL", send: [word], tries: 2, backoff: 10ms, timeout: 5s, response: {type: object, required: [length], properties: {length: {type: integer}}}}
    on_error: ON_ERROR
outputs: {measured: {from: measured}}
`),
			Inputs: map[string]table.Rows{"texts": rows(t, "id,text\n1,one two three\n2,nothing\n3,bad\n4,four garbage\n5,five,six\n6,seven\n")}, Workers: 1, Seed: 1,
			Store: st, Services: httpstep.NewClient(httpstep.Options{AllowPrivate: true}),
		})
		if err != nil {
			t.Fatal(err)
		}
		v, err := w.Orchestrator.View(t.Context(), 0, w.Run)
		if err != nil {
			t.Fatal(err)
		}
		by := make(map[string]orchestrator.NodeView)
		for _, n := range v.Nodes {
			by[n.Name] = n
		}
		return w, by
	}
	for _, onError := range []string{"hold", "drop"} {
		w, by := run(onError)
		if in := w.Loaded["texts"]; in.Rows != 6 || in.Bad != 1 || in.Some[0].Row != 6 {
			t.Errorf("%s: the file gave %+v", onError, in)
		}
		// One row is bad, one text has no words, and two are made into several.
		if n := by["words"]; n.OK != 3+1+2+1 || n.Skipped != 1 || n.Failed != 1 {
			t.Errorf("%s: words has %d rows, %d skipped, %d failed", onError, n.OK, n.Skipped, n.Failed)
		}
		if n := by["measured"]; n.OK != 5 || n.Skipped != 1 || n.Failed != 3 || n.Faults != 0 {
			t.Errorf("%s: measured has %d rows, %d skipped, %d failed, %d held", onError, n.OK, n.Skipped, n.Failed, n.Faults)
		}
		if want := map[string]int{"hold": 2, "drop": 0}[onError]; w.GaveUp != want {
			t.Errorf("%s: %d items were given up, want %d", onError, w.GaveUp, want)
		}
		result, err := w.Result(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// The bad row failed before the steps, so it is no failure of theirs.
		if list := result.Failures; len(list) != 2 || list[0].Step != "measured" || list[1].Step != "measured" {
			t.Errorf("%s: the failures are %+v", onError, list)
		}
		if in := [2]int64{result.Steps[0].In, result.Steps[1].In}; in != [2]int64{6, 7 + 1 + 1} { // with the one that was skipped, and the bad one
			t.Errorf("%s: %d items went into the steps", onError, in)
		}
		if s := result.Steps[1]; s.Name != "measured" || s.OK != 5 || s.Failed != 3 || s.Held != int64(w.GaveUp) || s.MeanS == nil || *s.MeanS <= 0 {
			t.Errorf("%s: the step came to %+v", onError, s)
		}
		res, err := w.Orchestrator.Results(t.Context(), 0, w.Run, "measured")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for r, err := range res.Rows {
			if err != nil {
				t.Fatal(err)
			}
			if r.State != store.RowSkipped {
				got = append(got, strings.Join(r.Cells, " ")+r.Error)
			}
		}
		slices.Sort(got)
		want := []string{"1 one 3", "1 three 5", "1 two 3", "4 four 4", "6 seven 5"}
		for _, s := range want {
			if !slices.Contains(got, s) {
				t.Errorf("%s: no %q in %q", onError, s, got)
			}
		}
		for _, s := range []string{"422", "is not JSON", "it failed before, at words"} {
			if !slices.ContainsFunc(got, func(x string) bool { return strings.Contains(x, s) }) {
				t.Errorf("%s: nothing says %q: %q", onError, s, got)
			}
		}
	}
}

// TestMoneyRunsOut: a run ends when its budget does, and says where.
func TestMoneyRunsOut(t *testing.T) {
	t.Parallel()
	const text = `workflow: w
inputs: {items: {columns: [id]}}
steps:
  first:
    from: {items: stream}
    crowd: {template: {kind: choose_one, question: "Good?", options: [yes, no], show: [id]}, redundancy: {count: 1}, reward: 0.10, output: a}
  next:
    from: {first: stream}
    crowd: {template: {kind: choose_one, question: "Sure?", options: [yes, no], show: [id]}, redundancy: {count: 1}, reward: 0.20, output: b}
`
	for name, x := range map[string]struct {
		text   string
		budget crowd.Money
		want   string // of the error; "": it ends
	}{
		"without a budget":       {text: text},
		"enough":                 {text: text, budget: 3 * crowd.Unit},
		"of the file":            {text: strings.Replace(text, "inputs:", "budget: 1.00\ninputs:", 1), want: "the run may spend 1.00"},
		"given, not the file's":  {text: strings.Replace(text, "inputs:", "budget: 1.00\ninputs:", 1), budget: 3 * crowd.Unit},
		"a part":                 {text: text, budget: 2 * crowd.Unit, want: "next: the step cannot go on: budget: not enough for one more task (0.20): the run may spend 2.00, of which 0.00 is neither spent nor reserved for open tasks; 0.20 more is needed; 5 items have a label there"},
		"less than one task":     {text: text, budget: crowd.Unit / 20, want: "first: the step cannot go on: budget: not enough for one more task (0.10): the run may spend 0.05, of which 0.05 is neither spent nor reserved for open tasks; 0.05 more is needed; 0 items have a label there"},
		"of the last step alone": {text: strings.Replace(text, "reward: 0.20,", "reward: 0.20, budget: 0.60,", 1), want: "next: the step cannot go on: the batch's budget cannot pay one more answer; 3 items have a label there"},
	} {
		t.Run(name, func(t *testing.T) {
			st, err := sqlite.Open(t.Context(), sqlitetest.New(t), sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			_, err = Run(t.Context(), Setup{
				Text: x.text, Budget: x.budget, Inputs: map[string]table.Rows{"items": rows(t, "id\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n")},
				Workers: 3, Seed: 1, Store: st, Services: httpstep.NewClient(httpstep.Options{}),
			})
			if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
				t.Errorf("got %v, want %q", err, x.want)
			}
		})
	}
}

// TestTooFewPeopleBindMoney: where a review that nobody may do keeps its money, so that the
// step before it has none left, the dead end is the people, whatever the budget.
func TestTooFewPeopleBindMoney(t *testing.T) {
	t.Parallel()
	const text = `workflow: w
inputs: {items: {columns: [id]}}
steps:
  draft:
    from: {items: stream}
    crowd: {template: {kind: choose_one, question: "Good?", options: [yes, no], show: [id]}, redundancy: {count: 1}, reward: 0.10, output: a}
  review:
    from: {draft: stream}
    crowd: {template: {kind: choose_one, question: "Sure?", options: [yes, no], show: [id]}, redundancy: {count: 1}, reward: 0.10, not_by: [draft], output: b}
`
	for _, budget := range []crowd.Money{crowd.Unit * 3 / 2, 100 * crowd.Unit} {
		st, err := sqlite.Open(t.Context(), sqlitetest.New(t), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		_, err = Run(t.Context(), Setup{
			Text: text, Budget: budget, Inputs: map[string]table.Rows{"items": rows(t, "id\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n")},
			Workers: 1, Seed: 1, Store: st, Services: httpstep.NewClient(httpstep.Options{}),
		})
		if err == nil || !strings.Contains(err.Error(), "review: the step cannot go on: ") || !strings.Contains(err.Error(), "try more people (--workers)") {
			t.Errorf("with %s: got %v", budget, err)
		}
	}
}
