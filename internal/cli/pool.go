package cli

import (
	"cmp"
	"io"
	"strconv"

	"github.com/throng-dev/throng/internal/wire"
)

// Pool is "throng pool".
type Pool struct {
	List     PoolList     `cmd:"" help:"List the pools."`
	Show     PoolShow     `cmd:"" help:"Show how a pool stands, and what was done to it and why."`
	Create   PoolCreate   `cmd:"" help:"Add a pool."`
	Set      PoolSet      `cmd:"" help:"Change how a pool keeps, sizes and calls its people."`
	Fund     PoolFund     `cmd:"" help:"Add to a pool's money for waiting, or take out of it."`
	Transfer PoolTransfer `cmd:"" help:"Move a worker to another pool."`
	Rules    PoolRules    `cmd:"" help:"Show, try and set the rules by which a pool grows and shrinks."`
	Actions  PoolActions  `cmd:"" help:"Show a pool's log: what was seen, decided and done, and why."`
	Policy   PoolPolicy   `cmd:"" help:"Change a pool's scheduling policy, while it runs."`
	Simulate PoolSimulate `cmd:"" help:"Run pools alone in simulation, and compare ways to control them."`
	Trace    PoolTrace    `cmd:"" help:"Generate a trace of a crowd from the moments that were published of one."`
}

// PoolList is "throng pool list".
type PoolList struct{ Remote }

// Run lists the pools.
func (p *PoolList) Run(c *Context, r *remote) error {
	list, err := r.Pools(c.Ctx)
	return printTable(r, list, err, "ID|NAME|POLICY|WORKERS|ON DUTY|COMING|C*|WORKING|WAITING|QUEUE|BATCHES|CONTROL|STATE", func(x wire.Pool) []any {
		return []any{x.ID, x.Name, x.Policy, x.Workers, x.OnDuty, x.Coming, orUnknown(x.CStar),
			x.Working, x.Waiting, x.Queue, x.Batches, cmp.Or(x.ControlledBy, "-"), poolState(x)}
	})
}

func poolState(p wire.Pool) string {
	return inWords(when(p.Called, "calls its people"), when(p.Advises, "advises only"), when(p.Stopped, "stopped"))
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
	Pool   string `arg:"" help:"The pool."`
	Policy string `arg:"" help:"The policy, such as dafs or tenant-fair(wfs)."`
	Remote
}

// Run changes the policy.
func (p *PoolPolicy) Run(c *Context, r *remote) error {
	id, err := r.pool(p.Pool)
	if err != nil {
		return err
	}
	out, err := r.SetPolicy(c.Ctx, id, p.Policy)
	return r.print(out, err, func(w io.Writer) { say(w, "%s %s: %s\n", out.ID, clean(out.Name), out.Policy) })
}
