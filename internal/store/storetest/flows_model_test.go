package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// plain is a run as plain lists.
type plain struct {
	nodes  []store.Node
	rows   [][]store.Row // by node
	items  int64
	faults map[[2]int64]store.Fault // by node and item
	batch  crowd.BatchID
	tasks  []int64 // the items of the batch's tasks
	labels map[uint32]bool
}

func (p *plain) has(node int, item int64) bool {
	return slices.ContainsFunc(p.rows[node], func(r store.Row) bool { return r.Item == item })
}

func (p *plain) add(r store.Row) {
	n := &p.nodes[r.Node]
	switch n.Last++; r.State {
	case store.RowOK:
		n.OK++
	case store.RowSkipped:
		n.Skipped++
	case store.RowFailed:
		n.Failed++
	}
	if r.N = n.Last; r.Item == 0 {
		p.items++
		r.Item = p.items
	}
	p.rows[r.Node] = append(p.rows[r.Node], r)
}

// held is the faults in order of item.
func (p *plain) held() (list []store.Fault) {
	for _, f := range p.faults {
		list = append(list, f)
	}
	slices.SortFunc(list, func(x, y store.Fault) int { return cmp.Or(cmp.Compare(x.Item, y.Item), cmp.Compare(x.Node, y.Node)) })
	return list
}

// testMoves makes random moves and commits of labels, refused ones among them,
// and compares what is kept with plain lists, also after opening the database
// again.
func testMoves(t *testing.T, w *world) {
	did := make(map[string]int)
	rapid.Check(t, func(r *rapid.T) {
		_, nodes := w.runOf(w.mine)
		nodes[ask].Batch = 0
		run, _ := w.runOf(w.mine)
		id := must(w.CreateRun(w.ctx, run, nodes))(t)
		p := &plain{nodes: nodes, rows: make([][]store.Row, len(nodes)), faults: make(map[[2]int64]store.Fault), labels: make(map[uint32]bool)}
		for i := range p.nodes {
			p.nodes[i].Run = id
		}
		p.batch = w.job(t, id)
		p.nodes[ask].Batch = p.batch
		for range 1 + rapid.IntRange(0, 6).Draw(r, "moves") {
			switch rapid.IntRange(0, 4).Draw(r, "kind") {
			case 0:
				w.label(t, r, p, did)
			default:
				w.move(t, r, id, p, did)
			}
		}
		w.label(t, r, p, did)
		if rapid.IntRange(0, 9).Draw(r, "open again") == 0 {
			ok(t, w.Store.Close())
			w.Store = must(w.open())(t)
			did["opened again"]++
		}
		w.compare(t, id, p)
	})
	for _, what := range []string{"new", "handed on", "twice", "held", "released", "tasks", "labelled", "not handed over", "opened again"} {
		if did[what] == 0 && !testing.Short() { // in a fifth of the moves, some things never happen
			t.Errorf("the moves never came to %q: %v", what, did)
		}
	}
	t.Logf("what was done: %v", did)
}

// move makes a random move, which is refused if an item would come to a log
// twice.
func (w *world) move(t *testing.T, r *rapid.T, id crowd.RunID, p *plain, did map[string]int) {
	a := &store.Advance{Run: id, Batch: p.batch}
	twice := false
	have := p.items
	for range rapid.IntRange(0, 25).Draw(r, "rows") {
		x := store.Row{
			Node: rapid.IntRange(0, len(p.nodes)-1).Draw(r, "node"), Born: w.now, At: w.now.Add(time.Duration(len(p.rows[0])) * time.Second),
			State: rapid.SampledFrom([]store.RowState{store.RowOK, store.RowSkipped, store.RowFailed}).Draw(r, "state"),
		}
		switch x.State {
		case store.RowOK:
			x.Cells = rapid.SliceOfN(rapid.StringN(0, 5, -1), 0, 3).Draw(r, "cells")
		case store.RowFailed:
			x.Error = "e"
		}
		if have > 0 && x.Node > input {
			x.Item = rapid.Int64Range(0, have).Draw(r, "item")
		}
		if x.Item == 0 && have > 0 {
			x.Origin = rapid.Int64Range(0, have).Draw(r, "origin")
		}
		again := x.Item > 0 && (p.has(x.Node, x.Item) || slices.ContainsFunc(a.Rows, func(y store.Row) bool { return y.Node == x.Node && y.Item == x.Item }))
		if again && rapid.IntRange(0, 9).Draw(r, "twice") > 0 {
			continue
		}
		twice = twice || again
		a.Rows = append(a.Rows, x)
	}
	n := p.nodes[rapid.IntRange(0, len(p.nodes)-1).Draw(r, "kept node")]
	n.Cursors = rapid.SliceOfN(rapid.Int64Range(0, 1<<32), 0, 3).Draw(r, "cursors")
	n.Served++
	changed := n
	changed.Last, changed.OK = 1, 2 // not for the caller to say
	a.Nodes = []store.Node{changed}
	if have > 0 {
		for range rapid.IntRange(0, 3).Draw(r, "faults") {
			f := store.Fault{Node: rapid.IntRange(0, 2).Draw(r, "of"), Item: rapid.Int64Range(1, have).Draw(r, "item"), N: 3, At: w.now, Tries: len(a.Hold), Error: "x"}
			if rapid.Bool().Draw(r, "hold") {
				a.Hold = append(a.Hold, f)
				continue
			}
			if held := p.held(); len(held) > 0 && rapid.Bool().Draw(r, "held") {
				f = rapid.SampledFrom(held).Draw(r, "one")
			}
			a.Release = append(a.Release, f)
		}
		for range rapid.IntRange(0, 3).Draw(r, "tasks") {
			a.Tasks = append(a.Tasks, store.Task{Item: rapid.Int64Range(0, have).Draw(r, "task's item"), Born: w.now})
		}
	}
	_, err := w.Advance(w.ctx, a)
	if twice {
		refused(t, err, crowd.Conflict)
		did["twice"]++
		return
	}
	ok(t, err)
	p.nodes[n.Node] = n
	for _, x := range a.Rows {
		did[map[bool]string{true: "new", false: "handed on"}[x.Item == 0]]++
		p.add(x)
	}
	for _, f := range a.Release {
		k := [2]int64{int64(f.Node), f.Item}
		if _, held := p.faults[k]; held {
			did["released"]++
			p.nodes[f.Node].Faults--
			delete(p.faults, k)
		}
	}
	for _, f := range a.Hold {
		k := [2]int64{int64(f.Node), f.Item}
		if _, held := p.faults[k]; !held {
			did["held"]++
			p.nodes[f.Node].Faults++
		}
		p.faults[k] = f
	}
	for _, x := range a.Tasks {
		did["tasks"]++
		p.tasks = append(p.tasks, x.Item)
	}
}

// label commits some labels of the batch.
func (w *world) label(t *testing.T, r *rapid.T, p *plain, did map[string]int) {
	c := &engine.Changes{}
	for i, item := range p.tasks {
		n := uint32(i + 1)
		if p.labels[n] || rapid.Bool().Draw(r, "not yet") {
			continue
		}
		l := engine.Label{Task: p.batch.Task(n), At: w.now.Add(time.Duration(n)), Value: fmt.Sprint(item), Confidence: 1, Answers: i}
		l.At = w.now.Add(time.Duration(n) * time.Microsecond)
		c.Labels = append(c.Labels, l)
		p.labels[n] = true
		if item == 0 || p.has(ask, item) {
			did["not handed over"]++
			continue
		}
		did["labelled"]++
		p.add(store.Row{Node: ask, Item: item, Born: w.now, At: l.At, State: store.RowOK, Cells: store.LabelCells(&l)})
	}
	ok(t, w.Commit(w.ctx, c))
}

func (w *world) compare(t *testing.T, id crowd.RunID, p *plain) {
	t.Helper()
	same(t, "nodes", must(w.Nodes(w.ctx, id))(t), p.nodes)
	for i, want := range p.rows {
		var got []store.Row
		for after := int64(0); ; {
			page := must(w.Rows(w.ctx, id, i, after, 13, nil))(t)
			for _, x := range page {
				got = append(got, x.Row)
			}
			if len(page) < 13 {
				break
			}
			after = page[12].N
		}
		same(t, fmt.Sprint("rows of node ", i), got, want)
	}
	same(t, "faults", must(w.Faults(w.ctx, id, -1, 0, all))(t), p.held())
	var open []uint32
	for i, item := range p.tasks {
		if n := uint32(i + 1); !p.labels[n] && (item == 0 || !p.has(ask, item)) {
			open = append(open, n)
		}
	}
	same(t, "staying", taskNumbers(must(w.Staying(w.ctx, p.batch, 0, all))(t)), open)
	var pending []store.Row
	for _, x := range p.rows[input] {
		if !p.has(ask, x.Item) {
			pending = append(pending, bare(x))
		}
	}
	same(t, "pending", must(w.Pending(w.ctx, store.LogPart{Run: id, Node: input, Last: all}, ask, all))(t), pending)
}
