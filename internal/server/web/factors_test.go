package web

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/store"
)

// standing is a clock that goes on when a test says so.
type standing struct{ at atomic.Int64 }

func (s *standing) now() time.Time          { return time.Unix(s.at.Load(), 0).UTC() }
func (s *standing) advance(d time.Duration) { s.at.Add(int64(d / time.Second)) }

// withClock is a company whose time stands still, 15 seconds after a code has changed.
func withClock(t testing.TB, rule accounts.FactorRule) (*company, *standing) {
	clock := &standing{}
	clock.at.Store(1_900_000_005 + 15)
	return newCompany(t, 0, func(cfg *app.Config) { cfg.Now, cfg.Factor = clock.now, rule }), clock
}

// code is what an app shows at a time.
func code(t testing.TB, secret string, at time.Time) string {
	t.Helper()
	return read(auth.TOTP(secret, at))(t)
}

// begin begins to set up an authenticator app, and returns the page that asks for a code.
func (b *browser) begin(name string) *pageOf {
	b.t.Helper()
	return b.get("/account").want(200).form("/account/totp").set("name", name).set("password", password).send().want(200, "Scan this")
}

// enrol sets up an authenticator app, and returns its secret and recovery codes.
func (b *browser) enrol(now time.Time) (secret string, recovery []string) {
	b.t.Helper()
	p := b.begin("Phone")
	secret = secretOn(p)
	p = p.form("/account/totp/confirm").set("code", code(b.t, secret, now)).send().want(200, "Recovery codes")
	for _, c := range p.all("code") {
		recovery = append(recovery, c.FirstChild.Data)
	}
	if len(recovery) != 10 {
		b.t.Fatalf("%d recovery codes", len(recovery))
	}
	return secret, recovery
}

// withPassword signs in with name and password.
func (b *browser) withPassword(name, next string) *pageOf {
	b.t.Helper()
	path := "/signin"
	if next != "" {
		path += "?next=" + url.QueryEscape(next)
	}
	return b.get(path).form("/signin").set("name", name).set("password", password).send()
}

// TestTOTP: set up on the account's page, with a picture of what the app reads, then asked
// for at sign-in, without JavaScript.
func TestTOTP(t *testing.T) {
	t.Parallel()
	c, clock := withClock(t, "")
	c.req.get("/account").want(200, "You have none")
	c.req.get("/account").form("/account/totp").set("password", "wrong wrong wrong").send().want(422, "Is not the password")
	p := c.req.begin("")
	secret := secretOn(p)
	site, _ := url.Parse(c.URL)
	src := attr(p.all("img")[0], "src")
	picture := read(base64.StdEncoding.DecodeString(strings.TrimPrefix(src, "data:image/png;base64,")))(t)
	if img, err := png.Decode(bytes.NewReader(picture)); err != nil || img.Bounds().Dx() < 100 {
		t.Errorf("the picture: %v", err)
	}
	if want := auth.TOTPURL(site.Host, "rita", secret); !strings.HasPrefix(want, "otpauth://totp/") || !strings.Contains(want, secret) {
		t.Error(want)
	}
	other := c.browser(t, "other")
	other.withPassword("rita", "").want(200).at("/batches") // not confirmed: nothing is asked
	p = p.form("/account/totp/confirm").set("code", "000000").send().want(422, "Is not what the app shows")
	if typed := p.form("/account/totp/confirm").values.Get("code"); typed != "" {
		t.Errorf("the next code is typed behind %q", typed)
	}
	if secretOn(p) != secret {
		t.Error("the form that was refused shows another secret")
	}
	p.form("/account/totp/confirm").set("code", code(t, secret, clock.now())).send().want(200, "Recovery codes")
	c.req.get("/account").want(200, "Authenticator app", "10 recovery codes left")
	other.get("/account").want(200, "Authenticator app")

	b := c.browser(t, "again")
	p = b.withPassword("rita", "/account?x=1").want(200, "six digits").at("/factor")
	b.get("/account").at("/signin") // nobody yet
	clock.advance(30 * time.Second)
	p.form("/factor").set("code", " "+code(t, secret, clock.now())[:3]+" "+code(t, secret, clock.now())[3:]+" ").send().want(200).at("/account")
	if b.principal().User.Name != "rita" {
		t.Error("somebody else is signed in")
	}
	b.get("/factor").at("/batches") // by way of /signin: nothing is wanted any more
	c.browser(t, "nobody").get("/factor").want(200).at("/signin")
}

// TestBadCodes: none of them lets anybody in.
func TestBadCodes(t *testing.T) {
	t.Parallel()
	c, clock := withClock(t, "")
	secret, recovery := c.req.enrol(clock.now())
	otherSecret, otherRecovery := c.boss.enrol(clock.now())
	enrolledWith := code(t, secret, clock.now())
	for name, x := range map[string]struct {
		code func(now time.Time) string
		good bool
	}{
		"none":                         {func(time.Time) string { return "" }, false},
		"wrong":                        {func(now time.Time) string { return code(t, auth.NewTOTP(), now) }, false},
		"letters":                      {func(time.Time) string { return "abcdef" }, false},
		"too long":                     {func(now time.Time) string { return code(t, secret, now) + "0" }, false},
		"a book":                       {func(time.Time) string { return strings.Repeat("1", 10_000) }, false},
		"that was enrolled with":       {func(time.Time) string { return enrolledWith }, false},
		"of another person":            {func(now time.Time) string { return code(t, otherSecret, now) }, false},
		"for recovery of another":      {func(time.Time) string { return otherRecovery[0] }, false},
		"for recovery, cut short":      {func(time.Time) string { return recovery[0][:18] }, false},
		"two steps old":                {func(now time.Time) string { return code(t, secret, now.Add(-time.Minute)) }, false},
		"two steps early":              {func(now time.Time) string { return code(t, secret, now.Add(time.Minute)) }, false},
		"one step old":                 {func(now time.Time) string { return code(t, secret, now.Add(-30*time.Second)) }, true},
		"one step early":               {func(now time.Time) string { return code(t, secret, now.Add(30*time.Second)) }, true},
		"of now":                       {func(now time.Time) string { return code(t, secret, now) }, true},
		"for recovery, in capitals":    {func(time.Time) string { return strings.ToUpper(recovery[1]) }, true},
		"for recovery, without hyphen": {func(time.Time) string { return strings.ReplaceAll(recovery[2], "-", "") }, true},
	} {
		clock.advance(time.Hour) // all guesses are back, and all codes old
		b := c.browser(t, name)
		sent := x.code(clock.now())
		p := b.withPassword("rita", "").at("/factor").form("/factor").set("code", sent).send()
		if x.good {
			p.want(200).at("/batches")
			clock.advance(time.Second)
			p = c.browser(t, "replay").withPassword("rita", "").form("/factor").set("code", sent).send()
		}
		p.want(http.StatusUnauthorized).at("/factor")
		if !x.good {
			b.get("/account").at("/signin")
		}
	}
	// A code that was used makes the one before it old, too.
	clock.advance(time.Hour)
	p := c.browser(t, "before").withPassword("rita", "").at("/factor")
	c.browser(t, "now").withPassword("rita", "").form("/factor").set("code", code(t, secret, clock.now())).send().want(200)
	p.form("/factor").set("code", code(t, secret, clock.now().Add(-30*time.Second))).send().want(http.StatusUnauthorized)
}

// TestGuessesAtCodes are limited, by name from everywhere, and not forgotten when the
// password is right. A browser in which one was shown before has guesses of its own.
func TestGuessesAtCodes(t *testing.T) {
	t.Parallel()
	c, clock := withClock(t, "")
	secret, _ := c.req.enrol(clock.now())
	clock.advance(time.Hour)
	c.req.post("/signout", nil)
	c.req.withPassword("rita", "").form("/factor").set("code", code(t, secret, clock.now())).send().want(200).at("/batches")
	clock.advance(time.Hour)
	guesser := c.browser(t, "guesser")
	for range 10 {
		guesser.withPassword("rita", "").form("/factor").set("code", "000000").send().want(http.StatusUnauthorized)
	}
	p := guesser.withPassword("rita", "").at("/factor")
	p.form("/factor").set("code", code(t, secret, clock.now())).send().want(http.StatusTooManyRequests, "Too many wrong codes; try again in 1m0s")
	c.req.post("/signout", nil)
	c.req.withPassword("rita", "").form("/factor").set("code", code(t, secret, clock.now())).send().want(200).at("/batches")
	clock.advance(time.Minute)
	p.form("/factor").set("code", code(t, secret, clock.now())).send().want(200).at("/batches")
}

// TestChallengesEnd with time, with the password, with the account, and when they are
// tampered with.
func TestChallengesEnd(t *testing.T) {
	t.Parallel()
	c, clock := withClock(t, "")
	secret, _ := c.req.enrol(clock.now())
	rita := c.personNamed(t, "rita")
	show := func(p *pageOf) *pageOf {
		return p.form("/factor").set("code", code(t, secret, clock.now())).send()
	}
	late := c.browser(t, "late").withPassword("rita", "").at("/factor")
	clock.advance(accounts.ChallengeLife)
	show(late).want(http.StatusUnauthorized, "begin it again").at("/factor")

	suspended := c.browser(t, "suspended").withPassword("rita", "").at("/factor")
	suspend := func(on bool) {
		read(c.app.Accounts.ChangeUser(t.Context(), c.boss.principal(), rita.ID, func(u *store.User) error { u.Suspended = on; return nil }))(t)
	}
	suspend(true)
	show(suspended).want(http.StatusForbidden, "suspended")
	suspend(false)

	for _, cookie := range []string{"", "x", "..", "u1.1.x", "u2.99999999999999999999.x", strings.Repeat("u", 300)} {
		b := c.browser(t, "forger")
		b.post("/factor", url.Values{"code": {"000000"}}).want(http.StatusUnauthorized)
		at, _ := url.Parse(c.URL + "/factor")
		b.Jar.SetCookies(at, []*http.Cookie{{Name: factorCookie, Value: cookie, Path: "/factor"}})
		b.post("/factor", url.Values{"code": {code(t, secret, clock.now())}}).want(http.StatusUnauthorized, "begin it again")
	}
	// One of another person's does for nobody else.
	b := c.browser(t, "rita").withPassword("rita", "").at("/factor")
	at, _ := url.Parse(c.URL + "/factor")
	own := b.browser.Jar.Cookies(at)
	for _, k := range own {
		if k.Name == factorCookie {
			k.Value = regexp.MustCompile(`^u\d+`).ReplaceAllString(k.Value, "u1")
			k.Path = "/factor"
			b.browser.Jar.SetCookies(at, []*http.Cookie{k})
		}
	}
	show(b).want(http.StatusUnauthorized, "begin it again")

	changed := c.browser(t, "changed").withPassword("rita", "").at("/factor")
	setup := read(c.app.Accounts.NewSetupLink(t.Context(), c.boss.principal(), rita.ID))(t)
	link := c.browser(t, "link").get("/setup?token="+setup).want(200).form("/setup").set("password", "another password of words").set("again", "another password of words").send()
	link.want(200).at("/factor") // a link does not do without the second factor
	show(changed).want(http.StatusUnauthorized, "begin it again")
	show(link).want(200).at("/batches")
}

// TestRemoveAFactor takes the password and a code; then nothing is asked, and what there
// was is worth nothing.
func TestRemoveAFactor(t *testing.T) {
	t.Parallel()
	c, clock := withClock(t, "")
	_, recovery := c.req.enrol(clock.now())
	id := read(c.app.Accounts.Factors(t.Context(), c.req.principal(), c.req.principal().User.ID))(t).List[0].ID
	remove := "/account/factors/" + strconv.FormatInt(id, 10) + "/remove"
	form := func(typed, code string) *pageOf {
		return c.req.get("/account").form(remove).set("password", typed).set("code", code).send()
	}
	form("wrong wrong wrong", recovery[0]).want(422, "Is not the password")
	form(password, "000000").want(422, "Is wrong")
	form(password, "").want(422, "Is needed")
	c.boss.post(remove, url.Values{"password": {password}}).want(404)
	c.req.post("/account/factors/999/remove", url.Values{"password": {password}}).want(404)
	c.req.get("/account").form("/account/totp").set("password", password).set("code", "").send().want(422, "Is needed") // another one, too
	pending := c.browser(t, "pending").withPassword("rita", "").at("/factor")
	p := c.req.get("/account").form("/account/recovery").set("password", password).set("code", recovery[1]).send().want(200, "Recovery codes")
	fresh := p.all("code")[0].FirstChild.Data
	form(password, recovery[2]).want(422, "Is wrong") // the old ones went
	form(password, fresh).want(200, "The second factor is removed", "You have none")
	form2 := pending.form("/factor").set("code", p.all("code")[1].FirstChild.Data).send()
	form2.want(200).at("/batches") // nothing is asked for now
	c.browser(t, "free").withPassword("rita", "").want(200).at("/batches")
	c.req.post("/account/recovery", url.Values{"password": {password}}).want(http.StatusConflict, "no second factor")
	c.req.post(remove, url.Values{"password": {password}}).want(404)
}

// TestTwoEnrolmentsAtOnce: the secret that was shown last is the one that can be
// confirmed, once; recovery codes come once.
func TestTwoEnrolmentsAtOnce(t *testing.T) {
	t.Parallel()
	c, clock := withClock(t, "")
	first, second := c.req.begin("First"), c.req.begin("Second")
	confirm := func(p *pageOf) *pageOf {
		return p.form("/account/totp/confirm").set("code", code(t, secretOn(p), clock.now())).send()
	}
	confirm(first).want(http.StatusConflict, "begun anew elsewhere")
	confirm(second).want(200, "Recovery codes")
	confirm(second).want(http.StatusConflict, "begun anew elsewhere")
	c.req.get("/account").want(200, "Second", "10 recovery codes left").without("First")
	c.boss.post("/account/totp/confirm", url.Values{"secret": {secretOn(second)}, "code": {code(t, secretOn(second), clock.now())}}).want(http.StatusConflict)

	clock.advance(time.Hour)
	p := c.req.get("/account").form("/account/totp").set("name", "Third").set("password", password).set("code", code(t, secretOn(second), clock.now())).send().want(200, "Scan this")
	confirm(p).want(200, "From now on").at("/account").without("Recovery codes</h1>")
	clock.advance(time.Hour)
	for _, from := range []*pageOf{second, p} { // either does
		c.browser(t, "either").withPassword("rita", "").form("/factor").set("code", code(t, secretOn(from), clock.now())).send().want(200).at("/batches")
	}
}

// TestResetOfFactors by an admin, for others.
func TestResetOfFactors(t *testing.T) {
	t.Parallel()
	c, clock := withClock(t, "")
	c.req.enrol(clock.now())
	rita, boss := "/admin/people/"+c.req.principal().User.ID.String(), "/admin/people/"+c.boss.principal().User.ID.String()
	c.boss.get(boss).want(200, "They have none")
	c.boss.get(rita).want(200, "Phone", "authenticator app", "10 recovery codes left").form(rita+"/factors/reset").send().want(200, "signed out everywhere", "They have none")
	c.req.get("/batches").at("/signin")
	c.req.withPassword("rita", "").want(200).at("/batches")
	c.boss.post(boss+"/factors/reset", nil).want(http.StatusConflict, "Remove your own")
	c.boss.post("/admin/people/u999/factors/reset", nil).want(404)
	c.req.post(boss+"/factors/reset", nil).want(http.StatusForbidden)
}

// TestWhoMustEnrol is led to their account after sign-in and can do nothing else, until they
// have set a second factor up. Tokens for programs go on.
func TestWhoMustEnrol(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		rule     accounts.FactorRule
		rita, w1 bool
	}{{accounts.NobodyMust, false, false}, {accounts.AdminsMust, false, false}, {accounts.StaffMust, true, false}, {accounts.EverybodyHas, true, true}} {
		clock := &standing{}
		clock.at.Store(1_900_000_020)
		s := newSite(t, func(cfg *app.Config) { cfg.Now, cfg.Factor = clock.now, x.rule })
		boss := s.browser(t, "admin")
		p := boss.get("/setup?token="+s.boot).form("/setup").set("password", password).set("again", password).send()
		if x.rule != accounts.NobodyMust {
			p.want(200, "Your account needs a second factor").at("/account").without("/account/password", "/account/signout", "/admin", "/qualify", "/tokens")
			boss.get("/admin").want(200).at("/account")
			boss.get("/tokens").want(200).at("/account")
			boss.post("/tokens", url.Values{"name": {"x"}}).want(http.StatusForbidden, "needs a second factor")
			boss.post("/account/password", url.Values{"old": {password}, "password": {"another one of these"}, "again": {"another one of these"}}).want(http.StatusForbidden)
			boss.post("/admin/stop", url.Values{"stopped": {"1"}}).want(http.StatusForbidden)
			boss.enrol(clock.now())
		}
		boss.get("/").want(200).at("/admin")
		boss.get("/admin").form("/admin/tenants").set("name", "Acme").send().want(200)
		for name, must := range map[string]bool{"rita": x.rita, "w1": x.w1} {
			field, value := "tenants", "n1"
			if name == "w1" {
				field, value = "pool", "p1"
			}
			b := s.as(t, boss, name, func(f *sheet) { f.set(field, value) })
			if at := b.get("/").want(200).URL.Path; (at == "/account") != must {
				t.Errorf("%s: %s is at %s", x.rule, name, at)
			}
			_, secret, err := s.app.Accounts.CreateToken(t.Context(), boss.principal(), accounts.NewToken{Name: "x", For: s.idOf(t, boss, name)})
			equal(t, err, nil)
			p := read(s.app.Accounts.Authenticate(t.Context(), secret, netip.Addr{}))(t)
			equal(t, p.MustEnrol, false)
			if must {
				equal(t, b.principal().Is(access.Worker) || b.principal().Is(access.Requester), false)
				b.enrol(clock.now())
				if at := b.get("/").want(200).URL.Path; at == "/account" {
					t.Errorf("%s: %s is led to enrol again", x.rule, name)
				}
			}
		}
	}
}

// idOf is somebody's id.
func (s *site) idOf(t testing.TB, boss *browser, name string) crowd.WorkerID {
	t.Helper()
	for _, u := range read(s.app.Accounts.Users(t.Context(), boss.principal(), 0, 0, 100))(t) {
		if u.Name == name {
			return u.ID
		}
	}
	t.Fatalf("nobody is called %s", name)
	return 0
}

// TestFactorAfterAProvider: it is asked for, unless the provider is trusted with it.
func TestFactorAfterAProvider(t *testing.T) {
	t.Parallel()
	for _, trusted := range []bool{false, true} {
		p := newProvider(t)
		c := newSite(t, func(cfg *app.Config) {
			cfg.Providers, cfg.Factor = withGroups(p.URL), accounts.EverybodyHas
			cfg.Providers[0].TrustFactor = trusted
		})
		b := c.browser(t, "otto")
		if trusted {
			b.get("/signin/corp?next=/work/earnings").want(200).at("/work/earnings") // no need to set one up
		} else {
			b.get("/signin/corp?next=/work/earnings").want(200, "Your account needs a second factor").at("/account")
		}
		secret := secretOn(b.get("/account").form("/account/totp").send().want(200)) // who has no password
		now := time.Now()
		b.post("/account/totp/confirm", url.Values{"secret": {secret}, "code": {code(t, secret, now)}}).want(200, "Recovery codes")
		page := c.browser(t, "again").get("/signin/corp?next=/work/earnings").want(200)
		if trusted {
			page.at("/work/earnings")
			continue
		}
		c.ahead.Add(int64(time.Minute)) // the code that it was set up with has gone
		page.at("/factor").form("/factor").set("code", code(t, secret, c.now())).send().want(200).at("/work/earnings")
	}
}
