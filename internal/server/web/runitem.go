package web

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
)

// rowsShown is how many rows of a step are on a page.
const rowsShown = 100

// stepRow is a row of a step as it is listed.
type stepRow struct {
	store.JoinedRow
	Sign sign
}

// runStep lists what a node of a run has done.
func (rq *request) runStep(id crowd.RunID) error {
	v, err := rq.App.Runs.Get(rq.ctx(), rq.p, id)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(v.Nodes, func(n orchestrator.NodeView) bool { return n.Name == rq.r.PathValue("step") })
	if i < 0 {
		return crowd.Errorf(crowd.NotFound, "%s has no step %q", id, rq.r.PathValue("step"))
	}
	after, _ := strconv.ParseInt(rq.r.URL.Query().Get("after"), 10, 64) // what is no number is the first page
	after = max(after, 0)
	list, err := rq.App.Runs.Items(rq.ctx(), rq.p, id, v.Nodes[i].Name, after, rowsShown)
	if err != nil {
		return err
	}
	rows := lists.Map(list, func(row store.JoinedRow) stepRow { return stepRow{row, rowSigns[row.State]} })
	n := &v.Nodes[i]
	columns := n.Columns
	if n.Step != nil {
		columns = nil
		for _, c := range n.Step.Own {
			columns = append(columns, c.Name)
		}
	}
	data := map[string]any{"V": v, "N": n, "In": v.Taken(i), "Sign": signOf(v, i), "Columns": columns, "Rows": rows, "First": after == 0}
	if len(list) > 0 && list[len(list)-1].N < n.Last {
		data["After"] = list[len(list)-1].N
	}
	return rq.render("runstep", page{Title: n.Name + " of " + v.Name, Section: "runs", Data: data})
}

// pathStop is one stop on an item's path.
type pathStop struct {
	orchestrator.Visit
	Sign     sign
	Batch    crowd.BatchID // of a crowd step
	Came     time.Time     // when the last of its sources had handed it on
	Here     time.Duration // from then until it went on, or until now
	Open     bool          // it is still there
	Why      string        // it waits
	X, Width string        // of its bar, in percent
	Values   []cellOf
}

// cellOf is a value with its column.
type cellOf struct{ Name, Value string }

// itemPage is an item's way.
type itemPage struct {
	V       *orchestrator.View
	Item    int64
	Class   string    // of the SLA; "": there are none
	Born    time.Time // from which its age counts
	Start   time.Time // of the picture: before Born where the age was renewed
	End     time.Time
	Stops   []pathStop
	Origins []int64  // the items that it comes from
	Became  []became // items that were made from it
	Over    bool     // there may be more of those
}

// became is an item that was made from another.
type became struct {
	Item int64
	Step string
}

// runItem shows where an item has been.
func (rq *request) runItem(id crowd.RunID) error {
	item, err := strconv.ParseInt(rq.r.PathValue("item"), 10, 64)
	if err != nil || item < 1 {
		return crowd.Errorf(crowd.NotFound, "%s has no item %q", id, rq.r.PathValue("item"))
	}
	v, err := rq.App.Runs.Get(rq.ctx(), rq.p, id)
	if err != nil {
		return err
	}
	stops, err := rq.App.Runs.Path(rq.ctx(), rq.p, id, item)
	if err != nil {
		return err
	}
	x := &itemPage{V: v, Item: item, End: rq.Now().UTC()}
	x.fill(stops)
	if x.Became, x.Over, err = rq.madeFrom(v, item); err != nil {
		return err
	}
	return rq.render("runitem", page{Title: "Item " + strconv.FormatInt(item, 10) + " of " + v.Name, Section: "runs", Data: x})
}

// fill lays an item's way out, with the steps at which it is now.
func (x *itemPage) fill(stops []orchestrator.Visit) {
	byNode := make(map[int]orchestrator.Visit)
	for _, stop := range stops {
		byNode[stop.Node] = stop
		x.Class = cmp.Or(x.Class, stop.Class)
		if !stop.Born.IsZero() && (x.Born.IsZero() || stop.Born.Before(x.Born)) {
			x.Born = stop.Born
		}
		if stop.Item != x.Item && !slices.Contains(x.Origins, stop.Item) {
			x.Origins = append(x.Origins, stop.Item)
		}
	}
	now := x.End
	for i := range x.V.Nodes {
		n := &x.V.Nodes[i]
		stop, there := byNode[i]
		came, all := cameTo(n, byNode)
		switch {
		case there:
			x.add(n, stop, came, now)
		case all && n.Step != nil && !n.Step.MakesItems() && n.State != store.NodeDone && !x.V.State.Ended():
			x.add(n, orchestrator.Visit{Step: n.Name, Kind: n.Kind, Row: store.Row{Node: i, Item: x.Item}}, came, now)
		}
	}
	x.Start = x.Born
	for _, s := range x.Stops {
		if s.Came.Before(x.Start) {
			x.Start = s.Came
		}
	}
	if !slices.ContainsFunc(x.Stops, func(s pathStop) bool { return s.Open }) && len(x.Stops) > 0 {
		x.End = x.Start
		for _, s := range x.Stops {
			if s.At.After(x.End) {
				x.End = s.At
			}
		}
	}
	whole := max(x.End.Sub(x.Start), 1)
	for i := range x.Stops {
		s := &x.Stops[i]
		part := 100 * float64(s.Here) / float64(whole)
		from := 100 * float64(s.Came.Sub(x.Start)) / float64(whole)
		part = max(part, 0.8) // what took no time is to be seen, too
		s.X, s.Width = fixed2(min(max(from, 0), 100-part)), fixed2(part)
	}
}

// cameTo says when the last source of a node handed an item on, and whether all
// of them have.
func cameTo(n *orchestrator.NodeView, stops map[int]orchestrator.Visit) (came time.Time, all bool) {
	if n.Step == nil {
		return time.Time{}, false
	}
	all = true
	for _, from := range n.Step.From {
		source, there := stops[from.Node]
		if !there || source.Held != "" {
			all = false
			continue
		}
		if source.At.After(came) {
			came = source.At
		}
	}
	return came, all
}

func (x *itemPage) add(n *orchestrator.NodeView, stop orchestrator.Visit, came, now time.Time) {
	s := pathStop{Visit: stop, Sign: rowSigns[stop.State], Came: came}
	if came.IsZero() {
		s.Came = stop.Born
	}
	until := stop.At
	switch {
	case stop.Held != "":
		s.Sign, s.Open, until = heldSign, true, now
	case stop.N == 0:
		s.Sign, s.Open, until = sign{"▶", "is here"}, true, now
	}
	if s.Came.IsZero() || until.Before(s.Came) {
		s.Came = until
	}
	s.Here = max(until.Sub(s.Came), 0)
	if n.Batch != nil {
		s.Batch = n.Batch.Spec.ID
	}
	for i, name := range stop.Columns {
		if i < len(stop.Cells) {
			s.Values = append(s.Values, cellOf{name, stop.Cells[i]})
		}
	}
	x.Stops = append(x.Stops, s)
}

// madeFrom finds the items that were made from an item, among the last rows of each
// step that makes several of one.
func (rq *request) madeFrom(v *orchestrator.View, item int64) (list []became, over bool, err error) {
	queries := lists.Filter(v.Nodes, func(n orchestrator.NodeView) bool { return n.Step != nil && n.Step.SplitsItems() })
	for _, n := range queries {
		most := rowsCharted / len(queries)
		over = over || n.Last > int64(most)
		for after := max(n.Last-int64(most), 0); after < n.Last; { // a page of long rows is short
			rows, err := rq.App.Runs.Items(rq.ctx(), rq.p, v.ID, n.Name, after, most)
			if err != nil {
				return nil, false, err
			}
			if len(rows) == 0 {
				break
			}
			for _, row := range rows {
				if row.Origin == item {
					list = append(list, became{row.Item, n.Name})
				}
			}
			after = rows[len(rows)-1].N
		}
	}
	return list, over, nil
}
