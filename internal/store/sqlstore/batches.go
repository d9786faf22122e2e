package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

var (
	progress = newTable("progress", "p", `batch, state, stopped, priority, deadline, fresh, issued, oldest_open, planned, completed, labelled,
		escrow, spent, worked_ns, launched_at, ended_at, first_started, tasks, open, released, removed, certainty, had_enough, taken_over, taken_certainty, known, total, waits_from`, func(p *engine.Progress) []any {
		return []any{
			&p.Batch, &p.State, &p.Stopped, &p.Priority, instant{&p.Deadline}, &p.Fresh, &p.Issued, &p.OldestOpen, &p.Planned, &p.Completed, &p.Labelled,
			&p.Escrow, &p.Spent, &p.Worked, instant{&p.LaunchedAt}, instant{&p.EndedAt}, instant{&p.FirstStarted}, &p.Tasks, &p.Open, &p.Released, &p.Removed, &p.Certainty, &p.HadEnough, &p.TakenOver.Labels, &p.TakenOver.Certainty, &p.Known, &p.Total, instant{&p.WaitsFrom},
		}
	})
	// keepProgress writes how far a batch has come. One that has ended stays as it is.
	keepProgress = progress.update(1).when("state in ('draft', 'running', 'paused')")

	batches = batchTable()
	// keepDraft writes what a requester defines.
	keepDraft = batches.update(1, "tenant", "tasks", "directed", "created_by", "created_at", "run", "node", "answers_deleted_at", "files_deleted_at", "review_of", "pay_paid", "pay_returned")
)

func batchTable() *table[store.Batch] {
	t := newTable("batches", "b", `id, tenant, pool, name, tasks, directed, created_by, created_at, rule, reward, budget, production,
		lease_ns, task_time_ns, ends_at, small_crowd_ok, training, requirements, headers, template, run, node, open, sla, enough, per_worker, not_by, tells_who,
		answers_deleted_at, files_deleted_at, grace_ns, revise_ns, checks, quality, review, review_of, approval, pay_paid, pay_returned`, func(b *store.Batch) []any {
		s := &b.Spec
		return append([]any{
			&s.ID, &s.Tenant, &b.Pool, &b.Name, &s.Tasks, &b.Directed, &b.CreatedBy, instant{&b.CreatedAt}, encoded{&s.Rule}, &s.Reward, &s.Budget, &s.Production,
			&s.Lease, &s.TaskTime, instant{&s.EndsAt}, &s.SmallCrowdOK, &s.Training, encoded{&s.Requirements}, encoded{&b.Columns}, raw{&b.Template}, &b.Run, &b.Node, &s.Open, encoded{&s.SLA},
			encoded{&s.Enough}, &s.PerWorker, encoded{&s.NotBy}, &s.TellsWho,
			instant{&b.AnswersDeletedAt}, instant{&b.FilesDeletedAt}, &s.Grace, &s.Revise, encoded{&s.Checks}, encoded{&s.Quality}, encoded{&b.Review}, &s.ReviewOf, encoded{&s.Approval}, &b.PayPaid, &b.PayReturned,
		}, append(progress.cells(&b.Progress), &b.ReviewedIn)...)
	}).joined(progress.of("p")+`, coalesce((select r.id from batches r where r.review_of = b.id and r.review_of <> 0), 0)`, `join progress p on p.batch = b.id`).long("b.template", "b.headers")
	t.after = func(b *store.Batch) {
		b.Spec.Priority, b.Spec.Deadline = b.Progress.Priority, b.Progress.Deadline
		if b.Review != nil {
			b.Spec.Review = &b.Review.Review
		}
	}
	return t
}

// CreateBatch implements store.Batches.
func (s *Store) CreateBatch(ctx context.Context, b store.Batch) (crowd.BatchID, error) {
	var id crowd.BatchID
	return create(ctx, s, "create batch", &id, func(ctx context.Context, tx transaction) (err error) {
		id, err = s.createBatch(ctx, tx, &b)
		return err
	})
}

// createBatch keeps a draft under a new id.
func (s *Store) createBatch(ctx context.Context, tx transaction, b *store.Batch) (crowd.BatchID, error) {
	p := &b.Spec
	if b.Run != 0 {
		if _, err := first(ctx, tx, noNode(b.Run, b.Node), number[int64], `select 1 from runs r join run_nodes n on n.run = r.id where r.id = $1 and n.node = $2 and r.tenant = $3`, b.Run, b.Node, p.Tenant); err != nil {
			return 0, err
		}
	}
	n, err := newID(ctx, tx, "batch")
	if err != nil {
		return 0, err
	}
	if n > crowd.MaxBatchID {
		return 0, fmt.Errorf("all %d batch ids are used up", int64(crowd.MaxBatchID))
	}
	id, draft := crowd.BatchID(n), *b
	created(ctx, "batch", id)
	draft.Spec.ID, draft.Spec.Tasks, draft.Directed = id, 0, false
	if err := batches.add(ctx, tx, &draft); err != nil {
		return 0, s.taken(s.missing(err, "there is no tenant %s or no pool %s", p.Tenant, b.Pool), "review", "%s has a batch of reviews already", p.ReviewOf)
	}
	if err := progress.add(ctx, tx, &engine.Progress{Batch: id, State: crowd.BatchDraft, Priority: p.Priority, Deadline: p.Deadline}); err != nil {
		return 0, err
	}
	bytes, err := definitionBytes(ctx, tx, id)
	if err == nil {
		err = charge(ctx, tx, p.Tenant, store.StoredBytes, bytes)
	}
	if err == nil {
		err = charge(ctx, tx, p.Tenant, store.OpenBatches, 1)
	}
	return id, err
}

// definitionBytes is how much text the definition of a batch has.
func definitionBytes(ctx context.Context, q querier, id crowd.BatchID) (int64, error) {
	return first(ctx, q, noBatch(id), number[int64], `select octet_length(template) + octet_length(headers) from batches where id = $1`, id)
}

// UpdateDraft implements store.Batches.
func (s *Store) UpdateDraft(ctx context.Context, b store.Batch) error {
	return s.change(ctx, "update draft", func(ctx context.Context, tx transaction) error {
		p := &b.Spec
		d, err := s.draft(ctx, tx, p.Tenant, p.ID)
		if err != nil {
			return err
		}
		before, err := definitionBytes(ctx, tx, p.ID)
		if err != nil {
			return err
		}
		if _, err := keepDraft.exec(ctx, tx, &b); err != nil {
			return s.missing(err, "there is no pool %s", b.Pool)
		}
		after, err := definitionBytes(ctx, tx, p.ID)
		if err != nil {
			return err
		}
		if err := charge(ctx, tx, d.tenant, store.StoredBytes, after-before); err != nil {
			return err
		}
		_, err = tx.exec(ctx, `update progress set priority = $2, deadline = $3 where batch = $1`, p.ID, p.Priority, micros(p.Deadline))
		return err
	})
}

// head is what must be known of a batch to change it.
type head struct {
	tenant   crowd.TenantID
	run      crowd.RunID
	state    crowd.BatchState
	tasks    int64
	directed bool
}

// lockHead reads a batch's head, and keeps others from changing it.
func lockHead(ctx context.Context, tx transaction, lock string, id crowd.BatchID) (head, error) {
	return first(ctx, tx, noBatch(id), func(r row, d *head) error {
		return r.Scan(&d.tenant, &d.run, &d.state, &d.tasks, &d.directed)
	}, `select b.tenant, b.run, p.state, b.tasks, b.directed from batches b join progress p on p.batch = b.id where b.id = $1`+lock, id)
}

// draft makes sure that the batch is the tenant's, unless that is 0, and a
// draft.
func (s *Store) draft(ctx context.Context, tx transaction, tenant crowd.TenantID, id crowd.BatchID) (head, error) {
	d, err := lockHead(ctx, tx, s.dialect.RowLock, id)
	switch {
	case err != nil:
		return d, err
	case tenant != 0 && d.tenant != tenant:
		return d, noBatch(id)
	case d.state != crowd.BatchDraft:
		return d, crowd.Errorf(crowd.Conflict, "%s is %s: only a draft can be changed", id, d.state)
	}
	return d, nil
}

func noBatch(id crowd.BatchID) error { return crowd.Errorf(crowd.NotFound, "there is no batch %s", id) }

// emptyTemplate is what a draft asks whose content went when it was given up.
const emptyTemplate = `{"kind":"short_text","question":"(deleted)"}`

// CancelDraft implements store.Batches. Of many tasks all but the first ones go before that, in
// steps; if it fails between two, calling it again goes on.
func (s *Store) CancelDraft(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, now time.Time) error {
	b, err := s.Batch(ctx, tenant, id)
	if err == nil && tenant == 0 {
		err = noBatch(id)
	}
	if err != nil {
		return err
	}
	ours := b.Run == 0 // what the batch of a step has is the run's
	if ours && b.Spec.Tasks > dropAtOnce {
		if err := s.DropTasks(store.Preparing(ctx), tenant, id); err != nil {
			return err
		}
	}
	return s.change(ctx, "cancel draft", func(ctx context.Context, tx transaction) error {
		d, err := s.draft(ctx, tx, tenant, id)
		if err != nil {
			return err
		}
		if _, err := tx.exec(ctx, `update progress set state = $2, ended_at = $3 where batch = $1`, id, crowd.BatchCancelled, micros(now)); err != nil {
			return err
		}
		if ours {
			if err := emptyDraft(ctx, tx, id, &d); err != nil {
				return err
			}
		}
		return ended(ctx, tx, d.tenant, d.tasks)
	})
}

// emptyDraft takes away what a draft has, of which nobody has seen anything, with the room that it took.
func emptyDraft(ctx context.Context, tx transaction, id crowd.BatchID, d *head) error {
	before, err := definitionBytes(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := dropAfter(ctx, tx, id, d, 0); err != nil {
		return err
	}
	d.tasks = 0
	if _, err := tx.exec(ctx, `update batches set template = case when octet_length(template) > $3 then $2 else template end, headers = '' where id = $1`, id, emptyTemplate, len(emptyTemplate)); err != nil {
		return err
	}
	after, err := definitionBytes(ctx, tx, id)
	if err == nil {
		_, err = grow(ctx, tx, d.tenant, store.StoredBytes, after-before)
	}
	return err
}

// ended counts a batch as one that has ended.
func ended(ctx context.Context, tx transaction, tenant crowd.TenantID, tasks int64) error {
	if _, err := grow(ctx, tx, tenant, store.OpenTasks, -tasks); err != nil {
		return err
	}
	_, err := grow(ctx, tx, tenant, store.OpenBatches, -1)
	return err
}

// Batch implements store.Batches.
func (s *Store) Batch(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) (store.Batch, error) {
	return got(ctx, s, batches, noBatch(id), `where b.id = $1 and (b.tenant = $2 or $2 = 0)`, id, tenant)
}

// namesAtOnce names are read by one query. It always has as many parameters, so that it is
// prepared once.
const namesAtOnce = 100

var (
	readNames     = `select id, name from batches where id in ` + places(1, namesAtOnce)
	readUserNames = `select id, name from users where id in ` + places(1, namesAtOnce)
)

// BatchNames implements store.Batches.
func (s *Store) BatchNames(ctx context.Context, ids []crowd.BatchID) (map[crowd.BatchID]string, error) {
	return namesOf(ctx, s, "batches", readNames, ids)
}

// namesOf reads names of things by their ids, with a query for namesAtOnce of them.
func namesOf[ID ~int64 | ~uint32](ctx context.Context, s *Store, things, query string, ids []ID) (map[ID]string, error) {
	names := make(map[ID]string, len(ids))
	for some := range slices.Chunk(ids, namesAtOnce) {
		args := make([]any, namesAtOnce)
		for i := range args {
			args[i] = some[min(i, len(some)-1)]
		}
		if err := each(ctx, s.read, func(r row) error {
			var id ID
			var name string
			err := r.Scan(&id, &name)
			names[id] = name
			return err
		}, query, args...); err != nil {
			return nil, s.failed("read names of "+things, err)
		}
	}
	return names, nil
}

// ListBatches implements store.Batches.
func (s *Store) ListBatches(ctx context.Context, tenant crowd.TenantID, before crowd.BatchID, limit int) ([]store.Batch, error) {
	return paged(ctx, s, batches, page{column: "b.tenant", of: int64(tenant), before: int64(before), limit: limit})
}
