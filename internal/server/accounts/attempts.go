package accounts

import (
	"maps"
	"sync"
	"time"
)

// limit allows something burst times at once, then once in every.
type limit struct {
	burst int
	every time.Duration
}

// Tries that failed are allowed in a burst, then one in so long.
const (
	attemptBurst = 10
	attemptEvery = 10 * time.Second
)

// maxKeys bounds how many keys of a quota are kept.
const maxKeys = 100_000

// portion is n of what a limit allows under a key.
type portion[K comparable] struct {
	key K
	n   int
	limit
}

// quota bounds how often something is done under a key. It is empty when the process
// starts. What is kept of a key is forgotten when all of its limit is back.
type quota[K comparable] struct {
	mu    sync.Mutex
	full  map[K]time.Time // when all of a key's limit is back; absent: it is
	sweep int             // how many keys there are when those that are full are forgotten
}

// take uses up all of some portions, or none of them and returns false and when there
// will be enough. It is asked before the thing is done, so that many at once gain
// nothing.
func (q *quota[K]) take(now time.Time, portions ...portion[K]) (ok bool, enough time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	full := make([]time.Time, len(portions))
	for i, d := range portions {
		full[i] = later(now, q.full[d.key]).Add(time.Duration(d.n) * d.every)
		enough = later(enough, full[i].Add(-time.Duration(d.burst)*d.every))
	}
	if enough.After(now) {
		return false, enough
	}
	q.makeRoom(now, len(portions))
	for i, d := range portions {
		q.full[d.key] = full[i]
	}
	return true, time.Time{}
}

// makeRoom forgets keys whose limit is back, and if there are too many others, some
// of them, which ones nobody can choose.
func (q *quota[K]) makeRoom(now time.Time, n int) {
	if q.full == nil {
		q.full = make(map[K]time.Time)
	}
	if len(q.full)+n <= max(q.sweep, maxKeys/100) {
		return
	}
	maps.DeleteFunc(q.full, func(_ K, full time.Time) bool { return !full.After(now) })
	for key := range q.full { // in random order
		if len(q.full) <= maxKeys*3/4 {
			break
		}
		delete(q.full, key)
	}
	q.sweep = min(2*len(q.full), maxKeys)
}

// giveBack undoes what was taken.
func (q *quota[K]) giveBack(portions ...portion[K]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range portions {
		if full, found := q.full[d.key]; found {
			q.full[d.key] = full.Add(-time.Duration(d.n) * d.every)
		}
	}
}

// forget gives a key all of its limit back.
func (q *quota[K]) forget(key K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.full, key)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
