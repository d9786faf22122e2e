package dafs

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/label"
)

// trace28 is the trace of the live deployment (§4.4; trace.txt of the authors'
// data set): 28 batches, 287 tasks (the paper says 286), three answers each, all
// at the same price and published at once. The kinds are stood in for by those
// that the calibration has.
var trace28 = []struct {
	tasks int
	kind  string
}{
	{17, "B6"}, {45, "B2"}, {11, "B5"}, {4, "B2"}, {12, "B3"}, {4, "B2"}, {11, "B5"}, {11, "B6"}, {33, "B7"}, {11, "B5"},
	{4, "B3"}, {4, "B7"}, {5, "B3"}, {8, "B2"}, {3, "B5"}, {1, "B3"}, {22, "B2"}, {5, "B3"}, {4, "B7"}, {12, "B6"},
	{4, "B7"}, {10, "B5"}, {4, "B2"}, {14, "B6"}, {5, "B5"}, {5, "B3"}, {9, "B6"}, {9, "B3"},
}

// traceClasses are the paper's, by tasks of a batch.
var traceClasses = []sim.Class{{Name: "small (1-9)", Most: 9}, {Name: "medium (10-15)", Most: 15}, {Name: "large (16-45)", Most: 0}}

// tracePolicies: the batches one by one on a pull market, and in a bundle.
var tracePolicies = []struct{ label, policy string }{
	{"individual batches", "market"}, {"FS", "fs"}, {"WCFS", "wcfs(fs,k=3)"},
}

func traceSetup() *sim.Setup {
	s := &sim.Setup{
		Horizon: 6 * time.Hour,
		Tenants: make([]sim.Tenant, 1),
		Kinds:   realKinds(),
		Groups:  []sim.Group{realCrowd(sim.Arrivals{Rate: 3600 / arrivalGap, Until: 6 * time.Hour})},
		Classes: traceClasses,
	}
	kinds := map[string]int{}
	for i, k := range kindFits {
		kinds[k.name] = i
	}
	for i, b := range trace28 {
		s.Batches = append(s.Batches, sim.Batch{
			Name: fmt.Sprintf("%d (%s, %d)", i+1, b.kind, b.tasks), Kind: kinds[b.kind], Tasks: b.tasks, Rule: label.Count(3),
			At: time.Duration(i) * time.Microsecond,
		})
	}
	return s
}

// A traced run of the trace.
type traced struct {
	perTask  float64         // s, mean time of an answer
	switches float64         // share of the hand-outs
	curves   [3]sim.Timeline // when tasks were labelled, by class
	out      *sim.Outcome    // of the first repetition
}

// after returns the seconds until a share of the tasks of a class was done; of a
// negative class, of all.
func (t *traced) after(class int, share float64) float64 {
	of := t.curves[:]
	if class >= 0 {
		of = of[class : class+1]
	}
	var all sim.Timeline
	for i := range of {
		all.Merge(&of[i])
	}
	done := 0.0
	for n, count := range all.Counts {
		if done += float64(count); done >= share*float64(all.Total) {
			return (time.Duration(n+1) * all.Step).Seconds()
		}
	}
	return math.NaN()
}

// traces runs the trace under each of tracePolicies.
func traces(ctx context.Context, o *experiment.Options) (traceRuns, error) {
	setup := traceSetup()
	return experiment.Repeat(ctx, o, slices.Repeat([]int{o.Reps}, len(tracePolicies)), func(i, rep int) (*traced, error) {
		r := sim.Run{Setup: setup, Policy: tracePolicies[i].policy, Seed: o.Seed, Rep: rep, Record: sim.Record{Finished: true}}
		if rep == 0 {
			r.Record.Samples, r.Record.Allocation = 2000, true
		}
		out, err := r.DoContext(ctx)
		if err != nil {
			return nil, err
		}
		t := &traced{perTask: out.Crowd.Worked.Seconds() / float64(out.HandOuts), switches: float64(out.Switches) / float64(out.HandOuts)}
		copy(t.curves[:], out.Finished)
		if rep == 0 {
			t.out = out
		}
		return t, nil
	})
}

const individual, fair, conscious = 0, 1, 2 // in tracePolicies

// A traceRuns is what came of the trace by policy and repetition.
type traceRuns [][]*traced

// less is a figure under one policy less that under another.
func (t traceRuns) less(a, b int, figure func(*traced) float64) []float64 {
	return experiment.Minus(lists.Map(t[a], figure), lists.Map(t[b], figure))
}

func runFig8(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	runs, err := traces(ctx, o)
	if err != nil {
		return err
	}
	const source, metric = "§4.4.2, Figure 8", "mean time for a task"
	per := func(t *traced) float64 { return t.perTask }
	spec := chart.BarsSpec{
		Head: chart.Head{Title: "Mean time for a task", Note: "Means with 95 % intervals.", Size: chart.Size{Width: 560, Height: 360}},
		X:    chart.Axis{Label: "how it is served"}, Y: chart.Axis{Label: "mean time", Kind: chart.Time, Zero: true}, Numbers: true,
	}
	bars := chart.BarSeries{Name: "simulated"}
	for i, p := range tracePolicies {
		times := lists.Map(runs[i], per)
		r.Add(experiment.Mean.Row(p.label, metric, "s", times).NotSimulatable("in the figure only", "trace", source),
			experiment.Mean.Row(p.label, "hand-outs of another batch than the last", "ratio", lists.Map(runs[i], func(t *traced) float64 { return t.switches })))
		spec.Groups = append(spec.Groups, p.label)
		experiment.Mean.Of(times).Bar(&bars)
	}
	spec.Series = []chart.BarSeries{bars}
	for _, c := range []struct {
		a, b  int
		words string
	}{{fair, individual, "slower in a bundle: context switches"}, {conscious, individual, "slower in a bundle: context switches"}, {fair, conscious, "WCFS lies between"}} {
		r.Add(experiment.Mean.Row(tracePolicies[c.a].label+" less "+tracePolicies[c.b].label, metric, "s", runs.less(c.a, c.b, per)).Orders(c.words, experiment.Above(0), source, ""))
	}
	more := experiment.Over(lists.Map(runs[fair], per), lists.Map(runs[individual], per))
	r.Add(experiment.Mean.Row("FS over individual batches", metric+", more", "ratio", more).Claims("the difference is minimal (here: within 25 %)", experiment.Within(-0.25, 0.25), source, "maybe-switches-cost-more"))
	r.Draw(experiment.Picture{Name: "fig8", Words: spec.Title, Chart: chart.Bars(spec)})
	return nil
}

// until is the time until a share of a class was done, see after.
func until(class int, share float64) func(*traced) float64 {
	return func(t *traced) float64 { return t.after(class, share) }
}

func runFig9(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	runs, err := traces(ctx, o)
	if err != nil {
		return err
	}
	const source = "§4.4.3, Figure 9"
	r.Add(experiment.Mean.Row("individual batches", "a quarter of the small batches' tasks", "s", lists.Map(runs[individual], until(0, 0.25))).
		Against(experiment.Figure{Value: 500, Unit: 50}, source, "").NotSimulatable("", "trace", source))
	var panels []chart.Chart
	for c, class := range traceClasses {
		for _, p := range []int{fair, conscious} {
			who := tracePolicies[p].label + " less individual batches, " + class.Name
			r.Add(
				experiment.Mean.Row(who, "a quarter of the tasks", "s", runs.less(p, individual, until(c, 0.25))).Orders("individual batches started faster", experiment.Above(0), source, "maybe-visible-batches"),
				experiment.Mean.Row(who, "all of the tasks", "s", runs.less(p, individual, until(c, 1))).Orders("individual batches ended last", experiment.Below(0), source, "maybe-large-first"))
		}
		spec := chart.LinesSpec{
			Head: chart.Head{Title: class.Name, Size: chart.Size{Width: 400, Height: 320}},
			X:    chart.Axis{Label: "time", Kind: chart.Time, Zero: true}, Y: chart.Axis{Label: "tasks done", Kind: chart.Percent, Zero: true, Max: 1},
		}
		for p, policy := range tracePolicies {
			line := chart.Series{Name: policy.label}
			for share := 0.02; share <= 1.0001; share += 0.02 {
				line.X = append(line.X, experiment.Mean.Of(lists.Map(runs[p], until(c, math.Min(share, 1)))).Value)
				line.Y = append(line.Y, math.Min(share, 1))
			}
			spec.Series = append(spec.Series, line)
		}
		panels = append(panels, chart.Lines(spec))
	}
	r.Draw(experiment.Panels("fig9", "When the tasks of small, medium and large batches were done", chart.GridSpec{
		Head:   chart.Head{Alt: "Three panels of cumulative shares over time", Size: chart.Size{Width: 1200, Height: 400}},
		Panels: panels, Columns: 3,
	}))
	return nil
}

func runFig10(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	runs, err := traces(ctx, o)
	if err != nil {
		return err
	}
	const source = "§4.4.3, Figure 10"
	most := until(-1, 0.95)
	for _, p := range []int{fair, conscious} {
		r.Add(experiment.Mean.Row(tracePolicies[p].label+" before individual batches", "95 % of the tasks", "s", runs.less(individual, p, most)).
			Against(experiment.Figure{Value: 750, Unit: 300}, source, "").NotSimulatable("10 to 15 minutes", "trace, maybe-trace-both-end", source))
	}
	spread := func(t *traced) float64 { return t.after(0, 0.5) / t.after(-1, 0.5) } // small batches against all, at half of the tasks
	for _, p := range []int{fair, conscious} {
		r.Add(experiment.Mean.Row(tracePolicies[p].label+" less individual batches", "half of the small batches' tasks, against half of all", "ratio", runs.less(p, individual, spread)).
			Orders("FS and WCFS balance the load: small batches do not starve", experiment.Below(0), source, ""))
	}
	var panels []chart.Chart
	for i, p := range tracePolicies {
		r.Add(experiment.Mean.Row(p.label, "95 % of the tasks", "s", lists.Map(runs[i], most)))
		panels = append(panels, allocation(p.label, runs[i][0].out))
	}
	r.Draw(experiment.Panels("fig10", "People at work by batch", chart.GridSpec{
		Head:   chart.Head{Alt: "Three stacks over time: who works on which of 28 batches", Size: chart.Size{Width: 920, Height: 860}},
		Panels: panels, Columns: 1,
	}))
	return nil
}

// allocation draws who worked on what in a run, up to the last answer.
func allocation(title string, out *sim.Outcome) chart.Chart {
	spec := chart.StackSpec{
		Head: chart.Head{Title: title, Size: chart.Size{Width: 900, Height: 260}},
		X:    chart.Axis{Label: "time", Kind: chart.Time}, Y: chart.Axis{Label: "people at work", Zero: true},
		Stepped: true,
	}
	samples := out.Samples.List
	for len(samples) > 1 && samples[len(samples)-1].Working == 0 {
		samples = samples[:len(samples)-1]
	}
	for k := range out.Batches {
		spec.Layers = append(spec.Layers, chart.Layer{Name: out.Batches[k].Name, Y: make([]float64, len(samples))})
	}
	for i := range samples {
		spec.At = append(spec.At, samples[i].At.Seconds())
		for _, a := range samples[i].Allocation {
			spec.Layers[a.Batch].Y[i] = float64(a.Running)
		}
	}
	return chart.Stack(spec)
}
