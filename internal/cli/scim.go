package cli

import (
	"cmp"
	"io"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

// Scim is "throng scim".
type Scim struct {
	Providers ScimProviders `cmd:"" help:"List the providers of accounts, with what they have provisioned and when."`
	Token     ScimToken     `cmd:"" help:"Make a token with which a provider keeps people and groups here."`
	Tokens    ScimTokens    `cmd:"" help:"List the tokens of a provider."`
	Revoke    ScimRevoke    `cmd:"" help:"Take a token of a provider away."`
}

// ScimProviders is "throng scim providers".
type ScimProviders struct{ Remote }

// Run lists the providers.
func (s *ScimProviders) Run(c *Context, r *remote) error {
	list, err := r.Providers(c.Ctx)
	return r.print(list, err, func(w io.Writer) {
		writeTable(w, list, "NAME|PEOPLE|SUSPENDED|GROUPS|LAST CHANGE|LAST HEARD|TOKENS", func(p wire.Provider) []any {
			return []any{p.Name, p.People, p.Suspended, p.Groups, cmp.Or(cell(p.ChangedAt), "never"), cmp.Or(cell(p.HeardAt), "never"), len(p.Tokens)}
		})
	})
}

// aProvider is the provider that a command is about.
type aProvider struct {
	Provider string `arg:"" help:"The provider, as the file of throng serve --oidc calls it."`
}

// ScimToken is "throng scim token".
type ScimToken struct {
	aProvider
	Name    string   `placeholder:"TEXT" help:"What it is for; default: the provider's name."`
	Life    *span    `placeholder:"DURATION" xor:"life" help:"How long it is good, such as 30d; default: a year."`
	Forever bool     `xor:"life" help:"It has no end."`
	From    []string `placeholder:"NETWORK" help:"It is good only from this address or network, such as 10.0.0.0/8, and those of others given; may be given often."`
	Remote
}

// Run makes the token.
func (s *ScimToken) Run(c *Context, r *remote) error {
	if err := s.Life.check("life", time.Second); err != nil {
		return err
	}
	made, err := r.CreateProviderToken(c.Ctx, s.Provider, wire.NewProviderToken{Name: s.Name, LifeSeconds: int64(s.Life.orNone().Seconds()), Forever: s.Forever, Networks: s.From})
	made.URL = cmp.Or(made.URL, r.URL+"/scim/v2")
	return r.tell(made, err, "%s\nthe provider sends it to %s; it is good until %s\n", made.Secret, made.URL, cmp.Or(cell(made.ExpiresAt), "it is taken away"))
}

// ScimTokens is "throng scim tokens".
type ScimTokens struct {
	aProvider
	Remote
}

// Run lists the tokens.
func (s *ScimTokens) Run(c *Context, r *remote) error {
	list, err := r.ProviderTokens(c.Ctx, s.Provider)
	return r.print(list, err, func(w io.Writer) {
		writeTable(w, list, "ID|NAME|FROM|MADE|GOOD UNTIL|LAST USED", func(t wire.ProviderToken) []any {
			return []any{t.ID, t.Name, cmp.Or(strings.Join(t.Networks, ", "), "anywhere"), t.CreatedAt, cmp.Or(cell(t.ExpiresAt), "for ever"), cmp.Or(cell(t.UsedAt), "never")}
		})
	})
}

// ScimRevoke is "throng scim revoke".
type ScimRevoke struct {
	aProvider
	ID int64 `arg:"" help:"The token's number, as throng scim tokens has it."`
	Remote
}

// Run takes the token away.
func (s *ScimRevoke) Run(c *Context, r *remote) error {
	err := r.RevokeProviderToken(c.Ctx, s.Provider, s.ID)
	return r.tell(map[string]int64{"id": s.ID}, err, "token %d is good no longer\n", s.ID)
}
