package bench

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/verify/process"
)

// crew is a number of worker clients of one server, and what it reached. Each holds a
// task, answers it and gets the next one in the same request, without pause.
type crew struct {
	name    string
	server  *process.Server
	workers []*loader
	apart   bool // submits and asks for the next task in two requests

	perSecond []float64       // cycles, in each turn
	took      []time.Duration // of every cycle
	cpu       time.Duration   // of the server
	hasCPU    bool
}

type loader struct {
	conn *conn
	held string          // assignment
	took []time.Duration // of the cycles of this turn that count
	last time.Time       // when the last of them was finished
}

// newCrew connects clients and lets each get its first task.
func newCrew(ctx context.Context, name string, server *process.Server, tokens []string) (*crew, error) {
	c := &crew{name: name, server: server}
	for _, token := range tokens {
		conn, err := dial(server.URL, token)
		if err != nil {
			c.close()
			return nil, err
		}
		c.workers = append(c.workers, &loader{conn: conn})
	}
	if err := c.each(ctx, func(_ context.Context, w *loader) error {
		reply, err := w.conn.post("/v1/work/next?wait_seconds=10", "")
		return w.hold(reply, err)
	}); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// close closes the connections.
func (c *crew) close() {
	for _, w := range c.workers {
		_ = w.conn.net.Close()
	}
}

// each runs f for all workers at once until one fails, and returns its error.
func (c *crew) each(ctx context.Context, f func(context.Context, *loader) error) error {
	all := load.NewCrew(ctx)
	defer all.End()
	for _, w := range c.workers {
		all.Go(func() error { return f(all.Quit(), w) })
	}
	if err := all.Wait(); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// turn lets the crew work for a time. Cycles that end in its first tenth are not
// counted. Those that are under way at its end are, with the time that they still
// take: a cycle that is longer than the turn is one, too.
func (c *crew) turn(ctx context.Context, d time.Duration) error {
	before, err := c.server.Usage()
	c.hasCPU = err == nil
	start := time.Now()
	from, to := start.Add(d/10), start.Add(d)
	if err := c.each(ctx, func(ctx context.Context, w *loader) error {
		w.took = w.took[:0]
		for ctx.Err() == nil {
			sent := time.Now()
			if sent.After(to) {
				return nil
			}
			if err := w.cycle(c.apart); err != nil {
				return err
			}
			if got := time.Now(); got.After(from) {
				w.took, w.last = append(w.took, got.Sub(sent)), got
			}
		}
		return ctx.Err()
	}); err != nil {
		return fmt.Errorf("%w\n%s", err, c.server.Log())
	}
	if after, err := c.server.Usage(); err == nil {
		c.cpu += (after.CPU - before.CPU) * 9 / 10 // of the part that counts
	}
	rate := 0.
	for _, w := range c.workers {
		c.took = append(c.took, w.took...)
		rate += float64(len(w.took)) / w.last.Sub(from).Seconds()
	}
	c.perSecond = append(c.perSecond, rate)
	return nil
}

// forget forgets what the crew has reached so far.
func (c *crew) forget() { c.perSecond, c.took, c.cpu = nil, nil, 0 }

// cpuMicros is the server's time for a cycle; 0 where the system does not tell.
func (c *crew) cpuMicros() float64 {
	if !c.hasCPU {
		return 0
	}
	return float64(c.cpu.Microseconds()) / float64(len(c.took))
}

const (
	submission = `{"answer":{"label":"neutral"},"next":true}`
	lastOne    = `{"answer":{"label":"neutral"}}`
)

// cycle answers the task in hand and gets the next one: in one request, or in two.
func (w *loader) cycle(apart bool) error {
	body := submission
	if apart {
		body = lastOne
	}
	reply, err := w.conn.post("/v1/work/"+w.held+"/submit", body)
	if err == nil && !bytes.Contains(reply, []byte(`"counted":true`)) {
		err = fmt.Errorf("the answer to %s was not counted: %s", w.held, reply)
	}
	if err == nil && apart {
		reply, err = w.conn.post("/v1/work/next", "")
	}
	return w.hold(reply, err)
}

// hold notes the task that came with a reply.
func (w *loader) hold(reply []byte, err error) error {
	if err != nil {
		return err
	}
	_, rest, found := bytes.Cut(reply, []byte(`"assignment":"`))
	id, _, closed := bytes.Cut(rest, []byte(`"`))
	if !found || !closed {
		return fmt.Errorf("there are no tasks left (take more): %s", reply)
	}
	w.held = string(id)
	return nil
}

// quantile returns a quantile of durations, which it sorts, in milliseconds.
func quantile(took []time.Duration, q float64) float64 {
	slices.Sort(took)
	return took[min(int(q*float64(len(took))), len(took)-1)].Seconds() * 1000
}
