package web

import (
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// batch shows a batch: a draft to work on, or a launched one to watch.
func (s *server) batch(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.BatchID) error {
	return s.showBatch(w, r, p, id, nil, nil)
}

// showBatch shows a batch, with a form that was refused or with what became of
// an upload.
func (s *server) showBatch(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.BatchID, f *form, report *batches.UploadReport) error {
	b, err := s.App.Batches.Get(r.Context(), p, id)
	if err != nil {
		return err
	}
	if b.Progress.State != crowd.BatchDraft {
		return s.showLaunched(w, r, p, b, f)
	}
	balance, _, err := s.App.Tenants.Account(r.Context(), p, b.Spec.Tenant, 0, 0)
	if err != nil {
		return err
	}
	pools, err := s.App.Pools.List(r.Context(), p)
	if err != nil {
		return err
	}
	data := map[string]any{
		"B": b, "Balance": balance, "Report": report, "Template": newTemplateForm("template", f, templateValues(b.Template)),
		"Settings": settingsOf(b), "Pools": poolMenu(pools), "MaxCost": maxCost(b), "Enough": maxCost(b) <= balance,
		"Crowd": poolSize(pools, b.Pool), "Most": b.Spec.Rule.Most(),
	}
	if b.Spec.Tasks > 0 {
		shown, err := s.previewOf(r, p, b)
		if err != nil {
			return err
		}
		data["Preview"] = shown
	}
	return s.renderStatus(w, r, p, f.status(), "draft", page{Title: b.Name, Section: "batches", Script: "draft.js", Task: true, Form: f, Data: data})
}

func poolMenu(list []control.PoolView) []choice {
	var menu []choice
	for _, v := range list {
		menu = append(menu, choice{v.ID.String(), v.Name + " (" + plural(v.Workers, "worker") + ")"})
	}
	return menu
}

func poolSize(list []control.PoolView, id crowd.PoolID) int {
	for _, v := range list {
		if v.ID == id {
			return v.Workers
		}
	}
	return 0
}

// maxCost is the most that a batch can cost, or its budget if that is set.
func maxCost(b batches.BatchView) crowd.Money {
	if b.Spec.Budget > 0 {
		return b.Spec.Budget
	}
	most, ok := b.Spec.Reward.Times(int64(b.Spec.Rule.Most()) * int64(b.Spec.Tasks))
	if !ok {
		return math.MaxInt64
	}
	return most
}

// settings is the definition of a draft as the form has it.
type settings struct {
	Name, Pool, Reward, Budget, Rule, Count, Agree, Of string
	Priority, Deadline, EndsAt, Lease, TaskTime        string
	Production, Training                               string
	Qualifications                                     string
}

func settingsOf(b batches.BatchView) settings {
	x := b.Spec
	out := settings{
		Name: b.Name, Pool: b.Pool.String(), Reward: x.Reward.String(), Rule: "count", Count: "3", Agree: "2", Of: "3",
		Priority: strconv.FormatFloat(x.Priority, 'f', -1, 64), Deadline: inputValue(x.Deadline), EndsAt: inputValue(x.EndsAt),
		Lease: strconv.FormatFloat(x.Lease.Minutes(), 'f', -1, 64), TaskTime: strconv.FormatFloat(x.TaskTime.Seconds(), 'f', -1, 64),
		Production: ticked(x.Production), Training: ticked(x.Training),
	}
	if x.Budget > 0 {
		out.Budget = x.Budget.String()
	}
	if x.Rule.Fixed() {
		out.Count = strconv.Itoa(x.Rule.Most())
	} else {
		out.Rule, out.Agree, out.Of = "agree", strconv.Itoa(x.Rule.Fewest()), strconv.Itoa(x.Rule.Most())
	}
	var lines strings.Builder
	for _, q := range x.Requirements {
		lines.WriteString(q.Name + " " + strconv.Itoa(q.Min) + "\n")
	}
	out.Qualifications = lines.String()
	return out
}

// definition is a draft as it stands, to be changed in part.
func definition(b batches.BatchView) batches.NewBatch {
	x := b.Spec
	return batches.NewBatch{
		Tenant: x.Tenant, Pool: b.Pool, Name: b.Name, Template: b.Template, Redundancy: x.Rule, Reward: x.Reward, Budget: x.Budget,
		Priority: x.Priority, Deadline: x.Deadline, Production: x.Production, Lease: x.Lease, TaskTime: x.TaskTime, EndsAt: x.EndsAt,
		Requirements: x.Requirements, Training: x.Training,
	}
}

// draftOf returns a batch that an action can change because it is a draft.
func (s *server) draftOf(r *http.Request, p *access.Principal, id crowd.BatchID) (batches.BatchView, error) {
	b, err := s.App.Batches.Get(r.Context(), p, id)
	if err == nil && b.Progress.State != crowd.BatchDraft {
		err = crowd.Errorf(crowd.Conflict, "%s is %s; only a draft can be changed like this", id, b.Progress.State)
	}
	return b, err
}

func (s *server) editTemplate(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.BatchID) error {
	values := r.PostForm
	b, err := s.draftOf(r, p, id)
	if err != nil {
		return err
	}
	n := definition(b)
	if n.Template, err = templateOf(values); err == nil {
		_, err = s.App.Batches.EditDraft(r.Context(), p, id, n)
	}
	if err != nil {
		return showAgain(err, refused("template", values, err), func(f *form) error { return s.showBatch(w, r, p, id, f, nil) })
	}
	return seeOther(w, r, "/batches/"+id.String(), "saved")
}

// editSettings keeps price, people and time of a draft, and launches it if that
// was the button.
func (s *server) editSettings(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.BatchID) error {
	values := r.PostForm
	b, err := s.draftOf(r, p, id)
	if err != nil {
		return err
	}
	n, err := readSettings(values, definition(b))
	if err == nil {
		_, err = s.App.Batches.EditDraft(r.Context(), p, id, n)
	}
	did := "saved"
	if err == nil && values.Get("then") == "launch" {
		did = "launched"
		_, err = s.App.Batches.Launch(r.Context(), p, id, values.Get("small_crowd") != "")
	}
	if err != nil {
		return showAgain(err, refused("settings", values, err), func(f *form) error { return s.showBatch(w, r, p, id, f, nil) })
	}
	return seeOther(w, r, "/batches/"+id.String(), did)
}

func readSettings(values url.Values, n batches.NewBatch) (batches.NewBatch, error) {
	f := fields{values: values}
	n.Name = f.text("name")
	if text := f.text("pool"); text != "" {
		pool, err := crowd.ParsePoolID(text)
		if err != nil {
			f.bad("pool", "no such pool")
		}
		n.Pool = pool
	}
	n.Reward, n.Budget = f.money("reward"), f.money("budget")
	if values.Get("rule") == "agree" {
		n.Redundancy = label.Agree(f.whole("agree"), f.whole("of"))
	} else {
		n.Redundancy = label.Count(f.whole("count"))
	}
	n.Priority = f.number("priority")
	n.Deadline, n.EndsAt = f.time("deadline"), f.time("ends_at")
	n.Production = values.Get("production") != ""
	n.Training = values.Get("training") != ""
	n.Lease, n.TaskTime = f.scale("lease", time.Minute), f.scale("task_time", time.Second)
	names, least := f.scores("qualifications", 0)
	n.Requirements = nil
	for i, name := range names {
		n.Requirements = append(n.Requirements, engine.Requirement{Name: name, Min: least[i]})
	}
	return n, f.err()
}

// previewData is a task as a worker will see it, with its neighbours.
type previewData struct {
	Task           *taskData
	N, Of          uint32
	Previous, Next uint32 // 0: none
	Reward         crowd.Money
	Lease          time.Duration
	Name           string
}

// previewOf shows the task that ?task= asks for, or the first one.
func (s *server) previewOf(r *http.Request, p *access.Principal, b batches.BatchView) (*previewData, error) {
	n := uint64(1)
	if text := r.URL.Query().Get("task"); text != "" && r.Method == http.MethodGet {
		var err error
		if n, err = strconv.ParseUint(text, 10, 32); err != nil {
			return nil, crowd.Errorf(crowd.NotFound, "there is no such task")
		}
	}
	shown, err := s.App.Batches.Preview(r.Context(), p, b.Spec.ID, uint32(n))
	if err != nil {
		return nil, err
	}
	view := shown.Template.Render(shown.Values)
	frame := ""
	if view.Framed() {
		frame = "/batches/" + b.Spec.ID.String() + "/frame/" + strconv.FormatUint(n, 10)
	}
	out := &previewData{Task: newTask(view, frame), N: uint32(n), Of: shown.Tasks, Reward: b.Spec.Reward, Lease: b.Spec.Lease, Name: b.Name}
	out.Task.Preview = true
	if out.N > 1 {
		out.Previous = out.N - 1
	}
	if out.N < out.Of {
		out.Next = out.N + 1
	}
	return out, nil
}

// preview shows the tasks of a launched batch.
func (s *server) preview(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.BatchID) error {
	b, err := s.App.Batches.Get(r.Context(), p, id)
	if err != nil {
		return err
	}
	shown, err := s.previewOf(r, p, b)
	if err != nil {
		return err
	}
	return s.render(w, r, p, "preview", page{Title: "Tasks of " + b.Name, Section: "batches", Script: "draft.js", Task: true,
		Data: map[string]any{"B": b, "Preview": shown}})
}

// previewFrame is the requester's HTML of a task in a preview.
func (s *server) previewFrame(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.BatchID) error {
	n, err := strconv.ParseUint(r.PathValue("task"), 10, 32)
	if err != nil {
		return crowd.Errorf(crowd.NotFound, "there is no such task")
	}
	shown, err := s.App.Batches.Preview(r.Context(), p, id, uint32(n))
	if err != nil {
		return err
	}
	html, err := shown.Template.RenderHTML(shown.Values, task.Frame{TaskID: shown.Task.String(), SubmitTo: s.origin(r), Preview: true})
	if err != nil {
		return err
	}
	sendFrame(w, html)
	return nil
}
