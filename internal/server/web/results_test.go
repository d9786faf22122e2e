package web

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// seesResults looks at the results of a batch of three cats, of which two people said that
// each is one, and all that they lead to.
func (c *company) seesResults(t *testing.T, id string) {
	t.Helper()
	path := "/batches/" + id + "/results"
	results := c.req.get(path).want(200, "3 tasks: answers differ in 0", "yes", "w_", "What came out?", "Disagree 0", "Wrong 1")
	results.without("Next</a>", "w1")
	// As a word: the letters of a pseudonym may hold it by chance.
	if regexp.MustCompile(`\bu3\b`).MatchString(results.Text) {
		t.Error("a person's number is shown")
	}
	who := regexp.MustCompile(`w_[a-z2-7]{26}`).FindString(results.Text)
	for _, a := range results.all("a") {
		if href := attr(a, "href"); strings.HasPrefix(href, path) {
			c.req.get(href).want(200)
		}
	}
	filtered := c.req.get(path+"?q=worker:"+who+"+wrong:yes").want(200, "1 task", "✕ wrong")
	if !slices.ContainsFunc(filtered.all("a"), func(a *html.Node) bool {
		return strings.Contains(attr(a, "href"), "/download?filter=worker%3A"+who+"+wrong%3Ayes&format=csv&rows=answers")
	}) {
		t.Error("what is filtered cannot be downloaded")
	}
	c.req.get(path+"?q=worker:w1").want(200, "Nothing fits")
	c.boss.get(path+"?q=worker:w1").want(200, "w1", who)
	c.req.get(path+"?q=agre:no").want(200, `did you mean "agree"?`, "3 tasks", "Download all")
	c.req.get(path+"?q=sort:-confidence&cursor=9.1").want(200, "begin again")
	c.req.get(path+"/1").want(200, "Task 1", who, "counts", "Known answer", "As a worker sees it")
	for _, none := range []string{"9", "0", "x", "99999999999"} {
		c.req.get(path + "/" + none).want(http.StatusNotFound)
	}
}
