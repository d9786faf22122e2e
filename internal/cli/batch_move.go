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

// Run launches the batch.
func (x *BatchLaunch) Run(c *Context) error {
	return x.change(c, func(r *remote) (wire.Batch, error) { return r.Launch(c.Ctx, x.ID, x.AllowSmallCrowd) })
}

// BatchPause is "throng batch pause".
type BatchPause struct{ One }

// Run pauses the batch.
func (x *BatchPause) Run(c *Context) error { return x.move(c, "pause") }

// BatchResume is "throng batch resume".
type BatchResume struct{ One }

// Run resumes the batch.
func (x *BatchResume) Run(c *Context) error { return x.move(c, "resume") }

// BatchEnd is "throng batch end".
type BatchEnd struct{ One }

// Run ends the batch.
func (x *BatchEnd) Run(c *Context) error { return x.move(c, "end") }

// BatchCancel is "throng batch cancel".
type BatchCancel struct{ One }

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

// Run adds the money.
func (x *BatchTopUp) Run(c *Context) error {
	return x.change(c, func(r *remote) (wire.Batch, error) { return r.TopUp(c.Ctx, x.ID, x.Amount.Money) })
}
