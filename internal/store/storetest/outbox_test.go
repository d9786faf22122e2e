package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/store"
)

// message is a message that is due so many minutes after the beginning.
func (w *world) message(worker int, call int64, minutes int) store.Message {
	return store.Message{
		ID: 55, Worker: w.workers[worker], Channel: store.Mail, Target: "ä@example.org", Subject: "<Work> for you", Body: "line\nline \u2028",
		Link: "/work?x=1&y=2", Call: call, State: store.MessageQueued, CreatedAt: w.now, UselessAt: w.now.Add(time.Hour),
		NextAt: w.now.Add(time.Duration(minutes) * time.Minute),
	}
}

// send keeps messages, and returns them with their ids.
func (w *world) send(t *testing.T, list ...store.Message) []store.Message {
	t.Helper()
	ok(t, w.PutNotices(w.ctx, nil, list))
	kept := must(w.ListMessages(w.ctx, 0, 0, len(list)))(t) // newest first
	for i := range list {
		list[i].ID = kept[len(kept)-1-i].ID
	}
	return list
}

func testDueMessages(t *testing.T, w *world) {
	same(t, "at first", must(w.DueMessages(w.ctx, w.now, 10))(t), nil)
	m := w.send(t, w.message(0, 0, 5), w.message(1, 7, 3), w.message(2, 0, 5), w.message(0, 0, 0), w.message(0, 0, 9))
	due := func(what string, minutes float64, limit int, want ...store.Message) {
		t.Helper()
		same(t, what, must(w.DueMessages(w.ctx, w.now.Add(time.Duration(minutes*float64(time.Minute))), limit))(t), want)
	}
	due("too early", -1, 10)
	due("just", 0, 10, m[3])
	due("a little before", 4.9, 10, m[3], m[1])
	due("just then", 5, 10, m[3], m[1], m[0], m[2])
	due("all", 100, 10, m[3], m[1], m[0], m[2], m[4])
	due("the longest due", 100, 3, m[3], m[1], m[0])
	due("no limit", 100, 0)
	sent, failed, later := m[3], m[1], m[0]
	sent.State, failed.State, later.NextAt = store.MessageSent, store.MessageFailed, w.now.Add(10*time.Minute)
	for _, x := range []store.Message{sent, failed, later} {
		ok(t, w.UpdateMessage(w.ctx, x))
	}
	due("those that are queued", 100, 10, m[2], m[4], later)
	due("those not put off", 9.9, 10, m[2], m[4])
	bare := store.Message{ID: m[2].ID, Worker: w.workers[0], State: store.MessageQueued}
	ok(t, w.UpdateMessage(w.ctx, bare))
	same(t, "due at any time", must(w.DueMessages(w.ctx, time.Time{}, 10))(t), []store.Message{bare})
}

func testCountMessages(t *testing.T, w *world) {
	count := func(what string, since time.Time, queued, failed int) {
		t.Helper()
		q, f, err := w.CountMessages(w.ctx, since)
		ok(t, err)
		if q != queued || f != failed {
			t.Errorf("%s: %d queued, %d failed, want %d and %d", what, q, f, queued, failed)
		}
	}
	count("at first", time.Time{}, 0, 0)
	m := w.send(t, w.message(0, 0, 500), w.message(0, 0, 1), w.message(0, 0, 2), w.message(0, 0, 3), w.message(0, 0, 4))
	count("new", w.now, 5, 0)
	m[1].State, m[1].SentAt = store.MessageSent, w.now.Add(10*time.Minute)
	m[2].State, m[2].SentAt = store.MessageFailed, w.now.Add(10*time.Minute)
	m[3].State = store.MessageFailed // when it was tried last is all that is known
	m[4].State, m[4].NextAt = store.MessageFailed, time.Time{}
	for _, x := range m[1:] {
		ok(t, w.UpdateMessage(w.ctx, x))
	}
	count("since ever", time.Time{}, 1, 3)
	count("just after the beginning", w.now.Add(-time.Microsecond), 1, 3)
	count("since the beginning", w.now, 1, 2)
	count("later", w.now.Add(3*time.Minute), 1, 1)
	count("just before", w.now.Add(10*time.Minute-time.Microsecond), 1, 1)
	count("just then", w.now.Add(10*time.Minute), 1, 0)
}

func testDropMessages(t *testing.T, w *world) {
	m := w.send(t, w.message(0, 0, -90), w.message(0, 0, 1), w.message(0, 0, 2), w.message(0, 0, 3), w.message(0, 0, 4), w.message(1, 0, 5))
	for i, state := range []store.MessageState{store.MessageSent, store.MessageFailed} {
		early, late := &m[1+2*i], &m[2+2*i]
		early.State, early.SentAt = state, w.now.Add(10*time.Minute-time.Microsecond)
		late.State, late.SentAt = state, w.now.Add(10*time.Minute)
		ok(t, w.UpdateMessage(w.ctx, *early))
		ok(t, w.UpdateMessage(w.ctx, *late))
	}
	w.unchanged(t, func() { ok(t, w.DropMessages(w.ctx, w.now)) })
	ok(t, w.DropMessages(w.ctx, w.now.Add(10*time.Minute)))
	same(t, "kept", must(w.ListMessages(w.ctx, 0, 0, all))(t), []store.Message{m[5], m[4], m[2], m[0]})
	ok(t, w.DropMessages(w.ctx, w.now.Add(1000*time.Hour)))
	same(t, "kept", must(w.ListMessages(w.ctx, 0, 0, all))(t), []store.Message{m[5], m[0]}) // are still to be sent
	if next := w.send(t, w.message(0, 0, 1))[0]; next.ID <= m[5].ID {
		t.Errorf("message %d follows %d", next.ID, m[5].ID)
	}
}

func (w *world) subscription(worker int, endpoint string) store.Subscription {
	return store.Subscription{ID: 55, Worker: w.workers[worker], Endpoint: endpoint, P256dh: "BNcR_-" + endpoint, Auth: "tBHI" + fmt.Sprint(worker), CreatedAt: w.now}
}

// testPutSubscription: of one endpoint the latest subscription is kept, under a
// new id.
func testPutSubscription(t *testing.T, w *world) {
	first, kept := w.subscription(0, "https://push.example.org/a"), w.subscription(0, "https://push.example.org/b")
	first.ID = must(w.PutSubscription(w.ctx, first))(t)
	kept.ID = must(w.PutSubscription(w.ctx, kept))(t)
	again := w.subscription(0, first.Endpoint)
	again.Auth, again.P256dh, again.CreatedAt = "new", "keys", w.now.Add(time.Hour)
	again.ID = must(w.PutSubscription(w.ctx, again))(t)
	if again.ID <= kept.ID {
		t.Errorf("the one that replaces it has id %d", again.ID)
	}
	same(t, "replaced", must(w.Subscriptions(w.ctx, w.workers[0]))(t), []store.Subscription{kept, again})
	taken := w.subscription(1, kept.Endpoint) // somebody else signed in at that browser
	taken.ID = must(w.PutSubscription(w.ctx, taken))(t)
	same(t, "of the one before", must(w.Subscriptions(w.ctx, w.workers[0]))(t), []store.Subscription{again})
	same(t, "of the new one", must(w.Subscriptions(w.ctx, w.workers[1]))(t), []store.Subscription{taken})

	// One person has so many at most: the latest.
	want := []store.Subscription{}
	for n := range store.MaxSubscriptions + 3 {
		x := w.subscription(2, fmt.Sprint("https://push.example.org/many/", n))
		x.ID = must(w.PutSubscription(w.ctx, x))(t)
		want = append(want, x)
	}
	same(t, "the latest", must(w.Subscriptions(w.ctx, w.workers[2]))(t), want[3:])
	same(t, "another's", len(must(w.Subscriptions(w.ctx, w.workers[1]))(t)), 1)
}

func testSecret(t *testing.T, w *world) {
	same(t, "the first", must(w.Secret(w.ctx, "vapid", "mine"))(t), "mine")
	same(t, "the second", must(w.Secret(w.ctx, "vapid", "yours"))(t), "mine")
	same(t, "another name", must(w.Secret(w.ctx, "Vapid", "yours"))(t), "yours")
	got := make([]string, 8)
	var callers sync.WaitGroup
	for i := range got {
		callers.Go(func() {
			secret, err := w.Secret(w.ctx, "raced", fmt.Sprint("made by ", i))
			if err != nil {
				t.Error(err)
			}
			got[i] = secret
		})
	}
	callers.Wait()
	for _, secret := range got {
		if secret == "" || secret != got[0] {
			t.Fatalf("the callers got %q", got)
		}
	}
	ok(t, w.Store.Close())
	w.Store = must(w.open())(t)
	same(t, "after a restart", must(w.Secret(w.ctx, "raced", "new"))(t), got[0])
	same(t, "the first after a restart", must(w.Secret(w.ctx, "vapid", "new"))(t), "mine")
}
