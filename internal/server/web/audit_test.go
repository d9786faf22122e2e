package web

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestAuditPages: administrators see everything, with filters; a requester what was changed
// of their tenant, and neither from where nor by which administrator.
func TestAuditPages(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	c.launchCats("Cats")
	c.boss.post("/admin/tenants/n1/deposit", url.Values{"amount": {"5"}, "note": {"<b>for cats</b>"}}).want(200)
	all := c.boss.get("/admin/audit").want(200, "Launched batch b1", "Moved money into or out of the account of tenant n1", "Download these", "Verify the log")
	if !hasLink(all, "/admin/people/u1") || !hasLink(all, "/v1/audit/export") {
		t.Error("who it was is no link, or there is no download")
	}
	c.boss.get("/admin/audit?check=1").want(200, "Unbroken")
	none := c.boss.get("/admin/audit?object=b77").want(200, "Nothing fits")
	if strings.Contains(none.Text, "Launched batch") {
		t.Error("a filter does not filter")
	}
	c.boss.get("/admin/audit?since=yesterday").want(422)
	c.boss.get("/admin/audit?actor=x").want(422, "a pseudonym")
	c.boss.get("/admin/audit?before=x").want(422, "is not the number of an entry")
	own := c.req.get("/tenants/n1/audit").want(200, "Launched batch b1", "Moved money", "an administrator u1")
	if strings.Contains(own.Text, "127.0.0.1") || hasLink(own, "/admin/") {
		t.Errorf("a requester sees %s", own.Text)
	}
	c.req.get("/tenants/n1/audit?address=127.0.0.1").want(403)
	c.req.get("/batches/b1").want(200, "What was changed here")
	c.boss.get("/admin/pools/p1").want(200, "What was changed here")
	c.boss.get("/admin/people/u2").want(200, "What they have changed")
	entry := ""
	for _, a := range c.req.get("/tenants/n1/audit?kind=tenant&operation=Tenants.Deposit").all("a") {
		if to := attr(a, "href"); strings.HasPrefix(to, "/audit/") && entry == "" {
			entry = to // the newest
		}
	}
	c.req.get(entry).want(200, "What differs", "amount", "5.00", "<b>for cats</b>", "an administrator u1")
	c.boss.get(entry).want(200, "127.0.0.1")
}

// hasLink reports whether a page has a link that begins so.
func hasLink(p *pageOf, to string) bool {
	return slices.ContainsFunc(p.all("a"), func(a *html.Node) bool { return strings.HasPrefix(attr(a, "href"), to) })
}
