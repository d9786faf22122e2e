package pools

import (
	"math"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/pool"
)

// TestWrongSetups: each is refused, and the error names the field.
func TestWrongSetups(t *testing.T) {
	t.Parallel()
	good := func() Setup {
		setup := queueSetup(1, 1, 2, time.Minute)
		setup.Pools = append(setup.Pools, Pool{Name: "b", Service: sim.Constant(1)})
		return setup
	}
	if s := good(); s.Validate() != nil {
		t.Fatal(s.Validate())
	}
	first := func(change func(p *Pool)) func(*Setup) { return func(s *Setup) { change(&s.Pools[0]) } }
	for name, c := range map[string]struct {
		change func(s *Setup)
		field  string
	}{
		"no horizon":            {func(s *Setup) { s.Horizon = 0 }, "horizon"},
		"years":                 {func(s *Setup) { s.Horizon = 2 * MaxHorizon }, "horizon"},
		"tiny steps":            {func(s *Setup) { s.Step = 1 }, "step"},
		"no step in time":       {func(s *Setup) { s.Step = time.Hour }, "step"},
		"negative salary":       {func(s *Setup) { s.Salary = -1 }, "salary"},
		"too much salary":       {func(s *Setup) { s.Salary = engine.MaxRate + 1 }, "salary"},
		"no pools":              {func(s *Setup) { s.Pools = nil }, "pools"},
		"two of one name":       {func(s *Setup) { s.Pools[1].Name = "a" }, "name"},
		"no name":               {func(s *Setup) { s.Pools[1].Name = "" }, "name"},
		"negative rate":         {first(func(p *Pool) { p.Arrivals[0].Rate = -1 }), "rate"},
		"NaN rate":              {first(func(p *Pool) { p.Arrivals[0].Rate = math.NaN() }), "rate"},
		"phases at once":        {first(func(p *Pool) { p.Arrivals = []Phase{{0, 1}, {0, 2}} }), "from"},
		"times descend":         {first(func(p *Pool) { p.Times = at(2, 1) }), "times"},
		"bursts descend":        {first(func(p *Pool) { p.Bursts = []Burst{{2, 1}, {1, 1}} }), "bursts"},
		"an empty burst":        {first(func(p *Pool) { p.Bursts = []Burst{{2, 0}} }), "bursts"},
		"start below":           {first(func(p *Pool) { p.Start = -3 }), "start"},
		"start above":           {first(func(p *Pool) { p.Start = MaxStart + 1 }), "start"},
		"no service":            {first(func(p *Pool) { p.Service = nil }), "service"},
		"no time at all":        {first(func(p *Pool) { p.Service = sim.Constant(0) }), "service"},
		"no mean":               {first(func(p *Pool) { p.Service = sim.Zipf{A: 1.5} }), "service"},
		"endless training":      {first(func(p *Pool) { p.Training = sim.Constant(1e9) }), "training"},
		"too many tasks":        {func(s *Setup) { s.Horizon, s.Pools[0].Arrivals[0].Rate = MaxHorizon, MaxRate }, "rate"},
		"no probability":        {func(s *Setup) { s.People.Abandon = 1.5 }, "abandon"},
		"no stay":               {func(s *Setup) { s.People.Stay = sim.Constant(0) }, "stay"},
		"negative recruitment":  {func(s *Setup) { s.People.Recruitment = sim.Constant(-1) }, "recruitment"},
		"an unknown way":        {func(s *Setup) { s.People.Recruiting = "all" }, "recruiting"},
		"a process of nothing":  {func(s *Setup) { s.People.Recruiting = Process }, "recruitment"},
		"a process of no time":  {func(s *Setup) { s.People.Recruiting, s.People.Recruitment = Process, sim.Constant(0) }, "recruitment"},
		"fewer than nobody":     {func(s *Setup) { s.People.Outside = -1 }, "outside"},
		"preferences for three": {func(s *Setup) { s.People.Prefers = []float64{1, 0, 0} }, "prefers"},
		"a preference of 2":     {func(s *Setup) { s.People.Prefers = []float64{2, 0} }, "prefers"},
		"an empty trace":        {func(s *Setup) { s.People.Trace = &Trace{} }, "trace"},
		"an unknown balance":    {func(s *Setup) { s.Balance = "even" }, "balance"},
		"an unknown elasticity": {first(func(p *Pool) { p.Settings.Elasticity = "rubber" }), "elasticity"},
		"limits that cross":     {first(func(p *Pool) { p.Settings = pool.Settings{Min: 3, Max: 2} }), "max"},
	} {
		setup := good()
		c.change(&setup)
		err := setup.Validate()
		if crowd.CodeOf(err) != crowd.Invalid || fieldOf(err) != c.field {
			t.Errorf("%s: %q: %v", name, fieldOf(err), err)
		}
	}
}

func fieldOf(err error) string {
	if e, ok := err.(*crowd.Error); ok {
		return e.Field
	}
	return ""
}
