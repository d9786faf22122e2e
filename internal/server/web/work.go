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
	"github.com/throng-dev/throng/internal/kit/lists"
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
	general := lists.Filter(t.errs, func(e *crowd.Error) bool {
		return !slices.ContainsFunc(t.Controls, func(c task.Control) bool { return c.Name == e.Field }) || t.Framed()
	})
	return lists.Map(general, func(e *crowd.Error) string { return sentence(e.Error()) })
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
	Task     *taskData
	Notes    []store.QualityAction // of quality rules
	Earned   crowd.Money
	Duty     recruit.DutyView
	Training *trainingTask // nil: it is none
	Going    string        // what happens after this task, if they go off duty or move
	Stops    bool          // may go off duty
	Reported string        // a report that was refused
	SentBack string        // the comment with which they were about to send a label back, or had
	// SendBackErr is why a label could not be sent back.
	SendBackErr string
	Asks        bool // they are to say which work they like
}

// reasonCount is a reason, with the number of batches or workers that have it;
// 0 for a reason that is not about single ones.
type reasonCount struct {
	Text  string
	Count int
}

// work shows the worker's task: the one that they hold, or the next one.
func (rq *request) work() error {
	work, err := rq.App.Work.Next(rq.ctx(), rq.p, 0)
	if err != nil && crowd.CodeOf(err) != crowd.OffDuty {
		return err
	}
	duty := ask(rq, rq.App.Duty.Get)
	if rq.err != nil {
		return rq.err
	}
	notice := rq.poolNotice(duty)
	switch {
	case err != nil:
		return rq.showOffDuty(notice)
	case work == nil:
		return rq.showWaiting(duty, notice)
	}
	return rq.showWork(work, page{Notice: notice}, nil, nil)
}

func (rq *request) showWaiting(duty recruit.DutyView, notice string) error {
	return rq.render("waiting", page{Title: "Waiting for a task", Section: "work", Script: "waiting.js", Refresh: 10, Notice: notice,
		Data: map[string]any{"Why": rq.whyNothing(&duty), "Notes": ask(rq, rq.App.Work.Notes), "Earned": rq.earned(), "Duty": duty, "Keeps": duty.Kept(), "Asks": rq.asksWishes()}})
}

func (rq *request) showWork(work *work.HeldTask, pg page, values url.Values, err error) error {
	duty := ask(rq, rq.App.Duty.Get)
	training, err2 := rq.trainingOf(work, duty)
	rq.check(err2)
	view := work.Template.Render(work.Values)
	frame := ""
	if view.Framed() {
		frame = "/work/frame/" + work.Assignment.String()
	}
	task := newTask(view, frame)
	refused, problems := sendBackProblems(problems(err))
	task.values, task.errs = values, problems
	status := http.StatusOK
	if err != nil {
		status = httpkit.Status(crowd.CodeOf(err))
	}
	pg.Title, pg.Section, pg.Script, pg.Task = cmp.Or(view.Title, work.Name), "work", "work.js", true
	pg.Data = workData{HeldTask: work, Task: task, Notes: ask(rq, rq.App.Work.Notes), Earned: rq.earned(), Duty: duty, Training: training, Going: goingNotes[duty.Leaves], Stops: duty.Kept(), Reported: madeOf[string](rq), SentBack: commentOf(work, values), SendBackErr: refused, Asks: rq.asksWishes()}
	return rq.renderStatus(status, "work", pg)
}

// whyNothing says in words why the worker gets nothing.
func (rq *request) whyNothing(duty *recruit.DutyView) []reasonCount {
	if note := duty.GateNote(); note != "" {
		return []reasonCount{{Text: note}}
	}
	why := ask(rq, rq.App.Work.WhyNothing)
	for _, general := range []crowd.Reason{crowd.NoOpenBatch, crowd.WorkerSuspended} {
		if why[general] > 0 {
			return []reasonCount{{Text: general.Text()}}
		}
	}
	return reasonList(why, func(r crowd.Reason) string {
		switch r {
		case crowd.Eligible:
			return "your turn may come at any moment"
		case crowd.AlreadyDid:
			return "every task left was already given to you"
		}
		return r.Text()
	})
}

// reasonList puts counted reasons in order, the most frequent first. Texts are
// those that read better here than the reason's own.
func reasonList(why map[crowd.Reason]int, text func(crowd.Reason) string) []reasonCount {
	var list []reasonCount
	for _, reason := range append([]crowd.Reason{crowd.Eligible}, crowd.Reasons()...) {
		if n := why[reason]; n > 0 {
			list = append(list, reasonCount{text(reason), n})
		}
	}
	slices.SortStableFunc(list, func(a, b reasonCount) int { return b.Count - a.Count })
	return list
}

// waitForWork is the long poll of a waiting page's script.
func (rq *request) waitForWork() error {
	wait, err := waitTime(rq.r)
	if err != nil {
		return err
	}
	if of := rq.r.URL.Query().Get("pool"); of != "" && of != rq.p.User.Pool.String() {
		return rq.sendJSON(map[string]any{"go": "/work"}) // the page is of the pool before: its last poll ended when they left
	}
	httpkit.Streaming(rq.w)
	work, err := rq.App.Work.NextUnlessLeft(rq.ctx(), rq.p, wait)
	if crowd.CodeOf(err) == crowd.OffDuty {
		duty := ask(rq, rq.App.Duty.Get)
		return rq.sendJSON(map[string]any{"go": afterDuty(duty)})
	}
	if err != nil {
		return err
	}
	if work != nil {
		return rq.sendJSON(map[string]any{"task": work.Assignment})
	}
	if rq.present().User.Pool != rq.p.User.Pool {
		return rq.sendJSON(map[string]any{"go": "/work"}) // they were moved
	}
	duty, past := ask(rq, rq.App.Duty.Get), ask(rq, rq.App.Duty.WhyOff)
	if duty.Gone(past) {
		return rq.sendJSON(map[string]any{"go": afterDuty(duty)})
	}
	html := rq.fragment("waiting", "why", rq.whyNothing(&duty))
	return rq.sendJSON(map[string]any{"why": html, "earned": int64(duty.Earned), "pays": int64(duty.Rate())})
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
func (rq *request) submit() error {
	values := rq.r.PostForm
	id, err := crowd.ParseAssignmentID(values.Get("assignment"))
	if err != nil {
		return err
	}
	answer, err := answerOf(values)
	if err != nil {
		return err
	}
	duty, err := rq.App.Duty.Get(rq.ctx(), rq.p)
	if err != nil {
		return err
	}
	if values.Has("accept") {
		answer = nil // the label that it reviews
	}
	lesson, err := rq.App.Work.IsLesson(rq.ctx(), rq.p, id)
	if err != nil {
		return err
	}
	out, err := rq.commit(id, answer, values, duty.Leaves == "" && !lesson) // what was right is read before the next task
	if crowd.CodeOf(err) == crowd.OffDuty {                                 // the answer is in; the worker was let go meanwhile
		err = nil
	}
	if code := crowd.CodeOf(err); (code == crowd.Invalid || code == crowd.TooLarge || isSendBack(err)) && !rq.wantsJSON() {
		work, err2 := rq.App.Work.Current(rq.ctx(), rq.p)
		if err2 != nil {
			return err2
		}
		if work != nil && work.Assignment == id {
			return rq.showWork(work, page{}, values, err)
		}
	}
	if err != nil {
		return err
	}
	did := outcome(out)
	next, err := rq.afterTask(duty)
	if err != nil {
		return err
	}
	feedback, err := rq.App.Work.Feedback(rq.ctx(), rq.p, id)
	if err != nil {
		return err
	}
	if feedback != nil {
		next = "/work/feedback/" + id.String()
	}
	if rq.wantsJSON() {
		return rq.sendJSON(map[string]string{"next": next + "?did=" + did})
	}
	return rq.seeOther(next, did)
}

// afterTask is the page of somebody who has done with a task that they held when
// duty was as given.
func (rq *request) afterTask(duty recruit.DutyView) (string, error) {
	switch duty.Leaves {
	case "":
		return "/work", nil
	case engine.Moved:
		return "/work", rq.awaitMove()
	}
	return afterDuty(duty), nil
}

// outcome names the notice that says what became of an answer.
func outcome(out engine.Outcome) string {
	switch {
	case out.Duplicate:
		return "again"
	case !out.CountsAt.IsZero():
		return "undoable"
	case out.Ended && !out.Counted:
		return "over"
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

func (rq *request) skip() error {
	id, err := held(rq.r)
	if err != nil {
		return err
	}
	duty, err := rq.App.Duty.Get(rq.ctx(), rq.p)
	if err != nil {
		return err
	}
	if duty.Leaves != "" { // they want no other one
		err = rq.App.Work.Return(rq.ctx(), rq.p, id)
	} else {
		_, err = rq.App.Work.Skip(rq.ctx(), rq.p, id, 0)
	}
	if isGone(err) {
		return rq.seeOther("/work", "gone")
	} else if err != nil && crowd.CodeOf(err) != crowd.OffDuty {
		return err
	}
	next, err := rq.afterTask(duty)
	if err != nil {
		return err
	}
	return rq.seeOther(next, "skipped")
}

func (rq *request) giveBack() error {
	id, err := held(rq.r)
	if err != nil {
		return err
	}
	if err := rq.App.Work.Return(rq.ctx(), rq.p, id); err != nil && !isGone(err) {
		return err
	}
	duty, err := rq.App.Duty.Get(rq.ctx(), rq.p)
	if err != nil {
		return err
	}
	if duty.On && duty.Kept() {
		return rq.stopWork()
	}
	return rq.seeOther(afterDuty(duty), "")
}

// isGone says that a task is no longer the worker's: its time ran out, or they
// dealt with it in another window.
func isGone(err error) bool {
	code := crowd.CodeOf(err)
	return code == crowd.NotFound || code == crowd.Conflict
}

// rest is where a worker is who has given a task back: nothing is handed to
// them until they ask.
func (rq *request) rest() error {
	duty := ask(rq, rq.App.Duty.Get)
	return rq.render("rest", page{Title: "Taking a break", Section: "work", Data: map[string]any{"Earned": rq.earned(), "Undo": duty.Undo}})
}

// heartbeat says that the worker is still at it.
func (rq *request) heartbeat() error {
	id, err := held(rq.r)
	if err != nil {
		return err
	}
	expires, err := rq.App.Work.Heartbeat(rq.ctx(), rq.p, id)
	if err != nil {
		return err
	}
	return rq.sendJSON(map[string]time.Time{"expires": expires, "now": rq.Now().UTC()})
}

// workFrame is the requester's HTML of the task that the worker holds. It is
// shown only in a frame without an origin.
func (rq *request) workFrame() error {
	id, err := crowd.ParseAssignmentID(rq.r.PathValue("assignment"))
	if err != nil {
		return err
	}
	work, err := rq.App.Work.Current(rq.ctx(), rq.p)
	if err != nil {
		return err
	}
	if work == nil || work.Assignment != id {
		return crowd.Errorf(crowd.NotFound, "you no longer hold this task")
	}
	html, err := work.RenderHTML(rq.origin())
	if err != nil {
		return err
	}
	sendFrame(rq.w, html)
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
func (rq *request) origin() string {
	return httpkit.Origin(rq.r, rq.TrustProxy)
}

// publicURL begins links that people are given. The host of a request is what its sender
// says, so it counts only where the server knows no better.
func (rq *request) publicURL() string {
	return cmp.Or(rq.App.PublicURL, rq.origin())
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

func (rq *request) earnings() error {
	earned, list, err := rq.App.Work.Earnings(rq.ctx(), rq.p, earningsSummed)
	if err != nil {
		return err
	}
	held, err := rq.App.Pay.Sums(rq.ctx(), rq.p)
	if err != nil {
		return err
	}
	days := byDay(rq.Now().UTC(), list)
	most := crowd.Money(1)
	for _, d := range days {
		most = max(most, d.Paid)
	}
	return rq.render("earnings", page{Title: "Earnings", Section: "earnings", Data: map[string]any{
		"Earned": earned, "Held": held, "Days": days, "Most": most, "Today": days[len(days)-1],
		"Partial": len(list) == earningsSummed, "Answers": list[:min(len(list), earningsShown)],
	}})
}

// earningsDays is how many days the picture shows.
const earningsDays = 14

// byDay sums answers by day, the last being today.
func byDay(now time.Time, list []work.Done) []day {
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
