package scim

import (
	"maps"
	"slices"
	"strings"
)

// The schemas.
const (
	userSchema  = "urn:ietf:params:scim:schemas:core:2.0:User"
	groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group"
	messages    = "urn:ietf:params:scim:api:messages:2.0:"
	coreSchema  = "urn:ietf:params:scim:schemas:core:2.0:"
)

// kind is what the values of an attribute are.
type kind string

const (
	text      kind = "string"
	boolean   kind = "boolean"
	instant   kind = "dateTime"
	reference kind = "reference"
	complex   kind = "complex"
)

// attribute is an attribute of a resource, or a part of one.
type attribute struct {
	name     string
	kind     kind
	about    string
	many     bool
	required bool
	exact    bool // text is compared with case
	fixed    bool // it is the server's to say: what is sent is left out
	unique   bool
	parts    []*attribute
}

// resource is a type of resource.
type resource struct {
	name, path, schema, about string
	attributes                []*attribute
}

// common are the attributes of every resource. What schemas are served of they leave out.
var common = []*attribute{
	{name: "id", kind: text, exact: true, fixed: true, unique: true},
	{name: "externalId", kind: text, exact: true},
	{name: "schemas", kind: reference, many: true, exact: true, fixed: true},
	{name: "meta", kind: complex, fixed: true, parts: []*attribute{
		{name: "resourceType", kind: text, exact: true, fixed: true},
		{name: "created", kind: instant, fixed: true},
		{name: "lastModified", kind: instant, fixed: true},
		{name: "location", kind: reference, exact: true, fixed: true},
		{name: "version", kind: text, exact: true, fixed: true},
	}},
}

var users = &resource{"User", "Users", userSchema, "A person", []*attribute{
	{name: "userName", kind: text, required: true, unique: true, about: "who they are at the provider, compared without case"},
	{name: "name", kind: complex, about: "the person's name", parts: []*attribute{
		{name: "formatted", kind: text, about: "the whole name"},
		{name: "givenName", kind: text, about: "the first name"},
		{name: "familyName", kind: text, about: "the last name"},
	}},
	{name: "displayName", kind: text, about: "the name to show, where name.formatted is not given"},
	{name: "active", kind: boolean, about: "false: suspended. What they hold goes to others at once"},
	{name: "emails", kind: complex, many: true, about: "addresses, of which the primary or first one is used", parts: []*attribute{
		{name: "value", kind: text, about: "the address"},
		{name: "type", kind: text, about: "such as work"},
		{name: "primary", kind: boolean, about: "it is the one to use"},
	}},
	{name: "groups", kind: complex, many: true, fixed: true, about: "the groups that they are in", parts: []*attribute{
		{name: "value", kind: text, exact: true, fixed: true, about: "id of the group"},
		{name: "$ref", kind: reference, exact: true, fixed: true, about: "address of the group"},
		{name: "display", kind: text, fixed: true, about: "name of the group"},
		{name: "type", kind: text, fixed: true, about: "direct"},
	}},
}}

var groups = &resource{"Group", "Groups", groupSchema, "A group of people", []*attribute{
	{name: "displayName", kind: text, required: true, unique: true, about: "its name, which the settings of the provider may give roles and a pool, compared without case here"},
	{name: "members", kind: complex, many: true, about: "the people in it", parts: []*attribute{
		{name: "value", kind: text, exact: true, about: "id of the person"},
		{name: "$ref", kind: reference, exact: true, fixed: true, about: "address of the person"},
		{name: "display", kind: text, fixed: true, about: "userName of the person"},
		{name: "type", kind: text, fixed: true, about: "User"},
	}},
}}

// find returns the attribute with a name, compared without case, or nil.
func find(list []*attribute, name string) *attribute {
	i := slices.IndexFunc(list, func(a *attribute) bool { return strings.EqualFold(a.name, name) })
	if i < 0 {
		return nil
	}
	return list[i]
}

// all are the attributes of a resource.
func (t *resource) all() []*attribute { return append(slices.Clone(common), t.attributes...) }

// document is a resource: its attributes by name.
type document = map[string]any

// read makes a document of what was sent: attributes by their names, values of their kind.
// What is not the sender's to say, and what is not known, is left out.
func read(sent document, list []*attribute) (document, error) {
	doc := document{}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		a, v := find(list, name), sent[name]
		if a == nil || a.fixed {
			continue
		}
		v, err := a.read(v)
		if err != nil {
			return nil, err
		}
		if v != nil {
			doc[a.name] = v
		}
	}
	return doc, nil
}

// read makes a value of the attribute of what was sent; nil: none.
func (a *attribute) read(v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	if !a.many {
		return a.readOne(v)
	}
	sent, ok := v.([]any)
	if !ok {
		sent = []any{v}
	}
	list := make([]any, 0, len(sent))
	for _, v := range sent {
		x, err := a.readOne(v)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

func (a *attribute) readOne(v any) (any, error) {
	switch x := v.(type) {
	case string:
		if a.kind == boolean { // Entra sends "True" and "False"
			switch {
			case strings.EqualFold(x, "true"):
				return true, nil
			case strings.EqualFold(x, "false"):
				return false, nil
			}
		}
		if a.kind == text || a.kind == reference {
			return x, nil
		}
	case bool:
		if a.kind == boolean {
			return x, nil
		}
	case document:
		if a.kind == complex {
			return read(x, a.parts)
		}
	}
	what := string(a.kind)
	if a.kind == complex {
		what = "object"
	}
	return nil, invalid("invalidValue", "%s: %.100s is no %s", a.name, show(v), what)
}
