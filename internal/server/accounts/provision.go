package accounts

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/oidc"
	"github.com/throng-dev/throng/internal/store"
)

// Provisioning is how providers of accounts keep people and groups here, by SCIM. Each
// sees and changes its own only. What it says of somebody is kept next to their person, and
// what its groups make them follows from its settings.
type Provisioning struct {
	accounts *Accounts
	store    store.Store

	mu       sync.Mutex
	unsettle map[string]bool // providers whose people may not be what their groups make them
}

// OpenProvisioning makes the use case.
func OpenProvisioning(a *Accounts) *Provisioning {
	s := &Provisioning{accounts: a, store: a.store, unsettle: make(map[string]bool)}
	for _, p := range a.providers { // a server may have stopped half-way, and its settings may be others now
		s.unsettle[p.Name] = true
	}
	return s
}

// Bounds of what a provider keeps here.
const (
	maxProvisioned       = 200_000
	maxProvisionedGroups = 2_000
	// MaxMembers is how many members a group can have.
	MaxMembers = 20_000
)

// providerTokenLife is how long a provider's token is good of which that is not said.
const providerTokenLife = 365 * 24 * time.Hour

// ProviderView is a provider as administrators see it.
type ProviderView struct {
	Name, Button string
	store.ProvisionedCount
	HeardAt time.Time // when a token of its was used last; zero: never
	Tokens  []store.Token
}

// Providers lists the providers, with what they have provisioned. Admins only.
func (s *Provisioning) Providers(ctx context.Context, p *access.Principal) ([]ProviderView, error) {
	if err := p.May(access.ProvisioningProviders); err != nil {
		return nil, err
	}
	list := []ProviderView{}
	for _, x := range s.accounts.providers {
		v := ProviderView{Name: x.Name, Button: x.Button}
		var err error
		if v.ProvisionedCount, err = s.store.CountProvisioned(ctx, x.Name); err != nil {
			return nil, err
		}
		if v.Tokens, err = s.store.ProviderTokens(ctx, x.Name); err != nil {
			return nil, err
		}
		for _, t := range v.Tokens {
			if t.UsedAt.After(v.HeardAt) {
				v.HeardAt = t.UsedAt
			}
		}
		list = append(list, v)
	}
	return list, nil
}

// named returns the provider that an administrator means.
func (s *Provisioning) named(name string) (*oidc.Provider, error) {
	p, err := s.accounts.provider(name)
	if err != nil {
		known := lists.Map(s.accounts.providers, func(p *oidc.Provider) string { return p.Name })
		return nil, &crowd.Error{Code: crowd.NotFound, Field: "provider", Message: "there is no provider " + strconv.Quote(name) + "; the server was started with " + cmp.Or(strings.Join(known, ", "), "none (--oidc)")}
	}
	return p, nil
}

// NewProviderToken is what is needed to make a token for a provider.
type NewProviderToken struct {
	Provider string
	Name     string        // what it is for; "": the provider's
	Life     time.Duration // 0: providerTokenLife; Forever: without an end
	Networks []string      // as those of NewToken
}

// CreateToken makes a token with which a provider keeps its people and groups, and nothing
// else, and returns its secret, once. It stays good when who made it leaves, but not when the token
// for programs with which it was made is taken away. Admins only.
func (s *Provisioning) CreateToken(ctx context.Context, p *access.Principal, n NewProviderToken) (store.Token, string, error) {
	s.accounts.people.Lock() // nobody is made an administrator, or is one no longer, until it is kept
	defer s.accounts.people.Unlock()
	p, err := s.accounts.asNow(ctx, p)
	if err != nil {
		return store.Token{}, "", err
	}
	if err := p.May(access.ProvisioningCreateToken); err != nil {
		return store.Token{}, "", err
	}
	of, err := s.named(n.Provider)
	if err != nil {
		return store.Token{}, "", err
	}
	t := store.Token{Kind: store.ProviderToken, User: p.User.ID, Provider: of.Name, Name: cmp.Or(strings.TrimSpace(n.Name), of.Name), MadeWith: madeWith(p), Basis: store.Basis{Token: p.Token.ID}}
	if err := format.ValidLine("name", t.Name, 100); err != nil {
		return t, "", err
	}
	if err := s.accounts.bound(p, &t, cmp.Or(n.Life, providerTokenLife), n.Networks); err != nil {
		return t, "", err
	}
	ctx, act := p.Acting(ctx, access.ProvisioningCreateToken, store.AuditEntry{At: s.accounts.clock.Time(), Kind: "token"})
	act.After = t
	secret, err := s.accounts.issue(ctx, &t, "scim")
	return t, secret, err
}

// Tokens lists the tokens of a provider. Admins only.
func (s *Provisioning) Tokens(ctx context.Context, p *access.Principal, provider string) ([]store.Token, error) {
	if err := p.May(access.ProvisioningTokens); err != nil {
		return nil, err
	}
	of, err := s.named(provider)
	if err != nil {
		return nil, err
	}
	return s.store.ProviderTokens(ctx, of.Name)
}

// RevokeToken takes a token of a provider away. Admins only.
func (s *Provisioning) RevokeToken(ctx context.Context, p *access.Principal, provider string, id int64) error {
	if err := p.May(access.ProvisioningRevokeToken); err != nil {
		return err
	}
	of, err := s.named(provider)
	if err != nil {
		return err
	}
	list, err := s.store.ProviderTokens(ctx, of.Name)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(t store.Token) bool { return t.ID == id })
	if i < 0 {
		return crowd.Errorf(crowd.NotFound, "there is no token %d of %s", id, of.Name)
	}
	ctx, act := p.Acting(ctx, access.ProvisioningRevokeToken, store.AuditEntry{At: s.accounts.clock.Time(), Kind: "token", Object: strconv.FormatInt(id, 10)})
	act.Before = list[i]
	_, err = s.store.DeleteToken(ctx, list[i].User, id) // nothing is made with it
	return err
}

// AuthenticateProvider returns the principal with a secret of a provider's token, which
// acts as nobody.
func (s *Accounts) AuthenticateProvider(ctx context.Context, secret string, from netip.Addr) (*access.Principal, error) {
	if secret == "" || len(secret) > 200 {
		return nil, errSignIn
	}
	now := s.clock.Time()
	t, err := s.store.TokenByHash(ctx, auth.HashSecret(secret))
	if crowd.CodeOf(err) == crowd.NotFound || err == nil && (t.Kind != store.ProviderToken || expired(t, now)) {
		return nil, errSignIn
	}
	if err != nil {
		return nil, err
	}
	networks, err := ParseNetworks("networks", t.Networks)
	if err != nil {
		return nil, err
	}
	if !within(networks, from) {
		return nil, errNetwork
	}
	if _, err := s.provider(t.Provider); err != nil { // it is in the settings no more
		return nil, errSignIn
	}
	s.uses.note(t.ID, now)
	return &access.Principal{Token: t}, nil
}

// scan returns, of what pages reads in parts of a filter, what match says is meant: from
// f.Offset on, at most f.Limit, and how many there are in all. A match that is nil means
// everything.
func scan[T any](f store.ProvisionedFilter, match func(*T) (bool, error), pages func(store.ProvisionedFilter) ([]T, error)) (list []T, total int, err error) {
	const part = 500
	at := f
	for at.Offset, at.Limit = 0, part; ; at.Offset += part {
		all, err := pages(at)
		if err != nil {
			return nil, 0, err
		}
		for i := range all {
			ok := true
			if match != nil {
				if ok, err = match(&all[i]); err != nil {
					return nil, 0, err
				}
			}
			if !ok {
				continue
			}
			if total >= f.Offset && len(list) < f.Limit {
				list = append(list, all[i])
			}
			total++
		}
		if len(all) < part {
			return list, total, nil
		}
	}
}
