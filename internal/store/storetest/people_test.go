package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

func testUserByName(t *testing.T, w *world) {
	in := w.ada()
	in.Name = "ÄDA"
	in.ID = must(w.CreateUser(w.ctx, in))(t)
	same(t, "user", must(w.UserByName(w.ctx, "äda"))(t), in)
	_, err := w.UserByName(w.ctx, "worker")
	refused(t, err, crowd.NotFound)
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

// testDeleteToken: of many callers one uses a token up.
func testDeleteToken(t *testing.T, w *world) {
	id := must(w.CreateToken(w.ctx, w.token("a", 0)))(t)
	var used atomic.Int32
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			if _, err := w.DeleteToken(w.ctx, w.workers[0], id); err == nil {
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

// testProgramTokens: they come newest first, page by page, of one person or of everybody,
// without sessions.
func testProgramTokens(t *testing.T, w *world) {
	add := func(hash string, worker int, kind store.TokenKind) store.Token {
		x := w.token(hash, worker)
		x.Kind = kind
		x.ID = must(w.CreateToken(w.ctx, x))(t)
		return x
	}
	a, b := add("a", 0, store.APIToken), add("b", 1, store.APIToken)
	add("s", 0, store.SessionToken)
	c := add("c", 0, store.APIToken)
	same(t, "of everybody", must(w.ProgramTokens(w.ctx, 0, 0, 9))(t), []store.Token{c, b, a})
	same(t, "of one", must(w.ProgramTokens(w.ctx, w.workers[0], 0, 9))(t), []store.Token{c, a})
	same(t, "the first page", must(w.ProgramTokens(w.ctx, 0, 0, 2))(t), []store.Token{c, b})
	same(t, "the next one", must(w.ProgramTokens(w.ctx, 0, b.ID, 2))(t), []store.Token{a})
	same(t, "of nobody", must(w.ProgramTokens(w.ctx, 999, 0, 9))(t), nil)
}

func testUseTokens(t *testing.T, w *world) {
	first, second := w.token("a", 0), w.token("b", 1)
	first.ID, second.ID = must(w.CreateToken(w.ctx, first))(t), must(w.CreateToken(w.ctx, second))(t)
	ok(t, w.UseTokens(w.ctx, nil))
	same(t, "not used", must(w.TokenByHash(w.ctx, "a"))(t), first)
	first.UsedAt = first.CreatedAt.Add(time.Hour)
	ok(t, w.UseTokens(w.ctx, map[int64]time.Time{first.ID: first.UsedAt, 999: first.UsedAt}))
	same(t, "used", must(w.TokenByHash(w.ctx, "a"))(t), first)
	same(t, "another", must(w.TokenByHash(w.ctx, "b"))(t), second)
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

func testIdentities(t *testing.T, w *world) {
	now := w.now
	made := store.User{Name: "otto", CreatedAt: now}
	a := store.Identity{Issuer: "https://a.example", Subject: "1", CreatedAt: now}
	made.ID = must(w.PutIdentity(w.ctx, a, made))(t)
	same(t, "made", must(w.UserByIdentity(w.ctx, "https://a.example", "1"))(t), made)
	must(w.PutIdentity(w.ctx, store.Identity{Issuer: "https://b.example", Subject: "1", ExternalID: "x", CreatedAt: now}, made))(t) // another account of theirs
	same(t, "the other account", must(w.UserByIdentity(w.ctx, "https://b.example", "1"))(t), made)
	same(t, "has one", must(w.HasIdentity(w.ctx, "https://b.example", made.ID))(t), true)
	same(t, "has none there", must(w.HasIdentity(w.ctx, "https://c.example", made.ID))(t), false)
	same(t, "has none", must(w.HasIdentity(w.ctx, "https://b.example", w.workers[0]))(t), false)
	_, err := w.UserByIdentity(w.ctx, "https://a.example", "2")
	refused(t, err, crowd.NotFound)
	_, err = w.PutIdentity(w.ctx, a, store.User{Name: "ottilie", CreatedAt: now})
	refused(t, err, crowd.Conflict)
	_, err = w.UserByName(w.ctx, "ottilie") // nothing of it was kept
	refused(t, err, crowd.NotFound)

	under := func(issuer, id string, want ...store.User) {
		t.Helper()
		same(t, "under "+id, must(w.UsersByExternalID(w.ctx, issuer, id))(t), want)
	}
	under("https://b.example", "x", made)
	under("https://a.example", "x")
	under("https://a.example", "") // not told is nobody's
	ok(t, w.SetExternalID(w.ctx, a.Issuer, a.Subject, "y"))
	under("https://a.example", "y", made)
	ok(t, w.SetExternalID(w.ctx, a.Issuer, a.Subject, "z"))
	under("https://a.example", "y")
	other := store.User{Name: "ottilie", CreatedAt: now}
	other.ID = must(w.PutIdentity(w.ctx, store.Identity{Issuer: a.Issuer, Subject: "2", ExternalID: "z", CreatedAt: now}, other))(t)
	under("https://a.example", "z", made, other)
	refused(t, w.SetExternalID(w.ctx, a.Issuer, "3", "z"), crowd.NotFound)
}

// testUserNames reads more names than one query has.
func testUserNames(t *testing.T, w *world) {
	ids, want := []crowd.WorkerID{99_999}, make(map[crowd.WorkerID]string) // there is no such
	for i := range 120 {
		name := fmt.Sprint("person ", i)
		id := must(w.CreateUser(w.ctx, store.User{Name: name, CreatedAt: w.now}))(t)
		ids, want[id] = append(ids, id), name
	}
	same(t, "names", must(w.UserNames(w.ctx, ids))(t), want)
	same(t, "one", must(w.UserNames(w.ctx, ids[:2]))(t), map[crowd.WorkerID]string{ids[1]: want[ids[1]]})
	same(t, "of nobody", len(must(w.UserNames(w.ctx, nil))(t)), 0)
}
