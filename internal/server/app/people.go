package app

import (
	"cmp"
	"context"
	"errors"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/store"
)

// How long a browser stays signed in, and a one-time link is good.
const (
	sessionLife = 14 * 24 * time.Hour
	setupLife   = 7 * 24 * time.Hour
)

// Bootstrap returns the secret of a one-time link with which the first admin
// sets his password, or "" when somebody can sign in as admin already. There is
// no default password. Each call gives a new link and makes older ones void.
func (s *Service) Bootstrap(ctx context.Context) (string, error) {
	s.admin.Lock()
	defer s.admin.Unlock()
	u, err := s.store.UserByName(ctx, "admin")
	switch {
	case crowd.CodeOf(err) == crowd.NotFound:
		if others, err := s.store.ListUsers(ctx, 0, 0, 1); err != nil || len(others) > 0 {
			return "", err
		}
		u = store.User{Name: "admin", Admin: true, CreatedAt: s.time()}
		if u.ID, err = s.store.CreateUser(ctx, u); err != nil {
			return "", err
		}
	case err != nil:
		return "", err
	case u.PasswordHash != "" || !u.Admin:
		return "", nil
	}
	return s.setupLink(ctx, u.ID)
}

// setupLink makes a one-time link for a user and takes away older ones.
func (s *Service) setupLink(ctx context.Context, id crowd.WorkerID) (string, error) {
	if err := s.deleteTokens(ctx, id, store.SetupToken); err != nil {
		return "", err
	}
	return s.issue(ctx, &store.Token{Kind: store.SetupToken, User: id, Name: "set a password", ExpiresAt: s.time().Add(setupLife)}, "setup")
}

// issue keeps a new token and returns its secret, which is shown this once.
func (s *Service) issue(ctx context.Context, t *store.Token, prefix string) (secret string, err error) {
	secret = auth.NewSecret(prefix)
	t.Hash, t.CreatedAt = auth.HashSecret(secret), s.time()
	if t.ID, err = s.store.CreateToken(ctx, *t); err != nil {
		return "", err
	}
	return secret, nil
}

// deleteTokens takes a user's tokens of one kind away.
func (s *Service) deleteTokens(ctx context.Context, id crowd.WorkerID, kind store.TokenKind) error {
	tokens, err := s.store.ListTokens(ctx, id)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		if t.Kind == kind {
			if err := s.store.DeleteToken(ctx, id, t.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

var errLink = crowd.Errorf(crowd.NotFound, "this link has been used or is too old; ask for a new one")

// SetupUser returns the name of the user whom a one-time link is for.
func (s *Service) SetupUser(ctx context.Context, secret string) (string, error) {
	_, u, err := s.setupToken(ctx, secret)
	return u.Name, err
}

func (s *Service) setupToken(ctx context.Context, secret string) (store.Token, store.User, error) {
	t, err := s.store.TokenByHash(ctx, auth.HashSecret(secret))
	if crowd.CodeOf(err) == crowd.NotFound || (err == nil && (t.Kind != store.SetupToken || expired(t, s.time()))) {
		return t, store.User{}, errLink
	}
	if err != nil {
		return t, store.User{}, err
	}
	u, err := s.store.User(ctx, t.User)
	return t, u, err
}

// Setup uses a one-time link up: it sets the password, ends the sessions that
// there are, and signs in.
func (s *Service) Setup(ctx context.Context, secret, password string) (session string, err error) {
	if err := auth.ValidPassword(password); err != nil {
		return "", err
	}
	t, u, err := s.setupToken(ctx, secret)
	if err != nil {
		return "", err
	}
	hash, err := s.passwords.Hash(ctx, password)
	if err != nil {
		return "", err
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	defer s.sessions.clear()
	if t, u, err = s.setupToken(ctx, secret); err != nil { // as it is now: another call may have used it up
		return "", err
	}
	u.PasswordHash = hash
	if err := s.store.UpdateUser(ctx, u); err != nil {
		return "", err
	}
	if err := s.deleteTokens(ctx, u.ID, store.SessionToken); err != nil {
		return "", err
	}
	if session, err = s.session(ctx, u.ID); err != nil {
		return "", err
	}
	if err := s.store.DeleteToken(ctx, u.ID, t.ID); err != nil { // last: after an error the link is good for another try
		return "", err
	}
	return session, nil
}

func (s *Service) session(ctx context.Context, id crowd.WorkerID) (string, error) {
	return s.issue(ctx, &store.Token{Kind: store.SessionToken, User: id, ExpiresAt: s.time().Add(sessionLife)}, "ses")
}

// SignIn checks a name and a password and returns the secret of a new session.
// It does not say which of the two was wrong.
func (s *Service) SignIn(ctx context.Context, name, password string) (string, error) {
	if err := s.attempts.take(name, s.time()); err != nil {
		return "", err
	}
	u, err := s.store.UserByName(ctx, name)
	if err != nil && crowd.CodeOf(err) != crowd.NotFound {
		return "", err
	}
	ok, err := s.passwords.Check(ctx, u.PasswordHash, password)
	if err != nil {
		return "", err
	}
	if !ok || u.Suspended {
		return "", crowd.Errorf(crowd.Unauthenticated, "the name or the password is wrong")
	}
	s.attempts.right(name)
	if err := s.store.DeleteExpiredTokens(ctx, s.time()); err != nil {
		return "", err
	}
	return s.session(ctx, u.ID)
}

// SignOut ends the session or token with which p came. If he waits for a task,
// he leaves the queue at once; what he holds stays his until its lease runs out.
func (s *Service) SignOut(ctx context.Context, p *Principal) error {
	defer s.sessions.clear()
	if err := s.store.DeleteToken(ctx, p.User.ID, p.Token.ID); err != nil {
		return err
	}
	return s.leaveQueue(ctx, p)
}

// NewUser is what is needed to add a person.
type NewUser struct {
	Name           string
	FullName       string
	Email          string
	Admin          bool
	Tenants        []crowd.TenantID // requester of these
	Pool           crowd.PoolID     // worker of this; 0: not a worker
	Qualifications map[string]int
}

var userName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$`)

// CreateUser adds a person, and returns the secret of a one-time link with
// which he sets his password. Admins add anybody; requesters add requesters of
// their own tenants.
func (s *Service) CreateUser(ctx context.Context, p *Principal, n NewUser) (store.User, string, error) {
	if !p.Is(Admin) {
		if err := p.need(Requester); err != nil {
			return store.User{}, "", err
		}
		if n.Admin || n.Pool != 0 || len(n.Qualifications) > 0 || len(n.Tenants) == 0 {
			return store.User{}, "", crowd.Errorf(crowd.Forbidden, "a requester can add requesters of his tenants only")
		}
	}
	u := store.User{Name: n.Name, FullName: n.FullName, Email: n.Email, Admin: n.Admin, Pool: n.Pool, Tenants: n.Tenants,
		Qualifications: n.Qualifications, CreatedAt: s.time()}
	for _, t := range u.Tenants {
		if err := p.forTenant(t); err != nil {
			return store.User{}, "", err
		}
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	if err := s.validUser(ctx, &u); err != nil {
		return store.User{}, "", err
	}
	id, err := s.store.CreateUser(ctx, u)
	if err != nil {
		return store.User{}, "", err
	}
	u.ID = id
	if err := s.tellPool(u, true); err != nil {
		return store.User{}, "", err
	}
	link, err := s.setupLink(ctx, id)
	return u, link, err
}

func (s *Service) validUser(ctx context.Context, u *store.User) error {
	u.Tenants = slices.Compact(slices.Sorted(slices.Values(u.Tenants)))
	switch {
	case !userName.MatchString(u.Name):
		return crowd.Fieldf("name", "%q is not a name to sign in with (letters, digits and . _ @ + -, at most 64)", u.Name)
	case len(u.FullName) > 200:
		return crowd.Fieldf("full_name", "is longer than 200 bytes")
	}
	if u.Email != "" {
		if a, err := mail.ParseAddress(u.Email); err != nil || a.Address != u.Email {
			return crowd.Fieldf("email", "%q is not an address", u.Email)
		}
	}
	if u.Pool != 0 {
		if _, err := s.runner(u.Pool); err != nil {
			return crowd.Fieldf("pool", "no such pool")
		}
	}
	for _, t := range u.Tenants {
		if _, err := s.store.Tenant(ctx, t); err != nil {
			return err
		}
	}
	return validQualifications(u.Qualifications)
}

func validQualifications(quals map[string]int) error {
	for _, name := range sortedKeys(quals) {
		if err := engine.ValidRequirements([]engine.Requirement{{Name: name, Min: quals[name]}}); err != nil {
			return err
		}
	}
	return nil
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// UserEdit changes a person; nil fields stay as they are.
type UserEdit struct {
	FullName       *string
	Email          *string
	Admin          *bool
	Tenants        *[]crowd.TenantID
	Pool           *crowd.PoolID
	Suspended      *bool
	Qualifications *map[string]int
}

// UpdateUser changes a person. Admins only.
func (s *Service) UpdateUser(ctx context.Context, p *Principal, id crowd.WorkerID, edit UserEdit) (store.User, error) {
	if err := p.need(Admin); err != nil {
		return store.User{}, err
	}
	return s.changeUser(ctx, id, func(u *store.User) error {
		set(&u.FullName, edit.FullName)
		set(&u.Email, edit.Email)
		set(&u.Admin, edit.Admin)
		set(&u.Tenants, edit.Tenants)
		set(&u.Pool, edit.Pool)
		set(&u.Suspended, edit.Suspended)
		set(&u.Qualifications, edit.Qualifications)
		if id == p.User.ID && (!u.Admin || u.Suspended) {
			return crowd.Errorf(crowd.Conflict, "you can neither suspend yourself nor take your own admin role away")
		}
		return nil
	})
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

func (s *Service) changeUser(ctx context.Context, id crowd.WorkerID, change func(*store.User) error) (store.User, error) {
	s.admin.Lock()
	defer s.admin.Unlock()
	u, err := s.store.User(ctx, id)
	if err != nil {
		return u, err
	}
	before := u
	if err := change(&u); err != nil {
		return u, err
	}
	if err := s.validUser(ctx, &u); err != nil {
		return u, err
	}
	learns := false // what the old pool teaches, and leaves before he knows it
	leaves := before.Pool != u.Pool && before.Pool != 0
	if leaves { // first out of the old pool: who holds a task has to finish it
		r, err := s.runner(before.Pool)
		if err != nil {
			return u, err
		}
		if err := r.command(ctx, func(e *engine.Engine, now time.Time) error {
			c, _ := e.OnCall(now, id)
			learns = c.Training > 0
			return e.RemoveWorker(now, id)
		}); err != nil {
			return u, err
		}
	}
	if err := s.store.UpdateUser(ctx, u); err != nil {
		if leaves {
			err = errors.Join(err, s.tellPool(before, false))
		}
		return u, err
	}
	s.sessions.clear()
	err = s.tellPool(u, before.Pool != u.Pool)
	if learns {
		s.roster.unlearn(id, before.Pool)
	}
	return u, err
}

// tellPool lets a user's pool know what the store has of him. Who has come to it
// learns its work first, if he does not know it.
func (s *Service) tellPool(u store.User, newcomer bool) error {
	if u.Pool == 0 {
		s.roster.remove(u.ID)
		return nil
	}
	s.roster.set(u)
	r, err := s.runner(u.Pool)
	if err != nil {
		return err
	}
	set := func(e *engine.Engine, now time.Time) error {
		return e.SetWorker(now, engine.Worker{ID: u.ID, Qualifications: u.Qualifications, Suspended: u.Suspended, BlockedBy: u.BlockedBy})
	}
	p, _ := s.pool(u.Pool)
	if !newcomer || p.Retainer.Training == 0 || s.roster.knows(u.ID, u.Pool) {
		return r.tell(set)
	}
	return r.command(context.Background(), func(e *engine.Engine, now time.Time) error {
		if err := set(e, now); err != nil {
			return err
		}
		return e.Train(now, u.ID, p.Retainer.Training)
	})
}

// BlockWorker says that a tenant does not want a worker, or no longer minds.
func (s *Service) BlockWorker(ctx context.Context, p *Principal, tenant crowd.TenantID, id crowd.WorkerID, blocked bool) error {
	if err := p.forTenant(tenant); err != nil {
		return err
	}
	_, err := s.changeUser(ctx, id, func(u *store.User) error {
		if u.Pool == 0 {
			return &crowd.Error{Code: crowd.NotFound, Field: "worker", Message: "no such worker"}
		}
		list := slices.DeleteFunc(slices.Clone(u.BlockedBy), func(t crowd.TenantID) bool { return t == tenant })
		if blocked {
			list = append(list, tenant)
			slices.Sort(list)
		}
		u.BlockedBy = list
		return nil
	})
	return err
}

// NewSetupLink gives a person a new one-time link, for a forgotten password.
// Sessions go on until it is used. Admins only.
func (s *Service) NewSetupLink(ctx context.Context, p *Principal, id crowd.WorkerID) (string, error) {
	if err := p.need(Admin); err != nil {
		return "", err
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	if _, err := s.store.User(ctx, id); err != nil {
		return "", err
	}
	return s.setupLink(ctx, id)
}

// User returns a person: oneself, or anybody for an admin.
func (s *Service) User(ctx context.Context, p *Principal, id crowd.WorkerID) (store.User, error) {
	if id != p.User.ID && !p.Is(Admin) {
		return store.User{}, &crowd.Error{Code: crowd.NotFound, Field: "user", Message: "no such user"}
	}
	return s.store.User(ctx, id)
}

// Users lists people with ids above after. Admins see everybody, requesters the
// requesters of a tenant of theirs.
func (s *Service) Users(ctx context.Context, p *Principal, tenant crowd.TenantID, after crowd.WorkerID, limit int) ([]store.User, error) {
	if tenant == 0 {
		if err := p.need(Admin); err != nil {
			return nil, err
		}
	} else if err := p.forTenant(tenant); err != nil {
		return nil, err
	}
	list, err := s.store.ListUsers(ctx, tenant, after, limit)
	if err == nil && !p.Is(Admin) {
		for i := range list { // of what else they do, no more than he does himself
			others := func(t crowd.TenantID) bool { return !slices.Contains(p.Tenants(), t) }
			list[i].Tenants = slices.DeleteFunc(list[i].Tenants, others)
		}
	}
	return list, err
}

// NewToken is what is needed to make a token for a program.
type NewToken struct {
	Name   string
	Tenant crowd.TenantID // limits it to one tenant
	Roles  []Role         // limits it to some roles
	Life   time.Duration  // 0: for ever
	For    crowd.WorkerID // admins may make tokens for others; 0: oneself
}

// CreateToken makes a token for a program and returns its secret, once. It can
// do no more than the token with which p came, and lives no longer than that one
// unless it is a browser's session.
func (s *Service) CreateToken(ctx context.Context, p *Principal, n NewToken) (store.Token, string, error) {
	t := store.Token{Kind: store.APIToken, User: cmp.Or(n.For, p.User.ID), Name: strings.TrimSpace(n.Name), Tenant: n.Tenant}
	if t.User != p.User.ID {
		if err := p.need(Admin); err != nil {
			return t, "", err
		}
	} else if p.Token.Tenant != 0 && n.Tenant != p.Token.Tenant {
		return t, "", errTenant
	}
	u, err := s.store.User(ctx, t.User)
	if err != nil {
		return t, "", err
	}
	as := &Principal{User: u}
	if t.User == p.User.ID {
		as = p
	}
	switch {
	case t.Name == "" || len(t.Name) > 100:
		return t, "", crowd.Fieldf("name", "give the token a name (at most 100 bytes)")
	case n.Life < 0:
		return t, "", crowd.Fieldf("life", "%s is in the past", n.Life)
	case n.Tenant != 0 && p.Is(Admin) && !slices.Contains(as.Tenants(), n.Tenant):
		return t, "", &crowd.Error{Code: crowd.NotFound, Field: "tenant", Message: u.Name + " is not a requester of " + n.Tenant.String()}
	case n.Tenant != 0 && !slices.Contains(as.Tenants(), n.Tenant):
		return t, "", errTenant
	case n.Tenant != 0 && slices.ContainsFunc(n.Roles, func(r Role) bool { return r != Requester }):
		return t, "", crowd.Fieldf("roles", "a token for one tenant can have the role %s only", Requester)
	}
	roles := n.Roles
	if len(roles) == 0 && as == p {
		for _, r := range p.Token.Roles {
			roles = append(roles, Role(r))
		}
	}
	for _, r := range roles {
		if !as.Is(r) {
			return t, "", crowd.Fieldf("roles", "%q is not a role that this user has", r)
		}
		t.Roles = append(t.Roles, string(r))
	}
	if n.Life > 0 {
		t.ExpiresAt = s.time().Add(n.Life)
	}
	if end := p.Token.ExpiresAt; p.Token.Kind == store.APIToken && !end.IsZero() && (t.ExpiresAt.IsZero() || t.ExpiresAt.After(end)) {
		t.ExpiresAt = end
	}
	secret, err := s.issue(ctx, &t, "thr")
	return t, secret, err
}

// Tokens lists one's own tokens for programs.
func (s *Service) Tokens(ctx context.Context, p *Principal) ([]store.Token, error) {
	list, err := s.store.ListTokens(ctx, p.User.ID)
	return slices.DeleteFunc(list, func(t store.Token) bool { return t.Kind != store.APIToken }), err
}

// RevokeToken takes one of one's own tokens away.
func (s *Service) RevokeToken(ctx context.Context, p *Principal, id int64) error {
	defer s.sessions.clear()
	return s.store.DeleteToken(ctx, p.User.ID, id)
}
