package sched

import (
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
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
type tenantFair struct {
	groups
	name    string
	slots   map[crowd.TenantID]uint32
	tenants []tenant // by slot, as the groups
}

// A tenant is what is kept of it besides its batches.
type tenant struct {
	id     crowd.TenantID
	weight float64
	turn   uint64
}

// NewTenantFair returns the policy tenant-fair over instances of another
// policy, one for each tenant, made by fresh.
func NewTenantFair(fresh func() Policy) Policy {
	p := &tenantFair{
		name:  fmt.Sprintf("tenant-fair(%s)", fresh().Name()),
		slots: map[crowd.TenantID]uint32{},
	}
	p.groups = newGroups(fresh, func(slot uint32) entry {
		t := &p.tenants[slot]
		return entry{Key: fromFloat(p.share(slot)), Turn: t.turn, ID: int64(t.id), Slot: slot}
	})
	return p
}

func (p *tenantFair) Name() string { return p.name }

func (p *tenantFair) Set(b *Batch) {
	slot := p.slot(b.Tenant)
	t := &p.tenants[slot]
	t.weight = clampWeight(b.TenantWeight)
	t.turn = max(t.turn, lastTurn(b))
	p.set(slot, b)
}

// lastTurn is the tenant's last turn as far as a batch tells it.
func lastTurn(b *Batch) uint64 {
	if b.Running > 0 || b.Completed > 0 {
		return max(b.TenantTurn, b.Turn)
	}
	return b.TenantTurn
}

func (p *tenantFair) tenantTurn(id crowd.TenantID, turn uint64) {
	if slot, known := p.slots[id]; known && turn > p.tenants[slot].turn {
		p.tenants[slot].turn = turn
		p.order(slot)
	}
}

// slot returns the tenant's slot, made if need be. Tenants are few and are
// never forgotten.
func (p *tenantFair) slot(id crowd.TenantID) uint32 {
	slot, known := p.slots[id]
	if !known {
		slot = uint32(len(p.tenants))
		p.slots[id] = slot
		p.tenants, p.list = append(p.tenants, tenant{id: id}), append(p.list, bucket{})
	}
	return slot
}

func (p *tenantFair) share(slot uint32) float64 {
	return float64(p.list[slot].running) / p.tenants[slot].weight
}

func (p *tenantFair) Key(id crowd.BatchID) (Key, bool) {
	slot, inner, known := p.key(id)
	if !known {
		return Key{}, false
	}
	t, running, share := &p.tenants[slot], p.list[slot].running, p.share(slot)
	k := Key{
		Policy:    p.name,
		Batch:     id,
		Candidate: inner.Candidate,
		Words: fmt.Sprintf("least tenant share first: tenant %s has %d running, weight %s, so share %g; then the inner order",
			t.id, running, format.Number(t.weight), share),
		Figures: []Figure{
			{"tenant_running", Number(running), "running in all batches of tenant " + t.id.String()},
			{"tenant_weight", Number(t.weight), ""},
			{"share", Number(share), "tenant_running / tenant_weight"},
			{"tenant_turn", Number(t.turn), "hand-outs of the pool when the tenant was last served"},
		},
		Turn:  inner.Turn,
		Inner: &inner,
	}
	k.Rank = append([]Number{Number(share), Number(t.turn), Number(t.id)}, inner.Rank...)
	return k, true
}

var _ Policy = (*tenantFair)(nil)
