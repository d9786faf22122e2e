package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/wire"
)

// PoolShow is "throng pool show".
type PoolShow struct {
	aPool
	People bool `help:"List its people, too."`
	Last   int  `default:"5" help:"How many of the latest actions to show."`
	Watch  bool `help:"Show it again at every change, until interrupted."`
	Every  span `default:"2s" help:"With --watch: how often to look."`
	Remote
}

// shownPool is what is shown of a pool.
type shownPool struct {
	wire.PoolDetail
	Calls   []wire.PoolCall   `json:"calls"`
	Actions []wire.PoolAction `json:"actions"`
	People  []wire.PoolPerson `json:"people,omitempty"`
}

// Run shows the pool.
func (x *PoolShow) Run(c *Context, r *remote, id crowd.PoolID) error {
	if x.Last < 0 || x.Last > 1000 {
		return wrong("last", "%d is not a number of actions (0 to 1000)", x.Last)
	}
	told := ""
	away := c.outage()
	return every(c.Ctx, x.Every, func() (done bool, err error) {
		p, err := x.look(c, r, id)
		switch {
		case away.again(err):
			return false, nil
		case err != nil:
			return false, err
		}
		var b strings.Builder
		p.show(&b)
		switch {
		case !x.Watch:
			return true, x.print(c, p, p.show)
		case b.String() == told:
		case x.JSON:
			err = line(c.Stdout, p)
		default:
			say(c.Stdout, "── %s ──\n%s\n", now().Local().Format(time.TimeOnly), b.String())
		}
		told = b.String()
		return false, err
	})
}

func (x *PoolShow) look(c *Context, r *remote, id crowd.PoolID) (p shownPool, err error) {
	if p.PoolDetail, err = r.PoolDetail(c.Ctx, id); err != nil {
		return p, err
	}
	if p.Calls, err = r.PoolCalls(c.Ctx, id); err != nil {
		return p, err
	}
	p.Actions = []wire.PoolAction{}
	if x.Last > 0 {
		if p.Actions, err = r.PoolActions(c.Ctx, id, 0, x.Last); err != nil {
			return p, err
		}
	}
	if x.People {
		p.People, err = r.PoolPeople(c.Ctx, id)
	}
	return p, err
}

func (p shownPool) show(w io.Writer) {
	say(w, "%s %s, %s\n", p.ID, clean(p.Name), p.Policy)
	if state := poolState(p.Pool); state != "" {
		say(w, "%s\n", state)
	}
	pairs(w, append(p.figures(), p.settings()...)...)
	if d := p.Decision; d != nil && len(d.Why) > 0 {
		say(w, "\nnow:\n")
		for _, why := range d.Why {
			say(w, "  %s\n", clean(why))
		}
	}
	for _, call := range p.Calls {
		say(w, "\ncall %d: %d wanted, %d came, until %s\n", call.ID, call.Wanted, call.Came, stamp(call.EndsAt))
		states := make(map[string]int)
		for _, n := range call.Notices {
			states[n.State]++
		}
		say(w, "  asked: %d without an answer, %d declined\n", states["asked"], states["declined"])
		sent := make(map[string]int)
		for _, m := range call.Messages {
			sent[m.State]++
		}
		if len(call.Messages) > 0 {
			say(w, "  messages: %d sent, %d waiting, %d failed\n", sent["sent"], sent["queued"], sent["failed"])
		}
	}
	if len(p.Actions) > 0 {
		say(w, "\nlatest actions:\n")
		actions(w, p.ID, p.Actions)
	}
	if len(p.People) > 0 {
		say(w, "\n")
		people(w, p.People)
	}
}

// waited says how long tasks waited for somebody; "" where none was handed out.
func waited(m *wire.PoolMetrics) string {
	if m.WaitP95 == 0 {
		return ""
	}
	return fmt.Sprintf("95 %% were handed out within %s", lasting(m.WaitP95))
}

func (p *shownPool) figures() []any {
	outside := ""
	if p.Gate != nil && p.Gate.Outside > 0 {
		outside = fmt.Sprintf("%d outside", p.Gate.Outside)
	}
	list := []any{
		"people", inWords(fmt.Sprintf("%d on duty", p.OnDuty), fmt.Sprintf("%d belong to it", p.Belong), outside, fmt.Sprintf("%d coming", p.Coming), fmt.Sprintf("best %s (c*)", orUnknown(p.CStar))),
		"at work", fmt.Sprintf("%d with a task, %d without, of whom %d are waiting for one", p.Working, max(p.OnDuty-p.Working, 0), p.Waiting),
	}
	if p.Gate != nil {
		list = append(list, "gate", p.Gate.Text)
	}
	if m := p.Metrics; m != nil {
		mu := "mu not known yet"
		if m.Mu != nil && *m.Mu > 0 {
			mu = fmt.Sprintf("one person takes %s for an answer", lasting(1 / *m.Mu))
		}
		if m.Lent+m.Borrowed > 0 {
			list = append(list, "lent", fmt.Sprintf("%d to other pools, %d by other pools: %s (on duty, of the pool itself)", m.Lent, m.Borrowed, format.Count(m.Workers, "worker")))
		}
		list = append(list,
			"queue", fmt.Sprintf("%s wanted, the oldest for %s", format.Count(m.Queue, "answer"), lasting(m.OldestWait)),
			"load", fmt.Sprintf("%.3g answers a minute wanted (lambda), %.3g given; %s", m.Lambda*60, m.Throughput*60, mu),
			"wait", waited(m),
			"leaving", fmt.Sprintf("%.3g people an hour", m.Abandonment*3600),
			"cost", fmt.Sprintf("%.2f an hour for waiting", m.CostPerHour))
	}
	money := p.Account.Funds.String() + " for waiting"
	if p.Account.Owed > 0 {
		money += ", of which " + p.Account.Owed.String() + " is owed"
	}
	switch {
	case p.Account.Empty:
		money += ": waiting cannot be paid"
	case p.CallFunds > 0:
		money += ": " + callFunds(p.ID, p.CallFunds)
	case p.LowFunds && p.OnDuty == 0:
		money += ": one person takes " + p.NeededFunds.String() + " in ten minutes (throng pool fund " + p.ID.String() + " AMOUNT)"
	case p.LowFunds:
		money += ": it lasts less than ten minutes for those on duty, which take " + p.NeededFunds.String() + " (throng pool fund " + p.ID.String() + " AMOUNT)"
	}
	if p.GateFunds > 0 {
		money += "; " + gateFunds(p.ID, p.GateFunds)
	}
	return append(list, "money", money)
}

// callFunds says that a pool's money does not let it call anybody.
func callFunds(id crowd.PoolID, need crowd.Money) string {
	return fmt.Sprintf("not enough to call anybody, which takes %s a person (throng pool fund %s AMOUNT)", need, id)
}

// gateFunds says that a pool's money does not let it call all for whom its closed gate waits.
func gateFunds(id crowd.PoolID, need crowd.Money) string {
	return fmt.Sprintf("not enough to call all for whom the gate waits, which takes %s: it opens only if some come by themselves (throng pool fund %s AMOUNT)", need, id)
}

// lasting is a time in seconds as it is shown: 0s only of nothing.
func lasting(s float64) time.Duration {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d <= 0 || d >= time.Second:
		return d.Round(100 * time.Millisecond)
	case d >= time.Millisecond:
		return d.Round(time.Millisecond)
	}
	return time.Millisecond
}

// settings are those that say anything, as flags of "pool set" would.
func (p *shownPool) settings() []any {
	r, k, c := p.Retainer, p.Control, p.Calling
	if r == nil || k == nil || c == nil {
		return nil
	}
	keeps := fmt.Sprintf("silence %s", lasting(val(r.SilenceSeconds)))
	if val(r.Rate) > 0 {
		keeps += fmt.Sprintf("; pays %s a minute of waiting, promises %s", val(r.Rate), lasting(val(r.PromiseSeconds)))
	}
	if val(r.Training) > 0 {
		keeps += fmt.Sprintf("; newcomers do %s first", format.Count(val(r.Training), "training task"))
	}
	limits := ""
	if val(k.Min) > 0 || val(k.Max) > 0 {
		limits = fmt.Sprintf("%d to %s", val(k.Min), cmp.Or(when(val(k.Max) > 0, strconv.Itoa(val(k.Max))), "any number"))
		switch {
		case val(k.Gate):
			limits = "a gate: " + limits
		case p.BoundsUnused:
			limits += " kept for a gate or for calling (they bound nobody now)"
		}
	}
	sizes := inWords("elasticity "+cmp.Or(val(k.Elasticity), "static"), "stability "+cmp.Or(val(k.Stability), "none"),
		when(p.BalancedBy != "", "balances with other pools by "+p.BalancedBy), when(len(val(k.Rules)) > 0, format.Count(len(val(k.Rules)), "rule")), limits,
		when(val(k.CooldownSeconds) > 0, fmt.Sprintf("cool-down %s", lasting(val(k.CooldownSeconds)))))
	calls, least := "nobody; whoever asks for work is on duty", val(k.LeastPreference)
	switch {
	case val(r.Called):
		calls = fmt.Sprintf("asks %g for each one wanted, others after %s, for at most %s", val(c.Ask), lasting(val(c.AnswerSeconds)), lasting(val(c.LifeSeconds)))
		if least > 0 {
			calls += fmt.Sprintf(", only those with a preference of at least %g", least)
		}
	case least > 0:
		calls += fmt.Sprintf("; a least preference of %g is kept for calling (it keeps nobody away now)", least)
	}
	return []any{"keeps", keeps, "sizes", sizes, "calls", calls, "tenants", grants(p.Grants)}
}

// val is the value, or none.
func val[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func people(w io.Writer, list []wire.PoolPerson) {
	writeTable(w, list, "ID|NAME|DUTY|SINCE|IDLE SINCE|EARNED|TRAINING|LIKES IT|STATE", func(x wire.PoolPerson) []any {
		duty := "off"
		switch {
		case x.Outside > 0:
			duty = "outside"
		case x.On:
			duty = "on"
		}
		state := inWords(when(x.Waiting, "waits"), when(x.Outside > 0, fmt.Sprintf("number %d", x.Outside)), when(x.On && x.IdleSince.IsZero(), "works"), when(x.Leaves != "", "goes: "+x.Leaves), when(x.Home != 0, "lent by "+x.Home.String()),
			when(x.Away, "away"), when(x.Suspended, "suspended"))
		return []any{x.Worker, x.Name, duty, cmp.Or(clock(x.Since), "-"), cmp.Or(clock(x.IdleSince), "-"), x.Earned,
			x.Training, strconv.FormatFloat(x.Preference, 'g', 3, 64), state}
	})
}

// inWords joins the texts that are not empty.
func inWords(list ...string) string {
	return strings.Join(slices.DeleteFunc(list, func(s string) bool { return s == "" }), ", ")
}

func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.TimeOnly)
}
