package web

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/results"
)

// resultsShown is how many tasks a page of results lists.
const resultsShown = 50

// resultView is a filter that is one click away.
type resultView struct {
	Name, Filter string
	Tasks        int
}

func resultViews(c *results.Counts, reviewed bool) []resultView {
	views := []resultView{{"All", "", c.All}, {"Disagree", "agree:no", c.Differ}, {"Tie", "tie:yes", c.Tie}, {"Wrong", "wrong:yes", c.Wrong},
		{"Undecided", "undecided:yes", c.Undecided}, {"Unanswered", "answers:0", c.Unanswered}, {"Corrected", "corrected:yes", c.Corrected}}
	if reviewed {
		views = append(views, resultView{"Reviewed", "reviewed:yes", c.Reviewed}, resultView{"Waiting for review", "review:waiting", c.Waiting})
	}
	return views
}

// results lists what came of a batch's tasks.
func (rq *request) results(id crowd.BatchID) error {
	asked := rq.r.URL.Query()
	text, method := asked.Get("q"), asked.Get("method")
	filter, wrong := results.ParseFilter(text)
	page, err := rq.App.Results.List(rq.ctx(), rq.p, id, results.Query{Filter: filter, Method: method, Cursor: asked.Get("cursor"), Limit: resultsShown})
	if crowd.CodeOf(err) == crowd.Invalid && text != "" {
		wrong = err
		page, err = rq.App.Results.List(rq.ctx(), rq.p, id, results.Query{Method: method, Limit: resultsShown})
	}
	if err != nil {
		return err
	}
	typed := text
	if wrong != nil { // what is shown is all there is
		text = ""
	}
	path := "/batches/" + id.String() + "/results"
	with := func(pairs ...string) string {
		q := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i+1] != "" {
				q.Set(pairs[i], pairs[i+1])
			}
		}
		if method != "" {
			q.Set("method", method)
		}
		if len(q) == 0 {
			return ""
		}
		return "?" + q.Encode()
	}
	data := map[string]any{"P": page, "Path": path, "Query": typed, "Method": method, "Wrong": wrong, "Views": resultViews(&page.Counts, page.Batch.ReviewedIn != 0), "To": func(filter string) string { return path + with("q", filter) },
		"Task": func(t crowd.TaskID) string {
			return path + "/" + strconv.FormatUint(uint64(t.N()), 10) + with("q", text)
		},
		"Down": func(format, rows string) string {
			return "/v1" + path + "/download" + with("filter", text, "format", format, "rows", rows, "spreadsheet", map[string]string{"csv": "true"}[format])
		}, "First": asked.Get("cursor") == ""}
	if page.Next != "" {
		data["Next"] = path + with("q", text, "cursor", page.Next)
	}
	if asked.Get("cursor") == "" && text == "" && page.Counted && page.Counts.All > page.Counts.Unanswered {
		summary, err := rq.App.Results.Summary(rq.ctx(), rq.p, id, method, "")
		if err != nil {
			return err
		}
		data["Summary"] = summary
		if data["Charts"], err = drawn(resultCharts(summary)); err != nil {
			return err
		}
	}
	return rq.render("results", batchPage("Results of "+page.Batch.Name, data))
}

// batchPage is a page of the batches' section.
func batchPage(title string, data any) page {
	return page{Title: title, Section: "batches", Data: data}
}

// result shows a task with all that came of it.
func (rq *request) result(id crowd.BatchID) error {
	t, err := rq.taskOf(id)
	if err != nil {
		return err
	}
	n := uint64(t.N())
	v, err := rq.App.Results.Task(rq.ctx(), rq.p, t, rq.r.URL.Query().Get("method"))
	if err != nil {
		return err
	}
	path, q := "/batches/"+id.String()+"/results", ""
	if f := rq.r.URL.Query().Get("q"); f != "" {
		q = "?" + url.Values{"q": {f}}.Encode()
	}
	data := map[string]any{"V": v, "Path": path, "Back": path + q, "SendsBack": sendsBack(v), "Sending": strings.HasSuffix(rq.r.URL.Path, "/send-back")}
	for name, at := range map[string]uint64{"Before": n - 1, "After": n + 1} {
		if at > 0 && at <= uint64(v.Batch.Spec.Tasks) {
			data[name] = path + "/" + strconv.FormatUint(at, 10) + q
		}
	}
	return rq.render("result", batchPage(fmt.Sprintf("Task %d of %s", n, v.Batch.Name), data))
}

// sendsBack reports whether an answer to a task can be sent back.
func sendsBack(v *results.TaskView) bool {
	return v.Batch.Progress.State.Open() && v.Batch.Run == 0 && v.Batch.Spec.ReviewOf == 0 && v.Row.Corrected == nil && (v.Row.Review == nil || !v.Row.Review.State.Done()) &&
		slices.ContainsFunc(v.Row.Answers, func(a results.Answer) bool { return a.Counted })
}

// taskOf is the task of the path, of a batch.
func (rq *request) taskOf(id crowd.BatchID) (crowd.TaskID, error) {
	n, err := strconv.ParseUint(rq.r.PathValue("task"), 10, 32)
	if err != nil {
		return 0, rq.notFound()
	}
	return id.Task(uint32(n)), nil
}

// correct says what the label of a task is.
func (rq *request) correct(id crowd.BatchID) error {
	t, err := rq.taskOf(id)
	if err != nil {
		return err
	}
	f := rq.sent()
	_, err = rq.App.Results.Correct(rq.ctx(), rq.p, t, f.text("value"), f.text("note"))
	return rq.done(err, resultPath(t), "corrected")
}

// withdraw takes the correction of a task back.
func (rq *request) withdraw(id crowd.BatchID) error {
	t, err := rq.taskOf(id)
	if err != nil {
		return err
	}
	_, err = rq.App.Results.Withdraw(rq.ctx(), rq.p, t, "")
	return rq.done(err, resultPath(t), "reverted")
}

// sendBack sends an answer to a task back.
func (rq *request) sendBack(id crowd.BatchID) error {
	t, err := rq.taskOf(id)
	if err != nil {
		return err
	}
	f := rq.sent()
	_, err = rq.App.Batches.SendBack(rq.ctx(), rq.p, id, batches.SentBack{Task: t.N(), Worker: f.text("worker"), Comment: f.text("comment"), AddBudget: f.text("add_budget") != ""})
	return rq.done(err, resultPath(t), "sentback")
}

func resultPath(t crowd.TaskID) string {
	return fmt.Sprintf("/batches/%s/results/%d", t.Batch(), t.N())
}

// resultCharts draws what came of a batch.
func resultCharts(s *results.Summary) []sketch {
	var list []sketch
	if len(s.Labels) > 0 {
		list = append(list, sketch{name: "What came out?", chart: func(size chart.Size) chart.Chart {
			shown := s.Labels[:min(len(s.Labels), 6)]
			return chart.Bars(chart.BarsSpec{
				Head: chart.Head{Size: size, Alt: fmt.Sprintf("Tasks by their label of %s: most, %s, are %s.", s.Field, plural(shown[0].Tasks, "task"), clipped(shown[0].Value))},
				X:    chart.Axis{Label: s.Field}, Y: chart.Axis{Label: "tasks", Zero: true, Whole: true}, Numbers: true,
				Groups: lists.Map(shown, func(l results.LabelUse) string { return clipped(l.Value) }),
				Series: []chart.BarSeries{{Values: lists.Map(shown, func(l results.LabelUse) float64 { return float64(l.Tasks) })}},
			})
		}})
	}
	if len(s.Sure) > 1 {
		list = append(list, sketch{name: "How sure are the labels?", chart: func(size chart.Size) chart.Chart {
			low := lists.Count(s.Sure, func(x float64) bool { return x < .9 })
			line := chart.Series{X: lists.Map(lists.Indices(21), func(i int) float64 { return float64(i) / 20 })}
			for _, x := range line.X {
				line.Y = append(line.Y, float64(lists.Count(s.Sure, func(sure float64) bool { return sure <= x })))
			}
			return chart.Steps(chart.LinesSpec{
				Head: chart.Head{Size: size, Alt: fmt.Sprintf("Labels that are at most so sure: %d of %d are below .90.", low, len(s.Sure))},
				X:    chart.Axis{Label: "confidence at most", Zero: true, Min: 0, Max: 1}, Y: chart.Axis{Label: "tasks", Zero: true, Whole: true}, Series: []chart.Series{line},
			})
		}})
	}
	if n := len(s.Answered); n > 1 && s.Answered[n-1].After(s.Answered[0]) {
		list = append(list, sketch{name: "When did answers come?", chart: func(size chart.Size) chart.Chart {
			line := chart.Series{}
			for i, t := range s.Answered {
				line.X, line.Y = append(line.X, at(t)), append(line.Y, float64(i+1))
			}
			return chart.Steps(chart.LinesSpec{
				Head: chart.Head{Size: size, Alt: fmt.Sprintf("Answers over time: %s from %s to %s UTC.", plural(n, "answer"), s.Answered[0].UTC().Format(time.DateTime), s.Answered[n-1].UTC().Format(time.DateTime))},
				X:    chart.Axis{Label: "time", Unit: "UTC", Kind: chart.Clock, Min: at(s.Answered[0]), Max: at(s.Answered[n-1])}, Y: chart.Axis{Label: "answers", Zero: true, Whole: true}, Series: []chart.Series{line},
			})
		}})
	}
	return list
}

func clipped(text string) string {
	if text == "" {
		return "(empty)"
	}
	return format.Clip(text, 18)
}
