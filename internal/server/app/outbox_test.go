package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/notify"
	"github.com/throng-dev/throng/internal/server/notify/notifytest"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
)

const publicURL = "https://throng.example.org"

// withPost is a restart with senders. Between Open and the first look of its
// loop there is nothing due, in tests that wait for it.
func (w *world) withPost(senders recruit.Senders) {
	w.t.Helper()
	w.close()
	w.store = must(sqlite.Open(w.ctx, w.path, w.options))(w.t)
	used := w.store
	if w.wrap != nil {
		used = w.wrap(used)
	}
	w.App = must(app.Open(w.ctx, app.Config{Passwords: auth.LeastCost, Store: used, Log: slog.New(slog.NewTextHandler(w.t.Output(), nil)), Now: w.clock.now, Senders: senders,
		PublicURL: publicURL + "/", Providers: w.providers,
	}))(w.t)
}

// mail is a message to a worker, due now.
func (w *world) mail(to *access.Principal, change ...func(*store.Message)) store.Message {
	now := w.clock.now()
	m := store.Message{
		Worker: to.User.ID, Channel: store.Mail, Target: to.User.Name + "@example.org", Subject: "There is work", Body: "Come.", Link: "/work",
		State: store.MessageQueued, CreatedAt: now, NextAt: now, UselessAt: now.Add(30 * time.Minute),
	}
	for _, c := range change {
		c(&m)
	}
	return m
}

func (w *world) queue(messages ...store.Message) {
	w.t.Helper()
	ok(w.t, w.store.PutNotices(w.ctx, nil, messages))
}

// kept lists the messages in the store, oldest first.
func (w *world) kept() []store.Message {
	w.t.Helper()
	list := must(w.store.ListMessages(w.ctx, 0, 0, 1000))(w.t)
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

func (w *world) sendDue() int {
	w.t.Helper()
	return must(w.Outbox.SendDue(w.ctx))(w.t)
}

// states counts the kept messages by state.
func (w *world) states() map[store.MessageState]int {
	w.t.Helper()
	n := map[store.MessageState]int{}
	for _, m := range w.kept() {
		n[m.State]++
	}
	return n
}

// post is a mail server of the test.
type post struct {
	mu    sync.Mutex
	at    []time.Time
	tries map[string]int
	sent  map[string]int
	fail  func(to string) error
}

func (p *post) send(_ context.Context, to, subject, body string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tries == nil {
		p.tries, p.sent = map[string]int{}, map[string]int{}
	}
	p.at = append(p.at, time.Now())
	p.tries[to]++
	if p.fail != nil {
		if err := p.fail(to); err != nil {
			return err
		}
	}
	if subject != "There is work" || body != "Come.\n\n"+publicURL+"/work\n" {
		return fmt.Errorf("subject %q, body %q", subject, body)
	}
	p.sent[to]++
	return nil
}

func (p *post) set(fail func(to string) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail = fail
}

func (p *post) total() (tries, sent int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.tries {
		tries += n
	}
	for _, n := range p.sent {
		sent += n
	}
	return tries, sent
}

var errDown = errors.New("connection refused")

func down(string) error { return errDown }

// TestOutboxTriesAgain: the loop tries at the times it says, until the message
// is of no use any more.
func TestOutboxTriesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		p := &post{fail: down}
		w.withPost(recruit.Senders{Mail: p.send})
		synctest.Wait()
		w.queue(w.mail(w.workers[0], func(m *store.Message) { m.UselessAt = m.CreatedAt.Add(10*time.Second + 30*time.Minute) }))
		<-time.After(29 * time.Minute)
		m := w.kept()[0]
		if m.State != store.MessageQueued || m.Tries != 8 || m.Error != "connection refused" {
			t.Errorf("after half an hour: %+v", m)
		}
		<-time.After(2 * time.Minute)
		synctest.Wait()
		var after []time.Duration
		for _, at := range p.at {
			after = append(after, at.Sub(p.at[0]))
		}
		want := []time.Duration{0, 10 * time.Second, 40 * time.Second, 100 * time.Second, 220 * time.Second, 520 * time.Second, 1120 * time.Second, 1720 * time.Second}
		if diff := cmp.Diff(want, after); diff != "" {
			t.Errorf("tries (-want +got)\n%s", diff)
		}
		m = w.kept()[0]
		if m.State != store.MessageFailed || m.Error != "too late; before: connection refused" || m.Tries != 8 || !m.SentAt.IsZero() {
			t.Errorf("at the end: %+v", m)
		}
		if late := m.NextAt.Sub(m.UselessAt); late < 0 || late > 10*time.Second {
			t.Errorf("it failed %s after it was of no use", late)
		}
	})
}

// TestMailServerGoesDown: with a real mail sender and server, through a restart
// nothing is lost and nothing comes twice.
func TestMailServerGoesDown(t *testing.T) {
	t.Parallel()
	server := notifytest.StartMail(t, nil)
	mail := must(notify.NewMail(must(notify.ParseMail("smtp://" + server.Address() + "?tls=none&from=throng@example.org"))(t)))(t)
	const people = 20
	w := newWorld(t, people)
	senders := recruit.Senders{Mail: mail.Send}
	w.withPost(senders)
	server.Down()
	for _, p := range w.workers {
		w.queue(w.mail(p))
	}
	w.sendDue()
	if n := w.states(); n[store.MessageQueued] != people {
		t.Fatalf("while the server is down: %v", n)
	}
	view := must(w.Outbox.View(w.ctx, w.admin))(t)
	if view.Queued != people || view.Failed != 0 || len(view.Errors) == 0 || !strings.Contains(view.Errors[0].Error, "refused") {
		t.Errorf("the admin sees %+v", view)
	}
	w.clock.advance(time.Minute)
	w.sendDue()
	w.withPost(senders) // a restart
	if n := w.states(); n[store.MessageQueued] != people {
		t.Fatalf("after the restart: %v", n)
	}
	server.Up()
	for range 3 {
		w.clock.advance(time.Minute)
		w.sendDue()
	}
	if n := w.states(); n[store.MessageSent] != people {
		t.Fatalf("at the end: %v", n)
	}
	came := map[string]int{}
	for _, m := range server.Received() {
		came[m.To]++
	}
	for _, p := range w.workers {
		if n := came[p.User.Name+"@example.org"]; n != 1 {
			t.Errorf("%s got %d mails", p.User.Name, n)
		}
	}
	for _, m := range w.kept() {
		if m.Error != "" || m.SentAt.IsZero() || m.Tries < 1 {
			t.Errorf("sent, but %+v", m)
		}
	}
	if view := must(w.Outbox.View(w.ctx, w.admin))(t); view.Queued != 0 || len(view.Errors) != 0 {
		t.Errorf("the admin sees %+v", view)
	}
}

// TestMailServerIsLeftInPeace: a server that is down is tried a few times a
// round, however many messages wait, and they do not keep others from going.
func TestMailServerIsLeftInPeace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		p := &post{fail: down}
		pushed := 0
		w.withPost(recruit.Senders{Mail: p.send, Push: func(context.Context, store.Subscription, []byte, time.Duration) error { pushed++; return nil }})
		synctest.Wait()
		const waiting = 250
		var list []store.Message
		for i := range waiting {
			list = append(list, w.mail(w.workers[0], func(m *store.Message) { m.Target = fmt.Sprintf("a%d@example.org", i) }))
		}
		id := must(w.store.PutSubscription(w.ctx, store.Subscription{Worker: w.workers[0].User.ID, Endpoint: "https://push.example.org/x"}))(t)
		list = append(list, w.mail(w.workers[0], func(m *store.Message) { m.Channel, m.Target = store.Push, fmt.Sprint(id) }))
		w.queue(list...)
		<-time.After(15 * time.Second)
		synctest.Wait()
		if tries, _ := p.total(); tries < 3 || tries > 20 || pushed != 1 {
			t.Errorf("in a round: %d tries, %d pushed", tries, pushed)
		}
		for _, m := range w.kept() {
			if m.Channel == store.Mail && (m.State != store.MessageQueued || !strings.Contains(m.Error, "connection refused")) {
				t.Fatalf("while the server is down: %+v", m)
			}
		}
		p.set(nil)
		<-time.After(time.Minute)
		synctest.Wait()
		if tries, sent := p.total(); sent != waiting || len(p.sent) != waiting {
			t.Errorf("%d mails in %d tries arrived at %d addresses", sent, tries, len(p.sent))
		}

		// It has recovered: one failure is no reason to leave it in peace again.
		p.set(func(to string) error {
			if to == "bad@example.org" {
				return errDown
			}
			return nil
		})
		w.queue(w.mail(w.workers[0], func(m *store.Message) { m.Target = "bad@example.org" }))
		w.sendDue()
		w.queue(w.mail(w.workers[0], func(m *store.Message) { m.Target = "good@example.org" }))
		w.sendDue()
		if p.tries["bad@example.org"] != 1 || p.sent["good@example.org"] != 1 {
			t.Errorf("after one failure: %d tried, %d sent", p.tries["bad@example.org"], p.sent["good@example.org"])
		}
	})
}

func TestOutboxGivesUpWhereItIsOfNoUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	p := &post{fail: func(to string) error {
		if strings.HasPrefix(to, "worker2") {
			return fmt.Errorf("send: %w", &notify.Failure{Err: errors.New("550\n no such user"), Permanent: true})
		}
		return nil
	}}
	w.withPost(recruit.Senders{Mail: p.send})
	old := func(m *store.Message) { m.UselessAt = w.clock.now() }
	w.queue(w.mail(w.workers[0]), w.mail(w.workers[1]), w.mail(w.workers[2], old))
	w.sendDue()
	for _, m := range w.kept() {
		if m.NextAt.After(w.clock.now()) == (m.State == store.MessageFailed) { // it says when a message failed
			t.Errorf("%+v", m)
		}
	}
	w.clock.advance(time.Hour)
	w.sendDue()
	type outcome struct {
		State store.MessageState
		Tries int
		Error string
	}
	want := []outcome{{store.MessageSent, 1, ""}, {store.MessageFailed, 1, "send: 550 no such user"}, {store.MessageFailed, 0, "too late"}}
	var got []outcome
	for _, m := range w.kept() {
		got = append(got, outcome{m.State, m.Tries, m.Error})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	view := must(w.Outbox.View(w.ctx, w.admin))(t)
	if view.Queued != 0 || view.Failed != 2 || len(view.Errors) != 2 || view.Errors[1].Name != "worker2" || !view.Mail || view.Push {
		t.Errorf("the admin sees %+v", view)
	}
	for _, p := range []*access.Principal{nil, w.ann, w.workers[0]} {
		_, err := w.Outbox.View(w.ctx, p)
		refused(t, err, crowd.Forbidden)
	}
	w.clock.advance(24 * time.Hour)
	if view := must(w.Outbox.View(w.ctx, w.admin))(t); view.Failed != 0 {
		t.Errorf("a day later: %+v", view)
	}
}

// TestOutboxPushes: with a real sender, what the browser decrypts is the message
// with the page to open; a subscription that is gone is forgotten.
func TestOutboxPushes(t *testing.T) {
	t.Parallel()
	browser := notifytest.NewBrowser(t)
	type push struct {
		Title, Body, URL string
		TTL              string
	}
	got := make(chan push, 10)
	remote := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			rw.WriteHeader(http.StatusGone)
			return
		}
		body, _ := io.ReadAll(r.Body)
		text, err := browser.Decrypt(body)
		var x push
		if err := errors.Join(err, json.Unmarshal(text, &x)); err != nil {
			t.Error(err)
		}
		x.TTL = r.Header.Get("TTL")
		got <- x
		rw.WriteHeader(http.StatusCreated)
	}))
	defer remote.Close()
	private, public, err := notify.NewPushKeys()
	ok(t, err)
	sender := must(notify.NewPush(notify.PushConfig{Private: private, Subject: "mailto:a@b.c", AllowPrivate: true}))(t)
	w := newWorld(t, 2)
	w.withPost(recruit.Senders{PushKey: public, Push: func(ctx context.Context, sub store.Subscription, payload []byte, ttl time.Duration) error {
		return sender.Send(ctx, notify.Target{Endpoint: sub.Endpoint, P256dh: sub.P256dh, Auth: sub.Auth}, payload, ttl)
	}})
	if w.Duty.PushKey() != public {
		t.Errorf("the key is %q", w.Duty.PushKey())
	}
	subscribe := func(who *access.Principal, path string) int64 {
		x := browser.Target(remote.URL + path)
		return must(w.store.PutSubscription(w.ctx, store.Subscription{Worker: who.User.ID, Endpoint: x.Endpoint, P256dh: x.P256dh, Auth: x.Auth, CreatedAt: w.clock.now()}))(t)
	}
	here, gone, others := subscribe(w.workers[0], "/here"), subscribe(w.workers[0], "/gone"), subscribe(w.workers[1], "/others")
	to := func(id int64) func(*store.Message) {
		return func(m *store.Message) { m.Channel, m.Target = store.Push, fmt.Sprint(id) }
	}
	long := func(m *store.Message) { m.Subject, m.Body = "long", strings.Repeat("<ä\x01", 4000) }
	w.queue(
		w.mail(w.workers[0], to(here)),
		w.mail(w.workers[0], to(gone)),
		w.mail(w.workers[0], to(gone)),
		w.mail(w.workers[0], to(others)), // another person's browser
		w.mail(w.workers[0], to(0)),
		w.mail(w.workers[0]), // by mail, which is not set up
		w.mail(w.workers[0], to(here), long),
	)
	w.sendDue()
	var states []string
	for _, m := range w.kept() {
		states = append(states, fmt.Sprintf("%s %d", m.State, m.Tries))
	}
	want := []string{"sent 1", "failed 1", "failed 1", "failed 1", "failed 1", "queued 1", "sent 1"}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	close(got)
	for x := range got {
		if x.URL != publicURL+"/work" || (x.TTL != "1799" && x.TTL != "1800" && x.TTL != "1798") {
			t.Errorf("the browser got %+v", x)
		}
		if x.Title == "long" && (len(x.Body) < 400 || !strings.HasPrefix(x.Body, "<ä\x01<ä")) || x.Title != "long" && (x.Title != "There is work" || x.Body != "Come.") {
			t.Errorf("the browser got %+v", x)
		}
	}
	left := must(w.store.Subscriptions(w.ctx, w.workers[0].User.ID))(t)
	if len(left) != 1 || left[0].ID != here {
		t.Errorf("the subscriptions left are %+v", left)
	}
	if n := len(must(w.store.Subscriptions(w.ctx, w.workers[1].User.ID))(t)); n != 1 {
		t.Errorf("the other person has %d subscriptions", n)
	}
	if last := w.kept()[5]; last.Error != "the server is not set up to send this" {
		t.Errorf("by mail: %+v", last)
	}
}

// faultyOutbox is a store that refuses to keep messages as told.
type faultyOutbox struct {
	store.Store
	mu     sync.Mutex
	refuse func(store.Message) bool
}

func (f *faultyOutbox) set(refuse func(store.Message) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = refuse
}

func (f *faultyOutbox) UpdateMessage(ctx context.Context, m store.Message) error {
	f.mu.Lock()
	bad := f.refuse != nil && f.refuse(m)
	f.mu.Unlock()
	if bad {
		return crowd.Errorf(crowd.StorageFull, "the disk is full")
	}
	return f.Store.UpdateMessage(ctx, m)
}

// TestOutboxOnAFullDisk: nothing is sent that cannot be noted before, and what
// was sent but not noted is noted later, not sent again.
func TestOutboxOnAFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	faulty := &faultyOutbox{}
	w.wrap = func(s store.Store) store.Store { faulty.Store = s; return faulty }
	p := &post{}
	w.withPost(recruit.Senders{Mail: p.send})
	faulty.set(func(store.Message) bool { return true })
	w.queue(w.mail(w.workers[0]))
	for range 3 {
		_, err := w.Outbox.SendDue(w.ctx)
		refused(t, err, crowd.StorageFull)
		w.clock.advance(time.Minute)
	}
	if tries, _ := p.total(); tries != 0 {
		t.Fatalf("%d were sent while the disk was full", tries)
	}
	faulty.set(func(m store.Message) bool { return m.State == store.MessageSent })
	for range 3 {
		_, err := w.Outbox.SendDue(w.ctx)
		refused(t, err, crowd.StorageFull)
		w.clock.advance(time.Minute)
	}
	faulty.set(nil)
	w.sendDue()
	if m := w.kept()[0]; m.State != store.MessageSent || m.Tries != 1 {
		t.Errorf("kept is %+v", m)
	}
	if tries, sent := p.total(); tries != 1 || sent != 1 {
		t.Errorf("%d sent in %d tries", sent, tries)
	}

	// At least once: if the process dies before it has noted it, it is sent
	// again, but not at once.
	faulty.set(func(m store.Message) bool { return m.State == store.MessageSent })
	w.queue(w.mail(w.workers[0]))
	_, err := w.Outbox.SendDue(w.ctx)
	refused(t, err, crowd.StorageFull)
	w.withPost(recruit.Senders{Mail: p.send})
	faulty.set(nil)
	w.sendDue()
	if tries, _ := p.total(); tries != 2 {
		t.Errorf("%d tries right after the crash", tries)
	}
	w.clock.advance(10 * time.Second)
	w.sendDue()
	if tries, _ := p.total(); tries != 3 || w.states()[store.MessageSent] != 2 {
		t.Errorf("%d tries; %v", tries, w.states())
	}
}

// TestOutboxCloses: what is being sent gets a moment; what does not end by then
// is sent after the restart.
func TestOutboxCloses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		takes time.Duration
		state store.MessageState
		tries int
	}{
		"soon done": {2 * time.Second, store.MessageSent, 1},
		"hanging":   {time.Hour, store.MessageQueued, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1)
				sending := make(chan struct{}, 10)
				w.withPost(recruit.Senders{Mail: func(ctx context.Context, _, _, _ string) error {
					sending <- struct{}{}
					select {
					case <-time.After(test.takes):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}})
				w.queue(w.mail(w.workers[0]))
				<-sending
				begin := time.Now()
				w.Close()
				if took := time.Since(begin); took > 3*time.Second {
					t.Errorf("closing took %s", took)
				}
				if m := w.kept()[0]; m.State != test.state || m.Tries != test.tries {
					t.Errorf("after closing: %+v", m)
				}
				p := &post{}
				w.withPost(recruit.Senders{Mail: p.send})
				<-time.After(11 * time.Second)
				synctest.Wait()
				if m := w.kept()[0]; m.State != store.MessageSent || m.Tries != 1 {
					t.Errorf("after the restart: %+v", m)
				}
				if _, sent := p.total(); (sent == 1) != (test.state == store.MessageQueued) {
					t.Errorf("%d sent after the restart", sent)
				}
			})
		})
	}
}

// TestOutboxSendsNoStaleCalls: who has answered a call, or whose call is over, is
// not asked again, nor who is not to be called any more.
func TestOutboxSendsNoStaleCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 8)
	p := &post{}
	w.withPost(recruit.Senders{Mail: p.send})
	other := w.other()
	must(w.Accounts.ChangeUser(w.ctx, w.admin, w.workers[4].User.ID, func(u *store.User) error { u.Suspended = true; return nil }))(t)
	must(w.Duty.ChangeWishes(w.ctx, w.workers[5], setWishes(recruit.Wishes{Away: true})))(t)
	must(w.Duty.ChangeWishes(w.ctx, w.workers[6], setWishes(recruit.Wishes{NoMail: true})))(t)
	must(w.Transfers.Move(w.ctx, w.admin, w.workers[7].User.ID, other))(t)
	now := w.clock.now()
	open := must(w.store.CreateCall(w.ctx, store.Call{Pool: w.pool, At: now, EndsAt: now.Add(time.Hour), Wanted: 3, State: store.CallOpen}))(t)
	over := must(w.store.CreateCall(w.ctx, store.Call{Pool: w.pool, At: now, EndsAt: now.Add(time.Hour), Wanted: 1, State: store.CallFilled, EndedAt: now}))(t)
	notice := func(call int64, i int, state store.NoticeState) store.Notice {
		return store.Notice{Call: call, Worker: w.workers[i].User.ID, State: state, AskedAt: now}
	}
	about := func(call int64) func(*store.Message) { return func(m *store.Message) { m.Call = call } }
	ok(t, w.store.PutNotices(w.ctx,
		[]store.Notice{notice(open, 0, store.NoticeAsked), notice(open, 1, store.NoticeCame), notice(open, 2, store.NoticeDeclined), notice(over, 3, store.NoticeAsked)},
		[]store.Message{w.mail(w.workers[0], about(open)), w.mail(w.workers[1], about(open)), w.mail(w.workers[2], about(open)), w.mail(w.workers[3], about(over))}))
	for i := 4; i < len(w.workers); i++ {
		ok(t, w.store.PutNotices(w.ctx, []store.Notice{notice(open, i, store.NoticeAsked)}, []store.Message{w.mail(w.workers[i], about(open))}))
	}
	w.sendDue()
	for i, m := range w.kept() {
		if want := (i == 0); (m.State == store.MessageSent) != want || m.State == store.MessageQueued || (m.Error != "") == want {
			t.Errorf("to worker%d: %+v", i+1, m)
		}
	}
	if tries, _ := p.total(); tries != 1 {
		t.Errorf("%d mails", tries)
	}
}

// TestOutboxForgets: what was sent long ago is dropped; what waits is not.
func TestOutboxForgets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2)
		p := &post{fail: func(to string) error {
			if strings.HasPrefix(to, "worker2") {
				return errDown
			}
			return nil
		}}
		w.withPost(recruit.Senders{Mail: p.send})
		synctest.Wait()
		forever := func(m *store.Message) { m.UselessAt = time.Time{} }
		w.queue(w.mail(w.workers[0]), w.mail(w.workers[1], forever))
		<-time.After(11 * time.Second)
		w.clock.advance(29 * 24 * time.Hour)
		<-time.After(11 * time.Second)
		synctest.Wait()
		if n := w.states(); n[store.MessageSent] != 1 || n[store.MessageQueued] != 1 {
			t.Errorf("after 29 days: %v", n)
		}
		w.clock.advance(25 * time.Hour)
		<-time.After(11 * time.Second)
		synctest.Wait()
		if n := w.states(); n[store.MessageSent] != 0 || n[store.MessageQueued] != 1 {
			t.Errorf("after 30 days: %v", n)
		}
	})
}

// TestWithoutPost: a service without senders sends nothing and says so.
func TestWithoutPost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.warns.Store(true)
	w.queue(w.mail(w.workers[0]))
	view := must(w.Outbox.View(w.ctx, w.admin))(t)
	if view.Mail || view.Push || view.Queued != 1 || w.Duty.PushKey() != "" {
		t.Errorf("the admin sees %+v", view)
	}
	if n := w.sendDue(); n != 0 || w.states()[store.MessageQueued] != 1 {
		t.Errorf("%d sent; %v", n, w.states())
	}
}
