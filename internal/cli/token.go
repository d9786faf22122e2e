package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/pages"
	"github.com/throng-dev/throng/internal/wire"
)

// Token is "throng token".
type Token struct {
	Create TokenCreate `cmd:"" help:"Make a token for a program."`
	List   TokenList   `cmd:"" help:"List tokens, without what they are."`
	Revoke TokenRevoke `cmd:"" help:"Take a token away."`
}

// TokenCreate is "throng token create".
type TokenCreate struct {
	Name    string   `arg:"" help:"What the token is for."`
	Tenant  string   `help:"Limit it to one tenant."`
	Role    []string `placeholder:"ROLE" help:"Limit it to these roles, such as requester or worker."`
	Scope   []string `placeholder:"PERMISSION" help:"Limit it to these permissions, such as batches.read; separated by commas, or given often."`
	Life    *span    `placeholder:"DURATION" xor:"life" help:"How long it is good, such as 30d or 12h; default: 90 days."`
	Forever bool     `xor:"life" help:"It has no end."`
	From    []string `placeholder:"NETWORK" help:"It is good only from this address or network, such as 10.0.0.0/8, and those of others given; may be given often."`
	For     string   `placeholder:"NAME" help:"Make it for somebody else; for admins."`
	Remote
}

// Run makes the token.
func (t *TokenCreate) Run(c *Context, r *remote) error {
	tenant, err := r.tenant(t.Tenant)
	if err != nil {
		return err
	}
	if err := t.Life.check("life", time.Second); err != nil {
		return err
	}
	n := wire.NewToken{Name: t.Name, Tenant: tenant, Roles: t.Role, Scopes: t.Scope, LifeSeconds: int64(t.Life.orNone().Seconds()), Forever: t.Forever, Networks: t.From}
	if t.For != "" {
		if n.For, err = r.person(t.For); err != nil {
			return err
		}
	}
	secret, err := r.CreateToken(c.Ctx, n)
	return r.tell(map[string]string{"name": t.Name, "token": secret}, err, "%s\n", secret)
}

// whose is a person whose tokens a command is about.
type whose struct {
	For string `placeholder:"NAME" xor:"whose" help:"Of somebody else; for admins."`
	Remote
}

func (w *whose) id(r *remote) (crowd.WorkerID, error) {
	if w.For == "" {
		return 0, nil
	}
	return r.person(w.For)
}

// TokenList is "throng token list".
type TokenList struct {
	whose
	All bool `xor:"whose" help:"Of everybody, the newest first; for admins."`
}

// Run lists the tokens.
func (t *TokenList) Run(c *Context, r *remote) error {
	if t.All {
		return listAllTokens(c, r)
	}
	of, err := t.id(r)
	if err != nil {
		return err
	}
	list, err := r.Tokens(c.Ctx, of)
	return r.print(list, err, func(w io.Writer) {
		writeTable(w, list, "ID|"+tokenColumns, func(t wire.Token) []any { return append([]any{t.ID}, tokenCells(&t)...) })
	})
}

// listAllTokens lists the tokens of everybody.
func listAllTokens(c *Context, r *remote) error {
	list, err := pages.List(pageSize, func(before int64, limit int) ([]wire.OwnedToken, error) {
		return r.AllTokens(c.Ctx, before, limit)
	}, func(t *wire.OwnedToken) int64 { return t.ID })
	return r.print(list, err, func(w io.Writer) {
		writeTable(w, list, "ID|OWNER|MADE BY|"+tokenColumns, func(t wire.OwnedToken) []any {
			return append([]any{t.ID, t.OwnerName, t.MakerName}, tokenCells(&t.Token)...)
		})
	})
}

const tokenColumns = "NAME|AS|SCOPES|FROM|MADE|MADE WITH|GOOD UNTIL|LAST USED"

func tokenCells(t *wire.Token) []any {
	as := strings.Join(t.Roles, ", ")
	if t.Tenant != 0 {
		as = strings.TrimSpace("tenant " + t.Tenant.String() + " " + as)
	}
	with := ""
	if t.MadeWith != 0 {
		with = fmt.Sprintf("token %d", t.MadeWith)
	}
	until := cmp.Or(cell(t.ExpiresAt), "for ever")
	if t.Suspended {
		until = "refused: its owner is suspended"
	}
	return []any{t.Name, cmp.Or(as, "all roles"), cmp.Or(strings.Join(t.Scopes, ", "), "all"), cmp.Or(strings.Join(t.Networks, ", "), "anywhere"), t.CreatedAt, with,
		until, cmp.Or(cell(t.UsedAt), "never")}
}

// TokenRevoke is "throng token revoke".
type TokenRevoke struct {
	ID int64 `arg:"" help:"Its number, as throng token list has it."`
	whose
}

// Run takes the token away.
func (t *TokenRevoke) Run(c *Context, r *remote) error {
	of, err := t.id(r)
	var with wire.RevokedToken
	if err == nil {
		with, err = r.RevokeToken(c.Ctx, of, t.ID)
	}
	made := ""
	if n := with.EndedWith; n > 0 {
		made = fmt.Sprintf(", and neither are %d tokens and one-time links that were made with it", n)
		if n == 1 {
			made = ", and neither is the token or one-time link that was made with it"
		}
	}
	return r.tell(map[string]int64{"id": t.ID, "ended_with": int64(with.EndedWith)}, err, "token %d is good no longer%s\n", t.ID, made)
}
