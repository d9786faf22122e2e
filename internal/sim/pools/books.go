package pools

import (
	"math"
	"math/bits"
	"time"

	"github.com/throng-dev/throng/internal/engine"
)

// books are a pool's accounts while the run lasts.
type books struct {
	out PoolOutcome
	at  int64 // up to when the integrals go

	// Integrals over time in ns.
	size, prefers, best, gap, own, ownKnown float64
	awaited                                 time.Duration

	waits                   histogram
	wait                    float64 // sum over tasks handed out, in seconds
	waiting                 float64 // of the tasks in the queue at the end, of all pools
	workPrefers             float64 // sum over answers
	movedBefore, movedAfter float64
}

// elapse books the time up to now, before the number of people changes, or c*.
func (p *poolState) elapse(now int64) {
	b := &p.books
	if now == b.at {
		return
	}
	dt := float64(now - b.at)
	size := float64(len(p.list))
	b.size += size * dt
	b.prefers += p.prefers * dt
	if p.best != unknown {
		b.best += float64(p.best) * dt
		b.gap += math.Abs(size-float64(p.best)) * dt
	}
	if p.own != unknown {
		b.own += math.Abs(size-float64(p.own)) * dt
		b.ownKnown += dt
	}
	b.awaited += time.Duration(now-b.at) * time.Duration(p.coming)
	b.at = now
}

// progress books what the engine says of a task.
func (b *books) progress(p *engine.Progress) {
	switch {
	case p.Batch == trainingBatch:
	case p.Completed > 0:
		b.out.Completed++
	case !p.FirstStarted.IsZero():
		d := p.FirstStarted.Sub(p.LaunchedAt)
		b.out.Begun++
		b.wait += d.Seconds()
		b.waits.add(d)
	}
}

// moved books that somebody leaves for another pool.
func (b *books) moved(before, after float64) {
	b.out.MovedOut++
	b.movedBefore += before
	b.movedAfter += after
}

// histogram counts durations in classes of less than 0.8 % of their width, in
// constant memory.
type histogram struct {
	n      int64
	counts []int64
}

// fine is the number of classes of each octave, as a power of 2.
const fine = 7

func (h *histogram) add(d time.Duration) {
	if h.counts == nil {
		h.counts = make([]int64, classOf(math.MaxInt64)+1)
	}
	h.n++
	h.counts[classOf(d)]++
}

// classOf numbers the classes: those below 2^fine ns have one value each, and
// every octave above has 2^fine.
func classOf(d time.Duration) int {
	u := uint64(max(d, 0))
	if u < 1<<fine {
		return int(u)
	}
	octave := bits.Len64(u) - fine - 1
	return octave<<fine + int(u>>octave)
}

// middleOf is the middle of a class, in seconds.
func middleOf(class int) float64 {
	if class < 2<<fine {
		return float64(class) / 1e9
	}
	octave := class>>fine - 1
	return (float64(class-octave<<fine) + 0.5) * math.Ldexp(1, octave) / 1e9
}

// quantile is the smallest class with a share of at least q at or below it, in
// seconds; NaN of nothing.
func (h *histogram) quantile(q float64) float64 {
	if h.n == 0 {
		return math.NaN()
	}
	need := max(int64(math.Ceil(q*float64(h.n))), 1)
	for i, n := range h.counts {
		if need -= n; need <= 0 {
			return middleOf(i)
		}
	}
	return math.NaN()
}

// merge adds another's counts.
func (h *histogram) merge(other *histogram) {
	if other.n == 0 {
		return
	}
	if h.counts == nil {
		h.counts = make([]int64, len(other.counts))
	}
	h.n += other.n
	for i, n := range other.counts {
		h.counts[i] += n
	}
}
