package accounts

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/store"
)

// NewToken is what is needed to make a token for a program.
type NewToken struct {
	Name   string
	Tenant crowd.TenantID // limits it to one tenant
	Roles  []access.Role  // limits it to some roles
	Scopes []string       // limits it to some permissions
	Life   time.Duration  // 0: defaultLife; Forever: without an end
	For    crowd.WorkerID // admins may make tokens for others; 0: oneself

	// Networks limits it to senders with such addresses, as ParseNetworks reads them;
	// none: to those to which the token with which p came is limited.
	Networks []string
}

// Forever is the life of a token without an end.
const Forever time.Duration = 1<<63 - 1

// defaultLife is how long a token is good of which that is not said.
const defaultLife = 90 * 24 * time.Hour

// maxNetworks is to how many networks a token can be limited.
const maxNetworks = 50

// CreateToken makes a token for a program and returns its secret, once. It can
// do no more than the token with which p came, and lives no longer than that one
// unless it is a browser's session.
func (s *Accounts) CreateToken(ctx context.Context, p *access.Principal, n NewToken) (store.Token, string, error) {
	t := store.Token{Kind: store.APIToken, User: cmp.Or(n.For, p.User.ID), Name: strings.TrimSpace(n.Name), Tenant: n.Tenant, MadeBy: maker(p), MadeWith: madeWith(p), Basis: store.Basis{Token: p.Token.ID}}
	var err error
	if t.User != p.User.ID {
		// Until it is kept, nobody gets or loses a right: it would outlive that.
		s.people.Lock()
		defer s.people.Unlock()
		if p, err = s.asNow(ctx, p); err != nil {
			return t, "", err
		}
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
	as := p
	if t.User != p.User.ID {
		if as, err = s.principal(ctx, u, store.Token{}); err != nil {
			return t, "", err
		}
		if err := s.mayAct(ctx, p, &u); err != nil {
			return t, "", err
		}
	}
	if err := format.ValidLine("name", t.Name, 100); err != nil {
		return t, "", err
	}
	switch {
	case t.Name == "":
		return t, "", crowd.Fieldf("name", "give the token a name (at most 100 bytes)")
	case n.Tenant != 0 && p.May(access.AccountsCreateTokenForOthers) == nil && !slices.Contains(as.Tenants(), n.Tenant):
		return t, "", &crowd.Error{Code: crowd.NotFound, Field: "tenant", Message: u.Name + " holds no role for " + n.Tenant.String()}
	case n.Tenant != 0 && !slices.Contains(as.Tenants(), n.Tenant):
		return t, "", access.ErrTenant
	}
	roles := n.Roles
	if len(roles) == 0 && as == p {
		for _, r := range p.Token.Roles {
			roles = append(roles, access.Role(r))
		}
	}
	for _, r := range roles {
		if !as.Holds(r, n.Tenant) {
			return t, "", crowd.Fieldf("roles", "%q is not a role that this user has%s", r, forTenant(n.Tenant))
		}
		if !slices.Contains(t.Roles, string(r)) {
			t.Roles = append(t.Roles, string(r))
		}
	}
	if t.Scopes, err = scopes(as, p, n.Scopes); err != nil {
		return t, "", err
	}
	if err := s.bound(p, &t, cmp.Or(n.Life, defaultLife), n.Networks); err != nil {
		return t, "", err
	}
	ctx, act := p.Acting(ctx, access.AccountsCreateToken, store.AuditEntry{At: s.clock.Time(), Tenant: t.Tenant, Kind: "token"})
	act.After = t
	secret, err := s.issue(ctx, &t, "thr")
	return t, secret, err
}

// bound says until when and from where a new token is good, within the bounds of the one
// with which p came.
func (s *Accounts) bound(p *access.Principal, t *store.Token, life time.Duration, from []string) error {
	if life < 0 {
		return crowd.Fieldf("life", "%s is in the past", life)
	}
	if life != Forever {
		t.ExpiresAt = s.clock.Time().Add(life)
	}
	networks, err := ParseNetworks("networks", from)
	if err != nil {
		return err
	}
	own, err := ParseNetworks("networks", p.Token.Networks)
	switch {
	case err != nil:
		return err
	case len(networks) > maxNetworks:
		return crowd.Fieldf("networks", "a token can be limited to %d networks, not to %d", maxNetworks, len(networks))
	case len(networks) == 0:
		networks = own
	case !allWithin(own, networks):
		return crowd.Fieldf("networks", "the token with which this one is made is limited to %s: it can be limited to parts of that", strings.Join(p.Token.Networks, ", "))
	}
	for _, n := range networks {
		t.Networks = append(t.Networks, n.String())
	}
	if end := p.Token.ExpiresAt; p.Token.Kind == store.APIToken && !end.IsZero() && (t.ExpiresAt.IsZero() || t.ExpiresAt.After(end)) {
		t.ExpiresAt = end
	}
	return nil
}

// scopes checks what a token for somebody is limited to, which p makes: permissions that
// they have. If that is not said, it is what the token is limited to with which p came.
func scopes(as, p *access.Principal, names []string) ([]string, error) {
	if len(names) == 0 {
		return p.Token.Scopes, nil
	}
	of, err := access.ParsePermissions("scopes", names)
	if err != nil {
		return nil, err
	}
	for x := range of.All() {
		if _, any := as.Has(x); !any {
			return nil, crowd.Fieldf("scopes", "%s is not a permission that this user has", x)
		}
	}
	return of.Names(), nil
}

// maker is who makes what p makes, or 0 if p came with a token for programs that somebody
// else made, who may have kept it.
func maker(p *access.Principal) crowd.WorkerID {
	if p.Token.Kind == store.APIToken && p.Token.MadeBy != p.User.ID {
		return 0
	}
	return p.User.ID
}

// madeWith is the token for programs with which p makes what they make, or 0.
func madeWith(p *access.Principal) int64 {
	if p.Token.Kind != store.APIToken {
		return 0
	}
	return p.Token.ID
}

func forTenant(id crowd.TenantID) string {
	if id == 0 {
		return ""
	}
	return " for " + id.String()
}

// tokensOf returns whose tokens are meant: one's own, or, for admins, those of somebody else.
func (s *Accounts) tokensOf(ctx context.Context, p *access.Principal, id crowd.WorkerID) (crowd.WorkerID, error) {
	if id == 0 || id == p.User.ID {
		return p.User.ID, nil
	}
	if err := p.May(access.AccountsTokensOfOthers); err != nil {
		return id, err
	}
	u, err := s.store.User(ctx, id)
	if err != nil {
		return id, err
	}
	return id, s.mayAct(ctx, p, &u)
}

// Tokens lists the tokens for programs of a person, 0 for oneself. Who came with a
// limited token sees that one only.
func (s *Accounts) Tokens(ctx context.Context, p *access.Principal, id crowd.WorkerID) ([]TokenOf, error) {
	id, err := s.tokensOf(ctx, p, id)
	if err != nil {
		return nil, err
	}
	u, err := s.store.User(ctx, id)
	if err != nil {
		return nil, err
	}
	list, err := s.store.ListTokens(ctx, id)
	own := id == p.User.ID && p.Limited()
	list = slices.DeleteFunc(list, func(t store.Token) bool { return t.Kind != store.APIToken || own && t.ID != p.Token.ID })
	return lists.Map(list, func(t store.Token) TokenOf {
		return TokenOf{Token: t, Owner: u.Name, Suspended: u.Suspended, Yours: true}
	}), err
}

// TokenOf is a token and whose it is.
type TokenOf struct {
	store.Token
	Owner string // their name
	Maker string // who made it, by name; "": its owner, or that is not known
	// Suspended is whether its owner is: it is refused, and ends when that is lifted.
	Suspended bool
	Yours     bool // the viewer may end it: they hold all that its owner may do
}

// AllTokens lists tokens for programs, newest first, with ids below before (0: all): of a
// person, or of everybody if that is 0.
func (s *Accounts) AllTokens(ctx context.Context, p *access.Principal, of crowd.WorkerID, before int64, limit int) ([]TokenOf, error) {
	if err := p.May(access.AccountsAllTokens); err != nil {
		return nil, err
	}
	list, err := s.store.ProgramTokens(ctx, of, before, limit)
	if err != nil {
		return nil, err
	}
	out := make([]TokenOf, len(list))
	for i, t := range list {
		u, err := s.store.User(ctx, t.User)
		if err != nil {
			return nil, err
		}
		err = s.mayAct(ctx, p, &u)
		if crowd.CodeOf(err) == crowd.Internal {
			return nil, err
		}
		out[i] = TokenOf{Token: t, Owner: u.Name, Suspended: u.Suspended, Yours: err == nil}
		if t.MadeBy == 0 || t.MadeBy == t.User {
			continue
		}
		m, err := s.store.User(ctx, t.MadeBy)
		if err != nil {
			return nil, err
		}
		out[i].Maker = m.Name
	}
	return out, nil
}

func noToken(of crowd.WorkerID, id int64) error {
	return crowd.Errorf(crowd.NotFound, "there is no token %d of %s", id, of)
}

// RevokeToken takes a token of a person away, 0 for oneself. Who waits for a task with
// it leaves the queue at once. Who came with a limited token can end that one only. What was
// made with it ends too (tokens for programs, one-time links that are not used, tokens of
// providers), and what was made with that: it returns how many these were.
func (s *Accounts) RevokeToken(ctx context.Context, p *access.Principal, of crowd.WorkerID, id int64) (with int, err error) {
	if of, err = s.tokensOf(ctx, p, of); err != nil {
		return 0, err
	}
	if of == p.User.ID && p.Limited() && id != p.Token.ID {
		return 0, noToken(of, id)
	}
	tokens, err := s.store.ListTokens(ctx, of)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(tokens, func(t store.Token) bool { return t.ID == id && t.Kind == store.APIToken })
	if i < 0 {
		return 0, noToken(of, id)
	}
	defer s.sessions.clear()
	ctx, act := p.Acting(ctx, access.AccountsRevokeToken, store.AuditEntry{At: s.clock.Time(), Tenant: tokens[i].Tenant, Kind: "token", Object: strconv.FormatInt(id, 10)})
	act.Before = tokens[i]
	ended, err := s.store.DeleteToken(ctx, of, id)
	if err != nil {
		return 0, err
	}
	s.leaveAll(ctx, append(ended, tokens[i]))
	return len(ended), nil
}

// leaveAll has who waits for a task with one of some tokens, which have ended, leave the queue. As
// these have ended, whoever cannot leave just now only waits on until their request ends.
func (s *Accounts) leaveAll(ctx context.Context, ended []store.Token) {
	for _, t := range ended {
		if t.Kind != store.APIToken {
			continue
		}
		u, err := s.store.User(ctx, t.User)
		if err == nil {
			err = s.leave(ctx, &access.Principal{User: u, Token: t}, false)
		}
		if err != nil {
			s.log.Warn("somebody whose token has ended may wait for a task yet", "person", t.User, "err", err)
		}
	}
}

// issue keeps a new token and returns its secret, which is shown this once.
func (s *Accounts) issue(ctx context.Context, t *store.Token, prefix string) (secret string, err error) {
	secret = s.newSecret(t, prefix)
	if t.ID, err = s.store.CreateToken(ctx, *t); err != nil {
		return "", err
	}
	return secret, nil
}

// newSecret gives a new token its secret.
func (s *Accounts) newSecret(t *store.Token, prefix string) string {
	secret := auth.NewSecret(prefix)
	t.Hash, t.CreatedAt = auth.HashSecret(secret), s.clock.Time()
	return secret
}
