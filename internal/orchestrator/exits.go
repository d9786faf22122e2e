package orchestrator

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
)

// exits says where the items of a node leave the workflow. All are numbers of
// nodes, in order.
type exits struct {
	ends        []int  // of an exit: those of its items, itself among them; nil: no items leave the workflow here
	multipliers []int  // of an exit: the nodes that may have made items of others that leave by it, or by one of ends
	madeEnds    []int  // of a multiplier: the exits of the items that it makes
	otherJoin   string // of a multiplier: a step that also waits for the item by another path; "": none
}

// findExits finds where items leave the workflow: at nodes that hand them on to no
// other. Nodes between which items go share their exits.
func (r *run) findExits() {
	handedOn := make([]bool, len(r.nodes)) // by a joined consumer
	region := lists.Indices(len(r.nodes))
	for i, n := range r.nodes {
		if n.step == nil || n.step.MakesItems() {
			continue
		}
		for _, j := range n.joined {
			source := n.step.From[j].Node
			handedOn[source] = true
			from, to := region[source], region[i]
			for k := range region {
				if region[k] == to {
					region[k] = from
				}
			}
		}
	}
	of := make([][]int, len(r.nodes)) // by region
	for i, n := range r.nodes {
		// Items that a step over all rows makes do not count: they never came in.
		if n.step != nil && !n.step.MakesItems() && !handedOn[i] {
			of[region[i]] = append(of[region[i]], i)
		}
	}
	for _, ends := range of {
		for _, i := range ends {
			r.nodes[i].ends = ends
		}
	}
	for _, m := range r.nodes {
		if m.mayMultiply() {
			r.traceMadeItems(m)
		}
	}
}

// mayMultiply reports whether a node may make several items of one.
func (n *node) mayMultiply() bool {
	return n.step != nil && n.step.Reshapes() && !n.step.MakesItems()
}

// traceMadeItems finds where the items go that a node makes. A step that they
// reach only by some of its sources would wait for the others for ever.
func (r *run) traceMadeItems(m *node) {
	reached := make([]bool, len(r.nodes))
	reached[m.Node.Node] = true
	for i, x := range r.nodes {
		sources := 0
		for _, j := range x.joined {
			if reached[x.step.From[j].Node] {
				sources++
			}
		}
		reached[i] = reached[i] || sources > 0
		if reached[i] && len(x.ends) > 0 {
			m.madeEnds = append(m.madeEnds, i)
		}
		if x != m && sources > 0 && sources < len(x.joined) {
			m.otherJoin = x.Name
		}
	}
	if len(m.madeEnds) > 0 {
		for _, i := range r.nodes[m.madeEnds[0]].ends {
			r.nodes[i].multipliers = append(r.nodes[i].multipliers, m.Node.Node)
		}
	}
}

// accruePenalties adds up what items cost that have left the workflow, as many as
// are good for one pass. It reports whether there is more to do at once.
func (r *run) accruePenalties(ctx context.Context) (more bool, err error) {
	if r.flow.SLA == nil || !r.flow.SLA.PerItem {
		return false, nil
	}
	kept := r.kept
	kept.Classes = slices.Clone(kept.Classes)
	var changed []*node
	for _, n := range r.nodes {
		if len(n.ends) == 0 || n.counted() >= n.Last {
			continue
		}
		if r.moved >= store.PageBytes {
			more = true
			break
		}
		ways := [][]gate{r.gates(n, n.ends)}
		for _, m := range n.multipliers {
			ways = append(ways, r.gates(n, r.nodes[m].madeEnds))
		}
		rows, err := r.read(ctx, store.Log{Node: n.Node.Node, With: n.related()}, n.counted(), chunkRows, ways...)
		if err != nil {
			return false, err
		}
		for i := range rows {
			row := &rows[i]
			n.Cursors[len(n.step.From)] = row.N
			if x, ended := r.ended(n, row, r.exitsOf(n, row)); ended {
				r.count(&kept, &x)
			}
		}
		changed = append(changed, n)
		more = more || n.counted() < n.Last
	}
	if len(changed) > 0 {
		err = r.commitState(ctx, kept, changed...)
	}
	return more, err
}

// counted returns the last row of an exit whose item was counted if it had left.
func (n *node) counted() int64 { return n.Cursors[len(n.step.From)] }

// gates returns those of a list of exits through which an item goes besides n.
func (r *run) gates(n *node, ends []int) []gate {
	return lists.Map(without(ends, n.Node.Node), func(e int) gate { return gate{e, r.nodes[e].counted()} })
}

// related lists the nodes that say where an item goes that is at an exit.
func (n *node) related() []int {
	with := without(append(slices.Clone(n.ends), n.multipliers...), n.Node.Node)
	slices.Sort(with)
	return slices.Compact(with)
}

// exitsOf lists the exits of an item that is at one. The path of an item that was
// made from another one begins where it was made.
func (r *run) exitsOf(n *node, row *store.JoinedRow) []int {
	for _, m := range n.multipliers {
		if n.rowAt(m, row).Origin != 0 {
			return r.nodes[m].madeEnds
		}
	}
	return n.ends
}

// EndedItem is an item that has left its workflow.
type EndedItem struct {
	Born, At time.Time
	Class    int         // of the SLA
	Penalty  crowd.Money // for its age, if the SLA is per item
	Failed   bool
}

// Ended returns the items of a run that left it last, in order of time: about as
// many as most. older reports whether there are more.
func (o *Orchestrator) Ended(ctx context.Context, tenant crowd.TenantID, id crowd.RunID, most int) (list []EndedItem, older bool, err error) {
	r, err := o.snapshot(ctx, tenant, id)
	if err != nil {
		return nil, false, err
	}
	exits := slices.DeleteFunc(slices.Clone(r.nodes), func(n *node) bool { return len(n.ends) == 0 })
	for _, n := range exits { // as if all were counted
		n.Cursors[len(n.step.From)] = n.Last
	}
	for _, n := range exits {
		each := int64(most / len(exits))
		older = older || n.Last > each
		log := store.Log{Store: o.cfg.Store, Run: id, Node: n.Node.Node, With: n.related()}
		for row, err := range log.After(ctx, max(n.Last-each, 0)) {
			if err != nil {
				return nil, false, err
			}
			if row.N > n.Last {
				break
			}
			ends := r.exitsOf(n, &row)
			if x, ended := r.ended(n, &row, ends); ended && ends[0] == n.Node.Node {
				list = append(list, x)
			}
		}
	}
	slices.SortFunc(list, func(a, b EndedItem) int { return cmp.Or(a.At.Compare(b.At), a.Born.Compare(b.Born)) })
	return list, older, nil
}

// rowAt returns what another node has of the item of a row at n, or n itself.
func (n *node) rowAt(other int, row *store.JoinedRow) store.Row {
	if other == n.Node.Node {
		return row.Row
	}
	return row.With[other]
}

// ended returns the item of a row at an exit, if it has passed all of its exits, and did
// not end in the items that a query made of it.
func (r *run) ended(n *node, row *store.JoinedRow, ends []int) (x EndedItem, all bool) {
	x = EndedItem{Born: row.Born, Class: row.Class, At: row.At, Failed: row.State == store.RowFailed}
	if x.At.Before(x.Born) { // it left in the parent, and its age was renewed
		x.At = x.Born
	}
	others := r.gates(n, ends)
	for _, g := range others {
		if other := row.With[g.node]; other.At.After(x.At) {
			x.At = other.At
		}
		x.Failed = x.Failed || row.With[g.node].State == store.RowFailed
	}
	if s := r.flow.SLA; s != nil && s.PerItem {
		x.Penalty = s.Of(row.Class).At(x.At.Sub(x.Born))
	}
	return x, passed(row, others) && !n.onlySplit(row, ends)
}

// onlySplit reports whether the item of a row at an exit was split, and no exit has it
// but as skipped: the items that were made of it end in its place.
func (n *node) onlySplit(row *store.JoinedRow, ends []int) bool {
	return !slices.ContainsFunc(ends, func(e int) bool { return n.rowAt(e, row).State != store.RowSkipped }) &&
		slices.ContainsFunc(n.multipliers, func(m int) bool { return wasSplit(n.rowAt(m, row)) })
}
