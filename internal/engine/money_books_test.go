package engine_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

func (k *books) transfer(x engine.Transfer, ch *engine.Changes) error {
	if x.From.Kind == engine.PoolAccount || x.To.Kind == engine.PoolAccount {
		return k.poolTransfer(x)
	}
	b := k.batches[crowd.BatchID(x.From.ID)]
	if x.Kind == engine.Reserve {
		b = k.batches[crowd.BatchID(x.To.ID)]
	}
	if b == nil || x.Amount <= 0 || x.At != k.now {
		return fmt.Errorf("nonsense")
	}
	want := engine.Transfer{At: k.now, Kind: x.Kind, Amount: x.Amount, Assignment: x.Assignment}
	switch x.Kind {
	case engine.Reserve:
		want.From, want.To, want.Assignment = b.tenantAccount(), b.account(), 0
	case engine.Reward:
		r := k.rows[x.Assignment]
		if r == nil || r.answer == nil || r.answer.Paid != x.Amount || r.rewarded {
			return fmt.Errorf("not for a counted answer, or twice")
		}
		r.rewarded = true
		want.From, want.To = b.account(), workerAccount(r.Worker)
	case engine.Hold:
		r := k.rows[x.Assignment]
		if r == nil || r.answer == nil || r.answer.Held != x.Amount || r.rewarded || b.spec.Approval == nil {
			return fmt.Errorf("not for a counted answer whose pay is approved, or twice")
		}
		r.rewarded = true
		want.From, want.To = b.account(), engine.Account{Kind: engine.HeldAccount, ID: int64(b.spec.ID)}
	case engine.Release:
		want.From, want.To, want.Assignment = b.account(), b.tenantAccount(), 0
		left := k.accounts[b.account()]
		if ends := slices.ContainsFunc(ch.Progress, func(p engine.Progress) bool { return p.Batch == b.spec.ID && p.State.Ended() }); !ends {
			if left = k.spare(b); !b.releases {
				return fmt.Errorf("nobody asked for it")
			}
			b.funded -= left
			k.seen["released by an edit"]++
		}
		if x.Amount != left {
			return fmt.Errorf("%s is left", left)
		}
	}
	if x != want {
		return fmt.Errorf("want %v", want)
	}
	k.accounts[x.From] -= x.Amount
	k.accounts[x.To] += x.Amount
	k.seen["transfer: "+string(x.Kind)]++
	return nil
}

// rewards checks what an answer is paid, or what is held of its pay.
func (k *books) rewards(b *batchBook, r *row, x *engine.Answer) error {
	var paid, held crowd.Money
	var due time.Time
	if x.Counted {
		if paid = r.Reward; b.spec.Approval != nil {
			paid, held, due = 0, r.Reward, k.now.Add(b.spec.Approval.Within)
			k.seen["pay is held"]++
		}
	}
	if x.Paid != paid || x.Held != held || !x.Due.Equal(due) {
		return fmt.Errorf("paid %s, held %s until %s (counted %t), promised %s", x.Paid, x.Held, x.Due, x.Counted, r.Reward)
	}
	return nil
}

// checkMoney adds up by another way than transfer does: by answers and budgets.
func (k *books) checkMoney() error {
	earned := make(map[crowd.WorkerID]crowd.Money)
	spent, held := make(map[crowd.BatchID]crowd.Money), make(map[crowd.BatchID]crowd.Money)
	for id, r := range k.rows {
		if r.answer != nil {
			earned[r.Worker] += r.answer.Paid
			spent[id.Batch()] += r.answer.Paid + r.answer.Held
			held[id.Batch()] += r.answer.Held
		}
	}
	paid := crowd.Money(0)
	for account, got := range k.accounts {
		if account.Kind == engine.WorkerAccount {
			paid += got - earned[crowd.WorkerID(account.ID)]
		}
	}
	if paid != k.waited {
		return fmt.Errorf("people have %s on top of their answers, for waiting worth %s", paid, k.waited)
	}
	total := make(map[engine.Account]crowd.Money) // what tenants are short of
	for id, shared := range k.shared {
		total[engine.Account{Kind: engine.TenantAccount, ID: int64(id)}] -= shared
	}
	for id, b := range k.batches {
		if got := k.accounts[engine.Account{Kind: engine.HeldAccount, ID: int64(id)}]; got != held[id] {
			return fmt.Errorf("%s holds pay of %s, of answers worth %s", id, got, held[id])
		}
		escrow := k.accounts[b.account()]
		if escrow < 0 || b.kept.Spent != spent[id] {
			return fmt.Errorf("%s has %s left, spent %s on answers worth %s", id, escrow, b.kept.Spent, spent[id])
		}
		total[b.tenantAccount()] -= spent[id] + escrow
	}
	for account, sum := range total {
		if got := k.accounts[account]; got != sum {
			return fmt.Errorf("%s is short of %s, its batches of %s", account, got, sum)
		}
	}
	return nil
}

func (b *batchBook) account() engine.Account {
	return engine.Account{Kind: engine.BatchAccount, ID: int64(b.spec.ID)}
}

func (b *batchBook) tenantAccount() engine.Account {
	return engine.Account{Kind: engine.TenantAccount, ID: int64(b.spec.Tenant)}
}

func workerAccount(w crowd.WorkerID) engine.Account {
	return engine.Account{Kind: engine.WorkerAccount, ID: int64(w)}
}
