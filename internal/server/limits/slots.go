package limits

import (
	"context"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Slots bounds how many transfers of one kind go on at a time, each of which holds
// something for as long as the other side takes: all together, those of a tenant, and
// those by a person.
type Slots struct {
	What string // they are, as errors name them
	Most int    // at a time
	Each int    // of a tenant, and by a person

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

// Start waits until there is room for one more transfer by a person for a tenant, which
// ends with a call of end.
func (s *Slots) Start(ctx context.Context, person crowd.WorkerID, tenant crowd.TenantID) (end func(), err error) {
	who := [2]slotHolder{{tenant: tenant}, {person: person}}
	timer := time.NewTimer(slotWait)
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

// take counts one more transfer, or returns why there is no room for it and what closes
// when there may be.
func (s *Slots) take(who [2]slotHolder) (freed <-chan struct{}, full error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.by[who[0]] >= s.Each || s.by[who[1]] >= s.Each:
		full = crowd.Errorf(crowd.TooMany, "%d %s are under way of this tenant or by you; wait for one of them to end", s.Each, s.What)
	case s.all >= s.Most:
		full = crowd.Errorf(crowd.Unavailable, "too many %s are under way; try again later", s.What)
	default:
		if s.by == nil {
			s.by = make(map[slotHolder]int)
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

func (s *Slots) end(who [2]slotHolder) {
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

// UploadSlots is how many uploads of one kind go on at a time: each holds a chunk of
// rows.
func UploadSlots() *Slots { return &Slots{What: "uploads", Most: 32, Each: 4} }
