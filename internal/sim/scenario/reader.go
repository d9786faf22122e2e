package scenario

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

// node is a part of the file.
type node = yamlfile.Node

// A reader walks one file, notes what is wrong, and goes on.
type reader struct {
	notes  yamlfile.Notes
	files  func(path string) ([]byte, error)
	tables map[string]*table
	s      *Scenario

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

// errorf notes what is wrong with a node, unless it has been refused already.
func (r *reader) errorf(n *node, format string, args ...any) {
	if n.Kind != yamlfile.Refused {
		r.notes.Add(n.Place, format, args...)
	}
}

// missing notes that a field of an object is not there.
func (r *reader) missing(n *node, field, want string) {
	r.errorf(n, "%s is missing: %s", field, want)
}

// hint says what was probably meant by a word that is not known, or otherwise
// what there is.
func (r *reader) hint(word string, known []string, otherwise string) string {
	if r.notes.Full() {
		return otherwise
	}
	return meant(word, known, otherwise)
}

func meant(word string, known []string, otherwise string) string {
	if near := condition.Nearest(word, known); near != "" {
		return "do you mean " + near + "?"
	}
	return otherwise
}

// text reads a scalar as it stands.
func (r *reader) text(n *node) (string, bool) {
	if n.Kind != yamlfile.Scalar {
		r.errorf(n, "a text is wanted, not %s", n.What())
		return "", false
	}
	return n.Text, true
}

// scalar reads a value from a node's text; the zero value where it is none.
func scalar[T any](r *reader, n *node, want string, parse func(text string) (T, error)) (v T, ok bool) {
	if n.Kind != yamlfile.Scalar {
		r.errorf(n, "%s; here is %s", want, n.What())
		return v, false
	}
	value, err := parse(n.Text)
	if err != nil {
		r.errorf(n, "%s", err)
		return v, false
	}
	return value, true
}

func (r *reader) duration(n *node, least, most time.Duration) (time.Duration, bool) {
	return scalar(r, n, yamlfile.WantDuration, func(text string) (time.Duration, error) {
		d, err := yamlfile.Duration(text)
		if err == nil && d < least && least == oneNanosecond {
			return d, fmt.Errorf("%s: this must be more than 0", yamlfile.Quote(text))
		}
		return d, cmpErr(err, d < least, d > most, least, most, yamlfile.Words)
	})
}

func (r *reader) number(n *node, least, most float64) (float64, bool) {
	return scalar(r, n, yamlfile.WantNumber, func(text string) (float64, error) {
		f, err := yamlfile.Number(text)
		return f, cmpErr(err, f < least, f > most, least, most, yamlfile.Digits)
	})
}

func (r *reader) share(n *node) (float64, bool) {
	return scalar(r, n, yamlfile.WantShare, func(text string) (float64, error) {
		f, err := yamlfile.Share(text)
		if err == nil && !(f >= 0 && f <= 1) {
			err = fmt.Errorf("%s is not a share: %s", yamlfile.Quote(text), yamlfile.WantShare)
		}
		return f, err
	})
}

func (r *reader) counted(n *node, least, most uint64) (uint64, bool) {
	return scalar(r, n, yamlfile.WantCount, func(text string) (uint64, error) { return yamlfile.Count(text, least, most) })
}

// rate reads a rate of more than 0 as arrivals an hour.
func (r *reader) rate(n *node) (float64, bool) {
	return scalar(r, n, yamlfile.WantRate, func(text string) (float64, error) {
		f, err := yamlfile.Rate(text)
		switch {
		case err != nil:
		case !(f > 0):
			err = fmt.Errorf("%s: a rate is more than 0", yamlfile.Quote(text))
		case f > maxPerSecond:
			err = fmt.Errorf("%s is too fast (at most %d/s)", yamlfile.Quote(text), maxPerSecond)
		}
		return f * 3600, err
	})
}

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
		switch known := fieldsOf(section); {
		case !slices.Contains(known, key):
			r.errorf(k, "there is no field %s here: %s", yamlfile.Quote(key), r.hint(key, known, "known are "+yamlfile.Enumerate(known)))
			o.strange = true
		case v.Kind == yamlfile.Nothing:
			r.errorf(k, "%s has no value; leave it out, or say what it is", key)
		default:
			o.fields[key] = v
		}
	})
	if !ok {
		return nil
	}
	return o
}

// mapping hands the pairs of a mapping over. It says whether the node is one.
func (r *reader) mapping(n *node, want string, pair func(key string, k, v *node)) bool {
	if n.Kind != yamlfile.Mapping {
		r.errorf(n, "%s; here is %s", want, n.What())
		return false
	}
	for _, f := range n.Fields {
		pair(f.Key.Text, f.Key, f.Value)
	}
	return true
}

func (o *object) has(field string) bool { return o.fields[field] != nil }

// need says whether a field stands there. If not, that is noted.
func (o *object) need(field, want string) bool {
	if !o.has(field) {
		o.r.missing(o.node, field, want)
	}
	return o.has(field)
}

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
	switch {
	case n == nil:
	case n.Kind != yamlfile.List:
		o.r.errorf(n, "%s is a list, with - before each item; here is %s", field, n.What())
	case len(n.Items) == 0:
		o.r.errorf(n, "%s is empty; leave it out, or say what is in it", field)
	case len(n.Items) > maxItems[field]:
		o.r.errorf(n, "%s has %d items (at most %d)", field, len(n.Items), maxItems[field])
	default:
		return n.Items
	}
	return nil
}

// objects goes through the mappings of a field that is a list of them, each with
// its index in the list.
func (o *object) objects(field string) iter.Seq2[int, *object] {
	return func(yield func(int, *object) bool) {
		for i, n := range o.list(field) {
			if item := o.r.object(field, n); item != nil && !yield(i, item) {
				return
			}
		}
	}
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
		o.r.errorf(o.field("name"), "two have the name %s; each %s has its own", yamlfile.Quote(name), of)
	}
	names[name] = true
	return name
}

func validName(name string) error {
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("%s is not a name (1 to %d characters, in one line)", yamlfile.Quote(name), maxName)
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
		o.r.errorf(o.node, "%s is missing: one of %s", of, yamlfile.Enumerate(fields))
	}
	return found
}

// find returns the index of a name, or notes that there is none.
func (r *reader) find(n *node, name string, names []string, of string) (int, bool) {
	if i := slices.Index(names, name); i >= 0 {
		return i, true
	}
	there := "there is none"
	if len(names) > 0 {
		there = "there are " + yamlfile.Enumerate(names)
	}
	r.errorf(n, "there is no %s %s: %s", of, yamlfile.Quote(name), r.hint(name, names, there))
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
