package task

import (
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
	Min       *float64     `json:"min,omitempty"`        // number; radio: the options are a scale, from Min …
	Max       *float64     `json:"max,omitempty"`        // number; radio: … to Max
	Integer   bool         `json:"integer,omitempty"`    // number, scale
	Unit      string       `json:"unit,omitempty"`       // number
	MaxLength int          `json:"max_length,omitempty"` // characters; 0: no limit of its own
	Pattern   string       `json:"pattern,omitempty"`    // RE2, for the whole text
}

// ViewOption is one of the options of a Control.
type ViewOption struct {
	Value string `json:"value"`
	Label string `json:"label"`
	Key   string `json:"key,omitempty"` // the key that selects it: "1" to "9", of a scale also "0" and "-"
}

// Framed reports whether the task is shown by a document of RenderHTML in a
// sandboxed frame, and not by Controls.
func (v *View) Framed() bool { return v.Kind.Describe().Framed }

// Render shows a task whose data is fitted to it.
func (c *Compiled) Render(fitted Fitted) View {
	t, values := c.t, fitted.values
	v := View{Kind: t.Kind, Title: c.title.fill(values), Instructions: c.instructions.fill(values), Question: c.question.fill(values)}
	show := t.Show
	if show == nil && !c.kind.HidesColumns {
		for _, column := range values.Columns {
			show = append(show, Show{Column: column})
		}
	}
	for _, s := range show {
		v.Cells = append(v.Cells, cell(s, values))
	}
	if t.Left != nil && t.Right != nil {
		left, right := cell(*t.Left, values), cell(*t.Right, values)
		v.Left, v.Right = &left, &right
	}
	for i := range c.controls {
		v.Controls = append(v.Controls, c.controls[i].fill(values))
	}
	if c.page != nil {
		for _, name := range c.page.names {
			v.Controls = append(v.Controls, Control{Name: name.fill(values), Type: ControlHTML})
		}
	}
	return v
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
