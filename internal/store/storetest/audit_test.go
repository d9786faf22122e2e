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
		{store.AuditFilter{Kind: "tenant", Object: id.String()}, "5"},
		{store.AuditFilter{Kind: "batch"}, ""},
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
	same(t, "the head", head, store.AuditHead{Last: 3, Hash: last.Hash})

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
