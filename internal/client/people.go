package client

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// SignIn returns the token of a new session.
func (c *Client) SignIn(ctx context.Context, name, password string) (string, error) {
	return c.SignInWith(ctx, wire.Credentials{Name: name, Password: password})
}

// SignInWith is SignIn with a code of a second factor, if there is one.
func (c *Client) SignInWith(ctx context.Context, with wire.Credentials) (string, error) {
	out, err := post[wire.Secret](ctx, c, "/v1/session", with)
	return out.Token, err
}

// SecondFactors returns those of a person.
func (c *Client) SecondFactors(ctx context.Context, id crowd.WorkerID) (wire.SecondFactors, error) {
	return get[wire.SecondFactors](ctx, c, path("users", id, "second-factors"))
}

// ResetSecondFactors takes all second factors of a person away.
func (c *Client) ResetSecondFactors(ctx context.Context, id crowd.WorkerID) error {
	return c.call(ctx, http.MethodDelete, path("users", id, "second-factors"), nil, nil)
}

// SignOut ends the session of the client's token.
func (c *Client) SignOut(ctx context.Context) error {
	return c.call(ctx, http.MethodDelete, "/v1/session", nil, nil)
}

// ChangePassword gives the client's person another password.
func (c *Client) ChangePassword(ctx context.Context, old, password string) error {
	return c.call(ctx, http.MethodPut, "/v1/me/password", wire.NewPassword{Old: old, Password: password}, nil)
}

// Address returns somebody's e-mail address; 0: that of the client's person.
func (c *Client) Address(ctx context.Context, id crowd.WorkerID) (wire.Address, error) {
	return get[wire.Address](ctx, c, addressOf(id))
}

// AskForAddress has somebody asked at their address; 0: the client's person.
func (c *Client) AskForAddress(ctx context.Context, id crowd.WorkerID) error {
	return c.call(ctx, http.MethodPost, addressOf(id)+"/ask", nil, nil)
}

func addressOf(id crowd.WorkerID) string {
	if id == 0 {
		return "/v1/me/address"
	}
	return path("users", id, "address")
}

// ChangeAddress has the client's person asked at another address.
func (c *Client) ChangeAddress(ctx context.Context, to wire.NewAddress) error {
	return c.call(ctx, http.MethodPut, "/v1/me/address", to, nil)
}

// ConfirmAddress makes an address that of the client's person, by what the link in the mail
// has after "token=".
func (c *Client) ConfirmAddress(ctx context.Context, token string) error {
	return c.call(ctx, http.MethodPost, "/v1/me/address/confirm", wire.AddressLink{Token: token}, nil)
}

// Sessions lists where the client's person is signed in.
func (c *Client) Sessions(ctx context.Context) ([]wire.Session, error) {
	return get[[]wire.Session](ctx, c, "/v1/sessions")
}

// EndSession ends a session of the client's person; 0: all.
func (c *Client) EndSession(ctx context.Context, id int64) error {
	where := "/v1/sessions"
	if id != 0 {
		where += "/" + strconv.FormatInt(id, 10)
	}
	return c.call(ctx, http.MethodDelete, where, nil, nil)
}

// Setup uses a one-time link and returns the token of a new session.
func (c *Client) Setup(ctx context.Context, link, password string) (string, error) {
	out, err := post[wire.Secret](ctx, c, "/v1/setup", wire.Setup{Token: link, Password: password})
	return out.Token, err
}

// Tokens lists a person's tokens; 0: one's own.
func (c *Client) Tokens(ctx context.Context, of crowd.WorkerID) ([]wire.Token, error) {
	return get[[]wire.Token](ctx, c, tokens(of))
}

// AllTokens lists the tokens of everybody, the newest first, with ids below before; 0: all.
func (c *Client) AllTokens(ctx context.Context, before int64, limit int) ([]wire.OwnedToken, error) {
	return get[[]wire.OwnedToken](ctx, c, "/v1/tokens/all"+query("before", before, "limit", limit))
}

// RevokeToken takes a token of a person away; 0: of one's own.
func (c *Client) RevokeToken(ctx context.Context, of crowd.WorkerID, id int64) (out wire.RevokedToken, err error) {
	err = c.call(ctx, http.MethodDelete, tokens(of)+"/"+strconv.FormatInt(id, 10), nil, &out)
	return out, err
}

func tokens(of crowd.WorkerID) string {
	if of == 0 {
		return "/v1/tokens"
	}
	return path("users", of, "tokens")
}

// SetupLink makes a new one-time link of a person.
func (c *Client) SetupLink(ctx context.Context, id crowd.WorkerID) (wire.SetupLink, error) {
	return post[wire.SetupLink](ctx, c, path("users", id, "setup-link"), nil)
}

// Me returns who the client's token stands for.
func (c *Client) Me(ctx context.Context) (wire.Me, error) { return get[wire.Me](ctx, c, "/v1/me") }

// CreateToken makes a token and returns its secret.
func (c *Client) CreateToken(ctx context.Context, n wire.NewToken) (string, error) {
	out, err := post[wire.MadeToken](ctx, c, "/v1/tokens", n)
	return out.Secret, err
}

// Tenants lists the tenants that the token may see.
func (c *Client) Tenants(ctx context.Context) ([]wire.Tenant, error) {
	return get[[]wire.Tenant](ctx, c, "/v1/tenants")
}

// CreateTenant adds a tenant.
func (c *Client) CreateTenant(ctx context.Context, t wire.NewTenant) (wire.Tenant, error) {
	return post[wire.Tenant](ctx, c, "/v1/tenants", t)
}

// EditTenant changes a tenant.
func (c *Client) EditTenant(ctx context.Context, id crowd.TenantID, e wire.TenantEdit) (wire.Tenant, error) {
	return call[wire.Tenant](ctx, c, http.MethodPatch, path("tenants", id), e)
}

// Quotas returns what a tenant may have, and what it has.
func (c *Client) Quotas(ctx context.Context, id crowd.TenantID) (wire.Quotas, error) {
	return get[wire.Quotas](ctx, c, path("tenants", id, "quotas"))
}

// SetQuotas sets quotas of a tenant; nil: the default.
func (c *Client) SetQuotas(ctx context.Context, id crowd.TenantID, values map[string]*int64) (wire.Quotas, error) {
	return call[wire.Quotas](ctx, c, http.MethodPut, path("tenants", id, "quotas"), wire.SetQuotas{Values: values})
}

// Retention returns for how long a tenant keeps what.
func (c *Client) Retention(ctx context.Context, id crowd.TenantID) (wire.Retention, error) {
	return get[wire.Retention](ctx, c, path("tenants", id, "retention"))
}

// SetRetention sets for how many days a tenant keeps something (0: for ever); nil: as long
// as the operator says.
func (c *Client) SetRetention(ctx context.Context, id crowd.TenantID, days map[string]*int) (wire.Retention, error) {
	return call[wire.Retention](ctx, c, http.MethodPut, path("tenants", id, "retention"), wire.SetRetention{Days: days})
}

// RetentionPreview returns what is deleted of a tenant, and when, if days were set.
func (c *Client) RetentionPreview(ctx context.Context, id crowd.TenantID, days map[string]*int) (wire.RetentionPreview, error) {
	var list []string
	for _, kind := range slices.Sorted(maps.Keys(days)) {
		value := "default"
		if n := days[kind]; n != nil {
			value = strconv.Itoa(*n)
		}
		list = append(list, kind+"="+value)
	}
	query := url.Values{}
	if len(list) > 0 {
		query.Set("days", strings.Join(list, ","))
	}
	return get[wire.RetentionPreview](ctx, c, path("tenants", id, "retention", "preview")+"?"+query.Encode())
}

// Deposit puts money into a tenant's account.
func (c *Client) Deposit(ctx context.Context, id crowd.TenantID, amount crowd.Money, note string) error {
	return c.call(ctx, http.MethodPost, path("tenants", id, "deposits"), wire.Deposit{AmountMicros: amount, Note: note}, nil)
}

// Balance returns the balance of a tenant's account.
func (c *Client) Balance(ctx context.Context, id crowd.TenantID) (crowd.Money, error) {
	out, err := get[wire.Account](ctx, c, path("tenants", id, "account")+"?limit=1")
	return out.BalanceMicros, err
}

// TenantAccount returns a tenant's account with its ledger entries, newest first: up to limit
// with ids below before (0: all).
func (c *Client) TenantAccount(ctx context.Context, id crowd.TenantID, before int64, limit int) (wire.Account, error) {
	return get[wire.Account](ctx, c, path("tenants", id, "account")+query("limit", limit, "before", before))
}

// Worker returns who a worker of a tenant is, by the tenant's pseudonym or an id.
func (c *Client) Worker(ctx context.Context, tenant crowd.TenantID, worker string) (wire.KnownWorker, error) {
	return get[wire.KnownWorker](ctx, c, path("tenants", tenant, "workers", worker))
}

// Block blocks a worker, by id or the tenant's pseudonym, or lifts that.
func (c *Client) Block(ctx context.Context, tenant crowd.TenantID, worker string, blocked bool) error {
	method := http.MethodDelete
	if blocked {
		method = http.MethodPut
	}
	return c.call(ctx, method, path("tenants", tenant, "blocks", worker), nil, nil)
}

// PutSecret keeps a secret of a tenant.
func (c *Client) PutSecret(ctx context.Context, tenant crowd.TenantID, name string, s wire.NewTenantSecret) error {
	return c.call(ctx, http.MethodPut, path("tenants", tenant, "secrets", name), s, nil)
}

// DeleteSecret forgets one.
func (c *Client) DeleteSecret(ctx context.Context, tenant crowd.TenantID, name string) error {
	return c.call(ctx, http.MethodDelete, path("tenants", tenant, "secrets", name), nil, nil)
}

// Secrets lists a tenant's secrets.
func (c *Client) Secrets(ctx context.Context, tenant crowd.TenantID) ([]wire.TenantSecret, error) {
	return get[[]wire.TenantSecret](ctx, c, path("tenants", tenant, "secrets"))
}

// CreateUser adds a person and returns them with their one-time link.
func (c *Client) CreateUser(ctx context.Context, u wire.NewUser) (wire.MadeUser, error) {
	return post[wire.MadeUser](ctx, c, "/v1/users", u)
}

// Users lists up to limit (0: a hundred) people with ids above after.
func (c *Client) Users(ctx context.Context, after crowd.WorkerID, limit int) ([]wire.User, error) {
	return get[[]wire.User](ctx, c, "/v1/users"+query("after", after, "limit", limit))
}

// User returns a person.
func (c *Client) User(ctx context.Context, id crowd.WorkerID) (wire.User, error) {
	return get[wire.User](ctx, c, path("users", id))
}

// EditUser changes a person.
func (c *Client) EditUser(ctx context.Context, id crowd.WorkerID, e wire.UserEdit) (wire.User, error) {
	return call[wire.User](ctx, c, http.MethodPatch, path("users", id), e)
}

// Invite invites people.
func (c *Client) Invite(ctx context.Context, n wire.NewInvitations) (wire.Invited, error) {
	return post[wire.Invited](ctx, c, "/v1/invitations", n)
}

// Invitations lists the latest invitations: for a tenant, or (0) all that the
// token may see.
func (c *Client) Invitations(ctx context.Context, tenant crowd.TenantID, limit int) ([]wire.Invitation, error) {
	return get[[]wire.Invitation](ctx, c, "/v1/invitations"+query("tenant", tenant, "limit", limit))
}

// ResendInvitation sends an invitation again.
func (c *Client) ResendInvitation(ctx context.Context, id int64) (wire.Invitation, error) {
	return post[wire.Invitation](ctx, c, path("invitations", id, "resend"), nil)
}

// WithdrawInvitation makes the links of an invitation void.
func (c *Client) WithdrawInvitation(ctx context.Context, id int64) (wire.Invitation, error) {
	return post[wire.Invitation](ctx, c, path("invitations", id, "withdraw"), nil)
}

// CreateTest makes a qualification test.
func (c *Client) CreateTest(ctx context.Context, n wire.NewTest) (wire.GivenTest, error) {
	return post[wire.GivenTest](ctx, c, "/v1/tests", n)
}

// Tests lists tests, without templates: of a tenant and of the installation, or (0)
// all that the token may see.
func (c *Client) Tests(ctx context.Context, tenant crowd.TenantID) ([]wire.GivenTest, error) {
	return get[[]wire.GivenTest](ctx, c, "/v1/tests"+query("tenant", tenant))
}

// Test returns a test.
func (c *Client) Test(ctx context.Context, test int64) (wire.GivenTest, error) {
	return get[wire.GivenTest](ctx, c, path("tests", test))
}

// Tries lists the latest hundred tries at a test.
func (c *Client) Tries(ctx context.Context, test int64) ([]wire.Try, error) {
	return get[[]wire.Try](ctx, c, path("tests", test, "tries"))
}

// RetireTest retires a test, or lifts that.
func (c *Client) RetireTest(ctx context.Context, test int64, retired bool) (wire.GivenTest, error) {
	return post[wire.GivenTest](ctx, c, path("tests", test, "retire"), wire.Retire{Retired: retired})
}

// Providers lists the providers of accounts.
func (c *Client) Providers(ctx context.Context) ([]wire.Provider, error) {
	return get[[]wire.Provider](ctx, c, "/v1/providers")
}

func providerTokens(provider string) string {
	return "/v1/providers/" + url.PathEscape(provider) + "/tokens"
}

// ProviderTokens lists the tokens of a provider.
func (c *Client) ProviderTokens(ctx context.Context, provider string) ([]wire.ProviderToken, error) {
	return get[[]wire.ProviderToken](ctx, c, providerTokens(provider))
}

// CreateProviderToken makes a token of a provider.
func (c *Client) CreateProviderToken(ctx context.Context, provider string, n wire.NewProviderToken) (wire.MadeProviderToken, error) {
	return post[wire.MadeProviderToken](ctx, c, providerTokens(provider), n)
}

// RevokeProviderToken takes a token of a provider away.
func (c *Client) RevokeProviderToken(ctx context.Context, provider string, id int64) error {
	return c.call(ctx, http.MethodDelete, providerTokens(provider)+"/"+strconv.FormatInt(id, 10), nil, nil)
}
