package sched_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/verify/bench/schedbench"
	"github.com/throng-dev/throng/sched"
)

// The betas and workforces for which decisions are compared with a scan: each kind
// of curve, both sides of each limit, and powers far beyond float64.
var (
	scanBetas = []float64{
		math.Inf(-1), -1e300, -1000, -200, -20, -5.5, -5, -3, -1, -0.5, -1e-6, -1e-9, -1e-300, 0, 1e-14, 1e-9, 1e-3, 0.5,
		0.9, 1 - 1e-9, 1, 1 + 1e-9, 1.5, 2, 5, 7, 7.5, 20, 200, 1e5, math.MaxFloat64,
	}
	scanForms = []string{"fs", "fs-ratio", "wfs", "wfs-ratio", "dafs"}
)

// A betaWorld is batches that come, change and go, with a scan next to the policy.
// How unlike they are depends on spread, the scale of the figures.
type betaWorld struct {
	*rand.Rand
	policy sched.Policy
	form   string
	spread int
	most   int // batches
	open   []sched.Batch
	last   crowd.BatchID
	turn   uint64
}

// spreads is the number of ways in which a betaWorld draws its figures.
const spreads = 7

func newBetaWorld(t *testing.T, r *rand.Rand, beta float64, form string, spread int) *betaWorld {
	name := fmt.Sprintf("beta-fair(beta=%g,x=%s)", beta, form)
	return &betaWorld{Rand: r, policy: parse(t, name), form: form, spread: spread, most: 2 + r.IntN(60)}
}

func (w *betaWorld) logUniform(least, most float64) float64 {
	return least * math.Pow(most/least, w.Float64())
}

func (w *betaWorld) priority() float64 {
	switch w.spread {
	case 0:
		return []float64{0.5, 1, 2, 3}[w.IntN(4)]
	case 1, 2:
		return w.logUniform(sched.MinPriority, sched.MaxPriority)
	case 3: // equal but for a millionth
		return 1 + 1e-6*w.Float64()
	case 4: // equal but for rounding
		return 1 + 0x1p-52*float64(w.IntN(9))
	case 5:
		return min(max(math.Exp(3*w.NormFloat64()), sched.MinPriority), sched.MaxPriority)
	}
	return 1
}

func (w *betaWorld) planned() int {
	switch w.spread {
	case 1:
		return int(w.logUniform(1, sched.MaxPlanned))
	case 2, 5:
		return int(w.logUniform(1, 1000))
	case 3, 4:
		return 100
	}
	return []int{1, 2, 3, 8, 40, 40}[w.IntN(6)]
}

// step changes a batch, or lets one come or go.
func (w *betaWorld) step() {
	if n := len(w.open); n == 0 || n < w.most && w.IntN(3) == 0 {
		w.last++
		w.open = append(w.open, sched.Batch{ID: w.last, TenantWeight: 1, Class: sched.Class(w.IntN(3)) * 0x1001, Arrived: epoch,
			Priority: w.priority(), Planned: w.planned(), Production: w.IntN(2) == 0, TaskTime: 1, Turn: w.turn, Assignable: true})
		w.tell(n)
		return
	}
	k := w.IntN(len(w.open))
	b := &w.open[k]
	switch w.IntN(12) {
	case 0, 1, 2:
		b.Running, b.Completed = max(0, b.Running-1), b.Completed+1
	case 3, 4:
		b.Running++ // also beyond what is left
	case 5:
		b.Running = 0
	case 6:
		b.Running = min(1+w.planned(), 200)
		if w.form != "dafs" { // there one term for each would be added up
			b.Running = w.planned()
		}
	case 7:
		b.Priority, b.Planned = w.priority(), w.planned()
	case 8:
		b.Assignable = !b.Assignable
	case 9:
		b.Class = sched.Class(w.IntN(3)) * 0x1001
	case 10: // a like of another one
		id := b.ID
		*b = w.open[w.IntN(len(w.open))]
		b.ID = id
	case 11:
		w.policy.Remove(b.ID)
		w.open = slices.Delete(w.open, k, k+1)
		return
	}
	w.tell(k)
}

func (w *betaWorld) tell(k int) {
	b := w.open[k]
	if !b.Open() {
		w.open = slices.Delete(w.open, k, k+1)
	}
	w.policy.Set(&b)
}

// A betaWorker may not do some classes and batches.
type betaWorker struct {
	classes, batches uint64 // by bit: those that are refused
	asked            []crowd.BatchID
}

func (w *betaWorker) LastBatch() crowd.BatchID    { return 0 }
func (w *betaWorker) MayClass(c sched.Class) bool { return w.classes>>(c&63)&1 == 0 }
func (w *betaWorker) MayBatch(b crowd.BatchID) bool {
	w.asked = append(w.asked, b)
	return w.batches>>(b&63)&1 == 0
}

// scan is the order of the candidates of the classes that the worker may do, from the
// key of each one: J after handing out from it, then turn, then id.
func (w *betaWorld) scan(worker *betaWorker) (order []crowd.BatchID) {
	var keys []sched.Key
	for _, b := range w.open {
		if b.Assignable && worker.MayClass(b.Class) {
			k, _ := w.policy.Key(b.ID)
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b sched.Key) int {
		if a.Before(b) {
			return -1
		}
		return 1
	})
	for _, k := range keys {
		order = append(order, k.Batch)
	}
	return order
}

// decide compares one decision with the scan: the batch, and all that was asked about
// on the way. It returns the number of candidates.
func (w *betaWorld) decide(t *testing.T) int {
	worker := &betaWorker{}
	switch w.IntN(4) {
	case 0:
		worker.classes, worker.batches = w.Uint64()&w.Uint64(), w.Uint64()
	case 1:
		worker.batches = ^uint64(0)
	case 2:
		worker.batches = w.Uint64() | w.Uint64()
	}
	got := w.policy.Next(epoch, worker)
	order := w.scan(worker)
	asked, want := order, crowd.BatchID(0)
	for i, id := range order {
		if worker.batches>>(id&63)&1 == 0 {
			asked, want = order[:i+1], id
			break
		}
	}
	if got != want || !slices.Equal(worker.asked, asked) {
		t.Errorf("%s, spread %d, %d batches: got %v, asked about %v; want %v, %v", w.policy.Name(), w.spread, len(w.open), got, worker.asked, want, asked)
	}
	if got != 0 {
		w.turn++
		k := slices.IndexFunc(w.open, func(b sched.Batch) bool { return b.ID == got })
		w.open[k].Turn = w.turn
		w.open[k].Running++
		w.tell(k)
	}
	return len(order)
}

// TestBetaFairDecidesAsTheScan compares decisions with a scan of the keys of all
// candidates, in worlds of all kinds of figures, and for workers who may do all, some
// or nothing.
func TestBetaFairDecidesAsTheScan(t *testing.T) {
	t.Parallel()
	steps := 400
	if testing.Short() {
		steps = 60
	}
	for _, beta := range scanBetas {
		t.Run(fmt.Sprint(beta), func(t *testing.T) {
			t.Parallel()
			choices := 0
			for _, form := range scanForms {
				for spread := range spreads {
					w := newBetaWorld(t, rand.New(rand.NewPCG(uint64(spread), math.Float64bits(beta))), beta, form, spread)
					for range steps {
						if w.step(); w.IntN(2) == 0 && w.decide(t) > 1 {
							choices++
						}
						if t.Failed() {
							return
						}
					}
				}
			}
			if least := steps * len(scanForms) * spreads / 4; choices < least {
				t.Errorf("looked at %d choices only, want %d at least", choices, least)
			}
		})
	}
}

// TestBetaFairLooksAtFewBoxes: of ten thousand batches, a hundredth is looked at.
func TestBetaFairLooksAtFewBoxes(t *testing.T) {
	t.Parallel()
	const size, cycles, most = 10_000, 300, 120
	for _, beta := range []string{"-inf", "-20", "-1", "0", "0.5", "1", "2"} {
		t.Run(beta, func(t *testing.T) {
			t.Parallel()
			p := parse(t, "beta-fair(beta="+beta+")")
			w := schedbench.NewWorld(p, size)
			seen := 0
			for range cycles {
				w.Cycle()
				n, ok := sched.LeftOut(p)
				if !ok || n == 0 {
					t.Fatalf("left out %d boxes, %v", n, ok)
				}
				seen += n
			}
			t.Logf("%d boxes a decision", seen/cycles)
			if seen > most*cycles {
				t.Errorf("looked at %d boxes a decision, want %d at most", seen/cycles, most)
			}
		})
	}
}

// FuzzBetaFair is the same for any β and figures.
func FuzzBetaFair(f *testing.F) {
	for i, beta := range scanBetas {
		f.Add(beta, uint8(i), uint8(i/2), uint64(i))
	}
	f.Fuzz(func(t *testing.T, beta float64, form, spread uint8, seed uint64) {
		if beta != beta || math.IsInf(beta, 1) {
			return // no number, or another policy
		}
		w := newBetaWorld(t, rand.New(rand.NewPCG(seed, 3)), beta, scanForms[int(form)%len(scanForms)], int(spread)%spreads)
		for range 150 {
			w.step()
			w.decide(t)
			if t.Failed() {
				return
			}
		}
	})
}
