package web

import (
	"fmt"
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
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// batch shows a batch: a draft to work on, or a launched one to watch.
func (s *server) batch(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.BatchID) error {
	b, err := s.App.Batches.Get(r.Context(), p, id)
	if err != nil {
		return err
	}
	if b.Progress.State != crowd.BatchDraft {
		return s.launched(w, r, p, b)
	}
	balance, _, err := s.App.Tenants.Account(r.Context(), p, b.Spec.Tenant, 0, 0)
	if err != nil {
		return err
	}
	pools, err := s.App.Pools.List(r.Context(), p)
	if err != nil {
		return err
	}
	question := templateValues(b.Template)
	data := map[string]any{
		"B": b, "Balance": balance, "Report": madeOf[*batches.UploadReport](r), "Question": question, "Template": newTemplateForm("template", formOf(r), question),
		"Settings": settingsOf(&b.Batch), "Pools": menu(pools, sizedChoice), "MaxCost": maxCost(b), "Enough": maxCost(b) <= balance,
		"Crowd": poolSize(pools, b.Pool), "Most": b.Spec.Rule.Most(),
	}
	if b.Spec.Tasks > 0 {
		shown, err := s.previewOf(r, p, b)
		if err != nil {
			return err
		}
		data["Preview"] = shown
	}
	return s.render(w, r, p, "draft", page{Title: b.Name, Section: "batches", Script: "draft.js", Task: true, Data: data})
}

func sizedChoice(v control.PoolView) choice {
	return choice{v.ID.String(), v.Name + " (" + plural(v.Workers, "worker") + ")"}
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

// bindSettings goes over the definition of a draft, but for its template.
func bindSettings(b binding, n *batches.NewBatch) {
	b.words("name", &n.Name)
	bound(b, "pool", &n.Pool, b.pool, crowd.PoolID.String)
	b.amount("reward", &n.Reward)
	bound(b, "budget", &n.Budget, b.money, func(m crowd.Money) string { return unlessZero(m, crowd.Money.String) })
	b.figure("priority", &n.Priority)
	b.moment("deadline", &n.Deadline)
	b.moment("ends_at", &n.EndsAt)
	b.tick("production", &n.Production)
	b.tick("training", &n.Training)
	b.span("lease", &n.Lease, time.Minute)
	b.span("task_time", &n.TaskTime, time.Second)
	b.redundancy(&n.Redundancy)
	bound(b, "qualifications", &n.Requirements, b.requirements, func(list []engine.Requirement) string {
		var lines strings.Builder
		for _, q := range list {
			fmt.Fprintln(&lines, q.Name, q.Min)
		}
		return lines.String()
	})
}

// pool is the pool of a menu; 0 if none is chosen.
func (f *fields) pool(name string) crowd.PoolID {
	if f.text(name) == "" {
		return 0
	}
	id, err := crowd.ParsePoolID(f.text(name))
	if err != nil {
		f.bad(name, "there is no pool %q", f.text(name))
	}
	return id
}

func (f *fields) requirements(name string) (list []engine.Requirement) {
	for quality, least := range f.scores(name, 0) {
		list = append(list, engine.Requirement{Name: quality, Min: least})
	}
	return list
}

// redundancy is how many answers a task gets: a choice, with the numbers of both.
func (b binding) redundancy(rule *label.Rule) {
	choice, count, agree, of := "count", 3, 2, 3
	if b.filling && rule.Fixed() {
		count = rule.Most()
	} else if b.filling {
		choice, agree, of = "agree", rule.Fewest(), rule.Most()
	}
	b.words("rule", &choice)
	b.integer("count", &count)
	b.integer("agree", &agree)
	b.integer("of", &of)
	switch {
	case b.filling:
	case choice == "agree":
		*rule = label.Agree(agree, of)
	default:
		*rule = label.Count(count)
	}
}

// settingsOf is the definition of a draft as the form has it.
func settingsOf(b *store.Batch) url.Values {
	n := batches.Definition(b)
	return filled(n, bindSettings)
}

func (s *server) editTemplate(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.BatchID) error {
	_, err := s.App.Batches.EditDraft(r.Context(), p, id, func(n *batches.NewBatch) (err error) {
		if err = sent(r).current(templateValues(n.Template)); err == nil {
			n.Template, err = templateOf(r.PostForm)
		}
		return err
	})
	return done(w, r, err, "/batches/"+id.String(), "saved")
}

// editSettings keeps price, people and time of a draft, and launches it if that
// was the button.
func (s *server) editSettings(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.BatchID) error {
	f := sent(r)
	b, err := s.App.Batches.EditDraft(r.Context(), p, id, saving(f, bindSettings))
	did := "saved"
	if err == nil && f.text("then") == "launch" {
		did = "launched"
		f.values.Set(filledField, digest(settingsOf(&b))) // they are saved, also if the launch is refused
		_, err = s.App.Batches.Launch(r.Context(), p, id, f.text("small_crowd") != "")
	}
	return done(w, r, err, "/batches/"+id.String(), did)
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
