package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

func testFactors(t *testing.T, w *world) {
	ann, bob := w.workers[0], w.workers[1]
	f := store.Factor{User: ann, Kind: store.TOTP, Name: "phone", Secret: "OLD", CreatedAt: w.now}
	must(w.CreateFactor(w.ctx, f, nil))(t)
	f.Secret = "NEW"
	f.ID = must(w.CreateFactor(w.ctx, f, nil))(t) // in place of the one that was not confirmed
	same(t, "begun twice", must(w.Factors(w.ctx, ann))(t), []store.Factor{f})
	same(t, "of another", must(w.Factors(w.ctx, bob))(t), nil)
	refused(t, w.UseFactor(w.ctx, f), crowd.Conflict) // not confirmed

	confirmed := f
	confirmed.Counter, confirmed.ConfirmedAt = 7, w.now.Add(time.Minute)
	others := confirmed
	others.User = bob
	refused(t, w.ConfirmFactor(w.ctx, others, []string{"x"}), crowd.NotFound)
	ok(t, w.ConfirmFactor(w.ctx, confirmed, []string{"a", "b"}))
	refused(t, w.ConfirmFactor(w.ctx, confirmed, []string{"x"}), crowd.NotFound) // twice
	same(t, "confirmed", must(w.Factors(w.ctx, ann))(t), []store.Factor{confirmed})
	same(t, "codes", must(w.RecoveryCodes(w.ctx, ann))(t), 2)
	same(t, "codes of another", must(w.RecoveryCodes(w.ctx, bob))(t), 0)

	key := store.Factor{User: ann, Kind: store.Passkey, Name: "key", Secret: "{}", CreatedAt: w.now, ConfirmedAt: w.now}
	key.ID = must(w.CreateFactor(w.ctx, key, nil))(t)
	same(t, "two", must(w.Factors(w.ctx, ann))(t), []store.Factor{confirmed, key})
	key.UsedAt = w.now
	ok(t, w.UseFactor(w.ctx, key)) // it does not count
	ok(t, w.UseFactor(w.ctx, key))
	key.Counter = 3
	ok(t, w.UseFactor(w.ctx, key))
	refused(t, w.UseFactor(w.ctx, key), crowd.Conflict)
	same(t, "used", must(w.Factors(w.ctx, ann))(t)[1], key)
	key.Counter = 0
	refused(t, w.UseFactor(w.ctx, key), crowd.Conflict)

	refused(t, w.DeleteFactor(w.ctx, bob, key.ID), crowd.NotFound)
	ok(t, w.DeleteFactor(w.ctx, ann, f.ID))
	refused(t, w.DeleteFactor(w.ctx, ann, f.ID), crowd.NotFound)
	same(t, "codes while a factor is left", must(w.RecoveryCodes(w.ctx, ann))(t), 2)
	ok(t, w.DeleteFactor(w.ctx, ann, key.ID))
	same(t, "codes without a factor", must(w.RecoveryCodes(w.ctx, ann))(t), 0)

	must(w.CreateFactor(w.ctx, key, []string{"c"}))(t)
	ok(t, w.EndAccess(w.ctx, store.Ending{User: ann, Factors: true}))
	ok(t, w.EndAccess(w.ctx, store.Ending{User: ann, Factors: true}))
	same(t, "after all are deleted", must(w.Factors(w.ctx, ann))(t), nil)
	same(t, "codes after that", must(w.RecoveryCodes(w.ctx, ann))(t), 0)
	_, err := w.CreateFactor(w.ctx, store.Factor{User: 999, Kind: store.TOTP, CreatedAt: w.now}, nil)
	refused(t, err, crowd.NotFound)
}

// testFactorsUsedAtOnce: a code counts for one of those who send it.
func testFactorsUsedAtOnce(t *testing.T, w *world) {
	f := store.Factor{User: w.workers[0], Kind: store.TOTP, CreatedAt: w.now, ConfirmedAt: w.now, Counter: 4}
	f.ID = must(w.CreateFactor(w.ctx, f, []string{"a"}))(t)
	f.Counter = 5
	var codes, recovery atomic.Int32
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			if err := w.UseFactor(w.ctx, f); err == nil {
				codes.Add(1)
			}
			if err := w.UseRecoveryCode(w.ctx, f.User, "a", nil); err == nil {
				recovery.Add(1)
			}
		})
	}
	callers.Wait()
	same(t, "codes that counted", codes.Load(), int32(1))
	same(t, "recovery codes that counted", recovery.Load(), int32(1))
}

func testPasskeys(t *testing.T, w *world) {
	ann, bob := w.workers[0], w.workers[1]
	begun := store.Factor{User: ann, Kind: store.Passkey, Name: "key", Secret: "begun", CreatedAt: w.now}
	begun.ID = must(w.CreateFactor(w.ctx, begun, nil))(t)
	_, err := w.FactorByCredential(w.ctx, "") // it has none yet
	refused(t, err, crowd.NotFound)
	key := begun
	key.Secret, key.Credential, key.Counter, key.ConfirmedAt = "its key", "c1", 3, w.now
	ok(t, w.ConfirmFactor(w.ctx, key, nil))
	same(t, "by its credential", must(w.FactorByCredential(w.ctx, "c1"))(t), key)
	same(t, "as listed", must(w.Factors(w.ctx, ann))(t), []store.Factor{key})
	_, err = w.FactorByCredential(w.ctx, "c2")
	refused(t, err, crowd.NotFound)

	others := store.Factor{User: bob, Kind: store.Passkey, Name: "key", Secret: "begun", CreatedAt: w.now}
	others.ID = must(w.CreateFactor(w.ctx, others, nil))(t)
	others.Secret, others.Credential, others.ConfirmedAt = "stolen", "c1", w.now
	refused(t, w.ConfirmFactor(w.ctx, others, []string{"x"}), crowd.Conflict)
	same(t, "codes of who was refused", must(w.RecoveryCodes(w.ctx, bob))(t), 0)

	expires := w.now.Add(10 * time.Minute)
	key.Counter, key.UsedAt = 4, w.now.Add(time.Minute)
	ok(t, w.UsePasskey(w.ctx, key, "h1", expires))
	same(t, "used", must(w.FactorByCredential(w.ctx, "c1"))(t), key)
	key.Counter = 5
	if err := w.UsePasskey(w.ctx, key, "h1", expires); !errors.Is(err, store.ErrAnswered) {
		t.Errorf("answered before: %v", err)
	}
	for key.Counter = range int64(5) { // it does not count on
		err := w.UsePasskey(w.ctx, key, "h2", expires)
		if refused(t, err, crowd.Conflict); errors.Is(err, store.ErrAnswered) {
			t.Errorf("%d after 4: %v", key.Counter, err)
		}
	}
	key.Counter = 5
	ok(t, w.UsePasskey(w.ctx, key, "h2", expires)) // what was refused has used nothing up
	key.Counter, key.UsedAt = 6, expires
	ok(t, w.UsePasskey(w.ctx, key, "h1", expires.Add(time.Minute))) // it has expired: its caller knows
	key.Counter, key.User = 7, bob
	refused(t, w.UsePasskey(w.ctx, key, "h3", expires.Add(time.Minute)), crowd.Conflict)
	ok(t, w.EndAccess(w.ctx, store.Ending{User: ann, Factors: true}))
	_, err = w.FactorByCredential(w.ctx, "c1")
	refused(t, err, crowd.NotFound)
}

// testPasskeysUsedAtOnce: of those who send an answer one is let in, also by a passkey that
// does not count.
func testPasskeysUsedAtOnce(t *testing.T, w *world) {
	f := store.Factor{User: w.workers[0], Kind: store.Passkey, Credential: "c1", CreatedAt: w.now, ConfirmedAt: w.now}
	f.ID = must(w.CreateFactor(w.ctx, f, nil))(t)
	f.UsedAt = w.now
	var taken atomic.Int32
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			if err := w.UsePasskey(w.ctx, f, "h", w.now.Add(time.Minute)); err == nil {
				taken.Add(1)
			}
		})
	}
	callers.Wait()
	same(t, "answers that were taken", taken.Load(), int32(1))
}

func testRecoveryCodes(t *testing.T, w *world) {
	ann, bob := w.workers[0], w.workers[1]
	ok(t, w.PutRecoveryCodes(w.ctx, ann, []string{"a", "b"}))
	ok(t, w.PutRecoveryCodes(w.ctx, bob, []string{"a"}))
	ok(t, w.PutRecoveryCodes(w.ctx, ann, []string{"b", "c", "d"}))
	refused(t, w.UseRecoveryCode(w.ctx, ann, "a", nil), crowd.Conflict)
	ok(t, w.UseRecoveryCode(w.ctx, ann, "b", nil))
	refused(t, w.UseRecoveryCode(w.ctx, ann, "b", nil), crowd.Conflict)
	same(t, "left", must(w.RecoveryCodes(w.ctx, ann))(t), 2)
	same(t, "of another", must(w.RecoveryCodes(w.ctx, bob))(t), 1)
	refused(t, w.PutRecoveryCodes(w.ctx, 999, []string{"a"}), crowd.NotFound)

	// A session and the code that begins it are kept together, or neither is.
	session := store.Token{Hash: "session", Kind: store.SessionToken, User: ann, CreatedAt: w.now, ExpiresAt: w.now.Add(time.Hour)}
	refused(t, w.UseRecoveryCode(w.ctx, ann, "b", &session), crowd.Conflict)
	_, err := w.TokenByHash(w.ctx, "session")
	refused(t, err, crowd.NotFound)
	ok(t, w.UseRecoveryCode(w.ctx, ann, "c", &session))
	same(t, "whose session", must(w.TokenByHash(w.ctx, "session"))(t).User, ann)
	again := session
	refused(t, w.UseRecoveryCode(w.ctx, ann, "d", &again), crowd.Conflict)
	same(t, "left", must(w.RecoveryCodes(w.ctx, ann))(t), 1)
}

// testShown: what is shown for a change is used up with it, once, or neither is done.
func testShown(t *testing.T, w *world) {
	ann := w.workers[0]
	app := store.Factor{User: ann, Kind: store.TOTP, CreatedAt: w.now, ConfirmedAt: w.now, Counter: 4}
	app.ID = must(w.CreateFactor(w.ctx, app, []string{"a", "b"}))(t)
	key := store.Factor{User: ann, Kind: store.Passkey, Secret: "key", CreatedAt: w.now}
	key.ID = must(w.CreateFactor(w.ctx, key, nil))(t)
	key.Credential, key.ConfirmedAt = "shown", w.now
	ok(t, w.ConfirmFactor(w.ctx, key, nil))
	app.Counter = 5
	for what, shown := range map[string]func() *store.Shown{
		"a code":          func() *store.Shown { return &store.Shown{User: ann, Factor: app} },
		"a recovery code": func() *store.Shown { return &store.Shown{User: ann, Recovery: "a"} },
		"a passkey": func() *store.Shown {
			return &store.Shown{User: ann, Factor: key, Challenge: "shown for a change", Expires: w.now.Add(time.Minute)}
		},
	} {
		x := shown()
		refused(t, w.DeleteFactor(store.WithShown(w.ctx, x), ann, 999), crowd.NotFound)
		ok(t, w.UseFactor(store.Preparing(store.WithShown(w.ctx, x)), store.Factor{ID: key.ID, User: ann, UsedAt: w.now}))
		same(t, what+" is used up by what is refused or prepares", x.Kept(), false)
		x.Basis = store.Basis{Password: "another"}
		refused(t, w.SetExternalID(store.WithShown(w.ctx, x), "nobody", "nobody", ""), crowd.Unauthenticated)
		x.Basis = store.Basis{}
		var made atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				begun := store.Factor{User: ann, Kind: store.TOTP, CreatedAt: w.now}
				if _, err := w.CreateFactor(store.WithShown(w.ctx, shown()), begun, nil); err == nil {
					made.Add(1)
				} else if !errors.Is(err, store.ErrUsed) && !errors.Is(err, store.ErrAnswered) {
					t.Error(what, err)
				}
			})
		}
		all.Wait()
		same(t, "changes with "+what, made.Load(), int32(1))
	}
	same(t, "recovery codes that are left", must(w.RecoveryCodes(w.ctx, ann))(t), 1)
}
