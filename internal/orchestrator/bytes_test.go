package orchestrator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/sqlstep"
)

// longRows is a file of n rows with 512 KiB of text each.
func longRows(n int) string {
	var out strings.Builder
	out.WriteString("id,text\n")
	for i := range n {
		fmt.Fprintf(&out, "%d,%s\n", i+1, strings.Repeat("x", 512<<10))
	}
	return out.String()
}

// aPage is the most text of a chunk: the last of its rows may make it longer.
const aPage = store.PageBytes + 1<<20

// TestLongRowsGoInShortChunks sends long rows through queries row by row and
// a job: no move of the run is longer than a chunk, and no pass takes more than one, so
// that other runs have their turn.
func TestLongRowsGoInShortChunks(t *testing.T) {
	const n = 20
	w := newWorld(t)
	id := w.start(`
workflow: long
inputs: {items: {columns: [id, text]}}
steps:
  one: {from: {items: stream}, sql: "select id, text as first from items"}
  two: {from: {items: stream}, sql: "select id, text as second from items"}
  ask:
    from: {items: stream}
    crowd: {template: {kind: choose_one, question: "?", options: ["yes", "no"]}, reward: 0.01}
`, longRows(n))
	for {
		w.woken, w.store.read = false, 0
		_, more := w.o.Step(w.ctx)
		if w.store.read > aPage {
			t.Fatalf("one pass has read %d bytes", w.store.read)
		}
		if !more && !w.woken {
			break
		}
	}
	w.play()
	w.wantState(id, store.RunDone)
	for _, name := range []string{"one", "two", "ask"} {
		if x := w.node(id, name); x.OK != n {
			t.Errorf("%s has %d rows, want %d", name, x.OK, n)
		}
	}
	if w.store.most > aPage || w.store.most < store.PageBytes {
		t.Errorf("the longest move has %d bytes of text", w.store.most)
	}
}

// TestAQueryOverLongRows gives all of them, in order, and they are kept in short moves.
func TestAQueryOverLongRows(t *testing.T) {
	const n = 20
	w := newWorld(t)
	id := w.start("workflow: long\ninputs: {items: {columns: [id, text]}}\nsteps:\n  whole: {from: items, sql: \"select id, text as first from items order by cast(id as integer)\"}\n", longRows(n))
	w.play()
	var ids []string
	results, err := w.o.Results(w.ctx, w.tenant, id, "whole")
	must(t, err)
	for row, err := range results.Rows {
		must(t, err)
		ids = append(ids, row.Cells[0])
	}
	if len(ids) != n || ids[0] != "1" || ids[n-1] != fmt.Sprint(n) {
		t.Errorf("the rows are %q", ids)
	}
	if w.store.most > aPage || w.store.most < store.PageBytes {
		t.Errorf("the longest move has %d bytes of text", w.store.most)
	}
}

// TestLongHeldItems gives up and tries again items with long rows, some at a time.
func TestLongHeldItems(t *testing.T) {
	const n = 12
	w := newWorld(t)
	id := w.start(`
workflow: long
inputs: {items: {columns: [id, text]}}
steps:
  one: {from: {items: stream}, sql: "select id, cast(text as integer) / 0 as first, json_extract(text, '$') as second from items"}
  two: {from: {items: stream}, sql: "select id, json_extract(text, '$') as third from items"}
`, longRows(n))
	w.play()
	for _, name := range []string{"one", "two"} {
		if x := w.node(id, name); x.Faults != n {
			t.Fatalf("%s holds %d items, want %d", name, x.Faults, n)
		}
	}
	w.store.most = 0
	items, _, err := w.o.Retry(w.ctx, id, "one")
	if err != nil || items != n {
		t.Errorf("%d items are tried again, %v", items, err)
	}
	w.play()
	items, err = w.o.Skip(w.ctx, id, "")
	if err != nil || items != 2*n {
		t.Errorf("%d items are given up, %v", items, err)
	}
	w.play()
	w.wantState(id, store.RunDone)
}

// TestAQueryInManyTurns: a query row by row that gives more for a chunk of items than it
// may keep at once goes on with the next item, whether those before have their rows or
// are held, and when held items are tried again, those that are put off stay held.
func TestAQueryInManyTurns(t *testing.T) {
	const n = 12
	ids := "id\n"
	for i := range n {
		ids += fmt.Sprintln(i + 1)
	}
	for name, c := range map[string]struct {
		step string
		held int64
	}{
		"kept":                       {`from: {items: stream}, sql: "select id, printf('%.*c', 1000000, 'x') as text from items"`, 0},
		"held":                       {`from: {items: stream}, sql: "select id, printf('%.*c', 1000000, 'x') as text from items", columns: {text: number}`, n},
		"kept, and from two sources": {`from: {a: stream, b: stream}, join: all, sql: "select a.id as id, printf('%.*c', 1000000, 'x') as text from a join b on a.id = b.id"`, 0},
		"held, and from two sources": {`from: {a: stream, b: stream}, join: all, sql: "select a.id as id, printf('%.*c', 1000000, 'x') as text from a join b on a.id = b.id", columns: {text: number}`, n},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id := w.start(`
workflow: long
inputs: {items: {columns: [id]}}
steps:
  a: {from: {items: stream}, service: {url: "https://x.example/", response: {type: object, properties: {loud: {type: string}}}}}
  b: {from: {items: stream}, service: {url: "https://x.example/", response: {type: object, properties: {said: {type: string}}}}}
  long: {`+c.step+"}\n", ids)
			for tries := range int64(3) {
				w.play()
				if x := w.node(id, "long"); x.Faults != c.held || x.OK != n-c.held || c.held > 0 && x.Served != (tries+1)*n || c.held == 0 && x.Served != n {
					t.Fatalf("after %d retries %d items are held, %d have their rows, and %d queries were run", tries, x.Faults, x.OK, x.Served)
				}
				if items, _, err := w.o.Retry(w.ctx, id, "long"); c.held > 0 && (err != nil || int64(items) != c.held) {
					t.Fatalf("%d items are tried again, %v", items, err)
				}
			}
		})
	}
}

// TestARetryDuringAQuery tries all items again that are held then, also those that come
// before the items of the query that is under way.
func TestARetryDuringAQuery(t *testing.T) {
	w := newWorld(t)
	w.slow = true
	id := w.start("workflow: w\ninputs: {items: {columns: [id]}}\nsteps:\n  long: {from: {items: stream}, sql: \"select id, printf('%.*c', 1000000, 'x') as text from items\", columns: {text: number}}\n", "id\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n")
	w.settle()
	for turn := 0; turn < len(w.queries); turn++ {
		if turn == 1 {
			items, _, err := w.o.Retry(w.ctx, id, "long")
			must(t, err)
			if items != 5 {
				t.Fatalf("%d items are tried again, want 5", items)
			}
		}
		w.queries[turn]()
		w.settle()
	}
	if n := w.node(id, "long"); n.Faults != 12 || n.Served != 5+5+10+2 {
		t.Errorf("%d items are held after %d queries", n.Faults, n.Served)
	}
}

// TestEndedLongItems lists all items that have left a run, however long their rows are.
func TestEndedLongItems(t *testing.T) {
	const n = 12
	w := newWorld(t)
	id := w.start("workflow: long\ninputs: {items: {columns: [id, text]}}\nsteps:\n  one: {from: {items: stream}, sql: \"select id, text as first from items\"}\n", longRows(n))
	w.play()
	list, older, err := w.o.Ended(w.ctx, w.tenant, id, 2*n)
	if err != nil || len(list) != n || older {
		t.Errorf("%d items have ended (older: %t), %v", len(list), older, err)
	}
	if list, older, err = w.o.Ended(w.ctx, w.tenant, id, n); err != nil || len(list) != n || older {
		t.Errorf("the last %d are %d (older: %t), %v", n, len(list), older, err)
	}
	if list, older, err = w.o.Ended(w.ctx, w.tenant, id, n-1); err != nil || len(list) != n-1 || !older {
		t.Errorf("the last are %d (older: %t), %v", len(list), older, err)
	}
}

// TestTheTextOfAllItemsIsBounded: what a query has given for earlier items counts, also
// after the server has started again.
func TestTheTextOfAllItemsIsBounded(t *testing.T) {
	w := newWorld(t)
	id := w.start("workflow: long\ninputs: {items: {columns: [id]}}\nsteps:\n  one: {from: {items: stream}, sql: \"select id, printf('%.*c', id, 'x') as s from items\"}\n", "id\n99\n")
	w.play()
	w.wantState(id, store.RunDone)
	if n := w.node(id, "one"); n.OK != 1 || n.Text != 101 {
		t.Fatalf("%d rows with %d bytes", n.OK, n.Text)
	}
	id = w.start("workflow: long\ninputs: {items: {columns: [id]}}\nsteps:\n  one: {from: {items: stream}, sql: \"select id, printf('%.*c', id, 'x') as s from items\"}\n", "id\n10\n99\n20\n")
	n := w.node(id, "one").Node
	n.Text = sqlstep.DefaultText - 50
	_, err := w.store.Advance(w.ctx, &store.Advance{Run: id, Nodes: []store.Node{n}})
	must(t, err)
	w.restart()
	w.play()
	w.want(id, "one", "10,xxxxxxxxxx", "20,xxxxxxxxxxxxxxxxxxxx")
	faults, err := w.store.Faults(w.ctx, id, n.Node, 0, 10)
	if err != nil || len(faults) != 1 || !strings.Contains(faults[0].Error, "the result has more than 1 GB of text") {
		t.Errorf("it holds %v, %v", faults, err)
	}
}
