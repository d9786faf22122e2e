package publicnet_test

import (
	"net/netip"
	"testing"

	"github.com/throng-dev/throng/internal/kit/publicnet"
)

func TestHas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "172.15.0.1": true, "172.32.0.1": true, "100.63.0.1": true, "100.128.0.1": true, "223.255.255.255": true,
		"0.0.0.0": false, "10.1.2.3": false, "100.64.0.1": false, "127.0.0.1": false, "127.255.0.1": false, "169.254.169.254": false,
		"172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false, "198.18.0.1": false, "224.0.0.1": false, "255.255.255.255": false,
		"2606:4700:4700::1111": true, "2a00:1450::1": true, "::ffff:8.8.8.8": true, "64:ff9b::808:808": true,
		"::": false, "::1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::127.0.0.1": false, "fe80::1": false, "fe80::1%eth0": false,
		"fec0::1": false, "fc00::1": false, "fd12::1": false, "ff02::1": false, "64:ff9b::a00:1": false, "64:ff9b:1::808:808": false,
		"2001::1": false, "2001:db8::1": false, "2002:a00:1::": false, "4000::1": false,
	} {
		if got := publicnet.Has(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: it is public: %t", text, got)
		}
	}
	if publicnet.Has(netip.Addr{}) {
		t.Error("no address is public")
	}
}
