package cli

import (
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// Worker is "throng worker".
type Worker struct {
	Run     WorkerRun     `cmd:"" help:"Do tasks in the terminal."`
	Add     WorkerAdd     `cmd:"" help:"Add a worker; prints the one-time link."`
	Invite  WorkerInvite  `cmd:"" help:"Invite people by e-mail to become workers."`
	List    WorkerList    `cmd:"" help:"List the workers."`
	Link    WorkerLink    `cmd:"" help:"Give a worker a new one-time link."`
	Qualify WorkerQualify `cmd:"" help:"Set the qualifications of a worker."`
	Suspend WorkerSuspend `cmd:"" help:"Keep a worker from signing in and working."`
	Restore WorkerRestore `cmd:"" help:"Lift a worker's suspension."`
	Block   WorkerBlock   `cmd:"" help:"Give a worker nothing of one tenant."`
	Unblock WorkerUnblock `cmd:"" help:"Lift a tenant's block of a worker."`

	Invitations WorkerInvitations `cmd:"" help:"List invitations, with what became of them."`
	Resend      WorkerResend      `cmd:"" help:"Send an invitation again."`
	Withdraw    WorkerWithdraw    `cmd:"" help:"Withdraw an invitation."`
}

// WorkerAdd is "throng worker add".
type WorkerAdd struct {
	Name          string  `arg:"" help:"The name that the worker signs in with."`
	Pool          string  `default:"main" help:"The pool that they work in."`
	FullName      string  `help:"The worker's full name."`
	Email         string  `help:"The worker's e-mail address."`
	Qualification []score `sep:"none" placeholder:"NAME=SCORE" help:"What they are qualified for, from 0 to 100; may be given often."`
	Remote
}

// Run adds the worker.
func (a *WorkerAdd) Run(c *Context) error {
	r, err := a.connect(c)
	if err != nil {
		return err
	}
	pool, err := r.pool(a.Pool)
	if err != nil {
		return err
	}
	u, secret, err := r.CreateUser(c.Ctx, wire.NewUser{Name: a.Name, FullName: a.FullName, Email: a.Email, Pool: pool, Qualifications: scores(a.Qualification)})
	if err != nil {
		return err
	}
	out := invited{u, r.link(secret), secret}
	return a.print(c, out, out.show)
}

// WorkerList is "throng worker list".
type WorkerList struct{ Remote }

// Run lists the workers.
func (l *WorkerList) Run(c *Context) error {
	r, err := l.connect(c)
	if err != nil {
		return err
	}
	list := []wire.User{}
	if err := r.people(func(u wire.User) bool {
		if u.Pool != 0 {
			list = append(list, u)
		}
		return true
	}); err != nil {
		return err
	}
	return l.print(c, list, func(w io.Writer) {
		rows := [][]string{{"ID", "NAME", "FULL NAME", "POOL", "QUALIFICATIONS", "STATE"}}
		for _, u := range list {
			rows = append(rows, []string{u.ID.String(), u.Name, u.FullName, u.Pool.String(), qualifications(u.Qualifications), suspended(u)})
		}
		columns(w, rows)
	})
}

func qualifications(held map[string]int) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(held)) {
		list = append(list, name+"="+strconv.Itoa(held[name]))
	}
	return strings.Join(list, " ")
}

func suspended(u wire.User) string {
	if u.Suspended {
		return "suspended"
	}
	return ""
}

// WorkerLink is "throng worker link".
type WorkerLink struct {
	Name string `arg:"" help:"The worker."`
	Remote
}

// Run makes the link.
func (l *WorkerLink) Run(c *Context) error {
	r, err := l.connect(c)
	if err != nil {
		return err
	}
	id, err := r.person(l.Name)
	if err != nil {
		return err
	}
	secret, err := r.SetupLink(c.Ctx, id)
	if err != nil {
		return err
	}
	link := r.link(secret)
	return l.print(c, map[string]string{"id": id.String(), "setup_link": link, "setup_token": secret}, func(w io.Writer) {
		say(w, "one-time link, good for seven days: %s\n", link)
	})
}

// WorkerQualify is "throng worker qualify".
type WorkerQualify struct {
	Name          string   `arg:"" help:"The worker."`
	Qualification []score  `arg:"" optional:"" help:"NAME=SCORE, from 0 to 100."`
	Without       []string `placeholder:"NAME" help:"Take this qualification away."`
	Remote
}

// Run changes the qualifications.
func (q *WorkerQualify) Run(c *Context) error {
	if len(q.Qualification)+len(q.Without) == 0 {
		return wrong("qualification", "say which, as in english=90")
	}
	return changeWorker(c, &q.Remote, q.Name, func(u wire.User) wire.UserEdit {
		held := maps.Clone(u.Qualifications)
		if held == nil {
			held = make(map[string]int)
		}
		maps.Copy(held, scores(q.Qualification))
		for _, name := range q.Without {
			delete(held, name)
		}
		return wire.UserEdit{Qualifications: &held}
	})
}

// WorkerSuspend is "throng worker suspend".
type WorkerSuspend struct {
	Name string `arg:"" help:"The worker."`
	Remote
}

// Run suspends the worker.
func (s *WorkerSuspend) Run(c *Context) error { return suspend(c, &s.Remote, s.Name, true) }

// WorkerRestore is "throng worker restore".
type WorkerRestore struct {
	Name string `arg:"" help:"The worker."`
	Remote
}

// Run lifts the suspension.
func (s *WorkerRestore) Run(c *Context) error { return suspend(c, &s.Remote, s.Name, false) }

func suspend(c *Context, at *Remote, name string, yes bool) error {
	return changeWorker(c, at, name, func(wire.User) wire.UserEdit { return wire.UserEdit{Suspended: &yes} })
}

// changeWorker sends the edit that change makes of the worker, and prints them.
func changeWorker(c *Context, at *Remote, name string, change func(wire.User) wire.UserEdit) error {
	r, err := at.connect(c)
	if err != nil {
		return err
	}
	id, err := r.person(name)
	if err != nil {
		return err
	}
	u, err := r.User(c.Ctx, id)
	if err != nil {
		return err
	}
	if u.Pool == 0 {
		return crowd.Errorf(crowd.NotFound, "%s is not a worker", u.Name)
	}
	if u, err = r.EditUser(c.Ctx, id, change(u)); err != nil {
		return err
	}
	return at.print(c, u, func(w io.Writer) {
		say(w, "%s\n", clean(strings.Join(strings.Fields(u.ID.String()+" "+u.Name+" "+qualifications(u.Qualifications)+" "+suspended(u)), " ")))
	})
}

// WorkerBlock is "throng worker block".
type WorkerBlock struct {
	Name   string `arg:"" help:"The worker."`
	Tenant string `required:"" help:"The tenant."`
	Remote
}

// Run blocks the worker.
func (b *WorkerBlock) Run(c *Context) error {
	return block(c, &b.Remote, b.Name, b.Tenant, true)
}

// WorkerUnblock is "throng worker unblock".
type WorkerUnblock struct {
	Name   string `arg:"" help:"The worker."`
	Tenant string `required:"" help:"The tenant."`
	Remote
}

// Run unblocks the worker.
func (b *WorkerUnblock) Run(c *Context) error {
	return block(c, &b.Remote, b.Name, b.Tenant, false)
}

func block(c *Context, at *Remote, name, tenant string, blocked bool) error {
	r, err := at.connect(c)
	if err != nil {
		return err
	}
	t, err := r.tenant(tenant)
	if err != nil {
		return err
	}
	id, err := r.person(name)
	if err != nil {
		return err
	}
	if err := r.Block(c.Ctx, t, id, blocked); err != nil {
		return err
	}
	return at.print(c, map[string]any{"worker": id, "tenant": t, "blocked": blocked}, func(w io.Writer) {
		say(w, "%s: %s for %s\n", id, map[bool]string{true: "blocked", false: "no longer blocked"}[blocked], t)
	})
}
