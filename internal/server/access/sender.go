package access

import (
	"context"
	"net/netip"
)

// Sender is where a request comes from.
type Sender struct {
	Address netip.Addr // zero: not known
	Program string     // such as "Firefox on Linux", as it says; "": not known
}

type senderKey struct{}

// WithSender returns a context of what a sender asks for.
func WithSender(ctx context.Context, s Sender) context.Context {
	return context.WithValue(ctx, senderKey{}, s)
}

// SenderOf returns who asks for what is done in a context, or the zero Sender.
func SenderOf(ctx context.Context) Sender {
	s, _ := ctx.Value(senderKey{}).(Sender)
	return s
}
