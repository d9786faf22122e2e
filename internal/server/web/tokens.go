package web

import (
	"net/http"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
)

func (s *server) tokens(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	list, err := s.App.Accounts.Tokens(r.Context(), p)
	if err != nil {
		return err
	}
	roles := slices.DeleteFunc(access.Roles(), func(role access.Role) bool { return !p.Is(role) })
	return s.render(w, r, p, "tokens", page{Title: "Your API tokens", Section: "tokens",
		Data: map[string]any{"Tokens": list, "Roles": roles, "Secret": madeOf[string](r), "Origin": s.origin(r)}})
}

// createToken makes a token and shows its secret, this once.
func (s *server) createToken(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	f := sent(r)
	n := accounts.NewToken{Name: f.text("name"), Life: f.scale("life", 24*time.Hour)}
	for _, role := range f.values["roles"] {
		n.Roles = append(n.Roles, access.Role(role))
	}
	if err := f.err(); err != nil {
		return err
	}
	_, secret, err := s.App.Accounts.CreateToken(r.Context(), p, n)
	if err != nil {
		return err
	}
	return s.tokens(w, showing(r, once{made: secret}), p)
}

func (s *server) revokeToken(w http.ResponseWriter, r *http.Request, p *access.Principal, id int64) error {
	return done(w, r, s.App.Accounts.RevokeToken(r.Context(), p, id), "/tokens", "revoked")
}
