package orchestrator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/store"
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
	if list, older, err = w.o.Ended(w.ctx, w.tenant, id, n-1); err != nil || len(list) != n-1 || !older {
		t.Errorf("the last are %d (older: %t), %v", len(list), older, err)
	}
}
