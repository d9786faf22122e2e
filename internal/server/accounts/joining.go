package accounts

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
)

// How an invitation's link reaches who is invited, which its signature is for. Who has one
// that was mailed has shown that the address is theirs; one that the inviter hands out may
// be anybody's, and so may one that an earlier version made.
const (
	handedOut = "invitation"
	mailed    = "mailed invitation"
)

// tokenOf is the token in an invitation's link: "inv", its id and the second
// when it expires, and the signature of these, of the address, and of how it goes out.
func tokenOf(secret, how string, i *store.Invitation) string {
	id, ends := strconv.FormatInt(i.ID, 10), strconv.FormatInt(i.ExpiresAt.Unix(), 10)
	return "inv." + id + "." + ends + "." + auth.Sign(secret, how, id, ends, strings.ToLower(i.Address))
}

// The errors about links. The first is for everybody; the others are only seen
// by those who have a link that was once good.
var (
	errForged = crowd.Errorf(crowd.NotFound, "this link is not valid; was all of it copied?")
	errEnded  = crowd.Errorf(crowd.Conflict, "this invitation has expired; ask whoever invited you to send it again")
	errGone   = crowd.Errorf(crowd.Conflict, "this invitation was withdrawn")
	errUsed   = crowd.Errorf(crowd.Conflict, "this invitation was accepted already: sign in with the account that was made")
	errClosed = crowd.Errorf(crowd.Conflict, "this invitation is to a pool to which requesters do not invite any more; ask whoever invited you")
	errStaff  = crowd.Errorf(crowd.Conflict, "you are an administrator or a requester with this account, and cannot become a worker with it: sign out, and join with an account of its own, invited by another address")
	errFull   = crowd.Errorf(crowd.Conflict, "this invitation cannot be accepted at the moment; ask whoever invited you, and try again later")
	errRefuse = crowd.Errorf(crowd.Conflict, "this invitation was declined; ask whoever invited you for a new one")
)

// MayJoin returns why somebody cannot become a worker by an invitation: who invites could
// let themselves do other tenants' tasks. An administrator can make them one.
func MayJoin(u *store.User) error {
	if u.IsStaff() && u.Pool == 0 {
		return errStaff
	}
	return nil
}

// linked returns the open invitation of a link.
func (s *Invitations) linked(ctx context.Context, token string) (store.Invitation, error) {
	i, _, err := s.linkedHow(ctx, token)
	return i, err
}

// linkedHow is linked, and says how the link went out.
func (s *Invitations) linkedHow(ctx context.Context, token string) (i store.Invitation, how string, err error) {
	parts := strings.Split(token, ".")
	if len(token) > 200 || len(parts) != 4 || parts[0] != "inv" {
		return i, "", errForged
	}
	id, err1 := strconv.ParseInt(parts[1], 10, 64)
	ends, err2 := strconv.ParseInt(parts[2], 10, 64)
	if err1 != nil || err2 != nil {
		return i, "", errForged
	}
	secret, err := s.inviteSecret(ctx)
	if err != nil {
		return i, "", err
	}
	found, err := s.store.Invitation(ctx, 0, id)
	if err != nil && crowd.CodeOf(err) != crowd.NotFound {
		return i, "", err
	}
	// Of an invitation that is not there the signature is checked all the same.
	for _, way := range []string{handedOut, mailed} {
		if auth.Signed(secret, parts[3], way, parts[1], parts[2], strings.ToLower(found.Address)) {
			how = way
		}
	}
	if how == "" || err != nil {
		return i, "", errForged
	}
	i = found
	switch i.State {
	case store.InvitationAccepted:
		return i, how, errUsed
	case store.InvitationDeclined:
		return i, how, errRefuse
	case store.InvitationWithdrawn:
		return i, how, errGone
	}
	if !s.clock.Time().Before(time.Unix(ends, 0)) || !s.clock.Time().Before(i.ExpiresAt) {
		return i, how, errEnded
	}
	closed, err := s.accounts.closed(ctx, &i)
	if err == nil && closed {
		err = errClosed
	}
	return i, how, err
}

// Offer is an invitation as the invited person sees it.
type Offer struct {
	store.Invitation
	Pool   store.Pool
	Tenant string // for which they are invited, or ""
	By     string // the inviter's name
	Test   *store.Test
	// Asks lists the pools to which people of the pool are moved, itself among them, so
	// that who joins is asked which work they like; nil: they stay, and are called whatever
	// they like.
	Asks []store.Pool
}

// Open shows an invitation to whoever has its link, and keeps that it was opened.
func (s *Invitations) Open(ctx context.Context, token string) (Offer, error) {
	i, err := s.linked(ctx, token)
	if err != nil {
		return Offer{}, err
	}
	o := Offer{Invitation: i}
	if asks := s.live.ReachableBy(&store.User{Pool: i.Pool, Serves: serving(&store.User{}, &i)}); recruit.LikingCounts(asks) {
		o.Asks = asks
	}
	o.Pool, _ = s.live.Settings(i.Pool)
	if i.Tenant != 0 {
		t, err := s.store.Tenant(ctx, i.Tenant)
		if err != nil {
			return Offer{}, err
		}
		o.Tenant = t.Name
	}
	by, err := s.store.User(ctx, i.InvitedBy)
	if err != nil {
		return Offer{}, err
	}
	o.By = cmp.Or(by.FullName, by.Name)
	if o.Test, err = s.testOf(ctx, &i); err != nil {
		return Offer{}, err
	}
	if i.OpenedAt.IsZero() {
		i.OpenedAt = s.clock.Time()
		if err := s.store.UpdateInvitation(ctx, i, nil, i.OpenedAt); err != nil && crowd.CodeOf(err) != crowd.Conflict {
			return Offer{}, err
		}
	}
	return o, nil
}

// testOf returns the test that has to be passed first, or nil.
func (s *Invitations) testOf(ctx context.Context, i *store.Invitation) (*store.Test, error) {
	if i.Test == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	t, err := s.store.Test(ctx, 0, i.Test)
	return &t, err
}

// NewAccount is what somebody who is invited chooses.
type NewAccount struct {
	Name     string // to sign in with
	FullName string
	Password string
	Prefers  map[crowd.PoolID]float64 // how much they like each pool's work; may be nil
}

// Join accepts an invitation with a new account, and signs in. Who has to pass
// a test first works in the pool from then on; everybody else at once.
func (s *Invitations) Join(ctx context.Context, token string, n NewAccount) (session string, err error) {
	i, how, err := s.linkedHow(ctx, token)
	if err != nil {
		return "", err
	}
	now := s.clock.Time()
	if ok, enough := s.trials.Take(now, limits.Portion[int64]{Key: i.ID, N: 1, Limit: limits.Limit{Burst: attemptBurst, Every: attemptEvery}}); !ok {
		left := (enough.Sub(now) + time.Second - 1).Truncate(time.Second)
		return "", crowd.Errorf(crowd.TooMany, "too many tries with this invitation; try again in %s", left).After(left)
	}
	u := store.User{Name: strings.TrimSpace(n.Name), FullName: strings.TrimSpace(n.FullName), Email: i.Address, EmailVerified: how == mailed, CreatedAt: s.clock.Time()}
	u.Serves = serving(&u, &i)
	var wrong crowd.Errors
	for _, err := range []error{s.accounts.validUser(ctx, store.User{}, &u), ownName(&u), s.accounts.validPrefers(nil, &store.User{Pool: i.Pool, Prefers: n.Prefers, Serves: u.Serves}), auth.ValidPassword(n.Password)} {
		if e, ok := err.(*crowd.Error); ok { //nolint:errorlint // as those make it
			wrong = append(wrong, e)
		} else if err != nil {
			return "", err
		}
	}
	if len(wrong) > 0 {
		return "", wrong
	}
	u.Prefers = n.Prefers
	if u.PasswordHash, err = s.accounts.passwords.Hash(ctx, n.Password); err != nil {
		return "", err
	}
	s.accounts.people.Lock()
	defer s.accounts.people.Unlock()
	if how == mailed { // who was handed the link may not have the address, which is not theirs then either
		others, err := s.store.UsersByEmail(ctx, i.Address)
		if err != nil {
			return "", err
		}
		if len(others) > 0 {
			return "", crowd.Errorf(crowd.Conflict, "there is an account with your address already: sign in with it, and accept then")
		}
	}
	ctx, _ = s.acting(ctx, &access.Principal{}, access.InvitationsJoin, i)
	if u, err = s.accept(ctx, i, u); err != nil {
		return "", err
	}
	t := s.accounts.sessionOf(ctx, &u, now)
	return s.accounts.issue(ctx, &t, sessionPrefix)
}

// Accept accepts an invitation with the account that p has. What they say of the
// pools that they prefer is added to what they have said.
func (s *Invitations) Accept(ctx context.Context, p *access.Principal, token string, prefers map[crowd.PoolID]float64) (store.User, error) {
	if err := p.May(access.InvitationsAccept); err != nil {
		return store.User{}, err
	}
	i, how, err := s.linkedHow(ctx, token)
	if err != nil {
		return store.User{}, err
	}
	s.accounts.people.Lock()
	defer s.accounts.people.Unlock()
	u, err := s.store.User(ctx, p.User.ID)
	if err != nil {
		return u, err
	}
	if err := MayJoin(&u); err != nil {
		return u, err
	}
	if u.Pool != 0 && u.Pool != i.Pool {
		at, _ := s.live.Settings(u.Pool)
		return u, crowd.Errorf(crowd.Conflict, "you work in another pool, %s, and can be in one only; ask an administrator to move you first", at.Name)
	}
	u.Serves = serving(&u, &i)
	if how == mailed && format.SameAddress(u.Email, i.Address) {
		u.EmailVerified, u.EmailBy = true, ""
	}
	if len(prefers) > 0 {
		said := u.Prefers
		u.Prefers = maps.Clone(prefers)
		for id, x := range said {
			if _, again := prefers[id]; !again {
				u.Prefers[id] = x
			}
		}
		would := u
		would.Pool = i.Pool
		if err := s.accounts.validPrefers(said, &would); err != nil {
			return u, err
		}
	}
	ctx, _ = s.acting(ctx, p, access.InvitationsAccept, i)
	return s.accept(ctx, i, u)
}

// serving returns whom somebody serves who accepts an invitation: User.Serves. A tenant
// brings people for itself; who serves every tenant already goes on to, and so does
// whoever is invited for no tenant.
func serving(u *store.User, i *store.Invitation) []crowd.TenantID {
	if i.Tenant == 0 || u.Pool != 0 && len(u.Serves) == 0 {
		return nil
	}
	list := append(slices.Clone(u.Serves), i.Tenant)
	slices.Sort(list)
	return slices.Compact(list)
}

// acting is for a change of an invitation, as it was before.
func (s *Invitations) acting(ctx context.Context, p *access.Principal, o access.Operation, before store.Invitation) (context.Context, *store.Act) {
	ctx, act := p.Acting(ctx, o, store.AuditEntry{At: s.clock.Time(), Tenant: before.Tenant, Kind: "invitation", Object: strconv.FormatInt(before.ID, 10)})
	act.Before, act.After = before, before
	return ctx, act
}

// invitedBy is what the audit log says of invitations.
func invitedBy(n *NewInvitations, list []store.Invitation) any {
	return struct {
		Pool      crowd.PoolID
		Test      int64
		People    int
		Addresses string
	}{n.Pool, n.Test, len(list), strings.Join(lists.Map(list, func(i store.Invitation) string { return i.Address }), " ")}
}

// accept keeps that u has accepted, and lets them work unless a test comes first.
func (s *Invitations) accept(ctx context.Context, i store.Invitation, u store.User) (store.User, error) {
	test, err := s.testOf(ctx, &i)
	if err != nil {
		return u, err
	}
	comes := u.Pool == 0 && qualified(&u, test)
	if comes {
		u.Pool = i.Pool
	}
	if i.AnsweredAt = s.clock.Time(); i.OpenedAt.IsZero() {
		i.OpenedAt = i.AnsweredAt
	}
	accepted := i
	accepted.State, accepted.Worker = store.InvitationAccepted, u.ID
	store.Tell(ctx, "invitation", i, accepted)
	var a *store.Asking
	if u.ID == 0 {
		a = s.accounts.askNew(&u, "invitation "+strconv.FormatInt(i.ID, 10))
	}
	if u.ID, err = s.store.AcceptInvitation(ctx, i, u, a); crowd.CodeOf(err) == crowd.QuotaExceeded {
		return u, errFull // what the tenant has is not theirs to know
	} else if err != nil {
		return u, err
	}
	if a != nil {
		s.outbox.Wake()
	}
	s.accounts.sessions.clear()
	if u.Pool == 0 {
		return u, nil
	}
	return u, s.accounts.tellPool(u, comes)
}

// Decline keeps that the invited person does not come.
func (s *Invitations) Decline(ctx context.Context, token string) error {
	i, err := s.linked(ctx, token)
	if err != nil {
		return err
	}
	ctx, act := s.acting(ctx, &access.Principal{}, access.InvitationsDecline, i)
	if i.State, i.AnsweredAt = store.InvitationDeclined, s.clock.Time(); i.OpenedAt.IsZero() {
		i.OpenedAt = i.AnsweredAt
	}
	act.After = i
	return s.store.UpdateInvitation(ctx, i, nil, i.AnsweredAt)
}
