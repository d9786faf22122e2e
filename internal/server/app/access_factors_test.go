package app_test

import (
	"maps"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
)

func init() {
	// but takes an error for none: who may, but has nothing of the kind, is told so.
	but := func(err error, codes ...crowd.Code) error {
		for _, c := range codes {
			if crowd.CodeOf(err) == c {
				return nil
			}
		}
		return err
	}
	maps.Copy(calls, map[string]func(s *scene, p *access.Principal) error{
		"Accounts.Factors": func(s *scene, p *access.Principal) error { return second(s.Accounts.Factors(s.ctx, p, p.User.ID)) },
		"Accounts.BeginTOTP": func(s *scene, p *access.Principal) error { // a token cannot
			return but(second(s.Accounts.BeginTOTP(s.ctx, p, "", accounts.Proof{})), crowd.Conflict)
		},
		"Accounts.ConfirmTOTP": func(s *scene, p *access.Principal) error {
			return but(second(s.Accounts.ConfirmTOTP(s.ctx, p, "", "")), crowd.Conflict)
		},
		"Accounts.BeginPasskey": func(s *scene, p *access.Principal) error {
			return but(s.Accounts.BeginPasskey(s.ctx, p, "", "http://localhost", accounts.Proof{}), crowd.Conflict)
		},
		"Accounts.MakePasskey": func(s *scene, p *access.Principal) error {
			return but(second(s.Accounts.MakePasskey(s.ctx, p, "http://localhost")), crowd.Conflict)
		},
		"Accounts.ConfirmPasskey": func(s *scene, p *access.Principal) error {
			return but(second(s.Accounts.ConfirmPasskey(s.ctx, p, accounts.Passkey{Origin: "http://localhost"})), crowd.Conflict)
		},
		"Accounts.AskForProof": func(s *scene, p *access.Principal) error {
			_, _, err := s.Accounts.AskForProof(s.ctx, p, "http://localhost")
			return err
		},
		"Accounts.NewRecoveryCodes": func(s *scene, p *access.Principal) error {
			return but(second(s.Accounts.NewRecoveryCodes(s.ctx, p, accounts.Proof{})), crowd.Conflict)
		},
		"Accounts.RemoveFactor": func(s *scene, p *access.Principal) error {
			return but(s.Accounts.RemoveFactor(s.ctx, p, 999, accounts.Proof{}), crowd.NotFound)
		},
		"Accounts.ResetFactors": func(s *scene, p *access.Principal) error {
			return s.Accounts.ResetFactors(s.ctx, p, s.workers[0].User.ID)
		},
		"Accounts.Address": func(s *scene, p *access.Principal) error { return second(s.Accounts.Address(s.ctx, p, p.User.ID)) },
		"Accounts.ChangeAddress": func(s *scene, p *access.Principal) error { // a token cannot
			return but(s.Accounts.ChangeAddress(s.ctx, p, "x@example.org", accounts.Proof{Password: goodPassword}), crowd.Conflict)
		},
		"Accounts.AskForAddress": func(s *scene, p *access.Principal) error { // no mail is sent
			return but(s.Accounts.AskForAddress(s.ctx, p, p.User.ID), crowd.Conflict)
		},
		"Accounts.AddressToConfirm": func(s *scene, p *access.Principal) error {
			return but(second(s.Accounts.AddressToConfirm(s.ctx, p, "address_x")), crowd.NotFound)
		},
		"Accounts.ConfirmAddress": func(s *scene, p *access.Principal) error { // a token cannot
			return but(s.Accounts.ConfirmAddress(s.ctx, p, "address_x"), crowd.Conflict, crowd.NotFound)
		},
		"Accounts.PersonalData": func(s *scene, p *access.Principal) error { // a limited token cannot
			_, _, err := s.Accounts.PersonalData(s.ctx, p, p.User.ID)
			return but(err, crowd.Forbidden)
		},
		"Accounts.BeforeErasure": func(s *scene, p *access.Principal) error {
			return but(second(s.Accounts.BeforeErasure(s.ctx, p, p.User.ID)), crowd.Forbidden)
		},
		"Accounts.Erase": func(s *scene, p *access.Principal) error { // no token can
			return but(s.Accounts.Erase(s.ctx, p, p.User.ID, accounts.ErasureOrder{}), crowd.Forbidden)
		},
	})
}
