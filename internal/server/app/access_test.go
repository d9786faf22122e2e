package app_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/store"
)

// scene is what an access test acts on. Everything is of ann's tenant.
type scene struct {
	*world
	draft, running crowd.BatchID
	held           crowd.AssignmentID // by the worker
	run            crowd.RunID        // the last one that under made
}

// access says who may call a method.
type access int

const (
	open     access = iota // asks for no principal
	adminly                // admins
	tenantly               // admins, and requesters of the tenant
	workerly               // workers
	selfly                 // everybody, about himself
	pooly                  // admins, requesters of any tenant, and workers
)

// methods has an entry for each method of each use case.
var methods = map[string]struct {
	access access
	call   func(s *scene, p *app.Principal) error
}{
	"Accounts.Authenticate": {access: open}, "Accounts.Bootstrap": {access: open},
	"Accounts.Setup": {access: open}, "Accounts.SetupUser": {access: open}, "Accounts.SignIn": {access: open},
	"Control.Step": {access: open}, "Outbox.SendDue": {access: open}, "Duty.PushKey": {access: open},
	"Pools.Figures": {access: open}, "Pools.ActionsAfter": {access: open}, "Work.IsTraining": {access: open}, // whoever asks has checked

	"Batches.PoolState": {adminly, func(s *scene, p *app.Principal) error { return second(s.Batches.PoolState(s.ctx, p, s.pool)) }},
	"Tenants.Create":    {adminly, func(s *scene, p *app.Principal) error { return second(s.Tenants.Create(s.ctx, p, "cats", 1)) }},
	"Tenants.Deposit":   {adminly, func(s *scene, p *app.Principal) error { return s.Tenants.Deposit(s.ctx, p, s.a, 1, "") }},
	"Pools.Create":      {adminly, func(s *scene, p *app.Principal) error { return second(s.Pools.Create(s.ctx, p, "night", "fifo")) }},
	"Pools.Update": {adminly, func(s *scene, p *app.Principal) error {
		return second(s.Pools.Update(s.ctx, p, s.pool, app.PoolEdit{}))
	}},
	"Pools.StopEverything": {adminly, func(s *scene, p *app.Principal) error { return s.Pools.StopEverything(s.ctx, p, false) }},
	"Pools.Order":          {adminly, func(s *scene, p *app.Principal) error { return second(s.Pools.Order(s.ctx, p, s.pool)) }},
	"Accounts.UpdateUser": {adminly, func(s *scene, p *app.Principal) error {
		return second(s.Accounts.UpdateUser(s.ctx, p, s.bob.User.ID, app.UserEdit{}))
	}},
	"Accounts.NewSetupLink": {adminly, func(s *scene, p *app.Principal) error {
		return second(s.Accounts.NewSetupLink(s.ctx, p, s.bob.User.ID))
	}},
	"Pools.List": {pooly, func(s *scene, p *app.Principal) error { return second(s.Pools.List(s.ctx, p)) }},

	"Pools.Get":     {adminly, func(s *scene, p *app.Principal) error { return second(s.Pools.Get(s.ctx, p, s.pool)) }},
	"Pools.Fund":    {adminly, func(s *scene, p *app.Principal) error { return second(s.Pools.Fund(s.ctx, p, s.pool, 1)) }},
	"Pools.Account": {adminly, func(s *scene, p *app.Principal) error { return second(s.Pools.Account(s.ctx, p, s.pool, 0, 1)) }},
	"Pools.Samples": {adminly, func(s *scene, p *app.Principal) error {
		return second(s.Pools.Samples(s.ctx, p, s.pool, time.Time{}))
	}},
	"Pools.RecentSamples": {adminly, func(s *scene, p *app.Principal) error {
		return second(s.Pools.RecentSamples(s.ctx, p, s.pool, time.Hour))
	}},
	"Pools.Actions": {adminly, func(s *scene, p *app.Principal) error { return second(s.Pools.Actions(s.ctx, p, s.pool, 0, 1)) }},
	"Pools.People":  {adminly, func(s *scene, p *app.Principal) error { return second(s.Pools.People(s.ctx, p, s.pool)) }},
	"Pools.Calls":   {adminly, func(s *scene, p *app.Principal) error { return second(s.Pools.Calls(s.ctx, p, s.pool)) }},
	"Pools.Change": {adminly, func(s *scene, p *app.Principal) error {
		return second(s.Pools.Change(s.ctx, p, s.pool, func(store.Pool) app.PoolEdit { return app.PoolEdit{} }))
	}},
	"Pools.TestOwnRules": {adminly, func(s *scene, p *app.Principal) error {
		_, _, err := s.Pools.TestOwnRules(s.ctx, p, s.pool)
		return err
	}},
	"Transfers.MoveFrom": {adminly, func(s *scene, p *app.Principal) error {
		return second(s.Transfers.MoveFrom(s.ctx, p, s.pool, s.workers[0].User.ID, s.pool))
	}},
	"Pools.TestRules": {adminly, func(s *scene, p *app.Principal) error { return second(s.Pools.TestRules(s.ctx, p, s.pool, nil)) }},
	"Transfers.Move": {adminly, func(s *scene, p *app.Principal) error {
		return second(s.Transfers.Move(s.ctx, p, s.workers[0].User.ID, s.pool))
	}},
	"Outbox.View": {adminly, func(s *scene, p *app.Principal) error { return second(s.Outbox.View(s.ctx, p)) }},

	"Tenants.Update": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.Tenants.Update(s.ctx, p, s.a, app.TenantEdit{Stopped: new(bool)}))
	}},
	"Tenants.Account": {tenantly, func(s *scene, p *app.Principal) error {
		_, _, err := s.Tenants.Account(s.ctx, p, s.a, 0, 1)
		return err
	}},
	"Accounts.CreateUser": {tenantly, func(s *scene, p *app.Principal) error {
		_, _, err := s.Accounts.CreateUser(s.ctx, p, app.NewUser{Name: "dora", Tenants: []crowd.TenantID{s.a}})
		return err
	}},
	"Accounts.Users": {tenantly, func(s *scene, p *app.Principal) error { return second(s.Accounts.Users(s.ctx, p, s.a, 0, 1)) }},
	"Accounts.BlockWorker": {tenantly, func(s *scene, p *app.Principal) error {
		return s.Accounts.BlockWorker(s.ctx, p, s.a, s.workers[0].User.ID, false)
	}},
	"Batches.Create": {tenantly, func(s *scene, p *app.Principal) error { return second(s.Batches.Create(s.ctx, p, s.definition())) }},
	"Batches.List":   {tenantly, func(s *scene, p *app.Principal) error { return second(s.Batches.List(s.ctx, p, s.a, 0, 1)) }},
	"Batches.EditDraft": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.Batches.EditDraft(s.ctx, p, s.draft, s.definition()))
	}},
	"Batches.Upload": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.Batches.Upload(s.ctx, p, s.draft, things(1), app.Upload{}))
	}},
	"Batches.Preview": {tenantly, func(s *scene, p *app.Principal) error { return second(s.Batches.Preview(s.ctx, p, s.draft, 1)) }},
	"Batches.Launch":  {tenantly, func(s *scene, p *app.Principal) error { return second(s.Batches.Launch(s.ctx, p, s.draft, false)) }},
	"Batches.Pause":   {tenantly, func(s *scene, p *app.Principal) error { return second(s.Batches.Pause(s.ctx, p, s.running)) }},
	"Batches.Resume":  {tenantly, func(s *scene, p *app.Principal) error { return second(s.Batches.Resume(s.ctx, p, s.running)) }},
	"Batches.End":     {tenantly, func(s *scene, p *app.Principal) error { return second(s.Batches.End(s.ctx, p, s.running)) }},
	"Batches.Cancel":  {tenantly, func(s *scene, p *app.Principal) error { return second(s.Batches.Cancel(s.ctx, p, s.draft)) }},
	"Batches.TopUp":   {tenantly, func(s *scene, p *app.Principal) error { return second(s.Batches.TopUp(s.ctx, p, s.running, 1)) }},
	"Batches.Edit": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.Batches.Edit(s.ctx, p, s.running, app.BatchEdit{}))
	}},
	"Batches.Get":     {tenantly, func(s *scene, p *app.Principal) error { return second(s.Batches.Get(s.ctx, p, s.running)) }},
	"Batches.Holding": {tenantly, func(s *scene, p *app.Principal) error { return second(s.Batches.Holding(s.ctx, p, s.running)) }},
	"Batches.Why":     {tenantly, func(s *scene, p *app.Principal) error { return second(s.Batches.Why(s.ctx, p, s.running)) }},
	"Batches.Quality": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.Batches.Quality(s.ctx, p, s.running, "majority"))
	}},
	"Batches.Holders": {tenantly, func(s *scene, p *app.Principal) error {
		_, _, err := s.Batches.Holders(s.ctx, p, s.running, 1)
		return err
	}},
	"Batches.Annotations": {tenantly, func(s *scene, p *app.Principal) error {
		_, _, err := s.Batches.Annotations(s.ctx, p, s.running, false)
		return err
	}},
	"Batches.Labels": {tenantly, func(s *scene, p *app.Principal) error {
		_, _, err := s.Batches.Labels(s.ctx, p, s.running)
		return err
	}},
	"Batches.Forecast": {tenantly, func(s *scene, p *app.Principal) error { return second(s.Batches.Forecast(s.ctx, p, s.running)) }},
	"Batches.Watch": {tenantly, func(s *scene, p *app.Principal) error {
		_, stop, err := s.Batches.Watch(s.ctx, p, s.running)
		if err == nil {
			stop()
		}
		return err
	}},

	"Work.Next":       {workerly, func(s *scene, p *app.Principal) error { return second(s.Work.Next(s.ctx, p, 0)) }},
	"Work.Current":    {workerly, func(s *scene, p *app.Principal) error { return second(s.Work.Current(s.ctx, p)) }},
	"Work.WhyNothing": {workerly, func(s *scene, p *app.Principal) error { return second(s.Work.WhyNothing(s.ctx, p)) }},
	"Work.Heartbeat":  {workerly, func(s *scene, p *app.Principal) error { return second(s.Work.Heartbeat(s.ctx, p, s.held)) }},
	"Work.Skip":       {workerly, func(s *scene, p *app.Principal) error { return second(s.Work.Skip(s.ctx, p, s.held, 0)) }},
	"Work.Return":     {workerly, func(s *scene, p *app.Principal) error { return s.Work.Return(s.ctx, p, s.held) }},
	"Work.Submit": {workerly, func(s *scene, p *app.Principal) error {
		_, _, err := s.Work.Submit(s.ctx, p, s.held, yes, false, 0)
		return err
	}},
	"Work.Earnings": {workerly, func(s *scene, p *app.Principal) error {
		_, _, err := s.Work.Earnings(s.ctx, p, 1)
		return err
	}},

	"Duty.Get":    {workerly, func(s *scene, p *app.Principal) error { return second(s.Duty.Get(s.ctx, p)) }},
	"Duty.WhyOff": {workerly, func(s *scene, p *app.Principal) error { return second(s.Duty.WhyOff(s.ctx, p)) }},
	"Duty.Watch": {workerly, func(s *scene, p *app.Principal) error {
		_, stop, err := s.Duty.Watch(s.ctx, p)
		if err == nil {
			stop()
		}
		return err
	}},
	"Duty.Await": {workerly, func(s *scene, p *app.Principal) error {
		return second(s.Duty.Await(s.ctx, p, 0, func(app.DutyView) bool { return true }))
	}},
	"Duty.Start":       {workerly, func(s *scene, p *app.Principal) error { return second(s.Duty.Start(s.ctx, p)) }},
	"Duty.End":         {workerly, func(s *scene, p *app.Principal) error { return second(s.Duty.End(s.ctx, p)) }},
	"Duty.DeclineCall": {workerly, func(s *scene, p *app.Principal) error { return s.Duty.DeclineCall(s.ctx, p) }},
	"Duty.SetWishes":   {workerly, func(s *scene, p *app.Principal) error { return second(s.Duty.SetWishes(s.ctx, p, app.Wishes{})) }},
	"Duty.Subscribe": {workerly, func(s *scene, p *app.Principal) error {
		return second(s.Duty.Subscribe(s.ctx, p, store.Subscription{}))
	}},

	"Invitations.Open": {access: open}, "Invitations.Join": {access: open}, "Invitations.Decline": {access: open}, // by the link alone

	"Invitations.Invite": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.Invitations.Invite(s.ctx, p, app.NewInvitations{Tenant: s.a, Pool: s.pool, Addresses: []string{"a@example.org"}}))
	}},
	"Invitations.List": {tenantly, func(s *scene, p *app.Principal) error { return second(s.Invitations.List(s.ctx, p, s.a, 0, 1)) }},
	"Invitations.Get":  {tenantly, func(s *scene, p *app.Principal) error { return second(s.Invitations.Get(s.ctx, p, s.invited().ID)) }},
	"Invitations.Resend": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.Invitations.Resend(s.ctx, p, s.invited().ID))
	}},
	"Invitations.Withdraw": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.Invitations.Withdraw(s.ctx, p, s.invited().ID))
	}},
	"Invitations.Accept": {selfly, func(s *scene, p *app.Principal) error {
		return second(s.Invitations.Accept(s.ctx, p, s.invited().Token))
	}},
	"Tests.Create": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.Tests.Create(s.ctx, p, app.NewTest{Tenant: s.a, Name: "new", Template: []byte(yesOrNo), Questions: alive(2), PassMark: 50}))
	}},
	"Tests.List":     {tenantly, func(s *scene, p *app.Principal) error { return second(s.Tests.List(s.ctx, p, s.a)) }},
	"Tests.Get":      {tenantly, func(s *scene, p *app.Principal) error { return second(s.Tests.Get(s.ctx, p, s.given().ID)) }},
	"Tests.Retire":   {tenantly, func(s *scene, p *app.Principal) error { return second(s.Tests.Retire(s.ctx, p, s.given().ID, true)) }},
	"Tests.Tries":    {tenantly, func(s *scene, p *app.Principal) error { return second(s.Tests.Tries(s.ctx, p, s.given().ID, 0, 1)) }},
	"Tests.Mine":     {selfly, func(s *scene, p *app.Principal) error { return second(s.Tests.Mine(s.ctx, p)) }},
	"Tests.Take":     {selfly, func(s *scene, p *app.Principal) error { return second(s.Tests.Take(s.ctx, p, s.asked(p))) }},
	"Tests.StartTry": {selfly, func(s *scene, p *app.Principal) error { return second(s.Tests.StartTry(s.ctx, p, s.asked(p))) }},
	"Tests.SubmitTry": {selfly, func(s *scene, p *app.Principal) error {
		id := s.asked(p)
		if _, err := s.Tests.StartTry(s.ctx, p, id); err != nil {
			return err
		}
		return second(s.Tests.SubmitTry(s.ctx, p, id, 1, nil, true))
	}},

	"Runs.Check": {access: open}, // it reads what it is given, and nothing else
	"Runs.Make": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.Runs.Make(s.ctx, p, orchestrator.NewRun{Tenant: s.a, Text: oneStep}))
	}},
	"Runs.Load": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.Runs.Load(s.ctx, p, s.made(), "things", file(s.t, thingsWithID(2))))
	}},
	"Runs.Start": {tenantly, func(s *scene, p *app.Principal) error {
		id := s.made()
		must(s.Runs.Load(s.ctx, s.admin, id, "things", file(s.t, thingsWithID(2))))(s.t)
		return second(s.Runs.Start(s.ctx, p, id))
	}},
	"Runs.List":    {tenantly, func(s *scene, p *app.Principal) error { return second(s.Runs.List(s.ctx, p, s.a, 0, 1)) }},
	"Runs.Get":     {tenantly, func(s *scene, p *app.Principal) error { return second(s.Runs.Get(s.ctx, p, s.under())) }},
	"Runs.Pause":   {tenantly, func(s *scene, p *app.Principal) error { return second(s.Runs.Pause(s.ctx, p, s.under())) }},
	"Runs.Resume":  {tenantly, func(s *scene, p *app.Principal) error { return second(s.Runs.Resume(s.ctx, p, s.under())) }},
	"Runs.Cancel":  {tenantly, func(s *scene, p *app.Principal) error { return second(s.Runs.Cancel(s.ctx, p, s.under())) }},
	"Runs.EndStep": {tenantly, func(s *scene, p *app.Principal) error { return second(s.Runs.EndStep(s.ctx, p, s.under(), "alive")) }},
	"Runs.Slowest": {tenantly, func(s *scene, p *app.Principal) error { return second(s.Runs.Slowest(s.ctx, p, s.under(), 1)) }},
	"Runs.Path":    {tenantly, func(s *scene, p *app.Principal) error { return second(s.Runs.Path(s.ctx, p, s.under(), 1)) }},
	"Runs.Items": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.Runs.Items(s.ctx, p, s.under(), "alive", 0, 1))
	}},
	"Runs.Faults":  {tenantly, func(s *scene, p *app.Principal) error { return second(s.Runs.Faults(s.ctx, p, s.under(), 0, 1)) }},
	"Runs.Results": {tenantly, func(s *scene, p *app.Principal) error { return second(s.Runs.Results(s.ctx, p, s.under(), "alive")) }},
	"Runs.Skip":    {tenantly, func(s *scene, p *app.Principal) error { return second(s.Runs.Skip(s.ctx, p, s.under(), "")) }},
	"Runs.Retry": {tenantly, func(s *scene, p *app.Principal) error {
		_, _, err := s.Runs.Retry(s.ctx, p, s.under(), "")
		return err
	}},
	"Runs.Watch": {tenantly, func(s *scene, p *app.Principal) error {
		_, stop, err := s.Runs.Watch(s.ctx, p, s.under())
		if err == nil {
			stop()
		}
		return err
	}},
	"Tenants.PutSecret": {tenantly, func(s *scene, p *app.Principal) error { return s.Tenants.PutSecret(s.ctx, p, s.a, "KEY", "x") }},
	"Tenants.DeleteSecret": {tenantly, func(s *scene, p *app.Principal) error {
		ok(s.t, s.Tenants.PutSecret(s.ctx, s.admin, s.a, "KEY", "x"))
		return s.Tenants.DeleteSecret(s.ctx, p, s.a, "KEY")
	}},
	"Tenants.Secrets": {tenantly, func(s *scene, p *app.Principal) error { return second(s.Tenants.Secrets(s.ctx, p, s.a)) }},

	"Duty.Subscriptions": {selfly, func(s *scene, p *app.Principal) error { return second(s.Duty.Subscriptions(s.ctx, p)) }},
	"Duty.Unsubscribe": {selfly, func(s *scene, p *app.Principal) error {
		if err := s.Duty.Unsubscribe(s.ctx, p, 1); crowd.CodeOf(err) != crowd.NotFound {
			return err
		}
		return nil // there is none to forget
	}},
	"Tenants.List":    {selfly, func(s *scene, p *app.Principal) error { return second(s.Tenants.List(s.ctx, p)) }},
	"Accounts.User":   {selfly, func(s *scene, p *app.Principal) error { return second(s.Accounts.User(s.ctx, p, p.User.ID)) }},
	"Accounts.Tokens": {selfly, func(s *scene, p *app.Principal) error { return second(s.Accounts.Tokens(s.ctx, p)) }},
	"Accounts.CreateToken": {selfly, func(s *scene, p *app.Principal) error {
		_, _, err := s.Accounts.CreateToken(s.ctx, p, app.NewToken{Name: "mine", Tenant: p.Token.Tenant})
		return err
	}},
	"Accounts.RevokeToken": {selfly, func(s *scene, p *app.Principal) error {
		t, _, err := s.Accounts.CreateToken(s.ctx, p, app.NewToken{Name: "mine", Tenant: p.Token.Tenant})
		return errors.Join(err, s.Accounts.RevokeToken(s.ctx, p, t.ID))
	}},
	"Accounts.SignOut": {selfly, func(s *scene, p *app.Principal) error {
		t, _, err := s.Accounts.CreateToken(s.ctx, p, app.NewToken{Name: "mine", Tenant: p.Token.Tenant})
		return errors.Join(err, s.Accounts.SignOut(s.ctx, &app.Principal{User: p.User, Token: t}))
	}},
}

// oneStep is a workflow of one step.
const oneStep = `
workflow: one step
inputs: {things: {columns: [{id: number}, thing]}}
steps:
  alive:
    from: {things: stream}
    crowd: {template: {kind: choose_one, question: "Alive?", options: ["yes", "no"]}, reward: 0.01, redundancy: {count: 1}}
`

// made is a new run of ann's tenant that has no inputs yet.
func (s *scene) made() crowd.RunID {
	s.t.Helper()
	return must(s.Runs.Make(s.ctx, s.admin, orchestrator.NewRun{Tenant: s.a, Text: oneStep}))(s.t).Run.ID
}

// under is a new run of ann's tenant that is under way. The one before it is
// given up, so that nobody gets its tasks.
func (s *scene) under() crowd.RunID {
	s.t.Helper()
	s.giveUp()
	s.run = s.made()
	must(s.Runs.Load(s.ctx, s.admin, s.run, "things", file(s.t, thingsWithID(2))))(s.t)
	must(s.Runs.Start(s.ctx, s.admin, s.run))(s.t)
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

// invited is a new invitation of ann's tenant.
func (s *scene) invited() app.InvitationView {
	s.t.Helper()
	s.clock.advance(time.Second)
	address := fmt.Sprintf("p%d@example.org", s.clock.now().UnixNano())
	r := must(s.Invitations.Invite(s.ctx, s.admin, app.NewInvitations{Tenant: s.a, Pool: s.pool, Addresses: []string{address}}))(s.t)
	return r.Invited[0]
}

// given is a new test of ann's tenant.
func (s *scene) given() store.Test {
	s.t.Helper()
	s.clock.advance(time.Second)
	return must(s.Tests.Create(s.ctx, s.admin, app.NewTest{
		Tenant: s.a, Name: s.clock.now().String(), Template: []byte(yesOrNo), Questions: alive(2), PassMark: 50,
	}))(s.t)
}

// asked invites p to a new test, and accepts for him.
func (s *scene) asked(p *app.Principal) int64 {
	s.t.Helper()
	test := s.given().ID
	if p.User.ID == 999 { // is nobody
		return test
	}
	r := must(s.Invitations.Invite(s.ctx, s.admin, app.NewInvitations{Pool: s.pool, Test: test, Addresses: []string{"somebody@example.org"}}))(s.t)
	must(s.Invitations.Accept(s.ctx, p, r.Invited[0].Token))(s.t)
	return test
}

func second[T any](_ T, err error) error { return err }

// TestWhoMayDoWhat calls every method as everybody.
func TestWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	both := w.person(app.NewUser{Name: "carl", Tenants: []crowd.TenantID{w.a, w.b}, Pool: w.pool})
	limited := func(p *app.Principal, n app.NewToken) *app.Principal {
		t.Helper()
		n.Name = "limited"
		_, secret, err := w.Accounts.CreateToken(w.ctx, p, n)
		ok(t, err)
		return must(w.Accounts.Authenticate(w.ctx, secret))(t)
	}
	suspended := w.person(app.NewUser{Name: "sue", Tenants: []crowd.TenantID{w.a}, Pool: w.pool})
	suspended.User = must(w.Accounts.UpdateUser(w.ctx, w.admin, suspended.User.ID, app.UserEdit{Suspended: ptr(true)}))(t)

	people := map[string]struct {
		*app.Principal
		may []access
	}{
		"an admin":                             {w.admin, []access{adminly, tenantly, selfly, pooly}},
		"a requester of the tenant":            {w.ann, []access{tenantly, selfly, pooly}},
		"a requester of another tenant":        {w.bob, []access{selfly, pooly}},
		"a worker":                             {w.workers[0], []access{workerly, selfly, pooly}},
		"a token for the tenant":               {limited(both, app.NewToken{Tenant: w.a}), []access{tenantly, selfly, pooly}},
		"a token for another tenant":           {limited(both, app.NewToken{Tenant: w.b}), []access{selfly, pooly}},
		"a requester's token for working only": {limited(both, app.NewToken{Roles: []app.Role{app.Worker}}), []access{workerly, selfly, pooly}},
		"a worker's token for requesting only": {limited(both, app.NewToken{Roles: []app.Role{app.Requester}}), []access{tenantly, selfly, pooly}},
		"a suspended person":                   {suspended, []access{selfly}}, // who cannot even sign in
		"nobody in particular":                 {&app.Principal{User: store.User{ID: 999}}, nil},
	}

	operations := operations()
	for name, operation := range operations {
		m, found := methods[name]
		if !found {
			t.Errorf("nothing says who may call %s", name)
			continue
		}
		if takes := operation.NumIn() > 2 && operation.In(2) == reflect.TypeFor[*app.Principal](); takes == (m.access == open) {
			t.Errorf("%s takes a principal: %t", name, takes)
		}
		if m.access == open {
			continue
		}
		s := &scene{world: w, draft: w.draft(1), running: w.launch(len(people))}
		for who, p := range people {
			t.Run(name+" by "+who, func(t *testing.T) {
				if s.held = s.running.Assignment(1); m.access == workerly && p.Is(app.Worker) {
					s.held = w.next(p.Principal).Assignment
				}
				code := crowd.CodeOf(m.call(s, p.Principal))
				turnedAway := code == crowd.Forbidden || code == crowd.NotFound || code == crowd.Unauthenticated
				switch may := slices.Contains(p.may, m.access); {
				case p.may == nil && m.access == selfly: // there is no self
				case may && (turnedAway || code == crowd.Internal):
					t.Errorf("was turned away: %s", code)
				case !may && !turnedAway:
					t.Errorf("was let in: %q", code)
				case !may && m.access == tenantly && p.Is(app.Requester) && code != crowd.NotFound:
					t.Errorf("another tenant's is %q, it should look as if it were not there", code)
				}
			})
		}
		s.giveUp()
		if _, err := w.Batches.Cancel(w.ctx, w.admin, s.running); err != nil {
			refused(t, err, crowd.Conflict) // the method has ended it
		}
	}
	if len(methods) != len(operations) {
		t.Errorf("%d entries for %d methods", len(methods), len(operations))
	}
}

// operations lists the methods of the use cases that an app is made of, as
// "Field.Method".
func operations() map[string]reflect.Type {
	list := make(map[string]reflect.Type)
	fields := reflect.TypeFor[app.App]()
	for i := range fields.NumField() {
		field := fields.Field(i)
		for j := range field.Type.NumMethod() {
			if field.IsExported() {
				list[field.Name+"."+field.Type.Method(j).Name] = field.Type.Method(j).Type
			}
		}
	}
	return list
}

func ptr[T any](v T) *T { return &v }

// TestOthersLookAbsent compares the words for what is another tenant's with
// those for what is not there.
func TestOthersLookAbsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.launch(1)
	_, theirs := w.Batches.Get(w.ctx, w.bob, id)
	_, none := w.Batches.Get(w.ctx, w.bob, 999)
	if theirs == nil || none == nil || strings.ReplaceAll(theirs.Error(), id.String(), "") != strings.ReplaceAll(none.Error(), "b999", "") {
		t.Errorf("another's: %v; none: %v", theirs, none)
	}
	_, _, theirs = w.Tenants.Account(w.ctx, w.bob, w.a, 0, 1)
	_, _, none = w.Tenants.Account(w.ctx, w.bob, 999, 0, 1)
	if theirs == nil || none == nil || theirs.Error() != none.Error() {
		t.Errorf("another's: %v; none: %v", theirs, none)
	}
	held := w.next(w.workers[0]).Assignment
	stranger := w.worker("stranger")
	_, _, theirs = w.Work.Submit(w.ctx, stranger, held, yes, false, 0)
	_, _, none = w.Work.Submit(w.ctx, stranger, id.Assignment(99), yes, false, 0)
	if theirs == nil || none == nil || strings.ReplaceAll(theirs.Error(), held.String(), "") != strings.ReplaceAll(none.Error(), id.Assignment(99).String(), "") {
		t.Errorf("another's: %v; none: %v", theirs, none)
	}
}
