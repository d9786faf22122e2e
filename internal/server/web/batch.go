package web

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// batch shows a batch: a draft to work on, or a launched one to watch.
func (rq *request) batch(id crowd.BatchID) error {
	b := askOf(rq, id, rq.App.Batches.Get)
	switch {
	case rq.err != nil:
		return rq.err
	case b.Progress.State != crowd.BatchDraft:
		return rq.launched(b)
	case b.Spec.ReviewOf != 0: // it is launched with that
		return rq.seeOther("/batches/"+b.Spec.ReviewOf.String(), "")
	}
	cost, tooMuch := batches.Budget(&b.Spec)
	balance, pools, question := rq.balance(b.Spec.Tenant), ask(rq, rq.App.Pools.List), templateValues(b.Template)
	data := map[string]any{
		"B": b, "Balance": balance, "Report": madeOf[*batches.UploadReport](rq), "Question": question, "Template": newTemplateForm("template", rq.form, question),
		"Settings": settingsOf(&b.Batch), "Pools": menu(pools, sizedChoice), "Cost": cost, "TooMuch": tooMuch != nil, "Enough": tooMuch == nil && cost+reviewCost(&b.Batch) <= balance, "ReviewCost": reviewCost(&b.Batch),
		"Crowd": askOf(rq, id, rq.App.Batches.Able), "Most": b.Spec.Rule.Most(), "PriorityHelp": rq.priorityHelp(b.Spec.Tenant),
	}
	if b.Spec.Tasks > 0 && rq.p.MayFor(access.BatchesPreview, b.Spec.Tenant) == nil {
		data["Preview"] = rq.previewOf(b)
	}
	return rq.render("draft", page{Title: b.Name, Section: "batches", Script: "draft.js", Task: true, Data: data})
}

// priorityHelp says what a priority does, and how high it may be, to who sees the tenant.
func (rq *request) priorityHelp(id crowd.TenantID) string {
	text := "help=Under most policies a batch of twice the priority gets about twice the workers, where there are more people than batches."
	for _, t := range ask(rq, rq.App.Tenants.List) {
		if t.ID == id {
			text += " At most " + format.Number(t.MaxPriority) + ", the highest of " + t.Name + "."
		}
	}
	return text
}

func sizedChoice(v control.PoolView) choice {
	return choice{v.ID.String(), v.Name + " (" + plural(v.Belong, "person") + ")"}
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
	b.notZero("budget", "priority", "lease", "task_time")
	b.redundancy(&n.Redundancy)
	b.spanIfAny("grace", &n.Grace, time.Second)
	b.spanIfAny("revise", &n.Revise, time.Hour)
	b.approvalOf(&n.Approval)
	b.limit("per_worker", &n.PerWorker)
	b.enoughOf(&n.Enough)
	b.checksOf(&n.Checks)
	b.reviewOf(&n.Review)
	bound(b, "quality", &n.Quality, b.qualityRules, func(list []engine.QualityRule) string {
		return strings.Join(lists.Map(list, engine.QualityRule.String), "\n")
	})
	bound(b, "qualifications", &n.Requirements, b.requirements, requirementLines)
}

// requirementLines has a line for each qualification that is asked for.
func requirementLines(list []engine.Requirement) string {
	var lines strings.Builder
	for _, q := range list {
		fmt.Fprintf(&lines, "%s>=%d\n", q.FullName(), q.Min)
	}
	return lines.String()
}

// pool is the pool of a menu; 0 if none is chosen.
func (f *fields) pool(name string) crowd.PoolID {
	return parsed(f, name, crowd.ParsePoolID, func(text string) string { return fmt.Sprintf("there is no pool %q", text) })
}

func (f *fields) requirements(name string) (list []engine.Requirement) {
	for _, q := range f.scores(name, 0) {
		list = append(list, engine.ParseRequirement(q))
	}
	return list
}

// redundancy is how many answers a task gets: a choice, with the numbers of both.
func (b binding) redundancy(rule *label.Rule) {
	choice, count, agree, of := "count", 3, 2, 3
	until, least, most := 100*label.DefaultUntil, label.DefaultFewest, label.DefaultMost
	switch {
	case !b.filling:
	case rule.FollowsAnswers():
		choice, until, least, most = "until", math.Round(1e6*rule.Confidence())/1e4, rule.Fewest(), rule.Most()
	case rule.Fixed():
		count = rule.Most()
	default:
		choice, agree, of = "agree", rule.Fewest(), rule.Most()
	}
	b.words("rule", &choice)
	b.integer("count", &count)
	b.integer("agree", &agree)
	b.integer("of", &of)
	b.figure("until", &until)
	b.integer("min", &least)
	b.integer("at_most", &most)
	switch {
	case b.filling:
	case choice == "until":
		*rule = label.Until(until/100, least, most)
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

// launchDraft is for who may launch a draft and not change it.
func (rq *request) launchDraft(id crowd.BatchID) error {
	_, err := rq.App.Batches.Launch(rq.ctx(), rq.p, id, rq.sent().text("small_crowd") != "")
	return rq.done(err, "/batches/"+id.String(), "launched")
}

func (rq *request) editTemplate(id crowd.BatchID) error {
	_, err := rq.App.Batches.EditDraft(rq.ctx(), rq.p, id, func(n *batches.NewBatch) (err error) {
		if err = rq.sent().current(templateValues(n.Template)); err == nil {
			n.Template, err = templateOf(rq.r.PostForm)
		}
		return err
	})
	return rq.done(err, "/batches/"+id.String(), "saved")
}

// editSettings keeps price, people and time of a draft, and launches it if that
// was the button. A button of the preview shows another task, and keeps nothing but
// what is typed.
func (rq *request) editSettings(id crowd.BatchID) error {
	f := rq.sent()
	if f.text("look") != "" {
		rq.form = &form{ID: "settings", Values: f.values}
		return rq.batch(id)
	}
	b, err := rq.App.Batches.EditDraft(rq.ctx(), rq.p, id, saving(f, bindSettings))
	did := "saved"
	if err == nil && f.text("then") == "launch" {
		did = "launched"
		f.values.Set(filledField, digest(settingsOf(&b))) // they are saved, also if the launch is refused
		_, err = rq.App.Batches.Launch(rq.ctx(), rq.p, id, f.text("small_crowd") != "")
	}
	return rq.done(err, "/batches/"+id.String(), did)
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

// previewOf shows the task that ?task= or a button of the preview asks for, or the first.
func (rq *request) previewOf(b batches.BatchView) *previewData {
	n := uint64(1)
	if text := cmp.Or(rq.r.URL.Query().Get("task"), rq.r.PostForm.Get("look")); text != "" {
		n, _ = strconv.ParseUint(text, 10, 32) // there is no task 0
	}
	shown, err := rq.App.Batches.Preview(rq.ctx(), rq.p, b.Spec.ID, uint32(n))
	if err != nil {
		rq.check(err)
		return nil
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
	return out
}

// preview shows the tasks of a launched batch.
func (rq *request) preview(id crowd.BatchID) error {
	b := askOf(rq, id, rq.App.Batches.Get)
	shown := rq.previewOf(b)
	return rq.render("preview", page{Title: "Tasks of " + b.Name, Section: "batches", Script: "draft.js", Task: true,
		Data: map[string]any{"B": b, "Preview": shown}})
}

// previewFrame is the requester's HTML of a task in a preview.
func (rq *request) previewFrame(id crowd.BatchID) error {
	n, err := strconv.ParseUint(rq.r.PathValue("task"), 10, 32)
	if err != nil {
		return crowd.Errorf(crowd.NotFound, "there is no such task")
	}
	shown, err := rq.App.Batches.Preview(rq.ctx(), rq.p, id, uint32(n))
	if err != nil {
		return err
	}
	html, err := shown.Template.RenderHTML(shown.Values, task.Frame{TaskID: shown.Task.String(), SubmitTo: rq.origin(), Preview: true})
	if err != nil {
		return err
	}
	sendFrame(rq.w, html)
	return nil
}
