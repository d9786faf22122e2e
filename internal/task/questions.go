package task

import (
	"encoding/json"

	"github.com/throng-dev/throng/label"
)

// Question is a field of the answers, which is combined by itself.
type Question struct {
	Name    string      // of the field
	Type    ControlType // of a requester's HTML what the control looks like
	Options []string    // to choose from; nil: any answer, or not known
	Labels  bool        // by it answers are compared while a batch runs: see Template.LabelField
	kind    *Descriptor
}

// Questions lists the fields that answers to the template have. Controls of a requester's
// HTML whose names have placeholders are left out: they differ from task to task.
func (c *Compiled) Questions() []Question {
	var list []Question
	for i := range c.controls {
		x := &c.controls[i]
		q := Question{Name: x.Name, Type: x.Type, Labels: x.Name == c.labelField(), kind: c.kind}
		if len(x.Options) > 0 {
			q.Options = x.values()
		}
		if c.kind.Composite {
			q.kind = kindOfControl(c.kind.Kind, x.Type)
		}
		list = append(list, q)
	}
	if c.page != nil {
		for _, name := range c.page.names {
			if len(name.columns()) > 0 {
				continue
			}
			at := name.fill(Values{})
			looks := c.page.types[at]
			list = append(list, Question{Name: at, Type: looks, Labels: at == c.labelField(), kind: kindOfControl(c.kind.Kind, looks)})
		}
	}
	return list
}

// kindOfControl is what is known of the answers that a control of a composite kind gives.
func kindOfControl(kind Kind, looks ControlType) *Descriptor {
	d := &Descriptor{Kind: kind}
	switch looks {
	case ControlText, ControlTextArea:
		d.Open = true
	case ControlNumber:
		d.Scale, d.Open = label.Interval, true
	case ControlCheckboxes:
		d.Sets = true
	}
	return d
}

// Methods lists the ways to combine the answers of the field, the one that fits best first.
func (q *Question) Methods() []label.Method { return q.kind.Methods() }

// Scale is that of the answers, for their agreement.
func (q *Question) Scale() label.Scale { return q.kind.Scale }

// Key returns what the field's value in an answer is compared by, as Compiled.Check makes
// it of a label field; false: there is none that can be.
func (q *Question) Key(value json.RawMessage) (string, bool) {
	written, isText := stringOf(value)
	switch {
	case q.kind.Sets:
		set, isList := stringsOf(value)
		if isText && written != "" {
			set = []string{written}
		}
		if !isList && !isText && len(value) > 0 {
			return "", false
		}
		return encode(append([]string{}, set...)), true
	case q.kind.Scale != label.Nominal:
		if !isText {
			written = string(value)
		}
		_, ok := parseNumber(written)
		return written, ok
	case isText, len(value) == 0:
		return written, true
	}
	return string(value), true
}

// Fields returns the values of an answer's fields.
func Fields(answer []byte) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(answer, &fields) != nil {
		return nil
	}
	return fields
}

// Text returns a field's value as the cell of a table has it: a text bare, all else as JSON.
func Text(value json.RawMessage) string {
	if s, ok := stringOf(value); ok {
		return s
	}
	return string(value)
}
