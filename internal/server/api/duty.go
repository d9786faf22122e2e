package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/notify"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

func toDuty(v recruit.DutyView) wire.Duty {
	out := wire.Duty{Pool: v.Pool.ID, PoolName: v.Pool.Name, CallsOnly: v.Pool.Retainer.Called, On: v.On, Since: v.Since, Waiting: v.Waiting,
		Leaves: string(v.Leaves), Training: v.Training, Rate: v.Rate(), Unpaid: v.Unpaid, Seen: v.Seen(),
		Gate: v.GateNote(), Outside: v.Outside, Unliked: v.Unliked,
		Place: !v.On && (v.Call != nil || v.Needed || !v.Pool.Retainer.Called)}
	if v.On {
		out.IdleSince, out.Earned = v.Idle, v.Earned
	}
	if l := v.Lent; l != nil {
		out.Lent = &wire.Loan{Home: l.Home, HomeName: l.HomeName, Since: l.Since}
	}
	if v.Called != nil && v.Call != nil {
		out.Called = &wire.Called{Call: v.Call.ID, AskedAt: v.Called.AskedAt, EndsAt: v.Call.EndsAt}
	}
	return out
}

// DutyQuery waits for another state than the one seen.
type DutyQuery struct {
	Waiting
	Seen string `query:"seen" maxLength:"64" doc:"of the state that you know: with wait_seconds, the reply waits for another one"`

	request *http.Request
}

// Resolve implements huma.Resolver.
func (q *DutyQuery) Resolve(ctx huma.Context) []error {
	r, _ := humago.Unwrap(ctx)
	q.request = r
	return q.Waiting.Resolve(ctx)
}

func (a *api) duty() {
	const tag = "Duty"
	add(a, op{method: http.MethodGet, path: "/v1/duty", summary: "Am I on duty, and am I called?", tag: tag, access: signedIn,
		text: "With `wait_seconds` and the `seen` of the last reply, it answers when something has changed, or when the time is over."},
		func(ctx context.Context, p *access.Principal, in *DutyQuery) (out wire.Duty, err error) {
			if in.Seen == "" || in.WaitSeconds == 0 {
				return as(toDuty)(a.app.Duty.Get(ctx, p))
			}
			look := func() (v recruit.DutyView, err error) {
				p, err := a.authenticate(ctx, in.request) // they may have moved to another pool meanwhile
				if err != nil {
					return v, err
				}
				return a.app.Duty.Get(ctx, p)
			}
			if _, err := a.app.Duty.Await(ctx, p, in.wait(), func(recruit.DutyView) bool {
				v, err := look()
				return err != nil || v.Seen() != in.Seen
			}); err != nil {
				return out, err
			}
			return as(toDuty)(look())
		})
	register(a, op{method: http.MethodGet, path: "/v1/duty/events", summary: "Watch your duty (server-sent events)", tag: tag, access: signedIn, streams: []string{"text/event-stream"},
		text: "An event `duty` whose data is what GET /v1/duty returns: one at once, then one after each change, at most four a second."},
		func(ctx context.Context, p *access.Principal, _ *struct{}) (*huma.StreamResponse, error) {
			changed, stop, err := a.app.Duty.Watch(ctx, p)
			seen := ""
			return a.events("duty", changed, stop, func(ctx context.Context, p *access.Principal) (httpkit.Event, error) {
				v, err := a.app.Duty.Get(ctx, p)
				if err != nil || v.Seen() == seen {
					return httpkit.Event{}, err
				}
				seen = v.Seen()
				return httpkit.Event{Data: toDuty(v)}, nil
			}), err
		})
	add(a, op{method: http.MethodPost, path: "/v1/duty", summary: "Come on duty", tag: tag, access: signedIn,
		text: "In a pool that calls its people, the first who come are taken; whoever comes too late is told so (409, `off_duty`), unless its gate is closed and waits for them. Who is on duty stays so, also if they were about to go."},
		own(a.app.Duty.Start, toDuty))
	add(a, op{method: http.MethodDelete, path: "/v1/duty", summary: "Go off duty: at once, or when you have finished what you hold", tag: tag, access: signedIn},
		own(a.app.Duty.End, toDuty))
	addAction(a, op{method: http.MethodPost, path: "/v1/duty/decline", summary: "Say that you do not come this time; somebody else is asked", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, _ *struct{}) error {
			return a.app.Duty.DeclineCall(ctx, p)
		})
}

func toWishes(v recruit.WishesView) wire.WishesView {
	return wire.WishesView{Wishes: wire.Wishes{Prefers: toPrefers(v.Prefers), Away: v.Away, NoMail: v.NoMail}, Pools: lists.Map(v.Pools, toNamedPool), Asks: v.Asks}
}

func toNamedPool(p store.Pool) wire.NamedPool { return wire.NamedPool{ID: p.ID, Name: p.Name} }

func toPrefers(prefers map[crowd.PoolID]float64) map[string]float64 {
	out := make(map[string]float64, len(prefers))
	for id, x := range prefers {
		out[id.String()] = x
	}
	return out
}

// preferences reads how much somebody likes each pool's work.
func preferences(prefers map[string]float64) (map[crowd.PoolID]float64, error) {
	out := make(map[crowd.PoolID]float64, len(prefers))
	for text, x := range prefers {
		id, err := crowd.ParsePoolID(text)
		if err != nil {
			return nil, crowd.Fieldf("prefers", "%q is not the id of a pool", text)
		}
		out[id] = x
	}
	return out, nil
}

func (a *api) wishes() {
	const tag = "Duty"
	add(a, op{method: http.MethodGet, path: "/v1/me/wishes", summary: "What you have wished for: pools that you like, whether you are called", tag: tag, access: signedIn},
		own(a.app.Duty.Wishes, toWishes))
	add(a, op{method: http.MethodPut, path: "/v1/me/wishes", summary: "Say what you wish for; what is left out is as at first", tag: tag, access: access.DutyChangeWishes,
		text: "A preference is for one of `pools`: your own, and those to which people of it are moved. What you have said of others earlier can stay."},
		func(ctx context.Context, p *access.Principal, in *struct{ Body wire.Wishes }) (out wire.WishesView, _ error) {
			prefers, err := preferences(in.Body.Prefers)
			if err != nil {
				return out, err
			}
			w := recruit.Wishes{Prefers: prefers, Away: in.Body.Away, NoMail: in.Body.NoMail}
			return as(toWishes)(a.app.Duty.ChangeWishes(ctx, p, func(now *recruit.Wishes) error { *now = w; return nil }))
		})
	add(a, op{method: http.MethodGet, path: "/v1/push-key", summary: "The key with which a browser subscribes to push messages", tag: tag, access: signedIn},
		func(context.Context, *access.Principal, *struct{}) (wire.PushKey, error) {
			return wire.PushKey{Key: a.app.Duty.PushKey()}, nil
		})
	toSubscription := func(s store.Subscription) wire.PushSubscription {
		return wire.PushSubscription{ID: s.ID, Endpoint: s.Endpoint, CreatedAt: s.CreatedAt}
	}
	add(a, op{method: http.MethodGet, path: "/v1/push-subscriptions", summary: "Your browsers that take push messages", tag: tag, access: signedIn},
		own(a.app.Duty.Subscriptions, all(toSubscription)))
	add(a, op{method: http.MethodPost, path: "/v1/push-subscriptions", summary: "Let a browser take push messages for you", tag: tag, access: access.DutySubscribe, status: http.StatusCreated,
		text: "The body is a browser's PushSubscription as JSON.stringify writes it."},
		func(ctx context.Context, p *access.Principal, in *struct{ Body wire.NewPushSubscription }) (out wire.ID, err error) {
			b := &in.Body
			if err := (notify.Target{Endpoint: b.Endpoint, P256dh: b.Keys.P256dh, Auth: b.Keys.Auth}).Check(); err != nil {
				return out, placed(err, map[string]string{"p256dh": "keys.p256dh", "auth": "keys.auth"})
			}
			out.ID, err = a.app.Duty.Subscribe(ctx, p, store.Subscription{Endpoint: b.Endpoint, P256dh: b.Keys.P256dh, Auth: b.Keys.Auth})
			return out, err
		})
	addAction(a, op{method: http.MethodDelete, path: "/v1/push-subscriptions/{id}", summary: "Let a browser of yours take no more push messages", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *struct {
			ID int64 `path:"id"`
		}) error {
			return a.app.Duty.Unsubscribe(ctx, p, in.ID)
		})
}
