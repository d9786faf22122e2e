package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
)

// taskData is a task as it is shown: to the worker who holds it, or in a
// preview.
type taskData struct {
	task.View
	Preview bool
	Frame   string // the address of the requester's HTML, or ""
	Sandbox string
	Only    bool // there is one control: its question stands for its label
	values  url.Values
	errs    []*crowd.Error
}

// Chosen reports whether an option of a control was chosen before.
func (t *taskData) Chosen(name, value string) bool {
	return slices.Contains(t.values["s."+name], value) || slices.Contains(t.values["l."+name], value)
}

// Typed returns what was typed into a control before.
func (t *taskData) Typed(name string) string { return t.values.Get("s." + name) }

// Bad returns what is wrong with a control.
func (t *taskData) Bad(name string) string {
	for _, e := range t.errs {
		if e.Field == name {
			return sentence(e.Message)
		}
	}
	return ""
}

// Errs returns what is wrong with the answer and belongs to no control.
func (t *taskData) Errs() []string {
	var out []string
	for _, e := range t.errs {
		if !slices.ContainsFunc(t.Controls, func(c task.Control) bool { return c.Name == e.Field }) || t.Framed() {
			out = append(out, sentence(e.Error()))
		}
	}
	return out
}

// Keys reports whether keys choose options.
func (t *taskData) Keys() bool {
	return t.Only && len(t.Controls) == 1 && len(t.Controls[0].Options) > 0 && t.Controls[0].Options[0].Key != ""
}

// LastDigit returns the last of the digits from 1 that choose options.
func (t *taskData) LastDigit() int { return min(len(t.Controls[0].Options), 9) }

// MoreKeys returns the keys that choose options after the digits 1 to 9.
func (t *taskData) MoreKeys() []string {
	var list []string
	for i, o := range t.Controls[0].Options {
		if i >= 9 && o.Key != "" {
			list = append(list, o.Key)
		}
	}
	return list
}

func newTask(v task.View, frame string) *taskData {
	return &taskData{View: v, Frame: frame, Sandbox: task.Sandbox, Only: len(v.Controls) == 1 && v.Controls[0].Label == ""}
}

// workData is the worker's page with a task.
type workData struct {
	*work.HeldTask
	Task   *taskData
	Earned crowd.Money
	Duty   recruit.DutyView
	Lesson *lesson // of a training task
	Going  string  // what happens after this task, if they go off duty or move
	Stops  bool    // may go off duty
}

// reasonCount is a reason, with the number of batches or workers that have it;
// 0 for a reason that is not about single ones.
type reasonCount struct {
	Text  string
	Count int
}

// work shows the worker's task: the one that they hold, or the next one.
func (s *server) work(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	work, err := s.App.Work.Next(r.Context(), p, 0)
	if err != nil && crowd.CodeOf(err) != crowd.OffDuty {
		return err
	}
	duty, err2 := s.App.Duty.Get(r.Context(), p)
	if err2 != nil {
		return err2
	}
	notice := s.poolNotice(w, r, p, duty)
	switch {
	case err != nil:
		return s.showOffDuty(w, r, p, notice)
	case work == nil:
		return s.showWaiting(w, r, p, duty, notice)
	}
	return s.showWork(w, r, p, work, page{Notice: notice}, nil, nil)
}

func (s *server) showWaiting(w http.ResponseWriter, r *http.Request, p *access.Principal, duty recruit.DutyView, notice string) error {
	why, err := s.whyNothing(r, p)
	if err != nil {
		return err
	}
	earned, _, err := s.App.Work.Earnings(r.Context(), p, 0)
	if err != nil {
		return err
	}
	return s.render(w, r, p, "waiting", page{Title: "Waiting for a task", Section: "work", Script: "waiting.js", Refresh: 10, Notice: notice,
		Data: map[string]any{"Why": why, "Earned": earned, "Duty": duty, "Keeps": duty.Kept()}})
}

func (s *server) showWork(w http.ResponseWriter, r *http.Request, p *access.Principal, work *work.HeldTask, pg page, values url.Values, err error) error {
	duty, err2 := s.App.Duty.Get(r.Context(), p)
	if err2 != nil {
		return err2
	}
	lesson, err2 := s.lessonOf(r, work, duty)
	if err2 != nil {
		return err2
	}
	earned, _, err2 := s.App.Work.Earnings(r.Context(), p, 0)
	if err2 != nil {
		return err2
	}
	view := work.Template.Render(work.Values)
	frame := ""
	if view.Framed() {
		frame = "/work/frame/" + work.Assignment.String()
	}
	task := newTask(view, frame)
	task.values, task.errs = values, problems(err)
	status := http.StatusOK
	if err != nil {
		status = httpkit.Status(crowd.CodeOf(err))
	}
	title := view.Title
	if title == "" {
		title = work.Name
	}
	pg.Title, pg.Section, pg.Script, pg.Task = title, "work", "work.js", true
	pg.Data = workData{HeldTask: work, Task: task, Earned: earned, Duty: duty, Lesson: lesson, Going: goingNotes[duty.Leaves], Stops: duty.Kept()}
	return s.renderStatus(w, r, p, status, "work", pg)
}

// whyNothing says in words why the worker gets nothing.
func (s *server) whyNothing(r *http.Request, p *access.Principal) ([]reasonCount, error) {
	why, err := s.App.Work.WhyNothing(r.Context(), p)
	if err != nil {
		return nil, err
	}
	for _, general := range []crowd.Reason{crowd.NoOpenBatch, crowd.WorkerSuspended} {
		if why[general] > 0 {
			return []reasonCount{{Text: general.Text()}}, nil
		}
	}
	return reasonList(why, map[crowd.Reason]string{crowd.Eligible: "your turn may come at any moment", crowd.AlreadyDid: "every task left was already given to you"}), nil
}

// reasonList puts counted reasons in order, the most frequent first. Texts are
// those that read better here than the reason's own.
func reasonList(why map[crowd.Reason]int, texts map[crowd.Reason]string) []reasonCount {
	var list []reasonCount
	for _, reason := range append([]crowd.Reason{crowd.Eligible}, crowd.Reasons()...) {
		if n := why[reason]; n > 0 {
			list = append(list, reasonCount{cmp.Or(texts[reason], reason.Text()), n})
		}
	}
	slices.SortStableFunc(list, func(a, b reasonCount) int { return b.Count - a.Count })
	return list
}

// waitForWork is the long poll of a waiting page's script.
func (s *server) waitForWork(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	wait, err := waitTime(r)
	if err != nil {
		return err
	}
	httpkit.Streaming(w)
	work, err := s.App.Work.Next(r.Context(), p, wait)
	if crowd.CodeOf(err) == crowd.OffDuty {
		return sendJSON(w, http.StatusOK, map[string]any{"go": "/work"})
	}
	if err != nil {
		return err
	}
	if work != nil {
		return sendJSON(w, http.StatusOK, map[string]any{"task": work.Assignment})
	}
	if s.present(r, p).User.Pool != p.User.Pool {
		return sendJSON(w, http.StatusOK, map[string]any{"go": "/work"}) // they were moved
	}
	duty, err := s.App.Duty.Get(r.Context(), p)
	if err != nil {
		return err
	}
	past, err := s.App.Duty.WhyOff(r.Context(), p)
	if err != nil {
		return err
	}
	if duty.Gone(past) {
		return sendJSON(w, http.StatusOK, map[string]any{"go": afterDuty(duty)})
	}
	why, err := s.whyNothing(r, p)
	if err != nil {
		return err
	}
	html, err := s.fragment("waiting", "why", why)
	if err != nil {
		return err
	}
	return sendJSON(w, http.StatusOK, map[string]any{"why": html, "earned": int64(duty.Earned)})
}

// answerOf makes the answer from the form: "answer" is the whole of it, as the
// frame of a requester's HTML sends it; otherwise s.NAME is a text and l.NAME a
// list.
func answerOf(values url.Values) (json.RawMessage, error) {
	if whole := values.Get("answer"); whole != "" {
		return json.RawMessage(whole), nil
	}
	answer := make(map[string]any)
	for key, list := range values {
		switch kind, name, _ := strings.Cut(key, "."); kind {
		case "s":
			answer[name] = list[0]
		case "l":
			answer[name] = list
		}
	}
	return json.Marshal(answer)
}

// submit commits an answer, gets the next task in the same commit, and lets the
// browser load it.
func (s *server) submit(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	values := r.PostForm
	id, err := crowd.ParseAssignmentID(values.Get("assignment"))
	if err != nil {
		return err
	}
	answer, err := answerOf(values)
	if err != nil {
		return err
	}
	duty, err := s.App.Duty.Get(r.Context(), p)
	if err != nil {
		return err
	}
	out, _, err := s.App.Work.Submit(r.Context(), p, id, answer, duty.Leaves == "", 0)
	if crowd.CodeOf(err) == crowd.OffDuty { // the answer is in; the worker was let go meanwhile
		err = nil
	}
	if code := crowd.CodeOf(err); (code == crowd.Invalid || code == crowd.TooLarge) && !wantsJSON(r) {
		work, err2 := s.App.Work.Current(r.Context(), p)
		if err2 != nil {
			return err2
		}
		if work != nil && work.Assignment == id {
			return s.showWork(w, r, p, work, page{}, values, err)
		}
	}
	if err != nil {
		return err
	}
	did := outcome(out)
	next, err := s.afterTask(r, p, duty)
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		return sendJSON(w, http.StatusOK, map[string]string{"next": next + "?did=" + did})
	}
	return seeOther(w, r, next, did)
}

// afterTask is the page of somebody who has done with a task that they held when
// duty was as given.
func (s *server) afterTask(r *http.Request, p *access.Principal, duty recruit.DutyView) (string, error) {
	switch duty.Leaves {
	case "":
		return "/work", nil
	case engine.Moved:
		return "/work", s.awaitMove(r, p)
	}
	return afterDuty(duty), nil
}

// outcome names the notice that says what became of an answer.
func outcome(out engine.Outcome) string {
	switch {
	case out.Duplicate:
		return "again"
	case out.Late && !out.Counted:
		return "late"
	case !out.Counted:
		return "kept"
	}
	return "answered"
}

// held reads which assignment an action is about.
func held(r *http.Request) (crowd.AssignmentID, error) {
	return crowd.ParseAssignmentID(r.PostForm.Get("assignment"))
}

func (s *server) skip(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	id, err := held(r)
	if err != nil {
		return err
	}
	duty, err := s.App.Duty.Get(r.Context(), p)
	if err != nil {
		return err
	}
	if duty.Leaves != "" { // they want no other one
		err = s.App.Work.Return(r.Context(), p, id)
	} else {
		_, err = s.App.Work.Skip(r.Context(), p, id, 0)
	}
	if isGone(err) {
		return seeOther(w, r, "/work", "gone")
	} else if err != nil && crowd.CodeOf(err) != crowd.OffDuty {
		return err
	}
	next, err := s.afterTask(r, p, duty)
	if err != nil {
		return err
	}
	return seeOther(w, r, next, "skipped")
}

func (s *server) giveBack(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	id, err := held(r)
	if err != nil {
		return err
	}
	if err := s.App.Work.Return(r.Context(), p, id); err != nil && !isGone(err) {
		return err
	}
	duty, err := s.App.Duty.Get(r.Context(), p)
	if err != nil {
		return err
	}
	if duty.On && duty.Kept() {
		return s.stopWork(w, r, p)
	}
	return seeOther(w, r, afterDuty(duty), "")
}

// isGone says that a task is no longer the worker's: its time ran out, or they
// dealt with it in another window.
func isGone(err error) bool {
	code := crowd.CodeOf(err)
	return code == crowd.NotFound || code == crowd.Conflict
}

// rest is where a worker is who has given a task back: nothing is handed to
// them until they ask.
func (s *server) rest(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	earned, _, err := s.App.Work.Earnings(r.Context(), p, 0)
	if err != nil {
		return err
	}
	return s.render(w, r, p, "rest", page{Title: "Taking a break", Section: "work", Data: map[string]any{"Earned": earned}})
}

// heartbeat says that the worker is still at it.
func (s *server) heartbeat(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	id, err := held(r)
	if err != nil {
		return err
	}
	expires, err := s.App.Work.Heartbeat(r.Context(), p, id)
	if err != nil {
		return err
	}
	return sendJSON(w, http.StatusOK, map[string]time.Time{"expires": expires, "now": s.Now().UTC()})
}

// workFrame is the requester's HTML of the task that the worker holds. It is
// shown only in a frame without an origin.
func (s *server) workFrame(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	id, err := crowd.ParseAssignmentID(r.PathValue("assignment"))
	if err != nil {
		return err
	}
	work, err := s.App.Work.Current(r.Context(), p)
	if err != nil {
		return err
	}
	if work == nil || work.Assignment != id {
		return crowd.Errorf(crowd.NotFound, "you no longer hold this task")
	}
	html, err := work.Template.RenderHTML(work.Values, task.Frame{
		AssignmentID: id.String(), TaskID: work.Handout.Task.String(), WorkerID: p.User.ID.String(), SubmitTo: s.origin(r),
	})
	if err != nil {
		return err
	}
	sendFrame(w, html)
	return nil
}

// sendFrame sends a requester's HTML, which gets no origin even if somebody
// opens it outside the frame.
func sendFrame(w http.ResponseWriter, html string) {
	w.Header().Set("Content-Security-Policy", task.CSP)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write([]byte(html)) // the client may be gone
}

// origin is the address of this site as the browser knows it.
func (s *server) origin(r *http.Request) string {
	scheme := "http"
	if httpkit.Encrypted(r, s.TrustProxy) {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// earningsShown is how many of a worker's latest answers are listed, and
// earningsSummed how many are looked at for the sums by day.
const (
	earningsShown  = 50
	earningsSummed = 2000
)

// day is what was earned on one day (UTC).
type day struct {
	Date    time.Time
	Answers int
	Paid    crowd.Money
}

func (s *server) earnings(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	earned, list, err := s.App.Work.Earnings(r.Context(), p, earningsSummed)
	if err != nil {
		return err
	}
	days := byDay(s.Now().UTC(), list)
	most := crowd.Money(1)
	for _, d := range days {
		most = max(most, d.Paid)
	}
	return s.render(w, r, p, "earnings", page{Title: "Earnings", Section: "earnings", Data: map[string]any{
		"Earned": earned, "Days": days, "Most": most, "Today": days[len(days)-1],
		"Partial": len(list) == earningsSummed, "Answers": list[:min(len(list), earningsShown)],
	}})
}

// earningsDays is how many days the picture shows.
const earningsDays = 14

// byDay sums answers by day, the last being today.
func byDay(now time.Time, list []store.Annotation) []day {
	today := now.Truncate(24 * time.Hour)
	days := make([]day, earningsDays)
	for i := range days {
		days[i].Date = today.AddDate(0, 0, i-earningsDays+1)
	}
	for i := range list {
		back := int(today.Sub(list[i].EndedAt.UTC().Truncate(24*time.Hour)) / (24 * time.Hour))
		if back >= 0 && back < earningsDays {
			d := &days[earningsDays-1-back]
			d.Answers++
			d.Paid += list[i].Paid
		}
	}
	return days
}
