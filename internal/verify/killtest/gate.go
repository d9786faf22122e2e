package killtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/verify/process"
)

// gate tells the clients where the server is, lets them wait while there is
// none, and counts the requests that a kill caught.
type gate struct {
	mu       sync.Mutex
	changed  *sync.Cond
	url      string // "" while the server is being killed or restarted
	running  int    // requests
	caught   int    // requests without a reply since the gate was opened
	opened   int    // how often it was opened
	finished bool
}

func newGate() *gate {
	g := &gate{}
	g.changed = sync.NewCond(&g.mu)
	return g
}

func (g *gate) set(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
	g.changed.Broadcast()
}

// open lets requests through.
func (g *gate) open(url string) { g.set(func() { g.url, g.caught, g.opened = url, 0, g.opened+1 }) }

// times returns how often it was opened.
func (g *gate) times() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened
}

// close lets no new requests through; the kill may catch those that run.
func (g *gate) close() { g.set(func() { g.url = "" }) }

// finish ends the work of everybody.
func (g *gate) finish() { g.set(func() { g.finished = true }) }

// settle waits until no request runs any more and returns how many got no reply.
func (g *gate) settle() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.running > 0 {
		g.changed.Wait()
	}
	return g.caught
}

// pass waits for the server and returns its address; false when the work is over.
// After it, done must be called.
func (g *gate) pass() (string, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.url == "" && !g.finished {
		g.changed.Wait()
	}
	if g.finished {
		return "", false
	}
	g.running++
	return g.url, true
}

// done is called when a request has ended; caught is that it got no reply. Only a
// kill may be the reason: done reports false where there was none.
func (g *gate) done(caught bool) (expected bool) {
	g.set(func() {
		g.running--
		if caught {
			g.caught++
		}
		expected = !caught || g.url == ""
	})
	return expected
}

// errOver is returned to a client when the work is over.
var errOver = errors.New("the test is over")

// gated is a client with a token that sends its requests through the gate.
type gated struct {
	gate   *gate
	client client.Client
}

func newGated(g *gate, token string) gated {
	return gated{gate: g, client: client.Client{Token: token, HTTP: process.HTTP(1)}}
}

// call makes a request of the server that runs now. It reports lost where there was
// no reply, or the server did not know the outcome: the request may have been
// carried out or not.
func (c *gated) call(ctx context.Context, f func(context.Context, *client.Client) error) (lost bool, err error) {
	url, ok := c.gate.pass()
	if !ok {
		return false, errOver
	}
	c.client.URL = url
	err = f(ctx, &c.client)
	var known *crowd.Error
	lost = err != nil && (!errors.As(err, &known) || known.Code == crowd.Unavailable || known.Code == crowd.Internal)
	if !c.gate.done(lost) {
		return false, fmt.Errorf("nobody had killed the server: %w", err)
	}
	if lost {
		c.client.HTTP.CloseIdleConnections()
	}
	return lost, err
}

// fetch makes a request for something through the gate, as call does.
func fetch[T any](ctx context.Context, c *gated, f func(context.Context, *client.Client) (T, error)) (out T, lost bool, err error) {
	lost, err = c.call(ctx, func(ctx context.Context, c *client.Client) (err error) {
		out, err = f(ctx, c)
		return err
	})
	return out, lost, err
}

// change makes a request that changes something, and reports whether it was done.
// If its reply is lost, unsure is set.
func (c *gated) change(ctx context.Context, unsure *bool, f func(context.Context, *client.Client) error) (done bool, err error) {
	lost, err := c.call(ctx, f)
	switch {
	case lost:
		*unsure = true
		return false, nil
	case err != nil:
		return false, err
	}
	*unsure = false
	return true, nil
}

// repeat makes steps with a pause after each until the work is over or one fails.
func repeat(ctx context.Context, who string, every time.Duration, step func(context.Context) error) error {
	for ctx.Err() == nil {
		err := step(ctx)
		if errors.Is(err, errOver) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", who, err)
		}
		if every > 0 {
			load.Sleep(ctx, every)
		}
	}
	return nil
}

func unlessLost(lost bool, err error) error {
	if lost {
		return nil
	}
	return err
}
