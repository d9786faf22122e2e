package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/store"
)

// shares divides what waiting costs among the tenants, once a minute: by the time
// that people of the pool spent on each one's tasks within the last hour; if they
// spent none, by weight among the tenants with running batches; if there are
// none, the pool bears it. A tenant is never charged more than it has; the pool
// bears the rest. What was paid since the last division before the server ended is
// divided by the next server, as the ledger has it.
type shares map[crowd.PoolID]*poolShares

type poolShares struct {
	settled time.Time
	paid    crowd.Money // for waiting, up to the last settlement
	before  crowd.Money // what was paid by the server before this one and not divided yet
	past    []usage     // oldest first, within useWindow
	unsure  bool        // whether the last division was kept: only the store knows
}

// usage is the tenants' use at a moment, since the engine was restored.
type usage struct {
	at   time.Time
	used map[crowd.TenantID]time.Duration
}

const (
	settleEvery = time.Minute
	settleSteps = 20 // the pools are settled in turn, within so many steps or fewer
	useWindow   = time.Hour
)

// shareWaiting charges the tenants what the pools have paid for waiting.
func (c *Control) shareWaiting(ctx context.Context, now time.Time) error {
	pools := c.cfg.Live.List()
	turns := max(settleSteps, (len(pools)+settleSteps-1)/settleSteps)
	var errs []error
	for _, p := range pools {
		ps := c.shares[p.ID]
		if ps == nil {
			ps = &poolShares{}
			c.shares[p.ID] = ps
		}
		if turns == 0 || !ps.settled.IsZero() && now.Sub(ps.settled) < settleEvery {
			continue
		}
		turns--
		ps.settled = now
		if err := c.sharePool(ctx, now, p, ps); err != nil {
			errs = append(errs, fmt.Errorf("share what waiting costs in pool %s: %w", p.ID, err))
		}
	}
	return errors.Join(errs...)
}

func (c *Control) sharePool(ctx context.Context, now time.Time, p store.Pool, ps *poolShares) error {
	r, err := c.cfg.Live.Get(p.ID)
	if err != nil {
		return err
	}
	if ps.unsure { // read before what is paid: nothing may be divided twice
		if ps.before, err = undivided(ctx, c.cfg.Store, p.ID); err != nil {
			return err
		}
	}
	var uses []engine.Use
	var paid crowd.Money
	if err := r.Do(ctx, func(e *engine.Engine, now time.Time) { uses, paid = e.Uses(), e.RetainerFunds(now).Paid }); err != nil {
		return err
	}
	if p.Retainer.Rate == 0 && paid+ps.before == 0 {
		return nil
	}
	if paid < ps.paid { // the engine was restored, and counts from nothing
		ps.paid, ps.past = 0, []usage{{at: now}}
	}
	if ps.unsure {
		ps.paid, ps.unsure = paid, false
	}
	amount := ps.before + paid - ps.paid
	ps.before, ps.paid = 0, paid
	weights := ps.observe(now, uses)
	if amount == 0 {
		return nil
	}
	if len(weights) == 0 {
		if weights, err = c.openTenants(ctx, uses); err != nil {
			ps.before = amount
			return err
		}
	}
	if ps.unsure, err = c.charge(ctx, r, p, divide(amount, weights)); err != nil && !ps.unsure {
		ps.before = amount
	}
	return err
}

// resume finds what the server before this one has not divided.
func (s shares) resume(ctx context.Context, c *Control) error {
	for _, p := range c.cfg.Live.List() {
		sum, err := undivided(ctx, c.cfg.Store, p.ID)
		if err != nil {
			return err
		}
		if sum > 0 {
			s[p.ID] = &poolShares{before: sum}
		}
	}
	return nil
}

// undivided returns what a pool has paid for waiting since tenants bore a share of it last,
// and within the last minute in which it paid something: it had divided what is older, or
// bore it.
func undivided(ctx context.Context, ledger store.Ledger, id crowd.PoolID) (sum crowd.Money, err error) {
	const page = 1000
	var latest time.Time
	for before := int64(0); ; {
		entries, err := ledger.Entries(ctx, engine.Account{Kind: engine.PoolAccount, ID: int64(id)}, before, page)
		if err != nil {
			return 0, err
		}
		for i := range entries {
			x := &entries[i]
			if x.Kind == engine.WaitingShare {
				return sum, nil
			}
			if x.Kind != engine.Waiting {
				continue
			}
			if latest.IsZero() {
				latest = x.At
			}
			if latest.Sub(x.At) > settleEvery {
				return sum, nil
			}
			sum += x.Amount
		}
		if len(entries) < page {
			return sum, nil
		}
		before = entries[len(entries)-1].ID
	}
}

// observe adds the present use and returns each tenant's within the window.
func (ps *poolShares) observe(now time.Time, uses []engine.Use) map[crowd.TenantID]float64 {
	u := usage{at: now, used: make(map[crowd.TenantID]time.Duration, len(uses))}
	for _, x := range uses {
		u.used[x.Tenant] = x.Worked
	}
	ps.past = append(ps.past, u)
	for len(ps.past) > 2 && now.Sub(ps.past[1].at) >= useWindow {
		ps.past = ps.past[1:]
	}
	weights := make(map[crowd.TenantID]float64)
	first := ps.past[0].used
	if len(ps.past) == 1 {
		first = nil // all that the engine knows of
	}
	for t, used := range u.used {
		if d := used - first[t]; d > 0 {
			weights[t] = d.Seconds()
		}
	}
	return weights
}

func (c *Control) openTenants(ctx context.Context, uses []engine.Use) (map[crowd.TenantID]float64, error) {
	weights := make(map[crowd.TenantID]float64)
	for _, x := range uses {
		if x.Open {
			t, err := c.cfg.Store.Tenant(ctx, x.Tenant)
			if err != nil {
				return nil, err
			}
			weights[x.Tenant] = t.Weight
		}
	}
	return weights, nil
}

// divide splits an amount by weight, to the micro-unit: what rounding leaves goes
// to the largest remainders, then the least id.
func divide(amount crowd.Money, weights map[crowd.TenantID]float64) map[crowd.TenantID]crowd.Money {
	sum := 0.0
	ids := slices.Sorted(maps.Keys(weights))
	for _, id := range ids {
		sum += weights[id]
	}
	if !(sum > 0) {
		return nil
	}
	parts, rest := make(map[crowd.TenantID]crowd.Money, len(ids)), make(map[crowd.TenantID]float64, len(ids))
	left := amount
	for _, id := range ids {
		exact := float64(amount) * (weights[id] / sum)
		part := min(crowd.Money(exact), left)
		parts[id], rest[id] = part, exact-float64(part)
		left -= part
	}
	slices.SortStableFunc(ids, func(x, y crowd.TenantID) int { return cmp.Compare(rest[y], rest[x]) })
	for i := 0; left > 0; i = (i + 1) % len(ids) {
		parts[ids[i]]++
		left--
	}
	return parts
}

// charge moves the tenants' parts to the pool, as far as they have the money, in
// one commit. With an error, unsure says that this may have been kept.
func (c *Control) charge(ctx context.Context, r *live.Pool, p store.Pool, parts map[crowd.TenantID]crowd.Money) (unsure bool, _ error) {
	defer c.cfg.Funds.Hold()()
	due := make(map[engine.Account]crowd.Money, len(parts))
	order := make([]engine.Account, 0, len(parts))
	for _, id := range slices.Sorted(maps.Keys(parts)) {
		account := engine.Account{Kind: engine.TenantAccount, ID: int64(id)}
		balance, err := c.cfg.Funds.Balance(ctx, id)
		if err != nil {
			return false, err
		}
		part := min(parts[id], balance)
		if part < parts[id] {
			c.cfg.Log.Warn("a tenant cannot pay its share of waiting; the pool bears it", "tenant", id.String(), "pool", p.ID.String(), "share", parts[id].String(), "has", balance.String())
		}
		if part > 0 {
			due[account], order = part, append(order, account)
		}
	}
	if len(order) == 0 {
		return false, nil
	}
	err := r.Command(ctx, func(e *engine.Engine, now time.Time) error {
		for _, account := range order {
			if err := e.Fund(now, account, due[account]); err != nil {
				return err
			}
		}
		return nil
	})
	return err != nil, err
}
