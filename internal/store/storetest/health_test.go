package storetest

import (
	"testing"

	"github.com/throng-dev/throng/internal/store"
)

// testProbe: it can be done again and again, and nothing stays of it.
func testProbe(t *testing.T, w *world) {
	for range 3 {
		ok(t, w.Probe(w.ctx))
	}
	ok(t, w.CheckLedger(w.ctx))
	before := must(w.AuditEntries(w.ctx, store.AuditFilter{Limit: 10}))(t)
	ok(t, w.Probe(w.ctx))
	same(t, "the audit log", must(w.AuditEntries(w.ctx, store.AuditFilter{Limit: 10}))(t), before)
	// What it writes is not taken for a secret.
	if got := must(w.Secret(w.ctx, "probe of the store", "mine"))(t); got != "mine" {
		t.Errorf("the secret is %q", got)
	}
}
