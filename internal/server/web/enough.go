package web

import (
	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// enough goes over when a batch ends by itself. What is left empty is no condition.
func (b binding) enough(x *engine.Enough) {
	b.limit("enough.labels", &x.Labels)
	b.figure("enough.share", &x.Share)
	b.figure("enough.confidence", &x.Confidence)
	bound(b, "enough.spent", &x.Spent, b.money, func(m crowd.Money) string { return unlessZero(m, crowd.Money.String) })
}

// checksOf goes over how tasks with a known answer check people. Without the tick they do not.
func (b binding) checksOf(v **engine.Checks) {
	on, x := *v != nil, engine.Checks{}
	if on {
		x = **v
	}
	b.tick("checks", &on)
	b.figure("checks.first", &x.First)
	b.figure("checks.least", &x.Least)
	b.limit("checks.training", &x.Training)
	if b.filling {
		return
	}
	if *v = nil; on {
		x = x.Completed()
		*v = &x
	}
}

// enoughOf is enough for a definition, which is nil if there is no condition.
func (b binding) enoughOf(v **engine.Enough) {
	var x engine.Enough
	if *v != nil {
		x = **v
	}
	if b.enough(&x); b.filling {
		return
	}
	if *v = nil; x != (engine.Enough{}) {
		*v = &x
	}
}
