package app

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/store"
)

// Role is what somebody acts as.
type Role string

// The roles. One person may have several; a token may be limited to some.
const (
	Admin     Role = "admin"     // runs the installation
	Requester Role = "requester" // of a tenant: uploads, launches, downloads
	Worker    Role = "worker"    // of a pool: does tasks
)

// Roles lists every role.
func Roles() []Role { return []Role{Admin, Requester, Worker} }

// Principal is somebody who has shown who he is.
type Principal struct {
	User  store.User
	Token store.Token
}

// Is says whether p may act in a role at all.
func (p *Principal) Is(r Role) bool {
	if p == nil || p.User.Suspended || (len(p.Token.Roles) > 0 && !slices.Contains(p.Token.Roles, string(r))) {
		return false
	}
	switch r {
	case Admin:
		return p.User.Admin && p.Token.Tenant == 0
	case Requester:
		return len(p.Tenants()) > 0
	case Worker:
		return p.User.Pool != 0 && p.Token.Tenant == 0
	}
	return false
}

// Tenants returns the tenants for which p may act as a requester, ascending.
func (p *Principal) Tenants() []crowd.TenantID {
	if p.User.Suspended {
		return nil
	}
	if len(p.Token.Roles) > 0 && !slices.Contains(p.Token.Roles, string(Requester)) {
		return nil
	}
	if p.Token.Tenant != 0 {
		if slices.Contains(p.User.Tenants, p.Token.Tenant) {
			return []crowd.TenantID{p.Token.Tenant}
		}
		return nil
	}
	return p.User.Tenants
}

// ListTenant is the tenant whose things are listed: the one named, or else that of
// a requester of one. For an admin none named (0) means all.
func (p *Principal) ListTenant(named crowd.TenantID) crowd.TenantID {
	if own := p.Tenants(); named == 0 && !p.Is(Admin) && len(own) == 1 {
		return own[0]
	}
	return named
}

// OwnerTenant is the tenant for which something is made: the one named, or else
// that of a requester of one.
func (p *Principal) OwnerTenant(named crowd.TenantID) (crowd.TenantID, error) {
	if own := p.Tenants(); named == 0 && len(own) == 1 {
		return own[0], nil
	}
	if named == 0 {
		return 0, crowd.Fieldf("tenant", "say for which tenant")
	}
	return named, nil
}

var (
	errWhoAreYou = crowd.Errorf(crowd.Unauthenticated, "sign in first, or send a valid token")
	errTenant    = &crowd.Error{Code: crowd.NotFound, Field: "tenant", Message: "no such tenant"}
	errBatch     = &crowd.Error{Code: crowd.NotFound, Field: "batch", Message: "no such batch"}
)

// need checks for a role.
func (p *Principal) need(r Role) error {
	if p.Is(r) {
		return nil
	}
	return crowd.Errorf(crowd.Forbidden, "this needs the role %s", r)
}

// forTenant checks that p may act for a tenant; others do not learn whether it
// exists. An admin may act for every tenant.
func (p *Principal) forTenant(id crowd.TenantID) error {
	if p.Is(Admin) || (p.Is(Requester) && slices.Contains(p.Tenants(), id)) {
		return nil
	}
	return errTenant
}

// mayPass is how long a session's principal is believed without asking the
// store again. Changes made through this server are seen at once.
const mayPass = time.Minute

// sessionCache keeps principals by the hash of their token.
type sessionCache struct {
	mu     sync.RWMutex
	list   map[string]cachedPrincipal
	clears int // how often it was cleared
}

type cachedPrincipal struct {
	principal *Principal
	until     time.Time
}

// get returns who is kept under a hash, or nil with what put has to be told.
func (c *sessionCache) get(hash string, now time.Time) (p *Principal, clears int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if x := c.list[hash]; now.Before(x.until) {
		return x.principal, c.clears
	}
	return nil, c.clears
}

// maxCached bounds the cache; when it is full it starts anew.
const maxCached = 100_000

// put keeps a principal that was read from the store since get returned clears,
// unless the cache was cleared in between: what was read may be old then.
func (c *sessionCache) put(hash string, p *Principal, until time.Time, clears int) {
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

// Authenticate returns who bears a secret: a browser's session or a program's
// token.
func (s *Accounts) Authenticate(ctx context.Context, secret string) (*Principal, error) {
	if secret == "" || len(secret) > 200 {
		return nil, errWhoAreYou
	}
	now, hash := s.time(), auth.HashSecret(secret)
	p, clears := s.sessions.get(hash, now)
	if p != nil {
		return p, nil
	}
	t, err := s.store.TokenByHash(ctx, hash)
	if crowd.CodeOf(err) == crowd.NotFound || (err == nil && (t.Kind == store.SetupToken || expired(t, now))) {
		return nil, errWhoAreYou
	}
	if err != nil {
		return nil, err
	}
	u, err := s.store.User(ctx, t.User)
	if err != nil {
		return nil, err
	}
	if u.Suspended {
		return nil, errWhoAreYou
	}
	p = &Principal{User: u, Token: t}
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
