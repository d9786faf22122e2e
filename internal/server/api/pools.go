package api

import (
	"context"
	"net/http"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/pool"
	"github.com/throng-dev/throng/sched"
)

// PoolOut is a pool at a glance.
type PoolOut struct {
	ID      crowd.PoolID `json:"id"`
	Name    string       `json:"name"`
	Policy  string       `json:"policy" example:"tenant-fair(wfs)"`
	Stopped bool         `json:"stopped" doc:"emergency stop"`
	Called  bool         `json:"called" doc:"only those work who were called and came"`
	Workers int          `json:"workers" doc:"people in the pool"`
	OnDuty  int          `json:"on_duty" doc:"of them, on duty"`
	Coming  int          `json:"coming" doc:"called, and not here yet"`
	Working int          `json:"working" doc:"hold a task"`
	Waiting int          `json:"waiting" doc:"wait for one"`
	Batches int          `json:"batches" doc:"launched and not ended"`
	Queue   int          `json:"queue" doc:"answers wanted and in nobody's hands, at the last control step"`
	CStar   *int         `json:"c_star,omitempty" doc:"the best number of people, at the last control step; left out: not known"`

	ControlledBy string `json:"controlled_by,omitempty" doc:"what decides its size; for admins"`
	Advises      bool   `json:"advises,omitempty" doc:"it decides and does nothing; for admins"`
}

func toPoolOut(p app.PoolView) PoolOut {
	out := PoolOut{ID: p.ID, Name: p.Name, Policy: p.Policy, Stopped: p.Pool.Stopped, Called: p.Retainer.Called, Workers: p.Workers, OnDuty: p.OnDuty,
		Coming: p.Coming, Working: p.Working, Waiting: p.Waiting, Batches: p.Batches, Queue: p.Status.Queue,
		ControlledBy: controlText(&p.Control), Advises: p.Control.Advise}
	if !p.Status.At.IsZero() {
		out.CStar = known(p.Status.CStar)
	}
	return out
}

// controlText says in short what decides a pool's size; "" is nothing.
func controlText(c *pool.Settings) string {
	text := ""
	for _, s := range []string{c.Elasticity, c.Stability} {
		if s == "" || s == "none" {
			continue
		}
		if text != "" {
			text += " + "
		}
		text += s
	}
	return text
}

// known returns nil for a number that is not known yet.
func known(n int) *int {
	if n == pool.Unknown {
		return nil
	}
	return &n
}

// The settings of a live pool, in both directions: all of them go out, and any
// part may come in.
type retainerSettings struct {
	Called         *bool        `json:"called,omitempty" doc:"only those work who were called and came; else whoever asks for work is on duty"`
	SilenceSeconds *float64     `json:"silence_seconds,omitempty" doc:"how long somebody who neither works nor waits may stay unheard of before he counts as gone; 0: for ever"`
	Rate           *crowd.Money `json:"rate_micros_per_minute,omitempty" doc:"for waiting, from the pool's money"`
	PromiseSeconds *float64     `json:"promise_seconds,omitempty" doc:"nobody is called whose waiting could not be paid for so long"`
	Training       *int         `json:"training,omitempty" doc:"tasks of training batches that a newcomer does before others"`
}

type controlTarget struct {
	Eta         *float64 `json:"eta,omitempty" doc:"weight of the wait against the cost in c*, between 0 and 1; 0: 0.5"`
	Salary      *float64 `json:"salary,omitempty" doc:"pay for waiting that c* reckons with, money a minute; 0: 0.05"`
	WaitSeconds *float64 `json:"wait_seconds,omitempty" doc:"c* is the least number of people with which a task waits no longer; 0: eta decides"`
	Tail        *float64 `json:"tail,omitempty" doc:"the share of the answers that may wait longer than wait_seconds; 0: the mean wait counts"`
}

type controlExpect struct {
	TaskTimeSeconds *float64 `json:"task_time_seconds,omitempty" doc:"how long one answer takes, before any was seen; 0: not known"`
}

type controlSettings struct {
	Elasticity      *string        `json:"elasticity,omitempty" doc:"how it follows the load" example:"ct-p"`
	Stability       *string        `json:"stability,omitempty" doc:"how it replaces people who leave" example:"hybrid"`
	Balance         *bool          `json:"balance,omitempty" doc:"idle people may move between this pool and others that balance"`
	Rules           *[]pool.Rule   `json:"rules,omitempty" doc:"of the elasticity rules: all of them at every step"`
	Target          *controlTarget `json:"target,omitempty"`
	Expect          *controlExpect `json:"expect,omitempty"`
	Min             *int           `json:"min,omitempty" doc:"fewest people on duty and coming"`
	Max             *int           `json:"max,omitempty" doc:"most people on duty and coming; 0: no limit"`
	CooldownSeconds *float64       `json:"cooldown_seconds,omitempty" doc:"how long after growing the pool does not shrink, and the other way round"`
	WindowSeconds   *float64       `json:"window_seconds,omitempty" doc:"what the estimates look back on; 0: five minutes"`
	Advise          *bool          `json:"advise,omitempty" doc:"decide and log, and do nothing"`
}

type callingSettings struct {
	Ask           *float64 `json:"ask,omitempty" doc:"people asked for each one wanted; who answers first comes in"`
	AnswerSeconds *float64 `json:"answer_seconds,omitempty" doc:"after so long without an answer others are asked"`
	LifeSeconds   *float64 `json:"life_seconds,omitempty" doc:"how long a call stays open"`
}

type PoolSettings struct {
	Retainer *retainerSettings `json:"retainer,omitempty"`
	Control  *controlSettings  `json:"control,omitempty"`
	Calling  *callingSettings  `json:"calling,omitempty"`
}

func toPoolSettings(p *app.PoolView) PoolSettings {
	r, c, k := &p.Retainer, &p.Control, &p.Calling
	rules := append([]pool.Rule{}, c.Rules...)
	return PoolSettings{
		&retainerSettings{&r.Called, inSeconds(r.Silence), &r.Rate, inSeconds(r.Promise), &r.Training},
		&controlSettings{&c.Elasticity, &c.Stability, &c.Balance, &rules,
			&controlTarget{&c.Target.Eta, &c.Target.Salary, inSeconds(c.Target.Wait), &c.Target.Tail}, &controlExpect{inSeconds(c.Expect.TaskTime)},
			&c.Min, &c.Max, inSeconds(c.Cooldown), inSeconds(c.Window), &c.Advise},
		&callingSettings{&k.Ask, inSeconds(k.Answer), inSeconds(k.Life)},
	}
}

// into changes what is said of a pool's settings, and returns the groups of
// which anything was said.
func (s *PoolSettings) into(p *app.PoolView) (edit app.PoolEdit) {
	if in := s.Retainer; in != nil {
		r := &p.Retainer
		put(&r.Called, in.Called)
		putSeconds(&r.Silence, in.SilenceSeconds)
		put(&r.Rate, in.Rate)
		putSeconds(&r.Promise, in.PromiseSeconds)
		put(&r.Training, in.Training)
		edit.Retainer = r
	}
	if in := s.Control; in != nil {
		c := &p.Control
		put(&c.Elasticity, in.Elasticity)
		put(&c.Stability, in.Stability)
		put(&c.Balance, in.Balance)
		put(&c.Rules, in.Rules)
		if t := in.Target; t != nil {
			put(&c.Target.Eta, t.Eta)
			put(&c.Target.Salary, t.Salary)
			putSeconds(&c.Target.Wait, t.WaitSeconds)
			put(&c.Target.Tail, t.Tail)
		}
		if in.Expect != nil {
			putSeconds(&c.Expect.TaskTime, in.Expect.TaskTimeSeconds)
		}
		put(&c.Min, in.Min)
		put(&c.Max, in.Max)
		putSeconds(&c.Cooldown, in.CooldownSeconds)
		putSeconds(&c.Window, in.WindowSeconds)
		put(&c.Advise, in.Advise)
		edit.Control = c
	}
	if in := s.Calling; in != nil {
		k := &p.Calling
		put(&k.Ask, in.Ask)
		putSeconds(&k.Answer, in.AnswerSeconds)
		putSeconds(&k.Life, in.LifeSeconds)
		edit.Calling = k
	}
	return edit
}

func put[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

func putSeconds(to *time.Duration, from *float64) {
	if from != nil {
		*to = ofSeconds(*from)
	}
}

func inSeconds(d time.Duration) *float64 {
	s := d.Seconds()
	return &s
}

// ofSeconds is the duration, or one that is too long for anything.
func ofSeconds(s float64) time.Duration {
	const longest = 100 * 365 * 24 * time.Hour
	s = max(-longest.Seconds(), min(s, longest.Seconds()))
	return time.Duration(s * float64(time.Second))
}

// poolFields are the places in JSON of what the service checks of a pool.
var poolFields = map[string]string{
	"silence": "retainer.silence_seconds", "rate": "retainer.rate_micros_per_minute", "promise": "retainer.promise_seconds", "training": "retainer.training",
	"elasticity": "control.elasticity", "stability": "control.stability", "rules": "control.rules", "min": "control.min", "max": "control.max",
	"cooldown": "control.cooldown_seconds", "window": "control.window_seconds", "target.eta": "control.target.eta", "target.salary": "control.target.salary",
	"target.wait": "control.target.wait_seconds", "target.tail": "control.target.tail", "expect.task_time": "control.expect.task_time_seconds",
	"ask": "calling.ask", "answer": "calling.answer_seconds", "life": "calling.life_seconds",
}

type PoolPath struct {
	ID string `path:"id" example:"p1"`
}

func (p PoolPath) pool() (crowd.PoolID, error) { return crowd.ParsePoolID(p.ID) }

const poolTag = "Pools"

func (a *api) pools() {
	const tag = poolTag
	add(a, op{method: http.MethodGet, path: "/v1/pools", summary: "List the pools", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, _ *struct{}) (*struct{ Body []PoolOut }, error) {
			list, err := a.app.Pools.List(ctx, p)
			return &struct{ Body []PoolOut }{mapped(list, toPoolOut)}, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/pools", summary: "Add a pool", tag: tag, access: signedIn, status: http.StatusCreated},
		func(ctx context.Context, p *app.Principal, in *struct {
			Body struct {
				Name   string `json:"name"`
				Policy string `json:"policy,omitempty" default:"tenant-fair(wfs)"`
			}
		}) (*struct{ Body PoolOut }, error) {
			v, err := a.app.Pools.Create(ctx, p, in.Body.Name, in.Body.Policy)
			return &struct{ Body PoolOut }{toPoolOut(v)}, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/pools/{id}", summary: "Show a pool: its settings, how it stands, what was decided last", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *PoolPath) (*struct{ Body poolDetail }, error) {
			id, err := in.pool()
			if err != nil {
				return nil, err
			}
			v, err := a.app.Pools.Get(ctx, p, id)
			return &struct{ Body poolDetail }{toPoolDetail(v)}, err
		})
	add(a, op{method: http.MethodPatch, path: "/v1/pools/{id}", summary: "Change a pool while it runs", tag: tag, access: signedIn,
		text: "What is left out stays as it is, also within a group. The rules are replaced as a whole."},
		func(ctx context.Context, p *app.Principal, in *struct {
			PoolPath
			Body struct {
				Name    *string `json:"name,omitempty"`
				Policy  *string `json:"policy,omitempty"`
				Stopped *bool   `json:"stopped,omitempty" doc:"emergency stop"`
				PoolSettings
			}
		}) (*struct{ Body poolDetail }, error) {
			id, err := in.pool()
			if err != nil {
				return nil, err
			}
			a.poolEdit.Lock()
			defer a.poolEdit.Unlock()
			v, err := a.app.Pools.Get(ctx, p, id)
			if err != nil {
				return nil, err
			}
			edit := in.Body.into(&v)
			edit.Name, edit.Policy, edit.Stopped = in.Body.Name, in.Body.Policy, in.Body.Stopped
			if _, err = a.app.Pools.Update(ctx, p, id, edit); err != nil {
				return nil, placed(err, poolFields)
			}
			v, err = a.app.Pools.Get(ctx, p, id)
			return &struct{ Body poolDetail }{toPoolDetail(v)}, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/pools/{id}/order", summary: "Show each running batch's place in the policy's order", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *PoolPath) (*struct{ Body []sched.Key }, error) {
			id, err := in.pool()
			if err != nil {
				return nil, err
			}
			keys, err := a.app.Pools.Order(ctx, p, id)
			return &struct{ Body []sched.Key }{keys}, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/pools/{id}/state", summary: "Copy a pool's state, to forecast it elsewhere", tag: tag, access: signedIn,
		text: "What `throng sim run --from` reads: open batches with their counts, the people by number, the policy, and what was observed in the last hours. " +
			"No answers, no rows of tasks, no names of people. Its `version` says which form it has. It can be large: each open assignment is in it. Admins only."},
		func(ctx context.Context, p *app.Principal, in *PoolPath) (*struct{ Body poolState }, error) {
			id, err := in.pool()
			if err != nil {
				return nil, err
			}
			s, err := a.app.Batches.PoolState(ctx, p, id)
			return &struct{ Body poolState }{poolState{s}}, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/stop", summary: "Emergency stop of everything, or its lifting", tag: tag, access: signedIn, status: http.StatusNoContent},
		func(ctx context.Context, p *app.Principal, in *struct {
			Body struct {
				Stopped bool `json:"stopped"`
			}
		}) (*nothing, error) {
			return nil, a.app.Pools.StopEverything(ctx, p, in.Body.Stopped)
		})
}
