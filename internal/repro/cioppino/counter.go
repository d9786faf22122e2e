package cioppino

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/repro/experiment"
)

// A counterRun tests a reason for a difference: the comparisons in the same world
// with one thing changed. If the reason is right, they come out otherwise.
type counterRun struct {
	label    string // what is changed
	change   func(*poolWorld)
	balancer map[string]string // by system: another balancer than it has
	compare  []comparison
}

// counterRuns runs the counter-runs of a panel, with the repetitions of the panel.
func (f *technique) counterRuns(ctx context.Context, o *experiment.Options) ([]experiment.Row, error) {
	var trials []trial
	at := make([]map[string]int, len(f.counters)) // of trials, by system
	worlds := make([]poolWorld, len(f.counters))
	for i, c := range f.counters {
		at[i], worlds[i] = map[string]int{}, f.world
		if c.change != nil {
			c.change(&worlds[i])
		}
		for _, x := range c.compare {
			for _, name := range []string{x.a, x.b} {
				if _, ok := at[i][name]; ok {
					continue
				}
				s := f.systemOf(name)
				if b, ok := c.balancer[name]; ok {
					s.balancer = b
				}
				at[i][name] = len(trials)
				trials = append(trials, trial{s, worlds[i], o.Reps})
			}
		}
	}
	runs, err := try(ctx, o, trials)
	if err != nil {
		return nil, err
	}
	var rows []experiment.Row
	for i, c := range f.counters {
		for _, x := range c.compare {
			rows = append(rows, worlds[i].compare("counter-run, "+c.label+": "+x.a+" over "+x.b, x.gain, runs[at[i][x.a]], runs[at[i][x.b]]))
		}
	}
	return rows, nil
}

// systemOf returns a system of the panel.
func (f *technique) systemOf(name string) system {
	list := lists.Filter(f.systems, func(s system) bool { return s.name == name })
	if len(list) != 1 {
		panic("cioppino: " + f.figure + " has no system " + name)
	}
	return list[0]
}

func counters3a() []counterRun {
	costs := []comparison{{"CT-t", "RB", gainCost}, {"CT-t", "CT-p", gainCost}, {"CT-t", "S", gainCost}}
	byHigh := func(high float64) counterRun {
		return counterRun{
			label: fmt.Sprintf("a high load of %g", high), change: func(w *poolWorld) { w.high = high },
			compare: []comparison{{"CT-p", "S", gainThroughput}, {"CT-p", "RB", gainThroughput}},
		}
	}
	return []counterRun{
		{label: "the load goes up after an eighth of the time", change: func(w *poolWorld) { w.rise = w.horizon / 8 }, compare: costs},
		{label: "the load goes up after seven eighths of the time", change: func(w *poolWorld) { w.rise = w.horizon * 7 / 8 }, compare: costs},
		byHigh(20), byHigh(80),
		{
			label: "10 minutes, people come after 176 s", change: func(w *poolWorld) { w.horizon, w.arrive = 10*time.Minute, 176 },
			compare: []comparison{{"CT-p", "CT-t", gainThroughput}, {"CT-p", "RB", gainThroughput}},
		},
	}
}

func counters3b() []counterRun {
	return []counterRun{
		{
			label: "twice as long", change: func(w *poolWorld) { w.horizon *= 2 },
			compare: []comparison{{"AR", "N", gainThroughput}, {"HR", "AR", gainCost}, {"RB", "AR", gainCost}},
		},
		{
			label: "tasks of 2 s", change: func(w *poolWorld) { w.task = 2 },
			compare: []comparison{{"AR", "RB", gainThroughput}},
		},
		{
			label: "tasks of 80 s", change: func(w *poolWorld) { w.task = 80 },
			compare: []comparison{{"AR", "RB", gainThroughput}, {"AR", "HR", gainThroughput}},
		},
		{
			label: "loads four times as large", change: func(w *poolWorld) { w.low, w.high = 4*w.low, 4*w.high },
			compare: []comparison{{"AR", "HR", gainThroughput}},
		},
	}
}

func counters3c() []counterRun {
	over := []comparison{{"PB", "RT", gainThroughput}, {"PB", "RT", gainCost}}
	var list []counterRun
	for _, c := range []struct {
		step     time.Duration
		training float64
	}{{20, 10}, {30, 10}, {60, 10}, {10, 1}, {10, 60}, {10, 300}, {30, 60}, {60, 300}} {
		list = append(list, counterRun{
			label:  fmt.Sprintf("a step every %d s, training of %g s", c.step, c.training),
			change: func(w *poolWorld) { w.step, w.training = c.step*time.Second, c.training }, compare: over,
		})
	}
	one := map[string]string{"RT": "random(cap=1)"}
	hot := func(w *poolWorld) { w.load = oneHot }
	all := append([]comparison{{"PB", "NT", gainThroughput}, {"PB", "NT", gainCost}, {"RT", "NT", gainThroughput}}, over...)
	return append(list,
		counterRun{label: "RT moves one person a step", balancer: one, compare: over},
		counterRun{label: "one application overloaded for good", change: hot, compare: all},
		counterRun{label: "one application overloaded for good, RT moves one person a step", change: hot, balancer: one, compare: all},
		counterRun{label: "PB by the mean of the waits", balancer: map[string]string{"PB": "paper(utility=mean)"}, compare: all})
}
