package runs

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/workflow/sqlstep"
)

// maxReading is how many files of workflows are read at a time, one of each person:
// the worst takes some 90 MB of memory and seconds of computing.
const maxReading = 4

// maxPlaces is how many queries run at a time on a machine with many processors: each
// may hold 256 MB of inputs, and up to 512 MB more.
const maxPlaces = 8

// turns decides who goes on of those who want one of few places. Short ones are those
// that may take the default time of a query or less; the long ones of all leave one
// place free for others. Who waits is served by holders: first the one whose last turn
// is the longest ago.
type turns[Holder comparable] struct {
	places int
	each   int // short ones of one holder

	mu      sync.Mutex
	running int
	long    int             // of those, the long ones
	short   map[Holder]int  // the short ones
	waiting []*turn[Holder] // in the order in which they came
	served  map[Holder]int  // when each had its last turn
	clock   int             // counts turns
}

type turn[Holder comparable] struct {
	holder Holder
	long   bool
	ready  chan struct{} // closed when it has come
}

func newTurns[Holder comparable](places, each int) *turns[Holder] {
	return &turns[Holder]{places: places, each: each, short: make(map[Holder]int), served: make(map[Holder]int)}
}

// newQueryTurns are those of queries, by tenant: half as many run as there are
// processors, and at least two. One tenant's short ones leave a place free, too.
// docs/sql-steps.md tells users.
func newQueryTurns() *turns[crowd.TenantID] {
	places := min(max(runtime.GOMAXPROCS(0)/2, 2), maxPlaces)
	return newTurns[crowd.TenantID](places, places-1)
}

// take waits for the turn of what may take so long, or until ctx is done. It
// calls wait first if the turn has not come at once. done must be called in the end.
func (t *turns[Holder]) take(ctx context.Context, holder Holder, most time.Duration, wait func()) (done func()) {
	x := &turn[Holder]{holder: holder, long: most > sqlstep.DefaultTime, ready: make(chan struct{})}
	if !t.enter(x) {
		wait()
	}
	select {
	case <-x.ready:
	case <-ctx.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		if i := slices.Index(t.waiting, x); i >= 0 {
			t.waiting = slices.Delete(t.waiting, i, i+1)
			return func() {}
		}
	}
	return func() { t.leave(x) }
}

// enter lines one up, and reports whether it is its turn at once.
func (t *turns[Holder]) enter(x *turn[Holder]) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = append(t.waiting, x)
	t.begin()
	return !slices.Contains(t.waiting, x)
}

// leave gives a turn to others.
func (t *turns[Holder]) leave(x *turn[Holder]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	if x.long {
		t.long--
	} else if t.short[x.holder]--; t.short[x.holder] == 0 {
		delete(t.short, x.holder)
	}
	if t.begin(); t.running == 0 {
		clear(t.served)
	}
}

// begin begins all turns that may begin.
func (t *turns[Holder]) begin() {
	for t.running < t.places {
		next := -1
		for i, x := range t.waiting {
			if t.mayBegin(x) && (next < 0 || t.served[x.holder] < t.served[t.waiting[next].holder]) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		x := t.waiting[next]
		t.waiting = slices.Delete(t.waiting, next, next+1)
		t.clock++
		t.served[x.holder] = t.clock
		t.running++
		if x.long {
			t.long++
		} else {
			t.short[x.holder]++
		}
		close(x.ready)
	}
}

func (t *turns[Holder]) mayBegin(x *turn[Holder]) bool {
	if x.long {
		return t.long < t.places-1
	}
	return t.short[x.holder] < t.each
}
