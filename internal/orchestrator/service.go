package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/jsonschema"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
	"github.com/throng-dev/throng/sla"
)

// service is what is under way at a service step.
type service struct {
	callout *workflow.Service
	proxy   *proxy
	calls   map[int64]*call // by item: taken, and not answered in the log
	over    []outcome       // not kept yet
	stale   bool            // what is kept may not be what is here: it begins so, and after a pause or a failure of the store
}

// call is an item on its way through a service.
type call struct {
	id    int64 // in the proxy's queue
	run   *run
	node  *node
	item  int64
	from  int64 // the item that it was made from, or 0
	born  time.Time
	since time.Time
	try   int  // made so far
	under bool // a try is under way
	gone  bool // the run was paused or has ended: it is not wanted
}

// outcome is how a call ended.
type outcome struct {
	call  *call
	cells []string
	err   string
	took  time.Duration
}

// proxyKey names a service: whoever calls the same address shares its line.
type proxyKey struct {
	tenant crowd.TenantID
	url    string
}

// proxy is the scheduler proxy of a service (seed 002, §IV.A): requests wait in
// it in the order of package sla, by apparent tardiness cost, and as many are under
// way as the service takes.
type proxy struct {
	queue  *sla.Queue
	calls  map[int64]*call // that wait, by id
	users  map[*node]int   // steps, and how many calls at a time each allows
	under  int
	served int64
	busy   time.Duration
	expect time.Duration // until it has been observed
}

// maxCalls is how many items of a step have been taken and not answered, at most.
const maxCalls = 150_000

// limit is how many calls the service takes at a time: of those who say
// different things, the least.
func (p *proxy) limit() int {
	least := 0
	for _, n := range p.users {
		if least == 0 || n < least {
			least = n
		}
	}
	return least
}

func (p *proxy) free() bool { return p.under < p.limit() }

// response is the expected time of a call: the mean of what was observed, with
// the requester's figure counted as five observations.
func (p *proxy) response() time.Duration {
	return (5*p.expect + p.busy) / time.Duration(5+p.served)
}

func (r *run) newService(n *node) *service {
	s := n.step.Service()
	k := proxyKey{r.kept.Tenant, s.URL}
	p := r.c.proxies[k]
	if p == nil {
		expect := cmp.Or(n.step.Expect, time.Second)
		p = &proxy{queue: sla.NewQueue(sla.ATC, expect), calls: make(map[int64]*call), users: make(map[*node]int), expect: expect}
		r.c.proxies[k] = p
	}
	p.users[n] = max(s.Concurrency, 1)
	return &service{
		proxy: p, calls: make(map[int64]*call), stale: true,
		callout: s,
	}
}

// reload finds the items that were taken and not answered, after a restart or a
// pause.
func (r *run) reload(ctx context.Context, n *node) error {
	held := make(map[int64]bool)
	for after := int64(0); ; {
		list, err := r.c.cfg.Store.Faults(ctx, r.kept.ID, n.Node.Node, after, chunk)
		if err != nil {
			return err
		}
		for _, f := range list {
			held[f.Item], after = true, f.Item
		}
		if len(list) < chunk {
			break
		}
	}
	for _, i := range n.joined {
		for after := int64(0); after < n.Cursors[i]; {
			rows, err := r.c.cfg.Store.Pending(ctx, r.kept.ID, n.step.From[i].Node, after, n.Cursors[i], n.Node.Node, chunk)
			if err != nil {
				return err
			}
			for _, row := range rows {
				after = row.N
				if held[row.Item] || n.call.calls[row.Item] != nil {
					continue
				}
				if a, ok, err := r.arrivalOf(ctx, n, row.Item); err != nil {
					return err
				} else if ok && a.state == store.RowOK {
					r.ask(n, &a, row.At)
				}
			}
			if len(rows) < chunk {
				break
			}
		}
	}
	return nil
}

// arrivalOf finds what an item has brought to a step; false if it has not come
// through all of its sources yet.
func (r *run) arrivalOf(ctx context.Context, n *node, item int64) (arrival, bool, error) {
	rows, err := r.c.cfg.Store.ItemRows(ctx, r.kept.ID, item)
	if err != nil {
		return arrival{}, false, err
	}
	by := make(map[int]store.Row)
	for _, row := range rows {
		if row.Item == item {
			by[row.Node] = row
		}
	}
	i := -1
	for _, j := range n.joined {
		row, ok := by[n.step.From[j].Node]
		if !ok || row.N > n.Cursors[j] {
			return arrival{}, false, nil
		}
		i = j
	}
	return r.arrive(n, i, &store.JoinedRow{Row: by[n.step.From[i].Node], With: by}), true, nil
}

// ask puts an item's call in line.
func (r *run) ask(n *node, a *arrival, since time.Time) {
	r.c.calls++
	x := &call{id: r.c.calls, run: r, node: n, item: a.item, from: a.origin, born: a.born, since: since}
	n.call.calls[a.item] = x
	r.c.enqueue(r.c.now(), x)
}

// enqueue puts a call in its service's line, for the first time or again.
func (c *Orchestrator) enqueue(now time.Time, x *call) {
	if x.gone {
		return
	}
	p := x.node.call.proxy
	q := x.run.request(x.node, x.born, x.since)
	q.ID = x.id
	p.calls[x.id] = x
	p.queue.Put(now, q)
}

// dispatch sends off what the services can take, the most urgent first.
func (c *Orchestrator) dispatch(ctx context.Context) {
	keys := make([]proxyKey, 0, len(c.proxies))
	for k := range c.proxies {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(x, y proxyKey) int { return cmp.Or(cmp.Compare(x.tenant, y.tenant), cmp.Compare(x.url, y.url)) })
	for _, k := range keys {
		p := c.proxies[k]
		if len(p.users) == 0 && p.under == 0 {
			delete(c.proxies, k)
			continue
		}
		now := c.now()
		p.queue.Advance(now)
		for p.free() {
			q, _, ok := p.queue.Head()
			if !ok {
				break
			}
			x := p.calls[q.ID]
			p.queue.Drop(q.ID)
			delete(p.calls, q.ID)
			if err := c.send(ctx, p, x); err != nil {
				c.cfg.Log.Error("a call cannot be made", "run", x.run.kept.ID.String(), "err", err)
				c.later.add(entry{at: now.Add(failurePause), call: x})
				break
			}
		}
	}
}

// send makes a try of a call.
func (c *Orchestrator) send(ctx context.Context, p *proxy, x *call) error {
	r, n := x.run, x.node
	a, ok, err := r.arrivalOf(ctx, n, x.item)
	if err != nil {
		return err
	}
	if !ok || a.state != store.RowOK {
		return fmt.Errorf("item %d has not come to %s", x.item, n.Name)
	}
	out := httpstep.Call{Key: fmt.Sprintf("%s-%s-%d", r.kept.ID, n.Name, x.item)}
	for i, col := range n.in {
		if n.call.callout.Send == nil || slices.Contains(n.call.callout.Send, col.Name) {
			out.Fields = append(out.Fields, httpstep.Field{Name: col.Name, Value: a.cells[i], Kind: jsonschema.Kind(col.Type)})
		}
	}
	p.under++
	x.try++
	x.under = true
	started := c.now()
	c.cfg.Call(Attempt{Tenant: r.kept.Tenant, Service: n.call.callout, Call: out, N: x.try, Expect: p.expect}, func(reply httpstep.Reply, err error) {
		c.post(func(context.Context) { c.answered(p, x, reply, err, c.now().Sub(started)) })
	})
	return nil
}

// answered takes in how a try ended.
func (c *Orchestrator) answered(p *proxy, x *call, reply httpstep.Reply, err error, took time.Duration) {
	p.under--
	x.under = false
	if x.gone {
		return
	}
	n := x.node
	if err == nil {
		p.served++
		p.busy += took
		if response := p.response(); moved(p.queue.Response(), response) {
			p.queue.SetResponse(c.now(), response)
		}
		n.call.over = append(n.call.over, outcome{call: x, cells: reply.Values, took: took})
	} else if after, again := httpstep.Retry(err, x.try, n.call.callout, c.cfg.Rand); again {
		c.later.add(entry{at: c.now().Add(after), call: x})
		return
	} else {
		n.call.over = append(n.call.over, outcome{call: x, err: err.Error()})
	}
	c.touch(x.run.kept.ID)
}

// moved says whether a figure has changed by more than a tenth.
func moved(from, to time.Duration) bool { return to > from+from/10 || to < from-from/10 }

// serve moves a service step on.
func (r *run) serve(ctx context.Context, n *node) (again bool, err error) {
	if n.call.stale {
		n.leave()
		n.call = r.newService(n)
		if err := r.reload(ctx, n); err != nil {
			return false, err
		}
		n.call.stale = false
	}
	defer func() { n.call.stale = n.call.stale || err != nil }()
	now := r.c.now()
	if len(n.call.over) > 0 {
		if err := r.record(ctx, n, now); err != nil {
			return false, err
		}
	}
	t := taking{}
	if len(n.call.calls) < maxCalls {
		if t, err = r.take(ctx, n); err != nil {
			return false, err
		}
	}
	if t.moved {
		todo, rows, faults := r.sift(n, &t, now)
		n.took(&t)
		if err := r.advance(ctx, &store.Advance{Run: r.kept.ID, Rows: rows, Hold: faults}, n); err != nil {
			return false, err
		}
		for i := range todo {
			r.ask(n, &todo[i], now)
		}
	}
	if !t.more && len(n.call.calls) == 0 && r.ended(n) {
		return false, r.done(ctx, n)
	}
	return t.more, nil
}

// record keeps how calls ended.
func (r *run) record(ctx context.Context, n *node, now time.Time) error {
	a := store.Advance{Run: r.kept.ID}
	before := n.Node
	for _, o := range n.call.over {
		x := arrival{item: o.call.item, origin: o.call.from, born: o.call.born}
		if o.err != "" {
			r.fault(n, &x, now, o.call.try, o.err, &a.Rows, &a.Hold)
			continue
		}
		n.Served++
		n.Busy += o.took
		a.Rows = append(a.Rows, x.row(n, now, store.RowOK, o.cells))
	}
	if err := r.advance(ctx, &a, n); err != nil {
		n.Node = before
		return err
	}
	for _, o := range n.call.over {
		delete(n.call.calls, o.call.item)
	}
	n.call.over = nil
	n.expect = n.call.proxy.response()
	return nil
}

// leave takes a step's calls out of line: the run is paused or has ended.
func (n *node) leave() {
	for item, x := range n.call.calls {
		x.gone = true
		n.call.proxy.queue.Drop(x.id)
		delete(n.call.proxy.calls, x.id)
		delete(n.call.calls, item)
	}
	n.call.over, n.call.stale = nil, true
	delete(n.call.proxy.users, n)
}
