// Package jsonschema checks JSON values against a JSON Schema (draft 2020-12
// unless $schema names another). A schema comes from a user, so it is bounded:
// it can refer to nothing outside itself, not to itself in a circle, and not
// to so much that checking a small value would take long.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/pattern"
)

const (
	// MaxBytes is how long the text of a schema may be.
	MaxBytes = 64 << 10
	// maxSteps is how many schemas one may unfold to when each reference is
	// replaced by what it refers to: a value is checked at most that often.
	maxSteps = 2000
	// maxMatching bounds the instructions of the patterns times the bytes of a value
	// that is checked: at most a second of a core.
	maxMatching = 30_000_000
	// maxProblems is how many problems of a value Check reports.
	maxProblems = 3
	// base is the address of the schema itself. No host can have this name
	// (RFC 2606).
	base = "https://schema.invalid/"
)

// Kind is the type of a column that a property becomes.
type Kind string

// The kinds.
const (
	Number Kind = "number"
	Bool   Kind = "bool"
	Text   Kind = "text" // strings; arrays and objects as their JSON text
)

// Property is one of the properties that an object has.
type Property struct {
	Name     string
	Kind     Kind
	Required bool
}

// Schema is a compiled schema. It does not change, so several goroutines may
// use it at a time.
type Schema struct {
	root       *jsonschema.Schema
	properties []Property
	patterns   int // see Patterns
	raw        string
}

// Compile reads a schema from its JSON text. An error names the place in it as
// a JSON pointer (RFC 6901), with # for the whole. "format" is checked, not
// only noted as draft 2020-12 would have it: whoever writes it means it.
func Compile(raw []byte) (*Schema, error) {
	if len(raw) > MaxBytes {
		return nil, crowd.Errorf(crowd.TooLarge, "the schema has %d bytes, at most %s are allowed", len(raw), format.Bytes(MaxBytes))
	}
	doc, err := parse(raw)
	if err != nil {
		return nil, crowd.Errorf(crowd.Invalid, "the schema %v", err)
	}
	if at, what := unfit(doc, ""); what != "" {
		return nil, crowd.Fieldf("#"+at, "%s", what)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(nothing{})
	c.UseRegexpEngine(func(text string) (jsonschema.Regexp, error) { return pattern.Parse(text) })
	if err := c.AddResource(base, doc); err != nil {
		return nil, crowd.Errorf(crowd.Invalid, "the schema cannot be used: %v", err)
	}
	root, err := c.Compile(base)
	if err != nil {
		return nil, explain(err)
	}
	patterns, err := bounded(root)
	if err != nil {
		return nil, err
	}
	s := &Schema{root: root, patterns: patterns, raw: string(raw)}
	names, err := order(raw)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		s.properties = append(s.properties, Property{Name: name, Kind: kindOf(root.Properties[name]), Required: slices.Contains(root.Required, name)})
	}
	return s, nil
}

// String returns the text that the schema was compiled from.
func (s *Schema) String() string { return s.raw }

// Properties returns the top-level properties of a schema for objects, in the
// order in which they stand in its text. Those that a "$ref" or "allOf" brings
// in are not among them. The caller must not change the slice.
func (s *Schema) Properties() []Property { return s.properties }

// Patterns is how many instructions the patterns of the schema have, each counted as often
// as it is applied, and at most math.MaxInt32. How much memory they take is in proportion to
// it, from when something is first checked.
func (s *Schema) Patterns() int { return s.patterns }

// Check says what is wrong with a value, given as JSON text: the first few
// problems, each with its JSON pointer and what would be right.
func (s *Schema) Check(value []byte) error {
	if s.patterns > 0 && len(value) > maxMatching/s.patterns {
		return crowd.Errorf(crowd.TooLarge, "the value has %d bytes, and against the patterns of its schema at most %d can be checked", len(value), maxMatching/s.patterns)
	}
	v, err := parse(value)
	if err != nil {
		return crowd.Errorf(crowd.Invalid, "the value %v", err)
	}
	if at, what := unfit(v, ""); what != "" {
		return crowd.Errorf(crowd.Invalid, "%s: %s", place(at), what)
	}
	err = s.root.Validate(v)
	var wrong *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &wrong):
		return crowd.Errorf(crowd.Invalid, "the value does not fit: %v", err)
	}
	list := problems(wrong)
	text := make([]string, 0, maxProblems+1)
	for i, p := range list {
		if i == maxProblems {
			text = append(text, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		text = append(text, p.String())
	}
	return crowd.Errorf(crowd.Invalid, "%s", strings.Join(text, "; "))
}

// parse reads one JSON value and keeps numbers as they are written.
func parse(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	var syntax *json.SyntaxError
	switch err := d.Decode(&v); {
	case errors.As(err, &syntax):
		return nil, fmt.Errorf("is not JSON: at byte %d: %w", syntax.Offset, err)
	case err != nil:
		return nil, errors.New("is not JSON: it is empty or breaks off")
	}
	if d.More() || len(bytes.TrimSpace(raw[d.InputOffset():])) > 0 {
		return nil, errors.New("is not JSON: something follows after the first value")
	}
	return v, nil
}

// maxDepth is how deep arrays and objects may stand in each other.
const maxDepth = 100

// unfit finds what would cost too much to check: a number of a huge exponent
// (it is computed exactly), values deep in each other.
func unfit(v any, at string) (where, what string) {
	if strings.Count(at, "/") > maxDepth {
		return at, fmt.Sprintf("it stands more than %d levels deep", maxDepth)
	}
	switch v := v.(type) {
	case json.Number:
		if !ordinary(string(v)) {
			return at, fmt.Sprintf("the number %s is too long, too large or too small", format.Clip(string(v), 40))
		}
	case []any:
		for i, e := range v {
			if where, what := unfit(e, at+"/"+strconv.Itoa(i)); what != "" {
				return where, what
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if where, what := unfit(v[k], at+"/"+escape(k)); what != "" {
				return where, what
			}
		}
	}
	return "", ""
}

// exponent finds a number's exponent.
var exponent = regexp.MustCompile(`[eE]([+-]?\d+)$`)

// ordinary reports whether a number is one that a float64 could stand for, give
// or take its precision.
func ordinary(n string) bool {
	const longest, most = 100, 308
	if len(n) > longest {
		return false
	}
	e := exponent.FindStringSubmatch(n)
	if e == nil {
		return true
	}
	x, err := strconv.Atoi(e[1])
	return err == nil && x >= -most && x <= most
}

// nothing loads nothing: a schema stands for itself.
type nothing struct{}

func (nothing) Load(string) (any, error) {
	return nil, errors.New("nothing outside of the schema is loaded: put it under $defs and refer to it as #/$defs/NAME")
}

// order returns the names of the top-level properties as they stand in the
// text. The text is known to be valid JSON.
func order(raw []byte) ([]string, error) {
	top, err := fields(raw)
	if err != nil {
		return nil, err
	}
	for _, f := range top {
		if f.name != "properties" {
			continue
		}
		list, err := fields(f.value)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, p := range list {
			if slices.Contains(names, p.name) {
				return nil, crowd.Fieldf("#/properties/"+escape(p.name), "the property stands here twice")
			}
			names = append(names, p.name)
		}
		return names, nil
	}
	return nil, nil
}

type field struct {
	name  string
	value json.RawMessage
}

// fields returns what an object holds, in order; nothing for other values.
func fields(raw []byte) ([]field, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, nil //nolint:nilerr // true and false are schemas, too; text that is not JSON was refused
	}
	var list []field
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var f field
		f.name, _ = name.(string)
		if err := d.Decode(&f.value); err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// kindOf says what column holds a property's values: a number or a bool where
// the schema allows nothing else (or null, the empty cell).
func kindOf(s *jsonschema.Schema) Kind {
	for s != nil && s.Types == nil && s.Ref != nil {
		s = s.Ref // there are no circles: see bounded
	}
	if s == nil {
		return Text
	}
	if s.Types != nil {
		return kindOfTypes(s.Types.ToStrings())
	}
	values := []any{}
	if s.Enum != nil {
		values = s.Enum.Values
	}
	if s.Const != nil {
		values = []any{*s.Const}
	}
	var types []string
	for _, v := range values {
		switch v.(type) {
		case nil:
			types = append(types, "null")
		case bool:
			types = append(types, "boolean")
		case json.Number:
			types = append(types, "number")
		default:
			types = append(types, "string")
		}
	}
	return kindOfTypes(types)
}

func kindOfTypes(types []string) Kind {
	var kind Kind
	for _, t := range types {
		k := Text
		switch t {
		case "null":
			continue
		case "number", "integer":
			k = Number
		case "boolean":
			k = Bool
		}
		if kind != "" && kind != k {
			return Text
		}
		kind = k
	}
	if kind == "" {
		return Text
	}
	return kind
}
