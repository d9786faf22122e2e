package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/wire"
)

// Duty is "throng duty".
type Duty struct {
	Status  DutyStatus  `cmd:"" help:"Say whether you are on duty, whose you are, and whether you are called."`
	On      DutyOn      `cmd:"" help:"Come on duty."`
	Off     DutyOff     `cmd:"" help:"Go off duty."`
	Decline DutyDecline `cmd:"" help:"Say that you do not come this time."`
	Wish    DutyWish    `cmd:"" help:"Say which pools you like, and whether you are called."`
}

// DutyStatus is "throng duty status".
type DutyStatus struct {
	Watch bool `help:"Say it again at every change, until interrupted."`
	Until bool `help:"With --watch: stop as soon as you are on duty or may come."`
	Remote
}

// watchWait is how long one request waits for a change.
const watchWait = 50 * time.Second

// Run says it.
func (x *DutyStatus) Run(c *Context, r *remote) error {
	d, err := r.Duty(c.Ctx, "", 0)
	if err != nil || !x.Watch {
		return r.printDuty(d, err)
	}
	ctx, stop := c.untilSignal()
	defer stop()
	away := c.outage()
	away.reached = true
	for told := ""; ; {
		if d.Seen != told {
			told = d.Seen
			if x.JSON {
				err = line(c.Stdout, d)
			} else {
				err = r.printDuty(d, nil)
			}
			if err != nil {
				return err
			}
		}
		if x.Until && (d.On || d.Place) {
			return nil
		}
		if err = away.ask(ctx, func() (err error) {
			d, err = r.Duty(ctx, told, watchWait)
			return err
		}); err != nil {
			if ctx.Err() != nil && c.Ctx.Err() == nil {
				return nil // interrupted: that is how it ends
			}
			return err
		}
		if d.Seen == told { // nothing new, or the server closes: nobody asks without end
			select {
			case <-time.After(leastEvery):
			case <-ctx.Done():
				return nil // interrupted
			}
		}
	}
}

// showDuty says it in words.
func showDuty(w io.Writer, d wire.Duty) {
	where := clean(d.PoolName)
	switch {
	case d.On && d.Leaves != "":
		say(w, "on duty in %s until you have finished what you hold (%s)\n", where, d.Leaves)
	case d.On && d.Outside > 0:
		say(w, "outside in %s since %s\n", where, stamp(d.Since))
	case d.On:
		say(w, "on duty in %s since %s\n", where, stamp(d.Since))
	case d.Called != nil:
		say(w, "%s calls you, until %s: throng duty on, or throng duty decline\n", where, stamp(d.Called.EndsAt))
	case d.Place && d.CallsOnly:
		say(w, "off duty; %s needs people: throng duty on\n", where)
	case d.Unliked != "":
		say(w, "off duty; %s: throng duty wish --like %s=X\n", clean(d.Unliked), d.Pool)
	case d.CallsOnly:
		say(w, "off duty; %s calls you when there is work\n", where)
	default:
		say(w, "off duty; anybody may come to %s: throng worker run\n", where)
	}
	if d.Gate != "" {
		say(w, "%s\n", d.Gate)
	}
	if l := d.Lent; l != nil {
		say(w, "lent by %s since %s; you return when it has work for you, or you go off duty\n", clean(l.HomeName), stamp(l.Since))
		if d.Rate == 0 && d.Outside == 0 && !d.Unpaid { // else the gate says it
			say(w, "waiting pays nothing here\n")
		}
	}
	switch {
	case d.Unpaid && d.Outside == 0:
		say(w, "waiting is not paid now: the pool's money for it is used up%s\n", when(d.On && d.Earned > 0, "; earned so far: "+d.Earned.Short()))
	case d.On && d.Outside > 0 && d.Earned > 0:
		say(w, "earned so far by waiting inside: %s\n", d.Earned.Short())
	case d.On && d.Outside == 0 && d.Rate > 0:
		say(w, "waiting pays %s a minute; earned so far: %s\n", d.Rate, d.Earned.Short())
	}
	if d.Training > 0 {
		say(w, "%s to do before others\n", format.Count(d.Training, "training task"))
	}
}

// DutyOn is "throng duty on".
type DutyOn struct{ Remote }

// Run comes on duty.
func (x *DutyOn) Run(c *Context, r *remote) error { return r.printDuty(r.StartDuty(c.Ctx)) }

// DutyOff is "throng duty off".
type DutyOff struct{ Remote }

// Run goes off duty.
func (x *DutyOff) Run(c *Context, r *remote) error { return r.printDuty(r.EndDuty(c.Ctx)) }

func (r *remote) printDuty(d wire.Duty, err error) error {
	return r.print(d, err, func(w io.Writer) { showDuty(w, d) })
}

// DutyDecline is "throng duty decline".
type DutyDecline struct{ Remote }

// Run declines.
func (x *DutyDecline) Run(c *Context, r *remote) error {
	err := r.DeclineCall(c.Ctx)
	return r.tell(map[string]bool{"declined": true}, err, "declined; somebody else is asked\n")
}

// DutyWish is "throng duty wish".
type DutyWish struct {
	Like []liking `sep:"none" placeholder:"POOL=X" help:"How much you like a pool's work, from 0 (not at all) to 1; may be given often."`
	Away *bool    `negatable:"" help:"You are not called at all."`
	Mail *bool    `negatable:"" help:"You are called by e-mail, too."`
	Remote
}

// liking is a pool and how much it is liked.
type liking struct {
	pool string
	x    float64
}

func (l *liking) UnmarshalText(text []byte) error {
	at := strings.LastIndexByte(string(text), '=')
	if at > 0 {
		var err error
		l.pool = string(text[:at])
		if l.x, err = yamlfile.Number(string(text[at+1:])); err == nil && l.x >= 0 && l.x <= 1 {
			return nil
		}
	}
	return crowd.Errorf(crowd.Invalid, "%q is not a pool with how much you like it (like main=0.9, from 0 to 1)", text)
}

// likings puts what is said of pools into preferences by their ids.
func (r *remote) likings(list []liking, prefers map[string]float64) error {
	for _, l := range list {
		id, err := r.pool(l.pool)
		if err != nil {
			return err
		}
		prefers[id.String()] = l.x
	}
	return nil
}

// Run changes or shows the wishes.
func (x *DutyWish) Run(c *Context, r *remote) error {
	wishes, err := r.Wishes(c.Ctx)
	if err != nil {
		return err
	}
	if len(x.Like) > 0 || x.Away != nil || x.Mail != nil {
		if wishes.Prefers == nil {
			wishes.Prefers = make(map[string]float64)
		}
		if err := r.likings(x.Like, wishes.Prefers); err != nil {
			return err
		}
		if x.Away != nil {
			wishes.Away = *x.Away
		}
		if x.Mail != nil {
			wishes.NoMail = !*x.Mail
		}
		if wishes, err = r.SetWishes(c.Ctx, wishes.Wishes); err != nil {
			return err
		}
	}
	return x.print(c, wishes, func(w io.Writer) {
		called := "when there is work" + when(wishes.NoMail, ", but not by e-mail")
		if wishes.Away {
			called = "never"
		}
		say(w, "called: %s\n", called)
		list := lists.Map(slices.Sorted(maps.Keys(wishes.Prefers)), func(id string) string {
			name := id
			for _, p := range wishes.Pools {
				if p.ID.String() == id {
					name = p.Name
				}
			}
			return fmt.Sprintf("%s=%g", name, wishes.Prefers[id])
		})
		if len(list) > 0 {
			say(w, "likes: %s\n", strings.Join(list, " "))
		}
		say(w, "pools: %s\n", strings.Join(lists.Map(wishes.Pools, func(p wire.NamedPool) string { return fmt.Sprintf("%s (%s)", p.Name, p.ID) }), ", "))
		if wishes.Asks {
			say(w, "note: you have not said how you like their work, from 0 to 1: throng duty wish --like %s=0.8\n", wishes.Pools[0].ID)
		}
	})
}
