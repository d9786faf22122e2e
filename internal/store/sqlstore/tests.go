package sqlstore

import (
	"context"
	"encoding/json"
	"math"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// CreateTest implements store.Tests.
func (s *Store) CreateTest(ctx context.Context, t store.Test, questions []store.Question) (int64, error) {
	err := s.change(ctx, "create test", func(ctx context.Context, tx transaction) (err error) {
		if t.ID, err = newID(ctx, tx, "test"); err != nil {
			return err
		}
		columns, err := encode(t.Columns, len(t.Columns) == 0)
		if err != nil {
			return err
		}
		_, err = tx.exec(ctx, `insert into tests
			(id, tenant, name, template, columns, questions, draw, pass_mark, tries, wait, time_limit, qualifies, is_open, retired, created_by, created_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
			t.ID, t.Tenant, t.Name, string(t.Template), columns, len(questions), t.Draw, t.PassMark, t.Tries, t.Wait, t.TimeLimit, t.Grants,
			t.Open, t.Retired, t.CreatedBy, micros(t.CreatedAt))
		if err != nil {
			return s.missing(s.taken(err, "name", "there is a test named %q already", t.Name), "there is no user %s", t.CreatedBy)
		}
		for n, q := range questions {
			cells, err := encode(q.Values, len(q.Values) == 0)
			if err != nil {
				return err
			}
			if _, err := tx.exec(ctx, `insert into test_questions (test, n, cells, gold) values ($1, $2, $3, $4)`, t.ID, n+1, cells, q.Gold); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return t.ID, nil
}

// RetireTest implements store.Tests.
func (s *Store) RetireTest(ctx context.Context, tenant crowd.TenantID, id int64, retired bool) error {
	return s.change(ctx, "retire test", func(ctx context.Context, tx transaction) error {
		n, err := tx.exec(ctx, `update tests set retired = $3 where id = $1 and tenant = $2`, id, tenant, retired)
		if err == nil && n == 0 {
			return noTest(id)
		}
		return err
	})
}

func noTest(id int64) error { return crowd.Errorf(crowd.NotFound, "there is no test %d", id) }

const selectTests = `select id, tenant, name, template, columns, questions, draw, pass_mark, tries, wait, time_limit, qualifies, is_open, retired, created_by, created_at from tests `

func scanTest(r row, t *store.Test) error {
	return r.Scan(&t.ID, &t.Tenant, &t.Name, raw{&t.Template}, decoded{&t.Columns}, &t.Questions, &t.Draw, &t.PassMark, &t.Tries,
		&t.Wait, &t.TimeLimit, &t.Grants, &t.Open, &t.Retired, &t.CreatedBy, instant{&t.CreatedAt})
}

// Test implements store.Tests.
func (s *Store) Test(ctx context.Context, tenant crowd.TenantID, id int64) (store.Test, error) {
	t, ok, err := one(ctx, s.read, scanTest, selectTests+`where id = $1`, id)
	if err == nil && (!ok || tenant != 0 && t.Tenant != tenant) {
		t, err = store.Test{}, noTest(id)
	}
	return t, s.failed("read test", err)
}

// ListTests implements store.Tests.
func (s *Store) ListTests(ctx context.Context, tenant crowd.TenantID) ([]store.Test, error) {
	all, err := list(ctx, s.read, scanTest, selectTests+`where $1 = 0 or tenant = $1 order by id`, tenant)
	return all, s.failed("list tests", err)
}

// Questions implements store.Tests.
func (s *Store) Questions(ctx context.Context, test int64) ([]store.Question, error) {
	all, err := list(ctx, s.read, func(r row, q *store.Question) error { return r.Scan(&q.N, decoded{&q.Values}, &q.Gold) },
		`select n, cells, gold from test_questions where test = $1 order by n`, test)
	return all, s.failed("list questions", err)
}

// StartTry implements store.Tests.
func (s *Store) StartTry(ctx context.Context, t store.Try) (int64, error) {
	err := s.change(ctx, "start try", func(ctx context.Context, tx transaction) (err error) {
		if t.ID, err = newID(ctx, tx, "try"); err != nil {
			return err
		}
		_, err = tx.exec(ctx, `insert into test_tries (test, worker, n, started_at, ends_at, submitted_at, answers, correct, score, late, passed, id)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`, tryArgs(&t)...)
		return s.missing(s.taken(err, "", "this try has begun already"), "there is no test %d, or no user %s", t.Test, t.Worker)
	})
	if err != nil {
		return 0, err
	}
	return t.ID, nil
}

func tryArgs(t *store.Try) []any {
	return []any{
		t.Test, t.Worker, t.N, micros(t.StartedAt), micros(t.EndsAt), micros(t.SubmittedAt), string(t.Answers), t.Right, t.Score, t.Late, t.Passed, t.ID,
	}
}

// FinishTry implements store.Tests.
func (s *Store) FinishTry(ctx context.Context, t store.Try, u *store.User) error {
	return s.change(ctx, "finish try", func(ctx context.Context, tx transaction) error {
		n, err := tx.exec(ctx, `update test_tries set started_at = $4, ends_at = $5, submitted_at = $6, answers = $7, correct = $8, score = $9, late = $10, passed = $11
			where id = $12 and test = $1 and worker = $2 and n = $3 and submitted_at = 0`, tryArgs(&t)...)
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

const selectTries = `select id, test, worker, n, started_at, ends_at, submitted_at, answers, correct, score, late, passed from test_tries `

func scanTry(r row, t *store.Try) error {
	var answers json.RawMessage
	err := r.Scan(&t.ID, &t.Test, &t.Worker, &t.N, instant{&t.StartedAt}, instant{&t.EndsAt}, instant{&t.SubmittedAt}, raw{&answers},
		&t.Right, &t.Score, &t.Late, &t.Passed)
	t.Answers = answers
	return err
}

// Tries implements store.Tests.
func (s *Store) Tries(ctx context.Context, test int64, worker crowd.WorkerID) ([]store.Try, error) {
	all, err := list(ctx, s.read, scanTry, selectTries+`where test = $1 and worker = $2 order by n`, test, worker)
	return all, s.failed("list tries", err)
}

// TestTries implements store.Tests.
func (s *Store) TestTries(ctx context.Context, tenant crowd.TenantID, test, before int64, limit int) ([]store.Try, error) {
	if _, err := s.Test(ctx, tenant, test); err != nil {
		return nil, err
	}
	if before == 0 {
		before = math.MaxInt64
	}
	all, err := list(ctx, s.read, scanTry, selectTries+`where test = $1 and id < $2 order by id desc limit $3`, test, before, limit)
	return all, s.failed("list tries", err)
}
