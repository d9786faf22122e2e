package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/api"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/oidc"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/store/sqlite/sqlitetest"
	"github.com/throng-dev/throng/internal/wire"
)

// world is an API on a real store, spoken to over connections in memory, so
// that it can be tested in a bubble too. There is an admin, a tenant of ann's
// and one of bob's, and two workers.
type world struct {
	t      testing.TB
	ctx    context.Context
	app    *app.App
	store  store.Store
	server *http.Server
	served chan error
	log    bytes.Buffer
	file   string      // of the store
	mails  chan string // that were sent, where it says so

	nobody, admin, ann, bob *client.Client
	workers                 []*client.Client
	a, b                    crowd.TenantID
}

type setup struct {
	wrap    func(store.Store) store.Store // around the store
	server  http.Server
	senders recruit.Senders
}

func newWorld(t testing.TB, changes ...func(*setup)) *world {
	var with setup
	for _, c := range changes {
		c(&with)
	}
	w := &world{t: t, ctx: context.Background(), served: make(chan error, 1)}
	w.file = sqlitetest.New(t)
	w.store = must(sqlite.Open(w.ctx, w.file, sqlite.Options{}))(t)
	root := must(w.store.CreateUser(w.ctx, store.User{Name: "root", Admin: true}))(t)
	used := w.store
	if with.wrap != nil {
		used = with.wrap(used)
	}
	log := slog.New(slog.NewTextHandler(&w.log, nil))
	w.app = must(app.Open(w.ctx, app.Config{Passwords: auth.LeastCost, Store: used, Log: log, Senders: with.senders, Providers: []oidc.Settings{{Name: "corp", Button: "Corp", Issuer: "https://corp.example"}}}))(t)
	mux := http.NewServeMux()
	api.Mount(mux, api.Config{App: w.app, Log: log, Version: "test"})
	w.server = &with.server
	w.server.Handler = mux
	w.server.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	listener := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	go func() { w.served <- w.server.Serve(listener) }()
	t.Cleanup(w.close)

	w.nobody = &client.Client{URL: "http://throng", HTTP: &http.Client{Transport: asDocumented{&http.Transport{DialContext: listener.dial}, t}}}
	_, secret, err := w.app.Accounts.CreateToken(w.ctx, &access.Principal{User: must(w.store.User(w.ctx, root))(t)}, accounts.NewToken{Name: "root", Life: accounts.Forever})
	ok(t, err)
	w.admin = w.nobody.As(secret)
	w.a, w.ann = w.tenant("ants", "ann")
	w.b, w.bob = w.tenant("bees", "bob")
	pool := must(w.admin.Pools(w.ctx))(t)[0].ID
	for i := range 2 {
		w.workers = append(w.workers, w.person(wire.NewUser{Name: fmt.Sprintf("worker%d", i+1), Pool: pool}))
	}
	return w
}

// close closes everything, as a server does.
func (w *world) close() {
	if w.app == nil {
		return
	}
	w.app.StopWaiting()
	ctx, cancel := context.WithTimeout(w.ctx, 30*time.Second)
	defer cancel()
	if err := w.server.Shutdown(ctx); err != nil {
		w.t.Errorf("shut down: %v", errors.Join(err, w.server.Close()))
	}
	<-w.served
	w.nobody.HTTP.CloseIdleConnections()
	w.app.Close()
	if err := w.store.Close(); err != nil {
		w.t.Errorf("close: %v", err)
	}
	w.app = nil
}

// pipes is a listener whose connections are in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (w *world) tenant(name, requester string) (crowd.TenantID, *client.Client) {
	w.t.Helper()
	x := must(w.admin.CreateTenant(w.ctx, wire.NewTenant{Name: name}))(w.t)
	ok(w.t, w.admin.Deposit(w.ctx, x.ID, 1000*crowd.Unit, ""))
	return x.ID, w.person(wire.NewUser{Name: requester, Tenants: []crowd.TenantID{x.ID}})
}

func (w *world) person(u wire.NewUser) *client.Client {
	w.t.Helper()
	made, err := w.admin.CreateUser(w.ctx, u)
	ok(w.t, err)
	return w.nobody.As(must(w.admin.CreateToken(w.ctx, wire.NewToken{Name: "test", For: made.ID, Forever: true}))(w.t))
}

const yesOrNo = `{"kind": "choose_one", "question": "Is ${thing} alive?", "options": ["yes", "no"]}`

func definition() wire.NewBatch {
	return wire.NewBatch{BatchTerms: wire.BatchTerms{Name: "things", Template: wire.Template(yesOrNo), RewardMicros: crowd.Unit / 100, LeaseSeconds: 60}}
}

// draft makes a draft of ann's with tasks from a file.
func (w *world) draft(file string) crowd.BatchID {
	w.t.Helper()
	b := must(w.ann.CreateBatch(w.ctx, definition()))(w.t)
	must(w.ann.Upload(w.ctx, b.ID, strings.NewReader(file), "", false))(w.t)
	return b.ID
}

func (w *world) launch(file string) crowd.BatchID {
	w.t.Helper()
	return must(w.ann.Launch(w.ctx, w.draft(file), false))(w.t).ID
}

// next returns a worker's next task, which there must be.
func (w *world) next(c *client.Client) *wire.Work {
	w.t.Helper()
	work, why, err := c.Next(w.ctx, 0)
	ok(w.t, err)
	if work == nil {
		w.t.Fatalf("nothing: %v", why)
	}
	return work
}

// answer is an answer of the server as it came.
type answer struct {
	*http.Response
	body []byte
}

// send sends a request as somebody.
func (w *world) send(c *client.Client, method, path, body string, header ...string) answer {
	w.t.Helper()
	req := must(http.NewRequestWithContext(w.ctx, method, c.URL+path, strings.NewReader(body)))(w.t)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp := must(c.HTTP.Do(req))(w.t)
	defer resp.Body.Close()
	return answer{resp, must(io.ReadAll(resp.Body))(w.t)}
}

// signature is all that an answer tells, with the names of what was asked for, if there are
// others to put in their place.
func (a answer) signature(names ...string) string {
	h := a.Header.Clone()
	h.Del("Date")
	if h.Get("Content-Length") == strconv.Itoa(len(a.body)) || a.Request.Method == http.MethodHead {
		h.Set("Content-Length", "of the body") // whose names may be of another length
	}
	var told strings.Builder
	_, _ = fmt.Fprintln(&told, a.StatusCode)
	_ = h.Write(&told)
	return strings.NewReplacer(names...).Replace(told.String() + string(a.body))
}

// problem returns the error that an answer is, or ends the test.
func (a answer) problem(t testing.TB) wire.Problem {
	t.Helper()
	var p wire.Problem
	if kind := a.Header.Get("Content-Type"); kind != "application/problem+json" {
		t.Fatalf("status %d, content type %q: %s", a.StatusCode, kind, a.body)
	}
	ok(t, json.Unmarshal(a.body, &p))
	if p.Status != a.StatusCode || p.Title != http.StatusText(p.Status) || p.Type != "about:blank" || p.Detail == "" || p.Code == "" {
		t.Errorf("status %d with the problem %s", a.StatusCode, a.body)
	}
	return p
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func refused(t testing.TB, err error, want crowd.Code) {
	t.Helper()
	if got := crowd.CodeOf(err); got != want {
		t.Fatalf("got the error %v of code %q, want code %q", err, got, want)
	}
}
