package api

import (
	"net/http"

	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/nodes"
	"github.com/throng-dev/throng/internal/wire"
)

func toNode(n nodes.Node) wire.Node { return wire.Node(n) }

func (a *api) nodes() {
	add(a, op{method: http.MethodGet, path: "/v1/nodes", summary: "List the nodes", tag: "Nodes", access: access.NodesList,
		text: "The servers that share one PostgreSQL database and went on within the last day, by name. One of them has the database, and runs all pools; the others send it the requests that they get. Empty if the server is alone."},
		own(a.app.Nodes.List, all(toNode)))
}
