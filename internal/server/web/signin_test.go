package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/store"
)

// Guesses of others at a name do not keep its owner out of the browser in which they
// have signed in before.
func TestABrowserThatIsKnownSignsIn(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	own, stranger := c.workers[0], c.browser(t, "w1")
	own.get("/work").form("/signout").send().want(200, "You are signed out")
	in := stranger.get("/signin").form("/signin").set("name", "w1")
	for range 10 {
		in.set("password", "wrong password").send().want(http.StatusUnauthorized)
	}
	p := in.set("password", password).send().want(http.StatusTooManyRequests, "Too many wrong passwords")
	if wait, err := strconv.Atoi(p.Header.Get("Retry-After")); err != nil || wait < 1 || wait > 10 { // some of them have passed
		t.Errorf("the answer says to try again in %q seconds, want 10 at most", p.Header.Get("Retry-After"))
	}
	own.get("/signin").form("/signin").set("name", "w1").set("password", password).send().want(200)
}

// pacedAnswer notes whether the body of its request has to come in time.
type pacedAnswer struct {
	*httptest.ResponseRecorder
	paced bool
}

func (a *pacedAnswer) SetReadDeadline(at time.Time) error {
	a.paced = a.paced || !at.IsZero()
	return nil
}

// TestFormsKeepAPace: a form that comes too slowly is cut off: see httpkit.
func TestFormsKeepAPace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	paths := 0
	for _, rt := range routes() {
		path, is := strings.CutPrefix(rt.pattern, "POST ")
		if !is || rt.access != public {
			continue
		}
		paths++
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader("name=x&password=x&token=x"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		a := &pacedAnswer{ResponseRecorder: httptest.NewRecorder()}
		if s.Config.Handler.ServeHTTP(a, r); !a.paced {
			t.Errorf("%s: %d, though it may come as slowly as it likes", path, a.Code)
		}
	}
	if paths < 3 {
		t.Errorf("only %d public forms", paths)
	}
}

// Forms that anybody may send are small.
func TestPublicFormsAreSmall(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	paths := 0
	for _, rt := range routes() {
		path, is := strings.CutPrefix(rt.pattern, "POST ")
		if !is || rt.access != public {
			continue
		}
		paths++
		for size, want := range map[int]bool{8 << 10: false, 1 << 20: true} {
			resp, err := s.Client().PostForm(s.URL+path, url.Values{"name": {strings.Repeat("x", size)}, "password": {"x"}, "token": {"x"}})
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if got := resp.StatusCode == http.StatusRequestEntityTooLarge; got != want {
				t.Errorf("%s with %d bytes: %d", path, size, resp.StatusCode)
			}
		}
	}
	if paths < 3 {
		t.Errorf("only %d public forms", paths)
	}
}

// Whoever is suspended is told so, and may sign in by another name. What they held goes to
// others; when that is lifted they sign in anew and go on.
func TestAPageForWhoIsSuspended(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	w := c.workers[0]
	id := w.principal().User.ID.String()
	c.launchCats("Cats")
	w.get("/work").want(200, "a cat?")
	c.boss.post("/admin/people/"+id+"/suspend", url.Values{"suspended": {"1"}}).want(200)
	w.get("/work").want(http.StatusForbidden, "Not allowed", "Your account is suspended").without("role")
	c.boss.get("/admin/people/"+id).want(200, "With a password.", "Suspended by an administrator.")
	c.boss.get("/admin/pools/p1").want(200, "suspended").without("is let go after it")
	c.boss.post("/admin/people/"+id+"/suspend", url.Values{"suspended": {""}}).want(200)
	w.get("/work").want(200).at("/signin")
	w.get("/signin").form("/signin").set("name", "w1").set("password", password).send().want(200).at("/work")
	w.get("/work").want(200, "a cat?").without("last task", "off duty").form("/work/skip").send().want(200, "Skipped.", "a cat?")
	c.boss.post("/admin/people/"+id+"/suspend", url.Values{"suspended": {"1"}}).want(200)
	w.get("/signin").want(200, "Sign in").form("/signin").set("name", "w1").set("password", password).send().want(http.StatusForbidden, "Your account is suspended")
	w.get("/signin").form("/signin").set("name", "w2").set("password", password).send().want(200).at("/work")
}

// Whoever may do nothing reads why, where they come to after they have signed in.
func TestAPageForWhoMayDoNothing(t *testing.T) {
	t.Parallel()
	const outside, none = "Nobody acts as an administrator from your address.", "You have no role: an administrator gives roles, or for a tenant one of its requesters."
	s := newSite(t, func(cfg *app.Config) { cfg.AdminFrom = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} })
	b := s.browser(t, "admin")
	b.get("/setup?token="+s.boot).want(200, "Welcome, admin").form("/setup").set("password", password).set("again", password).send().
		at("/qualify").want(200, "There is no test for you now", outside).without(none)
	c := newCompany(t, 0)
	c.req.get("/qualify").want(200, "There is no test for you now").without(none, outside)
	if _, err := c.app.Accounts.TakeRole(context.Background(), c.boss.principal(), c.req.principal().User.ID, store.HeldRole{Role: "requester", Tenant: 1}); err != nil {
		t.Fatal(err)
	}
	c.req.get("/").at("/qualify").want(200, none).without(outside)
}
