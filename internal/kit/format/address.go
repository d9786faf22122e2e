package format

import "strings"

// AddressKey is what e-mail addresses are compared by: the address with A to Z in lower case.
// Other letters stay as they are. Unicode has several that become one in lower case, such as K
// and the Kelvin sign, and mail to the one does not reach who has the other.
func AddressKey(address string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, address)
}

// SameAddress reports whether two e-mail addresses are the same but for the case of A to Z.
func SameAddress(a, b string) bool { return AddressKey(a) == AddressKey(b) }
