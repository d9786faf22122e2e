package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// The part of the books that is about known tasks that teach.

// teach makes lessons of some of the known tasks of a batch with checks.
func (w *world) teach(s *engine.Spec, r *rand.Rand) {
	for n := range s.Tasks {
		if s.Known[n+1] != "" && r.IntN(2) == 0 {
			s.Lessons = append(s.Lessons, n+1)
		}
	}
	if most := len(s.Lessons); s.Open {
		s.Checks.Training = r.IntN(4)
	} else if most > 0 {
		s.Checks.Training = r.IntN(most + 1)
	}
}

// needLessons has a batch whose lessons nobody would be given give the first one.
func (w *world) needLessons(s *engine.Spec) {
	trains := slices.ContainsFunc(s.Quality, func(r engine.QualityRule) bool { return strings.HasPrefix(r.Do, "train ") })
	if len(s.Lessons) > 0 && s.Checks.Training == 0 && !trains {
		s.Checks.Training = 1
	}
}

// mostLessons is the most lessons that anybody is given of b.
func (b *batchBook) mostLessons() (n int) {
	if b.spec.Checks == nil {
		return 0
	}
	n = b.spec.Checks.Training
	for _, r := range b.spec.Quality {
		n += trains(r.Do)
	}
	return n
}

// trains is how many lessons an action gives.
func trains(do string) int {
	number, _ := strings.CutPrefix(do, "train ")
	n, _ := strconv.Atoi(number)
	return n
}

// lessonRoom is the most lessons that a batch pays, with so many tasks.
func (b *batchBook) lessonRoom(most, tasks int) int {
	if n := b.mostLessons(); n > 0 && tasks > 0 {
		return max((tasks*most+3)/4, n*max(most, 5))
	}
	return 0
}

// taught counts the lessons of b that are held or have an answer that counts.
func (b *batchBook) taught() (n int) {
	for _, t := range b.tasks {
		if t.lesson {
			n += t.live + len(t.answers)
		}
	}
	return n
}

// learning counts the lessons of b that are held.
func (b *batchBook) learning() (n int) {
	for _, t := range b.tasks {
		if t.lesson {
			n += t.live
		}
	}
	return n
}

// lessonsOf lists the lessons of b that somebody was given, and those that they were not.
func (b *batchBook) lessonsOf(w crowd.WorkerID) (had, not []*taskBook) {
	for _, t := range b.tasks {
		switch {
		case t.lesson && t.held[w] > 0:
			had = append(had, t)
		case t.lesson:
			not = append(not, t)
		}
	}
	return had, not
}

// owed is how many lessons somebody is to be given yet.
func (b *batchBook) owed(w crowd.WorkerID) int {
	if b.spec.Checks == nil {
		return 0
	}
	had, _ := b.lessonsOf(w)
	n := b.spec.Checks.Training - len(had)
	for _, a := range b.actions {
		if a.Worker == w {
			n += a.Lessons
		}
	}
	return max(n, 0)
}

// dueLesson is the lesson that somebody is given next of b in place of another task, or nil.
func (k *books) dueLesson(w crowd.WorkerID, b *batchBook) *taskBook {
	_, not := b.lessonsOf(w)
	switch {
	case b.owed(w) == 0:
		return nil
	case len(not) == 0:
		k.seen["lesson: all had"]++
		return nil
	case b.taught() >= b.lessonRoom(b.spec.Rule.Most(), len(b.tasks)):
		k.seen["lesson: no room"]++
		return nil
	}
	return not[0]
}

// rightLesson checks that a lesson goes to somebody whose next one it is, and who would have got another task.
func (k *books) rightLesson(x engine.Handout, b *batchBook, t *taskBook) error {
	switch had, _ := b.lessonsOf(x.Worker); {
	case k.refused(x.Worker, b) != "":
		return fmt.Errorf("a lesson must not be: %s", k.refused(x.Worker, b))
	case k.dueLesson(x.Worker, b) != t:
		return fmt.Errorf("a lesson that is not due: they were given %d, and are to be given %d", len(had), b.owed(x.Worker))
	case k.takes(x.Worker, b) == nil:
		return fmt.Errorf("a lesson, though there is nothing else for them")
	case len(had) >= b.spec.Checks.Training:
		k.seen["lesson: of a rule"]++
	}
	if !b.spec.Training {
		k.tally.Arrived++
	}
	k.seen["lesson: handed out"]++
	if t.live > 0 {
		k.seen["lesson: held by several"]++
	}
	if b.spec.SLA != nil {
		k.seen["lesson: among tasks with an order"]++
	}
	return nil
}

// granted checks how many lessons an action gives.
func (k *books) granted(b *batchBook, a *engine.Action) error {
	n := trains(b.spec.Quality[a.Rule-1].Do)
	if n == 0 {
		if a.Lessons != 0 || a.Kind == engine.Train {
			return fmt.Errorf("%s gives %d lessons", a.Kind, a.Lessons)
		}
		return nil
	}
	_, not := b.lessonsOf(a.Worker)
	want, text := max(min(n, len(not)-b.owed(a.Worker)), 0), "training task"
	switch want {
	case n:
		k.seen["lesson: granted"]++
	case 0:
		text = "no training task is left"
		k.seen["lesson: none left to grant"]++
	default:
		text = "as no more of " + strconv.Itoa(n)
		k.seen["lesson: fewer granted"]++
	}
	if a.Kind != engine.Train || a.Lessons != want || !strings.Contains(a.Text, text) {
		return fmt.Errorf("%s gives %d lessons (%s), want %d", a.Kind, a.Lessons, a.Text, want)
	}
	return nil
}

// untaught checks how many lessons of an action are left as it is undone: those that were given.
func (k *books) untaught(b *batchBook, a *engine.Action, left int) error {
	want := a.Lessons - min(a.Lessons, b.owed(a.Worker))
	if left != want {
		return fmt.Errorf("of %d lessons %d are left, want %d", a.Lessons, left, want)
	}
	if want < a.Lessons {
		k.seen["lesson: withdrawn by an undoing"]++
	} else if want > 0 {
		k.seen["lesson: undone when all were given"]++
	}
	a.Lessons = left
	return nil
}

// lessons lists the known tasks of a batch that teach, as far as the engine was told of the tasks.
func (s *store) lessons(id crowd.BatchID) []uint32 {
	list := slices.Clone(s.specs[id].Lessons)
	for i, item := range s.items[id] {
		if n := uint32(i) + 1; item.Lesson && n <= s.progress[id].Tasks && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}
