package sched_test

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	cmp2 "github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// plainLaxity is the policy laxity straight from its definition, looking at every
// batch: the order in which it would ask a worker who may do some classes, at a
// time, and the state that each batch is in.
func plainLaxity(open []sched.Batch, classes [3]bool, now time.Time, share, pace float64) ([]crowd.BatchID, map[crowd.BatchID]string) {
	n, free, demand := 1.0, 0.0, 0.0
	for _, b := range open {
		n += float64(b.Running)
	}
	states := map[crowd.BatchID]string{}
	for _, b := range open {
		left, slack, running := float64(b.Planned-b.Completed), float64(lastStart(b).Sub(now)), float64(b.Running)
		work := left * float64(b.TaskTime)
		rounded := math.Exp2(math.Floor(math.Log2(work / slack)))
		switch {
		case !b.Production || b.Deadline.IsZero():
			states[b.ID] = "best-effort"
			free += running
		case slack <= 0:
			states[b.ID] = "lost"
			free += running
		case rounded > n:
			states[b.ID] = "too big"
		case pace*work > running*slack:
			states[b.ID] = "behind"
			demand += rounded
		default:
			states[b.ID] = "on pace"
			demand += rounded
		}
	}
	rank := func(b sched.Batch) (level int, key float64) {
		switch state := states[b.ID]; {
		case free < share*n && (state == "best-effort" || state == "lost"):
			return 0, float64(b.Running) / b.Priority
		case state == "behind" && demand > n:
			return 1, float64(b.Planned-b.Completed) * b.TaskTime.Seconds() / b.Priority
		case state == "behind":
			return 1, float64(lastStart(b).Sub(epoch))
		}
		return 2, float64(b.Running) / b.Priority
	}
	var order []crowd.BatchID
	for _, b := range by(func(a, b sched.Batch) int {
		la, ka := rank(a)
		lb, kb := rank(b)
		return cmp.Or(cmp.Compare(la, lb), cmp.Compare(ka, kb))
	})(open) {
		if classes[b.Class] {
			order = append(order, b.ID)
		}
	}
	if demand > n {
		states[0] = "strained"
	}
	return order, states
}

func lastStart(b sched.Batch) time.Time { return b.Deadline.Add(-b.TaskTime) }

// TestLaxityDecidesAsItsDefinition lets time go by: batches fall behind, become
// too big and are lost, and the whole order is that of the definition, for
// workers who may do everything and for those who may not.
func TestLaxityDecidesAsItsDefinition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		share, pace float64
	}{{"laxity", 0.2, 8}, {"laxity(share=0.5,pace=2)", 0.5, 2}, {"laxity(share=0)", 0, 8}, {"laxity(share=1,pace=1)", 1, 1}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			seenAs := map[string]int{}
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
					if k := w.IntN(len(w.open) + 1); k < len(w.open) && w.open[k].Production { // so that not all are lost soon
						w.open[k].Deadline = now.Add(pick(w, time.Minute, 3*time.Minute, 10*time.Minute))
						w.changed(k)
					}
					worker := w.person()
					want, states := plainLaxity(w.open, worker.classes, now, c.share, c.pace)
					asked := &stubborn{person{classes: worker.classes}}
					if fast.Next(now, asked); !slices.Equal(asked.asked, want) {
						t.Errorf("hand-out %d, %s on, classes %v: %s", w.handouts, now.Sub(epoch), worker.classes, cmp2.Diff(want, asked.asked))
						return seen
					}
					if worker.classes != all {
						seenAs["limited"]++
					}
					seenAs[states[0]]++
					for _, b := range w.open {
						seenAs[states[b.ID]]++
						if k, _ := fast.Key(b.ID); !strings.HasPrefix(k.Words, states[b.ID]+":") {
							t.Errorf("batch %v is %s, its key says %q", b.ID, states[b.ID], k.Words)
						}
					}
					if got := fast.Next(now, worker); got != 0 {
						w.handOut(got)
						seen++
					}
				}
				return seen
			})
			for _, what := range []string{"best-effort", "lost", "too big", "behind", "on pace", "strained", "limited"} {
				if seenAs[what] < 20 {
					t.Errorf("%q was seen %d times only: %v", what, seenAs[what], seenAs)
				}
			}
			if seenAs[""] < 20 {
				t.Errorf("a crowd that is not strained was seen %d times only", seenAs[""])
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
	}{{"laxity", 0.2}, {"laxity(share=0.4)", 0.4}} {
		p := parse(t, share.name)
		running := map[crowd.BatchID]int{}
		set := func(id crowd.BatchID) {
			b := sched.Batch{ID: id, Tenant: 1, TenantWeight: 1, Arrived: epoch, Priority: 1, Planned: 1000, Running: running[id], TaskTime: 10 * time.Second, Assignable: true}
			if b.Production = id <= 5; b.Production {
				b.Deadline = epoch.Add(time.Hour)
			}
			p.Set(&b)
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
			p.Set(&b)
		}
		if got := p.Next(epoch, anyone{}); got != want {
			t.Errorf("%s hands out %v, want %v", name, got, want)
		}
	}
}

// inTime lets people with a fixed time per task work through batches under a
// policy and returns those that were completed by their deadline.
func inTime(t *testing.T, policy string, people int, batches ...sched.Batch) (met []crowd.BatchID) {
	t.Helper()
	p := parse(t, policy)
	for _, b := range batches {
		p.Set(&b)
	}
	type hand struct {
		batch int
		until time.Time
	}
	var hands []hand // in the order in which they end
	now, turn := epoch, uint64(0)
	for {
		for len(hands) < people {
			id := p.Next(now, anyone{})
			k := slices.IndexFunc(batches, func(b sched.Batch) bool { return b.ID == id })
			if k < 0 {
				break
			}
			b := &batches[k]
			turn++
			b.Running, b.Turn = b.Running+1, turn
			b.Assignable = b.Running < b.Planned-b.Completed
			p.Set(b)
			hands = append(hands, hand{k, now.Add(b.TaskTime)})
			slices.SortStableFunc(hands, func(a, b hand) int { return a.until.Compare(b.until) })
		}
		if len(hands) == 0 {
			return met
		}
		b := &batches[hands[0].batch]
		now, hands = hands[0].until, hands[1:]
		b.Running--
		b.Completed++
		if b.Completed == b.Planned && !now.After(b.Deadline) {
			met = append(met, b.ID)
		}
		p.Set(b)
	}
}

func urgent(id crowd.BatchID, tasks int, due time.Duration) sched.Batch {
	return sched.Batch{ID: id, Tenant: 1, TenantWeight: 1, Arrived: epoch, Priority: 1, Planned: tasks, TaskTime: 10 * time.Second, Production: true, Deadline: epoch.Add(due), Assignable: true}
}

// TestLaxityMeetsWhatCanBeMet: where all deadlines can be met they are, as under
// edf; where they cannot, laxity meets more.
func TestLaxityMeetsWhatCanBeMet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		people      int
		batches     []sched.Batch
		edf, laxity int // how many are in time
	}{
		{"less work, later", 1, []sched.Batch{urgent(1, 10, 1000*time.Second), urgent(2, 20, 250*time.Second)}, 2, 2},
		{"three in a row", 2, []sched.Batch{urgent(1, 40, 240*time.Second), urgent(2, 5, 900*time.Second), urgent(3, 20, 400*time.Second)}, 3, 3},
		{"a large one that is due first", 1, []sched.Batch{urgent(1, 20, 210*time.Second), urgent(2, 8, 220*time.Second), urgent(3, 8, 230*time.Second)}, 1, 2},
		{"one lost and one not", 5, []sched.Batch{urgent(1, 5000, time.Minute), urgent(2, 20, 2*time.Minute)}, 0, 1},
	} {
		for policy, want := range map[string]int{"edf": c.edf, "laxity": c.laxity} {
			if met := inTime(t, policy, c.people, slices.Clone(c.batches)...); len(met) != want {
				t.Errorf("%s: %s meets %v, want %d of them", c.name, policy, met, want)
			}
		}
	}
}

// TestLaxityAtTheBounds: with the largest and the least figures that there are,
// time ends every claim, and each batch is asked about once on the way.
func TestLaxityAtTheBounds(t *testing.T) {
	t.Parallel()
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	for _, policy := range []string{"laxity", "laxity(pace=1000)"} {
		p := parse(t, policy)
		id := crowd.BatchID(0)
		for _, taskTime := range []time.Duration{1, time.Second, math.MaxInt64} {
			for _, planned := range []int{1, sched.MaxPlanned} {
				for _, running := range []int{0, 1, sched.MaxPlanned - 1} {
					for _, deadline := range []time.Time{year(2), epoch.Add(1), epoch.Add(time.Minute), year(2262), year(9999)} {
						id++
						p.Set(&sched.Batch{ID: id, TenantWeight: 1, Priority: sched.MinPriority, Planned: planned, Running: running, TaskTime: taskTime, Production: true, Deadline: deadline, Assignable: true})
					}
				}
			}
		}
		for _, now := range []time.Time{year(1), epoch, epoch.Add(1), epoch.Add(time.Hour), year(2261), year(9999)} {
			asked := &stubborn{person{classes: all}}
			if p.Next(now, asked); len(asked.asked) != int(id) {
				t.Errorf("%s: in %d asked about %d batches of %d", policy, now.Year(), len(asked.asked), id)
			}
		}
		for i := range id {
			if k, _ := p.Key(i + 1); !strings.HasPrefix(k.Words, "lost:") {
				t.Errorf("%s: at the end of time batch %v is %s", policy, i+1, k.Words)
			}
		}
	}
}
