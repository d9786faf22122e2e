package workflow

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/throng-dev/throng/internal/condition"
)

// node is a place in the file.
type node = yaml.Node

// A form is what a value of the language looks like.
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

// A shape says what may stand at a place of the file. The reader and the JSON
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
	shape *shape
	key   *node // that stands before it, or nil
	node  *node
	text  string   // of a scalar
	list  []*value // of a list, and of a map in the order of the file
	named map[string]*value
	said  map[string]bool // fields that stand there, though they may have been refused
}

// get returns a field.
func (v *value) get(field string) *value {
	if v == nil {
		return nil
	}
	return v.named[field]
}

// has says whether a field stands there, right or wrong.
func (v *value) has(field string) bool { return v != nil && v.said[field] }

// name is the word before the value.
func (v *value) name() string {
	if v == nil || v.key == nil {
		return ""
	}
	return v.key.Value
}

func (v *value) str() string {
	if v == nil {
		return ""
	}
	return v.text
}

// at is where the value stands.
func (v *value) at() Place { return Place{v.node.Line, max(v.node.Column, 1)} }

// start is where its name stands, or itself.
func (v *value) start() Place {
	if v.key != nil {
		return Place{v.key.Line, max(v.key.Column, 1)}
	}
	return v.at()
}

// read makes a value of a node, or notes what is wrong and returns nil.
func (r *reader) read(key, n *node, s *shape) *value {
	if !r.plain(n) {
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
	if n.Kind != yaml.ScalarNode || empty(n) {
		r.problem(v.at(), "%s; here is %s", s.want(), what(n))
		return nil
	}
	v.text = n.Value
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
		case scalar && v.node.Kind == yaml.ScalarNode && !empty(v.node),
			s.form == aList && v.node.Kind == yaml.SequenceNode,
			(s.form == aMap || s.form == anObject) && v.node.Kind == yaml.MappingNode:
			return r.read(v.key, v.node, s)
		}
		wants = append(wants, s.want())
	}
	r.problem(v.at(), "%s; here is %s", strings.Join(wants, ", or "), what(v.node))
	return nil
}

func (r *reader) readList(v *value) *value {
	s, n := v.shape, v.node
	switch {
	case n.Kind != yaml.SequenceNode:
		r.problem(v.at(), "%s; here is %s", s.want(), what(n))
		return nil
	case len(n.Content) < int(s.least):
		r.problem(v.at(), "this list has %d items, at least %d %s needed", len(n.Content), int(s.least), areN(int(s.least)))
	case s.most > 0 && len(n.Content) > int(s.most):
		r.problem(v.at(), "this list has %d items, at most %d are possible", len(n.Content), int(s.most))
		return nil
	}
	for _, c := range n.Content {
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
	if n.Kind != yaml.MappingNode {
		r.problem(v.at(), "%s; here is %s", s.want(), what(n))
		return nil
	}
	v.named, v.said = map[string]*value{}, map[string]bool{}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, c := n.Content[i], n.Content[i+1]
		at := placeOf(k)
		switch {
		case k.Kind != yaml.ScalarNode:
			r.problem(at, "the name of a field is a text, not %s", what(k))
			continue
		case k.Value == "<<" && k.Style == 0:
			r.problem(at, "merging (<<) is not known here; write it out")
			continue
		case lines[k.Value] > 0:
			r.problem(at, "%s stands here twice, first in line %d", quoted(k.Value), lines[k.Value])
			continue
		}
		lines[k.Value] = k.Line
		of := s.of
		if s.form == anObject {
			if of = s.field(k.Value); of == nil {
				r.problem(at, "there is no field %s here: %s", quoted(k.Value), r.hint(k.Value, s.names()))
				continue
			}
		} else {
			r.readKey(k, s)
		}
		v.said[k.Value] = true
		if empty(c) && of.form != aValue {
			r.problem(at, "%s has no value: %s", clip(k.Value), of.want())
			continue
		}
		if c := r.read(k, c, of); c != nil {
			v.named[k.Value] = c
			v.list = append(v.list, c)
		}
	}
	r.complete(v, len(lines))
	return v
}

// readKey checks a name in a map. What it names is read in any case.
func (r *reader) readKey(k *node, s *shape) {
	switch {
	case s.key != aText:
		if wrong := (&shape{form: s.key}).wrong(k.Value); wrong != "" {
			r.problem(placeOf(k), "%s", wrong)
		}
	case strings.TrimSpace(k.Value) == "" || len(k.Value) > maxColumnName:
		r.problem(placeOf(k), "%s is not a name (1 to %d characters)", quoted(k.Value), maxColumnName)
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
		if f.must && !v.said[f.name] {
			r.problem(v.start(), "%s is missing: %s", f.name, f.shape.want())
		}
	}
	first := ""
	for _, name := range s.exactlyOne {
		switch {
		case !v.said[name]:
		case first != "":
			r.problem(placeOf(v.keyOf(name)), "%s goes alone, and here is %s already: leave one of them out", name, first)
		default:
			first = name
		}
	}
	if first == "" && len(s.exactlyOne) > 0 {
		r.problem(v.start(), "one of %s is missing", enumerate(s.exactlyOne))
	}
}

// keyOf returns the place of a field's name.
func (v *value) keyOf(field string) *node {
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		if k := v.node.Content[i]; k.Value == field {
			return k
		}
	}
	return v.node
}

// plain refuses aliases, tags of other languages, and text that no text is.
func (r *reader) plain(n *node) bool {
	switch {
	case n.Kind == yaml.AliasNode:
		r.problem(placeOf(n), "*%s: aliases are not known here; write it out", clip(n.Value))
		return false
	case n.Style&yaml.TaggedStyle != 0:
		r.problem(placeOf(n), "the tag %s means nothing here; leave it out", quoted(n.Tag))
		return false
	}
	return true
}

func placeOf(n *node) Place { return Place{max(n.Line, 1), max(n.Column, 1)} }

// what names the kind of a node.
func what(n *node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias"
	case empty(n):
		return "nothing"
	}
	return quoted(n.Value)
}

func empty(n *node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// hint says what was probably meant, or what there is. It is not looked for where
// nobody will read it.
func (r *reader) hint(word string, known []string) string {
	if r.count >= maxProblems {
		return ""
	}
	if near := condition.Nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	if len(known) == 0 {
		return "there is none"
	}
	return "known are " + enumerate(known)
}

// enumerate writes names for a message.
func enumerate(names []string) string {
	const most = 25
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(", … (%d in all)", len(names))
	}
	return strings.Join(names, ", ")
}

// quoted is a text from the file as a message shows it.
func quoted(s string) string { return fmt.Sprintf("%q", clip(s)) }

// clip shortens a text from the file.
func clip(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// sorted returns what has been noted, in the order of the file.
func (r *reader) sorted() []Problem {
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	if more := r.count - maxProblems; more > 0 {
		last := r.problems[len(r.problems)-1]
		last.Message = fmt.Sprintf("and %d more problems", more)
		r.problems = append(r.problems, last)
	}
	return r.problems
}
