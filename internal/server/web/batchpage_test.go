package web

import (
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
