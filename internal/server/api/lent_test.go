package api_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/pool"
)

// TestOutsideAGateNothingIsPaid: the rate of who finds no place inside a full gate is 0, as the gate
// says; on leaving and for those inside it is the pool's.
func TestOutsideAGateNothingIsPaid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.setPool(main, `{"control": {"gate": true, "max": 1}, "retainer": {"rate_micros_per_minute": 60000}}`)
		must(w.admin.FundPool(w.ctx, main, crowd.Unit))(t)
		inside, outside := w.workers[0], w.workers[1]
		must(inside.StartDuty(w.ctx))(t)
		if d := must(outside.StartDuty(w.ctx))(t); !d.On || d.Outside != 1 || d.Rate != 0 || !strings.HasSuffix(d.Gate, "Waiting there is not paid.") {
			t.Errorf("outside: %+v", d)
		}
		if d := w.duty(inside); d.Outside != 0 || d.Rate != 60_000 {
			t.Errorf("inside: %+v", d)
		}
		if d := must(outside.EndDuty(w.ctx))(t); d.On || d.Rate != 60_000 {
			t.Errorf("off duty: %+v", d)
		}
	})
}

// TestDutyOfWhoIsLent: the API tells whoever is lent in which pool they help, whose they are,
// since when, and what waiting pays there.
func TestDutyOfWhoIsLent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		one := w.workers[0]
		night := must(w.admin.CreatePool(w.ctx, "night", "fifo"))(t).ID
		must(one.StartDuty(w.ctx))(t)
		if d := w.duty(one); d.Lent != nil {
			t.Errorf("at home: %+v", d.Lent)
		}
		id := must(one.Me(w.ctx))(t).ID
		must(w.app.Transfers.Transfer(w.ctx, pool.Move{Worker: id, From: main, To: night, Home: main}))(t)
		at := time.Now()
		d := w.duty(one)
		if !d.On || d.PoolName != "night" || d.Rate != 0 || d.Lent == nil || *d.Lent != (wire.Loan{Home: main, HomeName: "main", Since: d.Lent.Since}) || !d.Lent.Since.Equal(at) {
			t.Errorf("lent: %+v, %+v, want since %s", d, d.Lent, at)
		}
		w.setPool(night, `{"retainer": {"rate_micros_per_minute": 60000}}`)
		if d := w.duty(one); d.Rate != 0 || !d.Unpaid {
			t.Errorf("where there is no money to pay it: %+v", d)
		}
		must(w.admin.FundPool(w.ctx, night, crowd.Unit))(t)
		if d := w.duty(one); d.Rate != 60_000 || d.Unpaid || d.Lent == nil {
			t.Errorf("where waiting is paid: %+v", d)
		}
	})
}
