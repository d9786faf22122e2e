package httpstep

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/publicnet"
)

// Allow is an operator's list of private places that may be called. The zero
// value allows none.
type Allow struct {
	hosts []hostRule
	nets  []netRule
}

type hostRule struct {
	name string // in lower case
	port uint16 // 0: every port
}

type netRule struct {
	net  netip.Prefix
	port uint16 // 0: every port
}

// ParseAllow reads the patterns of an operator: HOST, HOST:PORT, ADDRESS,
// ADDRESS:PORT (IPv6 as [ADDRESS]:PORT) or a network in CIDR form. A host is
// allowed wherever its name leads; *.NAME stands for all hosts below NAME.
func ParseAllow(patterns []string) (Allow, error) {
	var a Allow
	for _, text := range patterns {
		if p, err := netip.ParsePrefix(text); err == nil {
			a.nets = append(a.nets, netRule{net: unmapPrefix(p)})
			continue
		}
		host, port := text, uint16(0)
		if ip, err := netip.ParseAddr(text); err == nil {
			a.nets = append(a.nets, netRule{net: single(ip)})
			continue
		}
		if h, p, err := net.SplitHostPort(text); err == nil {
			n, err := strconv.ParseUint(p, 10, 16)
			if err != nil || n == 0 {
				return Allow{}, badPattern(text)
			}
			host, port = h, uint16(n)
		}
		if ip, err := netip.ParseAddr(host); err == nil {
			a.nets = append(a.nets, netRule{net: single(ip), port: port})
			continue
		}
		if !isHostname(strings.TrimPrefix(host, "*.")) {
			return Allow{}, badPattern(text)
		}
		a.hosts = append(a.hosts, hostRule{name: strings.ToLower(strings.TrimSuffix(host, ".")), port: port})
	}
	return a, nil
}

// CheckHost checks where a secret may be sent: HOST, HOST:PORT or *.NAME, an address
// being a host.
func CheckHost(pattern string) error {
	if a, err := ParseAllow([]string{pattern}); err != nil || slices.ContainsFunc(a.nets, func(r netRule) bool { return !r.net.IsSingleIP() }) {
		return fmt.Errorf("%q is not like api.example.org, api.example.org:8443 or *.example.org", pattern)
	}
	return nil
}

// MayGoTo reports whether a secret may be sent to an address. A name is what the
// address says: where it leads is for the network to say.
func (s Secret) MayGoTo(to *url.URL) bool {
	if len(s.Hosts) == 0 {
		return true
	}
	a, err := ParseAllow(s.Hosts)
	if err != nil {
		return false
	}
	port := portOf(to)
	ip, err := netip.ParseAddr(to.Hostname())
	return a.host(to.Hostname(), port) || err == nil && a.addr(netip.AddrPortFrom(ip, port))
}

// Origin returns the scheme, host and port of an address, such as https://api.example.org;
// the port that its scheme has anyway is left out.
func Origin(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := portOf(u); port != portOf(&url.URL{Scheme: u.Scheme}) {
		host += ":" + strconv.Itoa(int(port))
	}
	return strings.ToLower(u.Scheme) + "://" + host
}

// portOf returns the port of an address.
func portOf(u *url.URL) uint16 {
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		return uint16(n)
	}
	if u.Scheme == "https" {
		return 443
	}
	return 80
}

func badPattern(text string) error {
	return crowd.Fieldf("allow", "%q is not a host, HOST:PORT, an address or a network like 10.1.0.0/16", text)
}

// isHostname reports whether a text may be the name of a host.
func isHostname(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	digits := true // of the last label: it would be an address gone wrong
	for _, label := range strings.Split(strings.TrimSuffix(s, "."), ".") {
		if label == "" {
			return false
		}
		digits = true
		for _, r := range label {
			if r >= '0' && r <= '9' {
				continue
			}
			digits = false
			if r != '-' && r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
				return false
			}
		}
	}
	return !digits
}

func single(ip netip.Addr) netip.Prefix {
	ip = ip.Unmap().WithZone("")
	return netip.PrefixFrom(ip, ip.BitLen())
}

// unmapPrefix turns a network of IPv4-mapped addresses into one of IPv4.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	const mapped = 96
	if p.Addr().Is4In6() && p.Bits() >= mapped {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mapped)
	}
	return p.Masked()
}

// host reports whether a host is allowed by its name.
func (a Allow) host(name string, port uint16) bool {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	for _, r := range a.hosts {
		if r.port != 0 && r.port != port {
			continue
		}
		if below, is := strings.CutPrefix(r.name, "*"); r.name == name || (is && strings.HasSuffix(name, below)) {
			return true
		}
	}
	return false
}

// addr reports whether an address is allowed.
func (a Allow) addr(at netip.AddrPort) bool {
	ip := at.Addr().Unmap().WithZone("")
	return slices.ContainsFunc(a.nets, func(r netRule) bool { return (r.port == 0 || r.port == at.Port()) && r.net.Contains(ip) })
}

// Refused returns the place of an address of a service, as ParseAllow reads it, if calls are
// refused whatever the network says: its host is an address that is not public, or
// localhost, and it is not allowed. It returns "" for all others, though a name may still
// lead to a private place.
func (a Allow) Refused(address string) (place string) {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host, port := u.Hostname(), portOf(u)
	ips := []netip.Addr{netip.IPv6Loopback(), netip.AddrFrom4([4]byte{127, 0, 0, 1})} // one of them is dialled
	if ip, err := netip.ParseAddr(host); err == nil {
		ips = []netip.Addr{ip}
	} else if strings.ToLower(strings.TrimSuffix(host, ".")) != "localhost" {
		return ""
	}
	if a.host(host, port) || slices.ContainsFunc(ips, func(ip netip.Addr) bool { return publicnet.Has(ip) || a.addr(netip.AddrPortFrom(ip, port)) }) {
		return ""
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// errPrivate is why an address is not dialled. It does not say which it is: a
// user is not to learn the addresses inside.
var errPrivate = errors.New("it leads to an address that is not public")
