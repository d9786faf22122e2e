package crowd

// The states of the nouns that live and end, each with a table of the moves
// that are allowed. Nothing else in the project decides whether a move is legal.

// BatchState is where a batch stands.
type BatchState string

// The states of a batch.
const (
	BatchDraft     BatchState = "draft"     // being made: tasks may be added, nothing is handed out
	BatchRunning   BatchState = "running"   // handed out
	BatchOnHold    BatchState = "paused"    // nothing new is handed out; what is held may be submitted
	BatchDone      BatchState = "done"      // every task has its label
	BatchStopped   BatchState = "ended"     // early, with what there was: by the requester, or because it had enough
	BatchCancelled BatchState = "cancelled" // the requester gave it up
)

var batchMoves = map[BatchState][]BatchState{
	BatchDraft:   {BatchRunning, BatchCancelled},
	BatchRunning: {BatchOnHold, BatchDone, BatchStopped, BatchCancelled},
	BatchOnHold:  {BatchRunning, BatchDone, BatchStopped, BatchCancelled},
}

// May reports whether a batch may go from s to next.
func (s BatchState) May(next BatchState) bool { return contains(batchMoves[s], next) }

// Open reports whether the batch is launched and not ended.
func (s BatchState) Open() bool { return s == BatchRunning || s == BatchOnHold }

// Ended reports whether the batch can change no more.
func (s BatchState) Ended() bool { return len(batchMoves[s]) == 0 }

// BatchStates lists every state of a batch.
func BatchStates() []BatchState {
	return []BatchState{BatchDraft, BatchRunning, BatchOnHold, BatchDone, BatchStopped, BatchCancelled}
}

// AssignmentState is where one worker's lease on one task stands.
type AssignmentState string

// The states of an assignment.
const (
	Assigned    AssignmentState = "assigned"    // the worker holds the task
	Provisional AssignmentState = "provisional" // the answer is in, and the worker may take it back yet
	Submitted   AssignmentState = "submitted"   // the answer is in
	Returned    AssignmentState = "returned"    // the worker gave the task back
	Skipped     AssignmentState = "skipped"     // the worker asked for another task instead
	Reported    AssignmentState = "reported"    // the worker said that something is wrong with the task
	Expired     AssignmentState = "expired"     // the lease ran out
	Withdrawn   AssignmentState = "withdrawn"   // the batch ended while the worker held the task
)

var assignmentMoves = map[AssignmentState][]AssignmentState{
	Assigned:    {Provisional, Submitted, Returned, Skipped, Reported, Expired, Withdrawn},
	Provisional: {Assigned, Submitted}, // taken back, or not
	Expired:     {Submitted},           // a late answer
	Withdrawn:   {Submitted},           // a late answer
}

// May reports whether an assignment may go from s to next.
func (s AssignmentState) May(next AssignmentState) bool { return contains(assignmentMoves[s], next) }

// Answered reports whether an answer came in and stands.
func (s AssignmentState) Answered() bool { return s == Submitted }

// AssignmentStates lists every state of an assignment.
func AssignmentStates() []AssignmentState {
	return []AssignmentState{Assigned, Provisional, Submitted, Returned, Skipped, Reported, Expired, Withdrawn}
}

func contains[T comparable](list []T, x T) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}
