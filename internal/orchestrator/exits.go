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
	isExit      bool   // items leave the workflow here
	ends        []int  // of an exit: the exits of its items, itself among them
	multipliers []int  // of an exit: the nodes that may have made its items of others
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
	of := make([]exits, len(r.nodes)) // by region, which share their lists
	for i, n := range r.nodes {
		// Items that a step over all rows makes do not count: they never came in.
		n.isExit = n.step != nil && !n.step.MakesItems() && !handedOn[i]
		e := &of[region[i]]
		if n.isExit {
			e.ends = append(e.ends, i)
		}
		if n.mayMultiply() {
			e.multipliers = append(e.multipliers, i)
		}
	}
	for i, n := range r.nodes {
		if e := &of[region[i]]; n.isExit {
			n.ends, n.multipliers = e.ends, e.multipliers
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
		if reached[i] && x.isExit {
			m.madeEnds = append(m.madeEnds, i)
		}
		if x != m && sources > 0 && sources < len(x.joined) {
			m.otherJoin = x.Name
		}
	}
}

// accruePenalties adds up what items cost that have left the workflow. It reports
// whether there is more to do at once.
func (r *run) accruePenalties(ctx context.Context) (more bool, err error) {
	if r.flow.SLA == nil || !r.flow.SLA.PerItem {
		return false, nil
	}
	for _, n := range r.nodes {
		if len(n.ends) == 0 {
			continue
		}
		mark := len(n.step.From)
		if n.Cursors[mark] >= n.Last {
			continue
		}
		rows, err := r.o.cfg.Store.Rows(ctx, r.kept.ID, n.Node.Node, n.Cursors[mark], chunkRows, n.related())
		if err != nil {
			return false, err
		}
		kept := r.kept
		for i := range rows {
			row := &rows[i]
			n.Cursors[mark] = row.N
			at, last := r.completionTime(n, row)
			if !last {
				continue
			}
			kept.Ended++
			if cost := r.flow.SLA.Penalty.At(at.Sub(row.Born)); cost > 0 {
				kept.Late++
				kept.Penalty = min(kept.Penalty+cost, crowd.MaxMoney)
			}
		}
		if err := r.commitState(ctx, kept, n); err != nil {
			return false, err
		}
		more = more || n.Cursors[mark] < n.Last
	}
	return more, nil
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
		made := row.With[m]
		if m == n.Node.Node {
			made = row.Row
		}
		if made.Origin != 0 {
			return r.nodes[m].madeEnds
		}
	}
	return n.ends
}

// completionTime returns when an item left the workflow, if the row is the last one
// of its exits.
func (r *run) completionTime(n *node, row *store.JoinedRow) (time.Time, bool) {
	at := row.At
	for _, e := range r.exitsOf(n, row) {
		if e == n.Node.Node {
			continue
		}
		other, ok := row.With[e]
		x := r.nodes[e]
		if !ok || other.N > x.Cursors[len(x.step.From)] {
			return at, false
		}
		if other.At.After(at) {
			at = other.At
		}
	}
	return at, true
}

// EndedItem is an item that has left its workflow.
type EndedItem struct {
	Born, At time.Time
	Penalty  crowd.Money // for its age, if the SLA is per item
}

// Ended returns the items of a run that left it last, in order of time: about as
// many as most. older reports whether there are more.
func (o *Orchestrator) Ended(ctx context.Context, tenant crowd.TenantID, id crowd.RunID, most int) (list []EndedItem, older bool, err error) {
	r, err := o.snapshot(ctx, tenant, id)
	if err != nil {
		return nil, false, err
	}
	exits := slices.DeleteFunc(slices.Clone(r.nodes), func(n *node) bool { return len(n.ends) == 0 })
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
			if x, all := r.ended(n, &row); all {
				list = append(list, x)
			}
		}
	}
	slices.SortFunc(list, func(a, b EndedItem) int { return cmp.Or(a.At.Compare(b.At), a.Born.Compare(b.Born)) })
	return list, older, nil
}

// ended returns an item if n is its first exit and it has been at all of them.
func (r *run) ended(n *node, row *store.JoinedRow) (x EndedItem, all bool) {
	x = EndedItem{Born: row.Born, At: row.At}
	for i, e := range r.exitsOf(n, row) {
		other, ok := row.With[e]
		switch {
		case i == 0 && e != n.Node.Node, i > 0 && !ok:
			return x, false
		case other.At.After(x.At):
			x.At = other.At
		}
	}
	if s := r.flow.SLA; s != nil && s.PerItem {
		x.Penalty = s.Penalty.At(x.At.Sub(x.Born))
	}
	return x, true
}
