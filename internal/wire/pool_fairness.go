package wire

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// PoolQueue is the order in which a pool's policy takes batches now.
type PoolQueue struct {
	Policy  string        `json:"policy"`
	Placed  int           `json:"placed" doc:"batches of which something can be handed out"`
	All     int           `json:"all" doc:"batches that want answers"`
	Batches []QueuedBatch `json:"batches" doc:"in order, those without a place last"`
}

// QueuedBatch is a batch in a pool's queue.
type QueuedBatch struct {
	Place      int            `json:"place,omitempty" doc:"from 1; left out: nothing of it can be handed out now"`
	Batch      crowd.BatchID  `json:"batch"`
	Name       string         `json:"name"`
	Tenant     crowd.TenantID `json:"tenant"`
	TenantName string         `json:"tenant_name"`
	Running    int            `json:"running" doc:"answers in somebody's hands"`
	Waiting    int            `json:"waiting" doc:"answers wanted, in nobody's hands"`
	Reason     *crowd.Reason  `json:"reason,omitempty" doc:"why it has no place"`
	Why        string         `json:"why" doc:"what the policy decides by, or why it has no place, in words"`
	Decides    []QueueKey     `json:"decides" doc:"the same by figures: what each policy compares, the outermost first"`
}

// QueueKey is what a policy compares, of one batch.
type QueueKey struct {
	Policy  string        `json:"policy"`
	Words   string        `json:"words"`
	Figures []QueueFigure `json:"figures"`
}

// QueueFigure is one of the figures that a policy decides by.
type QueueFigure struct {
	Name  string   `json:"name"`
	Value *float64 `json:"value,omitempty" doc:"left out: infinite or unknown"`
	Note  string   `json:"note,omitempty"`
}

// QueuePlace is the place of a batch in its pool's queue.
type QueuePlace struct {
	Place int `json:"place" doc:"from 1"`
	Of    int `json:"of" doc:"batches of which something can be handed out"`
}

// PoolFairness is how evenly a pool's people were spread. A requester gets only what
// their own tenants and batches had and were due.
type PoolFairness struct {
	Policy string    `json:"policy"`
	Since  time.Time `json:"since,omitzero" doc:"when counting began: the server was started; left out: it has not yet"`
	At     time.Time `json:"at,omitzero" doc:"of the last look"`
	From   time.Time `json:"from" doc:"begin of the window: of the first minute in it of which something is kept, up to a minute before what was asked for, or later if counting began later"`

	Now     *FairnessIndex `json:"now,omitempty" doc:"at the last look; for who may see all tenants"`
	Mean    *FairnessIndex `json:"mean,omitempty" doc:"over the window; for who may see all tenants"`
	Had     *HadIndex      `json:"had,omitempty" doc:"of what each tenant had in the window by what it was due; for who may see all tenants"`
	HadEver *HadIndex      `json:"had_since_start,omitempty" doc:"the same since counting began; for who may see all tenants"`

	Verdict string         `json:"verdict,omitempty" enum:"nobody-worked,even,uneven" doc:"of the window. even: every tenant that was due 1 % or more of the time had 95 % of it at least; for who may see all tenants"`
	Least   *TenantPortion `json:"least,omitempty" doc:"of an uneven window: the tenant that had the least of what it was due; for who may see all tenants"`

	Tenants []TenantPortion `json:"tenants" doc:"those with most first"`
	Batches []BatchPortion  `json:"batches" doc:"those with most first"`
	Points  []FairnessPoint `json:"points" doc:"about one a minute"`
}

// FairnessIndex is how evenly people are spread. What is not known is left out.
type FairnessIndex struct {
	Jain   *float64 `json:"jain,omitempty" doc:"Jain's index of R/(P T) over the batches that could use somebody: 1 is even; left out: nobody worked"`
	JInf   *float64 `json:"j_inf,omitempty" doc:"J∞ of the same: −n is even among n batches; a mean is over the looks at which it was finite; left out: some batch had nobody, or there was none: see served"`
	Served *float64 `json:"served,omitempty" minimum:"0" maximum:"1" doc:"share of the looks at which every batch that could use somebody had somebody, so that J∞ was finite: 0 or 1 now; left out: there was no such batch"`
	Among  *float64 `json:"jain_tenants,omitempty" doc:"Jain's index of people by weight over the tenants of these batches"`
}

// HadIndex is Jain's index and J∞ of what tenants had by what they were due.
type HadIndex struct {
	Jain *float64 `json:"jain,omitempty" doc:"1: all had as much of it"`
	JInf *float64 `json:"j_inf,omitempty" doc:"left out: some had nothing, or none was due anything"`

	LeftOut int `json:"left_out" doc:"tenants that were due something, but less than 1 % of the time: too little to judge, and not in the figures"`
}

// Portion is what was had of the time of people, and what was due.
type Portion struct {
	WorkedSeconds *float64 `json:"worked_s,omitempty" doc:"for who may see all tenants"`
	DueSeconds    *float64 `json:"due_s,omitempty" doc:"for who may see all tenants"`
	Share         float64  `json:"share" minimum:"0" maximum:"1" doc:"of what all had in the window, or the minute; to a requester in whole percent"`
	DueShare      float64  `json:"due_share" minimum:"0" doc:"by weight among tenants and by priority among a tenant's batches, no more than was wanted; to a requester in whole percent"`
}

// TenantPortion is the portion of a tenant.
type TenantPortion struct {
	Tenant crowd.TenantID `json:"tenant"`
	Name   string         `json:"name,omitempty" doc:"left out of points"`
	Portion
}

// BatchPortion is the portion of a batch.
type BatchPortion struct {
	Batch  crowd.BatchID  `json:"batch"`
	Tenant crowd.TenantID `json:"tenant"`
	Name   string         `json:"name,omitempty" doc:"left out of points"`
	Portion
}

// FairnessPoint is what was seen within about a minute.
type FairnessPoint struct {
	At time.Time `json:"at" doc:"its end"`
	FairnessIndex
	Tenants []TenantPortion `json:"tenants"`
	Batches []BatchPortion  `json:"batches" doc:"the 100 with most, and of each tenant the 10 with most"`
}
