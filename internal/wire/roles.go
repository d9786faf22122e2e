package wire

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Role is a set of permissions.
type Role struct {
	Name        string           `json:"name"`
	Tenant      crowd.TenantID   `json:"tenant,omitempty" doc:"whose it is; absent: the installation's"`
	Text        string           `json:"text,omitempty" doc:"what it is for"`
	Permissions []string         `json:"permissions"`
	BuiltIn     bool             `json:"built_in,omitempty" doc:"it stays as it is"`
	Holders     []crowd.WorkerID `json:"holders,omitempty" doc:"who holds one that was made, as far as you see people of all for whom it is"`
	CreatedAt   time.Time        `json:"created_at,omitzero"`
}

// NewRole asks for a role to be made.
type NewRole struct {
	Name        string         `json:"name" doc:"a to z, 0 to 9 and -, from a letter on; it cannot be changed"`
	Tenant      crowd.TenantID `json:"tenant,omitempty" doc:"whose it is; left out: your only tenant's, or, of who gives roles of the installation, the installation's"`
	Text        string         `json:"text,omitempty" doc:"what it is for"`
	Permissions []string       `json:"permissions" example:"[\"batches.read\", \"results.read\"]" doc:"that you hold yourself"`
}

// RoleEdit changes a role; what is left out stays.
type RoleEdit struct {
	Text        *string   `json:"text,omitempty"`
	Permissions *[]string `json:"permissions,omitempty" doc:"all of them"`
}

// RemovedRole tells of a role that was removed.
type RemovedRole struct {
	Holders []crowd.WorkerID `json:"holders" doc:"who held it, and does no more"`
}

// GivenRole is a role as somebody is given it.
type GivenRole struct {
	Role string `json:"role" example:"n1/viewer" doc:"viewer for the installation, n1/viewer for the tenant n1"`
}
