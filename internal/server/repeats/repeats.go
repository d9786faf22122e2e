package repeats

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/store"
)

// Header is the header of a request that holds its key, as the IETF's draft
// idempotency-key-header has it.
const Header = "Idempotency-Key"

// The limits of what is kept.
const (
	Life       = 24 * time.Hour // of an answer
	MaxKey     = 255            // characters
	maxAnswer  = 256 << 10      // bytes
	shareBytes = 1 << 10        // of an answer are one of a tenant's share
	patience   = 30 * time.Second
	sweepEvery = 10 * time.Minute
	sweepRows  = 1000 // in a transaction
)

// share is how many requests of a tenant may come under keys: a request with a long
// answer counts more than once.
var share = limits.Limit{Burst: 20_000, Every: time.Second / 4}

// Repeats knows which requests came under which keys.
type Repeats struct {
	store store.Requests
	clock live.Clock
	log   *slog.Logger
	share limits.Quota[crowd.TenantID]

	mu    sync.Mutex
	going map[store.RequestKey]chan struct{} // closed at the request's end

	// keeping is held while an answer is kept, and by whoever begins or ends an erasure.
	keeping sync.RWMutex
	erased  erasures
}

// erasures counts the erasures of people.
type erasures struct{ begun, going int }

// New returns what keeps its answers in a store.
func New(st store.Requests, clock live.Clock, log *slog.Logger) *Repeats {
	return &Repeats{store: st, clock: clock, log: log, going: make(map[store.RequestKey]chan struct{})}
}

// Request is a request that came under a key.
type Request struct {
	Who *access.Principal
	Key string
	// Address is what was called, with all that its path and query say.
	Address string
	Sent    string // the body, unless it streams
	Streams bool   // the body is read as it comes
	Secret  bool   // the answer has a secret, which is told once
	// Known is the status of an answer that is known before, as of store.Effect.
	Known int
	// Page has a repetition wait for the first request, and keeps redirections only: a
	// page that was made of the request is told once.
	Page bool
}

// ParseKey reads a key as the header has it: in quotation marks, or bare.
func ParseKey(values []string) (string, error) {
	if len(values) != 1 {
		return "", crowd.Fieldf(Header, "is there %d times: a request has one", len(values))
	}
	key := values[0]
	if inner, quoted := strings.CutPrefix(key, `"`); quoted {
		if inner, quoted = strings.CutSuffix(inner, `"`); quoted {
			key = inner
		}
	}
	odd := func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }
	if key == "" || len(key) > MaxKey || strings.ContainsFunc(key, odd) {
		return "", crowd.Fieldf(Header, "must be 1 to %d visible ASCII characters without quotation marks and backslashes, such as a UUID", MaxKey)
	}
	return key, nil
}

var (
	errOther = crowd.Fieldf(Header, "came before with another request: another request needs another key")
	errGoing = crowd.Errorf(crowd.Conflict, "the request with this key is still being carried out; ask again for its answer")
	errShare = crowd.Errorf(crowd.TooMany, "too many requests with a key; send them more slowly, or without one")
	errLost  = crowd.Errorf(crowd.Conflict, "the request with this key was carried out, at least in part, and the server stopped or failed before its answer was kept: see what became of it, then go on under another key")
	errTold  = crowd.Errorf(crowd.Conflict, "the request with this key was carried out; its answer has a secret, which is told once, and is not kept: if it did not reach you, revoke it, and make another under another key")
	errLong  = crowd.Errorf(crowd.Conflict, "the request with this key was carried out; its answer was too long to be kept")
	errLess  = crowd.Errorf(crowd.Conflict, "the request with this key was carried out; its answer is told to who may do all that its sender could do then, and you may not: see what became of it with what you may")
	errGone  = crowd.Errorf(crowd.Conflict, "the request with this key was carried out; its answer named somebody who has been erased since, or may have, and is not kept")
)

// inPages is what is said of a form in place of an error about its request.
var inPages = map[*crowd.Error]error{
	errOther: crowd.Errorf(crowd.Conflict, "this form was sent before, with another file; open its page again to send it once more"),
	errGoing: crowd.Errorf(crowd.Conflict, "this form was sent before and is still being carried out; look at its page again in a moment"),
	errLost:  crowd.Errorf(crowd.Conflict, "this form was sent before and was carried out, at least in part; what came of it was lost when the server stopped: see how things stand"),
	errLess:  crowd.Errorf(crowd.Conflict, "this form was sent before and was carried out; since then you may do less, and are not told what came of it"),
	errTold:  crowd.Errorf(crowd.Conflict, "this form was sent before and was carried out; what came of it is shown once: if you have not seen it, take it away again, and make another"),
}

// Serve answers a request: with the answer that its key has, or by handle. An error is for
// the caller to tell; nothing was sent then.
func (s *Repeats) Serve(w http.ResponseWriter, r *http.Request, q Request, handle http.HandlerFunc) error {
	err := s.serve(w, r, &q, handle)
	var known *crowd.Error
	if q.Page && errors.As(err, &known) && inPages[known] != nil {
		return inPages[known]
	}
	return err
}

func (s *Repeats) serve(w http.ResponseWriter, r *http.Request, q *Request, handle http.HandlerFunc) error {
	id := store.RequestKey{Person: q.Who.User.ID, Tenant: q.Who.Token.Tenant, Key: q.Key}
	end, err := s.begin(r.Context(), id, q.Page)
	if err != nil {
		if errors.Is(err, errGoing) {
			w.Header().Set("Retry-After", "1")
		}
		return err
	}
	defer end()
	if q.Streams {
		httpkit.Receiving(w, r)
	}
	asked, now := newAsked(r, q), s.clock.Time()
	forget := now.Add(-Life)
	kept, err := s.store.Request(r.Context(), id)
	if err == nil && !kept.At.Before(forget) {
		return repeat(w, &kept, asked, q.Who)
	}
	if err != nil && crowd.CodeOf(err) != crowd.NotFound {
		return err
	}
	one := limits.Portion[crowd.TenantID]{Key: q.Who.Share(), N: 1, Limit: share}
	if ok, _ := s.share.Take(now, one); !ok {
		return errShare
	}
	before := s.erasures()
	effect := &store.Effect{RequestKey: id, Rights: q.Who.Rights(), At: now, Forget: forget, Digest: asked.digest, Status: q.Known}
	defer effect.End()
	answer := &answer{ResponseWriter: w}
	// Whoever hangs up comes again for the answer: it is made all the same.
	ctx := context.WithoutCancel(r.Context())
	handle(answer, r.WithContext(store.WithEffects(ctx, effect)))
	effect.End()
	s.keep(ctx, effect, q, asked, answer, before)
	answer.send()
	return nil
}

// Erase runs f, which erases somebody from what is kept. An answer to a request that goes on
// meanwhile may be kept after that, and name them: of those none is kept.
func (s *Repeats) Erase(f func() error) error {
	s.keeping.Lock() // what is being kept is kept before f looks
	s.erased.begun++
	s.erased.going++
	s.keeping.Unlock()
	defer func() {
		s.keeping.Lock()
		defer s.keeping.Unlock()
		s.erased.going--
	}()
	return f()
}

func (s *Repeats) erasures() erasures {
	s.keeping.RLock()
	defer s.keeping.RUnlock()
	return s.erased
}

// begin waits until the request is the only one under its key, or refuses it.
func (s *Repeats) begin(ctx context.Context, id store.RequestKey, waits bool) (end func(), err error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		s.mu.Lock()
		other := s.going[id]
		if other == nil {
			done := make(chan struct{})
			s.going[id] = done
			s.mu.Unlock()
			return func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				delete(s.going, id)
				close(done)
			}, nil
		}
		s.mu.Unlock()
		if !waits {
			return nil, errGoing
		}
		select {
		case <-other:
		case <-timer.C:
			return nil, errGoing
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// repeat gives the answer that is kept of a request to who comes again. Who may do less than
// its sender could, by their token or since then, is not told what their own rights would not
// tell them.
func repeat(w http.ResponseWriter, kept *store.Request, asked *asked, to *access.Principal) error {
	if err := asked.readAll(); err != nil {
		return err
	}
	switch {
	case kept.Digest != "" && kept.Digest != asked.digest():
		return errOther
	case kept.Status == 0:
		return errLost
	case kept.Withheld == store.HasSecret:
		return errTold
	case kept.Withheld == store.TooLong:
		return errLong
	case kept.Withheld == store.Erased:
		return errGone
	case !to.MayStill(kept.Rights):
		return errLess
	}
	for name, value := range map[string]string{"Content-Type": kept.ContentType, "Location": kept.Location} {
		if value != "" {
			w.Header().Set(name, value)
		}
	}
	w.WriteHeader(kept.Status)
	_, _ = w.Write([]byte(kept.Body)) // a client that has gone needs no answer
	return nil
}

// keep keeps the answer to a request that has succeeded, or that had an effect before it
// was refused. A request that was refused otherwise, or that failed, may be tried again.
// before is what had been erased when the request began.
func (s *Repeats) keep(ctx context.Context, effect *store.Effect, q *Request, asked *asked, a *answer, before erasures) {
	refused := a.status >= http.StatusBadRequest
	if a.status >= http.StatusInternalServerError || refused && !effect.Kept() {
		return
	}
	// What was asked is known to its end by all that were carried out.
	if err := asked.readAll(); err != nil {
		return
	}
	kept := store.Request{RequestKey: effect.RequestKey, Rights: effect.Rights, Digest: asked.digest(), At: effect.At, Status: a.status,
		ContentType: a.Header().Get("Content-Type"), Location: a.Header().Get("Location")}
	extra := a.body.Len() / shareBytes
	fits := !a.sent
	if fits && extra > 0 {
		fits, _ = s.share.Take(effect.At, limits.Portion[crowd.TenantID]{Key: q.Who.Share(), N: extra, Limit: share})
	}
	s.keeping.RLock()
	defer s.keeping.RUnlock()
	switch {
	case q.Secret && !refused, q.Page && a.status != http.StatusSeeOther:
		kept.Withheld = store.HasSecret
	case !fits:
		kept.Withheld = store.TooLong
	case !q.Page && a.body.Len() > 0 && (before.going > 0 || before.begun != s.erased.begun):
		kept.Withheld = store.Erased
	case !q.Page:
		kept.Body = a.body.String()
	}
	if err := s.store.PutRequest(ctx, kept); err != nil {
		s.log.WarnContext(ctx, "the answer to a request with a key could not be kept", "err", err)
	}
}

// Run forgets what is older than Life, until the context ends.
func (s *Repeats) Run(ctx context.Context) {
	ticks := time.NewTicker(sweepEvery)
	defer ticks.Stop()
	for {
		if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("old answers could not be deleted", "err", err)
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
	}
}

// Sweep forgets what is older than Life.
func (s *Repeats) Sweep(ctx context.Context) error {
	for {
		n, err := s.store.DropRequests(ctx, s.clock.Time().Add(-Life), sweepRows)
		if err != nil || n < sweepRows {
			return err
		}
	}
}
