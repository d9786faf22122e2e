package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
)

// TestQualificationsHaveOwners: a tenant's test grants names of the tenant only, and a
// tenant's batch asks for names of it and of the installation; another tenant's name, and
// one of a tenant that is not there, are refused with the same words.
func TestQualificationsHaveOwners(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	made := 0
	create := func(tenant crowd.TenantID, grants string) error {
		by := w.ann
		made++
		if tenant == 0 {
			by = w.admin
		}
		return second(w.Tests.Create(w.ctx, by, accounts.NewTest{Tenant: tenant, Name: fmt.Sprint("easy ", made), Template: json.RawMessage(yesOrNo), Questions: alive(2), PassMark: 1, Grants: grants}))
	}
	for _, x := range []struct {
		tenant crowd.TenantID
		grants string
		says   string // "": it is made
	}{
		{w.a, "ants/birds", ""}, {w.a, w.a.String() + "/birds", ""}, {w.a, "", ""}, {0, "birds", ""}, {0, "", ""},
		{w.a, "birds", "write ants/birds"}, {w.a, "bees/birds", "write ants/birds"}, {w.a, "nobody/birds", "write ants/birds"}, {w.a, "ants/a/b", "is not the name"},
		{0, "ants/birds", "write birds"}, {0, "/birds", "is not the name"},
	} {
		switch err := create(x.tenant, x.grants); {
		case x.says == "":
			ok(t, err)
		case err == nil || crowd.CodeOf(err) != crowd.Invalid || !strings.Contains(err.Error(), x.says):
			t.Errorf("a test of %s that grants %q: %v, want %q", x.tenant, x.grants, err, x.says)
		}
	}
	asks := func(name string) (store.Batch, error) {
		return w.Batches.Create(w.ctx, w.ann, batches.NewBatch{Tenant: w.a, Name: "x", Template: json.RawMessage(yesOrNo), Reward: 50_000,
			Requirements: []engine.Requirement{engine.ParseRequirement(crowd.Qualification{Name: name, Score: 80})}})
	}
	for written, want := range map[string]string{"birds": "birds", "ants/birds": "ants/birds", "n1/birds": "ants/birds"} {
		b, err := asks(written)
		ok(t, err)
		if got := b.Spec.Requirements[0].FullName(); got != want {
			t.Errorf("%s is kept as %s", written, got)
		}
	}
	_, there := asks("bees/birds")
	_, absent := asks("nobody/birds")
	refused(t, there, crowd.Invalid)
	refused(t, absent, crowd.Invalid)
	if strings.Replace(there.Error(), "bees", "nobody", 1) != absent.Error() {
		t.Errorf("they are told apart: %v, %v", there, absent)
	}

	set := func(held map[string]int) (store.User, error) {
		return w.Accounts.ChangeUser(w.ctx, w.admin, w.workers[0].User.ID, func(u *store.User) error { u.Qualifications, u.Granted = held, nil; return nil })
	}
	u, err := set(map[string]int{"birds": 10, "ants/birds": 20, w.b.String() + "/birds": 30})
	ok(t, err)
	names := must(w.Tenants.Names(w.ctx))(t)
	if held := names.Held(u); len(held) != 3 || held["birds"] != 10 || held["ants/birds"] != 20 || held["bees/birds"] != 30 {
		t.Errorf("they hold %v", held)
	}
	_, err = set(map[string]int{"nobody/birds": 1})
	refused(t, err, crowd.Invalid)
	_, err = set(map[string]int{"ants/birds": 1, w.a.String() + "/birds": 2})
	refused(t, err, crowd.Invalid)
}
