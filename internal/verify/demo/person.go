package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/throng-dev/throng/internal/wire"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/verify/load"
)

// person is a worker's client, and its own record of what the server acknowledged.
type person struct {
	server *server
	client *client.Client
	name   string
	id     crowd.WorkerID
	random *rand.Rand

	skill float64 // probability of the right answer
	pace  float64 // how long they think, relative to others
	think time.Duration
	tasks int // to do in all (replay); 0: as many as there are

	receipts   map[crowd.AssignmentID]*receipt
	done       int // distinct answers acknowledged
	duplicates int // sent a second time and told so
	skipped    int
	returned   int
}

// receipt is an answer with how it was acknowledged.
type receipt struct {
	task   crowd.TaskID
	answer string
	out    wire.Outcome
}

// nextWait is how long a person's request for a task stays open.
const nextWait = time.Second

// How often a person does something else than answering, in the made demo.
const (
	skips   = 0.02
	returns = 0.01
	sleeps  = 0.006
	repeats = 0.02 // sends an answer twice
)

// work works until quit is done or all tasks are. It waits for the replies to
// requests that were sent, so that every outcome is known.
func (p *person) work(ctx, quit context.Context) error {
	var held *wire.Work
	for quit.Err() == nil && (p.tasks == 0 || p.done < p.tasks) {
		var err error
		if held == nil {
			held, _, err = p.client.Next(quit, nextWait)
			if quit.Err() != nil {
				return nil
			}
		} else {
			held, err = p.handle(ctx, quit, held)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if held != nil && p.tasks == 0 {
		if err := load.UnlessGone(p.client.Return(ctx, held.Assignment)); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// handle does something with a task in hand and returns the next one, or nil.
func (p *person) handle(ctx, quit context.Context, held *wire.Work) (*wire.Work, error) {
	b := p.server.batch(held.Batch)
	if b == nil {
		return nil, fmt.Errorf("was given %s of %s, which is not of the demo", held.Assignment, held.Batch)
	}
	chance := 1.0
	if p.think > 0 { // the made demo
		chance = p.random.Float64()
		think := time.Duration(float64(p.think) * b.think * p.pace * p.random.ExpFloat64())
		if chance >= 1-sleeps {
			think = time.Until(held.ExpiresAt) + p.think
		}
		if !load.Sleep(quit, min(think, time.Minute)) {
			return held, nil
		}
	}
	switch {
	case chance < skips:
		p.skipped++
		next, err := p.client.Skip(ctx, held.Assignment, 0)
		return next, load.UnlessGone(err)
	case chance < skips+returns:
		p.returned++
		if err := load.UnlessGone(p.client.Return(ctx, held.Assignment)); err != nil {
			return nil, err
		}
		load.Sleep(quit, 4*p.think) // a break
		return nil, nil
	}
	answer := b.answer(p, held)
	again := p.think > 0 && p.random.Float64() < repeats
	next, err := p.submit(ctx, held, answer, !again)
	if err == nil && again {
		next, err = p.submit(ctx, held, answer, true)
	}
	return next, err
}

// submit sends an answer and notes what was acknowledged.
func (p *person) submit(ctx context.Context, held *wire.Work, answer string, next bool) (*wire.Work, error) {
	out, work, err := p.client.Submit(ctx, held.Assignment, json.RawMessage(answer), next, 0)
	if err != nil {
		return nil, err
	}
	first := p.receipts[held.Assignment]
	switch {
	case first == nil && out.Duplicate:
		return nil, fmt.Errorf("%s: the first answer was taken for a duplicate", held.Assignment)
	case first == nil:
		p.receipts[held.Assignment] = &receipt{held.Task, answer, out}
		p.done++
	case !out.Duplicate || out.Counted != first.out.Counted || out.PaidMicros != first.out.PaidMicros:
		return nil, fmt.Errorf("%s: sent twice, and was told %+v, then %+v", held.Assignment, first.out, out)
	default:
		p.duplicates++
	}
	return work, nil
}
