package web

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// stays marks the page, so that a test sees whether it was loaded again.
func (w *window) stays() { eval[bool](w, `window.sameAsBefore = true`) }

func (w *window) stayed() {
	w.t.Helper()
	if !eval[bool](w, `window.sameAsBefore === true`) {
		w.t.Error("the page was loaded again")
	}
}

func TestOnCallInChromium(t *testing.T) {
	chrome := startChromium(t)

	t.Run("who answers a call first comes in", func(t *testing.T) {
		c := newCompany(t, 2)
		c.onCall(pool.Settings{Min: 1})
		one, two := c.window(t, chrome, "w1"), c.window(t, chrome, "w2")
		for _, w := range []*window{one, two} {
			w.says("You are off duty")
			w.stays()
		}
		one.tour("off-duty")
		usual := eval[string](two, `document.querySelector('link[rel="icon"]').href`)
		c.step(time.Second)
		for _, w := range []*window{one, two} {
			w.says("You are called")
			w.stayed()
			if title := eval[string](w, `document.title`); !strings.HasPrefix(title, "●") {
				t.Errorf("the title is %q", title)
			}
			if said := eval[string](w, `document.getElementById("says").textContent`); !strings.Contains(said, "You are called") {
				t.Errorf("a screen reader hears %q", said)
			}
		}
		if now := eval[string](two, `document.querySelector('link[rel="icon"]').href`); now == usual || !strings.Contains(now, "icon-called") {
			t.Errorf("the sign in the tab is %s", now)
		}
		one.tour("called")
		one.do(chromedp.Click(chromedp.CSS(`form[action="/work/duty"] button`)))
		one.says("You are on duty.")
		one.says("Waiting for a task")
		two.says("Thank you! Others were first")
		two.stayed()
		if title := eval[string](two, `document.title`); title != "Off duty · Throng" {
			t.Errorf("the title is %q", title)
		}
		if now := eval[string](two, `document.querySelector('link[rel="icon"]').href`); now != usual {
			t.Errorf("the sign in the tab is still %s", now)
		}
		two.tour("thanked")
		for _, w := range []*window{one, two} {
			w.quiet()
		}
	})

	t.Run("who declines is left alone", func(t *testing.T) {
		c := newCompany(t, 1)
		c.onCall(pool.Settings{Min: 1})
		w := c.window(t, chrome, "w1")
		w.says("You are off duty")
		c.step(time.Second)
		w.says("You are called")
		w.do(chromedp.Click(chromedp.CSS(`form[action="/work/decline"] button`)))
		w.says("not this time")
		w.says("There is a place in main now")
		w.tour("declined")
		w.quiet()
	})

	t.Run("waiting is paid, and ends by a button or by being let go", func(t *testing.T) {
		c := newCompany(t, 1)
		c.onCall(pool.Settings{Min: 1})
		w := c.window(t, chrome, "w1")
		in := func() {
			t.Helper()
			w.says("You are called")
			w.do(chromedp.Click(chromedp.CSS(`form[action="/work/duty"] button`)))
			w.says("Waiting for a task")
		}
		w.says("You are off duty")
		other := c.window(t, chrome, "w1") // the same person, elsewhere
		other.says("You are off duty")
		c.step(time.Second)
		in()
		other.says("Waiting for a task")
		other.open("/work/earnings")
		w.until(`Number(document.getElementById("meter").textContent) > 0.001`)
		w.tour("waiting-paid")
		c.ahead.Add(int64(30 * time.Second)) // the server's figure counts, not the page's clock
		w.do(chromedp.Reload())
		w.until(`Number(document.getElementById("meter")?.textContent) >= 0.025`)
		w.do(chromedp.Click(chromedp.CSS(`#stop button`)))
		w.says("You are off duty. Thank you for your work.")
		w.says("You stopped.")
		if v, err := c.app.Duty.Get(context.Background(), c.workers[0].principal()); err != nil || v.On {
			t.Errorf("they are on duty %t (%v)", v.On, err)
		}
		c.step(time.Second)
		in()
		// Let go while they wait.
		c.onCall(pool.Settings{Elasticity: "static(n=0)"})
		c.step(time.Second)
		w.says("Thank you for your work; you are off duty now.")
		w.tour("let-go")
		w.quiet()
	})

	t.Run("the last task, training, and another pool", func(t *testing.T) {
		c := newCompany(t, 1, looping)
		c.boss.get("/admin").form("/admin/pools").set("name", "night").set("policy", "fifo").send().want(200)
		if _, err := c.app.Pools.Change(context.Background(), c.boss.principal(), 2, func(now *store.Pool) error {
			now.Retainer = engine.Retainer{Called: true, Rate: crowd.Unit / 20, Training: 2, Silence: time.Minute, Promise: time.Minute}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		draft := c.req.get("/batches/new").form("/batches").set("name", "School").set("tenant", "n1").set("question", "Learn ${name}").sendFile("cats.csv", cats).want(200)
		draft.form(draft.URL.Path+"/settings").set("count", "1").set("pool", "p2").set("training", "1").set("small_crowd", "1").press("then", "launch").send().want(200, "Launched")
		w := c.window(t, chrome, "w1")
		w.says("Waiting for a task")
		c.boss.post("/admin/pools/p1/transfer", map[string][]string{"worker": {"u3"}, "to": {"p2"}}).want(200, "Moved.")
		w.says("You are in another pool now: night.")
		w.says("Training 1 of 2")
		w.tour("training")
		w.do(chromedp.Click(chromedp.CSS(`button[form="stop-form"]`)))
		w.says("You go off duty when this task is done.")
		w.tour("last-task")
		w.press("1")
		w.do(chromedp.Click(chromedp.ID("submit")))
		w.says("You stopped.")
		w.quiet()
	})

	t.Run("messages of the browser", func(t *testing.T) {
		c := newCompany(t, 1, pushing)
		w := c.window(t, chrome, "w1")
		w.open("/work/wishes")
		w.until(`document.getElementById("push-on").checkVisibility()`)
		if eval[bool](w, `document.getElementById("push-off").checkVisibility()`) {
			t.Error("what is off can be switched off")
		}
		w.tour("wishes")
		// Without leave there are words.
		w.do(chromedp.Click(chromedp.ID("push-on")))
		w.says("Your browser does not allow messages of this site.")
		w.tour("wishes-refused")
		w.allowMessages()
		w.do(chromedp.Click(chromedp.ID("push-on")))
		w.until(`!document.getElementById("push-on")?.disabled && !document.getElementById("push-says")?.textContent.startsWith("One moment") && !document.getElementById("push-says")?.textContent.includes("does not allow")`)
		words := w.words()
		if !strings.Contains(words, "That did not work: ") && !strings.Contains(words, "this browser") {
			t.Errorf("it is neither on nor are there words:\n%s", words)
		}
		t.Logf("the browser says: %s", eval[string](w, `document.getElementById("push-says").textContent`))
		ctx, stop := context.WithTimeout(w.ctx, patience)
		defer stop()
		scope, err := chromedp.Run(ctx, chromedp.Evaluate[string](`navigator.serviceWorker.getRegistration("/work/push.js").then((r) => r.scope + " " + r.active.state)`, chromedp.EvalAwaitPromise))
		if err != nil || scope != c.URL+"/work/ activated" {
			t.Errorf("the program for messages: %q, %v", scope, err)
		}
		// A browser that has a push service is kept.
		eval[bool](w, `(() => { PushManager.prototype.subscribe = async (options) => {
				const pair = await crypto.subtle.generateKey({name: "ECDH", namedCurve: "P-256"}, true, ["deriveBits"]);
				const key = await crypto.subtle.exportKey("raw", pair.publicKey);
				if (!options.userVisibleOnly || options.applicationServerKey.length !== 65) throw new Error("that is no key");
				return {endpoint: "https://push.example/1", getKey: (name) => name === "p256dh" ? key : crypto.getRandomValues(new Uint8Array(16)).buffer};
			}; return true; })()`)
		w.do(chromedp.Click(chromedp.ID("push-on")))
		w.says("By push.example")
		w.tour("wishes-on")
		// It shows what comes: the server's form of it, and anything else too.
		notices := func() string {
			ctx, stop := context.WithTimeout(w.ctx, patience)
			defer stop()
			got, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(async () => {
				const r = await navigator.serviceWorker.getRegistration("/work/push.js");
				for (let i = 0; i < 400; i++) {
					const list = (await r.getNotifications()).filter((n) => !window.seen?.includes(n.timestamp + n.title));
					if (list.length) { window.seen = list.map((n) => n.timestamp + n.title); return list.map((n) => [n.title, n.body, n.data.url].join("|")).join("; "); }
					await new Promise((done) => setTimeout(done, 20));
				}
				return "nothing";
			})()`, chromedp.EvalAwaitPromise))
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		// A busy browser may drop what its debugger delivers: it is delivered again.
		shown := func(message string) (got string) {
			for range 4 {
				w.deliver(message)
				if got = notices(); got != "nothing" {
					break
				}
			}
			return got
		}
		if got := shown(`{"title":"There is work for you: main","body":"Come now.","url":"` + c.URL + `/work"}`); got != "There is work for you: main|Come now.|"+c.URL+"/work" {
			t.Errorf("shown: %s", got)
		}
		if got := shown(`no JSON`); got != "There is work for you||"+c.URL+"/work" {
			t.Errorf("shown of something else: %s", got)
		}
	})
}

// deliver lets the browser get a push message for this site.
func (w *window) deliver(data string) {
	w.t.Helper()
	ctx, stop := context.WithTimeout(w.ctx, patience)
	defer stop()
	found := make(chan serviceworker.RegistrationID, 1)
	events := chromedp.Events(ctx, serviceworker.WorkerRegistrationUpdated)
	go func() {
		for e, err := range events {
			if err != nil {
				return
			}
			for _, r := range e.Registrations {
				if strings.HasPrefix(r.ScopeURL, w.site.URL) {
					found <- r.RegistrationID
					return
				}
			}
		}
	}()
	if _, err := chromedp.Call(ctx, serviceworker.Disable, cdp.Empty{}); err != nil {
		w.t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, serviceworker.Enable, cdp.Empty{}); err != nil {
		w.t.Fatal(err)
	}
	select {
	case id := <-found:
		if _, err := chromedp.Call(ctx, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{Origin: w.site.URL, RegistrationID: id, Data: data}); err != nil {
			w.t.Fatal(err)
		}
	case <-ctx.Done():
		w.t.Fatal("the browser names no program for messages")
	}
}

// allowMessages is the user's leave for this site to show messages.
func (w *window) allowMessages() {
	w.t.Helper()
	info, err := chromedp.Call(w.ctx, target.GetTargetInfo, target.GetTargetInfoParams{})
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = chromedp.Call(w.ctx, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
		Permission: &cdpbrowser.PermissionDescriptor{Name: "notifications"}, Setting: "granted", Origin: w.site.URL, BrowserContextID: info.TargetInfo.BrowserContextID,
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// aDay gives the first pool a past: a load that comes and goes, people who
// follow it, and what was done.
func (c *company) aDay(st store.Store) {
	c.boss.t.Helper()
	now := c.now().UTC()
	var samples []store.Sample
	var actions []store.Action
	size := 4
	for i := range 360 {
		at := now.Add(time.Duration(i-360) * 10 * time.Second)
		load := 6 + 4*float64((i/45)%3)
		m := pool.Metrics{Queue: (i / 15 * 7) % 13, Workers: size, Busy: size - 1, Idle: 1, CStar: int(load), Lambda: load / 30, Mu: 0.05 + 0.0005*float64(i/18), Utilisation: 0.8,
			CostPerHour: 3 + float64(i/20%7)/5, Preference: 0.5 + 0.3*float64(i)/360, WaitP95: 12, OldestWait: 30}
		samples = append(samples, store.Sample{Pool: 1, At: at, Metrics: m, Funds: 90 * crowd.Unit})
		if i%12 == 5 && size < int(load) {
			actions = append(actions, store.Action{Pool: 1, At: at, Kind: store.ActionRecruit, N: 1, Why: []string{fmt.Sprintf("ct-p: c* %d, people %d", int(load), size)}, Saw: m})
			size++
		}
		if i%12 == 5 && size > int(load) {
			actions = append(actions, store.Action{Pool: 1, At: at, Kind: store.ActionRelease, N: 1, Why: []string{"ct-p: more people than c*"}, Saw: m})
			size--
		}
		switch i {
		case 100:
			actions = append(actions, store.Action{Pool: 1, At: at, Kind: store.ActionTransfer, N: 1, Worker: 3, To: 2, Why: []string{"search: 1 to night"}})
		case 330:
			actions = append(actions, store.Action{Pool: 2, At: at, Kind: store.ActionTransfer, N: 1, Worker: 3, To: 1, Why: []string{"search: 1 to main"}, Saw: m})
		case 140:
			actions = append(actions, store.Action{Pool: 1, At: at, Kind: store.ActionWithdraw, N: 2, Why: []string{"max 9: 2 fewer are wanted"}})
		case 200, 210, 230:
			actions = append(actions, store.Action{Pool: 1, At: at, Kind: store.ActionRecruit, N: 2, Advice: true, Why: []string{"rule 1 (queue > 10): recruit 2; queue 12"}})
		case 300:
			actions = append(actions, store.Action{Pool: 1, At: at, Kind: store.ActionRecruit, N: 1, Why: []string{"min 2"}, Failed: "the store is full"})
		}
	}
	if err := st.AddSamples(context.Background(), samples); err != nil {
		c.boss.t.Fatal(err)
	}
	if err := st.AddActions(context.Background(), actions); err != nil {
		c.boss.t.Fatal(err)
	}
}

func TestPoolPagesInChromium(t *testing.T) {
	chrome := startChromium(t)
	var st store.Store
	c := newCompany(t, 4, brokenMail, func(cfg *app.Config) { st = cfg.Store })
	c.boss.get("/admin").form("/admin/pools").set("name", "night shift").set("policy", "dafs").send().want(200)
	c.boss.get("/admin/people/u3").form("/admin/people/u3").set("email", "w1@example.org").send().want(200)
	c.onCall(pool.Settings{Min: 3})
	w := c.window(t, chrome, "admin")
	w.open("/admin/pools/p2")
	w.says("Nothing was done yet.")
	w.tour("pool-new")
	c.aDay(st)
	c.step(time.Second)
	c.workers[1].get("/work").form("/work/duty").send().want(200)
	c.workers[2].get("/work").form("/work/decline").send().want(200)
	if _, err := c.app.Outbox.SendDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.open("/admin/pools/p1")
	w.says("connection refused")
	w.says("Take in w1, who comes from night shift.")
	w.tour("pool")
	w.open("/admin/pools/p1?span=24h")
	w.says("24 hours")
	w.shots("pool-day")

	// It follows what happens, without being loaded again; a choice that is being
	// made stays.
	w.open("/admin/pools/p1")
	w.stays()
	w.until(`document.getElementById("size").textContent === "1"`)
	eval[bool](w, `(() => { const s = document.querySelector("#pool-people select"); s.focus(); s.dispatchEvent(new Event("change", {bubbles: true})); s.dataset.mine = "yes"; return true; })()`)
	c.workers[3].get("/work").form("/work/duty").send().want(200)
	w.until(`document.getElementById("size").textContent === "2"`)
	w.says("2 of 3 came")
	w.stayed()
	if !eval[bool](w, `document.querySelector("#pool-people select").dataset.mine === "yes"`) {
		t.Error("the choice was taken away")
	}

	// Settings: a wrong rule shows its place, and nothing typed is lost.
	w.open("/admin/pools/p1/settings")
	w.tour("pool-settings")
	w.do(chromedp.SetValue(chromedp.ID("control-max"), "12"), chromedp.SendKeys(chromedp.ID("when-1"), "queu > 10"), chromedp.SendKeys(chromedp.ID("do-1"), "recruit 1"))
	eval[bool](w, `(() => { const m = document.getElementById("control-elasticity"); m.value = "rules"; m.dispatchEvent(new Event("change")); return true; })()`)
	if doc := eval[string](w, `document.getElementById("doc-elasticity").textContent`); !strings.Contains(doc, "rules of the pool") {
		t.Errorf("the chosen way is said to be %q", doc)
	}
	w.do(chromedp.Click(chromedp.CSS(`.save-bar button`)))
	w.says("did you mean")
	if got := eval[string](w, `[document.querySelector("#bad-1 mark").textContent, document.getElementById("when-1").value, document.getElementById("do-1").value, document.getElementById("control-max").value, document.getElementById("control-elasticity").value].join("|")`); got != "queu > 10|queu > 10|recruit 1|12|rules" {
		t.Errorf("after the refusal the form has %s", got)
	}
	w.tour("pool-rule-wrong")
	w.do(chromedp.SetValue(chromedp.ID("when-1"), "queue > 10"), chromedp.Click(chromedp.CSS(`button[value="try"]`)))
	w.says("These rules on the last hour")
	w.says("they would have fired at")
	w.tour("pool-tried")
	// Enter saves; it does not press the first button of a rule.
	w.do(chromedp.SendKeys(chromedp.ID("control-min"), "\r"))
	w.says("Saved.")
	if k := c.kept().Control; len(k.Rules) != 1 || k.Max != 12 || k.Elasticity != "rules" {
		t.Errorf("kept %+v", k)
	}
	w.quiet()
}
