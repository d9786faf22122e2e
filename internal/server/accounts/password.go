package accounts

import (
	"context"
	"slices"
	"strconv"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/store"
)

// ChangePassword gives p another password and ends what was made with the old one but
// the session with which p came: other sessions, tokens for programs, one-time links.
// A token for programs cannot do it, so that who has found one does not keep the account.
// What is shown is the old one, and the device of the browser.
func (s *Accounts) ChangePassword(ctx context.Context, p *access.Principal, shown Proof, password string) error {
	if p.Token.Kind == store.APIToken {
		return crowd.Errorf(crowd.Conflict, "a token for programs cannot change the password: sign in with the one that you have")
	}
	if err := auth.ValidPassword(password); err != nil {
		return err
	}
	u, err := s.byPassword(ctx, p, "old", &shown)
	if err != nil {
		return err
	}
	if shown.Password == password {
		return crowd.Fieldf("password", "is the one that you have: choose another")
	}
	hash, err := s.passwords.Hash(ctx, password)
	if err != nil {
		return err
	}
	s.people.Lock()
	defer s.people.Unlock()
	ctx, _ = s.acting(ctx, p, access.AccountsChangePassword, u.ID)
	return s.endAccess(ctx, p, store.Ending{Basis: store.Basis{Password: u.PasswordHash, Token: p.Token.ID}, Password: hash,
		Kinds: []store.TokenKind{store.SessionToken, store.APIToken, store.SetupToken}, But: p.Token.ID})
}

// byPassword returns p as they are now, if the password that they show is theirs, which counts as
// a guess. An error is about a field.
func (s *Accounts) byPassword(ctx context.Context, p *access.Principal, field string, shown *Proof) (store.User, error) {
	u, err := s.store.User(ctx, p.User.ID)
	if err != nil {
		return u, err
	}
	if u.PasswordHash == "" {
		return u, crowd.Errorf(crowd.Conflict, "you have no password: an administrator can give you a one-time link with which to choose one")
	}
	if len(shown.Password) > auth.MaxPassword*4 {
		return u, wrongPassword(field)
	}
	ok, err := s.checkGuess(ctx, &Credentials{Name: u.Name, Password: shown.Password, From: access.SenderOf(ctx).Address, Device: shown.Device}, &u)
	if err == nil && !ok {
		err = wrongPassword(field)
	}
	return u, err
}

func wrongPassword(field string) error {
	return crowd.Fieldf(field, "is not the password that you have")
}

// endAccess ends what e says of p's. Requests that wait end too.
func (s *Accounts) endAccess(ctx context.Context, p *access.Principal, e store.Ending) error {
	s.sessions.clear()
	defer s.sessions.clear() // what was read meanwhile may have ended
	e.User = p.User.ID
	if e.At.IsZero() {
		e.At = s.clock.Time()
	}
	if err := s.store.EndAccess(ctx, e); err != nil {
		return err
	}
	return s.leave(ctx, p, false)
}

// Sessions lists where p is signed in, the latest first. Who came with a limited token
// sees none.
func (s *Accounts) Sessions(ctx context.Context, p *access.Principal) ([]store.Token, error) {
	if p.Limited() {
		return nil, nil
	}
	list, err := s.store.ListTokens(ctx, p.User.ID)
	now := s.clock.Time()
	list = slices.DeleteFunc(list, func(t store.Token) bool { return t.Kind != store.SessionToken || expired(t, now) })
	slices.Reverse(list)
	return list, err
}

// EndSession signs p out where a session of theirs is.
func (s *Accounts) EndSession(ctx context.Context, p *access.Principal, id int64) error {
	list, err := s.Sessions(ctx, p)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(t store.Token) bool { return t.ID == id }) {
		return crowd.Errorf(crowd.NotFound, "you have no session %d", id)
	}
	ctx, act := p.Acting(ctx, access.AccountsEndSession, store.AuditEntry{At: s.clock.Time(), Kind: "session", Object: strconv.FormatInt(id, 10)})
	act.Before = list[slices.IndexFunc(list, func(t store.Token) bool { return t.ID == id })]
	if _, err := s.store.DeleteToken(ctx, p.User.ID, id); err != nil {
		return err
	}
	return s.leave(ctx, p, false)
}

// EndSessions signs p out everywhere, here too. Tokens for programs stay.
func (s *Accounts) EndSessions(ctx context.Context, p *access.Principal) error {
	if p.Limited() { // they are not for such a token to see
		return crowd.Errorf(crowd.Conflict, "a token with limits ends no sessions: sign in, or send a token without")
	}
	ctx, _ = s.acting(ctx, p, access.AccountsEndSessions, p.User.ID)
	return s.endAccess(ctx, p, store.Ending{Kinds: []store.TokenKind{store.SessionToken}})
}
