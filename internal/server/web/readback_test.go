package web

import (
	"fmt"
	"github.com/throng-dev/throng/internal/store"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// edited is a form that shows what is kept: whatever is changed there is shown
// by the page afterwards. What the fields are the page says; values are for
// those whose text is not free.
type edited struct {
	by     func(c *company) *browser
	page   string
	values url.Values
	only   bool      // fields that values does not name are left alone
	press  [2]string // the button, if it has a name
}

func byBoss(c *company) *browser   { return c.boss }
func byReq(c *company) *browser    { return c.req }
func byWorker(c *company) *browser { return c.workers[0] }

// edits are the routes of such forms.
var edits = map[string]edited{
	"POST /work/wishes":              {by: byWorker, page: "/work/wishes"},
	"POST /batches/{batch}/template": {by: byReq, page: "/batches/b2", only: true, values: templates[0]},
	"POST /batches/{batch}/settings": {by: byReq, page: "/batches/b2", press: [2]string{"then", "save"}, values: url.Values{
		"name": {"Dogs"}, "pool": {"p2"}, "reward": {"0.07"}, "budget": {"12.5"}, "rule": {"agree"}, "agree": {"3"}, "of": {"5"}, "qualifications": {"french>=70\nlatin>=0\n"},
		"enough.labels": {"6"}, "enough.share": {"0.75"}, "enough.confidence": {"0.6"}, "enough.spent": {"9"}, "per_worker": {"7"}, "approval.within": {"48"}, "approval.appeal": {"3"}, "checks": {"1"}, "checks.first": {"0.2"}, "checks.least": {"0.05"}, "review": {"1"}, "review.undecided": {"1"}, "review.confidence": {"0.8"}, "review.share": {"0.1"}, "review.new_workers": {"5"}, "review.reward": {"0.2"}, "review.budget": {"3"}, "review.priority": {"2"}, "review.qualifications": {"greek>=50\n"}, "review.blind": {"1"}, "quality": {"wrong > 2 => warn \"Look twice.\"\nanswers > 9 => pause"},
		"count": nil, "until": nil, "min": nil, "at_most": nil, "small_crowd": nil, // of other rules; and of the launch
	}},
	"POST /batches/{batch}/edit": {by: byReq, page: "/batches/b1", values: url.Values{
		"reward": {"0.01"}, "rule": {"agree"}, "agree": {"1"}, "of": {"2"},
		"enough.labels": {"60"}, "enough.share": {"1"}, "enough.confidence": {"1"}, "enough.spent": {"9"},
		"count": nil, "until": nil, "min": nil, "at_most": nil, "add_budget": nil, "release_budget": nil, "small_crowd": nil, // of other rules; and of the change
	}},
	"POST /admin/tenants/{tenant}":      {by: byBoss, page: "/admin", values: url.Values{"name": {"Acme Sons-2"}}},
	"POST /admin/pools/{pool}":          {by: byBoss, page: "/admin", values: url.Values{"name": {"daytime"}, "policy": {"wcfs(wfs,k=3)"}}},
	"POST /admin/people/{user}":         {by: byBoss, page: "/admin/people/u2", values: url.Values{"email": {"rita@example.org"}, "email_verified": nil, "pool": {"p2"}, "tenants": {"n1", "n2"}, "qualifications": {"french 70\nlatin 100\n"}}},
	"POST /admin/pools/{pool}/settings": {by: byBoss, page: "/admin/pools/p1/settings", values: poolValues},
	"POST /admin/services/{service}":    {by: byBoss, page: "/admin/services", values: url.Values{"url": {"https://s.example/v2"}, "rate": {"30/h"}, "tenants": {"n1", "n2"}}},
}

// templates are of kinds with settings of their own, with all that the form has for them.
var templates = []url.Values{
	{"kind": {"number"}, "title": {"Weigh it"}, "instructions": {"With a scale."}, "question": {"How heavy?"}, "show": {"photo | image | Photo\n"}, "unit": {"kg"}, "min": {"-1.5"}, "max": {"9"}, "integer": {"1"}},
	{"kind": {"choose_many"}, "options": {"a | A\nb\nc | C\n"}, "least": {"1"}, "most": {"2"}, "show": {"-"}},
	{"kind": {"short_text"}, "max_length": {"12"}, "pattern": {"[a-z]+"}, "question": {"What is it?"}},
	{"kind": {"compare_two"}, "left": {"name"}, "left_as": {"image"}, "left_label": {"L"}, "right": {"photo"}, "right_as": {"link"}, "right_label": {"R"}, "tie": {"1"}},
	{"kind": {"rating"}, "question": {"How useful?"}, "points": {"7"}, "low": {"useless"}, "high": {"very useful"}},
	{"kind": {"form"}, "label_field": {"breed"}, "f0_name": {"breed"}, "f0_label": {"Breed"}, "f0_type": {"choice"}, "f0_options": {"tabby; siamese"}, "f0_required": {"1"}, "f1_name": {"notes"}, "f1_type": {"textarea"}},
	{"kind": {"html"}, "html": {"<input name=x>"}, "html_label_field": {"x"}},
	{"kind": {"choose_one"}, "options": {"yes | Yes, it is\nno\n"}, "title": {"Cat?"}},
}

var poolValues = url.Values{
	"rate": {"0.07"}, "elasticity": {"rules"}, "elasticity_options": {""}, "stability": {"average-rate"}, "stability_options": {""}, "balancer": {"paper"}, "balancer_options": {"omega=0.1,utility=max"},
	"min": {"2"}, "max": {"9"}, "ask": {"3.5"}, "answer": {"90"}, "life": {"1200"}, "least_preference": {"0.6"}, "silence": {"45"}, "promise": {"420"}, "training": {"4"},
	"target.eta": {"0.25"}, "target.salary": {"0.5"}, "target.wait": {"15"}, "target.tail": {"0.05"}, "window": {"1800"}, "cooldown": {"75"}, "expect.task_time": {"12"},
	"when": {"queue > 10", "idle > 3", ""}, "rule_do": {"recruit 2", "release 1", ""},
}

// fieldOf is an element of a form.
func fieldOf(p *pageOf, action, name string) *html.Node {
	for _, f := range p.all("form") {
		if attr(f, "action") != action {
			continue
		}
		for x := range f.Descendants() {
			if x.Type == html.ElementNode && attr(x, "name") == name && x.Data != "button" {
				return x
			}
		}
	}
	return nil
}

// other returns what a field of a form may have instead of what it has.
func (s *sheet) other(name string) []string {
	x, old := fieldOf(s.p, s.action, name), s.values.Get(name)
	switch kind := attr(x, "type"); {
	case name == "roles": // names of such that there are
		return []string{"n1/viewer"}
	case kind == "checkbox" && old == "":
		return []string{attr(x, "value")}
	case kind == "checkbox":
		return nil
	case kind == "radio":
		return []string{s.boxes[name][(slices.Index(s.boxes[name], old)+1)%len(s.boxes[name])]}
	case kind == "number":
		n, _ := strconv.ParseFloat(old, 64)
		return []string{strconv.FormatFloat(n+1, 'f', -1, 64)}
	case kind == "datetime-local":
		return []string{fmt.Sprintf("2031-02-03T04:05:%02d", len(name))}
	case kind == "hidden":
		return []string{old}
	}
	return []string{old + "x"}
}

// TestFormsKeepWhatIsTyped fills in each field of each form that shows what is
// kept with something else, and looks whether the page shows it then.
func TestFormsKeepWhatIsTyped(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 3)
	c.boss.post("/admin/tenants", url.Values{"name": {"Other"}, "weight": {"1"}, "max_priority": {"100"}}).want(200)
	c.boss.post("/admin/pools", url.Values{"name": {"Night"}, "policy": {"edf"}}).want(200)
	read(c.app.Pools.Grant(t.Context(), c.boss.principal(), 2, store.PoolGrant{Tenant: 1}))(t)
	c.boss.post("/admin/services", url.Values{"name": {"scores"}, "url": {"https://s.example"}, "concurrency": {"2"}, "tenants": {"n2"}}).want(200)
	c.launchCats("Cats")
	c.req.get("/batches/new").form("/batches").set("name", "Draft").set("tenant", "n1").sendFile("cats.csv", cats).want(200).at("/batches/b2")
	for _, pattern := range slices.Sorted(maps.Keys(edits)) {
		edits[pattern].try(t, c, pattern)
	}
	for _, values := range templates[1:] {
		x := edits["POST /batches/{batch}/template"]
		x.values = values
		x.try(t, c, "POST /batches/{batch}/template")
	}
}

func (x edited) try(t *testing.T, c *company, pattern string) {
	t.Helper()
	action := strings.NewReplacer("POST ", "", "/batches/{batch}", x.page, "{tenant}", "n1", "{pool}", "p1", "{user}", "u2", "{service}", "scores").Replace(pattern)
	b := x.by(c)
	opened := b.get(x.page).want(200)
	f, before := opened.form(action), opened.form(action)
	want := url.Values{}
	for _, name := range slices.Sorted(maps.Keys(merged(f.values, f.boxes))) {
		values, given := x.values[name]
		switch {
		case name == filledField || given && values == nil || x.only && !given:
			continue
		case !given:
			values = f.other(name)
		case fmt.Sprint(values) == fmt.Sprint(f.values[name]) && values[0] != "":
			t.Errorf("%s: %s had been %q before", pattern, name, values)
		}
		want[name], f.values[name] = values, values
	}
	for name := range x.values {
		if want[name] == nil && x.values[name] != nil {
			t.Errorf("%s has no field %s", pattern, name)
		}
	}
	if x.press[0] != "" {
		f.press(x.press[0], x.press[1])
	}
	if p := b.post(action, f.values).want(200); !strings.Contains(p.Text, "Saved") {
		t.Errorf("%s: the page after it does not tell that it is saved", pattern)
	}
	again := b.get(x.page).form(action)
	for name, values := range want {
		got := again.values[name]
		if !slices.EqualFunc(got, values, func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) || sameNumber(a, b) }) {
			t.Errorf("%s: %s is %q, was sent as %q", pattern, name, got, values)
		}
	}
	// What was filled in before that cannot undo it.
	before.press(x.press[0], x.press[1])
	p := b.post(action, before.values).want(http.StatusConflict, "This was changed elsewhere after you had opened the form")
	shown := p.form(action).values
	if kept := b.get(x.page).form(action).values; fmt.Sprint(shown) != fmt.Sprint(again.values) || fmt.Sprint(kept) != fmt.Sprint(again.values) {
		t.Errorf("%s: an old form shows %q and leaves %q, want %q", pattern, shown, kept, again.values)
	}
}

func merged(a url.Values, b map[string][]string) map[string]bool {
	all := make(map[string]bool)
	for name := range a {
		all[name] = true
	}
	for name := range b {
		all[name] = true
	}
	return all
}

func sameNumber(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && x == y
}
