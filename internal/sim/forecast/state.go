package forecast

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/sim"
)

// A State is a pool at one moment. Its JSON form is versioned (Version).
type State struct {
	Now      time.Time
	Pool     crowd.PoolID
	Name     string // of the pool
	Policy   string
	Snapshot *engine.Snapshot // answers' keys are numbers that only show which are equal
	Batches  map[crowd.BatchID]string
	Observed Observed

	// NoMoney says that what batches pay and have spent is left out. A forecast then takes
	// it that each of them can pay for all of its answers, the same for each.
	NoMoney bool
}

// WithoutMoney leaves out what batches pay, what they may spend and what they have spent.
// What an SLA says of penalties stays, since policies order by it.
func (s *State) WithoutMoney() {
	s.NoMoney = true
	for i := range s.Snapshot.Batches {
		b := &s.Snapshot.Batches[i]
		if b.Spec.Enough != nil {
			enough := *b.Spec.Enough
			if enough.Spent, b.Spec.Enough = 0, nil; enough != (engine.Enough{}) {
				b.Spec.Enough = &enough
			}
		}
		b.Past = nil
		for j := range b.Assignments {
			b.Assignments[j].Paid = 0
		}
		payNominally(b)
	}
}

// payNominally has a batch pay the least for an answer, and have enough for all of them.
func payNominally(b *engine.BatchSnapshot) {
	const enough = crowd.Money(engine.MaxBatchAnswers)
	b.Spec.Reward, b.Spec.Budget, b.Progress.Escrow, b.Progress.Spent = 1, enough, enough, 0
}

// Validate checks a state that came from elsewhere as far as a run of it relies
// on it. The error is a *crowd.Error that names the field.
func (s *State) Validate() error {
	switch {
	case s.Now.IsZero():
		return crowd.Fieldf("now", "is missing")
	case s.Snapshot == nil:
		return crowd.Fieldf("batches", "is missing")
	}
	if _, err := sim.ParsePolicy(s.Policy); err != nil {
		return err
	}
	tenants := make(map[crowd.TenantID]bool, len(s.Snapshot.Tenants))
	for _, t := range s.Snapshot.Tenants {
		tenants[t.ID] = true
	}
	if err := s.Snapshot.Gate.Validate(); err != nil {
		return err
	}
	seen := make(map[crowd.WorkerID]bool, len(s.Snapshot.Workers))
	for _, w := range s.Snapshot.Workers {
		if w.ID < 1 || seen[w.ID] {
			return crowd.Fieldf("workers", "%s stands there twice, or is no worker", w.ID)
		}
		seen[w.ID] = true
	}
	for _, d := range s.Snapshot.Duties {
		if !seen[d.Worker] || d.Training < 0 || d.Training > engine.MaxTraining {
			return crowd.Fieldf("workers", "%s cannot have %d tasks of training to do", d.Worker, d.Training)
		}
	}
	for i := range s.Snapshot.Batches {
		b := &s.Snapshot.Batches[i]
		if !tenants[b.Spec.Tenant] {
			return crowd.Fieldf("batches", "%s: its tenant %s is not there", b.Spec.ID, b.Spec.Tenant)
		}
		if i > 0 && s.Snapshot.Batches[i-1].Spec.ID >= b.Spec.ID {
			return crowd.Fieldf("batches", "%s is out of order", b.Spec.ID)
		}
		if err := validBatch(b); err != nil {
			return err
		}
	}
	return s.Observed.validate()
}

// validBatch checks what engine.Restore takes for granted of what a store has
// kept.
func validBatch(b *engine.BatchSnapshot) error {
	spec, p := b.Spec, &b.Progress
	spec.Deadline, spec.EndsAt, spec.Budget = time.Time{}, time.Time{}, crowd.MaxMoney // may have passed, may be spent
	if err := spec.Validate(time.Time{}); err != nil {
		return crowd.Fieldf("batches", "%s: %v", spec.ID, err)
	}
	bad := func(what string) error { return crowd.Fieldf("batches", "%s: %s", spec.ID, what) }
	switch {
	case p.Batch != spec.ID:
		return bad("its progress is another batch's")
	case !p.State.Open():
		return bad("it is not running")
	case !(p.Priority >= engine.MinPriority && p.Priority <= engine.MaxPriority):
		return bad("its priority is out of range")
	case p.Fresh < 1 || p.Fresh > spec.Tasks+1:
		return bad("there is no such task as the next fresh one")
	case p.Planned < p.Completed || p.Completed < 0 || int64(p.Planned) > engine.MaxBatchAnswers || p.Labelled < 0 || p.Labelled+len(b.Removed) > int(spec.Tasks):
		return bad("its counts cannot be")
	case !(p.Certainty >= 0 && p.Certainty <= float64(p.Labelled)+1e-6):
		return bad("its labels cannot be as certain as that")
	case !p.TakenOver.Valid():
		return bad("the labels that it took over cannot be as certain as that")
	case p.Total < 0 || int64(p.Total) > crowd.MaxInBatch:
		return bad("it cannot have so many tasks in all")
	case p.Worked < 0 || p.Escrow < 0 || p.Spent < 0 || p.Escrow > crowd.MaxMoney || p.Spent > crowd.MaxMoney:
		return bad("its sums cannot be")
	case p.LaunchedAt.IsZero():
		return bad("it was never launched")
	}
	for _, n := range slices.Concat(b.Labelled, b.Removed) {
		if n < 1 || n > spec.Tasks {
			return bad("a label is of no task, or one was taken out that is not there")
		}
	}
	for n := range b.NotBy {
		if n < 1 || n > spec.Tasks {
			return bad("somebody is excluded from a task that is not there")
		}
	}
	for w, n := range b.Gave {
		if w < 1 || n < 0 {
			return bad("the answers of one person cannot be")
		}
	}
	for _, x := range b.Checked {
		if x.Worker < 1 || spec.Known[x.N] == "" || x.Right && !x.Counted {
			return bad("a check is of no task with a known answer, of nobody, or right without an answer")
		}
	}
	for _, a := range b.Actions {
		if a.Worker < 1 {
			return bad("somebody who is paused is nobody")
		}
	}
	for i, x := range b.Past {
		if x.Reward <= 0 || x.Reward > crowd.MaxMoney || i > 0 && x.Last <= b.Past[i-1].Last {
			return bad("a past reward is none, or out of order")
		}
	}
	if what := cmp.Or(wrongItem(b), wrongAssignment(b)); what != "" {
		return bad(what)
	}
	return nil
}

// wrongItem says what is wrong with the items of b, or "".
func wrongItem(b *engine.BatchSnapshot) string {
	spec := &b.Spec
	if spec.SLA != nil && len(b.Items) != int(spec.Tasks)-b.Progress.Labelled {
		return "its items are not its tasks without a label"
	}
	for i, x := range b.Items {
		if x.N < 1 || x.N > spec.Tasks || i > 0 && x.N <= b.Items[i-1].N {
			return "an item is of no task, or out of order"
		}
		if x.Class < 0 || x.Class > 0 && (spec.SLA == nil || x.Class > len(spec.SLA.Others)) {
			return "an item is of a class that is not there"
		}
	}
	return ""
}

// wrongAssignment says what is wrong with an assignment of b, or "".
func wrongAssignment(b *engine.BatchSnapshot) string {
	spec, p, last := &b.Spec, &b.Progress, crowd.AssignmentID(0)
	for i := range b.Assignments {
		a := &b.Assignments[i]
		switch {
		case a.ID.Batch() != spec.ID || a.ID <= last || a.ID.N() > p.Issued:
			return "an assignment is out of order"
		case a.Task.Batch() != spec.ID || a.Task.N() < 1 || a.Task.N() > spec.Tasks || (spec.Invited == nil && a.Task.N() >= p.Fresh && spec.Known[a.Task.N()] == ""):
			return "an assignment is of no task"
		case a.Worker < 1:
			return "an assignment is of no worker"
		case !slices.Contains(assignmentStates, a.State):
			return "an assignment's state is unknown"
		case a.State == crowd.Provisional && spec.Grace == 0:
			return "an answer is provisional, and there is no grace"
		case a.Counted && a.State != crowd.Submitted:
			return "an answer counts that was not given"
		case a.Disregarded && !a.Counted:
			return "an answer is disregarded that did not count"
		}
		last = a.ID
	}
	return ""
}

var assignmentStates = []crowd.AssignmentState{crowd.Assigned, crowd.Submitted, crowd.Returned, crowd.Skipped, crowd.Expired, crowd.Withdrawn, crowd.Reported, crowd.Provisional}

// left is how many answers a batch still wants, those in somebody's hands among
// them.
func left(p *engine.Progress) int { return max(p.Planned-p.Completed, 0) }

// Hide replaces the answers' keys of a snapshot by numbers that only show which
// of a task's answers are equal: the most frequent one is "1". Who is on duty,
// and what waiting costs, is left out: a forecast draws people's comings and goings
// from what they did before. People in training stay so: they get no other tasks. Who is lent,
// to another pool or by one, is then a worker of the pool as the others are.
//
// A batch that more tasks may come to is taken as it is: what is forecast is the
// end of the tasks that it has. One that has none left is left out.
func Hide(s *engine.Snapshot) {
	var training []engine.Duty
	for _, d := range s.Duties {
		if d.Training > 0 {
			training = append(training, engine.Duty{Worker: d.Worker, Training: d.Training})
		}
	}
	s.Retainer, s.Funds, s.Duties = engine.Retainer{}, 0, training
	for i := range s.Workers {
		s.Workers[i].Lent, s.Workers[i].Borrowed = false, false
	}
	s.Batches = slices.DeleteFunc(s.Batches, func(b engine.BatchSnapshot) bool {
		return b.Spec.Open && b.Progress.Wanted() == b.Progress.Labelled
	})
	for i := range s.Batches {
		seal(&s.Batches[i])
		hideBatch(&s.Batches[i])
		if known := s.Batches[i].Spec.Known; known != nil {
			s.Batches[i].Spec.Known = hiddenKnown(slices.Collect(maps.Keys(known)))
		}
		hideEvidence(&s.Batches[i])
		keepActions(&s.Batches[i])
	}
}

// seal takes the tasks that an open batch has for all of them.
func seal(b *engine.BatchSnapshot) {
	if !b.Spec.Open {
		return
	}
	b.Spec.Tasks, b.Spec.Open, b.Progress.Open = b.Progress.Tasks, false, false
	b.Spec.Budget = max(b.Spec.Budget, b.Progress.Spent+b.Progress.Escrow)
}

// hiddenKnown says of tasks that their answers are known, and not what these are.
func hiddenKnown(tasks []uint32) map[uint32]string {
	known := make(map[uint32]string, len(tasks))
	for _, n := range tasks {
		known[n] = "1"
	}
	return known
}

func hideBatch(b *engine.BatchSnapshot) {
	type answer struct {
		key   string
		first int
		votes int
	}
	tasks := make(map[crowd.TaskID][]answer)
	for i := range b.Assignments {
		a := &b.Assignments[i]
		if a.State != crowd.Submitted {
			continue
		}
		list := tasks[a.Task]
		k := slices.IndexFunc(list, func(x answer) bool { return x.key == a.Key })
		if k < 0 {
			k = len(list)
			list = append(list, answer{key: a.Key, first: i})
		}
		list[k].votes += btoi(a.Counts())
		tasks[a.Task] = list
	}
	for _, list := range tasks {
		slices.SortFunc(list, func(x, y answer) int { return cmp.Or(cmp.Compare(y.votes, x.votes), cmp.Compare(x.first, y.first)) })
	}
	for i := range b.Assignments {
		a := &b.Assignments[i]
		if a.State != crowd.Submitted {
			a.Key = ""
		} else {
			a.Key = strconv.Itoa(1 + slices.IndexFunc(tasks[a.Task], func(x answer) bool { return x.key == a.Key }))
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
