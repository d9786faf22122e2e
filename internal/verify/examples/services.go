package examples

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"sync"
	"time"
)

// DefaultListen is where the files of the examples expect the services.
const DefaultListen = "127.0.0.1:8099"

// ServiceOptions are how well the services do.
type ServiceOptions struct {
	// Slow is how long each answer takes; 0: no time.
	Slow time.Duration
	// Failing is the share of items, from 0 to 1, whose first try ends with
	// status 503. The next try of the same item is answered. Which ones fail
	// depends on what is sent.
	Failing float64
}

// The limits of a request, and of what is remembered.
const (
	maxRequest = 64 << 10
	maxKept    = 100_000 // answers; beyond, all are forgotten
)

// Services are the programs of an insurance company that the example of claims
// calls. They are made up, but behave as a service of a workflow should:
// an answer depends on the request only, the same Idempotency-Key gets the same
// answer again, and another request under a known key is refused with 422.
//
//	POST /register  claim → file (number of the file), desk
//	POST /estimate  file, cause, declared → estimate
//	POST /info      file, missing → papers
//	POST /notify    file, customer → letter
type Services struct {
	opts ServiceOptions
	mux  *http.ServeMux

	mu   sync.Mutex
	kept map[string]kept // by path and key
	made int64           // answers that were worked out, not remembered
	down int64           // requests refused by ServiceOptions.Failing
}

// kept is what was answered under a key.
type kept struct {
	request [sha256.Size]byte
	answer  []byte
}

// NewServices returns the services, to be served at any address.
func NewServices(opts ServiceOptions) *Services {
	s := &Services{opts: opts, mux: http.NewServeMux(), kept: make(map[string]kept)}
	for path, f := range map[string]func(request) (any, error){"register": register, "estimate": estimate, "info": info, "notify": notify} {
		s.mux.HandleFunc("POST /"+path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, f) })
	}
	return s
}

// ServeHTTP answers one request.
func (s *Services) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Made returns how many answers were worked out; those that were given again
// under their key do not count.
func (s *Services) Made() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made
}

// Refused returns how many requests were refused because of
// ServiceOptions.Failing.
func (s *Services) Refused() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down
}

func (s *Services) serve(w http.ResponseWriter, r *http.Request, f func(request) (any, error)) {
	key := r.Header.Get("Idempotency-Key")
	if key == "" {
		refuse(w, http.StatusBadRequest, "the header Idempotency-Key is missing: it tells apart one item from another")
		return
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "send application/json")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, "the request is too large, or broke off")
		return
	}
	if s.opts.Slow > 0 {
		select {
		case <-time.After(s.opts.Slow):
		case <-r.Context().Done():
			return
		}
	}
	if try := r.Header.Get("Throng-Try"); (try == "" || try == "1") && share(r.URL.Path+string(body)) < s.opts.Failing {
		s.mu.Lock()
		s.down++
		s.mu.Unlock()
		refuse(w, http.StatusServiceUnavailable, "down for a moment, try again")
		return
	}
	answer, status, err := s.answer(r.URL.Path+" "+key, body, f)
	if err != nil {
		refuse(w, status, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer)
}

// answer works the answer out, or finds what was answered under the key.
func (s *Services) answer(key string, body []byte, f func(request) (any, error)) (answer []byte, status int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := sha256.Sum256(body)
	if old, ok := s.kept[key]; ok {
		if old.request != sum {
			return nil, http.StatusUnprocessableEntity, fmt.Errorf("another request came under this Idempotency-Key before")
		}
		return old.answer, 0, nil
	}
	var q request
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, http.StatusBadRequest, fmt.Errorf("the request is not the JSON object of a claim: %w", err)
	}
	got, err := f(q)
	if err != nil {
		return nil, http.StatusUnprocessableEntity, err
	}
	if answer, err = json.Marshal(got); err != nil {
		return nil, http.StatusInternalServerError, err
	}
	if len(s.kept) >= maxKept {
		clear(s.kept)
	}
	s.kept[key] = kept{sum, answer}
	s.made++
	return answer, 0, nil
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": why}) // whoever has gone need not know
}

// share spreads texts evenly from 0 to 1.
func share(text string) float64 {
	sum := sha256.Sum256([]byte(text))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

// request has the columns that one of the services is sent.
type request struct {
	Claim    string   `json:"claim"`
	File     string   `json:"file"`
	Customer string   `json:"customer"`
	Cause    string   `json:"cause"`
	Missing  string   `json:"missing"`
	Declared *float64 `json:"declared"`
}

func register(q request) (any, error) {
	if q.Claim == "" {
		return nil, fmt.Errorf("claim is missing: which claim is to be registered?")
	}
	desks := []string{"north", "south", "west"}
	return map[string]any{"file": "F-" + q.Claim, "desk": desks[int(share(q.Claim)*float64(len(desks)))]}, nil
}

// perCause is the part of what is declared that repairs usually cost.
var perCause = map[string]float64{"accident": 0.85, "vandalism": 0.8, "storm": 0.9, "theft": 0.75}

func estimate(q request) (any, error) {
	part, ok := perCause[q.Cause]
	switch {
	case q.File == "":
		return nil, fmt.Errorf("file is missing: register the claim first")
	case !ok:
		return nil, fmt.Errorf("the cause %q is not known: accident, vandalism, storm or theft", q.Cause)
	case q.Declared == nil || *q.Declared < 0:
		return nil, fmt.Errorf("declared must be an amount, from 0")
	}
	return map[string]any{"estimate": math.Round(*q.Declared * part)}, nil
}

func info(q request) (any, error) {
	if q.File == "" || q.Missing == "" {
		return nil, fmt.Errorf("file and missing are needed: what is the customer to be asked for?")
	}
	return map[string]any{"papers": q.Missing + " of " + q.File + ", sent by the customer"}, nil
}

func notify(q request) (any, error) {
	if q.File == "" || q.Customer == "" {
		return nil, fmt.Errorf("file and customer are needed: who is to be told of what?")
	}
	return map[string]any{"letter": "Dear " + q.Customer + ", your claim " + q.File + " is not covered."}, nil
}
