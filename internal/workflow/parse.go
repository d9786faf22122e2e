package workflow

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
)

// Checker knows what a file does not say.
type Checker interface {
	// CheckSQL checks a query without running it.
	CheckSQL(query string, sources []SQLSource) SQLFacts
	// CheckService explains why a step may not call the service of that name; "": it may.
	CheckService(name string) (wrong string)
	// CheckPool explains why a step may not ask the people of the pool of that name; "": it
	// may. Without a name the step asks those of the first pool.
	CheckPool(name string) (wrong string)
	// CheckPriority explains why a step's job may not be given a priority; "": it may.
	CheckPriority(priority float64) (wrong string)
	// CheckQualification explains why a step may not ask for a qualification of an owner;
	// "": it may.
	CheckQualification(asked *engine.Requirement) (wrong string)
}

// SQLSource is a table that a query may use.
type SQLSource struct {
	Name    string
	Columns []Column
	Open    bool // it has other columns, too, not known yet
	Stream  bool // it comes item by item
}

// SQLFacts is what is known of a query.
type SQLFacts struct {
	Columns  []Column
	Open     bool      // its columns depend on those of an open source
	RowByRow bool      // it may run with the rows of one item of its streamed sources at a time
	Why      string    // if not, why
	WhyAt    Place     // and where in the query; zero: not known
	Problems []Problem // with their places in the query
}

// Parse reads a file and checks all of it. It returns a workflow, or everything
// that is wrong with the file, in its order. It never returns both, nor neither.
//
// With a zero now, a deadline in the past is no problem, and the bounds are those of
// earlier versions: so the file of a run that has begun is read.
//
// Without a checker, services are not checked, nor are queries: the columns of their
// steps are open, and on a stream edge they go row by row.
func Parse(file []byte, now time.Time, checker Checker) (*Workflow, []Problem) {
	return parse(file, now, checker, nil)
}

// Fit checks the workflow again, now that the columns of its files are known, by
// name of the input; nil: this one is not known yet. The workflow that it returns has no
// other open inputs.
func (w *Workflow) Fit(columns map[string][]string, now time.Time, checker Checker) (*Workflow, []Problem) {
	if columns == nil {
		columns = map[string][]string{}
	}
	return parse(w.text, now, checker, columns)
}

func parse(file []byte, now time.Time, checker Checker, files map[string][]string) (*Workflow, []Problem) {
	r := &reader{now: now, checker: checker, files: files, w: &Workflow{text: bytes.Clone(file)}}
	form := newFile
	if now.IsZero() {
		form = keptFile
	}
	if root := form.Parse(file, &r.notes); root != nil {
		if v := language.Read(&r.notes, root); v != nil && !tooMany(v) {
			r.workflow(v)
		}
	}
	if r.notes.Count() > 0 {
		return nil, r.problems()
	}
	return r.w, nil
}

// tooMany reports whether there are more inputs or steps than are read, which has
// been noted: no name in the file would be known.
func tooMany(v *fields.Part) bool {
	return slices.ContainsFunc([]string{"inputs", "steps"}, func(key string) bool {
		value := v.Value(key)
		return value != nil && len(value.Fields) > maxNodes
	})
}

// A reader walks one file, notes what is wrong, and goes on.
type reader struct {
	now     time.Time
	checker Checker
	files   map[string][]string // columns of the files; nil: not known
	notes   yamlfile.Notes

	w     *Workflow
	nodes []*made // in the order of the file, inputs first
	named map[string]*made

	classOf  map[*made][]*condition.Condition // of the items that begin in a node, by class
	compiled map[string]*condition.Condition  // by text and types of names: see compile
	truths   []string                         // columns that a step names as the known answer: no worker and no service gets them
	columns  int                              // of the nodes that have been built
	patterns int                              // instructions of the patterns of their responses
}

// problem notes what is wrong at a place.
func (r *reader) problem(at Place, format string, args ...any) { r.notes.Add(at, format, args...) }

// problems returns what has been noted, in the order of the file.
func (r *reader) problems() []Problem {
	var list []Problem
	for _, p := range r.notes.Problems() {
		list = append(list, Problem{p.Line, p.Column, p.Message})
	}
	return list
}

// workflow reads all of a file that has the right fields.
func (r *reader) workflow(v *fields.Part) {
	r.w.Name = strings.TrimSpace(fields.Or(v, "workflow", ""))
	if name := v.Get("workflow"); name != nil && strings.ContainsFunc(r.w.Name, format.Disguises) {
		r.problem(name.At(), "the name has a character that cannot be seen: leave it out")
	}
	r.w.Budget = fields.Or[crowd.Money](v, "budget", 0)
	r.w.Redo = fields.Or(v, "corrections", "") == "redo"
	r.w.SLA = r.sla(v.Get("sla"))
	r.declare(v)
	r.findTruths()
	if !r.now.IsZero() && r.tooManyEdges() { // the file of a run that has begun may be of an earlier version
		return
	}
	r.connect()
	order := r.order()
	for _, m := range order {
		if r.build(m); r.tooManyColumns(m) {
			return
		}
	}
	r.classes(v.Get("sla"))
	r.unused(v.Get("steps"))
	r.outputs(v)
	if r.notes.Count() == 0 {
		r.finish(order)
	}
}

// made is an input or a step while the file is being read.
type made struct {
	name    string
	index   int // in reader.nodes
	value   *fields.Part
	sources []source
	readers int // steps and outputs that read it
	input   *Input
	step    *Step
	kind    *kind // of the step; nil: not known yet
	built   bool

	columns []owned
	open    bool
	lost    bool     // its columns are not known because something is wrong, which has been noted
	family  int      // items of two nodes of one family are the same
	options []string // of a crowd step: the labels that it can give, if they are few
}

// owned is a column and the node that adds it.
type owned struct {
	Column
	owner *made
}

// source is an edge into a step, with its place.
type source struct {
	from *made // nil: there is no such node
	edge Edge
	at   Place
}

func (m *made) column(name string) (owned, bool) {
	for _, c := range m.columns {
		if c.Name == name {
			return c, true
		}
	}
	return owned{}, false
}

// declare reads which inputs and steps there are.
func (r *reader) declare(v *fields.Part) {
	r.named = map[string]*made{}
	folded := map[string]*made{}
	add := func(m *made) {
		if first := folded[strings.ToLower(m.name)]; first != nil {
			at := first.value.Start()
			r.problem(m.value.Start(), "%s is the name of another one already, in line %d: inputs and steps are tables for SQL, so their names differ by more than capital letters", m.name, at.Line)
			return
		}
		folded[strings.ToLower(m.name)] = m
		m.index = len(r.nodes)
		r.nodes, r.named[m.name] = append(r.nodes, m), m
	}
	for _, i := range v.Get("inputs").Parts() {
		add(&made{name: i.Name(), value: i, input: &Input{Name: i.Name(), Place: i.Start()}})
	}
	for _, s := range v.Get("steps").Parts() {
		add(&made{name: s.Name(), value: s, step: &Step{Name: s.Name(), Place: s.Start()}})
	}
	if r.files != nil {
		r.filesFit(v)
	}
}

// filesFit compares the files that were given with the inputs.
func (r *reader) filesFit(v *fields.Part) {
	inputs := Place{Line: 1, Column: 1}
	if v.Get("inputs") != nil {
		inputs = v.Get("inputs").Start()
	}
	var names []string
	for _, m := range r.nodes {
		if m.input == nil {
			continue
		}
		names = append(names, m.name)
		if _, given := r.files[m.name]; !given {
			r.problem(m.value.Start(), "no file is given for the input %s", m.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		if m := r.named[name]; m == nil || m.input == nil {
			r.problem(inputs, "there is no input %s for which a file is given: %s", yamlfile.Quote(name), r.notes.Hint(name, names))
		}
	}
}

// names returns the names of the inputs and steps.
func (r *reader) names() []string {
	return lists.Map(r.nodes, func(m *made) string { return m.name })
}

// connect reads what each step reads.
func (r *reader) connect() {
	names := r.names()
	for _, m := range r.nodes {
		if m.step == nil {
			continue
		}
		from := m.value.Get("from")
		if from == nil {
			continue
		}
		switch {
		case from.Node.Kind == yamlfile.Scalar:
			r.source(m, from.Text(), Batch, from.At(), names)
		case from.Node.Kind == yamlfile.List:
			for _, s := range from.Parts() {
				if s != nil {
					r.source(m, s.Text(), Batch, s.At(), names)
				}
			}
		default:
			for _, s := range from.Parts() {
				r.source(m, s.Name(), Edge(s.Text()), s.Start(), names)
			}
		}
	}
}

// source notes one edge into a step.
func (r *reader) source(m *made, name string, edge Edge, at Place, names []string) {
	s := source{from: r.named[name], edge: edge, at: at}
	switch {
	case s.from == m:
		r.problem(at, "%s reads itself: a step reads inputs and other steps", name)
		s.from = nil
	case s.from == nil:
		if r.notes.Full() {
			r.problem(at, "there is no input or step %s", yamlfile.Quote(name)) // only counted
			break
		}
		others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == m.name })
		r.problem(at, "there is no input or step %s: %s", yamlfile.Quote(name), r.notes.Hint(name, others))
	default:
		for _, other := range m.sources {
			if other.from == s.from {
				r.problem(at, "%s is a source of this step already", name)
				return
			}
		}
		s.from.readers++
	}
	m.sources = append(m.sources, s)
}

// order returns the nodes so that each comes after its sources, else in the
// order of the file. Those on a circle come last.
func (r *reader) order() []*made {
	var order []*made
	done := map[*made]bool{}
	for progress := true; progress; {
		progress = false
		for _, m := range r.nodes {
			if done[m] || !ready(m, done) {
				continue
			}
			done[m], progress = true, true
			order = append(order, m)
			if m.step != nil {
				break // the first of the file that is ready goes next
			}
		}
	}
	if len(order) == len(r.nodes) {
		return order
	}
	r.circles(done)
	return append(order, lists.Filter(r.nodes, func(m *made) bool { return !done[m] })...)
}

func ready(m *made, done map[*made]bool) bool {
	return !slices.ContainsFunc(m.sources, func(s source) bool { return s.from != nil && !done[s.from] })
}

// circles notes each circle once, along its edges from its first step in the
// file.
func (r *reader) circles(done map[*made]bool) {
	told := map[*made]bool{}
	for _, m := range r.nodes {
		if done[m] || told[m] {
			continue
		}
		circle := circleOf(m, done)
		if slices.ContainsFunc(circle, func(n *made) bool { return told[n] }) {
			continue
		}
		var names []string
		for _, n := range circle {
			names, told[n] = append(names, n.name), true
		}
		for _, s := range m.sources {
			if len(circle) > 1 && s.from == circle[len(circle)-2] {
				r.problem(s.at, "the steps go in a circle: %s; a workflow goes forward only", strings.Join(names, " → "))
			}
		}
	}
}

// circleOf returns the shortest path along the edges from a step back to itself; nil if
// there is none.
func circleOf(m *made, done map[*made]bool) []*made {
	reader := map[*made]*made{} // a step that reads it, on a shortest path to m
	queue := []*made{m}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, s := range n.sources {
			if s.from == nil || done[s.from] {
				continue
			}
			if s.from == m {
				circle := []*made{m}
				for ; n != m; n = reader[n] {
					circle = append(circle, n)
				}
				return append(circle, m)
			}
			if reader[s.from] == nil {
				reader[s.from] = n
				queue = append(queue, s.from)
			}
		}
	}
	return nil
}

// unused notes inputs that nothing reads: no step mentions them, right or wrong.
func (r *reader) unused(steps *fields.Part) {
	if steps == nil || len(steps.Node.Fields) == 0 {
		return
	}
	read := map[string]bool{}
	for _, s := range steps.Node.Fields {
		from := s.Value.Field("from").Value
		if from == nil {
			continue
		}
		read[from.Text] = true
		for _, n := range from.Items {
			read[n.Text] = true
		}
		for _, f := range from.Fields {
			read[f.Key.Text] = true
		}
	}
	for _, m := range r.nodes {
		if m.input != nil && !read[m.name] {
			r.problem(m.value.Start(), "no step reads the input %s: leave it out, or read it", m.name)
		}
	}
}

// build reads an input or a step whose sources have been built, but for those
// on a circle.
func (r *reader) build(m *made) {
	if r.notes.Full() {
		return // nothing more would be reported
	}
	if m.input != nil {
		r.input(m)
	} else {
		r.step(m)
	}
	m.built = true
	if len(m.columns) > maxColumns {
		r.problem(m.value.Start(), "%s has %d columns, at most %d are possible", m.name, len(m.columns), maxColumns)
	}
}

// input reads the columns of an input.
func (r *reader) input(m *made) {
	m.family = m.index
	var declared []Column
	places := map[string]Place{}
	add := func(name string, typ condition.Type, at Place) {
		if wrong := checkColumn(name); wrong != nil {
			r.problem(at, "%s", wrong)
			return
		}
		if first, twice := places[strings.ToLower(name)]; twice {
			r.problem(at, "%s is a column already, in line %d, column %d", yamlfile.Quote(name), first.Line, first.Column)
			return
		}
		places[strings.ToLower(name)] = at
		declared = append(declared, Column{name, typ})
	}
	for _, c := range m.value.Get("columns").Parts() {
		switch {
		case c == nil:
		case c.Node.Kind == yamlfile.Mapping:
			for _, typed := range c.Parts() {
				add(typed.Name(), condition.Type(typed.Text()), typed.Start())
			}
		default:
			add(c.Text(), condition.Text, c.At())
		}
	}
	m.input.Grows = fields.Or(m.value, "open", false)
	has := r.files[m.name]
	switch {
	case has == nil:
	case declared == nil && !m.value.Has("columns"):
		for _, name := range has {
			if wrong := checkColumn(name); wrong != nil {
				r.problem(m.value.Start(), "the file: %s", wrong)
				continue
			}
			if _, twice := places[strings.ToLower(name)]; twice {
				r.problem(m.value.Start(), "the file has two columns %s; large and small letters are the same here", yamlfile.Quote(name))
				continue
			}
			places[strings.ToLower(name)] = m.value.Start()
			declared = append(declared, Column{name, condition.Text})
		}
		if len(has) == 0 {
			r.problem(m.value.Start(), "the file for %s has no columns", m.name)
		}
	default:
		for _, c := range declared {
			if !slices.Contains(has, c.Name) {
				r.problem(places[strings.ToLower(c.Name)], "the file for %s has no column %s: %s", m.name, yamlfile.Quote(c.Name), r.notes.Hint(c.Name, has))
			}
		}
	}
	m.open = declared == nil
	m.input.Columns = declared
	for _, c := range declared {
		m.columns = append(m.columns, owned{c, m})
	}
}
