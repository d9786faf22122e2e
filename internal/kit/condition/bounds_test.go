package condition_test

import (
	"slices"
	"testing"

	"github.com/throng-dev/throng/internal/kit/condition"
)

func TestBounds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]float64{
		"drift > 3": {3}, "drift >= 2.5": {2.5}, "2 < drift": {2}, "3 <= drift": {3}, "drift > 4 or (checks > 9 and drift > 1.5)": {4, 1.5},
		"drift < 3": nil, "3 > drift": nil, "not (drift > 3)": nil, "checks > 3": nil, "drift > checks": nil, "drift == 3": nil, "drift + 1 > 3": nil, "": nil, "drift >": nil, "1 < drift < 3": {1},
	} {
		if got := condition.Bounds(text, "drift"); !slices.Equal(got, want) {
			t.Errorf("%q has %v, want %v", text, got, want)
		}
	}
}
