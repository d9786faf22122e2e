package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/notify"
	"github.com/throng-dev/throng/internal/store"
)

type calledOut struct {
	Call    int64     `json:"call"`
	AskedAt time.Time `json:"asked_at"`
	EndsAt  time.Time `json:"ends_at"`
}

// dutyOut is what somebody on call has to know.
type dutyOut struct {
	Pool      crowd.PoolID `json:"pool"`
	PoolName  string       `json:"pool_name"`
	CallsOnly bool         `json:"calls_only" doc:"the pool takes only those who come when it calls; else whoever asks for work is on duty"`
	On        bool         `json:"on" doc:"on duty"`
	Since     *time.Time   `json:"since,omitempty" doc:"on duty since"`
	IdleSince *time.Time   `json:"idle_since,omitempty" doc:"on duty without a task since"`
	Waiting   bool         `json:"waiting" doc:"for a task, right now"`
	Leaves    string       `json:"leaves,omitempty" enum:"left,silent,released,moved,unpaid" doc:"why you go off duty as soon as you have finished your task"`
	Training  int          `json:"training" doc:"tasks of training batches to do before others"`
	Earned    crowd.Money  `json:"earned_micros" doc:"by waiting, since you came on duty"`
	Rate      crowd.Money  `json:"rate_micros_per_minute" doc:"paid for waiting"`
	Called    *calledOut   `json:"called,omitempty" doc:"you are asked to come"`
	Place     bool         `json:"place" doc:"you may come: there is a place, or the pool is open to all"`
	Seen      string       `json:"seen" doc:"stands for this state; send it back to wait for another one"`
}

func toDutyOut(v app.DutyView) *dutyOut {
	out := &dutyOut{Pool: v.Pool.ID, PoolName: v.Pool.Name, CallsOnly: v.Pool.Retainer.Called, On: v.On, Since: ptr(v.Since), Waiting: v.Waiting,
		Leaves: string(v.Leaves), Training: v.Training, Rate: v.Pool.Retainer.Rate, Seen: dutySeen(&v),
		Place: !v.On && (v.Call != nil || !v.Pool.Retainer.Called)}
	if v.On {
		out.IdleSince, out.Earned = ptr(v.Idle), v.Earned
	}
	if v.Called != nil && v.Call != nil {
		out.Called = &calledOut{v.Call.ID, v.Called.AskedAt, v.Call.EndsAt}
	}
	return out
}

// dutySeen stands for all of a state that changes by itself only when something
// has happened: neither for what was earned, nor for whether he waits.
func dutySeen(v *app.DutyView) string {
	var call, called int64
	if v.Call != nil {
		call = v.Call.ID
	}
	if v.Called != nil {
		called = v.Called.AskedAt.UnixMicro()
	}
	r := &v.Pool.Retainer
	sum := sha256.Sum256(fmt.Append(nil, v.Pool.ID, v.On, v.Since.UnixMicro(), v.Leaves, v.Training, r.Called, r.Rate, call, called))
	return hex.EncodeToString(sum[:6])
}

// DutyQuery waits for another state than the one seen.
type DutyQuery struct {
	Waiting
	Seen string `query:"seen" maxLength:"64" doc:"of the state that you know: with wait_seconds, the reply waits for another one"`

	secret string
}

// Resolve implements huma.Resolver.
func (q *DutyQuery) Resolve(ctx huma.Context) []error {
	r, _ := humago.Unwrap(ctx)
	q.secret = httpkit.Secret(r)
	return q.Waiting.Resolve(ctx)
}

// someDuty is one duty as a reply.
type someDuty struct{ Body *dutyOut }

func (a *api) duty() {
	const tag = "Duty"
	reply := func(v app.DutyView, err error) (*someDuty, error) {
		if err != nil {
			return nil, err
		}
		return &someDuty{toDutyOut(v)}, nil
	}
	add(a, op{method: http.MethodGet, path: "/v1/duty", summary: "Am I on duty, and am I called?", tag: tag, access: signedIn,
		text: "With `wait_seconds` and the `seen` of the last reply, it answers when something has changed, or when the time is over."},
		func(ctx context.Context, p *app.Principal, in *DutyQuery) (*someDuty, error) {
			if in.Seen == "" || in.WaitSeconds == 0 {
				return reply(a.app.Duty.Get(ctx, p))
			}
			look := func() (v app.DutyView, err error) {
				p, err := a.app.Accounts.Authenticate(ctx, in.secret) // he may have moved to another pool meanwhile
				if err != nil {
					return v, err
				}
				return a.app.Duty.Get(ctx, p)
			}
			if _, err := a.app.Duty.Await(ctx, p, in.wait(), func(app.DutyView) bool {
				v, err := look()
				return err != nil || dutySeen(&v) != in.Seen
			}); err != nil {
				return nil, err
			}
			return reply(look())
		})
	add(a, op{method: http.MethodGet, path: "/v1/duty/events", summary: "Watch your duty (server-sent events)", tag: tag, access: signedIn, streams: []string{"text/event-stream"},
		text: "An event `duty` whose data is what GET /v1/duty returns: one at once, then one after each change, at most four a second."},
		func(ctx context.Context, p *app.Principal, _ *struct{}) (*huma.StreamResponse, error) {
			changed, stop, err := a.app.Duty.Watch(ctx, p)
			if err != nil {
				return nil, err
			}
			return &huma.StreamResponse{Body: func(ctx huma.Context) {
				defer stop()
				r, w := humago.Unwrap(ctx)
				httpkit.Streaming(w)
				w.Header().Set("Content-Type", "text/event-stream")
				w.Header().Set("Cache-Control", "no-store")
				seen := ""
				a.sendEvents(ctx.Context(), w, httpkit.Secret(r), "duty", changed, func(p *app.Principal) (any, bool, error) {
					v, err := a.app.Duty.Get(ctx.Context(), p)
					if err != nil || dutySeen(&v) == seen {
						return nil, false, err
					}
					seen = dutySeen(&v)
					return toDutyOut(v), false, nil
				})
			}}, nil
		})
	add(a, op{method: http.MethodPost, path: "/v1/duty", summary: "Come on duty", tag: tag, access: signedIn,
		text: "In a pool that calls its people, the first who come are taken; whoever comes too late is told so (409, `off_duty`). Who is on duty stays so, also if he was about to go."},
		func(ctx context.Context, p *app.Principal, _ *struct{}) (*someDuty, error) {
			return reply(a.app.Duty.Start(ctx, p))
		})
	add(a, op{method: http.MethodDelete, path: "/v1/duty", summary: "Go off duty: at once, or when you have finished what you hold", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, _ *struct{}) (*someDuty, error) {
			return reply(a.app.Duty.End(ctx, p))
		})
	add(a, op{method: http.MethodPost, path: "/v1/duty/decline", summary: "Say that you do not come this time; somebody else is asked", tag: tag, access: signedIn, status: http.StatusNoContent},
		func(ctx context.Context, p *app.Principal, _ *struct{}) (*nothing, error) {
			return nil, a.app.Duty.DeclineCall(ctx, p)
		})
}

// wishesBody is a worker's wishes.
type wishesBody struct {
	Prefers map[string]float64 `json:"prefers,omitempty" doc:"how much you like each pool's work, from 0 to 1; others: 0.5" example:"{\"p1\": 0.8}"`
	Away    bool               `json:"away,omitempty" doc:"you are not called at all"`
	NoMail  bool               `json:"no_mail,omitempty" doc:"you are not called by e-mail"`
}

func toWishes(u store.User) *struct{ Body wishesBody } {
	w := app.WishesOf(u)
	out := &struct{ Body wishesBody }{wishesBody{map[string]float64{}, w.Away, w.NoMail}}
	for id, x := range w.Prefers {
		out.Body.Prefers[id.String()] = x
	}
	return out
}

func (a *api) wishes() {
	const tag = "Duty"
	add(a, op{method: http.MethodGet, path: "/v1/me/wishes", summary: "What you have wished for: pools that you like, whether you are called", tag: tag, access: signedIn},
		func(_ context.Context, p *app.Principal, _ *struct{}) (*struct{ Body wishesBody }, error) {
			if !p.Is(app.Worker) {
				return nil, crowd.Errorf(crowd.Forbidden, "this needs the role %s", app.Worker)
			}
			return toWishes(p.User), nil
		})
	add(a, op{method: http.MethodPut, path: "/v1/me/wishes", summary: "Say what you wish for; what is left out is as at first", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *struct{ Body wishesBody }) (*struct{ Body wishesBody }, error) {
			w := app.Wishes{Prefers: make(map[crowd.PoolID]float64), Away: in.Body.Away, NoMail: in.Body.NoMail}
			for text, x := range in.Body.Prefers {
				id, err := crowd.ParsePoolID(text)
				if err != nil {
					return nil, crowd.Fieldf("prefers", "%q is not the id of a pool", text)
				}
				w.Prefers[id] = x
			}
			u, err := a.app.Duty.SetWishes(ctx, p, w)
			if err != nil {
				return nil, err
			}
			return toWishes(u), nil
		})
	type keyOut struct {
		Body struct {
			Key string `json:"key" doc:"applicationServerKey, base64url; empty: this server sends no push messages"`
		}
	}
	add(a, op{method: http.MethodGet, path: "/v1/push-key", summary: "The key with which a browser subscribes to push messages", tag: tag, access: signedIn},
		func(context.Context, *app.Principal, *struct{}) (*keyOut, error) {
			out := &keyOut{}
			out.Body.Key = a.app.Duty.PushKey()
			return out, nil
		})
	type subscriptionOut struct {
		ID        int64     `json:"id"`
		Endpoint  string    `json:"endpoint"`
		CreatedAt time.Time `json:"created_at"`
	}
	type idOut struct {
		Body struct {
			ID int64 `json:"id"`
		}
	}
	add(a, op{method: http.MethodGet, path: "/v1/push-subscriptions", summary: "Your browsers that take push messages", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, _ *struct{}) (*struct{ Body []subscriptionOut }, error) {
			list, err := a.app.Duty.Subscriptions(ctx, p)
			return &struct{ Body []subscriptionOut }{mapped(list, func(s store.Subscription) subscriptionOut {
				return subscriptionOut{s.ID, s.Endpoint, s.CreatedAt}
			})}, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/push-subscriptions", summary: "Let a browser take push messages for you", tag: tag, access: signedIn, status: http.StatusCreated,
		text: "The body is a browser's PushSubscription as JSON.stringify writes it."},
		func(ctx context.Context, p *app.Principal, in *struct {
			Body struct {
				Endpoint string `json:"endpoint"`
				Expires  any    `json:"expirationTime,omitempty" doc:"not used"`
				Keys     struct {
					P256dh string `json:"p256dh"`
					Auth   string `json:"auth"`
				} `json:"keys"`
			}
		}) (*idOut, error) {
			b := &in.Body
			if err := (notify.Target{Endpoint: b.Endpoint, P256dh: b.Keys.P256dh, Auth: b.Keys.Auth}).Check(); err != nil {
				return nil, placed(err, map[string]string{"p256dh": "keys.p256dh", "auth": "keys.auth"})
			}
			out := &idOut{}
			var err error
			out.Body.ID, err = a.app.Duty.Subscribe(ctx, p, store.Subscription{Endpoint: b.Endpoint, P256dh: b.Keys.P256dh, Auth: b.Keys.Auth})
			return out, err
		})
	add(a, op{method: http.MethodDelete, path: "/v1/push-subscriptions/{id}", summary: "Let a browser of yours take no more push messages", tag: tag, access: signedIn, status: http.StatusNoContent},
		func(ctx context.Context, p *app.Principal, in *struct {
			ID int64 `path:"id"`
		}) (*nothing, error) {
			return nil, a.app.Duty.Unsubscribe(ctx, p, in.ID)
		})
}
