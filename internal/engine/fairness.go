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

// able is whether the pool has anybody for batches, by class: a look through the people for each
// batch takes too long where there are many of both.
type able map[sched.Class]*forTenants

// forTenants is for which tenants some of the people who meet a class work.
type forTenants struct {
	most   bool             // for all but those of but
	but    []crowd.TenantID // for whom none of those works who do not work for some tenants only
	serves map[crowd.TenantID]bool
}

// anybody reports whether somebody of the pool may do what b asks for, also if they are
// busy, away or lent, and whatever they have had of it.
func (a able) anybody(e *Engine, b *batch) bool {
	f := a[b.class]
	if f == nil {
		f = e.worksFor(&e.classes.list[b.class])
		a[b.class] = f
	}
	return f.serves[b.spec.Tenant] || f.most && !slices.Contains(f.but, b.spec.Tenant)
}

func (e *Engine) worksFor(k *class) *forTenants {
	f := &forTenants{serves: make(map[crowd.TenantID]bool)}
	for w := range e.members() {
		if w.suspended || !w.meets(k.tenant, k.requires) {
			continue
		}
		if f.add(w.forWhom); f.most && len(f.but) == 0 {
			break
		}
	}
	return f
}

// add takes in the tenants for which somebody works.
func (f *forTenants) add(x *forWhom) {
	works := func(t crowd.TenantID) bool { return x.bars(t) == crowd.Eligible }
	switch {
	case x != nil && len(x.serves) > 0:
		for _, t := range x.serves {
			f.serves[t] = f.serves[t] || works(t)
		}
	case f.most:
		f.but = slices.DeleteFunc(f.but, works)
	case x != nil:
		f.but = slices.Concat(x.blockedBy, x.staffOf)
	}
	f.most = f.most || x == nil || len(x.serves) == 0
}

// Shares returns how the pool's people are divided, in order of id: among the batches and
// among the tenants. Behind the batches, once, those for which somebody worked and that
// have ended since the last call, mostEnded of them. Of a batch that could use nobody, or
// that nobody of the pool may do, no more is wanted than the people whom it has. Training is
// left out: it is only for those who need it.
func (e *Engine) Shares(now time.Time) (batches []BatchShare, tenants []TenantShare) {
	e.elapse(now)
	running := make(map[crowd.TenantID]int)
	people := make(able)
	for _, b := range e.sortedBatches() {
		if b.spec.Training {
			continue
		}
		running[b.spec.Tenant] += b.inHand()
		x := e.share(b)
		if e.hindrance(b) == crowd.Eligible && people.anybody(e, b) {
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
