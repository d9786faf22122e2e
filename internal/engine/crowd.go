package engine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// Crowd compares the different people whose answers a task wants with those who
// may give them. The zero Crowd is one that is not known.
type Crowd struct {
	Wanted int
	People int
	Lacks  []Requirement // too few meet them; empty: that is not what is missing
	Had    int           // tasks left, each of which everybody who may do it has had already, or is excluded from; 0: not so
	Asks   []Requirement // what is asked of them, whether enough meet it or not
	NotBy  []string      // where people answered who are excluded from tasks: see Spec.NotBy

	// PerWorker is the most answers of one person; 0: any number.
	PerWorker int
	// Answers are wanted of all people together, beyond those that came; 0: not known, or
	// they may give any number.
	Answers int
	// Given is how many of the answers that they may give the People have given.
	Given int
	// Elsewhere is how many of the people must not do it since they answer in the steps of NotBy: as
	// many as these need at least, or, of tasks that are there, as are excluded from one of them.
	Elsewhere int
	// Unanswered is how many tasks are left, or are to come at least, that have no answer: the others
	// would have labels if one answer were enough. It is counted where the crowd is too small.
	Unanswered int
}

// TooSmall reports whether no task that is left can get the answers that it wants, or
// not all tasks can.
func (c Crowd) TooSmall() bool { return c.leftOver() < c.Wanted || c.Had > 0 || c.short() }

// leftOver is how many of the people are left of those whom NotBy takes.
func (c Crowd) leftOver() int { return c.People - c.Elsewhere }

// short reports whether the people may not give as many answers as are wanted.
func (c Crowd) short() bool {
	return c.PerWorker > 0 && c.People*c.PerWorker-c.Given < c.Answers
}

// SufficesForFewer reports whether the people suffice if a task wants some fewer answers: if they do
// not for one answer each, they do for no number.
func (c Crowd) SufficesForFewer() bool {
	switch {
	case !c.TooSmall() || c.Wanted <= 1:
		return false
	case c.Unanswered == 0:
		return true
	case c.leftOver() < 1 || c.Had > 0:
		return false
	}
	return c.PerWorker == 0 || c.Answers == 0 || c.People*c.PerWorker-c.Given >= c.Unanswered
}

// String says it in words.
func (c Crowd) String() string {
	lacks := make([]string, len(c.Lacks))
	for i, r := range c.Lacks {
		lacks[i] = fmt.Sprintf("%s >= %d", r.FullName(), r.Min)
	}
	skills := strings.Join(lacks, " and ")
	switch {
	case c.People >= c.Wanted && c.Had > 0:
		return c.whyHad()
	case c.People >= c.Wanted && c.short() && c.Given > 0:
		return fmt.Sprintf("%s more are wanted, but the pool has %d who may do it and, of %d each, %d more to give", format.Count(c.Answers, "answer"), c.People, c.PerWorker, c.People*c.PerWorker-c.Given)
	case c.People >= c.Wanted && c.short():
		return fmt.Sprintf("%s are wanted, but the pool has %d who may do it and each may give %d", format.Count(c.Answers, "answer"), c.People, c.PerWorker)
	case c.People == 0 && skills != "":
		return "nobody in the pool holds " + skills
	case c.People >= c.Wanted && c.leftOver() < c.Wanted:
		return fmt.Sprintf("a task needs %s of others than those who answered it in %s, at least %d, but the pool has %d who may do it",
			format.Count(c.Wanted, "answer"), strings.Join(c.NotBy, " or "), c.Elsewhere, c.People)
	case c.Wanted == 1 && c.People == 0:
		return "the pool has nobody who may do it"
	case skills != "":
		return fmt.Sprintf("a task needs answers from %d different people, but the pool has %d with %s", c.Wanted, c.People, skills)
	}
	return fmt.Sprintf("a task needs answers from %d different people, but the pool has %d who may do it", c.Wanted, c.People)
}

// crowdOf returns the crowd of a batch, unless its tasks name their people or it is
// for newcomers, who may not be here yet. A task wants answers of so many.
func (e *Engine) crowdOf(b *batch, wanted int) Crowd {
	if !b.backlog.shared || b.spec.Training {
		return Crowd{}
	}
	c := e.Able(b.spec.Tenant, wanted, e.classes.list[b.class].requires)
	c.Had, c.Asks, c.NotBy, c.PerWorker = e.hadByAll(b), e.classes.list[b.class].requires, b.spec.NotBy, b.spec.PerWorker
	c.Elsewhere = e.excluded(b, c.People-wanted)
	if b.gave != nil {
		c.Answers = b.leastMore()
		for id, gave := range b.gave {
			if w := e.member(id); w != nil && w.mayDo(b.spec.Tenant, e.classes.list[b.class].requires) {
				c.Given += min(gave, b.spec.PerWorker)
			}
		}
	}
	if c.Unanswered = 0; c.TooSmall() {
		c.Unanswered = b.unanswered()
	}
	return c
}

// unanswered is how many tasks of b want a label and have no answer, or will at least.
func (b *batch) unanswered() int {
	n := b.untouched()
	for _, a := range b.log.list {
		if a == nil || a != a.task.given[0] {
			continue
		}
		if t := a.task; t.counted == 0 && !t.removed && !t.isCheck {
			n++
		}
	}
	switch {
	case b.spec.Open:
		return max(n, 1)
	case b.state == "": // about to be launched
		return min(n, b.spec.Enough.leastAnswers(int(b.spec.Tasks), 1))
	}
	return n
}

// leastMore is the number of answers that b wants at least, beyond those that came; 0: not known.
func (b *batch) leastMore() int {
	switch {
	case b.state == "": // about to be launched
		return min(b.plannedAtFirst(), b.spec.Enough.leastAnswers(int(b.spec.Tasks), b.fewest))
	case b.spec.Enough != nil: // how many of those that came make a label of what is enough is not known
		return 0
	}
	return b.planned - b.completed
}

// mayDo reports whether w may do what a tenant asks for these qualifications.
func (w *worker) mayDo(tenant crowd.TenantID, requires []Requirement) bool {
	return !w.suspended && w.forWhom.bars(tenant) == crowd.Eligible && w.meets(tenant, requires)
}

// hadByAll returns how many tasks are left of b if everybody in the pool who may do it
// has had each of them, and 0 otherwise.
func (e *Engine) hadByAll(b *batch) int {
	left := b.open
	if b.restricted() {
		left += b.untouched()
	}
	if left == 0 || b.running > 0 || e.hindrance(b) != crowd.Eligible {
		return 0
	}
	for w := range e.members() {
		switch e.mayEver(w, b) {
		case crowd.Eligible, crowd.NotInTraining: // who is still in training may do it later
			if w.refusal(b) == crowd.Eligible {
				return 0
			}
		}
	}
	return left
}

// whyHad says why nobody can be given the tasks that are left.
func (c Crowd) whyHad() string {
	why := "everybody in the pool who may do it has already had the " + format.Count(c.Had, "task") + " left"
	if len(c.NotBy) > 0 {
		why += ", or answered the same in " + strings.Join(c.NotBy, " or ")
	}
	if c.PerWorker > 0 {
		why += ", or given as many answers as one person may (" + strconv.Itoa(c.PerWorker) + ")"
	}
	return why
}

// Asked is what another step asks of the people of a pool.
type Asked struct {
	Wanted   int // of different people
	Requires []Requirement
}

// Leaves counts in how many of the people of c, who do what asks for requires, at least
// have to answer in one of the other steps, and are missing then.
func (e *Engine) Leaves(c Crowd, tenant crowd.TenantID, requires []Requirement, others []Asked) Crowd {
	for _, other := range others {
		wanted := other.Wanted
		for w := range e.members() {
			if w.mayDo(tenant, other.Requires) && !w.meets(tenant, requires) {
				wanted--
			}
		}
		c.Elsewhere = max(c.Elsewhere, wanted)
	}
	return c
}

// Able compares the people that a task of a tenant wants with the workers of the pool,
// busy or away or lent to others or still in training, who may do what asks for these qualifications.
func (e *Engine) Able(tenant crowd.TenantID, wanted int, requires []Requirement) Crowd {
	c, barred := Crowd{Wanted: wanted, Unanswered: 1}, false
	for w := range e.members() {
		switch {
		case !w.meets(tenant, requires):
		case w.suspended || w.forWhom.bars(tenant) != crowd.Eligible:
			barred = true
		default:
			c.People++
		}
	}
	if c.TooSmall() && !barred {
		c.Lacks = requires
	}
	return c
}
