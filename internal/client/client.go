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
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/pool"
)

// maxPlain is how many bytes of an answer that is no problem document are told at most.
const maxPlain = 500

// Client calls one server with one token. It is safe for concurrent use.
type Client struct {
	URL   string       // http://host:port
	Token string       // "" before signing in
	HTTP  *http.Client // nil: http.DefaultClient
	// Key, if set, makes the key of each request that makes or moves something. With it, a
	// request is sent again whose connection was lost: it has its effect once.
	Key func() string
}

// As returns a client of the same server with another token.
func (c *Client) As(token string) *Client {
	other := *c
	other.Token = token
	return &other
}

// WithKey returns a client for one request with a key of the caller's.
func (c *Client) WithKey(key string) *Client {
	other := *c
	other.Key = func() string { return key }
	return &other
}

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
		if e.SameAs > 0 {
			list[i].Cause = &table.Duplicate{Of: e.SameAs, Key: e.Field}
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
	r := request{method: method, path: path, kind: kind, body: body}
	if method == http.MethodPost && c.Key != nil {
		r.key = c.Key()
	}
	for n := 0; ; n++ {
		again, err := c.try(ctx, r, read)
		if again == never || r.key == "" || again == lost && n > 0 || n == maxTries || !r.rewind() {
			return err
		}
		timer := time.NewTimer(tryAgain)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// With a key, a request is sent again once after its connection was lost, and a few times
// while the first one is still being carried out.
const (
	tryAgain = time.Second
	maxTries = 30
)

// request is a request as it is sent, maybe more than once.
type request struct {
	method, path, kind, key string
	body                    io.Reader
}

// rewind reports whether the body can be sent again, from its beginning.
func (r *request) rewind() bool {
	if r.body == nil {
		return true
	}
	s, can := r.body.(io.Seeker)
	if can {
		_, err := s.Seek(0, io.SeekStart)
		can = err == nil
	}
	return can
}

// again is why a request with a key may be sent again.
type again int

const (
	never again = iota
	lost        // the connection, before the answer was there
	going       // the first one is being carried out
)

// try sends a request once.
func (c *Client) try(ctx context.Context, r request, read func(io.Reader) error) (again, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.URL+r.path, r.body)
	if err != nil {
		return never, err
	}
	req.Header.Set("User-Agent", "throng")
	if r.body != nil {
		req.Header.Set("Content-Type", r.kind)
	}
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
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
		why := lost
		var dialled *net.OpError
		if ctx.Err() != nil || errors.As(err, &dialled) && dialled.Op == "dial" {
			why = never
		}
		return why, &crowd.Error{Code: crowd.Unavailable, Message: fmt.Sprintf("no answer from %s", c.URL), Cause: err}
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		why := never
		if resp.StatusCode == http.StatusConflict && resp.Header.Get("Retry-After") != "" {
			why = going
		}
		data, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		var p wire.Problem
		if json.Unmarshal(data, &p) != nil || p.Code == "" {
			if code := resp.StatusCode; code == http.StatusBadGateway || code == http.StatusServiceUnavailable || code == http.StatusGatewayTimeout {
				return lost, crowd.Errorf(crowd.Unavailable, "no answer from %s: %s", c.URL, resp.Status) // a proxy's before it
			}
			said := fmt.Sprintf("%s %s: %s", r.method, r.path, resp.Status)
			if text := strings.TrimSpace(string(data)); strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") && text != "" && len(text) <= maxPlain {
				said += ": " + text
			}
			return why, &crowd.Error{Code: crowd.Internal, Message: said}
		}
		return why, errorOf(&p)
	}
	err = read(resp.Body)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return lost, &crowd.Error{Code: crowd.Unavailable, Message: fmt.Sprintf("the answer from %s is cut off", c.URL), Cause: err}
	}
	if err != nil {
		return lost, fmt.Errorf("read the answer to %s %s: %w", r.method, r.path, err)
	}
	return never, nil
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
