package runs

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/sqlstep"
)

// maxReading is how many files of workflows are read at a time, one of each person:
// the worst takes some 90 MB of memory and seconds of computing.
const maxReading = 4

// maxPlaces is how many queries run at a time on a machine with many processors: each
// may hold 256 MB of inputs, and up to 512 MB more.
const maxPlaces = 8

// longTurn is for how long a long one has its place, whoever waits. After that it has it
// for as long as no other holder waits for a long one. docs/sql-steps.md tells users.
const longTurn = 10 * time.Minute

// errTurnOver ends what had a place for longer.
var errTurnOver = crowd.Errorf(crowd.TooMany, "the query was ended after %.0f minutes, because a query of another tenant waited for its place; retry it, or make it faster", longTurn.Minutes())

// turns decides who goes on of those who want one of few places. Short ones are those
// that may take the default time of a query or less; the long ones of all leave one
// place free for others. Who waits is served by holders: first the one whose last turn
// is the longest ago.
type turns[Holder comparable] struct {
	places int
	each   func(Holder) int // short ones of one holder

	mu      sync.Mutex
	running int
	long    []*turn[Holder] // of those, the long ones, in the order in which they began
	short   map[Holder]int  // the short ones
	waiting []*turn[Holder] // in the order in which they came
	served  map[Holder]int  // when each had its last turn
	clock   int             // counts turns
}

type turn[Holder comparable] struct {
	holder Holder
	long   bool
	ready  chan struct{} // closed when it has come

	end     context.CancelCauseFunc
	timer   *time.Timer // of a long one
	overdue bool        // it has had its place for longTurn
	ending  bool        // it was told to end
}

func newTurns[Holder comparable](places int, each func(Holder) int) *turns[Holder] {
	return &turns[Holder]{places: places, each: each, short: make(map[Holder]int), served: make(map[Holder]int)}
}

// newQueryTurns are those of queries, by tenant: half as many run as there are
// processors, and at least two. One tenant's short ones leave a place free, too.
// docs/sql-steps.md tells users.
func newQueryTurns(q *limits.Quotas) *turns[crowd.TenantID] {
	places := min(max(runtime.GOMAXPROCS(0)/2, 2), maxPlaces)
	t := newTurns(places, func(tenant crowd.TenantID) int { return int(min(q.Limit(tenant, store.Queries), int64(places-1))) })
	q.Count(store.Queries, t.of)
	return t
}

// queryTurn is about how long a query by rows goes on in its turn, in addition to what it
// may take for one item.
const queryTurn = 5 * time.Second

// queryInTime runs a query when it is its turn, for no longer than the quotas of its tenant
// allow. It returns false, after a while, if they allow nothing now.
func (s *Runs) queryInTime(q orchestrator.Query) bool {
	changed := s.quotas.Changed()
	turn, done := s.queries.take(q.Ctx, q.Tenant, q.Time, func(why string) { q.Wait(s.waitForTurn(&q, why)) })
	most := time.Duration(s.quotas.Limit(q.Tenant, store.QueryTime)) * time.Millisecond
	over := s.quotas.Refuse(q.Tenant, store.QueryTime, 0, q.Time.Milliseconds())
	want := min(q.Time+queryTurn, most)
	have, err := s.quotas.UseSome(q.Tenant, store.QueryTimeDaily, 1, want.Milliseconds())
	if err != nil && q.Ctx.Err() == nil {
		done()
		q.Wait(orchestrator.WaitForQuota(err))
		again := time.NewTimer(queryPause)
		defer again.Stop()
		select {
		case <-again.C:
		case <-changed:
		case <-q.Ctx.Done():
		}
		return false
	}
	defer done()
	if least := time.Duration(have) * time.Millisecond; least < want {
		want, over = least, s.quotas.Refuse(q.Tenant, store.QueryTimeDaily, s.quotas.Limit(q.Tenant, store.QueryTimeDaily), q.Time.Milliseconds())
	}
	began := time.Now()
	within, end := context.WithTimeoutCause(turn, want, over)
	defer end()
	q.Do(within)
	s.quotas.GiveBack(q.Tenant, store.QueryTimeDaily, have-max(time.Since(began).Milliseconds(), 1))
	return true
}

// waitForTurn is the wait of a query whose turn has not come. A quota of nothing others do not
// end, as long as it is one.
func (s *Runs) waitForTurn(q *orchestrator.Query, why string) orchestrator.Wait {
	if q.Time <= sqlstep.DefaultTime && s.quotas.Limit(q.Tenant, store.Queries) == 0 {
		return orchestrator.WaitForQuota(s.quotas.Refuse(q.Tenant, store.Queries, 0, 1))
	}
	return orchestrator.Wait{Kind: orchestrator.ForTurn, Why: why}
}

// queryPause is how long a query waits before it looks again whether its tenant's quota
// allows it.
const queryPause = time.Minute

// of returns how many of a holder are under way.
func (t *turns[Holder]) of(holder Holder) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	long := lists.Count(t.long, func(x *turn[Holder]) bool { return x.holder == holder })
	return int64(t.short[holder] + long)
}

// take waits for the turn of what may take so long, or until ctx is done. It
// calls wait first, with the reason, if the turn has not come at once. The turn is over
// when the context that it returns is done. done must be called in the end.
func (t *turns[Holder]) take(ctx context.Context, holder Holder, most time.Duration, wait func(why string)) (turnCtx context.Context, done func()) {
	turnCtx, end := context.WithCancelCause(ctx)
	x := &turn[Holder]{holder: holder, long: most > sqlstep.DefaultTime, ready: make(chan struct{}), end: end}
	if why := t.enter(x); why != "" {
		wait(why)
	}
	select {
	case <-x.ready:
	case <-ctx.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		if i := slices.Index(t.waiting, x); i >= 0 {
			t.waiting = slices.Delete(t.waiting, i, i+1)
			return turnCtx, func() { end(nil) }
		}
	}
	return turnCtx, func() { t.leave(x) }
}

// enter lines one up, and returns why it waits; "": it does not.
func (t *turns[Holder]) enter(x *turn[Holder]) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = append(t.waiting, x)
	t.begin()
	if !slices.Contains(t.waiting, x) {
		return ""
	}
	return t.reason(x)
}

// reason is why one waits.
func (t *turns[Holder]) reason(x *turn[Holder]) string {
	others := slices.ContainsFunc(t.long, func(y *turn[Holder]) bool { return y.holder != x.holder })
	switch {
	case !x.long && t.short[x.holder] >= t.each(x.holder), x.long && !others && !t.mayBegin(x):
		return "others of this tenant are running"
	case x.long && others:
		return fmt.Sprintf("others are running; one of another tenant that waits for this place ends it after %.0f minutes", longTurn.Minutes())
	}
	return fmt.Sprintf("others are running, each for about %.0f seconds at most", sqlstep.DefaultTime.Seconds())
}

// leave gives a turn to others.
func (t *turns[Holder]) leave(x *turn[Holder]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x.end(nil)
	t.running--
	if x.long {
		x.timer.Stop()
		t.long = slices.DeleteFunc(t.long, func(y *turn[Holder]) bool { return x == y })
	} else if t.short[x.holder]--; t.short[x.holder] == 0 {
		delete(t.short, x.holder)
	}
	if t.begin(); t.running == 0 {
		clear(t.served)
	}
}

// expire notes that a long one has had its place for longTurn.
func (t *turns[Holder]) expire(x *turn[Holder]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x.overdue = true
	t.endOverdue()
}

// endOverdue ends as many of the long ones that had their time as long ones of other
// holders wait for a place.
func (t *turns[Holder]) endOverdue() {
	free := t.places - 1 - len(t.long) // or to become so
	for _, x := range t.long {
		if x.ending {
			free++
		}
	}
	for _, x := range t.long {
		waiting := 0
		for _, y := range t.waiting {
			if y.long && y.holder != x.holder {
				waiting++
			}
		}
		if x.overdue && !x.ending && waiting > free {
			x.ending = true
			x.end(errTurnOver)
			free++
		}
	}
}

// begin begins all turns that may begin, and ends those that are over.
func (t *turns[Holder]) begin() {
	defer t.endOverdue()
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
			t.long = append(t.long, x)
			x.timer = time.AfterFunc(longTurn, func() { t.expire(x) })
		} else {
			t.short[x.holder]++
		}
		close(x.ready)
	}
}

func (t *turns[Holder]) mayBegin(x *turn[Holder]) bool {
	if x.long {
		return len(t.long) < t.places-1
	}
	return t.short[x.holder] < t.each(x.holder)
}
