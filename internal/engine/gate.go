package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// Gate bounds how many of the people on duty are served. Source: Difallah et al.
// 2019, §4.3.1: work begins when Min people are there, and at most Max are
// accepted.
//
// A gate is closed at first. It opens when Min people are on duty, and stays open
// until the last of them has gone. While it is closed, only tasks of training batches are
// handed out, to anybody: the paper's paid warm-up. Who comes when Max people are
// inside waits outside, unpaid; the first of them comes in when somebody inside goes
// off duty.
type Gate struct {
	On  bool
	Min int // 0 as 1
	Max int // 0: no bound
}

// Validate checks the figures.
func (g *Gate) Validate() error {
	switch {
	case !g.On:
		return nil
	case g.Min < 0:
		return crowd.Fieldf("min", "%d is not a number of people", g.Min)
	case g.Max < 0 || g.Max > 0 && g.Max < g.Min:
		return crowd.Fieldf("max", "must be at least min, %d, not %d (0: no limit)", g.Min, g.Max)
	case g.Min == 0 && g.Max == 0:
		return crowd.Fieldf("gate", "a gate needs min, how many people open it, or max, how many are served, or both")
	}
	return nil
}

// GateChange is the opening or closing of a pool's gate.
type GateChange struct {
	Pool crowd.PoolID
	Open bool
}

// gate is a pool's gate, and who stands before it.
type gate struct {
	Gate
	open bool
	// outside holds those on duty who found no place inside, in order of their coming.
	outside []*worker
	changed bool // somebody came or went since it was looked after
}

// closed reports whether work has not begun yet.
func (g *gate) closed() bool { return g.On && !g.open }

// handsOut decides whether work is for somebody: that of training batches is for those in
// training, or for everybody while the gate is closed, and other work is for the others
// once the gate has opened.
func (g *gate) handsOut(training, inTraining bool) crowd.Reason {
	switch closed := g.closed(); {
	case training != inTraining && !(training && closed):
		return crowd.NotInTraining
	case closed && !training:
		return crowd.GateClosed
	}
	return crowd.Eligible
}

// holdsBack reports whether nothing of b is handed out before work begins, to whomever it
// is for.
func (g *gate) holdsBack(b *batch) bool {
	return g.handsOut(b.spec.Training, b.spec.Training) == crowd.GateClosed
}

// inside is how many people on duty are not outside.
func (e *Engine) inside() int { return e.present - len(e.gate.outside) }

// full reports whether n people inside leave no place for another.
func (g *gate) full(n int) bool { return g.On && g.Max > 0 && n >= g.Max }

// over reports whether w, one of n people inside who holds nothing any more, has no
// place: the gate was set, or lowered, while they were at work, and others came before.
func (g *gate) over(n int, w *worker) bool {
	return g.full(n-1) || len(g.outside) > 0 && byComing(g.outside[0], w) < 0
}

// byComing is the order in which people came on duty.
func byComing(x, y *worker) int {
	return cmp.Or(x.since.Compare(y.since), cmp.Compare(x.id, y.id))
}

// SetGate changes the pool's gate. Who holds a task keeps it and their place; of
// the others those stay inside who came first.
func (e *Engine) SetGate(now time.Time, g Gate) error {
	if err := g.Validate(); err != nil {
		return err
	}
	if g == e.gate.Gate {
		return nil
	}
	e.payAll(now)
	if !g.On {
		e.setOpen(false)
	}
	e.gate.Gate = g
	for _, w := range e.onDuty() {
		if !w.kept {
			e.keepDuty(now, w, "")
		}
	}
	e.placeAll(now)
	e.run(now)
	return nil
}

// placeAll gives the places inside to the people on duty anew.
func (e *Engine) placeAll(now time.Time) {
	list := e.onDuty()
	slices.SortStableFunc(list, byComing)
	inside := e.busy // they have theirs
	for _, w := range e.gate.outside {
		w.outside = false
	}
	e.gate.outside = e.gate.outside[:0]
	for _, w := range list {
		if w.holds != nil {
			continue
		}
		if e.gate.full(inside) {
			e.putOutside(now, w)
		} else {
			inside++
		}
	}
	e.gate.changed = true
	for w := e.waiting.head; w != nil; { // of whom some came in
		next := w.next
		if !w.outside {
			e.admitted(now, w)
		}
		w = next
	}
}

// putOutside lets w, who is on duty and holds nothing, stand outside.
func (e *Engine) putOutside(now time.Time, w *worker) {
	if w.waiting {
		e.stopPay(now, w)
	}
	w.outside, w.paidTo = true, time.Time{}
	i, _ := slices.BinarySearchFunc(e.gate.outside, w, byComing)
	e.gate.outside = slices.Insert(e.gate.outside, i, w)
}

// takeIn ends w's standing outside, if they do.
func (e *Engine) takeIn(w *worker) {
	if !w.outside {
		return
	}
	w.outside = false
	i, _ := slices.BinarySearchFunc(e.gate.outside, w, byComing)
	e.gate.outside = slices.Delete(e.gate.outside, i, i+1)
}

// admitted serves w, who waits inside, or begins to pay their waiting.
func (e *Engine) admitted(now time.Time, w *worker) {
	e.serve(now, w)
	if w.waiting && w.paidTo.IsZero() {
		e.startPay(now, w)
	}
}

// updateGate opens and closes the gate, and lets people in, after somebody has come or
// gone.
func (e *Engine) updateGate(now time.Time) {
	g := &e.gate
	if !g.changed {
		return
	}
	g.changed = false
	for len(g.outside) > 0 && !g.full(e.inside()) {
		w := g.outside[0]
		e.takeIn(w)
		if w.waiting {
			e.admitted(now, w)
		}
	}
	switch {
	case !g.On:
	case g.open && e.present == 0:
		e.setOpen(false)
	case !g.open && e.present > 0 && e.inside() >= g.Min:
		e.setOpen(true)
		for w := e.waiting.head; w != nil; {
			next := w.next
			e.serve(now, w)
			w = next
		}
	}
}

// setOpen opens or closes the gate, for the store to keep.
func (e *Engine) setOpen(open bool) {
	if e.gate.open != open {
		e.gate.open = open
		e.changes.Gates = append(e.changes.Gates, GateChange{Pool: e.cfg.Pool, Open: open})
	}
}

// GateView is a pool's gate as it stands.
type GateView struct {
	Gate
	Open    bool
	Inside  int // on duty, and not outside
	Outside int // on duty without a place
}

// String says it in words: "" without a gate.
func (g GateView) String() string {
	switch {
	case !g.On:
		return ""
	case !g.Open:
		return fmt.Sprintf("closed: %d of %s here", g.Inside, are(g.Opens()))
	case g.Outside > 0:
		return fmt.Sprintf("open: %s, at most %d; %d outside", format.Count(g.Inside, "person"), g.Max, g.Outside)
	case g.Max > 0:
		return fmt.Sprintf("open: %s, at most %d", format.Count(g.Inside, "person"), g.Max)
	}
	return "open: " + format.Count(g.Inside, "person")
}

// Missing says how many people a closed gate waits for.
func (g GateView) Missing() string {
	return fmt.Sprintf("the pool's gate is closed: work begins when %s on duty, and %d more must come", are(g.Opens()), g.Lacks())
}

// Lacks is how many more people must come on duty for a closed gate to open; 0: it is open,
// or there is none.
func (g GateView) Lacks() int {
	if !g.On || g.Open {
		return 0
	}
	return max(g.Opens()-g.Inside, 0)
}

// Opens is with how many people on duty the gate opens.
func (g GateView) Opens() int { return max(g.Min, 1) }

// Filled says that nobody else is let in, and how many are outside.
func (g GateView) Filled() string {
	return fmt.Sprintf("the pool is full: %s inside, at most %d, and %d outside", are(g.Inside), g.Max, g.Outside)
}

func are(people int) string {
	if people == 1 {
		return "1 person is"
	}
	return format.Count(people, "person") + " are"
}

// isOrAre is are where it is plain that people are counted.
func isOrAre(people int) string {
	if people == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", people)
}

// Excludes says to somebody why the gate keeps work from them, or "" if it does not.
// Outside is their place among those outside; 0: they are inside.
func (g GateView) Excludes(outside int) string {
	switch {
	case outside > 0:
		return fmt.Sprintf("The pool is full: you are number %d of those who wait outside. Waiting there is not paid.", outside)
	case g.On && !g.Open:
		return fmt.Sprintf("Work begins when %s here; %s.", are(g.Opens()), isOrAre(g.Inside))
	}
	return ""
}

// Gate returns the pool's gate as it stands.
func (e *Engine) Gate() GateView {
	return GateView{Gate: e.gate.Gate, Open: e.gate.open, Inside: e.inside(), Outside: len(e.gate.outside)}
}

// shutOut reports whether w has no place inside the gate, or would find none if they came.
func (w *worker) shutOut() bool {
	e := w.engine
	return w.outside || !w.on && e.gate.full(e.inside())
}

// place is w's place among those outside, from 1; 0: they are not outside.
func (w *worker) place() int {
	if !w.outside {
		return 0
	}
	i, _ := slices.BinarySearchFunc(w.engine.gate.outside, w, byComing)
	return i + 1
}

// outsideFirst puts those outside before those inside: they are the first who can be
// spared.
func outsideFirst(x, y *worker) int {
	switch {
	case x.outside == y.outside:
		return 0
	case x.outside:
		return -1
	}
	return 1
}
