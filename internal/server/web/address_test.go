package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/app"
)

// inbox is the last mail to each address.
type inbox struct {
	mu   sync.Mutex
	last map[string]string
}

func (i *inbox) into(cfg *app.Config) {
	i.last = make(map[string]string)
	cfg.Senders.Mail = func(_ context.Context, to, _, body string) error {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.last[to] = body
		return nil
	}
}

// link is the path of the link in the last mail to an address.
func (i *inbox) link(t testing.TB, c *company, address string) string {
	t.Helper()
	if _, err := c.app.Outbox.SendDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	_, path, found := strings.Cut(i.last[address], "/verify?")
	if !found {
		t.Fatalf("no link came to %s: %q", address, i.last[address])
	}
	return "/verify?" + strings.TrimSpace(path)
}

// TestAddressesOnThePages: somebody gives an address on the page of their account, follows the
// link in the mail, signs in on the way and confirms; looking at the link confirms nothing.
func TestAddressesOnThePages(t *testing.T) {
	t.Parallel()
	var mails inbox
	c := newCompany(t, 1, mails.into)
	account := func() *pageOf { return c.req.get("/account") }
	give := func(address, password string) *pageOf {
		return account().form("/account/address").set("address", address).set("password", password).send()
	}
	account().want(200, "You have none.", "Give an address")
	give("no address", password).want(422, "is not an e-mail address")
	give("rita@example.org", password+"x").want(422, "not the password that you have")
	give("rita@example.org", password).want(200, "A mail is on its way", "rita@example.org was asked", "Send the mail again").at("/account")
	link := mails.link(t, c, "rita@example.org")
	account().want(200, "You have none.", "the mail is sent")

	rita := c.browser(t, "rita elsewhere")
	page := rita.get(link).want(200).form("/signin").set("name", "rita").set("password", password).send()
	page.want(200, "Is this address yours?", "rita@example.org", "signed in as rita").at("/verify")
	equal(t, page.Header.Get("Referrer-Policy"), "no-referrer")
	rita.get(link).want(200, "Confirm the address")
	account().want(200, "You have none.")
	c.workers[0].get(link).want(404, "not for the account").without("rita")
	token := read(url.ParseQuery(strings.TrimPrefix(link, "/verify?")))(t)
	c.workers[0].post("/verify", token).want(404).without("rita")
	page.form("/verify").send().want(200, "The address is yours.", "verified").at("/account")
	page.form("/verify").send().want(404)
	rita.get(link).want(404, "was used")
	equal(t, c.personNamed(t, "rita").EmailVerified, true)

	give("rita@next.example", password).want(200)
	first := mails.link(t, c, "rita@next.example")
	account().form("/account/address/ask").send().want(200, "A mail is on its way")
	if again := mails.link(t, c, "rita@next.example"); again == first {
		t.Error("the same link twice")
	}
	account().want(200, "rita@example.org", "verified", "rita@next.example was asked")
	give("rita@example.org", password).want(http.StatusConflict, "known to be yours already")
}

// TestWhoHasNoPasswordChangesTheirAddress: who comes by a provider has just signed in, or shows
// the second factor that they hold here.
func TestWhoHasNoPasswordChangesTheirAddress(t *testing.T) {
	t.Parallel()
	p, clock := newProvider(t), &standing{}
	clock.at.Store(time.Now().Unix())
	p.spoil = func(_, claims map[string]any) {
		claims["iat"], claims["exp"] = clock.now().Unix(), clock.now().Add(time.Minute).Unix()
	}
	var mails inbox
	c := newCompany(t, 0, mails.into, func(cfg *app.Config) { cfg.Providers, cfg.Now = withGroups(p.URL), clock.now })
	b := c.browser(t, "otto")
	give := func(address, code string) *pageOf {
		f := b.get("/account").want(200).form("/account/address").set("address", address)
		if code != "" {
			f.set("code", code)
		}
		return f.send()
	}
	b.get("/signin/corp").want(200)
	page := b.get("/account").want(200, "enough that you have just signed in")
	if f := page.form("/account/address"); f.values.Has("password") || f.values.Has("code") {
		t.Errorf("the form asks for %v", f.values)
	}
	page.want(200, "An administrator can give you a one-time link")
	give("otto@example.org", "").want(200, "otto@example.org was asked").at("/account")
	b.get(mails.link(t, c, "otto@example.org")).want(200).form("/verify").send().want(200, "The address is yours.")
	equal(t, c.personNamed(t, "otto").Email, "otto@example.org")

	clock.advance(accounts.Recently) // a session that was left behind does not do
	b.get("/account").want(200, "signed in a while ago")
	give("found@example.org", "").want(http.StatusConflict, "sign in again")
	b.post("/account/totp", url.Values{"name": {"Found"}}).want(http.StatusConflict, "sign in again")
	b.get("/account").want(200, "You have none.").without("found@example.org was asked")
	b.get("/account").form("/signout").send().want(200)
	b.get("/signin/corp").want(200)
	give("otto@next.example", "").want(200, "otto@next.example was asked")

	p2 := b.get("/account").form("/account/totp").send().want(200, "Scan this")
	secret := secretOn(p2)
	p2.form("/account/totp/confirm").set("code", code(t, secret, clock.now())).send().want(200, "Recovery codes")
	clock.advance(2 * accounts.Recently) // a factor does, however old the session is
	b.get("/account").want(200).without("signed in a while ago")
	give("otto@last.example", "000000").want(422, "is wrong")
	give("otto@last.example", code(t, secret, clock.now())).want(200, "otto@last.example was asked")
}

// TestAdminsSeeWhichAddressesAreAsked, and have people asked again.
func TestAdminsSeeWhichAddressesAreAsked(t *testing.T) {
	t.Parallel()
	var mails inbox
	c := newCompany(t, 0, mails.into)
	page := "/admin/people/" + c.personNamed(t, "rita").ID.String()
	c.boss.get(page).want(200).without("Their address")
	form := c.boss.get(page).form(page).set("email", "rita@example.org")
	form.values.Del("email_verified")
	form.send().want(200, "rita@example.org was asked", "Ask at the address again")
	first := mails.link(t, c, "rita@example.org")
	c.boss.get(page).want(200, "the mail is sent").form(page+"/address/ask").send().want(200, "on its way to them").at(page)
	if again := mails.link(t, c, "rita@example.org"); again == first {
		t.Error("the same link twice")
	}
	c.req.post(page+"/address/ask", nil).want(http.StatusForbidden)
	c.boss.post("/admin/people/u999/address/ask", nil).want(404)
	c.boss.get(page).form(page).set("email_verified", "1").send().want(200).without("Their address")
	c.req.get(mails.link(t, c, "rita@example.org")).want(404)
}
