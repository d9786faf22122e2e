package sched_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// batch is a best-effort batch with some running.
func batch(id crowd.BatchID, planned, running int) sched.Batch {
	return sched.Batch{ID: id, Tenant: 1, TenantWeight: 1, Arrived: epoch, Priority: 1, Planned: planned, Running: running,
		TaskTime: time.Second, Assignable: true}
}

func with(b sched.Batch, change func(*sched.Batch)) sched.Batch { change(&b); return b }

// rated is a batch with a priority and a turn.
func rated(id crowd.BatchID, running int, priority float64, turn uint64) sched.Batch {
	return with(batch(id, 100, running), func(b *sched.Batch) { b.Priority, b.Turn = priority, turn })
}

func production(b *sched.Batch) { b.Production = true }
func busy(b *sched.Batch)       { b.Assignable = false }

func TestCornerCases(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy  string
		batches []sched.Batch
		want    []crowd.BatchID // the whole order
	}{
		"no batch at all": {policy: "dafs"},
		"dafs, nobody works: least step first, that of the batch with most planned": {
			policy:  "dafs",
			batches: []sched.Batch{batch(1, 10, 0), batch(2, 40, 0), batch(3, 20, 0)},
			want:    []crowd.BatchID{2, 3, 1},
		},
		"dafs, one batch without workers goes first though its step is the greatest": {
			policy:  "dafs",
			batches: []sched.Batch{batch(1, 100, 1), batch(2, 2, 0), batch(3, 50, 1)},
			want:    []crowd.BatchID{2, 1, 3},
		},
		"dafs, the batch without workers cannot be handed out: by step": {
			policy:  "dafs",
			batches: []sched.Batch{batch(1, 50, 1), with(batch(2, 2, 0), busy), batch(3, 100, 90)},
			want:    []crowd.BatchID{3, 1},
		},
		"dafs, the least x cannot be handed out: by step": {
			policy:  "dafs",
			batches: []sched.Batch{batch(1, 10, 5), with(batch(2, 100, 1), busy), batch(3, 20, 19)},
			want:    []crowd.BatchID{3, 1},
		},
		// x = .5, .01, .95; raising b2 gives m = .02, S = 1.47: J = -73.5; b3: -151; b1: -156.
		"dafs, the least x goes first": {
			policy:  "dafs",
			batches: []sched.Batch{batch(1, 10, 5), batch(2, 100, 1), batch(3, 20, 19)},
			want:    []crowd.BatchID{2, 3, 1},
		},
		// x = .5, 1000000.5/2000000 (just more): raising b1 (δ = .5) gives J = -1.5/.50000025 = -3.0;
		// raising b2 (δ = 5e-7) gives -1.000001/.5 = -2.0.
		"dafs, the least step before the least x, where the least x would gain little": {
			policy:  "dafs",
			batches: []sched.Batch{batch(1, 2, 1), batch(2, 2_000_000, 1_000_001)},
			want:    []crowd.BatchID{2, 1},
		},
		// x = 1, 1.125, 4.75, so S = 6.875: raising b1 gives J = -7.875/1.125 = -7, raising
		// b2 gives -7/1 too, b3 -7.125/1.
		"beta-fair to infinity, equal J of least x and least step: by id": {
			policy:  "beta-fair(beta=inf,x=wfs)",
			batches: []sched.Batch{rated(1, 1, 1, 0), rated(2, 9, 8, 0), rated(3, 19, 4, 0)},
			want:    []crowd.BatchID{1, 2, 3},
		},
		"beta-fair to infinity, equal J of least x and least step: by turn before id": {
			policy:  "beta-fair(beta=inf,x=wfs)",
			batches: []sched.Batch{rated(1, 1, 1, 9), rated(2, 9, 8, 8), rated(3, 19, 4, 0)},
			want:    []crowd.BatchID{2, 1, 3},
		},
		"dafs, a single batch": {
			policy: "dafs", batches: []sched.Batch{batch(7, 10, 3)}, want: []crowd.BatchID{7},
		},
		"a batch of one task": {
			policy:  "dafs",
			batches: []sched.Batch{with(batch(1, 1, 0), production), batch(2, 1, 0)},
			want:    []crowd.BatchID{1, 2}, // δ = ln 2 before δ = 1
		},
		"sdafs, a started production batch is not below an idle one, as with ln": {
			policy:  "sdafs",
			batches: []sched.Batch{with(batch(1, 10, 5), production), batch(2, 10, 0)},
			want:    []crowd.BatchID{2, 1},
		},
		"sdafs, more running than left counts as many terms as are left": {
			// b1: T = 2, C = 1, R = 3: only f(1/2) = .405, /2 = .203; b2: x = .2.
			policy: "sdafs",
			batches: []sched.Batch{
				with(batch(1, 2, 3), func(b *sched.Batch) { b.Production, b.Completed = true, 1 }), batch(2, 10, 2),
			},
			want: []crowd.BatchID{2, 1},
		},
		"edf, no deadline last, even after one in the year 9999": {
			policy: "edf",
			batches: []sched.Batch{batch(1, 1, 0),
				with(batch(2, 1, 0), func(b *sched.Batch) { b.Deadline = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }),
				with(batch(3, 1, 0), func(b *sched.Batch) { b.Deadline = epoch })},
			want: []crowd.BatchID{3, 2, 1},
		},
		"fifo, an arrival before 1678 is early": {
			policy:  "fifo",
			batches: []sched.Batch{batch(1, 1, 0), with(batch(2, 1, 0), func(b *sched.Batch) { b.Arrived = time.Time{} })},
			want:    []crowd.BatchID{2, 1},
		},
		"beta-fair, nobody works: J = 1 for every choice, so by turn": {
			policy:  "beta-fair(beta=-1)",
			batches: []sched.Batch{with(batch(1, 5, 0), func(b *sched.Batch) { b.Turn = 9 }), batch(2, 2, 0), batch(3, 9, 0)},
			want:    []crowd.BatchID{2, 3, 1},
		},
		"beta-fair beyond 1, nobody works: as dafs": {
			policy:  "beta-fair(beta=3)",
			batches: []sched.Batch{batch(1, 10, 0), batch(2, 40, 0), batch(3, 20, 0)},
			want:    []crowd.BatchID{2, 3, 1},
		},
		"tenant-fair, a tenant that nothing can be handed out from is passed over": {
			policy:  "tenant-fair(fifo)",
			batches: []sched.Batch{with(batch(1, 1, 0), busy), with(batch(2, 9, 5), func(b *sched.Batch) { b.Tenant = 2 })},
			want:    []crowd.BatchID{2},
		},
		"ties end in the id": {
			policy: "wfs", batches: []sched.Batch{batch(3, 9, 2), batch(1, 9, 2), batch(2, 9, 2)}, want: []crowd.BatchID{1, 2, 3},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := parse(t, c.policy)
			for _, b := range c.batches {
				p.Set(&b)
			}
			if diff := cmp.Diff(c.want, order(p, all)); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNobodyEligible: no allowed class and no allowed batch give 0, from every policy.
func TestNobodyEligible(t *testing.T) {
	t.Parallel()
	for _, name := range everyPolicy() {
		p := parse(t, name)
		if got := p.Next(epoch, anyone{}); got != 0 {
			t.Errorf("%s, empty: got %v", name, got)
		}
		p.Remove(1)
		p.Set(new(batch(1, 3, 1)))
		for why, w := range map[string]sched.Worker{
			"no class": &person{},
			"no batch": &person{classes: all, refuses: map[crowd.BatchID]bool{1: true}, last: 1},
		} {
			if got := p.Next(epoch, w); got != 0 {
				t.Errorf("%s, %s: got %v", name, why, got)
			}
		}
		p.Set(new(with(batch(1, 3, 0), func(b *sched.Batch) { b.Completed = 3 })))
		if _, ok := p.Key(1); ok || p.Next(epoch, anyone{}) != 0 {
			t.Errorf("%s: a batch that is not open is still there", name)
		}
	}
}

// TestNonsenseDoesNotStopTheWork: Set takes figures out of their domain for the
// nearest in it, whatever the policy.
func TestNonsenseDoesNotStopTheWork(t *testing.T) {
	t.Parallel()
	nonsense := []sched.Batch{
		with(batch(1, 5, 0), func(b *sched.Batch) { b.Priority, b.TenantWeight = 0, 0 }),
		with(batch(2, 5, 1), func(b *sched.Batch) { b.Priority, b.TenantWeight = math.NaN(), math.NaN() }),
		with(batch(3, 5, 0), func(b *sched.Batch) { b.Priority, b.TenantWeight = math.Inf(1), math.Inf(-1) }),
		with(batch(4, 5, -3), func(b *sched.Batch) { b.TaskTime, b.Completed = -1, -1 }),
		with(batch(5, 5, math.MaxInt), func(b *sched.Batch) { b.Arrived, b.Deadline = time.Time{}, time.Unix(1<<60, 0) }),
		with(batch(6, math.MaxInt, 1), func(b *sched.Batch) { b.Tenant = -5 }),
		with(batch(7, 5, 0), func(b *sched.Batch) { b.Added, b.Turn = math.MaxInt64, math.MaxUint64 }),
		with(batch(8, 5, 0), func(b *sched.Batch) { b.Added, b.Since = -1, time.Unix(1<<60, 0) }),
	}
	for _, name := range everyPolicy() {
		p := parse(t, name)
		for _, b := range nonsense {
			if err := b.Validate(); err == nil && b.ID != 6 {
				t.Errorf("batch %v is valid", b.ID)
			}
			p.Set(&b)
		}
		if got := order(p, all); len(got) != len(nonsense) {
			t.Errorf("%s: asked about %v only", name, got)
		}
		for _, b := range nonsense {
			k, _ := p.Key(b.ID)
			if _, err := json.Marshal(k); err != nil {
				t.Errorf("%s, %v: %v", name, b.ID, err)
			}
			for _, n := range k.Rank {
				if n != n {
					t.Errorf("%s, %v: rank %v is not a number", name, b.ID, k.Rank)
				}
			}
			p.Remove(b.ID)
		}
		if got := order(p, all); got != nil {
			t.Errorf("%s: asked about %v after all were removed", name, got)
		}
	}
}

func TestValidateNamesTheField(t *testing.T) {
	t.Parallel()
	if err := batch(1, 5, 0).Validate(); err != nil {
		t.Errorf("a good batch: %v", err)
	}
	for field, change := range map[string]func(*sched.Batch){
		"id":            func(b *sched.Batch) { b.ID = 0 },
		"tenant_weight": func(b *sched.Batch) { b.TenantWeight = math.NaN() },
		"priority":      func(b *sched.Batch) { b.Priority = 0 },
		"planned":       func(b *sched.Batch) { b.Planned = 0 },
		"running":       func(b *sched.Batch) { b.Running = -1 },
		"completed":     func(b *sched.Batch) { b.Completed = -1 },
		"added":         func(b *sched.Batch) { b.Added = crowd.MaxMoney + 1 },
		"task_time":     func(b *sched.Batch) { b.TaskTime = 0 },
	} {
		err := with(batch(1, 5, 0), change).Validate()
		if crowd.CodeOf(err) != crowd.Invalid || !strings.HasPrefix(err.Error(), field+": ") {
			t.Errorf("%s: got %v", field, err)
		}
	}
}

// TestARewardAsPriority: 0.05 is a priority of 5, and what lies beyond the bounds of priorities
// is at them.
func TestARewardAsPriority(t *testing.T) {
	t.Parallel()
	for reward, priority := range map[crowd.Money]float64{
		crowd.Unit / 20: 5, crowd.Unit: 100, 1: 0.0001, 0: sched.MinPriority, 20_000 * crowd.Unit: sched.MaxPriority,
	} {
		paid, set := parse(t, "by-reward(wfs)"), parse(t, "wfs")
		paid.Set(new(with(batch(1, 4, 2), func(b *sched.Batch) { b.Reward, b.Priority = reward, 7 })))
		set.Set(new(with(batch(1, 4, 2), func(b *sched.Batch) { b.Priority = priority })))
		got, _ := paid.Key(1)
		if want, _ := set.Key(1); !slices.Equal(got.Rank, want.Rank) {
			t.Errorf("a reward of %s has the rank %v, a priority of %v has %v", reward, got.Rank, priority, want.Rank)
		}
	}
}

// TestTheKeyInJSON pins the form that "throng explain" prints.
func TestTheKeyInJSON(t *testing.T) {
	t.Parallel()
	p := parse(t, "tenant-fair(dafs)")
	p.Set(new(with(batch(1, 4, 1), func(b *sched.Batch) { b.Turn = 7 })))
	p.Set(new(batch(2, 4, 0)))
	k, _ := p.Key(1)
	got, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"policy":"tenant-fair(dafs)"`, `"batch":"b1"`, `"candidate":true`, `"turn":7`,
		`{"name":"share","value":1,"note":"tenant_running / tenant_weight"}`,
		`"rank":[1,7,1,1,0.25]`, `{"name":"x","value":0.25,`, `{"name":"J","value":"-inf",`,
	} {
		if !strings.Contains(string(got), part) {
			t.Errorf("lacks %s:\n%s", part, got)
		}
	}
}

// TestGroupsAreUsedAgain: what is kept of a priority whose batches are all gone is used for
// the next one.
func TestGroupsAreUsedAgain(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"removed", "done", "changed"} {
		p := parse(t, "strict-priority(wfs)")
		for i := range 1000 {
			b := batch(1, 5, 0)
			b.Priority = float64(i + 1)
			p.Set(&b)
			switch how {
			case "removed":
				p.Remove(1)
			case "done":
				b.Completed = 5
				p.Set(&b)
			}
		}
		if n, ok := sched.Priorities(p); !ok || n < 1 || n > 2 {
			t.Errorf("each batch %s: room for %d priorities, %t; want 2 at most", how, n, ok)
		}
	}
}
