package sched_test

import (
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	_ "github.com/throng-dev/throng/internal/repro/dafs/authors" // policies that are registered keep what all promise
	"github.com/throng-dev/throng/sched"
)

// everyPolicy is the names that the properties are checked for.
func everyPolicy() []string {
	names := append(sched.Names(), "beta-fair(beta=0,x=dafs)", "beta-fair(beta=2)", "beta-fair(beta=inf,x=fs)",
		"tenant-fair(wcfs(rr,k=1))", "tenant-fair(tenant-fair(wfs))", "wcfs(wcfs(tenant-fair(dafs),k=1),k=2)",
		"dafs-code(log=false,seed=7)", "sdafs-code(log=false)", "wcfs(tenant-fair(dafs-code),k=1)")
	names = slices.AppendSeq(names, maps.Keys(plains(nil)))
	slices.Sort(names)
	return slices.Compact(names)
}

// order asks for a worker who refuses everything and returns what was asked.
func order(p sched.Policy, classes [3]bool) []crowd.BatchID {
	w := &stubborn{person{classes: classes}}
	p.Next(epoch, w)
	return w.asked
}

type stubborn struct{ person }

func (s *stubborn) MayBatch(b crowd.BatchID) bool { s.person.MayBatch(b); return false }

var all = [3]bool{true, true, true}

// TestTheStateAloneDecides: a policy that lived through everything and one that
// was told only how things stand, in shuffled order, put the batches in the same
// order. (The order of wcfs is the inner one; its concessions are no such state.)
func TestTheStateAloneDecides(t *testing.T) {
	t.Parallel()
	for _, name := range everyPolicy() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worlds(t, 8, 500, func(t *testing.T, seed uint64) (seen int) {
				w := newWorld(seed)
				lived := parse(t, name)
				w.feed(lived)
				for range 150 {
					w.step()
					if id := lived.Next(epoch, w.person()); id != 0 {
						w.handOut(id)
					}
					told := parse(t, name)
					for _, k := range w.Perm(len(w.open)) {
						b := w.open[k]
						b.TenantTurn = w.turns[b.Tenant]
						told.Set(&b)
					}
					if diff := cmp.Diff(order(told, all), order(lived, all)); diff != "" {
						t.Errorf("-told +lived:\n%s", diff)
						return seen
					}
					seen++
				}
				return seen
			})
		})
	}
}

// TestEveryRefusalLeadsToTheNext: refused the first n batches of the order, the
// policy names the next one, and each is asked about once; batches of a class
// that the worker may not do are never asked about, and those that may are all.
func TestEveryRefusalLeadsToTheNext(t *testing.T) {
	t.Parallel()
	for _, name := range everyPolicy() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worlds(t, 8, 300, func(t *testing.T, seed uint64) (seen int) {
				w := newWorld(seed)
				p := parse(t, name)
				w.feed(p)
				for range 60 {
					w.step()
					if id := p.Next(epoch, anyone{}); id != 0 {
						w.handOut(id)
					}
				}
				classes := w.person().classes
				whole := order(p, classes)
				var want []crowd.BatchID
				for _, b := range w.open {
					if b.Assignable && classes[b.Class] {
						want = append(want, b.ID)
					}
				}
				if diff := cmp.Diff(want, slices.Sorted(slices.Values(whole))); diff != "" {
					t.Errorf("asked about (-want +got):\n%s", diff)
				}
				refused := map[crowd.BatchID]bool{}
				for _, id := range whole {
					// Without a last batch wcfs takes the first of its order.
					if got := p.Next(epoch, &person{classes: classes, refuses: refused}); got != id {
						t.Errorf("after %d refusals: got %v, want %v", len(refused), got, id)
					}
					refused[id] = true
					seen++
				}
				if got := p.Next(epoch, &person{classes: classes, refuses: refused}); got != 0 {
					t.Errorf("all refused: got %v", got)
				}
				return 50 + seen
			})
		})
	}
}

// TestKeysExplainTheOrder: candidates sorted by their keys are in the order in
// which the policy asks about them, and every key says what it is made of.
func TestKeysExplainTheOrder(t *testing.T) {
	t.Parallel()
	for _, name := range everyPolicy() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worlds(t, 8, 500, func(t *testing.T, seed uint64) (seen int) {
				w := newWorld(seed)
				p := parse(t, name)
				w.feed(p)
				for range 40 {
					w.step()
					if id := p.Next(epoch, w.person()); id != 0 {
						w.handOut(id)
					}
					var keys []sched.Key
					for _, b := range w.open {
						k, ok := p.Key(b.ID)
						if !ok || k.Batch != b.ID || k.Policy != name || k.Words == "" || len(k.Rank) == 0 {
							t.Errorf("key of %v: %v %+v", b.ID, ok, k)
						}
						if k.Candidate != b.Assignable {
							t.Errorf("key of %v: candidate %v, want %v", b.ID, k.Candidate, b.Assignable)
						}
						if k.Candidate {
							keys = append(keys, k)
						}
					}
					slices.SortFunc(keys, func(a, b sched.Key) int {
						if a.Before(b) {
							return -1
						}
						return 1
					})
					var sorted []crowd.BatchID
					for _, k := range keys {
						sorted = append(sorted, k.Batch)
						seen++
					}
					if diff := cmp.Diff(sorted, order(p, all)); diff != "" {
						t.Errorf("-by key +asked:\n%s", diff)
						return seen
					}
				}
				return seen
			})
		})
	}
}

// endless is a batch with work for ever.
func endless(id crowd.BatchID, tenant crowd.TenantID, priority float64) sched.Batch {
	return sched.Batch{ID: id, Tenant: tenant, TenantWeight: 1, Arrived: epoch, Priority: priority, Planned: 1 << 20, TaskTime: time.Second, Assignable: true}
}

// A shop runs a policy with a number of workers who finish in random order.
type shop struct {
	*world
	policy  sched.Policy
	running []crowd.BatchID
}

func newShop(t *testing.T, name string, seed uint64, batches ...sched.Batch) *shop {
	s := &shop{world: newWorld(seed), policy: parse(t, name)}
	s.feed(s.policy)
	s.open = batches
	for _, b := range batches {
		s.tell(b)
	}
	return s
}

// serve hands out one task and returns its batch, or 0.
func (s *shop) serve() crowd.BatchID {
	id := s.policy.Next(epoch, anyone{})
	if id != 0 {
		s.handOut(id)
		s.running = append(s.running, id)
	}
	return id
}

// finish ends the n-th running assignment.
func (s *shop) finish(n int) {
	k := s.position(s.running[n])
	s.running = slices.Delete(s.running, n, n+1)
	s.open[k].Running--
	s.open[k].Completed++
	s.changed(k)
}

// TestNobodyStarves: with fewer workers than batches, every open batch is served
// again within a bound.
func TestNobodyStarves(t *testing.T) {
	t.Parallel()
	const batches, workers = 12, 3
	for _, name := range []string{"rr", "fs", "fs-ratio", "wfs", "wfs-ratio", "sdafs", "tenant-fair(rr)", "tenant-fair(wfs)", "wcfs(rr,k=3)"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worlds(t, 5, 5*900, func(t *testing.T, seed uint64) (seen int) {
				w := newWorld(seed)
				var list []sched.Batch
				for id := range crowd.BatchID(batches) {
					list = append(list, endless(id+1, crowd.TenantID(1+id%3), pick(w, 1.0, 2, 5)))
				}
				s := newShop(t, name, seed, list...)
				last := map[crowd.BatchID]int{}
				for n := 1; n <= 1000; n++ {
					if len(s.running) == workers {
						s.finish(s.IntN(workers))
					}
					last[s.serve()] = n
					for _, b := range list {
						// A tenant's turn comes at least every 2·(3 tenants + workers)
						// hand-outs, and it has 4 batches.
						if wait := n - last[b.ID]; wait > 2*(batches+workers)+4*(3+workers) {
							t.Errorf("%v has waited for %d hand-outs", b.ID, wait)
							return seen
						}
					}
					seen++
				}
				return seen
			})
		})
	}
}

// TestSharesFollowPriorities: with backlog everywhere, wfs gives batch b its
// share P_b/ΣP of the workers (the paper's §3.2.2), within one assignment or two.
func TestSharesFollowPriorities(t *testing.T) {
	t.Parallel()
	const workers = 100
	worlds(t, 5, 5*1500, func(t *testing.T, seed uint64) (seen int) {
		priorities := []float64{1, 2, 3, 4}
		var list []sched.Batch
		for k, p := range priorities {
			list = append(list, endless(crowd.BatchID(k+1), 1, p))
		}
		s := newShop(t, "wfs", seed, list...)
		for n := 1; n <= 2000; n++ {
			if len(s.running) == workers {
				s.finish(s.IntN(workers))
			}
			s.serve()
			if len(s.running) < workers {
				continue
			}
			for k, b := range s.open {
				if want := workers * priorities[k] / 10; math.Abs(float64(b.Running)-want) > 2 {
					t.Errorf("batch of priority %g: %d of %d workers, want %g", b.Priority, b.Running, workers, want)
					return seen
				}
			}
			seen++
		}
		return seen
	})
}

// TestSplittingGainsNothing: cut one tenant's batch into single tasks, and the
// tenants are served in the very same sequence.
func TestSplittingGainsNothing(t *testing.T) {
	t.Parallel()
	const tasks = 60
	for _, inner := range []string{"fifo", "rr", "wfs", "dafs", "wcfs(wfs,k=2)"} {
		for workers := range 7 {
			name := "tenant-fair(" + inner + ")"
			worlds(t, 4, 4*tasks, func(t *testing.T, seed uint64) int {
				whole, split := endless(1, 1, 1), []sched.Batch{endless(2, 2, 1)}
				whole.Planned, split[0].Planned = tasks, tasks
				together := tenantSequence(t, name, seed, workers+1, whole, split[0])
				split = nil
				for id := range crowd.BatchID(tasks) {
					b := endless(id+2, 2, 1)
					b.Planned = 1
					split = append(split, b)
				}
				apart := tenantSequence(t, name, seed, workers+1, append(split, whole)...)
				if diff := cmp.Diff(together, apart); diff != "" {
					t.Errorf("%s, %d workers (-together +apart):\n%s", name, workers+1, diff)
				}
				return len(apart)
			})
		}
	}
}

// tenantSequence serves everything there is and returns the tenants in the order
// in which they were served.
func tenantSequence(t *testing.T, name string, seed uint64, workers int, batches ...sched.Batch) (out []crowd.TenantID) {
	tenants := map[crowd.BatchID]crowd.TenantID{}
	for _, b := range batches {
		tenants[b.ID] = b.Tenant
	}
	s := newShop(t, name, seed, batches...)
	s.mute = true
	finishes := newWorld(seed + 1) // of its own, for the same numbers in both shops
	for {
		if len(s.running) == workers {
			s.finish(finishes.IntN(workers))
		}
		id := s.serve()
		if id == 0 {
			return out
		}
		out = append(out, tenants[id])
	}
}

// TestNoBatchIsPassedTooOften: between two of its hand-outs a batch concedes at
// most k times, and work is handed out whenever there is some.
func TestNoBatchIsPassedTooOften(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"wcfs(wfs,k=3)", "wcfs(dafs,k=3)", "wcfs(tenant-fair(dafs),k=3)"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worlds(t, 10, 1000, func(t *testing.T, seed uint64) (seen int) {
				w := newWorld(seed)
				p := parse(t, name)
				w.feed(p)
				passed := map[crowd.BatchID]int{}
				most := 0
				for range 300 {
					if w.IntN(2) == 0 {
						w.step()
						continue
					}
					worker := w.person()
					got := p.Next(epoch, worker)
					for _, id := range worker.asked {
						if worker.refuses[id] || id == got {
							continue
						}
						if got == 0 {
							t.Errorf("%v was eligible, but nothing was handed out", id)
						}
						if passed[id]++; passed[id] > 3 {
							t.Errorf("%v was passed %d times", id, passed[id])
						}
						most = max(most, passed[id])
					}
					if got != 0 {
						passed[got] = 0
						w.handOut(got)
						seen++
					}
				}
				if most < 3 {
					t.Errorf("no batch was ever passed 3 times, only %d", most)
				}
				return seen
			})
		})
	}
}

// TestConcessionsEndWithTheBatch: a batch that was closed and is opened again has
// conceded nothing.
func TestConcessionsEndWithTheBatch(t *testing.T) {
	t.Parallel()
	closed := with(batch(1, 5, 0), func(b *sched.Batch) { b.Completed = 5 })
	for name, end := range map[string]func(sched.Policy){
		"removed":             func(p sched.Policy) { p.Remove(1) },
		"set when not open":   func(p sched.Policy) { p.Set(&closed) },
		"handed out directly": func(p sched.Policy) { p.Next(epoch, anyone{}) },
	} {
		p := parse(t, "wcfs(fifo,k=1)")
		p.Set(new(batch(1, 5, 0)))
		p.Set(new(batch(2, 5, 0)))
		from2 := anyone{last: 2}
		if got := p.Next(epoch, from2); got != 2 {
			t.Errorf("%s: the first time batch 1 concedes, got %v", name, got)
		}
		end(p)
		p.Set(new(batch(1, 5, 0)))
		if got := []crowd.BatchID{p.Next(epoch, from2), p.Next(epoch, from2)}; !slices.Equal(got, []crowd.BatchID{2, 1}) {
			t.Errorf("%s: got %v, want batch 1 to concede once more and then no longer", name, got)
		}
	}
}
