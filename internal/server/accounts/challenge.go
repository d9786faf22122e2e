package accounts

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/store"
)

// ChallengeLife is how long somebody who has shown their password has to show their second
// factor.
const ChallengeLife = 10 * time.Minute

// FactorWanted is the error of a sign-in that only lacks the second factor.
type FactorWanted struct {
	Challenge string // for FinishFactor: that the first one was shown
	wanted    *crowd.Error
}

var (
	errFactor    = &crowd.Error{Code: crowd.Unauthenticated, Field: "code", Message: "is needed: the six digits that your authenticator app shows, or a recovery code"}
	errEither    = &crowd.Error{Code: crowd.Unauthenticated, Field: "code", Message: "is needed: the six digits that your authenticator app shows, or a recovery code; in a browser, a passkey does, too"}
	errKeyOrCode = &crowd.Error{Code: crowd.Unauthenticated, Field: "code", Message: "is needed: your passkey can be shown in a browser only. Elsewhere a recovery code does; or make a token for programs in the browser, on the page API tokens"}
	errCode      = &crowd.Error{Code: crowd.Unauthenticated, Field: "code", Message: "is wrong, was used before or is too old: enter the one that your app shows now, or a recovery code"}
	errChallenge = crowd.Errorf(crowd.Unauthenticated, "this sign-in has taken too long, or is over: begin it again")
)

// Error implements error.
func (e *FactorWanted) Error() string { return e.wanted.Error() }

// Unwrap makes it a crowd.Error.
func (e *FactorWanted) Unwrap() error { return e.wanted }

// enter returns the secret of a new session of who has shown their first factor, and
// their second one with c or elsewhere, if they hold one. The session is what the act of the
// context tells of.
func (s *Accounts) enter(ctx context.Context, u *store.User, c *Credentials, elsewhere bool) (string, error) {
	if !elsewhere {
		held, err := s.held(ctx, u.ID)
		switch {
		case err != nil:
			return "", err
		case len(held) == 0:
		case c.Code == "" && c.Passkey.Answer == "" && c.Passkey.asked.text != "":
			return "", wantedOf(held)
		case c.Code == "" && c.Passkey.Answer == "":
			return "", s.challenge(ctx, u, held, c.begun)
		default:
			var session string
			c.recover = func(hash string) (err error) {
				session, err = s.recoveredSession(ctx, u, c.begun, hash)
				return err
			}
			if err := s.checkFactor(store.Preparing(ctx), u, c, held); err != nil || session != "" {
				return session, err
			}
		}
	}
	t := s.sessionOf(ctx, u, c.begun)
	t.FactorElsewhere, t.Basis.Factor = elsewhere, c.shown
	return s.newSession(ctx, &t)
}

// newSession keeps a session and returns its secret.
func (s *Accounts) newSession(ctx context.Context, t *store.Token) (string, error) {
	if err := s.store.DeleteExpiredTokens(store.Preparing(ctx), s.clock.Time()); err != nil {
		return "", err
	}
	return s.issue(ctx, t, sessionPrefix)
}

// recoveredSession is newSession of who shows a recovery code with this hash, which is used
// up with it only: there are few of them, and no other way in may be left.
func (s *Accounts) recoveredSession(ctx context.Context, u *store.User, begun time.Time, hash string) (string, error) {
	if err := s.store.DeleteExpiredTokens(store.Preparing(ctx), s.clock.Time()); err != nil {
		return "", err
	}
	t := s.sessionOf(ctx, u, begun)
	secret := s.newSecret(&t, sessionPrefix)
	if err := s.store.UseRecoveryCode(ctx, u.ID, hash, &t); err != nil {
		return "", err
	}
	return secret, nil
}

// ofSignIn is the purpose of tickets of who has shown their first factor.
const ofSignIn = "challenge"

// challenge returns a FactorWanted for a person with factors who began to sign in at a time, or
// another error. It is worth nothing once they have another password, or their sessions end.
func (s *Accounts) challenge(ctx context.Context, u *store.User, held []store.Factor, begun time.Time) error {
	t, err := s.newTicket(ctx, ofSignIn, u.ID.String(), begun, u.PasswordHash)
	if err != nil {
		return err
	}
	return &FactorWanted{Challenge: t.text, wanted: wantedOf(held)}
}

// wantedOf is the error of who shows none of the factors that they hold.
func wantedOf(held []store.Factor) *crowd.Error {
	switch codes, keys := hold(held, store.TOTP), hold(held, store.Passkey); {
	case codes && keys:
		return errEither
	case keys:
		return errKeyOrCode
	}
	return errFactor
}

func hold(held []store.Factor, kind store.FactorKind) bool {
	return slices.ContainsFunc(held, func(f store.Factor) bool { return f.Kind == kind })
}

// challenged returns the person who was given a challenge.
func (s *Accounts) challenged(ctx context.Context, challenge string) (u store.User, t ticket, err error) {
	if t, err = s.parseTicket(challenge); err != nil {
		return u, t, err
	}
	id, err := crowd.ParseWorkerID(t.subject)
	if err != nil {
		return u, t, errChallenge
	}
	u, err = s.store.User(ctx, id)
	switch {
	case crowd.CodeOf(err) == crowd.NotFound:
		return u, t, errChallenge
	case err != nil:
		return u, t, err
	}
	if err := s.isFor(ctx, &t, ofSignIn, u.PasswordHash); err != nil {
		return u, t, err
	}
	if u.Suspended {
		return u, t, errSuspended
	}
	return u, t, nil
}

// FinishFactor returns the secret of a new session of who was given a challenge and has a
// code or a passkey. The name and the password of c are not read.
func (s *Accounts) FinishFactor(ctx context.Context, challenge string, c Credentials) (string, error) {
	u, t, err := s.challenged(ctx, challenge)
	if err != nil {
		return "", err
	}
	c.Passkey.asked, c.begun = t, t.begun
	ctx, _ = s.acting(ctx, &access.Principal{User: u}, access.AccountsFinishFactor, u.ID)
	return s.enter(ctx, &u, &c, false)
}

// checkFactor checks the passkey or the code in c, and uses it up.
func (s *Accounts) checkFactor(ctx context.Context, u *store.User, c *Credentials, held []store.Factor) error {
	if c.Passkey.Answer != "" {
		return s.checkPasskey(ctx, c, held)
	}
	return s.checkCode(ctx, u, c, held)
}

// checkCode checks the code in c, of one of somebody's factors or for recovery, and uses it
// up. Wrong ones use up what is left of the limits.
func (s *Accounts) checkCode(ctx context.Context, u *store.User, c *Credentials, held []store.Factor) error {
	return s.guess(ctx, u, c, held, func() error { return s.useCode(ctx, u, c, held) })
}

// guess counts a guess at somebody's second factor, which is wrong if try returns errCode.
func (s *Accounts) guess(ctx context.Context, u *store.User, c *Credentials, held []store.Factor, try func() error) error {
	known, err := s.deviceWithFactor(ctx, c.Device, u, held)
	if err != nil {
		return err
	}
	taken, err := s.takeCodeGuess(u, c.From, known)
	if err != nil {
		return err
	}
	switch err = try(); {
	case err == nil:
		s.guesses.GiveBack(taken...)
		s.guesses.Forget(taken[0].Key)
	case err != errCode: // nothing was checked
		s.guesses.GiveBack(taken...)
	}
	return err
}

// takeCodeGuess uses up what a guess at a code takes. A browser in which the person has
// shown a second factor before has guesses of its own, so that who knows their password cannot
// keep them out.
func (s *Accounts) takeCodeGuess(u *store.User, from netip.Addr, known device) ([]guess, error) {
	tries := [][]guess{append([]guess{guessAt(atCodes, "codes", u.ID.String())}, anyFrom(from)...)}
	if known.id != "" {
		tries = slices.Insert(tries, 0, []guess{guessAt(atCodes, "codes from device", known.id), guessAt(atDevicesCodes, "codes from devices", u.ID.String())})
	}
	return s.takeFirst(tries, "too many wrong codes")
}

// useCode uses a code up, or returns errCode.
func (s *Accounts) useCode(ctx context.Context, u *store.User, c *Credentials, held []store.Factor) error {
	code := c.Code
	if len(code) > 100 {
		return errCode
	}
	now := s.clock.Time()
	for _, f := range held {
		if f.Kind != store.TOTP {
			continue
		}
		step, err := auth.MatchTOTP(f.Secret, auth.CleanCode(code), now, f.Counter)
		if err != nil {
			return err
		}
		if step == 0 {
			continue
		}
		f.Counter, f.UsedAt, c.shown = step, now, f.ID
		return orWrong(s.use(ctx, c, &store.Shown{User: u.ID, Factor: f}))
	}
	hash := auth.HashRecoveryCode(code)
	if hash == "" {
		return errCode
	}
	if c.recover != nil {
		return orWrong(c.recover(hash))
	}
	return orWrong(s.use(ctx, c, &store.Shown{User: u.ID, Recovery: hash}))
}

// use uses up what somebody shows, with the change that they show it for, if there is one.
func (s *Accounts) use(ctx context.Context, c *Credentials, x *store.Shown) error {
	if c.change != nil {
		if err := c.change(ctx, x); err != nil || x.Kept() {
			return err
		}
		// Nothing was to be changed. It is used up nevertheless: else it would not be known
		// whether it is right, and guesses would be forgotten.
	}
	switch {
	case x.Challenge != "":
		return s.store.UsePasskey(ctx, x.Factor, x.Challenge, x.Expires)
	case x.Recovery != "":
		return s.store.UseRecoveryCode(ctx, x.User, x.Recovery, nil)
	}
	return s.store.UseFactor(ctx, x.Factor)
}

// orWrong returns errCode for the error about a code that is not good any more.
func orWrong(err error) error {
	if errors.Is(err, store.ErrUsed) {
		return errCode
	}
	return err
}
