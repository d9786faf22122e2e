package web

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/kit/lists"
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
	Tenants      []store.Tenant
	S            url.Values // the settings as the form has them
	Rules        []ruleRow
	Elasticities []pool.Form
	Stabilities  []pool.Form
	Balancers    []pool.Form
	Conditions   []condition.Name
	Tried        *tried
}

// Menu lists forms to choose from.
func (*poolFormData) Menu(forms []pool.Form) []choice {
	return menu(forms, func(f pool.Form) choice { return choice{f.Name, f.Name} })
}

// OwnOr lists the balancers, after that of the server.
func (*poolFormData) OwnOr(balancers []pool.Form) []choice {
	return menu(balancers, func(f pool.Form) choice { return choice{f.Name, f.Name} }, choice{"", "as the server"})
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
	case o.Words != nil:
		return o.Words[0]
	case o.Default < 0:
		return "–"
	case o.Unit == "s":
		return instant.Seconds(o.Default).String()
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
func (*tried) Step(x pool.Tested) string {
	switch {
	case x.Recruit > 0:
		return fmt.Sprintf("call %d", x.Recruit)
	case x.Release > 0:
		return fmt.Sprintf("let %d go", x.Release)
	}
	return "–"
}

// bindPool goes over all settings of a pool.
func bindPool(b binding, p *store.Pool) {
	bindGrants(b, &p.Grants)
	b.tick("called", &p.Retainer.Called)
	b.amount("rate", &p.Retainer.Rate)
	b.span("silence", &p.Retainer.Silence, time.Second)
	b.span("promise", &p.Retainer.Promise, time.Second)
	b.integer("training", &p.Retainer.Training)
	b.figure("ask", &p.Calling.Ask)
	b.span("answer", &p.Calling.Answer, time.Second)
	b.span("life", &p.Calling.Life, time.Second)
	c := &p.Control
	b.figure("least_preference", &c.LeastPreference)
	b.textForm("elasticity", "static", &c.Elasticity)
	b.textForm("stability", "none", &c.Stability)
	b.tick("balance", &c.Balance)
	b.textForm("balancer", "", &c.Balancer)
	b.tick("advise", &c.Advise)
	b.integer("min", &c.Min)
	b.limit("max", &c.Max)
	b.tick("gate", &p.Gate)
	b.span("cooldown", &c.Cooldown, time.Second)
	b.span("window", &c.Window, time.Second)
	b.figure("target.eta", &c.Target.Eta)
	b.figure("target.salary", &c.Target.Salary)
	b.span("target.wait", &c.Target.Wait, time.Second)
	b.figure("target.tail", &c.Target.Tail)
	b.span("expect.task_time", &c.Expect.TaskTime, time.Second)
	if !b.filling {
		c.Rules, _ = rulesOf(rowsOf(b.values, 0))
		return
	}
	for _, r := range c.Rules {
		b.values.Add("when", r.When)
		b.values.Add("rule_do", r.Do)
	}
}

// rowsOf are the rules of a form with want empty rows after them.
func rowsOf(v url.Values, want int) []ruleRow {
	rows := lists.Map(lists.Indices(max(len(v["when"]), len(v["rule_do"]))), func(i int) ruleRow {
		return ruleRow{N: i + 1, When: nth(v["when"], i), Do: nth(v["rule_do"], i)}
	})
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

// place puts what is wrong with a rule at its row.
func place(rows []ruleRow, err error) {
	var wrong *pool.RuleError
	_, at := rulesOf(rows)
	if !errors.As(err, &wrong) || wrong.Rule < 1 || wrong.Rule > len(at) {
		return
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
}

// poolSettings shows the form: as kept, or as typed; with what came of trying the
// rules.
func (rq *request) poolSettings(id crowd.PoolID) error {
	v := askOf(rq, id, rq.App.Pools.Get)
	d := &poolFormData{V: v, Tenants: ask(rq, rq.App.Tenants.List), S: filled(v.Pool, bindPool), Elasticities: pool.Elasticities(), Stabilities: pool.Stabilities(), Balancers: pool.Balancers(), Conditions: pool.Names(), Tried: madeOf[*tried](rq)}
	d.Rules = rowsOf(d.S, emptyRules)
	f := rq.form
	if typed := f.typed(poolFormID); typed != nil {
		d.Rules = rowsOf(typed, emptyRules)
		if typed.Get("then") == "add" {
			d.Rules = rowsOf(typed, emptyRules+1)
		}
		for _, wrong := range f.Errs {
			place(d.Rules, wrong)
		}
	}
	return rq.render("poolsettings", page{Title: "Settings of " + v.Name, Section: "admin", Script: "poolsettings.js", Data: d})
}

// poolFormID is the form's id: what the fields' ids begin with.
const poolFormID = "control"

// editPoolSettings does what a button of the form says: saves it, tries its
// rules, or adds or removes a row.
func (rq *request) editPoolSettings(id crowd.PoolID) error {
	f := rq.sent()
	var trial *tried
	do, row, _ := strings.Cut(f.values.Get("then"), "-")
	switch do {
	case "add":
	case "remove":
		n, err := strconv.Atoi(row)
		if err != nil {
			return errPage
		}
		for _, name := range []string{"when", "rule_do"} {
			if list := f.values[name]; n >= 1 && n <= len(list) {
				f.values[name] = slices.Delete(slices.Clone(list), n-1, n)
			}
		}
	case "try":
		rules, _ := rulesOf(rowsOf(f.values, 0))
		if len(rules) == 0 {
			return crowd.Fieldf("rules", `write a rule first, such as when "queue > 10" do "recruit 1"`)
		}
		list, err := rq.App.Pools.TestRules(rq.ctx(), rq.p, id, rules)
		if err != nil {
			return err
		}
		trial = newTried(list)
	default:
		_, err := rq.App.Pools.Change(rq.ctx(), rq.p, id, saving(f, bindPool))
		return rq.done(err, "/admin/pools/"+id.String(), "saved")
	}
	rq.form, rq.made = &form{ID: poolFormID, Values: f.values}, trial
	return rq.poolSettings(id)
}
