package dafs

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/kit/chart"
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
	for i, d := range desk {
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
		times := make([]time.Duration, len(c.log.came))
		for i, at := range c.log.came {
			times[i] = time.Millisecond + experiment.Duration(at)
		}
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

// absent are the rows of completions that only the paper's picture shows.
func absent(who string, took *[6][]float64, source string) []experiment.Row {
	var rows []experiment.Row
	for b, name := range batchNames {
		rows = append(rows, experiment.Ours(who, "completion of "+name, "s", experiment.Mean, took[b]).NotSimulatable("in the figure only", "people", source))
	}
	return rows
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
// complete, with the range in which 95 % of the simulated runs lie.
func against(c controlled, took *[6][]float64) []experiment.Row {
	var rows []experiment.Row
	for b, seconds := range c.log.took {
		if math.IsNaN(seconds) {
			continue
		}
		done := slices.DeleteFunc(slices.Clone(took[b]), math.IsNaN)
		e := experiment.Estimate{Value: stats.Quantile(done, 0.5), Low: stats.Quantile(done, 0.025), High: stats.Quantile(done, 0.975)}
		r := experiment.NewRow(c.label, fmt.Sprintf("completion of %s, a run of 45 tasks (%s)", batchNames[b], c.log.log), "s", e)
		r.Statistic = fmt.Sprintf("median and 95 %% range of the %d of %d that completed it", len(done), len(took[b]))
		r.Source = fmt.Sprintf("log %s: %s, %d workers", c.log.log, c.log.policy, len(c.log.came))
		r.Judge(experiment.Figure{Value: seconds, Unit: 1}, "logged")
		rows = append(rows, r)
	}
	return rows
}

// unpublished are the rows of completions that the paper does not print: those that
// only its picture shows, and those of runs in the logs.
func unpublished(list []controlled, took [][6][]float64, source string) []experiment.Row {
	var rows []experiment.Row
	for i, c := range list {
		if c.log != nil {
			rows = append(rows, against(c, &took[i])...)
		} else {
			rows = append(rows, absent(c.label, &took[i], source)...)
		}
	}
	return rows
}

var fig6Policies = []struct{ label, policy string }{{"FIFO", "fifo"}, {"SJF", "sjf"}, {"RR", "rr"}, {"FS", "wfs"}}

func runFig6(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
	var list []controlled
	for _, p := range fig6Policies {
		list = append(list, controlled{label: p.label, policy: p.policy, least: 10, most: 15, b2: 0.02})
	}
	list = append(list, logged(1, 3, 4, 5)...)
	took, err := completions(ctx, o, list)
	if err != nil {
		return nil, err
	}
	const fifo, sjf, rr, fs = 0, 1, 2, 3
	const source = "§4.3.2, Figure 6"
	r := &experiment.Result{}
	for _, p := range []int{fifo, sjf, rr} {
		r.Rows = append(r.Rows, experiment.Claim("FS less "+list[p].label, "completion of all", "s", experiment.Mean, minus(took[fs][5], took[p][5]),
			"FS is the best overall", experiment.Below(0), source, "practice-under-fifo"))
	}
	spread := func(p int) []float64 {
		list := make([]float64, o.Reps)
		for i := range list {
			var of []float64
			for b := range desk {
				of = append(of, took[p][b][i])
			}
			s := stats.Summarise(of)
			list[i] = s.SD / s.Mean
		}
		return list
	}
	r.Rows = append(r.Rows,
		experiment.Claim("FIFO", "B5 after B1, by", "s", experiment.Mean, minus(took[fifo][4], took[fifo][0]), "B1 is preferred, B5 is last", experiment.Above(0), source, ""),
		experiment.Claim("SJF less FIFO", "completion of B4", "s", experiment.Mean, minus(took[sjf][3], took[fifo][3]), "B4 is completed extremely fast", experiment.Below(0), source, ""),
		experiment.Claim("FIFO less RR", "spread of the batches' completions", "ratio", experiment.Mean, minus(spread(fifo), spread(rr)), "RR has no preferred batch", experiment.Above(0), source, ""),
		experiment.Claim("FIFO less FS", "spread of the batches' completions", "ratio", experiment.Mean, minus(spread(fifo), spread(fs)), "FS has no preferred batch", experiment.Above(0), source, ""),
		experiment.Claim("SJF less FS", "spread of the batches' completions", "ratio", experiment.Mean, minus(spread(sjf), spread(fs)), "FS has no preferred batch", experiment.Above(0), source, ""),
	)
	r.Rows = append(r.Rows, unpublished(list, took, source)...)
	r.Pictures = append(r.Pictures, peopleBars("fig6", "Completion by policy, 10 to 15 people", list[:4], took[:4]))
	return r, nil
}

func runFig7a(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
	list := append([]controlled{
		{label: "B2 at $0.02", policy: "wfs", least: 10, most: 15, b2: 0.02},
		{label: "B2 at $0.05", policy: "wfs", least: 10, most: 15, b2: 0.05},
	}, logged(1, 0)...)
	took, err := completions(ctx, o, list)
	if err != nil {
		return nil, err
	}
	const source = "§4.3.3, Figure 7(a)"
	r := &experiment.Result{}
	r.Rows = append(r.Rows, experiment.Claim("B2 at $0.05 less $0.02", "completion of B2", "s", experiment.Mean, minus(took[1][1], took[0][1]), "a higher priority makes B2 faster", experiment.Below(0), source, ""))
	for _, b := range []int{0, 2, 3, 4} {
		r.Rows = append(r.Rows, experiment.Claim("B2 at $0.05 less $0.02", "completion of "+batchNames[b], "s", experiment.Mean, minus(took[1][b], took[0][b]), "the other batches are later", experiment.Above(0), source,
			"given-back-later"))
	}
	r.Rows = append(r.Rows, unpublished(list, took, source)...)
	r.Pictures = append(r.Pictures, peopleBars("fig7a", "Completion by the price of B2, FS, 10 to 15 people", list[:2], took[:2]))
	return r, nil
}

func runFig7b(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
	list := append([]controlled{
		{label: "10 to 15 people", policy: "wfs", least: 10, most: 15, b2: 0.02},
		{label: "20 to 25 people", policy: "wfs", least: 20, most: 25, b2: 0.02},
	}, logged(1, 2)...)
	took, err := completions(ctx, o, list)
	if err != nil {
		return nil, err
	}
	const source = "§4.3.3, Figure 7(b)"
	r := &experiment.Result{}
	for b, name := range batchNames {
		r.Rows = append(r.Rows, experiment.Claim("20 to 25 people less 10 to 15", "completion of "+name, "s", experiment.Mean, minus(took[1][b], took[0][b]), "more people are faster", experiment.Below(0), source, ""))
	}
	gain := func(b int) []float64 {
		list := make([]float64, o.Reps)
		for i := range list {
			list[i] = 1 - took[1][b][i]/took[0][b][i]
		}
		return list
	}
	most, least := 0, 0
	for b := range desk {
		if g := experiment.Mean.Of(gain(b)).Value; g > experiment.Mean.Of(gain(most)).Value {
			most = b
		} else if g < experiment.Mean.Of(gain(least)).Value {
			least = b
		}
	}
	r.Rows = append(r.Rows, experiment.Claim(batchNames[most]+" less "+batchNames[least], "gain from more people", "ratio", experiment.Mean, minus(gain(most), gain(least)), "batches gain differently", experiment.Above(0), source,
		"gains-alike"))
	r.Rows = append(r.Rows, unpublished(list, took, source)...)
	r.Pictures = append(r.Pictures, peopleBars("fig7b", "Completion by the size of the crowd, FS", list[:2], took[:2]))
	return r, nil
}

func peopleBars(name, title string, list []controlled, took [][6][]float64) experiment.Picture {
	spec := chart.BarsSpec{
		Head: chart.Head{Title: title, Note: "Means with 95 % intervals.", Size: chart.Size{Width: 820, Height: 420}},
		X:    chart.Axis{Label: "batch"}, Y: chart.Axis{Label: "completed after", Kind: chart.Time, Zero: true}, Groups: batchNames,
	}
	for i, c := range list {
		s := chart.BarSeries{Name: c.label}
		for b := range batchNames {
			e := experiment.Mean.Of(took[i][b])
			s.Values, s.Lo, s.Hi = append(s.Values, e.Value), append(s.Lo, e.Low), append(s.Hi, e.High)
		}
		spec.Series = append(spec.Series, s)
	}
	return experiment.Picture{Name: name, Words: title, Chart: chart.Bars(spec)}
}
