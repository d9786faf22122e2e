package storetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// act is a context in which somebody changes a tenant.
func (w *world) act(tenant crowd.TenantID, at time.Time) (context.Context, *store.Act) {
	a := &store.Act{AuditEntry: store.AuditEntry{At: at, Tenant: tenant, Actor: w.workers[0], Operation: "Tenants.Deposit", Kind: "tenant", Object: tenant.String(), Address: "192.0.2.1"}}
	return store.WithActs(w.ctx, a), a
}

// deposits makes n entries, a minute apart.
func (w *world) deposits(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		ctx, _ := w.act([]crowd.TenantID{w.mine, w.other}[i%2], w.now.Add(time.Duration(i)*time.Minute))
		ok(t, w.Deposit(ctx, w.now, w.mine, crowd.Unit, ""))
	}
}

func (w *world) numbers(t *testing.T, f store.AuditFilter) string {
	t.Helper()
	if f.Limit == 0 {
		f.Limit = 100
	}
	var all []string
	for _, e := range must(w.AuditEntries(w.ctx, f))(t) {
		all = append(all, fmt.Sprint(e.Number))
	}
	return strings.Join(all, " ")
}

func testAuditEntries(t *testing.T, w *world) {
	same(t, "no entries", w.numbers(t, store.AuditFilter{}), "")
	w.deposits(t, 4)
	ctx := store.WithActs(w.ctx, &store.Act{After: store.Tenant{Name: "new <&>", Weight: 2}, AuditEntry: store.AuditEntry{At: w.now.Add(time.Hour), Actor: w.workers[1], Token: 7, Operation: "Tenants.Create", Kind: "tenant"}})
	id := must(w.CreateTenant(ctx, store.Tenant{Name: "new <&>", Weight: 2, CreatedAt: w.now}, 3))(t)
	for _, c := range []struct {
		filter store.AuditFilter
		want   string
	}{
		{store.AuditFilter{}, "5 4 3 2 1"},
		{store.AuditFilter{Limit: 2}, "5 4"},
		{store.AuditFilter{Before: 3}, "2 1"},
		{store.AuditFilter{After: -1}, "1 2 3 4 5"},
		{store.AuditFilter{After: 3, Limit: 1}, "4"},
		{store.AuditFilter{Tenant: w.mine}, "3 1"},
		{store.AuditFilter{Tenant: w.other, Before: 4}, "2"},
		{store.AuditFilter{Actor: w.workers[1]}, "5"},
		{store.AuditFilter{Operation: "Tenants.Create"}, "5"},
		{store.AuditFilter{Operation: "Tenants."}, "5 4 3 2 1"},
		{store.AuditFilter{Operation: "tenants."}, ""},
		{store.AuditFilter{Among: []string{"Tenants.Create"}}, "5"},
		{store.AuditFilter{Among: []string{"Tenants.Create", "Tenants.Deposit", "Nothing"}}, "5 4 3 2 1"},
		{store.AuditFilter{Among: []string{"Tenants."}}, ""},
		{store.AuditFilter{Among: []string{"Tenants.Create", "Tenants.Deposit"}, Tenant: w.mine, Before: 3}, "1"},
		{store.AuditFilter{Except: []string{"Tenants.Deposit"}}, "5"},
		{store.AuditFilter{Except: []string{"Tenants.Deposit", "Tenants.Create"}}, ""},
		{store.AuditFilter{Except: []string{"Tenants."}, After: 3}, "4 5"},
		{store.AuditFilter{Operation: "Tenants.", Among: []string{"Tenants.Create", "Tenants.Deposit"}, Except: []string{"Tenants.Create"}, Limit: 2}, "4 3"},
		{store.AuditFilter{Kind: "tenant", Object: id.String()}, "5"},
		{store.AuditFilter{Kind: "batch"}, ""},
		{store.AuditFilter{Object: id.String()}, "5"},
		{store.AuditFilter{Address: "192.0.2.1"}, "4 3 2 1"},
		{store.AuditFilter{Since: w.now.Add(2 * time.Minute), Until: w.now.Add(time.Hour)}, "4 3"},
	} {
		same(t, fmt.Sprintf("the entries of %+v", c.filter), w.numbers(t, c.filter), c.want)
	}
	e := must(w.AuditEntries(w.ctx, store.AuditFilter{Limit: 2}))(t)
	same(t, "who, what, and on what", fmt.Sprintf("%s %d %s %s %s %t", e[0].Actor, e[0].Token, e[0].Operation, e[0].Kind, e[0].Object, e[0].At.Equal(w.now.Add(time.Hour))), fmt.Sprintf("%s 7 Tenants.Create tenant %s true", w.workers[1], id))
	same(t, "before and after", string(e[0].Before)+string(e[0].After), `{"name":"new <&>","weight":2}`)
	if e[0].Previous != e[1].Hash || len(e[0].Hash) != 64 || e[0].Hash != e[0].Digest() || e[1].Address != "192.0.2.1" {
		t.Errorf("entries %+v", e)
	}
	entries := must(w.Entries(w.ctx, engine.Account{Kind: engine.TenantAccount, ID: int64(id)}, 0, 10))(t)
	if len(entries) != 1 || entries[0].Author != w.workers[1] {
		t.Errorf("the author of the deposit: %+v", entries)
	}
}

func testCheckAudit(t *testing.T, w *world) {
	same(t, "the head of nothing", must(w.CheckAudit(w.ctx))(t), store.AuditHead{})
	w.deposits(t, 3)
	head := must(w.CheckAudit(w.ctx))(t)
	last := must(w.AuditEntries(w.ctx, store.AuditFilter{Limit: 1}))(t)[0]
	same(t, "the head", head, store.AuditHead{First: 1, Last: 3, Hash: last.Hash})

	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { w.deposits(t, 3) })
	}
	wg.Wait()
	same(t, "the numbers of many at a time", fmt.Sprint(must(w.CheckAudit(w.ctx))(t).Last), "27")
	ok(t, w.Close())
	w.Store = must(w.open())(t)
	same(t, "the numbers after a restart", fmt.Sprint(must(w.CheckAudit(w.ctx))(t).Last), "27")
}

// told makes an entry of a change of something, and returns its number.
func (w *world) told(t *testing.T, about store.AuditEntry, before, after any) int64 {
	t.Helper()
	about.At, about.Operation = w.now, "Some.Change"
	ok(t, w.Deposit(store.WithActs(w.ctx, &store.Act{AuditEntry: about, Before: before, After: after}), w.now, w.mine, crowd.Unit, ""))
	return must(w.CheckAudit(w.ctx))(t).Last
}

// testEraseAudit: what tells of a person is taken out of the entries, which still verify;
// what only has the same letters stays.
func testEraseAudit(t *testing.T, w *world) {
	ann, bob := w.workers[0], w.workers[1]
	type note struct{ Text string }
	type token struct{ User crowd.WorkerID }
	const gone, address, change = "a c", "a", "c"
	cases := []struct {
		name   string
		about  store.AuditEntry
		before any
		after  any
		want   string
	}{
		{"they changed", store.AuditEntry{Actor: ann, Kind: "batch", Object: "b1"}, nil, note{"x"}, address},
		{"somebody changed them", store.AuditEntry{Actor: bob, Kind: "user", Object: ann.String()}, store.User{Name: "ann", Email: "old@example.org", EmailVerified: true}, store.User{Name: "ann", FullName: "Ann \"A\" Ñ"}, change},
		{"they were lent", store.AuditEntry{Actor: bob, Kind: "worker", Object: ann.String()}, nil, note{"x"}, change},
		{"they changed themselves", store.AuditEntry{Actor: ann, Kind: "user", Object: ann.String()}, nil, note{"x"}, gone},
		{"their session", store.AuditEntry{Actor: ann, Kind: "session", Object: "3"}, note{"x"}, nil, gone},
		{"their token", store.AuditEntry{Actor: bob, Kind: "token", Object: "3"}, token{ann}, nil, change},
		{"another's token", store.AuditEntry{Actor: bob, Kind: "token", Object: "4"}, token{bob}, nil, ""},
		{"their address, given", store.AuditEntry{Actor: bob, Kind: "invitations"}, nil, note{"other@example.org Given@example.org"}, change},
		{"their address, declining", store.AuditEntry{Kind: "invitation", Object: "5"}, nil, note{"given@example.org"}, gone},
		{"somebody changed their address once more", store.AuditEntry{Actor: bob, Kind: "user", Object: ann.String()}, store.User{Email: "older@example.org", EmailVerified: true}, store.User{Email: "given@example.org", EmailVerified: true}, change},
		{"an address that stood beside the present one", store.AuditEntry{Actor: bob, Kind: "invitations"}, nil, note{"older@example.org"}, change},
		{"an address of before", store.AuditEntry{Actor: bob, Kind: "invitations"}, nil, note{"x old@example.org"}, change},
		{"what they call themselves, in a text", store.AuditEntry{Actor: bob, Kind: "batch", Object: "b2"}, note{"by\nANN \"A\" Ñ"}, nil, ""},
		{"no such word", store.AuditEntry{Actor: bob, Kind: "batch", Object: "b2"}, note{"channel annual given@example.organic jo.given@example.org un-given@example.org given@example.org.au"}, nil, ""},
		{"an address at the end of a sentence", store.AuditEntry{Actor: bob, Kind: "batch", Object: "b2"}, note{"asked given@example.org."}, nil, change},
		{"a pattern", store.AuditEntry{Actor: bob, Kind: "batch", Object: "b3"}, note{"axb"}, nil, ""},
		{"an address at which they were invited", store.AuditEntry{Actor: bob, Tenant: w.mine, Kind: "invitations"}, nil, note{"invited@example.org x@example.org"}, change},
		{"that address, by another tenant", store.AuditEntry{Actor: bob, Tenant: w.other, Kind: "invitations"}, nil, note{"invited@example.org"}, ""},
		{"that address, of something else", store.AuditEntry{Actor: bob, Tenant: w.mine, Kind: "batch", Object: "b9"}, nil, note{"invited@example.org"}, ""},
		{"an address that they were asked about", store.AuditEntry{Actor: bob, Kind: "batch", Object: "b4"}, nil, note{"asked@example.org"}, ""},
		{"an address that they wrote down", store.AuditEntry{Actor: bob, Kind: "user", Object: ann.String()}, store.User{Email: "older@example.org", EmailVerified: true}, store.User{Email: "boss@example.org"}, change},
		{"that address, given", store.AuditEntry{Actor: bob, Kind: "invitations"}, nil, note{"boss@example.org"}, ""},
		{"their own once more", store.AuditEntry{Actor: bob, Kind: "user", Object: ann.String()}, store.User{Email: "boss@example.org"}, store.User{Email: "given@example.org", EmailVerified: true}, change},
		{"an address that a provider tells", store.AuditEntry{Actor: bob, Kind: "batch", Object: "b6"}, nil, note{"corp@example.org"}, ""},
		{"a name at a provider", store.AuditEntry{Actor: bob, Kind: "batch", Object: "b7"}, nil, note{"ann.at.corp"}, ""},
		{"whom they invited", store.AuditEntry{Actor: bob, Kind: "batch", Object: "b8"}, nil, note{"friend@example.org"}, ""},
		{"a server's", store.AuditEntry{Kind: "batch", Object: "b3"}, nil, note{"x"}, ""},
	}
	numbers := make([]int64, len(cases))
	for i, c := range cases {
		c.about.Address = "192.0.2.7"
		numbers[i] = w.told(t, c.about, c.before, c.after)
	}
	without := w.told(t, store.AuditEntry{Actor: ann, Kind: "batch", Object: "b1"}, nil, note{"x"})
	u := must(w.User(w.ctx, ann))(t)
	u.Name, u.FullName, u.Email, u.EmailVerified = "a_b", "", "given@example.org", true
	ok(t, w.UpdateUser(w.ctx, u))
	asked := store.Asking{AskedAddress: store.AskedAddress{Address: "asked@example.org", AskedAt: w.now, ExpiresAt: w.now.Add(time.Hour)}, Letter: w.message(0, 0, 1)}
	must(w.AcceptInvitation(w.ctx, w.invite(t, w.invitation("invited@example.org"))[0], u, &asked))(t)
	invites := w.invitation("friend@example.org")
	invites.InvitedBy = ann
	must(w.CreateInvitations(w.ctx, []store.Invitation{invites}, func(i store.Invitation) store.Message {
		m := w.mailOf(i)
		m.Worker = ann
		return m
	}))(t)
	corp := w.provisioned("corp", "ann.at.corp")
	corp.Profile.Emails = []store.ProfileEmail{{Value: "corp@example.org"}}
	must(w.CreateProvisioned(w.ctx, corp, store.User{ID: ann}))(t)
	must(w.BeginErasure(w.ctx, store.Erasure{Person: ann, AskedBy: bob}))(t)
	for range 2 { // the second time nothing is left
		ok(t, w.Erase(w.ctx, ann, w.now))
		for i, c := range cases {
			e := must(w.AuditEntries(w.ctx, store.AuditFilter{Before: numbers[i] + 1, Limit: 1}))(t)[0]
			got := strings.TrimSpace(map[bool]string{true: "a "}[e.AddressDigest != ""] + map[bool]string{true: "c"}[e.ChangeDigest != ""])
			if got != c.want || e.Erased() != (c.want != "") {
				t.Errorf("%s: erased %q, want %q: %+v", c.name, got, c.want, e)
			}
			if (e.Address == "") != strings.Contains(got, "a") || (len(e.Before)+len(e.After) == 0) != strings.Contains(got, "c") {
				t.Errorf("%s: left %+v", c.name, e)
			}
			if got == "" && e.Salt == "" {
				t.Errorf("%s: %+v has no salt", c.name, e)
			}
		}
		same(t, "how many are erased", must(w.CheckAudit(w.ctx))(t).Erased, int64(15))
	}
	if e := must(w.AuditEntries(w.ctx, store.AuditFilter{Before: without + 1, Limit: 1}))(t)[0]; e.Erased() {
		t.Errorf("an entry without address: %+v", e)
	}
}

// testDropAudit: entries go from the front only, and what says so lets the others verify.
func testDropAudit(t *testing.T, w *world) {
	drop := func(before time.Time, limit int) store.AuditDrop {
		t.Helper()
		d := must(w.DropAudit(w.ctx, store.AuditDropping{Before: before, Setting: "24h", Limit: limit, At: w.now.Add(time.Hour)}))(t)
		head := must(w.CheckAudit(w.ctx))(t)
		if first := max(d.First, 1); head.Last > 0 && d.Dropped > 0 && head.First != first {
			t.Errorf("the log begins with %d, and not with %d", head.First, first)
		}
		return d
	}
	same(t, "of nothing", drop(w.now.Add(time.Hour), 9), store.AuditDrop{})
	w.deposits(t, 6)                                                                      // a minute apart
	w.told(t, store.AuditEntry{Actor: w.workers[0], Kind: "batch", Object: "b1"}, nil, 1) // of now again, as if the clock had been set back
	same(t, "of before the first", drop(w.now, 9), store.AuditDrop{})
	same(t, "all are there", w.numbers(t, store.AuditFilter{}), "7 6 5 4 3 2 1")
	second := must(w.AuditEntries(w.ctx, store.AuditFilter{Limit: 9}))(t)[5]
	same(t, "what is dropped", drop(w.now.Add(2*time.Minute), 9), store.AuditDrop{Dropped: 2, First: 3, Previous: second.Hash, Before: w.now.Add(2 * time.Minute), Setting: "24h"})
	same(t, "the front is gone", w.numbers(t, store.AuditFilter{}), "8 7 6 5 4 3")
	e := must(w.AuditEntries(w.ctx, store.AuditFilter{Limit: 1}))(t)[0]
	same(t, "what says so", fmt.Sprintf("%s %s %s %s %t", e.Actor, e.Operation, e.Kind, e.Object, e.At.Equal(w.now.Add(time.Hour))), "u0 Audit.DropOld audit log true")
	if !strings.Contains(string(e.After), `"dropped":2,"first":3,`) || !strings.Contains(string(e.After), `"setting":"24h"`) {
		t.Errorf("it says %s", e.After)
	}
	same(t, "no more than the limit", drop(w.now.Add(2*time.Hour), 4).First, int64(7))
	drop(w.now.Add(2*time.Hour), 9) // and what told of droppings
	same(t, "only what says so is left", w.numbers(t, store.AuditFilter{}), "10")
	w.deposits(t, 1)
	ok(t, w.Close())
	w.Store = must(w.open())(t)
	same(t, "it goes on", must(w.CheckAudit(w.ctx))(t).Last, int64(11))
}

// testActs: the first transaction under an act that succeeds keeps its entry, once. Group
// commits keep those of several.
func testActs(t *testing.T, w *world) {
	ctx, a := w.act(w.mine, w.now)
	refused(t, w.Deposit(ctx, w.now, 999, crowd.Unit, ""), crowd.NotFound)
	ok(t, w.Deposit(store.Preparing(ctx), w.now, w.mine, crowd.Unit, ""))
	same(t, "what failed, and what prepares", w.numbers(t, store.AuditFilter{}), "")
	if !a.Pending() {
		t.Error("the act is known to be kept")
	}
	ok(t, w.Deposit(ctx, w.now, w.mine, crowd.Unit, ""))
	ok(t, w.Deposit(ctx, w.now, w.mine, crowd.Unit, "")) // goes on
	same(t, "once", w.numbers(t, store.AuditFilter{}), "1")
	_, b := w.act(w.mine, w.now)
	_, c := w.act(w.other, w.now)
	ok(t, w.Commit(store.WithActs(w.ctx, b, c), &engine.Changes{Transfers: []engine.Transfer{{
		At: w.now, Kind: engine.Deposit, Amount: crowd.Unit, From: engine.Account{Kind: engine.Outside}, To: engine.Account{Kind: engine.TenantAccount, ID: int64(w.mine)}, Author: w.workers[3],
	}}}))
	same(t, "both", w.numbers(t, store.AuditFilter{}), "3 2 1")
	entries := must(w.Entries(w.ctx, engine.Account{Kind: engine.TenantAccount, ID: int64(w.mine)}, 0, 10))(t)
	same(t, "the authors", fmt.Sprint(entries[0].Author, entries[1].Author, entries[3].Author), fmt.Sprint(w.workers[3], w.workers[0], crowd.WorkerID(0)))
	must(w.CheckAudit(w.ctx))(t)
}
