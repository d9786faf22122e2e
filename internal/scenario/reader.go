package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// node is a place in the file.
type node = yaml.Node

// A reader walks one file, notes what is wrong, and goes on.
type reader struct {
	file   string
	files  func(path string) ([]byte, error)
	tables map[string]*table
	s      *Scenario

	list  []Error
	seen  map[Error]bool
	count int

	// What the last checks compare, with the places to complain about.
	kindNames, tenantNames []string
	batches                []placed
	flows                  []placed
	people                 []*node // of each group
	windows                []window
	known                  map[string]map[string]bool // names that expectations may choose by, by field
}

// A placed batch or flow is known by its index in the setup, and its place.
type placed struct {
	index int
	node  *node
	swept bool // a flow whose α is said only by the sweep
}

// A window is a time that must lie before the horizon.
type window struct {
	node  *node
	until time.Duration
	what  string
}

// decode reads the only document of a text.
func (r *reader) decode(text []byte) *node {
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		r.at(1, 1, "this is not YAML: %v", err)
		return nil
	}
	var doc, more node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF):
		r.at(1, 1, "the file is empty; a scenario begins with a name, like scenario: rush hour")
		return nil
	case err != nil:
		r.notYAML(text, err)
		return nil
	}
	switch err := loader.Load(&more); {
	case err == nil:
		r.errorf(&more, "a second document begins here; one file is one scenario")
	case !errors.Is(err, io.EOF):
		r.notYAML(text, err)
	}
	if len(doc.Content) == 0 {
		r.at(1, 1, "the file is empty; a scenario begins with a name, like scenario: rush hour")
		return nil
	}
	return doc.Content[0]
}

// notYAML notes what the YAML library does not understand.
func (r *reader) notYAML(text []byte, err error) {
	var known *yaml.LoadError
	if !errors.As(err, &known) {
		r.at(1, 1, "this is not YAML: %v", err)
		return
	}
	line, column := known.Mark.Line, known.Mark.Column
	if line == 0 {
		line, column = control(text)
	}
	message := known.Message
	if strings.Contains(message, "found a tab") || strings.Contains(message, "cannot start any token") && tabAt(text, line) {
		message += " (YAML is indented with spaces)"
	}
	if known.ContextMsg != "" {
		message += ", " + known.ContextMsg
	}
	r.at(line, column, "this is not YAML: %s", message)
}

// control returns the place of the first byte that no text has.
func control(text []byte) (line, column int) {
	line, column = 1, 1
	for _, c := range string(text) {
		if c == '\n' {
			line, column = line+1, 1
			continue
		}
		if c == unicode.ReplacementChar || c < ' ' && c != '\t' && c != '\r' {
			return line, column
		}
		column++
	}
	return 1, 1
}

// tabAt says whether a line is indented with a tab.
func tabAt(text []byte, line int) bool {
	for range line - 1 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return bytes.HasPrefix(bytes.TrimLeft(text, " "), []byte("\t"))
}

// what names the form of a node.
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

// plain refuses aliases and tags of other languages.
func (r *reader) plain(n *node) bool {
	switch {
	case n.Kind == yaml.AliasNode:
		r.errorf(n, "*%s: aliases are not known here; write it out", n.Value)
		return false
	case n.Style&yaml.TaggedStyle != 0:
		r.errorf(n, "the tag %s means nothing here; leave it out", quoted(n.Tag))
		return false
	}
	return true
}

// text reads a scalar as it stands.
func (r *reader) text(n *node) (string, bool) {
	if !r.plain(n) {
		return "", false
	}
	if n.Kind != yaml.ScalarNode || empty(n) {
		r.errorf(n, "a text is wanted, not %s", what(n))
		return "", false
	}
	return n.Value, true
}

// scalar reads a value from a node's text; the zero value where it is none.
func scalar[T any](r *reader, n *node, want string, parse func(text string) (T, error)) (v T, ok bool) {
	if !r.plain(n) {
		return v, false
	}
	if n.Kind != yaml.ScalarNode || empty(n) {
		r.errorf(n, "%s; here is %s", want, what(n))
		return v, false
	}
	value, err := parse(n.Value)
	if err != nil {
		r.errorf(n, "%s", err)
		return v, false
	}
	return value, true
}

func (r *reader) duration(n *node, least, most time.Duration) (time.Duration, bool) {
	return scalar(r, n, wantDuration, func(text string) (time.Duration, error) {
		d, err := parseDuration(text)
		if err == nil && d < least && least == oneNanosecond {
			return d, fmt.Errorf("%s: this must be more than 0", quoted(text))
		}
		return d, cmpErr(err, d < least, d > most, least, most, inWords)
	})
}

func (r *reader) number(n *node, least, most float64) (float64, bool) {
	return scalar(r, n, wantNumber, func(text string) (float64, error) {
		f, err := parseNumber(text)
		return f, cmpErr(err, f < least, f > most, least, most, inDigits)
	})
}

func (r *reader) share(n *node) (float64, bool) {
	return scalar(r, n, wantShare, func(text string) (float64, error) {
		f, err := parseShare(text)
		if err == nil && !(f >= 0 && f <= 1) {
			err = fmt.Errorf("%s is not a share: %s", quoted(text), wantShare)
		}
		return f, err
	})
}

func (r *reader) counted(n *node, least, most uint64) (uint64, bool) {
	return scalar(r, n, wantCount, func(text string) (uint64, error) { return parseCount(text, least, most) })
}

// rate reads a rate of more than 0 as arrivals an hour.
func (r *reader) rate(n *node) (float64, bool) {
	return scalar(r, n, wantRate, func(text string) (float64, error) {
		f, err := parseRate(text)
		switch {
		case err != nil:
		case !(f > 0):
			err = fmt.Errorf("%s: a rate is more than 0", quoted(text))
		case f > maxPerSecond:
			err = fmt.Errorf("%s is too fast (at most %d/s)", quoted(text), maxPerSecond)
		}
		return f * 3600, err
	})
}

// inDigits is a number as people write it, without an exponent.
func inDigits(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// cmpErr is err, or says that a figure is outside its bounds.
func cmpErr[T any](err error, under, over bool, least, most T, words func(T) string) error {
	switch {
	case err != nil:
		return err
	case under:
		return fmt.Errorf("this must be at least %s", words(least))
	case over:
		return fmt.Errorf("this must be at most %s", words(most))
	}
	return nil
}

// An object is a mapping whose fields are known.
type object struct {
	r       *reader
	section string
	node    *node
	fields  map[string]*node
	strange bool // it has a field that is not known
}

// object reads a mapping of a section. It is nil if the node is none.
func (r *reader) object(section string, n *node) *object {
	o := &object{r: r, section: section, node: n, fields: map[string]*node{}}
	ok := r.mapping(n, "a mapping is wanted, like "+fieldsOf(section)[0]+": …", func(key string, k, v *node) {
		known := fieldsOf(section)
		switch {
		case slices.Contains(known, key):
			if empty(v) {
				r.errorf(k, "%s has no value; leave it out, or say what it is", key)
				return
			}
			o.fields[key] = v
		case key == "<<":
			r.errorf(k, "merging (<<) is not known here; write it out")
		default:
			hint := "known are " + enumerate(known)
			if near := like(key, known); near != "" {
				hint = "do you mean " + near + "?"
			}
			r.errorf(k, "there is no field %s here: %s", quoted(key), hint)
			o.strange = true
		}
	})
	if !ok {
		return nil
	}
	return o
}

// mapping hands the pairs of a mapping over. It says whether the node is one.
func (r *reader) mapping(n *node, want string, pair func(key string, k, v *node)) bool {
	if !r.plain(n) {
		return false
	}
	if n.Kind != yaml.MappingNode {
		r.errorf(n, "%s; here is %s", want, what(n))
		return false
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			r.errorf(k, "the name of a field is a text, not %s", what(k))
			continue
		}
		if seen[k.Value] {
			r.errorf(k, "%s stands here twice", quoted(k.Value))
			continue
		}
		seen[k.Value] = true
		pair(k.Value, k, v)
	}
	return true
}

func enumerate(names []string) string { return strings.Join(names, ", ") }

func (o *object) has(field string) bool { return o.fields[field] != nil }

// field returns the place of a field's value, or of the whole.
func (o *object) field(name string) *node {
	if n := o.fields[name]; n != nil {
		return n
	}
	return o.node
}

// section returns a field that is a mapping, or nil.
func (r *reader) section(o *object, name string) *object {
	if !o.has(name) {
		return nil
	}
	return r.object(name, o.fields[name])
}

// list returns the items of a field that is a list of at least one.
func (o *object) list(field string) []*node {
	n := o.fields[field]
	if n == nil || !o.r.plain(n) {
		return nil
	}
	switch {
	case n.Kind != yaml.SequenceNode:
		o.r.errorf(n, "%s is a list, with - before each item; here is %s", field, what(n))
	case len(n.Content) == 0:
		o.r.errorf(n, "%s is empty; leave it out, or say what is in it", field)
	case len(n.Content) > maxItems[field]:
		o.r.errorf(n, "%s has %d items (at most %d)", field, len(n.Content), maxItems[field])
	default:
		return n.Content
	}
	return nil
}

func (o *object) text(field string) string {
	if !o.has(field) {
		return ""
	}
	text, ok := o.r.text(o.fields[field])
	if ok && strings.TrimSpace(text) == "" {
		o.r.errorf(o.fields[field], "%s is empty", field)
	}
	return strings.TrimSpace(text)
}

// name reads the field name; names of a list are all different. Without one it
// is otherwise, where that is not "".
func (o *object) name(names map[string]bool, of, otherwise string) string {
	name := otherwise
	switch {
	case o.has("name"):
		name = o.text("name")
		if err := validName(name); err != nil {
			o.r.errorf(o.fields["name"], "%s", err)
			return ""
		}
	case otherwise == "":
		o.r.missing(o.node, "name", "each "+of+" has one")
		return ""
	}
	if name != "" && names[name] {
		o.r.errorf(o.field("name"), "two have the name %s; each %s has its own", quoted(name), of)
	}
	names[name] = true
	return name
}

func validName(name string) error {
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("%s is not a name (1 to %d characters, in one line)", quoted(name), maxName)
	}
	return nil
}

func (o *object) duration(field string, least, most time.Duration) (time.Duration, bool) {
	if !o.has(field) {
		return 0, false
	}
	return o.r.duration(o.fields[field], least, most)
}

func (o *object) number(field string, least, most float64) (float64, bool) {
	if !o.has(field) {
		return 0, false
	}
	return o.r.number(o.fields[field], least, most)
}

func (o *object) share(field string) (float64, bool) {
	if !o.has(field) {
		return 0, false
	}
	return o.r.share(o.fields[field])
}

func (o *object) count(field string, least, most uint64) (uint64, bool) {
	if !o.has(field) {
		return 0, false
	}
	return o.r.counted(o.fields[field], least, most)
}

// one returns which of several fields stands there, of which exactly one must.
func (o *object) one(of string, fields ...string) string {
	found := ""
	for _, f := range fields {
		if !o.has(f) {
			continue
		}
		if found != "" {
			o.r.errorf(o.fields[f], "%s is said by %s already; leave one of them out", of, found)
			return ""
		}
		found = f
	}
	if found == "" && !o.strange {
		o.r.errorf(o.node, "%s is missing: one of %s", of, enumerate(fields))
	}
	return found
}

// find returns the index of a name, or notes that there is none.
func (r *reader) find(n *node, name string, names []string, of string) (int, bool) {
	if i := slices.Index(names, name); i >= 0 {
		return i, true
	}
	hint := fmt.Sprintf("there are %s", enumerate(names))
	if len(names) > 20 {
		hint = fmt.Sprintf("there are %s, …", enumerate(names[:20]))
	}
	if len(names) == 0 {
		hint = "there is none"
	} else if near := like(name, names); near != "" {
		hint = "do you mean " + near + "?"
	}
	r.errorf(n, "there is no %s %s: %s", of, quoted(name), hint)
	return 0, false
}

// scores reads a mapping of qualifications to scores.
func (o *object) scores(field string) map[string]int {
	if !o.has(field) {
		return nil
	}
	scores := map[string]int{}
	o.r.mapping(o.fields[field], field+" is a mapping of names to scores, like english: 80", func(name string, k, v *node) {
		if err := validName(name); err != nil {
			o.r.errorf(k, "%s", err)
			return
		}
		if n, ok := o.r.counted(v, 0, 100); ok {
			scores[name] = int(n)
		}
	})
	return scores
}
