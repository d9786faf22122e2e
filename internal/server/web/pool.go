package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// What the page of a pool lists at most.
const (
	actionsShown  = 15
	peopleOnPool  = 100
	messagesShown = 50
	poolEntries   = 20
)

// poolSpan is how far back the pictures of a pool look.
type poolSpan struct {
	Name  string
	Text  string
	Back  time.Duration
	Every time.Duration // between looks, for the script
}

var poolSpans = []poolSpan{
	{"1h", "The last hour", time.Hour, 5 * time.Second},
	{"6h", "6 hours", 6 * time.Hour, 15 * time.Second},
	{"24h", "24 hours", 24 * time.Hour, time.Minute},
}

func spanOf(name string) poolSpan {
	for _, s := range poolSpans {
		if s.Name == name {
			return s
		}
	}
	return poolSpans[0]
}

// poolData is a pool's page.
type poolData struct {
	V        control.PoolView
	Names    *nameBook
	Span     poolSpan
	Spans    []poolSpan
	Pictures []drawing
	Actions  []poolAction
	Before   int64 // the actions listed are older than this; 0: the newest
	Older    int64 // where the next page begins; 0: there is none
	People   []poolPerson
	More     int      // people who are not listed
	Others   []choice // pools to move somebody to
	Calls    []control.PoolCall
	Outbox   recruit.OutboxView
	Entries  []store.Entry
	Queue    control.QueueView
	Fair     control.FairnessView
}

// Seen reports whether the pool was looked at yet.
func (d *poolData) Seen() bool { return !d.V.Status.At.IsZero() }

// Idle is the number of people on duty who hold nothing and are not in training.
func (d *poolData) Idle() int {
	return max(d.V.OnDuty-d.V.Working-d.V.Status.Training, 0)
}

// Best is c*, or "–".
func (d *poolData) Best() string {
	if !d.Seen() || d.V.Status.CStar == pool.Unknown {
		return "–"
	}
	return count(d.V.Status.CStar)
}

// Mu is the rate of one person, or "–" before it is known.
func (d *poolData) Mu() string {
	if d.V.Status.Mu == 0 {
		return "–"
	}
	return d.Rate(d.V.Status.Mu)
}

// Rate shows a rate that is kept per second, by the minute.
func (d *poolData) Rate(perSecond float64) string {
	if !d.Seen() {
		return "–"
	}
	if perMinute := 60 * perSecond; perMinute < 100 {
		return strconv.FormatFloat(perMinute, 'g', 3, 64)
	}
	return format.Thousands(int64(60*perSecond + 0.5))
}

// Seconds shows a time that is kept as seconds.
func (d *poolData) Seconds(s float64) string { return format.Duration(instant.Seconds(s)) }

// Full says how much of the people's time the load takes.
func (d *poolData) Full() string {
	if !d.Seen() || d.V.Status.Mu == 0 || d.V.Status.Own() == 0 {
		return "–"
	}
	return format.Percent(d.V.Status.Utilisation, 1)
}

// Likes is the mean preference of the people on duty.
func (d *poolData) Likes() string {
	if !d.Seen() || d.V.Status.Workers == 0 {
		return "–"
	}
	return format.Percent(d.V.Status.Preference, 1)
}

// GateLow warns that the pool cannot call all whom its closed gate waits for.
func (d *poolData) GateLow() string {
	need := d.V.GateNeeds()
	if need == 0 {
		return ""
	}
	return "The pool's money for waiting is not enough to call all for whom its gate waits, which takes " + need.String() + ": it opens only if some come by themselves."
}

// Low warns that the pool has no money left for waiting, or soon will have none.
func (d *poolData) Low() string {
	low, need := d.V.Low(), d.V.CallNeeds()
	switch {
	case low && d.V.Status.Funds.Empty && !d.V.Retainer.Called:
		return "The pool has no money left for waiting: whoever waits for work is not paid, and is told so. Add some below."
	case low && d.V.Status.Funds.Empty:
		return "The pool has no money left for waiting: nobody is called, and nobody is kept waiting. Add some below."
	case need > 0:
		return "The pool's money for waiting is not enough to call anybody, which takes " + need.String() + " a person."
	case !low:
		return ""
	case d.V.OnDuty == 0:
		return "The pool's money for waiting would keep one person for less than ten minutes, in which they take " + d.V.TenMinutes().String() + "."
	default:
		return "The pool's money for waiting lasts less than ten minutes for those on duty, which take " + d.V.TenMinutes().String() + "."
	}
}

// nameBook finds the names of people and pools for a page.
type nameBook struct {
	rq     *request
	people map[crowd.WorkerID]string
	pools  map[crowd.PoolID]string
}

// Person returns somebody's name, or their id if they are not there any more.
func (b *nameBook) Person(id crowd.WorkerID) string {
	if name, ok := b.people[id]; ok {
		return name
	}
	name := id.String()
	if u, err := b.rq.App.Accounts.User(b.rq.ctx(), b.rq.p, id); err == nil {
		name = u.Name
	}
	b.people[id] = name
	return name
}

// Pool returns a pool's name.
func (b *nameBook) Pool(id crowd.PoolID) string { return cmp.Or(b.pools[id], id.String()) }

// poolAction is an entry of a pool's log, as it is read.
type poolAction struct {
	store.Action
	Sign string
	What string
	Who  string
}

// actionSigns mark actions in lists and, as shapes, in pictures.
var actionSigns = map[store.ActionKind]string{
	store.ActionRecruit: "▲", store.ActionRelease: "▼", store.ActionTransfer: "◆", store.ActionWithdraw: "■", store.ActionSet: "⚙", store.ActionFunded: "△",
}

// receivedSign marks a transfer in the log of the pool that receives.
const receivedSign = "●"

// action is an entry of the log of the pool of.
func (b *nameBook) action(of crowd.PoolID, a store.Action) poolAction {
	x := poolAction{Action: a, Sign: actionSigns[a.Kind], Who: "controller"}
	if a.By != 0 {
		x.Who = b.Person(a.By)
	}
	switch a.Kind {
	case store.ActionRecruit:
		x.What = "call " + plural(a.N, "person")
	case store.ActionRelease:
		if a.N == 0 { // the money for it is gone
			x.What = "pay for waiting ends"
			break
		}
		x.What = "let " + plural(a.N, "person") + " go"
	case store.ActionWithdraw:
		x.What = "withdraw the call for " + plural(a.N, "person")
	case store.ActionTransfer:
		x.What = "move " + b.Person(a.Worker) + " to " + b.Pool(a.To)
		if a.Pool != of {
			x.Sign, x.What = receivedSign, "take in "+b.Person(a.Worker)+", who comes from "+b.Pool(a.Pool)
		}
	case store.ActionFunded:
		x.What = "pay for waiting goes on"
	case store.ActionSet:
		x.What = "settings changed"
	default:
		x.What = string(a.Kind)
	}
	return x
}

// poolPerson is somebody of a pool, as listed.
type poolPerson struct {
	control.PoolPerson
	State string
	Note  string
}

// leaving is why somebody goes as soon as they have finished.
var leaving = map[engine.Departure]string{
	engine.Left: "stops after it", engine.Released: "is let go after it", engine.Moved: "moves after it", engine.Unpaid: "goes after it: no money",
}

func personOf(x control.PoolPerson) poolPerson {
	p := poolPerson{PoolPerson: x, State: "off duty"}
	switch {
	case x.On && x.Idle.IsZero():
		p.State = "at work"
	case x.Outside > 0:
		p.State = fmt.Sprintf("outside, number %d", x.Outside)
	case x.On && x.Waiting:
		p.State = "waiting"
	case x.On:
		p.State = "idle"
	}
	switch {
	case x.Suspended:
		p.Note = "suspended"
	case x.Leaves != "":
		p.Note = leaving[x.Leaves]
	case x.Home != 0:
		p.Note = "lent by " + x.Home.String()
	case x.Training > 0:
		p.Note = "in training, " + plural(x.Training, "task") + " left"
	case !x.On && x.Away:
		p.Note = "does not want to be called"
	}
	return p
}

func (rq *request) pool(id crowd.PoolID) error {
	d := rq.poolData(id)
	return rq.render("pool", page{Title: d.V.Name, Section: "admin", Script: "pool.js", Data: d})
}

func (rq *request) poolData(id crowd.PoolID) *poolData {
	d := &poolData{V: askOf(rq, id, rq.App.Pools.Get), Span: spanOf(rq.r.URL.Query().Get("span")), Spans: poolSpans}
	if text := rq.r.URL.Query().Get("before"); text != "" {
		var err error
		if d.Before, err = strconv.ParseInt(text, 10, 64); err != nil || d.Before < 1 {
			rq.check(errPage)
		}
	}
	people := askOf(rq, id, rq.App.Pools.People)
	d.Names = rq.nameBook(people)
	for _, x := range people[:min(len(people), peopleOnPool)] {
		d.People = append(d.People, personOf(x))
	}
	d.More = len(people) - len(d.People)
	for _, other := range slices.Sorted(maps.Keys(d.Names.pools)) {
		if other != id {
			d.Others = append(d.Others, choice{other.String(), d.Names.pools[other]})
		}
	}
	actions, err := rq.App.Pools.Actions(rq.ctx(), rq.p, id, d.Before, actionsShown)
	rq.check(err)
	for _, a := range actions {
		d.Actions = append(d.Actions, d.Names.action(id, a))
	}
	if len(actions) == actionsShown {
		d.Older = actions[len(actions)-1].ID
	}
	d.Calls = askOf(rq, id, rq.App.Pools.Calls)
	if allowed(access.OutboxView, rq.p) {
		d.Outbox = ask(rq, rq.App.Outbox.View)
	}
	if allowed(access.PoolsAccount, rq.p) {
		_, d.Entries, err = rq.App.Pools.Account(rq.ctx(), rq.p, id, 0, poolEntries)
		rq.check(err)
	}
	d.Queue, err = rq.App.Pools.Queue(rq.ctx(), rq.p, id, queueShown)
	rq.check(err)
	if allowed(access.PoolsFairness, rq.p) {
		d.Fair, err = rq.App.Pools.Fairness(rq.ctx(), rq.p, id, d.Span.Back, portionsShown)
		rq.check(err)
	}
	d.Pictures, err = rq.poolPictures(id, d.Span, &d.Fair)
	rq.check(err)
	return d
}

func (rq *request) nameBook(people []control.PoolPerson) *nameBook {
	b := &nameBook{rq: rq, people: make(map[crowd.WorkerID]string), pools: poolNames(ask(rq, rq.App.Pools.List))}
	for _, x := range people {
		if x.Worker != 0 {
			b.people[x.Worker] = x.Name
		}
	}
	return b
}

// Called counts the notices of a call by what became of them, and names who
// came or declined.
func (d *poolData) Called(c control.PoolCall, state string) []string {
	asked := lists.Filter(c.Notices, func(n store.Notice) bool { return string(n.State) == state })
	return lists.Map(asked, func(n store.Notice) string { return d.Names.Person(n.Worker) })
}

// Sent lists the messages of a call, newest first.
func (*poolData) Sent(c control.PoolCall) []store.Message {
	return c.Messages[:min(len(c.Messages), messagesShown)]
}

// Link is the page with another span or page of the log.
func (d *poolData) Link(span string, before int64) string {
	q := url.Values{"span": {span}}
	if before > 0 {
		q.Set("before", strconv.FormatInt(before, 10))
	}
	return "/admin/pools/" + d.V.ID.String() + "?" + q.Encode()
}

// fundPool adds to a pool's money for waiting, or takes some out of it.
func (rq *request) fundPool(id crowd.PoolID) error {
	f := rq.sent()
	amount := f.money("amount")
	if amount == 0 && len(f.errs) == 0 {
		f.bad("amount", "say how much")
	}
	if f.text("do") == "take" {
		amount = -amount
	}
	err := f.err()
	if err == nil {
		_, err = rq.App.Pools.Fund(rq.ctx(), rq.p, id, amount)
	}
	return rq.done(err, "/admin/pools/"+id.String(), "funded")
}

// transfer moves somebody to another pool.
func (rq *request) transfer(id crowd.PoolID) error {
	f := rq.sent()
	who, err := crowd.ParseWorkerID(f.text("worker"))
	if err != nil {
		return err
	}
	to, err := crowd.ParsePoolID(f.text("to"))
	if err != nil {
		return crowd.Fieldf("to", "choose a pool")
	}
	there, err := rq.App.Transfers.Move(rq.ctx(), rq.p, who, to)
	did := "moving"
	if there {
		did = "moved"
	}
	return rq.done(err, "/admin/pools/"+id.String(), did)
}
