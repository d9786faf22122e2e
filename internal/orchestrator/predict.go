package orchestrator

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/kit/pages"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// predict fills in what the items on their way will cost by the forecasts; where there is
// none, or there are too many items, what they cost if they leave now, which is the least. It is long as
// the items of one walk are charged by the item or by the run.
func (r *run) predict(ctx context.Context, v *View) error {
	now := r.o.now()
	type going struct {
		end, born time.Time // the end of the latest branch
		class     int
	}
	items := make(map[int64]going)
	for i, n := range r.nodes {
		if n.step == nil || n.State == store.NodeDone {
			continue
		}
		at := &v.Nodes[i]
		for _, i := range n.joined {
			from, place := n.step.From[i].Node, int64(0)
			var soonest time.Time // that any row of the source is done here; zero: at once
			if n.step.From[i].Edge == workflow.Batch && !v.done[from].IsZero() {
				soonest = v.done[from].Add(at.adds())
			}
			pending := pages.All(chunkRows, func(after int64, _ int) ([]store.Row, error) { // of pendingRows: chunkRows
				if len(items) >= maxPredicted {
					return nil, nil
				}
				return r.pendingRows(ctx, from, n.Node.Node, after)
			}, func(row *store.Row) int64 { return row.N })
			for row, err := range pending {
				if err != nil {
					return err
				}
				if row.State != store.RowOK {
					continue
				}
				place++
				if end := instant.Later(at.ready(now, place), soonest).Add(at.rest()); end.After(items[row.Item].end) {
					items[row.Item] = going{end, row.Born, row.Class}
				}
			}
		}
	}
	v.Going = int64(len(items))
	// What waits before a query over all rows is no item on its way, but nobody knows what comes of it.
	comes := v.Going > 0 || v.Outlook.Why != ""
	v.AtLeast = comes && (v.Outlook.Median.IsZero() || v.Going >= maxPredicted)
	if v.AtLeast {
		for id, x := range items {
			x.end = now
			items[id] = x
		}
	}
	if !r.flow.SLA.PerItem {
		last := instant.Later(now, v.Outlook.Median)
		for _, x := range items {
			last = instant.Later(last, x.end)
		}
		if comes || !v.Outlook.None() {
			v.Predicted = r.flow.SLA.Penalty.At(last.Sub(r.kept.StartedAt))
		}
		return nil
	}
	for _, x := range items {
		cost := r.flow.SLA.Of(x.class).At(x.end.Sub(x.born))
		v.Predicted = v.Predicted.Plus(cost)
		if x.class < len(v.Classes) {
			c := &v.Classes[x.class]
			c.Predicted, c.Going, c.AtLeast = c.Predicted.Plus(cost), c.Going+1, v.AtLeast
		}
	}
	return nil
}

// ready is when the item in the place from 1 of those at a node is expected to be done
// there: by the forecast of its batch, or by what its service allows, which are of all of
// them, the items follow each other at equal distances. Without a forecast, as if nothing
// had to queue.
func (n *NodeView) ready(now time.Time, place int64) time.Time {
	soonest := now.Add(n.adds())
	last := n.Ahead.Median
	switch {
	case last.IsZero() && n.Step.HTTP() != nil:
		last = n.called(n.adds(), now)
	case last.IsZero():
		last = n.Ahead.Horizon // after which it is, or zero
	}
	if wait := last.Sub(soonest); wait > 0 {
		share := min(float64(place)/float64(max(n.Waiting+n.Working(), 1)), 1)
		return soonest.Add(time.Duration(share * float64(wait)))
	}
	return soonest
}

// Words says for people what is foreseen: no more exactly than it can be known.
func (f Foreseen) Words() string {
	const cent = crowd.Unit / 100
	switch {
	case !f.Known():
		return "not known"
	case f.AtLeast:
		return "at least " + f.Predicted.String()
	case f.Predicted >= cent:
		return "about " + (f.Predicted.Plus(cent/2) / cent * cent).String()
	case f.Predicted > 0:
		return "less than " + cent.String()
	}
	return f.Predicted.String()
}
