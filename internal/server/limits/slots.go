package limits

import (
	"context"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// Slots bounds how many transfers of one kind go on at a time, each of which holds
// something for as long as the other side takes: all together, those of a tenant, and
// those by a person. A person gets no more than a part of what their tenant may have.
type Slots struct {
	What  string      // they are, as errors name them
	Quota store.Quota // of a tenant
	Most  int         // at a time
	Part  float64     // of its tenant's quota is for one person

	quotas *Quotas
	mu     sync.Mutex
	all    int
	by     map[slotHolder]int
	freed  chan struct{} // closed when the next one ends; nil: nobody waits for that
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
	most := int(s.quotas.Limit(who[0].tenant, s.Quota))
	own := min(most, max(1, int(float64(most)*s.Part)))
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.all+n > s.Most:
		full = crowd.Errorf(crowd.Unavailable, "too many %s are under way; try again later", s.What)
	case s.by[who[0]]+n > most:
		full = s.quotas.Refuse(who[0].tenant, s.Quota, int64(s.by[who[0]]), int64(n))
	case s.by[who[1]]+n > own:
		full = crowd.Errorf(crowd.TooMany, "%d %s are under way by you, and one person has at most %d of the %d of a tenant; wait for one of them to end", s.by[who[1]], s.What, own, most)
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

// UploadSlots is how many uploads go on at a time: each holds a chunk of rows.
func UploadSlots(q *Quotas) *Slots {
	return newSlots(&Slots{What: "uploads", Quota: store.Uploads, Most: 32, Part: 0.5, quotas: q})
}

// DownloadSlots is how many reads of whole batches and runs go on at a time: each has a
// connection to the database or a part of the file, and goes on for as long as its
// reader takes.
func DownloadSlots(q *Quotas) *Slots {
	return newSlots(&Slots{What: "downloads", Quota: store.Downloads, Most: 16, Part: 0.5, quotas: q})
}

// ListSlots is how many lists of long rows are on their way: each is in memory as a whole
// until its reader has taken it.
func ListSlots(q *Quotas) *Slots {
	return newSlots(&Slots{What: "long lists", Quota: store.LongLists, Most: 32, Part: 0.5, quotas: q})
}

// BodySlots is how many MiB of bodies of requests are in memory. Those of one tenant, or
// of all workers, leave two thirds to the others, however slowly they come.
func BodySlots(q *Quotas) *Slots {
	return newSlots(&Slots{What: "MiB of requests", Quota: store.RequestMemory, Most: 96, Part: 0.375, quotas: q})
}

func newSlots(s *Slots) *Slots {
	s.quotas.Count(s.Quota, s.of)
	return s
}

// of returns how many are under way for a tenant.
func (s *Slots) of(tenant crowd.TenantID) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.by[slotHolder{tenant: tenant}])
}

// StartBody is Start for a body of so many bytes (-1: not known), at most most. Below
// 64 KiB it does not count.
func (s *Slots) StartBody(ctx context.Context, person crowd.WorkerID, tenant crowd.TenantID, bytes, most int64) (end func(), err error) {
	if mib := int((min(uint64(bytes), uint64(most)) + 1<<20 - 64<<10) >> 20); mib > 0 {
		return s.Start(ctx, person, tenant, mib)
	}
	return func() {}, nil
}
