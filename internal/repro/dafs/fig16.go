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
)

// nonFinite is what the authors' program records for an index that is no finite
// number.
const nonFinite = -3000

// An index is what the authors' program records as its fairness index: a value
// at each decision, -max_b S/x_b over the candidates, x being their weights but
// for the chosen one, which has the program's weight_plus. Those weights are of
// package authors; weight_plus of a best-effort batch is
// (R+1)/T, of one with a deadline its weight + ln(C/T). log is the program's
// option of that name: without it ln is left out.
type index struct {
	world  *synthetic
	log    bool
	x      []float64 // by the program's index of the batch
	listed []bool    // a candidate
	at     []float64 // s
	value  []float64
}

// place turns the position in a cast into the program's index: new batches first.
func (x *index) place(batch int) int {
	if batch < x.world.old {
		return x.world.newBatches() + batch
	}
	return batch - x.world.old
}

func (x *index) term(n, of int) float64 {
	share := float64(n) / float64(of)
	if x.log {
		return math.Log(share)
	}
	return share
}

// weight is that of a batch with so many running, of a deadline or not.
func (x *index) weight(v *sim.BatchView, running int) float64 {
	t := float64(v.Planned)
	if v.Deadline == 0 {
		return float64(running) / t
	}
	sum := 0.0
	for i := range running {
		sum += x.term(v.Completed+running-i, v.Planned)
	}
	return sum / t
}

// observe records the index of a decision.
func (x *index) observe(at time.Duration, batch int, open []sim.BatchView) {
	clear(x.listed)
	for i := range open {
		v := &open[i]
		running := v.Running
		if v.Batch == batch {
			running-- // as it was at the decision
		}
		if v.Planned-v.Completed-running <= 0 {
			continue
		}
		k := x.place(v.Batch)
		x.listed[k] = true
		x.x[k] = x.weight(v, running)
		if v.Batch != batch {
			continue
		}
		if v.Deadline == 0 {
			x.x[k] += 1 / float64(v.Planned)
		} else {
			x.x[k] += x.term(v.Completed, v.Planned)
		}
	}
	sum := 0.0
	for k, yes := range x.listed {
		if yes {
			sum += x.x[k]
		}
	}
	most, first := math.NaN(), true
	for k, yes := range x.listed {
		if !yes {
			continue
		}
		if q := sum / x.x[k]; first || q > most { // Python's max: a NaN stays only if it is the first
			most, first = q, false
		}
	}
	f := -most
	if math.IsNaN(f) || math.IsInf(f, 0) {
		f = nonFinite
	}
	x.at, x.value = append(x.at, at.Seconds()), append(x.value, f)
}

// share returns the share of decisions whose index is no finite number.
func (x *index) share() float64 {
	return float64(lists.Count(x.value, func(v float64) bool { return v == nonFinite })) / float64(len(x.value))
}

// nonFiniteShares are those of seed 1: what the published program records.
var nonFiniteShares = []struct {
	policy string
	window float64
	share  float64
}{
	// rounded to whole per cent
	{"DAFS", 1200, 0.47}, {"EDF", 2400, 0.58}, {"FS", 2400, 0.46}, {"SDAFS", 2400, 0.66},
}

// watched is a run with its index.
type watched struct {
	index *index
	jinf  float64 // share of the samples at which the paper's J∞ is finite
}

// A watchedVariant is a variant with its runs.
type watchedVariant struct {
	variant
	runs []*watched
}

// watch runs the program over both windows, the longer one once, and then the
// paper's formulas.
func watch(ctx context.Context, o *experiment.Options) ([]watchedVariant, error) {
	list := slices.Concat(variants(table2(1200), 0, program), variants(table2(2400), 0, program), variants(table2(1200), tableAlpha, formula))
	reps := make([]int, len(list))
	for i, v := range list {
		if reps[i] = 1; v.world.window == 1200 {
			reps[i] = o.Reps
		}
	}
	runs, err := experiment.Repeat(ctx, o, reps, func(i, rep int) (*watched, error) {
		v := list[i]
		r := sim.Run{Setup: v.world.setup(v.rule()), Policy: v.policy, Seed: o.Seed, Rep: rep, Record: sim.Record{Samples: 1200}}
		n := v.world.newBatches() + v.world.old
		x := &index{world: &v.world, log: true, x: make([]float64, n), listed: make([]bool, n)}
		if v.code() {
			r.Observe = x.observe
		}
		out, err := r.DoContext(ctx)
		if err != nil {
			return nil, err
		}
		return &watched{x, out.Metrics().Of("j_inf_finite")}, nil
	})
	if err != nil {
		return nil, err
	}
	return lists.Map(lists.Indices(len(list)), func(i int) watchedVariant { return watchedVariant{list[i], runs[i]} }), nil
}

func runFig16(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	all, err := watch(ctx, o)
	if err != nil {
		return err
	}
	for _, v := range all[:8] {
		const what = "decisions with an index that is not finite"
		shares := lists.Map(v.runs, func(w *watched) float64 { return w.index.share() })
		label := fmt.Sprintf("%s, %g s", v.label, v.world.window)
		for _, p := range nonFiniteShares {
			if p.policy == v.label && p.window == v.world.window && o.Seed == 1 {
				f := experiment.Figure{Value: p.share, Unit: 0.01}
				if f.Same = v.label == "EDF" || v.label == "FS"; !f.Same {
					f.Own = 0.05 // one run against another of the same scenario, with other service times
				}
				r.Add(experiment.NewRow(label+", seed 1", what, "ratio", experiment.Estimate{Value: shares[0], Low: shares[0], High: shares[0]}).
					Of("one run").Against(f, "the published program, re-run", "same-stream").StandIn())
			}
		}
		if v.world.window == 1200 {
			r.Add(experiment.Mean.Row(label, what, "ratio", shares))
		}
	}
	r.Add(figure16Claims(all[:4])...)
	for _, v := range all[8:] {
		r.Add(experiment.Mean.Row(v.name()+", 1200 s", "moments at which J∞ by eq. 2 is finite", "ratio", lists.Map(v.runs, func(w *watched) float64 { return w.jinf })))
	}
	r.Draw(figure16Chart(all[:4]))
	return nil
}

// recorded are the means of the index as recorded in a part of each run.
func (v watchedVariant) recorded(from, to float64) []float64 {
	return lists.Map(v.runs, func(w *watched) float64 {
		sum, n := 0.0, 0
		for i, at := range w.index.at {
			if at >= from && at < to {
				sum, n = sum+w.index.value[i], n+1
			}
		}
		return sum / float64(n)
	})
}

// figure16Claims are the sentences of §4.6.2, about the index as recorded.
func figure16Claims(list []watchedVariant) []experiment.Row {
	const source = "§4.6.2, Figure 16"
	var rows []experiment.Row
	dafs := list[3]
	for _, v := range list[:3] {
		rows = append(rows, experiment.Mean.Row("DAFS less "+v.label+", 1200 s", "index as recorded, mean", "", experiment.Minus(dafs.recorded(0, 1220), v.recorded(0, 1220))).
			Orders("DAFS keeps the index highest", experiment.Above(0), source, "maybe-finite-mean"))
	}
	for _, v := range list {
		must, words := experiment.Above(0), "the index rises as time passes"
		if v.label == "EDF" {
			must, words = experiment.Below(0), "all but EDF: the index does not rise"
		}
		rows = append(rows, experiment.Mean.Row(v.label+", 1200 s", "index as recorded, second half less first", "", experiment.Minus(v.recorded(600, 1220), v.recorded(0, 600))).
			Claims(words, must, source, "maybe-index-moves-with-load"))
	}
	return rows
}

func figure16Chart(list []watchedVariant) experiment.Picture {
	const step = 20.0
	value := chart.LinesSpec{
		Head: chart.Head{Title: "index where it is finite: median of 20 s", Size: chart.Size{Width: 860, Height: 330}},
		X:    chart.Axis{Label: "time", Kind: chart.Time}, Y: chart.Axis{Label: "recorded index"},
	}
	share := chart.LinesSpec{
		Head: chart.Head{Title: "decisions without a finite index", Size: chart.Size{Width: 860, Height: 330}},
		X:    chart.Axis{Label: "time", Kind: chart.Time}, Y: chart.Axis{Label: "share", Kind: chart.Percent, Zero: true, Max: 1},
	}
	for _, v := range list {
		x := v.runs[0].index
		a, b := chart.Series{Name: v.label}, chart.Series{Name: v.label}
		for from, i := 0.0, 0; from < v.world.window; from += step {
			var finite []float64
			all := 0
			for ; i < len(x.at) && x.at[i] < from+step; i++ {
				all++
				if x.value[i] != nonFinite {
					finite = append(finite, x.value[i])
				}
			}
			if all == 0 {
				continue
			}
			a.X, a.Y = append(a.X, from+step/2), append(a.Y, stats.Quantile(finite, 0.5))
			b.X, b.Y = append(b.X, from+step/2), append(b.Y, 1-float64(len(finite))/float64(all))
		}
		value.Series, share.Series = append(value.Series, a), append(share.Series, b)
	}
	return experiment.Panels("fig16", "The program's fairness index over 1,200 s, one scenario", chart.GridSpec{
		Head:   chart.Head{Title: "The authors' fairness index over 1,200 s, seed 1", Alt: "The recorded index of four policies over time, and the share of decisions at which it is not finite", Size: chart.Size{Width: 880, Height: 700}},
		Panels: []chart.Chart{chart.Lines(value), chart.Lines(share)}, Columns: 1,
	})
}
