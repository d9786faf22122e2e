package sqlstore

import (
	"context"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
)

const (
	// readsEnd is how long reads may go on, and begin, once the files of the database are to be
	// written anew. It is longer than most reads are under way, and shorter than who waits for
	// an erasure, or a proxy between, gives up.
	readsEnd = 30 * time.Second
	// lastReads is what is left after that to reads that have begun just before.
	lastReads = time.Second
)

// errCutOff is the error of a read that had to end so that the files can be written anew.
var errCutOff = &crowd.Error{Code: crowd.Unavailable, Message: "the files of the database are being written anew, since something was deleted, and this was read for longer than that waits: ask again"}

// longReads are the reads that go on for as long as their caller takes, such as downloads. Each
// keeps what was deleted since it began in the files of the database.
type longReads struct {
	mu   sync.Mutex
	open map[*longRead]bool
	left chan struct{} // closed when the last one ends; nil: nobody waits for that
	shut chan struct{} // closed when reads may begin again; nil: they may
}

type longRead struct{ cut context.CancelCauseFunc }

// begin waits until reads may begin. The read ends when its context is done, and then calls end.
func (l *longReads) begin(ctx context.Context) (_ context.Context, end func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.shut != nil {
		shut := l.shut
		l.mu.Unlock()
		select {
		case <-shut:
		case <-ctx.Done():
			err = ctx.Err()
		}
		l.mu.Lock()
		if err != nil {
			return ctx, nil, err
		}
	}
	ctx, cut := context.WithCancelCause(ctx)
	r := &longRead{cut}
	if l.open == nil {
		l.open = make(map[*longRead]bool)
	}
	l.open[r] = true
	return ctx, func() { l.end(r) }, nil
}

func (l *longReads) end(r *longRead) {
	r.cut(nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, r)
	if len(l.open) == 0 && l.left != nil {
		close(l.left)
		l.left = nil
	}
}

// clear waits until no read goes on, for so long at most, and then cuts off those that still
// do. None begins until reopen is called. Reads that may begin meanwhile do not wait, so that nobody
// waits for who reads slowly.
func (l *longReads) clear(ctx context.Context, wait time.Duration) (reopen func(), err error) {
	last := min(lastReads, wait/2)
	if err := l.wait(ctx, wait-last, false); err != nil {
		return nil, err
	}
	if err := l.wait(ctx, last, true); err != nil {
		l.reopen()
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for r := range l.open { // whose end comes when its caller takes the next row
		r.cut(errCutOff)
	}
	return l.reopen, nil
}

// wait waits until no read goes on, and has none begin then; or, with shut, at once.
func (l *longReads) wait(ctx context.Context, most time.Duration, shut bool) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	for {
		l.mu.Lock()
		empty := len(l.open) == 0
		if (empty || shut) && l.shut == nil {
			l.shut = make(chan struct{})
		}
		if empty {
			l.mu.Unlock()
			return nil
		}
		if l.left == nil {
			l.left = make(chan struct{})
		}
		left := l.left
		l.mu.Unlock()
		select {
		case <-left: // others may have begun
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *longReads) reopen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shut != nil {
		close(l.shut)
		l.shut = nil
	}
}

// orCutOff is the error of a read, which is why it was cut off if it was.
func orCutOff(ctx context.Context, err error) error {
	if err != nil && context.Cause(ctx) == errCutOff {
		return errCutOff
	}
	return err
}
