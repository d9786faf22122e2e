package sqlstore

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// addMessage keeps a message under a new id.
func (s *Store) addMessage(ctx context.Context, tx transaction, m store.Message) (err error) {
	if m.ID, err = newID(ctx, tx, "message"); err != nil {
		return err
	}
	_, err = tx.exec(ctx, `insert into messages (id, worker, channel, target, subject, body, link, call, state,
		created_at, useless_at, next_at, sent_at, tries, error, turn_at, invitation)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`, messageArgs(&m)...)
	return s.missing(err, "there is no user %s", m.Worker)
}

// UpdateMessage implements store.Outbox.
func (s *Store) UpdateMessage(ctx context.Context, m store.Message) error {
	return s.change(ctx, "update message", func(ctx context.Context, tx transaction) error {
		n, err := tx.exec(ctx, `update messages set worker = $2, channel = $3, target = $4, subject = $5, body = $6, link = $7, call = $8, state = $9,
			created_at = $10, useless_at = $11, next_at = $12, sent_at = $13, tries = $14, error = $15, turn_at = $16, invitation = $17 where id = $1`, messageArgs(&m)...)
		if err == nil && n == 0 {
			return crowd.Errorf(crowd.NotFound, "there is no message %d", m.ID)
		}
		return s.missing(err, "there is no user %s", m.Worker)
	})
}

func messageArgs(m *store.Message) []any {
	created, next, sent := micros(m.CreatedAt), micros(m.NextAt), micros(m.SentAt)
	turn := next
	if m.State != store.MessageQueued {
		turn = cmp.Or(sent, next, created)
	}
	return []any{
		m.ID, m.Worker, m.Channel, m.Target, m.Subject, m.Body, m.Link, m.Call, m.State,
		created, micros(m.UselessAt), next, sent, m.Tries, m.Error, turn, m.Invitation,
	}
}

const selectMessages = `select id, worker, channel, target, subject, body, link, call, state,
	created_at, useless_at, next_at, sent_at, tries, error, invitation from messages `

func scanMessage(r row, m *store.Message) error {
	return r.Scan(&m.ID, &m.Worker, &m.Channel, &m.Target, &m.Subject, &m.Body, &m.Link, &m.Call, &m.State,
		instant{&m.CreatedAt}, instant{&m.UselessAt}, instant{&m.NextAt}, instant{&m.SentAt}, &m.Tries, &m.Error, &m.Invitation)
}

// DueMessages implements store.Outbox.
func (s *Store) DueMessages(ctx context.Context, now time.Time, limit int) ([]store.Message, error) {
	all, err := list(ctx, s.read, scanMessage, selectMessages+`where state = 'queued' and turn_at <= $1 order by turn_at, id limit $2`, micros(now), limit)
	return all, s.failed("list due messages", err)
}

// ListMessages implements store.Outbox.
func (s *Store) ListMessages(ctx context.Context, call, before int64, limit int) ([]store.Message, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	var all []store.Message
	var err error
	if call == 0 {
		all, err = list(ctx, s.read, scanMessage, selectMessages+`where id < $1 order by id desc limit $2`, before, limit)
	} else {
		all, err = list(ctx, s.read, scanMessage, selectMessages+`where call = $1 and id < $2 order by id desc limit $3`, call, before, limit)
	}
	return all, s.failed("list messages", err)
}

// CountMessages implements store.Outbox.
func (s *Store) CountMessages(ctx context.Context, since time.Time) (queued, failed int, err error) {
	type counts struct{ queued, failed int }
	n, _, err := one(ctx, s.read, func(r row, n *counts) error { return r.Scan(&n.queued, &n.failed) },
		`select (select count(*) from messages where state = 'queued'), (select count(*) from messages where state = 'failed' and turn_at > $1)`, micros(since))
	return n.queued, n.failed, s.failed("count messages", err)
}

// DropMessages implements store.Outbox.
func (s *Store) DropMessages(ctx context.Context, before time.Time) error {
	return s.change(ctx, "drop messages", func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, `delete from messages where state in ('sent', 'failed', 'dropped') and turn_at < $1`, micros(before))
		return err
	})
}

// PutSubscription implements store.Outbox.
func (s *Store) PutSubscription(ctx context.Context, b store.Subscription) (int64, error) {
	err := s.change(ctx, "put push subscription", func(ctx context.Context, tx transaction) (err error) {
		if b.ID, err = newID(ctx, tx, "subscription"); err != nil {
			return err
		}
		if _, err := tx.exec(ctx, `delete from push_subscriptions where endpoint = $1`, b.Endpoint); err != nil {
			return err
		}
		_, err = tx.exec(ctx, `insert into push_subscriptions (id, worker, endpoint, p256dh, auth, created_at) values ($1, $2, $3, $4, $5, $6)`,
			b.ID, b.Worker, b.Endpoint, b.P256dh, b.Auth, micros(b.CreatedAt))
		return s.missing(err, "there is no user %s", b.Worker)
	})
	if err != nil {
		return 0, err
	}
	return b.ID, nil
}

// DeleteSubscription implements store.Outbox.
func (s *Store) DeleteSubscription(ctx context.Context, worker crowd.WorkerID, id int64) error {
	return s.change(ctx, "delete push subscription", func(ctx context.Context, tx transaction) error {
		n, err := tx.exec(ctx, `delete from push_subscriptions where id = $1 and worker = $2`, id, worker)
		if err == nil && n == 0 {
			return crowd.Errorf(crowd.NotFound, "%s has no push subscription %d", worker, id)
		}
		return err
	})
}

// Subscriptions implements store.Outbox.
func (s *Store) Subscriptions(ctx context.Context, worker crowd.WorkerID) ([]store.Subscription, error) {
	all, err := list(ctx, s.read, func(r row, b *store.Subscription) error {
		return r.Scan(&b.ID, &b.Worker, &b.Endpoint, &b.P256dh, &b.Auth, instant{&b.CreatedAt})
	}, `select id, worker, endpoint, p256dh, auth, created_at from push_subscriptions where worker = $1 order by id`, worker)
	return all, s.failed("list push subscriptions", err)
}

const selectSecret = `select secret from secrets where name = $1`

// Secret implements store.Outbox.
func (s *Store) Secret(ctx context.Context, name, made string) (string, error) {
	scan := func(r row, text *string) error { return r.Scan(text) }
	secret, ok, err := one(ctx, s.read, scan, selectSecret, name)
	if err != nil || ok {
		return secret, s.failed("read secret", err)
	}
	err = s.change(ctx, "keep secret", func(ctx context.Context, tx transaction) (err error) {
		if _, err = tx.exec(ctx, `insert into secrets (name, secret) values ($1, $2) on conflict (name) do nothing`, name, made); err != nil {
			return err
		}
		secret, _, err = one(ctx, tx, scan, selectSecret, name)
		return err
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}
