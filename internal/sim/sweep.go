package sim

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Sweep runs n things over all cores and returns what each came to, in order,
// whatever the order in which they end. They are begun in order. After an error,
// or when the context ends, nothing more is begun; what runs is waited for,
// since it cannot be stopped. The error is that of the first in order that
// failed, so it is the same on any number of cores. done, which may be nil, is
// told how many have ended, one more each time, while the others go on.
func Sweep[T any](ctx context.Context, n int, do func(i int) (T, error), done func(ended int)) ([]T, error) {
	results := make([]T, n)
	ended := make(chan struct{}, n) // so that nobody waits for done
	var (
		next   atomic.Int64
		failed atomic.Bool
		lock   sync.Mutex
		reason error // under lock: of the first in order that failed
		of     = n   // its place
		group  sync.WaitGroup
	)
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for !failed.Load() && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				result, err := do(i)
				if err != nil {
					lock.Lock()
					defer lock.Unlock()
					if failed.Store(true); i < of {
						of, reason = i, err
					}
					return
				}
				results[i] = result
				ended <- struct{}{}
			}
		})
	}
	go func() {
		group.Wait()
		close(ended)
	}()
	told := 0
	for range ended {
		if told++; done != nil {
			done(told)
		}
	}
	if reason != nil {
		return nil, reason
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return results, nil
}
