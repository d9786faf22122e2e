package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

func ptr[T any](v T) *T { return &v }

// limit sets one quota of the first tenant.
func (w *world) limit(t *testing.T, q store.Quota, value int64) {
	t.Helper()
	ok(t, w.SetQuotas(w.ctx, w.mine, map[store.Quota]*int64{q: &value}))
}

// used is how much of a quota the first tenant has.
func (w *world) used(t *testing.T, q store.Quota) int64 {
	t.Helper()
	return must(w.Usage(w.ctx, w.mine, w.now))(t)[q]
}

func testSetQuotas(t *testing.T, w *world) {
	same(t, "at first", must(w.QuotasSet(w.ctx))(t), nil)
	w.limit(t, store.APITokens, 7)
	ok(t, w.SetQuotas(w.ctx, w.mine, map[store.Quota]*int64{store.OpenRuns: ptr[int64](0), store.APITokens: ptr[int64](8)}))
	ok(t, w.SetQuotas(w.ctx, w.other, map[store.Quota]*int64{store.OpenRuns: ptr[int64](3)}))
	same(t, "set", must(w.QuotasSet(w.ctx))(t), map[crowd.TenantID]map[store.Quota]int64{w.mine: {store.OpenRuns: 0, store.APITokens: 8}, w.other: {store.OpenRuns: 3}})
	ok(t, w.SetQuotas(w.ctx, w.mine, map[store.Quota]*int64{store.OpenRuns: nil, store.Members: nil}))
	same(t, "one is the default again", must(w.QuotasSet(w.ctx))(t), map[crowd.TenantID]map[store.Quota]int64{w.mine: {store.APITokens: 8}, w.other: {store.OpenRuns: 3}})
	refused(t, w.SetQuotas(w.ctx, 99, map[store.Quota]*int64{store.OpenRuns: ptr[int64](3)}), crowd.NotFound)
}

// testUsage: what is counted follows what is kept and taken away.
func testUsage(t *testing.T, w *world) {
	begin := must(w.Usage(w.ctx, w.mine, w.now))(t)
	if begin[store.OpenBatches] != 1 || begin[store.OpenTasks] != tasks || begin[store.StoredBytes] < 400 {
		t.Fatalf("a draft with %d tasks: %v", tasks, begin)
	}
	for _, q := range store.AllQuotas() {
		if _, told := begin[q.Quota]; told != (q.Kind == store.Kept) {
			t.Errorf("%s, %s: told %t", q.Quota, q.Kind, told)
		}
	}
	same(t, "of another tenant", must(w.Usage(w.ctx, w.other, w.now))(t)[store.StoredBytes], 0)
	ok(t, w.DropTasks(w.ctx, w.mine, w.batch))
	ok(t, w.AddTasks(w.ctx, w.batch, []store.Task{{Values: []string{"12345", "é"}, Gold: "g", Explain: "it is"}}))
	const task = int64(len(`["12345","é"]`) + 1 + 5)
	more := w.used(t, store.StoredBytes)
	ok(t, w.AddTasks(w.ctx, w.batch, []store.Task{{Values: []string{"12345", "é"}, Gold: "g", Explain: "it is"}}))
	same(t, "one more task", w.used(t, store.StoredBytes), more+task)
	ok(t, w.CancelDraft(w.ctx, w.mine, w.batch, w.now))
	after := must(w.Usage(w.ctx, w.mine, w.now))(t)
	same(t, "what is kept of a draft that was cancelled", []int64{after[store.OpenBatches], after[store.OpenTasks], after[store.StoredBytes]}, []int64{0, 0, int64(len(must(w.Batch(w.ctx, w.mine, w.batch))(t).Template))})
	ok(t, w.CheckUsage(w.ctx))

	_ = must(w.CreateToken(w.ctx, store.Token{Hash: "1", Kind: store.APIToken, User: w.workers[0], Tenant: w.mine, CreatedAt: w.now, ExpiresAt: w.now.Add(time.Hour)}))(t)
	_ = must(w.CreateToken(w.ctx, store.Token{Hash: "2", Kind: store.SessionToken, User: w.workers[0], Tenant: w.mine, CreatedAt: w.now}))(t)
	same(t, "tokens", w.used(t, store.APITokens), 1)
	same(t, "tokens that are good later", must(w.Usage(w.ctx, w.mine, w.now.Add(2*time.Hour)))(t)[store.APITokens], 0)

	u := must(w.User(w.ctx, w.workers[0]))(t)
	u.Tenants = []crowd.TenantID{w.mine}
	ok(t, w.UpdateUser(w.ctx, u))
	_ = must(w.CreateToken(w.ctx, store.Token{Hash: "3", Kind: store.APIToken, User: u.ID, CreatedAt: w.now}))(t)
	_ = must(w.CreateToken(w.ctx, store.Token{Hash: "4", Kind: store.APIToken, User: u.ID, Tenant: w.mine, CreatedAt: w.now}))(t)
	same(t, "tokens of a member", w.used(t, store.APITokens), 2)
	u.Suspended = true
	ok(t, w.UpdateUser(w.ctx, u))
	same(t, "tokens of who is suspended", w.used(t, store.APITokens), 0)
	same(t, "those of all tenants", must(w.UsageOfAll(w.ctx, w.now))(t)[w.mine][store.APITokens], 0)
}

func testUsageOfAll(t *testing.T, w *world) {
	w.invite(t, w.invitation("a@example.org"), w.invitation("b@example.org"))
	for i, change := range []func(*store.User){
		func(u *store.User) { u.Serves = []crowd.TenantID{w.mine} },
		func(u *store.User) { u.Serves = []crowd.TenantID{w.mine, w.other} },
		func(u *store.User) {
			u.Serves, u.Tenants = []crowd.TenantID{w.other}, []crowd.TenantID{w.mine, w.other}
			u.Roles = []store.HeldRole{{Tenant: w.mine, Role: "viewer"}, {Role: "operator"}}
		},
	} {
		u := must(w.User(w.ctx, w.workers[i]))(t)
		change(&u)
		ok(t, w.UpdateUser(w.ctx, u))
		must(w.PutSubscription(w.ctx, store.Subscription{Worker: u.ID, Endpoint: "e" + u.Name, CreatedAt: w.now}))(t)
		must(w.CreateToken(w.ctx, store.Token{Hash: "of all " + u.Name, Kind: store.APIToken, User: u.ID, CreatedAt: w.now}))(t)
		must(w.CreateToken(w.ctx, store.Token{Hash: "of mine " + u.Name, Kind: store.APIToken, User: u.ID, Tenant: w.mine, CreatedAt: w.now, ExpiresAt: w.now.Add(time.Hour)}))(t)
	}
	ok(t, w.PutTenantSecret(w.ctx, w.other, store.TenantSecret{Name: "KEY", Value: "x"}))
	for _, now := range []time.Time{w.now, w.now.Add(2 * time.Hour), w.now.Add(1000 * time.Hour)} {
		all, sum := must(w.UsageOfAll(w.ctx, now))(t), map[store.Quota]int64{}
		if len(all) < 2 {
			t.Fatalf("%d tenants", len(all))
		}
		for tenant, used := range all {
			same(t, tenant.String(), used, must(w.Usage(w.ctx, tenant, now))(t))
			for q, n := range used {
				sum[q] += n
			}
		}
		for _, q := range []store.Quota{store.Members, store.OwnWorkers, store.APITokens, store.PushEndpoints, store.SecretsKept, store.OpenBatches} {
			if sum[q] == 0 {
				t.Errorf("nobody has any %s: the test tells nothing of it", q)
			}
		}
	}
}

func testDailyUsage(t *testing.T, w *world) {
	same(t, "at first", must(w.DailyUsage(w.ctx))(t), nil)
	one := store.DailyUse{Tenant: w.mine, Quota: store.UploadedDaily, Day: 20_000, Used: 5}
	ok(t, w.KeepDailyUsage(w.ctx, []store.DailyUse{one, {Quota: store.QueryTimeDaily, Day: 20_000, Used: 6}}))
	one.Day, one.Used = 20_001, 1
	ok(t, w.KeepDailyUsage(w.ctx, []store.DailyUse{one}))
	same(t, "the last of each", must(w.DailyUsage(w.ctx))(t), []store.DailyUse{{Quota: store.QueryTimeDaily, Day: 20_000, Used: 6}, one})
}

// testCheckUsage: what is counted along through a batch's whole life is what there is.
func testCheckUsage(t *testing.T, w *world) {
	ok(t, w.CheckUsage(w.ctx))
	ok(t, w.Commit(w.ctx, w.launch(w.batch, crowd.Unit)))
	before := w.used(t, store.StoredBytes)
	a := w.batch.Assignment(1)
	ok(t, w.Commit(w.ctx, &engine.Changes{Handouts: []engine.Handout{{Assignment: a, Task: w.batch.Task(1), Worker: w.workers[0], At: w.now, Expires: w.now.Add(time.Hour)}}}))
	ok(t, w.Commit(w.ctx, &engine.Changes{Answers: []engine.Answer{{Assignment: a, Worker: w.workers[0], At: w.now, Body: `"1234"`, Key: "k", Counted: true}},
		Labels: []engine.Label{{Task: w.batch.Task(1), At: w.now, Value: "12345", Answers: 1}}}))
	same(t, "an answer and a label", w.used(t, store.StoredBytes), before+6+5)
	ok(t, w.StageTasks(w.ctx, w.mine, w.batch, []store.Task{{Values: []string{"a", "b"}}, {Values: []string{"a", "b"}}}))
	same(t, "staged", w.used(t, store.OpenTasks), tasks+2)
	ok(t, w.CheckUsage(w.ctx))
	over := engine.Progress{Batch: w.batch, State: crowd.BatchCancelled, EndedAt: w.now}
	ok(t, w.Commit(w.ctx, &engine.Changes{Progress: []engine.Progress{over}}))
	same(t, "ended", []int64{w.used(t, store.OpenTasks), w.used(t, store.OpenBatches)}, []int64{2, 0})
	ok(t, w.CheckUsage(w.ctx))
	ok(t, w.DropStaged(w.ctx, w.mine, w.batch))
	same(t, "staged ones dropped", []int64{w.used(t, store.OpenTasks), w.used(t, store.StoredBytes)}, []int64{0, before + 6 + 5})
	ok(t, w.CheckUsage(w.ctx))
}

// testNothingPassesAQuota: of many at once, as many succeed as the quota allows; others
// are told which quota, and leave nothing; and what is taken away makes room.
func testNothingPassesAQuota(t *testing.T, w *world) {
	person := must(w.CreateUser(w.ctx, store.User{Name: "member", Tenants: []crowd.TenantID{w.mine}, CreatedAt: w.now}))(t)
	var n atomic.Int64
	kinds := []struct {
		quota store.Quota
		code  crowd.Code
		most  int64 // that there may be
		by    int64 // each adds
		add   func() error
	}{
		{store.OpenBatches, crowd.QuotaExceeded, 4, 1, func() error {
			_, err := w.CreateBatch(w.ctx, store.Batch{Spec: w.spec(w.mine), Pool: w.pool, Name: "more", Template: []byte(`{}`), CreatedBy: person, CreatedAt: w.now})
			return err
		}},
		{store.OpenTasks, crowd.QuotaExceeded, tasks + 7, 2, func() error {
			return w.AddTasks(w.ctx, w.batch, []store.Task{{Values: []string{"a"}}, {Values: []string{"b"}}})
		}},
		{store.StoredBytes, crowd.StorageFull, w.used(t, store.StoredBytes) + 1000 + 5*int64(len(`["x"]`)), 0, func() error {
			return w.AddTasks(w.ctx, w.batch, []store.Task{{Values: []string{strings.Repeat("x", 200)}}})
		}},
		{store.APITokens, crowd.QuotaExceeded, 5, 1, func() error {
			_, err := w.CreateToken(w.ctx, store.Token{Hash: fmt.Sprint(n.Add(1)), Kind: store.APIToken, User: person, CreatedAt: w.now})
			return err
		}},
		{store.Members, crowd.QuotaExceeded, 4, 1, func() error {
			_, err := w.CreateUser(w.ctx, store.User{Name: fmt.Sprint("m", n.Add(1)), Tenants: []crowd.TenantID{w.mine}, CreatedAt: w.now})
			return err
		}},
		{store.OwnWorkers, crowd.QuotaExceeded, 3, 1, func() error {
			_, err := w.CreateUser(w.ctx, store.User{Name: fmt.Sprint("w", n.Add(1)), Pool: w.pool, Serves: []crowd.TenantID{w.mine}, CreatedAt: w.now})
			return err
		}},
		{store.OpenInvitations, crowd.QuotaExceeded, 5, 2, func() error {
			i := store.Invitation{Tenant: w.mine, Pool: w.pool, Address: "a@example.org", InvitedBy: person, CreatedAt: w.now, ExpiresAt: w.now.Add(time.Hour), State: store.InvitationOpen}
			_, err := w.CreateInvitations(w.ctx, []store.Invitation{i, i}, nil)
			return err
		}},
		{store.OpenRuns, crowd.QuotaExceeded, 3, 1, func() error {
			_, err := w.CreateRun(w.ctx, store.Run{Tenant: w.mine, Name: "run", Text: "x", State: store.RunLoading, CreatedBy: person, CreatedAt: w.now}, nil)
			return err
		}},
		{store.SecretsKept, crowd.QuotaExceeded, 3, 1, func() error {
			return w.PutTenantSecret(w.ctx, w.mine, store.TenantSecret{Name: fmt.Sprint("s", n.Add(1)), Value: "v"})
		}},
	}
	for _, k := range kinds {
		before := w.used(t, k.quota)
		w.limit(t, k.quota, k.most)
		var all sync.WaitGroup
		errs := make([]error, 12)
		for i := range errs {
			all.Go(func() { errs[i] = k.add() })
		}
		all.Wait()
		now, made := w.used(t, k.quota), int64(0)
		for _, err := range errs {
			var e *store.Excess
			switch {
			case err == nil:
				made++
			case crowd.CodeOf(err) != k.code || !errors.As(err, &e) || e.Quota != k.quota || e.Tenant != w.mine || e.Limit != k.most || e.Used+e.Wanted <= e.Limit || !strings.Contains(err.Error(), string(k.quota)):
				t.Errorf("%s: %v (%+v)", k.quota, err, e)
			}
		}
		if now > k.most || made == 0 || made == int64(len(errs)) || k.by != 0 && (now != before+made*k.by || now+k.by <= k.most) {
			t.Errorf("%s: %d made %d of at most %d, from %d", k.quota, made, now, k.most, before)
		}
		ok(t, w.CheckUsage(w.ctx))
		ok(t, w.SetQuotas(w.ctx, w.mine, map[store.Quota]*int64{k.quota: nil}))
		ok(t, k.add())
		w.limit(t, k.quota, 0) // what is there stays
		refused(t, k.add(), k.code)
		ok(t, w.SetQuotas(w.ctx, w.mine, map[store.Quota]*int64{k.quota: nil}))
	}
	w.limit(t, store.Members, 0)
	u := must(w.User(w.ctx, person))(t)
	u.FullName = "Somebody Else"
	ok(t, w.UpdateUser(w.ctx, u)) // who is a member stays one
	again := w.invite(t, w.invitation("again@example.org"))[0]
	w.limit(t, store.OpenInvitations, w.used(t, store.OpenInvitations)-1) // as many as there will be without it
	again.ExpiresAt = w.now
	ok(t, w.UpdateInvitation(w.ctx, again, nil, w.now))
	w.unchanged(t, func() {
		again.ExpiresAt = w.now.Add(time.Hour)
		refused(t, w.UpdateInvitation(w.ctx, again, nil, w.now), crowd.QuotaExceeded)
	})
	ok(t, w.SetQuotas(w.ctx, w.mine, map[store.Quota]*int64{store.OpenInvitations: nil}))
	ok(t, w.UpdateInvitation(w.ctx, again, nil, w.now))
	w.limit(t, store.OpenInvitations, 0)
	again.Note = "open it is" // and stays so
	ok(t, w.UpdateInvitation(w.ctx, again, nil, w.now))
	w.limit(t, store.SecretsKept, 0)
	ok(t, w.PutTenantSecret(w.ctx, w.mine, store.TenantSecret{Name: must(w.TenantSecrets(w.ctx, w.mine))(t)[0].Name, Value: "other"}))
	w.limit(t, store.OpenTasks, w.used(t, store.OpenTasks))
	refused(t, w.AddTasks(w.ctx, w.batch, []store.Task{{Values: []string{"a"}}}), crowd.QuotaExceeded)
	ok(t, w.DropTasks(w.ctx, w.mine, w.batch))
	ok(t, w.AddTasks(w.ctx, w.batch, []store.Task{{Values: []string{"a"}}}))
}
