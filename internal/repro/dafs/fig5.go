package dafs

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/lists"
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

// fig5Forms: everybody does as many tasks as they do, or 100.
var fig5Forms = []string{"", ", 100 tasks each"}

// A fig5Run is an experiment: the workers' mean times by form and group.
type fig5Run [2][3][]float64

func runFig5(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	all, err := experiment.Repeat(ctx, o, []int{o.Reps}, func(_, rep int) (run fig5Run, err error) {
		for k, s := range fig5Groups {
			stream := sim.NewStream(o.Seed, rep, "figure 5 "+s.name)
			for w := range fig5Workers {
				r := stream.At(uint64(w))
				// As many as there were in the logs else: ln mean 2.16, ln sd 1.11.
				tasks := int(min(max(math.Round(math.Exp(2.16+1.11*r.Normal())), 10), 100))
				run[0][k] = append(run[0][k], fig5Worker(&r, s.run, tasks))
				run[1][k] = append(run[1][k], fig5Worker(&r, s.run, 100))
			}
		}
		return run, nil
	})
	if err != nil {
		return err
	}
	runs := all[0]
	var means [2][3][]float64
	for _, run := range runs {
		for form := range run {
			for k, times := range run[form] {
				means[form][k] = append(means[form][k], stats.Summarise(times).Mean)
			}
		}
	}
	const source = "§4.2.3, Figure 5"
	for k, s := range fig5Groups {
		r.Add(experiment.Mean.Row(s.name, "mean time for a task", "s", means[0][k]).NotSimulatable("in the figure only", "times-not-published", source))
	}
	for k := 1; k < len(fig5Groups); k++ {
		for form, words := range fig5Forms {
			r.Add(experiment.Mean.Row("RR less "+fig5Groups[k].name, "mean time for a task"+words, "s", experiment.Minus(means[form][0], means[form][k])).Orders("RR is the slowest", experiment.Above(0), source, "maybe-too-few-people"))
		}
	}
	for _, c := range []struct {
		group int
		words string
		must  experiment.Side
	}{{1, "not significant, p = 0.09", experiment.Below(0.5)}, {2, "significant, p < 0.05", experiment.Above(0.5)}} {
		for form, words := range fig5Forms {
			found := lists.Count(runs, func(run fig5Run) bool { return rankSum(run[form][0], run[form][c.group]) < 0.05 })
			row := experiment.NewRow("RR against "+fig5Groups[c.group].name, "experiments of 24 people a group with p < 0.05 (rank sum)", "ratio", experiment.ShareOf(found, len(runs)))
			row.Name += words
			r.Add(row.Of("share of %d", len(runs)).Repeated(experiment.Mean, len(runs)).Claims(c.words, c.must, source, "maybe-too-few-people"))
		}
	}
	r.Draw(figure5(runs[:min(len(runs), 40)]))
	return nil
}

func figure5(runs []fig5Run) experiment.Picture {
	spec := chart.BoxesSpec{
		Head: chart.Head{Title: "Mean time for a task, by worker", Alt: "Three boxes: RR is a little slower than SEQ10 and SEQ25", Note: fmt.Sprintf("%d workers a group in the experiment; here %d times as many.", fig5Workers, len(runs)), Size: chart.Size{Width: 620, Height: 400}},
		X:    chart.Axis{Label: "serving order"}, Y: chart.Axis{Label: "mean time", Kind: chart.LogTime},
	}
	series := chart.BoxSeries{Name: "simulated workers"}
	for k, s := range fig5Groups {
		times := slices.Concat(lists.Map(runs, func(run fig5Run) []float64 { return run[0][k] })...)
		spec.Groups, series.Values = append(spec.Groups, s.name), append(series.Values, times)
	}
	spec.Series = []chart.BoxSeries{series}
	return experiment.Picture{Name: "fig5", Words: spec.Title, Chart: chart.Boxes(spec)}
}

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
