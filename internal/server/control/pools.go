package control

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
	"github.com/throng-dev/throng/sched"
)

// Policies lists the text forms of the policies that a pool can have, for
// help texts and menus.
func Policies() []string { return sched.Names() }

// Pools is the pools with their settings, and how they stand.
type Pools struct {
	cfg     Config
	control *Control

	stopping sync.Mutex // held by the emergency stop of all pools, and its lifting
}

// OpenPools makes the use case.
func OpenPools(c *Control) *Pools { return &Pools{cfg: c.cfg, control: c} }

// Saved returns the pools that the store has. A new store gets one, "main".
func (s *Pools) Saved(ctx context.Context) ([]store.Pool, error) {
	pools, err := s.cfg.Store.ListPools(ctx)
	if err != nil || len(pools) > 0 {
		return pools, err
	}
	p := s.newPool("main", sched.Default)
	p.Grants = []store.PoolGrant{{Invite: true}} // who is alone on a server needs no more
	p.ID, err = s.cfg.Store.CreatePool(ctx, p)
	return []store.Pool{p}, err
}

// Start starts a pool, under its controllers.
func (s *Pools) Start(ctx context.Context, p store.Pool) error {
	if p.Calling.Ask == 0 { // kept by a version that had no calls
		p.Calling, p.Retainer = recruit.DefaultCalling(), DefaultRetainer()
		if err := s.cfg.Store.UpdatePool(ctx, p); err != nil {
			return err
		}
	}
	if err := s.control.set(p); err != nil {
		return err
	}
	return s.cfg.Live.Start(ctx, p)
}

// PoolView is a pool as it stands.
type PoolView struct {
	store.Pool
	engine.Counts
	GateNow engine.GateView
	Status  PoolStatus // at the last control step; requesters see its figures only
	// BalancedBy is the balancer in force, the pool's own or the server's; "": the pool
	// does not balance.
	BalancedBy string
	Coming     int // people called who are not here yet
}

// DefaultRetainer is how a new pool keeps people: whoever asks for a task is on
// duty, and waiting is not paid.
func DefaultRetainer() engine.Retainer {
	return engine.Retainer{Silence: time.Minute, Promise: 10 * time.Minute}
}

// newPool is a pool with the settings of a new one.
func (s *Pools) newPool(name, policy string) store.Pool {
	return store.Pool{Name: name, Policy: policy, CreatedAt: s.cfg.Clock.Time(), Retainer: DefaultRetainer(), Calling: recruit.DefaultCalling()}
}

// Create adds a pool. Admins only.
func (s *Pools) Create(ctx context.Context, p *access.Principal, name, policy string) (PoolView, error) {
	if err := p.May(access.PoolsCreate); err != nil {
		return PoolView{}, err
	}
	if err := validPoolName(name); err != nil {
		return PoolView{}, err
	}
	parsed, err := sched.Parse(policy)
	if err != nil {
		return PoolView{}, err
	}
	v := PoolView{Pool: s.newPool(name, parsed.Name())}
	tenants, err := s.cfg.Store.ListTenants(ctx)
	if err != nil {
		return v, err
	}
	if len(tenants) == 1 { // of several, an admin says which
		v.Grants = []store.PoolGrant{{Tenant: tenants[0].ID}}
	}
	ctx, act := p.Acting(ctx, access.PoolsCreate, store.AuditEntry{At: v.CreatedAt, Kind: "pool"})
	act.After = v.Pool
	err = s.cfg.Live.ChangeSettings(func() (err error) {
		if err := s.distinct(ctx, v.Pool); err != nil {
			return err
		}
		if v.ID, err = s.savePool(ctx, v.Pool); err != nil {
			return err
		}
		return s.Start(context.WithoutCancel(ctx), v.Pool)
	})
	return v, err
}

// savePool saves a new pool and returns its ID. If a pool of the same name and
// policy was saved before and could not be started, it returns the ID of that one.
func (s *Pools) savePool(ctx context.Context, p store.Pool) (crowd.PoolID, error) {
	id, err := s.cfg.Store.CreatePool(ctx, p)
	if crowd.CodeOf(err) != crowd.Conflict {
		return id, err
	}
	saved, listErr := s.cfg.Store.ListPools(ctx)
	for _, old := range saved {
		if _, started := s.cfg.Live.Settings(old.ID); !started && old.Name == p.Name && old.Policy == p.Policy {
			return old.ID, nil
		}
	}
	return 0, errors.Join(err, listErr)
}

// Change changes the settings of a pool as they are when nobody else changes them,
// while it runs. Admins only.
func (s *Pools) Change(ctx context.Context, p *access.Principal, id crowd.PoolID, change func(now *store.Pool) error) (v PoolView, err error) {
	if err := p.May(access.PoolsChange); err != nil {
		return v, err
	}
	ctx, _ = s.acting(ctx, p, access.PoolsChange, id)
	called := false
	err = s.cfg.Live.ChangeSettings(func() error {
		before, _ := s.cfg.Live.Settings(id)
		called = before.Retainer.Called
		v, err = s.changeNow(ctx, p, id, change)
		return err
	})
	if err == nil && called && !v.Retainer.Called {
		s.control.opened(ctx, &v.Pool)
	}
	return v, err
}

// acting is for a change of a pool.
func (s *Pools) acting(ctx context.Context, p *access.Principal, o access.Operation, id crowd.PoolID) (context.Context, *store.Act) {
	return p.Acting(ctx, o, store.AuditEntry{At: s.cfg.Clock.Time(), Kind: "pool", Object: id.String()})
}

// changeNow is Change while no other settings are changed.
func (s *Pools) changeNow(ctx context.Context, p *access.Principal, id crowd.PoolID, change func(now *store.Pool) error) (PoolView, error) {
	r, err := s.cfg.Live.Get(id)
	if err != nil {
		return PoolView{}, err
	}
	now, _ := s.cfg.Live.Settings(id)
	before := now
	if err := change(&now); err != nil {
		return PoolView{}, err
	}
	now.Control.Unsign()
	if before.Retainer.Called && !now.Retainer.Called && now.Retainer.Rate == before.Retainer.Rate {
		now.Retainer.Rate = 0 // it was the pay of those called; an open pool pays whoever waits only if that is set for it
	}
	if err := s.validPool(&before, &now); err != nil {
		return PoolView{}, err
	}
	if now.Name != before.Name {
		if err := s.distinct(ctx, now); err != nil {
			return PoolView{}, err
		}
	}
	if err := s.validGrants(ctx, before.Grants, now.Grants); err != nil {
		return PoolView{}, err
	}
	var policy sched.Policy
	if now.Policy != before.Policy {
		if policy, err = sched.Parse(now.Policy); err != nil {
			return PoolView{}, err
		}
		now.Policy = policy.Name()
	}
	store.Tell(ctx, "pool", before, now)
	if err := s.cfg.Store.UpdatePool(ctx, now); err != nil {
		return PoolView{}, err
	}
	s.cfg.Live.SetSettings(now)
	if err := s.control.set(now); err != nil {
		return PoolView{}, err
	}
	v := PoolView{Pool: now}
	if err := r.Tell(func(e *engine.Engine, at time.Time) error {
		if policy != nil {
			e.SetPolicy(policy)
		}
		e.Stop(at, now.Stopped)
		err := cmp.Or(e.SetRetainer(at, now.Retainer), e.SetGate(at, now.GateSettings()))
		v.Counts, v.GateNow = e.Counts(), e.Gate()
		return err
	}); err != nil {
		return v, err
	}
	if what := poolDifferences(before, now); len(what) > 0 {
		return v, s.cfg.Store.AddActions(context.WithoutCancel(ctx), []store.Action{{Pool: id, At: s.cfg.Clock.Time(), By: p.User.ID, Kind: store.ActionSet, Why: what}})
	}
	return v, nil
}

// validPoolName refuses names that are read as ids of pools, too.
func validPoolName(name string) error {
	if _, err := crowd.ParsePoolID(name); err == nil {
		return crowd.Fieldf("name", "%q is how a pool's id looks; choose another name", name)
	}
	return input.ValidName("name", name)
}

// distinct refuses a pool's new name that is too much like another pool's.
func (s *Pools) distinct(ctx context.Context, p store.Pool) error {
	list, err := s.cfg.Store.ListPools(ctx)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(other store.Pool) bool { return other.ID == p.ID })
	return input.DistinctName("pool", p.Name, lists.Map(list, func(p store.Pool) string { return p.Name }))
}

// validPool checks the settings of a pool. What stays as it was is not checked
// where that takes time, so that an emergency stop is quick.
func (s *Pools) validPool(before, p *store.Pool) error {
	var rules error
	if !slices.Equal(before.Control.Rules, p.Control.Rules) { // before Validate, which knows no pools
		rules = s.validRules(p.ID, p.Control.Rules)
	}
	if err := crowd.Gather(validPoolName(p.Name), p.Retainer.Validate(), rules, p.Control.Validate(), validGate(before, p), validLeast(before, p), recruit.ValidCalling(p.Calling)); err != nil {
		return err
	}
	if before.Name == p.Name {
		return nil
	}
	for _, other := range s.cfg.Live.List() {
		if other.ID != p.ID && slices.Contains(other.Control.TakesFrom(), before.Name) {
			return crowd.Errorf(crowd.Conflict, "rules of the pool %s name this one; change them first", other.Name)
		}
	}
	return nil
}

// validGate refuses bounds that would bound nobody. Bounds that a pool has from when it
// called its people, or had a gate, stay for the next time.
func validGate(before, p *store.Pool) error {
	gate := p.GateSettings()
	if err := gate.Validate(); err != nil {
		return err
	}
	if !p.BoundsUnused() {
		return nil
	}
	const why = "nobody is called to an open pool, so %s bounds nobody without a gate; set the gate, too (gate, --gate), or let the pool call its people (retainer.called, --called)"
	switch now, was := &p.Control, &before.Control; {
	case now.Min != was.Min && now.Min > 0:
		return crowd.Fieldf("min", why, "min")
	case now.Max != was.Max && now.Max > 0:
		return crowd.Fieldf("max", why, "max")
	}
	return nil
}

// validLeast refuses a least preference of those who are called where nobody is. One that a
// pool has from when it called its people stays for the next time.
func validLeast(before, p *store.Pool) error {
	if least := p.Control.LeastPreference; p.Retainer.Called || !(least > 0) || least == before.Control.LeastPreference {
		return nil
	}
	return crowd.Fieldf("least_preference", "nobody is called to an open pool, so least_preference keeps nobody away; let the pool call its people, too (retainer.called, --called)")
}

// validRules checks the rules of a pool, also that the pools that they name are there.
func (s *Pools) validRules(id crowd.PoolID, rules []pool.Rule) error {
	if err := pool.CheckRules(rules, id, s.cfg.Live.Lookup); err != nil {
		if known := new(crowd.Error); errors.As(err, &known) {
			return err
		}
		return &crowd.Error{Code: crowd.Invalid, Field: "rules", Message: err.Error(), Cause: err}
	}
	return nil
}

// List lists the pools. Requesters see those granted to their tenants, to choose one for a
// batch, and workers their own and those to which they are moved, to say which they like. Workers
// who serve some tenants alone see how much work there is of these.
func (s *Pools) List(ctx context.Context, p *access.Principal) ([]PoolView, error) {
	if err := p.May(access.PoolsList); err != nil {
		return nil, err
	}
	var works []store.Pool
	if p.May(access.WorkNext) == nil {
		works = s.cfg.Live.ReachableBy(&p.User)
	}
	pools := lists.Filter(s.cfg.Live.List(), func(x store.Pool) bool {
		return p.Knows(&x) || slices.ContainsFunc(works, func(own store.Pool) bool { return own.ID == x.ID })
	})
	views := make([]PoolView, 0, len(pools))
	for _, x := range pools {
		var only []crowd.TenantID // nil: all
		if !p.Knows(&x) {
			only = p.User.Serves
		}
		v, err := s.poolView(ctx, x, only)
		if err != nil {
			return nil, err
		}
		if p.May(access.PoolsListWhole) != nil {
			v.Control, v.BalancedBy, v.Status.Funds, v.Status.Next = pool.Settings{}, "", engine.RetainerFunds{}, pool.Decision{}
			v.Grants = lists.Filter(v.Grants, func(g store.PoolGrant) bool { return g.Tenant == 0 || slices.Contains(p.Tenants(), g.Tenant) })
		}
		views = append(views, v)
	}
	return views, nil
}

// Get returns one pool. Admins only.
func (s *Pools) Get(ctx context.Context, p *access.Principal, id crowd.PoolID) (PoolView, error) {
	if _, err := s.find(p, access.PoolsGet, id); err != nil {
		return PoolView{}, err
	}
	x, _ := s.cfg.Live.Settings(id)
	return s.poolView(ctx, x, nil)
}

// poolView is a pool as it stands: with the work of some tenants only, if they are named.
func (s *Pools) poolView(ctx context.Context, x store.Pool, only []crowd.TenantID) (PoolView, error) {
	v := PoolView{Pool: x, BalancedBy: x.Control.BalancedBy(s.cfg.Balance)}
	r, err := s.cfg.Live.Get(x.ID)
	if err != nil {
		return v, err
	}
	s.control.statusMu.RLock()
	v.Status = s.control.status[x.ID]
	s.control.statusMu.RUnlock()
	v.Coming, _, _ = s.cfg.Recruiter.Coming(s.cfg.Clock.Time(), x.ID)
	err = r.Read(ctx, func(e *engine.Engine, now time.Time) {
		v.Counts, v.GateNow, v.Status.Funds = e.Counts(), e.Gate(), e.RetainerFunds(now)
		if len(only) > 0 {
			v.Batches, v.Status.Queue = e.WorkOf(only)
		}
	})
	return v, err
}

func (s *Pools) find(p *access.Principal, o access.Operation, id crowd.PoolID) (*live.Pool, error) {
	if err := p.May(o); err != nil {
		return nil, err
	}
	if x, _ := s.cfg.Live.Settings(id); !p.Knows(&x) {
		return nil, live.ErrPool
	}
	return s.cfg.Live.Get(id)
}

// Fund adds to a pool's money for waiting, or takes out of it what nobody has
// earned yet (a negative amount). Admins only.
func (s *Pools) Fund(ctx context.Context, p *access.Principal, id crowd.PoolID, amount crowd.Money) (money engine.RetainerFunds, err error) {
	r, err := s.find(p, access.PoolsFund, id)
	if err != nil {
		return money, err
	}
	ctx, act := s.acting(ctx, p, access.PoolsFund, id)
	act.After = struct{ Amount crowd.Money }{amount}
	err = r.Command(ctx, func(e *engine.Engine, now time.Time) (err error) {
		if amount < 0 {
			err = e.Withdraw(now, -amount)
		} else {
			err = e.Fund(now, engine.Account{Kind: engine.Outside}, amount)
		}
		money = e.RetainerFunds(now)
		return err
	})
	return money, err
}

// Account returns a pool's money for waiting, and its latest ledger entries with ids below
// before (0: all), newest first.
func (s *Pools) Account(ctx context.Context, p *access.Principal, id crowd.PoolID, before int64, limit int) (balance crowd.Money, _ []store.Entry, _ error) {
	r, err := s.find(p, access.PoolsAccount, id)
	if err != nil {
		return 0, nil, err
	}
	if err := r.Read(ctx, func(e *engine.Engine, now time.Time) { balance = e.RetainerFunds(now).Funds }); err != nil {
		return 0, nil, err
	}
	entries, err := s.cfg.Store.Entries(ctx, engine.Account{Kind: engine.PoolAccount, ID: int64(id)}, before, limit)
	return balance, entries, err
}

// Samples returns how a pool looked since a time, in order. Admins only.
func (s *Pools) Samples(ctx context.Context, p *access.Principal, id crowd.PoolID, since time.Time) ([]store.Sample, error) {
	if _, err := s.find(p, access.PoolsSamples, id); err != nil {
		return nil, err
	}
	return s.cfg.Store.Samples(ctx, id, since)
}

// RecentSamples returns how a pool looked within the last time, in order. Admins
// only.
func (s *Pools) RecentSamples(ctx context.Context, p *access.Principal, id crowd.PoolID, back time.Duration) ([]store.Sample, error) {
	return s.Samples(ctx, p, id, s.cfg.Clock.Time().Add(-back))
}

// Actions returns what was done to a pool and why, and who came to it from other
// pools: up to limit entries with ids below before (0: all), newest first. Admins only.
func (s *Pools) Actions(ctx context.Context, p *access.Principal, id crowd.PoolID, before int64, limit int) ([]store.Action, error) {
	if _, err := s.find(p, access.PoolsActions, id); err != nil {
		return nil, err
	}
	return s.cfg.Store.ListActions(ctx, id, before, min(limit, actionLimit))
}

// lastHour is what rules are tried on.
const lastHour = time.Hour

// TestOwnRules is TestRules with the rules that the pool has, which it returns.
// Admins only.
func (s *Pools) TestOwnRules(ctx context.Context, p *access.Principal, id crowd.PoolID) ([]pool.Rule, []pool.Tested, error) {
	if _, err := s.find(p, access.PoolsTestOwnRules, id); err != nil {
		return nil, nil, err
	}
	x, _ := s.cfg.Live.Settings(id)
	list, err := s.TestRules(ctx, p, id, x.Control.Rules)
	return x.Control.Rules, list, err
}

// TestRules returns what rules would have done in a pool within the last hour, step
// by step as it was sampled. Admins only.
func (s *Pools) TestRules(ctx context.Context, p *access.Principal, id crowd.PoolID, rules []pool.Rule) ([]pool.Tested, error) {
	if _, err := s.find(p, access.PoolsTestRules, id); err != nil {
		return nil, err
	}
	if err := s.validRules(id, rules); err != nil {
		return nil, err
	}
	samples, err := s.cfg.Store.Samples(ctx, id, s.cfg.Clock.Time().Add(-lastHour))
	if err != nil {
		return nil, err
	}
	past := lists.Map(samples, func(x store.Sample) pool.Past { return pool.Past{At: x.At, Metrics: x.Metrics} })
	return pool.Test(rules, past)
}
