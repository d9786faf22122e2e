package task

import (
	"strconv"
	"strings"
	"unicode"
)

// View is a task as it is shown to a worker: data for the web page and for the
// JSON API. Every string in it is plain text, not HTML; a URL has been checked
// and may be used as it is in src or href.
type View struct {
	Kind         Kind      `json:"kind"`
	Title        string    `json:"title,omitempty"`
	Instructions string    `json:"instructions,omitempty"`
	Question     string    `json:"question,omitempty"`
	Cells        []Cell    `json:"cells,omitempty"`    // what is shown, in order
	Left         *Cell     `json:"left,omitempty"`     // CompareTwo
	Right        *Cell     `json:"right,omitempty"`    // CompareTwo
	Controls     []Control `json:"controls,omitempty"` // how it is answered; for HTML, only the names
}

// Cell is one value that is shown.
type Cell struct {
	Column string `json:"column"`
	Label  string `json:"label"`
	As     As     `json:"as"`            // AsText if the value is no URL that may be used
	Text   string `json:"text"`          // the value
	URL    string `json:"url,omitempty"` // set unless As is AsText
}

// ControlType is the type of a Control.
type ControlType string

// The types of controls.
const (
	ControlRadio      ControlType = "radio"      // one of Options
	ControlCheckboxes ControlType = "checkboxes" // Least to Most of Options; the answer is a list
	ControlCheckbox   ControlType = "checkbox"   // yes or no; the answer is true or false
	ControlText       ControlType = "text"
	ControlTextArea   ControlType = "textarea"
	ControlNumber     ControlType = "number"
	ControlDate       ControlType = "date"
	ControlHTML       ControlType = "html" // a control of a requester's HTML
)

// Control is one field of the answer.
type Control struct {
	Name      string       `json:"name"`
	Type      ControlType  `json:"type"`
	Label     string       `json:"label,omitempty"`
	Help      string       `json:"help,omitempty"`
	Required  bool         `json:"required,omitempty"`
	Options   []ViewOption `json:"options,omitempty"`
	Least     int          `json:"least,omitempty"`      // checkboxes
	Most      int          `json:"most,omitempty"`       // checkboxes
	Min       *float64     `json:"min,omitempty"`        // number
	Max       *float64     `json:"max,omitempty"`        // number
	Integer   bool         `json:"integer,omitempty"`    // number
	Unit      string       `json:"unit,omitempty"`       // number
	MaxLength int          `json:"max_length,omitempty"` // characters; 0: no limit of its own
	Pattern   string       `json:"pattern,omitempty"`    // RE2, for the whole text
}

// ViewOption is one of the options of a Control.
type ViewOption struct {
	Value string `json:"value"`
	Label string `json:"label"`
	Key   string `json:"key,omitempty"` // the key that selects it, "1" to "9"
}

// Render shows a task whose data is values.
func (c *Compiled) Render(values Values) View {
	t := c.t
	v := View{Kind: t.Kind, Title: c.title.fill(values), Instructions: c.instructions.fill(values), Question: c.question.fill(values)}
	switch {
	case t.Kind == HTML, t.Kind == CompareTwo && t.Show == nil:
	case t.Show == nil:
		for _, column := range values.Columns {
			v.Cells = append(v.Cells, cell(Show{Column: column}, values))
		}
	default:
		for _, s := range t.Show {
			v.Cells = append(v.Cells, cell(s, values))
		}
	}
	label := Control{Name: LabelField, Required: true}
	switch t.Kind {
	case ChooseOne:
		label.Type, label.Options = ControlRadio, viewOptions(t.Options, c.optionLabels, values, true)
	case ChooseMany:
		label.Type, label.Options = ControlCheckboxes, viewOptions(t.Options, c.optionLabels, values, true)
		label.Least, label.Most = t.counts()
		label.Required = label.Least > 0
	case ShortText:
		label.Type, label.MaxLength, label.Pattern = ControlText, t.MaxLength, t.Pattern
	case Number:
		label.Type, label.Min, label.Max, label.Integer, label.Unit = ControlNumber, t.Min, t.Max, t.Integer, t.Unit
	case CompareTwo:
		left, right := cell(*t.Left, values), cell(*t.Right, values)
		v.Left, v.Right = &left, &right
		label.Type = ControlRadio
		label.Options = []ViewOption{{Left, "Left", "1"}, {Right, "Right", "2"}}
		if t.Tie {
			label.Options = append(label.Options, ViewOption{Tie, "No difference", "3"})
		}
	case Form:
		for i := range t.Fields {
			v.Controls = append(v.Controls, c.fieldControl(i, values))
		}
		return v
	case HTML:
		for _, name := range c.page.names {
			v.Controls = append(v.Controls, Control{Name: name.fill(values), Type: ControlHTML})
		}
		return v
	}
	v.Controls = []Control{label}
	return v
}

func (c *Compiled) fieldControl(i int, values Values) Control {
	f := c.t.Fields[i]
	out := Control{
		Name: f.Name, Label: c.fieldLabels[i].fill(values), Help: c.fieldHelp[i].fill(values), Required: f.Required,
		Options: viewOptions(f.Options, c.fieldOptions[i], values, len(c.t.Fields) == 1),
		Min:     f.Min, Max: f.Max, Integer: f.Integer, Unit: f.Unit, MaxLength: f.MaxLength, Pattern: f.Pattern,
	}
	if f.Label == "" {
		out.Label = f.Name
	}
	switch f.kind() {
	case FieldText:
		out.Type = ControlText
	case FieldTextArea:
		out.Type = ControlTextArea
	case FieldNumber:
		out.Type = ControlNumber
	case FieldDate:
		out.Type = ControlDate
	case FieldChoice:
		out.Type = ControlRadio
	case FieldCheckbox:
		out.Type = ControlCheckbox
		if len(f.Options) > 0 {
			out.Type, out.Most = ControlCheckboxes, len(f.Options)
			if f.Required {
				out.Least = 1
			}
		}
	}
	return out
}

// viewOptions makes the options of a control; they get keys if it is the only
// control.
func viewOptions(options []Option, labels []text, values Values, keys bool) []ViewOption {
	var out []ViewOption
	for i, o := range options {
		v := ViewOption{Value: o.Value, Label: labels[i].fill(values)}
		if keys && i < 9 {
			v.Key = strconv.Itoa(i + 1)
		}
		out = append(out, v)
	}
	return out
}

func cell(s Show, values Values) Cell {
	c := Cell{Column: s.Column, Label: s.Label, As: AsText, Text: values.Get(s.Column)}
	if c.Label == "" {
		c.Label = s.Column
	}
	if url, ok := safeURL(s.As, c.Text); ok {
		c.As, c.URL = s.As, url
	}
	return c
}

// safeURL returns the URL in value if it may be used for a cell of that kind.
// Only what begins with an allowed scheme passes, and nothing with white space
// or control characters in it, which browsers skip when they read a scheme.
func safeURL(as As, value string) (string, bool) {
	url := strings.TrimSpace(value)
	if strings.ContainsFunc(url, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return "", false
	}
	var prefixes []string
	switch as {
	case AsImage:
		prefixes = []string{"http://", "https://", "data:image/"}
	case AsAudio:
		prefixes = []string{"http://", "https://", "data:audio/"}
	case AsLink:
		prefixes = []string{"http://", "https://"}
	}
	for _, p := range prefixes {
		if len(url) > len(p) && strings.EqualFold(url[:len(p)], p) {
			return url, true
		}
	}
	return "", false
}
