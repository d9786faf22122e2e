package sched

import (
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// strict serves the highest priority first, whatever runs already: a batch is handed
// out only when nothing of a higher priority suits the worker. A policy of its own
// orders the batches of each priority. "If a high-priority batch is submitted to the
// platform while a low-priority batch is still uncompleted, the HITs from the
// high-priority batch are to be scheduled to run first" (Section 3.1).
//
// Low priorities starve while higher ones have work: that is what it is for.
type strict struct {
	groups
	name       string
	slots      map[float64]uint32
	priorities []float64 // by slot, as the groups
	free       []uint32
	turns      map[crowd.TenantID]uint64 // of the tenants, if the inner policy reads them; else nil
}

// tenantTurner is a policy that reads the turns of tenants. A tenant may be served in
// one priority while their batches wait in another, whose policy hears nothing of it.
type tenantTurner interface {
	// tenantTurn tells that a tenant was served.
	tenantTurn(crowd.TenantID, uint64)
}

// A wrapper is a policy around one other that has all the batches.
type wrapper interface{ within() Policy }

// tenantTurnerOf returns the policy that reads the turns of tenants, itself or within
// wrappers; nil: none does.
func tenantTurnerOf(p Policy) tenantTurner {
	for {
		if t, ok := p.(tenantTurner); ok {
			return t
		}
		w, ok := p.(wrapper)
		if !ok {
			return nil
		}
		p = w.within()
	}
}

// NewStrictPriority returns the policy strict-priority over instances of another
// policy, one for each priority, made by fresh.
func NewStrictPriority(fresh func() Policy) Policy {
	p := &strict{
		name:  fmt.Sprintf("strict-priority(%s)", fresh().Name()),
		slots: map[float64]uint32{},
	}
	if tenantTurnerOf(fresh()) != nil {
		p.turns = map[crowd.TenantID]uint64{}
	}
	p.groups = newGroups(fresh, func(slot uint32) entry {
		return entry{Key: fromSigned(-p.priorities[slot]), Slot: slot}
	})
	return p
}

func (p *strict) Name() string { return p.name }

func (p *strict) Set(b *Batch) {
	if p.turns != nil {
		told := *b
		told.TenantTurn = p.tellTurn(b)
		b = &told
	}
	was, known := p.parts[b.ID]
	slot := p.slot(clampWeight(b.Priority))
	p.set(slot, b)
	p.release(slot)
	if known && was.group != slot {
		p.release(was.group)
	}
}

// tellTurn returns the tenant's last turn, and tells the other priorities of a new one.
func (p *strict) tellTurn(b *Batch) uint64 {
	was := p.turns[b.Tenant]
	now := max(was, lastTurn(b))
	if now > was {
		p.turns[b.Tenant] = now
		for i := range p.list {
			if t := tenantTurnerOf(p.list[i].inner); t != nil {
				t.tenantTurn(b.Tenant, now)
			}
		}
	}
	return now
}

func (p *strict) Remove(id crowd.BatchID) {
	if was, known := p.parts[id]; known {
		p.groups.Remove(id)
		p.release(was.group)
	}
}

// slot returns the slot of a priority, made if need be.
func (p *strict) slot(priority float64) uint32 {
	slot, known := p.slots[priority]
	if known {
		return slot
	}
	if n := len(p.free); n > 0 {
		slot, p.free = p.free[n-1], p.free[:n-1]
		p.priorities[slot] = priority
	} else {
		slot = uint32(len(p.list))
		p.priorities, p.list = append(p.priorities, priority), append(p.list, bucket{})
	}
	p.slots[priority] = slot
	return slot
}

// release frees the slot of a priority that no batch has any more.
func (p *strict) release(slot uint32) {
	if p.list[slot].open == 0 {
		delete(p.slots, p.priorities[slot])
		p.free = append(p.free, slot)
	}
}

func (p *strict) Key(id crowd.BatchID) (Key, bool) {
	slot, inner, known := p.key(id)
	if !known {
		return Key{}, false
	}
	priority := p.priorities[slot]
	k := Key{
		Policy:    p.name,
		Batch:     id,
		Candidate: inner.Candidate,
		Words:     fmt.Sprintf("the highest priority first: it has %s; then the inner order", format.Number(priority)),
		Figures:   []Figure{{"priority", Number(priority), ""}},
		Turn:      inner.Turn,
		Inner:     &inner,
	}
	k.Rank = append([]Number{Number(-priority)}, inner.Rank...)
	return k, true
}

var _ Policy = (*strict)(nil)
