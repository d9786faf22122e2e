package api

import (
	"bytes"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/repeats"
)

// unkeyed is why a POST takes no key. There are no other reasons: that a thing is done once is
// none, as then a second request is refused, or does what has come to be there to do since.
type unkeyed int

// The reasons. The zero value is none.
const (
	_              unkeyed = iota
	workersCycle           // whatever is sent again, the worker has one task, and an answer counts once
	changesNothing         // it tells something about what was sent
)

// told is what an operation's description says of it.
func (u unkeyed) told() string {
	switch u {
	case workersCycle:
		return " It takes no `Idempotency-Key`: the id of the assignment, or the task that you hold, does the same."
	case changesNothing:
		return " It takes no `Idempotency-Key`: it changes nothing."
	}
	return ""
}

// keyed reports whether an operation takes a key under which it may be sent again. What
// another method does is the same however often it is sent.
func (o *op) keyed() bool {
	return o.method == http.MethodPost && o.access != (access.Operation{}) && o.unkeyed == 0
}

var longestKey = repeats.MaxKey

// keyParameter is the header of a key.
var keyParameter = &huma.Param{
	Name: repeats.Header, In: "header",
	Description: "A key of your own, such as a UUID: a request that is sent again with it within 24 hours has no effect again and gets the same answer. See \"Sending again\" in docs/api.md.",
	Schema:      &huma.Schema{Type: huma.TypeString, MaxLength: &longestKey},
}

// once answers a request that came under a key.
func (a *api) once(ctx huma.Context, p *access.Principal, keys []string, next func(huma.Context)) {
	operation := ctx.Operation()
	o := operation.Metadata[keyedKey].(*op)
	key, err := repeats.ParseKey(keys)
	if err != nil {
		a.refuse(ctx, err)
		return
	}
	r, w := humago.Unwrap(ctx)
	r = r.WithContext(ctx.Context())
	q := repeats.Request{Who: p, Key: key, Address: r.URL.EscapedPath() + "?" + r.URL.Query().Encode(), Streams: len(o.uploads) > 0, Secret: o.secret}
	if o.single {
		q.Known = http.StatusNoContent
	}
	if !q.Streams {
		httpkit.ReceivingForm(w, r)
		sent, err := io.ReadAll(io.LimitReader(r.Body, operation.MaxBodyBytes+1))
		if err == nil {
			q.Who, err = a.again(ctx.Context(), p, o.access) // the answer may be one that is kept
		}
		if err != nil {
			a.refuse(ctx, err)
			return
		}
		// One that is too large is refused by what reads it next.
		r.Body, q.Sent = io.NopCloser(bytes.NewReader(sent)), string(sent)
	}
	if err := a.app.ServeOnce(w, r, q, func(w http.ResponseWriter, r *http.Request) { next(humago.NewContext(operation, r, w)) }); err != nil {
		a.refuse(ctx, err)
	}
}
