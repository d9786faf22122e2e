package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/wire"
)

// Download is where a table goes, and in which form.
type Download struct {
	Out    string `placeholder:"FILE" help:"Write there, whole or not at all; default: standard output."`
	Format string `help:"csv, tsv or jsonl; default: by the file's name, or csv."`
	Guarded
}

// Guarded is the flag of a table that a spreadsheet will open.
type Guarded struct {
	Spreadsheet bool `help:"CSV or TSV: put an apostrophe before each cell that a spreadsheet would run as a formula."`
}

// form is the form of a table in this format.
func (g Guarded) form(f table.Format) (client.TableForm, error) {
	if g.Spreadsheet && (f == table.JSONL || f == table.Parquet) {
		return client.TableForm{}, wrong("spreadsheet", "goes with csv and tsv; %s is not opened by spreadsheets", f)
	}
	return client.TableForm{Format: string(f), Spreadsheet: g.Spreadsheet}, nil
}

// formatOut is the format of a table that goes to this file: the one that is
// asked for, or else what the file's name says.
func formatOut(asked, file string) (table.Format, error) {
	f, err := table.ParseFormat(asked)
	if err == nil && f == table.Auto && toFile(file) {
		return table.FormatToWrite(file)
	}
	return f, err
}

// tableForm is the form of the table: --json without --format asks for JSON Lines.
func (d *Download) tableForm(asJSON bool) (client.TableForm, error) {
	f, err := formatOut(d.Format, d.Out)
	if f == table.Auto && asJSON {
		f = table.JSONL
	}
	if f == table.Auto {
		f = table.CSV
	}
	if err != nil {
		return client.TableForm{}, err
	}
	return d.form(f)
}

// BatchResults is "throng batch results".
type BatchResults struct {
	One
	Download
	All    bool   `help:"Assignments that ended without an answer too."`
	CSV    bool   `name:"csv" help:"CSV, whatever the file's name says."`
	Filter string `placeholder:"CONDITIONS" help:"Only tasks that meet all, such as 'agree:no confidence:<0.9 worker:w_...' (see docs/results.md)."`
	Rows   string `placeholder:"KIND" help:"What a row is: answers, or tasks with their labels; default: answers."`
	Method string `placeholder:"NAME" help:"How labels are made: live, as while answers came in, or a method such as majority or robust (see throng label); default: for each field what fits best."`
	Names  bool   `help:"Say who the workers are, by id and name, next to the tenant's pseudonyms; needs the permission people.names."`
}

// Run downloads the answers.
func (x *BatchResults) Run(c *Context, r *remote) error {
	if x.CSV {
		if x.Format != "" && x.Format != string(table.CSV) || x.JSON {
			return wrong("csv", "goes neither with --json nor with another --format")
		}
		x.Format = string(table.CSV)
	}
	form, err := x.tableForm(x.JSON)
	if err != nil {
		return err
	}
	form.Names = x.Names
	if x.Filter == "" && x.Method == "" && (x.Rows == "" || x.Rows == "answers") {
		return c.save(x.Out, func(w io.Writer) error { return r.Annotations(c.Ctx, x.ID, w, form, x.All) })
	}
	if x.All {
		return wrong("all", "goes neither with --filter nor with --method or --rows tasks: those have the answers that count")
	}
	return c.save(x.Out, func(w io.Writer) error {
		return r.Results(c.Ctx, x.ID, w, form, client.ResultsQuery{Filter: x.Filter, Method: x.Method, Rows: cmp.Or(x.Rows, "answers")})
	})
}

// BatchLabels is "throng batch labels".
type BatchLabels struct {
	One
	Download
	Method string `default:"live" help:"live: as given while answers came in; or a method that makes them of all answers together, such as majority, ds-map or robust (see throng label)."`
}

// Run downloads the labels.
func (x *BatchLabels) Run(c *Context, r *remote) error {
	form, err := x.tableForm(x.JSON)
	if err != nil {
		return err
	}
	return c.save(x.Out, func(w io.Writer) error { return r.Labels(c.Ctx, x.ID, w, form, x.Method) })
}

// BatchQuality is "throng batch quality".
type BatchQuality struct {
	One
	Method string `placeholder:"NAME" help:"A method that fits the batch's kind, such as majority, ds-map or robust (see throng label); default: what fits best."`
}

// Run shows the quality.
func (x *BatchQuality) Run(c *Context, r *remote) error {
	q, err := r.Quality(c.Ctx, x.ID, x.Method)
	if err != nil {
		return err
	}
	share := func(f *float64) string {
		if f == nil {
			return "not known"
		}
		return fixed(4, *f)
	}
	return x.print(c, q, func(w io.Writer) {
		if q.Method == "" {
			say(w, "there are no answers yet\n")
			showLearners(w, q.Learning)
			return
		}
		method := q.Method + when(q.Method != q.Asked, " ("+q.Asked+" needs more answers a task)")
		unanimous, accuracy := "not known (no task has several answers)", "not known (the file has no known answers)"
		if q.Several > 0 {
			unanimous = share(&q.Unanimous)
		}
		if q.GoldTasks > 0 {
			accuracy = share(q.Accuracy) + " on " + format.Count(q.GoldTasks, "task") + " with a known answer"
		}
		if q.Learnt {
			accuracy += ", before learning from them"
		}
		pairs(w, "method", method, "alpha", share(q.Alpha)+" ("+q.Scale+")", "unanimous", unanimous, "accuracy", accuracy)
		say(w, "\n")
		modelled := slices.ContainsFunc(q.Workers, func(k wire.WorkerQuality) bool { return k.Accuracy != nil })
		trained := slices.ContainsFunc(q.Workers, func(k wire.WorkerQuality) bool { return k.Taught > 0 })
		writeTable(w, q.Workers, "WORKER|ANSWERS|AGREEMENT|SKILL|KNOWN ANSWERS"+when(trained, "|TRAINING")+when(modelled, "|MODEL'S ESTIMATE"), func(k wire.WorkerQuality) []any {
			row := []any{calledBy(k.Worker, k.Name) + when(k.Blocked, " (blocked)") + weighing(", answers count ", k.Weight), k.Answers, share(&k.Agreement), fmt.Sprintf("%.2f (%.2f to %.2f)", k.Skill, k.SkillLow, k.SkillHigh),
				cmp.Or(when(k.GoldAnswers > 0, fmt.Sprintf("%d of %d right", k.GoldRight, k.GoldAnswers)), "-")}
			if trained {
				row = append(row, cmp.Or(when(k.Taught > 0, fmt.Sprintf("%d of %d right", k.TaughtRight, k.Taught)), "-"))
			}
			if modelled {
				row = append(row, share(k.Accuracy))
			}
			return row
		})
		for _, g := range q.Groups {
			say(w, "\nThese %d answer alike more than honest people do, and count as one: %s\n", len(g.Workers), format.Clip(strings.Join(members(&g), ", "), 200))
			say(w, "  %s\n", evidence(g.Agreement, g.Chance, g.Beyond, g.Honest, g.Shared))
		}
		showLearners(w, q.Learning)
	})
}

// showLearners prints who has answered training tasks only.
func showLearners(w io.Writer, list []wire.Learner) {
	for _, k := range list {
		say(w, "only trained yet: %s, %d of %d right\n", calledBy(k.Worker, k.Name), k.Right, k.Answers)
	}
}

// calledBy is a worker by the tenant's pseudonym, and by their name where it is told.
func calledBy(pseudonym, name string) string { return pseudonym + when(name != "", " ("+name+")") }

// members are the workers of a group.
func members(g *wire.CopyGroup) []string {
	list := slices.Clone(g.Workers)
	for i := range g.Names {
		list[i] = calledBy(list[i], g.Names[i])
	}
	return list
}
