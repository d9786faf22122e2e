package orchestrator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// everyKind has a step of each kind.
const everyKind = `
workflow: every kind
inputs: {items: {columns: [{id: number}, word]}}
steps:
  ask:
    from: {items: stream}
    crowd: {template: {kind: choose_one, question: "?", options: ["yes", "no"], show: [word]}, redundancy: {count: 2}, reward: 0.10}
  tidy:
    from: {ask: stream}
    sql: select id, word, ask from ask where word <> 'none'
    columns: {id: number}
  call:
    from: {tidy: stream}
    service: {url: "https://x.example/", send: [word], response: {type: object, properties: {loud: {type: string}}}}
  total:
    from: call
    sql: select ask, count(*) as n, group_concat(loud, ' ') as words from (select * from call order by id) group by ask
`

func TestEachKindOfStep(t *testing.T) {
	w := newWorld(t)
	w.answer = func(values []string) string {
		if values[1] == "two" {
			return "no"
		}
		return "yes"
	}
	id := w.start(everyKind, "id,word\n1,one\n2,two\n3,none\n4,four\n")
	w.play()
	w.wantState(id, store.RunDone)
	w.want(id, "items", "1,one", "2,two", "3,none", "4,four")
	w.want(id, "tidy", "1,one,yes", "2,two,no", "4,four,yes")
	w.want(id, "call", "1,one,yes,one!", "2,two,no,two!", "4,four,yes,four!")
	w.want(id, "total", "no,1,two!", "yes,2,one! four!")
	if w.answers != 8 || len(w.attempts) != 3 {
		t.Errorf("%d answers and %d calls, want 8 and 3", w.answers, len(w.attempts))
	}
	for _, a := range w.attempts {
		if len(a.Call.Fields) != 1 || a.N != 1 || !strings.HasPrefix(a.Call.Key, id.String()+"-call-") {
			t.Errorf("an attempt is %+v", a)
		}
	}
	ask := w.node(id, "ask")
	if ask.Batch == nil || ask.Batch.Progress.State != crowd.BatchDone || ask.OK != 4 || ask.Kind != "crowd" {
		t.Errorf("ask is %+v", ask)
	}
	if n := w.node(id, "tidy"); n.OK != 3 || n.Skipped != 1 || n.Served != 4 {
		t.Errorf("tidy has %d rows, %d skipped, %d served", n.OK, n.Skipped, n.Served)
	}
}

// TestItemsCanBeFollowed reads the path of an item, and what waits where.
func TestItemsCanBeFollowed(t *testing.T) {
	w := newWorld(t)
	id := w.start(everyKind, "id,word\n1,one\n2,two\n")
	w.settle()
	slow, err := w.o.SlowestItems(w.ctx, 0, id, 1)
	must(t, err)
	if len(slow) != 1 || slow[0].Step != "ask" || slow[0].Why != "for people" || slow[0].Ends.IsZero() {
		t.Errorf("slowest: %+v", slow)
	}
	if n := w.node(id, "ask"); n.Inside != 2 || n.Waiting != 0 {
		t.Errorf("ask has %d inside and %d waiting, want 2 and 0", n.Inside, n.Waiting)
	}
	w.lag = true
	w.play()
	if slow, err = w.o.SlowestItems(w.ctx, 0, id, 5); err != nil || len(slow) != 2 || slow[0].Why != "for the service, or for its next try" {
		t.Errorf("slowest: %+v, %v", slow, err)
	}
	w.lag = false
	w.endCalls()
	w.play()
	path, err := w.o.Path(w.ctx, 0, id, 1)
	must(t, err)
	var steps []string
	for _, v := range path {
		steps = append(steps, v.Step+":"+v.Kind+":"+string(v.State))
	}
	if got := strings.Join(steps, " "); got != "items:input:ok ask:crowd:ok tidy:sql:ok call:service:ok" {
		t.Errorf("the path is %s", got)
	}
	if got := strings.Join(path[3].Columns, " "); got != "loud" {
		t.Errorf("the service's own columns are %s", got)
	}
	_, err = w.o.Path(w.ctx, 0, id, 99)
	wantCode(t, err, crowd.NotFound, "no item 99")
	rows, err := w.o.Items(w.ctx, id, "call", 1, 10)
	if err != nil || len(rows) != 1 || rows[0].N != 2 {
		t.Errorf("the items of call after the first: %+v, %v", rows, err)
	}
	_, err = w.o.Items(w.ctx, id, "none", 0, 10)
	wantCode(t, err, crowd.NotFound, `no step "none"`)
	_, err = w.o.Results(w.ctx, 0, id, "none")
	wantCode(t, err, crowd.NotFound, `no step "none"`)
}

// TestQueriesThatMultiply has a row-by-row query make several items of one, and
// none of another.
func TestQueriesThatMultiply(t *testing.T) {
	w := newWorld(t)
	id := w.start(`
workflow: split
inputs: {items: {columns: [id, parts]}}
steps:
  parts:
    from: {items: stream}
    sql: select items.id as id, value as part from items, json_each(parts)
  call:
    from: {parts: stream}
    service: {url: "https://x.example/", send: [part], response: {type: object, properties: {loud: {type: string}}}}
`, "id,parts\n1,\"[\"\"a\"\",\"\"b\"\"]\"\n2,[]\n3,\"[\"\"c\"\"]\"\n4,oops\n")
	w.play()
	w.want(id, "call", "1,a,a!", "1,b,b!", "3,c,c!")
	if n := w.node(id, "parts"); n.Faults != 1 {
		t.Errorf("%d items are held, want the one that is no list", n.Faults)
	}
	if v := w.view(id); !v.Stuck || v.State != store.RunRunning {
		t.Errorf("the run is %s, stuck: %v", v.State, v.Stuck)
	}
	items, steps, err := w.o.Retry(w.ctx, id, "")
	if err != nil || items != 1 || steps != 0 {
		t.Errorf("retry: %d items, %d steps, %v", items, steps, err)
	}
	w.play()
	if n := w.node(id, "parts"); n.Faults != 1 {
		t.Errorf("after a retry %d items are held, want 1", n.Faults)
	}
	if items, err := w.o.Skip(w.ctx, id, "parts"); err != nil || items != 1 {
		t.Errorf("skip: %d items, %v", items, err)
	}
	w.play()
	w.wantState(id, store.RunDone)
	path, err := w.o.Path(w.ctx, 0, id, 4)
	must(t, err)
	if last := path[len(path)-1]; last.State != store.RowFailed || last.Error == "" {
		t.Errorf("the skipped item ends as %+v", last)
	}
}

// TestALookup has a row-by-row query look its items up in a table.
func TestALookup(t *testing.T) {
	w := newWorld(t)
	id := w.load(orchestrator.NewRun{Text: `
workflow: lookup
inputs: {items: {columns: [id, kind]}, kinds: {columns: [kind, name]}}
steps:
  named:
    from: {items: stream, kinds: batch}
    sql: select items.id as id, kinds.name as name from items join kinds on kinds.kind = items.kind
`}, map[string]string{"items": "id,kind\n1,a\n2,b\n3,z\n", "kinds": "kind,name\na,apple\nb,bean\n"})
	must(t, w.o.Start(w.ctx, id))
	w.play()
	w.wantState(id, store.RunDone)
	w.want(id, "named", "1,apple", "2,bean")
}

// TestAQueryOverAllRowsRunsOnce: while it is under way, nothing that happens to the
// run begins it again.
func TestAQueryOverAllRowsRunsOnce(t *testing.T) {
	w := newWorld(t)
	w.slow = true
	id := w.start(`
workflow: once
inputs: {items: {columns: [id]}}
steps:
  whole:
    from: items
    sql: select id from items
`, "id\n1\n2\n")
	w.settle()
	_, _, err := w.o.Retry(w.ctx, id, "") // advances the run
	must(t, err)
	w.settle()
	if len(w.queries) != 1 {
		t.Errorf("%d queries are under way, want 1", len(w.queries))
	}
	for _, query := range w.queries {
		query()
	}
	w.play()
	w.want(id, "whole", "1", "2")
	w.wantState(id, store.RunDone)
}

// TestAQueryWhoseTurnIsOver fails its step with the reason, and is retried.
func TestAQueryWhoseTurnIsOver(t *testing.T) {
	w := newWorld(t)
	w.turnOver = crowd.Errorf(crowd.TooMany, "others wait")
	id := w.start(`
workflow: over
inputs: {items: {columns: [id]}}
steps:
  whole:
    from: items
    sql: select count(*) as n from items
`, "id\n1\n2\n")
	w.play()
	if n := w.node(id, "whole"); n.State != store.NodeFailed || n.Error != "others wait" {
		t.Errorf("the step is %s: %q", n.State, n.Error)
	}
	w.turnOver = nil
	_, _, err := w.o.Retry(w.ctx, id, "")
	must(t, err)
	w.play()
	w.want(id, "whole", "2")
}

// TestHeldItemsWereTaken: an item that a step holds after an error is one that it
// has taken, also where the step may make several rows of one item.
func TestHeldItemsWereTaken(t *testing.T) {
	w := newWorld(t)
	id := w.load(orchestrator.NewRun{Text: `
workflow: lookup
inputs: {items: {columns: [id, list]}, kinds: {columns: [kind]}}
steps:
  named:
    from: {items: stream, kinds: batch}
    sql: select items.id as id, json_array_length(list) as n from items join kinds
`}, map[string]string{"items": "id,list\n1,[]\n2,oops\n3,[]\n", "kinds": "kind\na\n"})
	must(t, w.o.Start(w.ctx, id))
	w.play()
	n := w.node(id, "named")
	if got := w.view(id).Taken(n.Node.Node); n.Last != 2 || n.Faults != 1 || got != 3 {
		t.Errorf("%d rows and %d held items, and %d were taken, want 3", n.Last, n.Faults, got)
	}
}

// TestAFailedQuery has a query over all rows exceed its limit: the step fails, and
// a retry runs it again.
func TestAFailedQuery(t *testing.T) {
	w := newWorld(t)
	id := w.start(`
workflow: limit
inputs: {items: {columns: [id]}}
steps:
  pairs:
    from: items
    sql: {query: "select a.id as one, b.id as two from items a, items b", rows: 3}
`, "id\n1\n2\n")
	w.play()
	if n := w.node(id, "pairs"); n.State != store.NodeFailed || !strings.Contains(n.Error, "rows") {
		t.Fatalf("pairs is %s: %s", n.State, n.Error)
	}
	items, steps, err := w.o.Retry(w.ctx, id, "pairs")
	if err != nil || items != 0 || steps != 1 {
		t.Errorf("retry: %d items, %d steps, %v", items, steps, err)
	}
	w.play()
	if n := w.node(id, "pairs"); n.State != store.NodeFailed {
		t.Errorf("pairs is %s", n.State)
	}
	must(t, w.o.Cancel(w.ctx, id))
	w.wantState(id, store.RunCancelled)
}

const oneCall = `
workflow: call
inputs: {items: {columns: [id]}}
steps:
  call:
    from: {items: stream}
    on_error: HOLD
    service: {url: "https://x.example/", tries: 3, backoff: 10s, concurrency: 2, response: {type: object, properties: {loud: {type: string}}}}
`

// TestCallsAreTriedAgain has a service fail twice: the call is tried again after
// the backoff, and no more than the service takes are under way.
func TestCallsAreTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.service = func(a orchestrator.Attempt) (httpstep.Reply, error) {
		if a.N < 3 {
			return httpstep.Reply{}, &httpstep.Failure{Reason: httpstep.Status, StatusCode: 503, Message: "busy"}
		}
		return httpstep.Reply{Values: []string{"ok"}}, nil
	}
	w.lag = true
	began := w.now
	id := w.start(strings.Replace(oneCall, "HOLD", "hold", 1), "id\n1\n2\n3\n")
	w.settle()
	if len(w.open) != 2 {
		t.Errorf("%d calls are under way, want 2", len(w.open))
	}
	w.lag = false
	w.endCalls()
	w.play()
	w.wantState(id, store.RunDone)
	w.want(id, "call", "1,ok", "2,ok", "3,ok")
	if len(w.attempts) != 9 || w.now.Sub(began) < 22*time.Second {
		t.Errorf("%d attempts in %s", len(w.attempts), w.now.Sub(began))
	}
}

// TestWhatAServiceRefuses is held until it is retried, or goes on as failed where
// the step says so.
func TestWhatAServiceRefuses(t *testing.T) {
	refuse := func(a orchestrator.Attempt) (httpstep.Reply, error) {
		if a.Call.Fields[0].Value == "2" {
			return httpstep.Reply{}, &httpstep.Failure{Reason: httpstep.Status, StatusCode: 422, Message: "no such word"}
		}
		return httpstep.Reply{Values: []string{"ok"}}, nil
	}
	t.Run("drop", func(t *testing.T) {
		w := newWorld(t)
		w.service = refuse
		id := w.start(strings.Replace(oneCall, "HOLD", "drop", 1), "id\n1\n2\n3\n")
		w.play()
		w.wantState(id, store.RunDone)
		w.want(id, "call", "1,ok", "3,ok")
		if n := w.node(id, "call"); n.Failed != 1 {
			t.Errorf("%d failed, want 1", n.Failed)
		}
	})
	t.Run("hold", func(t *testing.T) {
		w := newWorld(t)
		w.service = refuse
		id := w.start(strings.Replace(oneCall, "HOLD", "hold", 1), "id\n1\n2\n3\n")
		w.play()
		if v := w.view(id); !v.Stuck {
			t.Error("the run is not stuck")
		}
		slow, err := w.o.SlowestItems(w.ctx, 0, id, 5)
		if err != nil || len(slow) != 1 || slow[0].Why != "held after an error: no such word" || !slow[0].Ends.IsZero() {
			t.Errorf("slowest: %+v, %v", slow, err)
		}
		path, err := w.o.Path(w.ctx, 0, id, 2)
		if err != nil || path[1].Held != "no such word" || path[1].Tries != 1 {
			t.Errorf("the path of a held item: %+v, %v", path, err)
		}
		w.restart() // which knows what is held
		w.play()
		if len(w.attempts) != 3 {
			t.Errorf("%d attempts after a restart, want 3", len(w.attempts))
		}
		w.service = func(orchestrator.Attempt) (httpstep.Reply, error) {
			return httpstep.Reply{Values: []string{"now"}}, nil
		}
		items, _, err := w.o.Retry(w.ctx, id, "call")
		if err != nil || items != 1 {
			t.Errorf("retry: %d items, %v", items, err)
		}
		w.play()
		w.wantState(id, store.RunDone)
		w.want(id, "call", "1,ok", "2,now", "3,ok")
	})
	t.Run("retry before the first step after a restart", func(t *testing.T) {
		w := newWorld(t)
		w.service = refuse
		id := w.start(strings.Replace(oneCall, "HOLD", "hold", 1), "id\n1\n2\n3\n")
		w.play()
		w.restart()
		w.service = func(orchestrator.Attempt) (httpstep.Reply, error) {
			return httpstep.Reply{Values: []string{"now"}}, nil
		}
		items, _, err := w.o.Retry(w.ctx, id, "")
		if err != nil || items != 1 {
			t.Errorf("retry: %d items, %v", items, err)
		}
		w.play()
		w.wantState(id, store.RunDone)
		if len(w.attempts) != 4 {
			t.Errorf("%d attempts, want 4", len(w.attempts))
		}
	})
}

// TestAServiceIsExpectedToTakeWhatItTook: what was measured is what the requester sees,
// also after a restart.
func TestAServiceIsExpectedToTakeWhatItTook(t *testing.T) {
	w := newWorld(t)
	w.lag = true
	id := w.start(strings.Replace(oneCall, "HOLD", "hold", 1), "id\n1\n2\n3\n")
	w.settle()
	if n := w.node(id, "call"); n.Expect != n.Step.Expect || n.Expect == 0 {
		t.Errorf("before any call one is expected to take %s", n.Expect)
	}
	w.now = w.now.Add(4 * time.Second)
	w.endCalls() // two of three
	w.settle()
	for range 2 {
		v, n := w.view(id), w.node(id, "call")
		if n.Expect != 4*time.Second || n.Served != 2 || n.Busy != 8*time.Second {
			t.Errorf("after %d calls of %s one is expected to take %s, want 4s after 2 of 8s", n.Served, n.Busy, n.Expect)
		}
		if end := v.Outlook.Median; !end.Equal(w.now.Add(4 * time.Second)) {
			t.Errorf("the run is expected to end at %s, it is %s", end, w.now)
		}
		slow, err := w.o.SlowestItems(w.ctx, 0, id, 3)
		if err != nil || len(slow) != 1 || !slow[0].Ends.Equal(w.now.Add(4*time.Second)) {
			t.Errorf("slowest: %+v, %v", slow, err)
		}
		w.restart()
		w.settle()
	}
}

// TestStepsShareAProxy has two steps call one address: together they make no more
// calls at a time than the stricter one allows.
func TestStepsShareAProxy(t *testing.T) {
	w := newWorld(t)
	step := func(name, from string, most int) string {
		return fmt.Sprintf("  %s: {from: {%s: stream}, service: {url: 'https://x.example/', concurrency: %d, response: {type: object, properties: {%s_loud: {type: string}}}}}\n", name, from, most, name)
	}
	w.lag = true
	id := w.start("workflow: shared\ninputs: {items: {columns: [id]}}\nsteps:\n"+step("one", "items", 5)+step("two", "items", 3), "id\n1\n2\n3\n4\n5\n6\n")
	w.settle()
	if len(w.open) != 3 {
		t.Errorf("%d calls are under way, want 3", len(w.open))
	}
	w.lag = false
	for len(w.open) > 0 {
		w.endCalls()
		w.play()
	}
	w.wantState(id, store.RunDone)
	if len(w.attempts) != 12 {
		t.Errorf("%d attempts, want 12", len(w.attempts))
	}
}

// A step that wants answers from more people than may give them says so from the
// start, and nothing says when it ends; those who come later make it go on.
func TestTooFewPeopleForAStep(t *testing.T) {
	w := newWorld(t)
	id := w.start(strings.Replace(everyKind, "count: 2", "count: 9", 1), "id,word\n1,one\n")
	for _, begun := range []bool{false, true} {
		if n := w.node(id, "ask"); (n.Batch != nil) != begun || !n.Crowd.TooSmall() || n.Crowd.Wanted != 9 {
			t.Errorf("ask (begun %v) is %+v", begun, n)
		}
		if n := w.node(id, "call"); n.Crowd.Wanted != 0 || n.Crowd.TooSmall() {
			t.Errorf("call is %+v", n)
		}
		w.settle()
	}
	slow, err := w.o.SlowestItems(w.ctx, 0, id, 1)
	must(t, err)
	if len(slow) != 1 || !slow[0].Ends.IsZero() {
		t.Errorf("slowest: %+v", slow)
	}
	for i := range crowd.WorkerID(9) {
		must(t, w.engine.SetWorker(w.now, engine.Worker{ID: 100 + i}))
	}
	if n := w.node(id, "ask"); n.Crowd.TooSmall() {
		t.Errorf("ask is %+v", n)
	}
	if slow, err = w.o.SlowestItems(w.ctx, 0, id, 1); err != nil || len(slow) != 1 || slow[0].Ends.IsZero() {
		t.Errorf("slowest: %+v, %v", slow, err)
	}
}

// A later step that too few people may do keeps the run from its end, which is said before
// the first item comes to it.
func TestTooFewPeopleForALaterStep(t *testing.T) {
	w := newWorld(t)
	id := w.start(strings.Replace(twoCrowds, "task_time: 20s", "task_time: 20s, redundancy: {count: 9}", 1), "id\n1\n2\n")
	w.settle()
	batch := w.node(id, "ask").Node.Batch
	at := w.now.Add(time.Hour)
	w.forecasts = map[crowd.BatchID]orchestrator.Forecast{batch: {Low: at, Median: at, High: at, Horizon: at.Add(time.Hour)}}
	v := w.view(id)
	n := w.node(id, "judge")
	if n.Batch != nil || n.Waiting+n.Inside != 0 {
		t.Fatalf("items are there already: %+v", n)
	}
	if want := "judge: it cannot finish: " + n.Crowd.String(); v.Outlook.Why != want || !v.Outlook.Median.IsZero() {
		t.Errorf("the outlook is %+v, want %q", v.Outlook, want)
	}
	few := "judge: " + n.Crowd.String() + "; it cannot finish before more come"
	flow, problems, err := orchestrator.Parse(w.ctx, v.Run.Text, nil, w.now)
	must(t, err)
	lacking, said, err := w.o.People(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: v.Run.Text}, flow)
	if must(t, err); len(problems)+len(lacking) > 0 || !slices.Equal(said, []string{few}) || !slices.Contains(v.Notes, few) {
		t.Errorf("before a run is made it is said %q, of this run %q; want %q", said, v.Notes, few)
	}
	for i := range crowd.WorkerID(9) {
		must(t, w.engine.SetWorker(w.now, engine.Worker{ID: 100 + i}))
	}
	if v := w.view(id); slices.Contains(v.Notes, few) {
		t.Errorf("with enough people it is said %q", v.Notes)
	}
	if o := w.view(id).Outlook; o.Why != "" || o.Median.IsZero() {
		t.Errorf("with enough people it is %+v", o)
	}
}
