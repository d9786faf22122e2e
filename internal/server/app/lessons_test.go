package app_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/server/work"
)

// lessonsAndOthers is a file with so many things that teach, so many that check, and so many others after them.
func lessonsAndOthers(lessons, known, others int) *strings.Reader {
	var text strings.Builder
	text.WriteString("thing,_gold,_explain\n")
	for i := range lessons {
		fmt.Fprintf(&text, "taught %d,yes,It is number %d.\n", i, i)
	}
	for i := range known {
		fmt.Fprintf(&text, "known %d,yes,\n", i)
	}
	for i := range others {
		fmt.Fprintf(&text, "other %d,,\n", i)
	}
	return strings.NewReader(text.String())
}

func trainTwo(n *batches.NewBatch) {
	n.Checks = &engine.Checks{First: 0.5, Least: 0.5, Training: 2}
	n.Quality = []engine.QualityRule{{When: "wrong >= 1", Do: "train 1"}}
}

// TestTraining has people begin with known tasks that teach, and told of these only whether they were right; a
// rule has who is wrong train again. Nothing that is said of them or of the tasks counts these answers, whatever
// restart comes between.
func TestTraining(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id := w.draft(0, trainTwo)
	must(w.Batches.Upload(w.ctx, w.ann, id, lessonsAndOthers(1, 8, 40), batches.Upload{}))(t)
	_, err := w.Batches.Launch(w.ctx, w.ann, id, false)
	if err == nil || !strings.Contains(err.Error(), "2 training tasks") || !strings.Contains(err.Error(), "1 task is for training") {
		t.Errorf("with fewer than all begin with it is launched: %v", err)
	}
	must(w.Batches.Upload(w.ctx, w.ann, id, lessonsAndOthers(4, 8, 40), batches.Upload{}))(t)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)

	right, wrong := w.workers[0], w.workers[1]
	var lessons, checks int
	var first crowd.AssignmentID
	for n := range 20 {
		held := w.next(wrong)
		thing := held.Values.Values().Cells[0]
		if n == 1 || n == 9 {
			w.killed()
			held = w.next(wrong)
		}
		if taught := strings.HasPrefix(thing, "taught"); held.Lesson != taught {
			t.Fatalf("%q says that it is training: %t", thing, held.Lesson)
		}
		if f := must(w.Work.Feedback(w.ctx, wrong, held.Assignment))(t); f != nil {
			t.Errorf("%q is told before it is answered: %+v", thing, f)
		}
		if is := must(w.Work.IsLesson(w.ctx, wrong, held.Assignment))(t); is != held.Lesson {
			t.Errorf("%q is training: %t", thing, is)
		}
		out := must(w.submit(wrong, held.Assignment, no))(t)
		f := must(w.Work.Feedback(w.ctx, wrong, held.Assignment))(t)
		if strings.HasPrefix(thing, "known") {
			checks++
		}
		if !held.Lesson {
			if f != nil {
				t.Errorf("%q came to %+v and told %+v", thing, out, f)
			}
			continue
		}
		want := work.Feedback{Name: held.Name, Said: "no", Known: "yes", Explain: fmt.Sprintf("It is number %d.", lessons)}
		if f == nil || *f != want || !out.Counted || out.Paid != crowd.Unit/100 {
			t.Errorf("%q came to %+v and told %+v, want %+v", thing, out, f, want)
		}
		if again := must(w.submit(wrong, held.Assignment, yes))(t); !again.Duplicate || *must(w.Work.Feedback(w.ctx, wrong, held.Assignment))(t) != want {
			t.Errorf("answered twice it came to %+v", again)
		}
		if lessons++; lessons <= 2 != (n < 2) {
			t.Errorf("training task %d comes as number %d", lessons, n+1)
		}
		first = held.Assignment
	}
	if lessons != 3 || checks == 0 {
		t.Fatalf("who is wrong got %d training tasks, and %d checks", lessons, checks)
	}
	_, err = w.Work.Feedback(w.ctx, right, first)
	refused(t, err, crowd.NotFound)
	_, err = w.Work.Feedback(w.ctx, right, crowd.BatchID(99).Assignment(1))
	refused(t, err, crowd.NotFound)

	actions, _, err := w.Batches.QualityActions(w.ctx, w.ann, id, 0, 9)
	if ok(t, err); len(actions) != 1 || actions[0].Kind != engine.Train || actions[0].Lessons != 1 {
		t.Errorf("the rule did %+v", actions)
	}
	if notes := must(w.Work.Notes(w.ctx, wrong))(t); len(notes) > 0 {
		t.Errorf("they are told why: %+v", notes)
	}
	b, answers, err := w.Batches.Annotations(w.ctx, w.ann, id, true)
	ok(t, err)
	all := must(w.Results.All(w.ctx, w.ann, id, results.Query{}))(t)
	for _, table := range []results.Table{must(results.AnnotationTable(&b, answers, false))(t), must(all.Table(results.Answers, false))(t)} {
		rows := make(map[string]int)
		for row, err := range table.Rows {
			ok(t, err)
			taught := strings.HasPrefix(row[slices.Index(table.Columns, "Input.thing")], "taught")
			rows[fmt.Sprint(row[slices.Index(table.Columns, "training")], " of training ", taught)]++
		}
		if want := map[string]int{"true of training true": 3, "false of training false": 17}; !maps.Equal(rows, want) {
			t.Errorf("the file of answers says %v", rows)
		}
	}
	q := must(w.Batches.Quality(w.ctx, w.ann, id, "majority"))(t)
	if len(q.Workers) != 1 || q.Workers[0].Taught.Done != 3 || q.Workers[0].Taught.Right != 0 || q.Workers[0].Answers != 17 || q.Workers[0].Gold != checks || q.GoldTasks != checks {
		t.Errorf("quality of %d known tasks: %+v", q.GoldTasks, q.Workers)
	}
	ok(t, app.Inspect(w.App, func(_ crowd.PoolID, e *engine.Engine, _ time.Time) {
		for _, x := range e.Figures(id) {
			if x.Figures.Answers != 17 || x.Figures.Checks != checks {
				t.Errorf("rules go by %+v", x.Figures)
			}
		}
	}))
	if v := w.workerOf(id, wrong, results.WorkerQuery{}); v.Figures.Answers != 17 || v.Figures.Checks != checks || v.Compared != 17 || v.Quality.Taught.Done != 3 {
		t.Errorf("the page of the worker has %+v, %d compared", v.Figures, v.Compared)
	}
	if p := w.batch(id).Progress; p.Labelled != 12+17-checks || p.Spent != 20*crowd.Unit/100 {
		t.Errorf("it stands at %+v", p)
	}

	must(w.submit(right, w.next(right).Assignment, yes))(t)
	q = must(w.Batches.Quality(w.ctx, w.ann, id, "majority"))(t)
	if len(q.Workers) != 1 || len(q.Learning) != 1 || q.Learning[0].By.Pseudonym != w.pseudonym(w.a, right) || q.Learning[0].Taught != (results.Taught{Done: 1, Right: 1}) {
		t.Errorf("of %d workers these were only trained: %+v", len(q.Workers), q.Learning)
	}
}

// TestExplanationsAreChecked: an explanation is of a known answer, no longer than it may be, and somebody gets it.
func TestExplanationsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.draft(0, trainTwo)
	for text, want := range map[string]string{
		"thing,_gold,_explain\na,yes,x\nb,,why\n":                          "explains a known answer",
		"thing,_gold,_explain\na,yes,x\nb,no," + strings.Repeat("x", 1001): "at most 1000 bytes, not 1001",
		"thing,_explain\nz,\na,x\n":                                        "explains a known answer",
		"thing,_gold,_explain\na,yes,x\nb,no,\u200b\n":                     "nothing that can be seen",
	} {
		report, err := w.Batches.Upload(w.ctx, w.ann, id, strings.NewReader(text), batches.Upload{})
		if err == nil || !strings.Contains(err.Error(), want) || len(report.Problems) != 1 || report.Problems[0].Row != 3 || report.Problems[0].Field != batches.ExplainColumn {
			t.Errorf("%q: %v, %+v", text, err, report.Problems)
		}
	}
	plain := w.draft(0)
	must(w.Batches.Upload(w.ctx, w.ann, plain, lessonsAndOthers(1, 1, 3), batches.Upload{}))(t)
	_, err := w.Batches.Launch(w.ctx, w.ann, plain, false)
	if err == nil || !strings.Contains(err.Error(), "nobody would be given any") {
		t.Errorf("without checks it is launched: %v", err)
	}
	must(w.Batches.Upload(w.ctx, w.ann, id, lessonsAndOthers(2, 1, 3), batches.Upload{}))(t)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	more := must(w.Batches.AddTasks(w.ctx, w.ann, id, strings.NewReader("thing,_gold,_explain\nmore,no,It is not.\n"), batches.Addition{AddBudget: true}))(t)
	if more.Tasks != 1 || w.batch(id).Progress.Known != 4 {
		t.Errorf("added %+v", more)
	}
}
