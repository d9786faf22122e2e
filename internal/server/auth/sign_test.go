package auth

import (
	"strings"
	"testing"
)

func TestSign(t *testing.T) {
	t.Parallel()
	signature := Sign("secret", "5", "a@example.org")
	if !Signed("secret", signature, "5", "a@example.org") || len(signature) != 43 {
		t.Fatalf("%q is not its own signature", signature)
	}
	cases := 0
	for _, wrong := range []struct {
		secret, signature string
		texts             []string
	}{
		{"other", signature, []string{"5", "a@example.org"}},
		{"secret", signature, []string{"6", "a@example.org"}},
		{"secret", signature, []string{"5", "b@example.org"}},
		{"secret", signature, []string{"5a", "@example.org"}}, // the same characters
		{"secret", signature, []string{"5a@example.org"}},
		{"secret", signature, []string{"5", "a@example.org", ""}},
		{"secret", signature, nil},
		{"secret", "", []string{"5", "a@example.org"}},
		{"secret", signature[:42], []string{"5", "a@example.org"}},
		{"secret", signature + "A", []string{"5", "a@example.org"}},
		{"secret", strings.ToUpper(signature), []string{"5", "a@example.org"}},
		{"secret", signature + "\n", []string{"5", "a@example.org"}},
	} {
		cases++
		if Signed(wrong.secret, wrong.signature, wrong.texts...) {
			t.Errorf("%q under %q passes for the signature of %q", wrong.signature, wrong.secret, wrong.texts)
		}
	}
	for i := range signature { // every character counts
		for _, c := range "AZaz09-_" {
			if other := signature[:i] + string(c) + signature[i+1:]; other != signature && Signed("secret", other, "5", "a@example.org") {
				t.Errorf("%q passes as well as %q", other, signature)
			}
			cases++
		}
	}
	if cases < 300 {
		t.Errorf("only %d cases", cases)
	}
}
