package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/sim/forecast"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/pool"
)

func toPool(p control.PoolView) wire.Pool {
	out := wire.Pool{ID: p.ID, Name: p.Name, Policy: p.Policy, Stopped: p.Pool.Stopped, Called: p.Retainer.Called, Belong: p.Belong, Lent: p.Counts.Lent, OnDuty: p.OnDuty,
		Coming: p.Coming, Working: p.Working, Waiting: p.Waiting, Batches: p.Batches, Queue: p.Status.Queue,
		Grants: lists.Map(p.Grants, toGrant), ControlledBy: controlText(&p.Control), Advises: p.Control.Advise, Notes: p.Notes()}
	if g := p.GateNow; g.On {
		out.Gate = &wire.Gate{Open: g.Open, Min: g.Min, Max: g.Max, Inside: g.Inside, Outside: g.Outside, Text: g.String()}
	}
	if !p.Status.At.IsZero() {
		out.CStar = known(p.Status.CStar)
	}
	return out
}

func toGrant(g store.PoolGrant) wire.PoolGrant { return wire.PoolGrant(g) }

// controlText says in short what decides a pool's size; "" is nothing.
func controlText(c *pool.Settings) string {
	parts := slices.DeleteFunc([]string{c.Elasticity, c.Stability}, func(s string) bool { return s == "" || s == "none" })
	return strings.Join(parts, " + ")
}

// known returns nil for a number that is not known yet.
func known(n int) *int {
	if n == pool.Unknown {
		return nil
	}
	return &n
}

func toPoolSettings(p *control.PoolView) wire.PoolSettings {
	r, c, k := &p.Retainer, &p.Control, &p.Calling
	rules := some(c.Rules)
	return wire.PoolSettings{
		Retainer: &wire.Retainer{Called: &r.Called, SilenceSeconds: inSeconds(r.Silence), Rate: &r.Rate, PromiseSeconds: inSeconds(r.Promise), Training: &r.Training},
		Control: &wire.Control{
			Elasticity: &c.Elasticity, Stability: &c.Stability, Balance: &c.Balance, Balancer: &c.Balancer, Rules: &rules,
			Target: &wire.Target{Eta: &c.Target.Eta, Salary: &c.Target.Salary, WaitSeconds: inSeconds(c.Target.Wait), Tail: &c.Target.Tail},
			Expect: &wire.Expect{TaskTimeSeconds: inSeconds(c.Expect.TaskTime)},
			Min:    &c.Min, Max: &c.Max, Gate: &p.Gate, CooldownSeconds: inSeconds(c.Cooldown), WindowSeconds: inSeconds(c.Window), Advise: &c.Advise,
			LeastPreference: &c.LeastPreference,
		},
		Calling: &wire.Calling{Ask: &k.Ask, AnswerSeconds: inSeconds(k.Answer), LifeSeconds: inSeconds(k.Life)},
	}
}

// editPool puts what is said of a pool into the settings that it has.
func editPool(s *wire.PoolEdit, p *store.Pool) {
	input.Set(&p.Name, s.Name)
	input.Set(&p.Policy, s.Policy)
	input.Set(&p.Stopped, s.Stopped)
	if in := s.Retainer; in != nil {
		r := &p.Retainer
		input.Set(&r.Called, in.Called)
		putSeconds(&r.Silence, in.SilenceSeconds)
		input.Set(&r.Rate, in.Rate)
		putSeconds(&r.Promise, in.PromiseSeconds)
		input.Set(&r.Training, in.Training)
	}
	if in := s.Control; in != nil {
		c := &p.Control
		input.Set(&c.Elasticity, in.Elasticity)
		input.Set(&c.Stability, in.Stability)
		input.Set(&c.Balance, in.Balance)
		input.Set(&c.Balancer, in.Balancer)
		input.Set(&c.Rules, in.Rules)
		if t := in.Target; t != nil {
			input.Set(&c.Target.Eta, t.Eta)
			input.Set(&c.Target.Salary, t.Salary)
			putSeconds(&c.Target.Wait, t.WaitSeconds)
			input.Set(&c.Target.Tail, t.Tail)
		}
		if in.Expect != nil {
			putSeconds(&c.Expect.TaskTime, in.Expect.TaskTimeSeconds)
		}
		input.Set(&c.Min, in.Min)
		input.Set(&c.Max, in.Max)
		input.Set(&p.Gate, in.Gate)
		putSeconds(&c.Cooldown, in.CooldownSeconds)
		putSeconds(&c.Window, in.WindowSeconds)
		input.Set(&c.Advise, in.Advise)
		input.Set(&c.LeastPreference, in.LeastPreference)
	}
	if in := s.Calling; in != nil {
		k := &p.Calling
		input.Set(&k.Ask, in.Ask)
		putSeconds(&k.Answer, in.AnswerSeconds)
		putSeconds(&k.Life, in.LifeSeconds)
	}
}

func putSeconds(to *time.Duration, from *float64) {
	if from != nil {
		*to = instant.Seconds(*from)
	}
}

func inSeconds(d time.Duration) *float64 {
	s := d.Seconds()
	return &s
}

// poolFields are the places in JSON of what package control checks of a pool.
var poolFields = map[string]string{
	"silence": "retainer.silence_seconds", "rate": "retainer.rate_micros_per_minute", "promise": "retainer.promise_seconds", "training": "retainer.training",
	"elasticity": "control.elasticity", "stability": "control.stability", "balancer": "control.balancer", "rules": "control.rules", "min": "control.min", "max": "control.max", "gate": "control.gate",
	"cooldown": "control.cooldown_seconds", "window": "control.window_seconds", "target.eta": "control.target.eta", "target.salary": "control.target.salary",
	"target.wait": "control.target.wait_seconds", "target.tail": "control.target.tail", "expect.task_time": "control.expect.task_time_seconds",
	"ask": "calling.ask", "answer": "calling.answer_seconds", "life": "calling.life_seconds", "least_preference": "control.least_preference",
}

const poolTag = "Pools"

// GrantPath is the tenant to which a pool is granted.
type GrantPath struct {
	PoolPath
	Tenant string `path:"tenant" example:"n3" doc:"a tenant's id, or all: every tenant"`

	to crowd.TenantID
}

// Resolve implements huma.Resolver.
func (x *GrantPath) Resolve(c huma.Context) []error {
	if wrong := x.PoolPath.Resolve(c); wrong != nil || x.Tenant == "all" {
		return wrong
	}
	return parse(&x.to, x.Tenant, crowd.ParseTenantID)
}

func (a *api) poolGrants() {
	add(a, op{method: http.MethodPut, path: "/v1/pools/{id}/grants/{tenant}", summary: "Grant a pool to a tenant, or to all of them", tag: poolTag, access: access.PoolsGrant,
		text: "Its batches and the steps of its workflows may be done there from then on. Granted again, it may invite or not, as said last."},
		func(ctx context.Context, p *access.Principal, in *struct {
			GrantPath
			Body wire.MayInvite
		}) (wire.Pool, error) {
			return as(toPool)(a.app.Pools.Grant(ctx, p, in.id, store.PoolGrant{Tenant: in.to, Invite: in.Body.Invite}))
		})
	add(a, op{method: http.MethodDelete, path: "/v1/pools/{id}/grants/{tenant}", summary: "Take the grant of a pool back", tag: poolTag, access: access.PoolsRevoke,
		text: "Nothing of the tenant is launched there any more, and nobody comes by its invitations. What was launched goes on to its end, and people stay."},
		func(ctx context.Context, p *access.Principal, in *GrantPath) (wire.Pool, error) {
			return as(toPool)(a.app.Pools.Revoke(ctx, p, in.id, in.to))
		})
}

func (a *api) pools() {
	const tag = poolTag
	add(a, op{method: http.MethodGet, path: "/v1/pools", summary: "List the pools; to a requester, those granted to their tenants, to a worker, their own and those to which they are moved", tag: tag, access: signedIn},
		own(a.app.Pools.List, all(toPool)))
	add(a, op{method: http.MethodPost, path: "/v1/pools", summary: "Add a pool", tag: tag, access: access.PoolsCreate, status: http.StatusCreated},
		func(ctx context.Context, p *access.Principal, in *struct{ Body wire.NewPool }) (wire.Pool, error) {
			return as(toPool)(a.app.Pools.Create(ctx, p, in.Body.Name, in.Body.Policy))
		})
	add(a, op{method: http.MethodGet, path: "/v1/pools/{id}", summary: "Show a pool: its settings, how it stands, what was decided last", tag: tag, access: signedIn},
		of[PoolPath](a.app.Pools.Get, toPoolDetail))
	add(a, op{method: http.MethodPatch, path: "/v1/pools/{id}", summary: "Change a pool while it runs", tag: tag, access: access.PoolsChange,
		text: "What is left out stays as it is, also within a group. The rules are replaced as a whole."},
		func(ctx context.Context, p *access.Principal, in *struct {
			PoolPath
			Body wire.PoolEdit
		}) (out wire.PoolDetail, err error) {
			if _, err := a.app.Pools.Change(ctx, p, in.id, func(now *store.Pool) error { editPool(&in.Body, now); return nil }); err != nil {
				return out, placed(err, poolFields)
			}
			return as(toPoolDetail)(a.app.Pools.Get(ctx, p, in.id))
		})
	a.poolGrants()
	a.fairPools()
	add(a, op{method: http.MethodGet, path: "/v1/pools/{id}/state", summary: "Copy a pool's state, to forecast it elsewhere", tag: tag, access: signedIn,
		text: "What `throng sim run --from` reads: open batches with their counts, the people by number, the policy, and what was observed in the last hours. " +
			"No answers, no rows of tasks, no names of people. Its `version` says which form it has. It can be large: each open assignment is in it. For who sees pools (`pools.read`); what batches pay is left out (`no_money`) for who does not see money (`money.read`)."},
		func(ctx context.Context, p *access.Principal, in *PoolPath) (*forecast.State, error) {
			return a.app.Batches.PoolState(ctx, p, in.id)
		})
	addAction(a, op{method: http.MethodPost, path: "/v1/stop", summary: "Emergency stop of everything, or its lifting", tag: tag, access: access.PoolsStopEverything},
		func(ctx context.Context, p *access.Principal, in *struct{ Body wire.Stop }) error {
			return a.app.Pools.StopEverything(ctx, p, in.Body.Stopped)
		})
}
