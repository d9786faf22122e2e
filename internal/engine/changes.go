package engine

import (
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
)

// Changes is what commands have changed since the last Take, by kind. Within a
// kind the order is that of happening; a store applies the kinds in the order
// of the fields. All of it belongs in one transaction.
type Changes struct {
	Handouts    []Handout
	Undone      []Undone
	Ends        []End
	Provisional []Answer // that do not count yet; of those that come to, Answers tells once more
	Answers     []Answer
	Revised     []RevisedAnswer
	Disregarded []DisregardedAnswer
	SentBack    []SentBack
	Notes       []TaskNote
	Unlabelled  []Unlabelled // tasks whose labels are withdrawn; Labels may have new ones
	Removals    []Removal
	Labels      []Label
	Reviews     []ReviewAsked // of labels in Labels
	Transfers   []Transfer
	Duties      []Duty
	Revisions   []Revision
	Progress    []Progress // the last state of each batch that changed
	Gates       []GateChange
	Reports     []Report
	Actions     []Action // of quality rules
	Undoings    []ActionUndone

	// Served lists what went to workers who were waiting, and somebody has to tell
	// those workers: hand-outs, which are in Handouts too, and what they have taken back.
	Served []Handout
	// Shifts lists who came on duty and who went off, in order. Who was waiting
	// when they went wait no longer, and somebody has to tell them.
	Shifts []Shift
	// Events is filled when Config.Observe is set.
	Events []Event
}

// Empty reports whether there is nothing to make durable.
func (c *Changes) Empty() bool {
	return len(c.Handouts)+len(c.Ends)+len(c.Answers)+len(c.Labels)+len(c.Transfers)+len(c.Duties)+len(c.Revisions)+len(c.Removals)+len(c.Progress)+len(c.Gates)+len(c.Reports)+len(c.Provisional)+len(c.Undone)+len(c.Actions)+len(c.Undoings)+len(c.Reviews)+len(c.Disregarded)+len(c.Notes)+len(c.Unlabelled)+len(c.SentBack)+len(c.Revised) == 0
}

// Handout is a task put into a worker's hands.
type Handout struct {
	Assignment crowd.AssignmentID
	Task       crowd.TaskID
	Worker     crowd.WorkerID
	At         time.Time
	Expires    time.Time
	Reward     crowd.Money
}

// Shift is somebody's coming on duty or going off.
type Shift struct {
	Worker crowd.WorkerID
	On     bool
	Why    Departure // if off
}

// End is an assignment that ended without an answer.
type End struct {
	Assignment crowd.AssignmentID
	State      crowd.AssignmentState // returned, skipped, reported, expired or withdrawn
	At         time.Time
}

// Report is what a worker says is wrong with the task of an assignment, which has ended
// as Reported.
type Report struct {
	Assignment crowd.AssignmentID
	Worker     crowd.WorkerID
	At         time.Time
	Text       string
}

// Answer is an annotation: the answer of one assignment.
type Answer struct {
	Assignment crowd.AssignmentID
	Worker     crowd.WorkerID
	At         time.Time
	Body       string // the whole answer, canonical JSON
	Key        string // what is compared with other answers
	Late       bool   // came after the lease ran out or the batch ended
	Counted    bool
	Paid       crowd.Money
	Held       crowd.Money // waits for approval in place of being paid
	Due        time.Time   // when what is held is paid if nobody decides of it
	Kept       bool        // it was provisional until now
	SendBack   string      // the comment of a reviewer who sends the label back with it; "": they do not
}

// Undone is a provisional answer that its worker has taken back: they hold the task again.
// One that was given since the last Take is in none of the lists then.
type Undone struct {
	Assignment crowd.AssignmentID
	Worker     crowd.WorkerID
	At         time.Time
	Expires    time.Time // the lease
}

// DisregardedAnswer is an answer that counted and is taken out of its batch: it stays kept and
// paid, but labels are not made of it any more.
type DisregardedAnswer struct {
	Assignment crowd.AssignmentID
	At         time.Time
}

// TaskNote is what whoever gets a task is told from then on, in place of what they were told before.
type TaskNote struct {
	Task crowd.TaskID
	At   time.Time
	Text string
	By   crowd.WorkerID // whose command it was, see Engine.Act, or the reviewer; 0: nobody knows
	// ByReviewer is whether a reviewer says it, not staff.
	ByReviewer bool
}

// SentBack is the review of a label that its reviewer has sent back, since their verdict counts. If it acts, the
// answers to the task are disregarded and its label is withdrawn with the same Changes.
type SentBack struct {
	Review     crowd.TaskID // of the batch of reviews
	Assignment crowd.AssignmentID
	Task       crowd.TaskID // with the label
	By         crowd.WorkerID
	At         time.Time
	Comment    string
	Acts       bool // false: the label stays, since it could not be sent back any more when the verdict came to count
}

// Unlabelled is a task whose label is withdrawn.
type Unlabelled struct {
	Task crowd.TaskID
	At   time.Time
}

// Label is the final answer of a task.
type Label struct {
	Task       crowd.TaskID
	At         time.Time
	Value      string
	Confidence float64 // share of the counted answers that agree, 0 to 1
	Answers    int     // counted answers
	Tie        bool    // several answers had as many votes
	Undecided  bool    // the rule's condition was not met (no k agreed, or ended early)
	Check      bool    // of a task that people are checked with: it is the known answer; not kept

	// By lists who answered, late answers included; only with Spec.TellsWho.
	By []crowd.WorkerID
}

// Revision is what a running batch is from now on, after Edit or Add.
type Revision struct {
	Batch      crowd.BatchID
	Rule       label.Rule
	Reward     crowd.Money
	Production bool
	Enough     *Enough
	Added      uint32     // tasks, after those that it had
	Was        PastReward // the reward until now, if it has changed; else zero
}

// PastReward is what the assignments up to number Last pay, beyond those of an earlier
// one: a reward that was changed later.
type PastReward struct {
	Last   uint32
	Reward crowd.Money
}

// Removal is a task taken out of a running batch.
type Removal struct {
	Task crowd.TaskID
	At   time.Time
}

// AccountKind is the kind of a ledger account.
type AccountKind byte

// The kinds of account. Money comes from Outside to a tenant, is reserved to a
// batch at its launch, and goes from there to workers, the rest back; where pay is
// approved, it waits in between. Waiting
// is paid from the pool's account, to which tenants add their shares.
const (
	Outside       AccountKind = 'o'
	TenantAccount AccountKind = 'n'
	BatchAccount  AccountKind = 'b'
	WorkerAccount AccountKind = 'u'
	PoolAccount   AccountKind = 'p'
	HeldAccount   AccountKind = 'h' // of a batch: pay that waits for approval
)

// Account names one account of the ledger.
type Account struct {
	Kind AccountKind
	ID   int64
}

// String returns "outside", or the owner's id: "n3", "b17", "u42", "p1"; of held pay "held-b17".
func (a Account) String() string {
	if a.Kind == Outside {
		return "outside"
	}
	if a.Kind == HeldAccount {
		return "held-b" + strconv.FormatInt(a.ID, 10)
	}
	return string(a.Kind) + strconv.FormatInt(a.ID, 10)
}

// TransferKind says what a payment is for.
type TransferKind string

// The kinds of transfer.
const (
	Deposit      TransferKind = "deposit"       // outside → tenant or pool
	Reserve      TransferKind = "reserve"       // tenant → batch, at launch, by a top-up or with an edit
	Reward       TransferKind = "reward"        // batch, or its held pay → worker, for a counted answer
	Hold         TransferKind = "hold"          // batch → its held pay, for a counted answer whose pay waits for approval
	Release      TransferKind = "release"       // batch → tenant, what is left at the end, or spare after an edit; held pay → tenant, of an answer whose pay is refused
	Waiting      TransferKind = "waiting"       // pool → worker, for waiting on duty
	WaitingShare TransferKind = "waiting_share" // tenant → pool, its share of that
	Withdrawal   TransferKind = "withdrawal"    // pool or tenant → outside
)

// Transfer is one entry of the double-entry ledger: Amount (> 0) leaves From
// and reaches To, so that the balances of all accounts always sum to zero.
type Transfer struct {
	At         time.Time
	Kind       TransferKind
	From, To   Account
	Amount     crowd.Money
	Assignment crowd.AssignmentID // of a reward, or of what is held in its place, else 0
	Author     crowd.WorkerID     // whose command it follows from; 0: nobody's in particular
}

// Progress is the part of a batch that changes while it runs.
type Progress struct {
	Batch        crowd.BatchID
	State        crowd.BatchState
	Stopped      bool
	Priority     float64
	Deadline     time.Time
	Tasks        uint32 // that the engine knows of
	Open         bool   // more may come
	Fresh        uint32 // number of the first task that nobody was given yet; with an SLA, from which on nobody was given any
	Issued       uint32 // assignments handed out so far
	OldestOpen   uint32 // first assignment that may belong to a task without a label
	Planned      int
	Completed    int
	Labelled     int
	Certainty    float64       // sum of the labels' confidence
	TakenOver    TakenOver     // labels that count for Spec.Enough, too
	Total        int           // tasks without a known answer that an open batch will have, of which some are to come; 0: not known
	Removed      int           // tasks that were taken out
	Known        int           // tasks with a known answer, to check people with
	Escrow       crowd.Money   // reserved and not paid
	Spent        crowd.Money   // on answers that count, held pay included
	Released     crowd.Money   // given back at the end: what was reserved and not paid
	Worked       time.Duration // sum over counted answers, from hand-out to answer
	LaunchedAt   time.Time
	EndedAt      time.Time
	HadEnough    bool // it ended by itself: see Spec.Enough
	FirstStarted time.Time
	WaitsFrom    time.Time // something of it has waited since then; zero: not known, as it was kept by an earlier version
}

// Wanted is how many of the batch's tasks have a label or are to get one: all but those
// that were taken out.
func (p *Progress) Wanted() int { return int(p.Tasks) - p.Removed }
