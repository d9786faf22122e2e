package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/jsonform"
	"github.com/throng-dev/throng/internal/wire"
)

// fastJSON is huma's JSON format, except for replies that have a faster way of
// their own.
var fastJSON = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		fast, ok := v.(interface{ AppendJSON([]byte) []byte })
		if !ok {
			return huma.DefaultJSONFormat.Marshal(w, v)
		}
		_, err := w.Write(append(fast.AppendJSON(make([]byte, 0, 1024)), '\n'))
		return err
	},
	Unmarshal: func(data []byte, v any) error {
		d := json.NewDecoder(bytes.NewReader(data))
		if _, lean := v.(*wire.Submit); lean {
			d.DisallowUnknownFields() // there is no other check
		}
		err := d.Decode(v)
		if err == nil && d.More() {
			err = errors.New("text follows the JSON value")
		}
		if err == nil {
			err = brokenText(data)
		}
		if _, toCheck := v.(*any); toCheck && err == nil {
			if name := twice(data); name != "" {
				err = fmt.Errorf("%s: it is there twice", name)
			}
		}
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) && kind.Type == reflect.TypeFor[float64]() {
			if field, number := tooLarge(data); number != "" {
				return fmt.Errorf("%s%s is too large a number", field, number)
			}
		}
		var text *crowd.Error
		if errors.As(err, &text) {
			if name := wrongProperty(data, v, err); name != "" {
				return &crowd.Error{Code: text.Code, Field: name, Message: text.Message}
			}
		}
		return inUsersWords(err)
	},
}

// wrongProperty returns the name of the property of an object whose value, a text, alone gives
// the error err when it is decoded into what v is: the error of a text that is no id names what
// it should be, and not the property; "": there is none.
func wrongProperty(data []byte, v any, err error) string {
	d := json.NewDecoder(bytes.NewReader(data))
	if token, _ := d.Token(); token != json.Delim('{') {
		return ""
	}
	for d.More() {
		name, _ := d.Token()
		text, is := name.(string)
		var value json.RawMessage
		if !is || d.Decode(&value) != nil {
			return ""
		}
		if !bytes.HasPrefix(value, []byte{'"'}) {
			continue
		}
		alone, _ := json.Marshal(map[string]json.RawMessage{text: value}) // it was decoded just now
		if e := json.Unmarshal(alone, reflect.New(reflect.TypeOf(v).Elem()).Interface()); e != nil && e.Error() == err.Error() {
			return text
		}
	}
	return ""
}

// Names of properties are compared as they are written. Go's decoder also takes Name for
// name, and of two the last, or what both have: what was checked would not be what is
// decoded.
func init() { huma.ValidateStrictCasing = true }

// brokenText says where a JSON text has what Go's decoder takes for U+FFFD: bytes that are not
// UTF-8, and escapes that stand for half of a character.
func brokenText(data []byte) error {
	if half, at := jsonform.LoneSurrogate(data); half != "" {
		return fmt.Errorf("%s%s is half a character: write both halves or remove it", property(data, at), half)
	}
	for i := 0; !utf8.Valid(data[i:]); i++ {
		if r, width := utf8.DecodeRune(data[i:]); r != utf8.RuneError || width > 1 {
			i += width - 1
			continue
		}
		return fmt.Errorf("%sis not UTF-8 text", cmp.Or(property(data, i), "the body "))
	}
	return nil
}

// property returns the name of the property of a valid JSON text in which a byte of it lies,
// before ": ", with those of the objects around it; "": it lies in none.
func property(data []byte, at int) string {
	var path []string
	for {
		d := json.NewDecoder(bytes.NewReader(data))
		if token, err := d.Token(); err != nil || token != json.Delim('{') {
			break
		}
		var name json.Token
		var value json.RawMessage
		for d.More() && int(d.InputOffset()) <= at {
			name, _ = d.Token()
			_ = d.Decode(&value) // valid
		}
		begin := int(d.InputOffset()) - len(value)
		if at < begin { // in the name itself
			break
		}
		path = append(path, fmt.Sprint(name))
		data, at = value, at-begin
	}
	if len(path) == 0 {
		return ""
	}
	return strings.Join(path, ".") + ": "
}

// twice returns a name that an object in a JSON text has twice; "": there is none, or
// the text is none.
func twice(data []byte) string {
	type object struct {
		names  map[string]bool // nil: an array
		atName bool
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var open []object
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		if delim, is := token.(json.Delim); is {
			switch delim {
			case '{':
				open = append(open, object{names: map[string]bool{}, atName: true})
				continue
			case '[':
				open = append(open, object{})
				continue
			}
			open = open[:len(open)-1] // } or ]: a value has ended
		}
		if len(open) == 0 {
			return ""
		}
		in := &open[len(open)-1]
		if in.names == nil {
			continue
		}
		if name, is := token.(string); is && in.atName {
			if in.names[name] {
				return name
			}
			in.names[name] = true
			in.atName = false
			continue
		}
		in.atName = true
	}
}

// tooLarge returns a number in a JSON text that is beyond all that a float64 holds, and the
// name of its property, before ": "; "": there is none.
func tooLarge(data []byte) (field, number string) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var top any
	if d.Decode(&top) != nil {
		return "", ""
	}
	var look func(path string, v any)
	look = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				look(strings.TrimPrefix(path+"."+name, "."), v[name])
			}
		case []any:
			for i, x := range v {
				look(fmt.Sprintf("%s[%d]", path, i), x)
			}
		case json.Number:
			if _, err := v.Float64(); err != nil && number == "" {
				if number = v.String(); path != "" {
					field = path + ": "
				}
			}
		}
	}
	look("", top)
	return field, number
}

// inUsersWords says what is wrong with a body without words of Go.
func inUsersWords(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind) && kind.Field != "":
		field := kind.Field
		if outer, inner, _ := strings.Cut(field, "."); outer != "" && outer[0] <= 'Z' && inner != "" {
			field = inner // the outer one is a Go type: no name in our JSON begins with a capital
		}
		if number, is := strings.CutPrefix(kind.Value, "number "); is && kind.Type.Kind() >= reflect.Int && kind.Type.Kind() <= reflect.Uint64 {
			return fmt.Errorf("%s: %s does not fit here: a whole number is wanted, written in digits alone, of at most %d bits", field, number, kind.Type.Bits())
		}
		return fmt.Errorf("%s: a %s does not fit here", field, kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("a JSON object is wanted, not a %s", kind.Value)
	}
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return fmt.Errorf("%s: unexpected property", strings.Trim(name, `"`))
	}
	return err
}
