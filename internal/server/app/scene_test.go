package app_test

import (
	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
)

// scene is what an access test acts on. Everything is of ann's tenant.
type scene struct {
	*world
	draft, running crowd.BatchID
	held           crowd.AssignmentID // by the worker
	run            crowd.RunID        // the last one that under made
	ready          *prepared          // if not nil, what the methods below return instead of making it
}

// prepared is what use cases act on that was made before.
type prepared struct {
	made, running crowd.RunID
	invitation    accounts.InvitationView
	test          store.Test
}
