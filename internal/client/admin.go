package client

import (
	"context"
	"net/http"

	"github.com/throng-dev/throng/crowd"
)

type tokenReply struct {
	Token string `json:"token"`
}

// SignIn returns the token of a new session.
func (c *Client) SignIn(ctx context.Context, name, password string) (string, error) {
	var out tokenReply
	err := c.call(ctx, http.MethodPost, "/v1/session", map[string]string{"name": name, "password": password}, &out)
	return out.Token, err
}

// Setup uses a one-time link up and returns the token of a new session.
func (c *Client) Setup(ctx context.Context, link, password string) (string, error) {
	var out tokenReply
	err := c.call(ctx, http.MethodPost, "/v1/setup", map[string]string{"token": link, "password": password}, &out)
	return out.Token, err
}

// Me is who a token stands for.
type Me struct {
	ID      crowd.WorkerID   `json:"id"`
	Name    string           `json:"name"`
	Roles   []string         `json:"roles"`
	Tenants []crowd.TenantID `json:"tenants"`
}

// Me returns who the client's token stands for.
func (c *Client) Me(ctx context.Context) (out Me, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/me", nil, &out)
	return out, err
}

// NewToken is what is needed to make a token.
type NewToken struct {
	Name        string         `json:"name"`
	Tenant      crowd.TenantID `json:"tenant,omitzero"`
	Roles       []string       `json:"roles,omitempty"`
	LifeSeconds int64          `json:"life_seconds,omitempty"`
	For         crowd.WorkerID `json:"for,omitzero"`
}

// CreateToken makes a token and returns its secret.
func (c *Client) CreateToken(ctx context.Context, n NewToken) (string, error) {
	var out tokenReply
	err := c.call(ctx, http.MethodPost, "/v1/tokens", n, &out)
	return out.Token, err
}

// Tenant is a tenant.
type Tenant struct {
	ID      crowd.TenantID `json:"id"`
	Name    string         `json:"name"`
	Weight  float64        `json:"weight"`
	Stopped bool           `json:"stopped"`
}

// Tenants lists the tenants that the token may see.
func (c *Client) Tenants(ctx context.Context) (out []Tenant, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/tenants", nil, &out)
	return out, err
}

// CreateTenant adds a tenant.
func (c *Client) CreateTenant(ctx context.Context, name string, weight float64) (out Tenant, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/tenants", map[string]any{"name": name, "weight": weight}, &out)
	return out, err
}

// Deposit puts money into a tenant's account.
func (c *Client) Deposit(ctx context.Context, id crowd.TenantID, amount crowd.Money, note string) error {
	return c.call(ctx, http.MethodPost, "/v1/tenants/"+id.String()+"/deposits", map[string]any{"amount_micros": amount, "note": note}, nil)
}

// Balance returns the balance of a tenant's account.
func (c *Client) Balance(ctx context.Context, id crowd.TenantID) (crowd.Money, error) {
	var out struct {
		Balance crowd.Money `json:"balance_micros"`
	}
	err := c.call(ctx, http.MethodGet, "/v1/tenants/"+id.String()+"/account?limit=1", nil, &out)
	return out.Balance, err
}

// User is a person.
type User struct {
	ID             crowd.WorkerID   `json:"id,omitzero"`
	Name           string           `json:"name"`
	FullName       string           `json:"full_name,omitempty"`
	Email          string           `json:"email,omitempty"`
	Admin          bool             `json:"admin,omitempty"`
	Tenants        []crowd.TenantID `json:"tenants,omitempty"`
	Pool           crowd.PoolID     `json:"pool,omitzero"`
	Suspended      bool             `json:"suspended,omitempty"`
	Qualifications map[string]int   `json:"qualifications,omitempty"`
}

// CreateUser adds a person and returns him with the secret of his one-time link.
func (c *Client) CreateUser(ctx context.Context, u User) (User, string, error) {
	var out struct {
		User
		SetupToken string `json:"setup_token"`
	}
	u.ID = 0
	err := c.call(ctx, http.MethodPost, "/v1/users", u, &out)
	return out.User, out.SetupToken, err
}

// Users lists people with ids above after.
func (c *Client) Users(ctx context.Context, after crowd.WorkerID, limit string) (out []User, err error) {
	from := ""
	if after != 0 {
		from = after.String()
	}
	err = c.call(ctx, http.MethodGet, "/v1/users"+query("after", from, "limit", limit), nil, &out)
	return out, err
}
