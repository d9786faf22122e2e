package api

import (
	"cmp"
	"context"
	"net/http"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/pool"
)

func toMetrics(m *pool.Metrics) wire.PoolMetrics {
	out := wire.PoolMetrics{Queue: m.Queue, Workers: m.Own(), OnDuty: m.Workers, Busy: m.Busy, Idle: m.Idle, Training: m.Training, Coming: m.Coming, Lent: m.Lent, Borrowed: m.Borrowed, CStar: known(m.CStar),
		Lambda: m.Lambda, Mu: positive(m.Mu), Abandonment: m.Abandonment, Recruitment: positive(m.Recruitment), Throughput: m.Throughput,
		WaitP95: m.WaitP95, OldestWait: m.OldestWait, Backlog: m.Backlog, CostPerHour: m.CostPerHour, Preference: m.Preference}
	if m.Mu != 0 {
		out.Utilisation = &m.Utilisation
	}
	return out
}

// positive returns nil for a rate that is not known yet, which is 0.
func positive(rate float64) *float64 {
	if rate == 0 {
		return nil
	}
	return &rate
}

func toFunds(x engine.RetainerFunds) wire.RetainerFunds { return wire.RetainerFunds(x) }

func toPoolDetail(v control.PoolView) wire.PoolDetail {
	s := &v.Status
	out := wire.PoolDetail{Pool: toPool(v), PoolSettings: toPoolSettings(&v), CreatedAt: v.CreatedAt, Account: toFunds(s.Funds), LowFunds: v.Low(), GateFunds: v.GateNeeds(), CallFunds: v.CallNeeds(), BoundsUnused: v.BoundsUnused(), BalancedBy: v.BalancedBy}
	if out.LowFunds {
		out.NeededFunds = v.TenMinutes()
	}
	if s.At.IsZero() {
		return out
	}
	metrics, d := toMetrics(&s.Metrics), &s.Next
	out.At, out.Metrics = s.At, &metrics
	out.Decision = &wire.PoolDecision{Recruit: d.Recruit, Withdraw: d.Withdraw, Release: d.Release,
		Moves: lists.Map(d.Moves, func(m pool.Move) wire.PoolMove { return wire.PoolMove{Worker: m.Worker, To: m.To} }), Why: some(d.Why)}
	return out
}

// placed names the field of an error by its place in the request.
func placed(err error, places map[string]string) error {
	list := crowd.ErrorsOf(err)
	if len(list) == 0 {
		return err
	}
	moved := lists.Map(list, func(e *crowd.Error) *crowd.Error {
		there := *e
		there.Field = cmp.Or(places[e.Field], e.Field)
		return &there
	})
	if len(moved) == 1 && moved[0].Field == list[0].Field {
		return err
	}
	return crowd.Errors(moved).Err()
}

func toSample(s store.Sample) wire.PoolSample {
	return wire.PoolSample{At: s.At, PoolMetrics: toMetrics(&s.Metrics), Funds: s.Funds, Waiting: s.Waiting}
}

func toAction(x store.Action) wire.PoolAction {
	out := wire.PoolAction{ID: x.ID, At: x.At, By: x.By, Kind: string(x.Kind), N: x.N, Worker: x.Worker, To: x.To, Advice: x.Advice,
		Why: some(x.Why), Failed: x.Failed}
	if x.Kind == store.ActionTransfer {
		out.From = x.Pool
	}
	if x.By == 0 {
		saw := toMetrics(&x.Saw)
		out.Saw = &saw
	}
	return out
}

func toPerson(x control.PoolPerson) wire.PoolPerson {
	out := wire.PoolPerson{Worker: x.Worker, Name: x.Name, On: x.On, Since: x.Since, Waiting: x.Waiting, Outside: x.Outside, SeenAt: x.Seen, Leaves: string(x.Leaves),
		Training: x.Training, Earned: x.Earned, Preference: x.Preference, Home: x.Home, Away: x.Away, Suspended: x.Suspended}
	if x.On {
		out.IdleSince = x.OnCall.Idle
	}
	return out
}

func toCall(c control.PoolCall) wire.PoolCall {
	return wire.PoolCall{ID: c.ID, At: c.At, EndsAt: c.EndsAt, Wanted: c.Wanted, Came: c.Came,
		Notices: lists.Map(c.Notices, func(n store.Notice) wire.Notice {
			return wire.Notice{Worker: n.Worker, State: string(n.State), AskedAt: n.AskedAt, AnsweredAt: n.AnsweredAt}
		}),
		Messages: lists.Map(c.Messages, func(m store.Message) wire.Message {
			return wire.Message{Worker: m.Worker, Channel: string(m.Channel), State: string(m.State), Tries: m.Tries, SentAt: m.SentAt, Error: m.Error}
		})}
}

func toTested(rules []pool.Rule, list []pool.Tested) wire.TestedRules {
	out := wire.TestedRules{Samples: len(list), Rules: make([]wire.RuleSummary, len(rules)), Fired: []wire.FiredRule{}}
	for i, r := range rules {
		out.Rules[i] = wire.RuleSummary{Rule: i + 1, When: r.When, Do: r.Do}
	}
	if len(list) > 0 {
		out.From = list[0].At
	}
	for i := range list {
		at := list[i].At
		for _, f := range list[i].Fired {
			out.Fired = append(out.Fired, wire.FiredRule{At: at, Rule: f.Rule, Action: f.Action, N: f.N, Why: f.Why})
			r := &out.Rules[f.Rule-1]
			if r.Fired++; r.FirstAt.IsZero() {
				r.FirstAt = at
			}
			r.LastAt = at
		}
	}
	return out
}

func (a *api) livePools() {
	const tag = poolTag
	add(a, op{method: http.MethodGet, path: "/v1/pools/metrics-names", summary: "List what the conditions of rules may use", tag: tag, access: signedIn},
		func(context.Context, *access.Principal, *struct{}) (out []wire.MetricName, _ error) {
			for _, n := range pool.Names() {
				out = append(out, wire.MetricName{Name: n.Name, Unit: n.Unit, Doc: n.Doc})
			}
			return out, nil
		})
	add(a, op{method: http.MethodPost, path: "/v1/pools/{id}/funds", summary: "Add to a pool's money for waiting, or take out of it", tag: tag, access: access.PoolsFund},
		func(ctx context.Context, p *access.Principal, in *struct {
			PoolPath
			Body wire.PoolFunding
		}) (wire.RetainerFunds, error) {
			return as(toFunds)(a.app.Pools.Fund(ctx, p, in.id, in.Body.AmountMicros))
		})
	add(a, op{method: http.MethodGet, path: "/v1/pools/{id}/account", summary: "Show a pool's money for waiting and its latest ledger entries", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *struct {
			PoolPath
			Latest
		}) (wire.Account, error) {
			balance, entries, err := a.app.Pools.Account(ctx, p, in.id, in.Before, in.Limit)
			return wire.Account{BalanceMicros: balance, Entries: lists.Map(entries, toEntry)}, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/pools/{id}/samples", summary: "How a pool looked, every ten seconds of the last day", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *struct {
			PoolPath
			Since float64 `query:"since_seconds" minimum:"0" maximum:"86400" default:"3600" doc:"how far back"`
		}) ([]wire.PoolSample, error) {
			return each(toSample)(a.app.Pools.RecentSamples(ctx, p, in.id, instant.Seconds(in.Since)))
		})
	add(a, op{method: http.MethodGet, path: "/v1/pools/{id}/actions", summary: "What was done to a pool, by whom and why, newest first", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *struct {
			PoolPath
			Latest
		}) ([]wire.PoolAction, error) {
			return each(toAction)(a.app.Pools.Actions(ctx, p, in.id, in.Before, in.Limit))
		})
	add(a, op{method: http.MethodGet, path: "/v1/pools/{id}/people", summary: "Who belongs to a pool, those on duty first", tag: tag, access: signedIn},
		of[PoolPath](a.app.Pools.People, all(toPerson)))
	add(a, op{method: http.MethodGet, path: "/v1/pools/{id}/calls", summary: "The open call of a pool: who was asked, who came", tag: tag, access: signedIn},
		of[PoolPath](a.app.Pools.Calls, all(toCall)))
	a.changePools()
}

// changePools registers the test of rules and transfers.
func (a *api) changePools() {
	add(a, op{method: http.MethodPost, path: "/v1/pools/{id}/rules/test", summary: "When would rules have fired within the last hour?", tag: poolTag, access: access.PoolsTestRules, unkeyed: changesNothing,
		text: "Nothing is changed. Each sample is taken as it was: what the rules would have changed is not seen in later ones."},
		func(ctx context.Context, p *access.Principal, in *struct {
			PoolPath
			Body wire.RulesToTest
		}) (out wire.TestedRules, err error) {
			var rules []pool.Rule
			var list []pool.Tested
			if in.Body.Rules != nil {
				rules = *in.Body.Rules
				list, err = a.app.Pools.TestRules(ctx, p, in.id, rules)
			} else {
				rules, list, err = a.app.Pools.TestOwnRules(ctx, p, in.id)
			}
			if err != nil {
				return out, err
			}
			return toTested(rules, list), nil
		})
	add(a, op{method: http.MethodPost, path: "/v1/pools/{id}/transfers", summary: "Move a worker of this pool to another one", tag: poolTag, access: access.TransfersMoveFrom,
		text: "Who holds a task finishes it first. If they do not know the other pool's work, they do its training before its tasks. Who was on duty is so there."},
		func(ctx context.Context, p *access.Principal, in *struct {
			PoolPath
			Body wire.Transfer
		}) (out wire.Transferred, err error) {
			out.There, err = a.app.Transfers.MoveFrom(ctx, p, in.id, in.Body.Worker, in.Body.To)
			return out, err
		})
}
