package scenario

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
)

// node is a part of the file.
type node = yamlfile.Node

// A reader walks one file, notes what is wrong, and goes on.
type reader struct {
	notes  yamlfile.Notes
	files  func(path string) ([]byte, error)
	tables map[string]*table
	s      *Scenario

	batchNames, groupNames map[string]bool // that are taken

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
func (r *reader) errorf(n *node, format string, args ...any) { r.notes.Errorf(n, format, args...) }

// text reads a scalar as it stands.
func (r *reader) text(n *node) (string, bool) {
	return yamlfile.ReadScalar(&r.notes, n, "a text is wanted", func(text string) (string, error) { return text, nil })
}

// scalar reads a scalar of a type, which is read as a T.
func scalar[T any](r *reader, n *node, t *fields.Type) (v T, ok bool) {
	if part := t.Read(&r.notes, n); part != nil {
		return part.Scalar.(T), true
	}
	return v, false
}

func (r *reader) share(n *node) (float64, bool) { return scalar[float64](r, n, fields.Share) }

func (r *reader) count(n *node, least, most uint64) (int, bool) {
	return scalar[int](r, n, fields.Count(least, most))
}

// An object is a mapping of a section of the schema.
type object struct {
	*fields.Part
	r *reader
}

// object reads a mapping of a section. It is nil if the node is none.
func (r *reader) object(section string, n *node) *object {
	if o := fields.Read(&r.notes, n, fieldsOf(section)); o != nil {
		return &object{o, r}
	}
	return nil
}

// section returns a field that is a mapping, or nil.
func (r *reader) section(o *object, name string) *object {
	if !o.Has(name) {
		return nil
	}
	return r.object(name, o.Value(name))
}

// objects goes through the mappings of a field that is a list of them, each with
// its index in the list.
func (o *object) objects(field string) iter.Seq2[int, *object] {
	return func(yield func(int, *object) bool) {
		for i, n := range o.List(field) {
			if item := o.r.object(field, n); item != nil && !yield(i, item) {
				return
			}
		}
	}
}

// set reads a field into a variable, which stays as it is where the field is not
// there, or wrong.
func set[T any](o *object, field string, to *T) bool { return fields.Set(o.Part, field, to) }

func (o *object) text(field string) string {
	text := ""
	set(o, field, &text)
	return text
}

// name reads the field name; names of a list are all different. Without one it
// is otherwise, where that is not "".
func (o *object) name(names map[string]bool, of, otherwise string) string {
	name := otherwise
	switch {
	case o.Has("name"):
		name = o.text("name")
		if err := validName(name); err != nil {
			o.r.errorf(o.Value("name"), "%s", err)
			return ""
		}
	case otherwise == "":
		o.r.notes.Missing(o.Node, "name", "each "+of+" has one")
		return ""
	}
	if name != "" && names[name] {
		o.r.errorf(o.Place("name"), "two have the name %s; each %s has its own", yamlfile.Quote(name), of)
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

// find returns the index of a name, or notes that there is none.
func (r *reader) find(n *node, name string, names []string, of string) (int, bool) {
	if i := slices.Index(names, name); i >= 0 {
		return i, true
	}
	r.errorf(n, "there is no %s %s: %s", of, yamlfile.Quote(name), r.notes.Hint(name, names))
	return 0, false
}

// scores reads a mapping of qualifications to scores.
func (o *object) scores(field string) map[string]int {
	if !o.Has(field) {
		return nil
	}
	scores := map[string]int{}
	o.r.notes.Mapping(o.Value(field), field+" is a mapping of names to scores, like english: 80", func(name string, k, v *node) {
		if err := validName(name); err != nil {
			o.r.errorf(k, "%s", err)
			return
		}
		if n, ok := o.r.count(v, 0, 100); ok {
			scores[name] = n
		}
	})
	return scores
}
