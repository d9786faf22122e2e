package table

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/jsonform"
)

// jsonSpace is what JSON takes for white space.
const jsonSpace = " \t\r\n"

// readObjectHeader reads the first object, keeps its values as the first row
// and its keys as the columns.
func (t *Reader) readObjectHeader() error {
	if t.opts.First != nil {
		return t.setColumns(t.opts.First, 1)
	}
	names, values, line, err := t.nextObject()
	if err == nil {
		if err = t.setColumns(names, line); err == nil {
			t.first, t.start, t.ahead = values, line, true
			return nil
		}
	}
	var e *crowd.Error
	if errors.As(err, &e) && t.index == nil {
		e.Message = "the columns are the keys of the first object, which cannot be read: " + e.Message
	}
	return err
}

// readObject reads one object and puts its values in the order of the columns.
func (t *Reader) readObject() ([]string, int, error) {
	names, values, line, err := t.nextObject()
	if err != nil {
		return nil, line, err
	}
	row := make([]string, len(t.columns))
	have := make([]bool, len(t.columns))
	for i, name := range names {
		c, known := t.index[name]
		switch {
		case !known:
			return nil, line, bad(line, clip(name), "the first object has no such key")
		case have[c]:
			return nil, line, bad(line, name, "the key stands twice in the object")
		}
		row[c], have[c] = values[i], true
	}
	for c, ok := range have {
		if !ok {
			return nil, line, bad(line, t.columns[c], "the key is missing: write null for an empty cell")
		}
	}
	return row, line, nil
}

// nextObject reads one line with an object and returns its keys and the text
// of its values.
func (t *Reader) nextObject() (names, values []string, line int, err error) {
	var text []byte
	for len(text) == 0 {
		begin, err := t.nextRow()
		if err != nil {
			return nil, nil, t.line, err
		}
		if t.off-begin > t.opts.MaxRowBytes {
			return nil, nil, t.line, t.opts.tooLong(t.line, 1)
		}
		text = bytes.Trim(t.buf[begin:t.off], jsonSpace)
	}
	names, values, wrong := parseObject(text, t.opts.MaxColumns)
	if wrong != nil {
		wrong.Row = t.line
		return nil, nil, t.line, wrong
	}
	return names, values, t.line, nil
}

// ParseObject returns the keys of a JSON object, in order, and the text of each
// value as a table holds it. A key may stand twice.
func ParseObject(text []byte) (names, values []string, err error) {
	names, values, wrong := parseObject(bytes.Trim(text, jsonSpace), DefaultMaxColumns)
	if wrong != nil {
		return nil, nil, wrong
	}
	return names, values, nil
}

// parseObject is ParseObject for text that is not empty and has no white space
// around it.
func parseObject(text []byte, most int) (names, values []string, wrong *crowd.Error) {
	if !json.Valid(text) {
		return nil, nil, crowd.Errorf(crowd.Invalid, "%s", brokenJSON(text))
	}
	switch text[0] {
	case '{':
	case '[':
		return nil, nil, crowd.Errorf(crowd.Invalid, "the line is a JSON array: write one object a line, without brackets or commas around them")
	default:
		return nil, nil, crowd.Errorf(crowd.Invalid, `the line is not a JSON object: it should look like {"name": "value"}`)
	}
	s := scanner{text: text[1:]}
	for {
		s.space()
		if s.text[0] == '}' {
			return names, values, nil
		}
		key := s.value()
		name, what := stringText(key)
		if what != "" {
			return nil, nil, crowd.Fieldf(cellName(nil, len(names)), "the key %s", what)
		}
		if len(names) == most {
			return nil, nil, crowd.Errorf(crowd.TooLarge, "the object has more than %d keys", most)
		}
		s.skip(':')
		value, what := valueText(s.value())
		if what != "" {
			return nil, nil, crowd.Fieldf(clip(name), "the value %s", what)
		}
		names, values = append(names, name), append(values, value)
		s.skip(',')
	}
}

// scanner walks over JSON text that is known to be valid.
type scanner struct{ text []byte }

func (s *scanner) space() {
	for strings.IndexByte(jsonSpace, s.text[0]) >= 0 {
		s.text = s.text[1:]
	}
}

// skip passes over c, if it is what comes next.
func (s *scanner) skip(c byte) {
	s.space()
	if s.text[0] == c {
		s.text = s.text[1:]
	}
}

// value takes the next value and returns its text.
func (s *scanner) value() []byte {
	s.space()
	depth, i := 0, 0
	for ; ; i++ {
		switch c := s.text[i]; c {
		case '"':
			for i++; s.text[i] != '"'; i++ {
				if s.text[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return s.take(i + 1)
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return s.take(i) // a number or word, ended by the object's brace
			}
			if depth--; depth == 0 {
				return s.take(i + 1)
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return s.take(i)
			}
		}
	}
}

func (s *scanner) take(n int) []byte {
	v := s.text[:n]
	s.text = s.text[n:]
	return v
}

// stringText returns the text of a JSON string, or what is wrong with it.
func stringText(raw []byte) (text, wrong string) {
	if what := checkText(raw); what != "" {
		return "", what
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), ""
	}
	if what := checkEscapes(raw); what != "" {
		return "", what
	}
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", "cannot be read"
	}
	return text, checkText([]byte(text))
}

// checkEscapes says what is wrong with the escapes in a JSON text; "": nothing.
func checkEscapes(raw []byte) string {
	if half, _ := jsonform.LoneSurrogate(raw); half != "" {
		return "holds " + half + ", half a character: write both halves or remove it"
	}
	return ""
}

// valueText returns the text of any JSON value, or what is wrong with it.
func valueText(raw []byte) (text, wrong string) {
	switch raw[0] {
	case '"':
		return stringText(raw)
	case 'n':
		return "", ""
	case '{', '[':
		if what := cmp.Or(checkText(raw), checkEscapes(raw)); what != "" {
			return "", what
		}
		var out bytes.Buffer
		if err := json.Compact(&out, raw); err != nil {
			return "", "cannot be read"
		}
		return out.String(), ""
	}
	return string(raw), ""
}

// JSONText returns the text by which a table holds a JSON value: that of a
// string, "" for null, numbers and booleans as they are written, arrays and
// objects as JSON without white space. raw must be one valid JSON value. Text
// that a table cannot hold (NUL, bytes that are not UTF-8) is an error.
func JSONText(raw []byte) (string, error) {
	raw = bytes.Trim(raw, jsonSpace)
	if len(raw) == 0 {
		return "", crowd.Errorf(crowd.Invalid, "there is no value")
	}
	text, wrong := valueText(raw)
	if wrong != "" {
		return "", crowd.Errorf(crowd.Invalid, "the value %s", wrong)
	}
	return text, nil
}

// brokenJSON says where and why text is not JSON.
func brokenJSON(text []byte) string {
	var value json.RawMessage
	err := json.Unmarshal(text, &value)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(text)) && strings.Contains(syntax.Error(), "unexpected end"):
		return "the JSON breaks off: an object must stand on one line, whole"
	case errors.As(err, &syntax):
		return fmt.Sprintf("the JSON is broken at byte %d: %s", syntax.Offset, syntax.Error())
	}
	return "the JSON is broken"
}

// clip shortens a name that came from the file, for use in an error.
func clip(name string) string {
	const most = 100
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}
