package engine

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// Spec is what the engine must know of a batch to launch it.
type Spec struct {
	ID         crowd.BatchID
	Tenant     crowd.TenantID
	Tasks      uint32      // number of tasks, ≥ 1, or ≥ 0 if open
	Open       bool        // more tasks may come: see Grow and Seal
	Rule       label.Rule  // redundancy
	Reward     crowd.Money // for each counted answer, > 0
	Budget     crowd.Money // reserved at launch; at least the cost of one task. 0, if open: reserved task by task
	Priority   float64     // P_b, > 0
	Deadline   time.Time   // zero: none
	Production bool        // deadline-aware policies treat it as such
	Lease      time.Duration
	TaskTime   time.Duration // the requester's estimate for one assignment, > 0

	// SLA, when not nil, says what is promised of the tasks, which then go in the
	// order of package sla. Not with Invited.
	SLA *Terms

	// Enough, when not nil, ends the batch before all tasks have labels.
	Enough *Enough

	// Training has the batch's tasks done by newcomers, before they get any
	// others, and by nobody else: see Retainer.Training.
	Training bool

	// Grace is how long a worker may take an answer back before it counts; 0: it counts at
	// once. A late answer counts at once, or not at all.
	Grace time.Duration

	// Revise is for how long after an answer has counted its worker may give another one in its place; 0: it
	// stands. Not of a step of a workflow, and not of reviews.
	Revise time.Duration

	// Approval, when not nil, has the pay of answers that count wait for approval.
	Approval *Approval

	// PerWorker is the most answers that count of one person; 0: any number.
	PerWorker int

	EndsAt       time.Time // lifetime: ended then with what there is; zero: never
	Requirements []Requirement

	// Invited, when not nil, says who may do which task: for each worker the
	// numbers of their tasks, ascending. A task then wants no more answers than
	// there are people invited to it. One to which nobody is invited is for everybody.
	Invited map[crowd.WorkerID][]uint32

	// NotBy names what else was asked about the items of the tasks, such as other steps of
	// a workflow. Who answered there gets the task not: see Item.NotBy. Not with Invited.
	NotBy []string

	// Checks, when not nil, has tasks with a known answer handed out as checks among the others.
	// Not with Invited or NotBy.
	Checks *Checks
	// Known holds the known answers, as their keys, by the numbers of their tasks; with Checks only.
	Known map[uint32]string
	// Lessons lists those of Known that are no checks, but teach: see lessons. Ascending.
	Lessons []uint32

	// Quality lists the rules that act on those who do the batch, by what their answers show.
	Quality []QualityRule

	// Review, when not nil, has labels reviewed in a second batch: see LaunchReviewed.
	Review *Review
	// ReviewOf is the batch whose labels the tasks review; 0: they are no reviews.
	ReviewOf crowd.BatchID

	// TellsWho has the labels say whose answers they were made from (Label.By).
	TellsWho bool

	// SmallCrowdOK launches a batch even if the pool has fewer people than it
	// wants answers from.
	SmallCrowdOK bool
}

// Bounds of what a requester may ask for.
const (
	MinPriority     = sched.MinPriority
	MaxPriority     = sched.MaxPriority
	MinLease        = time.Second
	MaxLease        = 31 * 24 * time.Hour
	MinGrace        = time.Second
	MaxGrace        = 24 * time.Hour
	MinRevise       = time.Second
	MaxRevise       = 31 * 24 * time.Hour
	MaxRules        = 10      // requirements of one batch
	MaxPerWorker    = 1 << 30 // answers of one person to one batch
	MaxBatchAnswers = 1 << 31 // answers to one batch: assignments are numbered in 32 bits, and some come to nothing
)

// What a batch has, and a crowd step, where its definition says nothing.
const (
	DefaultPriority = 1
	DefaultLease    = 30 * time.Minute
	DefaultTaskTime = 30 * time.Second
)

// Validate checks everything that does not depend on the pool's state. It is long as it goes through the
// fields one by one.
func (s *Spec) Validate(now time.Time) error {
	switch {
	case s.ID < 1 || s.ID > crowd.MaxBatchID:
		return crowd.Fieldf("id", "%d is not a batch id", int64(s.ID))
	case s.Tasks < 1 && !s.Open:
		return crowd.Fieldf("tasks", "a batch needs at least one task")
	case s.Budget > crowd.MaxMoney:
		return crowd.Fieldf("budget", "%s is too much (at most %s)", s.Budget, crowd.MaxMoney)
	case s.TaskTime <= 0 || s.TaskTime > MaxLease:
		return crowd.Fieldf("task_time", "%s is not the time of a task (more than 0, at most %s)", s.TaskTime, MaxLease)
	case s.Lease < MinLease || s.Lease > MaxLease:
		return crowd.Fieldf("lease", "%s is not between %s and %s", s.Lease, MinLease, MaxLease)
	case !s.EndsAt.IsZero() && !s.EndsAt.After(now):
		return crowd.Fieldf("ends_at", "%s is in the past", s.EndsAt.UTC().Format(time.RFC3339))
	}
	if err := s.validGrace(); err != nil {
		return err
	}
	if err := s.validRevise(); err != nil {
		return err
	}
	if err := s.validApproval(); err != nil {
		return err
	}
	if err := validReward(s.Reward); err != nil {
		return err
	}
	if err := s.Rule.Validate(); err != nil {
		return err
	}
	if err := validClasses(s.Rule); err != nil {
		return err
	}
	if err := s.validChecks(); err != nil {
		return err
	}
	if err := CheckQuality(s.Quality, s.Checks != nil); err != nil {
		return err
	}
	if err := s.validReview(); err != nil {
		return err
	}
	if err := tooMany(int64(s.Tasks), s); err != nil {
		return err
	}
	if err := ValidPriority("priority", s.Priority); err != nil {
		return err
	}
	if err := validDeadline(s.Deadline, now); err != nil {
		return err
	}
	if err := ValidRequirements(s.Requirements); err != nil {
		return err
	}
	if s.PerWorker < 0 || s.PerWorker > MaxPerWorker {
		return crowd.Fieldf("per_worker", "%d is not the most answers of one person (1 to %d; 0: any number)", s.PerWorker, MaxPerWorker)
	}
	if s.Enough != nil {
		if err := s.Enough.validate(s.Reward); err != nil {
			return err
		}
	}
	first, ok := s.Reward.Times(int64(s.Rule.Fewest()))
	if reserves := s.Open && s.Budget == 0; !ok || s.Budget < first && !reserves {
		return &crowd.Error{Code: crowd.BudgetTooSmall, Field: "budget",
			Message: fmt.Sprintf("%s cannot pay one task (%s)", s.Budget, first)}
	}
	if s.SLA != nil {
		if err := s.SLA.validate(); err != nil {
			return err
		}
	}
	return s.validInvited()
}

func (s *Spec) validGrace() error {
	if s.Grace != 0 && (s.Grace < MinGrace || s.Grace > MaxGrace) {
		return crowd.Fieldf("grace", "%s is not between %s and %s (0: answers count at once)", s.Grace, MinGrace, MaxGrace)
	}
	return nil
}

func (s *Spec) validRevise() error {
	switch {
	case s.Revise == 0:
		return nil
	case s.Revise < MinRevise || s.Revise > MaxRevise:
		return crowd.Fieldf("revise", "%s is not between %s and %s (0: an answer that counts stands)", format.Duration(s.Revise), format.Duration(MinRevise), format.Duration(MaxRevise))
	case s.ReviewOf != 0:
		return crowd.Fieldf("revise", "the tasks are reviews of labels of %s: a review that was done stays", s.ReviewOf)
	case s.Open || s.SLA != nil || len(s.NotBy) > 0:
		return crowd.Fieldf("revise", "answers to a step of a workflow are not revised once they count: the next steps have used its labels")
	}
	return nil
}

// validInvited checks who is invited to which task.
func (s *Spec) validInvited() error {
	switch {
	case s.Invited == nil:
		return nil
	case s.Open:
		return crowd.Fieldf("invited", "people cannot be invited to single tasks of an open batch")
	case s.SLA != nil:
		return crowd.Fieldf("invited", "people cannot be invited to single tasks of a batch with an SLA")
	case len(s.NotBy) > 0:
		return crowd.Fieldf("invited", "people cannot be invited to single tasks of a batch that others of its run must not do (not_by)")
	}
	for _, w := range slices.Sorted(maps.Keys(s.Invited)) {
		list := s.Invited[w]
		if w < 1 || len(list) == 0 || !ascending(list) {
			return crowd.Fieldf("invited", "the tasks of %s are not an ascending list", w)
		}
		if list[0] < 1 || list[len(list)-1] > s.Tasks {
			return crowd.Fieldf("invited", "%s is invited to a task that is not there", w)
		}
	}
	return nil
}

// tooMany refuses more tasks than a batch may have.
func tooMany(tasks int64, s *Spec) error {
	of := *s
	of.Tasks = uint32(min(tasks, math.MaxUint32))
	if most := of.MostAnswers(); most > MaxBatchAnswers {
		return crowd.Fieldf("tasks", "%d tasks may want %d answers, which is too many for one batch (at most %d)", tasks, most, int64(MaxBatchAnswers))
	}
	return nil
}

// validClasses refuses label.Until for questions of which no model can learn how people mistake one
// answer for another.
func validClasses(r label.Rule) error {
	if r.FollowsAnswers() && r.Classes() == 0 {
		return crowd.Fieldf("redundancy", "only answers of a given list can be asked for until they are sure, such as those of choose_one: use count or agree here")
	}
	return nil
}

// ascending reports whether each number is greater than the one before.
func ascending(list []uint32) bool {
	for i := 1; i < len(list); i++ {
		if list[i] <= list[i-1] {
			return false
		}
	}
	return true
}

func validReward(r crowd.Money) error {
	switch {
	case r <= 0:
		return crowd.Fieldf("reward", "%s is not a price (it must be more than 0)", r)
	case r > crowd.MaxMoney:
		return crowd.Fieldf("reward", "%s is too much (at most %s)", r, crowd.MaxMoney)
	}
	return nil
}

// ValidPriority checks a priority, or the highest one of a tenant.
func ValidPriority(field string, p float64) error { return within(field, "priority", p) }

func within(field, noun string, x float64) error {
	if !(x >= MinPriority && x <= MaxPriority) {
		return crowd.Fieldf(field, "%s is not a %s (from %s to %s)", format.Number(x), noun, format.Number(MinPriority), format.Number(MaxPriority))
	}
	return nil
}

func validDeadline(d, now time.Time) error {
	if !d.IsZero() && !d.After(now) {
		return crowd.Fieldf("deadline", "%s is in the past", d.UTC().Format(time.RFC3339))
	}
	return nil
}

// Tenant is what the engine must know of a tenant.
type Tenant struct {
	ID      crowd.TenantID
	Weight  float64 // share against other tenants under tenant-fair, > 0
	Stopped bool    // emergency stop

	// MaxPriority is the highest priority that a batch of it may be launched with or
	// given from now on; 0: MaxPriority of the engine.
	MaxPriority float64
}

// Allows checks that the tenant may give a batch a priority.
func (t *Tenant) Allows(priority float64) error {
	if err := ValidPriority("priority", priority); err != nil {
		return err
	}
	if t.MaxPriority > 0 && priority > t.MaxPriority {
		return crowd.Fieldf("priority", "%s is beyond the tenant's highest, %s, which an administrator sets", format.Number(priority), format.Number(t.MaxPriority))
	}
	return nil
}

// tenant is a tenant of the pool.
type tenant struct {
	Tenant
	turn uint64        // number of the last hand-out of any batch of it
	used time.Duration // that people spent on counted answers
	held heldTime      // but for training
}

// Worker is what the engine must know of a worker of its pool.
type Worker struct {
	ID             crowd.WorkerID
	Qualifications map[string]int // the installation's: name to score, 0 to 100
	Granted        []Grant        // those of tenants
	Suspended      bool           // by an admin: gets nothing
	BlockedBy      []crowd.TenantID
	StaffOf        []crowd.TenantID // acts for these tenants, and does none of their tasks
	Serves         []crowd.TenantID // does tasks of these only; empty: of every tenant
	Lent           bool             // belongs to the pool, and is on duty in another
	Borrowed       bool             // belongs to another pool
}
