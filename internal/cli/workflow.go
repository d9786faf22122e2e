package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/diagram"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
	"github.com/throng-dev/throng/sched"
)

// Workflow is "throng workflow".
type Workflow struct {
	Check    WorkflowCheck    `cmd:"" help:"Say everything that is wrong with a workflow's file."`
	Graph    WorkflowGraph    `cmd:"" help:"Draw a workflow's file, or a run, as SVG."`
	Schema   WorkflowSchema   `cmd:"" help:"Print the JSON Schema of workflow files."`
	Run      WorkflowRun      `cmd:"" help:"Run a workflow on a server, or simulate it here."`
	Simulate WorkflowSimulate `cmd:"" help:"Try a workflow under load in simulation, and compare policies and crowds."`
	List     WorkflowList     `cmd:"" help:"List runs, newest first."`
	Show     WorkflowShow     `cmd:"" help:"Show a run: where the items are, and which take longest."`
	Items    WorkflowItems    `cmd:"" help:"Say what a step has done, what is held, or where an item has been."`
	Results  WorkflowResults  `cmd:"" help:"Download an output, or the rows of a step."`
	Pause    WorkflowMove     `cmd:"" help:"Hand out and call nothing more for now."`
	Resume   WorkflowMove     `cmd:"" help:"Go on with a paused run."`
	Cancel   WorkflowMove     `cmd:"" help:"Give a run up."`
	Rows     WorkflowRows     `cmd:"" help:"Add rows to a run with open inputs, or seal them."`
	Redo     WorkflowRedo     `cmd:"" help:"Do a run anew with the labels that were corrected in it."`
	TopUp    WorkflowTopUp    `cmd:"" help:"Add to what a run may spend."`
	End      WorkflowEnd      `cmd:"" help:"End a crowd step early, with the labels that there are."`
	Retry    WorkflowRetry    `cmd:"" help:"Try again what is held by an error."`
	Skip     WorkflowSkip     `cmd:"" help:"Give up what is held by an error."`
	Secret   Secret           `cmd:"" help:"Keep secrets for the service steps of workflows."`
	Services WorkflowServices `cmd:"" help:"Run the made-up services of the example of insurance claims."`
}

// readWorkflow reads a file, - being standard input.
func readWorkflow(c *Context, name string) (string, error) {
	text, err := c.read(name, workflow.MaxFile)
	if err == nil && len(text) > workflow.MaxFile {
		err = crowd.Fieldf("file", "%s has more than %s", name, format.Bytes(workflow.MaxFile))
	}
	return string(text), err
}

// loadWorkflow reads and checks a file.
func loadWorkflow(c *Context, name string) (*workflow.Workflow, string, error) {
	text, err := readWorkflow(c, name)
	if err != nil {
		return nil, "", err
	}
	w, problems, err := orchestrator.Parse(c.Ctx, text, nil, now())
	if err != nil {
		return nil, text, err
	}
	if len(problems) > 0 {
		return nil, text, inWorkflow(name, problems)
	}
	return w, text, nil
}

// inWorkflow is the error of a file that has these problems.
func inWorkflow(file string, problems []workflow.Problem) error {
	return yamlfile.Problems(lists.Map(problems, func(p workflow.Problem) yamlfile.Problem {
		return yamlfile.Problem{File: file, Line: p.Line, Column: p.Column, Message: p.Message}
	}))
}

// ofWorkflow says of which file the problems are that an error brings.
func ofWorkflow(name string, err error) error {
	var here orchestrator.Problems
	if errors.As(err, &here) {
		return inWorkflow(name, here)
	}
	var list []workflow.Problem
	for _, e := range crowd.ErrorsOf(err) {
		var at *wire.WorkflowError
		if errors.As(e.Cause, &at) {
			list = append(list, workflow.Problem(*at))
		}
	}
	if len(list) > 0 {
		return inWorkflow(name, list)
	}
	return err
}

// allowed reads the patterns of private places that may be called.
func allowed(flag string, patterns []string) (httpstep.Allow, error) {
	allow, err := httpstep.ParseAllow(patterns)
	var e *crowd.Error
	if errors.As(err, &e) {
		return allow, wrong(flag, "%s", e.Message)
	}
	return allow, err
}

// WorkflowCheck is "throng workflow check".
type WorkflowCheck struct {
	File   string `arg:"" help:"The workflow, a YAML file; - for standard input."`
	Tenant string `help:"For which tenant it is checked on the server: the services that it names, its priorities, the policies of its pools."`
	Remote
}

// Run checks the file.
func (x *WorkflowCheck) Run(c *Context) error {
	w, text, err := loadWorkflow(c, x.File)
	pools := err == nil && w.SLA != nil && slices.ContainsFunc(w.Steps, func(s workflow.Step) bool { return s.Crowd() != nil })
	var said wire.Workflow
	asked := false
	if x.Tenant != "" && len(placed(err)) > 0 || err == nil && (len(named(w)) > 0 || x.Tenant != "" || pools) {
		wrong := err
		if said, asked, err = x.ask(c, w, text); wrong != nil && len(placed(err)) == 0 {
			if err != nil {
				say(c.Stderr, "not checked for %s, since the server did not say more: %s\n", clean(x.Tenant), clean(message(err)))
			}
			err = wrong // what is known without a server
		}
	}
	if bad := placed(err); len(bad) > 0 && x.JSON {
		list := lists.Map(bad, func(p yamlfile.Problem) workflow.Problem {
			return workflow.Problem{Line: p.Line, Column: p.Column, Message: p.Message}
		})
		return tellAs(c, wire.OfWorkflow(nil, list), err)
	}
	if err != nil {
		return err
	}
	found := wire.OfWorkflow(w, nil)
	found.Notes, found.Lacking = said.Notes, said.Lacking
	return x.print(c, found, func(out io.Writer) {
		say(out, "%s\n", clean(fmt.Sprintf("%s is in order: %s, %s, %s, %s", x.File, w.Name,
			format.Count(len(w.Inputs), "input"), format.Count(len(w.Steps), "step"), format.Count(len(w.Outputs), "output"))))
		for _, note := range said.Notes {
			say(out, "%s\n", clean(note))
		}
		for _, step := range said.Lacking {
			say(out, "its start is refused without --allow-small-crowd: %s\n", clean(step))
		}
		if pools && !asked {
			say(out, "its sla counts between batches in pools whose policy has penalty, such as %s, the default\n", sched.Default)
		}
		writeTable(out, w.Steps, "STEP|KIND|FROM|WHEN|ROWS", func(s workflow.Step) []any {
			from := joined(s.From, func(f workflow.Source) string { return f.Name + " (" + string(f.Edge) + ")" })
			when, each := "", "one an item"
			if s.When != nil {
				when = strings.Join(strings.Fields(s.When.Text()), " ")
			}
			if s.MakesItems() {
				each = "over all"
				if why := s.Spec.WhyAllRows(); why != "" {
					each += ": " + why
				}
			}
			return []any{s.Name, s.Kind, from, when, each}
		})
	})
}

// named are the declared services that a workflow calls, sorted.
func named(w *workflow.Workflow) (names []string) {
	for i := range w.Steps {
		if s := w.Steps[i].HTTP(); s != nil && s.Name != "" {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ask has the server say what is wrong with the services that a file names, which pools do
// not look at its SLA, and for which steps nobody is qualified. If the file is known to be
// wrong (w is nil), a tenant is named, and the server says all that is wrong. Without a login or a server, and if no tenant is named, it is not
// an error that it was not asked, and said where services are named.
func (x *WorkflowCheck) ask(c *Context, w *workflow.Workflow, text string) (found wire.Workflow, asked bool, err error) {
	r, err := x.ProvideRemote(c)
	if err == nil {
		var tenant crowd.TenantID // any
		if x.Tenant != "" || len(named(w)) > 0 {
			tenant, err = r.tenant(x.Tenant)
		}
		if err == nil {
			found, err = r.CheckWorkflow(c.Ctx, wire.NewRun{Tenant: tenant, Workflow: text})
		}
	}
	if code := crowd.CodeOf(err); x.Tenant == "" && (code == crowd.Unauthenticated || code == crowd.Unavailable) {
		if len(named(w)) > 0 {
			say(c.Stderr, "not checked, since no server was asked: whether there is the service %s (%s)\n", strings.Join(named(w), ", "), clean(err.Error()))
		}
		return found, false, nil
	}
	if err != nil || len(found.Errors) == 0 {
		return found, true, err
	}
	return found, true, inWorkflow(x.File, lists.Map(found.Errors, func(e wire.WorkflowError) workflow.Problem { return workflow.Problem(e) }))
}

// WorkflowGraph is "throng workflow graph".
type WorkflowGraph struct {
	File string `arg:"" help:"The workflow, a YAML file; - for standard input; or the id of a run, such as r3."`
	Out  string `help:"File to write; default: standard output." placeholder:"FILE"`
	Remote
}

// Run draws it.
func (x *WorkflowGraph) Run(c *Context) error {
	var picture strings.Builder
	if id, err := crowd.ParseRunID(x.File); err == nil {
		r, err := x.ProvideRemote(c)
		if err != nil {
			return err
		}
		if err := r.RunGraph(c.Ctx, id, &picture); err != nil {
			return err
		}
	} else {
		w, _, err := loadWorkflow(c, x.File)
		if err != nil {
			return err
		}
		_, _ = picture.Write(diagram.Draw(w, diagram.Options{})) // into memory
	}
	if x.JSON && !toFile(x.Out) {
		return writeJSON(c.Stdout, map[string]string{"svg": picture.String()})
	}
	return x.saveTo(c, x.Out, func(w io.Writer) error {
		_, err := io.WriteString(w, picture.String())
		return err
	})
}

// WorkflowSchema is "throng workflow schema".
type WorkflowSchema struct {
	Output
}

// Run prints the schema.
func (x *WorkflowSchema) Run(c *Context) error {
	_, err := c.Stdout.Write(workflow.Schema())
	return err
}
