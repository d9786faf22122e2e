package accounts

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strconv"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/passkey"
	"github.com/throng-dev/throng/internal/store"
)

// passkeyCases are the use cases of passkeys, a part of Accounts.
type passkeyCases struct{ accounts *Accounts }

// Passkey is what a browser has answered that was asked for a passkey.
type Passkey struct {
	Ticket string // with which it was asked, where no challenge says so
	Answer string // JSON; "": none
	Origin string // of the page, which counts only where the server does not know its own
	asked  ticket // the ticket, once it is known to be good
}

var (
	errPasskey  = &crowd.Error{Code: crowd.Unauthenticated, Field: "passkey", Message: "is not one that is good here, or was shown before or too late: try again"}
	errCopied   = &crowd.Error{Code: crowd.Unauthenticated, Field: "passkey", Message: "has counted less than when it was shown last, so there may be a copy of it: come in with a recovery code or another second factor, and remove it"}
	errNotAlone = crowd.Errorf(crowd.Forbidden, "you have no password here, so a passkey alone does not let you in: sign in as you do otherwise, and show it then")
)

// site is where passkeys are good.
func (s *Accounts) site(origin string) (*passkey.Site, error) {
	return passkey.NewSite(cmp.Or(s.publicURL, origin), s.publicURL != "")
}

// PasskeysWork says why passkeys do not work on a page, or returns nil.
func (part *passkeyCases) PasskeysWork(origin string) error {
	s := part.accounts
	_, err := s.site(origin)
	return err
}

// keysOf are the passkeys among factors.
func keysOf(held []store.Factor) (keys []passkey.Key, err error) {
	for _, f := range held {
		if f.Kind == store.Passkey {
			k, err := passkey.ParseKey(f.Secret)
			if err != nil {
				return nil, err
			}
			keys = append(keys, k)
		}
	}
	return keys, nil
}

// begunPasskey is what is kept of a passkey that is being set up.
type begunPasskey struct {
	Handle    []byte `json:"handle"`
	Challenge []byte `json:"challenge"`
	Session   int64  `json:"session"` // in which it was begun
}

// handleBytes is how long a person's handle is: it says nothing, and nobody guesses it.
const handleBytes = 32

func randomBytes() []byte {
	raw := make([]byte, handleBytes)
	_, _ = rand.Read(raw) // never fails
	return raw
}

// BeginPasskey begins to set up a passkey, in place of a factor that p has not confirmed.
func (part *passkeyCases) BeginPasskey(ctx context.Context, p *access.Principal, name, origin string, proof Proof) error {
	s := part.accounts
	if _, err := s.site(origin); err != nil {
		return err
	}
	name, err := s.newFactor(ctx, p, name, "Passkey")
	if err != nil {
		return err
	}
	return s.prove(ctx, p, &proof, func(ctx context.Context, u *store.User) error {
		held, err := s.held(ctx, u.ID)
		if err != nil {
			return err
		}
		keys, err := keysOf(held)
		if err != nil {
			return err
		}
		begun := begunPasskey{Handle: randomBytes(), Challenge: randomBytes(), Session: p.Token.ID}
		if len(keys) > 0 {
			begun.Handle = keys[0].Handle // so that authenticators show one account, not two
		}
		text, err := json.Marshal(begun)
		if err != nil {
			return err
		}
		_, err = s.store.CreateFactor(ctx, store.Factor{User: u.ID, Kind: store.Passkey, Name: name, Secret: string(text), CreatedAt: s.clock.Time()}, nil)
		return err
	})
}

// makingPasskey is a passkey that is being set up.
type makingPasskey struct {
	factor    store.Factor
	owner     passkey.Owner
	challenge []byte
	list      []store.Factor // all, this one too
}

func (s *Accounts) making(ctx context.Context, p *access.Principal) (m makingPasskey, err error) {
	if m.list, err = s.store.Factors(ctx, p.User.ID); err != nil {
		return m, err
	}
	i := slices.IndexFunc(m.list, func(f store.Factor) bool { return f.Kind == store.Passkey && f.ConfirmedAt.IsZero() })
	if i < 0 || !s.clock.Time().Before(m.list[i].CreatedAt.Add(ChallengeLife)) {
		return m, errBegun
	}
	m.factor = m.list[i]
	var begun begunPasskey
	if err := json.Unmarshal([]byte(m.factor.Secret), &begun); err != nil {
		return m, err
	}
	if begun.Session != p.Token.ID {
		return m, errBegun
	}
	m.challenge, m.owner = begun.Challenge, passkey.Owner{Name: p.User.Name, Handle: begun.Handle}
	m.owner.Keys, err = keysOf(slices.Delete(slices.Clone(m.list), i, i+1))
	return m, err
}

// MakePasskey returns what p's browser is asked for after BeginPasskey, in JSON.
func (part *passkeyCases) MakePasskey(ctx context.Context, p *access.Principal, origin string) (string, error) {
	s := part.accounts
	site, err := s.site(origin)
	if err != nil {
		return "", err
	}
	m, err := s.making(ctx, p)
	if err != nil {
		return "", err
	}
	return site.Make(&m.owner, m.challenge)
}

// ConfirmPasskey has p sign in with the passkey that their browser has made. With p's first
// factor it returns recovery codes.
func (part *passkeyCases) ConfirmPasskey(ctx context.Context, p *access.Principal, made Passkey) (codes []string, err error) {
	s := part.accounts
	site, err := s.site(made.Origin)
	if err != nil {
		return nil, err
	}
	s.people.Lock()
	defer s.people.Unlock()
	m, err := s.making(ctx, p)
	if err != nil {
		return nil, err
	}
	key, err := site.Made(&m.owner, m.challenge, made.Answer)
	if err != nil {
		return nil, s.notShown(err, &m.factor, crowd.Fieldf("passkey", "was not made as it was asked for: try again"))
	}
	f := m.factor
	if f.Secret, err = key.String(); err != nil {
		return nil, err
	}
	f.Credential, f.Counter, f.ConfirmedAt = key.ID(), int64(key.Credential.Authenticator.SignCount), s.clock.Time()
	ctx, act := s.acting(ctx, p, access.AccountsConfirmPasskey, p.User.ID)
	return s.confirm(ctx, act, m.list, f)
}

// notShown is the error about a passkey that is refused, and logs why.
func (s *Accounts) notShown(err error, f *store.Factor, told error) error {
	var refused *passkey.RefusedError
	if errors.As(err, &refused) {
		s.log.Info("a passkey is refused", "person", f.User.String(), "factor", f.ID, "why", refused.Why)
		return told
	}
	return err
}

// WantedFactor is what somebody is asked for as their second factor.
type WantedFactor struct {
	Codes   bool   // of an app
	Passkey string // what their browser is asked for, in JSON; "": nothing
}

// AskForFactor returns what somebody is asked for who was given a challenge.
func (part *passkeyCases) AskForFactor(ctx context.Context, challenge, origin string) (a WantedFactor, err error) {
	s := part.accounts
	u, t, err := s.challenged(ctx, challenge)
	if err != nil {
		return a, err
	}
	held, err := s.held(ctx, u.ID)
	if err != nil {
		return a, err
	}
	a.Codes = hold(held, store.TOTP)
	a.Passkey, err = s.askFor(held, &t, origin)
	return a, err
}

// askFor returns what a browser is asked for that shall show one of the passkeys among
// factors; "": there are none, or they do not work here.
func (s *Accounts) askFor(held []store.Factor, t *ticket, origin string) (string, error) {
	keys, err := keysOf(held)
	if err != nil || len(keys) == 0 {
		return "", err
	}
	site, err := s.site(origin)
	if err != nil {
		return "", nil //nolint:nilerr // a code does
	}
	return site.Ask(keys, t.challenge())
}

// forProof is the purpose of tickets of who changes how they sign in.
const forProof = "proof"

// AskForProof returns what p's browser is asked for, in JSON, before p changes how they sign
// in, and the ticket for Proof; "": p has no passkey.
func (part *passkeyCases) AskForProof(ctx context.Context, p *access.Principal, origin string) (ticket, asked string, err error) {
	s := part.accounts
	held, err := s.held(ctx, p.User.ID)
	if err != nil || p.Token.Kind == store.APIToken {
		return "", "", err
	}
	t, err := s.newTicket(ctx, forProof, strconv.FormatInt(p.Token.ID, 10), s.clock.Time())
	if err != nil {
		return "", "", err
	}
	asked, err = s.askFor(held, &t, origin)
	return t.text, asked, err
}

// askedForProof checks that p was asked for a passkey in their session.
func (s *Accounts) askedForProof(ctx context.Context, p *access.Principal, shown *Passkey) (err error) {
	if shown.asked, err = s.parseTicket(shown.Ticket); err == nil {
		err = s.isFor(ctx, &shown.asked, forProof)
	}
	if err == nil && shown.asked.subject != strconv.FormatInt(p.Token.ID, 10) {
		err = errChallenge
	}
	if err == errChallenge {
		err = errPasskey
	}
	return err
}

// checkPasskey checks that one of somebody's passkeys was shown, and uses up what it was
// asked with. Who sends many that are wrong has to wait.
func (s *Accounts) checkPasskey(ctx context.Context, c *Credentials, held []store.Factor) error {
	return s.tryPasskey(c.From, func() error {
		shown, err := passkey.ParseShown(c.Passkey.Answer)
		if err != nil {
			return errPasskey
		}
		i := slices.IndexFunc(held, func(f store.Factor) bool { return f.Kind == store.Passkey && f.Credential == shown.ID() })
		if i < 0 {
			return errPasskey
		}
		c.shown = held[i].ID
		return s.usePasskey(ctx, held[i], shown, c, false)
	})
}

// tryPasskey bounds how many wrong passkeys come from an address, since a check takes time.
// Nobody guesses one, so none is counted against its owner.
func (s *Accounts) tryPasskey(from netip.Addr, try func() error) error {
	taken, err := s.takeFirst([][]guess{{guessAt(fromAddress, "address", network(from, 64)), guessAt(fromSite, "site", network(from, 48))}}, "too many passkeys that are not right")
	if err != nil {
		return err
	}
	if err = try(); err != errPasskey {
		s.guesses.GiveBack(taken...)
	}
	return err
}

// usePasskey checks that a passkey was shown for a ticket, and uses the ticket up.
func (s *Accounts) usePasskey(ctx context.Context, f store.Factor, shown *passkey.Shown, c *Credentials, alone bool) error {
	with := &c.Passkey
	if with.asked.text == "" { // nobody was asked
		return errPasskey
	}
	site, err := s.site(with.Origin)
	if err != nil {
		return err
	}
	key, err := passkey.ParseKey(f.Secret)
	if err != nil {
		return err
	}
	if f.Counter, err = site.Check(shown, key, with.asked.challenge(), alone); err != nil {
		return s.notShown(err, &f, errPasskey)
	}
	f.UsedAt = s.clock.Time()
	switch err = s.use(ctx, c, &store.Shown{User: f.User, Factor: f, Challenge: auth.HashSecret(with.asked.text), Expires: with.asked.until}); {
	case errors.Is(err, store.ErrAnswered):
		return errPasskey
	case errors.Is(err, store.ErrUsed):
		s.log.Warn("a passkey has counted less than before: there may be a copy of it", "person", f.User.String(), "factor", f.ID)
		return errCopied
	}
	return err
}

// forAnybody is the purpose of tickets of who signs in with nothing but a passkey.
const forAnybody = "passkey"

// AskForPasskey returns what the browser of somebody is asked for who signs in with nothing
// but a passkey, in JSON, and the ticket for SignInWithPasskey.
func (part *passkeyCases) AskForPasskey(ctx context.Context, origin string) (ticket, asked string, err error) {
	s := part.accounts
	site, err := s.site(origin)
	if err != nil {
		return "", "", err
	}
	t, err := s.newTicket(ctx, forAnybody, "anybody", s.clock.Time())
	if err != nil {
		return "", "", err
	}
	asked, err = site.Ask(nil, t.challenge())
	return t.text, asked, err
}

// SignInWithPasskey returns the secret of a new session of who has shown a passkey that
// verifies its holder, by a PIN or a finger: so it is both of their factors. It does for who
// has a password only: others are let in by somebody else, who may have shut them out.
func (part *passkeyCases) SignInWithPasskey(ctx context.Context, c Credentials) (session string, err error) {
	s := part.accounts
	if c.Passkey.asked, err = s.parseTicket(c.Passkey.Ticket); err != nil {
		return "", err
	}
	if err := s.isFor(ctx, &c.Passkey.asked, forAnybody); err != nil {
		return "", err
	}
	err = s.tryPasskey(c.From, func() error {
		shown, err := passkey.ParseShown(c.Passkey.Answer)
		if err != nil {
			return errPasskey
		}
		f, err := s.store.FactorByCredential(ctx, shown.ID())
		if crowd.CodeOf(err) == crowd.NotFound {
			return errPasskey
		}
		if err != nil {
			return err
		}
		u, err := s.store.User(ctx, f.User)
		if err != nil {
			return err
		}
		ctx, _ := s.acting(ctx, &access.Principal{User: u}, access.AccountsSignInWithPasskey, u.ID)
		switch err := s.usePasskey(store.Preparing(ctx), f, shown, &c, true); {
		case err != nil:
			return err
		case u.Suspended:
			return errSuspended
		case u.PasswordHash == "":
			return errNotAlone
		}
		t := s.sessionOf(ctx, &u, c.Passkey.asked.begun)
		t.Basis.Factor = f.ID
		session, err = s.newSession(ctx, &t)
		return err
	})
	return session, err
}
