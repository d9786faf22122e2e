package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// promised is what those who hold tasks of b, or have answered provisionally, will be paid.
func (k *books) promised(b *batchBook) crowd.Money {
	sum := crowd.Money(0)
	for _, r := range k.holding {
		if r.Task.Batch() == b.spec.ID {
			sum += r.Reward
		}
	}
	for _, r := range k.graces {
		if r.Task.Batch() == b.spec.ID {
			sum += r.Reward
		}
	}
	return sum
}

func (t *taskBook) gone() bool { return t.removed && t.live == 0 }

// left counts the tasks that have no label and were not taken out, or are still held.
func (b *batchBook) left() int {
	n := 0
	for _, t := range b.tasks {
		if t.label == nil && !t.gone() || t.known != "" && !t.lesson && t.live > 0 {
			n++
		}
	}
	return n
}

func (b *batchBook) removed() int {
	n := 0
	for _, t := range b.tasks {
		if t.removed {
			n++
		}
	}
	return n
}

// most is what b can still cost with another rule and reward, and more tasks. Each answer
// that a task may still get is paid the highest reward that is left: of those promised to
// who holds it or may answer late, and of any number at the reward. What people hold
// beyond the rule is paid, too, if that is more. No more is paid than is enough, but for what people
// hold.
func (k *books) most(b *batchBook, next *engine.Spec, more int) crowd.Money {
	rule, reward := next.Rule, next.Reward
	checks := crowd.Money(0)
	late, held := make(map[crowd.TaskID][]crowd.Money), make(map[crowd.TaskID]crowd.Money)
	for _, r := range k.rows {
		switch {
		case r.Task.Batch() != b.spec.ID || r.answer != nil:
		case b.tasks[r.Task.N()-1].known != "": // given back, it makes room for another one
			if r.state == crowd.Assigned || r.kept != nil {
				checks += max(r.Reward, reward)
			}
		case r.state == crowd.Assigned || r.kept != nil:
			held[r.Task] += r.Reward
			late[r.Task] = append(late[r.Task], r.Reward)
		case r.state == crowd.Expired:
			late[r.Task] = append(late[r.Task], r.Reward)
		}
	}
	need := checks + reward*crowd.Money(more*rule.Most()+max(b.room(rule.Most(), len(b.tasks)+more)-b.checks(), 0)+max(b.lessonRoom(rule.Most(), len(b.tasks)+more)-b.taught(), 0))
	for _, t := range b.tasks {
		if t.label != nil || t.known != "" {
			continue
		}
		most := rule.Most()
		if t.invited != nil {
			most = min(most, len(t.invited))
		}
		list, cost := late[t.id], crowd.Money(0)
		slices.Sort(list)
		for free := most - len(t.answers); free > 0 && !t.removed; free-- {
			if n := len(list); n > 0 && list[n-1] > reward {
				cost += list[n-1]
				list = list[:n-1]
			} else {
				cost += reward
			}
		}
		usual := held[t.id] + reward*crowd.Money(max(most-len(t.answers)-t.live, 0))
		switch {
		case cost > usual && t.live > 0:
			k.seen["most: but for what may be given back"]++
		case cost > usual:
			k.seen["most: but for late answers"]++
		}
		need += max(cost, held[t.id])
	}
	if x := next.Enough; x != nil && x.Spent > 0 {
		if limit := max(x.Spent-k.spent(b), k.promised(b)); limit < need {
			k.seen["most: what is enough"]++
			return limit
		}
	}
	return need
}

// missing is what the account lacks for a change.
func (k *books) missing(b *batchBook, next *engine.Spec, more int) crowd.Money {
	after := k.most(b, next, more)
	if after <= k.most(b, &b.spec, 0) {
		return 0
	}
	return max(after-k.accounts[b.account()], 0)
}

// spare is what b's account holds beyond what can still be paid from it.
func (k *books) spare(b *batchBook) crowd.Money {
	return max(k.accounts[b.account()]-k.most(b, &b.spec, 0), 0)
}

// checkBudget checks that a budget that once sufficed for all that b can cost still does,
// whatever was handed out, given back, answered late, edited or added since. Only a step's
// batch with a budget of its own may get tasks that it does not suffice for.
func (k *books) checkBudget(b *batchBook, s *engine.Status) error {
	most := k.most(b, &b.spec, 0)
	grew := b.spec.Open && b.spec.Budget > 0 && len(b.tasks) > b.sufficedFor
	switch {
	case b.suffices && !grew && s.Escrow < most:
		return fmt.Errorf("%s is left, and it can cost %s, for which the budget once sufficed", s.Escrow, most)
	case b.suffices && !grew && s.Reason == crowd.BudgetSpent:
		return fmt.Errorf("its budget is spent, and it sufficed")
	}
	b.suffices, b.sufficedFor = s.Escrow >= most, len(b.tasks)
	return nil
}

// released checks that an edit that was to give back what is spare has done so.
func (k *books) released() error {
	for id, b := range k.batches {
		if b.releases && b.kept.State.Open() {
			if spare := k.spare(b); spare != 0 {
				return fmt.Errorf("%s has %s to spare after it was to give that back", id, spare)
			}
		}
		b.releases = false
	}
	return nil
}

// noteAnswer notes what answers after a change show.
func (k *books) noteAnswer(b *batchBook, t *taskBook, r *row, counted bool) {
	switch {
	case counted && r.Reward != b.spec.Reward && r.kept != nil:
		k.seen["revised: provisional, as promised before"]++
	case counted && r.Reward != b.spec.Reward && r.state == crowd.Assigned:
		k.seen["revised: paid as promised before"]++
	case counted && r.Reward != b.spec.Reward:
		k.seen["revised: late, as promised before"]++
	}
	if t.removed && counted {
		k.seen["taken out: answered later"]++
	}
}

// revise changes reward, redundancy and production of a batch.
func (w *world) revise(c command) error {
	id := w.pick(c, func(*batchBook) bool { return true })
	b := w.k.batches[id]
	r := rand.New(rand.NewPCG(uint64(c.a), uint64(c.b)))
	rules := []label.Rule{label.Count(1), label.Count(2), label.Count(3), label.Agree(2, 3), label.Agree(2, 5), label.Agree(3, 4), label.Count(5), until}
	rule, reward, production := rules[r.IntN(len(rules))], crowd.Money(1+r.IntN(5))*10_000, r.IntN(2) == 0
	edit := engine.Edit{Production: &production, SmallCrowdOK: r.IntN(4) > 0}
	if r.IntN(3) > 0 {
		edit.Rule = &rule
	}
	if r.IntN(3) > 0 {
		edit.Reward = &reward
	}
	if r.IntN(2) == 0 {
		edit.Reserve = 100 * crowd.Unit
	}
	edit.Release = r.IntN(2) == 0
	err := w.e.Edit(w.now, id, edit)
	if b == nil || !b.kept.State.Open() {
		return wantCode(err, crowd.NotFound)
	}
	if edit.Rule == nil {
		rule = b.spec.Rule
	}
	if edit.Reward == nil {
		reward = b.spec.Reward
	}
	next := b.spec
	next.Rule, next.Reward = rule, reward
	missing := w.k.missing(b, &next, 0)
	var why *crowd.Error
	switch {
	case errors.As(err, &why) && why.Code == crowd.Invalid && why.Field == "redundancy":
		w.k.seen["revised: refused for the crowd"]++
		if edit.SmallCrowdOK || rule.Fewest() <= b.spec.Rule.Fewest() {
			return fmt.Errorf("refused: %w", err)
		}
		return nil
	case b.spec.Enough != nil && b.spec.Enough.Spent > 0 && b.spec.Enough.Spent < reward:
		if !errors.As(err, &why) || why.Field != "enough.spent" {
			return fmt.Errorf("more expensive than the limit: %v", err)
		}
		return nil
	case missing > edit.Reserve:
		if !errors.As(err, &why) || why.Code != crowd.BudgetTooSmall {
			return fmt.Errorf("%s is missing, and it was allowed: %v", missing, err)
		}
		w.k.seen["revised: refused for "+why.Field]++
		return nil
	case err != nil:
		return err
	}
	w.revised(b, rule, reward, missing)
	b.spec.Production, b.releases = production, edit.Release
	return nil
}

// revised enters a change into the books.
func (w *world) revised(b *batchBook, rule label.Rule, reward, missing crowd.Money) {
	if b.kept.Planned == b.counted+b.running && rule != b.spec.Rule {
		b.waitsFrom = w.now
	}
	switch {
	case reward < b.spec.Reward:
		w.k.seen["revised: cheaper"]++
	case reward > b.spec.Reward:
		w.k.seen["revised: more expensive"]++
	}
	if missing > 0 {
		w.k.seen["revised: reserved"]++
	}
	if reward != b.spec.Reward && b.left() > 0 && b.kept.Planned == b.counted+b.running {
		w.k.seen["revised while none was left to reward"]++
	}
	b.revised = b.revised || rule != b.spec.Rule
	b.funded += missing
	b.spec.Rule, b.spec.Reward = rule, reward
	for _, t := range b.tasks {
		if t.label != nil {
			continue
		}
		if t.rule = rule; t.invited != nil {
			t.rule = rule.Capped(len(t.invited))
		}
		t.told = t.want()
		if t.live == 0 && len(t.answers) > 0 && t.agreed() && !t.removed {
			w.k.seen["revised: closed by it"]++
		}
		if t.live+len(t.answers) > max(t.rule.Fewest(), len(t.answers)) && t.live > 1 {
			w.k.seen["revised: nobody replaced"]++
		}
	}
}

// takeOut takes a task out of a batch.
func (w *world) takeOut(c command) error {
	id := w.pick(c, func(*batchBook) bool { return true })
	b := w.k.batches[id]
	if b == nil || !b.kept.State.Open() {
		return wantCode(w.e.Remove(w.now, id, 1), crowd.NotFound)
	}
	if len(b.spec.NotBy) > 0 {
		w.k.seen["taken out: of a step"]++
		return wantCode(w.e.Remove(w.now, id, 1), crowd.Conflict)
	}
	n := 1 + c.b%uint32(len(b.tasks)+1)
	if h, ok := w.held(c.c); ok && c.b%3 == 0 && h.Task.Batch() == id {
		n = h.Task.N()
	}
	err := w.e.Remove(w.now, id, n)
	if int(n) > len(b.tasks) {
		w.k.seen["taken out: none such"]++
		return wantCode(err, crowd.Invalid)
	}
	t := b.tasks[n-1]
	switch {
	case t.label != nil:
		w.k.seen["taken out: labelled"]++
		return wantCode(err, crowd.Conflict)
	case t.removed:
		w.k.seen["taken out twice"]++
		return err
	case t.live > 0:
		w.k.seen["taken out: held"]++
	case len(t.answers) > 0:
		w.k.seen["taken out: with answers"]++
	default:
		w.k.seen["taken out: untouched"]++
	}
	if t.reports > 0 {
		w.k.seen["reported: taken out later"]++
	}
	if t.removed = true; b.left() == 0 {
		w.k.seen["taken out: the last one"]++
	}
	return err
}

// add gives a batch that is not open more tasks.
func (w *world) add(c command) error {
	id := w.pick(c, func(b *batchBook) bool { return !b.spec.Open })
	b := w.k.batches[id]
	if b == nil || !b.kept.State.Open() {
		return wantCode(w.e.Add(w.now, id, engine.Addition{Had: 1, Tasks: 1}), crowd.NotFound)
	}
	had, tasks, reserve := uint32(len(b.tasks)), 1+c.b%4, crowd.Money(c.b%2)*100*crowd.Unit
	if c.c%8 == 1 {
		w.k.seen["added: by somebody else"]++
		return wantCode(w.e.Add(w.now, id, engine.Addition{Had: had + 1, Tasks: tasks, Reserve: reserve}), crowd.Conflict)
	}
	items, known := make([]engine.Item, tasks), make(map[uint32]string)
	var lessons []uint32
	for i := range items {
		if b.spec.Checks != nil && c.a>>i%3 == 0 {
			items[i].Known = key(c.a)
			known[had+1+uint32(i)] = items[i].Known
			if b.mostLessons() > 0 && c.b>>i%2 == 0 {
				items[i].Lesson, lessons = true, append(lessons, had+1+uint32(i))
				w.k.seen["lesson: added"]++
			}
		}
	}
	err := w.e.Add(w.now, id, engine.Addition{Had: had, Tasks: tasks, Known: known, Lessons: lessons, Reserve: reserve})
	missing := w.k.missing(b, &b.spec, int(tasks))
	switch {
	case b.open:
		w.k.seen["added: to an open batch"]++
		return wantCode(err, crowd.Conflict)
	case missing > reserve:
		w.k.seen["added: refused"]++
		return wantCode(err, crowd.BudgetTooSmall)
	case err != nil:
		return err
	}
	if b.kept.Planned == b.counted+b.running {
		b.waitsFrom = w.now
	}
	if missing > 0 {
		w.k.seen["added: reserved"]++
	}
	w.k.seen["added"]++
	if b.spec.Invited != nil {
		w.k.seen["added to invited ones"]++
	}
	if b.spec.SLA != nil {
		w.k.seen["added with an order"]++
	}
	b.funded += missing
	if len(known) > 0 {
		w.k.seen["added: with known answers"]++
	}
	w.k.grow(b, items)
	w.store.items[id] = append(w.store.items[id][:had], items...)
	return nil
}

func (w *world) changeBatch(c command) error {
	id := crowd.BatchID(1 + c.a%(uint32(w.last)+1))
	if n := w.running(); len(n) > 0 && c.b%8 > 0 {
		id = n[c.a%uint32(len(n))]
	}
	b := w.k.batches[id]
	running := b != nil && b.kept.State.Open()
	var err error
	switch c.op {
	case "pause":
		err = w.e.Pause(w.now, id)
	case "resume":
		err = w.e.Resume(w.now, id)
	case "cancel":
		err = w.e.Cancel(w.now, id)
	case "end":
		err = w.e.End(w.now, id)
	case "edit":
		priority, deadline := float64(1+c.b%5), w.now.Add(time.Duration(1+c.c)*time.Microsecond)
		err = w.e.Edit(w.now, id, engine.Edit{Priority: &priority, Deadline: &deadline})
	case "top up":
		err = w.e.TopUp(w.now, id, crowd.Money(1+c.b%9)*10_000)
		if running {
			b.funded += crowd.Money(1+c.b%9) * 10_000
		}
	case "stop batch", "start batch":
		stopped := c.op == "stop batch"
		err = w.e.Edit(w.now, id, engine.Edit{Stopped: &stopped})
		if running {
			b.stopped = c.op == "stop batch"
		}
	default:
		return fmt.Errorf("no such command")
	}
	if !running {
		w.k.seen["batch is not running"]++
		return wantCode(err, crowd.NotFound)
	}
	return err
}

func (w *world) running() []crowd.BatchID {
	var list []crowd.BatchID
	for id := range crowd.BatchID(w.last) {
		if w.k.batches[id+1].kept.State.Open() {
			list = append(list, id+1)
		}
	}
	return list
}

// agreed reports whether the rule is satisfied.
func (t *taskBook) agreed() bool {
	if len(t.answers) >= t.rule.Most() {
		return true
	}
	if t.rule.FollowsAnswers() {
		return false // as far as the answers to this task alone tell
	}
	votes, weights := make(map[string]int), t.weights()
	for i, a := range t.answers {
		if weights == nil {
			votes[a] += 100
		} else {
			votes[a] += int(weights[i])
		}
		if votes[a] >= 100*t.rule.Fewest() && t.rule.Fewest() < t.rule.Most() {
			return true
		}
	}
	return false
}
