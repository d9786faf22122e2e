package recruit_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
)

// TestWhoIsGone: a worker who waited is sent away from the page when they have gone themselves, and,
// only where it is kept who is on duty, when they do not come back by asking for work.
func TestWhoIsGone(t *testing.T) {
	t.Parallel()
	open, called, paid := engine.Retainer{}, engine.Retainer{Called: true}, engine.Retainer{Rate: 1}
	for name, x := range map[string]struct {
		in   engine.Retainer
		on   bool
		why  engine.Departure
		want bool
	}{
		"on duty":                               {called, true, engine.Left, false},
		"on duty, paid":                         {paid, true, engine.Released, false},
		"open, left":                            {open, false, engine.Left, false},
		"open, released":                        {open, false, engine.Released, false},
		"called, for whatever reason":           {called, false, "", true},
		"called, silent":                        {called, false, engine.Silent, true},
		"paid, left":                            {paid, false, engine.Left, true},
		"paid, released":                        {paid, false, engine.Released, true},
		"paid, the money has run out":           {paid, false, engine.Unpaid, true},
		"paid, silent: asking brings them back": {paid, false, engine.Silent, false},
		"paid, never on duty":                   {paid, false, "", false},
	} {
		v := recruit.DutyView{Pool: store.Pool{Retainer: x.in}}
		v.On = x.on
		if got := v.Gone(recruit.OffDuty{Why: x.why}); got != x.want {
			t.Errorf("%s: gone is %t", name, got)
		}
		if got := v.Gone(recruit.OffDuty{Why: x.why, Left: true}); got == x.on {
			t.Errorf("%s, and has said that they go: gone is %t", name, got)
		}
	}
}

// TestWhatIsSeenOfADuty: whatever the page shows changes what it is known by.
func TestWhatIsSeenOfADuty(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	base := func() recruit.DutyView {
		v := recruit.DutyView{Pool: store.Pool{ID: 1}}
		v.Since = at
		return v
	}
	first := base()
	seen := map[string]string{first.Seen(): "the first"}
	for name, change := range map[string]func(v *recruit.DutyView){
		"another pool":     func(v *recruit.DutyView) { v.Pool.ID = 2 },
		"on duty":          func(v *recruit.DutyView) { v.On = true },
		"since later":      func(v *recruit.DutyView) { v.Since = at.Add(time.Microsecond) },
		"they leave":       func(v *recruit.DutyView) { v.Leaves = engine.Released },
		"they learn":       func(v *recruit.DutyView) { v.Training = 1 },
		"it calls":         func(v *recruit.DutyView) { v.Pool.Retainer.Called = true },
		"it pays":          func(v *recruit.DutyView) { v.Pool.Retainer.Rate = 1 },
		"a call":           func(v *recruit.DutyView) { v.Call = &store.Call{ID: 1} },
		"another call":     func(v *recruit.DutyView) { v.Call = &store.Call{ID: 2} },
		"they are called":  func(v *recruit.DutyView) { v.Called = &store.Notice{AskedAt: at} },
		"called once more": func(v *recruit.DutyView) { v.Called = &store.Notice{AskedAt: at.Add(time.Second)} },
	} {
		v := base()
		change(&v)
		key := v.Seen()
		if other, twice := seen[key]; twice {
			t.Errorf("%s and %s are taken for the same", name, other)
		}
		seen[key] = name
	}
	again := base()
	again.Earned = 7
	if again.Seen() != first.Seen() {
		t.Error("what was earned is no news")
	}
}
