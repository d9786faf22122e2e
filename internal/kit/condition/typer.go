package condition

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/similarity"
)

// A typer checks that a tree of the parser is of our language, and returns it
// with numbers as floats, without lists, and with `not` only where nothing can be
// unknown: NaN then makes every comparison false (see the package comment).
type typer struct {
	text  string
	names []Name
	uses  []Name

	undefined *Error // the first of its kind; nil: none
}

// isNumber reports whether a node that was accepted is a number. Those of names
// are in uses.
func (t *typer) isNumber(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FloatNode:
		return true
	case *ast.UnaryNode:
		return n.Operator == "-" || n.Operator == "+"
	case *ast.BinaryNode:
		return strings.Contains("+-*/", n.Operator)
	case *ast.IdentifierNode:
		return slices.ContainsFunc(t.uses, func(u Name) bool { return u.Name == n.Value && u.Type == Number })
	}
	return false
}

func (t *typer) errorf(n ast.Node, format string, args ...any) *Error {
	return at(t.text, n.Location().From, format, args...)
}

func (t *typer) node(n ast.Node) (ast.Node, Type, error) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return t.name(n)
	case *ast.IntegerNode:
		return replace(n, &ast.FloatNode{Value: float64(n.Value)}), Number, nil
	case *ast.FloatNode:
		if math.IsInf(n.Value, 0) || math.IsNaN(n.Value) {
			return nil, "", t.errorf(n, "this number is too large")
		}
		return n, Number, nil
	case *ast.BoolNode:
		return n, Bool, nil
	case *ast.StringNode:
		return n, Text, nil
	case *ast.UnaryNode:
		return t.unary(n)
	case *ast.BinaryNode:
		return t.binary(n)
	case *ast.ArrayNode:
		return nil, "", t.errorf(n, `a list stands only after "in"`)
	case *ast.CallNode:
		return nil, "", t.errorf(n.Callee, "a condition calls no functions")
	case *ast.BuiltinNode:
		return nil, "", t.errorf(n, "a condition calls no functions, so no %s either", n.Name)
	case *ast.ConditionalNode:
		return nil, "", t.errorf(n, `a condition has no "? :": use && and ||`)
	case *ast.MemberNode, *ast.SliceNode, *ast.ChainNode:
		return nil, "", t.errorf(n, "a value has no parts: use one of the names %s", t.list())
	case *ast.NilNode:
		return nil, "", t.errorf(n, "there is no nil: a value is always there")
	}
	return nil, "", t.errorf(n, "this is not part of a condition")
}

func replace(old, new ast.Node) ast.Node {
	new.SetLocation(old.Location())
	return new
}

func (t *typer) name(n *ast.IdentifierNode) (ast.Node, Type, error) {
	for _, known := range t.names {
		if known.Name == n.Value {
			if !slices.ContainsFunc(t.uses, func(u Name) bool { return u.Name == n.Value }) {
				t.uses = append(t.uses, known)
			}
			return n, known.Type, nil
		}
	}
	if meant := similarity.DidYouMean(n.Value, t.known()); meant != "" {
		return nil, "", t.errorf(n, "there is no %q%s", n.Value, meant)
	}
	return nil, "", t.errorf(n, "there is no %q; the names are %s", n.Value, t.list())
}

// known is the names themselves.
func (t *typer) known() []string {
	return lists.Map(t.names, func(x Name) string { return x.Name })
}

// list writes the names for a message.
func (t *typer) list() string {
	const most = 30
	if known := t.known(); len(known) > most {
		return strings.Join(known[:most], ", ") + ", ..."
	}
	return strings.Join(t.known(), ", ")
}

func (t *typer) unary(n *ast.UnaryNode) (ast.Node, Type, error) {
	inner, kind, err := t.node(n.Node)
	if err != nil {
		return nil, "", err
	}
	switch n.Operator {
	case "!", "not":
		if kind != Bool {
			return nil, "", t.errorf(n, `%s is for what is true or false, not for a %s; put a comparison in parentheses: not (a > b)`, n.Operator, kind)
		}
		return t.negate(inner), Bool, nil
	case "-", "+":
		if kind != Number {
			return nil, "", t.errorf(n, "%s is for numbers, not for a %s", n.Operator, kind)
		}
		n.Node = inner
		return n, Number, nil
	}
	return nil, "", t.errorf(n, "%s is not part of a condition", n.Operator)
}

func (t *typer) binary(n *ast.BinaryNode) (ast.Node, Type, error) {
	if n.Operator == "in" {
		return t.in(n)
	}
	left, a, err := t.node(n.Left)
	if err != nil {
		return nil, "", err
	}
	right, b, err := t.node(n.Right)
	if err != nil {
		return nil, "", err
	}
	needs := func(kind Type) error {
		for _, side := range []struct {
			node ast.Node
			kind Type
		}{{n.Left, a}, {n.Right, b}} {
			if side.kind != kind {
				return t.errorf(side.node, "%s is for a %s on both sides, but this is a %s", n.Operator, kind, side.kind)
			}
		}
		return nil
	}
	result := Bool
	switch n.Operator {
	case "+", "-", "*", "/":
		if result, err = Number, needs(Number); err == nil {
			t.arithmetic(n, left, right)
		}
	case "<", "<=", ">", ">=":
		err = needs(Number)
	case "&&", "and", "||", "or":
		err = needs(Bool)
	case "contains", "startsWith", "endsWith":
		err = needs(Text)
	case "==", "!=":
		if a != b {
			return nil, "", t.errorf(n, "a %s is never equal to a %s", a, b)
		}
		if n.Operator == "!=" && a == Number {
			return unequal(n, left, right), Bool, nil
		}
		// A comparison that is false because something is not known must not make
		// this one true.
		if a == Bool && !(plainBool(n.Left) && plainBool(n.Right)) {
			return nil, "", t.errorf(n, "%s compares a bool only with true, false or another name: use and, or, not", n.Operator)
		}
	default:
		return nil, "", t.errorf(n, "%s is not part of a condition", n.Operator)
	}
	if err != nil {
		return nil, "", err
	}
	// A new node: the parser shares one where comparisons are chained.
	return join(n, n.Operator, left, right), result, nil
}

// arithmetic notes what has no value whatever the names are: a division by what is always
// 0, such as 1 - 1 or queue - queue, and constants that are too large together.
func (t *typer) arithmetic(n *ast.BinaryNode, left, right ast.Node) {
	if t.undefined != nil {
		return
	}
	if n.Operator == "/" && alwaysZero(right) {
		t.undefined = t.errorf(n.Right, "nothing is divided by 0")
	} else if x, known := constant(join(n, n.Operator, left, right)); known && math.IsInf(x, 0) {
		t.undefined = t.errorf(n, "this number is too large")
	}
}

// alwaysZero reports whether n is 0 wherever it has a value, as queue*idle - idle*queue is, or
// 0/queue, or queue/queue - 1. It brings n to one fraction of two sums of products, and looks
// whether that on top is 0. Numbers are rounded as in an evaluation, so that
// queue/10*3 - queue*0.3 may not be seen. It says no of what has more than maxMultiplied parts
// (names, numbers and operators) unless it is a constant, and where two sums would be multiplied
// to more than maxTerms terms unless the same stands on both sides of a minus. So a condition
// takes time in proportion to its length.
func alwaysZero(n ast.Node) bool {
	if within(n, maxMultiplied) < 0 {
		x, known := constant(n)
		return known && x == 0
	}
	return isZero(asFraction(n).top)
}

// maxMultiplied is how many parts a divisor may have for its sums to be multiplied out.
const maxMultiplied = 32

// within is most less the parts of n, or negative.
func within(n ast.Node, most int) int {
	most--
	switch n := n.(type) {
	case *ast.UnaryNode:
		most = within(n.Node, most)
	case *ast.BinaryNode:
		if most = within(n.Left, most); most >= 0 {
			most = within(n.Right, most)
		}
	}
	return most
}

// isZero reports whether all factors of a sum are 0.
func isZero(s sum) bool {
	for _, x := range s {
		if x != 0 {
			return false
		}
	}
	return true
}

// maxTerms is how many terms a product of sums may have to be multiplied out.
const maxTerms = 64

// A sum is the factor of each of its terms by the texts of what is multiplied in it, in order
// and each after a NUL. That of the term "" is a number.
type sum = map[string]float64

// one is the sum 1.
var one = sum{"": 1}

// fraction is one sum divided by another one, which is not 0.
type fraction struct{ top, bottom sum }

// asFraction is n as a fraction, which has the same value wherever n has one. What is no
// number, sum, product or quotient, or would have too many terms, is a term by itself.
func asFraction(n ast.Node) fraction {
	switch n := n.(type) {
	case *ast.FloatNode:
		return fraction{sum{"": n.Value}, one}
	case *ast.UnaryNode:
		f := asFraction(n.Node)
		if n.Operator == "-" {
			f.top = plus(nil, f.top, -1)
		}
		return f
	case *ast.BinaryNode:
		if f, ok := combine(n.Operator, asFraction(n.Left), asFraction(n.Right)); ok {
			return f
		}
	}
	return fraction{sum{"\x00" + n.String(): 1}, one}
}

// combine is a and b with an operator between them, if that has few enough terms, and b is
// not 0 where it divides.
func combine(operator string, a, b fraction) (f fraction, ok bool) {
	switch operator {
	case "+", "-":
		sign := 1.0
		if operator == "-" {
			sign = -1
		}
		if maps.Equal(a.bottom, b.bottom) {
			return fraction{plus(a.top, b.top, sign), a.bottom}, true
		}
		left, fits := times(a.top, b.bottom)
		right, fit := times(b.top, a.bottom)
		f.top = plus(left, right, sign)
		f.bottom, ok = times(a.bottom, b.bottom)
		return f, ok && fits && fit
	case "/":
		if isZero(b.top) {
			return f, false
		}
		if y, only := onlyNumber(b.top); only { // so that no number comes to stand below
			return combine("*", fraction{plus(nil, a.top, 1/y), a.bottom}, fraction{b.bottom, one})
		}
		return combine("*", a, fraction{b.bottom, b.top})
	case "*":
		top, fits := times(a.top, b.top)
		bottom, fit := times(a.bottom, b.bottom)
		return fraction{top, bottom}, fits && fit
	}
	return f, false
}

// times is a times b, multiplied out, if that has few enough terms.
func times(a, b sum) (product sum, ok bool) {
	if len(a)*len(b) > maxTerms {
		return nil, false
	}
	product = make(sum, len(a)*len(b))
	right := slices.Sorted(maps.Keys(b))
	for _, s := range slices.Sorted(maps.Keys(a)) { // in order, as sums are rounded
		for _, t := range right {
			x := a[s] * b[t]
			if x == 0 && a[s] != 0 && b[t] != 0 {
				return nil, false // too small a number for a float
			}
			factors := strings.Split(s+t, "\x00")
			slices.Sort(factors[1:])
			product[strings.Join(factors, "\x00")] += x
		}
	}
	return product, true
}

// plus is a and x times b.
func plus(a, b sum, x float64) sum {
	total := maps.Clone(a)
	if total == nil {
		total = make(sum)
	}
	for term, factor := range b {
		total[term] += x * factor
	}
	return total
}

// onlyNumber is the value of a sum that has no names.
func onlyNumber(s sum) (x float64, only bool) {
	for term, factor := range s {
		if term != "" && factor != 0 {
			return 0, false
		}
	}
	return s[""], true
}

// constant is the value of a number without names.
func constant(n ast.Node) (x float64, known bool) {
	switch n := n.(type) {
	case *ast.FloatNode:
		return n.Value, true
	case *ast.UnaryNode:
		x, known = constant(n.Node)
		if n.Operator == "-" {
			x = -x
		}
		return x, known
	case *ast.BinaryNode:
		a, left := constant(n.Left)
		if !left {
			return 0, false
		}
		b, right := constant(n.Right)
		switch known = right; n.Operator {
		case "+":
			return a + b, known
		case "-":
			return a - b, known
		case "*":
			return a * b, known
		case "/":
			return a / b, known
		}
	}
	return 0, false
}

func plainBool(n ast.Node) bool {
	switch n.(type) {
	case *ast.IdentifierNode, *ast.BoolNode:
		return true
	}
	return false
}

// in turns `x in [a, b]` into `x == a || x == b`.
func (t *typer) in(n *ast.BinaryNode) (ast.Node, Type, error) {
	left, kind, err := t.node(n.Left)
	if err != nil {
		return nil, "", err
	}
	if kind == Bool {
		return nil, "", t.errorf(n, "in is for numbers and texts, not for a bool")
	}
	list, ok := n.Right.(*ast.ArrayNode)
	if !ok {
		return nil, "", t.errorf(n.Right, `after "in" comes a list: in [1, 2]`)
	}
	if len(list.Nodes) == 0 {
		return nil, "", t.errorf(list, "this list is empty")
	}
	var either ast.Node
	for _, item := range list.Nodes {
		right, k, err := t.node(item)
		if err != nil {
			return nil, "", err
		}
		if k != kind {
			return nil, "", t.errorf(item, "a %s is never equal to a %s", kind, k)
		}
		if equal := join(n, "==", left, right); either == nil {
			either = equal
		} else {
			either = join(n, "||", either, equal)
		}
	}
	return either, Bool, nil
}

func join(place ast.Node, operator string, left, right ast.Node) ast.Node {
	return replace(place, &ast.BinaryNode{Operator: operator, Left: left, Right: right})
}

func unequal(place, left, right ast.Node) ast.Node {
	return join(place, "||", join(place, "<", left, right), join(place, ">", left, right))
}

// negate returns what holds where n does not, but for what is not known. n is what
// typer has made, so its numbers can be told from the operators.
func (t *typer) negate(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.BoolNode:
		return replace(n, &ast.BoolNode{Value: !n.Value})
	case *ast.UnaryNode: // a `not` that was left
		return n.Node
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&", "and":
			return join(n, "||", t.negate(n.Left), t.negate(n.Right))
		case "||", "or":
			return join(n, "&&", t.negate(n.Left), t.negate(n.Right))
		case "<":
			return join(n, ">=", n.Left, n.Right)
		case "<=":
			return join(n, ">", n.Left, n.Right)
		case ">":
			return join(n, "<=", n.Left, n.Right)
		case ">=":
			return join(n, "<", n.Left, n.Right)
		case "==":
			if t.isNumber(n.Left) {
				return unequal(n, n.Left, n.Right)
			}
			return join(n, "!=", n.Left, n.Right)
		case "!=":
			return join(n, "==", n.Left, n.Right)
		}
	}
	return replace(n, &ast.UnaryNode{Operator: "not", Node: n})
}
