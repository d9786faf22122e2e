package api_test

import (
	"context"
	"net/http"
	"net/netip"
	"testing"

	"github.com/throng-dev/throng/internal/server/limits"
)

// TestTooManyEvents: a person has so many event streams open and no more, and gets
// another for each that ends; others and all else are as ever.
func TestTooManyEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := must(w.ann.CreateBatch(w.ctx, definition()))(t)
	p := must(w.app.Accounts.Authenticate(w.ctx, w.ann.Token, netip.Addr{}))(t)
	var stop func()
	for range limits.MaxStreams {
		var err error
		_, stop, err = w.app.Batches.Watch(w.ctx, p, b.ID)
		ok(t, err)
	}
	events := func() int {
		ctx, leave := context.WithCancel(w.ctx)
		defer leave()
		req := must(http.NewRequestWithContext(ctx, http.MethodGet, w.ann.URL+"/v1/batches/"+b.ID.String()+"/events", nil))(t)
		req.Header.Set("Authorization", "Bearer "+w.ann.Token)
		resp := must(w.ann.HTTP.Do(req))(t)
		defer resp.Body.Close()
		return resp.StatusCode
	}
	if status := events(); status != http.StatusTooManyRequests {
		t.Errorf("one more stream is answered %d", status)
	}
	must(w.ann.Batch(w.ctx, b.ID))(t)
	stop()
	if status := events(); status != http.StatusOK {
		t.Errorf("after one has ended, another is answered %d", status)
	}
}
