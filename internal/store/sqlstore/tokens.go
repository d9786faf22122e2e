package sqlstore

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// CreateToken implements store.Tokens.
func (s *Store) CreateToken(ctx context.Context, t store.Token) (int64, error) {
	err := s.change(ctx, "create token", func(ctx context.Context, tx transaction) (err error) {
		if t.ID, err = newID(ctx, tx, "token"); err != nil {
			return err
		}
		roles, err := encode(t.Roles, len(t.Roles) == 0)
		if err != nil {
			return err
		}
		_, err = tx.exec(ctx, `insert into tokens (id, hash, kind, user_id, tenant, roles, name, created_at, expires_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			t.ID, t.Hash, t.Kind, t.User, t.Tenant, roles, t.Name, micros(t.CreatedAt), micros(t.ExpiresAt))
		return s.missing(s.taken(err, "hash", "this token exists already"), "there is no user %s", t.User)
	})
	if err != nil {
		return 0, err
	}
	return t.ID, nil
}

const selectTokens = `select id, hash, kind, user_id, tenant, roles, name, created_at, expires_at from tokens `

func scanToken(r row, t *store.Token) error {
	return r.Scan(&t.ID, &t.Hash, &t.Kind, &t.User, &t.Tenant, decoded{&t.Roles}, &t.Name, instant{&t.CreatedAt}, instant{&t.ExpiresAt})
}

// TokenByHash implements store.Tokens.
func (s *Store) TokenByHash(ctx context.Context, hash string) (store.Token, error) {
	t, ok, err := one(ctx, s.read, scanToken, selectTokens+`where hash = $1`, hash)
	if err == nil && !ok {
		err = crowd.Errorf(crowd.NotFound, "there is no such token")
	}
	return t, s.failed("read token", err)
}

// ListTokens implements store.Tokens.
func (s *Store) ListTokens(ctx context.Context, user crowd.WorkerID) ([]store.Token, error) {
	all, err := list(ctx, s.read, scanToken, selectTokens+`where user_id = $1 order by id`, user)
	return all, s.failed("list tokens", err)
}

// DeleteToken implements store.Tokens.
func (s *Store) DeleteToken(ctx context.Context, user crowd.WorkerID, id int64) error {
	return s.change(ctx, "delete token", func(ctx context.Context, tx transaction) error {
		n, err := tx.exec(ctx, `delete from tokens where id = $1 and user_id = $2`, id, user)
		if err == nil && n == 0 {
			return crowd.Errorf(crowd.NotFound, "there is no token %d of %s", id, user)
		}
		return err
	})
}

// DeleteExpiredTokens implements store.Tokens.
func (s *Store) DeleteExpiredTokens(ctx context.Context, now time.Time) error {
	return s.change(ctx, "delete expired tokens", func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, `delete from tokens where expires_at <> 0 and expires_at < $1`, micros(now))
		return err
	})
}
