package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// looping lets moves be finished as soon as people are ready for them; the
// controllers decide only when a test takes a step.
func looping(cfg *app.Config) { cfg.ControlEvery = time.Hour }

// onCall makes the first pool one that calls its people and pays their waiting.
func (c *company) onCall(settings pool.Settings, change ...func(now *store.Pool)) {
	c.boss.t.Helper()
	edit := func(now *store.Pool) error {
		now.Retainer = engine.Retainer{Called: true, Silence: time.Minute, Rate: crowd.Unit / 20, Promise: 10 * time.Minute}
		now.Calling, now.Control = store.Calling{Ask: 2, Answer: time.Minute, Life: 10 * time.Minute}, settings
		for _, f := range change {
			f(now)
		}
		return nil
	}
	ctx, p := context.Background(), c.boss.principal()
	if before, err := c.app.Pools.Get(ctx, p, 1); err == nil && !before.Retainer.Called { // signing in brought them on duty
		for _, b := range c.workers {
			if _, err := c.app.Duty.End(ctx, b.principal()); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	if _, err := c.app.Pools.Change(ctx, p, 1, edit); err != nil {
		c.boss.t.Fatal(err)
	}
	if _, err := c.app.Pools.Fund(ctx, p, 1, 100*crowd.Unit); err != nil {
		c.boss.t.Fatal(err)
	}
}

// step lets time pass and takes a control step.
func (c *company) step(d time.Duration) {
	c.boss.t.Helper()
	c.ahead.Add(int64(d))
	if err := c.app.Control.Step(context.Background()); err != nil {
		c.boss.t.Fatal(err)
	}
}

// called lists the workers who are called.
func (c *company) called() (list []*browser) {
	c.boss.t.Helper()
	for _, b := range c.workers {
		if v, err := c.app.Duty.Get(context.Background(), b.principal()); err != nil {
			b.t.Fatal(err)
		} else if v.Called != nil {
			list = append(list, b)
		}
	}
	return list
}

func TestCalledWithoutJavaScript(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 3)
	c.onCall(pool.Settings{Min: 1})
	for _, b := range c.workers {
		b.get("/work").want(200, "You are off duty", "calls its people", "0.05 a minute", "You will be called on this page.").without("Come in", "Thank you")
	}
	c.step(time.Second)
	called := c.called()
	if len(called) != 2 {
		t.Fatalf("%d are called, want 2", len(called))
	}
	declining, coming := called[0], called[1]
	declining.get("/work").want(200, "You are called", "Who answers first comes in").form("/work/decline").send().want(200, "not this time", "You are off duty", "There is a place in main now")
	var third *browser
	for _, b := range c.workers {
		if b != declining && b != coming {
			third = b
		}
	}
	late := third.get("/work").want(200, "You are called").form("/work/duty")
	waiting := coming.get("/work").want(200).form("/work/duty").send().want(200, "You are on duty.", "Waiting for a task", "Earned by waiting", "Pool main").at("/work")
	late.send().want(200, "Thank you for coming! Others were first", "You are off duty", "everybody who is needed is there").without("Come in")
	third.get("/work").want(200, "Thank you! Others were first")
	declining.get("/work").want(200).without("Others were first") // they did not want to
	waiting.form("/work/stop").send().want(200, "You are off duty. Thank you for your work.", "You stopped.").at("/work")
	coming.get("/work").want(200, "You are off duty")
	c.ahead.Add(int64(10 * time.Minute))
	third.get("/work").want(200, "You will be called").without("Others were first")
}

func TestStoppingAfterTheTask(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	c.onCall(pool.Settings{Min: 2})
	c.step(time.Second)
	b := c.workers[0]
	b.get("/work").form("/work/duty").send().want(200, "You are on duty.")
	c.launchCats("Cats")
	task := b.get("/work").want(200, "1.png a cat?", "Stop after this task").without("You go off duty")
	stays := task.form("/work/stop").send().want(200, "You go off duty when this task is done.", "1.png a cat?", "Stay on duty")
	stays.form("/work/duty").send().want(200, "1.png a cat?", "Stop after this task").form("/work/submit").set("s.label", "yes").send().want(200, "Your answer is in", "2.png a cat?")
	b.get("/work").form("/work/stop").send().want(200).form("/work/submit").set("s.label", "yes").send().
		want(200, "Your answer is in", "You are off duty", "You stopped.").at("/work")
	// Whoever gives a task back and stops is off duty too.
	d := c.workers[1]
	d.get("/work").form("/work/duty").send().want(200, "1.png a cat?").form("/work/return").send().want(200, "You are off duty", "You stopped.")
	// Where asking for work is enough, stopping leads to a page that does not ask.
	c.onCall(pool.Settings{}, func(now *store.Pool) { now.Retainer.Called, now.Retainer.Rate = false, crowd.Unit/10 })
	d.get("/work").want(200, "2.png a cat?").form("/work/stop").send().want(200).form("/work/submit").set("s.label", "yes").send().want(200, "Taking a break", "Your answer is in").at("/work/rest")
	d.isOff()
	d.get("/work").want(200, "3.png a cat?").form("/work/stop").send().want(200).form("/work/skip").send().want(200, "Taking a break", "Skipped.").at("/work/rest")
	d.isOff()
}

// TestWhoLeavesElsewhere: where asking for work is enough, the page on which somebody waits does not
// bring them back when they have gone elsewhere, neither by the request that is open nor by the next.
func TestWhoLeavesElsewhere(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	b := c.workers[0]
	b.get("/work").want(200, "Waiting for a task")
	poll := b.waits()
	read(c.app.Duty.End(t.Context(), b.principal()))(t)
	if got := <-poll; got.Text != `{"go":"/work/rest"}` {
		t.Errorf("who goes while they wait is told %s", got.Text)
	}
	if got := b.post("/work/next?wait=0", nil); got.Text != `{"go":"/work/rest"}` {
		t.Errorf("then they are told %s", got.Text)
	}
	b.isOff()
	b.get("/work").want(200, "Waiting for a task")
	b.post("/work/next?wait=0", nil).want(200, "no batch is running")
}

// isOff checks that somebody is off duty, and was given nothing.
func (b *browser) isOff() {
	b.t.Helper()
	v, err := b.site.app.Duty.Get(b.t.Context(), b.principal())
	if err != nil || v.On {
		b.t.Errorf("%s is on duty %t (%v)", b.name, v.On, err)
	}
	if work, err := b.site.app.Work.Current(b.t.Context(), b.principal()); err != nil || work != nil {
		b.t.Errorf("%s holds %+v (%v)", b.name, work, err)
	}
}

func TestLetGoAfterTheLastAnswer(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	c.onCall(pool.Settings{Min: 2})
	c.step(time.Second)
	for _, b := range c.workers {
		b.get("/work").form("/work/duty").send().want(200, "You are on duty.")
	}
	b := c.workers[0]
	c.launchCats("Cats")
	b.get("/work").want(200, "1.png a cat?")
	c.onCall(pool.Settings{Elasticity: "static(n=0)"})
	c.step(time.Second)
	c.workers[1].get("/work").want(200, "You are off duty", "Thank you for your work; you are off duty now.")
	task := b.get("/work").want(200, "This is your last task for now").without("Stop after this task", "Stay on duty")
	task.form("/work/submit").set("s.label", "yes").send().want(200, "Your answer is in", "You are off duty", "Thank you for your work; you are off duty now.")
	// Skipping does not bring another one either.
	c.onCall(pool.Settings{Min: 1})
	c.step(time.Second)
	b = c.called()[0]
	b.get("/work").form("/work/duty").send().want(200, "a cat?")
	c.onCall(pool.Settings{Elasticity: "static(n=0)"})
	c.step(time.Second)
	b.get("/work").want(200, "This is your last task for now").form("/work/skip").send().want(200, "Skipped.", "You are off duty")
}

// waits begins the long poll of a waiting page, and returns when it waits.
func (b *browser) waits() (answer <-chan *pageOf) {
	b.t.Helper()
	p, got := b.principal(), make(chan *pageOf, 1)
	go func() { got <- b.post("/work/next?wait=20", nil) }()
	for deadline := time.Now().Add(patience); ; {
		v, err := b.site.app.Duty.Get(b.t.Context(), p)
		if err != nil || time.Now().After(deadline) {
			b.t.Fatalf("they do not wait: %v", err)
		}
		if v.Waiting {
			return got
		}
	}
}

// TestMovedWhileWaiting: the page is loaded again, for the other pool. The poll that
// waits may end before they are there; the next one tells them.
func TestMovedWhileWaiting(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	boss := c.boss.principal()
	if _, err := c.app.Pools.Create(t.Context(), boss, "night", "fifo"); err != nil {
		t.Fatal(err)
	}
	b := c.workers[0]
	answer := b.waits()
	if _, err := c.app.Transfers.Move(t.Context(), boss, b.principal().User.ID, 2); err != nil {
		t.Fatal(err)
	}
	<-answer
	if got := b.post("/work/next?wait=0&pool=p1", nil); got.Text != `{"go":"/work"}` {
		t.Errorf("the page is told %s", got.Text)
	}
	if page := b.get("/work").want(200, "Waiting for a task"); !strings.Contains(page.Text, `data-pool="p2"`) {
		t.Error("the page does not say of which pool it is")
	}
	b.post("/work/next?wait=0&pool=p2", nil).want(200, "no batch is running")
}

func TestWhoIsMovedIsTold(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2, looping)
	c.boss.get("/admin").form("/admin/pools").set("name", "night").set("policy", "fifo").send().want(200)
	ctx, boss := context.Background(), c.boss.principal()
	if _, err := c.app.Pools.Change(ctx, boss, 2, func(now *store.Pool) error {
		now.Retainer = engine.Retainer{Called: true, Training: 2, Silence: time.Minute}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	// Of the other pool, a batch to learn from.
	draft := c.req.get("/batches/new").form("/batches").set("name", "School").set("tenant", "n1").set("question", "Learn ${name}").sendFile("cats.csv", cats).want(200)
	draft.form(draft.URL.Path+"/settings").set("count", "1").set("pool", "p2").set("training", "1").set("small_crowd", "1").press("then", "launch").send().want(200, "Launched")
	c.launchCats("Cats")
	b := c.workers[0]
	task := b.get("/work").want(200, "1.png a cat?").without("another pool", "Training")
	c.boss.get("/admin/pools/p1").want(200, "w1", "w2").form("/admin/pools/p1/transfer").set("worker", "u3").set("to", "p2").send().
		want(200, "They move when they have finished their task.", "moves after it", "Move w1 to night").at("/admin/pools/p1")
	c.boss.get("/admin/pools/p1").want(200, "move away").without("comes from", "come in")
	c.boss.get("/admin/pools/p2").want(200, "Take in w1, who comes from main", "who finishes their task first", "come in").without("Move w1", "move away")
	b.get("/work").want(200, "When this task is done, you move to another pool.", "1.png a cat?")
	task.form("/work/submit").set("s.label", "yes").send().want(200, "Your answer is in. You are in another pool now: night. You learn its work first.", "Learn 1.png", "Training 1 of 2").at("/work")
	next := b.get("/work").want(200, "Training 1 of 2").without("another pool")
	next.form("/work/submit").set("s.label", "yes").send().want(200, "Training 2 of 2", "Learn 2.png")
	b.get("/work").form("/work/submit").set("s.label", "yes").send().want(200, "Waiting for a task").without("Training")
	// Somebody else at the same computer is told nothing.
	b.get("/work").form("/signout").send().want(200)
	b.name = "w2"
	b.get("/signin").form("/signin").set("name", "w2").set("password", password).send().want(200, "1.png a cat?").without("another pool")
}

func TestATrainingBatchStaysOne(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	draft := c.req.get("/batches/new").form("/batches").set("name", "School").set("tenant", "n1").set("question", "Learn ${name}").sendFile("cats.csv", cats).want(200)
	path := draft.URL.Path
	if draft.form(path + "/settings").values.Has("training") {
		t.Error("a new batch is for training")
	}
	draft.form(path+"/settings").set("training", "1").press("then", "save").send().want(200, "training draft")
	c.req.get(path).form(path+"/template").set("question", "Learn now").send().want(200)
	f := c.req.get(path).want(200).form(path + "/settings")
	if f.values.Get("training") != "1" {
		t.Error("it is forgotten when the question is changed")
	}
	f.set("count", "1").press("then", "launch").send().want(200, "training running")
}

// balance has people moved between pools.
func (c *company) balance(t *testing.T, pools ...crowd.PoolID) {
	t.Helper()
	for _, id := range pools {
		if _, err := c.app.Pools.Change(t.Context(), c.boss.principal(), id, func(p *store.Pool) error { p.Control.Balance = true; return nil }); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWishesAreAskedFor: whoever was brought into pools between which people are moved, in whatever
// way, is asked on their page how they like the work, until they have said it or seen where they can.
func TestWishesAreAskedFor(t *testing.T) {
	t.Parallel()
	const asks = "How do you like the work here?"
	c := newCompany(t, 2)
	a, b := c.workers[0], c.workers[1]
	a.get("/work").want(200).without(asks) // it would make no difference
	c.boss.get("/admin").form("/admin/pools").set("name", "night").set("policy", "fifo").send().want(200)
	c.balance(t, 1, 2)
	a.get("/work").want(200, asks)
	if _, err := c.app.Duty.ChangeWishes(t.Context(), a.principal(), func(w *recruit.Wishes) error { w.Prefers = map[crowd.PoolID]float64{2: 0.8}; return nil }); err != nil {
		t.Fatal(err)
	}
	a.get("/work").want(200).without(asks)
	b.get("/work").want(200, asks)
	b.get("/work/wishes").want(200)
	b.get("/work").want(200).without(asks)
}

func TestWishes(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	for _, name := range []string{"night", "others"} {
		c.boss.get("/admin").form("/admin/pools").set("name", name).set("policy", "fifo").send().want(200)
	}
	b := c.workers[0]
	f := b.get("/work/wishes").want(200, "main", "your pool", "who like it least go first").without("night", "others").form("/work/wishes")
	f.values.Set("like-p2", "1")
	f.values.Set("like-p9", "1")
	f.set("like-p1", "1").send().want(200, "Saved.") // of what is not shown nothing is kept
	if w := recruit.WishesOf(b.principal().User); len(w.Prefers) != 1 || w.Prefers[1] != 1 {
		t.Fatalf("kept: %+v", w)
	}
	b.get("/work/wishes").form("/work/wishes").set("like-p1", "0.5").send().want(200, "Saved.")
	c.balance(t, 1, 2)
	f = b.get("/work/wishes").want(200, "main", "your pool", "night", "I do not mind", "No address of yours is known", "This server sends no messages to browsers.").without("others").form("/work/wishes")
	if f.values.Get("like-p1") != "0.5" || f.values.Get("call") != "1" || f.values.Get("mail") != "1" {
		t.Fatalf("at first the form has %v", f.values)
	}
	f.set("like-p2", "1").values.Del("call")
	f.send().want(200, "Saved.")
	w := recruit.WishesOf(b.principal().User)
	if !w.Away || w.NoMail || len(w.Prefers) != 2 || w.Prefers[1] != 0.5 || w.Prefers[2] != 1 { // what was stated stays so
		t.Fatalf("kept: %+v", w)
	}
	// What a program has set between two steps stays, unless another step is chosen.
	w.Prefers[1] = 0.6
	if _, err := c.app.Duty.ChangeWishes(t.Context(), b.principal(), func(now *recruit.Wishes) error { *now = w; return nil }); err != nil {
		t.Fatal(err)
	}
	f = b.get("/work/wishes").form("/work/wishes")
	if f.values.Get("like-p1") != "0.5" || f.values.Has("call") {
		t.Fatalf("then it has %v", f.values)
	}
	f.set("like-p2", "0").set("call", "1").send().want(200, "Saved.")
	if w := recruit.WishesOf(b.principal().User); w.Prefers[1] != 0.6 || w.Prefers[2] != 0 || len(w.Prefers) != 2 || w.Away {
		t.Fatalf("kept: %+v", w)
	}
	f = b.get("/work/wishes").form("/work/wishes")
	f.values.Set("like-p2", "7x")
	f.send().want(http.StatusUnprocessableEntity, "is not a number")
	// What was said of a pool to which nobody is moved any more stays.
	if _, err := c.app.Pools.Change(t.Context(), c.boss.principal(), 2, func(p *store.Pool) error { p.Control.Balance = false; return nil }); err != nil {
		t.Fatal(err)
	}
	b.get("/work/wishes").want(200).without("night").form("/work/wishes").set("like-p1", "1").send().want(200, "Saved.")
	if w := recruit.WishesOf(b.principal().User); w.Prefers[1] != 1 || len(w.Prefers) != 2 || w.Prefers[2] != 0 {
		t.Fatalf("kept: %+v", w)
	}
}

// pushing lets browsers subscribe; what would be sent is thrown away.
func pushing(cfg *app.Config) {
	cfg.Senders.PushKey = "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM"
	cfg.Senders.Push = func(context.Context, store.Subscription, []byte, time.Duration) error { return nil }
}

func TestPushOfABrowser(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2, pushing)
	b := c.workers[0]
	b.get("/work/wishes").want(200, "No browser is switched on.")
	sub := url.Values{"endpoint": {"https://push.example/abc"}, "p256dh": {"BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM"}, "auth": {"tBHItJI5svbpez7KI4CCXg"}}
	if p := b.post("/work/push", sub); p.Status != 200 || !strings.Contains(p.Text, `"id":1`) {
		t.Fatalf("subscribing: %d %s", p.Status, p.Text)
	}
	b.get("/work/wishes").want(200, "By push.example").without("No browser")
	c.onCall(pool.Settings{})
	b.get("/work").want(200, "and by a message of your browser")
	c.workers[1].post("/work/push/1/forget", nil).want(200) // not theirs: nothing happens
	b.get("/work/wishes").want(200, "By push.example").form("/work/push/1/forget").send().want(200, "Saved.", "No browser is switched on.")
	b.post("/work/push/nonsense/forget", nil).want(404)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+"/work/push", strings.NewReader(sub.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	b.do(req).want(http.StatusForbidden, "sent from another site")
	b.get("/work/wishes").want(200, "No browser is switched on.")
	js := c.browser(t, "nobody").get("/work/push.js")
	if js.Status != 200 || !strings.HasPrefix(js.Header.Get("Content-Type"), "text/javascript") || js.Header.Get("Cache-Control") != "no-cache" || !strings.Contains(js.Text, "showNotification") {
		t.Errorf("the program for messages: %d %v", js.Status, js.Header)
	}
}

// TestWhoIsLentIsToldOnTheirPage: who helps in another pool reads in which, whose they are,
// since when, and what waiting pays there, while they wait and while they work.
func TestWhoIsLentIsToldOnTheirPage(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	b := c.workers[0]
	c.boss.get("/admin").form("/admin/pools").set("name", "night").set("policy", "fifo").send().want(200)
	b.get("/work").want(200, "Waiting for a task").without("You help in pool")
	lend := func(from, to crowd.PoolID) {
		t.Helper()
		if _, err := c.app.Transfers.Transfer(t.Context(), pool.Move{Worker: b.principal().User.ID, From: from, To: to, Home: 1}); err != nil {
			t.Fatal(err)
		}
	}
	lend(1, 2)
	c.ahead.Add(int64(10 * time.Minute))
	says := []string{"You help in pool night since ", "10 min ago", "You belong to pool main", "which has lent you.", "You return there when it has work for you"}
	b.get("/work").want(200, append(says, "Waiting for a task", "Waiting here is not paid.")...).without("a minute")
	if _, err := c.app.Pools.Change(t.Context(), c.boss.principal(), 2, func(now *store.Pool) error { now.Retainer.Rate = crowd.Unit / 20; return nil }); err != nil {
		t.Fatal(err)
	}
	b.get("/work").want(200, append(says, "Waiting is not paid now: the pool's money for it is used up.")...).without("a minute")
	read(c.app.Pools.Fund(t.Context(), c.boss.principal(), 2, crowd.Unit))(t)
	b.get("/work").want(200, append(says, "Waiting here pays 0.05 a minute.", "A minute")...).without("not paid")
	if v, err := c.app.Duty.Get(t.Context(), b.principal()); err != nil || v.Rate() != crowd.Unit/20 {
		t.Errorf("a minute pays %s inside (%v)", v.Rate(), err)
	} else if v.Outside = 1; v.Rate() != 0 {
		t.Errorf("a minute pays %s outside", v.Rate())
	}
	lend(2, 1)
	c.launchCats("Cats")
	b.get("/work").want(200, "1.png a cat?").without("You help in pool")
}

// TestWaitingIsNotPaidNow: where the pool's money for waiting is used up, no page says that waiting
// is paid, and what the admin reads of it is true of a pool that calls nobody.
func TestWaitingIsNotPaidNow(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	b := c.workers[0]
	c.onCall(pool.Settings{}, func(now *store.Pool) { now.Retainer.Called = false })
	b.get("/work").want(200, "A minute").without("not paid")
	spend := func() { read(c.app.Pools.Fund(t.Context(), c.boss.principal(), 1, -100*crowd.Unit))(t) }
	spend()
	c.step(time.Second)
	b.get("/work").want(200, "Waiting is not paid now: the pool's money for it is used up.").without("A minute")
	b.post("/work/next?wait=0", nil).want(200, `"pays":0`)
	c.boss.get("/admin/pools/p1").want(200, "whoever waits for work is not paid, and is told so").without("nobody is kept waiting")
	c.onCall(pool.Settings{})
	spend()
	c.step(time.Second)
	b.get("/work").want(200, "You are off duty", "Waiting for tasks is not paid now").without("is paid with")
	c.boss.get("/admin/pools/p1").want(200, "nobody is called, and nobody is kept waiting")
}
