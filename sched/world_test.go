package sched_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// A world is a pool in miniature: batches that come, change and go, and workers
// of whom some may do one thing and some another. Its figures are drawn from few
// values, so that ties abound.
type world struct {
	*rand.Rand
	open     []sched.Batch // in order of launch
	paused   map[crowd.BatchID]bool
	turns    map[crowd.TenantID]uint64
	handouts uint64
	launched crowd.BatchID
	look     time.Duration
	mute     bool // tells no TenantTurn: policies learn it from what they see
	tell     func(b sched.Batch)
	forget   func(id crowd.BatchID)
}

var epoch = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)

func newWorld(seed uint64) *world {
	return &world{
		Rand:   rand.New(rand.NewPCG(seed, 7)),
		paused: map[crowd.BatchID]bool{},
		look:   time.Duration(seed%3) * time.Minute,
		turns:  map[crowd.TenantID]uint64{},
		tell:   func(sched.Batch) {},
		forget: func(crowd.BatchID) {},
	}
}

// feed tells a policy everything from now on.
func (w *world) feed(p sched.Policy) {
	tell, forget := w.tell, w.forget
	w.tell = func(b sched.Batch) {
		tell(b)
		p.Set(&b)
		b = sched.Batch{ID: -1, Planned: 1, Priority: sched.MaxPriority, Assignable: true} // it was lent only
	}
	w.forget = func(id crowd.BatchID) { forget(id); p.Remove(id) }
}

func pick[T any](w *world, of ...T) T { return of[w.IntN(len(of))] }

func (w *world) launch() {
	w.launched++
	tenant := crowd.TenantID(1 + w.IntN(3))
	b := sched.Batch{
		ID:           w.launched,
		Tenant:       tenant,
		TenantWeight: []float64{1, 2, 0.5}[tenant-1],
		Class:        sched.Class(w.IntN(3)),
		Arrived:      epoch.Add(time.Duration(w.launched/3) * time.Second),
		Priority:     pick(w, 0.5, 1, 1, 2, 3),
		Reward:       crowd.Unit / 100 * crowd.Money(w.IntN(4)),
		Planned:      pick(w, 1, 2, 3, 3, 5, 8, 40),
		Production:   w.IntN(2) == 0,
		TaskTime:     pick(w, time.Second, 10*time.Second, time.Minute),
		Turn:         w.handouts,
		Due:          pick(w, time.Time{}, epoch, epoch.Add(time.Minute), epoch.Add(time.Hour)),
		Stake:        pick(w, 1, crowd.Unit, 20*crowd.Unit),
		Added:        pick(w, 0, 0, 5, 10*crowd.Unit),
		Since:        epoch.Add(pick(w, 0, 0, time.Second, 1)),
	}
	if b.Production {
		b.Deadline = epoch.Add(pick(w, time.Minute, time.Hour, 2*time.Hour))
	}
	w.paused[b.ID] = w.IntN(8) == 0
	b.Falls, b.Work, b.Look = b.Due.Add(pick(w, 0, time.Minute)), pick(w, 0, time.Minute, time.Hour), w.look
	w.open = append(w.open, b)
	w.changed(len(w.open) - 1)
}

// changed tells of the batch at position k of open, or of its end.
func (w *world) changed(k int) {
	b := &w.open[k]
	b.Assignable = !w.paused[b.ID] && b.Running < b.Planned-b.Completed
	if !w.mute {
		b.TenantTurn = w.turns[b.Tenant]
	}
	if !b.Open() {
		if gone := *b; w.IntN(2) == 0 {
			w.open = slices.Delete(w.open, k, k+1)
			w.forget(gone.ID)
		} else {
			w.open = slices.Delete(w.open, k, k+1)
			w.tell(gone) // a batch that is not open is forgotten
		}
		return
	}
	w.tell(*b)
}

func (w *world) position(id crowd.BatchID) int {
	return slices.IndexFunc(w.open, func(b sched.Batch) bool { return b.ID == id })
}

// handOut starts an assignment of the batch.
func (w *world) handOut(id crowd.BatchID) {
	k := w.position(id)
	b := &w.open[k]
	b.Running++
	w.handouts++
	b.Turn = w.handouts
	w.turns[b.Tenant] = w.handouts
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
	switch w.IntN(13) {
	case 0, 1, 2, 3, 4: // finish
		if b.Running > 0 {
			b.Running--
			b.Completed++
		}
	case 5, 6: // give back
		if b.Running > 0 {
			b.Running--
		}
	case 7:
		b.Planned = max(1, b.Planned+pick(w, -3, -1, 1, 5))
	case 8:
		b.Priority = pick(w, 0.5, 1, 2, 3)
	case 9, 10:
		w.paused[b.ID] = !w.paused[b.ID] && w.IntN(2) == 0
	case 11: // another of its tasks is the most urgent
		b.Due, b.Stake = pick(w, time.Time{}, epoch, epoch.Add(90*time.Second)), pick(w, 0, crowd.Unit, crowd.MaxMoney)
		b.Falls, b.Work = b.Due.Add(pick(w, 0, time.Minute)), pick(w, 0, time.Minute, time.Hour)
		b.Added, b.Since = pick(w, 0, 5, 5, 6, crowd.MaxMoney), epoch.Add(pick(w, -time.Hour, 0, 0, time.Second, 1))
	case 12:
		gone := b.ID
		w.open = slices.Delete(w.open, k, k+1)
		w.forget(gone)
		return
	}
	w.changed(k)
}

// A person is a worker with random abilities; the answers are kept, and what was
// asked is recorded.
type person struct {
	last    crowd.BatchID
	classes [3]bool
	refuses map[crowd.BatchID]bool
	asked   []crowd.BatchID
}

func (p *person) LastBatch() crowd.BatchID    { return p.last }
func (p *person) MayClass(c sched.Class) bool { return p.classes[c] }
func (p *person) MayBatch(b crowd.BatchID) bool {
	p.asked = append(p.asked, b)
	return !p.refuses[b]
}

func (w *world) person() *person {
	p := &person{refuses: map[crowd.BatchID]bool{}}
	picky := w.IntN(3) // 0: may do everything
	for c := range p.classes {
		p.classes[c] = picky == 0 || w.IntN(3) > 0
	}
	for _, b := range w.open {
		if picky > 0 && w.IntN(2) == 0 {
			p.refuses[b.ID] = true
		}
	}
	if len(w.open) > 0 && w.IntN(3) > 0 {
		p.last = w.open[w.IntN(len(w.open))].ID
	}
	return p
}

// anyone may do everything.
type anyone struct{ last crowd.BatchID }

func (a anyone) LastBatch() crowd.BatchID  { return a.last }
func (anyone) MayClass(sched.Class) bool   { return true }
func (anyone) MayBatch(crowd.BatchID) bool { return true }

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
	t.Logf("%d cases", seen)
}
