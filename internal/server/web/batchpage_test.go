package web

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// atTop checks that a batch's page begins with what has to be put right, and a link to it.
func atTop(t *testing.T, p *pageOf, to string) {
	t.Helper()
	text := words(p.Root)
	said := strings.Index(text, "One thing has to be put right")
	if said < 0 || said > strings.Index(text, "As they came") || !slices.ContainsFunc(p.all("a"), func(a *html.Node) bool { return attr(a, "href") == to }) {
		t.Errorf("the page does not begin with what is wrong and a link to %s: %s", to, text)
	}
}

// TestHighestPriorityIsSeen: who makes a batch reads how high its priority may be.
func TestHighestPriorityIsSeen(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	c.boss.post("/admin/tenants/n1", url.Values{"name": {"Acme"}, "weight": {"1"}, "max_priority": {"50"}}).want(200, "Saved.")
	c.req.get("/batches/new").want(200).form("/batches").set("name", "Cats").set("tenant", "n1").set("kind", "choose_one").
		set("question", "Is ${n} odd?").set("options", "yes\nno\n").sendFile("n.csv", "n\n7\n").want(200, "At most 50, the highest of Acme.")
	c.launchCats("Dogs").want(200, "Change", "At most 50, the highest of Acme.")
}
