package client

import (
	"context"
	"io"
	"net/http"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// PersonalData copies everything that is kept about a person to w, as JSON Lines.
func (c *Client) PersonalData(ctx context.Context, id crowd.WorkerID, w io.Writer) error {
	return c.download(ctx, path("users", id, "data"), w)
}

// BeforeErasure returns what erasing a person would find.
func (c *Client) BeforeErasure(ctx context.Context, id crowd.WorkerID) (wire.BeforeErasure, error) {
	return get[wire.BeforeErasure](ctx, c, path("users", id, "erasure"))
}

// Erase erases a person.
func (c *Client) Erase(ctx context.Context, id crowd.WorkerID, how wire.ErasePerson) error {
	return c.call(ctx, http.MethodPost, path("users", id, "erasure"), how, nil)
}
