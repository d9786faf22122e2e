package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

// quota is what a tenant's quotas say of one.
func (w *world) quota(name string) wire.Quota {
	w.t.Helper()
	for _, q := range must(w.ann.Quotas(w.ctx, w.a))(w.t).Quotas {
		if q.Quota == name {
			return q
		}
	}
	w.t.Fatalf("there is no quota %s", name)
	return wire.Quota{}
}

// limit sets a quota of ann's tenant.
func (w *world) limit(name string, value int64) {
	w.t.Helper()
	must(w.admin.SetQuotas(w.ctx, w.a, map[string]*int64{name: &value}))(w.t)
}

// TestQuotasAreSeenAndSet: by administrators only, and names and values are checked.
func TestQuotasAreSeenAndSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.limit("tokens", 7)
	if q := w.quota("tokens"); q.Value != 7 || !q.Set || q.Default == 7 || q.Kind != "kept" || q.Unit != "number" || q.Bounds == "" {
		t.Errorf("set to 7: %+v", q)
	}
	must(w.admin.SetQuotas(w.ctx, w.a, map[string]*int64{"tokens": nil}))(t)
	if q := w.quota("tokens"); q.Value != q.Default || q.Set {
		t.Errorf("the default again: %+v", q)
	}
	seven := int64(7)
	_, err := w.ann.SetQuotas(w.ctx, w.a, map[string]*int64{"tokens": &seven})
	refused(t, err, crowd.Forbidden)
	_, err = w.bob.Quotas(w.ctx, w.a)
	refused(t, err, crowd.NotFound)
	for name, value := range map[string]int64{"none": 1, "tokens": -1, "upload-bytes": 1 << 60} {
		_, err = w.admin.SetQuotas(w.ctx, w.a, map[string]*int64{name: &value, "members": &seven})
		refused(t, err, crowd.Invalid)
	}
	if q := w.quota("members"); q.Set || q.Used != 1 {
		t.Errorf("after requests that were refused, and with one member: %+v", q)
	}
}

// passing is what passes a quota.
type passing struct {
	value  int64 // of the quota
	status int
	code   crowd.Code
	do     []func() answer // each of which passes it
}

// refusesNoRequest are the quotas of what runs do by themselves, each with the test in package app
// that passes it.
var refusesNoRequest = map[store.Quota]string{
	store.QueryTimeDaily: "TestTimeOfQueriesOfADay", store.QueryTime: "TestTimeOfOneQuery",
	store.ServiceCalls: "TestCallsOfServicesOfADay", store.Queries: "TestQueriesOfATenantAtOnce",
}

// passings is what passes each quota of ann's tenant that refuses requests, and a draft of hers
// that stays empty.
func (w *world) passings() (map[store.Quota]passing, crowd.BatchID) {
	w.t.Helper()
	draft := must(w.ann.CreateBatch(w.ctx, definition()))(w.t).ID
	own, others := w.workers[0], w.workers[1]
	serveAlone := func(worker *client.Client) func() answer {
		id := must(worker.Me(w.ctx))(w.t).ID
		return func() answer {
			return w.send(w.admin, http.MethodPatch, "/v1/users/"+id.String(), `{"serves": ["n1"]}`)
		}
	}
	into[wire.User](w.t, serveAlone(own)())
	open := w.invite(w.ann, "open@example.org").Invited[0].ID
	as := func(c *client.Client, method, path, body string, header ...string) func() answer {
		return func() answer { return w.send(c, method, path, body, header...) }
	}
	post := func(c *client.Client, path, body string) func() answer { return as(c, http.MethodPost, path, body) }
	get := func(path string) func() answer { return as(w.ann, http.MethodGet, path, "") }
	upload := func(rows int) []func() answer {
		return []func() answer{as(w.ann, http.MethodPut, "/v1/batches/"+draft.String()+"/tasks", "thing\n"+strings.Repeat("12345678\n", rows), "Content-Type", "text/csv")}
	}
	used := func(q store.Quota) int64 { return w.quota(string(q)).Used }
	batch := post(w.ann, "/v1/batches", string(must(json.Marshal(definition()))(w.t)))
	run := post(w.ann, "/v1/runs", string(must(json.Marshal(wire.NewRun{Workflow: ourFlow}))(w.t)))
	invite := func(n int) func() answer {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("person%d@example.org", i)
		}
		return post(w.ann, "/v1/invitations", `{"pool": "p1", "addresses": `+string(must(json.Marshal(list))(w.t))+`}`)
	}
	forbidden := func(value int64, do ...func() answer) passing {
		return passing{value, http.StatusForbidden, crowd.QuotaExceeded, do}
	}
	tooMany := func(value int64, do ...func() answer) passing {
		return passing{value, http.StatusTooManyRequests, crowd.TooMany, do}
	}
	return map[store.Quota]passing{
		store.StoredBytes:      {used(store.StoredBytes) + 50, http.StatusInsufficientStorage, crowd.StorageFull, upload(20)},
		store.OpenBatches:      forbidden(used(store.OpenBatches), batch),
		store.OpenTasks:        forbidden(19, upload(20)...),
		store.OpenRuns:         forbidden(0, run),
		store.Members:          forbidden(1, post(w.admin, "/v1/users", `{"name": "mia", "tenants": ["n1"]}`)),
		store.OwnWorkers:       forbidden(1, serveAlone(others)),
		store.OpenInvitations:  forbidden(700, invite(1200)), // of which the first transaction would keep 500
		store.APITokens:        forbidden(used(store.APITokens), post(w.ann, "/v1/tokens", `{"name": "x"}`)),
		store.PushEndpoints:    forbidden(0, post(own, "/v1/push-subscriptions", subscription)),
		store.SecretsKept:      forbidden(0, as(w.ann, http.MethodPut, "/v1/tenants/n1/secrets/KEY", `{"value": "x"}`)),
		store.InvitationsDaily: tooMany(used(store.InvitationsDaily), invite(1), post(w.ann, fmt.Sprintf("/v1/invitations/%d/resend", open), "")),
		store.UploadedDaily:    tooMany(used(store.UploadedDaily)+400, upload(100)...),
		store.UploadSize:       {100, http.StatusRequestEntityTooLarge, crowd.TooLarge, upload(20)},
		store.Uploads:          tooMany(0, upload(1)...),
		store.Downloads:        tooMany(0, get("/v1/batches/"+draft.String()+"/labels")),
		store.LongLists:        tooMany(0, get("/v1/audit")),
		store.RequestMemory:    tooMany(0, post(w.ann, "/v1/batches", strings.Repeat(" ", 1<<20))),
		store.EventStreams:     tooMany(0, get("/v1/batches/"+draft.String()+"/events")),
	}, draft
}

// TestWhatPassesAQuotaIsRefused: each quota that there is, by its status, with which quota it is,
// how much is used and wanted; nothing is kept, and nothing of any quota is used up.
func TestWhatPassesAQuotaIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) {
			s.senders.Push = func(context.Context, store.Subscription, []byte, time.Duration) error { return nil }
		})
		passings, draft := w.passings()
		usage := func() map[string]int64 {
			all := make(map[string]int64)
			for _, q := range must(w.admin.Quotas(w.ctx, w.a))(t).Quotas {
				all[q.Quota] = q.Used
			}
			return all
		}
		elsewhere := string(must(os.ReadFile("../app/quotas_test.go"))(t))
		for _, info := range store.AllQuotas() {
			name := string(info.Quota)
			if test, none := refusesNoRequest[info.Quota]; none {
				if !strings.Contains(elsewhere, "func "+test+"(") {
					t.Errorf("%s: there is no %s in package app", name, test)
				}
				continue
			}
			x, there := passings[info.Quota]
			if !there {
				t.Errorf("nothing passes %s: add what does to passings", name)
				continue
			}
			w.limit(name, x.value)
			before := usage()
			for i, do := range x.do {
				a := do()
				p := a.problem(t)
				if q := p.Quota; a.StatusCode != x.status || p.Code != x.code || q == nil || q.Quota != name || q.Tenant != w.a || q.Value != x.value || q.Wanted <= 0 || q.Used+q.Wanted <= q.Value || q.RaisedBy != "admin" || !strings.Contains(p.Detail, name) {
					t.Errorf("%s, %d: %d %s %q %+v", name, i, a.StatusCode, p.Code, p.Detail, q)
				}
			}
			after := usage()
			if came := after["uploaded-bytes-per-day"] - before["uploaded-bytes-per-day"]; came >= 0 && came < 1000 && info.Quota != store.UploadedDaily && info.Quota != store.UploadSize {
				after["uploaded-bytes-per-day"] -= came // what came has come, whatever is kept of it
			}
			if !maps.Equal(before, after) {
				t.Errorf("%s: what was refused has used up something: %v, before %v", name, after, before)
			}
			if n := must(w.ann.Batch(w.ctx, draft))(t).Tasks; n != 0 {
				t.Errorf("%s: %d tasks are kept", name, n)
			}
			must(w.admin.SetQuotas(w.ctx, w.a, map[string]*int64{name: nil}))(t)
		}
		must(w.ann.Upload(w.ctx, draft, strings.NewReader("thing\na\n"), "csv", false))(t)
		if q := w.quota("uploaded-bytes-per-day"); q.Used < 8 {
			t.Errorf("after an upload: %+v", q)
		}
		if err := w.store.CheckUsage(w.ctx); err != nil {
			t.Error(err)
		}
	})
}

// TestDailyQuotasOutliveARestart: what was uploaded is known to the next server.
func TestDailyQuotasOutliveARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	draft := must(w.ann.CreateBatch(w.ctx, definition()))(t).ID
	must(w.ann.Upload(w.ctx, draft, strings.NewReader("thing\nabc\n"), "csv", false))(t)
	w.app.Close() // keeps them
	list := must(w.store.DailyUsage(w.ctx))(t)
	if len(list) != 1 || list[0].Tenant != w.a || list[0].Used != int64(len("thing\nabc\n")) {
		t.Errorf("kept: %+v", list)
	}
}
