package api

import (
	"context"
	"math"
	"net/http"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/sched"
)

func toQueue(v control.QueueView) wire.PoolQueue {
	return wire.PoolQueue{Policy: v.Policy, Placed: v.Placed, All: v.All, Batches: lists.Map(v.Batches, func(q control.QueuedBatch) wire.QueuedBatch {
		out := wire.QueuedBatch{Place: q.Place, Batch: q.Batch, Name: q.Name, Tenant: q.Tenant, TenantName: q.TenantName, Running: q.Running, Waiting: q.Waiting, Why: q.Why(), Decides: toKeys(&q.Key)}
		if q.Place == 0 && q.Reason != crowd.Eligible {
			out.Reason = &q.Reason
		}
		return out
	})}
}

// toKeys lists a key and those within it.
func toKeys(k *sched.Key) (list []wire.QueueKey) {
	for ; k != nil; k = k.Inner {
		list = append(list, wire.QueueKey{Policy: k.Policy, Words: k.Words, Figures: lists.Map(k.Figures, func(f sched.Figure) wire.QueueFigure {
			return wire.QueueFigure{Name: f.Name, Value: finite(float64(f.Value)), Note: f.Note}
		})})
	}
	return list
}

// finite returns nil for what JSON has no number for.
func finite(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

func toIndex(x control.FairnessIndex) wire.FairnessIndex {
	return wire.FairnessIndex{Jain: finite(x.Jain), JInf: finite(x.JInf), Among: finite(x.Tenants), Served: finite(x.Served)}
}

// portions writes portions; times are for who sees the whole.
type portions struct{ whole bool }

func (x portions) of(p control.NamedPortion) wire.Portion {
	out := wire.Portion{Share: p.Share, DueShare: p.Part}
	if x.whole {
		worked, due := p.Worked.Seconds(), p.Due.Seconds()
		out.WorkedSeconds, out.DueSeconds = &worked, &due
	}
	return out
}

func (x portions) tenant(p control.NamedPortion) wire.TenantPortion {
	return wire.TenantPortion{Tenant: p.Tenant, Name: p.Name, Portion: x.of(p)}
}

func (x portions) batch(p control.NamedPortion) wire.BatchPortion {
	return wire.BatchPortion{Batch: p.Batch, Tenant: p.Tenant, Name: p.Name, Portion: x.of(p)}
}

func toFairness(v control.FairnessView) wire.PoolFairness {
	x := portions{v.Whole}
	out := wire.PoolFairness{Policy: v.Policy, Since: v.Since, At: v.At, From: v.From,
		Tenants: lists.Map(v.Tenants, x.tenant), Batches: lists.Map(v.Batches, x.batch),
		Points: lists.Map(v.Points, func(p control.FairnessPoint) wire.FairnessPoint {
			return wire.FairnessPoint{At: p.At, FairnessIndex: toIndex(p.Index), Tenants: lists.Map(p.Tenants, x.tenant), Batches: lists.Map(p.Batches, x.batch)}
		})}
	if v.Whole {
		now, mean := toIndex(v.Now), toIndex(v.Mean)
		out.Now, out.Mean = &now, &mean
		out.Had, out.HadEver = toHad(v.Had), toHad(v.HadEver)
		verdict, least := v.Verdict()
		out.Verdict = string(verdict)
		if least != nil {
			t := x.tenant(*least)
			out.Least = &t
		}
	}
	return out
}

func toHad(x control.HadIndex) *wire.HadIndex {
	return &wire.HadIndex{Jain: finite(x.Jain), JInf: finite(x.JInf), LeftOut: x.LeftOut}
}

// fairPools registers the queue of a pool, and how evenly its people were spread.
func (a *api) fairPools() {
	add(a, op{method: http.MethodGet, path: "/v1/pools/{id}/queue", summary: "Show the order in which a pool's policy takes batches now, and why", tag: poolTag, access: signedIn,
		text: "It is the order for somebody who may do everything and has done nothing yet: who may not do a batch, or had all its tasks, gets the next one; `wcfs` lets batches wait for people who are at them already. Training is not in it. Who may not see money is not told what a policy within `by-reward` compares. For who may see pools of the installation (`pools.read`)."},
		func(ctx context.Context, p *access.Principal, in *struct {
			PoolPath
			Limit int `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"so many batches at most"`
		}) (wire.PoolQueue, error) {
			return as(toQueue)(a.app.Pools.Queue(ctx, p, in.id, in.Limit))
		})
	add(a, op{method: http.MethodGet, path: "/v1/pools/{id}/fairness", summary: "Show how evenly a pool's people were spread over tenants and batches", tag: poolTag, access: signedIn,
		text: "Counted since the server was started, looked at every ten seconds, by the minute for a day. Requesters get the shares that their own tenants and batches had and were due, in whole percent, and neither times nor an index."},
		func(ctx context.Context, p *access.Principal, in *struct {
			PoolPath
			Since float64 `query:"since_seconds" minimum:"1" maximum:"86400" default:"3600" doc:"how far back"`
			Limit int     `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"so many batches at most"`
		}) (wire.PoolFairness, error) {
			return as(toFairness)(a.app.Pools.Fairness(ctx, p, in.id, instant.Seconds(in.Since), in.Limit))
		})
}
