package yamlfile

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// deepest is how deep a value may be that is made JSON.
const deepest = 100

// JSON is the node as JSON. Mappings keep their order, and a scalar without
// quotes is a number, true, false or null if YAML takes it for one. What JSON
// cannot say goes into notes, and it is not ok.
func (n *Node) JSON(notes *Notes) (raw []byte, ok bool) {
	w := &jsonWriter{notes: notes, ok: true}
	w.write(n, 0)
	return w.out, w.ok
}

type jsonWriter struct {
	notes *Notes
	out   []byte
	ok    bool
}

func (w *jsonWriter) write(n *Node, depth int) {
	if depth > deepest {
		w.wrong(n, "this is more than %d levels deep", deepest)
		return
	}
	switch n.Kind {
	case Refused:
		w.ok = false
	case Nothing:
		w.out = append(w.out, "null"...)
	case List:
		for i, item := range n.Items {
			w.out = append(w.out, "[,"[min(i, 1)])
			w.write(item, depth+1)
		}
		w.close("[]", len(n.Items))
	case Mapping:
		for i, f := range n.Fields {
			w.out = append(append(w.out, "{,"[min(i, 1)]), quote(f.Key.Text)...)
			w.out = append(w.out, ':')
			w.write(f.Value, depth+1)
		}
		w.close("{}", len(n.Fields))
	case Scalar:
		w.scalar(n)
	}
}

// close ends what has n parts; that which has none has not been begun.
func (w *jsonWriter) close(brackets string, n int) {
	w.out = append(w.out, brackets[min(n, 1):]...)
}

func (w *jsonWriter) scalar(n *Node) {
	switch {
	case n.tag == "!!bool" && (n.Text == "true" || n.Text == "false"):
		w.out = append(w.out, n.Text...)
	case n.tag != "!!int" && n.tag != "!!float":
		w.out = append(w.out, quote(n.Text)...)
	case json.Valid([]byte(n.Text)):
		w.out = append(w.out, n.Text...)
	default:
		w.wrong(n, "%s is not a number as JSON has it: write it in digits, like 12 or 0.5, or in quotes as a text", Quote(n.Text))
	}
}

func (w *jsonWriter) wrong(n *Node, format string, args ...any) {
	w.notes.Add(n.Place, format, args...)
	w.ok = false
}

// quote is a text as JSON.
func quote(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("yamlfile: a text that is no JSON: %v", err)) // there is none
	}
	return b
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
