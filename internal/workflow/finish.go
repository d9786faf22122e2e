package workflow

import (
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
	"github.com/throng-dev/throng/sla"
)

// sla reads what it costs to end late.
func (r *reader) sla(v *fields.Part) *SLA {
	if v == nil {
		return nil
	}
	s := &SLA{PerItem: fields.Or(v, "per", "") != "run", Penalty: sla.Penalty{
		Kind: sla.Kind(fields.Or(v, "penalty", "")), After: fields.Or[time.Duration](v, "after", 0), Cost: fields.Or[crowd.Money](v, "cost", 0),
		Every: fields.Or[time.Duration](v, "every", 0), AtMost: fields.Or[crowd.Money](v, "at_most", 0),
	}}
	switch {
	case v.Has("after") && v.Has("deadline"):
		r.problem(v.KeyPlace("deadline"), "deadline and after say the same: leave one of them out")
	case v.Has("deadline") && s.PerItem:
		r.problem(v.KeyPlace("deadline"), "a deadline is for the run as a whole: say per: run, or after: with an age")
	case !v.Has("after") && !v.Has("deadline"):
		r.problem(v.Start(), "after is missing: the age from which it costs, like after: 2d; or, per run, a deadline")
	}
	switch constant := s.Penalty.Kind == sla.Constant; {
	case constant && v.Has("every"):
		r.problem(v.KeyPlace("every"), "a constant penalty is due once: leave every out, or make it staged or linear")
	case !constant && s.Penalty.Kind != "" && !v.Has("every"):
		r.problem(v.Start(), "every is missing: a %s penalty needs the time for which its cost is due, like every: 1h", s.Penalty.Kind)
	}
	if m := v.Get("at_most"); m != nil && s.Penalty.Cost > 0 && s.Penalty.AtMost < s.Penalty.Cost {
		r.problem(m.At(), "%s is less than the first cost, %s", s.Penalty.AtMost, s.Penalty.Cost)
	}
	if d := v.Get("deadline"); fields.Set(v, "deadline", &s.Deadline) {
		if !r.now.IsZero() && !s.Deadline.After(r.now) {
			r.problem(d.At(), "%s is in the past (it is %s)", d.Text(), r.now.UTC().Format(time.RFC3339))
		}
	}
	return s
}

// outputs reads which files a run writes.
func (r *reader) outputs(v *fields.Part) {
	names := r.names()
	folded := map[string]Place{}
	for _, o := range v.Get("outputs").Parts() {
		out := Output{Name: o.Name(), Format: fields.Or(o, "format", DefaultFormat), Place: o.Start()}
		if first, twice := folded[strings.ToLower(out.Name)]; twice {
			r.problem(out.Place, "%s is the name of an output already, in line %d; names of files differ by more than capital letters", out.Name, first.Line)
		}
		folded[strings.ToLower(out.Name)] = out.Place
		from := o.Get("from")
		if from == nil {
			continue
		}
		m := r.named[from.Text()]
		if m == nil {
			r.problem(from.At(), "there is no input or step %s: %s", yamlfile.Quote(from.Text()), r.notes.Hint(from.Text(), names))
			continue
		}
		for _, c := range o.Get("columns").Parts() {
			if c == nil || !r.known(m, c.Text(), c.At()) {
				continue
			}
			if slices.Contains(out.Columns, c.Text()) {
				r.problem(c.At(), "%s is a column of this output already", yamlfile.Quote(c.Text()))
			}
			out.Columns = append(out.Columns, c.Text())
		}
		out.Node = m.index // until nodes are numbered
		r.w.Outputs = append(r.w.Outputs, out)
	}
}

// finish numbers the nodes of a file without problems.
func (r *reader) finish(order []*made) {
	number := map[*made]int{}
	byIndex := map[int]int{}
	for _, inputs := range []bool{true, false} {
		for _, m := range order {
			if (m.input != nil) == inputs {
				byIndex[m.index] = len(number)
				number[m] = len(number)
			}
		}
	}
	for _, m := range order {
		if m.input != nil {
			r.w.Inputs = append(r.w.Inputs, *m.input)
			continue
		}
		s := m.step
		s.Node, s.Open = number[m], m.open
		for _, from := range m.sources {
			s.From = append(s.From, Source{Name: from.from.name, Node: number[from.from], Edge: from.edge})
		}
		for _, c := range m.columns {
			s.Columns = append(s.Columns, c.Column)
			s.Owners = append(s.Owners, number[c.owner])
		}
		r.w.Steps = append(r.w.Steps, *s)
	}
	for i := range r.w.Outputs {
		r.w.Outputs[i].Node = byIndex[r.w.Outputs[i].Node]
	}
	if len(r.w.Outputs) == 0 {
		for _, m := range order {
			if m.step != nil && m.readers == 0 {
				r.w.Outputs = append(r.w.Outputs, Output{Name: m.name, Node: number[m], Format: DefaultFormat})
			}
		}
	}
}
