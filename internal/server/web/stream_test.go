package web

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/store"
)

// follow reads the live page of a running batch, as its requester, from the line after
// the first, which is there at once.
func (c *company) follow(ctx context.Context, t *testing.T, id string) *bufio.Scanner {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+"/batches/"+id+"/events?state=running", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.req.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() || lines.Text() != "event: live" {
		t.Fatalf("the first line is %q (%v)", lines.Text(), lines.Err())
	}
	return lines
}

// TestNothingIsSentAfterSigningOut: whoever has signed out hears of the next change
// only that they have.
func TestNothingIsSentAfterSigningOut(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	id := batchOf(c.launchCats("Cats")).String()
	ctx, cancel := context.WithTimeout(t.Context(), eventIdle-2*time.Second) // after that it would be noticed without a change
	defer cancel()
	lines := c.follow(ctx, t, id)
	c.req.get("/batches").want(200).form("/signout").send().want(200, "You are signed out")
	c.workers[0].get("/work").want(200, "a cat?").form("/work/submit").set("s.label", "yes").send().want(200, "Your answer is in")
	last := ""
	for lines.Scan() {
		if text := lines.Text(); text != "" {
			last = text
		}
	}
	if last != `data: "signed out"` {
		t.Errorf("the last that was sent is %.80q (%v)", last, lines.Err())
	}
}

// tornStore cannot read batches once it is torn.
type tornStore struct {
	store.Store
	torn atomic.Bool
}

func (s *tornStore) Batch(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) (store.Batch, error) {
	if s.torn.Load() {
		return store.Batch{}, &crowd.Error{Code: crowd.Unavailable, Message: "try again", Cause: errors.New("disk 7 on fire")}
	}
	return s.Store.Batch(ctx, tenant, id)
}

// TestAStreamThatFailsIsLogged: its status is out already, so nobody else is told.
func TestAStreamThatFailsIsLogged(t *testing.T) {
	t.Parallel()
	torn := &tornStore{}
	c := newCompany(t, 2, func(cfg *app.Config) { torn.Store, cfg.Store = cfg.Store, torn })
	id := batchOf(c.launchCats("Cats")).String()
	c.workers[0].get("/work").want(200, "a cat?")
	lines := c.follow(t.Context(), t, id)
	torn.torn.Store(true)
	c.workers[1].get("/work") // a change: somebody gets a task
	for lines.Scan() {
	}
	torn.torn.Store(false)
	if log := c.log.String(); !strings.Contains(log, "disk 7 on fire") || !strings.Contains(log, "/batches/"+id+"/events") {
		t.Errorf("the log says\n%s", log)
	}
}
