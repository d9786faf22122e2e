package api_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
)

// TestUploadsHoldLittle: an upload of long rows keeps them as they come, a tenant has so
// many uploads at a time, and one of which nothing comes is cut off.
func TestUploadsHoldLittle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		type upload struct {
			to   *io.PipeWriter
			done chan error
		}
		amy := w.person(wire.NewUser{Name: "amy", Tenants: []crowd.TenantID{w.a}})
		abe := w.person(wire.NewUser{Name: "abe", Tenants: []crowd.TenantID{w.a}})
		begin := func(by *client.Client) (crowd.BatchID, upload) {
			b := must(by.CreateBatch(w.ctx, definition()))(t).ID
			from, to := io.Pipe()
			u := upload{to, make(chan error, 1)}
			go func() {
				_, err := by.Upload(w.ctx, b, from, "csv", false)
				_ = from.CloseWithError(io.ErrClosedPipe)
				u.done <- err
			}()
			return b, u
		}
		row := strings.Repeat("x", 600_000) + "\n"
		first, long := begin(w.ann)
		must(io.WriteString(long.to, "thing\n"+strings.Repeat(row, 20)))(t)
		synctest.Wait()
		if kept := must(w.ann.Batch(w.ctx, first))(t).Tasks; kept < 5 {
			t.Errorf("of 20 rows with 600 kB each %d are kept", kept)
		}
		list := []upload{long}
		for _, by := range []*client.Client{w.ann, amy, amy} {
			_, u := begin(by)
			must(io.WriteString(u.to, "thing\n"))(t)
			list = append(list, u)
		}
		synctest.Wait()
		more := must(w.ann.CreateBatch(w.ctx, definition()))(t).ID
		for _, by := range []*client.Client{w.ann, abe} {
			_, err := by.Upload(w.ctx, more, strings.NewReader("thing\na\n"), "csv", false)
			refused(t, err, crowd.TooMany)
		}
		theirs := must(w.bob.CreateBatch(w.ctx, definition()))(t).ID
		must(w.bob.Upload(w.ctx, theirs, strings.NewReader("thing\na\n"), "csv", false))(t)

		<-time.After(time.Minute)
		for _, u := range list {
			err := <-u.done
			refused(t, err, crowd.Invalid)
			if err != nil && !strings.Contains(err.Error(), "cut off") {
				t.Errorf("the upload ends with %v", err)
			}
		}
		must(w.ann.Upload(w.ctx, more, strings.NewReader("thing\na\n"), "csv", false))(t)
		if kept := must(w.ann.Batch(w.ctx, first))(t).Tasks; kept != 0 {
			t.Errorf("of the upload that was cut off %d tasks are left", kept)
		}
	})
}

// TestAnInputOfWhichNothingComes is cut off.
func TestAnInputOfWhichNothingComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		made := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: "workflow: w\ninputs: {items: {}}\nsteps:\n  one: {from: items, sql: select id from items}\n"}))(t)
		from, to := io.Pipe()
		go func() { _, _ = io.WriteString(to, "id\n1\n") }()
		_, err := w.ann.LoadRun(w.ctx, made.ID, "items", from, "csv")
		refused(t, err, crowd.Invalid)
		_ = to.Close()
	})
}

// TestAnInputThatNobodyWants is refused before its file is there.
func TestAnInputThatNobodyWants(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		workflow := wire.NewRun{Workflow: "workflow: w\ninputs: {items: {}}\nsteps:\n  one: {from: items, sql: select id from items}\n"}
		waits, over := must(w.ann.MakeRun(w.ctx, workflow))(t).ID, must(w.ann.MakeRun(w.ctx, workflow))(t).ID
		must(w.ann.MoveRun(w.ctx, over, "cancel"))(t)
		for _, x := range []struct {
			run   crowd.RunID
			input string
			want  int
		}{{waits, "nosuch", http.StatusUnprocessableEntity}, {over, "items", http.StatusConflict}} {
			body := &readBody{Reader: strings.NewReader("PAR1")}
			r := httptest.NewRequestWithContext(w.ctx, http.MethodPut, "/v1/runs/"+x.run.String()+"/inputs/"+x.input, body)
			r.Header.Set("Authorization", "Bearer "+w.ann.Token)
			out := httptest.NewRecorder()
			w.server.Handler.ServeHTTP(out, r)
			if out.Code != x.want || body.read.Load() {
				t.Errorf("%s %s: %d %s, read: %t", x.run, x.input, out.Code, out.Body, body.read.Load())
			}
		}
	})
}

// readBody is a body that says whether any of it was read.
type readBody struct {
	io.Reader
	read atomic.Bool
}

func (b *readBody) Read(p []byte) (int, error) { b.read.Store(true); return b.Reader.Read(p) }

// TestWhoseBodiesAreRead: of those only who may call the operation.
func TestWhoseBodiesAreRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	everybody := append([]string{"POST /v1/tokens", "PUT /v1/me/password", "PUT /v1/me/address", "POST /v1/me/address/confirm", "POST /v1/users/{id}/erasure", "POST /v1/invitation/accept", "POST /v1/my-tests/{id}/submit", "POST /v1/work/pay/{assignment}/appeal"}, public...)
	workers := append([]string{"PUT /v1/me/wishes", "POST /v1/push-subscriptions", "POST /v1/work/{assignment}/submit", "POST /v1/work/{assignment}/revise", "POST /v1/work/{assignment}/skip", "POST /v1/work/{assignment}/report", "POST /v1/work/next"}, everybody...)
	admins := append([]string{"POST /v1/pools", "PATCH /v1/pools/{id}", "PUT /v1/pools/{id}/grants/{tenant}", "POST /v1/pools/{id}/funds", "POST /v1/pools/{id}/rules/test", "POST /v1/pools/{id}/transfers", "POST /v1/stop",
		"POST /v1/tenants", "POST /v1/tenants/{id}/deposits", "PUT /v1/tenants/{id}/quotas", "PATCH /v1/users/{id}", "POST /v1/services", "PATCH /v1/services/{name}", "POST /v1/providers/{provider}/tokens"}, everybody...)
	path := strings.NewReplacer("{id}", "1", "{assignment}", "1", "{input}", "x", "{name}", "x", "{step}", "x", "{worker}", "u1")
	for _, o := range w.operations() {
		if o.RequestBody == nil {
			continue
		}
		for name, who := range map[string]struct {
			client *client.Client
			may    bool
		}{
			"worker":    {w.workers[0], slices.Contains(workers, o.name())},
			"requester": {w.ann, !slices.Contains(workers, o.name()) && !slices.Contains(admins, o.name()) || slices.Contains(everybody, o.name())},
		} {
			body := &readBody{Reader: strings.NewReader("[]")}
			r := httptest.NewRequestWithContext(w.ctx, o.method, path.Replace(o.path), body)
			r.Header.Set("Authorization", "Bearer "+who.client.Token)
			out := httptest.NewRecorder()
			w.server.Handler.ServeHTTP(out, r)
			if body.read.Load() && !who.may || who.may == (out.Code == http.StatusForbidden) {
				t.Errorf("%s by a %s: %d, read: %t", o.name(), name, out.Code, body.read.Load())
			}
		}
	}
}

// TestLargeBodiesWait: a person has so many bytes of bodies in memory at a time.
func TestLargeBodiesWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		from, to := io.Pipe() // nothing comes
		bodies, done := make([]readBody, 3), make(chan int)
		for i := range bodies {
			bodies[i].Reader = from
			go func() {
				r := httptest.NewRequestWithContext(w.ctx, http.MethodPost, "/v1/my-tests/1/submit", &bodies[i])
				r.ContentLength = 8<<20 - 1
				r.Header.Set("Authorization", "Bearer "+w.workers[0].Token)
				out := httptest.NewRecorder()
				w.server.Handler.ServeHTTP(out, r)
				done <- out.Code
			}()
		}
		for range 2 {
			if code := <-done; code != http.StatusTooManyRequests {
				t.Errorf("who has waited gets %d", code)
			}
		}
		read := 0
		for i := range bodies {
			if bodies[i].read.Load() {
				read++
			}
		}
		if read != 1 {
			t.Errorf("%d bodies of 8 MiB by one person are read at a time", read)
		}
		_ = to.Close()
		<-done
	})
}

// TestSlowBodiesLeaveRoom: workers whose large bodies never come leave room for those
// of requesters, and a tenant's people for others.
func TestSlowBodiesLeaveRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		from, to := io.Pipe() // nothing comes
		done := make(chan int)
		slow := 0
		send := func(c *client.Client) {
			slow++
			go func() {
				r := httptest.NewRequestWithContext(w.ctx, http.MethodPost, "/v1/my-tests/1/submit", from)
				r.ContentLength = 8<<20 - 1
				r.Header.Set("Authorization", "Bearer "+c.Token)
				out := httptest.NewRecorder()
				w.server.Handler.ServeHTTP(out, r)
				done <- out.Code
			}()
		}
		pool := must(w.admin.Pools(w.ctx))(t)[0].ID
		for i := range 8 {
			send(w.person(wire.NewUser{Name: fmt.Sprintf("slow%d", i), Pool: pool}))
			send(w.person(wire.NewUser{Name: fmt.Sprintf("bee%d", i), Tenants: []crowd.TenantID{w.b}}))
		}
		synctest.Wait()
		long := definition()
		long.Name = strings.Repeat("n", 100)
		long.Template = wire.Template(strings.Replace(yesOrNo, "alive?", "alive?"+strings.Repeat(" ", 200<<10), 1))
		began := time.Now()
		_, err := w.ann.CreateBatch(w.ctx, long)
		if code := crowd.CodeOf(err); code == crowd.Unavailable || code == crowd.TooMany || time.Since(began) > time.Second {
			t.Errorf("after %s a requester of another tenant gets %v", time.Since(began), err)
		}
		<-time.After(time.Minute) // those who wait give up
		_ = to.Close()
		full := 0
		for range slow {
			if <-done == http.StatusTooManyRequests {
				full++
			}
		}
		if full != 8 {
			t.Errorf("%d of %d slow bodies found no room, want 8", full, slow)
		}
	})
}
