package sqlstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// Snapshot implements store.Journal. Of a batch it reads the assignments from
// the oldest open one on, and for each of them whether its task has a label.
func (s *Store) Snapshot(ctx context.Context, id crowd.PoolID) (*engine.Snapshot, error) {
	var snap *engine.Snapshot
	err := s.consistent(ctx, "read snapshot", func(tx *sql.Tx) (err error) {
		snap, err = snapshot(ctx, tx, id)
		return err
	})
	return snap, err
}

func snapshot(ctx context.Context, tx querier, id crowd.PoolID) (*engine.Snapshot, error) {
	pool, err := readPool(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	snap := &engine.Snapshot{Stopped: pool.Stopped, Retainer: pool.Retainer, Gate: pool.GateSettings()}
	snap.GateOpen, err = first(ctx, tx, noPool(id), func(r row, open *bool) error { return r.Scan(open) }, `select gate_open from pools where id = $1`, id)
	if err != nil {
		return nil, err
	}
	account, err := accountKey(engine.Account{Kind: engine.PoolAccount, ID: int64(id)})
	if err != nil {
		return nil, err
	}
	if snap.Funds, _, err = one(ctx, tx, number[crowd.Money], balanceOf, account); err != nil {
		return nil, err
	}
	snap.Tenants, err = list(ctx, tx, func(r row, t *engine.Tenant) error {
		return r.Scan(&t.ID, &t.Weight, &t.Stopped, &t.MaxPriority)
	}, `select id, weight, stopped, max_priority from tenants order by id`)
	if err != nil {
		return nil, err
	}
	if snap.Workers, err = poolWorkers(ctx, tx, id); err != nil {
		return nil, err
	}
	if snap.Duties, err = duties.list(ctx, tx, `where d.pool = $1 and (d.is_on or d.training > 0) order by d.worker`, id); err != nil {
		return nil, err
	}
	if snap.Earned, err = earned(ctx, tx, account, snap.Duties); err != nil {
		return nil, err
	}
	running, err := batches.list(ctx, tx, `where b.pool = $1 and p.state in ('running', 'paused') order by b.id`, id)
	if err != nil {
		return nil, err
	}
	snap.Batches = make([]engine.BatchSnapshot, len(running))
	for i := range running {
		if err := snapshotBatch(ctx, tx, &running[i], &snap.Batches[i]); err != nil {
			return nil, err
		}
	}
	return snap, nil
}

// earned sums what the pool's account has paid each of those on duty for waiting since
// they came, by the chain of their entries from the last one back.
func earned(ctx context.Context, q querier, pool int64, list []engine.Duty) (map[crowd.WorkerID]crowd.Money, error) {
	sums := make(map[crowd.WorkerID]crowd.Money)
	for i := range list {
		d := &list[i]
		if !d.On {
			continue
		}
		key, err := accountKey(engine.Account{Kind: engine.WorkerAccount, ID: int64(d.Worker)})
		if err != nil {
			return nil, err
		}
		sum, _, err := one(ctx, q, number[crowd.Money], `with recursive chain (id, at, kind, source, amount, prev) as (
				select e.id, e.entered_at, e.kind, e.source, e.amount, case when e.source = $1 then e.source_prev else e.target_prev end
				from accounts a join ledger e on e.id = a.last_entry where a.account = $1
				union all
				select e.id, e.entered_at, e.kind, e.source, e.amount, case when e.source = $1 then e.source_prev else e.target_prev end
				from chain c join ledger e on e.id = c.prev where c.at > $2
			)
			select coalesce(sum(amount), 0) from chain where at > $2 and kind = $3 and source = $4`, key, micros(d.Since), string(engine.Waiting), pool)
		if err != nil {
			return nil, err
		}
		if sum > 0 {
			sums[d.Worker] = sum
		}
	}
	return sums, nil
}

func poolWorkers(ctx context.Context, q querier, pool crowd.PoolID) ([]engine.Worker, error) {
	workers, err := list(ctx, q, func(r row, w *engine.Worker) error {
		return r.Scan(&w.ID, &w.Suspended, encoded{&w.Qualifications}, encoded{&w.Granted}, encoded{&w.Serves}, &w.Lent, &w.Borrowed)
	}, `select id, suspended, qualifications, granted, serves, pool <> $1, pool = $1 and coalesce(home, 0) not in (0, $1)
		from users where pool = $1 or home = $1 and pool is not null order by id`, pool)
	if err != nil {
		return nil, err
	}
	for i, table := range [...]string{`(select user_id, tenant from user_tenants union select user_id, tenant from user_roles where tenant <> 0) held`, `user_blocks`} {
		next := 0 // both lists are in order of the worker
		err := each(ctx, q, func(r row) error {
			var id crowd.WorkerID
			var tenant crowd.TenantID
			if err := r.Scan(&id, &tenant); err != nil {
				return err
			}
			for next < len(workers) && workers[next].ID < id {
				next++
			}
			if next < len(workers) && workers[next].ID == id {
				w := &workers[next]
				list := [...]*[]crowd.TenantID{&w.StaffOf, &w.BlockedBy}[i]
				*list = append(*list, tenant)
			}
			return nil
		}, `select user_id, tenant from `+table+` order by user_id, tenant`)
		if err != nil {
			return nil, err
		}
	}
	return workers, nil
}

// snapshotBatch reads what the engine needs of a running batch. It is long as each feature of a batch has
// a query of its own, which is made only for batches with it.
func snapshotBatch(ctx context.Context, q querier, b *store.Batch, into *engine.BatchSnapshot) (err error) {
	into.Spec, into.Progress = b.Spec, b.Progress
	first, last := span(b.Spec.ID)
	into.Assignments, err = list(ctx, q, scanAssignment, `select a.id, a.task, a.worker, a.state, a.assigned_at, a.expires_at,
		a.ended_at, a.late, a.counted or a.disregarded_at <> 0, a.paid, a.answer_key, a.disregarded_at <> 0 from annotations a
		where a.id >= $1 and a.id <= $2 and ($3 and a.state in ('assigned', 'provisional') or not exists (select 1 from labels l where l.task = a.task)) order by a.id`,
		first+int64(b.Progress.OldestOpen), last, b.Spec.Checks != nil)
	if err != nil {
		return err
	}
	if b.Spec.Grace > 0 {
		if err := addProvisional(ctx, q, into); err != nil {
			return err
		}
		if err := addVerdicts(ctx, q, into); err != nil {
			return err
		}
	}
	if into.Past, err = list(ctx, q, func(r row, p *engine.PastReward) error {
		return r.Scan(&p.Last, &p.Reward)
	}, `select last, reward from past_rewards where batch = $1 order by last`, b.Spec.ID); err != nil {
		return err
	}
	if b.Progress.Removed > 0 {
		into.Removed, err = list(ctx, q, taskNumber, `select task from removals where task >= $1 and task <= $2 order by task`, first, last)
		if err != nil {
			return err
		}
	}
	if b.Spec.Open && b.Run != 0 && b.Progress.Tasks > 0 && b.Progress.WaitsFrom.IsZero() {
		if into.Came, err = came(ctx, q, b); err != nil {
			return err
		}
	}
	if b.Spec.PerWorker > 0 || b.Spec.Review != nil && b.Spec.Review.NewWorkers > 0 {
		if into.Gave, err = gave(ctx, q, first, last); err != nil {
			return err
		}
	}
	if b.Spec.Checks != nil {
		if into.Spec.Known, err = known(ctx, q, first, first+int64(b.Progress.Tasks)); err != nil {
			return err
		}
		if into.Spec.Lessons, err = lessons(ctx, q, first, first+int64(b.Progress.Tasks)); err != nil {
			return err
		}
		if into.Checked, err = checked(ctx, q, first, last); err != nil {
			return err
		}
	}
	if len(b.Spec.Quality) > 0 {
		if into.Actions, err = qualityActions.list(ctx, q, `where q.batch = $1 order by q.number`, b.Spec.ID); err != nil {
			return err
		}
		if into.Standings, err = standings(ctx, q, &b.Spec, first, last); err != nil {
			return err
		}
	}
	if b.Spec.ReviewOf != 0 {
		if into.Paused, err = paused(ctx, q, b.Spec.ReviewOf); err != nil {
			return err
		}
	}
	if b.Spec.Rule.FollowsAnswers() {
		if into.Answers, err = evidence(ctx, q, first, last); err != nil {
			return err
		}
	}
	if len(b.Spec.NotBy) > 0 {
		if into.NotBy, err = exclusions(ctx, q, first, first+int64(b.Progress.Tasks)); err != nil {
			return err
		}
	}
	if b.Spec.Review != nil {
		if into.NotBy, err = sentBackBy(ctx, q, first, last); err != nil {
			return err
		}
	}
	if b.Spec.SLA != nil {
		if into.Items, err = unlabelledItems(ctx, q, b); err != nil {
			return err
		}
	}
	if !b.Directed {
		return nil
	}
	if into.Spec.Invited, err = invitations(ctx, q, b.Spec.ID); err != nil {
		return err
	}
	into.Labelled, err = list(ctx, q, taskNumber, `select task from labels where task >= $1 and task <= $2 order by task`, first, last)
	return err
}

// came is when the first task of a run's batch came that nobody was given yet, or the last
// one: when the latest row of its item was made. Zero: it has none.
func came(ctx context.Context, q querier, b *store.Batch) (time.Time, error) {
	n := min(b.Progress.Fresh, b.Progress.Tasks)
	made, err := scalar(ctx, q, `select coalesce(max(r.made_at), 0) from tasks t
		join run_nodes n on n.run = $1 join run_rows r on r.log = n.log and r.item = t.item where t.id = $2`, b.Run, int64(b.Spec.ID.Task(n)))
	return moment(made), err
}

// gave counts the answers with ids from first to last that counted when they came, by who gave them. It reads
// all of the batch's assignments.
func gave(ctx context.Context, q querier, first, last int64) (map[crowd.WorkerID]int, error) {
	m := make(map[crowd.WorkerID]int)
	err := each(ctx, q, func(r row) error {
		var worker crowd.WorkerID
		var answers int
		err := r.Scan(&worker, &answers)
		m[worker] = answers
		return err
	}, `select a.worker, count(*) from assignments a join answers n on n.id = a.id where a.id >= $1 and a.id <= $2 and n.counted group by a.worker`, first, last)
	return m, err
}

// known returns the known answers of the tasks after first, up to last.
func known(ctx context.Context, q querier, first, last int64) (map[uint32]string, error) {
	m := make(map[uint32]string)
	err := each(ctx, q, func(r row) error {
		var task int64
		var key string
		err := r.Scan(&task, &key)
		m[uint32(task)] = key
		return err
	}, `select id, gold from tasks where id > $1 and id <= $2 and gold <> ''`, first, last)
	return m, err
}

// lessons returns the numbers of those tasks after first, up to last, that teach.
func lessons(ctx context.Context, q querier, first, last int64) ([]uint32, error) {
	return list(ctx, q, taskNumber, `select id from tasks where id > $1 and id <= $2 and gold <> '' and explain <> '' order by id`, first, last)
}

// checked lists the assignments with ids from first to last of tasks with a known answer, in the
// order in which their answers came.
func checked(ctx context.Context, q querier, first, last int64) ([]engine.CheckSnapshot, error) {
	return list(ctx, q, func(r row, x *engine.CheckSnapshot) error {
		var task int64
		err := r.Scan(&x.Assignment, &task, &x.Worker, &x.Counted, &x.Right)
		x.N = uint32(task)
		return err
	}, `select a.id, a.task, a.worker, a.counted or a.disregarded_at <> 0, (a.counted or a.disregarded_at <> 0) and a.answer_key = t.gold from annotations a join tasks t on t.id = a.task
		where a.id >= $1 and a.id <= $2 and t.gold <> '' order by a.ended_at, a.id`, first, last)
}

// evidence lists the latest counted answers with ids from first to last to tasks with labels.
func evidence(ctx context.Context, q querier, first, last int64) ([]engine.CountedAnswer, error) {
	answers, err := list(ctx, q, func(r row, a *engine.CountedAnswer) error {
		var task int64
		err := r.Scan(&task, &a.Worker, &a.Key)
		a.N = uint32(task)
		return err
	}, `select a.task, a.worker, a.answer_key from annotations a
		where a.id >= $1 and a.id <= $2 and a.counted and a.answer_key <> '' and exists (select 1 from labels l where l.task = a.task)
		order by a.id desc limit $3`, first, last, engine.MaxEvidence)
	slices.Reverse(answers)
	return answers, err
}

// exclusions says who must not do which tasks, of those without a label with ids from
// first to last.
func exclusions(ctx context.Context, q querier, first, last int64) (map[uint32][]crowd.WorkerID, error) {
	m := make(map[uint32][]crowd.WorkerID)
	err := each(ctx, q, func(r row) error {
		var task int64
		var people []crowd.WorkerID
		err := r.Scan(&task, encoded{&people})
		m[uint32(task)] = people
		return err
	}, `select t.id, t.not_by from tasks t where t.id >= $1 and t.id <= $2 and t.not_by <> ''
		and not exists (select 1 from labels l where l.task = t.id)`, first, last)
	return m, err
}

// taskNumber scans the number of a task within its batch.
func taskNumber(r row, n *uint32) error {
	var task int64
	err := r.Scan(&task)
	*n = uint32(task)
	return err
}

// unlabelledItems returns the items of the tasks without a label, as far as the
// engine knows of the tasks.
func unlabelledItems(ctx context.Context, q querier, b *store.Batch) ([]engine.ItemSnapshot, error) {
	first, _ := span(b.Spec.ID)
	return list(ctx, q, func(r row, i *engine.ItemSnapshot) error {
		var task int64
		err := r.Scan(&task, instant{&i.Born}, instant{&i.Bound}, &i.Class)
		i.N = uint32(task)
		return err
	}, `select t.id, t.born_at, t.bound_at, t.class from tasks t where t.id > $1 and t.id <= $2
		and not exists (select 1 from labels l where l.task = t.id) order by t.id`, first, first+int64(b.Progress.Tasks))
}

func scanAssignment(r row, a *engine.AssignmentSnapshot) error {
	var ended int64
	err := r.Scan(&a.ID, &a.Task, &a.Worker, &a.State, instant{&a.At}, instant{&a.Expires}, &ended, &a.Late, &a.Counted, &a.Paid, &a.Key, &a.Disregarded)
	if a.State.Answered() {
		a.AnsweredAt = moment(ended)
	}
	return err
}
