package dafs

import (
	"context"
	"testing"

	"github.com/throng-dev/throng/internal/repro/experiment"
)

// resultOf runs an experiment with few repetitions of a small world.
func resultOf(t *testing.T, name string) *experiment.Result {
	t.Helper()
	r, err := experiment.Run(context.Background(), Experiments(), name, experiment.Options{Reps: 2, Extra: 2, Small: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
