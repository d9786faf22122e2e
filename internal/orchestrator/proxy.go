package orchestrator

import (
	"cmp"
	"context"
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

// proxy is the scheduler proxy of a service (seed 002, §IV.A): requests wait in
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

// joinProxy returns the proxy of a step's service, which it makes for the first
// step, and counts the step among its users.
func (o *Orchestrator) joinProxy(s *httpRunner) *proxy {
	k := proxyKey{s.run.kept.Tenant, s.service.URL}
	p := o.proxies[k]
	if p == nil {
		expect := s.node.step.Expect
		p = &proxy{queue: sla.NewQueue(sla.ATC, expect), calls: make(map[int64]*call), users: make(map[*httpRunner]int), expect: expect}
		o.proxies[k] = p
	}
	p.users[s] = s.service.Concurrency
	return p
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

// enqueue puts a call into its proxy's queue, for the first time or again.
func (o *Orchestrator) enqueue(now time.Time, x *call) {
	if x.dropped {
		return
	}
	p := x.runner.proxy
	q := x.runner.run.proxyRequest(x.runner.node, x.born, x.since)
	q.ID = x.id
	p.calls[x.id] = x
	p.queue.Put(now, q)
}

// dispatch sends off what the services can take, the most urgent first.
func (o *Orchestrator) dispatch(ctx context.Context) {
	keys := make([]proxyKey, 0, len(o.proxies))
	for k := range o.proxies {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(x, y proxyKey) int { return cmp.Or(cmp.Compare(x.tenant, y.tenant), cmp.Compare(x.url, y.url)) })
	for _, k := range keys {
		p := o.proxies[k]
		if len(p.users) == 0 && p.underWay == 0 {
			delete(o.proxies, k)
			continue
		}
		now := o.now()
		p.queue.Advance(now)
		for p.isFree() {
			q, _, ok := p.queue.Head()
			if !ok {
				break
			}
			x := p.calls[q.ID]
			p.queue.Drop(q.ID)
			delete(p.calls, q.ID)
			if err := o.send(ctx, p, x); err != nil {
				o.cfg.Log.Error("a call cannot be made", "run", x.runner.run.kept.ID.String(), "err", err)
				o.timers.add(timer{at: now.Add(failurePause), call: x})
				break
			}
		}
	}
}

// send makes an attempt of a call.
func (o *Orchestrator) send(ctx context.Context, p *proxy, x *call) error {
	s := x.runner
	out, err := s.request(ctx, x.item)
	if err != nil {
		return err
	}
	p.underWay++
	x.attempts++
	started := o.now()
	o.cfg.Call(Attempt{Tenant: s.run.kept.Tenant, Service: s.service, Call: out, N: x.attempts, Expect: p.expect}, func(reply httpstep.Reply, err error) {
		o.deliver(func(context.Context) {
			o.endAttempt(p, outcome{call: x, cells: reply.Values, took: o.now().Sub(started)}, err)
		})
	})
	return nil
}

// endAttempt takes in how an attempt ended; err is its failure.
func (o *Orchestrator) endAttempt(p *proxy, end outcome, err error) {
	p.underWay--
	x := end.call
	if x.dropped {
		return
	}
	if err == nil {
		p.served++
		p.busy += end.took
		if response := p.response(); hasMoved(p.queue.Response(), response) {
			p.queue.SetResponse(o.now(), response)
		}
	} else if after, again := httpstep.Retry(err, x.attempts, x.runner.service, o.cfg.Rand); again {
		o.timers.add(timer{at: o.now().Add(after), call: x})
		return
	} else {
		end.err = err.Error()
	}
	x.runner.ended = append(x.runner.ended, end)
	o.markDirty(x.runner.run.kept.ID)
}
