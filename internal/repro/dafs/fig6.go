package dafs

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
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/label"
)

// A controlled is the controlled set-up of §4.3.1: between least and most people
// at a time, from the fit to the authors' logs.
type controlled struct {
	label       string
	policy      string // of sim
	least, most int
	b2          float64 // price of B2; prices are priorities
	// log is a run of 7 October 2013: 45 tasks with three answers each, and the
	// people come when they came; nil: Table 1's 500 tasks, one answer each.
	log *realRun
}

func (c controlled) setup() *sim.Setup {
	s := &sim.Setup{
		Horizon: 6 * time.Hour,
		Tenants: make([]sim.Tenant, 1),
		Kinds:   realKinds(),
		Groups:  []sim.Group{realCrowd(sim.Arrivals{Rate: 3600 / arrivalGap, Min: c.least, Max: c.most})},
	}
	for i, d := range table1 {
		b := sim.Batch{Name: d.name, Kind: i, Tasks: d.tasks, TaskTime: experiment.Duration(d.mode), Priority: d.price, At: time.Duration(i) * time.Microsecond}
		if d.name == "B2" {
			b.Priority = c.b2
		}
		if c.log != nil {
			b.Tasks, b.Rule = realTasks[i], label.Count(3)
		}
		s.Batches = append(s.Batches, b)
	}
	if c.log != nil {
		s.Horizon = time.Hour
		times := lists.Map(c.log.came, func(at float64) time.Duration { return time.Millisecond + experiment.Duration(at) })
		s.Groups[0].Arrive = sim.Arrivals{Times: times}
	}
	return s
}

func (c controlled) scheduling() string { return c.policy }

// took counts from the first task of any batch. A batch that was not completed is
// NaN.
func (c controlled) took(out *sim.Outcome) (took [6]float64) {
	began := time.Duration(math.MaxInt64)
	for _, b := range out.Batches {
		if b.Started >= 0 {
			began = min(began, b.Started)
		}
	}
	for k, b := range out.Batches {
		took[k] = math.NaN()
		if b.Completed >= 0 {
			took[k] = (b.Completed - began).Seconds()
		}
		took[5] = math.Max(took[5], took[k])
	}
	return took
}

// logged returns the set-ups of real runs.
func logged(runs ...int) []controlled {
	var list []controlled
	for _, i := range runs {
		run := &realRuns[i]
		for _, p := range fig6Policies {
			if p.label == run.policy {
				list = append(list, controlled{label: run.policy, policy: p.policy, b2: run.b2, log: run})
			}
		}
	}
	return list
}

// against compares one real run, of which the log tells when its batches were
// complete, with the range in which 95 % of the simulated runs lie. The simulated
// people are fitted to the logs of which these runs are a part.
func (c controlled) against(took completed) []experiment.Row {
	var rows []experiment.Row
	for b, seconds := range c.log.took {
		if math.IsNaN(seconds) {
			continue
		}
		done := slices.DeleteFunc(slices.Clone(took[b]), math.IsNaN)
		e := experiment.Estimate{Value: stats.Quantile(done, 0.5), Low: stats.Quantile(done, 0.025), High: stats.Quantile(done, 0.975)}
		rows = append(rows, experiment.NewRow(c.label, fmt.Sprintf("completion of %s, a run of 45 tasks (%s)", batchNames[b], c.log.log), "s", e).
			Of("median and 95 %% range of the %d of %d that completed it", len(done), len(took[b])).Repeated(experiment.Median, len(done)).
			Against(experiment.Figure{Value: seconds, Unit: 1}, fmt.Sprintf("log %s: %s, %d workers", c.log.log, c.log.policy, len(c.log.came)), "maybe-logged").As(experiment.OfFitted))
	}
	return rows
}

// A controlledFigure holds controlled set-ups against what the paper says of them;
// what it prints in a picture only, and runs of the logs, are rows too.
type controlledFigure struct {
	name, title, source string
	list                []controlled
	logs                []controlled
	claims              func(took []completed, source string) []experiment.Row
}

func (f controlledFigure) run(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	took, err := completions(ctx, o, slices.Concat(f.list, f.logs))
	if err != nil {
		return err
	}
	r.Add(f.claims(took, f.source)...)
	spec := chart.BarsSpec{
		Head: chart.Head{Title: f.title, Note: "Means with 95 % intervals.", Size: chart.Size{Width: 820, Height: 420}},
		X:    chart.Axis{Label: "batch"}, Y: chart.Axis{Label: "completed after", Kind: chart.Time, Zero: true}, Groups: batchNames,
	}
	for i, c := range f.list {
		bars := chart.BarSeries{Name: c.label}
		for b, name := range batchNames {
			r.Add(experiment.Mean.Row(c.label, "completion of "+name, "s", took[i][b]).NotSimulatable("in the figure only", "people", f.source))
			experiment.Mean.Of(took[i][b]).Bar(&bars)
		}
		spec.Series = append(spec.Series, bars)
	}
	for i, c := range f.logs {
		r.Add(c.against(took[len(f.list)+i])...)
	}
	r.Draw(experiment.Picture{Name: f.name, Words: f.title, Chart: chart.Bars(spec)})
	return nil
}

// fig6Policies are in the order of figure11Policies.
var fig6Policies = []struct{ label, policy string }{{"FIFO", "fifo"}, {"SJF", "sjf"}, {"RR", "rr"}, {"FS", "wfs"}}

func figure6() controlledFigure {
	f := controlledFigure{name: "fig6", title: "Completion by policy, 10 to 15 people", source: "§4.3.2, Figure 6", logs: logged(1, 3, 4, 5), claims: figure6Claims}
	for _, p := range fig6Policies {
		f.list = append(f.list, controlled{label: p.label, policy: p.policy, least: 10, most: 15, b2: 0.02})
	}
	return f
}

func figure6Claims(took []completed, source string) []experiment.Row {
	rows := lists.Map([]int{fifo, sjf, rr}, func(p int) experiment.Row {
		return experiment.Mean.Row("FS less "+fig6Policies[p].label, "completion of all", "s", experiment.Minus(took[fs][5], took[p][5])).
			Orders("FS is the best overall", experiment.Below(0), source, "maybe-practice-under-fifo")
	})
	rows = append(rows,
		experiment.Mean.Row("FIFO", "B5 after B1, by", "s", experiment.Minus(took[fifo][4], took[fifo][0])).Orders("B1 is preferred, B5 is last", experiment.Above(0), source, ""),
		experiment.Mean.Row("SJF less FIFO", "completion of B4", "s", experiment.Minus(took[sjf][3], took[fifo][3])).Orders("B4 is completed extremely fast", experiment.Below(0), source, ""))
	spread := func(p int) []float64 { // of the batches' completions, against their mean
		list := make([]float64, len(took[p][0]))
		for i := range list {
			s := stats.Summarise(lists.Map(took[p][:len(table1)], func(batch []float64) float64 { return batch[i] }))
			list[i] = s.SD / s.Mean
		}
		return list
	}
	for _, c := range []struct{ a, b int }{{fifo, rr}, {fifo, fs}, {sjf, fs}} {
		a, b := fig6Policies[c.a].label, fig6Policies[c.b].label
		rows = append(rows, experiment.Mean.Row(a+" less "+b, "spread of the batches' completions", "ratio", experiment.Minus(spread(c.a), spread(c.b))).
			Orders(b+" has no preferred batch", experiment.Above(0), source, ""))
	}
	return rows
}

func figure7a() controlledFigure {
	return controlledFigure{
		name: "fig7a", title: "Completion by the price of B2, FS, 10 to 15 people", source: "§4.3.3, Figure 7(a)",
		list: []controlled{
			{label: "B2 at $0.02", policy: "wfs", least: 10, most: 15, b2: 0.02},
			{label: "B2 at $0.05", policy: "wfs", least: 10, most: 15, b2: 0.05},
		},
		logs: logged(1, 0),
		claims: func(took []completed, source string) []experiment.Row {
			later := func(b int) experiment.Row {
				return experiment.Mean.Row("B2 at $0.05 less $0.02", "completion of "+batchNames[b], "s", experiment.Minus(took[1][b], took[0][b]))
			}
			rows := []experiment.Row{later(1).Orders("a higher priority makes B2 faster", experiment.Below(0), source, "")}
			for _, b := range []int{0, 2, 3, 4} {
				rows = append(rows, later(b).Orders("the other batches are later", experiment.Above(0), source, "maybe-given-back-later"))
			}
			return rows
		},
	}
}

func figure7b() controlledFigure {
	return controlledFigure{
		name: "fig7b", title: "Completion by the size of the crowd, FS", source: "§4.3.3, Figure 7(b)",
		list: []controlled{
			{label: "10 to 15 people", policy: "wfs", least: 10, most: 15, b2: 0.02},
			{label: "20 to 25 people", policy: "wfs", least: 20, most: 25, b2: 0.02},
		},
		logs: logged(1, 2), claims: figure7bClaims,
	}
}

func figure7bClaims(took []completed, source string) []experiment.Row {
	var rows []experiment.Row
	for b, name := range batchNames {
		rows = append(rows, experiment.Mean.Row("20 to 25 people less 10 to 15", "completion of "+name, "s", experiment.Minus(took[1][b], took[0][b])).
			Orders("more people are faster", experiment.Below(0), source, ""))
	}
	gain := func(b int) []float64 {
		return lists.Map(lists.Indices(len(took[0][b])), func(i int) float64 { return 1 - took[1][b][i]/took[0][b][i] })
	}
	most, least := 0, 0
	for b := range table1 {
		if g := experiment.Mean.Of(gain(b)).Value; g > experiment.Mean.Of(gain(most)).Value {
			most = b
		} else if g < experiment.Mean.Of(gain(least)).Value {
			least = b
		}
	}
	return append(rows, experiment.Mean.Row(batchNames[most]+" less "+batchNames[least], "gain from more people", "ratio", experiment.Minus(gain(most), gain(least))).
		Claims("batches gain differently", experiment.Above(0), source, "maybe-gains-alike"))
}
