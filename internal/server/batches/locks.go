package batches

import (
	"sync"

	"github.com/throng-dev/throng/crowd"
)

// batchLocks keeps changes of one draft apart. Nobody holds two of them.
type batchLocks [64]sync.Mutex

// lock takes the lock of a batch, which few others share, until unlock is called.
func (l *batchLocks) lock(id crowd.BatchID) (unlock func()) {
	mu := &l[uint64(id)%uint64(len(l))]
	mu.Lock()
	return mu.Unlock
}
