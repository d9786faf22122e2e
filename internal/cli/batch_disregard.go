package cli

import (
	"fmt"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/wire"
)

// BatchDisregard is "throng batch disregard".
type BatchDisregard struct {
	One
	Worker    string `arg:"" placeholder:"WORKER" help:"The tenant's pseudonym of the worker, such as w_qk3ybd5nn2l7xw6dlbrnqhzcaq, or their id if you may see who workers are."`
	AddBudget bool   `help:"Reserve what the budget lacks for asking again from the tenant's account."`
	DryRun    bool   `help:"Only say what it would come to."`
}

// Run disregards them.
func (x *BatchDisregard) Run(c *Context, r *remote) error {
	if x.DryRun {
		d, err := r.WouldDisregard(c.Ctx, x.ID, x.Worker)
		return r.tell(d, err, "%s of %s would be disregarded: %s; it can cost %s at most%s\n", format.Count(d.Answers, "answer"), calledBy(d.Worker, clean(d.WorkerName)), comesTo(&d), d.CostMicros,
			when(d.Missing > 0, fmt.Sprintf(", for which %s is missing in the budget", d.Missing)))
	}
	d, err := r.Disregard(c.Ctx, x.ID, x.Worker, x.AddBudget)
	return r.tell(d, err, "%s of %s disregarded: %s; it can cost %s at most%s\n", format.Count(d.Answers, "answer"), calledBy(d.Worker, clean(d.WorkerName)), comesTo(&d), d.CostMicros,
		when(d.Reserved > 0, fmt.Sprintf(", %s more reserved", d.Reserved)))
}

// comesTo says what becomes of the tasks.
func comesTo(d *wire.Disregarded) string {
	return fmt.Sprintf("%s decided anew, %s withdrawn, of which %d made again at once", format.Count(d.Tasks, "task"), format.Count(d.Withdrawn, "label"), d.Relabelled)
}
