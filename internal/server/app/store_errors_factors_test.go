package app_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/passkey/passkeytest"
)

// factorStage is what the use cases of second factors act on.
type factorStage struct {
	holder    *access.Principal // of an app, a passkey and recovery codes
	secret    string            // of the app
	recovery  []string          // that are not used
	key       *passkeytest.Authenticator
	beginner  *access.Principal // who has begun to set up an app
	begun     string            // its secret
	keyOwner  *access.Principal // who has begun to set up a passkey
	keyAnswer string            // of their browser
}

// passkeyOrigin is where passkeys are good: the public URL of withPost.
const passkeyOrigin = "https://throng.example.org"

// theFactors makes what use cases of second factors act on.
func (w *world) theFactors(t *testing.T) (st factorStage) {
	t.Helper()
	added := func(name string) *access.Principal {
		_, link, err := w.Accounts.CreateUser(w.ctx, w.admin, accounts.NewUser{Name: name, Tenants: []crowd.TenantID{w.a}})
		ok(t, err)
		must(w.Accounts.Setup(w.ctx, link, goodPassword))(t)
		return w.signIn(name)
	}
	made := func(p *access.Principal, a *passkeytest.Authenticator, code string) string {
		ok(t, w.Accounts.BeginPasskey(w.ctx, p, "", passkeyOrigin, accounts.Proof{Password: goodPassword, Code: code}))
		return a.Make(t, must(w.Accounts.MakePasskey(w.ctx, p, passkeyOrigin))(t), passkeyOrigin, passkeytest.Lie{})
	}
	st.holder, st.beginner, st.keyOwner = added("holder"), added("beginner"), added("keyholder")
	st.secret = must(w.Accounts.BeginTOTP(w.ctx, st.holder, "", accounts.Proof{Password: goodPassword}))(t)
	st.recovery = must(w.Accounts.ConfirmTOTP(w.ctx, st.holder, st.secret, must(auth.TOTP(st.secret, w.clock.now()))(t)))(t)
	st.key = &passkeytest.Authenticator{Verifies: true}
	must(w.Accounts.ConfirmPasskey(w.ctx, st.holder, accounts.Passkey{Answer: made(st.holder, st.key, st.recovery[0]), Origin: passkeyOrigin}))(t)
	st.recovery = st.recovery[1:]
	st.begun = must(w.Accounts.BeginTOTP(w.ctx, st.beginner, "", accounts.Proof{Password: goodPassword}))(t)
	st.keyAnswer = made(st.keyOwner, &passkeytest.Authenticator{}, "")
	_, _, err := w.Accounts.AskForPasskey(w.ctx, passkeyOrigin) // the secret with which tickets are signed is drawn at random
	ok(t, err)
	return st
}

// code is what an app shows, half a minute later than before, so that it is not one that was used.
func (x *trial) code(secret string) string {
	x.clock.advance(30 * time.Second)
	return must(auth.TOTP(secret, x.clock.now()))(x.t)
}

// proof is what the holder of all factors shows.
func (x *trial) proof() accounts.Proof {
	return accounts.Proof{Password: goodPassword, Code: x.code(x.factors.secret)}
}

// finish signs the holder in, who shows their second factor when they are asked.
func (x *trial) finish(show func(challenge string) (accounts.Credentials, error)) error {
	_, err := x.session("holder", goodPassword)
	var wanted *accounts.FactorWanted
	if !errors.As(err, &wanted) {
		return err
	}
	c, err := show(wanted.Challenge)
	if err != nil {
		return err
	}
	return second(x.Accounts.FinishFactor(x.ctx, wanted.Challenge, c))
}

func init() {
	maps.Copy(thoroughly, map[string]func(x *trial, p *access.Principal) error{
		"Accounts.Factors": func(x *trial, p *access.Principal) error {
			return second(x.Accounts.Factors(x.ctx, p, x.factors.holder.User.ID))
		},
		"Accounts.BeginTOTP": func(x *trial, _ *access.Principal) error {
			return second(x.Accounts.BeginTOTP(x.ctx, x.factors.holder, "", x.proof()))
		},
		"Accounts.ConfirmTOTP": func(x *trial, _ *access.Principal) error {
			code := must(auth.TOTP(x.factors.begun, x.clock.now()))(x.t)
			return second(x.Accounts.ConfirmTOTP(x.ctx, x.factors.beginner, x.factors.begun, code))
		},
		"Accounts.BeginPasskey": func(x *trial, _ *access.Principal) error {
			return x.Accounts.BeginPasskey(x.ctx, x.factors.holder, "", passkeyOrigin, x.proof())
		},
		"Accounts.BeginPasskey: with a passkey": func(x *trial, _ *access.Principal) error {
			ticket, asked, err := x.Accounts.AskForProof(x.ctx, x.factors.holder, passkeyOrigin)
			if err != nil {
				return err
			}
			shown := accounts.Passkey{Ticket: ticket, Answer: x.factors.key.Show(x.t, asked, passkeyOrigin, passkeytest.Lie{}), Origin: passkeyOrigin}
			return x.Accounts.BeginPasskey(x.ctx, x.factors.holder, "", passkeyOrigin, accounts.Proof{Password: goodPassword, Passkey: shown})
		},
		"Accounts.MakePasskey": func(x *trial, _ *access.Principal) error {
			return second(x.Accounts.MakePasskey(x.ctx, x.factors.keyOwner, passkeyOrigin))
		},
		"Accounts.ConfirmPasskey": func(x *trial, _ *access.Principal) error {
			return second(x.Accounts.ConfirmPasskey(x.ctx, x.factors.keyOwner, accounts.Passkey{Answer: x.factors.keyAnswer, Origin: passkeyOrigin}))
		},
		"Accounts.NewRecoveryCodes": func(x *trial, _ *access.Principal) error {
			return second(x.Accounts.NewRecoveryCodes(x.ctx, x.factors.holder, x.proof()))
		},
		"Accounts.RemoveFactor": func(x *trial, _ *access.Principal) error {
			held, err := x.Accounts.Factors(x.ctx, x.factors.holder, x.factors.holder.User.ID)
			if err != nil {
				return err
			}
			return x.Accounts.RemoveFactor(x.ctx, x.factors.holder, held.List[0].ID, x.proof())
		},
		"Accounts.ChangePassword": func(x *trial, _ *access.Principal) error {
			return x.Accounts.ChangePassword(x.ctx, x.factors.holder, accounts.Proof{Password: goodPassword}, nextPassword)
		},
		"Accounts.ResetFactors": func(x *trial, p *access.Principal) error {
			return x.Accounts.ResetFactors(x.ctx, p, x.factors.holder.User.ID)
		},
		"Accounts.FinishFactor: by a code": func(x *trial, _ *access.Principal) error {
			return x.finish(func(string) (accounts.Credentials, error) {
				return accounts.Credentials{Code: x.code(x.factors.secret)}, nil
			})
		},
		"Accounts.FinishFactor: by a recovery code": func(x *trial, _ *access.Principal) error {
			return x.finish(func(string) (accounts.Credentials, error) {
				return accounts.Credentials{Code: x.factors.recovery[0]}, nil
			})
		},
		"Accounts.FinishFactor: by a passkey": func(x *trial, _ *access.Principal) error {
			return x.finish(func(challenge string) (c accounts.Credentials, err error) {
				asked, err := x.Accounts.AskForFactor(x.ctx, challenge, passkeyOrigin)
				if err == nil {
					c.Passkey = accounts.Passkey{Answer: x.factors.key.Show(x.t, asked.Passkey, passkeyOrigin, passkeytest.Lie{}), Origin: passkeyOrigin}
				}
				return c, err
			})
		},
		"Accounts.SignInWithPasskey": func(x *trial, _ *access.Principal) error {
			ticket, asked, err := x.Accounts.AskForPasskey(x.ctx, passkeyOrigin)
			if err != nil {
				return err
			}
			shown := accounts.Passkey{Ticket: ticket, Answer: x.factors.key.ShowAnyway(x.t, asked, passkeyOrigin), Origin: passkeyOrigin}
			return second(x.Accounts.SignInWithPasskey(x.ctx, accounts.Credentials{Passkey: shown}))
		},
	})
}

func init() { // what was shown is used up before a change that then fails: nobody shows it twice
	const spent = "the ticket is used up, and the passkey is asked for again with another one"
	for _, key := range []string{"FinishFactor: by a passkey/DeleteExpiredTokens", "FinishFactor: by a passkey/CreateToken", "SignInWithPasskey/DeleteExpiredTokens", "SignInWithPasskey/CreateToken"} {
		excused["Accounts."+key] = excuse{why: spent, differs: []string{"spent_challenges"}}
	}
}
