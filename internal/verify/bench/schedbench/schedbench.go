// Package schedbench measures what a scheduling policy costs: the time of one
// decision and of one event, by policy and by number of open batches. It is
// behind "throng bench sched" and the Go benchmarks of package sched.
package schedbench

import (
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/sched"
)

// A Row is what one policy costs with a number of open batches, in nanoseconds:
// a decision is Policy.Next for a worker who may do everything, an event is
// Policy.Set after an assignment was started or finished.
type Row struct {
	Policy        string  `json:"policy"`
	Batches       int     `json:"batches"`
	NsPerDecision float64 `json:"ns_per_decision"`
	NsPerEvent    float64 `json:"ns_per_event"`
}

// enough is how long each figure is measured at least.
const enough = 200 * time.Millisecond

// Run measures each policy, by its text form, with each number of open batches.
// It panics on a text form that sched.Parse refuses.
func Run(sizes []int, policies []string) []Row {
	var rows []Row
	for _, name := range policies {
		for _, size := range sizes {
			rows = append(rows, measure(name, size))
		}
	}
	return rows
}

// measure runs cycles of the world and reads the clock between their parts, so
// that a decision is timed as it happens: after an event, on a state of its own,
// never a repetition that finds everything in the cache. The clock's own cost,
// measured in the same way before and after, is taken off.
//
// A figure is the median of the means of groups of cycles, so that what else runs on
// the machine changes a few groups and not the figure.
func measure(name string, size int) Row {
	w := NewWorld(sched.MustParse(name), size)
	runtime.GC()
	clock := clockCost(nil)
	var deciding, telling groups
	for n := 0; n < 1000 || deciding.total < enough || telling.total < enough; n++ {
		if n >= 20 && deciding.total > 10*enough {
			break // a slow one (dafs-code): few are enough
		}
		start := time.Now()
		last := w.Finish()
		finished := time.Now()
		id := w.Decide(last)
		decided := time.Now()
		w.Start(id)
		telling.add(time.Since(decided) + finished.Sub(start))
		deciding.add(decided.Sub(finished))
	}
	cost := stats.Quantile(clockCost(clock), 0.5)
	return Row{
		Policy:        name,
		Batches:       size,
		NsPerDecision: max(0, stats.Quantile(deciding.means(), 0.5)-cost),
		NsPerEvent:    max(0, stats.Quantile(telling.means(), 0.5)/2-cost),
	}
}

// groups is the means, in ns, of groups of times.
type groups struct {
	total  time.Duration
	list   []float64
	within time.Duration // of the group that is not full
	n      int           // times in it
}

const groupSize = 100

func (g *groups) add(d time.Duration) {
	g.total += d
	g.within += d
	if g.n++; g.n == groupSize {
		g.list = append(g.list, float64(g.within)/groupSize)
		g.within, g.n = 0, 0
	}
}

// means returns the mean of each full group, or of what there is.
func (g *groups) means() []float64 {
	if len(g.list) == 0 {
		return []float64{float64(g.within) / float64(g.n)}
	}
	return g.list
}

// clockCost appends means of groups of the time in ns that lies between two readings
// of the clock.
func clockCost(means []float64) []float64 {
	var g groups
	for range 50_000 {
		start := time.Now()
		g.add(time.Since(start))
	}
	return append(means, g.means()...)
}

// Running is the number of assignments in people's hands in a World.
const Running = 1000

// A World is a pool in its steady state: size open batches of many sizes and
// priorities, in a hundred tenants and eight classes, and Running workers, each
// of whom finishes and is given the next task in turn.
type World struct {
	policy  sched.Policy
	batches []sched.Batch
	hands   []int // the batch of each assignment in somebody's hands; a ring
	next    int   // the position in hands of the one that is finished next
	turn    uint64
	now     time.Time
	worker  anyone
	touched int // the last batch of Touch
}

// NewWorld fills the policy and brings it to its steady state.
func NewWorld(policy sched.Policy, size int) *World {
	w := &World{policy: policy, batches: make([]sched.Batch, size), hands: make([]int, 0, Running)}
	random := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	w.now = start.Add(time.Duration(size) * time.Millisecond)
	for i := range w.batches {
		b := sched.Batch{
			ID:           crowd.BatchID(i + 1),
			Tenant:       crowd.TenantID(1 + random.IntN(100)),
			TenantWeight: 1,
			Class:        sched.Class(random.IntN(8)),
			Arrived:      start.Add(time.Duration(i) * time.Millisecond),
			Priority:     float64(1 + random.IntN(10)),
			Planned:      50 + random.IntN(5000),
			Production:   random.IntN(2) == 0,
			TaskTime:     time.Duration(1+random.IntN(600)) * time.Second,
			Assignable:   true,
		}
		if b.Production {
			b.Deadline = b.Arrived.Add(time.Duration(1+random.IntN(100_000)) * time.Second)
		}
		w.batches[i] = b
		policy.Set(&b)
	}
	for range Running {
		w.Start(w.Decide(0))
	}
	for range 2 * Running {
		w.Cycle()
	}
	return w
}

// Cycle finishes an assignment and starts the next one: an event, a decision, an
// event.
func (w *World) Cycle() {
	w.now = w.now.Add(time.Millisecond)
	w.Start(w.Decide(w.Finish()))
}

// Touch starts or finishes an assignment of a batch without asking the policy: an
// event alone. Batches are taken in turn, so that none of them is in the cache.
func (w *World) Touch() {
	w.touched = (w.touched + 7919) % len(w.batches)
	b := &w.batches[w.touched]
	if b.Running > 0 {
		b.Running--
	} else {
		b.Running++
		w.turn++
		b.Turn = w.turn
	}
	w.policy.Set(b)
}

// Decide names the next batch for a worker who comes from the batch last.
func (w *World) Decide(last crowd.BatchID) crowd.BatchID {
	w.worker.last = last
	return w.policy.Next(w.now, &w.worker)
}

// Start begins an assignment of the batch.
func (w *World) Start(id crowd.BatchID) {
	k := int(id) - 1
	b := &w.batches[k]
	b.Running++
	w.turn++
	b.Turn = w.turn
	b.Assignable = b.Running < b.Planned-b.Completed
	w.policy.Set(b)
	if len(w.hands) < Running {
		w.hands = append(w.hands, k)
		return
	}
	w.hands[w.next] = k
	w.next = (w.next + 1) % Running
}

// Finish ends the oldest assignment and returns its batch. A batch whose work is
// almost done gets it all back, so that the world stays as it is.
func (w *World) Finish() crowd.BatchID {
	b := &w.batches[w.hands[w.next]]
	b.Running--
	b.Completed++
	if b.Completed >= b.Planned-1 {
		b.Completed = 0
	}
	b.Assignable = b.Running < b.Planned-b.Completed
	w.policy.Set(b)
	return b.ID
}

// anyone is a worker who may do everything.
type anyone struct{ last crowd.BatchID }

func (a *anyone) LastBatch() crowd.BatchID  { return a.last }
func (*anyone) MayClass(sched.Class) bool   { return true }
func (*anyone) MayBatch(crowd.BatchID) bool { return true }
