package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/wire"
)

// ourFlow has people and a query over what they say.
const ourFlow = `workflow: Things
inputs:
  things: {columns: [{id: number}, thing]}
steps:
  alive:
    from: {things: stream}
    crowd:
      template: {kind: choose_one, question: "Alive?", options: ["yes", "no"], show: [thing]}
      reward: 0.01
      output: said
  sums:
    from: alive
    sql: select said, count(*) as n from alive group by said
    columns: {n: number}
outputs:
  sums: {from: sums, format: jsonl}
`

// run makes a run of ann's with its input, and starts it.
func (w *world) run(text, file string) crowd.RunID {
	w.t.Helper()
	made := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: text}))(w.t)
	must(w.ann.LoadRun(w.ctx, made.ID, "things", strings.NewReader(file), ""))(w.t)
	must(w.ann.MoveRun(w.ctx, made.ID, "start"))(w.t)
	return made.ID
}

// events is what an event stream sent, whole, up to its end.
func (w *world) runEvents(id crowd.RunID) []wire.Run {
	w.t.Helper()
	a := w.send(w.ann, http.MethodGet, "/v1/runs/"+id.String()+"/events", "")
	if a.Header.Get("Content-Type") != "text/event-stream" {
		w.t.Fatalf("content type %q", a.Header.Get("Content-Type"))
	}
	var list []wire.Run
	for line := range strings.Lines(string(a.body)) {
		if data, found := strings.CutPrefix(line, "data: "); found {
			var r wire.Run
			ok(w.t, json.Unmarshal([]byte(data), &r))
			list = append(list, r)
		}
	}
	return list
}

func node(t *testing.T, r wire.Run, name string) wire.RunNode {
	t.Helper()
	i := slices.IndexFunc(r.Nodes, func(n wire.RunNode) bool { return n.Name == name })
	if i < 0 {
		t.Fatalf("no step %s in %+v", name, r)
	}
	return r.Nodes[i]
}

// TestARunFromItsFileToItsResults goes the whole way by the client. The file has
// its columns in another order than the workflow, and more of them.
func TestARunFromItsFileToItsResults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	checked := must(w.ann.CheckWorkflow(w.ctx, wire.NewRun{Workflow: ourFlow}))(t)
	if len(checked.Errors) != 0 || len(checked.Steps) != 2 || !checked.Steps[0].RowByRow || checked.Steps[1].RowByRow || checked.Steps[1].Why == "" ||
		checked.Steps[0].From[0].Edge != "stream" || checked.Steps[0].Columns[0].Type != "number" || checked.Name != "Things" || checked.Inputs[0] != "things" {
		t.Errorf("checked: %+v", checked)
	}
	made := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: ourFlow, Name: "mine", BudgetMicros: crowd.Unit}))(t)
	if made.State != "loading" || made.Name != "mine" || made.BudgetMicros != crowd.Unit || made.Tenant != w.a || !slices.Equal(made.Needs, []string{"things"}) ||
		made.Outputs[0] != (wire.RunFile{Name: "sums", Step: "sums", Format: "jsonl"}) {
		t.Errorf("made: %+v", made)
	}
	_, err := w.ann.MoveRun(w.ctx, made.ID, "start")
	refused(t, err, crowd.Invalid)
	loaded := must(w.ann.LoadRun(w.ctx, made.ID, "things", strings.NewReader("more,thing,id\nx,a dog,1\nbad\nx,a stone,2\nx,a fly,3\n"), "csv"))(t)
	if loaded.Rows != 4 || loaded.Bad != 1 || loaded.Problems[0].Line != 3 || len(loaded.Needs) != 0 || loaded.Input != "things" {
		t.Errorf("loaded: %+v", loaded)
	}
	_, err = w.ann.LoadRun(w.ctx, made.ID, "things", strings.NewReader("id,thing\n"), "")
	refused(t, err, crowd.Conflict)
	started := must(w.ann.MoveRun(w.ctx, made.ID, "start"))(t)
	if started.State != "running" || started.StartedAt.IsZero() {
		t.Errorf("started: %+v", started)
	}
	work, _, err := w.workers[0].Next(w.ctx, 30*time.Second) // the run begins meanwhile
	ok(t, err)
	if work == nil || work.Values.Get("thing") != "a dog" || work.Values.Get("id") != "1" || work.Values.Get("more") != "" {
		t.Errorf("a worker sees %q", work.Values)
	}
	must3(w.workers[0].Submit(w.ctx, work.Assignment, yes, false, 0))(t)
	if r := must(w.ann.TopUpRun(w.ctx, made.ID, crowd.Unit/4))(t); r.BudgetMicros != crowd.Unit*5/4 || must(w.ann.Run(w.ctx, made.ID))(t).BudgetMicros != r.BudgetMicros {
		t.Errorf("topped up: %+v", r)
	}
	_, err = w.ann.TopUpRun(w.ctx, made.ID, 0)
	refused(t, err, crowd.Invalid)
	_, err = w.ann.TopUp(w.ctx, node(t, must(w.ann.Run(w.ctx, made.ID))(t), "alive").Batch, crowd.Unit)
	refused(t, err, crowd.Conflict)
	if state := must(w.ann.MoveRun(w.ctx, made.ID, "pause"))(t).State; state != "paused" {
		t.Errorf("paused: %s", state)
	}
	if work, _, err := w.workers[0].Next(w.ctx, 0); err != nil || work != nil {
		t.Errorf("of a paused run: %+v, %v", work, err)
	}
	if slow := must(w.ann.SlowestItems(w.ctx, made.ID, 5))(t); len(slow) != 2 || slow[0].Why != "the run is paused" || slow[0].Step != "alive" || slow[0].PenaltyMicros != nil {
		t.Errorf("slowest: %+v", slow)
	}
	must(w.ann.MoveRun(w.ctx, made.ID, "resume"))(t)
	must3(w.workers[0].Submit(w.ctx, w.next(w.workers[0]).Assignment, no, false, 0))(t)
	now := must(w.ann.Run(w.ctx, made.ID))(t)
	if n := node(t, now, "alive"); n.In != 4 || n.OK != 2 || n.Failed != 1 || n.Inside != 1 || n.Kind != "crowd" || n.Batch == 0 || n.Answers != 2 || n.SpentMicros != crowd.Unit/50 {
		t.Errorf("alive: %+v", n)
	}
	if n := node(t, now, "things"); n.In != 4 || n.OK != 3 || n.Failed != 1 || n.State != "done" {
		t.Errorf("things: %+v", n)
	}
	must(w.ann.EndStep(w.ctx, made.ID, "alive"))(t)
	seen := w.runEvents(made.ID)
	last := seen[len(seen)-1]
	if last.State != "done" || node(t, last, "sums").OK != 2 || node(t, last, "sums").In != 2 || last.SpentMicros != crowd.Unit/50 {
		t.Errorf("the last event: %+v", last)
	}

	var got bytes.Buffer
	ok(t, w.ann.RunOutput(w.ctx, made.ID, "sums", &got, client.TableForm{}))
	if got.String() != "{\"said\":\"no\",\"n\":1}\n{\"said\":\"yes\",\"n\":1}\n" {
		t.Errorf("the output is %s", &got)
	}
	got.Reset()
	if ok(t, w.ann.RunOutput(w.ctx, made.ID, "sums", &got, client.TableForm{Format: "csv"})); got.String() != "said,n\nno,1\nyes,1\n" {
		t.Errorf("the output as CSV is %s", &got)
	}
	for _, format := range []string{"csv", "tsv", "jsonl", "parquet"} {
		got.Reset()
		ok(t, w.ann.RunResults(w.ctx, made.ID, "alive", &got, client.TableForm{Format: format}, true))
		rows := must(table.OpenFile(bytes.NewReader(got.Bytes()), int64(got.Len()), table.Options{Format: table.Format(format)}))(t)
		if want := "id thing said said_confidence said_answers said_undecided said_tie _error"; strings.Join(rows.Columns(), " ") != want {
			t.Errorf("%s: columns %q", format, rows.Columns())
		}
		good, bad := 0, 0
		for {
			row, _, err := rows.Read()
			if err != nil {
				break
			}
			if row[7] != "" && row[1] == "" {
				bad++
			} else if row[0] == "1" && row[1] == "a dog" && row[2] == "yes" && row[4] == "1" && row[5] == "false" || row[0] == "2" && row[2] == "no" {
				good++
			}
		}
		if good != 2 || bad != 2 {
			t.Errorf("%s: %d rows as they should be, %d failed", format, good, bad)
		}
	}
	items := must(w.ann.Items(w.ctx, made.ID, "alive", 1, 1))(t)
	if len(items) != 1 || items[0].N != 2 {
		t.Errorf("items: %+v", items)
	}
	path := must(w.ann.ItemPath(w.ctx, made.ID, 1))(t)
	if len(path) != 2 || path[0].Values["thing"] != "a dog" || path[0].Values["more"] != "x" || path[1].Values["said"] != "yes" || path[1].State != "ok" {
		t.Errorf("path: %+v", path)
	}
	for _, wrong := range []func() error{
		func() error { return second(w.ann.ItemPath(w.ctx, made.ID, 99)) },
		func() error { return second(w.ann.Items(w.ctx, made.ID, "nothing", 0, 0)) },
		func() error {
			return w.ann.RunResults(w.ctx, made.ID, "nothing", &got, client.TableForm{Format: "csv"}, false)
		},
		func() error { return w.ann.RunOutput(w.ctx, made.ID, "nothing", &got, client.TableForm{}) },
	} {
		refused(t, wrong(), crowd.NotFound)
	}
	for _, move := range []string{"pause", "resume", "cancel", "start"} {
		_, err := w.ann.MoveRun(w.ctx, made.ID, move)
		refused(t, err, crowd.Conflict)
	}
	got.Reset()
	ok(t, w.ann.RunGraph(w.ctx, made.ID, &got))
	if !strings.HasPrefix(got.String(), "<svg") || !strings.Contains(got.String(), "sums") {
		t.Errorf("the picture begins %.80s", &got)
	}
	got.Reset()
	ok(t, w.ann.RunWorkflow(w.ctx, made.ID, &got))
	if got.String() != ourFlow {
		t.Errorf("the file is %s", &got)
	}

	again := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: ourFlow, Parent: made.ID, From: "sums"}))(t)
	if len(again.Needs) != 0 || again.Parent != made.ID || again.From != "sums" {
		t.Errorf("again: %+v", again)
	}
	must(w.ann.MoveRun(w.ctx, again.ID, "start"))(t)
	w.runEvents(again.ID)
	if n := node(t, must(w.ann.Run(w.ctx, again.ID))(t), "sums"); n.OK != 2 {
		t.Errorf("sums, again: %+v", n)
	}
	list := must(w.ann.Runs(w.ctx, 0, 0, 0))(t)
	if len(list) != 2 || list[0].ID != again.ID || list[1].State != "done" {
		t.Errorf("list: %+v", list)
	}
	if list = must(w.ann.Runs(w.ctx, w.a, again.ID, 1))(t); len(list) != 1 || list[0].ID != made.ID {
		t.Errorf("before: %+v", list)
	}
}

// TestAWrongWorkflow is told with every line and column.
func TestAWrongWorkflow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const text = "workflow: x\ninputs: {a: {columns: [b]}}\nsteps:\n  s:\n    from: nothere\n    sql: select 1\n    foo: 2\n"
	checked := must(w.ann.CheckWorkflow(w.ctx, wire.NewRun{Workflow: text}))(t)
	if len(checked.Errors) < 2 || checked.Errors[1].Line != 5 || checked.Errors[1].Column != 11 {
		t.Errorf("checked: %+v", checked)
	}
	body, _ := json.Marshal(map[string]string{"workflow": text})
	p := w.send(w.ann, http.MethodPost, "/v1/runs", string(body)).problem(t)
	if p.Status != http.StatusUnprocessableEntity || len(p.Errors) != len(checked.Errors) || p.Errors[1].Field != "workflow" || p.Errors[1].Line != 5 || p.Errors[1].Column != 11 || p.Errors[1].Message != checked.Errors[1].Message ||
		!strings.HasSuffix(p.Detail, "(and 2 more)") {
		t.Errorf("refused by %+v", p)
	}
	_, err := w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: text})
	var at *wire.WorkflowError
	var list crowd.Errors
	if !errors.As(err, &list) || !errors.As(list[1].Cause, &at) || at.Line != 5 || at.Column != 11 {
		t.Errorf("the client says %v", err)
	}
	// A file that does not fit is refused, and the run waits for one that does.
	made := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: ourFlow}))(t)
	_, err = w.ann.LoadRun(w.ctx, made.ID, "things", strings.NewReader("id\n1\n"), "")
	if crowd.CodeOf(err) != crowd.Invalid || !strings.Contains(err.Error(), `the file for things has no column "thing"`) {
		t.Errorf("loaded: %v", err)
	}
	if state := must(w.ann.Run(w.ctx, made.ID))(t).State; state != "loading" {
		t.Errorf("it is %s", state)
	}
	// Left out, the budget is the workflow's; 0 is not that.
	p = w.send(w.ann, http.MethodPost, "/v1/runs", fmt.Sprintf(`{"workflow": %q, "budget_micros": 0}`, ourFlow)).problem(t)
	if p.Status != http.StatusUnprocessableEntity || len(p.Errors) != 1 || p.Errors[0].Field != "budget_micros" {
		t.Errorf("a budget of 0 is refused by %+v", p)
	}
	for field, n := range map[string]wire.NewRun{
		"budget_micros": {Workflow: ourFlow, BudgetMicros: -1}, "parent": {Workflow: ourFlow, From: "sums"},
	} {
		_, err := w.ann.MakeRun(w.ctx, n)
		var e *crowd.Error
		if !errors.As(err, &e) || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	_, err = w.admin.MakeRun(w.ctx, wire.NewRun{Workflow: ourFlow})
	refused(t, err, crowd.Invalid) // of which tenant?
	big := w.send(w.ann, http.MethodPost, "/v1/workflows/check", strings.Repeat("#", 1<<20+1))
	if p := big.problem(t); p.Code != crowd.TooLarge {
		t.Errorf("a file without end: %+v", p)
	}
}

// TestParquetInputs are put aside while they are read, and removed.
func TestParquetInputs(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var file bytes.Buffer
	out := must(table.NewWriter(&file, []string{"thing", "id"}, table.WriterOptions{Format: table.Parquet, Types: map[string]table.ColumnType{"id": table.NumberColumn}}))(t)
	for i := range 1000 {
		ok(t, out.Write([]string{fmt.Sprintf("thing %d", i), fmt.Sprint(i)}))
	}
	ok(t, out.Flush())
	for _, format := range []string{"", "parquet"} {
		made := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: ourFlow}))(t)
		for name, body := range map[string][]byte{"cut off": file.Bytes()[:file.Len()/2], "none": []byte("PAR1")} {
			_, err := w.ann.LoadRun(w.ctx, made.ID, "things", bytes.NewReader(body), format)
			if crowd.CodeOf(err) != crowd.Invalid || !strings.Contains(err.Error(), "Parquet") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if l := must(w.ann.LoadRun(w.ctx, made.ID, "things", bytes.NewReader(file.Bytes()), format))(t); l.Rows != 1000 || l.Bad != 0 {
			t.Errorf("loaded: %+v", l)
		}
		items := must(w.ann.Items(w.ctx, made.ID, "things", 999, 10))(t)
		if len(items) != 1 || !slices.Equal(items[0].Values, []string{"thing 999", "999"}) {
			t.Errorf("items: %+v", items)
		}
	}
	if left := must(filepath.Glob(filepath.Join(dir, "*")))(t); len(left) > 0 || os.TempDir() != dir {
		t.Errorf("%q are left in %s", left, os.TempDir())
	}
}

// TestItemsThatAreHeld wait for somebody to say what to do.
func TestItemsThatAreHeld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const text = `workflow: Asks
inputs: {things: {columns: [{id: number}, thing]}}
steps:
  ask:
    from: {things: stream}
    service: {url: "http://127.0.0.1:1/x", tries: 1, response: {type: object, properties: {n: {type: number}}}}
`
	id := w.run(text, "id,thing\n1,a\n2,b\n3,c\n")
	changed, stop, err := w.watchRun(id)
	ok(t, err)
	defer stop()
	held := func() []wire.Fault { return must(w.ann.Faults(w.ctx, id, 0, 0))(t) }
	for len(held()) < 3 {
		<-changed
	}
	list := held()
	if list[0].Step != "ask" || list[0].Item != 1 || list[0].Tries != 1 || !strings.Contains(list[0].Error, "may not be called") {
		t.Errorf("held: %+v", list)
	}
	if more := must(w.ann.Faults(w.ctx, id, 1, 1))(t); len(more) != 1 || more[0].Item != 2 {
		t.Errorf("after the first: %+v", more)
	}
	if r := must(w.ann.Run(w.ctx, id))(t); !r.Stuck || node(t, r, "ask").Held != 3 || node(t, r, "ask").In != 3 {
		t.Errorf("the run: %+v", r)
	}
	if path := must(w.ann.ItemPath(w.ctx, id, 2))(t); path[1].State != "held" || path[1].Error == "" {
		t.Errorf("path: %+v", path)
	}
	if did := must(w.ann.RetryRun(w.ctx, id, "ask"))(t); did.Items != 3 || did.Steps != 0 {
		t.Errorf("tried again: %+v", did)
	}
	for len(held()) < 3 {
		<-changed
	}
	_, err = w.ann.SkipRun(w.ctx, id, "nothing")
	refused(t, err, crowd.NotFound)
	if did := must(w.ann.SkipRun(w.ctx, id, ""))(t); did.Items != 3 {
		t.Errorf("given up: %+v", did)
	}
	events := w.runEvents(id)
	if last := events[len(events)-1]; last.State != "done" || node(t, last, "ask").Failed != 3 {
		t.Errorf("in the end: %+v", last)
	}
	var got bytes.Buffer
	ok(t, w.ann.RunResults(w.ctx, id, "ask", &got, client.TableForm{Format: "csv"}, false))
	if got.String() != "id,thing,n\n" {
		t.Errorf("results of a step without rows: %q", &got)
	}
}

// TestSecrets are never told again.
func TestSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ok(t, w.ann.PutSecret(w.ctx, w.a, "KEY", wire.NewTenantSecret{Value: "hush-hush", Hosts: []string{"api.example.org", "*.example.net:8443", "10.0.0.1"}}))
	ok(t, w.ann.PutSecret(w.ctx, w.a, "OTHER", wire.NewTenantSecret{Value: "x"}))
	a := w.send(w.ann, http.MethodGet, "/v1/tenants/"+w.a.String()+"/secrets", "")
	if strings.TrimSpace(string(a.body)) != `[{"name":"KEY","hosts":["api.example.org","*.example.net:8443","10.0.0.1"]},{"name":"OTHER","hosts":[]}]` {
		t.Errorf("secrets: %s", a.body)
	}
	for _, host := range []string{"", "*", "https://api.example.org", "api.example.org/x", "a b", "10.0.0.0/8", "api.example.org:0", "@x", "1.2.3"} {
		err := w.ann.PutSecret(w.ctx, w.a, "KEY", wire.NewTenantSecret{Value: "x", Hosts: []string{"fits.example", host}})
		refused(t, err, crowd.Invalid)
		if !strings.Contains(err.Error(), "hosts[1]") {
			t.Errorf("%q: the error names no field: %v", host, err)
		}
	}
	refused(t, w.ann.PutSecret(w.ctx, w.a, "KEY", wire.NewTenantSecret{Value: "x", Hosts: slices.Repeat([]string{"a.example"}, 21)}), crowd.Invalid)
	refused(t, w.ann.PutSecret(w.ctx, w.a, "a b", wire.NewTenantSecret{Value: "x"}), crowd.Invalid)
	refused(t, w.ann.PutSecret(w.ctx, w.a, "EMPTY", wire.NewTenantSecret{Value: ""}), crowd.Invalid)
	refused(t, w.bob.PutSecret(w.ctx, w.a, "KEY", wire.NewTenantSecret{Value: "mine"}), crowd.NotFound)
	refused(t, second(w.bob.Secrets(w.ctx, w.a)), crowd.NotFound)
	refused(t, w.bob.DeleteSecret(w.ctx, w.a, "KEY"), crowd.NotFound)
	ok(t, w.ann.DeleteSecret(w.ctx, w.a, "KEY"))
	if list := must(w.ann.Secrets(w.ctx, w.a))(t); len(list) != 1 || list[0].Name != "OTHER" {
		t.Errorf("secrets: %+v", list)
	}
	if strings.Contains(w.log.String(), "hush") {
		t.Error("a secret is in the log")
	}
}

// watchRun watches a run as ann does.
func (w *world) watchRun(id crowd.RunID) (<-chan struct{}, func(), error) {
	p, err := w.app.Accounts.Authenticate(w.ctx, w.ann.Token, netip.Addr{})
	if err != nil {
		return nil, nil, err
	}
	return w.app.Runs.Watch(w.ctx, p, id)
}

// TestARunForASpreadsheet: no cell of a step or of an output is a formula then.
func TestARunForASpreadsheet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: `workflow: Cells
inputs: {rows: {columns: [{n: number}, cell]}}
steps: {same: {from: rows, sql: "SELECT n, cell FROM rows", columns: {n: number}}}
outputs: {all: {from: same}}
`}))(t)
	must(w.ann.LoadRun(w.ctx, made.ID, "rows", strings.NewReader("n,cell\n-2,=1+1\n3,plain\n"), "csv"))(t)
	must(w.ann.MoveRun(w.ctx, made.ID, "start"))(t)
	w.runEvents(made.ID)
	for spreadsheet, want := range map[bool]string{false: "n,cell\n-2,=1+1\n3,plain\n", true: "n,cell\n-2,'=1+1\n3,plain\n"} {
		form := client.TableForm{Format: "csv", Spreadsheet: spreadsheet}
		for _, node := range []string{"rows", "same"} {
			var got bytes.Buffer
			ok(t, w.ann.RunResults(w.ctx, made.ID, node, &got, form, false))
			if got.String() != want {
				t.Errorf("%s: %q, want %q", node, &got, want)
			}
		}
		var got bytes.Buffer
		ok(t, w.ann.RunOutput(w.ctx, made.ID, "all", &got, form))
		if got.String() != want {
			t.Errorf("the output: %q, want %q", &got, want)
		}
	}
}
