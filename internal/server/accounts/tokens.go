package accounts

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// NewToken is what is needed to make a token for a program.
type NewToken struct {
	Name   string
	Tenant crowd.TenantID // limits it to one tenant
	Roles  []access.Role  // limits it to some roles
	Life   time.Duration  // 0: for ever
	For    crowd.WorkerID // admins may make tokens for others; 0: oneself
}

// CreateToken makes a token for a program and returns its secret, once. It can
// do no more than the token with which p came, and lives no longer than that one
// unless it is a browser's session.
func (s *Accounts) CreateToken(ctx context.Context, p *access.Principal, n NewToken) (store.Token, string, error) {
	t := store.Token{Kind: store.APIToken, User: cmp.Or(n.For, p.User.ID), Name: strings.TrimSpace(n.Name), Tenant: n.Tenant}
	if t.User != p.User.ID {
		if err := p.May(access.AccountsCreateTokenForOthers); err != nil {
			return t, "", err
		}
	} else if p.Token.Tenant != 0 && n.Tenant != p.Token.Tenant {
		return t, "", access.ErrTenant
	}
	u, err := s.store.User(ctx, t.User)
	if err != nil {
		return t, "", err
	}
	as := &access.Principal{User: u}
	if t.User == p.User.ID {
		as = p
	}
	if err := format.ValidLine("name", t.Name, 100); err != nil {
		return t, "", err
	}
	switch {
	case t.Name == "":
		return t, "", crowd.Fieldf("name", "give the token a name (at most 100 bytes)")
	case n.Life < 0:
		return t, "", crowd.Fieldf("life", "%s is in the past", n.Life)
	case n.Tenant != 0 && p.May(access.AccountsCreateTokenForOthers) == nil && !slices.Contains(as.Tenants(), n.Tenant):
		return t, "", &crowd.Error{Code: crowd.NotFound, Field: "tenant", Message: u.Name + " is not a requester of " + n.Tenant.String()}
	case n.Tenant != 0 && !slices.Contains(as.Tenants(), n.Tenant):
		return t, "", access.ErrTenant
	case n.Tenant != 0 && slices.ContainsFunc(n.Roles, func(r access.Role) bool { return r != access.Requester }):
		return t, "", crowd.Fieldf("roles", "a token for one tenant can have the role %s only", access.Requester)
	}
	roles := n.Roles
	if len(roles) == 0 && as == p {
		for _, r := range p.Token.Roles {
			roles = append(roles, access.Role(r))
		}
	}
	for _, r := range roles {
		if !as.Is(r) {
			return t, "", crowd.Fieldf("roles", "%q is not a role that this user has", r)
		}
		if !slices.Contains(t.Roles, string(r)) {
			t.Roles = append(t.Roles, string(r))
		}
	}
	if n.Life > 0 {
		t.ExpiresAt = s.clock.Time().Add(n.Life)
	}
	if end := p.Token.ExpiresAt; p.Token.Kind == store.APIToken && !end.IsZero() && (t.ExpiresAt.IsZero() || t.ExpiresAt.After(end)) {
		t.ExpiresAt = end
	}
	secret, err := s.issue(ctx, &t, "thr")
	return t, secret, err
}

// Tokens lists one's own tokens for programs.
func (s *Accounts) Tokens(ctx context.Context, p *access.Principal) ([]store.Token, error) {
	list, err := s.store.ListTokens(ctx, p.User.ID)
	return slices.DeleteFunc(list, func(t store.Token) bool { return t.Kind != store.APIToken }), err
}

// RevokeToken takes one of one's own tokens away. Who waits for a task with it leaves
// the queue at once.
func (s *Accounts) RevokeToken(ctx context.Context, p *access.Principal, id int64) error {
	tokens, err := s.store.ListTokens(ctx, p.User.ID)
	if err != nil {
		return err
	}
	defer s.sessions.clear()
	if err := s.store.DeleteToken(ctx, p.User.ID, id); err != nil {
		return err
	}
	i := slices.IndexFunc(tokens, func(t store.Token) bool { return t.ID == id })
	if i < 0 {
		return nil // made meanwhile
	}
	return s.leave(ctx, &access.Principal{User: p.User, Token: tokens[i]})
}
