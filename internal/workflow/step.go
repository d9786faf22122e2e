package workflow

import (
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
)

// step reads a step whose sources have been built.
func (r *reader) step(m *made) {
	s, v := m.step, m.value
	s.OnError = OnError(fields.Or(v, "on_error", string(Hold)))
	s.Join = Join(fields.Or(v, "join", string(JoinTaken)))
	if v.Get("join") != nil && len(m.sources) == 1 {
		r.problem(v.KeyPlace("join"), "join is about several sources, and here is one: leave it out")
	}
	s.Expect = fields.Or[time.Duration](v, "expect", 0)
	for _, k := range kinds {
		if v.Has(string(k.name)) && s.Kind == "" {
			s.Kind, m.kind = k.name, k
			k.read(r, m, v.Get(string(k.name)))
		}
	}
	if s.Kind == "" { // which has been noted
		r.joinSources(m, m.sources)
		m.loseColumns()
	}
	for _, k := range kinds {
		for _, f := range k.fields {
			if v.Has(f.Key) && s.Kind != "" && s.Kind != k.name {
				r.problem(v.KeyPlace(f.Key), "%s; leave it out", k.foreign)
			}
		}
	}
}

// joinSources joins sources of a step that goes item by item: it gathers their
// columns, checks that they have items in common, and reads the condition.
func (r *reader) joinSources(m *made, sources []source) {
	r.gather(m, sources)
	r.checkFamily(m, sources)
	r.when(m)
}

// gather takes over the columns of sources.
func (r *reader) gather(m *made, sources []source) {
	have := map[string]owned{}
	for _, s := range sources {
		if s.from == nil || !s.from.built {
			m.loseColumns()
			continue
		}
		m.open, m.lost = m.open || s.from.open, m.lost || s.from.lost
		var twice []string
		var first owned
		for _, c := range s.from.columns {
			before, known := have[strings.ToLower(c.Name)]
			switch {
			case !known:
				have[strings.ToLower(c.Name)] = c
				m.columns = append(m.columns, c)
			case before.owner != c.owner || before.Name != c.Name:
				if twice == nil {
					first = before
				}
				twice = append(twice, c.Name)
			}
		}
		if twice != nil {
			r.problem(s.at, "%s and %s both add %s: name %s otherwise in one of them", first.owner.name, s.from.name, columnWords(twice), itOrThem(twice))
		}
	}
	if len(sources) == 0 {
		m.loseColumns()
	}
}

// loseColumns marks the columns as not known.
func (m *made) loseColumns() { m.open, m.lost = true, true }

func columnWords(names []string) string {
	if len(names) == 1 {
		return "a column " + yamlfile.Quote(names[0])
	}
	return "columns " + yamlfile.Enumerate(names)
}

func itOrThem(names []string) string {
	if len(names) == 1 {
		return "it"
	}
	return "them"
}

// checkFamily checks that the sources have items in common.
func (r *reader) checkFamily(m *made, sources []source) {
	m.family = unknownFamily
	var first *made
	for _, s := range sources {
		switch {
		case s.from == nil || !s.from.built || s.from.family == unknownFamily:
		case first == nil:
			first, m.family = s.from, s.from.family
		case s.from.family != m.family:
			r.problem(s.at, "this join can never be met: %s has items of %s and %s has items of %s, so none comes by both ways; put them together in an SQL step",
				first.name, r.origin(first.family), s.from.name, r.origin(s.from.family))
		}
	}
}

const unknownFamily = -1

// origin says where the items of a family come from.
func (r *reader) origin(family int) string {
	m := r.nodes[family]
	if m.input != nil {
		return "the input " + m.name
	}
	return m.name + ", which makes new ones"
}

func (m *made) columnNames() []string {
	return lists.Map(m.columns, func(c owned) string { return c.Name })
}

// known notes a column that is not there, unless the columns are not known.
func (r *reader) known(m *made, name string, at Place) bool {
	if _, ok := m.column(name); ok || m.open {
		return true
	}
	r.problem(at, "there is no column %s: %s", yamlfile.Quote(name), r.notes.Hint(name, m.columnNames()))
	return false
}

// own adds columns of the step's own, which must not be there yet; at is where
// their names come from.
func (r *reader) own(m *made, columns []Column, at func(i int) Place) {
	var taken []string
	var first owned
	place := Place{}
	for i, c := range columns {
		j := slices.IndexFunc(m.columns, func(o owned) bool { return strings.EqualFold(o.Name, c.Name) })
		if j < 0 {
			m.columns = append(m.columns, owned{c, m})
			continue
		}
		if taken == nil {
			first, place = m.columns[j], at(i)
		}
		taken = append(taken, c.Name)
	}
	if taken != nil {
		r.problem(place, "the step adds %s, and %s has done so already: name %s otherwise", columnWords(taken), first.owner.name, itOrThem(taken))
	}
	m.step.Own = columns
}
