// Package task says how a task is shown to a worker and which answers fit
// it: built-in kinds, or a requester's HTML in the convention of MTurk and
// Turkle.
//
// It is pure: it reads no file, no clock and no network, keeps nothing, and
// does not store or compare answers. It does not make the pages of the
// site: a View is data, and escaping it is the page's work. Only a requester's
// HTML becomes a document here, meant for a sandboxed frame (see CSP).
package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/throng-dev/throng/crowd"
)

// Kind is the way in which a task is answered.
type Kind string

// The kinds.
const (
	ChooseOne  Kind = "choose_one"  // one of Options
	ChooseMany Kind = "choose_many" // Min to Max of Options
	ShortText  Kind = "short_text"  // a line of text
	Number     Kind = "number"      // a number from Min to Max
	CompareTwo Kind = "compare_two" // Left or Right, or a tie if Tie
	Form       Kind = "form"        // Fields
	HTML       Kind = "html"        // whatever the controls in HTML give
)

// Kinds lists every kind.
func Kinds() []Kind {
	return []Kind{ChooseOne, ChooseMany, ShortText, Number, CompareTwo, Form, HTML}
}

// LabelField is the name of the one field in the answers of every kind but
// Form and HTML.
const LabelField = "label"

// The answers of CompareTwo.
const (
	Left  = "left"
	Right = "right"
	Tie   = "tie"
)

// The limits of a template.
const (
	MaxHTMLBytes   = 1 << 20
	MaxTextBytes   = 64 << 10 // instructions, question
	MaxTitleLength = 200      // characters
	MaxOptions     = 1000
	MaxFields      = 100
	MaxNameBytes   = 256 // an option's value, the name of a control
)

// Template is how a task is shown and answered. Its JSON and YAML forms have
// the same names; Parse reads the JSON form. Fields that do not belong to the
// kind must be left out.
//
// Title, Instructions, Question, the labels of options and fields, and HTML
// may contain placeholders: ${column} stands for the value of that column in
// the row. A placeholder's name consists of letters, digits, "_", "-" and ".",
// with no spaces; anything else, such as ${ x } or ${a+b}, is plain text in
// HTML (so a script can have its own `${ x }`) and an error elsewhere. Values
// are put in once: a placeholder within a value is text.
type Template struct {
	Kind         Kind   `json:"kind" yaml:"kind"`
	Title        string `json:"title,omitempty" yaml:"title,omitempty"`
	Instructions string `json:"instructions,omitempty" yaml:"instructions,omitempty"`
	Question     string `json:"question,omitempty" yaml:"question,omitempty"`

	// Show lists the columns that are shown, in order. Left out, all columns
	// are shown as text; with an empty list, none. Not for HTML, which shows
	// what it names; for CompareTwo it is what stands above the two, by
	// default nothing.
	Show []Show `json:"show,omitzero" yaml:"show,omitempty"`

	Options []Option `json:"options,omitempty" yaml:"options,omitempty"` // ChooseOne, ChooseMany: two or more

	// Min and Max bound the value of a Number, or the count of options of
	// ChooseMany (by default 1 and all of them; Min 0 allows "none of these").
	Min *float64 `json:"min,omitempty" yaml:"min,omitempty"`
	Max *float64 `json:"max,omitempty" yaml:"max,omitempty"`

	Integer bool   `json:"integer,omitempty" yaml:"integer,omitempty"` // Number: whole numbers only
	Unit    string `json:"unit,omitempty" yaml:"unit,omitempty"`       // Number: shown after the box

	MaxLength int    `json:"max_length,omitempty" yaml:"max_length,omitempty"` // ShortText: in characters; 0 means no limit of its own
	Pattern   string `json:"pattern,omitempty" yaml:"pattern,omitempty"`       // ShortText: a regular expression (RE2) for the whole text

	Left  *Show `json:"left,omitempty" yaml:"left,omitempty"`   // CompareTwo
	Right *Show `json:"right,omitempty" yaml:"right,omitempty"` // CompareTwo
	Tie   bool  `json:"tie,omitempty" yaml:"tie,omitempty"`     // CompareTwo: "no difference" is an answer too

	Fields []Field `json:"fields,omitempty" yaml:"fields,omitempty"` // Form
	HTML   string  `json:"html,omitempty" yaml:"html,omitempty"`     // HTML: a fragment or a whole document

	// LabelField names the field of a Form or HTML by which answers are
	// compared; left out, whole answers are.
	LabelField string `json:"label_field,omitempty" yaml:"label_field,omitempty"`
}

// As is how a cell is shown.
type As string

// The ways to show a cell. Image, link and audio need a URL that begins with
// http:// or https:// (an image also data:image/, audio also data:audio/);
// any other value is shown as text.
const (
	AsText  As = "text"
	AsImage As = "image"
	AsLink  As = "link"
	AsAudio As = "audio"
)

// Show names a column that is shown. In JSON and YAML a bare string is a
// column shown as text.
type Show struct {
	Column string `json:"column" yaml:"column"`
	As     As     `json:"as,omitempty" yaml:"as,omitempty"`       // default AsText
	Label  string `json:"label,omitempty" yaml:"label,omitempty"` // default: the column's name
}

// Option is one of the answers to choose from. In JSON and YAML a bare string
// is an option whose label is its value.
type Option struct {
	Value string `json:"value" yaml:"value"`                     // what the answer contains; no placeholders
	Label string `json:"label,omitempty" yaml:"label,omitempty"` // what the worker reads; default: the value
}

// FieldType is the type of a Form's field.
type FieldType string

// The types of fields.
const (
	FieldText     FieldType = "text"
	FieldTextArea FieldType = "textarea"
	FieldNumber   FieldType = "number"
	FieldChoice   FieldType = "choice"   // one of Options
	FieldCheckbox FieldType = "checkbox" // yes or no; with Options, any number of them
	FieldDate     FieldType = "date"     // YYYY-MM-DD
)

// Field is one field of a Form. Its name begins with a letter, has at most 64
// letters, digits, "_", "-" and ".", and is none of assignmentId, hitId,
// workerId and turkSubmitTo.
type Field struct {
	Name      string    `json:"name" yaml:"name"`
	Label     string    `json:"label,omitempty" yaml:"label,omitempty"` // default: the name
	Type      FieldType `json:"type,omitempty" yaml:"type,omitempty"`   // default: FieldText
	Help      string    `json:"help,omitempty" yaml:"help,omitempty"`
	Required  bool      `json:"required,omitempty" yaml:"required,omitempty"`
	Options   []Option  `json:"options,omitempty" yaml:"options,omitempty"`       // choice (two or more), checkbox
	MaxLength int       `json:"max_length,omitempty" yaml:"max_length,omitempty"` // text, textarea: in characters
	Pattern   string    `json:"pattern,omitempty" yaml:"pattern,omitempty"`       // text: RE2, for the whole text
	Min       *float64  `json:"min,omitempty" yaml:"min,omitempty"`               // number
	Max       *float64  `json:"max,omitempty" yaml:"max,omitempty"`               // number
	Integer   bool      `json:"integer,omitempty" yaml:"integer,omitempty"`       // number
	Unit      string    `json:"unit,omitempty" yaml:"unit,omitempty"`             // number
}

// Parse reads the JSON form of a template. Unknown names are errors. It does
// not validate: see Validate and Compile.
func Parse(data []byte) (Template, error) {
	var t Template
	if err := strictJSON(data, &t); err != nil {
		return Template{}, &crowd.Error{Code: crowd.Invalid, Field: "template", Message: jsonMessage(err), Cause: err}
	}
	return t, nil
}

func strictJSON(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("text follows the JSON value")
	}
	return nil
}

// jsonMessage makes the text of encoding/json fit for users.
func jsonMessage(err error) string {
	return strings.TrimPrefix(err.Error(), "json: ")
}

type (
	plainShow   Show
	plainOption Option
)

// UnmarshalJSON takes a bare string for the column.
func (s *Show) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		*s = Show{}
		return json.Unmarshal(data, &s.Column)
	}
	return strictJSON(data, (*plainShow)(s))
}

// UnmarshalYAML takes a bare string for the column. The YAML library calls it
// with its own decode function.
func (s *Show) UnmarshalYAML(decode func(any) error) error {
	if decode(&s.Column) == nil {
		return nil
	}
	return decode((*plainShow)(s))
}

// MarshalJSON writes a bare string when that says it all.
func (s Show) MarshalJSON() ([]byte, error) {
	if s == (Show{Column: s.Column}) {
		return json.Marshal(s.Column)
	}
	return json.Marshal(plainShow(s))
}

// UnmarshalJSON takes a bare string for the value.
func (o *Option) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		*o = Option{}
		return json.Unmarshal(data, &o.Value)
	}
	return strictJSON(data, (*plainOption)(o))
}

// UnmarshalYAML takes a bare string for the value.
func (o *Option) UnmarshalYAML(decode func(any) error) error {
	if decode(&o.Value) == nil {
		return nil
	}
	return decode((*plainOption)(o))
}

// MarshalJSON writes a bare string when that says it all.
func (o Option) MarshalJSON() ([]byte, error) {
	if o.Label == "" {
		return json.Marshal(o.Value)
	}
	return json.Marshal(plainOption(o))
}

var (
	_ json.Unmarshaler = (*Show)(nil)
	_ json.Unmarshaler = (*Option)(nil)
	_ json.Marshaler   = Show{}
	_ json.Marshaler   = Option{}
)
