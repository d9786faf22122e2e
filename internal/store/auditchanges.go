package store

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// AuditChange is what differs in one field of a thing.
type AuditChange struct {
	Field         string // such as "control.min" or "tenants"
	Before, After string // as people read it; "": it was not there, or is not
}

// Changes lists what an entry's before and after differ in, by field.
func (e *AuditEntry) Changes() []AuditChange {
	fields := make(map[string]*AuditChange)
	put := func(part json.RawMessage, text func(*AuditChange) *string) {
		var v any
		d := json.NewDecoder(strings.NewReader(string(part)))
		d.UseNumber()
		if d.Decode(&v) != nil {
			return // there is nothing
		}
		flatten("", v, func(field, value string) {
			if fields[field] == nil {
				fields[field] = &AuditChange{Field: field}
			}
			*text(fields[field]) = value
		})
	}
	put(e.Before, func(c *AuditChange) *string { return &c.Before })
	put(e.After, func(c *AuditChange) *string { return &c.After })
	list := make([]AuditChange, 0, len(fields))
	for _, c := range fields {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b AuditChange) int { return strings.Compare(a.Field, b.Field) })
	return list
}

// flatten tells each value in v that has no parts. Lists of such values are one value.
func flatten(field string, v any, tell func(field, value string)) {
	below := func(name string) string {
		if field == "" {
			return name
		}
		return field + "." + name
	}
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			flatten(below(name), x, tell)
		}
	case []any:
		texts := make([]string, 0, len(v))
		for i, x := range v {
			switch x.(type) {
			case map[string]any, []any:
				flatten(below(strconv.Itoa(i+1)), x, tell)
			default:
				texts = append(texts, plainText(x))
			}
		}
		if len(texts) > 0 {
			tell(field, strings.Join(texts, ", "))
		}
	default:
		tell(field, plainText(v))
	}
}

// plainText is a value without parts.
func plainText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case json.Number:
		return v.String()
	}
	return ""
}
