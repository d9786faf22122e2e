package auth

import (
	"context"
	"slices"
	"sync"

	"github.com/throng-dev/throng/crowd"
)

// maxWaiting is how many computations wait, each for tens of milliseconds of a core.
const maxWaiting = 32

var errBusy = crowd.Errorf(crowd.TooMany, "too many people sign in at this moment; try again in a few seconds")

// line lets a few in at a time. Of those who wait, the known go first, and of these as of
// the others the last to come: while more guess passwords than can be checked, somebody
// who signs in is served at once or not at all, where in the order of coming everybody
// would wait behind the guesses. Who comes to a full line takes the place of the one who
// has waited longest, none that is known unless all are.
type line struct {
	most int // in at a time

	mu     sync.Mutex
	inside int
	known  []*waiting // in the order of coming
	others []*waiting
}

// waiting is somebody in the line.
type waiting struct{ turn chan error } // nil: they are in

// enter waits for a turn, after which leave must be called. While many wait, somebody is
// refused with TooMany.
func (l *line) enter(ctx context.Context, known bool) error {
	if err := ctx.Err(); err != nil { // a free place would do for who has gone, too
		return err
	}
	l.mu.Lock()
	if l.inside < l.most {
		l.inside++
		l.mu.Unlock()
		return nil
	}
	if len(l.known)+len(l.others) >= maxWaiting && !l.drop(known) {
		l.mu.Unlock()
		return errBusy
	}
	w, of := &waiting{make(chan error, 1)}, l.of(known)
	*of = append(*of, w)
	l.mu.Unlock()
	select {
	case err := <-w.turn:
		return err
	case <-ctx.Done():
	}
	l.mu.Lock()
	i := slices.Index(*of, w)
	if i >= 0 {
		*of = slices.Delete(*of, i, i+1)
	}
	l.mu.Unlock()
	if i < 0 && <-w.turn == nil { // their turn came as they went
		l.leave()
	}
	return ctx.Err()
}

func (l *line) of(known bool) *[]*waiting {
	if known {
		return &l.known
	}
	return &l.others
}

// drop refuses who has waited longest, for somebody who is known or not, and reports
// whether there was one.
func (l *line) drop(known bool) bool {
	of := &l.others
	if len(*of) == 0 {
		of = l.of(known)
	}
	if len(*of) == 0 {
		return false
	}
	(*of)[0].turn <- errBusy
	*of = slices.Delete(*of, 0, 1)
	return true
}

// alone reports whether nobody else is in, or waits.
func (l *line) alone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inside == 1 && len(l.known)+len(l.others) == 0
}

// leave gives the turn to the next.
func (l *line) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, of := range []*[]*waiting{&l.known, &l.others} {
		if last := len(*of) - 1; last >= 0 {
			(*of)[last].turn <- nil
			*of = slices.Delete(*of, last, last+1)
			return
		}
	}
	l.inside--
}
