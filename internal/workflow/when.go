package workflow

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
)

// when reads the condition of a step.
func (r *reader) when(m *made) {
	if v := m.value.Get("when"); v != nil {
		m.step.When = r.condition(m, v, "")
	}
}

// condition reads a condition over the columns of a node; nil, if it is wrong. Its names must be columns,
// its types must fit, and a label must be one that its template has. Whether it can ever
// hold is not checked. Messages name the node by what in says, if that is not clear.
func (r *reader) condition(m *made, v *fields.Part, in string) *condition.Condition {
	tree := condition.Syntax(v.Text())
	if !r.knownNames(m, v, tree, in) {
		return nil
	}
	c, err := r.compile(v.Text(), tree, m.conditionNames(tree))
	if err == nil && !r.now.IsZero() { // files that are kept may have it
		err = c.Defined()
	}
	var wrong *condition.Error
	switch {
	case err == nil:
		if tree != nil {
			r.labels(m, tree, v)
		}
	case m.lost && tree != nil: // its names may have other types than those taken for granted
	case errors.As(err, &wrong):
		r.problem(v.Node.At(wrong.Line, wrong.Column), "when: %s%s", wrong.Message, r.typeHint(m, tree))
	default:
		r.problem(v.At(), "when: %v", err)
	}
	return c
}

// compile makes a condition ready to use. Classes have the same one for every input: it is
// compiled once for those in which its names have the same types.
func (r *reader) compile(text string, tree ast.Node, names []condition.Name) (*condition.Condition, error) {
	key := text
	if tree != nil {
		for _, i := range identifiers(tree) {
			if at := slices.IndexFunc(names, func(n condition.Name) bool { return n.Name == i.Value }); at >= 0 {
				key += "\x00" + i.Value + " " + string(names[at].Type)
			}
		}
	}
	if c := r.compiled[key]; c != nil {
		return c, nil
	}
	c, err := condition.Compile(text, names)
	if err == nil {
		if r.compiled == nil {
			r.compiled = make(map[string]*condition.Condition)
		}
		r.compiled[key] = c
	}
	return c, err
}

// conditionNames returns the names that a condition of the step may have: its
// columns and, where these are not all known, whatever else the condition names.
func (m *made) conditionNames(tree ast.Node) []condition.Name {
	names := lists.Map(m.columns, func(c owned) condition.Name { return condition.Name{Name: c.Name, Type: c.Type} })
	if m.open && tree != nil {
		names = append(names, m.guessed(tree, openOrigin(m))...)
	}
	return names
}

// guessed returns the names of a condition that are not known. Those of an open
// input are texts. Those of a query that could not be checked are what they are
// used as: Fit will know.
func (m *made) guessed(tree ast.Node, origin *made) []condition.Name {
	var names []condition.Name
	numbers := map[string]bool{}
	unknown := func(name string) bool {
		_, known := m.column(name)
		return !known && !numbers[name]
	}
	for origin != nil && origin.step != nil {
		name := mistyped(tree, unknown)
		if name == "" {
			break
		}
		numbers[name] = true
	}
	for _, i := range identifiers(tree) {
		switch {
		case numbers[i.Value]:
			names = append(names, condition.Name{Name: i.Value, Type: condition.Number})
		case unknown(i.Value):
			names = append(names, condition.Name{Name: i.Value, Type: condition.Text})
		}
	}
	return names
}

// knownNames notes every name in a condition that is no column; condition.Compile
// would tell the first only.
func (r *reader) knownNames(m *made, v *fields.Part, tree ast.Node, in string) bool {
	if tree == nil || m.open {
		return true
	}
	ok := true
	for _, i := range identifiers(tree) {
		if _, known := m.column(i.Value); !known {
			line, column := lineColumn(v.Text(), i.Location().From)
			r.problem(v.Node.At(line, column), "when: there is no column %s%s: %s", yamlfile.Quote(i.Value), in, r.notes.Hint(i.Value, m.columnNames()))
			ok = false
		}
	}
	return ok
}

// labels notes comparisons of a label with a text that is no option of its
// template. The empty text is the label of a branch that was not taken.
func (r *reader) labels(m *made, tree ast.Node, v *fields.Part) {
	ast.Walk(&tree, visitor(func(n ast.Node) {
		b, ok := n.(*ast.BinaryNode)
		if !ok || !slices.Contains([]string{"==", "!=", "in"}, b.Operator) {
			return
		}
		name, other := b.Left, b.Right
		if _, named := name.(*ast.IdentifierNode); !named {
			name, other = other, name
		}
		i, named := name.(*ast.IdentifierNode)
		if !named {
			return
		}
		options, owner := m.labelOptions(i.Value)
		others := []ast.Node{other}
		if list, ok := other.(*ast.ArrayNode); ok {
			others = list.Nodes
		}
		for _, o := range others {
			text, ok := o.(*ast.StringNode)
			if !ok || text.Value == "" || len(options) == 0 || slices.Contains(options, text.Value) {
				continue
			}
			hint := ": they are " + yamlfile.Enumerate(options)
			if near := r.notes.Near(text.Value, options); near != "" {
				hint = fmt.Sprintf(": did you mean %q?", near)
			}
			r.problem(v.Node.At(lineColumn(v.Text(), o.Location().From)), "when: %s is no answer of %s%s", yamlfile.Quote(text.Value), owner, hint)
		}
	}))
}

// labelOptions returns the labels that a column can hold, and the crowd step that
// adds it; nil if the column is no label, or its labels are not few.
func (m *made) labelOptions(column string) (options []string, owner string) {
	c, known := m.column(column)
	if !known || c.owner.step == nil || c.owner.step.Crowd() == nil || c.Name != c.owner.step.Crowd().Output {
		return nil, ""
	}
	return c.owner.options, c.owner.name
}

// typeHint says where to declare a column whose type is the trouble.
func (r *reader) typeHint(m *made, tree ast.Node) string {
	if tree == nil {
		return ""
	}
	name := mistyped(tree, func(name string) bool {
		c, known := m.column(name)
		return known && c.Type == condition.Text || !known && m.open
	})
	if name == "" {
		return ""
	}
	var owner *made
	if c, known := m.column(name); known {
		owner = c.owner
	} else {
		owner = openOrigin(m)
	}
	switch {
	case owner == nil:
		return "; the type of " + name + " is declared where it comes from"
	case owner.input != nil:
		return "; " + name + " is a text unless inputs: " + owner.name + ": columns: [{" + name + ": number}] declares it"
	}
	return "; " + owner.kind.typeHint(owner.name, name)
}

// openOrigin returns the node whose columns are not known, if there is one only.
func openOrigin(m *made) *made {
	if m.family == m.index && m.open { // items begin in it
		return m
	}
	found := map[*made]bool{}
	seen := map[*made]bool{}
	var visit func(m *made)
	visit = func(m *made) {
		if m == nil || seen[m] || !m.open {
			return
		}
		seen[m] = true
		if m.input != nil || m.kind != nil && m.kind.reshapes {
			found[m] = true
			return
		}
		for _, s := range m.sources {
			visit(s.from)
		}
	}
	for _, s := range m.sources {
		visit(s.from)
	}
	if len(found) != 1 {
		return nil
	}
	for m := range found {
		return m
	}
	return nil
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
			if numeric || hasNumber(side.other) {
				first, at = i.Value, i.Location().From
			}
		}
	}))
	return first
}

// hasNumber reports whether a node is a number, or a list with numbers in it.
func hasNumber(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return true
	case *ast.UnaryNode:
		return (n.Operator == "-" || n.Operator == "+") && hasNumber(n.Node)
	case *ast.ArrayNode:
		return slices.ContainsFunc(n.Nodes, hasNumber)
	}
	return false
}
