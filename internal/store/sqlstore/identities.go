package sqlstore

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// PutIdentity implements store.People.
func (s *Store) PutIdentity(ctx context.Context, i store.Identity, u store.User) (crowd.WorkerID, error) {
	return create(ctx, s, "put identity", &u.ID, func(ctx context.Context, tx transaction) error {
		if u.ID == 0 {
			if err := s.insertUser(ctx, tx, &u); err != nil {
				return err
			}
		}
		_, err := tx.exec(ctx, `insert into identities (issuer, subject, external_id, user_id, created_at) values ($1, $2, $3, $4, $5)`,
			i.Issuer, i.Subject, i.ExternalID, u.ID, micros(i.CreatedAt))
		return s.missing(s.taken(err, "subject", "this account is somebody's already"), "there is no user %s", u.ID)
	})
}

// SetExternalID implements store.People.
func (s *Store) SetExternalID(ctx context.Context, issuer, subject, externalID string) error {
	return s.change(ctx, "set external id", func(ctx context.Context, tx transaction) error {
		return tx.must(ctx, errNoAccount, `update identities set external_id = $3 where issuer = $1 and subject = $2`, issuer, subject, externalID)
	})
}

var errNoAccount = crowd.Errorf(crowd.NotFound, "nobody has this account")

// UserByIdentity implements store.People.
func (s *Store) UserByIdentity(ctx context.Context, issuer, subject string) (store.User, error) {
	found, err := s.users(ctx, `join identities i on i.user_id = u.id where i.issuer = $1 and i.subject = $2`, issuer, subject)
	if err == nil && len(found) == 0 {
		err = errNoAccount
	}
	if err != nil {
		return store.User{}, s.failed("read user", err)
	}
	return found[0], nil
}

// UsersByExternalID implements store.People.
func (s *Store) UsersByExternalID(ctx context.Context, issuer, externalID string) ([]store.User, error) {
	found, err := s.users(ctx, `where u.id in (select user_id from identities where issuer = $1 and external_id = $2 and external_id <> '') order by u.id`, issuer, externalID)
	return found, s.failed("read users", err)
}

// HasIdentity implements store.People.
func (s *Store) HasIdentity(ctx context.Context, issuer string, user crowd.WorkerID) (bool, error) {
	_, has, err := one(ctx, s.read, number[int64], `select 1 from identities where user_id = $1 and issuer = $2`, user, issuer)
	return has, s.failed("read identities", err)
}
