package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
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
	Workflow string                `json:"workflow"`
	Run      crowd.RunID           `json:"run"`
	Seed     uint64                `json:"seed"`
	Workers  int                   `json:"workers"`
	Policy   string                `json:"policy"`
	Steps    []simulatedStep       `json:"steps"`
	Outputs  map[string]string     `json:"outputs"`
	Accuracy map[string]float64    `json:"accuracy"`
	Penalty  simulatedPenalty      `json:"penalty"`
	Spent    json.Number           `json:"spent"`
	VirtualS float64               `json:"virtual_s"`
	WallS    float64               `json:"wall_s"`
	GaveUp   int                   `json:"gave_up"`
	BadRows  map[string][]badInput `json:"bad_rows"`
	Errors   []simulatedError      `json:"errors"`

	rows map[string]int // of outputs
	bad  map[string]int64
}

type simulatedStep struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`
	In       int64    `json:"in"`
	OK       int64    `json:"ok"`
	Skipped  int64    `json:"skipped"`
	Failed   int64    `json:"failed"`
	Held     int64    `json:"held"`
	Answers  int      `json:"answers"`
	Accuracy *float64 `json:"accuracy"`
	MeanS    *float64 `json:"mean_s"`
}

type simulatedPenalty struct {
	Paid      json.Number `json:"paid"`
	Predicted json.Number `json:"predicted"`
	Ended     int64       `json:"ended"`
	Late      int64       `json:"late"`
}

type badInput struct {
	Line    int    `json:"line"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

type simulatedError struct {
	Step    string `json:"step"`
	Item    int64  `json:"item"`
	Message string `json:"message"`
}

// maxErrorsTold is how many items that were given up are told one by one.
const maxErrorsTold = 100

// simulate runs the workflow here, with model workers.
func (x *WorkflowRun) simulate(c *Context, w *workflow.Workflow, text string) (err error) {
	ctx, stop := c.untilFirstSignal()
	defer stop()
	setup := workflows.Setup{Text: text, Workers: *x.SimulateWorkers, Policy: x.Policy, Seed: 1, Budget: x.Budget.Money}
	if x.Seed != nil {
		setup.Seed = *x.Seed
	}
	if setup.Policy == "" {
		setup.Policy = workflows.DefaultPolicy
	}
	if _, err := sched.Parse(setup.Policy); err != nil {
		return err
	}
	allow, err := allowed("services", splitCommas(x.Services))
	if err != nil {
		return err
	}
	dir := x.Out
	if dir == "" {
		dir = folderName(w.Name)
	}
	places, err := x.places(dir, w)
	if err != nil {
		return err
	}
	files, closeAll, err := x.openInputs(c)
	if err != nil {
		return err
	}
	defer closeAll()
	setup.Inputs = files
	scratch, err := os.MkdirTemp("", "throng-workflow-*")
	if err != nil {
		return err
	}
	defer func() { err = firstOf(err, os.RemoveAll(scratch)) }()
	if setup.Store, err = sqlite.Open(ctx, filepath.Join(scratch, "run.db"), sqlite.Options{Scratch: true}); err != nil {
		return err
	}
	defer func() { err = firstOf(err, setup.Store.Close()) }()
	setup.Services = httpstep.NewClient(httpstep.Options{Allow: allow, Now: now, Secrets: environmentSecret})
	defer setup.Services.Close()
	out, err := x.play(ctx, c, setup, places)
	if err != nil {
		return err
	}
	return x.print(c, out, func(w io.Writer) { writeSimulated(w, out) })
}

// environmentSecret finds a secret of a simulated run in the environment.
func environmentSecret(name string) (string, bool) { return os.LookupEnv("THRONG_SECRET_" + name) }

func splitCommas(list []string) (out []string) {
	for _, text := range list {
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

// folderName makes a name of a folder of that of a workflow.
func folderName(name string) string {
	name = strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '-'
		}
		return r
	}, name), " .")
	if name == "" {
		return "workflow"
	}
	return name
}

// openInputs opens the files of the inputs.
func (x *WorkflowRun) openInputs(c *Context) (_ map[string]table.Rows, closeAll func(), err error) {
	rows := make(map[string]table.Rows)
	var opened []io.Closer
	closeAll = func() {
		for _, f := range opened {
			_ = f.Close() // they were only read
		}
	}
	for _, in := range x.Input {
		file, size, err := c.open(in.path)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		opened = append(opened, file)
		options := table.Options{Format: table.FormatOf(in.path)}
		if at, ok := file.(io.ReaderAt); ok && size >= 0 {
			rows[in.name], err = table.OpenFile(at, size, options)
		} else {
			rows[in.name], err = table.NewReader(file, options)
		}
		if err != nil {
			closeAll()
			return nil, nil, ofFile(in.path, fmt.Errorf("%s: %w", in.name, err))
		}
	}
	return rows, closeAll, nil
}

// play runs it, writes the outputs and looks at what came of it.
func (x *WorkflowRun) play(ctx context.Context, c *Context, setup workflows.Setup, places map[string]string) (*simulated, error) {
	bar := c.bar(-1, "simulating", false)
	setup.Progress = func(v *orchestrator.View) {
		n := int64(0)
		for i := range v.Nodes {
			n += v.Nodes[i].Last
		}
		_ = bar.Set64(n) // a bar that cannot be drawn stops nothing
	}
	began := now()
	world, err := workflows.Run(ctx, setup)
	_ = bar.Finish()
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("interrupted; nothing was written")
	case err != nil:
		return nil, ofWorkflow(x.File, err)
	}
	v, err := world.Orchestrator.View(ctx, 0, world.Run)
	if err != nil {
		return nil, err
	}
	spent := crowd.Money(0)
	for _, n := range v.Nodes {
		if n.Batch != nil {
			spent += n.Batch.Progress.Spent
		}
	}
	out := &simulated{
		Workflow: v.Flow.Name, Run: world.Run, Seed: setup.Seed, Workers: setup.Workers, Policy: setup.Policy, Outputs: make(map[string]string),
		Accuracy: make(map[string]float64), Spent: money(spent), VirtualS: world.Ended.Sub(world.Began).Seconds(), GaveUp: world.GaveUp,
		Penalty: simulatedPenalty{money(v.Penalty), money(v.Predicted), v.Ended, v.Late}, BadRows: make(map[string][]badInput),
		Errors: []simulatedError{}, Steps: []simulatedStep{}, rows: make(map[string]int), bad: make(map[string]int64),
	}
	for name, l := range world.Loaded {
		out.BadRows[name], out.bad[name] = []badInput{}, l.Bad
		for _, e := range l.Some {
			out.BadRows[name] = append(out.BadRows[name], badInput{e.Row, e.Field, e.Message})
		}
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Step == nil {
			continue
		}
		s := simulatedStep{Name: n.Name, Kind: n.Kind, In: v.Taken(i), OK: n.OK, Skipped: n.Skipped, Failed: n.Failed, Held: world.Held[n.Name]}
		if n.Batch != nil {
			s.Answers = n.Batch.Progress.Completed
		}
		if err := out.measure(ctx, setup.Store, v, i, &s); err != nil {
			return nil, err
		}
		out.Steps = append(out.Steps, s)
	}
	if err := out.write(ctx, c, world, places); err != nil {
		return nil, err
	}
	out.WallS = now().Sub(began).Seconds()
	return out, nil
}

// money is an amount as a number of JSON, in the currency.
func money(m crowd.Money) json.Number { return json.Number(m.String()) }

// measure looks at the rows and labels of a step.
func (s *simulated) measure(ctx context.Context, st store.Store, v *orchestrator.View, node int, x *simulatedStep) error {
	n := &v.Nodes[node]
	var with []int
	for _, from := range n.Step.From {
		with = append(with, from.Node)
	}
	const page = 1000
	sum, ok := 0.0, 0
	for after := int64(0); ; {
		rows, err := st.Rows(ctx, v.ID, n.Node.Node, after, page, with)
		if err != nil {
			return err
		}
		for i := range rows {
			r := &rows[i]
			after = r.N
			if r.State == store.RowFailed && len(s.Errors) < maxErrorsTold && !broughtFailed(r) {
				s.Errors = append(s.Errors, simulatedError{n.Name, r.Item, r.Error})
			}
			var came time.Time // the last of its sources
			for _, from := range r.With {
				if from.At.After(came) {
					came = from.At
				}
			}
			if r.State == store.RowOK && !came.IsZero() {
				sum += r.At.Sub(came).Seconds()
				ok++
			}
		}
		if len(rows) < page {
			break
		}
	}
	if ok > 0 && !n.Step.MakesItems() {
		mean := math.Round(sum/float64(ok)*1e6) / 1e6
		x.MeanS = &mean
	}
	if n.Batch == nil || n.Step.Crowd().Truth == "" {
		return nil
	}
	right, known := 0, 0
	for t, err := range st.Labels(ctx, v.Tenant, n.Batch.Spec.ID) {
		if err != nil {
			return err
		}
		if t.Gold == "" || t.Label == nil {
			continue
		}
		if known++; t.Label.Value == t.Gold {
			right++
		}
	}
	if known > 0 {
		share := float64(right) / float64(known)
		x.Accuracy, s.Accuracy[x.Name] = &share, share
	}
	return nil
}

// broughtFailed reports whether an item had failed before it came.
func broughtFailed(r *store.JoinedRow) bool {
	for _, from := range r.With {
		if from.State == store.RowFailed {
			return true
		}
	}
	return false
}

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
	writeTable(w, s.Steps, "STEP|KIND|IN|OK|SKIPPED|FAILED|ANSWERS|ACCURACY|MEAN", func(x simulatedStep) []any {
		accuracy, mean := "", ""
		if x.Accuracy != nil {
			accuracy = fmt.Sprintf("%.1f %%", *x.Accuracy*100)
		}
		if x.MeanS != nil {
			mean = time.Duration(*x.MeanS * float64(time.Second)).Round(time.Millisecond).String()
		}
		return []any{x.Name, x.Kind, x.In, x.OK, x.Skipped, x.Failed, x.Answers, accuracy, mean}
	})
	say(w, "spent %s; penalty %s", s.Spent, s.Penalty.Paid)
	if s.Penalty.Ended > 0 {
		say(w, ", %d of %d items late", s.Penalty.Late, s.Penalty.Ended)
	}
	say(w, "\n")
	for _, name := range sortedNames(s.BadRows) {
		for _, b := range s.BadRows[name] {
			say(w, "%s\n", clean(rowLine(name, &crowd.Error{Field: b.Field, Row: b.Line, Message: b.Message})))
		}
		if s.bad[name] > 0 {
			say(w, "%s: %s; the rest went on\n", clean(name), format.Count(int(s.bad[name]), "bad row"))
		}
	}
	if s.GaveUp > 0 {
		say(w, "given up in the end, after errors: %s\n", format.Count(s.GaveUp, "item"))
	}
	const some = 5
	for i, e := range s.Errors {
		if i == some {
			say(w, "… --json tells of up to %d\n", maxErrorsTold)
			break
		}
		say(w, "%s\n", clean(fmt.Sprintf("  %s, item %d: %s", e.Step, e.Item, e.Message)))
	}
	for _, e := range s.Errors {
		if strings.Contains(e.Message, "the operator can allow it") {
			say(w, "private places are called only if they are named: --services HOST:PORT here, throng serve --allow-service HOST:PORT on a server\n")
			break
		}
	}
	for _, e := range s.Errors {
		if strings.Contains(e.Message, "there is no secret ") {
			say(w, "a secret NAME is read from the environment variable THRONG_SECRET_NAME here; a server keeps it with throng workflow secret set NAME\n")
			break
		}
	}
	for _, name := range sortedNames(s.Outputs) {
		say(w, "%s: %s\n", clean(s.Outputs[name]), format.Count(s.rows[name], "row"))
	}
}
