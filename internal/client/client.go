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
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
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

// problem is the body of an error.
type problem struct {
	Detail string     `json:"detail"`
	Code   crowd.Code `json:"code"`
	Errors []struct {
		Field   string `json:"field"`
		Line    int    `json:"line"`
		Rule    int    `json:"rule"`
		Part    string `json:"part"`
		Column  int    `json:"column"`
		Message string `json:"message"`
	} `json:"errors"`
}

// Problems is what a server found wrong, when it is more than one thing.
type Problems []*crowd.Error

func (list Problems) Error() string {
	lines := make([]string, len(list))
	for i, e := range list {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap makes errors.As find the first.
func (list Problems) Unwrap() []error {
	errs := make([]error, len(list))
	for i, e := range list {
		errs[i] = e
	}
	return errs
}

func (p *problem) err() error {
	if len(p.Errors) == 0 {
		return &crowd.Error{Code: p.Code, Message: p.Detail}
	}
	list := make(Problems, len(p.Errors))
	for i, e := range p.Errors {
		list[i] = &crowd.Error{Code: p.Code, Field: e.Field, Row: e.Line, Message: e.Message}
		if e.Field == "workflow" && e.Column > 0 {
			list[i].Cause = &InWorkflow{Line: e.Line, Column: e.Column, Message: e.Message}
		}
		if e.Rule > 0 { // the message says where, and the cause for programs
			list[i].Row, list[i].Cause = 0, &pool.RuleError{Rule: e.Rule, Part: e.Part, Line: e.Line, Column: e.Column, Message: e.Message}
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	return list
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
	return c.send(ctx, method, path, "application/json", body, func(r io.Reader) error {
		if out == nil {
			return nil
		}
		return json.NewDecoder(r).Decode(out)
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
		var p problem
		if json.Unmarshal(data, &p) != nil || p.Code == "" {
			return &crowd.Error{Code: crowd.Internal, Message: fmt.Sprintf("%s %s: %s", method, path, resp.Status)}
		}
		return p.err()
	}
	if err := read(resp.Body); err != nil {
		return fmt.Errorf("read the answer to %s %s: %w", method, path, err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func query(pairs ...string) string {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

func waitQuery(wait time.Duration) string {
	if wait <= 0 {
		return ""
	}
	return fmt.Sprintf("?wait_seconds=%g", wait.Seconds())
}
