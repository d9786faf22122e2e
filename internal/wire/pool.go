package wire

import (
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/pool"
)

// Pool is a pool at a glance.
type Pool struct {
	ID      crowd.PoolID `json:"id"`
	Name    string       `json:"name"`
	Policy  string       `json:"policy" example:"tenant-fair(penalty(wfs))"`
	Stopped bool         `json:"stopped" doc:"emergency stop"`
	Called  bool         `json:"called" doc:"only those work who were called and came"`
	Belong  int          `json:"belong" doc:"people who belong to the pool, on duty or not, those lent to other pools among them"`
	Lent    int          `json:"lent" doc:"of belong, who are on duty in other pools"`
	OnDuty  int          `json:"on_duty" doc:"on duty here, those lent by other pools among them, without those outside its gate"`
	Coming  int          `json:"coming" doc:"called, and not here yet"`
	Working int          `json:"working" doc:"hold a task"`
	Waiting int          `json:"waiting" doc:"wait for one"`
	Batches int          `json:"batches" doc:"of all tenants, launched and not ended: everybody who uses the pool sees how busy it is; to a worker who serves some tenants only, of those"`
	Queue   int          `json:"queue" doc:"answers wanted and in nobody's hands, of all tenants, at the last control step; to a worker who serves some tenants only, of those, now"`
	CStar   *int         `json:"c_star,omitempty" doc:"the best number of people, at the last control step; left out: not known"`

	Gate *Gate `json:"gate,omitempty" doc:"left out: the pool has none"`

	Grants []PoolGrant `json:"grants" doc:"the tenants that may have tasks done there; to requesters, of those that are theirs"`

	ControlledBy string `json:"controlled_by,omitempty" doc:"what decides its size; for admins"`
	Advises      bool   `json:"advises,omitempty" doc:"it decides and does nothing; for admins"`

	Notes []string `json:"notes,omitempty" doc:"which of its settings do nothing, as the others are"`
}

// PoolGrant lets a tenant have its tasks done in a pool.
type PoolGrant struct {
	Tenant crowd.TenantID `json:"tenant,omitempty" doc:"left out: every tenant"`
	Invite bool           `json:"invite" doc:"it may invite people to the pool, too"`
}

// MayInvite says what a tenant may do in a pool besides having its tasks done there.
type MayInvite struct {
	Invite bool `json:"invite,omitempty" doc:"it may invite people to the pool, too"`
}

// Gate is a pool's gate as it stands.
type Gate struct {
	Open    bool   `json:"open" doc:"enough people have come, and not all have gone since"`
	Min     int    `json:"min" doc:"with so many people on duty it opens"`
	Max     int    `json:"max" doc:"at most so many are served; 0: no limit"`
	Inside  int    `json:"inside" doc:"people on duty who are served, or wait for it to open"`
	Outside int    `json:"outside" doc:"people who have come and have no place, unpaid; not of on_duty"`
	Text    string `json:"text" doc:"the same in words" example:"closed: 2 of 3 people are here"`
}

// NewPool asks for a pool to be added.
type NewPool struct {
	Name   string `json:"name"`
	Policy string `json:"policy,omitempty" default:"tenant-fair(penalty(wfs))"`
}

// Retainer is how a pool keeps people on call. All of it goes out, and any part
// may come in.
type Retainer struct {
	Called         *bool        `json:"called,omitempty" doc:"only those work who were called and came; else whoever asks for work is on duty, and nobody is called. False where it was true sets a rate that is not changed with it to 0"`
	SilenceSeconds *float64     `json:"silence_seconds,omitempty" doc:"how long somebody who neither works nor waits may stay unheard of before they count as gone; 0: for ever"`
	Rate           *crowd.Money `json:"rate_micros_per_minute,omitempty" doc:"for waiting, from the pool's money"`
	PromiseSeconds *float64     `json:"promise_seconds,omitempty" doc:"nobody is called whose waiting could not be paid for so long; less than 60 counts as 60"`
	Training       *int         `json:"training,omitempty" doc:"tasks of training batches that a newcomer does before others"`
}

// Target is what the best number of people is.
type Target struct {
	Eta         *float64 `json:"eta,omitempty" doc:"weight of the wait against the cost in c*, between 0 and 1; 0: 0.5"`
	Salary      *float64 `json:"salary,omitempty" doc:"pay for waiting that c* takes into account, money a minute; 0: 0.05"`
	WaitSeconds *float64 `json:"wait_seconds,omitempty" doc:"c* is the least number of people with which a task waits no longer; 0: eta decides"`
	Tail        *float64 `json:"tail,omitempty" doc:"the share of the answers that may wait longer than wait_seconds; 0: the mean wait counts"`
}

// Expect is what is known of a pool before anything was observed.
type Expect struct {
	TaskTimeSeconds *float64 `json:"task_time_seconds,omitempty" doc:"how long one answer takes, before any was seen; 0: not known"`
}

// Control is what decides a pool's size. All of it goes out, and any part may
// come in.
type Control struct {
	Elasticity      *string      `json:"elasticity,omitempty" doc:"how it follows the load" example:"ct-p"`
	Stability       *string      `json:"stability,omitempty" doc:"how it replaces people who leave" example:"hybrid"`
	Balance         *bool        `json:"balance,omitempty" doc:"idle people may move between this pool and others that balance"`
	Balancer        *string      `json:"balancer,omitempty" doc:"how it is decided who comes by balance; empty: as the server's --balance says" example:"search(omega=0.8)"`
	Rules           *[]pool.Rule `json:"rules,omitempty" doc:"of the elasticity rules: all of them at every step"`
	Target          *Target      `json:"target,omitempty"`
	Expect          *Expect      `json:"expect,omitempty"`
	Min             *int         `json:"min,omitempty" doc:"fewest people on duty and coming; with a gate, the number that opens it"`
	Max             *int         `json:"max,omitempty" doc:"most people on duty and coming; with a gate, the most who are served; 0: no limit"`
	Gate            *bool        `json:"gate,omitempty" doc:"nothing but tasks of training batches is handed out until min people are on duty, at most max are served, and the others wait outside, unpaid"`
	CooldownSeconds *float64     `json:"cooldown_seconds,omitempty" doc:"how long after growing the pool does not shrink, and the other way round"`
	WindowSeconds   *float64     `json:"window_seconds,omitempty" doc:"what the estimates look back on; 0: five minutes"`
	Advise          *bool        `json:"advise,omitempty" doc:"decide and log, and do nothing"`
	LeastPreference *float64     `json:"least_preference,omitempty" doc:"only people whose preference for the pool is at least so much are called, 0 to 1; who has stated none counts with 0.5; 0: anybody"`
}

// Calling is how a pool calls people. All of it goes out, and any part may come in.
type Calling struct {
	Ask           *float64 `json:"ask,omitempty" doc:"people asked for each one wanted; who answers first comes in"`
	AnswerSeconds *float64 `json:"answer_seconds,omitempty" doc:"after so long without an answer others are asked"`
	LifeSeconds   *float64 `json:"life_seconds,omitempty" doc:"how long a call stays open"`
}

// PoolSettings are the settings of a live pool.
type PoolSettings struct {
	Retainer *Retainer `json:"retainer,omitempty"`
	Control  *Control  `json:"control,omitempty"`
	Calling  *Calling  `json:"calling,omitempty"`
}

// PoolEdit changes a pool; what is left out stays, also within a group.
type PoolEdit struct {
	Name    *string `json:"name,omitempty"`
	Policy  *string `json:"policy,omitempty"`
	Stopped *bool   `json:"stopped,omitempty" doc:"emergency stop"`
	PoolSettings
}

// PoolDetail is all that there is to know of a pool.
type PoolDetail struct {
	Pool
	PoolSettings
	CreatedAt    time.Time     `json:"created_at"`
	Account      RetainerFunds `json:"account"`
	LowFunds     bool          `json:"low_funds,omitempty" doc:"there is no money left for waiting, or it lasts less than ten minutes for those on duty"`
	GateFunds    crowd.Money   `json:"gate_funds_micros,omitempty" doc:"with a closed gate of a pool that calls its people, whose money is less: what those who open it are to be payable for waiting before all of them are called"`
	CallFunds    crowd.Money   `json:"call_funds_micros,omitempty" doc:"of a pool that calls its people, of whom nobody is on duty, and whose money is less: what one person is to be payable for waiting before anybody is called"`
	NeededFunds  crowd.Money   `json:"needed_funds_micros,omitempty" doc:"with low_funds: what those on duty, or one person, are paid for waiting in ten minutes"`
	BoundsUnused bool          `json:"bounds_unused,omitempty" doc:"min and max are kept, and bound nobody until the pool has a gate, calls its people or moves them"`
	At           time.Time     `json:"at,omitzero" doc:"of the last control step; left out: there was none yet"`

	BalancedBy string `json:"balanced_by,omitempty" doc:"the balancer in force, its own or the server's; left out: it does not balance"`

	Metrics  *PoolMetrics  `json:"metrics,omitempty" doc:"at the last control step"`
	Decision *PoolDecision `json:"decision,omitempty" doc:"of the last control step"`
}

// PoolMetrics is what a controller knows of a pool; nil is not known.
type PoolMetrics struct {
	Queue       int      `json:"queue"`
	Workers     int      `json:"workers" doc:"on duty who belong to the pool, here or lent to others: on_duty + lent - borrowed"`
	OnDuty      int      `json:"on_duty" doc:"on duty here, whoever they belong to, without those outside the gate of an open pool"`
	Busy        int      `json:"busy"`
	Idle        int      `json:"idle"`
	Training    int      `json:"training"`
	Coming      int      `json:"coming"`
	Lent        int      `json:"lent" doc:"people of this pool on duty in others"`
	Borrowed    int      `json:"borrowed" doc:"of on_duty, who are lent by others"`
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

// RetainerFunds is a pool's money for waiting.
type RetainerFunds struct {
	Funds crowd.Money `json:"funds_micros" doc:"the pool's money for waiting"`
	Owed  crowd.Money `json:"owed_micros" doc:"earned by those who wait, and not paid yet"`
	Paid  crowd.Money `json:"paid_micros" doc:"for waiting, since the server started"`
	Empty bool        `json:"empty" doc:"waiting cannot be paid"`
}

// PoolDecision is what a control step wanted.
type PoolDecision struct {
	Recruit  int        `json:"recruit" doc:"people to call"`
	Withdraw int        `json:"withdraw" doc:"people called who are no longer wanted"`
	Release  int        `json:"release" doc:"people to let go, each after what they hold"`
	Moves    []PoolMove `json:"moves" doc:"to other pools"`
	Why      []string   `json:"why"`
}

// PoolMove is a worker who moves to another pool.
type PoolMove struct {
	Worker crowd.WorkerID `json:"worker"`
	To     crowd.PoolID   `json:"to"`
}

// PoolFunding adds to a pool's money for waiting, or takes out of it.
type PoolFunding struct {
	AmountMicros crowd.Money `json:"amount_micros" doc:"negative: take out what nobody has earned yet" example:"50000000"`
}

// PoolAction is an entry of a pool's log.
type PoolAction struct {
	ID     int64          `json:"id"`
	At     time.Time      `json:"at"`
	By     crowd.WorkerID `json:"by,omitempty" doc:"the admin; left out: a controller"`
	Kind   string         `json:"kind" enum:"recruit,withdraw,release,transfer,set,funded"`
	N      int            `json:"n" doc:"people"`
	Worker crowd.WorkerID `json:"worker,omitempty" doc:"of a transfer"`
	From   crowd.PoolID   `json:"from,omitempty" doc:"of a transfer, which stands in the logs of both pools"`
	To     crowd.PoolID   `json:"to,omitempty" doc:"of a transfer"`
	Advice bool           `json:"advice" doc:"decided, and not done"`
	Why    []string       `json:"why"`
	Saw    *PoolMetrics   `json:"saw,omitempty" doc:"what the controller saw; of a transfer, of the pool that lends"`
	Failed string         `json:"failed,omitempty" doc:"why it could not be done"`
}

// PoolSample is a pool at a moment.
type PoolSample struct {
	At time.Time `json:"at"`
	PoolMetrics
	Funds   crowd.Money `json:"funds_micros"`
	Waiting crowd.Money `json:"waiting_micros" doc:"paid for waiting since the sample before"`
}

// PoolPerson is somebody who belongs to a pool.
type PoolPerson struct {
	Worker     crowd.WorkerID `json:"worker"`
	Name       string         `json:"name"`
	On         bool           `json:"on" doc:"on duty"`
	Since      time.Time      `json:"since,omitzero" doc:"on duty since"`
	IdleSince  time.Time      `json:"idle_since,omitzero" doc:"on duty without a task since"`
	Waiting    bool           `json:"waiting" doc:"for a task, right now"`
	Outside    int            `json:"outside,omitempty" doc:"place among those whom the gate does not let in"`
	SeenAt     time.Time      `json:"seen_at,omitzero"`
	Leaves     string         `json:"leaves,omitempty" enum:"left,silent,released,moved,unpaid" doc:"goes as soon as they have finished what they hold"`
	Training   int            `json:"training" doc:"tasks of training batches still to do"`
	Earned     crowd.Money    `json:"earned_micros" doc:"by waiting, since they came on duty"`
	Preference float64        `json:"preference" doc:"how much they like this pool, 0 to 1"`
	Home       crowd.PoolID   `json:"home,omitempty" doc:"the pool that has lent them, to which they return when they go off duty; left out: none has"`
	Away       bool           `json:"away" doc:"does not want to be called"`
	Suspended  bool           `json:"suspended"`
}

// PoolCall is an open call.
type PoolCall struct {
	ID       int64     `json:"id"`
	At       time.Time `json:"at"`
	EndsAt   time.Time `json:"ends_at"`
	Wanted   int       `json:"wanted" doc:"people"`
	Came     int       `json:"came"`
	Notices  []Notice  `json:"notices" doc:"who was asked"`
	Messages []Message `json:"messages" doc:"newest first"`
}

// Notice is somebody asked to come.
type Notice struct {
	Worker     crowd.WorkerID `json:"worker"`
	State      string         `json:"state" enum:"asked,came,declined,thanked"`
	AskedAt    time.Time      `json:"asked_at"`
	AnsweredAt time.Time      `json:"answered_at,omitzero"`
}

// Message is a mail or push message of a call.
type Message struct {
	Worker  crowd.WorkerID `json:"worker"`
	Channel string         `json:"channel" enum:"mail,push"`
	State   string         `json:"state" enum:"queued,sent,failed,dropped"`
	Tries   int            `json:"tries"`
	SentAt  time.Time      `json:"sent_at,omitzero"`
	Error   string         `json:"error,omitempty" doc:"of the last try"`
}

// RulesToTest are rules to be tried on what a pool has seen.
type RulesToTest struct {
	Rules *[]pool.Rule `json:"rules,omitempty" doc:"left out: those that the pool has"`
}

// TestedRules is when rules would have fired within the last hour.
type TestedRules struct {
	Samples int           `json:"samples" doc:"moments of the last hour that the rules were tried on"`
	From    time.Time     `json:"from,omitzero" doc:"the first of them"`
	Rules   []RuleSummary `json:"rules"`
	Fired   []FiredRule   `json:"fired" doc:"in order of time"`
}

// RuleSummary is how often a rule would have fired.
type RuleSummary struct {
	Rule    int       `json:"rule" doc:"from 1"`
	When    string    `json:"when"`
	Do      string    `json:"do"`
	Fired   int       `json:"fired" doc:"at so many of the samples"`
	FirstAt time.Time `json:"first_at,omitzero"`
	LastAt  time.Time `json:"last_at,omitzero"`
}

// FiredRule is a moment at which a rule would have fired.
type FiredRule struct {
	At     time.Time `json:"at"`
	Rule   int       `json:"rule" doc:"from 1"`
	Action string    `json:"action" enum:"recruit,release,transfer"`
	N      int       `json:"n" doc:"people"`
	Why    string    `json:"why" doc:"with the figures that the rule looked at"`
}

// Transfer moves a worker to another pool.
type Transfer struct {
	Worker crowd.WorkerID `json:"worker"`
	To     crowd.PoolID   `json:"to"`
}

// Transferred reports whether a worker has moved.
type Transferred struct {
	There bool `json:"there" doc:"false: they finish the task that they hold first"`
}

// MetricName is a name that the conditions of rules may use.
type MetricName struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
	Doc  string `json:"doc"`
}
