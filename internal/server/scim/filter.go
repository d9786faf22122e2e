package scim

import (
	"encoding/json"
	"strings"
	"time"
)

// Bounds of a filter or path.
const (
	maxFilter = 2000 // bytes
	maxDepth  = 20   // parentheses in one another
)

// condition is a parsed filter.
type condition struct {
	op          string // and, or, not, [, pr, eq, ne, co, sw, ew, gt, ge, lt, le
	left, right *condition
	at          target // of comparisons
	value       any    // to compare with: text, a boolean, a time or nil
}

// target is a place in a document: an attribute, of its values those for which a condition
// holds, and of these a part.
type target struct {
	attribute *attribute
	where     *condition // nil: all
	part      *attribute // nil: whole
}

// last is what the values there are of.
func (t *target) last() *attribute {
	if t.part != nil {
		return t.part
	}
	return t.attribute
}

// unknown is the error about an attribute that is not kept here.
type unknown struct{ name string }

func (u *unknown) Error() string { return "there is no attribute " + u.name }

// parser reads a filter or a path, by the grammar of RFC 7644, section 3.4.2.2.
type parser struct {
	text  string
	at    int
	depth int
	of    *resource
}

// parseFilter reads a filter of resources of a type.
func parseFilter(text string, of *resource) (*condition, error) {
	p := &parser{text: text, of: of}
	c, err := p.readAll(func() (*condition, error) { return p.or(of.all()) })
	if err == nil {
		return c, nil
	}
	return nil, invalid("invalidFilter", "filter: %s", p.explain(err))
}

// parsePath reads the path of an operation of PATCH. The error of one that names what is
// not kept here is *unknown.
func parsePath(text string, of *resource) (t target, err error) {
	p := &parser{text: text, of: of}
	_, err = p.readAll(func() (*condition, error) { t, err = p.target(of.all()); return nil, err })
	if _, not := err.(*unknown); err == nil || not {
		return t, err
	}
	return t, invalid("invalidPath", "path: %s", p.explain(err))
}

// readAll reads all of the text.
func (p *parser) readAll(read func() (*condition, error)) (*condition, error) {
	if len(p.text) > maxFilter {
		return nil, p.wrong("it is longer than the bytes allowed, %d", maxFilter)
	}
	c, err := read()
	if err == nil && p.space() && p.at < len(p.text) {
		err = p.wrong("something that ends it is wanted")
	}
	return c, err
}

func (p *parser) wrong(format string, args ...any) error { return invalid("", format, args...) }

// explain says where something is wrong.
func (p *parser) explain(err error) string {
	if _, not := err.(*unknown); not || p.at >= len(p.text) {
		return err.Error()
	}
	return err.Error() + " at " + show(p.text[p.at:min(len(p.text), p.at+30)])
}

func (p *parser) space() bool {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	return true
}

// sign reads a character, if it is next.
func (p *parser) sign(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func isName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '$'
}

// word reads a word in lower case, if one of some is next.
func (p *parser) word(words ...string) string {
	p.space()
	end := p.at
	for end < len(p.text) && isName(p.text[end]) {
		end++
	}
	next := strings.ToLower(p.text[p.at:end])
	for _, w := range words {
		if w == next {
			p.at = end
			return w
		}
	}
	return ""
}

func (p *parser) or(scope []*attribute) (*condition, error) { return p.chain("or", scope, p.and) }

func (p *parser) and(scope []*attribute) (*condition, error) { return p.chain("and", scope, p.single) }

func (p *parser) chain(op string, scope []*attribute, next func([]*attribute) (*condition, error)) (*condition, error) {
	left, err := next(scope)
	for err == nil && p.word(op) != "" {
		var right *condition
		right, err = next(scope)
		left = &condition{op: op, left: left, right: right}
	}
	return left, err
}

// single reads a comparison, or a filter in parentheses.
func (p *parser) single(scope []*attribute) (*condition, error) {
	start := p.at
	not := p.word("not") != ""
	if p.sign('(') {
		c, err := p.inner(')', scope)
		if not && err == nil {
			c = &condition{op: "not", left: c}
		}
		return c, err
	}
	p.at = start // it may be an attribute called so
	t, err := p.target(scope)
	if err != nil {
		return nil, err
	}
	op := p.word("pr", "eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le")
	if op == "" && t.where != nil && t.part == nil {
		return &condition{op: "[", at: t}, nil
	}
	if op == "" {
		return nil, p.wrong("one of pr, eq, ne, co, sw, ew, gt, ge, lt and le is wanted")
	}
	return p.comparison(op, t)
}

// inner reads a filter up to a sign that closes it.
func (p *parser) inner(end byte, scope []*attribute) (*condition, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.wrong("at most %d parentheses are allowed in one another", maxDepth)
	}
	defer func() { p.depth-- }()
	c, err := p.or(scope)
	if err == nil && !p.sign(end) {
		err = p.wrong("%q is wanted", string(end))
	}
	return c, err
}

// target reads a place: an attribute with its schema or not, a condition in brackets or
// not, and a part or not.
func (p *parser) target(scope []*attribute) (t target, err error) {
	p.space()
	p.schema()
	if t.attribute, err = p.attribute(scope); err != nil {
		return t, err
	}
	if t.attribute.parts != nil && t.attribute.many && p.at < len(p.text) && p.text[p.at] == '[' {
		p.at++
		if t.where, err = p.inner(']', t.attribute.parts); err != nil {
			return t, err
		}
	}
	if t.attribute.parts != nil && p.at < len(p.text) && p.text[p.at] == '.' {
		p.at++
		t.part, err = p.attribute(t.attribute.parts)
	}
	return t, err
}

// schema reads the name of the resource's schema before an attribute.
func (p *parser) schema() {
	prefix := p.of.schema + ":"
	if rest := p.text[p.at:]; len(rest) >= len(prefix) && strings.EqualFold(rest[:len(prefix)], prefix) {
		p.at += len(prefix)
	}
}

func (p *parser) attribute(scope []*attribute) (*attribute, error) {
	end := p.at
	for end < len(p.text) && isName(p.text[end]) {
		end++
	}
	name := p.text[p.at:end]
	if name == "" {
		return nil, p.wrong("the name of an attribute is wanted")
	}
	a := find(scope, name)
	if a == nil {
		for end < len(p.text) && (isName(p.text[end]) || strings.IndexByte(":.", p.text[end]) >= 0) { // one of another schema
			end++
		}
		return nil, &unknown{p.text[p.at:end]}
	}
	p.at = end
	return a, nil
}

// comparison reads what values at t are compared with.
func (p *parser) comparison(op string, t target) (*condition, error) {
	if t.attribute.many && t.part == nil && t.attribute.parts != nil && op != "pr" { // members eq "7"
		t.part = find(t.attribute.parts, "value")
	}
	c := &condition{op: op, at: t}
	if op == "pr" {
		return c, nil
	}
	p.space()
	d := json.NewDecoder(strings.NewReader(p.text[p.at:]))
	start := p.at
	if p.at < len(p.text) && strings.IndexByte("[{", p.text[p.at]) >= 0 {
		return nil, p.wrong("a text in quotes, true, false or null is wanted")
	}
	if w := p.word("true", "false", "null"); w != "" { // in any case
		d = json.NewDecoder(strings.NewReader(w))
		p.at = start + len(w)
	}
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, p.wrong("a text in quotes, true, false or null is wanted")
	}
	if p.at == start {
		p.at += int(d.InputOffset())
	}
	a := t.last()
	number := false
	switch x := v.(type) {
	case float64:
		number = true
	case string:
		if a.kind == boolean {
			v, _ = a.readOne(x) // nil: it is none
			number = v == nil
		}
		if a.kind == instant {
			at, err := time.Parse(time.RFC3339Nano, x)
			number, v = err != nil, at
		}
	case bool:
		number = a.kind != boolean
	}
	if number || a.kind == complex && v != nil || op != "eq" && op != "ne" && (v == nil || a.kind == boolean) {
		p.at = start
		return nil, p.wrong("%s, which is of the kind %s, cannot be compared so", a.name, a.kind)
	}
	c.value = v
	return c, nil
}

// values returns the values at a place of a document.
func (t *target) values(doc document) []any {
	v, there := doc[t.attribute.name]
	if !there {
		return nil
	}
	list := []any{v}
	if t.attribute.many {
		list, _ = v.([]any)
	}
	if t.where == nil && t.part == nil {
		return list
	}
	var found []any
	for _, v := range list {
		x, _ := v.(document)
		if t.where != nil && !t.where.holds(x) {
			continue
		}
		if t.part == nil {
			found = append(found, x)
		} else if v, there := x[t.part.name]; there {
			found = append(found, v)
		}
	}
	return found
}

// holds reports whether a filter holds of a document, or of a value with parts.
func (c *condition) holds(doc document) bool {
	switch c.op {
	case "and":
		return c.left.holds(doc) && c.right.holds(doc)
	case "or":
		return c.left.holds(doc) || c.right.holds(doc)
	case "not":
		return !c.left.holds(doc)
	case "[":
		return len(c.at.values(doc)) > 0
	}
	values := c.at.values(doc)
	if c.op == "ne" {
		eq := condition{op: "eq", at: c.at, value: c.value}
		return !eq.holds(doc)
	}
	if c.value == nil { // pr, eq null
		present := false
		for _, v := range values {
			present = present || v != ""
		}
		return present == (c.op == "pr")
	}
	for _, v := range values {
		if c.compare(v) {
			return true
		}
	}
	return false
}

// compare compares a value with that of the condition.
func (c *condition) compare(v any) bool {
	var order int
	switch want := c.value.(type) {
	case bool:
		return v == want
	case time.Time:
		s, _ := v.(string)
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return false
		}
		order = at.Compare(want)
	case string:
		s, _ := v.(string)
		if !c.at.last().exact {
			s, want = strings.ToLower(s), strings.ToLower(want)
		}
		switch c.op {
		case "co":
			return strings.Contains(s, want)
		case "sw":
			return strings.HasPrefix(s, want)
		case "ew":
			return strings.HasSuffix(s, want)
		}
		order = strings.Compare(s, want)
	}
	switch c.op {
	case "eq":
		return order == 0
	case "gt":
		return order > 0
	case "ge":
		return order >= 0
	case "lt":
		return order < 0
	case "le":
		return order <= 0
	}
	return false
}

// exactly returns the texts that attributes must have if the filter is to hold, by their
// names: these can be looked up.
func (c *condition) exactly() map[string]string {
	found := map[string]string{}
	var look func(c *condition)
	look = func(c *condition) {
		switch {
		case c.op == "and":
			look(c.left)
			look(c.right)
		case c.op == "eq" && c.at.where == nil && c.at.part == nil:
			if s, ok := c.value.(string); ok {
				found[c.at.attribute.name] = s
			}
		}
	}
	look(c)
	return found
}
