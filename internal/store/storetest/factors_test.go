package storetest

import (
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
	ok(t, w.DeleteFactors(w.ctx, ann))
	ok(t, w.DeleteFactors(w.ctx, ann))
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
			if err := w.UseRecoveryCode(w.ctx, f.User, "a"); err == nil {
				recovery.Add(1)
			}
		})
	}
	callers.Wait()
	same(t, "codes that counted", codes.Load(), int32(1))
	same(t, "recovery codes that counted", recovery.Load(), int32(1))
}

func testRecoveryCodes(t *testing.T, w *world) {
	ann, bob := w.workers[0], w.workers[1]
	ok(t, w.PutRecoveryCodes(w.ctx, ann, []string{"a", "b"}))
	ok(t, w.PutRecoveryCodes(w.ctx, bob, []string{"a"}))
	ok(t, w.PutRecoveryCodes(w.ctx, ann, []string{"b", "c", "d"}))
	refused(t, w.UseRecoveryCode(w.ctx, ann, "a"), crowd.NotFound)
	ok(t, w.UseRecoveryCode(w.ctx, ann, "b"))
	refused(t, w.UseRecoveryCode(w.ctx, ann, "b"), crowd.NotFound)
	same(t, "left", must(w.RecoveryCodes(w.ctx, ann))(t), 2)
	same(t, "of another", must(w.RecoveryCodes(w.ctx, bob))(t), 1)
	refused(t, w.PutRecoveryCodes(w.ctx, 999, []string{"a"}), crowd.NotFound)
}
