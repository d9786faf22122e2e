package pool

import (
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// Settings is how one pool is controlled. The zero value controls nothing: the
// pool is left as it is.
type Settings struct {
	Elasticity string        `json:"elasticity"`  // text form, see Elasticities; "" is "static"
	Stability  string        `json:"stability"`   // text form, see Stabilities; "" is "none"
	Balance    bool          `json:"balance"`     // takes part in the balancing of pools
	Balancer   string        `json:"balancer"`    // who comes by it: text form, see Balancers; "": as NewControl was told
	Rules      []Rule        `json:"rules"`       // of the elasticity "rules"; at most MaxRules
	Target     Target        `json:"target"`      // what c* is
	Expect     Expect        `json:"expect"`      // what is known before anything was seen
	Min        int           `json:"min"`         // fewest people on duty and coming
	Max        int           `json:"max"`         // most people on duty and coming; 0: no limit
	Cooldown   time.Duration `json:"cooldown_ns"` // see below; 0: none
	Window     time.Duration `json:"window_ns"`   // what the estimates look back on; 0: DefaultWindow
	Advise     bool          `json:"advise"`      // decide, and do nothing

	// LeastPreference is the preference for the pool, from 0 to 1, below which nobody is
	// called; see Calls.
	LeastPreference float64 `json:"least_preference"`
}

// Calls reports whether the pool calls somebody with that preference for it. Who likes
// it less is no recruit: they are neither called nor, where they come unasked, given the
// place of one. Moves between pools do not ask it: a Balancer weighs preferences itself.
func (s *Settings) Calls(preference float64) bool { return preference >= s.LeastPreference }

// Cooldown keeps a pool from growing and shrinking by turns. For that long after
// its elasticity had people called, its elasticity lets nobody go and withdraws
// no call, and for that long after people were let go or calls withdrawn, its
// elasticity calls nobody. What stability calls replaces people who left: it
// neither starts a cool-down nor is held up by one. Nor are Min and Max, which
// always hold, nor moves between pools.

// The defaults of Settings and Target, and their limits.
const (
	DefaultWindow = 5 * time.Minute
	DefaultEta    = 0.5  // the paper has no figure
	DefaultSalary = 0.05 // money a minute; the paper's, section 3.1

	MaxRules  = 50
	MaxPeople = 100_000 // of Min and Max, and of n in a text form or rule
	MaxWindow = 24 * time.Hour
)

// Target says what the best number of people is. Without Wait it is the paper's
// c* = argmin_c η E[W] + (1−η) E[Cost] (section 3.1); with Wait it is the least
// c for which the mean wait is at most Wait, or, with Tail as well, for which at
// most that share of the answers waits longer than Wait.
type Target struct {
	Eta    float64       `json:"eta"`     // weight of the wait against the cost, above 0 to 1; 0: DefaultEta
	Salary float64       `json:"salary"`  // pay for waiting, money a minute; 0: what the pool pays, or DefaultSalary if it pays nothing
	Wait   time.Duration `json:"wait_ns"` // 0: none
	Tail   float64       `json:"tail"`    // 0 to less than 1; 0: the mean
}

// Expect is what is known of a pool before anything was seen.
type Expect struct {
	// TaskTime is how long one answer takes. It counts as five observed ones, as
	// a requester's figure does in package sched. 0: not known; then c* is not
	// known before five answers were seen.
	TaskTime time.Duration `json:"task_time_ns"`
}

// Rule is one rule of the elasticity "rules": at every control step at which
// When holds, Do is wanted.
type Rule struct {
	When string `json:"when"` // a condition over Names, such as "queue > 10 || c_star - workers > 5"
	Do   string `json:"do"`   // "recruit 1", "release 2", or "transfer 3 from POOL"
}

// Sizes reports whether the rule makes the pool larger or smaller by itself: it calls people or lets
// them go.
func (r Rule) Sizes() bool {
	return strings.HasPrefix(r.Do, "recruit") || strings.HasPrefix(r.Do, "release")
}

// BalancedBy is the text form of the balancer that decides who comes to the pool,
// where other is that of pools that have none of their own (nil: none). "": the pool
// does not balance.
func (s *Settings) BalancedBy(other Balancer) string {
	switch {
	case !s.Balance:
		return ""
	case s.Balancer != "":
		return MustParseBalance(s.Balancer).Name()
	case other == nil:
		return noBalance{}.Name()
	}
	return other.Name()
}

// A Lookup finds a pool by its name.
type Lookup func(name string) (crowd.PoolID, bool)

// Validate says what is wrong with the settings. The error is Invalid and names
// the field; for a rule it is that of CheckRules. Whether the pools that rules
// name exist is for CheckRules to say.
func (s *Settings) Validate() error {
	_, err := compile(s)
	return err
}

// compiled is what the text forms of settings mean.
type compiled struct {
	elastic, stable spec
	rules           []rule
	balancer        Balancer // nil: none of its own
}

func compile(s *Settings) (c compiled, err error) {
	var elastic, stable, balancer, rules error
	c.elastic, elastic = parseElasticity(s.Elasticity)
	c.stable, stable = parseStability(s.Stability)
	if s.Balancer != "" {
		c.balancer, balancer = parseBalancer("balancer", s.Balancer)
	}
	c.rules, rules = compileRules(s.Rules, nil, false)
	if err := crowd.Gather(elastic, stable, balancer, rules, s.numbers()); err != nil {
		return c, err
	}
	switch c.elastic.law.Name {
	case "rules":
		if len(c.rules) == 0 {
			return c, crowd.Fieldf("rules", `the elasticity "rules" needs a rule, such as when "queue > 10" do "recruit 1"`)
		}
	case "rules-paper":
		if c.rules, err = compileRules(paperRules(c.elastic.counts()), nil, false); err != nil {
			return c, err
		}
	default:
		c.rules = nil
	}
	return c, nil
}

// paperRules are the two rules of section 6.2, "Pool elasticity".
func paperRules(coming bool) []Rule {
	people := "workers"
	if coming {
		people = "(workers + coming)"
	}
	return []Rule{
		{When: "queue > 10 or c_star - " + people + " > 5", Do: "recruit 1"},
		{When: "c_star - " + people + " < -5", Do: "release 1"},
	}
}

func (s *Settings) numbers() error {
	t := &s.Target
	var list crowd.Errors
	list.Refuse(s.Min < 0 || s.Min > MaxPeople, "min", "must be 0 to %d people, not %d", MaxPeople, s.Min)
	list.Refuse(s.Max < 0 || s.Max > MaxPeople, "max", "must be 0 (no limit) to %d people, not %d", MaxPeople, s.Max)
	list.Refuse(s.Max > 0 && s.Max < s.Min, "max", "must be at least min, %d, not %d", s.Min, s.Max)
	list.Refuse(s.Cooldown < 0 || s.Cooldown > MaxWindow, "cooldown", "must be 0 to %s, not %s", MaxWindow, s.Cooldown)
	list.Refuse(s.Window != 0 && (s.Window < time.Second || s.Window > MaxWindow), "window", "must be 0 (%s) or %s to %s, not %s", DefaultWindow, time.Second, MaxWindow, s.Window)
	list.Refuse(!(t.Eta >= 0 && t.Eta < 1), "target.eta", "must be above 0 and below 1, or 0 for %g, not %g", DefaultEta, t.Eta)
	list.Refuse(!(t.Salary >= 0 && t.Salary <= maxSalary), "target.salary", "must be above 0 and at most %s a minute, or 0 for %g, not %s", format.Number(maxSalary), DefaultSalary, format.Number(t.Salary))
	list.Refuse(t.Wait < 0 || t.Wait > MaxWindow, "target.wait", "must be 0 (none) to %s, not %s", MaxWindow, t.Wait)
	list.Refuse(!(t.Tail >= 0 && t.Tail < 1), "target.tail", "must be 0 (the mean) or below 1, not %g", t.Tail)
	list.Refuse(t.Tail > 0 && t.Wait == 0, "target.tail", "needs target.wait: the share %g of answers that wait longer than what?", t.Tail)
	list.Refuse(!(s.LeastPreference >= 0 && s.LeastPreference <= 1), "least_preference", "must be 0 (anybody is called) to 1, not %g", s.LeastPreference)
	list.Refuse(s.Expect.TaskTime < 0 || s.Expect.TaskTime > MaxWindow, "expect.task_time", "must be 0 (not known) to %s, not %s", MaxWindow, s.Expect.TaskTime)
	return list.Err()
}

// Unsign makes each minus zero among the figures a zero: they mean the same, and are
// written differently.
func (s *Settings) Unsign() {
	for _, x := range []*float64{&s.Target.Eta, &s.Target.Salary, &s.Target.Tail, &s.LeastPreference} {
		if *x == 0 {
			*x = 0
		}
	}
}

// maxSalary is money a minute, far above any.
const maxSalary = 1_000_000
