package web

import (
	"strconv"
	"testing"
)

// TestNamesThatAreAddresses: what a provider calls somebody is their name here only if it is no
// address, or the one that is known to be theirs: it would keep its owner from the name.
func TestNamesThatAreAddresses(t *testing.T) {
	t.Parallel()
	c, p := withProvider(t, false)
	for i, x := range []struct {
		calls, email string
		verified     any
		want         string
	}{
		{"vip@else.example", "", nil, "vip"},
		{"ceo@else.example", "ceo@else.example", false, "ceo"},
		{"cfo@else.example", "cfo@else.example", nil, "cfo"},
		{"coo@else.example", "other@else.example", true, "coo"},
		{"cto@else.example", "cto@else.example", true, "cto@else.example"},
		{"CIO@else.example", "cio@else.example", true, "CIO@else.example"},
		{"", "ann.other@else.example", false, "corp"}, // as the provider is called
		{"", "bob.other@else.example", true, "bob.other@else.example"},
		{"otto", "otto@else.example", false, "otto"},
	} {
		p.be(func() {
			p.claims["sub"], p.claims["preferred_username"], p.claims["email"], p.claims["email_verified"] = strconv.Itoa(100+i), x.calls, x.email, x.verified
		})
		b := c.browser(t, x.calls)
		b.get("/signin/corp").want(200)
		if u := b.principal().User; u.Name != x.want {
			t.Errorf("whom the provider calls %q, with the address %q (verified: %v), is %q, want %q", x.calls, x.email, x.verified, u.Name, x.want)
		}
	}
}
