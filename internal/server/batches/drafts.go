package batches

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// NewBatch is the definition of a batch. Zero values of the optional fields
// stand for the defaults.
type NewBatch struct {
	Tenant       crowd.TenantID
	Pool         crowd.PoolID // default: the first pool
	Name         string
	Template     json.RawMessage
	Redundancy   label.Rule // default: one answer
	Reward       crowd.Money
	Budget       crowd.Money // default: the most that the batch can cost
	Priority     float64
	Deadline     time.Time
	Production   bool
	Lease        time.Duration
	TaskTime     time.Duration
	EndsAt       time.Time
	Requirements []engine.Requirement // as written: see engine.OwnRequirements
	Grace        time.Duration        // an answer may be taken back so long, and then counts; 0: it counts at once
	Revise       time.Duration        // an answer that counts may be revised so long; 0: it stands
	Approval     *engine.Approval     // of its pay; an appeal time of 0 is the default; nil: answers are paid when they count
	PerWorker    int                  // the most answers of one person; 0: any number
	Quality      []engine.QualityRule // act on those who do it, by what their answers show
	Checks       *engine.Checks       // tasks with known answers check people; nil: they are asked as the others are
	Enough       *engine.Enough       // ends it by itself; nil: its last task does
	Review       *store.ReviewTerms   // of its labels; nil: they are not reviewed
	Training     bool                 // its tasks are for newcomers of the pool, before they get others
}

// Create makes a draft. It gets its tasks by Upload.
func (s *Batches) Create(ctx context.Context, p *access.Principal, n NewBatch) (store.Batch, error) {
	if err := p.MayFor(access.BatchesCreate, n.Tenant); err != nil {
		return store.Batch{}, err
	}
	b, err := s.draft(ctx, p, n)
	if err != nil {
		return b, err
	}
	b.CreatedBy, b.CreatedAt = p.User.ID, s.clock.Time()
	ctx, act := p.Acting(ctx, access.BatchesCreate, store.AuditEntry{At: b.CreatedAt, Tenant: n.Tenant, Kind: "batch"})
	act.After = b
	b.Spec.ID, err = s.store.CreateBatch(ctx, b)
	return b, err
}

// draft checks a definition as far as it can be checked without tasks.
func (s *Batches) draft(ctx context.Context, p *access.Principal, n NewBatch) (store.Batch, error) {
	owner, err := s.store.Tenant(ctx, n.Tenant)
	if err != nil {
		return store.Batch{}, err
	}
	if n.Redundancy == (label.Rule{}) {
		n.Redundancy = label.Count(1)
	}
	if n.Enough != nil {
		if err := n.Enough.CheckNew(); err != nil {
			return store.Batch{}, err
		}
	}
	b := store.Batch{
		Pool: n.Pool, Name: n.Name, Template: n.Template,
		Spec: engine.Spec{
			Tenant: n.Tenant, Rule: n.Redundancy, Reward: n.Reward, Budget: n.Budget,
			Priority: cmp.Or(n.Priority, engine.DefaultPriority), Deadline: n.Deadline, Production: n.Production,
			Lease: cmp.Or(n.Lease, engine.DefaultLease), TaskTime: cmp.Or(n.TaskTime, engine.DefaultTaskTime), EndsAt: n.EndsAt, Training: n.Training,
			PerWorker: n.PerWorker, Enough: n.Enough, Grace: n.Grace, Revise: n.Revise, Approval: approval(n.Approval), Checks: n.Checks, Quality: n.Quality,
		},
		Progress: engine.Progress{State: crowd.BatchDraft},
	}
	if b.Pool, err = s.granted(p, n.Tenant, n.Pool); err != nil {
		return b, err
	}
	if err := input.ValidName("name", b.Name); err != nil {
		return b, err
	}
	if b.Spec.Requirements, err = engine.OwnRequirements(engine.Owner{ID: owner.ID, Name: owner.Name}, n.Requirements); err != nil {
		return b, err
	}
	compiled, err := input.NewTemplate(b.Template, nil)
	if err != nil {
		return b, err
	}
	b.Spec.Rule = compiled.Template().Rule(b.Spec.Rule)
	if err := s.setReview(&b, &owner, n.Review); err != nil {
		return b, err
	}
	probe := b.Spec // as if it were launched now, with one task
	probe.ID, probe.Tasks = 1, 1
	probe.Budget = cmp.Or(probe.Budget, crowd.MaxMoney)
	if err := probe.Validate(s.clock.Time()); err != nil {
		return b, err
	}
	return b, (&engine.Tenant{MaxPriority: owner.MaxPriority}).Allows(b.Spec.Priority)
}

// approval is how pay is approved, with the default for what is 0.
func approval(x *engine.Approval) *engine.Approval {
	if x == nil {
		return nil
	}
	return &engine.Approval{Within: x.Within, Appeal: cmp.Or(x.Appeal, engine.DefaultAppeal)}
}

// openDraft returns a draft that may be changed. The caller holds its lock of s.drafts.
func (s *Batches) openDraft(ctx context.Context, p *access.Principal, o access.Operation, id crowd.BatchID) (store.Batch, error) {
	b, err := s.batch(ctx, p, o, id)
	switch {
	case err != nil:
		return b, err
	case b.Progress.State != crowd.BatchDraft:
		return b, crowd.Errorf(crowd.Conflict, "%s is %s; this can be done to a draft only", id, b.Progress.State)
	case b.Spec.ReviewOf != 0:
		return b, reviewsDrafted(&b)
	case b.Run != 0:
		run, err := s.store.Run(ctx, 0, b.Run)
		if err != nil {
			return b, err
		}
		if o != access.BatchesCancel || !run.State.Ended() {
			return b, stepDraft(&b)
		}
	}
	if _, uploading := s.uploads.Load(id); uploading {
		return b, crowd.Errorf(crowd.Conflict, "%s is getting its tasks; wait for the upload to end", id)
	}
	return b, nil
}

// EditDraft changes the definition of a draft as it is when nobody else changes it;
// its tasks stay.
func (s *Batches) EditDraft(ctx context.Context, p *access.Principal, id crowd.BatchID, change func(*NewBatch) error) (store.Batch, error) {
	defer s.drafts.lock(id)()
	old, err := s.openDraft(ctx, p, access.BatchesEditDraft, id)
	if err != nil {
		return old, err
	}
	n := Definition(&old)
	if err := change(&n); err != nil {
		return old, err
	}
	n.Tenant = old.Spec.Tenant
	b, err := s.draft(ctx, p, n)
	if err != nil {
		return b, err
	}
	b.Spec.ID, b.Spec.Tasks = id, old.Spec.Tasks
	b.Columns, b.Directed, b.CreatedBy, b.CreatedAt, b.ReviewedIn = old.Columns, old.Directed, old.CreatedBy, old.CreatedAt, old.ReviewedIn
	if len(b.Columns) > 0 {
		if _, err := input.NewTemplate(b.Template, b.Columns); err != nil {
			return b, err
		}
	}
	if b.Directed && b.Pool != old.Pool {
		return b, crowd.Fieldf("pool", "the tasks name people of the pool %s; upload the file again after a change of pool", old.Pool)
	}
	ctx, act := s.acting(ctx, p, access.BatchesEditDraft, &old)
	old.Progress = b.Progress
	act.Before, act.After = old, b
	return b, s.store.UpdateDraft(ctx, b)
}
