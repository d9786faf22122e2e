package report

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

// document is a report as it is written into a folder: a page, the same for
// programs, tables and pictures.
type document struct {
	page     page
	data     json.Marshaler // report.json
	files    []csvFile
	pictures []picture
}

// page is what report.html shows. It needs no other file, and no script.
type page struct {
	Mark       template.HTML // how a folder is known to be a report
	Kind       string        // what it is a report of
	Title      string
	About      []string // paragraphs
	Facts      []string
	Verdicts   []scenario.Verdict
	NotMet     int         // verdicts
	NotRun     int         // verdicts about policies that were not run
	Policies   bool        // what is compared are scheduling policies
	Reading    string      // what the figures are
	Tables     []htmlTable // of the main figures
	More       *htmlTable  // of the other ones
	Batches    *htmlTable
	TableWidth int // the screen in em on which the tables fit; 0: none
	Figures    []figure
	Command    string
	Source     string // the text of the scenario's file
	Files      []csvFile
}

// htmlTable is a table of a page.
type htmlTable struct {
	Title   string
	Note    string
	Label   string   // for screen readers
	Columns []string // the first is that of the names of rows
	Rows    []tableRow
}

type tableRow struct {
	Name  string
	Words string // what it is
	Cells []tableCell
}

// tableCell is a cell. On a narrow screen it is shown without its column.
type tableCell struct {
	Column string
	Text   string
	Note   string
	Clear  bool // the note is emphasised
}

// figure is a picture, drawn.
type figure struct {
	Name    string // of its file
	Title   string
	Caption string
	SVG     template.HTML // without its title
	alone   []byte        // SVG with its title
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// write writes the document into a folder, whole or not at all: it is made next
// to the folder and put in its place at the end. If ctx ends while the pictures
// are drawn it returns the error of ctx, and nothing is left.
func (d *document) write(ctx context.Context, dir string) error {
	return replaceFolder(dir, func(made string) error { return d.writeFiles(ctx, made) })
}

func (d *document) writeFiles(ctx context.Context, dir string) error {
	var err error
	if d.page.Figures, err = sim.Sweep(ctx, len(d.pictures), func(i int) (figure, error) { return d.pictures[i].figure() }, nil); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	charts := filepath.Join(dir, "charts")
	if err := os.Mkdir(charts, 0o755); err != nil {
		return err
	}
	for _, f := range d.page.Figures {
		if err := os.WriteFile(filepath.Join(charts, f.Name+".svg"), f.alone, 0o644); err != nil {
			return err
		}
	}
	d.page.Files = append(slices.Clone(d.files), csvFile{Name: "report.json", What: "all of it for programs"}, csvFile{Name: "charts/", What: "every picture as SVG"})
	write := func(name string, content func(io.Writer) error) {
		var b bytes.Buffer
		if err != nil {
			return
		}
		if err = content(&b); err != nil {
			err = fmt.Errorf("write %s: %w", name, err)
			return
		}
		err = os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644)
	}
	write("report.html", func(w io.Writer) error { return pageTemplate.Execute(w, d.page) })
	write("report.json", d.writeJSON)
	for _, f := range d.files {
		write(f.Name, f.write)
	}
	return err
}

func (d *document) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(d.data)
}

func (p picture) figure() (figure, error) {
	f := figure{Name: p.name, Title: p.title, Caption: p.caption}
	inline, err := p.bare().SVG()
	if err != nil {
		return f, err
	}
	f.SVG = template.HTML(inline) // package chart escapes its texts
	f.alone, err = p.titled().SVG()
	return f, err
}

// paragraphs splits a text at its empty lines.
func paragraphs(text string) []string {
	var list []string
	for _, p := range strings.Split(text, "\n\n") {
		if p = strings.Join(strings.Fields(p), " "); p != "" {
			list = append(list, p)
		}
	}
	return list
}
