package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/sched"
)

// paidPool makes a pool of n workers with a retainer and funds.
func paidPool(t *testing.T, n int, r engine.Retainer, funds crowd.Money) *engine.Engine {
	t.Helper()
	e := engine.New(engine.Config{Pool: poolID, Policy: sched.MustParse("fs")})
	must(t, e.SetTenant(start, engine.Tenant{ID: 1, Weight: 1}))
	for id := range crowd.WorkerID(n) {
		must(t, e.SetWorker(start, engine.Worker{ID: id + 1}))
	}
	must(t, e.SetRetainer(start, r))
	if funds > 0 {
		must(t, e.Fund(start, engine.Account{Kind: engine.Outside}, funds))
	}
	for id := range crowd.WorkerID(n) {
		if r.Called {
			must(t, e.StartDuty(start, id+1))
		}
	}
	return e
}

// waitFor lets somebody ask for work and go again after some time, with a tick at
// each timer in between, and returns the time then.
func waitFor(t *testing.T, e *engine.Engine, now time.Time, id crowd.WorkerID, d time.Duration) time.Time {
	t.Helper()
	if _, ok, err := e.Ready(now, id); ok || err != nil {
		t.Fatalf("ready: %t, %v", ok, err)
	}
	until := now.Add(d)
	tickUntil(e, until)
	e.Leave(until, id)
	return until
}

func tickUntil(e *engine.Engine, until time.Time) {
	for at, ok := e.NextTimer(); ok && !at.After(until); at, ok = e.NextTimer() {
		e.Tick(at)
	}
}

// TestManyShortWaits adds up waits of less than a micro-unit's worth each: what is
// paid is rate × time, rounded down once.
func TestManyShortWaits(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		rate      crowd.Money
		wait, gap time.Duration
		waits     int
		want      crowd.Money
	}{
		// 60 units a minute are a micro-unit each µs.
		"a micro-unit each":                   {60_000_000, time.Microsecond, time.Minute, 1000, 1000},
		"half a micro-unit each":              {60_000_000, 500 * time.Nanosecond, time.Minute, 1001, 500},
		"a nanosecond each":                   {60_000_000, 1, time.Minute, 2999, 2},
		"a third of a micro-unit each":        {20_000_000, time.Microsecond, time.Minute, 3000, 1000},
		"1 micro-unit a minute, by 7 s":       {1, 7 * time.Second, time.Minute, 60, 7},
		"1 micro-unit a minute, by 59 s":      {1, 59 * time.Second, time.Minute, 60, 59},
		"7 micro-units, by 13 s":              {7, 13 * time.Second, 6 * time.Second, 100, 151}, // 9100/60 = 151.67
		"gaps of 5 s are paid":                {60, 5 * time.Second, 5 * time.Second, 12, 115},  // 23 × 5 s
		"a nanosecond more, and they are not": {60, 5 * time.Second, 5*time.Second + 1, 12, 60},
		"the highest rate":                    {engine.MaxRate, time.Millisecond, time.Minute, 60, 1_000_000},
		"paydays within a wait":               {7, 150 * time.Second, time.Minute, 10, 175},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := paidPool(t, 1, engine.Retainer{Rate: c.rate}, crowd.MaxMoney)
			now := start
			for i := range c.waits {
				if i > 0 {
					now = now.Add(c.gap)
				}
				now = waitFor(t, e, now, 1, c.wait)
			}
			sum := waitingPaid(e)
			p := e.RetainerFunds(now)
			if want := (engine.RetainerFunds{Funds: crowd.MaxMoney - c.want, Paid: c.want}); p != want || sum != c.want {
				t.Errorf("account %+v, want %+v; transfers of %s", p, want, sum)
			}
			if x, _ := e.OnCall(now, 1); x.Earned != c.want {
				t.Errorf("earned %s, want %s", x.Earned, c.want)
			}
		})
	}
}

// waitingPaid is what the changes since the last Take say was paid for waiting.
func waitingPaid(e *engine.Engine) crowd.Money {
	var ch engine.Changes
	e.Take(&ch)
	sum := crowd.Money(0)
	for _, x := range ch.Transfers {
		if x.Kind == engine.Waiting {
			sum += x.Amount
		}
	}
	return sum
}

// TestRemainderOfAStay: what is less than a micro-unit ends with the stay.
func TestRemainderOfAStay(t *testing.T) {
	t.Parallel()
	e := paidPool(t, 1, engine.Retainer{Rate: 1}, 1000)
	now := waitFor(t, e, start, 1, 59*time.Second)
	off, err := e.EndDuty(now, 1, engine.Left)
	must(t, err)
	now = waitFor(t, e, now.Add(time.Hour), 1, 59*time.Second)
	if p := e.RetainerFunds(now); !off || p.Paid != 0 {
		t.Errorf("off %t, account %+v", off, p)
	}
	waitFor(t, e, now, 1, time.Second)
	if p := e.RetainerFunds(now); p.Paid != 1 {
		t.Errorf("account %+v", p)
	}
}

// TestPurseRunsDry: the people wait from start on, one after the other came a
// while later, and nothing happens until the account is empty.
func TestPurseRunsDry(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		rate, funds crowd.Money
		apart       []time.Duration // when each of them asks, after start
		dry         time.Duration   // the last nanosecond that is paid
		left        crowd.Money     // in the account then
	}{
		"one, at once":                   {60_000_000, 1, []time.Duration{0}, time.Microsecond, 0},
		"one, to the microsecond":        {60_000_000, 1_234_567, []time.Duration{0}, 1_234_567 * time.Microsecond, 0},
		"one, after paydays":             {60, 12_345, []time.Duration{0}, 12_345 * time.Second, 0},
		"a rate that does not come out":  {70_000, 1, []time.Duration{0}, 857_142 * time.Nanosecond, 1},
		"that one, for longer":           {70_000, 700_001, []time.Duration{0}, 10*time.Minute + 857_142*time.Nanosecond, 1},
		"two":                            {60_000_000, 1_000_000, []time.Duration{0, 0}, 500 * time.Millisecond, 0},
		"two, one after the other":       {60_000_000, 3_000_000, []time.Duration{0, time.Second}, 2 * time.Second, 0},
		"three, and parts of micro-unit": {20_000_000, 100, []time.Duration{0, 0, 0}, 100 * time.Microsecond, 1}, // 33⅓ each
		"three, after a minute each":     {60, 180, []time.Duration{0, time.Minute, 2 * time.Minute}, 2 * time.Minute, 0},
		"a minute to the end":            {60, 60, []time.Duration{0}, time.Minute, 0},
		"the highest rate":               {engine.MaxRate, 1000 * crowd.Unit, []time.Duration{0}, time.Minute, 0},
	}
	for name, c := range cases {
		for _, called := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, called %t", name, called), func(t *testing.T) {
				n := len(c.apart)
				e := paidPool(t, n, engine.Retainer{Rate: c.rate, Called: called}, c.funds)
				for i, d := range c.apart {
					tickUntil(e, start.Add(d-1))
					_, _, err := e.Ready(start.Add(d), crowd.WorkerID(i+1))
					must(t, err)
				}
				tickUntil(e, start.Add(c.dry-1))
				if x := e.Counts(); x.Waiting != n || e.RetainerFunds(start.Add(c.dry-1)).Empty {
					t.Fatalf("a nanosecond before: %+v, %+v", x, e.RetainerFunds(start))
				}
				if at, ok := e.NextTimer(); !ok || !at.Equal(start.Add(c.dry)) {
					t.Fatalf("next timer at %s (%t), want %s", at.Sub(start), ok, c.dry)
				}
				tickUntil(e, start.Add(c.dry))
				want, p := engine.RetainerFunds{Funds: c.left, Paid: c.funds - c.left, Empty: true}, e.RetainerFunds(start.Add(c.dry))
				if p.Owed > c.left {
					t.Errorf("owed %s", p.Owed)
				}
				if p.Owed = 0; p != want {
					t.Errorf("account %+v, want %+v", p, want)
				}
				stay := n
				if called {
					stay = 0
				}
				if x := e.Counts(); x.Waiting != stay || x.OnDuty != stay {
					t.Errorf("%+v, want %d to stay", x, stay)
				}
				if at, ok := e.NextTimer(); ok {
					t.Errorf("a timer is left, at %s", at.Sub(start))
				}
				must(t, e.Check())
			})
		}
	}
}

// TestPaydays: each wait reaches the ledger at least once a minute, whatever
// happens to funds and company meanwhile.
func TestPaydays(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 3))
		e := paidPool(t, 4, engine.Retainer{Rate: 60}, 100)
		last := make(map[int64]time.Time) // payment, or the begin of a wait
		now, paid := start, 0
		for range 400 {
			id := crowd.WorkerID(1 + r.IntN(4))
			switch r.IntN(4) {
			case 0:
				must(t, e.Fund(now, engine.Account{Kind: engine.Outside}, crowd.Money(1+r.IntN(300))))
			case 1:
				e.Leave(now, id)
				delete(last, int64(id))
			default:
				_, _, err := e.Ready(now, id)
				must(t, err)
			}
			to := now.Add(time.Duration(r.IntN(20_000)) * time.Millisecond)
			for {
				var ch engine.Changes
				e.Take(&ch)
				for _, x := range ch.Transfers {
					if x.Kind == engine.Waiting {
						last[x.To.ID] = x.At
						paid++
					}
				}
				for _, p := range e.People(now) {
					if w := int64(p.Worker); !p.Waiting || e.RetainerFunds(now).Empty {
						delete(last, w)
					} else if last[w].IsZero() {
						last[w] = now
					} else if d := now.Sub(last[w]); d > time.Minute {
						t.Fatalf("world %d: u%d has not been paid for %s", seed, w, d)
					}
				}
				at, ok := e.NextTimer()
				if !ok || at.After(to) {
					break
				}
				now = at
				e.Tick(now)
			}
			now = to
		}
		if paid < 50 {
			t.Errorf("world %d: %d payments", seed, paid)
		}
	}
}

// TestRateChanges: each stretch is paid by its own rate, and none is rounded by
// itself.
func TestRateChanges(t *testing.T) {
	t.Parallel()
	type stretch struct {
		rate crowd.Money
		d    time.Duration
	}
	cases := map[string]struct {
		list []stretch
		want crowd.Money
	}{
		"up":                       {[]stretch{{60, 10 * time.Second}, {120, 10 * time.Second}}, 30},
		"down":                     {[]stretch{{120, 90 * time.Second}, {60, 10 * time.Second}}, 190},
		"to 0 and back":            {[]stretch{{60, 10 * time.Second}, {0, time.Hour}, {60, 10 * time.Second}}, 20},
		"from 0":                   {[]stretch{{0, time.Hour}, {60, 10 * time.Second}}, 10},
		"in parts of a micro-unit": {[]stretch{{1, 20 * time.Second}, {2, 20 * time.Second}, {1, 20 * time.Second}, {2, 20 * time.Second}}, 2},
		"no change":                {[]stretch{{1, 30 * time.Second}, {1, 30 * time.Second}}, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := paidPool(t, 1, engine.Retainer{Rate: c.list[0].rate}, 1000)
			_, _, err := e.Ready(start, 1)
			must(t, err)
			now := start
			for _, s := range c.list {
				must(t, e.SetRetainer(now, engine.Retainer{Rate: s.rate}))
				now = now.Add(s.d)
				tickUntil(e, now)
				must(t, e.Check())
			}
			e.Leave(now, 1)
			if p := e.RetainerFunds(now); p.Paid != c.want || p.Funds != 1000-c.want {
				t.Errorf("account %+v, want %s paid", p, c.want)
			}
		})
	}
}

// TestClockLeaps: a pause of more than an hour between two paydays is none that
// anybody waited, and what is owed for a shorter one never exceeds the account.
func TestClockLeaps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate, funds crowd.Money
		leap        time.Duration
		want        crowd.Money
	}{
		{60, 1_000_000, time.Hour, 3600},
		{60, 1_000_000, time.Hour + time.Second, 3600},
		{60, 1_000_000, 1000 * time.Hour, 3600},
		{engine.MaxRate, crowd.MaxMoney, 1000 * time.Hour, 60 * engine.MaxRate},
		{engine.MaxRate, 59 * engine.MaxRate, 1000 * time.Hour, 59 * engine.MaxRate},
		{60, 100, 10 * time.Minute, 100},
	} {
		e := paidPool(t, 1, engine.Retainer{Rate: c.rate}, c.funds)
		_, _, err := e.Ready(start, 1)
		must(t, err)
		if x, _ := e.OnCall(start.Add(-c.leap), 1); x.Earned != 0 { // set back
			t.Errorf("%+v: before they came: %+v", c, x)
		}
		e.Tick(start.Add(c.leap))
		if p := e.RetainerFunds(start.Add(c.leap)); p.Paid != c.want || p.Funds != c.funds-c.want {
			t.Errorf("%+v: account %+v", c, p)
		}
		must(t, e.Check())
	}
}

// TestMoneyTooLate: the account was empty for a while when money comes, goes, or the
// rate changes, and nobody has ticked. What was earned after that moment stays
// unpaid; what there was is paid.
func TestMoneyTooLate(t *testing.T) {
	t.Parallel()
	cases := map[string]func(e *engine.Engine, now time.Time) error{
		"money": func(e *engine.Engine, now time.Time) error {
			return e.Fund(now, engine.Account{Kind: engine.Outside}, 1000)
		},
		"a rate": func(e *engine.Engine, now time.Time) error { return e.SetRetainer(now, engine.Retainer{Rate: 6000}) },
		"nobody": func(e *engine.Engine, now time.Time) error { return wantCode(e.Withdraw(now, 1), crowd.Invalid) },
		"a tick": func(e *engine.Engine, now time.Time) error { e.Tick(now); return nil },
	}
	for name, do := range cases {
		t.Run(name, func(t *testing.T) {
			e := paidPool(t, 1, engine.Retainer{Rate: 60}, 10)
			_, _, err := e.Ready(start, 1)
			must(t, err)
			must(t, do(e, start.Add(30*time.Second)))
			if sum := waitingPaid(e); sum != 10 {
				t.Errorf("%s was paid, want 0.00001", sum)
			}
			must(t, e.Check())
		})
	}
}
