package orchestrator_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// shared is a workflow of one step, which calls a service that is declared.
const shared = `
workflow: shared
SLA
inputs: {items: {columns: [id]}}
steps:
  call: {from: {items: stream}, service: {name: scores, path: v1/loud, timeout: 20s, expect: 1s, backoff: 1s, response: {type: object, properties: {loud: {type: string}}}}}
`

func sharedFlow(sla string) string { return strings.Replace(shared, "SLA", sla, 1) }

// declare declares the service scores, or another capacity of it.
func (w *world) declare(concurrency int, rate crowd.Rate, tenants ...crowd.TenantID) {
	w.t.Helper()
	x := store.Service{Name: "scores", URL: "https://scores.example/base", Concurrency: concurrency, Rate: rate, Tenants: tenants, CreatedAt: w.now}
	err := w.store.CreateService(w.ctx, x)
	if crowd.CodeOf(err) == crowd.Conflict {
		err = w.store.UpdateService(w.ctx, x)
	}
	must(w.t, err)
	w.o.ServicesChanged()
}

// another makes a further tenant.
func (w *world) another(name string) crowd.TenantID {
	w.t.Helper()
	id, err := w.store.CreateTenant(w.ctx, store.Tenant{Name: name, Weight: 1, CreatedAt: w.now}, 0)
	must(w.t, err)
	return id
}

// startOf starts a run of another tenant.
func (w *world) startOf(tenant crowd.TenantID, text, items string) crowd.RunID {
	w.t.Helper()
	own := w.tenant
	defer func() { w.tenant = own }()
	w.tenant = tenant
	return w.start(text, items)
}

// served has the calls that are open answered, takes each, and lets time go by until
// nothing waits: it returns the tenants in the order of all calls so far.
func (w *world) served(takes time.Duration, most int) []crowd.TenantID {
	w.t.Helper()
	for range 1000 {
		next := w.settle()
		if len(w.open) > most {
			w.t.Fatalf("%d calls under way at %s, the service takes %d", len(w.open), w.now, most)
		}
		switch {
		case len(w.open) > 0:
			w.now = w.now.Add(takes)
			w.endCalls()
		case next.IsZero():
			var order []crowd.TenantID
			for _, a := range w.attempts {
				order = append(order, a.Tenant)
			}
			return order
		default:
			w.now = next
		}
	}
	w.t.Fatal("the service is called without end")
	return nil
}

func ids(n int) string {
	text := "id\n"
	for i := range n {
		text += fmt.Sprintf("%d\n", i+1)
	}
	return text
}

// TestOneProxyForAllTenants: of a service that takes one call at a time, what the tenants
// want goes in one line, in the order of what a delay costs, whoever came first.
func TestOneProxyForAllTenants(t *testing.T) {
	w := newWorld(t)
	w.lag = true
	bees := w.another("bees")
	w.declare(1, crowd.Rate{}, w.tenant, bees)
	cheap := w.start(sharedFlow("sla: {per: item, penalty: staged, after: 1m, every: 1m, cost: 1}"), ids(5))
	w.settle()
	dear := w.startOf(bees, sharedFlow("sla: {per: item, penalty: staged, after: 1m, every: 1m, cost: 100}"), ids(3))
	free := w.start(sharedFlow(""), ids(2))
	order := w.served(time.Second, 1)
	want := []crowd.TenantID{w.tenant, bees, bees, bees, w.tenant, w.tenant, w.tenant, w.tenant, w.tenant, w.tenant}
	if !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
	for _, id := range []crowd.RunID{cheap, dear, free} {
		w.wantState(id, store.RunDone)
	}
	for i, a := range w.attempts {
		if a.Service.URL != "https://scores.example/base/v1/loud" {
			t.Errorf("call %d went to %s", i, a.Service.URL)
		}
	}
	if last := w.attempts[8:]; !strings.HasPrefix(last[0].Call.Key, free.String()) || !strings.HasPrefix(last[1].Call.Key, free.String()) {
		t.Errorf("at the end %s and %s were called, want those of %s, for which nothing is at stake", last[0].Call.Key, last[1].Call.Key, free)
	}
}

// TestTenantsTakeTurns: where nothing tells the calls apart, a tenant with many does not
// keep another waiting until all of them are served.
func TestTenantsTakeTurns(t *testing.T) {
	w := newWorld(t)
	w.lag = true
	bees, cats := w.another("bees"), w.another("cats")
	w.declare(1, crowd.Rate{}, w.tenant, bees, cats)
	w.start(sharedFlow(""), ids(6))
	w.settle()
	w.startOf(bees, sharedFlow(""), ids(2))
	w.startOf(cats, sharedFlow(""), ids(3))
	a, b, c := w.tenant, bees, cats
	if order, want := w.served(time.Second, 1), []crowd.TenantID{a, b, c, a, b, c, a, c, a, a, a}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}

	// With two places, a tenant whose calls take long has one of them, not both.
	w = newWorld(t)
	w.lag = true
	bees = w.another("bees")
	w.declare(2, crowd.Rate{}, w.tenant, bees)
	w.start(sharedFlow(""), ids(4))
	w.startOf(bees, sharedFlow(""), ids(4))
	w.settle()
	for range 3 { // those of bees end, the other does not
		w.open[len(w.open)-1]()
		w.open = w.open[:len(w.open)-1]
		w.settle()
	}
	var order []crowd.TenantID
	for _, a := range w.attempts {
		order = append(order, a.Tenant)
	}
	if want := []crowd.TenantID{w.tenant, bees, bees, bees, bees}; !slices.Equal(order, want) {
		t.Errorf("with two places the order is %v, want %v", order, want)
	}
}

// TestTheOrderFollowsTheResponseTime: the longer a call takes, the further ahead a service
// weighs what its calls are worth, among those of a tenant and between tenants.
func TestTheOrderFollowsTheResponseTime(t *testing.T) {
	for _, own := range []bool{true, false} {
		for _, takes := range []time.Duration{time.Second, 20 * time.Second} {
			w := newWorld(t)
			w.lag = true
			other := w.another("bees")
			if own {
				other = w.tenant
			}
			w.declare(1, crowd.Rate{}, w.tenant, other)
			cheap := w.start(sharedFlow("sla: {penalty: constant, after: 1h, cost: 1}"), ids(2))
			w.settle()
			dear := w.startOf(other, sharedFlow("sla: {penalty: constant, after: 1h0m50s, cost: 1000}"), ids(1))
			w.settle()
			w.now = w.now.Add(takes)
			w.endCalls()
			w.settle()
			want := cheap
			if takes > time.Second {
				want = dear
			}
			if n := len(w.attempts); n != 2 || !strings.HasPrefix(w.attempts[1].Call.Key, want.String()) {
				t.Errorf("own: %t, after a call of %s: of %d calls the last is %s, want one of %s", own, takes, n, w.attempts[n-1].Call.Key, want)
			}
		}
	}
}

// TestServicesLookAhead: of calls that are promised different things a service weighs what they
// cost over the time in which it takes six of them, by its concurrency and its rate, and not
// over one response time alone, which is a second here.
func TestServicesLookAhead(t *testing.T) {
	for _, c := range []struct {
		concurrency int
		rate        crowd.Rate
		later       time.Duration // that the call which costs 1000 times as much is due
		first       bool          // it goes first
	}{
		{1, crowd.Rate{}, 40 * time.Second, true}, // ln 1000 is 6.9: up to 41 s
		{1, crowd.Rate{}, 43 * time.Second, false},
		{3, crowd.Rate{}, 13 * time.Second, true},
		{3, crowd.Rate{}, 15 * time.Second, false},
		{20, crowd.Rate{}, 6 * time.Second, true}, // one response time at least
		{20, crowd.Rate{}, 8 * time.Second, false},
		{20, crowd.Rate{Calls: 6, Per: time.Minute}, 400 * time.Second, true},
		{20, crowd.Rate{Calls: 6, Per: time.Minute}, 430 * time.Second, false},
	} {
		for _, own := range []bool{true, false} {
			w := newWorld(t)
			w.lag = true
			other := w.another("bees")
			if own {
				other = w.tenant
			}
			w.declare(c.concurrency, c.rate, w.tenant, other)
			w.start(sharedFlow("sla: {penalty: constant, after: 2h, cost: 1}"), ids(c.concurrency+1))
			w.settle()
			begun := len(w.attempts)
			expensive := w.startOf(other, sharedFlow(fmt.Sprintf("sla: {penalty: constant, after: %s, cost: 1000}", 2*time.Hour+c.later)), ids(1))
			next := w.settle()
			w.now = w.now.Add(time.Second)
			if next.After(w.now) {
				w.now = next
			}
			w.endCalls()
			w.settle()
			if len(w.attempts) <= begun || strings.HasPrefix(w.attempts[begun].Call.Key, expensive.String()) != c.first {
				t.Errorf("own: %t, %d at a time, %s, due %s later: of %d calls the next is not the expensive one: %t", own, c.concurrency, c.rate, c.later, len(w.attempts), c.first)
			}
		}
	}
}

// TestWhoMayCallAService refuses, by name, what is not declared or not granted, also when
// that is taken away while a run goes.
func TestWhoMayCallAService(t *testing.T) {
	w := newWorld(t)
	bees := w.another("bees")
	refused := func(tenant crowd.TenantID, words string) {
		t.Helper()
		_, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: tenant, Text: sharedFlow("")})
		var problems orchestrator.Problems
		if !errors.As(err, &problems) || len(problems) != 1 || problems[0].Line != 6 || problems[0].Column != 49 || !strings.Contains(problems[0].Message, words) {
			t.Errorf("the error is %v, want one in line 6, column 49, about %q", err, words)
		}
	}
	refused(w.tenant, `there is no service "scores" that this tenant may use, nor any other: an administrator declares scores, and says which tenants may use it, with throng service set scores --url URL`)
	w.declare(1, crowd.Rate{}, bees)
	must(t, w.store.CreateService(w.ctx, store.Service{Name: "other", URL: "https://o.example", Concurrency: 1, AllTenants: true}))
	refused(w.tenant, `there is no service "scores" that this tenant may use, only other`)
	w.startOf(bees, sharedFlow(""), ids(1))
	w.declare(1, crowd.Rate{}, w.tenant)
	refused(bees, `there is no service "scores" that this tenant may use, only other`)

	// It may not any more, when it is to start.
	id := w.load(orchestrator.NewRun{Text: sharedFlow("")}, map[string]string{"items": ids(2)})
	w.declare(1, crowd.Rate{}, bees)
	wantCode(t, w.o.Start(w.ctx, id), crowd.Conflict, `the step call: there is no service "scores" that this tenant may use`)
	w.wantState(id, store.RunLoading)
	w.declare(1, crowd.Rate{}, w.tenant, bees)
	must(t, w.o.Start(w.ctx, id))

	// While it runs: its calls wait, those of others go on, and it goes on when it may again.
	changes := []func(){
		func() { w.declare(1, crowd.Rate{}, bees) },
		func() {
			must(t, w.store.DeleteService(w.ctx, "scores"))
			w.o.ServicesChanged()
		},
	}
	for _, takeAway := range changes {
		takeAway()
		if next := w.settle(); !next.IsZero() || slices.ContainsFunc(w.attempts, func(a orchestrator.Attempt) bool { return a.Tenant == w.tenant }) {
			t.Errorf("calls of a service that may not be used: %+v; next %s", w.attempts, next)
		}
		n := w.node(id, "call")
		if n.Service == nil || n.Service.Wrong == "" || n.Error != n.Service.Wrong || !strings.HasPrefix(n.Error, `there is no service "scores" any more that this tenant may use: calls wait, and go on by themselves when`) || n.Service.Text() != "" {
			t.Errorf("the step's service is %+v, its error %q", n.Service, n.Error)
		}
		if o := w.view(id).Outlook; !o.Median.IsZero() || o.Why != "call: "+n.Error {
			t.Errorf("it is said to end at %s: %q", o.Median, o.Why)
		}
		slow, err := w.o.SlowestItems(w.ctx, 0, id, 5)
		must(t, err)
		if len(slow) != 2 || slow[0].Why != n.Error || !slow[0].Ends.IsZero() {
			t.Errorf("its items: %+v", slow)
		}
	}
	w.declare(1, crowd.Rate{}, w.tenant)
	w.play()
	w.wantState(id, store.RunDone)
	w.want(id, "call", "1,1!", "2,2!")
}

// TestAPathStaysBelow the address of its service, also at servers that drop what follows a ;.
func TestAPathStaysBelow(t *testing.T) {
	w := newWorld(t)
	w.declare(1, crowd.Rate{}, w.tenant)
	for path, good := range map[string]bool{"a;b/x": true, "a..;b/x": true, "a;b/..;/x": false, "..;x=1": false, "a/%2e%2e%3b/x": false, ".;/x": false, "a/../x": false} {
		_, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: strings.Replace(sharedFlow(""), "path: v1/loud", "path: \""+path+"\"", 1)})
		if good && err != nil || !good && (err == nil || !strings.Contains(err.Error(), "leads out of the service")) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestNamesOfRuns have nothing that disguises, whether they are given or the workflow's.
func TestNamesOfRuns(t *testing.T) {
	w := newWorld(t)
	const text = "workflow: %q\ninputs: {items: {columns: [id]}}\nsteps:\n  every: {from: items, sql: select id from items}\n"
	for name, good := range map[string]bool{"José 李": true, strings.Repeat("李", 200): true, "a\u202eb": false, "a\x00": false, "\x1b[1m": false, "a\xff": false} {
		_, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: fmt.Sprintf(text, "w"), Name: name})
		if (err == nil) != good || !good && !strings.Contains(err.Error(), "name: ") {
			t.Errorf("%q: %v", name, err)
		}
	}
	_, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: fmt.Sprintf(text, "a\u202eb")})
	wantCode(t, err, crowd.Invalid, "the name has a character that cannot be seen")
}

// TestTheLoadOfAService: a run's page tells how many calls there are in all, and no more
// about those of other tenants.
func TestTheLoadOfAService(t *testing.T) {
	w := newWorld(t)
	w.lag = true
	bees := w.another("bees")
	w.declare(3, crowd.Rate{Calls: 1000, Per: time.Second}, w.tenant, bees)
	mine := w.start(sharedFlow(""), ids(4))
	theirs := w.startOf(bees, sharedFlow(""), ids(5))
	for len(w.open) < 3 {
		if next := w.settle(); next.After(w.now) {
			w.now = next
		}
	}
	w.now = w.now.Add(time.Second) // the rate allows the next call, but there is no room
	for id, want := range map[crowd.RunID]string{
		mine:   "service scores: 3 of 3 calls under way, 2 of them this tenant's; 6 wait, 2 of them this tenant's; at most 1000/s",
		theirs: "service scores: 3 of 3 calls under way, 1 of them this tenant's; 6 wait, 4 of them this tenant's; at most 1000/s",
	} {
		if got := w.node(id, "call").Service.Text(); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	loads := w.o.ServiceLoads()
	if x := loads["scores"]; len(loads) != 1 || x.UnderWay != 3 || x.Waiting != 6 || x.Tenants[bees] != (orchestrator.InLine{UnderWay: 1, Waiting: 4}) {
		t.Errorf("the loads are %+v", loads)
	}
	// Whoever may not use it any more sees their own calls alone, and as much of a service
	// that was removed.
	for what, change := range map[string]func(){
		"granted to others": func() { w.declare(3, crowd.Rate{Calls: 1, Per: time.Hour}, bees) },
		"removed": func() {
			must(t, w.store.DeleteService(w.ctx, "scores"))
			w.o.ServicesChanged()
		},
	} {
		change()
		w.settle()
		own := orchestrator.InLine{UnderWay: 2, Waiting: 2}
		x := *w.node(mine, "call").Service
		if want := (orchestrator.NodeService{Name: "scores", Wrong: x.Wrong, Own: own, All: own, At: w.now}); x != want || x.Wrong == "" {
			t.Errorf("%s: %+v, want %+v", what, x, want)
		}
	}
	w.declare(4, crowd.Rate{}, w.tenant, bees) // takes effect at once
	w.settle()
	if len(w.open) != 4 {
		t.Errorf("%d calls under way, want 4", len(w.open))
	}
	w.served(time.Second, 4)
	w.wantState(mine, store.RunDone)
	w.wantState(theirs, store.RunDone)
}

// TestWhatIsHeldDoesNotGoOn by itself when a service is given back, and nothing promises it.
func TestWhatIsHeldDoesNotGoOn(t *testing.T) {
	w := newWorld(t)
	bees := w.another("bees")
	w.declare(1, crowd.Rate{}, w.tenant)
	w.service = func(orchestrator.Attempt) (httpstep.Reply, error) {
		return httpstep.Reply{}, &httpstep.Failure{Reason: httpstep.Status, StatusCode: 404, Message: "no"}
	}
	id := w.load(orchestrator.NewRun{Text: strings.Replace(sharedFlow(""), "{columns: [id]}", "{columns: [id], open: true}", 1)}, nil)
	must(t, w.o.Start(w.ctx, id))
	add := func(rows string) {
		t.Helper()
		_, err := w.o.AddRows(w.ctx, id, orchestrator.NewRows{Input: "items", File: csv(t, rows)})
		must(t, err)
		w.play()
	}
	add(ids(2))
	w.declare(1, crowd.Rate{}, bees)
	w.play()
	const promise = "go on by themselves when"
	v := w.view(id)
	if got := v.Blocked(1); v.Nodes[1].Faults != 2 || !v.Stuck || strings.Contains(got, promise) || !strings.Contains(got, "2 items, all that is left here, held after an error") || v.Nodes[1].Error != got {
		t.Errorf("stuck: %t, all is held: %q, %q", v.Stuck, got, v.Nodes[1].Error)
	}
	add("id\n3\n")
	if got := w.view(id).Blocked(1); !strings.Contains(got, promise) || !strings.HasSuffix(got, ", but for 2 items held after an error") {
		t.Errorf("some is held: %q", got)
	}
	w.declare(1, crowd.Rate{}, w.tenant)
	w.service = func(orchestrator.Attempt) (httpstep.Reply, error) {
		return httpstep.Reply{Values: []string{"loud"}}, nil
	}
	w.play()
	if n := w.node(id, "call"); n.OK != 1 || n.Faults != 2 {
		t.Errorf("given back, %d went on and %d are held, want 1 and 2", n.OK, n.Faults)
	}
}
