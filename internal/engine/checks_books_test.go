package engine_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// The part of the books that is about tasks with known answers, which are handed out as checks.

// know gives some batches known tasks.
func (w *world) know(s *engine.Spec, r *rand.Rand) {
	if s.Invited != nil || len(s.NotBy) > 0 || r.IntN(3) > 0 {
		return
	}
	s.Checks = &engine.Checks{First: 0.5, Least: []float64{0.5, 0.3}[r.IntN(2)]}
	for n := range s.Tasks {
		if r.IntN(3) == 0 && (s.Open || n > 0) {
			if s.Known == nil {
				s.Known = make(map[uint32]string)
			}
			s.Known[n+1] = key(r.Uint32())
		}
	}
	w.teach(s, r)
}

// room is the most checks that a batch pays, with so many tasks.
func (b *batchBook) room(most, tasks int) int {
	if b.spec.Checks == nil {
		return 0
	}
	return int(math.Ceil(float64(tasks) * float64(most) * b.spec.Checks.First / (1 - b.spec.Checks.First)))
}

// checks counts the checks of b that are held or have an answer that counts.
func (b *batchBook) checks() (n int) {
	for _, t := range b.tasks {
		if t.known != "" && !t.lesson {
			n += t.live + len(t.answers)
		}
	}
	return n
}

// rightCheck checks that a known task goes to somebody who was not given it before and would have
// got another one.
func (k *books) rightCheck(x engine.Handout, b *batchBook, t *taskBook) error {
	switch {
	case k.refused(x.Worker, b) != "":
		return fmt.Errorf("a check must not be: %s", k.refused(x.Worker, b))
	case t.held[x.Worker] > 0:
		return fmt.Errorf("a check comes twice")
	case b.checks() >= b.room(b.spec.Rule.Most(), len(b.tasks)):
		return fmt.Errorf("a check beyond the %d that are paid", b.room(b.spec.Rule.Most(), len(b.tasks)))
	case k.takes(x.Worker, b) == nil:
		return fmt.Errorf("a check, though there is nothing else for them")
	}
	if !b.spec.Training {
		k.tally.Arrived++
	}
	k.seen["check: handed out"]++
	if t.live > 0 {
		k.seen["check: held by several"]++
	}
	if b.spec.SLA != nil {
		k.seen["check: among tasks with an order"]++
	}
	return nil
}

// knownLabel checks that a known task has its label as soon as it is there.
func (k *books) knownLabel(x engine.Label, b *batchBook, t *taskBook) error {
	want := engine.Label{Task: t.id, At: k.now, Value: t.known, Confidence: 1, Check: true}
	if t.label != nil || x.Value != want.Value || x.Confidence != 1 || x.Answers != 0 || !x.Check || x.Tie || x.Undecided || x.At != k.now {
		return fmt.Errorf("got %+v, want %+v", x, want)
	}
	t.label = &x
	b.labelled++
	k.seen["check: labelled from the start"]++
	return nil
}

// noteCheck notes how a check ended.
func (k *books) noteCheck(t *taskBook, how string) {
	switch {
	case t.lesson:
		k.seen["lesson: "+how]++
	case t.known != "":
		k.seen["check: "+how]++
	}
}

// shown is what b's checks have shown of people.
func (k *books) shown(b *batchBook) []engine.Checked {
	people := make(map[crowd.WorkerID]*engine.Checked)
	for _, t := range b.tasks {
		for w, n := range t.held {
			if t.known != "" && n > 0 {
				if people[w] == nil {
					people[w] = &engine.Checked{Worker: w}
				}
				if t.lesson {
					people[w].Lessons++
				} else {
					people[w].Given++
				}
			}
		}
	}
	var answered []*row
	for _, r := range k.rows {
		if _, t, _ := k.task(r.Task); r.Task.Batch() == b.spec.ID && t.known != "" && !t.lesson && r.answer != nil && r.answer.Counted {
			answered = append(answered, r)
		}
	}
	slices.SortFunc(answered, func(x, y *row) int {
		return cmp.Or(x.answer.At.Compare(y.answer.At), cmp.Compare(x.Assignment, y.Assignment))
	})
	trust := make(map[crowd.WorkerID]int)
	for _, r := range answered {
		if _, t, _ := k.task(r.Task); r.answer.Key == t.known {
			people[r.Worker].Right++
			trust[r.Worker] = min(trust[r.Worker]+1, 20)
		} else {
			people[r.Worker].Wrong++
			trust[r.Worker] = max(trust[r.Worker]-5, 0)
		}
	}
	var list []engine.Checked
	for w, p := range people {
		c := b.spec.Checks
		p.Share = c.First * math.Pow(c.Least/c.First, float64(trust[w])/20)
		list = append(list, *p)
	}
	slices.SortFunc(list, func(x, y engine.Checked) int { return cmp.Compare(x.Worker, y.Worker) })
	return list
}

// checkShown compares what the engine has of people with the books.
func (k *books) checkShown(e *engine.Engine, b *batchBook) error {
	if b.spec.Checks == nil {
		return nil
	}
	got, want := e.Checked(b.spec.ID), k.shown(b)
	if !slices.Equal(got, want) {
		return fmt.Errorf("checks have shown\n %+v, want\n %+v", got, want)
	}
	return nil
}

// checked lists the assignments of known tasks of a batch, in the order in which their answers came.
func (s *store) checked(id crowd.BatchID) (list []engine.CheckSnapshot) {
	var rows []*engine.AssignmentSnapshot
	for _, r := range s.rows {
		if r.ID.Batch() == id && s.known(id)[r.Task.N()] != "" {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(x, y *engine.AssignmentSnapshot) int {
		return cmp.Or(x.AnsweredAt.Compare(y.AnsweredAt), cmp.Compare(x.ID, y.ID))
	})
	for _, r := range rows {
		list = append(list, engine.CheckSnapshot{Assignment: r.ID, N: r.Task.N(), Worker: r.Worker, Counted: r.Counted, Right: r.Counted && r.Key == s.known(id)[r.Task.N()]})
	}
	return list
}

// known holds the known answers of a batch, as far as the engine was told of the tasks.
func (s *store) known(id crowd.BatchID) map[uint32]string {
	known := make(map[uint32]string)
	for n, key := range s.specs[id].Known {
		known[n] = key
	}
	for i, item := range s.items[id] {
		if item.Known != "" && uint32(i) < s.progress[id].Tasks {
			known[uint32(i)+1] = item.Known
		}
	}
	return known
}
