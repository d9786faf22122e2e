package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/sim/workflows"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
	"github.com/throng-dev/throng/sched"
)

// simulated is what "throng workflow run --simulate-workers" prints.
type simulated struct {
	Workflow string              `json:"workflow"`
	Run      crowd.RunID         `json:"run"`
	Seed     uint64              `json:"seed"`
	Workers  int                 `json:"workers"`
	Policy   string              `json:"policy"`
	Steps    []workflows.Step    `json:"steps"`
	Outputs  map[string]string   `json:"outputs"`
	Accuracy map[string]float64  `json:"accuracy"`
	Penalty  simulatedPenalty    `json:"penalty"`
	Spent    json.Number         `json:"spent"`
	VirtualS float64             `json:"virtual_s"`
	WallS    float64             `json:"wall_s"`
	GaveUp   int                 `json:"gave_up"`
	BadRows  map[string][]badRow `json:"bad_rows"`
	Errors   []workflows.Failure `json:"errors"`

	rows   map[string]int // of outputs
	loaded map[string]orchestrator.LoadResult
}

type simulatedPenalty struct {
	Class     string             `json:"class,omitempty"`
	Paid      json.Number        `json:"paid"`
	Predicted json.Number        `json:"predicted"`
	Ended     int64              `json:"ended"`
	Late      int64              `json:"late"`
	Classes   []simulatedPenalty `json:"classes,omitempty"` // of items
}

// badRow is a row of an input that could not be read.
type badRow struct {
	Line    int    `json:"line"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// simulate runs the workflow here, with model workers.
func (x *WorkflowRun) simulate(c *Context, w *workflow.Workflow, text string) (err error) {
	ctx, stop := c.untilFirstSignal()
	defer stop()
	setup := workflows.Setup{Text: text, Workers: *x.SimulateWorkers, Policy: cmp.Or(x.Policy, sched.Default), Seed: 1, Budget: x.Budget.orNone()}
	if x.Seed != nil {
		setup.Seed = *x.Seed
	}
	if _, err := sched.Parse(setup.Policy); err != nil {
		return err
	}
	allow, err := allowed("services", strings.FieldsFunc(strings.Join(x.Services, ","), func(r rune) bool { return r == ',' || r == ' ' }))
	if err != nil {
		return err
	}
	if setup.Declared, err = x.declared(w); err != nil {
		return err
	}
	places, err := x.places(cmp.Or(x.Out, folderName(w.Name)), w)
	if err != nil {
		return err
	}
	var closeAll func()
	setup.Inputs, closeAll, err = x.openInputs(ctx, c)
	defer closeAll()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "throng-workflow-*")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(scratch)) }()
	if setup.Store, err = sqlite.Open(ctx, filepath.Join(scratch, "run.db"), sqlite.Options{Scratch: true}); err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, setup.Store.Close()) }()
	setup.Services = httpstep.NewClient(httpstep.Options{Allow: allow, Now: now, Secrets: environmentSecret})
	defer setup.Services.Close()
	out, err := x.play(ctx, c, setup, places)
	if err != nil {
		return err
	}
	return x.print(c, out, func(w io.Writer) { writeSimulated(w, out) })
}

// declared are the services that the steps of a workflow name, at the addresses that are
// given, each with the concurrency that a step has by default.
func (x *WorkflowRun) declared(w *workflow.Workflow) (list []store.Service, err error) {
	names := named(w)
	for _, s := range x.Service {
		if !slices.Contains(names, s.name) {
			return nil, wrong("service", "no step of the workflow names the service %q%s", s.name, when(len(names) > 0, " (they name "+strings.Join(names, ", ")+")"))
		}
		if slices.ContainsFunc(list, func(y store.Service) bool { return y.Name == s.name }) {
			return nil, wrong("service", "%s is given twice", s.name)
		}
		list = append(list, store.Service{Name: s.name, URL: s.url, Concurrency: workflow.DefaultConcurrency, AllTenants: true})
	}
	for _, name := range names {
		if !slices.ContainsFunc(list, func(y store.Service) bool { return y.Name == name }) {
			return nil, wrong("service", "the workflow calls the service %s, which a server knows: say where it is, with --service %s=URL", name, name)
		}
	}
	return list, nil
}

// environmentSecret finds a secret of a simulated run in the environment.
func environmentSecret(name string) (httpstep.Secret, bool) {
	value, ok := os.LookupEnv("THRONG_SECRET_" + name)
	return httpstep.Secret{Value: value}, ok
}

// folderName makes a name of a folder of that of a workflow.
func folderName(name string) string {
	name = strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '-'
		}
		return r
	}, name), " .")
	return cmp.Or(name, "workflow")
}

// openRows begins to read a file of that size (-1: not known) as a table.
func openRows(file io.Reader, size int64, opts table.Options) (table.Rows, error) {
	if at, ok := file.(io.ReaderAt); ok && size >= 0 {
		return table.OpenFile(at, size, opts)
	}
	return table.NewReader(file, opts)
}

// maxInput is how many bytes of an input are read: as many as a server takes of an upload.
const maxInput = 4 << 30

func tooGreat() error {
	return crowd.Fieldf("input", "is more than %d GiB", maxInput>>30)
}

// endless reads what may have no end, such as a device or standard input: until ctx is done,
// and not more than it may.
type endless struct {
	ctx  context.Context
	from io.Reader
	left int64 // bytes
}

func (r *endless) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, errInterrupted
	}
	if r.left <= 0 {
		return 0, tooGreat()
	}
	n, err := r.from.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	return n, err
}

// openInputs opens the files of the inputs. closeAll is to be called in any case.
func (x *WorkflowRun) openInputs(ctx context.Context, c *Context) (rows map[string]table.Rows, closeAll func(), err error) {
	rows = make(map[string]table.Rows)
	var opened []io.Closer
	closeAll = func() {
		for _, f := range opened {
			_ = f.Close() // they were only read
		}
	}
	for _, in := range x.Input {
		file, size, err := c.open(in.path)
		if err != nil {
			return nil, closeAll, err
		}
		opened = append(opened, file)
		if size > maxInput {
			return nil, closeAll, ofFile(in.path, tooGreat())
		}
		var from io.Reader = file
		if size < 0 {
			from = &endless{ctx: ctx, from: file, left: maxInput}
		}
		read, err := openRows(from, size, table.Options{Format: table.FormatOf(in.path), Delimiter: x.Delimiter})
		if err == nil {
			rows[in.name], err = x.rule().Of(read)
		}
		if err != nil {
			return nil, closeAll, ofFile(in.path, err)
		}
	}
	return rows, closeAll, nil
}

// play runs it, writes the outputs and looks at what came of it.
func (x *WorkflowRun) play(ctx context.Context, c *Context, setup workflows.Setup, places map[string]string) (*simulated, error) {
	bar := c.bar(-1, "simulating", false)
	setup.Progress = func(v *orchestrator.View) {
		_ = bar.Set64(lists.Sum(v.Nodes, func(n orchestrator.NodeView) int64 { return n.Last })) // a bar that cannot be drawn stops nothing
	}
	began := now()
	world, err := workflows.Run(ctx, setup)
	_ = bar.Finish()
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("interrupted; nothing was written")
	case err != nil:
		return nil, ofWorkflow(x.File, x.ofInput(err))
	}
	for _, in := range x.Input {
		l := world.Loaded[in.name]
		c.tellFile(in.path, l.Delimiter.String(), 0) // what was dropped is in the result
	}
	result, err := world.Result(ctx)
	if err != nil {
		return nil, err
	}
	v := result.View
	out := &simulated{
		Workflow: v.Flow.Name, Run: world.Run, Seed: setup.Seed, Workers: setup.Workers, Policy: setup.Policy, Outputs: make(map[string]string),
		Accuracy: make(map[string]float64), Spent: money(result.Spent), VirtualS: world.Ended.Sub(world.Began).Seconds(), GaveUp: world.GaveUp,
		Penalty: simulatedPenalty{Paid: money(v.Penalty), Predicted: money(v.Predicted), Ended: v.Ended, Late: v.Late}, BadRows: make(map[string][]badRow),
		Errors: result.Failures, Steps: result.Steps, rows: make(map[string]int), loaded: world.Loaded,
	}
	for _, c := range v.Classes {
		out.Penalty.Classes = append(out.Penalty.Classes, simulatedPenalty{Class: c.Name, Paid: money(c.Penalty), Predicted: money(c.Predicted), Ended: c.Ended, Late: c.Late})
	}
	for _, s := range out.Steps {
		if s.Accuracy != nil {
			out.Accuracy[s.Name] = *s.Accuracy
		}
	}
	for name, l := range world.Loaded {
		out.BadRows[name] = []badRow{}
		for _, e := range l.Some {
			out.BadRows[name] = append(out.BadRows[name], badRow{e.Row, e.Field, e.Message})
		}
	}
	if err := out.write(ctx, c, world, places); err != nil {
		return nil, err
	}
	out.WallS = now().Sub(began).Seconds()
	return out, nil
}

// ofInput puts an error of the file of an input in its place.
func (x *WorkflowRun) ofInput(err error) error {
	var wrong *workflows.InputError
	if errors.As(err, &wrong) {
		for _, in := range x.Input {
			if in.name == wrong.Input {
				return ofFile(in.path, wrong.Err)
			}
		}
	}
	return err
}

// money is an amount as a number of JSON, in the currency.
func money(m crowd.Money) json.Number { return json.Number(m.String()) }

// write writes the outputs.
func (s *simulated) write(ctx context.Context, c *Context, world *workflows.World, places map[string]string) error {
	for _, o := range world.Flow.Outputs {
		r, err := world.Orchestrator.Results(ctx, 0, world.Run, world.Flow.NodeName(o.Node))
		if err != nil {
			return err
		}
		t, err := r.Table(o.Columns, table.Format(o.Format), false)
		if err != nil {
			return err
		}
		path := places[o.Name]
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := c.save(path, func(w io.Writer) error {
			s.rows[o.Name], err = t.Write(w)
			return err
		}); err != nil {
			return err
		}
		s.Outputs[o.Name] = path
	}
	return nil
}

// writeSimulated prints it for people.
func writeSimulated(w io.Writer, s *simulated) {
	say(w, "%s\n", clean(fmt.Sprintf("%s: simulated with %s a pool, policy %s, seed %d: %s of virtual time in %.1f s", s.Workflow,
		format.Count(s.Workers, "worker"), s.Policy, s.Seed, (time.Duration(s.VirtualS*float64(time.Second))).Round(time.Second), s.WallS)))
	writeTable(w, s.Steps, "STEP|KIND|IN|OK|SKIPPED|FAILED|ANSWERS|ACCURACY|MEAN", func(x workflows.Step) []any {
		mean := time.Duration(val(x.MeanS) * float64(time.Second)).Round(time.Millisecond).String()
		return []any{x.Name, x.Kind, x.In, x.OK, x.Skipped, x.Failed, x.Answers,
			when(x.Accuracy != nil, fixed(1, val(x.Accuracy)*100)+" %"), when(x.MeanS != nil, mean)}
	})
	say(w, "spent %s; penalty %s", s.Spent, s.Penalty.Paid)
	say(w, "%s\n", when(s.Penalty.Ended > 0, fmt.Sprintf(", %d of %d items late", s.Penalty.Late, s.Penalty.Ended)))
	for _, c := range s.Penalty.Classes {
		say(w, "  %s: penalty %s, %d of %d items late\n", clean(c.Class), c.Paid, c.Late, c.Ended)
	}
	for _, name := range slices.Sorted(maps.Keys(s.loaded)) {
		l := s.loaded[name]
		for _, e := range l.Some {
			say(w, "%s\n", rowLine(name, e))
		}
		if l.Bad > 0 {
			say(w, "%s: %s; the rest went on\n", clean(name), format.Count(int(l.Bad), "bad row"))
		}
		if l.Dropped > 0 {
			say(w, "%s: %s dropped, as they were there before\n", clean(name), format.Count(int(l.Dropped), "row"))
		}
	}
	if s.GaveUp > 0 {
		say(w, "given up in the end, after errors: %s\n", format.Count(s.GaveUp, "item"))
	}
	const some = 5
	for _, e := range s.Errors[:min(some, len(s.Errors))] {
		say(w, "%s\n", clean(fmt.Sprintf("  %s, item %d: %s", e.Step, e.Item, e.Message)))
	}
	if len(s.Errors) > some {
		say(w, "… --json tells of up to %d\n", workflows.MaxFailures)
	}
	for _, h := range []struct{ cause, hint string }{
		{"the operator can allow it", "private places are called only if they are named: --services HOST:PORT here, throng serve --allow-service HOST:PORT on a server"},
		{"there is no secret ", "a secret NAME is read from the environment variable THRONG_SECRET_NAME here; a server keeps it with throng workflow secret set NAME"},
	} {
		if slices.ContainsFunc(s.Errors, func(e workflows.Failure) bool { return strings.Contains(e.Message, h.cause) }) {
			say(w, "%s\n", h.hint)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Outputs)) {
		say(w, "%s: %s\n", clean(s.Outputs[name]), format.Count(s.rows[name], "row"))
	}
}
