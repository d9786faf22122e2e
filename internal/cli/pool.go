package cli

import (
	"io"
	"strconv"
	"strings"
)

// Pool is "throng pool".
type Pool struct {
	List   PoolList   `cmd:"" help:"List the pools."`
	Policy PoolPolicy `cmd:"" help:"Change a pool's scheduling policy, while it runs."`
}

// Help is the long help.
func (*Pool) Help() string {
	return `A pool is a set of workers on call under one scheduling policy. A new server has one, "main". Pools are named by id (p1) or by name.`
}

// PoolList is "throng pool list".
type PoolList struct{ Remote }

// Help is the long help.
func (*PoolList) Help() string {
	return `Lists the pools: their policies, and how many workers they have, work, and wait.

Example:
  throng pool list`
}

// Run lists the pools.
func (p *PoolList) Run(c *Context) error {
	r, err := p.connect(c)
	if err != nil {
		return err
	}
	list, err := r.Pools(c.Ctx)
	if err != nil {
		return err
	}
	return p.print(c, list, func(w io.Writer) {
		rows := [][]string{{"ID", "NAME", "POLICY", "WORKERS", "WORKING", "WAITING", "BATCHES", "STATE"}}
		for _, x := range list {
			state := ""
			if x.Stopped {
				state = "stopped"
			}
			rows = append(rows, []string{x.ID.String(), x.Name, x.Policy, strconv.Itoa(x.Workers), strconv.Itoa(x.Working),
				strconv.Itoa(x.Waiting), strconv.Itoa(x.Batches), state})
		}
		columns(w, rows)
	})
}

// PoolPolicy is "throng pool policy".
type PoolPolicy struct {
	Pool   string `arg:"" help:"The pool."`
	Policy string `arg:"" help:"The policy, such as dafs or tenant-fair(wfs)."`
	Remote
}

// Help is the long help.
func (*PoolPolicy) Help() string {
	return `Changes the order in which batches are served, at once; nobody loses what he holds. For admins. What a policy would do can be tried with "throng explain".

Policies: ` + strings.Join(policies(), ", ") + `

Examples:
  throng pool policy main "tenant-fair(dafs)"
  throng pool policy p1 "wcfs(wfs,k=3)"`
}

// Run changes the policy.
func (p *PoolPolicy) Run(c *Context) error {
	r, err := p.connect(c)
	if err != nil {
		return err
	}
	id, err := r.pool(p.Pool)
	if err != nil {
		return err
	}
	out, err := r.SetPolicy(c.Ctx, id, p.Policy)
	if err != nil {
		return err
	}
	return p.print(c, out, func(w io.Writer) { say(w, "%s %s: %s\n", out.ID, clean(out.Name), out.Policy) })
}
