package app_test

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/pool"
)

// stage is a database on which every use case can be tried, again and again.
type stage struct {
	file    []byte // of the database
	at      int64  // when it was made, in microseconds
	scene   scene  // without its world
	world   world  // the people and ids of it
	link    string // of bob, to set a password
	other   crowd.PoolID
	joiner  *access.Principal // without a role
	token   store.Token       // of ann
	call    int64
	mail    store.Message
	finally crowd.BatchID // one that has ended
	pushKey string        // of a browser
	people  peopleStage
	factors factorStage
}

// trial is a stage that is open.
type trial struct {
	*scene
	*stage
	failing *failingStore
	dir     string
}

const knownPassword = "correct horse battery"

// newStage makes everything that use cases act on: drafts, what is held, runs,
// an invitation, a test that was begun, a call, and a message.
func newStage(t *testing.T) *stage {
	w := newWorld(t, 4)
	w.clock.halt()
	st := &stage{at: w.clock.stopped.Load()}
	answered, warned := w.answeredAndPaused(), w.warn(w.workers[0])
	must(w.Batches.Pause(w.ctx, w.admin, warned))(t) // nobody is given its other tasks
	held, s := w.payInAllStates(), scene{world: w, draft: w.draft(2), running: w.launch(3, times(2))}
	s.held = w.next(w.workers[0]).Assignment
	st.finally = w.launch(1)
	must(w.Batches.End(w.ctx, w.admin, st.finally))(t)
	st.other = must(w.Pools.Create(w.ctx, w.admin, "night", "fifo"))(t).ID
	must(w.Pools.Grant(w.ctx, w.admin, st.other, store.PoolGrant{}))(t)
	st.joiner = w.person(accounts.NewUser{Name: "joy"})
	_, link, err := w.Accounts.CreateUser(w.ctx, w.admin, accounts.NewUser{Name: "sally", Tenants: []crowd.TenantID{w.a}})
	ok(t, err)
	must(w.Accounts.Setup(w.ctx, link, knownPassword))(t)
	st.link = must(w.Accounts.NewSetupLink(w.ctx, w.admin, w.bob.User.ID))(t)
	st.token, _, err = w.Accounts.CreateToken(w.ctx, w.ann, accounts.NewToken{Name: "hers"})
	ok(t, err)
	ok(t, w.Tenants.PutSecret(w.ctx, w.admin, w.a, secretKey))
	key := must(ecdh.P256().GenerateKey(rand.Reader))(t)
	st.pushKey = base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes())
	ready := &prepared{running: s.under(), open: s.open(), invitation: s.invited(), reported: w.report(w.workers[3]), warned: warned, answered: answered, correctable: w.over(), pay: held}
	w.until(func() bool { return must(w.Runs.Get(w.ctx, w.admin, ready.running))(t).Nodes[1].Node.Sealed }) // it has nothing to do then
	test := must(w.Tests.Create(w.ctx, w.admin, accounts.NewTest{Tenant: w.a, Name: "test", Template: []byte(yesOrNo), Questions: alive(2), PassMark: 50, Tries: 2, Open: true}))(t)
	ready.test = test
	must(w.Tests.StartTry(w.ctx, w.workers[1], test.ID))(t)
	st.people = w.thePeople(t)
	st.factors = w.theFactors(t)
	must(w.Accounts.Device(w.ctx, w.ann))(t) // the secret with which devices are signed is drawn at random

	now := w.clock.now()
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error {
		now.Retainer = engine.Retainer{Called: true, Silence: time.Minute, Promise: 10 * time.Minute}
		return nil
	}))(t)
	st.call = must(w.store.CreateCall(w.ctx, store.Call{Pool: w.pool, At: now, EndsAt: now.Add(time.Hour), Wanted: 2, State: store.CallOpen}))(t)
	st.mail = w.mail(w.workers[2], func(m *store.Message) { m.Call, m.NextAt = st.call, now.Add(time.Second) })
	ok(t, w.store.PutNotices(w.ctx, []store.Notice{{Call: st.call, Worker: w.workers[2].User.ID, State: store.NoticeAsked, AskedAt: now}}, []store.Message{st.mail}))
	w.close()
	st.file = must(os.ReadFile(w.path))(t)
	st.scene, st.world = scene{draft: s.draft, running: s.running, held: s.held, ready: ready}, world{a: w.a, b: w.b, pool: w.pool, admin: w.admin, ann: w.ann, bob: w.bob, workers: w.workers}
	return st
}

// open opens a copy of the database, as after a restart, for a use case.
func (st *stage) open(t *testing.T, dir, name string) *trial {
	t.Helper()
	ok(t, os.WriteFile(filepath.Join(dir, "throng.db"), st.file, 0o600))
	x := &trial{stage: st, failing: &failingStore{}, dir: dir}
	w := &world{t: t, ctx: context.Background(), path: filepath.Join(dir, "throng.db"), clock: &clock{}, options: sqlite.Options{Scratch: true},
		admin: st.world.admin, ann: st.world.ann, bob: st.world.bob, workers: st.world.workers, a: st.world.a, b: st.world.b, pool: st.world.pool, providers: corp()}
	w.clock.stopped.Store(st.at)
	w.wrap = func(s store.Store) store.Store { x.failing.Store = s; return x.failing }
	w.withPost(recruit.Senders{
		Mail: func(context.Context, string, string, string) error { return nil },
		Push: func(context.Context, store.Subscription, []byte, time.Duration) error { return nil },
	})
	s, ready := st.scene, *st.scene.ready
	s.world, s.ready = w, &ready
	x.scene = &s
	if name == "Runs.Load" || name == "Runs.Start" || name == "Runs.MakeAgain" { // one that waits for its inputs does not outlive a restart
		ready.made = must(x.Runs.Make(x.ctx, x.admin, orchestrator.NewRun{Tenant: x.a, Text: oneStep}))(t).Run.ID
	}
	if name == "Control.Step" { // one who holds a task moves when it is done
		must(x.Transfers.Move(x.ctx, x.admin, x.workers[0].User.ID, x.other))(t)
	}
	if name == "Provisioning.RemoveGroup: the last" {
		ok(t, x.Provisioning.RemoveGroup(x.ctx, x.people.corp, x.people.othersGroup, noCheck))
	}
	if name == "Runs.Start" {
		must(x.Runs.Load(x.ctx, x.admin, ready.made, "things", file(t, thingsWithID(2))))(t)
	}
	w.ctx = marked(w.ctx) // nothing that runs in the background is
	w.clock.advance(2 * time.Second)
	return x
}

// kept closes the trial, and returns every row that is kept, but for what is
// drawn at random, times, and how far the messages have come that are sent in
// the background, and the times that they tell.
func (x *trial) kept(name string) map[string][]string {
	x.t.Helper()
	if ends := map[string]crowd.RunID{"Runs.EndStep": x.ready.running, "Runs.SealInputs": x.ready.open}[name]; ends != 0 { // what follows from it is done in the background
		x.until(func() bool { return must(x.Runs.Get(x.ctx, x.admin, ends))(x.t).Run.State == store.RunDone })
	}
	x.settle(name)
	x.close()
	db := must(sql.Open("sqlite", "file:"+x.path))(x.t)
	defer db.Close()
	passing := regexp.MustCompile(`hash$|_at$|^since$|^first_started$|^waits_from$|^worked_ns$|^messages\.(state|tries|error|link|body)$|^factors\.(secret|counter)$`)
	out := make(map[string][]string)
	for _, table := range strings.Fields(column(x.t, db, "select name from sqlite_master where type = 'table' and name not like 'sqlite%' and name not like 'goose%' and name not in ('audit', 'daily_usage') and name not like '%_version' order by name")) {
		rows := must(db.Query("select * from " + table + map[string]string{"counters": " where name <> 'audit'"}[table]))(x.t)
		columns := must(rows.Columns())(x.t)
		cells, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range cells {
			to[i] = &cells[i]
		}
		list := []string{}
		for rows.Next() {
			ok(x.t, rows.Scan(to...))
			var line strings.Builder
			for i, c := range columns {
				if !passing.MatchString(c) && !passing.MatchString(table+"."+c) {
					fmt.Fprintf(&line, "%s=%v ", c, cells[i])
				}
			}
			list = append(list, line.String())
		}
		ok(x.t, rows.Close())
		slices.Sort(list)
		out[table] = list
	}
	if name == "Runs.Start" { // the rest is done in the background
		return map[string][]string{"runs": out["runs"]}
	}
	return out
}

func column(t testing.TB, db *sql.DB, query string) string {
	t.Helper()
	rows := must(db.Query(query))(t)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var name string
		ok(t, rows.Scan(&name))
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

// thoroughly are the use cases for which the table of access changes nothing,
// or which act for nobody.
var thoroughly = map[string]func(x *trial, p *access.Principal) error{
	"Accounts.CreateUser": func(x *trial, p *access.Principal) error {
		_, _, err := x.Accounts.CreateUser(x.ctx, p, accounts.NewUser{Name: "newcomer", Tenants: []crowd.TenantID{x.a}})
		return err
	},
	"Accounts.Authenticate": func(x *trial, _ *access.Principal) error {
		_, err := x.Accounts.SetupUser(x.ctx, x.link) // reads a token as Authenticate does
		return err
	},
	"Accounts.Setup": func(x *trial, _ *access.Principal) error {
		return second(x.Accounts.Setup(x.ctx, x.link, knownPassword))
	},
	"Accounts.SetupUser": func(x *trial, _ *access.Principal) error { return second(x.Accounts.SetupUser(x.ctx, x.link)) },
	"Accounts.SignIn": func(x *trial, _ *access.Principal) error {
		return second(x.session("sally", knownPassword))
	},
	"Accounts.Bootstrap": func(x *trial, _ *access.Principal) error { return second(x.Accounts.Bootstrap(x.ctx)) },
	"Outbox.SendDue":     func(x *trial, _ *access.Principal) error { return second(x.Outbox.SendDue(x.ctx)) },
	"Pools.Figures":      func(x *trial, _ *access.Principal) error { return second(x.Pools.Figures(x.ctx)) },
	"Work.IsTraining": func(x *trial, _ *access.Principal) error {
		return second(x.Work.IsTraining(x.ctx, &work.HeldTask{Batch: x.running}))
	},
	"Pools.ActionsAfter": func(x *trial, _ *access.Principal) error {
		return second(x.Pools.ActionsAfter(x.ctx, x.pool, 0))
	},
	"Control.Step": func(x *trial, _ *access.Principal) error { return x.Control.Step(x.ctx) },
	"Invitations.Open": func(x *trial, _ *access.Principal) error {
		return second(x.Invitations.Open(x.ctx, x.ready.invitation.Token))
	},
	"Invitations.Join": func(x *trial, _ *access.Principal) error {
		return second(x.Invitations.Join(x.ctx, x.ready.invitation.Token, accounts.NewAccount{Name: "joe", Password: knownPassword}))
	},
	"Invitations.Accept": func(x *trial, _ *access.Principal) error {
		return second(x.Invitations.Accept(x.ctx, x.joiner, x.ready.invitation.Token, nil))
	},
	"Invitations.Decline": func(x *trial, _ *access.Principal) error {
		return x.Invitations.Decline(x.ctx, x.ready.invitation.Token)
	},

	"Pools.Grant": func(x *trial, p *access.Principal) error {
		return second(x.Pools.Grant(x.ctx, p, x.other, store.PoolGrant{Tenant: x.b, Invite: true}))
	},
	"Pools.Revoke": func(x *trial, p *access.Principal) error { return second(x.Pools.Revoke(x.ctx, p, x.other, 0)) },
	"Pools.Change": func(x *trial, p *access.Principal) error {
		return second(x.Pools.Change(x.ctx, p, x.other, func(now *store.Pool) error {
			now.Name = "evening"
			now.Control, now.Gate = pool.Settings{Min: 1}, true
			return nil
		}))
	},
	"Accounts.ChangeUser": func(x *trial, p *access.Principal) error {
		return second(x.Accounts.ChangeUser(x.ctx, p, x.workers[3].User.ID, func(u *store.User) error {
			u.FullName, u.Pool, u.Tenants = "Four", x.other, []crowd.TenantID{x.a}
			return nil
		}))
	},
	"Transfers.Move": func(x *trial, p *access.Principal) error {
		return second(x.Transfers.Move(x.ctx, p, x.workers[3].User.ID, x.other))
	},
	"Tenants.Update": func(x *trial, p *access.Principal) error {
		return second(x.Tenants.Update(x.ctx, p, x.a, accounts.TenantEdit{Stopped: ptr(true)}))
	},
	"Accounts.BlockWorker": func(x *trial, p *access.Principal) error {
		return x.Accounts.BlockWorker(x.ctx, p, x.a, x.pseudonym(x.a, x.workers[3]), true)
	},
	"Batches.EditDraft": func(x *trial, p *access.Principal) error {
		d := x.definition()
		d.Name, d.Reward, d.Priority = "other things", crowd.Unit/50, 7
		return second(x.Batches.EditDraft(x.ctx, p, x.draft, replaced(d)))
	},
	"Batches.Upload": func(x *trial, p *access.Principal) error {
		return second(x.Batches.Upload(x.ctx, p, x.draft, strings.NewReader("thing,_workers\na,"+x.pseudonym(x.a, x.workers[0])+";"+x.pseudonym(x.a, x.workers[1])+"\nb,"+x.pseudonym(x.a, x.workers[1])+"\n"), batches.Upload{}))
	},
	"Batches.Change": func(x *trial, p *access.Principal) error {
		return second(x.Batches.Change(x.ctx, p, x.running, func(s *batches.RunningSettings) error { s.Priority, s.Stopped = 3, true; return nil }))
	},
	"Batches.Annotations": func(x *trial, p *access.Principal) error {
		_, rows, err := x.Batches.Annotations(x.ctx, p, x.running, false)
		return drain(rows, err)
	},
	"Batches.Labels": func(x *trial, p *access.Principal) error {
		_, rows, err := x.Batches.Labels(x.ctx, p, x.running, batches.Live)
		return drain(rows, err)
	},
	"Duty.ChangeWishes": func(x *trial, p *access.Principal) error {
		return second(x.Duty.ChangeWishes(x.ctx, p, func(w *recruit.Wishes) error {
			w.Away, w.Prefers = true, map[crowd.PoolID]float64{x.pool: 1}
			return nil
		}))
	},
	"Duty.Subscribe": func(x *trial, p *access.Principal) error {
		return second(x.Duty.Subscribe(x.ctx, p, store.Subscription{Endpoint: "https://push.example.org/1", P256dh: x.pushKey, Auth: "AAAAAAAAAAAAAAAAAAAAAA"}))
	},
	"Pay.Appeal": tryAppealRefused, "Pools.Create": func(x *trial, p *access.Principal) error { return second(x.Pools.Create(x.ctx, p, "dawn", "fifo")) },
	"Duty.DeclineCall": func(x *trial, _ *access.Principal) error { return x.Duty.DeclineCall(x.ctx, x.workers[2]) },
	"Duty.Start":       func(x *trial, _ *access.Principal) error { return second(x.Duty.Start(x.ctx, x.workers[2])) },
	"Tests.Take": func(x *trial, _ *access.Principal) error {
		return second(x.Tests.Take(x.ctx, x.workers[1], x.ready.test.ID))
	},
	"Tests.StartTry": func(x *trial, _ *access.Principal) error {
		return second(x.Tests.StartTry(x.ctx, x.workers[3], x.ready.test.ID))
	},
	"Tests.SubmitTry": func(x *trial, _ *access.Principal) error {
		answers := map[string]json.RawMessage{"q1": yes, "q2": yes}
		return second(x.Tests.SubmitTry(x.ctx, x.workers[1], x.ready.test.ID, 1, answers, true))
	},
	"Runs.Load": func(x *trial, p *access.Principal) error {
		return second(x.Runs.Load(x.ctx, p, x.ready.made, "things", file(x.t, thingsWithID(2))))
	},
	"Runs.Start": func(x *trial, p *access.Principal) error { return second(x.Runs.Start(x.ctx, p, x.ready.made, false)) },
	"Runs.Results": func(x *trial, p *access.Principal) error {
		ctx, cancel := context.WithCancel(x.ctx)
		defer cancel()
		r, err := x.Runs.Results(ctx, p, x.ready.running, "things")
		if err != nil {
			return err
		}
		return drain(r.Rows, nil)
	},
	"Tenants.DeleteSecret": func(x *trial, p *access.Principal) error { return x.Tenants.DeleteSecret(x.ctx, p, x.a, "KEY") },
	"Accounts.RevokeToken": func(x *trial, p *access.Principal) error {
		return second(x.Accounts.RevokeToken(x.ctx, x.ann, 0, x.token.ID))
	},
	"Accounts.SignOut": func(x *trial, p *access.Principal) error {
		return x.Accounts.SignOut(x.ctx, &access.Principal{User: x.ann.User, Token: x.token})
	},
	"Batches.Quality": func(x *trial, p *access.Principal) error {
		return second(x.Batches.Quality(x.ctx, p, x.finally, "majority"))
	},
}

// useCase returns a use case with somebody who may do it.
func (x *trial) useCase(name string) func() error {
	by := x.admin
	if slices.ContainsFunc(access.Operations(), func(o access.Operation) bool { return o.Name == name && o.Needs == access.CanWork }) {
		by = x.workers[0]
	}
	if f := thoroughly[name]; f != nil {
		return func() error { return f(x, by) }
	}
	return func() error { return calls[name](x.scene, by) }
}

// excuse is what else may be when a call of the store fails in a use case than the error, the
// success of the same call afterwards, and what one call leaves.
type excuse struct {
	why     string
	race    bool       // it is not always needed: it is a matter of what the background does first
	unheard bool       // the error is not returned
	again   crowd.Code // the same call is refused with this afterwards: it was done
	differs []string   // tables
}

// excused are all excuses, by use case and method of the store.
var excused = map[string]excuse{
	"Batches.Cancel/Batch":   {why: "it is cancelled; only how it stands could not be read", again: crowd.Conflict},
	"Batches.End/Batch":      {why: "it is ended; only how it stands could not be read", again: crowd.Conflict},
	"Batches.Launch/Batch":   {why: "it is launched; only how it stands could not be read", again: crowd.Conflict},
	"Runs.Cancel/Run":        {why: "it is cancelled; only how it stands could not be read", again: crowd.Conflict},
	"Runs.Cancel/Advance":    {why: "its batches are cancelled, so that it may end by itself before it is cancelled again", race: true, again: crowd.Conflict, differs: []string{"runs", "run_nodes", "run_rows", "usage"}},
	"Runs.MakeAgain/Run":     {why: "the second run is given up again", differs: []string{"counters", "runs", "run_nodes", "run_texts", "usage"}, race: true},
	"Runs.MakeAgain/Nodes":   {why: "the second run is given up again", differs: []string{"counters", "runs", "run_nodes", "run_texts", "usage"}, race: true},
	"Runs.MakeAgain/Advance": {why: "the second run is given up again", differs: []string{"counters", "runs", "run_nodes", "run_texts", "usage"}, race: true},
	"Runs.SealInputs/Run":    {why: "it is sealed, and may be done by now; only how it stands could not be read", race: true, again: crowd.Conflict},
	"Runs.EndStep/Run":       {why: "it is ended, and may be done by now; only how it stands could not be read", race: true, again: crowd.Conflict},
	"Runs.Start/Run":         {why: "it is started; its first step is taken up a moment later, or how it stands could not be read", unheard: true, again: crowd.Conflict},
	"Runs.Start/Nodes":       {why: "it is started; its first step is taken up a moment later", unheard: true, again: crowd.Conflict},

	"Accounts.CreateUser/EndAccess": {why: "the person is there, and gets a link by NewSetupLink", again: crowd.Conflict, differs: []string{"tokens", "counters"}},
	"Invitations.Join/CreateToken":  {why: "the account is there, and its password is good to sign in", again: crowd.Conflict, differs: []string{"tokens", "counters"}},

	"Transfers.Move/AddActions": {why: "it is done, and the log of the pool lacks it", differs: []string{"pool_actions", "counters"}},
	"Pools.Grant/AddActions":    {why: "it is done, and the log of the pool lacks it", differs: []string{"pool_actions", "counters"}},
	"Pools.Revoke/AddActions":   {why: "it is done, and the log of the pool lacks it", differs: []string{"pool_actions", "counters"}, again: crowd.NotFound},
	"Pools.Change/AddActions":   {why: "it is done, and the log of the pool lacks it", differs: []string{"pool_actions", "counters"}},

	"Accounts.RevokeToken/User":   {why: "the token has ended; whoever waits with it waits on until their request ends", unheard: true, again: crowd.NotFound},
	"Pools.StopEverything/Commit": {why: "the pools read it when they go on", unheard: true},
	"Tenants.Change/Commit":       {why: "the pools read it when they go on", unheard: true},
	"Tenants.Update/Commit":       {why: "the pools read it when they go on", unheard: true},
	"Duty.Start/UpdateCall":       {why: "whoever came is on duty; the call asks one person too many", unheard: true, differs: []string{"calls", "call_notices"}},

	"Duty.DeclineCall/Subscriptions": {why: "it is declined; the next control step asks somebody else", differs: []string{"call_notices"}},
	"Duty.DeclineCall/PutNotices":    {why: "it is declined; the next control step asks somebody else", differs: []string{"call_notices"}},

	"Control.Step/Subscriptions": {why: "somebody is asked a step later, and is coming from then on", differs: []string{"pool_samples"}},
	"Control.Step/PutNotices":    {why: "somebody is asked a step later, and is coming from then on", differs: []string{"pool_samples"}},

	"Control.Step/AddSamples": {why: "the next step takes the sample, of what came of this one", differs: []string{"pool_samples", "pool_states"}},
}

// inBackground are the use cases after which a run goes on by itself, with commits of its own
// that may fall within the call.
var inBackground = map[string]bool{"Runs.Start": true, "Runs.SealInputs": true, "Runs.EndStep": true, "Runs.Resume": true, "Runs.Cancel": true, "Runs.Retry": true, "Runs.Skip": true}

// TestEveryErrorOfTheStoreIsHeard lets each call of the store fail that a use
// case makes, one at a time: the use case returns the error, nothing is half
// done, and the same call afterwards leaves what one call leaves.
func TestEveryErrorOfTheStoreIsHeard(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	injected, used := 0, make(map[string]bool)
	names := slices.AppendSeq(slices.Collect(maps.Keys(calls)), maps.Keys(thoroughly))
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			x := st.open(t, dir, name)
			do := x.useCase(name)
			x.failing.begin(storeCall{})
			err := do()
			made, _ := x.failing.end()
			if err != nil {
				t.Fatalf("without any error: %v", err)
			}
			want := x.kept(name)
			for _, c := range made {
				injected++
				key := name + "/" + c.method
				tried := st.open(t, dir, name).without(c, name, want, excused[key])
				for _, wrong := range tried.wrong {
					t.Errorf("when %s fails at call %d: %s", c.method, c.n, wrong)
				}
				used[key] = used[key] || tried.excused
			}
		})
	}
	for key, x := range excused {
		if !used[key] && !x.race {
			t.Errorf("%s needs no excuse such as %q", key, x.why)
		}
	}
	if injected < 300 {
		t.Errorf("only %d errors were injected", injected)
	}
}

// without does the use case with a call of the store that fails, and again.
func (x *trial) without(c storeCall, name string, want map[string][]string, but excuse) fate {
	x.t.Helper()
	var f fate
	do := x.useCase(name)
	x.failing.begin(c)
	err := do()
	_, happened := x.failing.end()
	if c.method == "Commit" && inBackground[name] && (!happened || err == nil) || settled[name] != nil && !happened {
		x.kept(name) // it was another one, which nobody waits for
		return f
	}
	switch code := crowd.CodeOf(err); {
	case !happened:
		f.fault(false, "it was not called")
	case !errors.Is(err, errLost):
		f.fault(but.unheard && err == nil, "the error is %v", err)
	case code != crowd.Internal && code != crowd.Unavailable:
		f.fault(false, "the code is %s", code)
	}
	x.clock.advance(2 * time.Second)
	if err := do(); err != nil {
		f.fault(but.again == crowd.CodeOf(err), "again: %v", err)
	}
	got := x.kept(name)
	for _, table := range slices.Sorted(maps.Keys(want)) {
		if !slices.Equal(got[table], want[table]) {
			f.fault(slices.Contains(but.differs, table), "afterwards %s has\n\t%s\nwant\n\t%s", table, strings.Join(got[table], "\n\t"), strings.Join(want[table], "\n\t"))
		}
	}
	return f
}

// TestTheFailingStoreFailsEveryMethod: a new method of the store joins.
func TestTheFailingStoreFailsEveryMethod(t *testing.T) {
	own := reflect.TypeFor[*failingStore]()
	all := reflect.TypeFor[store.Store]()
	for i := range all.NumMethod() {
		name := all.Method(i).Name
		if name == "Close" {
			continue
		}
		f := &failingStore{}
		m, _ := own.MethodByName(name)
		args := []reflect.Value{reflect.ValueOf(f)}
		for j := 1; j < m.Type.NumIn(); j++ {
			args = append(args, reflect.Zero(m.Type.In(j)))
		}
		args[1] = reflect.ValueOf(marked(context.Background()))
		f.begin(storeCall{name, 1})
		func() {
			defer func() {
				if recover() != nil {
					t.Errorf("%s goes to the store", name)
				}
			}()
			results := m.Func.Call(args)
			if last := results[len(results)-1]; last.Kind() != reflect.Func && last.Interface() != error(errLost) {
				t.Errorf("%s returns %v", name, last)
			}
		}()
	}
}
