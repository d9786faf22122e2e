package killtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// nodes of flowText, in order of their numbers.
const (
	nodeItems = iota
	nodeFirst
	nodeHalf
	nodeScore
	nodeBoth
	nodeExpert
	nodeSums
)

var nodeNames = []string{"items", "first", "half", "score", "both", "expert", "sums"}

// runs compares every run that the store has with what its requester and the
// service know.
func (c *comparison) runs(ctx context.Context) error {
	known := make(map[crowd.RunID]*plannedRun)
	for _, r := range c.clients.planner.runs {
		known[r.id] = r
	}
	list, err := c.store.ListRuns(ctx, 0, 0, all)
	if err != nil {
		return err
	}
	c.Runs = len(list)
	for _, kept := range list {
		r := known[kept.ID]
		delete(known, kept.ID)
		switch done := kept.State == store.RunDone; {
		case done && r != nil:
			check := &runCheck{comparison: c, kept: kept, want: r}
			if err := check.all(ctx); err != nil {
				return err
			}
		case done:
			c.problem("%s is done, and nobody has started it", kept.ID)
		case r != nil && r.started:
			c.problem("%s was started and everybody worked on, but it is %s", kept.ID, kept.State)
		default:
			c.must(kept.State == store.RunLoading, "%s was never started, but is %s", kept.ID, kept.State)
		}
	}
	for id := range known {
		c.problem("%s was made and is lost", id)
	}
	return nil
}

// runCheck compares a run that is done. Its items have numbers from 1, in the order
// of the input.
type runCheck struct {
	*comparison
	kept   store.Run
	want   *plannedRun
	nodes  []store.Node
	rows   [][]store.JoinedRow  // by node
	of     map[int64]int        // the number of each item of the store
	byItem [][]*store.JoinedRow // by node, then number; nil: it is not there
}

func (c *runCheck) must(holds bool, format string, args ...any) {
	c.comparison.must(holds, "%s: %s", c.kept.ID, fmt.Sprintf(format, args...))
}

func (c *runCheck) all(ctx context.Context) (err error) {
	if c.nodes, err = c.store.Nodes(ctx, c.kept.ID); err != nil {
		return err
	}
	for i := range c.nodes {
		var rows []store.JoinedRow
		log := store.Log{Store: c.store, Run: c.kept.ID, Node: i}
		for row, err := range log.After(ctx, 0) {
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
		c.rows = append(c.rows, rows)
		c.Rows += len(rows)
	}
	if !slices.EqualFunc(c.nodes, nodeNames, func(n store.Node, name string) bool { return n.Name == name }) {
		return fmt.Errorf("the nodes of %s are %+v, those of its workflow %q", c.kept.ID, c.nodes, nodeNames)
	}
	c.input()
	for i := range c.nodes {
		c.node(i)
	}
	c.computed()
	c.sums()
	for _, node := range []int{nodeFirst, nodeExpert} {
		if err := c.labels(ctx, node); err != nil {
			return err
		}
	}
	n, k := int64(c.want.items), c.kept
	c.must(k.Ended == n && k.Late == n && k.Penalty == itemCost*crowd.Money(n), "%d items have ended, %d late, and cost %s; want %d, all late, and %s",
		k.Ended, k.Late, k.Penalty, n, itemCost*crowd.Money(n))
	return nil
}

// input notes the number of each item, and compares the input with what was sent.
func (c *runCheck) input() {
	c.of = make(map[int64]int)
	rows := c.rows[nodeItems]
	c.must(len(rows) == c.want.items, "%d items were read, %d had been sent", len(rows), c.want.items)
	for i, row := range rows {
		want := []string{c.want.name, strconv.Itoa(i + 1)}
		c.must(slices.Equal(row.Cells, want), "row %d of the input is %q, %q had been sent", i+1, row.Cells, want)
		c.of[row.Item] = i + 1
	}
}

// node compares a node's figures with its log, and checks that each item has come
// through it exactly once. The query over all rows has rows of its own.
func (c *runCheck) node(i int) {
	n := &c.nodes[i]
	count := make(map[store.RowState]int64)
	items := make([]*store.JoinedRow, max(c.want.items, len(c.rows[nodeItems]))+1) // by number
	for j := range c.rows[i] {
		row := &c.rows[i][j]
		count[row.State]++
		c.must(row.N == int64(j+1), "row %d of %s has the number %d", j+1, n.Name, row.N)
		if i == nodeSums {
			continue
		}
		number := c.of[row.Item]
		c.must(number > 0, "%s has %d, which is no item of the input", n.Name, row.Item)
		c.must(number == 0 || items[number] == nil, "%s has item %d twice", n.Name, number)
		items[number] = row
	}
	for number := 1; number <= c.want.items && i != nodeSums; number++ {
		c.must(items[number] != nil, "%s lacks item %d", n.Name, number)
	}
	c.byItem = append(c.byItem, items)
	c.must(n.State == store.NodeDone && n.Error == "" && n.Faults == 0 && n.Failed == 0, "%s is %s (%q) with %d held and %d failed", n.Name, n.State, n.Error, n.Faults, n.Failed)
	got, want := []int64{n.Last, n.OK, n.Skipped, n.Failed}, []int64{int64(len(c.rows[i])), count[store.RowOK], count[store.RowSkipped], count[store.RowFailed]}
	c.must(slices.Equal(got, want), "%s says that of so many rows so many are ok, skipped and failed: %d, but it is %d", n.Name, got, want)
}

// cells are those of an item at a node; nil: it is not there, or not ok.
func (c *runCheck) cells(node, number int) []string {
	if row := c.byItem[node][number]; row != nil && row.State == store.RowOK {
		return row.Cells
	}
	return nil
}

// computed compares what queries, the service and the condition made.
func (c *runCheck) computed() {
	calls := c.clients.scores.calls
	for n := 1; n <= c.want.items; n++ {
		x := item{c.want.name, n * 10}
		tenfold, risk := strconv.Itoa(x.Tenfold), strconv.FormatFloat(x.risk(), 'g', -1, 64)
		said := append(c.cells(nodeFirst, n), "")[0]
		c.must(said != "", "item %d has no label", n)
		for node, want := range map[int][]string{nodeHalf: {c.want.name, tenfold}, nodeScore: {risk}, nodeBoth: {tenfold, said, risk}} {
			got := c.cells(node, n)
			c.must(slices.Equal(got, want), "item %d is %q at %s, want %q", n, got, nodeNames[node], want)
		}
		asked := c.cells(nodeExpert, n) != nil
		c.must(asked == (x.risk() > 0.5), "an expert was asked about item %d with the risk %s: %t", n, risk, asked)
		c.must(calls[x] > 0, "the service was never called for item %d", n)
		c.Calls += calls[x]
		c.CallsAgain += max(calls[x]-1, 0)
	}
}

// labels compares the rows of a crowd step with the labels of its batch, which are
// compared with the answers elsewhere: each item has one task, and the row that its
// label makes.
func (c *runCheck) labels(ctx context.Context, node int) error {
	name, id := nodeNames[node], c.nodes[node].Batch
	b := c.batches[id]
	c.must(b.Run == c.kept.ID && b.Node == node, "%s has the job %s, which is of %s and node %d", name, id, b.Run, b.Node)
	c.must(b.Progress.State == crowd.BatchDone && b.Progress.Escrow == 0, "%s of %s is %s, and %s is reserved", id, name, b.Progress.State, b.Progress.Escrow)
	seen := make(map[int]bool)
	for t, err := range c.store.Labels(ctx, b.Spec.Tenant, id) {
		if err != nil {
			return err
		}
		task, err := c.store.Task(ctx, t.Task)
		if err != nil {
			return err
		}
		n := c.of[task.Item]
		if n == 0 || seen[n] || t.Label == nil {
			c.must(false, "%s of %s has no label, or is of item %d, which has another task or is none", t.Task, name, task.Item)
			continue
		}
		seen[n] = true
		got := c.cells(node, n)
		c.must(slices.Equal(got, store.LabelCells(t.Label)), "%s of %s has the label %+v, but its row is %q", t.Task, name, *t.Label, got)
	}
	c.must(int64(len(seen)) == c.nodes[node].OK, "%s has %d tasks, but %d items were done there", name, len(seen), c.nodes[node].OK)
	return nil
}

// sums compares the query over all rows with the rows.
func (c *runCheck) sums() {
	answers, risky := make(map[string]int), make(map[string]int)
	for n := 1; n <= c.want.items; n++ {
		if first := c.cells(nodeFirst, n); len(first) > 0 {
			answers[first[0]]++
			if (item{c.want.name, n * 10}).risk() > 0.5 {
				risky[first[0]]++
			}
		}
	}
	var want, got [][]string
	for _, said := range slices.Sorted(maps.Keys(answers)) {
		want = append(want, []string{said, strconv.Itoa(answers[said]), strconv.Itoa(risky[said])})
	}
	for _, row := range c.rows[nodeSums] {
		got = append(got, row.Cells)
	}
	c.must(slices.EqualFunc(got, want, slices.Equal), "the sums are %q, want %q", got, want)
}
