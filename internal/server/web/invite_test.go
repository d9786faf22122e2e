package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// birdTest is a test file; nobody who takes the test may see "goldwing".
const birdTest = "name,_gold\nsparrow,yes\ntrout,no\neagle,yes\ncat,no\n"

// birdsBy makes a test by the page.
func birdsBy(b *browser, set ...string) *pageOf {
	f := b.get("/tests").want(200).form("/tests").set("name", "Birds").set("pass_mark", "75").set("tries", "2").set("wait", "1").
		set("kind", "choose_one").set("question", "Is a ${name} a bird?").set("options", "yes\nno")
	for i := 0; i < len(set); i += 2 {
		f.set(set[i], set[i+1])
	}
	return f.sendFile("birds.csv", birdTest)
}

// links returns the links that a page shows to be handed out, by address.
func (p *pageOf) links() map[string]string {
	p.t.Helper()
	out := map[string]string{}
	for _, dd := range p.all("dd") {
		if text := words(dd); strings.Contains(text, "/invitation?token=") {
			_, path, _ := strings.Cut(text, p.browser.site.URL)
			out[words(dd.PrevSibling)] = path
		}
	}
	return out
}

// answerBirds fills in a running try, so many answers right.
func (p *pageOf) answerBirds(right int) *sheet {
	p.t.Helper()
	f := p.form(strings.TrimSuffix(p.URL.Path, "/") + "/answers")
	n := 0
	for _, section := range p.all("section") {
		text := words(section)
		if !strings.HasPrefix(text, "Question ") {
			continue
		}
		n++
		bird := strings.Contains(text, "sparrow") || strings.Contains(text, "eagle")
		answer := map[bool]string{true: "yes", false: "no"}[bird == (n <= right)]
		f.set(fmt.Sprintf("s.q%d.label", n), answer)
	}
	if n != 4 {
		p.t.Fatalf("%d questions on the page", n)
	}
	return f
}

// TestInvitePages goes the whole way without JavaScript: a requester makes a test
// and invites, somebody joins, fails, passes, and works.
func TestInvitePages(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	birdsBy(c.req, "pass_mark", "0").want(422, "0 is not a pass mark")
	birdsBy(c.req).want(200, "Saved.", "It grants Acme/Birds", "The file has 4 questions.", "Nobody has taken it yet.")
	birdsBy(c.req).want(409, "there is a test named \"Birds\" already")
	p := c.req.get("/invitations").want(200, "Nobody is invited yet.").form("/invitations").
		set("addresses", "eva@example.org, bea@example.org\nEVA@example.org").set("pool", "p1").set("test", "1").set("note", "Hello <b>there</b>").send().
		want(200, "2 people invited", "1 address left out", "EVA@example.org (line 2) stands there twice", "Links to hand out", "to hand out").
		without("<b>there")
	links := p.links()
	if len(links) != 2 {
		t.Fatalf("the links are %v", links)
	}
	c.req.get("/invitations").want(200, "eva@example.org").without("token=")
	c.req.get("/invitations").form("/invitations").set("addresses", "x y@\n").set("pool", "p1").send().
		want(422, "\"x\" is not an e-mail address", "2 things have to be put right", "y@")

	eva := c.browser(t, "eva")
	page := eva.get(links["eva@example.org"]).want(200, "rita invites you to do tasks in main , for Acme", "Hello <b>there</b>", "First a test", "75 %")
	if page.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Error("the address of the page goes to where its links lead")
	}
	page.form("/invitation").set("name", "eva").set("password", password).set("again", "other").press("do", "join").send().want(422, "Is not the same as the password").without(password)
	page.form("/invitation").set("name", "rita").set("password", password).set("again", password).press("do", "join").send().want(409, "a user named \"rita\" already")
	page.form("/invitation").set("name", "e va").set("password", "x").set("again", "x").press("do", "join").send().want(422, "2 things have to be put right")
	page = page.form("/invitation").set("name", "eva").set("password", password).set("again", password).press("do", "join").send().
		at("/qualify/1").want(200, "Welcome! You are signed in.", "Who passes works in main", "2 tries left")
	eva.get("/work").want(403)
	eva.get("/").at("/qualify").want(200, "Your tests", "Birds", "It opens main to you.")
	eva.get(links["eva@example.org"]).want(409, "accepted already")

	page = page.form("/qualify/1/start").send().at("/qualify/1").want(200, "Question 4", "Try 1 of 2").without("_gold")
	if again := eva.get("/qualify/1"); words(again.Root) != words(page.Root) {
		t.Error("loaded again, the page is another one")
	}
	f := page.answerBirds(4)
	f.values.Del("s.q2.label")
	bad := f.send().want(422, "Look at 1 question again", "Has no answer")
	marked := 0
	for _, x := range bad.all("fieldset") {
		if strings.Contains(attr(x, "class"), "wrong") {
			marked++
			if attr(x, "id") != "c-q2.label" {
				t.Errorf("%s is marked", attr(x, "id"))
			}
		}
	}
	checked := 0
	for _, x := range bad.all("input") {
		if has(x, "checked") {
			checked++
		}
	}
	if marked != 1 || checked != 3 {
		t.Errorf("%d questions are marked, %d answers kept on the page", marked, checked)
	}
	// Submitting it like this uses up the try, so it is asked about; whoever goes back has lost nothing.
	ask := f.press("unfinished", "ask").send().want(200, "Submit it unfinished?", "Answered: 3 of 4", "uses up try 1 of 2", "you have 1 try left")
	back := ask.form("/qualify/1/answers").press("unfinished", "back").send().want(200, "Question 4")
	for name, want := range f.values {
		if got := back.form("/qualify/1/answers").values.Get(name); name != "unfinished" && got != want[0] {
			t.Errorf("after going back %s is %q, was %q", name, got, want[0])
		}
	}
	page = ask.form("/qualify/1/answers").press("unfinished", "1").send().at("/qualify/1").want(200, "You have passed, with 75 %", "To work")
	page.without("_gold", "right")
	f.press("unfinished", "1").send().want(200, "You have passed, with 75 %") // by a second window
	c.launchCats("Cats")
	eva.get("/").at("/work").want(200, "Cats")
	eva.get("/qualify").want(200, "qualified")
	eva.get("/qualify/1").want(200, "qualified for Acme/Birds")
	c.boss.get("/admin/people").want(200, "Acme/Birds 75")
	c.boss.get("/admin/people/u4").want(200, "eva", "Acme/Birds 75")
	c.req.get("/tests/1").want(200, "w_", "3 of 4", "75 %", "passed")
	c.req.get("/invitations").want(200, "accepted")

	bea := c.browser(t, "bea")
	bea.get(links["bea@example.org"]).form("/invitation").set("name", "bea").set("password", password).set("again", password).press("do", "join").send().
		form("/qualify/1/start").send().answerBirds(1).send().want(200, "Try 1: 25 %. 75 % are needed.", "1 try left; the next one is possible")
	bea.post("/qualify/1/start", nil).want(http.StatusTooManyRequests, "The next try is possible from")
	c.ahead.Add(int64(time.Hour))
	bea.get("/qualify/1").form("/qualify/1/start").send().answerBirds(0).send().want(200, "You have used up your tries.")
	bea.post("/qualify/1/start", nil).want(409, "You have used up your 2 tries.")
	bea.get("/work").want(403)
	bea.get("/qualify/1").want(200, "can invite you again without the test")
	bea.post("/qualify/1/answers", map[string][]string{"try": {"x"}}).want(422)
	bea.get("/qualify/2").want(404)
	bea.get("/qualify/x").want(404)
	c.req.get("/qualify/1").want(404)

	// The test's page says how they come in all the same.
	if p := c.req.get("/tests/1").want(200, "not passed no try left", "without this test"); strings.Count(words(p.Root), "no try left") != 2 { // the list and the note
		t.Errorf("the page says\n%s", words(p.Root))
	}
	again := c.req.get("/invitations").form("/invitations").set("addresses", "bea@example.org").send().want(200).links()["bea@example.org"]
	bea.get(again).form("/invitation").press("do", "accept").send().at("/work").want(200)

	c.req.get("/tests/1").form("/tests/1/retire").press("retired", "1").send().want(200, "retired")
	for _, x := range c.req.get("/invitations").all("option") {
		if words(x) == "Birds" {
			t.Error("somebody may still be invited to a retired test")
		}
	}
}

// TestRequestersInviteToOpenPools: the menu has the pools to which they may invite,
// and an admin opens others in their settings.
func TestRequestersInviteToOpenPools(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 0)
	c.boss.post("/admin/pools", map[string][]string{"name": {"night"}, "policy": {"fifo"}}).want(200)
	offered := func(b *browser) (pools []string) {
		for _, x := range b.get("/invitations").want(200).all("option") {
			if strings.HasPrefix(attr(x, "value"), "p") {
				pools = append(pools, words(x))
			}
		}
		return pools
	}
	invites := func() *pageOf {
		return c.req.post("/invitations", map[string][]string{"tenant": {"n1"}, "addresses": {"eva@example.org"}, "pool": {"p2"}})
	}
	if got := offered(c.req); !slices.Equal(got, []string{"main"}) {
		t.Errorf("a requester is offered %v", got)
	}
	if got := offered(c.boss); !slices.Equal(got, []string{"main", "night"}) {
		t.Errorf("an admin is offered %v", got)
	}
	invites().want(403, "ask an administrator")
	c.boss.get("/admin/pools/p2/settings").form("/admin/pools/p2/settings").set("inviting", "n1").press("then", "save").send().want(200, "Saved.")
	if got := offered(c.req); !slices.Equal(got, []string{"main", "night"}) {
		t.Errorf("once it is open a requester is offered %v", got)
	}
	invites().want(200, "1 person invited")
}

// TestLinkPages: each kind of bad link has a page that says what is the matter.
func TestLinkPages(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	invite := func(address string) string {
		t.Helper()
		return c.boss.get("/invitations").form("/invitations").set("addresses", address).set("days", "2").send().want(200).links()[address]
	}
	nobody := c.browser(t, "nobody")
	good := invite("a@example.org")
	for _, forged := range []string{"", "x", good + "x", "inv.1.99999999999." + strings.Repeat("A", 43)} {
		nobody.get("/invitation?token="+strings.TrimPrefix(forged, "/invitation?token=")).want(404, "Not found", "This link is not valid").without("example.org")
	}
	nobody.post("/invitation", map[string][]string{"token": {"x"}, "do": {"decline"}}).want(404)
	nobody.get(good).form("/invitation").press("do", "decline").send().want(200, "You have declined")
	nobody.get(good).want(409, "was declined")
	withdrawn := invite("b@example.org")
	c.boss.get("/invitations").form("/invitations/2/withdraw").send().want(200, "its link works no longer", "withdrawn")
	nobody.get(withdrawn).want(409, "was withdrawn")
	late := invite("c@example.org")
	c.ahead.Add(int64(49 * time.Hour))
	nobody.get(late).want(409, "has expired")
	again := c.boss.get("/invitations").want(200, "expired").form("/invitations/3/resend").send().want(200, "Links to hand out").links()["c@example.org"]
	nobody.get(again).want(200, "You are invited")
	c.boss.post("/invitations/2/resend", nil).want(409)
	c.boss.get("/invitations?before=3").want(200, "b@example.org").without("c@example.org")

	// With an account one accepts as who one is.
	w := c.workers[0]
	w.get(again).want(200, "Accept as w1").form("/invitation").press("do", "accept").send().at("/work")
	other := invite("d@example.org")
	mine := c.req.get(other).want(200, "You are signed in as rita", "cannot become a worker with it").without("Accept")
	c.req.post("/invitation", url.Values{"token": {mine.form("/invitation").values.Get("token")}, "do": {"accept"}}).want(409, "cannot become a worker with it")
	signIn := nobody.get(invite("e@example.org"))
	link := ""
	for _, a := range signIn.all("a") {
		if strings.HasPrefix(attr(a, "href"), "/signin?next=") {
			link = attr(a, "href")
		}
	}
	nobody.get(link).form("/signin").set("name", "rita").set("password", password).send().at("/invitation").want(200, "You are signed in as rita")
	nobody.post("/invitation", map[string][]string{"token": {"x"}, "do": {"accept"}}).want(404)
}

// TestStrangersSeeNoInvitations: another tenant's look as if they were not there.
func TestStrangersSeeNoInvitations(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 0)
	birdsBy(c.req).want(200)
	c.req.get("/invitations").form("/invitations").set("addresses", "a@example.org").set("test", "1").send().want(200)
	c.boss.get("/admin").form("/admin/tenants").set("name", "Other").send().want(200)
	olga := c.as(t, c.boss, "olga", func(f *sheet) { f.set("tenants", "n2") })
	olga.get("/invitations").want(200, "Nobody is invited yet.").without("a@example.org", "Birds")
	olga.get("/invitations?tenant=n1").want(404)
	olga.get("/tests").want(200, "There is no test yet.").without(">Birds<")
	for _, id := range []string{"1", "99"} {
		olga.post("/invitations/"+id+"/resend", nil).want(404, "no such invitation").without("a@example.org")
		olga.post("/invitations/"+id+"/withdraw", nil).want(404, "no such invitation")
		olga.get("/tests/"+id).want(404, "no such test").without("Birds")
		olga.post("/tests/"+id+"/retire", nil).want(404, "no such test")
	}
	c.boss.get("/tests").want(200, "Birds", "Acme")
	c.boss.get("/tests/1").want(200, "For Acme")
	// One of the installation everybody may use; how people fare at it only admins see.
	birdsBy(c.boss, "name", "For all").want(200, "For the whole installation")
	olga.get("/tests/2").want(200, "For all").without("Tries</h2>", "Retire")
	olga.get("/invitations").form("/invitations").set("addresses", "b@example.org").set("test", "2").send().want(200, "1 person invited")
}
