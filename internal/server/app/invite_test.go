package app_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/notify"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
)

const goodPassword = "correct horse battery"

// invite invites addresses to the pool, as the admin and without a mail server.
func (w *world) invite(change func(*accounts.NewInvitations), addresses ...string) accounts.InviteReport {
	w.t.Helper()
	n := accounts.NewInvitations{Pool: w.pool, Addresses: addresses}
	if change != nil {
		change(&n)
	}
	return must(w.Invitations.Invite(w.ctx, w.admin, n))(w.t)
}

// link returns the token of an invitation to an address.
func (w *world) link(address string) string {
	w.t.Helper()
	r := w.invite(nil, address)
	if len(r.Invited) != 1 || r.Invited[0].Token == "" {
		w.t.Fatalf("no link for %s: %+v", address, r)
	}
	return r.Invited[0].Token
}

func (w *world) join(token, name string) (*access.Principal, error) {
	w.t.Helper()
	session, err := w.Invitations.Join(w.ctx, token, accounts.NewAccount{Name: name, Password: goodPassword})
	if err != nil {
		return nil, err
	}
	return must(w.Accounts.Authenticate(w.ctx, session, netip.Addr{}))(w.t), nil
}

func (w *world) stage(id int64) accounts.InvitationStage {
	w.t.Helper()
	return must(w.Invitations.Get(w.ctx, w.admin, id))(w.t).Stage
}

// TestInvitedAndAtWork: somebody is invited, joins, and is given a task (event
// 1, first producer).
func TestInvitedAndAtWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	r := must(w.Invitations.Invite(w.ctx, w.ann, accounts.NewInvitations{Tenant: w.a, Pool: w.pool, Addresses: []string{"Eva@Example.org"}, Note: "  Come!\n"}))(t)
	if r.Mail || len(r.Skipped) != 0 || len(r.Invited) != 1 {
		t.Fatalf("%+v", r)
	}
	token := r.Invited[0].Token
	if got := w.stage(1); got != accounts.InvitationHandOut {
		t.Errorf("the stage is %q", got)
	}
	o := must(w.Invitations.Open(w.ctx, token))(t)
	if o.Pool.Name != "main" || o.By != "ann" || o.Tenant != "ants" || o.Note != "Come!" || o.Test != nil || o.Address != "Eva@Example.org" {
		t.Errorf("the offer is %+v", o)
	}
	if got := w.stage(1); got != accounts.InvitationOpened {
		t.Errorf("opened, the stage is %q", got)
	}
	first := must(w.Invitations.Get(w.ctx, w.ann, 1))(t).OpenedAt
	w.clock.advance(time.Hour)
	must(w.Invitations.Open(w.ctx, token))(t)
	if again := must(w.Invitations.Get(w.ctx, w.ann, 1))(t).OpenedAt; !again.Equal(first) {
		t.Errorf("first opened at %s, then at %s", first, again)
	}
	eva, err := w.join(token, " eva ")
	ok(t, err)
	if eva.User.Name != "eva" || eva.User.Email != "Eva@Example.org" || eva.User.Pool != w.pool || eva.User.Admin || len(eva.User.Tenants) > 0 {
		t.Errorf("the account is %+v", eva.User)
	}
	w.launch(1)
	w.next(eva)
	must(w.session("eva", goodPassword))(t)
	i := must(w.Invitations.Get(w.ctx, w.ann, 1))(t)
	if i.Worker != 0 || i.By.ID != 0 || i.By.Pseudonym != w.pseudonym(w.a, eva) || w.stage(1) != accounts.InvitationAccepted || i.AnsweredAt.IsZero() {
		t.Errorf("the invitation is %+v", i)
	}
	_, err = w.join(token, "second")
	refused(t, err, crowd.Conflict)
	_, err = w.Invitations.Open(w.ctx, token)
	refused(t, err, crowd.Conflict)
	if !strings.Contains(err.Error(), "accepted already") {
		t.Errorf("a used link says %q", err)
	}
	w.reopen() // the pool knows them from the store too
	if u := must(w.Accounts.User(w.ctx, w.admin, eva.User.ID))(t); u.Pool != w.pool {
		t.Errorf("after a restart they are %+v", u)
	}
	if work := must(w.Work.Current(w.ctx, eva))(t); work == nil {
		t.Error("after a restart they hold nothing")
	}
}

// TestBadLinks tries links that are forged, of another installation, expired,
// declined or withdrawn: none opens, and none tells anything of addresses.
func TestBadLinks(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t, 0), newWorld(t, 0)
	good := w.link("a@example.org")
	parts := strings.Split(good, ".")
	join := func(change func(p []string)) string {
		p := strings.Split(good, ".")
		change(p)
		return strings.Join(p, ".")
	}
	forged := map[string]string{
		"none": "", "text": "hello", "too long": good + strings.Repeat("x", 300), "cut": good[:len(good)-1],
		"another invitation":             join(func(p []string) { p[1] = "2" }),
		"one that is there, the other's": join(func(p []string) { p[1] = fmt.Sprint(w.invite(nil, "b@example.org").Invited[0].ID) }),
		"a later end":                    join(func(p []string) { p[2] += "0" }),
		"no number":                      join(func(p []string) { p[1] = "x" }),
		"no end":                         join(func(p []string) { p[2] = "x" }),
		"no signature":                   strings.Join(parts[:3], ".") + ".",
		"another kind":                   join(func(p []string) { p[0] = "ses" }),
		"of another installation":        other.link("a@example.org"),
		"a plus before the id":           join(func(p []string) { p[1] = "+1" }),
	}
	var words string
	tries := func(what, token string, code crowd.Code) string {
		t.Helper()
		_, err := w.Invitations.Open(w.ctx, token)
		refused(t, err, code)
		_, err2 := w.join(token, "eve")
		_, err3 := w.Invitations.Accept(w.ctx, w.ann, token, nil)
		for _, e := range []error{err2, err3, w.Invitations.Decline(w.ctx, token)} {
			refused(t, e, code)
			if e.Error() != err.Error() {
				t.Errorf("%s: %q and %q", what, err, e)
			}
		}
		if strings.Contains(err.Error(), "@") {
			t.Errorf("%s: %q names an address", what, err)
		}
		return err.Error()
	}
	for what, token := range forged {
		text := tries(what, token, crowd.NotFound)
		if words == "" {
			words = text
		}
		if text != words {
			t.Errorf("%s is told by its words: %q, others %q", what, text, words)
		}
	}
	if _, err := w.store.UserByName(w.ctx, "eve"); crowd.CodeOf(err) != crowd.NotFound {
		t.Error("a bad link made an account")
	}
	ok(t, w.Invitations.Decline(w.ctx, good))
	if !strings.Contains(tries("declined", good, crowd.Conflict), "declined") || w.stage(1) != accounts.InvitationDeclined {
		t.Errorf("a declined one is %s", w.stage(1))
	}
	withdrawn := w.invite(nil, "c@example.org").Invited[0]
	if i := must(w.Invitations.Withdraw(w.ctx, w.admin, withdrawn.ID))(t); i.State != store.InvitationWithdrawn {
		t.Errorf("withdrawn it is %+v", i)
	}
	must(w.Invitations.Withdraw(w.ctx, w.admin, withdrawn.ID))(t) // twice is no error
	if !strings.Contains(tries("withdrawn", withdrawn.Token, crowd.Conflict), "withdrawn") {
		t.Error("a withdrawn one does not say so")
	}
	late := w.invite(func(n *accounts.NewInvitations) { n.Life = time.Hour }, "d@example.org").Invited[0]
	w.clock.advance(59 * time.Minute)
	must(w.Invitations.Open(w.ctx, late.Token))(t)
	w.clock.advance(time.Minute)
	if !strings.Contains(tries("expired", late.Token, crowd.Conflict), "expired") || w.stage(late.ID) != accounts.InvitationExpired {
		t.Errorf("an expired one is %s", w.stage(late.ID))
	}
	// Sent again, the new link works, and the old one is still too old.
	again := must(w.Invitations.Resend(w.ctx, w.admin, late.ID))(t)
	must(w.Invitations.Open(w.ctx, again.Token))(t)
	tries("expired before it was sent again", late.Token, crowd.Conflict)
	for _, id := range []int64{withdrawn.ID, 1} {
		_, err := w.Invitations.Resend(w.ctx, w.admin, id)
		refused(t, err, crowd.Conflict)
	}
}

// TestOneLinkOneAccount follows a link in many windows at once.
func TestOneLinkOneAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	token := w.link("a@example.org")
	var group sync.WaitGroup
	var mu sync.Mutex
	joined := 0
	for n := range 6 {
		group.Go(func() {
			_, err := w.Invitations.Join(w.ctx, token, accounts.NewAccount{Name: fmt.Sprint("racer", n), Password: goodPassword})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				joined++
			} else if crowd.CodeOf(err) != crowd.Conflict {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if people := must(w.store.PoolUsers(w.ctx, w.pool))(t); joined != 1 || len(people) != 1 {
		t.Errorf("%d joined, the pool has %d people", joined, len(people))
	}
}

func TestWhatJoiningNeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	token := w.link("a@example.org")
	for _, n := range []accounts.NewAccount{{Name: "x y", Password: goodPassword}, {Name: "eva", Password: "short"}, {Password: goodPassword}, {Name: "eva", FullName: strings.Repeat("x", 201), Password: goodPassword}} {
		_, err := w.Invitations.Join(w.ctx, token, n)
		refused(t, err, crowd.Invalid)
	}
	_, err := w.Invitations.Join(w.ctx, token, accounts.NewAccount{Name: "!", Password: "?"})
	var several crowd.Errors
	if !errors.As(err, &several) || len(several) != 2 || several[0].Field != "name" || several[1].Field != "password" {
		t.Errorf("two things are wrong: %v", err)
	}
	_, err = w.join(token, "WORKER1")
	refused(t, err, crowd.Conflict)
	eva, err := w.join(token, "eva")
	ok(t, err)

	// Who was handed a link, and did not get it by mail, learns nothing of who has its address.
	must(w.Accounts.ChangeUser(w.ctx, w.admin, eva.User.ID, func(u *store.User) error { u.EmailVerified = true; return nil }))(t)
	token = w.invite(func(n *accounts.NewInvitations) { n.Pool = w.newPool("night", "fifo").ID }, "A@example.org").Invited[0].Token
	_, err = w.join(token, "worker1")
	if crowd.CodeOf(err) != crowd.Conflict || strings.Contains(err.Error(), "address") {
		t.Errorf("with a name that is taken: %v", err)
	}
	evb, err := w.join(token, "evb")
	ok(t, err)
	if evb.User.EmailVerified {
		t.Error("the address is hers by a link that was handed out")
	}

	// Names are not tried out without end.
	token = w.link("b@example.org")
	for n := range 12 {
		_, err = w.join(token, "worker1")
		want := crowd.Conflict
		if n >= 10 {
			want = crowd.TooMany
		}
		refused(t, err, want)
	}
	w.clock.advance(10 * time.Second)
	_, err = w.join(token, "bea")
	ok(t, err)
}

// TestAcceptWithAnAccount: who has an account accepts with it.
func TestAcceptWithAnAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	dan := w.person(accounts.NewUser{Name: "dan"})
	u := must(w.Invitations.Accept(w.ctx, dan, w.link("dan@example.org"), nil))(t)
	if u.ID != dan.User.ID || u.Pool != w.pool {
		t.Errorf("dan is %+v", u)
	}
	w.launch(1)
	w.next(w.as(u.ID))

	night := w.newPool("night", "fifo").ID
	token := w.invite(func(n *accounts.NewInvitations) { n.Pool = night }, "one@example.org").Invited[0].Token
	_, err := w.Invitations.Accept(w.ctx, w.workers[0], token, nil)
	refused(t, err, crowd.Conflict)
	if !strings.Contains(err.Error(), "you work in another pool, main") {
		t.Errorf("it says %q", err)
	}
	must(w.Invitations.Open(w.ctx, token))(t) // and stays open

	same := w.link("two@example.org") // they work there already: nothing changes
	if u := must(w.Invitations.Accept(w.ctx, w.workers[0], same, nil))(t); u.Pool != w.pool {
		t.Errorf("they are %+v", u)
	}
}

// TestWhoIsInvited checks lists of addresses.
func TestWhoIsInvited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	must(w.Accounts.ChangeUser(w.ctx, w.admin, w.workers[0].User.ID, func(u *store.User) error { accounts.SetEmail(w.admin, u, "One@example.org"); return nil }))(t)
	addresses, lines := accounts.SplitAddresses("\ufeffa@x.org, b@x.org;A@X.org\n\n one@example.org\r\nc@x.org")
	r := must(w.Invitations.Invite(w.ctx, w.admin, accounts.NewInvitations{Pool: w.pool, Addresses: addresses, Lines: lines}))(t)
	if len(r.Invited) != 3 || len(r.Skipped) != 2 {
		t.Fatalf("%+v", r)
	}
	for i, want := range []string{"a@x.org", "b@x.org", "c@x.org"} {
		if r.Invited[i].Address != want {
			t.Errorf("invited %s, want %s", r.Invited[i].Address, want)
		}
	}
	if x := r.Skipped[0]; x.Address != "A@X.org" || x.Line != 1 || !strings.Contains(x.Why, "twice") {
		t.Errorf("%+v", x)
	}
	if x := r.Skipped[1]; x.Line != 3 || !strings.Contains(x.Why, "worker1 works in this pool already") {
		t.Errorf("%+v", x)
	}
	// What is invited is not invited again, by whom it may be known.
	again := w.invite(nil, "B@x.org")
	if len(again.Skipped) != 1 || again.Skipped[0].Why != "is invited already (invitation 2)" {
		t.Errorf("%+v", again)
	}
	by := func(p *access.Principal, tenant crowd.TenantID, address string) accounts.InviteReport {
		t.Helper()
		return must(w.Invitations.Invite(w.ctx, p, accounts.NewInvitations{Tenant: tenant, Pool: w.pool, Addresses: []string{address}}))(t)
	}
	for _, address := range []string{"b@x.org", "one@example.org"} { // a requester does not learn who is known here
		if r := by(w.ann, w.a, address); len(r.Invited) != 1 {
			t.Errorf("%+v", r)
		}
		if r := by(w.bob, w.b, address); len(r.Invited) != 1 {
			t.Errorf("another tenant's shows: %+v", r)
		}
		if r := by(w.ann, w.a, address); len(r.Skipped) != 1 {
			t.Errorf("their own again: %+v", r)
		}
	}
	if r := by(w.admin, w.b, "a@x.org"); len(r.Skipped) != 1 { // to an admin nothing is hidden
		t.Errorf("%+v", r)
	}
	w.clock.advance(15 * 24 * time.Hour)
	if r := w.invite(nil, "b@x.org"); len(r.Invited) != 1 {
		t.Errorf("an expired one stands in the way: %+v", r)
	}

	wrong := func(n accounts.NewInvitations, code crowd.Code, field string) {
		t.Helper()
		if n.Pool == 0 {
			n.Pool = w.pool
		}
		if n.Addresses == nil {
			n.Addresses = []string{"z@x.org"}
		}
		_, err := w.Invitations.Invite(w.ctx, w.ann, n)
		refused(t, err, code)
		var e *crowd.Error
		if errors.As(err, &e); e.Field != field {
			t.Errorf("the field is %q, want %q: %v", e.Field, field, err)
		}
	}
	wrong(accounts.NewInvitations{Tenant: w.a, Pool: 99}, crowd.Invalid, "pool")
	wrong(accounts.NewInvitations{Tenant: w.a, Test: 99}, crowd.Invalid, "test")
	wrong(accounts.NewInvitations{Tenant: w.a, Life: time.Minute}, crowd.Invalid, "life")
	wrong(accounts.NewInvitations{Tenant: w.a, Life: 31 * 24 * time.Hour}, crowd.Invalid, "life")
	wrong(accounts.NewInvitations{Tenant: w.a, Note: strings.Repeat("x", 2001)}, crowd.Invalid, "note")
	wrong(accounts.NewInvitations{Tenant: w.a, Addresses: []string{}}, crowd.Invalid, "addresses")
	wrong(accounts.NewInvitations{Tenant: w.a, Addresses: make([]string, 10_001)}, crowd.TooLarge, "addresses")
	before := len(must(w.Invitations.List(w.ctx, w.admin, 0, 0, 1000))(t))
	bad := []string{"ok@x.org", "x", "Ann <ann@x.org>", "a b@x.org", "a@x.org\nBcc: b@x.org", "@x.org", "a@", strings.Repeat("a", 250) + "@x.org", `"a b"@x.org`}
	_, err := w.Invitations.Invite(w.ctx, w.ann, accounts.NewInvitations{Tenant: w.a, Pool: w.pool, Addresses: bad, Lines: []int{10, 20, 30, 40, 50, 60, 70, 80, 90}})
	var several crowd.Errors
	if !errors.As(err, &several) || len(several) != len(bad)-1 {
		t.Fatalf("%d addresses are wrong: %v", len(bad)-1, err)
	}
	for i, e := range several {
		if e.Row != 10*(i+2) || e.Field != "addresses" {
			t.Errorf("problem %d is %+v", i, e)
		}
	}
	if after := len(must(w.Invitations.List(w.ctx, w.admin, 0, 0, 1000))(t)); after != before {
		t.Errorf("%d were invited by a list with wrong addresses", after-before)
	}
}

// TestTenThousand invites as many as can be, and one more in the same hour.
func TestTenThousand(t *testing.T) {
	if testing.Short() || slow {
		t.Skip("long")
	}
	bubble(t, 0, tenThousand) // where time stands still meanwhile
}

func tenThousand(t *testing.T, w *world) {
	list := make([]string, accounts.MaxInvitations)
	for i := range list {
		list[i] = fmt.Sprintf("p%d@example.org", i)
	}
	r := w.invite(nil, list...)
	seen := map[string]bool{}
	for _, x := range r.Invited {
		seen[x.Token] = true
	}
	if len(seen) != len(list) {
		t.Fatalf("%d different links for %d addresses", len(seen), len(list))
	}
	for i := range list { // as many as a day has
		list[i] = fmt.Sprintf("q%d@example.org", i)
	}
	w.invite(nil, list...)
	_, err := w.Invitations.Invite(w.ctx, w.admin, accounts.NewInvitations{Pool: w.pool, Addresses: []string{"more@example.org"}})
	refused(t, err, crowd.TooMany)
	_, err = w.Invitations.Resend(w.ctx, w.admin, r.Invited[0].ID)
	refused(t, err, crowd.TooMany)
	if by := must(w.Invitations.Invite(w.ctx, w.ann, accounts.NewInvitations{Tenant: w.a, Pool: w.pool, Addresses: []string{"more@example.org"}}))(t); len(by.Invited) != 1 {
		t.Error("another tenant's mails count too")
	}
	w.clock.advance(24 * time.Hour)
	if r := w.invite(nil, "most@example.org"); len(r.Invited) != 1 {
		t.Errorf("after a while: %+v", r)
	}
}

// letters is a mail server of the test that keeps what it was given.
type letters struct {
	mu   sync.Mutex
	body map[string]string // by address
	n    int
	fail map[string]error
}

func (l *letters) send(_ context.Context, to, subject, body string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.fail[to]; err != nil {
		return err
	}
	if l.body == nil {
		l.body = map[string]string{}
	}
	l.n++
	l.body[to] = subject + "\n" + body
	return nil
}

func (l *letters) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

func (l *letters) to(address string) (text, token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text = l.body[address]
	_, token, _ = strings.Cut(text, publicURL+"/invitation?token=")
	return text, strings.TrimSpace(token)
}

// TestInvitingByMail: the link comes by mail, and by nothing else.
func TestInvitingByMail(t *testing.T) {
	bubble(t, 0, func(t *testing.T, w *world) {
		l := &letters{fail: map[string]error{"gone@example.org": &notify.Failure{Err: errors.New("550 no such mailbox"), Permanent: true}}}
		w.withPost(recruit.Senders{Mail: l.send})
		l.mu.Lock() // nothing goes out at once
		goes := sync.OnceFunc(l.mu.Unlock)
		defer goes()
		r := must(w.Invitations.Invite(w.ctx, w.ann, accounts.NewInvitations{Tenant: w.a, Pool: w.pool, Addresses: []string{"a@example.org", "gone@example.org", "c@example.org"}, Note: "Come."}))(t)
		if !r.Mail || len(r.Invited) != 3 {
			t.Fatalf("%+v", r)
		}
		for _, x := range r.Invited {
			if x.Token != "" {
				t.Error("the inviter is given a link that goes by mail")
			}
		}
		if got := w.stage(1); got != accounts.InvitationQueued {
			t.Errorf("at first it is %s", got)
		}
		goes()
		_, err := w.Invitations.Resend(w.ctx, w.ann, 3)
		refused(t, err, crowd.Conflict) // its turn has not come
		must(w.Invitations.Withdraw(w.ctx, w.ann, 3))(t)
		<-time.After(time.Minute)
		for id, want := range map[int64]accounts.InvitationStage{1: accounts.InvitationSent, 2: accounts.InvitationFailed, 3: accounts.InvitationWithdrawn} {
			if got := w.stage(id); got != want {
				t.Errorf("invitation %d is %s, want %s", id, got, want)
			}
		}
		if i := must(w.Invitations.Get(w.ctx, w.ann, 2))(t); i.Mail.Error != "550 no such mailbox" {
			t.Errorf("the failed one says %q", i.Mail.Error)
		}
		if text, _ := l.to("c@example.org"); text != "" {
			t.Error("a withdrawn one was sent")
		}
		text, token := l.to("a@example.org")
		for _, want := range []string{"main", "ann invites you", "Come.", "until 15 January 2000"} {
			if !strings.Contains(text, want) {
				t.Errorf("the mail lacks %q:\n%s", want, text)
			}
		}
		// Sent again, both links work for the one account.
		l.mu.Lock()
		goes = sync.OnceFunc(l.mu.Unlock)
		defer goes()
		again := must(w.Invitations.Resend(w.ctx, w.ann, 1))(t)
		if again.Token != "" || w.stage(1) != accounts.InvitationQueued {
			t.Errorf("sent again it is %s, %+v", w.stage(1), again)
		}
		goes()
		<-time.After(time.Minute)
		if _, second := l.to("a@example.org"); second == token || l.count() != 2 {
			t.Errorf("%d mails, the second with the same link: %t", l.count(), second == token)
		}
		must(w.Invitations.Open(w.ctx, token))(t)
		if _, err = w.join(token, "eva"); err != nil {
			t.Error(err)
		}
		must(w.Invitations.Resend(w.ctx, w.ann, 2))(t)
		<-time.After(time.Minute)
		if list := must(w.Outbox.View(w.ctx, w.admin))(t); list.Failed != 2 || list.Queued != 0 {
			t.Errorf("the outbox: %+v", list)
		}
	})
}

// TestCallsGoBeforeInvitations: who is called does not wait behind thousands who
// are invited.
func TestCallsGoBeforeInvitations(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		l := &letters{}
		w.withPost(recruit.Senders{Mail: l.send})
		list := make([]string, 600)
		for i := range list {
			list[i] = fmt.Sprintf("p%d@example.org", i)
		}
		w.invite(nil, list...)
		w.queue(w.mail(w.workers[0]))
		<-time.After(11 * time.Second)
		if text, _ := l.to("worker1@example.org"); text == "" {
			t.Error("the call waits")
		}
		if n := l.count(); n < 30 || n > 60 {
			t.Errorf("%d mails in 11 seconds", n)
		}
		<-time.After(3 * time.Minute)
		if n := l.count(); n != 601 {
			t.Errorf("%d mails in all", n)
		}
	})
}
