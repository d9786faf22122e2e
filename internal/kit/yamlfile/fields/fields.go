// Package fields reads files of YAML by declaration: what may stand at each place, of
// which type and between which bounds, and what must be there. What is not declared is
// refused, and everything that is wrong is noted with its place and with what would be
// right. The JSON Schema of a language comes from the same declaration.
package fields

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/jsonform"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/similarity"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

// A form is the form of a type.
type form uint8

const (
	scalar   form = iota
	list          // of parts of one type
	mapping       // of names that the file chooses to parts of one type
	object        // of known fields
	either        // one of several types, of which at most one is a scalar, a list, a mapping
	anything      // which its owner reads
)

// A Type is what may stand at a place of a file.
type Type struct {
	form form
	doc  string
	want string // what is said where something else stands

	read    func(text string) (any, error) // of a scalar
	json    jsonform.Form                  // of a scalar: its JSON Schema
	example string                         // of a choice

	least, most int     // of a list or a mapping: how many parts it has; most 0: no bound
	key, of     *Type   // of a mapping: its names; of a list or a mapping: its parts
	fields      Fields  // of an object
	either      []*Type // the types of which it is one
	what        string  // of an object: what is said by exactly one of oneOf
	oneOf       []string
}

// Doc returns the type with a description, for the JSON Schema.
func (t *Type) Doc(doc string) *Type {
	documented := *t
	documented.doc = doc
	return &documented
}

// A Field is one field of an object.
type Field struct {
	Key  string
	Type *Type
	need string // what is said where it is missing; "": it may be
}

// Fields are those of an object, in the order in which messages name them.
type Fields []Field

// May makes a field that may be left out.
func May(key string, t *Type) Field { return Field{Key: key, Type: t} }

// Must makes a field that must be there.
func Must(key string, t *Type) Field { return Field{key, t, t.want} }

// As makes fields of the type, each of which may be left out.
func (t *Type) As(keys ...string) Fields {
	list := make(Fields, len(keys))
	for i, key := range keys {
		list[i] = May(key, t)
	}
	return list
}

// Of returns a table of all the fields in some.
func Of(some ...Fields) Fields { return slices.Concat(some...) }

// Needed returns the fields as such that must be there; like says what they are.
func (f Fields) Needed(like string) Fields {
	f = slices.Clone(f)
	for i := range f {
		f[i].need = like
	}
	return f
}

// Keys returns the keys of the fields.
func (f Fields) Keys() []string {
	return lists.Map(f, func(x Field) string { return x.Key })
}

// typeOf returns the type of a field, or nil if there is none of the key.
func (f Fields) typeOf(key string) *Type {
	if i := slices.IndexFunc(f, func(x Field) bool { return x.Key == key }); i >= 0 {
		return f[i].Type
	}
	return nil
}

// Any is what its owner reads.
var Any = &Type{form: anything, want: "leave it out, or say what it is"}

// Object makes a mapping with known fields; doc describes it, as Doc does.
func Object(doc string, list ...Field) *Type {
	return &Type{form: object, doc: doc, want: "a mapping is wanted, like {" + list[0].Key + ": …}", fields: list}
}

// ExactlyOne returns the object with the rule that exactly one of some fields is there,
// which say what.
func (t *Type) ExactlyOne(what string, keys ...string) *Type {
	ruled := *t
	ruled.what, ruled.oneOf = what, keys
	return &ruled
}

// List makes a list of least to most parts of a type.
func List(least, most int, of *Type) *Type {
	return &Type{form: list, want: "a list is wanted, like [a, b]", least: least, most: most, of: of}
}

// Map makes a mapping of 1 to most names, which are scalars of type key, to parts of a
// type.
func Map(most int, key, of *Type) *Type {
	return &Type{form: mapping, want: "a mapping of names is wanted, like {name: " + cmp.Or(of.example, "…") + "}", least: 1, most: most, key: key, of: of}
}

// Either makes what is of one of several types, told apart by whether they are scalars,
// lists or mappings.
func Either(of ...*Type) *Type {
	wants := lists.Map(of, func(t *Type) string { return t.want })
	return &Type{form: either, want: strings.Join(wants, ", or "), either: of}
}

// Scalar makes a scalar that is read as a T; want says what it is, and schema how a JSON
// Schema says so: names and values, in turns.
func Scalar[T any](want string, read func(text string) (T, error), schema ...any) *Type {
	return &Type{want: want, read: func(text string) (any, error) { return read(text) }, json: jsonform.Object(schema...)}
}

// anyScalar are the types in JSON of what stands in a file without quotes: a text may
// look like a number.
var anyScalar = []string{"string", "number", "boolean"}

// Text makes a string as it is written, of least (0 or 1) to most characters.
func Text(least, most int) *Type {
	schema := []any{"type", anyScalar}
	if least > 0 {
		schema = append(schema, "minLength", least)
	}
	return Scalar("a text is wanted", func(text string) (string, error) {
		n := utf8.RuneCountInString(text)
		switch {
		case least > 0 && strings.TrimSpace(text) == "":
			return "", errors.New("this text is empty")
		case n > most:
			return "", fmt.Errorf("this text has %d characters, at most %d are possible", n, most)
		case strings.ContainsRune(text, 0):
			return "", fmt.Errorf("this text has a NUL character (U+0000) as its character %d: leave it out", utf8.RuneCountInString(text[:strings.IndexByte(text, 0)])+1)
		}
		return text, nil
	}, append(schema, "maxLength", most)...)
}

// Choice makes a string that is one of several.
func Choice(choices ...string) *Type {
	t := Scalar("one of "+yamlfile.Enumerate(choices)+" is wanted", func(text string) (string, error) {
		if slices.Contains(choices, text) {
			return text, nil
		}
		if near := similarity.Nearest(text, choices); near != "" {
			return "", fmt.Errorf("%s is not known here: did you mean %s? (%s)", yamlfile.Quote(text), near, yamlfile.Enumerate(choices))
		}
		return "", fmt.Errorf("%s is not known here: it is one of %s", yamlfile.Quote(text), yamlfile.Enumerate(choices))
	}, "enum", choices)
	t.example = choices[0]
	return t
}

// Duration makes a time.Duration.
func Duration(least, most time.Duration) *Type {
	return Scalar(yamlfile.WantDuration, func(text string) (time.Duration, error) { return yamlfile.DurationIn(text, least, most) },
		"type", []string{"string", "number"}, "minimum", 0, "maximum", 0, // 0 needs no unit
		"pattern", yamlfile.DurationForm)
}

// Number makes a float64. Both bounds may be infinite.
func Number(least, most float64) *Type {
	want, schema := "a number is wanted", []any{"type", []string{"number", "string"}, "pattern", yamlfile.NumberForm}
	if !math.IsInf(most, 1) {
		want += fmt.Sprintf(", from %s to %s", format.Number(least), format.Number(most))
		schema = append(schema, "minimum", least, "maximum", most)
	}
	return Scalar(want, func(text string) (float64, error) { return yamlfile.NumberIn(text, least, most) }, schema...)
}

// Share is a float64 from 0 to 1.
var Share = Scalar(yamlfile.WantShare, yamlfile.ShareIn)

// Count makes an int.
func Count(least, most uint64) *Type {
	return Scalar(fmt.Sprintf("a whole number from %d to %d is wanted", least, most), func(text string) (int, error) {
		n, err := yamlfile.Count(text, least, most)
		return int(n), err
	}, "type", []string{"integer", "string"}, "pattern", yamlfile.CountForm, "minimum", least, "maximum", most)
}

// Bool is true or false.
var Bool = Scalar("true or false is wanted", yamlfile.Bool, "enum", []any{true, false, "true", "false"})
