package api

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/internal/workflow"
)

func (a *api) checkWorkflows() {
	add(a, op{method: http.MethodPost, path: "/v1/workflows/check", summary: "Say everything that is wrong with a workflow's file", tag: runTag, access: access.RunsCheck, unkeyed: changesNothing, maxBody: workflow.MaxFile + 1, long: true,
		text: "For requesters and admins. The body is the file, at most 1 MiB. Nothing is kept. What can be said only when the inputs are known is said when a run is started. " +
			"Services that it names must be declared and, with `tenant`, that tenant may use them; else one of yours, at least. With `tenant` it says for which steps nobody is qualified (`lacking`); with `parent`, a run that it would go on from at the step `from`, not of those that have all their rows from there.", uploads: []string{"application/yaml"}},
		func(ctx context.Context, p *access.Principal, in *struct {
			Stream
			OfTenant
			AfterRun
		}) (out wire.Workflow, _ error) {
			text, err := io.ReadAll(io.LimitReader(in.reader, workflow.MaxFile+1))
			if err != nil {
				return out, err
			}
			if len(text) > workflow.MaxFile {
				return out, crowd.Errorf(crowd.TooLarge, "the file has more than %s", format.Bytes(workflow.MaxFile))
			}
			got, err := a.app.Runs.Check(ctx, p, orchestrator.NewRun{Tenant: in.tenant, Text: string(text), Parent: in.parent, From: in.From})
			if err != nil {
				return out, err
			}
			defer got.Done()
			out = wire.OfWorkflow(got.Workflow, got.Problems)
			out.Notes, out.Lacking = got.Notes, got.Lacking
			return out, nil
		})
}

// parquetType is the content type of Parquet files.
const parquetType = "application/vnd.apache.parquet"

func (a *api) runData() {
	add(a, op{method: http.MethodPut, path: "/v1/runs/{id}/inputs/{input}", summary: "Give a run the file of an input", tag: runTag, access: access.RunsLoad,
		text: "CSV with a header, TSV or JSON Lines, read as it comes; or Parquet. A row that cannot be read becomes an item that has failed, and the rest goes on. " +
			"Of a file that breaks off nothing is kept: the run needs that input again.",
		uploads: append(slices.Clone(tables), parquetType)},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunPath
			TableStream
			Duplicates
			Input  string `path:"input" doc:"its name"`
			Format string `query:"format" enum:"csv,tsv,jsonl,parquet" doc:"default: from the content type, if it is that of TSV or JSON Lines, or else from the content"`
		}) (out wire.Loaded, err error) {
			r, err := a.app.Runs.Load(ctx, p, in.id, in.Input, in.rule().Opening(a.scratch.Table(in.reader, in.options(in.Format))))
			if err != nil {
				return out, err
			}
			out = wire.Loaded{Input: in.Input, Rows: r.Rows, Bad: r.Bad, Dropped: r.Dropped, Delimiter: r.Delimiter.String(), Problems: lists.Map(r.Some, note), Needs: []string{}}
			v, err := a.app.Runs.Get(ctx, p, in.id)
			if crowd.CodeOf(err) == crowd.Forbidden { // they may give it files, and not look at it
				return out, nil
			}
			if err == nil {
				out.Needs = some(v.Needs())
			}
			return out, err
		})
	a.openInputs()
	a.runResults()
	a.runItems()
}

// RowsBefore says which rows of a feed are added.
type RowsBefore struct {
	Feed  string `query:"feed" maxLength:"200" doc:"what the rows are from, such as a file that grows, or a key of one request; default: nothing, so that they are added however often they are sent"`
	After int64  `query:"after" minimum:"0" doc:"how many rows of the feed come before these"`
}

// Resolve implements huma.Resolver.
func (x *RowsBefore) Resolve(ctx huma.Context) []error {
	if x.Feed == "" && ctx.Query("after") != "" {
		return []error{problemOf(crowd.Fieldf("feed", "is missing: after counts its rows"))}
	}
	return nil
}

// openInputs registers what adds rows to a run that goes.
func (a *api) openInputs() {
	const rows = "/v1/runs/{id}/inputs/{input}/rows"
	add(a, op{method: http.MethodPost, path: rows, summary: "Add rows to an open input", tag: runTag, access: access.RunsAddRows,
		text: fmt.Sprintf("CSV with a header, TSV, JSON Lines or Parquet, with the input's columns; at most %d rows. All of them are added, or none: of rows that cannot be read each is told with its line. ", orchestrator.MaxAddedRows) +
			"They are durable when the answer comes. With `feed`, a name for what the rows are from, and `after`, a request that is repeated adds no row twice. " +
			"`duplicates` concerns rows that the input has, too: all of them are read for it.",
		uploads: append(slices.Clone(tables), parquetType)},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunPath
			TableStream
			Duplicates
			Input  string `path:"input" doc:"its name"`
			Format string `query:"format" enum:"csv,tsv,jsonl,parquet" doc:"default: from the content type, if it is that of TSV or JSON Lines, or else from the content"`
			RowsBefore
		}) (wire.AddedRows, error) {
			r, err := a.app.Runs.AddRows(ctx, p, in.id, orchestrator.NewRows{
				Input: in.Input, File: a.scratch.Table(in.reader, in.options(in.Format)), Feed: in.Feed, After: in.After, Duplicates: in.rule(),
			})
			return wire.AddedRows{Input: in.Input, Added: r.Added, Known: r.Known, Feed: r.Feed, Dropped: r.Dropped, Delimiter: r.Delimiter.String()}, err
		})
	add(a, op{method: http.MethodGet, path: rows, summary: "Say how many rows of a feed an input has", tag: runTag, access: access.RunsFeedRows,
		text: "For a program that goes on where it, or its last request, broke off."},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunPath
			Input string `path:"input" doc:"its name"`
			Feed  string `query:"feed" maxLength:"200" doc:"its name"`
		}) (wire.Feed, error) {
			n, err := a.app.Runs.FeedRows(ctx, p, in.id, in.Input, in.Feed)
			return wire.Feed{Input: in.Input, Feed: in.Feed, Rows: n}, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/runs/{id}/inputs/{input}/seal", summary: "Seal an open input: no more rows come", tag: runTag, access: access.RunsSealInputs,
		text: "What waits for all of its rows goes on then, and the run may end. It is no error if that was said before."},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunPath
			Input string `path:"input" doc:"its name"`
		}) (wire.Run, error) {
			r, err := a.app.Runs.SealInputs(ctx, p, in.id, in.Input)
			return a.afterMove(ctx, p, r, err)
		})
}

// runResults registers the downloads of what a run makes.
func (a *api) runResults() {
	register(a, op{method: http.MethodGet, path: "/v1/runs/{id}/steps/{step}/results", summary: "Download the rows of a step or an input", tag: runTag, access: signedIn,
		streams: append(slices.Clone(tables), parquetType), text: "Streamed, in the order in which they were made."},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunStep
			ForSpreadsheet
			Format string `query:"format" enum:"csv,tsv,jsonl,parquet" default:"csv"`
			Failed bool   `query:"failed" doc:"items that were given up, too: with nothing but the column _error, which the others have empty"`
		}) (*huma.StreamResponse, error) {
			r, err := a.app.Runs.Results(ctx, p, in.id, in.Step)
			if err != nil {
				return nil, err
			}
			t, err := r.Table(nil, table.Format(in.Format), in.Failed)
			if err != nil {
				return nil, err
			}
			t.Options.GuardFormulas = in.Spreadsheet
			return a.stream(in.id.String()+"-"+in.Step, t.Options, t.Columns, t.Rows), nil
		})
	register(a, op{method: http.MethodGet, path: "/v1/runs/{id}/outputs/{output}", summary: "Download a file that a run writes", tag: runTag, access: signedIn,
		streams: append(slices.Clone(tables), parquetType), text: "With the columns and in the format that the workflow names; before the run has ended, with what is there."},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunPath
			ForSpreadsheet
			Output string `path:"output" doc:"its name"`
			Format string `query:"format" enum:"csv,tsv,jsonl,parquet" doc:"default: that of the workflow"`
		}) (*huma.StreamResponse, error) {
			v, err := a.app.Runs.Get(ctx, p, in.id)
			if err != nil {
				return nil, err
			}
			i := slices.IndexFunc(v.Flow.Outputs, func(o workflow.Output) bool { return o.Name == in.Output })
			if i < 0 {
				return nil, &crowd.Error{Code: crowd.NotFound, Field: "output", Message: "the workflow has no output " + strconv.Quote(in.Output)}
			}
			o := &v.Flow.Outputs[i]
			r, err := a.app.Runs.Results(ctx, p, in.id, v.Flow.NodeName(o.Node))
			if err != nil {
				return nil, err
			}
			t, err := r.Table(o.Columns, table.Format(cmp.Or(in.Format, o.Format)), false)
			if err != nil {
				return nil, err
			}
			t.Options.GuardFormulas = in.Spreadsheet
			return a.stream(in.id.String()+"-"+o.Name, t.Options, t.Columns, t.Rows), nil
		})
}

func toSlow(s orchestrator.SlowItem) wire.SlowItem {
	return wire.SlowItem{Item: s.Item, Class: s.Class, Step: s.Step, Why: s.Why, Since: s.Since, Born: s.Born, Ends: s.Ends, PenaltyMicros: s.Penalty}
}

func toStop(s orchestrator.Visit) wire.ItemStop {
	out := wire.ItemStop{Step: s.Step, Kind: wire.NodeKind(s.Kind), Item: s.Item, Class: s.Class, State: string(s.State), At: s.At, Error: s.Error, Tries: s.Tries, Corrected: s.Correction != 0}
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

func toItem(r store.JoinedRow) wire.Item {
	return wire.Item{N: r.N, Item: r.Item, Origin: r.Origin, State: string(r.State), Born: r.Born, At: r.At, Error: r.Error, Values: some(r.Cells), Corrected: r.Correction != 0}
}

// runItems registers where single items are and have been.
func (a *api) runItems() {
	add(a, op{method: http.MethodGet, path: "/v1/runs/{id}/slowest", summary: "Which items take longest, where they are, and why they wait", tag: runTag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunPath
			Limit int `query:"limit" minimum:"1" maximum:"100" default:"10" doc:"at most so many a step"`
		}) ([]wire.SlowItem, error) {
			return each(toSlow)(a.app.Runs.Slowest(ctx, p, in.id, in.Limit))
		})
	add(a, op{method: http.MethodGet, path: "/v1/runs/{id}/items/{item}", summary: "Where an item has been", tag: runTag, access: signedIn, long: true},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunPath
			Item int64 `path:"item" minimum:"1"`
		}) ([]wire.ItemStop, error) {
			return each(toStop)(a.app.Runs.Path(ctx, p, in.id, in.Item))
		})
	type Page struct {
		After int64 `query:"after" minimum:"0" doc:"go on with the last number seen"`
		Limit int   `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	}
	add(a, op{method: http.MethodGet, path: "/v1/runs/{id}/steps/{step}/items", summary: "List what a step has done, in order", tag: runTag, access: signedIn, long: true},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunStep
			Page
		}) ([]wire.Item, error) {
			return each(toItem)(a.app.Runs.Items(ctx, p, in.id, in.Step, in.After, in.Limit))
		})
	add(a, op{method: http.MethodGet, path: "/v1/runs/{id}/faults", summary: "List the items that steps hold after an error", tag: runTag, access: signedIn,
		text: "In order of item. Go on with `after`, the last item seen; an item that several steps hold is never torn apart."},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunPath
			Page
		}) ([]wire.Fault, error) {
			v, err := a.app.Runs.Get(ctx, p, in.id)
			if err != nil {
				return nil, err
			}
			return each(func(f store.Fault) wire.Fault {
				return wire.Fault{Step: v.Nodes[f.Node].Name, Item: f.Item, At: f.At, Tries: f.Tries, Error: f.Error}
			})(a.app.Runs.Faults(ctx, p, in.id, in.After, in.Limit))
		})
}

// SecretPath is the secret of a tenant that an operation is about.
type SecretPath struct {
	TenantPath
	Name string `path:"name" doc:"as workflows name it"`
}

func (a *api) secrets() {
	add(a, op{method: http.MethodGet, path: "/v1/tenants/{id}/secrets", summary: "List a tenant's secrets", tag: runTag, access: signedIn,
		text: "In order of name. What they are nobody is told."},
		of[TenantPath](a.app.Tenants.Secrets, all(func(s store.TenantSecret) wire.TenantSecret {
			return wire.TenantSecret{Name: s.Name, Hosts: some(s.Hosts)}
		})))
	addAction(a, op{method: http.MethodPut, path: "/v1/tenants/{id}/secrets/{name}", summary: "Keep a secret for the service steps of workflows", tag: runTag, access: access.TenantsPutSecret,
		text: "It takes the place of one of that name. It is used for calls that begin from now on, to its hosts only, and never told again."},
		func(ctx context.Context, p *access.Principal, in *struct {
			SecretPath
			Body wire.NewTenantSecret
		}) error {
			return a.app.Tenants.PutSecret(ctx, p, in.id, store.TenantSecret{Name: in.Name, Value: in.Body.Value, Hosts: in.Body.Hosts})
		})
	addAction(a, op{method: http.MethodDelete, path: "/v1/tenants/{id}/secrets/{name}", summary: "Forget a secret", tag: runTag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *SecretPath) error {
			return a.app.Tenants.DeleteSecret(ctx, p, in.id, in.Name)
		})
}
