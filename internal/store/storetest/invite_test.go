package storetest

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
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
	same(t, "messages", must(w.ListMessages(w.ctx, 0, 0, all))(t), nil)

	mailed := must(w.CreateInvitations(w.ctx, []store.Invitation{w.invitation("b@example.org"), w.invitation("c@example.org")}, w.mailOf))(t)
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
	ok(t, w.UpdateInvitation(w.ctx, i, &mail, w.now))
	kept := must(w.Invitation(w.ctx, 0, i.ID))(t)
	want := i
	want.Mail = store.Mailed{State: store.MessageQueued, At: mail.NextAt}
	same(t, "kept", kept, want)

	// Its mail's state is that of the latest.
	m := must(w.ListMessages(w.ctx, 0, 0, 1))(t)[0]
	m.State, m.Error, m.SentAt = store.MessageFailed, "550 nobody", w.now.Add(9*time.Minute)
	ok(t, w.UpdateMessage(w.ctx, m))
	same(t, "failed", must(w.Invitation(w.ctx, 0, i.ID))(t).Mail, store.Mailed{State: store.MessageFailed, At: m.SentAt, Error: "550 nobody"})
	ok(t, w.UpdateInvitation(w.ctx, i, &mail, w.now))
	same(t, "the second", must(w.Invitation(w.ctx, 0, i.ID))(t).Mail, store.Mailed{State: store.MessageQueued, At: mail.NextAt})

	nobodys := w.mailOf(i)
	nobodys.Worker = 99
	w.unchanged(t, func() {
		withdrawn := i
		withdrawn.State = store.InvitationWithdrawn
		refused(t, w.UpdateInvitation(w.ctx, withdrawn, &nobodys, w.now), crowd.NotFound)
	})
	i.State, i.AnsweredAt = store.InvitationDeclined, w.now.Add(time.Hour)
	ok(t, w.UpdateInvitation(w.ctx, i, nil, w.now))
	w.unchanged(t, func() {
		i.State = store.InvitationOpen
		refused(t, w.UpdateInvitation(w.ctx, i, &mail, w.now), crowd.Conflict)
	})
	same(t, "the other one", must(w.Invitation(w.ctx, 0, 2))(t).State, store.InvitationOpen)
}

func testAcceptInvitation(t *testing.T, w *world) {
	list := w.invite(t, w.invitation("a@example.org"), w.invitation("b@example.org"), w.invitation("c@example.org"))
	i := list[0]
	i.AnsweredAt = w.now.Add(time.Hour)
	u := store.User{Name: "newcomer", Email: i.Address, Pool: w.pool, CreatedAt: w.now, Tenants: []crowd.TenantID{w.other}, Qualifications: map[string]int{"x": 3}}
	u.ID = must(w.AcceptInvitation(w.ctx, i, u, nil))(t)
	same(t, "the user", must(w.UserByName(w.ctx, "Newcomer"))(t), u)
	i.State, i.Worker = store.InvitationAccepted, u.ID
	same(t, "the invitation", must(w.Invitation(w.ctx, 0, i.ID))(t), i)

	w.unchanged(t, func() {
		again := u
		again.ID, again.Name = 0, "second"
		_, err := w.AcceptInvitation(w.ctx, list[0], again, nil)
		refused(t, err, crowd.Conflict)
		again.Name = "NEWCOMER"
		_, err = w.AcceptInvitation(w.ctx, list[1], again, nil)
		refused(t, err, crowd.Conflict)
		again.Name = "third"
		astray := list[1]
		astray.Tenant = w.other
		_, err = w.AcceptInvitation(w.ctx, astray, again, nil)
		refused(t, err, crowd.NotFound)
		again.ID = 99
		_, err = w.AcceptInvitation(w.ctx, list[1], again, nil)
		refused(t, err, crowd.NotFound)
	})
	u.Pool, u.Tenants = 0, nil
	if id := must(w.AcceptInvitation(w.ctx, list[1], u, nil))(t); id != u.ID {
		t.Errorf("an account that there was became %s", id)
	}
	same(t, "the changed user", must(w.User(w.ctx, u.ID))(t), u)

	a := w.asking("asked@example.org")
	u.ID, u.Name = 0, "asked"
	third := w.invite(t, w.invitation("asked@example.org"))[0]
	u.ID = must(w.AcceptInvitation(w.ctx, third, u, &a))(t)
	same(t, "asked", must(w.AskedAddress(w.ctx, u.ID))(t).Address, "asked@example.org")

	// Of many at once one has it.
	var group sync.WaitGroup
	won := make(chan crowd.WorkerID, 8)
	for n := range 8 {
		group.Go(func() {
			if id, err := w.AcceptInvitation(w.ctx, list[2], store.User{Name: fmt.Sprint("racer", n)}, nil); err == nil {
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
	must(w.AcceptInvitation(w.ctx, list[0], u, nil))(t)
	must(w.AcceptInvitation(w.ctx, list[2], u, nil))(t)
	same(t, "theirs", invitationIDs(must(w.AcceptedInvitations(w.ctx, u.ID))(t)), []int64{3, 1})
	same(t, "another's", must(w.AcceptedInvitations(w.ctx, w.workers[1]))(t), nil)
	same(t, "nobody's", must(w.AcceptedInvitations(w.ctx, 0))(t), nil)
}

func testUsersByEmail(t *testing.T, w *world) {
	for i, address := range []string{"Ann@Example.org", "ann@example.org", "bob@example.org"} {
		u := must(w.User(w.ctx, w.workers[i]))(t)
		u.Email, u.EmailVerified = address, true
		ok(t, w.UpdateUser(w.ctx, u))
	}
	same(t, "two of one address", must(w.UsersByEmail(w.ctx, "ANN@example.org"))(t),
		[]store.User{must(w.User(w.ctx, w.workers[0]))(t), must(w.User(w.ctx, w.workers[1]))(t)})
	same(t, "nobody", must(w.UsersByEmail(w.ctx, "ann@example"))(t), nil)
	kim := must(w.CreateUser(w.ctx, store.User{Name: "kim", Email: "kim@example.org", EmailVerified: true, CreatedAt: w.now}))(t)
	same(t, "the Kelvin sign is no k", must(w.UsersByEmail(w.ctx, "\u212aim@example.org"))(t), nil)
	same(t, "K is", must(w.UsersByEmail(w.ctx, "Kim@example.org"))(t)[0].ID, kim)
	u := must(w.User(w.ctx, w.workers[2]))(t)
	u.EmailVerified = false
	ok(t, w.UpdateUser(w.ctx, u))
	same(t, "nobody who has shown it", must(w.UsersByEmail(w.ctx, u.Email))(t), nil)
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

func (w *world) createTest(t *testing.T, name string) store.Test {
	t.Helper()
	x, questions := w.test(name)
	x.ID = must(w.CreateTest(w.ctx, x, questions))(t)
	return x
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

func testFinishTry(t *testing.T, w *world) {
	x := w.createTest(t, "birds")
	a, b := w.start(t, w.try(x.ID, 0, 1)), w.start(t, w.try(x.ID, 1, 1))
	a.SubmittedAt, a.Answers, a.Right, a.Score, a.Late, a.Passed = w.now.Add(time.Minute), json.RawMessage(`{"2":{"key":"<no>"}}`), 1, 50, true, true
	u := must(w.User(w.ctx, w.workers[0]))(t)
	u.Qualifications, u.Granted = map[string]int{"birds": 50}, []engine.Grant{{Tenant: w.mine, Name: "fish", Score: 50}}
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
	same(t, "their try", must(w.TestTries(w.ctx, 0, x.ID, b.ID, 1))(t), []store.Try{a})
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
