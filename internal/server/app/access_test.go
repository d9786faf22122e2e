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
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
)

// calls has a call of each operation that takes a principal.
var calls = map[string]func(s *scene, p *access.Principal) error{
	"Batches.PoolState": func(s *scene, p *access.Principal) error { return second(s.Batches.PoolState(s.ctx, p, s.pool)) },
	"Tenants.Create": func(s *scene, p *access.Principal) error {
		return second(s.Tenants.Create(s.ctx, p, accounts.NewTenant{Name: "cats", Weight: 1, Deposit: crowd.Unit}))
	},
	"Tenants.Deposit":      func(s *scene, p *access.Principal) error { return s.Tenants.Deposit(s.ctx, p, s.a, 1, "") },
	"Pools.Create":         func(s *scene, p *access.Principal) error { return second(s.Pools.Create(s.ctx, p, "night", "fifo")) },
	"Pools.StopEverything": func(s *scene, p *access.Principal) error { return s.Pools.StopEverything(s.ctx, p, false) },
	"Pools.Follow":         follow, "Pools.Followed": followed,
	"Pools.Queue": queueOf, "Pools.Fairness": fairnessOf,
	"Accounts.ChangeUser": func(s *scene, p *access.Principal) error {
		return second(s.Accounts.ChangeUser(s.ctx, p, s.workers[0].User.ID, func(*store.User) error { return nil }))
	},
	"Accounts.NewSetupLink": func(s *scene, p *access.Principal) error {
		return second(s.Accounts.NewSetupLink(s.ctx, p, s.workers[0].User.ID))
	},
	"Pools.List": func(s *scene, p *access.Principal) error { return second(s.Pools.List(s.ctx, p)) },
	"Pools.Get":  func(s *scene, p *access.Principal) error { return second(s.Pools.Get(s.ctx, p, s.pool)) },
	"Pools.Fund": func(s *scene, p *access.Principal) error { return second(s.Pools.Fund(s.ctx, p, s.pool, 1)) },
	"Pools.Grant": func(s *scene, p *access.Principal) error {
		return second(s.Pools.Grant(s.ctx, p, s.pool, store.PoolGrant{Invite: true}))
	},
	"Pools.Revoke": func(s *scene, p *access.Principal) error {
		must(s.Pools.Grant(s.ctx, s.admin, s.pool, store.PoolGrant{Tenant: s.a}))(s.t)
		return second(s.Pools.Revoke(s.ctx, p, s.pool, s.a))
	},
	"Pools.Account": func(s *scene, p *access.Principal) error {
		_, _, err := s.Pools.Account(s.ctx, p, s.pool, 0, 1)
		return err
	},
	"Pools.Samples": func(s *scene, p *access.Principal) error {
		return second(s.Pools.Samples(s.ctx, p, s.pool, time.Time{}))
	},
	"Pools.RecentSamples": func(s *scene, p *access.Principal) error {
		return second(s.Pools.RecentSamples(s.ctx, p, s.pool, time.Hour))
	},
	"Pools.Change": func(s *scene, p *access.Principal) error {
		return second(s.Pools.Change(s.ctx, p, s.pool, func(*store.Pool) error { return nil }))
	},
	"Pools.TestOwnRules": func(s *scene, p *access.Principal) error {
		_, _, err := s.Pools.TestOwnRules(s.ctx, p, s.pool)
		return err
	},
	"Transfers.MoveFrom": func(s *scene, p *access.Principal) error {
		return second(s.Transfers.MoveFrom(s.ctx, p, s.pool, s.workers[0].User.ID, s.pool))
	},
	"Pools.Actions":   func(s *scene, p *access.Principal) error { return second(s.Pools.Actions(s.ctx, p, s.pool, 0, 1)) },
	"Pools.People":    func(s *scene, p *access.Principal) error { return second(s.Pools.People(s.ctx, p, s.pool)) },
	"Pools.Calls":     func(s *scene, p *access.Principal) error { return second(s.Pools.Calls(s.ctx, p, s.pool)) },
	"Pools.TestRules": func(s *scene, p *access.Principal) error { return second(s.Pools.TestRules(s.ctx, p, s.pool, nil)) },
	"Transfers.Move": func(s *scene, p *access.Principal) error {
		return second(s.Transfers.Move(s.ctx, p, s.workers[0].User.ID, s.pool))
	},
	"Outbox.View": func(s *scene, p *access.Principal) error { return second(s.Outbox.View(s.ctx, p)) },

	"Tenants.Change": func(s *scene, p *access.Principal) error {
		return second(s.Tenants.Change(s.ctx, p, s.a, func(*store.Tenant) error { return nil }))
	},
	"Tenants.Update": func(s *scene, p *access.Principal) error {
		return second(s.Tenants.Update(s.ctx, p, s.a, accounts.TenantEdit{Stopped: new(bool)}))
	},
	"Tenants.Account": func(s *scene, p *access.Principal) error {
		_, _, err := s.Tenants.Account(s.ctx, p, s.a, 0, 1)
		return err
	},
	"Accounts.CreateUser": func(s *scene, p *access.Principal) error {
		_, _, err := s.Accounts.CreateUser(s.ctx, p, accounts.NewUser{Name: "dora", Roles: []store.HeldRole{{Role: s.harmless(), Tenant: s.a}}})
		return err
	},
	"Accounts.GiveRole": func(s *scene, p *access.Principal) error {
		return second(s.Accounts.GiveRole(s.ctx, p, s.ann.User.ID, store.HeldRole{Role: s.harmless(), Tenant: s.a}))
	},
	"Accounts.TakeRole": func(s *scene, p *access.Principal) error {
		return second(s.Accounts.TakeRole(s.ctx, p, s.ann.User.ID, store.HeldRole{Role: s.harmless(), Tenant: s.a}))
	},
	"Accounts.Roles":   func(s *scene, p *access.Principal) error { return second(s.Accounts.Roles(s.ctx, p)) },
	"Accounts.MayGive": func(s *scene, p *access.Principal) error { return second(s.Accounts.MayGive(s.ctx, p, s.a)) },
	"Accounts.CreateRole": func(s *scene, p *access.Principal) error {
		r, err := s.Accounts.CreateRole(s.ctx, p, store.Role{Tenant: s.a, Name: "new", Permissions: []string{"people.read"}})
		if err == nil {
			must(s.Accounts.RemoveRole(s.ctx, s.admin, store.HeldRole{Role: r.Name, Tenant: r.Tenant}))(s.t)
		}
		return err
	},
	"Accounts.ChangeRole": func(s *scene, p *access.Principal) error {
		return second(s.Accounts.ChangeRole(s.ctx, p, store.HeldRole{Role: s.role(s.a, "ours"), Tenant: s.a}, accounts.RoleEdit{Text: ptr("x")}.Apply))
	},
	"Accounts.RemoveRole": func(s *scene, p *access.Principal) error {
		return second(s.Accounts.RemoveRole(s.ctx, p, store.HeldRole{Role: s.role(s.a, "ours"), Tenant: s.a}))
	},
	"Accounts.Users": func(s *scene, p *access.Principal) error { return second(s.Accounts.Users(s.ctx, p, s.a, 0, 1)) },
	"Accounts.BlockWorker": func(s *scene, p *access.Principal) error {
		return s.Accounts.BlockWorker(s.ctx, p, s.a, s.pseudonym(s.a, s.workers[0]), false)
	},
	"Accounts.Worker": func(s *scene, p *access.Principal) error {
		return second(s.Accounts.Worker(s.ctx, p, s.a, s.pseudonym(s.a, s.workers[0])))
	},
	"Batches.MayName": func(s *scene, p *access.Principal) error { return s.Batches.MayName(s.ctx, p, s.running) },
	"Batches.Create":  func(s *scene, p *access.Principal) error { return second(s.Batches.Create(s.ctx, p, s.definition())) },
	"Batches.List":    func(s *scene, p *access.Principal) error { return second(s.Batches.List(s.ctx, p, s.a, 0, 1)) },
	"Batches.EditDraft": func(s *scene, p *access.Principal) error {
		return second(s.Batches.EditDraft(s.ctx, p, s.draft, replaced(s.definition())))
	},
	"Batches.Upload": func(s *scene, p *access.Principal) error {
		return second(s.Batches.Upload(s.ctx, p, s.draft, things(1), batches.Upload{}))
	},
	"Batches.Preview":    func(s *scene, p *access.Principal) error { return second(s.Batches.Preview(s.ctx, p, s.draft, 1)) },
	"Batches.Launch":     func(s *scene, p *access.Principal) error { return second(s.Batches.Launch(s.ctx, p, s.draft, false)) },
	"Batches.Pause":      func(s *scene, p *access.Principal) error { return second(s.Batches.Pause(s.ctx, p, s.running)) },
	"Batches.Resume":     func(s *scene, p *access.Principal) error { return second(s.Batches.Resume(s.ctx, p, s.running)) },
	"Batches.End":        func(s *scene, p *access.Principal) error { return second(s.Batches.End(s.ctx, p, s.running)) },
	"Batches.Cancel":     func(s *scene, p *access.Principal) error { return second(s.Batches.Cancel(s.ctx, p, s.draft)) },
	"Batches.TopUp":      func(s *scene, p *access.Principal) error { return second(s.Batches.TopUp(s.ctx, p, s.running, 1)) },
	"Batches.Change":     tryChange,
	"Batches.AddTasks":   tryAddTasks,
	"Batches.RemoveTask": tryRemoveTask,
	"Batches.Get":        func(s *scene, p *access.Principal) error { return second(s.Batches.Get(s.ctx, p, s.running)) },
	"Batches.Able":       func(s *scene, p *access.Principal) error { return second(s.Batches.Able(s.ctx, p, s.running)) },
	"Batches.Holding":    func(s *scene, p *access.Principal) error { return second(s.Batches.Holding(s.ctx, p, s.running)) },
	"Batches.Why":        func(s *scene, p *access.Principal) error { return second(s.Batches.Why(s.ctx, p, s.running)) },
	"Batches.Quality": func(s *scene, p *access.Principal) error {
		return second(s.Batches.Quality(s.ctx, p, s.running, "majority"))
	},
	"Results.List": listResults, "Results.All": allResults, "Results.Task": taskResults, "Results.Worker": workerResults, "Results.Summary": sumResults,
	"Batches.Holders": func(s *scene, p *access.Principal) error {
		_, _, err := s.Batches.Holders(s.ctx, p, s.running, 1)
		return err
	},
	"Batches.Annotations": func(s *scene, p *access.Principal) error {
		_, _, err := s.Batches.Annotations(s.ctx, p, s.running, false)
		return err
	},
	"Batches.Labels": func(s *scene, p *access.Principal) error {
		_, _, err := s.Batches.Labels(s.ctx, p, s.running, batches.Live)
		return err
	},
	"Batches.Forecast": func(s *scene, p *access.Principal) error { return second(s.Batches.Forecast(s.ctx, p, s.running)) },
	"Batches.Watch": func(s *scene, p *access.Principal) error {
		_, stop, err := s.Batches.Watch(s.ctx, p, s.running)
		if err == nil {
			stop()
		}
		return err
	},

	"Work.NextUnlessLeft": func(s *scene, p *access.Principal) error { return second(s.Work.NextUnlessLeft(s.ctx, p, 0)) },
	"Work.Next":           func(s *scene, p *access.Principal) error { return second(s.Work.Next(s.ctx, p, 0)) },
	"Work.Current":        func(s *scene, p *access.Principal) error { return second(s.Work.Current(s.ctx, p)) },
	"Work.WhyNothing":     func(s *scene, p *access.Principal) error { return second(s.Work.WhyNothing(s.ctx, p)) },
	"Work.Heartbeat":      func(s *scene, p *access.Principal) error { return second(s.Work.Heartbeat(s.ctx, p, s.held)) },
	"Work.Skip":           func(s *scene, p *access.Principal) error { return second(s.Work.Skip(s.ctx, p, s.held, 0)) },
	"Work.Report": func(s *scene, p *access.Principal) error {
		return second(s.Work.Report(s.ctx, p, s.held, "no picture", false, 0))
	},
	"Work.Undo": func(s *scene, p *access.Principal) error {
		_, _, err := s.Work.Undo(s.ctx, p, s.held)
		return err
	},
	"Work.Revise": func(s *scene, p *access.Principal) error {
		return second(s.Work.Revise(s.ctx, p, s.toRevise(), no))
	},
	"Work.Revisable": func(s *scene, p *access.Principal) error {
		return second(s.Work.Revisable(s.ctx, p, s.toRevise()))
	},
	"Work.Undoable": func(s *scene, p *access.Principal) error { return second(s.Work.Undoable(s.ctx, p)) },
	"Work.Feedback": func(s *scene, p *access.Principal) error { return second(s.Work.Feedback(s.ctx, p, s.held)) },
	"Work.IsLesson": func(s *scene, p *access.Principal) error { return second(s.Work.IsLesson(s.ctx, p, s.held)) },
	"Work.Notes":    func(s *scene, p *access.Principal) error { return second(s.Work.Notes(s.ctx, p)) }, "Work.SeeNote": trySeeNote,
	"Batches.QualityActions": tryActions, "Batches.UndoQualityAction": tryUndoAction,
	"Batches.Disregard": tryDisregard, "Batches.WouldDisregard": tryWouldDisregard, "Batches.SendBack": trySendBack, "Batches.WouldSendBack": tryWouldSendBack,
	"Results.Corrections": tryCorrections, "Results.Correct": tryCorrect, "Results.Withdraw": tryWithdraw,
	"Pay.List": tryListPay, "Pay.Approve": tryApprovePay, "Pay.Refuse": tryRefusePay, "Pay.Appeals": tryAppeals, "Pay.Decide": tryDecideAppeal, "Pay.Own": tryOwnPay, "Pay.Appeal": tryAppeal,
	"Pay.Sums":     func(s *scene, p *access.Principal) error { return second(s.Pay.Sums(s.ctx, p)) },
	"Work.Reports": tryReports, "Work.Reply": tryReply,
	"Work.OwnReports": func(s *scene, p *access.Principal) error { return second(s.Work.OwnReports(s.ctx, p, 1)) },
	"Work.Return":     func(s *scene, p *access.Principal) error { return s.Work.Return(s.ctx, p, s.held) },
	"Work.Submit": func(s *scene, p *access.Principal) error {
		_, _, err := s.Work.Submit(s.ctx, p, s.held, yes, false, 0)
		return err
	},
	"Work.SendBack": func(s *scene, p *access.Principal) error { // of what is no review
		_, _, err := s.Work.SendBack(s.ctx, p, s.held, "look again", false, 0)
		return err
	},
	"Work.Earnings": func(s *scene, p *access.Principal) error {
		_, _, err := s.Work.Earnings(s.ctx, p, 1)
		return err
	},

	"Duty.Get":    func(s *scene, p *access.Principal) error { return second(s.Duty.Get(s.ctx, p)) },
	"Duty.WhyOff": func(s *scene, p *access.Principal) error { return second(s.Duty.WhyOff(s.ctx, p)) },
	"Duty.Watch": func(s *scene, p *access.Principal) error {
		_, stop, err := s.Duty.Watch(s.ctx, p)
		if err == nil {
			stop()
		}
		return err
	},
	"Duty.Await": func(s *scene, p *access.Principal) error {
		return second(s.Duty.Await(s.ctx, p, 0, func(recruit.DutyView) bool { return true }))
	},
	"Duty.Start":       func(s *scene, p *access.Principal) error { return second(s.Duty.Start(s.ctx, p)) },
	"Duty.End":         func(s *scene, p *access.Principal) error { return second(s.Duty.End(s.ctx, p)) },
	"Duty.DeclineCall": func(s *scene, p *access.Principal) error { return s.Duty.DeclineCall(s.ctx, p) },
	"Duty.ChangeWishes": func(s *scene, p *access.Principal) error {
		return second(s.Duty.ChangeWishes(s.ctx, p, func(*recruit.Wishes) error { return nil }))
	},
	"Duty.Wishes": func(s *scene, p *access.Principal) error { return second(s.Duty.Wishes(s.ctx, p)) },
	"Duty.Subscribe": func(s *scene, p *access.Principal) error {
		return second(s.Duty.Subscribe(s.ctx, p, store.Subscription{}))
	},

	"Invitations.Invite": func(s *scene, p *access.Principal) error {
		return second(s.Invitations.Invite(s.ctx, p, accounts.NewInvitations{Tenant: s.a, Pool: s.pool, Addresses: []string{"a@example.org"}}))
	},
	"Invitations.List": func(s *scene, p *access.Principal) error { return second(s.Invitations.List(s.ctx, p, s.a, 0, 1)) },
	"Invitations.Get":  func(s *scene, p *access.Principal) error { return second(s.Invitations.Get(s.ctx, p, s.invited().ID)) },
	"Invitations.Resend": func(s *scene, p *access.Principal) error {
		return second(s.Invitations.Resend(s.ctx, p, s.invited().ID))
	},
	"Invitations.Withdraw": func(s *scene, p *access.Principal) error {
		return second(s.Invitations.Withdraw(s.ctx, p, s.invited().ID))
	},
	"Invitations.Accept": func(s *scene, p *access.Principal) error {
		return second(s.Invitations.Accept(s.ctx, p, s.invited().Token, nil))
	},
	"Tests.Create": func(s *scene, p *access.Principal) error {
		return second(s.Tests.Create(s.ctx, p, accounts.NewTest{Tenant: s.a, Name: "new", Template: []byte(yesOrNo), Questions: alive(2), PassMark: 50}))
	},
	"Tests.List":     func(s *scene, p *access.Principal) error { return second(s.Tests.List(s.ctx, p, s.a)) },
	"Tests.Get":      func(s *scene, p *access.Principal) error { return second(s.Tests.Get(s.ctx, p, s.given().ID)) },
	"Tests.Retire":   func(s *scene, p *access.Principal) error { return second(s.Tests.Retire(s.ctx, p, s.given().ID, true)) },
	"Tests.Tries":    func(s *scene, p *access.Principal) error { return second(s.Tests.Tries(s.ctx, p, s.given().ID, 0, 1)) },
	"Tests.Mine":     func(s *scene, p *access.Principal) error { return second(s.Tests.Mine(s.ctx, p)) },
	"Tests.Take":     func(s *scene, p *access.Principal) error { return second(s.Tests.Take(s.ctx, p, s.asked(p))) },
	"Tests.StartTry": func(s *scene, p *access.Principal) error { return second(s.Tests.StartTry(s.ctx, p, s.asked(p))) },
	"Tests.SubmitTry": func(s *scene, p *access.Principal) error {
		id := s.asked(p)
		if _, err := s.Tests.StartTry(s.ctx, p, id); err != nil {
			return err
		}
		return second(s.Tests.SubmitTry(s.ctx, p, id, 1, nil, true))
	},

	"Runs.Make": func(s *scene, p *access.Principal) error {
		return second(s.Runs.Make(s.ctx, p, orchestrator.NewRun{Tenant: s.a, Text: oneStep}))
	},
	"Runs.MakeAgain": func(s *scene, p *access.Principal) error { return second(s.Runs.MakeAgain(s.ctx, p, s.made())) },
	"Runs.Check": func(s *scene, p *access.Principal) error {
		got, err := s.Runs.Check(s.ctx, p, orchestrator.NewRun{Text: "workflow: x"})
		if err == nil {
			got.Done()
		}
		return err
	},
	"Runs.Load": func(s *scene, p *access.Principal) error {
		return second(s.Runs.Load(s.ctx, p, s.made(), "things", file(s.t, thingsWithID(2))))
	},
	"Runs.Start": func(s *scene, p *access.Principal) error {
		id := s.made()
		must(s.Runs.Load(s.ctx, s.admin, id, "things", file(s.t, thingsWithID(2))))(s.t)
		return second(s.Runs.Start(s.ctx, p, id, false))
	},
	"Runs.AddRows": func(s *scene, p *access.Principal) error {
		return second(s.Runs.AddRows(s.ctx, p, s.open(), orchestrator.NewRows{Input: "things", File: file(s.t, thingsWithID(2)), Feed: "f"}))
	},
	"Runs.FeedRows": func(s *scene, p *access.Principal) error {
		return second(s.Runs.FeedRows(s.ctx, p, s.open(), "things", "f"))
	},
	"Runs.SealInputs": func(s *scene, p *access.Principal) error {
		return second(s.Runs.SealInputs(s.ctx, p, s.open(), "things"))
	},
	"Runs.List":    func(s *scene, p *access.Principal) error { return second(s.Runs.List(s.ctx, p, s.a, 0, 1)) },
	"Runs.Get":     func(s *scene, p *access.Principal) error { return second(s.Runs.Get(s.ctx, p, s.under())) },
	"Runs.Pause":   func(s *scene, p *access.Principal) error { return second(s.Runs.Pause(s.ctx, p, s.under())) },
	"Runs.Resume":  func(s *scene, p *access.Principal) error { return second(s.Runs.Resume(s.ctx, p, s.under())) },
	"Runs.Cancel":  func(s *scene, p *access.Principal) error { return second(s.Runs.Cancel(s.ctx, p, s.under())) },
	"Runs.Redo":    tryRedo,
	"Runs.TopUp":   func(s *scene, p *access.Principal) error { return second(s.Runs.TopUp(s.ctx, p, s.under(), 1)) },
	"Runs.EndStep": func(s *scene, p *access.Principal) error { return second(s.Runs.EndStep(s.ctx, p, s.under(), "alive")) },
	"Runs.Slowest": func(s *scene, p *access.Principal) error { return second(s.Runs.Slowest(s.ctx, p, s.under(), 1)) },
	"Runs.Path":    func(s *scene, p *access.Principal) error { return second(s.Runs.Path(s.ctx, p, s.under(), 1)) },
	"Runs.Items": func(s *scene, p *access.Principal) error {
		return second(s.Runs.Items(s.ctx, p, s.under(), "alive", 0, 1))
	},
	"Runs.Ended": func(s *scene, p *access.Principal) error {
		_, _, err := s.Runs.Ended(s.ctx, p, s.under(), 1)
		return err
	},
	"Runs.Faults":  func(s *scene, p *access.Principal) error { return second(s.Runs.Faults(s.ctx, p, s.under(), 0, 1)) },
	"Runs.Results": func(s *scene, p *access.Principal) error { return second(s.Runs.Results(s.ctx, p, s.under(), "alive")) },
	"Runs.Skip":    func(s *scene, p *access.Principal) error { return second(s.Runs.Skip(s.ctx, p, s.under(), "")) },
	"Runs.Retry": func(s *scene, p *access.Principal) error {
		_, _, err := s.Runs.Retry(s.ctx, p, s.under(), "")
		return err
	},
	"Runs.Watch": func(s *scene, p *access.Principal) error {
		_, stop, err := s.Runs.Watch(s.ctx, p, s.under())
		if err == nil {
			stop()
		}
		return err
	},
	"Tenants.PutSecret": func(s *scene, p *access.Principal) error { return s.Tenants.PutSecret(s.ctx, p, s.a, secretKey) },
	"Tenants.DeleteSecret": func(s *scene, p *access.Principal) error {
		ok(s.t, s.Tenants.PutSecret(s.ctx, s.admin, s.a, secretKey))
		return s.Tenants.DeleteSecret(s.ctx, p, s.a, "KEY")
	},
	"Nodes.List": func(s *scene, p *access.Principal) error { return second(s.Nodes.List(s.ctx, p)) },
	"Audit.List": listAudit, "Audit.Get": getAudit, "Audit.Check": func(s *scene, p *access.Principal) error { return second(s.Audit.Check(s.ctx, p)) }, "Audit.Export": exportAudit,

	"Tenants.Quotas": func(s *scene, p *access.Principal) error { return second(s.Tenants.Quotas(s.ctx, p, s.a)) },
	"Retention.Get":  getRetention, "Retention.Set": setRetention, "Retention.Preview": previewRetention,
	"Tenants.SetQuotas": func(s *scene, p *access.Principal) error { return second(s.Tenants.SetQuotas(s.ctx, p, s.a, someRuns)) },
	"Tenants.Secrets":   func(s *scene, p *access.Principal) error { return second(s.Tenants.Secrets(s.ctx, p, s.a)) },

	"Duty.Subscriptions": func(s *scene, p *access.Principal) error { return second(s.Duty.Subscriptions(s.ctx, p)) },
	"Duty.Unsubscribe": func(s *scene, p *access.Principal) error {
		if err := s.Duty.Unsubscribe(s.ctx, p, 1); crowd.CodeOf(err) != crowd.NotFound {
			return err
		}
		return nil // there is none to forget
	},
	"Tenants.Owner": func(s *scene, p *access.Principal) error { return second(s.Tenants.Owner(s.ctx, p, s.a)) },
	"Tenants.List":  func(s *scene, p *access.Principal) error { return second(s.Tenants.List(s.ctx, p)) },
	"Accounts.User": func(s *scene, p *access.Principal) error { return second(s.Accounts.User(s.ctx, p, p.User.ID)) },
	"Accounts.ChangePassword": func(s *scene, p *access.Principal) error { // who has none, or came with a token, is told so
		if err := s.Accounts.ChangePassword(s.ctx, p, accounts.Proof{Password: "none"}, goodPassword); crowd.CodeOf(err) != crowd.Conflict {
			return fmt.Errorf("want a conflict, got: %w", err)
		}
		return nil
	},
	"Accounts.Sessions":    func(s *scene, p *access.Principal) error { return second(s.Accounts.Sessions(s.ctx, p)) },
	"Accounts.EndSessions": func(s *scene, p *access.Principal) error { return s.Accounts.EndSessions(s.ctx, p) },
	"Accounts.EndSession": func(s *scene, p *access.Principal) error {
		if err := s.Accounts.EndSession(s.ctx, p, 999); crowd.CodeOf(err) != crowd.NotFound {
			return err
		}
		return nil // there is none to end
	},
	"Accounts.Device": func(s *scene, p *access.Principal) error { return second(s.Accounts.Device(s.ctx, p)) },
	"Accounts.SignOut": func(s *scene, p *access.Principal) error {
		t, _, err := s.Accounts.CreateToken(s.ctx, p, accounts.NewToken{Name: "mine", Tenant: p.Token.Tenant})
		return errors.Join(err, s.Accounts.SignOut(s.ctx, &access.Principal{User: p.User, Token: t}))
	},
}

func second[T any](_ T, err error) error { return err }

// looksAgain are methods that look at who has sent a request, and do nothing for them.
var looksAgain = map[string]bool{"Accounts.Again": true, "Accounts.Sent": true}

// TestWhoMayDoWhat calls every method as everybody.
func TestWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	people := w.peopleOfAllKinds()
	methods, rows := methodsOf(), make(map[string]access.Operation)
	for _, o := range access.Operations() {
		name, _, part := strings.Cut(o.Name, ": ")
		if methods[name] == nil {
			t.Errorf("the table has %s, which is no method", o.Name)
		}
		if part { // of what the method does, for fewer people
			continue
		}
		if _, twice := rows[name]; twice {
			t.Errorf("%s is twice in the table", name)
		}
		rows[name] = o
	}
	for name, method := range methods {
		o, found := rows[name]
		if !found {
			t.Errorf("nothing says who may call %s", name)
			continue
		}
		call, guarded := calls[name], o.Who != access.Internal && o.Who != access.Everybody
		if takes := method.NumIn() > 2 && method.In(2) == reflect.TypeFor[*access.Principal](); takes != guarded && !looksAgain[name] || guarded != (call != nil) {
			t.Errorf("%s: takes a principal: %t, needs one: %t, is called here: %t", name, takes, guarded, call != nil)
			continue
		}
		if !guarded {
			continue
		}
		s := &scene{world: w, draft: w.draft(1), running: w.launch(len(people))}
		for whom, p := range people {
			t.Run(name+" by "+whom, func(t *testing.T) {
				may := p.may(o)
				if s.held, s.old = s.running.Assignment(1), !may || !o.Changes; o.Needs == access.CanWork && o.Who != access.Self && may {
					s.held = w.next(p.Principal).Assignment
				}
				err := s.request(call, p.Principal)
				code, lapsed := crowd.CodeOf(err), errors.Is(err, store.ErrLapsed) // let in, with a token that another call here has ended
				turnedAway := !lapsed && (code == crowd.Forbidden || code == crowd.NotFound || code == crowd.Unauthenticated)
				switch {
				case (p.User.ID == 999 || p.Token.Kind == store.ProviderToken) && o.Who == access.Self: // there is no self
				case may && (turnedAway || code == crowd.Internal):
					t.Errorf("was turned away: %s", code)
				case !may && !turnedAway:
					t.Errorf("was let in: %q", code)
				case !may && o.Who == access.Tenant && p.own == nil && has(p.others, o.Needs) && code != crowd.NotFound:
					t.Errorf("another tenant's is %q, it should look as if it were not there", code)
				case !may && o.Who == access.Tenant && slices.Contains(p.own, access.Viewer) && (code != crowd.Forbidden || !strings.Contains(err.Error(), "permission "+o.Needs.String())):
					t.Errorf("who sees it is told %q, not that they lack %s", err, o.Needs)
				}
			})
		}
		s.giveUp()
		if _, err := w.Batches.Cancel(w.ctx, w.admin, s.running); err != nil {
			refused(t, err, crowd.Conflict) // the method has ended it
		}
	}
	for name := range calls {
		if methods[name] == nil {
			t.Errorf("%s is no method", name)
		}
	}
}

// methodsOf lists the methods of the use cases that an app is made of, as
// "Field.Method".
func methodsOf() map[string]reflect.Type {
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
