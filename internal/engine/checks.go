package engine

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/random"
	"github.com/throng-dev/throng/label"
)

// Tasks whose answers are known can be handed out as checks, among the others of their
// batch. Such a task has its label from the start, so that the batch never waits for it; any number
// of people answer it, nobody twice; and what they are given, paid and told is what
// any other task gives them. Each hand-out as a check is a task of its own for the engine, which
// wants one answer and is forgotten when that has come or the person has let go of it.
//
// Whether somebody's next task is a check follows from a hash of the engine's seed, the batch,
// the person and the number of the assignment. So nobody can tell who does not know the seed, it needs no
// state, and to ask twice changes nothing.

// Checks says how often tasks with a known answer are handed out as checks: as a
// share of the tasks that somebody is given of a batch.
type Checks struct {
	// First is the share for somebody who has shown nothing yet, from MinChecks to MaxChecks.
	First float64 `json:"first"`
	// Least is the share for somebody who is fully trusted, from MinChecks to First.
	Least float64 `json:"least"`
	// Training is how many of the tasks that somebody is given first are lessons, up to MaxTrainingTasks.
	Training int `json:"training,omitempty"`
}

// The bounds of a share of checks, and what stands for nothing said: one task in ten
// for somebody unknown, and one in a hundred for somebody trusted.
const (
	MinChecks = 0.001
	MaxChecks = 0.5

	DefaultFirst = 0.1
	DefaultLeast = 0.01
)

// Trust is what somebody's answers to checks have earned them: each right one adds 1 and each
// wrong one takes lostTrust, from 0 to fullTrust. Between these the share of checks falls by the same
// factor for each step. Who is right less often than lostTrust of lostTrust+1 times stays
// near 0.
const (
	fullTrust = 20
	lostTrust = 5
)

// Validate checks the shares.
func (c *Checks) Validate() error {
	switch {
	case !(c.First >= MinChecks && c.First <= MaxChecks):
		return crowd.Fieldf("checks.first", "%s is not a share of tasks that are checks (from %v to %v)", format.Number(c.First), MinChecks, MaxChecks)
	case !(c.Least >= MinChecks && c.Least <= c.First):
		return crowd.Fieldf("checks.least", "%s is not a share of tasks that are checks (from %v to first, %s)", format.Number(c.Least), MinChecks, format.Number(c.First))
	case c.Training < 0 || c.Training > MaxTrainingTasks:
		return crowd.Fieldf("checks.training", "%d is not a number of training tasks that everybody is given first (0 to %d)", c.Training, MaxTrainingTasks)
	}
	return nil
}

// Completed returns the checks with the default for what is 0: DefaultFirst, and for Least
// a tenth of First, but no less than MinChecks.
func (c Checks) Completed() Checks {
	if c.First == 0 {
		c.First = max(DefaultFirst, c.Least)
	}
	if c.Least == 0 {
		c.Least = max(c.First*DefaultLeast/DefaultFirst, MinChecks)
	}
	return c
}

// ParseChecks reads "first=0.1,least=0.01,training=3", or a part of it; "default" is the default of each.
func ParseChecks(text string) (Checks, error) {
	var c Checks
	said := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if text == "default" {
			break
		}
		into := map[string]*float64{"first": &c.First, "least": &c.Least}[name]
		if into == nil && name != "training" {
			return c, crowd.Errorf(crowd.Invalid, "%q does not say how many tasks are checks, or teach (first=0.1,least=0.01,training=3, or default)", part)
		}
		if said[name] {
			return c, crowd.Errorf(crowd.Invalid, "%q: %s stands there twice", part, name)
		}
		said[name] = true
		if into == nil {
			var err error
			if c.Training, err = strconv.Atoi(value); err != nil || c.Training < 1 {
				return c, crowd.Errorf(crowd.Invalid, "%q: %q is not a number of training tasks (1 to %d)", part, value, MaxTrainingTasks)
			}
			continue
		}
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x > 0) {
			return c, crowd.Errorf(crowd.Invalid, "%q: %q is not a share above 0 (like first=0.1,least=0.01)", part, value)
		}
		*into = x
	}
	c = c.Completed()
	return c, c.Validate()
}

// String says in words how many tasks are checks.
func (c Checks) String() string {
	text := exactPercent(c.First) + " of the tasks of somebody new, " + exactPercent(c.Least) + " of somebody trusted"
	if c.Training > 0 {
		text += "; training with " + format.Count(c.Training, "task") + " first"
	}
	return text
}

// share is the share of checks at a trust.
func (c *Checks) share(trust int) float64 {
	return c.First * math.Pow(c.Least/c.First, float64(trust)/fullTrust)
}

// checkRoom is the most answers to checks that the batch pays, for so many tasks: of all answers
// to them the share that people have who are not trusted.
func (s *Spec) checkRoom() int64 {
	if s.Checks == nil {
		return 0
	}
	return int64(math.Ceil(float64(s.Tasks) * float64(s.Rule.Most()) * s.Checks.First / (1 - s.Checks.First)))
}

// MostAnswers is the most answers that a batch can be given, those to checks and lessons among them.
func (s *Spec) MostAnswers() int64 {
	return int64(s.Tasks)*int64(s.Rule.Most()) + s.checkRoom() + s.lessonRoom(s.mostLessons())
}

// MostCost is the most that the tasks of a batch after number from, up to number to, can cost, and
// the checks and lessons that may go with them. It reports false if that is more than there can be.
func (s *Spec) MostCost(from, to uint32) (crowd.Money, bool) {
	before, after := *s, *s
	before.Tasks, after.Tasks = from, to
	return s.Reward.Times(after.MostAnswers() - before.MostAnswers())
}

// validChecks checks what is known, and how it is used.
func (s *Spec) validChecks() error {
	switch {
	case s.Checks == nil && len(s.Known) > 0:
		return crowd.Fieldf("known", "known answers are for checks")
	case s.Checks == nil:
		return nil
	case s.Invited != nil:
		return crowd.Fieldf("checks", "people cannot be invited to single tasks of a batch with checks")
	case len(s.NotBy) > 0:
		return crowd.Fieldf("checks", "a batch that others of its run must not do (not_by) has no checks")
	}
	for n, key := range s.Known {
		if n < 1 || n > s.Tasks || key == "" {
			return crowd.Fieldf("known", "%d is not the number of a task with a known answer", n)
		}
	}
	if len(s.Known) > 0 && len(s.Known) == int(s.Tasks) && !s.Open {
		return crowd.Fieldf("checks", "all of the tasks have a known answer: checks go among others, which nobody knows")
	}
	if err := s.validLessons(); err != nil {
		return err
	}
	return s.Checks.Validate()
}

// checks is what a batch knows of its checks.
type checks struct {
	Checks
	list  []uint32 // numbers of the known tasks, in the order in which they came, but for lessons
	of    map[crowd.WorkerID]*checked
	given int // answers to checks that count, and what is held or provisional
	open  int // hand-outs that are open, those of lessons among them: they count among batch.open
	lessons
}

// checked is what is known of somebody by the checks of a batch.
type checked struct {
	seen         map[uint32]struct{} // tasks that they were given
	right, wrong int
	trust        int
	taught
}

// openChecks is how many of the open tasks are checks, or lessons.
func (b *batch) openChecks() int {
	if b.checks == nil {
		return 0
	}
	return b.checks.open
}

// record returns what is known of somebody.
func (c *checks) record(w crowd.WorkerID) *checked {
	r := c.of[w]
	if r == nil {
		r = &checked{seen: make(map[uint32]struct{})}
		c.of[w] = r
	}
	return r
}

// answered enters an answer to a check.
func (r *checked) answered(right bool) {
	if right {
		r.right++
		r.trust = min(r.trust+1, fullTrust)
	} else {
		r.wrong++
		r.trust = max(r.trust-lostTrust, 0)
	}
}

// useChecks begins the checks of a batch.
func (b *batch) useChecks() {
	if b.spec.Checks == nil {
		return
	}
	b.checks = &checks{Checks: *b.spec.Checks, of: make(map[crowd.WorkerID]*checked)}
	b.checks.most = b.spec.mostLessons()
	b.checks.add(slices.Sorted(maps.Keys(b.spec.Known)), b.spec.Lessons)
	b.spec.Lessons = nil
	b.backlog.known = maps.Clone(b.spec.Known)
	if b.backlog.known == nil {
		b.backlog.known = make(map[uint32]string)
	}
	b.spec.Known = nil // the backlog has it
	b.backlog.skip()
	if b.posterior != nil {
		for _, n := range b.checks.list {
			b.posterior.know(n, b.backlog.known[n])
		}
	}
}

// isKnown reports whether task n is one to check people with.
func (b *backlog) isKnown(n uint32) bool {
	_, is := b.known[n]
	return is
}

// knownFrom counts the known tasks from n on.
func (b *backlog) knownFrom(n uint32) (count int) {
	for k := range b.known {
		if k >= n {
			count++
		}
	}
	return count
}

// newKnown enters known tasks that have come, in order of their numbers, and tells their labels.
func (e *Engine) newKnown(now time.Time, b *batch, numbers []uint32, key func(n uint32) string) {
	for _, n := range numbers {
		e.changes.Labels = append(e.changes.Labels, Label{Task: b.spec.ID.Task(n), At: now, Value: key(n), Confidence: 1, Check: true})
		b.labelled++
		b.certainty++
	}
}

// learnKnown enters known tasks that come to a running batch, some as lessons, before the backlog hears of them.
func (e *Engine) learnKnown(now time.Time, b *batch, known map[uint32]string, lessons []uint32) {
	if len(known) == 0 {
		return
	}
	numbers := slices.Sorted(maps.Keys(known))
	b.checks.add(numbers, lessons)
	for _, n := range numbers {
		b.backlog.known[n] = known[n]
		if b.posterior != nil && !b.checks.teaches(n) {
			b.posterior.know(n, known[n])
		}
	}
	e.newKnown(now, b, numbers, func(n uint32) string { return known[n] })
}

// mayKnow refuses known tasks where there are no checks, and lessons that nobody would be given.
func (b *batch) mayKnow(known map[uint32]string, lessons []uint32, first, last uint32) error {
	if len(known) > 0 && b.checks == nil {
		return crowd.Fieldf("known", "%s has no checks", b.spec.ID)
	}
	for n, key := range known {
		if n < first || n > last || key == "" {
			return crowd.Fieldf("known", "%d is not the number of a new task with a known answer", n)
		}
	}
	if err := mayTeach(lessons, b.checks != nil && b.checks.most > 0); err != nil {
		return err
	}
	return areKnown(lessons, known)
}

// check returns the known task that w is given in place of another one of b, or 0.
func (e *Engine) check(b *batch, w crowd.WorkerID) uint32 {
	c := b.checks
	if len(c.list) == 0 || int64(c.given) >= b.spec.checkRoom() {
		return 0
	}
	seen, trust := map[uint32]struct{}(nil), 0
	if r := c.of[w]; r != nil {
		seen, trust = r.seen, r.trust
	}
	if len(seen) >= len(c.list) {
		return 0
	}
	draw := random.Source(e.cfg.Seed ^ random.Mix(uint64(b.spec.ID)<<32|uint64(b.log.next())) ^ random.Mix(uint64(w)+random.Golden))
	if draw.Float64() >= c.share(trust) {
		return 0
	}
	i := draw.IntN(len(c.list))
	for _, had := seen[c.list[i]]; had; _, had = seen[c.list[i]] {
		i = (i + 1) % len(c.list)
	}
	return c.list[i]
}

// startCheck returns a task that is about to be handed out to w as a check, or a lesson.
func (e *Engine) startCheck(now time.Time, b *batch, w crowd.WorkerID, n uint32) *task {
	t := e.newCheck(b, n)
	e.replan(now, t, 1)
	if r := b.checks.record(w); t.isLesson {
		r.had++
	} else {
		r.seen[n] = struct{}{}
	}
	return t
}

func (e *Engine) newCheck(b *batch, n uint32) *task {
	t := taken(&e.free.tasks)
	t.batch, t.n, t.isCheck, t.isLesson = b, n, true, b.checks.teaches(n)
	b.open++
	b.checks.take(t, 1)
	b.checks.open++
	if t.isLesson {
		b.checks.learning++
	}
	return t
}

// take counts what begins (1) to have a place in the room for checks, or for lessons, or ceases to (-1).
func (c *checks) take(t *task, n int) {
	if t.isLesson {
		c.taught += n
	} else {
		c.given += n
	}
}

// endCheck forgets a check that somebody has let go of without an answer.
func (e *Engine) endCheck(now time.Time, t *task) {
	b := t.batch
	b.checks.take(t, -1)
	e.replan(now, t, 0)
	e.forget(t)
	e.touch(now, b, nil)
	e.mayServe(b)
	e.endIfDone(now, b)
}

// score enters a counted answer to a check, or to a lesson.
func (b *batch) score(a *assignment) {
	r, right := b.checks.record(a.worker.id), a.key == b.backlog.known[a.task.n]
	if a.task.isLesson {
		r.learnt++
		return
	}
	r.answered(right)
}

// Checked is what answers to the checks of a batch have shown of somebody.
type Checked struct {
	Worker       crowd.WorkerID
	Given        int     // checks that they were given
	Right, Wrong int     // of their answers that count
	Share        float64 // of checks among what they are given now
	Lessons      int     // that they were given
}

// Checked lists what the checks of a running batch have shown of those who were given any, or lessons, in
// order of their ids.
func (e *Engine) Checked(id crowd.BatchID) []Checked {
	b := e.batches[id]
	if b == nil || b.checks == nil {
		return nil
	}
	list := make([]Checked, 0, len(b.checks.of))
	for w, r := range b.checks.of {
		if len(r.seen)+r.had > 0 {
			list = append(list, Checked{w, len(r.seen), r.right, r.wrong, b.checks.share(r.trust), r.had})
		}
	}
	slices.SortFunc(list, func(x, y Checked) int { return int(x.Worker - y.Worker) })
	return list
}

// A CheckSnapshot is an assignment of a task with a known answer.
type CheckSnapshot struct {
	Assignment crowd.AssignmentID // needed only with Spec.Quality
	N          uint32             // of the task
	Worker     crowd.WorkerID
	Counted    bool // it has an answer that counts
	Right      bool // which is the known one
}

// restoreChecks takes in what people were checked with.
func (b *batch) restoreChecks(list []CheckSnapshot) error {
	if b.checks == nil {
		if len(list) > 0 {
			return errors.New("it has no checks, but people were checked")
		}
		return nil
	}
	for _, x := range list {
		r := b.checks.record(x.Worker)
		if b.checks.teaches(x.N) {
			b.checks.restoreLesson(r, &x)
			continue
		}
		r.seen[x.N] = struct{}{}
		if x.Counted {
			b.checks.given++
			r.answered(x.Right)
		}
	}
	return nil
}

// checkChecks verifies that checks in hand are those counted, and that those in hand were given to
// who holds them. There may be more than checkRoom, as an edit can lower the redundancy: then no
// more are handed out.
func (b *batch) checkChecks(open []*task) error {
	held, learning := 0, 0
	for _, t := range open {
		if !t.isCheck {
			if b.backlog.isKnown(t.n) {
				return fmt.Errorf("%s has a known answer, and is open", t.id())
			}
			continue
		}
		held++
		if t.isLesson {
			if err := b.checkLesson(t); err != nil {
				return err
			}
			learning++
			continue
		}
		if a := t.given[0]; len(t.given) != 1 || t.planned != 1 || !a.live() {
			return fmt.Errorf("%s is a check for %d people who wants %d answers, and is %s", t.id(), len(t.given), t.planned, a.state)
		} else if _, seen := b.checks.record(a.worker.id).seen[t.n]; !seen {
			return fmt.Errorf("%s is a check in the hands of %s, who was not given it", t.id(), a.worker.id)
		}
	}
	if b.checks == nil {
		return nil
	}
	counted, learnt := 0, 0
	for _, r := range b.checks.of {
		counted, learnt = counted+r.right+r.wrong, learnt+r.learnt
	}
	if c := b.checks; held != c.open || learning != c.learning || held-learning+counted != c.given || learning+learnt != c.taught {
		return fmt.Errorf("%d checks and lessons in hand, of them %d lessons, and %d and %d answered, counted %d, %d, %d and %d", held, learning, counted, learnt, c.open, c.learning, c.given, c.taught)
	}
	return nil
}

// know takes the answer to a task as certain.
func (p *posterior) know(n uint32, key string) {
	if class, ok := p.class(key); ok {
		p.model.SetGold(int(n)-1, class)
	}
}

// class is the class of an answer, unless it is beyond the classes that there can be.
func (p *posterior) class(key string) (label.Class, bool) {
	class, known := p.classes[key]
	if !known {
		if len(p.names) == p.model.Classes() {
			return class, false
		}
		class = label.Class(len(p.names))
		p.names, p.classes[key] = append(p.names, key), class
	}
	return class, true
}
