package server

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/notify"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
)

// pushSecret is the name under which the installation's private push key is
// kept; the public one follows from it.
const pushSecret = "vapid-private"

// checkSenders checks what the settings say of messages.
func checkSenders(cfg Config) error {
	if u, err := url.Parse(cfg.PublicURL); cfg.PublicURL != "" && (err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.RawQuery != "" || u.Fragment != "") {
		return crowd.Fieldf("public-url", "%q is not like https://throng.example.org", cfg.PublicURL)
	}
	if cfg.Mail != "" {
		if cfg.PublicURL == "" {
			return crowd.Fieldf("public-url", "mail needs it: links in messages begin with it")
		}
		if _, err := notify.ParseMail(cfg.Mail); err != nil {
			return err
		}
	}
	if cfg.PushSubject != "" {
		return notify.CheckSubject(cfg.PushSubject)
	}
	return nil
}

// senders makes what sends messages: by mail if there is a server for it, by
// push if there is a subject. The settings were checked.
func senders(ctx context.Context, cfg Config, st store.Store) (s recruit.Senders, err error) {
	if cfg.Mail != "" {
		to, err := notify.ParseMail(cfg.Mail)
		if err != nil {
			return s, err
		}
		mail, err := notify.NewMail(to)
		if err != nil {
			return s, err
		}
		s.Mail = mail.Send
	}
	if cfg.PushSubject != "" {
		made, _, err := notify.NewPushKeys()
		if err != nil {
			return s, err
		}
		private, err := st.Secret(ctx, pushSecret, made)
		if err != nil {
			return s, err
		}
		push, err := notify.NewPush(notify.PushConfig{Private: private, Subject: cfg.PushSubject})
		if err != nil {
			return s, errors.Join(errors.New("the kept push key cannot be used"), err)
		}
		s.PushKey = push.Public()
		s.Push = func(ctx context.Context, sub store.Subscription, payload []byte, ttl time.Duration) error {
			return push.Send(ctx, notify.Target{Endpoint: sub.Endpoint, P256dh: sub.P256dh, Auth: sub.Auth}, payload, ttl)
		}
	}
	return s, nil
}
