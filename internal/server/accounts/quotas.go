package accounts

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/store"
)

// Quotas returns what a tenant may have of every quota, and what it has.
func (s *Tenants) Quotas(ctx context.Context, p *access.Principal, id crowd.TenantID) ([]limits.QuotaView, error) {
	if err := p.MayFor(access.TenantsQuotas, id); err != nil {
		return nil, err
	}
	if _, err := s.store.Tenant(ctx, id); err != nil {
		return nil, err
	}
	return s.quotas.Views(ctx, id)
}

// QuotaChange returns which quotas are set to what, given those that hold; nil: the default.
type QuotaChange func(now []limits.QuotaView) (map[store.Quota]*int64, error)

// SetQuotas sets some quotas of a tenant, as they are when nobody else sets them. What it has
// stays, also if that is more. Admins only.
func (s *Tenants) SetQuotas(ctx context.Context, p *access.Principal, id crowd.TenantID, change QuotaChange) ([]limits.QuotaView, error) {
	if err := p.May(access.TenantsSetQuotas); err != nil {
		return nil, err
	}
	if _, err := s.store.Tenant(ctx, id); err != nil {
		return nil, err
	}
	s.setting.Lock()
	defer s.setting.Unlock()
	now, err := s.quotas.Views(ctx, id)
	if err != nil {
		return nil, err
	}
	values, err := change(now)
	if err != nil {
		return nil, err
	}
	if len(values) > 0 {
		acting, act := s.acting(ctx, p, access.TenantsSetQuotas, id)
		type told struct{ Quotas map[store.Quota]int64 }
		before, after := make(map[store.Quota]int64), make(map[store.Quota]int64)
		for name := range values {
			before[name] = s.quotas.Limit(id, name)
		}
		maps.Copy(after, before)
		for name, value := range values {
			info, _ := name.Info()
			if after[name] = info.Default; value != nil {
				after[name] = *value
			}
		}
		act.Before, act.After = told{before}, told{after}
		if err := s.quotas.Set(acting, id, values); err != nil {
			return nil, err
		}
	}
	return s.quotas.Views(ctx, id)
}

// QuotaFigures is how full a quota is, over all tenants.
type QuotaFigures struct {
	store.QuotaInfo
	Highest float64 // share of it that a tenant uses, of the one that uses the largest
	Full    int     // tenants that use nine tenths of it or more
}

// nearlyFull is the share of a quota from which on it counts as full.
const nearlyFull = 0.9

// fullestFor is how long figures for a monitor are good: however often it asks, all that there
// is is not counted more often.
const fullestFor = 30 * time.Second

// Fullest tells of every quota how full it is, for a monitor.
func (s *Tenants) Fullest(ctx context.Context) ([]QuotaFigures, error) {
	s.counting.Lock()
	defer s.counting.Unlock()
	if now := s.clock.Time(); s.fullest == nil || now.Sub(s.counted) >= fullestFor {
		list, err := s.countFullest(ctx)
		if err != nil {
			return nil, err
		}
		s.fullest, s.counted = list, now
	}
	return slices.Clone(s.fullest), nil
}

func (s *Tenants) countFullest(ctx context.Context) ([]QuotaFigures, error) {
	all, err := s.quotas.ViewsOfAll(ctx)
	if err != nil {
		return nil, err
	}
	var out []QuotaFigures
	for _, info := range store.AllQuotas() {
		if info.Kind != store.Each {
			out = append(out, QuotaFigures{QuotaInfo: info})
		}
	}
	for _, views := range all {
		i := 0
		for _, v := range views {
			if v.Kind == store.Each {
				continue
			}
			share := v.Share()
			out[i].Highest = max(out[i].Highest, share)
			if share >= nearlyFull {
				out[i].Full++
			}
			i++
		}
	}
	return out, nil
}
