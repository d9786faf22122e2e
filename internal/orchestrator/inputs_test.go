package orchestrator_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

func TestInputsAreLoaded(t *testing.T) {
	w := newWorld(t)
	text := "workflow: w\ninputs: {items: {}, more: {columns: [id]}}\nsteps:\n  joined: {from: [items, more], sql: select items.id as id from items join more on more.id = items.id}\n"
	made, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: text})
	must(t, err)
	id := made.Run.ID
	wantCode(t, w.o.Start(w.ctx, id), crowd.Invalid, "has no rows yet")
	_, err = w.o.Load(w.ctx, id, "nothing", csv(t, "id\n1\n"))
	wantCode(t, err, crowd.Invalid, "no input")
	result, err := w.o.Load(w.ctx, id, "items", csv(t, "id,word\n1,one\n2\n3,three\n"))
	if err != nil || result.Rows != 3 || result.Bad != 1 || len(result.Some) != 1 {
		t.Errorf("loaded: %+v, %v", result, err)
	}
	_, err = w.o.Load(w.ctx, id, "items", csv(t, "id\n1\n"))
	wantCode(t, err, crowd.Conflict, "has its rows already")
	if v := w.view(id); v.State != store.RunLoading || v.Nodes[0].OK != 2 || v.Nodes[0].Failed != 1 {
		t.Errorf("the run is %+v", v)
	}
	_, err = w.o.Load(w.ctx, id, "more", csv(t, "id\n3\n"))
	must(t, err)
	must(t, w.o.Start(w.ctx, id))
	wantCode(t, w.o.Start(w.ctx, id), crowd.Conflict, "it is not waiting for its inputs")
	_, err = w.o.Load(w.ctx, id, "more", csv(t, "id\n1\n"))
	wantCode(t, err, crowd.Conflict, "it is not waiting for its inputs")
	wantCode(t, w.o.Abandon(w.ctx, id), crowd.Conflict, "it is not waiting for its inputs")
	w.play()
	w.wantState(id, store.RunDone)
	w.want(id, "joined", "3")

	made, err = w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: text})
	must(t, err)
	must(t, w.o.Abandon(w.ctx, made.Run.ID))
	w.wantState(made.Run.ID, store.RunCancelled)

	// A file that does not fit is not taken; one that fits is.
	made, err = w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: text})
	must(t, err)
	var problems orchestrator.Problems
	for input, file := range map[string]string{"items": "name\n1\n", "more": "nid\n3\n"} {
		if _, err := w.o.Load(w.ctx, made.Run.ID, input, csv(t, file)); !errors.As(err, &problems) || crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("a file for %s that does not fit: %v", input, err)
		}
	}
	if v := w.view(made.Run.ID); v.State != store.RunLoading || v.Nodes[0].Last+v.Nodes[1].Last != 0 {
		t.Errorf("after files that do not fit: %+v", v)
	}
	for _, input := range made.Needs {
		_, err := w.o.Load(w.ctx, made.Run.ID, input, csv(t, "id\n3\n"))
		must(t, err)
	}
	must(t, w.o.Start(w.ctx, made.Run.ID))

	made, err = w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: text})
	must(t, err)
	gone, cancel := context.WithCancel(w.ctx)
	cancel()
	if _, err := w.o.Load(gone, made.Run.ID, "items", csv(t, "id\n1\n")); err == nil {
		t.Error("a file is loaded for a caller that has gone")
	}
	w.wantState(made.Run.ID, store.RunLoading)
}

// brokenFile is a file that ends too early.
type brokenFile struct {
	table.Rows
	at func() // is called then
}

func (f brokenFile) Read() ([]string, int, error) {
	cells, line, err := f.Rows.Read()
	if errors.Is(err, io.EOF) {
		f.at()
		err = io.ErrUnexpectedEOF
	}
	return cells, line, err
}

// TestAHalfReadInputIsWantedAgain: an input whose upload breaks off, or that is being
// read when the server dies, keeps nothing of its file and wants it again. Inputs that
// are whole stay.
func TestAHalfReadInputIsWantedAgain(t *testing.T) {
	for name, dies := range map[string]bool{"the upload breaks off": false, "the server dies": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			made, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: "workflow: w\ninputs: {items: {}, more: {columns: [id]}}\nsteps:\n  joined: {from: [items, more], sql: select items.id as id from items join more on more.id = items.id}\n"})
			must(t, err)
			id := made.Run.ID
			_, err = w.o.Load(w.ctx, id, "more", csv(t, "id\n3\n"))
			must(t, err)
			rows, _, _ := csv(t, "id\n"+strings.Repeat("1\n\"\n", 1)+strings.Repeat("2\n", 25_000))()
			half := table.Opened(brokenFile{rows, func() {
				if dies {
					w.store.fail = func(string) error { return errDisk }
				}
			}})
			if _, err = w.o.Load(w.ctx, id, "items", half); err == nil {
				t.Fatal("half a file is loaded")
			}
			w.store.fail = nil
			want := "its upload broke off, and nothing of it is kept; load the file again"
			if dies {
				if n := w.node(id, "items"); n.State != store.NodeRunning || n.Last == 0 {
					t.Fatalf("the server has not died in the middle: %+v", n)
				}
				w.restart()
				want = "the server ended while its file was read, and nothing of it is kept; load the file again"
			}
			if n := w.node(id, "items"); n.State != store.NodeWaiting || n.Last+n.OK+n.Failed != 0 || n.Columns != nil || n.Error != want {
				t.Errorf("the input is %+v", n)
			}
			wantCode(t, w.o.Start(w.ctx, id), crowd.Invalid, "the input items has no rows yet")
			w.restart()
			_, err = w.o.Load(w.ctx, id, "items", csv(t, "id\n3\n4\n"))
			must(t, err)
			if n := w.node(id, "items"); n.State != store.NodeDone || n.OK != 2 || n.Error != "" {
				t.Errorf("loaded again, the input is %+v", n)
			}
			must(t, w.o.Start(w.ctx, id))
			w.play()
			w.want(id, "joined", "3")
		})
	}
}

// halfMade makes a run that goes on from another, and has the store fail when it is to
// copy what the run takes over, and from then on.
func (w *world) halfMade(text string, parent crowd.RunID, failure error) crowd.RunID {
	w.t.Helper()
	died := false
	w.store.fail = func(what string) error {
		if what == "take over" {
			died = true
			return failure
		}
		if died {
			return errDisk
		}
		return nil
	}
	if _, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: text, Parent: parent}); !errors.Is(err, failure) {
		w.t.Fatal(err)
	}
	w.store.fail = nil
	id := parent + 1
	w.wantState(id, store.RunLoading)
	if n := w.node(id, "items"); (n.Last != 0) != (failure == errUnheard) {
		w.t.Fatalf("copied were %d rows", n.Last)
	}
	return id
}

// TestATakeOverIsFinished: a run that goes on from another, and is being made when the
// server dies or the store fails, waits, and when it starts has all that it takes over,
// once.
func TestATakeOverIsFinished(t *testing.T) {
	restart := (*world).restart
	failing := func(fails func(call int) bool) func(*world) {
		return func(w *world) {
			call := 0
			w.store.fail = func(string) error {
				if call++; fails(call) {
					return errDisk
				}
				return nil
			}
			w.restart()
			w.settle()
			w.store.fail = nil
		}
	}
	for name, c := range map[string]struct {
		failure error
		then    func(*world)
	}{
		"before it is copied":                {errDisk, restart},
		"after it is copied":                 {errUnheard, restart},
		"the server goes on":                 {errDisk, func(*world) {}},
		"the store still fails":              {errDisk, failing(func(int) bool { return true })},
		"the first call fails at a restart":  {errDisk, failing(func(call int) bool { return call == 1 })},
		"the second call fails at a restart": {errDisk, failing(func(call int) bool { return call == 2 })},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			first := w.start(everyKind, "id,word\n1,one\n2,two\n3,three\n")
			w.play()
			w.wantState(first, store.RunDone)
			answers := w.answers
			second := w.halfMade(everyKind, first, c.failure)
			c.then(w)
			w.wantState(second, store.RunLoading)
			w.store.fail = func(what string) error {
				if what == "take over" {
					return errDisk
				}
				return nil
			}
			if err := w.o.Start(w.ctx, second); !errors.Is(err, errDisk) {
				t.Errorf("without what it takes over, it starts: %v", err)
			}
			w.store.fail = nil
			w.wantState(second, store.RunLoading)
			must(t, w.o.Start(w.ctx, second))
			w.play()
			w.wantState(second, store.RunDone)
			w.want(second, "total", "yes,3,one! two! three!")
			if w.answers != answers {
				t.Errorf("%d answers were asked for again", w.answers-answers)
			}
		})
	}
}

// TestALoadAfterHalfATakeOver: the items of a file are other ones than those that are
// taken over, also if these come later.
func TestALoadAfterHalfATakeOver(t *testing.T) {
	w := newWorld(t)
	first := w.start("workflow: w\ninputs: {items: {columns: [id]}}\nsteps:\n  every: {from: items, sql: select id from items}\n", "id\n1\n2\n")
	w.play()
	second := w.halfMade("workflow: w\ninputs: {items: {columns: [id]}, more: {columns: [id]}}\nsteps:\n  every: {from: [items, more], sql: select id from items union select id from more}\n", first, errDisk)
	_, err := w.o.Load(w.ctx, second, "more", csv(t, "id\n3\n4\n"))
	must(t, err)
	must(t, w.o.Start(w.ctx, second))
	w.play()
	w.want(second, "every", "1", "2", "3", "4")
	seen := make(map[int64]string)
	for _, name := range []string{"items", "more"} {
		rows, err := w.o.Items(w.ctx, second, name, 0, 10)
		must(t, err)
		for _, r := range rows {
			if seen[r.Item] != "" {
				t.Errorf("item %d is of %s and of %s", r.Item, seen[r.Item], name)
			}
			seen[r.Item] = name
		}
	}
	if len(seen) != 4 {
		t.Errorf("the items are %v", seen)
	}
}

// TestAHalfReadInputThatCannotBePutBack: when the store fails at the restart, too, the
// next file takes the place of what was read.
func TestAHalfReadInputThatCannotBePutBack(t *testing.T) {
	for _, fails := range []string{"nodes", "clear", "advance"} {
		t.Run(fails, func(t *testing.T) {
			w := newWorld(t)
			made, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: "workflow: w\ninputs: {items: {columns: [id]}}\nsteps:\n  every: {from: items, sql: select id from items}\n"})
			must(t, err)
			id := made.Run.ID
			rows, _, _ := csv(t, "id\n"+strings.Repeat("1\n", 1500))()
			half := table.Opened(brokenFile{rows, func() { w.store.fail = func(string) error { return errDisk } }})
			if _, err = w.o.Load(w.ctx, id, "items", half); err == nil {
				t.Fatal("half a file is loaded")
			}
			w.store.fail = func(what string) error {
				if what == fails {
					return errDisk
				}
				return nil
			}
			w.restart()
			w.store.fail = nil
			w.settle()
			wantCode(t, w.o.Start(w.ctx, id), crowd.Invalid, "the input items has no rows yet")
			_, err = w.o.Load(w.ctx, id, "items", csv(t, "id\n3\n"))
			must(t, err)
			must(t, w.o.Start(w.ctx, id))
			w.play()
			w.want(id, "every", "3")
		})
	}
}

// TestTypedCellsOfAnInput: a cell that is no value of its column's type is told when the
// file is loaded, and does not stop the query that comes later.
func TestTypedCellsOfAnInput(t *testing.T) {
	w := newWorld(t)
	text := `workflow: w
inputs: {items: {columns: [id, {price: number}, {sold: bool}]}}
steps:
  dear: {from: items, sql: 'select id, price, sold from items where sold and price > 1'}
  sums: {from: dear, sql: 'select count(*) as n, sum(price) as price, sum(sold) as sold from dear'}
`
	made, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: text})
	must(t, err)
	got, err := w.o.Load(w.ctx, made.Run.ID, "items", csv(t, "sold,note,price,id\nyes,x,2.5,1\nmaybe,x,3,2\nTRUE,x,about 3,3\n1,x, 4,4\nno,x,5,5\n,x,,6\n"))
	must(t, err)
	want := []*crowd.Error{
		{Code: crowd.Invalid, Row: 3, Field: "sold", Message: `must be true or false (or yes, no, 1, 0), not "maybe"`},
		{Code: crowd.Invalid, Row: 4, Field: "price", Message: `must be a number, as 12 or -0.5, not "about 3"`},
	}
	if got.Rows != 6 || got.Bad != 2 || !reflect.DeepEqual(got.Some, want) {
		t.Errorf("loaded %+v, want %v", got, want)
	}
	must(t, w.o.Start(w.ctx, made.Run.ID))
	w.play()
	w.wantState(made.Run.ID, store.RunDone)
	w.want(made.Run.ID, "sums", "2,6.5,2")
	res, err := w.o.Results(w.ctx, 0, made.Run.ID, "dear")
	must(t, err)
	file, err := res.Table([]string{"id", "price", "sold"}, table.JSONL, false)
	must(t, err)
	var out strings.Builder
	if _, err := file.Write(&out); err != nil || out.String() != `{"id":"1","price":2.5,"sold":true}
{"id":"4","price":4,"sold":true}
` {
		t.Errorf("the rows as JSON Lines are %s, %v", out.String(), err)
	}
}

// TestTypedResultsOfAQuery: a value that does not fit the column's declared type holds
// the item, or fails the step, that computed it, and not one that reads it later.
func TestTypedResultsOfAQuery(t *testing.T) {
	w := newWorld(t)
	text := `workflow: w
inputs: {items: {columns: [id]}}
steps:
  each: {from: {items: stream}, sql: "select id, 'a' || id as price from items", columns: {price: number}}
`
	id := w.start(text, "id\n1\n2\n")
	w.play()
	list, err := w.o.SlowestItems(w.ctx, w.tenant, id, 10)
	must(t, err)
	if len(list) != 2 || !strings.Contains(list[0].Why, `price: must be a number, as 12 or -0.5, not "a1"`) {
		t.Errorf("held are %+v", list)
	}
	id = w.start(strings.Replace(text, "{items: stream}", "items", 1), "id\n1\n2\n")
	w.play()
	if n := w.node(id, "each"); n.State != store.NodeFailed || n.Error != `row 1 of the result: price: must be a number, as 12 or -0.5, not "a1"` {
		t.Errorf("the step is %s: %s", n.State, n.Error)
	}
}

// TestKnownAnswersStayHidden: the known answers of one step reach no worker and no
// service at any other, unless the step reveals them.
func TestKnownAnswersStayHidden(t *testing.T) {
	for reveal, want := range map[string]string{"": "id word", "reveal: true, ": "id word known"} {
		w := newWorld(t)
		w.answer = func([]string) string { return "yes" }
		w.service = func(a orchestrator.Attempt) (httpstep.Reply, error) {
			return httpstep.Reply{Values: []string{"ok"}}, nil
		}
		text := `workflow: w
inputs: {items: {columns: [id, word, known]}}
steps:
  asked: {from: items, crowd: {template: {kind: choose_one, question: "?", options: ["yes", "no"]}, reward: 0.10, truth: known}}
  call: {from: asked, service: {REVEALurl: "https://x.example/", response: {type: object, properties: {loud: {type: string}}}}}
  again: {from: call, crowd: {REVEALtemplate: {kind: choose_one, question: "?", options: ["yes", "no"]}, reward: 0.10}}
`
		id := w.start(strings.ReplaceAll(text, "REVEAL", reveal), "id,word,known\n1,one,yes\n")
		w.play()
		w.wantState(id, store.RunDone)
		var sent []string
		for _, f := range w.attempts[0].Call.Fields {
			sent = append(sent, f.Name)
		}
		again, err := w.store.Batch(w.ctx, w.tenant, w.node(id, "again").Batch.Spec.ID)
		must(t, err)
		shown := again.Columns
		if len(shown) < 3 || shown[2] == "known" != (reveal != "") || len(sent) < 3 || sent[2] == "known" != (reveal != "") {
			t.Errorf("%q: shown are %v, sent %v, want %s first", reveal, shown, sent, want)
		}
		w.want(id, "again", "1,one,yes,yes,1,1,false,false,ok,yes,1,1,false,false")
	}
}

// TestHiddenColumnsOfAnEarlierVersion: a batch that was made when known answers of other steps were put into
// it shows none of them, under whatever name a query gave them.
func TestHiddenColumnsOfAnEarlierVersion(t *testing.T) {
	for reveal, want := range map[string][]string{"": {"KNOWN", "known:1", "known", "Known:2"}, "reveal: true, ": nil} {
		w := newWorld(t)
		id := w.start(strings.Replace(`workflow: w
inputs: {items: {columns: [id, known]}}
steps:
  asked: {from: items, crowd: {template: {kind: choose_one, question: "?", options: ["yes", "no"]}, reward: 0.10, truth: known}}
  again: {from: asked, crowd: {REVEALtemplate: {kind: choose_one, question: "?", options: ["yes", "no"]}, reward: 0.10}}
`, "REVEAL", reveal, 1), "id,known\n1,yes\n")
		w.play()
		w.wantState(id, store.RunDone)
		b, err := w.store.Batch(w.ctx, w.tenant, w.node(id, "again").Batch.Spec.ID)
		must(t, err)
		if slices.Contains(b.Columns, "known") != (reveal != "") {
			t.Errorf("%q: a batch that is made now has the columns %q", reveal, b.Columns)
		}
		b.Columns = []string{"id", "KNOWN", "known:1", "unknown", "known", "Known:2", "known answer"}
		got, err := orchestrator.HiddenColumns(w.ctx, w.store, &b)
		must(t, err)
		if !slices.Equal(got, want) {
			t.Errorf("%q: hidden are %q, want %q", reveal, got, want)
		}
	}
}

// TestABadRowTooMany: a hundred bad rows are listed, and the others only counted.
func TestABadRowTooMany(t *testing.T) {
	w := newWorld(t)
	made, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: strings.Replace(oneCall, "HOLD", "hold", 1)})
	must(t, err)
	got, err := w.o.Load(w.ctx, made.Run.ID, "items", csv(t, "id\n"+strings.Repeat("1,2\n", 101)))
	if err != nil || got.Rows != 101 || got.Bad != 101 || len(got.Some) != 100 || got.Some[99].Row != 101 {
		t.Errorf("%d bad rows of %d, %d listed, %v", got.Bad, got.Rows, len(got.Some), err)
	}
}

// TestACancelledRunLoadsNothing: a run that is cancelled while a file is read, before rows
// of it are kept or with the last of them, keeps none, and the sender hears of it.
func TestACancelledRunLoadsNothing(t *testing.T) {
	for name, before := range map[string]int{"early": 1, "with the last rows": 3} { // which move after the first it comes before
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			made, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: "workflow: w\ninputs: {items: {}}\nsteps:\n  one: {from: items, sql: select id from items}\n"})
			must(t, err)
			id, moves := made.Run.ID, 0
			w.store.fail = func(what string) error {
				if what != "advance" {
					return nil
				}
				if moves++; moves == before+1 {
					must(t, w.o.Abandon(w.ctx, id))
				}
				return nil
			}
			_, err = w.o.Load(w.ctx, id, "items", csv(t, "id\n"+strings.Repeat("2\n", 2500)))
			wantCode(t, err, crowd.Conflict, "r1 was cancelled")
			w.wantState(id, store.RunCancelled)
			if n := w.node(id, "items"); n.State != store.NodeWaiting || n.Last != 0 || n.Error != "" {
				t.Errorf("the input is %+v", n)
			}
		})
	}
}
