package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/notify"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
)

// rowsOf is what is handed out to a person about themself, as text.
func (w *world) rowsOf(p *access.Principal) string {
	_, text := w.export(p, p.User.ID)
	return text
}

// eraseOwn is how somebody erases themself.
func (w *world) eraseOwn(p *access.Principal) {
	w.t.Helper()
	ok(w.t, w.Accounts.Erase(w.ctx, w.inSession(p), p.User.ID, accounts.ErasureOrder{Confirm: p.User.Name, FreeText: accounts.DeleteText, Settled: true}))
}

// inSession is a person with a session, as is needed to erase oneself.
func (w *world) inSession(p *access.Principal) *access.Principal {
	q := *p
	q.Token = store.Token{Kind: store.SessionToken, User: p.User.ID}
	return &q
}

// TestNamesAreNoProof: people call themselves as they like. Whoever calls themself by another's
// address, or by words that stand in others' texts and in the audit log, is given nothing of
// theirs, and takes nothing with them when they go.
func TestNamesAreNoProof(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	letter := w.invite(func(n *accounts.NewInvitations) { n.Note = "for the victim alone" }, "victim@example.org").Invited[0]
	ok(t, w.Tenants.Deposit(w.ctx, w.admin, w.a, crowd.Unit, "Invoice 77: of the lay-offs"))
	request := store.RequestKey{Person: w.ann.User.ID, Tenant: w.a, Key: "k"}
	ok(t, w.store.PutRequest(w.ctx, store.Request{RequestKey: request, At: w.clock.now(), Status: 201, Body: `{"amount":"3","address":"victim@example.org"}`}))
	for i, name := range []string{"victim@example.org", "amount", "Invoice", "victim"} {
		p := w.worker(fmt.Sprint("w", i))
		must(w.Accounts.ChangeUser(w.ctx, w.admin, p.User.ID, func(u *store.User) error { u.FullName = name; return nil }))(t)
		must(w.Accounts.ChangeUser(w.ctx, w.admin, p.User.ID, func(u *store.User) error {
			u.Email, u.EmailVerified = "", false
			return nil
		}))(t)
		u := must(w.store.User(w.ctx, p.User.ID))(t)
		now := w.clock.now().UTC().Truncate(time.Microsecond)
		must(w.store.PutUserAsked(w.ctx, u, store.Asking{AskedAddress: store.AskedAddress{Address: "victim@example.org", Hash: "h" + name, AskedAt: now, ExpiresAt: now.Add(time.Hour)},
			Letter: store.Message{Channel: store.Mail, Target: "victim@example.org", Asks: true, State: store.MessageSent, Link: "/verify?token=mine", CreatedAt: now, NextAt: now}}))(t)
		if text := w.rowsOf(p); strings.Contains(text, "for the victim alone") || strings.Contains(text, "verify?token") {
			t.Errorf("%s is handed out\n%s", name, text)
		}
		if f := must(w.Accounts.BeforeErasure(w.ctx, w.inSession(p), p.User.ID))(t); f.Count != 0 {
			t.Errorf("%s is shown %+v", name, f.Texts)
		}
		before := must(w.store.AuditEntries(w.ctx, store.AuditFilter{Operation: "Tenants.Deposit", Limit: 100}))(t)
		w.eraseOwn(p)
		after := must(w.store.AuditEntries(w.ctx, store.AuditFilter{Operation: "Tenants.Deposit", Limit: 100}))(t)
		if same := slices.EqualFunc(before, after, func(x, y store.AuditEntry) bool { return string(x.After) == string(y.After) }); !same || len(after) == 0 {
			t.Errorf("after the erasure of %s, deposits are\n%+v\nin the log, before\n%+v", name, after, before)
		}
		if r := must(w.store.Request(w.ctx, request))(t); r.Body == "" {
			t.Errorf("after the erasure of %s, the answer to another's request is %+v", name, r)
		}
		if v := must(w.Invitations.Get(w.ctx, w.admin, letter.ID))(t); v.Address != "victim@example.org" || v.State != store.InvitationOpen {
			t.Errorf("after the erasure of %s, the invitation is %+v", name, v)
		}
	}
	notes := must(json.Marshal(must(w.store.Entries(w.ctx, engine.Account{Kind: engine.TenantAccount, ID: int64(w.a)}, 0, 100))(t)))(t)
	if !strings.Contains(string(notes), "Invoice 77") {
		t.Errorf("the entries are %s", notes)
	}
}

// TestAnInviterIsNotHandedTheLetters that were sent in their name: who has the link that was mailed
// would be taken for the one to whom it was.
func TestAnInviterIsNotHandedTheLetters(t *testing.T) {
	bubble(t, 0, func(t *testing.T, w *world) {
		l := &letters{fail: map[string]error{"ceo@example.org": &notify.Failure{Err: errors.New("550 not now")}}}
		w.withPost(recruit.Senders{Mail: l.send})
		must(w.Invitations.Invite(w.ctx, w.ann, accounts.NewInvitations{Tenant: w.a, Pool: w.pool, Addresses: []string{"ceo@example.org"}}))(t)
		<-time.After(time.Minute)
		for _, p := range []*access.Principal{w.ann, w.admin} {
			_, text := w.export(p, w.ann.User.ID)
			if !strings.Contains(text, "ceo@example.org") || strings.Contains(text, "invitation?token") || strings.Contains(text, "inv.") {
				t.Errorf("%s is handed out of ann\n%s", p.User.Name, text)
			}
			if told := strings.Contains(text, "550 not now"); told != (p == w.admin) {
				t.Errorf("%s is handed out how mail is sent: %t", p.User.Name, told)
			}
		}
	})
}

// TestAddressesOfBeforeAreTheirs, as far as they were shown to be: an invitation to one that was
// theirs goes with them, one to an address that they only wrote down does not.
func TestAddressesOfBeforeAreTheirs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	p := w.worker("dora")
	for _, x := range []struct {
		address  string
		verified bool
	}{{"first@example.org", true}, {"boss@example.org", false}, {"second@example.org", true}, {"chief@example.org", false}} {
		must(w.Accounts.ChangeUser(w.ctx, w.admin, p.User.ID, func(u *store.User) error {
			accounts.SetEmail(w.admin, u, x.address)
			accounts.SetVerified(u, x.verified)
			return nil
		}))(t)
	}
	theirs := map[string]bool{"first@example.org": true, "boss@example.org": false, "second@example.org": true, "chief@example.org": false}
	ids := map[string]int64{}
	for address := range theirs {
		ids[address] = w.invite(func(*accounts.NewInvitations) {}, address).Invited[0].ID
	}
	_, text := w.export(p, p.User.ID)
	w.eraseOwn(p)
	for address, own := range theirs {
		if shown := strings.Contains(text, `"Table":"invitations"`) && strings.Contains(text, `"address":"`+address); shown != own {
			t.Errorf("%s: handed out %t, want %t", address, shown, own)
		}
		if _, err := w.Invitations.Get(w.ctx, w.admin, ids[address]); (crowd.CodeOf(err) == crowd.NotFound) != own {
			t.Errorf("%s: the invitation is %v", address, err)
		}
	}
}

// TestWhoReadsSlowly holds few of the ways to the database: somebody's reads of all that is kept
// about them are bounded, and leave room for others'.
func TestWhoReadsSlowly(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		begin := func(p *access.Principal) (stop func(), err error) {
			_, rows, err := w.Accounts.PersonalData(w.ctx, p, p.User.ID)
			ok(t, err)
			next, stop := iter.Pull2(rows)
			_, err, _ = next()
			return stop, err
		}
		begun := 0
		for ; begun < 20; begun++ {
			stop, err := begin(w.workers[0])
			defer stop()
			if err != nil {
				refused(t, err, crowd.TooMany)
				break
			}
		}
		if begun == 0 || begun > 8 {
			t.Errorf("one person has begun %d", begun)
		}
		stop, err := begin(w.workers[1])
		ok(t, err)
		stop()
	})
}
