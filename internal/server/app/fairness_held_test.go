package app_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/server/work"
)

// TestABatchThatComesBackIsCountedOnce: paused with nobody at it, it leaves the count.
func TestABatchThatComesBackIsCountedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.clock.halt()
	w.step(time.Second)
	id := w.launch(10, of(w.a, 1))
	h := w.next(w.workers[0])
	w.step(120 * time.Second)
	must(w.submit(w.workers[0], h.Assignment, yes))(t)
	must(w.Batches.Pause(w.ctx, w.ann, id))(t)
	w.step(10 * time.Second)
	w.step(10 * time.Second)
	must(w.Batches.Resume(w.ctx, w.ann, id))(t)
	w.step(10 * time.Second)
	w.step(60 * time.Second)
	v := w.fairness(w.admin)
	if len(v.Tenants) != 1 || v.Tenants[0].Worked != 2*time.Minute || len(v.Batches) != 1 || v.Batches[0].Worked != 2*time.Minute || v.Batches[0].Share != 1 {
		t.Errorf("tenants %+v, batches %+v", v.Tenants, v.Batches)
	}
}

// TestWhatABatchDidLastIsCounted, also of one that no look has seen.
func TestWhatABatchDidLastIsCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.clock.halt()
	w.step(time.Second)
	id := w.launch(1, of(w.a, 1))
	h := w.next(w.workers[0])
	w.step(10 * time.Second)
	w.clock.advance(9 * time.Second)
	must(w.submit(w.workers[0], h.Assignment, yes))(t)
	if state := w.batch(id).Progress.State; state.Open() {
		t.Fatalf("the batch is %s", state)
	}
	w.step(time.Second)
	w.step(10 * time.Second)
	brief := w.launch(1, of(w.a, 1))
	h = w.next(w.workers[0])
	w.clock.advance(3 * time.Second)
	must(w.submit(w.workers[0], h.Assignment, yes))(t)
	w.step(7 * time.Second)
	w.step(10 * time.Second)
	v := w.fairness(w.admin)
	if len(v.Batches) != 2 || v.Batches[0].Batch != id || v.Batches[0].Worked != 19*time.Second || v.Batches[1].Batch != brief || v.Batches[1].Worked != 3*time.Second || v.Batches[1].Due != 3*time.Second ||
		len(v.Tenants) != 1 || v.Tenants[0].Worked != 22*time.Second || v.Tenants[0].Due != 22*time.Second {
		t.Errorf("tenants %+v, batches %+v", v.Tenants, v.Batches)
	}
}

// TestBatchesHaveWhatTheirTenantHas, also of those that are paused, resumed, cancelled or
// done.
func TestBatchesHaveWhatTheirTenantHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5)
	w.clock.halt()
	w.policy("fs")
	w.step(time.Second)
	r := rand.New(rand.NewPCG(7, 8))
	var ids []crowd.BatchID
	hands := map[*access.Principal]*work.HeldTask{}
	for range 300 {
		w.clock.advance(time.Duration(r.IntN(9_000)) * time.Millisecond)
		p := w.workers[r.IntN(len(w.workers))]
		id := crowd.BatchID(0)
		if len(ids) > 0 {
			id = ids[r.IntN(len(ids))]
		}
		switch what := r.IntN(12); { // most of it is refused now and then, as it should
		case id == 0 || what == 0:
			ids = append(ids, w.launch(1+r.IntN(4), of([]crowd.TenantID{w.a, w.b}[r.IntN(2)], 1)))
		case what == 1:
			_, _ = w.Batches.Pause(w.ctx, w.admin, id)
		case what < 4:
			_, _ = w.Batches.Resume(w.ctx, w.admin, id)
		case what == 4 && r.IntN(4) == 0:
			_, _ = w.Batches.Cancel(w.ctx, w.admin, id)
		case hands[p] != nil:
			_, _ = w.submit(p, hands[p].Assignment, yes)
			delete(hands, p)
		default:
			if task := must(w.Work.Next(w.ctx, p, 0))(t); task != nil {
				hands[p] = task
			}
		}
		if r.IntN(2) == 0 {
			w.step(10 * time.Second)
			v := w.fairness(w.admin)
			worked := map[crowd.TenantID]time.Duration{}
			for _, b := range v.Batches {
				worked[b.Tenant] += b.Worked
			}
			for _, p := range v.Tenants {
				if worked[p.Tenant] != p.Worked {
					t.Fatalf("tenant %s had %s, its batches %s", p.Tenant, p.Worked, worked[p.Tenant])
				}
			}
		}
	}
	if v := w.fairness(w.admin); len(v.Batches) < 10 || v.Worked < 10*time.Minute {
		t.Errorf("%d batches had %s", len(v.Batches), v.Worked)
	}
}

// TestRequestersGetSharesInWholePercent: of exact ones they could compute what others had.
func TestRequestersGetSharesInWholePercent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.clock.halt()
	w.policy("fs")
	w.step(time.Second)
	w.launch(50, of(w.a, 1))
	w.launch(1, of(w.b, 1))
	for _, p := range w.workers {
		w.next(p)
	}
	w.step(70 * time.Second)
	w.step(10 * time.Second)
	for who, want := range map[*access.Principal]float64{w.ann: 0.67, w.bob: 0.33} {
		v := w.fairness(who)
		if v.Worked != 0 || len(v.Points) != 2 {
			t.Errorf("%s sees %s in all, %d points", who.User.Name, v.Worked, len(v.Points))
		}
		for _, list := range [][]control.NamedPortion{v.Tenants, v.Batches, v.Points[0].Tenants, v.Points[0].Batches, v.Points[1].Tenants, v.Points[1].Batches} {
			if len(list) != 1 || list[0].Share != want || list[0].Part != want {
				t.Errorf("%s sees %+v, want %g", who.User.Name, list, want)
			}
		}
	}
	if v := w.fairness(w.admin); len(v.Tenants) != 2 || !near(v.Tenants[0].Share, 2.0/3) || !near(v.Points[0].Tenants[0].Share, 2.0/3) {
		t.Errorf("an administrator sees %+v", v.Tenants)
	}
}
