package bench

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/verify/process"
)

// crew is a number of worker clients, spread over servers, and what it reached. Each holds a
// task, answers it and gets the next one in the same request, without pause.
type crew struct {
	name    string
	servers []*process.Server
	workers []*loader
	apart   bool // submits and asks for the next task in two requests
	differ  bool // answers are not all the same

	perSecond []float64       // cycles, in each turn
	took      []time.Duration // of every cycle
	cycles    []int           // of the clients of each server
	cpu       []time.Duration // of each server
	hasCPU    bool
}

type loader struct {
	conn *conn
	at   int             // server
	held string          // assignment
	took []time.Duration // of the cycles of this turn that count
	last time.Time       // when the last of them was finished
	next int             // of moods
}

// newCrew connects clients, each to the next one of the servers, and lets each get its first task.
func newCrew(ctx context.Context, name string, tokens []string, servers ...*process.Server) (*crew, error) {
	c := &crew{name: name, servers: servers}
	c.forget()
	for i, token := range tokens {
		at := i % len(servers)
		conn, err := dial(servers[at].URL, token)
		if err != nil {
			c.close()
			return nil, err
		}
		c.workers = append(c.workers, &loader{conn: conn, at: at})
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
	before := c.usage()
	start := time.Now()
	from, to := start.Add(d/10), start.Add(d)
	if err := c.each(ctx, func(ctx context.Context, w *loader) error {
		w.took = w.took[:0]
		for ctx.Err() == nil {
			sent := time.Now()
			if sent.After(to) {
				return nil
			}
			if err := w.cycle(c.apart, c.differ); err != nil {
				return err
			}
			if got := time.Now(); got.After(from) {
				w.took, w.last = append(w.took, got.Sub(sent)), got
			}
		}
		return ctx.Err()
	}); err != nil {
		for _, s := range c.servers {
			err = fmt.Errorf("%w\n%s", err, s.Log())
		}
		return err
	}
	for i, after := range c.usage() {
		c.cpu[i] += (after - before[i]) * 9 / 10 // of the part that counts
	}
	rate := 0.
	for _, w := range c.workers {
		c.took = append(c.took, w.took...)
		c.cycles[w.at] += len(w.took)
		rate += float64(len(w.took)) / w.last.Sub(from).Seconds()
	}
	c.perSecond = append(c.perSecond, rate)
	return nil
}

// usage is the time that each server has taken; 0 where the system does not tell.
func (c *crew) usage() []time.Duration {
	c.hasCPU = true
	return lists.Map(c.servers, func(s *process.Server) time.Duration {
		u, err := s.Usage()
		c.hasCPU = c.hasCPU && err == nil
		return u.CPU
	})
}

// forget forgets what the crew has reached so far.
func (c *crew) forget() {
	c.perSecond, c.took, c.cycles, c.cpu = nil, nil, make([]int, len(c.servers)), make([]time.Duration, len(c.servers))
}

// cpuMicros is the servers' time for a cycle; 0 where the system does not tell.
func (c *crew) cpuMicros() (sum float64) {
	for i := range c.servers {
		sum += c.cpuOf(i, len(c.took))
	}
	return sum
}

// cpuOf is a server's time for each of so many cycles; 0 where the system does not tell.
func (c *crew) cpuOf(server, cycles int) float64 {
	if !c.hasCPU || cycles == 0 {
		return 0
	}
	return float64(c.cpu[server].Microseconds()) / float64(cycles)
}

// rate is how many cycles a second the crew reached, the median of its turns.
func (c *crew) rate() float64 { return stats.Quantile(c.perSecond, 0.5) }

// moods are what people answer in turn where they differ; the first is what they answer otherwise.
var moods = []string{"neutral", "positive", "negative", "cannot tell"}

// submissions are the bodies of an answer that gets the next task, too, and of one that does not,
// by mood.
var submissions = map[bool][]string{false: bodies(`,"next":true`), true: bodies("")}

func bodies(more string) []string {
	return lists.Map(moods, func(mood string) string { return `{"answer":{"label":"` + mood + `"}` + more + `}` })
}

// cycle answers the task in hand and gets the next one: in one request, or in two.
func (w *loader) cycle(apart, differ bool) error {
	if differ {
		w.next = (w.next + 1) % len(moods)
	}
	reply, err := w.conn.post("/v1/work/"+w.held+"/submit", submissions[apart][w.next])
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
