package web

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/results"
)

// batchWorker shows one worker's part in a batch.
func (rq *request) batchWorker(id crowd.BatchID) error {
	asked := rq.r.URL.Query()
	wrong, method := asked.Get("wrong") != "", asked.Get("method")
	v, err := rq.App.Results.Worker(rq.ctx(), rq.p, id, results.WorkerQuery{Worker: rq.r.PathValue("worker"), Method: method, Wrong: wrong, Cursor: asked.Get("cursor"), Limit: resultsShown})
	if err != nil {
		return err
	}
	path := "/batches/" + id.String() + "/workers/" + url.PathEscape(v.By.Pseudonym)
	to := func(wrong bool, cursor string) string {
		q := url.Values{}
		for name, value := range map[string]string{"method": method, "cursor": cursor, "wrong": map[bool]string{true: "1"}[wrong]} {
			if value != "" {
				q.Set(name, value)
			}
		}
		if len(q) == 0 {
			return path
		}
		return path + "?" + q.Encode()
	}
	data := map[string]any{"V": v, "Wrong": wrong, "All": to(false, ""), "OnlyWrong": to(true, ""), "First": asked.Get("cursor") == "", "Method": method,
		"Disregards": v.Counted > 0 && v.Batch.Progress.State.Open() && v.Batch.Run == 0 && v.Batch.Spec.ReviewOf == 0}
	if v.Next != "" {
		data["Next"] = to(wrong, v.Next)
	}
	if data["Charts"], err = drawn(courseCharts(v)); err != nil {
		return err
	}
	return rq.render("batchworker", batchPage(fmt.Sprintf("%s in %s", v.By, v.Batch.Name), data))
}

// courseCharts draws how a worker did, answer by answer.
func courseCharts(v *results.WorkerView) []sketch {
	if len(v.Course) < 2 {
		return nil
	}
	last := v.Course[len(v.Course)-1]
	answers := chart.Axis{Label: "answers that were compared", Zero: true, Whole: true}
	x := lists.Map(v.Course, func(p results.CoursePoint) float64 { return float64(p.Answers) })
	share := func(name string, of func(*results.CoursePoint) results.Share, band bool) chart.Series {
		line := chart.Series{Name: name, X: x}
		for i := range v.Course {
			s := of(&v.Course[i])
			line.Y = append(line.Y, s.Of)
			if band {
				line.Lo, line.Hi = append(line.Lo, s.Low), append(line.Hi, s.High)
			}
		}
		return line
	}
	list := []sketch{{name: "How often were they right?", chart: func(size chart.Size) chart.Chart {
		return chart.Lines(chart.LinesSpec{
			Head: chart.Head{Size: size, Note: "Bands: 95 %.", Alt: fmt.Sprintf("Share of the answers that are right: of all %d at the end %s, of the last %d %s.", last.Answers, format.Percent(last.Right.Of, 1), min(last.Answers, results.CourseWindow), format.Percent(last.Recent.Of, 1))},
			X:    answers, Y: chart.Axis{Label: "right", Kind: chart.Percent, Zero: true, Min: 0, Max: 1},
			Series: []chart.Series{
				share("of all so far", func(p *results.CoursePoint) results.Share { return p.Right }, true),
				share(fmt.Sprintf("of the last %d", results.CourseWindow), func(p *results.CoursePoint) results.Share { return p.Recent }, true),
			},
		})
	}}}
	if !slices.ContainsFunc(v.Course, func(p results.CoursePoint) bool { return p.Checks > 0 }) {
		return list
	}
	return append(list, sketch{name: "Did they drift?", chart: func(size chart.Size) chart.Chart {
		line := chart.Series{X: x, Y: lists.Map(v.Course, func(p results.CoursePoint) float64 { return p.Drift })}
		return chart.Steps(chart.LinesSpec{
			Head: chart.Head{Size: size, Alt: fmt.Sprintf("Drift on known answers: %s at the end; above %s it is too much.", format.Number(v.Figures.Drift), format.Number(v.Bounds[0]))},
			X:    answers, Y: chart.Axis{Label: "drift", Zero: true}, Series: []chart.Series{line},
			Levels: lists.Map(v.Bounds[:min(len(v.Bounds), mostMarks)], func(bound float64) chart.Mark {
				return chart.Mark{At: bound, Text: "bound " + format.Number(bound)}
			}),
		})
	}})
}
