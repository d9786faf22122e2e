package scenario

import (
	"errors"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/pool"
)

// control reads how a pool is controlled, or all of them (of is 0); what is not said is as
// in base.
func (r *poolsReader) control(n *node, of crowd.PoolID, base pool.Settings) pool.Settings {
	s := base
	o := r.object("control", n)
	if o == nil {
		return s
	}
	if o.Has("rules") {
		s.Rules = r.rules(o, of)
	}
	if o.Has("elasticity") {
		s.Elasticity = o.text("elasticity")
		// With a rule, so that only the text form is checked.
		r.checkForm(o, "elasticity", pool.Settings{Elasticity: s.Elasticity, Rules: []pool.Rule{{When: "queue > 0", Do: "recruit 1"}}})
	}
	if o.Has("stability") {
		s.Stability = o.text("stability")
		r.checkForm(o, "stability", pool.Settings{Stability: s.Stability})
	}
	if o.Has("balancer") {
		s.Balancer = o.text("balancer")
		r.checkForm(o, "balancer", pool.Settings{Balancer: s.Balancer})
	}
	set(o, "balance", &s.Balance)
	set(o, "advise", &s.Advise)
	set(o, "min", &s.Min)
	set(o, "max", &s.Max)
	set(o, "cooldown", &s.Cooldown)
	set(o, "window", &s.Window)
	set(o, "least_preference", &s.LeastPreference)
	set(o, "task_time", &s.Expect.TaskTime)
	if o.Has("target") {
		s.Target = r.target(o.Value("target"), s.Target)
	}
	r.checkSettings(o, &s)
	return s
}

// checkForm checks the text form of one field.
func (r *poolsReader) checkForm(o *object, field string, s pool.Settings) {
	if err := s.Validate(); err != nil {
		r.errorf(o.Value(field), "%s", yamlfile.Message(err))
	}
}

// checkSettings checks the fields together. The place of an error is the field that
// it names, or else the whole mapping.
func (r *poolsReader) checkSettings(o *object, s *pool.Settings) {
	err := s.Validate()
	var known *crowd.Error
	if err == nil || r.notes.Count() > 0 {
		return
	}
	at := o.Node
	if errors.As(err, &known) {
		for _, field := range []string{"elasticity", "stability", "rules", "min", "max", "cooldown", "window"} {
			if known.Field == field {
				at = o.Place(field)
			}
		}
	}
	r.errorf(at, "%s", yamlfile.Message(err))
}

func (r *poolsReader) rules(o *object, of crowd.PoolID) []pool.Rule {
	var list []pool.Rule
	lookup := func(name string) (crowd.PoolID, bool) {
		i := slices.Index(r.names, name)
		return crowd.PoolID(i + 1), i >= 0
	}
	for _, c := range o.objects("rules") {
		if !c.Complete {
			continue
		}
		rule := pool.Rule{When: c.Get("when").Text(), Do: c.Get("do").Text()}
		if rule.When == "" || rule.Do == "" {
			continue
		}
		if err := pool.CheckRules([]pool.Rule{rule}, of, lookup); err != nil {
			r.badRule(c, err)
			continue
		}
		list = append(list, rule)
	}
	return list
}

// badRule notes all that is wrong with a rule, each at its place.
func (r *poolsReader) badRule(c *object, err error) {
	var several crowd.Errors
	if !errors.As(err, &several) {
		r.badPart(c, err)
	}
	for _, err := range several {
		r.badPart(c, err)
	}
}

func (r *poolsReader) badPart(c *object, err error) {
	var wrong *pool.RuleError
	if !errors.As(err, &wrong) {
		r.errorf(c.Node, "%s", yamlfile.Message(err))
		return
	}
	r.notes.Add(c.Value(wrong.Part).At(wrong.Line, wrong.Column), "%s: %s", wrong.Part, wrong.Message)
}

func (r *poolsReader) target(n *node, base pool.Target) pool.Target {
	t := base
	o := r.object("target", n)
	if o == nil {
		return t
	}
	set(o, "eta", &t.Eta)
	set(o, "salary", &t.Salary)
	set(o, "wait", &t.Wait)
	if o.Has("tail") {
		set(o, "tail", &t.Tail)
		if t.Wait == 0 {
			r.errorf(o.Value("tail"), "tail goes with a wait: the share of the answers that may wait longer")
		} else if t.Tail >= 1 {
			r.errorf(o.Value("tail"), "tail is below 1")
		}
	}
	return t
}
