package engine_test

import (
	"testing"

	"github.com/throng-dev/throng/internal/engine"
)

// TestAnEditToTheSameIsNone: nothing is kept of it.
func TestAnEditToTheSameIsNone(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fifo", 3)
	s := benchSpec(1, 5)
	s.Enough = &engine.Enough{Labels: 3}
	must(t, e.Launch(start, s))
	var ch engine.Changes
	for _, x := range []struct{ labels, revisions int }{{3, 0}, {4, 1}, {4, 0}} {
		rule, reward, production := s.Rule, s.Reward, false
		must(t, e.Edit(start, 1, engine.Edit{Rule: &rule, Reward: &reward, Production: &production, Enough: &engine.Enough{Labels: x.labels}}))
		e.Take(&ch)
		if len(ch.Revisions) != x.revisions {
			t.Errorf("to %d labels: %+v", x.labels, ch.Revisions)
		}
		if st, _ := e.Status(1); st.Enough == nil || st.Enough.Labels != x.labels || st.Reward != s.Reward || st.Rule != s.Rule {
			t.Errorf("to %d labels: %+v", x.labels, st)
		}
	}
}
