package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
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

// TestWhatPassesAQuotaIsRefused: each kind by its status, with which quota it is, how much
// is used and wanted, and nothing is kept.
func TestWhatPassesAQuotaIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	draft := must(w.ann.CreateBatch(w.ctx, definition()))(t).ID
	upload := func(rows int) answer {
		return w.send(w.ann, http.MethodPut, "/v1/batches/"+draft.String()+"/tasks", "thing\n"+strings.Repeat("12345678\n", rows), "Content-Type", "text/csv")
	}
	token := func() answer { return w.send(w.ann, http.MethodPost, "/v1/tokens", `{"name": "x"}`) }
	for _, x := range []struct {
		quota  string
		value  int64
		do     func() answer
		status int
		code   crowd.Code
	}{
		{"upload-bytes", 100, func() answer { return upload(20) }, http.StatusRequestEntityTooLarge, crowd.TooLarge},
		{"uploaded-bytes-per-day", 400, func() answer { return upload(100) }, http.StatusTooManyRequests, crowd.TooMany},
		{"stored-bytes", w.quota("stored-bytes").Used + 50, func() answer { return upload(20) }, http.StatusInsufficientStorage, crowd.StorageFull},
		{"open-tasks", 19, func() answer { return upload(20) }, http.StatusForbidden, crowd.QuotaExceeded},
		{"tokens", w.quota("tokens").Used, token, http.StatusForbidden, crowd.QuotaExceeded},
		{"uploads", 0, func() answer { return upload(1) }, http.StatusTooManyRequests, crowd.TooMany},
	} {
		if x.quota == "uploads" && testing.Short() {
			continue // it waits for ten seconds
		}
		w.limit(x.quota, x.value)
		a := x.do()
		p := a.problem(t)
		if q := p.Quota; a.StatusCode != x.status || p.Code != x.code || q == nil || q.Quota != x.quota || q.Tenant != w.a || q.Value != x.value || q.Wanted <= 0 || q.Used+q.Wanted <= q.Value || q.RaisedBy != "admin" || !strings.Contains(p.Detail, x.quota) {
			t.Errorf("%s: %d %s %q %+v", x.quota, a.StatusCode, p.Code, p.Detail, q)
		}
		if n := must(w.ann.Batch(w.ctx, draft))(t).Tasks; n != 0 {
			t.Errorf("%s: %d tasks are kept", x.quota, n)
		}
		must(w.admin.SetQuotas(w.ctx, w.a, map[string]*int64{x.quota: nil}))(t)
	}
	must(w.ann.Upload(w.ctx, draft, strings.NewReader("thing\na\n"), "csv", false))(t)
	if q := w.quota("uploaded-bytes-per-day"); q.Used < 8 {
		t.Errorf("after an upload: %+v", q)
	}
	if err := w.store.CheckUsage(w.ctx); err != nil {
		t.Error(err)
	}
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
