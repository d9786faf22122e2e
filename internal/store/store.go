// Package store says what the server keeps and how it is asked for it. It
// holds the interfaces and the kept forms of the nouns; sub-packages implement
// them on a database each, and the tests of storetest are the suite that every
// one of them must pass.
//
// Reads and writes that concern a tenant name the tenant: a row of another
// tenant is not found. Methods return *crowd.Error with code NotFound or
// Conflict where that is the answer, StorageFull when the disk is full, and
// other errors only when the database fails.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/pool"
)

// ErrOldSchema says that a database was kept by an older version of the program
// and has not been brought up to date, which nothing does that only looks.
var ErrOldSchema = errors.New("it is of an older version")

// Store is everything that is kept.
type Store interface {
	Journal
	Tenants
	People
	Tokens
	Roles
	Factors
	Provisioning
	Pools
	Calls
	Outbox
	PoolHistory
	Batches
	Results
	Reports
	QualityActions
	Corrections
	Redos
	Reviews
	Ledger
	Approvals
	Flows
	Services
	Invitations
	Addresses
	Tests
	Requests
	Audit
	Quotas
	PersonalData
	Retention
	Health
	Close() error
}

// Journal keeps what the engines do.
type Journal interface {
	// Commit makes changes durable: all of them or none. The accounts' balances
	// follow the transfers.
	Commit(ctx context.Context, c *engine.Changes) error
	// Snapshot reads a pool's state, as of the last Commit.
	Snapshot(ctx context.Context, pool crowd.PoolID) (*engine.Snapshot, error)
	// Activity returns the assignments of a pool that were handed out at or
	// after since, in order of id: of its running batches, and of those that
	// ended at or after since. If there are more than about limit, only the
	// latest; from is then later than since, and all from it on are there.
	Activity(ctx context.Context, pool crowd.PoolID, since time.Time, limit int) (list []Activity, from time.Time, err error)
}

// Activity is an assignment as a sign of its worker's being there.
type Activity struct {
	Assignment crowd.AssignmentID
	Worker     crowd.WorkerID
	State      crowd.AssignmentState
	At         time.Time
	EndedAt    time.Time // answered, or given back; zero while held
}

// Tenant is a tenant as kept.
type Tenant struct {
	ID        crowd.TenantID
	Name      string // unique
	Weight    float64
	Stopped   bool
	CreatedAt time.Time

	MaxPriority float64 // that its batches may have
}

// Tenants keeps tenants.
type Tenants interface {
	// CreateTenant keeps t under a new id, which it returns, with a first deposit
	// (0: none) in its account: both or neither. A name that is taken is a
	// Conflict.
	CreateTenant(ctx context.Context, t Tenant, deposit crowd.Money) (crowd.TenantID, error)
	UpdateTenant(ctx context.Context, t Tenant) error
	Tenant(ctx context.Context, id crowd.TenantID) (Tenant, error)
	// ListTenants returns all tenants in order of id.
	ListTenants(ctx context.Context) ([]Tenant, error)
}

// User is a person: an admin, a requester of some tenants, a worker of a pool,
// or several of these.
type User struct {
	ID             crowd.WorkerID
	Name           string // to sign in with; unique, compared without case
	FullName       string
	Email          string
	EmailVerified  bool   // is known to be theirs: else it reserves nothing, and gets no mail of calls
	EmailBy        string // the provider on whose word it is, by its name or issuer; "": the server knows it
	PasswordHash   string `audit:"-"` // empty: cannot sign in with a password
	Admin          bool
	Pool           crowd.PoolID // 0: not a worker
	Suspended      bool         // can neither sign in nor work
	CreatedAt      time.Time
	Tenants        []crowd.TenantID // requester of these, ascending
	Roles          []HeldRole       // besides, in order of their tenants and names
	Qualifications map[string]int
	Granted        []engine.Grant   // those of tenants, by tenant and name
	BlockedBy      []crowd.TenantID // tenants who do not want this worker, ascending
	Serves         []crowd.TenantID // only these tenants' tasks are for this worker, ascending; empty: every tenant's

	Prefers map[crowd.PoolID]float64 // how much they like each pool's work, from 0 to 1; others: 0.5
	Away    bool                     // does not want to be called
	NoMail  bool                     // not by e-mail

	MovesTo crowd.PoolID // where they go as soon as they have finished what they hold; 0: they stay
	Home    crowd.PoolID // the pool that they belong to, and return to when they go off duty; 0: Pool
	MovedAt time.Time    // when they last came on duty from another pool; zero: never

	SuspendedBy string    // the provider of accounts that has suspended them; "": an administrator, or nobody
	ErasedAt    time.Time // what was kept about them was taken away; zero: they are there
}

// Identity is an account at a provider of OpenID Connect.
type Identity struct {
	Issuer, Subject string // by which the provider names it
	ExternalID      string // under which the provider provisions its person; "": not told
	CreatedAt       time.Time
}

// StaffOf returns the tenants for which u holds any role, ascending.
func (u *User) StaffOf() []crowd.TenantID {
	list := slices.Clone(u.Tenants)
	for _, h := range u.Roles {
		if h.Tenant != 0 {
			list = append(list, h.Tenant)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// RunsInstallation reports whether u holds a role for the installation.
func (u *User) RunsInstallation() bool {
	return u.Admin || slices.ContainsFunc(u.Roles, func(h HeldRole) bool { return h.Tenant == 0 })
}

// IsStaff reports whether u runs the installation or acts for a tenant.
func (u *User) IsStaff() bool { return u.RunsInstallation() || len(u.StaffOf()) > 0 }

// LentBy is the pool that has lent a worker to the one in which they are; 0: none has.
func (u *User) LentBy() crowd.PoolID {
	if u.Home == u.Pool {
		return 0
	}
	return u.Home
}

// People keeps users.
type People interface {
	// CreateUser keeps u under a new id, which it returns. A name that is taken
	// is a Conflict.
	CreateUser(ctx context.Context, u User) (crowd.WorkerID, error)
	// UpdateUser replaces everything that is kept of u.ID. If it gives them rights, it ends
	// tokens for programs and one-time links that others made for them: neither they, nor
	// an administrator, nor the actor of the context's act. Of who is suspended it ends those
	// that they made for others, with what was made with these.
	UpdateUser(ctx context.Context, u User) error
	User(ctx context.Context, id crowd.WorkerID) (User, error)
	UserByName(ctx context.Context, name string) (User, error)
	// PutIdentity makes an account at a provider of OpenID Connect u's; a user without id is
	// kept under a new one. An account that is somebody's is a Conflict.
	PutIdentity(ctx context.Context, i Identity, u User) (crowd.WorkerID, error)
	// SetExternalID keeps the external id that a provider tells of an account.
	SetExternalID(ctx context.Context, issuer, subject, externalID string) error
	UserByIdentity(ctx context.Context, issuer, subject string) (User, error)
	// UsersByExternalID returns the users with an account at a provider of which it has told
	// an external id, in order of id.
	UsersByExternalID(ctx context.Context, issuer, externalID string) ([]User, error)
	// HasIdentity reports whether a user has an account at a provider.
	HasIdentity(ctx context.Context, issuer string, user crowd.WorkerID) (bool, error)
	// ListUsers returns up to limit users with ids above after, in order of
	// id. When tenant is not 0, only those who hold a role for that tenant.
	ListUsers(ctx context.Context, tenant crowd.TenantID, after crowd.WorkerID, limit int) ([]User, error)
	// UserNames returns the names of those of some people who exist.
	UserNames(ctx context.Context, ids []crowd.WorkerID) (map[crowd.WorkerID]string, error)
	// PoolUsers returns the users who are workers of a pool, in order of id.
	PoolUsers(ctx context.Context, pool crowd.PoolID) ([]User, error)
	// PoolDuties returns what is kept of duty in a pool, of everybody who was
	// ever on duty or in training there, in order of worker.
	PoolDuties(ctx context.Context, pool crowd.PoolID) ([]engine.Duty, error)
}

// Pool is a pool as kept.
type Pool struct {
	ID        crowd.PoolID
	Name      string // unique
	Policy    string // text form of its scheduling policy
	Stopped   bool
	CreatedAt time.Time

	Retainer engine.Retainer // how people are kept on call
	Control  pool.Settings   // who decides how many
	Calling  Calling         // how they are called

	Grants []PoolGrant // to whom it is granted, ascending by tenant
	Gate   bool        // Control.Min and Control.Max say how many are served: see GateSettings
}

// GateSettings is the gate that the pool's settings ask for. Whether it is open is kept with
// what the engine has changed.
func (p *Pool) GateSettings() engine.Gate {
	if !p.Gate {
		return engine.Gate{}
	}
	return engine.Gate{On: true, Min: p.Control.Min, Max: p.Control.Max}
}

// BoundsUnused reports whether Control.Min and Control.Max stand there and bound nobody:
// the pool is open and has no gate, and neither the balance nor rules that are in force
// move anybody. They are kept for the next gate or call.
func (p *Pool) BoundsUnused() bool {
	c := &p.Control
	return (c.Min > 0 || c.Max > 0) && !p.Gate && !p.Retainer.Called && !c.Balance && len(c.TakesFrom()) == 0
}

// Controlled is by what the pool is controlled: Control without bounds that are kept for
// later.
func (p *Pool) Controlled() pool.Settings {
	c := p.Control
	if p.BoundsUnused() {
		c.Min, c.Max = 0, 0
	}
	return c
}

// Calling says how a pool calls people who are off duty.
type Calling struct {
	// Ask is how many people are asked for each one wanted, at least 1: who
	// answers first comes in.
	Ask float64
	// Answer is how long people have to answer before others are asked.
	Answer time.Duration
	// Life is how long a call stays open.
	Life time.Duration
}

// Pools keeps pools.
type Pools interface {
	CreatePool(ctx context.Context, p Pool) (crowd.PoolID, error)
	UpdatePool(ctx context.Context, p Pool) error
	ListPools(ctx context.Context) ([]Pool, error)
	Pool(ctx context.Context, id crowd.PoolID) (Pool, error)
}

// Batch is a batch as kept: its definition, and its progress once launched.
type Batch struct {
	Spec      engine.Spec // Priority and Deadline as in Progress once launched; Invited is not filled
	Pool      crowd.PoolID
	Name      string
	Run       crowd.RunID // of whose node Node it is the job, or 0
	Node      int
	Template  json.RawMessage // see package task
	Columns   []string        // of the uploaded file
	CreatedBy crowd.WorkerID
	CreatedAt time.Time
	Directed  bool         // people are invited to single tasks
	Review    *ReviewTerms // of its labels, of which Spec.Review follows; nil: they are not reviewed
	// ReviewedIn is the batch of reviews of its labels; 0: there is none, or none yet. It is not written.
	ReviewedIn crowd.BatchID `audit:"-"`
	Progress   engine.Progress
	// PayPaid and PayReturned are what of the pay that was held was paid, and what was refused and has
	// gone back. Only ChangePay and SettlePay write them.
	PayPaid, PayReturned crowd.Money `audit:"-"`

	AnswersDeletedAt time.Time `audit:"-"` // since when what was answered is not there any more; zero: it is
	FilesDeletedAt   time.Time `audit:"-"` // likewise the cells and known answers of the tasks
}

// HasBudget reports whether the batch has a budget of its own: that of a step may spend
// its run's, or its tenant's account, task by task.
func (b *Batch) HasBudget() bool { return b.Run == 0 || b.Spec.Budget > 0 }

// Paid is what the batch's workers have got for their answers.
func (b Batch) Paid() crowd.Money {
	if b.Spec.Approval == nil {
		return b.Progress.Spent
	}
	return b.PayPaid
}

// Held is the pay that waits for approval, or for the end of an appeal.
func (b Batch) Held() crowd.Money {
	if b.Spec.Approval == nil {
		return 0
	}
	return b.Progress.Spent - b.PayPaid - b.PayReturned
}

// Task is one row of the uploaded file.
type Task struct {
	ID      crowd.TaskID
	Values  []string         // by column
	Gold    string           // known answer (its key), or ""; shown to a worker with Explain only
	Explain string           // why it is right, where the task teaches; "": it does not
	Invited []crowd.WorkerID // only these may do it; nil: everybody

	Item  int64     // of the run of the batch, or 0
	Born  time.Time // the item
	Class int       // of the item
	// Bound is when the item's other branches were expected to end; zero: there are none.
	Bound time.Time
	NotBy []crowd.WorkerID // must not do it: they answered its item elsewhere
	Reply string           // to reports that something is wrong with it, or a comment with which an answer or a label was sent back
	// ByReviewer is whether Reply is the comment of a reviewer, not of staff.
	ByReviewer bool
}

// Batches keeps batches and their tasks.
type Batches interface {
	// CreateBatch keeps a draft under a new id, which it returns; it has no
	// tasks yet.
	CreateBatch(ctx context.Context, b Batch) (crowd.BatchID, error)
	// UpdateDraft replaces the definition of a draft; Conflict if it is none.
	UpdateDraft(ctx context.Context, b Batch) error
	// AddTasks adds tasks to a draft, numbered on from those it has, and
	// updates Spec.Tasks and Directed. All of the call's tasks, or none.
	AddTasks(ctx context.Context, id crowd.BatchID, tasks []Task) error
	// DropTasks takes a draft's tasks away.
	DropTasks(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) error
	// StageTasks keeps tasks for a batch that was launched, numbered on from those it
	// has and those that are staged. They are no part of it until the Revision of an
	// engine has added them. All of the call's tasks, or none; nobody is invited to them.
	StageTasks(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, tasks []Task) error
	// DropStaged takes away what is staged. If it fails in between, calling it again goes
	// on.
	DropStaged(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) error
	// CancelDraft makes a draft cancelled; Conflict if it is none. Its tasks, its columns and its
	// template are deleted with it, unless it is of a run.
	CancelDraft(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, now time.Time) error
	// Batch returns a batch; tenant 0 means any.
	Batch(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) (Batch, error)
	// ListBatches returns up to limit batches with ids below before (0: all),
	// newest first, without their templates and columns; tenant 0 means any.
	ListBatches(ctx context.Context, tenant crowd.TenantID, before crowd.BatchID, limit int) ([]Batch, error)
	// BatchNames returns the names of those of some batches that exist.
	BatchNames(ctx context.Context, ids []crowd.BatchID) (map[crowd.BatchID]string, error)
	// Task returns a task, for whoever may see its batch.
	Task(ctx context.Context, id crowd.TaskID) (Task, error)
	// Tasks returns the tasks of first's batch from first on, at most n (1 to
	// 1000), in order, without the people invited to them. They are fewer if they
	// have more than PageBytes of text, but at least one if there is one.
	Tasks(ctx context.Context, first crowd.TaskID, n int) ([]Task, error)
	// Known returns the known answers of a batch's tasks after one number up to another, by
	// their numbers.
	Known(ctx context.Context, id crowd.BatchID, after, last uint32) (map[uint32]string, error)
	// Lessons returns the numbers of those of them that teach, as they are explained, ascending.
	Lessons(ctx context.Context, id crowd.BatchID, after, last uint32) ([]uint32, error)
	// Invitations returns who may do which task of a directed batch.
	Invitations(ctx context.Context, id crowd.BatchID) (map[crowd.WorkerID][]uint32, error)
}

// Annotation is an assignment with its answer, as it goes out.
type Annotation struct {
	Assignment crowd.AssignmentID
	Task       crowd.TaskID
	Values     []string // of the task, by column
	Worker     crowd.WorkerID
	WorkerName string
	State      crowd.AssignmentState
	AssignedAt time.Time
	ExpiresAt  time.Time
	EndedAt    time.Time // answered, or given back; zero while held
	Body       json.RawMessage
	Key        string
	Late       bool
	Counted    bool
	Paid       crowd.Money
	// DisregardedAt is since when an answer that counted does so no more; zero: it is not disregarded.
	DisregardedAt time.Time
	// RevisedAt is when its worker revised the answer last; zero: they have not.
	RevisedAt time.Time
	Revised   int // how often
	// Revisions is what was answered before, or of a check after, and does not count, in order; only of Results.TaskResults.
	Revisions []Revision
}

// Revision is what somebody answered and does not count, since it was revised, or of a check is a revision.
type Revision struct {
	N    int // 0: the first answer; else the number of the revision
	At   time.Time
	Body json.RawMessage // empty: it has been deleted
	Key  string
}

// LabelledTask is a task with its label, as it goes out.
type LabelledTask struct {
	Task   crowd.TaskID
	Item   int64 // of its run, or 0
	Values []string
	Gold   string
	Lesson bool          // Gold is there to teach
	Label  *engine.Label // nil: none yet
	// Corrected is the correction that holds; nil: none does.
	Corrected *Correction
	// Review is the review of the label, without Answers; nil: there is none.
	Review *Review
}

// TaskResult is a task with what came of it.
type TaskResult struct {
	LabelledTask
	Annotations []Annotation // in order of id, without Values
	SentBack    []SentBack   // labels of it, in order
}

// Results reads what came in. Iteration is over one consistent state of the
// database, holds no more than one row in memory, and stops at the first error.
type Results interface {
	// Annotations yields the batch's assignments in order of id; with
	// answered, only those with an answer.
	Annotations(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, answered bool) iter.Seq2[Annotation, error]
	// Labels yields the batch's tasks in order of id, with their labels, but for those
	// that were taken out.
	Labels(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) iter.Seq2[LabelledTask, error]
	// Answers is Annotations of those with an answer, without values of tasks and names.
	Answers(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) iter.Seq2[Annotation, error]
	// Assigned returns the number of the task of each of the batch's assignments after a
	// number, in order, up to limit or a few more; 0 where a number was not used. Of a
	// batch that is not the tenant's there are none.
	Assigned(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, after uint32, limit int) (tasks []uint32, err error)
	// TaskResults returns those of some tasks of the batch that exist and were not taken
	// out, in order of id, with those of some assignments that are theirs, as they are at
	// one moment.
	TaskResults(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, tasks []crowd.TaskID, assignments []crowd.AssignmentID) ([]TaskResult, error)
	// GivenAnswers returns those of some assignments of the batch that were answered, in order of id,
	// without names, values and texts; only those that are disregarded have their keys.
	GivenAnswers(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, assignments []crowd.AssignmentID) ([]Annotation, error)
	// AnsweredBy returns, as it is at one moment, what engine.Disregard has to know of the tasks of a batch that a
	// worker has answered: of those whose answers count, of assignments numbered above after
	// and up to last, in their order, up to limit. It reads all of the batch's assignments.
	AnsweredBy(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, worker crowd.WorkerID, after, last uint32, limit int) ([]engine.AnsweredTask, error)
	// HasAnswered reports whether a worker has answered something of a batch, whether it counts or not.
	HasAnswered(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, worker crowd.WorkerID) (bool, error)
	// AnswerToRevise returns, as it is at one moment, what engine.Revise has to know of the answer to an assignment. It reads all of
	// the batch's assignments where the task has a label.
	AnswerToRevise(ctx context.Context, id crowd.AssignmentID) (engine.Revise, error)
	// Assignment returns one assignment without task values.
	Assignment(ctx context.Context, id crowd.AssignmentID) (Annotation, error)
	// WorkerAnnotations returns the worker's latest answers, newest first, without
	// names, keys and texts. That one is disregarded is not told.
	WorkerAnnotations(ctx context.Context, worker crowd.WorkerID, limit int) ([]Annotation, error)
}

// Entry is a ledger entry as kept.
type Entry struct {
	ID int64
	engine.Transfer
	Note string
}

// Ledger keeps money. Transfers of engines come by Commit.
type Ledger interface {
	// Deposit puts money into a tenant's account; an amount below 0 is taken out of it.
	Deposit(ctx context.Context, at time.Time, tenant crowd.TenantID, amount crowd.Money, note string) error
	// Balance returns an account's balance; 0 for one never used.
	Balance(ctx context.Context, a engine.Account) (crowd.Money, error)
	// Entries returns up to limit entries from or to the account with ids below
	// before (0: all), newest first.
	Entries(ctx context.Context, a engine.Account, before int64, limit int) ([]Entry, error)
	// CheckLedger verifies that all balances sum to zero, are what the
	// entries make them, and have what is held for approval; the error says what differs.
	CheckLedger(ctx context.Context) error
}
