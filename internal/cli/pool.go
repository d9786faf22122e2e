package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// Pool is "throng pool".
type Pool struct {
	List     PoolList     `cmd:"" help:"List the pools."`
	Show     PoolShow     `cmd:"" help:"Show how a pool stands, and what was done to it and why."`
	Create   PoolCreate   `cmd:"" help:"Add a pool."`
	Set      PoolSet      `cmd:"" help:"Change how a pool keeps, sizes and calls its people."`
	Grant    PoolGrant    `cmd:"" help:"Grant a pool to a tenant: its tasks may be done there."`
	Revoke   PoolRevoke   `cmd:"" help:"Take the grant of a pool back."`
	Fund     PoolFund     `cmd:"" help:"Add to a pool's money for waiting, or take out of it."`
	Transfer PoolTransfer `cmd:"" help:"Move a worker to another pool."`
	Rules    PoolRules    `cmd:"" help:"Show, try and set the rules by which a pool grows and shrinks."`
	Queue    PoolQueue    `cmd:"" help:"Show the order in which a pool's policy takes batches now, and why."`
	Fairness PoolFairness `cmd:"" help:"Show how evenly a pool's people were spread over tenants and batches."`
	Actions  PoolActions  `cmd:"" help:"Show a pool's log: what was seen, decided and done, and why."`
	Policy   PoolPolicy   `cmd:"" help:"Change a pool's scheduling policy, while it runs."`
	Stop     PoolStop     `cmd:"" help:"Emergency stop: hand out nothing more in a pool, or in all."`
	Start    PoolStop     `cmd:"" help:"Lift the emergency stop of a pool, or of all."`
	Simulate PoolSimulate `cmd:"" help:"Run pools alone in simulation, and compare ways to control them."`
	Trace    PoolTrace    `cmd:"" help:"Generate a trace of a crowd from the moments that were published of one."`
}

// aPool is the pool that a command is about: its Run may ask for the id.
type aPool struct {
	Pool string `arg:"" help:"The pool."`
}

// ProvidePool finds the pool.
func (x *aPool) ProvidePool(r *remote) (crowd.PoolID, error) { return r.pool(x.Pool) }

// PoolList is "throng pool list".
type PoolList struct{ Remote }

// Run lists the pools.
func (p *PoolList) Run(c *Context, r *remote) error {
	list, err := r.Pools(c.Ctx)
	return printTable(r, list, err, "ID|NAME|POLICY|BELONG|ON DUTY|COMING|C*|WORKING|WAITING|QUEUE|BATCHES|CONTROL|STATE", func(x wire.Pool) []any {
		return []any{x.ID, x.Name, x.Policy, x.Belong, x.OnDuty, x.Coming, orUnknown(x.CStar),
			x.Working, x.Waiting, x.Queue, x.Batches, cmp.Or(x.ControlledBy, "-"), poolState(x)}
	})
}

func poolState(p wire.Pool) string {
	return inWords(when(p.Called, "calls its people"), when(p.Gate != nil && !val(p.Gate).Open, "gate closed"), when(p.Advises, "advises only"), when(p.Stopped, "stopped"))
}

// orUnknown writes a number that may not be known.
func orUnknown(n *int) string {
	if n == nil {
		return "?"
	}
	return strconv.Itoa(*n)
}

// PoolPolicy is "throng pool policy".
type PoolPolicy struct {
	aPool
	Policy string `arg:"" help:"The policy, such as dafs or tenant-fair(wfs)."`
	Remote
}

// Run changes the policy.
func (p *PoolPolicy) Run(c *Context, r *remote, id crowd.PoolID) error {
	out, err := r.SetPolicy(c.Ctx, id, p.Policy)
	return r.tell(out, err, "%s %s: %s\n%s", out.ID, clean(out.Name), out.Policy, poolNotes(&out))
}

// poolNotes has a line for each of a pool's settings that does nothing.
func poolNotes(p *wire.Pool) string {
	var b strings.Builder
	for _, note := range p.Notes {
		_, _ = fmt.Fprintf(&b, "note: %s\n", note) // into memory
	}
	return b.String()
}

// PoolStop is "throng pool stop" and "start".
type PoolStop struct {
	Pool string `arg:"" optional:"" help:"The pool."`
	All  bool   `help:"Every pool."`
	Remote
}

// Run stops or starts the pool, or all of them.
func (x *PoolStop) Run(c *Context, r *remote, v verb) error {
	if (x.Pool == "") != x.All {
		return wrong("pool", "say which pool, or --all of them")
	}
	stop := v == "stop"
	var id crowd.PoolID
	var err error
	if x.All {
		err = r.StopEverything(c.Ctx, stop)
	} else if id, err = r.pool(x.Pool); err == nil {
		_, err = r.EditPool(c.Ctx, id, wire.PoolEdit{Stopped: &stop})
	}
	if err != nil {
		return err
	}
	list, err := r.Pools(c.Ctx)
	list = slices.DeleteFunc(list, func(p wire.Pool) bool { return !x.All && p.ID != id })
	if err := r.print(list, err, func(w io.Writer) {
		for _, p := range list {
			say(w, "%s %s: %s\n", p.ID, clean(p.Name), stopState[p.Stopped])
		}
	}); err != nil || stop {
		return err
	}
	return r.tellStopped()
}

// stopState says whether something is under an emergency stop.
var stopState = map[bool]string{true: "stopped", false: "started"}

// tellStopped says what is still stopped after a stop was lifted: each stop is lifted
// by itself.
func (r *remote) tellStopped() error {
	pools, err := r.Pools(r.c.Ctx)
	if err != nil {
		return err
	}
	tenants, err := r.Tenants(r.c.Ctx)
	if err != nil {
		return err
	}
	for _, p := range pools {
		if p.Stopped && !r.json {
			say(r.c.Stderr, "throng: the pool %s is still stopped: throng pool start %s\n", clean(p.Name), p.ID)
		}
	}
	for _, t := range tenants {
		if t.Stopped && !r.json {
			say(r.c.Stderr, "throng: the tenant %s is still stopped: throng tenant start %s\n", clean(t.Name), t.ID)
		}
	}
	return nil
}
