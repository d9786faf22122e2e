package fields

import (
	"bytes"
	"encoding/json"
)

// Members are a JSON object whose members keep their order.
type Members []Member

// A Member is one of them.
type Member struct {
	Name  string
	Value any
}

// MarshalJSON writes the members in order.
func (o Members) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		for j, part := range []any{m.Name, m.Value} {
			var text bytes.Buffer
			e := json.NewEncoder(&text)
			e.SetEscapeHTML(false)
			if err := e.Encode(part); err != nil {
				return nil, err
			}
			out = append(append(out, text.Bytes()...), ":"[j:]...)
		}
	}
	return append(out, '}'), nil
}

// Schema returns the JSON Schema (draft 2020-12) of a language, which editors know how
// to use. A file without problems fits it; the other way round, more is checked of a
// file.
func (t *Type) Schema(title string) []byte {
	m := Members{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(append(m, t.schema()...)); err != nil {
		panic("fields: the schema cannot be written: " + err.Error()) // it is made of texts and numbers
	}
	return out.Bytes()
}

// schema returns the members of the JSON Schema of the type.
func (t *Type) schema() (o Members) {
	add := func(name string, value any) { o = append(o, Member{name, value}) }
	atLeast := func(name string, n int) {
		if n > 0 {
			add(name, n)
		}
	}
	if t.doc != "" {
		add("description", t.doc)
	}
	switch t.form {
	case scalar:
		o = append(o, t.json...)
	case list:
		add("type", "array")
		atLeast("minItems", t.least)
		atLeast("maxItems", t.most)
		add("items", t.of.schema())
	case mapping:
		add("type", "object")
		add("minProperties", t.least)
		add("maxProperties", t.most)
		for _, m := range t.key.json {
			if m.Name == "pattern" {
				add("propertyNames", Members{m})
			}
		}
		add("additionalProperties", t.of.schema())
	case object:
		o = append(o, t.objectSchema()...)
	case either:
		var list []Members
		for _, e := range t.either {
			list = append(list, e.schema())
		}
		add("anyOf", list)
	case anything:
		add("type", "object")
	}
	return o
}

func (t *Type) objectSchema() Members {
	o := Members{{"type", "object"}}
	var required []string
	var properties Members
	for _, f := range t.fields {
		properties = append(properties, Member{f.Key, f.Type.schema()})
		if f.need != "" {
			required = append(required, f.Key)
		}
	}
	o = append(o, Member{"properties", properties})
	if required != nil {
		o = append(o, Member{"required", required})
	}
	var oneOf []Members
	for _, name := range t.oneOf {
		oneOf = append(oneOf, Members{{"required", []string{name}}})
	}
	if oneOf != nil {
		o = append(o, Member{"oneOf", oneOf})
	}
	return append(o, Member{"additionalProperties", false})
}
