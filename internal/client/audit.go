package client

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// AuditFilter says which entries of the audit log are meant; what is zero is left open.
type AuditFilter struct {
	Tenant                           crowd.TenantID
	Actor                            string
	Operation, Kind, Object, Address string
	Since, Until                     time.Time
}

func (f *AuditFilter) query(more ...any) string {
	since := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339Nano)
	}
	return query(append(more, "tenant", f.Tenant, "actor", f.Actor, "operation", f.Operation, "kind", f.Kind, "object", f.Object, "address", f.Address,
		"since", since(f.Since), "until", since(f.Until))...)
}

// Audit lists entries with numbers below before (0: all), the newest first.
func (c *Client) Audit(ctx context.Context, f AuditFilter, before int64, limit int) ([]wire.AuditEntry, error) {
	return get[[]wire.AuditEntry](ctx, c, "/v1/audit"+f.query("before", before, "limit", limit))
}

// AuditEntry returns one entry.
func (c *Client) AuditEntry(ctx context.Context, number int64) (wire.AuditEntry, error) {
	return get[wire.AuditEntry](ctx, c, "/v1/audit/"+strconv.FormatInt(number, 10))
}

// ExportAudit writes entries to w as JSON Lines, the oldest first.
func (c *Client) ExportAudit(ctx context.Context, f AuditFilter, w io.Writer) error {
	return c.download(ctx, "/v1/audit/export"+f.query(), w)
}

// CheckAudit has the server verify its audit log.
func (c *Client) CheckAudit(ctx context.Context) (wire.AuditHead, error) {
	return get[wire.AuditHead](ctx, c, "/v1/audit/check")
}
