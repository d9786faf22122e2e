package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
	"github.com/throng-dev/throng/sla"
)

// proxyKey names a service: all steps that call it share its proxy. A service that is
// declared is one for all tenants; an address that steps give themselves is one for each.
type proxyKey struct {
	declared string // its name, or "":
	tenant   crowd.TenantID
	url      string
}

func (k proxyKey) compare(x proxyKey) int {
	return cmp.Or(cmp.Compare(k.declared, x.declared), cmp.Compare(k.tenant, x.tenant), cmp.Compare(k.url, x.url))
}

// proxy is the scheduler proxy of a service (Khazankin et al. 2011, §IV.A): requests wait in
// it in the order of package sla, by apparent tardiness cost, and as many are under
// way as the service takes.
type proxy struct {
	key      proxyKey
	lines    []*line             // of the tenants that call it, in order of tenant
	users    map[*httpRunner]int // steps, and how many calls at a time each allows; 0: as the service is declared
	underWay int
	begun    int64 // calls, as a clock for line.last
	served   int64
	busy     time.Duration // of the calls that were served
	expect   time.Duration // for one call, until it has been observed
	inForce  time.Duration // the response time by which all lines are ordered
	look     time.Duration // how far ahead they weigh what calls cost against when it is due
	ends     time.Time     // when the calls under way are over at the latest; of a declared service
	pause    time.Time     // after a failure of the store: nothing is sent until then
}

// line is what waits in a proxy for one tenant.
type line struct {
	tenant   crowd.TenantID
	queue    *sla.Queue
	calls    map[int64]*call // by id
	underWay int
	last     int64 // when its last call began, by proxy.begun
}

// limit is how many calls a service that is not declared takes at a time: the least that
// a step allows.
func (p *proxy) limit() int {
	least := 0
	for _, n := range p.users {
		if least == 0 || n < least {
			least = n
		}
	}
	return least
}

// longest is the longest timeout of the steps that call the service; if none does any more,
// that which any may have.
func (p *proxy) longest() (most time.Duration) {
	for s := range p.users {
		most = max(most, s.service.Timeout)
	}
	return cmp.Or(most, workflow.MaxTimeout)
}

// response is the expected time of a call: the mean of what was observed, with
// the requester's figure counted as five observations.
func (p *proxy) response() time.Duration {
	return (5*p.expect + p.busy) / time.Duration(5+p.served)
}

// remembered is for how many calls at most what a service has shown counts when nobody has
// called it for a time: it may have changed. It is twenty times what is expected counts for, so
// that what was observed decides, and as many new calls weigh as much.
const remembered = 100

// forgetSome has what was observed count as so many calls at most.
func (p *proxy) forgetSome() {
	if p.served > remembered {
		p.busy = p.busy / time.Duration(p.served) * remembered
		p.served = remembered
	}
}

// line returns that of a tenant, which it makes for the first call.
func (p *proxy) line(tenant crowd.TenantID) *line {
	i, found := slices.BinarySearchFunc(p.lines, tenant, func(l *line, t crowd.TenantID) int { return cmp.Compare(l.tenant, t) })
	if !found {
		l := &line{tenant: tenant, queue: sla.NewQueue(sla.ATC, p.inForce), calls: make(map[int64]*call)}
		p.lines = slices.Insert(p.lines, i, l)
	}
	return p.lines[i]
}

// first returns the line whose first call is the most urgent of those of the tenants that
// may call; nil: none waits. Among equals, and those are all calls for which nothing is at
// stake, tenants take turns: the one with the fewest calls under way, then the one
// whose last call began the longest ago.
func (p *proxy) first(now time.Time, may func(crowd.TenantID) bool) *line {
	var best *line
	var soonest time.Time // the urgency of best's call
	for _, l := range p.lines {
		l.queue.Advance(now)
		if l.queue.Len() == 0 || !may(l.tenant) {
			continue
		}
		urgency := nothingAtStake
		if step, ok := l.queue.HeadStep(); ok {
			urgency = step.Urgency(p.look)
		}
		if best == nil || cmp.Or(urgency.Compare(soonest), cmp.Compare(l.underWay, best.underWay), cmp.Compare(l.last, best.last)) < 0 {
			best, soonest = l, urgency
		}
	}
	return best
}

// nothingAtStake is the urgency of a call of which no delay costs anything: it comes after
// all others.
var nothingAtStake = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// services are the proxies of all services that are called.
type services struct {
	cfg      *Config
	host     serviceHost
	proxies  map[proxyKey]*proxy
	declared declaredServices
	calls    int64         // made so far
	retries  timers[*call] // that wait for their next try
}

// serviceHost is what services need of the orchestrator.
type serviceHost interface {
	now() time.Time
	deliver(f func(context.Context)) // has the next Step call f under the lock
	markDirty(id crowd.RunID)        // has the next Step advance a run
}

// join returns the proxy of a step's service, which it makes for the first step, and
// counts the step among its users.
func (v *services) join(s *httpRunner) *proxy {
	k := proxyKey{declared: s.service.Name}
	if k.declared == "" {
		k.tenant, k.url = s.run.kept.Tenant, s.service.URL
	}
	p := v.proxies[k]
	if p == nil {
		p = &proxy{key: k, users: make(map[*httpRunner]int), expect: s.node.step.Expect, inForce: s.node.step.Expect}
		v.proxies[k] = p
	} else if len(p.users) == 0 { // nobody has called it for a time
		p.forgetSome()
		p.expect = s.node.step.Expect
		v.orderBy(p, p.response())
	}
	p.users[s] = s.service.Concurrency
	return p
}

// add puts a new call into its proxy's queue.
func (v *services) add(x *call) {
	v.calls++
	x.id = v.calls
	v.enqueue(v.host.now(), x)
}

// enqueue puts a call into its proxy's queue, for the first time or again.
func (v *services) enqueue(now time.Time, x *call) {
	if x.dropped {
		return
	}
	l := x.line()
	q := x.runner.run.proxyRequest(x)
	q.ID = x.id
	l.calls[x.id] = x
	l.queue.Put(now, q)
}

// line is where a call waits.
func (x *call) line() *line { return x.runner.proxy.line(x.runner.run.kept.Tenant) }

// retry puts the calls into their queues whose next try is due.
func (v *services) retry(now time.Time) {
	for x, due := v.retries.due(now); due; x, due = v.retries.due(now) {
		x.again = time.Time{}
		v.enqueue(now, x)
	}
}

// next returns when a retry is due, or a service takes the next of the calls that wait for
// it; zero: never.
func (v *services) next() time.Time {
	at := nextOf(v.retries.next(), v.declared.retryAt)
	for _, p := range v.proxies {
		if opens, ok := v.opens(p); ok && slices.ContainsFunc(p.lines, func(l *line) bool { return l.queue.Len() > 0 && v.may(p, l.tenant) }) {
			at = nextOf(at, opens)
		}
	}
	return at
}

// opens returns when a service takes its next call, which may be past; ok is false if that
// depends on something else than time.
func (v *services) opens(p *proxy) (at time.Time, ok bool) {
	if p.key.declared == "" {
		return p.pause, p.underWay < p.limit()
	}
	c := v.declared.services[p.key.declared]
	if c == nil || p.underWay >= c.Concurrency {
		return time.Time{}, false
	}
	return instant.Later(c.opens(), p.pause), true
}

// may reports whether the service of a proxy takes calls of a tenant.
func (v *services) may(p *proxy, tenant crowd.TenantID) bool {
	if p.key.declared == "" {
		return true
	}
	c := v.declared.services[p.key.declared]
	return c != nil && c.Allows(tenant)
}

// orderBy has a proxy order its calls by a response time.
func (v *services) orderBy(p *proxy, response time.Duration) {
	p.inForce = response
	for _, l := range p.lines {
		l.queue.SetResponse(v.host.now(), response)
	}
}

// lookCalls says how far ahead a proxy looks: as long as its service needs for so many calls,
// the middle of what the policy penalty looks ahead between batches.
const lookCalls = 6

// lookAhead has a proxy weigh calls that are promised different things over the time in
// which its service takes some of them. One response time is too little where many wait:
// whoever is due next would go first, whatever it costs that others come too late.
func (v *services) lookAhead(p *proxy) {
	concurrency, gap := p.limit(), time.Duration(0)
	if c := v.declared.services[p.key.declared]; c != nil {
		concurrency, gap = c.Concurrency, c.Rate.Gap()
	}
	p.look = max(p.inForce, lookCalls*max(p.inForce/time.Duration(max(concurrency, 1)), gap))
	for _, l := range p.lines {
		if l.queue.Look() != p.look {
			l.queue.SetLook(v.host.now(), p.look)
		}
	}
}

// dispatch sends off what the services can take, the most urgent first.
func (v *services) dispatch(ctx context.Context) {
	v.followClock(ctx)
	v.loadDeclared(ctx)
	for _, k := range slices.SortedFunc(maps.Keys(v.proxies), proxyKey.compare) {
		p := v.proxies[k]
		if len(p.users) == 0 && p.underWay == 0 && v.declared.services[k.declared] == nil { // of others it is kept how long calls take
			delete(v.proxies, k)
			continue
		}
		v.lookAhead(p)
		now := v.host.now()
		for {
			if at, ok := v.opens(p); !ok || at.After(now) {
				break
			}
			l := p.first(now, func(t crowd.TenantID) bool { return v.may(p, t) })
			if l == nil {
				break
			}
			q, _, _ := l.queue.Head()
			x := l.calls[q.ID]
			l.drop(x)
			err := v.send(ctx, p, x)
			x.runner.noteSent(err)
			if err != nil {
				v.retries.add(now.Add(failurePause), x)
				if ctx.Err() == nil {
					v.cfg.Log.Error("a call cannot be made", "run", x.runner.run.kept.ID.String(), "err", err)
				}
				p.pause = now.Add(failurePause)
				break
			}
		}
	}
}

// drop takes a call out of the queue.
func (l *line) drop(x *call) {
	l.queue.Drop(x.id)
	delete(l.calls, x.id)
}

// send makes an attempt of a call.
func (v *services) send(ctx context.Context, p *proxy, x *call) error {
	s := x.runner
	out, err := s.request(ctx, x.item)
	if err != nil {
		return err
	}
	spec := s.service
	if spec.Name != "" {
		address := v.declared.services[spec.Name].URL
		if spec, err = spec.Below(address); err != nil {
			return err
		}
		if out.Origin, err = s.run.origin(ctx, spec.Name, address); err != nil {
			return err
		}
	}
	if err := v.reserve(ctx, p, x); err != nil {
		return err
	}
	l := x.line()
	p.begun++
	p.underWay++
	l.underWay++
	l.last = p.begun
	x.attempts++
	started, begun := v.host.now(), p.begun
	x.started = started
	v.cfg.Call(Attempt{Tenant: l.tenant, Step: s.node.Name, Service: spec, Call: out, N: x.attempts, Expect: p.expect}, func(reply httpstep.Reply, err error) {
		v.host.deliver(func(context.Context) {
			l.underWay--
			if f := (*httpstep.Failure)(nil); errors.As(err, &f) && f.Unsent() && p.begun == begun {
				v.uncalled(p, started)
			}
			v.endAttempt(p, outcome{call: x, cells: reply.Values, took: v.host.now().Sub(started)}, err)
		})
	})
	return nil
}

// endAttempt takes in how an attempt ended; err is its failure.
func (v *services) endAttempt(p *proxy, end outcome, err error) {
	p.underWay--
	x := end.call
	x.started = time.Time{}
	if x.dropped {
		return
	}
	if err == nil {
		x.runner.failing = failing{}
		p.served++
		p.busy += end.took
		if response := p.response(); hasMoved(p.inForce, response) {
			v.orderBy(p, response)
		}
	} else if after, again := httpstep.Retry(err, x.attempts, x.runner.service, v.cfg.Rand); again {
		x.runner.failing.failed(err, true, false)
		x.again = v.host.now().Add(after)
		v.retries.add(x.again, x)
		return
	} else {
		x.runner.failing.failed(err, false, x.attempts >= x.runner.service.Tries)
		end.err = err.Error()
	}
	x.runner.ended = append(x.runner.ended, end)
	v.host.markDirty(x.runner.run.kept.ID)
}
