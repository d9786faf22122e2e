package killtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/verify/process"
)

// gate is the transport of all clients: it sends a request to the server that runs
// now, lets it wait while there is none, and counts the requests that a kill caught.
type gate struct {
	http     http.RoundTripper
	mu       sync.Mutex
	changed  *sync.Cond
	host     string // and port; "" while the server is being killed or restarted
	running  int    // requests
	caught   int    // requests without a reply since the gate was opened
	opened   int    // how often it was opened
	finished bool

	nodes  []string  // hosts and ports of several servers, of which each request goes to one; nil: there is one
	next   int       // of them
	marked time.Time // see mark
	served time.Time // when an answer was acknowledged that was sent after that; zero: none was
}

// among sends requests to one of these servers each, in turn. Whatever these do, a request
// without a reply is no wonder from then on.
func (g *gate) among(urls []string) {
	g.set(func() {
		g.nodes = g.nodes[:0:0]
		for _, u := range urls {
			g.nodes = append(g.nodes, strings.TrimPrefix(u, "http://"))
		}
	})
}

// mark counts as open does, and returns the time from which servedAfter counts.
func (g *gate) mark() time.Time {
	now := time.Now()
	g.set(func() { g.marked, g.served, g.opened = now, time.Time{}, g.opened+1 })
	return now
}

// servedAfter returns how long after the mark an answer was acknowledged that was sent
// after it.
func (g *gate) servedAfter() (time.Duration, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.served.Sub(g.marked), !g.served.IsZero()
}

// acknowledged notes that an answer was, which was sent at a time.
func (g *gate) acknowledged(sent time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.served.IsZero() && sent.After(g.marked) {
		g.served = time.Now()
	}
}

// newGate returns a gate for so many clients.
func newGate(clients int) *gate {
	g := &gate{http: process.HTTP(clients).Transport}
	g.changed = sync.NewCond(&g.mu)
	return g
}

// client returns a client with a token whose requests go through the gate.
func (g *gate) client(token string) *client.Client {
	return &client.Client{URL: "http://the-server-that-runs-now", Token: token, HTTP: &http.Client{Transport: g}}
}

func (g *gate) set(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
	g.changed.Broadcast()
}

// open lets requests through.
func (g *gate) open(url string) {
	g.set(func() { g.host, g.caught, g.opened = strings.TrimPrefix(url, "http://"), 0, g.opened+1 })
}

// times returns how often it was opened.
func (g *gate) times() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened
}

// close lets no new requests through; the kill may catch those that run.
func (g *gate) close() { g.set(func() { g.host = "" }) }

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
	for g.host == "" && !g.finished {
		g.changed.Wait()
	}
	if g.finished {
		return "", false
	}
	g.running++
	if len(g.nodes) > 0 {
		g.next++
		return g.nodes[g.next%len(g.nodes)], true
	}
	return g.host, true
}

// done is called when a request has ended; caught is that it got no reply. Only a
// kill may be the reason: done reports false where there was none.
func (g *gate) done(caught bool) (expected bool) {
	g.set(func() {
		g.running--
		if caught {
			g.caught++
		}
		expected = !caught || g.host == "" || len(g.nodes) > 0
	})
	return expected
}

// errOver is returned to a client when the work is over.
var errOver = errors.New("the test is over")

// errLost is the error of a request without a reply, or of one whose outcome the
// server did not know: it may have been carried out or not.
var errLost = errors.New("the reply was lost")

// afterLost is how long a client waits that got no reply.
const afterLost = 10 * time.Millisecond

// RoundTrip makes a request of the server that runs now, and reads all of the reply:
// a kill may come in its midst.
func (g *gate) RoundTrip(request *http.Request) (*http.Response, error) {
	host, ok := g.pass()
	if !ok {
		if request.Body != nil {
			_ = request.Body.Close() // so a transport must; nobody has read it
		}
		return nil, errOver
	}
	request = request.Clone(request.Context())
	request.URL.Host, request.Host = host, host
	sent := time.Now()
	reply, err := g.http.RoundTrip(request)
	if err == nil {
		err = readAll(reply)
	}
	switch expected := g.done(err != nil); {
	case !expected:
		return nil, fmt.Errorf("nobody had killed the server: %w", err)
	case err != nil:
		load.Sleep(request.Context(), afterLost)
		return nil, errLost
	}
	if request.Method == http.MethodPost && strings.HasPrefix(request.URL.Path, "/v1/work/") && reply.StatusCode == http.StatusOK {
		g.acknowledged(sent)
	}
	return reply, nil
}

// readAll reads a reply to its end. That the server failed, or was closing, is an
// error.
func readAll(reply *http.Response) error {
	body, err := io.ReadAll(reply.Body)
	_ = reply.Body.Close()
	if code := reply.StatusCode; err == nil && (code == http.StatusInternalServerError || code == http.StatusServiceUnavailable || code == http.StatusBadGateway) {
		return fmt.Errorf("%s: %s", reply.Status, body)
	}
	reply.Body = io.NopCloser(bytes.NewReader(body))
	return err
}

// problems is what must not be.
type problems []string

func (p *problems) problem(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

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
