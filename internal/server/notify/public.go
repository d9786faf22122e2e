package notify

import (
	"context"
	"fmt"
	"net/netip"
	"syscall"

	"github.com/throng-dev/throng/internal/kit/publicnet"
)

// onlyPublic refuses to dial an address that is not public.
func onlyPublic(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if !publicnet.Has(at.Addr()) {
		return permanent(fmt.Errorf("%s is not a public address", at.Addr()))
	}
	return nil
}
