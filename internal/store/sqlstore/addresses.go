package sqlstore

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// askedAddresses is the addresses that are asked, with how the last mail to each fared.
var askedAddresses = newTable("asked_addresses", "a", `user_id, address, hash, asked_at, expires_at`, func(a *store.AskedAddress) []any {
	return []any{&a.User, &a.Address, &a.Hash, instant{&a.AskedAt}, instant{&a.ExpiresAt}, &a.Mail.State, instant{&a.Mail.At}, &a.Mail.Error}
}).orReplace(1).joined(`coalesce(m.state, ''), coalesce(case when m.sent_at <> 0 then m.sent_at else m.next_at end, 0), coalesce(m.error, '')`,
	`left join messages m on m.id = (select max(x.id) from messages x where x.worker = a.user_id and x.asks)`)

// PutUserAsked implements store.Addresses.
func (s *Store) PutUserAsked(ctx context.Context, u store.User, a store.Asking) (crowd.WorkerID, error) {
	return create(ctx, s, "ask an address", &u.ID, func(ctx context.Context, tx transaction) error {
		if u.ID == 0 {
			if err := s.insertUser(ctx, tx, &u); err != nil {
				return err
			}
		} else if err := s.updateUser(ctx, tx, &u); err != nil {
			return err
		}
		return s.ask(ctx, tx, u.ID, a)
	})
}

// ask keeps the address at which somebody is asked, and queues the mail.
func (s *Store) ask(ctx context.Context, tx transaction, user crowd.WorkerID, a store.Asking) error {
	if _, err := tx.exec(ctx, `update messages set state = 'dropped' where worker = $1 and asks and state = 'queued'`, user); err != nil {
		return err
	}
	a.User, a.Letter.Worker, a.Letter.Asks = user, user, true
	if err := askedAddresses.add(ctx, tx, &a.AskedAddress); err != nil {
		return err
	}
	return s.addMessage(ctx, tx, a.Letter)
}

func noAsked(user crowd.WorkerID) error {
	return crowd.Errorf(crowd.NotFound, "no address of %s is asked, or it is another one now", user)
}

// AskedAddress implements store.Addresses.
func (s *Store) AskedAddress(ctx context.Context, user crowd.WorkerID) (store.AskedAddress, error) {
	return got(ctx, s, askedAddresses, noAsked(user), `where a.user_id = $1`, user)
}

// LinkAddress implements store.Addresses.
func (s *Store) LinkAddress(ctx context.Context, user crowd.WorkerID, address, hash string) error {
	return s.change(ctx, "keep a link", func(ctx context.Context, tx transaction) error {
		return tx.must(ctx, noAsked(user), `update asked_addresses set hash = $1 where user_id = $2 and address = $3`, hash, user, address)
	})
}

// ConfirmAddress implements store.Addresses.
func (s *Store) ConfirmAddress(ctx context.Context, u store.User, hash string, letter *store.Message) error {
	return s.change(ctx, "confirm an address", func(ctx context.Context, tx transaction) error {
		if err := tx.must(ctx, noAsked(u.ID), `delete from asked_addresses where user_id = $1 and hash = $2 and hash <> ''`, u.ID, hash); err != nil {
			return err
		}
		if err := s.updateUser(ctx, tx, &u); err != nil {
			return err
		}
		if letter == nil {
			return nil
		}
		return s.addMessage(ctx, tx, *letter)
	})
}
