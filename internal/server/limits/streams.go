package limits

import (
	"sync"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// MaxStreams is how many event streams of a person may be open at once. How many may be
// about things of a tenant is a quota.
const MaxStreams = 20

// Streams counts open event streams. The zero value is ready, and has the default quotas.
type Streams struct {
	quotas  *Quotas
	mu      sync.Mutex
	people  map[crowd.WorkerID]map[*stream]bool
	tenants map[crowd.TenantID]int
	barred  map[crowd.WorkerID]bool
}

// stream is an open event stream.
type stream struct{ cut func() }

// NewStreams counts event streams within quotas.
func NewStreams(q *Quotas) *Streams {
	s := &Streams{quotas: q}
	q.Count(store.EventStreams, s.of)
	return s
}

// of returns how many are open about things of a tenant.
func (s *Streams) of(tenant crowd.TenantID) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.tenants[tenant])
}

// Open counts one more stream of a person about something of a tenant (0: of none),
// or returns an error if there are too many. It counts until the first call of end. cut
// ends the stream; it may be called after end.
func (s *Streams) Open(person crowd.WorkerID, tenant crowd.TenantID, cut func()) (end func(), err error) {
	most := s.quotas.Limit(tenant, store.EventStreams)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.barred[person]:
		return nil, crowd.Errorf(crowd.Forbidden, "your account is suspended: ask an administrator")
	case len(s.people[person]) >= MaxStreams:
		return nil, crowd.Errorf(crowd.TooMany, "you have %d event streams open, the most for one person: close some (each open page of a batch or run has one), or ask without watching", MaxStreams)
	case tenant != 0 && int64(s.tenants[tenant]) >= most:
		return nil, s.quotas.Refuse(tenant, store.EventStreams, int64(s.tenants[tenant]), 1)
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
