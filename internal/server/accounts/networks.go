package accounts

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
)

// ParseNetworks reads addresses and networks in CIDR form, such as 192.0.2.7,
// 10.0.0.0/8 or 2001:db8::/32.
func ParseNetworks(field string, texts []string) ([]netip.Prefix, error) {
	list := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		text = strings.TrimSpace(text)
		p, err := netip.ParsePrefix(text)
		if err != nil {
			var a netip.Addr
			if a, err = netip.ParseAddr(text); err == nil {
				p, err = a.Unmap().WithZone("").Prefix(a.Unmap().BitLen())
			}
		}
		if err != nil || p.Addr().Is4In6() {
			return nil, crowd.Fieldf(field, "%q is no address or network, like 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32", text)
		}
		list = append(list, p.Masked())
	}
	return list, nil
}

// within reports whether an address is in one of the networks; where there are none, any
// is.
func within(networks []netip.Prefix, from netip.Addr) bool {
	from = from.Unmap().WithZone("")
	return len(networks) == 0 || slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(from) })
}

// allWithin reports whether each network of inner is in one of outer; where there are
// none in outer, any is.
func allWithin(outer, inner []netip.Prefix) bool {
	for _, n := range inner {
		if len(outer) > 0 && !slices.ContainsFunc(outer, func(o netip.Prefix) bool { return o.Bits() <= n.Bits() && o.Contains(n.Addr()) }) {
			return false
		}
	}
	return true
}
