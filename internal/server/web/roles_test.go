package web

import (
	"net/http"
	"testing"

	"github.com/throng-dev/throng/internal/server/access"
)

// TestFirstPages: everybody comes after sign-in to a page that they may see, and every entry
// of its menu leads to one.
func TestFirstPages(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	c.launchCats("Cats")
	for _, b := range access.BuiltIns() {
		held := string(b.Role)
		first := map[access.Role]string{access.Operator: "/admin", access.Viewer: "/batches", access.Finance: "/batches"}[b.Role]
		switch {
		case b.Role == access.Worker || b.Role == access.Admin || b.Role == access.Requester:
			continue // tours of other tests
		case !b.Installation:
			held, first = "n1/"+held, "/batches"
		}
		who := c.as(t, c.boss, "a-"+string(b.Role), func(f *sheet) { f.set("roles", held) })
		p := who.get("/").want(http.StatusOK)
		if p.URL.Path != first && !(b.Role == access.Viewer && p.URL.Path == "/admin") {
			t.Errorf("%s comes to %s, want %s", held, p.URL.Path, first)
		}
		entries := 0
		for _, a := range p.all("a") {
			if li := a.Parent; li.Data != "li" || li.Parent.Parent.Data != "nav" {
				continue
			}
			entries++
			who.get(attr(a, "href")).want(http.StatusOK)
		}
		if entries == 0 {
			t.Errorf("%s has no menu", held)
		}
	}
}
