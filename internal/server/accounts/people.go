package accounts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/mail"
	"net/netip"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/server/oidc"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
)

// Accounts is the people, and how they sign in.
type Accounts struct {
	*roleCases
	*dataCases
	*passkeyCases
	*addressCases

	store     store.Store
	live      *live.Pools
	onCall    *recruit.OnCall
	clock     live.Clock
	passwords *auth.Passwords
	guesses   limits.Quota[[16]byte]
	sessions  sessionCache
	uses      uses
	adminFrom []netip.Prefix // where admins act from; none: anywhere
	providers []*oidc.Provider
	streams   *limits.Streams
	required  FactorRule
	publicURL string
	names     *pseudonym.Names
	log       *slog.Logger

	// erasing is held while somebody is erased. It comes before people.
	erasing sync.Mutex

	// people is held by changes of people and their invitations and tries. It
	// comes before the locks of OnCall and of the pools' loops.
	people sync.Mutex
	// writes is held by changes of what is provisioned. It comes before people.
	writes       sync.Mutex
	whileErasing func(func() error) error // see Config
}

// Config is what Accounts needs.
type Config struct {
	Store     store.Store
	Live      *live.Pools
	OnCall    *recruit.OnCall
	Clock     live.Clock
	Log       *slog.Logger
	AdminFrom []netip.Prefix   // where admins act from; none: anywhere
	Providers []oidc.Settings  // where people may sign in, too
	Streams   *limits.Streams  // event streams that are open
	Required  FactorRule       // who has to have a second factor
	PublicURL string           // where people reach the server; "": that is not known
	Names     *pseudonym.Names // how workers are called
	Passwords auth.Cost        // of hashing them; zero: auth.DefaultCost
	// WhileErasing runs what erases somebody, so that nothing of them is kept meanwhile.
	WhileErasing func(func() error) error
	Outbox       *recruit.Outbox // by which people are asked whether an address is theirs
	Downloads    *limits.Slots   // bounds reads of everything about somebody
}

// New makes the use case.
func New(cfg Config) *Accounts {
	s := &Accounts{store: cfg.Store, live: cfg.Live, onCall: cfg.OnCall, clock: cfg.Clock, log: cfg.Log, adminFrom: cfg.AdminFrom, streams: cfg.Streams, required: cfg.Required, publicURL: cfg.PublicURL, names: cfg.Names, whileErasing: cfg.WhileErasing,
		passwords: auth.NewPasswords(runtime.NumCPU(), cmp.Or(cfg.Passwords, auth.DefaultCost))}
	s.roleCases, s.dataCases, s.passkeyCases = &roleCases{s}, &dataCases{accounts: s, scans: cfg.Downloads}, &passkeyCases{s}
	s.addressCases = &addressCases{accounts: s, outbox: cfg.Outbox}
	for _, p := range cfg.Providers {
		s.providers = append(s.providers, oidc.New(p, s.clock.Time, s.log))
	}
	return s
}

// owner returns the tenant of what p makes, which exists, or 0 for the installation.
func (s *Accounts) owner(ctx context.Context, p *access.Principal, o access.Operation, named crowd.TenantID) (crowd.TenantID, error) {
	id, err := p.TenantFor(o, named)
	if err != nil || id == 0 {
		return id, err
	}
	_, err = s.store.Tenant(ctx, id)
	return id, err
}

// How long a browser stays signed in, and a one-time link is good.
const (
	sessionLife = 14 * 24 * time.Hour
	setupLife   = 7 * 24 * time.Hour
)

// firstPassword is the name of a one-time link for a user who had no password when it was
// made. It is told by the link, so that a try that failed half-way changes nothing of it.
const firstPassword = "set the first password"

// setupLink makes a one-time link for a user in place of older ones, as p's.
//
// It goes on when ctx is done: whoever hangs up leaves nobody without a link.
func (s *Accounts) setupLink(ctx context.Context, u store.User, p *access.Principal) (string, error) {
	name := firstPassword
	if u.PasswordHash != "" {
		name = "set a password"
	}
	t := store.Token{Kind: store.SetupToken, User: u.ID, Name: name, MadeBy: maker(p), MadeWith: madeWith(p), ExpiresAt: s.clock.Time().Add(setupLife)}
	secret := s.newSecret(&t, "setup")
	e := store.Ending{User: u.ID, Basis: store.Basis{Token: p.Token.ID}, Kinds: []store.TokenKind{store.SetupToken}, Begin: &t}
	if err := s.store.EndAccess(context.WithoutCancel(ctx), e); err != nil {
		return "", err
	}
	return secret, nil
}

var errLink = crowd.Errorf(crowd.NotFound, "this link has been used or is too old; ask for a new one")

// SetupUser returns the name of the user whom a one-time link is for.
func (s *Accounts) SetupUser(ctx context.Context, secret string) (string, error) {
	_, u, err := s.setupToken(ctx, secret)
	return u.Name, err
}

func (s *Accounts) setupToken(ctx context.Context, secret string) (store.Token, store.User, error) {
	t, err := s.store.TokenByHash(ctx, auth.HashSecret(secret))
	if crowd.CodeOf(err) == crowd.NotFound || (err == nil && (t.Kind != store.SetupToken || expired(t, s.clock.Time()))) {
		return t, store.User{}, errLink
	}
	if err != nil {
		return t, store.User{}, err
	}
	u, err := s.store.User(ctx, t.User)
	if err == nil && u.Suspended {
		err = errSuspended // the link stays good
	}
	return t, u, err
}

// Setup uses a one-time link up: it sets the password, ends the sessions that
// there are, and, if there was a password before, tokens for programs, and signs in, for
// which who holds a second factor is asked for it (FactorWanted).
func (s *Accounts) Setup(ctx context.Context, secret, password string) (session string, err error) {
	if err := auth.ValidPassword(password); err != nil {
		return "", err
	}
	if _, _, err := s.setupToken(ctx, secret); err != nil {
		return "", err
	}
	hash, err := s.passwords.Hash(ctx, password)
	if err != nil {
		return "", err
	}
	s.people.Lock()
	defer s.people.Unlock()
	t, u, err := s.setupToken(ctx, secret) // as it is now: another call may have used it up
	if err != nil {
		return "", err
	}
	// A new password is set where the old one may be known to others, and so what was
	// made with it: tokens for programs, too. Those that an admin made before the
	// first one stay.
	now := s.clock.Time()
	e := store.Ending{At: now, Basis: store.Basis{Token: t.ID}, Password: hash, Kinds: []store.TokenKind{store.SessionToken, store.SetupToken}}
	if t.Name != firstPassword {
		e.Kinds = append(e.Kinds, store.APIToken)
	}
	u.PasswordHash = hash
	held, err := s.held(ctx, u.ID)
	if err != nil {
		return "", err
	}
	var wanted error
	if len(held) > 0 {
		if wanted = s.challenge(ctx, &u, held, now); !errors.As(wanted, new(*FactorWanted)) {
			return "", wanted
		}
	} else {
		begun := s.sessionOf(ctx, &u, now)
		session, e.Begin = s.newSecret(&begun, sessionPrefix), &begun
	}
	ctx, _ = s.acting(ctx, &access.Principal{User: u}, access.AccountsSetup, u.ID)
	if err := s.endAccess(ctx, &access.Principal{User: u}, e); err != nil {
		return "", err
	}
	return session, wanted
}

// NewUser is what is needed to add a person.
type NewUser struct {
	Name           string
	FullName       string
	Email          string
	Admin          bool
	Tenants        []crowd.TenantID // requester of these
	Roles          []store.HeldRole // besides
	Pool           crowd.PoolID     // worker of this; 0: not a worker
	Qualifications map[string]int
	Prefers        map[crowd.PoolID]float64 // how much they like each pool's work, 0 to 1
}

var userName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$`)

// CreateUser adds a person, and returns the secret of a one-time link with
// which they set their password. Who may for a tenant only adds people with roles for
// that, and nobody gives a role with permissions that they do not hold.
func (s *Accounts) CreateUser(ctx context.Context, p *access.Principal, n NewUser) (store.User, string, error) {
	if err := p.May(access.AccountsCreateUser); err != nil {
		return store.User{}, "", err
	}
	u := store.User{Name: n.Name, FullName: n.FullName, Email: n.Email, Admin: n.Admin, Pool: n.Pool, Tenants: n.Tenants, Roles: access.SortRoles(n.Roles),
		Qualifications: n.Qualifications, Prefers: n.Prefers, CreatedAt: s.clock.Time()}
	u.EmailVerified = p.May(access.AccountsVouch) == nil
	anybody := p.May(access.AccountsCreateAnybody) == nil
	if !anybody {
		if err := ownName(&u); err != nil {
			return store.User{}, "", err
		}
	}
	if !anybody && (u.RunsInstallation() || n.Pool != 0 || len(n.Qualifications)+len(n.Prefers) > 0 || !u.IsStaff()) {
		return store.User{}, "", crowd.Errorf(crowd.Forbidden, "you can add people with roles for your tenants only")
	}
	if len(n.Prefers) > 0 && n.Pool == 0 {
		return store.User{}, "", crowd.Fieldf("prefers", "is for workers only; say in which pool they work, too")
	}
	for _, t := range u.StaffOf() {
		if err := p.MayFor(access.AccountsCreateUser, t); err != nil {
			return store.User{}, "", err
		}
	}
	s.people.Lock()
	defer s.people.Unlock()
	p, err := s.asNow(ctx, p)
	if err == nil {
		err = p.May(access.AccountsCreateUser)
	}
	if err == nil {
		err = s.mayAct(ctx, p, &u)
	}
	if err != nil {
		return store.User{}, "", err
	}
	err = s.validUser(ctx, store.User{}, &u)
	if err != nil {
		return store.User{}, "", err
	}
	about := store.AuditEntry{At: u.CreatedAt, Kind: "user"}
	if own := u.StaffOf(); len(own) == 1 && (!u.RunsInstallation() && u.Pool == 0 || !anybody) {
		about.Tenant = own[0]
	}
	ctx, act := p.Acting(ctx, access.AccountsCreateUser, about)
	act.After = u
	if u.ID, err = s.keepNew(inTenants(ctx, &store.User{}, &u), u, p.User.ID.String()); err != nil {
		return store.User{}, "", err
	}
	if err := s.tellPool(u, true); err != nil {
		return store.User{}, "", err
	}
	link, err := s.setupLink(ctx, u, p)
	return u, link, err
}

// validUser checks a person, who was before. A full name or a qualification that stays is
// not checked: one that was allowed once must not hold up a move to another pool.
func (s *Accounts) validUser(ctx context.Context, before store.User, u *store.User) error {
	u.Tenants = slices.Compact(slices.Sorted(slices.Values(u.Tenants)))
	if !userName.MatchString(u.Name) {
		return crowd.Fieldf("name", "%q is not a name to sign in with (letters, digits and . _ @ + -, at most 64)", u.Name)
	}
	if u.Name != before.Name && readsOtherwise(u.Name) {
		return crowd.Fieldf("name", "%q is how an id or a pseudonym of somebody looks; choose another name", u.Name)
	}
	if u.FullName != before.FullName {
		if err := format.ValidLine("full_name", u.FullName, 200); err != nil {
			return err
		}
	}
	if u.Email != "" {
		if a, err := mail.ParseAddress(u.Email); err != nil || a.Address != u.Email {
			return crowd.Fieldf("email", "%q is not an address", u.Email)
		}
	}
	settleAddress(u)
	if u.Pool != 0 {
		if _, err := s.live.Get(u.Pool); err != nil {
			return crowd.Fieldf("pool", "no such pool")
		}
	}
	for _, t := range u.StaffOf() {
		if _, err := s.store.Tenant(ctx, t); err != nil {
			return err
		}
	}
	if err := s.validRoles(ctx, before.Roles, u); err != nil {
		return err
	}
	u.Serves = slices.Compact(slices.Sorted(slices.Values(u.Serves)))
	for _, t := range u.Serves {
		if _, err := s.store.Tenant(ctx, t); crowd.CodeOf(err) == crowd.NotFound {
			return crowd.Fieldf("serves", "there is no tenant %s", t)
		} else if err != nil {
			return err
		}
	}
	if err := s.validPrefers(before.Prefers, u); err != nil {
		return err
	}
	return s.validQualifications(ctx, &before, u)
}

// readsOtherwise reports whether a name would be taken for somebody else's id or pseudonym where people
// are named by either, or for oneself.
func readsOtherwise(name string) bool {
	name = strings.ToLower(name)
	digits := strings.TrimLeft(strings.TrimPrefix(name, "u"), "+-")
	id := name != digits && digits != "" && strings.Trim(digits, "0123456789") == ""
	return id || name == "me" || strings.HasPrefix(name, "w_")
}

// validPrefers checks the preferences of somebody that were not there before. Of a pool to which they are not moved it says the same whether it exists or not.
func (s *Accounts) validPrefers(before map[crowd.PoolID]float64, u *store.User) error {
	var reach []store.Pool
	for _, id := range slices.Sorted(maps.Keys(u.Prefers)) {
		x := u.Prefers[id]
		if was, said := before[id]; said && was == x {
			continue
		}
		if reach == nil {
			reach = s.live.ReachableBy(u)
		}
		if !slices.ContainsFunc(reach, func(p store.Pool) bool { return p.ID == id }) {
			known := lists.Map(reach, func(p store.Pool) string { return fmt.Sprintf("%s (%s)", p.ID, p.Name) })
			return crowd.Fieldf("prefers", "%s is not a pool to which they are moved; they can prefer %s. People move between pools that both balance, which an administrator sets", id, strings.Join(known, ", "))
		}
		if !(x >= 0 && x <= 1) {
			return crowd.Fieldf("prefers", "%g for %s is not a preference (from 0, not at all, to 1)", x, id)
		}
		if x == 0 {
			u.Prefers[id] = 0 // and not -0
		}
	}
	return nil
}

// ChangeUser changes a person as they are when nobody else changes them. Whoever changes
// them holds all that they may do, before and after.
func (s *Accounts) ChangeUser(ctx context.Context, p *access.Principal, id crowd.WorkerID, change func(*store.User) error) (store.User, error) {
	if err := p.May(access.AccountsChangeUser); err != nil {
		return store.User{}, err
	}
	ctx, _ = s.acting(ctx, p, access.AccountsChangeUser, id)
	return s.Change(ctx, id, func(u *store.User) error {
		before := *u
		p, err := s.asNow(ctx, p)
		if err == nil {
			err = p.May(access.AccountsChangeUser)
		}
		if err == nil {
			err = s.mayAct(ctx, p, u)
		}
		if err != nil {
			return err
		}
		defer func() {
			if u.Pool != before.Pool { // who is put into another pool is not lent
				u.Home = 0
			}
		}()
		if err := change(u); err != nil {
			return err
		}
		if err := vouched(p, &before, u); err != nil {
			return err
		}
		switch {
		case id != p.User.ID:
		case before.Admin && !u.Admin || u.Suspended:
			return errOneself
		case u.Email != before.Email || u.EmailVerified != before.EmailVerified:
			return &crowd.Error{Code: crowd.Conflict, Field: "email", Message: "your own address is changed on the page of your account, with your password: throng session address"}
		}
		return s.mayAct(ctx, p, u)
	})
}

// NewSetupLink gives a person a new one-time link, for a forgotten password.
// Sessions go on until it is used. Admins only, and not their own: whoever finds an admin's
// session or token would set a new password with it.
func (s *Accounts) NewSetupLink(ctx context.Context, p *access.Principal, id crowd.WorkerID) (string, error) {
	if err := p.May(access.AccountsNewSetupLink); err != nil {
		return "", err
	}
	s.people.Lock()
	defer s.people.Unlock()
	p, err := s.asNow(ctx, p)
	if err == nil {
		err = p.May(access.AccountsNewSetupLink)
	}
	if err != nil {
		return "", err
	}
	if id == p.User.ID {
		return "", crowd.Errorf(crowd.Conflict, "change your own password on the page of your account, with the one that you have; if you have none, or have forgotten it, ask another administrator for a link")
	}
	u, err := s.store.User(ctx, id)
	if err == nil && !u.ErasedAt.IsZero() {
		err = errErased(&u)
	}
	if err != nil {
		return "", err
	}
	if err := s.mayAct(ctx, p, &u); err != nil {
		return "", err
	}
	ctx, _ = s.acting(ctx, p, access.AccountsNewSetupLink, id)
	return s.setupLink(ctx, u, p)
}

// User returns a person: oneself, or anybody for an admin. Who came with a limited token sees of
// themself what the token is good for: their name, and the roles that they hold with it.
func (s *Accounts) User(ctx context.Context, p *access.Principal, id crowd.WorkerID) (store.User, error) {
	anybody := p.May(access.AccountsOtherUser) == nil
	if id != p.User.ID && !anybody {
		return store.User{}, s.mayNot(ctx, p, access.AccountsOtherUser, id)
	}
	u, err := s.store.User(ctx, id)
	if err == nil && !anybody && p.Limited() {
		u = p.Seen(&u)
	}
	return u, err
}

// Users lists people with ids above after: everybody, or, for who may see people of some
// tenants only, those who hold a role for a tenant of theirs.
func (s *Accounts) Users(ctx context.Context, p *access.Principal, tenant crowd.TenantID, after crowd.WorkerID, limit int) ([]store.User, error) {
	tenant, err := p.TenantFor(access.AccountsUsers, tenant)
	if err != nil {
		return nil, err
	}
	list, err := s.store.ListUsers(ctx, tenant, after, limit)
	if err == nil && p.May(access.AccountsWholeUsers) != nil {
		for i := range list {
			s.hideOthers(p, access.AccountsUsers, &list[i])
		}
	}
	return list, err
}

// hideOthers leaves out of a colleague what is of tenants for which p may not do what they do.
func (s *Accounts) hideOthers(p *access.Principal, o access.Operation, u *store.User) {
	own := p.TenantsWith(o.Needs)
	others := func(t crowd.TenantID) bool { return !slices.Contains(own, t) }
	u.Tenants = slices.DeleteFunc(slices.Clone(u.Tenants), others)
	u.Roles = slices.DeleteFunc(slices.Clone(u.Roles), func(h store.HeldRole) bool { return h.Tenant != 0 && others(h.Tenant) })
	u.Granted = slices.DeleteFunc(slices.Clone(u.Granted), func(g engine.Grant) bool { return others(g.Tenant) })
	s.hidePools(p, u)
}
