package web

import (
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/httpkit"
)

// testsTried is how many tries are listed on a test's page.
const testsTried = 100

// tests is the page of those who give tests.
func (rq *request) tests() error {
	tenants := rq.tenantsFor(access.TestsList)
	return rq.render("tests", page{Title: "Tests", Section: "invitations", Script: "template.js", Data: map[string]any{
		"List": rq.testsOf(tenants), "TenantNames": tenantNames(tenants), "Tenants": tenantMenu(rq.p, access.TestsCreate, tenants, "the whole installation"), "Template": newTemplateForm("test", rq.form, firstTemplate),
	}})
}

func (rq *request) createTest() error {
	httpkit.Receiving(rq.w, rq.r)
	defer drain(rq.r)
	f, file, err := readFields(rq.r)
	n := accounts.NewTest{
		Tenant: f.menuTenant(), Name: f.text("name"), Grants: f.text("grants"), Draw: f.wholeNumber("draw"), PassMark: f.wholeNumber("pass_mark"), Tries: f.wholeNumber("tries"),
		Wait: f.scale("wait", time.Hour), TimeLimit: f.scale("time_limit", time.Minute), Open: f.text("open") != "",
	}
	if err == nil && file == nil {
		err = errFileless
	}
	if err == nil {
		err = f.err()
	}
	if err == nil {
		n.Template, err = templateOf(f.values)
	}
	if err != nil {
		return err
	}
	how, err := f.reading(file.FileName())
	if err != nil {
		return err
	}
	n.Questions, n.Format, n.Delimiter = file, how.Format, how.Delimiter
	t, err := rq.App.Tests.Create(rq.ctx(), rq.p, n)
	return rq.done(err, "/tests/"+strconv.FormatInt(t.ID, 10), "saved")
}

func (rq *request) test(id int64) error {
	t := askOf(rq, id, rq.App.Tests.Get)
	data := map[string]any{"T": t, "Mine": true, "For": "the whole installation"}
	names := tenantNames(ask(rq, rq.App.Tenants.List))
	if data["Grants"] = names.Grants(t); t.Tenant != 0 {
		data["For"] = names[t.Tenant]
	}
	tries, err := rq.App.Tests.Tries(rq.ctx(), rq.p, id, 0, testsTried)
	if t.Tenant == 0 && crowd.CodeOf(err) == crowd.Forbidden { // the installation's: how people fared is the admins' to know
		data["Mine"], err = false, nil
	}
	rq.check(err)
	data["Tries"], data["Out"] = tries, slices.ContainsFunc(tries, func(x accounts.TriedTest) bool { return x.Out })
	return rq.render("test", page{Title: t.Name, Section: "invitations", Data: data})
}

func (rq *request) retireTest(id int64) error {
	_, err := rq.App.Tests.Retire(rq.ctx(), rq.p, id, rq.sent().text("retired") != "")
	return rq.done(err, "/tests/"+strconv.FormatInt(id, 10), "saved")
}

// qualify lists the tests that somebody may take.
func (rq *request) qualify() error {
	return rq.render("qualify", page{Title: "Your tests", Section: "qualify", Data: map[string]any{"List": ask(rq, rq.App.Tests.Mine), "Nothing": rq.p.WhyNothing()}})
}

// question is a question of a running try as it is shown.
type question struct {
	N    int // from 1
	Task *taskData
}

// take shows a test: the questions of the try that runs, or how it went and
// whether there is another.
func (rq *request) take(id int64) error {
	return rq.showTake(askOf(rq, id, rq.App.Tests.Take), nil)
}

func (rq *request) showTake(v accounts.TestView, wrong crowd.Errors) error {
	pg := page{Title: v.Name, Section: "qualify"}
	var questions []question
	if v.Current != nil {
		pg.Script, pg.Task = "qualify.js", true
		if len(wrong) > 0 {
			again := crowd.Errorf(wrong[0].Code, "look at %s again: the answers marked below are missing or do not fit", plural(wrongQuestions(wrong), "question"))
			rq.form = &form{ID: "answers", Errs: []*crowd.Error{again}}
		}
		for i, q := range v.Current.Questions {
			questions = append(questions, question{i + 1, askedTask(q, rq.r.PostForm, wrong)})
		}
	}
	pg.Data = map[string]any{"V": v, "Questions": questions}
	return rq.render("take", pg)
}

func wrongQuestions(list []*crowd.Error) int {
	seen := map[string]bool{}
	for _, e := range list {
		name, _, _ := strings.Cut(e.Field, ".")
		seen[name] = true
	}
	return len(seen)
}

// askedTask is a question as a task whose controls are called "q1.label" and the
// like, so that many are in one form. Keys choose nothing: there are many.
func askedTask(q accounts.Asked, values url.Values, wrong []*crowd.Error) *taskData {
	t := newTask(q.View, "")
	t.values = values
	t.Controls = slices.Clone(t.Controls)
	for i := range t.Controls {
		c := &t.Controls[i]
		c.Name = q.Name + "." + c.Name
		c.Options = slices.Clone(c.Options)
		for j := range c.Options {
			c.Options[j].Key = ""
		}
	}
	for _, e := range wrong {
		if strings.HasPrefix(e.Field, q.Name+".") {
			t.errs = append(t.errs, e)
		}
	}
	return t
}

func (rq *request) startTry(id int64) error {
	_, err := rq.App.Tests.StartTry(rq.ctx(), rq.p, id)
	return rq.done(err, "/qualify/"+strconv.FormatInt(id, 10), "")
}

// submitTry takes the answers of a try. One that is not complete is asked about first if
// the button was to submit it unfinished, as it uses up the try.
func (rq *request) submitTry(id int64) error {
	values := rq.r.PostForm
	n, err := strconv.Atoi(values.Get("try"))
	if err != nil {
		return crowd.Fieldf("try", "%q is not a number", values.Get("try"))
	}
	answers, err := testAnswers(values)
	if err != nil {
		return err
	}
	unfinished := values.Get("unfinished")
	if unfinished == "back" {
		return rq.take(id) // with what is answered
	}
	_, err = rq.App.Tests.SubmitTry(rq.ctx(), rq.p, id, n, answers, unfinished == "1")
	var several crowd.Errors
	if errors.As(err, &several) {
		now, err2 := rq.App.Tests.Take(rq.ctx(), rq.p, id)
		if err2 != nil {
			return err2
		}
		switch {
		case now.Current == nil || now.Current.N != n:
		case unfinished == "ask":
			return rq.askUnfinished(now, wrongQuestions(several))
		default:
			return rq.showTake(now, several)
		}
	}
	return rq.done(err, "/qualify/"+strconv.FormatInt(id, 10), "") // the page says how it went
}

// askUnfinished asks before a try is submitted without some answers, which are all kept
// in the page that asks.
func (rq *request) askUnfinished(v accounts.TestView, without int) error {
	consequence := "It is your last try."
	if v.Left > 0 {
		consequence = "After it you have " + plural(v.Left, "try") + " left."
	}
	values := maps.Clone(rq.r.PostForm)
	delete(values, "unfinished")
	return rq.render("ask", page{Title: "Submit it unfinished?", Section: "qualify", Data: map[string]any{
		"Question": "Submit it unfinished?", "About": v.Name, "Verb": "Submit unfinished", "Danger": true, "Choice": "unfinished", "Hidden": values,
		"To": "/qualify/" + strconv.FormatInt(v.ID, 10) + "/answers",
		"Consequence": "Answered: " + strconv.Itoa(len(v.Current.Questions)-without) + " of " + strconv.Itoa(len(v.Current.Questions)) + ". What has no answer, or one that does not fit, counts as wrong. " +
			"This uses up try " + strconv.Itoa(v.Current.N) + " of " + strconv.Itoa(v.Test.Tries) + ", and cannot be undone. " + consequence,
	}})
}

// testAnswers makes the answers of a try from its form: "s.q1.NAME" is a text of
// the first question, "l.q1.NAME" a list.
func testAnswers(values url.Values) (map[string]json.RawMessage, error) {
	given := make(map[string]map[string]any)
	for key, list := range values {
		kind, rest, _ := strings.Cut(key, ".")
		name, control, found := strings.Cut(rest, ".")
		if !found || kind != "s" && kind != "l" {
			continue
		}
		if given[name] == nil {
			given[name] = make(map[string]any)
		}
		if kind == "s" {
			given[name][control] = list[0]
		} else {
			given[name][control] = list
		}
	}
	out := make(map[string]json.RawMessage, len(given))
	for name, answer := range given {
		text, err := json.Marshal(answer)
		if err != nil {
			return nil, err
		}
		out[name] = text
	}
	return out, nil
}
