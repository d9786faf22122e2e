package batches

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
)

// Columns of an upload with a meaning of their own. They are not shown to
// workers.
const (
	GoldColumn    = input.GoldColumn    // the known answer, to measure accuracy
	ExplainColumn = input.ExplainColumn // why it is right, for tasks that teach
	WorkersColumn = input.WorkersColumn // the only people who may do the task, separated by ; or spaces, as whoever uploads may call them; empty: anybody
)

// Upload is how a file of tasks is read.
type Upload struct {
	Format    table.Format    // "": from the content
	Delimiter table.Delimiter // of CSV; 0: from the content
	SkipBad   bool            // keep the good rows of a file with bad ones
	// Duplicates is what becomes of rows of the file that are the same.
	Duplicates table.Duplicates
}

// UploadReport is the outcome of an upload.
type UploadReport struct {
	Columns  []string
	Tasks    int            // rows kept
	Bad      int            // rows that were wrong
	Dropped  int64          // rows that were there before
	Reserved crowd.Money    // for tasks added to a running batch, from its tenant's account
	Problems []*crowd.Error // the first of them, with line and column

	Delimiter table.Delimiter // that stood between the cells; 0: none
}

// Upload reads a draft's tasks from a file: CSV with a header, TSV, or JSON
// Lines, one task a row. It takes the place of what was uploaded before. The
// file is read as it comes, in bounded memory. If a row is wrong, nothing is
// kept, unless SkipBad asks for the good rows.
//
// Until an upload has come to its end, well or not, the draft can be neither
// changed nor launched. One that the server's end cut off leaves a draft without
// columns, which cannot be launched either.
func (s *Batches) Upload(ctx context.Context, p *access.Principal, id crowd.BatchID, body io.Reader, how Upload) (UploadReport, error) {
	b, err := s.beginUpload(ctx, p, id)
	if err != nil {
		return UploadReport{}, err
	}
	defer s.uploads.Delete(id)
	u := uploading{batches: s, how: how}
	end, err := u.open(ctx, p, &b, body)
	if err != nil {
		return UploadReport{}, err
	}
	defer end()
	u.keep = func(ctx context.Context, tasks []store.Task) error { return s.store.AddTasks(ctx, id, tasks) }
	if err := u.prepare(&b); err != nil {
		return UploadReport{}, err
	}
	columns := b.Columns
	b.Columns = nil // until all tasks are there
	acting, act := s.acting(ctx, p, access.BatchesUpload, &b)
	if err := s.store.UpdateDraft(ctx, b); err != nil {
		return UploadReport{}, err
	}
	if err := s.store.DropTasks(ctx, b.Spec.Tenant, id); err != nil {
		return UploadReport{}, err
	}
	if err = u.all(ctx); err == nil {
		b.Columns, u.report.Columns = columns, columns
		act.After = struct {
			Tasks   int
			Columns []string
		}{u.report.Tasks, columns}
		err = s.store.UpdateDraft(acting, b)
	}
	if err != nil { // whoever sent the file may have gone
		err = errors.Join(err, s.store.DropTasks(context.WithoutCancel(ctx), b.Spec.Tenant, id))
		return UploadReport{Bad: u.report.Bad, Problems: u.report.Problems}, err
	}
	return u.report, nil
}

// beginUpload makes the draft the upload's own, until it is taken out of s.uploads.
func (s *Batches) beginUpload(ctx context.Context, p *access.Principal, id crowd.BatchID) (store.Batch, error) {
	defer s.drafts.lock(id)()
	b, err := s.openDraft(ctx, p, access.BatchesUpload, id)
	if err == nil {
		s.uploads.Store(id, true)
	}
	return b, err
}

// uploading turns rows into tasks.
type uploading struct {
	batches  *Batches
	how      Upload
	report   UploadReport
	rows     *table.Distinct
	pool     crowd.PoolID
	tenant   crowd.TenantID
	seen     pseudonym.Reader
	keep     func(ctx context.Context, tasks []store.Task) error
	columns  []string // of the file
	plain    []int    // numbers of the columns with data, in the order of the batch's
	named    []string // the batch's columns
	gold     int      // column numbers, or -1
	explain  int
	workers  int
	template *task.Compiled
	found    map[string]crowd.WorkerID // so far, by what they are called; 0: nobody
}

// prepare finds the special columns and checks that the template fits the rest.
func (u *uploading) prepare(b *store.Batch) error {
	u.gold, u.explain, u.workers = slices.Index(u.columns, GoldColumn), slices.Index(u.columns, ExplainColumn), slices.Index(u.columns, WorkersColumn)
	for i := range u.columns {
		if i != u.gold && i != u.explain && i != u.workers {
			u.plain = append(u.plain, i)
		}
	}
	u.named = u.cells(u.columns)
	b.Columns = u.named
	b.Directed = u.workers >= 0
	if len(b.Columns) == 0 {
		return crowd.Errorf(crowd.Invalid, "the file has no column with data for the task")
	}
	var err error
	u.template, err = input.NewTemplate(b.Template, b.Columns)
	return err
}

// open reads the header of a file for b, when its turn has come. What ends the turn is to
// be called.
func (u *uploading) open(ctx context.Context, p *access.Principal, b *store.Batch, body io.Reader) (end func(), err error) {
	if end, err = u.batches.slots.Start(ctx, p.User.ID, b.Spec.Tenant, 1); err != nil {
		return nil, err
	}
	u.batches.quotas.Uploads(ctx, b.Spec.Tenant)
	rows, err := table.NewReader(body, table.Options{Format: u.how.Format, Delimiter: u.how.Delimiter})
	if err == nil {
		err = input.CheckColumns(rows)
	}
	if err == nil {
		u.rows, err = u.how.Duplicates.Of(rows)
	}
	if err != nil {
		end()
		return nil, err
	}
	u.pool, u.tenant, u.columns, u.report.Delimiter = b.Pool, b.Spec.Tenant, u.rows.Columns(), u.rows.Delimiter()
	u.seen, u.found = u.batches.names.For(p, b.Spec.Tenant), make(map[string]crowd.WorkerID)
	return end, nil
}

// all reads the rows and keeps them. There must be some.
func (u *uploading) all(ctx context.Context) error {
	chunks := store.Chunks[store.Task]{Keep: func(tasks []store.Task) error { return u.keep(ctx, tasks) }}
	for {
		row, line, err := u.rows.Read()
		if errors.Is(err, io.EOF) {
			u.report.Dropped = u.rows.Dropped
			break
		}
		var t store.Task
		if err == nil {
			t, err = u.task(ctx, row, line)
		}
		if problem := input.BadRow(err); problem != nil {
			if u.report.Bad++; len(u.report.Problems) < input.MaxProblems {
				u.report.Problems = append(u.report.Problems, problem)
			}
			continue
		}
		if err != nil {
			return err
		}
		if u.report.Bad > 0 && !u.how.SkipBad {
			continue // only looking for more bad rows
		}
		u.report.Tasks++
		if err := chunks.Add(t, t.Values); err != nil {
			return err
		}
	}
	if u.report.Bad > 0 && !u.how.SkipBad {
		return crowd.Errors(u.report.Problems)
	}
	if u.report.Tasks == 0 && u.report.Bad == 0 {
		return crowd.Errorf(crowd.Invalid, "the file has a header and no rows: there is no task in it")
	}
	return chunks.Flush()
}

// cells returns the cells of a row that are not special, in the order of the batch's
// columns.
func (u *uploading) cells(row []string) []string {
	out := make([]string, len(u.plain))
	for i, at := range u.plain {
		out[i] = row[at]
	}
	return out
}

func (u *uploading) task(ctx context.Context, row []string, line int) (store.Task, error) {
	t := store.Task{Values: u.cells(row)}
	if err := u.template.Fits(task.Values{Columns: u.named, Cells: t.Values}, task.MaxShownBytes); err != nil {
		err.Row = line
		return t, err
	}
	if u.gold >= 0 && row[u.gold] != "" {
		key, err := u.template.Known(row[u.gold])
		if err != nil {
			var wrong *crowd.Error
			if errors.As(err, &wrong) {
				err = &crowd.Error{Code: crowd.Invalid, Row: line, Field: input.GoldColumn, Message: "is no answer that a worker could give: " + wrong.Message}
			}
			return t, err
		}
		t.Gold = key
	}
	if u.explain >= 0 {
		text, err := input.Explanation(row[u.explain], t.Gold)
		if err != nil {
			var wrong *crowd.Error
			if errors.As(err, &wrong) {
				wrong.Row = line
			}
			return t, err
		}
		t.Explain = text
	}
	if u.workers < 0 {
		return t, nil
	}
	for _, name := range strings.FieldsFunc(row[u.workers], func(r rune) bool { return r == ';' || r == ' ' || r == ',' }) {
		id, err := u.worker(ctx, name)
		if err != nil {
			return t, err
		}
		if id == 0 {
			return t, &crowd.Error{Code: crowd.Invalid, Row: line, Field: WorkersColumn, Message: u.nobody(name)}
		}
		if !slices.Contains(t.Invited, id) {
			t.Invited = append(t.Invited, id)
		}
	}
	return t, nil
}

// worker finds the worker of the pool and of the tenant whom the file calls by a text, or 0: by
// their pseudonym, or, for who sees who workers are, by name or id. Others' names would tell who
// has an account, and who is behind the pseudonym that the answer comes with.
func (u *uploading) worker(ctx context.Context, text string) (crowd.WorkerID, error) {
	id, known := u.found[text]
	if known {
		return id, nil
	}
	person, err := u.person(ctx, text)
	if err != nil && crowd.CodeOf(err) != crowd.NotFound {
		return 0, err
	}
	if err == nil && person.Pool == u.pool && person.IsFor(u.tenant) {
		id = person.ID
	}
	if len(u.found) < maxFound {
		u.found[text] = id
	}
	return id, nil
}

// maxFound bounds what is remembered of whom a file calls by what.
const maxFound = 10_000

func (u *uploading) person(ctx context.Context, text string) (store.User, error) {
	if u.seen.Named() {
		person, err := u.batches.store.UserByName(ctx, text)
		if crowd.CodeOf(err) != crowd.NotFound {
			return person, err
		}
	}
	id, err := u.seen.Find(text)
	if err != nil {
		return store.User{}, err
	}
	return u.batches.store.User(ctx, id)
}

// nobody says that a text calls no worker, the same whoever else it may call.
func (u *uploading) nobody(text string) string {
	if u.seen.Named() {
		return text + " is not a worker of the batch's pool who serves its tenant"
	}
	return text + " is no pseudonym (w_…) of a worker of the batch's pool; people.names is needed to name people otherwise"
}
