package storetest

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

func testDeposit(t *testing.T, w *world) {
	ok(t, w.Deposit(w.ctx, w.now, w.mine, 3*crowd.Unit, "invoice 7"))
	ok(t, w.Deposit(w.ctx, w.now.Add(time.Hour), w.mine, 1, ""))
	entry := func(id int64, at time.Time, amount crowd.Money, note string) store.Entry {
		return store.Entry{ID: id, Note: note, Transfer: engine.Transfer{
			At: at, Kind: engine.Deposit, From: engine.Account{Kind: engine.Outside}, To: tenantAccount(w.mine), Amount: amount,
		}}
	}
	got := must(w.Entries(w.ctx, tenantAccount(w.mine), 0, 10))(t)
	if len(got) != 2 || got[1].ID >= got[0].ID {
		t.Fatalf("entries: %v", got)
	}
	same(t, "entries", got, []store.Entry{entry(got[0].ID, w.now.Add(time.Hour), 1, ""), entry(got[1].ID, w.now, 3*crowd.Unit, "invoice 7")})
	same(t, "balance", must(w.Balance(w.ctx, tenantAccount(w.mine)))(t), 3*crowd.Unit+1)
	same(t, "other's balance", must(w.Balance(w.ctx, tenantAccount(w.other)))(t), crowd.Money(0))
	w.unchanged(t, func() {
		refused(t, w.Deposit(w.ctx, w.now, 99, 1, ""), crowd.NotFound)
		refused(t, w.Deposit(w.ctx, w.now, 99, -1, ""), crowd.NotFound)
		refused(t, w.Deposit(w.ctx, w.now, w.mine, 0, ""), crowd.Invalid)
		refused(t, w.Deposit(w.ctx, w.now, w.mine, -crowd.MaxMoney-1, ""), crowd.Invalid)
		refused(t, w.Deposit(w.ctx, w.now, w.mine, crowd.MaxMoney+1, ""), crowd.Invalid)
	})
	ok(t, w.Deposit(w.ctx, w.now, w.mine, -crowd.Unit, "too much"))
	got = must(w.Entries(w.ctx, tenantAccount(w.mine), 0, 1))(t)
	same(t, "taken out", got[0].Transfer, engine.Transfer{At: w.now, Kind: engine.Withdrawal, From: tenantAccount(w.mine), To: engine.Account{Kind: engine.Outside}, Amount: crowd.Unit})
	same(t, "what is left", must(w.Balance(w.ctx, tenantAccount(w.mine)))(t), 2*crowd.Unit+1)
	ok(t, w.CheckLedger(w.ctx))
}

func testBalance(t *testing.T, w *world) {
	same(t, "never used", must(w.Balance(w.ctx, workerAccount(99)))(t), crowd.Money(0))
	w.history(t)
	for account, want := range map[engine.Account]crowd.Money{
		{Kind: engine.Outside}:      -10 * crowd.Unit,
		tenantAccount(w.mine):       9 * crowd.Unit,
		tenantAccount(w.other):      0,
		batchAccount(w.batch):       crowd.Unit - 160_000,
		workerAccount(w.workers[0]): 100_000,
		workerAccount(w.workers[1]): 60_000,
		workerAccount(w.workers[2]): 0,
		poolAccount(w.pool):         0,
	} {
		same(t, account.String(), must(w.Balance(w.ctx, account))(t), want)
	}
	_, err := w.Balance(w.ctx, engine.Account{Kind: 'x', ID: 1})
	refused(t, err, crowd.Internal)
}

// transfers makes random payments between the tenants, some batches and the
// workers, in commits of up to 100, and returns them all.
func (w *world) transfers(t *testing.T, r *rand.Rand, n int) []engine.Transfer {
	accounts := []engine.Account{{Kind: engine.Outside}, tenantAccount(w.mine), tenantAccount(w.other)}
	for i := range 5 {
		accounts = append(accounts, batchAccount(crowd.BatchID(i+1)), poolAccount(crowd.PoolID(i+1)), workerAccount(w.workers[i%len(w.workers)]))
	}
	var made []engine.Transfer
	for len(made) < n {
		group := make([]engine.Transfer, 1+r.IntN(100))
		for i := range group {
			from, to := r.IntN(len(accounts)), r.IntN(len(accounts))
			for accounts[to] == accounts[from] {
				to = r.IntN(len(accounts))
			}
			group[i] = engine.Transfer{
				At: w.now.Add(time.Duration(len(made)+i) * time.Microsecond), Kind: engine.Reward,
				From: accounts[from], To: accounts[to], Amount: 1 + crowd.Money(r.Int64N(1e9)), Assignment: crowd.AssignmentID(r.Int64N(1 << 40)),
			}
		}
		ok(t, w.Commit(w.ctx, &engine.Changes{Transfers: group}))
		made = append(made, group...)
	}
	return made
}

func testEntries(t *testing.T, w *world) {
	r := rand.New(rand.NewPCG(1, 2))
	made := w.transfers(t, r, 1500)
	ok(t, w.Deposit(w.ctx, w.now, w.mine, 5, "note"))
	outside := must(w.Entries(w.ctx, engine.Account{Kind: engine.Outside}, 0, 1))(t)
	first := outside[0].ID - int64(len(made))
	for _, a := range []engine.Account{{Kind: engine.Outside}, tenantAccount(w.mine), batchAccount(2), poolAccount(2), poolAccount(w.pool), workerAccount(w.workers[0]), workerAccount(99)} {
		var want []store.Entry // newest first
		for i := len(made) - 1; i >= 0; i-- {
			if made[i].From == a || made[i].To == a {
				want = append(want, store.Entry{ID: first + int64(i), Transfer: made[i]})
			}
		}
		if a.Kind == engine.Outside || a == tenantAccount(w.mine) {
			want = append(outside[:1:1], want...)
		}
		same(t, a.String(), must(w.Entries(w.ctx, a, 0, all))(t), want)
		same(t, "no limit", must(w.Entries(w.ctx, a, 0, 0))(t), nil)
		var paged []store.Entry
		for page := must(w.Entries(w.ctx, a, 0, 7))(t); len(page) > 0; page = must(w.Entries(w.ctx, a, page[len(page)-1].ID, 7))(t) {
			paged = append(paged, page...)
		}
		same(t, a.String()+" in pages", paged, want)
		for range 20 { // from an entry that may be of other accounts
			before := first + r.Int64N(int64(len(made))+3)
			rest := want
			for len(rest) > 0 && rest[0].ID >= before {
				rest = rest[1:]
			}
			same(t, "before some entry", must(w.Entries(w.ctx, a, before, 5))(t), rest[:min(5, len(rest))])
		}
	}
}

func testCheckLedger(t *testing.T, w *world) {
	ok(t, w.CheckLedger(w.ctx))
	made := w.transfers(t, rand.New(rand.NewPCG(3, 4)), 500)
	ok(t, w.CheckLedger(w.ctx))
	balances := make(map[engine.Account]crowd.Money)
	for _, x := range made {
		balances[x.From] -= x.Amount
		balances[x.To] += x.Amount
	}
	for a, want := range balances {
		same(t, a.String(), must(w.Balance(w.ctx, a))(t), want)
	}
}
