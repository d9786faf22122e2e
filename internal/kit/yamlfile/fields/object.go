package fields

import (
	"cmp"
	"slices"

	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

// An Object is a mapping of which the fields are known. What is wrong with a field
// is noted when it is read, by Get, Set or List.
type Object struct {
	Node    *yamlfile.Node
	Strange bool // it has a field that is not known
	// Complete reports whether it has all fields that are needed.
	Complete bool

	notes  *yamlfile.Notes
	table  Fields
	fields map[string]*yamlfile.Node
}

// Read reads a mapping. It is nil if the node is none, which has been noted.
func Read(n *yamlfile.Notes, at *yamlfile.Node, table Fields) *Object {
	o := &Object{Node: at, notes: n, table: table, fields: map[string]*yamlfile.Node{}}
	known := table.Keys()
	isMapping := n.Mapping(at, "a mapping is wanted, like "+known[0]+": …", func(key string, k, v *yamlfile.Node) {
		switch {
		case !slices.Contains(known, key):
			n.Errorf(k, "there is no field %s here: %s", yamlfile.Quote(key), n.Hint(key, known, "known are "+yamlfile.Enumerate(known)))
			o.Strange = true
		case v.Kind == yamlfile.Nothing:
			n.Errorf(k, "%s has no value; leave it out, or say what it is", key)
		default:
			o.fields[key] = v
		}
	})
	if !isMapping {
		return nil
	}
	o.Complete = true
	for _, f := range table {
		if f.need != "" && !o.Need(f.Key, f.need) {
			o.Complete = false
		}
	}
	return o
}

// Has reports whether the object has a field.
func (o *Object) Has(key string) bool { return o.fields[key] != nil }

// Len returns the number of fields.
func (o *Object) Len() int { return len(o.fields) }

// Value returns the value of a field, or nil.
func (o *Object) Value(key string) *yamlfile.Node { return o.fields[key] }

// Place returns the value of a field, or else the whole: where to complain about it.
func (o *Object) Place(key string) *yamlfile.Node { return cmp.Or(o.fields[key], o.Node) }

// Need reports whether the object has a field. If not, that is noted.
func (o *Object) Need(key, like string) bool {
	if !o.Has(key) {
		o.notes.Missing(o.Node, key, like)
	}
	return o.Has(key)
}

// NeedAll reports whether the object has several fields. Those missing are noted.
func (o *Object) NeedAll(like string, keys ...string) bool {
	ok := true
	for _, key := range keys {
		ok = o.Need(key, "like "+like) && ok
	}
	return ok
}

// One returns which of several fields is there, of which exactly one must be.
func (o *Object) One(of string, keys ...string) string {
	found := ""
	for _, key := range keys {
		if !o.Has(key) {
			continue
		}
		if found != "" {
			o.notes.Errorf(o.fields[key], "%s is said by %s already; leave one of them out", of, found)
			return ""
		}
		found = key
	}
	if found == "" && !o.Strange {
		o.notes.Errorf(o.Node, "%s is missing: one of %s", of, yamlfile.Enumerate(keys))
	}
	return found
}

// List returns the items of a field that is a list.
func (o *Object) List(key string) []*yamlfile.Node {
	n := o.fields[key]
	most := o.field(key).most
	switch {
	case n == nil:
	case n.Kind != yamlfile.List:
		o.notes.Errorf(n, "%s is a list, with - before each item; here is %s", key, n.What())
	case len(n.Items) == 0:
		o.notes.Errorf(n, "%s is empty; leave it out, or say what is in it", key)
	case len(n.Items) > most:
		o.notes.Errorf(n, "%s has %d items (at most %d)", key, len(n.Items), most)
	default:
		return n.Items
	}
	return nil
}

// field returns what a field is. It panics if the table has none of the key.
func (o *Object) field(key string) *Field {
	i := slices.IndexFunc(o.table, func(f Field) bool { return f.Key == key })
	if i < 0 {
		panic("fields: no field " + key + " among " + yamlfile.Enumerate(o.table.Keys()))
	}
	return &o.table[i]
}

// Get reads a field that is a scalar of type T; not ok where it is not there, or
// wrong, which has been noted.
func Get[T any](o *Object, key string) (v T, ok bool) {
	f := o.field(key)
	if !o.Has(key) {
		return v, false
	}
	value, ok := yamlfile.ReadScalar(o.notes, o.fields[key], f.want, f.read)
	if !ok {
		return v, false
	}
	return value.(T), true
}

// Set reads a field into a variable, which stays as it is where the field is not
// there, or wrong.
func Set[T any](o *Object, key string, to *T) bool {
	v, ok := Get[T](o, key)
	if ok {
		*to = v
	}
	return ok
}
