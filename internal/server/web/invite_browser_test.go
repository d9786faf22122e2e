package web

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestInvitingInChromium: a requester invites, somebody follows the link, joins,
// passes the test by the keyboard alone, and works. All pages are looked at on a
// desk and on a phone, in light and in dark.
func TestInvitingInChromium(t *testing.T) {
	chrome := startChromium(t)
	c := newCompany(t, 2)
	birdsBy(c.req, "time_limit", "15", "draw", "3", "wait", "24").want(200)
	rita := c.window(t, chrome, "rita")
	rita.open("/invitations")
	rita.do(chromedp.SendKeys(chromedp.ID("invite-addresses"), "eva@example.org\nbea@example.org"), chromedp.SendKeys(chromedp.ID("invite-note"), "We start on Monday.\nNo special knowledge is needed."))
	rita.do(chromedp.SendKeys(chromedp.ID("invite-test"), "Birds"))
	rita.do(chromedp.Click(chromedp.CSS(`form[action^="/invitations?"] button.primary`)))
	rita.says("2 people invited")
	rita.tour("invitations-links")
	link := eval[string](rita, `document.querySelector("dl.links code").textContent`)
	rita.open("/tests")
	rita.tour("tests")

	// Somebody of another pool's page signs out, and is nobody.
	eva := c.window(t, chrome, "w1")
	eva.do(chromedp.Click(chromedp.CSS(".me summary")), chromedp.Click(chromedp.CSS(`form[action="/signout"] button`)))
	eva.says("You are signed out.")
	eva.do(chromedp.Navigate(link))
	eva.says("You are invited")
	eva.tour("invitation")
	eva.do(chromedp.SendKeys(chromedp.ID("join-name"), "eva"), chromedp.SendKeys(chromedp.ID("join-password"), password), chromedp.SendKeys(chromedp.ID("join-again"), password+kb.Enter))
	eva.says("Welcome! You are signed in.")
	eva.tour("test-before")
	eva.open("/qualify")
	eva.tour("tests-mine")
	eva.do(chromedp.Click(chromedp.CSS(`main h2 a`)))
	eva.says("tries left")
	eva.do(chromedp.Click(chromedp.ID("start")))
	eva.says("Question 3")
	eva.until(`/^1[45]:\d\d$/.test(document.getElementById("timer").textContent)`)
	eva.tour("test-running")

	// One question left out: the browser itself asks for it.
	eva.do(chromedp.Click(chromedp.ID("submit")))
	eva.until(`document.querySelector("input:invalid") !== null && location.pathname === "/qualify/1"`)
	for i := range 3 { // by keys: the radio button with the right answer, then on
		text := eval[string](eva, `document.querySelectorAll("#answers section")[`+strconv.Itoa(i)+`].textContent`)
		value := "no"
		if strings.Contains(text, "sparrow") || strings.Contains(text, "eagle") {
			value = "yes"
		}
		eva.do(chromedp.Focus(chromedp.CSS(`input[name="s.q` + strconv.Itoa(i+1) + `.label"]`)))
		eva.press(" ")
		if value == "no" {
			eva.press(kb.ArrowDown)
		}
	}
	eva.press(kb.Enter)
	eva.says("You have passed")
	eva.tour("test-passed")
	c.launchCats("Cats")
	eva.do(chromedp.Click(chromedp.CSS(`a.button.primary`)))
	eva.says("Cats")
	rita.open("/tests/1")
	rita.says("3 of 3")
	rita.tour("test")
	rita.open("/invitations")
	rita.says("accepted")
	rita.tour("invitations")

	// Somebody whose time runs out: what there is is sent by itself.
	bea := c.window(t, chrome, "w2")
	other := c.boss.get("/invitations").form("/invitations/2/resend").send().want(200).links()["bea@example.org"]
	bea.open(other)
	bea.tour("invitation-signed-in")
	bea.do(chromedp.Click(chromedp.CSS(`button[value="accept"]`)))
	bea.says("Begin")
	bea.do(chromedp.Click(chromedp.ID("start")))
	bea.says("Question 3")
	c.ahead.Add(int64(15*time.Minute - 2*time.Second))
	bea.open("/qualify/1")
	bea.says("0 %. 75 % are needed.")
	bea.tour("test-not-passed")
	for _, w := range []*window{rita, eva, bea} {
		w.quiet()
	}
}
