package task

import (
	"encoding/json"
	"maps"
	"slices"
)

// FreeText lists what somebody has written by themselves in an answer, in canonical form:
// the values of its fields of text. Of a requester's HTML, whose controls are not known
// before it is shown, every text counts.
func (c *Compiled) FreeText(canonical string) []string {
	given, written := c.written(canonical)
	texts := make([]string, len(written))
	for i, name := range written {
		texts[i], _ = stringOf(given[name])
	}
	return texts
}

// WithoutText returns an answer, in canonical form, without the fields that FreeText
// lists, and its key. It need not be an answer to the template any more.
func (c *Compiled) WithoutText(canonical string) (rest, key string) {
	given, written := c.written(canonical)
	for _, name := range written {
		delete(given, name)
	}
	rest = encode(given)
	if name := c.labelField(); name != "" {
		if key = string(given[name]); key != "" {
			if text, ok := stringOf(given[name]); ok {
				key = text
			}
		}
		return rest, key
	}
	return rest, rest
}

// written returns the fields of an answer, and those with free text, in order.
func (c *Compiled) written(canonical string) (given map[string]json.RawMessage, names []string) {
	if json.Unmarshal([]byte(canonical), &given) != nil {
		return nil, nil // it has been deleted
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if text, ok := stringOf(given[name]); ok && text != "" && c.isFree(name) {
			names = append(names, name)
		}
	}
	return given, names
}

func (c *Compiled) isFree(name string) bool {
	return c.page != nil || slices.ContainsFunc(c.controls, func(x control) bool {
		return x.Name == name && (x.Type == ControlText || x.Type == ControlTextArea) && !x.isNumber()
	})
}
