package recruit

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// OutboxView is how sending messages goes.
type OutboxView struct {
	Mail   bool // is set up
	Push   bool
	Queued int
	Failed int // for good, in the last 24 hours
	Errors []OutboxError
}

// OutboxError is a message that could not be sent, or not yet.
type OutboxError struct {
	Message   int64
	Worker    crowd.WorkerID
	Name      string // the worker's
	Channel   store.Channel
	State     store.MessageState // queued: it is tried again at NextAt
	CreatedAt time.Time
	NextAt    time.Time // of one that failed: when it did
	Tries     int
	Error     string
}

// View says how many messages wait and how many have failed, with the latest
// errors, newest message first. Admins only.
func (o *Outbox) View(ctx context.Context, p *access.Principal) (OutboxView, error) {
	if err := p.May(access.OutboxView); err != nil {
		return OutboxView{}, err
	}
	v := OutboxView{Mail: o.CanMail(), Push: o.CanPush()}
	var err error
	if v.Queued, v.Failed, err = o.store.CountMessages(ctx, o.clock.Time().Add(-CountFailures)); err != nil {
		return v, err
	}
	list, err := o.store.ListMessages(ctx, 0, 0, outboxPage)
	if err != nil {
		return v, err
	}
	for _, m := range list {
		if m.Error == "" || len(v.Errors) == errorsShown {
			continue
		}
		u, err := o.store.User(ctx, m.Worker)
		if err != nil {
			return v, err
		}
		v.Errors = append(v.Errors, OutboxError{
			Message: m.ID, Worker: m.Worker, Name: u.Name, Channel: m.Channel, State: m.State,
			CreatedAt: m.CreatedAt, NextAt: m.NextAt, Tries: m.Tries, Error: m.Error,
		})
	}
	return v, nil
}
