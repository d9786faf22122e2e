package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// step does something at random.
func (w *reviewWorld) step(r *rand.Rand) error {
	who := crowd.WorkerID(1 + r.IntN(6))
	var rows []*engine.AssignmentSnapshot
	for _, x := range w.kept.rows {
		if x.Worker == who && (x.State == crowd.Assigned || x.State == crowd.Expired) {
			rows = append(rows, x)
		}
	}
	slices.SortFunc(rows, func(x, y *engine.AssignmentSnapshot) int { return int(x.ID - y.ID) })
	switch n := r.IntN(100); {
	case n < 16:
		if err := w.sendBack(who); err != nil {
			return err
		}
	case n < 18 && len(w.e.Undoable(who)) > 0:
		_, _, _ = w.e.Undo(w.now, who, w.e.Undoable(who)[0].Assignment) // they may be paused, or hold another one
	case n < 45:
		if _, _, err := w.e.Ready(w.now, who); err != nil {
			return err
		}
	case n < 75 && len(rows) > 0:
		x, key := rows[r.IntN(len(rows))], []string{"yes", "no"}[r.IntN(2)]
		if _, err := w.e.Submit(w.now, who, x.ID, key, key); err != nil && err != engine.ErrForgotten {
			return err
		} else if err != nil {
			w.e.KeepLate(w.now, who, x.ID, key, key)
		}
	case n < 80 && len(rows) > 0:
		_ = w.e.Return(w.now, who, rows[len(rows)-1].ID) // it may have run out
	case n < 84 && len(rows) > 0:
		_ = w.e.Skip(w.now, who, rows[len(rows)-1].ID)
	case n < 88:
		w.now = w.now.Add(2 * time.Hour)
		w.e.Tick(w.now)
	case n < 92:
		if err := w.disregard(who); err != nil {
			return err
		}
	case n < 97:
		if err := w.revise(who, r); err != nil {
			return err
		}
	default:
		if err := w.reopen(r.Uint64()); err != nil {
			return err
		}
	}
	return w.take()
}

// TestNobodyReviewsWhatTheyAnswered in random walks of hand-outs, answers, also late ones, leases
// that run out, and restarts: every label that is picked has one review, and the money of both
// batches adds up.
func TestNobodyReviewsWhatTheyAnswered(t *testing.T) {
	t.Parallel()
	why := make(map[string]int)
	reviewed, dropped, held, back := 0, 0, 0, make(map[string]int)
	revised, withoutReview := 0, 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		rule := []label.Rule{label.Count(1), label.Count(3), label.Agree(2, 3)}[seed%3]
		w := newReviewWorldOf(t, engine.Review{Undecided: true, Confidence: 0.9, Share: 0.5, NewWorkers: 2}, rule, func(s *engine.Spec) {
			s.Grace = time.Duration(seed%2) * time.Hour
			s.Revise = 10 * time.Hour
		})
		for n := range 400 {
			if err := w.step(r); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, n, err)
			}
		}
		_ = w.e.End(w.now, 1) // unless it has ended
		must(t, w.take())
		_ = w.e.End(w.now, 2)
		must(t, w.take())
		for id, left := range w.gone {
			if p := w.kept.progress[id]; left != 0 || !p.State.Ended() {
				t.Fatalf("seed %d: %s is %s and has %s left", seed, id, p.State, left)
			}
			if err := w.paid(id); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		for task, l := range w.kept.labels {
			if task.Batch() == 1 && (l.Undecided || l.Confidence < 0.9) && w.asked[task].Task == 0 && w.kept.progress[2].EndedAt.After(l.At) {
				t.Fatalf("seed %d: %+v is not reviewed", seed, l)
			}
		}
		dropped, held, revised = dropped+w.dropped, held+w.held, revised+len(w.kept.revised)
		withoutReview += w.withoutReview
		for what, n := range w.back.seen {
			back[what] += n
		}
		for _, x := range w.asked {
			for _, name := range x.Why.Names() {
				why[name]++
			}
			if w.kept.labels[x.Review].Task != 0 {
				reviewed++
				if by := w.kept.labels[x.Review].By; len(by) == 0 || slices.Contains(x.NotBy, by[0]) {
					t.Fatalf("seed %d: %s was reviewed by %v", seed, x.Task, by)
				}
			}
		}
	}
	for _, what := range []string{"acts", "acts after a grace", "kept", "refused", "twice", "asked again", "labelled again", "reviewed again", "late meanwhile"} {
		if back[what] == 0 {
			t.Errorf("no label was sent back with %q: %v", what, back)
		}
	}
	if revised < 100 || withoutReview < 20 {
		t.Errorf("%d answers were revised, %d of them of a label whose review waited", revised, withoutReview)
	}
	if len(why) != 4 || reviewed < 500 || dropped < 100 || held < 20 {
		t.Errorf("labels were picked for %v, %d reviewed, %d dropped, %d of them held", why, reviewed, dropped, held)
	}
}
