package sched

import (
	"fmt"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// tenantFair is fair between tenants first: the tenant with the least share is
// served, and a policy of its own orders the batches of each tenant.
//
//	share = Σ_{b of the tenant} R_b / TenantWeight
//
// Ties go to the tenant served longest ago, then to the least id. The share is a
// sum over the tenant's batches and the turn is the tenant's own, so neither
// depends on how the tenant cuts its work into batches: splitting gains nothing.
//
// A tenant's turn is the greatest number of hand-outs that it was told of: as
// TenantTurn, or as the Turn of a batch that has been started. (The Turn of one
// that has not is its launch, which is no service.) It outlives the tenant's
// batches, so that finishing a batch does not move the tenant forward. Of differing
// TenantWeights of a tenant the last told counts.
//
// A tenant none of whose batches suits the worker is passed over. A decision
// costs O(log tenants) and the inner policy's decision, for each tenant tried.
type tenantFair struct {
	fresh   func() Policy
	name    string
	slots   map[crowd.TenantID]uint32
	tenants []tenant // by slot
	parts   map[crowd.BatchID]part
	ix      index // the tenants with a candidate, in one class
}

type tenant struct {
	id         crowd.TenantID
	weight     float64
	running    int64
	turn       uint64
	open       int    // batches
	candidates int    // of those, assignable ones
	inner      Policy // nil while open is 0
}

// A part is what a batch contributes to its tenant.
type part struct {
	tenant     uint32 // slot
	running    uint32
	assignable bool
}

// NewTenantFair returns the policy tenant-fair over instances of another
// policy, one for each tenant, made by fresh.
func NewTenantFair(fresh func() Policy) Policy {
	return &tenantFair{
		fresh: fresh,
		name:  fmt.Sprintf("tenant-fair(%s)", fresh().Name()),
		slots: map[crowd.TenantID]uint32{},
		parts: map[crowd.BatchID]part{},
	}
}

func (p *tenantFair) Name() string { return p.name }

func (p *tenantFair) Set(b *Batch) {
	slot := p.slot(b.Tenant)
	old, known := p.parts[b.ID]
	if known && (old.tenant != slot || !b.Open()) {
		p.Remove(b.ID)
		old, known = part{}, false
	}
	t := &p.tenants[slot]
	t.weight = clampWeight(b.TenantWeight)
	t.turn = max(t.turn, b.TenantTurn)
	if b.Running > 0 || b.Completed > 0 {
		t.turn = max(t.turn, b.Turn)
	}
	if b.Open() {
		if !known {
			t.open++
		}
		now := part{slot, clampCount(b.Running), b.Assignable}
		t.replace(old, now)
		if !known || now != old {
			p.parts[b.ID] = now
		}
		if t.inner == nil {
			t.inner = p.fresh()
		}
		t.inner.Set(b)
	}
	p.place(slot)
}

func (p *tenantFair) Remove(id crowd.BatchID) {
	old, known := p.parts[id]
	if !known {
		return
	}
	delete(p.parts, id)
	t := &p.tenants[old.tenant]
	t.replace(old, part{})
	t.open--
	if t.open == 0 {
		t.inner = nil
	} else {
		t.inner.Remove(id)
	}
	p.place(old.tenant)
}

// replace changes what a batch contributes.
func (t *tenant) replace(old, now part) {
	t.running += int64(now.running) - int64(old.running)
	if old.assignable {
		t.candidates--
	}
	if now.assignable {
		t.candidates++
	}
}

// slot returns the tenant's slot, made if need be. Tenants are few and are
// never forgotten.
func (p *tenantFair) slot(id crowd.TenantID) uint32 {
	slot, known := p.slots[id]
	if !known {
		slot = uint32(len(p.tenants))
		p.slots[id] = slot
		p.tenants = append(p.tenants, tenant{id: id})
	}
	return slot
}

// place puts the tenant where it belongs in the order.
func (p *tenantFair) place(slot uint32) {
	t := &p.tenants[slot]
	if t.candidates == 0 {
		p.ix.drop(slot)
		return
	}
	p.ix.set(cell{}, entry{Key: fromFloat(t.share()), Turn: t.turn, ID: int64(t.id), Slot: slot})
}

func (t *tenant) share() float64 { return float64(t.running) / t.weight }

func (p *tenantFair) Next(now time.Time, w Worker) crowd.BatchID {
	walk := p.ix.walk(nil)
	for e, ok := walk.next(); ok; e, ok = walk.next() {
		if id := p.tenants[e.Slot].inner.Next(now, w); id != 0 {
			return id
		}
	}
	return 0
}

func (p *tenantFair) Key(id crowd.BatchID) (Key, bool) {
	at, known := p.parts[id]
	if !known {
		return Key{}, false
	}
	t := &p.tenants[at.tenant]
	inner, _ := t.inner.Key(id)
	k := Key{
		Policy:    p.name,
		Batch:     id,
		Candidate: inner.Candidate,
		Words: fmt.Sprintf("least tenant share first: tenant %s has %d running, weight %g, so share %g; then the inner order",
			t.id, t.running, t.weight, t.share()),
		Figures: []Figure{
			{"tenant_running", Number(t.running), "running in all batches of tenant " + t.id.String()},
			{"tenant_weight", Number(t.weight), ""},
			{"share", Number(t.share()), "tenant_running / tenant_weight"},
			{"tenant_turn", Number(t.turn), "hand-outs of the pool when the tenant was last served"},
		},
		Turn:  inner.Turn,
		Inner: &inner,
	}
	k.Rank = append([]Number{Number(t.share()), Number(t.turn), Number(t.id)}, inner.Rank...)
	return k, true
}

var _ Policy = (*tenantFair)(nil)
