package app

import (
	"cmp"
	"context"
	"fmt"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/store"
)

// The limits of inviting.
const (
	MaxInvitations   = 10_000              // addresses at once
	DefaultInviteFor = 14 * 24 * time.Hour // how long a link works
	MaxInviteFor     = 30 * 24 * time.Hour // not longer than what became of its mail is kept
	MaxNote          = 2000                // bytes of a note to the invited
	maxAddress       = 254                 // bytes; RFC 5321, 4.5.3.1.3

	mailsPerHour = 10_000 // invitations that one tenant sends, resent ones included
	mailsApart   = 250 * time.Millisecond
	inviteChunk  = 500 // invitations kept in one transaction
)

// invitationSecret names the secret with which links are signed.
const invitationSecret = "invitations"

// quota bounds how often something is done under one key: burst times at once,
// then once in every. Like attempts, it starts anew with the process.
type quota[K comparable] struct {
	mu   sync.Mutex
	list map[K]allowance
}

// take uses n of a key up, or returns false and when there will be enough.
func (q *quota[K]) take(key K, n, burst int, every time.Duration, now time.Time) (ok bool, enough time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.list == nil || len(q.list) >= maxNames {
		q.list = make(map[K]allowance)
	}
	x, found := q.list[key]
	if !found {
		x = allowance{left: float64(burst), asOf: now}
	}
	left := min(float64(burst), x.left+float64(now.Sub(x.asOf))/float64(every))
	if left < float64(n) {
		return false, now.Add(time.Duration((float64(n) - left) * float64(every)))
	}
	q.list[key] = allowance{left: left - float64(n), asOf: now}
	return true, time.Time{}
}

// inviting is what inviting keeps in memory.
type inviting struct {
	mails  quota[crowd.TenantID]
	trials quota[int64] // accounts that could not be made, by invitation
}

// NewInvitations is what is needed to invite people.
type NewInvitations struct {
	Tenant    crowd.TenantID // for which a requester invites; admins may leave it out
	Pool      crowd.PoolID
	Test      int64 // to be passed first; 0: none
	Addresses []string
	Lines     []int         // of the addresses in the text that they come from; nil: their places in the list, from 1
	Note      string        // to the invited
	Life      time.Duration // of the links; 0: DefaultInviteFor
}

// line returns where the i-th address stands.
func (n *NewInvitations) line(i int) int {
	if i < len(n.Lines) {
		return n.Lines[i]
	}
	return i + 1
}

// InvitationView is an invitation as it is shown to who invites.
type InvitationView struct {
	store.Invitation
	Stage InvitationStage
	Token string // of the link …/invitation?token=THIS: when it was made just now, and no mail carries it
}

// SkippedAddress is an address that was not invited.
type SkippedAddress struct {
	Address string
	Line    int // where it stands, from 1
	Why     string
}

// InviteReport says what became of a list of addresses.
type InviteReport struct {
	Mail    bool // mails are sent; otherwise the inviter hands the links out
	Invited []InvitationView
	Skipped []SkippedAddress
}

// SplitAddresses takes a text with addresses apart: one a line, or several
// divided by commas, semicolons or spaces. lines has the line of each.
func SplitAddresses(text string) (addresses []string, lines []int) {
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		n++
		for _, a := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;", r) }) {
			addresses, lines = append(addresses, a), append(lines, n)
		}
	}
	return addresses, lines
}

// Invite invites people by their e-mail addresses to become workers of a pool.
// Admins invite to any pool; requesters for a tenant of theirs. Whoever is
// invited already, or (as far as an admin asks) works there, is skipped. If an
// address is malformed, nobody is invited, and every such line is named.
func (s *Invitations) Invite(ctx context.Context, p *Principal, n NewInvitations) (InviteReport, error) {
	report := InviteReport{Mail: s.canMail()}
	pool, test, err := s.validInvitations(ctx, p, &n)
	if err != nil {
		return report, err
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	now := s.time()
	var list []store.Invitation
	seen := make(map[string]bool, len(n.Addresses))
	for i, address := range n.Addresses {
		why := "stands there twice"
		if key := strings.ToLower(address); !seen[key] {
			seen[key] = true
			if why, err = s.needless(ctx, p, now, &n, test, address); err != nil {
				return report, err
			}
		}
		if why != "" {
			report.Skipped = append(report.Skipped, SkippedAddress{Address: address, Line: n.line(i), Why: why})
			continue
		}
		list = append(list, store.Invitation{Tenant: n.Tenant, Pool: n.Pool, Test: n.Test, Address: address, Note: n.Note, InvitedBy: p.User.ID,
			CreatedAt: now, ExpiresAt: now.Add(n.Life), State: store.InvitationOpen})
	}
	if err := s.mayMail(n.Tenant, len(list), now); err != nil {
		return report, err
	}
	secret, err := s.inviteSecret(ctx)
	if err != nil {
		return report, err
	}
	letter := letter{s: s.service, secret: secret, pool: pool, test: test, by: inviterName(p), now: now}
	for chunk := range slices.Chunk(list, inviteChunk) {
		var write func(store.Invitation) store.Message
		if report.Mail {
			write = letter.write
		}
		made, err := s.store.CreateInvitations(context.WithoutCancel(ctx), chunk, write)
		if err != nil {
			return report, err
		}
		for _, i := range made {
			report.Invited = append(report.Invited, s.invited(secret, i))
		}
	}
	if report.Mail {
		s.wakeOutbox()
	}
	return report, nil
}

// validInvitations checks all but whom it makes sense to invite.
func (s *service) validInvitations(ctx context.Context, p *Principal, n *NewInvitations) (pool store.Pool, test *store.Test, err error) {
	if n.Tenant == 0 {
		err = p.need(Admin)
	} else if err = p.forTenant(n.Tenant); err == nil {
		_, err = s.store.Tenant(ctx, n.Tenant)
	}
	if err != nil {
		return pool, nil, err
	}
	pool, found := s.pool(n.Pool)
	n.Note, n.Life = strings.TrimSpace(n.Note), cmp.Or(n.Life, DefaultInviteFor)
	switch {
	case !found:
		return pool, nil, crowd.Fieldf("pool", "no such pool")
	case len(n.Note) > MaxNote:
		return pool, nil, crowd.Fieldf("note", "has %d bytes, at most %d are allowed", len(n.Note), MaxNote)
	case n.Life < time.Hour || n.Life > MaxInviteFor:
		return pool, nil, crowd.Fieldf("life", "%s is not between an hour and 30 days", n.Life)
	case len(n.Addresses) == 0:
		return pool, nil, crowd.Fieldf("addresses", "name at least one e-mail address")
	case len(n.Addresses) > MaxInvitations:
		return pool, nil, &crowd.Error{Code: crowd.TooLarge, Field: "addresses", Message: fmt.Sprintf("%d are too many at once (at most %d)", len(n.Addresses), MaxInvitations)}
	}
	if n.Test != 0 {
		t, err := s.store.Test(ctx, 0, n.Test)
		switch {
		case err != nil && crowd.CodeOf(err) != crowd.NotFound:
			return pool, nil, err
		case err != nil || t.Tenant != 0 && t.Tenant != n.Tenant && !p.Is(Admin):
			return pool, nil, crowd.Fieldf("test", "no such test")
		case t.Retired:
			return pool, nil, crowd.Fieldf("test", "%s is retired", t.Name)
		}
		test = &t
	}
	var wrong Problems
	for i, a := range n.Addresses {
		if err := ValidAddress(a); err != nil && len(wrong) < maxProblems {
			wrong = append(wrong, &crowd.Error{Code: crowd.Invalid, Field: "addresses", Row: n.line(i), Message: err.Error()})
		}
	}
	if len(wrong) > 0 {
		return pool, nil, wrong
	}
	return pool, test, nil
}

// ValidAddress says what is wrong with an e-mail address, or returns nil.
func ValidAddress(text string) error {
	if len(text) > maxAddress {
		return crowd.Errorf(crowd.Invalid, "has %d bytes, an e-mail address at most %d", len(text), maxAddress)
	}
	a, err := mail.ParseAddress(text)
	if err != nil || a.Address != text || strings.ContainsAny(text, "\"<>()[] ") {
		return crowd.Errorf(crowd.Invalid, "%q is not an e-mail address (like ann@example.org)", text)
	}
	return nil
}

// needless says why an address need not be invited, or "".
func (s *service) needless(ctx context.Context, p *Principal, now time.Time, n *NewInvitations, test *store.Test, address string) (why string, err error) {
	tenant := n.Tenant
	if p.Is(Admin) {
		tenant = 0 // who has invited whom is no secret to him
	}
	list, err := s.store.InvitationsTo(ctx, tenant, address)
	if err != nil {
		return "", err
	}
	for _, i := range list {
		if i.State == store.InvitationOpen && now.Before(i.ExpiresAt) && i.Pool == n.Pool && i.Test == n.Test {
			return fmt.Sprintf("is invited already (invitation %d)", i.ID), nil
		}
	}
	if !p.Is(Admin) {
		return "", nil // who has an account is not for everybody to know
	}
	users, err := s.store.UsersByEmail(ctx, address)
	if err != nil {
		return "", err
	}
	for _, u := range users {
		if u.Pool == n.Pool && qualified(&u, test) {
			return u.Name + " works in this pool already", nil
		}
	}
	return "", nil
}

// qualified says whether somebody holds what a test grants, or there is none.
func qualified(u *store.User, t *store.Test) bool {
	if t == nil {
		return true
	}
	score, holds := u.Qualifications[t.Grants]
	return holds && score >= t.PassMark
}

// mayMail uses up some of the mails that a tenant may send, whether there is a
// mail server or not.
func (s *service) mayMail(tenant crowd.TenantID, n int, now time.Time) error {
	if ok, enough := s.inviting.mails.take(tenant, n, mailsPerHour, time.Hour/mailsPerHour, now); !ok {
		return crowd.Errorf(crowd.TooMany, "at most %d people are invited in an hour; %d more can be after %s", mailsPerHour, n, clockTime(now, enough))
	}
	return nil
}

func inviterName(p *Principal) string { return cmp.Or(p.User.FullName, p.User.Name) }

// letter writes the mails of invitations.
type letter struct {
	s      *service
	secret string
	pool   store.Pool
	test   *store.Test
	by     string
	now    time.Time
	n      int // written so far: what is urgent must not wait behind thousands of them
}

func (l *letter) write(i store.Invitation) store.Message {
	body := fmt.Sprintf("%s invites you to do tasks in %s.", l.by, l.pool.Name)
	if l.test != nil {
		body += fmt.Sprintf(" First there is a test of %d questions, %s.", l.test.Draw, l.test.Name)
	}
	if i.Note != "" {
		body += "\n\n" + i.Note
	}
	body += fmt.Sprintf("\n\nThe page behind this link says what it is about; there you accept or decline. The link is yours alone, makes one account, and works until %s.",
		i.ExpiresAt.UTC().Format("2 January 2006, 15:04 UTC"))
	next := l.now.Add(time.Duration(l.n) * mailsApart)
	l.n++
	return store.Message{
		Worker: i.InvitedBy, Invitation: i.ID, Channel: store.Mail, Target: i.Address, Subject: "An invitation to work: " + l.pool.Name, Body: body,
		Link: "/invitation?token=" + tokenOf(l.secret, &i), State: store.MessageQueued, CreatedAt: l.now, NextAt: next, UselessAt: i.ExpiresAt,
	}
}

// invited is an invitation that was just made, or sent again, with the token of
// the link if no mail carries it.
func (s *service) invited(secret string, i store.Invitation) InvitationView {
	out := s.viewOf(i)
	if !s.canMail() {
		out.Token = tokenOf(secret, &i)
	}
	return out
}

// inviteSecret is what links are signed with.
func (s *service) inviteSecret(ctx context.Context) (string, error) {
	return s.store.Secret(ctx, invitationSecret, auth.NewSecret("invitations"))
}

// tokenOf is the token in an invitation's link: "inv", its id and the second
// when it expires, and the signature of these and of the address.
func tokenOf(secret string, i *store.Invitation) string {
	id, ends := strconv.FormatInt(i.ID, 10), strconv.FormatInt(i.ExpiresAt.Unix(), 10)
	return "inv." + id + "." + ends + "." + auth.Sign(secret, "invitation", id, ends, strings.ToLower(i.Address))
}

// The errors about links. The first is for everybody; the others are only seen
// by who has a link that was once good.
var (
	errForged = crowd.Errorf(crowd.NotFound, "this link is not valid; was all of it copied?")
	errEnded  = crowd.Errorf(crowd.Conflict, "this invitation has expired; ask whoever invited you to send it again")
	errGone   = crowd.Errorf(crowd.Conflict, "this invitation was withdrawn")
	errUsed   = crowd.Errorf(crowd.Conflict, "this invitation was accepted already: sign in with the account that was made")
	errRefuse = crowd.Errorf(crowd.Conflict, "this invitation was declined; ask whoever invited you for a new one")
)

// linked returns the open invitation of a link.
func (s *service) linked(ctx context.Context, token string) (store.Invitation, error) {
	parts := strings.Split(token, ".")
	if len(token) > 200 || len(parts) != 4 || parts[0] != "inv" {
		return store.Invitation{}, errForged
	}
	id, err1 := strconv.ParseInt(parts[1], 10, 64)
	ends, err2 := strconv.ParseInt(parts[2], 10, 64)
	if err1 != nil || err2 != nil {
		return store.Invitation{}, errForged
	}
	secret, err := s.inviteSecret(ctx)
	if err != nil {
		return store.Invitation{}, err
	}
	i, err := s.store.Invitation(ctx, 0, id)
	if err != nil && crowd.CodeOf(err) != crowd.NotFound {
		return store.Invitation{}, err
	}
	// Of an invitation that is not there the signature is checked all the same.
	if signed := auth.Signed(secret, parts[3], "invitation", parts[1], parts[2], strings.ToLower(i.Address)); !signed || err != nil {
		return store.Invitation{}, errForged
	}
	switch i.State {
	case store.InvitationAccepted:
		return i, errUsed
	case store.InvitationDeclined:
		return i, errRefuse
	case store.InvitationWithdrawn:
		return i, errGone
	}
	if !s.time().Before(time.Unix(ends, 0)) || !s.time().Before(i.ExpiresAt) {
		return i, errEnded
	}
	return i, nil
}

// Offer is what somebody who is invited has to know.
type Offer struct {
	store.Invitation
	Pool   store.Pool
	Tenant string // for which he is invited, or ""
	By     string // who invites
	Test   *store.Test
}

// Open shows an invitation to who has its link, and notes that it was
// opened.
func (s *Invitations) Open(ctx context.Context, token string) (Offer, error) {
	i, err := s.linked(ctx, token)
	if err != nil {
		return Offer{}, err
	}
	o := Offer{Invitation: i}
	o.Pool, _ = s.pool(i.Pool)
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
		i.OpenedAt = s.time()
		if err := s.store.UpdateInvitation(ctx, i, nil); err != nil && crowd.CodeOf(err) != crowd.Conflict {
			return Offer{}, err
		}
	}
	return o, nil
}

// testOf returns the test that has to be passed first, or nil.
func (s *service) testOf(ctx context.Context, i *store.Invitation) (*store.Test, error) {
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
}

// Join accepts an invitation with a new account, and signs in. Who has to pass
// a test first works in the pool from then on; everybody else at once.
func (s *Invitations) Join(ctx context.Context, token string, n NewAccount) (session string, err error) {
	i, err := s.linked(ctx, token)
	if err != nil {
		return "", err
	}
	if ok, _ := s.inviting.trials.take(i.ID, 1, attemptBurst, attemptEvery, s.time()); !ok {
		return "", crowd.Errorf(crowd.TooMany, "too many tries with this invitation; try again in %s", attemptEvery)
	}
	u := store.User{Name: strings.TrimSpace(n.Name), FullName: strings.TrimSpace(n.FullName), Email: i.Address, CreatedAt: s.time()}
	var wrong Problems
	for _, err := range []error{s.validUser(ctx, &u), auth.ValidPassword(n.Password)} {
		if e, ok := err.(*crowd.Error); ok { //nolint:errorlint // as those two make it
			wrong = append(wrong, e)
		} else if err != nil {
			return "", err
		}
	}
	if len(wrong) > 0 {
		return "", wrong
	}
	if u.PasswordHash, err = s.passwords.Hash(ctx, n.Password); err != nil {
		return "", err
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	if others, err := s.store.UsersByEmail(ctx, i.Address); err != nil {
		return "", err
	} else if len(others) > 0 {
		return "", crowd.Errorf(crowd.Conflict, "there is an account with your address already: sign in with it, and accept then")
	}
	if u, err = s.accept(ctx, i, u); err != nil {
		return "", err
	}
	return s.session(ctx, u.ID)
}

// Accept accepts an invitation with the account that p has.
func (s *Invitations) Accept(ctx context.Context, p *Principal, token string) (store.User, error) {
	i, err := s.linked(ctx, token)
	if err != nil {
		return store.User{}, err
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	u, err := s.store.User(ctx, p.User.ID)
	if err != nil {
		return u, err
	}
	if u.Pool != 0 && u.Pool != i.Pool {
		at, _ := s.pool(u.Pool)
		return u, crowd.Errorf(crowd.Conflict, "you work in another pool, %s, and can be in one only; ask an administrator to move you first", at.Name)
	}
	return s.accept(ctx, i, u)
}

// accept keeps that u has accepted, and lets him work unless a test comes first.
func (s *service) accept(ctx context.Context, i store.Invitation, u store.User) (store.User, error) {
	test, err := s.testOf(ctx, &i)
	if err != nil {
		return u, err
	}
	comes := u.Pool == 0 && qualified(&u, test)
	if comes {
		u.Pool = i.Pool
	}
	if i.AnsweredAt = s.time(); i.OpenedAt.IsZero() {
		i.OpenedAt = i.AnsweredAt
	}
	if u.ID, err = s.store.AcceptInvitation(ctx, i, u); err != nil {
		return u, err
	}
	s.sessions.clear()
	if !comes {
		return u, nil // the pool knows him as he is, or not yet
	}
	return u, s.tellPool(u, true)
}

// Decline notes that the invited person does not come.
func (s *Invitations) Decline(ctx context.Context, token string) error {
	i, err := s.linked(ctx, token)
	if err != nil {
		return err
	}
	if i.State, i.AnsweredAt = store.InvitationDeclined, s.time(); i.OpenedAt.IsZero() {
		i.OpenedAt = i.AnsweredAt
	}
	return s.store.UpdateInvitation(ctx, i, nil)
}

var errInvitation = &crowd.Error{Code: crowd.NotFound, Field: "invitation", Message: "no such invitation"}

// invitation returns an invitation that p may see: an admin any, a requester
// those of his tenants.
func (s *service) invitation(ctx context.Context, p *Principal, id int64) (store.Invitation, error) {
	if !p.Is(Admin) {
		if err := p.need(Requester); err != nil {
			return store.Invitation{}, err
		}
	}
	i, err := s.store.Invitation(ctx, 0, id)
	if crowd.CodeOf(err) == crowd.NotFound || err == nil && p.forTenant(i.Tenant) != nil {
		return store.Invitation{}, errInvitation
	}
	return i, err
}

// Get returns an invitation, with how its mail fares.
func (s *Invitations) Get(ctx context.Context, p *Principal, id int64) (InvitationView, error) {
	i, err := s.invitation(ctx, p, id)
	return s.viewOf(i), err
}

// List lists up to limit invitations with ids below before (0: all),
// newest first: of a tenant, or for admins all.
func (s *Invitations) List(ctx context.Context, p *Principal, tenant crowd.TenantID, before int64, limit int) ([]InvitationView, error) {
	if tenant == 0 {
		if err := p.need(Admin); err != nil {
			return nil, err
		}
	} else if err := p.forTenant(tenant); err != nil {
		return nil, err
	}
	list, err := s.store.ListInvitations(ctx, tenant, before, limit)
	out := make([]InvitationView, len(list))
	for n, i := range list {
		out[n] = s.viewOf(i)
	}
	return out, err
}

// InvitationStage is how far an invitation has come, as it is shown.
type InvitationStage string

// The stages of an invitation.
const (
	InvitationQueued    InvitationStage = "queued"      // its mail waits to be sent
	InvitationSent      InvitationStage = "sent"        // its mail is out
	InvitationFailed    InvitationStage = "failed"      // its mail could not be sent; see the mail's error
	InvitationHandOut   InvitationStage = "to hand out" // no mail: whoever invited has the link
	InvitationOpened    InvitationStage = "opened"
	InvitationAccepted  InvitationStage = "accepted"
	InvitationDeclined  InvitationStage = "declined"
	InvitationWithdrawn InvitationStage = "withdrawn"
	InvitationExpired   InvitationStage = "expired"
)

// InvitationStages lists every stage.
func InvitationStages() []InvitationStage {
	return []InvitationStage{InvitationQueued, InvitationSent, InvitationFailed, InvitationHandOut, InvitationOpened, InvitationAccepted, InvitationDeclined, InvitationWithdrawn, InvitationExpired}
}

// viewOf says how far an invitation has come.
func (s *service) viewOf(i store.Invitation) InvitationView {
	v := InvitationView{Invitation: i, Stage: InvitationHandOut}
	mails := map[store.MessageState]InvitationStage{
		store.MessageQueued: InvitationQueued, store.MessageSent: InvitationSent, store.MessageFailed: InvitationFailed, store.MessageDropped: InvitationFailed,
	}
	switch stage, mailed := mails[i.Mail.State]; {
	case i.State != store.InvitationOpen:
		v.Stage = InvitationStage(i.State)
	case !s.time().Before(i.ExpiresAt):
		v.Stage = InvitationExpired
	case !i.OpenedAt.IsZero():
		v.Stage = InvitationOpened
	case mailed:
		v.Stage = stage
	}
	return v
}

// Resend sends an open invitation again, also one that has expired,
// with a link that works for DefaultInviteFor. Links sent before go on to work
// as long as they would have.
func (s *Invitations) Resend(ctx context.Context, p *Principal, id int64) (InvitationView, error) {
	s.admin.Lock()
	defer s.admin.Unlock()
	i, err := s.invitation(ctx, p, id)
	if err != nil {
		return InvitationView{}, err
	}
	now := s.time()
	switch {
	case i.State != store.InvitationOpen:
		return InvitationView{}, crowd.Errorf(crowd.Conflict, "this invitation is %s", i.State)
	case i.Mail.State == store.MessageQueued && now.Before(i.ExpiresAt):
		return InvitationView{}, crowd.Errorf(crowd.Conflict, "its mail is still on its way")
	}
	i.ExpiresAt = now.Add(DefaultInviteFor)
	secret, err := s.inviteSecret(ctx)
	if err != nil {
		return InvitationView{}, err
	}
	if err := s.mayMail(i.Tenant, 1, now); err != nil {
		return InvitationView{}, err
	}
	var mail *store.Message
	if s.canMail() {
		pool, _ := s.pool(i.Pool)
		test, err := s.testOf(ctx, &i)
		if err != nil {
			return InvitationView{}, err
		}
		l := letter{s: s.service, secret: secret, pool: pool, test: test, by: inviterName(p), now: now}
		m := l.write(i)
		m.Worker, mail = p.User.ID, &m
	}
	if err := s.store.UpdateInvitation(ctx, i, mail); err != nil {
		return InvitationView{}, err
	}
	if mail != nil {
		s.wakeOutbox()
		i.Mail = store.Mailed{State: mail.State, At: mail.NextAt}
	}
	return s.invited(secret, i), nil
}

// Withdraw takes an invitation back: its links work no longer.
func (s *Invitations) Withdraw(ctx context.Context, p *Principal, id int64) (InvitationView, error) {
	s.admin.Lock()
	defer s.admin.Unlock()
	i, err := s.invitation(ctx, p, id)
	if err != nil || i.State == store.InvitationWithdrawn {
		return s.viewOf(i), err
	}
	i.State, i.AnsweredAt = store.InvitationWithdrawn, s.time()
	if err := s.store.UpdateInvitation(ctx, i, nil); err != nil {
		return InvitationView{}, err
	}
	return s.viewOf(i), nil
}
