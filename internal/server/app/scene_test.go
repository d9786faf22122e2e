package app_test

import (
	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
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
	made, running, open crowd.RunID
	invitation          accounts.InvitationView
	test                store.Test
}

// openStep is a workflow that waits for all rows of an open input.
const openStep = `
workflow: counted
inputs: {things: {columns: [{id: number}, thing], open: true}}
steps:
  many: {from: things, sql: select count(*) as n from things}
`

// open is a run of ann's tenant with an open input.
func (s *scene) open() crowd.RunID {
	s.t.Helper()
	if s.ready != nil {
		return s.ready.open
	}
	id := must(s.Runs.Make(s.ctx, s.admin, orchestrator.NewRun{Tenant: s.a, Text: openStep}))(s.t).Run.ID
	must(s.Runs.Start(s.ctx, s.admin, id, false))(s.t)
	return id
}
