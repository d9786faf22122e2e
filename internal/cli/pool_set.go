package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/pool"
)

// PoolSet is "throng pool set".
type PoolSet struct {
	aPool

	Called   *bool   `group:"keeps" negatable:"" help:"Only those work who were called and came; else whoever asks for work is on duty."`
	Silence  *span   `group:"keeps" placeholder:"DURATION" help:"Who neither works nor waits and is not heard of for so long counts as gone; 0s: nobody does."`
	Rate     *amount `group:"keeps" placeholder:"AMOUNT" help:"Pay for a minute of waiting, from the pool's money."`
	Promise  *span   `group:"keeps" placeholder:"DURATION" help:"Nobody is called whose waiting could not be paid for so long; less than a minute counts as a minute."`
	Training *int    `group:"keeps" placeholder:"N" help:"Tasks of training batches that a newcomer does before others."`

	Elasticity *string  `group:"sizes" placeholder:"TEXT" help:"How it follows the load; see above."`
	Stability  *string  `group:"sizes" placeholder:"TEXT" help:"How it replaces people who leave; see above."`
	Balance    *bool    `group:"sizes" negatable:"" help:"Idle people may move between it and other pools that balance."`
	Balancer   *string  `group:"sizes" placeholder:"TEXT" help:"How it is decided who comes to it by balance; see above. \"\": as the server's --balance."`
	Min        *int     `group:"sizes" placeholder:"N" help:"Fewest people on duty and coming."`
	Max        *int     `group:"sizes" placeholder:"N" help:"Most people on duty and coming; 0: no limit."`
	Gate       *bool    `group:"sizes" negatable:"" help:"Hand nothing out until min people are on duty, and serve at most max; see above."`
	Cooldown   *span    `group:"sizes" placeholder:"DURATION" help:"How long after growing it does not shrink, and the other way round."`
	Window     *span    `group:"sizes" placeholder:"DURATION" help:"What its estimates look back on; 0s: 5m."`
	Eta        *float64 `group:"sizes" placeholder:"X" help:"Weight of the wait against the cost in c*, between 0 and 1."`
	Salary     *float64 `group:"sizes" placeholder:"X" help:"Pay for a minute of waiting that c* takes into account."`
	WaitTarget *span    `group:"sizes" placeholder:"DURATION" help:"Let c* be the fewest people with whom a task waits no longer; 0s: eta decides."`
	Tail       *float64 `group:"sizes" placeholder:"X" help:"The share of the answers that may wait longer than the target; 0: the mean counts."`
	TaskTime   *span    `group:"sizes" placeholder:"DURATION" help:"How long one answer takes, before any was seen."`
	Advise     *bool    `group:"sizes" negatable:"" help:"Decide and log, and do nothing."`

	Ask             *float64 `group:"calls" placeholder:"X" help:"People asked for each one wanted; who answers first comes in."`
	Answer          *span    `group:"calls" placeholder:"DURATION" help:"After so long without an answer others are asked."`
	Life            *span    `group:"calls" placeholder:"DURATION" help:"How long a call stays open."`
	LeastPreference *float64 `group:"calls" placeholder:"X" help:"Call only people whose preference for it is at least so much, 0 to 1; who has stated none counts with 0.5. 0: anybody."`

	Name *string `placeholder:"TEXT" help:"Another name for the pool."`
	Remote
}

// forms lists what can be chosen.
func forms(list []pool.Form) string {
	var b strings.Builder
	for _, f := range list {
		_, _ = fmt.Fprintf(&b, "  %s: %s\n", f.Name, f.Doc) // into memory
	}
	return b.String()
}

// Run changes the pool.
func (x *PoolSet) Run(c *Context, r *remote, id crowd.PoolID) error {
	edit, err := x.edit()
	if err != nil {
		return err
	}
	out, err := r.EditPool(c.Ctx, id, edit)
	if err = asFlag(err); err != nil {
		for _, e := range crowd.ErrorsOf(err) {
			if e.Field == "rules" {
				e.Message += "; throng pool rules set " + x.Pool + " FILE gives it some, and lets them decide"
			}
		}
		return err
	}
	return x.print(c, out, func(w io.Writer) {
		p := shownPool{PoolDetail: out}
		say(w, "%s %s\n", out.ID, clean(out.Name))
		pairs(w, append([]any{"state", poolState(out.Pool)}, p.settings()...)...)
		say(w, "%s", poolNotes(&out.Pool))
		if val(out.Retainer.Rate) > 0 && out.Account.Funds == 0 {
			say(w, "the pool has no money for waiting: throng pool fund %s AMOUNT\n", out.ID)
		} else if need := out.CallFunds; need > 0 {
			say(w, "note: the money for waiting is %s\n", callFunds(out.ID, need))
		} else if need := out.GateFunds; need > 0 {
			say(w, "note: the money for waiting is %s\n", gateFunds(out.ID, need))
		}
	})
}

func (x *PoolSet) edit() (e wire.PoolEdit, err error) {
	e.Name = x.Name
	if x.Called != nil || x.Silence != nil || x.Rate != nil || x.Promise != nil || x.Training != nil {
		e.Retainer = &wire.Retainer{Called: x.Called, SilenceSeconds: x.Silence.seconds(), PromiseSeconds: x.Promise.seconds(), Training: x.Training}
		if x.Rate != nil {
			e.Retainer.Rate = &x.Rate.Money
		}
	}
	k := wire.Control{Elasticity: x.Elasticity, Stability: x.Stability, Balance: x.Balance, Balancer: x.Balancer, Min: x.Min, Max: x.Max, Gate: x.Gate,
		CooldownSeconds: x.Cooldown.seconds(), WindowSeconds: x.Window.seconds(), Advise: x.Advise, LeastPreference: x.LeastPreference}
	if x.Eta != nil || x.Salary != nil || x.WaitTarget != nil || x.Tail != nil {
		k.Target = &wire.Target{Eta: x.Eta, Salary: x.Salary, WaitSeconds: x.WaitTarget.seconds(), Tail: x.Tail}
	}
	if x.TaskTime != nil {
		k.Expect = &wire.Expect{TaskTimeSeconds: x.TaskTime.seconds()}
	}
	if k != (wire.Control{}) {
		e.Control = &k
	}
	if x.Ask != nil || x.Answer != nil || x.Life != nil {
		e.Calling = &wire.Calling{Ask: x.Ask, AnswerSeconds: x.Answer.seconds(), LifeSeconds: x.Life.seconds()}
	}
	if e == (wire.PoolEdit{}) {
		return e, wrong("pool", "say what to change, such as --rate 0.05")
	}
	return e, nil
}

// seconds is the duration in seconds, or nil if none was given.
func (d *span) seconds() *float64 {
	if d == nil {
		return nil
	}
	s := d.Seconds()
	return &s
}

// poolFlags are the flags that set what the server calls otherwise.
var poolFlags = map[string]string{
	"control.target.wait_seconds": "wait-target", "control.expect.task_time_seconds": "task-time", "retainer.rate_micros_per_minute": "rate", "control.least_preference": "least-preference",
}

// asFlag names a setting that is wrong by its flag.
func asFlag(err error) error {
	var list crowd.Errors
	if errors.As(err, &list) {
		return crowd.Errors(lists.Map(list, flagged))
	}
	var e *crowd.Error
	if !errors.As(err, &e) {
		return err
	}
	return flagged(e)
}

func flagged(e *crowd.Error) *crowd.Error {
	named := *e
	if flag, ok := poolFlags[e.Field]; ok {
		named.Field = flag
	} else {
		named.Field = strings.TrimSuffix(e.Field[strings.LastIndex(e.Field, ".")+1:], "_seconds")
	}
	return &named
}

// PoolCreate is "throng pool create".
type PoolCreate struct {
	Name   string `arg:"" help:"The pool's name."`
	Policy string `help:"The scheduling policy; default: tenant-fair(penalty(wfs))."`
	Remote
}

// Run adds the pool.
func (x *PoolCreate) Run(c *Context, r *remote) error {
	out, err := r.CreatePool(c.Ctx, x.Name, x.Policy)
	return r.tell(out, err, "%s %s: %s\n%s", out.ID, clean(out.Name), out.Policy, poolNotes(&out))
}

// PoolFund is "throng pool fund".
type PoolFund struct {
	aPool
	Amount  amount `arg:"" help:"How much, such as 50."`
	TakeOut bool   `help:"Take it out instead of adding it."`
	Remote
}

// Run moves the money.
func (x *PoolFund) Run(c *Context, r *remote, id crowd.PoolID) error {
	if x.Amount.Money <= 0 {
		return wrong("amount", "%s is not an amount (more than 0; --take-out takes it out)", x.Amount.Money)
	}
	by := x.Amount.Money
	if x.TakeOut {
		by = -by
	}
	out, err := r.FundPool(c.Ctx, id, by)
	return r.tell(out, err, "%s: %s for waiting\n", id, out.Funds)
}

// PoolTransfer is "throng pool transfer".
type PoolTransfer struct {
	Worker string `arg:"" help:"The worker."`
	To     string `arg:"" help:"The pool that they move to."`
	Remote
}

// Run moves the worker.
func (x *PoolTransfer) Run(c *Context, r *remote) error {
	to, err := r.pool(x.To)
	if err != nil {
		return err
	}
	id, err := r.person(x.Worker)
	if err != nil {
		return err
	}
	u, err := r.User(c.Ctx, id)
	if err != nil {
		return err
	}
	if u.Pool == 0 {
		return wrong("worker", "%s is not a worker", u.Name)
	}
	there, err := r.Transfer(c.Ctx, u.Pool, id, to)
	if err != nil {
		return err
	}
	out := struct {
		Worker crowd.WorkerID `json:"worker"`
		From   crowd.PoolID   `json:"from"`
		To     crowd.PoolID   `json:"to"`
		There  bool           `json:"there"`
	}{id, u.Pool, to, there}
	return x.print(c, out, func(w io.Writer) {
		if there {
			say(w, "%s %s is in %s\n", id, clean(u.Name), to)
		} else {
			say(w, "%s %s finishes what they hold, and then moves to %s\n", id, clean(u.Name), to)
		}
	})
}
