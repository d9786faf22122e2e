package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// MetricsOut is what a controller knows of a pool at a moment. Its names are
// those that rules use; GET /v1/pools/metrics-names says what they mean.
type MetricsOut struct {
	Queue       int      `json:"queue"`
	Workers     int      `json:"workers"`
	Busy        int      `json:"busy"`
	Idle        int      `json:"idle"`
	Training    int      `json:"training"`
	Coming      int      `json:"coming"`
	CStar       *int     `json:"c_star,omitempty" doc:"left out: not known yet, and so for others"`
	Lambda      float64  `json:"lambda" doc:"a second"`
	Mu          *float64 `json:"mu,omitempty" doc:"a second"`
	Abandonment float64  `json:"abandonment" doc:"a second"`
	Recruitment *float64 `json:"recruitment,omitempty" doc:"a second"`
	Throughput  float64  `json:"throughput" doc:"a second"`
	Utilisation *float64 `json:"utilisation,omitempty"`
	WaitP95     float64  `json:"wait_p95" doc:"seconds"`
	OldestWait  float64  `json:"oldest_wait" doc:"seconds"`
	Backlog     float64  `json:"backlog"`
	CostPerHour float64  `json:"cost_per_hour" doc:"money"`
	Preference  float64  `json:"preference" doc:"0 to 1"`
}

func toMetricsOut(m *pool.Metrics) MetricsOut {
	out := MetricsOut{Queue: m.Queue, Workers: m.Workers, Busy: m.Busy, Idle: m.Idle, Training: m.Training, Coming: m.Coming, CStar: known(m.CStar),
		Lambda: m.Lambda, Mu: ptr(m.Mu), Abandonment: m.Abandonment, Recruitment: ptr(m.Recruitment), Throughput: m.Throughput,
		WaitP95: m.WaitP95, OldestWait: m.OldestWait, Backlog: m.Backlog, CostPerHour: m.CostPerHour, Preference: m.Preference}
	if m.Mu != 0 {
		out.Utilisation = &m.Utilisation
	}
	return out
}

type moveOut struct {
	Worker crowd.WorkerID `json:"worker"`
	To     crowd.PoolID   `json:"to"`
}

type decisionOut struct {
	Recruit  int       `json:"recruit" doc:"people to call"`
	Withdraw int       `json:"withdraw" doc:"people called who are no longer wanted"`
	Release  int       `json:"release" doc:"people to let go, each after what he holds"`
	Moves    []moveOut `json:"moves" doc:"to other pools"`
	Why      []string  `json:"why"`
}

// poolDetail is all that there is to know of a pool.
type poolDetail struct {
	PoolOut
	PoolSettings
	CreatedAt time.Time    `json:"created_at"`
	Purse     purseOut     `json:"purse"`
	At        *time.Time   `json:"at,omitempty" doc:"of the last control step; left out: there was none yet"`
	Metrics   *MetricsOut  `json:"metrics,omitempty" doc:"at the last control step"`
	Decision  *decisionOut `json:"decision,omitempty" doc:"of the last control step"`
}

type purseOut struct {
	FundsMicros crowd.Money `json:"funds_micros" doc:"the pool's money for waiting"`
	OwedMicros  crowd.Money `json:"owed_micros" doc:"earned by those who wait, and not paid yet"`
	PaidMicros  crowd.Money `json:"paid_micros" doc:"for waiting, since the server started"`
	Empty       bool        `json:"empty" doc:"waiting cannot be paid"`
}

func toPoolDetail(v app.PoolView) poolDetail {
	s := &v.Status
	out := poolDetail{PoolOut: toPoolOut(v), PoolSettings: toPoolSettings(&v), CreatedAt: v.CreatedAt,
		Purse: purseOut{s.Purse.Funds, s.Purse.Owed, s.Purse.Paid, s.Purse.Empty}}
	if s.At.IsZero() {
		return out
	}
	metrics, d := toMetricsOut(&s.Metrics), &s.Next
	out.At, out.Metrics = &s.At, &metrics
	out.Decision = &decisionOut{d.Recruit, d.Withdraw, d.Release,
		mapped(d.Moves, func(m pool.Move) moveOut { return moveOut{m.Worker, m.To} }), append([]string{}, d.Why...)}
	return out
}

// placed names the field of an error by its place in the request.
func placed(err error, places map[string]string) error {
	var e *crowd.Error
	if !errors.As(err, &e) || places[e.Field] == "" {
		return err
	}
	there := *e
	there.Field = places[e.Field]
	return &there
}

type sampleOut struct {
	At time.Time `json:"at"`
	MetricsOut
	FundsMicros   crowd.Money `json:"funds_micros"`
	WaitingMicros crowd.Money `json:"waiting_micros" doc:"paid for waiting since the sample before"`
}

type actionOut struct {
	ID     int64           `json:"id"`
	At     time.Time       `json:"at"`
	By     *crowd.WorkerID `json:"by,omitempty" doc:"the admin; left out: a controller"`
	Kind   string          `json:"kind" enum:"recruit,withdraw,release,transfer,set"`
	N      int             `json:"n" doc:"people"`
	Worker *crowd.WorkerID `json:"worker,omitempty" doc:"of a transfer"`
	To     *crowd.PoolID   `json:"to,omitempty" doc:"of a transfer"`
	Advice bool            `json:"advice" doc:"decided, and not done"`
	Why    []string        `json:"why"`
	Saw    *MetricsOut     `json:"saw,omitempty" doc:"what the controller saw"`
	Failed string          `json:"failed,omitempty" doc:"why it could not be done"`
}

func toActionOut(x store.Action) actionOut {
	out := actionOut{ID: x.ID, At: x.At, By: ptr(x.By), Kind: string(x.Kind), N: x.N, Worker: ptr(x.Worker), To: ptr(x.To), Advice: x.Advice,
		Why: append([]string{}, x.Why...), Failed: x.Failed}
	if x.By == 0 {
		saw := toMetricsOut(&x.Saw)
		out.Saw = &saw
	}
	return out
}

type personOut struct {
	Worker       crowd.WorkerID `json:"worker"`
	Name         string         `json:"name"`
	On           bool           `json:"on" doc:"on duty"`
	Since        *time.Time     `json:"since,omitempty" doc:"on duty since"`
	IdleSince    *time.Time     `json:"idle_since,omitempty" doc:"on duty without a task since"`
	Waiting      bool           `json:"waiting" doc:"for a task, right now"`
	SeenAt       *time.Time     `json:"seen_at,omitempty"`
	Leaves       string         `json:"leaves,omitempty" enum:"left,silent,released,moved,unpaid" doc:"goes as soon as he has finished what he holds"`
	Training     int            `json:"training" doc:"tasks of training batches still to do"`
	EarnedMicros crowd.Money    `json:"earned_micros" doc:"by waiting, since he came on duty"`
	Preference   float64        `json:"preference" doc:"how much he likes this pool, 0 to 1"`
	Away         bool           `json:"away" doc:"does not want to be called"`
	Suspended    bool           `json:"suspended"`
}

func toPersonOut(x app.PoolPerson) personOut {
	out := personOut{Worker: x.Worker, Name: x.Name, On: x.On, Since: ptr(x.Since), Waiting: x.Waiting, SeenAt: ptr(x.Seen), Leaves: string(x.Leaves),
		Training: x.Training, EarnedMicros: x.Earned, Preference: x.Preference, Away: x.Away, Suspended: x.Suspended}
	if x.On {
		out.IdleSince = ptr(x.OnCall.Idle)
	}
	return out
}

type noticeOut struct {
	Worker     crowd.WorkerID `json:"worker"`
	State      string         `json:"state" enum:"asked,came,declined,thanked"`
	AskedAt    time.Time      `json:"asked_at"`
	AnsweredAt *time.Time     `json:"answered_at,omitempty"`
}

type messageOut struct {
	Worker  crowd.WorkerID `json:"worker"`
	Channel string         `json:"channel" enum:"mail,push"`
	State   string         `json:"state" enum:"queued,sent,failed,dropped"`
	Tries   int            `json:"tries"`
	SentAt  *time.Time     `json:"sent_at,omitempty"`
	Error   string         `json:"error,omitempty" doc:"of the last try"`
}

type callOut struct {
	ID       int64        `json:"id"`
	At       time.Time    `json:"at"`
	EndsAt   time.Time    `json:"ends_at"`
	Wanted   int          `json:"wanted" doc:"people"`
	Came     int          `json:"came"`
	Notices  []noticeOut  `json:"notices" doc:"who was asked"`
	Messages []messageOut `json:"messages" doc:"newest first"`
}

func toCallOut(c app.PoolCall) callOut {
	return callOut{c.ID, c.At, c.EndsAt, c.Wanted, c.Came,
		mapped(c.Notices, func(n store.Notice) noticeOut {
			return noticeOut{n.Worker, string(n.State), n.AskedAt, ptr(n.AnsweredAt)}
		}),
		mapped(c.Messages, func(m store.Message) messageOut {
			return messageOut{m.Worker, string(m.Channel), string(m.State), m.Tries, ptr(m.SentAt), m.Error}
		})}
}

type firedOut struct {
	At     time.Time `json:"at"`
	Rule   int       `json:"rule" doc:"from 1"`
	Action string    `json:"action" enum:"recruit,release,transfer"`
	N      int       `json:"n" doc:"people"`
	Why    string    `json:"why" doc:"with the figures that the rule looked at"`
}

type ruleSummary struct {
	Rule    int        `json:"rule" doc:"from 1"`
	When    string     `json:"when"`
	Do      string     `json:"do"`
	Fired   int        `json:"fired" doc:"at so many of the samples"`
	FirstAt *time.Time `json:"first_at,omitempty"`
	LastAt  *time.Time `json:"last_at,omitempty"`
}

type testedOut struct {
	Body struct {
		Samples int           `json:"samples" doc:"moments of the last hour that the rules were tried on"`
		From    *time.Time    `json:"from,omitempty" doc:"the first of them"`
		Rules   []ruleSummary `json:"rules"`
		Fired   []firedOut    `json:"fired" doc:"in order of time"`
	}
}

func toTestedOut(rules []pool.Rule, list []pool.Tested) *testedOut {
	out := &testedOut{}
	b := &out.Body
	b.Samples, b.Rules, b.Fired = len(list), make([]ruleSummary, len(rules)), []firedOut{}
	for i, r := range rules {
		b.Rules[i] = ruleSummary{Rule: i + 1, When: r.When, Do: r.Do}
	}
	if len(list) > 0 {
		b.From = &list[0].At
	}
	for i := range list {
		at := &list[i].At
		for _, f := range list[i].Fired {
			verb, rest, _ := strings.Cut(f.Do, " ")
			number, _, _ := strings.Cut(rest, " ")
			n, _ := strconv.Atoi(number) // as package pool has written it
			b.Fired = append(b.Fired, firedOut{*at, f.Rule, verb, n, f.Why})
			r := &b.Rules[f.Rule-1]
			if r.Fired++; r.FirstAt == nil {
				r.FirstAt = at
			}
			r.LastAt = at
		}
	}
	return out
}

func (a *api) livePools() {
	const tag = poolTag
	type nameOut struct {
		Name string `json:"name"`
		Unit string `json:"unit,omitempty"`
		Doc  string `json:"doc"`
	}
	add(a, op{method: http.MethodGet, path: "/v1/pools/metrics-names", summary: "List what the conditions of rules may use", tag: tag, access: signedIn},
		func(context.Context, *app.Principal, *struct{}) (*struct{ Body []nameOut }, error) {
			out := &struct{ Body []nameOut }{}
			for _, n := range pool.Names() {
				out.Body = append(out.Body, nameOut{n.Name, n.Unit, n.Doc})
			}
			return out, nil
		})
	add(a, op{method: http.MethodPost, path: "/v1/pools/{id}/funds", summary: "Add to a pool's money for waiting, or take out of it", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *struct {
			PoolPath
			Body struct {
				AmountMicros crowd.Money `json:"amount_micros" doc:"negative: take out what nobody has earned yet" example:"50000000"`
			}
		}) (*struct{ Body purseOut }, error) {
			id, err := in.pool()
			if err != nil {
				return nil, err
			}
			purse, err := a.app.Pools.Fund(ctx, p, id, in.Body.AmountMicros)
			return &struct{ Body purseOut }{purseOut{purse.Funds, purse.Owed, purse.Paid, purse.Empty}}, err
		})
	type Page struct {
		Before int64 `query:"before" doc:"go on with the last id seen"`
		Limit  int   `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	}
	add(a, op{method: http.MethodGet, path: "/v1/pools/{id}/account", summary: "Show a pool's money for waiting and its latest ledger entries", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *struct {
			PoolPath
			Page
		}) (*accountOut, error) {
			id, err := in.pool()
			if err != nil {
				return nil, err
			}
			entries, err := a.app.Pools.Account(ctx, p, id, in.Before, in.Limit)
			if err != nil {
				return nil, err
			}
			v, err := a.app.Pools.Get(ctx, p, id)
			out := &accountOut{}
			out.Body.BalanceMicros, out.Body.Entries = v.Status.Purse.Funds, mapped(entries, toEntryOut)
			return out, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/pools/{id}/samples", summary: "How a pool looked, every ten seconds of the last day", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *struct {
			PoolPath
			Since float64 `query:"since_seconds" minimum:"0" maximum:"86400" default:"3600" doc:"how far back"`
		}) (*struct{ Body []sampleOut }, error) {
			id, err := in.pool()
			if err != nil {
				return nil, err
			}
			list, err := a.app.Pools.RecentSamples(ctx, p, id, ofSeconds(in.Since))
			return &struct{ Body []sampleOut }{mapped(list, func(s store.Sample) sampleOut {
				return sampleOut{s.At, toMetricsOut(&s.Metrics), s.Funds, s.Waiting}
			})}, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/pools/{id}/actions", summary: "What was done to a pool, by whom and why, newest first", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *struct {
			PoolPath
			Page
		}) (*struct{ Body []actionOut }, error) {
			id, err := in.pool()
			if err != nil {
				return nil, err
			}
			list, err := a.app.Pools.Actions(ctx, p, id, in.Before, in.Limit)
			return &struct{ Body []actionOut }{mapped(list, toActionOut)}, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/pools/{id}/people", summary: "Who belongs to a pool, those on duty first", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *PoolPath) (*struct{ Body []personOut }, error) {
			id, err := in.pool()
			if err != nil {
				return nil, err
			}
			list, err := a.app.Pools.People(ctx, p, id)
			return &struct{ Body []personOut }{mapped(list, toPersonOut)}, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/pools/{id}/calls", summary: "The open call of a pool: who was asked, who came", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *PoolPath) (*struct{ Body []callOut }, error) {
			id, err := in.pool()
			if err != nil {
				return nil, err
			}
			list, err := a.app.Pools.Calls(ctx, p, id)
			return &struct{ Body []callOut }{mapped(list, toCallOut)}, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/pools/{id}/rules/test", summary: "When would rules have fired within the last hour?", tag: tag, access: signedIn,
		text: "Nothing is changed. Each sample is taken as it was: what the rules would have changed is not seen in later ones."},
		func(ctx context.Context, p *app.Principal, in *struct {
			PoolPath
			Body struct {
				Rules *[]pool.Rule `json:"rules,omitempty" doc:"left out: those that the pool has"`
			}
		}) (*testedOut, error) {
			id, err := in.pool()
			if err != nil {
				return nil, err
			}
			var rules []pool.Rule
			if in.Body.Rules != nil {
				rules = *in.Body.Rules
			} else {
				v, err := a.app.Pools.Get(ctx, p, id)
				if err != nil {
					return nil, err
				}
				rules = v.Control.Rules
			}
			list, err := a.app.Pools.TestRules(ctx, p, id, rules)
			if err != nil {
				return nil, err
			}
			return toTestedOut(rules, list), nil
		})
	type transferOut struct {
		Body struct {
			There bool `json:"there" doc:"false: he finishes the task that he holds first"`
		}
	}
	add(a, op{method: http.MethodPost, path: "/v1/pools/{id}/transfers", summary: "Move a worker of this pool to another one", tag: tag, access: signedIn,
		text: "Who holds a task finishes it first. If he does not know the other pool's work, he does its training before its tasks. Who was on duty is so there."},
		func(ctx context.Context, p *app.Principal, in *struct {
			PoolPath
			Body struct {
				Worker crowd.WorkerID `json:"worker"`
				To     crowd.PoolID   `json:"to"`
			}
		}) (*transferOut, error) {
			id, err := in.pool()
			if err != nil {
				return nil, err
			}
			if _, err := a.app.Pools.Get(ctx, p, id); err != nil {
				return nil, err
			}
			u, err := a.app.Accounts.User(ctx, p, in.Body.Worker)
			switch {
			case crowd.CodeOf(err) == crowd.NotFound:
				return nil, crowd.Fieldf("worker", "there is no %s", in.Body.Worker)
			case err != nil:
				return nil, err
			case u.Pool != id:
				return nil, crowd.Fieldf("worker", "%s is not a worker of %s", u.Name, id)
			}
			out := &transferOut{}
			out.Body.There, err = a.app.Transfers.Move(ctx, p, in.Body.Worker, in.Body.To)
			return out, err
		})
}
