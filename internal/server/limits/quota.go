package limits

import (
	"maps"
	"sync"
	"time"

	"github.com/throng-dev/throng/internal/kit/instant"
)

// Limit allows something Burst times at once, then once in Every.
type Limit struct {
	Burst int
	Every time.Duration
}

// maxKeys bounds how many keys of a quota are kept.
const maxKeys = 100_000

// Portion is N of what a Limit allows under a key.
type Portion[K comparable] struct {
	Key K
	N   int
	Limit
}

// Quota bounds how often something is done under a key. It is empty when the process
// starts. What is kept of a key is forgotten when all of its limit is back.
type Quota[K comparable] struct {
	mu    sync.Mutex
	full  map[K]time.Time // when all of a key's limit is back; absent: it is
	sweep int             // how many keys there are when those that are full are forgotten
}

// Take uses up all of some portions, or none of them and returns false and when there
// will be enough. It is asked before the thing is done, so that many at once gain
// nothing.
func (q *Quota[K]) Take(now time.Time, portions ...Portion[K]) (ok bool, enough time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	full := make([]time.Time, len(portions))
	for i, d := range portions {
		full[i] = instant.Later(now, q.full[d.Key]).Add(time.Duration(d.N) * d.Every)
		enough = instant.Later(enough, full[i].Add(-time.Duration(d.Burst)*d.Every))
	}
	if enough.After(now) {
		return false, enough
	}
	q.makeRoom(now, len(portions))
	for i, d := range portions {
		q.full[d.Key] = full[i]
	}
	return true, time.Time{}
}

// Left reports whether something is left of a portion's limit, and else when.
func (q *Quota[K]) Left(now time.Time, p Portion[K]) (ok bool, enough time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	enough = q.full[p.Key].Add(-time.Duration(p.Burst-1) * p.Every)
	return !enough.After(now), enough
}

// makeRoom forgets keys whose limit is back, and if there are too many others, some
// of them, which ones nobody can choose.
func (q *Quota[K]) makeRoom(now time.Time, n int) {
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

// GiveBack undoes what was taken.
func (q *Quota[K]) GiveBack(portions ...Portion[K]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range portions {
		if full, found := q.full[d.Key]; found {
			q.full[d.Key] = full.Add(-time.Duration(d.N) * d.Every)
		}
	}
}

// Forget gives a key all of its limit back.
func (q *Quota[K]) Forget(key K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.full, key)
}
