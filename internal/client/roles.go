package client

import (
	"context"
	"net/http"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// Roles lists the roles.
func (c *Client) Roles(ctx context.Context) ([]wire.Role, error) {
	return get[[]wire.Role](ctx, c, "/v1/roles")
}

// CreateRole makes a role.
func (c *Client) CreateRole(ctx context.Context, n wire.NewRole) (wire.Role, error) {
	return post[wire.Role](ctx, c, "/v1/roles", n)
}

// EditRole changes a role of a tenant; 0: of the installation.
func (c *Client) EditRole(ctx context.Context, tenant crowd.TenantID, name string, e wire.RoleEdit) (wire.Role, error) {
	return call[wire.Role](ctx, c, http.MethodPatch, path("roles", name)+query("tenant", tenant), e)
}

// RemoveRole removes a role of a tenant; 0: of the installation.
func (c *Client) RemoveRole(ctx context.Context, tenant crowd.TenantID, name string) (wire.RemovedRole, error) {
	return call[wire.RemovedRole](ctx, c, http.MethodDelete, path("roles", name)+query("tenant", tenant), nil)
}

// GiveRole gives somebody a role, such as viewer or n1/viewer.
func (c *Client) GiveRole(ctx context.Context, id crowd.WorkerID, role string) (wire.User, error) {
	return post[wire.User](ctx, c, path("users", id, "roles"), wire.GivenRole{Role: role})
}

// TakeRole takes a role for a tenant away from somebody; 0: for the installation.
func (c *Client) TakeRole(ctx context.Context, id crowd.WorkerID, tenant crowd.TenantID, role string) (wire.User, error) {
	return call[wire.User](ctx, c, http.MethodDelete, path("users", id, "roles", role)+query("tenant", tenant), nil)
}
