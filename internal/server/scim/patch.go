package scim

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

const patchOp = messages + "PatchOp"

// maxOperations is how many operations a PATCH has at most.
const maxOperations = 1000

// operation is one of a PATCH.
type operation struct {
	op    string // add, replace or remove
	path  string // "": the resource
	value any
}

// operationsOf reads a PATCH.
func operationsOf(body document) ([]operation, error) {
	schemas, _ := body["schemas"].([]any)
	if len(schemas) > 0 && !slices.Contains(schemas, any(patchOp)) {
		return nil, invalid("invalidSyntax", "schemas: %s is wanted", patchOp)
	}
	sent, ok := field(body, "Operations").([]any)
	switch {
	case !ok || len(sent) == 0:
		return nil, invalid("invalidSyntax", "Operations: a list is wanted, each with op, path and value")
	case len(sent) > maxOperations:
		return nil, &failure{status: 413, detail: "Operations: more than 1000 are not allowed at once"}
	}
	var list []operation
	for i, v := range sent {
		x, _ := v.(document)
		op, _ := field(x, "op").(string)
		path, isText := field(x, "path").(string)
		o := operation{strings.ToLower(op), strings.TrimSpace(path), field(x, "value")} // Entra sends Add, Replace and Remove
		switch {
		case !slices.Contains([]string{"add", "replace", "remove"}, o.op):
			return nil, invalid("invalidSyntax", "Operations[%d].op: %.100q is none of add, replace and remove", i, op)
		case field(x, "path") != nil && !isText:
			return nil, invalid("invalidPath", "Operations[%d].path: a text is wanted", i)
		case o.op == "remove" && o.path == "":
			return nil, invalid("noTarget", "Operations[%d].path: say what to remove", i)
		case o.op != "remove" && o.value == nil:
			return nil, invalid("invalidValue", "Operations[%d].value: is missing", i)
		}
		list = append(list, o)
	}
	return list, nil
}

// field returns a part of a document by its name, compared without case.
func field(doc document, name string) any {
	if v, there := doc[name]; there {
		return v
	}
	for k, v := range doc {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return nil
}

// patch carries out operations on a document. What is about attributes that are not kept
// here, or not the sender's to say, has no effect.
func patch(doc document, list []operation, of *resource) error {
	for _, o := range list {
		if o.path != "" {
			if err := apply(doc, o, of); err != nil {
				return err
			}
			continue
		}
		parts, ok := o.value.(document) // Okta sends no path, Entra paths in place of names
		if !ok {
			return invalid("invalidValue", "value: without a path, an object is wanted")
		}
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			v := parts[name]
			if strings.EqualFold(name, of.schema) { // all attributes of the schema
				if inner, ok := v.(document); ok {
					if err := patch(doc, []operation{{o.op, "", inner}}, of); err != nil {
						return err
					}
				}
				continue
			}
			if err := apply(doc, operation{o.op, name, v}, of); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply carries out an operation with a path.
func apply(doc document, o operation, of *resource) error {
	t, err := parsePath(o.path, of)
	var not *unknown
	if errors.As(err, &not) {
		return nil
	}
	if err != nil {
		return err
	}
	a := t.attribute
	if a.fixed || t.part != nil && t.part.fixed {
		return nil
	}
	switch {
	case a.many:
		return applyMany(doc, o, &t)
	case t.part != nil:
		return applyPart(doc, o, &t)
	case o.op == "remove" || o.value == nil:
		delete(doc, a.name)
		return nil
	}
	v, err := a.read(o.value)
	if err != nil {
		return err
	}
	if parts, ok := v.(document); ok { // the parts that are said, of one value
		was, _ := doc[a.name].(document)
		v = merged(was, parts)
	}
	doc[a.name] = v
	return nil
}

func merged(was, parts document) document {
	both := document{}
	maps.Copy(both, was)
	maps.Copy(both, parts)
	return both
}

// applyPart is apply to a part of an attribute with one value.
func applyPart(doc document, o operation, t *target) error {
	was, _ := doc[t.attribute.name].(document)
	now := merged(was, nil)
	if o.op == "remove" || o.value == nil {
		delete(now, t.part.name)
	} else {
		v, err := t.part.read(o.value)
		if err != nil {
			return err
		}
		now[t.part.name] = v
	}
	doc[t.attribute.name] = now
	return nil
}

// applyMany is apply to an attribute with a list of values.
func applyMany(doc document, o operation, t *target) error {
	a := t.attribute
	was, _ := doc[a.name].([]any)
	var now []any
	var err error
	switch {
	case o.op == "remove" && t.part == nil:
		now, err = without(was, o, t)
	case t.where == nil && t.part == nil:
		now, err = with(was, o, a)
	default:
		now, err = within(was, o, t)
	}
	if err != nil {
		return err
	}
	doc[a.name] = now
	return nil
}

// without removes the values that are meant: of a condition, those for which it holds; of a
// value, which Entra sends in place of one, the same ones; else all.
func without(was []any, o operation, t *target) ([]any, error) {
	if t.where != nil {
		return slices.DeleteFunc(slices.Clone(was), func(v any) bool { x, _ := v.(document); return t.where.holds(x) }), nil
	}
	if o.value == nil {
		return nil, nil
	}
	sent, err := t.attribute.read(o.value)
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for _, v := range sent.([]any) {
		gone[t.attribute.key(v)] = true
	}
	return slices.DeleteFunc(slices.Clone(was), func(v any) bool { return gone[t.attribute.key(v)] }), nil
}

// key is what tells the values of a list apart: their parts value and, if it is sent, type.
func (a *attribute) key(v any) string {
	x, _ := v.(document)
	if kind := find(a.parts, "type"); kind == nil || kind.fixed {
		return textOf(x, "value")
	}
	return textOf(x, "value") + "\x00" + strings.ToLower(textOf(x, "type"))
}

// with replaces the values of a list, or adds those that are not there.
func with(was []any, o operation, a *attribute) ([]any, error) {
	v, err := a.read(o.value)
	if err != nil {
		return nil, err
	}
	sent := v.([]any)
	if o.op == "replace" {
		return sent, nil
	}
	now, there := slices.Clone(was), make(map[string]bool, len(was))
	for _, v := range was {
		there[a.key(v)] = true
	}
	for _, v := range sent {
		if k := a.key(v); !there[k] {
			there[k] = true
			now = append(now, v)
		}
	}
	return primary(now, len(was)), nil
}

// primary leaves one value of a list the primary one: the last of those from an index on
// that say so.
func primary(list []any, from int) []any {
	for i := len(list) - 1; i >= from; i-- {
		if x, _ := list[i].(document); x["primary"] == true {
			for j, v := range list {
				if y, _ := v.(document); j != i && y["primary"] == true {
					list[j] = merged(y, document{"primary": false})
				}
			}
			return list
		}
	}
	return list
}

// within changes the values for which a condition holds, or a part of them.
func within(was []any, o operation, t *target) ([]any, error) {
	now, hit := slices.Clone(was), false
	for i, v := range was {
		x, _ := v.(document)
		if t.where != nil && !t.where.holds(x) {
			continue
		}
		hit = true
		y, err := changed(x, o, t)
		if err != nil {
			return nil, err
		}
		now[i] = y
		if y["primary"] == true && x["primary"] != true {
			moved := append(slices.Delete(slices.Clone(now), i, i+1), y)
			now = slices.Insert(primary(moved, len(moved)-1)[:len(moved)-1], i, any(y))
		}
	}
	switch {
	case hit || o.op == "remove":
		return now, nil
	case o.op == "replace" && t.where != nil && t.part == nil, t.where == nil:
		return nil, invalid("noTarget", "path: no value of %s is meant", t.attribute.name)
	}
	// Entra adds, and replaces, emails[type eq "work"].value where there is none of the type.
	fresh := document{}
	if !equals(t.where, fresh) {
		return nil, invalid("noTarget", "path: no value of %s is meant", t.attribute.name)
	}
	y, err := changed(fresh, o, t)
	if err != nil {
		return nil, err
	}
	return primary(append(now, y), len(now)), nil
}

// changed returns a value of a list after an operation.
func changed(x document, o operation, t *target) (document, error) {
	if t.part == nil {
		v, err := t.attribute.readOne(o.value)
		if err != nil {
			return nil, err
		}
		if o.op == "replace" {
			return v.(document), nil
		}
		return merged(x, v.(document)), nil
	}
	y := merged(x, nil)
	if o.op == "remove" || o.value == nil {
		delete(y, t.part.name)
		return y, nil
	}
	v, err := t.part.read(o.value)
	y[t.part.name] = v
	return y, err
}

// equals sets the parts of a value that a condition compares with eq, and reports whether
// it is made of such alone.
func equals(c *condition, x document) bool {
	switch {
	case c.op == "and":
		return equals(c.left, x) && equals(c.right, x)
	case c.op == "eq" && c.value != nil && c.at.where == nil && c.at.part == nil:
		x[c.at.attribute.name] = c.value
		return true
	}
	return false
}
