// Package client speaks the API of a Throng server over HTTP: for the CLI, the
// demo and the benchmarks, which see a server as any other program does.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/pool"
)

// Client calls one server with one token. It is safe for concurrent use.
type Client struct {
	URL   string       // http://host:port
	Token string       // "" before signing in
	HTTP  *http.Client // nil: http.DefaultClient
}

// As returns a client of the same server with another token.
func (c *Client) As(token string) *Client { return &Client{URL: c.URL, Token: token, HTTP: c.HTTP} }

func errorOf(p *wire.Problem) error {
	if len(p.Errors) == 0 {
		return &crowd.Error{Code: p.Code, Message: p.Detail}
	}
	list := make(crowd.Errors, len(p.Errors))
	for i, e := range p.Errors {
		list[i] = &crowd.Error{Code: p.Code, Field: e.Field, Row: e.Line, Message: e.Message}
		if e.Field == "workflow" && e.Column > 0 {
			list[i].Cause = &wire.WorkflowError{Line: e.Line, Column: e.Column, Message: e.Message}
		}
		if e.Rule > 0 { // the message names the place, and the cause is for programs
			list[i].Row, list[i].Cause = 0, &pool.RuleError{Rule: e.Rule, Part: e.Part, Line: e.Line, Column: e.Column, Message: e.Message}
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	return list
}

// get reads the reply to a request without a body.
func get[T any](ctx context.Context, c *Client, path string) (T, error) {
	return call[T](ctx, c, http.MethodGet, path, nil)
}

// post sends in as JSON, if not nil, and reads the reply.
func post[T any](ctx context.Context, c *Client, path string, in any) (T, error) {
	return call[T](ctx, c, http.MethodPost, path, in)
}

func call[T any](ctx context.Context, c *Client, method, path string, in any) (out T, err error) {
	err = c.call(ctx, method, path, in, &out)
	return out, err
}

// call sends in as JSON, if not nil, and reads the reply into out, if not nil.
func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return &crowd.Error{Code: crowd.Invalid, Message: "a number in the request is not finite", Cause: err}
		}
		body = bytes.NewReader(data)
	}
	return c.send(ctx, method, path, "application/json", body, into(out))
}

// into reads a reply into out, if not nil.
func into(out any) func(io.Reader) error {
	return func(r io.Reader) error {
		if out == nil {
			return nil
		}
		return json.NewDecoder(r).Decode(out)
	}
}

// download copies a reply to w.
func (c *Client) download(ctx context.Context, path string, w io.Writer) error {
	return c.send(ctx, http.MethodGet, path, "", nil, func(r io.Reader) error {
		_, err := io.Copy(w, r)
		return err
	})
}

// send sends a body and hands the reply's to read.
func (c *Client) send(ctx context.Context, method, path, kind string, body io.Reader, read func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, method, c.URL+path, body)
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	hc := c.HTTP
	if hc == nil {
		hc = http.DefaultClient
	}
	resp, err := hc.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the method and URL are said below
		}
		return &crowd.Error{Code: crowd.Unavailable, Message: fmt.Sprintf("no answer from %s", c.URL), Cause: err}
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		data, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		var p wire.Problem
		if json.Unmarshal(data, &p) != nil || p.Code == "" {
			if code := resp.StatusCode; code == http.StatusBadGateway || code == http.StatusServiceUnavailable || code == http.StatusGatewayTimeout {
				return crowd.Errorf(crowd.Unavailable, "no answer from %s: %s", c.URL, resp.Status) // a proxy's before it
			}
			return &crowd.Error{Code: crowd.Internal, Message: fmt.Sprintf("%s %s: %s", method, path, resp.Status)}
		}
		return errorOf(&p)
	}
	if err := read(resp.Body); errors.Is(err, io.ErrUnexpectedEOF) {
		return &crowd.Error{Code: crowd.Unavailable, Message: fmt.Sprintf("the answer from %s is cut off", c.URL), Cause: err}
	} else if err != nil {
		return fmt.Errorf("read the answer to %s %s: %w", method, path, err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// query is a query of names and values; those that are zero are left out.
func query(pairs ...any) string {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if !reflect.ValueOf(pairs[i+1]).IsZero() {
			q.Set(pairs[i].(string), fmt.Sprint(pairs[i+1]))
		}
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// path is the address below /v1 of these parts.
func path(parts ...any) string {
	text := "/v1"
	for _, part := range parts {
		text += "/" + url.PathEscape(fmt.Sprint(part))
	}
	return text
}
