package sqlstore

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

var (
	tests = newTable("tests", "t", `id, tenant, name, template, columns, questions, draw, pass_mark, tries, wait, time_limit,
		qualifies, is_open, retired, created_by, created_at`, func(t *store.Test) []any {
		return []any{
			&t.ID, &t.Tenant, &t.Name, raw{&t.Template}, encoded{&t.Columns}, &t.Questions, &t.Draw, &t.PassMark, &t.Tries, &t.Wait, &t.TimeLimit,
			&t.Grants, &t.Open, &t.Retired, &t.CreatedBy, instant{&t.CreatedAt},
		}
	}).long("t.template", "t.columns")
	tries = newTable("test_tries", "t", `id, test, worker, n, started_at, ends_at, submitted_at, answers, correct, score, late, passed`, func(t *store.Try) []any {
		return []any{
			&t.ID, &t.Test, &t.Worker, &t.N, instant{&t.StartedAt}, instant{&t.EndsAt}, instant{&t.SubmittedAt}, raw{&t.Answers},
			&t.Right, &t.Score, &t.Late, &t.Passed,
		}
	}).long("t.answers")
	submitTry = tries.update(4).when("submitted_at = 0")
)

// CreateTest implements store.Tests.
func (s *Store) CreateTest(ctx context.Context, t store.Test, questions []store.Question) (int64, error) {
	return create(ctx, s, "create test", &t.ID, func(ctx context.Context, tx transaction) error {
		t.Questions = len(questions)
		if err := addNew(ctx, tx, tests, &t, "test", &t.ID); err != nil {
			return s.missing(s.taken(err, "name", "there is a test named %q already", t.Name), "there is no user %s", t.CreatedBy)
		}
		bytes, err := scalar(ctx, tx, `select octet_length(template) + octet_length(columns) from tests where id = $1`, t.ID)
		if err != nil {
			return err
		}
		for n, q := range questions {
			_, err := tx.exec(ctx, `insert into test_questions (test, n, cells, gold) values ($1, $2, $3, $4)`, t.ID, n+1, encoded{&q.Values}, q.Gold)
			if err != nil {
				return err
			}
		}
		more, err := scalar(ctx, tx, `select coalesce(sum(octet_length(cells) + octet_length(gold)), 0) from test_questions where test = $1`, t.ID)
		if err != nil {
			return err
		}
		return charge(ctx, tx, t.Tenant, store.StoredBytes, bytes+more)
	})
}

// RetireTest implements store.Tests.
func (s *Store) RetireTest(ctx context.Context, tenant crowd.TenantID, id int64, retired bool) error {
	return s.change(ctx, "retire test", func(ctx context.Context, tx transaction) error {
		return tx.must(ctx, noTest(id), `update tests set retired = $3 where id = $1 and tenant = $2`, id, tenant, retired)
	})
}

func noTest(id int64) error { return crowd.Errorf(crowd.NotFound, "there is no test %d", id) }

// Test implements store.Tests.
func (s *Store) Test(ctx context.Context, tenant crowd.TenantID, id int64) (store.Test, error) {
	return got(ctx, s, tests, noTest(id), `where t.id = $1 and (t.tenant = $2 or $2 = 0)`, id, tenant)
}

// ListTests implements store.Tests.
func (s *Store) ListTests(ctx context.Context, tenant crowd.TenantID) ([]store.Test, error) {
	return listed(ctx, s, tests, `where t.tenant = $1 or $1 = 0 order by t.id`, tenant)
}

// Questions implements store.Tests.
func (s *Store) Questions(ctx context.Context, test int64) ([]store.Question, error) {
	all, err := list(ctx, s.read, func(r row, q *store.Question) error { return r.Scan(&q.N, encoded{&q.Values}, &q.Gold) },
		`select n, cells, gold from test_questions where test = $1 order by n`, test)
	return all, s.failed("list questions", err)
}

// StartTry implements store.Tests.
func (s *Store) StartTry(ctx context.Context, t store.Try) (int64, error) {
	return create(ctx, s, "start try", &t.ID, func(ctx context.Context, tx transaction) error {
		err := addNew(ctx, tx, tries, &t, "try", &t.ID)
		return s.missing(s.taken(err, "", "this try has begun already"), "there is no test %d, or no user %s", t.Test, t.Worker)
	})
}

// FinishTry implements store.Tests.
func (s *Store) FinishTry(ctx context.Context, t store.Try, u *store.User) error {
	return s.change(ctx, "finish try", func(ctx context.Context, tx transaction) error {
		n, err := submitTry.exec(ctx, tx, &t)
		if err != nil {
			return err
		}
		if n == 0 {
			_, there, err := one(ctx, tx, number[int64], `select id from test_tries where id = $1 and test = $2 and worker = $3 and n = $4`, t.ID, t.Test, t.Worker, t.N)
			switch {
			case err != nil:
				return err
			case there:
				return crowd.Errorf(crowd.Conflict, "this try was submitted already")
			}
			return crowd.Errorf(crowd.NotFound, "there is no try %d of %s at this test", t.ID, t.Worker)
		}
		if u == nil {
			return nil
		}
		return s.updateUser(ctx, tx, u)
	})
}

// Tries implements store.Tests.
func (s *Store) Tries(ctx context.Context, test int64, worker crowd.WorkerID) ([]store.Try, error) {
	return listed(ctx, s, tries, `where t.test = $1 and t.worker = $2 order by t.n`, test, worker)
}

// TestTries implements store.Tests.
func (s *Store) TestTries(ctx context.Context, tenant crowd.TenantID, test, before int64, limit int) ([]store.Try, error) {
	if _, err := s.Test(ctx, tenant, test); err != nil {
		return nil, err
	}
	list, err := paged(ctx, s, tries, page{column: "t.test", of: test, before: before, limit: limit})
	for i, bytes := 0, 0; err == nil && i < len(list) && bytes < store.PageBytes; i++ {
		list[i], err = got(ctx, s, tries, noTest(test), `where t.id = $1`, list[i].ID)
		bytes += len(list[i].Answers)
	}
	return list, err
}
