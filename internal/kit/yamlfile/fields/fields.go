// Package fields reads mappings of YAML by tables: what a mapping may hold, of which
// type and between which bounds, and what must be there. What is not in the table is
// refused, and everything that is wrong is noted with its place.
package fields

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

// A Field is what one field of a mapping is.
type Field struct {
	Key  string
	need string // what is said where the field is missing; "": it may be
	want string // of a scalar: what is said where something else stands
	read func(text string) (any, error)
	most int // items of a list; 0: it is none
}

// Fields are those of a mapping, in the order in which messages name them.
type Fields []Field

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
	keys := make([]string, len(f))
	for i := range f {
		keys[i] = f[i].Key
	}
	return keys
}

// Any makes fields that their owner reads.
func Any(keys ...string) Fields { return each(keys, Field{}) }

// List makes lists of 1 to most items, which their owner reads.
func List(most int, keys ...string) Fields { return each(keys, Field{most: most}) }

// Scalar makes fields that are values of type T, read from a text; want says what
// they are.
func Scalar[T any](want string, read func(text string) (T, error), keys ...string) Fields {
	return each(keys, Field{want: want, read: func(text string) (any, error) { return read(text) }})
}

// Text makes fields that are texts, not empty: a string without the white space
// around it.
func Text(keys ...string) Fields {
	var list Fields
	for _, key := range keys {
		list = append(list, Scalar("a text is wanted", func(text string) (string, error) {
			if text = strings.TrimSpace(text); text == "" {
				return "", fmt.Errorf("%s is empty", key)
			}
			return text, nil
		}, key)...)
	}
	return list
}

// Duration makes fields that are a time.Duration.
func Duration(least, most time.Duration, keys ...string) Fields {
	return Scalar(yamlfile.WantDuration, func(text string) (time.Duration, error) { return yamlfile.DurationIn(text, least, most) }, keys...)
}

// Number makes fields that are a float64.
func Number(least, most float64, keys ...string) Fields {
	return Scalar(yamlfile.WantNumber, func(text string) (float64, error) { return yamlfile.NumberIn(text, least, most) }, keys...)
}

// Share makes fields that are a float64 from 0 to 1.
func Share(keys ...string) Fields { return Scalar(yamlfile.WantShare, yamlfile.ShareIn, keys...) }

// Count makes fields that are an int.
func Count(least, most uint64, keys ...string) Fields {
	return Scalar(yamlfile.WantCount, func(text string) (int, error) {
		n, err := yamlfile.Count(text, least, most)
		return int(n), err
	}, keys...)
}

// Uint64 makes fields that are any uint64.
func Uint64(keys ...string) Fields {
	return Scalar(yamlfile.WantCount, func(text string) (uint64, error) { return yamlfile.Count(text, 0, math.MaxUint64) }, keys...)
}

// Bool makes fields that are true or false.
func Bool(keys ...string) Fields { return Scalar("true or false is wanted", yamlfile.Bool, keys...) }

func each(keys []string, f Field) Fields {
	list := make(Fields, len(keys))
	for i, key := range keys {
		f.Key = key
		list[i] = f
	}
	return list
}
