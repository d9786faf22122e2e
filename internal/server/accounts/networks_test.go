package accounts_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/server/accounts"
)

// FuzzNetworks: a network that is read is written so that it reads the same, and has its
// own address in it.
func FuzzNetworks(f *testing.F) {
	for _, s := range []string{"10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "::ffff:10.0.0.1", "fe80::1%eth0", "10.0.0.0/33", "0.0.0.0/0", "::ffff:0:0/96", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list, err := accounts.ParseNetworks("networks", []string{s})
		if err != nil {
			return
		}
		n := list[0]
		again, err := accounts.ParseNetworks("networks", []string{n.String()})
		if err != nil || len(again) != 1 || again[0] != n || !n.Contains(n.Addr()) || n.Addr().Is4In6() || n.Addr().Zone() != "" || !n.IsValid() {
			t.Errorf("%q reads as %s, and that as %v, %v", s, n, again, err)
		}
		if n.Bits() == 0 && n.Contains(netip.MustParseAddr("192.0.2.1")) && n.Addr().Is6() {
			t.Errorf("%q reads as %s, which has addresses of both kinds", s, n)
		}
	})
}

// FuzzSplitAddresses: addresses have none of the signs that stand between them, their lines are told
// in order, and what is read of them alone, one a line, is the same.
func FuzzSplitAddresses(f *testing.F) {
	f.Add("a@example.org, b@example.org;c@example.org\n\nd@example.org\r\n")
	f.Add("\ufeffa@example.org\t\xff")
	f.Fuzz(func(t *testing.T, text string) {
		list, lines := accounts.SplitAddresses(text)
		if len(lines) != len(list) || !slices.IsSorted(lines) || len(lines) > 0 && lines[len(lines)-1] > 1+strings.Count(text, "\n") {
			t.Fatalf("%q has %q in lines %v", text, list, lines)
		}
		for _, a := range list {
			if a == "" || strings.ContainsAny(a, " \t\r\n,;") {
				t.Errorf("%q has the address %q", text, a)
			}
		}
		if again, _ := accounts.SplitAddresses("\n" + strings.Join(list, "\n")); !slices.Equal(again, list) {
			t.Errorf("%q is read as %q, and alone as %q", text, list, again)
		}
	})
}
