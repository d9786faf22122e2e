package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/sched"
)

// exec runs one command and checks the reply; settle checks the changes.
func (w *world) exec(c command) error {
	switch c.op {
	case "ready":
		id := w.worker(c.a)
		if w.k.retainer.Called && !w.k.person(id).on && c.b%4 > 0 {
			if err := w.startDuty(id); err != nil || !w.k.person(id).on && w.k.comes == 0 {
				return err
			}
			if err := w.settle(); err != nil {
				return err
			}
			w.k.begin()
		}
		return w.ready(id)
	case "start duty":
		id := w.worker(c.a)
		for other, p := range w.k.people { // of those who are about to go as a rule
			if p.leaves != "" && c.b%3 > 0 && (w.k.person(id).leaves == "" || other < id) {
				id = other
			}
		}
		return w.startDuty(id)
	case "end duty":
		return w.endDuty(w.worker(c.a), []engine.Departure{engine.Left, engine.Released, engine.Moved, engine.Silent, engine.Unpaid}[c.b%5])
	case "renew":
		return w.renew(c)
	case "train":
		return w.train(c)
	case "retainer":
		return w.setRetainer(c)
	case "fund":
		return w.fund(c)
	case "withdraw":
		return w.withdraw(c)
	case "submit":
		if h, ok := w.held(c.a); ok {
			return w.submit(h, key(c.b))
		}
	case "delay":
		if h, ok := w.held(c.a); ok {
			w.out = append(w.out, delayed{h, key(c.b)})
		}
	case "deliver":
		if n := len(w.out); n > 0 {
			x := w.out[n-1-int(c.a)%min(n, 1+int(c.b%4)*5)] // as a rule one of the last ones
			w.out = slices.DeleteFunc(w.out, func(y delayed) bool { return y == x })
			return w.submit(x.Handout, x.key)
		}
	case "submit again":
		if h, ok := w.once(c.a, func(r *row) bool { return r.answer != nil || r.kept != nil }); ok {
			return w.submit(h, key(c.b))
		}
	case "submit forgotten":
		if h, ok := w.once(c.a, func(r *row) bool { return r.answer == nil && (r.state == crowd.Expired || r.state == crowd.Withdrawn) }); ok {
			return w.submit(h, key(c.b))
		}
	case "submit another's":
		if h, ok := w.held(c.a); ok {
			return w.submitAnothers(h, c.b)
		}
	case "submit nonsense":
		_, err := w.e.Submit(w.now, w.worker(c.a), crowd.BatchID(1+c.b%9).Assignment(1e6+c.c), "{}", "A")
		if !errors.Is(err, engine.ErrForgotten) {
			return fmt.Errorf("an assignment that never was: %v", err)
		}
		w.k.seen["submit nonsense"]++
	case "return", "skip", "report":
		if h, ok := w.held(c.a); ok {
			return w.giveBack(c.op, h)
		}
	case "give back again":
		if h, ok := w.once(c.a, func(r *row) bool {
			return r.state == crowd.Returned || r.state == crowd.Skipped || r.state == crowd.Reported
		}); ok {
			return w.giveBackAgain(h)
		}
	case "undo":
		return w.undo(c)
	case "undo what stands":
		return w.undoWhatStands(c.a)
	case "count now":
		return w.countNow(w.worker(c.a))
	case "report what ended":
		return w.reportEnded(c.a)
	case "heartbeat":
		if h, ok := w.held(c.a); ok {
			return w.heartbeat(h)
		}
	case "leave":
		w.leave(w.worker(c.a))
	case "tick":
		return w.tick(c)
	case "launch":
		return w.launch(c)
	case "worker", "suspend", "remove worker":
		return w.changeWorker(c)
	case "policy":
		w.k.policy = policies[c.a%uint32(len(policies))]
		w.e.SetPolicy(sched.MustParse(w.k.policy))
		for _, b := range w.k.batches {
			b.reform(w.k.form())
		}
		w.k.seen["policy changed"]++
	case "grow":
		return w.grow(c)
	case "revise":
		return w.revise(c)
	case "take out":
		return w.takeOut(c)
	case "undo action":
		return w.undoAction(c)
	case "disregard":
		return w.disregard(c)
	case "revise answer":
		return w.reviseAnswer(c)
	case "judge":
		return w.judge(c)
	case "add":
		return w.add(c)
	case "seal":
		return w.seal(c)
	case "take over":
		return w.takeOver(c)
	case "set total":
		return w.setTotal(c)
	case "set tail", "set bound":
		return w.setTerms(c)
	case "stop", "start":
		w.k.stopped = c.op == "stop"
		w.e.Stop(w.now, w.k.stopped)
	case "stop tenant", "start tenant":
		t := w.k.tenants[crowd.TenantID(1+c.a%uint32(len(w.k.tenants)))]
		t.Stopped = c.op == "stop tenant"
		return w.setTenant(t)
	case "restart":
		return w.restart()
	default:
		return w.changeBatch(c)
	}
	return nil
}

// key is an answer: right as a rule.
func key(n uint32) string { return []string{"A", "A", "B", "A", "C", "B", "A"}[n%7] }

func (w *world) worker(n uint32) crowd.WorkerID { return crowd.WorkerID(1 + n%9) }

// held picks a hand-out that somebody holds.
func (w *world) held(n uint32) (engine.Handout, bool) {
	rows := w.k.heldRows()
	if len(rows) == 0 {
		return engine.Handout{}, false
	}
	return rows[n%uint32(len(rows))], true
}

// once picks an earlier hand-out of which something is true.
func (w *world) once(n uint32, which func(*row) bool) (engine.Handout, bool) {
	for i := range w.given {
		h := w.given[(int(n)+i)%len(w.given)]
		if r := w.k.rows[h.Assignment]; which(r) {
			return r.Handout, true
		}
	}
	return engine.Handout{}, false
}

func (w *world) ready(id crowd.WorkerID) error {
	who, known := w.k.workers[id]
	p, waited := w.k.person(id), slices.Contains(w.k.waiting, id)
	h, ok, err := w.e.Ready(w.now, id)
	if err == nil {
		p.seen = w.now
	}
	switch r := w.k.holding[id]; {
	case !known:
		w.k.seen["ready: not in the pool"]++
		return wantCode(err, crowd.NotFound)
	case r != nil:
		w.k.seen["ready: holds one already"]++
		if !ok || h != r.Handout || err != nil {
			return fmt.Errorf("%s holds %v and gets %v, %t, %v", id, r.Handout, h, ok, err)
		}
		return nil
	case who.Suspended:
		w.k.seen["ready: suspended"]++
		return wantCode(err, crowd.Forbidden)
	case w.k.retainer.Called && !p.on:
		w.k.seen["ready: off duty"]++
		return wantCode(err, crowd.OffDuty)
	case err != nil:
		return err
	}
	if !p.on {
		w.k.comes = id
	}
	if !waited {
		w.k.enoughLearnt(id)
	}
	if !ok {
		w.k.startWaiting(id)
		w.k.seen["ready: has to wait"]++
		return nil
	}
	w.k.seen["ready: served"]++
	return nil
}

func wantCode(err error, code crowd.Code) error {
	if crowd.CodeOf(err) != code {
		return fmt.Errorf("error %v, want one of code %s", err, code)
	}
	return nil
}

// submit sends an answer as the service does, and checks the reply.
func (w *world) submit(h engine.Handout, key string) error {
	r := w.k.rows[h.Assignment]
	before := *r
	out, err := w.e.Submit(w.now, h.Worker, h.Assignment, `{"label":"`+key+`"}`, key)
	_, t, _ := w.k.task(h.Task)
	_, running := w.e.Status(h.Assignment.Batch())
	switch {
	case errors.Is(err, engine.ErrForgotten):
		if t.label == nil && !(t.removed && t.live == 0) && !w.k.batches[h.Task.Batch()].kept.State.Ended() {
			return fmt.Errorf("%s is forgotten, although %s has no label (running %t)", h.Assignment, t.id, running)
		}
		w.k.seen["submit: forgotten"]++
		if before.answer != nil || before.state != crowd.Expired && before.state != crowd.Withdrawn {
			return nil // the store answers for it
		}
		w.k.seen["submit: forgotten, kept late"]++
		if out := w.e.KeepLate(w.now, h.Worker, h.Assignment, "{}", key); !out.Late || out.Counted || out.Paid != 0 {
			return fmt.Errorf("%s: kept late with %+v", h.Assignment, out)
		}
		return nil
	case before.kept != nil:
		w.k.seen["undo: submitted again meanwhile"]++
		if want := (engine.Outcome{Duplicate: true, CountsAt: w.k.countsAt(&before)}); err != nil || out != want {
			return fmt.Errorf("%s again: %+v, %v; want %+v", h.Assignment, out, err, want)
		}
		return nil
	case before.answer != nil:
		w.k.seen[fmt.Sprintf("submit: duplicate, same answer %t", before.answer.Key == key)]++
		want := engine.Outcome{Counted: before.answer.Counted, Late: before.answer.Late, Paid: before.answer.Paid, Held: before.answer.Held, Duplicate: true}
		if err != nil || out != want {
			return fmt.Errorf("%s again: %+v, %v; want %+v", h.Assignment, out, err, want)
		}
		return nil
	case before.state == crowd.Returned || before.state == crowd.Skipped || before.state == crowd.Reported:
		w.k.seen["submit: given back before"]++
		return wantCode(err, crowd.Conflict)
	}
	return err // what became of it is in the changes
}

func (w *world) submitAnothers(h engine.Handout, n uint32) error {
	thief := w.worker(n)
	if thief == h.Worker {
		return nil
	}
	w.k.seen["submit: somebody else's"]++
	_, err := w.e.Submit(w.now, thief, h.Assignment, "{}", "A")
	_, beat := w.e.Heartbeat(w.now, thief, h.Assignment)
	for _, err := range []error{err, beat, w.e.Return(w.now, thief, h.Assignment), w.e.Skip(w.now, thief, h.Assignment), w.e.Report(w.now, thief, h.Assignment, "theirs"), undo(w.e, w.now, thief, h.Assignment)} {
		if err := wantCode(err, crowd.NotFound); err != nil {
			return err
		}
	}
	return nil
}

// tick lets some time go by: to the next timer, or anywhere.
func (w *world) tick(c command) error {
	due, ok := w.e.NextTimer()
	to := w.now.Add(time.Duration(c.b%180) * time.Second)
	if ok && c.a%2 == 0 && due.After(to) {
		to = due
	}
	if c.a%5 == 0 { // the server slept
		to = to.Add(time.Duration(c.c%15) * time.Minute)
	}
	if err := w.pass(to, 1+c.c/16%7); err != nil {
		return err
	}
	w.k.begin()
	return nil
}

func (w *world) launch(c command) error {
	if w.e.Counts().Batches >= 5 {
		return nil
	}
	s := w.randomSpec(rand.New(rand.NewPCG(uint64(c.a), 2)))
	err := w.e.Launch(w.now, s)
	if err == nil {
		w.last = s.ID
		w.k.launch(s)
		w.store.specs[s.ID] = s
		w.store.items[s.ID] = make([]engine.Item, s.Tasks)
		w.k.seen["launched"]++
		return wantCode(w.e.Launch(w.now, s), crowd.Conflict)
	}
	var why *crowd.Error
	if !errors.As(err, &why) || why.Field != "redundancy" && why.Field != "invited" && why.Field != "enough.spent" {
		return fmt.Errorf("launch of %+v: %w", s, err)
	}
	w.k.seen["launch refused: "+why.Field]++
	return nil
}

func (w *world) setTenant(t engine.Tenant) error {
	w.k.tenants[t.ID] = t
	w.store.tenants[t.ID] = t
	return w.e.SetTenant(w.now, t)
}

func (w *world) setWorker(x engine.Worker) error {
	was := w.k.workers[x.ID]
	w.k.workers[x.ID] = x
	w.store.workers[x.ID] = x
	if w.k.holding[x.ID] != nil && w.k.person(x.ID).on && was.Suspended && !x.Suspended {
		w.k.seen["suspended: lifted in time"]++
	} else if x.Suspended && w.k.holding[x.ID] == nil && w.k.person(x.ID).on {
		w.k.goes[x.ID] = engine.Released
	}
	return w.e.SetWorker(w.now, x)
}

func (w *world) changeWorker(c command) error {
	id := w.worker(c.a)
	was, known := w.k.workers[id]
	switch c.op {
	case "worker":
		for other := range w.k.holding { // of those who are suspended at work as a rule
			if w.k.workers[other].Suspended && c.b%2 == 0 && (!w.k.workers[id].Suspended || other < id) {
				id = other
				was, known = w.k.workers[id]
			}
		}
		if !known {
			w.k.seen["worker comes (back)"]++
		}
		return w.setWorker(w.randomWorker(id, rand.New(rand.NewPCG(uint64(c.b), 3))))
	case "suspend":
		if !known {
			return nil
		}
		was.Suspended = true
		return w.setWorker(was)
	}
	for _, r := range w.k.graces { // of those who may take something back as a rule
		if c.b%2 == 0 && w.k.holding[r.Worker] == nil && (len(w.e.Undoable(id)) == 0 || r.Worker < id) {
			id = r.Worker
			_, known = w.k.workers[id]
		}
	}
	err := w.e.RemoveWorker(w.now, id)
	switch {
	case !known:
		return wantCode(err, crowd.NotFound)
	case w.k.holding[id] != nil:
		w.k.seen["remove: holds a task"]++
		return wantCode(err, crowd.Conflict)
	}
	w.k.seen["worker removed"]++
	w.k.train(id, 0)
	if w.k.person(id).on {
		w.k.goes[id] = engine.Moved
	}
	delete(w.k.workers, id)
	delete(w.store.workers, id)
	return err
}

// restart makes a new engine from the store, which then goes on in the old
// one's place. Whoever waited asks again.
func (w *world) restart() error {
	fresh, err := engine.Restore(w.now, engine.Config{Pool: poolID, Policy: sched.MustParse(w.k.policy), Observe: true}, w.store.snapshot(w.k.stopped))
	if err != nil {
		return err
	}
	if err := fresh.Check(); err != nil {
		return fmt.Errorf("restored: %w", err)
	}
	fresh.Take(&w.ch)
	if !w.ch.Empty() || len(w.ch.Events)+len(w.ch.Served)+len(w.ch.Shifts) > 0 {
		return fmt.Errorf("restored with changes %+v", w.ch)
	}
	for _, id := range w.running() {
		was, _ := w.e.Status(id)
		got, ok := fresh.Status(id)
		for _, st := range []*engine.Status{&was, &got} {
			st.Here = 0                             // who is on duty in an open pool is not kept
			if st.Reason == crowd.OtherBatchFirst { // whose turn it is among equals is not kept
				st.Reason = crowd.NoWorkerReady
			}
		}
		if !ok || !reflect.DeepEqual(got, was) {
			return fmt.Errorf("restored:\n got %+v\nwant %+v", got, was)
		}
	}
	for _, r := range w.k.holding { // heartbeats are not kept: a lease starts again
		r.Expires = instant.Later(w.now, r.At).Add(w.k.batches[r.Task.Batch()].spec.Lease)
	}
	if got, want := fresh.Holding(0), w.k.heldRows(); !slices.Equal(got, want) {
		return fmt.Errorf("restored: in people's hands\n got %v\nwant %v", got, want)
	}
	w.e = fresh
	waited := w.k.waiting
	w.k.restarted()
	for _, id := range w.running() {
		b := w.k.batches[id]
		b.restarted(w.now)
		if b.open {
			w.k.seen["open batch restored"]++
		}
		if b.removed() > 0 {
			w.k.seen["restored with tasks taken out"]++
		}
		if len(w.store.past[id]) > 0 {
			w.k.seen["restored with a past reward"]++
		}
		if slices.ContainsFunc(b.tasks, func(t *taskBook) bool { return t.without > 0 && t.label == nil }) {
			w.k.seen["disregard: restored"]++
		}
		if w.k.provisionalOf(b) > 0 {
			w.k.seen["undo: restored with provisional answers"]++
		}
		if b.spec.PerWorker > 0 && b.counted > 0 {
			w.k.seen["restored with bounds on people"]++
		}
		if len(b.spec.NotBy) > 0 && len(b.tasks) > 0 {
			w.k.seen["restored with exclusions"]++
		}
		if b.spec.SLA != nil {
			w.k.seen["batch with an order restored"]++
		}
	}
	w.k.seen["restart"]++
	if err := w.settle(); err != nil {
		return fmt.Errorf("restored: %w", err)
	}
	for _, id := range waited {
		w.k.begin()
		if w.k.retainer.Called && !w.k.person(id).on {
			return fmt.Errorf("restored: %s waited, and is off duty", id)
		}
		if err := w.ready(id); err != nil {
			return err
		}
		if err := w.settle(); err != nil {
			return err
		}
	}
	return nil
}
