package accounts

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// Tenants is the tenants with their money and their secrets.
type Tenants struct {
	store  store.Store
	live   *live.Pools
	clock  live.Clock
	funds  *Funds
	quotas *limits.Quotas

	setting sync.Mutex // held while quotas are set
	secrets sync.Mutex // held while secrets are set and deleted

	counting sync.Mutex // guards what follows, and is held while it is counted
	fullest  []QuotaFigures
	counted  time.Time
}

// TenantsConfig is what the tenants stand on.
type TenantsConfig struct {
	Store  store.Store
	Live   *live.Pools
	Clock  live.Clock
	Funds  *Funds
	Quotas *limits.Quotas
}

// NewTenants makes the use case.
func NewTenants(cfg TenantsConfig) *Tenants {
	return &Tenants{store: cfg.Store, live: cfg.Live, clock: cfg.Clock, funds: cfg.Funds, quotas: cfg.Quotas}
}

// NewTenant is a tenant to be added.
type NewTenant struct {
	Name    string
	Weight  float64
	Deposit crowd.Money // to begin with; 0: none

	MaxPriority *float64 // that its batches may have; nil: DefaultMaxPriority
}

// DefaultMaxPriority is the highest priority of a new tenant's batches.
const DefaultMaxPriority = 100

// Create adds a tenant. Admins only.
func (s *Tenants) Create(ctx context.Context, p *access.Principal, n NewTenant) (store.Tenant, error) {
	t := store.Tenant{Name: n.Name, Weight: n.Weight, CreatedAt: s.clock.Time(), MaxPriority: DefaultMaxPriority}
	input.Set(&t.MaxPriority, n.MaxPriority)
	if err := p.May(access.TenantsCreate); err != nil {
		return t, err
	}
	if err := validTenant(t); err != nil {
		return t, err
	}
	if n.Deposit != 0 {
		if err := p.May(access.TenantsCreateFunded); err != nil {
			return t, err
		}
		if err := validDeposit("deposit", n.Deposit); err != nil {
			return t, err
		}
	}
	ctx, act := p.Acting(ctx, access.TenantsCreate, store.AuditEntry{At: t.CreatedAt, Kind: "tenant"})
	act.After = struct {
		store.Tenant
		Deposit crowd.Money
	}{t, n.Deposit}
	err := s.live.ChangeSettings(func() (err error) {
		if err := s.newName(ctx, t); err != nil {
			return err
		}
		if t.ID, err = s.store.CreateTenant(ctx, t, n.Deposit); err != nil {
			return err
		}
		return s.tellPools(t)
	})
	return t, err
}

func validTenant(t store.Tenant) error {
	if err := input.ValidName("name", t.Name); err != nil {
		return err
	}
	if err := engine.ValidWeight(t.Weight); err != nil {
		return err // a pool that refused it would not start again
	}
	if engine.ValidPriority("max_priority", t.MaxPriority) != nil {
		return crowd.Fieldf("max_priority", "%s is no highest priority (from %s to %s; a new tenant has %d)",
			format.Number(t.MaxPriority), format.Number(engine.MinPriority), format.Number(engine.MaxPriority), DefaultMaxPriority)
	}
	return nil
}

// reservedNames are no names of new tenants: where a tenant is named, they stand for all
// tenants and for none.
var reservedNames = []string{"all", "none"}

// newName checks a name that a tenant did not have before.
func (s *Tenants) newName(ctx context.Context, t store.Tenant) error {
	name := t.Name
	if slices.ContainsFunc(reservedNames, func(word string) bool { return strings.EqualFold(word, name) }) {
		return crowd.Fieldf("name", "%q stands for tenants where they are named (%s); choose another name", name, strings.Join(reservedNames, ", "))
	}
	if what := idOf(name); what != "" {
		return crowd.Fieldf("name", "%q is how a %s's id looks; choose another name", name, what)
	}
	list, err := s.store.ListTenants(ctx)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(other store.Tenant) bool { return other.ID == t.ID })
	return input.DistinctName("tenant", name, lists.Map(list, func(t store.Tenant) string { return t.Name }))
}

// idOf says whose id a name reads as, in capitals or not; "" of none.
func idOf(name string) string {
	name = strings.ToLower(name)
	is := func(_ any, err error) bool { return err == nil }
	switch {
	case is(crowd.ParseTenantID(name)):
		return "tenant"
	case is(crowd.ParsePoolID(name)):
		return "pool"
	case is(crowd.ParseBatchID(name)):
		return "batch"
	case is(crowd.ParseRunID(name)):
		return "run"
	case is(crowd.ParseWorkerID(name)):
		return "worker"
	case is(crowd.ParseTaskID(name)):
		return "task"
	case is(crowd.ParseAssignmentID(name)):
		return "assignment"
	}
	return ""
}

func (s *Tenants) tellPools(t store.Tenant) error {
	return s.live.Each(func(r *live.Pool) error {
		return r.Tell(func(e *engine.Engine, now time.Time) error {
			return e.SetTenant(now, engine.Tenant{ID: t.ID, Weight: t.Weight, Stopped: t.Stopped, MaxPriority: t.MaxPriority})
		})
	})
}

// TenantEdit changes a tenant; nil fields stay as they are.
type TenantEdit struct {
	Name    *string
	Weight  *float64
	Stopped *bool // emergency stop of everything of the tenant

	MaxPriority *float64 // that its batches may be given from now on
}

// Update changes a tenant. Admins only; but its requesters may stop it.
func (s *Tenants) Update(ctx context.Context, p *access.Principal, id crowd.TenantID, edit TenantEdit) (store.Tenant, error) {
	if err := p.MayFor(access.TenantsUpdate, id); err != nil {
		return store.Tenant{}, err
	}
	if edit.Name != nil || edit.Weight != nil || edit.MaxPriority != nil {
		if err := p.May(access.TenantsUpdateSettings); err != nil {
			return store.Tenant{}, err
		}
	}
	ctx, _ = s.acting(ctx, p, access.TenantsUpdate, id)
	return s.change(ctx, id, func(t *store.Tenant) error {
		input.Set(&t.Name, edit.Name)
		input.Set(&t.Weight, edit.Weight)
		input.Set(&t.MaxPriority, edit.MaxPriority)
		input.Set(&t.Stopped, edit.Stopped)
		return nil
	})
}

// Change changes a tenant as it is when nobody else changes it. Admins only.
func (s *Tenants) Change(ctx context.Context, p *access.Principal, id crowd.TenantID, change func(*store.Tenant) error) (store.Tenant, error) {
	if err := p.May(access.TenantsChange); err != nil {
		return store.Tenant{}, err
	}
	ctx, _ = s.acting(ctx, p, access.TenantsChange, id)
	return s.change(ctx, id, change)
}

// acting is for a change of a tenant.
func (s *Tenants) acting(ctx context.Context, p *access.Principal, o access.Operation, id crowd.TenantID) (context.Context, *store.Act) {
	return p.Acting(ctx, o, store.AuditEntry{At: s.clock.Time(), Tenant: id, Kind: "tenant", Object: id.String()})
}

func (s *Tenants) change(ctx context.Context, id crowd.TenantID, change func(*store.Tenant) error) (t store.Tenant, err error) {
	err = s.live.ChangeSettings(func() (err error) {
		if t, err = s.store.Tenant(ctx, id); err != nil {
			return err
		}
		before := t
		if err := change(&t); err != nil {
			return err
		}
		if err := validTenant(t); err != nil {
			return err
		}
		if t.Name != before.Name { // those of earlier versions stay
			if err := s.newName(ctx, t); err != nil {
				return err
			}
		}
		store.Tell(ctx, "tenant", before, t)
		if err := s.store.UpdateTenant(ctx, t); err != nil {
			return err
		}
		return s.tellPools(t)
	})
	return t, err
}

// List lists the tenants that p may see, in order of id.
func (s *Tenants) List(ctx context.Context, p *access.Principal) ([]store.Tenant, error) {
	if p.May(access.TenantsListAll) == nil {
		return s.store.ListTenants(ctx)
	}
	var list []store.Tenant
	for _, id := range p.Tenants() {
		t, err := s.store.Tenant(ctx, id)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	if len(list) == 0 && p.Outside && !p.MustEnrol && p.WhyNothing() != "" { // as if all were lost
		return nil, p.May(access.TenantsListAll)
	}
	return list, nil
}

// Owner is the tenant for which p makes what cannot be the installation's: as
// access.Principal.Tenant has it, or, where an admin names none, their only one as a
// requester, or the only one that there is.
func (s *Tenants) Owner(ctx context.Context, p *access.Principal, named crowd.TenantID) (crowd.TenantID, error) {
	if id, err := p.Tenant(named); err != nil || id != 0 {
		return id, err
	}
	if own := p.Tenants(); len(own) == 1 {
		return own[0], nil
	}
	list, err := s.List(ctx, p)
	if err != nil {
		return 0, err
	}
	if len(list) != 1 {
		return 0, access.ErrWhichTenant
	}
	return list[0].ID, nil
}

// Deposit adds to a tenant's account, or takes out of it what is not reserved, if the
// amount is below 0. Admins only.
func (s *Tenants) Deposit(ctx context.Context, p *access.Principal, id crowd.TenantID, amount crowd.Money, note string) error {
	if err := p.May(access.TenantsDeposit); err != nil {
		return err
	}
	if err := validDeposit("amount", max(amount, -amount)); err != nil {
		return err
	}
	if err := format.ValidLine("note", note, 500); err != nil {
		return err
	}
	if _, err := s.store.Tenant(ctx, id); err != nil {
		return err
	}
	if amount < 0 {
		defer s.funds.Hold()()
		have, err := s.funds.Balance(ctx, id)
		if err != nil {
			return err
		}
		if have < -amount {
			return crowd.Fieldf("amount", "the account has %s, so %s cannot be taken out of it", have, -amount)
		}
	}
	ctx, act := s.acting(ctx, p, access.TenantsDeposit, id)
	act.After = struct {
		Amount crowd.Money
		Note   string
	}{amount, note}
	return s.store.Deposit(ctx, s.clock.Time(), id, amount, note)
}

func validDeposit(field string, amount crowd.Money) error {
	if amount <= 0 || amount > crowd.MaxMoney {
		return crowd.Fieldf(field, "%s is not an amount (more than 0, at most %s)", amount, crowd.MaxMoney)
	}
	return nil
}

// Account returns the balance of a tenant and its latest ledger entries with
// ids below before (0: all), newest first.
func (s *Tenants) Account(ctx context.Context, p *access.Principal, id crowd.TenantID, before int64, limit int) (crowd.Money, []store.Entry, error) {
	if err := p.MayFor(access.TenantsAccount, id); err != nil {
		return 0, nil, err
	}
	if _, err := s.store.Tenant(ctx, id); err != nil {
		return 0, nil, err
	}
	a := engine.Account{Kind: engine.TenantAccount, ID: int64(id)}
	balance, err := s.store.Balance(ctx, a)
	if err != nil {
		return 0, nil, err
	}
	entries, err := s.store.Entries(ctx, a, before, limit)
	return balance, entries, err
}

var secretName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// maxSecret is the length of a secret, in bytes.
const maxSecret = 4096

// maxHosts is to how many hosts a secret can be bound.
const maxHosts = 20

// PutSecret keeps a secret of a tenant, which its workflows name, and which is sent to
// its hosts only; none: to any.
func (s *Tenants) PutSecret(ctx context.Context, p *access.Principal, tenant crowd.TenantID, t store.TenantSecret) error {
	switch err := p.MayFor(access.TenantsPutSecret, tenant); {
	case err != nil:
		return err
	case !secretName.MatchString(t.Name):
		return crowd.Fieldf("name", "%q is not the name of a secret (letters, digits and _, at most 64)", t.Name)
	case t.Value == "" || len(t.Value) > maxSecret:
		return crowd.Fieldf("value", "a secret has 1 to %d bytes", maxSecret)
	case len(t.Hosts) > maxHosts:
		return crowd.Fieldf("hosts", "a secret has at most %d hosts, not %d", maxHosts, len(t.Hosts))
	}
	for i, h := range t.Hosts {
		if err := httpstep.CheckHost(h); err != nil {
			return crowd.Fieldf(fmt.Sprintf("hosts[%d]", i), "%v", err)
		}
	}
	s.secrets.Lock()
	defer s.secrets.Unlock()
	ctx, act := p.Acting(ctx, access.TenantsPutSecret, store.AuditEntry{At: s.clock.Time(), Tenant: tenant, Kind: "secret", Object: t.Name})
	before, there, err := s.secretBefore(ctx, tenant, t.Name)
	if err != nil {
		return err
	}
	if there {
		act.Before = before
	}
	act.After = toldSecret{t.Name, t.Hosts, there}
	return s.store.PutTenantSecret(ctx, tenant, t)
}

// toldSecret is what the audit log says of a secret: never its value. Without hosts it is sent to
// any. Replaced is of one that was there before.
type toldSecret struct {
	Name     string
	Hosts    []string
	Replaced bool
}

// hostsTold is what it says of the secret that another one takes the place of.
type hostsTold struct{ Hosts []string }

// secretBefore returns what the audit log says of a secret that is about to be changed. The caller
// holds s.secrets. Its value is not read: it may be sealed with a key that is lost.
func (s *Tenants) secretBefore(ctx context.Context, tenant crowd.TenantID, name string) (told hostsTold, there bool, err error) {
	list, err := s.store.TenantSecrets(ctx, tenant)
	if err != nil {
		return told, false, err
	}
	i := slices.IndexFunc(list, func(t store.TenantSecret) bool { return t.Name == name })
	if i < 0 {
		return told, false, nil
	}
	return hostsTold{list[i].Hosts}, true, nil
}

// DeleteSecret forgets a secret.
func (s *Tenants) DeleteSecret(ctx context.Context, p *access.Principal, tenant crowd.TenantID, name string) error {
	if err := p.MayFor(access.TenantsDeleteSecret, tenant); err != nil {
		return err
	}
	s.secrets.Lock()
	defer s.secrets.Unlock()
	ctx, act := p.Acting(ctx, access.TenantsDeleteSecret, store.AuditEntry{At: s.clock.Time(), Tenant: tenant, Kind: "secret", Object: name})
	before, there, err := s.secretBefore(ctx, tenant, name)
	if err != nil {
		return err
	}
	if there {
		act.Before = toldSecret{Name: name, Hosts: before.Hosts}
	}
	return s.store.DeleteTenantSecret(ctx, tenant, name)
}

// Secrets lists a tenant's secrets in order of name, without their values, which are
// never shown.
func (s *Tenants) Secrets(ctx context.Context, p *access.Principal, tenant crowd.TenantID) ([]store.TenantSecret, error) {
	if err := p.MayFor(access.TenantsSecrets, tenant); err != nil {
		return nil, err
	}
	return s.store.TenantSecrets(ctx, tenant)
}
