package api

import (
	"context"
	"net/http"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

func toSecret(s string) wire.Secret { return wire.Secret{Token: s} }

func toRevoked(with int) wire.RevokedToken { return wire.RevokedToken{EndedWith: with} }

func toTokenOf(t accounts.TokenOf) wire.Token {
	out := toToken(t.Token)
	out.Suspended = t.Suspended
	return out
}

func toToken(t store.Token) wire.Token {
	return wire.Token{ID: t.ID, Name: t.Name, Tenant: t.Tenant, Roles: t.Roles, Scopes: t.Scopes, Networks: t.Networks, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, UsedAt: t.UsedAt, MadeWith: t.MadeWith}
}

// maker is who made a token for somebody else, or 0.
func maker(t accounts.TokenOf) crowd.WorkerID {
	if t.Maker == "" {
		return 0
	}
	return t.MadeBy
}

func toAddress(a accounts.Address) wire.Address {
	out := wire.Address{Email: a.Email, Verified: a.Verified, CanAsk: a.CanAsk}
	if a.Asked != nil {
		out.Asked = &wire.AskedAddress{Address: a.Asked.Address, AskedAt: a.Asked.AskedAt, ExpiresAt: a.Asked.ExpiresAt, Mail: string(a.Asked.Mail.State)}
	}
	return out
}

func toFactors(f accounts.Factors) wire.SecondFactors {
	return wire.SecondFactors{RecoveryCodes: f.Recovery, Providers: f.Providers, Factors: lists.Map(f.List, func(x store.Factor) wire.SecondFactor {
		return wire.SecondFactor{ID: x.ID, Kind: string(x.Kind), Name: x.Name, CreatedAt: x.CreatedAt, UsedAt: x.UsedAt}
	})}
}

func toMe(p *access.Principal) wire.Me {
	me := wire.Me{ID: p.User.ID, Name: p.User.Name, Tenants: some(p.Tenants()), Pool: p.User.Pool, Roles: []string{}}
	for _, r := range p.Roles() {
		me.Roles = append(me.Roles, string(r))
	}
	return me
}

var errForeverAndLife = crowd.Fieldf("forever", "a token is good for ever or for life_seconds, not both")

// session registers signing in and what an account has. It is long as it goes through the operations one by one.
func (a *api) session() {
	const tag = "Signing in"
	add(a, op{method: http.MethodPost, path: "/v1/session", summary: "Sign in with a name and a password", tag: tag,
		text: "Who holds a second factor is told 401 about the field code until they send one. A code counts once. Passkeys can be shown in a browser only: who holds no other factor sends a recovery code, or a token for programs in place of a session."},
		func(ctx context.Context, _ *access.Principal, in *struct{ Body wire.Credentials }) (wire.Secret, error) {
			return as(toSecret)(a.app.Accounts.SignIn(ctx, accounts.Credentials{Name: in.Body.Name, Password: in.Body.Password, Code: in.Body.Code, From: access.SenderOf(ctx).Address}))
		})
	addAction(a, op{method: http.MethodDelete, path: "/v1/session", summary: "Sign out: the token sent is good no longer", tag: tag, access: access.AccountsSignOut},
		func(ctx context.Context, p *access.Principal, _ *struct{}) error {
			return a.app.Accounts.SignOut(ctx, p)
		})
	add(a, op{method: http.MethodPost, path: "/v1/setup", summary: "Use a one-time link: set a password and sign in", tag: tag,
		text: "Who holds a second factor is told 401 about the field code: the password is set, and they sign in with it and a code."},
		func(ctx context.Context, _ *access.Principal, in *struct{ Body wire.Setup }) (wire.Secret, error) {
			return as(toSecret)(a.app.Accounts.Setup(ctx, in.Body.Token, in.Body.Password))
		})
	add(a, op{method: http.MethodGet, path: "/v1/me", summary: "Who am I, and what may I do?", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, _ *struct{}) (wire.Me, error) {
			me := toMe(p)
			var err error
			if me.Tenant, err = a.app.Tenants.Owner(ctx, p, 0); crowd.CodeOf(err) == crowd.Invalid {
				err = nil // none, or several: it has to be named
			}
			return me, err
		})
	addAction(a, op{method: http.MethodPut, path: "/v1/me/password", summary: "Change your password", tag: tag, access: access.AccountsChangePassword,
		text: "Ends your other sessions, your tokens for programs, and one-time links; the session sent stays. Send a session: a token for programs cannot do it."},
		func(ctx context.Context, p *access.Principal, in *struct{ Body wire.NewPassword }) error {
			return a.app.Accounts.ChangePassword(ctx, p, accounts.Proof{Password: in.Body.Old}, in.Body.Password)
		})
	add(a, op{method: http.MethodGet, path: "/v1/me/address", summary: "See your e-mail address, and whether it is known to be yours", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, _ *struct{}) (wire.Address, error) {
			return as(toAddress)(a.app.Accounts.Address(ctx, p, p.User.ID))
		})
	addAction(a, op{method: http.MethodPut, path: "/v1/me/address", summary: "Change your e-mail address", tag: tag, access: access.AccountsChangeAddress,
		text: "A mail with a link goes to the new address, which is yours when you have followed it; until then you keep the one that you have. On a server that sends no mail, who may vouch for addresses vouches for their own. Whether somebody else has it makes no difference to the answer. Prove who you are by the password and the code of a second factor, of what you have of the two; who has neither has to have signed in within 15 minutes. Send a session: a token for programs cannot do it."},
		func(ctx context.Context, p *access.Principal, in *struct{ Body wire.NewAddress }) error {
			return a.app.Accounts.ChangeAddress(ctx, p, in.Body.Address, accounts.Proof{Password: in.Body.Password, Code: in.Body.Code})
		})
	addAction(a, op{method: http.MethodPost, path: "/v1/me/address/ask", summary: "Have the mail sent again that asks for your address", tag: tag, access: access.AccountsAskForAddress},
		func(ctx context.Context, p *access.Principal, _ *struct{}) error {
			return a.app.Accounts.AskForAddress(ctx, p, p.User.ID)
		})
	addAction(a, op{method: http.MethodPost, path: "/v1/me/address/confirm", summary: "Confirm that an address is yours, by the link in the mail", tag: tag, access: access.AccountsConfirmAddress,
		text: "A link works for the account that it was sent for only, once, for three days, and until a later mail has another one: else it is 404."},
		func(ctx context.Context, p *access.Principal, in *struct{ Body wire.AddressLink }) error {
			return a.app.Accounts.ConfirmAddress(ctx, p, in.Body.Token)
		})
	add(a, op{method: http.MethodGet, path: "/v1/users/{id}/address", summary: "See somebody's e-mail address, and whether it is known to be theirs", tag: tag, access: access.AccountsAddressOfOthers},
		of[UserPath](a.app.Accounts.Address, toAddress))
	addAction(a, op{method: http.MethodPost, path: "/v1/users/{id}/address/ask", summary: "Ask somebody at their address whether it is theirs", tag: tag, access: access.AccountsAskAddressOfOthers},
		func(ctx context.Context, p *access.Principal, in *UserPath) error {
			return a.app.Accounts.AskForAddress(ctx, p, in.id)
		})
	add(a, op{method: http.MethodGet, path: "/v1/sessions", summary: "List where you are signed in", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, _ *struct{}) ([]wire.Session, error) {
			return each(func(t store.Token) wire.Session {
				return wire.Session{ID: t.ID, Program: t.Name, Address: t.Address, Current: t.ID == p.Token.ID, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, UsedAt: t.UsedAt}
			})(a.app.Accounts.Sessions(ctx, p))
		})
	addAction(a, op{method: http.MethodDelete, path: "/v1/sessions/{id}", summary: "Sign out elsewhere: end a session of yours", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *struct {
			ID int64 `path:"id"`
		}) error {
			return a.app.Accounts.EndSession(ctx, p, in.ID)
		})
	addAction(a, op{method: http.MethodDelete, path: "/v1/sessions", summary: "Sign out everywhere: end all your sessions", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, _ *struct{}) error {
			return a.app.Accounts.EndSessions(ctx, p)
		})
	add(a, op{method: http.MethodGet, path: "/v1/me/second-factors", summary: "List your second factors", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, _ *struct{}) (wire.SecondFactors, error) {
			return as(toFactors)(a.app.Accounts.Factors(ctx, p, p.User.ID))
		})
	add(a, op{method: http.MethodGet, path: "/v1/users/{id}/second-factors", summary: "List somebody's second factors", tag: tag, access: access.AccountsFactorsOfOthers},
		func(ctx context.Context, p *access.Principal, in *UserPath) (wire.SecondFactors, error) {
			return as(toFactors)(a.app.Accounts.Factors(ctx, p, in.id))
		})
	addAction(a, op{method: http.MethodDelete, path: "/v1/users/{id}/second-factors", summary: "Take all second factors of somebody away", tag: tag, access: access.AccountsResetFactors,
		text: "For somebody who has lost them. It ends their sessions; tokens for programs stay. Your own you remove on the page of your account."},
		func(ctx context.Context, p *access.Principal, in *UserPath) error {
			return a.app.Accounts.ResetFactors(ctx, p, in.id)
		})
	add(a, op{method: http.MethodGet, path: "/v1/tokens", summary: "List your tokens", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, _ *struct{}) ([]wire.Token, error) {
			return each(toTokenOf)(a.app.Accounts.Tokens(ctx, p, 0))
		})
	add(a, op{method: http.MethodGet, path: "/v1/tokens/all", summary: "List the tokens of everybody, the newest first", tag: tag, access: access.AccountsAllTokens,
		text: "Go on with the last `id` as `before`. One is ended by `DELETE /v1/users/{id}/tokens/{token}`."},
		func(ctx context.Context, p *access.Principal, in *Latest) ([]wire.OwnedToken, error) {
			return each(func(t accounts.TokenOf) wire.OwnedToken {
				return wire.OwnedToken{Token: toTokenOf(t), Owner: t.User, OwnerName: t.Owner, CanRevoke: t.Yours, MadeBy: maker(t), MakerName: t.Maker}
			})(a.app.Accounts.AllTokens(ctx, p, 0, in.Before, in.Limit))
		})
	add(a, op{method: http.MethodGet, path: "/v1/users/{id}/tokens", summary: "List somebody's tokens", tag: tag, access: access.AccountsTokensOfOthers},
		func(ctx context.Context, p *access.Principal, in *UserPath) ([]wire.Token, error) {
			return each(toTokenOf)(a.app.Accounts.Tokens(ctx, p, in.id))
		})
	const withIt = "Tokens for programs, tokens of providers and unused one-time links that were made with it end as well, and what was made with those."
	add(a, op{method: http.MethodDelete, path: "/v1/users/{id}/tokens/{token}", summary: "Take a token of somebody's away", tag: tag, access: access.AccountsTokensOfOthers, text: withIt},
		func(ctx context.Context, p *access.Principal, in *struct {
			UserPath
			Token int64 `path:"token"`
		}) (wire.RevokedToken, error) {
			return as(toRevoked)(a.app.Accounts.RevokeToken(ctx, p, in.id, in.Token))
		})
	add(a, op{method: http.MethodPost, path: "/v1/tokens", summary: "Make a token for a program", tag: tag, access: access.AccountsCreateToken, secret: true, status: http.StatusCreated},
		func(ctx context.Context, p *access.Principal, in *struct{ Body wire.NewToken }) (wire.MadeToken, error) {
			b := &in.Body
			life, err := lifeOf(b.LifeSeconds, b.Forever)
			if err != nil {
				return wire.MadeToken{}, err
			}
			t, secret, err := a.app.Accounts.CreateToken(ctx, p, accounts.NewToken{Name: b.Name, Tenant: b.Tenant,
				Roles: lists.Map(b.Roles, func(r string) access.Role { return access.Role(r) }), Scopes: b.Scopes, Life: life, For: b.For, Networks: b.Networks})
			return wire.MadeToken{Token: toToken(t), Secret: secret}, err
		})
	add(a, op{method: http.MethodDelete, path: "/v1/tokens/{id}", summary: "Take a token of yours away", tag: tag, access: signedIn, text: withIt},
		func(ctx context.Context, p *access.Principal, in *struct {
			ID int64 `path:"id"`
		}) (wire.RevokedToken, error) {
			return as(toRevoked)(a.app.Accounts.RevokeToken(ctx, p, 0, in.ID))
		})
}
