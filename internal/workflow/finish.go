package workflow

import (
	"slices"
	"strings"

	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
)

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
	for m, conditions := range r.classOf {
		for i, c := range conditions {
			r.w.SLA.Classes[i].When[number[m]] = c
		}
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
