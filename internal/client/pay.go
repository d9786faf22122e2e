package client

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// PayQuery says which held pay is asked for.
type PayQuery struct {
	State  string // "": any
	Worker string // of a batch's; "": of all
	After  string // Next of the page before; "": the first one
	Limit  int    // of a page, 1 to 500; 0: 100
}

func (q PayQuery) pairs() []any {
	pairs := []any{"state", q.State, "worker", q.Worker, "after", q.After}
	if q.Limit > 0 {
		pairs = append(pairs, "limit", q.Limit)
	}
	return pairs
}

// HeldPay returns a page of the pay of a batch that was held for approval.
func (c *Client) HeldPay(ctx context.Context, id crowd.BatchID, q PayQuery) (wire.HeldPays, error) {
	return get[wire.HeldPays](ctx, c, path("batches", id, "pay")+query(q.pairs()...))
}

// ApprovePay pays what is held.
func (c *Client) ApprovePay(ctx context.Context, id crowd.BatchID, x wire.ApprovePay) (wire.PayDecided, error) {
	return post[wire.PayDecided](ctx, c, path("batches", id, "pay", "approve"), x)
}

// RefusePay refuses what is held, with a reason.
func (c *Client) RefusePay(ctx context.Context, id crowd.BatchID, x wire.RefusePay) (wire.PayDecided, error) {
	return post[wire.PayDecided](ctx, c, path("batches", id, "pay", "refuse"), x)
}

// Appeals returns a page of the appeals that nobody has decided, of a tenant or (0) of all that one sees.
func (c *Client) Appeals(ctx context.Context, tenant crowd.TenantID, after string) (wire.HeldPays, error) {
	of := ""
	if tenant != 0 {
		of = tenant.String()
	}
	return get[wire.HeldPays](ctx, c, "/v1/appeals"+query("tenant", of, "after", after, "limit", 500))
}

// DecideAppeal decides an appeal.
func (c *Client) DecideAppeal(ctx context.Context, id crowd.AssignmentID, x wire.AppealDecision) (wire.HeldPay, error) {
	return post[wire.HeldPay](ctx, c, path("appeals", id), x)
}

// OwnPay returns a page of the worker's pay that was held.
func (c *Client) OwnPay(ctx context.Context, q PayQuery) (wire.OwnPay, error) {
	return get[wire.OwnPay](ctx, c, "/v1/work/pay"+query(q.pairs()...))
}

// Appeal appeals against the refusal of the worker's pay.
func (c *Client) Appeal(ctx context.Context, id crowd.AssignmentID, text string) (wire.OwnHeldPay, error) {
	return post[wire.OwnHeldPay](ctx, c, path("work", "pay", id, "appeal"), wire.NewAppeal{Text: text})
}
