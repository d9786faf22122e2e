package workflow

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

// step reads a step whose sources have been built.
func (r *reader) step(m *made) {
	s, v := m.step, m.value
	s.OnError = OnError(or(v.get("on_error"), (*value).str, string(Hold)))
	s.Join = Join(or(v.get("join"), (*value).str, string(JoinTaken)))
	if v.get("join") != nil && len(m.sources) == 1 {
		r.problem(v.keyPlace("join"), "join is about several sources, and here is one: leave it out")
	}
	s.Expect = v.get("expect").duration()
	switch {
	case v.has("sql"):
		s.Kind = SQLStep
		r.sqlStep(m)
	case v.has("crowd"):
		s.Kind = CrowdStep
		r.itemsOf(m)
		r.crowd(m, v.get("crowd"))
	case v.has("service"):
		s.Kind = ServiceStep
		r.itemsOf(m)
		r.service(m, v.get("service"))
	default: // which has been noted
		r.itemsOf(m)
		m.lose()
	}
	if v.has("columns") && s.Kind != "" && s.Kind != SQLStep {
		r.problem(v.keyPlace("columns"), "columns gives the types of the columns of an SQL step; leave it out")
	}
}

// itemsOf joins the sources of a step that goes item by item: its columns so
// far, its items, and what holds for them.
func (r *reader) itemsOf(m *made) {
	r.gather(m, m.sources)
	r.meet(m, m.sources)
	given := r.joined(m, m.sources)
	m.facts = r.when(m, given)
}

// gather takes over the columns of sources.
func (r *reader) gather(m *made, sources []source) {
	have := map[string]owned{}
	for _, s := range sources {
		if s.from == nil || !s.from.built {
			m.lose()
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
		m.lose()
	}
}

// lose says that nobody can tell the columns.
func (m *made) lose() { m.open, m.lost = true, true }

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

// meet checks that the sources have items in common.
func (r *reader) meet(m *made, sources []source) {
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

// joined says what holds for each item that comes by the sources.
func (r *reader) joined(m *made, sources []source) facts {
	var sum facts
	for i, s := range sources {
		of := facts{}
		if s.from != nil && s.from.built {
			of = s.from.facts
		}
		switch {
		case i == 0:
			sum = of
		case m.step.Join == JoinAll:
			both := sum.and(of)
			if clash := both.clash; clash != nil && sum.clash == nil && of.clash == nil {
				r.problem(s.at, "this join of all can never be met: %s", r.neverBoth(sources[:i], s, *clash))
				both = facts{}
			}
			sum = both
		default:
			sum = sum.or(of)
		}
	}
	return sum
}

// neverBoth explains why no item comes through both.
func (r *reader) neverBoth(before []source, s source, c clash) string {
	for _, b := range before {
		if b.from != nil && b.from.facts.and(s.from.facts).clash != nil {
			return clashWords(b.from.name+" hands on", s.from.name+" hands on", c)
		}
	}
	return clashWords("the others hand on", s.from.name+" hands on", c)
}

// when reads the condition of a step, given what holds for what it is handed,
// and returns what holds for what it takes.
func (r *reader) when(m *made, given facts) facts {
	v := m.value.get("when")
	if v == nil {
		return given
	}
	names, resolve := r.namesFor(m, v.text)
	if !r.knownNames(m, v) {
		return given
	}
	c, err := condition.Compile(v.text, names)
	if err != nil && m.lost && syntax(v.text) != nil {
		return given // its names may have other types than those taken for granted
	}
	if e, ok := err.(*condition.Error); ok {
		r.problem(v.node.At(e.Line, e.Column), "when: %s%s", e.Message, r.typeHint(m, v.text))
		return given
	} else if err != nil {
		r.problem(v.at(), "when: %v", err)
		return given
	}
	m.step.When = c
	tree := syntax(v.text)
	if tree == nil {
		return given
	}
	before := r.notes.Count()
	r.labels(m, tree, v)
	if r.notes.Count() > before {
		return given // what follows would say the same in other words
	}
	a := analysis{resolve: resolve}
	own := a.facts(tree, true)
	if own.clash != nil {
		r.problem(v.at(), "when: this never holds: %s", selfWords(*own.clash))
		return given
	}
	both := given.and(own)
	if both.clash != nil && given.clash == nil {
		r.problem(v.at(), "when: this never holds for what the step is handed: %s", clashWords("its sources hand on", "this takes", *both.clash))
		return given
	}
	return both
}

// namesFor returns the names that a condition of the step may have: its columns
// and, where these are not all known, whatever else the text names.
func (r *reader) namesFor(m *made, text string) ([]condition.Name, func(string) (owned, bool)) {
	var names []condition.Name
	for _, c := range m.columns {
		names = append(names, condition.Name{Name: c.Name, Type: c.Type})
	}
	origin := openOrigin(m)
	if tree := syntax(text); m.open && tree != nil {
		names = append(names, m.guessed(tree, origin)...)
	}
	return names, func(name string) (owned, bool) {
		c, known := m.column(name)
		if !known && m.open && origin != nil {
			return owned{Column{name, condition.Text}, origin}, true
		}
		return c, known
	}
}

// guessed returns the names of a condition that are not known. Those of an open
// input are texts. Those of a query that could not be looked at are what they are
// used as: Fit will know.
func (m *made) guessed(tree ast.Node, origin *made) []condition.Name {
	var names []condition.Name
	numbers := map[string]bool{}
	unknown := func(name string) bool {
		_, known := m.column(name)
		return !known && !numbers[name]
	}
	for origin != nil && origin.step != nil {
		name := mistyped(tree, unknown)
		if name == "" {
			break
		}
		numbers[name] = true
	}
	for _, i := range identifiers(tree) {
		switch {
		case numbers[i.Value]:
			names = append(names, condition.Name{Name: i.Value, Type: condition.Number})
		case unknown(i.Value):
			names = append(names, condition.Name{Name: i.Value, Type: condition.Text})
		}
	}
	return names
}

// knownNames notes every name in a condition that is no column; condition.Compile
// would tell the first only.
func (r *reader) knownNames(m *made, v *value) bool {
	tree := syntax(v.text)
	if tree == nil || m.open {
		return true
	}
	ok := true
	for _, i := range identifiers(tree) {
		if _, known := m.column(i.Value); !known {
			line, column := lineColumn(v.text, i.Location().From)
			r.problem(v.node.At(line, column), "when: there is no column %s: %s", yamlfile.Quote(i.Value), r.hint(i.Value, m.columnNames()))
			ok = false
		}
	}
	return ok
}

func (m *made) columnNames() []string {
	names := make([]string, len(m.columns))
	for i, c := range m.columns {
		names[i] = c.Name
	}
	return names
}

// known notes a column that is not there, unless the columns are not known.
func (r *reader) known(m *made, name string, at Place) bool {
	if _, ok := m.column(name); ok || m.open {
		return true
	}
	r.problem(at, "there is no column %s: %s", yamlfile.Quote(name), r.hint(name, m.columnNames()))
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

// typeHint says where to declare a column whose type is the trouble.
func (r *reader) typeHint(m *made, text string) string {
	tree := syntax(text)
	if tree == nil {
		return ""
	}
	name := mistyped(tree, func(name string) bool {
		c, known := m.column(name)
		return known && c.Type == condition.Text || !known && m.open
	})
	if name == "" {
		return ""
	}
	var owner *made
	if c, known := m.column(name); known {
		owner = c.owner
	} else {
		owner = openOrigin(m)
	}
	switch {
	case owner == nil:
		return "; the type of " + name + " is declared where it comes from"
	case owner.input != nil:
		return "; " + name + " is a text unless inputs: " + owner.name + ": columns: [{" + name + ": number}] declares it"
	case owner.step.Kind == SQLStep:
		return "; " + name + " is a text unless columns: {" + name + ": number} of the step " + owner.name + " declares it"
	case owner.step.Kind == ServiceStep:
		return "; " + name + " is a number if the response of " + owner.name + " says type: number"
	}
	return "; " + name + " is the label of " + owner.name + ", which is a number if its template's kind is number"
}

// openOrigin returns the node whose columns are not known, if there is one only.
func openOrigin(m *made) *made {
	found := map[*made]bool{}
	seen := map[*made]bool{}
	var visit func(m *made)
	visit = func(m *made) {
		if m == nil || seen[m] || !m.open {
			return
		}
		seen[m] = true
		if m.input != nil || m.step.Kind == SQLStep {
			found[m] = true
			return
		}
		for _, s := range m.sources {
			visit(s.from)
		}
	}
	for _, s := range m.sources {
		visit(s.from)
	}
	if len(found) != 1 {
		return nil
	}
	for m := range found {
		return m
	}
	return nil
}
