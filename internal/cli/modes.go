package cli

import (
	"reflect"
	"strings"
	"unicode"
)

// given lists the flags of a group that were given to a command, in the order of its help, as
// they are written. A flag that belongs to one way of using a command is in the group of that,
// and has no default: so no other way ignores it without a word.
func given(command any, group string) (flags []string) {
	v := reflect.Indirect(reflect.ValueOf(command))
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Tag.Get("group") == group && !v.Field(i).IsZero() {
			flags = append(flags, "--"+flagName(&f))
		}
	}
	return flags
}

// flagName is the name of a flag, by its field.
func flagName(f *reflect.StructField) string {
	if name := f.Tag.Get("name"); name != "" {
		return name
	}
	var out strings.Builder
	for i, r := range f.Name {
		if unicode.IsUpper(r) && i > 0 {
			out.WriteByte('-')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// areAbout is how a sentence goes on about flags.
func areAbout(flags []string) string {
	if len(flags) == 1 {
		return flags[0] + " is about"
	}
	return strings.Join(flags, ", ") + " are about"
}
