package storetest

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// invitation is an open one of mine to an address.
func (w *world) invitation(address string) store.Invitation {
	return store.Invitation{
		Tenant: w.mine, Pool: w.pool, Test: 7, Address: address, Note: "<b>\nline \u2028", InvitedBy: w.workers[3],
		CreatedAt: w.now, ExpiresAt: w.now.Add(14 * 24 * time.Hour), State: store.InvitationOpen,
	}
}

// invite keeps invitations without mails, and returns them as kept.
func (w *world) invite(t *testing.T, list ...store.Invitation) []store.Invitation {
	t.Helper()
	return must(w.CreateInvitations(w.ctx, list, nil))(t)
}

func (w *world) mailOf(i store.Invitation) store.Message {
	m := w.message(3, 0, int(i.ID))
	m.Target, m.Link, m.Invitation = i.Address, fmt.Sprintf("/invitation?token=%d", i.ID), 999
	return m
}

func invitationIDs(list []store.Invitation) []int64 {
	out := make([]int64, len(list))
	for i := range list {
		out[i] = list[i].ID
	}
	return out
}

func testCreateInvitations(t *testing.T, w *world) {
	same(t, "of none", must(w.CreateInvitations(w.ctx, nil, w.mailOf))(t), nil)
	bare := w.invite(t, w.invitation("A@Example.org"), w.invitation("a@example.org"))
	want := w.invitation("A@Example.org")
	want.ID = 1
	same(t, "the first", bare[0], want)
	same(t, "kept", must(w.Invitation(w.ctx, 0, 2))(t), bare[1])
	same(t, "messages", must(w.ListMessages(w.ctx, 0, 0, all))(t), nil)

	full := w.invitation("b@example.org")
	full.State, full.OpenedAt, full.AnsweredAt, full.Worker = store.InvitationAccepted, w.now.Add(1), w.now.Add(2*time.Second), w.workers[1]
	full.OpenedAt = w.now.Add(time.Second)
	mailed := must(w.CreateInvitations(w.ctx, []store.Invitation{full, w.invitation("c@example.org")}, w.mailOf))(t)
	messages := must(w.ListMessages(w.ctx, 0, 0, all))(t)
	if len(mailed) != 2 || len(messages) != 2 {
		t.Fatalf("%d invitations, %d messages", len(mailed), len(messages))
	}
	for i, x := range mailed {
		m := messages[1-i]
		if m.Invitation != x.ID || m.Target != x.Address || m.Link != fmt.Sprintf("/invitation?token=%d", x.ID) {
			t.Errorf("invitation %d has the message %+v", x.ID, m)
		}
		same(t, "with how its mail fares", x.Mail, store.Mailed{State: store.MessageQueued, At: m.NextAt})
		same(t, "kept", must(w.Invitation(w.ctx, w.mine, x.ID))(t), x)
	}
	w.unchanged(t, func() {
		astray := w.invitation("d@example.org")
		astray.Pool = 99
		_, err := w.CreateInvitations(w.ctx, []store.Invitation{w.invitation("e@example.org"), astray}, nil)
		refused(t, err, crowd.NotFound)
		_, err = w.CreateInvitations(w.ctx, []store.Invitation{w.invitation("e@example.org")}, func(store.Invitation) store.Message { return store.Message{Worker: 99} })
		refused(t, err, crowd.NotFound)
	})
}

func testUpdateInvitation(t *testing.T, w *world) {
	i := w.invite(t, w.invitation("a@example.org"), w.invitation("b@example.org"))[0]
	i.Note, i.ExpiresAt, i.OpenedAt = "again", w.now.Add(time.Hour), w.now.Add(time.Minute)
	mail := w.mailOf(i)
	ok(t, w.UpdateInvitation(w.ctx, i, &mail))
	kept := must(w.Invitation(w.ctx, 0, i.ID))(t)
	want := i
	want.Mail = store.Mailed{State: store.MessageQueued, At: mail.NextAt}
	same(t, "kept", kept, want)

	// Its mail's state is that of the latest.
	m := must(w.ListMessages(w.ctx, 0, 0, 1))(t)[0]
	m.State, m.Error, m.SentAt = store.MessageFailed, "550 nobody", w.now.Add(9*time.Minute)
	ok(t, w.UpdateMessage(w.ctx, m))
	same(t, "failed", must(w.Invitation(w.ctx, 0, i.ID))(t).Mail, store.Mailed{State: store.MessageFailed, At: m.SentAt, Error: "550 nobody"})
	ok(t, w.UpdateInvitation(w.ctx, i, &mail))
	same(t, "the second", must(w.Invitation(w.ctx, 0, i.ID))(t).Mail, store.Mailed{State: store.MessageQueued, At: mail.NextAt})

	astray := i
	astray.Tenant, astray.State = w.other, store.InvitationWithdrawn
	nowhere := i
	nowhere.ID = 99
	nobodys := w.mailOf(i)
	nobodys.Worker = 99
	w.unchanged(t, func() {
		refused(t, w.UpdateInvitation(w.ctx, astray, nil), crowd.NotFound)
		refused(t, w.UpdateInvitation(w.ctx, nowhere, nil), crowd.NotFound)
		withdrawn := i
		withdrawn.State = store.InvitationWithdrawn
		refused(t, w.UpdateInvitation(w.ctx, withdrawn, &nobodys), crowd.NotFound)
	})
	i.State, i.AnsweredAt = store.InvitationDeclined, w.now.Add(time.Hour)
	ok(t, w.UpdateInvitation(w.ctx, i, nil))
	w.unchanged(t, func() {
		i.State = store.InvitationOpen
		refused(t, w.UpdateInvitation(w.ctx, i, &mail), crowd.Conflict)
	})
	same(t, "the other one", must(w.Invitation(w.ctx, 0, 2))(t).State, store.InvitationOpen)
}

func testAcceptInvitation(t *testing.T, w *world) {
	list := w.invite(t, w.invitation("a@example.org"), w.invitation("b@example.org"), w.invitation("c@example.org"))
	i := list[0]
	i.AnsweredAt = w.now.Add(time.Hour)
	u := store.User{Name: "newcomer", Email: i.Address, Pool: w.pool, CreatedAt: w.now, Tenants: []crowd.TenantID{w.other}, Qualifications: map[string]int{"x": 3}}
	u.ID = must(w.AcceptInvitation(w.ctx, i, u))(t)
	same(t, "the user", must(w.UserByName(w.ctx, "Newcomer"))(t), u)
	i.State, i.Worker = store.InvitationAccepted, u.ID
	same(t, "the invitation", must(w.Invitation(w.ctx, 0, i.ID))(t), i)

	w.unchanged(t, func() {
		again := u
		again.ID, again.Name = 0, "second"
		_, err := w.AcceptInvitation(w.ctx, list[0], again)
		refused(t, err, crowd.Conflict)
		again.Name = "NEWCOMER"
		_, err = w.AcceptInvitation(w.ctx, list[1], again)
		refused(t, err, crowd.Conflict)
		again.Name = "third"
		astray := list[1]
		astray.Tenant = w.other
		_, err = w.AcceptInvitation(w.ctx, astray, again)
		refused(t, err, crowd.NotFound)
		again.ID = 99
		_, err = w.AcceptInvitation(w.ctx, list[1], again)
		refused(t, err, crowd.NotFound)
	})
	u.Pool, u.Tenants = 0, nil
	if id := must(w.AcceptInvitation(w.ctx, list[1], u))(t); id != u.ID {
		t.Errorf("an account that there was became %s", id)
	}
	same(t, "the changed user", must(w.User(w.ctx, u.ID))(t), u)

	// Of many at once one has it.
	var group sync.WaitGroup
	won := make(chan crowd.WorkerID, 8)
	for n := range 8 {
		group.Go(func() {
			if id, err := w.AcceptInvitation(w.ctx, list[2], store.User{Name: fmt.Sprint("racer", n)}); err == nil {
				won <- id
			} else if crowd.CodeOf(err) != crowd.Conflict {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if len(won) != 1 || must(w.Invitation(w.ctx, 0, list[2].ID))(t).Worker != <-won {
		t.Errorf("%d accounts were made with one invitation", len(won)+1)
	}
}

func testInvitation(t *testing.T, w *world) {
	i := w.invite(t, w.invitation("a@example.org"))[0]
	same(t, "mine", must(w.Invitation(w.ctx, w.mine, i.ID))(t), i)
	same(t, "any", must(w.Invitation(w.ctx, 0, i.ID))(t), i)
	for _, tenant := range []crowd.TenantID{w.other, 99} {
		got, err := w.Invitation(w.ctx, tenant, i.ID)
		refused(t, err, crowd.NotFound)
		same(t, "another tenant's", got, store.Invitation{})
	}
	_, err := w.Invitation(w.ctx, 0, 99)
	refused(t, err, crowd.NotFound)
}

func testListInvitations(t *testing.T, w *world) {
	same(t, "none", must(w.ListInvitations(w.ctx, 0, 0, all))(t), nil)
	theirs, nobodys := w.invitation("x@example.org"), w.invitation("y@example.org")
	theirs.Tenant, nobodys.Tenant = w.other, 0
	list := w.invite(t, w.invitation("a@example.org"), theirs, w.invitation("b@example.org"), nobodys, w.invitation("c@example.org"))
	look := func(what string, tenant crowd.TenantID, before int64, limit int, want ...int64) {
		t.Helper()
		same(t, what, invitationIDs(must(w.ListInvitations(w.ctx, tenant, before, limit))(t)), want)
	}
	look("all", 0, 0, all, 5, 4, 3, 2, 1)
	look("a page", 0, 4, 2, 3, 2)
	look("mine", w.mine, 0, all, 5, 3, 1)
	look("a page of mine", w.mine, 5, 1, 3)
	look("the other's", w.other, 0, all, 2)
	look("nobody's", 99, 0, all)
	same(t, "whole", must(w.ListInvitations(w.ctx, w.other, 0, 1))(t), list[1:2])
}

func testInvitationsTo(t *testing.T, w *world) {
	theirs := w.invitation("a@example.org")
	theirs.Tenant = w.other
	list := w.invite(t, w.invitation("A@example.org"), theirs, w.invitation("b@example.org"), w.invitation("a@EXAMPLE.org"))
	same(t, "any tenant's", invitationIDs(must(w.InvitationsTo(w.ctx, 0, "a@example.ORG"))(t)), []int64{4, 2, 1})
	same(t, "mine", invitationIDs(must(w.InvitationsTo(w.ctx, w.mine, "a@example.org"))(t)), []int64{4, 1})
	same(t, "another tenant's", must(w.InvitationsTo(w.ctx, w.other, "a@example.org"))(t), list[1:2])
	same(t, "of nobody", must(w.InvitationsTo(w.ctx, 0, "@example.org"))(t), nil)
	same(t, "not the other's", must(w.InvitationsTo(w.ctx, w.other, "b@example.org"))(t), nil)
}

func testAcceptedInvitations(t *testing.T, w *world) {
	list := w.invite(t, w.invitation("a@example.org"), w.invitation("b@example.org"), w.invitation("c@example.org"))
	u := must(w.User(w.ctx, w.workers[0]))(t)
	must(w.AcceptInvitation(w.ctx, list[0], u))(t)
	must(w.AcceptInvitation(w.ctx, list[2], u))(t)
	same(t, "theirs", invitationIDs(must(w.AcceptedInvitations(w.ctx, u.ID))(t)), []int64{3, 1})
	same(t, "another's", must(w.AcceptedInvitations(w.ctx, w.workers[1]))(t), nil)
	same(t, "nobody's", must(w.AcceptedInvitations(w.ctx, 0))(t), nil)
}

func testUsersByEmail(t *testing.T, w *world) {
	for i, address := range []string{"Ann@Example.org", "ann@example.org", "bob@example.org"} {
		u := must(w.User(w.ctx, w.workers[i]))(t)
		u.Email = address
		ok(t, w.UpdateUser(w.ctx, u))
	}
	same(t, "two of one address", must(w.UsersByEmail(w.ctx, "ANN@example.org"))(t),
		[]store.User{must(w.User(w.ctx, w.workers[0]))(t), must(w.User(w.ctx, w.workers[1]))(t)})
	same(t, "nobody", must(w.UsersByEmail(w.ctx, "ann@example"))(t), nil)
	same(t, "no address", must(w.UsersByEmail(w.ctx, ""))(t), nil)
}

// test is a test of mine, and its questions.
func (w *world) test(name string) (store.Test, []store.Question) {
	return store.Test{
			Tenant: w.mine, Name: name, Template: []byte(`{"kind": "choice", "x":"<é>"}`), Columns: []string{"url", "text"}, Questions: 3, Draw: 2,
			PassMark: 80, Tries: 4, Wait: time.Hour + 1, TimeLimit: time.Minute + 1, Grants: `a "b"`, Open: true, CreatedBy: w.workers[3], CreatedAt: w.now,
		}, []store.Question{
			{N: 1, Values: []string{"a", "line\nline \u2028\x00"}, Gold: "yes"}, {N: 2, Values: []string{"<b>", ""}, Gold: "no"}, {N: 3, Values: []string{"c", "d"}, Gold: "ja"},
		}
}

func (w *world) createTest(t *testing.T, name string, change ...func(*store.Test)) store.Test {
	t.Helper()
	x, questions := w.test(name)
	for _, c := range change {
		c(&x)
	}
	x.ID = must(w.CreateTest(w.ctx, x, questions))(t)
	return x
}

func testCreateTest(t *testing.T, w *world) {
	x := w.createTest(t, "birds")
	same(t, "kept", must(w.Test(w.ctx, w.mine, x.ID))(t), x)
	retired := w.createTest(t, "fish", func(x *store.Test) {
		x.Open, x.Retired, x.TimeLimit, x.Wait, x.Columns = false, true, 0, 0, nil
	})
	same(t, "kept", must(w.Test(w.ctx, w.mine, retired.ID))(t), retired)
	w.createTest(t, "birds", func(x *store.Test) { x.Tenant = w.other }) // a name of its own
	w.unchanged(t, func() {
		_, err := w.CreateTest(w.ctx, store.Test{Tenant: w.mine, Name: "birds", CreatedBy: w.workers[0]}, nil)
		refused(t, err, crowd.Conflict)
		_, err = w.CreateTest(w.ctx, store.Test{Tenant: w.mine, Name: "new", CreatedBy: 99}, nil)
		refused(t, err, crowd.NotFound)
	})
}

func testRetireTest(t *testing.T, w *world) {
	x := w.createTest(t, "birds")
	ok(t, w.RetireTest(w.ctx, w.mine, x.ID, true))
	x.Retired = true
	same(t, "retired", must(w.Test(w.ctx, 0, x.ID))(t), x)
	w.unchanged(t, func() {
		refused(t, w.RetireTest(w.ctx, w.other, x.ID, false), crowd.NotFound)
		refused(t, w.RetireTest(w.ctx, 0, x.ID, false), crowd.NotFound)
		refused(t, w.RetireTest(w.ctx, w.mine, 99, false), crowd.NotFound)
	})
	ok(t, w.RetireTest(w.ctx, w.mine, x.ID, false))
	x.Retired = false
	same(t, "no longer", must(w.Test(w.ctx, 0, x.ID))(t), x)
}

func testTest(t *testing.T, w *world) {
	x := w.createTest(t, "birds")
	same(t, "mine", must(w.Test(w.ctx, w.mine, x.ID))(t), x)
	same(t, "any", must(w.Test(w.ctx, 0, x.ID))(t), x)
	got, err := w.Test(w.ctx, w.other, x.ID)
	refused(t, err, crowd.NotFound)
	same(t, "another tenant's", got, store.Test{})
	_, err = w.Test(w.ctx, 0, 99)
	refused(t, err, crowd.NotFound)
}

func testListTests(t *testing.T, w *world) {
	same(t, "none", must(w.ListTests(w.ctx, 0))(t), nil)
	a := w.createTest(t, "birds")
	b := w.createTest(t, "fish", func(x *store.Test) { x.Tenant = w.other })
	c := w.createTest(t, "bees", func(x *store.Test) { x.Tenant = 0 })
	d := w.createTest(t, "ants")
	same(t, "all", must(w.ListTests(w.ctx, 0))(t), []store.Test{a, b, c, d})
	same(t, "mine", must(w.ListTests(w.ctx, w.mine))(t), []store.Test{a, d})
	same(t, "the other's", must(w.ListTests(w.ctx, w.other))(t), []store.Test{b})
}

func testQuestions(t *testing.T, w *world) {
	x := w.createTest(t, "birds")
	w.createTest(t, "fish")
	_, want := w.test("")
	same(t, "questions", must(w.Questions(w.ctx, x.ID))(t), want)
	same(t, "of no test", must(w.Questions(w.ctx, 99))(t), nil)
}

// try is somebody's n-th go at a test.
func (w *world) try(test int64, worker, n int) store.Try {
	return store.Try{Test: test, Worker: w.workers[worker], N: n, StartedAt: w.now.Add(time.Duration(n) * time.Hour), EndsAt: w.now.Add(time.Duration(n)*time.Hour + time.Minute)}
}

func (w *world) start(t *testing.T, x store.Try) store.Try {
	t.Helper()
	x.ID = must(w.StartTry(w.ctx, x))(t)
	return x
}

func testStartTry(t *testing.T, w *world) {
	x := w.createTest(t, "birds")
	first := w.start(t, w.try(x.ID, 0, 1))
	same(t, "kept", must(w.Tries(w.ctx, x.ID, w.workers[0]))(t), []store.Try{first})
	w.unchanged(t, func() {
		_, err := w.StartTry(w.ctx, w.try(x.ID, 0, 1))
		refused(t, err, crowd.Conflict)
		_, err = w.StartTry(w.ctx, w.try(99, 0, 1))
		refused(t, err, crowd.NotFound)
		_, err = w.StartTry(w.ctx, store.Try{Test: x.ID, Worker: 99, N: 1})
		refused(t, err, crowd.NotFound)
	})
	w.start(t, w.try(x.ID, 0, 2))
	w.start(t, w.try(x.ID, 1, 1))
}

func testFinishTry(t *testing.T, w *world) {
	x := w.createTest(t, "birds")
	a, b := w.start(t, w.try(x.ID, 0, 1)), w.start(t, w.try(x.ID, 1, 1))
	a.SubmittedAt, a.Answers, a.Right, a.Score, a.Late, a.Passed = w.now.Add(time.Minute), json.RawMessage(`{"2":{"key":"<no>"}}`), 1, 50, true, true
	u := must(w.User(w.ctx, w.workers[0]))(t)
	u.Qualifications = map[string]int{"birds": 50}
	before := must(w.User(w.ctx, u.ID))(t)
	w.unchanged(t, func() {
		nobody := u
		nobody.ID = 99
		refused(t, w.FinishTry(w.ctx, a, &nobody), crowd.NotFound)
		for _, change := range []func(*store.Try){
			func(x *store.Try) { x.ID = b.ID }, func(x *store.Try) { x.Worker = w.workers[1] }, func(x *store.Try) { x.N = 2 }, func(x *store.Try) { x.Test = 2 },
		} {
			astray := a
			change(&astray)
			refused(t, w.FinishTry(w.ctx, astray, &u), crowd.NotFound)
		}
	})
	ok(t, w.FinishTry(w.ctx, a, &u))
	same(t, "their tries", must(w.Tries(w.ctx, x.ID, w.workers[0]))(t), []store.Try{a})
	same(t, "the user", must(w.User(w.ctx, u.ID))(t), u)
	w.unchanged(t, func() {
		again := a
		again.Score = 100
		refused(t, w.FinishTry(w.ctx, again, &before), crowd.Conflict)
	})
	b.SubmittedAt = w.now
	ok(t, w.FinishTry(w.ctx, b, nil))
	same(t, "the other's", must(w.Tries(w.ctx, x.ID, w.workers[1]))(t), []store.Try{b})
}

func testTries(t *testing.T, w *world) {
	x, y := w.createTest(t, "birds"), w.createTest(t, "fish")
	second := w.start(t, w.try(x.ID, 0, 2))
	first := w.start(t, w.try(x.ID, 0, 1))
	w.start(t, w.try(x.ID, 1, 1))
	w.start(t, w.try(y.ID, 0, 1))
	same(t, "theirs", must(w.Tries(w.ctx, x.ID, w.workers[0]))(t), []store.Try{first, second})
	same(t, "nobody's", must(w.Tries(w.ctx, x.ID, w.workers[2]))(t), nil)
	same(t, "of no test", must(w.Tries(w.ctx, 99, w.workers[0]))(t), nil)
}

func testTestTries(t *testing.T, w *world) {
	x, y := w.createTest(t, "birds"), w.createTest(t, "fish")
	a, b := w.start(t, w.try(x.ID, 0, 1)), w.start(t, w.try(x.ID, 1, 1))
	w.start(t, w.try(y.ID, 0, 1))
	c := w.start(t, w.try(x.ID, 0, 2))
	same(t, "all", must(w.TestTries(w.ctx, w.mine, x.ID, 0, all))(t), []store.Try{c, b, a})
	same(t, "any tenant's", must(w.TestTries(w.ctx, 0, x.ID, 0, 1))(t), []store.Try{c})
	same(t, "a page", must(w.TestTries(w.ctx, w.mine, x.ID, c.ID, 1))(t), []store.Try{b})
	list, err := w.TestTries(w.ctx, w.other, x.ID, 0, all)
	refused(t, err, crowd.NotFound)
	same(t, "another tenant's", list, nil)
	_, err = w.TestTries(w.ctx, 0, 99, 0, all)
	refused(t, err, crowd.NotFound)
}
