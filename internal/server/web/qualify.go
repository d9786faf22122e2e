package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/httpkit"
)

// testsTried is how many tries are listed on a test's page.
const testsTried = 100

// tests is the page of those who give tests.
func (s *server) tests(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	tenants, err := s.App.Tenants.List(r.Context(), p)
	if err != nil {
		return err
	}
	list, err := s.testsOf(r, p, tenants)
	if err != nil {
		return err
	}
	return s.render(w, r, p, "tests", page{Title: "Tests", Section: "invitations", Script: "template.js", Data: map[string]any{
		"List": list, "TenantNames": tenantNames(tenants), "Tenants": tenantMenu(p, tenants, "the whole installation"), "Template": newTemplateForm("test", formOf(r), firstTemplate),
	}})
}

func (s *server) createTest(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	httpkit.Streaming(w)
	defer drain(r)
	f, file, err := readFields(r)
	n := accounts.NewTest{
		Tenant: f.menuTenant(), Name: f.text("name"), Grants: f.text("grants"), Draw: f.whole("draw"), PassMark: f.whole("pass_mark"), Tries: f.whole("tries"),
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
	n.Questions, n.Format = file, table.FormatOf(file.FileName())
	t, err := s.App.Tests.Create(r.Context(), p, n)
	return done(w, r, err, "/tests/"+strconv.FormatInt(t.ID, 10), "saved")
}

func (s *server) test(w http.ResponseWriter, r *http.Request, p *access.Principal, id int64) error {
	t, err := s.App.Tests.Get(r.Context(), p, id)
	if err != nil {
		return err
	}
	data := map[string]any{"T": t, "Mine": true, "For": "the whole installation"}
	if t.Tenant != 0 {
		tenants, err := s.App.Tenants.List(r.Context(), p)
		if err != nil {
			return err
		}
		data["For"] = tenantNames(tenants)[t.Tenant]
	}
	tries, err := s.App.Tests.Tries(r.Context(), p, id, 0, testsTried)
	if crowd.CodeOf(err) == crowd.NotFound { // the installation's: how people fared is the admins' to know
		data["Mine"], err = false, nil
	}
	if err != nil {
		return err
	}
	data["Tries"] = tries
	return s.render(w, r, p, "test", page{Title: t.Name, Section: "invitations", Data: data})
}

func (s *server) retireTest(w http.ResponseWriter, r *http.Request, p *access.Principal, id int64) error {
	_, err := s.App.Tests.Retire(r.Context(), p, id, sent(r).text("retired") != "")
	return done(w, r, err, "/tests/"+strconv.FormatInt(id, 10), "saved")
}

// qualify lists the tests that somebody may take.
func (s *server) qualify(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	list, err := s.App.Tests.Mine(r.Context(), p)
	if err != nil {
		return err
	}
	return s.render(w, r, p, "qualify", page{Title: "Your tests", Section: "qualify", Data: map[string]any{"List": list}})
}

// question is a question of a running try as it is shown.
type question struct {
	N    int // from 1
	Task *taskData
}

// take shows a test: the questions of the try that runs, or how it went and
// whether there is another.
func (s *server) take(w http.ResponseWriter, r *http.Request, p *access.Principal, id int64) error {
	v, err := s.App.Tests.Take(r.Context(), p, id)
	if err != nil {
		return err
	}
	return s.showTake(w, r, p, v, nil)
}

func (s *server) showTake(w http.ResponseWriter, r *http.Request, p *access.Principal, v accounts.TestView, wrong crowd.Errors) error {
	pg := page{Title: v.Name, Section: "qualify"}
	var questions []question
	if v.Current != nil {
		pg.Script, pg.Task = "qualify.js", true
		if len(wrong) > 0 {
			again := crowd.Errorf(wrong[0].Code, "look at %s again: the answers marked below are missing or do not fit", plural(wrongQuestions(wrong), "question"))
			r = showing(r, once{form: &form{ID: "answers", Errs: []*crowd.Error{again}}})
		}
		for i, q := range v.Current.Questions {
			questions = append(questions, question{i + 1, askedTask(q, r.PostForm, wrong)})
		}
	}
	pg.Data = map[string]any{"V": v, "Questions": questions}
	return s.render(w, r, p, "take", pg)
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

func (s *server) startTry(w http.ResponseWriter, r *http.Request, p *access.Principal, id int64) error {
	_, err := s.App.Tests.StartTry(r.Context(), p, id)
	return done(w, r, err, "/qualify/"+strconv.FormatInt(id, 10), "")
}

// submitTry takes the answers of a try.
func (s *server) submitTry(w http.ResponseWriter, r *http.Request, p *access.Principal, id int64) error {
	values := r.PostForm
	n, err := strconv.Atoi(values.Get("try"))
	if err != nil {
		return crowd.Fieldf("try", "%q is not a number", values.Get("try"))
	}
	answers, err := testAnswers(values)
	if err != nil {
		return err
	}
	_, err = s.App.Tests.SubmitTry(r.Context(), p, id, n, answers, values.Get("unfinished") != "")
	var several crowd.Errors
	if errors.As(err, &several) {
		now, err2 := s.App.Tests.Take(r.Context(), p, id)
		if err2 != nil {
			return err2
		}
		if now.Current != nil && now.Current.N == n {
			return s.showTake(w, r, p, now, several)
		}
	}
	return done(w, r, err, "/qualify/"+strconv.FormatInt(id, 10), "") // the page says how it went
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
