package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/condition"
	"github.com/throng-dev/throng/internal/schema"
)

// service reads a service step, whose sources have been joined.
func (r *reader) service(m *made, v *value) {
	if v == nil {
		m.lose()
		return
	}
	s := &Service{URL: v.get("url").str(), Method: "POST", Timeout: DefaultTimeout, Tries: DefaultTries, Backoff: DefaultBackoff, Concurrency: DefaultConcurrency}
	m.step.Service = s
	if f := v.get("method"); f != nil {
		s.Method = f.text
	}
	if f := v.get("timeout"); f != nil {
		s.Timeout = f.duration()
	}
	if f := v.get("tries"); f != nil {
		s.Tries = f.count()
	}
	if f := v.get("backoff"); f != nil {
		s.Backoff = f.duration()
	}
	if f := v.get("concurrency"); f != nil {
		s.Concurrency = f.count()
	}
	r.expect(m, v.get("expect"))
	if u := v.get("url"); u != nil {
		if wrong := wrongURL(u.text); wrong != "" {
			r.problem(u.at(), "%s", wrong)
		}
	}
	r.headers(s, v.get("headers"))
	r.send(m, v.get("send"))
	r.response(m, v)
}

// expect reads what a service expects of itself, which may stand at the step, too.
func (r *reader) expect(m *made, v *value) {
	switch {
	case v != nil && m.value.has("expect"):
		r.problem(v.start(), "expect is said by the step already, in line %d: leave one of them out", m.value.keyPlace("expect").Line)
	case v != nil:
		m.step.Expect = v.duration()
	case m.step.Expect == 0:
		m.step.Expect = serviceTime
	}
}

// wrongURL says why a text cannot be the address of a service.
func wrongURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case strings.Contains(text, "${"):
		return "an address is fixed: secrets stand in headers, as ${secret:NAME}, and columns are sent by themselves"
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Sprintf("%s is not an address like https://scores.example/v1/score", quoted(text))
	case u.User != nil:
		return "a name and a password do not belong into an address: use a header with ${secret:NAME}"
	case u.Fragment != "":
		return "an address of a service has no # part"
	}
	return ""
}

var (
	headerForm = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$") // a token of RFC 9110
	secretForm = regexp.MustCompile(`\$\{secret:([A-Za-z_][A-Za-z0-9_]{0,63})\}`)
)

// ours are the headers that a call has by itself, and those that would change
// how it is carried.
var ours = []string{
	"accept-encoding", "connection", "content-length", "content-type", "expect", "host", "idempotency-key", "keep-alive",
	"proxy-authorization", "proxy-connection", "te", "throng-try", "trailer", "transfer-encoding", "upgrade",
}

func (r *reader) headers(s *Service, v *value) {
	if v == nil {
		return
	}
	s.Headers = map[string]string{}
	seen := map[string]bool{}
	for _, h := range v.list {
		name := h.name()
		lower := strings.ToLower(name)
		switch {
		case !headerForm.MatchString(name):
			r.problem(h.start(), "%s is not the name of a header", quoted(name))
		case slices.Contains(ours, lower):
			r.problem(h.start(), "the header %s is set by the call itself: leave it out", name)
		case seen[lower]:
			r.problem(h.start(), "the header %s stands here already", name)
		case strings.Contains(secretForm.ReplaceAllString(h.text, ""), "${"):
			rest := secretForm.ReplaceAllStringFunc(h.text, func(s string) string { return strings.Repeat("x", len(s)) })
			line, column := lineColumn(h.text, len([]rune(h.text[:strings.Index(rest, "${")])))
			r.problem(r.placesIn(h.node)(line, column), "a secret is written as ${secret:NAME}, its name made of letters, digits and _")
		case strings.ContainsFunc(h.text, func(c rune) bool { return c < ' ' || c == 0x7f }):
			r.problem(h.at(), "the value of a header stands in one line, without control characters")
		}
		seen[lower] = true
		s.Headers[name] = h.text
	}
}

// Secrets returns the names of the secrets that the headers need, sorted.
func (s *Service) Secrets() []string {
	var names []string
	for _, text := range s.Headers {
		for _, m := range secretForm.FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (r *reader) send(m *made, v *value) {
	if v == nil {
		return
	}
	for _, c := range v.list {
		if c == nil || !r.known(m, c.text, c.at()) {
			continue
		}
		if slices.Contains(m.step.Service.Send, c.text) {
			r.problem(c.at(), "%s is sent already", quoted(c.text))
			continue
		}
		m.step.Service.Send = append(m.step.Service.Send, c.text)
	}
}

// response reads the schema of the answer, which says which columns the step adds.
func (r *reader) response(m *made, v *value) {
	response := v.get("response")
	if response == nil {
		m.lose()
		return
	}
	before := r.count
	raw := r.json(response.node, 0)
	if r.count > before {
		m.lose()
		return
	}
	s, err := schema.Compile(raw)
	if err != nil {
		m.lose()
		var wrong *crowd.Error
		if errors.As(err, &wrong) && strings.HasPrefix(wrong.Field, "#") {
			r.problem(placeOf(pointed(response.node, strings.TrimPrefix(wrong.Field, "#"))), "response: %s", wrong.Message)
			return
		}
		r.problem(response.at(), "response: %s", messageOf(err))
		return
	}
	if typ := under(response.node, "type"); typ == nil || typ.Value != "object" {
		r.problem(response.at(), "response is the schema of an object: it begins with type: object")
	}
	m.step.Service.Response = s
	columns, places := r.properties(response, s)
	if len(columns) == 0 {
		r.problem(response.start(), "response names no properties, so the step would add no column: write it like {type: object, properties: {risk: {type: number}}}")
	}
	r.own(m, columns, func(i int) Place { return places[i] })
}

// properties returns the columns that an answer becomes. A cell holds one value,
// so arrays and objects are refused.
func (r *reader) properties(response *value, s *schema.Schema) ([]Column, []Place) {
	var columns []Column
	var places []Place
	folded := map[string]bool{}
	for _, p := range s.Properties() {
		key, of := pair(under(response.node, "properties"), p.Name)
		at := response.start()
		if key != nil {
			at = placeOf(key)
		}
		wrong := wrongColumn(p.Name)
		lower := strings.ToLower(p.Name)
		switch {
		case wrong != "":
			r.problem(at, "%s", wrong)
			continue
		case folded[lower]:
			r.problem(at, "%s is a column already; large and small letters are the same here", quoted(p.Name))
			continue
		}
		folded[lower] = true
		if typ := under(of, "type"); typ != nil {
			for _, t := range append([]*node{typ}, typ.Content...) {
				if t.Value == "array" || t.Value == "object" {
					r.problem(placeOf(t), "the property %s is an %s; a column holds a string, a number or a bool", p.Name, t.Value)
				}
			}
		}
		columns = append(columns, Column{p.Name, condition.Type(p.Kind)})
		places = append(places, at)
	}
	return columns, places
}

func messageOf(err error) string {
	var known *crowd.Error
	if errors.As(err, &known) {
		return known.Message
	}
	return err.Error()
}

// pair returns the key and the value of a name in a mapping, or nil.
func pair(n *node, name string) (key, of *node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

func under(n *node, name string) *node {
	_, of := pair(n, name)
	return of
}

// pointed follows a JSON pointer as far as it goes.
func pointed(n *node, pointer string) *node {
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		next := under(n, token)
		if n.Kind == yaml.SequenceNode {
			for i, c := range n.Content {
				if fmt.Sprint(i) == token {
					next = c
				}
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// json writes a part of the file as JSON. Mappings keep their order.
func (r *reader) json(n *node, depth int) []byte {
	const deepest = 100
	if !r.plain(n) {
		return nil
	}
	if depth > deepest {
		r.problem(placeOf(n), "this is more than %d levels deep", deepest)
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		out := []byte{'{'}
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			if k.Kind != yaml.ScalarNode || seen[k.Value] {
				r.problem(placeOf(k), "a name is a text and stands here once, not %s", what(k))
				continue
			}
			seen[k.Value] = true
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(append(out, quote(k.Value)...), ':'), r.json(n.Content[i+1], depth+1)...)
		}
		return append(out, '}')
	case yaml.SequenceNode:
		out := []byte{'['}
		for i, c := range n.Content {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, r.json(c, depth+1)...)
		}
		return append(out, ']')
	}
	switch n.ShortTag() {
	case "!!null":
		return []byte("null")
	case "!!bool":
		if n.Value == "true" || n.Value == "false" {
			return []byte(n.Value)
		}
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return []byte(n.Value)
		}
		r.problem(placeOf(n), "%s is not a number as JSON has it: write it in digits, like 12 or 0.5, or in quotes as a text", quoted(n.Value))
		return nil
	}
	return quote(n.Value)
}

func quote(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return []byte(`""`)
	}
	return b
}
