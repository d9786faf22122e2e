package load

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Crew is a number of clients that work at the same time until End is called or one
// of them fails.
type Crew struct {
	ctx  context.Context
	stop context.CancelCauseFunc
	all  sync.WaitGroup
}

// errEnded is why a crew ends that has not failed.
var errEnded = errors.New("the work is over")

// NewCrew returns a crew without clients. It ends when ctx does.
func NewCrew(ctx context.Context) *Crew {
	c := &Crew{}
	c.ctx, c.stop = context.WithCancelCause(ctx)
	return c
}

// Quit is done when everybody should end.
func (c *Crew) Quit() context.Context { return c.ctx }

// Go lets a client work until it returns. Its error ends the work of all.
func (c *Crew) Go(work func() error) {
	c.all.Go(func() {
		if err := work(); err != nil {
			c.stop(err)
		}
	})
}

// End ends the work; Wait waits until everybody has returned.
func (c *Crew) End() { c.stop(errEnded) }

// Fail ends the work with an error.
func (c *Crew) Fail(err error) { c.stop(err) }

// EndAfter ends the work after a while, unless it has ended before. The caller
// stops the timer.
func (c *Crew) EndAfter(d time.Duration) *time.Timer { return time.AfterFunc(d, c.End) }

// Wait returns when all clients have returned, with the error that ended their
// work, if any.
func (c *Crew) Wait() error {
	c.all.Wait()
	return c.Err()
}

// Err returns the error that ended the work; nil if it goes on, or was ended.
func (c *Crew) Err() error {
	if err := context.Cause(c.ctx); !errors.Is(err, errEnded) {
		return err
	}
	return nil
}

// Sleep waits for d and reports whether ctx is still not done.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// UnlessGone returns err, but nil where it says that a task could not be given
// back because its lease had run out or its batch had ended.
func UnlessGone(err error) error {
	if code := crowd.CodeOf(err); code == crowd.Conflict || code == crowd.NotFound {
		return nil
	}
	return err
}
