package cli

import (
	"testing"

	"github.com/throng-dev/throng/internal/wire"
)

// TestWayOut: what is held can be given up, a step that has failed cannot.
func TestWayOut(t *testing.T) {
	t.Parallel()
	failed, held := wire.RunNode{Name: "score", State: "failed", Waiting: 3}, wire.RunNode{State: "running", Inside: 2, Held: 2}
	for want, nodes := range map[string][]wire.RunNode{
		"retry or cancel (then throng workflow run FILE --from-run r3 --from score goes on with what is done)": {{State: "done"}, failed},
		"retry or skip": {failed, held},
	} {
		if got := wayOut(&wire.Run{RunHead: wire.RunHead{ID: 3}, Nodes: nodes}); got != want {
			t.Errorf("%+v: %q, want %q", nodes, got, want)
		}
	}
}
