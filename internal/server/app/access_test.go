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
	ready          *prepared          // if not nil, what the methods below return instead of making it
}

// prepared is what use cases act on that was made before.
type prepared struct {
	made, running crowd.RunID
	invitation    app.InvitationView
	test          store.Test
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

// methods has an entry for each method of Service.
var methods = map[string]struct {
	access access
	call   func(s *scene, p *app.Principal) error
}{
	"Authenticate": {access: open}, "Bootstrap": {access: open}, "Close": {access: open}, "Ready": {access: open},
	"Setup": {access: open}, "SetupUser": {access: open}, "SignIn": {access: open}, "StopWaiting": {access: open},
	"ControlStep": {access: open}, "SendDue": {access: open}, "PushKey": {access: open},
	"Figures": {access: open}, "ActionsAfter": {access: open}, "IsTraining": {access: open}, // whoever asks has checked

	"PoolState":    {adminly, func(s *scene, p *app.Principal) error { return second(s.PoolState(s.ctx, p, s.pool)) }},
	"CreateTenant": {adminly, func(s *scene, p *app.Principal) error { return second(s.CreateTenant(s.ctx, p, "cats", 1)) }},
	"Deposit":      {adminly, func(s *scene, p *app.Principal) error { return s.Deposit(s.ctx, p, s.a, 1, "") }},
	"CreatePool":   {adminly, func(s *scene, p *app.Principal) error { return second(s.CreatePool(s.ctx, p, "night", "fifo")) }},
	"UpdatePool": {adminly, func(s *scene, p *app.Principal) error {
		return second(s.UpdatePool(s.ctx, p, s.pool, app.PoolEdit{}))
	}},
	"StopEverything": {adminly, func(s *scene, p *app.Principal) error { return s.StopEverything(s.ctx, p, false) }},
	"Order":          {adminly, func(s *scene, p *app.Principal) error { return second(s.Order(s.ctx, p, s.pool)) }},
	"UpdateUser": {adminly, func(s *scene, p *app.Principal) error {
		return second(s.UpdateUser(s.ctx, p, s.bob.User.ID, app.UserEdit{}))
	}},
	"NewSetupLink": {adminly, func(s *scene, p *app.Principal) error { return second(s.NewSetupLink(s.ctx, p, s.bob.User.ID)) }},
	"Pools":        {pooly, func(s *scene, p *app.Principal) error { return second(s.Pools(s.ctx, p)) }},

	"Pool":        {adminly, func(s *scene, p *app.Principal) error { return second(s.Pool(s.ctx, p, s.pool)) }},
	"FundPool":    {adminly, func(s *scene, p *app.Principal) error { return second(s.FundPool(s.ctx, p, s.pool, 1)) }},
	"PoolAccount": {adminly, func(s *scene, p *app.Principal) error { return second(s.PoolAccount(s.ctx, p, s.pool, 0, 1)) }},
	"PoolSamples": {adminly, func(s *scene, p *app.Principal) error {
		return second(s.PoolSamples(s.ctx, p, s.pool, time.Time{}))
	}},
	"RecentSamples": {adminly, func(s *scene, p *app.Principal) error {
		return second(s.RecentSamples(s.ctx, p, s.pool, time.Hour))
	}},
	"PoolActions": {adminly, func(s *scene, p *app.Principal) error { return second(s.PoolActions(s.ctx, p, s.pool, 0, 1)) }},
	"PoolPeople":  {adminly, func(s *scene, p *app.Principal) error { return second(s.PoolPeople(s.ctx, p, s.pool)) }},
	"PoolCalls":   {adminly, func(s *scene, p *app.Principal) error { return second(s.PoolCalls(s.ctx, p, s.pool)) }},
	"TestRules":   {adminly, func(s *scene, p *app.Principal) error { return second(s.TestRules(s.ctx, p, s.pool, nil)) }},
	"Transfer": {adminly, func(s *scene, p *app.Principal) error {
		return second(s.Transfer(s.ctx, p, s.workers[0].User.ID, s.pool))
	}},
	"Outbox": {adminly, func(s *scene, p *app.Principal) error { return second(s.Outbox(s.ctx, p)) }},

	"UpdateTenant": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.UpdateTenant(s.ctx, p, s.a, app.TenantEdit{Stopped: new(bool)}))
	}},
	"Account": {tenantly, func(s *scene, p *app.Principal) error {
		_, _, err := s.Account(s.ctx, p, s.a, 0, 1)
		return err
	}},
	"CreateUser": {tenantly, func(s *scene, p *app.Principal) error {
		_, _, err := s.CreateUser(s.ctx, p, app.NewUser{Name: "dora", Tenants: []crowd.TenantID{s.a}})
		return err
	}},
	"Users": {tenantly, func(s *scene, p *app.Principal) error { return second(s.Users(s.ctx, p, s.a, 0, 1)) }},
	"BlockWorker": {tenantly, func(s *scene, p *app.Principal) error {
		return s.BlockWorker(s.ctx, p, s.a, s.workers[0].User.ID, false)
	}},
	"CreateBatch": {tenantly, func(s *scene, p *app.Principal) error { return second(s.CreateBatch(s.ctx, p, s.definition())) }},
	"Batches":     {tenantly, func(s *scene, p *app.Principal) error { return second(s.Batches(s.ctx, p, s.a, 0, 1)) }},
	"EditDraft": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.EditDraft(s.ctx, p, s.draft, s.definition()))
	}},
	"Upload": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.Upload(s.ctx, p, s.draft, things(1), app.Upload{}))
	}},
	"Preview":     {tenantly, func(s *scene, p *app.Principal) error { return second(s.Preview(s.ctx, p, s.draft, 1)) }},
	"Launch":      {tenantly, func(s *scene, p *app.Principal) error { return second(s.Launch(s.ctx, p, s.draft, false)) }},
	"PauseBatch":  {tenantly, func(s *scene, p *app.Principal) error { return second(s.PauseBatch(s.ctx, p, s.running)) }},
	"ResumeBatch": {tenantly, func(s *scene, p *app.Principal) error { return second(s.ResumeBatch(s.ctx, p, s.running)) }},
	"EndBatch":    {tenantly, func(s *scene, p *app.Principal) error { return second(s.EndBatch(s.ctx, p, s.running)) }},
	"CancelBatch": {tenantly, func(s *scene, p *app.Principal) error { return second(s.CancelBatch(s.ctx, p, s.draft)) }},
	"TopUp":       {tenantly, func(s *scene, p *app.Principal) error { return second(s.TopUp(s.ctx, p, s.running, 1)) }},
	"EditBatch": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.EditBatch(s.ctx, p, s.running, app.BatchEdit{}))
	}},
	"Batch":    {tenantly, func(s *scene, p *app.Principal) error { return second(s.Batch(s.ctx, p, s.running)) }},
	"Holding":  {tenantly, func(s *scene, p *app.Principal) error { return second(s.Holding(s.ctx, p, s.running)) }},
	"WhyBatch": {tenantly, func(s *scene, p *app.Principal) error { return second(s.WhyBatch(s.ctx, p, s.running)) }},
	"Quality":  {tenantly, func(s *scene, p *app.Principal) error { return second(s.Quality(s.ctx, p, s.running, "majority")) }},
	"Holders": {tenantly, func(s *scene, p *app.Principal) error {
		_, _, err := s.Holders(s.ctx, p, s.running, 1)
		return err
	}},
	"Annotations": {tenantly, func(s *scene, p *app.Principal) error {
		_, _, err := s.Annotations(s.ctx, p, s.running, false)
		return err
	}},
	"Labels": {tenantly, func(s *scene, p *app.Principal) error {
		_, _, err := s.Labels(s.ctx, p, s.running)
		return err
	}},
	"Forecast": {tenantly, func(s *scene, p *app.Principal) error { return second(s.Forecast(s.ctx, p, s.running)) }},
	"Watch": {tenantly, func(s *scene, p *app.Principal) error {
		_, stop, err := s.Watch(s.ctx, p, s.running)
		if err == nil {
			stop()
		}
		return err
	}},

	"Next":       {workerly, func(s *scene, p *app.Principal) error { return second(s.Next(s.ctx, p, 0)) }},
	"Current":    {workerly, func(s *scene, p *app.Principal) error { return second(s.Current(s.ctx, p)) }},
	"WhyNothing": {workerly, func(s *scene, p *app.Principal) error { return second(s.WhyNothing(s.ctx, p)) }},
	"Heartbeat":  {workerly, func(s *scene, p *app.Principal) error { return second(s.Heartbeat(s.ctx, p, s.held)) }},
	"Skip":       {workerly, func(s *scene, p *app.Principal) error { return second(s.Skip(s.ctx, p, s.held, 0)) }},
	"Return":     {workerly, func(s *scene, p *app.Principal) error { return s.Return(s.ctx, p, s.held) }},
	"Submit": {workerly, func(s *scene, p *app.Principal) error {
		_, _, err := s.Submit(s.ctx, p, s.held, yes, false, 0)
		return err
	}},
	"Earnings": {workerly, func(s *scene, p *app.Principal) error {
		_, _, err := s.Earnings(s.ctx, p, 1)
		return err
	}},

	"Duty":       {workerly, func(s *scene, p *app.Principal) error { return second(s.Duty(s.ctx, p)) }},
	"WhyOffDuty": {workerly, func(s *scene, p *app.Principal) error { return second(s.WhyOffDuty(s.ctx, p)) }},
	"WatchDuty": {workerly, func(s *scene, p *app.Principal) error {
		_, stop, err := s.WatchDuty(s.ctx, p)
		if err == nil {
			stop()
		}
		return err
	}},
	"AwaitDuty": {workerly, func(s *scene, p *app.Principal) error {
		return second(s.AwaitDuty(s.ctx, p, 0, func(app.DutyView) bool { return true }))
	}},
	"StartDuty":   {workerly, func(s *scene, p *app.Principal) error { return second(s.StartDuty(s.ctx, p)) }},
	"EndDuty":     {workerly, func(s *scene, p *app.Principal) error { return second(s.EndDuty(s.ctx, p)) }},
	"DeclineCall": {workerly, func(s *scene, p *app.Principal) error { return s.DeclineCall(s.ctx, p) }},
	"SetWishes":   {workerly, func(s *scene, p *app.Principal) error { return second(s.SetWishes(s.ctx, p, app.Wishes{})) }},
	"Subscribe": {workerly, func(s *scene, p *app.Principal) error {
		return second(s.Subscribe(s.ctx, p, store.Subscription{}))
	}},

	"OpenInvitation": {access: open}, "Join": {access: open}, "DeclineInvitation": {access: open}, // by the link alone

	"Invite": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.Invite(s.ctx, p, app.NewInvitations{Tenant: s.a, Pool: s.pool, Addresses: []string{"a@example.org"}}))
	}},
	"Invitations": {tenantly, func(s *scene, p *app.Principal) error { return second(s.Invitations(s.ctx, p, s.a, 0, 1)) }},
	"Invitation":  {tenantly, func(s *scene, p *app.Principal) error { return second(s.Invitation(s.ctx, p, s.invited().ID)) }},
	"ResendInvitation": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.ResendInvitation(s.ctx, p, s.invited().ID))
	}},
	"WithdrawInvitation": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.WithdrawInvitation(s.ctx, p, s.invited().ID))
	}},
	"AcceptInvitation": {selfly, func(s *scene, p *app.Principal) error {
		return second(s.AcceptInvitation(s.ctx, p, s.invited().Token))
	}},
	"CreateTest": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.CreateTest(s.ctx, p, app.NewTest{Tenant: s.a, Name: "new", Template: []byte(yesOrNo), Questions: alive(2), PassMark: 50}))
	}},
	"Tests":      {tenantly, func(s *scene, p *app.Principal) error { return second(s.Tests(s.ctx, p, s.a)) }},
	"Test":       {tenantly, func(s *scene, p *app.Principal) error { return second(s.Test(s.ctx, p, s.given().ID)) }},
	"RetireTest": {tenantly, func(s *scene, p *app.Principal) error { return second(s.RetireTest(s.ctx, p, s.given().ID, true)) }},
	"TestTries":  {tenantly, func(s *scene, p *app.Principal) error { return second(s.TestTries(s.ctx, p, s.given().ID, 0, 1)) }},
	"MyTests":    {selfly, func(s *scene, p *app.Principal) error { return second(s.MyTests(s.ctx, p)) }},
	"TakeTest":   {selfly, func(s *scene, p *app.Principal) error { return second(s.TakeTest(s.ctx, p, s.asked(p))) }},
	"StartTry":   {selfly, func(s *scene, p *app.Principal) error { return second(s.StartTry(s.ctx, p, s.asked(p))) }},
	"SubmitTry": {selfly, func(s *scene, p *app.Principal) error {
		id := s.asked(p)
		if _, err := s.StartTry(s.ctx, p, id); err != nil {
			return err
		}
		return second(s.SubmitTry(s.ctx, p, id, 1, nil, true))
	}},

	"CheckWorkflow": {access: open}, // it reads what it is given, and nothing else
	"MakeRun": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.MakeRun(s.ctx, p, orchestrator.NewRun{Tenant: s.a, Text: oneStep}))
	}},
	"LoadRun": {tenantly, func(s *scene, p *app.Principal) error {
		return second(s.LoadRun(s.ctx, p, s.made(), "things", file(s.t, thingsWithID(2))))
	}},
	"StartRun": {tenantly, func(s *scene, p *app.Principal) error {
		id := s.made()
		must(s.LoadRun(s.ctx, s.admin, id, "things", file(s.t, thingsWithID(2))))(s.t)
		return second(s.StartRun(s.ctx, p, id))
	}},
	"Runs":         {tenantly, func(s *scene, p *app.Principal) error { return second(s.Runs(s.ctx, p, s.a, 0, 1)) }},
	"Run":          {tenantly, func(s *scene, p *app.Principal) error { return second(s.Run(s.ctx, p, s.under())) }},
	"PauseRun":     {tenantly, func(s *scene, p *app.Principal) error { return second(s.PauseRun(s.ctx, p, s.under())) }},
	"ResumeRun":    {tenantly, func(s *scene, p *app.Principal) error { return second(s.ResumeRun(s.ctx, p, s.under())) }},
	"CancelRun":    {tenantly, func(s *scene, p *app.Principal) error { return second(s.CancelRun(s.ctx, p, s.under())) }},
	"EndStep":      {tenantly, func(s *scene, p *app.Principal) error { return second(s.EndStep(s.ctx, p, s.under(), "alive")) }},
	"SlowestItems": {tenantly, func(s *scene, p *app.Principal) error { return second(s.SlowestItems(s.ctx, p, s.under(), 1)) }},
	"ItemPath":     {tenantly, func(s *scene, p *app.Principal) error { return second(s.ItemPath(s.ctx, p, s.under(), 1)) }},
	"Items":        {tenantly, func(s *scene, p *app.Principal) error { return second(s.Items(s.ctx, p, s.under(), "alive", 0, 1)) }},
	"Faults":       {tenantly, func(s *scene, p *app.Principal) error { return second(s.Faults(s.ctx, p, s.under(), 0, 1)) }},
	"RunResults":   {tenantly, func(s *scene, p *app.Principal) error { return second(s.RunResults(s.ctx, p, s.under(), "alive")) }},
	"SkipRun":      {tenantly, func(s *scene, p *app.Principal) error { return second(s.SkipRun(s.ctx, p, s.under(), "")) }},
	"RetryRun": {tenantly, func(s *scene, p *app.Principal) error {
		_, _, err := s.RetryRun(s.ctx, p, s.under(), "")
		return err
	}},
	"WatchRun": {tenantly, func(s *scene, p *app.Principal) error {
		_, stop, err := s.WatchRun(s.ctx, p, s.under())
		if err == nil {
			stop()
		}
		return err
	}},
	"PutSecret": {tenantly, func(s *scene, p *app.Principal) error { return s.PutSecret(s.ctx, p, s.a, "KEY", "x") }},
	"DeleteSecret": {tenantly, func(s *scene, p *app.Principal) error {
		ok(s.t, s.PutSecret(s.ctx, s.admin, s.a, "KEY", "x"))
		return s.DeleteSecret(s.ctx, p, s.a, "KEY")
	}},
	"Secrets": {tenantly, func(s *scene, p *app.Principal) error { return second(s.Secrets(s.ctx, p, s.a)) }},

	"Subscriptions": {selfly, func(s *scene, p *app.Principal) error { return second(s.Subscriptions(s.ctx, p)) }},
	"Unsubscribe": {selfly, func(s *scene, p *app.Principal) error {
		if err := s.Unsubscribe(s.ctx, p, 1); crowd.CodeOf(err) != crowd.NotFound {
			return err
		}
		return nil // there is none to forget
	}},
	"Tenants": {selfly, func(s *scene, p *app.Principal) error { return second(s.Tenants(s.ctx, p)) }},
	"User":    {selfly, func(s *scene, p *app.Principal) error { return second(s.User(s.ctx, p, p.User.ID)) }},
	"Tokens":  {selfly, func(s *scene, p *app.Principal) error { return second(s.Tokens(s.ctx, p)) }},
	"CreateToken": {selfly, func(s *scene, p *app.Principal) error {
		_, _, err := s.CreateToken(s.ctx, p, app.NewToken{Name: "mine", Tenant: p.Token.Tenant})
		return err
	}},
	"RevokeToken": {selfly, func(s *scene, p *app.Principal) error {
		t, _, err := s.CreateToken(s.ctx, p, app.NewToken{Name: "mine", Tenant: p.Token.Tenant})
		return errors.Join(err, s.RevokeToken(s.ctx, p, t.ID))
	}},
	"SignOut": {selfly, func(s *scene, p *app.Principal) error {
		t, _, err := s.CreateToken(s.ctx, p, app.NewToken{Name: "mine", Tenant: p.Token.Tenant})
		return errors.Join(err, s.SignOut(s.ctx, &app.Principal{User: p.User, Token: t}))
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
	if s.ready != nil {
		return s.ready.made
	}
	return must(s.MakeRun(s.ctx, s.admin, orchestrator.NewRun{Tenant: s.a, Text: oneStep}))(s.t).Run.ID
}

// under is a new run of ann's tenant that is under way. The one before it is
// given up, so that nobody gets its tasks.
func (s *scene) under() crowd.RunID {
	s.t.Helper()
	if s.ready != nil {
		return s.ready.running
	}
	s.giveUp()
	s.run = s.made()
	must(s.LoadRun(s.ctx, s.admin, s.run, "things", file(s.t, thingsWithID(2))))(s.t)
	must(s.StartRun(s.ctx, s.admin, s.run))(s.t)
	s.until(func() bool { return must(s.Run(s.ctx, s.admin, s.run))(s.t).Nodes[1].Node.Batch != 0 })
	return s.run
}

// giveUp cancels the run that is under way, if there is one.
func (s *scene) giveUp() {
	s.t.Helper()
	if s.run == 0 {
		return
	}
	if _, err := s.CancelRun(s.ctx, s.admin, s.run); err != nil {
		refused(s.t, err, crowd.Conflict) // it has ended
	}
}

// invited is a new invitation of ann's tenant.
func (s *scene) invited() app.InvitationView {
	s.t.Helper()
	if s.ready != nil {
		return s.ready.invitation
	}
	s.clock.advance(time.Second)
	address := fmt.Sprintf("p%d@example.org", s.clock.now().UnixNano())
	r := must(s.Invite(s.ctx, s.admin, app.NewInvitations{Tenant: s.a, Pool: s.pool, Addresses: []string{address}}))(s.t)
	return r.Invited[0]
}

// given is a new test of ann's tenant.
func (s *scene) given() store.Test {
	s.t.Helper()
	if s.ready != nil {
		return s.ready.test
	}
	s.clock.advance(time.Second)
	return must(s.CreateTest(s.ctx, s.admin, app.NewTest{
		Tenant: s.a, Name: s.clock.now().String(), Template: []byte(yesOrNo), Questions: alive(2), PassMark: 50,
	}))(s.t)
}

// asked invites p to a new test, and accepts for him.
func (s *scene) asked(p *app.Principal) int64 {
	s.t.Helper()
	if s.ready != nil {
		return s.ready.test.ID
	}
	test := s.given().ID
	if p.User.ID == 999 { // is nobody
		return test
	}
	r := must(s.Invite(s.ctx, s.admin, app.NewInvitations{Pool: s.pool, Test: test, Addresses: []string{"somebody@example.org"}}))(s.t)
	must(s.AcceptInvitation(s.ctx, p, r.Invited[0].Token))(s.t)
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
		_, secret, err := w.CreateToken(w.ctx, p, n)
		ok(t, err)
		return must(w.Authenticate(w.ctx, secret))(t)
	}
	suspended := w.person(app.NewUser{Name: "sue", Tenants: []crowd.TenantID{w.a}, Pool: w.pool})
	suspended.User = must(w.UpdateUser(w.ctx, w.admin, suspended.User.ID, app.UserEdit{Suspended: ptr(true)}))(t)

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

	typ := reflect.TypeFor[*app.Service]()
	for i := range typ.NumMethod() {
		name := typ.Method(i).Name
		m, found := methods[name]
		if !found {
			t.Errorf("nothing says who may call %s", name)
			continue
		}
		if takes := typ.Method(i).Type.NumIn() > 2 && typ.Method(i).Type.In(2) == reflect.TypeFor[*app.Principal](); takes == (m.access == open) {
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
		if _, err := w.CancelBatch(w.ctx, w.admin, s.running); err != nil {
			refused(t, err, crowd.Conflict) // the method has ended it
		}
	}
	if len(methods) != typ.NumMethod() {
		t.Errorf("%d entries for %d methods", len(methods), typ.NumMethod())
	}
}

func ptr[T any](v T) *T { return &v }

// TestOthersLookAbsent compares the words for what is another tenant's with
// those for what is not there.
func TestOthersLookAbsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.launch(1)
	_, theirs := w.Batch(w.ctx, w.bob, id)
	_, none := w.Batch(w.ctx, w.bob, 999)
	if theirs == nil || none == nil || strings.ReplaceAll(theirs.Error(), id.String(), "") != strings.ReplaceAll(none.Error(), "b999", "") {
		t.Errorf("another's: %v; none: %v", theirs, none)
	}
	_, _, theirs = w.Account(w.ctx, w.bob, w.a, 0, 1)
	_, _, none = w.Account(w.ctx, w.bob, 999, 0, 1)
	if theirs == nil || none == nil || theirs.Error() != none.Error() {
		t.Errorf("another's: %v; none: %v", theirs, none)
	}
	held := w.next(w.workers[0]).Assignment
	stranger := w.worker("stranger")
	_, _, theirs = w.Submit(w.ctx, stranger, held, yes, false, 0)
	_, _, none = w.Submit(w.ctx, stranger, id.Assignment(99), yes, false, 0)
	if theirs == nil || none == nil || strings.ReplaceAll(theirs.Error(), held.String(), "") != strings.ReplaceAll(none.Error(), id.Assignment(99).String(), "") {
		t.Errorf("another's: %v; none: %v", theirs, none)
	}
}
