package sqlstore

import (
	"context"
	"database/sql"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// redone finds the run that was made of the corrected labels of the run $1.
const redone = `select id from runs where parent = $1 and redo_labels > 0 and state <> 'cancelled'`

// RedoneAs implements store.Redos.
func (s *Store) RedoneAs(ctx context.Context, id crowd.RunID) (_ crowd.RunID, err error) {
	defer s.explain("read what a run was done anew as", &err)
	as, _, err := one(ctx, s.read, number[crowd.RunID], redone, id)
	return as, err
}

// RunsToRedo implements store.Redos.
func (s *Store) RunsToRedo(ctx context.Context) (_ []crowd.RunID, err error) {
	defer s.explain("list runs to be done anew", &err)
	return list(ctx, s.read, number[crowd.RunID], `select id from runs where redo_due
		union select parent from runs where redo_labels > 0 and state = 'loading' order by 1`)
}

// CorrectedBatches implements store.Redos.
func (s *Store) CorrectedBatches(ctx context.Context, id crowd.RunID) (_ []crowd.BatchID, err error) {
	defer s.explain("read which labels were corrected", &err)
	return list(ctx, s.read, number[crowd.BatchID], `with recursive line (id, parent) as (
			select id, parent from runs where id = $1
			union all select r.id, r.parent from runs r join line l on r.id = l.parent
		)
		select n.batch from line l join run_nodes n on n.run = l.id where n.batch > 0
		and exists (select 1 from corrections c where c.task > n.batch << 32 and c.task <= ((n.batch << 32) | 4294967295)) order by n.batch`, id)
}

// The tasks of the batches up to $3, after $2, whose labels hold another value than the rows of
// the log $1 that were made of them.
const (
	// changedOwn finds those whose items have rows that were made of their labels, or none yet.
	changedOwn = ` from corrections c join tasks t on t.id = c.task left join run_rows r on r.log = $1 and r.item = t.item
		where c.task > $2 and c.task <= $3 and not c.superseded and not c.withdrawn and t.item > 0 and (r.id is null or r.source = 0)`
	// changedTaken finds those whose labels were taken over.
	changedTaken = ` from corrections c join run_rows r on r.source = c.task and r.source <> 0 and r.log = $1 join tasks t on t.id = c.task
		where c.task > $2 and c.task <= $3 and not c.superseded and r.correction <> case when c.withdrawn then 0 else c.number end`
)

// eachChanged calls do for both of those for each of the batches.
func eachChanged(used *store.LabelsUsed, do func(from string, first, last int64) error) error {
	for _, x := range [...]struct {
		from string
		list []crowd.BatchID
	}{{changedOwn, used.Own}, {changedTaken, used.Earlier}} {
		for _, id := range x.list {
			first, last := span(id)
			if err := do(x.from, first, last); err != nil {
				return err
			}
		}
	}
	return nil
}

// CountCorrected implements store.Redos.
func (s *Store) CountCorrected(ctx context.Context, used store.LabelsUsed) (sum int64, err error) {
	err = s.consistent(ctx, "count corrected labels", func(tx *sql.Tx) error {
		n, err := node(ctx, tx, used.Run, used.Node)
		if err != nil {
			return err
		}
		sum = 0
		return eachChanged(&used, func(from string, first, last int64) error {
			some, err := scalar(ctx, tx, `select count(*)`+from, n.log, first, last)
			sum += some
			return err
		})
	})
	return sum, err
}

// TakeCorrections implements store.Redos.
func (s *Store) TakeCorrections(ctx context.Context, used store.LabelsUsed) (sum int64, err error) {
	err = s.change(ctx, "take corrected labels over", func(ctx context.Context, tx transaction) error {
		tenant, err := first(ctx, tx, noRun(used.Run), number[crowd.TenantID], `select tenant from runs where id = $1`, used.Run)
		if err != nil {
			return err
		}
		n, err := lockedNode(ctx, tx, used.Run, used.Node, s.dialect.RowLock)
		if err != nil {
			return err
		}
		sum = 0
		return eachChanged(&used, func(from string, first, last int64) error {
			rows, err := list(ctx, tx, scanChanged, `select r.id, octet_length(r.body), t.id, case when c.withdrawn then 0 else c.number end, c.value, l.value, l.confidence, l.answers, l.tie, l.undecided`+
				changedRows(from), n.log, first, last)
			for i := range rows {
				if err == nil {
					err = rows[i].write(ctx, tx, tenant)
				}
			}
			sum += int64(len(rows))
			return err
		})
	})
	return sum, err
}

// changedRows is what changedOwn or changedTaken finds of ok rows, with the labels that were given: what is
// to take the place of one that is withdrawn must be there.
func changedRows(from string) string {
	return ` from (select r.id as place, t.id as task, c.number as number` + from + ` and r.state = 'ok') x
		join run_rows r on r.id = x.place join tasks t on t.id = x.task join corrections c on c.task = x.task and c.number = x.number
		left join labels l on l.task = x.task where not c.withdrawn or l.task is not null order by r.id`
}

// changed is a row of a log whose label is another one now.
type changed struct {
	row    int64
	bytes  int64 // that it holds
	source store.LabelledTask
}

func scanChanged(r row, x *changed) error {
	var number uint32
	var answers sql.NullInt64
	var right string
	var value sql.NullString
	var confidence sql.NullFloat64
	var tie, undecided sql.NullBool
	if err := r.Scan(&x.row, &x.bytes, &x.source.Task, &number, &right, &value, &confidence, &answers, &tie, &undecided); err != nil {
		return err
	}
	if value.Valid {
		x.source.Label = &engine.Label{Task: x.source.Task, Value: value.String, Confidence: confidence.Float64, Answers: int(answers.Int64), Tie: tie.Bool, Undecided: undecided.Bool}
	}
	if number > 0 {
		x.source.Corrected = &store.Correction{N: number, Value: right}
	}
	return nil
}

// write gives the row the label that holds.
func (x *changed) write(ctx context.Context, tx transaction, tenant crowd.TenantID) error {
	body, err := encode(store.LabelCells(x.source.RightLabel()), false)
	if err != nil {
		return err
	}
	number := int64(0)
	if x.source.Corrected != nil {
		number = int64(x.source.Corrected.N)
	}
	if _, err := tx.exec(ctx, `update run_rows set body = $2, source = $3, correction = $4 where id = $1`, x.row, body, x.source.Task, number); err != nil {
		return err
	}
	return charge(ctx, tx, tenant, store.StoredBytes, int64(len(body))-x.bytes)
}
