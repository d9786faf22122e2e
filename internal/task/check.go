package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
)

// The limits of an answer.
const (
	MaxAnswerBytes  = 64 << 10
	MaxAnswerValues = 1000 // values of one field
	maxExactInteger = 1 << 53
)

// Check says whether raw, a JSON value, is an answer to the template. What does
// not fit is an Invalid (or TooLarge) *crowd.Error whose Field is the field of
// the answer.
//
// canonical is the answer as a JSON object with sorted keys and no white
// space; answers that mean the same have the same canonical form, and it is
// an answer itself. key is what answers are compared by: the value of the
// label field as text (a list as JSON, "" if it was left out), or canonical
// when a Form or HTML has no label field.
//
// Every kind but Form and HTML has one field, "label", and a bare string,
// number or list may stand for {"label": ...}:
//
//   - ChooseOne, CompareTwo: the value of an option;
//   - ChooseMany: a list of them (or one of them alone), put into the order of the options;
//   - ShortText: a string; white space around it is removed;
//   - Number: a number, or a string with one.
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
		return "", "", tooLarge("answer", len(raw))
	}
	if label, ok := c.plainChoice(raw); ok {
		return string(append(AppendString([]byte(`{"label":`), label), '}')), label, nil
	}
	if !utf8.Valid(raw) {
		return "", "", crowd.Fieldf("answer", "is not UTF-8 text")
	}
	if !json.Valid(raw) {
		return "", "", crowd.Fieldf("answer", "is not JSON")
	}
	var given map[string]json.RawMessage
	switch single := c.t.Kind != Form && c.t.Kind != HTML; {
	case bytes.TrimLeft(raw, " \t\r\n")[0] == '{':
		if err := json.Unmarshal(raw, &given); err != nil {
			return "", "", crowd.Fieldf("answer", "is not a JSON object")
		}
	case single:
		given = map[string]json.RawMessage{LabelField: raw}
	default:
		return "", "", crowd.Fieldf("answer", `is not a JSON object: it should look like {"name": "value"}`)
	}
	answer, err := c.check(given)
	if err != nil {
		return "", "", err
	}
	canonical = encode(answer)
	if len(canonical) > MaxAnswerBytes { // escapes can make it longer than raw
		return "", "", tooLarge("answer", len(canonical))
	}
	return canonical, c.key(answer, canonical), nil
}

func tooLarge(field string, n int) error {
	return &crowd.Error{Code: crowd.TooLarge, Field: field, Message: fmt.Sprintf("has %d bytes, at most %d are allowed", n, MaxAnswerBytes)}
}

// check returns the answer with values of type string, float64, bool and []string.
func (c *Compiled) check(given map[string]json.RawMessage) (map[string]any, error) {
	answer := map[string]any{}
	if c.t.Kind == HTML {
		for _, name := range sortedKeys(given) {
			if isReserved(name) {
				continue
			}
			if !c.page.hasControl(name) {
				return nil, unknownField(name, sortedKeys(c.page.fixed))
			}
			value, err := htmlValue(name, given[name])
			if err != nil {
				return nil, err
			}
			if value != nil {
				answer[name] = value
			}
		}
		return answer, nil
	}
	fields := []fieldRule{c.single()}
	if c.t.Kind == Form {
		fields = fields[:0]
		for i, f := range c.t.Fields {
			fields = append(fields, formRule(f, c.patterns[i]))
		}
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	for _, name := range sortedKeys(given) {
		if !slices.Contains(names, name) {
			return nil, unknownField(name, names)
		}
	}
	for _, f := range fields {
		value, err := f.check(given[f.name])
		if err != nil {
			return nil, err
		}
		if value != nil {
			answer[f.name] = value
		}
	}
	return answer, nil
}

func (c *Compiled) key(answer map[string]any, canonical string) string {
	name := c.t.LabelField
	if c.t.Kind != Form && c.t.Kind != HTML {
		name = LabelField
	}
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

// fieldRule is what one field of an answer must be.
type fieldRule struct {
	name      string
	kind      FieldType // FieldCheckbox with options: a list
	required  bool
	options   []string
	low, high int // of a list
	min, max  *float64
	integer   bool
	maxLength int
	pattern   *regexp.Regexp
	source    string // of the pattern
}

// single returns the rule of the one field of the simple kinds.
func (c *Compiled) single() fieldRule {
	t := c.t
	f := fieldRule{name: LabelField, required: true}
	switch t.Kind {
	case ChooseMany:
		f.kind, f.options = FieldCheckbox, values(t.Options)
		f.low, f.high = t.counts()
	case ShortText:
		f.kind, f.maxLength, f.pattern, f.source = FieldText, t.MaxLength, c.pattern, t.Pattern
	case Number:
		f.kind, f.min, f.max, f.integer = FieldNumber, t.Min, t.Max, t.Integer
	case CompareTwo:
		f.kind, f.options = FieldChoice, []string{Left, Right}
		if t.Tie {
			f.options = append(f.options, Tie)
		}
	default:
		f.kind, f.options = FieldChoice, values(t.Options)
	}
	return f
}

func formRule(f Field, pattern *regexp.Regexp) fieldRule {
	r := fieldRule{
		name: f.Name, kind: f.kind(), required: f.Required, options: values(f.Options), high: len(f.Options),
		min: f.Min, max: f.Max, integer: f.Integer, maxLength: f.MaxLength, pattern: pattern, source: f.Pattern,
	}
	if f.Required {
		r.low = 1
	}
	return r
}

func values(options []Option) []string {
	out := make([]string, len(options))
	for i, o := range options {
		out[i] = o.Value
	}
	return out
}

// check returns the value, nil if it is left out and may be.
func (f fieldRule) check(raw json.RawMessage) (any, error) {
	given := len(raw) > 0 && string(bytes.TrimSpace(raw)) != "null"
	if f.kind == FieldCheckbox {
		if len(f.options) > 0 {
			return f.checkList(raw, given)
		}
		return f.checkBool(raw, given)
	}
	if given && f.kind == FieldNumber {
		if v, ok := parseNumber(string(bytes.TrimSpace(raw))); ok {
			return f.checkNumber(v)
		}
	}
	text := ""
	if given {
		var ok bool
		if text, ok = stringOf(raw); !ok {
			return nil, crowd.Fieldf(f.name, "%s", f.wanted())
		}
		text = strings.TrimSpace(cleanLines(text))
	}
	if text == "" {
		if f.required {
			return nil, crowd.Fieldf(f.name, "is missing: %s", f.wanted())
		}
		return nil, nil
	}
	return f.checkString(text)
}

// wanted says what a value would have to be.
func (f fieldRule) wanted() string {
	switch f.kind {
	case FieldNumber:
		noun := "a number"
		if f.integer {
			noun = "a whole number"
		}
		switch {
		case f.min != nil && f.max != nil:
			return fmt.Sprintf("it should be %s from %s to %s", noun, formatNumber(*f.min), formatNumber(*f.max))
		case f.min != nil:
			return fmt.Sprintf("it should be %s, at least %s", noun, formatNumber(*f.min))
		case f.max != nil:
			return fmt.Sprintf("it should be %s, at most %s", noun, formatNumber(*f.max))
		}
		return "it should be " + noun
	case FieldChoice:
		return "it should be one of " + list(f.options)
	case FieldDate:
		return "it should be a date such as 2026-03-31"
	}
	return "it should be a text"
}

func (f fieldRule) checkString(text string) (any, error) {
	switch f.kind {
	case FieldNumber:
		v, ok := parseNumber(text)
		if !ok {
			return nil, crowd.Fieldf(f.name, "%q is not a number: %s", clip(text), f.wanted())
		}
		return f.checkNumber(v)
	case FieldChoice:
		if !slices.Contains(f.options, text) {
			return nil, crowd.Fieldf(f.name, "%q is not an option: %s", clip(text), f.wanted())
		}
	case FieldDate:
		if !isDate(text) {
			return nil, crowd.Fieldf(f.name, "%q is not a date: %s", clip(text), f.wanted())
		}
	default:
		if n := utf8.RuneCountInString(text); f.maxLength > 0 && n > f.maxLength {
			return nil, crowd.Fieldf(f.name, "has %d characters, at most %d are allowed", n, f.maxLength)
		}
		if f.pattern != nil && !f.pattern.MatchString(text) {
			return nil, crowd.Fieldf(f.name, "%q does not have the form that is asked for: %s", clip(text), f.source)
		}
	}
	return text, nil
}

func (f fieldRule) checkNumber(v float64) (any, error) {
	tooBig := math.Abs(v) > maxExactInteger
	if f.integer && (v != math.Trunc(v) || tooBig) || f.min != nil && v < *f.min || f.max != nil && v > *f.max {
		return nil, crowd.Fieldf(f.name, "%s does not fit: %s", formatNumber(v), f.wanted())
	}
	return v + 0, nil // -0 becomes 0
}

func (f fieldRule) checkBool(raw json.RawMessage, given bool) (any, error) {
	text := strings.TrimSpace(string(raw))
	if s, ok := stringOf(raw); ok {
		text = s
	}
	switch {
	case !given || text == "" || text == "false":
		if f.required {
			return nil, crowd.Fieldf(f.name, "has to be ticked")
		}
		return false, nil
	case text == "true" || text == "on":
		return true, nil
	}
	return nil, crowd.Fieldf(f.name, "it should be true or false")
}

func (f fieldRule) checkList(raw json.RawMessage, given bool) (any, error) {
	chosen := []string{}
	if given {
		if one, ok := stringOf(raw); ok {
			chosen = append(chosen, one)
		} else if chosen, ok = stringsOf(raw); !ok {
			return nil, crowd.Fieldf(f.name, "it should be a list of options: %s", list(f.options))
		}
	}
	for _, v := range chosen {
		if !slices.Contains(f.options, v) {
			return nil, crowd.Fieldf(f.name, "%q is not an option: the options are %s", clip(v), list(f.options))
		}
	}
	inOrder := []string{}
	for _, o := range f.options {
		if slices.Contains(chosen, o) {
			inOrder = append(inOrder, o)
		}
	}
	if n := len(inOrder); n < f.low || n > f.high {
		return nil, crowd.Fieldf(f.name, "has %s: choose %s", plural(n, "option"), between(f.low, f.high))
	}
	return inOrder, nil
}

func between(low, high int) string {
	switch {
	case low == high:
		return strconv.Itoa(low)
	case low == 0:
		return "at most " + strconv.Itoa(high)
	}
	return strconv.Itoa(low) + " to " + strconv.Itoa(high)
}

// hasControl reports whether a control of the page may have this name. A name
// with placeholders fits whatever they may become.
func (p *page) hasControl(name string) bool {
	if p.fixed[name] {
		return true
	}
	for _, t := range p.names {
		if len(t.columns()) > 0 && t.matches(name) {
			return true
		}
	}
	return false
}

// matches reports whether s can be t with some values put in.
func (t text) matches(s string) bool {
	if len(s) > MaxNameBytes || strings.ContainsRune(s, 0) {
		return false
	}
	for i, p := range t {
		switch {
		case p.column != "":
		case i == len(t)-1:
			return strings.HasSuffix(s, p.literal) && (i > 0 || s == p.literal)
		case i == 0:
			if !strings.HasPrefix(s, p.literal) {
				return false
			}
			s = s[len(p.literal):]
		default:
			_, after, found := strings.Cut(s, p.literal)
			if !found {
				return false
			}
			s = after
		}
	}
	return true
}

// htmlValue reads a string or a list of strings; nil means none.
func htmlValue(name string, raw json.RawMessage) (any, error) {
	if one, ok := stringOf(raw); ok {
		return cleanLines(one), nil
	}
	many, ok := stringsOf(raw)
	switch {
	case !ok:
		return nil, crowd.Fieldf(clip(name), "it should be a text or a list of texts")
	case len(many) > MaxAnswerValues:
		return nil, crowd.Fieldf(clip(name), "has %d values, at most %d are allowed", len(many), MaxAnswerValues)
	case len(many) == 0:
		return nil, nil
	case len(many) == 1:
		return cleanLines(many[0]), nil
	}
	for i := range many {
		many[i] = cleanLines(many[i])
	}
	return many, nil
}

func unknownField(name string, names []string) error {
	meant := ""
	if n := nearest(name, names); n != "" {
		meant = fmt.Sprintf("did you mean %q? ", n)
	}
	return crowd.Fieldf(clip(name), "there is no such field: %sthe answer has %s", meant, list(names))
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

// isDate reports whether s is a day of the Gregorian calendar, YYYY-MM-DD.
func isDate(s string) bool {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return false
	}
	var n [3]int
	for i, part := range []string{s[:4], s[5:7], s[8:]} {
		for _, c := range []byte(part) {
			if c < '0' || c > '9' {
				return false
			}
			n[i] = n[i]*10 + int(c-'0')
		}
	}
	year, month, day := n[0], n[1], n[2]
	if year < 1 || month < 1 || month > 12 {
		return false
	}
	days := [12]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		days[1] = 29
	}
	return day >= 1 && day <= days[month-1]
}

// encode writes v as JSON: keys sorted, no white space, <, > and & as they are.
func encode(v any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("template: an answer cannot be encoded: " + err.Error())
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// clip shortens a text of the user for use in an error.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Known returns the key of a known answer as it stands in a table's cell: text
// as it is, a number in digits, the options of a ChooseMany as a JSON list. One
// that no worker could give is an error. What stands for the answers to a Form
// or an HTML is compared as it is.
func (c *Compiled) Known(cell string) (key string, err error) {
	raw := json.RawMessage(cell)
	switch c.t.Kind {
	case Form, HTML:
		return cell, nil
	case Number, ChooseMany:
	default:
		raw = AppendString(nil, cell)
	}
	_, key, err = c.Check(raw)
	return key, err
}

// plainChoice reads the commonest answer of all without a JSON parser: one of
// the options of a ChooseOne, sent as "value" or {"label":"value"} without
// spaces or escapes. Everything else, right or wrong, is left to Check.
func (c *Compiled) plainChoice(raw json.RawMessage) (string, bool) {
	if c.t.Kind != ChooseOne {
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
	for i := range c.t.Options {
		if c.t.Options[i].Value == string(value) {
			return c.t.Options[i].Value, true
		}
	}
	return "", false
}
