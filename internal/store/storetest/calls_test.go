package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// call keeps an open call of a pool.
func (w *world) call(t *testing.T, of crowd.PoolID) store.Call {
	t.Helper()
	c := store.Call{ID: 99, Pool: of, At: w.now, EndsAt: w.now.Add(10 * time.Minute), Wanted: 3, Came: 1, State: store.CallOpen}
	c.ID = must(w.CreateCall(w.ctx, c))(t)
	return c
}

// over makes a call one that is over.
func (w *world) over(t *testing.T, c store.Call) {
	t.Helper()
	c.State, c.EndedAt = store.CallFilled, w.now.Add(time.Minute)
	ok(t, w.UpdateCall(w.ctx, c, nil))
}

// notice is a notice of a call, so many seconds after the beginning.
func (w *world) notice(call store.Call, worker, seconds int) store.Notice {
	return store.Notice{Call: call.ID, Worker: w.workers[worker], State: store.NoticeAsked, AskedAt: w.now.Add(time.Duration(seconds) * time.Second)}
}

// put keeps notices.
func (w *world) put(t *testing.T, list ...store.Notice) {
	t.Helper()
	ok(t, w.PutNotices(w.ctx, list, nil))
}

// called lets some of everything about calls happen in the pool.
func (w *world) called(t *testing.T) {
	t.Helper()
	first, second := w.call(t, w.pool), w.call(t, w.pool)
	ok(t, w.PutNotices(w.ctx, []store.Notice{w.notice(first, 0, 1), w.notice(first, 1, 2), w.notice(second, 1, 3)},
		[]store.Message{w.message(0, first.ID, 0), w.message(1, second.ID, 5)}))
	w.over(t, first)
	must(w.PutSubscription(w.ctx, w.subscription(0, "https://push.example.org/1")))(t)
	ok(t, w.AddActions(w.ctx, []store.Action{w.action(1), w.action(2)}))
	ok(t, w.AddSamples(w.ctx, []store.Sample{w.sample(0, 1), w.sample(1, 2)}))
	ok(t, w.Commit(w.ctx, &engine.Changes{Duties: []engine.Duty{w.duty(0, true, 2), w.duty(1, false, 0)}}))
}

// testUpdateCall: a call is kept with its notices, or not at all.
func testUpdateCall(t *testing.T, w *world) {
	call := w.call(t, w.pool)
	w.unchanged(t, func() {
		more := call
		more.Came++
		refused(t, w.UpdateCall(w.ctx, more, []store.Notice{w.notice(call, 0, 1), {Call: call.ID, Worker: 99, State: store.NoticeCame}}), crowd.NotFound)
	})
	came := w.notice(call, 0, 1)
	call.Came++
	came.State, came.AnsweredAt = store.NoticeCame, w.now.Add(time.Minute)
	ok(t, w.UpdateCall(w.ctx, call, []store.Notice{came, w.notice(call, 1, 1)}))
	same(t, "the call", must(w.Call(w.ctx, call.ID))(t), call)
	same(t, "its notices", must(w.Notices(w.ctx, call.ID))(t), []store.Notice{came, w.notice(call, 1, 1)})
}

func testPutNotices(t *testing.T, w *world) {
	w.unchanged(t, func() { ok(t, w.PutNotices(w.ctx, nil, nil)) })
	first, second := w.call(t, w.pool), w.call(t, w.pool)
	a, b, other := w.notice(first, 0, 1), w.notice(first, 1, 2), w.notice(second, 0, 3)
	m := w.message(0, first.ID, 4)
	ok(t, w.PutNotices(w.ctx, []store.Notice{b, a, other}, []store.Message{m, m}))
	same(t, "notices", must(w.Notices(w.ctx, first.ID))(t), []store.Notice{a, b})
	got := must(w.ListMessages(w.ctx, 0, 0, all))(t)
	if len(got) != 2 || got[1].ID != 1 || got[0].ID != 2 { // what it says of the id is not for the caller to say
		t.Fatalf("the messages are %+v", got)
	}
	for i := range got {
		m.ID = got[i].ID
		same(t, "message", got[i], m)
	}
	a.State, a.AskedAt, a.AnsweredAt = store.NoticeCame, w.now.Add(time.Hour), w.now.Add(2*time.Hour)
	c := w.notice(first, 2, 5)
	w.put(t, c, a) // a new one and a changed one
	same(t, "changed", must(w.Notices(w.ctx, first.ID))(t), []store.Notice{a, b, c})
	same(t, "another call's", must(w.Notices(w.ctx, second.ID))(t), []store.Notice{other})
	ok(t, w.PutNotices(w.ctx, nil, []store.Message{w.message(3, 0, 0)}))
	same(t, "messages", len(must(w.ListMessages(w.ctx, 0, 0, all))(t)), 3)
}

// testNoticesAtomicity: of notices and their messages all are kept, or none.
func testNoticesAtomicity(t *testing.T, w *world) {
	first := w.call(t, w.pool)
	w.put(t, w.notice(first, 0, 1))
	changed := w.notice(first, 0, 2)
	changed.State = store.NoticeDeclined
	bad := map[string]func(*[]store.Notice, *[]store.Message){
		"a notice of no call":   func(list *[]store.Notice, _ *[]store.Message) { (*list)[1].Call = 99 },
		"a notice to nobody":    func(list *[]store.Notice, _ *[]store.Message) { (*list)[1].Worker = 99 },
		"a message to nobody":   func(_ *[]store.Notice, messages *[]store.Message) { (*messages)[1].Worker = 99 },
		"a message to no user":  func(_ *[]store.Notice, messages *[]store.Message) { (*messages)[1].Worker = 0 },
		"a notice of call zero": func(list *[]store.Notice, _ *[]store.Message) { (*list)[1].Call = 0 },
	}
	for name, spoil := range bad {
		t.Run(name, func(t *testing.T) {
			list := []store.Notice{changed, w.notice(first, 1, 3)}
			messages := []store.Message{w.message(0, first.ID, 0), w.message(1, first.ID, 0)}
			spoil(&list, &messages)
			w.unchanged(t, func() { refused(t, w.PutNotices(w.ctx, list, messages), crowd.NotFound) })
		})
	}
	ok(t, w.PutNotices(w.ctx, []store.Notice{changed}, []store.Message{w.message(0, first.ID, 0)}))
	if id := must(w.ListMessages(w.ctx, 0, 0, 1))(t)[0].ID; id != 1 {
		t.Errorf("the first message that was kept is %d", id)
	}
}

func testNotices(t *testing.T, w *world) {
	first, second := w.call(t, w.pool), w.call(t, w.pool)
	same(t, "at first", must(w.Notices(w.ctx, first.ID))(t), nil)
	var want []store.Notice
	for i, state := range []store.NoticeState{store.NoticeAsked, store.NoticeCame, store.NoticeDeclined, store.NoticeThanked} {
		n := w.notice(first, i, 10-i)
		n.State = state
		if state != store.NoticeAsked {
			n.AnsweredAt = w.now.Add(time.Hour + time.Microsecond)
		}
		want = append(want, n)
	}
	w.put(t, want[2], want[0], want[3], want[1], w.notice(second, 1, 1))
	same(t, "notices", must(w.Notices(w.ctx, first.ID))(t), want)
	w.over(t, first)
	same(t, "notices of a call that is over", must(w.Notices(w.ctx, first.ID))(t), want)
	same(t, "no call", must(w.Notices(w.ctx, 99))(t), nil)
}

func testLastNotices(t *testing.T, w *world) {
	elsewhere := must(w.CreatePool(w.ctx, store.Pool{Name: "elsewhere"}))(t)
	same(t, "at first", must(w.LastNotices(w.ctx, w.pool))(t), nil)
	first, second, others := w.call(t, w.pool), w.call(t, w.pool), w.call(t, elsewhere)
	a1, a2 := w.notice(first, 0, 10), w.notice(second, 0, 5) // asked for the first call later
	b1, b2 := w.notice(first, 1, 5), w.notice(second, 1, 10)
	d1, d2 := w.notice(first, 3, 7), w.notice(others, 3, 8) // once by another pool
	w.put(t, a1, a2, b1, b2, d1, d2)
	same(t, "latest", must(w.LastNotices(w.ctx, w.pool))(t), []store.Notice{a1, b2, d2}) // nobody has asked the third
	same(t, "elsewhere", must(w.LastNotices(w.ctx, elsewhere))(t), nil)
	w.over(t, first)
	b2.State, b2.AnsweredAt = store.NoticeDeclined, w.now.Add(time.Hour)
	a2.AskedAt = a1.AskedAt // at the same moment: that of the later call
	w.put(t, b2, a2)
	same(t, "also of calls that are over", must(w.LastNotices(w.ctx, w.pool))(t), []store.Notice{a2, b2, d2})

	moved := must(w.User(w.ctx, w.workers[1]))(t)
	moved.Pool = elsewhere
	ok(t, w.UpdateUser(w.ctx, moved))
	same(t, "without one who moved", must(w.LastNotices(w.ctx, w.pool))(t), []store.Notice{a2, d2})
	same(t, "after the move", must(w.LastNotices(w.ctx, elsewhere))(t), []store.Notice{b2})
}

func testWorkerNotices(t *testing.T, w *world) {
	second := must(w.CreatePool(w.ctx, store.Pool{Name: "second"}))(t)
	a, b, c, d := w.call(t, w.pool), w.call(t, second), w.call(t, w.pool), w.call(t, w.pool)
	na, nb, nc, nd := w.notice(a, 0, 30), w.notice(b, 0, 10), w.notice(c, 0, 20), w.notice(d, 0, 10)
	nc.State, nc.AnsweredAt = store.NoticeDeclined, w.now.Add(time.Minute)
	w.put(t, na, nb, nc, nd, w.notice(a, 1, 40))
	same(t, "notices", must(w.WorkerNotices(w.ctx, w.workers[0], 10))(t), []store.Notice{na, nc, nd, nb})
	same(t, "the latest", must(w.WorkerNotices(w.ctx, w.workers[0], 1))(t), []store.Notice{na})
	same(t, "another's", must(w.WorkerNotices(w.ctx, w.workers[1], 10))(t), []store.Notice{w.notice(a, 1, 40)})
	same(t, "of one never asked", must(w.WorkerNotices(w.ctx, w.workers[2], 10))(t), nil)
	w.over(t, a)
	same(t, "also of calls that are over", must(w.WorkerNotices(w.ctx, w.workers[0], 2))(t), []store.Notice{na, nc})
	same(t, "nobody's", must(w.WorkerNotices(w.ctx, 99, 10))(t), nil)
}

// testManyNotices asks many people many times, at random, and compares the last
// notices with plainly looking for them.
func testManyNotices(t *testing.T, w *world) {
	for i := range 30 {
		w.workers = append(w.workers, must(w.CreateUser(w.ctx, store.User{Name: fmt.Sprint("many", i), Pool: w.pool}))(t))
	}
	latest := make(map[crowd.WorkerID]store.Notice)
	var calls []store.Call
	for round := range 20 {
		calls = append(calls, w.call(t, w.pool))
		var list []store.Notice
		for i := range w.workers {
			if (i*7+round*5)%11 < 4 && i%10 != 9 {
				n := w.notice(calls[(i+round*round)%len(calls)], i, (i*13+round*17)%50)
				list = append(list, n)
			}
		}
		w.put(t, list...)
	}
	for _, c := range calls {
		for _, n := range must(w.Notices(w.ctx, c.ID))(t) {
			l, asked := latest[n.Worker]
			if !asked || n.AskedAt.After(l.AskedAt) || n.AskedAt.Equal(l.AskedAt) && n.Call > l.Call {
				latest[n.Worker] = n
			}
		}
	}
	var want []store.Notice
	for _, id := range w.workers {
		if n, asked := latest[id]; asked {
			want = append(want, n)
		}
	}
	if len(want) < 20 || len(want) == len(w.workers) {
		t.Fatalf("%d of %d were asked", len(want), len(w.workers))
	}
	same(t, "last notices", must(w.LastNotices(w.ctx, w.pool))(t), want)
}
