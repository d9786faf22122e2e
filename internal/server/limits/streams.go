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
	people  map[crowd.WorkerID]map[*stream]bool
	tenants map[crowd.TenantID]int
	barred  map[crowd.WorkerID]bool
}

// stream is an open event stream.
type stream struct{ cut func() }

// Open counts one more stream of a person about something of a tenant (0: of none),
// or returns an error if there are too many. It counts until the first call of end. cut
// ends the stream; it may be called after end.
func (s *Streams) Open(person crowd.WorkerID, tenant crowd.TenantID, cut func()) (end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.barred[person]:
		return nil, crowd.Errorf(crowd.Forbidden, "your account is suspended: ask an administrator")
	case len(s.people[person]) >= MaxStreams:
		return nil, crowd.Errorf(crowd.TooMany, "you have %d event streams open, the most for one person: close some (each open page of a batch or run has one), or ask without watching", MaxStreams)
	case tenant != 0 && s.tenants[tenant] >= MaxTenantStreams:
		return nil, crowd.Errorf(crowd.TooMany, "%s has %d event streams open, the most for one tenant: close some (each open page of a batch or run has one), or ask without watching", tenant, MaxTenantStreams)
	}
	if s.people == nil {
		s.people, s.tenants = make(map[crowd.WorkerID]map[*stream]bool), make(map[crowd.TenantID]int)
	}
	if s.people[person] == nil {
		s.people[person] = make(map[*stream]bool)
	}
	opened := &stream{cut}
	s.people[person][opened] = true
	s.tenants[tenant]++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(s.people[person], opened); len(s.people[person]) == 0 {
			delete(s.people, person)
		}
		if s.tenants[tenant]--; s.tenants[tenant] == 0 {
			delete(s.tenants, tenant)
		}
	}), nil
}

// Bar ends the streams of a person, who opens none from now on, or lifts that.
func (s *Streams) Bar(person crowd.WorkerID, barred bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !barred {
		delete(s.barred, person)
		return
	}
	if s.barred == nil {
		s.barred = make(map[crowd.WorkerID]bool)
	}
	s.barred[person] = true
	for opened := range s.people[person] {
		opened.cut()
	}
}
