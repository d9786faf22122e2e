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
// program would do.
type onCall struct {
	*person
	scene  *poolScene
	habits *habits
	pool   crowd.PoolID // as the server last said
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
			return err
		}
		seen = d.Seen
		p.noteMove(d)
		if d.On {
			if err := p.workOnDuty(ctx, quit); err != nil {
				return err
			}
			seen = ""
		} else if d.Called != nil {
			if call := fmt.Sprint(d.Pool, d.Called.Call, d.Called.AskedAt.UnixMicro()); call != answered {
				answered = call
				if err := p.answer(ctx, quit); err != nil {
					return fmt.Errorf("called: %w", err)
				}
				seen = ""
			}
		}
	}
	if _, err := p.client.EndDuty(ctx); err != nil && !p.crossedMove("go off duty", err) {
		return fmt.Errorf("go: %w", err)
	}
	return nil
}

// noteMove notes a move to another pool.
func (p *onCall) noteMove(d wire.Duty) {
	if d.Pool != p.pool {
		p.scene.count(&p.scene.crowd.Moved)
		p.pool = d.Pool
	}
}

// answer answers a call.
func (p *onCall) answer(ctx, quit context.Context) error {
	s := p.scene
	s.count(&s.crowd.Asked)
	does, after := p.habits.call()
	if does == ignores {
		s.count(&s.crowd.Ignored)
		return nil
	}
	if !load.Sleep(quit, after) {
		return nil
	}
	if does == refuses {
		s.count(&s.crowd.Declined)
		return p.client.DeclineCall(ctx)
	}
	d, err := p.client.StartDuty(ctx)
	switch {
	case crowd.CodeOf(err) == crowd.OffDuty:
		s.count(&s.crowd.TooLate) // others were first
		return nil
	case p.crossedMove("come on duty", err):
		return nil
	case err != nil:
		return err
	}
	p.noteMove(d)
	s.count(&s.crowd.Came)
	return nil
}

// workOnDuty works until the person is off duty or quit is done.
func (p *onCall) workOnDuty(ctx, quit context.Context) error {
	for {
		held, err := p.next(ctx, quit)
		if held == nil || err != nil {
			return err
		}
		for held != nil {
			takes, leaves := p.habits.task()
			load.Sleep(quit, takes)
			n, err := strconv.Atoi(held.Values.Get("number"))
			if err != nil {
				return fmt.Errorf("%s: %w", held.Assignment, err)
			}
			over := leaves || quit.Err() != nil
			if held, err = p.submit(ctx, held, []string{`"even"`, `"odd"`}[n%2], !over); err != nil {
				return err
			}
			if leaves && quit.Err() == nil {
				return p.leave(ctx, quit)
			}
		}
	}
}

// next waits for a task; nil: the person is off duty, or quit is done.
func (p *onCall) next(ctx, quit context.Context) (*wire.Work, error) {
	for quit.Err() == nil {
		held, _, err := p.client.Next(quit, taskWait)
		switch {
		case quit.Err() != nil: // what was handed out meanwhile is handed out again
			held, _, err = p.client.Next(ctx, 0)
			if crowd.CodeOf(err) == crowd.OffDuty || p.crossedMove("next task", err) {
				err = nil
			}
			return held, err
		case held != nil:
			return held, nil
		case err != nil && crowd.CodeOf(err) != crowd.OffDuty && !p.crossedMove("next task", err):
			return nil, err
		}
		d, err := p.client.Duty(ctx, "", 0) // let go, moved, or there is nothing: what is it?
		if err != nil {
			return nil, err
		}
		p.noteMove(d)
		if !d.On {
			return nil, nil
		}
	}
	return nil, nil
}

// leave goes off duty unasked, and rests.
func (p *onCall) leave(ctx, quit context.Context) error {
	d, err := p.client.EndDuty(ctx)
	if p.crossedMove("go off duty", err) {
		return nil
	}
	if err == nil {
		p.noteMove(d)
		p.scene.count(&p.scene.crowd.Left)
		load.Sleep(quit, p.habits.rest())
	}
	return err
}

// crossedMove reports whether a request crossed a move to another pool: it was sent
// by a worker of the old one, who was none any more when it came.
func (p *onCall) crossedMove(what string, err error) bool {
	if crowd.CodeOf(err) != crowd.NotFound || !strings.Contains(err.Error(), "is not a worker of this pool") {
		return false
	}
	p.scene.mu.Lock()
	defer p.scene.mu.Unlock()
	p.scene.crowd.Crossed[what]++
	return true
}
