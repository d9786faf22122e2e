package condition

import (
	"fmt"
	"strings"
)

// Table returns the names as a table in Markdown, for documents.
func Table(names []Name) string {
	var b strings.Builder
	b.WriteString("| name | unit | what it is |\n| --- | --- | --- |\n")
	for _, n := range names {
		unit := n.Unit
		if unit == "" {
			unit = string(n.Type)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", n.Name, unit, n.Doc)
	}
	return b.String()
}
