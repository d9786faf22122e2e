package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/wire"
)

// Worker is "throng worker".
type Worker struct {
	Run     WorkerRun     `cmd:"" help:"Do tasks in the terminal."`
	Undo    WorkerUndo    `cmd:"" help:"Take back an answer before it counts."`
	Revise  WorkerRevise  `cmd:"" help:"Give another answer in place of one that counts."`
	Reports WorkerReports `cmd:"" help:"Show what you said is wrong with tasks, and what was answered."`
	Pay     WorkerPay     `cmd:"" help:"Show which of your pay awaits approval, what was refused and why."`
	Appeal  WorkerAppeal  `cmd:"" help:"Appeal against the refusal of pay."`
	Add     WorkerAdd     `cmd:"" help:"Add a worker; prints the one-time link."`
	Invite  WorkerInvite  `cmd:"" help:"Invite people by e-mail to become workers."`
	List    WorkerList    `cmd:"" help:"List the workers. For who may see all people, such as administrators."`
	Factor  WorkerFactor  `cmd:"" name:"second-factor" help:"Show the second factors of somebody, or take them away."`
	Email   WorkerEmail   `cmd:"" help:"Show or enter somebody's e-mail address, and whether it is known to be theirs."`
	Link    WorkerLink    `cmd:"" help:"Give a worker a new one-time link."`
	Open    WorkerOpen    `cmd:"" help:"Let a worker get the tasks of every tenant, or of some."`
	Qualify WorkerQualify `cmd:"" help:"Set the qualifications of a worker."`
	Suspend WorkerSuspend `cmd:"" help:"Keep somebody from signing in and working, from now on: what they hold goes to others. Tokens and unused one-time links that they made for others end, too: throng token list --all has them beforehand, in MADE BY."`
	Restore WorkerSuspend `cmd:"" help:"Lift somebody's suspension: they sign in anew, since their sessions and tokens have ended."`
	Block   WorkerBlock   `cmd:"" help:"Give a worker nothing of one tenant."`
	Unblock WorkerBlock   `cmd:"" help:"Lift a tenant's block of a worker."`
	Who     WorkerWho     `cmd:"" help:"Say who a worker of a tenant is."`

	Invitations WorkerInvitations `cmd:"" help:"List invitations, with what became of them."`
	Resend      WorkerResend      `cmd:"" help:"Send an invitation again."`
	Withdraw    WorkerWithdraw    `cmd:"" help:"Withdraw an invitation."`
}

// WorkerAdd is "throng worker add".
type WorkerAdd struct {
	Name          string   `arg:"" help:"The name that the worker signs in with."`
	Pool          string   `default:"main" help:"The pool that they work in."`
	FullName      string   `help:"The worker's full name."`
	Email         string   `help:"The worker's e-mail address."`
	Qualification []score  `sep:"none" placeholder:"NAME=SCORE" help:"What they are qualified for, from 0 to 100; may be given often."`
	Like          []liking `sep:"none" placeholder:"POOL=X" help:"How much they like a pool's work, from 0 (not at all) to 1; may be given often. They can change it."`
	Remote
}

// Run adds the worker.
func (a *WorkerAdd) Run(c *Context, r *remote) error {
	pool, err := r.pool(a.Pool)
	if err != nil {
		return err
	}
	prefers := make(map[string]float64)
	if err := r.likings(a.Like, prefers); err != nil {
		return err
	}
	made, err := r.CreateUser(c.Ctx, wire.NewUser{Name: a.Name, FullName: a.FullName, Email: a.Email, Pool: pool, Qualifications: scores(a.Qualification), Prefers: prefers})
	if crowd.CodeOf(err) == crowd.Conflict {
		skills := cmp.Or(qualifications(scores(a.Qualification)), "SKILL=SCORE")
		err = &noted{err, fmt.Sprintf("to say what they are qualified for: throng worker qualify %s %s", a.Name, skills)}
	}
	return r.printInvited(made, err)
}

// WorkerList is "throng worker list".
type WorkerList struct{ Remote }

// Run lists the workers.
func (l *WorkerList) Run(c *Context, r *remote) error {
	if err := r.seesWorkers(); err != nil {
		return err
	}
	list := []wire.User{}
	for u, err := range r.people() {
		if err != nil {
			return err
		}
		if u.Pool != 0 {
			list = append(list, u)
		}
	}
	return printTable(r, list, nil, "ID|NAME|FULL NAME|POOL|SERVES|QUALIFICATIONS|STATE", func(u wire.User) []any {
		return []any{u.ID, u.Name, u.FullName, u.Pool, cmp.Or(joined(u.Serves, crowd.TenantID.String), "all"), qualifications(u.Qualifications), suspended(u)}
	})
}

// seesWorkers refuses who has no role of the installation: they see who acts for their tenants, and
// workers by pseudonyms only, so that a list of workers would be empty without a word.
func (r *remote) seesWorkers() error {
	me, err := r.Me(r.c.Ctx)
	if err != nil {
		return err
	}
	own, err := r.User(r.c.Ctx, me.ID)
	if err != nil {
		return err
	}
	if own.Admin || slices.ContainsFunc(own.Roles, func(role string) bool { return !strings.Contains(role, "/") }) {
		return nil
	}
	return crowd.Errorf(crowd.Forbidden, "this lists workers for who may see all of them, such as an administrator; whom a tenant of yours has invited is in throng worker invitations, and who a worker of its results is says throng worker who w_… --tenant NAME")
}

func qualifications(held map[string]int) string {
	list := lists.Map(slices.Sorted(maps.Keys(held)), func(name string) string { return name + "=" + strconv.Itoa(held[name]) })
	return strings.Join(list, " ")
}

func suspended(u wire.User) string { return when(u.Suspended, "suspended") }

// aWorker is the worker that a command is about: its Run may ask for the id.
type aWorker struct {
	Name string `arg:"" help:"The worker."`
}

// ProvideWorker finds the worker.
func (x *aWorker) ProvideWorker(r *remote) (crowd.WorkerID, error) { return r.person(x.Name) }

// WorkerLink is "throng worker link".
type WorkerLink struct {
	aWorker
	Remote
}

// Run makes the link.
func (l *WorkerLink) Run(c *Context, r *remote, id crowd.WorkerID) error {
	made, err := r.SetupLink(c.Ctx, id)
	link := r.setupLink(made.Link, made.Token)
	return r.tell(map[string]string{"id": id.String(), "setup_link": link, "setup_token": made.Token}, err, "one-time link, good for seven days: %s\n", link)
}

// WorkerEmail is "throng worker email".
type WorkerEmail struct {
	aWorker
	Address  string `arg:"" optional:"" placeholder:"ADDRESS" help:"The address; it counts as verified if an administrator gives it."`
	Verified string `enum:"yes,no," default:"" placeholder:"yes|no" help:"Whether the address is known to be theirs."`
	Ask      bool   `help:"Have the server ask there, by a mail with a link, whether it is theirs."`
	Remote
}

// Run changes the address, or shows it.
func (x *WorkerEmail) Run(r *remote, id crowd.WorkerID) error {
	var edit wire.UserEdit
	if x.Address != "" {
		edit.Email = &x.Address
	}
	if x.Verified != "" {
		yes := x.Verified == "yes"
		edit.EmailVerified = &yes
	}
	if x.Ask && edit != (wire.UserEdit{}) {
		return wrong("ask", "is about the address that they have: give it alone")
	}
	var u wire.User
	var err error
	if x.Ask {
		if err := r.AskForAddress(r.c.Ctx, id); err != nil {
			return err
		}
	}
	if edit == (wire.UserEdit{}) {
		u, err = r.User(r.c.Ctx, id)
	} else {
		u, err = r.EditUser(r.c.Ctx, id, edit)
	}
	known := "verified"
	switch {
	case u.Email == "":
		known = "no address"
	case !u.EmailVerified:
		known = "not verified: nothing is sent there"
	}
	return r.tell(u, err, "%s %s: %s\n", u.ID, clean(u.Name), strings.TrimSpace(clean(u.Email)+" "+known))
}

// WorkerOpen is "throng worker open".
type WorkerOpen struct {
	aWorker
	To string `placeholder:"TENANTS" help:"Of these tenants only, separated by commas; else of all."`
	Remote
}

// Run opens the worker.
func (x *WorkerOpen) Run(c *Context, r *remote, id crowd.WorkerID) error {
	if x.To == "none" {
		return wrong("to", "name a tenant at least; to keep somebody from all tasks: throng worker suspend")
	}
	_, list, err := r.users(cmp.Or(x.To, "all"))
	if err != nil {
		return err
	}
	u, err := r.EditUser(c.Ctx, id, wire.UserEdit{Serves: &list})
	return r.tell(u, err, "%s %s gets the tasks of %s\n", u.ID, clean(u.Name), cmp.Or(joined(u.Serves, crowd.TenantID.String), "every tenant"))
}

// WorkerQualify is "throng worker qualify".
type WorkerQualify struct {
	aWorker
	Qualification []score  `arg:"" optional:"" help:"NAME=SCORE, from 0 to 100; TENANT/NAME=SCORE for a tenant's own."`
	Without       []string `placeholder:"NAME" help:"Take this qualification away."`
	Remote
}

// Run changes the qualifications.
func (q *WorkerQualify) Run(r *remote, id crowd.WorkerID) error {
	if len(q.Qualification)+len(q.Without) == 0 {
		return wrong("qualification", "say which, as in english=90")
	}
	return r.changeWorker(id, func(u wire.User) wire.UserEdit {
		held := q.edited(u.Qualifications)
		return wire.UserEdit{Qualifications: &held}
	})
}

// edited is what is held once the command is carried out.
func (q *WorkerQualify) edited(held map[string]int) map[string]int {
	out := make(map[string]int)
	maps.Copy(out, held)
	maps.Copy(out, scores(q.Qualification))
	for _, name := range q.Without {
		delete(out, name)
	}
	return out
}

// WorkerSuspend is "throng worker suspend" and "restore".
type WorkerSuspend struct {
	aWorker
	Remote
}

// Run suspends the person, who need not be a worker, or lifts the suspension.
func (s *WorkerSuspend) Run(r *remote, id crowd.WorkerID, v verb) error {
	suspend := v == "suspend"
	u, err := r.EditUser(r.c.Ctx, id, wire.UserEdit{Suspended: &suspend})
	return r.tellPerson(u, err)
}

// changeWorker sends the edit that change makes of the worker, and prints them.
func (r *remote) changeWorker(id crowd.WorkerID, change func(wire.User) wire.UserEdit) error {
	u, err := r.User(r.c.Ctx, id)
	if err != nil {
		return err
	}
	if u.Pool == 0 {
		return &noted{crowd.Errorf(crowd.NotFound, "%s is not a worker: they are in no pool", u.Name),
			"who did not pass the test of their invitation is invited again without it, and accepts with the account that they have: throng worker invite --mail " + cmp.Or(u.Email, "ADDRESS") + " --pool POOL"}
	}
	u, err = r.EditUser(r.c.Ctx, id, change(u))
	return r.tellPerson(u, err)
}

func (r *remote) tellPerson(u wire.User, err error) error {
	return r.tell(u, err, "%s\n", clean(strings.Join(strings.Fields(u.ID.String()+" "+u.Name+" "+qualifications(u.Qualifications)+" "+suspended(u)), " ")))
}

// WorkerWho is "throng worker who".
type WorkerWho struct {
	Name   string `arg:"" help:"The worker: the tenant's pseudonym, or an id or name."`
	Tenant string `required:"" help:"The tenant."`
	Remote
}

// Run says who the worker is.
func (x *WorkerWho) Run(c *Context, r *remote) error {
	tenant, err := r.tenant(x.Tenant)
	if err != nil {
		return err
	}
	id, err := r.worker(x.Name)
	if err != nil {
		return err
	}
	who, err := r.Worker(c.Ctx, tenant, id)
	return r.tell(who, err, "%s is %s %s for %s\n", who.Worker, who.WorkerID, clean(who.Name), tenant)
}

// WorkerBlock is "throng worker block" and "unblock".
type WorkerBlock struct {
	Name   string `arg:"" help:"The worker: the tenant's pseudonym, or an id or name, if you may see who workers are."`
	Tenant string `required:"" help:"The tenant."`
	Remote
}

// Run blocks the worker, or lifts the block.
func (b *WorkerBlock) Run(c *Context, r *remote, v verb) error {
	tenant, err := r.tenant(b.Tenant)
	if err != nil {
		return err
	}
	id, err := r.worker(b.Name)
	if err != nil {
		return err
	}
	blocked := v == "block"
	err = r.Block(c.Ctx, tenant, id, blocked)
	return r.tell(map[string]any{"worker": id, "tenant": tenant, "blocked": blocked}, err, "%s: %s for %s\n", id, map[bool]string{true: "blocked", false: "no longer blocked"}[blocked], tenant)
}
