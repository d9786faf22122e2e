package accounts

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/groups"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/server/oidc"
	"github.com/throng-dev/throng/internal/store"
)

// ProviderButton is a provider on the sign-in page.
type ProviderButton struct{ Name, Button string }

// Providers lists where people may sign in besides here.
func (s *Accounts) Providers() (list []ProviderButton) {
	for _, p := range s.providers {
		list = append(list, ProviderButton{p.Name, p.Button})
	}
	return list
}

func (s *Accounts) provider(name string) (*oidc.Provider, error) {
	i := slices.IndexFunc(s.providers, func(p *oidc.Provider) bool { return p.Name == name })
	if i < 0 {
		return nil, crowd.Errorf(crowd.NotFound, "there is no such page")
	}
	return s.providers[i], nil
}

// flowSecret names the secret with which sign-ins that were begun are signed.
const flowSecret = "signins"

// BeginSignIn returns the address at a provider where somebody signs in, from where they
// come back to redirect, and what their browser keeps until then.
func (s *Accounts) BeginSignIn(ctx context.Context, provider, redirect, next string) (address, kept string, err error) {
	p, err := s.provider(provider)
	if err != nil {
		return "", "", err
	}
	secret, err := s.store.Secret(ctx, flowSecret, auth.NewSecret(flowSecret))
	if err != nil {
		return "", "", err
	}
	return p.Begin(ctx, secret, redirect, next)
}

// Back is what comes back from a provider.
type Back struct {
	Provider string
	Kept     string // by the browser
	State    string
	Code     string
	Error    string // why there is no code
}

// onceAFlow lets each sign-in that was begun be finished once.
var onceAFlow = limits.Limit{Burst: 1, Every: oidc.FlowLife}

var (
	errReplayed = crowd.Errorf(crowd.Unauthenticated, "this sign-in is over already: begin it again")
	errNoGroup  = crowd.Errorf(crowd.Forbidden, "you are in no group that may come in here: ask an administrator")
)

// FinishSignIn returns the secret of a new session of who comes back from a provider, and
// where they wanted to go, which is told with FactorWanted, too. At first they are made a person here; each time they become
// what their groups make them.
func (s *Accounts) FinishSignIn(ctx context.Context, b Back) (session, next string, err error) {
	p, err := s.provider(b.Provider)
	if err != nil {
		return "", "", err
	}
	secret, err := s.store.Secret(ctx, flowSecret, auth.NewSecret(flowSecret))
	if err != nil {
		return "", "", err
	}
	flow, err := p.Flow(secret, b.Kept, b.State)
	if err != nil {
		return "", "", err
	}
	if ok, _ := s.guesses.Take(s.clock.Time(), guessAt(onceAFlow, "flow", flow)); !ok {
		return "", "", errReplayed
	}
	if b.Error != "" || b.Code == "" || len(b.Code) > 4096 {
		return "", "", crowd.Errorf(crowd.Unauthenticated, "%s has not let you in", p.Button)
	}
	who, next, err := p.Finish(ctx, secret, b.Kept, b.State, b.Code)
	if err != nil {
		return "", "", err
	}
	ctx, act := (&access.Principal{}).Acting(ctx, access.AccountsFinishSignIn, store.AuditEntry{At: s.clock.Time(), Kind: "user"})
	u, err := s.personOf(ctx, p, &who)
	if err != nil {
		return "", "", err
	}
	if act.Pending() { // they were known
		act.Actor, act.Object = u.ID, u.ID.String()
	}
	if u.Suspended {
		return "", "", errSuspended
	}
	if err := s.regroup(ctx, p.Groups, u, who.Groups); err != nil {
		return "", "", err
	}
	session, err = s.enter(ctx, &u, &Credentials{}, p.TrustFactor)
	return session, next, err
}

// personOf returns the person with an account at a provider, who is made if they are new.
func (s *Accounts) personOf(ctx context.Context, p *oidc.Provider, who *oidc.Identity) (store.User, error) {
	u, err := s.store.UserByIdentity(ctx, who.Issuer, who.Subject)
	if crowd.CodeOf(err) != crowd.NotFound {
		return u, err
	}
	s.people.Lock()
	defer s.people.Unlock()
	if u, err = s.store.UserByIdentity(ctx, who.Issuer, who.Subject); crowd.CodeOf(err) != crowd.NotFound { // since
		return u, err
	}
	now := s.clock.Time()
	if p.LinkEmail && who.Email != "" {
		same, err := s.store.UsersByEmail(ctx, who.Email)
		if err != nil {
			return u, err
		}
		if len(same) == 1 {
			for _, act := range store.ActsOf(ctx) {
				act.Actor, act.Object = same[0].ID, same[0].ID.String()
			}
			_, err = s.store.PutIdentity(ctx, who.Issuer, who.Subject, same[0], now)
			return same[0], err
		}
	}
	if g := p.Groups.Of(who.Groups); g.Nothing() {
		return u, errNoGroup
	}
	u = store.User{Name: "", FullName: who.FullName, Email: who.Email, CreatedAt: now}
	if format.ValidLine("full_name", u.FullName, 200) != nil {
		u.FullName = ""
	}
	if u.Name, err = s.freeName(ctx, cmp.Or(who.Name, who.Email, p.Name)); err != nil {
		return u, err
	}
	if err := s.validUser(ctx, store.User{}, &u); err != nil {
		return u, err
	}
	store.Tell(ctx, "user", nil, u)
	u.ID, err = s.store.PutIdentity(ctx, who.Issuer, who.Subject, u, now)
	return u, err
}

var notInNames = regexp.MustCompile(`^[^A-Za-z0-9]+|[^A-Za-z0-9._@+-]+`)

// freeName returns a name that nobody has, like the one that is wanted.
func (s *Accounts) freeName(ctx context.Context, want string) (string, error) {
	want = cmp.Or(notInNames.ReplaceAllString(want, ""), "user")
	want = want[:min(len(want), 54)]
	name := want
	for n := 2; ; n++ {
		_, err := s.store.UserByName(ctx, name)
		if crowd.CodeOf(err) == crowd.NotFound {
			return name, nil
		}
		if err != nil {
			return "", err
		}
		name = want + "-" + strconv.Itoa(n)
	}
}

// regroup makes somebody what their groups in a directory make them. What its groups make
// nobody stays as it is. Who has to finish a task first stays in their pool until the next
// time.
func (s *Accounts) regroup(ctx context.Context, m groups.Mapping, u store.User, in []string) error {
	custom, err := s.store.ListRoles(ctx)
	if err != nil {
		return err
	}
	there := func(h store.HeldRole) bool {
		_, found := access.CustomRoles(custom).Permissions(h)
		if found && h.Tenant != 0 {
			_, err := s.store.Tenant(ctx, h.Tenant)
			found = err == nil
		}
		if !found {
			s.log.Warn("a group gives a role that there is not", "role", h.String(), "person", u.ID.String())
		}
		return found
	}
	for _, pool := range []bool{true, false} {
		after := u
		m.Become(&after, in, there, pool)
		if after.Admin == u.Admin && after.Pool == u.Pool && slices.Equal(after.Tenants, u.Tenants) && slices.Equal(after.Roles, u.Roles) {
			return nil
		}
		_, err := s.Change(ctx, u.ID, func(u *store.User) error { m.Become(u, in, there, pool); return nil })
		if !pool || crowd.CodeOf(err) != crowd.Conflict {
			return err
		}
		s.log.Info("somebody stays in their pool until they have finished their task", "person", u.ID.String())
	}
	return nil
}
