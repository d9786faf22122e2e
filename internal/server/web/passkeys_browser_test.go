package web

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// authenticator gives a window a virtual authenticator.
func (w *window) authenticator(verified bool) {
	w.t.Helper()
	w.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, webauthn.Enable, webauthn.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: verified, AutomaticPresenceSimulation: true}})
		return err
	}))
}

// TestPasskeysInChromium: a real browser makes and shows them, under the policy of the pages.
func TestPasskeysInChromium(t *testing.T) {
	chrome := startChromium(t)
	c := newCompany(t, 0)
	c.URL = strings.Replace(c.URL, "127.0.0.1", "localhost", 1)
	w := c.window(t, chrome, "rita")
	w.authenticator(true)
	w.open("/account")
	details := `[...document.querySelectorAll("details")].find((d) => d.innerText.includes("Set up a passkey"))`
	eval[bool](w, details+`.open = true`)
	w.shots("account-passkey")
	w.do(chromedp.SendKeys(chromedp.ID("passkey-name"), "This computer"), chromedp.SendKeys(chromedp.ID("passkey-password"), password+kb.Enter))
	w.says("Recovery codes")
	w.open("/account")
	w.says("This computer")
	w.says("10 recovery codes left")

	// It is there already.
	eval[bool](w, details+`.open = true`)
	w.do(chromedp.SendKeys(chromedp.ID("passkey-password"), password))
	eval[bool](w, details+`.querySelector("[data-show]").click(), true`)
	w.says("There is a passkey of your account already")
	w.shots("makepasskey")

	signOut := func() {
		t.Helper()
		w.open("/account")
		eval[bool](w, `document.querySelector('form[action="/signout"]').requestSubmit(), true`)
		w.until(`location.pathname === "/signin" && document.readyState === "complete"`)
	}
	signOut()
	w.shots("signin-passkey")
	w.open("/signin?next=/account")
	w.do(chromedp.SendKeys(chromedp.ID("signin-name"), "rita"), chromedp.SendKeys(chromedp.ID("signin-password"), password+kb.Enter))
	w.says("Where you are signed in") // it was shown at once
	signOut()
	w.open("/signin?next=/account")
	w.do(chromedp.Click(chromedp.CSS(`a[href^="/signin/passkey"]`)))
	w.says("last used")

	// What changes how one signs in.
	eval[bool](w, `[...document.querySelectorAll("details")].find((d) => d.innerText.includes("Make new recovery codes")).open = true`)
	w.do(chromedp.SendKeys(chromedp.ID("recovery-password"), password))
	eval[bool](w, `document.querySelector('form[action="/account/recovery"] [data-show]').click(), true`)
	w.says("they are shown only now")
	w.quiet()

	// Who has none is told so, and nothing is sent.
	signOut()
	other := c.window(t, chrome, "admin")
	other.authenticator(true)
	other.open("/account")
	eval[bool](other, `document.querySelector('form[action="/signout"]').requestSubmit(), true`)
	other.until(`location.pathname === "/signin" && document.readyState === "complete"`)
	other.open("/signin/passkey")
	other.says("No passkey was given")
	other.shots("signin-with-passkey")
	if at := eval[string](other, `location.pathname`); at != "/signin/passkey" {
		t.Error(at)
	}
	// The browser itself refuses what another page asks for.
	other.site.URL = strings.Replace(other.site.URL, "localhost", "127.0.0.1", 1)
	asked := eval[string](other, `document.querySelector("form[data-ask]").dataset.ask`)
	other.open("/signin")
	eval[bool](other, fmt.Sprintf(`(window.said = "", navigator.credentials.get({ publicKey: { ...JSON.parse(%q), challenge: new Uint8Array(32) } })
		.then(() => { window.said = "given"; }, (error) => { window.said = error.name; }), true)`, asked))
	other.until(`window.said !== ""`)
	if said := eval[string](other, `window.said`); said != "SecurityError" {
		t.Errorf("another page is told: %s", said)
	}
}
