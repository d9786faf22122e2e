package control

import (
	"context"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
)

// QueueView is the order in which a pool's policy takes batches.
type QueueView struct {
	Policy  string
	Batches []QueuedBatch // in order, as many as asked for; those without a place at the end
	Placed  int           // of all, those that have a place
	All     int
}

// QueuedBatch is a batch of the queue with its names.
type QueuedBatch struct {
	engine.Queued
	Name       string
	TenantName string
}

// Why is what the policy decides by, in words, or what keeps the batch out.
func (q *QueuedBatch) Why() string {
	switch {
	case q.Reason == crowd.EmergencyStop:
		return q.Stops.String()
	case q.Place == 0:
		return q.Reason.Text()
	}
	return q.Key.Reason()
}

// Queue lists the batches of a pool in the order in which its policy takes them now for
// somebody who may do everything and has done nothing yet. Admins only: it shows all
// tenants' batches.
func (s *Pools) Queue(ctx context.Context, p *access.Principal, id crowd.PoolID, limit int) (v QueueView, err error) {
	r, err := s.find(p, access.PoolsQueue, id)
	if err != nil {
		return v, err
	}
	var list []engine.Queued
	if err = r.Do(ctx, func(e *engine.Engine, now time.Time) {
		list, v.Placed, v.All = e.Queue(now, limit)
		v.Policy = e.PolicyName()
	}); err != nil {
		return v, err
	}
	names := s.names(ctx)
	v.Batches = []QueuedBatch{}
	for _, q := range list {
		v.Batches = append(v.Batches, QueuedBatch{Queued: q, Name: names.batch(q.Batch), TenantName: names.tenant(q.Tenant)})
	}
	return v, names.err
}

// Fairness returns how evenly a pool's people were spread within the last time, with the
// batches that had or were due most, up to a limit. Requesters see only what is their
// tenants'.
func (s *Pools) Fairness(ctx context.Context, p *access.Principal, id crowd.PoolID, back time.Duration, limit int) (FairnessView, error) {
	r, err := s.find(p, access.PoolsFairness, id)
	if err != nil {
		return FairnessView{}, err
	}
	whole, own := p.May(access.PoolsFairnessWhole) == nil, p.Tenants()
	v := s.control.fairness.view(id, s.cfg.Clock.Time(), back, func(t crowd.TenantID) bool { return whole || slices.Contains(own, t) })
	if v.Whole = whole; !whole {
		v.Now, v.Mean, v.Had, v.HadEver, v.Worked = unknownIndex, unknownIndex, hadIndex(nil), hadIndex(nil), 0
		coarse(v.Tenants)
		coarse(v.Batches)
		for i := range v.Points {
			p := &v.Points[i]
			p.Index = unknownIndex
			coarse(p.Tenants)
			coarse(p.Batches)
		}
	}
	v.Batches = v.Batches[:min(len(v.Batches), limit)]
	names := s.names(ctx)
	for i := range v.Tenants {
		v.Tenants[i].Name = names.tenant(v.Tenants[i].Tenant)
	}
	for i := range v.Batches {
		v.Batches[i].Name = names.batch(v.Batches[i].Batch)
	}
	if names.err != nil {
		return v, names.err
	}
	err = r.Do(ctx, func(e *engine.Engine, _ time.Time) { v.Policy = e.PolicyName() })
	return v, err
}

// names finds the names of tenants and batches, each once.
type names struct {
	ctx     context.Context
	pools   *Pools
	tenants map[crowd.TenantID]string
	err     error
}

func (s *Pools) names(ctx context.Context) *names {
	return &names{ctx: ctx, pools: s, tenants: map[crowd.TenantID]string{}}
}

func (n *names) tenant(id crowd.TenantID) string {
	name, known := n.tenants[id]
	if !known && n.err == nil {
		t, err := n.pools.cfg.Store.Tenant(n.ctx, id)
		name, n.err = t.Name, err
		n.tenants[id] = name
	}
	return name
}

func (n *names) batch(id crowd.BatchID) (name string) {
	if n.err == nil {
		b, err := n.pools.cfg.Store.Batch(n.ctx, 0, id)
		name, n.err = b.Name, err
	}
	return name
}
