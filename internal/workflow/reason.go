package workflow

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"

	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

// What can be proved about conditions: which values each column may have where
// one holds. It is an approximation from above: what is said to be impossible
// is, but not all that is impossible is found. A column of an item does not change
// once it has been added, so what held at one step holds at all that follow.

// syntax returns the tree of a condition, or nil if it has none.
func syntax(text string) ast.Node {
	if strings.TrimSpace(text) == "" || len(text) > 4*condition.MaxText || nesting(text) > 60 {
		return nil
	}
	config := conf.CreateNew()
	clear(config.Builtins)
	config.DisableIfOperator = true
	config.MaxNodes = 500
	tree, err := parser.ParseWithConfig(text, config)
	if err != nil {
		return nil
	}
	return tree.Node
}

// nesting is at least how deep the parser, which is recursive, would go.
func nesting(text string) int {
	depth, deepest, run := 0, 0, 0
	for _, r := range text {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		switch r {
		case '!', '-', '+':
			run++
		case ' ', '\t', '\n', '\r':
		default:
			run = 0
		}
		deepest = max(deepest, depth, run)
	}
	return deepest
}

// visitor gathers nodes.
type visitor func(n ast.Node)

func (v visitor) Visit(n *ast.Node) { v(*n) }

// identifiers returns the names in a tree, each once, in order.
func identifiers(tree ast.Node) []*ast.IdentifierNode {
	var list []*ast.IdentifierNode
	ast.Walk(&tree, visitor(func(n ast.Node) {
		if i, ok := n.(*ast.IdentifierNode); ok {
			list = append(list, i)
		}
	}))
	slices.SortStableFunc(list, func(a, b *ast.IdentifierNode) int { return a.Location().From - b.Location().From })
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(i *ast.IdentifierNode) bool {
		twice := seen[i.Value]
		seen[i.Value] = true
		return twice
	})
}

// lineColumn is the place of the n-th character of a text, from 0.
func lineColumn(text string, n int) (line, column int) {
	line, column = 1, 1
	for i, c := range []rune(text) {
		if i >= n {
			break
		}
		if column++; c == '\n' {
			line, column = line+1, 1
		}
	}
	return line, column
}

// mistyped returns the first name of a text that is used as a number, or "".
func mistyped(tree ast.Node, isText func(name string) bool) string {
	first, at := "", math.MaxInt
	ast.Walk(&tree, visitor(func(n ast.Node) {
		b, ok := n.(*ast.BinaryNode)
		if !ok {
			return
		}
		numeric := slices.Contains([]string{"+", "-", "*", "/", "<", "<=", ">", ">="}, b.Operator)
		for _, side := range []struct{ one, other ast.Node }{{b.Left, b.Right}, {b.Right, b.Left}} {
			i, named := side.one.(*ast.IdentifierNode)
			if !named || !isText(i.Value) || i.Location().From >= at {
				continue
			}
			if _, number := constant(side.other); numeric || number || hasNumber(side.other) {
				first, at = i.Value, i.Location().From
			}
		}
	}))
	return first
}

// hasNumber says whether a list has numbers in it.
func hasNumber(n ast.Node) bool {
	list, ok := n.(*ast.ArrayNode)
	return ok && slices.ContainsFunc(list.Nodes, func(n ast.Node) bool { _, number := constant(n); return number })
}

// constant returns the value of a number in a condition.
func constant(n ast.Node) (float64, bool) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return float64(n.Value), true
	case *ast.FloatNode:
		return n.Value, true
	case *ast.UnaryNode:
		f, ok := constant(n.Node)
		switch n.Operator {
		case "-":
			return -f, ok
		case "+":
			return f, ok
		}
	}
	return 0, false
}

// key names what has a value: a column of a node, or a part of a condition that
// holds (true) or whose opposite holds (false).
type key struct {
	owner *made
	name  string
}

// facts is what holds. A nil map is nothing.
type facts struct {
	of    map[key]domain
	clash *clash // all of it cannot hold together
}

// clash is one thing that can have no value.
type clash struct {
	key  key
	a, b domain
}

func (f facts) and(g facts) facts {
	if len(f.of)+len(g.of) > maxFacts {
		f = f.columns()
	}
	if len(f.of)+len(g.of) > maxFacts {
		f.of = nil
	}
	out := facts{of: make(map[key]domain, len(f.of)+len(g.of)), clash: f.clash}
	if out.clash == nil {
		out.clash = g.clash
	}
	for k, d := range f.of {
		out.of[k] = d
	}
	for k, b := range g.of {
		a, both := out.of[k]
		if !both {
			out.of[k] = b
			continue
		}
		d := a.and(b)
		out.of[k] = d
		if d.empty() && f.clash == nil && g.clash == nil && (out.clash == nil || k.before(out.clash.key)) {
			out.clash = &clash{k, a, b}
		}
	}
	return out
}

// maxFacts bounds what is remembered of an item. To forget is no mistake: less can
// be proved then.
const maxFacts = 2000

// columns returns what is known of columns only.
func (f facts) columns() facts {
	out := facts{of: map[key]domain{}, clash: f.clash}
	for k, d := range f.of {
		if k.owner != nil {
			out.of[k] = d
		}
	}
	return out
}

// before orders keys for messages: columns first, then by name.
func (k key) before(l key) bool {
	if (k.owner == nil) != (l.owner == nil) {
		return k.owner != nil
	}
	if k.owner != nil && k.owner != l.owner {
		return k.owner.index < l.owner.index
	}
	return k.name < l.name
}

func (f facts) or(g facts) facts {
	switch {
	case f.clash != nil && g.clash != nil:
		return f
	case f.clash != nil:
		return g
	case g.clash != nil:
		return f
	}
	out := facts{of: map[key]domain{}}
	for k, a := range f.of {
		if b, both := g.of[k]; both {
			out.of[k] = a.or(b)
		}
	}
	return out
}

// domain is the values that something may have: texts (or the words true and
// false of a bool), or numbers.
type domain struct {
	number bool
	ranges []interval      // of numbers
	but    bool            // all texts but these, else only these
	texts  map[string]bool // never changed
}

// interval is a range of numbers, its ends included unless open.
type interval struct {
	lo, hi         float64
	loOpen, hiOpen bool
}

func (i interval) empty() bool { return i.lo > i.hi || i.lo == i.hi && (i.loOpen || i.hiOpen) }

// united sorts ranges and joins those that overlap or touch.
func united(ranges []interval) []interval {
	slices.SortFunc(ranges, func(a, b interval) int {
		if c := cmp.Compare(a.lo, b.lo); c != 0 || a.loOpen == b.loOpen {
			return c
		}
		if a.loOpen {
			return 1
		}
		return -1
	})
	var out []interval
	for _, i := range ranges {
		if n := len(out); n > 0 {
			last := &out[n-1]
			if i.lo < last.hi || i.lo == last.hi && !(i.loOpen && last.hiOpen) {
				if i.hi > last.hi || i.hi == last.hi && !i.hiOpen {
					last.hi, last.hiOpen = i.hi, i.hiOpen
				}
				continue
			}
		}
		out = append(out, i)
	}
	return out
}

func only(texts ...string) domain {
	d := domain{texts: map[string]bool{}}
	for _, t := range texts {
		d.texts[t] = true
	}
	return d
}

func holds(b bool) domain {
	if b {
		return only("true")
	}
	return only("false")
}

func between(lo, hi float64, loOpen, hiOpen bool) domain {
	return domain{number: true, ranges: []interval{{lo, hi, loOpen, hiOpen}}}
}

func (d domain) empty() bool {
	if d.number {
		return len(d.ranges) == 0
	}
	return !d.but && len(d.texts) == 0
}

func (d domain) and(e domain) domain {
	if d.number != e.number {
		return d // of two types: told elsewhere
	}
	if d.number {
		out := domain{number: true}
		for _, a := range d.ranges {
			for _, b := range e.ranges {
				i := a
				if b.lo > i.lo || b.lo == i.lo && b.loOpen {
					i.lo, i.loOpen = b.lo, b.loOpen
				}
				if b.hi < i.hi || b.hi == i.hi && b.hiOpen {
					i.hi, i.hiOpen = b.hi, b.hiOpen
				}
				if !i.empty() {
					out.ranges = append(out.ranges, i)
				}
			}
		}
		out.ranges = united(out.ranges)
		return out
	}
	out := domain{but: d.but && e.but, texts: map[string]bool{}}
	for t := range d.texts {
		if out.but || !d.but && e.allows(t) {
			out.texts[t] = true
		}
	}
	for t := range e.texts {
		if out.but || !e.but && d.allows(t) {
			out.texts[t] = true
		}
	}
	return out
}

func (d domain) allows(text string) bool { return d.texts[text] != d.but }

func (d domain) or(e domain) domain {
	if d.number != e.number {
		return domain{but: true}
	}
	if d.number {
		return domain{number: true, ranges: united(slices.Concat(d.ranges, e.ranges))}
	}
	out := domain{but: d.but || e.but, texts: map[string]bool{}}
	for t := range d.texts {
		if !out.but || d.but && !e.allows(t) {
			out.texts[t] = true
		}
	}
	for t := range e.texts {
		if !out.but || e.but && !d.allows(t) {
			out.texts[t] = true
		}
	}
	return out
}

// words says which values the domain has.
func (d domain) words() string {
	if d.number {
		var parts []string
		for _, i := range d.ranges {
			parts = append(parts, i.words())
		}
		return strings.Join(parts, " or ")
	}
	list := make([]string, 0, len(d.texts))
	for _, t := range sortedKeys(d.texts) {
		list = append(list, yamlfile.Quote(t))
	}
	const most = 6
	if len(list) > most {
		list = append(list[:most], "…")
	}
	words := strings.Join(list, " or ")
	if d.but {
		return "not " + words
	}
	return words
}

func (i interval) words() string {
	lo, hi := yamlfile.Digits(i.lo), yamlfile.Digits(i.hi)
	over, under := "at least ", "at most "
	if i.loOpen {
		over = "more than "
	}
	if i.hiOpen {
		under = "less than "
	}
	switch {
	case math.IsInf(i.lo, -1) && math.IsInf(i.hi, 1):
		return "any number"
	case math.IsInf(i.lo, -1):
		return under + hi
	case math.IsInf(i.hi, 1):
		return over + lo
	case i.lo == i.hi:
		return lo
	}
	return over + lo + " and " + under + hi
}

// clashWords tells a clash of two sides.
func clashWords(one, other string, c clash) string {
	if c.key.owner == nil {
		return fmt.Sprintf("%s only the opposite of what %s", one, other)
	}
	return fmt.Sprintf("%s %s only as %s, but %s it only as %s", one, c.key.name, c.a.words(), other, c.b.words())
}

// selfWords tells a clash within one condition.
func selfWords(c clash) string {
	if c.key.owner == nil {
		return "a part of it is the opposite of another part"
	}
	return fmt.Sprintf("%s cannot be %s and also %s", c.key.name, c.a.words(), c.b.words())
}

// analysis finds what holds where a condition does.
type analysis struct {
	resolve func(name string) (owned, bool)
}

// facts returns what holds if the tree, which has been checked, is as said.
func (a analysis) facts(n ast.Node, as bool) facts {
	f := a.part(n, as)
	// The part itself, for a part elsewhere that is its opposite.
	text, ok := a.canonical(n)
	if !ok {
		return f
	}
	return f.and(facts{of: map[key]domain{{nil, text}: holds(as)}})
}

func (a analysis) part(n ast.Node, as bool) facts {
	switch n := n.(type) {
	case *ast.BoolNode:
		if n.Value != as {
			never := only()
			return facts{clash: &clash{key{nil, "false"}, never, never}}
		}
	case *ast.IdentifierNode:
		return a.column(n, holds(as))
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			return a.facts(n.Node, !as)
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&", "and", "||", "or":
			return a.both(n, as)
		case "==", "!=", "<", "<=", ">", ">=", "in":
			return a.comparison(n, as)
		}
	}
	return facts{}
}

// both returns the facts of an "and" or an "or". One that does not hold is the
// other one of what does not hold.
func (a analysis) both(n *ast.BinaryNode, as bool) facts {
	left, right := a.facts(n.Left, as), a.facts(n.Right, as)
	if and := n.Operator == "&&" || n.Operator == "and"; and == as {
		return left.and(right)
	}
	return left.or(right)
}

func (a analysis) column(n ast.Node, d domain) facts {
	i, ok := n.(*ast.IdentifierNode)
	if !ok {
		return facts{}
	}
	c, known := a.resolve(i.Value)
	if !known {
		return facts{}
	}
	return facts{of: map[key]domain{{c.owner, c.Name}: d}}
}

var mirrored = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}

var opposite = map[string]string{"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}

// comparison returns the facts of a comparison of a column with constants.
func (a analysis) comparison(n *ast.BinaryNode, as bool) facts {
	if n.Operator == "in" {
		return a.in(n, as)
	}
	operator, name, other := n.Operator, n.Left, n.Right
	if _, named := name.(*ast.IdentifierNode); !named {
		operator, name, other = mirrored[operator], n.Right, n.Left
	}
	if !as {
		operator = opposite[operator]
	}
	if d, ok := compared(operator, other); ok {
		return a.column(name, d)
	}
	return facts{}
}

// compared returns the values that compare so with a constant.
func compared(operator string, n ast.Node) (domain, bool) {
	inf := math.Inf(1)
	if f, number := constant(n); number {
		switch operator {
		case "<":
			return between(-inf, f, false, true), true
		case "<=":
			return between(-inf, f, false, false), true
		case ">":
			return between(f, inf, true, false), true
		case ">=":
			return between(f, inf, false, false), true
		case "==":
			return between(f, f, false, false), true
		case "!=":
			return between(-inf, f, false, true).or(between(f, inf, true, false)), true
		}
	}
	text := ""
	switch n := n.(type) {
	case *ast.StringNode:
		text = n.Value
	case *ast.BoolNode:
		text = fmt.Sprint(n.Value)
	default:
		return domain{}, false
	}
	d := only(text)
	_, isBool := n.(*ast.BoolNode)
	if operator == "!=" && isBool {
		return holds(text == "false"), true
	}
	d.but = operator == "!="
	return d, true
}

func (a analysis) in(n *ast.BinaryNode, as bool) facts {
	list, ok := n.Right.(*ast.ArrayNode)
	if !ok || len(list.Nodes) == 0 {
		return facts{}
	}
	operator := "=="
	if !as {
		operator = "!="
	}
	var sum domain
	for i, item := range list.Nodes {
		d, ok := compared(operator, item)
		switch {
		case !ok:
			return facts{}
		case i == 0:
			sum = d
		case as:
			sum = sum.or(d)
		default:
			sum = sum.and(d)
		}
	}
	return a.column(n.Left, sum)
}

// canonical is a text that is the same for parts that hold together, wherever
// they stand; false if the part has a name that nobody knows.
func (a analysis) canonical(n ast.Node) (string, bool) {
	var b strings.Builder
	b.WriteString(n.String())
	for _, i := range identifiers(n) {
		c, known := a.resolve(i.Value)
		if !known {
			return "", false
		}
		fmt.Fprintf(&b, " %s@%d", c.Name, c.owner.index)
	}
	return b.String(), true
}
