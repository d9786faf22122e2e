package engine_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/sched"
	"github.com/throng-dev/throng/sla"
)

// growth is what the books know of a batch that may grow, or has an SLA.
type growth struct {
	open      bool
	funded    crowd.Money // reserved so far
	waitsFrom time.Time
	response  time.Duration // with which delays are computed
	tail      time.Duration
	work      time.Duration
	form      sla.Form
	told      time.Time // when last something of it was computed
	look      time.Duration
}

// wait is a task's request for a worker, in a batch with an SLA.
type wait struct {
	since, born, bound time.Time
	item               engine.Item // as told
	stands             bool        // wants a worker
	step               sla.Step    // its next step, as last computed; zero: none
	added              crowd.Money // what a delay adds, as last computed
	next               time.Time   // when that changes; zero: never
}

// nothingToLose is the place of what nothing was promised of, or what is lost.
func nothingToLose(form sla.Form) int64 {
	if form == sla.ATC {
		return math.MaxInt64
	}
	return 0
}

// handed is a hand-out and since when the batch's work had waited.
type handed struct {
	engine.Handout
	from time.Time
}

// form is the form of orders under the policy in force.
func (k *books) form() sla.Form { return sla.Form(sched.PenaltyForm(k.policy)) }

func newGrowth(now time.Time, s *engine.Spec, form sla.Form) growth {
	g := growth{form: form, told: now, open: s.Open, funded: s.Budget, waitsFrom: now, response: s.TaskTime}
	if s.Budget == 0 {
		g.funded = s.Reward * crowd.Money(s.MostAnswers())
	}
	if s.SLA != nil {
		g.tail, g.work = s.SLA.Tail, s.SLA.Work
	}
	return g
}

func (b *batchBook) request(t *taskBook) sla.Request {
	return sla.Request{ID: int64(t.id.N()), Since: t.since, Start: t.born, Tail: b.tail, Bound: t.bound, Penalty: b.penalty(t)}
}

// penalty is that of the class of t's item.
func (b *batchBook) penalty(t *taskBook) *sla.Penalty {
	return &append([]sla.Penalty{b.spec.SLA.Penalty}, b.spec.SLA.Others...)[t.item.Class]
}

// rank computes the place of t, and when it changes.
func (b *batchBook) rank(now time.Time, t *taskBook) {
	b.told = now
	t.step, t.added, t.next = b.compute(now, t)
}

func (b *batchBook) compute(now time.Time, t *taskBook) (step sla.Step, added crowd.Money, next time.Time) {
	r := b.request(t)
	if b.form != sla.ATC {
		next, _ = r.NextChange(now, b.response)
		return step, r.Added(now, b.response), next
	}
	step, _ = r.NextStep(now, b.response)
	return step, 0, step.Due
}

// reform takes over the form of a new policy, as of when the order was told last.
func (b *batchBook) reform(form sla.Form) {
	if b.form == form {
		return
	}
	b.form = form
	b.pass(b.told)
}

// stand notes whether t wants a worker.
func (b *batchBook) stand(now time.Time, t *taskBook) {
	if b.spec.SLA == nil {
		return
	}
	stands := t.label == nil && t.live+len(t.answers) < t.want()
	if stands && !t.stands {
		b.rank(now, t)
	}
	t.stands = stands
}

func (b *batchBook) settle(now time.Time) {
	for _, t := range b.tasks {
		b.stand(now, t)
	}
}

// pass ranks everything again.
func (b *batchBook) pass(now time.Time) {
	for _, t := range b.tasks {
		if t.stands {
			b.rank(now, t)
		}
	}
}

// advance does what the calendar says.
func (b *batchBook) advance(now time.Time, seen happenings) {
	for _, t := range b.tasks {
		if t.stands && !t.next.IsZero() && !t.next.After(now) {
			b.rank(now, t)
			seen["calendar moved: "+string(b.form)]++
		}
	}
}

// nextChange is the first entry of the calendar, or zero.
func (b *batchBook) nextChange() time.Time {
	var first time.Time
	for _, t := range b.tasks {
		if t.stands && !t.next.IsZero() && (first.IsZero() || t.next.Before(first)) {
			first = t.next
		}
	}
	return first
}

// expect follows the expected time of an assignment in steps of more than a tenth.
func (b *batchBook) expect(now time.Time) bool {
	mean := (5*b.spec.TaskTime + b.worked) / time.Duration(5+b.counted)
	if moved := (mean - b.response).Abs(); b.spec.SLA != nil && moved > b.response/10 {
		b.response = mean
		b.pass(now)
		return true
	}
	return false
}

// restarted forgets what a restart forgets, and takes what the snapshot has.
func (b *batchBook) restarted(now time.Time) {
	if b.spec.SLA == nil {
		return
	}
	b.tail, b.work, b.response = b.spec.SLA.Tail, b.spec.SLA.Work, b.spec.TaskTime
	b.expect(now)
	since := b.launched
	for _, t := range b.tasks {
		if t.label != nil {
			continue
		}
		if t.item.Born.After(since) && !t.item.Born.After(now) {
			since = t.item.Born
		}
		t.since, t.born = since, t.item.Born
		if t.born.IsZero() {
			t.born = since
		}
	}
	b.pass(now)
}

// urgency is the place of t: also of a task that has just come back.
func (b *batchBook) urgency(now time.Time, t *taskBook) int64 {
	step, added := t.step, t.added
	if !t.stands {
		step, added, _ = b.compute(now, t)
	}
	switch {
	case b.form != sla.ATC:
		return -int64(added)
	case step.Due.IsZero():
		return nothingToLose(b.form)
	case b.several() && b.look > 0:
		return step.Urgency(b.look).UnixNano()
	}
	return step.Urgency(b.response).UnixNano()
}

// mostUrgent checks the order within a batch with an SLA, over all its tasks.
func (k *books) mostUrgent(x engine.Handout, b *batchBook, t *taskBook) error {
	mine, rivals, held := b.urgency(k.now, t), 0, 0
	urgent := mine != nothingToLose(b.form)
	for _, other := range b.tasks {
		its := b.urgency(k.now, other)
		if other.unfit(x.Worker) != "" {
			if other.unfit(x.Worker) == "held before" && other.live+len(other.answers) < other.want() && its <= mine && other.id < t.id {
				held++
			}
			continue
		}
		rivals++
		switch {
		case its < mine:
			return fmt.Errorf("%s has place %d, this one %d (%s)", other.id, its, mine, b.form)
		case its == mine && other.id < t.id:
			return fmt.Errorf("%s came before and has the same place, %d (%s)", other.id, its, b.form)
		case its == mine && urgent && other.id > t.id:
			k.seen["most urgent among equals: "+string(b.form)]++
		case its > mine && other.id < t.id && other.item.Class != t.item.Class:
			k.seen["urgent before an older task of another class: "+string(b.form)]++
		case its > mine && other.id < t.id:
			k.seen["urgent before an older task: "+string(b.form)]++
		}
	}
	if rivals > 1 && urgent {
		k.seen["most urgent of several: "+string(b.form)]++
	}
	if held > 0 {
		k.seen["passed over what they held"]++
	}
	return nil
}

// head is the most urgent of b's tasks that want somebody, whoever that is; nil:
// nothing was promised of them.
func (b *batchBook) head(now time.Time) *taskBook {
	if b.spec.SLA == nil {
		return nil
	}
	var head *taskBook
	least := int64(0)
	for _, t := range b.tasks {
		if t.label != nil || t.live+len(t.answers) >= t.want() {
			continue
		}
		if first := b.urgency(now, t); head == nil || first < least {
			head, least = t, first
		}
	}
	return head
}

// stake is the place of a batch between the others, in its policy's own measure,
// and since when its head has waited.
func (b *batchBook) stake(now time.Time) (first float64, since time.Time) {
	t := b.head(now)
	switch {
	case t == nil && b.form == sla.ATC:
		return math.Inf(1), b.launched
	case t == nil:
		return 0, b.launched
	case b.form != sla.ATC:
		return float64(b.urgency(now, t)), t.since
	}
	r := b.request(t)
	step, ok := r.NextStep(b.told, b.response)
	if !ok {
		return math.Inf(1), t.since
	}
	worth := math.Log(float64(max(step.Cost, 1)) / float64(crowd.Unit) / b.takes().Minutes())
	return float64(step.Due.UnixMicro()) - 60e6*worth, t.since
}

// later reports whether under penalty another batch goes before b.
func (b *batchBook) later(now time.Time, other *batchBook) bool {
	mine, since := b.stake(now)
	its, from := other.stake(now)
	if b.form == sla.ATC && mine != its && math.Abs(mine-its) < 5 {
		return false // that close, µs are rounded
	}
	return its < mine || its == mine && from.Before(since)
}

// idle reports whether an open batch has nothing to do, and nothing else hinders it.
func (k *books) idle(b *batchBook) bool {
	stopped := k.stopped || b.stopped || k.tenants[b.spec.Tenant].Stopped || b.kept.State != crowd.BatchRunning
	idle := b.open && !stopped && b.running == 0 && b.left() == 0
	if idle {
		k.seen["no task yet"]++
	}
	return idle
}

// promise makes some batches open, and gives some an SLA.
func (w *world) promise(s *engine.Spec, r *rand.Rand) {
	if s.Invited != nil {
		return
	}
	if s.Open = r.IntN(3) == 0; s.Open {
		if r.IntN(2) == 0 {
			s.Tasks = 0
		}
		if r.IntN(2) == 0 {
			s.Budget = 0
		}
	}
	if r.IntN(2) == 0 {
		return
	}
	s.TaskTime = max(s.TaskTime, 20*time.Second)
	every := time.Duration(1+r.IntN(10)) * time.Minute
	draw := func() sla.Penalty {
		p := sla.Penalty{Kind: sla.Kinds()[r.IntN(3)], After: time.Duration(r.IntN(40)) * time.Minute, Cost: crowd.Money(1+r.IntN(3)) * 1_000_000, Every: every}
		if p.Kind == sla.Constant {
			p.Every = 0
		}
		if r.IntN(2) == 0 {
			p.AtMost = 8 * p.Cost
		}
		return p
	}
	s.SLA = &engine.Terms{Penalty: draw(), Tail: time.Duration(r.IntN(20)) * time.Minute, Work: time.Duration(r.IntN(3)) * 20 * time.Minute}
	for range max(r.IntN(5)-2, 0) {
		s.SLA.Others = append(s.SLA.Others, draw())
	}
}

// pick picks a batch: a running one that has something, if there is one, as a rule.
func (w *world) pick(c command, has func(*batchBook) bool) crowd.BatchID {
	var list []crowd.BatchID
	for _, id := range w.running() {
		if has(w.k.batches[id]) {
			list = append(list, id)
		}
	}
	if len(list) == 0 || c.c%16 == 0 {
		return crowd.BatchID(1 + c.a%(uint32(w.last)+1))
	}
	return list[c.a%uint32(len(list))]
}

// grow tells the engine of more tasks, as a store has them: some of them again, and
// sometimes with a gap; sometimes it has them and does not tell.
func (w *world) grow(c command) error {
	id := w.pick(c, func(b *batchBook) bool { return b.open })
	b := w.k.batches[id]
	if b == nil || !b.kept.State.Open() {
		return wantCode(w.e.Grow(w.now, id, 1, make([]engine.Item, 1)), crowd.NotFound)
	}
	known, how := uint32(len(b.tasks)), c.b%8
	switch {
	case how == 0:
		w.k.seen["grown: a gap"]++
		var why *crowd.Error
		if err := w.e.Grow(w.now, id, known+2, make([]engine.Item, 1)); !errors.As(err, &why) || why.Field != "first" {
			return fmt.Errorf("grown with a gap: %v", err)
		}
		return nil
	case how == 1 && known > 0:
		w.k.seen["grown: said twice"]++
		first := 1 + c.a%known
		return w.e.Grow(w.now, id, first, w.store.items[id][first-1:known])
	case !b.open:
		w.k.seen["grown: sealed"]++
		return wantCode(w.e.Grow(w.now, id, known+1, make([]engine.Item, 1)), crowd.Conflict)
	}
	r := rand.New(rand.NewPCG(uint64(c.a), uint64(c.b)))
	classes := 1
	if b.spec.SLA != nil {
		classes += len(b.spec.SLA.Others)
	}
	if how == 3 {
		w.k.seen["grown: no such class"]++
		return wantCode(w.e.Grow(w.now, id, known+1, []engine.Item{{Class: classes}}), crowd.Invalid)
	}
	for range 1 + r.IntN(4) {
		item := engine.Item{Class: r.IntN(classes), Born: w.now.Add(-time.Duration(r.IntN(60)) * time.Minute)}
		switch r.IntN(5) {
		case 0:
			item.Born = time.Time{}
		case 1, 2:
			item.Bound = w.now.Add(time.Duration(r.IntN(60)) * time.Minute)
		}
		list := []engine.Item{item}
		w.exclude(b, list, r)
		if b.spec.Checks != nil && r.IntN(3) == 0 {
			list[0].Known = key(r.Uint32())
			list[0].Lesson = b.mostLessons() > 0 && r.IntN(2) == 0
		}
		w.store.items[id] = append(w.store.items[id], list...)
	}
	if how == 2 {
		w.k.seen["grown, kept before it was told"]++
		return nil
	}
	first := known + 1 - min(known, c.c%4)
	if first <= known {
		w.k.seen["grown: overlapping"]++
	}
	items := slices.Clone(w.store.items[id])
	if err := w.e.Grow(w.now, id, first, items[first-1:]); err != nil {
		return err
	}
	if b.kept.Planned == b.counted+b.running {
		b.waitsFrom = w.now
	}
	if b.spec.Budget == 0 {
		more := len(items) - int(known)
		most := b.spec.Rule.Most()
		b.funded += b.spec.Reward * crowd.Money(most*more+b.room(most, len(items))-b.room(most, int(known))+b.lessonRoom(most, len(items))-b.lessonRoom(most, int(known)))
	}
	w.k.grow(b, items[known:])
	w.k.seen["grown"]++
	if b.kept.State == crowd.BatchOnHold {
		w.k.seen["grown while paused"]++
	}
	if b.stopped {
		w.k.seen["grown while stopped"]++
	}
	return nil
}

func (w *world) seal(c command) error {
	id := w.pick(c, func(b *batchBook) bool { return b.open })
	b := w.k.batches[id]
	err := w.e.Seal(w.now, id)
	switch {
	case b == nil || !b.kept.State.Open():
		return wantCode(err, crowd.NotFound)
	case !b.open:
		w.k.seen["sealed twice"]++
		return err
	}
	b.open = false
	w.k.seen["sealed"]++
	if b.left() == 0 {
		w.k.seen["sealed: ended at once"]++
	}
	return err
}

func (w *world) setTerms(c command) error {
	id := w.pick(c, func(b *batchBook) bool { return b.spec.SLA != nil })
	b := w.k.batches[id]
	n, at := 1+c.b%8, w.now.Add(time.Duration(c.c%60)*time.Minute)
	var err error
	if c.op == "set tail" {
		err = w.e.SetRest(w.now, id, engine.Rest{Tail: time.Duration(c.c%30) * time.Minute, Work: time.Duration(c.b%30) * time.Minute})
	} else {
		err = w.e.SetBound(w.now, id, n, at)
	}
	switch {
	case b == nil || !b.kept.State.Open():
		return wantCode(err, crowd.NotFound)
	case b.spec.SLA == nil:
		return wantCode(err, crowd.Conflict)
	case c.op == "set tail":
		b.tail, b.work = time.Duration(c.c%30)*time.Minute, time.Duration(c.b%30)*time.Minute
		b.pass(w.now)
		w.k.seen["tail moved"]++
		return err
	case int(n) > len(b.tasks):
		return wantCode(err, crowd.Invalid)
	}
	t := b.tasks[n-1]
	t.bound, w.store.items[id][n-1].Bound = at, at
	switch {
	case t.stands:
		b.rank(w.now, t)
		w.k.seen["bound moved"]++
	case t.label == nil:
		w.k.seen["bound moved while away"]++
	}
	return err
}

// unlabelled lists the tasks without a label, with their items.
func (s *store) unlabelled(id crowd.BatchID) []engine.ItemSnapshot {
	var list []engine.ItemSnapshot
	for i, item := range s.items[id] {
		if n := uint32(i + 1); s.labels[id.Task(n)].Task == 0 {
			list = append(list, engine.ItemSnapshot{N: n, Born: item.Born, Class: item.Class, Bound: item.Bound})
		}
	}
	return list
}
