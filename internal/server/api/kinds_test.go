package api_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/label"
)

// launchExample makes and launches a batch of the example of a kind, whose row is
// uploaded as a line of JSON.
func (w *world) launchExample(d *task.Descriptor, answers int) crowd.BatchID {
	w.t.Helper()
	def := definition()
	def.Template = must(json.Marshal(d.Example.Template))(w.t)
	def.Redundancy = ptr(label.Count(answers))
	b := must(w.ann.CreateBatch(w.ctx, def))(w.t)
	row := make(map[string]string)
	for i, column := range d.Example.Row.Columns {
		row[column] = d.Example.Row.Cells[i]
	}
	up := must(w.ann.Upload(w.ctx, b.ID, bytes.NewReader(must(json.Marshal(row))(w.t)), "jsonl", false))(w.t)
	if up.Tasks != 1 {
		w.t.Fatalf("uploaded %+v", up)
	}
	must(w.ann.Launch(w.ctx, b.ID, true))(w.t)
	return b.ID
}

// labels are the labels of a batch as the API exports them, with the header.
func (w *world) labels(id crowd.BatchID, method string) [][]string {
	w.t.Helper()
	var file bytes.Buffer
	ok(w.t, w.ann.Labels(w.ctx, id, &file, client.TableForm{Format: "csv"}, method))
	return must(csv.NewReader(&file).ReadAll())(w.t)
}

// Each kind goes from its example over HTTP to a label: the row is shown, a wrong
// answer is refused by the name of its field, the answer counts.
func TestEveryKindOverHTTP(t *testing.T) {
	t.Parallel()
	for _, d := range task.Descriptors() {
		t.Run(string(d.Kind), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.launchExample(d, 1)
			work := w.next(w.workers[0])
			if work.View.Kind != d.Kind || work.View.Framed() != d.Framed || len(work.View.Controls) == 0 {
				t.Errorf("shown as %+v", work.View)
			}
			if (work.HTML != "") != d.Framed {
				t.Errorf("the frame's document is %q", work.HTML)
			}
			for i, column := range d.Example.Row.Columns {
				if work.Values.Get(column) != d.Example.Row.Cells[i] {
					t.Errorf("%s is %q", column, work.Values.Get(column))
				}
			}
			_, _, err := w.workers[0].Submit(w.ctx, work.Assignment, d.Example.Wrong, false, 0)
			refused(t, err, crowd.Invalid)
			var wrong map[string]json.RawMessage
			ok(t, json.Unmarshal(d.Example.Wrong, &wrong))
			var bad *crowd.Error
			if !errors.As(err, &bad) || wrong[bad.Field] == nil {
				t.Errorf("%s is refused for %v", d.Example.Wrong, err)
			}
			out, _, err := w.workers[0].Submit(w.ctx, work.Assignment, d.Example.Answer, false, 0)
			ok(t, err)
			if !out.Counted {
				t.Errorf("the answer: %+v", out)
			}
			compiled := must(d.Example.Template.Compile())(t)
			_, key, err := compiled.Check(d.Example.Answer)
			ok(t, err)
			for _, method := range []string{"live", "majority", d.Methods()[0].Name()} {
				if rows := w.labels(id, method); len(rows) != 2 || rows[1][1] != key {
					t.Errorf("labels by %s: %q, want %q", method, rows, key)
				}
			}
			if q := must(w.ann.Quality(w.ctx, id, ""))(t); len(q.Workers) != 1 {
				t.Errorf("quality: %+v", q)
			}
		})
	}
}

// Ratings are labelled by their median, also where a batch is ended early, and
// the batch says so.
func TestRatingsAreLabelledByTheirMedian(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := task.Rating.Describe()
	for _, k := range []struct {
		wanted  int
		answers []string
		labels  string // any of these
		tie     string
	}{
		{2, []string{"2", "2"}, "2", "false"},
		{2, []string{"1", "7"}, "1 7", "true"},
		{3, []string{"3", "6"}, "3 6", "true"}, // ended early
	} {
		id := w.launchExample(d, k.wanted)
		if got := must(w.ann.Batch(w.ctx, id))(t).Redundancy; got == nil || *got != label.Count(k.wanted).WithMedian(true) {
			t.Errorf("the redundancy is %v", got)
		}
		for i, answer := range k.answers {
			work := w.next(w.workers[i])
			_, _, err := w.workers[i].Submit(w.ctx, work.Assignment, json.RawMessage(answer), false, 0)
			ok(t, err)
		}
		if len(k.answers) < k.wanted {
			must(w.ann.Move(w.ctx, id, "end"))(t)
		}
		rows := w.labels(id, "live")
		if len(rows) != 2 || !strings.Contains(k.labels, rows[1][1]) || rows[1][4] != k.tie {
			t.Errorf("of %v: %q", k.answers, rows)
		}
	}
	// A rule that was read comes back as it is written, and the kind decides.
	var doc struct{ Redundancy json.RawMessage }
	body := w.send(w.ann, "GET", "/v1/batches/b1", "").body
	ok(t, json.Unmarshal(body, &doc))
	if string(doc.Redundancy) != `{"count":2,"combine":"median"}` {
		t.Errorf("the redundancy is %s", doc.Redundancy)
	}
}

// What is measured of ratings rests on their order: the method is the median
// unless another is named, and agreement is ordinal. Every method of package label
// can be named, and is refused where it does not fit.
func TestQualityOfRatings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.workers = append(w.workers, w.person(wire.NewUser{Name: "worker3", Pool: must(w.admin.Pools(w.ctx))(t)[0].ID}))
	def := definition()
	def.Template = must(json.Marshal(task.Rating.Describe().Example.Template))(t)
	def.Redundancy = ptr(label.Count(3))
	id := must(w.ann.CreateBatch(w.ctx, def))(t).ID
	must(w.ann.Upload(w.ctx, id, strings.NewReader("answer,_gold\nTurn it off,4\nRead the manual,7\n"), "csv", false))(t)
	must(w.ann.Launch(w.ctx, id, false))(t)
	for i, answers := range []map[string]string{{"Turn it off": "1", "Read the manual": "7"}, {"Turn it off": "4", "Read the manual": "6"}, {"Turn it off": "5", "Read the manual": "7"}} {
		for range answers {
			work := w.next(w.workers[i])
			_, _, err := w.workers[i].Submit(w.ctx, work.Assignment, json.RawMessage(answers[work.Values.Get("answer")]), false, 0)
			ok(t, err)
		}
	}
	q := must(w.ann.Quality(w.ctx, id, ""))(t)
	if q.Asked != "median" || q.Method != "median" || q.Scale != "ordinal" || q.GoldTasks != 2 || q.Accuracy == nil || *q.Accuracy != 1 {
		t.Errorf("quality: %+v", q)
	}
	// Ranks of 1 4 5 6 7 7: .5 1.5 2.5 3.5 5 5. By the definition, pair by pair:
	// 12/2 of the first task, 9/2 of the second, 2·6·17 of all.
	if want := 1 - 5*(6+4.5)/(2*6*17.0); q.Alpha == nil || math.Abs(*q.Alpha-want) > 1e-12 {
		t.Errorf("α is %v, want %v", *q.Alpha, want)
	}
	for _, k := range q.Workers {
		if k.GoldRight != 1 || k.GoldAnswers != 2 {
			t.Errorf("of two tasks with a known answer, each had one right: %+v", k)
		}
	}
	for _, m := range task.Rating.Describe().Methods() {
		if q := must(w.ann.Quality(w.ctx, id, m.Name()))(t); q.Asked != m.Name() || q.Scale != "ordinal" {
			t.Errorf("quality by %s: %+v", m.Name(), q)
		}
		if rows := w.labels(id, m.Name()); len(rows) != 3 || m.Name() == "median" && (rows[1][1] != "4" || rows[2][1] != "7") {
			t.Errorf("labels by %s: %q", m.Name(), rows)
		}
	}
	choose := w.launchExample(task.ChooseOne.Describe(), 1)
	_, err := w.ann.Quality(w.ctx, choose, "median")
	refused(t, err, crowd.Invalid)
	if !strings.Contains(err.Error(), "median does not fit the kind choose_one: use ds-map, majority, robust") {
		t.Errorf("median of choices: %v", err)
	}
}
