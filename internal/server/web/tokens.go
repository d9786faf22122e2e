package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
)

func (s *server) tokens(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	return s.showTokens(w, r, p, nil, "")
}

func (s *server) showTokens(w http.ResponseWriter, r *http.Request, p *access.Principal, f *form, secret string) error {
	list, err := s.App.Accounts.Tokens(r.Context(), p)
	if err != nil {
		return err
	}
	var roles []access.Role
	for _, role := range access.Roles() {
		if p.Is(role) {
			roles = append(roles, role)
		}
	}
	return s.renderStatus(w, r, p, f.status(), "tokens", page{Title: "Your API tokens", Section: "tokens", Form: f,
		Data: map[string]any{"Tokens": list, "Roles": roles, "Secret": secret, "Origin": s.origin(r)}})
}

// createToken makes a token and shows its secret, this once.
func (s *server) createToken(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	values := r.PostForm
	f := fields{values: values}
	n := accounts.NewToken{Name: f.text("name"), Life: f.scale("life", 24*time.Hour)}
	for _, role := range values["roles"] {
		n.Roles = append(n.Roles, access.Role(role))
	}
	secret, err := "", f.err()
	if err == nil {
		_, secret, err = s.App.Accounts.CreateToken(r.Context(), p, n)
	}
	if err != nil {
		return showAgain(err, refused("token", values, err), func(bad *form) error { return s.showTokens(w, r, p, bad, "") })
	}
	return s.showTokens(w, r, p, nil, secret)
}

func (s *server) revokeToken(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	id, err := strconv.ParseInt(r.PathValue("token"), 10, 64)
	if err != nil {
		return crowd.Errorf(crowd.NotFound, "there is no such token")
	}
	if err := s.App.Accounts.RevokeToken(r.Context(), p, id); err != nil {
		return err
	}
	return seeOther(w, r, "/tokens", "revoked")
}
