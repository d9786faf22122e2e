package engine_test

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/pool"
)

// The part of the books that is about duty, pay for waiting and training.

const poolID crowd.PoolID = 7

var poolAccount = engine.Account{Kind: engine.PoolAccount, ID: int64(poolID)}

// person is a worker's duty.
type person struct {
	on       bool
	since    time.Time
	seen     time.Time
	idle     time.Time
	leaves   engine.Departure
	training int
	told     engine.Duty // the last row
	// Of this stay on duty: what they have earned by waiting, in micro-units × ns a
	// minute, less what they were paid; what they were paid; when their last paid wait
	// ended, if nothing came after it.
	due    *big.Int
	earned crowd.Money
	left   time.Time
}

// stays are the books' accounts of duty. The fields of the second group are of
// the command in hand.
type stays struct {
	people       map[crowd.WorkerID]*person
	retainer     engine.Retainer
	empty        bool
	paid, waited crowd.Money // for waiting: since the start, since the world began
	shared       map[crowd.TenantID]crowd.Money
	tally        pool.Counters
	carried      int64 // answers that were wanted at the last restart
	used         map[crowd.TenantID]time.Duration
	handed       []handed // since the start, of real work

	comes   crowd.WorkerID
	goes    map[crowd.WorkerID]engine.Departure
	unpaid  []crowd.WorkerID // have to go, since the account is empty
	ticked  bool
	learns  map[crowd.WorkerID]bool // training has changed
	wasOn   map[crowd.WorkerID]bool
	letWork map[crowd.WorkerID]engine.Departure // had to go after the task that they let go of
	cutTo   *crowd.Money                        // all who wait are paid: so much in all
	refund  bool                                // it is looked again whether the account is empty
}

func newStays() stays {
	return stays{people: make(map[crowd.WorkerID]*person), empty: true, shared: make(map[crowd.TenantID]crowd.Money), used: make(map[crowd.TenantID]time.Duration)}
}

func (k *books) person(id crowd.WorkerID) *person {
	if k.people[id] == nil {
		k.people[id] = &person{due: new(big.Int)}
	}
	return k.people[id]
}

// advance lets time go by: it integrates who is on duty, at work, and waiting.
func (k *books) advance(now time.Time) {
	dt := now.Sub(k.now)
	k.now = now
	for id, p := range k.people {
		if !p.on {
			continue
		}
		k.tally.OnDuty += dt
		if h := k.holding[id]; h != nil {
			if !k.batches[h.Task.Batch()].spec.Training {
				k.tally.Worked += dt
			}
		} else {
			k.tally.Idled += dt
		}
	}
	if k.pays() {
		for _, id := range k.waiting {
			k.earn(k.person(id), dt)
		}
	}
}

func (k *books) pays() bool { return k.retainer.Rate > 0 && !k.empty }

func (k *books) keeps() bool { return k.retainer.Rate > 0 || k.retainer.Called }

func (k *books) earn(p *person, dt time.Duration) {
	p.due.Add(p.due, times(int64(k.retainer.Rate), int64(dt)))
}

func times(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }

// whole is money as it stands in person.due.
func whole(m crowd.Money) *big.Int { return times(int64(m), int64(time.Minute)) }

// begin starts a command.
func (k *books) begin() {
	k.comes, k.unpaid, k.ticked, k.cutTo, k.refund, k.counting = 0, nil, false, nil, false, 0
	k.goes, k.learns = make(map[crowd.WorkerID]engine.Departure), make(map[crowd.WorkerID]bool)
	k.wasOn, k.letWork = make(map[crowd.WorkerID]bool), make(map[crowd.WorkerID]engine.Departure)
	for id, p := range k.people {
		k.wasOn[id] = p.on
	}
}

func (k *books) startWaiting(id crowd.WorkerID) {
	if slices.Contains(k.waiting, id) {
		return
	}
	k.waiting = append(k.waiting, id)
	p := k.person(id)
	if gap := k.now.Sub(p.left); k.pays() && !p.left.IsZero() && gap <= 5*time.Second {
		k.earn(p, gap)
		k.seen["a wait renewed in time"]++
	}
}

func (k *books) stopWaiting(w crowd.WorkerID) {
	if !slices.Contains(k.waiting, w) {
		return
	}
	k.waiting = slices.DeleteFunc(k.waiting, func(x crowd.WorkerID) bool { return x == w })
	k.person(w).left = time.Time{}
	if k.pays() {
		k.person(w).left = k.now
	}
}

// unpaidDue is what all who wait have earned and not been paid.
func (k *books) unpaidDue() *big.Int {
	sum := new(big.Int)
	if k.pays() {
		for _, id := range k.waiting {
			sum.Add(sum, k.person(id).due)
		}
	}
	return sum
}

// short reports whether those who wait have earned more than there is.
func (k *books) short() bool { return k.unpaidDue().Cmp(whole(k.accounts[poolAccount])) > 0 }

// beforeTick finds out who has to go because the account is empty: when it cannot
// pay those who wait for a nanosecond more. exact says that nothing is overdue.
func (k *books) beforeTick(exact bool) error {
	k.ticked = true
	if len(k.waiting) == 0 || k.retainer.Rate == 0 {
		return nil
	}
	if !k.empty {
		left := new(big.Int).Sub(whole(k.accounts[poolAccount]), k.unpaidDue())
		step := times(int64(k.retainer.Rate), int64(len(k.waiting)))
		if left.Cmp(step) >= 0 {
			return nil
		}
		if exact && left.Cmp(step.Neg(step)) < 0 {
			return fmt.Errorf("the account was empty before: %s short of %s (rate × ns)", left, step)
		}
		k.empty = true
		k.seen[fmt.Sprintf("account empty, called %t", k.retainer.Called)]++
		if exact {
			k.seen["account empty to the nanosecond"]++
		}
		for _, id := range k.waiting { // their wait is not a paid one from here on
			k.person(id).left = time.Time{}
		}
	} else if k.retainer.Called {
		k.seen["waits in a pool that cannot pay"]++
	}
	if k.retainer.Called {
		k.unpaid = slices.Clone(k.waiting)
	}
	return nil
}

// train sets what somebody has to learn. Who finds nothing to learn from when they
// is given work next has learnt enough.
func (k *books) train(id crowd.WorkerID, n int) {
	if p := k.person(id); p.training != n {
		p.training = n
		k.learns[id] = true
	}
}

func (k *books) enoughLearnt(id crowd.WorkerID) {
	if k.person(id).training == 0 {
		return
	}
	for _, b := range k.batches {
		if k.fits(id, b) != nil {
			return
		}
	}
	k.seen["nothing to learn from"]++
	k.train(id, 0)
}

// refunded looks again whether the account is empty, after SetRetainer and Fund.
func (k *books) refunded() {
	k.empty = k.accounts[poolAccount] == 0
}

func (k *books) poolTransfer(x engine.Transfer) error {
	want := engine.Transfer{At: k.now, Kind: x.Kind, From: x.From, To: x.To, Amount: x.Amount}
	switch x.Kind {
	case engine.Deposit:
		want.From, want.To = engine.Account{Kind: engine.Outside}, poolAccount
	case engine.WaitingShare:
		want.To = poolAccount
		if x.From.Kind != engine.TenantAccount {
			return fmt.Errorf("not from a tenant")
		}
		k.shared[crowd.TenantID(x.From.ID)] += x.Amount
	case engine.Withdrawal:
		want.From, want.To = poolAccount, engine.Account{Kind: engine.Outside}
	case engine.Waiting:
		id := crowd.WorkerID(x.To.ID)
		p := k.person(id)
		want.From, want.To = poolAccount, workerAccount(id)
		if p.due.Cmp(whole(x.Amount)) < 0 {
			return fmt.Errorf("more than the %s (rate × ns) that they have earned", p.due)
		}
		p.due.Sub(p.due, whole(x.Amount))
		p.earned += x.Amount
		k.paid += x.Amount
		k.waited += x.Amount
	default:
		return fmt.Errorf("not of a pool")
	}
	if x != want || x.Amount <= 0 {
		return fmt.Errorf("want %v", want)
	}
	k.accounts[x.From] -= x.Amount
	k.accounts[x.To] += x.Amount
	if k.accounts[poolAccount] < 0 {
		return fmt.Errorf("the account holds %s", k.accounts[poolAccount])
	}
	k.seen["transfer: "+string(x.Kind)]++
	return nil
}

// worked says that a task was let go of.
func (k *books) worked(id crowd.WorkerID) {
	p := k.person(id)
	p.idle = k.now
	if why := k.departure(id); why != "" {
		k.letWork[id] = why
	}
}

// shifts enters who came and who went, then looks for those who should have.
func (k *books) shifts(list []engine.Shift) error {
	why := make(map[crowd.WorkerID]engine.Departure)
	for _, x := range list {
		p := k.person(x.Worker)
		switch {
		case x.On:
			if p.on || k.comes != x.Worker || x.Why != "" {
				return fmt.Errorf("%+v came on duty (on %t), expected %s", x, p.on, k.comes)
			}
			k.comeOn(x.Worker)
			continue
		case !p.on:
			return fmt.Errorf("%+v went, who was not on duty", x)
		}
		waits := slices.Contains(k.waiting, x.Worker)
		ok := false
		switch x.Why {
		case engine.Unpaid:
			ok = slices.Contains(k.unpaid, x.Worker)
		case engine.Silent:
			ok = k.ticked && !waits && k.isSilent(p)
		}
		ok = ok || k.letWork[x.Worker] == x.Why || k.goes[x.Worker] == x.Why
		if !ok || k.holding[x.Worker] != nil {
			return fmt.Errorf("%+v went without cause (tick %t, waited %t, silent %t, about to %q, told to %q)", x, k.ticked, waits, k.isSilent(p), k.letWork[x.Worker], k.goes[x.Worker])
		}
		k.seen["gone: "+string(x.Why)]++
		if waits {
			k.seen["gone while waiting: "+string(x.Why)]++
		}
		switch x.Why {
		case engine.Left, engine.Silent:
			k.tally.Abandoned++
		case engine.Released, engine.Unpaid:
			k.tally.Released++
		}
		k.stopWaiting(x.Worker)
		if err := k.settled(p); err != nil {
			return fmt.Errorf("%s went: %w", x.Worker, err)
		}
		p.on, p.leaves, p.left, p.since = false, "", time.Time{}, time.Time{}
		p.due = new(big.Int)
		why[x.Worker] = x.Why
	}
	if id := k.comes; id != 0 && !k.person(id).on {
		return fmt.Errorf("%s did not come", id)
	}
	for _, id := range k.unpaid {
		if k.person(id).on {
			return fmt.Errorf("%s is not paid, and stays", id)
		}
	}
	for id, p := range k.people {
		switch {
		case p.on && k.goes[id] != "" && k.holding[id] == nil:
			return fmt.Errorf("%s was to go (%s), and is there", id, k.goes[id])
		case p.on && k.departure(id) != "" && k.holding[id] == nil:
			return fmt.Errorf("%s was to go (%s) after their task, and is there", id, k.departure(id))
		case k.ticked && p.on && k.holding[id] == nil && !slices.Contains(k.waiting, id) && k.isSilent(p):
			return fmt.Errorf("%s was not heard of since %s, and is there", id, p.seen)
		}
		if p.on && !k.wasOn[id] {
			why[id] = ""
		}
	}
	return nil
}

func (k *books) isSilent(p *person) bool {
	return k.retainer.Silence > 0 && !p.seen.Add(k.retainer.Silence).After(k.now)
}

func (k *books) comeOn(id crowd.WorkerID) {
	p := k.person(id)
	*p = person{on: true, since: k.now, seen: k.now, idle: k.now, training: p.training, told: p.told, due: new(big.Int)}
}

// settled says that p's wait has ended: whole micro-units are paid, as long as
// there is money. What is less than one is kept for their next wait.
func (k *books) settled(p *person) error {
	unit := whole(1)
	if p.due.Cmp(unit) >= 0 {
		if k.accounts[poolAccount] > 0 {
			return fmt.Errorf("they are owed %s (rate × ns), and the account holds %s", p.due, k.accounts[poolAccount])
		}
		k.seen["waiting that could not be paid"]++
		p.due.Mod(p.due, unit)
	}
	return nil
}

// duties enters the rows about duty and training: just those that there should
// be, and the last one of each person as they now are.
func (k *books) duties(list []engine.Duty) error {
	rows := make(map[crowd.WorkerID][]engine.Duty)
	for _, x := range list {
		if x.Pool != poolID || x.At != k.now || x.On == x.Since.IsZero() {
			return fmt.Errorf("row %+v", x)
		}
		rows[x.Worker] = append(rows[x.Worker], x)
	}
	for id, p := range k.people {
		changed := k.wasOn[id] != p.on
		want := k.learns[id] || changed && (k.keeps() || p.told.On) || k.keeps() && p.on && !p.told.On
		if want != (len(rows[id]) > 0) {
			return fmt.Errorf("%s: rows %+v, wanted %t (changed %t, kept as %+v)", id, rows[id], want, changed, p.told)
		}
		for i, x := range rows[id] {
			last := i == len(rows[id])-1
			if last && (x.On != p.on || !x.Since.Equal(p.since) || x.Training != p.training || changed && !x.On && x.Why == "" || x.On && x.Why != "") {
				return fmt.Errorf("%s: last row %+v, they are on duty %t since %s, training %d", id, x, p.on, p.since, p.training)
			}
			p.told = x
			k.seen[fmt.Sprintf("duty kept, on %t", x.On)]++
		}
		delete(rows, id)
	}
	if len(rows) > 0 {
		return fmt.Errorf("rows %+v", rows)
	}
	return nil
}

// settleWaits follows all transfers of a command.
func (k *books) settleWaits() error {
	if err := k.settledAll(); err != nil {
		return err
	}
	if k.refund {
		k.refunded()
	}
	for id, p := range k.people {
		if !slices.Contains(k.waiting, id) || k.empty {
			if err := k.settled(p); err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
		}
	}
	return nil
}

// checkStays compares with what the engine says of people, account and itself.
func (k *books) checkStays(e *engine.Engine) error {
	present := 0
	for id := range k.workers {
		p := k.person(id)
		got, ok := e.OnCall(k.now, id)
		want := engine.OnCall{Worker: id, On: p.on, Since: p.since, Idle: got.Idle, Waiting: slices.Contains(k.waiting, id), Seen: got.Seen,
			Leaves: k.departure(id), Training: p.training, Earned: got.Earned}
		if p.on {
			present++
			want.Idle, want.Seen, want.Earned = p.idle, p.seen, p.earned
			if k.holding[id] != nil {
				want.Idle = time.Time{}
			}
			if want.Waiting && k.pays() {
				want.Earned += money(p.due)
			}
		}
		if !ok || got != want {
			return fmt.Errorf("on call:\n got %+v\nwant %+v", got, want)
		}
	}
	if n := len(e.People(k.now)); n != present || e.Counts().OnDuty+e.Gate().Outside != present {
		return fmt.Errorf("%d people are on duty, and %d are listed, %d counted", present, n, e.Counts().OnDuty+e.Gate().Outside)
	}
	funds, owed := k.accounts[poolAccount], money(k.unpaidDue())
	if got, want := e.RetainerFunds(k.now), (engine.RetainerFunds{Funds: funds, Owed: owed, Paid: k.paid, Empty: k.retainer.Rate > 0 && (k.empty || funds == 0)}); got != want {
		return fmt.Errorf("account:\n got %+v\nwant %+v", got, want)
	}
	if err := k.checkUses(e); err != nil {
		return err
	}
	return cmp.Or(k.checkReading(e.Reading(k.now), present), k.checkTimer(e))
}

func money(due *big.Int) crowd.Money {
	return crowd.Money(new(big.Int).Div(due, whole(1)).Int64())
}

func (k *books) checkUses(e *engine.Engine) error {
	var want []engine.Use
	for t := range crowd.TenantID(len(k.tenants) + 1) {
		u := engine.Use{Tenant: t, Worked: k.used[t]}
		for _, b := range k.batches {
			u.Open = u.Open || b.spec.Tenant == t && b.kept.State.Open()
		}
		if u.Worked > 0 || u.Open {
			want = append(want, u)
		}
	}
	if got := e.Uses(); !slices.Equal(got, want) {
		return fmt.Errorf("uses:\n got %+v\nwant %+v", got, want)
	}
	return nil
}

// checkDue compares the engine's next timer with the books' own: the first lease,
// lifetime or silence to end. Paydays come in between, at least once a minute.
func (k *books) checkDue(e *engine.Engine) error {
	var first time.Time
	at := func(x time.Time) {
		if !x.IsZero() && (first.IsZero() || x.Before(first)) {
			first = x
		}
	}
	k.eachDue(at)
	for _, b := range k.batches {
		if b.kept.State.Open() {
			at(b.spec.EndsAt)
			at(b.nextChange())
		}
	}
	for id, p := range k.people {
		if p.on && k.retainer.Silence > 0 && k.holding[id] == nil && !slices.Contains(k.waiting, id) {
			at(p.seen.Add(k.retainer.Silence))
		}
	}
	next, ok := e.NextTimer()
	if paid := k.retainer.Rate > 0 && len(k.waiting) > 0 && (!k.empty || k.retainer.Called); paid {
		if !ok || !first.IsZero() && next.After(first) || next.After(k.now.Add(time.Minute)) {
			return fmt.Errorf("the next timer is at %s (%t), but people wait and are paid, and the first other one is at %s", next, ok, first)
		}
		for _, id := range k.waiting { // a minute, a gap, and what is less than a micro-unit
			most := k.retainer.Rate*65 + 60
			if due := k.person(id).due; next.After(k.now) && k.pays() && due.Cmp(times(int64(most), int64(time.Second))) > 0 {
				return fmt.Errorf("%s is owed %s (rate × ns), more than a minute's pay", id, due)
			}
		}
	} else if ok == first.IsZero() || ok && !next.Equal(first) {
		return fmt.Errorf("the next timer is at %s (%t), want %s", next, ok, first)
	}
	return nil
}

// restarted forgets what a restart forgets.
func (k *books) restarted() {
	k.carried, k.tally, k.paid, k.handed, k.waiting = k.outstanding(), pool.Counters{}, 0, nil, nil
	clear(k.used)
	k.refunded()
	for id, p := range k.people {
		if p.on = p.told.On && !k.workers[id].Suspended; p.on {
			since := p.told.Since
			k.comeOn(id)
			p.since = since
		} else if k.holding[id] != nil {
			k.comeOn(id)
		} else {
			*p = person{training: p.training, told: p.told, due: new(big.Int)}
		}
	}
}
