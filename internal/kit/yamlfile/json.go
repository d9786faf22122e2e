package yamlfile

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/internal/kit/jsonform"
)

// deepest is how deep a value may be that is made JSON.
const deepest = 100

// JSON is the node as JSON. Mappings keep their order, and a scalar without
// quotes is a number, true, false or null if YAML takes it for one. What JSON
// cannot say goes into notes, and it is not ok.
func (n *Node) JSON(notes *Notes) (raw []byte, ok bool) {
	v, ok := n.value(notes, 0)
	if !ok {
		return nil, false
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("yamlfile: what is no JSON: %v", err)) // value makes none
	}
	return raw, true
}

// value is the node as something that is written as JSON.
func (n *Node) value(notes *Notes, depth int) (v any, ok bool) {
	switch {
	case depth > deepest:
		notes.Add(n.Place, "this is more than %d levels deep", deepest)
		return nil, false
	case n.Kind == List:
		items := make([]any, len(n.Items))
		ok = true
		for i, item := range n.Items {
			value, fits := item.value(notes, depth+1)
			items[i], ok = value, ok && fits
		}
		return items, ok
	case n.Kind == Mapping:
		form := jsonform.Object()
		ok = true
		for _, f := range n.Fields {
			value, fits := f.Value.value(notes, depth+1)
			form, ok = form.With(f.Key.Text, value), ok && fits
		}
		return form, ok
	case n.Kind != Scalar:
		return nil, n.Kind == Nothing
	case n.tag == "!!bool" && (n.Text == "true" || n.Text == "false"):
		return n.Text == "true", true
	case n.tag != "!!int" && n.tag != "!!float":
		return n.Text, true
	case json.Valid([]byte(n.Text)):
		return json.RawMessage(n.Text), true
	}
	notes.Add(n.Place, "%s is not a number as JSON has it: write it in digits, like 12 or 0.5, or in quotes as a text", Quote(n.Text))
	return nil, false
}

// Pointed follows a JSON pointer (RFC 6901) from the node as far as it goes.
func (n *Node) Pointed(pointer string) *Node {
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		next := n.Field(token).Value
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.Items) {
			next = n.Items[i]
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}
