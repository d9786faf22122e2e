package killtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/throng-dev/throng/internal/verify/load"
)

// item is what a call of the service is about, as the workflow sends it.
type item struct {
	Run     string `json:"of_run"`
	Tenfold int
}

// risk is the service's answer.
func (t item) risk() float64 { return float64(t.Tenfold/10%10) / 10 }

// scores is the service that runs of workflows call. It outlives the
// server that is killed, and remembers every call.
type scores struct {
	*httptest.Server
	mu     sync.Mutex
	random *rand.Rand
	calls  map[item]int
	key    map[item]string // its idempotency key
	of     map[string]item // the reverse
	problems
}

// startScores starts the service on a free port. After Close nothing changes any
// more.
func startScores(seed uint64) *scores {
	s := &scores{random: rand.New(rand.NewPCG(seed, 1000)), calls: make(map[item]int), key: make(map[item]string), of: make(map[string]item)}
	s.Server = httptest.NewServer(s)
	return s
}

// slowest is how long the service takes, at most: long enough that kills catch
// calls on their way.
const slowest = 40 * time.Millisecond

// ServeHTTP answers a call, or refuses one in ten that is good for another try.
func (s *scores) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var t item
	if err := json.NewDecoder(r.Body).Decode(&t); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	refuse, wait := s.note(t, r.Header.Get("Idempotency-Key"))
	if refuse {
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	load.Sleep(r.Context(), wait)
	_, _ = fmt.Fprintf(w, `{"risk": %g}`, t.risk()) // a killed server reads nothing
}

// note remembers a call. The first one of an item may be refused, later ones not.
func (s *scores) note(t item, key string) (refuse bool, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[t]++
	if was, known := s.key[t]; key == "" || known && was != key {
		s.problem("the service was called for %+v under the key %q, and before under %q", t, key, was)
	}
	if was, known := s.of[key]; known && was != t {
		s.problem("the service was called under the key %q for %+v, and before for %+v", key, t, was)
	}
	s.key[t], s.of[key] = key, t
	if s.calls[t] == 1 && s.random.IntN(10) == 0 {
		return true, 0
	}
	return false, time.Duration(s.random.Int64N(int64(slowest)))
}
