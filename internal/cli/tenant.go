package cli

import (
	"io"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/wire"
)

// Tenant is "throng tenant".
type Tenant struct {
	Add       TenantAdd       `cmd:"" help:"Add a tenant."`
	Set       TenantSet       `cmd:"" help:"Change a tenant's name, its weight and its highest priority."`
	List      TenantList      `cmd:"" help:"List tenants with their balances."`
	Invite    TenantInvite    `cmd:"" help:"Add a requester to a tenant; prints the one-time link."`
	Account   TenantAccount   `cmd:"" help:"Show the balance and the latest entries of a tenant's account, with who made them."`
	Deposit   TenantDeposit   `cmd:"" help:"Put money into a tenant's account, or take it out."`
	Quota     TenantQuota     `cmd:"" help:"Show what a tenant may have and has, or set it."`
	Retention TenantRetention `cmd:"" help:"Show for how long a tenant keeps answers, files and logs, set it, or say what is deleted when."`
	Stop      TenantStop      `cmd:"" help:"Emergency stop: hand out nothing more of a tenant."`
	Start     TenantStop      `cmd:"" help:"Lift the emergency stop of a tenant."`
}

// aTenant is the tenant that a command is about: its Run may ask for the id.
type aTenant struct {
	Tenant string `arg:"" help:"The tenant."`
}

// ProvideTenant finds the tenant.
func (x *aTenant) ProvideTenant(r *remote) (crowd.TenantID, error) { return r.tenant(x.Tenant) }

// TenantAdd is "throng tenant add".
type TenantAdd struct {
	Name    string  `arg:"" help:"The tenant's name."`
	Weight  float64 `default:"1" help:"Its share of the workers against other tenants."`
	Deposit amount  `placeholder:"AMOUNT" help:"Money to begin with."`

	MaxPriority float64 `default:"100" help:"The highest priority that its batches may be given."`
	Remote
}

// tenantView is a tenant with its money.
type tenantView struct {
	wire.Tenant
	Balance *crowd.Money `json:"balance_micros,omitempty"` // nil: not for who asks
}

// Run adds the tenant.
func (t *TenantAdd) Run(c *Context, r *remote) error {
	made, err := r.CreateTenant(c.Ctx, wire.NewTenant{Name: t.Name, Weight: &t.Weight, DepositMicros: t.Deposit.Money, MaxPriority: &t.MaxPriority})
	return r.tell(tenantView{made, &t.Deposit.Money}, err, "%s %s, balance %s\n", made.ID, clean(made.Name), t.Deposit.Money)
}

// TenantSet is "throng tenant set".
type TenantSet struct {
	aTenant
	Name   *string  `placeholder:"NAME" help:"Another name."`
	Weight *float64 `placeholder:"X" help:"Its share of the workers against other tenants."`

	MaxPriority *float64 `placeholder:"X" help:"The highest priority that its batches may be given from now on; 100 is that of a new tenant."`
	Remote
}

// Run changes the tenant.
func (t *TenantSet) Run(c *Context, r *remote, id crowd.TenantID) error {
	if t.Name == nil && t.Weight == nil && t.MaxPriority == nil {
		return wrong("tenant set", "say what to change: --name, --weight or --max-priority")
	}
	out, err := r.EditTenant(c.Ctx, id, wire.TenantEdit{Name: t.Name, Weight: t.Weight, MaxPriority: t.MaxPriority})
	return r.tell(out, err, "%s %s: weight %s, highest priority %s\n", out.ID, clean(out.Name), format.Number(out.Weight), format.Number(out.MaxPriority))
}

// TenantList is "throng tenant list".
type TenantList struct{ Remote }

// Run lists the tenants.
func (t *TenantList) Run(c *Context, r *remote) error {
	list, err := r.Tenants(c.Ctx)
	if err != nil {
		return err
	}
	views := make([]tenantView, len(list))
	for i, x := range list {
		views[i].Tenant = x
		balance, err := r.Balance(c.Ctx, x.ID)
		switch {
		case err == nil:
			views[i].Balance = &balance
		case crowd.CodeOf(err) != crowd.Forbidden: // an operator sees tenants and no money
			return err
		}
	}
	return printTable(r, views, nil, "ID|NAME|WEIGHT|HIGHEST PRIORITY|BALANCE|STATE", func(x tenantView) []any {
		balance := "-"
		if x.Balance != nil {
			balance = x.Balance.Short()
		}
		return []any{x.ID, x.Name, format.Number(x.Weight), format.Number(x.MaxPriority), balance, when(x.Stopped, "stopped")}
	})
}

// TenantInvite is "throng tenant invite".
type TenantInvite struct {
	aTenant
	Name     string `arg:"" help:"The name that the requester signs in with."`
	FullName string `help:"The requester's full name."`
	Email    string `help:"The requester's e-mail address."`
	Role     string `default:"requester" help:"Their role for the tenant, such as viewer."`
	Remote
}

// printInvited tells of a person and the link that was made for them.
func (r *remote) printInvited(u wire.MadeUser, err error) error {
	u.SetupLink = r.setupLink(u.SetupLink, u.SetupToken)
	return r.tell(u, err, "%s %s\none-time link, good for seven days: %s\n", u.ID, clean(u.Name), u.SetupLink)
}

// Run adds the requester.
func (t *TenantInvite) Run(c *Context, r *remote, id crowd.TenantID) error {
	n := wire.NewUser{Name: t.Name, FullName: t.FullName, Email: t.Email}
	if t.Role == "requester" {
		n.Tenants = []crowd.TenantID{id}
	} else {
		n.Roles = []string{heldRole(id, t.Role)}
	}
	return r.printInvited(r.CreateUser(c.Ctx, n))
}

// TenantAccount is "throng tenant account".
type TenantAccount struct {
	aTenant
	Limit  int   `default:"50" help:"How many entries at most (1 to 500)."`
	Before int64 `placeholder:"ENTRY" help:"Only entries before this one: for going on where a list ended."`
	Remote
}

// Run lists the entries.
func (t *TenantAccount) Run(c *Context, r *remote, id crowd.TenantID) error {
	if t.Limit < 1 || t.Limit > pageSize {
		return wrong("limit", "%d is not a number of entries (1 to %d)", t.Limit, pageSize)
	}
	out, err := r.TenantAccount(c.Ctx, id, t.Before, t.Limit)
	if err != nil {
		return err
	}
	if r.json {
		return r.tell(out, nil, "")
	}
	say(c.Stdout, "in the account: %s\n", out.BalanceMicros)
	by := r.authors(out.Entries)
	return printTable(r, out.Entries, nil, "ID|WHEN|WHAT|FROM|TO|AMOUNT|BY|NOTE", func(e wire.Entry) []any {
		return []any{e.ID, e.At, e.Kind, e.From, e.To, e.AmountMicros, by[e.Author], e.Note}
	})
}

// authors says who the authors of entries are: by name, if it may be seen.
func (r *remote) authors(entries []wire.Entry) map[crowd.WorkerID]string {
	by := map[crowd.WorkerID]string{0: "-"}
	for _, e := range entries {
		if by[e.Author] != "" {
			continue
		}
		by[e.Author] = e.Author.String()
		if u, err := r.User(r.c.Ctx, e.Author); err == nil {
			by[e.Author] += " " + u.Name
		}
	}
	return by
}

// TenantDeposit is "throng tenant deposit".
type TenantDeposit struct {
	aTenant
	Amount amount `arg:"" help:"How much, such as 250 or 0.05."`
	Note   string `help:"What for; it stands in the ledger."`

	TakeOut bool   `help:"Take it out instead of adding it; what batches have reserved stays."`
	Key     string `placeholder:"TEXT" help:"Do it once, however often the command is given with this key within 24 hours; default: another key each time."`
	Remote
}

// Run deposits.
func (t *TenantDeposit) Run(c *Context, r *remote, id crowd.TenantID) error {
	if t.Amount.Money <= 0 {
		return wrong("amount", "%s is not an amount (more than 0; --take-out takes it out)", t.Amount.Money)
	}
	by := t.Amount.Money
	if t.TakeOut {
		by = -by
	}
	to := r.Client
	if t.Key != "" {
		to = to.WithKey(t.Key)
	}
	if err := to.Deposit(c.Ctx, id, by, t.Note); err != nil {
		return err
	}
	balance, err := r.Balance(c.Ctx, id)
	return r.tell(map[string]any{"tenant": id, "balance_micros": balance}, err, "%s: balance %s\n", id, balance)
}

// TenantStop is "throng tenant stop" and "start".
type TenantStop struct {
	aTenant
	Remote
}

// Run stops or starts the tenant.
func (t *TenantStop) Run(c *Context, r *remote, id crowd.TenantID, v verb) error {
	stop := v == "stop"
	out, err := r.EditTenant(c.Ctx, id, wire.TenantEdit{Stopped: &stop})
	if err := r.print(out, err, func(w io.Writer) {
		say(w, "%s %s: %s\n", out.ID, clean(out.Name), stopState[out.Stopped])
	}); err != nil || stop {
		return err
	}
	return r.tellStopped()
}
