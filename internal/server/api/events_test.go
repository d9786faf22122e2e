package api_test

import (
	"bufio"
	"bytes"
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

// TestEventsLeaveOutTheTemplate: a template has more than 1 MiB, and many streams are open.
func TestEventsLeaveOutTheTemplate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.draft("thing\ncat\n")
	if must(w.ann.Batch(w.ctx, id))(t).Template == nil {
		t.Error("the batch has none")
	}
	req := must(http.NewRequestWithContext(w.ctx, http.MethodGet, w.ann.URL+"/v1/batches/"+id.String()+"/events", nil))(t)
	req.Header.Set("Authorization", "Bearer "+w.ann.Token)
	resp := must(w.ann.HTTP.Do(req))(t)
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if data, is := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); is {
			if !bytes.Contains(data, []byte(`"things"`)) || bytes.Contains(data, []byte("template")) {
				t.Errorf("the event is %s", data)
			}
			return
		}
	}
	t.Error("the stream has ended")
}
