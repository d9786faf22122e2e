package experiment

import (
	"context"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/sim"
)

// Repeat runs trials, each so many times as reps says, on all cores. It returns
// what came of them by trial and repetition, and reports progress.
func Repeat[T any](ctx context.Context, o *Options, reps []int, run func(trial, rep int) (T, error)) ([][]T, error) {
	type job struct{ trial, rep int }
	var jobs []job
	for rep, more := 0, true; more; rep++ { // by repetition, so that runs of like length come together
		more = false
		for i, n := range reps {
			if rep < n {
				jobs, more = append(jobs, job{i, rep}), true
			}
		}
	}
	list, err := sim.Sweep(ctx, len(jobs), func(i int) (T, error) { return run(jobs[i].trial, jobs[i].rep) }, func(ended int) { o.Report(ended, len(jobs)) })
	if err != nil {
		return nil, err
	}
	runs := make([][]T, len(reps))
	for i, j := range jobs {
		runs[j.trial] = append(runs[j.trial], list[i])
	}
	return runs, nil
}

// Minus returns a - b, repetition by repetition.
func Minus(a, b []float64) []float64 { return pairs(a, b, func(x, y float64) float64 { return x - y }) }

// Over returns a/b - 1, repetition by repetition.
func Over(a, b []float64) []float64 {
	return pairs(a, b, func(x, y float64) float64 { return x/y - 1 })
}

func pairs(a, b []float64, of func(x, y float64) float64) []float64 {
	return lists.Map(lists.Indices(len(a)), func(i int) float64 { return of(a[i], b[i]) })
}
