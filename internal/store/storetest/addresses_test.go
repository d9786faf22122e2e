package storetest

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// asking asks an address, as it is kept before the mail is sent.
func (w *world) asking(address string) store.Asking {
	return store.Asking{
		AskedAddress: store.AskedAddress{Address: address, AskedAt: w.now, ExpiresAt: w.now.Add(time.Hour)},
		Letter:       store.Message{Channel: store.Mail, Target: address, Subject: "Yours?", State: store.MessageQueued, CreatedAt: w.now, NextAt: w.now},
	}
}

// asks lists the mails that ask somebody, newest first, with their states.
func (w *world) asks(t *testing.T, id crowd.WorkerID) (targets []string) {
	t.Helper()
	for _, m := range must(w.ListMessages(w.ctx, 0, 0, 100))(t) {
		if m.Asks && m.Worker == id {
			targets = append(targets, m.Target+" "+string(m.State))
		}
	}
	return targets
}

func testPutUserAsked(t *testing.T, w *world) {
	u := store.User{Name: "newcomer", Email: "new@example.org", CreatedAt: w.now}
	a := w.asking(u.Email)
	u.ID = must(w.PutUserAsked(w.ctx, u, a))(t)
	same(t, "the user", must(w.User(w.ctx, u.ID))(t), u)
	same(t, "the mail", w.asks(t, u.ID), []string{"new@example.org queued"})

	u.FullName = "New Comer"
	same(t, "the same person", must(w.PutUserAsked(w.ctx, u, w.asking("other@example.org")))(t), u.ID)
	same(t, "changed", must(w.User(w.ctx, u.ID))(t), u)
	same(t, "asked", must(w.AskedAddress(w.ctx, u.ID))(t).Address, "other@example.org")
	same(t, "the one before is dropped", w.asks(t, u.ID), []string{"other@example.org queued", "new@example.org dropped"})
	w.unchanged(t, func() {
		for _, bad := range []store.User{{ID: 99, Name: "nobody"}, {Name: "NEWCOMER"}} {
			_, err := w.PutUserAsked(w.ctx, bad, a)
			if err == nil {
				t.Errorf("%+v was kept", bad)
			}
		}
	})
}

func testAskedAddress(t *testing.T, w *world) {
	u := must(w.User(w.ctx, w.workers[0]))(t)
	_, err := w.AskedAddress(w.ctx, u.ID)
	refused(t, err, crowd.NotFound)
	a := w.asking("ann@example.org")
	must(w.PutUserAsked(w.ctx, u, a))(t)
	want := a.AskedAddress
	want.User, want.Mail = u.ID, store.Mailed{State: store.MessageQueued, At: w.now}
	same(t, "asked", must(w.AskedAddress(w.ctx, u.ID))(t), want)
	_, err = w.AskedAddress(w.ctx, w.workers[1])
	refused(t, err, crowd.NotFound)

	u.FullName = "Ann" // another change leaves it
	ok(t, w.UpdateUser(w.ctx, u))
	same(t, "still asked", must(w.AskedAddress(w.ctx, u.ID))(t), want)
	for _, change := range []func(){func() { u.Email = "x@example.org" }, func() { u.EmailVerified = true }} {
		must(w.PutUserAsked(w.ctx, u, a))(t)
		change()
		ok(t, w.UpdateUser(w.ctx, u))
		_, err = w.AskedAddress(w.ctx, u.ID)
		refused(t, err, crowd.NotFound)
	}
	must(w.PutUserAsked(w.ctx, u, a))(t)
	ok(t, w.DropMessages(w.ctx, a.ExpiresAt))
	must(w.AskedAddress(w.ctx, u.ID))(t)
	ok(t, w.DropMessages(w.ctx, a.ExpiresAt.Add(time.Second)))
	_, err = w.AskedAddress(w.ctx, u.ID)
	refused(t, err, crowd.NotFound)
}

func testLinkAddress(t *testing.T, w *world) {
	u := must(w.User(w.ctx, w.workers[0]))(t)
	must(w.PutUserAsked(w.ctx, u, w.asking("ann@example.org")))(t)
	w.unchanged(t, func() {
		refused(t, w.LinkAddress(w.ctx, u.ID, "old@example.org", "h"), crowd.NotFound)
		refused(t, w.LinkAddress(w.ctx, w.workers[1], "ann@example.org", "h"), crowd.NotFound)
	})
	ok(t, w.LinkAddress(w.ctx, u.ID, "ann@example.org", "h"))
	same(t, "hash", must(w.AskedAddress(w.ctx, u.ID))(t).Hash, "h")
	must(w.PutUserAsked(w.ctx, u, w.asking("ann@example.org")))(t)
	same(t, "asked again", must(w.AskedAddress(w.ctx, u.ID))(t).Hash, "")
}

func testConfirmAddress(t *testing.T, w *world) {
	u := must(w.User(w.ctx, w.workers[0]))(t)
	must(w.PutUserAsked(w.ctx, u, w.asking("ann@example.org")))(t)
	theirs := u
	theirs.Email, theirs.EmailVerified = "ann@example.org", true
	w.unchanged(t, func() { refused(t, w.ConfirmAddress(w.ctx, theirs, "", nil), crowd.NotFound) })
	ok(t, w.LinkAddress(w.ctx, u.ID, "ann@example.org", "h"))
	another := must(w.User(w.ctx, w.workers[1]))(t)
	letter := store.Message{Worker: u.ID, Channel: store.Mail, Target: "old@example.org", State: store.MessageQueued, CreatedAt: w.now, NextAt: w.now}
	nobodys := letter
	nobodys.Worker = 99
	w.unchanged(t, func() {
		refused(t, w.ConfirmAddress(w.ctx, theirs, "g", nil), crowd.NotFound)
		refused(t, w.ConfirmAddress(w.ctx, another, "h", nil), crowd.NotFound)
		refused(t, w.ConfirmAddress(w.ctx, theirs, "h", &nobodys), crowd.NotFound)
	})
	ok(t, w.ConfirmAddress(w.ctx, theirs, "h", &letter))
	same(t, "the user", must(w.User(w.ctx, u.ID))(t), theirs)
	same(t, "the mail", must(w.ListMessages(w.ctx, 0, 0, 1))(t)[0].Target, "old@example.org")
	w.unchanged(t, func() { refused(t, w.ConfirmAddress(w.ctx, theirs, "h", nil), crowd.NotFound) })
}
