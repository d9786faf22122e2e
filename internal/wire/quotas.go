package wire

import "github.com/throng-dev/throng/crowd"

// Quota is what a tenant may have of something, and what it has.
type Quota struct {
	Quota   string `json:"quota" example:"stored-bytes" doc:"its name"`
	Kind    string `json:"kind" enum:"kept,daily,at once,each" doc:"kept: in the store; daily: adds up from midnight to midnight, UTC; at once: under way now; each: of one thing"`
	Unit    string `json:"unit" enum:"number,bytes,MiB,milliseconds"`
	Value   int64  `json:"value" doc:"how much the tenant may have"`
	Used    int64  `json:"used" doc:"how much it has; may be more than the value, if that was lowered; 0 of the kind each"`
	Default int64  `json:"default" doc:"what a tenant may have of which nothing else is set"`
	Set     bool   `json:"set" doc:"an administrator has set the value"`
	Bounds  string `json:"bounds" doc:"what it bounds"`
}

// Quotas are those of a tenant.
type Quotas struct {
	Tenant crowd.TenantID `json:"tenant" example:"n1"`
	Quotas []Quota        `json:"quotas"`
}

// SetQuotas sets quotas of a tenant.
type SetQuotas struct {
	Values map[string]*int64 `json:"values" doc:"by name, in the quota's unit; null: the default again; those that are left out stay" example:"{\"tokens\": 50}"`
}

// Excess tells of a quota that does not suffice.
type Excess struct {
	Quota    string         `json:"quota" example:"stored-bytes"`
	Tenant   crowd.TenantID `json:"tenant" example:"n1" doc:"whose it is; n0: of all who are of no tenant"`
	Unit     string         `json:"unit" enum:"number,bytes,MiB,milliseconds"`
	Value    int64          `json:"value" doc:"how much the tenant may have"`
	Used     int64          `json:"used" doc:"how much it has"`
	Wanted   int64          `json:"wanted" doc:"how much more the request wanted"`
	RaisedBy string         `json:"raised_by" enum:"admin" doc:"who can raise it"`
}
