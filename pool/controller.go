package pool

import (
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/queueing"
)

// Controller decides for one pool, step by step. It holds what was seen of the
// pool, and the state of its control laws.
type Controller struct {
	settings Settings
	parts    compiled
	seen     *estimates
	best     optimum
	pid      pid
	left     *queueing.Window // people who left, over the window of the stability
	gone     *queueing.Window // the same, over that of the elasticity

	grew, shrank time.Time // when the elasticity last did either; zero: never

	learnt bool // something, since States was asked last
	waited waited
}

// New makes the controller of a pool. The error is that of Settings.Validate.
func New(s Settings) (*Controller, error) {
	c := new(Controller)
	if err := c.set(s); err != nil {
		return nil, err
	}
	return c, nil
}

// set changes the settings. The estimates, and the state of an elasticity and of
// a stability, are kept where what they rest on stays the same.
func (c *Controller) set(s Settings) error {
	parts, err := compile(&s)
	if err != nil {
		return err
	}
	s.Rules = slices.Clone(s.Rules)
	if s.Window == 0 {
		s.Window = DefaultWindow
	}
	if c.seen == nil || c.settings.Window != s.Window {
		fresh := newEstimates(s.Window)
		if c.seen != nil {
			fresh.seen, fresh.at, fresh.counters, fresh.mu = c.seen.seen, c.seen.at, c.seen.counters, c.seen.mu
		}
		c.seen = fresh
	}
	if c.parts.elastic.String() != parts.elastic.String() {
		o := parts.elastic.options
		c.pid = pid{kp: o["kp"], ki: o["ki"], kd: o["kd"]}
		c.gone = nil
	}
	if c.parts.stable.String() != parts.stable.String() {
		c.left = nil
	}
	c.best = optimum{servers: Unknown}
	c.settings, c.parts = s, parts
	return nil
}

// Step decides for a pool that is controlled by itself: nobody moves to or from
// it. The reading is not kept, and not changed.
//
// What is decided is what the elasticity wants and the stability wants, together:
// who is to be called and who is to be let go cancel out. The limits cut that: the
// cool-down, Max, Min, and last the funds, which not even Min passes. Whom it
// does not want it first stops calling (Withdraw), unless the elasticity is one
// that does not count who is coming, and then lets go (Release).
func (c *Controller) Step(now time.Time, r *Reading, rnd Random) Decision {
	p := c.plan(now, r, staff{own: r.Workers, free: r.Workers}, rnd)
	for _, f := range p.transfers {
		p.d.Why = append(p.d.Why, f.why+": not done, the pool is controlled by itself")
	}
	p.d.Go = lists.Map(latest(r, 0, nil)[:min(p.d.Release, r.listed())], func(x *Person) crowd.WorkerID { return x.ID })
	return p.d
}

// plan is a decision to which the other pools have not been asked yet.
type plan struct {
	d         Decision
	transfers []fired
}

func (c *Controller) plan(now time.Time, r *Reading, of staff, rnd Random) plan {
	counters := r.Counters
	counters.Abandoned += of.elsewhere
	before := c.pid
	ch := c.seen.observe(now, &counters, r.Withdrawn)
	m := c.metrics(now, r, of, ch)
	p := plan{d: Decision{Pool: r.Pool, Advice: c.settings.Advise, Saw: m}}
	d := &p.d

	v := view{m: &m, ch: ch, now: now, rnd: rnd}
	elastic := c.wants(&c.parts.elastic, v)
	p.transfers = elastic.transfers
	d.Why = elastic.why
	wanted := elastic.change
	elastic.change = c.cool(now, wanted, d)
	v.elastic = elastic.change
	stable := c.wants(&c.parts.stable, v)
	d.Why = append(d.Why, stable.why...)
	change := c.limit(&m, r, elastic.change+stable.change, d)
	if wanted > 0 && (elastic.change == 0 || change < elastic.change+stable.change) {
		c.pid.cut(1)
	}
	if wanted < 0 && (elastic.change == 0 || change > elastic.change+stable.change) {
		c.pid.cut(-1)
	}

	switch {
	case change > 0:
		d.Recruit = change
		if elastic.change > 0 {
			c.grew = now
		}
	case change < 0:
		d.Withdraw = min(-change, r.Coming)
		if !c.withdraws() {
			over := 0
			if c.settings.Max > 0 {
				over = max(0, of.own+r.Coming-c.settings.Max)
			}
			d.Withdraw = min(d.Withdraw, over)
		}
		if d.Release = min(-change-d.Withdraw, of.own); d.Release > of.free {
			d.Why = append(d.Why, fmt.Sprintf("%d of %d are let go: the others are in training, or came from another pool less than %s ago", of.free, d.Release, format.Duration(c.settings.stay())))
			d.Release = of.free
			c.pid.cut(-1)
		}
		if elastic.change < 0 && d.Withdraw+d.Release > 0 {
			c.shrank = now
		}
	}
	c.learnt = c.learnt || ch.happened || !d.Idle() || c.pid != before
	return p
}

// withdraws reports whether people who are coming may be told that they are not
// wanted. The paper's forms do not know them; then only Max withdraws.
func (c *Controller) withdraws() bool {
	coming, ok := c.parts.elastic.options["coming"]
	return !ok || coming != 0
}

// cool keeps the elasticity from turning round too soon; see Settings.Cooldown.
func (c *Controller) cool(now time.Time, change int, d *Decision) int {
	since, what, not := c.grew, "people were called", "nobody is let go"
	if change > 0 {
		since, what, not = c.shrank, "people were let go", "nobody is called"
	}
	if change == 0 || since.IsZero() {
		return change
	}
	passed := now.Sub(since)
	if passed >= c.settings.Cooldown {
		return change
	}
	d.Why = append(d.Why, fmt.Sprintf("cool-down: %s %s ago, so %s for %s more", what, passed.Round(time.Second), not, (c.settings.Cooldown-passed).Round(time.Second)))
	return 0
}

// limit cuts a change by Max, Min and the funds.
func (c *Controller) limit(m *Metrics, r *Reading, change int, d *Decision) int {
	people, affordable := m.Own()+m.Coming, r.Affordable
	s := &c.settings
	most, least := s.Max-people, s.Min-people
	if r.Open {
		if change < 0 {
			d.Why = append(d.Why, fmt.Sprintf("%+d becomes +0: the pool is open, and who comes by themselves stays", change))
			change = 0
		}
		most, least = max(most, 0), min(least, 0)
	}
	if s.Max > 0 && change > most {
		d.Why = append(d.Why, fmt.Sprintf("%+d becomes %+d: at most %d people, %s", change, most, s.Max, m.counted()))
		change = most
	}
	if change < least {
		d.Why = append(d.Why, fmt.Sprintf("%+d becomes %+d: at least %d people, %s", change, least, s.Min, m.counted()))
		change = least
	}
	if r.Exhausted && change > 0 {
		who := ""
		if s.LeastPreference > 0 {
			who = fmt.Sprintf(" who has a preference of at least %g for the pool", s.LeastPreference)
		}
		d.Why = append(d.Why, fmt.Sprintf("%+d becomes +0: nobody is left to ask%s", change, who))
		change = 0
	}
	if affordable >= 0 && change > affordable {
		who := fmt.Sprintf("%d more", affordable)
		if affordable == 0 {
			who = "nobody more"
		}
		d.Why = append(d.Why, fmt.Sprintf("%+d becomes %+d: the funds pay for %s", change, affordable, who))
		change = affordable
	}
	return change
}
