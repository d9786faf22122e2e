package web

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/passkey/passkeytest"
)

// passkeyOrigin is where people reach the site in tests of passkeys.
const passkeyOrigin = "https://throng.example"

// withPasskeys is a company at passkeyOrigin whose time stands still.
func withPasskeys(t testing.TB, change ...func(*app.Config)) (*company, *standing) {
	clock := &standing{}
	clock.at.Store(1_900_000_020)
	return newCompany(t, 0, append(change, func(cfg *app.Config) { cfg.Now, cfg.PublicURL = clock.now, passkeyOrigin })...), clock
}

// origin is that of the pages, as a browser says.
func (b *browser) origin() string { return cmp.Or(b.site.app.PublicURL, b.site.URL) }

// asked is what the browser is asked for by a form.
func (p *pageOf) asked(name, action string) string {
	p.t.Helper()
	for _, f := range p.all("form") {
		if attr(f, "action") == action && attr(f, name) != "" {
			return attr(f, name)
		}
	}
	p.t.Fatalf("%s: %s asks for no passkey in a form to %s:\n%s", p.browser.name, p.URL, action, words(p.Root))
	return ""
}

// enrolKey sets up a passkey on a, and returns the recovery codes.
func (b *browser) enrolKey(a *passkeytest.Authenticator) (recovery []string) {
	b.t.Helper()
	p := b.get("/account").want(200).form("/account/passkey").set("name", "Laptop").set("password", password).send().want(200, "Set up a passkey")
	p = b.made(p, a.Make(b.t, p.asked("data-make", "/account/passkey/confirm"), b.origin(), passkeytest.Lie{})).want(200, "Recovery codes")
	for _, c := range p.all("code") {
		recovery = append(recovery, c.FirstChild.Data)
	}
	if len(recovery) != 10 {
		b.t.Fatalf("%d recovery codes", len(recovery))
	}
	return recovery
}

func (b *browser) made(p *pageOf, answer string) *pageOf {
	b.t.Helper()
	return p.form("/account/passkey/confirm").set("passkey", answer).send()
}

// show shows a passkey where it is asked for after the password.
func (b *browser) show(p *pageOf, a *passkeytest.Authenticator, lie passkeytest.Lie) *pageOf {
	b.t.Helper()
	answer := a.Show(b.t, p.asked("data-ask", "/factor"), b.origin(), lie)
	return p.form("/factor").set("passkey", answer).send()
}

// alone signs in with nothing but a passkey.
func (b *browser) alone(a *passkeytest.Authenticator, lie passkeytest.Lie) *pageOf {
	b.t.Helper()
	p := b.get("/signin/passkey?next=/account").want(200).at("/signin/passkey")
	return p.form("/signin/passkey").set("passkey", a.Show(b.t, p.asked("data-ask", "/signin/passkey"), b.origin(), lie)).send()
}

// TestPasskeys are set up, asked for after the password, or for nothing else, and removed.
func TestPasskeys(t *testing.T) {
	t.Parallel()
	c, clock := withPasskeys(t)
	phone, key := &passkeytest.Authenticator{Verifies: true}, &passkeytest.Authenticator{Counts: true}
	c.req.get("/account").form("/account/passkey").set("password", "wrong wrong wrong").send().want(422, "Is not the password")
	recovery := c.req.enrolKey(phone)
	if handle := string(phone.Handle()); len(handle) != 32 || strings.Contains(handle, "rita") || strings.Contains(handle, "u2") {
		t.Errorf("the handle is %q", handle)
	}
	c.req.get("/account").want(200, "Laptop", "passkey, since", "10 recovery codes left")
	c.boss.get("/admin/people/"+c.req.principal().User.ID.String()).want(200, "Laptop", "passkey")

	clock.advance(time.Minute)
	b := c.browser(t, "rita")
	p := b.withPassword("rita", "/account?x=1").want(200, "Show your passkey", "One of your recovery codes").without("authenticator app shows").at("/factor")
	b.get("/account").at("/signin") // nobody yet
	b.show(p, phone, passkeytest.Lie{}).want(200, "last used").at("/account")
	c.browser(t, "code").withPassword("rita", "").form("/factor").set("code", recovery[0]).send().want(200).at("/batches")

	c.browser(t, "start").get("/signin?next=/account").want(200, "A passkey").at("/signin")
	alone := c.browser(t, "alone")
	alone.alone(phone, passkeytest.Lie{}).want(200).at("/account")
	if alone.principal().User.Name != "rita" {
		t.Error("somebody else is signed in")
	}
	alone.get("/signin/passkey").want(200).at("/batches")

	// A second one: the first is shown in place of a code. It has the same handle, so that
	// authenticators know that both are of one account.
	account := c.req.get("/account")
	account.form("/account/passkey").set("password", password).send().want(422, "your passkey can be shown in a browser only")
	form := account.form("/account/passkey").set("name", "Key").set("password", password)
	p = form.set("passkey", phone.Show(t, account.asked("data-ask", "/account/passkey"), passkeyOrigin, passkeytest.Lie{})).send().want(200, "Set up a passkey")
	c.req.made(p, key.Make(t, p.asked("data-make", "/account/passkey/confirm"), passkeyOrigin, passkeytest.Lie{})).want(200, "From now on").at("/account")
	if string(key.Handle()) != string(phone.Handle()) {
		t.Error("one person has two handles")
	}
	form.send().want(422, "is not one that is good here") // the answer was used up
	for _, a := range []*passkeytest.Authenticator{phone, key} {
		b := c.browser(t, "either")
		b.show(b.withPassword("rita", ""), a, passkeytest.Lie{}).want(200).at("/batches")
	}
	c.browser(t, "unverified").alone(key, passkeytest.Lie{}).want(http.StatusUnauthorized, "is not one that is good here")

	// Removing one takes the password and a factor.
	list := read(c.app.Accounts.Factors(t.Context(), c.req.principal(), c.req.principal().User.ID))(t).List
	remove := "/account/factors/" + strconv.FormatInt(list[0].ID, 10) + "/remove"
	account = c.req.get("/account")
	account.form(remove).set("password", password).send().want(422, "Is needed")
	account.form(remove).set("password", password).set("passkey", key.Show(t, account.asked("data-ask", remove), passkeyOrigin, passkeytest.Lie{})).send().want(200, "The second factor is removed").without("Laptop")
	c.browser(t, "removed").alone(phone, passkeytest.Lie{}).want(http.StatusUnauthorized)
}

// TestBadPasskeys let nobody in.
func TestBadPasskeys(t *testing.T) {
	t.Parallel()
	c, clock := withPasskeys(t)
	a, bosss := &passkeytest.Authenticator{Verifies: true, Counts: true}, &passkeytest.Authenticator{Verifies: true}
	c.req.enrolKey(a)
	c.boss.enrolKey(bosss)
	first := func(b *browser) *pageOf { return b.withPassword("rita", "").want(200).at("/factor") }

	b := c.browser(t, "elsewhere")
	b.show(first(b), a, passkeytest.Lie{Origin: "https://throng.example.evil.example"}).want(http.StatusUnauthorized, "not one that is good here").at("/factor")
	b.get("/account").at("/signin")
	b.alone(a, passkeytest.Lie{Origin: "https://evil.example"}).want(http.StatusUnauthorized, "try again")

	// Another person's, whether it is asked for or not.
	b = c.browser(t, "another's")
	p := first(b)
	p.form("/factor").set("passkey", bosss.ShowAnyway(t, p.asked("data-ask", "/factor"), passkeyOrigin)).send().want(http.StatusUnauthorized)
	stranger := &passkeytest.Authenticator{Verifies: true}
	stranger.Make(t, `{"challenge":"AAAA","rp":{"id":"throng.example"},"user":{"id":"AAAA"}}`, passkeyOrigin, passkeytest.Lie{})
	b.alone(stranger, passkeytest.Lie{}).want(http.StatusUnauthorized)

	// A challenge of another session, and one that was answered.
	one, two := c.browser(t, "one"), c.browser(t, "two")
	p, q := first(one), first(two)
	answer := a.Show(t, p.asked("data-ask", "/factor"), passkeyOrigin, passkeytest.Lie{})
	q.form("/factor").set("passkey", answer).send().want(http.StatusUnauthorized).at("/factor")
	p.form("/factor").set("passkey", answer).send().want(200).at("/batches")
	p.form("/factor").set("passkey", answer).send().want(http.StatusUnauthorized)
	at, _ := url.Parse(c.URL + "/signin/passkey")
	for _, who := range []*passkeytest.Authenticator{a, bosss} { // one counts, one does not
		b = c.browser(t, "replay")
		p = b.get("/signin/passkey")
		kept := b.Jar.Cookies(at)
		answer = who.Show(t, p.asked("data-ask", "/signin/passkey"), passkeyOrigin, passkeytest.Lie{})
		c.browser(t, "without").post("/signin/passkey", url.Values{"passkey": {answer}}).want(http.StatusUnauthorized, "taken too long")
		p.form("/signin/passkey").set("passkey", answer).send().want(200)
		thief := c.browser(t, "thief")
		for _, k := range kept {
			k.Path = "/signin/passkey"
		}
		thief.Jar.SetCookies(at, kept)
		thief.post("/signin/passkey", url.Values{"passkey": {answer}}).want(http.StatusUnauthorized, "not one that is good here")
	}

	// Too late, and with another password.
	b = c.browser(t, "late")
	p = b.get("/signin/passkey")
	answer = a.Show(t, p.asked("data-ask", "/signin/passkey"), passkeyOrigin, passkeytest.Lie{})
	clock.advance(accounts.ChallengeLife)
	p.form("/signin/passkey").set("passkey", answer).send().want(http.StatusUnauthorized, "taken too long")

	// A challenge for one thing is none for another.
	p = b.get("/signin/passkey")
	answer = a.Show(t, p.asked("data-ask", "/signin/passkey"), passkeyOrigin, passkeytest.Lie{})
	ticket := b.Jar.Cookies(at)[0].Value
	c.req.post("/account/recovery", url.Values{"password": {password}, "ticket": {ticket}, "passkey": {answer}}).want(422, "is not one that is good here")
	mine, hers := c.boss.get("/account"), c.req.get("/account")
	answer = a.Show(t, hers.asked("data-ask", "/account/recovery"), passkeyOrigin, passkeytest.Lie{})
	mine.form("/account/recovery").set("password", password).set("passkey", answer).send().want(422)

	// A copy: it counted on elsewhere. Both say so, until it is removed.
	copied := a.Copy()
	b = c.browser(t, "copy")
	for range 2 {
		b.alone(copied, passkeytest.Lie{}).want(200)
		b.post("/signout", nil)
	}
	b = c.browser(t, "owner")
	b.show(first(b), a, passkeytest.Lie{}).want(http.StatusUnauthorized, "there may be a copy of it").at("/factor")
	if !strings.Contains(c.log.String(), "there may be a copy of it") {
		t.Error("the log does not tell of the copy")
	}

	// Suspended, and known to nobody here by a password.
	rita := c.personNamed(t, "rita")
	c.boss.post("/admin/people/"+rita.ID.String()+"/suspend", url.Values{"suspended": {"1"}}).want(200)
	c.browser(t, "suspended").alone(copied, passkeytest.Lie{}).want(http.StatusForbidden, "suspended")
	for i := 0; ; i++ {
		if b.alone(a, passkeytest.Lie{Origin: "https://evil.example"}).Status == http.StatusTooManyRequests {
			break
		}
		if i > 200 {
			t.Fatal("nobody who guesses has to wait")
		}
	}
}

// TestMakeAPasskey once, in the session that asked for it, in time, and as nobody else has.
func TestMakeAPasskey(t *testing.T) {
	t.Parallel()
	c, clock := withPasskeys(t)
	a := &passkeytest.Authenticator{Verifies: true}
	begin := func(b *browser) *pageOf {
		return b.get("/account").form("/account/passkey").set("password", password).send().want(200, "Set up a passkey")
	}
	answer := func(p *pageOf, lie passkeytest.Lie) string {
		return a.Make(t, p.asked("data-make", "/account/passkey/confirm"), passkeyOrigin, lie)
	}
	p := begin(c.req)
	c.req.made(p, answer(p, passkeytest.Lie{Origin: "https://evil.example"})).want(422, "was not made as it was asked for", "Make the passkey")
	c.req.made(p, "").want(422)
	c.browser(t, "pending").withPassword("rita", "").at("/batches") // nothing is asked
	elsewhere := c.browser(t, "rita")
	elsewhere.withPassword("rita", "")
	good := answer(p, passkeytest.Lie{})
	elsewhere.post("/account/passkey/confirm", url.Values{"passkey": {good}}).want(http.StatusConflict, "begun anew elsewhere")
	c.boss.post("/account/passkey/confirm", url.Values{"passkey": {good}}).want(http.StatusConflict)
	clock.advance(accounts.ChallengeLife)
	c.req.post("/account/passkey/confirm", url.Values{"passkey": {good}}).want(http.StatusConflict)
	p = begin(c.req)
	c.req.made(p, good).want(422) // for the challenge of before
	good = answer(p, passkeytest.Lie{})
	c.req.made(p, good).want(200, "Recovery codes")
	c.req.post("/account/passkey/confirm", url.Values{"passkey": {good}}).want(http.StatusConflict)
}

// TestWherePasskeysWork says what is missing, and what else does.
func TestWherePasskeysWork(t *testing.T) {
	t.Parallel()
	for address, says := range map[string]string{"": "throng serve --public-url https://", "http://throng.example": "with https only", "https://192.0.2.7": "not to an address"} {
		c := newCompany(t, 0, func(cfg *app.Config) { cfg.PublicURL = address })
		c.req.get("/account").want(200, "Set up an authenticator app", says).without(`action="/account/passkey"`)
		c.req.post("/account/passkey", url.Values{"password": {password}}).want(http.StatusConflict, "asskeys do not work here")
		c.browser(t, "nobody").get("/signin").want(200).without("/signin/passkey")
		c.browser(t, "nobody").get("/signin/passkey").want(http.StatusConflict, "asskeys do not work here")
	}
}

// TestPasskeyIsEnough for who has to have a second factor. Who comes in by a provider does
// not come in without it, as that may have shut them out since.
func TestPasskeyIsEnough(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	c := newSite(t, func(cfg *app.Config) {
		cfg.Providers, cfg.Factor = withGroups(p.URL), accounts.EverybodyHas
	})
	c.URL = strings.Replace(c.URL, "127.0.0.1", "localhost", 1)
	a := &passkeytest.Authenticator{Verifies: true}
	boss := c.browser(t, "admin")
	boss.get("/setup?token="+c.boot).form("/setup").set("password", password).set("again", password).send().at("/account")
	boss.enrolKey(a)
	boss.get("/admin").want(200).at("/admin")
	c.browser(t, "again").alone(a, passkeytest.Lie{}).want(200).at("/account")

	otto, key := c.browser(t, "otto"), &passkeytest.Authenticator{Verifies: true}
	otto.get("/signin/corp?next=/work/earnings").want(200, "Your account needs a second factor").at("/account")
	page := otto.get("/account").form("/account/passkey").send().want(200, "Set up a passkey")
	otto.made(page, key.Make(t, page.asked("data-make", "/account/passkey/confirm"), otto.origin(), passkeytest.Lie{})).want(200, "Recovery codes")
	again := c.browser(t, "otto again")
	again.alone(key, passkeytest.Lie{}).want(http.StatusForbidden, "You have no password here")
	again.show(again.get("/signin/corp?next=/work/earnings").want(200).at("/factor"), key, passkeytest.Lie{}).want(200).at("/work/earnings")
}
