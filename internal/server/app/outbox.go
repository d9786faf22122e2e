package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
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
	sendGrace    = 3 * time.Second  // to end what is being sent when the service closes
	keepTimeout  = 10 * time.Second // to write down what came of it

	mailRestAfter = 3                // failures in a row
	mailRest      = 10 * time.Second // how long the mail server is then left in peace

	messagesKept  = 30 * 24 * time.Hour // after they were sent or failed
	dropEvery     = time.Hour
	failuresCount = 24 * time.Hour // how far back failures are counted
	errorsShown   = 10
	noticesLooked = 100            // of a person, for the one that a message is about
	pushLife      = 24 * time.Hour // of a push message that does not become useless
)

// tryAgainAfter is how long a message waits after its first, second … failure;
// after more, as long as after the last.
var tryAgainAfter = [...]time.Duration{10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute}

// outbox sends what is queued in the store. A message is sent at least once:
// that it was sent is written down afterwards, so if the process dies in between
// it is sent again.
type outbox struct {
	senders   Senders
	publicURL string
	queued    chan struct{} // has a signal when something was queued

	round   sync.Mutex // held during a round
	dropped time.Time  // when old messages were last dropped; the loop's

	mu        sync.Mutex
	unkept    map[int64]store.Message // what came of a message, while the store does not take it
	mailFails int                     // in a row
	mailRests time.Time               // until then mail is not tried
	mailError string                  // why
}

func (o *outbox) init(senders Senders, publicURL string) {
	o.senders, o.publicURL = senders, strings.TrimRight(publicURL, "/")
	o.queued, o.unkept = make(chan struct{}, 1), make(map[int64]store.Message)
}

// wakeOutbox lets the loop look at once: something was queued.
func (s *service) wakeOutbox() {
	select {
	case s.outbox.queued <- struct{}{}:
	default: // it will look anyway
	}
}

func (s *service) canMail() bool { return s.outbox.senders.Mail != nil }
func (s *service) canPush() bool { return s.outbox.senders.Push != nil }

// PushKey is the public key with which a browser subscribes to push messages, or
// "" if there are none.
func (s *Duty) PushKey() string {
	if !s.canPush() {
		return ""
	}
	return s.outbox.senders.PushKey
}

// outboxLoop sends what is due until ctx is done: at once when it is woken, else
// it looks now and then. It runs only if there is a channel to send on.
func (s *service) outboxLoop(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.outbox.queued:
		case <-timer.C:
		}
		more, err := true, error(nil)
		for more && err == nil && ctx.Err() == nil {
			_, more, err = s.sendRound(ctx)
		}
		if err == nil {
			err = s.dropMessages(ctx)
		}
		if err != nil && ctx.Err() == nil {
			s.log.Error("the outbox is stuck; nothing is lost", "error", err)
		}
		timer.Reset(outboxPause)
	}
}

// dropMessages forgets what was sent long ago.
func (s *service) dropMessages(ctx context.Context) error {
	now := s.time()
	if now.Sub(s.outbox.dropped) < dropEvery {
		return nil
	}
	s.outbox.dropped = now
	return s.store.DropMessages(ctx, now.Add(-messagesKept))
}

// SendDue sends what is due now, at most a page of it, and returns how many
// messages were sent. What cannot be sent is tried again later until it is of no
// use any more, unless trying again makes no sense. The error is the store's:
// while it does not take what came of a message, nothing is sent.
func (s *Outbox) SendDue(ctx context.Context) (sent int, err error) {
	sent, _, err = s.sendRound(ctx)
	return sent, err
}

// sendRound is one SendDue; more says that there may be more due.
func (s *service) sendRound(ctx context.Context) (sent int, more bool, err error) {
	o := &s.outbox
	o.round.Lock()
	defer o.round.Unlock()
	if err := s.keepUnkept(ctx); err != nil {
		return 0, false, err
	}
	list, err := s.store.DueMessages(ctx, s.time(), outboxPage)
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
			outcome, failed := s.sendMessage(ctx, m)
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
		s.log.Warn("messages were not sent", "messages", unsent, "sent", sent, "last_error", last)
	}
	return sent, len(list) == outboxPage && err == nil && ctx.Err() == nil, err
}

var (
	errTooLate   = errors.New("too late")
	errUnneeded  = errors.New("no longer needed: the call is over or answered, or he is not to be called any more")
	errNotSetUp  = errors.New("the server is not set up to send this")
	errNoBrowser = errors.New("the browser no longer takes messages")
)

// sendMessage sends a message and keeps what came of it. The first error says
// why it was not sent, the second that the store failed.
func (s *service) sendMessage(ctx context.Context, m store.Message) (unsent, failed error) {
	now := s.time()
	if !m.UselessAt.IsZero() && !now.Before(m.UselessAt) {
		if m.Error != "" {
			unsent = fmt.Errorf("%w; before: %s", errTooLate, m.Error)
		} else {
			unsent = errTooLate
		}
		return unsent, s.keepMessage(ctx, failedMessage(m, now, unsent))
	}
	needed, err := s.stillNeeded(ctx, m)
	if err != nil {
		return nil, err
	}
	if !needed {
		m = failedMessage(m, now, errUnneeded)
		m.State = store.MessageDropped
		return errUnneeded, s.keepMessage(ctx, m)
	}
	if until, why := s.outbox.mailPause(m, now); why != "" {
		m.Error = why
		return errors.New(why), s.keepMessage(ctx, putOff(m, until))
	}
	// That it is tried is kept first: a store that takes nothing is noticed
	// before anything is sent, and after a crash it is not sent again at once.
	before := m
	m.Tries++
	m = putOff(m, now.Add(tryAgainAfter[min(m.Tries, len(tryAgainAfter))-1]))
	if err := s.store.UpdateMessage(ctx, m); err != nil {
		return nil, err
	}
	unsent = s.send(ctx, m, now)
	now = s.time()
	if unsent != nil && ctx.Err() != nil {
		return unsent, s.keepMessage(ctx, before) // we are closing: it is not the message's fault
	}
	s.outbox.mailSaw(m, now, unsent)
	switch {
	case unsent == nil:
		m.State, m.SentAt, m.Error = store.MessageSent, now, ""
	case notify.Permanent(unsent):
		m = failedMessage(m, now, unsent)
	default:
		m.Error = errorText(unsent)
		m = putOff(m, now.Add(tryAgainAfter[min(m.Tries, len(tryAgainAfter))-1]))
	}
	return unsent, s.keepMessage(ctx, m)
}

// putOff lets a message wait, but not longer than it is of use.
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

// stillNeeded says whether the call that a message is about waits for an answer
// of somebody who may still be called, and the invitation for one at all.
func (s *service) stillNeeded(ctx context.Context, m store.Message) (bool, error) {
	if m.Invitation != 0 {
		i, err := s.store.Invitation(ctx, 0, m.Invitation)
		return err == nil && i.State == store.InvitationOpen, err
	}
	if m.Call == 0 {
		return true, nil
	}
	call, err := s.store.Call(ctx, m.Call)
	if err != nil || call.State != store.CallOpen {
		return false, err
	}
	u, err := s.store.User(ctx, m.Worker)
	if err != nil || u.Suspended || u.Away || u.Pool != call.Pool || m.Channel == store.Mail && u.NoMail {
		return false, err
	}
	notices, err := s.store.WorkerNotices(ctx, m.Worker, noticesLooked)
	for _, n := range notices {
		if n.Call == m.Call {
			return n.State == store.NoticeAsked, nil
		}
	}
	return false, err
}

// send sends a message. When the service closes, it has a short while to end.
func (s *service) send(ctx context.Context, m store.Message, now time.Time) error {
	closing := ctx
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	defer cancel()
	defer context.AfterFunc(closing, func() { time.AfterFunc(sendGrace, cancel) })()
	o := &s.outbox
	switch {
	case m.Channel == store.Mail && o.senders.Mail != nil:
		body := m.Body
		if m.Link != "" {
			body += "\n\n" + o.publicURL + m.Link
		}
		return o.senders.Mail(ctx, m.Target, m.Subject, body+"\n")
	case m.Channel == store.Push && o.senders.Push != nil:
		return s.push(ctx, m, now)
	}
	return errNotSetUp
}

func (s *service) push(ctx context.Context, m store.Message, now time.Time) error {
	all, err := s.store.Subscriptions(ctx, m.Worker)
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
		err := s.outbox.senders.Push(ctx, sub, s.outbox.payload(m), ttl)
		if notify.Gone(err) {
			if dropped := s.store.DeleteSubscription(ctx, m.Worker, sub.ID); dropped != nil && crowd.CodeOf(dropped) != crowd.NotFound {
				return dropped // tried again, and deleted then
			}
		}
		return err
	}
	return &notify.Failure{Err: errNoBrowser, Permanent: true}
}

// payload is what a push message carries, as JSON: title, body, and the address
// of the page to open. A body that is too long is cut.
func (o *outbox) payload(m store.Message) []byte {
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

// mailPause says until when mail is left in peace, and why; "" if it is not.
// Then a mail server that is down takes each round a few tries, not one for
// every message that waits.
func (o *outbox) mailPause(m store.Message, now time.Time) (until time.Time, why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if m.Channel != store.Mail || !now.Before(o.mailRests) {
		return time.Time{}, ""
	}
	return o.mailRests, o.mailError
}

// mailSaw takes note of what came of a try. A refusal for good shows that the
// server is there.
func (o *outbox) mailSaw(m store.Message, now time.Time, unsent error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if m.Channel != store.Mail {
		return
	}
	if unsent == nil || notify.Permanent(unsent) {
		o.mailFails, o.mailRests = 0, time.Time{}
		return
	}
	o.mailError = "the mail server is left in peace for a moment: " + errorText(unsent)
	if o.mailFails++; o.mailFails >= mailRestAfter {
		o.mailRests = now.Add(mailRest)
	}
}

// keepMessage writes down what came of a message. If the store fails it is
// remembered, so that what was sent is not sent again.
func (s *service) keepMessage(ctx context.Context, m store.Message) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTimeout)
	defer cancel()
	err := s.store.UpdateMessage(ctx, m)
	if crowd.CodeOf(err) == crowd.NotFound {
		err = nil // dropped
	}
	if err != nil {
		s.outbox.mu.Lock()
		defer s.outbox.mu.Unlock()
		s.outbox.unkept[m.ID] = m
	}
	return err
}

// keepUnkept writes down what the store did not take before.
func (s *service) keepUnkept(ctx context.Context) error {
	o := &s.outbox
	o.mu.Lock()
	list := o.unkept
	o.unkept = make(map[int64]store.Message)
	o.mu.Unlock()
	var errs []error
	for _, id := range sortedKeys(list) {
		errs = append(errs, s.keepMessage(ctx, list[id]))
	}
	return errors.Join(errs...)
}

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
func (s *Outbox) View(ctx context.Context, p *Principal) (OutboxView, error) {
	if err := p.need(Admin); err != nil {
		return OutboxView{}, err
	}
	v := OutboxView{Mail: s.canMail(), Push: s.canPush()}
	var err error
	if v.Queued, v.Failed, err = s.store.CountMessages(ctx, s.time().Add(-failuresCount)); err != nil {
		return v, err
	}
	list, err := s.store.ListMessages(ctx, 0, 0, outboxPage)
	if err != nil {
		return v, err
	}
	for _, m := range list {
		if m.Error == "" || len(v.Errors) == errorsShown {
			continue
		}
		u, err := s.store.User(ctx, m.Worker)
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
