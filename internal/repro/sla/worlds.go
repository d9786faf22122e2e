package sla

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/repro/sla/people"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
	"github.com/throng-dev/throng/sla"
)

// A peopleWorld is a world in which orders between batches are held against each other.
type peopleWorld struct {
	name  string
	world *people.World
	small bool // its optimum can be found
}

const minute = time.Minute

// claimsByPeople is the example of insurance claims as people see it: reading, for two
// thirds a program that takes ten minutes, a decision by two of three, and then for some
// a visit and for some others an appraisal. Programs take so many times as long.
func claimsByPeople(slow float64) []people.Step {
	return []people.Step{
		{Time: 6 * minute, Rule: label.Count(1), Share: 1, Program: 7 * time.Second},
		{Time: 8 * minute, Rule: label.Agree(2, 3), Share: 1, Program: time.Duration(slow * float64(7*minute))},
		{Time: 20 * minute, Rule: label.Count(1), Share: 0.15},
		{Time: 12 * minute, Rule: label.Count(1), Share: 0.5},
	}
}

// staged is the penalty of the example: a cost for each ten minutes after so many.
func staged(after time.Duration, cost int64) sla.Penalty {
	return sla.Penalty{Kind: sla.Staged, After: after, Cost: crowd.Money(cost) * crowd.Unit, Every: 10 * minute}
}

func promisesOf(penalties ...sla.Penalty) []people.Promise {
	return lists.Map(penalties, func(p sla.Penalty) people.Promise { return people.Promise{Penalty: p} })
}

// byTenant gives each promise a tenant of its own.
func byTenant(list []people.Promise) []people.Promise {
	for i := range list {
		list[i].Tenant = crowd.TenantID(i + 1)
	}
	return list
}

// steady lets items come at so much of what its people can do.
func steady(w people.World, load float64) *people.World {
	w.Items = 150
	w.Gap = time.Duration(float64(w.Work()) / float64(w.People) / load)
	return &w
}

func peopleWorlds() []peopleWorld {
	const hour = 60 * minute
	usual := promisesOf(staged(3*hour, 2))
	burst := func(n int, promises []people.Promise) *people.World {
		return &people.World{Steps: claimsByPeople(1), Promises: promises, People: n, Items: 80}
	}
	nine := func(promises ...sla.Penalty) people.World { return *burst(9, promisesOf(promises...)) }
	slow := nine(staged(2*hour, 2))
	slow.Steps = claimsByPeople(6)
	once := func(cost int64) sla.Penalty {
		return sla.Penalty{Kind: sla.Constant, After: 3 * hour, Cost: crowd.Money(cost) * crowd.Unit}
	}
	slope := sla.Penalty{Kind: sla.Linear, After: 3 * hour, Cost: 2 * crowd.Unit, Every: 10 * minute}
	tenants := nine()
	tenants.Promises = byTenant(promisesOf(staged(hour, 2), staged(hour, 2), staged(hour, 20)))
	alone := people.World{Steps: []people.Step{{Time: 5 * minute, Rule: label.Count(1), Share: 1}}, Promises: promisesOf(staged(30*minute, 2), staged(2*hour, 20)), People: 4}
	chain := func(penalties ...sla.Penalty) *people.World {
		one := label.Count(1)
		return &people.World{
			Steps:    []people.Step{{Time: 6 * minute, Rule: one, Share: 1}, {Time: 8 * minute, Rule: one, Share: 1}, {Time: 12 * minute, Rule: one, Share: 0.6}},
			Promises: promisesOf(penalties...), People: 2, Items: 5,
		}
	}
	soon := sla.Penalty{Kind: sla.Constant, After: 45 * minute, Cost: 10 * crowd.Unit}
	return []peopleWorld{
		{"80 at once, 5 people", burst(5, usual), false},
		{"80 at once, 9 people", burst(9, usual), false},
		{"80 at once, 12 people", burst(12, usual), false},
		{"80 at once, costs 2 and 20", burst(9, promisesOf(staged(3*hour, 2), staged(3*hour, 20))), false},
		{"80 at once, due after 1 h and 8 h", burst(9, promisesOf(staged(hour, 2), staged(8*hour, 2))), false},
		{"80 at once, once", burst(9, promisesOf(once(10))), false},
		{"80 at once, a slope", burst(9, promisesOf(slope)), false},
		{"steady, load 0.9", steady(nine(staged(hour, 2)), 0.9), false},
		{"steady, load 1.1", steady(nine(staged(hour, 2)), 1.1), false},
		{"steady, load 1.1, costs 2 and 20", steady(nine(staged(hour, 2), staged(hour, 20)), 1.1), false},
		{"steady, load 1.1, three tenants, costs 2, 2 and 20", steady(tenants, 1.1), false},
		{"steady, load 0.9, slow programs", steady(slow, 0.9), false},
		{"one step, steady, load 1.1, due after 30 min and 2 h", steady(alone, 1.1), false},
		{"5 at once, 2 people", chain(staged(30*minute, 2)), true},
		{"5 at once, 2 people, costs 2 and 20", chain(staged(30*minute, 2), staged(30*minute, 20)), true},
		{"5 at once, 2 people, once", chain(soon), true},
	}
}

// peopleOrders are the orders between batches that are held against each other, the last
// two those that the documentation recommends.
var peopleOrders = []string{
	"fifo", "wfs", "tenant-fair(wfs)", "penalty(form=loop)", "penalty(form=event)", "penalty(form=atc)", "penalty", sched.Default,
}

func runSLAPeople(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	worlds := peopleWorlds()
	orders := append(slices.Clone(peopleOrders), "optimum")
	reps := slices.Repeat([]int{o.Reps}, len(worlds)*len(orders))
	costs, err := experiment.Repeat(ctx, o, reps, func(i, rep int) (float64, error) {
		w, order, seed := &worlds[i/len(orders)], orders[i%len(orders)], o.Seed+uint64(rep)
		if order != "optimum" {
			cost, err := w.world.Run(order, seed)
			return float64(cost) / float64(crowd.Unit), err
		}
		if !w.small {
			return math.NaN(), nil
		}
		return float64(w.world.Optimum(seed)) / float64(crowd.Unit), nil
	})
	if err != nil {
		return err
	}
	drawn := []string{"wfs", "penalty(form=event)", "penalty(form=atc)", "penalty"}
	series := make([]chart.BarSeries, len(drawn))
	var groups []string
	for i, w := range worlds {
		of := map[string][]float64{}
		for k, order := range orders {
			of[order] = costs[i*len(orders)+k]
			if order != "optimum" || w.small {
				r.Add(experiment.Mean.Row(order, w.name+": penalties", "", of[order]))
			}
		}
		for k, order := range drawn {
			series[k].Name, series[k].Ink = order, k+2
			reductionOf(of[order], of["fifo"]).estimate().Bar(&series[k])
		}
		best := slices.MinFunc(peopleOrders, func(x, y string) int { return cmp.Compare(stats.Mean(of[x]), stats.Mean(of[y])) })
		for _, order := range []string{"penalty", sched.Default} {
			r.Add(reductionOf(of[best], of[order]).row(order, w.name+": share that the best of the orders saves, "+best))
		}
		groups = append(groups, fmt.Sprint(i+1))
	}
	const words = "By what share four orders reduce penalties where people work"
	r.Draw(experiment.Picture{Name: "sla-people", Words: words, Chart: chart.Bars(chart.BarsSpec{
		Head: chart.Head{Title: words, Alt: words + ", as bars with 95 % intervals; the worlds in the order of the table", Size: chart.Size{Width: 980, Height: 420}},
		X:    chart.Axis{Label: "world, in the order of the table"},
		Y:    chart.Axis{Label: "less than under FIFO", Kind: chart.Percent, Max: 1}, Groups: groups, Series: series,
	})})
	return nil
}
