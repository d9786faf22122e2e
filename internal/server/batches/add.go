package batches

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/store"
)

// Addition is how a file of more tasks is read.
type Addition struct {
	Upload
	// After, when not 0, is how many tasks the batch has, to whoever adds to it: if it has
	// others, nothing is added. So an addition that is sent again is not made twice.
	After uint32
	// AddBudget has what the batch's budget lacks for them reserved from the tenant's
	// account.
	AddBudget bool
}

// AddTasks adds the tasks of a file to a running batch: all of them, or none. The file
// has the columns of the batch, in any order. They are for everybody.
func (s *Batches) AddTasks(ctx context.Context, p *access.Principal, id crowd.BatchID, body io.Reader, how Addition) (UploadReport, error) {
	b, err := s.beginAddition(ctx, p, id, how.After)
	if err != nil {
		return UploadReport{}, err
	}
	defer s.uploads.Delete(id)
	u := uploading{batches: s, how: how.Upload}
	end, err := u.open(ctx, p, &b, body)
	if err != nil {
		return UploadReport{}, err
	}
	defer end()
	staging := store.Preparing(ctx)
	u.keep = func(ctx context.Context, tasks []store.Task) error {
		return s.store.StageTasks(ctx, b.Spec.Tenant, id, tasks)
	}
	if err := u.fit(&b); err != nil {
		return UploadReport{}, err
	}
	if err := s.store.DropStaged(staging, b.Spec.Tenant, id); err != nil { // of one that the server's end cut off
		return UploadReport{}, err
	}
	if err = u.all(staging); err == nil && u.report.Tasks > 0 {
		u.report.Reserved, err = s.addStaged(ctx, p, &b, uint32(u.report.Tasks), how.AddBudget)
	}
	if err != nil { // whoever sent the file may have gone
		err = errors.Join(err, s.store.DropStaged(context.WithoutCancel(staging), b.Spec.Tenant, id))
		return UploadReport{Bad: u.report.Bad, Problems: u.report.Problems}, err
	}
	u.report.Columns = u.columns
	return u.report, nil
}

// beginAddition makes the batch the addition's own, until it is taken out of s.uploads.
func (s *Batches) beginAddition(ctx context.Context, p *access.Principal, id crowd.BatchID, after uint32) (store.Batch, error) {
	b, err := s.batch(ctx, p, access.BatchesAddTasks, id)
	if err != nil {
		return b, err
	}
	if _, adding := s.uploads.LoadOrStore(id, true); adding {
		return b, crowd.Errorf(crowd.Conflict, "%s is getting tasks; wait for that to end", id)
	}
	if b, err = s.store.Batch(ctx, 0, id); err == nil { // nobody else adds to it now
		err = mayAdd(&b, after)
	}
	if err != nil {
		s.uploads.Delete(id)
	}
	return b, err
}

func mayAdd(b *store.Batch, after uint32) error {
	switch {
	case b.Run != 0:
		return crowd.Errorf(crowd.Conflict, "%s is of a step of %s, which gives it its tasks", b.Spec.ID, b.Run)
	case b.Spec.ReviewOf != 0:
		return crowd.Errorf(crowd.Conflict, "%s has the reviews of labels of %s, which come by themselves", b.Spec.ID, b.Spec.ReviewOf)
	case !b.Progress.State.Open():
		return notOpen(*b)
	case after > b.Spec.Tasks:
		return crowd.Errorf(crowd.Conflict, "%s has %d tasks, not %d", b.Spec.ID, b.Spec.Tasks, after)
	case after != 0 && after < b.Spec.Tasks:
		return crowd.Errorf(crowd.Conflict, "%s has %d tasks, not %d: somebody has added some", b.Spec.ID, b.Spec.Tasks, after)
	}
	return nil
}

// fit finds the batch's columns in those of the file.
func (u *uploading) fit(b *store.Batch) (err error) {
	u.gold, u.explain, u.workers = slices.Index(u.columns, GoldColumn), slices.Index(u.columns, ExplainColumn), -1
	for _, c := range b.Columns {
		at := slices.Index(u.columns, c)
		if at < 0 {
			return crowd.Errorf(crowd.Invalid, "the file has no column %q, which the batch's tasks have; its columns are: %s", c, strings.Join(u.columns, ", "))
		}
		u.plain = append(u.plain, at)
	}
	for i, c := range u.columns {
		switch {
		case c == WorkersColumn:
			return crowd.Errorf(crowd.Invalid, "the column %s cannot be here: tasks that are added to a running batch are for everybody", c)
		case i != u.gold && i != u.explain && !slices.Contains(u.plain, i):
			return crowd.Errorf(crowd.Invalid, "the batch's tasks have no column %q; they have: %s", c, strings.Join(b.Columns, ", "))
		}
	}
	u.named = b.Columns
	u.template, err = input.NewTemplate(b.Template, b.Columns)
	return err
}

// addStaged makes staged tasks tasks of the batch, and reports what it reserved for them.
func (s *Batches) addStaged(ctx context.Context, p *access.Principal, b *store.Batch, tasks uint32, addBudget bool) (reserved crowd.Money, err error) {
	defer s.funds.Hold()()
	id, had := b.Spec.ID, b.Spec.Tasks
	var known map[uint32]string
	if b.Spec.Checks != nil {
		if known, err = s.store.Known(ctx, id, had, had+tasks); err != nil {
			return 0, err
		}
	}
	lessons, err := s.store.Lessons(ctx, id, had, had+tasks)
	if err != nil {
		return 0, err
	}
	v, err := s.changeReserving(ctx, p, costlyChange{access: access.BatchesAddTasks, batch: b, do: func(e *engine.Engine, now time.Time, reserve crowd.Money) (missing crowd.Money, err error) {
		err = e.Add(now, id, engine.Addition{Had: had, Tasks: tasks, Known: known, Lessons: lessons, Reserve: reserve})
		if crowd.CodeOf(err) == crowd.BudgetTooSmall && addBudget {
			missing, _ = e.MissingFor(id, tasks)
		}
		return missing, err
	}})
	return v.Added, err
}
