package store

import (
	"context"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// HeldRole is a role as somebody holds it.
type HeldRole struct {
	Role   string
	Tenant crowd.TenantID // for which; 0: for the installation
}

// String is the role's name, of a tenant after that: "viewer", "n1/viewer".
func (h HeldRole) String() string {
	if h.Tenant == 0 {
		return h.Role
	}
	return h.Tenant.String() + "/" + h.Role
}

// ParseHeldRole reads what String returns.
func ParseHeldRole(field, text string) (h HeldRole, err error) {
	tenant, role, of := strings.Cut(text, "/")
	if !of {
		tenant, role = "", text
	} else if h.Tenant, err = crowd.ParseTenantID(tenant); err != nil {
		return h, crowd.Fieldf(field, "%q is not a role, such as viewer, or n1/viewer for the tenant n1", text)
	}
	if h.Role = role; role == "" || strings.Contains(role, "/") {
		return h, crowd.Fieldf(field, "%q is not a role, such as viewer, or n1/viewer for the tenant n1", text)
	}
	return h, nil
}

// MarshalText writes what String returns.
func (h HeldRole) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what String returns.
func (h *HeldRole) UnmarshalText(text []byte) (err error) {
	*h, err = ParseHeldRole("role", string(text))
	return err
}

// Role is a role that somebody has made, next to the built-in ones.
type Role struct {
	Tenant      crowd.TenantID // whose it is; 0: the installation's
	Name        string         // unique among those of its owner
	Text        string         // what it is for
	Permissions []string
	CreatedAt   time.Time
}

// NoRole is the error about a role that is not there.
func NoRole(tenant crowd.TenantID, name string) error {
	return crowd.Errorf(crowd.NotFound, "there is no role %s", HeldRole{name, tenant})
}

// Roles keeps the roles that people have made. Who holds them is kept with the people.
type Roles interface {
	// CreateRole keeps a role. A name that its owner has used is a Conflict.
	CreateRole(ctx context.Context, r Role) error
	// UpdateRole replaces the text and the permissions of a role.
	UpdateRole(ctx context.Context, r Role) error
	// DeleteRole takes a role away, from its RoleHolders too.
	DeleteRole(ctx context.Context, tenant crowd.TenantID, name string) error
	// RoleHolders returns who holds a role, ascending: a tenant's, for that tenant; one of
	// the installation, for the installation, and for tenants that have no role of that name.
	RoleHolders(ctx context.Context, tenant crowd.TenantID, name string) ([]crowd.WorkerID, error)
	// ListRoles returns all roles, in order of their tenants and names.
	ListRoles(ctx context.Context) ([]Role, error)
}
