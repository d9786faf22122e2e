package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
	"github.com/throng-dev/throng/sched"
)

// PoolView is a pool as it stands.
type PoolView struct {
	store.Pool
	engine.Counts
	Status PoolStatus // at the last control step; requesters see its figures only
	Coming int        // people called who are not here yet
}

// DefaultRetainer is how a new pool keeps people: whoever asks for work is on
// duty, and waiting is not paid.
func DefaultRetainer() engine.Retainer {
	return engine.Retainer{Silence: time.Minute, Promise: 10 * time.Minute}
}

// newPool is a pool with the settings of a new one.
func (s *Service) newPool(name, policy string) store.Pool {
	return store.Pool{Name: name, Policy: policy, CreatedAt: s.time(), Retainer: DefaultRetainer(), Calling: DefaultCalling()}
}

// CreatePool adds a pool. Admins only.
func (s *Service) CreatePool(ctx context.Context, p *Principal, name, policy string) (PoolView, error) {
	if err := p.need(Admin); err != nil {
		return PoolView{}, err
	}
	if err := validPoolName(name); err != nil {
		return PoolView{}, err
	}
	parsed, err := sched.Parse(policy)
	if err != nil {
		return PoolView{}, err
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	pool := s.newPool(name, parsed.Name())
	if pool.ID, err = s.createPool(ctx, pool); err != nil {
		return PoolView{}, err
	}
	return PoolView{Pool: pool}, s.startPool(context.WithoutCancel(ctx), pool)
}

// createPool keeps a new pool. One of the same name and policy that was kept and
// could not be started is taken for it.
func (s *Service) createPool(ctx context.Context, p store.Pool) (crowd.PoolID, error) {
	id, err := s.store.CreatePool(ctx, p)
	if crowd.CodeOf(err) != crowd.Conflict {
		return id, err
	}
	kept, listErr := s.store.ListPools(ctx)
	for _, old := range kept {
		if _, runs := s.pool(old.ID); !runs && old.Name == p.Name && old.Policy == p.Policy {
			return old.ID, nil
		}
	}
	return 0, errors.Join(err, listErr)
}

// PoolEdit changes a pool; nil fields stay as they are.
type PoolEdit struct {
	Name     *string
	Policy   *string
	Stopped  *bool // emergency stop
	Retainer *engine.Retainer
	Control  *pool.Settings
	Calling  *store.Calling
}

// UpdatePool changes a pool while it runs. Admins only.
func (s *Service) UpdatePool(ctx context.Context, p *Principal, id crowd.PoolID, edit PoolEdit) (PoolView, error) {
	if err := p.need(Admin); err != nil {
		return PoolView{}, err
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	r, err := s.runner(id)
	if err != nil {
		return PoolView{}, err
	}
	now, _ := s.pool(id)
	before := now
	set(&now.Name, edit.Name)
	set(&now.Stopped, edit.Stopped)
	set(&now.Retainer, edit.Retainer)
	set(&now.Control, edit.Control)
	set(&now.Calling, edit.Calling)
	if err := s.validPool(&before, &now); err != nil {
		return PoolView{}, err
	}
	var policy sched.Policy
	if edit.Policy != nil {
		if policy, err = sched.Parse(*edit.Policy); err != nil {
			return PoolView{}, err
		}
		now.Policy = policy.Name()
	}
	if err := s.store.UpdatePool(ctx, now); err != nil {
		return PoolView{}, err
	}
	s.mu.Lock()
	s.pools[id] = now
	s.mu.Unlock()
	if err := s.director.set(now); err != nil {
		return PoolView{}, err
	}
	v := PoolView{Pool: now}
	if err := r.tell(func(e *engine.Engine, at time.Time) error {
		if policy != nil {
			e.SetPolicy(policy)
		}
		e.Stop(at, now.Stopped)
		err := e.SetRetainer(at, now.Retainer)
		v.Counts = e.Counts()
		return err
	}); err != nil {
		return v, err
	}
	if what := differences(before, now); len(what) > 0 {
		return v, s.store.AddActions(context.WithoutCancel(ctx), []store.Action{{Pool: id, At: s.time(), By: p.User.ID, Kind: store.ActionSet, Why: what}})
	}
	return v, nil
}

// validPoolName refuses names that are read as ids of pools, too.
func validPoolName(name string) error {
	if _, err := crowd.ParsePoolID(name); err == nil {
		return crowd.Fieldf("name", "%q is how a pool's id looks; choose another name", name)
	}
	return validName("name", name)
}

// validPool checks what an admin may set of a pool. What stays as it was is not
// looked at where that takes time, so that an emergency stop is quick.
func (s *Service) validPool(before, p *store.Pool) error {
	if err := validPoolName(p.Name); err != nil {
		return err
	}
	if err := p.Retainer.Validate(); err != nil {
		return err
	}
	if err := p.Control.Validate(); err != nil {
		return err
	}
	if !slices.Equal(before.Control.Rules, p.Control.Rules) {
		if err := s.validRules(p.Control.Rules); err != nil {
			return err
		}
	}
	if err := validCalling(p.Calling); err != nil {
		return err
	}
	if before.Name == p.Name {
		return nil
	}
	lookup := func(name string) (crowd.PoolID, bool) { // as it will be
		if name == p.Name {
			return p.ID, true
		}
		id, ok := s.lookup(name)
		return id, ok && id != p.ID
	}
	for _, other := range s.running() {
		if err := pool.CheckRules(other.Control.Rules, lookup); err != nil && other.ID != p.ID {
			return crowd.Errorf(crowd.Conflict, "rules of the pool %s name this one; change them first", other.Name)
		}
	}
	return nil
}

// validRules checks rules, also that the pools that they name are there.
func (s *Service) validRules(rules []pool.Rule) error {
	if err := pool.CheckRules(rules, s.lookup); err != nil {
		if known := new(crowd.Error); errors.As(err, &known) {
			return err
		}
		return &crowd.Error{Code: crowd.Invalid, Field: "rules", Message: err.Error(), Cause: err}
	}
	return nil
}

// Pools lists the pools. Requesters see them too, to choose one for a batch, and
// workers, to say which they like.
func (s *Service) Pools(ctx context.Context, p *Principal) ([]PoolView, error) {
	if !p.Is(Admin) && !p.Is(Requester) {
		if err := p.need(Worker); err != nil {
			return nil, err
		}
	}
	pools := s.running()
	views := make([]PoolView, 0, len(pools))
	for _, x := range pools {
		v, err := s.poolView(ctx, x)
		if err != nil {
			return nil, err
		}
		if !p.Is(Admin) {
			v = v.forOthers()
		}
		views = append(views, v)
	}
	return views, nil
}

// forOthers is what those see of a pool who do not run it.
func (v PoolView) forOthers() PoolView {
	v.Control, v.Status.Purse, v.Status.Next = pool.Settings{}, engine.RetainerFunds{}, pool.Decision{}
	return v
}

// Pool returns one pool. Admins only.
func (s *Service) Pool(ctx context.Context, p *Principal, id crowd.PoolID) (PoolView, error) {
	if err := p.need(Admin); err != nil {
		return PoolView{}, err
	}
	x, ok := s.pool(id)
	if !ok {
		return PoolView{}, errPool
	}
	return s.poolView(ctx, x)
}

var errPool = crowd.Errorf(crowd.NotFound, "no such pool")

func (s *Service) poolView(ctx context.Context, x store.Pool) (PoolView, error) {
	v := PoolView{Pool: x}
	r, err := s.runner(x.ID)
	if err != nil {
		return v, err
	}
	d := &s.director
	d.statusMu.RLock()
	v.Status = d.status[x.ID]
	d.statusMu.RUnlock()
	v.Coming, _, _ = s.caller.coming(s.time(), x.ID)
	return v, r.do(ctx, func(e *engine.Engine, now time.Time) { v.Counts, v.Status.Purse = e.Counts(), e.RetainerFunds(now) })
}

// running lists the pools that run, in order of id.
func (s *Service) running() []store.Pool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	pools := make([]store.Pool, 0, len(s.pools))
	for _, id := range sortedKeys(s.pools) {
		pools = append(pools, s.pools[id])
	}
	return pools
}

// StopEverything is the emergency stop of all pools, and its lifting. Admins
// only.
func (s *Service) StopEverything(ctx context.Context, p *Principal, stopped bool) error {
	if err := p.need(Admin); err != nil {
		return err
	}
	var errs []error
	for _, pool := range s.running() {
		_, err := s.UpdatePool(ctx, p, pool.ID, PoolEdit{Stopped: &stopped})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Order lists the running batches of a pool with their places in its policy's
// order. Admins only: it shows all tenants' batches.
func (s *Service) Order(ctx context.Context, p *Principal, id crowd.PoolID) (keys []sched.Key, err error) {
	r, err := s.asAdmin(p, id)
	if err != nil {
		return nil, err
	}
	err = r.do(ctx, func(e *engine.Engine, _ time.Time) { keys = e.Keys() })
	return keys, err
}

func (s *Service) asAdmin(p *Principal, id crowd.PoolID) (*runner, error) {
	if err := p.need(Admin); err != nil {
		return nil, err
	}
	return s.runner(id)
}

// FundPool adds to a pool's money for waiting, or takes out of it what nobody has
// earned yet (a negative amount). Admins only.
func (s *Service) FundPool(ctx context.Context, p *Principal, id crowd.PoolID, amount crowd.Money) (purse engine.RetainerFunds, err error) {
	r, err := s.asAdmin(p, id)
	if err != nil {
		return purse, err
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	err = r.command(ctx, func(e *engine.Engine, now time.Time) (err error) {
		if amount < 0 {
			err = e.Withdraw(now, -amount)
		} else {
			err = e.Fund(now, engine.Account{Kind: engine.Outside}, amount)
		}
		purse = e.RetainerFunds(now)
		return err
	})
	return purse, err
}

// PoolAccount returns a pool's latest ledger entries with ids below before (0:
// all), newest first. Admins only.
func (s *Service) PoolAccount(ctx context.Context, p *Principal, id crowd.PoolID, before int64, limit int) ([]store.Entry, error) {
	if _, err := s.asAdmin(p, id); err != nil {
		return nil, err
	}
	return s.store.Entries(ctx, engine.Account{Kind: engine.PoolAccount, ID: int64(id)}, before, limit)
}

// PoolSamples returns how a pool looked since a time, in order. Admins only.
func (s *Service) PoolSamples(ctx context.Context, p *Principal, id crowd.PoolID, since time.Time) ([]store.Sample, error) {
	if _, err := s.asAdmin(p, id); err != nil {
		return nil, err
	}
	return s.store.Samples(ctx, id, since)
}

// RecentSamples returns how a pool looked within the last time, in order. Admins
// only.
func (s *Service) RecentSamples(ctx context.Context, p *Principal, id crowd.PoolID, back time.Duration) ([]store.Sample, error) {
	return s.PoolSamples(ctx, p, id, s.time().Add(-back))
}

// PoolActions returns what was done to a pool and why: up to limit entries with
// ids below before (0: all), newest first. Admins only.
func (s *Service) PoolActions(ctx context.Context, p *Principal, id crowd.PoolID, before int64, limit int) ([]store.Action, error) {
	if _, err := s.asAdmin(p, id); err != nil {
		return nil, err
	}
	return s.store.ListActions(ctx, id, before, min(limit, actionLimit))
}

// lastHour is what rules are tried on.
const lastHour = time.Hour

// TestRules says what rules would have done in a pool within the last hour, step
// by step as it was sampled. Admins only.
func (s *Service) TestRules(ctx context.Context, p *Principal, id crowd.PoolID, rules []pool.Rule) ([]pool.Tested, error) {
	if _, err := s.asAdmin(p, id); err != nil {
		return nil, err
	}
	if err := s.validRules(rules); err != nil {
		return nil, err
	}
	samples, err := s.store.Samples(ctx, id, s.time().Add(-lastHour))
	if err != nil {
		return nil, err
	}
	past := make([]pool.Past, len(samples))
	for i, x := range samples {
		past[i] = pool.Past{At: x.At, Metrics: x.Metrics}
	}
	return pool.Test(rules, past)
}

// PoolPerson is somebody of a pool.
type PoolPerson struct {
	engine.OnCall
	Name       string
	Preference float64 // for this pool
	Away       bool    // does not want to be called
	Suspended  bool
}

// PoolPeople lists a pool's people, those on duty first. Admins only.
func (s *Service) PoolPeople(ctx context.Context, p *Principal, id crowd.PoolID) ([]PoolPerson, error) {
	r, err := s.asAdmin(p, id)
	if err != nil {
		return nil, err
	}
	users, err := s.store.PoolUsers(ctx, id)
	if err != nil {
		return nil, err
	}
	list := make([]PoolPerson, len(users))
	err = r.do(ctx, func(e *engine.Engine, now time.Time) {
		for i, u := range users {
			list[i] = PoolPerson{Name: u.Name, Away: u.Away, Suspended: u.Suspended, Preference: (&person{User: u}).prefers(id)}
			list[i].OnCall, _ = e.OnCall(now, u.ID)
			list[i].Worker = u.ID
		}
	})
	slices.SortFunc(list, func(x, y PoolPerson) int {
		if x.On != y.On {
			if x.On {
				return -1
			}
			return 1
		}
		return cmp.Compare(x.Worker, y.Worker)
	})
	return list, err
}

// PoolCall is a pool's open call, with who was asked and what was sent.
type PoolCall struct {
	store.Call
	Notices  []store.Notice
	Messages []store.Message
}

// PoolCalls lists a pool's open calls. Admins only.
func (s *Service) PoolCalls(ctx context.Context, p *Principal, id crowd.PoolID) ([]PoolCall, error) {
	if _, err := s.asAdmin(p, id); err != nil {
		return nil, err
	}
	calls, err := s.store.OpenCalls(ctx, id)
	if err != nil {
		return nil, err
	}
	list := make([]PoolCall, len(calls))
	for i, c := range calls {
		list[i].Call = c
		if list[i].Notices, err = s.store.Notices(ctx, c.ID); err != nil {
			return nil, err
		}
		if list[i].Messages, err = s.store.ListMessages(ctx, c.ID, 0, actionLimit); err != nil {
			return nil, err
		}
	}
	return list, nil
}
