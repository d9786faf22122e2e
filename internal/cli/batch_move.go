package cli

import (
	"io"

	"github.com/throng-dev/throng/internal/wire"
)

// change runs a command on the batch and prints what became of it.
func (o *One) change(c *Context, do func(r *remote) (wire.Batch, error)) error {
	r, err := o.connect(c)
	if err != nil {
		return err
	}
	b, err := do(r)
	if err != nil {
		return err
	}
	return o.print(c, batchView{Batch: b}, func(w io.Writer) { say(w, "%s %s: %s\n", b.ID, clean(b.Name), b.State) })
}

func (o *One) move(c *Context, move string) error {
	return o.change(c, func(r *remote) (wire.Batch, error) { return r.Move(c.Ctx, o.ID, move) })
}

// BatchLaunch is "throng batch launch".
type BatchLaunch struct {
	One
	AllowSmallCrowd bool `help:"Even if the pool has fewer people than a task needs answers from."`
}

// Help is the long help.
func (*BatchLaunch) Help() string {
	return `Starts to hand a draft out. Its budget is reserved from the tenant's account; what is left of it goes back at the end.

Example:
  throng batch launch b17`
}

// Run launches the batch.
func (x *BatchLaunch) Run(c *Context) error {
	return x.change(c, func(r *remote) (wire.Batch, error) { return r.Launch(c.Ctx, x.ID, x.AllowSmallCrowd) })
}

// BatchPause is "throng batch pause".
type BatchPause struct{ One }

// Help is the long help.
func (*BatchPause) Help() string {
	return `Hands out nothing more of a batch until "throng batch resume". What workers hold they may finish.

Example:
  throng batch pause b17`
}

// Run pauses the batch.
func (x *BatchPause) Run(c *Context) error { return x.move(c, "pause") }

// BatchResume is "throng batch resume".
type BatchResume struct{ One }

// Help is the long help.
func (*BatchResume) Help() string {
	return `Hands a paused batch out again.

Example:
  throng batch resume b17`
}

// Run resumes the batch.
func (x *BatchResume) Run(c *Context) error { return x.move(c, "resume") }

// BatchEnd is "throng batch end".
type BatchEnd struct{ One }

// Help is the long help.
func (*BatchEnd) Help() string {
	return `Ends a batch early: tasks get the labels that their answers allow, and the rest of the budget goes back to the tenant. It cannot be undone.

Example:
  throng batch end b17`
}

// Run ends the batch.
func (x *BatchEnd) Run(c *Context) error { return x.move(c, "end") }

// BatchCancel is "throng batch cancel".
type BatchCancel struct{ One }

// Help is the long help.
func (*BatchCancel) Help() string {
	return `Gives a batch up, running or draft. Answers that came in stay paid and can be downloaded; the rest of the budget goes back to the tenant. It cannot be undone.

Example:
  throng batch cancel b17`
}

// Run cancels the batch.
func (x *BatchCancel) Run(c *Context) error { return x.move(c, "cancel") }

// BatchEdit is "throng batch edit".
type BatchEdit struct {
	One
	Priority   *float64 `help:"The new priority, above 0."`
	Deadline   *moment  `placeholder:"TIME" help:"The new deadline: RFC 3339, or +2h." xor:"deadline"`
	NoDeadline bool     `help:"Take the deadline away." xor:"deadline"`
	Stop       bool     `help:"Emergency stop: hand out nothing more." xor:"stop"`
	Start      bool     `help:"Lift the emergency stop." xor:"stop"`
}

// Help is the long help.
func (*BatchEdit) Help() string {
	return `Changes a running batch. The scheduler goes by the new figures from the next task on.

Examples:
  throng batch edit b17 --priority 3
  throng batch edit b17 --deadline +4h
  throng batch edit b17 --stop`
}

// Run changes the batch.
func (x *BatchEdit) Run(c *Context) error {
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
	return x.change(c, func(r *remote) (wire.Batch, error) { return r.EditBatch(c.Ctx, x.ID, e) })
}

// BatchTopUp is "throng batch top-up".
type BatchTopUp struct {
	One
	Amount amount `arg:"" help:"How much, such as 10 or 0.5."`
}

// Help is the long help.
func (*BatchTopUp) Help() string {
	return `Adds to the budget of a running batch, from its tenant's account.

Example:
  throng batch top-up b17 25`
}

// Run adds the money.
func (x *BatchTopUp) Run(c *Context) error {
	return x.change(c, func(r *remote) (wire.Batch, error) { return r.TopUp(c.Ctx, x.ID, x.Amount.Money) })
}
