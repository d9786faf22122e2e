package cli

import (
	"io"
	"strconv"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/table"
)

// Download is where a table goes, and in which form.
type Download struct {
	Out    string `placeholder:"FILE" help:"Write there, whole or not at all; default: standard output."`
	Format string `help:"csv, tsv or jsonl; default: by the file's name, or csv."`
}

// format is the form of the table: --json without --format asks for JSON Lines.
func (d *Download) format(asJSON bool) (string, error) {
	f, err := table.ParseFormat(d.Format)
	if f == table.Auto {
		f = table.FormatOf(d.Out)
	}
	if f == table.Auto && asJSON {
		f = table.JSONL
	}
	if f == table.Auto {
		f = table.CSV
	}
	return string(f), err
}

// BatchResults is "throng batch results".
type BatchResults struct {
	One
	Download
	All bool `help:"Assignments that ended without an answer too."`
}

// Help is the long help.
func (*BatchResults) Help() string {
	return `Downloads every answer of a batch, one a row: who gave it, when, how long it took, whether it counted, what it paid, and the task's own columns as Input.NAME. --json stands for --format jsonl.

Examples:
  throng batch results b17 --out answers.csv
  throng batch results b17 | throng label -`
}

// Run downloads the answers.
func (x *BatchResults) Run(c *Context) error {
	format, err := x.format(x.JSON)
	if err != nil {
		return err
	}
	r, err := x.connect(c)
	if err != nil {
		return err
	}
	return c.save(x.Out, func(w io.Writer) error { return r.Annotations(c.Ctx, x.ID, w, format, x.All) })
}

// BatchLabels is "throng batch labels".
type BatchLabels struct {
	One
	Download
	Method string `default:"live" help:"live: as given while answers came in; majority or dawid-skene: from all answers together."`
}

// Help is the long help.
func (*BatchLabels) Help() string {
	return `Downloads the label of every task of a batch, one a row, with its confidence, and the task's own columns as Input.NAME. --json stands for --format jsonl.

Examples:
  throng batch labels b17 --out labels.csv
  throng batch labels b17 --method dawid-skene --format jsonl`
}

// Run downloads the labels.
func (x *BatchLabels) Run(c *Context) error {
	format, err := x.format(x.JSON)
	if err != nil {
		return err
	}
	r, err := x.connect(c)
	if err != nil {
		return err
	}
	return c.save(x.Out, func(w io.Writer) error { return r.Labels(c.Ctx, x.ID, w, format, x.Method) })
}

// BatchQuality is "throng batch quality".
type BatchQuality struct {
	One
	Method string `default:"dawid-skene" help:"majority or dawid-skene."`
}

// Help is the long help.
func (*BatchQuality) Help() string {
	return `Looks at the answers of a batch as a whole: how far they agree (Krippendorff's alpha), how right they are where the answer is known, and how each worker does.

Example:
  throng batch quality b17`
}

// Run shows the quality.
func (x *BatchQuality) Run(c *Context) error {
	r, err := x.connect(c)
	if err != nil {
		return err
	}
	q, err := r.Quality(c.Ctx, x.ID, x.Method)
	if err != nil {
		return err
	}
	share := func(f *float64) string {
		if f == nil {
			return "not known"
		}
		return strconv.FormatFloat(*f, 'f', 4, 64)
	}
	return x.print(c, q, func(w io.Writer) {
		pairs(w, "method", q.Method, "alpha", share(q.Alpha), "unanimous", share(&q.Unanimous),
			"accuracy", share(q.Accuracy)+" on "+format.Count(q.GoldTasks, "task")+" with a known answer")
		rows := [][]string{{"WORKER", "NAME", "ANSWERS", "AGREEMENT", "ACCURACY"}}
		for _, k := range q.Workers {
			rows = append(rows, []string{k.Worker, k.Name, strconv.Itoa(k.Answers), share(&k.Agreement), share(k.Accuracy)})
		}
		say(w, "\n")
		columns(w, rows)
	})
}
