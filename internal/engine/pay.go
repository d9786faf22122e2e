package engine

import (
	"cmp"
	"math/bits"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// retainerAccount is the pool's money for waiting. Waiting is paid to the nanosecond, from
// the moment when somebody's request for work finds nothing until they are served,
// goes, or is no longer there; it reaches the ledger when the wait ends, and once
// a minute. Never more is paid than there is: the account knows when it will be
// empty.
type retainerAccount struct {
	funds   crowd.Money // balance of the pool's account
	paid    crowd.Money // for waiting, since the engine was made
	waiters int64       // whose waiting is paid now
	begun   int64       // sum of their paidTo, in ns since epoch
	rests   int64       // sum of what they were owed then: see duty.rest
	epoch   time.Time
	empty   bool  // nothing more can be paid
	alarm   timer // the next payday, or when the account will be empty
}

const (
	payday = time.Minute
	// renewal is how long a worker's request for work may be renewed after the
	// last one ended without a loss of pay. The time between is paid as what
	// follows it.
	renewal = 5 * time.Second

	longestWait  = time.Hour // between two payments, as Config.LongestWait
	nanosAMinute = uint64(time.Minute)
)

// Fund adds money to the pool's account. Where it comes from a tenant, the
// caller has made sure that the tenant has it.
func (e *Engine) Fund(now time.Time, from Account, amount crowd.Money) error {
	if amount <= 0 || amount > crowd.MaxMoney-e.wages.funds {
		return crowd.Fieldf("amount", "%s is not an amount to add (more than 0, and the pool's funds at most %s)", amount, crowd.MaxMoney)
	}
	kind := Deposit
	if from.Kind == TenantAccount {
		kind = WaitingShare
	}
	e.payAll(now) // what was earned until now is paid from what there was
	e.wages.funds += amount
	e.transfer(Transfer{At: now, Kind: kind, From: from, To: e.account(), Amount: amount})
	e.restartPay(now)
	return nil
}

// Withdraw takes money out of the pool's account that no waiting has earned yet.
func (e *Engine) Withdraw(now time.Time, amount crowd.Money) error {
	e.payAll(now)
	if amount <= 0 || amount > e.wages.funds {
		return crowd.Fieldf("amount", "%s is not an amount to take out (more than 0, at most %s)", amount, e.wages.funds)
	}
	e.wages.funds -= amount
	e.transfer(Transfer{At: now, Kind: Withdrawal, From: e.account(), To: Account{Kind: Outside}, Amount: amount})
	e.setPayday(now)
	return nil
}

func (e *Engine) account() Account { return Account{PoolAccount, int64(e.cfg.Pool)} }

// pays reports whether waiting is paid now.
func (e *Engine) pays() bool { return e.retainer.Rate > 0 && !e.wages.empty }

// startPay begins to pay w's waiting. A wait that follows on another one within
// the time of a renewal goes on.
func (e *Engine) startPay(now time.Time, w *worker) {
	if !e.pays() || w.outside {
		w.paidTo = time.Time{}
		e.setPayday(now)
		return
	}
	if w.paidTo.IsZero() || now.Sub(w.paidTo) > renewal {
		w.paidTo = now
	}
	e.wages.add(w)
	e.setPayday(now)
}

// stopPay ends the pay of w's waiting.
func (e *Engine) stopPay(now time.Time, w *worker) {
	if !w.paidTo.IsZero() {
		e.wages.remove(w)
		e.pay(now, w)
	}
	e.setPayday(now)
}

func (p *retainerAccount) since(t time.Time) int64 { return int64(t.Sub(p.epoch)) }

func (p *retainerAccount) add(w *worker) {
	if p.waiters == 0 {
		p.epoch, p.begun, p.rests = w.paidTo, 0, 0
	}
	p.waiters++
	p.begun += p.since(w.paidTo)
	p.rests += w.rest
}

func (p *retainerAccount) remove(w *worker) {
	p.waiters--
	p.begun -= p.since(w.paidTo)
	p.rests -= w.rest
}

// due is what w has earned since they were paid last, and what is left of it below
// a micro-unit, times ns. Nobody waited for longer than Config.LongestWait:
// the clock was changed, or the machine slept.
func (e *Engine) due(now time.Time, w *worker) (crowd.Money, int64) {
	waited := min(max(now.Sub(w.paidTo), 0), cmp.Or(e.cfg.LongestWait, longestWait))
	high, low := bits.Mul64(uint64(e.retainer.Rate), uint64(waited))
	low, carry := bits.Add64(low, uint64(w.rest), 0)
	due, rest := bits.Div64(high+carry, low, nanosAMinute) // for MaxRate × longestWait it is far from too large
	return crowd.Money(due), int64(rest)
}

// pay pays w up to now. What is less than a micro-unit is kept for the next time.
func (e *Engine) pay(now time.Time, w *worker) {
	if !now.After(w.paidTo) {
		return
	}
	due, rest := e.due(now, w)
	amount := min(due, e.wages.funds)
	w.paidTo, w.rest = now, rest
	e.wages.funds -= amount
	e.wages.paid += amount
	w.earned += amount
	e.transfer(Transfer{At: now, Kind: Waiting, From: e.account(), To: Account{WorkerAccount, int64(w.id)}, Amount: amount})
}

// payAll pays everybody who waits up to now, in the order of the queue.
func (e *Engine) payAll(now time.Time) {
	for w := e.waiting.head; w != nil; w = w.next {
		if !w.paidTo.IsZero() {
			e.wages.remove(w)
			e.pay(now, w)
			e.wages.add(w)
		}
	}
}

// earned is what the people who wait have earned and not been paid, in rate × ns.
func (e *Engine) earned(now time.Time) float64 {
	p := &e.wages
	if p.waiters == 0 {
		return 0
	}
	waited := max(p.waiters*p.since(now)-p.begun, 0)
	return float64(e.retainer.Rate)*float64(waited) + float64(p.rests)
}

// owed is the same, rounded down to the micro-unit in all.
func (e *Engine) owed(now time.Time) crowd.Money {
	return crowd.Money(e.earned(now) / float64(nanosAMinute))
}

// left is how long the account pays those who wait, in ns; at least one does.
func (e *Engine) left(now time.Time) float64 {
	p := &e.wages
	return (float64(p.funds)*float64(nanosAMinute) - e.earned(now)) / float64(int64(e.retainer.Rate)*p.waiters)
}

// setPayday sets the alarm to when somebody has to be paid, or the account is empty.
func (e *Engine) setPayday(now time.Time) {
	p := &e.wages
	switch {
	case e.letsGo():
		e.timers.set(&p.alarm, now)
		return
	case p.waiters == 0 || !e.pays():
		p.alarm.stop()
		return
	}
	next := payday
	if left := e.left(now); left < float64(payday) {
		next = time.Duration(max(left, 0))
	}
	if at := now.Add(next); !p.alarm.on || at.Before(p.alarm.at) {
		e.timers.set(&p.alarm, at)
	}
}

// letsGo reports whether people wait whom the pool called and cannot pay.
func (e *Engine) letsGo() bool {
	return e.wages.empty && e.retainer.Called && e.retainer.Rate > 0 && e.waiting.len() > 0
}

// onPayday pays everybody who waits. When the account is empty, a pool that calls
// its people lets those who wait go; in an open one they may stay, unpaid.
func (e *Engine) onPayday(now time.Time) {
	e.payAll(now)
	if e.pays() && e.left(now) >= 1 {
		e.setPayday(now)
		return
	}
	e.wages.empty = true
	for w := e.waiting.head; w != nil; {
		next := w.next
		if !w.paidTo.IsZero() {
			e.wages.remove(w)
			w.paidTo = time.Time{}
		}
		if e.retainer.Called {
			e.goOff(now, w, Unpaid)
		}
		w = next
	}
}

// restartPay looks again at what is paid from now on, after the rate or the
// funds have changed.
func (e *Engine) restartPay(now time.Time) {
	e.payAll(now)
	e.wages.empty = e.wages.funds == 0
	for w := e.waiting.head; w != nil; w = w.next {
		switch {
		case e.pays() && !w.outside && w.paidTo.IsZero():
			w.paidTo = now
			e.wages.add(w)
		case !e.pays() && !w.paidTo.IsZero():
			e.wages.remove(w)
			w.paidTo = time.Time{}
		}
	}
	e.wages.alarm.stop()
	e.setPayday(now)
}
