package engine

import (
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// heldTime is the time of people who hold tasks, summed up without a look at who they
// are: when one begins, the time until then is taken off, and put on when they cease. It
// may wrap around meanwhile.
type heldTime time.Duration

func (h *heldTime) hold(elapsed time.Duration, n int) {
	*h -= heldTime(n) * heldTime(elapsed)
}

// until is the time when people hold so many tasks.
func (h heldTime) until(elapsed time.Duration, running int) time.Duration {
	return time.Duration(h) + time.Duration(running)*elapsed
}

// BatchShare is what a batch has of the pool's people, and what it could use.
type BatchShare struct {
	Batch   crowd.BatchID
	Planned int // T_b
	Running int // R_b
	sched.Claim
	Held time.Duration // time of people since the engine was made
}

// TenantShare is what a tenant has of the pool's people.
type TenantShare struct {
	Tenant crowd.TenantID
	Weight float64
	Held   time.Duration // time of people since the engine was made, also for batches that have ended
}

// mostEnded batches are kept for Shares.
const mostEnded = 1000

// share is what a batch has and had; nothing is wanted but what people hold.
func (e *Engine) share(b *batch) BatchShare {
	inHand := b.inHand()
	return BatchShare{Batch: b.spec.ID, Planned: b.planned, Running: inHand, Held: b.held.until(e.elapsed, inHand),
		Claim: sched.Claim{Tenant: b.spec.Tenant, TenantWeight: b.tenant.Weight, Priority: b.spec.Priority, Wanted: inHand}}
}

// keepHeld keeps what people did for a batch that ends, for the next Shares.
func (e *Engine) keepHeld(b *batch) {
	if x := e.share(b); x.Held > 0 && len(e.ended) < mostEnded {
		e.ended = append(e.ended, x)
	}
}

// Shares returns how the pool's people are divided, in order of id: among the batches and
// among the tenants. Behind the batches, once, those for which somebody worked and that
// have ended since the last call, mostEnded of them. Of a batch that could use nobody and
// has nobody nothing is wanted. Training is left out: it is only for those who need it.
func (e *Engine) Shares(now time.Time) (batches []BatchShare, tenants []TenantShare) {
	e.elapse(now)
	running := make(map[crowd.TenantID]int)
	for _, b := range e.sortedBatches() {
		if b.spec.Training {
			continue
		}
		running[b.spec.Tenant] += b.inHand()
		x := e.share(b)
		if e.hindrance(b) == crowd.Eligible {
			x.Wanted += b.waiting()
		}
		batches = append(batches, x)
	}
	batches, e.ended = append(batches, e.ended...), nil
	for _, t := range e.tenants {
		tenants = append(tenants, TenantShare{t.ID, t.Weight, t.held.until(e.elapsed, running[t.ID])})
	}
	slices.SortFunc(tenants, func(x, y TenantShare) int { return int(x.Tenant - y.Tenant) })
	return batches, tenants
}
