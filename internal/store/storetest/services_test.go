package storetest

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

func testServices(t *testing.T, w *world) {
	full := store.Service{
		Name: "scores", URL: "https://scores.example/<1>?a=ü", Concurrency: 3, Rate: crowd.Rate{Calls: 7, Per: time.Minute},
		Tenants: []crowd.TenantID{w.mine, w.other}, CreatedAt: w.now, Used: store.ServiceUse{Next: w.now.Add(time.Second), Ends: w.now.Add(time.Microsecond)},
	}
	open := store.Service{Name: "Open", URL: "http://x", Concurrency: 1, AllTenants: true}
	ok(t, w.CreateService(w.ctx, full))
	ok(t, w.CreateService(w.ctx, open))
	look := func(want ...store.Service) {
		t.Helper()
		same(t, "the list", must(w.ListServices(w.ctx))(t), want)
		for _, x := range want {
			same(t, x.Name, must(w.Service(w.ctx, x.Name))(t), x)
		}
	}
	look(open, full)
	for tenant, may := range map[crowd.TenantID]bool{w.mine: true, w.other: true, 99: false, 0: false} {
		if got := must(w.Service(w.ctx, "scores"))(t); got.Allows(tenant) != may || !open.Allows(tenant) {
			t.Errorf("%s may use it: %v, the open one: %v", tenant, got.Allows(tenant), open.Allows(tenant))
		}
	}

	w.unchanged(t, func() {
		refused(t, w.CreateService(w.ctx, store.Service{Name: "scores", URL: "http://y", Concurrency: 1}), crowd.Conflict)
		for _, name := range []string{"", "none", "SCORES"} {
			_, err := w.Service(w.ctx, name)
			refused(t, err, crowd.NotFound)
			refused(t, w.UpdateService(w.ctx, store.Service{Name: name, Concurrency: 1}), crowd.NotFound)
			refused(t, w.DeleteService(w.ctx, name), crowd.NotFound)
			ok(t, w.UseService(w.ctx, name, store.ServiceUse{Next: w.now}))
		}
	})

	full.URL, full.Concurrency, full.Rate, full.Tenants, full.AllTenants = "http://z", 9, crowd.Rate{}, nil, true
	change := full
	change.CreatedAt, change.Used = time.Time{}, store.ServiceUse{} // not for the caller to change
	ok(t, w.UpdateService(w.ctx, change))
	look(open, full)
	full.Used = store.ServiceUse{Next: w.now.Add(time.Hour)}
	ok(t, w.UseService(w.ctx, "scores", full.Used))
	look(open, full)

	ok(t, w.DeleteService(w.ctx, "scores"))
	refused(t, w.DeleteService(w.ctx, "scores"), crowd.NotFound)
	look(open)
	used := store.ServiceUse{Next: w.now.Add(2 * time.Hour), Ends: w.now.Add(time.Minute)}
	ok(t, w.UseService(w.ctx, "scores", used)) // by calls that go on
	again := store.Service{Name: "scores", URL: "http://y", Concurrency: 1}
	ok(t, w.CreateService(w.ctx, again))
	again.Used = used
	look(open, again)
	ok(t, w.DeleteService(w.ctx, "scores"))
	ok(t, w.CreateService(w.ctx, store.Service{Name: "scores", URL: "http://y", Concurrency: 1}))
	look(open, again)
}
