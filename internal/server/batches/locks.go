package batches

import (
	"sync"

	"github.com/throng-dev/throng/crowd"
)

// batchLocks keeps changes of one draft apart. Those of different drafts run at
// the same time.
type batchLocks struct {
	mu   sync.Mutex
	list map[crowd.BatchID]*batchLock // those that somebody holds or waits for
}

type batchLock struct {
	sync.Mutex
	users int
}

// lock takes the lock of a batch until unlock is called.
func (l *batchLocks) lock(id crowd.BatchID) (unlock func()) {
	l.mu.Lock()
	if l.list == nil {
		l.list = make(map[crowd.BatchID]*batchLock)
	}
	b := l.list[id]
	if b == nil {
		b = &batchLock{}
		l.list[id] = b
	}
	b.users++
	l.mu.Unlock()
	b.Lock()
	return func() {
		b.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if b.users--; b.users == 0 {
			delete(l.list, id)
		}
	}
}
