package notify

import (
	"context"
	"fmt"
	"net/netip"
	"syscall"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// reserved are the addresses that are no public machine's: private, local, for
// documentation and tests, and those that lead through a tunnel to any IPv4
// address.
var reserved = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// global is what of IPv6 is given out to public machines, translated those of
// IPv4 (RFC 6052).
var (
	global     = netip.MustParsePrefix("2000::/3")
	translated = netip.MustParsePrefix("64:ff9b::/96")
)

func prefixes(list ...string) []netip.Prefix {
	return lists.Map(list, netip.MustParsePrefix)
}

// public reports whether an address is a public machine's.
func public(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if translated.Contains(ip) {
		b := ip.As16()
		ip = netip.AddrFrom4([4]byte(b[12:]))
	}
	if ip.Is6() && !global.Contains(ip) {
		return false
	}
	for _, p := range reserved {
		if p.Contains(ip) {
			return false
		}
	}
	return ip.IsValid()
}

// onlyPublic refuses to dial an address that is not public.
func onlyPublic(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if !public(at.Addr()) {
		return permanent(fmt.Errorf("%s is not a public address", at.Addr()))
	}
	return nil
}
