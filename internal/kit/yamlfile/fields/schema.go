package fields

import (
	"bytes"
	"encoding/json"

	"github.com/throng-dev/throng/internal/kit/jsonform"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// Schema returns the JSON Schema (draft 2020-12) of a language, which editors know how
// to use. A file without problems fits it; the other way round, more is checked of a
// file.
func (t *Type) Schema(title string) []byte {
	m := jsonform.Object("$schema", "https://json-schema.org/draft/2020-12/schema", "title", title)
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
func (t *Type) schema() (o jsonform.Form) {
	add := func(name string, value any) { o = o.With(name, value) }
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
		if pattern, ok := t.key.json.Value("pattern"); ok {
			add("propertyNames", jsonform.Object("pattern", pattern))
		}
		add("additionalProperties", t.of.schema())
	case object:
		o = append(o, t.objectSchema()...)
	case either:
		list := lists.Map(t.either, func(e *Type) jsonform.Form { return e.schema() })
		add("anyOf", list)
	case anything:
		add("type", "object")
	}
	return o
}

func (t *Type) objectSchema() jsonform.Form {
	var properties jsonform.Form
	var required []string
	var oneOf []jsonform.Form
	for _, f := range t.fields {
		properties = properties.With(f.Key, f.Type.schema())
		if f.need != "" {
			required = append(required, f.Key)
		}
	}
	for _, name := range t.oneOf {
		oneOf = append(oneOf, jsonform.Object("required", []string{name}))
	}
	return jsonform.Object("type", "object", "properties", properties, "required,omitempty", required, "oneOf,omitempty", oneOf, "additionalProperties", false)
}
