package app_test

import (
	"slices"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/label"
)

// TestWeights has the answers of somebody who is wrong count a quarter, also after the server was killed: each label is
// what the other one says. It is told wherever answers and people are, they are not told, they are paid as before, and
// undone their answers count in full.
func TestWeights(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.draft(0, halfChecks, times(2), ruled(engine.QualityRule{When: "wrong >= 1", Do: "weight 0.25"}))
	must(w.Batches.Upload(w.ctx, w.ann, id, knownAndOthers(10, 20), batches.Upload{}))(t)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	bad, good := w.workers[0], w.workers[1]
	for range 20 {
		must(w.submit(bad, w.next(bad).Assignment, no))(t)
	}
	w.killed()
	for range 20 {
		must(w.submit(good, w.next(good).Assignment, yes))(t)
	}
	actions, _, err := w.Batches.QualityActions(w.ctx, w.ann, id, 0, 9)
	ok(t, err)
	if len(actions) != 1 || actions[0].Kind != engine.LowerWeight || actions[0].Weight != 25 || actions[0].Figures.Wrong != 1 {
		t.Fatalf("the rules did %+v", actions)
	}
	if notes := must(w.Work.Notes(w.ctx, bad))(t); len(notes) != 0 {
		t.Errorf("they are told %+v", notes)
	}

	lowered := func(who *access.Principal) label.Weight {
		return w.workerOf(id, who, results.WorkerQuery{Limit: 9}).Weight
	}
	if x, y := lowered(bad), lowered(good); x != 25 || y != label.Full {
		t.Errorf("answers count %s, and those of the other %s", x, y)
	}
	both := 0
	page := must(w.Results.List(w.ctx, w.ann, id, results.Query{Method: results.Live, Limit: 100}))(t)
	for _, row := range page.Rows {
		for _, a := range row.Answers {
			want := label.Full
			if a.By.Pseudonym == w.pseudonym(w.a, bad) {
				want = 25
			}
			if a.Weight != want {
				t.Errorf("%s: an answer counts %s, want %s", row.Task, a.Weight, want)
			}
		}
		if row.Gold == "" && len(row.Answers) == 2 {
			both++
			if row.Label == nil || row.Label.Value != "yes" || float32(row.Label.Confidence) != 0.8 || row.Label.Tie {
				t.Errorf("%s has the label %+v", row.Task, row.Label)
			}
		}
	}
	if both < 3 {
		t.Errorf("only %d tasks were answered by both", both)
	}
	q := must(w.Batches.Quality(w.ctx, w.ann, id, "majority"))(t)
	for _, x := range q.Workers {
		if low := x.By.Pseudonym == w.pseudonym(w.a, bad); low != x.LessWeight() {
			t.Errorf("%s: answers count %s", x.By, x.Weight)
		}
	}
	b, answers, err := w.Batches.Annotations(w.ctx, w.ann, id, true)
	ok(t, err)
	table := must(results.AnnotationTable(&b, answers, false))(t)
	weights := make(map[string]int)
	for row, err := range table.Rows {
		ok(t, err)
		weights[row[slices.Index(table.Columns, "weight")]]++
	}
	if weights["0.25"] != 20 || weights["1"] != 20 {
		t.Errorf("the file has weights %v", weights)
	}

	must(w.Batches.UndoQualityAction(w.ctx, w.ann, id, 1))(t)
	w.killed()
	if x := lowered(bad); x != label.Full {
		t.Errorf("undone, their answers count %s", x)
	}
	if v := w.batch(id); v.Progress.Spent != crowd.Money(v.Progress.Completed)*v.Spec.Reward || v.Progress.Completed != 40 {
		t.Errorf("%d answers cost %s", v.Progress.Completed, v.Progress.Spent)
	}
	ok(t, w.store.CheckLedger(w.ctx))
}
