package accounts

import (
	"sync"
	"time"
)

// Wrong passwords for one name are allowed in a burst, then one in so long. Whoever
// knows the password waits no longer than that.
const (
	attemptBurst = 10
	attemptEvery = 10 * time.Second
	maxKeys      = 100_000 // names that nobody has are kept too; when there are so many, all are dropped
)

// allowance is how much of a quota is left, as of a time.
type allowance struct {
	left float64
	asOf time.Time
}

// quota bounds how often something is done under one key: burst times at once,
// then once in every. It is empty when the process starts.
type quota[K comparable] struct {
	mu   sync.Mutex
	list map[K]allowance
}

// take uses n of a key up, or returns false and when there will be enough. It is
// asked before the thing is done, so that many at once gain nothing.
func (q *quota[K]) take(key K, n, burst int, every time.Duration, now time.Time) (ok bool, enough time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.list == nil || len(q.list) >= maxKeys {
		q.list = make(map[K]allowance)
	}
	x, found := q.list[key]
	if !found {
		x = allowance{left: float64(burst), asOf: now}
	}
	left := min(float64(burst), x.left+float64(now.Sub(x.asOf))/float64(every))
	if left < float64(n) {
		return false, now.Add(time.Duration((float64(n) - left) * float64(every)))
	}
	q.list[key] = allowance{left: left - float64(n), asOf: now}
	return true, time.Time{}
}

// forget gives a key all of its quota back.
func (q *quota[K]) forget(key K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.list, key)
}
