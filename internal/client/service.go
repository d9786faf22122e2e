package client

import (
	"context"
	"net/http"

	"github.com/throng-dev/throng/internal/wire"
)

// Services lists the services that the caller may see.
func (c *Client) Services(ctx context.Context) ([]wire.Service, error) {
	return get[[]wire.Service](ctx, c, "/v1/services")
}

// Service returns a service as it stands.
func (c *Client) Service(ctx context.Context, name string) (wire.Service, error) {
	return get[wire.Service](ctx, c, path("services", name))
}

// DeclareService declares a service.
func (c *Client) DeclareService(ctx context.Context, s wire.NewService) (wire.Service, error) {
	return post[wire.Service](ctx, c, "/v1/services", s)
}

// EditService changes a service.
func (c *Client) EditService(ctx context.Context, name string, e wire.ServiceEdit) (wire.Service, error) {
	return call[wire.Service](ctx, c, http.MethodPatch, path("services", name), e)
}

// RemoveService removes a service.
func (c *Client) RemoveService(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodDelete, path("services", name), nil, nil)
}
