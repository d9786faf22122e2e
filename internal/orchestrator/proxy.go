package orchestrator

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
	"github.com/throng-dev/throng/sla"
)

// proxyKey names a service: all steps that call the same address share its proxy.
type proxyKey struct {
	tenant crowd.TenantID
	url    string
}

// proxy is the scheduler proxy of a service (Khazankin et al. 2011, §IV.A): requests wait in
// it in the order of package sla, by apparent tardiness cost, and as many are under
// way as the service takes.
type proxy struct {
	queue    *sla.Queue
	calls    map[int64]*call     // that wait, by id
	users    map[*httpRunner]int // steps, and how many calls at a time each allows
	underWay int
	served   int64
	busy     time.Duration // of the calls that were served
	expect   time.Duration // for one call, until it has been observed
}

// limit is how many calls the service takes at a time: the least that a step
// allows.
func (p *proxy) limit() int {
	least := 0
	for _, n := range p.users {
		if least == 0 || n < least {
			least = n
		}
	}
	return least
}

func (p *proxy) isFree() bool { return p.underWay < p.limit() }

// response is the expected time of a call: the mean of what was observed, with
// the requester's figure counted as five observations.
func (p *proxy) response() time.Duration {
	return (5*p.expect + p.busy) / time.Duration(5+p.served)
}

// services are the proxies of all services that are called.
type services struct {
	cfg     *Config
	host    serviceHost
	proxies map[proxyKey]*proxy
	calls   int64         // made so far
	retries timers[*call] // that wait for their next try
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
	k := proxyKey{s.run.kept.Tenant, s.service.URL}
	p := v.proxies[k]
	if p == nil {
		expect := s.node.step.Expect
		p = &proxy{queue: sla.NewQueue(sla.ATC, expect), calls: make(map[int64]*call), users: make(map[*httpRunner]int), expect: expect}
		v.proxies[k] = p
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
	p := x.runner.proxy
	q := x.runner.run.proxyRequest(x.runner.node, x.born, x.since)
	q.ID = x.id
	p.calls[x.id] = x
	p.queue.Put(now, q)
}

// retry puts the calls into their queues whose next try is due.
func (v *services) retry(now time.Time) {
	for x, due := v.retries.due(now); due; x, due = v.retries.due(now) {
		v.enqueue(now, x)
	}
}

// next returns when a retry is due, or the order of a proxy changes; zero: never.
func (v *services) next() time.Time {
	at := v.retries.next()
	for _, p := range v.proxies {
		if t, ok := p.queue.NextChange(); ok && p.queue.Len() > 0 && p.isFree() {
			at = earlier(at, t)
		}
	}
	return at
}

// dispatch sends off what the services can take, the most urgent first.
func (v *services) dispatch(ctx context.Context) {
	keys := slices.SortedFunc(maps.Keys(v.proxies), func(x, y proxyKey) int {
		return cmp.Or(cmp.Compare(x.tenant, y.tenant), cmp.Compare(x.url, y.url))
	})
	for _, k := range keys {
		p := v.proxies[k]
		if len(p.users) == 0 && p.underWay == 0 {
			delete(v.proxies, k)
			continue
		}
		now := v.host.now()
		p.queue.Advance(now)
		for p.isFree() {
			q, _, ok := p.queue.Head()
			if !ok {
				break
			}
			x := p.calls[q.ID]
			p.drop(x)
			if err := v.send(ctx, p, x); err != nil {
				if ctx.Err() == nil {
					v.cfg.Log.Error("a call cannot be made", "run", x.runner.run.kept.ID.String(), "err", err)
				}
				v.retries.add(now.Add(failurePause), x)
				break
			}
		}
	}
}

// drop takes a call out of the queue.
func (p *proxy) drop(x *call) {
	p.queue.Drop(x.id)
	delete(p.calls, x.id)
}

// send makes an attempt of a call.
func (v *services) send(ctx context.Context, p *proxy, x *call) error {
	s := x.runner
	out, err := s.request(ctx, x.item)
	if err != nil {
		return err
	}
	p.underWay++
	x.attempts++
	started := v.host.now()
	v.cfg.Call(Attempt{Tenant: s.run.kept.Tenant, Service: s.service, Call: out, N: x.attempts, Expect: p.expect}, func(reply httpstep.Reply, err error) {
		v.host.deliver(func(context.Context) {
			v.endAttempt(p, outcome{call: x, cells: reply.Values, took: v.host.now().Sub(started)}, err)
		})
	})
	return nil
}

// endAttempt takes in how an attempt ended; err is its failure.
func (v *services) endAttempt(p *proxy, end outcome, err error) {
	p.underWay--
	x := end.call
	if x.dropped {
		return
	}
	if err == nil {
		p.served++
		p.busy += end.took
		if response := p.response(); hasMoved(p.queue.Response(), response) {
			p.queue.SetResponse(v.host.now(), response)
		}
	} else if after, again := httpstep.Retry(err, x.attempts, x.runner.service, v.cfg.Rand); again {
		v.retries.add(v.host.now().Add(after), x)
		return
	} else {
		end.err = err.Error()
	}
	x.runner.ended = append(x.runner.ended, end)
	v.host.markDirty(x.runner.run.kept.ID)
}
