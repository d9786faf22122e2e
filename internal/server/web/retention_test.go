package web

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/store"
)

// TestWhatGoesAtOnceIsAskedAbout: a few days in place of many delete nothing before it is shown
// what goes.
func TestWhatGoesAtOnceIsAskedAbout(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	c.launchCats("Cats")
	if _, err := c.app.Batches.End(t.Context(), c.boss.principal(), 1); err != nil {
		t.Fatal(err)
	}
	c.ahead.Add(int64(10 * 24 * time.Hour))
	const path = "/tenants/n1/retention"
	keeps := func() (days int) {
		for _, r := range read(c.app.Retention.Get(t.Context(), c.boss.principal(), 1))(t) {
			if r.Kind == store.RetainedAnswers && r.Set {
				days = r.Keeps
			}
		}
		return days
	}
	c.boss.get(path).form(path).set("answers", "365").send().want(200, "Saved").at(path)
	equal(t, keeps(), 365)
	asked := c.boss.get(path).form(path).set("answers", "3").send().want(200, "It is not saved yet", "Cats", "now", "Save, and delete it")
	equal(t, keeps(), 365)
	asked.form(path).press("sure", "1").send().want(200, "Saved").at(path)
	equal(t, keeps(), 3)
}
