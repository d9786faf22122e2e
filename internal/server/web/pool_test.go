package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// kept is the first pool as it is kept.
func (c *company) kept() store.Pool {
	c.boss.t.Helper()
	v, err := c.app.Pools.Get(context.Background(), c.boss.principal(), 1)
	if err != nil {
		c.boss.t.Fatal(err)
	}
	return v.Pool
}

func TestAPoolsSettings(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	before := c.kept()
	page := c.boss.get("/admin/pools/p1/settings").want(200, "Settings of main", "On call", "Calling", "Rules", "What is best", "Limits")
	page.form("/admin/pools/p1/settings").press("then", "save").send().want(200, "Saved.").at("/admin/pools/p1")
	after := c.kept()
	if before.Retainer != after.Retainer || before.Calling != after.Calling || fmt.Sprintf("%+v", before.Control) != fmt.Sprintf("%+v", after.Control) {
		t.Errorf("saving what was there changes it:\n%+v\n%+v", before, after)
	}
	f := page.form("/admin/pools/p1/settings").set("called", "1").set("rate", "0.05").set("silence", "90").set("promise", "300").set("training", "3").
		set("ask", "1.5").set("answer", "30").set("life", "1200").
		set("elasticity", "ct-p").set("elasticity_options", "kp=0.4, coming=0").set("stability", "hybrid").set("stability_options", "window=2m").set("balance", "1").set("balancer", "search").set("balancer_options", "omega=0.8").set("advise", "1").
		set("min", "2").set("max", "9").set("cooldown", "45").set("window", "600").set("target.eta", "0.7").set("target.salary", "0.06").set("target.wait", "20").set("target.tail", "0.05").
		set("expect.task_time", "12.5")
	f.press("then", "save").send().want(200, "Saved.", "calls its people", "advice only", "Balances with other pools by search(omega=0.8)").at("/admin/pools/p1")
	got := c.kept()
	wantRetainer := engine.Retainer{Called: true, Silence: 90 * time.Second, Rate: crowd.Unit / 20, Promise: 5 * time.Minute, Training: 3}
	wantCalling := store.Calling{Ask: 1.5, Answer: 30 * time.Second, Life: 20 * time.Minute}
	if got.Retainer != wantRetainer || got.Calling != wantCalling {
		t.Errorf("kept %+v and %+v", got.Retainer, got.Calling)
	}
	x := got.Control
	if x.Elasticity != "ct-p(kp=0.4, coming=0)" || x.Stability != "hybrid(window=2m)" || !x.Balance || x.Balancer != "search(omega=0.8)" || !x.Advise || x.Min != 2 || x.Max != 9 ||
		x.Cooldown != 45*time.Second || x.Window != 10*time.Minute || x.Expect.TaskTime != 12500*time.Millisecond || x.Target != (pool.Target{Eta: 0.7, Salary: 0.06, Wait: 20 * time.Second, Tail: 0.05}) {
		t.Errorf("kept %+v", x)
	}
	// The form has all of it, and saving it again changes nothing.
	again := c.boss.get("/admin/pools/p1/settings").want(200)
	again.form("/admin/pools/p1/settings").press("then", "save").send().want(200, "Saved.")
	if now := c.kept(); now.Retainer != got.Retainer || now.Calling != got.Calling || now.Control.Elasticity != x.Elasticity || now.Control.Target != x.Target || now.Control.Cooldown != x.Cooldown {
		t.Errorf("saved again: %+v", now)
	}
	// Times that are no whole minutes can be read.
	short := got
	short.Retainer.Promise, short.Calling.Life, short.Control.Window = time.Second, 90*time.Second, 100*time.Second
	if _, err := c.app.Pools.Change(t.Context(), c.boss.principal(), 1, func(now *store.Pool) error { *now = short; return nil }); err != nil {
		t.Fatal(err)
	}
	v := c.boss.get("/admin/pools/p1/settings").want(200).form("/admin/pools/p1/settings").values
	if v.Get("promise") != "1" || v.Get("life") != "90" || v.Get("window") != "100" {
		t.Errorf("the form has a promise of %s, a life of %s and a window of %s seconds", v.Get("promise"), v.Get("life"), v.Get("window"))
	}
	if _, err := c.app.Pools.Change(t.Context(), c.boss.principal(), 1, func(now *store.Pool) error { *now = got; return nil }); err != nil {
		t.Fatal(err)
	}
	again = c.boss.get("/admin/pools/p1/settings").want(200)
	// What is wrong stands at its field, with what was typed everywhere.
	for name, wrong := range map[string]struct{ value, says string }{
		"elasticity_options": {"kq=1", `has no option "kq"`}, "balancer_options": {"omega=2", "omega=0 to 1"}, "max": {"1", "Must be at least min, 2, not 1."}, "rate": {"lots", "is not an amount"},
		"ask": {"0.5", "is not how many people are asked for one"}, "target.eta": {"3", "Must be above 0 and below 1"}, "silence": {"0.001", "is not between"},
	} {
		p := again.form("/admin/pools/p1/settings").set("training", "77").set(name, wrong.value).press("then", "save").send().want(http.StatusUnprocessableEntity, wrong.says, "One thing has to be put right")
		kept := p.form("/admin/pools/p1/settings")
		if kept.values.Get(name) != wrong.value || kept.values.Get("training") != "77" || kept.values.Get("called") != "1" {
			t.Errorf("%s: typed values are lost: %v", name, kept.values)
		}
		if field := name; !strings.HasSuffix(field, "_options") && !wrongAt(p, "control-"+field) {
			t.Errorf("%s: the field is not marked", field)
		}
	}
	if c.kept().Retainer.Training != 3 {
		t.Error("a refused form was kept in part")
	}
}

// wrongAt says whether the control of an id is marked as wrong and described.
func wrongAt(p *pageOf, id string) bool {
	for n := range p.Root.Descendants() {
		if attr(n, "id") == id {
			return attr(n, "aria-invalid") == "true" && attr(n, "aria-describedby") != ""
		}
	}
	return false
}

func element(p *pageOf, id string) *html.Node {
	for n := range p.Root.Descendants() {
		if attr(n, "id") == id {
			return n
		}
	}
	return nil
}

func (s *sheet) rules(pairs ...string) *sheet {
	s.values["when"], s.values["rule_do"] = nil, nil
	for i := 0; i < len(pairs); i += 2 {
		s.values["when"], s.values["rule_do"] = append(s.values["when"], pairs[i]), append(s.values["rule_do"], pairs[i+1])
	}
	return s
}

func TestRulesOfAPool(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	const path = "/admin/pools/p1/settings"
	open := func() *sheet { return c.boss.get(path).want(200).form(path).set("elasticity", "rules") }
	// The place of what is wrong, also behind an empty row.
	p := open().rules("queue > 3", "recruit 1", "", "", "workers > 1 && queu > 10", "recruit 1").press("then", "save").send().want(http.StatusUnprocessableEntity, `did you mean`, "Column 16:")
	if bad := element(p, "bad-3"); bad == nil || !strings.HasPrefix(words(bad), "workers > 1 && queu > 10") || !wrongAt(p, "when-3") || wrongAt(p, "do-3") || element(p, "bad-1") != nil {
		t.Errorf("what is wrong does not stand at the third row")
	}
	for n := range p.Root.Descendants() {
		if n.Data == "mark" && words(n) != "queu > 10" {
			t.Errorf("%q is marked", words(n))
		}
	}
	if f := p.form(path); strings.Join(f.values["when"], "|") != "queue > 3||workers > 1 && queu > 10|" || f.values.Get("elasticity") != "rules" {
		t.Errorf("typed rules are lost: %q", f.values["when"])
	}
	p = open().rules("idle > 1", "transfer 1 from nowhere").press("then", "save").send().want(http.StatusUnprocessableEntity, `There is no pool "nowhere"`)
	if !wrongAt(p, "do-1") || wrongAt(p, "when-1") {
		t.Error("the action is not what is marked")
	}
	// Rows come and go without anything being saved.
	p = p.form(path).rules("a", "b", "c", "d").press("then", "add").send().want(200)
	f := p.form(path)
	if got := strings.Join(f.values["when"], "|"); got != "a|c||" {
		t.Fatalf("after adding: %q", got)
	}
	f = f.press("then", "remove-1").send().want(200).form(path)
	if got := strings.Join(f.values["when"], "|") + strings.Join(f.values["rule_do"], "|"); got != "c||d||" {
		t.Fatalf("after removing: %q", got)
	}
	if len(c.kept().Control.Rules) != 0 {
		t.Error("rules were saved")
	}
	// Trying them.
	open().rules("queue > 1", "recruit 2").press("then", "try").send().want(200, "Nothing is known of the last hour yet", "Nothing was saved.")
	c.launchCats("Cats")
	for range 3 {
		c.step(10 * time.Second)
	}
	open().rules("queue > 100", "recruit 2").press("then", "try").send().want(200, "None of them would have fired at any of 3 steps.")
	p = open().rules("queue > 1", "recruit 2").press("then", "try").send().want(200, "Of 3 steps they would have fired at 3 : 6 called, 0 let go", "rule 1 (queue > 1): recruit 2; queue 6", "call 2")
	if f := p.form(path); f.values.Get("when") != "queue > 1" || f.values.Get("elasticity") != "rules" {
		t.Errorf("after trying, the form has %v", f.values)
	}
	open().rules("queue >", "recruit 2").press("then", "try").send().want(http.StatusUnprocessableEntity, "Column")
	open().rules().press("then", "try").send().want(http.StatusUnprocessableEntity, "write a rule first")
	open().rules("queue > 1", "recruit 1", "idle > 3", "release 1").press("then", "save").send().want(200, "Saved.").at("/admin/pools/p1")
	if r := c.kept().Control.Rules; len(r) != 2 || r[1] != (pool.Rule{When: "idle > 3", Do: "release 1"}) {
		t.Errorf("kept %+v", r)
	}
}

// brokenMail is a mail server that is down.
func brokenMail(cfg *app.Config) {
	cfg.Senders.Mail = func(context.Context, string, string, string) error {
		return errors.New("dial tcp 192.0.2.1:25: connection refused")
	}
}

func TestThePoolsPage(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 4, brokenMail)
	c.boss.get("/admin/people/u3").form("/admin/people/u3").set("email", "w1@example.org").send().want(200)
	c.boss.get("/admin").want(200, "Watch").without("Money left")
	c.boss.get("/admin/pools/p1").want(200, "on duty, best (c*) –", "Not looked at yet", "Nothing was done yet.", "No call is open.", "Messages of browsers are not set up", "w1", "Size and actions", "Preferences met")
	c.onCall(pool.Settings{Min: 2})
	c.step(time.Second)
	if _, err := c.app.Outbox.SendDue(context.Background()); err != nil {
		t.Fatal(err)
	}
	p := c.boss.get("/admin/pools/p1").want(200, "Call 2 people.", "The last step", "+0 becomes +2: at least 2 people", "controller", "0 of 2 came", "Asked (4) w1, w2, w3, w4", "mail", "queued", "connection refused", "2 coming", "off duty", "Settings changed.", "admin", "100.00")
	p.form("/admin/pools/p1/fund").set("amount", "99.90").press("do", "take").send().want(200, "not enough to call anybody, which takes ", " a person.", "To the money").
		form("/admin/pools/p1/fund").set("amount", "99.90").press("do", "add").send().want(200).without("not enough to call anybody")
	if n := len(p.all("figure")); n != 9 {
		t.Errorf("%d pictures", n)
	}
	for _, n := range p.all("svg") {
		if attr(n, "role") == "img" && attr(n, "aria-label") == "" {
			t.Error("a picture without words")
		}
	}
	c.workers[0].get("/work").want(200, "You are called").form("/work/decline").send().want(200, "There is a place in main")
	c.workers[1].get("/work").form("/work/decline").send().want(200)
	c.workers[2].get("/work").form("/work/duty").send().want(200, "You are on duty.")
	p = c.boss.get("/admin/pools/p1").want(200, "1 of 2 came", "Came (1) w3", "Declined (2) w1, w2", "1 coming", "idle")
	// Money.
	p.form("/admin/pools/p1/fund").set("amount", "2.50").press("do", "add").send().want(200, "The pool's money is changed.", "102.50")
	p.form("/admin/pools/p1/fund").set("amount", "2000").press("do", "take").send().want(http.StatusUnprocessableEntity, "One thing has to be put right")
	p.form("/admin/pools/p1/fund").set("amount", "x").press("do", "take").send().want(http.StatusUnprocessableEntity, "is not an amount")
	p.form("/admin/pools/p1/fund").set("amount", "").press("do", "add").send().want(http.StatusUnprocessableEntity, "Say how much")
	p.form("/admin/pools/p1/fund").set("amount", "102.40").press("do", "take").send().want(200, "lasts less than ten minutes for those on duty, which take ", "To the money")
	// The log, a page at a time.
	for range 40 {
		c.boss.get("/admin/pools/p1/settings").form("/admin/pools/p1/settings").set("min", "2").set("training", "0").press("then", "save").send().want(200)
		c.boss.post("/admin/pools/p1/stop", url.Values{"stopped": {"1"}}).want(200)
		c.boss.post("/admin/pools/p1/stop", url.Values{"stopped": {""}}).want(200)
	}
	p = c.boss.get("/admin/pools/p1").want(200, "Older ›").without("Newest")
	older := ""
	for _, a := range p.all("a") {
		if attr(a, "rel") == "next" {
			older = attr(a, "href")
		}
	}
	c.boss.get(older).want(200, "Newest", "stopped: ")
	c.boss.get("/admin/pools/p1?before=1").want(200, "Nothing was done yet.")
	c.boss.get("/admin/pools/p1?before=x").want(404)
	c.boss.get("/admin/pools/p99").want(404)
	c.boss.get("/admin/pools/p1?span=24h").want(200)
	c.boss.get("/admin/pools/p1?span=nonsense").want(200)
}

func TestAdviceAndFailuresAreShown(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	c.onCall(pool.Settings{Min: 2, Advise: true})
	c.step(time.Second)
	p := c.boss.get("/admin/pools/p1").want(200, "Call 2 people. advice", "advice only")
	if !strings.Contains(p.Text, "call (advice)") {
		t.Error("the picture does not tell advice apart")
	}
	if strings.Contains(p.Text, `>call<`) {
		t.Error("the picture has the advice as done")
	}
}

func TestPicturesOfAPoolBreakOffWhereNothingIsKnown(t *testing.T) {
	start := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	h := past{from: start, to: start.Add(time.Hour)}
	for i, s := range []int{0, 10, 20, 600, 610} { // seconds
		h.samples = append(h.samples, store.Sample{At: start.Add(time.Duration(s) * time.Second), Metrics: pool.Metrics{Workers: i + 1, CStar: pool.Unknown}})
	}
	h.samples[3].CStar = 7
	list := h.series("size", 1, func(x *store.Sample) float64 { return float64(x.Workers) }, nil)
	if len(list) != 2 || len(list[0].X) != 3 || len(list[1].X) != 2 || list[1].Name != "" || list[1].Ink != 1 {
		t.Errorf("the line is %+v", list)
	}
	for at, want := range map[int]float64{-5: 1, 0: 1, 15: 2, 300: 3, 700: 5} {
		if got := h.sizeAt(start.Add(time.Duration(at) * time.Second)); got != want {
			t.Errorf("after %d s the size is %g, want %g", at, got, want)
		}
	}
	if got := (&past{}).sizeAt(start); got != 0 {
		t.Errorf("nothing known: %g", got)
	}
	pics, err := h.draw()
	if err != nil || len(pics) != 9 {
		t.Fatalf("%d pictures, %v", len(pics), err)
	}
	if !strings.Contains(string(pics[0].SVG), "now 5, best not known") {
		t.Error("the words of the first picture are wrong")
	}
}

// TestWhatPeopleOfAPoolDo: the pool's page says of each what they do just now.
func TestWhatPeopleOfAPoolDo(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 3)
	c.launchCats("cats")
	c.workers[0].get("/work").want(200, "a cat?")
	c.workers[1].get("/work").want(200, "a cat?").form("/work/skip").send()
	states := make(map[string]int)
	for _, row := range c.boss.get("/admin/pools/p1").want(200).all("tr") {
		for _, state := range []string{"at work", "idle", "off duty"} {
			if strings.Contains(words(row), state) {
				states[state]++
			}
		}
	}
	if states["at work"] != 2 || states["idle"]+states["off duty"] != 1 {
		t.Errorf("the states are %v", states)
	}
}

// TestTheLogOfNobodyReleased: when the money for waiting runs out where nobody waits, the
// log of the pool does not say that people were let go.
func TestTheLogOfNobodyReleased(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "pay for waiting ends", 1: "let 1 person go", 2: "let 2 people go"} {
		if got := new(nameBook).action(1, store.Action{Pool: 1, Kind: store.ActionRelease, N: n}).What; got != want {
			t.Errorf("of %d: %q, not %q", n, got, want)
		}
	}
	if got := new(nameBook).action(1, store.Action{Pool: 1, Kind: store.ActionFunded}); got.What != "pay for waiting goes on" || got.Sign == "" {
		t.Errorf("of money that came: %+v", got)
	}
}
