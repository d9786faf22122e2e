package client

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/pool"
)

// Pool is a pool at a glance.
type Pool struct {
	ID           crowd.PoolID `json:"id"`
	Name         string       `json:"name"`
	Policy       string       `json:"policy"`
	Stopped      bool         `json:"stopped"`
	Called       bool         `json:"called"`
	Workers      int          `json:"workers"`
	OnDuty       int          `json:"on_duty"`
	Coming       int          `json:"coming"`
	Working      int          `json:"working"`
	Waiting      int          `json:"waiting"`
	Batches      int          `json:"batches"`
	Queue        int          `json:"queue"`
	CStar        *int         `json:"c_star,omitempty"`
	ControlledBy string       `json:"controlled_by,omitempty"`
	Advises      bool         `json:"advises,omitempty"`
}

// Pools lists the pools.
func (c *Client) Pools(ctx context.Context) (out []Pool, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/pools", nil, &out)
	return out, err
}

// CreatePool adds a pool.
func (c *Client) CreatePool(ctx context.Context, name, policy string) (out Pool, err error) {
	in := map[string]string{"name": name}
	if policy != "" {
		in["policy"] = policy
	}
	err = c.call(ctx, http.MethodPost, "/v1/pools", in, &out)
	return out, err
}

// SetPolicy changes the policy of a pool.
func (c *Client) SetPolicy(ctx context.Context, id crowd.PoolID, policy string) (Pool, error) {
	out, err := c.EditPool(ctx, id, PoolEdit{Policy: &policy})
	return out.Pool, err
}

// Retainer says how a pool keeps people on call. Nil is left as it is.
type Retainer struct {
	Called         *bool        `json:"called,omitempty"`
	SilenceSeconds *float64     `json:"silence_seconds,omitempty"`
	Rate           *crowd.Money `json:"rate_micros_per_minute,omitempty"`
	PromiseSeconds *float64     `json:"promise_seconds,omitempty"`
	Training       *int         `json:"training,omitempty"`
}

// Target says what the best number of people is.
type Target struct {
	Eta         *float64 `json:"eta,omitempty"`
	Salary      *float64 `json:"salary,omitempty"`
	WaitSeconds *float64 `json:"wait_seconds,omitempty"`
	Tail        *float64 `json:"tail,omitempty"`
}

// Expect is what is known of a pool before anything was seen.
type Expect struct {
	TaskTimeSeconds *float64 `json:"task_time_seconds,omitempty"`
}

// Control says what decides a pool's size.
type Control struct {
	Elasticity      *string      `json:"elasticity,omitempty"`
	Stability       *string      `json:"stability,omitempty"`
	Balance         *bool        `json:"balance,omitempty"`
	Rules           *[]pool.Rule `json:"rules,omitempty"`
	Target          *Target      `json:"target,omitempty"`
	Expect          *Expect      `json:"expect,omitempty"`
	Min             *int         `json:"min,omitempty"`
	Max             *int         `json:"max,omitempty"`
	CooldownSeconds *float64     `json:"cooldown_seconds,omitempty"`
	WindowSeconds   *float64     `json:"window_seconds,omitempty"`
	Advise          *bool        `json:"advise,omitempty"`
}

// Calling says how a pool calls people.
type Calling struct {
	Ask           *float64 `json:"ask,omitempty"`
	AnswerSeconds *float64 `json:"answer_seconds,omitempty"`
	LifeSeconds   *float64 `json:"life_seconds,omitempty"`
}

// PoolSettings are the settings of a live pool.
type PoolSettings struct {
	Retainer *Retainer `json:"retainer,omitempty"`
	Control  *Control  `json:"control,omitempty"`
	Calling  *Calling  `json:"calling,omitempty"`
}

// PoolEdit changes a pool; nil is left as it is.
type PoolEdit struct {
	Name    *string `json:"name,omitempty"`
	Policy  *string `json:"policy,omitempty"`
	Stopped *bool   `json:"stopped,omitempty"`
	PoolSettings
}

// PoolMetrics is what a controller knows of a pool; nil is not known.
type PoolMetrics struct {
	Queue       int      `json:"queue"`
	Workers     int      `json:"workers"`
	Busy        int      `json:"busy"`
	Idle        int      `json:"idle"`
	Training    int      `json:"training"`
	Coming      int      `json:"coming"`
	CStar       *int     `json:"c_star,omitempty"`
	Lambda      float64  `json:"lambda"`
	Mu          *float64 `json:"mu,omitempty"`
	Abandonment float64  `json:"abandonment"`
	Recruitment *float64 `json:"recruitment,omitempty"`
	Throughput  float64  `json:"throughput"`
	Utilisation *float64 `json:"utilisation,omitempty"`
	WaitP95     float64  `json:"wait_p95"`
	OldestWait  float64  `json:"oldest_wait"`
	Backlog     float64  `json:"backlog"`
	CostPerHour float64  `json:"cost_per_hour"`
	Preference  float64  `json:"preference"`
}

// RetainerFunds is a pool's money for waiting.
type RetainerFunds struct {
	Funds crowd.Money `json:"funds_micros"`
	Owed  crowd.Money `json:"owed_micros"`
	Paid  crowd.Money `json:"paid_micros"`
	Empty bool        `json:"empty"`
}

// PoolDecision is what a control step wanted.
type PoolDecision struct {
	Recruit  int `json:"recruit"`
	Withdraw int `json:"withdraw"`
	Release  int `json:"release"`
	Moves    []struct {
		Worker crowd.WorkerID `json:"worker"`
		To     crowd.PoolID   `json:"to"`
	} `json:"moves"`
	Why []string `json:"why"`
}

// PoolDetail is all that there is to know of a pool.
type PoolDetail struct {
	Pool
	PoolSettings
	CreatedAt time.Time     `json:"created_at"`
	Purse     RetainerFunds `json:"purse"`
	At        time.Time     `json:"at,omitzero"`
	Metrics   *PoolMetrics  `json:"metrics,omitempty"`
	Decision  *PoolDecision `json:"decision,omitempty"`
}

func poolPath(id crowd.PoolID, rest string) string { return "/v1/pools/" + id.String() + rest }

// PoolDetail returns all that there is to know of a pool.
func (c *Client) PoolDetail(ctx context.Context, id crowd.PoolID) (out PoolDetail, err error) {
	err = c.call(ctx, http.MethodGet, poolPath(id, ""), nil, &out)
	return out, err
}

// EditPool changes a pool.
func (c *Client) EditPool(ctx context.Context, id crowd.PoolID, e PoolEdit) (out PoolDetail, err error) {
	err = c.call(ctx, http.MethodPatch, poolPath(id, ""), e, &out)
	return out, err
}

// FundPool adds to a pool's money for waiting, or takes out of it (negative).
func (c *Client) FundPool(ctx context.Context, id crowd.PoolID, amount crowd.Money) (out RetainerFunds, err error) {
	err = c.call(ctx, http.MethodPost, poolPath(id, "/funds"), map[string]crowd.Money{"amount_micros": amount}, &out)
	return out, err
}

// PoolAction is an entry of a pool's log.
type PoolAction struct {
	ID     int64          `json:"id"`
	At     time.Time      `json:"at"`
	By     crowd.WorkerID `json:"by,omitzero"`
	Kind   string         `json:"kind"`
	N      int            `json:"n"`
	Worker crowd.WorkerID `json:"worker,omitzero"`
	To     crowd.PoolID   `json:"to,omitzero"`
	Advice bool           `json:"advice"`
	Why    []string       `json:"why"`
	Saw    *PoolMetrics   `json:"saw,omitempty"`
	Failed string         `json:"failed,omitempty"`
}

// PoolActions returns what was done to a pool and why, newest first: up to limit
// entries with ids below before (0: all).
func (c *Client) PoolActions(ctx context.Context, id crowd.PoolID, before int64, limit int) (out []PoolAction, err error) {
	path := poolPath(id, "/actions?limit="+strconv.Itoa(limit))
	if before > 0 {
		path += "&before=" + strconv.FormatInt(before, 10)
	}
	err = c.call(ctx, http.MethodGet, path, nil, &out)
	return out, err
}

// PoolSample is a pool at a moment.
type PoolSample struct {
	At time.Time `json:"at"`
	PoolMetrics
	Funds   crowd.Money `json:"funds_micros"`
	Waiting crowd.Money `json:"waiting_micros"`
}

// PoolSamples returns how a pool looked within the last time.
func (c *Client) PoolSamples(ctx context.Context, id crowd.PoolID, back time.Duration) (out []PoolSample, err error) {
	err = c.call(ctx, http.MethodGet, poolPath(id, "/samples?since_seconds="+strconv.FormatFloat(back.Seconds(), 'f', -1, 64)), nil, &out)
	return out, err
}

// PoolPerson is somebody of a pool.
type PoolPerson struct {
	Worker     crowd.WorkerID `json:"worker"`
	Name       string         `json:"name"`
	On         bool           `json:"on"`
	Since      time.Time      `json:"since,omitzero"`
	IdleSince  time.Time      `json:"idle_since,omitzero"`
	Waiting    bool           `json:"waiting"`
	SeenAt     time.Time      `json:"seen_at,omitzero"`
	Leaves     string         `json:"leaves,omitempty"`
	Training   int            `json:"training"`
	Earned     crowd.Money    `json:"earned_micros"`
	Preference float64        `json:"preference"`
	Away       bool           `json:"away"`
	Suspended  bool           `json:"suspended"`
}

// PoolPeople lists a pool's people.
func (c *Client) PoolPeople(ctx context.Context, id crowd.PoolID) (out []PoolPerson, err error) {
	err = c.call(ctx, http.MethodGet, poolPath(id, "/people"), nil, &out)
	return out, err
}

// PoolCall is an open call.
type PoolCall struct {
	ID      int64     `json:"id"`
	At      time.Time `json:"at"`
	EndsAt  time.Time `json:"ends_at"`
	Wanted  int       `json:"wanted"`
	Came    int       `json:"came"`
	Notices []struct {
		Worker     crowd.WorkerID `json:"worker"`
		State      string         `json:"state"`
		AskedAt    time.Time      `json:"asked_at"`
		AnsweredAt time.Time      `json:"answered_at,omitzero"`
	} `json:"notices"`
	Messages []struct {
		Worker  crowd.WorkerID `json:"worker"`
		Channel string         `json:"channel"`
		State   string         `json:"state"`
		Tries   int            `json:"tries"`
		SentAt  time.Time      `json:"sent_at,omitzero"`
		Error   string         `json:"error,omitempty"`
	} `json:"messages"`
}

// PoolCalls lists a pool's open calls.
func (c *Client) PoolCalls(ctx context.Context, id crowd.PoolID) (out []PoolCall, err error) {
	err = c.call(ctx, http.MethodGet, poolPath(id, "/calls"), nil, &out)
	return out, err
}

// TestedRules says when rules would have fired within the last hour.
type TestedRules struct {
	Samples int       `json:"samples"`
	From    time.Time `json:"from,omitzero"`
	Rules   []struct {
		Rule    int       `json:"rule"`
		When    string    `json:"when"`
		Do      string    `json:"do"`
		Fired   int       `json:"fired"`
		FirstAt time.Time `json:"first_at,omitzero"`
		LastAt  time.Time `json:"last_at,omitzero"`
	} `json:"rules"`
	Fired []struct {
		At     time.Time `json:"at"`
		Rule   int       `json:"rule"`
		Action string    `json:"action"`
		N      int       `json:"n"`
		Why    string    `json:"why"`
	} `json:"fired"`
}

// TestRules says when rules (nil: those that the pool has) would have fired.
func (c *Client) TestRules(ctx context.Context, id crowd.PoolID, rules []pool.Rule) (out TestedRules, err error) {
	in := map[string]any{}
	if rules != nil {
		in["rules"] = rules
	}
	err = c.call(ctx, http.MethodPost, poolPath(id, "/rules/test"), in, &out)
	return out, err
}

// Transfer moves a worker from one pool to another. It says whether he is there;
// if not, he finishes what he holds first.
func (c *Client) Transfer(ctx context.Context, from crowd.PoolID, worker crowd.WorkerID, to crowd.PoolID) (there bool, err error) {
	var out struct {
		There bool `json:"there"`
	}
	err = c.call(ctx, http.MethodPost, poolPath(from, "/transfers"), map[string]any{"worker": worker, "to": to}, &out)
	return out.There, err
}
