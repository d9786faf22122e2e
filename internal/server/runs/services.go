package runs

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// Services is the services that are declared: programs that the workflows of several
// tenants call by name, and whose capacity they share.
type Services struct {
	runs *Runs
	mu   sync.Mutex // held while a service is changed
}

// OpenServices makes the use case.
func OpenServices(r *Runs) *Services { return &Services{runs: r} }

// ServiceEdit changes a service; nil fields stay as they are.
type ServiceEdit struct {
	URL         *string
	Concurrency *int
	Rate        *string // as crowd.ParseRate reads it; "": no limit
	AllTenants  *bool
	Tenants     *[]crowd.TenantID // who may use it, if not all
}

// Apply changes what is kept of a service.
func (e *ServiceEdit) Apply(x *store.Service) (err error) {
	if e.AllTenants != nil && *e.AllTenants && e.Tenants != nil && len(*e.Tenants) > 0 {
		return crowd.Fieldf("tenants", "all tenants may use it already (all_tenants): give one of the two")
	}
	input.Set(&x.URL, e.URL)
	input.Set(&x.Concurrency, e.Concurrency)
	input.Set(&x.AllTenants, e.AllTenants)
	input.Set(&x.Tenants, e.Tenants)
	if e.Rate != nil {
		x.Rate, err = crowd.ParseRate(*e.Rate)
	}
	return err
}

// valid checks a service that is to be kept.
func (s *Services) valid(ctx context.Context, x *store.Service) error {
	if err := workflow.CheckServiceName(x.Name); err != nil {
		return err
	}
	if err := workflow.CheckServiceURL(x.URL); err != nil {
		return err
	}
	if x.Concurrency < 1 || x.Concurrency > workflow.MaxConcurrency {
		return crowd.Fieldf("concurrency", "%d calls at a time: from 1 to %d", x.Concurrency, workflow.MaxConcurrency)
	}
	seen := make(map[crowd.TenantID]bool)
	for _, id := range x.Tenants {
		if seen[id] {
			return crowd.Fieldf("tenants", "%s stands there twice", id)
		}
		if _, err := s.runs.store.Tenant(ctx, id); crowd.CodeOf(err) == crowd.NotFound {
			return crowd.Fieldf("tenants", "there is no tenant %s", id)
		} else if err != nil {
			return err
		}
		seen[id] = true
	}
	return nil
}

// Declare declares a service, which needs a URL and a concurrency. Admins only.
func (s *Services) Declare(ctx context.Context, p *access.Principal, name string, e ServiceEdit) (ServiceView, error) {
	if err := p.May(access.ServicesDeclare); err != nil {
		return ServiceView{}, err
	}
	x := store.Service{Name: name, CreatedAt: s.runs.clock.Time()}
	if err := e.Apply(&x); err != nil {
		return ServiceView{}, err
	}
	ctx, err := s.acting(ctx, p, access.ServicesDeclare, name, nil, &x)
	if err != nil {
		return ServiceView{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keep(ctx, p, x, func(ctx context.Context, x store.Service) error {
		list, err := s.runs.store.ListServices(ctx)
		if err != nil {
			return err
		}
		if err := input.DistinctName("service", x.Name, lists.Map(list, func(x store.Service) string { return x.Name })); err != nil {
			return err
		}
		return s.runs.store.CreateService(ctx, x)
	})
}

// Change changes a service as it is when nobody else changes it, also for the runs that are
// under way: calls that have begun go on. Admins only.
func (s *Services) Change(ctx context.Context, p *access.Principal, name string, change func(*store.Service) error) (ServiceView, error) {
	if err := p.May(access.ServicesChange); err != nil {
		return ServiceView{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.runs.store.Service(ctx, name)
	if err != nil {
		return ServiceView{}, err
	}
	before := x
	if err := change(&x); err != nil {
		return ServiceView{}, err
	}
	x.Name = name // that is how it is known
	if ctx, err = s.acting(ctx, p, access.ServicesChange, name, &before, &x); err != nil {
		return ServiceView{}, err
	}
	return s.keep(ctx, p, x, s.runs.store.UpdateService)
}

// offered is what the audit log tells a tenant of a service that it may use: nothing of other
// tenants.
type offered struct {
	URL         string
	Concurrency int
	Rate        crowd.Rate
}

// acting is for a change of a service, which each tenant is told that may use it before or
// after: their calls go where it says. nil: it is not there.
func (s *Services) acting(ctx context.Context, p *access.Principal, o access.Operation, name string, before, after *store.Service) (context.Context, error) {
	ctx, act := p.Acting(ctx, o, store.AuditEntry{At: s.runs.clock.Time(), Kind: "service", Object: name})
	if before != nil {
		was := *before
		if after == nil {
			was.Used = store.ServiceUse{} // it is of the calls under way, and nothing that somebody has set
		}
		act.Before = was
	}
	if after != nil {
		act.After = *after
	}
	tenants, err := s.runs.store.ListTenants(ctx)
	if err != nil {
		return ctx, err
	}
	to := func(x *store.Service, id crowd.TenantID) any {
		if x == nil || !x.Allows(id) {
			return nil
		}
		return offered{x.URL, x.Concurrency, x.Rate}
	}
	acts := []*store.Act{act}
	for _, t := range tenants {
		was, is := to(before, t.ID), to(after, t.ID)
		if was == is {
			continue
		}
		told := &store.Act{AuditEntry: act.AuditEntry, Part: true, Before: was, After: is}
		told.Tenant = t.ID
		acts = append(acts, told)
	}
	return store.WithActs(ctx, acts...), nil
}

// keep checks a service, keeps it, and has the orchestrator go by it.
func (s *Services) keep(ctx context.Context, p *access.Principal, x store.Service, keep func(context.Context, store.Service) error) (ServiceView, error) {
	if err := s.valid(ctx, &x); err != nil {
		return ServiceView{}, err
	}
	if err := keep(ctx, x); err != nil {
		return ServiceView{}, err
	}
	s.runs.orchestrator.ServicesChanged()
	return s.view(p, x), nil
}

// Remove forgets a service. Calls that have begun go on; what waits for it waits until a
// service of that name is declared again. Admins only.
func (s *Services) Remove(ctx context.Context, p *access.Principal, name string) error {
	if err := p.May(access.ServicesRemove); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.runs.store.Service(ctx, name)
	if err != nil {
		return err
	}
	if ctx, err = s.acting(ctx, p, access.ServicesRemove, name, &x, nil); err != nil {
		return err
	}
	if err := s.runs.store.DeleteService(ctx, name); err != nil {
		return err
	}
	s.runs.orchestrator.ServicesChanged()
	return nil
}

// ServiceView is a service as it stands. A requester sees what is their tenants', and the
// calls of all as a number.
type ServiceView struct {
	store.Service // of a requester, Tenants are those of theirs that may use it
	orchestrator.ServiceLoad
	Warning string // why its calls are refused; "": nothing is known against them
}

// view is what p sees of a service.
func (s *Services) view(p *access.Principal, x store.Service) ServiceView {
	return seenBy(p, s.withLoad(x, s.runs.orchestrator.ServiceLoads()[x.Name]))
}

// withLoad is a service and how it stands, as an administrator sees it.
func (s *Services) withLoad(x store.Service, load orchestrator.ServiceLoad) ServiceView {
	return ServiceView{Service: x, ServiceLoad: load, Warning: s.runs.refused(x.URL)}
}

// refused says why the calls of an address would be refused, or "".
func (s *Runs) refused(address string) string {
	if place := s.allow.Refused(address); place != "" {
		return "its calls are refused, as its address is not public; the operator allows it with throng serve --allow-service " + place
	}
	return ""
}

// refusedServices has a sentence for each declared service of a workflow, and each step with an
// address of its own, whose calls would be refused.
func (s *Runs) refusedServices(ctx context.Context, w *workflow.Workflow) (list []string, err error) {
	if w == nil {
		return nil, nil
	}
	said := make(map[string]bool)
	for i := range w.Steps {
		h := w.Steps[i].HTTP()
		if h == nil || said[h.Name] {
			continue
		}
		if h.Name == "" {
			if why := s.refused(h.URL); why != "" {
				list = append(list, fmt.Sprintf("the step %s: %s", w.Steps[i].Name, why))
			}
			continue
		}
		said[h.Name] = true
		x, err := s.store.Service(ctx, h.Name)
		if crowd.CodeOf(err) == crowd.NotFound {
			continue // the step says so
		}
		if err != nil {
			return nil, err
		}
		if why := s.refused(x.URL); why != "" {
			list = append(list, fmt.Sprintf("the service %s: %s", h.Name, why))
		}
	}
	return list, nil
}

// notesOn has what else is to be known of a workflow that may be started: of pools that are known,
// those whose policy does not look at its SLA, and services whose calls would be refused.
func (s *Runs) notesOn(ctx context.Context, w *workflow.Workflow, known func(*store.Pool) bool) ([]string, error) {
	list, err := s.orchestrator.Unkept(ctx, w, known)
	if err != nil {
		return nil, err
	}
	refused, err := s.refusedServices(ctx, w)
	return append(list, refused...), err
}

// knows reports whether p may learn of a pool when a workflow of a tenant is checked; 0: of any
// of p's.
func knows(p *access.Principal, tenant crowd.TenantID, x *store.Pool) bool {
	if tenant != 0 {
		return x.Allows(tenant)
	}
	return p.Knows(x)
}

// view is a run as it stands.
func (s *Runs) view(ctx context.Context, id crowd.RunID) (*orchestrator.View, error) {
	v, err := s.orchestrator.View(ctx, 0, id)
	if err != nil || v.State.Ended() {
		return v, err
	}
	refused, err := s.refusedServices(ctx, v.Flow)
	v.Notes = append(v.Notes, refused...)
	if err != nil || len(v.ServiceOrigins) == 0 {
		return v, err
	}
	list, err := s.store.ListServices(ctx)
	if err != nil {
		return v, err
	}
	own := lists.Filter(list, func(x store.Service) bool { return x.Allows(v.Tenant) })
	v.Notes = append(v.Notes, orchestrator.Moved(v.ServiceOrigins, own)...)
	return v, nil
}

// seenBy is what p sees of a service: of tenants, those of which they may see services.
func seenBy(p *access.Principal, v ServiceView) ServiceView {
	if p.May(access.ServicesWhole) == nil {
		return v
	}
	all := v
	v.Service.Tenants, v.ServiceLoad.Tenants = nil, make(map[crowd.TenantID]orchestrator.InLine)
	for _, t := range p.TenantsWith(access.ServicesList.Needs) {
		if !all.Allows(t) {
			continue
		}
		v.Service.Tenants = append(v.Service.Tenants, t)
		if n, ok := all.ServiceLoad.Tenants[t]; ok {
			v.ServiceLoad.Tenants[t] = n
		}
	}
	return v
}

// List lists the services in order of name: to a requester, those that one of their
// tenants may use.
func (s *Services) List(ctx context.Context, p *access.Principal) ([]ServiceView, error) {
	if err := p.May(access.ServicesList); err != nil {
		return nil, err
	}
	all, err := s.Figures(ctx)
	var out []ServiceView
	for _, x := range all {
		if v := seenBy(p, x); p.May(access.ServicesWhole) == nil || len(v.Service.Tenants) > 0 {
			out = append(out, v)
		}
	}
	return out, err
}

// Figures are all services as they stand, in order of name, for who watches the server.
func (s *Services) Figures(ctx context.Context) ([]ServiceView, error) {
	list, err := s.runs.store.ListServices(ctx)
	loads := s.runs.orchestrator.ServiceLoads()
	return lists.Map(list, func(x store.Service) ServiceView { return s.withLoad(x, loads[x.Name]) }), err
}

// Get returns a service as it stands.
func (s *Services) Get(ctx context.Context, p *access.Principal, name string) (ServiceView, error) {
	if err := p.May(access.ServicesGet); err != nil {
		return ServiceView{}, err
	}
	whole := p.May(access.ServicesWhole) == nil
	x, err := s.runs.store.Service(ctx, name)
	switch {
	case crowd.CodeOf(err) == crowd.NotFound && !whole:
		return ServiceView{}, absent(name)
	case err != nil:
		return ServiceView{}, err
	}
	v := s.view(p, x)
	if !whole && len(v.Service.Tenants) == 0 {
		return ServiceView{}, absent(name)
	}
	return v, nil
}

// absent is the error about a service that is not there, or not to be seen, for who cannot
// declare one.
func absent(name string) error {
	return &crowd.Error{Code: crowd.NotFound, Field: "service", Message: fmt.Sprintf("there is no service %q", name)}
}

// allowed is what a workflow of a tenant may do; of none (0), it may call the services that
// one of p's may, and to an admin all, ask the pools that p knows, and have any priority.
func (s *Runs) allowed(ctx context.Context, p *access.Principal, tenant crowd.TenantID) (may orchestrator.Allowed, err error) {
	list, err := s.store.ListServices(ctx)
	if err != nil {
		return may, err
	}
	if tenant != 0 {
		t, err := s.store.Tenant(ctx, tenant)
		if err != nil {
			return may, err
		}
		may.MaxPriority, may.For = t.MaxPriority, engine.Owner{ID: t.ID, Name: t.Name}
	}
	pools, err := s.store.ListPools(ctx)
	if err != nil {
		return may, err
	}
	may.Pool = orchestrator.KnownPools(lists.Filter(pools, func(x store.Pool) bool { return knows(p, tenant, &x) }))
	may.Service = orchestrator.KnownServices(lists.Filter(list, func(x store.Service) bool {
		switch {
		case tenant != 0:
			return x.Allows(tenant)
		case p.May(access.ServicesWhole) == nil:
			return true
		}
		return slices.ContainsFunc(p.Tenants(), x.Allows)
	}), tenant == 0)
	return may, nil
}
