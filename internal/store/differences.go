package store

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// longText is from how many bytes on a text is kept as its beginning and its digest.
const longText = 1000

// Differences returns two states of a thing as JSON objects of the fields that differ; of
// a thing that was not there before, or is not after, all that are not zero. Fields with
// the tag audit:"-" are left out.
func Differences(before, after any) (json.RawMessage, json.RawMessage) {
	x, y := plain(reflect.ValueOf(before)), plain(reflect.ValueOf(after))
	if x != nil && y != nil {
		x, y = differing(x, y)
	}
	return object(x), object(y)
}

func object(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	return canonical(v)
}

// differing returns what differs of two values: of objects, the fields.
func differing(x, y any) (any, any) {
	a, isObject := x.(map[string]any)
	b, both := y.(map[string]any)
	if !isObject || !both {
		return x, y
	}
	was, is := map[string]any{}, map[string]any{}
	for name := range merged(a, b) {
		if bytes.Equal(canonical(a[name]), canonical(b[name])) {
			continue
		}
		p, q := differing(a[name], b[name])
		if _, had := a[name]; had {
			was[name] = p
		}
		if _, has := b[name]; has {
			is[name] = q
		}
	}
	return was, is
}

func merged(a, b map[string]any) map[string]bool {
	all := make(map[string]bool, len(a)+len(b))
	for name := range a {
		all[name] = true
	}
	for name := range b {
		all[name] = true
	}
	return all
}

// plain returns a value as JSON has it: structs are objects with the fields that are not
// zero.
func plain(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return x.UTC().Format(time.RFC3339Nano)
	case time.Duration:
		return x.String()
	case json.RawMessage:
		return brief(string(x))
	case encoding.TextMarshaler, json.Marshaler:
		return marshalled(x)
	case fmt.Stringer: // an amount of money
		return x.String()
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return plain(v.Elem())
	case reflect.Struct:
		fields := make(map[string]any)
		putFields(fields, v)
		return fields
	case reflect.Map:
		fields := make(map[string]any, v.Len())
		for _, k := range v.MapKeys() {
			fields[fmt.Sprint(k.Interface())] = plain(v.MapIndex(k))
		}
		return fields
	case reflect.Slice, reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = plain(v.Index(i))
		}
		return list
	case reflect.String:
		return brief(v.String())
	case reflect.Float64, reflect.Float32:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) { // JSON has none of these
			return fmt.Sprint(f)
		}
	}
	return v.Interface()
}

func putFields(fields map[string]any, v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case !f.IsExported() || f.Tag.Get("audit") == "-" || v.Field(i).IsZero():
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			putFields(fields, v.Field(i))
		default:
			fields[snake(f.Name)] = plain(v.Field(i))
		}
	}
}

// marshalled is a value that says itself how it is written.
func marshalled(x any) any {
	var v any
	if text, err := json.Marshal(x); err != nil || json.Unmarshal(text, &v) != nil {
		return fmt.Sprint(x)
	}
	return v
}

// brief is a text that is kept; of a long one, its beginning and its digest.
func brief(text string) string {
	if len(text) <= longText {
		return strings.ToValidUTF8(text, "�")
	}
	cut := longText / 4
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes, sha256:%x)", strings.ToValidUTF8(text[:cut], "�"), len(text), sha256.Sum256([]byte(text)))
}

// snake is the name of a field as JSON has it: PerWorker is per_worker, ID is id.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		begins := unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if begins {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
