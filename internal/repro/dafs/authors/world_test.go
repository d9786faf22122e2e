package authors_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	_ "github.com/throng-dev/throng/internal/repro/dafs/authors"
	"github.com/throng-dev/throng/sched"
)

var epoch = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)

func parse(t *testing.T, text string) sched.Policy {
	t.Helper()
	p, err := sched.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func rat(f float64) *big.Rat { return new(big.Rat).SetFloat64(f) }

func batch(id crowd.BatchID, planned, running int) sched.Batch {
	return sched.Batch{
		ID: id, Tenant: 1, TenantWeight: 1, Arrived: epoch, Priority: 1, Planned: planned, Running: running,
		TaskTime: time.Second, Assignable: true,
	}
}

func with(b sched.Batch, change func(*sched.Batch)) sched.Batch { change(&b); return b }

// A world is a pool in miniature: batches that come, change and go. Its figures
// are drawn from few values, so that ties abound.
type world struct {
	*rand.Rand
	policy   sched.Policy
	open     []sched.Batch
	paused   map[crowd.BatchID]bool
	handouts uint64
	launched crowd.BatchID
}

func newWorld(seed uint64, p sched.Policy) *world {
	return &world{Rand: rand.New(rand.NewPCG(seed, 7)), policy: p, paused: map[crowd.BatchID]bool{}}
}

func (w *world) launch() {
	w.launched++
	b := batch(w.launched, []int{1, 2, 3, 3, 5, 8, 40}[w.IntN(7)], 0)
	b.Class, b.Turn = sched.Class(w.IntN(3)), w.handouts
	if w.IntN(2) == 0 {
		b.Production = true
		b.Deadline = epoch.Add([]time.Duration{time.Minute, time.Hour, 2 * time.Hour}[w.IntN(3)])
	}
	w.paused[b.ID] = w.IntN(8) == 0
	w.open = append(w.open, b)
	w.changed(len(w.open) - 1)
}

// changed tells the policy of the batch at position k of open, or of its end.
func (w *world) changed(k int) {
	b := &w.open[k]
	b.Assignable = !w.paused[b.ID] && b.Running < b.Planned-b.Completed
	told := *b
	if !b.Open() {
		w.open = slices.Delete(w.open, k, k+1)
	}
	w.policy.Set(&told)
}

// handOut starts an assignment of the batch.
func (w *world) handOut(id crowd.BatchID) {
	k := slices.IndexFunc(w.open, func(b sched.Batch) bool { return b.ID == id })
	w.handouts++
	w.open[k].Running++
	w.open[k].Turn = w.handouts
	w.changed(k)
}

// step changes something at random, but hands nothing out.
func (w *world) step() {
	if len(w.open) == 0 || len(w.open) < 14 && w.IntN(4) == 0 {
		w.launch()
		return
	}
	k := w.IntN(len(w.open))
	b := &w.open[k]
	switch n := w.IntN(11); {
	case n < 5 && b.Running > 0: // finish
		b.Running--
		b.Completed++
	case n < 7 && b.Running > 0: // give back
		b.Running--
	case n == 7:
		b.Planned = max(1, b.Planned+[]int{-3, -1, 1, 5}[w.IntN(4)])
	case n == 8 || n == 9:
		w.paused[b.ID] = !w.paused[b.ID] && w.IntN(2) == 0
	case n == 10:
		w.policy.Remove(b.ID)
		w.open = slices.Delete(w.open, k, k+1)
		return
	}
	w.changed(k)
}

// worlds runs a check in many worlds and fails if it saw too little.
func worlds(t *testing.T, count, atLeast int, check func(t *testing.T, seed uint64) (seen int)) {
	t.Helper()
	seen := 0
	for seed := range uint64(count) {
		seen += check(t, seed)
		if t.Failed() {
			t.Fatalf("in the world of seed %d", seed)
		}
	}
	if seen < atLeast {
		t.Fatalf("looked at %d cases only, want %d at least", seen, atLeast)
	}
}

// anyone may do everything.
type anyone struct{}

func (anyone) LastBatch() crowd.BatchID    { return 0 }
func (anyone) MayClass(sched.Class) bool   { return true }
func (anyone) MayBatch(crowd.BatchID) bool { return true }

// order asks for a worker who refuses everything and returns what was offered.
func order(p sched.Policy) []crowd.BatchID {
	w := &refuser{}
	p.Next(epoch, w)
	return w.offered
}

type refuser struct {
	anyone
	offered []crowd.BatchID
}

func (r *refuser) MayBatch(b crowd.BatchID) bool {
	r.offered = append(r.offered, b)
	return false
}
