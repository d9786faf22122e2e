package app_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/sched"
)

// TestOneInvitationToAnAddress, of several at once.
func TestOneInvitationToAnAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	for round := range 20 {
		address := string(rune('a'+round)) + "@example.org"
		var invited, skipped atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				r, err := w.Invitations.Invite(w.ctx, w.ann, accounts.NewInvitations{Tenant: w.a, Pool: w.pool, Addresses: []string{address}})
				if err != nil {
					t.Error(err)
				}
				invited.Add(int32(len(r.Invited)))
				skipped.Add(int32(len(r.Skipped)))
			})
		}
		all.Wait()
		if invited.Load() != 1 || skipped.Load() != 7 {
			t.Fatalf("%s is invited %d times, and %d are told that it is", address, invited.Load(), skipped.Load())
		}
	}
}

// TestWhoSignsOutIsOutAtOnce: while the pool takes them out of its queue, their
// session is over already.
func TestWhoSignsOutIsOutAtOnce(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		f := w.unreliable()
		w.launch(1)
		held := w.next(w.workers[0]).Assignment
		_, secret, err := w.Accounts.CreateToken(w.ctx, w.admin, accounts.NewToken{Name: "t", For: w.workers[1].User.ID})
		ok(t, err)
		p := must(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{}))(t)
		release := make(chan struct{})
		f.set(func(keep func() error) error { <-release; return keep() })
		results := make(chan error, 2)
		go func() { results <- second(w.submit(w.workers[0], held, yes)) }()
		synctest.Wait()
		go func() { results <- w.Accounts.SignOut(w.ctx, p) }()
		synctest.Wait()
		if len(results) > 0 {
			t.Fatal("nothing waits for the commit that hangs")
		}
		_, err = w.Accounts.Authenticate(w.ctx, secret, netip.Addr{})
		close(release)
		ok(t, <-results)
		ok(t, <-results)
		refused(t, err, crowd.Unauthenticated)
	})
}

// TestWhatANewPoolIsLike, as the documentation says.
func TestWhatANewPoolIsLike(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	v := must(w.Pools.Create(w.ctx, w.admin, "new", sched.Default))(t)
	if want := (store.Calling{Ask: 2, Answer: 2 * time.Minute, Life: 30 * time.Minute}); v.Calling != want {
		t.Errorf("it calls people with %+v, want %+v", v.Calling, want)
	}
	if want := (engine.Retainer{Silence: time.Minute, Promise: 10 * time.Minute}); v.Retainer != want {
		t.Errorf("it keeps people with %+v, want %+v", v.Retainer, want)
	}
	if v.Name != "new" || v.Policy != sched.Default || len(v.Grants) > 0 || v.CreatedAt.IsZero() {
		t.Errorf("it is %+v", v.Pool)
	}
}

// TestOpeningHearsEveryError of the store: a server that lacks a pool or its
// people does not start.
func TestOpeningHearsEveryError(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	now := func() time.Time { return time.UnixMicro(st.at) }
	for _, method := range []string{"ListPools", "PoolUsers", "PoolDuties", "OpenCalls", "Notices", "Snapshot"} {
		path := filepath.Join(t.TempDir(), "throng.db") // its own copy: no server that ran before has ended the call
		ok(t, os.WriteFile(path, st.file, 0o600))
		f := &failingStore{Store: must(sqlite.Open(t.Context(), path, sqlite.Options{Scratch: true}))(t)}
		f.begin(storeCall{method, 1})
		a, err := app.Open(marked(t.Context()), app.Config{Passwords: auth.LeastCost, Store: f, Log: slog.New(slog.DiscardHandler), Now: now})
		if _, happened := f.end(); !happened || !errors.Is(err, errLost) {
			t.Errorf("when %s fails (%t), the server opens with %v", method, happened, err)
		}
		if err == nil {
			a.Close()
		}
		ok(t, f.Store.Close())
	}
}

// TestAnUploadWhoseCleanUpFails says both, and the draft has no tasks.
func TestAnUploadWhoseCleanUpFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	f := &failingStore{}
	w.wrap = func(s store.Store) store.Store { f.Store = s; return f }
	w.reopen()
	id := w.draft(0)
	f.begin(storeCall{"DropTasks", 2})
	_, err := w.Batches.Upload(marked(w.ctx), w.ann, id, io.MultiReader(things(2500), failing{}), batches.Upload{})
	f.end()
	if !errors.Is(err, errBroken) || !errors.Is(err, errLost) {
		t.Errorf("the error is %v", err)
	}
	_, err = w.Batches.Launch(w.ctx, w.ann, id, false)
	refused(t, err, crowd.Invalid)
	must(w.Batches.Upload(w.ctx, w.ann, id, things(1), batches.Upload{}))(t)
	if n := len(w.tasks(id)); n != 1 {
		t.Errorf("after another upload it has %d tasks", n)
	}
}

// TestMailRestsAfterThreeFailures in a row, for ten seconds.
func TestMailRestsAfterThreeFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	p := &post{fail: down}
	w.withPost(recruit.Senders{Mail: p.send})
	w.clock.halt()
	w.clock.advance(time.Hour) // what it looked at before is over
	n := 0
	tries := func(want int) {
		t.Helper()
		n++
		w.queue(w.mail(w.workers[0], func(m *store.Message) { m.Target = fmt.Sprintf("m%d@example.org", n) }))
		w.sendDue()
		if got, _ := p.total(); got != want {
			t.Errorf("mail %d: %d tries in all, want %d", n, got, want)
		}
	}
	for want := 1; want <= 3; want++ {
		tries(want)
	}
	tries(3) // it rests
	rested := w.kept()[3]
	if rested.Tries != 0 || !strings.HasPrefix(rested.Error, "the mail server is left in peace for a moment: ") || rested.NextAt.Sub(w.clock.now()) != 10*time.Second {
		t.Errorf("put off is %+v", rested)
	}
	w.clock.advance(10*time.Second - time.Millisecond)
	tries(3)
	p.set(nil)
	w.clock.advance(time.Millisecond)
	w.sendDue() // whatever waits
	if _, sent := p.total(); sent != 5 {
		t.Errorf("after the rest %d are sent, want 5", sent)
	}
	p.set(down)
	before, _ := p.total()
	for range 3 { // it counts from nothing again
		before++
		tries(before)
	}
	tries(before)
}

// TestWhyABatchWaits is said in words, with what can be done.
func TestWhyABatchWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.launch(1)
	why := func(who *access.Principal) string {
		t.Helper()
		return must(w.Batches.Why(w.ctx, who, id))(t).Text
	}
	if got := why(w.ann); got != w.batch(id).Reason.Text() {
		t.Errorf("it says %q", got)
	}
	must(w.Batches.Pause(w.ctx, w.ann, id))(t)
	if got, want := why(w.ann), crowd.BatchPaused.Text()+"; to go on: throng batch resume "+id.String(); got != want {
		t.Errorf("paused, it says %q, want %q", got, want)
	}
	if got, want := w.batch(id).Remedy, "to go on: throng batch resume "+id.String(); got != want {
		t.Errorf("what can be done: %q, want %q", got, want)
	}
	must(w.Batches.Resume(w.ctx, w.ann, id))(t)
	ok(t, w.Pools.StopEverything(w.ctx, w.admin, true))
	for who, want := range map[*access.Principal]string{w.ann: "ask an administrator for throng pool start ", w.admin: "to lift the stop of its pool: throng pool start "} {
		if got := why(who); !strings.HasPrefix(got, "hand-out is stopped (emergency stop of its pool); ") || !strings.Contains(got, want) {
			t.Errorf("stopped, it says %q, want %q in it", got, want)
		}
	}
}

// TestWhoSeesInvitations: a requester those of their tenants, others look absent.
func TestWhoSeesInvitations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	must(w.Invitations.Invite(w.ctx, w.ann, accounts.NewInvitations{Tenant: w.a, Pool: w.pool, Addresses: []string{"a@example.org"}}))(t)
	w.link("b@example.org")
	if list := must(w.Invitations.List(w.ctx, w.ann, w.a, 0, 10))(t); len(list) != 1 || list[0].Address != "a@example.org" {
		t.Errorf("ann sees %+v", list)
	}
	if list := must(w.Invitations.List(w.ctx, w.admin, 0, 0, 10))(t); len(list) != 2 {
		t.Errorf("the admin sees %+v", list)
	}
	for _, id := range []int64{2, 99} { // the admin's, and none
		_, err := w.Invitations.Get(w.ctx, w.ann, id)
		_, err2 := w.Invitations.Withdraw(w.ctx, w.ann, id)
		_, err3 := w.Invitations.Resend(w.ctx, w.ann, id)
		for _, err := range []error{err, err2, err3} {
			refused(t, err, crowd.NotFound)
			if err.Error() != "invitation: no such invitation" {
				t.Errorf("it says %q", err)
			}
		}
	}
	if own := must(w.Invitations.List(w.ctx, w.ann, w.a, 0, 10))(t); len(own) == 0 || len(must(w.Invitations.List(w.ctx, w.ann, 0, 0, 10))(t)) != len(own) {
		t.Error("with no tenant named, a requester of one does not see those of theirs")
	}
}
