package app_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/sched"
)

func queueOf(s *scene, p *access.Principal) error {
	return second(s.Pools.Queue(s.ctx, p, s.pool, 10))
}

func fairnessOf(s *scene, p *access.Principal) error {
	return second(s.Pools.Fairness(s.ctx, p, s.pool, time.Hour, 10))
}

func (w *world) policy(text string) {
	w.t.Helper()
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Policy = text; return nil }))(w.t)
}

func of(tenant crowd.TenantID, priority float64) func(*batches.NewBatch) {
	return func(b *batches.NewBatch) { b.Tenant, b.Priority, b.Lease = tenant, priority, time.Hour }
}

func (w *world) fairness(p *access.Principal) control.FairnessView {
	w.t.Helper()
	return must(w.Pools.Fairness(w.ctx, p, w.pool, time.Hour, 100))(w.t)
}

func near(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) < 1e-9 }

// TestFairnessOfAShortTime: what is shown ends with the last look, and begins before it also
// if that was longer ago than the time that is asked for.
func TestFairnessOfAShortTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.clock.halt()
	w.step(time.Second)
	w.launch(50)
	w.next(w.workers[0])
	for range 3 {
		w.step(10 * time.Second)
	}
	w.clock.advance(8 * time.Second)
	v := must(w.Pools.Fairness(w.ctx, w.admin, w.pool, 5*time.Second, 100))(t)
	if !v.From.Before(v.At) || len(v.Tenants) != 1 || !near(v.Tenants[0].Share, 1) {
		t.Errorf("shown from %s to %s: %+v", v.From, v.At, v.Tenants)
	}
}

// TestFairnessByHand: two tenants of the same weight, one of which has two of three
// people for a minute, and then one of two.
func TestFairnessByHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.clock.halt()
	w.policy("fs")
	if v := w.fairness(w.admin); !v.Since.IsZero() || !math.IsNaN(v.Now.Jain) || len(v.Tenants)+len(v.Points) != 0 {
		t.Errorf("before the first look: %+v", v)
	}
	w.step(time.Second)
	first := w.launch(50, of(w.a, 1))
	other := w.launch(10, of(w.b, 1))
	w.step(10 * time.Second)
	if v := w.fairness(w.admin); !math.IsInf(v.Now.JInf, -1) || v.Now.Served != 0 || v.Mean.Served != 0 || !math.IsNaN(v.Mean.JInf) {
		t.Errorf("while both batches have nobody: now %+v, mean %+v", v.Now, v.Mean)
	}
	held := make([]*work.HeldTask, 3)
	for i, p := range w.workers {
		held[i] = w.next(p)
	}
	w.step(10 * time.Second)
	v := w.fairness(w.admin)
	x, y := 2.0/50, 1.0/10
	if held[2].Batch != first || !near(v.Now.Jain, (x+y)*(x+y)/(2*(x*x+y*y))) || !near(v.Now.JInf, -(x+y)/x) || !near(v.Now.Tenants, 9.0/10) {
		t.Errorf("the third is at %s, the indexes are %+v", held[2].Batch, v.Now)
	}
	for range 5 {
		w.step(10 * time.Second)
	}
	_, _, err := w.Work.Submit(w.ctx, w.workers[2], held[2].Assignment, yes, false, 0)
	ok(t, err)
	w.step(time.Minute)
	v = w.fairness(w.admin)
	want := map[crowd.TenantID]control.Portion{
		w.a: {Tenant: w.a, Worked: 3 * time.Minute, Due: 150 * time.Second}, w.b: {Tenant: w.b, Worked: 2 * time.Minute, Due: 150 * time.Second},
	}
	for _, p := range v.Tenants {
		if p.Portion != want[p.Tenant] || !near(p.Share, p.Worked.Seconds()/300) || !near(p.Part, 0.5) {
			t.Errorf("tenant %s (%s): %+v, want %+v", p.Tenant, p.Name, p, want[p.Tenant])
		}
	}
	if few := must(w.Pools.Fairness(w.ctx, w.admin, w.pool, time.Hour, 1))(t); len(few.Batches) != 1 || few.Batches[0].Batch != first || len(few.Tenants) != 2 {
		t.Errorf("of one batch at most: %+v of %+v", few.Batches, few.Tenants)
	}
	if len(v.Tenants) != 2 || v.Tenants[0].Name != "ants" || len(v.Batches) != 2 || v.Batches[0].Batch != first || v.Batches[0].Worked != 3*time.Minute || v.Batches[1].Batch != other || len(v.Points) != 2 {
		t.Errorf("tenants %+v, batches %+v, %d points", v.Tenants, v.Batches, len(v.Points))
	}
	if had := 1.2 + 0.8; !near(v.Had.Jain, had*had/2/(1.44+0.64)) || !near(v.Had.JInf, -had/0.8) || v.HadEver != v.Had {
		t.Errorf("had by due: %+v, ever %+v", v.Had, v.HadEver)
	}
}

// TestFairnessIsThatOfWhatIsSeen has people do this and that, and compares what the
// server counts with what the batches show and with the times that people held tasks.
func TestFairnessIsThatOfWhatIsSeen(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 6)
			w.clock.halt()
			r := rand.New(rand.NewPCG(seed, 4))
			w.policy([]string{"fifo", "tenant-fair(wfs)", "dafs"}[seed])
			w.step(time.Second)
			type hand struct {
				*work.HeldTask
				since time.Time
			}
			tenants := []crowd.TenantID{w.a, w.b}
			owner, hands, worked := map[crowd.BatchID]crowd.TenantID{}, map[int]hand{}, map[crowd.TenantID]time.Duration{}
			indexes := 0
			for range 120 {
				w.clock.advance(time.Duration(r.IntN(20_000)) * time.Millisecond)
				i := r.IntN(len(w.workers))
				p := w.workers[i]
				h, holds := hands[i]
				switch what := r.IntN(10); {
				case what == 0 || len(owner) == 0:
					tenant := tenants[r.IntN(2)]
					owner[w.launch(1+r.IntN(12), of(tenant, []float64{0.5, 1, 4}[r.IntN(3)]))] = tenant
				case holds && what < 8:
					_, _, err := w.Work.Submit(w.ctx, p, h.Assignment, yes, false, 0)
					ok(t, err)
					worked[owner[h.Batch]] += w.clock.now().Sub(h.since)
					delete(hands, i)
				case holds:
					ok(t, w.Work.Return(w.ctx, p, h.Assignment))
					worked[owner[h.Batch]] += w.clock.now().Sub(h.since)
					delete(hands, i)
				default:
					if task := must(w.Work.Next(w.ctx, p, 0))(t); task != nil {
						hands[i] = hand{task, w.clock.now()}
					}
				}
				w.step(10 * time.Second)
				var xs []float64
				for _, id := range slices.Sorted(maps.Keys(owner)) {
					if b := w.batch(id); b.Progress.State.Open() {
						xs = append(xs, sched.Workforce(b.Running, b.Planned(), b.Progress.Priority))
					}
				}
				v := w.fairness(w.admin)
				if jain, jinf := sched.Fairness(xs); !near(v.Now.Jain, jain) || !near(v.Now.JInf, jinf) {
					t.Fatalf("Jain %g, J∞ %g; by what the batches show %g and %g", v.Now.Jain, v.Now.JInf, jain, jinf)
				}
				if !math.IsNaN(v.Now.Jain) && !math.IsInf(v.Now.JInf, 0) {
					indexes++
				}
				sum, due := time.Duration(0), time.Duration(0)
				for _, p := range v.Tenants {
					want := worked[p.Tenant]
					for _, h := range hands {
						if owner[h.Batch] == p.Tenant {
							want += w.clock.now().Sub(h.since)
						}
					}
					if diff := p.Worked - want; diff.Abs() > time.Millisecond {
						t.Fatalf("tenant %s had %s, by the times that people held tasks %s", p.Tenant, p.Worked, want)
					}
					sum += p.Worked
					due += p.Due
				}
				if diff := sum - due; diff.Abs() > time.Millisecond || v.Worked != sum {
					t.Fatalf("%s were had, %s due, %s in all", sum, due, v.Worked)
				}
			}
			if indexes < 10 || len(worked) < 2 {
				t.Errorf("J∞ was finite %d times, %d tenants had people", indexes, len(worked))
			}
		})
	}
}

// TestRequestersSeeTheirOwn: what is told of others does not depend on them.
func TestRequestersSeeTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.clock.halt()
	w.policy("fs")
	w.step(time.Second)
	mine, theirs := w.launch(5, of(w.a, 1)), w.launch(5, of(w.b, 1))
	for _, p := range w.workers {
		w.next(p)
	}
	w.step(70 * time.Second)
	w.step(10 * time.Second)
	for p, own := range map[*access.Principal]crowd.BatchID{w.ann: mine, w.bob: theirs} {
		v := w.fairness(p)
		if v.Whole || len(v.Tenants) != 1 || v.Tenants[0].Share != 0.5 || v.Tenants[0].Worked+v.Tenants[0].Due+v.Batches[0].Worked+v.Batches[0].Due+v.Points[0].Tenants[0].Worked != 0 || len(v.Batches) != 1 || v.Batches[0].Batch != own || len(v.Points) != 2 {
			t.Errorf("%s sees %+v", p.User.Name, v)
		}
		for _, x := range []float64{v.Now.Jain, v.Now.JInf, v.Now.Tenants, v.Mean.Jain, v.Mean.JInf, v.Mean.Tenants, v.Had.Jain, v.Had.JInf, v.HadEver.Jain, v.HadEver.JInf} {
			if !math.IsNaN(x) {
				t.Errorf("%s sees the index %g", p.User.Name, x)
			}
		}
		for _, point := range v.Points {
			if !math.IsNaN(point.Index.Jain) || len(point.Tenants) != 1 || len(point.Batches) != 1 || point.Batches[0].Batch != own {
				t.Errorf("%s sees the point %+v", p.User.Name, point)
			}
		}
		_, err := w.Pools.Queue(w.ctx, p, w.pool, 10)
		refused(t, err, crowd.Forbidden)
	}
	_, err := w.Pools.Fairness(w.ctx, w.workers[0], w.pool, time.Hour, 10)
	refused(t, err, crowd.Forbidden)
	_, err = w.Pools.Fairness(w.ctx, w.ann, w.pool+1, time.Hour, 10)
	refused(t, err, crowd.NotFound)
	stranger := w.person(accounts.NewUser{Name: "cid", Tenants: []crowd.TenantID{must(w.Tenants.Create(w.ctx, w.admin, accounts.NewTenant{Name: "cats", Weight: 1}))(t).ID}})
	if v := w.fairness(stranger); len(v.Tenants)+len(v.Batches)+len(v.Points) != 0 {
		t.Errorf("a requester without batches sees %+v", v)
	}
}

// TestTheQueueIsTheOrder in which people who have done nothing yet get tasks, whatever
// the policy, and each batch knows its place.
func TestTheQueueIsTheOrder(t *testing.T) {
	t.Parallel()
	for _, policy := range sched.Names() {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 12)
			w.clock.halt()
			w.policy(policy)
			r := rand.New(rand.NewPCG(5, 6))
			var ids []crowd.BatchID
			for i := range 5 {
				tenant := []crowd.TenantID{w.a, w.b}[i%2]
				ids = append(ids, w.launch(2+r.IntN(4), of(tenant, float64(1+r.IntN(3))), func(b *batches.NewBatch) {
					b.Production, b.Reward = i == 2, crowd.Money(1000*(1+i))
					if i > 2 {
						b.Deadline = w.clock.now().Add(time.Duration(i) * time.Hour)
					}
				}))
			}
			for i, p := range w.workers {
				w.clock.advance(2 * time.Second)
				if i == 6 {
					must(w.Batches.Pause(w.ctx, w.admin, ids[0]))(t)
				}
				q := must(w.Pools.Queue(w.ctx, w.admin, w.pool, 100))(t)
				if q.All != len(q.Batches) || q.Policy == "" {
					t.Fatalf("%d of %d batches by %q", len(q.Batches), q.All, q.Policy)
				}
				for n, b := range q.Batches {
					v := w.batch(b.Batch)
					if n < q.Placed && (b.Place != n+1 || v.Place.N != n+1 || v.Place.Of != q.Placed || b.Waiting == 0) || n >= q.Placed && (b.Place != 0 || v.Place.N != 0 || b.Reason == crowd.Eligible) || b.Why() == "" || b.Name != "things" {
						t.Fatalf("place %d of %d: %+v, the batch says %+v", n+1, q.Placed, b, v.Place)
					}
				}
				if policy == "tenant-fair(dafs)" && !strings.Contains(q.Batches[0].Why(), "then ") {
					t.Errorf("the first is there because %s", q.Batches[0].Why())
				}
				if got := w.next(p).Batch; got != q.Batches[0].Batch {
					t.Fatalf("the worker gets %s, and the first is %s", got, q.Batches[0].Batch)
				}
			}
		})
	}
}
