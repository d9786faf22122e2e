package workflow

import (
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
	"github.com/throng-dev/throng/sla"
)

// sla reads what it costs to end late.
func (r *reader) sla(v *fields.Part) *SLA {
	if v == nil {
		return nil
	}
	s := &SLA{PerItem: fields.Or(v, "per", "") != "run"}
	switch {
	case v.Has("classes"):
		r.readClasses(s, v)
		return s
	case !v.Has("penalty"): // which has been noted
		return s
	}
	switch {
	case v.Has("after") && v.Has("deadline"):
		r.problem(v.KeyPlace("deadline"), "deadline and after say the same: leave one of them out")
	case v.Has("deadline") && s.PerItem:
		r.problem(v.KeyPlace("deadline"), "a deadline is for the run as a whole: say per: run, or after: with an age")
	case !v.Has("after") && !v.Has("deadline"):
		r.problem(v.Start(), "after is missing: the age from which it costs, like after: 2d; or, per run, a deadline")
	}
	s.Penalty = r.penalty(v)
	if d := v.Get("deadline"); fields.Set(v, "deadline", &s.Deadline) {
		if !r.now.IsZero() && !s.Deadline.After(r.now) {
			r.problem(d.At(), "%s is in the past (it is %s)", d.Text(), r.now.UTC().Format(time.RFC3339))
		}
	}
	return s
}

// penalty reads what an item or a run costs that ends late.
func (r *reader) penalty(v *fields.Part) sla.Penalty {
	p := sla.Penalty{
		Kind: sla.Kind(fields.Or(v, "penalty", "")), After: fields.Or[time.Duration](v, "after", 0), Cost: fields.Or[crowd.Money](v, "cost", 0),
		Every: fields.Or[time.Duration](v, "every", 0), AtMost: fields.Or[crowd.Money](v, "at_most", 0),
	}
	v.Need("cost", yamlfile.WantMoney)
	switch constant := p.Kind == sla.Constant; {
	case constant && v.Has("every"):
		r.problem(v.KeyPlace("every"), "a constant penalty is due once: leave every out, or make it staged or linear")
	case !constant && p.Kind != "" && !v.Has("every"):
		r.problem(v.Start(), "every is missing: a %s penalty needs the time for which its cost is due, like every: 1h", p.Kind)
	}
	if m := v.Get("at_most"); m != nil && p.Cost > 0 && p.AtMost < p.Cost {
		r.problem(m.At(), "%s is less than the first cost, %s", p.AtMost, p.Cost)
	}
	return p
}

// readClasses reads the classes of items, but for their conditions.
func (r *reader) readClasses(s *SLA, v *fields.Part) {
	for _, key := range []string{"after", "deadline", "every", "cost", "at_most"} {
		if v.Has(key) {
			r.problem(v.KeyPlace(key), "each class says what it costs: leave %s out here", key)
		}
	}
	if !s.PerItem {
		r.problem(v.KeyPlace("per"), "a run as a whole is of no class: leave per out, or the classes")
	}
	list := v.Get("classes").Parts()
	conditions := map[string]Place{}
	for i, c := range list {
		if !c.Has("after") {
			r.problem(c.Start(), "after is missing: the age from which it costs, like after: 2d")
		}
		s.Classes = append(s.Classes, Class{Name: c.Name(), Penalty: r.penalty(c)})
		when, last := c.Get("when"), i == len(list)-1
		switch {
		case !c.Has("when") && !last:
			r.problem(c.Start(), "%s has no when, so that all items are of it and none of those after it: say when, or put it last", c.Name())
		case c.Has("when") && last:
			r.problem(c.Start(), "an item for which no condition holds has no class: add a last one without when")
		}
		if when == nil {
			continue
		}
		s.Classes[i].When = map[int]*condition.Condition{}
		if first, twice := conditions[when.Text()]; twice {
			r.problem(when.At(), "when: the same condition stands in line %d already, so that no item is of this class", first.Line)
		}
		conditions[when.Text()] = when.At()
	}
}

// classes reads the conditions of the classes, for each node in which items begin that
// go through steps one by one.
func (r *reader) classes(v *fields.Part) {
	r.classOf = map[*made][]*condition.Condition{}
	list := v.Get("classes").Parts()
	for _, m := range r.nodes {
		if m.family != m.index || !slices.ContainsFunc(r.nodes, func(x *made) bool { return x != m && x.step != nil && x.family == m.index }) {
			continue
		}
		for _, c := range list {
			if when := c.Get("when"); when != nil {
				r.classOf[m] = append(r.classOf[m], r.condition(m, when, " in "+r.origin(m.index)))
			}
		}
	}
	if len(r.classOf) == 0 && len(list) > 0 && r.notes.Count() == 0 {
		r.problem(v.KeyPlace("classes"), "no item goes through the steps one by one, so that none has a class: leave sla out, or make it one of the run (per: run)")
	}
}
