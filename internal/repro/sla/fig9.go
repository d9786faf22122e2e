package sla

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/repro/sla/orchestration"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/sla"
)

// analysisCost is what an iteration of the authors' loop is taken to need for
// each running process, so that their limit comes out: about no gain over FIFO
// from F' = 190 on, with about 600 processes, where an iteration takes about as
// long as the longest response time.
const analysisCost = 900 * time.Microsecond

// What must hold today: 50 ms for a pass over 100,000 processes, 10 µs an event.
const (
	passCost  = 500 * time.Nanosecond // for each process
	eventCost = 10 * time.Microsecond
)

// largeSpan is T' of the world with large F': the paper's limit of about 600
// processes at F' = 190 needs about 3 s.
const largeSpan = 3

var (
	largePeaks = []float64{25, 50, 100, 150, 190, 230, 300, 400}
	// largeSizes are numbers of running processes to be measured.
	largeSizes = []int{100, 600, 2_000, 10_000, 30_000, 100_000}
	// largeScales multiply F₀, F' and the capacities of the world with F' = 190,
	// which has about 560 processes at most.
	largeScales = []float64{1, 3.5, 18, 53, 180}
)

// large is the world of Figure 9: the two types of E3 with a higher peak.
func large(peak, scale float64) *orchestration.World {
	c := claims{staged: []int64{10}, liability: true, span: largeSpan, byPeak: true}
	w := c.at(peak, asTaken)
	w.Load.Base *= scale
	w.Load.Peak *= scale
	for i := range w.Services {
		w.Services[i].Capacity = int(math.Round(float64(w.Services[i].Capacity) * scale))
	}
	return w
}

// slow is the loop as it costs the authors, quickLoop as it costs us, events ours
// with its cost.
var (
	slow      = orchestration.Policy{Order: orchestration.Listing, Period: 0.5, Predict: true, Cost: analysisCost, Blocks: true}
	quickLoop = orchestration.Policy{Order: orchestration.Listing, Period: 0.5, Predict: true, Cost: passCost, Blocks: true}
	events    = orchestration.Policy{Order: orchestration.Queue, Form: sla.Event, EventCost: eventCost}
)

func runSLAFig9(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	scales, sizes := largeScales, largeSizes
	if o.Small {
		scales, sizes = scales[:3], sizes[:4]
	}
	speeds := measureSpeeds(sizes)
	fifo, err := addLargePeaks(ctx, o, r)
	if err != nil {
		return err
	}
	if o.Extra > 0 {
		if err := addLargeScales(ctx, o, r, scales); err != nil {
			return err
		}
	}
	r.Add(speedRows(speeds)...)
	r.Pictures = append([]experiment.Picture{fifo}, append(r.Pictures, speedPicture(speeds))...)
	return nil
}

// addLargePeaks adds the rows of Figure 9: penalties by large F'.
func addLargePeaks(ctx context.Context, o *experiment.Options, r *experiment.Result) (experiment.Picture, error) {
	const source = "§V.B, Figure 9"
	named := []struct {
		name   string
		policy orchestration.Policy
	}{{slaFIFO, slaPolicy(slaFIFO)}, {"loop, its cost charged", slow}, {"loop, at no cost", slaPolicy(slaLoop)}, {"event", events}}
	var trials []claimsTrial
	for _, p := range named {
		for _, peak := range largePeaks {
			trials = append(trials, claimsTrial{large(peak, 1), p.policy, o.Reps})
		}
	}
	runs, err := slaTry(ctx, o, trials)
	if err != nil {
		return experiment.Picture{}, err
	}
	n := len(largePeaks)
	for i, peak := range largePeaks {
		at := fmt.Sprintf("F' = %g: ", peak)
		for k, p := range named {
			list := runs[k*n+i]
			r.Add(experiment.Mean.Row(p.name, at+"penalties", "", penalties(list)))
			if k == 0 {
				continue
			}
			row := reduced(list, runs[i]).row(p.name, at+"reduction of penalties")
			switch {
			case k == 1 && peak > 190:
				row = row.Claims("inefficient", experiment.Below(0), source, "maybe-gradual-limit").As(experiment.OfFitted)
			case k == 1 && peak < 190:
				row = row.Claims("efficient", experiment.Above(0), source, "maybe-gradual-limit").As(experiment.OfFitted)
			case k == 1:
				row.Source = source
			}
			r.Add(row)
		}
		row := mostAtOnce(at, runs[i])
		if peak == 190 {
			row = row.Claims("about 600", experiment.Within(500, 700), "§V.B", "maybe-other-f0").As(experiment.OfFitted)
		}
		r.Add(row)
	}
	var names []string
	for _, p := range named {
		names = append(names, p.name)
	}
	money, shares := penaltyLines(names, largePeaks, func(name string, i int) []claimsRun { return runs[slices.Index(names, name)*n+i] })
	axis := chart.Axis{Label: "F', processes begun in the peak", Unit: "1/s"}
	return penaltyPicture("sla-fig9", "Penalties by large F', and by what share each order reduces them",
		chart.LinesSpec{X: axis, Y: chart.Axis{Label: "penalties of a run", Kind: chart.Log}, Series: money},
		chart.LinesSpec{
			X: axis, Y: chart.Axis{Label: "reduction", Kind: chart.Percent, Min: -1, Max: 1}, Series: shares,
			Marks: []chart.Mark{{At: 190, Text: "published limit"}},
		}), nil
}

// addLargeScales adds the rows of worlds of up to 100,000 running processes.
func addLargeScales(ctx context.Context, o *experiment.Options, r *experiment.Result, scales []float64) error {
	list := []struct {
		name   string
		policy orchestration.Policy
		most   float64 // the largest scale that it is run at
	}{{slaFIFO, slaPolicy(slaFIFO), math.Inf(1)}, {"event", events, math.Inf(1)}, {"loop, its cost charged", slow, 20}, {"loop, today", quickLoop, 4}}
	var trials []claimsTrial
	for _, s := range scales {
		for _, p := range list {
			if s <= p.most {
				trials = append(trials, claimsTrial{large(190, s), p.policy, o.Extra})
			}
		}
	}
	runs, err := slaTry(ctx, o, trials)
	if err != nil {
		return err
	}
	lines := make([]chart.Series, len(list))
	for _, s := range scales {
		at := fmt.Sprintf("F' = 190, all times %g: ", s)
		fifo := runs[0]
		r.Add(mostAtOnce(at, fifo))
		for k, p := range list {
			if s > p.most {
				continue
			}
			if k > 0 {
				red := reduced(runs[0], fifo)
				r.Add(red.row(p.name, at+"reduction of penalties"))
				lines[k].Name, lines[k].Markers = p.name, true
				red.estimate().Point(&lines[k], stats.Mean(lists.Map(fifo, func(r claimsRun) float64 { return r.most })))
			}
			runs = runs[1:]
		}
	}
	words := "Reduction of penalties by the number of running processes, the load on each place the same"
	r.Draw(experiment.Picture{Name: "sla-fig9-scale", Words: words, Chart: chart.Lines(chart.LinesSpec{
		Head: chart.Head{Title: words, Size: chart.Size{Width: 760, Height: 380}, Note: "What is below -100 % is not shown."},
		X:    chart.Axis{Label: "most processes at once", Kind: chart.Log}, Y: chart.Axis{Label: "reduction against FIFO", Kind: chart.Percent, Min: -1, Max: 1}, Series: lines[1:],
	})})
	return nil
}

// A speed is what orders cost at a number of running processes.
type speed struct {
	processes int
	pass      time.Duration // one sla.Rank
	requeue   time.Duration // one pass of a Queue over as many requests
	event     time.Duration // a request's way through the queue of Event
}

// crowdOf makes running processes in the middle of an overload: six in seven wait
// for expertise, the others have a decision under way.
func crowdOf(n int, now time.Time) []*sla.Process {
	draw := sim.NewStream(1, 0, "sla running")
	types := []orchestration.Kind{comprehensive(10), liability(true)}
	plans, services := make([]*sla.Plan, len(types)), make([][]int, len(types))
	for i, k := range types {
		after := make([][]int, len(k.Steps))
		for s, step := range k.Steps {
			after[s] = step.After
			services[i] = append(services[i], step.Service)
		}
		plan, err := sla.NewPlan(after)
		if err != nil {
			panic("paper: the types of processes are no plans: " + err.Error())
		}
		plans[i] = plan
	}
	list := make([]*sla.Process, n)
	for i := range list {
		r := draw.At(uint64(i))
		k := r.IntN(len(types))
		age, wait := experiment.Duration(10*r.Float64()), experiment.Duration(r.Float64())
		steps := make([]sla.StepState, len(types[k].Steps))
		last := len(steps) - 1
		for s := range last {
			steps[s].Progress = sla.Done
		}
		steps[last] = sla.StepState{Progress: sla.Waiting, Since: now.Add(-min(wait, age))}
		if i%7 == 0 {
			steps[last] = sla.StepState{}
			steps[last-1] = sla.StepState{Progress: sla.Called, Since: now.Add(-experiment.Duration(0.2 * r.Float64()))}
		}
		list[i] = &sla.Process{ID: int64(i), Plan: plans[k], Services: services[k], Start: now.Add(-age), Penalty: types[k].Penalty, Steps: steps}
	}
	return list
}

// measureSpeeds times passes and events, by the clock of the machine.
func measureSpeeds(sizes []int) []speed {
	response := lists.Map(slaServices(), func(s orchestration.Service) time.Duration { return s.Response })
	now := time.Unix(1000, 0).UTC()
	list := make([]speed, len(sizes))
	for i, n := range sizes {
		running := crowdOf(n, now)
		list[i] = speed{processes: n}
		list[i].pass = passTime(func(k int) {
			sla.Rank(now.Add(time.Duration(k)*time.Millisecond), expertise, response, running)
		})
		list[i].requeue, list[i].event = measureQueue(running, now, response)
	}
	return list
}

// passTime is the least of some passes: the one that other work on the machine
// disturbed least.
func passTime(pass func(k int)) time.Duration {
	least := time.Duration(math.MaxInt64)
	for k := range 7 {
		start := time.Now()
		pass(k)
		least = min(least, time.Since(start))
	}
	return least
}

// measureQueue puts all that wait into a queue, and then lets as many come and go
// as at F' = 190, where 600 run.
func measureQueue(running []*sla.Process, now time.Time, response []time.Duration) (pass, event time.Duration) {
	q := sla.NewQueue(sla.Event, response[expertise])
	var waits []*sla.Process
	for _, p := range running {
		if s := len(p.Steps) - 1; p.Steps[s].Progress == sla.Waiting {
			waits = append(waits, p)
			q.Put(now, p.Request(now, s, response))
		}
	}
	const batches, requests, of = 41, 500, 600.0 / 190
	gap := experiment.Duration(of / float64(len(running)))
	id := int64(len(running))
	took := make([]time.Duration, batches)
	for b := range took {
		start := time.Now()
		for range requests {
			now = now.Add(gap)
			p := *waits[int(id)%len(waits)]
			p.ID = id
			p.Start = now.Add(-time.Second)
			id++
			q.Put(now, p.Request(now, len(p.Steps)-1, response))
			q.Advance(now)
			head, _, _ := q.Head()
			q.Drop(head.ID)
		}
		took[b] = time.Since(start) / requests
	}
	slices.Sort(took)
	return passTime(func(int) { q.SetResponse(now, response[expertise]) }), took[batches/2]
}

// speedRows are what was measured; they say so.
func speedRows(list []speed) []experiment.Row {
	var rows []experiment.Row
	put := func(policy, metric, unit string, value float64) {
		rows = append(rows, experiment.NewRow(policy, metric, unit, experiment.Estimate{Value: value, Low: math.NaN(), High: math.NaN()}).Of("measured in this run"))
	}
	for _, s := range list {
		at := fmt.Sprintf("%d running processes: ", s.processes)
		put("sla.Rank", at+"one pass, ms", "ms", s.pass.Seconds()*1e3)
		put("sla.Queue", at+"one pass over those that wait, ms", "ms", s.requeue.Seconds()*1e3)
		put("event", at+"one request, µs", "µs", s.event.Seconds()*1e6)
		put("one pass over one event", at+"times as long", "ratio", float64(s.pass)/float64(s.event))
	}
	last := list[len(list)-1]
	each := last.pass.Seconds() / float64(last.processes)
	for _, s := range slaServices() {
		if s.Proxied {
			put("sla.Rank", "running processes from which a pass takes longer than half a response time of the "+s.Name, "", s.Response.Seconds()/2/each)
		}
	}
	put("event", "processors that the requests at the four proxies keep busy at F' = 190 with 100,000 running processes", "ratio", last.event.Seconds()*4*190*100_000/600)
	return rows
}

func speedPicture(list []speed) experiment.Picture {
	pass, event := chart.Series{Name: "one pass of listing 1", Markers: true}, chart.Series{Name: "one request, by events", Markers: true}
	for _, s := range list {
		n := float64(s.processes)
		pass.X, pass.Y = append(pass.X, n), append(pass.Y, s.pass.Seconds())
		event.X, event.Y = append(event.X, n), append(event.Y, s.event.Seconds())
	}
	words := "What an order costs by the number of running processes, measured"
	return experiment.Picture{Name: "sla-fig9-cost", Words: words, Chart: chart.Lines(chart.LinesSpec{
		Head: chart.Head{Title: words, Size: chart.Size{Width: 760, Height: 380}},
		X:    chart.Axis{Label: "running processes", Kind: chart.Log}, Y: chart.Axis{Label: "time", Kind: chart.LogTime}, Series: []chart.Series{pass, event},
		Levels: []chart.Mark{{At: 0.25, Text: "half a response time of expertise"}, {At: 0.05, Text: "50 ms"}, {At: 1e-5, Text: "10 µs"}},
	})}
}
