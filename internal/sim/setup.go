package sim

import (
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// A Setup is what worlds are drawn from. It is read only: repetitions share it.
type Setup struct {
	// Horizon is when a run ends. 0: when nothing is left to do, or after
	// DefaultHorizon.
	Horizon time.Duration

	// Gate is the pool's, which the engine keeps; zero: none. Of a Start it is the
	// snapshot's.
	Gate engine.Gate

	Tenants []Tenant
	Kinds   []Kind
	Groups  []Group // the crowd
	Batches []Batch // the load: batches that are there in every repetition
	Flows   []Flow  // and batches that are drawn
	Faults  []Fault

	// Classes are the size classes of batches that reports tell apart: the
	// greatest number of tasks in each but the last. Nil: those of Difallah et
	// al. 2019, §1.1 (tiny below 10, small below 100, medium to 1,000, large).
	Classes []Class

	// Cast, when not nil, draws who comes and what there is to do, in place of
	// the flows, the batches and the arrivals of the groups: for a world whose
	// random numbers are somebody else's.
	Cast func(seed uint64, rep int) (*Cast, error)
}

// A Class is a size class.
type Class struct {
	Name string
	Most int // tasks; 0: no bound
}

// DefaultClasses are those of Difallah et al. 2019, Figure 1.
var DefaultClasses = []Class{{"tiny (1-9)", 9}, {"small (10-99)", 99}, {"medium (100-999)", 999}, {"large (1,000-)", 0}}

// SizeClasses returns the classes that reports tell apart.
func (s *Setup) SizeClasses() []Class {
	if s.Classes != nil {
		return s.Classes
	}
	return DefaultClasses
}

// A Tenant owns batches.
type Tenant struct {
	Name   string
	Weight float64 // under tenant-fair; 0 means 1
}

// A Kind is a type of task: how long people take for it and how well they do.
type Kind struct {
	Name    string
	Service Dist // seconds for one answer of a worker of speed 1 who is used to it

	// A switch costs: the first task of a batch after one of another batch
	// takes SwitchFactor times as long (0 means 1) and SwitchTime longer.
	SwitchFactor float64
	SwitchTime   Dist // seconds; nil: none
	// Learning: the n-th task of this kind takes n^-Learning times as long as
	// the first.
	Learning float64

	// What may happen instead of an answer, as probabilities per assignment:
	// the worker wants another task (Skip), is done for now (Return), or is
	// gone without a word (Vanish). Skips and returns come after GiveUpAfter
	// seconds (nil: a tenth of the service time).
	Skip, Return, Vanish float64
	// Silent is the probability that the page sends no heartbeat (a laptop is
	// closed): what takes longer than the lease then comes late.
	Silent      float64
	GiveUpAfter Dist

	// Answers are the options; none: all answers are the same. The truth of a
	// task is one of them, each as likely. Confusion[t][a] is the probability
	// of answer a where t is true; nil: right with probability Accuracy
	// (0 means 1), else any other, each as likely.
	Answers   []string
	Accuracy  float64
	Confusion [][]float64
}

// A Group is a part of the crowd.
type Group struct {
	Name    string
	Arrive  Arrivals
	Session Dist // seconds from arrival until they leave, after the task in hand; nil: they stay
	// Patience is how long they wait for a task before they leave, in seconds;
	// nil: as long as it takes.
	Patience       Dist
	Pause          Dist               // seconds between a task and the next; nil: none
	Speed          Dist               // 2: takes half as long; nil: 1
	Accuracy       map[string]float64 // by kind, in place of the kind's
	Qualifications map[string]int     // name to score, 0 to 100
}

// Arrivals are the times at which workers or batches come. Exactly one form is used.
type Arrivals struct {
	// Count at once, at From.
	Count int
	From  time.Duration
	// Poisson: Rate an hour from From until Until (0: the horizon), at most
	// Count if that is not 0.
	Rate  float64
	Until time.Duration
	// A renewal process: Gap seconds between one and the next, from From until Until
	// (0: the horizon), at most Count if that is not 0. The first comes after one gap.
	Gap Dist
	// Times: one at each, in order.
	Times []time.Duration
	// Band keeps between Min and Max workers, as in the controlled experiments
	// of Difallah et al. 2019, §4.3.1: candidates come at Rate an hour; work
	// starts when Min are there; Max closes the door, and fewer than Min opens
	// it again. Workers only.
	Min, Max int
}

// A Batch of the load.
type Batch struct {
	Name       string
	ID         crowd.BatchID // 0: numbered in order of arrival; all or none
	At         time.Duration // when it is launched
	Tenant     int           // index in Setup.Tenants
	Kind       int           // index in Setup.Kinds
	Tasks      int
	Rule       label.Rule    // zero: one answer
	Priority   float64       // 0 means 1
	Deadline   time.Duration // from its launch; 0: none
	Production bool
	Reward     crowd.Money   // for each answer; 0 means 10,000 (0.01)
	Lease      time.Duration // 0: as long as anybody takes
	Grace      time.Duration // an answer counts so long after it was given; 0: at once
	TaskTime   time.Duration // the requester's estimate; 0: the kind's mean
	Lifetime   time.Duration // ended then with what there is; 0: never
	Requires   map[string]int
	PerWorker  int            // the most answers of one person; 0: any number
	Known      int            // tasks with a known answer, beyond Tasks; with Checks
	Checks     *engine.Checks // how often the known tasks check people; nil: there are none
	Enough     *engine.Enough // ends it by itself; nil: its last task does
}

// A Flow is a stream of batches.
type Flow struct {
	Batch           // what they have in common; Tasks and At are drawn
	Arrive Arrivals // when they come
	Size   Dist     // tasks; rounded, at least 1
	Alpha  *AlphaRule
}

// A Fault is something that goes wrong, or is changed, in the middle.
type Fault struct {
	At time.Duration
	// Vanish is the share of the workers present who are gone without a word,
	// with what they hold.
	Vanish float64
	// Policy is switched to; "" keeps it.
	Policy string
	// Stop is how long an emergency stop of everything lasts; 0: none.
	Stop time.Duration
}

// An AlphaRule gives the largest batches of a flow deadlines, as Difallah et
// al. 2019 §4.6 do: a batch of T tasks that take S seconds each, in a world of
// at most W workers, gets from full parallelism (α = 0) to full serialisation
// (α = 1).
type AlphaRule struct {
	Share   float64 // of the flow's batches, the largest ones; the paper's 0.1
	Alpha   float64 // ≥ 0
	Workers int     // W
	Service float64 // S, seconds
	Form    AlphaForm
}

// An AlphaForm tells the paper's formula from its authors' program.
type AlphaForm string

const (
	// AlphaPaper: f(α) = α T (S - S/W) + (1-α) S/min(W,T).
	AlphaPaper AlphaForm = "paper"
	// AlphaCode: f(α) = T (α (S - S/min(W,T)) + S/min(W,T)).
	AlphaCode AlphaForm = "code"
)

// Relative returns the deadline of a batch of so many tasks at an α, in seconds
// from its launch.
func (a *AlphaRule) Relative(tasks int, alpha float64) float64 {
	t, w, s := float64(tasks), float64(a.Workers), a.Service
	parallel := s / min(w, t)
	if a.Form == AlphaCode {
		return t * (alpha*(s-parallel) + parallel)
	}
	return alpha*t*(s-s/w) + (1-alpha)*parallel
}
