package cli

import (
	"cmp"
	"io"
	"slices"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/label"
)

// How much a picture of labels shows.
const (
	drawnWorkers = 40
	drawnClasses = 12
	drawnBins    = 10
)

// drawLabels draws workers' skills, how answers and labels go together, and how sure the
// labels are, against known ones where there are some, as SVG.
func drawLabels(w io.Writer, r *label.Result, known label.Truth) error {
	panels := []chart.Chart{skillChart(r)}
	if len(r.Data.Classes()) <= drawnClasses {
		panels = append(panels, confusionChart(r))
	}
	panels = append(panels, confidenceChart(r, known))
	svg, err := chart.Grid(chart.GridSpec{
		Head: chart.Head{Title: "Labels by " + r.Method, Alt: "Skills of workers with their bounds, answers against labels, and how sure the labels are",
			Size: chart.Size{Width: 900, Height: 360 * float64((len(panels)+1)/2)}},
		Panels: panels, Columns: 2,
	}).SVG()
	if err != nil {
		return err
	}
	_, err = w.Write(svg)
	return err
}

// skillChart shows the workers with the most answers, the least skilled first.
func skillChart(r *label.Result) chart.Chart {
	list := r.Reliabilities()
	all := len(list)
	slices.SortStableFunc(list, func(a, b label.Reliability) int { return cmp.Compare(b.Answers, a.Answers) })
	list = list[:min(all, drawnWorkers)]
	slices.SortStableFunc(list, func(a, b label.Reliability) int { return cmp.Compare(a.Skill, b.Skill) })
	points := chart.Points{Name: "worker"}
	for n, x := range list {
		points.X, points.Y = append(points.X, float64(n+1)), append(points.Y, x.Skill)
		points.YLo, points.YHi = append(points.YLo, x.Low), append(points.YHi, x.High)
	}
	note := "Bounds of 95 %."
	if all > len(list) {
		note = "The " + format.Count(len(list), "worker") + " with the most answers, of " + format.Count(all, "worker") + "; bounds of 95 %."
	}
	return chart.Scatter(chart.ScatterSpec{
		Head: chart.Head{Title: "How often workers are right", Note: note},
		X:    chart.Axis{Label: "workers, the least skilled first", Whole: true}, Y: chart.Axis{Label: "skill", Kind: chart.Percent, Min: 0, Max: 1},
		Series: []chart.Points{points},
	})
}

// confusionChart shows how often an answer is given to tasks of a label, against how often
// it is given at all: above 1 where they go together.
func confusionChart(r *label.Result) chart.Chart {
	classes := r.Data.Classes()
	count, given, of, n := make([][]float64, len(classes)), make([]float64, len(classes)), make([]float64, len(classes)), 0.0
	for k := range count {
		count[k] = make([]float64, len(classes))
	}
	for i, k := range r.Labels {
		_, labels := r.Data.Answers(i)
		for _, l := range labels {
			count[k][l]++
			given[l]++
			of[k]++
			n++
		}
	}
	for k := range count {
		for l := range count[k] {
			count[k][l] *= n / max(1, of[k]*given[l])
		}
	}
	names := lists.Map(classes, func(name string) string { return format.Clip(name, 14) })
	return chart.Heat(chart.HeatSpec{
		Head: chart.Head{Title: "Answers to tasks of each label", Note: "How often an answer is given where the label is so, as a multiple of how often it is given at all."},
		X:    chart.Axis{Label: "answer"}, Y: chart.Axis{Label: "label"}, Columns: names, Rows: names, Values: count,
	})
}

// confidenceChart holds the confidence of labels against how far single answers agree with
// them, and how often they are right.
func confidenceChart(r *label.Result, known label.Truth) chart.Chart {
	var sure, agree, tasks, right, scored [drawnBins]float64
	for i := range r.Labels {
		p := r.Confidence(i)
		bin := min(int(p*drawnBins), drawnBins-1)
		_, labels := r.Data.Answers(i)
		same := lists.Count(labels, func(l label.Class) bool { return l == r.Labels[i] })
		sure[bin] += p
		agree[bin] += float64(same) / float64(len(labels))
		tasks[bin]++
		if known != nil && known[i] != label.None {
			scored[bin]++
			if known[i] == r.Labels[i] {
				right[bin]++
			}
		}
	}
	accuracy := chart.Points{Name: "labels that are right", Joined: true}
	points := chart.Points{Name: "agreement of answers with the label", Joined: true}
	for bin, n := range tasks {
		if n > 0 {
			points.X, points.Y = append(points.X, sure[bin]/n), append(points.Y, agree[bin]/n)
			points.Labels = append(points.Labels, format.Count(int(n), "task"))
		}
		if scored[bin] > 0 {
			accuracy.X, accuracy.Y = append(accuracy.X, sure[bin]/n), append(accuracy.Y, right[bin]/scored[bin])
		}
	}
	series := []chart.Points{points}
	if len(accuracy.X) > 0 {
		series = append(series, accuracy)
	}
	return chart.Scatter(chart.ScatterSpec{
		Head: chart.Head{Title: "How sure labels are, and how far answers agree", Note: "Tasks in tenths of confidence. Confidence is what the method believes, not a promise of accuracy."},
		X:    chart.Axis{Label: "confidence of the label", Kind: chart.Percent, Min: 0, Max: 1}, Y: chart.Axis{Label: "share", Kind: chart.Percent, Min: 0, Max: 1},
		Series: series,
	})
}
