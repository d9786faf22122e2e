package oidc

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/auth"
)

const (
	timeout    = 5 * time.Second  // of each request to a provider
	retryAfter = 5 * time.Second  // when it has not answered
	FlowLife   = 10 * time.Minute // of a sign-in that was begun
	skew       = time.Minute      // by which a provider's clock may be wrong
	maxAnswer  = 1 << 20          // of a provider
	maxFlow    = 2000             // of what a browser keeps of a sign-in
)

// algorithms are those with a key that only the provider has: not none, and no shared
// secret.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA}

// Provider is where people have accounts.
type Provider struct {
	Settings
	now    func() time.Time
	log    *slog.Logger
	client *http.Client

	mu     sync.Mutex
	found  *oidc.Provider // nil: not yet
	failed time.Time      // when it was last looked for in vain
}

// New makes a provider. Nothing is asked of it before somebody signs in.
func New(s Settings, now func() time.Time, log *slog.Logger) *Provider {
	return &Provider{Settings: s, now: now, log: log, client: &http.Client{Timeout: timeout, Transport: bounded{}}}
}

// bounded reads only so much of an answer.
type bounded struct{}

func (bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	}
	return resp, err
}

// down is the error when a provider does not answer as it should. What exactly is wrong
// is in the log.
func (p *Provider) down(err error) *crowd.Error {
	p.log.Warn("a provider does not answer as it should", "provider", p.Name, "err", err)
	return crowd.Errorf(crowd.Unavailable, "%s does not answer: try again in a moment, or sign in with a password", p.Button)
}

// discover returns what the provider says of itself, which is asked once.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	if left := p.failed.Add(retryAfter).Sub(p.now()); left > 0 {
		return nil, p.down(errors.New("it did not answer a moment ago")).After(left)
	}
	// The keys are fetched later with the client of this context.
	found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client), p.Issuer)
	if err != nil {
		p.failed = p.now()
		return nil, p.down(err).After(retryAfter)
	}
	p.found = found
	return found, nil
}

func (p *Provider) config(found *oidc.Provider, redirect string) *oauth2.Config {
	return &oauth2.Config{ClientID: p.ClientID, ClientSecret: p.Secret, Endpoint: found.Endpoint(), RedirectURL: redirect,
		Scopes: append([]string{oidc.ScopeOpenID, "profile", "email"}, p.Scopes...)}
}

// flow is what a browser keeps between the beginning and the end of a sign-in.
type flow struct {
	State, Nonce, Verifier, Redirect, Next string
	Begun                                  int64 // Unix time in µs
	Until                                  int64 // in s
}

// Begin returns the address at the provider where somebody signs in, and what their
// browser keeps until they come back to redirect, signed with a secret.
func (p *Provider) Begin(ctx context.Context, secret, redirect, next string) (address, kept string, err error) {
	found, err := p.discover(ctx)
	if err != nil {
		return "", "", err
	}
	f := flow{State: auth.NewSecret("st"), Nonce: auth.NewSecret("no"), Verifier: oauth2.GenerateVerifier(), Redirect: redirect, Next: next, Begun: p.now().UnixMicro(), Until: p.now().Add(FlowLife).Unix()}
	raw, err := json.Marshal(f)
	if err != nil {
		return "", "", err
	}
	text := base64.RawURLEncoding.EncodeToString(raw)
	if kept = text + "." + auth.Sign(secret, "oidc", p.Name, text); len(kept) > maxFlow {
		return "", "", crowd.Fieldf("next", "is too long")
	}
	return p.config(found, redirect).AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), kept, nil
}

// Identity is who somebody is at a provider.
type Identity struct {
	Issuer, Subject string
	ExternalID      string // by which it provisions them; "": not told
	Name, FullName  string
	Email           string // only if the provider has verified it
	Groups          []string
}

var errFlow = crowd.Errorf(crowd.Unauthenticated, "this sign-in was begun in another browser, too long ago, or is over already: begin it again")

// Flow checks what a browser has kept, and returns what names the sign-in, which can be
// used once, and when it was begun.
func (p *Provider) Flow(secret, kept, state string) (name string, begun time.Time, err error) {
	f, err := p.flow(secret, kept, state)
	return f.State, time.UnixMicro(f.Begun).UTC(), err
}

func (p *Provider) flow(secret, kept, state string) (f flow, err error) {
	text, signature, _ := strings.Cut(kept, ".")
	if len(kept) > maxFlow || !auth.Signed(secret, signature, "oidc", p.Name, text) {
		return f, errFlow
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return f, errFlow
	}
	if err := json.Unmarshal(raw, &f); err != nil || f.State != state || p.now().Unix() >= f.Until {
		return f, errFlow
	}
	return f, nil
}

// Finish exchanges the code with which somebody came back for who they are, and returns
// where they wanted to go.
func (p *Provider) Finish(ctx context.Context, secret, kept, state, code string) (who Identity, next string, err error) {
	f, err := p.flow(secret, kept, state)
	if err != nil {
		return who, "", err
	}
	found, err := p.discover(ctx)
	if err != nil {
		return who, "", err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := p.config(found, f.Redirect).Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if refused := (*oauth2.RetrieveError)(nil); errors.As(err, &refused) && refused.Response.StatusCode < 500 {
		return who, "", p.refuse(fmt.Errorf("the code was refused: %s", refused.ErrorCode))
	}
	if err != nil {
		return who, "", p.down(err)
	}
	raw, _ := token.Extra("id_token").(string)
	who, err = p.verify(ctx, found, token, raw, f.Nonce)
	return who, f.Next, err
}

// refuse is the error about an answer that proves nothing. What exactly is wrong with it
// is in the log.
func (p *Provider) refuse(err error) error {
	p.log.Warn("a sign-in by a provider was refused", "provider", p.Name, "err", err)
	return crowd.Errorf(crowd.Unauthenticated, "%s has not confirmed who you are: begin again, or sign in with a password", p.Button)
}

// verify checks an ID token and returns whom it is about.
func (p *Provider) verify(ctx context.Context, found *oidc.Provider, access *oauth2.Token, raw, nonce string) (who Identity, err error) {
	token, err := found.VerifierContext(ctx, &oidc.Config{ClientID: p.ClientID, SupportedSigningAlgs: algorithms, SkipExpiryCheck: true}).Verify(ctx, raw)
	if err != nil {
		return who, p.refuse(err)
	}
	var claims struct {
		Party     string  `json:"azp"`
		NotBefore float64 `json:"nbf"`
		about
	}
	all := map[string]json.RawMessage{}
	if err := errors.Join(token.Claims(&claims), token.Claims(&all)); err != nil {
		return who, p.refuse(err)
	}
	now := p.now()
	switch early := now.Add(skew); {
	case token.Nonce == "" || token.Nonce != nonce:
		return who, p.refuse(errors.New("the nonce is another one"))
	case token.Subject == "" || len(token.Subject) > 255:
		return who, p.refuse(errors.New("no usable subject"))
	case !token.Expiry.After(now.Add(-skew)):
		return who, p.refuse(fmt.Errorf("the token has expired at %s", token.Expiry))
	case token.IssuedAt.After(early) || time.Unix(int64(claims.NotBefore), 0).After(early):
		return who, p.refuse(errors.New("the token is from the future"))
	case claims.Party != "" && claims.Party != p.ClientID, claims.Party == "" && len(token.Audience) > 1:
		return who, p.refuse(fmt.Errorf("the token is for %q (azp %q)", token.Audience, claims.Party))
	}
	if all[p.Claim] == nil && found.UserInfoEndpoint() != "" { // some tell more only when they are asked
		info, err := found.UserInfo(ctx, oauth2.StaticTokenSource(access))
		if err != nil {
			return who, p.down(err)
		}
		if info.Subject != token.Subject {
			return who, p.refuse(errors.New("what is told is about somebody else"))
		}
		var told about
		if err := errors.Join(info.Claims(&told), info.Claims(&all)); err != nil {
			return who, p.refuse(err)
		}
		claims.about = told.over(claims.about)
	}
	who = Identity{Issuer: token.Issuer, Subject: token.Subject, Name: claims.Name, FullName: claims.FullName}
	if claims.verified() {
		who.Email = claims.Email
	}
	if err := json.Unmarshal(all[cmp.Or(p.ExternalID, "sub")], &who.ExternalID); err != nil {
		who.ExternalID = "" // it is not there, or no text
	}
	who.Groups = namesOf(all[p.Claim])
	return who, nil
}

// about is what one document says of somebody.
type about struct {
	Name     string `json:"preferred_username"`
	FullName string `json:"name"`
	Email    string `json:"email"`
	Verified any    `json:"email_verified"` // some send text
}

func (a *about) verified() bool { return a.Verified == true || a.Verified == "true" }

// over returns what is said of somebody of whom a document said this, and an earlier one what
// is before. Whether an address is verified counts of the address of the same document only.
func (a about) over(before about) about {
	if a.Email == "" || a.Verified == nil && format.SameAddress(a.Email, before.Email) {
		a.Email, a.Verified = before.Email, before.Verified
	}
	a.Name, a.FullName = cmp.Or(a.Name, before.Name), cmp.Or(a.FullName, before.FullName)
	return a
}

// namesOf reads a list of names, or one.
func namesOf(raw json.RawMessage) (list []string) {
	var one string
	if json.Unmarshal(raw, &list) != nil && json.Unmarshal(raw, &one) == nil {
		list = []string{one}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
