package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/sim/calibrate"
	"github.com/throng-dev/throng/internal/sim/report"
)

// SimFit is "throng sim fit".
type SimFit struct {
	File     string    `arg:"" help:"The log: CSV, TSV or JSON Lines, one row an answer; - for standard input."`
	Sessions string    `placeholder:"FILE" help:"Visits: worker, session_s, and arrival_s and run; default: from --start and --submit."`
	Skips    string    `placeholder:"FILE" help:"Tasks that were given back: one row each, with the log's column of the kind, and seconds."`
	Where    []string  `placeholder:"COLUMN=VALUE" sep:"none" help:"Only rows with this value; may be repeated: several values of one column, or several columns."`
	Scenario bool      `help:"Print a whole scenario: the model, and a batch of each kind as in the log."`
	Out      newFolder `placeholder:"DIR" help:"Folder for model.yaml, fit.txt and pictures as SVG."`
	Rounding string    `placeholder:"R" help:"What a stored x stands for: nearest [x-0.5, x+0.5), down [x, x+1), exact; default: nearest if all are whole numbers."`

	By      string `group:"Columns of the log:" placeholder:"COLUMN" help:"Kind of task; default: kind, batch or type; if there is none, all are of one kind."`
	Seconds string `group:"Columns of the log:" placeholder:"COLUMN" help:"How long an answer took; default: seconds, duration_s or elapsed_s."`
	Worker  string `group:"Columns of the log:" placeholder:"COLUMN" help:"Who; default: worker or worker_id."`
	RunBy   string `name:"run" group:"Columns of the log:" placeholder:"COLUMN" help:"Which recording, where there are several; default: run."`
	Order   string `group:"Columns of the log:" placeholder:"COLUMN" help:"Number that says which answer came first; default: seq, order or position, else the start, else the order of the rows."`
	Start   string `group:"Columns of the log:" placeholder:"COLUMN" help:"When it was begun, in seconds or as RFC 3339; default: start_s, assigned_at or start."`
	Submit  string `group:"Columns of the log:" placeholder:"COLUMN" help:"When it was answered; default: submit_s, ended_at or submit."`
	Same    string `group:"Columns of the log:" placeholder:"COLUMN" help:"1 if the worker's task before was of the same kind, 0 if not, empty if there was none; default: previous_task_type_same unless --by is given, else from the order."`
	Gap     string `group:"Columns of the log:" placeholder:"COLUMN" help:"Seconds from the worker's answer before to this start; default: gap_s, else from start and submit."`
	Task    string `group:"Columns of the log:" placeholder:"COLUMN" help:"Which task; default: task or task_id."`
	State   string `group:"Columns of the log:" placeholder:"COLUMN" help:"How it ended: submitted, skipped, returned, expired; default: state."`
	Output
}

// Run fits, and prints the model.
func (s *SimFit) Run(c *Context) error {
	rounding, err := calibrate.ParseRounding(s.Rounding)
	if err != nil {
		return err
	}
	if s.Out != "" {
		if err := report.CheckFill(string(s.Out)); err != nil {
			return err
		}
	}
	log, err := s.read(c)
	if err != nil {
		return err
	}
	m, err := calibrate.Fit(log, rounding)
	if err != nil {
		return ofFile(s.File, err)
	}
	text, err := s.text(m)
	if err != nil {
		return err
	}
	result := m.Report()
	if s.Scenario {
		result.Whole = string(text)
	}
	if s.Out != "" {
		if result.Files, err = s.write(c, m, text); err != nil {
			return err
		}
	}
	return s.print(c, result, func(w io.Writer) { _, _ = w.Write(text) }) // print keeps the error
}

// read reads the log and what is known of sessions and skips.
func (s *SimFit) read(c *Context) (*calibrate.Log, error) {
	var where []calibrate.Where
	for _, text := range s.Where {
		w, err := calibrate.ParseWhere(text)
		if err != nil {
			return nil, err
		}
		where = append(where, w)
	}
	var log *calibrate.Log
	err := reading(c, s.File, func(r io.Reader) (err error) {
		log, err = calibrate.ReadLog(r, calibrate.Columns{
			Seconds: s.Seconds, Worker: s.Worker, Kind: s.By, Run: s.RunBy, Order: s.Order, Start: s.Start,
			Submit: s.Submit, Same: s.Same, Gap: s.Gap, Task: s.Task, State: s.State,
		}, where)
		return err
	})
	if err == nil && s.Sessions != "" {
		err = reading(c, s.Sessions, func(r io.Reader) error { return log.ReadSessions(r, where) })
	}
	if err == nil && s.Skips != "" {
		err = reading(c, s.Skips, func(r io.Reader) error { return log.ReadSkips(r, where) })
	}
	return log, err
}

// reading opens a file for do.
func reading(c *Context, name string, do func(io.Reader) error) error {
	in, _, err := c.open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	return ofFile(name, do(in))
}

// text is what is printed.
func (s *SimFit) text(m *calibrate.Model) ([]byte, error) {
	var b bytes.Buffer
	write := m.WriteModel
	if s.Scenario {
		write = func(w io.Writer) error { return m.WriteScenario(w, "fitted") }
	}
	err := write(&b)
	return b.Bytes(), err
}

// write draws everything before it writes anything.
func (s *SimFit) write(c *Context, m *calibrate.Model, text []byte) ([]string, error) {
	name := "model.yaml"
	if s.Scenario {
		name = "scenario.yaml"
	}
	files := map[string][]byte{name: text, "fit.txt": []byte(m.Table())}
	for name, picture := range map[string]chart.Chart{"times": m.Times(), "people": m.People()} {
		svg, err := picture.SVG()
		if err != nil {
			return nil, err
		}
		files["fit-"+name+".svg"] = svg
	}
	if err := os.MkdirAll(string(s.Out), 0o755); err != nil {
		return nil, err
	}
	var written []string
	for name, data := range files {
		path := filepath.Join(string(s.Out), name)
		if err := c.save(path, func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
			return nil, err
		}
		written = append(written, path)
	}
	slices.Sort(written)
	return written, nil
}
