package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"iter"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
)

// stream yields the rows of one query, which is one consistent state of the
// database.
func stream[T any](ctx context.Context, s *Store, op string, scan func(row, *T) error, text string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ctx, end, err := s.long.begin(ctx)
		if err != nil {
			yield(*new(T), s.failed(op, err))
			return
		}
		defer end()
		err = each(ctx, s.scan, func(r row) error {
			var t T
			if err := scan(r, &t); err != nil {
				return err
			}
			if !yield(t, nil) {
				return errEnough
			}
			return nil
		}, text, args...)
		if err != nil && !errors.Is(err, errEnough) {
			yield(*new(T), s.failed(op, orCutOff(ctx, err)))
		}
	}
}

// ofBatch yields what items does if the batch is the tenant's, whose batches
// never change hands.
func ofBatch[T any](ctx context.Context, s *Store, tenant crowd.TenantID, id crowd.BatchID, items iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		owner, ok, err := one(ctx, s.read, number[crowd.TenantID], `select tenant from batches where id = $1`, id)
		if err == nil && (!ok || owner != tenant) {
			err = noBatch(id)
		}
		if err != nil {
			yield(*new(T), s.failed("read batch", err))
			return
		}
		items(yield)
	}
}

// The parts of an annotation; cells are ” where the task's values are not
// asked for.
const annotationColumns = `a.id, a.task, a.worker, coalesce(u.name, ''), a.state, a.assigned_at, a.expires_at, a.ended_at,
	a.body, a.answer_key, a.late, a.counted, a.paid, a.disregarded_at, a.revised_at, a.revised`

func scanAnnotation(r row, a *store.Annotation) error {
	return r.Scan(&a.Assignment, &a.Task, &a.Worker, &a.WorkerName, &a.State, instant{&a.AssignedAt}, instant{&a.ExpiresAt}, instant{&a.EndedAt},
		raw{&a.Body}, &a.Key, &a.Late, &a.Counted, &a.Paid, instant{&a.DisregardedAt}, instant{&a.RevisedAt}, &a.Revised, encoded{&a.Values})
}

// Annotations implements store.Results.
func (s *Store) Annotations(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, answered bool) iter.Seq2[store.Annotation, error] {
	text := `select ` + annotationColumns + `, coalesce(t.cells, '') from annotations a
		left join tasks t on t.id = a.task left join users u on u.id = a.worker where a.id >= $1 and a.id <= $2 `
	if answered {
		text += `and a.answered `
	}
	first, last := span(id)
	return ofBatch(ctx, s, tenant, id, stream(ctx, s, "read annotations", scanAnnotation, text+`order by a.id`, first, last))
}

// Answers implements store.Results.
func (s *Store) Answers(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) iter.Seq2[store.Annotation, error] {
	first, last := span(id)
	return ofBatch(ctx, s, tenant, id, stream(ctx, s, "read answers", scanAnnotation, `select a.id, a.task, a.worker, '', 'submitted', a.assigned_at, a.expires_at, n.answered_at,
		n.body, n.answer_key, n.late, n.counted and n.disregarded_at = 0, n.paid, n.disregarded_at, n.revised_at, n.revised, '' from answers n join assignments a on a.id = n.id where n.id >= $1 and n.id <= $2 order by n.id`, first, last))
}

// Assigned implements store.Results.
func (s *Store) Assigned(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, after uint32, limit int) (tasks []uint32, err error) {
	first, last := span(id)
	err = each(ctx, s.scan, func(r row) error {
		var assignment crowd.AssignmentID
		var task crowd.TaskID
		if err := r.Scan(&assignment, &task); err != nil {
			return err
		}
		for uint32(len(tasks)) < assignment.N()-after-1 { // a number that was never used
			tasks = append(tasks, 0)
		}
		tasks = append(tasks, task.N())
		return nil
	}, `select id, task from assignments where id > $1 and id <= $2 and exists (select 1 from batches where id = $3 and tenant = $4) order by id limit $5`,
		first+int64(after), last, id, tenant, limit)
	return tasks, s.failed("read whose tasks were handed out", err)
}

// resultsAtOnce are the tasks, or the assignments, that are read by one query: see
// namesAtOnce.
const resultsAtOnce = 100

var (
	atResults   = places(1, resultsAtOnce)
	readTasks   = selectLabels + ` where t.id in ` + atResults + ` and not exists (select 1 from removals r where r.task = t.id) order by t.id`
	readAnswers = `select a.id, a.task, a.worker, '', 'submitted', a.assigned_at, a.expires_at, n.answered_at, '',
		case when n.disregarded_at = 0 then '' else n.answer_key end, n.late, n.counted and n.disregarded_at = 0, n.paid, n.disregarded_at, n.revised_at, n.revised, ''
		from answers n join assignments a on a.id = n.id where n.id in ` + atResults + ` order by n.id`
	readGiven = `select ` + annotationColumns + `, '' from annotations a left join users u on u.id = a.worker where a.id in ` + atResults + ` order by a.id`
)

// keyed reads rows of a batch by their packed ids, in order.
func keyed[ID ~int64, T any](ctx context.Context, tx querier, of crowd.BatchID, ids []ID, scan func(row, *T) error, text string) (all []T, err error) {
	first, last := span(of)
	ids = slices.DeleteFunc(slices.Clone(ids), func(id ID) bool { return int64(id) <= first || int64(id) > last })
	slices.Sort(ids)
	for some := range slices.Chunk(slices.Compact(ids), resultsAtOnce) {
		args := make([]any, resultsAtOnce)
		for i := range args {
			args[i] = int64(some[min(i, len(some)-1)])
		}
		part, err := list(ctx, tx, scan, text, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, nil
}

// TaskResults implements store.Results.
func (s *Store) TaskResults(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, tasks []crowd.TaskID, assignments []crowd.AssignmentID) (out []store.TaskResult, err error) {
	for _, err := range ofBatch(ctx, s, tenant, id, func(func(int, error) bool) {}) {
		return nil, err
	}
	err = s.consistent(ctx, "read results", func(tx *sql.Tx) error { // an answer and the label that it made are there together
		labelled, err := keyed(ctx, tx, id, tasks, scanLabelled, readTasks)
		if err != nil {
			return err
		}
		place := make(map[crowd.TaskID]int, len(labelled))
		for i, t := range labelled {
			place[t.Task] = i
			out = append(out, store.TaskResult{LabelledTask: t})
		}
		given, err := keyed(ctx, tx, id, assignments, scanAnnotation, readGiven)
		if err != nil {
			return err
		}
		revisions, err := keyed(ctx, tx, id, assignments, scanRevision, readRevisions)
		of := make(map[crowd.AssignmentID][]store.Revision)
		for _, x := range revisions {
			of[x.id] = append(of[x.id], x.Revision)
		}
		for _, a := range given {
			a.Revisions = of[a.Assignment]
			if i, there := place[a.Task]; there {
				out[i].Annotations = append(out[i].Annotations, a)
			}
		}
		if err != nil {
			return err
		}
		back, err := keyed(ctx, tx, id, tasks, scanSentBack, readSentBackOf)
		for _, x := range back {
			if i, there := place[x.Task]; there {
				out[i].SentBack = append(out[i].SentBack, x)
			}
		}
		return err
	})
	return out, err
}

// GivenAnswers implements store.Results.
func (s *Store) GivenAnswers(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, assignments []crowd.AssignmentID) (out []store.Annotation, err error) {
	for _, err := range ofBatch(ctx, s, tenant, id, func(func(int, error) bool) {}) {
		return nil, err
	}
	out, err = keyed(ctx, s.scan, id, assignments, scanAnnotation, readAnswers)
	return out, s.failed("read answers", err)
}

// Labels implements store.Results.
func (s *Store) Labels(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) iter.Seq2[store.LabelledTask, error] {
	first, _ := span(id)
	return ofBatch(ctx, s, tenant, id, stream(ctx, s, "read labels", scanLabelled, selectLabels+` where t.id > $1 and t.id <= $1 + (select tasks from batches where id = $2)
		and not exists (select 1 from removals r where r.task = t.id) order by t.id`, first, id))
}

const selectLabels = `select t.id, t.item, t.cells, t.gold, t.explain <> '', l.labelled_at, l.value, l.confidence, l.answers, l.tie, l.undecided,
	c.number, c.corrected_at, c.corrected_by, coalesce(u.name, ''), c.value, c.body, c.review,
	v.review, v.asked_at, v.why, v.decided_at, v.decided_by, ` + reviewState + `
	from tasks t left join labels l on l.task = t.id
	left join corrections c on c.task = t.id and not c.superseded and not c.withdrawn left join users u on u.id = c.corrected_by
	left join reviews v on v.task = t.id`

func scanLabelled(r row, t *store.LabelledTask) error {
	var at, answers, number, corrected, by, from sql.NullInt64
	var review, asked, why, decided, reviewer sql.NullInt64
	var value, right, note, state sql.NullString
	var name string
	var confidence sql.NullFloat64
	var tie, undecided sql.NullBool
	if err := r.Scan(&t.Task, &t.Item, encoded{&t.Values}, &t.Gold, &t.Lesson, &at, &value, &confidence, &answers, &tie, &undecided,
		&number, &corrected, &by, &name, &right, &note, &from, &review, &asked, &why, &decided, &reviewer, &state); err != nil {
		return err
	}
	if number.Valid {
		t.Corrected = &store.Correction{Task: t.Task, N: uint32(number.Int64), At: moment(corrected.Int64), By: crowd.WorkerID(by.Int64), ByName: name, Value: right.String, Note: note.String, Review: crowd.TaskID(from.Int64)}
	}
	if review.Valid {
		t.Review = &store.Review{Task: t.Task, Review: crowd.TaskID(review.Int64), At: moment(asked.Int64), Why: engine.ReviewReason(why.Int64),
			State: store.ReviewState(state.String), DecidedAt: moment(decided.Int64), By: crowd.WorkerID(reviewer.Int64)}
	}
	if !at.Valid {
		return nil
	}
	t.Label = &engine.Label{Task: t.Task, At: moment(at.Int64), Value: value.String, Confidence: confidence.Float64,
		Answers: int(answers.Int64), Tie: tie.Bool, Undecided: undecided.Bool}
	return nil
}

// Assignment implements store.Results.
func (s *Store) Assignment(ctx context.Context, id crowd.AssignmentID) (store.Annotation, error) {
	a, err := first(ctx, s.read, crowd.Errorf(crowd.NotFound, "there is no assignment %s", id), scanAnnotation, `select `+annotationColumns+`, '' from annotations a
		left join users u on u.id = a.worker where a.id = $1`, id)
	return a, s.failed("read assignment", err)
}

// WorkerAnnotations implements store.Results. It follows the chain of the
// worker's answers from the last one back.
func (s *Store) WorkerAnnotations(ctx context.Context, worker crowd.WorkerID, limit int) ([]store.Annotation, error) {
	key, err := accountKey(engine.Account{Kind: engine.WorkerAccount, ID: int64(worker)})
	if err != nil || limit < 1 {
		return nil, err
	}
	type numbered struct {
		store.Annotation
		n int64
	}
	found, err := list(ctx, s.read, func(r row, a *numbered) error {
		return r.Scan(&a.n, &a.Assignment, &a.Task, &a.Worker, &a.State, instant{&a.AssignedAt}, instant{&a.ExpiresAt}, instant{&a.EndedAt}, &a.Late, &a.Counted, &a.Paid, instant{&a.RevisedAt}, &a.Revised)
	}, `with recursive chain (id, n) as (
			select last_answer, 1 from accounts where account = $1 and last_answer <> 0
			union all
			select p.prev_answer, c.n + 1 from chain c join answers p on p.id = c.id where p.prev_answer <> 0 and c.n < $2
		)
		select c.n, a.id, a.task, a.worker, a.state, a.assigned_at, a.expires_at, a.ended_at, a.late, a.counted or a.disregarded_at <> 0, a.paid, a.revised_at, a.revised
		from chain c join annotations a on a.id = c.id`, key, limit)
	if err != nil {
		return nil, s.failed("read a worker's answers", err)
	}
	slices.SortFunc(found, func(x, y numbered) int { return cmp.Compare(x.n, y.n) })
	out := lists.Map(found, func(x numbered) store.Annotation { return x.Annotation })
	return out, nil
}
