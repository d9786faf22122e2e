package condition

import "github.com/expr-lang/expr/ast"

// Bounds returns the numbers above which, or from which on, a name has to be for a comparison of a
// condition to be true, in the order of the text: of "drift > 2 or 3 <= drift" 2 and 3. Other
// comparisons, and such in a "not", have none.
func Bounds(text, name string) []float64 {
	var list []float64
	bounds(Syntax(text), name, &list)
	return list
}

func bounds(node ast.Node, name string, list *[]float64) {
	n, ok := node.(*ast.BinaryNode)
	if !ok {
		return
	}
	left, right := n.Left, n.Right
	switch n.Operator {
	case "and", "&&", "or", "||":
		bounds(left, name, list)
		bounds(right, name, list)
		return
	case "<", "<=":
		left, right = right, left
	case ">", ">=":
	default:
		return
	}
	if x, is := left.(*ast.IdentifierNode); !is || x.Value != name {
		return
	}
	switch x := right.(type) {
	case *ast.IntegerNode:
		*list = append(*list, float64(x.Value))
	case *ast.FloatNode:
		*list = append(*list, x.Value)
	}
}
