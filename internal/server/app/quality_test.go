package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/label"
)

func TestQuality(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.draft(0, times(3))
	must(w.Batches.Upload(w.ctx, w.ann, id, strings.NewReader("thing,_gold\na dog,yes\na stone,no\na cat,\n"), batches.Upload{}))(t)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	if q := must(w.Batches.Quality(w.ctx, w.ann, id, "ds-map"))(t); q.Result != nil {
		t.Error("quality without answers")
	}
	for i, p := range w.workers {
		for range 2 {
			work := w.next(p)
			answer := map[string]json.RawMessage{"a dog": yes, "a stone": no, "a cat": yes}[work.Values.Values().Cells[0]]
			if i == 2 {
				answer = yes
			}
			must(w.submit(p, work.Assignment, answer))(t)
		}
	}
	for asked, used := range map[string]string{"": "ds-map", "majority": "majority", "ds-map": "ds-map"} {
		q := must(w.Batches.Quality(w.ctx, w.ann, id, asked))(t)
		if q.GoldTasks != 2 || q.Accuracy != 1 || q.Result.Method != used || q.Scale != label.Nominal || len(q.Methods) != 7 || q.Learnt != (used == "ds-map") {
			t.Errorf("%s: %d gold tasks, accuracy %g by %s, %s scale", asked, q.GoldTasks, q.Accuracy, q.Result.Method, q.Scale)
		}
		// Who agrees least comes first: the third always says yes.
		first, last := q.Workers[0], q.Workers[2]
		if first.By != (pseudonym.Worker{Pseudonym: w.pseudonym(w.a, w.workers[2])}) || first.Answers != 2 || first.Right != 1 || first.Gold != 2 || first.Agreement != 0.5 {
			t.Errorf("%s: first is %+v", asked, first)
		}
		if last.Agreement != 1 || last.Right != last.Gold || (last.Accuracy != nil) != (used == "ds-map") {
			t.Errorf("%s: last is %+v", asked, last)
		}
	}
	for _, unfit := range []string{"mean", "median"} {
		_, err := w.Batches.Quality(w.ctx, w.ann, id, unfit)
		refused(t, err, crowd.Invalid)
	}
}
