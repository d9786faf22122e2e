package crowd

// Reason says why nothing was handed out: a closed set, printed to requesters
// ("why is my task waiting?") and to workers ("why did I get nothing?").
// The zero value means that nothing stands in the way.
type Reason uint8

// The reasons. Those up to BudgetSpent are about the batch alone; the next
// group is about one worker and one batch; the last about the worker alone.
const (
	Eligible Reason = iota

	EmergencyStop     // hand-out is stopped for the batch, its tenant or everything
	BatchPaused       // the requester paused the batch
	BatchEnded        // the batch has ended
	NothingWaiting    // every assignment still wanted is in somebody's hands
	NoTaskYet         // no task has come yet, or all that have come are done: the batch is open
	EnoughLabels      // the batch has as many labels as it was to get, and ends when those at work have finished
	BudgetSpent       // the batch's budget cannot pay one more assignment
	NotInTraining     // the batch trains newcomers, or the worker is one and has to be trained first
	NotQualified      // the worker lacks a qualification that the batch asks for
	WorkerBlocked     // the tenant blocked the worker
	OwnStaff          // the worker acts for the tenant, and does not do its tasks
	ServesOthers      // the worker serves other tenants only
	NotInvited        // the tasks left are meant for other people
	AlreadyDid        // the worker has already held every task that is left
	AnsweredElsewhere // the worker answered what is left in another step
	AnsweredEnough    // the worker has given as many answers to the batch as one person may
	PausedByRule      // a quality rule of the batch has paused the worker
	OtherBatchFirst   // the policy puts another batch first
	NoWorkerReady     // nobody who may do it is waiting
	NoTraining        // the batch trains newcomers, and its pool has no training
	CrowdTooSmall     // fewer people may do it than it wants answers from
	NoOpenBatch       // no batch of the pool is running
	GateClosed        // the pool's gate is closed: too few people are there for work to begin
	PoolFull          // the pool's gate lets nobody else in: whoever comes waits outside
	NotOnDuty         // the pool calls people when it needs them, and the worker is not on duty
	WorkerSuspended   // an admin suspended the worker
	Lent              // who may do it helps in another pool
	reasonEnd         // not a reason: the end of the list
)

var reasonText = [reasonEnd][2]string{
	Eligible:          {"eligible", "they get a task as soon as they ask for work"},
	EmergencyStop:     {"emergency_stop", "hand-out is stopped (emergency stop)"},
	BatchPaused:       {"batch_paused", "the batch is paused"},
	BatchEnded:        {"batch_ended", "the batch has ended"},
	NothingWaiting:    {"nothing_waiting", "everything still wanted is being worked on"},
	NoTaskYet:         {"no_task_yet", "no task has come yet, or all that came are done"},
	EnoughLabels:      {"enough_labels", "it has enough labels, and ends when those at work have finished"},
	BudgetSpent:       {"budget_spent", "the batch's budget cannot pay one more answer"},
	NotInTraining:     {"not_in_training", "the batch is for newcomers in training, or the worker is still in training"},
	NotQualified:      {"not_qualified", "a qualification is missing"},
	WorkerBlocked:     {"worker_blocked", "the tenant has blocked this worker"},
	OwnStaff:          {"own_staff", "who acts for the tenant does not do its tasks"},
	ServesOthers:      {"serves_others", "this worker serves other tenants only"},
	NotInvited:        {"not_invited", "the tasks left are meant for other people"},
	AlreadyDid:        {"already_did", "every task left was already given to this worker"},
	AnsweredElsewhere: {"answered_elsewhere", "what is left was answered by this worker in another step or batch, and is for others"},
	AnsweredEnough:    {"answered_enough", "this worker has given as many answers as one person may"},
	PausedByRule:      {"paused_by_rule", "a quality rule of the batch keeps this worker from its tasks, until somebody lets them back in"},
	OtherBatchFirst:   {"other_batch_first", "the scheduling policy puts other batches first"},
	NoWorkerReady:     {"no_worker_ready", "nobody who may do it is waiting for work"},
	NoTraining:        {"no_training", "it is for newcomers in training, and the pool has no training"},
	CrowdTooSmall:     {"crowd_too_small", "fewer people may do it than it wants answers from"},
	NoOpenBatch:       {"no_open_batch", "no batch is running"},
	GateClosed:        {"gate_closed", "work begins when more people are here"},
	PoolFull:          {"pool_full", "the pool is full: whoever comes waits outside until somebody leaves"},
	NotOnDuty:         {"not_on_duty", "you are off duty; the pool calls people when it needs them"},
	Lent:              {"lent", "who may do it is lent to another pool, and comes home when they have finished what they hold there"},
	WorkerSuspended:   {"worker_suspended", "this worker is suspended"},
}

// Reasons lists every reason but Eligible.
func Reasons() []Reason {
	out := make([]Reason, 0, reasonEnd-1)
	for r := Eligible + 1; r < reasonEnd; r++ {
		out = append(out, r)
	}
	return out
}

// String returns the reason's code, such as "batch_paused".
func (r Reason) String() string { return r.text(0) }

// Text returns the reason as a sentence part for people.
func (r Reason) Text() string { return r.text(1) }

// ofWorkers are reasons as said of workers, where that is not Text.
var ofWorkers = map[Reason]string{
	Eligible:      "here, and would get a task of it if they asked for work now",
	NoWorkerReady: "at work on a task",
	NotQualified:  "without a qualification that it asks for",
	NotOnDuty:     "not here",
	NotInTraining: "not newcomers in training, or not yet done with it",
	WorkerBlocked: "blocked by the tenant",
	OwnStaff:      "act for the tenant themselves",
	ServesOthers:  "serve other tenants only",
	NotInvited:    "not named for the tasks that are left",
	PoolFull:      "without a place inside: the pool is full",
	Lent:          "lent to other pools",
	PausedByRule:  "paused by a quality rule of the batch",
	AlreadyDid:    "had every task that is left already",
}

// OfWorkers returns the reason as said of workers, each of whom it keeps from a batch.
func (r Reason) OfWorkers() string {
	if text, ok := ofWorkers[r]; ok {
		return text
	}
	return r.Text()
}

func (r Reason) text(i int) string {
	if r >= reasonEnd {
		return "unknown_reason"
	}
	return reasonText[r][i]
}

// MarshalText writes the reason's code.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a reason's code.
func (r *Reason) UnmarshalText(s []byte) error {
	for i, t := range reasonText {
		if t[0] == string(s) {
			*r = Reason(i)
			return nil
		}
	}
	return Fieldf("reason", "%q is not a reason", s)
}
