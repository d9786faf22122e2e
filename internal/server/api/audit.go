package api

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/audit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

// AuditQuery says which entries of the audit log are meant.
type AuditQuery struct {
	Tenant    string    `query:"tenant" doc:"whose things; only administrators may leave it out, or who is of one tenant" example:"n3"`
	Actor     string    `query:"actor" doc:"who did it: an id, or a pseudonym of a worker of the tenant" example:"u42"`
	Operation string    `query:"operation" doc:"or what its name begins with" example:"Batches."`
	Kind      string    `query:"kind" doc:"of the thing" example:"batch"`
	Object    string    `query:"object" doc:"the thing, by its id, pseudonym or name" example:"b17"`
	Address   string    `query:"address" doc:"from which they came; for administrators" example:"192.0.2.7"`
	Since     time.Time `query:"since"`
	Until     time.Time `query:"until" doc:"before this"`

	filter audit.Filter
}

// Resolve implements huma.Resolver.
func (q *AuditQuery) Resolve(huma.Context) []error {
	q.filter = audit.Filter{By: q.Actor, AuditFilter: store.AuditFilter{Operation: q.Operation, Kind: q.Kind, Object: q.Object, Address: q.Address, Since: q.Since, Until: q.Until}}
	if q.Tenant == "" {
		return nil
	}
	return parse(&q.filter.Tenant, q.Tenant, crowd.ParseTenantID)
}

func toAuditEntry(e audit.Entry) wire.AuditEntry {
	return wire.AuditEntry{
		Number: e.Number, At: e.At, Tenant: e.Tenant, Actor: e.By, Renamed: e.Renamed, Token: e.Token, Operation: e.Operation, Kind: e.Kind, Object: e.Object,
		Address: e.Address, Before: e.Before, After: e.After,
		Salt: e.Salt, AddressSalt: e.AddressSalt, AddressDigest: e.AddressDigest, ChangeDigest: e.ChangeDigest, Previous: e.Previous, Hash: e.Hash,
	}
}

func toSeenEntry(e audit.Entry) wire.AuditEntry {
	out := toAuditEntry(e)
	out.Summary, out.ActorName, out.Staff = e.Summary, e.Who, e.Staff
	return out
}

func (a *api) audit() {
	const tag = "Audit log"
	add(a, op{method: http.MethodGet, path: "/v1/audit", summary: "List who changed what, the newest first", tag: tag, access: signedIn, long: true,
		text: "Administrators see everything. Others see what was changed of a tenant of theirs, without addresses, and without the names of administrators."},
		func(ctx context.Context, p *access.Principal, in *struct {
			AuditQuery
			Latest
		}) ([]wire.AuditEntry, error) {
			in.filter.Before, in.filter.Limit = in.Before, in.Limit
			return each(toSeenEntry)(a.app.Audit.List(ctx, p, in.filter))
		})
	add(a, op{method: http.MethodGet, path: "/v1/audit/{id}", summary: "Show one entry", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *struct {
			ID int64 `path:"id"`
		}) (wire.AuditEntry, error) {
			return as(toSeenEntry)(a.app.Audit.Get(ctx, p, in.ID))
		})
	register(a, op{method: http.MethodGet, path: "/v1/audit/export", summary: "Download entries, the oldest first", tag: tag, access: signedIn, streams: []string{"application/jsonl"},
		text: "JSON Lines, an entry each, with the hashes by which `throng audit verify` verifies them."},
		func(ctx context.Context, p *access.Principal, in *AuditQuery) (*huma.StreamResponse, error) {
			list, err := a.app.Audit.Export(ctx, p, in.filter)
			return a.download(file{name: "audit.jsonl", kind: "application/jsonl", write: func(w *bufio.Writer) error { return writeAudit(w, list) }}), err
		})
	add(a, op{method: http.MethodGet, path: "/v1/audit/check", summary: "Verify all entries, and tell the last", tag: tag, access: access.AuditCheck,
		text: "What does not fit is a conflict (409) that names the first entry."},
		own(a.app.Audit.Check, func(h store.AuditHead) wire.AuditHead { return wire.AuditHead(h) }))
}

// writeAudit writes entries as lines of JSON, whose bytes the hashes are of.
func writeAudit(w io.Writer, list iter.Seq2[audit.Entry, error]) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for e, err := range list {
		if err == nil {
			err = enc.Encode(toAuditEntry(e))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
