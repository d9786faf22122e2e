package task

import (
	"encoding/json"

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

	// Ordinal kinds have answers on an ordered scale: the label is the median of
	// the answers, for all others the majority's.
	Ordinal bool

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
	list := make([]Kind, len(kinds))
	for i, d := range kinds {
		list[i] = d.Kind
	}
	return list
}

// descriptor returns what is known of the kind, or nil if there is no such kind.
func (k Kind) descriptor() *Descriptor {
	for _, d := range kinds {
		if d.Kind == k {
			return d
		}
	}
	return nil
}

// has reports whether a template of this kind may have a setting.
func (d *Descriptor) has(name string) bool {
	for _, s := range d.Settings {
		if s.Name == name {
			return true
		}
	}
	return false
}

// Describe returns what is known of the kind. Of a kind that does not exist
// nothing is: the Descriptor is empty.
func (k Kind) Describe() *Descriptor {
	if d := k.descriptor(); d != nil {
		return d
	}
	return &Descriptor{Kind: k}
}

// Rule returns the redundancy rule that labels the answers as the kind wants it.
func (d *Descriptor) Rule(r label.Rule) label.Rule { return r.WithMedian(d.Ordinal) }

// Method returns the way to combine answers after the fact that fits the kind.
func (d *Descriptor) Method() label.Method {
	if d.Ordinal {
		return label.Median{}
	}
	return label.DefaultDawidSkene()
}
