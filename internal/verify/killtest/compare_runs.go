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
	nodeThings = iota
	nodeFirst
	nodeHalf
	nodeScore
	nodeBoth
	nodeExpert
	nodeSums
)

var nodeNames = [...]string{"things", "first", "half", "score", "both", "expert", "sums"}

// runs compares every run that the store has with what its requester and the
// service know.
func (t *comparison) runs(ctx context.Context, st store.Store) error {
	known := make(map[crowd.RunID]*plannedRun)
	for _, r := range t.journal.planner.runs {
		known[r.id] = r
	}
	list, err := st.ListRuns(ctx, 0, 0, 1_000_000)
	if err != nil {
		return err
	}
	t.report.Runs = len(list)
	for _, kept := range list {
		r := known[kept.ID]
		delete(known, kept.ID)
		switch {
		case kept.State == store.RunDone:
			if r == nil {
				t.report.problem("%s is done, and nobody has started it", kept.ID)
				continue
			}
			c := &runCheck{comparison: t, kept: kept, want: r}
			if err := c.check(ctx, st); err != nil {
				return err
			}
		case r != nil && r.started:
			t.report.problem("%s was started and everybody worked on, but it is %s", kept.ID, kept.State)
		case kept.State != store.RunCancelled:
			t.report.problem("%s was never started, but is %s", kept.ID, kept.State)
		}
	}
	for id := range known {
		t.report.problem("%s was made and is lost", id)
	}
	return nil
}

// runCheck compares a run that is done.
type runCheck struct {
	*comparison
	kept  store.Run
	want  *plannedRun
	nodes []store.Node
	rows  [][]store.JoinedRow  // by node
	item  [][]*store.JoinedRow // by node, then n of the thing, from 1; nil: it is not there
	of    map[int64]int        // n of the thing, by item
}

func (c *runCheck) problem(format string, args ...any) {
	c.report.problem("%s: %s", c.kept.ID, fmt.Sprintf(format, args...))
}

func (c *runCheck) check(ctx context.Context, st store.Store) (err error) {
	if c.nodes, err = st.Nodes(ctx, c.kept.ID); err != nil {
		return err
	}
	if len(c.nodes) != len(nodeNames) {
		return fmt.Errorf("%s has %d nodes, its workflow has %d", c.kept.ID, len(c.nodes), len(nodeNames))
	}
	for i := range c.nodes {
		if c.nodes[i].Name != nodeNames[i] {
			return fmt.Errorf("node %d of %s is %s, not %s", i, c.kept.ID, c.nodes[i].Name, nodeNames[i])
		}
		rows, err := st.Rows(ctx, c.kept.ID, i, 0, 1_000_000, nil)
		if err != nil {
			return err
		}
		c.rows = append(c.rows, rows)
		c.report.Rows += len(rows)
		c.node(i)
	}
	c.things()
	for i := range nodeSums {
		c.once(i)
	}
	c.computed()
	if err := c.labels(ctx, st, nodeFirst); err != nil {
		return err
	}
	if err := c.labels(ctx, st, nodeExpert); err != nil {
		return err
	}
	c.sums()
	n := int64(c.want.items)
	if k := c.kept; k.Ended != n || k.Late != n || k.Penalty != itemCost*crowd.Money(n) {
		c.problem("%d items have ended, %d late, and cost %s; want %d, all late, and %s", k.Ended, k.Late, k.Penalty, n, itemCost*crowd.Money(n))
	}
	return nil
}

// node compares a node's figures with its log.
func (c *runCheck) node(i int) {
	n := &c.nodes[i]
	count := make(map[store.RowState]int64)
	for j, row := range c.rows[i] {
		count[row.State]++
		if row.N != int64(j+1) {
			c.problem("row %d of %s has the number %d", j+1, n.Name, row.N)
		}
	}
	if n.State != store.NodeDone || n.Error != "" || n.Faults != 0 || n.Failed != 0 {
		c.problem("%s is %s (%q) with %d held and %d failed", n.Name, n.State, n.Error, n.Faults, n.Failed)
	}
	if n.Last != int64(len(c.rows[i])) || n.OK != count[store.RowOK] || n.Skipped != count[store.RowSkipped] || n.Failed != count[store.RowFailed] {
		c.problem("%s says %d rows (%d, %d, %d), but has %d (%d, %d, %d)", n.Name, n.Last, n.OK, n.Skipped, n.Failed,
			len(c.rows[i]), count[store.RowOK], count[store.RowSkipped], count[store.RowFailed])
	}
}

// things notes which item is which thing, and compares the input with what was sent.
func (c *runCheck) things() {
	c.of = make(map[int64]int)
	if len(c.rows[nodeThings]) != c.want.items {
		c.problem("%d things were read, %d had been sent", len(c.rows[nodeThings]), c.want.items)
	}
	for i, row := range c.rows[nodeThings] {
		if want := []string{c.want.name, strconv.Itoa(i + 1)}; !slices.Equal(row.Cells, want) {
			c.problem("row %d of the input is %q, %q had been sent", i+1, row.Cells, want)
		}
		c.of[row.Item] = i + 1
	}
}

// once checks that each item has come through a node exactly once.
func (c *runCheck) once(i int) {
	byThing := make([]*store.JoinedRow, c.want.items+1)
	for j := range c.rows[i] {
		row := &c.rows[i][j]
		n := c.of[row.Item]
		switch {
		case n < 1 || n > c.want.items:
			c.problem("%s has item %d, which is none of the input", c.nodes[i].Name, row.Item)
		case byThing[n] != nil:
			c.problem("%s has item %d twice", c.nodes[i].Name, row.Item)
		default:
			byThing[n] = row
		}
	}
	for n := 1; n <= c.want.items; n++ {
		if byThing[n] == nil {
			c.problem("%s lacks thing %d", c.nodes[i].Name, n)
		}
	}
	c.item = append(c.item, byThing)
}

// cells are those of a thing at a node; nil: it is not there, or not ok.
func (c *runCheck) cells(node, n int) []string {
	if row := c.item[node][n]; row != nil && row.State == store.RowOK {
		return row.Cells
	}
	return nil
}

// computed compares what queries, the service and the condition made.
func (c *runCheck) computed() {
	s := c.journal.scores
	for n := 1; n <= c.want.items; n++ {
		x := thing{c.want.name, n * 10}
		risk := strconv.FormatFloat(x.risk(), 'g', -1, 64)
		first := c.cells(nodeFirst, n)
		if len(first) == 0 {
			c.problem("thing %d has no label", n)
			continue
		}
		for node, want := range map[int][]string{
			nodeHalf:  {c.want.name, strconv.Itoa(n * 10)},
			nodeScore: {risk},
			nodeBoth:  {strconv.Itoa(n * 10), first[0], risk},
		} {
			if got := c.cells(node, n); !slices.Equal(got, want) {
				c.problem("thing %d is %q at %s, want %q", n, got, nodeNames[node], want)
			}
		}
		if expert := c.item[nodeExpert][n]; expert != nil && (expert.State == store.RowOK) != (x.risk() > 0.5) {
			c.problem("thing %d with the risk %s is %s at the expert", n, risk, expert.State)
		}
		if s.calls[x] == 0 {
			c.problem("the service was never called for thing %d", n)
		}
		c.report.Calls += s.calls[x]
		c.report.CallsAgain += max(s.calls[x]-1, 0)
	}
}

// labels compares the rows of a crowd step with the labels of its batch, which are
// compared with the answers elsewhere: each item has one task, and the row that its
// label makes.
func (c *runCheck) labels(ctx context.Context, st store.Store, node int) error {
	name, id := nodeNames[node], c.nodes[node].Batch
	b, known := c.batches[id]
	if !known || b.Run != c.kept.ID || b.Node != node {
		c.problem("%s has the job %s, which is of %s and node %d", name, id, b.Run, b.Node)
		return nil
	}
	if b.Progress.State != crowd.BatchDone || b.Progress.Escrow != 0 {
		c.problem("%s of %s is %s, and %s is reserved", id, name, b.Progress.State, b.Progress.Escrow)
	}
	seen := make(map[int]bool)
	for t, err := range st.Labels(ctx, b.Spec.Tenant, id) {
		if err != nil {
			return err
		}
		task, err := st.Task(ctx, t.Task)
		if err != nil {
			return err
		}
		n := c.of[task.Item]
		if n == 0 || seen[n] {
			c.problem("%s of %s is of item %d, which has another task or is none", t.Task, name, task.Item)
			continue
		}
		seen[n] = true
		switch got := c.cells(node, n); {
		case t.Label == nil:
			c.problem("%s of %s has no label", t.Task, name)
		case !slices.Equal(got, store.LabelCells(t.Label)):
			c.problem("%s of %s has the label %+v, but its row is %q", t.Task, name, *t.Label, got)
		}
	}
	if int64(len(seen)) != c.nodes[node].OK {
		c.problem("%s has %d tasks, but %d items were done there", name, len(seen), c.nodes[node].OK)
	}
	return nil
}

// sums compares the query over all rows with the rows.
func (c *runCheck) sums() {
	type sum struct{ n, risky int }
	want := make(map[string]sum)
	for n := 1; n <= c.want.items; n++ {
		if first := c.cells(nodeFirst, n); len(first) > 0 {
			s := want[first[0]]
			if s.n++; (thing{c.want.name, n * 10}).risk() > 0.5 {
				s.risky++
			}
			want[first[0]] = s
		}
	}
	var list [][]string
	for _, said := range slices.Sorted(maps.Keys(want)) {
		list = append(list, []string{said, strconv.Itoa(want[said].n), strconv.Itoa(want[said].risky)})
	}
	var got [][]string
	for _, row := range c.rows[nodeSums] {
		got = append(got, row.Cells)
	}
	if !slices.EqualFunc(got, list, slices.Equal) {
		c.problem("the sums are %q, want %q", got, list)
	}
}
