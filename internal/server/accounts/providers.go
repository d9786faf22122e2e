package accounts

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/auth"
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
	flow, begun, err := p.Flow(secret, b.Kept, b.State)
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
	become := ctx
	if act.Pending() { // they were known
		act.Actor, act.Object = u.ID, u.ID.String()
	} else { // what they become is told, too
		become, _ = s.acting(store.WithActs(ctx), &access.Principal{User: u}, access.AccountsFinishSignIn, u.ID)
	}
	if err := s.regroupAtSignIn(become, p, &u, who.Groups); err != nil {
		return "", "", err
	}
	session, err = s.enter(ctx, &u, &Credentials{begun: begun}, p.TrustFactor)
	return session, next, err
}

// regroupAtSignIn makes somebody who comes in what their groups make them, unless they are
// suspended by now: a provider that takes them out meanwhile is waited for.
func (s *Accounts) regroupAtSignIn(ctx context.Context, p *oidc.Provider, u *store.User, claimed []string) (err error) {
	s.writes.Lock()
	defer s.writes.Unlock()
	if *u, err = s.store.User(ctx, u.ID); err != nil {
		return err
	}
	if u.Suspended {
		return errSuspended
	}
	return s.regroup(ctx, p, u.ID, claimed, false)
}

// personOf returns the person with an account at a provider, who is made if they are new.
func (s *Accounts) personOf(ctx context.Context, p *oidc.Provider, who *oidc.Identity) (store.User, error) {
	u, err := s.store.UserByIdentity(ctx, who.Issuer, who.Subject)
	if err == nil {
		return u, s.joined(ctx, p, who, &u)
	}
	if crowd.CodeOf(err) != crowd.NotFound {
		return u, err
	}
	s.people.Lock()
	defer s.people.Unlock()
	if u, err = s.store.UserByIdentity(ctx, who.Issuer, who.Subject); crowd.CodeOf(err) != crowd.NotFound { // since
		return u, err
	}
	if u, err = s.linked(ctx, p, who); err != nil || u.ID != 0 {
		return u, err
	}
	if p.LinkEmail {
		same, err := s.byAddress(ctx, p, who.Email)
		switch {
		case err != nil:
			return u, err
		case len(same) > 1:
			return u, crowd.Errorf(crowd.Conflict, "%d people here have the address %s, so that nobody can say which of them you are: ask an administrator", len(same), who.Email)
		case len(same) == 1:
			return same[0], s.putIdentity(ctx, who, same[0])
		}
	}
	if g := p.Groups.Of(who.Groups); g.Nothing() {
		return u, errNoGroup
	}
	u = store.User{Name: "", FullName: who.FullName, Email: who.Email, EmailVerified: who.Email != "", EmailBy: p.Name, CreatedAt: s.clock.Time()}
	if format.ValidLine("full_name", u.FullName, 200) != nil {
		u.FullName = ""
	}
	if u.Name, err = s.freeName(ctx, cmp.Or(nameOf(who), p.Name), 0); err != nil {
		return u, err
	}
	if err := s.validUser(ctx, store.User{}, &u); err != nil {
		return u, err
	}
	store.Tell(ctx, "user", nil, u)
	u.ID, err = s.store.PutIdentity(ctx, s.identity(who), u)
	return u, err
}

func (s *Accounts) identity(who *oidc.Identity) store.Identity {
	return store.Identity{Issuer: who.Issuer, Subject: who.Subject, ExternalID: who.ExternalID, CreatedAt: s.clock.Time()}
}

// putIdentity makes the account of who signs in that of somebody who is here.
func (s *Accounts) putIdentity(ctx context.Context, who *oidc.Identity, u store.User) error {
	for _, act := range store.ActsOf(ctx) {
		act.Actor, act.Object = u.ID, u.ID.String()
	}
	ctx = withParts(ctx, u.StaffOf(), func(crowd.TenantID) (any, any) { return nil, nil })
	_, err := s.store.PutIdentity(ctx, s.identity(who), u)
	return err
}

// byAddress returns the people whose address it is by the word of the server or of a provider
// itself. What another provider says of addresses makes nobody somebody else here.
func (s *Accounts) byAddress(ctx context.Context, p *oidc.Provider, address string) ([]store.User, error) {
	if address == "" {
		return nil, nil
	}
	all, err := s.store.UsersByEmail(ctx, address)
	return slices.DeleteFunc(all, func(u store.User) bool {
		others := u.EmailBy != "" && u.EmailBy != p.Name && u.EmailBy != p.Issuer
		if others {
			s.log.Info("an address links nobody: another provider says whose it is", "provider", p.Name, "person", u.ID.String(), "other", u.EmailBy)
		}
		return others
	}), err
}

// errNotProvisioned is told to who comes by a provider that says who may come in, and has not
// said so of them.
var errNotProvisioned = crowd.Errorf(crowd.Forbidden, "you have no account here yet: ask an administrator of your sign-in to assign this application to you")

// linked returns the person whom a provider has provisioned and who signs in for the first
// time now: the one under the external id that it tells, or else the only one with the
// address that it has verified, unless they sign in by another account there. Once it has
// provisioned anybody, nobody else comes in by it. It returns nobody if it has not.
func (s *Accounts) linked(ctx context.Context, p *oidc.Provider, who *oidc.Identity) (u store.User, err error) {
	count, err := s.store.CountProvisioned(ctx, p.Name)
	if err != nil || count.ChangedAt.IsZero() {
		return u, err
	}
	r, err := s.provisionedAs(ctx, p, who)
	if err != nil {
		return u, err
	}
	if r.User == 0 {
		return u, errNotProvisioned
	}
	if u, err = s.store.User(ctx, r.User); err != nil {
		return u, err
	}
	return u, s.putIdentity(ctx, who, u)
}

// provisionedAs returns what a provider has provisioned for who signs in, or nobody.
func (s *Accounts) provisionedAs(ctx context.Context, p *oidc.Provider, who *oidc.Identity) (none store.Provisioned, err error) {
	if who.ExternalID != "" {
		list, err := s.store.ListProvisioned(ctx, store.ProvisionedFilter{Provider: p.Name, ExternalID: who.ExternalID, Limit: 1})
		if err != nil || len(list) > 0 {
			return append(list, none)[0], err
		}
	}
	same, err := s.byAddress(ctx, p, who.Email)
	if err != nil {
		return none, err
	}
	var found []store.Provisioned
	for _, u := range same {
		list, err := s.store.ListProvisioned(ctx, store.ProvisionedFilter{Provider: p.Name, User: u.ID, Limit: 1})
		if err != nil {
			return none, err
		}
		found = append(found, list...)
	}
	if len(found) != 1 {
		return none, nil
	}
	other, err := s.store.HasIdentity(ctx, who.Issuer, found[0].User)
	if err != nil || other {
		return none, err
	}
	return found[0], nil
}

// joined keeps the external id that a provider tells of who has signed in by it before, and
// has one person be them and whom it has provisioned since under this id, as one who was made
// for that and whom nobody has ever signed in as. So what the provider says of them later,
// or has said meanwhile, is about the person whom they are.
func (s *Accounts) joined(ctx context.Context, p *oidc.Provider, who *oidc.Identity, u *store.User) error {
	if p.KnownBySubject() || who.ExternalID == "" {
		return nil
	}
	s.writes.Lock()
	defer s.writes.Unlock()
	if err := s.store.SetExternalID(ctx, who.Issuer, who.Subject, who.ExternalID); err != nil {
		return err
	}
	list, err := s.store.ListProvisioned(ctx, store.ProvisionedFilter{Provider: p.Name, ExternalID: who.ExternalID, Limit: 1})
	if err != nil || len(list) == 0 || list[0].User == u.ID {
		return err
	}
	made, err := s.unused(ctx, p, list[0].User)
	if err != nil {
		return err
	}
	for _, act := range store.ActsOf(ctx) {
		act.Actor, act.Object = u.ID, u.ID.String()
	}
	// Their suspension comes first: what fails is tried again at the next sign-in.
	ctx, _ = s.acting(store.WithActs(ctx), &access.Principal{User: *u}, access.AccountsJoined, u.ID)
	if _, err := s.Change(ctx, u.ID, func(u *store.User) error {
		if u.Suspended || !made.Suspended {
			return errSame
		}
		if err := s.mayLose(ctx, u); err != nil {
			return err
		}
		u.Suspended, u.SuspendedBy = true, made.SuspendedBy
		return nil
	}); unlessSame(err) != nil {
		return err
	}
	r := list[0]
	r.User = u.ID
	if err := s.store.UpdateProvisioned(ctx, r); err != nil {
		return err
	}
	return s.retire(ctx, p, &access.Principal{User: *u}, made.ID)
}

// unused returns a person who was made as a provider added somebody, if nobody has ever come
// in as them.
func (s *Accounts) unused(ctx context.Context, p *oidc.Provider, id crowd.WorkerID) (store.User, error) {
	made, err := s.store.User(ctx, id)
	if err != nil {
		return made, err
	}
	used, err := s.store.HasIdentity(ctx, p.Issuer, id)
	if err == nil && (used || made.PasswordHash != "") {
		err = &crowd.Error{Code: crowd.Conflict, Field: "externalId", Message: p.Button + " says that you are two people here: ask an administrator"}
	}
	return made, err
}

// retire ends the person in whose place a provider's account is somebody else now.
func (s *Accounts) retire(ctx context.Context, p *oidc.Provider, by *access.Principal, made crowd.WorkerID) error {
	ctx, _ = s.acting(store.WithActs(ctx), by, access.AccountsJoined, made)
	_, err := s.change(ctx, made, true, func(made *store.User) error {
		made.Suspended, made.SuspendedBy, made.Admin, made.Pool, made.Tenants, made.Roles = true, p.Name, false, 0, nil, nil
		return nil
	})
	return err
}

// nameOf returns the name that somebody has at a provider: an address only if it is
// verified, since that would keep its owner from the name.
func nameOf(who *oidc.Identity) string {
	if name, _, address := strings.Cut(who.Name, "@"); address && !format.SameAddress(who.Name, who.Email) {
		return name
	}
	return cmp.Or(who.Name, who.Email)
}

var notInNames = regexp.MustCompile(`^[^A-Za-z0-9]+|[^A-Za-z0-9._@+-]+`)

// freeName returns a name like the one that is wanted, which nobody has but, if it is not 0,
// somebody whose name it becomes.
func (s *Accounts) freeName(ctx context.Context, want string, whose crowd.WorkerID) (string, error) {
	want = cmp.Or(notInNames.ReplaceAllString(want, ""), "user")
	want = want[:min(len(want), 54)]
	if readsOtherwise(want) {
		want = "user-" + want
	}
	name := want
	for n := 2; ; n++ {
		u, err := s.store.UserByName(ctx, name)
		if crowd.CodeOf(err) == crowd.NotFound || err == nil && u.ID == whose {
			return name, nil
		}
		if err != nil {
			return "", err
		}
		name = want + "-" + strconv.Itoa(n)
	}
}

// regroup makes somebody what their groups at a provider make them. What its groups make
// nobody stays as it is. Who has to finish a task first stays in their pool until the next
// time.
//
// The groups are those that the provider keeps here, or else those claimed. Who is to leave
// their pool at once does, and what they hold goes to others.
func (s *Accounts) regroup(ctx context.Context, p *oidc.Provider, id crowd.WorkerID, claimed []string, atOnce bool) error {
	return s.become(ctx, p, id, atOnce, func() ([]string, error) { return s.groupsOf(ctx, p, id, claimed) })
}

// become makes somebody what groups at a provider make them, which are read while nobody else
// changes them.
func (s *Accounts) become(ctx context.Context, p *oidc.Provider, id crowd.WorkerID, atOnce bool, groups func() ([]string, error)) error {
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
			s.log.Warn("a group gives a role that there is not", "role", h.String(), "person", id.String())
		}
		return found
	}
	become := func(u *store.User, pool bool) error {
		in, err := groups()
		if err != nil {
			return err
		}
		before := *u
		p.Groups.Become(u, in, there, pool)
		if before.Admin && !u.Admin {
			if err := s.mayLose(ctx, &before); errors.Is(err, errLastAdmin) {
				u.Admin = true
				s.log.Warn("the last administrator stays one, whatever their groups say", "provider", p.Name, "person", id.String())
			} else if err != nil {
				return err
			}
		}
		if before.Admin == u.Admin && before.Pool == u.Pool && slices.Equal(before.Tenants, u.Tenants) && slices.Equal(before.Roles, u.Roles) {
			return errSame
		}
		return nil
	}
	for _, pool := range []bool{true, false} {
		_, err := s.change(ctx, id, atOnce, func(u *store.User) error { return become(u, pool) })
		if !pool || crowd.CodeOf(err) != crowd.Conflict {
			return unlessSame(err)
		}
		s.log.Info("somebody stays in their pool until they have finished their task", "person", id.String())
	}
	return nil
}
