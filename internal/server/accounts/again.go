package accounts

import (
	"context"
	"io"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
)

// Again returns p, who came with a session or a token for programs, as they are now. It is for
// a request whose sender was authenticated before its body came, which may take as long as they
// like. While nobody has changed since, it compares two numbers.
func (s *Accounts) Again(ctx context.Context, p *access.Principal) (*access.Principal, error) {
	if p.AsOf == s.sessions.clears.Load() && !expired(p.Token, s.clock.Time()) {
		return p, nil
	}
	return s.authenticateHash(ctx, p.Token.Hash, access.SenderOf(ctx).Address)
}

// asNow returns p with the rights that they have now, who may have got or lost some since they
// were authenticated. The caller holds people, so that nobody gets or loses any until what they
// make with these is kept.
func (s *Accounts) asNow(ctx context.Context, p *access.Principal) (*access.Principal, error) {
	now := *p
	var err error
	if now.User, err = s.store.User(ctx, p.User.ID); err != nil {
		return p, err
	}
	if now.Custom, err = s.custom(ctx, &now.User); err != nil {
		return p, err
	}
	now.Outside = now.Outside || now.User.RunsInstallation() && !within(s.adminFrom, access.SenderOf(ctx).Address)
	return &now, nil
}

var errLess = crowd.Errorf(crowd.Forbidden, "what you may do has become less while this was being sent, so it was not done")

// Sent returns the body of a request of p that is carried out while it comes. Reading it fails
// from when p is no longer who they were, or may do less: what was read by then is not the
// whole of it, and is not kept.
func (s *Accounts) Sent(ctx context.Context, p *access.Principal, body io.ReadCloser) io.ReadCloser {
	return &sentBody{ReadCloser: body, ctx: ctx, accounts: s, began: p, now: p}
}

type sentBody struct {
	io.ReadCloser
	ctx        context.Context // of the request
	accounts   *Accounts
	began, now *access.Principal
	refused    error
}

// Read implements io.Reader.
func (b *sentBody) Read(p []byte) (int, error) {
	if b.refused != nil {
		return 0, b.refused
	}
	n, err := b.ReadCloser.Read(p)
	now, refused := b.accounts.Again(b.ctx, b.now)
	if refused == nil && now != b.now && !now.MayAll(b.began) {
		refused = errLess
	}
	if refused != nil {
		b.refused = refused
		return 0, refused
	}
	b.now = now
	return n, err
}
