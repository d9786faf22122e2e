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
