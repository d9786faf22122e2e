package store

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// RequestKey names a request that its sender may send again: the key that they gave it,
// which is theirs alone.
type RequestKey struct {
	Person crowd.WorkerID
	Tenant crowd.TenantID // of a token that acts for one only, or 0
	Key    string
}

// Request is a request that came under a key, with its answer.
type Request struct {
	RequestKey
	Digest string // of what was asked: another request has another
	Rights string // what its sender could do then, as access.Principal.Rights has it
	At     time.Time
	Status int // of the answer; 0: it is not known, and the request had an effect
	// Withheld is why the answer is not kept, or "".
	Withheld    Withheld
	ContentType string
	Location    string
	Body        string
}

// Withheld is why an answer is not kept.
type Withheld string

// Why an answer is not kept.
const (
	HasSecret Withheld = "secret" // that is told once
	TooLong   Withheld = "long"
)

// Requests keeps requests that came under a key. That a request had an effect is kept in
// the transaction of the effect: see Effect.
type Requests interface {
	// Request returns the request under a key.
	Request(ctx context.Context, key RequestKey) (Request, error)
	// PutRequest keeps a request in place of the one under its key.
	PutRequest(ctx context.Context, r Request) error
	// DropRequests takes away up to limit requests from before a time, and returns how
	// many there were.
	DropRequests(ctx context.Context, before time.Time, limit int) (int, error)
}

// Effect has the first transaction under its context keep that its request had an effect.
// If the store has the request already, the transaction fails with Conflict, and leaves
// nothing: so no request has its effect twice.
type Effect struct {
	RequestKey
	Rights string // see Request
	At     time.Time
	Forget time.Time     // what is kept of the key from before it is replaced
	Digest func() string // of what was asked
	// Status is of the answer where that is known before: the effect is one transaction,
	// and there is nothing to tell of it. Otherwise it is 0.
	Status int

	kept, over atomic.Bool
}

// Kept reports whether the effect has been kept.
func (e *Effect) Kept() bool { return e.kept.Load() }

// Keep is for stores: it says that the effect has been kept.
func (e *Effect) Keep() { e.kept.Store(true) }

// End has later transactions keep nothing of the effect: the request is answered.
func (e *Effect) End() { e.over.Store(true) }

// Pending reports whether the next transaction is to keep the effect.
func (e *Effect) Pending() bool { return !e.kept.Load() && !e.over.Load() }

type effectsKey struct{}

// WithEffects returns a context whose first transaction keeps these effects.
func WithEffects(ctx context.Context, effects ...*Effect) context.Context {
	return context.WithValue(ctx, effectsKey{}, effects)
}

// Preparing returns a context for transactions that only prepare for the effect of a
// request: after them it can be begun again from the start. They keep no acts either,
// and use up nothing that was shown.
func Preparing(ctx context.Context) context.Context {
	if ShownOf(ctx) != nil {
		ctx = WithShown(ctx, nil)
	}
	if len(EffectsOf(ctx))+len(ActsOf(ctx)) == 0 {
		return ctx
	}
	return WithActs(WithEffects(ctx))
}

// EffectsOf returns the effects of a context.
func EffectsOf(ctx context.Context) []*Effect {
	effects, _ := ctx.Value(effectsKey{}).([]*Effect)
	return effects
}
