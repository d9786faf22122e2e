package engine_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// TestWhoReturnsEverything: somebody returns whatever they get. A task comes to
// them three times, and of many tasks only a hundred come back, so that what is to
// be looked at for them has an end.
func TestWhoReturnsEverything(t *testing.T) {
	t.Parallel()
	for tasks, want := range map[int]int{1: 3, 40: 120, 100: 300, 150: 350} {
		e := paidPool(t, 1, engine.Retainer{}, 0)
		s := benchSpec(1, tasks)
		s.Rule, s.SmallCrowdOK = label.Count(1), true
		must(t, e.Launch(start, s))
		got := 0
		for e.Ready(start, 1); ; e.Ready(start, 1) {
			h, ok := e.Holds(1)
			if !ok || got > want {
				break
			}
			got++
			must(t, e.Return(start, 1, h.Assignment))
		}
		if got != want {
			t.Errorf("%d tasks were handed out %d times, want %d", tasks, got, want)
		}
	}
}

// TestWhatWasGivenFirstComesBackFirst, whichever batch it is of.
func TestWhatWasGivenFirstComesBackFirst(t *testing.T) {
	t.Parallel()
	e := paidPool(t, 1, engine.Retainer{}, 0)
	later, earlier := benchSpec(1, 1), benchSpec(2, 1)
	later.Rule, later.SmallCrowdOK = label.Count(1), true
	earlier.Rule, earlier.SmallCrowdOK = label.Count(1), true
	must(t, e.Launch(start, earlier))
	e.Ready(start, 1)
	first, ok := e.Holds(1)
	if !ok {
		t.Fatal("nothing was handed out")
	}
	at := start.Add(time.Second)
	must(t, e.Launch(at, later))
	must(t, e.Return(at, 1, first.Assignment))
	e.Ready(at, 1)
	second, _ := e.Holds(1)
	if second.Assignment.Batch() != later.ID {
		t.Fatalf("then %s, want one of %s, which nobody had", second.Assignment, later.ID)
	}
	must(t, e.Return(at, 1, second.Assignment))
	e.Ready(at, 1)
	if again, ok := e.Holds(1); !ok || again.Assignment.Batch() != earlier.ID {
		t.Errorf("%s comes back, want what was given first, of %s", again.Assignment, earlier.ID)
	}
}

// TestWhatIsDoneWaitsForNobody: of the hundred tasks that may wait to come back to
// somebody, those that others have done meanwhile do not count.
func TestWhatIsDoneWaitsForNobody(t *testing.T) {
	t.Parallel()
	e := paidPool(t, 2, engine.Retainer{}, 0)
	s := benchSpec(1, 100)
	s.Rule, s.SmallCrowdOK = label.Count(1), true
	must(t, e.Launch(start, s))
	for range 100 {
		e.Ready(start, 1)
		h, ok := e.Holds(1)
		if !ok {
			t.Fatal("nothing was handed out")
		}
		must(t, e.Return(start, 1, h.Assignment))
		e.Ready(start, 2)
		if h, ok = e.Holds(2); !ok {
			t.Fatal("nothing was handed to the other")
		}
		_, err := e.Submit(start, 2, h.Assignment, `{"label":"yes"}`, "yes")
		must(t, err)
	}
	one := benchSpec(2, 1)
	one.Rule, one.SmallCrowdOK = label.Count(1), true
	must(t, e.Launch(start, one))
	e.Ready(start, 1)
	h, ok := e.Holds(1)
	if !ok {
		t.Fatal("the new batch's task was not handed out")
	}
	must(t, e.Return(start, 1, h.Assignment))
	e.Ready(start, 1)
	if again, ok := e.Holds(1); !ok || again.Assignment.Batch() != one.ID {
		t.Errorf("after a hundred that others have done, what is let go does not come back")
	}
}
