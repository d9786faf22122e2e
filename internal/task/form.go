package task

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

// Form is the kind whose answer has a value for each of Fields.
const Form Kind = "form"

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
	Name      string    `json:"name"`
	Label     string    `json:"label,omitempty"` // default: the name
	Type      FieldType `json:"type,omitempty"`  // default: FieldText
	Help      string    `json:"help,omitempty"`
	Required  bool      `json:"required,omitempty"`
	Options   []Option  `json:"options,omitempty"`    // choice (two or more), checkbox
	MaxLength int       `json:"max_length,omitempty"` // text, textarea: in characters
	Pattern   string    `json:"pattern,omitempty"`    // text: RE2, for the whole text
	Min       *float64  `json:"min,omitempty"`        // number
	Max       *float64  `json:"max,omitempty"`        // number
	Integer   bool      `json:"integer,omitempty"`    // number
	Unit      string    `json:"unit,omitempty"`       // number
}

var form = Descriptor{
	Kind: Form, Name: "Form", Hint: "Several fields in one task.",
	Settings:  []*Setting{showSetting, fieldsSetting, labelFieldSetting},
	Composite: true,
	Example: Example{
		Template: Template{Kind: Form, Question: "What is on the receipt?", LabelField: "total", Fields: []Field{
			{Name: "total", Label: "The total", Type: FieldNumber, Required: true},
			{Name: "paid", Label: "Paid by", Type: FieldChoice, Options: []Option{{Value: "cash"}, {Value: "card"}}},
			{Name: "legible", Label: "All of it is legible", Type: FieldCheckbox},
		}},
		Row:    Values{Columns: []string{"receipt"}, Cells: []string{"2 kg of apples 4.80, cash, thank you"}},
		Answer: json.RawMessage(`{"legible":true,"paid":"cash","total":4.8}`), Wrong: json.RawMessage(`{"total":"a lot"}`),
	},
	compile: func(c *checker, t Template, out *Compiled) {
		if len(t.Fields) == 0 {
			c.badf("fields", "has no field, at least 1 is needed")
		}
		if len(t.Fields) > MaxFields {
			c.badf("fields", "has %d fields, at most %d are allowed", len(t.Fields), MaxFields)
			return
		}
		names := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			at := fmt.Sprintf("fields[%d].", i)
			c.fieldName(at+"name", f.Name, names[:i])
			names[i] = f.Name
			out.controls = append(out.controls, c.field(at, f, len(t.Fields) == 1))
		}
		c.labelField(t.LabelField, names)
	},
	simulate: func(c *Compiled, d draw) any {
		out := make(map[string]any)
		for i := range c.controls {
			x := &c.controls[i]
			out[x.Name] = d.field(x)
			if x.Name != c.t.LabelField {
				continue
			}
			switch x.Type {
			case ControlRadio:
				out[x.Name] = d.choice(x.values())
			case ControlNumber:
				out[x.Name] = d.number(x)
			case ControlText, ControlTextArea:
				out[x.Name] = d.text()
			}
		}
		return out
	},
}

var validFieldName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// fieldName checks the name of a field that comes after those named before.
func (c *checker) fieldName(at, name string, before []string) {
	switch {
	case slices.Contains(before, name):
		c.badf(at, "%q is the name of fields[%d] already", clip(name), slices.Index(before, name))
	case isReserved(name):
		c.badf(at, "%q is reserved: use another name", name)
	case !validFieldName.MatchString(name):
		c.badf(at, `%q is not a name: use up to 64 letters, digits, "_", "-" and ".", beginning with a letter`, clip(name))
	}
}

// field checks a field and returns its control, whose options have keys if it is
// the only one.
func (c *checker) field(at string, f Field, only bool) control {
	if f.Type == "" {
		f.Type = FieldText
	}
	out := control{
		Control: Control{Name: f.Name, Required: f.Required, Min: f.Min, Max: f.Max, Integer: f.Integer, Unit: f.Unit, MaxLength: f.MaxLength, Pattern: f.Pattern},
		label:   c.text(at+"label", f.Label), help: c.text(at+"help", f.Help), regexp: c.regexp(at+"pattern", f.Pattern),
	}
	if f.Label == "" {
		out.label = text{{literal: f.Name}}
	}
	var labels []text
	switch f.Type {
	case FieldText:
		out.Type = ControlText
	case FieldTextArea:
		out.Type = ControlTextArea
	case FieldDate:
		out.Type = ControlDate
	case FieldNumber:
		out.Type = ControlNumber
		c.bounds(at, f.Min, f.Max, f.Integer)
	case FieldChoice:
		out.Type = ControlRadio
		labels = c.options(at+"options", f.Options, 2)
	case FieldCheckbox:
		out.Type = ControlCheckbox
		labels = c.options(at+"options", f.Options, 0)
		if len(f.Options) > 0 {
			out.Type, out.Most = ControlCheckboxes, len(f.Options)
			if f.Required {
				out.Least = 1
			}
		}
	default:
		c.badf(at+"type", "%q is not a type: use text, textarea, number, choice, checkbox or date", clip(string(f.Type)))
		f.Options = nil // one problem is enough
	}
	optionKeys := ""
	if only {
		optionKeys = keys[:9]
	}
	out.setOptions(f.Options, labels, optionKeys)
	c.length(at+"max_length", f.MaxLength)
	c.plain(at+"unit", f.Unit)
	c.fieldSettings(at, f)
	return out
}

// fieldSettings refuses settings that belong to another type of field.
func (c *checker) fieldSettings(at string, f Field) {
	for _, s := range []struct {
		name  string
		set   bool
		types []FieldType
	}{
		{"options", len(f.Options) > 0, []FieldType{FieldChoice, FieldCheckbox}},
		{"max_length", f.MaxLength != 0, []FieldType{FieldText, FieldTextArea}},
		{"pattern", f.Pattern != "", []FieldType{FieldText}},
		{"min", f.Min != nil, []FieldType{FieldNumber}},
		{"max", f.Max != nil, []FieldType{FieldNumber}},
		{"integer", f.Integer, []FieldType{FieldNumber}},
		{"unit", f.Unit != "", []FieldType{FieldNumber}},
	} {
		if s.set && !slices.Contains(s.types, f.Type) {
			c.badf(at+s.name, "does not belong to the type %s: leave it out", f.Type)
		}
	}
}

// LabelOptions returns the options of a form's label field where it is one to
// choose from, nil for any other template.
func (c *Compiled) LabelOptions() []string {
	for i := range c.controls {
		x := &c.controls[i]
		if c.kind.Composite && x.Name == c.t.LabelField && x.Type == ControlRadio {
			return x.values()
		}
	}
	return nil
}

// field returns what is filled into a field that is not compared.
func (d draw) field(c *control) any {
	switch c.Type {
	case ControlRadio:
		return c.Options[d.truth.IntN(len(c.Options))].Value
	case ControlCheckboxes:
		return []string{c.Options[0].Value}
	case ControlCheckbox:
		return d.truth.IntN(2) == 1
	case ControlNumber:
		return draw{right: true, truth: d.truth, chance: d.truth}.number(c)
	case ControlDate:
		return "2026-01-01"
	}
	return "text"
}
