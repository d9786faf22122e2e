package web

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/httpkit"
)

// cookieLife is how long a browser keeps the session; the service may end it
// sooner.
const cookieLife = 14 * 24 * time.Hour

// home sends everybody to where their work is.
func (s *server) home(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	to := "/signin"
	switch {
	case p == nil:
	case allowed(worker, p):
		to = "/work"
	case p.Is(access.Requester):
		to = "/batches"
	case allowed(admin, p):
		to = "/admin"
	default: // who was invited, and has a test before them
		to = "/qualify"
	}
	return seeOther(w, r, to, "")
}

func (s *server) signInPage(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	if p != nil {
		return s.home(w, r, p)
	}
	return s.render(w, r, nil, "signin", page{Title: "Sign in", Data: map[string]string{"Next": localPath(r.URL.Query().Get("next"))}})
}

func (s *server) signIn(w http.ResponseWriter, r *http.Request, _ *access.Principal) error {
	values := r.PostForm
	next := localPath(values.Get("next"))
	secret, err := s.App.Accounts.SignIn(r.Context(), strings.TrimSpace(values.Get("name")), values.Get("password"))
	if crowd.CodeOf(err) == crowd.Unauthenticated {
		r = showing(r, once{form: &form{ID: "signin", Values: values, Errs: problems(err)}})
		return s.render(w, r, nil, "signin", page{Title: "Sign in", Data: map[string]string{"Next": next}})
	}
	if err != nil {
		return err
	}
	s.setSession(w, r, secret, cookieLife)
	if next == "" {
		next = "/"
	}
	return seeOther(w, r, next, "")
}

// setSession keeps a session in the browser; a negative life takes it away.
func (s *server) setSession(w http.ResponseWriter, r *http.Request, secret string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: httpkit.SessionCookie, Value: secret, Path: "/", MaxAge: int(life / time.Second),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: httpkit.Encrypted(r, s.TrustProxy),
	})
}

// localPath returns a path of this site, or "": nobody is led elsewhere after
// they have signed in.
func localPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return ""
	}
	if u, err := url.Parse(next); err != nil || u.Host != "" || u.Scheme != "" {
		return ""
	}
	return next
}

func (s *server) signOut(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	if err := s.App.Accounts.SignOut(r.Context(), p); err != nil && crowd.CodeOf(err) != crowd.NotFound {
		return err
	}
	s.setSession(w, r, "", -time.Second)
	return seeOther(w, r, "/signin", "signedout")
}

func (s *server) setupPage(w http.ResponseWriter, r *http.Request, _ *access.Principal) error {
	token := r.FormValue("token") // of the link, or of the form
	name, err := s.App.Accounts.SetupUser(r.Context(), token)
	if err != nil {
		return err
	}
	w.Header().Set("Referrer-Policy", "no-referrer") // the address is a secret
	return s.render(w, r, nil, "setup", page{Title: "Choose a password", Data: map[string]any{"Token": token, "Name": name, "Least": auth.MinPassword}})
}

func (s *server) setup(w http.ResponseWriter, r *http.Request, _ *access.Principal) error {
	password, err := newPassword(r)
	if err != nil {
		return err
	}
	secret, err := s.App.Accounts.Setup(r.Context(), r.PostForm.Get("token"), password)
	if err != nil {
		return err
	}
	s.setSession(w, r, secret, cookieLife)
	return seeOther(w, r, "/", "")
}

// newPassword reads a password that is typed twice.
func newPassword(r *http.Request) (string, error) {
	password := r.PostForm.Get("password")
	if password != r.PostForm.Get("again") {
		return "", crowd.Fieldf("again", "is not the same as the password")
	}
	return password, nil
}
