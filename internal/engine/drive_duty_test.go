package engine_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/instant"
)

// pass lets time go by up to a moment. By how, what is due meanwhile is done just
// then, as a rule; or all at once at the end, as after a sleep; or not at all, so
// that the next command comes before it.
func (w *world) pass(to time.Time, how uint32) error {
	switch how % 8 {
	case 0, 2, 3:
		at, ok := w.e.NextTimer()
		w.overdue = w.overdue || ok && at.Before(to)
		w.now = to
		w.k.advance(to)
		return nil
	case 1:
		w.now = to
		w.k.advance(to)
		return w.tickNow(false)
	}
	for range 100_000 {
		at, ok := w.e.NextTimer()
		if !ok || at.After(to) {
			w.now = to
			w.k.advance(to)
			if !w.overdue && w.k.short() {
				return fmt.Errorf("the account has been empty for a while, and nobody has noticed")
			}
			return nil
		}
		exact := !w.overdue && !at.Before(w.now)
		w.now = instant.Later(w.now, at)
		w.k.advance(w.now)
		if err := w.tickNow(exact); err != nil {
			return fmt.Errorf("tick at %s: %w", w.now, err)
		}
	}
	return fmt.Errorf("timers without end before %s", to)
}

// tickNow lets the engine do what is due; what that makes due is done by another
// tick. exact says that nothing is overdue.
func (w *world) tickNow(exact bool) error {
	op := w.op
	defer func() { w.op = op }()
	for range 3 {
		w.op = "tick"
		w.k.begin()
		if at, ok := w.e.NextTimer(); ok && !at.After(w.now) {
			if err := w.k.beforeTick(exact); err != nil {
				return err
			}
		}
		w.k.ticked = true
		for _, id := range w.running() {
			w.k.batches[id].advance(w.now, w.k.seen)
		}
		w.e.Tick(w.now)
		if err := w.settle(); err != nil {
			return err
		}
		if at, ok := w.e.NextTimer(); !ok || at.After(w.now) {
			w.overdue = false
			return nil
		}
		exact = false
	}
	return fmt.Errorf("after three ticks at %s something is due still", w.now)
}

func (w *world) startDuty(id crowd.WorkerID) error {
	who, known := w.k.workers[id]
	err := w.e.StartDuty(w.now, id)
	p := w.k.person(id)
	switch {
	case !known:
		return wantCode(err, crowd.NotFound)
	case who.Suspended:
		w.k.seen["start duty: suspended"]++
		return wantCode(err, crowd.Forbidden)
	case !p.on:
		w.k.comes = id
		w.k.seen["start duty"]++
	case p.leaves != "":
		w.k.seen["start duty: taken back"]++
	}
	p.seen, p.leaves = w.now, ""
	return err
}

func (w *world) endDuty(id crowd.WorkerID, why engine.Departure) error {
	_, known := w.k.workers[id]
	off, err := w.e.EndDuty(w.now, id, why)
	if !known {
		return wantCode(err, crowd.NotFound)
	}
	p := w.k.person(id)
	waits := p.on && w.k.holding[id] != nil
	switch {
	case waits:
		p.leaves = why
		w.k.seen["end duty: after the task"]++
	case p.on:
		w.k.goes[id] = why
	}
	if off == waits {
		return fmt.Errorf("end of duty of %s: off %t, but they hold a task: %t", id, off, waits)
	}
	return err
}

func (w *world) leave(id crowd.WorkerID) {
	w.e.Leave(w.now, id)
	if slices.Contains(w.k.waiting, id) {
		w.k.stopWaiting(id)
		w.k.person(id).seen = w.now
	}
}

// renew ends the request of somebody who waits and makes it again a little later,
// as a long poll does.
func (w *world) renew(c command) error {
	n := len(w.k.waiting)
	if n == 0 {
		return nil
	}
	id := w.k.waiting[int(c.a)%n]
	w.leave(id)
	if err := w.settle(); err != nil {
		return err
	}
	if err := w.pass(w.now.Add([]time.Duration{0, 1, time.Second, 5 * time.Second, 5*time.Second + 1, 7 * time.Second}[c.b%6]), c.b/8); err != nil {
		return err
	}
	w.k.begin()
	return w.ready(id)
}

func (w *world) train(c command) error {
	id, n := w.worker(c.a), int(c.b%4)
	err := w.e.Train(w.now, id, n)
	if _, known := w.k.workers[id]; !known {
		return wantCode(err, crowd.NotFound)
	}
	w.k.train(id, n)
	if slices.Contains(w.k.waiting, id) {
		w.k.seen["train: waits"]++
		w.k.enoughLearnt(id)
	}
	return err
}

func (w *world) setRetainer(c command) error {
	r := w.k.retainer
	switch c.a % 6 {
	case 0:
		r.Called = !r.Called
	case 1:
		r.Silence = []time.Duration{0, 0, time.Second, 20 * time.Second, 5 * time.Minute, 10 * time.Minute}[c.b%6]
	case 2, 3:
		r.Rate = []crowd.Money{0, 1, 70_000, 100_000, 123_457, 5_000_000}[c.b%6]
	case 4:
		r.Promise = time.Duration(c.b%10) * time.Minute
	case 5:
		r = engine.Retainer{Training: int(c.b % 3)}
	}
	w.k.settleAll()
	if err := w.e.SetRetainer(w.now, r); err != nil {
		return err
	}
	w.k.retainer, w.store.retainer = r, r
	w.k.refund = true
	w.k.seen["retainer changed"]++
	return nil
}

func (w *world) fund(c command) error {
	amount := []crowd.Money{1, 7, 1_000, 60_001, 250_000, 5_000_000}[c.b%6]
	from := engine.Account{Kind: engine.Outside}
	if c.a%2 == 0 {
		from = engine.Account{Kind: engine.TenantAccount, ID: int64(1 + c.a/2%3)}
	}
	w.k.settleAll()
	w.k.refund = true
	return w.e.Fund(w.now, from, amount)
}

func (w *world) withdraw(c command) error {
	w.k.settleAll()
	amount := w.e.RetainerFunds(w.now).Funds
	switch c.a % 4 {
	case 0:
		amount = crowd.Money(int64(c.b) % int64(amount+1))
	case 1:
		amount = max(amount-crowd.Money(c.b%100_000), 0)
	case 2:
		amount++
	}
	owed := crowd.Money(0)
	for _, id := range w.k.waiting {
		if w.k.pays() {
			owed += money(w.k.person(id).due)
		}
	}
	left := max(w.k.accounts[poolAccount]-owed, 0)
	err := w.e.Withdraw(w.now, amount)
	if amount <= 0 || amount > left {
		w.k.seen["withdraw: too much"]++
		return wantCode(err, crowd.Invalid)
	}
	return err
}

// settleAll says that all waiting is paid with this command, as far as the money
// goes.
func (k *books) settleAll() {
	k.cutTo = nil
	if !k.pays() {
		return
	}
	funds := k.accounts[poolAccount]
	sum := crowd.Money(0)
	for _, id := range k.waiting {
		sum += money(k.person(id).due)
	}
	sum = min(sum, funds)
	want := k.waited + sum
	k.cutTo = &want
}

// settledAll follows the transfers of such a command.
func (k *books) settledAll() error {
	if k.cutTo == nil {
		return nil
	}
	want := *k.cutTo
	k.cutTo = nil
	if k.waited != want {
		return fmt.Errorf("%s was paid for waiting in all, want %s", k.waited, want)
	}
	for _, id := range k.waiting {
		if due := k.person(id).due; due.Cmp(whole(1)) >= 0 {
			k.seen["waiting that could not be paid"]++
			due.Mod(due, whole(1))
		}
	}
	return nil
}

// departure is why somebody goes after their task: a suspension counts as long as it
// lasts.
func (k *books) departure(id crowd.WorkerID) engine.Departure {
	p := k.person(id)
	if p.on && k.workers[id].Suspended {
		return engine.Released
	}
	return p.leaves
}
