package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// definition is what of a batch a requester defines, as kept.
type definition struct{ rule, requirements, headers, sla string }

func define(b *store.Batch) (d definition, err error) {
	if d.rule, err = encodeRule(b.Spec.Rule); err != nil {
		return d, err
	}
	if d.requirements, err = encode(b.Spec.Requirements, len(b.Spec.Requirements) == 0); err != nil {
		return d, err
	}
	if d.sla, err = encode(b.Spec.SLA, b.Spec.SLA == nil); err != nil {
		return d, err
	}
	d.headers, err = encode(b.Columns, len(b.Columns) == 0)
	return d, err
}

// CreateBatch implements store.Batches.
func (s *Store) CreateBatch(ctx context.Context, b store.Batch) (crowd.BatchID, error) {
	var id crowd.BatchID
	err := s.change(ctx, "create batch", func(ctx context.Context, tx transaction) (err error) {
		id, err = s.createBatch(ctx, tx, &b)
		return err
	})
	if err != nil {
		return 0, err
	}
	return id, nil
}

// createBatch keeps a draft under a new id.
func (s *Store) createBatch(ctx context.Context, tx transaction, b *store.Batch) (crowd.BatchID, error) {
	p := &b.Spec
	if b.Run != 0 {
		_, ok, err := one(ctx, tx, number[int64], `select 1 from runs r join run_nodes n on n.run = r.id where r.id = $1 and n.node = $2 and r.tenant = $3`, b.Run, b.Node, p.Tenant)
		if err == nil && !ok {
			err = noNode(b.Run, b.Node)
		}
		if err != nil {
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
	id := crowd.BatchID(n)
	d, err := define(b)
	if err != nil {
		return 0, err
	}
	_, err = tx.exec(ctx, `insert into batches
		(id, tenant, pool, name, tasks, directed, created_by, created_at, rule, reward, budget, production,
		lease_ns, task_time_ns, ends_at, small_crowd_ok, training, requirements, headers, template, run, node, open, sla)
		values ($1, $2, $3, $4, 0, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`,
		id, p.Tenant, b.Pool, b.Name, false, b.CreatedBy, micros(b.CreatedAt), d.rule, p.Reward, p.Budget, p.Production,
		int64(p.Lease), int64(p.TaskTime), micros(p.EndsAt), p.SmallCrowdOK, p.Training, d.requirements, d.headers, string(b.Template), b.Run, b.Node, p.Open, d.sla)
	if err != nil {
		return 0, s.missing(err, "there is no tenant %s or no pool %s", p.Tenant, b.Pool)
	}
	_, err = tx.exec(ctx, `insert into progress
		(batch, state, stopped, priority, deadline, fresh, issued, oldest_open, planned, completed, labelled,
		escrow, spent, worked_ns, launched_at, ended_at, first_started)
		values ($1, $2, $3, $4, $5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)`,
		id, crowd.BatchDraft, false, p.Priority, micros(p.Deadline))
	return id, err
}

// UpdateDraft implements store.Batches.
func (s *Store) UpdateDraft(ctx context.Context, b store.Batch) error {
	return s.change(ctx, "update draft", func(ctx context.Context, tx transaction) error {
		p := &b.Spec
		if _, err := s.draft(ctx, tx, p.Tenant, p.ID); err != nil {
			return err
		}
		d, err := define(&b)
		if err != nil {
			return err
		}
		_, err = tx.exec(ctx, `update batches set pool = $2, name = $3, rule = $4, reward = $5, budget = $6, production = $7,
			lease_ns = $8, task_time_ns = $9, ends_at = $10, small_crowd_ok = $11, training = $12, requirements = $13, headers = $14, template = $15, open = $16, sla = $17
			where id = $1`,
			p.ID, b.Pool, b.Name, d.rule, p.Reward, p.Budget, p.Production,
			int64(p.Lease), int64(p.TaskTime), micros(p.EndsAt), p.SmallCrowdOK, p.Training, d.requirements, d.headers, string(b.Template), p.Open, d.sla)
		if err != nil {
			return s.missing(err, "there is no pool %s", b.Pool)
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
	d, ok, err := one(ctx, tx, func(r row, d *head) error {
		return r.Scan(&d.tenant, &d.run, &d.state, &d.tasks, &d.directed)
	}, `select b.tenant, b.run, p.state, b.tasks, b.directed from batches b join progress p on p.batch = b.id where b.id = $1`+lock, id)
	if err == nil && !ok {
		err = noBatch(id)
	}
	return d, err
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

// CancelDraft implements store.Batches.
func (s *Store) CancelDraft(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, now time.Time) error {
	return s.change(ctx, "cancel draft", func(ctx context.Context, tx transaction) error {
		if tenant == 0 {
			return noBatch(id)
		}
		if _, err := s.draft(ctx, tx, tenant, id); err != nil {
			return err
		}
		_, err := tx.exec(ctx, `update progress set state = $2, ended_at = $3 where batch = $1`, id, crowd.BatchCancelled, micros(now))
		return err
	})
}

const selectBatches = `select b.id, b.tenant, b.pool, b.name, b.tasks, b.directed, b.created_by, b.created_at, b.rule, b.reward, b.budget,
	b.production, b.lease_ns, b.task_time_ns, b.ends_at, b.small_crowd_ok, b.training, b.requirements, b.headers, b.template, b.run, b.node, b.open, b.sla,
	p.state, p.stopped, p.priority, p.deadline, p.fresh, p.issued, p.oldest_open, p.planned, p.completed, p.labelled,
	p.escrow, p.spent, p.worked_ns, p.launched_at, p.ended_at, p.first_started, p.tasks, p.open
	from batches b join progress p on p.batch = b.id `

func scanBatch(r row, b *store.Batch) error {
	s, p := &b.Spec, &b.Progress
	err := r.Scan(&s.ID, &s.Tenant, &b.Pool, &b.Name, &s.Tasks, &b.Directed, &b.CreatedBy, instant{&b.CreatedAt}, decoded{&s.Rule}, &s.Reward, &s.Budget,
		&s.Production, &s.Lease, &s.TaskTime, instant{&s.EndsAt}, &s.SmallCrowdOK, &s.Training, decoded{&s.Requirements}, decoded{&b.Columns}, raw{&b.Template}, &b.Run, &b.Node, &s.Open, decoded{&s.SLA},
		&p.State, &p.Stopped, &p.Priority, instant{&p.Deadline}, &p.Fresh, &p.Issued, &p.OldestOpen, &p.Planned, &p.Completed, &p.Labelled,
		&p.Escrow, &p.Spent, &p.Worked, instant{&p.LaunchedAt}, instant{&p.EndedAt}, instant{&p.FirstStarted}, &p.Tasks, &p.Open)
	s.Priority, s.Deadline, p.Batch = p.Priority, p.Deadline, s.ID
	return err
}

// Batch implements store.Batches.
func (s *Store) Batch(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) (store.Batch, error) {
	b, ok, err := one(ctx, s.read, scanBatch, selectBatches+`where b.id = $1`, id)
	if err == nil && (!ok || (tenant != 0 && b.Spec.Tenant != tenant)) {
		err = noBatch(id)
	}
	if err != nil {
		return store.Batch{}, s.failed("read batch", err)
	}
	return b, nil
}

// ListBatches implements store.Batches.
func (s *Store) ListBatches(ctx context.Context, tenant crowd.TenantID, before crowd.BatchID, limit int) ([]store.Batch, error) {
	if before == 0 {
		before = crowd.MaxBatchID + 1
	}
	var all []store.Batch
	var err error
	if tenant == 0 {
		all, err = list(ctx, s.read, scanBatch, selectBatches+`where b.id < $1 order by b.id desc limit $2`, before, limit)
	} else {
		all, err = list(ctx, s.read, scanBatch, selectBatches+`where b.tenant = $1 and b.id < $2 order by b.id desc limit $3`, tenant, before, limit)
	}
	return all, s.failed("list batches", err)
}

// keepProgress writes how far a batch has come. One that has ended stays as it is.
const keepProgress = `update progress set state = $2, stopped = $3, priority = $4, deadline = $5, fresh = $6, issued = $7, oldest_open = $8,
	planned = $9, completed = $10, labelled = $11, escrow = $12, spent = $13, worked_ns = $14, launched_at = $15, ended_at = $16, first_started = $17, tasks = $18, open = $19
	where batch = $1 and state in ('draft', 'running', 'paused')`

func progressArgs(p *engine.Progress) []any {
	return []any{int64(p.Batch), string(p.State), p.Stopped, p.Priority, micros(p.Deadline), int64(p.Fresh), int64(p.Issued), int64(p.OldestOpen),
		int64(p.Planned), int64(p.Completed), int64(p.Labelled), int64(p.Escrow), int64(p.Spent), int64(p.Worked),
		micros(p.LaunchedAt), micros(p.EndedAt), micros(p.FirstStarted), int64(p.Tasks), p.Open}
}
