package storetest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

func testCreateTenant(t *testing.T, w *world) {
	in := store.Tenant{ID: 77, Name: "Élan", Weight: 0.1, Stopped: true, CreatedAt: w.now}
	in.ID = must(w.CreateTenant(w.ctx, in))(t)
	if in.ID <= w.other {
		t.Errorf("the new id %s is not above %s", in.ID, w.other)
	}
	same(t, "tenant", must(w.Tenant(w.ctx, in.ID))(t), in)
	w.unchanged(t, func() {
		_, err := w.CreateTenant(w.ctx, store.Tenant{Name: "mine", Weight: 1})
		refused(t, err, crowd.Conflict)
	})
	again := must(w.CreateTenant(w.ctx, store.Tenant{Name: "more", Weight: 1}))(t)
	if again <= in.ID {
		t.Errorf("%s follows %s", again, in.ID)
	}
}

func testUpdateTenant(t *testing.T, w *world) {
	in := store.Tenant{ID: w.mine, Name: "renamed", Weight: 7, Stopped: true, CreatedAt: w.now.Add(time.Second)}
	other := must(w.Tenant(w.ctx, w.other))(t)
	ok(t, w.UpdateTenant(w.ctx, in))
	same(t, "tenants", must(w.ListTenants(w.ctx))(t), []store.Tenant{in, other})
	w.unchanged(t, func() {
		in.Name = "other"
		refused(t, w.UpdateTenant(w.ctx, in), crowd.Conflict)
		refused(t, w.UpdateTenant(w.ctx, store.Tenant{ID: 99, Name: "x", Weight: 1}), crowd.NotFound)
	})
}

func testTenant(t *testing.T, w *world) {
	same(t, "tenant", must(w.Tenant(w.ctx, w.other))(t), store.Tenant{ID: w.other, Name: "other", Weight: 1, CreatedAt: w.now})
	_, err := w.Tenant(w.ctx, 99)
	refused(t, err, crowd.NotFound)
}

func testListTenants(t *testing.T, w *world) {
	same(t, "tenants", must(w.ListTenants(w.ctx))(t), []store.Tenant{
		{ID: w.mine, Name: "mine", Weight: 2, CreatedAt: w.now}, {ID: w.other, Name: "other", Weight: 1, CreatedAt: w.now},
	})
}

// ada is a user with everything.
func (w *world) ada() store.User {
	return store.User{
		Name: "Ada@Example.org", FullName: "Ada <L>", Email: "ada@example.org", PasswordHash: "$argon2$", Admin: true, Pool: w.pool, Suspended: true,
		CreatedAt: w.now, Tenants: []crowd.TenantID{w.mine, w.other}, Qualifications: map[string]int{"birds": 90, "": 0}, BlockedBy: []crowd.TenantID{w.mine},
		Prefers: map[crowd.PoolID]float64{w.pool: 0.1, w.pool + 1: 0}, Away: true, NoMail: true, MovesTo: w.pool + 7,
	}
}

func testCreateUser(t *testing.T, w *world) {
	in := w.ada()
	in.ID = must(w.CreateUser(w.ctx, in))(t)
	same(t, "user", must(w.User(w.ctx, in.ID))(t), in)
	w.unchanged(t, func() {
		_, err := w.CreateUser(w.ctx, store.User{Name: "ada@EXAMPLE.org"})
		refused(t, err, crowd.Conflict)
		_, err = w.CreateUser(w.ctx, store.User{Name: "bob", Tenants: []crowd.TenantID{w.mine, 99}})
		refused(t, err, crowd.NotFound)
	})
	plain := store.User{Name: "plain"}
	plain.ID = must(w.CreateUser(w.ctx, plain))(t)
	same(t, "plain user", must(w.User(w.ctx, plain.ID))(t), plain)
}

func testUpdateUser(t *testing.T, w *world) {
	in := w.ada()
	in.ID = w.workers[1]
	ok(t, w.UpdateUser(w.ctx, in))
	same(t, "user", must(w.User(w.ctx, in.ID))(t), in)
	less := store.User{ID: in.ID, Name: "ADA@example.org", Tenants: []crowd.TenantID{w.other}}
	ok(t, w.UpdateUser(w.ctx, less))
	same(t, "user", must(w.User(w.ctx, in.ID))(t), less)
	w.unchanged(t, func() {
		refused(t, w.UpdateUser(w.ctx, store.User{ID: in.ID, Name: "WORKER1"}), crowd.Conflict)
		refused(t, w.UpdateUser(w.ctx, store.User{ID: 99, Name: "nobody"}), crowd.NotFound)
		refused(t, w.UpdateUser(w.ctx, store.User{ID: in.ID, Name: "x", BlockedBy: []crowd.TenantID{99}}), crowd.NotFound)
	})
}

func testUser(t *testing.T, w *world) {
	same(t, "user", must(w.User(w.ctx, w.workers[2]))(t), store.User{ID: w.workers[2], Name: "worker3", Pool: w.pool, CreatedAt: w.now})
	_, err := w.User(w.ctx, 99)
	refused(t, err, crowd.NotFound)
}

func testUserByName(t *testing.T, w *world) {
	in := w.ada()
	in.Name = "ÄDA"
	in.ID = must(w.CreateUser(w.ctx, in))(t)
	same(t, "user", must(w.UserByName(w.ctx, "äda"))(t), in)
	_, err := w.UserByName(w.ctx, "worker")
	refused(t, err, crowd.NotFound)
}

func testListUsers(t *testing.T, w *world) {
	ids := func(list []store.User) (out []crowd.WorkerID) {
		for _, u := range list {
			out = append(out, u.ID)
		}
		return out
	}
	a, b := w.ada(), w.ada()
	b.Name, b.Tenants, b.BlockedBy = "b", []crowd.TenantID{w.other}, nil
	a.ID = must(w.CreateUser(w.ctx, a))(t)
	b.ID = must(w.CreateUser(w.ctx, b))(t)
	same(t, "all", ids(must(w.ListUsers(w.ctx, 0, 0, 100))(t)), append(append([]crowd.WorkerID(nil), w.workers...), a.ID, b.ID))
	same(t, "page", ids(must(w.ListUsers(w.ctx, 0, w.workers[0], 2))(t)), w.workers[1:3])
	same(t, "requesters of mine", must(w.ListUsers(w.ctx, w.mine, 0, 100))(t), []store.User{a})
	same(t, "requesters of other", must(w.ListUsers(w.ctx, w.other, 0, 100))(t), []store.User{a, b})
	same(t, "second page of other", must(w.ListUsers(w.ctx, w.other, a.ID, 1))(t), []store.User{b})
	same(t, "requesters of nobody", must(w.ListUsers(w.ctx, 99, 0, 100))(t), nil)
}

func (w *world) token(hash string, user int) store.Token {
	return store.Token{
		Hash: hash, Kind: store.SessionToken, User: w.workers[user], Tenant: w.mine, Roles: []string{"worker", "requester"}, Name: "laptop",
		CreatedAt: w.now, ExpiresAt: w.now.Add(time.Hour),
	}
}

func testCreateToken(t *testing.T, w *world) {
	in := w.token("aa", 0)
	in.ID = must(w.CreateToken(w.ctx, in))(t)
	same(t, "token", must(w.TokenByHash(w.ctx, "aa"))(t), in)
	w.unchanged(t, func() {
		_, err := w.CreateToken(w.ctx, w.token("aa", 1))
		refused(t, err, crowd.Conflict)
		_, err = w.CreateToken(w.ctx, store.Token{Hash: "bb", User: 99})
		refused(t, err, crowd.NotFound)
	})
	ok(t, w.DeleteToken(w.ctx, w.workers[0], in.ID))
	if id := must(w.CreateToken(w.ctx, w.token("cc", 0)))(t); id <= in.ID {
		t.Errorf("the id %d of a deleted token is given out again", id)
	}
}

func testTokenByHash(t *testing.T, w *world) {
	in := store.Token{Hash: "aa", Kind: store.SetupToken, User: w.workers[3]}
	in.ID = must(w.CreateToken(w.ctx, in))(t)
	same(t, "token", must(w.TokenByHash(w.ctx, "aa"))(t), in)
	for _, hash := range []string{"", "AA", "a", "%"} {
		_, err := w.TokenByHash(w.ctx, hash)
		refused(t, err, crowd.NotFound)
	}
}

func testListTokens(t *testing.T, w *world) {
	a, b := w.token("b", 0), w.token("a", 0)
	a.ID = must(w.CreateToken(w.ctx, a))(t)
	must(w.CreateToken(w.ctx, w.token("c", 1)))(t)
	b.ID = must(w.CreateToken(w.ctx, b))(t)
	same(t, "tokens", must(w.ListTokens(w.ctx, w.workers[0]))(t), []store.Token{a, b})
	same(t, "tokens of another", must(w.ListTokens(w.ctx, w.workers[2]))(t), nil)
}

func testDeleteToken(t *testing.T, w *world) {
	id := must(w.CreateToken(w.ctx, w.token("a", 0)))(t)
	w.unchanged(t, func() {
		refused(t, w.DeleteToken(w.ctx, w.workers[1], id), crowd.NotFound)
		refused(t, w.DeleteToken(w.ctx, w.workers[0], id+1), crowd.NotFound)
	})
	var used atomic.Int32
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			if err := w.DeleteToken(w.ctx, w.workers[0], id); err == nil {
				used.Add(1)
			} else if crowd.CodeOf(err) != crowd.NotFound {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	if n := used.Load(); n != 1 {
		t.Errorf("%d callers used the token up", n)
	}
	_, err := w.TokenByHash(w.ctx, "a")
	refused(t, err, crowd.NotFound)
}

func testDeleteExpiredTokens(t *testing.T, w *world) {
	never := w.token("never", 0)
	never.ExpiresAt = time.Time{}
	just, past := w.token("just", 0), w.token("past", 1)
	past.ExpiresAt = just.ExpiresAt.Add(-time.Microsecond)
	never.ID = must(w.CreateToken(w.ctx, never))(t)
	just.ID = must(w.CreateToken(w.ctx, just))(t)
	must(w.CreateToken(w.ctx, past))(t)
	ok(t, w.DeleteExpiredTokens(w.ctx, just.ExpiresAt))
	same(t, "kept", must(w.ListTokens(w.ctx, w.workers[0]))(t), []store.Token{never, just})
	same(t, "expired", must(w.ListTokens(w.ctx, w.workers[1]))(t), nil)
}

func testCreatePool(t *testing.T, w *world) {
	in := w.onCall("second")
	in.Policy, in.Stopped = "wcfs(wfs,k=3)", true
	in.ID = must(w.CreatePool(w.ctx, in))(t)
	same(t, "pool", must(w.ListPools(w.ctx))(t)[1], in)
	w.unchanged(t, func() {
		_, err := w.CreatePool(w.ctx, store.Pool{Name: "second"})
		refused(t, err, crowd.Conflict)
	})
}

func testUpdatePool(t *testing.T, w *world) {
	second := must(w.CreatePool(w.ctx, store.Pool{Name: "second"}))(t)
	in := w.onCall("renamed")
	in.ID, in.Policy, in.Stopped = w.pool, "edf", true
	ok(t, w.UpdatePool(w.ctx, in))
	same(t, "pools", must(w.ListPools(w.ctx))(t), []store.Pool{in, {ID: second, Name: "second"}})
	plain := store.Pool{ID: w.pool, Name: "renamed"}
	ok(t, w.UpdatePool(w.ctx, plain))
	same(t, "pools", must(w.ListPools(w.ctx))(t), []store.Pool{plain, {ID: second, Name: "second"}})
	w.unchanged(t, func() {
		in.Name = "second"
		refused(t, w.UpdatePool(w.ctx, in), crowd.Conflict)
		refused(t, w.UpdatePool(w.ctx, store.Pool{ID: 99, Name: "x"}), crowd.NotFound)
	})
}

func testPool(t *testing.T, w *world) {
	second := must(w.CreatePool(w.ctx, store.Pool{Name: "second", Policy: "edf"}))(t)
	same(t, "pool", must(w.Pool(w.ctx, second))(t), store.Pool{ID: second, Name: "second", Policy: "edf"})
	for _, id := range []crowd.PoolID{0, -1, second + 1} {
		_, err := w.Pool(w.ctx, id)
		refused(t, err, crowd.NotFound)
	}
}

func testListPools(t *testing.T, w *world) {
	same(t, "pools", must(w.ListPools(w.ctx))(t), []store.Pool{{ID: w.pool, Name: "crowd", Policy: "fifo", CreatedAt: w.now}})
}
