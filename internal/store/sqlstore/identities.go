package sqlstore

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// PutIdentity implements store.People.
func (s *Store) PutIdentity(ctx context.Context, issuer, subject string, u store.User, at time.Time) (crowd.WorkerID, error) {
	return create(ctx, s, "put identity", &u.ID, func(ctx context.Context, tx transaction) error {
		if u.ID == 0 {
			if err := s.insertUser(ctx, tx, &u); err != nil {
				return err
			}
		}
		_, err := tx.exec(ctx, `insert into identities (issuer, subject, user_id, created_at) values ($1, $2, $3, $4)`, issuer, subject, u.ID, micros(at))
		return s.missing(s.taken(err, "subject", "this account is somebody's already"), "there is no user %s", u.ID)
	})
}

// UserByIdentity implements store.People.
func (s *Store) UserByIdentity(ctx context.Context, issuer, subject string) (store.User, error) {
	found, err := s.users(ctx, `join identities i on i.user_id = u.id where i.issuer = $1 and i.subject = $2`, issuer, subject)
	if err == nil && len(found) == 0 {
		err = crowd.Errorf(crowd.NotFound, "nobody has this account")
	}
	if err != nil {
		return store.User{}, s.failed("read user", err)
	}
	return found[0], nil
}

// HasIdentity implements store.People.
func (s *Store) HasIdentity(ctx context.Context, issuer string, user crowd.WorkerID) (bool, error) {
	_, has, err := one(ctx, s.read, number[int64], `select 1 from identities where user_id = $1 and issuer = $2`, user, issuer)
	return has, s.failed("read identities", err)
}
