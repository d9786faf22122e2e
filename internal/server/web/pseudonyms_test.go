package web

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/throng-dev/throng/internal/store"
)

// TestNoWorkerIsNamedOnPages: on every page and after every form, a requester sees workers by
// pseudonyms.
func TestNoWorkerIsNamedOnPages(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	c.launchCats("Cats")
	birdsBy(c.req).want(200)
	zoe, yann := c.as(t, c.boss, "zoe.z", func(f *sheet) { f.set("pool", "p1") }), c.as(t, c.boss, "yann.y", func(f *sheet) { f.set("pool", "p1") })
	identities := regexp.MustCompile(fmt.Sprintf(`\b(%s|%s|zoe\.z|yann\.y|zoe@crowd\.example)\b`, zoe.principal().User.ID, yann.principal().User.ID))
	if _, err := c.app.Accounts.ChangeUser(t.Context(), c.boss.principal(), zoe.principal().User.ID, func(u *store.User) error { u.Email = "zoe@crowd.example"; return nil }); err != nil {
		t.Fatal(err)
	}
	for _, b := range []*browser{zoe, yann} {
		b.post("/work/next", nil)
		b.get("/work").want(200).form("/work/submit").set("s.label", "yes").send().want(200)
		b.post("/work/next", nil)
	}
	zoe.get("/work").want(200).form("/work/report").set("text", "no picture").send().want(200)
	who := read(c.app.Accounts.Worker(t.Context(), c.boss.principal(), 1, zoe.principal().User.ID.String()))(t).Pseudonym
	c.req.post("/tenants/n1/block", url.Values{"worker": {who}, "blocked": {"1"}}).want(200)
	held, looked := map[string]bool{}, 0
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		for _, rt := range routes() {
			if m, _, _ := strings.Cut(rt.pattern, " "); m != method || strings.Contains(rt.pattern, "/events") || strings.Contains(rt.pattern, "signout") || strings.Contains(rt.pattern, "/account") {
				continue
			}
			p := c.req.try(rt)
			var told strings.Builder
			told.WriteString(p.URL.String() + "\n" + p.Text + "\n")
			if p.Root != nil {
				equal(t, html.Render(&told, p.Root), nil)
			}
			if looked++; identities.MatchString(told.String()) {
				t.Errorf("%s names a worker, %q:\n%s", rt.pattern, identities.FindString(told.String()), p.Text)
			}
			held[rt.pattern] = strings.Contains(p.Text, who)
		}
	}
	for _, pattern := range []string{"GET /batches/{batch}", "GET /batches/{batch}/quality", "GET /batches/{batch}/reports", "GET /batches/{batch}/results", "GET /batches/{batch}/results/{task}", "GET /tenants/{tenant}/audit"} {
		if !held[pattern] {
			t.Errorf("%s has nobody by a pseudonym: was there anything to see?", pattern)
		}
	}
	if looked < 80 {
		t.Errorf("only %d answers were looked at", looked)
	}
	page := c.req.get("/batches/b1/workers/"+who).want(200, who)
	if found := identities.FindString(page.Text); found != "" {
		t.Errorf("the page of a worker names them, %q", found)
	}
	c.boss.get("/batches/b1/workers/"+zoe.principal().User.ID.String()).want(200, who, "zoe.z")
	c.boss.get("/batches/b1/quality").want(200, "zoe.z", who)
	c.req.get("/tenants/n1/audit?object="+who).want(200, who)
	c.req.get("/tenants/n1/audit?object="+zoe.principal().User.ID.String()).want(200, "Nothing fits")
}
