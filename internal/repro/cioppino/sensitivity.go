package cioppino

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/repro/experiment"
)

// The grid of the sensitivity: α of the paper, the mean time to come in seconds,
// and the rush hour in busy people; and the interval of control.
var (
	gridAbandon  = []float64{0.02, 0.05, 0.1, 0.2}
	gridArrive   = []float64{10, 30, 90, 180}
	gridPeak     = []float64{10, 20, high}
	gridInterval = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second}
)

// A cell is a world of the sensitivity.
type cell struct {
	name  string
	world poolWorld
}

// cells are the worlds by rush hour, α and time to come, and then those by interval
// of control and rush hour.
func cells(abandon, arrive []float64, interval []time.Duration) []cell {
	var list []cell
	for _, p := range gridPeak {
		for _, a := range abandon {
			for _, t := range arrive {
				w := generated(byTurns)
				w.high, w.abandon, w.arrive = p, a, t
				list = append(list, cell{fmt.Sprintf("rush hour %g, α = %g, %g s to come", p, a, t), w})
			}
		}
	}
	for _, d := range interval {
		for _, p := range gridPeak {
			w := generated(byTurns)
			w.high, w.step = p, d
			list = append(list, cell{fmt.Sprintf("rush hour %g, a step every %s", p, d), w})
		}
	}
	return list
}

func runCioppinoSensitivity(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	abandon, arrive, interval := gridAbandon, gridArrive, gridInterval
	if o.Small {
		abandon, arrive, interval = ends(abandon), ends(arrive), ends(interval)
	}
	cells := cells(abandon, arrive, interval)
	people := len(gridPeak) * len(abandon) * len(arrive) // of them, those by what people do
	var trials []trial
	for _, c := range cells {
		trials = append(trials, trial{baseline, c.world, o.Reps}, trial{throng, c.world, o.Reps})
	}
	runs, err := try(ctx, o, trials)
	if err != nil {
		return err
	}
	values := make([][]float64, len(gains))
	for i, c := range cells {
		for g := range gains {
			row := c.world.compare(c.name, gains[g], runs[2*i+1], runs[2*i])
			r.Add(row)
			values[g] = append(values[g], float64(row.Ours))
		}
	}
	rows, columns := labels("%g", abandon), labels("%g s", arrive)
	for k, p := range gridPeak {
		panels := lists.Map(lists.Indices(len(gains)), func(g int) chart.Chart {
			return heat(gains[g].metric, "time to come", "α: leave after a task", rows, columns, values[g][k*len(rows)*len(columns):])
		})
		r.Draw(heats(fmt.Sprintf("cioppino-sensitivity-%g", p), fmt.Sprintf("Gains of ours over the baseline, rush hour of %g busy people", p), panels))
	}
	panels := lists.Map(lists.Indices(len(gains)), func(g int) chart.Chart {
		return heat(gains[g].metric, "busy people in the rush hour", "control step", labels("%s", interval), labels("%g", gridPeak), values[g][people:])
	})
	r.Draw(heats("cioppino-sensitivity-interval", "Gains of ours over the baseline, by interval of control and load", panels))
	r.Note(belowNote(values, people))
	r.Note(systemsNote(o, baseline, throng))
	return nil
}

// belowNote counts the mean ratios, by gain, that are below 1 in the first worlds, those by
// what people do.
func belowNote(values [][]float64, people int) string {
	below := lists.Map(values, func(list []float64) (n int) {
		for _, mean := range list[:people] {
			if mean < 1 {
				n++
			}
		}
		return n
	})
	return fmt.Sprintf("Of %d worlds of abandonment, time to come and load, by the means of the repetitions ours has the lower throughput in %d, the higher cost in %d and the lower net preference in %d.", people, below[0], below[1], below[2])
}

// ends are the first and the last of a list.
func ends[T any](list []T) []T { return []T{list[0], list[len(list)-1]} }

func labels[T any](format string, list []T) []string {
	return lists.Map(list, func(x T) string { return fmt.Sprintf(format, x) })
}

// heat is a map of the first figures of a list, row by row.
func heat(title, x, y string, rows, columns []string, list []float64) chart.Chart {
	spec := chart.HeatSpec{
		Head: chart.Head{Title: title, Size: chart.Size{Width: 330, Height: 280}},
		X:    chart.Axis{Label: x}, Y: chart.Axis{Label: y}, Rows: rows, Columns: columns,
	}
	for i := range rows {
		spec.Values = append(spec.Values, list[i*len(columns):(i+1)*len(columns)])
	}
	return chart.Heat(spec)
}

func heats(name, words string, panels []chart.Chart) experiment.Picture {
	return experiment.Panels(name, words, chart.GridSpec{
		Head: chart.Head{
			Alt:  words + ": throughput, cost and net preference, as heat maps with numbers",
			Note: "Above 1 (blue) ours is the better; below 1 (orange, hatched) the baseline is.", Size: chart.Size{Width: 1000, Height: 340},
		},
		Panels: panels, Columns: 3,
	})
}
