package app_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/runs"
	"github.com/throng-dev/throng/internal/store"
)

// ofServices has the calls of the operations on services.
var ofServices = map[string]func(s *scene, p *access.Principal) error{
	"Services.Declare": func(s *scene, p *access.Principal) error {
		if err := s.store.DeleteService(s.ctx, "made"); crowd.CodeOf(err) != crowd.NotFound {
			ok(s.t, err)
		}
		return second(s.Services.Declare(s.ctx, p, "made", someService("http://x", 1, s.a)))
	},
	"Services.Change": func(s *scene, p *access.Principal) error {
		s.declared()
		edit := someService("http://y", 2, s.a, s.b)
		return second(s.Services.Change(s.ctx, p, "scores", edit.Apply))
	},
	"Services.Remove": func(s *scene, p *access.Principal) error {
		s.declared()
		return s.Services.Remove(s.ctx, p, "scores")
	},
	"Services.List": func(s *scene, p *access.Principal) error { return second(s.Services.List(s.ctx, p)) },
	"Services.Get": func(s *scene, p *access.Principal) error {
		s.declared()
		return second(s.Services.Get(s.ctx, p, "scores"))
	},
}

func init() { maps.Copy(calls, ofServices) }

// declared declares a service for all tenants, if it is not there.
func (s *scene) declared() {
	s.t.Helper()
	err := s.store.CreateService(s.ctx, store.Service{Name: "scores", URL: "http://z", Concurrency: 1, AllTenants: true})
	if crowd.CodeOf(err) != crowd.Conflict {
		ok(s.t, err)
	}
}

func someService(url string, concurrency int, tenants ...crowd.TenantID) runs.ServiceEdit {
	return runs.ServiceEdit{URL: &url, Concurrency: &concurrency, Tenants: &tenants}
}

// shared is a workflow that calls the service scores.
const shared = `
workflow: shared
SLA
inputs: {things: {columns: [{id: number}, thing]}}
steps:
  score:
    from: {things: stream}
    service: {name: scores, path: v1/score, send: [id], timeout: 5s, backoff: 10ms, expect: 10ms, response: {type: object, required: [risk], properties: {risk: {type: number}}}}
`

func sharedFlow(sla string) string { return strings.Replace(shared, "SLA", sla, 1) }

// beginOf begins a run of a requester's tenant.
func (w *world) beginOf(p *access.Principal, text, rows string) crowd.RunID {
	w.t.Helper()
	made := must(w.Runs.Make(w.ctx, p, orchestrator.NewRun{Tenant: p.Tenants()[0], Text: text}))(w.t)
	must(w.Runs.Load(w.ctx, p, made.Run.ID, "things", file(w.t, rows)))(w.t)
	must(w.Runs.Start(w.ctx, p, made.Run.ID, false))(w.t)
	return made.Run.ID
}

// counting is a service that knows how many calls it has at a time.
type counting struct {
	*httptest.Server
	now, most, calls atomic.Int64
	hold             chan struct{} // nil: it answers at once
	want             int64         // the first calls are answered when so many are there
	full             chan struct{} // closed then
	over             chan struct{} // closed when the test has ended: what is held is answered, as Close waits for it
	mu               sync.Mutex
	paths            []string
	at               []time.Time
}

func newCounting(t *testing.T, w *world) *counting {
	c := &counting{full: make(chan struct{}), over: make(chan struct{})}
	c.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		at, now := time.Now(), c.now.Add(1)
		defer c.now.Add(-1)
		for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); most = c.most.Load() {
		}
		c.calls.Add(1)
		c.mu.Lock()
		if c.want > 0 && c.most.Load() >= c.want {
			close(c.full)
			c.want = 0
		}
		c.paths, c.at = append(c.paths, r.URL.Path), append(c.at, at)
		hold := c.hold
		if c.want > 0 {
			hold = c.full
		}
		c.mu.Unlock()
		if hold != nil {
			select { // it does not notice that its caller has gone
			case <-hold:
			case <-c.over:
			}
		}
		fmt.Fprint(rw, `{"risk": 1}`)
	}))
	t.Cleanup(func() {
		close(c.over)
		c.Close()
	})
	w.services = append(w.services, strings.TrimPrefix(c.URL, "http://"))
	w.reopen()
	return c
}

// done waits until runs are done.
func (w *world) done(ids ...crowd.RunID) {
	w.t.Helper()
	for _, id := range ids {
		w.until(func() bool { return must(w.Runs.Get(w.ctx, w.admin, id))(w.t).State == store.RunDone })
	}
}

// TestTenantsShareAService: two tenants, with two runs each, and a service that takes one
// call at a time, or two: over HTTP it never has more.
func TestTenantsShareAService(t *testing.T) {
	for _, limit := range []int{1, 2} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			w := newWorld(t, 0)
			c := newCounting(t, w)
			c.want = int64(limit)
			must(w.Services.Declare(w.ctx, w.admin, "scores", someService(c.URL+"/base", limit, w.a, w.b)))(t)
			late := "sla: {per: item, penalty: staged, after: 1m, every: 1m, cost: 1}"
			w.done(w.beginOf(w.ann, sharedFlow(""), thingsWithID(30)), w.beginOf(w.bob, sharedFlow(""), thingsWithID(30)),
				w.beginOf(w.ann, sharedFlow(late), thingsWithID(20)), w.beginOf(w.bob, sharedFlow(late), thingsWithID(20)))
			if c.calls.Load() != 100 || c.most.Load() != int64(limit) {
				t.Errorf("%d calls, up to %d at a time; want 100, up to %d", c.calls.Load(), c.most.Load(), limit)
			}
			if i := slices.IndexFunc(c.paths, func(p string) bool { return p != "/base/v1/score" }); i >= 0 {
				t.Errorf("it was called at %s", c.paths[i])
			}
		})
	}
}

// TestAServiceAcrossARestart: the service goes on with a call whose server has ended, and
// gets no other one next to it.
func TestAServiceAcrossARestart(t *testing.T) {
	w := newWorld(t, 0)
	c := newCounting(t, w)
	c.hold = make(chan struct{})
	must(w.Services.Declare(w.ctx, w.admin, "scores", someService(c.URL, 1, w.a, w.b)))(t)
	ids := []crowd.RunID{w.beginOf(w.ann, sharedFlow(""), thingsWithID(3)), w.beginOf(w.bob, sharedFlow(""), thingsWithID(3))}
	w.until(func() bool { return c.calls.Load() == 1 })
	w.reopen()
	w.until(func() bool {
		n := must(w.Runs.Get(w.ctx, w.ann, ids[0]))(t).Nodes[1]
		return n.Service != nil && n.Service.Blocked && n.Service.All.Waiting == 6
	})
	if c.calls.Load() != 1 {
		t.Errorf("%d calls", c.calls.Load())
	}
	close(c.hold) // the call of before ends, and its time
	w.clock.advance(6 * time.Second)
	must(w.Services.Change(w.ctx, w.admin, "scores", (&runs.ServiceEdit{}).Apply))(t) // the clock was put on: it looks again
	w.done(ids...)
	if c.calls.Load() != 7 || c.most.Load() != 1 {
		t.Errorf("%d calls, up to %d at a time; want 7, one by one", c.calls.Load(), c.most.Load())
	}
}

// TestARateOverHTTP: what the service sees keeps the rate, whoever calls.
func TestARateOverHTTP(t *testing.T) {
	w := newWorld(t, 0)
	c := newCounting(t, w)
	e := someService(c.URL, 50, w.a, w.b)
	rate := "50/s"
	e.Rate = &rate
	must(w.Services.Declare(w.ctx, w.admin, "scores", e))(t)
	w.done(w.beginOf(w.ann, sharedFlow(""), thingsWithID(15)), w.beginOf(w.bob, sharedFlow(""), thingsWithID(15)))
	if took := c.at[len(c.at)-1].Sub(c.at[0]); len(c.at) != 30 || took < 29*20*time.Millisecond-15*time.Millisecond {
		t.Errorf("%d calls in %s, want 30 in %s at least", len(c.at), took, 29*20*time.Millisecond)
	}
}

// TestWhatServicesAreShown: a requester sees what their tenants may use, and nothing of
// others but how many calls there are.
func TestWhatServicesAreShown(t *testing.T) {
	w := newWorld(t, 0)
	c := newCounting(t, w)
	c.hold = make(chan struct{})
	must(w.Services.Declare(w.ctx, w.admin, "scores", someService(c.URL, 1, w.a, w.b)))(t)
	must(w.Services.Declare(w.ctx, w.admin, "theirs", someService("http://x", 1, w.b)))(t)
	ids := []crowd.RunID{w.beginOf(w.ann, sharedFlow(""), thingsWithID(2))}
	w.until(func() bool { return c.calls.Load() == 1 })
	ids = append(ids, w.beginOf(w.bob, sharedFlow(""), thingsWithID(3)))
	w.until(func() bool { return must(w.Services.Get(w.ctx, w.admin, "scores"))(t).Waiting == 4 })

	names := func(p *access.Principal) (list []string) {
		for _, v := range must(w.Services.List(w.ctx, p))(t) {
			list = append(list, v.Name)
		}
		return list
	}
	if a, b, all := names(w.ann), names(w.bob), names(w.admin); !slices.Equal(a, []string{"scores"}) || !slices.Equal(b, []string{"scores", "theirs"}) || !slices.Equal(all, b) {
		t.Errorf("ann sees %v, bob %v, the admin %v", a, b, all)
	}
	_, err := w.Services.Get(w.ctx, w.ann, "theirs")
	refused(t, err, crowd.NotFound)
	_, unknown := w.Services.Get(w.ctx, w.ann, "none")
	refused(t, unknown, crowd.NotFound)
	if strings.ReplaceAll(err.Error(), "theirs", "none") != unknown.Error() {
		t.Errorf("who may not use a service learns that it is there: %q, %q", err, unknown)
	}
	v := must(w.Services.Get(w.ctx, w.ann, "scores"))(t)
	if want := map[crowd.TenantID]orchestrator.InLine{w.a: {UnderWay: 1, Waiting: 1}}; v.UnderWay != 1 || v.Waiting != 4 || !maps.Equal(v.ServiceLoad.Tenants, want) || !slices.Equal(v.Service.Tenants, []crowd.TenantID{w.a}) {
		t.Errorf("ann sees %+v", v)
	}
	if v := must(w.Services.Get(w.ctx, w.admin, "scores"))(t); len(v.ServiceLoad.Tenants) != 2 || len(v.Service.Tenants) != 2 {
		t.Errorf("the admin sees %+v", v)
	}
	if n := must(w.Runs.Get(w.ctx, w.bob, ids[1]))(t).Nodes[1].Service; n.Own != (orchestrator.InLine{Waiting: 3}) || n.All != (orchestrator.InLine{UnderWay: 1, Waiting: 4}) {
		t.Errorf("bob's run has %+v", n)
	}
	close(c.hold)
	w.done(ids...)
}

// TestADeclaredServiceIsNoWayInside: its address is subject to the same rule as those that
// steps give themselves.
func TestADeclaredServiceIsNoWayInside(t *testing.T) {
	w := newWorld(t, 0)
	c := newCounting(t, w)
	w.services = nil
	w.reopen()
	v := must(w.Services.Declare(w.ctx, w.admin, "scores", someService(c.URL, 1, w.a)))(t)
	if place := strings.TrimPrefix(c.URL, "http://"); v.Warning != "its calls are refused, as its address is not public; the operator allows it with throng serve --allow-service "+place {
		t.Errorf("the admin is warned: %q", v.Warning)
	}
	checked := must(w.Runs.Check(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: sharedFlow("")}))(t)
	checked.Done()
	id := w.beginOf(w.ann, sharedFlow(""), thingsWithID(1))
	for _, notes := range [][]string{checked.Notes, must(w.Runs.Get(w.ctx, w.ann, id))(t).Notes} {
		if want := "the service scores: " + v.Warning; len(notes) != 1 || notes[0] != want {
			t.Errorf("it is told of %q, want %q", notes, want)
		}
	}
	own := must(w.Runs.Check(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: strings.Replace(sharedFlow(""), "name: scores, path: v1/score,", fmt.Sprintf("url: %q,", c.URL), 1)}))(t)
	own.Done()
	if want := "the step score: " + v.Warning; len(own.Notes) != 1 || own.Notes[0] != want {
		t.Errorf("a step with the address itself is told of %q, want %q", own.Notes, want)
	}
	w.until(func() bool { return must(w.Runs.Get(w.ctx, w.ann, id))(t).Nodes[1].Faults == 1 })
	faults := must(w.Runs.Faults(w.ctx, w.ann, id, 0, 9))(t)
	if len(faults) != 1 || !strings.Contains(faults[0].Error, "it leads to an address that is not public; the operator can allow it") || c.calls.Load() > 0 {
		t.Errorf("%d calls; %+v", c.calls.Load(), faults)
	}
}

// TestBadServices refuses what makes no service, and keeps nothing of it.
func TestBadServices(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	must(w.Services.Declare(w.ctx, w.admin, "scores", someService("https://x.example/v1?key=1", 1, w.a)))(t)
	_, err := w.Services.Declare(w.ctx, w.admin, "scores", someService("https://y.example", 1))
	refused(t, err, crowd.Conflict)
	if known := new(crowd.Error); !errors.As(err, &known) || known.Cause != nil {
		t.Errorf("a name that is taken has a cause for the log: %v", known.Cause)
	}
	_, err = w.Services.Declare(w.ctx, w.admin, "SCORES", someService("https://y.example", 1))
	refused(t, err, crowd.Conflict)
	before := must(w.Services.List(w.ctx, w.admin))(t)
	bad := "soon"
	for field, e := range map[string]runs.ServiceEdit{
		"url":         someService("ftp://x", 1),
		"concurrency": someService("http://x", 0),
		"tenants":     someService("http://x", 1, 99),
		"rate":        {Rate: &bad},
	} {
		for _, do := range []func() error{
			func() error { return second(w.Services.Declare(w.ctx, w.admin, "other", e)) },
			func() error { return second(w.Services.Change(w.ctx, w.admin, "scores", e.Apply)) },
		} {
			err := do()
			refused(t, err, crowd.Invalid)
			if !strings.Contains(err.Error(), field) {
				t.Errorf("the error about %s is %q", field, err)
			}
		}
	}
	for _, url := range []string{"http://\u202eabc/", "http://%E2%80%AEabc/", "http://abc/\u2066x"} {
		_, err := w.Services.Declare(w.ctx, w.admin, "other", someService(url, 1))
		refused(t, err, crowd.Invalid)
	}
	for name, e := range map[string]runs.ServiceEdit{"a b": someService("http://x", 1), "": someService("http://x", 1), "empty": {}, "1x": someService("http://x", 1)} {
		_, err := w.Services.Declare(w.ctx, w.admin, name, e)
		refused(t, err, crowd.Invalid)
	}
	_, err = w.Services.Change(w.ctx, w.admin, "none", (&runs.ServiceEdit{}).Apply)
	refused(t, err, crowd.NotFound)
	refused(t, w.Services.Remove(w.ctx, w.admin, "none"), crowd.NotFound)
	if after := must(w.Services.List(w.ctx, w.admin))(t); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the services are %+v, and were %+v", after, before)
	}
}

// TestACheckKnowsServices: a check refuses what the tenant may not call, and where none is
// named, what none of the caller's may.
func TestACheckKnowsServices(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	must(w.Services.Declare(w.ctx, w.admin, "scores", someService("https://x.example", 1, w.b)))(t)
	both := w.person(accounts.NewUser{Name: "carl", Tenants: []crowd.TenantID{w.a, w.b}})
	for _, c := range []struct {
		by     *access.Principal
		tenant crowd.TenantID
		fine   bool
	}{{w.ann, 0, false}, {w.ann, w.a, false}, {w.bob, 0, true}, {w.bob, w.b, true}, {w.admin, 0, true}, {w.admin, w.a, false}, {both, 0, true}, {both, w.a, false}, {both, w.b, true}} {
		got := must(w.Runs.Check(w.ctx, c.by, orchestrator.NewRun{Tenant: c.tenant, Text: sharedFlow("")}))(t)
		got.Done()
		if fine := len(got.Problems) == 0; fine != c.fine || !fine && !strings.Contains(got.Problems[0].Message, `no service "scores"`) {
			t.Errorf("%s for %s: %+v, want no problem: %v", c.by.User.Name, c.tenant, got.Problems, c.fine)
		}
	}
	_, err := w.Runs.Check(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.b, Text: sharedFlow("")})
	refused(t, err, crowd.NotFound)
}
