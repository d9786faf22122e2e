package cli

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// outage is the time in which a server that has answered before cannot be reached, such as
// while it is started again. It is said once.
type outage struct {
	tell    func(text string)
	reached bool // the server has answered: before that, a request that fails is an error
	told    bool
}

// The pauses between tries of ask: each is twice as long as the one before.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second
)

// again reports whether a request with this error is to be tried again.
func (o *outage) again(err error) bool {
	if code := crowd.CodeOf(err); code != crowd.Unavailable && code != crowd.TooMany {
		o.reached, o.told = true, false
		return false
	}
	if o.reached && !o.told {
		o.told = true
		o.tell(message(err) + "; it is tried again")
	}
	return o.reached
}

// ask makes a request, and again while the server cannot be reached, until ctx is done.
func (o *outage) ask(ctx context.Context, request func() error) error {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := request()
		if ctx.Err() != nil || !o.again(err) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// outage is one that is told on standard error.
func (c *Context) outage() outage {
	return outage{tell: func(text string) { say(c.Stderr, "throng: %s\n", clean(text)) }}
}
