package task

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/label"
)

// Kind names a kind of question.
type Kind string

// kinds lists every kind, in the order in which they are offered. A kind is its
// file and its line here.
var kinds = []*Descriptor{
	&chooseOne,
	&chooseMany,
	&shortText,
	&number,
	&compareTwo,
	&rating,
	&form,
	&requesterHTML,
}

// Descriptor is all that Throng knows of one kind of question.
type Descriptor struct {
	Kind Kind
	Name string // for the requester's form, such as "Choose one"
	Hint string // one sentence for the requester

	// Settings are those that a template of this kind may have next to title,
	// instructions and question.
	Settings []*Setting

	// Framed kinds are shown by a document of RenderHTML in a sandboxed frame;
	// all others by the controls of their View.
	Framed bool

	// HidesColumns is true for kinds that show no column where Show is left
	// out; all others show every column.
	HidesColumns bool

	// Composite kinds have answers of several fields, one of which may be the
	// template's LabelField; all others have the one field LabelField.
	Composite bool

	// Scale is that of the answers, which says how their agreement is measured.
	// Of numbers the label is the median of the answers, for all others the
	// majority's.
	Scale label.Scale

	// Sets is true for kinds whose answers are JSON lists of options.
	Sets bool

	// Open kinds have answers of no fixed set, of which no method can learn how
	// a worker mistakes one for another.
	Open bool

	// Asks is true for kinds whose answer means nothing without a question.
	Asks bool

	Example Example

	// own makes the settings that no other kind has; nil: there are none.
	own func() any

	// compile checks the kind's settings and makes its controls.
	compile func(c *checker, t Template, out *Compiled)

	// simulate makes the answer of a model worker, of any type that
	// encoding/json can write.
	simulate func(c *Compiled, d draw) any
}

// Example is a template with a row of data, an answer to it, and an answer that
// is refused for the one field that it has.
type Example struct {
	Template      Template
	Row           Values
	Answer, Wrong json.RawMessage
}

// Descriptors lists every kind. The caller must not change it.
func Descriptors() []*Descriptor { return kinds }

// Kinds lists the names of all kinds.
func Kinds() []Kind {
	return lists.Map(kinds, func(d *Descriptor) Kind { return d.Kind })
}

// has reports whether a template of this kind may have a setting.
func (d *Descriptor) has(name string) bool {
	return slices.ContainsFunc(d.Settings, func(s *Setting) bool { return s.Name == name })
}

// Describe returns what is known of the kind. Of a kind that does not exist
// nothing is: the Descriptor is empty.
func (k Kind) Describe() *Descriptor {
	for _, d := range kinds {
		if d.Kind == k {
			return d
		}
	}
	return &Descriptor{Kind: k}
}

// rule returns the redundancy rule that labels the answers as the kind wants it.
func (d *Descriptor) rule(r label.Rule) label.Rule { return r.WithMedian(d.Scale != label.Nominal) }

// Methods lists the ways to combine answers after the fact that fit the kind, the one that
// fits best first. Of a kind that does not exist any may fit.
func (d *Descriptor) Methods() []label.Method {
	best := d.best()
	var first, others []label.Method
	for _, m := range label.Methods() {
		switch {
		case d.Kind != "" && !d.takes(m.Takes()):
		case m.Name() == best:
			first = append(first, m)
		default:
			others = append(others, m)
		}
	}
	return append(first, others...)
}

// best returns the name of the method that fits best.
func (d *Descriptor) best() string {
	switch {
	case d.Scale != label.Nominal:
		return label.Median{}.Name()
	case d.Open:
		return label.Central{}.Name()
	case d.Sets:
		return label.PerOption{}.Name()
	}
	return label.DefaultDawidSkene().Name()
}

// takes reports whether the kind's answers are such.
func (d *Descriptor) takes(a label.Answers) bool {
	switch a {
	case label.Classes:
		return !d.Open
	case label.Numbers:
		return d.Scale != label.Nominal
	case label.Texts:
		return d.Open && d.Scale == label.Nominal
	case label.Sets:
		return d.Sets
	case label.Marks:
		return false
	}
	return true
}

// Method returns the method of this name, or, for "", the one that fits the kind
// best. The error is a *crowd.Error of the field "method".
func (d *Descriptor) Method(name string) (label.Method, error) {
	fit := d.Methods()
	if name == "" {
		return fit[0], nil
	}
	m, err := label.MethodNamed(name)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(fit, func(x label.Method) bool { return x.Name() == m.Name() }) {
		return nil, crowd.Fieldf("method", "%s does not fit the kind %s: use %s", m.Name(), d.Kind, methodNames(fit))
	}
	return m, nil
}

func methodNames(list []label.Method) string {
	names := lists.Map(list, label.Method.Name)
	return strings.Join(names, ", ")
}
