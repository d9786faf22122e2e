package api

import (
	"context"
	"net/http"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/retention"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

func toRetentionRule(r retention.Rule) wire.RetentionRule {
	return wire.RetentionRule{Kind: string(r.Kind), Days: r.Keeps, Since: r.Since, Set: r.Set, Default: r.Bounds.Days(nil), Least: r.Least, Most: r.Most, Goes: r.Goes, Stays: r.Stays}
}

func toRetention(id crowd.TenantID) func([]retention.Rule, error) (wire.Retention, error) {
	return as(func(list []retention.Rule) wire.Retention {
		return wire.Retention{Tenant: id, Rules: lists.Map(list, toRetentionRule)}
	})
}

func toExpiry(e retention.Expiry) wire.Expiry {
	return wire.Expiry{Kind: string(e.Kind), Batch: e.Batch, Run: e.Run, Name: e.Name, EndedAt: e.EndedAt, At: e.At, NeededBy: e.NeededBy}
}

// daysByKind are the days of a body, by kind.
func daysByKind(of map[string]*int) map[store.Retained]*int {
	days := make(map[store.Retained]*int, len(of))
	for kind, n := range of {
		days[store.Retained(kind)] = n
	}
	return days
}

func (a *api) retention() {
	const tag = "Tenants and money"
	add(a, op{method: http.MethodGet, path: "/v1/tenants/{id}/retention", summary: "Show for how long a tenant keeps what", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *TenantPath) (wire.Retention, error) {
			return toRetention(in.id)(a.app.Retention.Get(ctx, p, in.id))
		})
	add(a, op{method: http.MethodPut, path: "/v1/tenants/{id}/retention", summary: "Set for how long a tenant keeps what", tag: tag, access: access.RetentionSet,
		text: "What has been kept for longer is deleted within some minutes, and cannot be had back: the preview says what that is. Needs the permission retention.change."},
		func(ctx context.Context, p *access.Principal, in *struct {
			TenantPath
			Body wire.SetRetention
		}) (wire.Retention, error) {
			return toRetention(in.id)(a.app.Retention.Set(ctx, p, in.id, daysByKind(in.Body.Days)))
		})
	add(a, op{method: http.MethodGet, path: "/v1/tenants/{id}/retention/preview", summary: "Say what is deleted of a tenant, and when", tag: tag, access: signedIn,
		text: "As the tenant's retention is, or, with days, as it would be. Nothing is changed."},
		func(ctx context.Context, p *access.Principal, in *struct {
			TenantPath
			Days []string `query:"days" maxItems:"9" example:"answers=365" doc:"what would be set, as KIND=DAYS; KIND=default: as the operator says"`
		}) (wire.RetentionPreview, error) {
			changes, err := retention.ParseChanges("days", in.Days)
			if err != nil {
				return wire.RetentionPreview{}, err
			}
			v, err := a.app.Retention.Preview(ctx, p, in.id, changes)
			if err != nil {
				return wire.RetentionPreview{}, err
			}
			return wire.RetentionPreview{
				Tenant: in.id, At: v.At, Rules: lists.Map(v.Rules, toRetentionRule), Things: append([]wire.Expiry{}, lists.Map(v.Things, toExpiry)...), More: v.More, LogsBefore: v.LogsBefore,
			}, nil
		})
}
