package accounts

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/store"
)

// mayPass is how long a principal is kept without reading the store again.
// Changes made through this server are seen at once.
const mayPass = time.Minute

// sessionCache keeps principals by the hash of their token.
type sessionCache struct {
	mu     sync.RWMutex
	list   map[string]cachedPrincipal
	clears int // how often it was cleared
}

type cachedPrincipal struct {
	principal *access.Principal
	until     time.Time
}

// get returns the principal that is kept under a hash, or nil. clears is for put.
func (c *sessionCache) get(hash string, now time.Time) (p *access.Principal, clears int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if x := c.list[hash]; now.Before(x.until) {
		return x.principal, c.clears
	}
	return nil, c.clears
}

// maxCached bounds the cache: when it is full, it is emptied.
const maxCached = 100_000

// put keeps a principal that was read from the store since get returned clears,
// unless the cache was cleared in between: what was read may be old then.
func (c *sessionCache) put(hash string, p *access.Principal, until time.Time, clears int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clears != clears {
		return
	}
	if c.list == nil || len(c.list) >= maxCached {
		c.list = make(map[string]cachedPrincipal)
	}
	c.list[hash] = cachedPrincipal{p, until}
}

// clear forgets everybody: something about people or tokens has changed.
func (c *sessionCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = nil
	c.clears++
}

var errSignIn = crowd.Errorf(crowd.Unauthenticated, "sign in first, or send a valid token")

// Authenticate returns the principal with a secret: that of a browser's session,
// or of a program's token.
func (s *Accounts) Authenticate(ctx context.Context, secret string) (*access.Principal, error) {
	if secret == "" || len(secret) > 200 {
		return nil, errSignIn
	}
	now, hash := s.clock.Time(), auth.HashSecret(secret)
	p, clears := s.sessions.get(hash, now)
	if p != nil {
		return p, nil
	}
	t, err := s.store.TokenByHash(ctx, hash)
	if crowd.CodeOf(err) == crowd.NotFound || (err == nil && (t.Kind == store.SetupToken || expired(t, now))) {
		return nil, errSignIn
	}
	if err != nil {
		return nil, err
	}
	u, err := s.store.User(ctx, t.User)
	if err != nil {
		return nil, err
	}
	if u.Suspended {
		return nil, errSuspended
	}
	p = &access.Principal{User: u, Token: t}
	until := now.Add(mayPass)
	if !t.ExpiresAt.IsZero() && t.ExpiresAt.Before(until) {
		until = t.ExpiresAt
	}
	s.sessions.put(hash, p, until, clears)
	return p, nil
}

func expired(t store.Token, now time.Time) bool {
	return !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt)
}

// SignOut ends the session or token of p. If they wait for a task, they leave the
// queue at once; what they hold stays theirs until its lease runs out.
func (s *Accounts) SignOut(ctx context.Context, p *access.Principal) error {
	defer s.sessions.clear()
	if err := s.store.DeleteToken(ctx, p.User.ID, p.Token.ID); err != nil {
		return err
	}
	return s.leave(ctx, p)
}

// leave has p, whose session or token has been taken away, leave the queue for
// tasks. Requests that wait with another token of theirs end too; their senders ask
// again.
func (s *Accounts) leave(ctx context.Context, p *access.Principal) error {
	s.sessions.clear()                 // before, so that they do not join the queue again
	if p.May(access.WorkNext) != nil { // they wait for none
		return nil
	}
	pool, err := s.live.Get(cmp.Or(s.onCall.PoolOf(p.User.ID), p.User.Pool))
	if err != nil {
		return nil //nolint:nilerr // a pool that is not there has no queue
	}
	return pool.LeaveQueue(ctx, p.User.ID)
}
