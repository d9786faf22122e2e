package cli

import "github.com/throng-dev/throng/internal/wire"

// Nodes is "throng nodes".
type Nodes struct{ Remote }

// Run lists the nodes.
func (x *Nodes) Run(c *Context, r *remote) error {
	list, err := r.Nodes(c.Ctx)
	return printTable(r, list, err, "NAME|STATE|ADDRESS|VERSION|UP FOR|PROBLEM", func(n wire.Node) []any {
		return []any{n.Name, nodeState(n), n.Address, n.Version, ago(n.StartedAt), n.Problem}
	})
}

// nodeState says in a word what a node does.
func nodeState(n wire.Node) string {
	switch {
	case n.Owner:
		return "owner"
	case n.Alive:
		return "standby"
	}
	return "gone"
}
