package accounts

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/store"
)

// FactorRule says who has to have a second factor.
type FactorRule string

// The rules.
const (
	NobodyMust   FactorRule = "none"
	AdminsMust   FactorRule = "admins" // and all who hold a role for the installation
	StaffMust    FactorRule = "staff"  // and all who hold a role for a tenant
	EverybodyHas FactorRule = "all"
)

// ParseFactorRule reads a rule; an empty text is NobodyMust.
func ParseFactorRule(text string) (FactorRule, error) {
	r := cmp.Or(FactorRule(text), NobodyMust)
	all := []FactorRule{NobodyMust, AdminsMust, StaffMust, EverybodyHas}
	if !slices.Contains(all, r) {
		return "", crowd.Fieldf("require-second-factor", "%q is not one of none, admins (who hold a role for the installation), staff (who hold one for a tenant, too) and all", text)
	}
	return r, nil
}

// requires reports whether somebody has to have a second factor.
func (r FactorRule) requires(u *store.User) bool {
	switch r {
	case AdminsMust:
		return u.RunsInstallation()
	case StaffMust:
		return u.IsStaff()
	}
	return r == EverybodyHas
}

// mustEnrol reports whether a session's owner has to set up a second factor first. Tokens
// for programs go on: nobody is there to show one.
func (s *Accounts) mustEnrol(ctx context.Context, u *store.User, t *store.Token) (bool, error) {
	if t.Kind != store.SessionToken || t.FactorElsewhere || !s.required.requires(u) {
		return false, nil
	}
	held, err := s.held(ctx, u.ID)
	return err == nil && len(held) == 0, err
}

// held returns the factors with which somebody signs in.
func (s *Accounts) held(ctx context.Context, id crowd.WorkerID) ([]store.Factor, error) {
	list, err := s.store.Factors(ctx, id)
	return slices.DeleteFunc(list, func(f store.Factor) bool { return f.ConfirmedAt.IsZero() }), err
}

// Factors is what somebody signs in with besides their password, and with which providers
// they do.
type Factors struct {
	List      []store.Factor // without their secrets
	Recovery  int            // codes that are left
	Providers []string       // at which they have an account, by their names
	SignedIn  RecentSignIn   // of the caller, if they are theirs
}

// Factors returns those of p, or, for admins, of anybody. Who came with a limited token
// sees none.
func (s *Accounts) Factors(ctx context.Context, p *access.Principal, id crowd.WorkerID) (f Factors, err error) {
	if id != p.User.ID {
		if p.May(access.AccountsFactorsOfOthers) != nil {
			return f, s.mayNot(ctx, p, access.AccountsFactorsOfOthers, id)
		}
		if _, err := s.store.User(ctx, id); err != nil {
			return f, err
		}
	} else if p.Limited() {
		return f, nil
	}
	if f.List, err = s.held(ctx, id); err != nil {
		return f, err
	}
	if id == p.User.ID {
		f.SignedIn = s.recentSignIn(&p.User, &p.Token, f.List)
	}
	for i := range f.List {
		f.List[i].Secret = ""
	}
	for _, provider := range s.providers {
		has, err := s.store.HasIdentity(ctx, provider.Issuer, id)
		if err != nil {
			return f, err
		}
		if has {
			f.Providers = append(f.Providers, provider.Name)
		}
	}
	f.Recovery, err = s.store.RecoveryCodes(ctx, id)
	return f, err
}

// Proof is what somebody shows who changes how they sign in, or their address. Who has
// neither a password nor a second factor here shows nothing, and has to have signed in within
// Recently.
type Proof struct {
	Password string  // that they have
	Code     string  // of a second factor, or for recovery, if they hold one
	Passkey  Passkey // in place of a code
	Device   string  // of the browser, as Device has returned it; "": none
}

// Recently is how long ago somebody signed in at most who proves with it who they are.
const Recently = 15 * time.Minute

// RecentSignIn is what somebody proves with who has neither a password nor a second factor.
type RecentSignIn struct {
	Needed bool      // they have neither
	Good   bool      // they signed in Recently
	Until  time.Time // it is good
}

func (s *Accounts) recentSignIn(u *store.User, t *store.Token, held []store.Factor) RecentSignIn {
	until := t.CreatedAt.Add(Recently)
	return RecentSignIn{Needed: u.PasswordHash == "" && len(held) == 0, Good: s.clock.Time().Before(until), Until: until}
}

// prove makes a change of p's person as they are, if a proof is right and they come with a
// session: who has found a token or a session does not keep the account by it. What is shown is
// used up with the change, which is not made if their session or their password is another by
// then.
func (s *Accounts) prove(ctx context.Context, p *access.Principal, proof *Proof, change func(ctx context.Context, u *store.User) error) error {
	if p.Token.Kind == store.APIToken {
		return crowd.Errorf(crowd.Conflict, "a token for programs cannot change your address or how you sign in: sign in with a browser")
	}
	u, err := s.store.User(ctx, p.User.ID)
	if err != nil {
		return err
	}
	c := Credentials{Name: u.Name, Password: proof.Password, Code: proof.Code, From: access.SenderOf(ctx).Address, Device: proof.Device, Passkey: proof.Passkey}
	if u.PasswordHash != "" {
		if len(c.Password) > auth.MaxPassword*4 {
			return errThisPassword
		}
		ok, err := s.checkGuess(ctx, &c, &u)
		if err != nil {
			return err
		}
		if !ok {
			return errThisPassword
		}
	}
	held, err := s.held(ctx, u.ID)
	if err != nil {
		return err
	}
	if r := s.recentSignIn(&u, &p.Token, held); r.Needed && !r.Good {
		return errNotRecently
	}
	basis := store.Basis{Password: u.PasswordHash, Token: p.Token.ID}
	c.change = func(ctx context.Context, shown *store.Shown) error {
		shown.User, shown.Basis = u.ID, basis
		return change(store.WithShown(ctx, shown), &u)
	}
	if len(held) == 0 {
		return c.change(ctx, &store.Shown{})
	}
	if c.Passkey.Answer != "" {
		err = s.askedForProof(ctx, p, &c.Passkey)
	} else if c.Code == "" {
		err = wantedOf(held)
	}
	if err != nil {
		return asField(err)
	}
	return asField(s.checkFactor(ctx, &u, &c, held))
}

var errNotRecently = crowd.Errorf(crowd.Conflict, "you have no password and no second factor here, and signed in more than %d minutes ago: sign out, sign in again, and then do this", Recently/time.Minute)

var errThisPassword = crowd.Fieldf("password", "is not the password that you have")

// asField makes an error about a second factor one about a field of a form: who sends it has
// signed in.
func asField(err error) error {
	var e *crowd.Error
	if errors.As(err, &e) && e.Code == crowd.Unauthenticated && e.Field != "" {
		return crowd.Fieldf(e.Field, "%s", e.Message)
	}
	return err
}

// maxFactors bounds how many factors somebody holds.
const maxFactors = 10

// newFactor checks the name of a new factor of p and how many they hold.
func (s *Accounts) newFactor(ctx context.Context, p *access.Principal, name, otherwise string) (string, error) {
	name = cmp.Or(strings.TrimSpace(name), otherwise)
	if err := format.ValidLine("name", name, 60); err != nil {
		return "", err
	}
	held, err := s.held(ctx, p.User.ID)
	if err == nil && len(held) >= maxFactors {
		err = crowd.Errorf(crowd.Conflict, "you have %d second factors, which is as many as there may be: remove one first", len(held))
	}
	return name, err
}

// BeginTOTP returns a new secret for an authenticator app, in place of one that p has not
// confirmed.
func (s *Accounts) BeginTOTP(ctx context.Context, p *access.Principal, name string, proof Proof) (secret string, err error) {
	if name, err = s.newFactor(ctx, p, name, "Authenticator app"); err != nil {
		return "", err
	}
	secret = auth.NewTOTP()
	err = s.prove(ctx, p, &proof, func(ctx context.Context, u *store.User) error {
		_, err := s.store.CreateFactor(ctx, store.Factor{User: u.ID, Kind: store.TOTP, Name: name, Secret: secret, CreatedAt: s.clock.Time()}, nil)
		return err
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

var errBegun = crowd.Errorf(crowd.Conflict, "this was set up, given up or begun anew elsewhere: look at what your account has, and begin again if it is not there")

// ConfirmTOTP has p sign in with the secret that BeginTOTP returned last, of which code is
// the code now. With p's first factor it returns recovery codes.
func (s *Accounts) ConfirmTOTP(ctx context.Context, p *access.Principal, secret, code string) (codes []string, err error) {
	if p.Token.Kind == store.APIToken {
		return nil, errBegun // BeginTOTP has refused
	}
	s.people.Lock()
	defer s.people.Unlock()
	list, err := s.store.Factors(ctx, p.User.ID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(f store.Factor) bool {
		return f.ConfirmedAt.IsZero() && subtle.ConstantTimeCompare([]byte(f.Secret), []byte(secret)) == 1
	})
	if i < 0 {
		return nil, errBegun
	}
	f, now := list[i], s.clock.Time()
	if f.Counter, err = auth.MatchTOTP(f.Secret, auth.CleanCode(code), now, 0); err != nil {
		return nil, err
	}
	if f.Counter == 0 {
		return nil, crowd.Fieldf("code", "is not what the app shows now: look at the clock of your device, or begin again")
	}
	f.ConfirmedAt = now
	ctx, act := s.acting(ctx, p, access.AccountsConfirmTOTP, p.User.ID)
	return s.confirm(ctx, act, list, f)
}

// confirm keeps a factor that somebody has shown, next to those of the list, and returns
// recovery codes if it is their first one.
func (s *Accounts) confirm(ctx context.Context, act *store.Act, list []store.Factor, f store.Factor) ([]string, error) {
	codes, hashes := firstCodes(list)
	act.After = factorTold{f.ID, f.Kind, f.Name}
	if err := s.store.ConfirmFactor(ctx, f, hashes); err != nil {
		if crowd.CodeOf(err) == crowd.NotFound {
			err = errBegun
		}
		return nil, err
	}
	s.sessions.clear() // it may be the one that they needed
	return codes, nil
}

// recoveryCodes is how many there are.
const recoveryCodes = 10

// newCodes returns recovery codes and what is kept of them.
func newCodes() (codes, hashes []string) {
	for range recoveryCodes {
		code := auth.NewRecoveryCode()
		codes, hashes = append(codes, code), append(hashes, auth.HashRecoveryCode(code))
	}
	return codes, hashes
}

// firstCodes returns newCodes for who has no confirmed factor in a list, else none.
func firstCodes(list []store.Factor) (codes, hashes []string) {
	if slices.ContainsFunc(list, func(f store.Factor) bool { return !f.ConfirmedAt.IsZero() }) {
		return nil, nil
	}
	return newCodes()
}

// NewRecoveryCodes returns new recovery codes of p, in place of those that there are.
func (s *Accounts) NewRecoveryCodes(ctx context.Context, p *access.Principal, proof Proof) ([]string, error) {
	codes, hashes := newCodes()
	err := s.prove(ctx, p, &proof, func(ctx context.Context, u *store.User) error {
		s.people.Lock()
		defer s.people.Unlock()
		held, err := s.held(ctx, u.ID)
		if err != nil {
			return err
		}
		if len(held) == 0 {
			return crowd.Errorf(crowd.Conflict, "you have no second factor: recovery codes come with the first one")
		}
		ctx, _ = s.acting(ctx, p, access.AccountsNewRecoveryCodes, u.ID)
		return s.store.PutRecoveryCodes(ctx, u.ID, hashes)
	})
	if err != nil {
		return nil, err
	}
	return codes, nil
}

// RemoveFactor takes a factor of p away.
func (s *Accounts) RemoveFactor(ctx context.Context, p *access.Principal, id int64, proof Proof) error {
	held, err := s.held(ctx, p.User.ID)
	if err != nil {
		return err
	}
	none := crowd.Errorf(crowd.NotFound, "you have no second factor %d", id)
	i := slices.IndexFunc(held, func(f store.Factor) bool { return f.ID == id })
	if i < 0 {
		return none
	}
	return s.prove(ctx, p, &proof, func(ctx context.Context, u *store.User) error {
		s.people.Lock()
		defer s.people.Unlock()
		defer s.sessions.clear()
		ctx, act := s.acting(ctx, p, access.AccountsRemoveFactor, u.ID)
		act.Before = factorTold{id, held[i].Kind, held[i].Name}
		err := s.store.DeleteFactor(ctx, u.ID, id)
		if crowd.CodeOf(err) == crowd.NotFound {
			err = none
		}
		return err
	})
}

// ResetFactors takes all factors of somebody away who has lost them, and ends their
// sessions. Admins only, and not their own: whoever finds an admin's session would get rid
// of the factor with it.
func (s *Accounts) ResetFactors(ctx context.Context, p *access.Principal, id crowd.WorkerID) error {
	if err := p.May(access.AccountsResetFactors); err != nil {
		return err
	}
	if id == p.User.ID {
		return crowd.Errorf(crowd.Conflict, "remove your own second factor on the page of your account, with a code; if you have none left, ask another administrator")
	}
	s.people.Lock()
	defer s.people.Unlock()
	p, err := s.asNow(ctx, p)
	if err == nil {
		err = p.May(access.AccountsResetFactors)
	}
	if err != nil {
		return err
	}
	u, err := s.store.User(ctx, id)
	if err != nil {
		return err
	}
	if err := s.mayAct(ctx, p, &u); err != nil {
		return err
	}
	ctx, _ = s.acting(ctx, p, access.AccountsResetFactors, id)
	return s.endAccess(ctx, &access.Principal{User: u}, store.Ending{Kinds: []store.TokenKind{store.SessionToken}, Factors: true})
}
