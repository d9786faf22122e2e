package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
)

// defaultServer is where "throng serve" listens if nobody says otherwise.
const defaultServer = "http://127.0.0.1:8080"

// Remote is the server that a command talks to.
type Remote struct {
	Server string `placeholder:"URL" env:"THRONG_SERVER" help:"The server; default ${server}."`
	Token  string `env:"THRONG_TOKEN" help:"Act with this token instead of the saved login."`
	Output
}

// remote is a connection: the client, and calls that it does not have.
type remote struct {
	*client.Client
	c *Context
}

// connect returns the client of the server, with the token or the saved login.
func (r *Remote) connect(c *Context) (*remote, error) {
	server, err := r.server()
	if err != nil {
		return nil, err
	}
	token := r.Token
	if token == "" {
		saved, err := readLogins()
		if err != nil {
			return nil, err
		}
		token = saved.Servers[server].Token
	}
	return &remote{&client.Client{URL: server, Token: token}, c}, nil
}

// server returns the server's URL in the one form under which logins are kept.
func (r *Remote) server() (string, error) {
	text := cmp.Or(r.Server, defaultServer)
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return "", wrong("server", "%q is not a server (like %s)", text, defaultServer)
	}
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host) + strings.TrimRight(u.Path, "/"), nil
}

// logins are the saved sessions.
type logins struct {
	Servers map[string]login `json:"servers"`
}

type login struct {
	Name  string `json:"name"`
	Token string `json:"token"`
}

func loginFile() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "throng", "login.json"), err
}

// readLogins reads the saved sessions; where there is no file there are none.
func readLogins() (logins, error) {
	saved := logins{Servers: make(map[string]login)}
	name, err := loginFile()
	if err != nil {
		return saved, nil //nolint:nilerr // no home folder: nothing is saved
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return saved, nil
	}
	if err != nil {
		return saved, err
	}
	if err := json.Unmarshal(data, &saved); err != nil {
		return saved, fmt.Errorf("%s is damaged (remove it, and sign in again): %w", name, err)
	}
	if saved.Servers == nil {
		saved.Servers = make(map[string]login)
	}
	return saved, nil
}

// write saves the sessions so that only the user can read them.
func (l logins) write() error {
	name, err := loginFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".login.*") // 0600
	if err != nil {
		return err
	}
	if err = writeJSON(f, l); err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one to tell
	}
	return err
}

// call does what package client has no method for yet.
func (r *remote) call(method, path string, in, out any) error {
	body := []byte(nil)
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(r.c.Ctx, method, r.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.Token != "" {
		req.Header.Set("Authorization", "Bearer "+r.Token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return &crowd.Error{Code: crowd.Unavailable, Message: "no answer from " + r.URL, Cause: unwrapURL(err)}
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return refusal(resp, method+" "+path)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

// unwrapURL leaves out the method and URL, which are said already.
func unwrapURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// refusal reads the error of a response.
func refusal(resp *http.Response, what string) error {
	data, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // what cannot be read is no problem+json either
	var p struct {
		Detail string         `json:"detail"`
		Code   crowd.Code     `json:"code"`
		Errors []problemEntry `json:"errors"`
	}
	if json.Unmarshal(data, &p) != nil || p.Code == "" {
		return crowd.Errorf(crowd.Internal, "%s: %s", what, resp.Status)
	}
	var list client.Problems
	for _, e := range p.Errors {
		list = append(list, &crowd.Error{Code: p.Code, Field: e.Field, Row: e.Line, Message: e.Message})
	}
	if len(list) == 0 {
		return crowd.Errorf(p.Code, "%s", p.Detail)
	}
	return several(list)
}

// background is the context of what must be done even after an interrupt.
func (c *Context) background() context.Context { return context.WithoutCancel(c.Ctx) }

// tenant finds a tenant by id or name.
func (r *remote) tenant(text string) (crowd.TenantID, error) {
	if id, err := crowd.ParseTenantID(text); err == nil {
		return id, nil
	}
	list, err := r.Tenants(r.c.Ctx)
	if err != nil {
		return 0, err
	}
	for _, t := range list {
		if t.Name == text {
			return t.ID, nil
		}
	}
	return 0, &crowd.Error{Code: crowd.NotFound, Field: "tenant", Message: "no such tenant"}
}

// optionalTenant is 0 where nothing is given.
func (r *remote) optionalTenant(text string) (crowd.TenantID, error) {
	if text == "" {
		return 0, nil
	}
	return r.tenant(text)
}

// pool finds a pool by id or name.
func (r *remote) pool(text string) (crowd.PoolID, error) {
	if text == "" {
		return 0, nil
	}
	if id, err := crowd.ParsePoolID(text); err == nil {
		return id, nil
	}
	list, err := r.Pools(r.c.Ctx)
	if err != nil {
		return 0, err
	}
	for _, p := range list {
		if p.Name == text {
			return p.ID, nil
		}
	}
	return 0, &crowd.Error{Code: crowd.NotFound, Field: "pool", Message: "no such pool"}
}

// people lists everybody, page by page, until do says stop.
func (r *remote) people(do func(wire.User) (goOn bool)) error {
	const page = 1000
	after := crowd.WorkerID(0)
	for {
		list, err := r.Users(r.c.Ctx, after, page)
		if err != nil {
			return err
		}
		for _, u := range list {
			if !do(u) {
				return nil
			}
			after = u.ID
		}
		if len(list) < page {
			return nil
		}
	}
}

// person finds a person by id or name.
func (r *remote) person(text string) (id crowd.WorkerID, err error) {
	if id, err = crowd.ParseWorkerID(text); err == nil {
		return id, nil
	}
	err = r.people(func(u wire.User) bool {
		if strings.EqualFold(u.Name, text) {
			id = u.ID
		}
		return id == 0
	})
	if err == nil && id == 0 {
		err = &crowd.Error{Code: crowd.NotFound, Field: "name", Message: "nobody is called " + text}
	}
	return id, err
}

// link is where a person sets his password, once.
func (r *remote) link(secret string) string { return r.URL + "/setup?token=" + secret }
