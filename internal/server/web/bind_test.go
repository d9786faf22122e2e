package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/recruit"
)

// TestDurationsAreReadAsShown: each number of seconds up to five hours, and a few that
// no unit divides, is the same again in each unit of a form.
func TestDurationsAreReadAsShown(t *testing.T) {
	t.Parallel()
	try := func(d, unit time.Duration) {
		bind := func(b binding, v *time.Duration) { b.span("d", v, unit) }
		f, got := &fields{values: filled(d, bind)}, time.Duration(0)
		bind(binding{fields: f}, &got)
		if got != d || f.err() != nil {
			t.Fatalf("%s is shown as %q of %s and read as %s (%v)", d, f.text("d"), unit, got, f.err())
		}
	}
	for _, unit := range []time.Duration{time.Second, time.Minute, time.Hour, 24 * time.Hour} {
		for s := range 5 * 3600 {
			try(time.Duration(s)*time.Second, unit)
		}
		for _, d := range []time.Duration{1, 999, time.Millisecond, 1234567891, 364 * 24 * time.Hour, time.Hour + time.Nanosecond} {
			try(d, unit)
		}
	}
}

// TestUntouchedFieldsStay: a form that is saved as it was opened changes nothing, with
// the parts of a value that it does not show.
func TestUntouchedFieldsStay(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 3)
	c.launchCats("Cats")
	deadline := c.site.now().UTC().Add(48 * time.Hour).Truncate(time.Hour).Add(65*time.Second + 123456789*time.Nanosecond)
	set := func(at time.Time) {
		t.Helper()
		if _, err := c.app.Batches.Change(t.Context(), c.req.principal(), 1, func(s *batches.RunningSettings) error {
			s.Deadline = at
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	has := func(want time.Time) {
		t.Helper()
		b, err := c.app.Batches.Get(t.Context(), c.req.principal(), 1)
		if err != nil || !b.Progress.Deadline.Equal(want) {
			t.Fatalf("the deadline is %s, want %s (%v)", b.Progress.Deadline, want, err)
		}
	}
	set(deadline)
	f := c.req.get("/batches/b1").form("/batches/b1/edit")
	if got := f.values.Get("deadline"); got != deadline.Format("2006-01-02T15:04:05") {
		t.Errorf("the form has the deadline %q", got)
	}
	f.send().want(200, "Saved")
	has(deadline)
	// Browsers leave out seconds of 0.
	set(deadline.Truncate(time.Minute))
	f = c.req.get("/batches/b1").form("/batches/b1/edit")
	f.set("deadline", deadline.Format("2006-01-02T15:04")).send().want(200, "Saved")
	has(deadline.Truncate(time.Minute))
	// A change of seconds is a change.
	set(deadline)
	changed := f.set("deadline", "2040-01-01T00:00:07").send().want(http.StatusConflict, "This was changed elsewhere")
	if strings.Contains(words(changed.Root), "To the field") { // of which none is at fault
		t.Error("the page of the conflict leads to a field")
	}
	has(deadline)
	c.req.get("/batches/b1").form("/batches/b1/edit").set("deadline", "soon").send().want(http.StatusUnprocessableEntity, "To the field")
	f = c.req.get("/batches/b1").form("/batches/b1/edit")
	f.set("deadline", "2040-01-01T00:00:07").send().want(200, "Saved")
	has(time.Date(2040, 1, 1, 0, 0, 7, 0, time.UTC))
}

// TestNumbersAreDecimal: forms read no notation of a programming language.
func TestNumbersAreDecimal(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	for _, text := range []string{"1_0", "0x1p-2", "0x10", "Inf", "NaN", "infinity"} {
		c.boss.post("/admin/tenants/n1", url.Values{"name": {"Acme"}, "weight": {text}, "max_priority": {"10"}}).
			want(http.StatusUnprocessableEntity, "is not a number (like 12 or 0.5)")
	}
	for _, text := range []string{"2", "0.5", "1e1", "+3", " 4 "} {
		c.boss.post("/admin/tenants/n1", url.Values{"name": {"Acme"}, "weight": {text}, "max_priority": {"10"}}).want(200, "Saved")
	}
}

// TestZeroIsNoDefault: a 0 in a field that is left empty for a default is refused.
func TestZeroIsNoDefault(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 0)
	draft := c.req.get("/batches/new").form("/batches").set("name", "Pets").set("question", "Is ${name} alive?").sendFile("cats.csv", cats).want(200)
	for _, name := range []string{"priority", "lease", "task_time", "budget"} {
		draft.form(draft.URL.Path+"/settings").set(name, "0").send().want(http.StatusUnprocessableEntity, "0 is not possible: write more, or nothing for the default")
	}
}

// TestOldFormOfWishes: a pool that is added does not make a form of wishes old.
func TestOldFormOfWishes(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	b := c.workers[0]
	f := b.get("/work/wishes").form("/work/wishes")
	c.boss.post("/admin/pools", url.Values{"name": {"night"}, "policy": {"fifo"}}).want(200)
	f.set("like-p1", "1").send().want(200, "Saved.")
	if w := recruit.WishesOf(b.principal().User); len(w.Prefers) != 1 || w.Prefers[1] != 1 {
		t.Fatalf("kept: %+v", w)
	}
	c.balance(t, 1, 2)
	if _, err := c.app.Duty.ChangeWishes(t.Context(), b.principal(), func(w *recruit.Wishes) error {
		w.NoMail, w.Prefers = true, map[crowd.PoolID]float64{2: 1}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	p := f.send().want(http.StatusConflict, "This was changed elsewhere")
	if now := p.form("/work/wishes").values; now.Has("mail") || now.Get("like-p2") != "1" || now.Get("like-p1") != "0.5" {
		t.Errorf("an old form is answered with %v", now)
	}
	if w := recruit.WishesOf(b.principal().User); !w.NoMail || len(w.Prefers) != 1 || w.Prefers[2] != 1 {
		t.Errorf("after an old form: %+v", w)
	}
}
