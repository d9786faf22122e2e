package control

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/throng-dev/throng/internal/store"
)

// differences lists the fields in which two settings differ, one line each, such
// as "retainer rate: 0.05, before 0.02". It goes into the log of a pool.
func differences[T any](before, now T) []string {
	return differ(nil, "", reflect.ValueOf(before), reflect.ValueOf(now))
}

// poolDifferences is differences of a pool, of which no elasticity is the static one.
func poolDifferences(before, now store.Pool) []string {
	for _, p := range []*store.Pool{&before, &now} {
		p.Control.Elasticity = cmp.Or(p.Control.Elasticity, "static")
	}
	return differences(before, now)
}

func differ(lines []string, name string, before, now reflect.Value) []string {
	_, named := now.Interface().(fmt.Stringer)
	if now.Kind() != reflect.Struct || named {
		if from, to := plain(before), plain(now); from != to {
			lines = append(lines, fmt.Sprintf("%s: %s, before %s", name, to, from))
		}
		return lines
	}
	for i := range now.NumField() {
		field := strings.TrimSpace(name + " " + words(now.Type().Field(i).Name))
		lines = differ(lines, field, before.Field(i), now.Field(i))
	}
	return lines
}

// plain is a value for people.
func plain(v reflect.Value) string {
	switch text := fmt.Sprint(v.Interface()); text {
	case "":
		return "none"
	case "true":
		return "yes"
	case "false":
		return "no"
	default:
		return text
	}
}

// words splits an identifier into words: "TaskTime" is "task time".
func words(name string) string {
	var s strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			s.WriteByte(' ')
		}
		s.WriteRune(r)
	}
	return strings.ToLower(s.String())
}
