package accounts

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
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
	clears atomic.Int64 // how often it was cleared; written with mu
}

type cachedPrincipal struct {
	principal *access.Principal
	networks  []netip.Prefix // of the token: it is good from these
	until     time.Time
}

// get returns what is kept under a hash, or no principal. clears is for put.
func (c *sessionCache) get(hash string, now time.Time) (_ cachedPrincipal, clears int64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if x := c.list[hash]; now.Before(x.until) {
		return x, c.clears.Load()
	}
	return cachedPrincipal{}, c.clears.Load()
}

// maxCached bounds the cache: when it is full, it is emptied.
const maxCached = 100_000

// put keeps a principal that was read from the store since get returned clears,
// unless the cache was cleared in between: what was read may be old then.
func (c *sessionCache) put(hash string, x cachedPrincipal, clears int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clears.Load() != clears {
		return
	}
	if c.list == nil || len(c.list) >= maxCached {
		c.list = make(map[string]cachedPrincipal)
	}
	c.list[hash] = x
}

// clear forgets everybody: something about people or tokens has changed.
func (c *sessionCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = nil
	c.clears.Add(1)
}

var errSignIn = crowd.Errorf(crowd.Unauthenticated, "sign in first, or send a valid token")

var errNetwork = crowd.Errorf(crowd.Forbidden, "this token is not good from your address")

// Authenticate returns the principal with a secret, that of a browser's session or of a
// program's token, who asks from an address.
func (s *Accounts) Authenticate(ctx context.Context, secret string, from netip.Addr) (*access.Principal, error) {
	if secret == "" || len(secret) > 200 {
		return nil, errSignIn
	}
	return s.authenticateHash(ctx, auth.HashSecret(secret), from)
}

// authenticateHash is Authenticate with the hash of the secret.
func (s *Accounts) authenticateHash(ctx context.Context, hash string, from netip.Addr) (*access.Principal, error) {
	x, err := s.authenticate(ctx, hash)
	switch {
	case err != nil:
		return nil, err
	case !within(x.networks, from):
		return nil, errNetwork
	case x.principal.User.RunsInstallation() && !within(s.adminFrom, from):
		outside := *x.principal
		outside.Outside = true
		return &outside, nil
	}
	return x.principal, nil
}

func (s *Accounts) authenticate(ctx context.Context, hash string) (x cachedPrincipal, err error) {
	now := s.clock.Time()
	x, clears := s.sessions.get(hash, now)
	if x.principal != nil {
		return x, nil
	}
	t, err := s.store.TokenByHash(ctx, hash)
	if crowd.CodeOf(err) == crowd.NotFound || (err == nil && (t.Kind == store.SetupToken || t.Kind == store.ProviderToken || expired(t, now))) {
		return x, errSignIn
	}
	if err != nil {
		return x, err
	}
	u, err := s.store.User(ctx, t.User)
	if err != nil {
		return x, err
	}
	if u.Suspended {
		return x, errSuspended
	}
	x = cachedPrincipal{until: now.Add(mayPass)}
	if x.principal, err = s.principal(ctx, u, t); err != nil {
		return x, err
	}
	x.principal.AsOf = clears
	if x.principal.MustEnrol, err = s.mustEnrol(ctx, &u, &t); err != nil {
		return x, err
	}
	if x.networks, err = ParseNetworks("networks", t.Networks); err != nil {
		return x, err
	}
	if !t.ExpiresAt.IsZero() && t.ExpiresAt.Before(x.until) {
		x.until = t.ExpiresAt
	}
	s.sessions.put(hash, x, clears)
	s.uses.note(t.ID, now)
	return x, nil
}

// sessionPrefix begins the secrets of sessions.
const sessionPrefix = "ses"

// sessionOf is a new session of u, as they were when they were let in, by a sign-in that was begun
// at a time: it is not kept if they have another password by then, or their sessions have ended
// since.
func (s *Accounts) sessionOf(ctx context.Context, u *store.User, begun time.Time) store.Token {
	from := access.SenderOf(ctx)
	t := store.Token{Kind: store.SessionToken, User: u.ID, Name: from.Program, ExpiresAt: s.clock.Time().Add(sessionLife), Basis: store.Basis{Password: u.PasswordHash, Since: begun}}
	if from.Address.IsValid() {
		t.Address = from.Address.Unmap().String()
	}
	return t
}

// uses are when tokens were used last, to a minute, until they are kept.
type uses struct {
	mu sync.Mutex
	at map[int64]time.Time
}

func (u *uses) note(id int64, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.at == nil {
		u.at = make(map[int64]time.Time)
	}
	u.at[id] = at
}

func (u *uses) take() map[int64]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	at := u.at
	u.at = nil
	return at
}

// KeepUses keeps when tokens were used, each minute until ctx is done and then once
// more.
func (s *Accounts) KeepUses(ctx context.Context) {
	tick := time.NewTicker(mayPass)
	defer tick.Stop()
	for done := false; !done; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			done = true
		}
		if at := s.uses.take(); len(at) > 0 {
			if err := s.store.UseTokens(context.WithoutCancel(ctx), at); err != nil {
				s.log.Warn("it cannot be kept when tokens were used", "err", err)
			}
		}
	}
}

func expired(t store.Token, now time.Time) bool {
	return !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt)
}

// SignOut ends the session or token of p. If they wait for a task, they leave the
// queue at once; what they hold stays theirs until its lease runs out. Who was signed in
// nowhere else has gone, and keeps no place inside the gate of a pool.
func (s *Accounts) SignOut(ctx context.Context, p *access.Principal) error {
	defer s.sessions.clear()
	all, err := s.store.ListTokens(ctx, p.User.ID)
	if err != nil {
		return err
	}
	ctx, _ = s.acting(ctx, p, access.AccountsSignOut, p.User.ID)
	with, err := s.store.DeleteToken(ctx, p.User.ID, p.Token.ID)
	if err != nil {
		return err
	}
	s.leaveAll(ctx, with)
	now := s.clock.Time()
	return s.leave(ctx, p, !slices.ContainsFunc(all, func(t store.Token) bool {
		return t.Kind == store.SessionToken && t.ID != p.Token.ID && !expired(t, now)
	}))
}

// leave has p, whose session or token has been taken away, leave the queue for
// tasks. Requests that wait with another token of theirs end too; their senders ask
// again. gone: nobody is there who could.
func (s *Accounts) leave(ctx context.Context, p *access.Principal, gone bool) error {
	s.sessions.clear()                 // before, so that they do not join the queue again
	if p.May(access.WorkNext) != nil { // they wait for none
		return nil
	}
	pool, err := s.live.Get(cmp.Or(s.onCall.PoolOf(p.User.ID), p.User.Pool))
	if err != nil {
		return nil //nolint:nilerr // a pool that is not there has no queue
	}
	return pool.LeaveQueue(ctx, p.User.ID, gone)
}
