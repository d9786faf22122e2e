package scenario

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/pool"
)

// control reads how a pool is controlled; what is not said is as in base.
func (r *poolsReader) control(n *node, base pool.Settings) pool.Settings {
	s := base
	o := r.object("control", n)
	if o == nil {
		return s
	}
	if o.has("rules") {
		s.Rules = r.rules(o)
	}
	if o.has("elasticity") {
		s.Elasticity = o.text("elasticity")
		// Whether there are rules is not its own matter.
		r.part(o, "elasticity", pool.Settings{Elasticity: s.Elasticity, Rules: []pool.Rule{{When: "queue > 0", Do: "recruit 1"}}})
	}
	if o.has("stability") {
		s.Stability = o.text("stability")
		r.part(o, "stability", pool.Settings{Stability: s.Stability})
	}
	for field, to := range map[string]*bool{"balance": &s.Balance, "advise": &s.Advise} {
		if o.has(field) {
			*to, _ = scalar(&r.reader, o.fields[field], field+" is true or false", yamlfile.Bool)
		}
	}
	for field, to := range map[string]*int{"min": &s.Min, "max": &s.Max} {
		if n, ok := o.count(field, 0, pool.MaxPeople); ok {
			*to = int(n)
		}
	}
	if d, ok := o.duration("cooldown", 0, pool.MaxWindow); ok {
		s.Cooldown = d
	}
	if d, ok := o.duration("window", time.Second, pool.MaxWindow); ok {
		s.Window = d
	}
	if d, ok := o.duration("task_time", oneNanosecond, pool.MaxWindow); ok {
		s.Expect.TaskTime = d
	}
	if o.has("target") {
		s.Target = r.target(o.fields["target"], s.Target)
	}
	r.whole(o, &s)
	return s
}

// part checks the text form of one field.
func (r *poolsReader) part(o *object, field string, s pool.Settings) {
	if err := s.Validate(); err != nil {
		r.errorf(o.fields[field], "%s", yamlfile.Message(err))
	}
}

// whole checks what the fields say together: the field that is wrong is one of
// this place, or else the whole of it is.
func (r *poolsReader) whole(o *object, s *pool.Settings) {
	err := s.Validate()
	var known *crowd.Error
	if err == nil || r.notes.Count() > 0 {
		return
	}
	at := o.node
	if errors.As(err, &known) {
		for _, field := range []string{"elasticity", "stability", "rules", "min", "max", "cooldown", "window"} {
			if known.Field == field {
				at = o.field(field)
			}
		}
	}
	r.errorf(at, "%s", yamlfile.Message(err))
}

func (r *poolsReader) rules(o *object) []pool.Rule {
	var list []pool.Rule
	lookup := func(name string) (crowd.PoolID, bool) {
		i := slices.Index(r.names, name)
		return crowd.PoolID(i + 1), i >= 0
	}
	for _, c := range o.objects("rules") {
		if !r.both(c, "when", "do", `- {when: "queue > 10", do: recruit 1}`) {
			continue
		}
		rule := pool.Rule{When: c.text("when"), Do: c.text("do")}
		if rule.When == "" || rule.Do == "" {
			continue
		}
		err := pool.CheckRules([]pool.Rule{rule}, lookup)
		var wrong *pool.RuleError
		switch {
		case errors.As(err, &wrong):
			place := fmt.Sprintf("at character %d", wrong.Column)
			if wrong.Line > 1 {
				place = fmt.Sprintf("in its line %d, at character %d", wrong.Line, wrong.Column)
			}
			r.errorf(c.field(wrong.Part), "%s: %s", place, wrong.Message)
			continue
		case err != nil:
			r.errorf(c.node, "%s", yamlfile.Message(err))
			continue
		}
		list = append(list, rule)
	}
	return list
}

func (r *poolsReader) target(n *node, base pool.Target) pool.Target {
	t := base
	o := r.object("target", n)
	if o == nil {
		return t
	}
	if o.has("eta") {
		t.Eta, _ = scalar(&r.reader, o.fields["eta"], "eta is above 0 and below 1: what waiting weighs against its cost", func(text string) (float64, error) {
			f, err := yamlfile.Number(text)
			if err == nil && !(f > 0 && f < 1) {
				err = errors.New(yamlfile.Quote(text) + ": eta is above 0 and below 1: what waiting weighs against its cost")
			}
			return f, err
		})
	}
	if o.has("salary") {
		t.Salary, _ = scalar(&r.reader, o.fields["salary"], yamlfile.WantMoney, func(text string) (float64, error) {
			m, err := parseSalary(text)
			if err == nil && m == 0 {
				err = errors.New("a target's salary is more than 0")
			}
			return float64(m) / float64(crowd.Unit), err
		})
	}
	if d, ok := o.duration("wait", oneNanosecond, pool.MaxWindow); ok {
		t.Wait = d
	}
	if o.has("tail") {
		t.Tail, _ = o.share("tail")
		if t.Wait == 0 {
			r.errorf(o.fields["tail"], "tail goes with a wait: the share of the answers that may wait longer")
		} else if t.Tail >= 1 {
			r.errorf(o.fields["tail"], "tail is below 1")
		}
	}
	return t
}
