package sqlstore

import (
	"context"
	"fmt"
	"math"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// CreateRun implements store.Flows.
func (s *Store) CreateRun(ctx context.Context, r store.Run, nodes []store.Node) (crowd.RunID, error) {
	err := s.change(ctx, "create run", func(ctx context.Context, tx transaction) error {
		id, err := newID(ctx, tx, "run")
		if err != nil {
			return err
		}
		r.ID = crowd.RunID(id)
		_, err = tx.exec(ctx, `insert into runs
			(id, tenant, name, state, budget, deadline, parent, from_step, created_by, created_at, started_at, ended_at, penalty, ended, late, items)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 0)`,
			r.ID, r.Tenant, r.Name, r.State, r.Budget, micros(r.Deadline), r.Parent, r.From, r.CreatedBy,
			micros(r.CreatedAt), micros(r.StartedAt), micros(r.EndedAt), r.Penalty, r.Ended, r.Late)
		if err != nil {
			return s.missing(err, "there is no tenant %s", r.Tenant)
		}
		if _, err := tx.exec(ctx, `insert into run_texts (run, body) values ($1, $2)`, r.ID, r.Text); err != nil {
			return err
		}
		log, err := newLogs(ctx, tx, len(nodes))
		for i := 0; err == nil && i < len(nodes); i++ {
			n := kept{Node: nodes[i], log: log + int64(i)}
			if n.Node.Node != i {
				return fmt.Errorf("node %d of a run comes as number %d", n.Node.Node, i)
			}
			n.Run, n.Last, n.OK, n.Skipped, n.Failed, n.Faults = r.ID, 0, 0, 0, 0, 0
			err = insertNode(ctx, tx, &n)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return r.ID, nil
}

// newLogs gives out the numbers of n logs in a row, and returns the first.
func newLogs(ctx context.Context, tx transaction, n int) (int64, error) {
	last, ok, err := one(ctx, tx, number[int64], `update counters set last = last + $1 where name = 'log' returning last`, n)
	switch {
	case err != nil:
		return 0, err
	case !ok || last > math.MaxInt32:
		return 0, fmt.Errorf("all %d logs of rows are used up", math.MaxInt32)
	}
	return last - int64(n) + 1, nil
}

const selectRuns = `select r.id, r.tenant, r.name, t.body, r.state, r.budget, r.deadline, r.parent, r.from_step, r.created_by,
	r.created_at, r.started_at, r.ended_at, r.penalty, r.ended, r.late from runs r join run_texts t on t.run = r.id `

func scanRun(r row, x *store.Run) error {
	return r.Scan(&x.ID, &x.Tenant, &x.Name, &x.Text, &x.State, &x.Budget, instant{&x.Deadline}, &x.Parent, &x.From, &x.CreatedBy,
		instant{&x.CreatedAt}, instant{&x.StartedAt}, instant{&x.EndedAt}, &x.Penalty, &x.Ended, &x.Late)
}

func noRun(id crowd.RunID) error { return crowd.Errorf(crowd.NotFound, "there is no run %s", id) }

func noNode(id crowd.RunID, node int) error {
	return crowd.Errorf(crowd.NotFound, "%s has no node %d", id, node)
}

// Run implements store.Flows.
func (s *Store) Run(ctx context.Context, tenant crowd.TenantID, id crowd.RunID) (store.Run, error) {
	r, ok, err := one(ctx, s.read, scanRun, selectRuns+`where r.id = $1`, id)
	if err == nil && (!ok || (tenant != 0 && r.Tenant != tenant)) {
		err = noRun(id)
	}
	if err != nil {
		return store.Run{}, s.failed("read run", err)
	}
	return r, nil
}

// ListRuns implements store.Flows.
func (s *Store) ListRuns(ctx context.Context, tenant crowd.TenantID, before crowd.RunID, limit int) ([]store.Run, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	var all []store.Run
	var err error
	if tenant == 0 {
		all, err = list(ctx, s.read, scanRun, selectRuns+`where r.id < $1 order by r.id desc limit $2`, before, limit)
	} else {
		all, err = list(ctx, s.read, scanRun, selectRuns+`where r.tenant = $1 and r.id < $2 order by r.id desc limit $3`, tenant, before, limit)
	}
	return all, s.failed("list runs", err)
}

// OpenRuns implements store.Flows.
func (s *Store) OpenRuns(ctx context.Context) ([]store.Run, error) {
	all, err := list(ctx, s.read, scanRun, selectRuns+`where r.state not in ('done', 'cancelled') order by r.id`)
	return all, s.failed("list open runs", err)
}

// kept is a node with what is not shown of it.
type kept struct {
	store.Node
	log int64 // upper half of the ids of its rows
}

// row returns the id of the n-th row of the node's log.
func (n *kept) row(i int64) int64 { return n.log<<32 | i }

const selectNodes = `select run, node, log, name, state, error, headers, batch, cursors, sealed, started_at, ended_at, served, busy_ns,
	last, ok, skipped, failed, faults from run_nodes where run = $1 `

func scanNode(r row, n *kept) error {
	return r.Scan(&n.Run, &n.Node.Node, &n.log, &n.Name, &n.State, &n.Error, decoded{&n.Columns}, &n.Batch, decoded{&n.Cursors}, &n.Sealed,
		instant{&n.StartedAt}, instant{&n.EndedAt}, &n.Served, &n.Busy, &n.Last, &n.OK, &n.Skipped, &n.Failed, &n.Faults)
}

const (
	nodeInto = `insert into run_nodes (run, node, log, name, state, error, headers, batch, cursors, sealed, started_at, ended_at, served, busy_ns,
		last, ok, skipped, failed, faults) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`
	keepNode = `update run_nodes set log = $3, name = $4, state = $5, error = $6, headers = $7, batch = $8, cursors = $9, sealed = $10, started_at = $11,
		ended_at = $12, served = $13, busy_ns = $14, last = $15, ok = $16, skipped = $17, failed = $18, faults = $19 where run = $1 and node = $2`
)

func nodeArgs(n *kept) ([]any, error) {
	cursors, err := encode(n.Cursors, len(n.Cursors) == 0)
	if err != nil {
		return nil, err
	}
	headers, err := encode(n.Columns, len(n.Columns) == 0)
	return []any{
		n.Run, n.Node.Node, n.log, n.Name, n.State, n.Error, headers, n.Batch, cursors, n.Sealed, micros(n.StartedAt), micros(n.EndedAt), n.Served, int64(n.Busy),
		n.Last, n.OK, n.Skipped, n.Failed, n.Faults,
	}, err
}

func insertNode(ctx context.Context, tx transaction, n *kept) error {
	args, err := nodeArgs(n)
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, nodeInto, args...)
	return err
}

// Nodes implements store.Flows.
func (s *Store) Nodes(ctx context.Context, id crowd.RunID) ([]store.Node, error) {
	nodes, err := s.nodes(ctx, s.read, id)
	out := make([]store.Node, len(nodes))
	for i := range nodes {
		out[i] = nodes[i].Node
	}
	return out, s.failed("read nodes", err)
}

func (s *Store) nodes(ctx context.Context, q querier, id crowd.RunID) ([]kept, error) {
	nodes, err := list(ctx, q, scanNode, selectNodes+`order by node`, id)
	if err != nil || len(nodes) > 0 {
		return nodes, err
	}
	_, ok, err := one(ctx, q, number[int64], `select 1 from runs where id = $1`, id)
	if err == nil && !ok {
		err = noRun(id)
	}
	return nil, err
}

// node returns one node of a run.
func node(ctx context.Context, q querier, id crowd.RunID, i int) (kept, error) {
	return lockedNode(ctx, q, id, i, "")
}

const selectNode = selectNodes + `and node = $2`

// lockedNode is node, with what keeps others from its log until the
// transaction ends.
func lockedNode(ctx context.Context, q querier, id crowd.RunID, i int, lock string) (kept, error) {
	n, ok, err := one(ctx, q, scanNode, selectNode+lock, id, i)
	if err == nil && !ok {
		err = noNode(id, i)
	}
	return n, err
}
