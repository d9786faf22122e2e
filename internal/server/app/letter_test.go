package app_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
)

// TestTheLetterOfAnInvitation has all that the invited have to know.
func TestTheLetterOfAnInvitation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.withPost(recruit.Senders{Mail: func(context.Context, string, string, string) error { return nil }})
	birds := must(w.Tests.Create(w.ctx, w.ann, accounts.NewTest{Tenant: w.a, Name: "birds", Template: []byte(yesOrNo), Questions: alive(3), Draw: 2, PassMark: 50}))(t)
	must(w.Invitations.Invite(w.ctx, w.ann, accounts.NewInvitations{Tenant: w.a, Pool: w.pool, Test: birds.ID, Addresses: []string{"a@example.org"}, Note: "Do come."}))(t)
	must(w.Invitations.Invite(w.ctx, w.ann, accounts.NewInvitations{Tenant: w.a, Pool: w.pool, Addresses: []string{"b@example.org"}}))(t)
	i := must(w.store.Invitation(w.ctx, w.a, 1))(t)
	with, without := letterTo(t, w, "a@example.org"), letterTo(t, w, "b@example.org")
	for _, text := range []string{
		"ann invites you to do tasks in main.", "First there is a test of 2 questions, birds.", "\n\nDo come.\n\n",
		"works until " + i.ExpiresAt.UTC().Format("2 January 2006, 15:04 UTC"),
	} {
		if !strings.Contains(with.Body, text) {
			t.Errorf("the letter has no %q:\n%s", text, with.Body)
		}
	}
	if strings.Contains(without.Body, "test") || strings.Contains(without.Body, "\n\n\n") {
		t.Errorf("without a test or a note:\n%s", without.Body)
	}
	if with.Subject != "An invitation to work: main" || with.Worker != w.ann.User.ID || with.Invitation != i.ID || !with.UselessAt.Equal(i.ExpiresAt) || !strings.HasPrefix(with.Link, "/invitation?token=inv.1.") {
		t.Errorf("%+v", with)
	}
}

func letterTo(t *testing.T, w *world, address string) store.Message {
	t.Helper()
	for _, m := range must(w.store.ListMessages(w.ctx, 0, 0, 10))(t) {
		if m.Target == address {
			return m
		}
	}
	t.Fatalf("there is no letter to %s", address)
	return store.Message{}
}

// TestARunThatWaitsForMoneyGoesOn by itself when there is some: nothing tells it.
func TestARunThatWaitsForMoneyGoesOn(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		poor := must(w.Tenants.Create(w.ctx, w.admin, accounts.NewTenant{Name: "poor", Weight: 1}))(t).ID
		id := must(w.Runs.Make(w.ctx, w.admin, orchestrator.NewRun{Tenant: poor, Text: oneStep}))(t).Run.ID
		must(w.Runs.Load(w.ctx, w.admin, id, "things", file(t, thingsWithID(2))))(t)
		must(w.Runs.Start(w.ctx, w.admin, id, false))(t)
		<-time.After(10 * time.Second)
		step := must(w.Runs.Get(w.ctx, w.admin, id))(t).Nodes[1]
		if !strings.Contains(step.Error, "account") || step.State == store.NodeFailed {
			t.Errorf("without money the step is %s: %q", step.State, step.Error)
		}
		if work := must(w.Work.Next(w.ctx, w.workers[0], 0))(t); work != nil {
			t.Error("a task that cannot be paid is handed out")
		}
		ok(t, w.Tenants.Deposit(w.ctx, w.admin, poor, crowd.Unit, ""))
		<-time.After(10 * time.Second)
		w.next(w.workers[0])
		if step := must(w.Runs.Get(w.ctx, w.admin, id))(t).Nodes[1]; step.Error != "" {
			t.Errorf("with money the step still says %q", step.Error)
		}
	})
}

// TestTheBatchOfAStep is as the file says, and has the defaults where the file
// says nothing.
func TestTheBatchOfAStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	s := &scene{world: w}
	batchOf := func(id crowd.RunID) store.Batch {
		t.Helper()
		return w.batch(must(w.Runs.Get(w.ctx, w.admin, id))(t).Nodes[1].Node.Batch).Batch
	}
	b := batchOf(s.under())
	if b.Name != "one step: alive" || b.Run != s.run || b.Node != 1 || b.Spec.Lease != 30*time.Minute || b.Spec.TaskTime != 30*time.Second || b.Spec.Priority != 1 ||
		b.Spec.Production || b.Spec.Reward != crowd.Unit/100 || b.Spec.Tenant != w.a || b.Pool != w.pool || b.CreatedBy != w.admin.User.ID || !b.Spec.Open {
		t.Errorf("by default %+v", b)
	}
	must(w.Runs.Pause(w.ctx, w.ann, s.run))(t)
	_, _, err := w.Runs.Retry(w.ctx, w.ann, s.run, "")
	refused(t, err, crowd.Conflict)
	if !strings.Contains(err.Error(), "is paused: resume it") {
		t.Errorf("of a paused run retry says %q", err)
	}
	s.giveUp()

	text := strings.Replace(oneStep, "reward: 0.01", "reward: 0.02, priority: 2.5, lease: 5m, task_time: 12s, production: true, budget: 3.00", 1)
	id := must(w.Runs.Make(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: text}))(t).Run.ID
	must(w.Runs.Load(w.ctx, w.ann, id, "things", file(t, thingsWithID(2))))(t)
	must(w.Runs.Start(w.ctx, w.ann, id, false))(t)
	w.until(func() bool { return must(w.Runs.Get(w.ctx, w.admin, id))(t).Nodes[1].Node.Batch != 0 })
	b = batchOf(id)
	if b.Spec.Lease != 5*time.Minute || b.Spec.TaskTime != 12*time.Second || b.Spec.Priority != 2.5 || !b.Spec.Production || b.Spec.Reward != crowd.Unit/50 || b.Spec.Budget != 3*crowd.Unit || b.CreatedBy != w.ann.User.ID {
		t.Errorf("as the file says %+v", b)
	}
}
