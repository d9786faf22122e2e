package workflow

import (
	"bytes"
	"encoding/json"

	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

// Schema returns the JSON Schema (draft 2020-12) of the language, which editors
// know how to use. It is made of the shapes that Parse reads by. A file that
// Parse takes fits it; the other way round there is more that Parse checks.
func Schema() []byte {
	m := ordered{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"title", "Throng workflow"},
	}
	m = append(m, language.schema()...)
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		panic("workflow: the schema cannot be written: " + err.Error()) // it is made of texts and numbers
	}
	return out.Bytes()
}

// ordered is a JSON object whose members keep their order.
type ordered []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o ordered) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		for j, part := range []any{m.name, m.value} {
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

// anyScalar are the types of what stands in a file without quotes: a text may
// look like a number.
var anyScalar = []string{"string", "number", "boolean"}

// schema returns the members of the JSON Schema of the shape.
func (s *shape) schema() ordered {
	var o ordered
	add := func(name string, value any) { o = append(o, member{name, value}) }
	if s.doc != "" {
		add("description", s.doc)
	}
	switch s.form {
	case aText:
		add("type", anyScalar)
		if s.least > 0 {
			add("minLength", int(s.least))
		}
		if s.most > 0 {
			add("maxLength", int(s.most))
		}
	case aName, aWord:
		add("type", "string")
		add("pattern", nameForm.String())
	case aNumber, aCount:
		// In quotes it is a number, too.
		add("type", map[form][]string{aNumber: {"number", "string"}, aCount: {"integer", "string"}}[s.form])
		add("pattern", map[form]string{aNumber: yamlfile.NumberForm, aCount: yamlfile.CountForm}[s.form])
		if s.most != 0 {
			add("minimum", s.least)
			add("maximum", s.most)
		}
	case aBool:
		add("enum", []any{true, false, "true", "false"})
	case aMoney:
		add("type", []string{"number", "string"})
		add("exclusiveMinimum", 0)
		add("pattern", yamlfile.MoneyForm)
	case aDuration:
		add("type", []string{"string", "number"}) // 0 needs no unit
		add("minimum", 0)
		add("maximum", 0)
		add("pattern", yamlfile.DurationForm)
	case anInstant:
		add("type", "string")
		add("format", "date-time")
	case aChoice:
		add("enum", s.choices)
	case aList:
		add("type", "array")
		if s.least > 0 {
			add("minItems", int(s.least))
		}
		if s.most > 0 {
			add("maxItems", int(s.most))
		}
		add("items", s.of.schema())
	case aMap:
		add("type", "object")
		if s.least > 0 {
			add("minProperties", int(s.least))
		}
		if s.most > 0 {
			add("maxProperties", int(s.most))
		}
		if s.key != aText {
			add("propertyNames", ordered{{"pattern", nameForm.String()}})
		}
		add("additionalProperties", s.of.schema())
	case anObject:
		o = append(o, s.objectSchema()...)
	case anEither:
		var list []ordered
		for _, e := range s.either {
			list = append(list, e.schema())
		}
		add("anyOf", list)
	case aValue:
		add("type", "object")
	}
	return o
}

func (s *shape) objectSchema() ordered {
	o := ordered{{"type", "object"}}
	var required []string
	var properties ordered
	for _, f := range s.fields {
		properties = append(properties, member{f.name, f.shape.schema()})
		if f.must {
			required = append(required, f.name)
		}
	}
	o = append(o, member{"properties", properties})
	if required != nil {
		o = append(o, member{"required", required})
	}
	if s.exactlyOne != nil {
		var list []ordered
		for _, name := range s.exactlyOne {
			list = append(list, ordered{{"required", []string{name}}})
		}
		o = append(o, member{"oneOf", list})
	}
	return append(o, member{"additionalProperties", false})
}
