package dafs

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim"
)

// deskRuns is how many runs there are of a setting: range(1, 100).
const deskRuns = 99

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
	for i, d := range desk {
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
			load.Priority = max(load.Priority, 1) * (1 + 1e-9*float64(len(desk)-i))
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

// A deskWorld is a world of the five batches of Table 1.
type deskWorld interface {
	setup() *sim.Setup
	scheduling() string                   // the policy
	took(out *sim.Outcome) (s [6]float64) // seconds until B1 to B5 and all were completed
}

// completions runs a list of worlds and returns, by world, batch (the last: all)
// and repetition, the seconds until completion.
func completions[W deskWorld](ctx context.Context, o *experiment.Options, list []W) ([][6][]float64, error) {
	setups := make([]*sim.Setup, len(list))
	for i, w := range list {
		setups[i] = w.setup()
	}
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
func byBatch(worlds [][][6]float64) [][6][]float64 {
	results := make([][6][]float64, len(worlds))
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

// deskPolicies are Figure 11's. The program's RR is a uniform draw among the
// batches that have tasks, which the pull market is when nobody stays with a
// batch and sizes and prices do not matter.
// The program's SJF goes by the times of Table 1 to the end, which is to serve
// the batches in that order; ours learns the times from what it sees.
var deskPolicies = []struct {
	label, policy, of string
	order             []int
}{
	{"FIFO", "fifo", "FIFO", nil},
	{"SJF, as in the program: times as told", "fifo", "SJF", []int{3, 2, 4, 1, 0}},
	{"RR, as in the program: at random", "market(size=0,price=0,stay=0)", "RR", nil},
	{"FS, as in the program: equals as listed", "wfs", "FS", nil},
	{"FS, equals in turn", "fs", "FS", nil},
	{"SJF, times as observed", "sjf", "", nil},
	{"RR in turn", "rr", "", nil},
}

var deskCrowds = []int{10, 20, 50, 100, 200}

func runFig11(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
	var list []bench
	for _, p := range deskPolicies {
		for _, w := range deskCrowds {
			list = append(list, bench{workers: w, policy: p.policy, order: p.order, listed: p.policy == "wfs"})
		}
	}
	took, err := completions(ctx, o, list)
	if err != nil {
		return nil, err
	}
	at := func(policy, crowd int) *[6][]float64 { return &took[policy*len(deskCrowds)+crowd] }
	r := &experiment.Result{}
	r.Rows = append(r.Rows, figure11Claims(at)...)
	for p, policy := range deskPolicies {
		for w, workers := range deskCrowds {
			label := fmt.Sprintf("%s, %d workers", policy.label, workers)
			for b, name := range batchNames {
				s := at(p, w)[b]
				if policy.of == "" {
					if name == "all" {
						r.Rows = append(r.Rows, experiment.Ours(label, "completion of "+name, "s", experiment.Mean, s))
					}
					continue
				}
				for _, f := range figure11 {
					if f.workers == workers && f.policy == policy.of {
						m := f.took[b]
						r.Rows = append(r.Rows, experiment.Compare(label, "completion of "+name, "s", experiment.Mean, s, experiment.OfMean(m.mean, m.sd, deskRuns, 0.01),
							"an event-driven program by the rules of scheduler.py, 99 runs", whyFig11(policy.policy)))
					}
				}
			}
		}
	}
	r.Rows = append(r.Rows, agreeing(r.Rows))
	r.Pictures = append(r.Pictures, figure11Chart(at))
	return r, nil
}

// whyFig11 is why a completion is not the stand-in's.
func whyFig11(policy string) string {
	if policy == "fs" {
		return "listed-equals"
	}
	return "chance-of-120"
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
		if list[i].Verdict == experiment.Reproduced {
			agree++
		}
	}
	r := experiment.NewRow("FIFO, SJF, RR and FS as in the program", "figures that agree with the published ones", "ratio", experiment.ShareOf(agree, all))
	r.Statistic, r.Claim, r.Source = fmt.Sprintf("share of %d", all), "95 %, if nothing but chance is between them", "the meaning of a 95 % interval"
	r.Decide(experiment.Within(0, 1), "")
	if float64(r.High) < 0.95 {
		r.Verdict, r.Why = experiment.Differs, "more-than-chance"
	}
	return r
}

// figure11Claims are the sentences of §4.5.1.
func figure11Claims(at func(policy, crowd int) *[6][]float64) []experiment.Row {
	const fifo, sjf, rr, fs = 0, 1, 2, 3
	spread := func(took *[6][]float64) []float64 { // of the batches' completions, against the mean
		list := make([]float64, len(took[0]))
		for i := range list {
			sum, squares := 0.0, 0.0
			for b := range desk {
				sum += took[b][i]
				squares += took[b][i] * took[b][i]
			}
			m := sum / 5
			list[i] = math.Sqrt(squares/5-m*m) / m
		}
		return list
	}
	const source = "§4.5.1"
	var rows []experiment.Row
	for i := 1; i < len(deskCrowds); i++ {
		rows = append(rows, experiment.Claim(fmt.Sprintf("FS, %d workers against %d", deskCrowds[i], deskCrowds[i-1]), "completion of all, more", "ratio", experiment.Mean,
			over(at(fs, i)[5], at(fs, i-1)[5]), "a larger pool is faster", experiment.Below(0), source, ""))
	}
	for _, p := range []struct {
		i    int
		name string
	}{{rr, "RR"}, {fs, "FS"}} {
		rows = append(rows, experiment.Claim(p.name+" against FIFO, 10 workers", "completion of all, more", "ratio", experiment.Mean,
			over(at(p.i, 0)[5], at(fifo, 0)[5]), "about the same time (here: within 5 %)", experiment.Within(-0.05, 0.05), source, ""))
	}
	for w, workers := range deskCrowds {
		rows = append(rows, experiment.Claim(fmt.Sprintf("SJF against FIFO, %d workers", workers), "completion of all, more", "ratio", experiment.Mean,
			over(at(sjf, w)[5], at(fifo, w)[5]), "SJF is significantly worse (here: 5 %)", experiment.Above(0.05), source,
			"sjf-small-crowd"))
	}
	for _, c := range []struct {
		few, many int
		why       string
	}{
		{0, 3, "sjf-other-way"},
		{3, 4, ""},
	} {
		few, many := over(at(sjf, c.few)[5], at(fifo, c.few)[5]), over(at(sjf, c.many)[5], at(fifo, c.many)[5])
		rows = append(rows, experiment.Claim(fmt.Sprintf("SJF against FIFO, %d workers less %d", deskCrowds[c.few], deskCrowds[c.many]), "completion of all, more", "ratio", experiment.Mean,
			minus(few, many), "SJF is worse when the workforce is reduced", experiment.Above(0), source, c.why))
	}
	rows = append(rows,
		experiment.Claim("FIFO, 10 workers", "B1 before B5, by", "s", experiment.Mean, minus(at(fifo, 0)[4], at(fifo, 0)[0]), "FIFO gives an advantage to its preferred batches", experiment.Above(0), source, ""),
		experiment.Claim("SJF, 10 workers", "B4 before B1, by", "s", experiment.Mean, minus(at(sjf, 0)[0], at(sjf, 0)[3]), "SJF gives an advantage to its preferred batches", experiment.Above(0), source, ""),
		experiment.Claim("FIFO less RR, 10 workers", "spread of the batches' completions", "ratio", experiment.Mean, minus(spread(at(fifo, 0)), spread(at(rr, 0))), "RR is fairer to the batches", experiment.Above(0), source, ""),
		experiment.Claim("FIFO less FS, 10 workers", "spread of the batches' completions", "ratio", experiment.Mean, minus(spread(at(fifo, 0)), spread(at(fs, 0))), "FS is fairer to the batches", experiment.Above(0), source, ""),
		experiment.Claim("FS less RR, 10 workers", "spread of the batches' completions", "ratio", experiment.Mean, minus(spread(at(fs, 0)), spread(at(rr, 0))), "FS has a slightly higher variance than RR", experiment.Above(0), source, ""),
	)
	return rows
}

func minus(a, b []float64) []float64 {
	list := make([]float64, len(a))
	for i := range a {
		list[i] = a[i] - b[i]
	}
	return list
}

func figure11Chart(at func(policy, crowd int) *[6][]float64) experiment.Picture {
	var panels []chart.Chart
	for w, workers := range deskCrowds {
		boxes := chart.BoxesSpec{
			Head: chart.Head{Title: fmt.Sprintf("%d workers", workers), Size: chart.Size{Width: 560, Height: 280}},
			X:    chart.Axis{Label: "batch"}, Y: chart.Axis{Label: "completed after", Kind: chart.Time, Zero: true}, Groups: batchNames,
		}
		for p, policy := range deskPolicies {
			if policy.of == "" || policy.policy == "fs" {
				continue
			}
			boxes.Series = append(boxes.Series, chart.BoxSeries{Name: policy.of, Values: at(p, w)[:]})
		}
		panels = append(panels, chart.Boxes(boxes))
	}
	spec := chart.LinesSpec{
		Head: chart.Head{Title: "all five batches", Size: chart.Size{Width: 560, Height: 280}},
		X:    chart.Axis{Label: "workers", Kind: chart.Log}, Y: chart.Axis{Label: "completed after", Kind: chart.LogTime},
	}
	for p, policy := range deskPolicies {
		if policy.of == "" || policy.policy == "fs" {
			continue
		}
		line := chart.Series{Name: policy.of, Markers: true}
		for w, workers := range deskCrowds {
			line.X, line.Y = append(line.X, float64(workers)), append(line.Y, experiment.Mean.Of(at(p, w)[5]).Value)
		}
		spec.Series = append(spec.Series, line)
	}
	panels = append(panels, chart.Lines(spec))
	return experiment.Picture{Name: "fig11", Words: "Completion of B1 to B5 by policy and size of the crowd", Chart: chart.Grid(chart.GridSpec{
		Head:   chart.Head{Title: "Completion of B1 to B5 by policy and size of the crowd", Size: chart.Size{Width: 1120, Height: 900}},
		Panels: panels, Columns: 2,
	})}
}

var priorities = []float64{1, 5, 10, 20, 50}

// threadOverhead is what a task of the published program costs next to its sleep,
// in simulated seconds (in real ones a thousandth), if that is taken for constant. It
// is chosen so that all batches with priority 1 take as long as published; the
// other figures are not fitted.
const threadOverhead = 6.4

// forms12 are the ways in which Figure 12 is made: on the engine, where handing out
// and booking take no time; there with a constant for that; and in a model of the
// published program's threads.
var forms12 = []struct{ label, why, ratio string }{
	{
		"25 workers",
		"threads-cost",
		"threads-b2-ratio",
	},
	{
		"25 workers, with the threads' overhead",
		"overhead-not-constant",
		"overhead-not-constant",
	},
	{
		"25 workers as threads",
		"threads-fitted",
		"threads-fitted",
	},
}

func runFig12(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
	var plain, charged []bench
	var threads []threaded
	for _, p := range priorities {
		b := bench{workers: 25, policy: "wfs", priority: p, listed: true}
		plain = append(plain, b)
		b.overhead = threadOverhead
		charged, threads = append(charged, b), append(threads, asThreads(p))
	}
	onEngine, err := completions(ctx, o, append(plain, charged...))
	if err != nil {
		return nil, err
	}
	asPublished, err := threadedCompletions(ctx, o, threads)
	if err != nil {
		return nil, err
	}
	n := len(priorities)
	took := [][][6][]float64{onEngine[:n], onEngine[n:], asPublished}
	r := &experiment.Result{}
	for form, f := range forms12 {
		r.Rows = append(r.Rows, figure12Rows(f.label, f.why, f.ratio, form > 0, took[form])...)
	}
	first, last := &took[0][0], &took[0][n-1]
	r.Rows = append(r.Rows, experiment.Claim("B2 with priority 50 less 1", "completion of B2", "s", experiment.Mean, minus(last[1], first[1]), "a priority makes its batch faster", experiment.Below(0), "§4.5.2, Figure 12", ""),
		experiment.Claim("B2 with priority 50 less 1", "completion of B4", "s", experiment.Mean, minus(last[3], first[3]), "while slightly degrading the others", experiment.Above(0), "§4.5.2, Figure 12", ""),
		experiment.Claim("B2 with priority 50 less 1", "completion of B1", "s", experiment.Mean, minus(last[0], first[0]), "while slightly degrading the others", experiment.Above(0), "§4.5.2, Figure 12",
			"b1-has-its-share"))
	r.Pictures = append(r.Pictures, figure12Chart(took[2]))
	return r, nil
}

// figure12Rows compares one form with what was published; whole reports whether all
// batches are, or only B2 and all together.
func figure12Rows(label, why, whyRatio string, whole bool, took [][6][]float64) []experiment.Row {
	const source = "full_run_priority_*.csv, 99 runs"
	var rows []experiment.Row
	base := &took[0]
	for i, p := range priorities {
		t, f := &took[i], figure12[i]
		who := fmt.Sprintf("B2 with priority %g, %s", p, label)
		for b, name := range batchNames {
			if whole || name == "B2" || name == "all" {
				rows = append(rows, experiment.Compare(who, "completion of "+name, "s", experiment.Mean, t[b], experiment.OfMean(f.took[b].mean, f.took[b].sd, deskRuns, 0.001), source, why))
			}
		}
		if i == 0 {
			continue
		}
		e := bootstrap(t[1], base[1], func(x, y []float64) float64 { return experiment.Mean.Of(x).Value / experiment.Mean.Of(y).Value })
		row := experiment.NewRow(who, "completion of B2 against that with priority 1", "ratio", e)
		row.Statistic, row.Source = fmt.Sprintf("ratio of means of %d", len(t[1])), source
		x, y := f.took[1], figure12[0].took[1]
		q := x.mean / y.mean
		own := 1.96 * q * math.Sqrt((x.sd*x.sd/x.mean/x.mean+y.sd*y.sd/y.mean/y.mean)/deskRuns)
		row.Judge(experiment.Figure{Value: q, Own: own}, whyRatio)
		rows = append(rows, row)
	}
	return rows
}

func figure12Chart(threads [][6][]float64) experiment.Picture {
	spec := chart.LinesSpec{
		Head: chart.Head{Title: "Completion by the priority of B2, FS, 25 workers", Alt: "B2 is completed sooner the higher its priority; the others hardly change",
			Note: "Lines: ours, in the model of the threads, with 95 % intervals. Points: published.", Size: chart.Size{Width: 760, Height: 440}},
		X: chart.Axis{Label: "priority of B2", Kind: chart.Log}, Y: chart.Axis{Label: "completed after", Kind: chart.Time, Zero: true},
	}
	for b, name := range batchNames[:5] {
		line, theirs := chart.Series{Name: name, Ink: b + 1}, chart.Series{Name: name + ", published", Dots: true, Ink: b + 1}
		for i, p := range priorities {
			e := experiment.Mean.Of(threads[i][b])
			line.X, line.Y = append(line.X, p), append(line.Y, e.Value)
			line.Lo, line.Hi = append(line.Lo, e.Low), append(line.Hi, e.High)
			theirs.X, theirs.Y = append(theirs.X, p), append(theirs.Y, figure12[i].took[b].mean)
		}
		spec.Series = append(spec.Series, line, theirs)
	}
	return experiment.Picture{Name: "fig12", Words: spec.Title, Chart: chart.Lines(spec)}
}
