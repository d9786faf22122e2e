package engine_test

import (
	"slices"
	"testing"

	"github.com/throng-dev/throng/crowd"
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

// TestAnEditKeepsTheHighestPriority of the tenant: a batch is not raised beyond it, and one that was
// beyond it when it was set may be lowered to less, even if that is still beyond it.
func TestAnEditKeepsTheHighestPriority(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fs", 3)
	low, high := benchSpec(1, 5), benchSpec(2, 5)
	high.Priority = 8
	must(t, e.Launch(start, low))
	must(t, e.Launch(start, high))
	must(t, e.SetTenant(start, engine.Tenant{ID: 1, Weight: 1, MaxPriority: 4}))
	for _, x := range []struct {
		batch crowd.BatchID
		to    float64
		fine  bool
	}{
		{1, 4.5, false}, {1, 4, true}, {1, 4.001, false},
		{2, 9, false}, {2, 8, true}, {2, 6, true}, {2, 7, false}, {2, 2, true}, {2, 6, false},
	} {
		before, _ := e.Status(x.batch)
		err := e.Edit(start, x.batch, engine.Edit{Priority: &x.to})
		after, _ := e.Status(x.batch)
		switch {
		case x.fine && (err != nil || after.Priority != x.to):
			t.Errorf("%s to %v: %v, and it is %v", x.batch, x.to, err, after.Priority)
		case !x.fine:
			wantField(t, err, "priority")
			if after.Priority != before.Priority {
				t.Errorf("%s to %v is refused, and it is %v", x.batch, x.to, after.Priority)
			}
		}
	}
}

// TestTasksAreAddedToThoseThatWereKnown: whoever knows of other tasks than there are adds none.
func TestTasksAreAddedToThoseThatWereKnown(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fifo", 3)
	must(t, e.Launch(start, benchSpec(1, 5)))
	for _, x := range []struct {
		had  uint32
		code crowd.Code
		want uint32
	}{{4, crowd.Conflict, 5}, {6, crowd.Conflict, 5}, {5, "", 7}, {5, crowd.Conflict, 7}} {
		err := e.Add(start, 1, engine.Addition{Had: x.had, Tasks: 2, Reserve: crowd.Unit})
		if st, _ := e.Status(1); crowd.CodeOf(err) != x.code || st.Tasks != x.want {
			t.Errorf("two are added to %d: %v, and it has %d, want %d", x.had, err, st.Tasks, x.want)
		}
	}
}

// TestAKnownAnswerIsAddedToCheckPeople: a task with a known answer that is added to a batch with an
// SLA is given to nobody as one that wants a label.
func TestAKnownAnswerIsAddedToCheckPeople(t *testing.T) {
	t.Parallel()
	e := newPool(t, "penalty", 3)
	s := promised(1)
	s.Open, s.Tasks, s.Budget, s.Checks = false, 1, crowd.Unit, &engine.Checks{First: 0.001, Least: 0.001}
	must(t, e.Launch(start, s))
	must(t, e.Add(start, 1, engine.Addition{Had: 1, Tasks: 2, Known: map[uint32]string{2: "cat"}, Reserve: crowd.Unit}))
	var given []uint32
	for {
		h, ok, err := e.Ready(start, 1)
		must(t, err)
		if !ok {
			break
		}
		given = append(given, h.Task.N())
		_, err = e.Submit(start, 1, h.Assignment, `"dog"`, "dog")
		must(t, err)
	}
	if !slices.Equal(given, []uint32{1, 3}) {
		t.Errorf("given were the tasks %v, want 1 and 3", given)
	}
	must(t, e.Check())
}
