package dafs

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim"
)

// The groups of Figure 5: how many tasks of B6 a worker has before as many of B7.
var fig5Groups = []struct {
	name string
	run  int
}{{"RR", 1}, {"SEQ10", 10}, {"SEQ25", 25}}

const fig5Workers = 24

// fig5Worker returns a worker's mean time for a task, who does n tasks.
func fig5Worker(r *sim.Rand, run, n int) float64 {
	slow := betweenWorkers * r.Normal()
	sum, done := 0.0, [2]int{}
	for i := range n {
		kind := i / run % 2
		fit := kindFits[5+kind]
		done[kind]++
		ln := fit.ln + slow + fit.within*r.Normal() - learning*math.Log(float64(done[kind]))
		if i > 0 && i%run == 0 {
			ln += math.Log(switchFactor)
		}
		sum += math.Exp(ln)
	}
	return sum / float64(n)
}

// fig5Tasks is how many tasks a worker does: 10 to 100, as many as there were in
// the logs else (ln mean 2.16, ln sd 1.11).
func fig5Tasks(r *sim.Rand) int {
	return int(min(max(math.Round(math.Exp(2.16+1.11*r.Normal())), 10), 100))
}

func runFig5(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
	// The second half of a group's entries: everybody does 100 tasks.
	type group [2 * len(fig5GroupNames)][]float64
	const all = len(fig5GroupNames)
	runs, err := sim.Sweep(ctx, o.Reps, func(rep int) (group, error) {
		var g group
		for k, s := range fig5Groups {
			stream := sim.NewStream(o.Seed, rep, "figure 5 "+s.name)
			for w := range fig5Workers {
				r := stream.At(uint64(w))
				g[k] = append(g[k], fig5Worker(&r, s.run, fig5Tasks(&r)))
				g[all+k] = append(g[all+k], fig5Worker(&r, s.run, 100))
			}
		}
		return g, nil
	}, func(ended int) { o.Report(ended, o.Reps) })
	if err != nil {
		return nil, err
	}
	means := make([][]float64, 2*all)
	for _, g := range runs {
		for k := range g {
			means[k] = append(means[k], stats.Summarise(g[k]).Mean)
		}
	}
	r := &experiment.Result{}
	const source = "§4.2.3, Figure 5"
	for k, s := range fig5Groups {
		r.Rows = append(r.Rows, experiment.Ours(s.name, "mean time for a task", "s", experiment.Mean, means[k]).NotSimulatable("in the figure only",
			"times-not-published", source))
	}
	for k, s := range fig5Groups[1:] {
		r.Rows = append(r.Rows, experiment.Claim("RR less "+s.name, "mean time for a task", "s", experiment.Mean, minus(means[0], means[k+1]), "RR is the slowest", experiment.Above(0), source, ""))
		r.Rows = append(r.Rows, experiment.Claim("RR less "+s.name, "mean time for a task, 100 tasks each", "s", experiment.Mean, minus(means[all], means[all+k+1]), "RR is the slowest", experiment.Above(0), source, ""))
	}
	for k, s := range fig5Groups[1:] {
		for _, half := range []int{0, all} {
			found := 0
			for _, g := range runs {
				if rankSum(g[half], g[half+k+1]) < 0.05 {
					found++
				}
			}
			e := experiment.ShareOf(found, len(runs))
			row := experiment.NewRow("RR against "+s.name, "experiments of 24 people a group with p < 0.05 (rank sum)", "ratio", e)
			row.Statistic, row.Source = fmt.Sprintf("share of %d", len(runs)), source
			if half == all {
				row.Name += ", 100 tasks each"
			}
			must := experiment.Below(0.5)
			row.Claim = "not significant, p = 0.09"
			if s.name == "SEQ25" {
				must, row.Claim = experiment.Above(0.5), "significant, p < 0.05"
			}
			row.Decide(must, "too-few-people")
			r.Rows = append(r.Rows, row)
		}
	}
	spec := chart.BoxesSpec{
		Head: chart.Head{Title: "Mean time for a task, by worker", Alt: "Three boxes: RR is a little slower than SEQ10 and SEQ25", Note: fmt.Sprintf("%d workers a group in the experiment; here %d times as many.", fig5Workers, min(o.Reps, 40)), Size: chart.Size{Width: 620, Height: 400}},
		X:    chart.Axis{Label: "serving order"}, Y: chart.Axis{Label: "mean time", Kind: chart.LogTime}, Groups: fig5GroupNames[:],
	}
	series := chart.BoxSeries{Name: "simulated workers", Values: make([][]float64, len(fig5Groups))}
	for _, g := range runs[:min(len(runs), 40)] {
		for k := range fig5Groups {
			series.Values[k] = append(series.Values[k], g[k]...)
		}
	}
	spec.Series = []chart.BoxSeries{series}
	r.Pictures = append(r.Pictures, experiment.Picture{Name: "fig5", Words: spec.Title, Chart: chart.Boxes(spec)})
	return r, nil
}

var fig5GroupNames = [3]string{"RR", "SEQ10", "SEQ25"}

// rankSum returns the two-sided p of the Wilcoxon rank sum test, by its normal
// approximation; ties have measure zero here.
func rankSum(a, b []float64) float64 {
	all := slices.Concat(a, b)
	slices.Sort(all)
	sum := 0.0
	for _, v := range a {
		i, _ := slices.BinarySearch(all, v)
		sum += float64(i + 1)
	}
	n, m := float64(len(a)), float64(len(b))
	z := (sum - n*(n+m+1)/2) / math.Sqrt(n*m*(n+m+1)/12)
	return math.Erfc(math.Abs(z) / math.Sqrt2)
}
