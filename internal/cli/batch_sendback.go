package cli

import (
	"fmt"

	"github.com/throng-dev/throng/internal/wire"
)

// BatchSendBack is "throng batch send-back".
type BatchSendBack struct {
	ofTask
	Worker    string `arg:"" placeholder:"WORKER" help:"Who gave the answer: the tenant's pseudonym of the worker, such as w_qk3ybd5nn2l7xw6dlbrnqhzcaq, or their id if you may see who workers are."`
	Comment   string `placeholder:"TEXT" help:"Told to whoever gets the task from then on, in place of what they were told before: of up to 1000 bytes."`
	AddBudget bool   `help:"Reserve what the budget lacks for asking again from the tenant's account."`
	DryRun    bool   `help:"Only say what it would come to."`
}

// Run sends it back.
func (x *BatchSendBack) Run(c *Context, r *remote) error {
	if err := x.check(); err != nil {
		return err
	}
	switch {
	case x.DryRun && x.Comment != "":
		return wrong("dry-run", "stands alone, without a comment")
	case x.DryRun:
		d, err := r.WouldSendBack(c.Ctx, x.ID, x.Task.N(), x.Worker)
		return r.tell(d, err, "the answer of %s would be sent back: %s; it can cost %s at most%s\n", calledBy(d.Worker, clean(d.WorkerName)), comesTo(&d), d.CostMicros,
			when(d.Missing > 0, fmt.Sprintf(", for which %s is missing in the budget", d.Missing)))
	}
	d, err := r.SendBack(c.Ctx, x.ID, x.Task.N(), x.Worker, wire.SendBack{Comment: x.Comment, AddBudget: x.AddBudget})
	return r.tell(d, err, "the answer of %s is sent back: %s; it can cost %s at most%s\n", calledBy(d.Worker, clean(d.WorkerName)), comesTo(&d), d.CostMicros,
		when(d.Reserved > 0, fmt.Sprintf(", %s more reserved", d.Reserved)))
}
