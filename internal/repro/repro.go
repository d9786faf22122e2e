package repro

import (
	"context"
	"slices"

	"github.com/throng-dev/throng/internal/repro/cioppino"
	"github.com/throng-dev/throng/internal/repro/cymphony"
	"github.com/throng-dev/throng/internal/repro/dafs"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/repro/sla"
)

// Experiments lists them in the order of the papers.
func Experiments() []experiment.Experiment {
	return slices.Concat(dafs.Experiments(), cioppino.Experiments(), sla.Experiments(), cymphony.Experiments())
}

// NotMade lists the figures of the papers that are not made again, and why.
func NotMade() []experiment.Experiment { return dafs.NotMade() }

// Run runs an experiment. The error is Invalid for a name that is none and for
// options that make no sense.
func Run(ctx context.Context, name string, o experiment.Options) (*experiment.Result, error) {
	return experiment.Run(ctx, slices.Concat(Experiments(), NotMade()), name, o)
}
