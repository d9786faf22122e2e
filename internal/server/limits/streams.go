package limits

import (
	"sync"

	"github.com/throng-dev/throng/crowd"
)

// How many event streams may be open at once.
const (
	MaxStreams       = 20  // of a person
	MaxTenantStreams = 100 // about things of a tenant
)

// Streams counts open event streams. The zero value is ready.
type Streams struct {
	mu      sync.Mutex
	people  map[crowd.WorkerID]int
	tenants map[crowd.TenantID]int
}

// Open counts one more stream of a person about something of a tenant (0: of none),
// or returns an error if there are too many. It counts until the first call of end.
func (s *Streams) Open(person crowd.WorkerID, tenant crowd.TenantID) (end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.people[person] >= MaxStreams:
		return nil, crowd.Errorf(crowd.TooMany, "you have %d event streams open, the most for one person: close some (each open page of a batch or run has one), or ask without watching", MaxStreams)
	case tenant != 0 && s.tenants[tenant] >= MaxTenantStreams:
		return nil, crowd.Errorf(crowd.TooMany, "%s has %d event streams open, the most for one tenant: close some (each open page of a batch or run has one), or ask without watching", tenant, MaxTenantStreams)
	}
	if s.people == nil {
		s.people, s.tenants = make(map[crowd.WorkerID]int), make(map[crowd.TenantID]int)
	}
	s.people[person]++
	s.tenants[tenant]++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		endOne(s.people, person)
		endOne(s.tenants, tenant)
	}), nil
}

func endOne[K comparable](open map[K]int, id K) {
	if open[id]--; open[id] == 0 {
		delete(open, id)
	}
}
