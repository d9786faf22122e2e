package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// declaredServices are the services that are declared, as they are kept.
type declaredServices struct {
	services map[string]*capacity
	removed  map[string]*capacity // by their names, of which another may be declared
	stale    bool                 // another has been kept since
	retryAt  time.Time            // when they are read again, after a failure of the store; zero: not planned
	seen     time.Time            // by the clock, at the last look
}

// capacity is a declared service, and what is used of it.
type capacity struct {
	store.Service           // Used is what is kept: no less than what was begun
	next          time.Time // when the rate allows the next call
	blocked       time.Time // until then, calls may go on that a server made which has ended since
}

// opens returns when the service takes its next call, if it has room for it.
func (c *capacity) opens() time.Time {
	if c.Rate.Gap() == 0 {
		return c.blocked
	}
	return instant.Later(c.blocked, c.next)
}

// reserveAhead is how far ahead of what was begun the kept use of a service is: so much
// of it is lost when the server ends without notice. So often it is kept at most, for each
// timeout that calls have.
const reserveAhead = 5 * time.Second

func newServices(cfg *Config, host serviceHost) services {
	return services{cfg: cfg, host: host, proxies: make(map[proxyKey]*proxy), declared: declaredServices{stale: true}}
}

// ServicesChanged has the next Step take over what is kept of the declared services.
func (o *Orchestrator) ServicesChanged() {
	o.deliver(func(context.Context) { o.services.declared.stale = true })
}

// loadDeclared takes over what is kept of the declared services, if that has changed.
// What a server began that has ended since counts, once: at the first time. Of a service that was
// removed, what is used of it counts when one of its name is declared again.
func (v *services) loadDeclared(ctx context.Context) {
	d, now := &v.declared, v.host.now()
	if !d.stale || now.Before(d.retryAt) {
		return
	}
	list, err := v.cfg.Store.ListServices(ctx)
	if err != nil {
		if ctx.Err() == nil {
			v.cfg.Log.Error("the services cannot be read", "err", err)
		}
		d.retryAt = now.Add(failurePause)
		return
	}
	before := d.services
	maps.Copy(before, d.removed)
	d.services = make(map[string]*capacity, len(list))
	for _, x := range list {
		c := before[x.Name]
		if c == nil { // a clock that was put back does not block a service for longer than its calls take
			c = &capacity{blocked: instant.Earlier(x.Used.Ends, now.Add(longest(&x)+reserveAhead)), next: instant.Earlier(x.Used.Next, now.Add(x.Rate.Gap()+reserveAhead))}
		} else { // of a higher rate
			c.next = instant.Earlier(c.next, now.Add(x.Rate.Gap()))
		}
		c.Service = x
		d.services[x.Name] = c
		delete(before, x.Name)
	}
	d.removed = before
	d.stale, d.retryAt = false, time.Time{}
}

// longest is how long the calls of a service took at most that may have been under way when
// the last of them began: Used.Next is from then, and a gap later.
func longest(x *store.Service) time.Duration {
	if span := x.Used.Ends.Sub(x.Used.Next) + x.Rate.Gap(); !x.Used.Next.IsZero() && span > 0 {
		return min(span, workflow.MaxTimeout)
	}
	return workflow.MaxTimeout // kept by an earlier version, or with another rate
}

// followClock sees to it that a clock that was put back stops no service: what is planned by
// the clock as it was counts from now on, in memory and as it is kept.
func (v *services) followClock(ctx context.Context) {
	d, now := &v.declared, v.host.now()
	back := now.Before(d.seen)
	d.seen = now
	if !back {
		return
	}
	d.retryAt = instant.Earlier(d.retryAt, now.Add(failurePause))
	for _, p := range v.proxies {
		p.pause = instant.Earlier(p.pause, now.Add(failurePause))
	}
	for _, c := range d.services {
		c.next = instant.Earlier(c.next, now.Add(c.Rate.Gap()))
		c.blocked = instant.Earlier(c.blocked, now.Add(workflow.MaxTimeout+reserveAhead))
		used := store.ServiceUse{Next: c.next, Ends: c.blocked}
		if p := v.proxies[proxyKey{declared: c.Name}]; p != nil && p.underWay > 0 {
			p.ends = instant.Earlier(p.ends, now.Add(p.longest()))
			used.Ends = p.ends.Add(reserveAhead)
		}
		c.Used = used
		if err := v.cfg.Store.UseService(ctx, c.Name, used); err != nil {
			c.Used = store.ServiceUse{} // the next call keeps it
		}
	}
}

// reserve notes that a call begins now, and keeps that first if what is kept does not
// reach as far: so neither the concurrency nor the rate of a service is passed after the
// server has ended at any moment. A call begins after that was kept, however long it took.
func (v *services) reserve(ctx context.Context, p *proxy, x *call) error {
	if p.key.declared == "" {
		return nil
	}
	c := v.declared.services[p.key.declared]
	for ahead := reserveAhead; ; ahead *= 2 { // further if keeping takes longer than that
		now := v.host.now()
		begun := store.ServiceUse{Ends: now.Add(x.runner.service.Timeout), Next: now.Add(c.Rate.Gap())}
		if p.underWay > 0 {
			begun.Ends = instant.Later(begun.Ends, p.ends)
		}
		kept := store.ServiceUse{Ends: begun.Ends.Add(ahead), Next: begun.Next.Add(ahead)}
		if !begun.Ends.After(c.Used.Ends) && !begun.Next.After(c.Used.Next) {
			c.next, p.ends = begun.Next, begun.Ends
			return nil
		}
		if err := v.cfg.Store.UseService(ctx, c.Name, kept); err != nil {
			return err
		}
		c.Used = kept
	}
}

// uncalled has the rate of a service not count its last call, which began at that time and
// was refused before anything was sent.
func (v *services) uncalled(p *proxy, began time.Time) {
	if c := v.declared.services[p.key.declared]; c != nil {
		c.next = instant.Earlier(c.next, began)
	}
}

// close keeps what was begun of the services, and no more, so that the next orchestrator
// goes on at once if no call was under way. If the store fails, that waits a little longer.
func (v *services) close() {
	for _, c := range slices.AppendSeq(slices.Collect(maps.Values(v.declared.services)), maps.Values(v.declared.removed)) {
		used := store.ServiceUse{Next: c.next, Ends: c.blocked}
		if p := v.proxies[proxyKey{declared: c.Name}]; p != nil && p.underWay > 0 {
			used.Ends = p.ends // they began after c.blocked
		}
		if used == c.Used {
			continue
		}
		if err := v.cfg.Store.UseService(context.Background(), c.Name, used); err != nil {
			v.cfg.Log.Warn("what is used of a service cannot be kept: it pauses after the next start", "service", c.Name, "err", err)
		}
	}
	v.declared.services, v.declared.removed = nil, nil
}

// Known explains why somebody may not use the service or the pool of a name; "": they may.
type Known func(name string) (wrong string)

// KnownServices are those of a list: those that a tenant may use, or, for anybody, all that
// somebody may see.
func KnownServices(list []store.Service, anybody bool) Known {
	names := lists.Map(list, func(x store.Service) string { return x.Name })
	return func(name string) string {
		if slices.Contains(names, name) {
			return ""
		}
		whose, others := " that this tenant may use", ", nor any other"
		if anybody {
			whose = ""
		}
		if len(names) > 0 {
			others = ", only " + strings.Join(names, ", ")
		}
		return fmt.Sprintf("there is no service %q%s%s: an administrator declares %[1]s, and says which tenants may use it, with throng service set %[1]s --url URL --concurrency N --tenants NAME,NAME", name, whose, others)
	}
}

// knownTo are the services that a tenant may call now.
func (o *Orchestrator) knownTo(ctx context.Context, tenant crowd.TenantID) (Known, error) {
	list, err := o.cfg.Store.ListServices(ctx)
	return KnownServices(lists.Filter(list, func(x store.Service) bool { return x.Allows(tenant) }), false), err
}

// ServiceLoad is how a declared service stands.
type ServiceLoad struct {
	UnderWay int
	Waiting  int
	Response time.Duration             // of a call, as observed; 0: none was
	Opens    time.Time                 // when it takes the next call, if it takes none before for another reason than Concurrency
	Blocked  bool                      // Opens is when calls are over that a server made which has ended since
	Tenants  map[crowd.TenantID]InLine // who call it
}

// InLine are the calls of a tenant at a service.
type InLine struct{ UnderWay, Waiting int }

// ServiceLoads returns how the declared services stand that are being called, by name.
func (o *Orchestrator) ServiceLoads() map[string]ServiceLoad {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, out := o.now(), make(map[string]ServiceLoad)
	for k, p := range o.services.proxies {
		c := o.services.declared.services[k.declared]
		if k.declared == "" {
			continue
		}
		x := ServiceLoad{UnderWay: p.underWay, Tenants: make(map[crowd.TenantID]InLine)}
		if p.served > 0 {
			x.Response = p.busy / time.Duration(p.served)
		}
		if c != nil {
			if opens := c.opens(); opens.After(now) {
				x.Opens, x.Blocked = opens, opens.Equal(c.blocked)
			}
		}
		for _, l := range p.lines {
			if n := (InLine{l.underWay, l.queue.Len()}); n != (InLine{}) {
				x.Tenants[l.tenant] = n
				x.Waiting += n.Waiting
			}
		}
		out[k.declared] = x
	}
	return out
}

// NodeService is the declared service of a step, as the step's tenant sees it.
type NodeService struct {
	Name        string
	Concurrency int
	Rate        crowd.Rate
	Wrong       string // why it takes no calls of the tenant; "": it does
	Own         InLine
	All         InLine    // of all tenants together; of a service that the tenant may not use: Own
	Opens       time.Time // as that of its ServiceLoad, which Blocked is, too
	Blocked     bool
	At          time.Time // as of when all this is
}

// viewServices fills in how the calls of the steps of a run go that is under way, and their declared
// services.
func (o *Orchestrator) viewServices(ctx context.Context, v *View) error {
	o.viewTries(v)
	if v.State.Ended() || !slices.ContainsFunc(v.Nodes, func(n NodeView) bool { return n.calls() != "" }) {
		return nil
	}
	list, err := o.cfg.Store.ListServices(ctx)
	if err != nil {
		return err
	}
	list = lists.Filter(list, func(x store.Service) bool { return x.Allows(v.Tenant) })
	loads := o.ServiceLoads()
	for i := range v.Nodes {
		n := &v.Nodes[i]
		name := n.calls()
		if name == "" || n.State == store.NodeDone {
			continue
		}
		load := loads[name]
		own := load.Tenants[v.Tenant]
		x := &NodeService{Name: name, Own: own, All: own, At: o.now()}
		if j := slices.IndexFunc(list, func(s store.Service) bool { return s.Name == name }); j < 0 {
			x.Wrong = n.goneService(name)
		} else {
			x.Concurrency, x.Rate = list[j].Concurrency, list[j].Rate
			x.All, x.Opens, x.Blocked = InLine{load.UnderWay, load.Waiting}, load.Opens, load.Blocked
		}
		n.Service, n.Error = x, cmp.Or(n.Error, x.Wrong)
	}
	return nil
}

// goneService says of a step of a run under way that it may not call its service any more: it could
// when the run was started. What waits goes on when it may again, and what is held does not.
func (n *NodeView) goneService(name string) string {
	gone := fmt.Sprintf("there is no service %q any more that this tenant may use", name)
	const again = "an administrator declares it again, or says again that the tenant may use it (throng service set %s)"
	held := format.Count(int(n.Faults), "item")
	switch {
	case n.Faults > 0 && n.Waiting+n.Working() == 0:
		return gone + ", and " + held + ", all that is left here, held after an error: try again or skip them once " + fmt.Sprintf(again, name)
	case n.Faults > 0:
		return gone + ": calls wait, and go on by themselves when " + fmt.Sprintf(again, name) + ", but for " + held + " held after an error"
	}
	return gone + ": calls wait, and go on by themselves when " + fmt.Sprintf(again, name)
}

// calls returns the name of the declared service that a node calls; "": none.
func (n *NodeView) calls() string {
	if n.Step == nil || n.Step.HTTP() == nil {
		return ""
	}
	return n.Step.HTTP().Name
}

// Text says how the service stands, without a word about other tenants but how many calls
// there are in all.
func (s *NodeService) Text() string {
	if s.Wrong != "" {
		return ""
	}
	text := fmt.Sprintf("service %s: %d of %s under way, %d of them this tenant's", s.Name, s.All.UnderWay, format.Count(s.Concurrency, "call"), s.Own.UnderWay)
	if s.All.Waiting > 0 {
		text += fmt.Sprintf("; %d wait, %d of them this tenant's", s.All.Waiting, s.Own.Waiting)
	}
	if rate := s.Rate.String(); rate != "" {
		text += "; at most " + rate
	}
	if s.Opens.After(s.At) {
		text += "; the next call in " + format.Duration(s.Opens.Sub(s.At))
		if s.Blocked {
			text += ", when those are over that were made before the server was started again"
		}
	}
	return text
}
