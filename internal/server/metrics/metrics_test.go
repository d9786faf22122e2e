package metrics_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
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
	"github.com/throng-dev/throng/internal/server/metrics"
	"github.com/throng-dev/throng/internal/server/runs"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/store/sqlite/sqlitetest"
	"github.com/throng-dev/throng/pool"
)

// world is a service with an admin, a requester and two workers.
type world struct {
	*app.App
	t       *testing.T
	ctx     context.Context
	store   store.Store
	metrics *metrics.Metrics
	admin   *access.Principal
	tenant  crowd.TenantID    // ann's
	secret  map[string]string // by name
	people  map[string]*access.Principal
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, ctx: context.Background(), secret: map[string]string{}, people: map[string]*access.Principal{}}
	w.store = must(sqlite.Open(w.ctx, sqlitetest.New(t), sqlite.Options{}))(t)
	log := slog.New(slog.DiscardHandler)
	w.App = must(app.Open(w.ctx, app.Config{Passwords: auth.LeastCost, Store: w.store, Log: log}))(t)
	t.Cleanup(func() {
		w.Close()
		ok(t, w.store.Close())
	})
	w.metrics = metrics.New(w.App, log, false)
	root := must(w.store.CreateUser(w.ctx, store.User{Name: "root", Admin: true}))(t)
	w.admin = &access.Principal{User: must(w.store.User(w.ctx, root))(t)}
	w.admin = w.as("root", root)
	tenant := must(w.Tenants.Create(w.ctx, w.admin, accounts.NewTenant{Name: "ants", Weight: 1}))(t)
	w.tenant = tenant.ID
	ok(t, w.Tenants.Deposit(w.ctx, w.admin, tenant.ID, crowd.Unit, ""))
	for _, n := range []accounts.NewUser{{Name: "ann", Tenants: []crowd.TenantID{tenant.ID}}, {Name: "one", Pool: 1}, {Name: "two", Pool: 1}} {
		u, _, err := w.Accounts.CreateUser(w.ctx, w.admin, n)
		ok(t, err)
		w.people[n.Name] = w.as(n.Name, u.ID)
	}
	return w
}

func (w *world) as(name string, id crowd.WorkerID) *access.Principal {
	_, secret, err := w.Accounts.CreateToken(w.ctx, w.admin, accounts.NewToken{Name: name, For: id})
	ok(w.t, err)
	w.secret[name] = secret
	return must(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{}))(w.t)
}

var sampleForm = regexp.MustCompile(`^([a-z0-9_]+)(?:\{(.*)\})? (\S+)$`)

// scrape reads what is told to everybody who reaches it.
func (w *world) scrape() map[string]float64 {
	w.t.Helper()
	got := httptest.NewRecorder()
	w.metrics.Open().ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if got.Code != http.StatusOK || !strings.HasPrefix(got.Header().Get("Content-Type"), "text/plain") {
		w.t.Fatalf("status %d, %s: %s", got.Code, got.Header().Get("Content-Type"), got.Body)
	}
	out := make(map[string]float64)
	helped, typed := 0, 0
	for lines := bufio.NewScanner(got.Body); lines.Scan(); {
		switch text := lines.Text(); {
		case strings.HasPrefix(text, "# HELP throng_"):
			helped++
		case strings.HasPrefix(text, "# TYPE throng_"):
			typed++
		case strings.HasPrefix(text, "throng_"):
			m := sampleForm.FindStringSubmatch(text)
			if m == nil {
				w.t.Fatalf("no sample: %q", text)
			}
			x := must(strconv.ParseFloat(m[3], 64))(w.t)
			name := strings.TrimPrefix(m[1], "throng_")
			if rest := strings.Trim(strings.NewReplacer(`name="main"`, "", `,pool="p1"`, "").Replace(m[2]), ","); rest != "" {
				name += "{" + rest + "}"
			}
			out[name] = x
		}
	}
	if helped != typed || helped < 15 {
		w.t.Errorf("%d metrics with a help, %d with a type", helped, typed)
	}
	return out
}

// TestTheScrapeIsTheState compares what is told with what the service says.
func TestTheScrapeIsTheState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		first := w.scrape()
		for _, name := range []string{"pool_c_star", "pool_mu", "pool_utilisation", "pool_lambda"} {
			if x, there := first[name]; there {
				t.Errorf("before the first step %s is %g", name, x)
			}
		}
		retainer := engine.Retainer{Called: true, Rate: 60_000, Promise: time.Minute}
		settings := pool.Settings{Elasticity: "static(n=2)", Expect: pool.Expect{TaskTime: 30 * time.Second}}
		must(w.Pools.Change(w.ctx, w.admin, 1, func(now *store.Pool) error {
			now.Retainer = retainer
			now.Control = settings
			return nil
		}))(t)
		must(w.Pools.Fund(w.ctx, w.admin, 1, crowd.Unit))(t)
		ok(t, w.Control.Step(w.ctx))
		w.want(map[string]float64{"pool_coming": 2, "pool_workers": 0, "pool_funds": 1, `pool_actions_total{advice="false",kind="recruit"}`: 1,
			`pool_actions_total{advice="false",kind="set"}`: 1})

		if x, there := w.scrape()["pool_c_star"]; there {
			t.Errorf("before anything was seen c* is %g", x)
		}

		one, two := w.people["one"], w.people["two"]
		must(w.Duty.Start(w.ctx, one))(t)
		must(w.Duty.Start(w.ctx, two))(t)
		b := must(w.Batches.Create(w.ctx, w.people["ann"], batches.NewBatch{Tenant: w.tenant, Name: "things", Reward: 1000,
			Template: json.RawMessage(`{"kind": "choose_one", "question": "Is ${thing} alive?", "options": ["yes", "no"]}`)}))(t)
		must(w.Batches.Upload(w.ctx, w.people["ann"], b.Spec.ID, strings.NewReader("thing\na dog\na cat\na stone\n"), batches.Upload{}))(t)
		must(w.Batches.Launch(w.ctx, w.people["ann"], b.Spec.ID, false))(t)
		held := must(w.Work.Next(w.ctx, one, 0))(t)
		w.want(map[string]float64{"pool_workers": 2, "pool_busy": 1, "pool_queue": 2, "pool_coming": 0}) // as it is now, not at the last step
		<-time.After(20 * time.Second)
		ok(t, w.Control.Step(w.ctx))
		w.want(map[string]float64{"pool_workers": 2, "pool_busy": 1, "pool_idle": 1, "pool_training": 0, "pool_coming": 0, "pool_queue": 2, "pool_joined_total": 2,
			"pool_arrived_total": 3, "pool_withdrawn_total": 0, "pool_completed_total": 0, "pool_oldest_wait_seconds": 20, "pool_stopped": 0, "pool_advise": 0, `messages{state="queued"}`: 0})

		_, _, err := w.Work.Submit(w.ctx, one, held.Assignment, json.RawMessage(`"yes"`), false, 0)
		ok(t, err)
		must(w.Duty.End(w.ctx, two))(t)
		settings.Elasticity, settings.Advise = "static(n=0)", true
		must(w.Pools.Change(w.ctx, w.admin, 1, func(now *store.Pool) error { now.Control = settings; return nil }))(t)
		ok(t, w.Control.Step(w.ctx))
		w.want(map[string]float64{"pool_workers": 1, "pool_completed_total": 1, "pool_abandoned_total": 1, "pool_released_total": 0, "pool_advise": 1,
			`pool_actions_total{advice="true",kind="release"}`: 1, `pool_actions_total{advice="false",kind="set"}`: 2})
		w.want(map[string]float64{`pool_actions_total{advice="true",kind="release"}`: 1}) // a second look counts nothing twice

		for range 12 {
			<-time.After(10 * time.Second)
			ok(t, w.Control.Step(w.ctx))
		}
		// The rates are those of the last control step.
		v := must(w.Pools.Get(w.ctx, w.admin, 1))(t)
		m := v.Status.Metrics
		w.want(map[string]float64{"pool_lambda": m.Lambda, "pool_mu": m.Mu, "pool_c_star": float64(m.CStar), "pool_throughput": m.Throughput,
			"pool_abandonment": m.Abandonment, "pool_utilisation": m.Utilisation, "pool_preference": m.Preference, "pool_cost_per_hour": m.CostPerHour})
		if m.Lambda == 0 || m.Mu == 0 || m.CStar == pool.Unknown {
			t.Errorf("nothing was seen: %+v", m)
		}
		checkMonitoring(t, w)
		for range 60 { // more than are read at a time
			settings.Advise = !settings.Advise
			must(w.Pools.Change(w.ctx, w.admin, 1, func(now *store.Pool) error { now.Control = settings; return nil }))(t)
		}
		w.want(map[string]float64{`pool_actions_total{advice="false",kind="set"}`: 62})
		night := must(w.Pools.Create(w.ctx, w.admin, "night", "fifo"))(t)
		must(w.Transfers.Move(w.ctx, w.admin, two.User.ID, night.ID))(t)
		w.want(map[string]float64{`pool_actions_total{advice="false",kind="transfer"}`: 1}) // counted where they left
		if n := w.scrape()[`pool_actions_total{advice="false",kind="transfer",name="night",pool="p2"}`]; n != 0 {
			t.Errorf("the pool that they came to counts %g transfers", n)
		}
		must(w.Pools.Change(w.ctx, w.admin, 1, func(now *store.Pool) error {
			now.Retainer.Called, now.Control = false, pool.Settings{}
			return nil
		}))(t)
		open := w.scrape()
		for _, name := range []string{"pool_joined_total", "pool_abandoned_total", "pool_released_total"} {
			if x, there := open[name]; there {
				t.Errorf("of an open pool %s is %g", name, x)
			}
		}
		w.Close()
	})
}

func (w *world) want(want map[string]float64) {
	w.t.Helper()
	got := w.scrape()
	for name, x := range want {
		if y, there := got[name]; !there || y != x {
			w.t.Errorf("%s is %g (%t), want %g", name, y, there, x)
		}
	}
}

// TestWaitingPaid: money counts as money.
func TestWaitingPaid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		retainer := engine.Retainer{Rate: 60_000, Silence: time.Minute, Promise: time.Minute}
		must(w.Pools.Change(w.ctx, w.admin, 1, func(now *store.Pool) error { now.Retainer = retainer; return nil }))(t)
		must(w.Pools.Fund(w.ctx, w.admin, 1, crowd.Unit))(t)
		if work := must(w.Work.Next(w.ctx, w.people["one"], 50*time.Second))(t); work != nil {
			t.Fatalf("work: %+v", work)
		}
		w.want(map[string]float64{"pool_waiting_paid_total": 0.05, "pool_funds": 0.95})
		w.Close()
	})
}

func TestOnlyAdminsWithoutTheOtherAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for who, want := range map[string]int{"": 401, "nobody": 401, "ann": 403, "one": 403, "root": 200} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		if who != "" {
			r.Header.Set("Authorization", "Bearer "+w.secret[who]+map[bool]string{true: "thr_x"}[who == "nobody"])
		}
		got := httptest.NewRecorder()
		w.metrics.Guarded().ServeHTTP(got, r)
		if told := strings.Contains(got.Body.String(), "throng_pool_workers"); got.Code != want || told != (want == 200) {
			t.Errorf("%q: status %d, want %d; told: %t", who, got.Code, want, told)
		}
	}
}

// TestRequestsAreCounted, whatever they are called.
func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := time.Unix(0, 0)
	clock := func() time.Time { at = at.Add(20 * time.Millisecond); return at }
	h := w.metrics.Count(clock, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			rw.WriteHeader(http.StatusConflict)
		}
		_ = http.NewResponseController(rw).Flush()
		_, _ = fmt.Fprintln(rw, "x")
	}))
	for _, method := range []string{"GET", "GET", "POST", "BREW", "STIR"} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, "/", nil))
	}
	w.want(map[string]float64{
		`http_request_seconds_count{method="GET",status="200"}`: 2, `http_request_seconds_count{method="POST",status="409"}`: 1,
		`http_request_seconds_count{method="other",status="200"}`: 2, `http_request_seconds_bucket{method="GET",status="200",le="0.01"}`: 0,
		`http_request_seconds_bucket{method="GET",status="200",le="0.025"}`: 2,
	})
}

// TestTimesOfRequests: dashboards know these bounds by their names.
func TestTimesOfRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, seconds := range []string{"0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "30", "60"} {
		took := must(time.ParseDuration(seconds + "s"))(t)
		at := time.Unix(0, 0)
		clock := func() time.Time { at = at.Add(took); return at }
		w.metrics.Count(clock, http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPut, "/", nil))
		w.want(map[string]float64{fmt.Sprintf(`http_request_seconds_bucket{method="PUT",status="404",le="%s"}`, seconds): float64(i + 1)})
	}
	w.want(map[string]float64{`http_request_seconds_bucket{method="PUT",status="404",le="0.001"}`: 1})
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

// TestServicesAreWatched: their capacity and their calls are told by name, and of no tenant.
func TestServicesAreWatched(t *testing.T) {
	w := newWorld(t)
	url, concurrency := "https://scores.example", 3
	must(w.Services.Declare(w.ctx, w.admin, "scores", runs.ServiceEdit{URL: &url, Concurrency: &concurrency, Tenants: &[]crowd.TenantID{w.tenant}}))(t)
	got := w.scrape()
	for name, want := range map[string]float64{"concurrency": 3, "under_way": 0, "waiting": 0} {
		if x, told := got[`service_`+name+`{service="scores"}`]; !told || x != want {
			t.Errorf("%s is %g, told: %v; want %g", name, x, told, want)
		}
	}
}
