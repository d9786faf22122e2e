package results

import (
	"context"
	"slices"
	"sync"

	"github.com/throng-dev/throng/crowd"
)

// turns lets some go on at a time, and of one tenant fewer, so that what takes one of them long keeps
// no other one waiting.
type turns struct {
	most, each int // at a time: of all, of a tenant

	mu      sync.Mutex
	all     int
	of      map[crowd.TenantID]int
	waiting []*waiting // in the order in which they came
}

type waiting struct {
	tenant crowd.TenantID
	ready  chan struct{} // closed when it is their turn
}

// newTurns returns turns for so many at a time, two at least.
func newTurns(most int) *turns {
	most = max(most, 2)
	return &turns{most: most, each: most / 2, of: make(map[crowd.TenantID]int)}
}

// take waits for a turn, which giveBack gives back. The error is that of ctx.
func (t *turns) take(ctx context.Context, tenant crowd.TenantID) error {
	w := &waiting{tenant, make(chan struct{})}
	t.mu.Lock()
	t.waiting = append(t.waiting, w)
	t.serve()
	t.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	i := slices.Index(t.waiting, w)
	if i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
	t.mu.Unlock()
	if i < 0 { // it came as they went
		t.giveBack(tenant)
	}
	return ctx.Err()
}

func (t *turns) giveBack(tenant crowd.TenantID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all--
	if t.of[tenant]--; t.of[tenant] == 0 {
		delete(t.of, tenant)
	}
	t.serve()
}

// serve gives what turns there are to who has waited longest and may have one. The caller holds the lock.
func (t *turns) serve() {
	for t.all < t.most {
		i := slices.IndexFunc(t.waiting, func(w *waiting) bool { return t.of[w.tenant] < t.each })
		if i < 0 {
			return
		}
		w := t.waiting[i]
		t.waiting = slices.Delete(t.waiting, i, i+1)
		t.all++
		t.of[w.tenant]++
		close(w.ready)
	}
}
