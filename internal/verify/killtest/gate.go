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

// gated is a client with a token that sends its requests through the gate, and notes
// what must not be.
type gated struct {
	gate   *gate
	client client.Client
	problems
}

// problems is what must not be.
type problems []string

func (p *problems) problem(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

func newGated(g *gate, token string) gated {
	return gated{gate: g, client: client.Client{Token: token, HTTP: process.HTTP(1)}}
}

// errLost is the error of a request without a reply, or of one whose outcome the
// server did not know: it may have been carried out or not.
var errLost = errors.New("the reply was lost")

// call makes a request of the server that runs now.
func (c *gated) call(ctx context.Context, f func(context.Context, *client.Client) error) error {
	url, ok := c.gate.pass()
	if !ok {
		return errOver
	}
	c.client.URL = url
	err := f(ctx, &c.client)
	var known *crowd.Error
	lost := err != nil && (!errors.As(err, &known) || known.Code == crowd.Unavailable || known.Code == crowd.Internal)
	switch {
	case !c.gate.done(lost):
		return fmt.Errorf("nobody had killed the server: %w", err)
	case lost:
		c.client.HTTP.CloseIdleConnections()
		return errLost
	}
	return err
}

// fetch makes a request whose reply is something.
func fetch[T any](ctx context.Context, c *gated, f func(context.Context, *client.Client) (T, error)) (out T, err error) {
	err = c.call(ctx, func(ctx context.Context, c *client.Client) (err error) {
		out, err = f(ctx, c)
		return err
	})
	return out, err
}

// repeat makes steps with a pause after each until the work is over or one fails. A
// step that a kill has interrupted has not failed.
func repeat(ctx context.Context, who string, every time.Duration, step func(context.Context) error) error {
	for ctx.Err() == nil {
		switch err := step(ctx); {
		case errors.Is(err, errOver):
			return nil
		case err != nil && !errors.Is(err, errLost):
			return fmt.Errorf("%s: %w", who, err)
		}
		if every > 0 {
			load.Sleep(ctx, every)
		}
	}
	return nil
}
