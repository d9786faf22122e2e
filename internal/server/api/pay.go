package api

import (
	"context"
	"net/http"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/pay"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

// PayPage is a page of held pay.
type PayPage struct {
	State string `query:"state" enum:"awaiting,refused,appealed,paid,returned" doc:"only such; default: all"`
	After string `query:"after" doc:"next of the page before"`
	Limit int    `query:"limit" minimum:"1" maximum:"500" default:"100"`
}

// query is what the page asks for.
func (x *PayPage) query() (q pay.Query, err error) {
	q = pay.Query{State: store.PayState(x.State), Limit: x.Limit}
	q.After, err = payAfter(x.After)
	return q, err
}

func payAfter(text string) (id crowd.AssignmentID, err error) {
	if text == "" {
		return 0, nil
	}
	if id, err = crowd.ParseAssignmentID(text); err != nil {
		err = crowd.Fieldf("after", "%q is not next of a page", text)
	}
	return id, err
}

// pay registers pay that waits for approval. It is long as it goes through the operations one by one.
func (a *api) pay() {
	const tag = "Pay"
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}/pay", summary: "List the pay of a batch that was held for approval", tag: tag, access: access.PayList},
		func(ctx context.Context, p *access.Principal, in *struct {
			BatchPath
			PayPage
			Worker string `query:"worker" doc:"only of this one: the tenant's pseudonym, or an id if you may see who workers are"`
		}) (wire.HeldPays, error) {
			q, err := in.query()
			if err != nil {
				return wire.HeldPays{}, err
			}
			q.Batch, q.Worker = in.id, in.Worker
			_, list, more, err := a.app.Pay.List(ctx, p, q)
			return toHeldPays(list, more), err
		})
	add(a, op{method: http.MethodPost, path: "/v1/batches/{id}/pay/approve", summary: "Approve pay that is held", tag: tag, access: access.PayApprove,
		text: "It is paid at once. Pay that was refused, and not appealed yet, can be approved by its assignment, too. Nobody decides of their own pay."},
		func(ctx context.Context, p *access.Principal, in *struct {
			BatchPath
			Body wire.ApprovePay
		}) (wire.PayDecided, error) {
			return as(toPayDecided)(a.app.Pay.Approve(ctx, p, in.id, payChoice(&in.Body)))
		})
	add(a, op{method: http.MethodPost, path: "/v1/batches/{id}/pay/refuse", summary: "Refuse pay that is held, with a reason", tag: tag, access: access.PayRefuse,
		text: "Its worker reads the reason and may appeal. The money stays held until that time is over, and then goes back to the tenant's account. The answer counts all the same: to take it out of the labels, disregard it."},
		func(ctx context.Context, p *access.Principal, in *struct {
			BatchPath
			Body wire.RefusePay
		}) (wire.PayDecided, error) {
			return as(toPayDecided)(a.app.Pay.Refuse(ctx, p, in.id, payChoice(&in.Body.ApprovePay), in.Body.Reason))
		})
	add(a, op{method: http.MethodGet, path: "/v1/appeals", summary: "List appeals against refused pay that nobody has decided", tag: tag, access: access.PayAppeals},
		func(ctx context.Context, p *access.Principal, in *struct {
			OfTenant
			After string `query:"after" doc:"next of the page before"`
			Limit int    `query:"limit" minimum:"1" maximum:"500" default:"100"`
		}) (wire.HeldPays, error) {
			after, err := payAfter(in.After)
			if err != nil {
				return wire.HeldPays{}, err
			}
			list, more, err := a.app.Pay.Appeals(ctx, p, pay.Query{Tenant: in.tenant, After: after, Limit: in.Limit})
			return toHeldPays(list, more), err
		})
	add(a, op{method: http.MethodPost, path: "/v1/appeals/{assignment}", summary: "Decide an appeal: pay, or say why the refusal stays", tag: tag, access: access.PayDecide,
		text: "Whoever refused the pay does not decide the appeal, if somebody else of the tenant may who is not the worker. An appeal that nobody decides in time is paid."},
		func(ctx context.Context, p *access.Principal, in *struct {
			AssignmentPath
			Body wire.AppealDecision
		}) (wire.HeldPay, error) {
			return as(toHeldPay)(a.app.Pay.Decide(ctx, p, in.id, in.Body.Pay, in.Body.Text))
		})
	add(a, op{method: http.MethodGet, path: "/v1/work/pay", summary: "Your pay that was held for approval, and what became of it", tag: tag, access: access.PayOwn},
		func(ctx context.Context, p *access.Principal, in *struct{ PayPage }) (wire.OwnPay, error) {
			q, err := in.query()
			if err != nil {
				return wire.OwnPay{}, err
			}
			sums, err := a.app.Pay.Sums(ctx, p)
			if err != nil {
				return wire.OwnPay{}, err
			}
			list, more, err := a.app.Pay.Own(ctx, p, q)
			out := wire.OwnPay{AwaitingMicros: sums.Awaiting, RefusedMicros: sums.Refused, Pay: lists.Map(list, toOwnPay)}
			if more {
				out.Next = list[len(list)-1].Assignment.String()
			}
			return out, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/work/pay/{assignment}/appeal", summary: "Appeal against the refusal of your pay, once and in time", tag: tag, access: access.PayAppeal},
		func(ctx context.Context, p *access.Principal, in *struct {
			AssignmentPath
			Body wire.NewAppeal
		}) (wire.OwnHeldPay, error) {
			return as(toOwnPay)(a.app.Pay.Appeal(ctx, p, in.id, in.Body.Text))
		})
}

func payChoice(x *wire.ApprovePay) pay.Choice {
	return pay.Choice{Assignments: x.Assignments, Worker: x.Worker}
}

func toPayDecided(d pay.Decided) wire.PayDecided {
	return wire.PayDecided{Answers: d.Answers, AmountMicros: d.Amount}
}

func toHeldPays(list []pay.Held, more bool) wire.HeldPays {
	out := wire.HeldPays{Pay: lists.Map(list, toHeldPay)}
	if more {
		out.Next = list[len(list)-1].Assignment.String()
	}
	return out
}

func toHeldPay(h pay.Held) wire.HeldPay {
	return wire.HeldPay{Assignment: h.Assignment, Task: h.Task, Name: h.BatchName, Tenant: h.Tenant, Worker: h.By.Pseudonym, WorkerID: h.By.ID, WorkerName: h.By.Name, Own: h.Own, HeldPayState: toPayState(&h.HeldPay)}
}

func toOwnPay(x store.HeldPay) wire.OwnHeldPay {
	return wire.OwnHeldPay{Assignment: x.Assignment, Name: x.BatchName, HeldPayState: toPayState(&x)}
}

func toPayState(x *store.HeldPay) wire.HeldPayState {
	return wire.HeldPayState{AmountMicros: x.Amount, State: string(x.State), HeldAt: x.HeldAt, DueAt: x.DueAt, ClosedAt: x.ClosedAt,
		Refusal: toPaySaid(&x.Refusal), Appeal: toPaySaid(&x.Appeal), Decision: toPaySaid(&x.Decision)}
}

func toPaySaid(x *store.PaySaid) *wire.PaySaid {
	if x.At.IsZero() {
		return nil
	}
	return &wire.PaySaid{At: x.At, By: x.ByName, Text: x.Text}
}

// approval is how pay is approved.
func approval(x *wire.Approval) *engine.Approval {
	if x == nil {
		return nil
	}
	return &engine.Approval{Within: time.Duration(x.WithinSeconds) * time.Second, Appeal: time.Duration(x.AppealSeconds) * time.Second}
}

func toApproval(x *engine.Approval) *wire.Approval {
	if x == nil {
		return nil
	}
	return &wire.Approval{WithinSeconds: int64(x.Within / time.Second), AppealSeconds: int64(x.Appeal / time.Second)}
}
