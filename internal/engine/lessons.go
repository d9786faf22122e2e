package engine

import (
	"fmt"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// A known task with an explanation checks nobody: it is a lesson, which people are given openly as training
// and of which they are told afterwards whether they were right. The first tasks that somebody is given of a
// batch are lessons (Checks.Training), and so are their next ones after a rule has said so (Train). A
// lesson is handed out as a check is: in place of another task, as a task of its own, to nobody twice. It is
// paid, and that is all that follows from it: nothing that is told of people, and no label, depends on what
// was answered to it. A batch does not wait for those who are learning.
//
// Everybody is given the lessons in the order in which they came. So all that is to be known of a person is how
// many they were given, which the assignments say, and how many rules gave them, which the actions say.

// MaxTrainingTasks is the most lessons that a batch begins with.
const MaxTrainingTasks = 100

// A batch pays one lesson for each answersPerLesson answers to its other tasks, but all lessons of fewestTrained
// people at least, or of as many as a task wants answers from.
const (
	answersPerLesson = 4
	fewestTrained    = 5
)

// lessons is what a batch knows of its lessons.
type lessons struct {
	teach    []uint32 // numbers of the lessons, ascending
	most     int64    // that anybody is given: see Spec.mostLessons
	taught   int      // answers to lessons that count, and what is held
	learning int      // hand-outs of lessons that are open: they count among checks.open
}

// taught is what is known of somebody by the lessons of a batch.
type taught struct {
	had     int // lessons that they were given: the first ones
	learnt  int // of them, those answered in time
	granted int // lessons that rules gave them
}

// Trains reports whether people are given lessons, if there are some.
func (s *Spec) Trains() bool { return s.mostLessons() > 0 }

// mostLessons is the most lessons that one person is given: first ones, and by each rule.
func (s *Spec) mostLessons() int64 {
	if s.Checks == nil {
		return 0
	}
	most := int64(s.Checks.Training)
	for _, r := range s.Quality {
		if do, err := parseQualityAction(r.Do); err == nil {
			most += int64(do.lessons)
		}
	}
	return most
}

// lessonRoom is the most answers to lessons that the batch pays, of which nobody is given more than most.
func (s *Spec) lessonRoom(most int64) int64 {
	if most == 0 || s.Tasks == 0 {
		return 0
	}
	answers := int64(s.Tasks) * int64(s.Rule.Most())
	return max((answers+answersPerLesson-1)/answersPerLesson, most*max(fewestTrained, int64(s.Rule.Most())))
}

// validLessons checks which of the known tasks are lessons.
func (s *Spec) validLessons() error {
	if !ascending(s.Lessons) {
		return crowd.Fieldf("lessons", "the training tasks are not an ascending list")
	}
	return areKnown(s.Lessons, s.Known)
}

func areKnown(lessons []uint32, known map[uint32]string) error {
	for _, n := range lessons {
		if known[n] == "" {
			return crowd.Fieldf("lessons", "%d is not the number of a task with a known answer", n)
		}
	}
	return nil
}

// mayTeach refuses lessons that nobody would be given.
func mayTeach(lessons []uint32, given bool) error {
	if len(lessons) > 0 && !given {
		return crowd.Fieldf("checks.training", "%s explained (_explain), and nobody would be given any for training: say how many everybody begins with (training), have a rule train people, or leave the explanations out", format.Count(len(lessons), "known task")+" "+isAre(len(lessons)))
	}
	return nil
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// hasLessons checks that a batch that is about to be launched gives people its lessons, and, if no tasks come
// later, has as many as it begins with, and some if a rule trains people.
func (s *Spec) hasLessons() error {
	if err := mayTeach(s.Lessons, s.Trains()); err != nil {
		return err
	}
	switch n := len(s.Lessons); {
	case s.Open || s.Checks == nil:
		return nil
	case n < s.Checks.Training:
		return crowd.Fieldf("checks.training", "everybody is to begin with %s, but %s (a known answer with an explanation: columns _gold and _explain)", format.Count(s.Checks.Training, "training task"), format.Count(n, "task")+" "+isAre(n)+" for training")
	case n == 0 && s.mostLessons() > 0:
		return crowd.Fieldf("quality", "a rule trains people, but no task is for training (a known answer with an explanation: columns _gold and _explain)")
	}
	return nil
}

// learning is how many of the open tasks are lessons.
func (b *batch) learning() int {
	if b.checks == nil {
		return 0
	}
	return b.checks.learning
}

// teaches reports whether known task n is a lesson.
func (c *checks) teaches(n uint32) bool {
	if c == nil || len(c.teach) == 0 {
		return false
	}
	_, is := slices.BinarySearch(c.teach, n)
	return is
}

// add enters known tasks, of which some are lessons; both lists ascend.
func (c *checks) add(numbers, lessons []uint32) {
	c.teach = append(c.teach, lessons...)
	for _, n := range numbers {
		if !c.teaches(n) {
			c.list = append(c.list, n)
		}
	}
}

// owed is how many lessons somebody of whom r is known is to be given yet, whether they are there or not.
func (c *checks) owed(r *checked) int {
	if r == nil {
		return c.Training
	}
	return max(c.Training+r.granted-r.had, 0)
}

// lesson returns the lesson that w is given in place of another task of b, or 0.
func (b *batch) lesson(w crowd.WorkerID) uint32 {
	c := b.checks
	r, had := c.of[w], 0
	if r != nil {
		had = r.had
	}
	if had >= len(c.teach) || c.owed(r) == 0 || int64(c.taught) >= b.spec.lessonRoom(c.most) {
		return 0
	}
	return c.teach[had]
}

// grant gives w more lessons, of those that they have not had and are not to be given anyway. It returns how
// many there were, and says so.
func (c *checks) grant(w crowd.WorkerID, n int) (int, string) {
	r := c.record(w)
	given := max(min(n, len(c.teach)-r.had-c.owed(r)), 0)
	r.granted += given
	switch {
	case given == 0:
		return 0, "no training task is left for them"
	case given < n:
		return given, fmt.Sprintf("%s, as no more of %d are left for them", format.Count(given, "training task"), n)
	}
	return given, format.Count(given, "training task")
}

// withdraw takes back what w was not given yet of lessons that a rule gave them. It returns how many these are.
func (c *checks) withdraw(w crowd.WorkerID, given int) int {
	r := c.record(w)
	back := min(given, c.owed(r))
	r.granted -= back
	return back
}

// restoreLesson takes in that somebody was given a lesson.
func (c *checks) restoreLesson(r *checked, x *CheckSnapshot) {
	r.had++
	if x.Counted {
		r.learnt++
		c.taught++
	}
}

// waitsForLessons reports whether b spends as much as it may (Enough.Spent) only once those answer who are
// learning: else somebody is to be given another task for what is left.
func (b *batch) waitsForLessons() bool {
	if b.enough || b.learning() == 0 {
		return false
	}
	return b.spent <= b.spec.Enough.Spent-b.spec.Reward
}

// checkLesson verifies that a lesson in hand was given to who holds it.
func (b *batch) checkLesson(t *task) error {
	a := t.given[0]
	if len(t.given) != 1 || t.planned != 1 || a.state != crowd.Assigned {
		return fmt.Errorf("%s is a lesson for %d people who wants %d answers, and is %s", t.id(), len(t.given), t.planned, a.state)
	}
	if r := b.checks.record(a.worker.id); r.had < 1 || b.checks.teach[r.had-1] != t.n {
		return fmt.Errorf("%s is a lesson in the hands of %s, who was given %d", t.id(), a.worker.id, r.had)
	}
	return nil
}
