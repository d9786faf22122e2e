package app

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// What a batch gets where the requester says nothing.
const (
	DefaultLease    = 30 * time.Minute
	DefaultTaskTime = 30 * time.Second
	DefaultPriority = 1
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
	Requirements []engine.Requirement
	Training     bool // its tasks are for newcomers of the pool, before they get others
}

// definition is the part of a batch that does not change once it is launched.
type definition struct {
	store.Batch
	template *task.Compiled
}

// definitionCache keeps the definitions of launched batches.
type definitionCache struct {
	mu   sync.RWMutex
	list map[crowd.BatchID]*definition
}

// maxDefinitions bounds the cache; when it is full it starts anew.
const maxDefinitions = 10_000

func (s *Service) definition(ctx context.Context, id crowd.BatchID) (*definition, error) {
	s.defs.mu.RLock()
	d := s.defs.list[id]
	s.defs.mu.RUnlock()
	if d != nil {
		return d, nil
	}
	b, err := s.store.Batch(ctx, 0, id)
	if err != nil {
		return nil, err
	}
	if d, err = define(b); err != nil {
		return nil, err
	}
	if b.Progress.State == crowd.BatchDraft {
		return d, nil
	}
	s.defs.mu.Lock()
	defer s.defs.mu.Unlock()
	if s.defs.list == nil || len(s.defs.list) >= maxDefinitions {
		s.defs.list = make(map[crowd.BatchID]*definition)
	}
	s.defs.list[id] = d
	return d, nil
}

func define(b store.Batch) (*definition, error) {
	t, err := task.Parse(b.Template)
	if err != nil {
		return nil, err
	}
	c, err := t.Compile()
	if err != nil {
		return nil, err
	}
	return &definition{b, c}, nil
}

// CreateBatch makes a draft. It gets its tasks by Upload.
func (s *Service) CreateBatch(ctx context.Context, p *Principal, n NewBatch) (store.Batch, error) {
	if err := p.forTenant(n.Tenant); err != nil {
		return store.Batch{}, err
	}
	if _, err := s.store.Tenant(ctx, n.Tenant); err != nil {
		return store.Batch{}, err
	}
	b, err := s.draft(n)
	if err != nil {
		return b, err
	}
	b.CreatedBy, b.CreatedAt = p.User.ID, s.time()
	b.Spec.ID, err = s.store.CreateBatch(ctx, b)
	return b, err
}

// draft checks a definition as far as it can be checked without tasks.
func (s *Service) draft(n NewBatch) (store.Batch, error) {
	if n.Redundancy == (label.Rule{}) {
		n.Redundancy = label.Count(1)
	}
	b := store.Batch{
		Pool: n.Pool, Name: n.Name, Template: n.Template,
		Spec: engine.Spec{
			Tenant: n.Tenant, Rule: n.Redundancy, Reward: n.Reward, Budget: n.Budget,
			Priority: cmp.Or(n.Priority, DefaultPriority), Deadline: n.Deadline, Production: n.Production,
			Lease: cmp.Or(n.Lease, DefaultLease), TaskTime: cmp.Or(n.TaskTime, DefaultTaskTime), EndsAt: n.EndsAt, Requirements: n.Requirements, Training: n.Training,
		},
		Progress: engine.Progress{State: crowd.BatchDraft},
	}
	if b.Pool == 0 {
		s.mu.RLock()
		b.Pool = sortedKeys(s.pools)[0]
		s.mu.RUnlock()
	} else if _, err := s.runner(b.Pool); err != nil {
		return b, crowd.Fieldf("pool", "no such pool")
	}
	if err := validName("name", b.Name); err != nil {
		return b, err
	}
	if _, err := define(b); err != nil {
		return b, err
	}
	probe := b.Spec // as if it were launched now, with one task
	probe.ID, probe.Tasks = 1, 1
	probe.Budget = cmp.Or(probe.Budget, crowd.MaxMoney)
	return b, probe.Validate(s.time())
}

// openDraft returns a draft that may be changed. The caller holds s.admin.
func (s *Service) openDraft(ctx context.Context, p *Principal, id crowd.BatchID) (store.Batch, error) {
	b, err := s.batch(ctx, p, id)
	switch {
	case err != nil:
		return b, err
	case b.Progress.State != crowd.BatchDraft:
		return b, crowd.Errorf(crowd.Conflict, "%s is %s; this can be done to a draft only", id, b.Progress.State)
	case s.uploads[id]:
		return b, crowd.Errorf(crowd.Conflict, "%s is getting its tasks; wait for the upload to end", id)
	}
	return b, nil
}

// EditDraft replaces the definition of a draft; its tasks stay.
func (s *Service) EditDraft(ctx context.Context, p *Principal, id crowd.BatchID, n NewBatch) (store.Batch, error) {
	s.admin.Lock()
	defer s.admin.Unlock()
	old, err := s.openDraft(ctx, p, id)
	if err != nil {
		return old, err
	}
	n.Tenant = old.Spec.Tenant
	b, err := s.draft(n)
	if err != nil {
		return b, err
	}
	b.Spec.ID, b.Spec.Tasks = id, old.Spec.Tasks
	b.Columns, b.Directed, b.CreatedBy, b.CreatedAt = old.Columns, old.Directed, old.CreatedBy, old.CreatedAt
	if len(b.Columns) > 0 {
		if err := templateFits(b.Template, b.Columns); err != nil {
			return b, err
		}
	}
	if b.Directed && b.Pool != old.Pool {
		return b, crowd.Fieldf("pool", "the tasks name people of the pool %s; upload the file again after a change of pool", old.Pool)
	}
	return b, s.store.UpdateDraft(ctx, b)
}

// batch returns a batch that p may see.
func (s *Service) batch(ctx context.Context, p *Principal, id crowd.BatchID) (store.Batch, error) {
	if !p.Is(Admin) {
		if err := p.need(Requester); err != nil {
			return store.Batch{}, err
		}
	}
	b, err := s.store.Batch(ctx, 0, id)
	if crowd.CodeOf(err) == crowd.NotFound || (err == nil && p.forTenant(b.Spec.Tenant) != nil) {
		return store.Batch{}, errBatch
	}
	return b, err
}

// templateFits checks a template against the columns of an upload.
func templateFits(raw json.RawMessage, columns []string) error {
	t, err := task.Parse(raw)
	if err != nil {
		return err
	}
	if problems := t.Validate(columns); len(problems) > 0 {
		return Problems(problems)
	}
	return nil
}

// Launch starts to hand a draft out. Its budget is reserved from the tenant's
// account. smallCrowd launches it even if the pool has too few people for it.
func (s *Service) Launch(ctx context.Context, p *Principal, id crowd.BatchID, smallCrowd bool) (BatchView, error) {
	s.admin.Lock()
	defer s.admin.Unlock()
	b, err := s.openDraft(ctx, p, id)
	switch {
	case err != nil:
		return BatchView{}, err
	case b.Spec.Tasks == 0 || len(b.Columns) == 0: // the columns come when an upload has come to its end
		return BatchView{}, crowd.Fieldf("tasks", "%s has no tasks yet; upload a file first", id)
	}
	if err := templateFits(b.Template, b.Columns); err != nil {
		return BatchView{}, err
	}
	if b.Spec.Budget, err = Budget(&b.Spec); err != nil {
		return BatchView{}, err
	}
	if err := s.suffices(ctx, b.Spec.Tenant, b.Spec.Budget); err != nil {
		return BatchView{}, err
	}
	spec := b.Spec
	spec.SmallCrowdOK = smallCrowd
	if b.Directed {
		if spec.Invited, err = s.store.Invitations(ctx, id); err != nil {
			return BatchView{}, err
		}
	}
	r, err := s.runner(b.Pool)
	if err != nil {
		return BatchView{}, err
	}
	if err := r.command(ctx, func(e *engine.Engine, now time.Time) error { return e.Launch(now, spec) }); err != nil {
		return BatchView{}, err
	}
	return s.view(ctx, id)
}

// Budget returns what a batch reserves at its launch: the budget that was asked
// for, or the most that the batch can cost.
func Budget(b *engine.Spec) (crowd.Money, error) {
	if b.Budget != 0 {
		return b.Budget, nil
	}
	most, ok := b.Reward.Times(int64(b.Rule.Most()) * int64(b.Tasks))
	if !ok || most > crowd.MaxMoney {
		return 0, crowd.Fieldf("budget", "the batch can cost more than %s; set a budget", crowd.MaxMoney)
	}
	return most, nil
}

// suffices checks that a tenant's account has an amount. The caller holds
// s.admin, so that nobody else spends it meanwhile.
func (s *Service) suffices(ctx context.Context, tenant crowd.TenantID, amount crowd.Money) error {
	have, err := s.store.Balance(ctx, engine.Account{Kind: engine.TenantAccount, ID: int64(tenant)})
	if err != nil {
		return err
	}
	if have < amount {
		return &crowd.Error{Code: crowd.BudgetTooSmall, Field: "budget",
			Message: "the batch reserves " + amount.String() + ", but the tenant's account has " + have.String()}
	}
	return nil
}

// BatchEdit changes a running batch; nil fields stay as they are.
type BatchEdit struct {
	Priority *float64
	Deadline *time.Time // the zero time takes it away
	Stopped  *bool      // emergency stop
}

// EditBatch changes a batch while it runs.
func (s *Service) EditBatch(ctx context.Context, p *Principal, id crowd.BatchID, edit BatchEdit) (BatchView, error) {
	return s.onBatch(ctx, p, id, func(e *engine.Engine, now time.Time) error {
		if err := e.Edit(now, id, engine.Edit{Priority: edit.Priority, Deadline: edit.Deadline}); err != nil {
			return err
		}
		if edit.Stopped != nil {
			return e.StopBatch(now, id, *edit.Stopped)
		}
		return nil
	})
}

// PauseBatch stops handing a batch out; what is held may be submitted.
func (s *Service) PauseBatch(ctx context.Context, p *Principal, id crowd.BatchID) (BatchView, error) {
	return s.onBatch(ctx, p, id, func(e *engine.Engine, now time.Time) error { return e.Pause(now, id) })
}

// ResumeBatch hands a paused batch out again.
func (s *Service) ResumeBatch(ctx context.Context, p *Principal, id crowd.BatchID) (BatchView, error) {
	return s.onBatch(ctx, p, id, func(e *engine.Engine, now time.Time) error { return e.Resume(now, id) })
}

// EndBatch ends a batch early, with the labels that there are.
func (s *Service) EndBatch(ctx context.Context, p *Principal, id crowd.BatchID) (BatchView, error) {
	return s.onBatch(ctx, p, id, func(e *engine.Engine, now time.Time) error { return e.End(now, id) })
}

// CancelBatch gives a batch up, running or draft.
func (s *Service) CancelBatch(ctx context.Context, p *Principal, id crowd.BatchID) (BatchView, error) {
	b, err := s.batch(ctx, p, id)
	if err != nil {
		return BatchView{}, err
	}
	if b.Progress.State == crowd.BatchDraft {
		return s.cancelDraft(ctx, p, id)
	}
	return s.onBatch(ctx, p, id, func(e *engine.Engine, now time.Time) error { return e.Cancel(now, id) })
}

func (s *Service) cancelDraft(ctx context.Context, p *Principal, id crowd.BatchID) (BatchView, error) {
	s.admin.Lock()
	defer s.admin.Unlock()
	b, err := s.openDraft(ctx, p, id)
	if err != nil {
		return BatchView{}, err
	}
	if err := s.store.CancelDraft(ctx, b.Spec.Tenant, id, s.time()); err != nil {
		return BatchView{}, err
	}
	return s.view(ctx, id)
}

// TopUp adds to a running batch's budget from its tenant's account.
func (s *Service) TopUp(ctx context.Context, p *Principal, id crowd.BatchID, amount crowd.Money) (BatchView, error) {
	if amount <= 0 || amount > crowd.MaxMoney {
		return BatchView{}, crowd.Fieldf("amount", "%s is not an amount to add (more than 0, at most %s)", amount, crowd.MaxMoney)
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	b, err := s.batch(ctx, p, id)
	if err != nil {
		return BatchView{}, err
	}
	if err := s.suffices(ctx, b.Spec.Tenant, amount); err != nil {
		return BatchView{}, err
	}
	return s.onBatch(ctx, p, id, func(e *engine.Engine, now time.Time) error { return e.TopUp(now, id, amount) })
}

// onBatch runs a command on a launched batch.
func (s *Service) onBatch(ctx context.Context, p *Principal, id crowd.BatchID, f func(e *engine.Engine, now time.Time) error) (BatchView, error) {
	b, err := s.batch(ctx, p, id)
	if err != nil {
		return BatchView{}, err
	}
	if !b.Progress.State.Open() {
		return BatchView{}, crowd.Errorf(crowd.Conflict, "%s is %s", id, b.Progress.State)
	}
	r, err := s.runner(b.Pool)
	if err != nil {
		return BatchView{}, err
	}
	v, known := BatchView{Batch: b}, false
	if err := r.command(ctx, func(e *engine.Engine, now time.Time) error {
		err := f(e, now)
		known = v.read(e)
		return err
	}); err != nil {
		return BatchView{}, err
	}
	if known {
		return v, nil
	}
	return s.view(ctx, id)
}

// BatchView is a batch as it stands.
type BatchView struct {
	store.Batch
	Running int          // assignments in somebody's hands
	Waiting int          // wanted, in nobody's hands
	Reason  crowd.Reason // why what waits is not taken; Eligible if not launched
}

// Batch returns a batch as it stands.
func (s *Service) Batch(ctx context.Context, p *Principal, id crowd.BatchID) (BatchView, error) {
	if _, err := s.batch(ctx, p, id); err != nil {
		return BatchView{}, err
	}
	return s.view(ctx, id)
}

func (s *Service) view(ctx context.Context, id crowd.BatchID) (BatchView, error) {
	b, err := s.store.Batch(ctx, 0, id)
	v := BatchView{Batch: b}
	if err != nil || !b.Progress.State.Open() {
		return v, err
	}
	r, err := s.runner(b.Pool)
	if err != nil {
		return v, err
	}
	err = r.do(ctx, func(e *engine.Engine, _ time.Time) { v.read(e) })
	return v, err
}

// read brings the view up to what the engine knows of the batch, and reports
// whether it knows it.
func (v *BatchView) read(e *engine.Engine) bool {
	st, ok := e.Status(v.Spec.ID)
	if ok {
		v.Progress, v.Running, v.Waiting, v.Reason = st.Progress, st.Running, st.Waiting, st.Reason
		v.Spec.Priority, v.Spec.Deadline = st.Progress.Priority, st.Progress.Deadline
	}
	return ok
}

// Batches lists the batches of a tenant (0: of all, for an admin) with ids below
// before (0: all), newest first.
func (s *Service) Batches(ctx context.Context, p *Principal, tenant crowd.TenantID, before crowd.BatchID, limit int) ([]store.Batch, error) {
	if tenant == 0 && !p.Is(Admin) && p.Is(Requester) {
		return nil, crowd.Fieldf("tenant", "say for which tenant")
	}
	if tenant == 0 {
		if err := p.need(Admin); err != nil {
			return nil, err
		}
	} else if err := p.forTenant(tenant); err != nil {
		return nil, err
	}
	return s.store.ListBatches(ctx, tenant, before, limit)
}

// Holding lists who holds what of a batch, the longest held first.
func (s *Service) Holding(ctx context.Context, p *Principal, id crowd.BatchID) ([]engine.Handout, error) {
	var list []engine.Handout
	_, err := s.onBatch(ctx, p, id, func(e *engine.Engine, _ time.Time) error {
		list = e.Holding(id)
		return nil
	})
	return list, err
}

// WhyBatch says what keeps a batch waiting.
func (s *Service) WhyBatch(ctx context.Context, p *Principal, id crowd.BatchID) (why engine.Why, err error) {
	_, err = s.onBatch(ctx, p, id, func(e *engine.Engine, _ time.Time) (err error) {
		why, err = e.WhyBatch(id)
		return err
	})
	return why, err
}

// Problems is several things that are wrong, as one error.
type Problems []*crowd.Error

func (list Problems) Error() string {
	text := ""
	for i, e := range list {
		if i > 0 {
			text += "\n"
		}
		text += e.Error()
	}
	return text
}

// Unwrap makes errors.As find the first.
func (list Problems) Unwrap() []error {
	errs := make([]error, len(list))
	for i, e := range list {
		errs[i] = e
	}
	return errs
}
