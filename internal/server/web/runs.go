package web

import (
	"errors"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/diagram"
)

// runsShown is the number of runs on a page of the list. Each that has not ended
// is looked at, so there are not many.
const runsShown = 20

// runRow is a run in the list.
type runRow struct {
	store.Run
	Strip []stripCell // its steps; nil: it has ended, or cannot be looked at
	Alarm string      // what needs attention, or ""
}

// runs lists the runs of a tenant, or of all for an admin.
func (rq *request) runs() error {
	tenant, tenants := rq.chosenTenant(access.RunsList)
	before := idIn(rq, "before", crowd.ParseRunID)
	data := map[string]any{"Tenants": tenants, "Tenant": tenant, "Names": tenantNames(tenants), "All": rq.p.MayFor(access.RunsList, 0) == nil, "First": before == 0}
	var list []store.Run
	if tenant != 0 || rq.p.MayFor(access.RunsList, 0) == nil {
		var err error
		list, err = rq.App.Runs.List(rq.ctx(), rq.p, tenant, before, runsShown)
		rq.check(err)
	}
	rows := lists.Map(list, rq.runRow)
	data["Runs"] = rows
	if len(list) == runsShown {
		data["Before"] = list[len(list)-1].ID
	}
	return rq.render("runs", page{Title: "Workflows", Section: "runs", Data: data})
}

func (rq *request) runRow(run store.Run) runRow {
	row := runRow{Run: run}
	if run.State.Ended() {
		if run.State == store.RunDone {
			row.Strip = wholeStrip
		}
		return row
	}
	v, err := rq.App.Runs.Get(rq.ctx(), rq.p, run.ID)
	var wrong orchestrator.Problems
	switch {
	case errors.As(err, &wrong):
		row.Alarm = "its file cannot be read any more"
	case err != nil:
		rq.check(err)
	default:
		row.Run, row.Strip, row.Alarm = v.Run, stripOf(v), alarm(v)
	}
	return row
}

// alarm says in few words why a run needs somebody to look at it, or "".
func alarm(v *orchestrator.View) string {
	held, failed, waits, inputs := int64(0), "", "", 0
	for i := range v.Nodes {
		n := &v.Nodes[i]
		held += n.Faults
		switch {
		case n.State == store.NodeFailed:
			failed = n.Name
		case n.Error != "" && n.State != store.NodeDone:
			waits = n.Name + ": " + format.Clip(n.Error, 80)
		}
		if n.Step == nil && n.State != store.NodeDone {
			inputs++
		}
	}
	switch {
	case v.State.Ended():
		return ""
	case v.State == store.RunLoading && inputs > 0:
		return "needs " + plural(inputs, "file")
	case v.State == store.RunLoading:
		return "ready to start"
	case failed != "":
		return "step " + failed + " has failed"
	case held > 0:
		return plural(held, "item") + " held after errors"
	}
	return waits
}

// checkedFile is a workflow's file that was checked: its lines with what is wrong
// with them, or its picture.
type checkedFile struct {
	Flow     *workflow.Workflow
	Problems []workflow.Problem
	Lines    []codeLine
	Picture  template.HTML
	Notes    []string // of pools that do not look at its SLA
}

// codeLine is a line of a file. N is 0 for a gap between lines.
type codeLine struct {
	N            int
	Before, From string // From begins where the first problem is; "" if there is none
	Problems     []workflow.Problem
}

// What is shown of a file with problems.
const (
	wholeFile   = 400  // lines that are shown all
	aroundWrong = 4    // else those around each wrong one
	longLine    = 1000 // characters of a line
)

// checkFile checks a file for the tenant that is chosen; where none is, for any of the
// caller's.
func (rq *request) checkFile(values url.Values) (*checkedFile, error) {
	text := values.Get("text")
	tenant, err := crowd.ParseTenantID(values.Get("tenant"))
	if err != nil {
		tenant = 0
	}
	got, err := rq.App.Runs.Check(rq.ctx(), rq.p, orchestrator.NewRun{Tenant: tenant, Text: text})
	if err != nil {
		return nil, err
	}
	defer got.Done()
	c := newCheckedFile(text, got.Workflow, got.Problems)
	c.Notes = slices.Concat(got.Notes, got.Lacking)
	return c, nil
}

func newCheckedFile(text string, flow *workflow.Workflow, wrong []workflow.Problem) *checkedFile {
	c := &checkedFile{Flow: flow, Problems: wrong}
	if len(wrong) > 0 {
		c.Lines = codeLines(text, wrong)
		return c
	}
	c.Picture = inlined(diagram.Draw(flow, diagram.Options{}))
	return c
}

// codeLines puts problems next to the lines of a file. Those that name no line of
// it are told in the list above only.
func codeLines(text string, wrong []workflow.Problem) []codeLine {
	lines := strings.Split(strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD"), "\n")
	at := make(map[int][]workflow.Problem)
	near := make(map[int]bool)
	for _, x := range wrong {
		at[x.Line] = append(at[x.Line], x)
		for n := x.Line - aroundWrong; n <= x.Line+aroundWrong; n++ {
			near[n] = true
		}
	}
	var out []codeLine
	for i, line := range lines {
		if len(lines) > wholeFile && !near[i+1] {
			if len(out) == 0 || out[len(out)-1].N != 0 {
				out = append(out, codeLine{})
			}
			continue
		}
		x := codeLine{N: i + 1, Before: format.Clip(line, longLine), Problems: at[i+1]}
		if len(x.Problems) > 0 {
			x.Before, x.From = splitAt(x.Before, x.Problems[0].Column)
		}
		out = append(out, x)
	}
	return out
}

// splitAt splits a line before a column, from 1; what begins there is not empty
// unless the line is.
func splitAt(line string, column int) (before, from string) {
	chars := []rune(line)
	at := min(max(column-1, 0), max(len(chars)-1, 0))
	return string(chars[:at]), string(chars[at:])
}

// newRun shows the form of a new run, with what came of checking its file. It goes
// on from ?parent=, or begins with the file of ?like=, if that is there.
func (rq *request) newRun() error {
	tenants := rq.tenantsFor(access.RunsMake)
	query, f, checked := rq.r.URL.Query(), rq.form, madeOf[*checkedFile](rq)
	data := map[string]any{"Tenants": menu(tenants, tenantChoice), "Tenant": query.Get("tenant"), "Checked": checked, "Text": f.Val("run", "text", ""), "Name": "", "From": query.Get("from")}
	status := f.status()
	if checked != nil && len(checked.Problems) > 0 {
		status = http.StatusUnprocessableEntity
	}
	parent := f.Val("run", "parent", query.Get("parent"))
	from := parent
	if from == "" && f == nil {
		from = query.Get("like")
	}
	if from != "" {
		id, err := crowd.ParseRunID(from)
		if err != nil {
			return err
		}
		old, err := rq.App.Runs.Get(rq.ctx(), rq.p, id)
		if err != nil {
			return err
		}
		data["Text"], data["Name"], data["Tenant"] = f.Val("run", "text", old.Text), old.Name, old.Tenant.String()
		if parent != "" {
			flow := old.Flow
			if checked != nil && checked.Flow != nil {
				flow = checked.Flow
			}
			data["Parent"], data["Steps"] = old, stepMenu(flow)
		}
	}
	return rq.renderStatus(status, "newrun", page{Title: "New run", Section: "runs", Script: "newrun.js", Data: data})
}

// stepMenu is a menu of steps to begin again from.
func stepMenu(flow *workflow.Workflow) []choice {
	return menu(flow.Steps, func(step workflow.Step) choice { return choice{step.Name, step.Name} }, choice{"", "the beginning, with the same input files"})
}

// createRun checks a workflow's file and, if that was the button, makes a run.
// The script of the page has it checked as it is typed.
func (rq *request) createRun() error {
	values, err := readRunForm(rq.r)
	if err != nil {
		return err
	}
	text := values.Get("text")
	if rq.wantsJSON() {
		checked, err := rq.checkFile(values)
		if err != nil {
			return err
		}
		html := rq.fragment("newrun", "checked", checked)
		return rq.sendJSON(map[string]string{"html": html})
	}
	if strings.TrimSpace(text) == "" {
		return crowd.Fieldf("text", "paste a workflow, or choose its file")
	}
	again := &form{ID: "run", Values: values}
	if values.Get("then") != "make" {
		checked, err := rq.checkFile(values)
		if err != nil {
			return err
		}
		rq.form, rq.made = again, checked
		return rq.newRun()
	}
	made, err := rq.makeRun(values)
	var wrong orchestrator.Problems
	if errors.As(err, &wrong) {
		rq.form, rq.made = again, newCheckedFile(text, nil, wrong)
		return rq.newRun()
	}
	if err != nil {
		return err
	}
	if len(made.Notes) > 0 {
		rq.made = loading{Notes: made.Notes}
		return rq.run(made.Run.ID)
	}
	did := "made"
	if len(made.Needs) == 0 {
		did = "ready"
	}
	return rq.seeOther("/runs/"+made.Run.ID.String(), did)
}

// readRunForm reads the form of a new run, whose file takes the place of its
// text. Both are small.
func readRunForm(r *http.Request) (url.Values, error) {
	err := r.ParseMultipartForm(maxForm)
	if err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return nil, bodyError(err)
	}
	values := r.PostForm
	values.Set("text", strings.ReplaceAll(values.Get("text"), "\r\n", "\n")) // as browsers send it
	if err != nil {
		return values, nil
	}
	file, _, err := r.FormFile("file")
	if errors.Is(err, http.ErrMissingFile) {
		return values, nil
	}
	if err != nil {
		return nil, bodyError(err)
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err == nil && len(text) > 0 {
		values.Set("text", string(text))
	}
	return values, err
}

func (rq *request) makeRun(values url.Values) (orchestrator.Created, error) {
	f := fields{values: values}
	n := orchestrator.NewRun{Text: values.Get("text"), Name: f.text("name"), Budget: f.money("budget"), From: f.text("from"), AskAgain: f.text("ask_again") != "", RenewAges: f.text("renew_ages") != ""}
	n.Open = strings.FieldsFunc(f.text("open"), func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if n.Budget == 0 && f.text("budget") != "" {
		f.bad("budget", "0 is not a budget (more than 0, or leave it empty)")
	}
	var err error
	if n.Tenant, err = crowd.ParseTenantID(values.Get("tenant")); err != nil {
		f.bad("tenant", "choose one")
	}
	if text := f.text("parent"); text != "" {
		if n.Parent, err = crowd.ParseRunID(text); err != nil {
			f.bad("parent", "there is no such run")
		}
	}
	if err := f.err(); err != nil {
		return orchestrator.Created{}, err
	}
	return rq.App.Runs.Make(rq.ctx(), rq.p, n)
}
