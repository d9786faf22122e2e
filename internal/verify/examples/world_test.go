package examples

import (
	"flag"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/sim/workflows"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/store/sqlite/sqlitetest"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

var update = flag.Bool("update", false, "write the data and the pictures of the examples again")

const (
	folder   = "../../../workflows"
	pictures = "../../../docs/pictures"
)

// example is a folder of an example.
type example struct {
	name   string
	inputs map[string]string // by name of the input: the data file
}

var list = []example{
	{"entity-matching", map[string]string{"ours": "ours.csv", "theirs": "theirs.csv", "truth": "truth.csv"}},
	{"moderation", map[string]string{"comments": "comments.csv"}},
	{"insurance-claims", map[string]string{"claims": "claims.csv"}},
}

func find(name string) example {
	return list[slices.IndexFunc(list, func(e example) bool { return e.name == name })]
}

func read(t testing.TB, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// ran is an example that was run.
type ran struct {
	*workflows.World
	t    testing.TB
	view *orchestrator.View
}

// way is how an example is run.
type way struct {
	workers  int
	policy   string
	seed     uint64
	serve    ServiceOptions
	services *Services                // that were there before; nil: new ones
	change   func(text string) string // of the file
	inputs   map[string]string        // text instead of a file's
}

// run runs an example whole in virtual time, with its services at an address of
// their own.
func (e example) run(t testing.TB, w way) (*ran, *Services) {
	t.Helper()
	services := w.services
	if services == nil {
		services = NewServices(w.serve)
	}
	server := httptest.NewServer(services)
	defer server.Close()
	text := strings.ReplaceAll(read(t, folder, e.name, "workflow.yaml"), DefaultListen, strings.TrimPrefix(server.URL, "http://"))
	if w.change != nil {
		text = w.change(text)
	}
	inputs := make(map[string]table.Rows)
	for name, file := range e.inputs {
		data, ok := w.inputs[name]
		if !ok {
			data = read(t, folder, e.name, "data", file)
		}
		rows, err := table.NewReader(strings.NewReader(data), table.Options{Format: table.CSV})
		if err != nil {
			t.Fatal(err)
		}
		inputs[name] = rows
	}
	st, err := sqlite.Open(t.Context(), sqlitetest.New(t), sqlite.Options{Scratch: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	client := httpstep.NewClient(httpstep.Options{AllowPrivate: true})
	defer client.Close()
	world, err := workflows.Run(t.Context(), workflows.Setup{Text: text, Inputs: inputs, Workers: w.workers, Policy: w.policy, Seed: w.seed, Store: st, Services: client})
	if err != nil {
		t.Fatal(err)
	}
	r := &ran{World: world, t: t}
	if r.view, err = world.Orchestrator.View(t.Context(), 0, world.Run); err != nil {
		t.Fatal(err)
	}
	return r, services
}

// rows are the rows of a node that came through it, each by its columns.
func (r *ran) rows(node string) []map[string]string {
	r.t.Helper()
	results, err := r.Orchestrator.Results(r.t.Context(), 0, r.Run, node)
	if err != nil {
		r.t.Fatal(err)
	}
	var out []map[string]string
	for x, err := range results.Rows {
		if err != nil {
			r.t.Fatal(err)
		}
		if x.Cells == nil {
			continue
		}
		row := make(map[string]string)
		for i, c := range results.Columns {
			row[c.Name] = x.Cells[i]
		}
		out = append(out, row)
	}
	return out
}

func (r *ran) node(name string) *orchestrator.NodeView {
	r.t.Helper()
	for i := range r.view.Nodes {
		if r.view.Nodes[i].Name == name {
			return &r.view.Nodes[i]
		}
	}
	r.t.Fatalf("there is no node %s", name)
	return nil
}

// log tells what happened, step by step.
func (r *ran) log() {
	for _, n := range r.view.Nodes {
		r.t.Logf("%-9s %-8s %s: %d rows, %d ok, %d skipped, %d failed", n.Name, n.Kind, n.State, n.Last, n.OK, n.Skipped, n.Failed)
	}
	spent := crowd.Money(0)
	for _, n := range r.view.Nodes {
		if n.Batch != nil {
			spent += n.Batch.Progress.Spent
		}
	}
	r.t.Logf("%s in %s: %d answers, %s spent, penalty %s, %d late of %d", r.view.State, r.Ended.Sub(r.Began), r.Answers, spent, r.view.Penalty, r.view.Late, r.view.Ended)
}

func data(t testing.TB, path string) []map[string]string {
	t.Helper()
	rows, err := table.NewReader(strings.NewReader(read(t, folder, path)), table.Options{Format: table.CSV})
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for {
		cells, _, err := rows.Read()
		if err != nil {
			return out
		}
		row := make(map[string]string)
		for i, c := range rows.Columns() {
			row[c] = cells[i]
		}
		out = append(out, row)
	}
}

// due is what a staged penalty comes to by the ends of the items, in millionths:
// the last row of each item at any node is its end.
func (r *ran) due(after, every time.Duration, cost, most int64) int64 {
	r.t.Helper()
	ends, births := make(map[int64]time.Time), make(map[int64]time.Time)
	for _, n := range r.view.Nodes {
		rows, err := r.Orchestrator.Items(r.t.Context(), r.Run, n.Name, 0, 100_000)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, row := range rows {
			births[row.Item] = row.Born
			if row.At.After(ends[row.Item]) {
				ends[row.Item] = row.At
			}
		}
	}
	sum := int64(0)
	for item, end := range ends {
		if age := end.Sub(births[item]); age >= after {
			p := int64((age-after)/every) * cost
			if most > 0 {
				p = min(p, most)
			}
			sum += p
		}
	}
	return sum
}

// told holds the README of an example to the figures that came out.
func (r *ran) told(example string, figures ...string) {
	r.t.Helper()
	page := strings.Join(strings.Fields(read(r.t, folder, example, "README.md")), " ")
	for _, f := range figures {
		if !strings.Contains(page, f) {
			r.t.Errorf("the README of %s does not say %q", example, f)
		}
	}
}
