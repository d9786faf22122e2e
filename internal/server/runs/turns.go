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

// maxPlaces is how many queries run at a time on a machine with many processors: each
// may hold 256 MB of inputs, and up to 512 MB more.
const maxPlaces = 8

// turns decides which queries run, of all runs: half as many as there are processors,
// and at least two. Short queries are those whose time is the default or less; a
// tenant's short queries, and the long ones of all, leave one place free for others,
// so whoever has one short query waits for short ones only. Who waits is
// served by tenants: first the one whose last turn is the longest ago.
type turns struct {
	places int

	mu      sync.Mutex
	running int
	long    int                    // of those, the long ones
	short   map[crowd.TenantID]int // the short ones
	waiting []*turn                // in the order in which they came
	served  map[crowd.TenantID]int // when each had its last turn
	clock   int                    // counts turns
}

// turn is that of one query.
type turn struct {
	tenant crowd.TenantID
	long   bool
	ready  chan struct{} // closed when it has come
}

func newTurns() *turns {
	return &turns{
		places: min(max(runtime.GOMAXPROCS(0)/2, 2), maxPlaces),
		short:  make(map[crowd.TenantID]int), served: make(map[crowd.TenantID]int),
	}
}

// take waits for the turn of a query that may take so long, or until ctx is done. It
// calls wait first if the turn has not come at once. done must be called in the end.
func (t *turns) take(ctx context.Context, tenant crowd.TenantID, most time.Duration, wait func()) (done func()) {
	x := &turn{tenant: tenant, long: most > sqlstep.DefaultTime, ready: make(chan struct{})}
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

// enter lines a query up, and reports whether it is its turn at once.
func (t *turns) enter(x *turn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = append(t.waiting, x)
	t.begin()
	return !slices.Contains(t.waiting, x)
}

// leave gives the turn of a query to others.
func (t *turns) leave(x *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	if x.long {
		t.long--
	} else if t.short[x.tenant]--; t.short[x.tenant] == 0 {
		delete(t.short, x.tenant)
	}
	if t.begin(); t.running == 0 {
		clear(t.served)
	}
}

// begin begins all turns that may begin.
func (t *turns) begin() {
	for t.running < t.places {
		next := -1
		for i, x := range t.waiting {
			if t.mayBegin(x) && (next < 0 || t.served[x.tenant] < t.served[t.waiting[next].tenant]) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		x := t.waiting[next]
		t.waiting = slices.Delete(t.waiting, next, next+1)
		t.clock++
		t.served[x.tenant] = t.clock
		t.running++
		if x.long {
			t.long++
		} else {
			t.short[x.tenant]++
		}
		close(x.ready)
	}
}

func (t *turns) mayBegin(x *turn) bool {
	if x.long {
		return t.long < t.places-1
	}
	return t.short[x.tenant] < t.places-1
}
