package cli

import (
	"github.com/throng-dev/throng/internal/wire"
)

// printBatch prints what became of a batch.
func (r *remote) printBatch(b wire.Batch, err error) error {
	return r.tell(batchView{Batch: b}, err, "%s %s: %s\n", b.ID, clean(b.Name), b.State)
}

// BatchLaunch is "throng batch launch".
type BatchLaunch struct {
	One
	AllowSmallCrowd bool `help:"Even if the pool has fewer people than a task needs answers from."`
}

// Run launches the batch.
func (x *BatchLaunch) Run(c *Context, r *remote) error {
	b, err := r.Launch(c.Ctx, x.ID, x.AllowSmallCrowd)
	return r.printBatch(b, smallCrowd(x.ID, err))
}

// BatchMove is "throng batch pause", "resume", "end" and "cancel".
type BatchMove struct{ One }

// Run makes the move that the command is named after.
func (x *BatchMove) Run(c *Context, r *remote, v verb) error {
	return r.printBatch(r.Move(c.Ctx, x.ID, string(v)))
}

// BatchEdit is "throng batch edit".
type BatchEdit struct {
	One
	Priority   *float64 `help:"The new priority, above 0."`
	Deadline   *moment  `placeholder:"TIME" help:"The new deadline: RFC 3339, or +2h." xor:"deadline"`
	NoDeadline bool     `help:"Take the deadline away." xor:"deadline"`
	Stop       bool     `help:"Emergency stop: hand out nothing more." xor:"stop"`
	Start      bool     `help:"Lift the emergency stop." xor:"stop"`
}

// Run changes the batch.
func (x *BatchEdit) Run(c *Context, r *remote) error {
	e := wire.BatchEdit{Priority: x.Priority, ClearDeadline: x.NoDeadline}
	if x.Deadline != nil {
		e.Deadline = &x.Deadline.Time
	}
	if x.Stop || x.Start {
		e.Stopped = &x.Stop
	}
	if e == (wire.BatchEdit{}) {
		return wrong("edit", "say what to change: --priority, --deadline, --no-deadline, --stop or --start")
	}
	return r.printBatch(r.EditBatch(c.Ctx, x.ID, e))
}

// BatchTopUp is "throng batch top-up".
type BatchTopUp struct {
	One
	Amount amount `arg:"" help:"How much, such as 10 or 0.5."`
}

// Run adds the money.
func (x *BatchTopUp) Run(c *Context, r *remote) error {
	b, err := r.TopUp(c.Ctx, x.ID, x.Amount.Money)
	return r.tell(b, err, "%s %s: %s, may spend %s, has spent %s\n", b.ID, clean(b.Name), b.State, b.BudgetMicros, b.SpentMicros)
}
