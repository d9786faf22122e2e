// Package task holds the kinds of question: how a task is shown to a worker and
// which answers fit it. A kind is built in, or a requester's HTML in the
// convention of MTurk and Turkle.
//
// Each kind is a Descriptor in a file of its own, and kinds.go lists them.
// Whatever depends on the kind outside of this package asks the descriptor.
//
// The package is pure: it reads no file, no clock and no network, draws no
// random number but from a stream that it is handed, and does not store or
// compare answers. It does not make the pages of the site: a View is data, and
// the page escapes it. Only a requester's HTML becomes a document here, meant
// for a sandboxed frame (see CSP).
package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/throng-dev/throng/crowd"
)

// The limits of a template.
const (
	MaxHTMLBytes     = 1 << 20
	MaxHTMLParts     = 5000      // placeholders, and scripts, styles and comments without any, in HTML
	MaxTemplateBytes = 256 << 10 // its JSON without the HTML
	MaxTextBytes     = 64 << 10  // instructions, question, a label, a unit
	MaxTitleLength   = 200       // characters
	MaxOptions       = 1000
	MaxFields        = 100
	MaxNameBytes     = 256 // an option's value, the name of a control
)

// Template is how a task is shown and answered. Parse reads its JSON form.
// Settings that do not belong to the kind must be left out.
//
// Title, Instructions, Question, the labels of options and fields, and HTML
// may contain placeholders: ${column} stands for the value of that column in
// the row. A placeholder's name consists of letters, digits, "_", "-" and ".",
// with no spaces; anything else, such as ${ x } or ${a+b}, is plain text in
// HTML (so a script can have its own `${ x }`) and an error elsewhere. Values
// are put in once: a placeholder within a value is text.
type Template struct {
	Kind         Kind   `json:"kind"`
	Title        string `json:"title,omitempty"`
	Instructions string `json:"instructions,omitempty"`
	Question     string `json:"question,omitempty"`

	// Show lists the columns that are shown, in order. Left out, all columns
	// are shown as text; with an empty list, none. Not for HTML, which shows
	// what it names; for CompareTwo it is what stands above the two, by
	// default nothing.
	Show []Show `json:"show,omitzero"`

	Options []Option `json:"options,omitempty"` // ChooseOne, ChooseMany: two or more

	// Min and Max bound the value of a Number, or the count of options of
	// ChooseMany (by default 1 and all of them; Min 0 allows "none of these").
	Min *float64 `json:"min,omitempty"`
	Max *float64 `json:"max,omitempty"`

	Integer bool   `json:"integer,omitempty"` // Number: whole numbers only
	Unit    string `json:"unit,omitempty"`    // Number: shown after the box

	MaxLength int    `json:"max_length,omitempty"` // ShortText: in characters; 0 means no limit of its own
	Pattern   string `json:"pattern,omitempty"`    // ShortText: a regular expression (RE2) for the whole text

	Left  *Show `json:"left,omitempty"`  // CompareTwo
	Right *Show `json:"right,omitempty"` // CompareTwo
	Tie   bool  `json:"tie,omitempty"`   // CompareTwo: "no difference" is an answer too

	Fields []Field `json:"fields,omitempty"` // Form
	HTML   string  `json:"html,omitempty"`   // HTML: a fragment or a whole document

	// LabelField names the field of a Form or HTML by which answers are
	// compared; left out, whole answers are.
	LabelField string `json:"label_field,omitempty"`

	// Own points to the settings that only this kind has, such as
	// *RatingSettings, or is nil. In JSON they stand next to the others.
	Own any `json:"-"`
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

// Show names a column that is shown. In JSON a bare string is a column shown as
// text.
type Show struct {
	Column string `json:"column"`
	As     As     `json:"as,omitempty"`    // default AsText
	Label  string `json:"label,omitempty"` // default: the column's name
}

// Option is one of the answers to choose from. In JSON a bare string is an
// option whose label is its value.
type Option struct {
	Value string `json:"value"`           // what the answer contains; no placeholders
	Label string `json:"label,omitempty"` // what the worker reads; default: the value
}

// Parse reads the JSON form of a template. Unknown names are errors. It does
// not validate: see Validate and Compile.
func Parse(data []byte) (Template, error) {
	var t Template
	err := strictJSON(data, &t)
	var named *crowd.Error
	switch {
	case errors.As(err, &named):
		return Template{}, err
	case err != nil:
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

// Types without the methods that read and write JSON.
type (
	plainTemplate Template
	plainShow     Show
	plainOption   Option
)

// UnmarshalJSON reads a template with its kind's own settings.
func (t *Template) UnmarshalJSON(data []byte) error {
	*t = Template{}
	var head struct{ Kind Kind }
	_ = json.Unmarshal(data, &head) // what is wrong is found below
	d := head.Kind.Describe()
	if d.own == nil {
		return strictJSON(data, (*plainTemplate)(t))
	}
	var shared map[string]json.RawMessage
	if err := json.Unmarshal(data, &shared); err != nil {
		return err
	}
	var own Template
	var problems []error
	for _, s := range d.Settings {
		if raw, given := shared[s.Name]; given && s.own {
			problems = append(problems, s.read(&own, raw, clip(string(raw))))
			delete(shared, s.Name)
		}
	}
	problems = append(problems, strictJSON([]byte(encode(shared)), (*plainTemplate)(t)))
	if t.Own = own.Own; t.Own == nil {
		t.Own = d.own()
	}
	return errors.Join(problems...)
}

// MarshalJSON writes a template with its kind's own settings at the end.
func (t Template) MarshalJSON() ([]byte, error) {
	shared, err := json.Marshal(plainTemplate(t))
	if err != nil || t.Own == nil {
		return shared, err
	}
	own, err := json.Marshal(t.Own)
	if err != nil || len(own) <= len("{}") {
		return shared, err
	}
	return append(append(shared[:len(shared)-1], ','), own[1:]...), nil
}

// UnmarshalJSON takes a bare string for the column.
func (s *Show) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		*s = Show{}
		return json.Unmarshal(data, &s.Column)
	}
	return strictJSON(data, (*plainShow)(s))
}

// MarshalJSON writes a bare string where all else is left out.
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

// MarshalJSON writes a bare string where all else is left out.
func (o Option) MarshalJSON() ([]byte, error) {
	if o.Label == "" {
		return json.Marshal(o.Value)
	}
	return json.Marshal(plainOption(o))
}

var (
	_ json.Unmarshaler = (*Template)(nil)
	_ json.Unmarshaler = (*Show)(nil)
	_ json.Unmarshaler = (*Option)(nil)
	_ json.Marshaler   = Template{}
	_ json.Marshaler   = Show{}
	_ json.Marshaler   = Option{}
)
