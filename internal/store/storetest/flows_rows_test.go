package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
)

// notFound asks for what is not there: of an unknown run, and of nodes that the
// run has not.
func notFound(t *testing.T, id crowd.RunID, ask func(id crowd.RunID, node int) error) {
	t.Helper()
	refused(t, ask(99, input), crowd.NotFound)
	refused(t, ask(id, 3), crowd.NotFound)
	refused(t, ask(id, -2), crowd.NotFound)
}

func numbers(list []store.JoinedRow) (out []int64) {
	for _, x := range list {
		out = append(out, x.N)
	}
	return out
}

func testRows(t *testing.T, w *world) {
	other := w.flow(t, w.other) // its rows lie before
	id := w.flow(t, w.mine)
	w.flow(t, w.mine) // and behind
	handed := []store.Row{
		{Node: ask, Item: 3, Born: w.now, At: w.now, State: store.RowOK, Cells: []string{"cat"}},
		{Node: ask, Item: 1, At: w.now, State: store.RowFailed, Error: "no"},
	}
	w.advance(t, &store.Advance{Run: id, Rows: append(slices.Clone(handed), store.Row{Node: query, Item: 3, At: w.now, State: store.RowSkipped})})
	rows := func(node int, after int64, limit int, with ...int) []store.JoinedRow {
		t.Helper()
		return must(w.Rows(w.ctx, id, node, after, limit, with))(t)
	}
	handed[0].N, handed[1].N = 1, 2
	want := make([]store.JoinedRow, 3)
	for i, cell := range []string{"a", "b", "c"} {
		want[i].Row = w.fresh(cell)
		want[i].N, want[i].Item = int64(i+1), int64(i+1)
	}
	same(t, "alone", rows(input, 0, 10), want)
	want[0].With = map[int]store.Row{ask: handed[1]}
	want[2].With = map[int]store.Row{ask: handed[0], query: {Node: query, N: 1, Item: 3, At: w.now, State: store.RowSkipped}}
	same(t, "joined", rows(input, 0, 10, ask, query), want)
	same(t, "joined the other way", rows(input, 0, 10, query, ask), want)
	same(t, "the other way round", rows(ask, 0, 1, input), []store.JoinedRow{{Row: handed[0], With: map[int]store.Row{input: want[2].Row}}})
	same(t, "with itself", rows(ask, 1, 1, ask), []store.JoinedRow{{Row: handed[1], With: map[int]store.Row{ask: handed[1]}}})
	same(t, "a page", rows(input, 1, 1, ask, query), want[1:2])
	same(t, "the last page", rows(input, 2, 10, ask, query), want[2:])
	same(t, "after the last", rows(input, 3, 10, ask), nil)
	same(t, "far after the last", rows(input, 1<<40, 10, ask), nil)
	same(t, "before the first", numbers(rows(input, -5, 10)), []int64{1, 2, 3})
	same(t, "none", rows(input, 0, 0, ask), nil)
	same(t, "the other run's", len(must(w.Rows(w.ctx, other, input, 0, 10, []int{ask}))(t)), 3)
	notFound(t, id, func(id crowd.RunID, node int) error { _, err := w.Rows(w.ctx, id, node, 0, 1, nil); return err })
	notFound(t, id, func(run crowd.RunID, node int) error {
		_, err := w.Rows(w.ctx, run, input, 0, 1, []int{node, 3})
		return err
	})
}

func testItemRows(t *testing.T, w *world) {
	id := w.flow(t, w.mine)
	w.flow(t, w.mine) // whose items have the same numbers
	first := store.Row{Node: query, Origin: 2, Born: w.now, At: w.now, State: store.RowOK, Cells: []string{"x"}}
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{first, {Node: ask, Item: 2, At: w.now, State: store.RowSkipped}, {Node: ask, Item: 1, At: w.now, State: store.RowSkipped}}})
	second := store.Row{Node: query, Origin: 4, Born: w.now, At: w.now, State: store.RowFailed, Error: "y"}
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{second}})
	origin := w.fresh("b")
	origin.N, origin.Item = 2, 2
	first.N, first.Item, second.N, second.Item = 1, 4, 2, 5
	rows := []store.Row{origin, {Node: ask, N: 1, Item: 2, At: w.now, State: store.RowSkipped}, first, second}
	same(t, "the last item", must(w.ItemRows(w.ctx, id, 5))(t), rows)
	same(t, "the one before", must(w.ItemRows(w.ctx, id, 4))(t), rows[:3])
	same(t, "the first", must(w.ItemRows(w.ctx, id, 2))(t), rows[:2])
	for _, n := range []int64{0, -1, 6} {
		_, err := w.ItemRows(w.ctx, id, n)
		refused(t, err, crowd.NotFound)
	}
	_, err := w.ItemRows(w.ctx, 99, 1)
	refused(t, err, crowd.NotFound)
}

// lagging has five items, of which the second and the fourth have come to ask;
// they were born the later the smaller their number, but for 5, which is as old
// as 3.
func (w *world) lagging(t *testing.T) (crowd.RunID, []store.Row) {
	t.Helper()
	id := w.flow(t, w.mine)
	d, e := w.fresh("d"), w.fresh("e")
	d.Born = d.Born.Add(-time.Hour)
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{d, e}})
	late := w.fresh("f")
	late.Born = late.Born.Add(-2 * time.Hour)
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{
		late, {Node: ask, Item: 2, State: store.RowSkipped}, {Node: ask, Item: 4, State: store.RowFailed}, {Node: query, Item: 1, State: store.RowOK},
	}})
	var rows []store.Row
	for _, x := range must(w.Rows(w.ctx, id, input, 0, all, nil))(t) {
		rows = append(rows, x.Row)
	}
	return id, rows
}

func testPending(t *testing.T, w *world) {
	id, rows := w.lagging(t)
	for i := range rows {
		rows[i] = bare(rows[i])
	}
	pending := func(after, last int64, to, limit int) []store.Row {
		t.Helper()
		return must(w.Pending(w.ctx, store.LogPart{Run: id, Node: input, After: after, Last: last}, to, limit))(t)
	}
	same(t, "all", pending(0, 6, ask, 10), []store.Row{rows[0], rows[2], rows[4], rows[5]})
	same(t, "up to one", pending(0, 3, ask, 10), []store.Row{rows[0], rows[2]})
	same(t, "after one", pending(1, 5, ask, 10), []store.Row{rows[2], rows[4]})
	same(t, "few", pending(0, 6, ask, 3), []store.Row{rows[0], rows[2], rows[4]})
	same(t, "beyond the last", pending(5, 1<<40, ask, 10), rows[5:])
	same(t, "for the query", pending(0, 2, query, 10), rows[1:2])
	same(t, "none", pending(3, 2, ask, 10), nil)
	same(t, "far after the last", pending(1<<40, 1<<41, ask, 10), nil)
	notFound(t, id, func(id crowd.RunID, node int) error {
		_, err := w.Pending(w.ctx, store.LogPart{Run: id, Node: node, Last: 1}, ask, 1)
		return err
	})
	notFound(t, id, func(id crowd.RunID, node int) error {
		_, err := w.Pending(w.ctx, store.LogPart{Run: id, Node: input, Last: 1}, node, 1)
		return ifNode(err, node)
	})
}

// testSplit: of items 1 to 3, query makes two of 1 and one of 3, hands 2 on, and has an
// item that was made before.
func testSplit(t *testing.T, w *world) {
	id := w.flow(t, w.mine)
	made := func(origin int64) store.Row { return store.Row{Node: query, Origin: origin, State: store.RowOK} }
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{{Node: input, Origin: 2, State: store.RowOK}}}) // item 4
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{
		{Node: query, Item: 1, State: store.RowSkipped}, made(1), made(1), {Node: query, Item: 2, State: store.RowOK},
		{Node: query, Item: 4, Origin: 2, State: store.RowOK}, {Node: query, Item: 3, State: store.RowSkipped}, made(3),
	}})
	split := func(after, last int64, from int) [2]int64 {
		t.Helper()
		rows, items, err := w.Split(w.ctx, store.LogPart{Run: id, Node: query, After: after, Last: last}, from)
		ok(t, err)
		return [2]int64{rows, items}
	}
	same(t, "all", split(0, 7, input), [2]int64{3, 2})
	same(t, "up to one", split(0, 5, input), [2]int64{2, 1})
	same(t, "after one", split(5, 1<<40, input), [2]int64{1, 1})
	same(t, "none", split(1<<40, 1<<41, input), [2]int64{})
	same(t, "of another source", split(0, 7, ask), [2]int64{4, 3})
	notFound(t, id, func(id crowd.RunID, node int) error {
		_, _, err := w.Split(w.ctx, store.LogPart{Run: id, Node: node, Last: 1}, input)
		return err
	})
	notFound(t, id, func(id crowd.RunID, node int) error {
		_, _, err := w.Split(w.ctx, store.LogPart{Run: id, Node: query, Last: 1}, node)
		return ifNode(err, node)
	})
}

// ifNode is for what asks for two nodes: input is there.
func ifNode(err error, node int) error {
	if node == input && crowd.CodeOf(err) == "" {
		return crowd.Errorf(crowd.NotFound, "")
	}
	return err
}

// bare is a row without cells and error.
func bare(x store.Row) store.Row {
	x.Cells, x.Error = nil, ""
	return x
}

// testRowsInBytes: pages of long rows are as short as their text, or that of the rows
// that are read along, demands; each has a row at least.
func testRowsInBytes(t *testing.T, w *world) {
	id := w.flow(t, w.mine)
	long := strings.Repeat("x", store.PageBytes/2)
	var items []int64
	for i := range 3 { // items 4, 5 and 6: one more than a page
		w.advance(t, &store.Advance{Run: id, Rows: []store.Row{w.fresh(long)}})
		items = append(items, int64(i+4))
	}
	for _, item := range items {
		w.advance(t, &store.Advance{Run: id, Rows: []store.Row{{Node: ask, Item: item, At: w.now, State: store.RowSkipped}}})
	}
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{{Node: input, Born: w.now, At: w.now, State: store.RowOK, Cells: []string{long + long + long}}}})
	page := func(node int, after int64, with ...int) []int64 {
		t.Helper()
		var out []int64
		for _, x := range must(w.Rows(w.ctx, id, node, after, 10, with))(t) {
			out = append(out, x.N)
			for _, other := range with {
				if node == ask && len(x.With[other].Cells) == 0 {
					t.Errorf("row %d comes without its cells of node %d", x.N, other)
				}
			}
		}
		return out
	}
	same(t, "a page", page(input, 0), []int64{1, 2, 3, 4, 5})
	same(t, "the next", page(input, 5), []int64{6, 7})
	same(t, "a row by itself", page(input, 6), []int64{7})
	same(t, "read along", page(ask, 0, input), []int64{1, 2})
	same(t, "the next read along", page(ask, 2, input), []int64{3})
	var all []int64
	for x, err := range (&store.Log{Store: w, Run: id, Node: input, With: []int{ask}}).After(w.ctx, 1) {
		ok(t, err)
		all = append(all, x.N)
	}
	same(t, "a log", all, []int64{2, 3, 4, 5, 6, 7})
}

func testTakeOver(t *testing.T, w *world) {
	from, batch := w.flowBusy(t)
	ok(t, w.Commit(w.ctx, &engine.Changes{Labels: []engine.Label{{Task: batch.Task(2), At: w.now, Value: "v", Answers: 1}}}))
	r, nodes := w.runOf(w.mine)
	r.Parent = from
	make4 := append(slices.Clone(nodes), store.Node{Node: 3, Name: "new"})
	r.RenewAges = false
	to := must(w.CreateRun(w.ctx, r, make4))(t)
	before := must(w.Nodes(w.ctx, to))(t)
	ok(t, w.TakeOver(w.ctx, from, to, map[int]int{input: 3, ask: query}, nil))
	counts := func(n store.Node) []int64 { return []int64{n.Last, n.OK, n.Skipped, n.Failed, n.Faults} }
	is, was := must(w.Nodes(w.ctx, to))(t), must(w.Nodes(w.ctx, from))(t)
	was[ask].Faults = 0
	same(t, "the input's counts", counts(is[3]), counts(was[input]))
	same(t, "the step's counts", counts(is[query]), []int64{2, 1, 1, 0, 0})
	is[3].Last, is[3].OK, is[query].Last, is[query].OK, is[query].Skipped = 0, 0, 0, 0, 0
	same(t, "nothing else of the nodes", is, before)
	got := must(w.Rows(w.ctx, to, 3, 0, all, []int{query}))(t)
	want := must(w.Rows(w.ctx, from, input, 0, all, []int{ask}))(t)
	for i := range want {
		want[i].Node, want[i].Class = 3, 0
		if x, there := want[i].With[ask]; there {
			x.Node = query
			want[i].With = map[int]store.Row{query: x}
		}
	}
	same(t, "rows", got, want)
	same(t, "number of rows", len(got), 3)

	// New items are numbered on.
	w.advance(t, &store.Advance{Run: to, Rows: []store.Row{w.fresh("new")}})
	same(t, "the next item", must(w.Rows(w.ctx, to, input, 0, 1, nil))(t)[0].Item, int64(4))
	w.unchanged(t, func() { // again: all is there
		ok(t, w.TakeOver(w.ctx, from, to, map[int]int{input: 3, ask: query}, nil))
		ok(t, w.TakeOver(w.ctx, from, to, nil, nil))
		refused(t, w.TakeOver(w.ctx, from, to, map[int]int{input: input}, nil), crowd.Conflict) // it has its own
		refused(t, w.TakeOver(w.ctx, from, to, map[int]int{4: ask}, nil), crowd.NotFound)
		refused(t, w.TakeOver(w.ctx, from, to, map[int]int{input: 4}, nil), crowd.NotFound)
		refused(t, w.TakeOver(w.ctx, 99, to, map[int]int{input: ask}, nil), crowd.NotFound)
		refused(t, w.TakeOver(w.ctx, from, 99, map[int]int{input: ask}, nil), crowd.NotFound)
		others := must(w.ListRuns(w.ctx, w.mine, 0, 1))(t)[0].ID
		same(t, "the latest run", others, to)
	})
	others := w.flow(t, w.other)
	w.unchanged(t, func() { refused(t, w.TakeOver(w.ctx, from, others, map[int]int{input: ask}, nil), crowd.NotFound) })

	r.RenewAges, r.CreatedAt = true, w.now.Add(time.Hour)
	anew := must(w.CreateRun(w.ctx, r, make4))(t)
	ok(t, w.TakeOver(w.ctx, from, anew, map[int]int{input: 3, ask: query}, nil))
	for i := range want {
		want[i].Born = r.CreatedAt
		if x, there := want[i].With[query]; there {
			x.Born = r.CreatedAt
			want[i].With[query] = x
		}
	}
	same(t, "rows whose ages are renewed", must(w.Rows(w.ctx, anew, 3, 0, all, []int{query}))(t), want)

	// What the source gets later comes with the next call.
	w.advance(t, &store.Advance{Run: from, Rows: []store.Row{{Node: ask, Item: 1, At: w.now, State: store.RowFailed, Error: "e"}}})
	ok(t, w.TakeOver(w.ctx, from, to, map[int]int{ask: query}, nil))
	w.advance(t, &store.Advance{Run: to, Rows: []store.Row{w.fresh("newer")}}) // numbered on from what it has itself
	same(t, "the items of its own", lists.Map(must(w.Rows(w.ctx, to, input, 0, all, nil))(t), func(r store.JoinedRow) int64 { return r.Item }), []int64{4, 5})
	same(t, "the step's counts", counts(must(w.Nodes(w.ctx, to))(t)[query]), []int64{3, 1, 1, 1, 0})
	takeOverClasses(t, w)
	takeOverFeeds(t, w)
}

// takeOverFeeds: feeds go on with the rows that came from them, and only with those.
func takeOverFeeds(t *testing.T, w *world) {
	from := w.flow(t, w.mine)
	feed := func(name string, rows int64, added ...store.Row) {
		t.Helper()
		w.advance(t, &store.Advance{Run: from, Feed: &store.Feed{Node: input, Name: name, Rows: rows}, Rows: added})
	}
	feed("a", 2, w.fresh("x"), w.fresh("y"))
	feed("all were there before", 7)
	r, nodes := w.runOf(w.mine)
	r.Parent = from
	has := func(to crowd.RunID, node int, a, b int64) {
		t.Helper()
		got := []int64{must(w.FeedRows(w.ctx, to, node, "a"))(t), must(w.FeedRows(w.ctx, to, node, "all were there before"))(t)}
		same(t, "rows of the feeds", got, []int64{a, b})
	}
	to := must(w.CreateRun(w.ctx, r, nodes))(t)
	ok(t, w.TakeOver(w.ctx, from, to, map[int]int{ask: ask}, nil))
	has(to, input, 0, 0) // the input's rows are not taken over
	ok(t, w.TakeOver(w.ctx, from, to, map[int]int{input: input}, nil))
	has(to, input, 2, 7)
	has(to, ask, 0, 0)
	w.unchanged(t, func() { ok(t, w.TakeOver(w.ctx, from, to, map[int]int{input: input}, nil)) })
	other := must(w.CreateRun(w.ctx, r, append(slices.Clone(nodes), store.Node{Node: 3, Name: "new"})))(t)
	ok(t, w.TakeOver(w.ctx, from, other, map[int]int{input: 3}, nil))
	has(other, 3, 2, 7)
	has(other, input, 0, 0)
	feed("a", 3, w.fresh("z"))
	ok(t, w.TakeOver(w.ctx, from, to, map[int]int{input: input}, nil))
	has(to, input, 3, 7)
	w.advance(t, &store.Advance{Run: to, Feed: &store.Feed{Node: input, Name: "a", Rows: 9}})
	ok(t, w.TakeOver(w.ctx, from, to, map[int]int{input: input}, nil))
	has(to, input, 9, 7) // what has come further stays
}

// takeOverClasses: the items are of the classes that the new run gives them, and so are
// those that were made of them.
func takeOverClasses(t *testing.T, w *world) {
	from, _ := w.flowBusy(t)
	w.advance(t, &store.Advance{Run: from, Rows: []store.Row{
		{Node: query, Origin: 3, At: w.now, State: store.RowOK, Class: 9}, {Node: query, Item: 3, At: w.now, State: store.RowSkipped},
		{Node: query, Origin: 1, At: w.now, State: store.RowOK, Class: 9},
	}})
	r, nodes := w.runOf(w.mine)
	r.Parent = from
	to := must(w.CreateRun(w.ctx, r, nodes))(t)
	classes := map[int]func(*store.Row) int{input: func(x *store.Row) int {
		same(t, "the row", []any{x.Node, len(x.Cells)}, []any{input, 1})
		return int(x.Item) - 1
	}}
	ok(t, w.TakeOver(w.ctx, from, to, map[int]int{query: query, ask: ask, input: input}, classes))
	of := func(node int) (list []int) {
		for _, x := range must(w.Rows(w.ctx, to, node, 0, all, nil))(t) {
			list = append(list, x.Class)
		}
		return list
	}
	same(t, "classes of the input's items", of(input), []int{0, 1, 2})
	same(t, "of the step's", of(ask), []int{2})
	same(t, "of those that were made of them", of(query), []int{2, 2, 0})
}

// testManyRows pages through 100,000 rows, and has them taken over.
func testManyRows(t *testing.T, w *world) {
	const chunk = 1000
	many := int64(100_000)
	if testing.Short() {
		many = 10_000
	}
	id := w.flow(t, w.mine)
	rows := make([]store.Row, chunk)
	for n := int64(3); n < many; n += chunk {
		for i := range min(chunk, many-n) {
			rows[i] = w.fresh(fmt.Sprint(n + i + 1))
		}
		w.advance(t, &store.Advance{Run: id, Rows: rows[:min(chunk, many-n)]})
	}
	for n := int64(0); n < many/2; n += chunk { // every other item, the last ones first
		for i := range rows {
			rows[i] = store.Row{Node: ask, Item: many - 2*(n+int64(i)), Born: w.now, At: w.now, State: store.RowSkipped}
		}
		w.advance(t, &store.Advance{Run: id, Rows: rows})
	}
	seen, joined := int64(0), 0
	for more := true; more; {
		list := must(w.Rows(w.ctx, id, input, seen, 7000, []int{ask, query}))(t)
		for _, x := range list {
			if seen++; x.N != seen || x.Item != seen || len(x.With) != int(1-seen%2) {
				t.Fatalf("row %d comes as %+v", seen, x)
			}
			if seen%2 == 0 {
				joined++
				if o := x.With[ask]; o.Item != seen || o.N != (many-seen)/2+1 {
					t.Fatalf("item %d is joined with %+v", seen, o)
				}
			}
		}
		more = len(list) == 7000
	}
	same(t, "rows and joined ones", []int64{seen, int64(joined)}, []int64{many, many / 2})
	n := must(w.Nodes(w.ctx, id))(t)
	same(t, "counts", []int64{n[input].Last, n[input].OK, n[ask].Last, n[ask].Skipped}, []int64{many, many, many / 2, many / 2})
	same(t, "pending", must(w.Pending(w.ctx, store.LogPart{Run: id, Node: input, After: many - 2, Last: many}, ask, 10))(t)[0].N, int64(many-1))
	r, nodes := w.runOf(w.mine)
	r.RenewAges = false
	to := must(w.CreateRun(w.ctx, r, nodes))(t)
	second := map[int]func(*store.Row) int{input: func(*store.Row) int { return 2 }} // as fresh has it
	ok(t, w.TakeOver(w.ctx, id, to, map[int]int{input: input}, second))
	ok(t, w.TakeOver(w.ctx, id, to, map[int]int{ask: ask}, nil))
	copied := must(w.Nodes(w.ctx, to))(t)
	same(t, "counts of the copy", []int64{copied[input].Last, copied[input].OK, copied[ask].Last, copied[ask].Skipped}, []int64{many, many, many / 2, many / 2})
	for _, after := range []int64{0, many/2 - 1, many - 3} {
		same(t, "copy", must(w.Rows(w.ctx, to, input, after, 3, []int{ask}))(t), must(w.Rows(w.ctx, id, input, after, 3, []int{ask}))(t))
	}
}

// testAnswerers: who answered an item is known by the rows that people made, also of
// items that others were made from, and is taken over with the rows.
func testAnswerers(t *testing.T, w *world) {
	id := w.flow(t, w.mine)
	batch := w.job(t, id, 1, 2)
	a, b, c := w.workers[0], w.workers[1], w.workers[2]
	ok(t, w.Commit(w.ctx, &engine.Changes{Labels: []engine.Label{
		{Task: batch.Task(1), At: w.now, Value: "x", Answers: 2, By: []crowd.WorkerID{b, a}}, {Task: batch.Task(2), At: w.now, Value: "x", Answers: 1},
	}}))
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{ // two items are made of the first, and people answer one of them
		{Node: query, Origin: 1, At: w.now, State: store.RowOK}, {Node: query, Origin: 1, At: w.now, State: store.RowOK},
	}})
	made := must(w.Rows(w.ctx, id, query, 0, all, nil))(t)
	first, second := made[len(made)-2].Item, made[len(made)-1].Item
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{{Node: ask, Item: first, Origin: 1, At: w.now, State: store.RowOK, By: []crowd.WorkerID{c, a}}}})
	look := func(id crowd.RunID, item int64, want []crowd.WorkerID, nodes ...int) {
		t.Helper()
		same(t, "who answered", must(w.Answerers(w.ctx, id, nodes, item))(t), want)
	}
	look(id, 1, []crowd.WorkerID{a, b}, ask)
	look(id, 1, nil, input, query)
	look(id, 1, nil)
	look(id, 2, nil, ask)
	look(id, first, []crowd.WorkerID{a, b, c}, ask, query)
	look(id, second, []crowd.WorkerID{a, b}, ask)
	look(id, 99, nil, ask)
	look(99, 1, nil, ask)

	each := func(id crowd.RunID, node int, want ...store.Row) {
		t.Helper()
		same(t, "who answered each item", must(collect(w.Answered(w.ctx, id, node)))(t), want)
	}
	answered := []store.Row{{Item: 1, By: []crowd.WorkerID{b, a}}, {Item: 2}, {Item: first, By: []crowd.WorkerID{c, a}}}
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{{Node: ask, Item: second, Origin: 1, At: w.now, State: store.RowSkipped}}})
	each(id, ask, answered...)
	each(id, 9)
	each(99, ask)
	nobody := w.flow(t, w.mine)
	w.advance(t, &store.Advance{Run: nobody, Rows: []store.Row{{Node: ask, Item: 1, At: w.now, State: store.RowOK, By: []crowd.WorkerID{}}}})
	for row, err := range w.Answered(w.ctx, nobody, ask) {
		if ok(t, err); row.By == nil {
			t.Error("it is not known that nobody answered")
		}
	}

	to := w.flow(t, w.mine)
	ok(t, w.ClearLog(w.ctx, to, input))
	ok(t, w.TakeOver(w.ctx, id, to, map[int]int{ask: ask, query: query}, nil))
	look(to, first, []crowd.WorkerID{a, b, c}, ask)
	each(to, ask, answered...)
}
