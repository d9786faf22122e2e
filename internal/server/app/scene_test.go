package app_test

import (
	"fmt"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/store"
)

// scene is what an access test acts on. Everything is of ann's tenant.
type scene struct {
	*world
	draft, running crowd.BatchID
	held           crowd.AssignmentID // by the worker
	run            crowd.RunID        // the last one that under made
	old            bool               // under may return that again: what is called leaves it as it is
	ready          *prepared          // if not nil, what the methods below return instead of making it
}

// prepared is what use cases act on that was made before.
type prepared struct {
	made, running, open crowd.RunID
	invitation          accounts.InvitationView
	test                store.Test
	reported            crowd.TaskID
	warned              crowd.BatchID
	answered            crowd.BatchID
	correctable         crowd.TaskID
	pay                 map[store.PayState]crowd.AssignmentID // of the first worker's
}

// request calls something as the edges do: at its end, it gives back what it held, such as
// one of the downloads that a person may have at once. Without, those after it wait for one.
func (s *scene) request(call func(*scene, *access.Principal) error, p *access.Principal) error {
	plain := s.ctx
	ctx, end := limits.WithEnds(plain)
	defer func() { s.world.ctx = plain; end() }()
	s.world.ctx = ctx
	return call(s, p)
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

// made is a new run of ann's tenant that has no inputs yet.
func (s *scene) made() crowd.RunID {
	s.t.Helper()
	if s.ready != nil {
		return s.ready.made
	}
	return must(s.Runs.Make(s.ctx, s.admin, orchestrator.NewRun{Tenant: s.a, Text: oneStep, Budget: crowd.Unit}))(s.t).Run.ID
}

// under is a new run of ann's tenant that is under way. The one before it is
// given up, so that nobody gets its tasks.
func (s *scene) under() crowd.RunID {
	s.t.Helper()
	if s.ready != nil {
		return s.ready.running
	}
	if s.old && s.run != 0 {
		return s.run
	}
	s.giveUp()
	s.run = s.made()
	must(s.Runs.Load(s.ctx, s.admin, s.run, "things", file(s.t, thingsWithID(2))))(s.t)
	must(s.Runs.Start(s.ctx, s.admin, s.run, false))(s.t)
	s.until(func() bool { return must(s.Runs.Get(s.ctx, s.admin, s.run))(s.t).Nodes[1].Node.Batch != 0 })
	return s.run
}

// giveUp cancels the run that is under way, if there is one.
func (s *scene) giveUp() {
	s.t.Helper()
	if s.run == 0 {
		return
	}
	if _, err := s.Runs.Cancel(s.ctx, s.admin, s.run); err != nil {
		refused(s.t, err, crowd.Conflict) // it has ended
	}
}

// entryOfA is the number of an entry of the audit log about something of the first tenant.
func (s *scene) entryOfA() int64 {
	s.t.Helper()
	return must(s.store.AuditEntries(s.ctx, store.AuditFilter{Tenant: s.a, Limit: 1}))(s.t)[0].Number
}

// invited is a new invitation of ann's tenant.
func (s *scene) invited() accounts.InvitationView {
	s.t.Helper()
	if s.ready != nil {
		return s.ready.invitation
	}
	s.clock.advance(time.Second)
	address := fmt.Sprintf("p%d@example.org", s.clock.now().UnixNano())
	r := must(s.Invitations.Invite(s.ctx, s.admin, accounts.NewInvitations{Tenant: s.a, Pool: s.pool, Addresses: []string{address}}))(s.t)
	return r.Invited[0]
}

// given is a new test of ann's tenant.
func (s *scene) given() store.Test {
	s.t.Helper()
	if s.ready != nil {
		return s.ready.test
	}
	s.clock.advance(time.Second)
	return must(s.Tests.Create(s.ctx, s.admin, accounts.NewTest{
		Tenant: s.a, Name: s.clock.now().Format(time.RFC3339Nano), Template: []byte(yesOrNo), Questions: alive(2), PassMark: 50,
	}))(s.t)
}

// asked invites p to a new test, and accepts for them.
func (s *scene) asked(p *access.Principal) int64 {
	s.t.Helper()
	if s.ready != nil {
		return s.ready.test.ID
	}
	test := s.given().ID
	if p.User.ID == 999 || p.User.ID == 0 { // is nobody
		return test
	}
	r := must(s.Invitations.Invite(s.ctx, s.admin, accounts.NewInvitations{Pool: s.pool, Test: test, Addresses: []string{"somebody@example.org"}}))(s.t)
	// As somebody accepted who has become staff since: staff cannot accept.
	must(s.store.AcceptInvitation(s.ctx, r.Invited[0].Invitation, must(s.store.User(s.ctx, p.User.ID))(s.t), nil))(s.t)
	return test
}
