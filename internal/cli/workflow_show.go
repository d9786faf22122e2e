package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/internal/workflow"
)

// aRun is the run that a command is about.
type aRun struct {
	ID crowd.RunID `arg:"" name:"run" placeholder:"RUN" help:"The run, such as r3."`
	Remote
}

// WorkflowList is "throng workflow list".
type WorkflowList struct {
	Tenant string      `help:"Only of this tenant."`
	Before crowd.RunID `placeholder:"RUN" help:"Only runs before this one: for going on where a list ended."`
	Limit  int         `default:"100" help:"At most so many, up to 1000."`
	Remote
}

// Run lists the runs.
func (x *WorkflowList) Run(c *Context, r *remote) error {
	if x.Limit < 1 || x.Limit > 1000 {
		return wrong("limit", "must be from 1 to 1000, not %d", x.Limit)
	}
	tenant, err := r.tenant(x.Tenant)
	if err != nil {
		return err
	}
	list, err := r.Runs(c.Ctx, tenant, x.Before, x.Limit)
	return printTable(r, list, err, "ID|STATE|NAME|TENANT|PENALTY|CREATED|ENDED", func(v wire.RunHead) []any {
		return []any{v.ID, v.State + standstill(c, r, &v), v.Name, v.Tenant, v.PenaltyMicros, v.CreatedAt, v.EndedAt}
	})
}

// standstill is what of a run goes on only when somebody does something: all, or some steps.
// One that wants files, or its start, waits unless a file is just coming.
func standstill(c *Context, r *remote, head *wire.RunHead) string {
	if head.State != "running" && head.State != "loading" {
		return ""
	}
	run, err := r.Run(c.Ctx, head.ID)
	comes := slices.ContainsFunc(run.Nodes, func(n wire.RunNode) bool { return n.State == "running" })
	switch {
	case err != nil:
		return ""
	case run.Stuck:
		return ", stuck"
	}
	return when(len(waits(&run)) > 0 || run.State == "loading" && !comes, ", waits")
}

// WorkflowShow is "throng workflow show".
type WorkflowShow struct {
	aRun
	Slowest int `default:"3" help:"Items to show of each step, up to 100; 0: none."`
}

// runView is a run with its slowest items.
type runView struct {
	wire.Run
	Slowest []wire.SlowItem `json:"slowest"`
}

// Run shows the run.
func (x *WorkflowShow) Run(c *Context, r *remote) error {
	if x.Slowest < 0 || x.Slowest > 100 {
		return wrong("slowest", "must be from 0 to 100, not %d", x.Slowest)
	}
	run, err := r.Run(c.Ctx, x.ID)
	if err != nil {
		return err
	}
	v := runView{run, []wire.SlowItem{}}
	if x.Slowest > 0 && !run.Ended() {
		if v.Slowest, err = r.SlowestItems(c.Ctx, run.ID, x.Slowest); err != nil {
			if code := crowd.CodeOf(err); code != crowd.Forbidden && code != crowd.NotFound {
				return err
			}
			v.Slowest = []wire.SlowItem{} // who does not see results is not shown single items
		}
	}
	return x.print(c, v, func(w io.Writer) {
		showRun(w, &run)
		if len(v.Slowest) == 0 {
			return
		}
		say(w, "\nlongest on their way\n")
		perItem := run.SLA == "item"
		header := when(len(run.Classes) > 0, "CLASS|") + "ITEM|STEP|FOR|HERE FOR|EARLIEST END|" + when(perItem, "PENALTY THEN|") + "WAITS"
		writeTable(w, v.Slowest, header, func(s wire.SlowItem) (row []any) {
			if len(run.Classes) > 0 {
				row = append(row, s.Class)
			}
			row = append(row, s.Item, s.Step, ago(s.Born), ago(s.Since), cmp.Or(stamp(s.Ends), "not known"))
			if perItem {
				row = append(row, knownMoney(s.PenaltyMicros))
			}
			return append(row, s.Why)
		})
	})
}

// knownMoney is an amount as it is shown, or says that it is not known.
func knownMoney(m *crowd.Money) string {
	if m == nil {
		return "not known"
	}
	return m.String()
}

func ago(t time.Time) string { return max(now().Sub(t), 0).Round(time.Second).String() }

// wayOut names the commands that get a run going that is stuck: only items can
// be given up, not a step that has failed as a whole.
func wayOut(r *wire.Run) string {
	step := "STEP"
	for i := range r.Nodes {
		if r.Nodes[i].Held > 0 {
			return fmt.Sprintf("retry (throng workflow retry %[1]s) or skip (throng workflow skip %[1]s)", r.ID)
		}
		if r.Nodes[i].State == "failed" {
			step = r.Nodes[i].Name
		}
	}
	return fmt.Sprintf("retry (throng workflow retry %[1]s) or cancel (throng workflow cancel %[1]s; then throng workflow run FILE --from-run %[1]s --from %[2]s goes on with what is done)", r.ID, step)
}

// waits are the steps that wait for something outside the run, such as money or
// people, each with what it waits for.
func waits(r *wire.Run) (list []string) {
	for i := range r.Nodes {
		if n := &r.Nodes[i]; n.Error != "" && n.State != "failed" {
			list = append(list, withRemedy(n.Name+": "+n.Error, n.AddBudget))
		}
		if n := &r.Nodes[i]; n.Lift != "" {
			list = append(list, withRemedy(n.Name+": "+crowd.EmergencyStop.Text(), n.Lift))
		}
		if n := &r.Nodes[i]; n.Short != "" {
			what := ": it cannot finish: "
			if n.Waiting+n.Inside == 0 {
				what = ": it cannot finish what may come to it: "
			}
			list = append(list, withRemedy(n.Name+what+n.Short, n.Remedy))
		}
		if n := &r.Nodes[i]; n.Blocked != "" && n.Error == "" && n.Lift == "" && n.Short == "" {
			list = append(list, n.Name+": "+n.Blocked)
		}
	}
	return list
}

// openNames lists the inputs that take rows.
func openNames(r *wire.Run) (list []string) {
	for i := range r.Nodes {
		if r.Nodes[i].Open {
			list = append(list, r.Nodes[i].Name)
		}
	}
	return list
}

// openInputs names the inputs that take rows, and what adds and ends them.
func openInputs(r *wire.Run) string {
	list := openNames(r)
	if len(list) == 0 || r.State == "loading" {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s; to add rows: %s; to end it: throng workflow rows seal %s", strings.Join(list, ", "), addRows(r.ID, len(list) > 1), r.ID)
}

// addRows is the command that adds rows to an open input of a run, of which there may be
// several.
func addRows(id crowd.RunID, several bool) string {
	return fmt.Sprintf("throng workflow rows add %s --file FILE%s", id, when(several, " --input NAME"))
}

// doneWords says when a run is done, or why that is not known, as the run's page does; "" if
// nothing is on its way.
func doneWords(r *wire.Run) string {
	var o orchestrator.Outlook
	if r.Outlook != nil {
		o = orchestrator.Outlook(*r.Outlook)
	}
	open := openNames(r)
	if r.State == "loading" {
		open = nil
	}
	done, by := o.Words(now(), stamp, open)
	return done + when(by != "", " ("+by+")")
}

// predicted says what the items on their way will cost on top; "": nothing.
func predicted(r *wire.Run) string {
	p, going := r.PredictedMicros, when(r.Going > 0, ", for "+format.Count(int(r.Going), "item")+" on their way")
	switch {
	case p == nil:
		return "not known" + going
	case *p == 0:
		return ""
	}
	return foreseen(r, p) + " more" + going
}

// foreseen is a penalty that is foreseen of a run, or of a class of its items.
func foreseen(r *wire.Run, m *crowd.Money) string {
	if m == nil {
		return "not known"
	}
	// That it is at least nothing the server leaves out: of a class with no item on its way it
	// is nothing, whatever the others cost.
	return orchestrator.Foreseen{Predicted: *m, AtLeast: r.PredictedAtLeast && *m > 0}.Words()
}

// showRun prints a run for people.
func showRun(w io.Writer, r *wire.Run) {
	state := r.State + when(r.Stuck, ", stuck: say "+wayOut(r))
	if list := waits(r); !r.Stuck && !r.Ended() && len(list) > 0 {
		state += ", waits: " + strings.Join(list, "; ")
	}
	pairs(w, "run", r.ID.String()+" "+r.Name, "state", state, "tenant", r.Tenant,
		"goes on from", when(r.Parent != 0, r.Parent.String()+when(r.RedoLabels > 0, ", as "+labelsWere(r.RedoLabels)+" corrected in it")+when(r.From != "", ", from "+r.From)+when(r.RenewAges, ", ages renewed")), "needs", strings.Join(r.Needs, ", "),
		"open", openInputs(r),
		"spent", r.SpentMicros.String()+when(r.BudgetMicros > 0, " of "+r.BudgetMicros.String()),
		"penalty", when(r.SLA != "", r.PenaltyMicros.String())+when(r.ItemsEnded > 0, fmt.Sprintf(", %d of %d items late", r.ItemsLate, r.ItemsEnded)),
		"predicted", predicted(r),
		"corrected", withRemedy(r.Corrected, r.CorrectedRemedy), "done anew as", when(r.RedoneAs != 0, r.RedoneAs.String()),
		"note", strings.Join(r.Notes, "; "),
		"done", doneWords(r), "deadline", r.Deadline, "created", r.CreatedAt, "started", r.StartedAt, "ended", r.EndedAt)
	if len(r.Classes) > 0 {
		say(w, "\n")
		writeTable(w, r.Classes, "CLASS|ENDED|LATE|IN TIME|PENALTY|GOING|PREDICTED", func(x wire.RunClass) []any {
			return []any{x.Class, x.Ended, x.Late, when(x.Judged > 0, fixed(1, 100*x.InTime)+" %"), x.PenaltyMicros, x.Going, foreseen(r, x.PredictedMicros)}
		})
	}
	say(w, "\n")
	writeTable(w, r.Nodes, "STEP|KIND|STATE|IN|OK|SKIPPED|FAILED|HELD|WAITING|INSIDE|ANSWERS", func(n wire.RunNode) []any {
		state := n.State
		if r.State != "running" && state != "done" && state != "failed" {
			state = r.State // none of its steps runs
		}
		switch {
		case n.Open && r.State != "loading":
			state = "open"
		case n.Blocked != "" && state == "running":
			state = "blocked"
		case n.Enough != "" && state == "running":
			state = "had enough"
		case n.HasEnough && state == "running":
			state = "has enough"
		case n.EndedEarly && state == "running":
			state = "ended early"
		}
		return []any{n.Name, n.Kind, state, n.In, n.OK, n.Skipped, n.Failed, n.Held, n.Waiting, n.Inside, when(workflow.Kind(n.Kind).AsksPeople(), strconv.Itoa(n.Answers))}
	})
	showStepNotes(w, r)
}

// WorkflowItems is "throng workflow items".
type WorkflowItems struct {
	aRun
	Step  string `xor:"what" help:"What this step has done, in order."`
	Item  int64  `xor:"what" placeholder:"N" help:"The way of this item."`
	After int64  `help:"Go on with the number seen last."`
	Limit int    `default:"100" help:"At most so many, up to 1000."`
}

// Run lists the items.
func (x *WorkflowItems) Run(c *Context, r *remote) error {
	switch {
	case x.Item < 0:
		return wrong("item", "items are numbered from 1, so %d is none", x.Item)
	case x.Limit < 1 || x.Limit > 1000:
		return wrong("limit", "must be from 1 to 1000, not %d", x.Limit)
	case x.After < 0:
		return wrong("after", "must be at least 0, not %d", x.After)
	}
	switch {
	case x.Item > 0:
		return x.path(c, r)
	case x.Step != "":
		return x.done(c, r)
	}
	list, err := r.Faults(c.Ctx, x.ID, x.After, x.Limit)
	return printTable(r, list, err, "ITEM|STEP|SINCE|TRIES|ERROR", func(f wire.Fault) []any {
		return []any{f.Item, f.Step, f.At, f.Tries, f.Error}
	})
}

func (x *WorkflowItems) path(c *Context, r *remote) error {
	list, err := r.ItemPath(c.Ctx, x.ID, x.Item)
	return printTable(r, list, err, "STEP|KIND|ITEM|STATE|AT|WITH", func(s wire.ItemStop) []any {
		with := s.Error
		if s.Error == "" {
			pairs := lists.Map(slices.Sorted(maps.Keys(s.Values)), func(name string) string { return name + "=" + oneLine(s.Values[name]) })
			with = strings.Join(pairs, " ") + when(s.Corrected, " (corrected)")
		}
		return []any{s.Step, s.Kind, s.Item, s.State, s.At, with}
	})
}

// oneLine is a value on a line that does not fill the screen.
func oneLine(s string) string {
	return format.Clip(strings.Join(strings.Fields(s), " "), 60)
}

func (x *WorkflowItems) done(c *Context, r *remote) error {
	list, err := r.Items(c.Ctx, x.ID, x.Step, x.After, x.Limit)
	if err == nil && len(list) == 0 && !x.JSON {
		say(c.Stdout, "%s has done nothing more yet: of what is there, throng workflow show %s tells\n", clean(x.Step), x.ID)
		return nil
	}
	return printTable(r, list, err, "N|ITEM|STATE|AT|ADDS", func(i wire.Item) []any {
		adds := i.Error
		if adds == "" {
			adds = oneLine(strings.Join(i.Values, ", ")) + when(i.Corrected, " (corrected)")
		}
		return []any{i.N, i.Item, i.State, i.At, adds}
	})
}

// WorkflowResults is "throng workflow results".
type WorkflowResults struct {
	ID     crowd.RunID `arg:"" name:"run" placeholder:"RUN" help:"The run, such as r3."`
	What   string      `arg:"" optional:"" help:"An output, a step or an input; an output before a step of the same name."`
	Out    string      `help:"File to write; default: standard output." placeholder:"FILE"`
	Format string      `help:"csv, tsv, jsonl or parquet; default: by the name of the file, or what the workflow says." placeholder:"FORMAT"`
	Failed bool        `help:"Rows of a step: the items that were given up, too, with nothing but the column _error."`
	Guarded
	Remote
}

// Run downloads the rows.
func (x *WorkflowResults) Run(c *Context, r *remote) error {
	format, err := formatOut(x.Format, x.Out)
	if err != nil {
		return err
	}
	if format == table.Auto && x.JSON && !toFile(x.Out) {
		format = table.JSONL
	}
	if x.JSON && !toFile(x.Out) && format != table.JSONL {
		return wrong("format", "--json prints JSON Lines: leave --format out, or give --out")
	}
	form, err := x.form(format)
	if err != nil {
		return err
	}
	run, err := r.Run(c.Ctx, x.ID)
	if err != nil {
		return err
	}
	if x.What == "" {
		return wrong("what", "say what of %s: %s", run.ID, resultsOf(&run))
	}
	output := slices.ContainsFunc(run.Outputs, func(o wire.RunFile) bool { return o.Name == x.What })
	if output && x.Failed {
		return wrong("failed", "goes with a step, and %s is an output", x.What)
	}
	return x.saveTo(c, x.Out, func(w io.Writer) error {
		if output {
			return r.RunOutput(c.Ctx, run.ID, x.What, w, form)
		}
		return r.RunResults(c.Ctx, run.ID, x.What, w, form, x.Failed)
	})
}

// resultsOf names what there is to download of a run.
func resultsOf(run *wire.Run) string {
	outputs := joined(run.Outputs, func(o wire.RunFile) string { return o.Name })
	rest := joined(run.Nodes, func(n wire.RunNode) string { return n.Name })
	return when(outputs != "", "an output ("+outputs+"), or ") + "an input or a step (" + rest + ")"
}

// printRun prints what became of a run.
func (r *remote) printRun(run wire.Run, err error) error {
	return r.tell(run, err, "%s %s: %s\n", run.ID, clean(run.Name), run.State)
}

// WorkflowMove is "throng workflow pause", "resume" and "cancel".
type WorkflowMove struct{ aRun }

// Run makes the move that the command is named after.
func (x *WorkflowMove) Run(c *Context, r *remote, v verb) error {
	return r.printRun(r.MoveRun(c.Ctx, x.ID, string(v)))
}

// WorkflowRedo is "throng workflow redo".
type WorkflowRedo struct{ aRun }

// Run does the run anew.
func (x *WorkflowRedo) Run(c *Context, r *remote) error {
	run, err := r.RedoRun(c.Ctx, x.ID)
	return r.tell(run, err, "%s %s: %s; it does %s anew, as %s corrected in it\n", run.ID, clean(run.Name), run.State, x.ID, labelsWere(run.RedoLabels))
}

// labelsWere is how many labels were.
func labelsWere(n int64) string {
	return format.Count(int(n), "label") + when(n == 1, " was") + when(n != 1, " were")
}

// WorkflowTopUp is "throng workflow top-up".
type WorkflowTopUp struct {
	aRun
	Amount amount `arg:"" help:"How much, such as 10 or 0.5."`
}

// Run raises the budget.
func (x *WorkflowTopUp) Run(c *Context, r *remote) error {
	run, err := r.TopUpRun(c.Ctx, x.ID, x.Amount.Money)
	return r.tell(run, err, "%s %s: %s, may spend %s, has spent %s\n", run.ID, clean(run.Name), run.State, run.BudgetMicros, run.SpentMicros)
}

// endedEarly tells of a step that somebody ended.
func endedEarly(n *wire.RunNode, r *wire.Run) string {
	if n.State == "done" || r.Ended() {
		return clean(n.Name) + ": ended early: its items without a label failed"
	}
	return clean(n.Name) + ": ended early: it asks nobody, and what comes to it fails"
}

// WorkflowEnd is "throng workflow end".
type WorkflowEnd struct {
	aRun
	Step string `arg:"" help:"The crowd step."`
}

// Run ends the step.
func (x *WorkflowEnd) Run(c *Context, r *remote) error {
	run, err := r.EndStep(c.Ctx, x.ID, x.Step)
	return r.tell(run, err, "%s %s: %s; %s asks nobody any more, and what comes to it fails\n", run.ID, clean(run.Name), run.State, clean(x.Step))
}

// WorkflowRetry is "throng workflow retry".
type WorkflowRetry struct {
	aRun
	Step string `help:"Of this step only."`
}

// Run tries again.
func (x *WorkflowRetry) Run(c *Context, r *remote) error {
	did, err := r.RetryRun(c.Ctx, x.ID, x.Step)
	return r.tell(did, err, "tried again: %s, %s\n", format.Count(did.Items, "item"), format.Count(did.Steps, "step"))
}

// WorkflowSkip is "throng workflow skip".
type WorkflowSkip struct {
	aRun
	Step string `help:"Of this step only."`
}

// Run gives them up.
func (x *WorkflowSkip) Run(c *Context, r *remote) error {
	did, err := r.SkipRun(c.Ctx, x.ID, x.Step)
	return r.tell(map[string]int{"items": did.Items}, err, "given up: %s\n", format.Count(did.Items, "item"))
}
