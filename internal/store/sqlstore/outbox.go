package sqlstore

import (
	"cmp"
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

var (
	messages = newTable("messages", "m", `id, worker, channel, target, subject, body, link, call, state,
		created_at, useless_at, next_at, sent_at, tries, error, turn_at, invitation, asks`, func(m *store.Message) []any {
		return []any{
			&m.ID, &m.Worker, &m.Channel, &m.Target, &m.Subject, &m.Body, &m.Link, &m.Call, &m.State,
			instant{&m.CreatedAt}, instant{&m.UselessAt}, instant{&m.NextAt}, instant{&m.SentAt}, &m.Tries, &m.Error, computed{turn(m)}, &m.Invitation, &m.Asks,
		}
	})
	keepMessage = messages.update(1)

	subscriptions = newTable("push_subscriptions", "p", `id, worker, endpoint, p256dh, auth, created_at`, func(b *store.Subscription) []any {
		return []any{&b.ID, &b.Worker, &b.Endpoint, &b.P256dh, &b.Auth, instant{&b.CreatedAt}}
	})
)

// turn is the time by which messages are ordered: when one is due, or since when
// it is not.
func turn(m *store.Message) int64 {
	next := micros(m.NextAt)
	if m.State == store.MessageQueued {
		return next
	}
	return cmp.Or(micros(m.SentAt), next, micros(m.CreatedAt))
}

// addMessage keeps a message under a new id.
func (s *Store) addMessage(ctx context.Context, tx transaction, m store.Message) error {
	if err := there(ctx, tx, m.Worker); err != nil {
		return err
	}
	return addNew(ctx, tx, messages, &m, "message", &m.ID)
}

// UpdateMessage implements store.Outbox.
func (s *Store) UpdateMessage(ctx context.Context, m store.Message) error {
	return s.change(ctx, "update message", func(ctx context.Context, tx transaction) error {
		err := keepMessage.must(ctx, tx, &m, crowd.Errorf(crowd.NotFound, "there is no message %d", m.ID))
		return s.missing(err, "there is no user %s", m.Worker)
	})
}

// DueMessages implements store.Outbox.
func (s *Store) DueMessages(ctx context.Context, now time.Time, limit int) ([]store.Message, error) {
	return listed(ctx, s, messages, `where m.state = 'queued' and m.turn_at <= $1 order by m.turn_at, m.id limit $2`, micros(now), limit)
}

// ListMessages implements store.Outbox.
func (s *Store) ListMessages(ctx context.Context, call, before int64, limit int) ([]store.Message, error) {
	return paged(ctx, s, messages, page{column: "m.call", of: call, before: before, limit: limit})
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
		if _, err := tx.exec(ctx, `delete from messages where state in ('sent', 'failed', 'dropped') and turn_at < $1`, micros(before)); err != nil {
			return err
		}
		_, err := tx.exec(ctx, `delete from asked_addresses where expires_at < $1`, micros(before))
		return err
	})
}

// PutSubscription implements store.Outbox.
func (s *Store) PutSubscription(ctx context.Context, b store.Subscription) (int64, error) {
	return create(ctx, s, "put push subscription", &b.ID, func(ctx context.Context, tx transaction) error {
		if _, err := tx.exec(ctx, `delete from push_subscriptions where endpoint = $1`, b.Endpoint); err != nil {
			return err
		}
		if err := there(ctx, tx, b.Worker); err != nil {
			return err
		}
		if err := addNew(ctx, tx, subscriptions, &b, "subscription", &b.ID); err != nil {
			return err
		}
		if _, err := tx.exec(ctx, `delete from push_subscriptions where worker = $1 and id <= (
			select id from push_subscriptions where worker = $1 order by id desc limit 1 offset $2)`, b.Worker, store.MaxSubscriptions); err != nil {
			return err
		}
		tenant, err := servesAlone(ctx, tx, b.Worker)
		if err != nil {
			return err
		}
		return s.chargeCounted(ctx, tx, tenant, store.PushEndpoints, 1, b.CreatedAt)
	})
}

// DeleteSubscription implements store.Outbox.
func (s *Store) DeleteSubscription(ctx context.Context, worker crowd.WorkerID, id int64) error {
	return s.change(ctx, "delete push subscription", func(ctx context.Context, tx transaction) error {
		none := crowd.Errorf(crowd.NotFound, "%s has no push subscription %d", worker, id)
		return tx.must(ctx, none, `delete from push_subscriptions where id = $1 and worker = $2`, id, worker)
	})
}

// Subscriptions implements store.Outbox.
func (s *Store) Subscriptions(ctx context.Context, worker crowd.WorkerID) ([]store.Subscription, error) {
	return listed(ctx, s, subscriptions, `where p.worker = $1 order by p.id`, worker)
}
