package limits

import "context"

type endsKey struct{}

// WithEnds returns a context for what answers a request, and the call for when that is
// done: of what was given to AtEnd.
func WithEnds(ctx context.Context) (_ context.Context, end func()) {
	var list []func()
	return context.WithValue(ctx, endsKey{}, &list), func() {
		for _, f := range list {
			f()
		}
	}
}

// AtEnd has f called when the request of ctx is answered: so it gives back what the
// answer holds. The context's end is no sign of that: it comes when the other side
// sends no more, while it may still be sent an answer. It is for the request's own
// goroutine.
func AtEnd(ctx context.Context, f func()) {
	if list, ok := ctx.Value(endsKey{}).(*[]func()); ok {
		*list = append(*list, f)
	} else {
		context.AfterFunc(ctx, f)
	}
}
