package cli

import (
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/schollz/progressbar/v3"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/similarity"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// Label is "throng label".
type Label struct {
	File        string `arg:"" help:"Answers: CSV, TSV or JSON Lines with the columns task, worker, label; - for standard input."`
	Method      string `placeholder:"NAME" help:"How answers are combined; default: what fits --kind, else ds-map. bt ranks items that were compared."`
	Kind        string `placeholder:"KIND" help:"The kind of question that was asked; \"throng task kinds\" lists them."`
	Truth       string `placeholder:"FILE" help:"Known labels (columns task, label) to score the result by."`
	Gold        string `placeholder:"FILE" help:"Known labels (columns task, label) to learn from; ds-map, robust, onecoin, incremental, ds and per-option do."`
	Out         string `placeholder:"FILE" help:"Write the labels there; - for standard output."`
	Workers     string `placeholder:"FILE" help:"Write how each worker did there."`
	Picture     string `placeholder:"FILE" help:"Draw workers' skills, how they err and how sure the labels are there, as SVG."`
	KeepRepeats bool   `help:"Keep every answer of a worker to a task; else the last one counts."`
	SkipBad     bool   `help:"Leave out rows that are wrong, instead of stopping."`
	Output
}

// Run reads the answers and combines them.
func (l *Label) Run(c *Context) error {
	if l.Method == compareMethod {
		return l.rank(c)
	}
	method, err := l.method()
	if err != nil {
		return err
	}
	if l.Gold != "" && !method.UsesGold() {
		return wrong("gold", "%s learns nothing from known labels: use --method ds-map, or give them as --truth, to see how often it is right", method.Name())
	}
	truth, err := l.known(c, l.Truth, method)
	if err != nil {
		return err
	}
	gold, err := l.known(c, l.Gold, method)
	if err != nil {
		return err
	}
	report := labelReport{File: l.File, Asked: method.Name(), truth: len(truth) > 0}
	data, err := l.answers(c, method, &report, truth, gold)
	if err != nil {
		return err
	}
	for _, out := range []string{l.Out, l.Workers, l.Picture} {
		if sameFile(l.File, out) {
			return crowd.Fieldf("out", "is the file that is read; it would be overwritten")
		}
	}
	result, known, err := l.fit(method, data, truth, gold, &report)
	if err != nil {
		return ofFile(l.File, err)
	}
	if n := len(report.GoldUnused); n > 0 {
		say(c.Stderr, "%s: of %s nobody answered %s: %s\n", l.Gold, format.Count(len(gold), "task"), format.Count(n, "task"), format.Clip(strings.Join(report.GoldUnused, ", "), 80))
	}
	if n := len(report.GoldUnsaid); n > 0 {
		say(c.Stderr, "%s: nobody gave %s to any task, and labels are compared letter by letter: are they written as in %s?\n", l.Gold, format.Clip(strings.Join(lists.Map(report.GoldUnsaid, strconv.Quote), ", "), 80), l.File)
	}
	if err := l.write(c, result, known); err != nil {
		return err
	}
	if l.Out == "-" || l.Workers == "-" { // the table has standard output for itself
		c = &Context{Stdout: c.Stderr}
	}
	return l.print(c, report, report.show)
}

// answers reads the answers. The classes of known labels are classes, too.
func (l *Label) answers(c *Context, method label.Method, report *labelReport, known ...map[string]string) (*label.Dataset, error) {
	builder := label.Builder{KeepRepeats: l.KeepRepeats}
	for _, labels := range known {
		for _, class := range labels {
			builder.Class(class)
		}
	}
	var err error
	report.Bad, err = l.read(c, l.File, func(a *answer) error {
		report.Rows++
		if a.counted == "false" {
			report.NotCounted++
			return nil
		}
		if err := combinable(method, a.label); err != nil {
			return err
		}
		builder.Add(label.Answer{Task: a.task, Worker: a.worker, Label: a.label})
		return nil
	}, taskColumn, workerColumn, labelColumn, countedColumn)
	if err != nil {
		return nil, err
	}
	data := builder.Build()
	if data.Len() == 0 {
		return nil, ofFile(l.File, crowd.Errorf(crowd.Invalid, "there is no answer in the file"))
	}
	return data, nil
}

// write writes the files that are asked for; known are labels to score by.
func (l *Label) write(c *Context, result *label.Result, known label.Truth) error {
	for _, out := range []struct {
		name  string
		write func(io.Writer, string, *label.Result) error
	}{{l.Out, writeLabels}, {l.Workers, writeWorkers}, {l.Picture, func(w io.Writer, _ string, r *label.Result) error { return drawLabels(w, r, known) }}} {
		if out.name == "" {
			continue
		}
		if err := c.save(out.name, func(w io.Writer) error { return out.write(w, out.name, result) }); err != nil {
			return err
		}
	}
	return nil
}

func (l *Label) method() (label.Method, error) {
	kind := task.Kind(l.Kind)
	if l.Kind != "" && !slices.Contains(task.Kinds(), kind) {
		return nil, wrong("kind", "%q is not known%s (see throng task kinds)", l.Kind, similarity.DidYouMean(l.Kind, lists.Map(task.Kinds(), func(k task.Kind) string { return string(k) })))
	}
	return kind.Describe().Method(l.Method)
}

// known reads a table of task and label.
func (l *Label) known(c *Context, name string, method label.Method) (map[string]string, error) {
	if name == "" {
		return nil, nil
	}
	known := make(map[string]string)
	_, err := l.read(c, name, func(a *answer) error {
		if before, twice := known[a.task]; twice && before != a.label {
			return crowd.Fieldf("label", "task %q is said to be %q, and before %q", a.task, a.label, before)
		}
		if err := combinable(method, a.label); err != nil {
			return err
		}
		known[a.task] = a.label
		return nil
	}, taskColumn, labelColumn)
	if err == nil && len(known) == 0 {
		err = ofFile(name, crowd.Errorf(crowd.Invalid, "there is no label in the file"))
	}
	return known, err
}

// answer is a row of a file of answers or labels.
type answer struct{ task, worker, label, counted string }

// read passes the rows of a table with these columns to add, and returns how many
// it left out.
func (l *Label) read(c *Context, name string, add func(*answer) error, columns ...table.Column[answer]) (bad int, err error) {
	return readTable(c, l, name, add, columns...)
}

// readTable passes the rows of any table to add, and returns how many it left out.
func readTable[T any](c *Context, l *Label, name string, add func(*T) error, columns ...table.Column[T]) (bad int, err error) {
	in, size, err := c.open(name)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	bar := c.bar(size, "reading "+name, true)
	defer bar.Exit()
	reader := progressbar.NewReader(in, bar)
	rows, err := table.NewReader(&reader, table.Options{Format: table.FormatOf(name)})
	if err != nil {
		return 0, ofFile(name, err)
	}
	layout := table.Layout[T]{Columns: columns, Exact: true}
	if l.SkipBad {
		layout.Skip = func(wrong crowd.Errors) {
			for _, e := range wrong {
				if bad < table.MaxErrors {
					say(c.Stderr, "%s\n", rowLine(name, e))
				}
			}
			bad++
		}
	}
	err = layout.Each(rows, func(r *table.Record[T]) error { return add(&r.Value) })
	return bad, ofFile(name, err)
}

// The columns of a file of answers or labels.
var (
	taskColumn    = table.Column[answer]{Name: "task", Required: true, Filled: true, Read: table.Text(func(a *answer) *string { return &a.task })}
	workerColumn  = table.Column[answer]{Name: "worker", Required: true, Filled: true, Read: table.Text(func(a *answer) *string { return &a.worker })}
	labelColumn   = table.Column[answer]{Name: "label", Required: true, Filled: true, Read: table.Text(func(a *answer) *string { return &a.label })}
	countedColumn = table.Column[answer]{Name: "counted", Read: table.Text(func(a *answer) *string { return &a.counted })}
)

// combinable refuses a label of a row that the method cannot combine.
func combinable(method label.Method, text string) error {
	if m, picky := method.(label.Checker); picky {
		if err := m.Check(text); err != nil {
			return crowd.Fieldf("label", "%s", err)
		}
	}
	return nil
}

// sameFile reports whether two paths name one file that is there.
func sameFile(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}
