package control

import (
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
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

	at time.Time // of the order
}

// dateTime is how a policy writes a time in the words of a key.
var dateTime = regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z`)

// toldAt writes the times in a policy's words for somebody who reads them at now.
func toldAt(now time.Time, words string) string {
	return dateTime.ReplaceAllStringFunc(words, func(found string) string {
		t, err := time.Parse(time.RFC3339Nano, found)
		if err != nil {
			return found // it is none
		}
		return format.Moment(now, t)
	})
}

// Why is what the policy decides by, in words, or what keeps the batch out.
func (q *QueuedBatch) Why() string {
	switch {
	case q.Reason == crowd.EmergencyStop:
		return q.Stops.String()
	case q.Place == 0:
		return q.Reason.Text()
	}
	return toldAt(q.at, q.Key.Reason())
}

// Queue lists the batches of a pool in the order in which its policy takes them now for
// somebody who may do everything and has done nothing yet. Who may see pools of the
// installation only: it shows all tenants' batches. Who may not see money is not told what
// rewards can be told from.
func (s *Pools) Queue(ctx context.Context, p *access.Principal, id crowd.PoolID, limit int) (v QueueView, err error) {
	r, err := s.find(p, access.PoolsQueue, id)
	if err != nil {
		return v, err
	}
	var list []engine.Queued
	var at time.Time
	if err = r.Read(ctx, func(e *engine.Engine, now time.Time) {
		list, v.Placed, v.All = e.Queue(now, limit)
		v.Policy, at = e.PolicyName(), now
	}); err != nil {
		return v, err
	}
	if p.May(access.PoolsQueueMoney) != nil {
		for i := range list {
			list[i].Key = list[i].Key.WithoutRewards()
		}
	}
	names, err := s.names(ctx, lists.Map(list, func(q engine.Queued) crowd.BatchID { return q.Batch }))
	v.Batches = lists.Map(list, func(q engine.Queued) QueuedBatch {
		return QueuedBatch{Queued: q, Name: names.batches[q.Batch], TenantName: names.tenants[q.Tenant], at: at}
	})
	return v, err
}

// Fairness returns how evenly a pool's people were spread within the last time, with the
// batches that had or were due most, up to a limit. Who may see it of some tenants sees only
// what is theirs, and no point in which that is nothing.
func (s *Pools) Fairness(ctx context.Context, p *access.Principal, id crowd.PoolID, back time.Duration, limit int) (FairnessView, error) {
	r, err := s.find(p, access.PoolsFairness, id)
	if err != nil {
		return FairnessView{}, err
	}
	whole, own := p.May(access.PoolsFairnessWhole) == nil, p.TenantsWith(access.PoolsFairness.Needs)
	v := s.control.fairness.view(id, s.cfg.Clock.Time(), back, func(t crowd.TenantID) bool { return whole || slices.Contains(own, t) })
	if v.Whole = whole; !whole {
		v.Now, v.Mean, v.Had, v.HadEver, v.Worked = unknownIndex, unknownIndex, hadIndex(nil), hadIndex(nil), 0
		sharesOnly(v.Tenants)
		sharesOnly(v.Batches)
		v.Points = slices.DeleteFunc(v.Points, func(p FairnessPoint) bool { return len(p.Tenants)+len(p.Batches) == 0 })
		for i := range v.Points {
			p := &v.Points[i]
			p.Index = unknownIndex
			sharesOnly(p.Tenants)
			sharesOnly(p.Batches)
		}
	}
	v.Batches = v.Batches[:min(len(v.Batches), limit)]
	names, err := s.names(ctx, lists.Map(v.Batches, func(b NamedPortion) crowd.BatchID { return b.Batch }))
	if err != nil {
		return v, err
	}
	for i := range v.Tenants {
		v.Tenants[i].Name = names.tenants[v.Tenants[i].Tenant]
	}
	for i := range v.Batches {
		v.Batches[i].Name = names.batches[v.Batches[i].Batch]
	}
	err = r.Read(ctx, func(e *engine.Engine, _ time.Time) { v.Policy = e.PolicyName() })
	return v, err
}

// names are the names of tenants and batches.
type names struct {
	tenants map[crowd.TenantID]string
	batches map[crowd.BatchID]string
}

// names reads the names of all tenants and of some batches.
func (s *Pools) names(ctx context.Context, batches []crowd.BatchID) (n names, err error) {
	tenants, err := s.cfg.Store.ListTenants(ctx)
	if err != nil {
		return n, err
	}
	n.tenants = make(map[crowd.TenantID]string, len(tenants))
	for _, t := range tenants {
		n.tenants[t.ID] = t.Name
	}
	n.batches, err = s.cfg.Store.BatchNames(ctx, batches)
	return n, err
}
