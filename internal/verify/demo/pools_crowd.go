package demo

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/wire"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/verify/load"
)

// onCall is a person who is off duty until called: a client that does what a worker's
// program would do, and keeps its own record.
type onCall struct {
	*person
	mind *mind
	pool crowd.PoolID // as the server last said

	asked, late, declined, ignored int
	joined, left                   map[crowd.PoolID]int // by the pool
	moved                          int
	crossed                        map[string]int // requests that were refused because of a move under way
}

// How long requests stay open: for another duty, and for a task.
const (
	dutyWait = 20 * time.Second
	taskWait = 10 * time.Second
)

// live waits for calls and works until quit is done; then it finishes the task in
// hand and goes off duty. It waits for the replies to all requests but those that
// only wait.
func (p *onCall) live(ctx, quit context.Context) error {
	seen, answered := "", ""
	for quit.Err() == nil {
		d, err := p.client.Duty(quit, seen, dutyWait)
		if quit.Err() != nil {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		seen = d.Seen
		p.hears(d)
		switch {
		case d.On:
			if err := p.workOnDuty(ctx, quit); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			seen = ""
		case d.Called != nil:
			if call := fmt.Sprint(d.Pool, d.Called.Call, d.Called.AskedAt.UnixMicro()); call != answered {
				answered = call
				if err := p.answer(ctx, quit); err != nil {
					return fmt.Errorf("%s, called: %w", p.name, err)
				}
				seen = ""
			}
		}
	}
	if _, err := p.client.EndDuty(ctx); err != nil && !p.crosses("go off duty", err) {
		return fmt.Errorf("%s goes: %w", p.name, err)
	}
	return nil
}

// hears notes a move to another pool.
func (p *onCall) hears(d wire.Duty) {
	if d.Pool != p.pool {
		p.moved++
		p.pool = d.Pool
	}
}

// answer answers a call.
func (p *onCall) answer(ctx, quit context.Context) error {
	p.asked++
	does, after := p.mind.call()
	if does == ignores {
		p.ignored++
		return nil
	}
	if !load.Sleep(quit, after) {
		return nil
	}
	if does == refuses {
		p.declined++
		return p.client.DeclineCall(ctx)
	}
	d, err := p.client.StartDuty(ctx)
	switch {
	case crowd.CodeOf(err) == crowd.OffDuty:
		p.late++ // others were first
		return nil
	case p.crosses("come on duty", err):
		return nil
	case err != nil:
		return err
	}
	p.hears(d)
	p.joined[d.Pool]++
	return nil
}

// workOnDuty works until the person is off duty or quit is done.
func (p *onCall) workOnDuty(ctx, quit context.Context) error {
	var held *wire.Work
	for {
		if held == nil {
			if quit.Err() != nil {
				return nil
			}
			var err error
			held, _, err = p.client.Next(quit, taskWait)
			switch {
			case quit.Err() != nil:
				// What was handed out meanwhile is handed out again.
				if held, _, err = p.client.Next(ctx, 0); held == nil {
					if crowd.CodeOf(err) == crowd.OffDuty || p.crosses("next task", err) {
						return nil
					}
					return err
				}
			case crowd.CodeOf(err) == crowd.OffDuty, err == nil && held == nil, p.crosses("next task", err):
				// Let go, moved, or there is nothing: what is it?
				d, err := p.client.Duty(ctx, "", 0)
				if err != nil {
					return err
				}
				p.hears(d)
				if !d.On {
					return nil
				}
				continue
			case err != nil:
				return err
			}
		}
		takes, leaves := p.mind.task()
		load.Sleep(quit, takes)
		n, err := strconv.Atoi(held.Values.Get("number"))
		if err != nil {
			return fmt.Errorf("%s: %w", held.Assignment, err)
		}
		leaves = leaves || quit.Err() != nil
		if held, err = p.submit(ctx, held, []string{`"even"`, `"odd"`}[n%2], !leaves); err != nil {
			return err
		}
		if !leaves || quit.Err() != nil {
			continue
		}
		d, err := p.client.EndDuty(ctx)
		if p.crosses("go off duty", err) {
			return nil
		}
		if err != nil {
			return err
		}
		p.hears(d)
		p.left[d.Pool]++
		load.Sleep(quit, p.mind.rest())
		return nil
	}
}

// crosses reports whether a request crossed a move to another pool: it was sent by a
// worker of the old one, who was none any more when it came.
func (p *onCall) crosses(what string, err error) bool {
	if crowd.CodeOf(err) != crowd.NotFound || !strings.Contains(err.Error(), "is not a worker of this pool") {
		return false
	}
	p.crossed[what]++
	return true
}
