package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// ruleRow is a rule in the form, with what is wrong with it.
type ruleRow struct {
	N          int // from 1
	When, Do   string
	Bad        string // what is wrong; "": nothing
	BadDo      bool   // with Do, not with When
	Good, Rest string // of the part that is wrong: up to the place, and from there on
	Column     int
}

// emptyRules is how many empty rows follow the rules of a form.
const emptyRules = 1

// poolFormData is the page of a pool's settings.
type poolFormData struct {
	V            control.PoolView
	S            url.Values // the settings as the form has them
	Rules        []ruleRow
	Elasticities []pool.Form
	Stabilities  []pool.Form
	Conditions   []condition.Name
	Tried        *tried
}

// Menu lists forms to choose from.
func (*poolFormData) Menu(forms []pool.Form) []choice {
	list := make([]choice, len(forms))
	for i, f := range forms {
		list[i] = choice{f.Name, f.Name}
	}
	return list
}

// Doc says what the form of a name does.
func (*poolFormData) Doc(forms []pool.Form, name string) string {
	for _, f := range forms {
		if f.Name == name {
			return sentence(f.Doc)
		}
	}
	return ""
}

// Default writes the default of an option.
func (*poolFormData) Default(o pool.Option) string {
	switch {
	case o.Default < 0:
		return "–"
	case o.Unit == "s":
		return seconds(o.Default).String()
	}
	return strconv.FormatFloat(o.Default, 'g', -1, 64)
}

// tried is what rules would have done within the last hour.
type tried struct {
	Steps   int // at which they were tried
	Fired   []pool.Tested
	More    int // steps at which they fired that are not listed
	Calls   int // people
	LetGo   int
	Quiet   bool
	Nothing bool // there is no past to try them on
}

// triedShown is how many steps of a try are listed, the latest first.
const triedShown = 20

func newTried(list []pool.Tested) *tried {
	t := &tried{Steps: len(list), Nothing: len(list) == 0}
	for _, x := range slices.Backward(list) {
		if len(x.Fired) == 0 {
			continue
		}
		t.Calls, t.LetGo = t.Calls+x.Recruit, t.LetGo+x.Release
		if len(t.Fired) < triedShown {
			t.Fired = append(t.Fired, x)
		} else {
			t.More++
		}
	}
	t.Quiet = len(t.Fired) == 0
	return t
}

// Step says what the rules would have done at a step.
func (*tried) Step(x pool.Tested) string { return stepText(x) }

// splitForm takes a text form apart: its name, and what is in its brackets.
func splitForm(text, usual string) (name, options string) {
	if text = strings.TrimSpace(text); text == "" {
		return usual, ""
	}
	name, rest, _ := strings.Cut(text, "(")
	return strings.TrimSpace(name), strings.TrimSuffix(rest, ")")
}

// joinForm makes a text form of the two. What is usual is "", as in a pool that
// nobody has set up.
func joinForm(usual, name, options string) string {
	options = strings.TrimSpace(options)
	switch {
	case options != "":
		return name + "(" + options + ")"
	case name == usual:
		return ""
	}
	return name
}

func inUnits(d, unit time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(unit), 'f', -1, 64)
}

func figure(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func whole(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// settingsOfPool is a pool's settings as the form has them.
func settingsOfPool(p store.Pool) url.Values {
	c, t := p.Control, p.Control.Target
	elastic, elasticOptions := splitForm(c.Elasticity, "static")
	stable, stableOptions := splitForm(c.Stability, "none")
	v := url.Values{
		"called": {ticked(p.Retainer.Called)}, "rate": {p.Retainer.Rate.String()}, "silence": {inUnits(p.Retainer.Silence, time.Second)},
		"promise": {inUnits(p.Retainer.Promise, time.Minute)}, "training": {strconv.Itoa(p.Retainer.Training)},
		"ask": {figure(p.Calling.Ask)}, "answer": {inUnits(p.Calling.Answer, time.Second)}, "life": {inUnits(p.Calling.Life, time.Minute)},
		"elasticity": {elastic}, "elasticity_options": {elasticOptions}, "stability": {stable}, "stability_options": {stableOptions},
		"balance": {ticked(c.Balance)}, "advise": {ticked(c.Advise)}, "min": {strconv.Itoa(c.Min)}, "max": {whole(c.Max)},
		"cooldown": {inUnits(c.Cooldown, time.Second)}, "window": {inUnits(c.Window, time.Minute)},
		"target.eta": {figure(t.Eta)}, "target.salary": {figure(t.Salary)}, "target.wait": {inUnits(t.Wait, time.Second)}, "target.tail": {figure(t.Tail)},
		"expect.task_time": {inUnits(c.Expect.TaskTime, time.Second)},
	}
	for _, r := range c.Rules {
		v["when"], v["rule_do"] = append(v["when"], r.When), append(v["rule_do"], r.Do)
	}
	return v
}

// rowsOf are the rules of a form with want empty rows after them.
func rowsOf(v url.Values, want int) []ruleRow {
	var rows []ruleRow
	for i := range max(len(v["when"]), len(v["rule_do"])) {
		rows = append(rows, ruleRow{N: i + 1, When: nth(v["when"], i), Do: nth(v["rule_do"], i)})
	}
	empty := 0
	for i := len(rows) - 1; i >= 0 && rows[i].blank(); i-- {
		empty++
	}
	for ; empty < want; empty++ {
		rows = append(rows, ruleRow{N: len(rows) + 1})
	}
	return rows
}

func nth(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

func (r *ruleRow) blank() bool {
	return strings.TrimSpace(r.When) == "" && strings.TrimSpace(r.Do) == ""
}

// rulesOf are the rules of rows that are not empty, and of each its row.
func rulesOf(rows []ruleRow) (rules []pool.Rule, at []int) {
	for i := range rows {
		if !rows[i].blank() {
			rules, at = append(rules, pool.Rule{When: strings.TrimSpace(rows[i].When), Do: strings.TrimSpace(rows[i].Do)}), append(at, i)
		}
	}
	return rules, at
}

// place puts what is wrong with a rule at its row, and reports whether err was
// about a rule.
func place(rows []ruleRow, err error) bool {
	var wrong *pool.RuleError
	if !errors.As(err, &wrong) {
		return false
	}
	_, at := rulesOf(rows)
	if wrong.Rule < 1 || wrong.Rule > len(at) {
		return false
	}
	row := &rows[at[wrong.Rule-1]]
	text := strings.TrimSpace(row.When)
	row.BadDo = wrong.Part == "do"
	if row.BadDo {
		text = strings.TrimSpace(row.Do)
	}
	row.Bad, row.Column = sentence(wrong.Message), wrong.Column
	lines := strings.Split(text, "\n")
	line := []rune(nth(lines, wrong.Line-1))
	cut := min(max(wrong.Column-1, 0), len(line))
	row.Good, row.Rest = string(line[:cut]), string(line[cut:])
	return true
}

// readPool reads the settings out of the form, on top of what p has.
func readPool(values url.Values, p store.Pool) (control.PoolEdit, error) {
	f := &fields{values: values}
	rules, _ := rulesOf(rowsOf(values, 0))
	retainer := engine.Retainer{
		Called: f.text("called") != "", Rate: f.money("rate"), Silence: f.scale("silence", time.Second),
		Promise: f.scale("promise", time.Minute), Training: f.whole("training"),
	}
	calling := store.Calling{Ask: f.number("ask"), Answer: f.scale("answer", time.Second), Life: f.scale("life", time.Minute)}
	c := p.Control
	c.Elasticity, c.Stability = joinForm("static", f.text("elasticity"), f.text("elasticity_options")), joinForm("none", f.text("stability"), f.text("stability_options"))
	c.Balance, c.Advise = f.text("balance") != "", f.text("advise") != ""
	c.Rules = rules
	c.Min, c.Max = f.whole("min"), f.whole("max")
	c.Cooldown, c.Window = f.scale("cooldown", time.Second), f.scale("window", time.Minute)
	c.Target = pool.Target{Eta: f.number("target.eta"), Salary: f.number("target.salary"), Wait: f.scale("target.wait", time.Second), Tail: f.number("target.tail")}
	c.Expect.TaskTime = f.scale("expect.task_time", time.Second)
	return control.PoolEdit{Retainer: &retainer, Calling: &calling, Control: &c}, f.err()
}

func (s *server) poolSettings(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.PoolID) error {
	v, err := s.App.Pools.Get(r.Context(), p, id)
	if err != nil {
		return err
	}
	return s.showPoolSettings(w, r, p, v, nil, nil)
}

// showPoolSettings shows the form: as kept, or as typed in f; with what came of
// trying the rules.
func (s *server) showPoolSettings(w http.ResponseWriter, r *http.Request, p *access.Principal, v control.PoolView, f *form, rows []ruleRow) error {
	return s.showTried(w, r, p, v, f, rows, nil)
}

func (s *server) showTried(w http.ResponseWriter, r *http.Request, p *access.Principal, v control.PoolView, f *form, rows []ruleRow, t *tried) error {
	d := &poolFormData{V: v, S: settingsOfPool(v.Pool), Rules: rows, Elasticities: pool.Elasticities(), Stabilities: pool.Stabilities(), Conditions: pool.Names(), Tried: t}
	if rows == nil {
		d.Rules = rowsOf(d.S, emptyRules)
	}
	return s.renderStatus(w, r, p, f.status(), "poolsettings", page{Title: "Settings of " + v.Name, Section: "admin", Script: "poolsettings.js", Form: f, Data: d})
}

// poolFormID is the form's id: what the fields' ids begin with.
const poolFormID = "control"

// editPoolSettings does what a button of the form says: saves it, tries its
// rules, or adds or removes a row.
func (s *server) editPoolSettings(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.PoolID) error {
	values := r.PostForm
	v, err := s.App.Pools.Get(r.Context(), p, id)
	if err != nil {
		return err
	}
	typed := &form{ID: poolFormID, Values: values}
	switch do := values.Get("then"); {
	case do == "add":
		return s.showPoolSettings(w, r, p, v, typed, rowsOf(values, emptyRules+1))
	case strings.HasPrefix(do, "remove-"):
		n, err := strconv.Atoi(strings.TrimPrefix(do, "remove-"))
		if err != nil {
			return errPage
		}
		for _, name := range []string{"when", "rule_do"} {
			if list := values[name]; n >= 1 && n <= len(list) {
				values[name] = slices.Delete(slices.Clone(list), n-1, n)
			}
		}
		return s.showPoolSettings(w, r, p, v, typed, rowsOf(values, emptyRules))
	case do == "try":
		return s.tryRules(w, r, p, v, typed)
	}
	edit, err := readPool(values, v.Pool)
	if err == nil {
		_, err = s.App.Pools.Update(r.Context(), p, id, edit)
	}
	if bad := refused(poolFormID, values, err); bad != nil {
		rows := rowsOf(values, emptyRules)
		place(rows, err)
		return s.showPoolSettings(w, r, p, v, bad, rows)
	}
	if err != nil {
		return err
	}
	return seeOther(w, r, "/admin/pools/"+id.String(), "saved")
}

// tryRules says what the rules of the form would have done within the last hour.
func (s *server) tryRules(w http.ResponseWriter, r *http.Request, p *access.Principal, v control.PoolView, typed *form) error {
	rows := rowsOf(typed.Values, emptyRules)
	rules, _ := rulesOf(rows)
	list, err := s.App.Pools.TestRules(r.Context(), p, v.Pool.ID, rules)
	if err == nil && len(rules) == 0 {
		err = crowd.Fieldf("rules", `write a rule first, such as when "queue > 10" do "recruit 1"`)
	}
	if bad := refused(poolFormID, typed.Values, err); bad != nil {
		place(rows, err)
		return s.showPoolSettings(w, r, p, v, bad, rows)
	}
	if err != nil {
		return err
	}
	return s.showTried(w, r, p, v, typed, rows, newTried(list))
}
