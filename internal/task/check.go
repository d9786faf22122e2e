package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/jsonform"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// The limits of an answer.
const (
	MaxAnswerBytes  = 64 << 10
	MaxAnswerValues = 1000 // values of one field
	maxExactInteger = 1 << 53
)

// LabelField is the name of the one field in the answers of every kind that is
// not composite.
const LabelField = "label"

// Check reads raw, a JSON value, as an answer to the template. What does not fit
// is an Invalid (or TooLarge) *crowd.Error whose Field is the field of the answer.
//
// canonical is the answer as a JSON object with sorted keys and no white
// space; answers that mean the same have the same canonical form, and it is
// an answer itself. key is what answers are compared by: the value of the
// label field as text (a list as JSON, "" if it was left out), or canonical
// when a Form or HTML has no label field.
//
// Every kind that is not composite has one field, "label", and a bare string,
// number or list may stand for {"label": ...}:
//
//   - ChooseOne, CompareTwo: the value of an option;
//   - ChooseMany: a list of them (or one of them alone), put into the order of the options;
//   - ShortText: a string; white space around it is removed;
//   - Number, Rating: a number, or a string with one.
//
// A Form has a value for each field: a string, a number, true or false for a
// checkbox without options, a list for one with options. A text that is empty
// counts as left out; what is left out is not in canonical, but for a
// checkbox, which is false or empty.
//
// HTML has a string or a list of strings for names that its controls have. A
// list of one is that one. Nothing is required. assignmentId, hitId, workerId
// and turkSubmitTo are ignored.
func (c *Compiled) Check(raw json.RawMessage) (canonical, key string, err error) {
	if len(raw) > MaxAnswerBytes {
		return "", "", tooLarge("answer", len(raw), MaxAnswerBytes)
	}
	if label, ok := c.plainChoice(raw); ok {
		return string(append(AppendString([]byte(`{"label":`), label), '}')), label, nil
	}
	if !utf8.Valid(raw) {
		return "", "", crowd.Fieldf("answer", "%s", format.Unkeepable(string(raw)))
	}
	if !json.Valid(raw) {
		return "", "", crowd.Fieldf("answer", "is not JSON")
	}
	var given map[string]json.RawMessage
	switch {
	case bytes.TrimLeft(raw, " \t\r\n")[0] == '{':
		if err := json.Unmarshal(raw, &given); err != nil {
			return "", "", crowd.Fieldf("answer", "is not a JSON object")
		}
	case !c.kind.Composite:
		given = map[string]json.RawMessage{LabelField: raw}
	default:
		return "", "", crowd.Fieldf("answer", `is not a JSON object: it should look like {"name": "value"}`)
	}
	if err := wholeText(given); err != nil {
		return "", "", err
	}
	answer, err := c.check(given)
	if err != nil {
		return "", "", err
	}
	canonical = encode(answer)
	if len(canonical) > MaxAnswerBytes { // escapes can make it longer than raw
		return "", "", tooLarge("answer", len(canonical), MaxAnswerBytes)
	}
	return canonical, c.key(answer, canonical), nil
}

func tooLarge(field string, n, most int) *crowd.Error {
	return &crowd.Error{Code: crowd.TooLarge, Field: field, Message: fmt.Sprintf("has %d bytes, at most %s are allowed", n, format.Bytes(int64(most)))}
}

// check returns the answer with values of type string, float64, bool and []string.
func (c *Compiled) check(given map[string]json.RawMessage) (map[string]any, error) {
	if c.page != nil {
		return c.page.check(given)
	}
	names := lists.Map(c.controls, func(x control) string { return x.Name })
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return nil, unknownField(name, names)
		}
	}
	answer := map[string]any{}
	for i := range c.controls {
		f := &c.controls[i]
		value, err := f.check(given[f.Name])
		if err != nil {
			return nil, err
		}
		if value != nil {
			answer[f.Name] = value
		}
	}
	return answer, nil
}

// labelField returns the name of the field by which answers are compared, or ""
// where whole answers are.
func (c *Compiled) labelField() string {
	if c.kind.Composite {
		return c.t.LabelField
	}
	return LabelField
}

func (c *Compiled) key(answer map[string]any, canonical string) string {
	name := c.labelField()
	if name == "" {
		return canonical
	}
	switch v := answer[name].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return encode(v)
	}
}

func unknownField(name string, names []string) error {
	return crowd.Fieldf(clip(name), "there is no such field: %sthe answer has %s", didYouMean(name, names), list(names))
}

// wholeText refuses text with NUL, which databases do not take, and text with half of a
// character, by the name of its field.
func wholeText(given map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if bytes.Contains(given[name], []byte(`\u0000`)) && holdsNUL(given[name]) {
			return crowd.Fieldf(clip(name), "holds a NUL character: remove it")
		}
		if half, _ := jsonform.LoneSurrogate(given[name]); half != "" {
			return crowd.Fieldf(clip(name), "holds %s, half a character: write both halves or remove it", half)
		}
	}
	return nil
}

// holdsNUL reports whether a JSON text or a text in a JSON list has a NUL in it.
func holdsNUL(raw json.RawMessage) bool {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return false
	}
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	return slices.ContainsFunc(list, func(v any) bool {
		text, ok := v.(string)
		return ok && strings.ContainsRune(text, 0)
	})
}

// stringOf reads a JSON string without NUL, which databases refuse.
func stringOf(raw json.RawMessage) (string, bool) {
	var p *string
	if err := json.Unmarshal(raw, &p); err != nil || p == nil || strings.ContainsRune(*p, 0) {
		return "", false
	}
	return *p, true
}

// stringsOf reads a JSON list of such strings.
func stringsOf(raw json.RawMessage) ([]string, bool) {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil || items == nil {
		return nil, false
	}
	out := make([]string, len(items))
	for i, item := range items {
		s, ok := stringOf(item)
		if !ok {
			return nil, false
		}
		out[i] = s
	}
	return out, true
}

// parseNumber reads a decimal number such as -1.5e3; a finite one.
func parseNumber(s string) (float64, bool) {
	if s == "" || strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}

// formatNumber writes a number as encoding/json does.
func formatNumber(v float64) string { return encode(v) }

// cleanLines makes the line ends of all browsers the same.
func cleanLines(s string) string { return lineEnds.Replace(s) }

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// encode writes v as JSON: keys sorted, no white space, <, > and & as they are.
func encode(v any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("task: an answer cannot be encoded: " + err.Error())
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// clip shortens a text of the user for use in an error.
func clip(s string) string {
	const most = 80
	return format.Clip(s, most)
}

// FromKey returns an answer that is compared by key, where the kind is not
// composite.
func (c *Compiled) FromKey(key string) json.RawMessage {
	if x := &c.controls[0]; x.Type == ControlCheckboxes || x.isNumber() {
		return json.RawMessage(key)
	}
	return AppendString(nil, key)
}

// Known returns the key of a known answer as it stands in a table's cell: text
// as it is, a number in digits, the options of a ChooseMany as a JSON list. One
// that no worker could give is an error. What stands for the answers to a
// composite kind is compared as it is.
func (c *Compiled) Known(cell string) (key string, err error) {
	if c.kind.Composite {
		return cell, nil
	}
	raw := c.FromKey(cell)
	switch {
	case json.Valid(raw):
	case c.controls[0].isNumber():
		raw = AppendString(nil, cell) // told as an answer that is no number is
	default:
		return "", crowd.Fieldf(LabelField, `%s is not a JSON list, such as ["a", "b"]`, raw)
	}
	_, key, err = c.Check(raw)
	return key, err
}

// Decided returns the key of what somebody has decided the label of a task to be, written as Known takes
// it, or as the whole answer where whole answers are compared. What no worker could answer is
// an error of the field "value".
func (c *Compiled) Decided(text string) (key string, err error) {
	if len(text) > MaxAnswerBytes {
		return "", tooLarge("value", len(text), MaxAnswerBytes)
	}
	if options := c.LabelOptions(); options != nil && !slices.Contains(options, text) {
		return "", crowd.Fieldf("value", "%q is none of %s", text, strings.Join(options, ", "))
	}
	if c.kind.Composite && c.labelField() == "" {
		key, _, err = c.Check(json.RawMessage(text))
	} else {
		key, err = c.Known(text)
	}
	if wrong := crowd.ErrorsOf(err); len(wrong) > 0 {
		err = &crowd.Error{Code: wrong[0].Code, Field: "value", Message: "is no answer that a worker could give: " + wrong[0].Error()}
	}
	if wrong := format.Unkeepable(key); err == nil && wrong != "" {
		err = crowd.Fieldf("value", "%s", wrong)
	}
	return key, err
}

// plainChoice reads the commonest answer of all without a JSON parser: one of
// the options of a radio, sent as "value" or {"label":"value"} without spaces or
// escapes. Everything else, right or wrong, is left to Check.
func (c *Compiled) plainChoice(raw json.RawMessage) (string, bool) {
	if c.kind.Composite || c.controls[0].Type != ControlRadio || c.controls[0].isNumber() {
		return "", false
	}
	if rest, ok := bytes.CutPrefix(raw, []byte(`{"label":`)); ok {
		if raw, ok = bytes.CutSuffix(rest, []byte("}")); !ok {
			return "", false
		}
	}
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	value := raw[1 : len(raw)-1]
	for _, b := range value {
		if b < ' ' || b > '~' || b == '"' || b == '\\' || b == '<' || b == '>' || b == '&' {
			return "", false
		}
	}
	for _, o := range c.controls[0].Options {
		if o.Value == string(value) {
			return o.Value, true
		}
	}
	return "", false
}
