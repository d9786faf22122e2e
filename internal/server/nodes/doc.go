// Package nodes lets servers that share a database act as one: whoever does not have the
// database sends each request on to who has it. The two know each other by certificates
// that they make when they start, and whose sums they keep in the database: who cannot
// write there can neither take requests in the name of a node, nor say from where one came.
package nodes

import (
	"context"
	"time"

	"github.com/throng-dev/throng/internal/server/access"
)

// Node is one of the servers that share a database.
type Node struct {
	Name      string
	Address   string // host:port, where other nodes reach it
	Version   string // of the program
	StartedAt time.Time
	Alive     bool   // it has shown that it goes on, within the last 3 seconds
	Owner     bool   // it has the database, and runs all pools
	Problem   string // why it could not take the database; "": it could
}

// Nodes tells of the nodes.
type Nodes struct {
	read func(context.Context) ([]Node, error)
}

// New returns Nodes that are read by a function; nil: the server is no node.
func New(read func(context.Context) ([]Node, error)) *Nodes { return &Nodes{read} }

// List returns the nodes that went on within the last day, in order of their names; none if
// the server is no node.
func (n *Nodes) List(ctx context.Context, p *access.Principal) ([]Node, error) {
	if err := p.May(access.NodesList); err != nil {
		return nil, err
	}
	if n.read == nil {
		return nil, nil
	}
	return n.read(ctx)
}
