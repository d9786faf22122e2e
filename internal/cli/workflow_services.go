package cli

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/throng-dev/throng/internal/verify/examples"
)

// WorkflowServices is "throng workflow services".
type WorkflowServices struct {
	Listen  string  `default:"127.0.0.1:8099" help:"Address to listen on; port 0 takes a free one."`
	Slow    span    `help:"How long each answer takes, such as 200ms."`
	Failing float64 `help:"Share of items whose first try fails, from 0 to 1."`
	Output
}

// slowest is the longest that --slow can be: by then every call has ended.
const slowest = 10 * time.Minute

// Run serves until it is interrupted.
func (x *WorkflowServices) Run(c *Context) error {
	if x.Slow.Duration < 0 || x.Slow.Duration > slowest {
		return wrong("slow", "must be from 0s to %s, not %s", slowest, x.Slow.Duration)
	}
	if !(x.Failing >= 0 && x.Failing <= 1) {
		return wrong("failing", "must be from 0 to 1, not %g", x.Failing)
	}
	ctx, stop := c.untilSignal()
	defer stop()
	listener, err := net.Listen("tcp", x.Listen)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           examples.NewServices(examples.ServiceOptions{Slow: x.Slow.Duration, Failing: x.Failing}),
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: time.Minute,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	address := "http://" + listener.Addr().String()
	if err := x.print(c, map[string]string{"url": address}, func(w io.Writer) {
		say(w, "services at %s: /register, /estimate, /info, /notify; Ctrl-C ends them\n", address)
	}); err != nil {
		return errors.Join(err, server.Close())
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	const grace = 5 * time.Second
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := server.Shutdown(last); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}
