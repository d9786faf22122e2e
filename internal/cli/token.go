package cli

import (
	"github.com/throng-dev/throng/internal/wire"
)

// Token is "throng token".
type Token struct {
	Create TokenCreate `cmd:"" help:"Make a token for a program."`
}

// TokenCreate is "throng token create".
type TokenCreate struct {
	Name   string   `arg:"" help:"What the token is for."`
	Tenant string   `help:"Limit it to one tenant."`
	Role   []string `placeholder:"ROLE" help:"Limit it to these roles: admin, requester, worker."`
	Life   span     `placeholder:"DURATION" help:"How long it is good, such as 30d or 12h; default: for ever."`
	For    string   `placeholder:"NAME" help:"Make it for somebody else; for admins."`
	Remote
}

// Run makes the token.
func (t *TokenCreate) Run(c *Context, r *remote) error {
	tenant, err := r.tenant(t.Tenant)
	if err != nil {
		return err
	}
	n := wire.NewToken{Name: t.Name, Tenant: tenant, Roles: t.Role, LifeSeconds: int64(t.Life.Seconds())}
	if t.For != "" {
		if n.For, err = r.person(t.For); err != nil {
			return err
		}
	}
	secret, err := r.CreateToken(c.Ctx, n)
	return r.tell(map[string]string{"name": t.Name, "token": secret}, err, "%s\n", secret)
}
