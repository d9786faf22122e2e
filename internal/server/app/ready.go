package app

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/live"
)

// Reason is why a server takes no requests now.
type Reason struct {
	What string // store, pool NAME or stopping
	Err  error
}

// NotReady is the error of a server that takes no requests now. It has a reason at least.
type NotReady []Reason

// Error has a line for each reason.
func (n NotReady) Error() string {
	return strings.Join(lists.Map(n, func(r Reason) string { return r.What + ": " + r.Err.Error() }), "\n")
}

// storeProbed is how often the store is written at most to find out whether it can be.
const storeProbed = 5 * time.Second

// errStopping is of a server that is being stopped.
var errStopping = crowd.Errorf(crowd.Unavailable, "what was begun is finished, and nothing more is taken")

// Ready returns why the server is not ready, as NotReady: what is found until ctx ends.
func (a *App) Ready(ctx context.Context) error {
	if list := a.readiness.ask(ctx); len(list) > 0 {
		return list
	}
	return nil
}

// readiness finds out whether the store can be written and the pools take commands.
type readiness struct {
	live  *live.Pools
	write func(context.Context) error
	clock live.Clock
	log   *slog.Logger

	mu      sync.Mutex
	stopped bool
	probes  map[string]*probe // by what they try
	running sync.WaitGroup
}

// probe is one thing that is tried. There is one try at a time, as it may take for ever.
type probe struct {
	what string
	try  func() error
	wait time.Duration // from the end of a try to the next one

	began, ended time.Time
	err          error         // of the last try
	done         chan struct{} // closed when the try under way ends; nil: there is none
}

// ask tries everything at once.
func (r *readiness) ask(ctx context.Context) (list NotReady) {
	asked := []*probe{{what: "store", wait: storeProbed, try: func() error { return r.write(context.Background()) }}}
	for _, s := range r.live.List() {
		asked = append(asked, &probe{what: "pool " + s.Name, try: func() error {
			p, err := r.live.Get(s.ID)
			if err != nil {
				return err
			}
			return p.Do(context.Background(), func(*engine.Engine, time.Time) {})
		}})
	}
	for i, p := range asked {
		if asked[i] = r.begin(p); asked[i] == nil {
			return NotReady{{"stopping", errStopping}}
		}
	}
	for _, p := range asked {
		if err := r.end(ctx, p); err != nil {
			list = append(list, Reason{p.what, err})
		}
	}
	return list
}

// begin begins a try, unless one is under way or the last one is so recent that it counts.
// It returns the probe that was asked first of the same thing, or nil once all is stopped.
func (r *readiness) begin(p *probe) *probe {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return nil
	}
	if known := r.probes[p.what]; known != nil {
		p = known
	} else {
		r.probes[p.what] = p
	}
	now := r.clock()
	if p.done != nil || !p.ended.IsZero() && p.wait > 0 && now.Sub(p.ended) < p.wait && !now.Before(p.ended) {
		return p
	}
	p.began, p.done = now, make(chan struct{})
	r.running.Go(func() {
		err := p.try()
		if err != nil {
			r.log.Warn("the server is not ready", "what", p.what, "err", err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		close(p.done)
		p.err, p.ended, p.done = err, r.clock(), nil
	})
	return p
}

// end waits for the try under way, and returns the error of the last one.
func (r *readiness) end(ctx context.Context, p *probe) error {
	r.mu.Lock()
	done, began := p.done, p.began
	r.mu.Unlock()
	if done != nil {
		select {
		case <-done:
		case <-ctx.Done():
			return crowd.Errorf(crowd.Unavailable, "there is no answer since %s", began.UTC().Format(time.RFC3339))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return p.err
}

// stop ends all asking.
func (r *readiness) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
}
