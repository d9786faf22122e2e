package flowsim

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/callout"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/table"
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
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), sqlite.Options{})
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
		Inputs: map[string]table.Rows{"items": rows(t, in.String())}, Workers: 5, Seed: 1, Store: st, Services: callout.NewClient(callout.Options{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.Conductor.Look(t.Context(), 0, w.Run)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range v.Nodes {
		t.Logf("%s %s last %d ok %d skipped %d failed %d faults %d error %q", n.Name, n.State, n.Last, n.OK, n.Skipped, n.Failed, n.Faults, n.Error)
	}
	t.Logf("penalty %s ended %d late %d; virtual %s, answers %d", v.Penalty, v.Ended, v.Late, w.Ended.Sub(w.Began), w.Answers)
	res, err := w.Conductor.Results(t.Context(), 0, w.Run, "sums")
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range res.Rows {
		t.Log(r, err)
	}
	path, err := w.Conductor.Path(t.Context(), 0, w.Run, 3)
	t.Log(path, err)
}
