package control_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/control"
)

// TestWhatAClosedGateNeeds: money for everybody with whom it opens, those who are there among
// them; nothing where it is open or lacks nobody, where nobody is called, and where the money
// is enough.
func TestWhatAClosedGateNeeds(t *testing.T) {
	t.Parallel()
	view := func(change func(v *control.PoolView)) *control.PoolView {
		v := new(control.PoolView)
		v.Retainer.Called, v.Retainer.Rate, v.Retainer.Promise = true, crowd.Unit/20, 10*time.Minute
		v.GateNow.On, v.GateNow.Min, v.GateNow.Inside = true, 3, 1
		v.Status.Funds.Funds = crowd.Unit
		change(v)
		return v
	}
	for name, x := range map[string]struct {
		change func(v *control.PoolView)
		want   crowd.Money
	}{
		"two of three are missing": {func(*control.PoolView) {}, 3 * crowd.Unit / 2},
		"money is owed":            {func(v *control.PoolView) { v.Status.Funds.Funds, v.Status.Funds.Owed = 3*crowd.Unit/2, 1 }, 3 * crowd.Unit / 2},
		"there is money enough":    {func(v *control.PoolView) { v.Status.Funds.Funds = 3 * crowd.Unit / 2 }, 0},
		"it is open":               {func(v *control.PoolView) { v.GateNow.Open = true }, 0},
		"there is none":            {func(v *control.PoolView) { v.GateNow.On = false }, 0},
		"nobody is missing":        {func(v *control.PoolView) { v.GateNow.Inside = 3 }, 0},
		"nobody is called":         {func(v *control.PoolView) { v.Retainer.Called = false }, 0},
		"waiting is not paid":      {func(v *control.PoolView) { v.Retainer.Rate = 0 }, 0},
		"a promise below a minute": {func(v *control.PoolView) { v.Retainer.Promise, v.Status.Funds.Funds = time.Second, 0 }, 3 * crowd.Unit / 20},
		"it opens with one and max": {func(v *control.PoolView) {
			v.GateNow.Min, v.GateNow.Max, v.GateNow.Inside, v.Status.Funds.Funds = 0, 2, 0, 0
		}, crowd.Unit / 2},
	} {
		if got := view(x.change).GateNeeds(); got != x.want {
			t.Errorf("%s: %s is needed, want %s", name, got, x.want)
		}
	}
}

// TestWhatACallNeeds: money for one person, where nobody is on duty in a pool that calls and pays.
func TestWhatACallNeeds(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		change func(v *control.PoolView)
		want   crowd.Money
	}{
		"too little":               {func(*control.PoolView) {}, 3 * crowd.Unit / 2},
		"money is owed":            {func(v *control.PoolView) { v.Status.Funds.Funds, v.Status.Funds.Owed = 3*crowd.Unit/2, 1 }, 3 * crowd.Unit / 2},
		"there is money enough":    {func(v *control.PoolView) { v.Status.Funds.Funds = 3 * crowd.Unit / 2 }, 0},
		"somebody is there":        {func(v *control.PoolView) { v.OnDuty = 1 }, 0},
		"nobody is called":         {func(v *control.PoolView) { v.Retainer.Called = false }, 0},
		"waiting is not paid":      {func(v *control.PoolView) { v.Retainer.Rate = 0 }, 0},
		"a promise below a minute": {func(v *control.PoolView) { v.Retainer.Promise, v.Status.Funds.Funds = time.Second, 0 }, crowd.Unit / 20},
	} {
		v := new(control.PoolView)
		v.Retainer.Called, v.Retainer.Rate, v.Retainer.Promise = true, crowd.Unit/20, 30*time.Minute
		v.Status.Funds.Funds = crowd.Unit // enough for more than ten minutes
		x.change(v)
		if got := v.CallNeeds(); got != x.want {
			t.Errorf("%s: %s is needed, want %s", name, got, x.want)
		}
	}
}
