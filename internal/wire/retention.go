package wire

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// RetentionRule is for how long a tenant keeps something.
type RetentionRule struct {
	Kind    string `json:"kind" enum:"answers,files,logs"`
	Days    int    `json:"days" doc:"for how many days it is kept; 0: for ever"`
	Since   string `json:"since" doc:"from when on they count"`
	Set     bool   `json:"set" doc:"the tenant has set it"`
	Default int    `json:"default" doc:"days of a tenant that has set nothing; 0: for ever"`
	Least   int    `json:"least,omitempty" doc:"the fewest days that the operator allows"`
	Most    int    `json:"most,omitempty" doc:"the most; left out: for ever"`
	Goes    string `json:"goes" doc:"what is deleted then"`
	Stays   string `json:"stays" doc:"what is not"`
}

// Retention is for how long a tenant keeps what.
type Retention struct {
	Tenant crowd.TenantID  `json:"tenant" example:"n1"`
	Rules  []RetentionRule `json:"rules"`
}

// SetRetention sets for how long a tenant keeps things.
type SetRetention struct {
	Days map[string]*int `json:"days" doc:"by kind, in days; 0: for ever; null: as the operator says; those that are left out stay" example:"{\"answers\": 365}"`
}

// RetentionPreview is what is deleted, and when.
type RetentionPreview struct {
	Tenant     crowd.TenantID  `json:"tenant" example:"n1"`
	At         time.Time       `json:"at"`
	Rules      []RetentionRule `json:"rules" doc:"by which it is foreseen"`
	Things     []Expiry        `json:"things" doc:"batches and runs that have ended, those that go first at the front"`
	More       bool            `json:"more,omitempty" doc:"there are more of them"`
	LogsBefore time.Time       `json:"logs_before,omitzero" doc:"entries of the audit log of before this lose their details now; left out: none do"`
}

// Expiry is when something of a batch or a run is deleted.
type Expiry struct {
	Kind     string        `json:"kind" enum:"answers,files"`
	Batch    crowd.BatchID `json:"batch,omitempty" doc:"left out: it is a run, with its batches"`
	Run      crowd.RunID   `json:"run,omitempty"`
	Name     string        `json:"name"`
	EndedAt  time.Time     `json:"ended_at"`
	At       time.Time     `json:"at,omitzero" doc:"when it is deleted, or soon after if that is past; left out: needed_by has to end first"`
	NeededBy crowd.RunID   `json:"needed_by,omitempty" doc:"the run that takes over its rows and has not ended"`
}
