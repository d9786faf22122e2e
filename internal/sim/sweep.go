package sim

import (
	"context"
	"runtime"
	"sync"
)

// Sweep runs n things over all cores and returns what each came to, in order,
// whatever the order in which they end. It stops at the first error, or when
// the context ends. done, which may be nil, is told how many have ended; it is
// called from one goroutine at a time.
func Sweep[T any](ctx context.Context, n int, do func(i int) (T, error), done func(ended int)) ([]T, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	results := make([]T, n)
	var (
		lock        sync.Mutex
		group       sync.WaitGroup
		next, ended int
	)
	take := func() (int, bool) {
		lock.Lock()
		defer lock.Unlock()
		if next == n || ctx.Err() != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				result, err := do(i)
				if err != nil {
					stop(err)
					return
				}
				lock.Lock()
				results[i] = result
				ended++
				if done != nil {
					done(ended)
				}
				lock.Unlock()
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return results, nil
}
