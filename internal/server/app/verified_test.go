package app_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// verified reports whether somebody's address is known to be theirs.
func (w *world) verified(p *access.Principal) bool {
	w.t.Helper()
	return must(w.store.User(w.ctx, p.User.ID))(w.t).EmailVerified
}

// TestAnAddressIsTheirsWhoShowIt: a link that was mailed shows whose an address is; one that
// is handed out does not, and so whoever has it keeps nobody from the address.
func TestAnAddressIsTheirsWhoShowIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	const kim = "kim@example.org"
	handed := w.link(kim)
	mallory, err := w.join(handed, "mallory")
	ok(t, err)
	if mallory.User.Email != kim || w.verified(mallory) {
		t.Errorf("who came by a link that was handed out: %+v", mallory.User)
	}
	w.withPost(recruit.Senders{Mail: func(context.Context, string, string, string) error { return nil }})
	if r := w.invite(nil, kim); len(r.Invited) != 1 || r.Invited[0].Token != "" {
		t.Fatalf("who is known by nobody is invited, by mail: %+v", r)
	}
	mailed := tokenIn(t, letterTo(t, w, kim))
	if _, err := w.join(mailed, "other@example.org"); crowd.CodeOf(err) != crowd.Invalid || !strings.Contains(err.Error(), "is an address") {
		t.Errorf("under another's address: %v", err)
	}
	owner, err := w.join(mailed, kim)
	ok(t, err)
	if !w.verified(owner) {
		t.Error("who came by the mailed link is not known to have the address")
	}

	// From then on it is theirs: it is nobody else's, though who hands a link out is not told so.
	if r := w.invite(nil, kim); len(r.Invited) != 0 || len(r.Skipped) != 1 {
		t.Errorf("who works there is invited again: %+v", r)
	}
	w.withPost(recruit.Senders{})
	again := must(w.Invitations.Invite(w.ctx, w.ann, accounts.NewInvitations{Tenant: w.a, Pool: w.pool, Addresses: []string{kim}}))(t)
	eve, err := w.join(again.Invited[0].Token, "eve")
	ok(t, err)
	if w.verified(eve) || !w.verified(owner) {
		t.Errorf("who came by a link that was handed out: %+v", eve.User)
	}

	// Handed out again, a mailed link is not what was mailed.
	parts := strings.Split(handed, ".")
	parts[3] = strings.Split(mailed, ".")[3]
	_, err = w.Invitations.Open(w.ctx, strings.Join(parts, "."))
	refused(t, err, crowd.NotFound)
}

// tokenIn is the token in the link of a letter.
func tokenIn(t *testing.T, m store.Message) string {
	t.Helper()
	u, err := url.Parse(m.Link)
	ok(t, err)
	return u.Query().Get("token")
}

// TestAcceptingByMailShowsTheAddress also to whom an account has been given.
func TestAcceptingByMailShowsTheAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.withPost(recruit.Senders{Mail: func(context.Context, string, string, string) error { return nil }})
	for address, want := range map[string]bool{"Bob@example.org": true, "else@example.org": false} {
		n := accounts.NewUser{Name: "bob" + address[:3], Email: "bob@example.org"}
		u, _, err := w.Accounts.CreateUser(w.ctx, w.admin, n)
		ok(t, err)
		must(w.Accounts.ChangeUser(w.ctx, w.admin, u.ID, func(u *store.User) error { u.EmailVerified = false; return nil }))(t)
		must(w.Invitations.Invite(w.ctx, w.admin, accounts.NewInvitations{Pool: w.pool, Addresses: []string{address}}))(t)
		got := must(w.Invitations.Accept(w.ctx, &access.Principal{User: must(w.store.User(w.ctx, u.ID))(t)}, tokenIn(t, letterTo(t, w, address)), nil))(t)
		if got.EmailVerified != want {
			t.Errorf("invited as %s, the address of the account is known to be theirs: %t", address, got.EmailVerified)
		}
	}
}

// TestWhoVouchesForAddresses: administrators do, and a tenant's people do not.
func TestWhoVouchesForAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	add := func(by *access.Principal, name string) (store.User, error) {
		u, _, err := w.Accounts.CreateUser(w.ctx, by, accounts.NewUser{Name: name, Email: "boss@example.org", Tenants: []crowd.TenantID{w.a}})
		return u, err
	}
	colleague, err := add(w.ann, "colleague")
	ok(t, err)
	if colleague.EmailVerified {
		t.Error("a requester has said whose address it is")
	}
	_, err = add(w.ann, "boss@example.org")
	refused(t, err, crowd.Invalid)
	boss, err := add(w.admin, "boss@example.org")
	ok(t, err)
	if !boss.EmailVerified {
		t.Error("the administrator's word is not taken")
	}
	if same := must(w.store.UsersByEmail(w.ctx, "Boss@example.org"))(t); len(same) != 1 || same[0].ID != boss.ID {
		t.Errorf("the address is that of %+v", same)
	}
	gone := must(w.Accounts.ChangeUser(w.ctx, w.admin, boss.ID, func(u *store.User) error { u.Email = ""; return nil }))(t)
	if gone.EmailVerified {
		t.Error("no address is verified")
	}
}

// TestCallsGoToKnownAddresses only.
func TestCallsGoToKnownAddresses(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		w := newWorld(t, 1)
		who := w.workers[0]
		must(w.Accounts.ChangeUser(w.ctx, w.admin, who.User.ID, func(u *store.User) error {
			u.Email, u.EmailVerified = "bob@example.org", known
			return nil
		}))(t)
		w.onCall(pool.Settings{})
		now := w.clock.now()
		must(w.store.CreateCall(w.ctx, store.Call{Pool: w.pool, At: now, EndsAt: now.Add(5 * time.Minute), Wanted: 1, State: store.CallOpen}))(t)
		w.withPost(recruit.Senders{Mail: func(context.Context, string, string, string) error { return nil }})
		w.step(time.Second)
		got := 0
		for _, m := range must(w.store.ListMessages(w.ctx, 0, 0, 10))(t) {
			if m.Target == "bob@example.org" {
				got++
			}
		}
		if (got > 0) != known {
			t.Errorf("the address is known to be theirs %t: %d mails", known, got)
		}
	}
}
