package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/httpkit"
)

// holdersShown is how many of those who hold a task are listed.
const holdersShown = 30

// live is a launched batch as it stands: the part of its page that moves.
type live struct {
	B         batches.BatchView
	Now       time.Time
	Why       []reasonCount // what keeps the pool's workers from it, while something waits
	Ahead     int
	Holders   []batches.Holder
	MoreHold  int // of those not listed
	Workers   int
	PerAnswer time.Duration // on average, from hand-out to answer
	Left      time.Duration // until everything is labelled at the present rate; 0: not known, or Outlook has it
	Outlook   *outlook      // nil: nothing to say
}

// workerReasons are reasons as said of the workers of a pool.
var workerReasons = map[crowd.Reason]string{
	crowd.Eligible:      "could take a task of it now",
	crowd.NoWorkerReady: "at work on a task",
	crowd.NotQualified:  "without a qualification that it asks for",
	crowd.WorkerBlocked: "blocked by the tenant",
	crowd.NotInvited:    "not named for the tasks that are left",
	crowd.AlreadyDid:    "had every task that is left already",
}

func (s *server) live(r *http.Request, p *access.Principal, id crowd.BatchID) (*live, error) {
	b, err := s.App.Batches.Get(r.Context(), p, id)
	if err != nil {
		return nil, err
	}
	l := &live{B: b, Now: s.Now().UTC()}
	if b.Progress.Completed > 0 {
		l.PerAnswer = b.Progress.Worked / time.Duration(b.Progress.Completed)
	}
	f, err := s.App.Batches.Forecast(r.Context(), p, id)
	if err != nil {
		return nil, err
	}
	l.Outlook = newOutlook(l.Now, &b, f)
	if !b.Progress.State.Open() {
		return l, nil
	}
	why, err := s.App.Batches.Why(r.Context(), p, id)
	if crowd.CodeOf(err) == crowd.Conflict {
		return l, nil // it has ended since
	}
	if err != nil {
		return nil, err
	}
	for _, n := range why.Workers {
		l.Workers += n
	}
	l.Ahead, l.Why = why.Ahead, reasonList(why.Workers, workerReasons)
	l.Holders, l.MoreHold, err = s.App.Batches.Holders(r.Context(), p, id, holdersShown)
	if err != nil && crowd.CodeOf(err) != crowd.Conflict {
		return nil, err
	}
	if f.Status != batches.ForecastReady && f.Status != batches.ForecastTooFew {
		l.Left = timeLeft(l.Now, b)
	}
	return l, nil
}

// timeLeft estimates when a running batch is done if it goes on as it has.
func timeLeft(now time.Time, b batches.BatchView) time.Duration {
	const enough = 3 // answers, to speak of a rate
	x := b.Progress
	if x.State != crowd.BatchRunning || x.Completed < enough || x.FirstStarted.IsZero() {
		return 0
	}
	perAnswer := now.Sub(x.FirstStarted).Seconds() / float64(x.Completed)
	return time.Duration(perAnswer * float64(max(0, x.Planned-x.Completed)) * float64(time.Second))
}

// launched shows a batch that is no draft. A form of its draft that was refused,
// because it was launched meanwhile, has no place on this page.
func (s *server) launched(w http.ResponseWriter, r *http.Request, p *access.Principal, b batches.BatchView) error {
	if f := formOf(r); f != nil && f.ID != "edit" && f.ID != "topup" {
		return f.Errs[0]
	}
	l, err := s.live(r, p, b.Spec.ID)
	if err != nil {
		return err
	}
	balance, _, err := s.App.Tenants.Account(r.Context(), p, b.Spec.Tenant, 0, 0)
	if err != nil {
		return err
	}
	methods, err := batches.Methods(b.Batch)
	if err != nil {
		return err
	}
	pg := page{Title: b.Name, Section: "batches", Data: map[string]any{"B": b, "Live": l, "Balance": balance, "Methods": methods, "Filled": filled(b.RunningSettings(), bindRunning)}}
	if b.Progress.State.Open() {
		pg.Script = "live.js"
	}
	return s.render(w, r, p, "batch", pg)
}

// The pace of server-sent events: at most one each eventGap, and a sign of life
// each eventIdle, at which the session is checked again too.
const (
	eventGap  = 300 * time.Millisecond
	eventIdle = 15 * time.Second
)

// events sends the live part of a batch's page whenever it changes, and "gone"
// when the page has to be loaded again because the batch's state is another one.
func (s *server) events(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.BatchID) error {
	changed, stop, err := s.App.Batches.Watch(r.Context(), p, id)
	if err != nil {
		return err
	}
	defer stop()
	s.sendLive(w, r, changed, func(p *access.Principal) (string, string, error) {
		l, err := s.live(r, p, id)
		if err != nil {
			return "", "", err
		}
		html, err := s.fragment("batch", "live", l)
		return string(l.B.Progress.State), html, err
	})
	return nil
}

// slowness is how much longer than a look at what is shown the pause after it is.
const slowness = 3

// sendLive sends the live part of a page whenever something has changed, and
// "gone" when its state is no longer ?state=. look returns the state and the
// HTML for somebody who is still signed in.
func (s *server) sendLive(w http.ResponseWriter, r *http.Request, changed <-chan struct{}, look func(*access.Principal) (state, html string, err error)) {
	state := r.URL.Query().Get("state")
	httpkit.Streaming(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(w)
	send := func(event, data string) error {
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data); err != nil {
			return err
		}
		return out.Flush()
	}
	for {
		begin := s.Now()
		p, err := s.App.Accounts.Authenticate(r.Context(), sessionOf(r))
		if err != nil || !allowed(requester, p) {
			_ = send("gone", "signed out") // the browser loads the page again, if it is still there
			return
		}
		now, html, err := look(p)
		if err != nil {
			s.endEvents(r, err)
			return
		}
		if now != state {
			_ = send("gone", now) // as above
			return
		}
		text, err := json.Marshal(html) // one line
		if err != nil {
			s.endEvents(r, err)
			return
		}
		if send("live", string(text)) != nil || !pause(r, min(max(eventGap, slowness*s.Now().Sub(begin)), eventIdle)) {
			return
		}
		select {
		case _, ok := <-changed:
			if !ok {
				return // the server closes
			}
		case <-time.After(eventIdle):
		case <-r.Context().Done():
			return
		}
	}
}

// endEvents ends a stream that has begun: its status cannot change any more.
func (s *server) endEvents(r *http.Request, err error) { httpkit.LogError(r.Context(), s.Log, r, err) }

func pause(r *http.Request, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
		return false
	}
}

func bindRunning(b binding, x *batches.RunningSettings) {
	b.figure("priority", &x.Priority)
	b.moment("deadline", &x.Deadline)
}

// editBatch changes priority and deadline of a running batch.
func (s *server) editBatch(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.BatchID) error {
	_, err := s.App.Batches.Change(r.Context(), p, id, saving(sent(r), bindRunning))
	return done(w, r, err, "/batches/"+id.String(), "saved")
}

// topUp raises the budget of a running batch.
func (s *server) topUp(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.BatchID) error {
	f := sent(r)
	amount, err := f.money("amount"), f.err()
	if err == nil {
		_, err = s.App.Batches.TopUp(r.Context(), p, id, amount)
	}
	return done(w, r, err, "/batches/"+id.String(), "topped")
}
