package app_test

import (
	"maps"

	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
)

func init() {
	maps.Copy(calls, map[string]func(s *scene, p *access.Principal) error{
		"Accounts.AllTokens": allTokens,
		"Accounts.Tokens":    func(s *scene, p *access.Principal) error { return second(s.Accounts.Tokens(s.ctx, p, 0)) },
		"Accounts.CreateToken": func(s *scene, p *access.Principal) error {
			_, _, err := s.Accounts.CreateToken(s.ctx, p, accounts.NewToken{Name: "mine", Tenant: p.Token.Tenant})
			return err
		},
		"Accounts.RevokeToken": revokeOwn,
	})
}
