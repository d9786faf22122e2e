package app_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/oidc"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/store/sqlite/sqlitetest"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/pool"
)

// world is an app on a SQLite file, with an admin, two tenants ("ann" and
// "bob" are their requesters, each tenant has money), and some workers.
type world struct {
	*app.App
	t       testing.TB
	ctx     context.Context
	store   store.Store
	path    string
	clock   *clock
	wrap    func(store.Store) store.Store // around the store, from the next open on
	options sqlite.Options
	moves   pool.Balancer // from the next open on

	warns     atomic.Bool // the log may have warnings
	passwords auth.Cost   // from the next open on; zero: the least
	adminFrom []netip.Prefix
	providers []oidc.Settings // from the next open on
	services  []string        // private places that may be called, from the next open on

	admin, ann, bob *access.Principal
	rex, wendy      *access.Principal // who refuses pay of ann's tenant, and whose it is, as soon as that is tried
	workers         []*access.Principal
	a, b            crowd.TenantID // ann's and bob's
	pool            crowd.PoolID
}

// clock is the clock of the test's bubble, or the real one, and what a test has
// added to it.
type clock struct {
	ahead   atomic.Int64
	stopped atomic.Int64 // if not 0, the clock stands there, in microseconds since 1970
}

func (c *clock) now() time.Time {
	now := time.Now()
	if at := c.stopped.Load(); at != 0 {
		now = time.UnixMicro(at)
	}
	return now.Add(time.Duration(c.ahead.Load()))
}

// halt stops the clock: it only goes on by advance.
func (c *clock) halt()                   { c.stopped.Store(time.Now().UnixMicro()) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

const money = 1000 * crowd.Unit // each tenant's, at first

// newWorld makes a world with n workers.
func newWorld(t testing.TB, n int) *world {
	w := newBareWorld(t)
	w.a, w.ann = w.tenant("ants", "ann")
	w.b, w.bob = w.tenant("bees", "bob")
	for i := range n {
		w.workers = append(w.workers, w.worker(fmt.Sprintf("worker%d", i+1)))
	}
	return w
}

// newBareWorld is a new server with an admin and nobody else.
func newBareWorld(t testing.TB) *world {
	w := &world{t: t, ctx: context.Background(), path: sqlitetest.New(t), clock: &clock{}, providers: corp()}
	w.open()
	t.Cleanup(w.close)
	root := store.User{Name: "root", Admin: true}
	root.ID = must(w.store.CreateUser(w.ctx, root))(t)
	w.admin = &access.Principal{User: root}
	w.admin = w.as(root.ID)
	w.pool = must(w.Pools.List(w.ctx, w.admin))(t)[0].ID
	return w
}

// open opens the store and the service, again after close.
func (w *world) open() {
	w.t.Helper()
	w.store = must(sqlite.Open(w.ctx, w.path, w.options))(w.t)
	used := w.store
	if w.wrap != nil {
		used = w.wrap(used)
	}
	w.App = must(app.Open(w.ctx, app.Config{Passwords: cmp.Or(w.passwords, auth.LeastCost), Store: used, Log: w.log(), Now: w.clock.now, Balance: w.moves, AdminFrom: w.adminFrom, Providers: w.providers, Services: must(httpstep.ParseAllow(w.services))(w.t)}))(w.t)
}

// log is a log in which nothing may be worth a warning while the store does what it
// is asked.
func (w *world) log() *slog.Logger {
	to := slog.NewTextHandler(w.t.Output(), nil)
	if w.wrap != nil {
		return slog.New(to)
	}
	return slog.New(quiet{to, w})
}

// quiet is a handler of a log without warnings.
type quiet struct {
	slog.Handler
	w *world
}

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn && !q.w.warns.Load() {
		q.w.t.Errorf("the log has the warning %q", r.Message)
	}
	return q.Handler.Handle(ctx, r)
}

// close closes both; what the ledger says must add up.
func (w *world) close() {
	w.t.Helper()
	if w.App == nil {
		return
	}
	w.Close()
	if err := w.store.CheckLedger(w.ctx); err != nil {
		w.t.Errorf("the ledger: %v", err)
	}
	if err := w.store.Close(); err != nil {
		w.t.Errorf("close: %v", err)
	}
	w.App = nil
}

// balancedBy moves people between pools with b from now on.
func (w *world) balancedBy(b pool.Balancer) {
	w.t.Helper()
	w.moves = b
	w.reopen()
}

// until waits for something that another goroutine does.
func (w *world) until(done func() bool) {
	w.t.Helper()
	for limit := time.Now().Add(10 * time.Second); !done(); runtime.Gosched() {
		if time.Now().After(limit) {
			w.t.Fatal("it did not happen")
		}
	}
}

// reopen is a restart.
func (w *world) reopen() {
	w.t.Helper()
	w.close()
	w.open()
}

func (w *world) tenant(name, requester string) (crowd.TenantID, *access.Principal) {
	w.t.Helper()
	x := must(w.Tenants.Create(w.ctx, w.admin, accounts.NewTenant{Name: name, Weight: 1}))(w.t)
	ok(w.t, w.Tenants.Deposit(w.ctx, w.admin, x.ID, money, "to begin with"))
	return x.ID, w.person(accounts.NewUser{Name: requester, Tenants: []crowd.TenantID{x.ID}})
}

func (w *world) worker(name string) *access.Principal {
	w.t.Helper()
	return w.person(accounts.NewUser{Name: name, Pool: w.pool})
}

func (w *world) person(n accounts.NewUser) *access.Principal {
	w.t.Helper()
	u, _, err := w.Accounts.CreateUser(w.ctx, w.admin, n)
	ok(w.t, err)
	return w.as(u.ID)
}

// as signs somebody in, by a token.
func (w *world) as(id crowd.WorkerID) *access.Principal {
	w.t.Helper()
	_, secret, err := w.Accounts.CreateToken(w.ctx, w.admin, accounts.NewToken{Name: "test", For: id, Life: accounts.Forever})
	ok(w.t, err)
	return must(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{}))(w.t)
}

const yesOrNo = `{"kind": "choose_one", "question": "Is ${thing} alive?", "options": ["yes", "no"]}`

// definition is a batch of ann's that a test may change.
func (w *world) definition() batches.NewBatch {
	return batches.NewBatch{Tenant: w.a, Name: "things", Template: json.RawMessage(yesOrNo), Reward: crowd.Unit / 100, Redundancy: label.Count(1), Lease: time.Minute}
}

// replaced is the change of a draft to another definition.
func replaced(d batches.NewBatch) func(*batches.NewBatch) error {
	return func(n *batches.NewBatch) error { *n = d; return nil }
}

// draft makes a draft with n tasks.
func (w *world) draft(n int, change ...func(*batches.NewBatch)) crowd.BatchID {
	w.t.Helper()
	d := w.definition()
	for _, c := range change {
		c(&d)
	}
	b := must(w.Batches.Create(w.ctx, w.admin, d))(w.t)
	if n > 0 {
		must(w.Batches.Upload(w.ctx, w.admin, b.Spec.ID, things(n), batches.Upload{}))(w.t)
	}
	return b.Spec.ID
}

// things is a file with n rows.
func things(n int) *strings.Reader {
	var s strings.Builder
	s.WriteString("thing\n")
	for i := range n {
		fmt.Fprintf(&s, "thing %d\n", i+1)
	}
	return strings.NewReader(s.String())
}

// launch launches a draft with n tasks.
func (w *world) launch(n int, change ...func(*batches.NewBatch)) crowd.BatchID {
	w.t.Helper()
	id := w.draft(n, change...)
	must(w.Batches.Launch(w.ctx, w.admin, id, false))(w.t)
	return id
}

func times(n int) func(*batches.NewBatch) {
	return func(b *batches.NewBatch) { b.Redundancy = label.Count(n) }
}

// next returns a worker's next task, which there must be.
func (w *world) next(p *access.Principal) *work.HeldTask {
	w.t.Helper()
	work := must(w.Work.Next(w.ctx, p, 0))(w.t)
	if work == nil {
		why, _ := w.Work.WhyNothing(w.ctx, p)
		w.t.Fatalf("%s gets nothing: %v", p.User.Name, why)
	}
	return work
}

func (w *world) batch(id crowd.BatchID) batches.BatchView {
	w.t.Helper()
	return must(w.Batches.Get(w.ctx, w.admin, id))(w.t)
}

func (w *world) balance(id crowd.TenantID) crowd.Money {
	w.t.Helper()
	have, _, err := w.Tenants.Account(w.ctx, w.admin, id, 0, 1)
	ok(w.t, err)
	return have
}

// answers returns the kept answers of a batch.
func (w *world) answers(id crowd.BatchID) []store.Annotation {
	w.t.Helper()
	_, rows, err := w.Batches.Annotations(w.ctx, w.admin, id, true)
	ok(w.t, err)
	var list []store.Annotation
	for a, err := range rows {
		ok(w.t, err)
		a.Annotation.Worker = a.By.ID
		list = append(list, a.Annotation)
	}
	return list
}

// pseudonym is how a tenant knows a worker.
func (w *world) pseudonym(tenant crowd.TenantID, p *access.Principal) string {
	w.t.Helper()
	return must(w.Accounts.Worker(context.Background(), w.admin, tenant, p.User.ID.String()))(w.t).Pseudonym
}

var yes, no = json.RawMessage(`"yes"`), json.RawMessage(`"no"`)

// must returns a value, or ends the test.
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

// refused ends the test unless err has the code.
func refused(t testing.TB, err error, want crowd.Code) {
	t.Helper()
	if got := crowd.CodeOf(err); got != want {
		t.Fatalf("got the error %v of code %q, want code %q", err, got, want)
	}
}

// session signs in from an address that is not known.
func (w *world) session(name, password string) (string, error) {
	return w.Accounts.SignIn(w.ctx, accounts.Credentials{Name: name, Password: password})
}
