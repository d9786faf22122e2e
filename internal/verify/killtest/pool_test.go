package killtest_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/verify/process"
	"github.com/throng-dev/throng/internal/wire"
)

// TestAPoolSurvivesAKill: what a real server knows of a pool when it is killed, it
// knows when it has started again: the speed of its people, who is coming, and what
// somebody on duty has earned.
func TestAPoolSurvivesAKill(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cfg := process.Config{Data: t.TempDir()}
	site, err := load.Start(ctx, cfg)
	must(err)
	defer func() { site.Kill() }()
	admin := site.Admin
	detail := func(wanted func(wire.PoolDetail) bool) (d wire.PoolDetail) {
		t.Helper()
		again := time.NewTicker(50 * time.Millisecond)
		defer again.Stop()
		for {
			d, err := admin.PoolDetail(ctx, site.Pool)
			must(err)
			if wanted(d) {
				return d
			}
			select {
			case <-again.C:
			case <-ctx.Done():
				t.Fatalf("it does not come: %+v", d)
			}
		}
	}
	called, rate, three, silence := true, 100*crowd.Unit, "static(n=3)", 0.0
	_, err = admin.EditPool(ctx, site.Pool, wire.PoolEdit{PoolSettings: wire.PoolSettings{
		Retainer: &wire.Retainer{Called: &called, Rate: &rate, SilenceSeconds: &silence}, Control: &wire.Control{Elasticity: &three}}})
	must(err)
	_, err = admin.FundPool(ctx, site.Pool, 10_000*crowd.Unit)
	must(err)
	workers, err := site.AddWorkers(ctx, 3, func(i int) (string, crowd.PoolID) { return []string{"ann", "ben", "cyd"}[i], site.Pool })
	must(err)
	tenant, err := site.AddTenant(ctx, "acme", 1, 100*crowd.Unit, "")
	must(err)
	detail(func(d wire.PoolDetail) bool { return d.Coming == 3 })
	ann := workers[0].Client(site.URL)
	_, err = ann.StartDuty(ctx)
	must(err)
	const tasks = 8
	work, _, err := ann.Next(ctx, time.Second) // nothing is there: a second of waiting is paid
	if err != nil || work != nil {
		t.Fatal(work, err)
	}
	batch, err := site.AddBatch(ctx, wire.NewBatch{Tenant: tenant, BatchTerms: wire.BatchTerms{Name: "cats", Template: wire.Template(`{"kind": "short_text", "question": "What?"}`), RewardMicros: 1000}},
		strings.NewReader("name\n"+strings.Repeat("tom\n", tasks)), tasks)
	must(err)
	_, err = admin.Launch(ctx, batch, true)
	must(err)
	for range tasks {
		work, _, err := ann.Next(ctx, time.Minute)
		must(err)
		_, _, err = ann.Submit(ctx, work.Assignment, json.RawMessage(`{"label": "x"}`), false, 0)
		must(err)
	}
	was := detail(func(d wire.PoolDetail) bool { return d.Metrics != nil && d.Metrics.Mu != nil && d.Metrics.Queue == 0 })
	steps := 0 // in which all is seen, and kept
	for at := was.At; steps < 3; steps++ {
		was = detail(func(d wire.PoolDetail) bool { return d.At.After(at) })
		at = was.At
	}
	earned := duty(t, ctx, ann).Earned
	if earned < crowd.Unit || was.Coming != 2 {
		t.Fatalf("ann has earned %s, %d are coming", earned, was.Coming)
	}

	site.Kill()
	server, err := process.Start(ctx, cfg)
	must(err)
	site.Server = server
	admin = &client.Client{URL: server.URL, Token: admin.Token, HTTP: admin.HTTP}
	now := detail(func(d wire.PoolDetail) bool { return d.Metrics != nil })
	if now.Metrics.Mu == nil || *now.Metrics.Mu != *was.Metrics.Mu || now.Coming != 2 || now.OnDuty != 1 || now.Metrics.Throughput == 0 || now.Metrics.Recruitment == nil {
		t.Errorf("%+v, %d coming\nbefore %+v, %d coming", now.Metrics, now.Coming, was.Metrics, was.Coming)
	}
	if v := duty(t, ctx, workers[0].Client(server.URL)); v.Earned != earned || !v.On {
		t.Errorf("ann has earned %s, before %s", v.Earned, earned)
	}
}

func duty(t *testing.T, ctx context.Context, c *client.Client) wire.Duty {
	t.Helper()
	d, err := c.Duty(ctx, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
