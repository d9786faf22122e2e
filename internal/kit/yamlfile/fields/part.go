package fields

import (
	"cmp"

	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

// A Part is a part of a file that has its type. The methods Get, Has, Name, Text and
// Parts may be called on nil, which is a part that is not there or was refused.
type Part struct {
	Key      *yamlfile.Node // that stands before it, or nil
	Node     *yamlfile.Node
	Scalar   any  // what was read of a scalar
	Strange  bool // an object that has a field that is not known
	Complete bool // an object that has all fields that are needed

	t     *Type
	notes *yamlfile.Notes
	parts []*Part
	named map[string]*Part
	known int
}

// Read reads a node. It is nil if the node is not of the type, which has been noted.
func (t *Type) Read(n *yamlfile.Notes, at *yamlfile.Node) *Part { return t.part(n, nil, at) }

// Read reads an object with some fields.
func Read(n *yamlfile.Notes, at *yamlfile.Node, table Fields) *Part {
	return Object("", table...).Read(n, at)
}

func (t *Type) part(n *yamlfile.Notes, key, at *yamlfile.Node) *Part {
	if at.Kind == yamlfile.Refused {
		return nil
	}
	p := &Part{Key: key, Node: at, t: t, notes: n}
	ok := true
	switch t.form {
	case scalar:
		p.Scalar, ok = yamlfile.ReadScalar(n, at, t.want, t.read)
	case list:
		ok = p.readList()
	case mapping, object:
		ok = p.readFields()
	case either:
		for _, of := range t.either {
			if of.kind() == at.Kind {
				return of.part(n, key, at)
			}
		}
		n.Errorf(at, "%s; here is %s", t.want, at.What())
		return nil
	}
	if !ok {
		return nil
	}
	return p
}

// kind returns the kind of node that a type is.
func (t *Type) kind() yamlfile.Kind {
	switch t.form {
	case list:
		return yamlfile.List
	case mapping, object:
		return yamlfile.Mapping
	}
	return yamlfile.Scalar
}

func (p *Part) readList() bool {
	t, n, items := p.t, p.notes, p.Node.Items
	switch {
	case p.Node.Kind != yamlfile.List:
		n.Errorf(p.Node, "%s; here is %s", t.want, p.Node.What())
		return false
	case len(items) < t.least:
		n.Errorf(p.Node, "this list is empty: leave it out, or say what is in it")
	case t.most > 0 && len(items) > t.most:
		n.Errorf(p.Node, "this list has %d items, at most %d are possible", len(items), t.most)
		return false
	}
	for _, item := range items {
		// An item that is refused keeps its place, so that numbers of items are right.
		p.parts = append(p.parts, t.of.part(n, nil, item))
	}
	return true
}

func (p *Part) readFields() bool {
	t, n := p.t, p.notes
	if many := len(p.Node.Fields); t.form == mapping && many > t.most {
		n.Errorf(p.start(), "here are %d, at most %d are possible", many, t.most)
		return false // what they say is not read: there may be very many
	}
	p.named = make(map[string]*Part, len(p.Node.Fields))
	isMapping := n.Mapping(p.Node, t.want, func(name string, k, v *yamlfile.Node) {
		of := t.of
		if t.form == mapping {
			if _, err := t.key.read(name); err != nil {
				n.Errorf(k, "%s", err)
			}
		} else if of = t.fields.typeOf(name); of == nil {
			n.Errorf(k, "there is no field %s here: %s", yamlfile.Quote(name), n.Hint(name, t.fields.Keys()))
			p.Strange = true
			return
		}
		p.known++
		if v.Kind == yamlfile.Nothing {
			n.Errorf(k, "%s has no value: %s", yamlfile.Clip(name), of.want)
			v.Kind = yamlfile.Refused // so that nothing more is said of it
		}
		if part := of.part(n, k, v); part != nil {
			p.parts, p.named[name] = append(p.parts, part), part
		}
	})
	if isMapping {
		p.checkFields()
	}
	return isMapping
}

// checkFields notes what is missing in a mapping, or too much.
func (p *Part) checkFields() {
	t := p.t
	if t.form == mapping && len(p.Node.Fields) < t.least {
		p.notes.Errorf(p.start(), "%s, and here is nothing", t.want)
	}
	p.Complete = true
	for _, f := range t.fields {
		if f.need != "" && !p.Need(f.Key, f.need) {
			p.Complete = false
		}
	}
	if t.oneOf != nil {
		p.One(t.what, t.oneOf...)
	}
}

// Get returns a field.
func (p *Part) Get(key string) *Part {
	if p == nil {
		return nil
	}
	return p.named[key]
}

// Has reports whether a field stands there, right or wrong.
func (p *Part) Has(key string) bool { return p != nil && p.Node.Field(key).Key != nil }

// Len returns how many known fields of an object stand there, right or wrong.
func (p *Part) Len() int { return p.known }

// Name returns the word before the part, or "".
func (p *Part) Name() string {
	if p == nil || p.Key == nil {
		return ""
	}
	return p.Key.Text
}

// Text returns the text of a scalar, as it is written.
func (p *Part) Text() string {
	if p == nil {
		return ""
	}
	return p.Node.Text
}

// Parts returns the items of a list, with nil for one that was refused, or the parts of
// a mapping that were not, in the order of the file.
func (p *Part) Parts() []*Part {
	if p == nil {
		return nil
	}
	return p.parts
}

// At is where the part stands.
func (p *Part) At() yamlfile.Place { return p.Node.Place }

// Start is where its name stands, or itself.
func (p *Part) Start() yamlfile.Place { return p.start().Place }

func (p *Part) start() *yamlfile.Node { return cmp.Or(p.Key, p.Node) }

// KeyPlace is where the name of a field stands, or else the part.
func (p *Part) KeyPlace(key string) yamlfile.Place {
	return cmp.Or(p.Node.Field(key).Key, p.Node).Place
}

// Value returns the value of a field, right or wrong, or nil.
func (p *Part) Value(key string) *yamlfile.Node { return p.Node.Field(key).Value }

// Place returns the value of a field, or else the whole: where to complain about it.
func (p *Part) Place(key string) *yamlfile.Node { return cmp.Or(p.Value(key), p.Node) }

// Need reports whether the object has a field. If not, that is noted.
func (p *Part) Need(key, like string) bool {
	if !p.Has(key) {
		p.notes.Missing(p.start(), key, like)
	}
	return p.Has(key)
}

// NeedAll reports whether the object has several fields. Those missing are noted.
func (p *Part) NeedAll(like string, keys ...string) bool {
	ok := true
	for _, key := range keys {
		ok = p.Need(key, "like "+like) && ok
	}
	return ok
}

// One returns which of several fields is there, of which exactly one must be.
func (p *Part) One(of string, keys ...string) string {
	found := ""
	for _, key := range keys {
		if !p.Has(key) {
			continue
		}
		if found != "" {
			p.notes.Errorf(p.Node.Field(key).Key, "%s is said by %s already; leave one of them out", of, found)
			return ""
		}
		found = key
	}
	if found == "" && !p.Strange {
		p.notes.Errorf(p.start(), "%s is missing: one of %s", of, yamlfile.Enumerate(keys))
	}
	return found
}

// List returns the items of a field that is a list of anything.
func (p *Part) List(key string) []*yamlfile.Node {
	var items []*yamlfile.Node
	for _, item := range p.Get(key).Parts() {
		if item != nil {
			items = append(items, item.Node)
		}
	}
	return items
}

// Get reads a field that is a scalar of type T; not ok where it is not there, or wrong.
// It panics if the object can have no such field.
func Get[T any](p *Part, key string) (v T, ok bool) {
	if p != nil && p.t.fields.typeOf(key) == nil {
		panic("fields: no field " + key + " among " + yamlfile.Enumerate(p.t.fields.Keys()))
	}
	if part := p.Get(key); part != nil {
		return part.Scalar.(T), true
	}
	return v, false
}

// Set reads a field into a variable, which stays as it is where the field is not there,
// or wrong.
func Set[T any](p *Part, key string, to *T) bool {
	v, ok := Get[T](p, key)
	if ok {
		*to = v
	}
	return ok
}

// Or reads a field; otherwise is what holds where it is not there, or wrong.
func Or[T any](p *Part, key string, otherwise T) T {
	Set(p, key, &otherwise)
	return otherwise
}
