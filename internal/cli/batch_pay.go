package cli

import (
	"cmp"
	"fmt"
	"io"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/wire"
)

// BatchPay is "throng batch pay".
type BatchPay struct {
	List    PayList    `cmd:"" help:"List pay that was held for approval, and what became of it."`
	Approve PayApprove `cmd:"" help:"Pay what awaits approval, or take a refusal back."`
	Refuse  PayRefuse  `cmd:"" help:"Refuse pay, with a reason that its worker reads."`
}

// PayList is "throng batch pay list".
type PayList struct {
	One
	State  string `placeholder:"STATE" help:"Only such: awaiting, refused, appealed, paid or returned."`
	Worker string `placeholder:"WORKER" help:"Only of this one: the tenant's pseudonym, or an id if you may see who workers are."`
}

// Run lists it.
func (x *PayList) Run(c *Context, r *remote) error {
	all := []wire.HeldPay{}
	q := client.PayQuery{State: x.State, Worker: x.Worker, Limit: 500}
	for first := true; first || q.After != ""; first = false {
		page, err := r.HeldPay(c.Ctx, x.ID, q)
		if err != nil {
			return err
		}
		all, q.After = append(all, page.Pay...), page.Next
	}
	return r.print(wire.HeldPays{Pay: all}, nil, func(w io.Writer) {
		if len(all) == 0 {
			say(w, "no such pay of %s was held\n", x.ID)
		}
		for i := range all {
			sayHeld(w, &all[i])
		}
	})
}

func sayHeld(w io.Writer, x *wire.HeldPay) {
	say(w, "%s  %s  %s  %s\n", x.Assignment, x.AmountMicros, calledBy(x.Worker, clean(x.WorkerName)), payState(&x.HeldPayState))
	saySaid(w, &x.HeldPayState)
}

// payState says how far it is with held pay.
func payState(x *wire.HeldPayState) string {
	switch x.State {
	case "awaiting":
		return "awaits approval, paid " + stamp(x.DueAt)
	case "refused":
		return "refused, may be appealed until " + stamp(x.DueAt)
	case "appealed":
		return "appealed, paid " + stamp(x.DueAt) + " if nobody decides"
	case "returned":
		return "not paid"
	}
	return x.State + " " + stamp(x.ClosedAt)
}

// saySaid says what was said about held pay.
func saySaid(w io.Writer, x *wire.HeldPayState) {
	for _, s := range []struct {
		what string
		said *wire.PaySaid
	}{{"refused", x.Refusal}, {"appeal", x.Appeal}, {"decided", x.Decision}} {
		if s.said != nil {
			say(w, "  %s %s%s: %s\n", s.what, stamp(s.said.At), when(s.said.By != "", " by "+clean(s.said.By)), cmp.Or(clean(s.said.Text), "(deleted)"))
		}
	}
}

// payChoice says of which answers something is decided.
type payChoice struct {
	One
	Assignments []crowd.AssignmentID `arg:"" optional:"" name:"assignment" placeholder:"ASSIGNMENT" help:"Of which answers, such as a17.5: all of them, or none."`
	Worker      string               `placeholder:"WORKER" help:"In place of those: of all of this worker in the batch that await approval."`
}

func (x *payChoice) choice() wire.ApprovePay {
	return wire.ApprovePay{Assignments: x.Assignments, Worker: x.Worker}
}

// decided says what was decided.
func (x *payChoice) decided(r *remote, d wire.PayDecided, err error, what string) error {
	return r.tell(d, err, "%s of %s: %s %s\n", d.AmountMicros, format.Count(d.Answers, "answer"), what, x.ID)
}

// PayApprove is "throng batch pay approve".
type PayApprove struct{ payChoice }

// Run approves.
func (x *PayApprove) Run(c *Context, r *remote) error {
	d, err := r.ApprovePay(c.Ctx, x.ID, x.choice())
	return x.decided(r, d, err, "paid, for")
}

// PayRefuse is "throng batch pay refuse".
type PayRefuse struct {
	payChoice
	Reason string `required:"" placeholder:"TEXT" help:"Why, of up to 1000 characters; its worker reads it."`
}

// Run refuses.
func (x *PayRefuse) Run(c *Context, r *remote) error {
	d, err := r.RefusePay(c.Ctx, x.ID, wire.RefusePay{ApprovePay: x.choice(), Reason: x.Reason})
	return x.decided(r, d, err, "refused, which may be appealed, for")
}

// BatchAppeals is "throng batch appeals".
type BatchAppeals struct {
	List   AppealsList  `cmd:"" help:"List the appeals that nobody has decided."`
	Grant  AppealDecide `cmd:"" help:"Pay what was refused."`
	Uphold AppealDecide `cmd:"" help:"Leave it refused: the money goes back to the tenant's account."`
}

// AppealsList is "throng batch appeals list".
type AppealsList struct {
	Tenant string `help:"Only of this tenant."`
	Remote
}

// Run lists them.
func (x *AppealsList) Run(c *Context, r *remote) error {
	tenant, err := r.tenant(x.Tenant)
	if err != nil {
		return err
	}
	all := []wire.HeldPay{}
	for after, first := "", true; first || after != ""; first = false {
		page, err := r.Appeals(c.Ctx, tenant, after)
		if err != nil {
			return err
		}
		all, after = append(all, page.Pay...), page.Next
	}
	return r.print(wire.HeldPays{Pay: all}, nil, func(w io.Writer) {
		if len(all) == 0 {
			say(w, "no appeal waits to be decided\n")
		}
		for i := range all {
			sayHeld(w, &all[i])
		}
	})
}

// AppealDecide is "throng batch appeals grant" and "uphold".
type AppealDecide struct {
	Assignment crowd.AssignmentID `arg:"" placeholder:"ASSIGNMENT" help:"Of which answer, such as a17.5."`
	Text       string             `required:"" placeholder:"TEXT" help:"Why, of up to 1000 characters; the worker reads it."`
	Remote
}

// Run decides it.
func (x *AppealDecide) Run(c *Context, r *remote, v verb) error {
	h, err := r.DecideAppeal(c.Ctx, x.Assignment, wire.AppealDecision{Pay: v == "grant", Text: x.Text})
	return r.tell(h, err, "%s: %s\n", x.Assignment, map[bool]string{true: fmt.Sprintf("%s paid", h.AmountMicros), false: "not paid, the money has gone back to the tenant's account"}[v == "grant"])
}
