package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/internal/workflow"
)

// WorkflowRun is "throng workflow run".
type WorkflowRun struct {
	File  string      `arg:"" help:"The workflow, a YAML file; - for standard input."`
	Input []inputFile `sep:"none" placeholder:"NAME=PATH" help:"The file of an input: CSV, TSV, JSON Lines or Parquet; once for each."`
	RowsOfFile
	Out   string `placeholder:"DIR" help:"Folder for the outputs; with --simulate-workers, default: one named after the workflow."`
	Force bool   `help:"Replace outputs that are there."`

	Budget *amount `placeholder:"AMOUNT" help:"The most that all its answers may cost; default: what the file says."`

	Name    string      `group:"served" help:"The run's name; default: the workflow's."`
	Tenant  string      `group:"served" help:"For which tenant; not needed by a requester of one, nor with --from-run."`
	FromRun crowd.RunID `group:"served" placeholder:"RUN" help:"Take over the inputs of a run that has ended, such as r3."`
	From    string      `group:"served" placeholder:"STEP" help:"With --from-run: do this step and what comes after it again, and take over the rest."`

	Open   []string    `group:"served" placeholder:"NAME" help:"Inputs to which rows are added while it goes, besides those that the file calls open; separated by commas."`
	Follow []inputFile `group:"served" sep:"none" placeholder:"NAME=PATH" help:"Add the rows of this file to an open input as they are written to its end, until an interrupt; once for each."`

	AllowSmallCrowd bool `group:"served" help:"Even if nobody holds a qualification that a step asks for."`

	AskAgain  bool  `group:"served" help:"With --from-run: ask people again, also where that run has the label of the same item and question, of no lower redundancy; without it such labels are taken over."`
	RenewAges bool  `group:"served" help:"With --from-run: the items that are taken over start anew, for the SLA; without it they keep their ages."`
	Detach    bool  `group:"served" help:"Do not wait for its end."`
	Every     *span `group:"served" help:"How often to look; default: 1s."`

	SimulateWorkers *int        `group:"simulated" placeholder:"N" help:"Simulate it here, with so many model workers in each pool."`
	Seed            *uint64     `group:"simulated" placeholder:"S" help:"Seed of all that is random; default 1."`
	Policy          string      `group:"simulated" help:"Policy of the pools; default tenant-fair(penalty(wfs))."`
	Service         []serviceAt `group:"simulated" sep:"none" placeholder:"NAME=URL" help:"Where a service is that steps name; once for each."`
	Services        []string    `group:"simulated" placeholder:"PATTERN" help:"Private places that service steps may call: host:port, an address or a network; separated by commas."`
	Remote
}

// inputFile is NAME=PATH on the command line.
type inputFile struct{ name, path string }

func (f *inputFile) UnmarshalText(text []byte) error {
	var ok bool
	if f.name, f.path, ok = strings.Cut(string(text), "="); !ok || f.name == "" || f.path == "" {
		return crowd.Errorf(crowd.Invalid, "%q is not NAME=PATH, such as items=items.csv", text)
	}
	return nil
}

// serviceAt is NAME=URL on the command line.
type serviceAt struct{ name, url string }

func (s *serviceAt) UnmarshalText(text []byte) error {
	var ok bool
	if s.name, s.url, ok = strings.Cut(string(text), "="); !ok || s.name == "" {
		return crowd.Errorf(crowd.Invalid, "%q is not NAME=URL, such as scores=https://scores.example/v1", text)
	}
	return plain(workflow.CheckServiceURL(s.url))
}

// Run runs the workflow.
func (x *WorkflowRun) Run(c *Context) error {
	w, text, err := loadWorkflow(c, x.File)
	if err != nil {
		return err
	}
	if err := x.fits(w); err != nil {
		return err
	}
	if x.SimulateWorkers != nil {
		return x.simulate(c, w, text)
	}
	return x.serve(c, w, text)
}

// inputsFit checks what is said of the inputs.
func (x *WorkflowRun) inputsFit(w *workflow.Workflow) error {
	simulated := x.SimulateWorkers != nil
	known := lists.Map(w.Inputs, func(in workflow.Input) string { return in.Name })
	for _, f := range x.Follow {
		if err := followable(f.path, table.FormatOf(f.path)); err != nil {
			return err
		}
		if !slices.Contains(x.Open, f.name) {
			x.Open = append(x.Open, f.name)
		}
	}
	for _, name := range x.Open {
		if !slices.Contains(known, name) {
			return wrong("open", "the workflow has no input %q (it has %s)", name, strings.Join(known, ", "))
		}
	}
	given := make(map[string]bool)
	stdin := x.File == "-"
	for _, in := range x.Input {
		switch {
		case !slices.Contains(known, in.name):
			return wrong("input", "the workflow has no input %q (it has %s)", in.name, strings.Join(known, ", "))
		case given[in.name]:
			return wrong("input", "%s is given twice", in.name)
		case in.path == "-" && stdin:
			return wrong("input", "standard input is given twice")
		}
		given[in.name], stdin = true, stdin || in.path == "-"
		if in.path == "-" {
			continue
		}
		if info, err := os.Stat(in.path); err != nil {
			return err
		} else if info.IsDir() {
			return wrong("input", "%s is a folder", in.path)
		}
	}
	for _, in := range w.Inputs {
		open := !simulated && (in.Grows || slices.Contains(x.Open, in.Name))
		switch {
		case given[in.Name] || x.FromRun != 0 || open && !in.Open():
		case open:
			return wrong("input", "the columns of %s are not known: declare them in the workflow, or give a file with --input %s=PATH", in.Name, in.Name)
		default:
			return wrong("input", "the workflow reads %s: give its file with --input %s=PATH", in.Name, in.Name)
		}
	}
	return nil
}

// lacksPeople reports whether an error says that nobody is qualified for a step.
func lacksPeople(err error) bool {
	return slices.ContainsFunc(crowd.ErrorsOf(err), func(e *crowd.Error) bool { return e.Field == orchestrator.FieldSmallCrowd })
}

// places returns where the outputs go, which must not be there without --force.
func (x *WorkflowRun) places(dir string, w *workflow.Workflow) (map[string]string, error) {
	places := make(map[string]string)
	for _, o := range w.Outputs {
		path := filepath.Join(dir, o.Name+table.Format(o.Format).Extension())
		_, err := os.Lstat(path)
		switch {
		case err == nil && !x.Force:
			return nil, wrong("out", "%s is there already: give another folder with --out, or --force to replace it", path)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		places[o.Name] = path
	}
	return places, nil
}

// serve has a server run it.
func (x *WorkflowRun) serve(c *Context, w *workflow.Workflow, text string) error {
	var places map[string]string
	var err error
	if x.Out != "" {
		if places, err = x.places(x.Out, w); err != nil {
			return err
		}
	}
	r, err := x.ProvideRemote(c)
	if err != nil {
		return err
	}
	run, err := x.begin(c, r, text)
	if err != nil {
		return err
	}
	if x.Detach {
		return x.print(c, run, func(w io.Writer) {
			for _, text := range waits(&run) {
				say(c.Stderr, "throng: %s waits: %s\n", run.ID, clean(text))
			}
			say(w, "%s %s: %s\nto see how far it is: throng workflow show %s\n", run.ID, clean(run.Name), run.State, run.ID)
		})
	}
	if run, err = x.follow(c, r, run); err != nil {
		return err
	}
	done := run.State == "done"
	if done && places != nil {
		if err := x.saveOutputs(c, r, &run, places); err != nil {
			return err
		}
	}
	if err := x.print(c, run, func(w io.Writer) {
		showRun(w, &run)
		for _, name := range slices.Sorted(maps.Keys(places)) {
			if done {
				say(w, "written to %s\n", clean(places[name]))
			}
		}
	}); err != nil || done {
		return err
	}
	there := joined(run.Outputs, func(o wire.RunFile) string { return fmt.Sprintf("throng workflow results %s %s", run.ID, o.Name) })
	return crowd.Errorf(failed, "%s was %s%s", run.ID, run.State, when(there != "", "; to see what came of it: "+there))
}

// begin makes a run, loads its inputs and starts it. One that nobody can work on is not
// made; one whose inputs cannot be loaded is cancelled.
func (x *WorkflowRun) begin(c *Context, r *remote, text string) (wire.Run, error) {
	tenant, err := x.owner(c, r)
	if err != nil {
		return wire.Run{}, ofWorkflow(x.File, err)
	}
	if err := x.checkPeople(c, r, tenant, text); err != nil {
		return wire.Run{}, err
	}
	run, err := x.make(c, r, tenant, text)
	if err != nil {
		return run, ofWorkflow(x.File, err)
	}
	for _, note := range run.Notes {
		say(c.Stderr, "%s\n", clean(note))
	}
	if err := x.load(c, r, run); err != nil {
		x.giveUp(c, r, run.ID)
		return run, ofWorkflow(x.File, err)
	}
	id := run.ID
	if run, err = r.StartRun(c.Ctx, id, x.AllowSmallCrowd); err != nil {
		if lacksPeople(err) {
			x.giveUp(c, r, id) // somebody lost a qualification since it was checked
			err = &noted{err, toQualify}
		}
		return run, ofWorkflow(x.File, err)
	}
	return run, nil
}

// saveOutputs downloads the outputs of a run that is done.
func (x *WorkflowRun) saveOutputs(c *Context, r *remote, run *wire.Run, places map[string]string) error {
	for _, o := range run.Outputs {
		if err := os.MkdirAll(x.Out, 0o755); err != nil {
			return err
		}
		if err := c.save(places[o.Name], func(w io.Writer) error { return r.RunOutput(c.Ctx, run.ID, o.Name, w, client.TableForm{}) }); err != nil {
			return err
		}
	}
	return nil
}

// owner is the tenant of the run: that of the run that it goes on from, if there is one.
func (x *WorkflowRun) owner(c *Context, r *remote) (crowd.TenantID, error) {
	if x.FromRun == 0 {
		return r.ownerTenant(x.Tenant)
	}
	parent, err := r.Run(c.Ctx, x.FromRun)
	if err != nil || x.Tenant == "" {
		return parent.Tenant, err
	}
	if tenant, err := r.ownerTenant(x.Tenant); err != nil || tenant == parent.Tenant {
		return tenant, err
	}
	return 0, wrong("tenant", "%s is another tenant's: leave --tenant out, and the run is for the tenant of %[1]s", parent.ID)
}

// toQualify says what to do where nobody is qualified for a step.
const toQualify = "to give it to somebody: throng worker qualify NAME QUALIFICATION=SCORE; or run it all the same with --allow-small-crowd"

// checkPeople refuses a file with a step that nobody is qualified for, before a run is made.
// Whatever else is wrong with the file the server says when it is to make the run.
func (x *WorkflowRun) checkPeople(c *Context, r *remote, tenant crowd.TenantID, text string) error {
	if x.AllowSmallCrowd {
		return nil
	}
	found, err := r.CheckWorkflow(c.Ctx, wire.NewRun{Tenant: tenant, Workflow: text, Parent: x.FromRun, From: x.From})
	if err != nil || len(found.Lacking) == 0 {
		return err
	}
	return &noted{&crowd.Error{Code: crowd.Conflict, Field: orchestrator.FieldSmallCrowd, Message: strings.Join(found.Lacking, "; ")}, toQualify}
}

// giveUp cancels a run that was made and cannot begin, and says what became of it.
func (x *WorkflowRun) giveUp(c *Context, r *remote, id crowd.RunID) {
	_, err := r.MoveRun(c.background(), id, "cancel")
	switch {
	case err == nil || crowd.CodeOf(err) == crowd.Conflict: // the server has cancelled it already
		say(c.Stderr, "throng: %s was made for this, and is cancelled\n", id)
	default:
		say(c.Stderr, "throng: %s was made for this, and is left without its start; to give it up: throng workflow cancel %s\n", id, id)
	}
}

func (x *WorkflowRun) make(c *Context, r *remote, tenant crowd.TenantID, text string) (wire.Run, error) {
	run, err := r.MakeRun(c.Ctx, wire.NewRun{
		Tenant: tenant, Name: x.Name, Workflow: text, BudgetMicros: x.Budget.orNone(), Parent: x.FromRun, From: x.From, AskAgain: x.AskAgain, RenewAges: x.RenewAges, Open: x.Open,
	})
	if err != nil {
		return run, err
	}
	for _, name := range run.Needs {
		if !slices.ContainsFunc(x.Input, func(in inputFile) bool { return in.name == name }) {
			err = wrong("input", "the run needs %s: give its file with --input %s=PATH", name, name)
		}
	}
	for _, in := range x.Input {
		if err == nil && x.FromRun != 0 && !wantsFile(&run, in.name) {
			err = wrong("input", "%s is taken over from %s: leave it out", in.name, x.FromRun)
		}
	}
	if err != nil {
		x.giveUp(c, r, run.ID)
	}
	return run, err
}

// wantsFile reports whether an input of a run that has not started has no rows yet.
func wantsFile(run *wire.Run, input string) bool {
	return slices.ContainsFunc(run.Nodes, func(n wire.RunNode) bool { return n.Name == input && n.State == "waiting" })
}

// load uploads the inputs, and tells of rows that could not be read.
func (x *WorkflowRun) load(c *Context, r *remote, run wire.Run) error {
	for _, in := range x.Input {
		file, size, err := c.open(in.path)
		if err != nil {
			return err
		}
		bar := c.bar(size, "uploading "+in.path, true)
		body := progressbar.NewReader(file, bar)
		loaded, err := r.LoadTable(c.Ctx, run.ID, in.name, &body, client.Table{Format: string(table.FormatOf(in.path)), Delimiter: x.Delimiter, Duplicates: x.rule()})
		_, _ = bar.Exit(), file.Close() // it was only read
		switch {
		case crowd.CodeOf(err) == crowd.Conflict: // it is about the run
			return err
		case err != nil:
			return ofFile(in.path, err)
		}
		c.tellRows(in.path, loaded.Problems)
		if loaded.Bad > 0 {
			say(c.Stderr, "throng: %s: %s of %d; the rest goes on\n", clean(in.path), format.Count(int(loaded.Bad), "bad row"), loaded.Rows)
		}
		c.tellFile(in.path, loaded.Delimiter, loaded.Dropped)
	}
	return nil
}

// follow looks at the run until it has ended.
func (x *WorkflowRun) follow(c *Context, r *remote, run wire.Run) (wire.Run, error) {
	until, stop := c.untilFirstSignal()
	defer stop()
	id := run.ID
	bar := &gauge{w: c.Stderr}
	defer bar.clear()
	if open := openNames(&run); len(open) > 0 && !x.JSON {
		bar.tell("throng: %s takes rows (%s), and ends only once that is sealed: throng workflow rows seal %s\n", id, clean(strings.Join(open, ", ")), id)
	}
	ctx, fed := x.feed(until, bar, feeder{c: c, to: r, run: id})
	told, stuck, said := "", false, make(map[string]bool)
	away := c.outage()
	away.reached = true
	err := every(ctx, x.Every.or(time.Second), func() (done bool, err error) {
		if told != "" {
			now, err := r.Run(ctx, id)
			switch {
			case ctx.Err() == nil && away.again(err):
				return false, nil
			case err != nil:
				return false, err
			}
			run = now
		}
		words := progress(&run)
		switch {
		case words == told || x.JSON:
		case onTerminal(c.Stderr) && !run.Ended():
			done, all := handled(&run)
			bar.draw(id.String()+" "+run.Name, done, all)
		default:
			bar.tell("%s\n", clean(words))
		}
		told = words
		for _, text := range waits(&run) {
			if !said[text] && !x.JSON {
				bar.tell("throng: %s waits: %s\n", run.ID, clean(text))
			}
			said[text] = true
		}
		if run.Stuck && !stuck {
			bar.tell("throng: %s: nothing goes on until somebody says %s; see throng workflow show %s\n", run.ID, wayOut(&run), run.ID)
		}
		stuck = run.Stuck
		return run.Ended(), nil
	})
	switch wrong := fed(); {
	case err == nil:
	case until.Err() != nil:
		err = crowd.Errorf(failed, "%s goes on; to see how far it is: throng workflow show %s%s", id, id, when(len(x.Follow) > 0, "; to add rows: "+addRows(id, len(x.Follow) > 1)+"; to seal its inputs: throng workflow rows seal "+id.String()))
	case wrong != nil:
		err = &noted{wrong, fmt.Sprintf("%s goes on; to add the rest of the rows: %s", id, addRest(id, x.Follow))}
	}
	return run, err
}

// addRest names the commands that add what is not there yet of the files that were followed.
func addRest(id crowd.RunID, files []inputFile) string {
	return joined(files, func(in inputFile) string {
		return fmt.Sprintf("throng workflow rows add %s --input %s --file %s --follow", id, in.name, in.path)
	}) + " (adds none twice)"
}

// feed adds rows of the files that are followed, each as to says, until ctx is done, and
// tells of them. What goes wrong with one ends the context that it returns, and is returned
// by fed, which ends it all.
func (x *WorkflowRun) feed(until context.Context, bar *gauge, to feeder) (ctx context.Context, fed func() error) {
	ctx, end := context.WithCancelCause(until)
	var feeding sync.WaitGroup
	for _, in := range x.Follow {
		f := to
		f.duplicates = x.rule()
		f.outage, f.input, f.file, f.opts = to.c.outage(), in.name, in.path, table.Options{Format: table.FormatOf(in.path), Delimiter: x.Delimiter}
		f.added = func(n int64) {
			if !x.JSON {
				bar.tell("%s %s: %s added\n", f.run, clean(f.input), format.Count(int(n), "row"))
			}
		}
		feeding.Go(func() {
			if err := f.follow(ctx, x.Every.or(time.Second)); err != nil {
				end(err)
			}
		})
	}
	return ctx, func() error {
		end(nil)
		feeding.Wait()
		if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	}
}

// handled is how many items the steps have dealt with, and of how many.
func handled(run *wire.Run) (done, all int) {
	for i := range run.Nodes {
		n := &run.Nodes[i]
		done += int(n.OK + n.Skipped + n.Failed)
		all += int(n.Waiting + n.Inside)
	}
	return done, done + all
}

// progress is a run in a line.
func progress(run *wire.Run) string {
	text := fmt.Sprintf("%s %s", run.ID, run.State)
	for i := range run.Nodes {
		if n := &run.Nodes[i]; n.Kind != "input" {
			text += fmt.Sprintf(", %s %d/%d", n.Name, n.OK+n.Skipped+n.Failed, n.OK+n.Skipped+n.Failed+n.Waiting+n.Inside)
		}
	}
	return text
}
