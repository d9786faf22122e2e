package sim_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/internal/sim"
)

func TestMergedTimelinesKeepEveryCount(t *testing.T) {
	t.Parallel()
	line := func(step int, counts ...int64) sim.Timeline {
		l := sim.Timeline{Step: 1e9 * 1 << step, Counts: counts}
		for _, n := range counts {
			l.Total += n
		}
		return l
	}
	list := []sim.Timeline{line(0, 1, 2, 3), line(2, 5), line(1, 0, 4, 0, 7), {}}
	want := line(2, 1+2+3+5+4, 7)
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}} {
		var sum sim.Timeline
		for _, i := range order {
			sum.Merge(&list[i])
		}
		if diff := cmp.Diff(want, sum); diff != "" {
			t.Errorf("in order %v (-want +got):\n%s", order, diff)
		}
	}
	if diff := cmp.Diff(line(0, 1, 2, 3), list[0]); diff != "" {
		t.Errorf("what was added has changed:\n%s", diff)
	}
}
