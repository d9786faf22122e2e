package limits

import (
	"context"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Slots bounds how many transfers of one kind go on at a time, each of which holds
// something for as long as the other side takes: all together, those of a tenant, and
// those by a person. A person gets no more than a part of what their tenant has.
type Slots struct {
	What   string // they are, as errors name them
	Most   int    // at a time
	Tenant int    // of a tenant
	Person int    // by a person

	mu    sync.Mutex
	all   int
	by    map[slotHolder]int
	freed chan struct{} // closed when the next one ends; nil: nobody waits for that
}

// slotHolder is a tenant or a person, for whom there is a bound.
type slotHolder struct {
	tenant crowd.TenantID
	person crowd.WorkerID
}

// slotWait is how long a transfer waits for room.
const slotWait = 10 * time.Second

// Start waits until there is room for n more transfers by a person for a tenant, which
// end with a call of end.
func (s *Slots) Start(ctx context.Context, person crowd.WorkerID, tenant crowd.TenantID, n int) (end func(), err error) {
	who := [2]slotHolder{{tenant: tenant}, {person: person}}
	timer := time.NewTimer(slotWait)
	defer timer.Stop()
	for {
		freed, full := s.take(who, n)
		if full == nil {
			return func() { s.end(who, n) }, nil
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

// take counts n more transfers, or returns why there is no room for them and what closes
// when there may be.
func (s *Slots) take(who [2]slotHolder, n int) (freed <-chan struct{}, full error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.all+n > s.Most:
		full = crowd.Errorf(crowd.Unavailable, "too many %s are under way; try again later", s.What)
	case s.by[who[0]]+n > s.Tenant || s.by[who[1]]+n > s.Person:
		full = crowd.Errorf(crowd.TooMany, "%d %s are under way for this tenant or role, or %d by you; wait for one of them to end", s.Tenant, s.What, s.Person)
	default:
		if s.by == nil {
			s.by = make(map[slotHolder]int)
		}
		s.all += n
		for _, r := range who {
			s.by[r] += n
		}
		return nil, nil
	}
	if s.freed == nil {
		s.freed = make(chan struct{})
	}
	return s.freed, full
}

func (s *Slots) end(who [2]slotHolder, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all -= n
	for _, r := range who {
		if s.by[r] -= n; s.by[r] == 0 {
			delete(s.by, r)
		}
	}
	if s.freed != nil {
		close(s.freed)
		s.freed = nil
	}
}

// UploadSlots is how many uploads of one kind go on at a time: each holds a chunk of
// rows.
func UploadSlots() *Slots { return &Slots{What: "uploads", Most: 32, Tenant: 4, Person: 2} }

// DownloadSlots is how many reads of whole batches and runs go on at a time: each has a
// connection to the database or a part of the file, and goes on for as long as its
// reader takes.
func DownloadSlots() *Slots { return &Slots{What: "downloads", Most: 16, Tenant: 4, Person: 2} }

// ListSlots is how many lists of long rows are on their way: each is in memory as a whole
// until its reader has taken it.
func ListSlots() *Slots { return &Slots{What: "long lists", Most: 32, Tenant: 8, Person: 4} }

// BodySlots is how many MiB of bodies of requests are in memory. Those of one tenant, or
// of all workers, leave two thirds to the others, however slowly they come.
func BodySlots() *Slots { return &Slots{What: "MiB of requests", Most: 96, Tenant: 32, Person: 12} }

// StartBody is Start for a body of so many bytes (-1: not known), at most most. Below
// 64 KiB it does not count.
func (s *Slots) StartBody(ctx context.Context, person crowd.WorkerID, tenant crowd.TenantID, bytes, most int64) (end func(), err error) {
	if mib := int((min(uint64(bytes), uint64(most)) + 1<<20 - 64<<10) >> 20); mib > 0 {
		return s.Start(ctx, person, tenant, mib)
	}
	return func() {}, nil
}
