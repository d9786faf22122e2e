package web

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/store"
)

// TestFairnessInChromium: two tenants share a pool that takes no heed of them, and then
// one that does. The pool's page shows it, follows it, and has the queue.
func TestFairnessInChromium(t *testing.T) {
	chrome := startChromium(t)
	c := newCompany(t, 6)
	ctx, boss := t.Context(), c.boss.principal()
	policy := func(text string) {
		if _, err := c.app.Pools.Change(ctx, boss, 1, func(now *store.Pool) error { now.Policy = text; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	policy("fs")
	other, err := c.app.Tenants.Create(ctx, boss, accounts.NewTenant{Name: "Bees", Weight: 1, Deposit: 100_000_000})
	if err != nil {
		t.Fatal(err)
	}
	launch := func(n batches.NewBatch) batches.BatchView {
		n.Reward, n.Template = 1000, json.RawMessage(`{"kind": "choose_one", "question": "Is ${n} odd?", "options": ["yes", "no"]}`)
		b, err := c.app.Batches.Create(ctx, boss, n)
		if err == nil {
			_, err = c.app.Batches.Upload(ctx, boss, b.Spec.ID, strings.NewReader("n\n"+strings.Repeat("7\n", 400)), batches.Upload{})
		}
		if err != nil {
			t.Fatal(err)
		}
		v, err := c.app.Batches.Launch(ctx, boss, b.Spec.ID, false)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, name := range []string{"Reviews", "Photos", "Names"} {
		launch(batches.NewBatch{Tenant: 1, Name: name})
	}
	last := launch(batches.NewBatch{Tenant: other.ID, Name: "Flowers week 47", Priority: 2})
	holds := make([]*work.HeldTask, len(c.workers))
	play := func(steps int) {
		for step := range steps {
			for i, b := range c.workers {
				p := b.principal()
				if holds[i] != nil && (step+i)%3 == 0 {
					if _, _, err := c.app.Work.Submit(ctx, p, holds[i].Assignment, json.RawMessage(`"yes"`), false, 0); err != nil {
						t.Fatal(err)
					}
					holds[i] = nil
				}
				if holds[i] == nil {
					if holds[i], err = c.app.Work.Next(ctx, p, 0); err != nil {
						t.Fatal(err)
					}
				}
			}
			c.step(10 * time.Second)
		}
	}
	c.step(time.Second)
	play(90)
	policy("tenant-fair(wfs)")
	play(90)

	w := c.window(t, chrome, "admin")
	w.open("/admin/pools/p1")
	w.says("Who gets what")
	w.says("had the least of what it was due")
	w.says("Share of the tenants, less what is due")
	w.says("least tenant share first")
	w.says("4 batches of 4 have something to hand out")
	w.shots("pool-fairness")
	w.stays()
	play(6)
	if _, err := c.app.Batches.Pause(ctx, boss, last.Spec.ID); err != nil {
		t.Fatal(err)
	}
	w.says("3 batches of 4 have something to hand out")
	w.stayed()
	w.quiet()

	r := c.window(t, chrome, "rita")
	r.open("/batches/b1")
	r.until(`/^In the queue of main, .*: (first|place 2|last) of 3\.$/.test(document.getElementById("place").textContent)`)
	r.shots("batch-place")
	r.quiet()
}
