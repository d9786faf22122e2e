package dafs

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim"
)

// figure12Runs is how many runs there are of a setting: range(1, 100).
const figure12Runs = 99

// shifted is a distribution with something added to each figure.
type shifted struct {
	sim.Dist
	by float64
}

func (s shifted) Draw(r *sim.Rand) float64 { return s.Dist.Draw(r) + s.by }
func (s shifted) Mean() float64            { return s.Dist.Mean() + s.by }
func (s shifted) String() string           { return fmt.Sprintf("%s, plus %g", s.Dist, s.by) }

// A bench is the world of Figures 11 and 12: five batches at the start, and so
// many workers who stay.
type bench struct {
	workers  int
	policy   string
	order    []int   // of launch, a microsecond apart: ties of time are not to decide; nil: as in Table 1
	priority float64 // of B2
	overhead float64 // s for each task, after its answer is in
	listed   bool    // equals are served in the order of the list
}

func (b bench) setup() *sim.Setup {
	s := &sim.Setup{
		Tenants: make([]sim.Tenant, 1),
		Groups:  []sim.Group{{Name: "crowd", Arrive: sim.Arrivals{Count: b.workers, From: time.Millisecond}}},
	}
	for i, d := range table1 {
		service := sim.Dist(sim.LogNormalByMode(d.mode, d.mode/2))
		if b.overhead > 0 {
			service = shifted{service, b.overhead}
		}
		s.Kinds = append(s.Kinds, sim.Kind{Name: d.name, Service: service})
		load := sim.Batch{Name: d.name, Kind: i, Tasks: d.tasks, TaskTime: experiment.Duration(d.mode)}
		if d.name == "B2" {
			load.Priority = b.priority
		}
		if b.listed { // a priority that decides between equals, and nothing else
			load.Priority = max(load.Priority, 1) * (1 + 1e-9*float64(len(table1)-i))
		}
		load.At = time.Duration(i) * time.Microsecond
		if b.order != nil {
			load.At = time.Duration(slices.Index(b.order, i)) * time.Microsecond
		}
		s.Batches = append(s.Batches, load)
	}
	return s
}

func (b bench) scheduling() string { return b.policy }

// took counts from the start.
func (b bench) took(out *sim.Outcome) (took [6]float64) {
	for _, d := range out.Batches {
		took[d.Kind] = d.Completed.Seconds() - b.overhead
		took[5] = math.Max(took[5], took[d.Kind])
	}
	return took
}

// A batchWorld is a world of the five batches of Table 1.
type batchWorld interface {
	setup() *sim.Setup
	scheduling() string                   // the policy
	took(out *sim.Outcome) (s [6]float64) // seconds until B1 to B5 and all were completed
}

// A completed world tells, by batch (the last: all) and repetition, the seconds
// until completion.
type completed [6][]float64

// completions runs a list of worlds.
func completions[W batchWorld](ctx context.Context, o *experiment.Options, list []W) ([]completed, error) {
	setups := lists.Map(list, func(w W) *sim.Setup { return w.setup() })
	runs, err := experiment.Repeat(ctx, o, slices.Repeat([]int{o.Reps}, len(list)), func(i, rep int) ([6]float64, error) {
		r := sim.Run{Setup: setups[i], Policy: list[i].scheduling(), Seed: o.Seed, Rep: rep}
		out, err := r.DoContext(ctx)
		if err != nil {
			return [6]float64{}, err
		}
		return list[i].took(out), nil
	})
	return byBatch(runs), err
}

// byBatch turns the completions of each world's repetitions into those of each
// batch by repetition.
func byBatch(worlds [][][6]float64) []completed {
	results := make([]completed, len(worlds))
	for i, runs := range worlds {
		for _, took := range runs {
			for k, t := range took {
				results[i][k] = append(results[i][k], t)
			}
		}
	}
	return results
}

// batchNames are the columns of completions.
var batchNames = []string{"B1", "B2", "B3", "B4", "B5", "all"}

// figure11Policies are Figure 11's. The program's RR is a uniform draw among the
// batches that have tasks, which the pull market is when nobody stays with a
// batch and sizes and prices do not matter.
// The program's SJF goes by the times of Table 1 to the end, which is to serve
// the batches in that order; ours learns the times from what it sees.
var figure11Policies = []struct {
	label, policy string
	order         []int
	of            string // which of the program's it is, if any
	why           string // it is not as the stand-in for the program has it
}{
	{"FIFO", "fifo", nil, "FIFO", "maybe-chance-of-120"},
	{"SJF, as in the program: times as told", "fifo", []int{3, 2, 4, 1, 0}, "SJF", "maybe-chance-of-120"},
	{"RR, as in the program: at random", "market(size=0,price=0,stay=0)", nil, "RR", "maybe-chance-of-120"},
	{"FS, as in the program: equals as listed", "wfs", nil, "FS", "maybe-chance-of-120"},
	{"FS, equals in turn", "fs", nil, "FS", "listed-equals"},
	{"SJF, times as observed", "sjf", nil, "", ""},
	{"RR in turn", "rr", nil, "", ""},
}

// The first of figure11Policies are the program's, which the claims and the picture
// are about.
const fifo, sjf, rr, fs, programs = 0, 1, 2, 3, 4

var figure11Crowds = []int{10, 20, 50, 100, 200}

// crowds are the completions by policy and size of the crowd.
type crowds []completed

func (c crowds) at(policy, crowd int) completed { return c[policy*len(figure11Crowds)+crowd] }

func runFig11(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	var list []bench
	for _, p := range figure11Policies {
		for _, w := range figure11Crowds {
			list = append(list, bench{workers: w, policy: p.policy, order: p.order, listed: p.policy == "wfs"})
		}
	}
	completed, err := completions(ctx, o, list)
	if err != nil {
		return err
	}
	took := crowds(completed)
	r.Add(took.claims()...)
	for p, policy := range figure11Policies {
		for w, workers := range figure11Crowds {
			label := fmt.Sprintf("%s, %d workers", policy.label, workers)
			row := func(b int) experiment.Row {
				return experiment.Mean.Row(label, "completion of "+batchNames[b], "s", took.at(p, w)[b])
			}
			if policy.of == "" {
				r.Add(row(5))
				continue
			}
			for b, m := range figure11Of(policy.of, workers) {
				r.Add(row(b).Against(experiment.OfMean(m.mean, m.sd, figure12Runs, 0.01), "an event-driven program by the rules of scheduler.py, 99 runs", policy.why).StandIn())
			}
		}
	}
	r.Add(agreeing(r.Rows))
	r.Draw(took.picture())
	return nil
}

// agreeing is the share of the figures of the program's policies that agree with
// the stand-in's: of independent ones 95 % do by the meaning of the intervals.
func agreeing(list []experiment.Row) experiment.Row {
	agree, all := 0, 0
	for i := range list {
		if list[i].Published.Missing() || !strings.Contains(list[i].Policy, "FIFO,") && !strings.Contains(list[i].Policy, "as in the program") {
			continue
		}
		all++
		if list[i].Why == experiment.AgreesWithStandIn {
			agree++
		}
	}
	r := experiment.NewRow("FIFO, SJF, RR and FS as in the program", "figures that agree with the stand-in's", "ratio", experiment.ShareOf(agree, all)).
		Of("share of %d", all)
	r.Claim, r.Source = "95 %, if nothing but chance is between them", "the meaning of a 95 % interval"
	if float64(r.High) < 0.95 {
		r.Why = "more-than-chance"
	}
	return r
}

// spread is that of the batches' completions, against their mean.
func (c completed) spread() []float64 {
	list := make([]float64, len(c[0]))
	for i := range list {
		sum, squares := 0.0, 0.0
		for b := range table1 {
			sum += c[b][i]
			squares += c[b][i] * c[b][i]
		}
		m := sum / 5
		list[i] = math.Sqrt(squares/5-m*m) / m
	}
	return list
}

// claims are the sentences of §4.5.1.
func (c crowds) claims() []experiment.Row {
	var rows []experiment.Row
	claim := func(row experiment.Row, words string, must experiment.Side, why string) {
		row = row.Claims(words, must, "§4.5.1", why)
		if must == experiment.Above(0) || must == experiment.Below(0) {
			row = row.As(experiment.OfOrder)
		}
		rows = append(rows, row)
	}
	const more = "completion of all, more"
	for i := 1; i < len(figure11Crowds); i++ {
		claim(experiment.Mean.Row(fmt.Sprintf("FS, %d workers against %d", figure11Crowds[i], figure11Crowds[i-1]), more, "ratio", experiment.Over(c.at(fs, i)[5], c.at(fs, i-1)[5])),
			"a larger pool is faster", experiment.Below(0), "")
	}
	overFIFO := func(p, w int) []float64 { return experiment.Over(c.at(p, w)[5], c.at(fifo, w)[5]) }
	for _, p := range []int{rr, fs} {
		claim(experiment.Mean.Row(figure11Policies[p].of+" against FIFO, 10 workers", more, "ratio", overFIFO(p, 0)), "about the same time (here: within 5 %)", experiment.Within(-0.05, 0.05), "")
	}
	for w, workers := range figure11Crowds {
		claim(experiment.Mean.Row(fmt.Sprintf("SJF against FIFO, %d workers", workers), more, "ratio", overFIFO(sjf, w)), "SJF is significantly worse (here: 5 %)", experiment.Above(0.05), "maybe-sjf-small-crowd")
	}
	for _, x := range []struct {
		few, many int
		why       string
	}{{0, 3, "sjf-other-way"}, {3, 4, ""}} {
		claim(experiment.Mean.Row(fmt.Sprintf("SJF against FIFO, %d workers less %d", figure11Crowds[x.few], figure11Crowds[x.many]), more, "ratio", experiment.Minus(overFIFO(sjf, x.few), overFIFO(sjf, x.many))),
			"SJF is worse when the workforce is reduced", experiment.Above(0), x.why)
	}
	claim(experiment.Mean.Row("FIFO, 10 workers", "B1 before B5, by", "s", experiment.Minus(c.at(fifo, 0)[4], c.at(fifo, 0)[0])), "FIFO gives an advantage to its preferred batches", experiment.Above(0), "")
	claim(experiment.Mean.Row("SJF, 10 workers", "B4 before B1, by", "s", experiment.Minus(c.at(sjf, 0)[0], c.at(sjf, 0)[3])), "SJF gives an advantage to its preferred batches", experiment.Above(0), "")
	for _, x := range []struct {
		a, b  int
		words string
	}{{fifo, rr, "RR is fairer to the batches"}, {fifo, fs, "FS is fairer to the batches"}, {fs, rr, "FS has a slightly higher variance than RR"}} {
		claim(experiment.Mean.Row(fmt.Sprintf("%s less %s, 10 workers", figure11Policies[x.a].of, figure11Policies[x.b].of), "spread of the batches' completions", "ratio",
			experiment.Minus(c.at(x.a, 0).spread(), c.at(x.b, 0).spread())), x.words, experiment.Above(0), "")
	}
	return rows
}

func (c crowds) picture() experiment.Picture {
	size := chart.Size{Width: 560, Height: 280}
	var panels []chart.Chart
	for w, workers := range figure11Crowds {
		boxes := chart.BoxesSpec{
			Head: chart.Head{Title: fmt.Sprintf("%d workers", workers), Size: size},
			X:    chart.Axis{Label: "batch"}, Y: chart.Axis{Label: "completed after", Kind: chart.Time, Zero: true}, Groups: batchNames,
		}
		for p, policy := range figure11Policies[:programs] {
			took := c.at(p, w)
			boxes.Series = append(boxes.Series, chart.BoxSeries{Name: policy.of, Values: took[:]})
		}
		panels = append(panels, chart.Boxes(boxes))
	}
	spec := chart.LinesSpec{
		Head: chart.Head{Title: "all five batches", Size: size},
		X:    chart.Axis{Label: "workers", Kind: chart.Log}, Y: chart.Axis{Label: "completed after", Kind: chart.LogTime},
	}
	for p, policy := range figure11Policies[:programs] {
		line := chart.Series{Name: policy.of, Markers: true}
		for w, workers := range figure11Crowds {
			line.X, line.Y = append(line.X, float64(workers)), append(line.Y, experiment.Mean.Of(c.at(p, w)[5]).Value)
		}
		spec.Series = append(spec.Series, line)
	}
	return experiment.Panels("fig11", "Completion of B1 to B5 by policy and size of the crowd", chart.GridSpec{
		Head:   chart.Head{Size: chart.Size{Width: 1120, Height: 900}},
		Panels: append(panels, chart.Lines(spec)), Columns: 2,
	})
}

// threadOverhead is what a task of the published program costs next to its sleep,
// in simulated seconds (in real ones a thousandth), if that is taken for constant. It
// is chosen so that all batches with priority 1 take as long as published; the
// other figures are not fitted.
const threadOverhead = 6.4

// figure12Forms are the ways in which Figure 12 is made: on the engine, where handing
// out and booking take no time, so that only B2 and all are compared; there with a
// constant for that; and in a model of the published program's threads.
var figure12Forms = []struct {
	label      string
	batches    []int  // of batchNames
	fitted     []int  // of batchNames: those whose completion with priority 1 the costs were chosen by
	why, ratio string // the completions, and that of B2 by its priority, are not the published ones
}{
	{"25 workers", []int{1, 5}, nil, "threads-cost", "threads-b2-ratio"},
	{"25 workers, with the threads' overhead", []int{0, 1, 2, 3, 4, 5}, []int{5}, "overhead-not-constant", "overhead-not-constant"},
	{"25 workers as threads", []int{0, 1, 2, 3, 4, 5}, []int{0, 1, 2, 3, 4, 5}, "threads-fitted", "threads-fitted"},
}

func runFig12(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	var plain, charged []bench
	var threads []threaded
	for _, f := range figure12 {
		b := bench{workers: 25, policy: "wfs", priority: f.priority, listed: true}
		plain = append(plain, b)
		b.overhead = threadOverhead
		charged, threads = append(charged, b), append(threads, asThreads(f.priority))
	}
	took, err := completions(ctx, o, append(plain, charged...))
	if err != nil {
		return err
	}
	asPublished, err := threadedCompletions(ctx, o, threads)
	if err != nil {
		return err
	}
	took = append(took, asPublished...)
	n := len(figure12)
	for form := range figure12Forms {
		r.Add(figure12Rows(form, took[form*n:])...)
	}
	for _, c := range []struct {
		batch int
		words string
		must  experiment.Side
		why   string
	}{
		{1, "a priority makes its batch faster", experiment.Below(0), ""},
		{3, "while slightly degrading the others", experiment.Above(0), ""},
		{0, "while slightly degrading the others", experiment.Above(0), "b1-has-its-share"},
	} {
		r.Add(experiment.Mean.Row("B2 with priority 50 less 1", "completion of "+batchNames[c.batch], "s", experiment.Minus(took[n-1][c.batch], took[0][c.batch])).
			Orders(c.words, c.must, "§4.5.2, Figure 12", c.why))
	}
	r.Draw(figure12Chart(took[2*n:]))
	return nil
}

// figure12Rows compares one form with what was published.
func figure12Rows(form int, took []completed) []experiment.Row {
	const source = "full_run_priority_*.csv, 99 runs"
	var rows []experiment.Row
	f := figure12Forms[form]
	for i, theirs := range figure12 {
		who := fmt.Sprintf("B2 with priority %g, %s", theirs.priority, f.label)
		for _, b := range f.batches {
			row := experiment.Mean.Row(who, "completion of "+batchNames[b], "s", took[i][b]).
				Against(experiment.OfMean(theirs.took[b].mean, theirs.took[b].sd, figure12Runs, 0.001), source, f.why)
			if i == 0 && slices.Contains(f.fitted, b) {
				row = row.As(experiment.OfFitted)
			}
			rows = append(rows, row)
		}
		if i == 0 {
			continue
		}
		x, y := theirs.took[1], figure12[0].took[1]
		q := x.mean / y.mean
		own := 1.96 * q * math.Sqrt((x.sd*x.sd/x.mean/x.mean+y.sd*y.sd/y.mean/y.mean)/figure12Runs)
		rows = append(rows, ratioRow(who, "completion of B2 against that with priority 1", experiment.Mean, took[i][1], took[0][1]).
			Against(experiment.Figure{Value: q, Own: own}, source, f.ratio))
	}
	return rows
}

func figure12Chart(threads []completed) experiment.Picture {
	spec := chart.LinesSpec{
		Head: chart.Head{Title: "Completion by the priority of B2, FS, 25 workers", Alt: "B2 is completed sooner the higher its priority; the others hardly change",
			Note: "Lines: ours, in the model of the threads, with 95 % intervals. Points: published.", Size: chart.Size{Width: 760, Height: 440}},
		X: chart.Axis{Label: "priority of B2", Kind: chart.Log}, Y: chart.Axis{Label: "completed after", Kind: chart.Time, Zero: true},
	}
	for b, name := range batchNames[:5] {
		line, theirs := chart.Series{Name: name, Ink: b + 1}, chart.Series{Name: name + ", published", Dots: true, Ink: b + 1}
		for i, f := range figure12 {
			experiment.Mean.Of(threads[i][b]).Point(&line, f.priority)
			theirs.X, theirs.Y = append(theirs.X, f.priority), append(theirs.Y, f.took[b].mean)
		}
		spec.Series = append(spec.Series, line, theirs)
	}
	return experiment.Picture{Name: "fig12", Words: spec.Title, Chart: chart.Lines(spec)}
}
