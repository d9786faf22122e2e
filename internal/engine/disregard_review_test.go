package engine_test

import (
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// TestALabelThatWasReviewedStays when what it was made of is disregarded, also if the review was done after the
// tasks were read; a review that waits goes, and the new label has one of its own.
func TestALabelThatWasReviewedStays(t *testing.T) {
	t.Parallel()
	w := newReviewWorldOf(t, engine.Review{Share: 1}, label.Count(1), func(s *engine.Spec) { s.Tasks = 2 })
	do := func(who crowd.WorkerID, key string) engine.Handout {
		t.Helper()
		h, ok, err := w.e.Ready(w.now, who)
		if err != nil || !ok {
			t.Fatalf("%s gets nothing: %v", who, err)
		}
		if key != "" {
			_, err = w.e.Submit(w.now, who, h.Assignment, key, key)
			must(t, err)
		}
		must(t, w.take())
		return h
	}
	do(1, "yes") // t1.1, and its review is t2.1
	if h := do(2, ""); h.Task != w.reviews.ID.Task(1) {
		t.Fatalf("who comes next is given %s, and not the review", h.Task)
	}
	x := engine.Disregard{Worker: 1, Settled: w.e.Settled(1), Reserve: 10 * crowd.Unit, Tasks: w.kept.answeredBy(1, 1)}
	x.Tasks[0].Review = w.reviews.ID.Task(1)
	would, err := w.e.WouldDisregard(1, &x)
	must(t, err)
	if would.Answers != 1 || would.Withdrawn != 1 {
		t.Errorf("while the review waits: %+v", would)
	}
	do(2, "yes")
	done, err := w.e.Disregard(w.now, 1, x)
	must(t, err)
	must(t, w.take())
	if done.Answers != 1 || done.Tasks != 0 || w.kept.labels[w.mine.ID.Task(1)].Value != "yes" {
		t.Errorf("since it is done: %+v, %+v", done, w.kept.labels)
	}
}
