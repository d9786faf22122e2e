package engine_test

import (
	"testing"

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
