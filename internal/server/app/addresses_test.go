package app_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
)

// mailbox keeps the mails that a server sends, by address.
type mailbox struct {
	mu    sync.Mutex
	mails map[string][]string
	fails bool
}

func (m *mailbox) send(_ context.Context, to, _, body string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails {
		return errors.New("the mail server is down")
	}
	if m.mails == nil {
		m.mails = make(map[string][]string)
	}
	m.mails[to] = append(m.mails[to], body)
	return nil
}

// to returns the mails to an address.
func (m *mailbox) to(address string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mails[address]
}

func (m *mailbox) down(fails bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fails = fails
}

// asksAt returns the token in the last mail to an address.
func (w *world) asksAt(m *mailbox, address string) string {
	w.t.Helper()
	w.sendDue()
	list := m.to(address)
	if len(list) == 0 {
		w.t.Fatalf("no mail came to %s", address)
	}
	_, link, found := strings.Cut(list[len(list)-1], publicURL+"/verify?")
	if !found {
		w.t.Fatalf("there is no link in %q", list[len(list)-1])
	}
	return must(url.ParseQuery(strings.TrimSpace(link)))(w.t).Get("token")
}

// withMailbox is a world that sends mail, with ann signed in by her password.
func withMailbox(t *testing.T) (*world, *mailbox, *access.Principal) {
	t.Helper()
	w, m := withPassword(t), &mailbox{}
	w.withPost(recruit.Senders{Mail: m.send})
	w.clock.halt()
	return w, m, w.signedIn("192.0.2.1", "", goodPassword)
}

func (w *world) address(p *access.Principal) accounts.Address {
	w.t.Helper()
	return must(w.Accounts.Address(w.ctx, p, p.User.ID))(w.t)
}

// TestAnAddressIsConfirmed by the link in a mail: once, in time, by whom it was sent to, and
// the secret in it is in no byte of the database.
func TestAnAddressIsConfirmed(t *testing.T) {
	w, m, ann := withMailbox(t)
	refused(t, w.Accounts.ChangeAddress(w.ctx, ann, "no address", accounts.Proof{Password: goodPassword}), crowd.Invalid)
	refused(t, w.Accounts.ChangeAddress(w.ctx, ann, "ann@new.example", accounts.Proof{Password: "wrong wrong wrong"}), crowd.Invalid)
	if a := w.address(ann); a.Email != "" || a.Asked != nil || !a.CanAsk {
		t.Errorf("before: %+v", a)
	}
	ok(t, w.Accounts.ChangeAddress(w.ctx, ann, "ann@new.example", accounts.Proof{Password: goodPassword}))
	if a := w.address(ann); a.Email != "" || a.Verified || a.Asked == nil || a.Asked.Address != "ann@new.example" {
		t.Errorf("while it is asked: %+v", a)
	}
	token := w.asksAt(m, "ann@new.example")
	if found := w.found([]string{token}); len(found) > 0 {
		t.Errorf("the secret is there: %q", found)
	}
	if a := w.address(ann); a.Asked.Mail.State != store.MessageSent {
		t.Errorf("the mail: %+v", a.Asked.Mail)
	}
	// Looking at it, as programs do that look for viruses, confirms nothing; nor does anybody else.
	for range 3 {
		if got := must(w.Accounts.AddressToConfirm(w.ctx, ann, token))(t); got != "ann@new.example" {
			t.Errorf("the page is about %q", got)
		}
	}
	refused(t, w.Accounts.ConfirmAddress(w.ctx, &access.Principal{User: w.bob.User}, token), crowd.NotFound)
	refused(t, second(w.Accounts.AddressToConfirm(w.ctx, w.bob, token)), crowd.NotFound)
	program, _ := w.made(ann, accounts.NewToken{Name: "nightly"}, "192.0.2.1")
	refused(t, w.Accounts.ConfirmAddress(w.ctx, program, token), crowd.Conflict)
	refused(t, w.Accounts.ChangeAddress(w.ctx, program, "x@new.example", accounts.Proof{Password: goodPassword}), crowd.Conflict)
	for _, wrong := range []string{"", token + "x", token[:len(token)-1], "address_"} {
		refused(t, w.Accounts.ConfirmAddress(w.ctx, ann, wrong), crowd.NotFound)
	}
	ok(t, w.Accounts.ConfirmAddress(w.ctx, ann, token))
	refused(t, w.Accounts.ConfirmAddress(w.ctx, ann, token), crowd.NotFound)
	if a := w.address(ann); a.Email != "ann@new.example" || !a.Verified || a.Asked != nil {
		t.Errorf("confirmed: %+v", a)
	}
	refused(t, w.Accounts.AskForAddress(w.ctx, ann, ann.User.ID), crowd.Conflict)

	// The next one: the one before stays until then, and is told.
	ok(t, w.Accounts.ChangeAddress(w.ctx, ann, "ann@next.example", accounts.Proof{Password: goodPassword}))
	token = w.asksAt(m, "ann@next.example")
	if a := w.address(ann); a.Email != "ann@new.example" || !a.Verified {
		t.Errorf("before the next is confirmed: %+v", a)
	}
	told := len(m.to("ann@new.example"))
	ok(t, w.Accounts.ConfirmAddress(w.ctx, ann, token))
	w.sendDue()
	if got := m.to("ann@new.example"); len(got) != told+1 || !strings.Contains(got[told], "has another e-mail address now") {
		t.Errorf("the address before got %q", got)
	}
	entries := must(w.store.AuditEntries(w.ctx, store.AuditFilter{Limit: 100}))(t)
	n := map[string]int{}
	for i := range entries {
		n[entries[i].Operation]++
	}
	if n["Accounts.ChangeAddress"] != 2 || n["Accounts.ConfirmAddress"] != 2 {
		t.Errorf("the audit log has %v", n)
	}
}

// TestLinksOfAddressesEnd with time, with a later mail, and with what an administrator enters.
func TestLinksOfAddressesEnd(t *testing.T) {
	w, m, ann := withMailbox(t)
	ask := func() string {
		t.Helper()
		ok(t, w.Accounts.ChangeAddress(w.ctx, ann, "ann@new.example", accounts.Proof{Password: goodPassword}))
		return w.asksAt(m, "ann@new.example")
	}
	first := ask()
	w.clock.advance(time.Hour)
	ok(t, w.Accounts.AskForAddress(w.ctx, ann, ann.User.ID))
	again := w.asksAt(m, "ann@new.example")
	if first == again {
		t.Fatal("the same link twice")
	}
	refused(t, w.Accounts.ConfirmAddress(w.ctx, ann, first), crowd.NotFound)
	w.clock.advance(accounts.AddressLinkLife)
	refused(t, w.Accounts.ConfirmAddress(w.ctx, ann, again), crowd.NotFound)
	if a := w.address(ann); a.Asked != nil {
		t.Errorf("after its time: %+v", a)
	}
	ann = w.signedIn("192.0.2.1", "", goodPassword)
	link := ask()
	must(w.Accounts.ChangeUser(w.ctx, w.admin, ann.User.ID, func(u *store.User) error {
		accounts.SetEmail(w.admin, u, "entered@example.org")
		return nil
	}))(t)
	refused(t, w.Accounts.ConfirmAddress(w.ctx, ann, link), crowd.NotFound)
	if a := w.address(ann); a.Email != "entered@example.org" || !a.Verified {
		t.Errorf("an administrator has entered %+v", a)
	}
}

// TestAMailThatWaitsIsNotSentTwice, and somebody is asked so often only.
func TestAMailThatWaitsIsNotSentTwice(t *testing.T) {
	w, m, ann := withMailbox(t)
	m.down(true)
	for range 20 {
		ok(t, w.Accounts.ChangeAddress(w.ctx, ann, "ann@new.example", accounts.Proof{Password: goodPassword}))
	}
	ok(t, w.Accounts.ChangeAddress(w.ctx, ann, "ann@next.example", accounts.Proof{Password: goodPassword}))
	m.down(false)
	w.clock.advance(time.Hour)
	w.sendDue()
	if a, b := len(m.to("ann@new.example")), len(m.to("ann@next.example")); a != 0 || b != 1 {
		t.Errorf("%d mails to the address before, and %d to the last", a, b)
	}
	n := 0
	var err error
	for ; n < 20; n++ {
		if err = w.Accounts.AskForAddress(w.ctx, ann, ann.User.ID); err != nil {
			break
		}
		w.sendDue()
	}
	refused(t, err, crowd.TooMany)
	var said *crowd.Error
	if !errors.As(err, &said) || n != 5 || said.RetryAfter <= 0 { // what was sent an hour ago is forgotten
		t.Fatalf("after %d mails: %v", n, err)
	}
	w.clock.advance(said.RetryAfter)
	ok(t, w.Accounts.AskForAddress(w.ctx, ann, ann.User.ID))
}

// TestAnAddressOfOthersIsNotTaken: whose it is makes no difference to who asks for it, and only
// who can read the mail there learns it.
func TestAnAddressOfOthersIsNotTaken(t *testing.T) {
	w, m, ann := withMailbox(t)
	owner, _, err := w.Accounts.CreateUser(w.ctx, w.admin, accounts.NewUser{Name: "owner", Email: "owner@example.org", Tenants: []crowd.TenantID{w.a}})
	ok(t, err)
	for _, address := range []string{"Owner@example.org", "nobody@example.org"} {
		ok(t, w.Accounts.ChangeAddress(w.ctx, ann, address, accounts.Proof{Password: goodPassword}))
		if a := w.address(ann); a.Email != "" || a.Verified || a.Asked.Address != address {
			t.Errorf("at %s: %+v", address, a)
		}
	}
	ok(t, w.Accounts.ChangeAddress(w.ctx, ann, "Owner@example.org", accounts.Proof{Password: goodPassword}))
	token := w.asksAt(m, "Owner@example.org")
	refused(t, w.Accounts.ConfirmAddress(w.ctx, &access.Principal{User: owner}, token), crowd.NotFound) // who reads it gives it to nobody
	refused(t, w.Accounts.ConfirmAddress(w.ctx, ann, token), crowd.Conflict)
	if a := w.address(ann); a.Email != "" || a.Verified {
		t.Errorf("taken: %+v", a)
	}
	if same := must(w.store.UsersByEmail(w.ctx, "owner@example.org"))(t); len(same) != 1 || same[0].ID != owner.ID {
		t.Errorf("it is of %+v", same)
	}
}

// TestNewcomersAreAsked who have an address for which no administrator vouches.
func TestNewcomersAreAsked(t *testing.T) {
	w, m, ann := withMailbox(t)
	colleague, _, err := w.Accounts.CreateUser(w.ctx, w.ann, accounts.NewUser{Name: "colleague", Email: "c@example.org", Tenants: []crowd.TenantID{w.a}})
	ok(t, err)
	if a := must(w.Accounts.Address(w.ctx, w.admin, colleague.ID))(t); a.Email != "c@example.org" || a.Verified || a.Asked == nil {
		t.Errorf("the colleague: %+v", a)
	}
	ok(t, w.Accounts.ConfirmAddress(w.ctx, &access.Principal{User: colleague}, w.asksAt(m, "c@example.org")))
	if !must(w.store.User(w.ctx, colleague.ID))(t).EmailVerified {
		t.Error("the colleague has followed the link")
	}
	_, _, err = w.Accounts.CreateUser(w.ctx, w.admin, accounts.NewUser{Name: "vouched", Email: "v@example.org", Tenants: []crowd.TenantID{w.a}})
	ok(t, err)
	w.sendDue()
	if got := m.to("v@example.org"); len(got) > 0 {
		t.Errorf("an administrator vouches for it, and it is asked: %q", got)
	}

	// An administrator who does not know has them asked, and sees how it stands.
	must(w.Accounts.ChangeUser(w.ctx, w.admin, ann.User.ID, func(u *store.User) error {
		u.Email, u.EmailVerified = "perhaps@example.org", false
		return nil
	}))(t)
	token := w.asksAt(m, "perhaps@example.org")
	ok(t, w.Accounts.AskForAddress(w.ctx, w.admin, ann.User.ID))
	if again := w.asksAt(m, "perhaps@example.org"); again == token {
		t.Error("asked again by the same link")
	}
	refused(t, w.Accounts.AskForAddress(w.ctx, w.ann, w.bob.User.ID), crowd.NotFound)
	refused(t, second(w.Accounts.Address(w.ctx, w.ann, w.bob.User.ID)), crowd.NotFound)

	// Who adds many people is not kept from it, but no more of them are asked.
	for i := range 7 {
		name := "d" + string(rune('0'+i))
		_, _, err := w.Accounts.CreateUser(w.ctx, w.ann, accounts.NewUser{Name: name, Email: "same@example.org", Tenants: []crowd.TenantID{w.a}})
		ok(t, err)
	}
	w.sendDue()
	if n := len(m.to("same@example.org")); n != 5 {
		t.Errorf("%d mails to one address at once", n)
	}
}

// TestNoSecondAccountByMail: a link that came by mail shows whose the address is, and makes no second
// account where there is one.
func TestNoSecondAccountByMail(t *testing.T) {
	w, m, _ := withMailbox(t)
	must(w.Accounts.ChangeUser(w.ctx, w.admin, w.bob.User.ID, func(u *store.User) error { u.Email, u.EmailVerified = "b@example.org", true; return nil }))(t)
	w.invite(nil, "B@example.org")
	w.sendDue()
	list := m.to("B@example.org")
	if len(list) != 1 {
		t.Fatalf("the mails are %q", list)
	}
	_, token, _ := strings.Cut(list[0], publicURL+"/invitation?token=")
	token, _, _ = strings.Cut(token, "\n")
	_, err := w.join(strings.TrimSpace(token), "bob2")
	if crowd.CodeOf(err) != crowd.Conflict || !strings.Contains(err.Error(), "an account with your address") {
		t.Errorf("joining gives %v", err)
	}
}

// TestWhoJoinsByALinkThatWasHandedOutIsAsked, where the server sends mail by then.
func TestWhoJoinsByALinkThatWasHandedOutIsAsked(t *testing.T) {
	t.Parallel()
	w, m := newWorld(t, 0), &mailbox{}
	handed := w.link("kim@example.org")
	refused(t, w.Accounts.AskForAddress(w.ctx, w.ann, w.ann.User.ID), crowd.Conflict) // no mail
	w.withPost(recruit.Senders{Mail: m.send})
	kim, err := w.join(handed, "kim")
	ok(t, err)
	ok(t, w.Accounts.ConfirmAddress(w.ctx, kim, w.asksAt(m, "kim@example.org")))
	if !w.verified(kim) {
		t.Error("the address is not theirs")
	}
}
