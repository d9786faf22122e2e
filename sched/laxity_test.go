package sched_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	cmp2 "github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// plainLaxity is the policy laxity straight from its definition, looking at every
// batch: the order in which it would ask at a time.
func plainLaxity(open []sched.Batch, now time.Time, share, pace float64) []crowd.BatchID {
	crowdSize, free := 1.0, 0.0
	idle := func(b sched.Batch) bool {
		return !b.Production || b.Deadline.IsZero() || !now.Before(lastStart(b))
	}
	for _, b := range open {
		crowdSize += float64(b.Running)
		if idle(b) {
			free += float64(b.Running)
		}
	}
	level := func(b sched.Batch) (int, float64) {
		fair := float64(b.Running) / b.Priority
		owed := free < share*crowdSize
		if idle(b) {
			if owed {
				return 0, fair
			}
			return 2, fair
		}
		left := float64(b.Planned - b.Completed)
		need := left * float64(b.TaskTime) / float64(lastStart(b).Sub(now))
		if need > crowdSize || (b.Running > 0 && pace*need <= float64(b.Running)) {
			return 2, fair
		}
		return 1, left * b.TaskTime.Seconds() / b.Priority
	}
	return ids(by(func(a, b sched.Batch) int {
		la, ka := level(a)
		lb, kb := level(b)
		return cmp.Or(cmp.Compare(la, lb), cmp.Compare(ka, kb))
	})(open))
}

func lastStart(b sched.Batch) time.Time {
	return b.Deadline.Add(-time.Duration(1.5 * float64(b.TaskTime)))
}

func ids(list []sched.Batch) []crowd.BatchID {
	var out []crowd.BatchID
	for _, b := range list {
		out = append(out, b.ID)
	}
	return out
}

// TestLaxityDecidesAsItsDefinition lets time go by: batches fall behind, become
// too big and are lost, and the whole order is that of the definition.
func TestLaxityDecidesAsItsDefinition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		share, pace float64
	}{{"laxity", 0.1, 8}, {"laxity(share=0.5,pace=2)", 0.5, 2}, {"laxity(share=0)", 0, 8}, {"laxity(share=1,pace=1)", 1, 1}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			levels := map[string]int{}
			worlds(t, 40, 3000, func(t *testing.T, seed uint64) (seen int) {
				w := newWorld(seed)
				now := epoch
				fast := parse(t, c.name)
				w.feed(fast)
				for range 300 {
					if w.IntN(2) == 0 {
						w.step()
						continue
					}
					now = now.Add(time.Duration(w.IntN(6000)) * time.Millisecond)
					want := plainLaxity(w.open, now, c.share, c.pace)
					asked := &stubborn{person{classes: all}}
					if fast.Next(now, asked); !slices.Equal(asked.asked, want) {
						t.Errorf("hand-out %d, %s on: %s", w.handouts, now.Sub(epoch), cmp2.Diff(want, asked.asked))
						return seen
					}
					for _, b := range w.open {
						k, _ := fast.Key(b.ID)
						levels[k.Words[:4]]++
					}
					if got := fast.Next(now, w.person()); got != 0 {
						w.handOut(got)
						seen++
					}
				}
				return seen
			})
			for _, state := range []string{"best", "too ", "on p", "behi"} {
				if levels[state] < 20 {
					t.Errorf("state %q was seen %d times only: %v", state, levels[state], levels)
				}
			}
		})
	}
}

// TestLaxityGuaranteesAShare: with more urgent work than people, best-effort
// batches have their share of the crowd all the time.
func TestLaxityGuaranteesAShare(t *testing.T) {
	t.Parallel()
	for _, share := range []struct {
		name string
		of   float64
	}{{"laxity", 0.1}, {"laxity(share=0.4)", 0.4}} {
		p := parse(t, share.name)
		running := map[crowd.BatchID]int{}
		set := func(id crowd.BatchID) {
			b := sched.Batch{ID: id, Tenant: 1, TenantWeight: 1, Arrived: epoch, Priority: 1, Planned: 1000, Running: running[id], TaskTime: 10 * time.Second, Assignable: true}
			if b.Production = id <= 5; b.Production {
				b.Deadline = epoch.Add(time.Hour)
			}
			p.Set(b)
		}
		for id := range crowd.BatchID(20) {
			set(id + 1)
		}
		const people = 100
		for range people {
			id := p.Next(epoch, anyone{})
			running[id]++
			set(id)
		}
		bestEffort := 0
		for id, n := range running {
			if id > 5 {
				bestEffort += n
			}
		}
		if want := share.of * people; float64(bestEffort) < want || float64(bestEffort) > want+1 {
			t.Errorf("%s: %d of %d people work on best-effort batches, want %g", share.name, bestEffort, people, want)
		}
	}
}

// TestLaxityLeavesTheLost: where EDF spends everybody on a batch that cannot be
// done in time, laxity meets the other deadline.
func TestLaxityLeavesTheLost(t *testing.T) {
	t.Parallel()
	lost := sched.Batch{ID: 1, Tenant: 1, TenantWeight: 1, Arrived: epoch, Priority: 1, Planned: 5000, TaskTime: 10 * time.Second, Production: true, Deadline: epoch.Add(time.Minute), Assignable: true}
	can := lost
	can.ID, can.Planned, can.Deadline = 2, 20, epoch.Add(2*time.Minute)
	for name, want := range map[string]crowd.BatchID{"edf": 1, "laxity": 2} {
		p := parse(t, name)
		for _, b := range []sched.Batch{lost, can} {
			b.Running = 5
			p.Set(b)
		}
		if got := p.Next(epoch, anyone{}); got != want {
			t.Errorf("%s hands out %v, want %v", name, got, want)
		}
	}
}
