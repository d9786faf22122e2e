package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/wire"
)

func toPoolEvent(e engine.Event) wire.PoolEvent {
	out := wire.PoolEvent{N: e.N, Event: int(e.Kind), Name: e.Kind.String(), At: e.At, Consumer: e.Consumer, Number: e.Number, Label: e.Label, Clipped: e.Clipped}
	if e.Worker != 0 {
		out.Worker = &e.Worker
	}
	if e.Task != 0 {
		out.Task = &e.Task
	}
	return out
}

// EventsAfter says from where on the events of a pool are followed.
type EventsAfter struct {
	After uint64 `query:"after" doc:"the number of the last event that is known; 0: from the first that is kept; default: from now on"`
	Last  uint64 `header:"Last-Event-ID" doc:"the same, as browsers say it; the greater of both counts"`

	given bool // one of them
}

// Resolve implements huma.Resolver.
func (x *EventsAfter) Resolve(ctx huma.Context) []error {
	x.given = ctx.Query("after") != "" || ctx.Header("Last-Event-ID") != ""
	return nil
}

// after returns the number, or nil to follow from now on.
func (x *EventsAfter) after() *uint64 {
	if !x.given {
		return nil
	}
	n := max(x.After, x.Last)
	return &n
}

// poolEvents registers the stream of a pool's events.
func (a *api) poolEvents() {
	register(a, op{method: http.MethodGet, path: "/v1/pools/{id}/events", summary: "Follow the events of a pool (server-sent events)", tag: "Pools", access: access.PoolsFollow, streams: []string{"text/event-stream"},
		text: "An event `events` whose data is the pool's events since the last one: 1 ready to work, 2 ready to aggregate, 3 try to aggregate, 4 update a task, 5 remove a task. At most four a second, each when what it tells of is durable, with up to 500 events: while there are more, the next comes at once. Of a label it tells 250 characters (`label_clipped`), to who may see results of the installation (`no_labels`). " +
			"Its id is the number of its last event: a client that comes back with it, in `Last-Event-ID` or `after`, gets what it has missed, if that was not longer than ten minutes or 10,000 events ago; `missed` counts what is kept no more. Numbers rise, also over restarts of the server; how many events came before one is not known, and `restarted` says so in place of a count. Where nothing is kept after the number that a client comes with, a message without events says at once what it has missed, with the number from which it goes on (`last`)."},
		func(ctx context.Context, p *access.Principal, in *struct {
			PoolPath
			EventsAfter
		}) (*huma.StreamResponse, error) {
			f, err := a.app.Pools.Follow(ctx, p, in.id, in.after())
			if err != nil {
				return nil, err
			}
			return a.events("events", f.More, f.Stop, func(ctx context.Context, p *access.Principal) (httpkit.Event, error) {
				e, err := a.app.Pools.Followed(ctx, p, f)
				if err != nil || !e.News() {
					return httpkit.Event{}, err
				}
				return httpkit.Event{
					Data: wire.PoolEvents{Events: lists.Map(e.List, toPoolEvent), Last: e.Last, Missed: e.Missed, NoLabels: e.NoLabels, Restarted: e.Restarted},
					ID:   strconv.FormatUint(e.Last, 10), More: e.More,
				}, err
			}), nil
		})
}
