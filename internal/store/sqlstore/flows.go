package sqlstore

import (
	"context"
	"fmt"
	"math"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
)

var (
	runs = newTable("runs", "r", `id, tenant, name, state, budget, deadline, parent, from_step, created_by,
		created_at, started_at, ended_at, penalty, ended, late, classes, ask_again, renew_ages, answers_deleted_at, files_deleted_at, service_origins, redo_labels, redo_due, redo_error, items`, func(r *store.Run) []any {
		return []any{
			&r.ID, &r.Tenant, &r.Name, &r.State, &r.Budget, instant{&r.Deadline}, &r.Parent, &r.From, &r.CreatedBy,
			instant{&r.CreatedAt}, instant{&r.StartedAt}, instant{&r.EndedAt}, &r.Penalty, &r.Ended, &r.Late, encoded{&r.Classes}, &r.AskAgain, &r.RenewAges, instant{&r.AnswersDeletedAt}, instant{&r.FilesDeletedAt}, encoded{&r.ServiceOrigins}, &r.RedoLabels, &r.RedoDue, &r.RedoError, computed{int64(0)}, &r.Text,
		}
	}).joined("t.body", `join run_texts t on t.run = r.id`).long("t.body")
	keepRun = runs.update(1, "tenant", "name", "parent", "from_step", "created_by", "created_at", "ask_again", "renew_ages", "answers_deleted_at", "files_deleted_at", "redo_labels", "items")

	runNodes = newTable("run_nodes", "n", `run, node, log, name, state, error, headers, batch, cursors, sealed, started_at, ended_at, served, busy_ns, text, open,
		last, ok, skipped, failed, faults`, func(n *kept) []any {
		return []any{
			&n.Run, &n.Node.Node, &n.log, &n.Name, &n.State, &n.Error, encoded{&n.Columns}, &n.Batch, encoded{&n.Cursors}, &n.Sealed,
			instant{&n.StartedAt}, instant{&n.EndedAt}, &n.Served, &n.Busy, &n.Text, &n.Open, &n.Last, &n.OK, &n.Skipped, &n.Failed, &n.Faults,
		}
	})
	keepNode = runNodes.update(2)
)

// CreateRun implements store.Flows.
func (s *Store) CreateRun(ctx context.Context, r store.Run, nodes []store.Node) (crowd.RunID, error) {
	return create(ctx, s, "create run", &r.ID, func(ctx context.Context, tx transaction) error {
		if r.Parent != 0 {
			gone, err := scalar(ctx, tx, `select count(*) from runs where id = $1 and files_deleted_at <> 0`, r.Parent)
			if err == nil && gone > 0 {
				err = crowd.Errorf(crowd.Conflict, "the rows of %s were deleted, since they have been kept for as long as its tenant keeps files: it cannot be repeated", r.Parent)
			}
			if err != nil {
				return err
			}
		}
		if err := addNew(ctx, tx, runs, &r, "run", &r.ID); err != nil {
			return s.taken(s.missing(err, "there is no tenant %s", r.Tenant), "parent", "%s was done anew already", r.Parent)
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
			err = runNodes.add(ctx, tx, &n)
		}
		if err == nil {
			err = charge(ctx, tx, r.Tenant, store.StoredBytes, int64(len(r.Text)))
		}
		if err == nil {
			err = s.chargeCounted(ctx, tx, r.Tenant, store.OpenRuns, 1, r.CreatedAt)
		}
		return err
	})
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

func noRun(id crowd.RunID) error { return crowd.Errorf(crowd.NotFound, "there is no run %s", id) }

func noNode(id crowd.RunID, node int) error {
	return crowd.Errorf(crowd.NotFound, "%s has no node %d", id, node)
}

// Run implements store.Flows.
func (s *Store) Run(ctx context.Context, tenant crowd.TenantID, id crowd.RunID) (store.Run, error) {
	return got(ctx, s, runs, noRun(id), `where r.id = $1 and (r.tenant = $2 or $2 = 0)`, id, tenant)
}

// ListRuns implements store.Flows.
func (s *Store) ListRuns(ctx context.Context, tenant crowd.TenantID, before crowd.RunID, limit int) ([]store.Run, error) {
	return paged(ctx, s, runs, page{column: "r.tenant", of: int64(tenant), before: int64(before), limit: limit})
}

// OpenRuns implements store.Flows.
func (s *Store) OpenRuns(ctx context.Context) ([]store.Run, error) {
	return listed(ctx, s, runs, `where r.state not in ('done', 'cancelled') order by r.id`)
}

// RunBatches implements store.Flows.
func (s *Store) RunBatches(ctx context.Context, id crowd.RunID) ([]store.Batch, error) {
	return listed(ctx, s, batches, `where b.id in (select n.batch from run_nodes n where n.run = $1 and n.batch > 0) order by b.id`, id)
}

// kept is a node with what is not shown of it.
type kept struct {
	store.Node
	log int64 // upper half of the ids of its rows
}

// row returns the id of the n-th row of the node's log.
func (n *kept) row(i int64) int64 { return n.log<<32 | i }

// Nodes implements store.Flows.
func (s *Store) Nodes(ctx context.Context, id crowd.RunID) ([]store.Node, error) {
	nodes, err := s.nodes(ctx, s.read, id)
	out := lists.Map(nodes, func(x kept) store.Node { return x.Node })
	return out, s.failed("read nodes", err)
}

func (s *Store) nodes(ctx context.Context, q querier, id crowd.RunID) ([]kept, error) {
	nodes, err := runNodes.list(ctx, q, `where n.run = $1 order by n.node`, id)
	if err != nil || len(nodes) > 0 {
		return nodes, err
	}
	_, err = first(ctx, q, noRun(id), number[int64], `select 1 from runs where id = $1`, id)
	return nil, err
}

// node returns one node of a run.
func node(ctx context.Context, q querier, id crowd.RunID, i int) (kept, error) {
	return lockedNode(ctx, q, id, i, "")
}

var oneNode = runNodes.read + `where n.run = $1 and n.node = $2`

// lockedNode is node, with what keeps others from its log until the
// transaction ends.
func lockedNode(ctx context.Context, q querier, id crowd.RunID, i int, lock string) (kept, error) {
	return first(ctx, q, noNode(id, i), runNodes.scan, oneNode+lock, id, i)
}

// FeedRows implements store.Flows.
func (s *Store) FeedRows(ctx context.Context, id crowd.RunID, node int, feed string) (_ int64, err error) {
	defer s.explain("read feed", &err)
	rows, _, err := one(ctx, s.read, number[int64], `select rows from run_feeds where run = $1 and node = $2 and name = $3`, id, node, feed)
	return rows, err
}
