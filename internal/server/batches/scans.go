package batches

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
)

// scans bounds how many reads of whole batches go on at a time: each has a
// connection to the database, and goes on for as long as its reader takes. The zero
// value is ready.
type scans struct {
	mu    sync.Mutex
	all   int
	by    map[reader]int
	freed chan struct{} // closed when the next one ends; nil: nobody waits for that
}

// reader is a tenant or a person, for whom there is a bound.
type reader struct {
	tenant crowd.TenantID
	person crowd.WorkerID
}

const (
	maxScans   = 16
	maxScansOf = 2 // of a tenant's batches, and by a person
	scanWait   = 10 * time.Second
)

// start waits until there is room for one more scan, which ends with a call of end.
func (s *scans) start(ctx context.Context, who [2]reader) (end func(), err error) {
	timer := time.NewTimer(scanWait)
	defer timer.Stop()
	for {
		freed, full := s.take(who)
		if full == nil {
			return func() { s.end(who) }, nil
		}
		select {
		case <-freed:
		case <-timer.C:
			return nil, full
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take counts one more scan, or returns why there is no room for it and what closes
// when there may be.
func (s *scans) take(who [2]reader) (freed <-chan struct{}, full error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.by[who[0]] >= maxScansOf || s.by[who[1]] >= maxScansOf:
		full = crowd.Errorf(crowd.TooMany, "%d downloads are under way of this tenant or by you; wait for one of them to end", maxScansOf)
	case s.all >= maxScans:
		full = crowd.Errorf(crowd.Unavailable, "too many downloads are under way; try again later")
	default:
		if s.by == nil {
			s.by = make(map[reader]int)
		}
		s.all++
		for _, r := range who {
			s.by[r]++
		}
		return nil, nil
	}
	if s.freed == nil {
		s.freed = make(chan struct{})
	}
	return s.freed, full
}

func (s *scans) end(who [2]reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	for _, r := range who {
		if s.by[r]--; s.by[r] == 0 {
			delete(s.by, r)
		}
	}
	if s.freed != nil {
		close(s.freed)
		s.freed = nil
	}
}

// scan yields rows of a tenant's batch to p, once there is room for it.
func scan[T any](ctx context.Context, s *scans, p *access.Principal, tenant crowd.TenantID, rows iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		end, err := s.start(ctx, [2]reader{{tenant: tenant}, {person: p.User.ID}})
		if err != nil {
			yield(*new(T), err)
			return
		}
		defer end()
		rows(yield)
	}
}
