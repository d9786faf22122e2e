package web

import (
	"net/http"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/server/app"
)

// TestWhatEndsASignInUnderWay: a sign-in that was begun, at a provider or with a password that
// was right and a second factor that is wanted yet, ends in no session once its owner has signed
// out everywhere, or was suspended meanwhile, even for a moment. One that is begun later does.
func TestWhatEndsASignInUnderWay(t *testing.T) {
	t.Parallel()
	for end, by := range map[string]func(c *company, owner *browser, id string){
		"sign out everywhere": func(c *company, owner *browser, _ string) {
			if err := c.app.Accounts.EndSessions(owner.t.Context(), owner.principal()); err != nil {
				owner.t.Error(err)
			}
		},
		"a suspension that was lifted": func(c *company, _ *browser, id string) {
			for _, suspended := range []string{"1", ""} {
				c.boss.post("/admin/people/"+id+"/suspend", map[string][]string{"suspended": {suspended}}).want(200)
			}
		},
	} {
		for how, factor := range map[string]bool{"at a provider": false, "with a second factor that is wanted": true} {
			t.Run(end+", "+how, func(t *testing.T) {
				t.Parallel()
				p, clock := newProvider(t), &standing{}
				clock.at.Store(time.Now().Unix())
				p.spoil = func(_, claims map[string]any) {
					claims["iat"], claims["exp"] = clock.now().Unix(), clock.now().Add(time.Minute).Unix()
				}
				c := newCompany(t, 0, func(cfg *app.Config) { cfg.Providers, cfg.Now = withGroups(p.URL), clock.now })
				owner, other := c.browser(t, "owner"), c.browser(t, "other")
				owner.get("/signin/corp").want(200)
				who := owner.principal()
				id := who.User.ID
				secret := ""
				if factor {
					page := owner.get("/account").form("/account/totp").send().want(200, "Scan this")
					secret = secretOn(page)
					page.form("/account/totp/confirm").set("code", code(t, secret, clock.now())).send().want(200, "Recovery codes")
				}
				clock.advance(30 * time.Second)
				begin := func() func() *pageOf {
					if !factor {
						var back string
						backOf(other, &back)
						return func() *pageOf { return other.do(read(http.NewRequest(http.MethodGet, back, http.NoBody))(t)) }
					}
					page := other.get("/signin/corp").want(200)
					return func() *pageOf {
						return page.form("/factor").set("code", code(t, secret, clock.now())).send()
					}
				}
				finish := begin()
				clock.advance(30 * time.Second)
				by(c, owner, id.String())
				clock.advance(30 * time.Second)
				finish().want(http.StatusUnauthorized)
				if list, err := c.app.Accounts.Sessions(t.Context(), who); err != nil || len(list) > 0 {
					t.Errorf("sessions: %+v, %v", list, err)
				}
				finish = begin()
				clock.advance(30 * time.Second)
				finish().want(200)
				if got := other.principal().User.ID; got != id {
					t.Errorf("who signs in again is %s", got)
				}
			})
		}
	}
}
