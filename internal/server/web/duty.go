package web

import (
	"maps"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/store"
)

// offDuty is the part of the page of somebody off duty that moves.
type offDuty struct {
	recruit.DutyView
	Now     time.Time
	Because string // why they are off duty, if that is known
	Since   time.Time
	Thanks  string // how the last call to them ended, while that is news
	Away    bool   // does not want to be called
	Mail    string // where they are called, or ""
	Pushes  int    // browsers that take messages for them
}

// departures say why somebody is off duty.
var departures = map[engine.Departure]string{
	engine.Left:     "You stopped. Thank you for your work.",
	engine.Silent:   "You were not heard of for a while, so you went off duty.",
	engine.Released: "Thank you for your work; you are off duty now.",
	engine.Unpaid:   "The pool's money for waiting ran out, so nobody could be kept waiting.",
}

func (rq *request) offDuty(v recruit.DutyView) *offDuty {
	past, subs := ask(rq, rq.App.Duty.WhyOff), ask(rq, rq.App.Duty.Subscriptions)
	d := &offDuty{DutyView: v, Now: rq.Now().UTC(), Because: departures[past.Why], Since: past.At, Away: rq.p.User.Away, Pushes: len(subs)}
	if !rq.p.User.NoMail && rq.p.User.EmailVerified {
		d.Mail = rq.p.User.Email
	}
	if c := past.Call; c != nil {
		if c.State == store.CallFilled {
			d.Thanks = "Thank you! Others were first, and everybody who is needed is there."
		} else {
			d.Thanks = "Thank you! Nobody is needed any more."
		}
	}
	return d
}

// title is what the window's title says.
func (d *offDuty) title() string {
	if d.Called != nil {
		return "● You are called"
	}
	return "Off duty"
}

// showOffDuty is where somebody is who works in a pool that calls its people,
// and is off duty.
func (rq *request) showOffDuty(notice string) error {
	d := rq.offDuty(ask(rq, rq.App.Duty.Get))
	return rq.render("offduty", page{Title: d.title(), Section: "work", Script: "duty.js", Refresh: 10, Notice: notice,
		Data: map[string]any{"Duty": d, "Earned": rq.earned(), "Asks": rq.asksWishes()}})
}

// waitTime reads how long a poll may take.
func waitTime(r *http.Request) (time.Duration, error) {
	seconds, err := strconv.Atoi(r.URL.Query().Get("wait"))
	if err != nil || seconds < 0 || seconds > int(work.MaxWait/time.Second) {
		return 0, crowd.Fieldf("wait", "must be 0 to %d seconds", work.MaxWait/time.Second)
	}
	return time.Duration(seconds) * time.Second, nil
}

// present returns p as they are now: they may have been moved since the request
// began. It returns p itself if that cannot be found out.
func (rq *request) present() *access.Principal {
	if now, err := rq.authenticate(rq.ctx(), sessionOf(rq.r)); err == nil && allowed(access.WorkNext, now) {
		return now
	}
	return rq.p
}

// watchDuty is the long poll of the page of somebody off duty: it answers once
// there is something else to show than what the page has.
func (rq *request) watchDuty() error {
	wait, err := waitTime(rq.r)
	if err != nil {
		return err
	}
	state := rq.r.URL.Query().Get("state")
	httpkit.Streaming(rq.w)
	moved := false
	v, err := rq.App.Duty.Await(rq.ctx(), rq.p, wait, func(v recruit.DutyView) bool {
		moved = rq.present().User.Pool != rq.p.User.Pool
		return moved || v.Seen() != state
	})
	switch {
	case err != nil:
		return err
	case moved || v.On || !v.Pool.Retainer.Called:
		return rq.sendJSON(map[string]string{"go": "/work"})
	case v.Seen() == state:
		return rq.sendJSON(map[string]string{"state": state})
	}
	d := rq.offDuty(v)
	html := rq.fragment("offduty", "duty", d)
	return rq.sendJSON(map[string]any{"state": d.Seen(), "html": html, "title": d.title(), "called": d.Called != nil})
}

// comeIn brings a worker on duty, if there is a place left.
func (rq *request) comeIn() error {
	_, err := rq.App.Duty.Start(rq.ctx(), rq.p)
	switch crowd.CodeOf(err) {
	case "":
		return rq.seeOther("/work", "onduty")
	case crowd.OffDuty:
		if ask(rq, rq.App.Duty.Get).Unliked != "" {
			return rq.seeOther("/work", "") // its page says so
		}
		return rq.seeOther("/work", "full")
	}
	return err
}

// decline says that a worker does not come this time.
func (rq *request) decline() error {
	return rq.done(rq.App.Duty.DeclineCall(rq.ctx(), rq.p), "/work", "declined")
}

// stopWork takes a worker off duty: at once, or when they have finished their task.
func (rq *request) stopWork() error {
	v, err := rq.App.Duty.End(rq.ctx(), rq.p)
	switch {
	case err != nil:
		return err
	case v.On:
		return rq.seeOther("/work", "") // the task's page says so
	}
	return rq.seeOther(afterDuty(v), "offduty")
}

// afterDuty is the page of somebody who has gone off duty: one that hands them
// no task.
func afterDuty(v recruit.DutyView) string {
	if v.Pool.Retainer.Called {
		return "/work"
	}
	return "/work/rest"
}

// moveTime is how long somebody who has finished their task to move to another
// pool is waited for; it takes a moment.
const moveTime = 5 * time.Second

// awaitMove waits until somebody who has gone to another pool is there, and on duty: they
// belong to it a moment before.
func (rq *request) awaitMove() error {
	_, err := rq.App.Duty.Await(rq.ctx(), rq.p, moveTime, func(recruit.DutyView) bool {
		now := rq.present()
		if now.User.Pool == rq.p.User.Pool {
			return false
		}
		v, err := rq.App.Duty.Get(rq.ctx(), now)
		return err != nil || v.On
	})
	return err
}

// poolCookie remembers in which pool a worker was last, so that they are told when
// they were moved.
const poolCookie = "throng_pool"

// askedCookie remembers who has seen the page on which they say what work they like.
const askedCookie = "throng_asked"

// asksWishes reports whether somebody is asked which work they like: it counts, and they have
// neither said it nor seen the page for it.
func (rq *request) asksWishes() bool {
	c, err := rq.r.Cookie(askedCookie)
	seen := err == nil && c.Value == rq.p.User.ID.String()
	return !seen && ask(rq, rq.App.Duty.Wishes).Asks
}

// poolNotice says which pool somebody is in, if they were in another one when they
// looked last.
func (rq *request) poolNotice(v recruit.DutyView) string {
	now := rq.p.User.ID.String() + "." + v.Pool.ID.String()
	last := ""
	if c, err := rq.r.Cookie(poolCookie); err == nil {
		last = c.Value
	}
	if last == now {
		return ""
	}
	rq.setCookie("/work", poolCookie, now, cookieLife)
	if who, _, ok := strings.Cut(last, "."); !ok || who != rq.p.User.ID.String() {
		return ""
	}
	text := "You are in another pool now: " + v.Pool.Name + "."
	if v.Training > 0 {
		text += " You learn its work first."
	}
	if did := notices[rq.r.URL.Query().Get("did")]; did != "" {
		text = did + " " + text
	}
	return text
}

// trainingTask says which of a newcomer's training tasks a task is.
type trainingTask struct{ N, Of int }

// trainingOf returns nil if the task is none of training.
func (rq *request) trainingOf(work *work.HeldTask, v recruit.DutyView) (*trainingTask, error) {
	if v.Training == 0 {
		return nil, nil
	}
	training, err := rq.App.Work.IsTraining(rq.ctx(), work)
	if err != nil || !training {
		return nil, err
	}
	of := max(v.Pool.Retainer.Training, v.Training)
	return &trainingTask{N: of - v.Training + 1, Of: of}, nil
}

// goingNotes say of somebody who goes off duty after their task why.
var goingNotes = map[engine.Departure]string{
	engine.Left:     "You go off duty when this task is done.",
	engine.Released: "This is your last task for now: fewer people are needed. You go off duty when it is done.",
	engine.Moved:    "When this task is done, you move to another pool.",
	engine.Unpaid:   "The pool's money for waiting has run out. You go off duty when this task is done.",
}

// preference is one step of how much somebody likes a pool's work.
type preference struct {
	Value float64
	Text  string
}

// preferences are the steps, from the least on.
var preferences = []preference{{0, "Not at all"}, {0.25, "Rather not"}, {0.5, "I do not mind"}, {0.75, "I like it"}, {1, "I like it most"}}

// nearest returns the step nearest to a preference.
func nearest(x float64) float64 {
	best := preferences[0].Value
	for _, l := range preferences {
		if math.Abs(l.Value-x) < math.Abs(best-x) {
			best = l.Value
		}
	}
	return best
}

// poolWish is a pool with how much somebody likes it.
type poolWish struct {
	ID     crowd.PoolID
	Name   string
	Here   bool
	Likes  float64
	Choose []preference
}

func (rq *request) wishes() error {
	wishes := ask(rq, rq.App.Duty.Wishes)
	rq.setCookie("/work", askedCookie, rq.p.User.ID.String(), cookieLife)
	list := make([]poolWish, len(wishes.Pools))
	for i, v := range wishes.Pools {
		likes := nearest(recruit.Preference(rq.p.User.Prefers, v.ID))
		list[i] = poolWish{ID: v.ID, Name: v.Name, Here: v.ID == rq.p.User.Pool, Likes: likes, Choose: preferences}
	}
	return rq.render("wishes", page{Title: "Calls and wishes", Section: "work", Script: "wishes.js", Data: map[string]any{
		"Pools": list, "U": rq.p.User, "Filled": filled(wishes.Wishes, bindWishes(wishes.Pools)),
		"Browsers": browsersOf(ask(rq, rq.App.Duty.Subscriptions)), "Key": rq.App.Duty.PushKey(),
	}})
}

// taker is a browser that takes push messages.
type taker struct {
	store.Subscription
	Host string // of its maker's push service
}

func browsersOf(subs []store.Subscription) []taker {
	list := make([]taker, len(subs))
	for i, sub := range subs {
		list[i].Subscription = sub
		if u, err := url.Parse(sub.Endpoint); err == nil {
			list[i].Host = u.Host
		}
	}
	return list
}

// bindWishes has no field for a pool of which nothing was stated, so that a form stays
// good when a pool is added. What was stated of other pools stays.
func bindWishes(pools []store.Pool) func(binding, *recruit.Wishes) {
	return func(b binding, w *recruit.Wishes) {
		call, mail := !w.Away, !w.NoMail
		b.tick("call", &call)
		b.tick("mail", &mail)
		w.Away, w.NoMail = !call, !mail
		prefers := make(map[crowd.PoolID]float64)
		maps.Copy(prefers, w.Prefers)
		for _, v := range pools {
			name := "like-" + v.ID.String()
			likes := recruit.Preference(w.Prefers, v.ID)
			if _, stated := w.Prefers[v.ID]; stated || !b.filling && b.text(name) != "" {
				bound(b, name, &likes, b.number, func(x float64) string { return format.Number(nearest(x)) })
				if stated || likes != recruit.Indifferent { // which the form has of what was not stated
					prefers[v.ID] = likes
				}
			}
		}
		w.Prefers = prefers
	}
}

// setWishes keeps what somebody likes and how they are called.
func (rq *request) setWishes() error {
	v, err := rq.App.Duty.Wishes(rq.ctx(), rq.p)
	if err != nil {
		return err
	}
	_, err = rq.App.Duty.ChangeWishes(rq.ctx(), rq.p, saving(rq.sent(), bindWishes(v.Pools)))
	return rq.done(err, "/work/wishes", "saved")
}

// subscribe keeps a browser that takes push messages; its script sends it.
func (rq *request) subscribe() error {
	values := rq.r.PostForm
	id, err := rq.App.Duty.Subscribe(rq.ctx(), rq.p, store.Subscription{Endpoint: values.Get("endpoint"), P256dh: values.Get("p256dh"), Auth: values.Get("auth")})
	if err != nil {
		return err
	}
	return rq.sendJSON(map[string]int64{"id": id})
}

// unsubscribe forgets a browser.
func (rq *request) unsubscribe(id int64) error {
	if err := rq.App.Duty.Unsubscribe(rq.ctx(), rq.p, id); err != nil && crowd.CodeOf(err) != crowd.NotFound {
		return err
	}
	if rq.wantsJSON() {
		return rq.sendJSON(map[string]bool{"gone": true})
	}
	return rq.seeOther("/work/wishes", "saved")
}

// pushScript is the program that shows push messages. It stands at an address of
// its own that never changes, below which it has a say.
func (rq *request) pushScript() error {
	h := rq.w.Header()
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	_, _ = rq.w.Write(rq.assets.files["push.js"]) // the client may be gone
	return nil
}
