package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/httpkit"
)

// live is a launched batch as it stands: the part of its page that moves.
type live struct {
	B         batches.BatchView
	Now       time.Time
	Why       []reasonCount // what keeps the pool's workers from it, while something waits
	Holders   []batches.Holder
	MoreHold  int // of those not listed
	Workers   int
	PerAnswer time.Duration // on average, from hand-out to answer
	Left      time.Duration // until everything is labelled at the present rate; 0: not known, or Outlook has it
	Outlook   *forecastView // nil: nothing to say
}

func (rq *request) live(d batches.Details) *live {
	b := &d.BatchView
	l := &live{B: *b, Now: rq.Now().UTC(), Holders: d.Holders, MoreHold: d.MoreHold}
	if b.Progress.Completed > 0 {
		l.PerAnswer = b.Progress.Worked / time.Duration(b.Progress.Completed)
	}
	l.Outlook = newForecastView(l.Now, b, d.Forecast)
	for _, n := range d.Why.Workers {
		l.Workers += n
	}
	l.Why = reasonList(d.Why.Workers, crowd.Reason.OfWorkers)
	if f := d.Forecast.Status; b.Progress.State.Open() && f != batches.ForecastReady && f != batches.ForecastTooFew {
		l.Left = b.TimeLeft(l.Now)
	}
	return l
}

// launched shows a batch that is no draft. A form of its draft that was refused,
// because it was launched meanwhile, has no place on this page.
func (rq *request) launched(b batches.BatchView) error {
	if f := rq.form; f != nil && len(f.Errs) > 0 && !slices.Contains([]string{"edit", "topup", "add", "takeout"}, f.ID) {
		return f.Errs[0]
	}
	d, err := rq.App.Batches.Details(rq.ctx(), rq.p, b.Spec.ID)
	rq.check(err)
	l := rq.live(d)
	methods, err := batches.Methods(b.Batch)
	rq.check(err)
	pg := page{Title: b.Name, Section: "batches", Data: map[string]any{"B": b, "Live": l, "Balance": rq.balance(b.Spec.Tenant), "Methods": methods, "Filled": filled(b.RunningSettings(), bindRunning), "PriorityHelp": rq.priorityHelp(b.Spec.Tenant)}}
	if b.Progress.State.Open() {
		pg.Script = "live.js"
	}
	return rq.render("batch", pg)
}

// The pace of server-sent events: at most one each eventGap, and a sign of life
// each eventIdle, at which the session is checked again too.
const (
	eventGap  = 300 * time.Millisecond
	eventIdle = 15 * time.Second
)

// events sends the live part of a batch's page whenever it changes.
func (rq *request) events(id crowd.BatchID) error {
	return sendLive(rq, id, rq.App.Batches.Watch, func(rq *request) (state, html string, err error) {
		d, err := rq.App.Batches.WatchedDetails(rq.ctx(), rq.p, id)
		if err != nil {
			return "", "", err
		}
		return string(d.Progress.State), rq.fragment("batch", "live", rq.live(d)), nil
	})
}

// sendLive sends the live part of a page whenever what it watches has changed, and
// "gone" when the state of that is no longer ?state= or who watches has signed out.
// look returns the state and the HTML.
func sendLive[ID any](rq *request, id ID, watch func(context.Context, *access.Principal, ID) (<-chan struct{}, func(), error), look func(*request) (state, html string, err error)) error {
	changed, stop, err := watch(rq.ctx(), rq.p, id)
	if err != nil {
		return err
	}
	defer stop()
	err = httpkit.Events{Changed: changed, Gap: eventGap, Idle: eventIdle, Look: func(ctx context.Context) (e httpkit.Event, err error) {
		now := *rq
		if now.p, err = rq.authenticate(ctx, sessionOf(rq.r)); err != nil || !allowed(access.BatchesWatch, now.p) {
			return gone("signed out"), nil
		}
		state, html, err := look(&now)
		now.check(err)
		if state != rq.r.URL.Query().Get("state") {
			return gone(state), now.err
		}
		return httpkit.Event{Name: "live", Data: html}, now.err
	}}.Send(rq.ctx(), rq.w)
	httpkit.LogError(rq.ctx(), rq.Log, rq.r, err) // the status is out already
	return nil
}

// gone has the browser load the page again.
func gone(why string) httpkit.Event { return httpkit.Event{Name: "gone", Data: why, Last: true} }

func bindRunning(b binding, x *batches.RunningSettings) {
	b.figure("priority", &x.Priority)
	b.moment("deadline", &x.Deadline)
	b.amount("reward", &x.Reward)
	b.redundancy(&x.Redundancy)
	b.tick("production", &x.Production)
	b.enough(&x.Enough)
	b.tick("add_budget", &x.AddBudget)
	b.tick("release_budget", &x.ReleaseBudget)
	b.tick("small_crowd", &x.AllowSmallCrowd)
}

// addTasks adds the tasks of a file to a running batch.
func (rq *request) addTasks(id crowd.BatchID) error {
	httpkit.Receiving(rq.w, rq.r)
	defer drain(rq.r)
	f, file, err := readFields(rq.r)
	if err == nil && file == nil {
		err = errFileless
	}
	if err != nil {
		return err
	}
	how, err := f.reading(file.FileName())
	if err != nil {
		return err
	}
	report, err := rq.App.Batches.AddTasks(rq.ctx(), rq.p, id, file, batches.Addition{
		Upload: batches.Upload{Format: how.Format, Delimiter: how.Delimiter, SkipBad: f.text("skip_bad") != "", Duplicates: f.duplicates()}, AddBudget: f.text("add_budget") != "",
	})
	return rq.done(err, "/batches/"+id.String(), "added"+readAs(report.Dropped, report.Delimiter))
}

// askTakeOut asks before a task is taken out of a running batch.
func (rq *request) askTakeOut(id crowd.BatchID) error {
	b, err := rq.App.Batches.Get(rq.ctx(), rq.p, id)
	if err != nil {
		return err
	}
	task, err := taskOf(id, rq.r.URL.Query().Get("task"))
	if err != nil {
		return err
	}
	path := "/batches/" + id.String()
	return rq.render("ask", page{Title: "Take a task out", Section: "batches", Data: map[string]any{
		"Question": "Take " + task.String() + " out?", "About": b.Name, "State": string(b.Progress.State), "Verb": "Take it out", "Danger": true, "To": path + "/takeout", "Back": path,
		"Consequence": "It is handed out no more and gets no label. Its answers are kept, and who holds it is paid. This cannot be undone.",
		"Hidden":      url.Values{"task": {task.String()}, "sure": {"1"}},
	}})
}

// takeOut takes a task out of a running batch, once who says so was asked back: on a page of
// its own, to which Back returns without sending anything.
func (rq *request) takeOut(id crowd.BatchID) error {
	path := "/batches/" + id.String()
	task, err := taskOf(id, rq.sent().text("task"))
	switch {
	case err != nil:
	case rq.sent().text("sure") == "":
		if _, err := rq.App.Batches.Get(rq.ctx(), rq.p, id); err != nil {
			return err
		}
		http.Redirect(rq.w, rq.r, path+"/takeout?"+url.Values{"task": {task.String()}}.Encode(), http.StatusSeeOther)
		return nil
	default:
		_, err = rq.App.Batches.RemoveTask(rq.ctx(), rq.p, task)
	}
	return rq.done(err, path, "takenout")
}

// taskOf reads a task of a batch, by its number or its id.
func taskOf(id crowd.BatchID, text string) (crowd.TaskID, error) {
	if n, err := strconv.ParseUint(text, 10, 32); err == nil && n > 0 {
		return id.Task(uint32(n)), nil
	}
	task, err := crowd.ParseTaskID(text)
	if err != nil || task.Batch() != id {
		return task, crowd.Fieldf("task", "%q is not a task of this batch, such as %s", text, id.Task(1))
	}
	return task, nil
}

// editBatch changes the settings of a running batch.
func (rq *request) editBatch(id crowd.BatchID) error {
	_, err := rq.App.Batches.Change(rq.ctx(), rq.p, id, saving(rq.sent(), bindRunning))
	return rq.done(err, "/batches/"+id.String(), "saved")
}

// topUp raises what the batch or run on the page home/ID may spend.
func topUp[U any, ID fmt.Stringer, V any](home string, all func(*request) U, add func(U, context.Context, *access.Principal, ID, crowd.Money) (V, error)) of[ID] {
	return func(rq *request, id ID) error {
		f := rq.sent()
		amount, err := f.money("amount"), f.err()
		if err == nil {
			_, err = add(all(rq), rq.ctx(), rq.p, id, amount)
		}
		return rq.done(err, home+id.String(), "topped")
	}
}
