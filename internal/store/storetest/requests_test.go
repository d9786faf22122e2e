package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

func testRequests(t *testing.T, w *world) {
	mine := store.RequestKey{Person: w.workers[0], Key: "one"}
	full := store.Request{RequestKey: mine, Digest: "d", Rights: "3 a,b\n", At: w.now, Status: 201, ContentType: "application/json", Location: "/x", Body: "{\"ä\":\n1}"}
	bare := store.Request{RequestKey: store.RequestKey{Person: w.workers[0], Tenant: w.mine, Key: "one"}, At: w.now.Add(time.Hour), Withheld: store.HasSecret}
	theirs := store.Request{RequestKey: store.RequestKey{Person: w.workers[1], Key: "one"}, At: w.now.Add(2 * time.Hour), Status: 204}
	for _, r := range []store.Request{full, bare, theirs} {
		ok(t, w.PutRequest(w.ctx, r))
	}
	for _, r := range []store.Request{full, bare, theirs} {
		same(t, "a request", must(w.Request(w.ctx, r.RequestKey))(t), r)
	}
	for _, other := range []store.RequestKey{{}, {Person: w.workers[0], Key: "One"}, {Person: w.workers[2], Key: "one"}, {Person: w.workers[0], Tenant: w.other, Key: "one"}} {
		_, err := w.Request(w.ctx, other)
		refused(t, err, crowd.NotFound)
	}
	refused(t, w.PutRequest(w.ctx, store.Request{RequestKey: store.RequestKey{Person: 999, Key: "x"}}), crowd.NotFound)

	full.Status, full.Body, full.Withheld = 200, strings.Repeat("x", 1<<20), store.TooLong
	ok(t, w.PutRequest(w.ctx, full))
	same(t, "the request in its place", must(w.Request(w.ctx, mine))(t), full)

	drop := func(before time.Time, limit, want int) {
		t.Helper()
		if n := must(w.DropRequests(w.ctx, before, limit))(t); n != want {
			t.Errorf("%d were dropped in place of %d", n, want)
		}
	}
	drop(w.now, 10, 0)
	drop(w.now.Add(3*time.Hour), 1, 1) // the oldest first
	_, err := w.Request(w.ctx, mine)
	refused(t, err, crowd.NotFound)
	drop(w.now.Add(2*time.Hour), 10, 1)
	same(t, "the last one", must(w.Request(w.ctx, theirs.RequestKey))(t), theirs)
}

// testEffects: the first transaction of a request keeps that it had an effect. A second
// request under the same key has none, whatever its transactions are.
func testEffects(t *testing.T, w *world) {
	key := store.RequestKey{Person: w.workers[0], Key: "one"}
	effect := func(at time.Time) *store.Effect {
		return &store.Effect{RequestKey: key, At: at, Forget: at.Add(-time.Hour), Digest: func() string { return "d" }, Status: 204}
	}
	deposit := func(e *store.Effect) error {
		return w.Deposit(store.WithEffects(w.ctx, e), w.now, w.mine, crowd.Unit, "")
	}
	balance := func(want crowd.Money) {
		t.Helper()
		same(t, "the balance", must(w.Balance(w.ctx, engine.Account{Kind: engine.TenantAccount, ID: int64(w.mine)}))(t), want)
	}
	had := must(w.Balance(w.ctx, engine.Account{Kind: engine.TenantAccount, ID: int64(w.mine)}))(t)

	first := effect(w.now)
	ok(t, deposit(first))
	same(t, "what is kept", must(w.Request(w.ctx, key))(t), store.Request{RequestKey: key, Digest: "d", At: w.now, Status: 204})
	ok(t, deposit(first)) // the same request goes on
	balance(had + 2*crowd.Unit)
	if !first.Kept() || first.Pending() {
		t.Error("the effect is not known to be kept")
	}
	for _, at := range []time.Time{w.now, w.now.Add(time.Hour)} {
		again := effect(at)
		refused(t, deposit(again), crowd.Conflict)
		refused(t, w.Commit(store.WithEffects(w.ctx, again), &engine.Changes{Transfers: []engine.Transfer{{
			At: w.now, Kind: engine.Deposit, Amount: crowd.Unit, From: engine.Account{Kind: engine.Outside}, To: engine.Account{Kind: engine.TenantAccount, ID: int64(w.mine)},
		}}}), crowd.Conflict)
		if again.Kept() {
			t.Error("an effect is kept that was refused")
		}
	}
	balance(had + 2*crowd.Unit)
	ok(t, w.CheckLedger(w.ctx))

	// A transaction that fails keeps no effect.
	other := effect(w.now)
	other.Key = "two"
	refused(t, w.Deposit(store.WithEffects(w.ctx, other), w.now, 999, crowd.Unit, ""), crowd.NotFound)
	_, err := w.Request(w.ctx, other.RequestKey)
	refused(t, err, crowd.NotFound)
	ok(t, w.Deposit(store.Preparing(store.WithEffects(w.ctx, other)), w.now, w.mine, crowd.Unit, ""))
	if _, err := w.Request(w.ctx, other.RequestKey); other.Kept() || crowd.CodeOf(err) != crowd.NotFound {
		t.Errorf("what only prepares has an effect: %v", err)
	}
	ok(t, deposit(other))
	other = effect(w.now)
	other.Key = "three"
	other.End()
	ok(t, deposit(other)) // the request was answered: what goes on is no effect of it
	if _, err := w.Request(w.ctx, other.RequestKey); crowd.CodeOf(err) != crowd.NotFound {
		t.Errorf("after the answer: %v", err)
	}
	// What is older than it has to be is as good as forgotten.
	ok(t, deposit(effect(w.now.Add(time.Hour+time.Second))))
	balance(had + 6*crowd.Unit)
}
