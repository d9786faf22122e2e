package workflow

import (
	"strings"

	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

// node is a part of the file.
type node = yamlfile.Node

// A form is the form of a value of the language.
type form uint8

const (
	aText     form = iota + 1 // any scalar, as it is written
	aName                     // of an input or a step, which are tables of SQL
	aWord                     // a name that is no table
	aNumber                   // finite
	aCount                    // a whole number
	aBool                     // true or false
	aMoney                    // an amount of more than 0
	aDuration                 // with its unit
	anInstant                 // RFC 3339
	aChoice                   // one of choices
	aList                     // of values of one shape
	aMap                      // of names to values of one shape
	anObject                  // of known fields
	aValue                    // whatever JSON can say
	anEither                  // one of several shapes, told apart by whether it is a scalar, a list or a mapping
)

// A shape describes what may stand at a place of the file. The reader and the JSON
// Schema of the language both come from the same shapes.
type shape struct {
	form        form
	doc         string
	least, most float64 // of a number, a count, a duration in seconds; the length of a text, a list or a map; most 0: no bound
	choices     []string
	of          *shape // of a list or a map
	key         form   // of a map: aName, aWord or aText
	fields      []field
	either      []*shape
	exactlyOne  []string // of an object: one of these fields stands there, and only one
}

// A field is one of an object.
type field struct {
	name  string
	must  bool
	shape *shape
}

func (s *shape) field(name string) *shape {
	for _, f := range s.fields {
		if f.name == name {
			return f.shape
		}
	}
	return nil
}

func (s *shape) names() []string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.name
	}
	return names
}

// A value is a part of the file that has its shape. Its methods may be called on
// nil, which is a part that is not there or was refused.
type value struct {
	shape   *shape
	key     *node // that stands before it, or nil
	node    *node
	text    string   // of a scalar
	list    []*value // of a list, and of a map in the order of the file
	named   map[string]*value
	present map[string]bool // fields that stand there, though they may have been refused
}

// get returns a field.
func (v *value) get(field string) *value {
	if v == nil {
		return nil
	}
	return v.named[field]
}

// has reports whether a field stands there, right or wrong.
func (v *value) has(field string) bool { return v != nil && v.present[field] }

// name is the word before the value.
func (v *value) name() string {
	if v == nil || v.key == nil {
		return ""
	}
	return v.key.Text
}

func (v *value) str() string {
	if v == nil {
		return ""
	}
	return v.text
}

// items are the parts of a list, with nil for one that was refused; or those of
// a mapping that were not.
func (v *value) items() []*value {
	if v == nil {
		return nil
	}
	return v.list
}

// or is what a value says, or what holds where there is none.
func or[T any](v *value, read func(*value) T, otherwise T) T {
	if v == nil {
		return otherwise
	}
	return read(v)
}

// at is where the value stands.
func (v *value) at() Place { return v.node.Place }

// start is where its name stands, or itself.
func (v *value) start() Place {
	if v.key != nil {
		return v.key.Place
	}
	return v.at()
}

// read makes a value of a node, or notes what is wrong and returns nil.
func (r *reader) read(key, n *node, s *shape) *value {
	if n.Kind == yamlfile.Refused {
		return nil
	}
	v := &value{shape: s, key: key, node: n}
	switch s.form {
	case anEither:
		return r.readEither(v)
	case aList:
		return r.readList(v)
	case aMap, anObject:
		return r.readFields(v)
	case aValue:
		return v
	}
	if n.Kind != yamlfile.Scalar {
		r.problem(v.at(), "%s; here is %s", s.want(), n.What())
		return nil
	}
	v.text = n.Text
	if wrong := s.wrong(v.text); wrong != "" {
		r.problem(v.at(), "%s", wrong)
		return nil
	}
	return v
}

func (r *reader) readEither(v *value) *value {
	var wants []string
	for _, s := range v.shape.either {
		scalar := s.form != aList && s.form != aMap && s.form != anObject
		switch {
		case scalar && v.node.Kind == yamlfile.Scalar,
			s.form == aList && v.node.Kind == yamlfile.List,
			(s.form == aMap || s.form == anObject) && v.node.Kind == yamlfile.Mapping:
			return r.read(v.key, v.node, s)
		}
		wants = append(wants, s.want())
	}
	r.problem(v.at(), "%s; here is %s", strings.Join(wants, ", or "), v.node.What())
	return nil
}

func (r *reader) readList(v *value) *value {
	s, n := v.shape, v.node
	switch {
	case n.Kind != yamlfile.List:
		r.problem(v.at(), "%s; here is %s", s.want(), n.What())
		return nil
	case len(n.Items) < int(s.least):
		r.problem(v.at(), "this list has %d items, at least %d %s needed", len(n.Items), int(s.least), areN(int(s.least)))
	case s.most > 0 && len(n.Items) > int(s.most):
		r.problem(v.at(), "this list has %d items, at most %d are possible", len(n.Items), int(s.most))
		return nil
	}
	for _, c := range n.Items {
		// A refused item keeps its place, so that numbers of items are right.
		v.list = append(v.list, r.read(nil, c, s.of))
	}
	return v
}

func areN(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// readFields reads a mapping.
func (r *reader) readFields(v *value) *value {
	s, n := v.shape, v.node
	if n.Kind != yamlfile.Mapping {
		r.problem(v.at(), "%s; here is %s", s.want(), n.What())
		return nil
	}
	v.named, v.present = map[string]*value{}, map[string]bool{}
	for _, f := range n.Fields {
		name, of := f.Key.Text, s.of
		if s.form == anObject {
			if of = s.field(name); of == nil {
				r.problem(f.Key.Place, "there is no field %s here: %s", yamlfile.Quote(name), r.hint(name, s.names()))
				continue
			}
		} else {
			r.readKey(f.Key, s)
		}
		v.present[name] = true
		if f.Value.Kind == yamlfile.Nothing && of.form != aValue {
			r.problem(f.Key.Place, "%s has no value: %s", yamlfile.Clip(name), of.want())
			continue
		}
		if c := r.read(f.Key, f.Value, of); c != nil {
			v.named[name] = c
			v.list = append(v.list, c)
		}
	}
	r.complete(v, len(n.Fields))
	return v
}

// readKey checks a name in a map. What it names is read in any case.
func (r *reader) readKey(k *node, s *shape) {
	switch {
	case s.key != aText:
		if wrong := (&shape{form: s.key}).wrong(k.Text); wrong != "" {
			r.problem(k.Place, "%s", wrong)
		}
	case strings.TrimSpace(k.Text) == "" || len(k.Text) > maxColumnName:
		r.problem(k.Place, "%s is not a name (1 to %d characters)", yamlfile.Quote(k.Text), maxColumnName)
	}
}

// complete notes what is missing in a mapping that has n fields.
func (r *reader) complete(v *value, n int) {
	s := v.shape
	if s.form == aMap {
		switch {
		case n < int(s.least):
			r.problem(v.start(), "%s, and here is nothing", s.want())
		case s.most > 0 && n > int(s.most):
			r.problem(v.start(), "here are %d, at most %d are possible", n, int(s.most))
		}
		return
	}
	for _, f := range s.fields {
		if f.must && !v.present[f.name] {
			r.problem(v.start(), "%s is missing: %s", f.name, f.shape.want())
		}
	}
	first := ""
	for _, name := range s.exactlyOne {
		switch {
		case !v.present[name]:
		case first != "":
			r.problem(v.keyPlace(name), "%s goes alone, and here is %s already: leave one of them out", name, first)
		default:
			first = name
		}
	}
	if first == "" && len(s.exactlyOne) > 0 {
		r.problem(v.start(), "one of %s is missing", yamlfile.Enumerate(s.exactlyOne))
	}
}

// keyPlace is where the name of a field stands.
func (v *value) keyPlace(field string) Place {
	if k := v.node.Field(field).Key; k != nil {
		return k.Place
	}
	return v.at()
}

// hint suggests what was probably meant, or lists what there is. It is not computed
// where no more problems are kept.
func (r *reader) hint(word string, known []string) string {
	if r.notes.Full() {
		return ""
	}
	if near := condition.Nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	if len(known) == 0 {
		return "there is none"
	}
	return "known are " + yamlfile.Enumerate(known)
}
