package limits

import (
	"context"
	"io"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

type meterKey struct{}

// Meter is the body of a request with a file, which counts as uploaded by a tenant once
// it is known for which.
type Meter struct {
	body io.ReadCloser

	quotas *Quotas // nil: it is not known yet for whom
	tenant crowd.TenantID
	size   int64 // read so far
	ended  error // with which the last read came back
}

// WithMeter returns a context for what reads the body of a request as a file, and the
// body to read.
func WithMeter(ctx context.Context, body io.ReadCloser) (context.Context, *Meter) {
	m := &Meter{body: body}
	return context.WithValue(ctx, meterKey{}, m), m
}

// Uploads has the file that comes with the request of ctx count for a tenant. If it passes
// a quota, reading it fails.
func (q *Quotas) Uploads(ctx context.Context, tenant crowd.TenantID) {
	if m, ok := ctx.Value(meterKey{}).(*Meter); ok && q != nil && m.quotas == nil {
		m.quotas, m.tenant = q, tenant
		m.ended = m.count(m.size)
	}
}

// count counts n bytes more.
func (m *Meter) count(n int64) error {
	if m.size > m.quotas.Limit(m.tenant, store.UploadSize) {
		return m.quotas.Refuse(m.tenant, store.UploadSize, 0, m.size)
	}
	return m.quotas.Use(m.tenant, store.UploadedDaily, n)
}

// Read implements io.Reader.
func (m *Meter) Read(p []byte) (int, error) {
	if m.ended != nil {
		return 0, m.ended
	}
	n, err := m.body.Read(p)
	m.size += int64(n)
	if n > 0 && m.quotas != nil {
		if m.ended = m.count(int64(n)); m.ended != nil {
			return 0, m.ended
		}
	}
	return n, err
}

// Close implements io.Closer.
func (m *Meter) Close() error { return m.body.Close() }
