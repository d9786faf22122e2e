package engine_test

import (
	"testing"

	"github.com/throng-dev/throng/internal/engine"
)

// TestAShareOfTasksIsReachedExactly: for each share of whole percents a batch of a hundred tasks has
// enough with as many labels, and not with one less, however the share is rounded: 0.07 of 100 is a
// little more than 7 in floating-point numbers.
func TestAShareOfTasksIsReachedExactly(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 100; n++ {
		x := engine.Enough{Share: float64(n) / 100}
		for labels, want := range map[int]bool{n - 1: false, n: true} {
			if p := (engine.Progress{Tasks: 100, Labelled: labels}); x.Met(&p, 1) != want {
				t.Errorf("%d labels of 100 are enough for the share %v: %t", labels, x.Share, !want)
			}
		}
	}
}
