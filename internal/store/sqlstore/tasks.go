package sqlstore

import (
	"context"
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// span returns the first and the last packed id that a batch can have.
func span(id crowd.BatchID) (first, last int64) {
	return int64(id) << 32, int64(id)<<32 | crowd.MaxInBatch
}

// AddTasks implements store.Batches. The call is one transaction, in which
// nothing else is written: callers with many tasks add a thousand or so at a
// time.
func (s *Store) AddTasks(ctx context.Context, id crowd.BatchID, tasks []store.Task) error {
	return s.change(ctx, "add tasks", func(ctx context.Context, tx transaction) error {
		d, err := s.draft(ctx, tx, 0, id)
		if err != nil {
			return err
		}
		return s.addTasks(ctx, tx, id, d, tasks)
	})
}

// StageTasks implements store.Batches.
func (s *Store) StageTasks(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, tasks []store.Task) error {
	return s.change(ctx, "stage tasks", func(ctx context.Context, tx transaction) error {
		d, err := s.launched(ctx, tx, tenant, id)
		if err != nil {
			return err
		}
		from, last := span(id)
		newest, _, err := one(ctx, tx, number[int64], `select coalesce(max(id), $1) from tasks where id >= $1 and id <= $2`, from, last)
		if err != nil {
			return err
		}
		d.tasks = newest - from
		return s.insertTasks(ctx, tx, id, &d, tasks)
	})
}

// DropStaged implements store.Batches.
func (s *Store) DropStaged(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) error {
	for more := true; more; {
		err := s.change(ctx, "drop staged tasks", func(ctx context.Context, tx transaction) error {
			d, err := s.launched(ctx, tx, tenant, id)
			if err != nil {
				return err
			}
			first, last := span(id)
			from := first + d.tasks
			until, err := scalar(ctx, tx, `select coalesce(max(id), $1) from (select id from tasks where id > $1 and id <= $2 order by id limit $3) x`, from, last, dropAtOnce)
			if more = err == nil && until > from; !more {
				return err
			}
			if err := dropped(ctx, tx, d.tenant, from, until); err != nil {
				return err
			}
			_, err = tx.exec(ctx, `delete from tasks where id > $1 and id <= $2`, from, until)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// launched makes sure that the batch is the tenant's and no draft.
func (s *Store) launched(ctx context.Context, tx transaction, tenant crowd.TenantID, id crowd.BatchID) (head, error) {
	d, err := lockHead(ctx, tx, s.dialect.RowLock, id)
	switch {
	case err != nil:
		return d, err
	case tenant == 0 || d.tenant != tenant:
		return d, noBatch(id)
	case d.state == crowd.BatchDraft:
		return d, crowd.Errorf(crowd.Conflict, "%s is a draft, whose tasks are its own at once", id)
	}
	return d, nil
}

// addTasks adds tasks to a batch that may get some.
func (s *Store) addTasks(ctx context.Context, tx transaction, id crowd.BatchID, d head, tasks []store.Task) error {
	if err := s.insertTasks(ctx, tx, id, &d, tasks); err != nil {
		return err
	}
	_, err := tx.exec(ctx, `update batches set tasks = $2, directed = $3 where id = $1`, id, d.tasks, d.directed)
	return err
}

// insertTasks keeps tasks behind the d.tasks that there are.
func (s *Store) insertTasks(ctx context.Context, tx transaction, id crowd.BatchID, d *head, tasks []store.Task) error {
	if d.tasks+int64(len(tasks)) > crowd.MaxInBatch {
		return crowd.Fieldf("tasks", "a batch has at most %d", int64(crowd.MaxInBatch))
	}
	insert, err := tx.stmt(ctx, insertTask)
	if err != nil {
		return err
	}
	bytes := int64(0)
	for i := range tasks {
		t := &tasks[i]
		d.tasks++
		cells, err := encode(t.Values, len(t.Values) == 0)
		if err != nil {
			return err
		}
		task := int64(id.Task(uint32(d.tasks)))
		notBy, err := encode(t.NotBy, len(t.NotBy) == 0)
		if err != nil {
			return err
		}
		if _, err := insert.ExecContext(ctx, task, t.Gold, cells, t.Item, micros(t.Born), micros(t.Bound), notBy, t.Class, t.Explain); err != nil {
			return err
		}
		bytes += int64(len(cells) + len(t.Gold) + len(t.Explain))
		if t.Invited != nil {
			d.directed = true
		}
		for _, w := range t.Invited {
			if _, err := tx.exec(ctx, insertInvited, task, int64(w)); err != nil {
				return s.taken(err, "invited", "%s is invited twice to the same task", w)
			}
		}
	}
	if err := charge(ctx, tx, d.tenant, store.StoredBytes, bytes); err != nil {
		return err
	}
	return charge(ctx, tx, d.tenant, store.OpenTasks, int64(len(tasks)))
}

// dropped counts tasks as away that are about to be dropped: those with ids above after
// and up to last.
func dropped(ctx context.Context, tx transaction, tenant crowd.TenantID, after, last int64) error {
	rows, bytes, err := bytesBetween(ctx, tx, taskBytes, after, last)
	if err == nil {
		_, err = grow(ctx, tx, tenant, store.StoredBytes, -bytes)
	}
	if err == nil {
		_, err = grow(ctx, tx, tenant, store.OpenTasks, -rows)
	}
	return err
}

const (
	insertTask    = `insert into tasks (id, gold, cells, item, born_at, bound_at, not_by, class, explain) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	insertInvited = `insert into task_workers (task, worker) values ($1, $2)`
)

// dropAtOnce is how many tasks are dropped in one transaction, so that the
// writing connection is free again soon.
const dropAtOnce = 10_000

// DropTasks implements store.Batches. Many tasks go in steps, the last ones
// first; if it fails between two, calling it again goes on.
func (s *Store) DropTasks(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) error {
	if tenant == 0 {
		return noBatch(id)
	}
	for left := int64(1); left > 0; {
		err := s.change(ctx, "drop tasks", func(ctx context.Context, tx transaction) error {
			d, err := s.draft(ctx, tx, tenant, id)
			if err != nil {
				return err
			}
			left = max(d.tasks-dropAtOnce, 0)
			return dropAfter(ctx, tx, id, &d, left)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dropAfter takes the tasks of a draft away that come after the first few.
func dropAfter(ctx context.Context, tx transaction, id crowd.BatchID, d *head, left int64) error {
	first, last := span(id)
	if err := dropped(ctx, tx, d.tenant, first+left, last); err != nil {
		return err
	}
	for _, text := range [...]string{
		`delete from task_workers where task > $1 and task <= $2`,
		`delete from tasks where id > $1 and id <= $2`,
	} {
		if _, err := tx.exec(ctx, text, first+left, last); err != nil {
			return err
		}
	}
	_, err := tx.exec(ctx, `update batches set tasks = $2, directed = $3 where id = $1`, id, left, d.directed && left > 0)
	return err
}

const selectTasks = `select id, gold, explain, cells, item, born_at, bound_at, not_by, class, coalesce((select body from replies where task = tasks.id), ''),
	exists (select 1 from replies where task = tasks.id and by_reviewer) from tasks `

func scanTask(r row, t *store.Task) error {
	return r.Scan(&t.ID, &t.Gold, &t.Explain, encoded{&t.Values}, &t.Item, instant{&t.Born}, instant{&t.Bound}, encoded{&t.NotBy}, &t.Class, &t.Reply, &t.ByReviewer)
}

// Task implements store.Batches.
func (s *Store) Task(ctx context.Context, id crowd.TaskID) (store.Task, error) {
	t, err := first(ctx, s.read, crowd.Errorf(crowd.NotFound, "there is no task %s", id), scanTask, selectTasks+`where id = $1`, id)
	if err == nil {
		t.Invited, err = list(ctx, s.read, number[crowd.WorkerID], `select worker from task_workers where task = $1 order by worker`, id)
	}
	if err != nil {
		return store.Task{}, s.failed("read task", err)
	}
	return t, nil
}

// Tasks implements store.Batches.
func (s *Store) Tasks(ctx context.Context, first crowd.TaskID, n int) ([]store.Task, error) {
	_, last := span(first.Batch())
	tasks, err := listPage(ctx, s.read, func(r row, t *store.Task) (int, error) {
		err := scanTask(r, t)
		return store.TextBytes(t.Values), err
	}, selectTasks+`where id >= $1 and id <= $2 order by id limit $3`, first, last, n)
	return tasks, s.failed("read tasks", err)
}

// Invitations implements store.Batches. A batch for everybody has nil, as in
// engine.Spec.
func (s *Store) Invitations(ctx context.Context, id crowd.BatchID) (map[crowd.WorkerID][]uint32, error) {
	b, err := s.Batch(ctx, 0, id)
	if err != nil || !b.Directed {
		return nil, err
	}
	m, err := invitations(ctx, s.scan, id)
	return m, s.failed("read invitations", err)
}

// Known implements store.Batches.
func (s *Store) Known(ctx context.Context, id crowd.BatchID, after, last uint32) (map[uint32]string, error) {
	first, _ := span(id)
	m, err := known(ctx, s.scan, first+int64(after), first+int64(last))
	return m, s.failed("read known answers", err)
}

// Lessons implements store.Batches.
func (s *Store) Lessons(ctx context.Context, id crowd.BatchID, after, last uint32) ([]uint32, error) {
	first, _ := span(id)
	list, err := lessons(ctx, s.scan, first+int64(after), first+int64(last))
	return list, s.failed("read which known tasks teach", err)
}

func invitations(ctx context.Context, q querier, id crowd.BatchID) (map[crowd.WorkerID][]uint32, error) {
	m := make(map[crowd.WorkerID][]uint32)
	first, last := span(id)
	err := each(ctx, q, func(r row) error {
		var task, worker int64
		if err := r.Scan(&task, &worker); err != nil {
			return fmt.Errorf("invitations: %w", err)
		}
		m[crowd.WorkerID(worker)] = append(m[crowd.WorkerID(worker)], uint32(task))
		return nil
	}, `select task, worker from task_workers where task >= $1 and task <= $2 order by task, worker`, first, last)
	return m, err
}
