package live

import (
	"sync"

	"github.com/throng-dev/throng/crowd"
)

// How many event streams may be open at once.
const (
	MaxStreams       = 20  // of a person
	MaxTenantStreams = 100 // about things of a tenant
)

// Audience counts who watches what. The zero value is ready.
type Audience struct {
	mu      sync.Mutex
	people  map[crowd.WorkerID]int
	tenants map[crowd.TenantID]int
}

// Join counts one more stream of a person about something of a tenant (0: of none),
// or returns an error if there are too many. leave gives it back; it may be called
// more than once.
func (a *Audience) Join(person crowd.WorkerID, tenant crowd.TenantID) (leave func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.people[person] >= MaxStreams:
		return nil, crowd.Errorf(crowd.TooMany, "you have %d event streams open, the most for one person: close some (each open page of a batch or run has one), or ask without watching", MaxStreams)
	case tenant != 0 && a.tenants[tenant] >= MaxTenantStreams:
		return nil, crowd.Errorf(crowd.TooMany, "%s has %d event streams open, the most for one tenant: close some (each open page of a batch or run has one), or ask without watching", tenant, MaxTenantStreams)
	}
	if a.people == nil {
		a.people, a.tenants = make(map[crowd.WorkerID]int), make(map[crowd.TenantID]int)
	}
	a.people[person]++
	a.tenants[tenant]++
	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		leaveOne(a.people, person)
		leaveOne(a.tenants, tenant)
	}), nil
}

func leaveOne[K comparable](open map[K]int, id K) {
	if open[id]--; open[id] == 0 {
		delete(open, id)
	}
}
