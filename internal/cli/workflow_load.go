package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/sim/report"
	"github.com/throng-dev/throng/internal/sim/scenario"
	"github.com/throng-dev/throng/internal/sim/workflows"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/sched"
)

// WorkflowSimulate is "throng workflow simulate".
type WorkflowSimulate struct {
	File     string      `arg:"" help:"The workflow, a YAML file; - for standard input."`
	Arrivals *string     `placeholder:"RATE" help:"When items come: a rate such as 30/h (at random), or the time between two, such as 2m or lognormal(mean=2m,sd=1m); with --for, at most 1,000,000 items."`
	For      *span       `placeholder:"TIME" help:"For how long items come; what has come is done to the end. Default: 8h."`
	Policy   *string     `placeholder:"A,B,C" help:"Policies to compare, separated by commas; default: that of a new pool, and penalty."`
	Workers  []string    `sep:"none" placeholder:"N" help:"People in each pool, such as 5; 5,9 compares two crowds; main=5,experts=2 for each pool. Once for each crowd. Default: 5."`
	Input    []inputFile `sep:"none" placeholder:"NAME=PATH" help:"A file from which rows of an input are drawn; once for each. Without one they are made up."`
	RowsOfFile
	Model  string     `placeholder:"FILE" help:"A YAML file with models of the services and people, and any of these settings."`
	Each   string     `placeholder:"row|run" help:"What an arrival is: a row of the inputs, or a run of its own; default: what suits the workflow."`
	Rows   *int       `placeholder:"N" help:"Rows of each input in a run; default: all of its file."`
	Budget *amount    `placeholder:"AMOUNT" help:"The most that the answers of a run may cost; default: what the file says."`
	Reps   *int       `placeholder:"N" help:"Repetitions; default: 5."`
	Seed   *uint64    `placeholder:"S" help:"Seed of all that is random; default: 1."`
	Out    *newFolder `placeholder:"DIR" help:"New folder for the report, or an old report to replace."`
	Output
}

// What is simulated where nothing is said.
const (
	defaultLoad    = 8 * time.Hour
	defaultWorkers = 5
	defaultReps    = 5
)

// Run simulates the workflow under the load.
func (x *WorkflowSimulate) Run(c *Context) (err error) {
	ctx, stop := c.untilFirstSignal()
	defer stop()
	flow, text, err := loadWorkflow(c, x.File)
	if err != nil {
		return err
	}
	dir := ""
	if x.Out != nil {
		dir = string(*x.Out)
		if err := report.CheckDir(dir); err != nil {
			return err
		}
	}
	tables, err := x.tables(ctx, c, flow)
	if err != nil {
		return err
	}
	model := &scenario.WorkflowModel{}
	if x.Model != "" {
		if model, err = x.model(c, flow, tables); err != nil {
			return err
		}
	}
	plan, err := x.plan(flow, text, model)
	if err != nil {
		return err
	}
	plan.Load.Tables = tables
	if err := x.size(flow, plan); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "throng-workflow-*")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(scratch)) }()
	plan.Open = func(ctx context.Context) (store.Store, func() error, error) { return scratchStore(ctx, scratch) }
	comparison, seconds, err := simulate(ctx, c, "runs", func(progress func(done, total int)) (*workflows.Comparison, error) {
		plan.Progress = progress
		return plan.Do(ctx)
	})
	if err != nil {
		return ofWorkflow(x.File, err)
	}
	r := report.NewWorkflowReport(comparison, flow.Name)
	r.About, r.Source, r.WallS, r.Runs = model.About, text, seconds, plan.Load.Runs
	r.Load, r.Notes = loadWords(plan), slices.Concat(x.notes(flow, plan), emptyClasses(r), passedBy(r, flow), nothingCame(r), r.GaveUp(), r.DeadEnds())
	if dir != "" {
		if err := r.Write(ctx, dir); err != nil {
			if ctx.Err() != nil {
				return errInterrupted
			}
			return err
		}
	}
	return x.print(c, r, func(w io.Writer) { writeWorkflowReport(w, r, dir) })
}

// size refuses what would take more than a machine has.
func (x *WorkflowSimulate) size(flow *workflow.Workflow, p *workflows.Plan) error {
	items := p.Load.Items(flow)
	if items <= workflows.MaxItems {
		return nil
	}
	number := fmt.Sprintf("%.2g", items)
	if items < 1e15 {
		number = format.WithCommas(int(items), "item")
	} else {
		number += " items"
	}
	what := "for"
	if x.Arrivals != nil {
		what = "arrivals"
	}
	return wrong(what, "--arrivals and --for %s make %s come in each repetition%s: at most %s", p.Load.For, number,
		when(p.Load.Runs, " (with the rows of each run)"), format.WithCommas(workflows.MaxItems, "item")+" are simulated")
}

// scratchStore opens a store of its own in a folder.
func scratchStore(ctx context.Context, folder string) (store.Store, func() error, error) {
	dir, err := os.MkdirTemp(folder, "run-*")
	if err != nil {
		return nil, nil, err
	}
	st, err := sqlite.Open(ctx, filepath.Join(dir, "run.db"), sqlite.Options{Scratch: true})
	if err != nil {
		return nil, nil, err
	}
	return st, func() error { return cmp.Or(st.Close(), os.RemoveAll(dir)) }, nil
}

// plan puts together what is said by flags, then by the model file, then by default.
func (x *WorkflowSimulate) plan(flow *workflow.Workflow, text string, m *scenario.WorkflowModel) (*workflows.Plan, error) {
	if err := x.Budget.check(); err != nil {
		return nil, err
	}
	if err := flow.CheckBudget(x.Budget.orNone()); err != nil {
		return nil, err
	}
	p := &workflows.Plan{
		Text: text, Models: m.Steps, Services: m.Services, Budget: x.Budget.orNone(), Seed: cmp.Or(m.Seed, 1), Reps: cmp.Or(m.Reps, defaultReps),
		Policies: m.Policies, Workers: m.Workers,
		Load: workflows.Load{For: cmp.Or(m.For, defaultLoad), Rows: m.Rows, Cells: m.Inputs, Runs: workflows.ArriveAsRuns(flow)},
	}
	if x.For != nil {
		if p.Load.For = x.For.Duration; p.Load.For <= 0 {
			return nil, wrong("for", "must be more than 0, not %s", x.For.Duration)
		}
	}
	if x.Reps != nil {
		p.Reps = *x.Reps
	}
	if x.Seed != nil {
		p.Seed = *x.Seed
	}
	if err := x.arrivals(p, m); err != nil {
		return nil, err
	}
	if err := x.each(p, flow, m); err != nil {
		return nil, err
	}
	if err := x.compared(p, flow); err != nil {
		return nil, err
	}
	return p, nil
}

// model reads the model file of a workflow.
func (x *WorkflowSimulate) model(c *Context, flow *workflow.Workflow, tables map[string]*workflows.Table) (*scenario.WorkflowModel, error) {
	of := scenario.ModelOf{Flow: flow, Columns: make(map[string][]string)}
	for name, t := range tables {
		of.Columns[name] = t.Columns
	}
	m, _, err := loadFile(c, x.Model,
		func(path string) (*scenario.WorkflowModel, []byte, error) {
			return scenario.LoadWorkflowModel(path, of)
		},
		func(name string, in io.Reader) (*scenario.WorkflowModel, []byte, error) {
			return scenario.ReadWorkflowModel(name, in, of)
		})
	return m, err
}

func (x *WorkflowSimulate) arrivals(p *workflows.Plan, m *scenario.WorkflowModel) (err error) {
	switch {
	case x.Arrivals != nil:
		p.Load.Arrivals, err = scenario.ParseArrivals(*x.Arrivals, p.Load.For)
	case m.Arrive != nil:
		p.Load.Arrivals = *m.Arrive
	default:
		err = wrong("arrivals", "is missing: when items come, such as --arrivals 30/h")
	}
	return err
}

// each sets what an arrival is.
func (x *WorkflowSimulate) each(p *workflows.Plan, flow *workflow.Workflow, m *scenario.WorkflowModel) error {
	switch each := cmp.Or(x.Each, m.Each); each {
	case "":
	case "row", "run":
		p.Load.Runs = each == "run"
	default:
		return wrong("each", "%q is neither row nor run", each)
	}
	if !p.Load.Runs && len(workflows.Streams(flow)) == 0 {
		return wrong("each", "no step streams an input, so rows cannot come one by one: --each run has each arrival be a run")
	}
	if x.Rows == nil && x.Each == "" && m.Rows > 0 && !p.Load.Runs {
		return wrong("rows", "of the model goes with each: run: here each arrival is one row")
	}
	if x.Rows != nil {
		if p.Load.Rows = *x.Rows; p.Load.Rows < 1 || p.Load.Rows > workflows.MaxTable {
			return wrong("rows", "must be from 1 to %d, not %d", workflows.MaxTable, p.Load.Rows)
		}
		if !p.Load.Runs {
			return wrong("rows", "goes with --each run: here each arrival is one row")
		}
	}
	return nil
}

// compared sets the policies and the crowds.
func (x *WorkflowSimulate) compared(p *workflows.Plan, flow *workflow.Workflow) error {
	policies, err := givenPolicies(x.Policy)
	if err != nil {
		return err
	}
	if policies != nil {
		p.Policies = policies
	}
	if p.Policies == nil {
		p.Policies = []string{sched.Default, "penalty"}
	}
	for i, policy := range p.Policies {
		made, err := scenario.ParseHandsOut(policy)
		if err != nil {
			return err
		}
		if p.Policies[i] = made.Name(); slices.Contains(p.Policies[:i], made.Name()) {
			return wrong("policy", "%s is in the list twice", policy)
		}
	}
	if len(x.Workers) > 0 {
		p.Workers = nil
	}
	for _, text := range x.Workers {
		list, err := scenario.SplitWorkers(text)
		if err != nil {
			return err
		}
		p.Workers = append(p.Workers, list...)
	}
	if len(p.Workers) == 0 {
		p.Workers = []scenario.Workers{{Each: defaultWorkers}}
	}
	return differentCrowds(p.Workers, flow)
}

// differentCrowds refuses to compare a crowd with itself, also under two names.
func differentCrowds(list []scenario.Workers, flow *workflow.Workflow) error {
	asked := poolsOf(flow)
	for i, crowd := range list {
		for _, before := range list[:i] {
			if reflect.DeepEqual(before, crowd) {
				return wrong("workers", "%s is in the list twice", crowd)
			}
			if len(asked) > 0 && !slices.ContainsFunc(asked, func(pool string) bool { return before.In(pool) != crowd.In(pool) }) {
				return wrong("workers", "%s and %s are the same crowd: as many people in each pool that a step asks (%s)", before, crowd, strings.Join(asked, ", "))
			}
		}
	}
	return nil
}

// poolsOf lists the pools whose people the steps of a workflow ask, in order of these.
func poolsOf(flow *workflow.Workflow) (pools []string) {
	for i := range flow.Steps {
		if c := flow.Steps[i].Crowd(); c != nil && !slices.Contains(pools, cmp.Or(c.Pool, "main")) {
			pools = append(pools, cmp.Or(c.Pool, "main"))
		}
	}
	return pools
}

// tables reads the files of the inputs.
func (x *WorkflowSimulate) tables(ctx context.Context, c *Context, flow *workflow.Workflow) (map[string]*workflows.Table, error) {
	if x.RowsOfFile.given() != "" && len(x.Input) == 0 {
		return nil, wrong(x.RowsOfFile.given(), "goes with --input: no file is read")
	}
	files := WorkflowRun{Input: x.Input, RowsOfFile: x.RowsOfFile}
	rows, closeAll, err := files.openInputs(ctx, c)
	defer closeAll()
	if err != nil {
		return nil, err
	}
	tables := make(map[string]*workflows.Table)
	for name, file := range rows {
		i := slices.IndexFunc(flow.Inputs, func(in workflow.Input) bool { return in.Name == name })
		if i < 0 {
			return nil, wrong("input", "the workflow has no input %q (it has %s)", name, joined(flow.Inputs, func(in workflow.Input) string { return in.Name }))
		}
		if tables[name], err = workflows.ReadTable(file, &flow.Inputs[i]); err != nil {
			return nil, files.ofInput(err)
		}
	}
	for _, in := range x.Input {
		dropped := int64(0)
		if file, is := rows[in.name].(*table.Distinct); is {
			dropped = file.Dropped
		}
		c.tellFile(in.path, rows[in.name].Delimiter().String(), dropped)
	}
	return tables, nil
}

// loadWords says what came.
func loadWords(p *workflows.Plan) []string {
	what := "rows"
	if p.Load.Runs {
		what = "runs"
	}
	a := p.Load.Arrivals
	how := fmt.Sprintf("%s, Poisson", rateWords(a.Rate))
	switch {
	case a.Gap != nil:
		how = fmt.Sprintf("seconds between two: %s", a.Gap)
	case a.Times != nil:
		how = fmt.Sprintf("at %s", format.Count(len(a.Times), "given time"))
	case a.Rate == 0:
		how = fmt.Sprintf("%d at once", a.Count)
	}
	if a.From > 0 {
		how += fmt.Sprintf(", from %s", a.From)
	}
	if a.Until > 0 {
		how += fmt.Sprintf(", until %s", a.Until)
	}
	return []string{fmt.Sprintf("%s come for %s (%s); all are done to the end", what, p.Load.For, how)}
}

func rateWords(perHour float64) string { return fmt.Sprintf("%g an hour", perHour) }

// notes is what somebody who reads the report has to know.
func (x *WorkflowSimulate) notes(flow *workflow.Workflow, p *workflows.Plan) (list []string) {
	if flow.SLA == nil {
		list = append(list, "the workflow has no sla: nothing is late, and nothing costs a penalty")
	}
	if wait := workflows.WaitForAll(flow); !p.Load.Runs && len(wait) > 0 {
		list = append(list, "on a batch edge items wait until no more come: "+strings.Join(wait, ", ")+"; --each run has each arrival be a run of its own")
	}
	made := lists.Filter(flow.Inputs, func(in workflow.Input) bool { return p.Load.Tables[in.Name] == nil })
	if len(made) > 0 {
		list = append(list, "made-up rows: "+joined(made, func(in workflow.Input) string { return in.Name })+" (--input NAME=PATH draws them from a file)")
	}
	for _, in := range flow.Inputs {
		if t := p.Load.Tables[in.Name]; t != nil && t.Bad > 0 {
			list = append(list, fmt.Sprintf("%s: %s left out", in.Name, format.Count(t.Bad, "bad row")))
		}
	}
	if lone := aloneInPool(flow); len(p.Policies) > 1 && !p.Load.Runs && len(lone) > 0 && sameWithin(p.Policies) {
		list = append(list, "these policies change nothing in a pool with one step, as what waits at a step goes by its sla under each of them: "+strings.Join(lone, ", "))
	}
	var guessed []string
	for i := range flow.Steps {
		if s := &flow.Steps[i]; s.HTTP() != nil && p.Models[s.Name].Time == nil {
			guessed = append(guessed, s.Name)
		}
	}
	if len(guessed) > 0 {
		list = append(list, "no service is called; taken as long as the workflow expects: "+strings.Join(guessed, ", "))
	}
	return list
}

// sameWithin reports whether policies order the tasks of a batch in the same way.
func sameWithin(policies []string) bool {
	return !slices.ContainsFunc(policies, func(p string) bool { return sched.PenaltyForm(p) != sched.PenaltyForm(policies[0]) })
}

// aloneInPool lists the pools of which a workflow has one step only, in order of these.
func aloneInPool(flow *workflow.Workflow) (pools []string) {
	steps := make(map[string]int)
	for i := range flow.Steps {
		if c := flow.Steps[i].Crowd(); c != nil {
			pool := cmp.Or(c.Pool, "main")
			if steps[pool]++; steps[pool] == 1 {
				pools = append(pools, pool)
			}
		}
	}
	return slices.DeleteFunc(pools, func(name string) bool { return steps[name] > 1 })
}

// emptyClasses names the classes of which no item was.
func emptyClasses(r *report.WorkflowReport) (list []string) {
	for i, class := range r.Variants[0].Runs[0].Classes {
		if !slices.ContainsFunc(r.Variants, func(v *workflows.Variant) bool {
			return slices.ContainsFunc(v.Runs, func(o *workflows.Outcome) bool { return o.Classes[i].Ended > 0 })
		}) {
			list = append(list, fmt.Sprintf("no item was of the class %s: its condition is over the rows, which --input NAME=PATH draws from a file, and inputs of a model file make up", class.Name))
		}
	}
	return list
}

// nothingCame says that the load is none.
func nothingCame(r *report.WorkflowReport) []string {
	for _, v := range r.Variants {
		if slices.ContainsFunc(v.Runs, func(o *workflows.Outcome) bool { return o.Arrived > 0 }) {
			return nil
		}
	}
	return []string{"nothing came in any repetition: --arrivals and --for say when and for how long items come"}
}

// passedBy tells of the items that came to a step which had had enough: they have ended at once, and
// the figures count them.
func passedBy(r *report.WorkflowReport, flow *workflow.Workflow) (list []string) {
	for i := range flow.Steps {
		step := &flow.Steps[i]
		if c := step.Crowd(); c == nil || c.Enough == nil {
			continue
		}
		skipped, in := int64(0), int64(0)
		for _, v := range r.Variants {
			for _, o := range v.Runs {
				for _, x := range o.Steps {
					if x.Name == step.Name {
						skipped, in = skipped+x.Skipped, in+x.In
					}
				}
			}
		}
		if skipped > 0 {
			list = append(list, fmt.Sprintf("%s of the items of the step %s were passed by, most because it had had enough; they took no time there, and the figures count them", format.Percent(float64(skipped), float64(in)), step.Name))
		}
	}
	return list
}

// writeWorkflowReport prints what people want to know first; the report folder has the
// rest.
func writeWorkflowReport(w io.Writer, r *report.WorkflowReport, dir string) {
	say(w, "%s\n", clean(fmt.Sprintf("%s: %s, seed %d, in %.1f s", r.Workflow, format.Count(r.Reps, "repetition"), r.Seed, r.WallS)))
	for _, text := range append(slices.Clone(r.Load), r.Notes...) {
		say(w, "%s\n", clean(text))
	}
	names := r.Headings()
	for _, t := range r.Tables() {
		say(w, "\n")
		columns(w, append([][]string{append([]string{t.Title}, names...)}, r.Rows(t)...))
	}
	base, instead := r.Base()
	switch compared := r.Compared(); {
	case len(compared) > 0:
		say(w, "\ndifference to %s%s%s\n", clean(base), when(instead, ", the first that has figures,"), when(r.Reps > 1, " on the same repetitions; * where it is more than chance would make it"))
		columns(w, append([][]string{append([]string{"metric"}, compared...)}, r.Differences(r.Tables()[0])...))
	case len(names) > 1:
		say(w, "\nno differences: only %s has figures\n", clean(base))
	}
	if dir != "" {
		say(w, "\nthe report: %s\n", clean(filepath.Join(dir, "report.html")))
	}
}
