package cli

import (
	"io"
	"os"
	"slices"
	"strconv"

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
	Method      string `placeholder:"NAME" help:"majority, median or dawid-skene; default: what fits --kind, else dawid-skene."`
	Kind        string `placeholder:"KIND" help:"The kind of question that was asked; \"throng task kinds\" lists them."`
	Truth       string `placeholder:"FILE" help:"Known labels (columns task, label) to score the result by."`
	Gold        string `placeholder:"FILE" help:"Known labels (columns task, label) to learn from; only dawid-skene does."`
	Out         string `placeholder:"FILE" help:"Write the labels there; - for standard output."`
	Workers     string `placeholder:"FILE" help:"Write how each worker did there."`
	KeepRepeats bool   `help:"Keep every answer of a worker to a task; else the last one counts."`
	SkipBad     bool   `help:"Leave out rows that are wrong, instead of stopping."`
	Output
}

// labelReport is what label prints.
type labelReport struct {
	File       string   `json:"file"`
	Asked      string   `json:"method_asked"`
	Method     string   `json:"method"` // the one that was used
	Rows       int      `json:"rows"`
	Answers    int      `json:"answers"` // without repeats
	Tasks      int      `json:"tasks"`
	Workers    int      `json:"workers"`
	Classes    int      `json:"classes"`
	Redundancy float64  `json:"redundancy"`  // answers a task
	Scale      string   `json:"alpha_scale"` // nominal, ordinal or interval
	Alpha      *float64 `json:"alpha"`       // nil: not defined
	Unanimous  *float64 `json:"unanimous"`   // nil: no task has two answers
	Ties       int      `json:"ties"`        // tasks
	Iterations int      `json:"iterations"`  // 0: the method makes none
	Converged  bool     `json:"converged"`   //
	Accuracy   *float64 `json:"accuracy"`    // nil: no truth
	Scored     int      `json:"scored"`      // tasks whose truth is known
	Gold       int      `json:"gold"`        // tasks learnt from
	Bad        int      `json:"bad"`         // rows left out
	NotCounted int      `json:"not_counted"` // rows whose column "counted" is false

	truth bool // known labels are there to score by
}

// Run reads the answers and combines them.
func (l *Label) Run(c *Context) error {
	method, err := l.method()
	if err != nil {
		return err
	}
	_, learns := method.(label.DawidSkene)
	if l.Gold != "" && !learns {
		return wrong("gold", "%s learns nothing from known labels: use --method dawid-skene, or give them as --truth, to see how often it is right", method.Name())
	}
	truth, err := l.known(c, l.Truth, method)
	if err != nil {
		return err
	}
	gold, err := l.known(c, l.Gold, method)
	if err != nil {
		return err
	}
	report := labelReport{File: l.File, Asked: method.Name()}
	builder := label.Builder{KeepRepeats: l.KeepRepeats}
	for _, known := range []map[string]string{truth, gold} {
		for _, class := range known {
			builder.Class(class)
		}
	}
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
		return err
	}
	if sameFile(l.File, l.Out) || sameFile(l.File, l.Workers) {
		return crowd.Fieldf("out", "is the file that is read; it would be overwritten")
	}
	data := builder.Build()
	if data.Len() == 0 {
		return ofFile(l.File, crowd.Errorf(crowd.Invalid, "there is no answer in the file"))
	}
	result, err := l.fit(method, data, truth, gold, &report)
	if err != nil {
		return ofFile(l.File, err)
	}
	for _, out := range []struct {
		name  string
		write func(io.Writer, string, *label.Result) error
	}{{l.Out, writeLabels}, {l.Workers, writeWorkers}} {
		if out.name == "" {
			continue
		}
		if err := c.save(out.name, func(w io.Writer) error { return out.write(w, out.name, result) }); err != nil {
			return err
		}
	}
	if l.Out == "-" || l.Workers == "-" { // the table has standard output for itself
		c = &Context{Stdout: c.Stderr}
	}
	return l.print(c, report, report.show)
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
	layout := table.Layout[answer]{Columns: columns, Exact: true}
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
	err = layout.Each(rows, func(r *table.Record[answer]) error { return add(&r.Value) })
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
	if median, ok := method.(label.Median); ok {
		if err := median.Check(text); err != nil {
			return crowd.Fieldf("label", "%s", err)
		}
	}
	return nil
}

func (l *Label) fit(method label.Method, data *label.Dataset, truth, gold map[string]string, report *labelReport) (*label.Result, error) {
	goldTruth, err := data.Truth(gold)
	if err != nil {
		return nil, err
	}
	if gold == nil {
		goldTruth = nil
	}
	result, err := method.Fit(data, goldTruth)
	if err != nil {
		return nil, err
	}
	report.Method, report.Iterations, report.Converged = result.Method, result.Iterations, result.Converged
	report.Answers, report.Tasks, report.Workers, report.Classes = data.Len(), len(data.Tasks()), len(data.Workers()), len(data.Classes())
	report.Redundancy, report.Gold = data.Redundancy(), goldTruth.Known()
	scale := task.Kind(l.Kind).Describe().Scale
	if _, ordered := method.(label.Median); ordered && l.Kind == "" {
		scale = label.Ordinal
	}
	report.Scale = scale.String()
	if alpha, ok := label.Alpha(data, scale); ok {
		report.Alpha = &alpha
	}
	if share, ok := label.Unanimity(data); ok {
		report.Unanimous = &share
	}
	report.Ties = lists.Count(result.Ties, func(tie bool) bool { return tie })
	if truth == nil {
		return result, nil
	}
	known, err := data.Truth(truth)
	if err != nil {
		return nil, err
	}
	for i := range goldTruth {
		if goldTruth[i] != label.None {
			known[i] = label.None // what was learnt from proves nothing
		}
	}
	report.truth = len(truth) > 0
	if accuracy, n := result.Accuracy(known); n > 0 {
		report.Accuracy, report.Scored = &accuracy, n
	}
	return result, nil
}

// show prints the report for people.
func (r labelReport) show(w io.Writer) {
	share := func(f *float64) string {
		if f == nil {
			return "not defined"
		}
		return fixed(4, *f)
	}
	method := r.Method
	if r.Method != r.Asked {
		method += " (" + r.Asked + " needs more answers a task, or gold)"
	} else if r.Iterations > 0 {
		method += " (" + format.Count(r.Iterations, "iteration") + ")"
	}
	accuracy := share(r.Accuracy) + " of " + format.Count(r.Scored, "task") + " with known truth, ties shared"
	pairs(w, "answers", r.Answers, "tasks", r.Tasks, "workers", r.Workers, "classes", r.Classes, "answers a task", fixed(2, r.Redundancy),
		"rows left out", when(r.Bad > 0, strconv.Itoa(r.Bad)), "method", method, "gold", when(r.Gold > 0, format.Count(r.Gold, "task")+" learnt from"),
		"alpha", share(r.Alpha)+" ("+r.Scale+")", "unanimous", share(r.Unanimous), "ties", format.Count(r.Ties, "task"),
		"accuracy", when(r.Accuracy != nil, accuracy)+when(r.truth && r.Accuracy == nil, "not known: no task that was answered, and not learnt from, is in the file of --truth"))
}

// tableOut begins a table of texts and figures in the format that the file's name
// says.
func tableOut(w io.Writer, name string, texts, figures []string) (*table.Writer, error) {
	f, err := formatOut("", name)
	if err != nil {
		return nil, err
	}
	return table.NewWriter(w, slices.Concat(texts, figures), table.WriterOptions{Format: f, JSONColumns: figures})
}

func writeLabels(w io.Writer, name string, r *label.Result) error {
	out, err := tableOut(w, name, []string{"task", "label"}, []string{"confidence", "answers", "tie"})
	if err != nil {
		return err
	}
	for i, id := range r.Data.Tasks() {
		workers, _ := r.Data.Answers(i)
		if err := out.Write(cells(id, r.Label(i), r.Confidence(i), len(workers), r.Ties[i])); err != nil {
			return err
		}
	}
	return out.Flush()
}

func writeWorkers(w io.Writer, name string, r *label.Result) error {
	out, err := tableOut(w, name, []string{"worker"}, []string{"answers", "agreement", "accuracy", "information"})
	if err != nil {
		return err
	}
	answered, agreement := r.Data.Answered(), r.Agreement()
	for j, worker := range r.Data.Workers() {
		accuracy, information := "", ""
		if r.Model != nil {
			accuracy = figure(r.Model.Accuracy(j))
			if score, ok := r.Model.SpammerScore(j); ok {
				information = figure(score)
			}
		}
		if err := out.Write(cells(worker, answered[j], agreement[j], accuracy, information)); err != nil {
			return err
		}
	}
	return out.Flush()
}

// sameFile reports whether two paths name one file that is there.
func sameFile(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}
