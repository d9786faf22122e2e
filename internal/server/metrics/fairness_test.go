package metrics_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/internal/server/batches"
)

// TestFairnessIsTold: the indexes at the last look, and what each tenant had and was due.
func TestFairnessIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for name := range w.scrape() {
			if strings.Contains(name, "jain") || strings.Contains(name, "tenant_share") {
				t.Errorf("before the first look there is %s", name)
			}
		}
		ok(t, w.Control.Step(w.ctx))
		for range 2 {
			b := must(w.Batches.Create(w.ctx, w.people["ann"], batches.NewBatch{Tenant: w.tenant, Name: "things", Reward: 1000,
				Template: json.RawMessage(`{"kind": "choose_one", "question": "Is ${thing} alive?", "options": ["yes", "no"]}`)}))(t)
			must(w.Batches.Upload(w.ctx, w.people["ann"], b.Spec.ID, strings.NewReader("thing\na dog\na cat\na stone\n"), batches.Upload{}))(t)
			must(w.Batches.Launch(w.ctx, w.people["ann"], b.Spec.ID, false))(t)
		}
		must(w.Work.Next(w.ctx, w.people["one"], 0))(t)
		<-time.After(20 * time.Second)
		ok(t, w.Control.Step(w.ctx))
		w.want(map[string]float64{"pool_jain": 0.5, "pool_j_infinity": math.Inf(-1), "pool_jain_tenants": 1, "pool_had_jain": 1,
			`pool_tenant_share{tenant="n1",tenant_name="ants"}`: 1, `pool_tenant_due_share{tenant="n1",tenant_name="ants"}`: 1})
		must(w.Work.Next(w.ctx, w.people["two"], 0))(t)
		<-time.After(10 * time.Second)
		ok(t, w.Control.Step(w.ctx))
		w.want(map[string]float64{"pool_jain": 1, "pool_j_infinity": -2})
		w.Close()
	})
}
