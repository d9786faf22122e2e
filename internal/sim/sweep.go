package sim

import (
	"context"
	"runtime"
	"sync"
)

// Sweep runs n things over all cores and returns what each came to, in order,
// whatever the order in which they end. They are begun in order. After an error,
// or when the context ends, nothing more is begun; what runs is waited for,
// since it cannot be stopped. The error is that of the first in order that
// failed, so it is the same on any number of cores. done, which may be nil, is
// told how many have ended, one more each time; it is called from one goroutine at a
// time, and the others go on meanwhile.
func Sweep[T any](ctx context.Context, n int, do func(i int) (T, error), done func(ended int)) ([]T, error) {
	results := make([]T, n)
	var (
		lock        sync.Mutex // of all of these; nothing is called under it
		next        int
		failed      = n // the first in order
		reason      error
		ended, told int
		telling     bool
		group       sync.WaitGroup
	)
	take := func() (int, bool) {
		lock.Lock()
		defer lock.Unlock()
		if next == n || failed < n || ctx.Err() != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	fail := func(i int, err error) {
		lock.Lock()
		defer lock.Unlock()
		if i < failed {
			failed, reason = i, err
		}
	}
	// While another goroutine reports progress, it reports this end too.
	tell := func() {
		lock.Lock()
		defer lock.Unlock()
		ended++
		if telling || done == nil {
			return
		}
		telling = true
		for told < ended {
			told++
			now := told
			lock.Unlock()
			done(now)
			lock.Lock()
		}
		telling = false
	}
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				result, err := do(i)
				if err != nil {
					fail(i, err)
					return
				}
				results[i] = result
				tell()
			}
		})
	}
	group.Wait()
	if reason != nil {
		return nil, reason
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return results, nil
}
