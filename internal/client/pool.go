package client

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/sim/forecast"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/pool"
)

// Pools lists the pools.
func (c *Client) Pools(ctx context.Context) ([]wire.Pool, error) {
	return get[[]wire.Pool](ctx, c, "/v1/pools")
}

// CreatePool adds a pool. policy "": the default.
func (c *Client) CreatePool(ctx context.Context, name, policy string) (wire.Pool, error) {
	return post[wire.Pool](ctx, c, "/v1/pools", wire.NewPool{Name: name, Policy: policy})
}

// SetPolicy changes the policy of a pool.
func (c *Client) SetPolicy(ctx context.Context, id crowd.PoolID, policy string) (wire.Pool, error) {
	out, err := c.EditPool(ctx, id, wire.PoolEdit{Policy: &policy})
	return out.Pool, err
}

// PoolDetail returns all that there is to know of a pool.
func (c *Client) PoolDetail(ctx context.Context, id crowd.PoolID) (wire.PoolDetail, error) {
	return get[wire.PoolDetail](ctx, c, path("pools", id))
}

// EditPool changes a pool.
func (c *Client) EditPool(ctx context.Context, id crowd.PoolID, e wire.PoolEdit) (wire.PoolDetail, error) {
	return call[wire.PoolDetail](ctx, c, http.MethodPatch, path("pools", id), e)
}

// GrantPool grants a pool to a tenant; 0: to every tenant.
func (c *Client) GrantPool(ctx context.Context, id crowd.PoolID, tenant crowd.TenantID, invite bool) (wire.Pool, error) {
	return call[wire.Pool](ctx, c, http.MethodPut, path("pools", id, "grants", grantedTo(tenant)), wire.MayInvite{Invite: invite})
}

// RevokePool takes back what GrantPool has granted.
func (c *Client) RevokePool(ctx context.Context, id crowd.PoolID, tenant crowd.TenantID) (wire.Pool, error) {
	return call[wire.Pool](ctx, c, http.MethodDelete, path("pools", id, "grants", grantedTo(tenant)), nil)
}

func grantedTo(tenant crowd.TenantID) string {
	if tenant == 0 {
		return "all"
	}
	return tenant.String()
}

// StopEverything is the emergency stop of all pools, and its lifting.
func (c *Client) StopEverything(ctx context.Context, stopped bool) error {
	return c.call(ctx, http.MethodPost, "/v1/stop", wire.Stop{Stopped: stopped}, nil)
}

// FundPool adds to a pool's money for waiting, or takes out of it (negative).
func (c *Client) FundPool(ctx context.Context, id crowd.PoolID, amount crowd.Money) (wire.RetainerFunds, error) {
	return post[wire.RetainerFunds](ctx, c, path("pools", id, "funds"), wire.PoolFunding{AmountMicros: amount})
}

// PoolAccount returns a pool's money for waiting with its ledger entries, newest
// first: up to limit with ids below before (0: all).
func (c *Client) PoolAccount(ctx context.Context, id crowd.PoolID, before int64, limit int) (wire.Account, error) {
	return get[wire.Account](ctx, c, path("pools", id, "account")+query("limit", limit, "before", before))
}

// PoolActions returns what was done to a pool and why, newest first: up to limit
// entries with ids below before (0: all).
func (c *Client) PoolActions(ctx context.Context, id crowd.PoolID, before int64, limit int) ([]wire.PoolAction, error) {
	return get[[]wire.PoolAction](ctx, c, path("pools", id, "actions")+query("limit", limit, "before", before))
}

// PoolSamples returns the samples of a pool within the last time.
func (c *Client) PoolSamples(ctx context.Context, id crowd.PoolID, back time.Duration) ([]wire.PoolSample, error) {
	return get[[]wire.PoolSample](ctx, c, path("pools", id, "samples")+query("since_seconds", back.Seconds()))
}

// PoolQueue returns up to limit batches in the order in which the pool's policy takes them.
func (c *Client) PoolQueue(ctx context.Context, id crowd.PoolID, limit int) (wire.PoolQueue, error) {
	return get[wire.PoolQueue](ctx, c, path("pools", id, "queue")+query("limit", limit))
}

// PoolFairness returns how evenly a pool's people were spread within the last time, with
// up to limit batches.
func (c *Client) PoolFairness(ctx context.Context, id crowd.PoolID, back time.Duration, limit int) (wire.PoolFairness, error) {
	return get[wire.PoolFairness](ctx, c, path("pools", id, "fairness")+query("since_seconds", back.Seconds(), "limit", limit))
}

// PoolPeople lists a pool's people.
func (c *Client) PoolPeople(ctx context.Context, id crowd.PoolID) ([]wire.PoolPerson, error) {
	return get[[]wire.PoolPerson](ctx, c, path("pools", id, "people"))
}

// PoolCalls lists a pool's open calls.
func (c *Client) PoolCalls(ctx context.Context, id crowd.PoolID) ([]wire.PoolCall, error) {
	return get[[]wire.PoolCall](ctx, c, path("pools", id, "calls"))
}

// TestRules returns when rules (nil: those that the pool has) would have fired.
func (c *Client) TestRules(ctx context.Context, id crowd.PoolID, rules []pool.Rule) (wire.TestedRules, error) {
	in := wire.RulesToTest{}
	if rules != nil {
		in.Rules = &rules
	}
	return post[wire.TestedRules](ctx, c, path("pools", id, "rules", "test"), in)
}

// Transfer moves a worker from one pool to another. It reports whether they are
// there; if not, they finish what they hold first.
func (c *Client) Transfer(ctx context.Context, from crowd.PoolID, worker crowd.WorkerID, to crowd.PoolID) (there bool, err error) {
	out, err := post[wire.Transferred](ctx, c, path("pools", from, "transfers"), wire.Transfer{Worker: worker, To: to})
	return out.There, err
}

// PoolState copies a pool's state, to forecast it. Admins only.
func (c *Client) PoolState(ctx context.Context, id crowd.PoolID) (*forecast.State, error) {
	return get[*forecast.State](ctx, c, path("pools", id, "state"))
}

// Metrics copies what Prometheus reads. Admins only.
func (c *Client) Metrics(ctx context.Context, w io.Writer) error {
	return c.download(ctx, "/metrics", w)
}
