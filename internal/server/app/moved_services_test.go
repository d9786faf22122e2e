package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/audit"
	"github.com/throng-dev/throng/internal/server/runs"
	"github.com/throng-dev/throng/internal/store"
)

// keyed is a service that keeps which keys it was sent.
type keyed struct {
	*httptest.Server
	mu   sync.Mutex
	keys []string
}

func newKeyed(t *testing.T) *keyed {
	k := &keyed{}
	k.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		k.mu.Lock()
		k.keys = append(k.keys, r.Header.Get("X-Key"))
		k.mu.Unlock()
		fmt.Fprint(rw, `{"risk": 1}`)
	}))
	t.Cleanup(k.Close)
	return k
}

func (k *keyed) host() string { return strings.TrimPrefix(k.URL, "http://") }

func (k *keyed) sent() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.keys)
}

// withKey is a workflow that sends a secret to the service scores.
func withKey() string {
	return strings.Replace(sharedFlow(""), "name: scores,", `name: scores, headers: {X-Key: "${secret:KEY}"},`, 1)
}

// TestSecretsDoNotFollowAService: once a declared service stands elsewhere than when a run
// began, its secrets go there only if the tenant binds them to the new host, or has a new
// run go on. A restart changes nothing of it.
func TestSecretsDoNotFollowAService(t *testing.T) {
	w := newWorld(t, 0)
	at, other := newKeyed(t), newKeyed(t)
	w.services = append(w.services, at.host(), other.host())
	w.reopen()
	must(w.Services.Declare(w.ctx, w.admin, "scores", someService(at.URL, 1, w.a)))(t)
	secret := func(value string, hosts ...string) {
		t.Helper()
		ok(t, w.Tenants.PutSecret(w.ctx, w.ann, w.a, store.TenantSecret{Name: "KEY", Value: value, Hosts: hosts}))
	}
	secret("k1")
	var id crowd.RunID
	retry := func() {
		t.Helper()
		if items, _, err := w.Runs.Retry(w.ctx, w.ann, id, "score"); err != nil || items != 1 {
			t.Errorf("%d items are retried: %v", items, err)
		}
	}
	made := must(w.Runs.Make(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: withKey(), Open: []string{"things"}}))(t)
	id = made.Run.ID
	must(w.Runs.Load(w.ctx, w.ann, id, "things", file(t, thingsWithID(1))))(t)
	must(w.Runs.Start(w.ctx, w.ann, id, false))(t)
	// Its answer has come, too: of a call that was cut off the capacity is used until its time is up.
	w.until(func() bool { return len(at.sent()) == 1 && must(w.Runs.Get(w.ctx, w.ann, id))(t).Nodes[1].OK == 1 })
	if notes := must(w.Runs.Get(w.ctx, w.ann, id))(t).Notes; len(notes) != 0 {
		t.Errorf("of a service that stays it is told %q", notes)
	}

	must(w.Services.Change(w.ctx, w.admin, "scores", (&runs.ServiceEdit{URL: &other.URL}).Apply))(t)
	w.reopen()
	must(w.Runs.AddRows(w.ctx, w.ann, id, orchestrator.NewRows{Input: "things", File: file(t, "id,thing\n7,seven\n")}))(t)
	w.until(func() bool { return must(w.Runs.Get(w.ctx, w.ann, id))(t).Nodes[1].Faults == 1 })
	want := fmt.Sprintf("the service scores has moved from %s to %s since the run began, and the secret KEY is bound to no host: if it may go there, set it again with the host %s and retry the items, or have a new run go on from this one", at.URL, other.URL, other.host())
	if faults := must(w.Runs.Faults(w.ctx, w.ann, id, 0, 9))(t); len(faults) != 1 || faults[0].Error != want {
		t.Errorf("held: %+v, want %q", faults, want)
	}
	want = fmt.Sprintf("the service scores has moved from %s to %s since the run began: rows go there, and only those secrets that are bound to its host", at.URL, other.URL)
	if notes := must(w.Runs.Get(w.ctx, w.ann, id))(t).Notes; !slices.Equal(notes, []string{want}) {
		t.Errorf("the run tells %q, want %q", notes, want)
	}
	if got := other.sent(); len(got) > 0 {
		t.Fatalf("the new address was sent %q", got)
	}

	// To retry is not to agree: whoever does it may not have read why.
	retry()
	w.until(func() bool { return must(w.Runs.Get(w.ctx, w.ann, id))(t).Nodes[1].Faults == 1 })
	secret("k2", at.host())
	retry()
	w.until(func() bool {
		faults := must(w.Runs.Faults(w.ctx, w.ann, id, 0, 9))(t)
		return len(faults) == 1 && strings.Contains(faults[0].Error, "may not be sent to "+other.host())
	})
	secret("k3", other.host())
	retry()
	w.until(func() bool { return len(other.sent()) == 1 })
	if got := other.sent(); !slices.Equal(got, []string{"k3"}) || len(at.sent()) != 1 {
		t.Errorf("it was sent %q", got)
	}

	// A run that is begun now goes by where the service stands now.
	secret("k4")
	w.done(w.beginOf(w.ann, withKey(), thingsWithID(1)))
	if got := other.sent(); !slices.Equal(got, []string{"k3", "k4"}) {
		t.Errorf("it was sent %q", got)
	}
}

// TestTenantsAreToldOfServices: what is changed of a service stands in the part of the audit
// log of each tenant that may use it before or after, and tells nothing of the others.
func TestTenantsAreToldOfServices(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	last := must(w.store.CheckAudit(w.ctx))(t).Last
	told := func(p *access.Principal, want ...string) {
		t.Helper()
		var got []string
		for _, e := range must(w.Audit.List(w.ctx, p, audit.Filter{AuditFilter: store.AuditFilter{After: max(last, 1), Limit: 100}}))(t) {
			got = append(got, fmt.Sprintf("%s %s %s %s", e.Operation, e.Object, e.Before, e.After))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s is told\n%q, want\n%q", p.User.Name, got, want)
		}
	}
	next := func() { last = must(w.store.CheckAudit(w.ctx))(t).Last }
	change := func(e runs.ServiceEdit) {
		t.Helper()
		must(w.Services.Change(w.ctx, w.admin, "scores", e.Apply))(t)
	}
	must(w.Services.Declare(w.ctx, w.admin, "scores", someService("http://x", 1, w.a)))(t)
	told(w.ann, `Services.Declare scores  {"concurrency":1,"url":"http://x"}`)
	told(w.bob)
	next()
	change(someService("http://y", 1, w.a, w.b))
	told(w.ann, `Services.Change scores {"url":"http://x"} {"url":"http://y"}`)
	told(w.bob, `Services.Change scores  {"concurrency":1,"url":"http://y"}`)
	next()
	change(someService("http://y", 1, w.b))
	told(w.ann, `Services.Change scores {"concurrency":1,"url":"http://y"} `)
	told(w.bob)
	next()
	all, rate := true, "5/s"
	change(runs.ServiceEdit{AllTenants: &all, Tenants: &[]crowd.TenantID{}, Rate: &rate})
	told(w.ann, `Services.Change scores  {"concurrency":1,"rate":"5/s","url":"http://y"}`)
	told(w.bob, `Services.Change scores {} {"rate":"5/s"}`)
	next()
	bad := someService("ftp://z", 1)
	_, err := w.Services.Change(w.ctx, w.admin, "scores", bad.Apply)
	refused(t, err, crowd.Invalid)
	told(w.ann)
	ok(t, w.Services.Remove(w.ctx, w.admin, "scores"))
	told(w.ann, `Services.Remove scores {"concurrency":1,"rate":"5/s","url":"http://y"} `)
	told(w.bob, `Services.Remove scores {"concurrency":1,"rate":"5/s","url":"http://y"} `)
	must(w.store.CheckAudit(w.ctx))(t)
}
