package cli

import (
	"io"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
)

// WorkerPay is "throng worker pay".
type WorkerPay struct {
	State string `placeholder:"STATE" help:"Only such: awaiting, refused, appealed, paid or returned."`
	Limit int    `default:"100" help:"How many to list, at most 10000."`
	Remote
}

// Run shows it.
func (x *WorkerPay) Run(c *Context, r *remote) error {
	const page, most = 500, 10_000
	if x.Limit < 1 || x.Limit > most {
		return wrong("limit", "must be from 1 to %d, not %d", most, x.Limit)
	}
	q := client.PayQuery{State: x.State, Limit: min(x.Limit, page)}
	v, err := r.OwnPay(c.Ctx, q)
	for err == nil && v.Next != "" && len(v.Pay) < x.Limit {
		q.After, q.Limit = v.Next, min(x.Limit-len(v.Pay), page)
		var more wire.OwnPay
		more, err = r.OwnPay(c.Ctx, q)
		v.Pay, v.Next = append(v.Pay, more.Pay...), more.Next
	}
	return r.print(v, err, func(w io.Writer) {
		say(w, "%s awaits approval or a decision%s\n", v.AwaitingMicros, when(v.RefusedMicros > 0, ", "+v.RefusedMicros.String()+" is refused and may be appealed"))
		for i := range v.Pay {
			p := &v.Pay[i]
			say(w, "%s  %s  %s  %s\n", p.Assignment, p.AmountMicros, clean(p.Name), payState(&p.HeldPayState))
			saySaid(w, &p.HeldPayState)
		}
	})
}

// WorkerAppeal is "throng worker appeal".
type WorkerAppeal struct {
	Assignment crowd.AssignmentID `arg:"" placeholder:"ASSIGNMENT" help:"Of which answer, such as a17.5."`
	Text       string             `arg:"" help:"Why the refusal is wrong, of up to 1000 characters."`
	Remote
}

// Run appeals.
func (x *WorkerAppeal) Run(c *Context, r *remote) error {
	p, err := r.Appeal(c.Ctx, x.Assignment, x.Text)
	return r.tell(p, err, "%s: %s\n", x.Assignment, payState(&p.HeldPayState))
}
