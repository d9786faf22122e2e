// Package publicnet tells addresses of public machines from others.
package publicnet

import (
	"net/netip"
	"slices"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// special are the networks whose addresses are no public machine's (IANA's registries of
// special-purpose addresses), with those that lead to any IPv4 address through a tunnel.
var special = lists.Map([]string{
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
}, netip.MustParsePrefix)

// unicast is the part of IPv6 that public machines have addresses of; nat64 stands for IPv4
// addresses, in its last 32 bits (RFC 6052).
var (
	unicast = netip.MustParsePrefix("2000::/3")
	nat64   = netip.MustParsePrefix("64:ff9b::/96")
)

// Has reports whether an address is a public machine's.
func Has(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if nat64.Contains(ip) {
		b := ip.As16()
		ip = netip.AddrFrom4([4]byte(b[12:]))
	}
	return ip.IsValid() && (!ip.Is6() || unicast.Contains(ip)) && !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(ip) })
}
