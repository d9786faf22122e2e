package app_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/audit"
	"github.com/throng-dev/throng/internal/store"
)

// TestEachTenantSeesItsPart: administrators see everything; others what was changed of their
// tenants, without addresses and without who runs the installation. What they see verifies.
func TestEachTenantSeesItsPart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.ctx = access.WithSender(w.ctx, access.Sender{Address: netip.MustParseAddr("192.0.2.7")})
	ok(t, w.Tenants.Deposit(w.ctx, w.admin, w.a, crowd.Unit, "for a"))
	ok(t, w.Tenants.Deposit(w.ctx, w.admin, w.b, crowd.Unit, "for b"))
	ok(t, w.Tenants.PutSecret(w.ctx, w.ann, w.a, secretKey))
	limited, _, err := w.Accounts.CreateToken(w.ctx, w.admin, accounts.NewToken{For: w.ann.User.ID, Name: "of the boss", Tenant: w.a, Networks: []string{"198.51.100.0/24"}})
	ok(t, err)

	all := must(w.Audit.List(w.ctx, w.admin, audit.Filter{AuditFilter: store.AuditFilter{Limit: 1000}}))(t)
	tenants := map[crowd.TenantID]int{}
	for _, e := range all {
		tenants[e.Tenant]++
		if e.Actor != 0 && e.Who == "" || e.Staff {
			t.Errorf("an administrator does not see who it was: %+v", e)
		}
	}
	if tenants[0] == 0 || tenants[w.a] < 3 || tenants[w.b] == 0 || all[0].Address != "192.0.2.7" || all[0].Salt == "" {
		t.Errorf("an administrator sees %v: %+v", tenants, all[0])
	}
	for _, e := range all {
		got, err := w.Audit.Get(w.ctx, w.bob, e.Number)
		if e.Tenant == w.b {
			ok(t, err)
			if got.Number != e.Number {
				t.Errorf("entry %d is %d", e.Number, got.Number)
			}
			continue
		}
		_, absent := w.Audit.Get(w.ctx, w.bob, 999)
		if refused(t, err, crowd.NotFound); strings.ReplaceAll(err.Error(), fmt.Sprint(e.Number), "999") != absent.Error() {
			t.Errorf("another's entry is %q, one that is not there %q", err, absent)
		}
	}

	own := must(w.Audit.List(w.ctx, w.ann, audit.Filter{AuditFilter: store.AuditFilter{Limit: 1000}}))(t)
	if len(own) != tenants[w.a] {
		t.Errorf("there are %d entries of a, %d are seen", tenants[w.a], len(own))
	}
	seen := map[string]audit.Entry{}
	for _, e := range own {
		if seen[e.Operation] = e; e.Tenant != w.a || e.Address != "" || e.AddressSalt != "" || e.Hash != e.Digest() || !e.Verifiable() {
			t.Errorf("a sees %+v", e)
		}
		if text := string(must(json.Marshal(e))(t)); strings.Contains(text, "192.0.2.7") || strings.Contains(text, w.admin.User.Name) || strings.Contains(text, "198.51.100") {
			t.Errorf("a sees %s", text)
		}
	}
	if e := seen["Tenants.Deposit"]; !e.Staff || e.Who != "" || e.After == nil || e.Summary != "moved money into or out of the account of tenant "+w.a.String() {
		t.Errorf("a deposit is %+v", e)
	}
	if e := seen["Tenants.PutSecret"]; e.Staff || e.Who != w.ann.User.Name {
		t.Errorf("what ann did is %+v", e)
	}
	if e := seen["Accounts.CreateToken"]; e.Object != fmt.Sprint(limited.ID) || e.After != nil || e.ChangeDigest == "" {
		t.Errorf("a token of who runs the installation is %+v", e)
	}

	_, err = w.Audit.List(w.ctx, w.ann, audit.Filter{AuditFilter: store.AuditFilter{Tenant: w.b, Limit: 9}})
	refused(t, err, crowd.NotFound)
	_, err = w.Audit.List(w.ctx, w.ann, audit.Filter{AuditFilter: store.AuditFilter{Address: "192.0.2.7", Limit: 9}})
	refused(t, err, crowd.Forbidden)
	_, err = w.Audit.Export(w.ctx, w.ann, audit.Filter{AuditFilter: store.AuditFilter{Address: "192.0.2.7"}})
	refused(t, err, crowd.Forbidden)
	if list := must(w.Audit.List(w.ctx, w.admin, audit.Filter{AuditFilter: store.AuditFilter{Address: "192.0.2.7", Limit: 9}}))(t); len(list) != 4 {
		t.Errorf("from the address came %d", len(list))
	}
	token := *w.admin
	token.Token = store.Token{Kind: store.APIToken, Tenant: w.a}
	_, err = w.Audit.List(w.ctx, &token, audit.Filter{AuditFilter: store.AuditFilter{Limit: 9}})
	refused(t, err, crowd.Forbidden) // as admin of nothing
}

// TestExportOfTheAuditLog: everything is a chain without gaps; a tenant's part is what they may see.
func TestExportOfTheAuditLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for range 1100 {
		ok(t, w.Tenants.Deposit(w.ctx, w.admin, w.a, crowd.Unit, ""))
	}
	var chain store.AuditChain
	for e, err := range must(w.Audit.Export(w.ctx, w.admin, audit.Filter{AuditFilter: store.AuditFilter{}}))(t) {
		ok(t, err)
		ok(t, chain.Add(&e.AuditEntry))
	}
	ok(t, chain.End())
	if head := must(w.Audit.Check(w.ctx, w.admin))(t); head != chain.Head || head.Last < 1100 {
		t.Errorf("the export ends with %+v, the log with %+v", chain.Head, head)
	}
	n := 0
	for e, err := range must(w.Audit.Export(w.ctx, w.ann, audit.Filter{AuditFilter: store.AuditFilter{Operation: "Tenants.Deposit"}}))(t) {
		if ok(t, err); e.Tenant != w.a || e.Address != "" || e.Hash != e.Digest() {
			t.Errorf("ann's has %+v", e)
		}
		if n++; n == 1050 {
			break
		}
	}
	if n != 1050 {
		t.Errorf("ann's has %d", n)
	}
}

// TestAuditRetention: what is older than is wanted is dropped by whole days, with one entry
// a day that says so; without the setting, nothing is.
func TestAuditRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	kept := audit.New(audit.Config{Store: w.store, Log: w.log(), Clock: w.clock.now, Keep: 48 * time.Hour})
	first := must(w.store.CheckAudit(w.ctx))(t).Last
	day := w.clock.now().UTC().Truncate(24 * time.Hour)
	w.clock.advance(day.Add(24 * time.Hour).Sub(w.clock.now()))
	ok(t, w.Tenants.Deposit(w.ctx, w.admin, w.a, crowd.Unit, "the next day"))
	for _, c := range []struct {
		after, dropped time.Duration // of the first midnight, in entries
	}{{0, 0}, {24 * time.Hour, 0}, {48 * time.Hour, time.Duration(first)}, {71 * time.Hour, 0}, {72 * time.Hour, 1}} {
		w.clock.advance(day.Add(24*time.Hour + c.after).Sub(w.clock.now()))
		if n := must(kept.DropOld(w.ctx))(t); n != int64(c.dropped) {
			t.Errorf("%s on, %d were dropped, want %d", c.after, n, c.dropped)
		}
		must(w.Audit.Check(w.ctx, w.admin))(t)
	}
	last := must(w.Audit.List(w.ctx, w.admin, audit.Filter{AuditFilter: store.AuditFilter{Limit: 1}}))(t)[0]
	if last.Summary != "dropped old entries of the audit log" || !strings.Contains(string(last.After), `"setting":"--audit-retention 2 days"`) {
		t.Errorf("the last entry is %+v", last)
	}
	if n := must(w.Audit.DropOld(w.ctx))(t); n != 0 {
		t.Errorf("%d are dropped without a setting", n)
	}
	for keep, fine := range map[time.Duration]bool{0: true, time.Hour: false, 24 * time.Hour: true, -1: false} {
		if err := audit.CheckRetention("audit-retention", keep); (err == nil) != fine {
			t.Errorf("%s: %v", keep, err)
		}
	}
}

// TestEverySummary: each operation of which the log tells is told in words.
func TestEverySummary(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for _, o := range access.Operations() {
		name, _, part := strings.Cut(o.Name, ": ")
		if !o.Logged() || part {
			continue
		}
		e := &store.Act{AuditEntry: store.AuditEntry{At: w.clock.now(), Tenant: w.a, Actor: w.ann.User.ID, Operation: name, Kind: "batch", Object: "b1"}}
		ok(t, w.store.Deposit(store.WithActs(w.ctx, e), w.clock.now(), w.a, crowd.Unit, ""))
		if s := must(w.Audit.List(w.ctx, w.ann, audit.Filter{AuditFilter: store.AuditFilter{Limit: 1}}))(t)[0].Summary; strings.Contains(s, name) || !strings.Contains(s, "batch b1") {
			t.Errorf("%s is told as %q", name, s)
		}
	}
}

// The calls of the use case in the table of all calls.
func listAudit(s *scene, p *access.Principal) error {
	return second(s.Audit.List(s.ctx, p, audit.Filter{AuditFilter: store.AuditFilter{Tenant: s.a, Limit: 9}}))
}

func getAudit(s *scene, p *access.Principal) error {
	return second(s.Audit.Get(s.ctx, p, s.entryOfA()))
}

func exportAudit(s *scene, p *access.Principal) error {
	return second(s.Audit.Export(s.ctx, p, audit.Filter{AuditFilter: store.AuditFilter{Tenant: s.a}}))
}

// TestHashesTellNoIDs: where a worker stands by a pseudonym, nothing that is shown next to the
// hash lets anybody try ids until one fits, whoever did what to them.
func TestHashesTellNoIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.ctx = access.WithSender(w.ctx, access.Sender{Address: netip.MustParseAddr("192.0.2.7")})
	for _, blocked := range []bool{true, false} {
		ok(t, w.Accounts.BlockWorker(w.ctx, w.ann, w.a, w.pseudonym(w.a, w.workers[0]), blocked))
	}
	r := w.invite(func(n *accounts.NewInvitations) { n.Tenant = w.a }, "new@example.org")
	must(w.Invitations.Join(w.ctx, r.Invited[0].Token, accounts.NewAccount{Name: "new", Password: goodPassword}))(t)
	fits := func(e *store.AuditEntry) crowd.WorkerID {
		for id := range crowd.WorkerID(100) {
			x := *e
			if x.Object = id.String(); e.Kind != audit.Worker {
				x.Object, x.Actor = e.Object, id
			}
			if e.Hash == x.Digest() {
				return id
			}
		}
		return 0
	}
	renamed := map[string]int{}
	for e, err := range must(w.Audit.Export(w.ctx, w.ann, audit.Filter{}))(t) {
		ok(t, err)
		if !e.Renamed {
			continue
		}
		renamed[e.Operation]++
		if id := fits(&e.AuditEntry); id != 0 || e.Salt+e.AddressSalt+e.AddressDigest+e.ChangeDigest != "" {
			t.Errorf("%s of entry %d: %s fits the hash of %+v", e.Operation, e.Number, id, e)
		}
		kept := must(w.store.AuditEntries(w.ctx, store.AuditFilter{Before: e.Number + 1, Limit: 1}))(t)[0]
		if kept.WithholdAddress(); fits(&kept) == 0 {
			t.Errorf("no id fits the hash of what is kept, %+v: the test tries the wrong ones", kept)
		}
	}
	if len(renamed) != 2 {
		t.Errorf("there are pseudonyms in entries of %v", renamed)
	}
}

// TestFiltersByWhatThereIsNot are refused, with what there is: no entry would look like a log in which
// nothing happened.
func TestFiltersByWhatThereIsNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	list := func(f store.AuditFilter) error {
		f.Limit = 9
		return second(w.Audit.List(w.ctx, w.admin, audit.Filter{AuditFilter: f}))
	}
	refusedText(t, list(store.AuditFilter{Kind: "users"}), crowd.Invalid, "there are audit, batch, ")
	refusedText(t, list(store.AuditFilter{Operation: "batches.launch"}), crowd.Invalid, "Batches.Launch")
	refused(t, list(store.AuditFilter{Operation: "Batches.List"}), crowd.Invalid) // which is not logged
	_, err := w.Audit.Export(w.ctx, w.admin, audit.Filter{AuditFilter: store.AuditFilter{Kind: "x"}})
	refused(t, err, crowd.Invalid)
	for _, f := range []store.AuditFilter{{}, {Kind: audit.Pool}, {Operation: "Batches"}, {Operation: "Batches.Launch"}, {Operation: store.RetentionDeleted}, {Operation: store.AuditDropped}} {
		ok(t, list(f))
	}
}
