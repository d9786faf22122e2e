// Package jsonform writes and reads JSON objects by tables: a member stands in
// a table once, with the variable that it is kept in, so that what is written is
// what is read.
package jsonform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// A Form is an object as a table of its members.
type Form []member

type member struct {
	name string
	at   any
	omit bool
}

// Object makes a form of names and what they stand for, in turns: a pointer to a
// variable, a List, an As, or, where it is only written, a value. A figure that is
// not finite is written as null. A name with ",omitempty" behind it is that of a
// member that is left out where there is nothing to write.
func Object(members ...any) Form {
	form := make(Form, 0, len(members)/2)
	for i := 0; i < len(members); i += 2 {
		name, omit := strings.CutSuffix(members[i].(string), ",omitempty")
		form = append(form, member{name, members[i+1], omit})
	}
	return form
}

// With is the form with another member behind the others; its name may be any
// text.
func (f Form) With(name string, at any) Form { return append(f, member{name: name, at: at}) }

// Value returns what a member stands for.
func (f Form) Value(name string) (at any, ok bool) {
	for _, m := range f {
		if m.name == name {
			return m.at, true
		}
	}
	return nil, false
}

// MarshalJSON writes the members in the order of the form.
func (f Form) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := f.write(&b)
	return b.Bytes(), err
}

func (f Form) write(b *bytes.Buffer) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false) // whoever encodes the whole decides
	b.WriteByte('{')
	first := true
	for _, m := range f {
		if m.omit && empty(m.at) {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		if err := e.Encode(m.name); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := write(b, m.at); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	b.WriteByte('}')
	return nil
}

// A writer writes itself: nothing is written twice, however deep it lies.
type writer interface{ write(*bytes.Buffer) error }

func write(b *bytes.Buffer, at any) error {
	switch v := at.(type) {
	case writer:
		return v.write(b)
	case float64:
		at = figure(v)
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false) // whoever encodes the whole decides
	return e.Encode(at)
}

// UnmarshalJSON reads the members in the order of the form. One that is missing
// leaves its variable as it is, and one that is not in the form is refused.
func (f Form) UnmarshalJSON(text []byte) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return err
	}
	for _, m := range f {
		value, ok := given[m.name]
		if !ok {
			continue
		}
		delete(given, m.name)
		if err := read(value, m.at); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	if len(given) > 0 {
		return fmt.Errorf("unknown field %q", slices.Min(slices.Collect(maps.Keys(given)))) // the same each time
	}
	return nil
}

// Figures is a list of figures: what is not finite is null in it.
func Figures(list []float64) any {
	return lists.Map(list, figure)
}

func figure(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return f + 0 // -0 is 0
}

func read(text []byte, at any) error {
	if u, ok := at.(json.Unmarshaler); ok {
		return u.UnmarshalJSON(text)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(at)
}

func empty(at any) bool {
	if z, ok := at.(interface{ IsZero() bool }); ok {
		return z.IsZero()
	}
	v := reflect.Indirect(reflect.ValueOf(at))
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Invalid:
		return true
	}
	return v.IsZero()
}

// List is a list of objects; of makes the form of one.
func List[T any](at *[]T, of func(*T) Form) any { return &list[T]{at, of} }

type list[T any] struct {
	at *[]T
	of func(*T) Form
}

func (l *list[T]) IsZero() bool { return len(*l.at) == 0 }

func (l *list[T]) write(b *bytes.Buffer) error {
	b.WriteByte('[')
	for i := range *l.at {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := l.of(&(*l.at)[i]).write(b); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func (l *list[T]) UnmarshalJSON(text []byte) error {
	var items []json.RawMessage
	if err := json.Unmarshal(text, &items); err != nil {
		return err
	}
	for _, item := range items {
		var v T
		if err := l.of(&v).UnmarshalJSON(item); err != nil {
			return err
		}
		*l.at = append(*l.at, v)
	}
	return nil
}

// As is a variable that JSON has in another form: get makes it, and set takes it,
// once the members that stand before it have been read.
func As[T any](get func() T, set func(T)) any { return &as[T]{get, set} }

type as[T any] struct {
	get func() T
	set func(T)
}

func (a *as[T]) IsZero() bool                { return empty(a.get()) }
func (a *as[T]) write(b *bytes.Buffer) error { return write(b, a.get()) }

func (a *as[T]) UnmarshalJSON(text []byte) error {
	var v T
	err := json.Unmarshal(text, &v)
	a.set(v)
	return err
}
