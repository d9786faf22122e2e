package recruit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/server/notify"
	"github.com/throng-dev/throng/internal/store"
)

// Senders send messages to people. A channel whose sender is nil is not set up:
// nothing is queued for it.
type Senders struct {
	Mail func(ctx context.Context, to, subject, body string) error
	Push func(ctx context.Context, sub store.Subscription, payload []byte, ttl time.Duration) error
	// PushKey is the public key with which a browser subscribes, in base64url.
	PushKey string
}

const (
	outboxPage   = 100              // messages in a round
	outboxAtOnce = 8                // messages being sent
	outboxPause  = 10 * time.Second // between looks, if nobody wakes the loop
	sendTimeout  = 40 * time.Second // for one message; the senders' own are shorter
	sendGrace    = 3 * time.Second  // to end what is being sent when the server closes
	keepTimeout  = 10 * time.Second // to keep the outcome

	mailRestAfter = 3                // failures in a row
	mailRest      = 10 * time.Second // how long no mail is tried then

	messagesKept  = 30 * 24 * time.Hour // after they were sent or failed
	dropEvery     = time.Hour
	CountFailures = 24 * time.Hour // how far back failed messages are counted
	errorsShown   = 10
	noticesLooked = 100            // of a person, for the one that a message is about
	pushLife      = 24 * time.Hour // of a push message that does not become useless
)

// tryAgainAfter is how long a message waits after its first, second … failure;
// after more, as long as after the last.
var tryAgainAfter = [...]time.Duration{10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute}

// OutboxConfig sets up an outbox.
type OutboxConfig struct {
	Store     store.Store
	Log       *slog.Logger
	Clock     live.Clock
	Senders   Senders
	PublicURL string // goes before the links in messages; has no slash at its end
}

// Outbox sends what is queued in the store. A message is sent at least once:
// that it was sent is kept afterwards, so if the process dies in between it is
// sent again.
type Outbox struct {
	store     store.Store
	log       *slog.Logger
	clock     live.Clock
	senders   Senders
	publicURL string
	queued    chan struct{} // has a signal when something was queued

	round   sync.Mutex // held during a round
	dropped time.Time  // when old messages were last dropped; only Run uses it

	mu         sync.Mutex
	unkept     map[int64]store.Message // outcomes that the store has not taken yet
	mailFails  int                     // in a row
	mailPaused time.Time               // until then no mail is tried
	mailError  string                  // why
}

// NewOutbox makes an outbox.
func NewOutbox(cfg OutboxConfig) *Outbox {
	return &Outbox{
		store: cfg.Store, log: cfg.Log, clock: cfg.Clock, senders: cfg.Senders, publicURL: cfg.PublicURL,
		queued: make(chan struct{}, 1), unkept: make(map[int64]store.Message),
	}
}

// Wake lets the loop look at once: something was queued.
func (o *Outbox) Wake() {
	select {
	case o.queued <- struct{}{}:
	default: // it will look anyway
	}
}

// CanMail reports whether mail can be sent.
func (o *Outbox) CanMail() bool { return o.senders.Mail != nil }

// CanPush reports whether push messages can be sent.
func (o *Outbox) CanPush() bool { return o.senders.Push != nil }

// Run sends what is due until ctx is done: at once when it is woken, else it
// looks now and then. It is for servers with a channel to send on.
func (o *Outbox) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.queued:
		case <-timer.C:
		}
		more, err := true, error(nil)
		for more && err == nil && ctx.Err() == nil {
			_, more, err = o.sendRound(ctx)
		}
		if err == nil {
			err = o.dropMessages(ctx)
		}
		if err != nil && ctx.Err() == nil {
			o.log.Error("the outbox is stuck; nothing is lost", "error", err)
		}
		timer.Reset(outboxPause)
	}
}

// dropMessages forgets what was sent long ago.
func (o *Outbox) dropMessages(ctx context.Context) error {
	now := o.clock.Time()
	if now.Sub(o.dropped) < dropEvery {
		return nil
	}
	o.dropped = now
	return o.store.DropMessages(ctx, now.Add(-messagesKept))
}

// SendDue sends what is due now, at most a page of it, and returns how many
// messages were sent. What cannot be sent is tried again later until it is
// useless, unless trying again makes no sense. The error is the store's:
// while it does not take the outcome of a message, nothing is sent.
func (o *Outbox) SendDue(ctx context.Context) (sent int, err error) {
	sent, _, err = o.sendRound(ctx)
	return sent, err
}

// sendRound is one SendDue; more says that there may be more due.
func (o *Outbox) sendRound(ctx context.Context) (sent int, more bool, err error) {
	o.round.Lock()
	defer o.round.Unlock()
	if err := o.keepUnkept(ctx); err != nil {
		return 0, false, err
	}
	list, err := o.store.DueMessages(ctx, o.clock.Time(), outboxPage)
	if err != nil {
		return 0, false, err
	}
	var group sync.WaitGroup
	var mu sync.Mutex // guards sent, unsent, last and err
	var unsent int
	var last error
	slots := make(chan struct{}, outboxAtOnce)
	for _, m := range list {
		slots <- struct{}{}
		mu.Lock()
		stop := err != nil || ctx.Err() != nil
		mu.Unlock()
		if stop {
			break
		}
		group.Go(func() {
			defer func() { <-slots }()
			outcome, failed := o.sendMessage(ctx, m)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case failed != nil:
				err = errors.Join(err, failed)
			case outcome == nil:
				sent++
			default:
				unsent, last = unsent+1, outcome
			}
		})
	}
	group.Wait()
	if unsent > 0 && ctx.Err() == nil {
		o.log.Warn("messages were not sent", "messages", unsent, "sent", sent, "last_error", last)
	}
	return sent, len(list) == outboxPage && err == nil && ctx.Err() == nil, err
}

var (
	errTooLate   = errors.New("too late")
	errUnneeded  = errors.New("no longer needed: the call is over or answered, or they are not to be called any more, or another address is asked")
	errNotSetUp  = errors.New("the server is not set up to send this")
	errNoBrowser = errors.New("the browser no longer takes messages")
)

// sendMessage sends a message and keeps the outcome. The first error says
// why it was not sent, the second that the store failed.
func (o *Outbox) sendMessage(ctx context.Context, m store.Message) (unsent, failed error) {
	now := o.clock.Time()
	if !m.UselessAt.IsZero() && !now.Before(m.UselessAt) {
		if m.Error != "" {
			unsent = fmt.Errorf("%w; before: %s", errTooLate, m.Error)
		} else {
			unsent = errTooLate
		}
		return unsent, o.keepMessage(ctx, failedMessage(m, now, unsent))
	}
	needed, err := o.stillNeeded(ctx, m)
	if err != nil {
		return nil, err
	}
	if !needed {
		m = failedMessage(m, now, errUnneeded)
		m.State = store.MessageDropped
		return errUnneeded, o.keepMessage(ctx, m)
	}
	if until, why := o.mailPause(m, now); why != "" {
		m.Error = why
		return errors.New(why), o.keepMessage(ctx, putOff(m, until))
	}
	// That it is tried is kept first: a store that takes nothing is noticed
	// before anything is sent, and after a crash it is not sent again at once.
	before := m
	m.Tries++
	m = putOff(m, now.Add(tryAgainAfter[min(m.Tries, len(tryAgainAfter))-1]))
	if err := o.store.UpdateMessage(ctx, m); err != nil {
		return nil, err
	}
	unsent, err = o.send(ctx, m, now)
	if err != nil {
		return nil, err
	}
	now = o.clock.Time()
	if unsent != nil && ctx.Err() != nil {
		return unsent, o.keepMessage(ctx, before) // we are closing: it is not the message's fault
	}
	o.noteMail(m, now, unsent)
	switch {
	case unsent == nil:
		m.State, m.SentAt, m.Error = store.MessageSent, now, ""
	case notify.Permanent(unsent):
		m = failedMessage(m, now, unsent)
	default:
		m.Error = errorText(unsent)
		m = putOff(m, now.Add(tryAgainAfter[min(m.Tries, len(tryAgainAfter))-1]))
	}
	return unsent, o.keepMessage(ctx, m)
}

// putOff lets a message wait, but no longer than until it is useless.
func putOff(m store.Message, until time.Time) store.Message {
	if m.NextAt = until; !m.UselessAt.IsZero() && m.UselessAt.Before(until) {
		m.NextAt = m.UselessAt
	}
	return m
}

func failedMessage(m store.Message, now time.Time, why error) store.Message {
	m.State, m.NextAt, m.Error = store.MessageFailed, now, errorText(why)
	return m
}

func errorText(err error) string {
	const most = 500
	text := []rune(strings.Join(strings.Fields(err.Error()), " "))
	return string(text[:min(len(text), most)])
}

// stillNeeded reports whether the call that a message is about waits for an answer
// of somebody who may still be called, the invitation for one at all, and the address
// that it asks is still asked.
func (o *Outbox) stillNeeded(ctx context.Context, m store.Message) (bool, error) {
	if m.Invitation != 0 {
		i, err := o.store.Invitation(ctx, 0, m.Invitation)
		return err == nil && i.State == store.InvitationOpen, err
	}
	if m.Asks {
		a, err := o.store.AskedAddress(ctx, m.Worker)
		if crowd.CodeOf(err) == crowd.NotFound {
			return false, nil
		}
		return a.Address == m.Target, err
	}
	if m.Call == 0 {
		return true, nil
	}
	call, err := o.store.Call(ctx, m.Call)
	if err != nil || call.State != store.CallOpen {
		return false, err
	}
	u, err := o.store.User(ctx, m.Worker)
	if err != nil || u.Suspended || u.Away || u.Pool != call.Pool || m.Channel == store.Mail && u.NoMail {
		return false, err
	}
	notices, err := o.store.WorkerNotices(ctx, m.Worker, noticesLooked)
	for _, n := range notices {
		if n.Call == m.Call {
			return n.State == store.NoticeAsked, nil
		}
	}
	return false, err
}

// send sends a message. When the server closes, it has a short while to end. The second
// error says that the store failed, and nothing was sent.
func (o *Outbox) send(ctx context.Context, m store.Message, now time.Time) (unsent, failed error) {
	closing := ctx
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	defer cancel()
	defer context.AfterFunc(closing, func() { time.AfterFunc(sendGrace, cancel) })()
	switch {
	case m.Channel == store.Mail && o.senders.Mail != nil:
		body := m.Body
		if m.Link != "" {
			body += "\n\n" + o.publicURL + m.Link
		}
		if m.Asks {
			secret := auth.NewSecret("address")
			err := o.store.LinkAddress(ctx, m.Worker, m.Target, auth.HashSecret(secret))
			switch {
			case crowd.CodeOf(err) == crowd.NotFound: // asked at another address since
				return &notify.Failure{Err: errUnneeded, Permanent: true}, nil
			case err != nil:
				return nil, err
			}
			body += secret
		}
		return o.senders.Mail(ctx, m.Target, m.Subject, body+"\n"), nil
	case m.Channel == store.Push && o.senders.Push != nil:
		return o.push(ctx, m, now), nil
	}
	return errNotSetUp, nil
}

func (o *Outbox) push(ctx context.Context, m store.Message, now time.Time) error {
	all, err := o.store.Subscriptions(ctx, m.Worker)
	if err != nil {
		return err
	}
	for _, sub := range all {
		if strconv.FormatInt(sub.ID, 10) != m.Target {
			continue
		}
		ttl := pushLife
		if !m.UselessAt.IsZero() {
			ttl = m.UselessAt.Sub(now)
		}
		err := o.senders.Push(ctx, sub, o.payload(m), ttl)
		if notify.Gone(err) {
			if dropped := o.store.DeleteSubscription(ctx, m.Worker, sub.ID); dropped != nil && crowd.CodeOf(dropped) != crowd.NotFound {
				return dropped // tried again, and deleted then
			}
		}
		return err
	}
	return &notify.Failure{Err: errNoBrowser, Permanent: true}
}

// payload is what a push message carries, as JSON: title, body, and the address
// of the page to open. A body that is too long is cut.
func (o *Outbox) payload(m store.Message) []byte {
	title, body := []rune(m.Subject), []rune(m.Body)
	for {
		data, err := json.Marshal(map[string]string{"title": string(title), "body": string(body), "url": o.publicURL + m.Link})
		if err != nil {
			panic(err) // three strings
		}
		switch {
		case len(data) <= notify.MaxPayload || (len(body) == 0 && len(title) == 0):
			return data
		case len(body) > 0:
			body = body[:len(body)*3/4]
		default:
			title = title[:len(title)*3/4]
		}
	}
}

// mailPause returns until when no mail is tried, and why; "" if it is tried.
// Then a mail server that is down takes each round a few tries, not one for
// every message that waits.
func (o *Outbox) mailPause(m store.Message, now time.Time) (until time.Time, why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if m.Channel != store.Mail || !now.Before(o.mailPaused) {
		return time.Time{}, ""
	}
	return o.mailPaused, o.mailError
}

// noteMail counts the outcome of a try. A refusal for good shows that the
// server is there.
func (o *Outbox) noteMail(m store.Message, now time.Time, unsent error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if m.Channel != store.Mail {
		return
	}
	if unsent == nil || notify.Permanent(unsent) {
		o.mailFails, o.mailPaused = 0, time.Time{}
		return
	}
	o.mailError = "the mail server is left in peace for a moment: " + errorText(unsent)
	if o.mailFails++; o.mailFails >= mailRestAfter {
		o.mailPaused = now.Add(mailRest)
	}
}

// keepMessage keeps the outcome of a message. If the store fails it is
// remembered, so that what was sent is not sent again.
func (o *Outbox) keepMessage(ctx context.Context, m store.Message) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTimeout)
	defer cancel()
	err := o.store.UpdateMessage(ctx, m)
	if crowd.CodeOf(err) == crowd.NotFound {
		err = nil // dropped
	}
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.unkept[m.ID] = m
	}
	return err
}

// keepUnkept keeps what the store did not take before.
func (o *Outbox) keepUnkept(ctx context.Context) error {
	o.mu.Lock()
	list := o.unkept
	o.unkept = make(map[int64]store.Message)
	o.mu.Unlock()
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(list)) {
		errs = append(errs, o.keepMessage(ctx, list[id]))
	}
	return errors.Join(errs...)
}
