package accounts

import (
	"cmp"
	"context"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
)

// The limits of inviting.
const (
	MaxInvitations   = 10_000              // addresses at once
	DefaultInviteFor = 14 * 24 * time.Hour // how long a link works
	MaxInviteFor     = 30 * 24 * time.Hour // no longer than the state of its mail is kept
	MaxNote          = 2000                // bytes of a note to the invited
	maxAddress       = 254                 // bytes; RFC 5321, 4.5.3.1.3

	mailsApart  = 250 * time.Millisecond
	inviteChunk = 500 // invitations kept in one transaction
)

// invitationSecret names the secret with which links are signed.
const invitationSecret = "invitations"

// Invitations invites people by e-mail or by a link.
type Invitations struct {
	store    store.Store
	live     *live.Pools
	clock    live.Clock
	outbox   *recruit.Outbox
	accounts *Accounts

	quotas *limits.Quotas
	trials limits.Quota[int64] // accounts that could not be made, by invitation
}

// OpenInvitations makes the use case.
func OpenInvitations(accounts *Accounts, outbox *recruit.Outbox, quotas *limits.Quotas) *Invitations {
	return &Invitations{store: accounts.store, live: accounts.live, clock: accounts.clock, outbox: outbox, accounts: accounts, quotas: quotas}
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

// InvitationView is an invitation as it is shown to the inviter.
type InvitationView struct {
	store.Invitation // Worker is left out

	By    pseudonym.Worker // who has accepted
	Stage InvitationStage
	Token string // of the link …/invitation?token=THIS: when it was made just now, and no mail carries it
}

// SkippedAddress is an address that was not invited.
type SkippedAddress struct {
	Address string
	Line    int // where it stands, from 1
	Why     string
}

// InviteReport is the outcome of inviting a list of addresses.
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
// Admins invite to any pool; requesters for a tenant of theirs, to pools that are
// granted to it for that. Who comes by a tenant's invitation serves that tenant alone,
// until an admin opens them. Whoever is
// invited already, or (as far as an admin asks) works there, is skipped. If an
// address is malformed, nobody is invited, and every such line is named.
func (s *Invitations) Invite(ctx context.Context, p *access.Principal, n NewInvitations) (InviteReport, error) {
	report := InviteReport{Mail: s.outbox.CanMail()}
	pool, test, err := s.validInvitations(ctx, p, &n)
	if err != nil {
		return report, err
	}
	s.accounts.people.Lock()
	defer s.accounts.people.Unlock()
	now := s.clock.Time()
	var list []store.Invitation
	seen := make(map[string]bool, len(n.Addresses))
	for i, address := range n.Addresses {
		why := "stands there twice"
		if key := format.AddressKey(address); !seen[key] {
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
	if err := s.roomFor(ctx, n.Tenant, len(list), now); err != nil {
		return report, err
	}
	secret, err := s.inviteSecret(ctx)
	if err != nil {
		return report, err
	}
	if err := s.quotas.Use(n.Tenant, store.InvitationsDaily, int64(len(list))); err != nil {
		return report, err
	}
	defer func() { s.quotas.GiveBack(n.Tenant, store.InvitationsDaily, int64(len(list)-len(report.Invited))) }()
	letter := letter{s: s, secret: secret, pool: pool, test: test, by: inviterName(p), now: now}
	ctx, act := p.Acting(ctx, access.InvitationsInvite, store.AuditEntry{At: now, Tenant: n.Tenant, Kind: "invitations"})
	act.After = invitedBy(&n, list)
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
			report.Invited = append(report.Invited, s.invited(p, secret, i))
		}
	}
	if report.Mail {
		s.outbox.Wake()
	}
	return report, nil
}

// roomFor refuses a list that the quota of open invitations does not have room for, if it is kept in
// several transactions: of the others, the store refuses all or nothing.
func (s *Invitations) roomFor(ctx context.Context, tenant crowd.TenantID, n int, now time.Time) error {
	if n <= inviteChunk || tenant == 0 {
		return nil
	}
	used, err := s.store.Usage(ctx, tenant, now)
	if open := used[store.OpenInvitations]; err == nil && open+int64(n) > s.quotas.Limit(tenant, store.OpenInvitations) {
		err = s.quotas.Refuse(tenant, store.OpenInvitations, open, int64(n))
	}
	return err
}

// validInvitations checks all but whom it makes sense to invite.
func (s *Invitations) validInvitations(ctx context.Context, p *access.Principal, n *NewInvitations) (pool store.Pool, test *store.Test, err error) {
	if n.Tenant, err = s.accounts.owner(ctx, p, access.InvitationsInvite, n.Tenant); err != nil {
		return pool, nil, err
	}
	pool, found := s.live.Settings(n.Pool)
	n.Note, n.Life = strings.TrimSpace(n.Note), cmp.Or(n.Life, DefaultInviteFor)
	if err := format.ValidText("note", n.Note, MaxNote); err != nil {
		return pool, nil, err
	}
	switch {
	case !found || p.May(access.InvitationsAnywhere) != nil && !pool.Allows(n.Tenant):
		return pool, nil, crowd.Fieldf("pool", "no such pool")
	case n.Tenant != 0 && !pool.Allows(n.Tenant):
		return pool, nil, crowd.Fieldf("pool", "%s is not granted to %s: grant it first (throng pool grant %s --tenant %s)", pool.Name, n.Tenant, pool.ID, n.Tenant)
	case n.Life < time.Hour || n.Life > MaxInviteFor:
		return pool, nil, crowd.Fieldf("life", "%s is not between an hour and 30 days", format.Duration(n.Life))
	case len(n.Addresses) == 0:
		return pool, nil, crowd.Fieldf("addresses", "name at least one e-mail address")
	case len(n.Addresses) > MaxInvitations:
		return pool, nil, &crowd.Error{Code: crowd.TooLarge, Field: "addresses", Message: fmt.Sprintf("%d are too many at once (at most %d)", len(n.Addresses), MaxInvitations)}
	}
	if err := MayInviteTo(p, &pool, n.Tenant); err != nil {
		return pool, nil, err
	}
	if n.Test != 0 {
		t, err := s.store.Test(ctx, 0, n.Test)
		switch {
		case err != nil && crowd.CodeOf(err) != crowd.NotFound:
			return pool, nil, err
		case err != nil || t.Tenant != 0 && t.Tenant != n.Tenant && p.May(access.InvitationsAcross) != nil:
			return pool, nil, crowd.Fieldf("test", "no such test")
		case t.Retired:
			return pool, nil, crowd.Fieldf("test", "%s is retired", t.Name)
		}
		test = &t
	}
	var wrong crowd.Errors
	for i, a := range n.Addresses {
		if err := ValidAddress(a); err != nil && len(wrong) < input.MaxProblems {
			wrong = append(wrong, &crowd.Error{Code: crowd.Invalid, Field: "addresses", Row: n.line(i), Message: err.Error()})
		}
	}
	if len(wrong) > 0 {
		return pool, nil, wrong
	}
	return pool, test, nil
}

// ValidAddress returns what is wrong with an e-mail address, or nil.
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

// needless returns why an address need not be invited, or "".
func (s *Invitations) needless(ctx context.Context, p *access.Principal, now time.Time, n *NewInvitations, test *store.Test, address string) (why string, err error) {
	tenant, across := n.Tenant, p.May(access.InvitationsAcross) == nil
	if across {
		tenant = 0
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
	if !across {
		return "", nil // they do not see who has an account
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

func inviterName(p *access.Principal) string { return cmp.Or(p.User.FullName, p.User.Name) }

// letter writes the mails of invitations.
type letter struct {
	s      *Invitations
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
		Link: "/invitation?token=" + tokenOf(l.secret, mailed, &i), State: store.MessageQueued, CreatedAt: l.now, NextAt: next, UselessAt: i.ExpiresAt,
	}
}

// invited is an invitation that was just made, or sent again, with the token of
// the link if no mail carries it.
func (s *Invitations) invited(p *access.Principal, secret string, i store.Invitation) InvitationView {
	out := s.viewOf(p, i)
	if !s.outbox.CanMail() {
		out.Token = tokenOf(secret, handedOut, &i)
	}
	return out
}

// inviteSecret is what links are signed with.
func (s *Invitations) inviteSecret(ctx context.Context) (string, error) {
	return s.store.Secret(ctx, invitationSecret, auth.NewSecret("invitations"))
}

var errInvitation = &crowd.Error{Code: crowd.NotFound, Field: "invitation", Message: "no such invitation"}

// find returns an invitation that p may see: an admin any, a requester
// those of their tenants.
func (s *Invitations) find(ctx context.Context, p *access.Principal, o access.Operation, id int64) (store.Invitation, error) {
	if err := p.May(o); err != nil {
		return store.Invitation{}, err
	}
	i, err := s.store.Invitation(ctx, 0, id)
	switch {
	case crowd.CodeOf(err) == crowd.NotFound:
		err = errInvitation
	case err == nil:
		err = p.MayOn(o, i.Tenant, errInvitation, access.InvitationsGet)
	}
	if err != nil {
		return store.Invitation{}, err
	}
	return i, nil
}

// Get returns an invitation, with the state of its mail.
func (s *Invitations) Get(ctx context.Context, p *access.Principal, id int64) (InvitationView, error) {
	i, err := s.find(ctx, p, access.InvitationsGet, id)
	return s.viewOf(p, i), err
}

// List lists up to limit invitations with ids below before (0: all),
// newest first: of a tenant, or for admins all.
func (s *Invitations) List(ctx context.Context, p *access.Principal, tenant crowd.TenantID, before int64, limit int) ([]InvitationView, error) {
	tenant, err := p.TenantFor(access.InvitationsList, tenant)
	if err != nil {
		return nil, err
	}
	list, err := s.store.ListInvitations(ctx, tenant, before, limit)
	out := lists.Map(list, func(i store.Invitation) InvitationView { return s.viewOf(p, i) })
	return out, err
}

// InvitationStage is how far an invitation has come, as it is shown.
type InvitationStage string

// The stages of an invitation.
const (
	InvitationQueued    InvitationStage = "queued"      // its mail waits to be sent
	InvitationSent      InvitationStage = "sent"        // its mail is out
	InvitationFailed    InvitationStage = "failed"      // its mail could not be sent; see the mail's error
	InvitationHandOut   InvitationStage = "to hand out" // no mail: the inviter has the link
	InvitationOpened    InvitationStage = "opened"
	InvitationAccepted  InvitationStage = "accepted"
	InvitationDeclined  InvitationStage = "declined"
	InvitationWithdrawn InvitationStage = "withdrawn"
	InvitationExpired   InvitationStage = "expired"
)

// viewOf returns an invitation with its stage, as p sees it. The tenant wrote to the
// address itself, so it may know as whom the person works for it.
func (s *Invitations) viewOf(p *access.Principal, i store.Invitation) InvitationView {
	v := InvitationView{Invitation: i, Stage: InvitationHandOut}
	v.Mail.Error = mailErrorFor(p, &i.Mail)
	if i.Worker != 0 {
		v.Worker, v.By = 0, s.accounts.names.For(p, i.Tenant).Show(i.Worker, "")
	}
	mails := map[store.MessageState]InvitationStage{
		store.MessageQueued: InvitationQueued, store.MessageSent: InvitationSent, store.MessageFailed: InvitationFailed, store.MessageDropped: InvitationFailed,
	}
	switch stage, mailed := mails[i.Mail.State]; {
	case i.State != store.InvitationOpen:
		v.Stage = InvitationStage(i.State)
	case !s.clock.Time().Before(i.ExpiresAt):
		v.Stage = InvitationExpired
	case !i.OpenedAt.IsZero():
		v.Stage = InvitationOpened
	case mailed:
		v.Stage = stage
	}
	return v
}

// mailErrorFor is why a mail was not sent, as p may know it: what the server of the mail's receiver
// says is for who wrote it, how this installation sends mail for who may see the outbox only.
func mailErrorFor(p *access.Principal, m *store.Mailed) string {
	switch {
	case m.Error == "" || p.May(access.OutboxView) == nil:
		return m.Error
	case m.State == store.MessageQueued:
		return "the mail server takes it not just now; it is tried again"
	}
	why, _, _ := strings.Cut(m.Error, "; before: ") // of a mail that came too late
	return why
}

// Resend sends an open invitation again, also one that has expired,
// with a link that works for DefaultInviteFor. Links sent before go on to work
// as long as they would have.
func (s *Invitations) Resend(ctx context.Context, p *access.Principal, id int64) (InvitationView, error) {
	s.accounts.people.Lock()
	defer s.accounts.people.Unlock()
	i, err := s.find(ctx, p, access.InvitationsResend, id)
	if err != nil {
		return InvitationView{}, err
	}
	now := s.clock.Time()
	switch {
	case i.State != store.InvitationOpen:
		return InvitationView{}, crowd.Errorf(crowd.Conflict, "this invitation is %s", i.State)
	case i.Mail.State == store.MessageQueued && now.Before(i.ExpiresAt):
		return InvitationView{}, crowd.Errorf(crowd.Conflict, "its mail is still on its way")
	}
	pool, _ := s.live.Settings(i.Pool)
	if err := MayInviteTo(p, &pool, i.Tenant); err != nil {
		return InvitationView{}, err
	}
	i.ExpiresAt = now.Add(DefaultInviteFor)
	secret, err := s.inviteSecret(ctx)
	if err != nil {
		return InvitationView{}, err
	}
	var mail *store.Message
	if s.outbox.CanMail() {
		test, err := s.testOf(ctx, &i)
		if err != nil {
			return InvitationView{}, err
		}
		l := letter{s: s, secret: secret, pool: pool, test: test, by: inviterName(p), now: now}
		m := l.write(i)
		m.Worker, mail = p.User.ID, &m
	}
	if err := s.quotas.Use(i.Tenant, store.InvitationsDaily, 1); err != nil {
		return InvitationView{}, err
	}
	ctx, _ = s.acting(ctx, p, access.InvitationsResend, i)
	if err := s.store.UpdateInvitation(ctx, i, mail, now); err != nil {
		s.quotas.GiveBack(i.Tenant, store.InvitationsDaily, 1)
		return InvitationView{}, err
	}
	if mail != nil {
		s.outbox.Wake()
		i.Mail = store.Mailed{State: mail.State, At: mail.NextAt}
	}
	return s.invited(p, secret, i), nil
}

// Withdraw takes an invitation back: its links work no longer.
func (s *Invitations) Withdraw(ctx context.Context, p *access.Principal, id int64) (InvitationView, error) {
	s.accounts.people.Lock()
	defer s.accounts.people.Unlock()
	i, err := s.find(ctx, p, access.InvitationsWithdraw, id)
	if err != nil || i.State == store.InvitationWithdrawn {
		return s.viewOf(p, i), err
	}
	ctx, act := s.acting(ctx, p, access.InvitationsWithdraw, i)
	i.State, i.AnsweredAt = store.InvitationWithdrawn, s.clock.Time()
	act.After = i
	if err := s.store.UpdateInvitation(ctx, i, nil, i.AnsweredAt); err != nil {
		return InvitationView{}, err
	}
	return s.viewOf(p, i), nil
}
