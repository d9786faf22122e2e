package sla

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/repro/sla/orchestration"
	"github.com/throng-dev/throng/sla"
)

// An orderWorld is a world in which orders are held against each other.
type orderWorld struct {
	name  string
	world *orchestration.World
}

// orderWorlds are the middle points of E1 to E6, and the comprehensive claim with
// other penalties and loads: costs alike and far apart, steps near and far, each
// form of a penalty, a load that is just too much and one that is far too much.
func orderWorlds() []orderWorld {
	var list []orderWorld
	for _, c := range []claims{slaE1, slaE2, slaE3, slaE4, slaE5, slaE6} {
		x := c.xs[len(c.xs)/2]
		list = append(list, orderWorld{format.Capitalized(c.name) + ", " + c.label(x), c.at(x, asTaken)})
	}
	const peak, overload = 26, 60
	second, ten := time.Second, 10*time.Second
	for _, w := range []struct {
		name  string
		kind  sla.Kind
		every time.Duration
		peak  float64
		costs []int64
	}{
		{"steps of 1 s, costs 1 and 100", sla.Staged, second, peak, []int64{1, 100}},
		{"once, costs 1 and 100", sla.Constant, 0, peak, []int64{1, 100}},
		{"once, costs 1, 1 and 100, overload", sla.Constant, 0, overload, []int64{1, 1, 100}},
		{"steps of 1 s, costs 1 and 10, overload", sla.Staged, second, overload, []int64{1, 10}},
		{"steps of 10 s, costs 1 and 10, overload", sla.Staged, ten, overload, []int64{1, 10}},
		{"once, all alike, overload", sla.Constant, 0, overload, []int64{10}},
		{"steps of 1 s, all alike, overload", sla.Staged, second, overload, []int64{10}},
		{"a slope, all alike", sla.Linear, second, peak, []int64{10}},
		{"a slope, costs 1 and 10", sla.Linear, second, peak, []int64{1, 10}},
		{"a slope, costs 1 and 10, overload", sla.Linear, second, overload, []int64{1, 10}},
	} {
		world := slaE3.at(w.peak, asTaken)
		world.Kinds = nil
		for _, cost := range w.costs {
			k := comprehensive(cost)
			k.Penalty = &sla.Penalty{Kind: w.kind, After: 3 * second, Cost: crowd.Money(cost) * crowd.Unit, Every: w.every}
			world.Kinds = append(world.Kinds, k)
		}
		list = append(list, orderWorld{w.name, world})
	}
	return list
}

// orderNames are the orders that are held against each other.
var orderNames = []string{slaFIFO, slaLoop, slaEvent, slaATC}

func runSLAOrders(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	worlds := orderWorlds()
	var trials []claimsTrial
	for _, w := range worlds {
		for _, name := range orderNames {
			trials = append(trials, claimsTrial{w.world, slaPolicy(name), o.Reps})
		}
	}
	runs, err := slaTry(ctx, o, trials)
	if err != nil {
		return err
	}
	series := make([]chart.BarSeries, len(orderNames)-1)
	var groups []string
	for i, w := range worlds {
		of := runs[i*len(orderNames):]
		r.Add(experiment.Mean.Row(slaFIFO, w.name+": penalties", "", penalties(of[0])))
		by := map[string]reduction{}
		for k, name := range orderNames[1:] {
			by[name] = reduced(of[k+1], of[0])
			r.Add(by[name].row(name, w.name+": reduction of penalties"))
			series[k].Name, series[k].Ink = name, k+2
			by[name].estimate().Bar(&series[k])
		}
		r.Add(by[slaATC].less(by[slaEvent]).row("atc less event", w.name+": reduction of penalties"))
		groups = append(groups, fmt.Sprint(i+1))
	}
	const words = "By what share three orders reduce penalties, in sixteen worlds"
	r.Draw(experiment.Picture{Name: "sla-orders", Words: words, Chart: chart.Bars(chart.BarsSpec{
		Head: chart.Head{Title: words, Alt: words + ", as bars with 95 % intervals; the worlds in the order of the table", Size: chart.Size{Width: 980, Height: 420}},
		X:    chart.Axis{Label: "world, in the order of the table"},
		Y:    chart.Axis{Label: "less than under FIFO", Kind: chart.Percent, Max: 1}, Groups: groups, Series: series,
	})})
	return nil
}
