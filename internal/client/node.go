package client

import (
	"context"

	"github.com/throng-dev/throng/internal/wire"
)

// Nodes lists the nodes that share the server's database; none if it is alone.
func (c *Client) Nodes(ctx context.Context) ([]wire.Node, error) {
	return get[[]wire.Node](ctx, c, "/v1/nodes")
}
