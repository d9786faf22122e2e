package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/workflow"
)

// maxWorkflow is the length of a workflow's file that is read, in bytes.
const maxWorkflow = 4 << 20

// maxParquet is the length of a Parquet file that is taken, in bytes: it lies in
// the temporary folder while it is read. What is read as it comes needs no bound.
const maxParquet = 4 << 30

func (a *api) checkWorkflows() {
	add(a, op{method: http.MethodPost, path: "/v1/workflows/check", summary: "Say everything that is wrong with a workflow's file", tag: runTag, access: signedIn,
		text: "The body is the file. Nothing is kept. What can be said only when the inputs are known is said when a run is started.", uploads: []string{"application/yaml"}},
		func(ctx context.Context, _ *access.Principal, in *struct{ Stream }) (*struct{ Body WorkflowOut }, error) {
			text, err := io.ReadAll(io.LimitReader(in.reader, maxWorkflow+1))
			if err != nil {
				return nil, err
			}
			if len(text) > maxWorkflow {
				return nil, crowd.Errorf(crowd.TooLarge, "the file has more than %d bytes", maxWorkflow)
			}
			return &struct{ Body WorkflowOut }{ToWorkflowOut(a.app.Runs.Check(ctx, string(text)))}, nil
		})
}

// parquetType is the content type of Parquet files.
const parquetType = "application/vnd.apache.parquet"

// loadedOut says what became of an input.
type loadedOut struct {
	Body struct {
		Input    string      `json:"input"`
		Rows     int64       `json:"rows" doc:"in all, the bad ones among them"`
		Bad      int64       `json:"bad" doc:"rows that could not be read: items that have failed, and are told at the input's faults"`
		Problems []FieldNote `json:"problems" doc:"the first hundred of them"`
		Needs    []string    `json:"needs" doc:"inputs without rows yet"`
	}
}

func (a *api) runData() {
	add(a, op{method: http.MethodPut, path: "/v1/runs/{id}/inputs/{input}", summary: "Give a run the file of an input", tag: runTag, access: signedIn,
		text: "CSV with a header, TSV or JSON Lines, read as it comes; or Parquet. A row that cannot be read becomes an item that has failed, and the rest goes on. " +
			"A file that breaks off gives the run up.",
		uploads: append(slices.Clone(tables), parquetType)},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunPath
			Stream
			Input  string `path:"input" doc:"its name"`
			Format string `query:"format" enum:"csv,tsv,jsonl,parquet" doc:"default: from the content"`
		}) (*loadedOut, error) {
			id, err := in.run()
			if err != nil {
				return nil, err
			}
			if _, err := a.app.Runs.Get(ctx, p, id); err != nil { // before anything is read
				return nil, err
			}
			rows, done, err := openInput(in.reader, table.Format(in.Format))
			if err != nil {
				return nil, err
			}
			defer done()
			r, err := a.app.Runs.Load(ctx, p, id, in.Input, rows)
			if err != nil {
				return nil, err
			}
			v, err := a.app.Runs.Get(ctx, p, id)
			if err != nil {
				return nil, err
			}
			out := &loadedOut{}
			b := &out.Body
			b.Input, b.Rows, b.Bad, b.Problems, b.Needs = in.Input, r.Rows, r.Bad, mapped(r.Some, note), ToRunOut(v).Needs
			return out, nil
		})
	add(a, op{method: http.MethodGet, path: "/v1/runs/{id}/steps/{step}/results", summary: "Download the rows of a step or an input", tag: runTag, access: signedIn,
		streams: append(slices.Clone(tables), parquetType), text: "Streamed, in the order in which they were made."},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunStep
			Format string `query:"format" enum:"csv,tsv,jsonl,parquet" default:"csv"`
			Failed bool   `query:"failed" doc:"items that were given up, too: with nothing but the column _error, which the others have empty"`
		}) (*huma.StreamResponse, error) {
			id, err := in.run()
			if err != nil {
				return nil, err
			}
			r, err := a.app.Runs.Results(ctx, p, id, in.Step)
			if err != nil {
				return nil, err
			}
			t, err := NewRunTable(r, nil, table.Format(in.Format), in.Failed)
			if err != nil {
				return nil, err
			}
			return a.stream(id.String()+"-"+in.Step, t.options, t.columns, t.rows), nil
		})
	add(a, op{method: http.MethodGet, path: "/v1/runs/{id}/outputs/{output}", summary: "Download a file that a run writes", tag: runTag, access: signedIn,
		streams: append(slices.Clone(tables), parquetType), text: "With the columns and in the format that the workflow names; before the run has ended, with what is there."},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunPath
			Output string `path:"output" doc:"its name"`
			Format string `query:"format" enum:"csv,tsv,jsonl,parquet" doc:"default: that of the workflow"`
		}) (*huma.StreamResponse, error) {
			id, err := in.run()
			if err != nil {
				return nil, err
			}
			v, err := a.app.Runs.Get(ctx, p, id)
			if err != nil {
				return nil, err
			}
			i := slices.IndexFunc(v.Flow.Outputs, func(o workflow.Output) bool { return o.Name == in.Output })
			if i < 0 {
				return nil, &crowd.Error{Code: crowd.NotFound, Field: "output", Message: "the workflow has no output " + strconv.Quote(in.Output)}
			}
			o := &v.Flow.Outputs[i]
			r, err := a.app.Runs.Results(ctx, p, id, v.Flow.NodeName(o.Node))
			if err != nil {
				return nil, err
			}
			format := table.Format(o.Format)
			if in.Format != "" {
				format = table.Format(in.Format)
			}
			t, err := NewRunTable(r, o.Columns, format, false)
			if err != nil {
				return nil, err
			}
			return a.stream(id.String()+"-"+o.Name, t.options, t.columns, t.rows), nil
		})
	a.runItems()
}

// openInput begins to read a file that comes. done must be called in the end.
func openInput(body io.Reader, format table.Format) (rows table.Rows, done func(), err error) {
	head := bufio.NewReader(body)
	if format == table.Auto {
		if start, _ := head.Peek(4); bytes.Equal(start, []byte("PAR1")) {
			format = table.Parquet
		}
	}
	if format != table.Parquet {
		rows, err = table.NewReader(head, table.Options{Format: format})
		return rows, func() {}, err
	}
	f, err := os.CreateTemp("", "throng-input-*.parquet")
	if err != nil {
		return nil, nil, err
	}
	done = func() { _, _ = f.Close(), os.Remove(f.Name()) } // it is of no use to anybody
	size, err := io.Copy(f, io.LimitReader(head, maxParquet+1))
	if err == nil && size > maxParquet {
		err = crowd.Errorf(crowd.TooLarge, "a Parquet file may have %d bytes: send it in parts, or as CSV", int64(maxParquet))
	}
	if err == nil {
		rows, err = table.OpenFile(f, size, table.Options{Format: format})
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return rows, done, nil
}

// RunTable is the rows of a step or an output, as they are written to a file.
type RunTable struct {
	columns []string
	options table.WriterOptions
	rows    iter.Seq2[[]string, error]
}

// errorColumn says in a table why an item was given up.
const errorColumn = "_error"

// NewRunTable makes a table of the rows of a node: of these columns (nil: of
// all), and with failed also the items that were given up, with nothing but the
// column _error. The error is of a column that is not there.
func NewRunTable(r *orchestrator.Results, columns []string, format table.Format, failed bool) (*RunTable, error) {
	var places []int // of the columns
	if columns == nil {
		for i := range r.Columns {
			places = append(places, i)
		}
	}
	for _, name := range columns {
		i := slices.IndexFunc(r.Columns, func(c workflow.Column) bool { return c.Name == name })
		if i < 0 {
			return nil, crowd.Fieldf("columns", "%s has no column %q", r.Node.Name, name)
		}
		places = append(places, i)
	}
	t := &RunTable{options: table.WriterOptions{Format: format, Types: make(map[string]table.ColumnType)}}
	for _, i := range places {
		c := r.Columns[i]
		t.columns = append(t.columns, c.Name)
		if c.Type == condition.Number || c.Type == condition.Bool {
			t.options.Types[c.Name] = table.ColumnType(c.Type)
			t.options.JSONColumns = append(t.options.JSONColumns, c.Name)
		}
	}
	if failed {
		if slices.Contains(t.columns, errorColumn) {
			return nil, crowd.Fieldf("failed", "%s has a column %s of its own", r.Node.Name, errorColumn)
		}
		t.columns = append(t.columns, errorColumn)
	}
	if len(t.columns) == 0 {
		return nil, crowd.Errorf(crowd.Conflict, "the columns of %s are not known before its file is there", r.Node.Name)
	}
	t.rows = func(yield func([]string, error) bool) {
		row := make([]string, len(t.columns))
		for x, err := range r.Rows {
			switch {
			case err != nil:
				yield(nil, err)
				return
			case x.State != store.RowOK && (!failed || x.State != store.RowFailed):
				continue
			}
			clear(row)
			for j, i := range places {
				if x.Cells != nil {
					row[j] = formed(x.Cells[i], r.Columns[i].Type, format)
				}
			}
			if failed {
				row[len(row)-1] = x.Error
			}
			if !yield(row, nil) {
				return
			}
		}
	}
	return t, nil
}

// formed is a cell in the form that a file wants: what a column of numbers or of
// true and false holds that is neither is a text in JSON, and nothing in Parquet,
// whose columns have one type.
func formed(cell string, kind condition.Type, format table.Format) string {
	if kind != condition.Number && kind != condition.Bool || cell == "" || format != table.JSONL && format != table.Parquet {
		return cell
	}
	fits := cell == "true" || cell == "false"
	if kind == condition.Number {
		f, err := strconv.ParseFloat(cell, 64)
		if fits = err == nil && !math.IsInf(f, 0) && !math.IsNaN(f); fits && (format == table.Parquet || !json.Valid([]byte(cell))) {
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
	}
	switch {
	case fits:
		return cell
	case format == table.Parquet:
		return ""
	}
	return string(task.AppendString(nil, cell))
}

// Write writes the table, and returns how many rows it has.
func (t *RunTable) Write(w io.Writer) (int, error) {
	n := 0
	err := writeRows(w, t.options, t.columns, func(yield func([]string, error) bool) {
		for row, err := range t.rows {
			n++
			if !yield(row, err) {
				return
			}
		}
	})
	return n, err
}

type slowOut struct {
	Item          int64       `json:"item"`
	Step          string      `json:"step"`
	Why           string      `json:"why" doc:"it waits"`
	Since         time.Time   `json:"since" doc:"it is at the step"`
	Born          time.Time   `json:"born" doc:"it began its way"`
	Ends          time.Time   `json:"ends,omitzero" doc:"its end, as foreseen; not there for an item that is held"`
	PenaltyMicros crowd.Money `json:"penalty_micros" doc:"if it ended its way then"`
}

type stopOut struct {
	Step   string            `json:"step"`
	Kind   string            `json:"kind" enum:"input,crowd,sql,service"`
	Item   int64             `json:"item" doc:"that it was there: of a row made from others, the item that it comes from"`
	State  string            `json:"state" enum:"ok,skipped,failed,held"`
	At     time.Time         `json:"at"`
	Values map[string]string `json:"values,omitempty" doc:"what the step has added"`
	Error  string            `json:"error,omitempty"`
	Tries  int               `json:"tries,omitempty" doc:"of one that is held"`
}

func toStopOut(s orchestrator.Visit) stopOut {
	out := stopOut{Step: s.Step, Kind: s.Kind, Item: s.Item, State: string(s.State), At: s.At, Error: s.Error, Tries: s.Tries}
	if s.Held != "" {
		out.State, out.Error = "held", s.Held
	}
	if s.Cells != nil {
		out.Values = make(map[string]string)
		for i, c := range s.Columns {
			if i < len(s.Cells) {
				out.Values[c] = s.Cells[i]
			}
		}
	}
	return out
}

type itemOut struct {
	N      int64          `json:"n" doc:"in the order in which the step made them"`
	Item   int64          `json:"item"`
	Origin int64          `json:"origin,omitempty" doc:"the item that it was made from"`
	State  store.RowState `json:"state" enum:"ok,skipped,failed"`
	Born   time.Time      `json:"born"`
	At     time.Time      `json:"at"`
	Error  string         `json:"error,omitempty"`
	Values []string       `json:"values" doc:"what the step has added"`
}

type faultOut struct {
	Step  string    `json:"step"`
	Item  int64     `json:"item"`
	At    time.Time `json:"at"`
	Tries int       `json:"tries"`
	Error string    `json:"error"`
}

// runItems are the ways of single items.
func (a *api) runItems() {
	add(a, op{method: http.MethodGet, path: "/v1/runs/{id}/slowest", summary: "Which items take longest, where they are, and why they wait", tag: runTag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunPath
			Limit int `query:"limit" minimum:"1" maximum:"100" default:"10" doc:"at most so many a step"`
		}) (*struct{ Body []slowOut }, error) {
			id, err := in.run()
			if err != nil {
				return nil, err
			}
			list, err := a.app.Runs.Slowest(ctx, p, id, in.Limit)
			return &struct{ Body []slowOut }{mapped(list, func(s orchestrator.SlowItem) slowOut {
				return slowOut{s.Item, s.Step, s.Why, s.Since, s.Born, s.Ends, s.Penalty}
			})}, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/runs/{id}/items/{item}", summary: "Where an item has been", tag: runTag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunPath
			Item int64 `path:"item" minimum:"1"`
		}) (*struct{ Body []stopOut }, error) {
			id, err := in.run()
			if err != nil {
				return nil, err
			}
			list, err := a.app.Runs.Path(ctx, p, id, in.Item)
			return &struct{ Body []stopOut }{mapped(list, toStopOut)}, err
		})
	type Page struct {
		After int64 `query:"after" minimum:"0" doc:"go on with the last number seen"`
		Limit int   `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	}
	add(a, op{method: http.MethodGet, path: "/v1/runs/{id}/steps/{step}/items", summary: "List what a step has done, in order", tag: runTag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunStep
			Page
		}) (*struct{ Body []itemOut }, error) {
			id, err := in.run()
			if err != nil {
				return nil, err
			}
			list, err := a.app.Runs.Items(ctx, p, id, in.Step, in.After, in.Limit)
			return &struct{ Body []itemOut }{mapped(list, func(r store.JoinedRow) itemOut {
				return itemOut{r.N, r.Item, r.Origin, r.State, r.Born, r.At, r.Error, append([]string{}, r.Cells...)}
			})}, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/runs/{id}/faults", summary: "List the items that steps hold after an error", tag: runTag, access: signedIn,
		text: "In order of item. Go on with `after`, the last item seen; an item that several steps hold is never torn apart."},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunPath
			Page
		}) (*struct{ Body []faultOut }, error) {
			id, err := in.run()
			if err != nil {
				return nil, err
			}
			v, err := a.app.Runs.Get(ctx, p, id)
			if err != nil {
				return nil, err
			}
			list, err := a.app.Runs.Faults(ctx, p, id, in.After, in.Limit)
			return &struct{ Body []faultOut }{mapped(list, func(f store.Fault) faultOut {
				return faultOut{v.Nodes[f.Node].Name, f.Item, f.At, f.Tries, f.Error}
			})}, err
		})
}

type SecretPath struct {
	TenantPath
	Name string `path:"name" doc:"as workflows name it"`
}

func (a *api) secrets() {
	add(a, op{method: http.MethodGet, path: "/v1/tenants/{id}/secrets", summary: "List the names of a tenant's secrets", tag: runTag, access: signedIn,
		text: "What they are nobody is told."},
		func(ctx context.Context, p *access.Principal, in *TenantPath) (*struct{ Body []string }, error) {
			id, err := in.tenant()
			if err != nil {
				return nil, err
			}
			list, err := a.app.Tenants.Secrets(ctx, p, id)
			return &struct{ Body []string }{append([]string{}, list...)}, err
		})
	add(a, op{method: http.MethodPut, path: "/v1/tenants/{id}/secrets/{name}", summary: "Keep a secret for the service steps of workflows", tag: runTag, access: signedIn, status: http.StatusNoContent,
		text: "It takes the place of one of that name. It is used for calls that begin from now on, and never told again."},
		func(ctx context.Context, p *access.Principal, in *struct {
			SecretPath
			Body struct {
				Value string `json:"value"`
			}
		}) (*nothing, error) {
			id, err := in.tenant()
			if err != nil {
				return nil, err
			}
			return nil, a.app.Tenants.PutSecret(ctx, p, id, in.Name, in.Body.Value)
		})
	add(a, op{method: http.MethodDelete, path: "/v1/tenants/{id}/secrets/{name}", summary: "Forget a secret", tag: runTag, access: signedIn, status: http.StatusNoContent},
		func(ctx context.Context, p *access.Principal, in *SecretPath) (*nothing, error) {
			id, err := in.tenant()
			if err != nil {
				return nil, err
			}
			return nil, a.app.Tenants.DeleteSecret(ctx, p, id, in.Name)
		})
}

// inWorkflow are the notes of what is wrong with a workflow's file.
func inWorkflow(list []workflow.Problem) []FieldNote {
	return mapped(list, func(x workflow.Problem) FieldNote {
		return FieldNote{Field: "workflow", Line: x.Line, Column: x.Column, Message: x.Message}
	})
}
