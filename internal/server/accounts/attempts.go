package accounts

import (
	"strings"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// attempts slows down guessing: wrong passwords for one name are allowed in a
// burst, then one in so long. Whoever knows the password waits no longer than
// that.
type attempts struct {
	mu   sync.Mutex
	list map[string]allowance // by name in lower case, for those with wrong ones lately
}

// allowance is how many wrong passwords a name has left, as of a time.
type allowance struct {
	left float64
	asOf time.Time
}

const (
	attemptBurst = 10
	attemptEvery = 10 * time.Second
	maxNames     = 100_000 // names that nobody has are kept too; when there are so many, all are dropped
)

// take uses an attempt up, or returns an error if there is none left now. Attempts are
// taken before the password is looked at, so that many at once gain nothing.
func (a *attempts) take(name string, now time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	name = strings.ToLower(name)
	if a.list == nil || len(a.list) >= maxNames {
		a.list = make(map[string]allowance)
	}
	x, ok := a.list[name]
	if !ok {
		x = allowance{left: attemptBurst, asOf: now}
	}
	left := x.at(now)
	if left < 1 {
		return crowd.Errorf(crowd.TooMany, "too many wrong passwords for this name; try again in %s", attemptEvery)
	}
	a.list[name] = allowance{left: left - 1, asOf: now}
	return nil
}

// right forgets a name: its password was given.
func (a *attempts) right(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.list, strings.ToLower(name))
}

func (x allowance) at(now time.Time) float64 {
	return min(attemptBurst, x.left+float64(now.Sub(x.asOf))/float64(attemptEvery))
}

// quota bounds how often something is done under one key: burst times at once,
// then once in every. Like attempts, it is empty when the process starts.
type quota[K comparable] struct {
	mu   sync.Mutex
	list map[K]allowance
}

// take uses n of a key up, or returns false and when there will be enough.
func (q *quota[K]) take(key K, n, burst int, every time.Duration, now time.Time) (ok bool, enough time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.list == nil || len(q.list) >= maxNames {
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
